"""Webhooks of users: what is sent, when it is sent again, and what others notice of it."""

import smtplib

import pytest
import requests

from hooks import SENDER, HookReceiver, Owner, report, send
from mailboxes import PASSWORD
from postgres import TestDatabase
from program import await_true
from services import Services
from tickets import TicketFlood


@pytest.fixture(scope="module")
def server(serve, authority):
    return serve(
        POSTERN_USERS_REGISTRATION="open", POSTERN_WEBHOOKS_CA_FILE=str(authority.file))


def advance(server, seconds):
    answer = requests.post(f"{server.url}/test/clock", json={"advance": seconds}, timeout=60)
    assert answer.status_code == 200, answer.text


def test_a_message_causes_an_event_with_both_signatures(server, receiver):
    owner = Owner(server.url, receiver)
    assert set(owner.webhook) == {
        "id", "url", "events", "status", "failure_count", "last_triggered_at", "created_at",
        "secret"}
    send(server, owner.box.address, "Grüße")
    [event] = receiver.await_events(1)
    [message] = owner.boxes.call(
        "GET", f"/api/user/accounts/{owner.box.id}/messages", owner.user.token).json()["messages"]
    assert (event["type"], event["data"]) == ("email.received", {
        "account_id": owner.box.id, "address": owner.box.address, "message_id": message["id"],
        "from": SENDER, "subject": message["subject"], "preview_text": "The text.",
        "size": message["size"]})
    assert event["id"].startswith("evt_") and event["created_at"].endswith("Z")
    assert not receiver.forged
    await_true(lambda: owner.deliveries, "no delivery is noted")
    [delivery] = owner.deliveries
    assert set(delivery) == {
        "id", "event_type", "event_id", "status_code", "error", "attempt", "duration_ms",
        "created_at"}
    assert (delivery["event_id"], delivery["status_code"], delivery["error"],
            delivery["attempt"]) == (event["id"], 204, None, 1)
    state = owner.state
    assert "secret" not in state and state["last_triggered_at"]
    assert (state["status"], state["failure_count"], state["events"]) == (
        "active", 0, ["email.received"])


def test_a_submission_to_an_account_here_causes_an_event(server, receiver):
    owner = Owner(server.url, receiver)
    other = owner.boxes.mailbox()
    with smtplib.SMTP(*server.smtp, timeout=60) as session:
        session.login(other.address, PASSWORD)
        session.sendmail(other.address, [owner.box.address], "Subject: From here\r\n\r\nText.\r\n")
    [event] = receiver.await_events(1)
    assert event["data"]["subject"] == "From here"


def test_accounts_without_an_owner_or_of_others_cause_none(server, receiver):
    owner, other = Owner(server.url, receiver), Owner(server.url)
    free = owner.boxes.mailbox()
    for address in [free.address, other.box.address, owner.box.address]:
        send(server, address, f"to {address}")
    [event] = receiver.await_events(1)
    assert event["data"]["address"] == owner.box.address
    assert len(receiver.messages) == 1


@pytest.mark.parametrize("url", [
    "http://example.com/", "https://user@example.com/", "https://example.com/#part",
    "https://127.1/", "ftp://example.com/", "https://" + "a" * 2050, "https://169.254.169.254/",
    "https://[::ffff:127.0.0.1]/", "https://exa mple.com/", "", "https://"])
def test_urls_that_may_not_be_used_are_refused(server, url):
    answer = Owner(server.url).call("POST", "", {"url": url})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_url")


@pytest.mark.parametrize("body", [
    {}, {"url": 1}, {"url": None}, {"url": "https://example.com/", "events": []},
    {"url": "https://example.com/", "events": ["other"]},
    {"url": "https://example.com/", "events": "email.received"},
    {"url": "https://example.com/", "events": [1]}])
def test_bodies_are_read_strictly(server, body):
    answer = Owner(server.url).call("POST", "", body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


def test_a_user_has_one_webhook_and_nobody_else_sees_it(server):
    owner, other = Owner(server.url), Owner(server.url)
    owner.webhook = owner.make("https://example.com/hook", events=["email.received"])
    again = owner.call("POST", "", {"url": "https://example.com/other"})
    assert (again.status_code, again.json()["error"]) == (409, "webhook_exists")
    assert other.call("GET").json() == {"webhooks": []}
    other.webhook = owner.webhook
    for method, what in [("DELETE", ""), ("POST", "/rotate"), ("POST", "/test"),
                         ("GET", "/deliveries")]:
        refused = other.act(method, what)
        assert (refused.status_code, refused.json()["error"]) == (404, "not_found")
    assert owner.boxes.call("GET", "/api/user/webhooks").status_code == 401
    assert owner.boxes.call("GET", "/api/user/webhooks", owner.box.token).status_code == 403
    assert owner.act("DELETE", "").status_code == 204
    assert owner.act("DELETE", "").status_code == 404
    assert owner.call("GET").json() == {"webhooks": []}


def test_an_api_token_needs_the_scope_accounts(server):
    owner = Owner(server.url)
    for scope, status in [("accounts", 200), ("domains", 403), ("tokens", 403)]:
        token = owner.boxes.call(
            "POST", "/api/user/tokens", owner.user.token, {"scopes": [scope]}).json()["token"]
        assert owner.boxes.call("GET", "/api/user/webhooks", token).status_code == status


def test_a_test_event_is_sent_on_request(server, receiver):
    owner = Owner(server.url, receiver)
    answer = owner.act("POST", "/test")
    assert answer.status_code == 202
    [event] = receiver.await_events(1)
    assert (event["id"], event["type"]) == (answer.json()["event_id"], "webhook.test")


def test_rotation_makes_a_new_secret(server, receiver):
    owner = Owner(server.url, receiver)
    answer = owner.act("POST", "/rotate")
    assert answer.status_code == 200
    rotated = answer.json()
    assert rotated["secret"] != owner.webhook["secret"]
    assert {**rotated, "secret": ""} == {**owner.webhook, "secret": ""}
    receiver.takes(rotated)
    send(server, owner.box.address)
    receiver.await_events(1)
    assert not receiver.forged


def test_an_event_is_repeated_until_it_is_accepted(start, authority, receiver):
    server = start(
        POSTERN_USERS_REGISTRATION="open", POSTERN_WEBHOOKS_CA_FILE=str(authority.file))
    owner = Owner(server.url, receiver)
    receiver.answer, receiver.is_clock_ahead = lambda event: 500, True
    send(server, owner.box.address)
    # One second passes by itself, or with the clock.
    for attempt, seconds in [(1, 0), (2, 1), (3, 5), (4, 30), (5, 300)]:
        advance(server, seconds) if seconds else None
        await_true(lambda: len(owner.deliveries) >= attempt, lambda: owner.deliveries)
    receiver.answer = lambda event: 200
    advance(server, 3600)
    [event] = receiver.await_events(1)
    assert {message["id"] for message in receiver.messages} == {event["id"]}
    await_true(lambda: len(owner.deliveries) == 6, lambda: owner.deliveries)
    deliveries = owner.deliveries
    assert [each["attempt"] for each in deliveries] == [6, 5, 4, 3, 2, 1]
    assert [each["status_code"] for each in deliveries] == [200, 500, 500, 500, 500, 500]
    assert deliveries[1]["error"] == "the response has status 500"
    assert owner.state["failure_count"] == 0


def test_twenty_failed_events_in_a_row_disable_a_webhook_until_its_rotation(
        start, authority, receiver):
    server = start(
        POSTERN_USERS_REGISTRATION="open", POSTERN_WEBHOOKS_CA_FILE=str(authority.file))
    owner = Owner(server.url, receiver)
    receiver.answer, receiver.is_clock_ahead = lambda event: 302, True
    send(server, owner.box.address, count=21)
    for attempt, seconds in enumerate([0, 1, 5, 30, 300, 3600], 1):
        advance(server, seconds) if seconds else None
        wanted = 20 if attempt == 6 else 21
        await_true(
            lambda: sum(count >= attempt for count in counts(receiver).values()) >= wanted,
            lambda: counts(receiver))
    await_true(lambda: owner.state["status"] == "disabled", lambda: owner.state)
    assert owner.state["failure_count"] == 20
    assert len(owner.deliveries) == 20
    await_true(lambda: '"kind":"webhook_disabled"' in server.read_log(), server.read_log)
    refused = owner.act("POST", "/test")
    assert (refused.status_code, refused.json()["error"]) == (409, "webhook_disabled")
    sent = len(receiver.messages)
    send(server, owner.box.address)
    rotated = receiver.takes(owner.act("POST", "/rotate").json())
    assert (rotated["status"], rotated["failure_count"]) == ("active", 0)
    receiver.answer = lambda event: 200
    send(server, owner.box.address, "after the rotation")
    [event] = receiver.await_events(1)
    assert event["data"]["subject"] == "after the rotation"
    assert len(receiver.messages) == sent + 1


def counts(receiver):
    """How often each event came."""
    ids = [message["id"] for message in list(receiver.messages)]
    return {each: ids.count(each) for each in ids}


def test_a_receiver_that_hangs_delays_no_other(server, authority, receiver):
    hanging = HookReceiver(authority)
    try:
        hanging.answer = lambda event: (hanging.closing.wait(60), 200)[1]
        slow, owner = Owner(server.url, hanging), Owner(server.url, receiver)
        send(server, slow.box.address, count=3)
        await_true(lambda: hanging.messages, "nothing was sent")
        send(server, owner.box.address, count=3)
        receiver.await_events(3)
        assert len(hanging.messages) == 1 and not hanging.accepted
    finally:
        hanging.stop()


def test_private_addresses_are_not_connected_to(serve, authority, receiver):
    server = serve(
        POSTERN_USERS_REGISTRATION="open", POSTERN_WEBHOOKS_CA_FILE=str(authority.file),
        POSTERN_WEBHOOKS_ALLOW_PRIVATE_NETWORKS="false")
    owner = Owner(server.url)
    refused = owner.call("POST", "", {"url": f"https://127.0.0.1:{receiver.port}/"})
    assert refused.json()["error"] == "invalid_url"
    owner.webhook = receiver.takes(owner.make(receiver.url))
    send(server, owner.box.address)
    await_true(lambda: owner.deliveries, "nothing was tried")
    [delivery, *_] = owner.deliveries
    # It does not say that the name leads to this machine, and neither does the time.
    assert (delivery["status_code"], delivery["error"]) == (None, "the host cannot be reached")
    assert delivery["duration_ms"] >= 1000
    assert not receiver.messages


def test_a_certificate_that_is_not_trusted_gets_nothing(serve, receiver):
    server = serve(POSTERN_USERS_REGISTRATION="open")
    owner = Owner(server.url, receiver)
    send(server, owner.box.address)
    await_true(lambda: owner.deliveries, "nothing was tried")
    assert owner.deliveries[-1]["error"] == "TLS failed or the certificate is not trusted"
    assert not receiver.messages


def test_an_accepted_message_causes_its_event_after_the_server_was_killed(
        start, storage, authority, receiver, tmp_path):
    """With mail of this process, and with mail that a store reports."""
    services = f"unix:{tmp_path}/s"
    settings = {**storage, "POSTERN_WEBHOOKS_CA_FILE": str(authority.file),
                "POSTERN_WEBHOOKS_TIMEOUT": "1s", "POSTERN_SERVICES_LISTEN": services}
    server = start(**settings)
    owner = Owner(server.url, receiver)
    receiver.answer = lambda event: 503
    if "POSTERN_STORAGE_URL" in storage:
        report(services, owner.box.address, "kept")
    else:
        send(server, owner.box.address, "kept")
    # It was accepted, and maybe tried.
    server.kill()
    receiver.answer = lambda event: 204
    start(**settings)
    [event] = receiver.await_events(1)
    assert event["data"]["subject"] == "kept"
    assert {message["id"] for message in receiver.messages} == {event["id"]}


def test_what_a_killed_server_was_sending_is_sent_again_with_the_same_id(
        start, storage, authority, receiver, tmp_path):
    services = f"unix:{tmp_path}/s"
    settings = {**storage, "POSTERN_WEBHOOKS_CA_FILE": str(authority.file),
                "POSTERN_WEBHOOKS_TIMEOUT": "1s", "POSTERN_SERVICES_LISTEN": services}
    server = start(**settings)
    owner = Owner(server.url, receiver)
    for number in range(3):
        report(services, owner.box.address, f"done {number}")
    receiver.await_events(3)
    await_true(lambda: len(owner.deliveries) == 3, "not noted")
    hangs = [True]
    receiver.answer = lambda event: (hangs[0] and receiver.closing.wait(5), 204)[1]
    report(services, owner.box.address, "interrupted")
    await_true(lambda: len(receiver.messages) == 4, "not sent")
    server.kill()
    hangs[0] = False
    start(**settings)
    await_true(lambda: len(receiver.messages) == 5, lambda: receiver.messages)
    ids = counts(receiver)
    assert sorted(ids.values()) == [1, 1, 1, 2]
    assert receiver.messages[-1]["data"]["subject"] == "interrupted"


def test_nodes_share_the_events_and_send_each_once(start, authority, receiver, tmp_path):
    key = tmp_path / "master.secret"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    services = [f"unix:{tmp_path}/{number}" for number in range(2)]
    nodes = [start(
        POSTERN_USERS_REGISTRATION="open", POSTERN_STORAGE_URL=database,
        POSTERN_MASTER_SECRET_FILE=str(key), POSTERN_SERVER_PUBLIC_URL="https://auth.mail.test",
        POSTERN_WEBHOOKS_CA_FILE=str(authority.file), POSTERN_SERVICES_LISTEN=address)
        for database in [TestDatabase().url] for address in services]
    owner = Owner(nodes[0].url, receiver)
    for number in range(20):
        report(services[number % 2], owner.box.address, str(number))
    receiver.await_events(20)
    assert set(counts(receiver).values()) == {1}


def test_a_mail_store_reports_what_it_has_delivered(serve, authority, receiver, tmp_path):
    services = f"unix:{tmp_path}/s"
    server = serve(
        POSTERN_USERS_REGISTRATION="open", POSTERN_WEBHOOKS_CA_FILE=str(authority.file),
        POSTERN_SERVICES_LISTEN=services)
    owner, store = Owner(server.url, receiver), Services(services)
    name, _, domain = owner.box.address.partition("@")
    tagged = f"{name}+tag@{domain}"
    answer = store.call("POST", "/delivered", body=[
        {"address": owner.box.address, "from": SENDER, "subject": "one", "size": 12,
         "message_id": "M1", "preview_text": "Look"},
        {"address": tagged}, {"address": "nobody@mail.test"}])
    assert (answer.status, answer.json()) == (200, {"unknown": ["nobody@mail.test"]})
    first, second = sorted(receiver.await_events(2), key=lambda event: event["data"]["address"] == tagged)
    assert first["data"] == {
        "account_id": owner.box.id, "address": owner.box.address, "message_id": "M1",
        "from": SENDER, "subject": "one", "preview_text": "Look", "size": 12}
    assert second["data"] == {
        "account_id": owner.box.id, "address": tagged, "message_id": None, "from": "",
        "subject": "", "preview_text": "", "size": None}
    for body in [{}, [], [1], [{}], [{"address": 1}], [{"address": "a@mail.test", "size": -1}],
                 [{"address": "a@mail.test"}] * 101]:
        refused = store.call("POST", "/delivered", body=body)
        assert (refused.status, refused.json()["error"]) == (400, "invalid_request"), body


def test_long_texts_are_cut(serve, authority, receiver, tmp_path):
    services = f"unix:{tmp_path}/s"
    server = serve(
        POSTERN_USERS_REGISTRATION="open", POSTERN_WEBHOOKS_CA_FILE=str(authority.file),
        POSTERN_SERVICES_LISTEN=services)
    owner = Owner(server.url, receiver)
    report(services, owner.box.address, "ü" * 5000)
    [event] = receiver.await_events(1)
    assert event["data"]["subject"] == "ü" * 500


def test_events_beyond_the_queue_are_dropped_and_counted(start, authority, receiver, tmp_path):
    services = f"unix:{tmp_path}/s"
    server = start(
        POSTERN_USERS_REGISTRATION="open", POSTERN_WEBHOOKS_CA_FILE=str(authority.file),
        POSTERN_SERVICES_LISTEN=services)
    owner, store = Owner(server.url, receiver), Services(services)
    receiver.answer = lambda event: 503
    for _ in range(11):
        store.call("POST", "/delivered", body=[{"address": owner.box.address}] * 100)
    text = store.call("GET", "/metrics").body.decode()
    figures = {line.split('"')[1]: int(line.split()[-1]) for line in text.splitlines()
               if line.startswith("postern_webhook_events_total{")}
    assert (figures["queued"], figures["dropped"]) == (1000, 100)
    refused = owner.act("POST", "/test")
    assert refused.status_code == 503 and refused.headers["Retry-After"]


def test_a_receiver_that_sends_session_tickets_without_end_holds_up_nobody(
        server, receiver, authority, tmp_path):
    other, flooded = Owner(server.url, receiver), Owner(server.url)
    flood = TicketFlood(authority, tmp_path)
    try:
        flooded.webhook = flooded.make(flood.url)
        send(server, flooded.box.address)
        for number in range(1, 4):
            send(server, other.box.address)
            receiver.await_events(number, 30)
        await_true(lambda: flooded.deliveries, "the delivery has no deadline")
    finally:
        flood.close()
    assert flooded.deliveries[0]["status_code"] is None
