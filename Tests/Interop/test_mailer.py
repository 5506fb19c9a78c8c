"""Mail to users: links to verify an email and to set a new password, and notices."""

import re

import pytest
import requests

from mailboxes import Mailboxes, failed
from program import run
from proxies import free_port
from relay import LINK, Relay
from test_openapi import watch

NEW = "another password"


def mailer(port, **settings):
    return {"POSTERN_USERS_REGISTRATION": "open", "POSTERN_MAILER_HOST": "127.0.0.1",
            "POSTERN_MAILER_PORT": str(port), "POSTERN_MAILER_TLS": "none",
            "POSTERN_MAILER_FROM": "Postern <postern@mail.test>",
            **{f"POSTERN_MAILER_{name}": value for name, value in settings.items()}}


@pytest.fixture(scope="module")
def server(serve):
    """Its relay is its own listener for local mail, so users read their mail in its mailboxes."""
    port = free_port()
    return serve(POSTERN_MAIL_LOCAL_SMTP=f"127.0.0.1:{port}", **mailer(port))


@pytest.fixture
def relay():
    relay = Relay()
    yield relay
    relay.close()


def register(boxes):
    """A Pro user whose email is a mailbox of this server: email and token."""
    email = boxes.mailbox().address
    answer = boxes.call("POST", "/api/user/register", None, {
        "email": email, "password": "propassword"})
    assert answer.status_code == 201, answer.text
    boxes.http.cookies.clear()
    return email, answer.json()["token"]


def mail(server, email, after=0):
    """The next message to an email, as soon as there is one."""
    answer = requests.get(server.url + "/test/messages", timeout=60, params={
        "to": email, "after": after, "timeout": 50})
    [message, *_] = answer.json()["messages"]
    return message


def link(message):
    """The page and the token of the link in a message of /test/messages."""
    [found] = {re.fullmatch(LINK, each).groups() for each in message["links"]
               if re.fullmatch(LINK, each)}
    return found


def secrets_stay_out_of(server, *tokens):
    for text in [server.read_log(), requests.get(server.url + "/test/events", timeout=60).text]:
        assert not any(token in text for token in tokens)


def test_a_user_verifies_the_email_and_sets_a_new_password(server):
    document = requests.get(server.url + "/openapi.json", timeout=60).json()
    boxes = watch(Mailboxes(server.url), document)
    email, token = register(boxes)
    first = mail(server, email)
    page, verification = link(first)
    assert page == "verify-email"
    assert all(each.startswith(server.url + "/") for each in first["links"])
    again = boxes.call("POST", "/api/user/email/verification", token)
    assert (again.status_code, again.json()) == (202, {"message": "sent"})
    first = mail(server, email, first["number"])
    assert boxes.call("POST", "/api/user/email/verify", None, {
        "token": verification}).status_code == 200
    failed(boxes.call("POST", "/api/user/email/verification", token), 409, "email_verified")
    assert boxes.call("GET", "/api/user/me", token).json()["email_verified"]

    answer = boxes.call("POST", "/api/user/password/forgot", None, {"email": email})
    assert (answer.status_code, answer.json()) == (202, {"message": "sent_if_registered"})
    second = mail(server, email, first["number"])
    page, reset = link(second)
    assert page == "reset-password"
    body = {"token": reset, "password": NEW}
    assert boxes.call("POST", "/api/user/password/reset", None, body).status_code == 200
    failed(boxes.call("GET", "/api/user/me", token), 401, "invalid_or_expired_token")
    failed(boxes.call("POST", "/api/user/password/reset", None, body), 400, "invalid_link")
    assert boxes.call("POST", "/api/user/login", None, {
        "email": email, "password": NEW}).status_code == 200
    failed(boxes.call("POST", "/api/user/login", None, {
        "email": email, "password": "propassword"}), 401, "invalid_credentials")
    notice = mail(server, email, second["number"])
    assert notice["subject"] == "Your password was changed at 127.0.0.1"
    secrets_stay_out_of(server, verification, reset)


def test_an_unknown_email_gets_the_same_answer_and_no_mail(server):
    boxes = Mailboxes(server.url)
    email, _ = register(boxes)
    first = mail(server, email)
    stranger = boxes.mailbox().address
    answers = [boxes.call("POST", "/api/user/password/forgot", None, {"email": each})
               for each in [stranger, email]]
    mail(server, email, first["number"])
    known, unknown = ((answer.status_code, answer.content, sorted(answer.headers))
                      for answer in answers)
    assert known == unknown
    listed = requests.get(server.url + "/test/messages", params={"to": stranger}, timeout=60)
    assert listed.json()["messages"] == []


def test_the_operator_prints_a_link_without_a_relay(start, tmp_path):
    flags = ["--data", str(tmp_path / "data")]
    server = start(*flags, POSTERN_USERS_REGISTRATION="open")
    boxes = Mailboxes(server.url)
    user = boxes.user()
    failed(boxes.call("POST", "/api/user/password/forgot", None, {"email": user.email}), 403,
           "mail_disabled")
    result = run("user", "reset-link", user.email, *flags, "--profile", "test",
                 directory=tmp_path, POSTERN_SERVER_PUBLIC_URL=server.url)
    assert result.returncode == 0, result.stderr
    page, token = re.fullmatch(LINK, result.stdout.strip()).groups()
    assert page == "reset-password" and result.stdout.startswith(server.url + "/")
    # Unverified, for the operator may have passed it on in any way.
    body = {"token": token, "password": NEW}
    assert boxes.call("POST", "/api/user/password/reset", None, body).status_code == 200
    failed(boxes.call("POST", "/api/user/password/reset", None, body), 400, "invalid_link")
    login = boxes.call("POST", "/api/user/login", None, {"email": user.email, "password": NEW})
    me = boxes.call("GET", "/api/user/me", login.json()["token"]).json()
    assert not me["email_verified"]
    events = requests.get(server.url + "/test/events", timeout=60).json()["events"]
    [made] = [event for event in events if event["kind"] == "reset_link_created"]
    assert (made["actor"], made["subject"]) == ("operator", user.email)
    secrets_stay_out_of(server, token)


def test_there_is_no_link_for_nobody_or_without_a_url(start, tmp_path):
    flags = ["--data", str(tmp_path / "data"), "--profile", "test"]
    server = start("--data", str(tmp_path / "data"), POSTERN_USERS_REGISTRATION="open")
    user = Mailboxes(server.url).user()
    for email, settings, message in [
            ("nobody@example.com", {"POSTERN_SERVER_PUBLIC_URL": server.url}, "no user"),
            (user.email, {"POSTERN_SERVER_PORT": "0"}, "server.public_url")]:
        result = run("user", "reset-link", email, *flags, directory=tmp_path, **settings)
        assert result.returncode == 1 and result.stdout == ""
        assert message in result.stderr
    settings = {"POSTERN_SERVER_PUBLIC_URL": server.url}
    assert run("user", "disable", user.email, *flags, directory=tmp_path).returncode == 0
    result = run("user", "reset-link", user.email, *flags, directory=tmp_path, **settings)
    assert result.returncode == 1 and "is disabled" in result.stderr


@pytest.mark.parametrize("encryption", ["starttls", "tls"])
def test_a_relay_with_tls_and_a_login_gets_a_message_that_python_reads(
        start, tmp_path, authority, encryption):
    relay = Relay(authority.context("localhost"), encryption == "starttls", ("postern", "pass word"))
    password = tmp_path / "password"
    password.write_text("pass word\n")
    password.chmod(0o600)
    settings = mailer(
        relay.port, HOST="localhost", TLS=encryption, CA_FILE=str(authority.file),
        ACCOUNT="postern", PASSWORD_FILE=str(password))
    server = start(**settings)
    user = Mailboxes(server.url).user()
    [(sender, recipient, message)] = relay.await_messages(1)
    assert (sender, recipient) == ("postern@mail.test", user.email)
    assert message["From"].addresses[0].display_name == "Postern"
    assert message["To"] == user.email
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Date"].datetime.tzinfo and message["Message-ID"].endswith("@mail.test>")
    plain, html = message.iter_parts()
    assert message.get_content_type() == "multipart/alternative"
    texts = [plain.get_content(), html.get_content()]
    assert [part.get_content_type() for part in (plain, html)] == ["text/plain", "text/html"]
    [[first], [second]] = [re.findall(LINK, text.replace('"', " ")) for text in texts]
    assert first == second
    assert "pass word" not in server.read_log()
    doctor = run("doctor", "--profile", "test", directory=tmp_path, **settings)
    assert f"mail relay: localhost:{relay.port} answers and accepts the account" in doctor.stdout
    relay.login = ("postern", "another one")
    doctor = run("doctor", "--profile", "test", directory=tmp_path, **settings)
    assert doctor.returncode == 1
    assert "does not accept the account or its password" in doctor.stdout
    relay.close()


def test_the_operator_tries_the_relay(tmp_path, relay):
    def doctor(*flags):
        return run("doctor", "--profile", "test", *flags, directory=tmp_path, **settings)

    settings = mailer(relay.port)
    assert doctor().returncode == 0
    assert not relay.messages
    result = doctor("--mail-to", "Ada@Example.com")
    assert result.returncode == 0, result.stdout
    assert f"mail relay: 127.0.0.1:{relay.port} answers; it has taken a message to ada@example.com\n" in result.stdout
    [(sender, recipient, message)] = relay.await_messages(1)
    assert (sender, recipient) == ("postern@mail.test", "ada@example.com")
    assert message["Subject"].startswith("Test message of ")
    relay.answers["RCPT"] = ["550 no such user"]
    result = doctor("--mail-to", "eve@example.com")
    assert result.returncode == 1 and "550" in result.stdout
    assert doctor("--mail-to", "nobody").returncode == 64
    settings = {}
    result = doctor("--mail-to", "ada@example.com")
    assert result.returncode == 1
    assert "mail relay: nothing was sent, because there is none; set mailer.host" in result.stdout


def test_a_relay_with_another_certificate_or_without_tls_gets_nothing(
        start, tmp_path, authority, relay):
    stranger = Relay(authority.context("other.test"), starttls=True)
    for port in [stranger.port, relay.port]:
        settings = mailer(port, HOST="localhost", TLS="starttls", CA_FILE=str(authority.file))
        doctor = run("doctor", "--profile", "test", directory=tmp_path, **settings)
        assert doctor.returncode == 1
        assert "does not offer TLS, or its certificate is not trusted" in doctor.stdout
    assert not stranger.messages
    assert not any(line.startswith(("AUTH", "MAIL")) for line in relay.commands)
    stranger.close()


def test_a_message_that_the_relay_does_not_take_yet_is_sent_again(start, relay):
    relay.answers["RCPT"] = ["451 later"]
    server = start(**mailer(relay.port))
    user = Mailboxes(server.url).user()
    [(_, recipient, _)] = relay.await_messages(1)
    assert recipient == user.email
    assert [line.split(":")[0] for line in relay.commands].count("RCPT TO") == 2
    assert '"message":"the mail relay is not available"' in server.read_log()


def test_a_message_that_the_relay_rejects_is_given_up(start, relay):
    relay.answers["RCPT"] = ["550 no such user"]
    server = start(**mailer(relay.port))
    boxes = Mailboxes(server.url)
    user = boxes.user()
    other = boxes.user()
    [(_, recipient, _)] = relay.await_messages(1)
    assert recipient in {user.email, other.email}
    server.stop()
    log = server.read_log()
    assert log.count('"message":"a message to a user was not sent"') == 1
    assert user.email not in log.partition("a message to a user was not sent")[2].split("\n")[0]


def test_a_server_whose_relay_is_away_answers_and_stops(start):
    server = start(**mailer(free_port()))
    boxes = Mailboxes(server.url)
    user = boxes.user()
    for _ in range(5):
        answer = boxes.call("POST", "/api/user/password/forgot", None, {"email": user.email})
        assert answer.status_code == 202
    server.stop()


def test_the_password_of_the_relay_must_be_readable(start, tmp_path):
    settings = mailer(25, ACCOUNT="postern", PASSWORD_FILE=str(tmp_path / "missing"))
    result = run("serve", "--profile", "test", "--port", "0", directory=tmp_path, **settings)
    assert result.returncode != 0
    assert "mailer.password_file" in result.stderr
