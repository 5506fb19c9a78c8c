"""POST /api/v1/capability by each algorithm beside the bare signature, and what a full load of
signatures does to other requests.
"""

import contextlib
import dataclasses
import os
import re
import statistics
import subprocess
import threading

from agent import EASY
from client import Client
from processes import Postern, load
from table import Row

# What `openssl speed` calls each algorithm, and how its line begins. The next to last column is
# signatures per second.
BARE = {"RS256": ("rsa2048", "rsa +2048 bits"), "ES256": ("ecdsap256", "256 bits ecdsa"),
        "EdDSA": ("ed25519", "253 bits EdDSA")}
# The CPU time over that of the bare signature, which for the quick ones is little.
GOAL = {"RS256": 1.15}
TIMES_AS_MANY = 8
# Signed on the loop.
QUICK = ["ES256", "EdDSA"]
QUIET_CONNECTIONS = 4
LATENCY_GOAL = 1.25
# A handler that computes as long as a quick signature: a capability is verified, and its account
# is read.
READER = "GET /.well-known/jmap with RS256"


@dataclasses.dataclass
class Requests:
    """What many connections send without a pause."""

    server: Postern
    path: str
    token: str
    method: str

    @property
    def options(self):
        return {"method": self.method, "headers": {"Authorization": f"Bearer {self.token}"}}


class Capabilities:
    def __init__(self, run):
        self.run = run

    def rows(self):
        with contextlib.ExitStack() as stack:
            servers = {name: stack.enter_context(self.server(name)) for name in BARE}
            signing = {name: self.capabilities(server) for name, server in servers.items()}
            reading = self.reading(servers["RS256"])
            yield from self.cpu(signing, reading)
            # RS256 is signed in a pool, beside which the loops have what the kernel gives them.
            mine, beside = self.run.turns(
                lambda: self.quiet_beside(signing["RS256"]),
                lambda: self.quiet_beside_signatures(servers["RS256"]))
            yield self.latency("RS256", mine, beside, "openssl speed on all cores")
            # The others are signed on the loop, where any handler that computes as long delays
            # other requests.
            *quick, beside = self.run.turns(
                *(lambda name=name: self.quiet_beside(signing[name]) for name in QUICK),
                lambda: self.quiet_beside(reading))
            for name, mine in zip(QUICK, quick):
                yield self.latency(name, mine, beside, READER)

    def server(self, algorithm):
        return self.run.postern(**EASY, TOKENS_CAPABILITY_ALGORITHM=algorithm)

    @staticmethod
    def capabilities(server):
        session, _ = Client(server.port).sign_up("bench-capability")
        return Requests(server, "/api/v1/capability", session, "POST")

    @staticmethod
    def reading(server):
        session, _ = Client(server.port).sign_up("bench-reader")
        capability, _ = Client(server.port).post("/api/v1/capability", session)
        return Requests(server, "/.well-known/jmap", capability, "GET")

    def cpu(self, signing, reading):
        *mine, readers = self.run.turns(
            *(lambda requests=requests: self.measure(requests)
              for requests in [*signing.values(), reading]))
        bare = self.run.turns(*(lambda name=name: self.bare_micros(name) for name in BARE))
        usual = [rate for _, rate in mine[0]]
        for name, figures, beside in zip(BARE, mine, bare):
            micros, rates = zip(*figures)
            yield Row(f"POST /api/v1/capability, {name}, CPU", "µs", micros, beside,
                      f"openssl speed {BARE[name][0]}, sign", GOAL.get(name))
            if name in QUICK:
                yield Row("  capabilities", "/s", rates, usual, "with RS256", TIMES_AS_MANY,
                          more_is_better=True)
        yield Row(f"{READER}, CPU", "µs", [micros for micros, _ in readers],
                  [micros for micros, _ in mine[1]], "POST /api/v1/capability, ES256")

    def measure(self, requests):
        """CPU time of one request in microseconds, and requests per second."""
        before = requests.server.cpu_seconds()
        count = self.run.load(requests.server, requests.path, **requests.options).count
        return (requests.server.cpu_seconds() - before) / count * 1e6, count / self.run.seconds

    def bare_micros(self, name):
        """User time per signature while every core signs, as every core of the server does."""
        said = [signing.communicate()[0] for signing in self.signatures(name, self.run.seconds)]
        line = re.compile(rf"^ *{BARE[name][1]}.* ([\d.]+) +[\d.]+$", re.MULTILINE)
        return statistics.mean(1e6 / float(line.search(text)[1]) for text in said)

    @staticmethod
    def signatures(name, seconds):
        # Not with its option -multi, which counts elapsed time.
        command = ["openssl", "speed", "-seconds", str(seconds), BARE[name][0]]
        return [
            subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            for _ in range(os.cpu_count())
        ]

    @staticmethod
    def latency(name, mine, beside, what):
        return Row(f"GET /healthz beside capabilities, {name}, p99", "ms", mine, beside,
                   f"beside {what}", LATENCY_GOAL)

    def quiet_beside(self, requests):
        """GET /healthz of a few connections, while others send these requests."""
        # A second longer, so that it is there all the time.
        busy = threading.Thread(target=load, kwargs={
            "port": requests.server.port, "path": requests.path,
            "seconds": self.run.seconds + 1, "script": self.run.fresh() / "load.lua",
            **requests.options})
        busy.start()
        p99 = self.quiet(requests.server)
        busy.join()
        return p99

    def quiet_beside_signatures(self, server):
        others = self.signatures("RS256", self.run.seconds + 1)
        p99 = self.quiet(server)
        for other in others:
            other.communicate()
        return p99

    def quiet(self, server):
        return self.run.load(server, "/healthz", connections=QUIET_CONNECTIONS).p99
