"""The web pages in a browser: with the keyboard, for screen readers, small, dark, no scripts."""

import pytest
import requests

from accessibility import violations
from hooks import HookReceiver
from mailboxes import Mailboxes, fresh
from program import await_true
from webdriver import Browser

TAB, ENTER, ESCAPE = "\ue004", "\ue007", "\ue00c"
PASSWORD = "supersecret"
# The first link of a page leads over its header.
SKIP_HEADER = [TAB, ENTER]
HEADER = ["Create a mailbox", "Dashboard", "Hash login", "Mail", "/llms.txt", "/openapi.json"]
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'{mail}; connect-src 'self'; "
          "worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
# Of the frames with messages: a frame may not do more than its page.
POLICIES = {"/signup": POLICY.format(mail=""), "/dashboard": POLICY.format(
    mail=" 'unsafe-inline'; img-src data: https:")}


@pytest.fixture(scope="module")
def server(serve, names, authority):
    """Proofs take some thousand tries."""
    return serve(
        POSTERN_POW_ACCOUNTS_DIFFICULTY="12", POSTERN_USERS_REGISTRATION="open",
        POSTERN_ACCOUNTS_PAGE_SIZE="2", POSTERN_DNS_SERVERS=names.address,
        POSTERN_WEBHOOKS_CA_FILE=str(authority.file))


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


def focused(browser):
    """The id of the element with the focus, or its text."""
    return browser.run(
        "const it = document.activeElement; return it.id || it.textContent.trim()")


def value(browser, css, name="value"):
    return browser.run(f"return document.querySelector('{css}').{name}")


def allow_copying(browser, server):
    browser.command("Browser.grantPermissions", origin=server.url, permissions=[
        "clipboardReadWrite", "clipboardSanitizedWrite"])


def copied(browser):
    return browser.run_async("navigator.clipboard.readText().then(arguments[0])")


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
    browser.press([*SKIP_HEADER, TAB, *name, TAB, TAB, *PASSWORD, ENTER])
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

    allow_copying(browser, server)
    browser.press([TAB, ENTER])
    assert browser.says("#status", "Copied.")
    assert copied(browser) == address


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


def test_what_is_wrong_is_found_before_the_work_is_done(browser, endless):
    open_signup(browser, endless)
    fill(browser, "two..dots")
    browser.press([ENTER])
    assert browser.says("#name-error", "No mailbox can have this address.")


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


def test_a_signup_that_has_to_wait_goes_on_by_itself(browser, server):
    open_signup(browser, server)
    name = fresh().partition("@")[0]
    fill(browser, name)
    # The first proof is answered as by a server that has no time. What is shown is noted.
    browser.run(
        "const real = fetch; window.proofs = []; window.fetch = async (path, options) => {"
        " if (!options.body?.includes('pow') || proofs.push(options.body) > 1)"
        "  return real(path, options);"
        " return Response.json({error: 'rate_limit_exceeded', message: ''},"
        "  {status: 429, headers: {'Retry-After': '1'}}); };"
        "const detail = document.querySelector('#detail'); window.said = '';"
        "new MutationObserver(() => said += detail.textContent).observe(detail, {childList: true})")
    browser.press([ENTER])
    assert browser.says("#done", f"{name}@mail.test")
    assert "The request is sent again in 1 second." in browser.run("return said")
    # The proof was not computed again.
    assert browser.run("return proofs.length === 2 && proofs[0] === proofs[1]")


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
    # Nothing but these can be reached with the keyboard, and `main` by the first of them.
    assert [name for role, name, properties in tree
            if properties.get("focusable") and role not in ("RootWebArea", "option", "main")] == [
        "Skip to the content", *HEADER, "Name", "Domain", "Password", "Show the password", "Create mailbox"]


def test_the_password_can_be_shown(browser, server):
    open_signup(browser, server)
    browser.click("#reveal")
    assert value(browser, "#password", "type") == "text"
    browser.click("#reveal")
    assert value(browser, "#password", "type") == "password"


# /dashboard

def open_dashboard(browser, server):
    """Without a session."""
    browser.command("Storage.clearCookies")
    browser.open(server.url + "/dashboard")
    assert browser.says("#entrance", "Log in")


def log_in(browser, server):
    """As a new user, who is returned."""
    user = Mailboxes(server.url).user()
    open_dashboard(browser, server)
    browser.type("#login-email", user.email)
    browser.type("#login-password", user.password)
    browser.press([ENTER])
    assert browser.says("#dashboard", f"Logged in as {user.email}")
    return user


def items(browser, section):
    return browser.run(
        f"return [...document.querySelectorAll('#{section}-list > li strong')]"
        ".map(each => each.textContent)")


def click_item(browser, section, name):
    """Clicks a button of a list, by its name for screen readers."""
    browser.click(f"#{section}-list [aria-label='{name}']")


def unfold(browser, form):
    browser.run(f"document.querySelector('{form}').closest('details').open = true")


def create_account(browser, name):
    unfold(browser, "#account-form")
    browser.type("#account-name", name)
    browser.type("#account-password", PASSWORD)
    browser.click("#account-form button")


def test_a_user_registers_and_logs_out_with_the_keyboard_alone(browser, look, server):
    open_dashboard(browser, server)
    look("dashboard-1-entrance")
    email = fresh("example.com")
    browser.run("document.querySelector('#register-email').focus()")
    browser.press([*email, TAB, *"password", ENTER])
    assert browser.says("#register-password-error", "most common")
    assert focused(browser) == "register-password"
    look("dashboard-2-error")
    browser.press([*" of mine", ENTER])
    assert browser.says("#dashboard", f"Logged in as {email}")
    assert browser.says("#sessions-list", "this session")
    # The session outlives the page, in a cookie that scripts cannot read.
    assert browser.run("return document.cookie") == ""
    browser.open(server.url + "/dashboard")
    assert browser.says("#dashboard", f"Logged in as {email}")
    look("dashboard-3-empty")
    for _ in range(40):
        if focused(browser) == "logout":
            break
        browser.press([TAB])
    browser.press([ENTER])
    assert browser.says("#status", "You are logged out")
    assert browser.run("return document.querySelector('#dashboard').hidden")
    browser.open(server.url + "/dashboard")
    assert browser.says("#entrance", "Log in")


def test_a_user_has_accounts(browser, look, server):
    user = log_in(browser, server)
    boxes = Mailboxes(server.url)
    first = boxes.mailbox(user.token).address
    names = [fresh().partition("@")[0] for _ in range(2)]
    for name in names:
        create_account(browser, name)
        assert browser.says("#status", f"{name}@mail.test was created.")
    addresses = [first, *(f"{name}@mail.test" for name in names)]
    assert items(browser, "accounts") == addresses
    assert browser.says("#accounts-count", "3 of at most 10 accounts.")
    assert boxes.login(addresses[1], PASSWORD).status_code == 200
    # The token that made them is gone.
    listed = boxes.call("GET", "/api/user/tokens", user.token).json()["tokens"]
    assert [token["revoked_at"] is not None for token in listed] == [True, True]

    create_account(browser, names[0])
    assert browser.says("#account-name-error", "This address is taken.")
    assert focused(browser) == "account-name"
    look("dashboard-4-accounts")

    # Two a page.
    browser.open(server.url + "/dashboard")
    assert browser.says("#accounts-list", addresses[1])
    assert items(browser, "accounts") == addresses[:2]
    browser.click("#accounts-more")
    assert browser.says("#accounts-list", addresses[2])
    assert items(browser, "accounts") == addresses
    assert browser.run("return document.querySelector('#accounts-more').hidden")

    click_item(browser, "accounts", f"Reset password {first}")
    assert focused(browser) == "reset-password"
    browser.press([*"abc", ENTER])
    assert browser.says("#reset-password-error", "at least 6")
    look("dashboard-5-reset")
    browser.press([*"defgh", ENTER])
    assert browser.says("#status", f"{first} has its new password.")
    assert boxes.login(first, "abcdefgh").status_code == 200

    click_item(browser, "accounts", f"Delete {first}")
    assert browser.says("#confirm", f"Delete {first}?")
    look("dashboard-6-confirm")
    browser.press([ESCAPE])
    assert boxes.login(first, "abcdefgh").status_code == 200
    click_item(browser, "accounts", f"Delete {first}")
    browser.click("#confirm-yes")
    assert browser.says("#status", f"{first} was deleted.")
    assert focused(browser) == "accounts-title"
    assert items(browser, "accounts") == addresses[1:]
    assert boxes.login(first, "abcdefgh").status_code == 401


def test_a_user_has_api_tokens(browser, look, server):
    user = log_in(browser, server)
    boxes = Mailboxes(server.url)
    unfold(browser, "#token-form")
    browser.type("#token-name", "<b>laptop</b>")
    browser.click("#token-form [value=domains]")
    browser.click("#token-form button")
    assert browser.says("#tokens-list", "For accounts, tokens.")
    assert items(browser, "tokens") == ["<b>laptop</b>"]
    assert focused(browser) == "token-secret"
    look("dashboard-7-token")
    secret = value(browser, "#token-secret")
    assert boxes.call("GET", "/api/user/accounts", secret).status_code == 200
    assert boxes.call("GET", "/api/user/domains", secret).status_code == 403
    listed = boxes.call("GET", "/api/user/tokens", user.token).json()["tokens"]
    assert listed[0]["scopes"] == ["accounts", "tokens"] and listed[0]["expires_at"]

    for scope in ["accounts", "tokens"]:
        browser.click(f"#token-form [value={scope}]")
    browser.click("#token-form [value=domains]")
    browser.click("#token-form button")
    assert browser.says("#token-form .failed", "`scopes` must be a list")

    click_item(browser, "tokens", "Revoke <b>laptop</b>")
    browser.click("#confirm-yes")
    assert browser.says("#status", "<b>laptop</b> was revoked.")
    assert items(browser, "tokens") == []
    assert boxes.call("GET", "/api/user/accounts", secret).status_code == 401
    # It is not shown again.
    browser.open(server.url + "/dashboard")
    assert browser.says("#tokens-ended", "Tokens that have ended")
    assert value(browser, "#token-secret") == ""


def test_a_user_has_a_webhook(browser, look, server, authority):
    boxes, user = Mailboxes(server.url), log_in(browser, server)
    receiver = HookReceiver(authority)
    receiver.is_clock_ahead = True
    try:
        browser.says("#webhooks-count", "There is no webhook.")
        unfold(browser, "#webhook-form")
        browser.type("#webhook-url", "http://example.com/")
        browser.click("#webhook-form button")
        assert browser.says("#webhook-url-error", "The URL must be https")
        browser.run("document.querySelector('#webhook-url').value = ''")
        browser.type("#webhook-url", receiver.url)
        browser.click("#webhook-form button")
        assert browser.says("#webhooks-list", "no event has failed since")
        assert items(browser, "webhooks") == [receiver.url]
        assert focused(browser) == "webhook-secret"
        look("dashboard-9-webhook")
        assert not browser.run("return document.querySelector('#webhook-add').checkVisibility()")
        receiver.takes({"secret": value(browser, "#webhook-secret")})

        click_item(browser, "webhooks", "Send a test event of the webhook")
        assert browser.says("#status", "A test event is being sent.")
        [event] = receiver.await_events(1)
        assert event["type"] == "webhook.test"
        path = f"/api/user/webhooks/{hook_id(boxes, user)}/deliveries"
        await_true(lambda: boxes.call("GET", path, user.token).json()["deliveries"], "not noted")
        click_item(browser, "webhooks", "Show deliveries of the webhook")
        assert browser.says("#webhooks-list", "webhook.test accepted")
        assert browser.says("#webhooks-list", "the response has status 204")
        look("dashboard-9-deliveries")

        click_item(browser, "webhooks", "Replace secret of the webhook")
        browser.click("#confirm-yes")
        browser.says("#webhooks-list", "active")
        await_true(lambda: value(browser, "#webhook-secret") != receiver.secret, "the same secret")
        click_item(browser, "webhooks", "Delete of the webhook")
        browser.click("#confirm-yes")
        assert browser.says("#status", "The webhook was deleted.")
        assert items(browser, "webhooks") == []
        assert value(browser, "#webhook-secret") == ""
        assert focused(browser) == "webhooks-title"
        assert not receiver.forged
    finally:
        receiver.stop()


def hook_id(boxes, user):
    [webhook] = boxes.call("GET", "/api/user/webhooks", user.token).json()["webhooks"]
    return webhook["id"]


def test_a_user_proves_a_domain(browser, look, server, names):
    log_in(browser, server)
    domain = fresh("").rstrip("@") + ".example"
    unfold(browser, "#domain-form")
    browser.type("#domain-name", "no domain")
    browser.press([ENTER])
    assert browser.says("#domain-name-error", "This is not the name of a domain.")
    browser.type("#domain-name", domain)
    browser.press([ENTER])
    assert browser.says("#domains-list", "postern-verify=")
    assert browser.says("#domains-list .state", "pending")

    click_item(browser, "domains", f"Check DNS records {domain}")
    assert browser.says("#status", "The TXT record was not found.")
    look("dashboard-8-domain")
    records = browser.run(
        "return [...document.querySelectorAll('#domains-list dl')].map(record =>"
        " Object.fromEntries([...record.querySelectorAll('[data-field]')]"
        ".map(each => [each.dataset.field, each.textContent])))")
    assert [record["state"] for record in records] == ["not found", "not found"]
    allow_copying(browser, server)
    click_item(browser, "domains", "Copy value of the TXT record")
    assert browser.says("#status", "Copied.")
    assert copied(browser) == records[0]["value"]
    names.publish([
        {**record, "priority": int(record.get("priority", 0))} for record in records])
    click_item(browser, "domains", f"Check DNS records {domain}")
    assert browser.says("#status", "The domain is verified and its mail is directed here.")
    assert browser.says("#domains-list .state", "verified")
    assert browser.says("#domains-list > li", "mail arrives here")

    # It can be chosen for an account at once.
    unfold(browser, "#account-form")
    browser.run(f"document.querySelector('#account-domain').value = '{domain}'")
    browser.type("#account-name", "me")
    browser.type("#account-password", PASSWORD)
    browser.press([ENTER])
    assert browser.says("#status", f"me@{domain} was created.")

    click_item(browser, "domains", f"Delete {domain}")
    browser.click("#confirm-yes")
    assert browser.says("#domains .failed", "Delete the accounts on the domain first.")
    click_item(browser, "accounts", f"Delete me@{domain}")
    browser.click("#confirm-yes")
    assert browser.says("#status", f"me@{domain} was deleted.")
    click_item(browser, "domains", f"Delete {domain}")
    browser.click("#confirm-yes")
    assert browser.says("#domains-count", "There is no domain.")


def test_sessions_are_listed_and_ended(browser, look, server):
    """The test's own program is the other session."""
    user = log_in(browser, server)
    assert browser.says("#sessions-list", "python-requests")
    assert browser.says("#sessions-list", "with the registration")
    assert items(browser, "sessions")[0] == "Chrome on Linux"
    assert browser.run(
        "return [...document.querySelectorAll('#sessions-list .state')].map(each => each.textContent)"
    ) == ["this session", ""]
    look("dashboard-security")
    browser.click("#sessions-list li:last-child [data-action=end]")
    browser.click("#confirm-yes")
    assert browser.says("#status", "The session was ended.")
    assert focused(browser) == "sessions-title"
    assert len(items(browser, "sessions")) == 1
    boxes = Mailboxes(server.url)
    assert boxes.call("GET", "/api/user/me", user.token).status_code == 401
    # The page's own session cannot be ended by its item, and there is no other one to end.
    assert browser.run(
        "return document.querySelector('#sessions-list [data-action=end]').hidden"
        " && document.querySelector('#sessions-end').hidden")
    browser.click("#logout-here")
    assert browser.says("#status", "You are logged out in this browser.")


def test_the_other_sessions_are_ended_together(browser, server):
    user = log_in(browser, server)
    browser.click("#sessions-end")
    browser.click("#confirm-yes")
    assert browser.says("#status", "All other sessions were ended.")
    assert Mailboxes(server.url).call("GET", "/api/user/me", user.token).status_code == 401
    assert items(browser, "sessions") == ["Chrome on Linux"]
    # The other session of a user outlives the logout in this browser.
    boxes = Mailboxes(server.url)
    again = boxes.call("POST", "/api/user/login", None, {
        "email": user.email, "password": user.password}).json()
    browser.click("#logout-here")
    assert browser.says("#status", "You are logged out in this browser.")
    assert boxes.call("GET", "/api/user/me", again["token"]).status_code == 200


def test_what_needs_a_recent_login_asks_for_the_password(browser, look, server):
    """With an action that the server refuses once."""
    user = log_in(browser, server)
    before = items(browser, "sessions")
    browser.run("""
        window.outcome = Promise.all([import('/web/security.js'), import('/web/api.js')])
          .then(([{ withRecentLogin }, { Failure }]) => {
            let count = 0;
            return withRecentLogin(async () => {
              count += 1;
              if (count === 1) throw new Failure('recent_login_required', 'Log in again.', 0);
              return `done after ${count}`;
            });
          })
          .then((text) => { document.querySelector('#status').textContent = text; });
    """)
    assert browser.says("#again", "Log in again")
    assert focused(browser) == "again-password"
    look("dashboard-recent-login")
    browser.press([*"wrong", ENTER])
    assert browser.says("#again-password-error", "This is not your password.")
    browser.type("#again-password", user.password)
    browser.press([ENTER])
    assert browser.says("#status", "done after 2")
    # The new session has replaced the old one, and the password does not stay in the page.
    assert items(browser, "sessions") == before
    assert value(browser, "#again-password") == ""


def test_a_changed_password_ends_every_session(browser, server):
    user = log_in(browser, server)
    unfold(browser, "#password-form")
    browser.type("#password-current", "not the present one")
    browser.type("#password-new", "another one of mine")
    browser.press([ENTER])
    assert browser.says("#password-current-error", "This is not your present password.")
    browser.type("#password-current", user.password)
    browser.press([ENTER])
    assert browser.says("#status", "All sessions have ended")
    boxes = Mailboxes(server.url)
    assert boxes.call("GET", "/api/user/me", user.token).status_code == 401
    browser.type("#login-email", user.email)
    browser.type("#login-password", user.password)
    browser.press([ENTER])
    assert browser.says("#login-password-error", "The email or the password is wrong.")
    browser.type("#login-password", "another one of mine")
    browser.press([ENTER])
    assert browser.says("#dashboard", f"Logged in as {user.email}")


def test_a_session_that_ends_elsewhere_leads_to_the_login(browser, server):
    user = log_in(browser, server)
    boxes = Mailboxes(server.url)
    assert boxes.call("POST", "/api/user/logout", user.token).status_code == 204
    create_account(browser, "somebody")
    assert browser.says("#status", "The session has ended. Log in again.")
    assert focused(browser) == "login-title"
    # Nothing of the user stays.
    assert user.email not in browser.run("return document.body.textContent")
    assert items(browser, "accounts") == []
    assert value(browser, "#account-password") == ""


def test_where_registration_is_closed_the_dashboard_says_so(browser, endless):
    open_dashboard(browser, endless)
    assert browser.says("#register-closed", "Only the operator of this server adds users.")
    assert browser.run("return document.querySelector('#register-form').hidden")


# Every page

PAGES = {"/signup": "Create a mailbox", "/dashboard": "Dashboard", "/": "Hash login",
         "/validate": "Hash login"}


def open_page(browser, server, page):
    """Until its script has shown what it shows first."""
    if page == "/signup":
        open_signup(browser, server)
    elif page == "/dashboard":
        open_dashboard(browser, server)
    else:
        browser.open(server.url + page)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_the_header_at_any_width_and_in_the_dark(browser, look, server, page):
    open_page(browser, server, page)
    tree = browser.tree()
    assert {("banner", ""), ("navigation", "Pages"), ("navigation", "For programs")} <= {
        (role, name) for role, name, _ in tree}
    links = [name for role, name, _ in tree if role == "link"]
    assert links[:7] == ["Skip to the content", *HEADER]
    # What answers a form, or is an error, belongs to the page with the form.
    marked = browser.run(
        "return [...document.querySelectorAll('[aria-current]')]"
        ".map(each => [each.textContent, each.getAttribute('aria-current')])")
    assert marked == [[PAGES[page], "true" if page == "/validate" else "page"]]
    look(f"header-{page.strip('/') or 'home'}")


@pytest.mark.parametrize("page", PAGES)
def test_the_header_can_be_used_and_skipped_with_the_keyboard(browser, server, page):
    browser.show(320, 900, "dark")
    open_page(browser, server, page)
    for name in ["Skip to the content", *HEADER]:
        browser.press([TAB])
        assert focused(browser) == name
        outline, x, y, width, height = browser.run(
            "const it = document.activeElement, box = it.getBoundingClientRect();"
            "return [getComputedStyle(it).outlineStyle, box.x, box.y, box.width, box.height]")
        assert outline == "solid" and x >= 0 and y >= 0 and x + width <= 320
        # WCAG 2.2, 2.5.8.
        assert width >= 24 and height >= 24
        on_top = browser.run(
            "const box = document.activeElement.getBoundingClientRect();"
            "return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)"
            " === document.activeElement")
        assert on_top, f"{name} cannot be seen"
    open_page(browser, server, page)
    browser.press(SKIP_HEADER)
    assert focused(browser) == "main"
    open_page(browser, server, page)
    browser.press([TAB, TAB, TAB, ENTER])
    assert browser.says("h1", "Dashboard")


@pytest.mark.parametrize("page, text", [
    ("/signup", "This page needs JavaScript"), ("/dashboard", "This page needs JavaScript")])
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


@pytest.mark.parametrize("page", PAGES)
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
    for page, form in [("signup", "form"), ("dashboard", "entrance")]:
        browser.open(f"http://plain.test:{server.port}/{page}")
        assert browser.says("#unsupported", "This page needs https")
        assert browser.run(f"return document.querySelector('#{form}').hidden")
        assert not violations(browser)


@pytest.mark.parametrize("page", POLICIES)
def test_the_policy_of_a_page_stops_scripts_of_others(chromium, server, page):
    answer = requests.get(server.url + page, timeout=30)
    assert answer.headers["Content-Security-Policy"] == POLICIES[page]
    chromium.open(server.url + page)
    chromium.log()
    chromium.run(
        "window.ran = false; const script = document.createElement('script');"
        "script.textContent = 'window.ran = true'; document.body.append(script)")
    assert chromium.run("return window.ran") is False
    assert any("Content Security Policy" in message for _, message in chromium.log())
