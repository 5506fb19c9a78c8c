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
from table import Row

SETTINGS = {
    "SERVER_TRUSTED_PROXIES": "127.0.0.1", "LIMITS_CREATION_INTERVAL": "1ms",
    "POW_AGENT_DIFFICULTY": "1", "POW_AGENT_MAX_DIFFICULTY": "1",
    "POW_ACCOUNTS_DIFFICULTY": "1",
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
    def __init__(self, run):
        self.run = run
        # Of each kind in each turn.
        self.requests = 8 if run.quick else 12

    def rows(self):
        with self.run.postern(profile="development", **SETTINGS) as server:
            self.port = server.port
            self.addresses = [self.mailbox(number) for number in range(max(FLOODS))]
            self.boxes, self.agent = named(Boxes(self.port), QUIET), named(Client(self.port), QUIET)
            _, made = self.agent.sign_up("bench-fairness")
            self.key = made["apiKey"]
            alone, *flooded = self.run.turns(
                *(lambda count=count: self.latencies(count) for count in (0, *FLOODS)))
        for kind, path in enumerate(["/api/token", "/api/v1/session"]):
            for count, figures in zip(FLOODS, flooded):
                # A few hashes, beside one. Fourteen also use the cores to send.
                goal = 4 if count == 1 else None
                for name, summary in {"p50": medians, "p99": p99}.items():
                    yield Row(
                        f"POST {path}, {name}, {count} flooding client{'s' * (count > 1)}", "ms",
                        summary(turn[kind] for turn in figures),
                        summary(turn[kind] for turn in alone), "without them", goal)

    def mailbox(self, number):
        boxes = named(Boxes(self.port), f"2001:db8:{number + 1:x}::1")
        address = f"bench-{number}@mail.test"
        boxes.call("POST", "/api/accounts", {
            "address": address, "auth_key": KEY, "pow": boxes.proof()})
        return address

    def latencies(self, floods):
        """The milliseconds of logins and of sessions, beside so many flooding clients."""
        body = {"address": "bench-0@mail.test", "auth_key": KEY}
        # For other clients, because the challenges of one client are limited.
        proven = iter([
            named(Client(self.port), f"2001:db8:fffe:{number:x}::1").proven_challenge()
            for number in range(self.requests)
        ])

        def log_in():
            token, solution = next(proven)
            self.agent.post("/api/v1/session", token, {**solution, "apiKey": self.key})

        with flooding(self.port, self.addresses[:floods]):
            return (self.at_rate(LOGINS, lambda: self.boxes.call("POST", "/api/token", body)),
                    self.at_rate(SESSIONS, log_in))

    def at_rate(self, rate, ask):
        taken, following = [], time.monotonic()
        for _ in range(self.requests):
            start = time.monotonic()
            ask()
            taken.append((time.monotonic() - start) * 1e3)
            following += 1 / rate
            time.sleep(max(0, following - time.monotonic()))
        return taken


def medians(turns):
    return [statistics.median(taken) for taken in turns]


def p99(turns):
    """Of all turns together, because one has few requests."""
    every = [milliseconds for taken in turns for milliseconds in taken]
    return [statistics.quantiles(every, n=100, method="inclusive")[98]]
