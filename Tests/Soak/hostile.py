"""Clients that guess, flood, send nonsense, and hold what they can: over HTTP and SMTP."""

import random
import socket
import time

from agent import Agent, bearer
from hashlogin import HashLogin
from hashhost import argon2
from jmapclient import JMAP
from load import PASSWORD, address, worker
from mailboxes import Mailboxes, fresh

HELLO = b"EHLO client.example\r\n"


class Hostile:
    def __init__(self, load, host, owners):
        self.load, self.server, self.host, self.owners = load, load.server, host, owners

    @property
    def work(self):
        return [worker(self.guesser, 0.5), worker(self.flooder, 1), worker(self.slow_host, 2),
                worker(self.nonsense, 0.2), worker(self.raw, 0.05), worker(self.raw, 0.05),
                worker(self.holder, 5), worker(self.raw_smtp, 0.1), worker(self.smuggler, 1),
                worker(self.idle_smtp, 5), worker(self.dripping_smtp, 5),
                worker(self.jmap_nonsense, 2), worker(self.deaf_streams, 5)]

    def plain(self, port=None):
        made = socket.create_connection(("127.0.0.1", port or self.server.port), 10)
        made.settimeout(10)
        return made

    def guesser(self):
        api = self.load.at("guesser", Mailboxes)
        box = random.choice(list(self.load.acknowledged.mailboxes) or ["a@mail.test"])
        for _ in range(8):
            api.login(box, "not the password")
        for _ in range(4):
            user = random.choice(list(self.load.acknowledged.users) or ["a@mail.test"])
            api.call("POST", "/api/user/login", None, {"email": user, "password": "not this one"})
        api.call("POST", "/api/user/password/reset", None, {
            "token": "x" * 43, "password": PASSWORD})
        api.call("POST", "/api/user/login/second", None, {"challenge": "x.y.z", "code": "000000"})

    def flooder(self):
        session = self.load.at("flooder", Agent).http
        for _ in range(200):
            session.post(self.server.url + "/api/v1/challenge", timeout=30)

    def slow_host(self):
        def never(handler):
            time.sleep(8)
        api = self.load.at("slow host", HashLogin)
        api.register(fresh("soak.test"), self.host.answer(never), PASSWORD)

    def nonsense(self):
        session = self.load.at("nonsense", Agent).http
        for path in ["/api/token", "/api/accounts", "/register", "/login", "/api/v1/session",
                     "/api/user/register", "/validate", "/jmap/", "/api/user/login/passkey",
                     "/api/user/webhooks", "/api/user/totp/confirm", "/api/user/oauth/id/callback",
                     f"/{random.getrandbits(64):x}"]:
            session.post(
                self.server.url + path, data=random.randbytes(random.randrange(200)), timeout=30,
                headers={"Content-Type": "application/json",
                         "Authorization": "Bearer " + random.randbytes(30).hex()})
        session.get(self.server.url + "/api/user/oauth/id/callback?state=x&code=y", timeout=30)

    def raw(self):
        """Broken requests, half requests, clients that never read, clients that send nothing."""
        kind = random.randrange(5)
        with self.plain() as wire:
            try:
                if kind == 0:
                    wire.sendall(random.randbytes(random.randrange(1, 4000)))
                elif kind == 1:
                    wire.sendall(
                        b"POST /api/token HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n{")
                elif kind == 2:
                    wire.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n" * 300)
                    time.sleep(random.random() * 3)
                    return
                elif kind == 3:
                    wire.sendall(
                        b"GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                        b"zz\r\n")
                wire.recv(65536)
            except OSError:
                pass

    def holder(self):
        """Fifty connections that stay half a minute."""
        held = [self.plain() for _ in range(50)]
        self.load.ending.wait(30)
        for wire in held:
            wire.close()

    # SMTP.

    def talk(self, data, ends=False):
        """Sends bytes to SMTP, perhaps ends at once, and otherwise reads until nothing comes."""
        received = b""
        try:
            with self.plain(self.server.smtp[1]) as wire:
                wire.settimeout(2)
                wire.sendall(data)
                while not ends and (piece := wire.recv(65536)):
                    received += piece
        except OSError:
            # Nothing comes any more, or the server has closed, after too many errors or to restart.
            pass
        return received

    def raw_smtp(self):
        """Broken commands and messages, some without an end."""
        to = random.choice(self.owners()).box.address.encode()
        begun = HELLO + b"MAIL FROM:<ada@example.com>\r\nRCPT TO:<" + to + b">\r\n"
        data, ends = random.choice([
            (random.randbytes(random.randrange(1, 4000)), False),
            (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", False),
            (HELLO + b"NOOP\r\n" * 2000, True),
            (HELLO + b"\r\n".join(random.randbytes(9).hex().encode() for _ in range(500)), False),
            (HELLO + b"RCPT TO:<nobody@mail.test>\r\n" * 20, False),
            (HELLO + b"AUTH PLAIN " + random.randbytes(600).hex().encode() + b"\r\n", False),
            (HELLO + b"x" * 200_000, False),
            (begun + b"DATA\r\nSubject: smuggled half\r\n\r\nhalf a mess", True),
            (begun + b"DATA\r\nSubject: smuggled long line\r\n\r\n" + b"x" * 5000
             + b"\r\n.\r\nQUIT\r\n", False),
            (begun + b"BDAT 100000\r\nSubject: smuggled", True),
            (begun + b"BDAT 99999999999999999999 LAST\r\n", True)])
        self.talk(data, ends)

    def smuggler(self):
        """A second message inside of one whose lines end in other ways than CRLF."""
        to = random.choice(self.owners()).box.address
        end = random.choice(["\n.\n", "\r.\r", "\n.\r\n", "\r\n.\n", "\r.\r\n", "\r\n.\r"])
        inner = (f"MAIL FROM:<ada@example.com>\r\nRCPT TO:<{to}>\r\nDATA\r\n"
                 "Subject: smuggled inside\r\n\r\nx\r\n.\r\n")
        outer = inner.partition("Subject")[0] + f"Subject: smuggled around\r\n\r\nx{end}"
        received = self.talk(HELLO + (outer + inner).encode() + b"QUIT\r\n")
        assert b"\r\n221 " not in received or b"\r\n500 " in received, received

    def idle_smtp(self):
        """A hundred sessions that say nothing after the greeting, longer than they may."""
        self.held([b""] * 100)

    def dripping_smtp(self):
        """Thirty sessions with a byte of a command or of a message a second."""
        to = random.choice(self.owners()).box.address.encode()
        begun = HELLO + b"MAIL FROM:<ada@example.com>\r\nRCPT TO:<" + to + b">\r\n"
        self.held([HELLO, begun, begun + b"DATA\r\n"] * 10, b"x")

    def held(self, openings, drip=b""):
        wires = []
        try:
            for opening in openings:
                wires.append(self.plain(self.server.smtp[1]))
                wires[-1].sendall(opening)
            for _ in range(75):
                for wire in wires:
                    try:
                        wire.sendall(drip)
                    except OSError:
                        pass
                if self.load.ending.wait(1):
                    break
        except OSError:
            # There is no SMTP during a restart.
            self.load.ending.wait(5)
        finally:
            for wire in wires:
                wire.close()

    # JMAP, with a capability.

    def opened(self, kind):
        """A new agent, its session, and its client of JMAP."""
        agent = self.load.at(kind, Agent)
        made = agent.session(username=f"soak{random.getrandbits(40):x}")
        assert made.status_code == 201, made.text
        session, http = bearer(made), self.load.at(kind, Agent, patient=True).http
        return agent, session, JMAP(
            self.server.url, bearer(agent.capability(session)), http=http, verify=http.verify)

    def jmap_nonsense(self):
        agent, session, mail = self.opened("jmap nonsense")
        mail.upload(random.randbytes(1 << 20))
        for body in [
                random.randbytes(5000), b"[" * 10_000, b"{" + b'"a":' * 50,
                b'{"using":[],"methodCalls":' + b'[["Core/echo",{},"0"],' * 500 + b"]}"]:
            mail.post(body)
        for calls in [
                [("Email/query", {"filter": {"text": "x" * 1000}})] * 16,
                [("Core/echo", {})] * 200,
                [("Mailbox/set", {"create": {str(n): {"name": str(n)} for n in range(400)}})],
                [("Email/get", {"ids": ["x"] * 10_000})],
                [("Email/set", {"create": {str(n): {"bodyValues": {"b": {"value": "x" * 100}}}
                                           for n in range(400)}})]]:
            mail.post({"using": ["urn:ietf:params:jmap:core", "urn:ietf:params:jmap:mail"],
                       "methodCalls": [[name, {"accountId": mail.account, **more}, str(n)]
                                       for n, (name, more) in enumerate(calls)]})
        agent.http.delete(self.server.url + "/api/v1/account", timeout=30, headers={
            "Authorization": f"Bearer {session}"})

    def deaf_streams(self):
        """More event sources than a client may have, which are not read for half a minute."""
        _, _, mail = self.opened("deaf streams")
        held, client = [], address()
        for _ in range(20):
            held.append(self.plain())
            held[-1].sendall((
                f"GET /jmap/eventsource/?types=*&closeafter=no&ping=5 HTTP/1.1\r\nHost: a\r\n"
                f"X-Forwarded-For: {client}\r\nAuthorization: Bearer {mail.token}\r\n\r\n"
            ).encode())
        for _ in range(10):
            mail.call("Mailbox/set", create={"k": {"name": random.randbytes(8).hex()}})
            self.load.ending.wait(3)
        for wire in held:
            wire.close()
