"""Dovecot 2.3 with the configuration of deploy/mail/: passwords, tokens, quotas, and what ends at once."""

import imaplib
import json
import shutil
import smtplib
import time
from concurrent.futures import ThreadPoolExecutor

import jwt
import pytest
import requests

from agent import Agent, bearer
from mailboxes import PASSWORD, Mailboxes
from mailstores import SECRET, Dovecot, From, directory, free_port
from program import Postern, run

ISSUER = "https://auth.example.org"
MECHANISMS = ["OAUTHBEARER", "XOAUTH2"]


class Store:
    """A Postern and a Dovecot that asks it."""

    def __init__(self, place, authority):
        self.place, self.services = place, free_port()
        self.data = ["--data", str(place / "data")]
        (place / "secret").write_text(SECRET + "\n")
        (place / "secret").chmod(0o600)
        self.clients = From(authority)
        self.start()
        self.boxes = Mailboxes(self.postern.url)
        try:
            self.dovecot = Dovecot(place / "dovecot", authority, self.services)
        except BaseException:
            self.postern.stop()
            raise

    def start(self, port=0):
        # Keys are signed for an issuer that does not change with the port.
        self.postern = Postern(
            self.place, *self.data, port=port, POSTERN_USERS_REGISTRATION="open",
            POSTERN_SERVER_PUBLIC_URL=ISSUER, POSTERN_SERVICES_LISTEN=f"127.0.0.1:{self.services}",
            POSTERN_SERVICES_SECRET_FILE=str(self.place / "secret"))

    def run(self, *arguments, **settings):
        done = run(*arguments, *self.data, directory=self.place, **settings)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def capability(self, box):
        answer = Agent(self.postern.url).post("/api/v1/capability", box.token)
        assert answer.status_code == 200, answer.text
        return bearer(answer)

    def imap(self, source="127.0.0.1"):
        return self.clients.imap(self.dovecot.port, source)

    def login(self, user, password, **options):
        return opened(self.imap(**options), lambda imap: imap.login(user, password))

    def bearer(self, mechanism, user, token):
        return opened(self.imap(), lambda imap: imap.bearer(mechanism, user, token))

    def stop(self):
        try:
            self.dovecot.stop()
        finally:
            self.postern.stop()


def opened(imap, log_in):
    """A connection that has logged in and can read its mailbox, or the text of the refusal."""
    try:
        log_in(imap)
    except imaplib.IMAP4.error as error:
        imap.shutdown()
        return str(error)
    assert imap.select("INBOX")[0] == "OK"
    return imap


def closed(imap):
    assert not isinstance(imap, str), imap
    imap.logout()


@pytest.fixture(scope="module")
def store(authority):
    with directory() as place:
        store = Store(place, authority)
        yield store
        store.stop()


REFUSED = "AUTHENTICATIONFAILED"
LATER = "UNAVAILABLE"


def all_refused(log_in, *attempts):
    """At the same time, because Dovecot answers a failed login after half a second."""
    with ThreadPoolExecutor(len(attempts)) as pool:
        for answer in pool.map(lambda attempt: log_in(*attempt), attempts):
            assert REFUSED in answer


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_token_opens_its_mailbox_and_no_other(store, mechanism):
    box, other = store.boxes.mailbox(), store.boxes.mailbox()
    capability = store.capability(box)
    for token in (capability, box.token):
        closed(store.bearer(mechanism, box.address, token))
    signed, _, signature = capability.rpartition(".")
    forged = f"{signed}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"
    all_refused(store.bearer, *[(mechanism, user.address, token) for user, token in [
        (other, capability), (other, box.token), (box, "garbage"), (box, "."), (box, forged)]])


def test_a_password_or_an_api_key_opens_the_mailbox(store):
    box = store.boxes.mailbox(password="pass %&=é\"\\ word")
    # Python's login cannot send other characters than ASCII.
    closed(opened(store.imap(), lambda imap: imap.authenticate(
        "PLAIN", lambda _: f"\0{box.address}\0{box.password}".encode())))
    box = store.boxes.mailbox()
    closed(store.login(box.address.upper(), PASSWORD))
    signup = Agent(store.postern.url).session(username="of-dovecot").json()
    closed(store.login(signup["inbox"], signup["apiKey"]))
    all_refused(
        store.login, (box.address, "wrong"), ("nobody-here@mail.test", PASSWORD),
        (box.address, signup["apiKey"]), ("demo", PASSWORD))


def test_failed_logins_are_counted_by_the_address_of_the_client(store):
    box = store.boxes.mailbox()
    store.login(box.address, "wrong", source="127.0.0.77")
    events = [json.loads(line) for line in store.run("audit", "export").splitlines()]
    assert [(event["kind"], event["client"]) for event in events
            if event["subject"].endswith(box.address)][-1] == ("login_failed", "127.0.0.77")


def test_the_quota_of_the_account_holds(store):
    free = store.boxes.mailbox()
    with_password = store.login(free.address, PASSWORD)
    assert with_password.quota() == 41_943_040 // 1024
    closed(with_password)
    user = store.boxes.user()
    owned_by_user = store.boxes.mailbox(token=user.token)
    with_password = store.login(owned_by_user.address, PASSWORD)
    assert with_password.quota() == 52_428_800 // 1024
    closed(with_password)
    # In Dovecot 0 is no limit.
    store.run("account", "quota", free.address, "0")
    with_password = store.login(free.address, PASSWORD)
    kind, [said] = with_password.append("INBOX", None, None, b"Subject: hello\r\n\r\nhi\r\n")
    assert kind == "NO" and b"OVERQUOTA" in said
    closed(with_password)


def test_a_delivery_reaches_the_mailbox(store):
    box = store.boxes.mailbox()
    deliver(store.dovecot, box.address, "Subject: hello\r\n\r\nhi\r\n")
    imap = store.login(box.address, PASSWORD)
    assert imap.search(None, "SUBJECT", "hello")[1] == [b"1"]
    closed(imap)


def deliver(dovecot, address, message):
    """As Postfix does, by LMTP."""
    with smtplib.LMTP(str(dovecot.private / "dovecot-lmtp")) as lmtp:
        assert lmtp.sendmail("sender@example.com", [address], message) == {}


@pytest.mark.parametrize("end", ["disable", "delete"])
def test_what_has_ended_is_refused_at_the_next_login(store, end):
    box = store.boxes.mailbox()
    token = store.capability(box)
    imap = store.login(box.address, PASSWORD)
    store.run("account", end, box.address)
    all_refused(store.bearer, ("OAUTHBEARER", box.address, token), ("XOAUTH2", box.address, box.token))
    all_refused(store.login, (box.address, PASSWORD))
    # A connection that is open stays open until the operator ends it.
    assert imap.noop()[0] == "OK"
    kicked = store.dovecot.administrate("kick", box.address)
    assert kicked.returncode == 0, kicked.stderr
    wait_until(lambda: has_ended(imap))


def test_a_mailbox_that_was_emptied_can_be_given_to_another(store):
    """As docs/mail-stores.md says."""
    box = store.boxes.mailbox()
    deliver(store.dovecot, box.address, "Subject: old\r\n\r\nhi\r\n")
    store.run("account", "delete", box.address)
    name, _, domain = box.address.partition("@")
    shutil.rmtree(store.dovecot.place / "mail" / domain / name)
    store.run("account", "free", box.address)
    assert store.boxes.create(box.address).status_code == 201
    imap = store.login(box.address, PASSWORD)
    assert imap.search(None, "ALL")[1] == [b""]
    closed(imap)


def has_ended(imap):
    try:
        imap.noop()
        return False
    except (imaplib.IMAP4.abort, OSError):
        return True


def test_fourteen_log_in_at_once(store):
    boxes = [store.boxes.mailbox() for _ in range(7)]
    tokens = [store.capability(box) for box in boxes]

    def log_in(index):
        box = boxes[index % 7]
        if index < 7:
            closed(store.login(box.address, PASSWORD))
        else:
            closed(store.bearer("OAUTHBEARER", box.address, tokens[index % 7]))

    with ThreadPoolExecutor(14) as pool:
        list(pool.map(log_in, range(14)))


def test_without_postern_a_login_may_be_tried_again(store):
    """A client that is told of a wrong password forgets it."""
    box = store.boxes.mailbox()
    token = store.capability(box)
    port = store.postern.port
    store.postern.stop()
    assert LATER in store.login(box.address, PASSWORD)
    assert LATER in store.bearer("OAUTHBEARER", box.address, token)
    store.start(port)
    closed(store.login(box.address, PASSWORD))
    closed(store.bearer("OAUTHBEARER", box.address, token))


# Local validation

def write_keys(store, keys):
    """The public keys, in the directory that Dovecot reads them from."""
    # Answered when the first key has been made.
    answer = requests.get(f"{store.postern.url}/.well-known/jwks.json", timeout=60)
    assert answer.status_code == 200
    store.run("key", "export", "--use", "capability", "--directory", str(keys), "--layout", "dovecot")


def test_dovecot_verifies_capabilities_itself(store, authority):
    keys = store.place / "keys"
    write_keys(store, keys)
    dovecot = Dovecot(
        store.place / "local", authority, store.services, local_keys=keys, issuer=ISSUER)
    try:
        def log_in(box, token):
            imap = store.clients.imap(dovecot.port)
            return opened(imap, lambda imap: imap.bearer("OAUTHBEARER", box.address, token))

        box, other = store.boxes.mailbox(), store.boxes.mailbox()
        token = store.capability(box)
        closed(log_in(box, token))
        assert REFUSED in log_in(other, token)
        assert REFUSED in log_in(box, box.token)
        # Dovecot does not ask, so the capability lives its two minutes.
        store.run("account", "disable", box.address)
        closed(log_in(box, token))
        # A new key has to be written first; the old one is accepted until its file is removed and
        # Dovecot has been told. The new one is of another algorithm.
        new = store.boxes.mailbox()
        signed = rotated(store, new, token, "ES256")
        assert REFUSED in log_in(new, signed)
        write_keys(store, keys)
        closed(log_in(new, signed))
        assert dovecot.administrate("reload").returncode == 0
        wait_until(lambda: refuses(log_in(box, token)))
        closed(log_in(new, signed))
        # Dovecot verifies no EdDSA, whatever the name of the key's file is.
        signed = rotated(store, new, signed, "EdDSA")
        store.run("key", "export", "--use", "capability", "--directory", str(store.place / "pem"))
        kid = jwt.get_unverified_header(signed)["kid"]
        for name in ["EdDSA", "EDDSA"]:
            (keys / "default" / name).mkdir()
            shutil.copy(store.place / "pem" / f"{kid}.pem", keys / "default" / name / kid)
        assert REFUSED in log_in(new, signed)
        rotated(store, new, signed, "RS256")
    finally:
        dovecot.stop()


def refuses(answer):
    if isinstance(answer, str):
        return REFUSED in answer
    answer.logout()
    return False


def rotated(store, box, old, algorithm):
    """A capability of another key than the old one, which is rejected from now on."""
    store.run("key", "rotate", "--use", "capability", "--leaked",
              POSTERN_TOKENS_CAPABILITY_ALGORITHM=algorithm)
    kid = jwt.get_unverified_header(old)["kid"]
    found = []

    def is_signed_by_another():
        found.append(store.capability(box))
        return jwt.get_unverified_header(found[-1])["kid"] != kid

    wait_until(is_signed_by_another)
    assert jwt.get_unverified_header(found[-1])["alg"] == algorithm
    return found[-1]


def wait_until(holds):
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)
