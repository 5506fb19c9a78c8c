"""The message calls of the client that the accounts service publishes on PyPI, unmodified."""

import mailtd
import pytest
from mailtd.types import EmailDetail, EmailSummary

from mailboxes import PASSWORD, Mailboxes, fresh
from test_messages import ATTACHED, MIXED, SENDER, deliver, source


@pytest.fixture(scope="module")
def server(serve):
    return serve(POSTERN_USERS_REGISTRATION="open")


@pytest.fixture
def client(server):
    boxes = Mailboxes(server.url)
    with mailtd.MailTD(boxes.api_token(boxes.user())["token"], base_url=server.url) as client:
        yield client


@pytest.fixture
def account(client):
    return client.accounts.create(fresh(), password=PASSWORD)


def refused(status, code):
    return pytest.raises(mailtd.APIError, match=rf"^{code} \(HTTP {status}\)$")


def test_it_lists_a_page_of_messages(server, client, account):
    assert client.messages.list(account.id) == ([], 1)
    deliver(server, account.address, *[source(f"number {number}") for number in range(31)])
    messages, page = client.messages.list(account.address)
    assert page == 1 and len(messages) == 30
    newest = messages[0]
    assert isinstance(newest, EmailSummary)
    assert (newest.subject, newest.sender, newest.from_) == ("number 30", "Ada", SENDER)
    assert (newest.preview_text, newest.is_read) == ("Hello.", False)
    [oldest], page = client.messages.list(account.id, page=2)
    assert (oldest.subject, page) == ("number 0", 2)


def test_it_reads_a_message_its_source_and_its_attachments(server, client, account):
    deliver(server, account.address, MIXED)
    [[message], _] = client.messages.list(account.id)
    detail = client.messages.get(account.id, message.id)
    assert isinstance(detail, EmailDetail)
    assert (detail.subject, detail.sender, detail.from_) == ("Grüße", "Jürgen", "j@example.com")
    assert (detail.text_body.strip(), detail.html_body.strip()) == ("Text €", "<p>HTML</p>")
    assert detail.address == account.address
    page, image = detail.attachments
    assert (image.index, image.content_type, image.size) == (1, "image/png", 16)
    assert client.messages.get_attachment(account.id, message.id, image.index) == ATTACHED[:16]
    with refused(404, "not_found"):
        client.messages.get_attachment(account.id, message.id, 2)
    source = client.messages.get_source(account.id, message.id)
    assert source.endswith(MIXED) and len(source) == detail.size


def test_it_marks_as_read_and_deletes(server, client, account):
    deliver(server, account.address, *[source(str(number)) for number in range(3)])
    ids = [message.id for message in client.messages.list(account.id)[0]]

    def read():
        return [message.is_read for message in client.messages.list(account.id)[0]]

    for _ in range(2):
        client.messages.mark_as_read(account.id, ids[0])
        assert read() == [True, False, False]
    assert client.messages.batch_mark_as_read(account.id, ids=ids[:2]) == 1
    assert client.messages.batch_mark_as_read(account.id, all=True) == 1
    assert read() == [True] * 3
    client.messages.delete(account.id, ids[0])
    assert [message.id for message in client.messages.list(account.id)[0]] == ids[1:]
    with refused(404, "not_found"):
        client.messages.delete(account.id, ids[0])
    with refused(404, "not_found"):
        client.messages.get(account.id, ids[0])
    with refused(400, "invalid_request"):
        client.messages.batch_mark_as_read(account.id)


def test_another_users_account_is_not_there(server, client, account):
    boxes = Mailboxes(server.url)
    with mailtd.MailTD(boxes.user().token, base_url=server.url) as other:
        with refused(404, "not_found"):
            other.messages.list(account.id)


def test_the_used_bytes_are_those_of_the_messages(server, client, account):
    deliver(server, account.address, source("one"), MIXED)
    messages, _ = client.messages.list(account.id)
    used = client.accounts.get(account.id).used
    assert used == sum(message.size for message in messages)
