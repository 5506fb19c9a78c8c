"""Events of users' webhooks: how many a second a receiver with TLS gets, and other requests beside
receivers that hang.

A mail store reports the messages, as it does where `mail.store` is `jmap`. The database is a file, or
PostgreSQL on the same cores.
"""

import contextlib
import itertools
import re
import time

from accounts import CHEAP, SETTINGS
from hashlogins import HOSTS, Hosts, host, latencies, silence
from mailboxes import KEY, Boxes, at_once
from postgres import Cluster
from processes import free_port
from table import Row

USERS = 250
# Messages that one request reports, and the connections of the mail store.
REPORTED, REPORTERS = 100, 4
GOAL = 1000
# How long an attempt may take, in seconds, and how long each turn beside receivers that hang takes.
TIMEOUT = 3


class Webhooks:
    def __init__(self, run):
        self.run = run
        self.events = 2000 if run.quick else 10_000

    def rows(self):
        with Hosts(self.run.fresh(), "return 204;") as receiver:
            with self.postern(receiver) as server:
                yield from self.rate(server, receiver, f"events of {USERS} webhooks")
                with silence(free := free_port(host(0))):
                    yield from self.beside(server, free)
            with self.postern(receiver, STORAGE_URL=Cluster().database()) as server:
                yield from self.rate(server, receiver, "  on PostgreSQL", has_goal=False)

    @contextlib.contextmanager
    def postern(self, receiver, **settings):
        self.services = free_port()
        with self.run.postern(
                **SETTINGS, **CHEAP, SERVICES_LISTEN=f"127.0.0.1:{self.services}",
                WEBHOOKS_CA_FILE=str(receiver.certificate), WEBHOOKS_TIMEOUT=f"{TIMEOUT}s",
                **settings) as server:
            self.boxes = Boxes(server.port)
            self.users = [self.user(number) for number in range(USERS)]
            yield server

    def user(self, number):
        """The token of a new user, and the address of its account."""
        token, _ = self.boxes.register(f"hooked-{number}@example.com")
        address = f"hooked-{number}@mail.test"
        self.boxes.call("POST", "/api/accounts", {"address": address, "auth_key": KEY}, token)
        return token, address

    def hook(self, url_of):
        """Makes a webhook for each user with a URL. Returns what removes them."""
        made = [
            (token, self.boxes.call("POST", "/api/user/webhooks", {"url": url}, token)["id"])
            for number, (token, _) in enumerate(self.users) if (url := url_of(number))]

        def remove():
            for token, id in made:
                self.boxes.call("DELETE", f"/api/user/webhooks/{id}", token=token)

        return remove

    def report(self, count):
        """As a mail store: messages to the users in turn."""
        addresses = itertools.cycle(address for _, address in self.users)
        at_once(self.services, [
            [{"address": address, "from": "ada@example.com", "subject": "Hello", "size": 1000,
              "preview_text": "The text of a message."}
             for address in itertools.islice(addresses, REPORTED)]
            for _ in range(count // REPORTED)], "/delivered", REPORTERS)

    def accepted(self):
        connection = Boxes(self.services).connection
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return int(re.search(
            r'^postern_webhook_events_total\{result="accepted"\} (\d+)', text, re.M)[1])

    def rate(self, server, receiver, what, has_goal=True):
        """Events per second, from the first report to the last answer, and their CPU."""
        def send():
            wanted, start = self.accepted() + self.events, time.monotonic()
            before = server.cpu_seconds()
            self.report(self.events)
            while self.accepted() < wanted:
                if time.monotonic() > start + 120:
                    raise SystemExit("not all events of webhooks were accepted")
                time.sleep(0.02)
            return (self.events / (time.monotonic() - start),
                    (server.cpu_seconds() - before) / self.events * 1e3)

        remove = self.hook(lambda _: f"https://localhost:{receiver.port}/hook")
        send()
        rates, cpu = zip(*(send() for _ in range(self.run.turn_count)))
        remove()
        yield Row(what, "/s", rates, [GOAL], "goal", 1 if has_goal else None, more_is_better=True)
        yield Row("  their CPU", "ms", cpu, [1e3 / GOAL], "one core, at the goal")

    def beside(self, server, port):
        """GET /healthz while a hundred webhooks wait for receivers that do not answer."""
        def hanging():
            remove = self.hook(
                lambda number: f"https://{host(number)}:{port}/" if number < HOSTS else None)
            self.report(2 * USERS)
            figures = alone()
            remove()
            time.sleep(TIMEOUT)
            return figures

        def alone():
            end = time.monotonic() + TIMEOUT
            return latencies(server.port, until=lambda: time.monotonic() > end)

        mine, bare = self.run.turns(hanging, alone)
        for name, one, other in zip(("p50", "p99"), zip(*mine), zip(*bare)):
            yield Row(f"GET /healthz, {name}, {HOSTS} webhooks that hang", "ms", one, other,
                      "without them", 1.25)
