"""The accounts API beside bare libargon2, and its cost against the size of the table.

Rate limits are off (limits.enabled = false), because one client makes all the load. Proofs of work
are solved before the measurement.
"""

import os
import pathlib
import statistics
import subprocess

from mailboxes import KEY, Boxes, at_once, seed, seeded_address, seeded_id
from processes import Postern, load
from table import Row

HERE = pathlib.Path(__file__).parent
SETTINGS = {
    "POSTERN_LIMITS_ENABLED": "false", "POSTERN_POW_ACCOUNTS_DIFFICULTY": "1",
    "POSTERN_USERS_REGISTRATION": "open",
}
# Settings with which hashing takes almost no time, so that everything but hashing is measured.
CHEAP = {"POSTERN_PASSWORDS_MEMORY_KIB": "8", "POSTERN_PASSWORDS_ITERATIONS": "1"}
# The hashes that the server computes: one for an auth_key, and for a password first its auth_key.
OVER_KEY, DERIVATION = "19456,2", "16384,3"
SECRETS = {
    "auth_key": ({"auth_key": KEY}, [OVER_KEY]),
    "password": ({"password": "supersecret"}, [DERIVATION, OVER_KEY]),
}


class Accounts:
    def __init__(self, binary, fresh, script, rounds, seconds, quick):
        self.binary, self.fresh, self.script = binary, fresh, script
        self.rounds, self.seconds = rounds, seconds
        self.posts = 80 if quick else 300
        self.creations = 1500 if quick else 3000
        self.sizes = [1_000, 100_000] if quick else [1_000, 100_000, 1_000_000]
        self.connections = 4 * os.cpu_count()
        self.numbers = iter(range(10**9))

    def postern(self, data=None, **settings):
        return Postern(self.binary, data or self.fresh(), environment={**SETTINGS, **settings})

    def address(self):
        return f"made-{next(self.numbers)}@mail.test"

    def rows(self):
        yield from self.hashing()
        yield from self.table()

    def hashing(self):
        """Logins and creations per second, each beside the bare hashes that it needs."""
        limit = self.limit()
        with self.postern() as server:
            boxes = Boxes(server.port)
            for name, (secret, hashes) in SECRETS.items():
                made = {"address": self.address(), **secret}
                boxes.call("POST", "/api/accounts", {**made, "pow": boxes.proof()})
                yield from self.beside(
                    server, limit, hashes, "/api/token", f"POST /api/token, {name}",
                    [made] * self.posts)
                bodies = [
                    {"address": self.address(), **secret, "pow": boxes.proof()}
                    for _ in range(self.posts)
                ]
                yield from self.beside(
                    server, limit, hashes, "/api/accounts", f"POST /api/accounts, {name}", bodies)

    def limit(self):
        """A program that computes bare hashes."""
        program = self.fresh() / "argon2_limit"
        source = HERE / "argon2_limit.c"
        subprocess.run(["cc", "-O2", "-o", program, source, "-largon2", "-lpthread"], check=True)
        return program

    def beside(self, server, limit, hashes, path, what, bodies):
        """Measures both sides in short turns, so that other load on the machine affects both."""
        bare, taken, elapsed, spent = [], [], 0, server.cpu_seconds()
        turns = max(2, round(self.seconds))
        for turn in range(turns):
            said = subprocess.run(
                [limit, "1", *hashes], text=True, capture_output=True, check=True)
            bare.append(tuple(map(float, said.stdout.split())))
            part, seconds = at_once(server.port, bodies[turn::turns], path, self.connections)
            taken, elapsed = taken + part, elapsed + seconds
        spent = (server.cpu_seconds() - spent) / len(bodies)
        rate, cpu = map(statistics.mean, zip(*bare))
        beside = "libargon2 " + " and ".join(hashes) + ", all cores"
        yield Row(what, "/s", len(bodies) / elapsed, 0.9, rate, beside, more_is_better=True,
                  goal_is_ratio=True)
        yield Row("  its CPU", "ms", spent * 1e3, 1.11, cpu * 1e3, "the same hashes' CPU",
                  goal_is_ratio=True)
        if path == "/api/accounts":
            p99 = statistics.quantiles(taken, n=100)[98]
            yield Row(f"  its p99 at {self.connections} connections", "ms", p99 * 1e3, None,
                      self.connections / rate * 1e3, "connections ÷ libargon2's rate")

    def table(self):
        """CPU time of a request by the number of accounts, without hashing."""
        servers = {size: self.seeded(size) for size in self.sizes}
        figures = {size: [] for size in self.sizes}
        try:
            # In turns, so that other load on the machine affects all sizes.
            for _ in range(self.rounds):
                for size, (server, token) in servers.items():
                    figures[size].append(
                        (self.asking(server, "get", size, token),
                         self.asking(server, "login", size, token), self.creating(server)))
        finally:
            for server, _ in servers.values():
                server.__exit__()
        medians = {
            size: [statistics.median(column) for column in zip(*rounds)]
            for size, rounds in figures.items()
        }
        least = self.sizes[0]
        for number, what in enumerate(["GET account by API token, CPU", "login but its hash, CPU",
                                       "creation but its hash, CPU"]):
            yield Row(f"{what}, {least:,} accounts", "µs", medians[least][number])
            for size in self.sizes[1:]:
                yield Row(f"  {size:,} accounts", "µs", medians[size][number], 1.25,
                          medians[least][number], f"{least:,} accounts", goal_is_ratio=True)

    def seeded(self, size):
        """A server with that many accounts in its database, and the token of their owner."""
        data = self.fresh()
        with self.postern(data, **CHEAP) as server:
            boxes = Boxes(server.port)
            token, owner = boxes.register("bench@example.com")
            boxes.call("POST", "/api/accounts", {
                "address": self.address(), "auth_key": KEY, "pow": boxes.proof()})
        seed(data, size, owner)
        server = self.postern(data, **CHEAP)
        boxes = Boxes(server.port)
        boxes.call("GET", f"/api/accounts/{seeded_id(size - 1)}", token=token)
        boxes.call("POST", "/api/token", {"address": seeded_address(size - 1), "auth_key": KEY})
        return server, token

    def asking(self, server, mode, size, token):
        """CPU time per request for a random account, in microseconds."""
        lua = f'MODE, COUNT, TOKEN = "{mode}", {size}, "{token}"\n'
        before = server.cpu_seconds()
        requests = load(server.port, "/", self.seconds, connections=16, script=self.script,
                        lua=lua + (HERE / "seeded.lua").read_text())
        return (server.cpu_seconds() - before) / requests * 1e6

    def creating(self, server):
        boxes = Boxes(server.port)
        bodies = [
            {"address": self.address(), "auth_key": KEY, "pow": boxes.proof()}
            for _ in range(self.creations)
        ]
        before = server.cpu_seconds()
        at_once(server.port, bodies, "/api/accounts", self.connections)
        return (server.cpu_seconds() - before) / self.creations * 1e6
