"""What mail stores and proxies ask: on the services listener beside nginx and bare hashes, and by
socketmap.
"""

import concurrent.futures
import os
import socket
import time
import types

from accounts import SECRETS, SETTINGS, beside_hashes
from mailboxes import Boxes
from processes import Nginx, free_port
from table import Row

# Look-ups of a connection that are sent together. The server answers one after the other.
PIPELINED = 100
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def netstring(text):
    return f"{len(text)}:{text},".encode()


class Services:
    def __init__(self, run):
        self.run = run

    def rows(self):
        services, socketmap = free_port(), free_port()
        with self.run.postern(
                **SETTINGS, SERVICES_LISTEN=f"127.0.0.1:{services}",
                SERVICES_SOCKETMAP=f"127.0.0.1:{socketmap}") as server:
            boxes = Boxes(server.port)
            secret, hashes = SECRETS["auth_key"]
            made = boxes.call("POST", "/api/accounts", {
                "address": "bench@mail.test", **secret, "pow": boxes.proof()})
            there = types.SimpleNamespace(port=services, cpu_seconds=server.cpu_seconds)
            yield from self.cheap(there, socketmap, made)
            yield from beside_hashes(
                self.run, there, hashes, "/check-password", "POST /check-password, auth_key",
                lambda: {"user": made["address"], **secret})

    def cheap(self, server, socketmap, made):
        """An Email JWT, whose account is looked up for each request, and look-ups of an address."""
        token = made["token"]
        with Nginx(self.run.fresh()) as nginx:
            *figures, bare = self.run.turns(
                lambda: self.run.cpu_micros(
                    server, "/forward-auth", headers={"Authorization": f"Bearer {token}"}),
                lambda: self.run.cpu_micros(
                    server, "/introspect", method="POST", headers=FORM,
                    lua=f'wrk.body = "token={token}"'),
                lambda: self.look_up(server, socketmap, made["address"]),
                lambda: self.run.cpu_micros(nginx, "/healthz"))
        for what, micros in zip(
                ["GET /forward-auth", "POST /introspect", "look-up by socketmap"], figures):
            yield Row(f"{what}, CPU", "µs", micros, bare, "nginx return 200, no access log")

    def look_up(self, server, port, address):
        """CPU time of a look-up in the map `mailbox`, over one connection for each core."""
        question = netstring(f"mailbox {address}") * PIPELINED
        answer = netstring(f"OK {address}") * PIPELINED
        before, end = server.cpu_seconds(), time.monotonic() + self.run.seconds

        def ask(_):
            count = 0
            with socket.create_connection(("127.0.0.1", port), 10) as connection:
                while time.monotonic() < end:
                    connection.sendall(question)
                    received = b""
                    while len(received) < len(answer):
                        piece = connection.recv(65536)
                        if not piece:
                            raise SystemExit("the socketmap closed a connection")
                        received += piece
                    if received != answer:
                        raise SystemExit(f"the socketmap answered {received!r}")
                    count += PIPELINED
            return count

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            count = sum(pool.map(ask, range(os.cpu_count())))
        return (server.cpu_seconds() - before) / count * 1e6
