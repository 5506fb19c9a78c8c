"""Logging in against a hash that a real HTTPS host serves."""

import concurrent.futures
import html
import itertools
import json
import re
import select
import socket
import struct
import threading
import time

import jwt
import pytest
import requests
from argon2 import PasswordHasher

from agent import Agent
from hashhost import HashHost, argon2
from hashlogin import HashLogin, refused
from program import run

WRONG = "Invalid email or password."
FLOOR = 0.5
_users = itertools.count(1)


@pytest.fixture(scope="module")
def server(serve, authority):
    return serve(
        POSTERN_HASH_LOGIN_CA_FILE=str(authority.file), JWT_ISSUER="https://login.example")


@pytest.fixture
def logins(server):
    return HashLogin(server.url)


@pytest.fixture
def email():
    return f"user-{next(_users)}@users.example"


@pytest.fixture
def user(logins, host, email):
    """An email that is registered with the password `right`."""
    path = f"/{email}"
    answer = logins.register(email, host.serve(argon2("right"), path=path), "right")
    assert answer.status_code == 201, answer.text
    return email


@pytest.mark.parametrize("form", [False, True])
def test_a_registration_is_answered_with_what_is_registered(logins, host, email, form):
    url = host.serve(argon2("right"))
    answer = logins.register(
        email, url, "right", form=form, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()) == (
        201, {"email": email, "password_hash_url": url})


def test_a_form_is_answered_with_a_page_of_the_same_status(logins, host, email):
    url = host.serve(argon2("right"))
    for answer, status in [
        (logins.register(email, url, "wrong", form=True), 422),
        (logins.register(email, url, "right", form=True), 201),
        (logins.login(email, "wrong", form=True), 422),
        (logins.login(email, "right", form=True), 200),
    ]:
        assert answer.status_code == status
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "right" not in answer.text and "wrong" not in answer.text


def test_a_form_that_was_refused_comes_back_filled_in_and_escaped(logins, host):
    answer = logins.register('"><script>@x', host.serve(b""), "right", form=True)
    assert answer.status_code == 422
    assert "<script" not in answer.text
    assert html.escape('"><script>@x', quote=True) in answer.text


def test_the_home_page_s_pem_verifies_a_login(logins, user):
    answer = logins.login(user, "right")
    assert answer.headers["cache-control"] == "no-store"
    body = answer.json()
    assert set(body) == {"token", "token_type", "email"}
    assert (body["token_type"], body["email"]) == ("Bearer", user)
    page = requests.get(logins.url + "/", headers={"Accept": "text/html"}, timeout=10).text
    pem = re.search("-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", page, re.S)[0]
    claims = jwt.decode(body["token"], pem, algorithms=["RS256"], issuer="https://login.example")
    assert set(claims) == {"sub", "email", "email_verified", "iss", "iat", "exp", "ver"}
    assert claims["email_verified"] is False
    assert (claims["sub"], claims["email"]) == (user, user)
    assert claims["exp"] - claims["iat"] == 3600


def test_the_published_set_verifies_a_login_and_is_no_other_set(logins, user):
    token = logins.token(user, "right")
    keys = jwt.PyJWKClient(logins.url + "/.well-known/login-jwks.json")
    key = keys.get_signing_key_from_jwt(token).key
    assert jwt.decode(token, key, algorithms=["RS256"])["email"] == user
    others = requests.get(logins.url + "/.well-known/jwks.json", timeout=10).json()["keys"]
    assert jwt.get_unverified_header(token)["kid"] not in {key["kid"] for key in others}


def test_validate_takes_the_field_before_the_bearer(logins, user):
    token = logins.token(user, "right")
    bearer = {"Authorization": f"Bearer {token}"}
    for answer in [logins.validate(token), logins.post("/validate", headers=bearer)]:
        body = answer.json()
        assert (answer.status_code, body["valid"], body["payload"]["email"]) == (200, True, user)
    for answer in [
        logins.post("/validate", headers=bearer, token="no token"), logins.validate(token + "x"),
        logins.post("/validate"),
    ]:
        assert answer.status_code == 401
        assert answer.json() == {"valid": False, "error": "Invalid token."}
        assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_logout_ends_every_earlier_token(logins, user, method):
    tokens = [logins.token(user, "right"), logins.token(user, "right")]
    answer = logins.post(
        "/logout", method=method, headers={"Authorization": f"Bearer {tokens[0]}"})
    assert (answer.status_code, answer.json()) == (200, {"success": True, "email": user})
    assert [logins.validate(token).status_code for token in tokens] == [401, 401]
    again = logins.post(
        "/logout", method=method, headers={"Authorization": f"Bearer {tokens[1]}"})
    refused(again, "Invalid token or credentials.", 401)
    later = logins.token(user, "right")
    assert logins.validate(later).status_code == 200
    answer = logins.post("/logout", method=method, email=user, password="right")
    assert answer.json() == {"success": True, "email": user}
    assert logins.validate(later).status_code == 401


def test_a_login_uses_the_hash_that_is_served_now(logins, host, user):
    token = logins.token(user, "right")
    host.serve(argon2("changed"), path=f"/{user}")
    refused(logins.login(user, "right"), WRONG)
    assert logins.login(user, "changed").status_code == 200
    assert logins.validate(token).status_code == 200, "a changed hash ends no token"


def test_no_login_when_the_host_is_gone(logins, authority, email):
    host = HashHost(authority.context("localhost"))
    url = host.serve(argon2("right"))
    assert logins.register(email, url, "right").status_code == 201
    host.close()
    refused(logins.login(email, "right"), WRONG)


def test_a_failed_login_is_never_answered_before_the_floor(logins, user):
    for email, password in [
        (user, "wrong"), ("nobody@users.example", "right"), ("no email", "right"), (user, ""),
    ]:
        started = time.monotonic()
        refused(logins.login(email, password), WRONG)
        assert time.monotonic() - started >= FLOOR
    started = time.monotonic()
    refused(
        logins.post("/logout", email=user, password="wrong"), "Invalid token or credentials.", 401)
    assert time.monotonic() - started >= FLOOR


def test_a_user_can_log_in_from_a_few_devices_at_once(serve, authority, host):
    logins = HashLogin(serve(
        POSTERN_HASH_LOGIN_CA_FILE=str(authority.file), POSTERN_HASH_LOGIN_FAILURE_FLOOR="30s",
        POSTERN_HASH_LOGIN_LOGIN_TIMEOUT="20s").url)
    body, together = argon2("right"), threading.Barrier(2)

    def answer(handler):
        # At most two fetches are under way at a time.
        together.wait(20)
        handler.send_response(200)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    url = host.serve(body)
    assert logins.register("devices@users.example", url, "right").status_code == 201
    host.answer(answer, path=url.removeprefix(host.url("")))
    with concurrent.futures.ThreadPoolExecutor(6) as devices:
        answers = list(devices.map(
            lambda _: HashLogin(logins.url).login("devices@users.example", "right"), range(6)))
    assert [answer.status_code for answer in answers] == [200] * 6


def test_a_hundred_waiting_logins_delay_no_other_request(serve, authority):
    """Half of them wait for a host that never answers, half for the floor alone."""
    server = serve(
        POSTERN_HASH_LOGIN_CA_FILE=str(authority.file), POSTERN_HASH_LOGIN_FAILURE_FLOOR="50s",
        POSTERN_HASH_LOGIN_LOGIN_TIMEOUT="40s", POSTERN_HASH_LOGIN_REGISTER_TIMEOUT="40s")

    def send(path, fields):
        body = json.dumps(fields)
        client = socket.create_connection((server.host, server.port))
        # A reset tells the server that the client is gone; a half-close would not.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sendall(
            f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        return client

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://localhost:{silent.getsockname()[1]}/"
        waiting = [
            send("/login", {"email": f"w{number}@users.example", "password": "x"})
            for number in range(50)
        ] + [
            send("/register", {
                "email": f"w{number}@users.example", "password": "x", "password_hash_url": url})
            for number in range(50)
        ]
        # Two fetches are under way and 16 wait; the others find no place.
        turned_away = set()
        while len(turned_away) < 50 - 2 - 16:
            answered, _, _ = select.select(set(waiting) - turned_away, [], [], 30)
            assert answered
            turned_away.update(answered)
        for client in turned_away:
            answer = client.recv(65536)
            assert answer.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: " in answer
        assert requests.get(server.url + "/readyz", timeout=30).ok
        assert Agent(server.url).session(username="unhindered").status_code == 201
        assert select.select(set(waiting) - turned_away, [], [], 0)[0] == []
        for client in waiting:
            client.close()


def test_an_invalid_registration_is_answered_with_one_sentence(logins, host, user):
    url = host.serve(argon2("right"))
    for fields, sentence in [
        (("", url, "right"), "Email can't be blank."),
        (("no email", url, "right"), "Email is invalid."),
        (("ü@users.example", url, "right"), "Email is invalid."),
        (("new@users.example", url, ""), "Password can't be blank."),
        (("new@users.example", "", "right"), "Password hash URL is invalid."),
        (("new@users.example", url, "wrong"), "Password does not match the remote Argon2 hash."),
        ((user, url, "wrong"), "Password does not match the remote Argon2 hash."),
        ((user, url, "right"), "Email has already been taken."),
    ]:
        refused(logins.register(*fields), sentence)


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"email":1}', b'{"email":"a","email":"b"}'])
def test_an_unreadable_body_is_400(logins, body):
    for path in ["/register", "/login"]:
        answer = requests.post(
            logins.url + path, body, headers={"Content-Type": "application/json"}, timeout=10)
        refused(answer, "The request body could not be read.", 400)


@pytest.mark.parametrize("headers", [
    {"Origin": "https://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"}, {"Origin": "null"},
])
def test_a_form_of_another_site_is_refused(logins, user, headers):
    answer = logins.login(user, "right", form=True, headers=headers)
    assert answer.status_code == 403
    assert "right" not in answer.text


def test_a_form_of_the_servers_own_page_is_accepted(logins, user):
    headers = {"Origin": logins.url, "Sec-Fetch-Site": "same-origin"}
    assert logins.login(user, "right", form=True, headers=headers).status_code == 200


def test_the_example_serves_a_hash_of_its_password(logins):
    answer = requests.get(logins.url + "/example.txt", timeout=10)
    assert answer.headers["content-type"].startswith("text/plain")
    assert PasswordHasher().verify(answer.text.strip(), "test123")


def test_tokens_of_a_rotated_key_stay_valid(tmp_path, start, authority, host):
    settings = {"POSTERN_HASH_LOGIN_CA_FILE": str(authority.file)}
    data = ["--data", str(tmp_path / "data")]
    server = start(*data, **settings)
    logins = HashLogin(server.url)
    logins.register("keys@users.example", host.serve(argon2("right")), "right")
    old = logins.token("keys@users.example", "right")
    server.stop()
    rotated = run(
        "key", "rotate", "--use", "login", "--profile", "test", *data, directory=tmp_path)
    assert rotated.returncode == 0, rotated.stderr
    logins = HashLogin(start(*data, port=server.port, **settings).url)
    assert logins.validate(old).status_code == 200
    # The new key is in the set before it signs; the page shows the one that signs.
    kid = jwt.get_unverified_header(old)["kid"]
    keys = requests.get(logins.url + "/.well-known/login-jwks.json", timeout=10).json()["keys"]
    assert {kid} < {key["kid"] for key in keys}
    page = requests.get(logins.url + "/", timeout=10).text
    pem = re.search("-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", page, re.S)[0]
    new = logins.token("keys@users.example", "right")
    assert jwt.decode(new, pem, algorithms=["RS256"])["sub"] == "keys@users.example"


def test_addresses_of_this_server_s_own_domains_cannot_be_registered(logins, host):
    (domain, *_) = requests.get(logins.url + "/api/domains", timeout=10).json()["domains"]
    name = domain if isinstance(domain, str) else domain["domain"]
    refused(
        logins.register(f"somebody@{name}", host.serve(argon2("right")), "right"),
        "Email is invalid.")
