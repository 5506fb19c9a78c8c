"""The capability token as a mail store sees it that has the published keys only."""

import base64
import hashlib
import hmac
import json

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from agent import Agent, bearer, claims


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(header, payload, sign):
    text = f"{encoded(json.dumps(header).encode())}.{encoded(json.dumps(payload).encode())}"
    return f"{text}.{encoded(sign(text.encode()))}"


@pytest.fixture(scope="module")
def tokens(postern):
    """One genuine token of each kind, none of them spent."""
    agent = Agent(postern.url)
    session = bearer(agent.session(username="token-bearer"))
    return {
        "challenge": agent.challenge(), "session": session,
        "capability": bearer(agent.capability(session)),
    }


@pytest.fixture(scope="module")
def key(postern, tokens):
    client = jwt.PyJWKClient(postern.url + "/.well-known/jwks.json")
    return client.get_signing_key_from_jwt(tokens["capability"]).key


def test_pyjwt_verifies_it_by_the_published_keys(postern, tokens, key):
    token = tokens["capability"]
    header = jwt.get_unverified_header(token)
    assert header["alg"] == "RS256" and header["typ"] == "JWT" and header["kid"]
    payload = jwt.decode(
        token, key, algorithms=["RS256"], audience="api-service", issuer=postern.url,
        options={"require": ["iss", "sub", "aud", "jti", "iat", "exp"]})
    assert payload["sub"] == payload["inboxId"] == "token-bearer@mail.test"
    assert payload["allowedFromDomain"] == "mail.test"
    assert payload["accountId"]
    assert type(payload["iat"]) is int and payload["exp"] - payload["iat"] == 120


def test_the_key_set_is_public_cacheable_and_holds_no_private_part(agent):
    answer = agent.http.get(agent.url + "/.well-known/jwks.json")
    assert "max-age" in answer.headers["Cache-Control"]
    for published in answer.json()["keys"]:
        assert published["kty"] == "RSA" and published["alg"] == "RS256"
        assert published["use"] == "sig" and published["kid"]
        assert not {"d", "p", "q", "dp", "dq", "qi"} & published.keys()


def test_another_audience_is_refused(tokens, key):
    with pytest.raises(jwt.InvalidAudienceError):
        jwt.decode(tokens["capability"], key, algorithms=["RS256"], audience="another")


FORGERIES = {
    "alg none": lambda header, payload, key: signed({"alg": "none"}, payload, lambda text: b""),
    "alg none with kid": lambda header, payload, key: signed(
        {**header, "alg": "none"}, payload, lambda text: b""),
    "HS256 with the public PEM": lambda header, payload, key: signed(
        {**header, "alg": "HS256"}, payload, lambda text: hmac.digest(
            key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), text, "sha256")),
    "HS256 with the public DER": lambda header, payload, key: signed(
        {**header, "alg": "HS256"}, payload, lambda text: hmac.digest(
            key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo), text, "sha256")),
    "an empty HMAC key": lambda header, payload, key: signed(
        {**header, "alg": "HS256"}, payload, lambda text: hmac.digest(b"", text, "sha256")),
    "a digest for a signature": lambda header, payload, key: signed(
        header, payload, lambda text: hashlib.sha256(text).digest()),
    "a signature of zeros": lambda header, payload, key: signed(
        header, payload, lambda text: bytes(256)),
    "an unknown kid": lambda header, payload, key: signed(
        {**header, "kid": "unknown"}, payload, lambda text: bytes(256)),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forgeries_are_refused(agent, tokens, key, forgery):
    genuine = tokens["capability"]
    header = jwt.get_unverified_header(genuine)
    forged = FORGERIES[forgery](header, claims(genuine), key)
    assert agent.mailbox(genuine).status_code == 200
    assert agent.mailbox(forged).status_code == 401


def altered(token, change):
    header, payload, signature = token.split(".")
    return {
        "payload": f"{header}.{encoded(json.dumps(claims(token)).encode())}x.{signature}",
        "signature": f"{header}.{payload}.{signature[:-6]}AAAAAA",
        "no signature": f"{header}.{payload}.",
        "two parts": f"{header}.{payload}",
        "four parts": f"{token}.{signature}",
        "many dots": "." * 4000,
        "padding": token + "=",
        "huge": f"{header}.{'A' * 6000}.{signature}",
        "not base64url": f"{header}.{payload}.{signature[:-1]}+",
        "empty": "",
    }[change]


@pytest.mark.parametrize("change", [
    "payload", "signature", "no signature", "two parts", "four parts", "many dots", "padding",
    "huge", "not base64url", "empty",
])
def test_an_altered_token_is_refused_everywhere(agent, tokens, change):
    assert agent.mailbox(altered(tokens["capability"], change)).status_code == 401
    assert agent.capability(altered(tokens["session"], change)).status_code == 401
    body = {"powHex": "0" * 128, "nonce": "0", "username": "newagent"}
    answer = agent.post("/api/v1/session", altered(tokens["challenge"], change), body)
    assert answer.status_code == 401


PLACES = {
    "POST /api/v1/session": "challenge", "POST /api/v1/capability": "session",
    "POST /api/v1/api-key": "session", "DELETE /api/v1/account": "session",
    "GET /.well-known/jmap": "capability",
}


@pytest.mark.parametrize("place, kind", [
    (place, kind) for place, own in PLACES.items()
    for kind in ["challenge", "session", "capability"] if kind != own
])
def test_no_token_is_accepted_as_another_kind(agent, tokens, place, kind):
    method, path = place.split()
    answer = agent.http.request(
        method, agent.url + path, headers={"Authorization": f"Bearer {tokens[kind]}"},
        json={"powHex": "0" * 128, "nonce": "0", "username": "newagent"})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
