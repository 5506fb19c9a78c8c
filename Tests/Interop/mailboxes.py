"""The accounts API as its documents describe it: requests and SHA-256, nothing of Postern's."""

import dataclasses
import hashlib
import itertools
import os

import requests

PASSWORD = "supersecret"
_numbers = itertools.count(1)


def fresh(domain="mail.test"):
    """An address that no other test uses, on any server."""
    return f"box-{os.getpid()}-{next(_numbers)}@{domain}"


def leading_zero_bits(digest):
    return len(digest) * 8 - int.from_bytes(digest, "big").bit_length()


def solve(challenge, salt=None, good=True):
    """A nonce that solves the challenge, or one that does not. The salt is used as its text."""
    salt = challenge["salt"].encode() if salt is None else salt
    for nonce in map(str, itertools.count()):
        bits = leading_zero_bits(hashlib.sha256(salt + nonce.encode()).digest())
        if (bits >= challenge["difficulty"]) == good:
            return nonce


@dataclasses.dataclass
class Mailbox:
    id: str
    address: str
    token: str
    password: str


@dataclasses.dataclass
class User:
    id: str
    email: str
    password: str
    token: str


class Mailboxes:
    """One client of one server."""

    def __init__(self, url):
        self.url = url
        self.http = requests.Session()
        self.http.trust_env = False

    def call(self, method, path, token=None, body=None, **options):
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        headers.update(options.pop("headers", {}))
        return self.http.request(
            method, self.url + path, headers=headers, json=body, timeout=60, **options)

    def challenge(self):
        answer = self.call("GET", "/api/challenge")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def proof(self, challenge=None):
        challenge = challenge or self.challenge()
        return {"id": challenge["id"], "nonce": solve(challenge)}

    def create(self, address, password=PASSWORD, token=None, pow=None, **members):
        """POST /api/accounts; with a proof of work unless a Pro token comes along."""
        body = {"address": address, **members}
        if password is not None:
            body["password"] = password
        if pow is None and token is None:
            pow = self.proof()
        if pow is not None:
            body["pow"] = pow
        return self.call("POST", "/api/accounts", token, body)

    def login(self, address, password=PASSWORD, **members):
        return self.call("POST", "/api/token", None, {
            "address": address, **({} if password is None else {"password": password}), **members})

    def get(self, account, token):
        return self.call("GET", f"/api/accounts/{account}", token)

    def reset(self, account, token, password):
        return self.call(
            "PUT", f"/api/accounts/{account}/reset-password", token, {"password": password})

    def delete(self, account, token):
        return self.call("DELETE", f"/api/accounts/{account}", token)

    def mailbox(self, token=None, password=PASSWORD):
        """One made, with the token it came with."""
        answer = self.create(fresh(), password, token)
        assert answer.status_code == 201, answer.text
        return Mailbox(**answer.json(), password=password)

    def user(self, password="propassword"):
        """One registered; the server must be open for it. The cookie is not kept."""
        email = fresh("example.com")
        answer = self.call("POST", "/api/user/register", None, {
            "email": email, "password": password})
        assert answer.status_code == 201, answer.text
        self.http.cookies.clear()
        made = answer.json()
        return User(made["user_id"], email, password, made["token"])

    def api_token(self, user, **members):
        answer = self.call("POST", "/api/user/tokens", user.token, members or None)
        assert answer.status_code == 201, answer.text
        return answer.json()


def failed(answer, status, code):
    """Checks the status and code of an error."""
    assert (answer.status_code, answer.json().get("error")) == (status, code), answer.text
    assert answer.json()["message"]
    if status == 401:
        assert answer.headers["WWW-Authenticate"] == "Bearer"
