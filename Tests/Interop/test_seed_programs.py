"""The two programs of the documents that agents read, as they stand there but for base URLs, salt,
names and token: one reads the inbox of a new agent, the other sends a message."""

import json
import pathlib
import sys

import pytest

from agent import SALT, Agent, bearer
from jmapclient import JMAP
from program import done

PROGRAMS = pathlib.Path(__file__).parent / "programs"
PLACES = ["https://auth.atomicmail.ai", "https://api.atomicmail.ai"]


@pytest.fixture
def write(postern, tmp_path):
    """Writes a program with other values than those of the documents."""
    def write(name, changes):
        text = (PROGRAMS / name).read_text()
        for old, new in changes.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        for place in PLACES:
            text = text.replace(place, postern.url)
        (tmp_path / name).write_text(text)
        return tmp_path / name
    return write


class Sender(Agent):
    """An agent that has signed up."""

    def __init__(self, url, name):
        super().__init__(url)
        signup = self.session(username=name)
        assert signup.status_code == 201, signup.text
        self.inbox = signup.json()["inbox"]
        self.token = bearer(self.capability(bearer(signup)))
        self.mail = JMAP(url, self.token)


@pytest.fixture
def read_inbox(write):
    def read_inbox(username):
        program = write("read_inbox.py", {
            'USERNAME = "myagent"': f'USERNAME = "{username}"',
            'SALT_HEX = ""': f'SALT_HEX = "{SALT}"'})
        return done(sys.executable, program).splitlines()
    return read_inbox


@pytest.fixture
def send(write):
    def send(sender, recipient):
        program = write("send_email.mjs", {
            "myagent@atomicmail.ai": sender.inbox, 'TOKEN = ""': f'TOKEN = "{sender.token}"',
            "user@example.com": recipient})
        return json.loads(done("node", program))
    return send


def test_the_first_program_signs_up_and_reads_the_inbox(read_inbox, name):
    username = name()
    assert read_inbox(username) == [f"Inbox: {username}@mail.test"]


def test_the_first_program_lists_what_is_in_the_inbox(write, postern, name):
    """Its functions, for an agent that has mail already."""
    sender, reader = Sender(postern.url, name()), Sender(postern.url, name())
    for subject in ["one", "two"]:
        sender.mail.put(f"From: <{sender.inbox}>\r\nSubject: {subject}\r\n\r\nx\r\n".encode())
        reader.mail.put(f"From: A <a@x.test>\r\nSubject: {subject}\r\n\r\nHello {subject}\r\n".encode())
    module = {"__name__": "documented"}
    exec(write("read_inbox.py", {}).read_text(), module)
    context = module["discover_jmap_context"](reader.token)
    listed = module["read_latest_emails"](reader.token, *context)["methodResponses"][2][1]["list"]
    assert {(email["subject"], email["preview"]) for email in listed} == {
        ("one", "Hello one"), ("two", "Hello two")}
    assert listed[0]["from"] == [{"name": "A", "email": "a@x.test"}]


def test_what_the_second_program_sends_arrives(send, postern, name):
    sender, reader = Sender(postern.url, name()), Sender(postern.url, name())
    [(_, made, _), (_, sent, _)] = send(sender, reader.inbox)["methodResponses"]
    assert made["created"]["draft1"]["id"] and sent["created"]["sub1"]["id"], (made, sent)
    [arrived] = reader.mail.inbox("from", "to", "textBody", "bodyValues", "keywords")
    assert arrived["subject"] == "Hello from Atomic Mail"
    assert arrived["from"] == [{"name": None, "email": sender.inbox}]
    assert arrived["to"] == [{"name": None, "email": reader.inbox}]
    # The sender's keywords stay with the sender.
    assert arrived["keywords"] == {}
    assert reader.mail.sources()[0].rstrip().endswith(b"This was sent via JMAP.")


def test_the_second_program_hears_that_there_is_no_such_mailbox(send, postern, name):
    sender = Sender(postern.url, name())
    [_, (_, sent, _)] = send(sender, "nobody-here@mail.test")["methodResponses"]
    assert sent["notCreated"]["sub1"]["type"] == "invalidRecipients"
    assert sent["notCreated"]["sub1"]["invalidRecipients"] == ["nobody-here@mail.test"]


def test_to_another_domain_nothing_leaves_and_the_program_succeeds(send, postern, name):
    sender = Sender(postern.url, name())
    [_, (_, sent, _)] = send(sender, "user@example.com")["methodResponses"]
    assert sent["created"]["sub1"]["id"]
