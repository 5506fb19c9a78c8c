"""The accounts API compared with bare libargon2, and its CPU time by the size of the table.

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
# The cheapest hash, so that the CPU time is that of everything else.
CHEAP = {"POSTERN_PASSWORDS_MEMORY_KIB": "8", "POSTERN_PASSWORDS_ITERATIONS": "1"}
# The hashes of the server: one over the auth_key; for a password, first the auth_key's derivation.
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
        """Logins and creations per second, each compared with the hashes that it needs."""
        limit = self.fresh() / "argon2_limit"
        source = HERE / "argon2_limit.c"
        subprocess.run(["cc", "-O2", "-o", limit, source, "-largon2", "-lpthread"], check=True)
        with self.postern() as ours:
            boxes = Boxes(ours.port)
            for name, (secret, hashes) in SECRETS.items():
                made = {"address": self.address(), **secret}
                boxes.call("POST", "/api/accounts", {**made, "pow": boxes.proof()})
                yield from self.beside(
                    ours, limit, hashes, "/api/token", f"POST /api/token, {name}",
                    [made] * self.posts)
                bodies = [
                    {"address": self.address(), **secret, "pow": boxes.proof()}
                    for _ in range(self.posts)
                ]
                yield from self.beside(
                    ours, limit, hashes, "/api/accounts", f"POST /api/accounts, {name}", bodies)

    def beside(self, ours, limit, hashes, path, what, bodies):
        """Measures both in turn, in short runs, so that other load on the machine affects both."""
        bare, taken, elapsed, spent = [], [], 0, ours.cpu_seconds()
        turns = max(2, round(self.seconds))
        for turn in range(turns):
            said = subprocess.run(
                [limit, "1", *hashes], text=True, capture_output=True, check=True)
            bare.append(tuple(map(float, said.stdout.split())))
            part, seconds = at_once(ours.port, bodies[turn::turns], path, self.connections)
            taken, elapsed = taken + part, elapsed + seconds
        spent = (ours.cpu_seconds() - spent) / len(bodies)
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
            # In turn, so that other load on the machine affects all sizes.
            for _ in range(self.rounds):
                for size, (ours, token) in servers.items():
                    figures[size].append(
                        (self.asking(ours, "get", size, token),
                         self.asking(ours, "login", size, token), self.creating(ours)))
        finally:
            for ours, _ in servers.values():
                ours.__exit__()
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
        """A server whose database has `size` accounts, and an API token of their owner."""
        data = self.fresh()
        with self.postern(data, **CHEAP) as ours:
            boxes = Boxes(ours.port)
            token, owner = boxes.register("bench@example.com")
            boxes.call("POST", "/api/accounts", {
                "address": self.address(), "auth_key": KEY, "pow": boxes.proof()})
        seed(data, size, owner)
        ours = self.postern(data, **CHEAP)
        boxes = Boxes(ours.port)
        boxes.call("GET", f"/api/accounts/{seeded_id(size - 1)}", token=token)
        boxes.call("POST", "/api/token", {"address": seeded_address(size - 1), "auth_key": KEY})
        return ours, token

    def asking(self, ours, mode, size, token):
        """CPU time of a request for a random account, in microseconds."""
        lua = f'MODE, COUNT, TOKEN = "{mode}", {size}, "{token}"\n'
        before = ours.cpu_seconds()
        requests = load(ours.port, "/", self.seconds, connections=16, script=self.script,
                        lua=lua + (HERE / "seeded.lua").read_text())
        return (ours.cpu_seconds() - before) / requests * 1e6

    def creating(self, ours):
        boxes = Boxes(ours.port)
        bodies = [
            {"address": self.address(), "auth_key": KEY, "pow": boxes.proof()}
            for _ in range(self.creations)
        ]
        before = ours.cpu_seconds()
        at_once(ours.port, bodies, "/api/accounts", self.connections)
        return (ours.cpu_seconds() - before) / self.creations * 1e6
