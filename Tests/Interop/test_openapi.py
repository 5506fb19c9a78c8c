"""The OpenAPI document is valid, and every answer of a whole life of an account is one it names."""

import json
import re
import uuid
from urllib.parse import urlsplit

import openapi_spec_validator
import pytest
import requests
from openapi_schema_validator import OAS31Validator, oas31_format_checker

from agent import Agent, bearer
from hashhost import argon2
from hashlogin import HashLogin
from mailboxes import Mailboxes, fresh
from test_agent_flow import REFUSALS, refuse


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


def hold(document, answer):
    """Fails unless the document names this answer: status, headers, and the shape of the body."""
    path = template(document, answer.request.method, urlsplit(answer.url).path)
    operation = document["paths"][path][answer.request.method.lower()]
    named = operation["responses"].get(str(answer.status_code))
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
    schema = {**content[media].get("schema", {}), "components": document["components"]}
    body = answer.json() if media.endswith("json") else answer.text
    OAS31Validator(schema, format_checker=oas31_format_checker).validate(body)


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


def documented(document, *tags):
    """Every operation with one of the tags."""
    return {
        f"{method.upper()} {path}" for path, operations in document["paths"].items()
        for method, operation in operations.items() if set(operation["tags"]) & set(tags)
    }


def test_the_document_is_valid_and_speaks_of_this_server(document, postern):
    openapi_spec_validator.validate(document)
    assert [server["url"] for server in document["servers"]] == [postern.url]
    assert "{{" not in json.dumps(document)


def test_a_whole_life_is_documented(watched, document, name):
    signup = watched.session(username=name())
    watched.session(apiKey=signup.json()["apiKey"])
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


def test_a_whole_life_of_the_accounts_surface_is_documented(watched_boxes, document):
    boxes = watched_boxes
    boxes.call("GET", "/api/domains")
    user = boxes.user()
    boxes.call("POST", "/api/user/login", None, {"email": user.email, "password": user.password})
    boxes.call("GET", "/api/user/me", user.token)

    free = boxes.mailbox()
    boxes.login(free.address)
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

    change = {"current_password": user.password, "password": "anotherpassword"}
    boxes.call("PUT", "/api/user/password", user.token, change)
    again = {"email": user.email, "password": "anotherpassword"}
    token = boxes.call("POST", "/api/user/login", None, again).json()["token"]
    boxes.call("POST", "/api/user/logout", token)
    assert boxes.met == documented(document, "accounts")


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
@pytest.mark.parametrize("form", [False, True])
def test_a_whole_life_of_the_hash_login_surface_is_documented(
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
def test_refusals_of_the_hash_login_surface_are_documented(watched_logins, host, accept):
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


@pytest.mark.parametrize("body, type, status", [
    (b" " * 65_537, "application/json", 413), (b"{}", "image/png", 415),
])
def test_bodies_that_nobody_takes_are_documented(watched, document, body, type, status):
    """Also the answers of those endpoints that need no body and ignore what it is."""
    for call in sorted(documented(document, "agents", "accounts", "hash-login")):
        method, path = call.split()
        operation = document["paths"][path][method.lower()]
        path = re.sub(r"{\w+}", str(uuid.uuid4()), path)
        if "requestBody" not in operation:
            continue
        answer = watched.http.request(
            method, watched.url + path, data=body, headers={"Content-Type": type})
        assert answer.status_code == status or str(status) not in operation["responses"]


@pytest.mark.parametrize("token", [None, "garbage", "email", "pro"])
def test_refusals_of_the_accounts_surface_are_documented(watched_boxes, document, token):
    boxes = watched_boxes
    token = {"email": lambda: boxes.mailbox().token, "pro": lambda: boxes.user().token}.get(
        token, lambda: token)()
    for call in documented(document, "accounts") - {"POST /api/user/logout"}:
        method, path = call.split()
        path = re.sub(r"{\w+}", str(uuid.uuid4()), path)
        for body in [None, {}, {"address": "x", "password": ""}, {"domain": "x", "email": "x"}]:
            boxes.call(method, path, token, body)


@pytest.mark.parametrize("refused", REFUSALS)
def test_refusals_are_documented(watched, refused):
    refuse(watched, refused)


@pytest.mark.parametrize("call", [
    "POST /api/v1/capability", "POST /api/v1/api-key", "DELETE /api/v1/account",
    "GET /.well-known/jmap",
])
def test_a_missing_token_is_documented(watched, call):
    method, path = call.split()
    assert watched.http.request(method, watched.url + path).status_code == 401
