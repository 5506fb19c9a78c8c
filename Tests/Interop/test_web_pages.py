"""The web pages in a browser: with the keyboard, for screen readers, small, dark, no scripts."""

import os
import pathlib

import pytest
import requests

from accessibility import violations
from mailboxes import Mailboxes, fresh
from webdriver import Browser

TAB, ENTER, ESCAPE = "\ue004", "\ue007", "\ue00c"
PASSWORD = "supersecret"
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
          "worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")


@pytest.fixture(scope="module")
def server(serve, names):
    """Proofs take some thousand tries."""
    return serve(
        POSTERN_POW_ACCOUNTS_DIFFICULTY="12", POSTERN_USERS_REGISTRATION="open",
        POSTERN_ACCOUNTS_PAGE_SIZE="2", POSTERN_DNS_SERVERS=names.address)


@pytest.fixture(scope="module")
def endless(serve):
    """No proof is found."""
    return serve(POSTERN_POW_ACCOUNTS_DIFFICULTY="40")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    # A name that is not this machine's for the browser, and leads to it.
    browser = Browser(
        tmp_path_factory.mktemp("browser"), "--host-resolver-rules=MAP plain.test 127.0.0.1")
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium):
    """Fails when the console has said more than that requests were refused."""
    chromium.show(1280, 900, "light")
    yield chromium
    complaints = [entry for entry in chromium.log() if entry[0] != "network"]
    assert not complaints


@pytest.fixture
def look(browser, request):
    """Checks what every state of a page must have; PICTURES names a folder for screenshots."""
    def look(name):
        for width, scheme in [(1280, "light"), (320, "dark")]:
            browser.show(width, 900, scheme)
            if folder := os.environ.get("PICTURES"):
                browser.picture(pathlib.Path(folder) / f"{name}-{width}-{scheme}.png")
            wide, visible = browser.run(
                "return [document.documentElement.scrollWidth, innerWidth]")
            assert wide <= visible == width, f"{name} has to be scrolled sideways"
            assert not violations(browser)
        browser.show(1280, 900, "light")

    return look


def focused(browser):
    """The id of the element with the focus, or its text."""
    return browser.run(
        "const it = document.activeElement; return it.id || it.textContent.trim()")


def value(browser, css, name="value"):
    return browser.run(f"return document.querySelector('{css}').{name}")


def fill(browser, name, password=PASSWORD):
    browser.type("#name", name)
    browser.type("#password", password)


def open_signup(browser, server):
    browser.open(server.url + "/signup")
    assert browser.says("#preview", "mail.test")


def taken(server):
    """An address that somebody has."""
    address = Mailboxes(server.url).mailbox().address
    return address.partition("@")[0]


# /signup

def test_a_mailbox_is_made_with_the_keyboard_alone(browser, look, server):
    open_signup(browser, server)
    look("signup-1-form")
    name = fresh().partition("@")[0]
    browser.press([TAB, *name, TAB, TAB, *PASSWORD, ENTER])
    assert browser.says("#done", "Mailbox created")
    assert focused(browser) == "Mailbox created"
    assert browser.run("return document.title").startswith("Mailbox created")
    look("signup-4-done")

    address = value(browser, "#done-address", "textContent")
    assert address == f"{name}@mail.test"
    boxes = Mailboxes(server.url)
    assert boxes.login(address, PASSWORD).status_code == 200
    shown = boxes.get(address, value(browser, "#done-token")).json()
    assert shown["id"] == value(browser, "#done-id", "textContent")
    # The password does not stay in the page.
    assert value(browser, "#password") == ""

    browser.command("Browser.grantPermissions", origin=server.url, permissions=[
        "clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.press([TAB, ENTER])
    assert browser.says("#status", "Copied.")
    copied = browser.run_async("navigator.clipboard.readText().then(arguments[0])")
    assert copied == address


def test_an_error_is_shown_at_its_field(browser, look, server):
    open_signup(browser, server)
    for name, password, field, text in [
            ("", PASSWORD, "name", "must not be empty"),
            ("somebody", "", "password", "must not be empty"),
            ("two..dots", PASSWORD, "name", "No mailbox can have this address."),
            ("somebody", "short", "password", "at least 6"),
            (taken(server), PASSWORD, "name", "This address is taken."),
            ("postmaster", PASSWORD, "name", "This address is taken.")]:
        fill(browser, name, password)
        browser.click("#create")
        assert browser.says(f"#{field}-error", text)
        assert focused(browser) == field
        described = browser.run(
            "const field = document.activeElement;"
            "return [field.getAttribute('aria-invalid'),"
            " field.getAttribute('aria-describedby').includes(field.id + '-error'),"
            " [...document.querySelectorAll('[aria-invalid]')].length]")
        assert described == ["true", True, 1]
        # What was typed stays.
        assert [value(browser, "#name"), value(browser, "#password")] == [name, password]
    look("signup-3-error")


def test_a_signup_in_progress_says_so_and_can_be_cancelled(browser, look, endless):
    open_signup(browser, endless)
    fill(browser, "somebody")
    browser.press([ENTER])
    assert browser.says("#detail", "On average 1,099,511,627,776 are needed")
    assert focused(browser) == "Computing the proof of work"
    tree = browser.tree()
    assert [name for role, name, _ in tree if role == "progressbar"] == [
        "Progress, as a probability"]
    look("signup-2-working")
    browser.press([TAB, ENTER])
    assert browser.says("#status", "Cancelled. No mailbox was created.")
    assert focused(browser) == "create"
    assert value(browser, "#name") == "somebody"
    assert browser.run("return document.querySelector('#work').hidden")


def test_a_challenge_that_expires_is_replaced_while_the_work_is_done(browser, endless):
    open_signup(browser, endless)
    fill(browser, "somebody")
    browser.run(
        "const real = fetch; window.challenges = 0; window.fetch = async (path, options) => {"
        " const answer = await real(path, options);"
        " if (path !== '/api/challenge') return answer;"
        " const now = answer.headers.get('Date'); challenges += 1;"
        " const body = {...await answer.json(), expires_at: Date.parse(now) / 1000 + 0.2};"
        " return Response.json(body, {headers: {Date: now}}); }")
    browser.press([ENTER])
    # After five the signup is given up.
    assert browser.says("#form", "The challenge has expired.")
    assert browser.run("return challenges") == 5
    assert focused(browser) == "create"


def test_a_challenge_that_the_server_does_not_take_any_more_is_replaced(browser, server):
    open_signup(browser, server)
    name = fresh().partition("@")[0]
    fill(browser, name)
    # The first proof arrives too late.
    browser.run(
        "const real = fetch; window.proofs = 0; window.fetch = async (path, options) => {"
        " if (options.body?.includes('pow') && (proofs += 1) === 1)"
        "  await real('/test/clock', {method: 'POST', body: '{\"advance\":400}',"
        "   headers: {'Content-Type': 'application/json'}});"
        " return real(path, options); }")
    browser.press([ENTER])
    assert browser.says("#done", f"{name}@mail.test")
    assert browser.run("return proofs") == 2


def test_a_signup_that_has_to_wait_goes_on_by_itself(browser, serve):
    server = serve(
        POSTERN_LIMITS_ENABLED="true", POSTERN_LIMITS_CREATION_INTERVAL="2s",
        POSTERN_LIMITS_GENERAL_PER_SECOND="50", POSTERN_LIMITS_PRO_PER_SECOND="50")
    for name in ["first", "second"]:
        open_signup(browser, server)
        fill(browser, name)
        # Text that is shown for a moment is noted.
        browser.run(
            "window.said = ''; new MutationObserver(() => said += document.querySelector('#detail')"
            ".textContent).observe(document.querySelector('#detail'), {childList: true})")
        browser.press([ENTER])
        assert browser.says("#done", f"{name}@mail.test")
    assert "The request is sent again in " in browser.run("return window.said")


def test_screen_readers_are_told_what_each_field_is(browser, server):
    open_signup(browser, server)
    tree = browser.tree()
    named = {(role, name) for role, name, _ in tree}
    for expected in [
            ("RootWebArea", "Create a mailbox · Postern"), ("heading", "Create a mailbox"),
            ("form", "Create a mailbox"), ("textbox", "Name"), ("combobox", "Domain"),
            ("textbox", "Password"), ("checkbox", "Show the password"),
            ("button", "Create mailbox")]:
        assert expected in named, expected
    assert {role for role, _, _ in tree} >= {"main", "status", "alert"}
    # Nothing but these can be reached with the keyboard.
    assert [name for role, name, properties in tree
            if properties.get("focusable") and role not in ("RootWebArea", "option")] == [
        "Name", "Domain", "Password", "Show the password", "Create mailbox"]


def test_the_password_can_be_shown(browser, server):
    open_signup(browser, server)
    browser.click("#reveal")
    assert value(browser, "#password", "type") == "text"
    browser.click("#reveal")
    assert value(browser, "#password", "type") == "password"


# Every page

@pytest.mark.parametrize("page, text", [
    ("/signup", "This page needs JavaScript")])
def test_without_javascript_a_page_says_what_to_do(browser, server, page, text):
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(server.url + page)
        tree = browser.tree()
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)
    assert ("heading", text) in [(role, name) for role, name, _ in tree]
    assert f"{server.url}/api/" in " ".join(name for _, name, _ in tree)
    assert not [name for role, name, _ in tree if role in ("textbox", "button")]


@pytest.mark.parametrize("page", ["/signup"])
def test_a_page_is_dark_where_its_reader_likes_that(browser, server, page):
    def brightness():
        return browser.run(
            "const rgb = getComputedStyle(document.body).backgroundColor.match(/\\d+/g);"
            "return rgb.slice(0, 3).reduce((sum, each) => sum + Number(each), 0) / 3")

    browser.open(server.url + page)
    assert brightness() > 200
    browser.show(1280, 900, "dark")
    assert brightness() < 60


def test_over_http_a_page_says_that_it_needs_https(browser, serve):
    server = serve(POSTERN_SERVER_PUBLIC_URL="http://plain.test")
    browser.open(f"http://plain.test:{server.port}/signup")
    assert browser.says("#unsupported", "This page needs https")
    assert browser.run("return document.querySelector('#form').hidden")
    assert not violations(browser)


@pytest.mark.parametrize("page", ["/signup"])
def test_the_policy_of_a_page_stops_scripts_of_others(chromium, server, page):
    answer = requests.get(server.url + page, timeout=30)
    assert answer.headers["Content-Security-Policy"] == POLICY
    chromium.open(server.url + page)
    chromium.log()
    chromium.run(
        "window.ran = false; const script = document.createElement('script');"
        "script.textContent = 'window.ran = true'; document.body.append(script)")
    assert chromium.run("return window.ran") is False
    assert any("Content Security Policy" in message for _, message in chromium.log())
