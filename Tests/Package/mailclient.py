"""A client of the machine of docs/one-machine.md, with the network of that machine.

mailclient.py CERTIFICATE COMMAND ADDRESS...: prints what the command found, in JSON. CERTIFICATE is that of the authority.
"""

import contextlib
import imaplib
import json
import pathlib
import smtplib
import socket
import ssl
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Interop"))

from agent import Agent, bearer  # noqa: E402
from mailboxes import PASSWORD, Mailboxes  # noqa: E402
from mailstores import initial_response  # noqa: E402

HOST = "mail.example.org"
CORE, MAIL, SUBMISSION = (f"urn:ietf:params:jmap:{name}" for name in ["core", "mail", "submission"])
CERTIFICATE = sys.argv[1]
CONTEXT = ssl.create_default_context(cafile=CERTIFICATE)
# The machine is this one.
resolve = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **named: resolve("127.0.0.1" if host == HOST else host, *more, **named)


def boxes():
    clients = Mailboxes(f"https://{HOST}")
    clients.http.verify = CERTIFICATE
    return clients


def signup(address):
    answer = boxes().create(address)
    assert answer.status_code == 201, answer.text
    return answer.json()


def deliver(address, subject):
    """By SMTP, with STARTTLS, as another mail server does. The answer to RCPT, or 250 for the whole."""
    with smtplib.SMTP(HOST, 25, timeout=60) as smtp:
        smtp.starttls(context=CONTEXT)
        try:
            smtp.sendmail("ada@example.com", [address], f"Subject: {subject}\r\nFrom: ada@example.com\r\n\r\nHi.\r\n")
        except smtplib.SMTPRecipientsRefused as error:
            return error.recipients[address][0]
    return 250


def submit(sender, recipient, subject):
    with smtplib.SMTP_SSL(HOST, 465, timeout=60, context=CONTEXT) as smtp:
        smtp.login(sender, PASSWORD)
        smtp.sendmail(sender, [recipient], f"Subject: {subject}\r\nFrom: {sender}\r\n\r\nHi.\r\n")


def opened(address, token=None):
    imap = imaplib.IMAP4_SSL(HOST, 993, timeout=60, ssl_context=CONTEXT)
    if token:
        imap.authenticate("OAUTHBEARER", lambda _: initial_response("OAUTHBEARER", address, token))
    else:
        imap.login(address, PASSWORD)
    return imap


def read(address, subject, token=None):
    """The number of messages with the subject, as soon as there is one."""
    deadline = time.monotonic() + 60
    while True:
        with opened(address, token) as imap:
            imap.select("INBOX", readonly=True)
            if found := imap.search(None, "SUBJECT", subject)[1][0].split():
                return len(found)
        assert time.monotonic() < deadline, "the message has not arrived"
        time.sleep(0.2)


def quota(address):
    with opened(address) as imap:
        return int(imap.getquotaroot("INBOX")[1][1][0].rpartition(b" ")[2].rstrip(b")"))


def refused(address):
    with contextlib.suppress(imaplib.IMAP4.error):
        opened(address).logout()
        return False
    return True


# JMAP


def with_capability(token):
    """An agent, and its capability for an Email JWT."""
    agent = Agent(f"https://{HOST}")
    agent.http.verify = CERTIFICATE
    return agent, bearer(agent.post("/api/v1/capability", token))


def reads(token):
    """Whether the store accepts its capability."""
    agent, capability = with_capability(token)
    return agent.mailbox(capability).status_code == 200


class Client:
    def __init__(self, token):
        self.agent, self.capability = with_capability(token)
        answer = self.agent.mailbox(self.capability)
        assert answer.status_code == 200, answer.text
        self.session = answer.json()
        self.account = self.session["primaryAccounts"][MAIL]

    def call(self, *calls):
        answer = self.agent.post(urllib.parse.urlsplit(self.session["apiUrl"]).path, self.capability, {
            "using": [CORE, MAIL, SUBMISSION],
            "methodCalls": [[name, {"accountId": self.account, **arguments}, str(number)]
                            for number, (name, arguments) in enumerate(calls)]})
        assert answer.status_code == 200, answer.text
        return [found for _, found, _ in answer.json()["methodResponses"]]

    def mailboxes(self):
        [found] = self.call(("Mailbox/get", {"ids": None, "properties": ["role"]}))
        return {box["role"]: box["id"] for box in found["list"]}


def login(address, password):
    return boxes().login(address, password).json()["token"]


def mailboxes(token):
    return sorted(Client(token).mailboxes())


def subjects(token, count):
    """Of all messages, as soon as there are so many."""
    client, deadline = Client(token), time.monotonic() + 60
    while True:
        _, found = client.call(("Email/query", {}), ("Email/get", {
            "#ids": {"resultOf": "0", "name": "Email/query", "path": "/ids"}, "properties": ["subject"]}))
        if len(found["list"]) >= int(count):
            return sorted(mail["subject"] for mail in found["list"])
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def send(token, sender, recipient, subject):
    client = Client(token)
    made, sent = client.call(
        ("Email/set", {"create": {"draft": {
            "mailboxIds": {client.mailboxes()["sent"]: True}, "from": [{"email": sender}], "to": [{"email": recipient}],
            "subject": subject, "textBody": [{"partId": "body", "type": "text/plain"}],
            "bodyValues": {"body": {"value": "Hi."}}}}}),
        ("EmailSubmission/set", {"create": {"one": {"emailId": "#draft", "identityId": sender}}}))
    assert sent["created"], (made, sent)


COMMANDS = {each.__name__: each for each in [
    signup, deliver, submit, read, quota, refused, login, mailboxes, subjects, send, reads]}
print(json.dumps(COMMANDS[sys.argv[2]](*sys.argv[3:])))
