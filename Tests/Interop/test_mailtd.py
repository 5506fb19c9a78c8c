"""The client that the accounts service publishes on PyPI, with `base_url` set to Postern."""

import uuid

import mailtd
import pytest
from mailtd.crypto import derive_auth_key
from mailtd.types import Domain, Webhook, WebhookDelivery

from hooks import HookReceiver
from mailboxes import PASSWORD, Mailboxes, fresh
from program import await_true, run
from test_messages import deliver, source


@pytest.fixture(scope="module")
def server(serve, names):
    """A server with pages of three accounts."""
    return serve(
        POSTERN_USERS_REGISTRATION="open", POSTERN_DNS_SERVERS=names.address,
        POSTERN_ACCOUNTS_PAGE_SIZE="3")


@pytest.fixture
def plain(server):
    return Mailboxes(server.url)


@pytest.fixture
def user(plain):
    return plain.user()


@pytest.fixture
def client(server, plain, user):
    """A client as its README makes it: with a Pro API token."""
    with mailtd.MailTD(plain.api_token(user)["token"], base_url=server.url) as client:
        yield client


def refused(status, code):
    """The client's own error, with our status and code."""
    return pytest.raises(mailtd.APIError, match=rf"^{code} \(HTTP {status}\)$")


def test_it_lists_the_system_domains(client):
    (domain,) = client.accounts.list_domains()
    assert isinstance(domain, Domain)
    assert (domain.domain, domain.default, domain.pro_only) == ("mail.test", True, False)


def test_it_creates_logs_in_gets_resets_and_deletes(client, server):
    address = fresh()
    made = client.accounts.create(address, password=PASSWORD)
    assert made.address == address and str(uuid.UUID(made.id)) == made.id

    login = client.accounts.login(address, password=PASSWORD)
    assert (login.id, login.address) == (made.id, address)
    with mailtd.MailTD(login.token, base_url=server.url) as own:
        assert own.accounts.get(made.id).address == address
        info = own.accounts.get(address)
        assert (info.id, info.role, info.quota, info.used) == (made.id, "user", 52_428_800, 0)

        client.accounts.reset_password(made.id, password="another one", address=address)
        with refused(401, "invalid_or_expired_token"):
            own.accounts.get(made.id)
    with refused(401, "invalid_credentials"):
        client.accounts.login(address, password=PASSWORD)
    again = client.accounts.login(address, password="another one")

    with mailtd.MailTD(again.token, base_url=server.url) as own:
        own.accounts.reset_password(address, auth_key=derive_auth_key(address, PASSWORD))
    fresh_token = client.accounts.login(address, password=PASSWORD).token
    with mailtd.MailTD(fresh_token, base_url=server.url) as own:
        own.accounts.delete(made.id)
        with refused(401, "invalid_or_expired_token"):
            own.accounts.get(made.id)
    with refused(404, "not_found"):
        client.accounts.get(made.id)
    with refused(409, "address_taken"):
        client.accounts.create(address, password=PASSWORD)


def test_its_auth_key_and_the_documents_password_are_one_credential(client, plain):
    address, other = fresh(), fresh()
    client.accounts.create(address, password=PASSWORD)
    assert plain.login(address).status_code == 200
    assert plain.create(other).status_code == 201
    assert client.accounts.login(f" {other.upper()} ", password=PASSWORD).address == other


def test_it_makes_lists_and_revokes_tokens(client, server):
    made = client.tokens.create("laptop")
    assert made["token"].startswith("tm_pro_") and made["name"] == "laptop"
    with mailtd.MailTD(made["token"], base_url=server.url) as other:
        other.user.get_me()
        listed = {token.id: token for token in client.tokens.list()}
        assert listed[made["id"]].last_used_at and not listed[made["id"]].revoked_at
        assert not any(token.token for token in listed.values())
        client.tokens.revoke(made["id"])
        with refused(401, "invalid_or_expired_token"):
            other.user.get_me()
    listed = {token.id: token for token in client.tokens.list()}
    assert listed[made["id"]].revoked_at
    with refused(404, "not_found"):
        client.tokens.revoke(str(uuid.uuid4()))


def test_it_knows_its_user_and_pages_through_the_accounts(client, user):
    made = [client.accounts.create(fresh(), password=PASSWORD).id for _ in range(7)]
    me = client.user.get_me()
    assert (me.email, me.plan, me.status) == (user.email, "pro", "active")
    assert (me.max_domains, me.domain_count, me.downgraded) == (3, 0, False)

    found, cursor = [], ""
    while True:
        page = client.user.list_accounts_page(cursor=cursor)
        assert len(page.accounts) <= 3
        found += [account.id for account in page.accounts]
        if not (cursor := page.next_cursor):
            break
        # An account that is made meanwhile moves no earlier one.
        client.accounts.create(fresh(), password=PASSWORD)
    assert [account for account in found if account in made] == sorted(made, key=found.index)
    assert set(made) <= set(found) and len(set(found)) == len(found)
    assert [account.id for account in client.user.list_accounts()] == found[:3]


def test_it_resets_and_deletes_through_the_user(client):
    address = fresh()
    made = client.accounts.create(address, password=PASSWORD)
    client.user.reset_account_password(made.id, password="another one", address=address)
    assert client.accounts.login(address, password="another one").id == made.id
    client.user.delete_account(address)
    with refused(401, "invalid_credentials"):
        client.accounts.login(address, password="another one")
    with refused(404, "not_found"):
        client.user.delete_account(made.id)


def test_it_brings_a_domain_verifies_it_and_makes_accounts_on_it(client, names):
    made = client.domains.create("Brought.Example.com")
    assert made["domain"] == "brought.example.com"
    assert client.domains.verify(made["id"])["verify_status"] != "verified"
    with refused(400, "invalid_domain"):
        client.accounts.create("me@brought.example.com", password=PASSWORD)

    names.publish(made["dns_records"])
    verified = client.domains.verify(made["id"])
    assert (verified["verify_status"], verified["txt_record"]) == ("verified", True)
    assert verified["mx_record"] and all(record["ok"] for record in verified["dns_records"])
    (listed,) = client.domains.list()
    assert (listed.verify_status, listed.mx_configured) == ("verified", True)
    assert listed.verified_at and listed.verify_token == made["verify_token"]
    assert client.user.get_me().domain_count == 1

    account = client.accounts.create("me@brought.example.com", password=PASSWORD)
    with refused(409, "domain_in_use"):
        client.domains.delete(made["id"])
    client.accounts.delete(account.id)
    client.domains.delete(made["id"])
    assert client.domains.list() == []


def test_a_domain_without_our_text_stays_unverified(client, names):
    made = client.domains.create("bare.example.com")
    names.publish([record for record in made["dns_records"] if record["type"] == "MX"])
    checked = client.domains.verify(made["id"])
    assert (checked["txt_record"], checked["mx_record"]) == (False, True)
    assert checked["verify_status"] in ("pending", "failed")


def test_another_users_domain_is_taken_and_cannot_be_touched(client, server, plain):
    made = client.domains.create("mine.example.com")
    with mailtd.MailTD(plain.user().token, base_url=server.url) as other:
        for act in [other.domains.verify, other.domains.delete]:
            with refused(404, "not_found"):
                act(made["id"])
        with refused(400, "invalid_domain"):
            other.accounts.create("me@mine.example.com", password=PASSWORD)


ERRORS = {
    "no at": (400, "invalid_address", lambda client: client.accounts.create("x", auth_key=KEY)),
    "a foreign domain": (400, "invalid_domain", lambda client: client.accounts.create(
        "someone@example.org", auth_key=KEY)),
    "no secret": (400, "invalid_request", lambda client: client.accounts.create(fresh())),
    "a key of 63 digits": (400, "invalid_request", lambda client: client.accounts.create(
        fresh(), auth_key=KEY[1:])),
    "a wrong key": (401, "invalid_credentials", lambda client: client.accounts.login(
        fresh(), auth_key=KEY)),
    "an account that is not": (404, "not_found", lambda client: client.accounts.get(
        str(uuid.uuid4()))),
    "a domain that is none": (400, "invalid_domain", lambda client: client.domains.create("x y")),
    "a cursor of its own": (400, "invalid_request", lambda client: client.user.list_accounts_page(
        cursor="made up")),
    "messages": (404, "not_found", lambda client: client.messages.list(str(uuid.uuid4()))),
}
KEY = "ab" * 32


@pytest.mark.parametrize("kind", ERRORS)
def test_it_raises_our_codes(client, kind):
    status, code, act = ERRORS[kind]
    with refused(status, code):
        act(client)


def test_it_serves_a_user_whom_the_operator_added(start, tmp_path):
    data = str(tmp_path / "data")
    words = ["user", "add", "ada@example.com", "--password-stdin", "--profile", "test"]
    added = run(*words, "--data", data, directory=tmp_path, stdin="propassword\n")
    assert added.returncode == 0, added.stderr
    boxes = Mailboxes(start("--data", data).url)
    login = boxes.call("POST", "/api/user/login", None, {
        "email": "ada@example.com", "password": "propassword"})
    assert login.status_code == 200, login.text
    with mailtd.MailTD(login.json()["token"], base_url=boxes.url) as client:
        assert client.user.get_me().email == "ada@example.com"
        address = fresh()
        client.accounts.create(address, password=PASSWORD)
        assert [account.address for account in client.user.list_accounts()] == [address]


def test_it_is_told_when_it_has_no_token_or_a_dead_one(server):
    with mailtd.MailTD(base_url=server.url) as nobody, refused(401, "unauthorized"):
        nobody.user.get_me()
    with mailtd.MailTD("tm_pro_dead", base_url=server.url) as dead:
        with refused(401, "invalid_or_expired_token"):
            dead.user.get_me()
        with refused(401, "invalid_or_expired_token"):
            dead.accounts.create(fresh(), password=PASSWORD)


def test_without_a_pro_token_it_is_asked_for_proof_of_work(server):
    with mailtd.MailTD(base_url=server.url) as nobody:
        with refused(400, "proof of work required"):
            nobody.accounts.create(fresh(), password=PASSWORD)


def test_its_eleventh_account_is_over_the_limit(client):
    for _ in range(10):
        client.accounts.create(fresh(), auth_key=KEY)
    with refused(403, "account_limit_reached"):
        client.accounts.create(fresh(), auth_key=KEY)


def test_it_makes_rotates_and_deletes_a_webhook(client):
    assert client.webhooks.list() == []
    made = client.webhooks.create("https://hooks.example.com/mail", events=["email.received"])
    assert isinstance(made, Webhook) and made.secret.startswith("whsec_")
    [listed] = client.webhooks.list()
    assert (listed.id, listed.url, listed.secret) == (made.id, made.url, None)
    assert (listed.events, listed.status, listed.failure_count, listed.last_triggered_at) == (
        ["email.received"], "active", 0, None)
    with refused(409, "webhook_exists"):
        client.webhooks.create("https://hooks.example.com/other")
    assert client.webhooks.rotate_secret(made.id)["secret"] != made.secret
    assert client.webhooks.list_deliveries(made.id) == []
    client.webhooks.delete(made.id)
    with refused(404, "not_found"):
        client.webhooks.delete(made.id)
    with refused(400, "invalid_url"):
        client.webhooks.create("http://hooks.example.com/mail")


@pytest.fixture
def receiver(authority):
    receiver = HookReceiver(authority)
    yield receiver
    receiver.stop()


def test_it_reads_the_deliveries_of_events(serve, authority, receiver):
    server = serve(
        POSTERN_USERS_REGISTRATION="open", POSTERN_WEBHOOKS_CA_FILE=str(authority.file))
    boxes = Mailboxes(server.url)
    with mailtd.MailTD(boxes.api_token(boxes.user())["token"], base_url=server.url) as client:
        account = client.accounts.create(fresh(), password=PASSWORD)
        made = client.webhooks.create(receiver.url)
        receiver.takes({"secret": made.secret})
        deliver(server, account.address, source("Hello"))
        [event] = receiver.await_events(1)
        await_true(lambda: client.webhooks.list_deliveries(made.id), "not noted")
        [delivery] = client.webhooks.list_deliveries(made.id)
        assert isinstance(delivery, WebhookDelivery)
        assert (delivery.event_type, delivery.event_id, delivery.status_code, delivery.error) == (
            "email.received", event["id"], 204, None)
        [[message], _] = client.messages.list(account.id)
        assert event["data"]["message_id"] == message.id
