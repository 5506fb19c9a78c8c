"""mailbox-receiver of deploy/mail: account events become mailboxes of real Dovecot and Cyrus IMAP."""

import base64
import contextlib
import hmac
import http.client
import json
import re
import select
import shutil
import socket
import subprocess
import time

import pytest

from agent import Agent, bearer
from mailboxes import PASSWORD, Mailboxes
from mailstores import (
    DEPLOY, SEARCH_PATH, Dovecot, From, account, as_user, directory, free_port, owned)
from mailstores import SECRET as SERVICES_SECRET
from program import Postern, await_true, run
from receiver import SECRET
from test_dovecot import REFUSED, deliver, opened

PROGRAM = DEPLOY / "mailbox-receiver"


class MailboxReceiver:
    """A running receiver, in the place of the servers' user. Ends by its process id."""

    def __init__(self, place, *store, port=0, identity=None):
        self.state, self.log = owned(place / "state"), place / "receiver.log"
        self.secret = place / "provisioning.secret"
        self.secret.write_text(SECRET + "\n")
        self.command = [
            *(as_user() if identity is None else identity), PROGRAM, "--listen", f"127.0.0.1:{port}",
            "--secret-file", self.secret, "--state", self.state, *map(str, store)]
        self.start()

    def start(self):
        with self.log.open("ab") as log:
            before = log.tell()
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={"PATH": SEARCH_PATH})
        found = await_true(
            lambda: re.match(r"listening on http://(127\.0\.0\.1):([0-9]+)\n", self.read_log()[before:]),
            self.read_log)
        self.port = int(found[2])

    def read_log(self):
        return self.log.read_text()

    def await_line(self, text):
        await_true(lambda: text in self.read_log(), self.read_log)

    def send(self, event, **changes):
        """The status of the answer to a message."""
        headers, body = message(event)
        return self.post({**headers, **changes}, body)

    def post(self, headers, body):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        client.request("POST", "/events", body, headers)
        with contextlib.closing(client):
            return client.getresponse().status

    def stop(self):
        self.process.terminate()
        assert self.process.wait(30) == 0, self.read_log()


def message(event, secret=SECRET, moment=None):
    """The header fields and the body of a message, as Standard Webhooks has them."""
    body = event if isinstance(event, bytes) else json.dumps(event).encode()
    moment = str(int(time.time()) if moment is None else moment)
    signed = f"the-id.{moment}.".encode() + body
    signature = base64.b64encode(
        hmac.digest(base64.b64decode(secret.removeprefix("whsec_")), signed, "sha256")).decode()
    return {"webhook-id": "the-id", "webhook-timestamp": moment, "webhook-signature": f"v1,{signature}",
            "Content-Type": "application/json"}, body


def event(number, kind="account_created", address="demo@mail.test", **more):
    return {"number": number, "id": "the-id", "event": kind, "time": "2026-01-15T10:30:00Z",
            "account_id": "9b2e4c1a-7f3d-4e5b-8a6c-1d2e3f4a5b6c", "address": address,
            "name": address, **more}


class Site:
    """Postern, Dovecot and the receiver between them."""

    def __init__(self, place, authority, stack):
        self.place, services, port = place, free_port(), free_port()
        self.data = ["--data", str(place / "data")]
        (place / "secret").write_text(SERVICES_SECRET + "\n")
        (place / "secret").chmod(0o600)
        (place / "events.secret").write_text(SECRET + "\n")
        self.postern = Postern(
            place, *self.data, POSTERN_USERS_REGISTRATION="open", POSTERN_SERVICES_LISTEN=f"127.0.0.1:{services}",
            POSTERN_SERVICES_SECRET_FILE=str(place / "secret"),
            POSTERN_PROVISIONING_URL=f"http://127.0.0.1:{port}/events",
            POSTERN_PROVISIONING_SECRET_FILE=str(place / "events.secret"))
        stack.callback(self.postern.stop)
        self.dovecot = Dovecot(place / "dovecot", authority, services, mailboxes=place / "state")
        stack.callback(self.dovecot.stop)
        self.mail = owned(place / "dovecot/mail")
        (place / "api.key").write_text(SERVICES_SECRET + "\n")
        self.receiver = MailboxReceiver(
            place, "dovecot", "--doveadm", f"127.0.0.1:{self.dovecot.api_port}", "--key-file",
            place / "api.key", "--mail", self.mail, port=port)
        stack.callback(self.receiver.stop)
        self.boxes, self.clients = Mailboxes(self.postern.url), From(authority)

    def run(self, *arguments):
        done = run(*arguments, *self.data, directory=self.place)
        assert done.returncode == 0, done.stderr

    def folder(self, address):
        name, _, domain = address.partition("@")
        return self.mail / domain / name

    def login(self, address):
        return opened(self.clients.imap(self.dovecot.port), lambda imap: imap.login(address, PASSWORD))

    def bearer(self, address, token):
        return opened(
            self.clients.imap(self.dovecot.port), lambda imap: imap.bearer("OAUTHBEARER", address, token))


@pytest.fixture(scope="module")
def dovecot(authority):
    with contextlib.ExitStack() as stack:
        yield Site(stack.enter_context(directory()), authority, stack)


def test_a_dovecot_mailbox_is_there_before_the_first_login(dovecot):
    box = dovecot.boxes.mailbox()
    await_true(lambda: (dovecot.folder(box.address) / "Maildir").is_dir(), dovecot.receiver.read_log)
    deliver(dovecot.dovecot, box.address, "Subject: hello\r\n\r\nhi\r\n")
    imap = dovecot.login(box.address)
    assert imap.search(None, "SUBJECT", "hello")[1] == [b"1"]
    imap.logout()
