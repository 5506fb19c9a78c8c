"""Creations but for their hash, beside a bare SQLite program that inserts the same rows.

Creations by owners with API tokens: one write each. Those with a proof of work are two writes,
because the challenge is spent first.
"""

import itertools
import time

from accounts import CHEAP, SETTINGS
from mailboxes import owners_requests, seed_owners
from table import Row

CONNECTIONS = (1, 8, 64)


class Creations:
    def __init__(self, run):
        self.run = run
        self.numbers = itertools.count()

    def rows(self):
        data, bare_data = self.seeded(), self.seeded()
        program = self.run.limit("sqlite_limit", "-lsqlite3")

        def bare(in_each):
            return program(bare_data / "postern.db", self.run.seconds, in_each)

        with self.run.postern(data, **SETTINGS, **CHEAP, USERS_MAX_ACCOUNTS="1000000") as server:
            for connections in CONNECTIONS:
                mine, together, alone = self.run.turns(
                    lambda: self.create(server, connections), lambda: bare(connections),
                    lambda: bare(1))
                (rate, cpu), (most, least_cpu) = zip(*mine), zip(*together)
                what = f"creations but their hash, {connections} connection"
                yield Row(what + "s" * (connections > 1), "/s", rate, most,
                          f"bare SQLite, {connections} in each transaction", 0.9,
                          more_is_better=True)
                if connections > 1:
                    yield Row("", "/s", rate, [each for each, _ in alone],
                              "bare SQLite, 1 in each transaction", more_is_better=True)
                yield Row("  their CPU", "ms", cpu, least_cpu, "bare SQLite's CPU")

    def seeded(self):
        """The directory of a server that was stopped, with owners in its database."""
        data = self.run.fresh()
        with self.run.postern(data, **SETTINGS) as server:
            server.ask_health()
        seed_owners(data)
        return data

    def create(self, server, connections):
        """Creations per second, and CPU milliseconds of one."""
        before, start = server.cpu_seconds(), time.monotonic()
        count = self.run.load(
            server, "/", connections=connections,
            lua=owners_requests(f"turn-{next(self.numbers)}")).count
        elapsed = time.monotonic() - start
        return count / elapsed, (server.cpu_seconds() - before) / count * 1e3
