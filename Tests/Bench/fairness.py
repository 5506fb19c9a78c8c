"""A quiet client beside clients that flood: the share of the work that each gets.

Every client is an IPv6 /64 of a site of its own; the server trusts the measurement as their proxy.
A flooding client logs in to its mailbox at the outer limit of its rate (20 requests a second, of
which 8 are let through), over as many connections as that takes. The quiet client sends one request
at a time, below its limit.
"""

import asyncio
import contextlib
import json
import multiprocessing
import statistics
import time

from client import Client
from mailboxes import KEY, Boxes
from processes import Postern
from table import Row

SETTINGS = {
    "POSTERN_SERVER_TRUSTED_PROXIES": "127.0.0.1", "POSTERN_LIMITS_CREATION_INTERVAL": "1ms",
    "POSTERN_POW_AGENT_DIFFICULTY": "1", "POSTERN_POW_AGENT_MAX_DIFFICULTY": "1",
    "POSTERN_POW_ACCOUNTS_DIFFICULTY": "1",
}
QUIET = "2001:db8:ffff::1"
FLOODS = (1, 14)
# Requests a second. Below the limit of 8; a session takes two requests.
LOGINS, SESSIONS = 7, 3.5
FLOOD = 20


def named(client, address):
    """`client` with its requests sent for `address`."""
    request = client.connection.request
    client.connection.request = lambda method, path, body, headers: request(
        method, path, body, {**headers, "X-Forwarded-For": address})
    return client


class FloodingClient:
    """Sends at its rate whether or not there are responses. In a process of its own."""

    def __init__(self, port, number, address):
        body = json.dumps({"address": address, "auth_key": KEY})
        self.port, self.idle = port, []
        self.request = (
            "POST /api/token HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
            f"X-Forwarded-For: 2001:db8:{number + 1:x}::1\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}").encode()

    async def run(self):
        waiting, following = set(), time.monotonic()
        while True:
            task = asyncio.create_task(self.ask())
            waiting.add(task)
            task.add_done_callback(waiting.discard)
            following += 1 / FLOOD
            await asyncio.sleep(max(0, following - time.monotonic()))

    async def ask(self):
        reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection(
            "127.0.0.1", self.port)
        writer.write(self.request)
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
        await reader.readexactly(int(fields[b"content-length"]))
        self.idle.append((reader, writer))


def flood(port, addresses):
    async def all_of_them():
        clients = [FloodingClient(port, *each) for each in enumerate(addresses)]
        await asyncio.gather(*(client.run() for client in clients))

    asyncio.run(all_of_them())


@contextlib.contextmanager
def flooding(port, addresses):
    if not addresses:
        yield
        return
    process = multiprocessing.Process(target=flood, args=(port, addresses), daemon=True)
    process.start()
    # Until the queue is as full as it gets.
    time.sleep(2)
    assert process.is_alive(), "the flood ended"
    try:
        yield
        assert process.is_alive(), "the flood ended"
    finally:
        process.terminate()
        process.join()


class Fairness:
    def __init__(self, binary, fresh, quick):
        self.binary, self.fresh = binary, fresh
        self.requests = 30 if quick else 100

    def rows(self):
        with Postern(self.binary, self.fresh(), "development", SETTINGS) as server:
            self.port = server.port
            addresses = [self.mailbox(number) for number in range(max(FLOODS))]
            agent = named(Client(self.port), QUIET)
            _, made = agent.sign_up("bench-fairness")
            figures = {
                count: (self.logins(addresses[:count]),
                        self.sessions(addresses[:count], made["apiKey"]))
                for count in (0, *FLOODS)
            }
        for kind, path in enumerate(["/api/token", "/api/v1/session"]):
            for count in FLOODS:
                beside = f"beside {count} flooding client{'s' * (count > 1)}"
                for name, mine, alone in zip(
                        ("p50", "p99"), figures[count][kind], figures[0][kind]):
                    # A few hashes, beside one. Fourteen also use the cores to send.
                    yield Row(f"POST {path}, {name}, {beside}", "ms", mine * 1e3,
                              4 if count == 1 else None, alone * 1e3, "alone",
                              goal_is_ratio=True)

    def mailbox(self, number):
        boxes = named(Boxes(self.port), f"2001:db8:{number + 1:x}::1")
        address = f"bench-{number}@mail.test"
        boxes.call("POST", "/api/accounts", {
            "address": address, "auth_key": KEY, "pow": boxes.proof()})
        return address

    def logins(self, floods):
        boxes = named(Boxes(self.port), QUIET)
        body = {"address": "bench-0@mail.test", "auth_key": KEY}
        with flooding(self.port, floods):
            return self.latencies(LOGINS, lambda: boxes.call("POST", "/api/token", body))

    def sessions(self, floods, key):
        agent = named(Client(self.port), QUIET)
        # For other clients, because the challenges of one client are limited.
        proven = iter([
            named(Client(self.port), f"2001:db8:fffe:{number:x}::1").proven_challenge()
            for number in range(self.requests)
        ])

        def log_in():
            token, body = next(proven)
            agent.post("/api/v1/session", token, {**body, "apiKey": key})

        with flooding(self.port, floods):
            return self.latencies(SESSIONS, log_in)

    def latencies(self, rate, ask):
        """The median and the 99th percentile of requests that are sent at this rate."""
        taken, following = [], time.monotonic()
        for _ in range(self.requests):
            start = time.monotonic()
            ask()
            taken.append(time.monotonic() - start)
            following += 1 / rate
            time.sleep(max(0, following - time.monotonic()))
        cuts = statistics.quantiles(taken, n=100, method="inclusive")
        return cuts[49], cuts[98]
