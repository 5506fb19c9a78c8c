"""`postern doctor`: what it finds, what it advises, and its exit code."""

import http.server
import os
import pathlib
import re
import socket
import sqlite3
import threading

import pytest
import requests

from agent import Agent
from postgres import TestDatabase
from program import run


@pytest.fixture
def data(start, tmp_path):
    """The directory of a server that runs and has an account."""
    server = start("--data", str(tmp_path / "data"))
    assert Agent(server.url).session(username="patient").status_code == 201
    # Answered when the first keys have been made.
    for name in ["jwks.json", "login-jwks.json"]:
        assert requests.get(f"{server.url}/.well-known/{name}", timeout=60).status_code == 200
    server.directory = tmp_path / "data"
    return server


def doctor(directory, *flags, code=0, profile="test", **settings):
    """The findings: subject to a list of (level, rest of the line)."""
    result = run("doctor", "--profile", profile, "--data", str(directory), *flags,
                 directory=pathlib.Path(directory).parent, **settings)
    found = {}
    for line in result.stdout.splitlines():
        level, subject, text = re.fullmatch(r"(ok|warning|failed) +([a-z ]+): (.*)", line).groups()
        found.setdefault(subject, []).append((level, text))
    assert result.returncode == code, result.stdout + result.stderr
    failed = any(level == "failed" for lines in found.values() for level, _ in lines)
    assert failed == (code == 1)
    return found


def levels(found):
    return {level for lines in found.values() for level, _ in lines}


def stopped(server):
    server.stop()
    return server.directory


def test_a_healthy_server_is_looked_at_while_it_runs(data):
    found = doctor(data.directory)
    assert levels(found) == {"ok"}
    assert {"configuration", "data directory", "database file", "master secret", "database",
            "signing keys", "clock", "domains"} == set(found)
    assert "is intact" in found["database"][0][1]
    assert re.match(r"all \d can be decrypted", found["signing keys"][0][1])
    assert data.running


def test_nothing_is_made_where_there_is_no_database(tmp_path):
    found = doctor(tmp_path / "nowhere")
    assert found["database"][0][0] == "warning" and "there is none" in found["database"][0][1]
    assert list(tmp_path.iterdir()) == []
    assert run("doctor", "--profile", "nonsense", directory=tmp_path).returncode == 78


@pytest.mark.parametrize("name, mode, level", [
    ("postern.db", 0o644, "warning"), ("postern.db", 0o666, "failed"), (".", 0o755, "warning"),
    (".", 0o777, "failed"), ("master.secret", 0o640, "failed")])
def test_files_that_others_can_use_are_named_with_the_remedy(data, name, mode, level):
    path = stopped(data) / name
    path.chmod(mode)
    found = doctor(data.directory, code=1 if level == "failed" else 0)
    subject = {"postern.db": "database file", ".": "data directory"}.get(name, "master secret")
    assert found[subject][0][0] == level and "chmod" in found[subject][0][1]
    assert f"mode 0{mode:o}" in found[subject][0][1]


@pytest.mark.parametrize("section, other, content", [
    ("services", ("LISTEN", "127.0.0.1:81"), "0123456789abcdef"),
    ("provisioning", ("URL", "http://127.0.0.1:81/"), "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")])
def test_secrets_that_the_operator_chose_are_looked_at(data, section, other, content):
    secret = data.directory.parent / "secret"
    settings = {f"POSTERN_{section.upper()}_{other[0]}": other[1],
                f"POSTERN_{section.upper()}_SECRET_FILE": str(secret)}
    secret.write_text(f"{content}\n")
    for mode, level in [(0o600, "ok"), (0o644, "warning"), (0o622, "failed")]:
        secret.chmod(mode)
        found = doctor(data.directory, code=int(level == "failed"), **settings)
        assert found[f"{section} secret"][0][0] == level
    secret.write_text("short\n")
    secret.chmod(0o600)
    assert doctor(data.directory, code=1, **settings)[f"{section} secret"][0][0] == "failed"


def test_another_master_secret_is_found(data):
    secret = stopped(data) / "master.secret"
    secret.write_bytes(os.urandom(32))
    found = doctor(data.directory, code=1)
    assert found["signing keys"][0][0] == "failed"
    assert "cannot be decrypted" in found["signing keys"][0][1]
    secret.unlink()
    found = doctor(data.directory, code=1)
    assert found["signing keys"][0][0] == "failed"


def test_a_damaged_page_is_found_where_ever_it_is(data):
    path = stopped(data) / "postern.db"
    database = sqlite3.connect(path)
    # Neither the start of a server nor /readyz reads this index.
    (page,), (size,) = (database.execute(query).fetchone() for query in [
        "SELECT rootpage FROM sqlite_schema WHERE name = 'retired_address_owner'",
        "PRAGMA page_size"])
    database.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xee" * size)
    found = doctor(data.directory, code=1)
    assert found["database"][0][0] == "failed" and "restore a backup" in found["database"][0][1]
    assert "signing keys" not in found


def test_a_clock_that_was_set_back_is_found(data):
    database = sqlite3.connect(data.directory / "postern.db")
    (now,) = database.execute("SELECT max(time) FROM audit").fetchone()

    def add(milliseconds):
        with database:
            database.execute(
                "INSERT INTO audit (kind, time, actor, subject, client, request_id)"
                " VALUES ('login_succeeded', ?, 'operator', 'a', '', '')", [now + milliseconds])

    add(3_600_000)
    found = doctor(data.directory, code=1)
    assert found["clock"][0][0] == "failed" and "in the future" in found["clock"][0][1]
    add(-3_600_000)
    assert doctor(data.directory)["clock"][0][0] == "ok"
    database.close()


def test_the_records_of_verified_domains_are_looked_up(data, names):
    words = ["--profile", "test", "--data", str(data.directory)]
    run("user", "add", "ada@example.test", "--password-stdin", *words, directory=data.directory,
        stdin="propassword\n")
    assert "no user has" in doctor(data.directory)["domains"][0][1]
    for flags in [["checkup.test", "--verified"], ["claimed.test"]]:
        added = run("domain", "add", *flags, "--owner", "ada@example.test", *words,
                    directory=data.directory)
        assert added.returncode == 0, added.stderr
    settings = {"POSTERN_DNS_SERVERS": names.address}
    found = doctor(data.directory, **settings)["domains"]
    assert [level for level, _ in found] == ["warning", "warning"]
    text = next(line for _, line in found if "TXT" in line)
    assert "checkup.test lacks its TXT record" in text
    value, host = re.search(r"publish (postern-verify=\S+) at (\S+)$", text).groups()
    names.publish([
        {"type": "TXT", "host": host, "value": value},
        {"type": "MX", "host": "checkup.test", "value": "mx.mail.test", "priority": 10}])
    found = doctor(data.directory, **settings)["domains"]
    assert found == [("ok", "all 1 verified domains of users have their records")]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        settings = {"POSTERN_DNS_SERVERS": "127.0.0.1:%d" % silent.getsockname()[1]}
        found = doctor(data.directory, code=1, POSTERN_DNS_TIMEOUT="0.3s", **settings)["domains"]
    assert found[0][0] == "failed" and "dns.servers" in found[0][1]


def test_the_mail_store_is_asked(data):
    class Store(http.server.BaseHTTPRequestHandler):
        status = 401

        def do_GET(self):
            self.send_response(self.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    store = http.server.HTTPServer(("127.0.0.1", 0), Store)
    threading.Thread(target=store.serve_forever, daemon=True).start()
    settings = {"POSTERN_MAIL_JMAP_URL": f"http://127.0.0.1:{store.server_port}"}
    for status, level in [(401, "ok"), (404, "warning"), (502, "failed")]:
        Store.status = status
        found = doctor(data.directory, code=int(level == "failed"), **settings)["mail store"]
        assert found[0][0] == level and f"answers {status}" in found[0][1]
    store.shutdown()
    store.server_close()
    found = doctor(data.directory, code=1, **settings)["mail store"]
    assert found[0][0] == "failed" and "/jmap/" in found[0][1]


def test_the_exported_keys_are_compared(data):
    target = data.directory.parent / "keys"
    words = ["--profile", "test", "--data", str(data.directory)]
    settings = {"POSTERN_KEYS_EXPORT_DIRECTORY": str(target), "POSTERN_KEYS_EXPORT_LAYOUT": "cyrus"}
    found = doctor(data.directory, code=1, **settings)["exported keys"]
    assert found[0][0] == "failed" and "capability.pem" in found[0][1]
    exported = run("key", "export", "--use", "capability", "--layout", "cyrus", "--directory",
                   str(target), *words, directory=data.directory)
    assert exported.returncode == 0, exported.stderr
    assert doctor(data.directory, **settings)["exported keys"][0][0] == "ok"
    (target / "old.pem").write_text((target / "capability.pem").read_text())
    found = doctor(data.directory, **settings)["exported keys"]
    assert [level for level, _ in found] == ["ok", "warning"] and "old.pem" in found[1][1]


def test_a_postgresql_database_is_asked(start, tmp_path):
    database = TestDatabase()
    settings = {"POSTERN_STORAGE_URL": database.url}
    start("--data", str(tmp_path / "data"), **settings).stop()
    found = doctor(tmp_path / "data", **settings)
    assert levels(found) == {"ok"} and "PostgreSQL" in found["database"][0][1]
    database.stop()
    found = doctor(tmp_path / "data", code=1, **settings)
    assert found["database"][0][0] == "failed"
    assert "signing keys" not in found
