"""The documents of the accounts service, followed exactly: by requests and by curl."""

import base64
import json
import shutil
import subprocess
import uuid
from datetime import datetime

import pytest

from mailboxes import Mailboxes, failed, fresh, solve


def claims(token):
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def header(token):
    return claims("." + token.split(".")[0])


def test_challenge_create_token_info_reset_delete(boxes):
    challenge = boxes.challenge()
    assert set(challenge) == {"id", "salt", "difficulty", "expires_at"}
    bytes.fromhex(challenge["salt"])
    address = fresh()
    made = boxes.create(address, pow={"id": challenge["id"], "nonce": solve(challenge)})
    assert made.status_code == 201, made.text
    account = made.json()
    assert set(account) == {"id", "address", "token"} and account["address"] == address
    assert header(account["token"])["alg"] == "HS256"
    assert claims(account["token"])["exp"] - claims(account["token"])["iat"] == 7 * 86400

    signed_in = boxes.login(address)
    assert signed_in.status_code == 200 and set(signed_in.json()) == {"id", "address", "token"}
    token = signed_in.json()["token"]

    for name in [account["id"], address]:
        info = boxes.get(name, token)
        assert info.status_code == 200
        shown = info.json()
        assert shown == {
            "id": account["id"], "address": address, "role": "user", "quota": 41_943_040,
            "used": 0, "created_at": shown["created_at"]}
        assert shown["created_at"].endswith("Z") and datetime.fromisoformat(shown["created_at"])

    reset = boxes.reset(account["id"], token, "newpassword123")
    assert (reset.status_code, reset.json()) == (200, {"message": "password_reset"})
    for dead in [token, account["token"]]:
        failed(boxes.get(account["id"], dead), 401, "invalid_or_expired_token")
    failed(boxes.login(address), 401, "invalid_credentials")

    token = boxes.login(address, "newpassword123").json()["token"]
    deleted = boxes.delete(account["id"], token)
    assert (deleted.status_code, deleted.content) == (204, b"")
    failed(boxes.get(account["id"], token), 401, "invalid_or_expired_token")
    failed(boxes.login(address, "newpassword123"), 401, "invalid_credentials")
    failed(boxes.create(address), 409, "address_taken")


def test_user_login_and_an_api_token_for_server_to_server(boxes):
    user = boxes.user()
    login = boxes.call("POST", "/api/user/login", None, {
        "email": user.email.upper(), "password": user.password})
    assert login.status_code == 200
    known = login.json()
    assert known == {
        "user_id": user.id, "email": user.email, "plan": "pro", "status": "active",
        "downgraded": False, "token": known["token"]}
    made = boxes.call("POST", "/api/user/tokens", known["token"]).json()
    assert made["name"] == "API token" and made["token"].startswith("tm_pro_")

    account = boxes.create(fresh(), token=made["token"]).json()
    for token in [made["token"], known["token"], account["token"]]:
        assert boxes.get(account["id"], token).json()["quota"] == 52_428_800

    revoked = boxes.call("DELETE", f"/api/user/tokens/{made['id']}", known["token"])
    assert revoked.status_code == 204
    failed(boxes.get(account["id"], made["token"]), 401, "invalid_or_expired_token")
    failed(boxes.call("DELETE", f"/api/user/tokens/{made['id']}", known["token"]), 404, "not_found")


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
def test_the_documents_curl_commands_work_as_they_are_written(postern, boxes):
    def curl(*arguments):
        said = subprocess.run(
            ["curl", "-sS", "--noproxy", "*", *arguments], text=True, capture_output=True,
            timeout=60, check=True)
        return json.loads(said.stdout)

    challenge = curl(postern.url + "/api/challenge")
    address = fresh()
    body = {
        "address": address, "password": "supersecret",
        "pow": {"id": challenge["id"], "nonce": solve(challenge)},
    }
    made = curl("-X", "POST", postern.url + "/api/accounts", "-H", "Content-Type: application/json",
                "-d", json.dumps(body))
    assert made["address"] == address
    opened = curl("-X", "POST", postern.url + "/api/token", "-H", "Content-Type: application/json",
                  "-d", json.dumps({"address": address, "password": "supersecret"}))
    assert opened["id"] == made["id"]
    shown = curl(postern.url + f"/api/accounts/{made['id']}",
                 "-H", f"Authorization: Bearer {opened['token']}")
    assert shown["address"] == address

    user = boxes.user()
    login = curl("-X", "POST", postern.url + "/api/user/login",
                 "-H", "Content-Type: application/json",
                 "-d", json.dumps({"email": user.email, "password": user.password}))
    assert (login["user_id"], login["plan"], login["status"]) == (user.id, "pro", "active")


def test_a_proof_over_the_decoded_salt_is_accepted(boxes):
    challenge = boxes.challenge()
    nonce = solve(challenge, bytes.fromhex(challenge["salt"]))
    assert boxes.create(fresh(), pow={"id": challenge["id"], "nonce": nonce}).status_code == 201


def test_registration_is_closed_unless_the_operator_opens_it(start):
    closed = Mailboxes(start().url)
    body = {"email": "someone@example.com", "password": "propassword"}
    failed(closed.call("POST", "/api/user/register", None, body), 403, "registration_closed")


def test_registration_refuses_invalid_input(boxes):
    user = boxes.user()

    def register(**body):
        return boxes.call("POST", "/api/user/register", None, body)

    failed(register(email=user.email, password="propassword"), 409, "email_taken")
    failed(register(email="no email", password="propassword"), 400, "invalid_email")
    failed(register(email=fresh("example.com"), password="short"), 400, "password_too_short")
    failed(register(email=fresh("example.com"), password="7-seven"), 400, "password_too_short")
    for common in ["password", "PassWord1", "qwertyuiop", "iloveyou"]:
        failed(register(email=fresh("example.com"), password=common), 400, "password_too_common")
    email = fresh("example.com")
    failed(register(email=email, password=email.upper()), 400, "password_too_common")
    failed(register(email=fresh("example.com")), 400, "invalid_request")


def test_logout_and_a_new_password_end_pro_jwts_and_no_api_token(boxes):
    user = boxes.user()
    api = boxes.api_token(user)["token"]

    def me(token):
        return boxes.call("GET", "/api/user/me", token)

    assert boxes.call("POST", "/api/user/logout", user.token).status_code == 204
    failed(me(user.token), 401, "invalid_or_expired_token")
    assert me(api).status_code == 200

    login = {"email": user.email, "password": user.password}
    token = boxes.call("POST", "/api/user/login", None, login).json()["token"]
    change = {"current_password": "not this one", "password": "anotherpassword"}
    failed(boxes.call("PUT", "/api/user/password", token, change), 401, "invalid_credentials")
    change["current_password"] = user.password
    assert boxes.call("PUT", "/api/user/password", token, change).status_code == 200
    failed(me(token), 401, "invalid_or_expired_token")
    failed(boxes.call("POST", "/api/user/login", None, login), 401, "invalid_credentials")
    assert me(api).status_code == 200


@pytest.mark.parametrize("path", ["/api/token", "/api/user/login", "/api/user/register"])
def test_a_login_ignores_an_expired_token(boxes, path):
    box, user = boxes.mailbox(), boxes.user()
    body = {
        "/api/token": {"address": box.address, "password": box.password},
        "/api/user/login": {"email": user.email, "password": user.password},
        "/api/user/register": {"email": fresh("example.com"), "password": user.password},
    }[path]
    assert boxes.call("POST", path, "dead", body).status_code in (200, 201)


def test_answers_with_tokens_are_not_stored_and_ids_are_uuids(boxes):
    user = boxes.user()
    made = boxes.create(fresh(), token=user.token)
    token = boxes.call("POST", "/api/user/tokens", user.token)
    for answer in [made, token, boxes.login(made.json()["address"])]:
        assert answer.headers["Cache-Control"] == "no-store"
        assert str(uuid.UUID(answer.json()["id"])) == answer.json()["id"]


def test_the_log_has_no_secret_of_the_accounts_api(start):
    server = start(POSTERN_USERS_REGISTRATION="open")
    boxes = Mailboxes(server.url)
    user = boxes.user("a-pro-password")
    api = boxes.api_token(user)["token"]
    box = boxes.mailbox(api, "a-box-password")
    challenge = boxes.challenge()
    failed(boxes.login(box.address, "a-wrong-password"), 401, "invalid_credentials")
    server.stop()
    log = server.read_log()
    secrets = [user.token, api, box.token, challenge["id"], user.password, box.password,
               "a-wrong-password"]
    assert not [secret for secret in secrets if secret in log]
    assert '/api/accounts' in log
