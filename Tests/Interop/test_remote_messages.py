"""The messages of accounts whose mail is at a JMAP server: Cyrus IMAP, and a second Postern with
local mail, which has an event source and full capabilities."""

import concurrent.futures
import http.client
import json
import re
import statistics
import subprocess
import threading
import time

import pytest
import requests

from cyrus import PROGRAMS, Cyrus, SubmissionServer
from mailboxes import Mailboxes
from program import ROOT, Postern, done, run
from proxies import free_port
from test_messages import MIXED, Client, deliver, source


class CyrusStore:
    """Postern in front of Cyrus, which is asked with minimal capabilities."""

    name = "cyrus"

    def __init__(self, directory, **settings):
        self.directory = directory
        self.data = ["--profile", "test", "--data", str(directory / "data")]
        self.submission, port = SubmissionServer(), free_port()
        self.jmap = ("127.0.0.1", port)
        self.postern = Postern(
            directory, *self.data, profile=None, POSTERN_MAIL_JMAP_URL=f"http://127.0.0.1:{port}",
            POSTERN_MAIL_JMAP_SESSION_TIMEOUT="60s", POSTERN_TOKENS_CAPABILITY_CLAIMS="minimal",
            POSTERN_LIMITS_ENABLED="false", **Postern.CHEAP_PASSWORDS, **settings)
        try:
            self.cyrus = Cyrus(port, self.submission.port, self.export_keys)
        except BaseException:
            self.postern.stop()
            raise

    def export_keys(self, keys):
        # Answered when the first key has been made.
        jwks = requests.get(f"{self.postern.url}/.well-known/jwks.json", timeout=60)
        assert jwks.status_code == 200
        exported = run("key", "export", "--use", "capability", "--layout", "cyrus", "--directory",
                       str(keys), *self.data, directory=self.directory)
        assert exported.returncode == 0, exported.stderr

    def deliver(self, address, *messages):
        for message in messages:
            self.cyrus.put(address, message)

    def report_usage(self, _):
        """As docs/provisioning.md says."""
        [program] = re.findall(
            r"/usr/lib/cyrus/bin/quota \|\n +awk '(.*)' \|\n +postern account usage --stdin",
            (ROOT / "docs/provisioning.md").read_text())
        quotas = done(
            PROGRAMS / "quota", "-C", self.cyrus.configuration, cwd=self.cyrus.directory,
            **self.cyrus.identity())
        lines = subprocess.run(
            ["awk", program], input=quotas, text=True, capture_output=True, check=True).stdout
        noted = run("account", "usage", "--stdin", *self.data, directory=self.directory, stdin=lines)
        assert noted.returncode == 0, (lines, noted.stderr)

    def stop(self):
        # Cyrus waits for the connections that Postern keeps open.
        self.postern.stop()
        self.cyrus.stop()
        self.submission.close()


class PosternStore:
    """Two servers on one database: the first has the mail, the second asks it."""

    name = "postern"

    def __init__(self, directory):
        self.directory = directory
        self.data = data = ["--profile", "test", "--data", str(directory / "data")]
        settings = {"POSTERN_SERVER_PUBLIC_URL": "http://mail.test", "POSTERN_LIMITS_ENABLED": "false",
                    **Postern.CHEAP_PASSWORDS}
        self.local = Postern(directory, *data, profile=None, **settings)
        self.jmap = (self.local.host, self.local.port)
        try:
            self.postern = Postern(
                directory, *data, profile=None, POSTERN_MAIL_JMAP_URL="http://mail.test",
                POSTERN_MAIL_JMAP_STORE_URL=self.local.url,
                POSTERN_MAIL_JMAP_SESSION_PATH="/.well-known/jmap",
                POSTERN_MAIL_JMAP_SESSION_TIMEOUT="60s", **settings)
        except BaseException:
            self.local.stop()
            raise

    def deliver(self, address, *messages):
        deliver(self.local, address, *messages)

    def report_usage(self, box):
        """What the first server counts."""
        used = Mailboxes(self.local.url).get(box.id, box.token).json()["used"]
        noted = run("account", "usage", box.address, used, *self.data, directory=self.directory)
        assert noted.returncode == 0, noted.stderr

    def stop(self):
        self.postern.stop()
        self.local.stop()


@pytest.fixture(scope="module", params=[CyrusStore, PosternStore], ids=lambda store: store.name)
def store(request, tmp_path_factory):
    store = request.param(tmp_path_factory.mktemp("store"))
    yield store
    store.stop()


@pytest.fixture
def box(store):
    """A new account, whose mailbox the store may not have yet."""
    return Mailboxes(store.postern.url).mailbox()


@pytest.fixture
def client(store, box):
    return Client(store.postern, box.id, box.token)


def test_an_account_without_mail_has_none(client):
    assert client.list() == []
    assert client.ask("/M1").status_code == 404
    assert client.ask("/M1", "DELETE").status_code == 404
    assert client.ask("/read", "PUT", {"all": True}).json() == {"updated": 0}
    assert client.ask("/wait?timeout=0").json() == {"messages": []}


def test_mail_is_listed_read_marked_and_deleted(store, box, client):
    store.deliver(box.address, source("First", "How are you?"))
    [message] = client.list()
    assert set(message) == {
        "id", "sender", "from", "subject", "preview_text", "size", "is_read", "created_at"}
    assert (message["sender"], message["from"]) == ("Ada", "ada@example.com")
    assert (message["subject"], message["preview_text"].strip()) == ("First", "How are you?")
    assert message["is_read"] is False and message["size"] > 50
    shown = client.ask(f"/{message['id']}").json()
    assert shown["address"] == box.address and shown["attachments"] == []
    assert shown["text_body"].replace("\r\n", "\n") == "How are you?\n"
    assert shown["html_body"] is None
    assert client.list()[0]["is_read"] is False
    for updated in [1, 0]:
        answer = client.ask(f"/{message['id']}/read", "PUT")
        assert (answer.status_code, answer.json()) == (200, {"updated": updated}), answer.text
    assert client.list()[0]["is_read"] is True
    assert client.ask(f"/{message['id']}", "DELETE").status_code == 204
    assert client.ask(f"/{message['id']}", "DELETE").status_code == 404
    assert client.list() == []


def test_parts_and_source_are_those_of_the_message(store, box, client):
    store.deliver(box.address, MIXED)
    [message] = client.list()
    assert (message["sender"], message["subject"]) == ("Jürgen", "Grüße")
    shown = client.ask(f"/{message['id']}").json()
    assert shown["text_body"].strip() == "Text €" and shown["html_body"].strip() == "<p>HTML</p>"
    # The content of the first: with its last line end or without it.
    assert shown["attachments"][0]["size"] in (25, 27)
    assert [each | {"size": 0} for each in shown["attachments"]] == [
        {"index": 0, "filename": "page.html", "content_type": "text/html", "size": 0,
         "content_id": None},
        {"index": 1, "filename": 'ä_.png', "content_type": "image/png", "size": 0,
         "content_id": None}]
    page = client.ask(f"/{message['id']}/attachments/0")
    assert page.content.strip() == b"<script>alert(1)</script>"
    assert page.headers["Content-Type"] == "application/octet-stream"
    assert page.headers["Content-Disposition"].startswith("attachment;")
    assert client.ask(f"/{message['id']}/attachments/1").content == bytes(range(16))
    assert client.ask(f"/{message['id']}/attachments/2").status_code == 404
    # A store puts fields of its own before the message, and Cyrus adds those that it lacks.
    got = client.ask(f"/{message['id']}/source").content
    assert got.partition(b"\r\n\r\n")[2] == MIXED.partition(b"\r\n\r\n")[2]
    assert all(line in got for line in MIXED.partition(b"\r\n\r\n")[0].split(b"\r\n"))


def test_pages_have_thirty_messages_newest_first(store, box, client):
    store.deliver(box.address, *[source(f"Mail {number}") for number in range(33)])
    first, second = client.list(), client.list(2)
    assert (len(first), len(second), client.list(3)) == (30, 3, [])
    subjects = {each["subject"] for each in first + second}
    assert subjects == {f"Mail {number}" for number in range(33)}
    dates = [each["created_at"] for each in first + second]
    assert dates == sorted(dates, reverse=True)
    several = [each["id"] for each in first[:10]]
    assert client.ask("/read", "PUT", {"ids": [*several, "none"]}).json() == {"updated": 10}
    assert client.ask("/read", "PUT", {"all": True}).json() == {"updated": 23}
    assert client.ask("/read", "PUT", {"all": True}).json() == {"updated": 0}


def test_a_wait_ends_with_the_next_message(store, box, client, report):
    store.deliver(box.address, source("First"))
    [first] = client.list()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for since in [f"since={first['id']}&", ""]:
            waited = pool.submit(client.ask, f"/wait?{since}timeout=60")
            time.sleep(2)
            assert not waited.done(), waited.result().text
            begun = time.monotonic()
            store.deliver(box.address, source("Second"))
            found = waited.result(60).json()["messages"]
            taken = time.monotonic() - begun
            report(f"{store.name}: a wait ended {taken:.3f} s after the delivery began")
            assert [each["subject"] for each in found] == ["Second"]
            assert client.ask(f"/{found[0]['id']}", "DELETE").status_code == 204


def test_a_deleted_message_is_a_place_to_wait_from(store, box, client):
    store.deliver(box.address, source("Number 0"))
    [message] = client.list()
    for number in range(1, 4):
        assert client.ask(f"/{message['id']}", "DELETE").status_code == 204
        store.deliver(box.address, source(f"Number {number}"))
        found = client.ask(f"/wait?since={message['id']}&timeout=60").json()["messages"]
        [message] = found
        assert message["subject"] == f"Number {number}"
    assert client.ask("/wait?since=unknown&timeout=60").status_code == 404


def test_the_first_message_of_a_mailbox_ends_a_wait(store, box, client):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waited = pool.submit(client.ask, "/wait?timeout=60")
        # Without it the wait could begin after the message.
        time.sleep(2)
        store.deliver(box.address, source("Welcome"))
        found = waited.result(60).json()["messages"]
    assert [each["subject"] for each in found] == ["Welcome"]


def test_accounts_share_connections_and_no_mail(store):
    boxes = [Mailboxes(store.postern.url).mailbox() for _ in range(4)]
    clients = [Client(store.postern, box.id, box.token) for box in boxes]
    for box in boxes:
        store.deliver(box.address, source(f"For {box.address}"))
    found, barrier = {}, threading.Barrier(len(boxes))

    def read(box, client):
        barrier.wait()
        for _ in range(10):
            found.setdefault(box.address, []).append([each["subject"] for each in client.list()])

    with concurrent.futures.ThreadPoolExecutor(len(boxes)) as pool:
        list(pool.map(read, boxes, clients))
    assert found == {box.address: [[f"For {box.address}"]] * 10 for box in boxes}
    # A message of another account does not exist.
    [theirs] = clients[0].list()
    other = f"/{theirs['id']}"
    assert clients[1].ask(other).status_code == 404
    assert clients[1].ask(other, "DELETE").status_code == 404


def test_used_is_what_the_store_last_reported(store, box, client):
    """As without the messages API: nothing asks the store."""
    boxes = Mailboxes(store.postern.url)
    text = "A line of text.\r\n" * 1000
    store.deliver(box.address, source("First", text), source("Second", text))
    assert boxes.get(box.id, box.token).json()["used"] == 0
    store.report_usage(box)
    used = boxes.get(box.id, box.token).json()["used"]
    # With header fields; Cyrus counts in KiB.
    assert 2 * len(text) - 1024 < used < 2 * len(text) + 4096
    [first, _] = client.list()
    assert client.ask(f"/{first['id']}", "DELETE").status_code == 204
    assert boxes.get(box.id, box.token).json()["used"] == used


def test_what_a_list_costs_beside_the_store_itself(store, box, client, report):
    """Reported, not asserted: 30 messages through Postern, and by the same calls at the store."""
    store.deliver(box.address, *[source(f"Mail {number}") for number in range(30)])
    assert len(client.list()) == 30
    capability = client.call("POST", "/api/v1/capability", box.token)
    key = capability.headers["Authorization"]
    through = http.client.HTTPConnection(store.postern.host, store.postern.port, timeout=60)
    directly = http.client.HTTPConnection(*store.jmap, timeout=60)

    def ask(connection, *request, **options):
        begun = time.perf_counter()
        connection.request(*request, **options)
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        return time.perf_counter() - begun, body

    def jmap(*calls):
        body = json.dumps({"using": ["urn:ietf:params:jmap:core", "urn:ietf:params:jmap:mail"],
                           "methodCalls": calls})
        return ask(directly, "POST", "/jmap/", body=body, headers={
            "Authorization": key, "Content-Type": "application/json"})

    account = {"accountId": box.address}
    roles = [{"role": role} for role in ["trash", "drafts", "sent"]]
    folders = ["Mailbox/query", {**account, "filter": {"operator": "OR", "conditions": roles}}, "c0"]
    unlisted = json.loads(jmap(folders)[1])["methodResponses"][0][1]["ids"]
    # What Postern asks.
    calls = [
        folders, ["Email/get", {**account, "ids": []}, "c1"],
        ["Email/query", {
            **account, "filter": {"inMailboxOtherThan": unlisted}, "position": 0, "limit": 30,
            "sort": [{"property": "receivedAt", "isAscending": False}]}, "c2"],
        ["Email/get", {
            **account, "#ids": {"resultOf": "c2", "name": "Email/query", "path": "/ids"},
            "properties": ["id", "from", "sender", "subject", "preview", "size", "keywords",
                           "receivedAt", "mailboxIds"]}, "c3"]]
    taken = ([], [])
    for _ in range(100):
        mine, _ = ask(through, "GET", client.path, headers={"Authorization": f"Bearer {box.token}"})
        theirs, body = jmap(*calls)
        assert body.count(b'"preview"') == 30, body
        taken[0].append(mine)
        taken[1].append(theirs)
    mine, theirs = (statistics.median(each) * 1000 for each in taken)
    report(f"{store.name}: 30 messages through Postern {mine:.2f} ms, directly {theirs:.2f} ms: "
           f"{mine / theirs:.2f} times (p50)")

