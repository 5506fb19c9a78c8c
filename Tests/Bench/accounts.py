"""The accounts API beside bare libargon2, and its cost against the size of the table.

Rate limits are off (limits.enabled = false), because one client makes all the load. Proofs of work
are solved before the measurement.
"""

import itertools
import statistics

from argon2 import HASHES, argon2_limit
from mailboxes import KEY, Boxes, at_once, seed, seeded_address, seeded_id, seeded_requests
from processes import Nginx
from table import Row

SETTINGS = {
    "LIMITS_ENABLED": "false", "POW_ACCOUNTS_DIFFICULTY": "1", "USERS_REGISTRATION": "open",
}
# Settings with which hashing takes almost no time, so that everything but hashing is measured.
CHEAP = {"PASSWORDS_MEMORY_KIB": "8", "PASSWORDS_ITERATIONS": "1"}
# The hashes that the server computes: one for an auth_key, and for a password first its auth_key.
OVER_KEY, DERIVATION = HASHES
SECRETS = {
    "auth_key": ({"auth_key": KEY}, [OVER_KEY]),
    "password": ({"password": "supersecret"}, [DERIVATION, OVER_KEY]),
}
# What the rates are to be beside those of libargon2, by the number of hashes.
GOALS = {1: 1.4, 2: 1.6}


class Accounts:
    def __init__(self, run):
        self.run = run
        self.creations = 500 if run.quick else 1500
        self.numbers = itertools.count()

    def rows(self):
        yield from self.hashing()
        yield from self.table()

    def address(self):
        return f"made-{next(self.numbers)}@mail.test"

    def hashing(self):
        """Logins and creations per second, each beside the bare hashes that it needs."""
        with self.run.postern(**SETTINGS) as server:
            boxes = Boxes(server.port)
            for name, (secret, hashes) in SECRETS.items():
                made = {"address": self.address(), **secret}
                boxes.call("POST", "/api/accounts", {**made, "pow": boxes.proof()})
                yield from beside_hashes(
                    self.run, server, hashes, "/api/token", f"POST /api/token, {name}",
                    lambda: made)
                yield from beside_hashes(
                    self.run, server, hashes, "/api/accounts", f"POST /api/accounts, {name}",
                    lambda: {"address": self.address(), **secret, "pow": boxes.proof()},
                    shows_p99=True)

    def table(self):
        """CPU time of a request by the number of accounts, without hashing."""
        sizes = [1_000, 100_000 if self.run.quick else 1_000_000]
        servers = {size: self.seeded(size) for size in sizes}
        requests = {
            "GET account by API token, CPU": (self.asking("get"), 8),
            "login but its hash, CPU": (self.asking("login"), None),
            "creation but its hash, CPU": (self.creating, None),
        }
        try:
            with Nginx(self.run.fresh()) as nginx:
                bare, *figures = self.run.turns(
                    lambda: self.run.cpu_micros(nginx, "/healthz"),
                    *(lambda measure=measure, size=size: measure(size, *servers[size])
                      for measure, _ in requests.values() for size in sizes))
        finally:
            for server, _ in servers.values():
                server.__exit__()
        few, many = sizes
        for (what, (_, goal)), at_few, at_many in zip(
                requests.items(), figures[::2], figures[1::2]):
            yield Row(f"{what}, {few:,} accounts", "µs", at_few, bare,
                      "nginx return 200, no access log", goal)
            yield Row(f"  {many:,} accounts", "µs", at_many, at_few, f"{few:,} accounts", 1.25)

    def seeded(self, size):
        """A server with that many accounts in its database, and the API token of their owner."""
        data = self.run.fresh()
        with self.run.postern(data, **SETTINGS, **CHEAP) as server:
            boxes = Boxes(server.port)
            token, owner = boxes.register("bench@example.com")
            boxes.call("POST", "/api/accounts", {
                "address": self.address(), "auth_key": KEY, "pow": boxes.proof()})
        seed(data, size, owner)
        server = self.run.postern(data, **SETTINGS, **CHEAP)
        boxes = Boxes(server.port)
        boxes.call("GET", f"/api/accounts/{seeded_id(size - 1)}", token=token)
        boxes.call("POST", "/api/token", {"address": seeded_address(size - 1), "auth_key": KEY})
        return server, token

    def asking(self, mode):
        return lambda size, server, token: self.run.cpu_micros(
            server, "/", connections=16, lua=seeded_requests(mode, size, token))

    def creating(self, size, server, token):
        boxes = Boxes(server.port)
        bodies = [
            {"address": self.address(), "auth_key": KEY, "pow": boxes.proof()}
            for _ in range(self.creations)
        ]
        before = server.cpu_seconds()
        at_once(server.port, bodies, "/api/accounts", self.run.connections)
        return (server.cpu_seconds() - before) / self.creations * 1e6


def beside_hashes(run, server, hashes, path, what, make_body, shows_p99=False):
    """Requests per second and their CPU time, beside the bare hashes that each needs."""
    limit, goal = argon2_limit(run), GOALS[len(hashes)]
    count = 40 if run.quick else 75

    def ask():
        bodies = [make_body() for _ in range(count)]
        before = server.cpu_seconds()
        taken, elapsed = at_once(server.port, bodies, path, run.connections)
        cpu = server.cpu_seconds() - before
        p99 = statistics.quantiles(taken, n=100, method="inclusive")[98]
        return count / elapsed, cpu / count * 1e3, p99 * 1e3

    mine, bare = run.turns(ask, lambda: limit(1, "libargon2", 0, *hashes))
    (rate, cpu, p99), (bare_rate, bare_cpu) = zip(*mine), zip(*bare)
    beside = "libargon2 " + " and ".join(hashes) + ", all cores"
    yield Row(what, "/s", rate, bare_rate, beside, goal, more_is_better=True)
    yield Row("  its CPU", "ms", cpu, bare_cpu, "the same hashes' CPU", 1 / goal)
    if shows_p99:
        yield Row(f"  its p99 at {run.connections} connections", "ms", p99,
                  [run.connections / each * 1e3 for each in bare_rate],
                  "connections ÷ libargon2's rate")
