"""Start, memory and size of the program, beside their limits and nginx."""

import contextlib
import socket
import time

from client import Client
from processes import Nginx
from table import Row

IDLE_CONNECTIONS = 5000


class Footprint:
    def __init__(self, run):
        self.run = run
        self.starts = 3 if run.quick else 9

    def rows(self):
        yield Row.within("start to first answer", "ms",
                         [self.started() for _ in range(self.starts)], 50)
        yield from self.memory()
        yield Row.within("binary, stripped", "MiB",
                         [self.run.binary.stat().st_size / 2**20], 22)

    def started(self):
        """Milliseconds from starting the process to the first 200, with a new database and new
        keys."""
        start = time.monotonic()
        with self.run.postern(profile="development") as server:
            server.ask_health()
            return (time.monotonic() - start) * 1e3

    def memory(self):
        # One client makes all the connections.
        many = {"SERVER_MAX_CONNECTIONS_PER_CLIENT": "10000", "LIMITS_ENABLED": "false"}
        with self.run.postern(profile="development", **many) as server:
            Client(server.port).post("/api/v1/challenge")
            time.sleep(2)
            yield Row.within("memory, idle", "MiB", [server.resident_mib()], 15)
            mine = self.kib_for_connection(server)
        with Nginx(self.run.fresh()) as nginx:
            peer = self.kib_for_connection(nginx)
        yield Row("memory of an idle connection", "KiB", [mine], [peer], "nginx")

    def kib_for_connection(self, server):
        before = server.memory_mib()
        with contextlib.ExitStack() as idle:
            for _ in range(IDLE_CONNECTIONS):
                idle.enter_context(self.idle_connection(server.port))
            return (server.memory_mib() - before) * 1024 / IDLE_CONNECTIONS

    def idle_connection(self, port):
        """A connection that has got one response and is kept open."""
        connection = socket.create_connection(("127.0.0.1", port), 10)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: bench\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        return connection
