"""The look-ups of a mail server, byte by byte. `test_postfix.py` has the real one."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mailboxes import PASSWORD, Mailboxes, fresh
from postgres import TestDatabase
from program import run
from services import Services, Socketmap, free_port


@pytest.fixture(params=["tcp", "unix"])
def address(request, tmp_path):
    return f"unix:{tmp_path}/m" if request.param == "unix" else f"127.0.0.1:{free_port()}"


@pytest.fixture
def server(start, tmp_path, address):
    return start("--data", str(tmp_path / "data"), POSTERN_SERVICES_SOCKETMAP=address)


def test_a_mailbox_is_found_from_its_creation_to_its_end(server, address, tmp_path):
    maps, boxes = Socketmap(address), Mailboxes(server.url)
    box = fresh()
    asked = [f"mailbox {box}", f"sender {box}", "domain mail.test"]
    assert maps.ask(*asked) == ["NOTFOUND ", "NOTFOUND ", "OK OK"]
    assert boxes.create(box).status_code == 201
    assert maps.ask(*asked) == [f"OK {box}", f"OK {box}", "OK OK"]
    for change, found in [("disable", False), ("enable", True), ("delete", False)]:
        done = run("account", change, box, "--data", tmp_path / "data", directory=tmp_path)
        assert done.returncode == 0, done.stderr
        assert maps.ask(asked[0]) == [f"OK {box}" if found else "NOTFOUND "]
    assert maps.ask("domain elsewhere.test", "mailbox @mail.test") == ["NOTFOUND "] * 2
    assert maps.ask("aliases a@mail.test")[0].startswith("PERM ")
    assert maps.ask(f"mailbox {'x' * 5_000}@mail.test", *asked[2:]) == ["NOTFOUND ", "OK OK"]
    maps.close()


def wait_until(holds):
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_the_services_listener_needs_not_be_there_and_speaks_another_protocol(
        start, tmp_path):
    listen, socketmap = f"unix:{tmp_path}/s", f"unix:{tmp_path}/m"
    server = start(POSTERN_SERVICES_LISTEN=listen, POSTERN_SERVICES_SOCKETMAP=socketmap)
    box = Mailboxes(server.url).mailbox()
    assert Services(listen).check(box.address, PASSWORD).status == 200
    maps = Socketmap(socketmap)
    maps.socket.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
    assert maps.is_closed()
    wait_until(lambda: "is not of the protocol" in server.read_log())
    started = next(line for line in server.read_log().splitlines() if '"started"' in line)
    assert listen in started and socketmap in started


def test_many_connections_ask_at_once(server, address):
    box = Mailboxes(server.url).mailbox()

    def ask(_):
        maps = Socketmap(address)
        replies = maps.ask(*[f"mailbox {box.address}", "domain mail.test"] * 10)
        maps.close()
        return replies

    with ThreadPoolExecutor(14) as pool:
        for replies in pool.map(ask, range(42)):
            assert replies == [f"OK {box.address}", "OK OK"] * 10


def test_stopping_closes_it(server, address, tmp_path):
    maps = Socketmap(address)
    assert maps.ask("domain mail.test") == ["OK OK"]
    server.stop()
    assert maps.is_closed()
    assert not (tmp_path / "m").exists()


def test_without_its_database_everything_is_temporary(start, tmp_path):
    database = TestDatabase()
    address = f"unix:{tmp_path}/m"
    server = start(POSTERN_SERVICES_SOCKETMAP=address, POSTERN_STORAGE_URL=database.url)
    box = Mailboxes(server.url).mailbox()
    maps = Socketmap(address)
    asked = [f"mailbox {box.address}", f"sender {box.address}", "domain elsewhere.test"]
    assert maps.ask(*asked) == [f"OK {box.address}"] * 2 + ["NOTFOUND "]
    database.stop()
    assert all(reply.startswith("TEMP ") for reply in maps.ask(*asked))
    # A domain of the configuration needs no database.
    assert maps.ask("domain mail.test") == ["OK OK"]
    database.start()
    wait_until(lambda: maps.ask(*asked)[0] == f"OK {box.address}")


