"""Passkeys and one-time codes on the dashboard, with Chromium's virtual authenticator."""

import subprocess
from datetime import datetime

import pytest
import requests

import totp
from mailboxes import Mailboxes
from webdriver import Browser

TAB, ENTER, ESCAPE = "\ue004", "\ue007", "\ue00c"


@pytest.fixture(scope="module")
def server(serve):
    return serve(POSTERN_USERS_REGISTRATION="open")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def authenticator(browser):
    made = browser.add_authenticator()
    yield made
    browser.remove_authenticator(made)


def pages(server):
    """Browsers have no passkeys for a host that is a number."""
    return server.url.replace("127.0.0.1", "localhost")


def advance(server, seconds):
    """The server's time afterwards."""
    answer = requests.post(server.url + "/test/clock", json={"advance": seconds}, timeout=20)
    return datetime.fromisoformat(answer.json()["now"]).timestamp()


def events(server):
    listed = requests.get(server.url + "/test/events", timeout=20).json()
    return [each["kind"] for each in listed["events"]]


def open_entrance(browser, server):
    browser.command("Storage.clearCookies")
    browser.open(pages(server) + "/dashboard")
    assert browser.says("#entrance", "Log in")


def type_login(browser, user):
    browser.type("#login-email", user.email)
    browser.type("#login-password", user.password)
    browser.press([ENTER])


def log_in(browser, server):
    user = Mailboxes(server.url).user()
    open_entrance(browser, server)
    type_login(browser, user)
    assert browser.says("#dashboard", f"Logged in as {user.email}")
    return user


def unfold(browser, details):
    browser.run(f"document.querySelector('#{details}').open = true")


def add_passkey(browser, name):
    unfold(browser, "passkey-add")
    browser.type("#passkey-name", name)
    browser.press([ENTER])
    assert browser.says("#passkeys-list", name)


def enable_totp(browser, server):
    """Returns the otpauth URI and the recovery codes."""
    browser.click("#totp-begin")
    assert browser.says("#totp-setup", "Scan the picture")
    secret = browser.run("return document.querySelector('#totp-secret').textContent")
    uri = f"otpauth://totp/localhost:x?secret={secret}&algorithm=SHA1&digits=6&period=30"
    browser.type("#totp-code", totp.code(uri, advance(server, 0)))
    browser.press([ENTER])
    assert browser.says("#totp-recovery", "Your recovery codes")
    codes = browser.run("return document.querySelector('#totp-recovery-codes').textContent").split()
    return uri, codes


def ask_for_second_factor(browser, server, user):
    open_entrance(browser, server)
    type_login(browser, user)
    assert browser.says("#second", "Second factor")


def test_a_passkey_logs_in_without_an_email(browser, look, server, authenticator):
    user = log_in(browser, server)
    assert browser.says("#passkeys", "There is no passkey.")
    add_passkey(browser, "This computer")
    assert browser.says("#status", "This computer was added.")
    look("dashboard-passkeys")
    [credential] = browser.credentials(authenticator)
    assert credential["isResidentCredential"]
    assert credential["rpId"] == "localhost"

    open_entrance(browser, server)
    look("dashboard-entrance-passkey")
    browser.click("#login-passkey")
    assert browser.says("#dashboard", f"Logged in as {user.email}")
    assert browser.says("#sessions-list", "with a passkey")

    # Without a passkey in the device, and with one that was removed at the server.
    browser.click("#passkeys-list [data-action=rename]")
    browser.type("#rename-name", "Old computer")
    browser.press([ENTER])
    assert browser.says("#passkeys-list", "Old computer")
    browser.click("#passkeys-list [data-action=remove]")
    browser.click("#confirm-yes")
    assert browser.says("#passkeys", "There is no passkey.")
    open_entrance(browser, server)
    browser.click("#login-passkey")
    assert browser.says("#login-form", "This passkey is not one of a user of this server.")
    assert {"passkey_added", "passkey_renamed", "passkey_removed"} <= set(events(server))


def test_one_device_gets_one_passkey_of_a_user(browser, server, authenticator):
    log_in(browser, server)
    add_passkey(browser, "first")
    unfold(browser, "passkey-add")
    browser.type("#passkey-name", "second")
    browser.press([ENTER])
    assert browser.says("#passkey-form", "This device has a passkey of yours already.")
    assert len(browser.credentials(authenticator)) == 1


def test_a_copied_authenticator_is_refused(browser, server):
    first = browser.add_authenticator()
    user = log_in(browser, server)
    add_passkey(browser, "key")
    [credential] = browser.credentials(first)
    open_entrance(browser, server)
    browser.click("#login-passkey")
    assert browser.says("#dashboard", f"Logged in as {user.email}")
    browser.remove_authenticator(first)
    # It was copied before the login, and counts on from there.
    copy = browser.add_authenticator(transport="usb")
    browser.add_credential(copy, credential)
    open_entrance(browser, server)
    browser.click("#login-passkey")
    assert browser.says("#login-form", "This passkey is not one of a user of this server.")
    assert "passkey_rejected" in events(server)
    browser.remove_authenticator(copy)


def test_one_time_codes_are_a_second_factor(browser, look, server, tmp_path):
    user = log_in(browser, server)
    browser.click("#totp-begin")
    assert browser.says("#totp-setup", "Scan the picture")
    look("dashboard-totp-setup")
    picture = tmp_path / "page.png"
    browser.picture(picture)
    read = subprocess.run(["zbarimg", "--quiet", "--raw", picture], check=True,
                          capture_output=True, text=True, timeout=60).stdout.strip()
    secret = browser.run("return document.querySelector('#totp-secret').textContent")
    assert read.startswith(f"otpauth://totp/localhost:{user.email.replace('@', '%40')}?")
    assert f"secret={secret}&" in read

    browser.type("#totp-code", "000000")
    browser.press([ENTER])
    assert browser.says("#totp-code-error", "This is not the present code.")
    browser.type("#totp-code", totp.code(read, advance(server, 0)))
    browser.press([ENTER])
    assert browser.says("#totp-recovery", "Your recovery codes")
    assert browser.says("#totp-state", "Unused recovery codes: 10.")
    look("dashboard-totp-recovery")
    codes = browser.run("return document.querySelector('#totp-recovery-codes').textContent").split()
    assert len(set(codes)) == 10

    # A wrong code, the right one, and that again.
    ask_for_second_factor(browser, server, user)
    look("dashboard-second-factor")
    now = advance(server, 60)
    browser.type("#second-code", "123456")
    browser.press([ENTER])
    assert browser.says("#second-code-error", "This is not the present code")
    right = totp.code(read, now)
    browser.type("#second-code", right)
    browser.press([ENTER])
    assert browser.says("#dashboard", f"Logged in as {user.email}")
    # Neither is in the page any more.
    assert not browser.run("return document.querySelector('#totp-recovery-codes').textContent")
    ask_for_second_factor(browser, server, user)
    browser.type("#second-code", right)
    browser.press([ENTER])
    assert browser.says("#second-code-error", "or it was used before")

    browser.click("#second-recovery summary")
    browser.type("#recovery-code", codes[0].upper())
    browser.press([ENTER])
    assert browser.says("#totp-state", "Unused recovery codes: 9.")

    browser.click("#totp-remove")
    browser.click("#confirm-yes")
    assert browser.says("#totp-state", "Off.")
    open_entrance(browser, server)
    type_login(browser, user)
    assert browser.says("#dashboard", f"Logged in as {user.email}")


def test_the_second_factor_is_shown_with_the_keyboard_alone(browser, server):
    user = log_in(browser, server)
    uri, _ = enable_totp(browser, server)
    ask_for_second_factor(browser, server, user)
    now = advance(server, 60)
    browser.press([*totp.code(uri, now), ENTER])
    assert browser.says("#dashboard", f"Logged in as {user.email}")
    ask_for_second_factor(browser, server, user)
    browser.press([ESCAPE])
    assert not browser.run("return document.querySelector('#second').open")
    assert browser.run("return document.querySelector('#dashboard').hidden")


def test_a_passkey_is_a_second_factor(browser, server, authenticator):
    user = log_in(browser, server)
    add_passkey(browser, "key")
    enable_totp(browser, server)
    ask_for_second_factor(browser, server, user)
    browser.click("#second-passkey")
    assert browser.says("#dashboard", f"Logged in as {user.email}")


def test_a_change_after_ten_minutes_asks_for_a_login(browser, server, authenticator):
    user = log_in(browser, server)
    add_passkey(browser, "key")
    uri, _ = enable_totp(browser, server)
    advance(server, 601)
    browser.click("#passkeys-list [data-action=remove]")
    browser.click("#confirm-yes")
    assert browser.says("#again", "This needs a login within the last ten minutes.")
    browser.type("#again-password", user.password)
    browser.press([ENTER])
    assert browser.says("#second", "Second factor")
    browser.type("#second-code", totp.code(uri, advance(server, 0)))
    browser.press([ENTER])
    assert browser.says("#passkeys", "There is no passkey.")
    # A passkey is a login, too.
    add_passkey(browser, "another")
    advance(server, 601)
    browser.click("#totp-codes")
    browser.click("#confirm-yes")
    assert browser.says("#again", "This needs a login within the last ten minutes.")
    browser.click("#again-passkey")
    assert browser.says("#totp-recovery", "Your recovery codes")


def test_where_there_can_be_no_passkeys_the_page_says_so(browser, server):
    user = Mailboxes(server.url).user()
    browser.command("Storage.clearCookies")
    browser.open(server.url + "/dashboard")
    assert browser.says("#entrance", "Log in")
    assert browser.run("return document.querySelector('#login-passkey').hidden")
    type_login(browser, user)
    assert browser.says("#passkeys-unsupported", "This browser offers no passkeys here")
    assert browser.run("return document.querySelector('#passkey-add').hidden")
