"""The messages of an account whose mail is in Cyrus IMAP: through Postern, and by the same JMAP
calls to Cyrus.
"""

import http.client
import json
import pathlib
import socket
import statistics
import subprocess
import sys
import time

from accounts import CHEAP, SETTINGS
from mail import MAIL, capability
from mailboxes import KEY, Boxes
from processes import free_port
from table import Row

MESSAGES = 30


class RemoteMail:
    def __init__(self, run):
        self.run = run
        # In each turn.
        self.requests = 100 if run.quick else 400

    def rows(self):
        # Beside what this directory has under the same names.
        sys.path.append(str(pathlib.Path(__file__).parents[1] / "Interop"))
        from cyrus import Cyrus

        port, data = free_port(), self.run.fresh()
        with self.run.postern(
                data, **SETTINGS, **CHEAP, MAIL_JMAP_URL=f"http://127.0.0.1:{port}",
                TOKENS_CAPABILITY_CLAIMS="minimal") as server:
            # Answered when the first key has been made.
            Boxes(server.port).call("GET", "/.well-known/jwks.json")
            cyrus = Cyrus(port, free_port(), lambda keys: self.export_keys(data, keys))
            try:
                yield from self.listing(server, cyrus)
            finally:
                cyrus.stop()

    def export_keys(self, data, directory):
        subprocess.run(
            [self.run.binary, "key", "export", "--use", "capability", "--layout", "cyrus",
             "--directory", directory, "--profile", "test", "--data", data],
            check=True, capture_output=True, stdin=subprocess.DEVNULL)

    def listing(self, server, cyrus):
        boxes = Boxes(server.port)
        box = boxes.call("POST", "/api/accounts", {
            "address": "bench@mail.test", "auth_key": KEY, "pow": boxes.proof()})
        for number in range(MESSAGES):
            cyrus.deliver(box["address"], f"Mail {number}", "The text of a message.\r\n" * 50)
        through = Asked(server.port, box["token"])
        directly = Asked(cyrus.port, capability(server, box))
        path, calls = f"/api/accounts/{box['id']}/messages", self.calls(directly, box["address"])
        mine, bare = self.run.turns(
            lambda: self.median(lambda: through.ask("GET", path), b'"preview_text"'),
            lambda: self.median(lambda: directly.call(calls), b'"preview"'))
        yield Row(f"GET messages, {MESSAGES} in Cyrus, p50", "ms", mine, bare,
                  "the same JMAP calls to Cyrus", 1.5)

    def calls(self, directly, address):
        """What Postern asks."""
        account = {"accountId": address}
        roles = [{"role": role} for role in ["trash", "drafts", "sent"]]
        folders = ["Mailbox/query", {
            **account, "filter": {"operator": "OR", "conditions": roles}}, "c0"]
        unlisted = json.loads(directly.call([folders]))["methodResponses"][0][1]["ids"]
        return [
            folders, ["Email/get", {**account, "ids": []}, "c1"],
            ["Email/query", {
                **account, "filter": {"inMailboxOtherThan": unlisted}, "position": 0,
                "limit": MESSAGES, "sort": [{"property": "receivedAt", "isAscending": False}]},
             "c2"],
            ["Email/get", {
                **account, "#ids": {"resultOf": "c2", "name": "Email/query", "path": "/ids"},
                "properties": ["id", "from", "sender", "subject", "preview", "size", "keywords",
                               "receivedAt", "mailboxIds"]}, "c3"]]

    def median(self, ask, member):
        """Milliseconds of one request after the other."""
        taken = []
        for _ in range(self.requests):
            start = time.perf_counter()
            body = ask()
            taken.append((time.perf_counter() - start) * 1e3)
            if body.count(member) != MESSAGES:
                raise SystemExit(f"not {MESSAGES} messages, but {body!r}")
        return statistics.median(taken)


class Asked:
    """One kept-alive connection."""

    def __init__(self, port, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body, self.headers)
        # As Postern does: Cyrus waits for the acknowledgement of the first part of its response.
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{method} {path}: {answer.status} {content!r}")
        return content

    def call(self, calls):
        return self.ask("POST", "/jmap/", json.dumps({
            "using": ["urn:ietf:params:jmap:core", MAIL], "methodCalls": calls}))
