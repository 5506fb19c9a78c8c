"""Bodies that the agent API refuses; none of them spends the challenge."""

import functools
import json

import pytest

from agent import Agent


@pytest.fixture(scope="module")
def solved(postern):
    """One challenge for the whole module: no rejected request here may spend it."""
    return Agent(postern.url).solve()


def send(agent, solved, body, content_type="application/json"):
    headers = {"Authorization": f"Bearer {solved.token}"}
    if content_type:
        headers["Content-Type"] = content_type
    return agent.http.post(agent.url + "/api/v1/session", data=body, headers=headers, timeout=30)


def text(solved, **changes):
    """A signup that is valid except for the changes; `...` removes a member."""
    body = {"powHex": solved.digest, "nonce": solved.nonce, "username": "decent-name", **changes}
    return json.dumps({name: value for name, value in body.items() if value is not ...}).encode()


MALFORMED = {
    "nothing": lambda solved: b"",
    "half an object": lambda solved: text(solved)[:-1],
    "two values": lambda solved: text(solved) + b"{}",
    "an array": lambda solved: b"[" + text(solved) + b"]",
    "null": lambda solved: b"null",
    "a duplicate member": lambda solved: text(solved)[:-1] + b', "username": "another-name"}',
    "a duplicate written otherwise": lambda solved: (
        text(solved)[:-1] + b', "user\\u006eame": "another-name"}'),
    "NaN": lambda solved: text(solved)[:-1] + b', "extra": NaN}',
    "Infinity": lambda solved: text(solved)[:-1] + b', "extra": -Infinity}',
    "33 levels": lambda solved: text(solved)[:-1] + b', "extra": ' + b"[" * 32 + b"]" * 32 + b"}",
    "60,000 levels": lambda solved: b"[" * 60000,
    "invalid UTF-8": lambda solved: text(solved)[:-1] + b', "extra": "\xff\xfe"}',
    "a lone surrogate": lambda solved: text(solved)[:-1] + b', "extra": "\\ud800"}',
    "a control character": lambda solved: text(solved)[:-1] + b', "extra": "\x00"}',
    "a comment": lambda solved: text(solved) + b" // comment",
    "a trailing comma": lambda solved: text(solved)[:-1] + b",}",
    "a leading zero": lambda solved: text(solved)[:-1] + b', "extra": 01}',
    "UTF-16": lambda solved: text(solved).decode().encode("utf-16"),
    "a number for the digest": lambda solved: text(solved, powHex=12),
    "an odd digest": lambda solved: text(solved, powHex=solved.digest[:-1]),
    "a digest that is not hex": lambda solved: text(solved, powHex="0" * 127 + "g"),
    "a digest too long": lambda solved: text(solved, powHex=solved.digest + "00"),
    "no digest": lambda solved: text(solved, powHex=None),
    "no nonce": lambda solved: text(solved, nonce=...),
    "an empty nonce": lambda solved: text(solved, nonce=""),
    "a nonce of 65 characters": lambda solved: text(solved, nonce="1" * 65),
    "a nonce with a line break": lambda solved: text(solved, nonce="1\n"),
    "a nonce outside ASCII": lambda solved: text(solved, nonce="１"),
    "a fraction for the nonce": lambda solved: text(solved, nonce=1.5),
    "a nonce past 64 bits": lambda solved: text(solved, nonce=2**70),
    "an object for the name": lambda solved: text(solved, username={"a": "b"}),
    "a short name": lambda solved: text(solved, username="four"),
    "a long name": lambda solved: text(solved, username="a" * 22),
    "a name outside ASCII": lambda solved: text(solved, username="Kelvinı"),
    "a name with a dot first": lambda solved: text(solved, username=".dotted"),
    "a name with a doubled dot": lambda solved: text(solved, username="dot..ted"),
    "a name with a sub-address": lambda solved: text(solved, username="name+tag"),
    "a name with a domain": lambda solved: text(solved, username="name@mail.test"),
    "a number for the key": lambda solved: text(solved, username=None, apiKey=5),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_body_is_400_and_the_hint_says_how_to_correct_it(agent, solved, kind):
    answer = send(agent, solved, MALFORMED[kind](solved))
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["hint"]


def test_one_byte_over_the_limit_is_413_and_the_limit_itself_is_not(agent, solved):
    body = text(solved, username="four")
    assert send(agent, solved, body + b" " * (65537 - len(body))).status_code == 413
    assert send(agent, solved, body + b" " * (65536 - len(body))).status_code == 400


@pytest.mark.parametrize("kind, status", [
    ("text/plain", 415), ("application/x-www-form-urlencoded", 415), ("application/jsonx", 415),
    ("Application/JSON; charset=utf-8", 400), (None, 400),
])
def test_a_content_type_that_is_given_must_be_json(agent, solved, kind, status):
    assert send(agent, solved, text(solved, username="four"), kind).status_code == status


def test_refused_bodies_did_not_spend_the_challenge(agent, solved, name):
    deepest = functools.reduce(lambda inner, _: [inner], range(30), [])
    accepted = text(
        solved, username=f" {name().upper()}\t", apiKey=None, utm_source="a test",
        unknown=deepest, powHex=solved.digest.upper(), nonce=int(solved.nonce))
    answer = send(agent, solved, accepted)
    assert answer.status_code == 201, answer.text
