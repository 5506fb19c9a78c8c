"""scrypt in lanes beside libscrypt: the kernels, sessions of the server, one session, the solver."""

import base64
import json
import subprocess
import time

from agent import EASY
from client import Client, log_in_all, proven_challenges
from machine import instruction_set
from run import HERE
from table import Row

SOURCES = HERE.parent.parent / "Sources/CScryptLanes"
LIBRARY = "libscrypt on all cores"


def challenge(number):
    """A challenge with the usual difficulty. Who solves it does not look at the signature."""
    claims = {"jti": f"bench-{number}", "difficulty": 6, "salt": "0b980734412c292d"}
    part = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{part}.e30"


class Scrypt:
    def __init__(self, run):
        self.run = run
        self.widest = instruction_set(run.binary, "scrypt")
        # Also the one that every x86-64 processor has.
        self.sets = [name for name in dict.fromkeys([self.widest, "sse2"]) if name != "libscrypt"]
        self.sessions = 24 if run.quick else 80
        self.challenges = 3 if run.quick else 8

    def rows(self):
        self.library = self.run.limit("scrypt_limit", "-lscrypt")
        yield from self.kernels()
        for name in self.sets:
            yield from self.server(name)
        yield from self.solver()

    def kernels(self):
        # The compiler of the program itself: another one makes other code of the vectors.
        kernel = self.run.limit(
            "lanes_limit", "-I", SOURCES / "include", SOURCES / "lanes.c", compiler="clang")
        for name in self.sets:
            many, lone, library = self.run.turns(
                lambda: self.rate(kernel(self.run.seconds, name)),
                lambda: self.rate(kernel(self.run.seconds, name, 1)),
                lambda: self.library(self.run.seconds)[0])
            yield Row(f"scrypt kernel, {name}", "/s", many, library, LIBRARY, goal(name),
                      more_is_better=True)
            yield Row("  one lane", "/s", lone, library, LIBRARY)

    @staticmethod
    def rate(said):
        passes, _, lanes = said
        return passes * lanes

    def server(self, name):
        """Logins with proofs that are solved already: many at once, and one after another."""
        with self.run.postern(**EASY, POW_SCRYPT=name) as server:
            client = Client(server.port)
            _, made = client.sign_up("bench-session")
            proven = iter(proven_challenges(
                server.port, (self.sessions + 5) * self.run.turn_count))

            def log_in():
                turn = [next(proven) for _ in range(self.sessions)]
                start = time.monotonic()
                # More than the lanes of all cores: those that wait fill the next passes.
                log_in_all(server.port, made["apiKey"], turn, 3 * self.run.connections)
                return self.sessions / (time.monotonic() - start)

            def log_in_alone():
                taken = []
                for token, body in [next(proven) for _ in range(5)]:
                    start = time.monotonic()
                    client.post("/api/v1/session", token, {**body, "apiKey": made["apiKey"]})
                    taken.append(time.monotonic() - start)
                return sorted(taken)[2] * 1e3

            many, lone, library = self.run.turns(
                log_in, log_in_alone, lambda: self.library(self.run.seconds))
        rates, milliseconds = zip(*library)
        yield Row(f"POST /api/v1/session, {name}", "/s", many, rates, LIBRARY, goal(name),
                  more_is_better=True)
        yield Row("  one alone", "ms", lone, milliseconds, "libscrypt, one hash", 0.6)

    def solver(self):
        challenges = [challenge(number) for number in range(self.challenges)]

        def solve(how):
            start = time.monotonic()
            for token in challenges:
                subprocess.run([self.run.binary, "solve", "--scrypt", how, token], check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return (time.monotonic() - start) / len(challenges)

        mine, library = self.run.turns(lambda: solve("auto"), lambda: solve("libscrypt"))
        yield Row(f"postern solve, difficulty 6, {self.widest}", "s", mine, library, "libscrypt")


def goal(name):
    return 2.5 if name == "sse2" else 4
