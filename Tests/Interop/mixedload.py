"""Clients of every kind at once, whose server is killed, and what they were told: to compare with
what the next server knows.

A client keeps what was acknowledged. `asked` names the change that was sent and has no response: it
was made or not.
"""

import http.client
import itertools
import random
import smtplib
import threading
import time

import requests

from accountload import Load, state_of
from agent import Agent, bearer
from hooks import report, send
from mailboxes import Mailboxes, fresh
from program import PATIENCE_SECONDS

GONE = (requests.RequestException, OSError, http.client.HTTPException, smtplib.SMTPException)
_numbers = itertools.count(1)


class Changes:
    """The changes of one client."""

    def __init__(self, count):
        self.asked, self._count = "", count

    def change(self, what, status, act):
        """Has the response once the change was acknowledged."""
        self.asked = what
        answer = act()
        assert answer.status_code == status, answer.text
        self.asked = ""
        self._count()
        return answer


class AgentChanges(Changes):
    """An account with an API key: made, its key renewed, deleted."""

    keys, deleted = (), False

    def make(self, url):
        agent, name = Agent(url), f"k{next(_numbers):07}"
        made = self.change("create", 201, lambda: agent.session(username=name))
        self.keys = [made.json()["apiKey"]]
        session = bearer(made)
        for _ in range(random.randrange(3)):
            renewed = self.change("renew", 200, lambda: agent.post("/api/v1/api-key", session))
            self.keys.append(renewed.json()["apiKey"])
            session = bearer(agent.session(apiKey=self.keys[-1]))
        if random.random() < 0.3:
            self.change("delete", 204, lambda: agent.http.delete(
                f"{url}/api/v1/account", headers={"Authorization": f"Bearer {session}"},
                timeout=30))
            self.deleted = True

    def check(self, url):
        statuses = [Agent(url).session(apiKey=key).status_code for key in self.keys]
        assert set(statuses[:-1]) <= {401}
        if self.keys and not (self.asked and statuses[-1] in (200, 401)):
            assert statuses[-1] == (401 if self.deleted else 200)


class UserChanges(Changes):
    """A user with passwords and API tokens."""

    def __init__(self, count):
        super().__init__(count)
        self.email, self.passwords, self.live, self.revoked = fresh("example.com"), [], [], []
        # What was sent last and has no response: a password, or the id of a token.
        self.sent = None

    def make(self, url):
        boxes = Mailboxes(url)
        self.sent = "the-first-password"
        made = self.change("password", 201, lambda: boxes.call(
            "POST", "/api/user/register", None, {"email": self.email, "password": self.sent}))
        self.passwords, session = [self.sent], made.json()["token"]
        for _ in range(random.randrange(4)):
            kind = random.choice(["password", "token", "revoke"])
            if kind == "password":
                old, self.sent = self.passwords[-1], f"password-{random.getrandbits(64):x}"
                self.change("password", 200, lambda: boxes.call(
                    "PUT", "/api/user/password", session,
                    {"current_password": old, "password": self.sent}))
                self.passwords.append(self.sent)
                session = self.login(boxes, self.sent).json()["token"]
            elif kind == "token" or not self.live:
                made = self.change("token", 201, lambda: boxes.call(
                    "POST", "/api/user/tokens", session)).json()
                self.live.append((made["id"], made["token"]))
            else:
                self.sent, token = self.live[-1]
                self.change("revoke", 204, lambda: boxes.call(
                    "DELETE", f"/api/user/tokens/{self.sent}", session))
                self.live.pop()
                self.revoked.append(token)
            boxes.http.cookies.clear()

    def login(self, boxes, password):
        answer = boxes.call("POST", "/api/user/login", None, {
            "email": self.email, "password": password})
        boxes.http.cookies.clear()
        return answer

    def check(self, url):
        boxes = Mailboxes(url)
        opens = [self.login(boxes, one).status_code == 200 for one in self.passwords]
        if self.asked == "password" and self.passwords:
            assert opens[-1] != (self.login(boxes, self.sent).status_code == 200)
        elif self.passwords:
            assert opens[-1]
        assert not any(opens[:-1])
        for number, token in self.live:
            if (self.asked, self.sent) != ("revoke", number):
                assert boxes.call("GET", "/api/user/me", token).status_code == 200
        for token in self.revoked:
            assert boxes.call("GET", "/api/user/me", token).status_code == 401


class MixedLoad:
    """Accounts, agents, users and mail to the owner of a webhook, all on one server that is killed.

    `address` is the owner's; `services` that of the services listener.
    """

    def __init__(self, server, services, address):
        self.server, self.services, self.address = server, services, address
        self.boxes = Load(server.url)
        self.clients, self.faults = [], []
        # The subjects of mail that was sent, and of mail that was accepted.
        self.sent, self.accepted = [], []
        self.others, self._lock = 0, threading.Lock()

    @property
    def changes(self):
        return self.boxes.changes + self.others

    @property
    def told(self):
        return self.boxes.told

    def run(self, seconds, with_smtp):
        """Until the server is killed, which is so long after the first changes."""
        work = [self.boxes.work, self.boxes.work, lambda: self.repeat(AgentChanges),
                lambda: self.repeat(UserChanges), lambda: self.mail(self.report)]
        if with_smtp:
            # Reads its address while it runs.
            assert self.server.smtp
            work.append(lambda: self.mail(self.send))
        threads = [threading.Thread(target=one) for one in work]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        self.server.kill()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
        assert not self.faults + self.boxes.faults, self.faults + self.boxes.faults

    def count(self):
        with self._lock:
            self.others += 1

    def repeat(self, kind):
        def work():
            self.clients.append(kind(self.count))
            self.clients[-1].make(self.server.url)
        self.until_gone(work)

    def mail(self, deliver):
        def work():
            subject = f"mail {next(_numbers)}"
            self.sent.append(subject)
            deliver(subject)
            self.accepted.append(subject)
            # No faster than the receiver takes the events: there may be 1,000 of them.
            time.sleep(0.02)
        self.until_gone(work)

    def report(self, subject):
        report(self.services, self.address, subject)

    def send(self, subject):
        send(self.server, self.address, subject)

    def until_gone(self, work):
        try:
            while True:
                work()
        except GONE:
            return
        except Exception as fault:
            self.faults.append(fault)

    def check(self, url):
        """All that was acknowledged holds on the server at this URL. Returns what `state_of` says
        of each address."""
        for client in self.clients:
            client.check(url)
        boxes = Mailboxes(url)
        return {box.address: state_of(boxes, box) for box in self.told}
