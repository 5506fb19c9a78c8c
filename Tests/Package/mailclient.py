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

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Interop"))

from mailboxes import PASSWORD, Mailboxes  # noqa: E402
from mailstores import initial_response  # noqa: E402

HOST = "mail.example.org"
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


COMMANDS = {each.__name__: each for each in [signup, deliver, submit, read, quota, refused]}
print(json.dumps(COMMANDS[sys.argv[2]](*sys.argv[3:])))
