"""Agents with mail in Cyrus IMAP: JMAP behind nginx, and directly with minimal capabilities.

The calls of JMAP are those of the documents that agents read, but for two: a reference to another
result stands only where RFC 8620 §3.7 has one, and a submission names its identity, which RFC 8621
§7 requires.
"""

import time
import types

import pytest
import requests

from agent import Agent, bearer, claims
from cyrus import Cyrus, JMAPNginx, SubmissionServer, listens, policy
from program import Postern, await_true, run
from proxies import free_port

CORE, MAIL, SUBMISSION = (f"urn:ietf:params:jmap:{name}" for name in ["core", "mail", "submission"])
HOST = "localhost"


@pytest.fixture(scope="module")
def place(tmp_path_factory, authority):
    """Everything once: nginx, two servers on one database, Cyrus, and where it sends mail to.

    `gateway` issues full capabilities, for clients that come through nginx. `direct` issues minimal
    ones, for clients that ask Cyrus itself."""
    directory = tmp_path_factory.mktemp("mail")
    authority.context(HOST)
    place = types.SimpleNamespace(
        directory=directory, data=["--profile", "test", "--data", str(directory / "data")],
        certificates=str(authority.file), submission=SubmissionServer())
    public, services, store = free_port(), free_port(), free_port()
    running = []
    try:
        nginx = JMAPNginx(directory, authority.directory / f"{HOST}.pem", [public, services, store])
        running.append(nginx)
        place.url, place.store = f"https://{HOST}:{nginx.port}", f"http://127.0.0.1:{store}"
        proxied = {"POSTERN_MAIL_JMAP_SESSION": "proxy", "POSTERN_MAIL_JMAP_SESSION_CACHE": "1s",
                   "POSTERN_MAIL_JMAP_SESSION_TIMEOUT": "60s"}
        place.gateway = Postern(
            directory, *place.data, profile=None, port=public, **proxied,
            POSTERN_SERVER_PUBLIC_URL=place.url, POSTERN_SERVER_TRUSTED_PROXIES="127.0.0.1",
            POSTERN_MAIL_JMAP_URL=place.url, POSTERN_MAIL_JMAP_STORE_URL=place.store,
            POSTERN_SERVICES_LISTEN=f"127.0.0.1:{services}", POSTERN_SERVICES_STORE_TOKEN="minimal")
        running.append(place.gateway)
        place.direct = Postern(
            directory, *place.data, profile=None, **proxied,
            POSTERN_MAIL_JMAP_URL=place.store, POSTERN_TOKENS_CAPABILITY_CLAIMS="minimal")
        running.append(place.direct)
        place.cyrus = Cyrus(
            store, place.submission.port, lambda directory: export_keys(place, directory))
        running.append(place.cyrus)
        yield place
    finally:
        for each in reversed(running):
            each.stop()
        place.submission.close()


def export_keys(place, directory):
    """The one key that signs now, where Cyrus reads it."""
    # Answered when the first key has been made.
    assert requests.get(f"{place.direct.url}/.well-known/jwks.json", timeout=60).status_code == 200
    exported = run("key", "export", "--use", "capability", "--layout", "cyrus", "--directory",
                   str(directory), *place.data, directory=place.directory)
    assert exported.returncode == 0, exported.stderr


class Client(Agent):
    """An agent with a mailbox: from the proof of work to the calls of JMAP."""

    def __init__(self, place, username, url=None):
        super().__init__(url or place.url)
        self.place = place
        self.http.verify = place.certificates
        solved = self.solve()
        self.begun = time.monotonic()
        signup = self.session(solved, username=username)
        assert signup.status_code == 201, signup.text
        self.address, self.token = signup.json()["inbox"], bearer(signup)
        self.api_key = signup.json()["apiKey"]
        self.renew()

    def renew(self):
        capability = self.capability(self.token)
        assert capability.status_code == 200, capability.text
        self.key = bearer(capability)

    @property
    def headers(self):
        return {"Authorization": f"Bearer {self.key}"}

    def discover(self):
        answer = self.mailbox(self.key)
        assert answer.status_code == 200, answer.text + self.place.gateway.read_log()[-3000:]
        self.jmap = answer.json()
        self.account = self.jmap["primaryAccounts"][MAIL]
        return self.jmap

    def send_calls(self, *calls, using=(CORE, MAIL)):
        return self.http.post(self.jmap["apiUrl"], headers=self.headers, timeout=60, json={
            "using": list(using),
            "methodCalls": [[name, {"accountId": self.account, **arguments}, f"c{number}"]
                            for number, (name, arguments) in enumerate(calls)]})

    def call(self, *calls, using=(CORE, MAIL)):
        answer = self.send_calls(*calls, using=using)
        assert answer.status_code == 200, answer.text
        self.state = answer.json()["sessionState"]
        return [response[:2] for response in answer.json()["methodResponses"]]

    def inbox(self):
        [[name, found]] = self.call(("Mailbox/query", {"filter": {"role": "inbox"}}))
        assert name == "Mailbox/query", found
        [inbox] = found["ids"]
        return inbox

    def emails(self):
        _, [_, found] = self.call(
            ("Email/query", {
                "filter": {"inMailbox": self.inbox()}, "limit": 20,
                "sort": [{"property": "receivedAt", "isAscending": False}]}),
            ("Email/get", {
                "#ids": {"resultOf": "c0", "name": "Email/query", "path": "/ids"},
                "properties": ["id", "blobId", "subject", "from", "receivedAt", "preview"]}))
        return found["list"]

    def send(self, recipient, subject, sender=None, **submission):
        """Creates a mail in the inbox and submits it; what came of the submission."""
        sender = sender or self.address
        [_, made], [_, sent] = self.call(
            ("Email/set", {"create": {"draft1": {
                "mailboxIds": {self.inbox(): True}, "from": [{"email": self.address}],
                "to": [{"email": recipient}], "subject": subject,
                "textBody": [{"partId": "body", "type": "text/plain"}],
                "bodyValues": {"body": {"value": "An answer."}}, "keywords": {"$draft": True}}}}),
            ("EmailSubmission/set", {"create": {"sub1": {
                "emailId": "#draft1", "envelope": {
                    "mailFrom": {"email": sender}, "rcptTo": [{"email": recipient}]},
                **submission}}}),
            using=[CORE, MAIL, SUBMISSION])
        assert made["created"], made
        return sent

    def identity(self):
        [[_, found]] = self.call(("Identity/get", {"ids": None}), using=[CORE, SUBMISSION])
        [identity] = found["list"]
        assert identity["email"] == self.address
        return identity["id"]


@pytest.fixture
def client(place, name):
    """An agent behind nginx whose mailbox exists."""
    client = Client(place, name())
    place.cyrus.deliver(client.address, "Welcome")
    client.discover()
    return client


@pytest.fixture(params=["gateway", "direct"])
def server(request, place):
    return getattr(place, request.param)


def test_an_agent_signs_up_and_reads_its_first_mail(place, server, name, report):
    url = place.url if server is place.gateway else server.url
    client = Client(place, name(), url)
    place.cyrus.deliver(client.address, "Hello", "How are you?")
    jmap = client.discover()
    [mail] = client.emails()
    taken = time.monotonic() - client.begun
    how = "behind nginx" if server is place.gateway else "directly"
    report(f"{taken:.3f} s from POST /api/v1/session to the first mail over JMAP, {how}")
    assert (mail["subject"], mail["preview"].strip()) == ("Hello", "How are you?")
    assert mail["from"] == [{"name": "Ada", "email": "ada@example.com"}]
    store = place.url if server is place.gateway else place.store
    assert jmap["apiUrl"] == f"{store}/jmap/"
    assert (set(claims(client.key)) == {"sub", "iat"}) == (server is place.direct)


def test_the_session_object_is_that_of_the_store(place, server, name):
    client = Client(place, name(), place.url if server is place.gateway else server.url)
    place.cyrus.deliver(client.address, "Welcome")
    jmap = client.discover()
    client.inbox()
    # What clients compare, to know whether the object has changed.
    assert jmap["state"] == client.state
    assert jmap["username"] == client.address
    # Cyrus's own limits: two from imapd.conf, one that RFC 8620 only suggests to be 500 or more.
    core = jmap["capabilities"][CORE]
    assert core["maxSizeUpload"] == 50_000 * 1024 and core["maxSizeRequest"] == 10_000 * 1024
    assert core["maxObjectsInGet"] == 4096
    assert jmap["accounts"][client.account]["accountCapabilities"][MAIL]


def test_blobs_and_the_event_source_are_at_the_urls_of_the_session_object(client):
    [mail] = client.emails()
    download = client.jmap["downloadUrl"].format(
        accountId=client.account, blobId=mail["blobId"], name="mail.eml", type="text/plain")
    blob = client.http.get(download, headers=client.headers, timeout=60)
    assert blob.status_code == 200 and "Subject: Welcome" in blob.text
    upload = client.http.post(
        client.jmap["uploadUrl"].format(accountId=client.account), b"x" * 100_000,
        headers={**client.headers, "Content-Type": "text/plain"}, timeout=60)
    assert upload.status_code == 201 and upload.json()["size"] == 100_000
    # Debian's Cyrus is built without WebSocket, and so without events: it has none to tell.
    events = client.jmap["eventSourceUrl"].format(types="*", closeafter="state", ping=0)
    assert "{" not in events
    assert client.http.get(events, headers=client.headers, timeout=60).status_code == 204


def test_the_first_mail_creates_the_mailbox(place, name):
    client = Client(place, name())
    # Cyrus names an account that it has not got, without capabilities.
    jmap = client.discover()
    assert jmap["accounts"][client.account]["accountCapabilities"] is None
    [[kind, error]] = client.call(("Mailbox/query", {"filter": {"role": "inbox"}}))
    assert (kind, error["type"]) == ("error", "accountNotFound")
    place.cyrus.deliver(client.address, "The first")
    # Such an object is not kept.
    assert client.discover()["accounts"][client.account]["accountCapabilities"][MAIL]
    [[_, found]] = client.call(("Mailbox/get", {"ids": None, "properties": ["role"]}))
    assert {box["role"] for box in found["list"]} == {"inbox", "sent", "drafts", "trash", "junk"}


def test_a_mailbox_is_opened_by_its_own_token_only(place, client, name):
    other = Client(place, name())
    place.cyrus.deliver(other.address, "Private")
    other.discover()
    other.account = client.account
    [[kind, error]] = other.call(("Mailbox/query", {"filter": {"role": "inbox"}}))
    assert (kind, error["type"]) == ("error", "accountNotFound")


def test_an_agent_answers_a_mail(place, client):
    sent = client.send("ada@example.com", "Re: Welcome", identityId=client.identity())
    assert sent["created"]["sub1"]["undoStatus"] == "final", sent
    sender, recipients, text = place.submission.taken[-1]
    assert (sender, recipients) == (client.address, ["ada@example.com"])
    assert f"From: {client.address}" in text and "Subject: Re: Welcome" in text
    assert "An answer." in text
    assert place.submission.senders[-1].startswith(
        f"MAIL FROM:<{client.address}> AUTH={client.address} ")


def test_cyrus_wants_an_identity_for_a_submission(place, client):
    taken = list(place.submission.taken)
    sent = client.send("ada@example.com", "Re: Welcome")
    assert sent["notCreated"]["sub1"] == {
        "type": "invalidProperties", "properties": ["identityId"]}
    assert place.submission.taken == taken


def test_the_mail_server_refuses_a_sender_that_is_not_the_user(place, client, name):
    other = Client(place, name()).address
    taken = list(place.submission.taken)
    for sender in [other, "ada@example.com", f"x.{client.address}"]:
        sent = client.send(
            "ada@example.com", "Forged", sender=sender, identityId=client.identity())
        assert sent["notCreated"]["sub1"]["type"] == "forbiddenMailFrom", sent
        # Cyrus does not look at the sender.
        assert place.submission.senders[-1].startswith(f"MAIL FROM:<{sender}> AUTH={client.address}")
    assert place.submission.taken == taken


def test_a_sender_that_contains_commands_of_smtp_sends_nothing(place, client):
    other = "postmaster@mail.test"
    taken = list(place.submission.taken)
    message = f"From: {other}\r\n\r\nForged.\r\n"
    mail = f"{other}> AUTH={other}\r\nRCPT TO:<ada@example.com>\r\n"
    for sender in [
            f"{other}> AUTH={other}", f"{other}> AUTH={other}\r\nNOOP ",
            f"{mail}DATA\r\n{message}.\r\nNOOP ",
            f"{mail}BDAT {len(message)} LAST\r\n{message}NOOP "]:
        sent = client.send(
            "ada@example.com", "Forged", sender=sender, identityId=client.identity())
        assert sent["notCreated"]["sub1"]["type"], sent
    assert place.submission.taken == taken
    assert any(line == f"MAIL FROM:<{other}> AUTH={other}" for line in place.submission.senders)


@pytest.mark.parametrize(("sender", "user", "allowed"), [
    ("a.b@mail.test", "a.b@mail.test", True), ("A.B@Mail.Test", "a.b@mail.test", True),
    ("b@mail.test", "a@mail.test", False), ("", "", False), ("", "a@mail.test", False),
    ("a@mail.test", "", False), ("a@mail.test ", "a@mail.test", False), ("*", "a@mail.test", False),
    ("a@mail.test", "A@MAIL.TEST", False), ("-n", "-n", True), ("%s", "%d", False),
])
def test_the_policy_compares_the_sender_with_the_user(sender, user, allowed):
    action = policy(sender=sender, sasl_sender=user)
    assert action == "DUNNO" if allowed else action.startswith("550 5.3.0 ")


def test_cyrus_refuses_full_capabilities_and_other_signatures(place, client):
    minimal = Client(place, "minimal-one", place.direct.url)
    head, body, signature = minimal.key.split(".")
    for token in [client.key, f"{head}.{body}.{signature[::-1]}", ""]:
        answer = requests.get(
            f"{place.store}/jmap/", headers={"Authorization": f"Bearer {token}"}, timeout=60)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
    answer = requests.get(f"{place.store}/jmap/", headers=minimal.headers, timeout=60)
    assert answer.status_code == 200


def test_nginx_passes_nothing_on_without_a_valid_token(place, client):
    for headers in [{}, {"Authorization": "Bearer x"}, {"X-Store-Authorization": client.key}]:
        answer = client.http.post(client.jmap["apiUrl"], json={}, headers=headers, timeout=60)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    # The names of the accounts that it is about come from the token, not from the client.
    forged = {**client.headers, "X-Auth-Subject": "postmaster@mail.test"}
    answer = client.http.get(f"{place.url}/jmap/", headers=forged, timeout=60)
    assert answer.json()["username"] == client.address
    assert not {"Alt-Svc", "Upgrade"} & set(answer.headers)


def test_a_disabled_account_is_refused_at_once_behind_nginx(place, client):
    disabled = run("account", "disable", client.address, *place.data, directory=place.directory)
    assert disabled.returncode == 0, disabled.stderr
    assert client.send_calls(("Mailbox/query", {})).status_code == 401
    assert client.mailbox(client.key).status_code == 401
    enabled = run("account", "enable", client.address, *place.data, directory=place.directory)
    assert enabled.returncode == 0, enabled.stderr
    assert client.inbox()


def test_a_freed_address_has_the_old_mail_until_the_mailbox_is_emptied(place, name):
    username = name()
    first = Client(place, username)
    place.cyrus.deliver(first.address, "For the first owner")
    deleted = first.http.delete(
        f"{place.url}/api/v1/account", headers={"Authorization": f"Bearer {first.token}"}, timeout=60)
    assert deleted.status_code == 204
    freed = run("account", "free", first.address, *place.data, directory=place.directory)
    assert freed.returncode == 0, freed.stderr
    second = Client(place, username)
    second.discover()
    assert [mail["subject"] for mail in second.emails()] == ["For the first owner"]
    place.cyrus.purge(second.address)
    assert second.emails() == []
    place.cyrus.deliver(second.address, "For the second owner")
    assert [mail["subject"] for mail in second.emails()] == ["For the second owner"]


def test_after_a_key_rotation_cyrus_needs_the_new_key_alone(place, client):
    rotated = run("key", "rotate", "--use", "capability", "--leaked", *place.data,
                  directory=place.directory)
    assert rotated.returncode == 0, rotated.stderr
    # The server that issues may learn of the key later than the one that verifies.
    def is_refused_by_the_store():
        client.renew()
        return client.send_calls(("Mailbox/query", {})).status_code == 401
    await_true(is_refused_by_the_store, "Cyrus knows the new key")

    def is_unavailable():
        client.renew()
        return client.mailbox(client.key).status_code == 503
    await_true(is_unavailable, "the session object is kept")
    export_keys(place, place.cyrus.keys)
    place.cyrus.reload()
    await_true(lambda: client.mailbox(client.key).status_code == 200, "Cyrus has not read the key")
    await_true(lambda: client.send_calls(("Mailbox/query", {})).status_code == 200, "an old process")


def test_while_postern_does_not_answer_nginx_says_try_later(place, authority, tmp_path):
    nowhere = [free_port() for _ in range(2)]
    nginx = JMAPNginx(
        tmp_path, authority.directory / f"{HOST}.pem", [*nowhere, place.cyrus.port])
    try:
        await_true(lambda: listens(nginx.port), nginx.log.read_text)
        answer = requests.get(
            f"https://{HOST}:{nginx.port}/jmap/", headers={"Authorization": "Bearer x"},
            verify=place.certificates, timeout=60)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
        assert answer.json()["status"] == 503
    finally:
        nginx.stop()
