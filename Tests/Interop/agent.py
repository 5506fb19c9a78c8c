"""The agent API as its documents describe it: requests and hashlib.scrypt, nothing of Postern's.

A client like this one is what an agent writes after reading the documents once.
"""

import base64
import dataclasses
import hashlib
import itertools
import json

import requests

SALT = "0b980734412c292d6549110276b604ab1dea4883bd460d77d1b984adf8bca083"


def claims(token):
    """The payload of a JWT, unverified: a client reads its challenge like this."""
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def bearer(answer):
    scheme, _, token = answer.headers["Authorization"].partition(" ")
    assert scheme == "Bearer" and token
    return token


def proof(jti, nonce, salt=SALT):
    # The salt is used as its hex text, not decoded.
    return hashlib.scrypt(
        f"{jti}:{nonce}".encode(), salt=salt.encode(), n=16384, r=8, p=1, dklen=64)


def leading_zero_bits(digest):
    return len(digest) * 8 - int.from_bytes(digest, "big").bit_length()


@dataclasses.dataclass
class Solved:
    """A challenge with its proof; it opens one session."""

    token: str
    nonce: str
    digest: str


class Agent:
    def __init__(self, url):
        self.url = url
        self.http = requests.Session()
        self.http.trust_env = False

    def post(self, path, token=None, body=None, **options):
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        return self.http.post(self.url + path, headers=headers, json=body, timeout=30, **options)

    def challenge(self):
        answer = self.post("/api/v1/challenge")
        assert answer.status_code == 200, answer.text
        return bearer(answer)

    def solve(self, token=None, wanted=None):
        """A solved challenge; `wanted` picks another nonce than the first good one."""
        token = token or self.challenge()
        asked = claims(token)
        good = wanted or (lambda digest: leading_zero_bits(digest) >= asked["difficulty"])
        for nonce in itertools.count():
            digest = proof(asked["jti"], nonce)
            if good(digest):
                return Solved(token, str(nonce), digest.hex())

    def session(self, solved=None, **credential):
        """POST /api/v1/session with `username=` or `apiKey=`."""
        solved = solved or self.solve()
        body = {"powHex": solved.digest, "nonce": solved.nonce, **credential}
        return self.post("/api/v1/session", solved.token, body)

    def capability(self, session):
        return self.post("/api/v1/capability", session)

    def mailbox(self, capability):
        return self.http.get(
            self.url + "/.well-known/jmap",
            headers={"Authorization": f"Bearer {capability}"}, timeout=30)
