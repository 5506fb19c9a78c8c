"""A client of the agent API. It solves proofs before anything is measured."""

import base64
import concurrent.futures
import hashlib
import http.client
import itertools
import json
import os

SALT = b"0b980734412c292d6549110276b604ab1dea4883bd460d77d1b984adf8bca083"


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def post(self, path, token=None, body=None):
        """The response's Authorization token and JSON body; any other status than 2xx ends the run."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self.connection.request("POST", path, json.dumps(body or {}).encode(), headers)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status not in (200, 201):
            raise SystemExit(f"POST {path}: {answer.status} {content.decode()}")
        return answer.headers["Authorization"].removeprefix("Bearer "), json.loads(content)

    def proven_challenge(self):
        """A challenge, and the members of the session request that prove it."""
        token, _ = self.post("/api/v1/challenge")
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        for nonce in itertools.count():
            digest = hashlib.scrypt(
                f"{claims['jti']}:{nonce}".encode(), salt=SALT, n=16384, r=8, p=1, dklen=64)
            if int.from_bytes(digest, "big").bit_length() <= 512 - claims["difficulty"]:
                return token, {"powHex": digest.hex(), "nonce": str(nonce)}

    def sign_up(self, username):
        token, body = self.proven_challenge()
        return self.post("/api/v1/session", token, {**body, "username": username})


def proven_challenges(port, count):
    """Solves challenges on all cores; hashlib's scrypt releases the interpreter's lock."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda _: Client(port).proven_challenge(), range(count)))


def log_in_all(port, key, proven, connections):
    """Logs in with every solved challenge, over `connections` connections at once."""
    pending = iter(proven)

    def work(_):
        client = Client(port)
        for token, body in pending:
            client.post("/api/v1/session", token, {**body, "apiKey": key})

    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        list(pool.map(work, range(connections)))
