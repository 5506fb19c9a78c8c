"""The published client jmaplib, unmodified: it lists, sends, reads and follows mail."""

import pytest
from jmap import CreationRef
from jmap.auth import BearerAuth
from jmap.client import JMAPClient
from jmap.core.errors import MethodError
from jmap.core.patch import keyword_patch, mailbox_patch
from jmap.push import EventSourceClient, Ping
from jmap.sync import ChangeStream

from jmapclient import capability
from mailboxes import Mailboxes


@pytest.fixture
def make(postern, monkeypatch):
    """Makes an account, and a client of it."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = []

    def make():
        token = capability(postern.url, Mailboxes(postern.url).mailbox().token)
        made.append(JMAPClient.connect(
            f"{postern.url}/.well-known/jmap", auth=BearerAuth(token)))
        return made[-1]

    yield make
    for client in made:
        client.close()


def folders(client):
    with client.batch() as batch:
        got = batch.mail.mailbox.get(ids=None)
    return {folder.role: folder for folder in got.result.items}


def send(client, recipient, subject, **members):
    with client.batch() as batch:
        identities = batch.submission.identity.get(ids=None)
    identity = identities.result.items[0]
    with client.batch() as batch:
        batch.mail.email.set(create={"draft": {
            "mailboxIds": {folders(client)["drafts"].id: True}, "keywords": {"$draft": True},
            "from": [{"email": identity.email, "name": "Ada"}], "to": [{"email": recipient}],
            "subject": subject, "textBody": [{"partId": "body", "type": "text/plain"}],
            "bodyValues": {"body": {"value": "One o'clock?"}}, **members}})
        sent = batch.submission.email_submission.set(
            create={"send": {"identityId": identity.id, "emailId": CreationRef("draft")}},
            onSuccessUpdateEmail={"#send": {"keywords/$draft": None}})
    return sent.result


def inbox(client):
    with client.batch() as batch:
        found = batch.mail.email.query(
            filter={"inMailbox": folders(client)["inbox"].id},
            sort=[{"property": "receivedAt", "isAscending": False}], limit=10,
            calculate_total=True)
        emails = batch.mail.email.get(
            ids=found.ref_ids(), fetchTextBodyValues=True, properties=[
                "subject", "from", "preview", "textBody", "bodyValues", "attachments"])
    assert found.result.total == len(emails.result.items)
    return emails.result.items


def test_it_finds_what_the_server_can(make):
    client = make()
    assert client.echo(hello=1) == {"hello": 1}
    assert list(folders(client)) == ["inbox", "drafts", "sent", "archive", "junk", "trash"]
    for method in ["Email/query", "Email/import", "EmailSubmission/set", "Blob/upload"]:
        assert client.capabilities.supports(method), method


def test_it_sends_with_an_attachment_and_the_other_reads(make):
    sender, reader = make(), make()
    data = bytes(range(256))
    uploaded = sender.upload(data, content_type="application/pdf")
    sent = send(sender, reader.session.username, "Lunch?", attachments=[
        {"blobId": uploaded.blob_id, "type": "application/pdf", "name": "invoice.pdf"}])
    assert not sent.has_errors, sent.creation_errors
    [email] = inbox(reader)
    assert (email.subject, email.from_[0].name, email.preview) == ("Lunch?", "Ada", "One o'clock?")
    part = email.text_body[0]
    assert email.body_values[part.part_id].value == "One o'clock?"
    [attachment] = email.attachments
    assert attachment.name == "invoice.pdf"
    got = reader.download(
        attachment.blob_id, name="invoice.pdf", content_type="application/pdf")
    assert got == data


def test_it_flags_moves_and_destroys(make):
    sender, reader = make(), make()
    for subject in ["kept", "spam"]:
        send(sender, reader.session.username, subject)
    emails = {email.subject: email.id for email in inbox(reader)}
    places = folders(reader)
    patch = keyword_patch(add=["$seen"], remove=["$flagged"])
    patch.update(mailbox_patch(add=[places["archive"].id], remove=[places["inbox"].id]))
    with reader.batch() as batch:
        changed = batch.mail.email.set(update={emails["kept"]: patch}, destroy=[emails["spam"]])
    assert not changed.result.has_errors
    assert inbox(reader) == [] and folders(reader)["archive"].total_emails == 1


def test_it_keeps_a_copy_in_step(make):
    sender, reader = make(), make()
    with reader.batch() as batch:
        got = batch.mail.email.get(ids=[])
    stream = ChangeStream(reader, "Email")
    stream.seed(got.result.state)
    send(sender, reader.session.username, "new")
    [email] = inbox(reader)
    assert list(stream.catch_up().created) == [email.id]


def test_its_event_source_hears_of_new_mail(make):
    sender, reader = make(), make()
    account = reader.default_account
    with reader.batch() as batch:
        got = batch.mail.email.get(ids=[])
    known = {account: {"Email": got.result.state}}
    # A ping says that it listens.
    for event in EventSourceClient(reader, types=("Email",), ping=5).listen():
        if isinstance(event, Ping):
            send(sender, reader.session.username, "pushed")
            continue
        assert set(event.outdated(known)[account]) == {"Email"}
        break
    assert [email.subject for email in inbox(reader)] == ["pushed"]


def test_it_raises_the_errors_of_the_server(make):
    client = make()
    with client.batch() as batch:
        wrong = batch.mail.email.query(anchor="nobody")
    with pytest.raises(MethodError, match="anchorNotFound"):
        wrong.result
    refused = send(client, "nobody-here@mail.test", "no")
    assert refused.creation_errors["send"].type == "invalidRecipients"
