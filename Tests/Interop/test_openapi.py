"""The OpenAPI document is valid, describes every response, and accepts what the server accepts."""

import json
import re
import time
import uuid
from urllib.parse import urlsplit

import openapi_spec_validator
import pytest
import requests
from openapi_schema_validator import OAS31Validator, oas31_format_checker

import totp
from agent import Agent, bearer
from hashhost import argon2
from hashlogin import HashLogin
from mailboxes import Mailboxes, fresh
from passkeys import Key
from program import await_true
from test_agent_flow import REJECTED, refuse


@pytest.fixture(scope="module")
def document(postern):
    return requests.get(postern.url + "/openapi.json", timeout=5).json()


def resolve(document, part):
    while "$ref" in part:
        found = document
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        part = found
    return part


def template(document, method, path):
    """The documented path that a path is an instance of: the one with the fewest parameters."""
    def fits(known):
        parts, wanted = path.split("/"), known.split("/")
        return len(parts) == len(wanted) and all(
            part == name or name.startswith("{") for part, name in zip(parts, wanted))

    found = [known for known in document["paths"]
             if fits(known) and method.lower() in document["paths"][known]]
    assert found, f"{method} {path} is not documented"
    return min(found, key=lambda known: known.count("{"))


# What the engine answers to a request that is not valid HTTP, on whichever path.
NOT_HTTP = {400, 408, 414, 417, 431, 501, 505}


def named_response(operation, status):
    """What the operation documents for a status: its own entry, or `default` for broken HTTP."""
    named = operation["responses"].get(str(status))
    return named or (operation["responses"]["default"] if status in NOT_HTTP - {400} else None)


def hold(document, answer):
    """Fails unless the document names this answer: status, headers, and the shape of the body."""
    path = template(document, answer.request.method, urlsplit(answer.url).path)
    operation = document["paths"][path][answer.request.method.lower()]
    named = named_response(operation, answer.status_code)
    assert named, f"{answer.request.method} {path}: {answer.status_code} is not documented"
    named = resolve(document, named)
    for header, description in named.get("headers", {}).items():
        required = resolve(document, description).get("required", False)
        assert header in answer.headers or not required
    content = named.get("content")
    if not content:
        assert answer.content == b""
        return
    media = answer.headers["Content-Type"].partition(";")[0]
    body = answer.json() if media.endswith("json") else answer.text
    described = content[media] if media in content else content["*/*"]
    validator(document, described.get("schema", {})).validate(body)


def validator(document, schema):
    return OAS31Validator(
        {**schema, "components": document["components"]}, format_checker=oas31_format_checker)


def watch(client, document):
    """Holds every answer that the client gets against the document; `met` is which they were."""
    client.met = set()

    def look(answer, **_):
        hold(document, answer)
        method = answer.request.method
        client.met.add(f"{method} {template(document, method, urlsplit(answer.url).path)}")

    client.http.hooks["response"].append(look)
    return client


@pytest.fixture
def watched(postern, document):
    return watch(Agent(postern.url), document)


@pytest.fixture
def watched_boxes(postern, document):
    return watch(Mailboxes(postern.url), document)


@pytest.fixture(scope="module")
def hash_server(serve, authority):
    return serve(POSTERN_HASH_LOGIN_CA_FILE=str(authority.file))


@pytest.fixture
def watched_logins(hash_server, document):
    return watch(HashLogin(hash_server.url), document)


def operations(document):
    """Every operation of the public listener: method, path, what the document says of it."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if "services" not in operation["tags"]:
                yield method.upper(), path, operation


def documented(document, *tags):
    """Every operation with one of the tags."""
    return {f"{method} {path}" for method, path, operation in operations(document)
            if set(operation["tags"]) & set(tags)}


def instance(path):
    """The path with something in the place of each parameter that names nothing here."""
    return re.sub(r"{\w+}", str(uuid.uuid4()), path)


def test_the_document_is_valid_and_speaks_of_this_server(document, postern):
    openapi_spec_validator.validate(document)
    assert [server["url"] for server in document["servers"]] == [postern.url]
    assert "{{" not in json.dumps(document)


def test_each_operation_of_the_agent_api_is_documented(watched, document, name):
    signup = watched.session(username=name())
    login = watched.session(apiKey=signup.json()["apiKey"])
    ended = watched.http.delete(
        watched.url + "/api/v1/session", headers={"Authorization": f"Bearer {bearer(login)}"})
    assert ended.status_code == 204
    session = bearer(signup)
    watched.mailbox(bearer(watched.capability(session)))
    watched.post("/api/v1/api-key", session)
    session = bearer(watched.session(username=name()))
    watched.http.delete(
        watched.url + "/api/v1/account", headers={"Authorization": f"Bearer {session}"})
    for path in ["/healthz", "/readyz", "/llms.txt", "/openapi.json", "/.well-known/jwks.json",
                 "/.well-known/login-jwks.json"]:
        watched.http.get(watched.url + path)
    assert watched.met == documented(document, "agents", "discovery", "operations")


def test_each_operation_of_the_accounts_api_is_documented(watched_boxes, document):
    boxes = watched_boxes
    boxes.call("GET", "/api/domains")
    user = boxes.user()
    boxes.call("POST", "/api/user/login", None, {"email": user.email, "password": user.password})
    boxes.call("GET", "/api/user/me", user.token)
    boxes.call("POST", "/api/user/login", None, {"email": user.email, "password": user.password})
    other = boxes.call("GET", "/api/user/sessions", user.token).json()["sessions"][0]
    assert not other["current"]
    boxes.call("DELETE", f"/api/user/sessions/{other['id']}", user.token)
    boxes.call("DELETE", "/api/user/sessions", user.token)

    call_factors(boxes, user)
    call_links(boxes, user)
    free = boxes.mailbox()
    ended = boxes.call("DELETE", "/api/token", boxes.login(free.address).json()["token"])
    assert ended.status_code == 204
    boxes.get(free.id, free.token)
    boxes.reset(free.id, free.token, "another one")
    boxes.delete(free.id, boxes.login(free.address, "another one").json()["token"])

    owned = boxes.mailbox(user.token)
    boxes.call("GET", "/api/user/accounts", user.token)
    path = f"/api/user/accounts/{owned.id}"
    boxes.call("PUT", path + "/reset-password", user.token, {"password": "another one"})
    boxes.call("DELETE", path, user.token)

    token = boxes.api_token(user, name="laptop", expires_in=3600)
    boxes.call("GET", "/api/user/tokens", token["token"])
    boxes.call("DELETE", f"/api/user/tokens/{token['id']}", user.token)
    boxes.call("GET", "/api/user/tokens", user.token)

    body = {"domain": fresh("").replace("@", ".example")}
    made = boxes.call("POST", "/api/user/domains", user.token, body).json()
    path = f"/api/user/domains/{made['id']}"
    boxes.call("GET", "/api/user/domains", user.token)
    boxes.call("POST", path + "/verify", user.token)
    boxes.call("DELETE", path, user.token)

    hook = {"url": "https://localhost:1/"}
    made = boxes.call("POST", "/api/user/webhooks", user.token, hook).json()
    boxes.call("POST", "/api/user/webhooks", user.token, hook)
    boxes.call("GET", "/api/user/webhooks", user.token)
    path = f"/api/user/webhooks/{made['id']}"
    assert boxes.call("POST", path + "/test", user.token).status_code == 202
    deliveries = path + "/deliveries"
    await_true(lambda: boxes.call("GET", deliveries, user.token).json()["deliveries"], "no attempt")
    boxes.call("POST", path + "/rotate", user.token)
    boxes.call("DELETE", path, user.token)

    change = {"current_password": user.password, "password": "anotherpassword"}
    boxes.call("PUT", "/api/user/password", user.token, change)
    again = {"email": user.email, "password": "anotherpassword"}
    token = boxes.call("POST", "/api/user/login", None, again).json()["token"]
    boxes.call("POST", "/api/user/logout", token)
    assert boxes.met == documented(document, "accounts")


def call_factors(boxes, user):
    """Each operation of passkeys and of the second factor, which is off afterwards."""
    key = Key(boxes, user)
    path = f"/api/user/passkeys/{key.register().json()['id']}"
    assert key.register().status_code == 401
    boxes.call("GET", "/api/user/passkeys", user.token)
    boxes.call("PUT", path, user.token, {"name": "other"})
    assert key.log_in(key.use()[0]).status_code == 200
    begun = boxes.call("POST", "/api/user/totp", user.token).json()
    confirmation = {"enrolment": begun["enrolment"], "code": totp.code(begun["uri"], time.time())}
    wrong = {**confirmation, "code": "x"}
    assert boxes.call("POST", "/api/user/totp/confirm", user.token, wrong).status_code == 400
    assert boxes.call("POST", "/api/user/totp/confirm", user.token, confirmation).status_code == 201
    assert boxes.call("POST", "/api/user/totp", user.token).status_code == 409
    boxes.call("GET", "/api/user/totp", user.token)
    login = {"email": user.email, "password": user.password}
    required = boxes.call("POST", "/api/user/login", None, login).json()
    assert required["factors"] == ["totp", "recovery_code", "passkey"]
    # The device does not verify its user.
    assert key.log_in(key.use()[0]).json()["error"] == "second_factor_required"
    body, _ = key.use(required["challenge"])
    assert boxes.call("POST", "/api/user/login/second", None, body).status_code == 200
    assert boxes.call("POST", "/api/user/login/second", None, {**body, "challenge": "x"}).status_code == 401
    boxes.call("POST", "/api/user/recovery-codes", user.token)
    boxes.call("DELETE", "/api/user/totp", user.token)
    boxes.call("DELETE", path, user.token)
    call_providers(boxes, user)


def call_providers(boxes, user):
    """Each operation of identity providers, at a server without one (test_providers.py has some)."""
    assert boxes.call("GET", "/api/user/oauth").json() == {"providers": []}
    assert boxes.call("GET", "/api/user/identities", user.token).json() == {"identities": []}
    for method, path in [("GET", "oauth/none"), ("GET", "oauth/none/callback"),
                         ("POST", "oauth/none/link"), ("DELETE", "identities/none")]:
        assert boxes.call(method, f"/api/user/{path}", user.token).status_code == 404


def call_links(boxes, user):
    """Each operation of the links that are sent by mail, which are off here."""
    body = {"email": user.email}
    assert boxes.call("POST", "/api/user/password/forgot", None, body).status_code == 403
    assert boxes.call("POST", "/api/user/email/verification", user.token).status_code == 403
    body = {"token": "x", "password": "anotherpassword"}
    assert boxes.call("POST", "/api/user/password/reset", None, body).status_code == 400
    assert boxes.call("POST", "/api/user/email/verify", None, {"token": "x"}).status_code == 400


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
@pytest.mark.parametrize("form", [False, True])
def test_each_operation_of_the_hash_login_api_is_documented(
        watched_logins, document, host, form, accept):
    logins, email = watched_logins, fresh("users.example")
    sent = {"form": form, "headers": {"Accept": accept}}
    for path in ["/", "/style.css", "/example.txt"]:
        assert logins.http.get(logins.url + path).status_code == 200
    url = host.serve(argon2("right"))
    assert logins.register(email, url, "right", **sent).status_code == 201
    tokens = [logins.token(email, "right") for _ in range(2)]
    assert logins.login(email, "right", **sent).status_code == 200
    assert logins.post("/validate", token=tokens[0], **sent).status_code == 200
    for method, token in zip(["DELETE", "POST"], tokens):
        bearer = {"Authorization": f"Bearer {token}", "Accept": accept}
        ended = logins.post("/logout", form=form, method=method, headers=bearer)
        # The first ends both.
        assert ended.status_code == (200 if method == "DELETE" else 401)
    assert logins.post("/logout", email=email, password="right", **sent).status_code == 200
    assert logins.met == documented(document, "hash-login")


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
def test_errors_of_the_hash_login_api_are_documented(watched_logins, host, accept):
    logins, url = watched_logins, host.serve(b"no hash")
    headers = {"Accept": accept}
    for fields in [{}, {"email": "no email"}, {"email": "a@users.example", "password": "x"},
                   {"email": "a@users.example", "password": "x", "password_hash_url": url},
                   {"token": "no token"}]:
        for method, path in [("POST", "/register"), ("POST", "/login"), ("POST", "/validate"),
                             ("POST", "/logout"), ("DELETE", "/logout")]:
            answer = logins.post(path, form=True, method=method, headers=headers, **fields)
            assert answer.status_code == (422 if path in ("/register", "/login") else 401)
    for path in ["/register", "/login", "/validate", "/logout"]:
        foreign = {**headers, "Origin": "https://elsewhere.example"}
        assert logins.post(path, form=True, headers=foreign, email="a").status_code == 403
        for type, status in [("application/json", 400), ("text/plain", 415)]:
            answer = logins.http.post(
                logins.url + path, b"{", headers={**headers, "Content-Type": type})
            assert answer.status_code == status


@pytest.mark.parametrize("path", ["/jmap/", "/jmap/upload/x/"])
def test_a_body_over_the_limit_of_jmap_is_documented(watched, path):
    answer = watched.http.post(
        watched.url + path, b" " * (10 * 2**20 + 1), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


@pytest.mark.parametrize("type", ["application/json", "image/png"])
def test_a_body_over_the_limit_is_documented_everywhere(watched, document, type):
    for method, path, operation in operations(document):
        if "requestBody" in operation and "jmap" in operation["tags"]:
            continue  # Of its own limit: test_a_body_over_the_limit_of_jmap_is_documented.
        answer = watched.http.request(
            method, watched.url + instance(path), data=b" " * 65_537,
            headers={"Content-Type": type})
        assert answer.status_code == 413, f"{method} {path}"


def test_another_media_type_is_documented_where_a_body_is_read(watched, document):
    """Endpoints that need no body ignore its type, and so document no 415."""
    for method, path, operation in operations(document):
        answer = watched.http.request(
            method, watched.url + instance(path), data=b"{}",
            headers={"Content-Type": "image/png"})
        assert (answer.status_code == 415) == ("415" in operation["responses"]), path


def test_too_many_requests_are_documented_where_requests_are_counted(serve, document):
    server = serve(
        profile="development", POSTERN_LIMITS_GENERAL_PER_SECOND="1",
        POSTERN_LIMITS_HASH_LOGIN_BURST="1")
    watched = watch(Agent(server.url), document)
    for method, path, operation in operations(document):
        def call():
            # Not JSON: an endpoint that gets as far as the body refuses it at once.
            return watched.http.request(
                method, watched.url + instance(path), data=b"{", timeout=30,
                headers={"Content-Type": "application/json"})
        statuses = {call().status_code for _ in range(6)}
        assert (429 in statuses) == ("429" in operation["responses"]), f"{method} {path}"


def test_every_operation_documents_the_statuses_that_follow_from_what_it_is(document):
    for method, path, operation in operations(document):
        named, name = set(operation["responses"]), f"{method} {path}"
        assert {"413", "500", "503", "default"} <= named, name
        assert ("429" in named) == (
            not {"discovery", "operations"} & set(operation["tags"])), name
        wanted = [kind for kinds in operation["security"] for kind in kinds]
        if wanted:
            assert "401" in named, name
        if "cookie" in wanted:
            assert "403" in named, name
        if "requestBody" in operation:
            assert "400" in named, name
        if "requestBody" in operation and "*/*" not in operation["requestBody"]["content"]:
            assert "415" in named, name
        if "{" in path:
            assert "404" in named, name


@pytest.mark.parametrize("token", [None, "garbage", "email", "pro"])
def test_errors_of_the_accounts_api_are_documented(watched_boxes, document, token):
    boxes = watched_boxes
    token = {"email": lambda: boxes.mailbox().token, "pro": lambda: boxes.user().token}.get(
        token, lambda: token)()
    for call in documented(document, "accounts", "messages") - {"POST /api/user/logout"}:
        method, path = call.split()
        path = instance(path)
        for body in [None, {}, {"address": "x", "password": ""}, {"domain": "x", "email": "x"}]:
            boxes.call(method, path, token, body)


@pytest.mark.parametrize("refused", REJECTED)
def test_errors_of_the_agent_api_are_documented(watched, refused):
    refuse(watched, refused)


@pytest.mark.parametrize("call", [
    "POST /api/v1/capability", "POST /api/v1/api-key", "DELETE /api/v1/account",
    "DELETE /api/v1/session", "GET /.well-known/jmap",
])
def test_a_missing_token_is_documented(watched, call):
    method, path = call.split()
    assert watched.http.request(method, watched.url + path).status_code == 401


# Bodies by operation: those that the server refuses for what is in them, and those that it does
# not. The document has to draw the line in the same place.
DIGEST, KEY = "f" * 128, "ab" * 32
SESSION = {"powHex": DIGEST, "nonce": "1", "username": "decent-name"}
LOGIN = {"powHex": DIGEST, "nonce": "1", "apiKey": "pst_nobody"}
NEW = {"address": "new@mail.test", "password": "supersecret"}
USER = {"email": "new@example.com", "password": "supersecret"}
HASH = {"email": "new@example.com", "password_hash_url": "https://hash.invalid/a", "password": "p"}


def without(body, name):
    return {member: value for member, value in body.items() if member != name}


def variants(body, **members):
    """The body with each of the values of each member in turn."""
    return [{**body, name: value} for name, values in members.items() for value in values]


REFUSED = {
    "POST /api/v1/session": [
        [], "text", without(SESSION, "powHex"), without(SESSION, "nonce"),
        without(SESSION, "username"), {**SESSION, "apiKey": "both"},
        {**SESSION, "username": None}, {**SESSION, "username": None, "apiKey": None},
        *variants(SESSION, powHex=[DIGEST[1:], DIGEST + "f", "g" + DIGEST[1:], "", None, 1],
                  nonce=["", "1" * 65, "1\n2", "\x7f", "ß", 1.5, 2**64, -(2**63) - 1, None,
                         True, []],
                  username=["four", "x" * 22, "a..bcd", ".abcde", "abcde.", "ab cde", "ab+cde",
                            "abcdé", "", 12345, True]),
        *variants(LOGIN, apiKey=["", "k" * 257, 1, []])],
    "POST /api/accounts": [
        [], without(NEW, "address"), without(NEW, "password"), {**NEW, "password": None},
        *variants(NEW, address=["", "no at", "@mail.test", "a@", "a..b@mail.test", ".a@mail.test",
                                "a+b@mail.test", "a'b@mail.test", "a@-mail.test", "ä@mail.test",
                                "a" * 65 + "@mail.test", "a@" + "b" * 64 + ".test", None, 1],
                  password=["", "short", 1, "x" * 1025],
                  auth_key=[KEY[1:], KEY + "a", "", "g" * 64, 1],
                  pow=[1, "text", [], {}, {"id": "x"}, {"nonce": "1"},
                       {"id": None, "nonce": "1"}])],
    "POST /api/token": [
        [], without(NEW, "address"), without(NEW, "password"), {**NEW, "password": None},
        *variants(NEW, address=[None, 1], password=[1, "x" * 1025],
                  auth_key=[KEY[1:], KEY + "a", "", "g" * 64, 1])],
    "PUT /api/accounts/{account_id}/reset-password": [
        [], {}, {"password": None}, {"password": "short"}, {"password": "x" * 1025},
        {"auth_key": KEY[1:]}, {"password": 1}],
    "POST /api/user/register": [
        [], without(USER, "email"), without(USER, "password"),
        *variants(USER, email=["", "no at", "a@b", "a@b.c@d.e", ".a@example.com", "a@-x.com",
                               "a b@example.com", "ä@example.com", "x" * 65 + "@example.com",
                               None, 1],
                  password=["", "short", "x" * 1025, None, 1])],
    "POST /api/user/login": [
        [], without(USER, "email"), without(USER, "password"),
        *variants(USER, email=[None, 1], password=["x" * 1025, None, 1])],
    "POST /api/user/login/second": [[], {}, {"challenge": None, "code": "123456"}, {"challenge": 1}],
    "POST /api/user/login/passkey": [[], {}, {"challenge": "x"}, {"challenge": "x", "credential": 1}],
    "POST /api/user/login/passkey/options": [[], {"challenge": 1}],
    "POST /api/user/passkeys": [[], {}, {"challenge": "x", "credential": "x"}],
    "POST /api/user/totp/confirm": [[], {}, {"enrolment": "x"}, {"enrolment": "x", "code": 123456}],
    "PUT /api/user/password": [
        # A user without a password sends none in `current_password`.
        [], {"current_password": "supersecret"},
        *variants({"current_password": "propassword", "password": "supersecret"},
                  current_password=[1, "x" * 1025], password=[None, 1, "short", "x" * 1025])],
    "POST /api/user/password/forgot": [[], {}, {"email": None}, {"email": 1}],
    "POST /api/user/password/reset": [
        [], {}, *variants({"token": "x", "password": "supersecret"}, token=[None, 1],
                          password=[None, 1, "x" * 1025])],
    "POST /api/user/email/verify": [[], {}, {"token": None}, {"token": 1}],
    "POST /api/user/tokens": variants(
        {}, name=["", "x" * 201, 1, []], expires_in=[59, 315_360_001, "60", 60.5, -1, True, []]),
    "POST /api/user/domains": [
        [], {}, *variants({}, domain=["", "nodot", "-a.example", "a-.example", "a..example",
                                      ".example", "a b.example", "ä.example", "a_b.example",
                                      "x" * 64 + ".example", "x." * 119 + "example",
                                      "127.0.0.1", "1.2.3", "[::1]", None, 1])],
    "POST /api/user/webhooks": [
        [], {}, {"url": None}, {"url": 1},
        *variants({"url": "https://example.com/"}, events=[[], ["other"], "email.received", [1]])],
    "POST /register": [
        {}, without(HASH, "email"), without(HASH, "password"), without(HASH, "password_hash_url"),
        *variants(HASH, email=["", "no at", "a@b", ".a@example.com", "ä@example.com", None],
                  password=["", None],
                  password_hash_url=["", None, "ftp://hash.invalid/a", "hash.invalid/a",
                                     "https://u@hash.invalid/", "https://hash.invalid/#f",
                                     "https://hash.invalid/" + "x" * 2048, "https:///a"])],
}
ACCEPTED = {
    "POST /api/v1/session": [
        SESSION, LOGIN, {**SESSION, "apiKey": None}, {**LOGIN, "username": None},
        {**SESSION, "utm_source": "x"},
        *variants(SESSION, powHex=[DIGEST.upper()], nonce=["~ !", "1" * 64, 0, 2**64 - 1, -(2**63)],
                  username=["abcde", "x" * 21, "a.b-c_d", "UPPER"])],
    "POST /api/accounts": [
        {**NEW, "auth_key": None, "pow": None}, {"address": NEW["address"], "auth_key": KEY},
        {**NEW, "password": None, "auth_key": KEY.upper()},
        *variants(NEW, password=["sixsix", "x" * 1024], address=["A.b_c-d@mail.test"],
                  pow=[{"id": "x", "nonce": "~ 1"}])],
    "POST /api/token": [
        NEW, {**NEW, "password": ""}, {**NEW, "address": ""}, {**NEW, "auth_key": None},
        {"address": "a@mail.test", "auth_key": KEY}],
    "POST /api/user/register": [
        {**USER, "email": email} for email in ["o'a+b@example.com", "a@b.c", "UP@Example.com"]],
    "POST /api/user/login": [USER, {"email": "", "password": ""}],
    "POST /api/user/tokens": [
        {}, {"name": None, "expires_in": None}, {"name": "x" * 200}, {"expires_in": 60},
        {"expires_in": 315_360_000}],
    "POST /api/user/webhooks": [
        {"url": "https://example.com/", "events": None},
        {"url": "https://example.com/", "events": ["email.received"]}],
    "POST /api/user/domains": [{"domain": "a.example"}, {"domain": "Xn--A.9.example"}],
}


def body_schema(document, call):
    method, path = call.split()
    content = document["paths"][path][method.lower()]["requestBody"]["content"]
    return validator(document, content["application/json"]["schema"])


@pytest.fixture(scope="module")
def sender(postern):
    """Sends a body to an operation, with the credential that it wants."""
    boxes, agent = Mailboxes(postern.url), Agent(postern.url)
    user, challenge = boxes.user(), agent.challenge()
    owned = boxes.mailbox(user.token)

    def send(call, body):
        method, path = call.split()
        free = path == "/api/accounts"
        token = challenge if path == "/api/v1/session" else None if free else user.token
        return boxes.call(method, path.format(account_id=owned.id), token, body)
    return send


@pytest.mark.parametrize("call", REFUSED)
def test_the_document_refuses_the_bodies_that_the_server_refuses(document, sender, call):
    schema = body_schema(document, call)
    for body in REFUSED[call]:
        answer = sender(call, body)
        # A key that no account can have is an unknown one.
        refused = {400, 422} | ({401} if "apiKey" in body else set())
        missing = answer.status_code == 400 and "proof of work" in answer.text
        assert answer.status_code in refused and not missing, (body, answer.text)
        assert not schema.is_valid(body), f"{call}: the document takes {body}"


@pytest.mark.parametrize("call", ACCEPTED)
def test_the_document_takes_bodies_that_the_server_takes(document, sender, call):
    schema = body_schema(document, call)
    for body in ACCEPTED[call]:
        answer = sender(call, body)
        # Without a proof of work the body itself has passed.
        passed = answer.status_code not in (400, 422) or "proof of work" in answer.text
        assert passed, (body, answer.text)
        assert schema.is_valid(body), f"{call}: the document refuses {body}"


def test_the_document_and_the_server_agree_on_cursors(document, serve):
    boxes = Mailboxes(serve(
        POSTERN_USERS_REGISTRATION="open", POSTERN_ACCOUNTS_PAGE_SIZE="1").url)
    user = boxes.user()
    for _ in range(2):
        boxes.mailbox(user.token)
    (parameter,) = document["paths"]["/api/user/accounts"]["get"]["parameters"]
    schema = validator(document, parameter["schema"])
    page = boxes.call("GET", "/api/user/accounts", user.token).json()
    for cursor in ["", page["next_cursor"]]:
        answer = boxes.call("GET", "/api/user/accounts", user.token, params={"cursor": cursor})
        assert answer.status_code == 200 and schema.is_valid(cursor)
    assert page["next_cursor"]
    for cursor in ["made up", "x", "A" * 77, "=" * 60, "1700000000000"]:
        answer = boxes.call("GET", "/api/user/accounts", user.token, params={"cursor": cursor})
        assert answer.status_code == 400 and not schema.is_valid(cursor)
