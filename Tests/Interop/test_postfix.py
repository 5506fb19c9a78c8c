"""Postfix and Dovecot with the configurations of deploy/mail/: which mail is accepted, and from whom."""

import contextlib
import os
import smtplib
import time

import pytest

from agent import Agent, bearer
from mailboxes import PASSWORD, Mailboxes
from mailstores import (
    HOST, SECRET, Dovecot, From, Postfix, coded, directory, free_port, initial_response)
from program import Postern, run


class TLSSubmission(smtplib.SMTP):
    """A connection as a mail client opens it, to the port with TLS."""

    def __init__(self, site):
        self.context = site.clients.context
        super().__init__("127.0.0.1", site.postfix.submissions, timeout=60)

    def _get_socket(self, host, port, timeout):
        return self.context.wrap_socket(
            super()._get_socket(host, port, timeout), server_hostname=HOST)


class Named:
    """Verifies the certificate for the name of the server, which has no address in the DNS."""

    def __init__(self, context):
        self.context = context

    def wrap_socket(self, plain, server_hostname):
        return self.context.wrap_socket(plain, server_hostname=HOST)


class Site:
    """Postern, Dovecot and Postfix."""

    def __init__(self, place, authority, stack):
        self.place, self.services = place, free_port()
        self.data = ["--data", str(place / "data")]
        # Its file is the one of this user; Postfix's processes have another.
        self.socketmap = f"unix:{place}/socketmap"
        (place / "secret").write_text(SECRET + "\n")
        (place / "secret").chmod(0o600)
        self.start()
        stack.callback(lambda: self.postern.stop())
        self.boxes = Mailboxes(self.postern.url)
        self.postfix = Postfix(place / "postfix", authority, self.socketmap)
        stack.callback(self.postfix.stop)
        self.dovecot = Dovecot(
            place / "dovecot", authority, self.services, private=self.postfix.private)
        stack.callback(self.dovecot.stop)
        self.clients = From(authority)

    def start(self, port=0):
        self.postern = Postern(
            self.place, *self.data, port=port, POSTERN_SERVICES_SOCKETMAP=self.socketmap,
            POSTERN_SERVICES_SOCKET_OWNER=":postfix",
            POSTERN_SERVICES_LISTEN=f"127.0.0.1:{self.services}",
            POSTERN_SERVICES_SECRET_FILE=str(self.place / "secret"))

    def run(self, *arguments):
        done = run(*arguments, *self.data, directory=self.place)
        assert done.returncode == 0, done.stderr

    def smtp(self):
        """A connection as another mail server opens it."""
        return smtplib.SMTP("127.0.0.1", self.postfix.port, timeout=60)

    def recipient(self, address, sender="someone@example.com"):
        """The answer to RCPT."""
        with self.smtp() as smtp:
            smtp.ehlo()
            assert smtp.mail(sender)[0] == 250
            return smtp.rcpt(address)

    def submission(self, box=None):
        """A connection as a mail client opens it, to the port with STARTTLS."""
        smtp = smtplib.SMTP("127.0.0.1", self.postfix.submission, timeout=60)
        smtp.starttls(context=Named(self.clients.context))
        smtp.ehlo()
        if box:
            smtp.login(box.address, box.password)
        return smtp

    def read(self, box, subject):
        """Waits for a message, and has its header."""
        imap = self.clients.imap(self.dovecot.port)
        imap.login(box.address, box.password)
        deadline = time.monotonic() + 60
        while True:
            imap.select("INBOX")
            found = imap.search(None, "SUBJECT", subject)[1][0].split()
            if found:
                header = imap.fetch(found[0].decode(), "(BODY[HEADER])")[1][0][1].decode()
                imap.logout()
                return header
            assert time.monotonic() < deadline, self.postfix.log.read_text()
            time.sleep(0.05)


# What every change must pass (.ci/run) has them, and runs as root.
pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 and not os.environ.get("CI"), reason="the master of Postfix needs root")


@pytest.fixture(scope="module")
def site(authority):
    with directory() as place, contextlib.ExitStack() as stack:
        yield Site(place, authority, stack)


def message(subject, sender="someone@example.com"):
    return f"From: {sender}\r\nSubject: {subject}\r\n\r\nhi\r\n"


def test_a_mailbox_that_was_just_made_receives_mail(site):
    box = site.boxes.mailbox()
    local, _, domain = box.address.partition("@")
    for subject, recipient in [("plain", box.address), ("tagged", f"{local}+tag@{domain}"),
                               ("capitals", box.address.upper())]:
        with site.smtp() as smtp:
            smtp.sendmail("someone@example.com", [recipient], message(subject))
        site.read(box, subject)


def test_mail_for_nobody_is_refused(site):
    code, text = site.recipient("nobody-here@mail.test")
    assert code == 550 and b"User unknown" in text
    code, text = site.recipient("somebody@elsewhere.test")
    assert code == 554 and b"Relay access denied" in text
    code, _ = site.recipient(f"{'x' * 1_500}@mail.test")
    assert code == 550


@pytest.mark.parametrize("end", ["disable", "delete"])
def test_what_has_ended_receives_nothing_at_once(site, end):
    box = site.boxes.mailbox()
    assert site.recipient(box.address)[0] == 250
    site.run("account", end, box.address)
    assert site.recipient(box.address)[0] == 550


def test_a_mailbox_sends_from_its_own_address_only(site):
    box, other = site.boxes.mailbox(), site.boxes.mailbox()
    with site.submission(box) as smtp:
        smtp.sendmail(box.address, [other.address], message("own", box.address))
        tagged = box.address.replace("@", "+tag@")
        smtp.sendmail(tagged, [other.address], message("tagged", tagged))
        for sender in (other.address, "someone@example.com", "nobody-here@mail.test"):
            smtp.rset()
            assert smtp.mail(sender)[0] == 250
            code, text = smtp.rcpt(other.address)
            assert code == 553 and b"not owned by user" in text
    assert box.address in site.read(other, "own")
    assert tagged in site.read(other, "tagged")


def test_a_login_that_is_open_ends_with_its_account(site):
    box, other = site.boxes.mailbox(), site.boxes.mailbox()
    with site.submission(box) as smtp:
        site.run("account", "disable", box.address)
        smtp.mail(box.address)
        assert smtp.rcpt(other.address)[0] == 553


def test_nobody_sends_without_a_login(site):
    box = site.boxes.mailbox()
    with site.submission() as smtp:
        smtp.mail(box.address)
        assert smtp.rcpt(box.address)[0] == 554
        smtp.rset()
        with pytest.raises(smtplib.SMTPAuthenticationError):
            smtp.login(box.address, "wrong")
    # Neither a login before TLS nor one on the port for other servers.
    with smtplib.SMTP("127.0.0.1", site.postfix.submission, timeout=60) as plain:
        plain.ehlo()
        assert not plain.has_extn("auth")
    with site.smtp() as smtp:
        smtp.ehlo()
        assert not smtp.has_extn("auth")


@pytest.mark.parametrize("mechanism", ["OAUTHBEARER", "XOAUTH2"])
def test_a_token_is_a_login_for_sending(site, mechanism):
    box = site.boxes.mailbox()
    answer = Agent(site.postern.url).post("/api/v1/capability", box.token)
    response = coded(initial_response(mechanism, box.address, bearer(answer)))
    with TLSSubmission(site) as smtp:
        smtp.ehlo()
        assert smtp.docmd("AUTH", f"{mechanism} {response}")[0] == 235
        smtp.sendmail(box.address, [box.address], message(mechanism, box.address))
    site.read(box, mechanism)


def test_without_postern_mail_is_to_come_again(site):
    box, other = site.boxes.mailbox(), site.boxes.mailbox()
    port = site.postern.port
    site.postern.stop()
    assert site.recipient(box.address)[0] == 451
    assert site.recipient("nobody-at-all@mail.test")[0] == 451
    site.start(port)
    # Postfix keeps an answer for half a minute while nobody asks about another address.
    assert site.recipient(other.address)[0] == 250
    assert site.recipient("nobody-here@mail.test")[0] == 550
