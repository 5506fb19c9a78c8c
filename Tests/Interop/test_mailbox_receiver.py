"""mailbox-receiver of deploy/mail: account events become mailboxes of real Dovecot and Cyrus IMAP."""

import base64
import contextlib
import hmac
import http.client
import imaplib
import itertools
import json
import re
import shutil
import smtplib
import socket
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
from test_systemd import analyze

PROGRAM = DEPLOY / "mailbox-receiver"


class MailboxReceiver:
    """A running receiver, in the place of the servers' user. Ends by its process id."""

    def __init__(self, place, *store, port=0, identity=None):
        self.state, self.log = owned(place / "state"), place / "receiver.log"
        self.secret = place / "provisioning.secret"
        self.secret.write_text(SECRET + "\n")
        # The servers' user may not read the checkout.
        program = shutil.copy(PROGRAM, place)
        self.command = [
            *(as_user() if identity is None else identity), program, "--listen", f"127.0.0.1:{port}",
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


def test_a_quota_of_nothing_is_not_without_limit(dovecot):
    """As 0 is in Dovecot."""
    box = dovecot.boxes.mailbox()
    dovecot.run("account", "quota", box.address, "0")
    dovecot.receiver.await_line(f"{box.address} quota_changed: done")
    with pytest.raises(smtplib.SMTPDataError, match="Quota exceeded"):
        deliver(dovecot.dovecot, box.address, "Subject: hello\r\n\r\nhi\r\n")
    for imap in [dovecot.bearer(box.address, box.token), dovecot.login(box.address)]:
        kind, [said] = imap.append("INBOX", None, None, b"Subject: hello\r\n\r\nhi\r\n")
        assert kind == "NO" and b"OVERQUOTA" in said
        imap.logout()


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


def test_the_api_of_doveadm_does_nothing_else(dovecot):
    """Who has the key cannot read or remove mail with it."""
    def call(command, parameters, key):
        client = http.client.HTTPConnection("127.0.0.1", dovecot.dovecot.api_port, timeout=60)
        client.request("POST", "/doveadm/v1", json.dumps([[command, parameters, "1"]]), {
            "Content-Type": "application/json",
            "Authorization": f"X-Dovecot-API {base64.b64encode(key.encode()).decode()}"})
        with contextlib.closing(client):
            answer = client.getresponse()
            return answer.status, answer.read()

    box = dovecot.boxes.mailbox()
    assert call("kick", {"mask": [box.address]}, "another")[0] == 401
    for command, parameters in [
            ("fetch", {"user": box.address, "field": ["text"], "query": ["ALL"]}),
            ("mailboxDelete", {"user": box.address, "mailbox": ["INBOX"]}),
            ("fsDelete", {"fsDriver": "posix", "fsArgs": "", "path": ["/x"]})]:
        assert b'"type":"unAuthorized"' in call(command, parameters, SERVICES_SECRET)[1]


# Cyrus IMAP


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
        self.imap = imap
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

    def administrate(self, act):
        with imaplib.IMAP4("127.0.0.1", self.imap, timeout=60) as imap:
            imap.login("cyrus", PASSWORD)
            kind, lines = act(imap)
            assert kind == "OK", lines
            return [line for line in lines if line]

    def mailboxes(self, address):
        name, _, domain = address.partition("@")
        return self.administrate(lambda imap: imap.list('""', f'"user/{name}*@{domain}"'))

    def quota(self, address):
        """In KiB."""
        name, _, domain = address.partition("@")
        [found] = self.administrate(lambda imap: imap.getquota(f'"user/{name}@{domain}"'))
        return int(re.search(rb"STORAGE [0-9]+ ([0-9]+)", found)[1])

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


def test_cyrus_has_the_quota_of_the_event(cyrus, name):
    client = cyrus.client(name())
    assert cyrus.quota(client.address) == 40_960
    cyrus.run("account", "quota", client.address, "2097152")
    cyrus.receiver.await_line(f"{client.address} quota_changed: done")
    assert cyrus.quota(client.address) == 2048


def test_a_locked_cyrus_mailbox_is_closed_and_takes_mail(cyrus, name):
    """Also for a token that Cyrus verifies itself, which was issued before."""
    client, other = cyrus.client(name()), cyrus.client(name())
    cyrus.cyrus.deliver(client.address, "Before")
    client.discover()
    made = client.call(("Mailbox/set", {"create": {"a": {"name": "A folder & (ü)"}, "b": {"name": "B"}}}))
    assert set(made[0][1]["created"]) == {"a", "b"}, made[0][1]["notCreated"]
    inbox = client.inbox()
    cyrus.run("account", "disable", client.address)
    cyrus.receiver.await_line(f"{client.address} account_disabled: done")
    cyrus.cyrus.deliver(client.address, "Meanwhile")
    # It sees that there are mailboxes, and nothing in them.
    [_, counted] = client.call(("Mailbox/get", {"ids": None}), ("Email/query", {}))
    assert not counted[1].get("ids")
    [[_, removed]] = client.call(("Mailbox/set", {"destroy": [inbox, made[0][1]["created"]["b"]["id"]]}))
    assert not removed.get("destroyed")
    [[_, more]] = client.call(("Mailbox/set", {"create": {"c": {"name": "C"}}}))
    assert not more.get("created")
    other.discover()
    assert other.inbox()
    cyrus.run("account", "enable", client.address)
    cyrus.receiver.await_line(f"{client.address} account_enabled: done")
    client.token = bearer(client.session(client.solve(), apiKey=client.api_key))
    client.renew()
    assert {mail["subject"] for mail in client.emails()} == {"Before", "Meanwhile"}
    [[_, found]] = client.call(("Mailbox/get", {"ids": None, "properties": ["myRights"]}))
    assert len(found["list"]) == 7 and all(box["myRights"]["mayReadItems"] for box in found["list"])


def test_a_removed_cyrus_mailbox_leaves_nothing_to_the_next_owner(cyrus, name):
    client = cyrus.client(name())
    cyrus.cyrus.deliver(client.address, "Old")
    client.discover()
    client.call(("Mailbox/set", {"create": {"a": {"name": "Projects"}}}))
    cyrus.run("account", "delete", client.address)
    cyrus.receiver.await_line(f"{client.address} account_deleted: done")
    assert not cyrus.mailboxes(client.address)
    # Mail that Postfix had accepted before makes a mailbox.
    cyrus.cyrus.deliver(client.address, "Late")
    assert cyrus.mailboxes(client.address)
    cyrus.run("account", "free", client.address)
    cyrus.receiver.await_line(f"{client.address} address_freed: done")
    assert not cyrus.mailboxes(client.address)
    before = cyrus.receiver.read_log().count("account_created: done")
    next_owner = Client(cyrus, client.address.partition("@")[0], cyrus.postern.url)
    await_true(lambda: cyrus.receiver.read_log().count("account_created: done") > before,
               cyrus.receiver.read_log)
    next_owner.discover()
    assert next_owner.emails() == []
    assert len(cyrus.mailboxes(client.address)) == 5



# Messages

NUMBERS = itertools.count(2_000_000)


def test_a_message_that_is_not_signed_or_old_changes_nothing(dovecot):
    address = "forged@mail.test"
    made = event(next(NUMBERS), address=address)
    headers, body = message(made)
    now = int(headers["webhook-timestamp"])
    other, _ = message(made, "whsec_" + "A" * 44)
    without = [{name: value for name, value in headers.items() if name != field}
               for field in ["webhook-id", "webhook-timestamp", "webhook-signature"]]
    for fields, content in [
            (other, body), (headers, body + b" "), ({**headers, "webhook-id": "another"}, body),
            ({**headers, "webhook-timestamp": str(now + 1)}, body), message(made, moment=now - 301),
            # A minute more than is accepted: the clock goes on while this runs.
            message(made, moment=now + 360), message(made, moment="1e9"), message(made, moment="-1"),
            ({**headers, "webhook-signature": "v1,"}, body), ({**headers, "webhook-signature": "é"}, body),
            ({**headers, "webhook-signature": other["webhook-signature"].replace("v1,", "v1a,")}, body),
            *((fields, body) for fields in without)]:
        assert dovecot.receiver.post(fields, content) == 401, fields
    assert not dovecot.folder(address).exists()
    # One of several signatures is enough, while a secret is replaced.
    both = f"{other['webhook-signature']} {headers['webhook-signature']}"
    assert dovecot.receiver.post({**headers, "webhook-signature": both}, body) == 204
    assert dovecot.folder(address).exists()


@pytest.mark.parametrize("changes", [
    {"name": "../x@mail.test"}, {"name": "a/b@mail.test"}, {"address": "..@mail.test"}, {"name": ".a@mail.test"},
    {"name": "a@../mail.test"}, {"name": "a@b/c"}, {"name": 'a"b@mail.test'}, {"name": "a\nb@mail.test"},
    {"name": "a\u0000@mail.test"}, {"name": "*@mail.test"}, {"name": "A@mail.test"}, {"name": ""},
    {"name": 1}, {"address": None}, {"address": "a" * 65 + "@mail.test"}, {"number": "1"}, {"number": -1},
    {"number": True}, {"number": 2**63}, {"quota": -1}, {"quota": "1"}, {"quota": 1.5}, {"event": 1}])
def test_a_member_that_cannot_be_an_accounts_is_refused(dovecot, changes):
    assert dovecot.receiver.send(event(next(NUMBERS)) | changes) == 400


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"null", b"\xff", b"[" * 16_000, b'{"number":1}', b"1" * 10_000])
def test_a_body_that_is_no_event_is_refused(dovecot, body):
    assert dovecot.receiver.send(body) == 400


def test_bodies_are_bounded(dovecot):
    padded = event(next(NUMBERS), "later_event", more=" " * 17_000)
    assert dovecot.receiver.send(padded) == 413
    assert dovecot.receiver.send(padded, **{"Content-Length": "9" * 30}) == 411
    assert dovecot.receiver.send(padded, **{"Content-Length": "-1"}) == 411
    assert dovecot.receiver.send(padded, **{"Transfer-Encoding": "chunked"}) == 411


def test_unknown_members_and_kinds_of_events_are_accepted(dovecot):
    assert dovecot.receiver.send(event(next(NUMBERS), "renamed_by_a_later_version", later=[1])) == 204


def test_an_event_that_comes_again_or_late_changes_nothing(dovecot):
    address = "again@mail.test"
    early, made = event(next(NUMBERS), "account_deleted", address), event(next(NUMBERS), address=address, quota=2048)
    assert dovecot.receiver.send(made) == 204
    quota = dovecot.receiver.state / "quota" / address
    assert quota.read_text() == "*:bytes=2048"
    quota.unlink()
    assert dovecot.receiver.send(made) == 204
    assert dovecot.receiver.send(early) == 204
    assert not quota.exists() and dovecot.folder(address).exists()
    dovecot.receiver.stop()
    dovecot.receiver.start()
    assert dovecot.receiver.send(made) == 204
    assert not quota.exists()
    assert dovecot.receiver.send(event(next(NUMBERS), "quota_changed", address, quota=4096)) == 204
    assert quota.read_text() == "*:bytes=4096"


def test_an_event_that_was_not_done_is_done_when_it_comes_again(dovecot):
    """The mailbox is a folder that cannot be made, until it can."""
    address, blocked = "blocked@blocked.test", dovecot.mail / "blocked.test"
    blocked.write_text("")
    made = event(next(NUMBERS), address=address)
    assert dovecot.receiver.send(made) == 500
    blocked.unlink()
    assert dovecot.receiver.send(made) == 204
    assert dovecot.folder(address).exists()


def test_an_account_without_a_name_at_the_store_is_accepted(dovecot):
    """As with `mail.subject = "local_part"` and another domain than the first."""
    assert dovecot.receiver.send(event(next(NUMBERS), address="no-name@mail.test", name=None)) == 204
    assert not dovecot.folder("no-name@mail.test").exists()


def test_clients_that_send_nothing_do_not_keep_others_out(dovecot):
    silent = [socket.create_connection(("127.0.0.1", dovecot.receiver.port), 60) for _ in range(70)]
    try:
        assert dovecot.receiver.send(event(next(NUMBERS), address="patient@mail.test")) == 204
    finally:
        for each in silent:
            each.close()


@pytest.mark.parametrize(("words", "said"), [
    (["--listen", "0.0.0.0:8099"], "loopback"), (["--listen", "example.org:1"], "loopback"),
    (["--secret-file", "/nonexistent"], "No such file"), ([], "STORE")])
def test_a_wrong_command_line_is_an_error(tmp_path, words, said):
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    store = ["cyrus", "--password-file", secret] if words else []
    found = subprocess.run(
        [PROGRAM, "--secret-file", secret, "--state", tmp_path, *words, *store], text=True, capture_output=True,
        timeout=60)
    assert found.returncode != 0 and said in found.stderr and "Traceback" not in found.stderr


def test_the_help_names_every_event():
    said = subprocess.run([PROGRAM, "--help"], text=True, capture_output=True, timeout=60, check=True).stdout
    documented = (DEPLOY.parents[1] / "docs/provisioning.md").read_text()
    kinds = re.findall(r"^\| `(\w+_(?:created|disabled|enabled|changed|deleted|freed))` \|", documented, re.M)
    assert len(kinds) == 6 and all(kind in said for kind in kinds)


@pytest.mark.parametrize("store", ["dovecot", "cyrus"])
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path, store):
    def copy(source, target):
        target.parent.mkdir(exist_ok=True)
        target.write_text(
            (DEPLOY / source).read_text().replace("/usr/local/lib/postern/mailbox-receiver", str(PROGRAM)))

    unit = tmp_path / "mailbox-receiver.service"
    copy(unit.name, unit)
    if store == "cyrus":
        copy("cyrus/mailbox-receiver.conf", tmp_path / "mailbox-receiver.service.d/cyrus.conf")
    checked = analyze("verify", "--man=no", unit)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
