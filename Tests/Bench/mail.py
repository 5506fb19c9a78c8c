"""Mail in the process: JMAP and delivery in a mailbox of 10,000 messages, SMTP beside smtp-sink, and
memory beside the bytes of the messages.

Rate limits are off (limits.enabled = false), because one client makes all the load.
"""

import contextlib
import json
import os
import re
import smtplib
import socket
import subprocess
import time

from mailboxes import KEY, Boxes
from processes import Served, free_port
from table import Row

SETTINGS = {"LIMITS_ENABLED": "false", "POW_ACCOUNTS_DIFFICULTY": "1",
            "ACCOUNTS_FREE_QUOTA": "1073741824", "MAIL_LOCAL_LIMIT": "1073741824"}
MAIL = "urn:ietf:params:jmap:mail"
SENDER = "bench@example.com"
MESSAGES = 10_000
SESSIONS = 20
TEXT_BYTES = 4096


class Mail:
    def __init__(self, run):
        self.run = run
        self.deliveries = 2000 if run.quick else 5000
        self.made = 0

    def rows(self):
        with self.run.postern(**SETTINGS) as server:
            smtp = smtp_address(server)
            # Before the account is made, because the memory of its password's hash is kept for a while.
            before = server.memory_mib()
            full = self.account(server, "full")
            deliver(smtp, full["address"], MESSAGES, TEXT_BYTES)
            used = Boxes(server.port).call(
                "GET", f"/api/accounts/{full['id']}", token=full["token"])["used"]
            yield Row.within(
                f"memory of {MESSAGES:,} messages", "MiB", [server.memory_mib() - before],
                (1.3 * used + 1024 * MESSAGES) / 2**20)
            yield from self.reading(server, full)
            yield from self.delivering(server, smtp, full)
        yield from self.receiving()

    def account(self, server, name):
        boxes = Boxes(server.port)
        return boxes.call("POST", "/api/accounts", {
            "address": f"{name}@mail.test", "auth_key": KEY, "pow": boxes.proof()})

    def reading(self, server, box):
        path = f"/api/accounts/{box['id']}"
        asked, account = self.run.turns(
            lambda: self.run.cpu_micros(server, "/jmap/", method="POST", **newest(server, box)),
            lambda: self.run.cpu_micros(
                server, path, headers={"Authorization": f"Bearer {box['token']}"}))
        yield Row(f"Email/query and Email/get of 20 in {MESSAGES:,} messages, CPU", "µs", asked,
                  account, "GET account", 5)

    def delivering(self, server, smtp, full):
        """CPU time of a delivery. Each turn has a new empty mailbox."""
        def into(address):
            before = server.cpu_seconds()
            deliver(smtp, address, self.deliveries, 100)
            return (server.cpu_seconds() - before) / self.deliveries * 1e6

        def into_empty():
            self.made += 1
            return into(self.account(server, f"empty-{self.made}")["address"])

        many, few = self.run.turns(lambda: into(full["address"]), into_empty)
        yield Row(f"delivery by SMTP to a mailbox of {MESSAGES:,}, CPU", "µs", many, few,
                  "to an empty mailbox", 1.1)

    def receiving(self):
        """Messages a second of smtp-source. Each turn has a new server, because mail is kept."""
        def into_postern():
            with self.run.postern(**SETTINGS) as server:
                smtp = smtp_address(server)
                return self.source(smtp, self.account(server, "box")["address"])

        def into_sink():
            with Sink() as sink:
                return self.source(sink.address, "box@mail.test")

        mine, sink = self.run.turns(into_postern, into_sink)
        yield Row(f"messages by SMTP, {SESSIONS} sessions", "/s", mine, sink, "smtp-sink", 0.5,
                  more_is_better=True)

    def source(self, address, recipient):
        count = 2 * self.deliveries
        start = time.monotonic()
        subprocess.run(
            ["/usr/sbin/smtp-source", "-s", str(SESSIONS), "-m", str(count), "-l", "1024",
             "-f", SENDER, "-t", recipient, f"inet:{address[0]}:{address[1]}"],
            check=True, capture_output=True, timeout=300)
        return count / (time.monotonic() - start)


class Sink(Served):
    def __init__(self):
        self.address = ("127.0.0.1", free_port())
        # smtp-sink does not stay root.
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        super().__init__(
            ["/usr/sbin/smtp-sink", *user, f"{self.address[0]}:{self.address[1]}", "256"])
        for _ in range(200):
            with contextlib.suppress(OSError):
                return socket.create_connection(self.address, 1).close()
            time.sleep(0.05)
        self.__exit__()
        raise SystemExit("smtp-sink did not start")


def smtp_address(server):
    """From the line after the one that says where the server listens."""
    line = server.process.stdout.readline().decode()
    found = re.fullmatch(r"smtp on (\S+):(\d+)\n", line)
    if not found:
        raise SystemExit(f"postern did not print the address for mail, but {line!r}")
    return found[1], int(found[2])


def deliver(smtp, recipient, count, text_bytes):
    """Sends messages over one connection."""
    line = "x" * 78 + "\r\n"
    text = line * (text_bytes // len(line))
    with smtplib.SMTP(*smtp, timeout=60) as connection:
        connection.ehlo()
        for number in range(count):
            message = f"From: <{SENDER}>\r\nSubject: number {number}\r\n\r\n{text}\r\n"
            connection.sendmail(SENDER, [recipient], message)


def newest(server, box):
    """For wrk: the calls that list the newest messages of the inbox, with a new capability, which
    is good for two minutes."""
    token = capability(server, box)
    account = box["address"]
    inbox = call(server, token, [["Mailbox/query", {
        "accountId": account, "filter": {"role": "inbox"}}, "0"]])[0][1]["ids"][0]
    body = request([
        ["Email/query", {
            "accountId": account, "filter": {"inMailbox": inbox}, "limit": 20,
            "sort": [{"property": "receivedAt", "isAscending": False}]}, "0"],
        ["Email/get", {
            "accountId": account, "#ids": {"resultOf": "0", "name": "Email/query", "path": "/ids"},
            "properties": ["id", "subject", "from", "receivedAt", "preview"]}, "1"]])
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    # An account has four requests at once.
    return {"headers": headers, "lua": f"wrk.body = [==[{body}]==]", "connections": 4}


def request(calls):
    return json.dumps({"using": ["urn:ietf:params:jmap:core", MAIL], "methodCalls": calls},
                      separators=(",", ":"))


def call(server, token, calls):
    return Boxes(server.port).call("POST", "/jmap/", json.loads(request(calls)), token)[
        "methodResponses"]


def capability(server, box):
    connection = Boxes(server.port).connection
    connection.request("POST", "/api/v1/capability", headers={
        "Authorization": f"Bearer {box['token']}"})
    answer = connection.getresponse()
    answer.read()
    return answer.headers["Authorization"].removeprefix("Bearer ")
