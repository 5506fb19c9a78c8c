"""What mail stores and proxies ask: on the services listener beside nginx and bare hashes, and by
socketmap.
"""

import concurrent.futures
import socket
import statistics
import time
import types

from accounts import SECRETS, Accounts
from mailboxes import Boxes
from processes import Nginx, load
from table import Row

# Look-ups of a connection that are sent together. The server answers one after the other.
PIPELINED = 100
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def netstring(text):
    return f"{len(text)}:{text},".encode()


class Services:
    def __init__(self, binary, fresh, script, rounds, seconds, quick):
        self.accounts = Accounts(binary, fresh, script, rounds, seconds, quick)
        self.fresh, self.script, self.rounds, self.seconds = fresh, script, rounds, seconds

    def rows(self):
        services, socketmap = free_port(), free_port()
        with self.accounts.postern(
                POSTERN_SERVICES_LISTEN=f"127.0.0.1:{services}",
                POSTERN_SERVICES_SOCKETMAP=f"127.0.0.1:{socketmap}") as server:
            boxes = Boxes(server.port)
            secret, hashes = SECRETS["auth_key"]
            made = boxes.call("POST", "/api/accounts", {
                "address": "bench@mail.test", **secret, "pow": boxes.proof()})
            there = types.SimpleNamespace(port=services, cpu_seconds=server.cpu_seconds)
            yield from self.tokens(there, made["token"])
            yield from self.accounts.beside(
                there, self.accounts.limit(), hashes, "/check-password",
                "POST /check-password, auth_key",
                [{"user": made["address"], **secret}] * self.accounts.posts)
            yield from self.look_ups(server, socketmap, made["address"])

    def tokens(self, server, token):
        """An Email JWT, whose account is looked up for each request."""
        kinds = {
            "GET /forward-auth": {"headers": {"Authorization": f"Bearer {token}"}},
            "POST /introspect": {
                "method": "POST", "headers": FORM, "lua": f'wrk.body = "token={token}"'},
        }
        turns = []
        with Nginx(self.fresh()) as nginx:
            for _ in range(self.rounds):
                turns.append([
                    self.cpu_micros(server, what.split()[1], **options)
                    for what, options in kinds.items()] + [self.cpu_micros(nginx, "/healthz")])
        *mine, bare = map(statistics.median, zip(*turns))
        for what, micros in zip(kinds, mine):
            yield Row(f"{what}, CPU", "µs", micros, None, bare, "nginx return 200, no access log")

    def cpu_micros(self, server, path, **options):
        before = server.cpu_seconds()
        count = load(server.port, path, self.seconds, script=self.script, **options)
        return (server.cpu_seconds() - before) / count * 1e6

    def look_ups(self, server, port, address):
        """The map `mailbox`, over one connection for each core."""
        question = netstring(f"mailbox {address}") * PIPELINED
        answer = netstring(f"OK {address}") * PIPELINED

        def ask(_):
            count = 0
            with socket.create_connection(("127.0.0.1", port), 10) as connection:
                while time.monotonic() < until:
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

        rates, micros = [], []
        connections = self.accounts.connections // 4
        for _ in range(self.rounds):
            before, start = server.cpu_seconds(), time.monotonic()
            until = start + self.seconds
            with concurrent.futures.ThreadPoolExecutor(connections) as pool:
                count = sum(pool.map(ask, range(connections)))
            rates.append(count / (time.monotonic() - start))
            micros.append((server.cpu_seconds() - before) / count * 1e6)
        yield Row("look-ups by socketmap", "/s", statistics.median(rates))
        yield Row("  their CPU", "µs", statistics.median(micros))
