"""The messages of accounts, over HTTP: who may see them, and that each answer is exact."""

import json
import threading
import time
import uuid

import pytest
import requests

from jmapclient import reader
from mailboxes import Mailboxes, failed
from program import await_true
from test_smtp import Session
from wire import Wire

SENDER = "ada@example.com"
ATTACHED = bytes(range(256))
MIXED = (
    b"From: =?utf-8?q?J=C3=BCrgen?= <j@example.com>\r\nTo: <b@example.org>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n"
    b"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
    b"Content-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
    + "Text €\r\n".encode() + b"--c\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>HTML</p>\r\n--c--\r\n"
    b"--b\r\nContent-Type: text/html; name=\"page.html\"\r\nContent-Disposition: attachment\r\n\r\n"
    b"<script>alert(1)</script>\r\n--b\r\nContent-Type: image/png\r\n"
    b"Content-Disposition: attachment; filename*=utf-8''%C3%A4%22.png\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    b"AAECAwQFBgcICQoLDA0ODw==\r\n--b--\r\n")


def source(subject, text="Hello."):
    return f"From: Ada <{SENDER}>\r\nSubject: {subject}\r\n\r\n{text}\r\n".encode()


def deliver(server, address, *sources):
    with Session(server) as session:
        for each in sources:
            assert session.deliver(each, address)[0] == 250


class Client(Mailboxes):
    """One who may see the messages of a mailbox, by a token or by the cookie of a user."""

    def __init__(self, server, box, token=None, cookie=None, path="/api/accounts/"):
        super().__init__(server.url)
        self.token, self.cookie = token, cookie
        self.path = f"{path}{box}/messages"

    def ask(self, path="", method="GET", body=None, **options):
        headers = {"Cookie": self.cookie} if self.cookie else {}
        return self.call(method, self.path + path, self.token, body, headers=headers, **options)

    def list(self, page=None):
        answer = self.ask("" if page is None else f"?page={page}")
        assert answer.status_code == 200, answer.text
        assert answer.json()["page"] == (page or 1)
        return answer.json()["messages"]


@pytest.fixture(scope="module")
def server(serve):
    return serve(POSTERN_USERS_REGISTRATION="open")


@pytest.fixture
def boxes(server):
    return Mailboxes(server.url)


@pytest.fixture
def owned(boxes):
    """A user and a mailbox of theirs."""
    user = boxes.user()
    return user, boxes.mailbox(user.token)


KINDS = ["mailbox token", "user token", "API token", "user path", "cookie"]


def client_of(kind, server, boxes, owned):
    user, box = owned
    if kind == "cookie":
        login = boxes.http.post(f"{boxes.url}/api/user/login", timeout=60, json={
            "email": user.email, "password": user.password})
        boxes.http.cookies.clear()
        cookie = login.headers["Set-Cookie"].partition(";")[0]
        return Client(server, box.id, cookie=cookie, path="/api/user/accounts/")
    token = {"mailbox token": lambda: box.token, "API token": lambda: boxes.api_token(user)["token"],
             }.get(kind, lambda: user.token)()
    path = "/api/user/accounts/" if kind == "user path" else "/api/accounts/"
    return Client(server, box.id, token, path=path)


@pytest.fixture(params=KINDS)
def client(request, server, boxes, owned):
    return client_of(request.param, server, boxes, owned)


@pytest.fixture
def own(server, boxes, owned):
    return client_of("mailbox token", server, boxes, owned)


def test_each_kind_of_token_lists_reads_marks_and_deletes(server, owned, client):
    address = owned[1].address
    assert client.list() == []
    deliver(server, address, source("first"), MIXED)
    second, first = client.list()
    assert set(first) == {
        "id", "sender", "from", "subject", "preview_text", "size", "is_read", "created_at"}
    assert (first["sender"], first["from"], first["subject"]) == ("Ada", SENDER, "first")
    assert (first["preview_text"], first["is_read"]) == ("Hello.", False)
    assert (second["sender"], second["subject"]) == ("Jürgen", "Grüße")
    assert first["created_at"].endswith("Z")

    detail = client.ask(f"/{second['id']}").json()
    assert detail["address"] == address
    assert (detail["text_body"].strip(), detail["html_body"].strip()) == ("Text €", "<p>HTML</p>")
    assert [(one["index"], one["filename"], one["content_type"]) for one in detail["attachments"]][0] == (
        0, "page.html", "text/html")
    assert detail["attachments"][1]["size"] == 16
    plain = client.ask(f"/{first['id']}").json()
    assert (plain["html_body"], plain["attachments"]) == (None, [])
    assert not any(message["is_read"] for message in client.list())

    for updated in [1, 0]:
        answer = client.ask(f"/{first['id']}/read", "PUT")
        assert (answer.status_code, answer.json()) == (200, {"updated": updated})
    assert [message["is_read"] for message in client.list()] == [False, True]
    answer = client.ask("/read", "PUT", {"all": True})
    assert (answer.status_code, answer.json()) == (200, {"updated": 1})

    assert client.ask(f"/{first['id']}", "DELETE").status_code == 204
    assert [message["id"] for message in client.list()] == [second["id"]]
    for method, path in [("GET", ""), ("DELETE", ""), ("PUT", "/read"), ("GET", "/source"),
                         ("GET", "/attachments/0")]:
        failed(client.ask(f"/{first['id']}{path}", method), 404, "not_found")


def test_the_source_is_what_the_store_has_byte_for_byte(server, boxes, owned, own):
    box = owned[1]
    deliver(server, box.address, MIXED)
    [message] = own.list()
    answer = own.ask(f"/{message['id']}/source")
    assert answer.headers["Content-Type"] == "message/rfc822"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.content.endswith(MIXED) and len(answer.content) == message["size"]
    assert reader(server.url, box).sources() == [answer.content]


def test_an_attachment_is_its_bytes_and_no_page_of_this_origin(server, owned, own):
    deliver(server, owned[1].address, MIXED)
    [message] = own.list()
    page, image = (own.ask(f"/{message['id']}/attachments/{index}") for index in range(2))
    assert page.content.strip() == b"<script>alert(1)</script>" and image.content == ATTACHED[:16]
    for answer in [page, image]:
        assert answer.headers["Content-Disposition"].startswith("attachment")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "html" not in answer.headers["Content-Type"]
    for index in ["2", "-1", "00", "x", "99999999999999999999"]:
        failed(own.ask(f"/{message['id']}/attachments/{index}"), 404, "not_found")


def test_pages_have_thirty_the_newest_first_and_no_trash(server, owned, own):
    mail = reader(server.url, owned[1])
    ids = [mail.put(source(f"number {number}"), receivedAt=f"2026-01-01T00:00:{number:02}Z")
           for number in range(35)]
    archived, *hidden = [
        mail.put(source(role), role, receivedAt="2026-01-02T00:00:00Z")
        for role in ["archive", "trash", "drafts", "sent"]]
    subjects = [message["subject"] for page in [1, 2, 3] for message in own.list(page)]
    assert subjects == ["archive", *[f"number {number}" for number in reversed(range(35))]]
    assert [len(own.list(page)) for page in [1, 2, 3, 1000]] == [30, 6, 0, 0]
    assert own.list() == own.list(1)
    for page in ["0", "-1", "x", "1.0", "99999999999999999999"]:
        failed(own.ask(f"?page={page}"), 400, "invalid_request")
    assert len(ids) == 35 and archived and len(hidden) == 3


MARKS = [{}, [], {"ids": "x"}, {"ids": [1]}, {"all": "true"}, {"ids": [], "all": True}, {"all": False},
         {"ids": ["x"] * 1001}]


@pytest.mark.parametrize("body", MARKS, ids=lambda body: str(body)[:20])
def test_wrong_marks_change_nothing(server, owned, own, body):
    deliver(server, owned[1].address, source("one"))
    failed(own.ask("/read", "PUT", body), 400, "invalid_request")
    assert not own.list()[0]["is_read"]


def test_several_are_marked_and_unknown_ones_are_no_error(server, owned, own):
    deliver(server, owned[1].address, *[source(str(number)) for number in range(3)])
    ids = [message["id"] for message in own.list()]
    answer = own.ask("/read", "PUT", {"ids": [ids[0], ids[0], ids[2], "nobody"]})
    assert answer.json() == {"updated": 2}
    assert [message["is_read"] for message in own.list()] == [True, False, True]


PATHS = [("GET", ""), ("GET", "/wait?timeout=0"), ("GET", "/{id}"), ("DELETE", "/{id}"),
         ("PUT", "/{id}/read"), ("PUT", "/read"), ("GET", "/{id}/source"), ("GET", "/{id}/attachments/0")]


@pytest.mark.parametrize("method, path", PATHS)
def test_others_see_nothing(server, boxes, owned, method, path):
    user, box = owned
    deliver(server, box.address, source("secret"))
    mail = Client(server, box.id, box.token)
    [message] = mail.list()
    path, body = path.replace("{id}", message["id"]), {"all": True} if path == "/read" else None
    stranger, other = boxes.mailbox(), boxes.user()
    for account in [box.id, box.address, str(uuid.uuid4())]:
        for token, status, code in [
                (None, 401, "unauthorized"), ("x", 401, "invalid_or_expired_token"),
                (stranger.token, 403, "forbidden"), (other.token, 404, "not_found")]:
            answer = Client(server, account, token).ask(path, method, body)
            failed(answer, status, code)
        below = Client(server, account, other.token, path="/api/user/accounts/")
        failed(below.ask(path, method, body), 404, "not_found")
        below.token = box.token
        failed(below.ask(path, method, body), 403, "forbidden")
    assert mail.list() == [message]


def test_a_cookie_of_a_foreign_page_changes_nothing(server, boxes, owned):
    deliver(server, owned[1].address, source("one"))
    client = client_of("cookie", server, boxes, owned)
    [message] = client.list()
    for headers in [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}]:
        answer = requests.delete(
            f"{server.url}{client.path}/{message['id']}", timeout=60,
            headers={"Cookie": client.cookie, **headers})
        failed(answer, 403, "forbidden")
    # It is not read under /api/accounts.
    assert Client(server, owned[1].id, cookie=client.cookie).ask().status_code == 401
    assert client.list() == [message]


def test_the_address_names_the_account_as_the_id_does(server, owned):
    box = owned[1]
    deliver(server, box.address, source("one"))
    by_id, by_address = (Client(server, name, box.token).list() for name in [box.id, box.address])
    assert by_id == by_address and len(by_id) == 1


# The long poll.

def later(act):
    """Runs it in a thread; has what returns its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(act()))
    thread.start()

    def result():
        thread.join(90)
        [found] = results
        return found
    return result


def test_a_wait_returns_when_mail_arrives(server, owned, client, report):
    address = owned[1].address
    deliver(server, address, source("before"))
    [before] = client.list()
    waiting = later(lambda: (
        client.ask(f"/wait?since={before['id']}&timeout=60"), time.monotonic()))
    deliver(server, address, source("after"))
    delivered = time.monotonic()
    answer, returned = waiting()
    assert [message["subject"] for message in answer.json()["messages"]] == ["after"]
    report(f"a wait returned {(returned - delivered) * 1000:.1f} ms after the delivery")


def test_a_wait_with_nothing_new_ends_empty_and_with_something_new_at_once(server, owned, own):
    address = owned[1].address
    assert own.ask("/wait?timeout=0").json() == {"messages": []}
    deliver(server, address, *[source(str(number)) for number in range(3)])
    newest, middle, oldest = own.list()
    assert own.ask(f"/wait?since={newest['id']}&timeout=1").json() == {"messages": []}
    after = own.ask(f"/wait?since={oldest['id']}&timeout=60").json()["messages"]
    assert {message["id"] for message in after} == {newest["id"], middle["id"]}
    assert own.ask("/wait?timeout=0").json() == {"messages": []}
    for query in ["timeout=61", "timeout=-1", "timeout=x"]:
        failed(own.ask(f"/wait?{query}"), 400, "invalid_request")


def sixteen_waits(server, box):
    """Waits of the only client of a server. All have begun: it gets no more."""
    def wait():
        mail = Client(server, box.id, box.token)
        # The request below may have the last place for a moment.
        while (answer := mail.ask("/wait?timeout=60")).status_code == 429:
            pass
        return answer

    waits = [later(wait) for _ in range(16)]

    def one_more():
        answer = Client(server, box.id, box.token).ask("/wait?timeout=0")
        return answer.headers["Retry-After"] if answer.status_code == 429 else None

    assert int(await_true(one_more, "a seventeenth wait is accepted")) >= 1
    return waits


def test_a_client_has_at_most_sixteen_waits_and_other_requests_go_on(serve):
    server = serve()
    box = Mailboxes(server.url).mailbox()
    waits = sixteen_waits(server, box)
    assert Client(server, box.id, box.token).list() == []
    # Those for the messages of a test count, too.
    failed(Mailboxes(server.url).call("GET", "/test/messages?timeout=60"), 429, "rate_limit_exceeded")
    deliver(server, box.address, source("for all"))
    assert [[message["subject"] for message in result().json()["messages"]] for result in waits] \
        == [["for all"]] * 16


def test_a_reload_does_not_raise_the_limit_of_waits(serve):
    server = serve()
    box = Mailboxes(server.url).mailbox()
    waits = sixteen_waits(server, box)
    server.reload()
    mail = Client(server, box.id, box.token)
    failed(mail.ask("/wait?timeout=0"), 429, "rate_limit_exceeded")
    deliver(server, box.address, source("for all"))
    assert [result().status_code for result in waits] == [200] * 16
    assert mail.ask("/wait?timeout=0").status_code == 200


def test_a_stop_ends_the_waits_at_once(serve):
    server = serve(POSTERN_SERVER_DRAIN_TIMEOUT="5m")
    box = Mailboxes(server.url).mailbox()
    waits = [(Wire(server, timeout=30), path) for path in [
        f"/api/accounts/{box.id}/messages/wait?timeout=60", "/test/messages?timeout=60"]]
    for wire, path in waits:
        wire.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n"
                  f"Authorization: Bearer {box.token}\r\n\r\n".encode())
    server.stop()
    for wire, _ in waits:
        answer = wire.answer()
        assert (answer.status, json.loads(answer.body)["messages"]) == (200, [])
        assert answer.one("connection") == "close" and wire.ended()
        wire.socket.close()


def test_a_deleted_account_ends_its_waits(serve):
    server = serve()
    boxes = Mailboxes(server.url)
    box = boxes.mailbox()
    waits = sixteen_waits(server, box)
    assert boxes.delete(box.id, box.token).status_code == 204
    answers = [result() for result in waits]
    assert [(answer.status_code, answer.json()) for answer in answers] == [(200, {"messages": []})] * 16


# What is used.

def test_used_is_exact(server, boxes, owned, own):
    box = owned[1]

    def used():
        return boxes.get(box.id, box.token).json()["used"]

    assert used() == 0
    deliver(server, box.address, source("one", "x" * 900), source("two"), MIXED)
    messages = own.list()
    assert used() == sum(message["size"] for message in messages)
    assert own.ask(f"/{messages[0]['id']}", "DELETE").status_code == 204
    assert used() == sum(message["size"] for message in messages[1:])
    mail = reader(server.url, box)
    mail.put(source("three"), "trash")
    emptied = mail.call("Email/query")["ids"]
    assert used() == sum(email["size"] for email in mail.call(
        "Email/get", ids=emptied, properties=["size"])["list"])
    mail.call("Email/set", destroy=emptied)
    assert used() == 0


def test_without_a_store_the_answer_says_what_to_set(serve):
    server = serve(POSTERN_MAIL_STORE="none")
    box = Mailboxes(server.url).mailbox()
    answer = Client(server, box.id, box.token).ask()
    assert answer.status_code == 503 and "mail." in answer.json()["message"]
