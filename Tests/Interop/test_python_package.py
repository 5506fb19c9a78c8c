"""clients/python: the package that starts servers for other people's test suites."""

import collections
import concurrent.futures
import datetime
import os
import pathlib
import signal
import smtplib
import statistics
import subprocess
import sys
import threading
import time

import pytest

from program import BINARY, ROOT, await_true, environment

SOURCE = ROOT / "clients/python"
sys.path.insert(0, str(SOURCE / "src"))

from postern_testing import (  # noqa: E402
    Attachment, MessageTimeout, Postern, PosternError, PosternStartError)


@pytest.fixture(scope="module")
def shared():
    with Postern(binary=BINARY) as server:
        yield server


@pytest.fixture
def server(shared):
    shared.reset()
    return shared


def descriptors():
    """What this process has open, and how often."""
    return collections.Counter(
        os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")
        if os.path.exists(f"/proc/self/fd/{name}"))


def children(of):
    """The processes whose parent this is."""
    found = []
    for directory in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == of:
            found.append(int(directory.name))
    return found


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def script(directory, text):
    """A Python program that can import the package; it prints the ids of servers."""
    file = directory / "program.py"
    file.write_text("import os, signal, sys, threading, time\nfrom postern_testing import Postern\n" + text)
    return subprocess.Popen(
        [sys.executable, "-u", str(file)], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True,
        env=environment(PYTHONPATH=str(SOURCE / "src"), POSTERN_BINARY=str(BINARY)))


def test_a_start_takes_this_long(report):
    taken = []
    for _ in range(5):
        begun = time.monotonic()
        server = Postern(binary=BINARY)
        taken.append((time.monotonic() - begun) * 1000)
        server.stop()
    report(f"postern_testing: a start takes {statistics.median(taken):.0f} ms ({min(taken):.0f} to {max(taken):.0f})")


def test_many_servers_eight_at_once_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    Postern(binary=BINARY).stop()
    # Not what must stay: sockets of earlier tests may be collected meanwhile.
    opened, before = descriptors(), (sorted(children(os.getpid())), threading.active_count())

    def one(number):
        with Postern(binary=BINARY) as server:
            agent = server.create_agent(f"agent-{number}@mail.test")
            assert agent.token and len(server.events()) == 1
            return server.pid

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        pids = list(pool.map(one, range(32)))
    assert len(set(pids)) > 8 and not any(alive(pid) for pid in set(pids) - {os.getpid()})
    assert descriptors() - opened == {}
    assert (sorted(children(os.getpid())), threading.active_count()) == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", ["SIGKILL", "SIGTERM", "exit", "exception", "forked"])
def test_however_the_parent_ends_its_servers_end(tmp_path, end):
    endings = {"exit": "sys.exit(3)", "exception": "raise ValueError", "forked": """
if os.fork() == 0:
    servers[0].stop()
    print(os.getpid())
time.sleep(1000)"""}
    parent = script(tmp_path, f"""
servers = [Postern(), Postern()]
print(*(server.pid for server in servers))
sys.stdin.readline()
{endings.get(end, 'time.sleep(1000)')}
""")
    pids = [int(word) for word in parent.stdout.readline().split()]
    assert len(pids) == 2 and all(alive(pid) for pid in pids)
    parent.stdin.write("\n")
    parent.stdin.flush()
    # A child has copies of everything that its parent has open.
    forked = [int(parent.stdout.readline())] if end == "forked" else []
    assert not forked or all(alive(pid) for pid in pids)
    if end in ("SIGKILL", "SIGTERM", "forked"):
        parent.send_signal(signal.SIGTERM if end == "SIGTERM" else signal.SIGKILL)
    parent.wait(60)
    await_true(lambda: not any(alive(pid) for pid in pids), "a server is left")
    # It was not the end of the child that ended the servers.
    for pid in forked:
        assert alive(pid)
        os.kill(pid, signal.SIGKILL)
    parent.stdin.close()
    parent.stdout.close()


def test_a_server_outlives_the_thread_that_started_it():
    started = []
    thread = threading.Thread(target=lambda: started.append(Postern(binary=BINARY)))
    thread.start()
    thread.join()
    with started[0] as server:
        assert server.clock.now() and server.running


def test_stopping_twice_or_a_server_that_has_died_is_no_error():
    server = Postern(binary=BINARY)
    os.kill(server.pid, signal.SIGKILL)
    await_true(lambda: not server.running, "it lives")
    server.stop()
    server.stop()


def test_a_start_that_fails_says_why(tmp_path):
    def fails(text, **options):
        with pytest.raises(PosternStartError) as error:
            Postern(**{"binary": BINARY, **options})
        assert text in str(error.value), str(error.value)

    before = descriptors()
    fails("there is no program /nowhere (given as `binary`)", binary="/nowhere")
    fails("exit code 1, and logged nothing", binary="/bin/false")
    fails("users.registration", settings={"users.registration": "sometimes"})
    fails("exit code 78; it logged last:\n  1 fault", settings={"server.loops": "x"})
    hangs = tmp_path / "hangs"
    hangs.write_text("#!/bin/sh\necho not yet >&2\nexec sleep 1000\n")
    hangs.chmod(0o755)
    fails("did not listen within 0.5 seconds; it logged last:\n  not yet", binary=hangs,
          start_timeout=0.5)
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    fails("cannot run", binary=broken)
    assert descriptors() - before == {} and not [
        pid for pid in children(os.getpid()) if "sleep" in pathlib.Path(f"/proc/{pid}/comm").read_text()]


def test_the_program_is_found(monkeypatch, tmp_path):
    monkeypatch.setenv("POSTERN_BINARY", str(BINARY))
    with Postern() as server:
        assert server.running
    monkeypatch.delenv("POSTERN_BINARY")
    (tmp_path / "postern").symlink_to(BINARY)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with Postern() as server:
        assert server.running
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PosternStartError, match="set POSTERN_BINARY"):
        Postern()


def test_settings_are_passed_and_those_of_the_environment_are_not(monkeypatch):
    monkeypatch.setenv("POSTERN_USERS_REGISTRATION", "nonsense")
    settings = {"mail.domains": ["a.test", "b.test"], "limits.enabled": True,
                "limits.general_per_second": 1000}
    with Postern(binary=BINARY, settings=settings) as server:
        assert server.create_agent().address.endswith("@a.test")
        assert server.create_account("x@b.test").address == "x@b.test"
        # The log is read in a thread of its own.
        lines = await_true(server.log_lines, "nothing was logged")
        assert all(line.startswith("{") for line in lines)


def test_what_it_makes_can_be_used(server):
    agent = server.create_agent("bob@mail.test")
    signed_up = server.sign_up("agent-of-test")
    box = server.create_account(password="correct horse")
    user = server.create_user("ada@example.com")
    owned = server.create_account(owner=user)
    for login in (agent, signed_up, box, owned, server.account_token(agent), server.account_token(box)):
        assert server.call("POST", "/api/v1/capability", token=login.token)["expiresIn"] == 120
    assert server.call("POST", "/api/token", {
        "address": box.address, "password": "correct horse"})["id"] == box.id
    assert server.call("GET", "/userinfo", token=server.capability(agent).token)["email"] == agent.address
    accounts = server.call("GET", "/api/user/accounts", token=user.token)["accounts"]
    assert [account["id"] for account in accounts] == [owned.id]
    api = server.api_token(user.email, name="ci", expires_in=60, scopes=["accounts"])
    assert server.call("GET", "/api/user/accounts", token=api.token)["accounts"] == accounts
    assert api.id and api.expires_at - server.clock.now() <= datetime.timedelta(seconds=60)
    assert server.api_token(user).expires_at is None
    assert server.call("GET", "/api/user/me", token=server.user_token(user).token)["id"] == user.id


def test_lists_may_be_longer_than_one_request(server):
    agents = server.create_agents(150)
    assert len({agent.address for agent in agents}) == 150
    assert [agent.address for agent in server.create_agents(["b@mail.test", "a@mail.test"])] == [
        "b@mail.test", "a@mail.test"]
    assert [box.password for box in server.create_accounts([{"password": "secret-1"}, {}])][0] == "secret-1"
    events = server.events()
    assert len(events) == 154 and {event.kind for event in events} == {"account_created"}
    assert server.events(after=events[-2].sequence) == events[-1:]


def test_the_clock_moves(server):
    agent = server.create_agent()
    server.clock.advance(datetime.timedelta(minutes=59, microseconds=1))
    server.call("POST", "/api/v1/capability", token=agent.token)
    server.clock.advance(60)
    with pytest.raises(PosternError) as error:
        server.call("POST", "/api/v1/capability", token=agent.token)
    assert error.value.status == 401
    zone = datetime.timezone(datetime.timedelta(hours=2))
    assert server.clock.set(datetime.datetime(2030, 1, 15, 12, 30, tzinfo=zone)).hour == 10
    assert server.clock.set(datetime.datetime(2030, 1, 15, 10, 30)).hour == 10
    server.reset()
    assert abs(server.clock.now() - datetime.datetime.now(datetime.timezone.utc)).days < 1
    assert server.events() == []


def test_an_error_has_its_code(server):
    with pytest.raises(PosternError, match="409 address_taken: .+") as error:
        server.create_accounts([{"address": "x@mail.test"}] * 2)
    assert (error.value.status, error.value.code) == (409, "address_taken")
    with pytest.raises(PosternError, match="401 .+challenge"):
        server.call("POST", "/api/v1/session", {})


def test_a_message_sent_by_smtp_is_waited_for(server):
    box = server.create_account("ada@mail.test")

    def send(subject):
        with smtplib.SMTP(*server.smtp) as connection:
            connection.sendmail(
                "app@shop.test", [box.address],
                f"From: Shop <shop@shop.test>\r\nTo: {box.address}\r\nSubject: {subject}\r\n\r\n"
                "Code 123456, https://shop.test/go.\r\n")

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.wait_for_message, to=box, subject="CODE", timeout=60)
        send("Welcome")
        send("Your code")
        message = waiting.result(60)
    assert (server.smtp.host, message.to) == ("127.0.0.1", [box.address])
    assert (message.sender, message.mail_from) == ("shop@shop.test", "app@shop.test")
    assert (message.codes, message.links) == (["123456"], ["https://shop.test/go"])
    assert message.text.startswith("Code 123456") and message.html is None
    assert ("Subject", "Your code") in message.headers
    assert message.received_at <= server.clock.now() and message.ids[0]
    assert b"Subject: Your code\r\n" in server.source(message)
    first = server.wait_for_message(box.address, sender="shop@shop.test")
    assert (first.subject, first.number + 1) == ("Welcome", message.number)
    assert server.wait_for_message(box, after=first.number) == message


def test_more_waits_than_a_client_may_have_wait_for_their_turn(server):
    addresses = [f"user-{number}@wait.test" for number in range(20)]
    with concurrent.futures.ThreadPoolExecutor(len(addresses)) as pool:
        waiting = [pool.submit(server.wait_for_message, to=to, timeout=60) for to in addresses]
        time.sleep(1)
        for to in addresses:
            server.deliver(to, sender="app@shop.test", subject=to)
        assert [each.result(60).subject for each in waiting] == addresses


def test_a_wait_in_vain_says_what_arrived(server):
    with pytest.raises(MessageTimeout, match="no message within 0 seconds; nothing arrived"):
        server.wait_for_message(timeout=0)
    server.deliver("bob@other.test", sender="app@shop.test", subject="News")
    with pytest.raises(MessageTimeout) as error:
        server.wait_for_message(to="ada@mail.test", subject="code", timeout=0.1)
    assert str(error.value) == (
        "no message with to 'ada@mail.test', subject 'code' within 0.1 seconds; 1 arrived:\n"
        "  to bob@other.test, from app@shop.test: News")


def test_messages_are_delivered_listed_and_removed(server):
    box = server.create_account()
    ids = server.deliver(
        [box, "out@other.test"], subject="Files", html="<a href='https://a.test'>x</a>",
        attachments=[("ü.png", "image/png", b"\x89PNG")])
    assert ids[0] and ids[1] is None
    server.deliver("out@other.test", source="Subject: raw\n\nbody\n")
    assert [message.subject for message in server.messages()] == ["Files", "raw"]
    [files] = server.messages(to=box)
    assert files.attachments == [Attachment("ü.png", "image/png", 4)] and files.text is None
    assert files.ids == ids and files.links == ["https://a.test"]
    assert server.messages(to="out@other.test", after=files.number, subject="RAW")[0].text == "body\n"
    server.clear_messages()
    assert server.messages() == []
    with pytest.raises(PosternError, match="no mailbox for nobody@mail.test"):
        server.deliver("nobody@mail.test", text="x")


def test_lists_of_messages_may_be_longer_than_one_answer(server):
    for number in range(3):
        server.deliver("out@other.test", subject=str(number), text="line of text\n" * 400_000)
    assert [message.subject for message in server.messages()] == ["0", "1", "2"]


def test_mail_fails_until_the_fault_ends(server):
    def send():
        with smtplib.SMTP(*server.smtp) as connection:
            connection.sendmail("app@shop.test", ["out@other.test"], b"Subject: s\r\n\r\n")

    for fault in ("rcpt", "data", "temp"):
        server.fail_mail(fault)
        with pytest.raises(smtplib.SMTPException):
            send()
    server.fail_mail(None)
    send()
    with pytest.raises(PosternError, match="`fail` must be"):
        server.fail_mail("all")
    server.fail_mail("temp")
    server.reset()
    assert server.messages() == []
    send()


def test_without_mail_the_calls_say_what_to_set():
    with Postern(binary=BINARY, settings={"mail.store": "none"}) as server:
        with pytest.raises(LookupError, match="mail.local_smtp"):
            server.smtp
        with pytest.raises(PosternError, match="503 mail_store_missing: .*`mail.store`"):
            server.messages()
        server.reset()
