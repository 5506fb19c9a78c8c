"""Mail by SMTP to mailboxes of this server: smtplib, swaks and bytes."""

import base64
import email.message
import itertools
import re
import select
import smtplib
import socket

import pytest

from agent import Agent
from jmapclient import reader
from mailboxes import Mailboxes
from program import done

LIMIT = 10 << 20
SENDER = "ada@example.com"


@pytest.fixture(scope="module")
def server(serve):
    return serve(POSTERN_USERS_REGISTRATION="open")


@pytest.fixture
def box(server):
    return Mailboxes(server.url).mailbox()


@pytest.fixture
def mail(server, box):
    """The mail of the box."""
    return reader(server.url, box)


class Session:
    """An SMTP session of bytes; `say` has the code and text of a reply."""

    def __init__(self, server, greet=True):
        self.socket = socket.create_connection(server.smtp, 60)
        self.input = self.socket.makefile("rb")
        assert self.reply()[0] == 220
        if greet:
            assert self.say("EHLO client.example")[0] == 250

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.input.close()
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def reply(self):
        """The code and the lines, as RFC 5321 §4.2 has them."""
        lines = []
        while True:
            line = self.input.readline().decode()
            found = re.fullmatch(r"(\d{3})([ -])(.*)\r\n", line)
            assert found, f"not a reply: {line!r} after {lines}"
            lines.append(found[3])
            if found[2] == " ":
                return int(found[1]), "\n".join(lines)

    def say(self, *commands):
        """The reply to the last of some commands, sent one by one."""
        for command in commands:
            self.send(command.encode() + b"\r\n")
            reply = self.reply()
        return reply

    def begin(self, *recipients, sender=SENDER):
        """Up to the reply to DATA."""
        assert self.say(f"MAIL FROM:<{sender}>")[0] == 250
        for recipient in recipients:
            assert self.say(f"RCPT TO:<{recipient}>")[0] == 250
        assert self.say("DATA")[0] == 354

    def deliver(self, message, *recipients, **options):
        """The reply to a message, which ends with a line end."""
        self.begin(*recipients, **options)
        self.send(message + b".\r\n")
        return self.reply()

    def has_ended(self):
        return self.input.read(1) == b""


def client(server, **options):
    smtp = smtplib.SMTP(*server.smtp, timeout=60, **options)
    smtp.ehlo()
    return smtp


def message(subject, to, sender=SENDER, text="Hello."):
    made = email.message.EmailMessage()
    made["From"], made["To"], made["Subject"] = sender, to, subject
    made.set_content(text)
    return made


def test_smtplib_sends_and_what_arrives_is_what_was_sent(server, box, mail):
    text = f"From: <{SENDER}>\r\nTo: <{box.address}>\r\nSubject: plain\r\n\r\n.one\r\n..two\r\n"
    with client(server) as smtp:
        assert smtp.sendmail(SENDER, [box.address], text) == {}
    [source] = mail.sources()
    assert source.endswith(b"\r\n" + text.encode())
    added = source.removesuffix(text.encode()).decode()
    assert added.startswith(f"Return-Path: <{SENDER}>\r\nReceived: from ")
    assert f"for <{box.address}>" in added


def test_it_says_what_it_can(server):
    with client(server) as smtp:
        assert smtp.esmtp_features["size"] == str(LIMIT)
        assert set(smtp.esmtp_features) >= {
            "pipelining", "8bitmime", "smtputf8", "chunking", "enhancedstatuscodes", "auth"}
        assert set(smtp.esmtp_features["auth"].split()) == {"PLAIN", "LOGIN"}
        assert smtp.noop()[0] == 250 and smtp.rset()[0] == 250
        assert smtp.verify("someone")[0] == 252
        assert smtp.docmd("EXPN", "list")[0] == 502
        assert smtp.docmd("UNKNOWN")[0] == 500
        assert smtp.quit()[0] == 221


@pytest.mark.parametrize("method", ["auth_plain", "auth_login"])
@pytest.mark.parametrize("kind", ["password", "API key"])
def test_an_account_submits_from_its_own_address_only(server, box, mail, name, kind, method):
    if kind == "password":
        address, secret = box.address, box.password
    else:
        signup = Agent(server.url).session(username=name()).json()
        address, secret = signup["inbox"], signup["apiKey"]
    with client(server) as smtp:
        smtp.user, smtp.password = address, secret
        assert smtp.auth(method[5:].upper(), getattr(smtp, method))[0] == 235
        for foreign in [SENDER, "other@mail.test", ""]:
            assert smtp.mail(foreign)[0] == 553
        local, _, domain = address.partition("@")
        for own in [address, f"{local}+tag@{domain}"]:
            smtp.send_message(message(own, box.address, own))
    assert len(mail.inbox()) == 2
    assert b" with ESMTPA" in mail.sources()[0]


@pytest.mark.parametrize("method", ["auth_plain", "auth_login"])
def test_a_wrong_password_is_535_and_the_session_goes_on(server, box, mail, method):
    with client(server) as smtp:
        for user, password in [(box.address, "wrong one"), ("nobody@mail.test", "wrong one"),
                               ("not an address", "x")]:
            smtp.user, smtp.password = user, password
            with pytest.raises(smtplib.SMTPAuthenticationError) as failed:
                smtp.auth(method[5:].upper(), getattr(smtp, method))
            assert failed.value.smtp_code == 535
        smtp.login(box.address, box.password)
        smtp.send_message(message("after", box.address, box.address))
    assert mail.subjects() == ["after"]


@pytest.mark.parametrize("line", [
    "AUTH", "AUTH PLAIN *", "AUTH PLAIN =x", "AUTH PLAIN " + base64.b64encode(b"one").decode(),
    "AUTH LOGIN ***"])
def test_a_broken_authentication_is_501(server, line):
    with Session(server) as session:
        assert session.say(line)[0] == 501
        assert session.say("AUTH CRAM-MD5")[0] == 504
        assert session.say("AUTH PLAIN")[0] == 334
        assert session.say("*")[0] == 501
        assert session.say("NOOP")[0] == 250


def test_swaks_sends_plain_and_authenticated_with_an_attachment(server, box, mail, tmp_path):
    (tmp_path / "data.bin").write_bytes(bytes(range(256)))
    common = ["swaks", "--server", f"{server.smtp[0]}:{server.smtp[1]}", "--to", box.address]
    done(*common, "--from", SENDER, "--header", "Subject: swaks", "--body", "Hello.", "--pipeline")
    for method in ["PLAIN", "LOGIN"]:
        done(*common, "--from", box.address, "--header", f"Subject: {method}", "--auth", method,
             "--auth-user", box.address, "--auth-password", box.password,
             "--attach", f"@{tmp_path / 'data.bin'}")
    assert mail.subjects() == ["swaks", "PLAIN", "LOGIN"]
    [attachment] = mail.inbox("attachments")[2]["attachments"]
    assert mail.download(attachment["blobId"]).content == bytes(range(256))


def test_8bitmime_and_smtputf8_keep_every_byte(server, box, mail):
    body = "Subject: Grüße\r\nFrom: <jürgen@bücher.example>\r\n\r\nÄÖÜ €\r\n".encode()
    with client(server) as smtp:
        smtp.command_encoding = "utf-8"
        assert smtp.sendmail("jürgen@bücher.example", [box.address], body,
                             mail_options=["BODY=8BITMIME", "SMTPUTF8"]) == {}
        assert smtp.docmd("MAIL", "FROM:<jürgen@bücher.example>")[0] == 550
        assert smtp.docmd("MAIL", f"FROM:<{SENDER}> BODY=SOMETHING")[0] == 501
        assert smtp.docmd("MAIL", f"FROM:<{SENDER}> SIZE=x")[0] == 501
        assert smtp.docmd("MAIL", f"FROM:<{SENDER}> NEW=1")[0] == 555
        # 8-bit bytes are kept without either, too.
        assert smtp.sendmail(SENDER, [box.address], body) == {}
    first, second = mail.sources()
    assert first.endswith(body) and second.endswith(body)
    assert mail.subjects() == ["Grüße"] * 2


def test_pipelined_commands_are_answered_in_order(server, box, mail):
    with Session(server) as session:
        session.send((
            f"MAIL FROM:<{SENDER}>\r\nRCPT TO:<{box.address}>\r\nRCPT TO:<nobody@mail.test>\r\n"
            "DATA\r\n").encode())
        assert [session.reply()[0] for _ in range(4)] == [250, 250, 550, 354]
        session.send((
            "Subject: one\r\n\r\nx\r\n.\r\n" f"MAIL FROM:<{SENDER}>\r\nRCPT TO:<{box.address}>\r\n"
            "RSET\r\nDATA\r\nNOOP\r\nQUIT\r\nNOOP\r\n").encode())
        assert [session.reply()[0] for _ in range(7)] == [250, 250, 250, 250, 503, 250, 221]
        assert session.has_ended()
    assert mail.subjects() == ["one"]


def test_bdat_takes_its_bytes_as_they_are(server, box, mail):
    content = b"Subject: chunks\r\n\r\n.\r\n..\r\n.\r\nQUIT\r\n"
    with Session(server) as session:
        assert session.say(f"MAIL FROM:<{SENDER}> BODY=8BITMIME", f"RCPT TO:<{box.address}>")[0] == 250
        # The line end of the header field is divided.
        session.send(b"BDAT 16\r\n" + content[:16])
        assert session.reply()[0] == 250
        assert session.say("DATA")[0] == 503
        session.send(b"BDAT %d\r\n" % len(content[16:]) + content[16:])
        assert session.reply()[0] == 250
        assert session.say("BDAT 0 LAST")[0] == 250
    [source] = mail.sources()
    assert source.endswith(content)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\r\n", "\n\r\n"])
def test_bdat_with_a_bare_line_end_delivers_nothing(server, box, mail, end):
    content = f"Subject: chunks{end}\r\nx\r\n".encode()
    with Session(server) as session:
        assert session.say(f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{box.address}>")[0] == 250
        session.send(b"BDAT %d LAST\r\n" % len(content) + content)
        assert session.reply()[0] == 500
        assert session.say("NOOP")[0] == 250
    assert mail.inbox() == []


def test_a_chunk_without_recipient_is_skipped(server):
    with Session(server) as session:
        session.send(b"BDAT 6\r\nQUIT\r\n")
        assert session.reply()[0] == 503
        assert session.say("NOOP")[0] == 250


LINE_ENDS = ["".join(mix) for count in range(4) for mix in itertools.product("\r\n", repeat=count)]


def are_bare(text):
    return bool(text.replace("\r\n", ""))


def smuggled(before, after, box):
    return (
        f"Subject: first\r\n\r\ntext{before}.{after}MAIL FROM:<{SENDER}>\r\n"
        f"RCPT TO:<{box.address}>\r\nDATA\r\nSubject: second\r\n\r\nx\r\n.\r\n").encode()


@pytest.mark.parametrize("before", LINE_ENDS, ids=repr)
def test_no_mix_of_line_ends_ends_a_message_early(server, box, mail, before):
    """CVE-2023-51764 and its like: only CRLF.CRLF ends a message, and bare line ends are refused."""
    tried = 0
    for after in LINE_ENDS:
        # The one end that there is, before commands of this client itself.
        if before.endswith("\r\n") and after.startswith("\r\n"):
            continue
        with Session(server) as session:
            session.begin(box.address)
            session.send(smuggled(before, after, box) + b"NOOP\r\n")
            expected = [500, 250] if are_bare(before) or are_bare(after) else [250, 250]
            assert [session.reply()[0], session.reply()[0]] == expected, (before, after)
            session.send(b"QUIT\r\n")
            assert session.reply()[0] == 221 and session.has_ended()
        tried += 1
    assert tried > 10
    subjects = mail.subjects()
    assert set(subjects) <= {"first"} and bool(subjects) != are_bare(before)


@pytest.mark.parametrize("line", [
    "NOOP\n", "NOOP\r", "NOOP\nRSET\r\n", "NOOP\rRSET\r\n", "NOOP\r\r\n", "NOOP\n\r\n", "\nNOOP\r\n",
    "\rNOOP\r\n", "NO\rOP\r\n"], ids=repr)
def test_a_command_with_a_bare_line_end_is_500_once(server, line):
    with Session(server) as session:
        session.send(line.encode() + (b"" if line.endswith("\r\n") else b"\r\n") + b"QUIT\r\n")
        assert [session.reply()[0], session.reply()[0]] == [500, 221]
        assert session.has_ended()


def test_a_thousand_sessions_may_be_idle_and_one_more_is_told_so(serve):
    server = serve()
    box = Mailboxes(server.url).mailbox()
    sessions = []
    try:
        sessions = [Session(server, greet=False) for _ in range(999)]
        last = Session(server)
        sessions.append(last)
        with socket.create_connection(server.smtp, 60) as late:
            assert late.makefile("rb").readline().startswith(b"421 ")
        assert last.deliver(b"Subject: last\r\n\r\nx\r\n", box.address)[0] == 250
        assert reader(server.url, box).subjects() == ["last"]
        for session in sessions:
            assert session.say("NOOP")[0] == 250
    finally:
        for session in sessions:
            session.close()


def large(count):
    """A message of so many bytes."""
    head, line = b"Subject: large\r\n\r\n", b"x" * 78 + b"\r\n"
    lines, rest = divmod(count - len(head) - 2, len(line))
    made = head + line * lines + b"y" * rest + b"\r\n"
    assert len(made) == count
    return made


def test_a_message_has_at_most_ten_mebibytes(server, box, mail):
    most = large(LIMIT)
    with Session(server) as session:
        assert session.deliver(most, box.address)[0] == 250
        code, text = session.deliver(large(LIMIT + 1), box.address)
        assert code == 552 and text.startswith("5.3.4 ")
        assert session.say(f"MAIL FROM:<{SENDER}> SIZE={LIMIT}", "RSET")[0] == 250
        assert session.say(f"MAIL FROM:<{SENDER}> SIZE={LIMIT + 1}")[0] == 552
        assert session.say("NOOP")[0] == 250
    [source] = mail.sources()
    assert source.endswith(most)


def test_dots_that_are_stuffed_do_not_count(server, box, mail):
    head, line = b"Subject: dots\r\n\r\n", b"." * 78 + b"\r\n"
    lines, rest = divmod(LIMIT - len(head) - 2, len(line))
    body = line * lines + b"y" * rest + b"\r\n"
    with Session(server) as session:
        sent = head + body.replace(b"\r\n.", b"\r\n..").replace(b".", b"..", 1)
        assert session.deliver(sent, box.address)[0] == 250
    assert mail.sources()[0].endswith(head + body)


def test_a_session_that_drips_delays_no_other_and_its_time_ends(server, box, mail):
    """The time is that from a reply to the end of the next command, whatever comes meanwhile."""
    with Session(server) as slow:
        for count in itertools.count():
            slow.send(b"x")
            if select.select([slow.socket], [], [], 1)[0]:
                break
            if count == 3:
                with Session(server) as other:
                    assert other.deliver(b"Subject: other\r\n\r\nx\r\n", box.address)[0] == 250
        assert slow.reply()[0] == 421
        assert 3 < count < 510 and slow.has_ended()
    assert mail.subjects() == ["other"]


def test_the_hundred_and_first_recipient_is_refused(server, box, mail):
    local, _, domain = box.address.partition("@")
    with Session(server) as session:
        assert session.say(f"MAIL FROM:<{SENDER}>")[0] == 250
        for number in range(100):
            assert session.say(f"RCPT TO:<{local}+{number}@{domain}>")[0] == 250
        code, text = session.say(f"RCPT TO:<{local}+last@{domain}>")
        assert code == 452 and text.startswith("4.5.3 ")
        assert session.say("DATA")[0] == 354
        session.send(b"Subject: many\r\n\r\nx\r\n.\r\n")
        assert session.reply()[0] == 250
    assert set(mail.subjects()) == {"many"}


def test_the_tenth_error_ends_the_session(server):
    with Session(server) as session:
        for _ in range(9):
            assert session.say("RCPT TO:<nobody@mail.test>")[0] == 503
        assert session.say("NOOP")[0] == 250
        session.send(b"DATA\r\n")
        assert [session.reply()[0] for _ in range(2)] == [503, 421]
        assert session.has_ended()


def test_lines_have_a_limit(server, box, mail):
    with Session(server) as session:
        assert session.say("NOOP " + "x" * 505)[0] == 250
        assert session.say("NOOP " + "x" * 506)[0] == 500
        assert session.deliver(b"Subject: a\r\n\r\n" + b"x" * 998 + b"\r\n", box.address)[0] == 250
        assert session.deliver(b"Subject: b\r\n\r\n" + b"x" * 999 + b"\r\n", box.address)[0] == 554
    assert mail.subjects() == ["a"]


def test_recipients_are_mailboxes_sub_addresses_or_strangers(server, box, mail):
    local, _, domain = box.address.partition("@")
    with Session(server) as session:
        assert session.say(f"MAIL FROM:<{SENDER}>")[0] == 250
        code, text = session.say("RCPT TO:<nobody-here@mail.test>")
        assert code == 550 and text.startswith("5.1.1 ")
        for good in [f"{local}+tag@{domain}", box.address.upper(), "someone@elsewhere.example"]:
            assert session.say(f"RCPT TO:<{good}>")[0] == 250
        for bad in ["", "no address", "a@b@c", "@mail.test:a@b.example" + "x" * 300]:
            assert session.say(f"RCPT TO:<{bad}>")[0] == 501, bad
        assert session.say("DATA")[0] == 354
        session.send(b"Subject: once\r\n\r\nx\r\n.\r\n")
        assert session.reply()[0] == 250
    assert set(mail.subjects()) == {"once"}


def test_mail_to_another_domain_is_kept_for_the_test(server):
    with Session(server) as session:
        reply = session.deliver(b"Subject: away\r\n\r\nx\r\n", "kept@elsewhere.example")
        assert reply[0] == 250
    boxes = Mailboxes(server.url)
    [kept] = boxes.call("GET", "/test/messages?to=kept@elsewhere.example").json()["messages"]
    assert kept["subject"] == "away"


def test_a_full_mailbox_and_a_full_server_refuse_and_lose_nothing(serve):
    server = serve(POSTERN_ACCOUNTS_FREE_QUOTA="5000", POSTERN_MAIL_LOCAL_LIMIT="1048576")
    boxes = Mailboxes(server.url)
    small, stranger = boxes.mailbox(), boxes.mailbox()
    kept = b"Subject: kept\r\n\r\n" + b"x" * 900 + b"\r\n"
    with Session(server) as session:
        assert session.deliver(kept, small.address)[0] == 250
        too_much = b"Subject: no\r\n\r\n" + (b"x" * 900 + b"\r\n") * 5
        code, text = session.deliver(too_much, small.address)
        assert code == 452 and text.startswith("4.2.2 ")
        # The others get theirs.
        assert session.deliver(too_much[:2000] + b"\r\n", small.address, stranger.address)[0] == 250
        # Messages to other domains fill the server.
        filling = b"Subject: fill\r\n\r\n" + (b"x" * 78 + b"\r\n") * 2500
        replies = [session.deliver(filling, "someone@elsewhere.example") for _ in range(8)]
        assert replies[0][0] == 250 and replies[-1][0] == 452
        assert session.deliver(filling[:500] + b"\r\n", stranger.address)[0] == 250
    assert reader(server.url, small).subjects()[0] == "kept"
    assert boxes.get(small.id, small.token).json()["used"] <= 5000
    assert "no" in reader(server.url, stranger).subjects()


def test_a_web_page_cannot_send_mail(server):
    with Session(server, greet=False) as session:
        session.send(b"POST / HTTP/1.1\r\nHost: a\r\n\r\nEHLO a\r\n")
        assert session.reply()[0] == 421
        assert session.has_ended()
