"""The HTTP engine through a socket: what is accepted, and what is refused as ambiguous."""

import http.client
import json
import subprocess

import h11
import pytest

from wire import Wire, exchange

HOST = b"Host: postern.test\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
CHALLENGE = b"POST /api/v1/challenge HTTP/1.1\r\n" + HOST


def test_a_connection_is_kept_and_its_requests_answered_in_turn(postern):
    with Wire(postern) as wire:
        for _ in range(3):
            wire.send(HEALTH)
            answer = wire.answer()
            assert answer.status == 200 and json.loads(answer.body) == {"status": "ok"}
            assert answer.one("date").endswith(" GMT") and answer.one("x-request-id")


def test_pipelined_requests_are_answered_in_order(postern):
    paths = [b"/healthz", b"/nowhere", b"/.well-known/jwks.json", b"/api/v1/session", b"/healthz"]
    with Wire(postern) as wire:
        wire.send(b"".join(b"GET %s HTTP/1.1\r\n%s\r\n" % (path, HOST) for path in paths))
        assert [wire.answer().status for _ in paths] == [200, 404, 200, 405, 200]


def test_a_request_may_arrive_byte_by_byte(postern):
    with Wire(postern) as wire:
        for byte in HEALTH:
            wire.send(bytes([byte]))
        assert wire.answer().status == 200


def test_head_has_the_head_of_get_and_no_body(postern):
    with Wire(postern) as wire:
        wire.send(HEALTH + HEALTH.replace(b"GET", b"HEAD") + HEALTH)
        first, head, last = wire.answer(), wire.answer(to="HEAD"), wire.answer()
        assert first.status == head.status == last.status == 200
        assert head.one("content-length") == first.one("content-length")
        assert head.one("content-type") == first.one("content-type")


def test_options_and_405_name_the_methods(postern):
    options, wrong = exchange(
        postern, b"OPTIONS /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
        + b"DELETE /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
    assert options.status in (200, 204) and wrong.status == 405
    for answer in (options, wrong):
        assert {"GET", "HEAD"} <= set(answer.one("allow").replace(",", " ").split())


@pytest.mark.parametrize("request_head, closes", [
    (b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", True),
    (b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: x, ClOsE\r\n\r\n", True),
    (b"GET /healthz HTTP/1.0\r\n\r\n", True),
    (b"GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", False),
])
def test_the_connection_ends_when_the_client_says_so(postern, request_head, closes):
    with Wire(postern) as wire:
        wire.send(request_head)
        answer = wire.answer()
        assert answer.status == 200
        if closes:
            assert "close" in answer.one("connection") and wire.ended()
        else:
            wire.send(HEALTH)
            assert wire.answer().status == 200


def test_the_body_is_asked_for_when_the_client_waits(postern):
    with Wire(postern) as wire:
        wire.send(b"POST /api/v1/session HTTP/1.1\r\n" + HOST
                  + b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        assert wire.answer().status == 100
        wire.send(b"{}" + HEALTH)
        assert wire.answer().status == 401
        assert wire.answer().status == 200


def test_a_body_over_the_limit_is_refused_before_it_is_sent(postern):
    with Wire(postern) as wire:
        wire.send(CHALLENGE + b"Content-Length: 65537\r\nExpect: 100-continue\r\n\r\n")
        assert wire.answer().status == 413
        assert wire.ended()


@pytest.mark.parametrize("framing", [
    b"Content-Length: 65537\r\n\r\n" + b"x" * 65537,
    b"Transfer-Encoding: chunked\r\n\r\n" + b"8000\r\n" + b"x" * 32768 + b"\r\n"
    + b"8001\r\n" + b"x" * 32769 + b"\r\n0\r\n\r\n",
])
def test_one_byte_over_the_body_limit_is_413(postern, framing):
    assert [answer.status for answer in exchange(postern, CHALLENGE + framing)] == [413]


def test_chunks_are_joined_and_trailers_dropped(postern):
    with Wire(postern) as wire:
        wire.send(CHALLENGE + b"Transfer-Encoding: chunked\r\n\r\n"
                  b"1\r\n{\r\n1;name=value\r\n}\r\n0\r\nHost: elsewhere\r\n\r\n" + HEALTH)
        assert wire.answer().status == 200
        assert wire.answer().status == 200


def test_absolute_form_is_taken_and_one_empty_line_skipped(postern):
    absolute = b"\r\nGET http://postern.test/healthz HTTP/1.1\r\n" + HOST + b"\r\n"
    assert [answer.status for answer in exchange(postern, absolute)] == [200]


def test_escapes_in_the_path_are_decoded_once(postern):
    with Wire(postern) as wire:
        targets = {b"/%68ealthz": 200, b"/%2568ealthz": 404, b"/healthz?a=b&c": 200}
        for path, status in targets.items():
            wire.send(b"GET " + path + b" HTTP/1.1\r\n" + HOST + b"\r\n")
            assert wire.answer().status == status


def post(*lines):
    return b"\r\n".join([b"POST /api/v1/challenge HTTP/1.1", b"Host: a", *lines, b"", b""])


def chunked(body):
    return post(b"Transfer-Encoding: chunked") + body


REFUSED = {
    "two lengths": (400, post(b"Content-Length: 5", b"Content-Length: 5") + b"hello"),
    "conflicting lengths": (400, post(b"Content-Length: 5", b"Content-Length: 6") + b"hello"),
    "a list of lengths": (400, post(b"Content-Length: 5, 5") + b"hello"),
    "length with a sign": (400, post(b"Content-Length: +5") + b"hello"),
    "hexadecimal length": (400, post(b"Content-Length: 0x5") + b"hello"),
    "negative length": (400, post(b"Content-Length: -1")),
    "empty length": (400, post(b"Content-Length:")),
    "length that overflows": (400, post(b"Content-Length: 18446744073709551621") + b"hello"),
    "length and chunks": (
        400, post(b"Content-Length: 5", b"Transfer-Encoding: chunked") + b"0\r\n\r\n"),
    "chunked twice": (400, post(b"Transfer-Encoding: chunked, chunked") + b"0\r\n\r\n"),
    "two transfer encodings": (
        400, post(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked") + b"0\r\n\r\n"),
    "unknown coding": (501, post(b"Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n"),
    "bare LF": (400, b"GET /healthz HTTP/1.1\nHost: a\n\n"),
    "bare LF after a header": (400, b"GET /healthz HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"),
    "bare CR in a value": (400, b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n"),
    "NUL in a value": (400, b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n"),
    "folded header": (400, b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n"),
    "folded first header": (400, b"GET /healthz HTTP/1.1\r\n Host: a\r\n\r\n"),
    "space before the colon": (400, b"GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n"),
    "header without a name": (400, b"GET /healthz HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n"),
    "header without a colon": (400, b"GET /healthz HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n"),
    "no host": (400, b"GET /healthz HTTP/1.1\r\n\r\n"),
    "two hosts": (400, b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
    "bad host": (400, b"GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n"),
    "two empty lines first": (400, b"\r\n\r\n" + HEALTH),
    "space first": (400, b" " + HEALTH),
    "two spaces": (400, b"GET  /healthz HTTP/1.1\r\nHost: a\r\n\r\n"),
    "tab for a space": (400, b"GET\t/healthz HTTP/1.1\r\nHost: a\r\n\r\n"),
    "no version": (400, b"GET /healthz\r\nHost: a\r\n\r\n"),
    "lower-case version": (400, b"GET /healthz http/1.1\r\nHost: a\r\n\r\n"),
    "HTTP/2.0": (505, b"GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n"),
    "HTTP/2 preface": (505, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "bad escape": (400, b"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n"),
    "TLS hello": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40) + b"\r\n\r\n"),
    "chunk size with a prefix": (400, chunked(b"0x1\r\nx\r\n0\r\n\r\n")),
    "chunk size with a sign": (400, chunked(b"+1\r\nx\r\n0\r\n\r\n")),
    "chunk size with a space": (400, chunked(b"1 \r\nx\r\n0\r\n\r\n")),
    "empty chunk size": (400, chunked(b"\r\nx\r\n0\r\n\r\n")),
    "chunk size that overflows": (400, chunked(b"10000000000000001\r\nx\r\n0\r\n\r\n")),
    "chunk longer than said": (400, chunked(b"1\r\nxx\r\n0\r\n\r\n")),
    "chunk with a bare LF": (400, chunked(b"1\nx\n0\n\n")),
    "chunk extension without end": (400, chunked(b"1;" + b"e" * 8192 + b"\r\nx\r\n0\r\n\r\n")),
    "long request line": (414, b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"),
    "big head": (431, b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 140000 + b"\r\n\r\n"),
    "many headers": (
        431, b"GET /healthz HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 2000 + b"\r\n"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_ambiguous_is_refused_and_nothing_after_it_is_read(postern, kind):
    status, request = REFUSED[kind]
    with Wire(postern) as wire:
        wire.send(request + HEALTH)
        answer = wire.answer()
        assert answer.status == status
        assert "close" in answer.one("connection")
        assert wire.ended()


def test_a_response_cannot_be_split_by_what_was_asked(postern):
    with Wire(postern) as wire:
        wire.send(b"GET /nowhere%0d%0aSet-Cookie:%20a=b HTTP/1.1\r\n" + HOST + b"\r\n" + HEALTH)
        assert wire.answer().status in (400, 404)
        assert b"Set-Cookie" not in wire.buffer


def test_a_strict_client_library_agrees_with_every_byte(postern):
    client = h11.Connection(our_role=h11.CLIENT)
    with Wire(postern) as wire:
        calls = [("POST", "/api/v1/challenge"), ("HEAD", "/healthz"), ("GET", "/llms.txt")]
        for method, target in calls:
            wire.send(client.send(h11.Request(
                method=method, target=target, headers=[("Host", "a"), ("Content-Length", "0")])))
            wire.send(client.send(h11.EndOfMessage()))
            events = []
            while not events or type(events[-1]) is not h11.EndOfMessage:
                event = client.next_event()
                if event is h11.NEED_DATA:
                    client.receive_data(wire.socket.recv(65536))
                else:
                    events.append(event)
            assert events[0].status_code == 200
            client.start_next_cycle()


def test_requests_uploads_a_generator_in_chunks(agent):
    def pieces():
        yield b'{"reason": '
        yield b'"none"}'
    assert agent.http.post(agent.url + "/api/v1/challenge", data=pieces()).status_code == 200


def test_http_client_follows_the_whole_connection(postern):
    connection = http.client.HTTPConnection(postern.host, postern.port, timeout=10)
    for method, path in [("GET", "/healthz"), ("POST", "/api/v1/challenge"), ("GET", "/readyz")]:
        connection.request(method, path)
        answer = connection.getresponse()
        assert answer.status == 200 and answer.read()
    connection.close()


def test_curl_waits_for_the_continue_and_uploads(postern, tmp_path):
    body = tmp_path / "body"
    body.write_bytes(b" " * 60000)
    result = subprocess.run(
        ["curl", "--silent", "--show-error", "--max-time", "10", "--output", "/dev/null",
         "--noproxy", "*", "--expect100-timeout", "9", "--header", "Expect: 100-continue",
         "--write-out", "%{http_code} %{time_total}", "--data-binary", f"@{body}",
         postern.url + "/api/v1/challenge"],
        text=True, capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
    status, seconds = result.stdout.split()
    assert status == "200" and float(seconds) < 5


def test_slow_clients_do_not_delay_a_fast_one(postern):
    idle = [Wire(postern) for _ in range(200)]
    for wire in idle:
        wire.send(b"GET /healthz HTTP/1.1\r\nHos")
    with Wire(postern, timeout=2) as wire:
        for _ in range(20):
            wire.send(HEALTH)
            assert wire.answer().status == 200
    for wire in idle:
        wire.socket.close()
