"""The OpenAPI document is valid, and every answer of a whole life of an account is one it names."""

import json
from urllib.parse import urlsplit

import openapi_spec_validator
import pytest
import requests
from openapi_schema_validator import OAS31Validator, oas31_format_checker

from agent import Agent, bearer
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


def hold(document, answer):
    """Fails unless the document names this answer: status, headers, and the shape of the body."""
    path = urlsplit(answer.url).path
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


@pytest.fixture
def watched(postern, document):
    """An agent whose every answer is held against the document; it knows which it has met."""
    agent = Agent(postern.url)
    agent.met = set()

    def look(answer, **_):
        hold(document, answer)
        agent.met.add(f"{answer.request.method} {urlsplit(answer.url).path}")

    agent.http.hooks["response"].append(look)
    return agent


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
    for path in ["/healthz", "/readyz", "/llms.txt", "/openapi.json", "/.well-known/jwks.json"]:
        watched.http.get(watched.url + path)
    documented = {
        f"{method.upper()} {path}" for path, operations in document["paths"].items()
        for method, operation in operations.items() if "accounts" not in operation["tags"]
    }
    assert watched.met == documented


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
