"""The published client jmapc, unmodified, over TLS: it lists, sends and reads mail."""

import functools

import jmapc
import pytest
from jmapc.methods import (
    EmailChanges, EmailGet, EmailQuery, EmailSet, EmailSubmissionSet, IdentityGet, MailboxGet,
    MailboxQuery, SearchSnippetGet, ThreadGet)

from agent import bearer
from mailboxes import Mailboxes
from tlsfiles import Authority, TLSPostern, settings, tls_listener

HOST = "127.0.0.1"


class Client(jmapc.Client):
    """Trusts the authority of the tests: the client has no option for that."""

    @functools.cached_property
    def requests_session(self):
        session = super().requests_session
        session.verify, session.trust_env = self.authority, False
        return session


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    directory = tmp_path_factory.mktemp("jmapc")
    authority = Authority(directory / "authority")
    text = settings([tls_listener()], [authority.issue(HOST, [f"IP:{HOST}"])])
    server = TLSPostern(directory, text)
    server.authority = str(authority.file)
    yield server
    server.stop()


@pytest.fixture
def make(server):
    """Makes an account, and a client of it."""
    def make():
        boxes = Mailboxes(f"https://{HOST}:{server.port}")
        boxes.http.verify = server.authority
        token = bearer(boxes.call("POST", "/api/v1/capability", boxes.mailbox().token))
        client = Client.create_with_api_token(f"{HOST}:{server.port}", token)
        client.authority = server.authority
        return client
    return make


def folder(client, role):
    [id] = client.request(MailboxQuery(filter=jmapc.MailboxQueryFilterCondition(role=role))).ids
    return id


def send(client, recipient, subject, attachment=None):
    [identity] = client.request(IdentityGet(ids=None)).data
    drafts, sent = folder(client, "drafts"), folder(client, "sent")
    email = jmapc.Email(
        mail_from=[jmapc.EmailAddress(email=identity.email, name="Ada")],
        to=[jmapc.EmailAddress(email=recipient)], subject=subject, keywords={"$draft": True},
        mailbox_ids={drafts: True},
        body_values={"body": jmapc.EmailBodyValue(value="Hello, Grüße.")},
        text_body=[jmapc.EmailBodyPart(part_id="body", type="text/plain")],
        attachments=[attachment] if attachment else None)
    return client.request([
        EmailSet(create={"draft": email}),
        EmailSubmissionSet(
            on_success_update_email={"#sent": {
                "keywords/$draft": None, f"mailboxIds/{drafts}": None, f"mailboxIds/{sent}": True}},
            create={"sent": jmapc.EmailSubmission(
                email_id="#draft", identity_id=identity.id, envelope=jmapc.Envelope(
                    mail_from=jmapc.Address(email=identity.email),
                    rcpt_to=[jmapc.Address(email=recipient)]))})], raise_errors=True)


def inbox(client):
    results = client.request([
        EmailQuery(filter=jmapc.EmailQueryFilterCondition(in_mailbox=folder(client, "inbox")),
                   sort=[jmapc.Comparator(property="receivedAt", is_ascending=False)], limit=20),
        EmailGet(ids=jmapc.Ref("/ids"), fetch_all_body_values=True)], raise_errors=True)
    return results[1].response.data


def test_it_lists_the_mailboxes(make):
    client = make()
    listed = client.request(MailboxGet(ids=None)).data
    assert [mailbox.role for mailbox in listed] == [
        "inbox", "drafts", "sent", "archive", "junk", "trash"]
    assert listed[0].total_emails == 0


def test_it_sends_and_the_other_reads(make, tmp_path):
    sender, reader = make(), make()
    (tmp_path / "data.bin").write_bytes(bytes(range(256)))
    blob = sender.upload_blob(tmp_path / "data.bin")
    responses = send(sender, reader.jmap_session.username, "from jmapc", jmapc.EmailBodyPart(
        blob_id=blob.id, type="application/octet-stream", name="data.bin", disposition="attachment"))
    assert responses[1].response.created["sent"].id
    [email] = inbox(reader)
    assert (email.subject, email.mail_from[0].name) == ("from jmapc", "Ada")
    assert email.body_values[email.text_body[0].part_id].value.strip() == "Hello, Grüße."
    [attachment] = email.attachments
    reader.download_attachment(attachment, tmp_path / "got.bin")
    assert (tmp_path / "got.bin").read_bytes() == bytes(range(256))
    [kept] = sender.request(EmailQuery(filter=jmapc.EmailQueryFilterCondition(
        in_mailbox=folder(sender, "sent")))).ids
    assert kept


def test_it_marks_searches_and_follows_changes(make):
    sender, reader = make(), make()
    state = reader.request(EmailGet(ids=[])).state
    send(sender, reader.jmap_session.username, "a needle here")
    [email] = inbox(reader)
    assert reader.request(EmailChanges(since_state=state)).created == [email.id]
    done = reader.request(EmailSet(update={email.id: {"keywords/$seen": True}}))
    assert done.updated == {email.id: None}
    needle = jmapc.EmailQueryFilterCondition(text="needle")
    assert reader.request(EmailQuery(filter=needle)).ids == [email.id]
    [snippet] = reader.request(SearchSnippetGet(ids=[email.id], filter=needle)).data
    assert snippet.subject == "a <mark>needle</mark> here"
    [thread] = reader.request(ThreadGet(ids=[email.thread_id])).data
    assert thread.email_ids == [email.id]


def test_it_shows_the_errors_of_the_server(make):
    client = make()
    error = client.request(EmailGet(ids=[], properties=["nothing"]))
    assert isinstance(error, jmapc.Error) and error.type == "invalidArguments"
    responses = send(client, "nobody-here@mail.test", "no")
    assert responses[1].response.not_created["sent"].type == "invalidRecipients"
