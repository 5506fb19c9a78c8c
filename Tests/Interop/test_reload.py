"""SIGHUP: the configuration is read again while the server serves, and a closed terminal still stops it."""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import threading

import pytest
import requests

from agent import Agent
from program import BINARY, NOT_RELOADED, RELOADED, STOP_SECONDS, await_true, environment

FIRST = """
limits.general_per_second = 50
log.access = "errors"
[mail]
domains = ["first.example"]
[pow]
agent_difficulty = 1
agent_max_difficulty = 1
"""
SECOND = """
[mail]
domains = ["second.example"]
[pow]
agent_difficulty = 2
agent_max_difficulty = 2
"""


class Served:
    """A server with a configuration file."""

    def __init__(self, start, path, text, **options):
        self.file = path / "postern.toml"
        self.file.write_text(text)
        self.server = start("--config", str(self.file), **options)
        self.url = self.server.url

    def lines(self, message):
        text = self.server.read_log()
        found = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
        return [line for line in found if line["message"] == message]

    def hang_up(self, message=RELOADED):
        """Sends SIGHUP and waits for what it comes to; has that line of the log."""
        self.server.reload(message)
        return self.lines(message)[-1]

    def change(self, text, message=RELOADED):
        self.file.write_text(text)
        return self.hang_up(message)

    def domains(self, session=requests):
        answer = session.get(f"{self.url}/api/domains", timeout=30)
        return [one["domain"] for one in answer.json()["domains"]]


@pytest.fixture
def served(start, tmp_path):
    return lambda text=FIRST, **options: Served(start, tmp_path, text, **options)


def test_what_can_change_does_and_what_needs_a_restart_is_said(served):
    server = served()
    with requests.Session() as kept:
        assert server.domains(kept) == ["first.example"]
        done = server.change(SECOND + """
[server]
port = 1
body_limit = 2048
trusted_proxies = ["127.0.0.1"]
""")
        # The connection is open already; the request is not answered by what was there before.
        assert server.domains(kept) == ["second.example"]
        forwarded = {"X-Forwarded-For": "203.0.113.9"}
        assert kept.get(f"{server.url}/healthz", headers=forwarded, timeout=30).status_code == 200
    assert (done["changed"], done["need_restart"]) == ("6", "1")
    changes = {line["setting"]: (line["old"], line["new"]) for line in server.lines("a setting has changed")}
    assert changes == {
        "mail.domains": ('["first.example"]', '["second.example"]'),
        "pow.agent_difficulty": ("1", "2"), "pow.agent_max_difficulty": ("1", "2"),
        "limits.general_per_second": ("50", "8"), "log.access": ('"errors"', '"all"'),
        "server.trusted_proxies": ("[]", '["127.0.0.1"]')}
    [postponed] = server.lines("a setting needs a restart to change")
    assert (postponed["setting"], postponed["new"]) == ("server.body_limit", "2048")
    # Now every request has a line, with the client that the proxy names.
    await_true(lambda: [line for line in server.lines("request") if line["http.route"] == "/healthz"
                        and line["client.address"] == "203.0.113.9"], server.server.read_log)
    assert Agent(server.url).session(username="after").json()["inbox"].endswith("@second.example")


@pytest.mark.parametrize("text, count", [
    ('mail.domains = ["x y"]\nlimits.pro_per_second = 0\nno.such = 1', 3),
    # On this text the parser ends its process.
    ('mail.domains = ["second.example"]\na = [}', 1),
    ('mail.domains = ["second.example"]\n= = =', 1),
    (None, 1),
], ids=["values", "abort", "syntax", "missing"])
def test_with_a_fault_nothing_changes(served, text, count):
    server = served()
    if text is None:
        server.file.unlink()
        server.hang_up(NOT_RELOADED)
    else:
        server.change(text, NOT_RELOADED)
    faults = [line["fault"] for line in server.lines("a fault in the configuration")]
    assert len(faults) == count, faults
    assert not server.lines("a setting has changed") and server.domains() == ["first.example"]
    # And the next one is as good as ever.
    server.change(SECOND)
    assert server.domains() == ["second.example"]


def test_the_value_of_a_secret_is_not_logged(served, tmp_path):
    secret = tmp_path / "domains"
    secret.write_text("first.example\n")
    server = served("", POSTERN_MAIL_DOMAINS_FILE=str(secret))
    secret.write_text("hidden.example\n")
    server.hang_up()
    [line] = server.lines("a setting has changed")
    assert (line["setting"], line["old"], line["new"]) == ("mail.domains", "redacted", "redacted")
    assert server.domains() == ["hidden.example"] and "hidden.example" not in server.server.read_log()


def test_the_production_profile_reloads(served):
    settings = ('server.public_url = "https://a.example"\nhash_login.issuer = "a"\n'
                'storage.url = "sqlite::memory:"\nserver.drain_delay = 0\n')
    server = served(settings, profile="production")
    server.change(settings + "[x", NOT_RELOADED)
    server.change(settings + '[mail]\ndomains = ["second.example"]')
    assert server.domains() == ["second.example"]


def test_every_request_sees_the_one_or_the_other_configuration(served):
    server = served(FIRST)
    both, ends, seen = set(), threading.Event(), []
    both.add(requests.get(f"{server.url}/llms.txt", timeout=30).text)
    server.change(SECOND)
    both.add(requests.get(f"{server.url}/llms.txt", timeout=30).text)
    assert len(both) == 2

    def ask():
        with requests.Session() as kept:
            while not ends.is_set():
                seen.append(kept.get(f"{server.url}/llms.txt", timeout=60).text)

    readers = [threading.Thread(target=ask) for _ in range(4)]
    for one in readers:
        one.start()
    try:
        for text in [FIRST, SECOND] * 3:
            server.change(text)
    finally:
        ends.set()
        for one in readers:
            one.join()
    assert set(seen) == both


def test_signals_in_a_row_during_the_start_and_the_stop_do_no_harm(served, start):
    server = served(POSTERN_SERVER_DRAIN_DELAY="5m")
    process = server.server.process
    server.file.write_text(SECOND)
    for _ in range(50):
        process.send_signal(signal.SIGHUP)
    await_true(lambda: server.domains() == ["second.example"], server.server.read_log)
    process.terminate()
    await_true(lambda: requests.get(f"{server.url}/readyz", timeout=30).status_code == 503, "not draining")
    for _ in range(10):
        process.send_signal(signal.SIGHUP)
    assert requests.get(f"{server.url}/healthz", timeout=30).status_code == 200
    process.terminate()
    assert process.wait(STOP_SECONDS) == 128 + signal.SIGTERM


def catches(process, number):
    """Whether a process has a handler for a signal."""
    text = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"^SigCgt:\s+(\w+)$", text, re.M)[1], 16) >> number - 1 & 1


def test_a_signal_during_the_start_is_kept(tmp_path):
    path = tmp_path / "log"
    with path.open("wb") as log:
        process = subprocess.Popen(
            [str(BINARY), "serve", "--profile", "test", "--port", "0"], cwd=tmp_path, env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
    try:
        await_true(lambda: catches(process.pid, signal.SIGHUP), "it ignores the signal", pause=0)
        process.send_signal(signal.SIGHUP)
        await_true(lambda: RELOADED in path.read_text(), path.read_text)
    finally:
        process.terminate()
    assert process.wait(STOP_SECONDS) == 0


class Terminal:
    """Runs a server on a terminal of its own, behind a shell or alone."""

    def __init__(self, directory, shell):
        reader, writer = os.pipe()
        self.log = directory / "log"
        self.process, self.master = pty.fork()
        if self.process == 0:
            server = os.fork() if shell else 0
            if server:
                # A shell passes the signal on when its terminal was closed.
                signal.signal(signal.SIGHUP, lambda *_: os.kill(server, signal.SIGHUP))
                os.write(writer, b"%d\n" % server)
                os._exit(os.waitstatus_to_exitcode(os.waitpid(server, 0)[1]))
            if not shell:
                os.write(writer, b"%d\n" % os.getpid())
            log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(log, 2)
            os.chdir(directory)
            os.execve(BINARY, [str(BINARY), "serve", "--profile", "test", "--port", "0"], environment())
        os.close(writer)
        self.server = int(os.read(reader, 100))
        os.close(reader)
        self.read = b""
        while b"listening on" not in self.read:
            self.read += os.read(self.master, 1000)

    def code(self):
        _, status = await_true(
            lambda: (ended := os.waitpid(self.process, os.WNOHANG))[0] and ended, "it still runs")
        return os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize("shell", [False, True], ids=["alone", "behind a shell"])
def test_closing_its_terminal_stops_it_and_a_signal_does_not(tmp_path, shell):
    terminal = Terminal(tmp_path, shell)
    try:
        os.kill(terminal.server, signal.SIGHUP)
        await_true(lambda: RELOADED in terminal.log.read_text(), terminal.log.read_text)
        os.close(terminal.master)
        assert terminal.code() == 0
    except BaseException:
        os.kill(terminal.server, signal.SIGKILL)
        raise
    assert '"SIGHUP"' in terminal.log.read_text()
