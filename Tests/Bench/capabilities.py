"""POST /api/v1/capability by each algorithm beside the bare signature, and what a full load of
signatures does to other requests.
"""

import contextlib
import os
import re
import statistics
import subprocess
import threading

from agent import EASY
from client import Client
from processes import load
from table import Row

# What `openssl speed` calls each algorithm, and how its line begins. The next to last column is
# signatures per second.
BARE = {"RS256": ("rsa2048", "rsa +2048 bits"), "ES256": ("ecdsap256", "256 bits ecdsa"),
        "EdDSA": ("ed25519", "253 bits EdDSA")}
# The CPU time over that of the bare signature, which for the quick ones is little.
GOAL = {"RS256": 1.15}
TIMES_AS_MANY = 8
QUIET_CONNECTIONS = 4
LATENCY_GOAL = 1.25


class Capabilities:
    def __init__(self, run):
        self.run = run

    def rows(self):
        with contextlib.ExitStack() as stack:
            servers = {name: stack.enter_context(self.server(name)) for name in BARE}
            mine = self.run.turns(
                *(lambda server=server: self.signing(server) for server in servers.values()))
            bare = self.run.turns(*(lambda name=name: self.bare_micros(name) for name in BARE))
            usual = [rate for _, rate in mine[0]]
            for name, figures, beside in zip(BARE, mine, bare):
                micros, rates = zip(*figures)
                yield Row(f"POST /api/v1/capability, {name}, CPU", "µs", micros, beside,
                          f"openssl speed {BARE[name][0]}, sign", GOAL.get(name))
                if name != "RS256":
                    yield Row("  capabilities", "/s", rates, usual, "with RS256", TIMES_AS_MANY,
                              more_is_better=True)
            for name, server in servers.items():
                yield self.latency(name, server)

    def server(self, algorithm):
        server = self.run.postern(**EASY, TOKENS_CAPABILITY_ALGORITHM=algorithm)
        session, _ = Client(server.port).sign_up("bench-capability")
        server.options = {"method": "POST", "headers": {"Authorization": f"Bearer {session}"}}
        return server

    def signing(self, server):
        """CPU time of one capability in microseconds, and capabilities per second."""
        before = server.cpu_seconds()
        count = self.run.load(server, "/api/v1/capability", **server.options).count
        return (server.cpu_seconds() - before) / count * 1e6, count / self.run.seconds

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

    def latency(self, name, server):
        """GET /healthz of a few connections, while every core signs for others: capabilities of the
        same server, or signatures of other processes, which the kernel keeps apart."""
        mine, beside = self.run.turns(
            lambda: self.quiet_beside_capabilities(server),
            lambda: self.quiet_beside_signatures(server, name))
        return Row(f"GET /healthz beside capabilities, {name}, p99", "ms", mine, beside,
                   "beside openssl speed on all cores", LATENCY_GOAL)

    def quiet_beside_capabilities(self, server):
        # A second longer, so that it is there all the time.
        busy = threading.Thread(target=load, kwargs={
            "port": server.port, "path": "/api/v1/capability", "seconds": self.run.seconds + 1,
            "script": self.run.fresh() / "load.lua", **server.options})
        busy.start()
        p99 = self.quiet(server)
        busy.join()
        return p99

    def quiet_beside_signatures(self, server, name):
        others = self.signatures(name, self.run.seconds + 1)
        p99 = self.quiet(server)
        for other in others:
            other.communicate()
        return p99

    def quiet(self, server):
        return self.run.load(server, "/healthz", connections=QUIET_CONNECTIONS).p99
