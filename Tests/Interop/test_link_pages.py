"""The pages that links in mail open, in Chromium: with the keyboard, at 320 pixels, and their requests."""

import re

import pytest
import requests

from mailboxes import Mailboxes
from proxies import free_port
from test_mailer import mail, mailer
from webdriver import Browser

TAB, ENTER, SPACE = "\ue004", "\ue007", "\ue00d"
NEW = "another password"


@pytest.fixture(scope="module")
def server(serve):
    port = free_port()
    return serve(POSTERN_MAIL_LOCAL_SMTP=f"127.0.0.1:{port}", **mailer(port))


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def user(server):
    """A user whose email is a mailbox of this server: email and the number of the first message."""
    boxes = Mailboxes(server.url)
    email = boxes.mailbox().address
    answer = boxes.call("POST", "/api/user/register", None, {
        "email": email, "password": "propassword"})
    assert answer.status_code == 201
    return email, mail(server, email)


def page_of(message, name):
    [found] = {each for each in message["links"] if f"/{name}#" in each}
    return found


def log_in(browser, server, email, password):
    browser.command("Storage.clearCookies")
    browser.open(server.url + "/dashboard")
    assert browser.says("#entrance", "Log in")
    browser.type("#login-email", email)
    browser.type("#login-password", password)
    browser.press([ENTER])
    assert browser.says("#dashboard", f"Logged in as {email}")


def test_a_forgotten_password_is_replaced_with_the_keyboard_alone(browser, look, server, user):
    email, first = user
    browser.command("Storage.clearCookies")
    browser.open(server.url + "/dashboard")
    assert browser.says("#entrance", "Forgotten password?")
    browser.click("#login-form a")
    assert browser.says("#request", "Forgotten password")
    look("reset-request")
    browser.type("#request-email", "nonsense")
    browser.press([ENTER])
    assert browser.says("#request-email-error", "This is not an email.")
    browser.run("document.querySelector('#request-email').value = ''")
    browser.type("#request-email", email)
    browser.press([ENTER])
    assert browser.says("#requested", "Look at your mail")
    assert browser.run("return document.activeElement.id") == "requested-title"
    look("reset-requested")

    link = page_of(mail(server, email, first["number"]), "reset-password")
    browser.open(link)
    assert browser.says("#reset", "Your new password")
    look("reset-password")
    # Neither the history nor what is loaded or sent on has the token.
    token = link.partition("#")[2]
    assert browser.run("return location.href") == server.url + "/reset-password"
    browser.type("#reset-password", "short")
    browser.press([ENTER])
    assert browser.says("#reset-password-error", "at least 8 characters")
    browser.run("document.querySelector('#reset-password').value = ''")
    browser.type("#reset-password", NEW)
    browser.press([ENTER])
    assert browser.says("#done", "Your password was changed")
    look("reset-done")
    loaded = browser.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert loaded and all(name.startswith(server.url + "/") and token not in name for name in loaded)
    log_in(browser, server, email, NEW)
    # By the link, which went to the email.
    assert browser.says("#email-state", "verified")

    browser.open("about:blank")
    browser.open(link)
    assert browser.says("#reset", "Your new password")
    browser.type("#reset-password", NEW)
    browser.press([ENTER])
    assert browser.says("#invalid", "The link is not valid any more")
    look("reset-invalid")
    browser.click("#invalid-again")
    assert browser.says("#request", "Forgotten password")


def test_an_email_is_verified_from_the_dashboard(browser, look, server, user):
    email, first = user
    log_in(browser, server, email, "propassword")
    assert browser.says("#email", f"{email} not verified")
    look("dashboard-email")
    browser.click("#email-verify")
    assert browser.says("#status", f"A link was sent to {email}.")
    link = page_of(mail(server, email, first["number"]), "verify-email")
    browser.open(link)
    assert browser.says("#confirm", "Did you register here?")
    look("verify-email")
    # Opening it has changed nothing.
    assert browser.run("return location.hash") == ""
    browser.run("document.querySelector('#confirm-form button').focus()")
    browser.press([ENTER])
    assert browser.says("#done", "Your email is verified")
    look("verify-done")
    browser.open(server.url + "/dashboard")
    assert browser.says("#email-state", "verified")
    assert browser.run("return document.querySelector('#email-verify').hidden")
    browser.open("about:blank")
    browser.open(link)
    assert browser.says("#confirm", "Did you register here?")
    browser.click("#confirm-form button")
    assert browser.says("#invalid", "The link is not valid any more")


def test_without_a_relay_the_pages_say_whom_to_ask(browser, look, serve):
    server = serve(POSTERN_USERS_REGISTRATION="open")
    browser.open(server.url + "/reset-password")
    assert browser.says("#request", "This server sends no mail.")
    assert browser.run("return document.querySelector('#request-form').hidden")
    look("reset-off")
    user = Mailboxes(server.url).user()
    log_in(browser, server, user.email, user.password)
    assert browser.says("#email", "This server sends no mail")
    assert browser.run("return document.querySelector('#email-verify').hidden")


def test_the_pages_load_nothing_of_others(server):
    for page in ["/reset-password", "/verify-email"]:
        answer = requests.get(server.url + page, timeout=60)
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert not re.search(r"(?:src|href)=\"(?!/|#)", answer.text)
