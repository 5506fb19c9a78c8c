"""mailbox-receiver of deploy/mail: account events become mailboxes of real Dovecot and Cyrus IMAP."""

import base64
import contextlib
import hmac
import http.client
import imaplib
import json
import re
import smtplib
import subprocess
import time

import pytest

from agent import Agent, bearer
from cyrus import Cyrus
from mailboxes import PASSWORD, Mailboxes
from mailstores import (
    DEPLOY, SEARCH_PATH, Dovecot, From, account, as_user, directory, free_port, owned)
from mailstores import SECRET as SERVICES_SECRET
from program import Postern, await_true, run
from receiver import SECRET
from test_cyrus import MAIL, Client, export_keys
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


def test_the_quota_of_an_event_holds_for_tokens_and_deliveries(dovecot):
    box = dovecot.boxes.mailbox()
    dovecot.run("account", "quota", box.address, "102400")
    dovecot.receiver.await_line(f"{box.address} quota_changed: done")
    imap = dovecot.bearer(box.address, box.token)
    assert imap.quota() == 100
    imap.logout()
    imap = dovecot.login(box.address)
    assert imap.quota() == 100
    imap.logout()
    with pytest.raises(smtplib.SMTPDataError, match="Quota exceeded"):
        deliver(dovecot.dovecot, box.address, "Subject: large\r\n\r\n" + "x" * 70 + "\r\n" * 110_000)


def test_a_locked_dovecot_mailbox_ends_its_sessions_and_takes_mail(dovecot):
    box = dovecot.boxes.mailbox()
    other = dovecot.boxes.mailbox()
    open_one, open_other = dovecot.login(box.address), dovecot.login(other.address)
    dovecot.run("account", "disable", box.address)
    dovecot.receiver.await_line(f"{box.address} account_disabled: done")
    await_true(lambda: has_ended(open_one), "the session goes on")
    assert REFUSED in dovecot.login(box.address)
    deliver(dovecot.dovecot, box.address, "Subject: meanwhile\r\n\r\nhi\r\n")
    assert open_other.noop()[0] == "OK"
    open_other.logout()
    dovecot.run("account", "enable", box.address)
    dovecot.receiver.await_line(f"{box.address} account_enabled: done")
    imap = dovecot.login(box.address)
    assert imap.search(None, "SUBJECT", "meanwhile")[1] == [b"1"]
    imap.logout()


def test_a_lock_holds_where_postern_would_accept_the_login(dovecot):
    """As with tokens that Dovecot validates itself."""
    box = dovecot.boxes.mailbox()
    dovecot.receiver.await_line(f"{box.address} account_created: done")
    assert dovecot.receiver.send(event(1_000_000, "account_disabled", box.address)) == 204
    assert REFUSED in dovecot.login(box.address)
    assert REFUSED in dovecot.bearer(box.address, box.token)
    assert dovecot.receiver.send(event(1_000_001, "account_enabled", box.address)) == 204
    dovecot.bearer(box.address, box.token).logout()


def test_a_removed_dovecot_mailbox_leaves_nothing_to_the_next_owner(dovecot):
    box = dovecot.boxes.mailbox()
    dovecot.run("account", "quota", box.address, "102400")
    dovecot.receiver.await_line(f"{box.address} quota_changed: done")
    deliver(dovecot.dovecot, box.address, "Subject: old\r\n\r\nhi\r\n")
    imap = dovecot.login(box.address)
    imap.create("Projects")
    dovecot.run("account", "delete", box.address)
    dovecot.receiver.await_line(f"{box.address} account_deleted: done")
    await_true(lambda: has_ended(imap), "the session goes on")
    assert not dovecot.folder(box.address).exists()
    assert not list((dovecot.mail / ".removed").iterdir())
    # Mail that Postfix had accepted before.
    deliver(dovecot.dovecot, box.address, "Subject: late\r\n\r\nhi\r\n")
    dovecot.run("account", "free", box.address)
    dovecot.receiver.await_line(f"{box.address} address_freed: done")
    assert not dovecot.folder(box.address).exists()
    assert dovecot.boxes.create(box.address).status_code == 201
    await_true(lambda: dovecot.folder(box.address).exists(), dovecot.receiver.read_log)
    imap = dovecot.login(box.address)
    assert imap.search(None, "ALL")[1] == [b""]
    assert len(imap.list()[1]) == 1
    assert imap.quota() == 41_943_040 // 1024
    imap.logout()


def has_ended(imap):
    try:
        imap.noop()
        return False
    except (imaplib.IMAP4.abort, OSError):
        return True


def test_events_wait_for_a_dovecot_that_is_away(dovecot):
    dovecot.dovecot.stop()
    box = dovecot.boxes.mailbox()
    dovecot.receiver.await_line(f"{box.address} account_created: doveadm's HTTP API")
    dovecot.dovecot.restart()
    dovecot.receiver.await_line(f"{box.address} account_created: done")
    assert dovecot.folder(box.address).exists()


class JMAPSite:
    """Postern, Cyrus IMAP that agents ask directly, and the receiver between them."""

    def __init__(self, directory, stack):
        port, events, imap = free_port(), free_port(), free_port()
        self.directory = directory
        self.data = ["--profile", "test", "--data", str(directory / "data")]
        (directory / "events.secret").write_text(SECRET + "\n")
        self.store = f"http://127.0.0.1:{port}"
        self.postern = self.direct = Postern(
            directory, *self.data, profile=None, POSTERN_MAIL_JMAP_URL=self.store,
            POSTERN_MAIL_JMAP_SESSION="proxy", POSTERN_MAIL_JMAP_SESSION_CACHE="1s",
            POSTERN_MAIL_JMAP_SESSION_TIMEOUT="60s", POSTERN_TOKENS_CAPABILITY_CLAIMS="minimal",
            POSTERN_PROVISIONING_URL=f"http://127.0.0.1:{events}/",
            POSTERN_PROVISIONING_SECRET_FILE=str(directory / "events.secret"))
        stack.callback(self.postern.stop)
        self.cyrus = Cyrus(port, free_port(), lambda keys: export_keys(self, keys), imap, PASSWORD)
        stack.callback(self.cyrus.stop)
        (directory / "admin.password").write_text(PASSWORD)
        self.receiver = MailboxReceiver(
            directory, "cyrus", "--imap", f"127.0.0.1:{imap}", "--password-file",
            directory / "admin.password", port=events)
        stack.callback(self.receiver.stop)

    certificates = False

    def run(self, *arguments):
        done = run(*arguments, *self.data, directory=self.directory)
        assert done.returncode == 0, done.stderr

    def client(self, username):
        """An agent whose event has been processed."""
        client = Client(self, username, self.postern.url)
        self.receiver.await_line(f"{client.address} account_created: done")
        return client


@pytest.fixture(scope="module")
def cyrus():
    with contextlib.ExitStack() as stack:
        yield JMAPSite(stack.enter_context(directory()), stack)


def test_a_cyrus_mailbox_is_there_before_the_first_mail(cyrus, name):
    client = cyrus.client(name())
    assert client.discover()["accounts"][client.account]["accountCapabilities"][MAIL]
    [[_, found]] = client.call(("Mailbox/get", {"ids": None, "properties": ["role"]}))
    assert {box["role"] for box in found["list"]} == {"inbox", "sent", "drafts", "trash", "junk"}
    cyrus.cyrus.deliver(client.address, "Hello")
    assert [mail["subject"] for mail in client.emails()] == ["Hello"]
