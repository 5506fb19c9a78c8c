"""The fields that make browsers strict, on every answer; pages and cookies under one host only."""

import pytest
import requests

from mailboxes import Mailboxes
from wire import Wire

CLOSED = "default-src 'none'; frame-ancestors 'none'"
REQUESTS = {
    "health": ("GET", "/healthz", {}, 200), "readiness": ("GET", "/readyz", {}, 200),
    "document": ("GET", "/llms.txt", {}, 200), "keys": ("GET", "/.well-known/jwks.json", {}, 200),
    "JSON": ("GET", "/api/challenge", {}, 200), "options": ("OPTIONS", "/api/token", {}, 204),
    "style": ("GET", "/style.css", {}, 200), "text": ("GET", "/example.txt", {}, 200),
    "unauthorized": ("GET", "/api/user/me", {}, 401), "unknown": ("GET", "/nothing", {}, 404),
    "method": ("GET", "/api/token", {}, 405), "malformed": ("POST", "/api/token", {}, 400),
    "type": ("POST", "/api/token", {"Content-Type": "text/plain"}, 415),
}


@pytest.fixture(scope="module")
def plain(serve):
    return serve()


@pytest.fixture(scope="module")
def https(serve):
    return serve(POSTERN_SERVER_PUBLIC_URL="https://auth.example")


def fields(answer):
    return {name.lower(): value for name, value in answer.headers.items()}


@pytest.mark.parametrize("name", REQUESTS)
def test_every_answer_is_closed_to_browsers(plain, https, name):
    method, path, headers, status = REQUESTS[name]
    for server in [plain, https]:
        answer = requests.request(method, server.url + path, headers=headers, timeout=30)
        assert answer.status_code == status
        found = fields(answer)
        assert found["x-content-type-options"] == "nosniff"
        assert found["content-security-policy"] == CLOSED
        assert found["cross-origin-resource-policy"] == "same-origin"
        assert found.get("strict-transport-security") == (
            "max-age=31536000" if server is https else None)
        assert found.get("cross-origin-opener-policy") == (
            "same-origin" if server is https else None)


def test_answers_of_the_engine_have_the_fields_too(https):
    for request in [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"]:
        with Wire(https) as wire:
            wire.send(request)
            answer = wire.answer()
            assert answer.status == 400
            assert answer.one("content-security-policy") == CLOSED
            assert answer.one("strict-transport-security") == "max-age=31536000"


def test_a_page_has_its_own_policy_once(plain):
    with Wire(plain) as wire:
        wire.send(f"GET / HTTP/1.1\r\nHost: {plain.host}:{plain.port}\r\n\r\n".encode())
        answer = wire.answer()
        assert answer.status == 200
        policy = answer.one("content-security-policy")
        assert "style-src 'self'" in policy and "default-src 'none'" in policy
        assert answer.one("x-content-type-options") == "nosniff"
        assert answer.one("cross-origin-resource-policy") == "same-origin"


@pytest.mark.parametrize("host, shown", [
    ("auth.example", True), ("AUTH.example:443", True), ("evil.example", False),
    ("127.0.0.1", False), ("auth.example.evil.example", False)])
def test_pages_and_cookies_are_for_the_public_host(https, host, shown):
    named = {"Host": host}
    home = requests.get(https.url + "/", headers=named, timeout=30)
    assert home.status_code == (200 if shown else 421)
    # Programs are not browsers: JSON and tokens work under any name.
    assert requests.get(https.url + "/api/domains", headers=named, timeout=30).ok
    boxes = Mailboxes(https.url)
    challenge = boxes.http.get(https.url + "/api/user/me", headers={
        **named, "Cookie": "__Secure-postern_session=forged"}, timeout=30)
    error = challenge.json()["error"]
    assert error == ("invalid_or_expired_token" if shown else "unauthorized")


def test_a_server_on_this_machine_has_its_usual_names(plain):
    for host, shown in [
            ("localhost", True), (f"127.0.0.1:{plain.port}", True), ("[::1]", True),
            ("rebound.example", False)]:
        home = requests.get(plain.url + "/", headers={"Host": host}, timeout=30)
        assert home.status_code == (200 if shown else 421), host
