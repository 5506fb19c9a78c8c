#!/usr/bin/env python3
"""Compares Postern with nginx, bare hash functions and pgbench, on this machine. For `make bench`.

CPU per request is the user and system time of the server process, divided by the requests that it
answered. The load tool runs on the same cores and does not count. Figures are medians of rounds.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import resource
import socket
import statistics
import subprocess
import tempfile
import time

from accounts import Accounts
from client import Client, log_in_all, proven_challenges
from fairness import Fairness
from hashlogins import HashLogins
from postgres import Postgres
from processes import Nginx, Postern, load
from services import Services
from table import Row, print_table

HERE = pathlib.Path(__file__).parent
# The difficulty does not rise, because the server is measured and not the solving of proofs.
EASY = {"POSTERN_POW_AGENT_DIFFICULTY": "1", "POSTERN_POW_AGENT_MAX_DIFFICULTY": "1"}


class Bench:
    def __init__(self, binary, quick):
        self.binary = binary
        self.quick = quick
        self.rounds = 1 if quick else 3
        self.seconds = 2 if quick else 4
        self.sessions = 60 if quick else 240
        self.starts = 3 if quick else 9
        self.idle_connections = 5000
        self.stack = contextlib.ExitStack()
        self.directory = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.script = self.directory / "load.lua"

    def fresh(self):
        return pathlib.Path(tempfile.mkdtemp(dir=self.directory))

    def postern(self, **options):
        return Postern(self.binary, self.fresh(), environment=EASY, **options)

    def cpu_micros(self, server, path, **options):
        """CPU time per answered request of one round, with 64 connections."""
        before = server.cpu_seconds()
        requests = load(server.port, path, self.seconds, script=self.script, **options)
        return (server.cpu_seconds() - before) / requests * 1e6

    def constant(self):
        """GET /healthz, as configured by default, beside nginx without and with its access log."""
        with self.postern() as server, Nginx(self.fresh()) as nginx:
            turns = [
                (self.cpu_micros(server, "/healthz"), self.cpu_micros(nginx, "/healthz"),
                 self.cpu_micros(nginx, "/logged")) for _ in range(self.rounds)
            ]
        mine, bare, logged = map(statistics.median, zip(*turns))
        yield Row("GET /healthz, CPU", "µs", mine, 14, bare, "nginx return 200, no access log")
        yield Row("", "µs", mine, 14, logged, "nginx return 200, access log")

    def challenge(self):
        with self.postern() as server:
            rounds = [
                self.cpu_micros(server, "/api/v1/challenge", method="POST")
                for _ in range(self.rounds)
            ]
        yield Row("POST /api/v1/challenge, CPU", "µs", statistics.median(rounds), 20)

    def capability(self):
        with self.postern() as server:
            session, _ = Client(server.port).sign_up("bench-capability")
            headers = {"Authorization": f"Bearer {session}"}
            turns = [
                (self.cpu_micros(server, "/api/v1/capability", method="POST", headers=headers),
                 self.signature_micros()) for _ in range(self.rounds)
            ]
        mine, bare = map(statistics.median, zip(*turns))
        yield Row("POST /api/v1/capability, CPU", "µs", mine, 1.15, bare,
                  "openssl speed rsa2048 sign", goal_is_ratio=True)

    def signature_micros(self):
        """User time per signature while every core signs, as every core of the server does."""
        # Not with its option -multi, which counts elapsed time.
        command = ["openssl", "speed", "-seconds", str(self.seconds), "rsa2048"]
        runs = [
            subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            for _ in range(os.cpu_count())
        ]
        said = [run.communicate()[0] for run in runs]
        return statistics.mean(
            float(re.search(r"rsa\s+2048 bits\s+([\d.]+)s", text)[1]) * 1e6 for text in said)

    def sessions_per_second(self):
        """Logins with proofs that are solved already, between two runs of the bare hash."""
        limit = self.directory / "scrypt_limit"
        source = HERE / "scrypt_limit.c"
        subprocess.run(["cc", "-O2", "-o", limit, source, "-lscrypt", "-lpthread"], check=True)
        with self.postern() as server:
            _, made = Client(server.port).sign_up("bench-session")
            proven = proven_challenges(server.port, self.sessions)
            first = self.hashes(limit)
            cpu, start = server.cpu_seconds(), time.monotonic()
            log_in_all(server.port, made["apiKey"], proven, connections=4 * os.cpu_count())
            elapsed, cpu = time.monotonic() - start, server.cpu_seconds() - cpu
            second = self.hashes(limit)
        rate, seconds = map(statistics.mean, zip(first, second))
        yield Row("POST /api/v1/session", "/s", self.sessions / elapsed, 0.95, rate,
                  "libscrypt on all cores", more_is_better=True, goal_is_ratio=True)
        yield Row("POST /api/v1/session, CPU", "ms", cpu / self.sessions * 1e3, 1.05,
                  seconds * 1e3, "libscrypt, one hash", goal_is_ratio=True)

    def hashes(self, limit):
        result = subprocess.run(
            [limit, str(self.seconds)], text=True, capture_output=True, check=True)
        return tuple(map(float, result.stdout.split()))

    def accounts(self):
        return Accounts(
            self.binary, self.fresh, self.script, self.rounds, self.seconds, self.quick).rows()

    def hash_logins(self):
        return HashLogins(self.binary, self.fresh, self.seconds, self.quick).rows()

    def fairness(self):
        return Fairness(self.binary, self.fresh, self.quick).rows()

    def services(self):
        return Services(
            self.binary, self.fresh, self.script, self.rounds, self.seconds, self.quick).rows()

    def postgres(self):
        return Postgres(
            self.binary, self.fresh, self.script, self.rounds, self.seconds, self.quick).rows()

    def start(self):
        """The time from starting the process to the first 200, with a new database and new keys."""
        times = []
        for _ in range(self.starts):
            data, start = self.fresh(), time.monotonic()
            with Postern(self.binary, data, profile="development") as server:
                server.ask_health()
                times.append(time.monotonic() - start)
        yield Row("start to first answer", "ms", statistics.median(times) * 1e3, 50)

    def memory(self):
        # One client makes all the connections.
        many = {"POSTERN_SERVER_MAX_CONNECTIONS_PER_CLIENT": "10000",
                "POSTERN_LIMITS_ENABLED": "false"}
        with Postern(self.binary, self.fresh(), "development", many) as server:
            Client(server.port).post("/api/v1/challenge")
            time.sleep(2)
            yield Row("memory, idle", "MiB", server.resident_mib(), 15)
            with contextlib.ExitStack() as idle:
                for _ in range(self.idle_connections):
                    idle.enter_context(self.idle_connection(server.port))
                resident = server.resident_mib()
            yield Row(f"memory, {self.idle_connections:,} idle connections", "MiB", resident)

    def idle_connection(self, port):
        """A connection that has got one response and is kept open."""
        connection = socket.create_connection(("127.0.0.1", port), 10)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: bench\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        return connection

    def size(self):
        yield Row("binary, stripped", "MiB", self.binary.stat().st_size / 2**20, 20)

    def rows(self):
        with self.stack:
            for part in [self.constant, self.challenge, self.capability, self.sessions_per_second,
                         self.accounts, self.hash_logins, self.services, self.fairness,
                         self.postgres, self.start, self.memory, self.size]:
                yield from part()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, required=True, help="release, stripped")
    parser.add_argument("--quick", action="store_true", help="one short round of each")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows here too")
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    busy = os.getloadavg()[0]
    rows = list(Bench(options.binary.resolve(), options.quick).rows())
    print(f"{os.cpu_count()} cores, 64 connections over loopback, load tool on the same cores;")
    print("postern as configured by default, log to /dev/null; nginx with one worker per core.")
    print("Accounts: limits.enabled = false; by table size, also the cheapest password hash.")
    if busy > os.cpu_count() / 4:
        print(f"The machine was busy before the run (load {busy:.1f}): the figures are too high.")
    print()
    print_table(rows)
    if options.json:
        records = [dataclasses.asdict(row) | {"ratio": row.ratio, "ok": row.ok} for row in rows]
        options.json.write_text(json.dumps(records, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
