"""The agent API beside nginx, bare signatures and bare scrypt hashes."""

import os
import re
import statistics
import subprocess
import time

from client import Client, log_in_all, proven_challenges
from machine import instruction_set
from processes import Nginx
from table import Row

# The difficulty does not rise, because the server is measured and not the solving of proofs.
EASY = {"POW_AGENT_DIFFICULTY": "1", "POW_AGENT_MAX_DIFFICULTY": "1"}

# Sessions per second, as a multiple of libscrypt's rate.
SCRYPT_GOALS = {"avx512": 4, "avx2": 4, "sse2": 2.5, "libscrypt": 0.95}


class Agent:
    def __init__(self, run):
        self.run = run
        self.sessions = 120 if run.quick else 500

    def rows(self):
        yield from self.constant()
        yield from self.capability()
        yield from self.session()

    def constant(self):
        """Requests without database and signature key, beside nginx."""
        with self.run.postern(**EASY) as server, Nginx(self.run.fresh()) as nginx:
            health, challenge, bare, logged = self.run.turns(
                lambda: self.run.cpu_micros(server, "/healthz"),
                lambda: self.run.cpu_micros(server, "/api/v1/challenge", method="POST"),
                lambda: self.run.cpu_micros(nginx, "/healthz"),
                lambda: self.run.cpu_micros(nginx, "/logged"))
        constant = "nginx return 200, no access log"
        yield Row("GET /healthz, CPU", "µs", health, bare, constant, 1.8)
        yield Row("", "µs", health, logged, "nginx return 200, access log", 1.8)
        yield Row("POST /api/v1/challenge, CPU", "µs", challenge, bare, constant, 3.2)

    def capability(self):
        with self.run.postern(**EASY) as server:
            session, _ = Client(server.port).sign_up("bench-capability")
            headers = {"Authorization": f"Bearer {session}"}
            mine, bare = self.run.turns(
                lambda: self.run.cpu_micros(
                    server, "/api/v1/capability", method="POST", headers=headers),
                self.signature_micros)
        yield Row("POST /api/v1/capability, CPU", "µs", mine, bare, "openssl speed rsa2048 sign",
                  1.15)

    def signature_micros(self):
        """User time per signature while every core signs, as every core of the server does."""
        # Not with its option -multi, which counts elapsed time.
        command = ["openssl", "speed", "-seconds", str(self.run.seconds), "rsa2048"]
        runs = [
            subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            for _ in range(os.cpu_count())
        ]
        said = [run.communicate()[0] for run in runs]
        return statistics.mean(
            float(re.search(r"rsa\s+2048 bits\s+([\d.]+)s", text)[1]) * 1e6 for text in said)

    def session(self):
        """Logins, each with a proof that is solved already."""
        hashes = self.run.limit("scrypt_limit", "-lscrypt")
        with self.run.postern(**EASY) as server:
            _, made = Client(server.port).sign_up("bench-session")
            proven = iter(proven_challenges(server.port, self.sessions))
            count = self.sessions // self.run.turn_count

            def log_in():
                turn = [next(proven) for _ in range(count)]
                cpu, start = server.cpu_seconds(), time.monotonic()
                log_in_all(server.port, made["apiKey"], turn, self.run.connections)
                elapsed, cpu = time.monotonic() - start, server.cpu_seconds() - cpu
                return count / elapsed, cpu / count * 1e3

            mine, bare = self.run.turns(log_in, lambda: hashes(self.run.seconds))
        (rate, cpu), (bare_rate, bare_cpu) = zip(*mine), zip(*bare)
        kind = instruction_set(self.run.binary)
        yield Row(f"POST /api/v1/session, {kind}", "/s", rate, bare_rate, "libscrypt on all cores",
                  SCRYPT_GOALS[kind], more_is_better=True)
        yield Row("  its CPU", "ms", cpu, bare_cpu, "libscrypt, one hash",
                  1.05 / SCRYPT_GOALS[kind])
