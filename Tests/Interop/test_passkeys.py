"""Passkeys, checked also by the library of a vendor of authenticators; races of factors."""

import concurrent.futures
import random
from datetime import datetime

import pytest
import requests
from fido2.server import Fido2Server
from fido2.webauthn import PublicKeyCredentialRpEntity

import totp
from mailboxes import Mailboxes
from passkeys import Key, data, text
from postgres import TestDatabase
from program import run


@pytest.fixture(scope="module", params=["SQLite", "PostgreSQL"])
def server(serve, request):
    database = {"POSTERN_STORAGE_URL": TestDatabase().url} if request.param == "PostgreSQL" else {}
    return serve(POSTERN_USERS_REGISTRATION="open", **database)


@pytest.fixture
def key(server):
    boxes = Mailboxes(server.url)
    key = Key(boxes, boxes.user())
    assert key.register().status_code == 201
    return key


@pytest.fixture
def fido2(key):
    """The same relying party by the other library."""
    return Fido2Server(PublicKeyCredentialRpEntity(id="localhost", name="localhost"),
                       verify_origin=lambda origin: origin == key.origin)


def state(challenge):
    return {"challenge": text(challenge), "user_verification": None}


def test_both_accept_what_the_device_makes(key, fido2):
    stored = fido2.register_complete(state(key.signed), key.credential).credential_data
    assert stored.credential_id == key.device.credential_id
    for _ in range(3):
        body, challenge = key.use()
        fido2.authenticate_complete(state(challenge), [stored], body["credential"])
        answer = key.log_in(body)
        assert answer.status_code == 200
        assert answer.json()["email"] == key.user.email


def test_both_refuse_what_was_changed(key, fido2):
    stored = fido2.register_complete(state(key.signed), key.credential).credential_data
    chance = random.Random(7)
    for number in range(60):
        body, challenge = key.use()
        response = body["credential"]["response"]
        part = ["clientDataJSON", "authenticatorData", "signature"][number % 3]
        changed = bytearray(data(response[part]))
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        response[part] = text(bytes(changed))
        with pytest.raises(Exception):
            fido2.authenticate_complete(state(challenge), [stored], body["credential"])
        answer = key.log_in(body)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_credentials"), response
    assert key.log_in(key.use()[0]).status_code == 200


def together(call, bodies):
    with concurrent.futures.ThreadPoolExecutor(len(bodies)) as pool:
        return sorted(pool.map(lambda body: call(body).status_code, bodies))


def test_of_many_logins_with_one_assertion_one_succeeds(key):
    for _ in range(3):
        body, _ = key.use()
        assert together(key.log_in, [body] * 8) == [200] + [401] * 7


def time_after(server, seconds):
    answer = requests.post(server.url + "/test/clock", json={"advance": seconds}, timeout=20)
    return datetime.fromisoformat(answer.json()["now"]).timestamp()


def test_a_passkey_without_verification_is_one_factor(server, key):
    """The device shows only that somebody has touched it."""
    uri, _ = totp.enable(key.boxes, key.user.token, time_after(server, 0))
    asked = key.log_in(key.use()[0])
    assert (asked.status_code, asked.json()["error"]) == (401, "second_factor_required")
    assert "Set-Cookie" not in asked.headers
    body = {"challenge": asked.json()["challenge"], "code": totp.code(uri, time_after(server, 60))}
    assert key.boxes.call("POST", "/api/user/login/second", None, body).status_code == 200


def test_of_many_logins_with_one_code_one_succeeds(server):
    boxes = Mailboxes(server.url)
    user = boxes.user()
    uri, recovery = totp.enable(boxes, user.token, time_after(server, 0))
    code = totp.code(uri, time_after(server, 60))
    password = {"email": user.email, "password": user.password}
    for proof in [{"code": code}, {"recovery_code": recovery[0]}]:
        bodies = []
        for _ in range(8):
            asked = boxes.call("POST", "/api/user/login", None, password)
            assert asked.json()["error"] == "second_factor_required"
            bodies.append({"challenge": asked.json()["challenge"], **proof})

        def second(body):
            return boxes.call("POST", "/api/user/login/second", None, body)
        assert together(second, bodies) == [200] + [401] * 7, proof


def test_the_operator_lists_and_removes_factors(start, tmp_path):
    data = str(tmp_path / "data")
    server = start("--data", data, POSTERN_USERS_REGISTRATION="open", POSTERN_MAIL_STORE="none")
    boxes = Mailboxes(server.url)
    user = boxes.user()
    key = Key(boxes, user)
    identifier = key.register().json()["id"]
    totp.enable(boxes, user.token, time_after(server, 0))

    def operate(*words, code=0):
        result = run("user", "factors", user.email, *words, "--profile", "test", "--data", data,
                     directory=tmp_path)
        assert result.returncode == code, result.stderr
        return result.stdout + result.stderr

    listed = operate()
    assert "recovery codes left: 10" in listed
    assert identifier in listed and "soft" in listed
    assert boxes.call("GET", "/api/user/me", user.token).status_code == 200
    assert operate("--remove-totp") == f"removed the one-time codes of {user.email}\n"
    # Its sessions have ended, and the password alone is enough.
    assert boxes.call("GET", "/api/user/me", user.token).status_code == 401
    login = {"email": user.email, "password": user.password}
    assert boxes.call("POST", "/api/user/login", None, login).status_code == 200
    assert "does not have" in operate("--remove-totp", code=1)
    operate("--remove-passkey", identifier)
    assert key.log_in(key.use()[0]).status_code == 401
    assert "has no passkey and no one-time codes" in operate()
