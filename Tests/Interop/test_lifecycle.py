"""Starting and stopping, as a supervisor sees it."""

import concurrent.futures
import json
import signal
import subprocess
import time

import requests

from agent import Agent
from program import BINARY, await_true, environment, run
from wire import Wire

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
READY = b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n"


def test_requests_in_flight_are_answered_after_sigterm(start):
    server = start()
    agent = Agent(server.url)
    key = agent.session(username="in-flight").json()["apiKey"]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        solved = list(pool.map(lambda _: agent.solve(), range(8)))
    wires = [Wire(server, timeout=30) for _ in solved]
    for wire, one in zip(wires, solved):
        body = json.dumps({"powHex": one.digest, "nonce": one.nonce, "apiKey": key}).encode()
        wire.send(b"POST /api/v1/session HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n"
                  b"Content-Length: %d\r\n\r\n%s" % (one.token.encode(), len(body), body))
    assert wires[0].answer().status == 200
    server.process.send_signal(signal.SIGTERM)
    assert [wire.answer().status for wire in wires[1:]] == [200] * 7
    for wire in wires:
        assert wire.ended()
        wire.socket.close()
    server.await_end()


def test_a_stop_right_after_the_start_is_graceful(start):
    # Signing keys are still being made then, in the background of the first start. The test profile
    # makes them when they are used.
    for number in range(12):
        start("--data", f"data-{number}", profile="development").stop()


def test_idle_connections_do_not_hold_up_the_end(start):
    server = start(POSTERN_SERVER_DRAIN_TIMEOUT="5m")
    with Wire(server) as wire:
        wire.send(HEALTH)
        assert wire.answer().status == 200
        server.stop()
        assert wire.ended()


def test_what_has_not_ended_in_time_is_cut_off_and_logged(start):
    server = start(POSTERN_SERVER_DRAIN_TIMEOUT="2s")
    with Wire(server) as wire, Wire(server) as half:
        half.send(READY[:9])
        wire.send(HEALTH)
        assert wire.answer().status == 200
        server.stop()
        assert half.ended()
    [line] = [json.loads(line) for line in server.read_log().splitlines() if "waiting_for" in line]
    assert line["level"] == "warning" and "server.drain_timeout" in line["message"]
    assert line["waiting_for"] == "1 the rest of a request"


def is_refused(server):
    try:
        Wire(server).socket.close()
        return False
    except ConnectionRefusedError:
        return True


def test_a_request_that_was_on_its_way_is_answered_and_its_connection_closed(start):
    server = start(POSTERN_SERVER_DRAIN_GRACE="1m")
    with Wire(server) as wire, Wire(server) as idle:
        for one in (wire, idle):
            one.send(HEALTH)
            assert "close" not in one.answer().all("connection")
        server.process.send_signal(signal.SIGTERM)
        await_true(lambda: is_refused(server), "it still listens")
        wire.send(HEALTH)
        answer = wire.answer()
        assert answer.status == 200 and answer.one("connection") == "close" and wire.ended()
    server.await_end()


def test_while_draining_it_is_healthy_but_not_ready(start):
    server = start(POSTERN_SERVER_DRAIN_DELAY="8s")
    server.process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + 6
    ready = 200
    while ready == 200 and time.monotonic() < deadline:
        with Wire(server) as wire:
            wire.send(READY)
            ready = wire.answer().status
    assert ready == 503
    with Wire(server) as wire:
        wire.send(HEALTH + HEALTH)
        answer = wire.answer()
        assert answer.status == 200 and answer.one("connection") == "close"
        assert wire.ended()
    server.await_end()


def test_a_port_in_use_is_reported_and_not_shared(start, tmp_path):
    server = start()
    result = run("serve", "--profile", "test", "--port", server.port, directory=tmp_path)
    assert result.returncode != 0
    assert str(server.port) in result.stderr and result.stdout == ""
    assert requests.get(server.url + "/healthz", timeout=5).status_code == 200


def test_the_end_of_standard_input_stops_it_where_that_is_wanted(tmp_path):
    command = [str(BINARY), "serve", "--profile", "test", "--port", "0"]
    for flags, ends in [(["--stop-at-eof"], True), ([], False)]:
        server = subprocess.Popen(
            command + flags, cwd=tmp_path, env=environment(), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        url = server.stdout.readline().removeprefix("listening on ").strip()
        if ends:
            server.stdin.write("not the end\n" * 10_000)
            server.stdin.flush()
        assert requests.get(url + "/healthz", timeout=60).status_code == 200
        server.stdin.close()
        if not ends:
            assert requests.get(url + "/healthz", timeout=60).status_code == 200
            server.terminate()
        assert server.wait(60) == 0
        server.stdout.close()


def test_it_listens_on_ipv6_too(start):
    server = start("--host", "::1")
    with Wire(server) as wire:
        wire.send(HEALTH)
        assert wire.answer().status == 200


def test_healthcheck_exits_with_0_only_while_the_server_runs(start, tmp_path):
    server = start()
    port = {"POSTERN_SERVER_PORT": str(server.port)}
    assert run("healthcheck", directory=tmp_path, **port).returncode == 0
    server.stop()
    assert run("healthcheck", directory=tmp_path, **port).returncode != 0
