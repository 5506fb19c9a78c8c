"""Logging in with an identity provider, and linking one, in Chromium."""

from datetime import datetime

import pytest
import requests

import totp
from mailboxes import Mailboxes, fresh
from provider import Provider
from webdriver import Browser

ENTER = "\ue007"


@pytest.fixture(scope="module")
def provider():
    made = Provider()
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(serve, provider, tmp_path_factory):
    directory = tmp_path_factory.mktemp("providers")
    config = directory / "postern.toml"
    config.write_text(
        '[users]\nregistration = "open"\n' + provider.table(directory, label="Our <ID>"))
    return serve("--config", str(config))


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def person(provider):
    email = fresh("people.example")
    provider.person = {"sub": email, "email": email, "email_verified": True}
    return provider.person


def advance(server, provider, seconds=0):
    """Lets time pass for both. Returns the server's."""
    answer = requests.post(server.url + "/test/clock", json={"advance": seconds}, timeout=20)
    provider.ahead += seconds
    return datetime.fromisoformat(answer.json()["now"]).timestamp()


def open_entrance(browser, server):
    browser.command("Storage.clearCookies")
    browser.open(server.url + "/dashboard")
    assert browser.says("#entrance", "Log in")


def log_in_at_provider(browser, server):
    open_entrance(browser, server)
    browser.run("document.querySelector('#login-form a.button').focus()")
    browser.press([ENTER])


def log_in(browser, server, user):
    open_entrance(browser, server)
    browser.type("#login-email", user.email)
    browser.type("#login-password", user.password)
    browser.press([ENTER])
    assert browser.says("#dashboard", f"Logged in as {user.email}")


def test_a_provider_logs_in_and_stays_the_last_way(browser, look, server, person):
    open_entrance(browser, server)
    assert browser.says("#login-form", "Log in with Our <ID>")
    look("dashboard-entrance-provider")
    log_in_at_provider(browser, server)
    assert browser.says("#dashboard", f"Logged in as {person['email']}")
    assert browser.says("#providers-list", "Our <ID>")
    assert browser.says("#providers-list", person["email"])
    assert browser.says("#sessions-list", "with id")
    look("dashboard-providers")
    browser.click("#providers-list [data-action=unlink]")
    browser.click("#confirm-yes")
    assert browser.says("#providers", "Without it you could not log in; set a password.")


def test_a_link_on_another_site_leads_to_the_button(browser, server, person):
    open_entrance(browser, server)
    browser.open(f"data:text/html,<a href='{server.url}/api/user/oauth/id'>Log in</a>")
    browser.click("a")
    assert browser.says("#entrance", "Log in")
    assert browser.run("return location.pathname") == "/dashboard"
    browser.click("#login-form a.button")
    assert browser.says("#dashboard", f"Logged in as {person['email']}")


def test_a_user_links_and_unlinks(browser, look, server, person):
    user = Mailboxes(server.url).user()
    log_in(browser, server, user)
    assert browser.says("#providers", "No other account logs you in.")
    browser.click("#providers [data-provider]")
    assert browser.says("#status", "Our <ID> logs you in from now on.")
    assert browser.run("return location.hash") == ""
    assert browser.says("#providers-list", person["email"])
    assert browser.run("return document.querySelector('#providers [data-provider]').hidden")
    log_in_at_provider(browser, server)
    assert browser.says("#dashboard", f"Logged in as {user.email}")
    browser.click("#providers-list [data-action=unlink]")
    browser.click("#confirm-yes")
    assert browser.says("#status", "Our <ID> was unlinked.")
    assert browser.says("#providers", "No other account logs you in.")


def test_an_email_of_a_user_asks_to_log_in_and_link(browser, look, server, person):
    user = Mailboxes(server.url).user()
    person["email"] = user.email
    log_in_at_provider(browser, server)
    assert browser.says("main", "There is a user with your email")
    look("provider-link-required")
    browser.click("main a")
    assert browser.says("#entrance", "Log in")


def test_the_second_factor_is_asked_for(browser, look, server, provider, person):
    log_in_at_provider(browser, server)
    assert browser.says("#dashboard", f"Logged in as {person['email']}")
    browser.click("#totp-begin")
    assert browser.says("#totp-setup", "secret")
    secret = browser.run("return document.querySelector('#totp-secret').textContent")
    uri = f"otpauth://totp/x?secret={secret}&algorithm=SHA1&digits=6&period=30"
    browser.type("#totp-code", totp.code(uri, advance(server, provider)))
    browser.press([ENTER])
    assert browser.says("#totp-recovery", "Your recovery codes")
    log_in_at_provider(browser, server)
    assert browser.says("#second", "Second factor")
    assert browser.run("return location.hash") == ""
    look("dashboard-provider-second")
    browser.type("#second-code", totp.code(uri, advance(server, provider, 30)))
    browser.press([ENTER])
    assert browser.says("#dashboard", f"Logged in as {person['email']}")


def test_a_user_without_a_password_logs_in_again_at_the_provider(
        browser, look, server, provider, person):
    log_in_at_provider(browser, server)
    assert browser.says("#dashboard", f"Logged in as {person['email']}")
    advance(server, provider, 601)
    browser.click("#totp-begin")
    assert browser.says("#again", "Or log in again at a provider")
    look("dashboard-provider-again")
    browser.click("#again-provider-list a")
    assert browser.says("#dashboard", f"Logged in as {person['email']}")
    browser.click("#totp-begin")
    assert browser.says("#totp-setup", "secret")
