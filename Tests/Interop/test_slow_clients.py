"""Clients that send slowly, send nothing or never read: each has a deadline and bounded memory."""

import itertools
import pathlib
import re
import select
import time

import pytest

from wire import Wire

HOST = b"Host: a\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
DEADLINE = 1
LATE = 5


@pytest.fixture
def hasty(start):
    """A server whose deadlines are all a second."""
    names = ["HEAD_TIMEOUT", "BODY_TIMEOUT", "IDLE_TIMEOUT", "WRITE_TIMEOUT"]
    return start(**{f"POSTERN_SERVER_{name}": f"{DEADLINE}s" for name in names})


def drip(wire, data):
    """Sends a byte each tenth of a second until the server closes; returns the seconds taken."""
    wire.socket.settimeout(0.1)
    began = time.monotonic()
    for byte in data:
        try:
            wire.send(bytes([byte]))
            if wire._more() or time.monotonic() - began > LATE:
                break
        except TimeoutError:
            continue
        except BrokenPipeError:
            break
    wire.socket.settimeout(LATE)
    return time.monotonic() - began


@pytest.mark.parametrize("beginning", [
    b"GET /healthz HTTP/1.1\r\nX: ",
    b"POST /api/v1/challenge HTTP/1.1\r\n" + HOST + b"Content-Length: 60000\r\n\r\n",
    b"POST /api/v1/challenge HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nea60\r\n",
], ids=["head", "body", "chunk"])
def test_dripping_bytes_does_not_extend_the_deadline(hasty, beginning):
    with Wire(hasty) as wire:
        wire.send(beginning)
        took = drip(wire, itertools.repeat(ord("a")))
        assert wire.answer().status == 408
        assert wire.ended()
    assert DEADLINE * 0.9 <= took < LATE


def test_a_silent_connection_is_closed_without_a_response(hasty):
    with Wire(hasty, timeout=LATE) as wire:
        wire.send(HEALTH)
        assert wire.answer().status == 200
        assert wire.ended()


def resident_mib(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024


def answered(wires):
    """Those to which the server has sent something."""
    by_descriptor = {wire.socket.fileno(): wire for wire in wires}
    poll = select.poll()
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    return [by_descriptor[descriptor] for descriptor, _ in poll.poll(0)]


def test_clients_that_stop_in_a_body_use_bounded_memory_together(start):
    server = start(POSTERN_SERVER_BUFFER_LIMIT=str(4 * 1024 * 1024))
    ask = b"POST /api/token HTTP/1.1\r\n" + HOST + b"Content-Length: 60000\r\n\r\n"
    before = resident_mib(server)
    wires = [Wire(server, timeout=LATE) for _ in range(600)]
    for wire in wires:
        try:
            wire.send(ask + b" " * 59_000)
        except (BrokenPipeError, ConnectionResetError):
            pass
    with Wire(server, timeout=LATE) as small:
        small.send(HEALTH)
        assert small.answer().status == 200
    # 36 MB were sent.
    assert resident_mib(server) - before < 20
    # The limit has room for some 70 bodies. Whose they are depends on the order of the bytes.
    latest = time.monotonic() + 30
    while len(refused := answered(wires)) < 500 and time.monotonic() < latest:
        time.sleep(0.05)
    answer = refused[-1].answer()
    assert (answer.status, answer.one("retry-after")) == (503, "1")
    assert answer.body.startswith(b'{"error":"server_busy"')
    assert len(refused) >= 500
    for wire in wires:
        wire.socket.close()
    with Wire(server, timeout=LATE) as late:
        while late.buffer == b"" or late.answer().status == 503:
            late.socket.close()
            late.__init__(server, timeout=LATE)
            late.send(ask + b" " * 60_000)
            assert late._more()


def test_clients_that_never_read_use_bounded_memory_and_are_disconnected(hasty):
    ask = b"GET /llms.txt HTTP/1.1\r\n" + HOST + b"\r\n"
    before = resident_mib(hasty)
    wires = [Wire(hasty) for _ in range(40)]
    for wire in wires:
        wire.socket.settimeout(0.05)
        try:
            while True:
                wire.send(ask * 200)
        except (TimeoutError, BrokenPipeError, ConnectionResetError):
            pass
    assert resident_mib(hasty) - before < 40
    with Wire(hasty, timeout=2) as fast:
        fast.send(HEALTH)
        assert fast.answer().status == 200
    for wire in wires:
        wire.socket.settimeout(LATE)
        # What the kernel has buffered is still read; then the connection ends.
        while wire._more():
            wire.buffer = b""
        wire.socket.close()
