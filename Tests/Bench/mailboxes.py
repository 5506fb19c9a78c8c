"""A client of the accounts API, and a database with many accounts."""

import concurrent.futures
import hashlib
import http.client
import itertools
import json
import pathlib
import sqlite3
import time

KEY = "ab" * 32
# Users who each have an API token, as creating.lua computes it.
OWNERS = 1000


def seeded_id(number):
    """An id, spread over the whole range as random ids are. seeded.lua computes the same."""
    return f"{number * 2654435761 % 2**32:08x}-0000-4000-8000-000000000000"


def seeded_address(number):
    return f"seeded-{number}@mail.test"


def seeded_requests(mode, count, token=""):
    """For wrk: requests for random ones of `count` seeded accounts. `mode` is "get" or "login"."""
    return f'MODE, COUNT, TOKEN = "{mode}", {count}, "{token}"\n' + script("seeded.lua")


def owners_requests(prefix):
    """For wrk: creations by the seeded owners in turn, at addresses that begin with `prefix`."""
    return f'PREFIX, OWNERS = "{prefix}", {OWNERS}\n' + script("creating.lua")


def script(name):
    return (pathlib.Path(__file__).parent / name).read_text()


class Boxes:
    """One connection; any other status than 2xx ends the run."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def call(self, method, path, body=None, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self.connection.request(method, path, json.dumps(body or {}).encode(), headers)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status // 100 != 2:
            raise SystemExit(f"{method} {path}: {answer.status} {content.decode()}")
        return json.loads(content) if content else None

    def proof(self):
        challenge = self.call("GET", "/api/challenge")
        salt, bits = challenge["salt"].encode(), challenge["difficulty"]
        for nonce in map(str, itertools.count()):
            digest = hashlib.sha256(salt + nonce.encode()).digest()
            if int.from_bytes(digest, "big").bit_length() <= 256 - bits:
                return {"id": challenge["id"], "nonce": nonce}

    def register(self, email):
        """Registers a user. Returns an API token and the id of the user."""
        user = self.call("POST", "/api/user/register", {"email": email, "password": "propassword"})
        made = self.call("POST", "/api/user/tokens", {}, user["token"])
        return made["token"], user["user_id"]


def at_once(port, bodies, path, connections):
    """Posts every body over `connections` connections; the seconds of each, and of all."""
    pending = iter(bodies)

    def work(_):
        boxes, taken = Boxes(port), []
        for body in pending:
            start = time.monotonic()
            boxes.call("POST", path, body)
            taken.append(time.monotonic() - start)
        return taken

    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        taken = list(itertools.chain(*pool.map(work, range(connections))))
    return taken, time.monotonic() - start


def seed(data, count, owner):
    """Fills a stopped server's database with accounts of `owner`, copies of one whose key is `KEY`."""
    with sqlite3.connect(pathlib.Path(data) / "postern.db") as database:
        (encoded,) = database.execute(
            "SELECT password_hash FROM account WHERE password_hash IS NOT NULL").fetchone()
        database.executemany(
            "INSERT INTO account (id, address, state, credential_version, created, password_hash,"
            " owner) VALUES (?, ?, 'active', 1, ?, ?, ?)",
            ((seeded_id(number), seeded_address(number), 1767225600000 + number, encoded, owner)
             for number in range(count)))
    database.close()


def seed_owners(data):
    """Fills a stopped server's database with owners: ids as `seeded_id`, tokens as creating.lua."""
    with sqlite3.connect(pathlib.Path(data) / "postern.db") as database:
        for number in range(OWNERS):
            id = seeded_id(number)
            database.execute(
                "INSERT INTO user (id, email, state, password_hash, credential_version, created)"
                " VALUES (?, ?, 'active', '', 1, 0)", (id, f"owner-{number}@example.com"))
            # Used a day from now: the servers write down when a token was used, but not again.
            database.execute(
                "INSERT INTO api_token (id, owner, name, digest, created, last_used)"
                " VALUES (?, ?, 'bench', ?, 0, ?)",
                (id, id, hashlib.sha256(f"tm_pro_bench-{number}".encode()).digest(),
                 int((time.time() + 86400) * 1000)))
    database.close()
