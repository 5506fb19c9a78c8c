"""As a service: inherited sockets, what the service manager is told, and the units in deploy/systemd."""

import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

from program import BINARY, ROOT, STOP_SECONDS, await_true, environment
from services import Socketmap
from supervisor import Supervisor, listening
from tlsfiles import Authority, settings, tls_listener

UNITS = ROOT / "deploy/systemd"


@pytest.fixture
def supervise(tmp_path):
    made = []

    def supervise(sockets=None, **options):
        made.append(Supervisor(tmp_path, sockets or [("public", listening())], **options))
        return made[-1]

    yield supervise
    for one in made:
        one.close()


def ask(connection, path="/healthz", method="GET"):
    connection.request(method, path)
    answer = connection.getresponse()
    answer.read()
    return answer


class Load(threading.Thread):
    """Sends requests that must not be sent twice, and sends none twice."""

    def __init__(self, connect, keeps, ends):
        super().__init__()
        self.connect, self.keeps, self.ends = connect, keeps, ends
        self.answered, self.failures = 0, []
        self.start()

    def run(self):
        connection = None
        while not self.ends.is_set():
            connection = connection or self.connect()
            try:
                answer = ask(connection, "/api/v1/challenge", "POST")
                if answer.status != 200 and answer.status != 201:
                    self.failures.append(answer.status)
                self.answered += 1
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
                answer = None
            # A client closes when it is told to; the next request is on another connection.
            if not self.keeps or answer is None or answer.getheader("Connection") == "close":
                connection.close()
                connection = None
        if connection:
            connection.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_restart_on_an_inherited_socket_loses_no_request(supervise, tmp_path, scheme):
    sockets = [("public", listening()), ("socketmap", listening())]
    port, look_ups = (one.getsockname()[1] for _, one in sockets)
    flags, context = ["--data", "data"], None
    if scheme == "https":
        authority = Authority(tmp_path / "authority")
        context = authority.context(check_hostname=False)
        file = tmp_path / "postern.toml"
        file.write_text(settings([tls_listener()], [authority.issue("postern.test")]))
        flags += ["--config", str(file)]
    service = supervise(sockets, POSTERN_SERVER_DRAIN_GRACE="60s",
                        POSTERN_SERVER_PUBLIC_URL=f"{scheme}://postern.test")

    def connect():
        if context:
            return http.client.HTTPSConnection("127.0.0.1", port, timeout=120, context=context)
        return http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    service.start(*flags)
    service.await_message("READY")
    waiting = [connect() for _ in range(6)]
    for one in waiting:
        assert ask(one).getheader("Connection") != "close"
    begun = waiting.pop()
    begun.send(b"GET /hea")
    # One on each loop, which closes them when it begins to close connections.
    loops = [Socketmap(f"127.0.0.1:{look_ups}") for _ in range(os.cpu_count())]
    for one in loops:
        one.ask("domain postern.test")
    ends = threading.Event()
    load = [Load(connect, keeps, ends) for keeps in [True, True, True, False, False]]

    def await_answers():
        before = [one.answered for one in load]
        await_true(lambda: all(one.answered > count + 5 for one, count in zip(load, before))
                   or any(one.failures for one in load), "the clients are not served")

    try:
        await_answers()
        service.process.terminate()
        assert all(one.is_closed() for one in loops)
        # Their clients do not know yet that the server stops.
        answers = [ask(one) for one in waiting]
        begun.send(b"lthz HTTP/1.1\r\nHost: postern.test\r\n\r\n")
        answers.append(http.client.HTTPResponse(begun.sock))
        answers[-1].begin()
        begun.close()
        assert [(one.status, one.getheader("Connection")) for one in answers] == [(200, "close")] * 6
        assert service.process.wait(STOP_SECONDS) == 0
        service.start(*flags)
        service.await_message("READY")
        await_answers()
    except BaseException:
        # Otherwise the clients wait for a server that does not come.
        service.close()
        raise
    finally:
        ends.set()
        for one in load:
            one.join()
        for one in waiting + [begun] + loops:
            one.close()
    assert [one.failures for one in load] == [[]] * len(load)
    service.stop()


def test_a_connection_that_comes_between_two_servers_is_answered_by_the_second(supervise):
    service = supervise()
    service.start()
    service.await_message("READY")
    service.stop()
    waiting = http.client.HTTPConnection("127.0.0.1", service.sockets[0][1].getsockname()[1], timeout=60)
    waiting.request("GET", "/healthz")
    service.start()
    assert waiting.getresponse().status == 200
    waiting.close()
    service.await_message("READY")
    service.stop()


@pytest.mark.parametrize("abstract", [False, True])
def test_the_service_manager_hears_that_it_is_ready_lives_and_stops(supervise, abstract):
    service = supervise(abstract=abstract, WATCHDOG_USEC="200000")
    port = service.sockets[0][1].getsockname()[1]
    service.start()
    assert service.message() == {"READY": "1", "STATUS": f"Serving http://127.0.0.1:{port}"}
    for _ in range(3):
        assert service.message() == {"WATCHDOG": "1"}
    service.process.terminate()
    service.await_message("STOPPING")
    assert service.process.wait(60) == 0


def test_the_service_manager_hears_when_a_reload_begins_and_ends(supervise, tmp_path):
    service = supervise()
    (tmp_path / "config").mkdir()
    settings = tmp_path / "config/postern.toml"
    settings.write_text("")
    service.start()
    service.await_message("READY")
    for text, faults in [("limits.pro_per_second = 3", False), ("limits.pro_per_second = 0", True)]:
        settings.write_text(text)
        before = time.monotonic_ns() // 1000
        service.process.send_signal(signal.SIGHUP)
        begun = service.message()
        # systemd compares the time with that of its signal.
        assert begun["RELOADING"] == "1"
        assert before <= int(begun["MONOTONIC_USEC"]) <= time.monotonic_ns() // 1000
        ended = service.message()
        assert ended["READY"] == "1" and ("faults" in ended["STATUS"]) == faults
    service.stop()


def test_the_watchdog_of_another_process_is_left_alone(supervise):
    service = supervise(WATCHDOG_USEC="100000000", WATCHDOG_PID="1")
    service.start()
    service.await_message("READY")
    # Not for this process: nothing more comes before the stop.
    service.process.terminate()
    assert "STOPPING" in service.message()
    assert service.process.wait(60) == 0


def test_services_are_on_the_socket_of_their_name(supervise, tmp_path):
    path = str(tmp_path / "services.socket")
    sockets = [("services", listening(socket.AF_UNIX, path)), ("public", listening())]
    service = supervise(sockets)
    service.start()
    service.await_message("READY")
    client = http.client.HTTPConnection("postern", timeout=60)
    client.sock = socket.socket(socket.AF_UNIX)
    client.sock.connect(path)
    assert ask(client, "/forward-auth").status == 401
    client.close()
    public = http.client.HTTPConnection("127.0.0.1", sockets[1][1].getsockname()[1], timeout=60)
    assert ask(public).status == 200
    public.close()
    service.stop()
    # The manager's file, which the next server needs.
    assert (tmp_path / "services.socket").exists()


def test_sockets_that_cannot_be_used_are_faults_all_at_once(supervise):
    silent = socket.socket()
    silent.bind(("127.0.0.1", 0))
    sockets = [("public", silent), ("postern.socket", listening()),
               ("public", socket.socket(socket.AF_INET, socket.SOCK_DGRAM))]
    service = supervise(sockets, POSTERN_SERVER_PORT="x")
    service.start()
    assert service.process.wait(60) == 78
    said = service.log.read_text()
    assert "4 faults" in said and "does not listen" in said and "not a stream socket" in said
    assert '"postern.socket" is no listener' in said


def test_it_serves_what_systemd_socket_activate_gives_it(tmp_path):
    program = shutil.which("systemd-socket-activate")
    assert program, "Debian's package systemd is missing"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, f"--listen=127.0.0.1:{port}", "--fdname=public", str(BINARY), "serve",
             "--profile", "test"], cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=log,
            stdout=subprocess.DEVNULL, env=environment(PATH="/usr/bin:/bin"))
    try:
        def answered():
            # The first connection starts it.
            try:
                client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                return ask(client).status == 200
            except ConnectionRefusedError:
                return False
            finally:
                client.close()
        await_true(answered, lambda: (tmp_path / "log").read_text())
    finally:
        process.terminate()
        process.wait(60)
    assert process.returncode == 0, (tmp_path / "log").read_text()


@pytest.fixture
def units(tmp_path):
    """The units with a program that is here."""
    for unit in UNITS.glob("postern.*"):
        text = unit.read_text().replace("/usr/local/bin/postern", str(BINARY))
        # What is suggested must be right, too.
        (tmp_path / unit.name).write_text(re.sub(r"(?m)^#(?=[A-Z]\w+=)", "", text))
    return sorted(tmp_path.glob("postern*"))


def analyze(*words):
    return subprocess.run(["systemd-analyze", *map(str, words)], capture_output=True, text=True, timeout=120)


def test_systemd_finds_nothing_wrong_with_the_units(units):
    checked = analyze("verify", "--man=no", *units)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_the_exposure_of_the_unit_is_the_documented_one(units):
    said = analyze("security", "--offline=true", "--no-pager", units[0]).stdout
    found = re.search(r"Overall exposure level for postern.service: (\S+)", said)
    assert found, said
    shown = re.search(r"`systemd-analyze security` \D*(\d+\.\d+)", (ROOT / "docs/operators.md").read_text())
    assert float(found[1]) <= float(shown[1])


def test_the_unit_gives_the_time_that_stopping_takes():
    text = (UNITS / "postern.service").read_text()
    command = re.search(r"^ExecStart=\S+ serve (.*)$", text, re.M)[1]
    shown = subprocess.run(
        [str(BINARY), "check-config", *command.replace("--config /etc/postern/postern.toml ", "").split()],
        capture_output=True, text=True, timeout=60, cwd="/",
        env=environment(POSTERN_SERVER_PUBLIC_URL="https://a.example", JWT_ISSUER="a")).stdout
    seconds = sum(int(re.search(rf'{name} = "(\d+)s"', shown)[1]) for name in ("drain_delay", "drain_timeout"))
    assert int(re.search(r"^TimeoutStopSec=(\d+)$", text, re.M)[1]) > seconds
