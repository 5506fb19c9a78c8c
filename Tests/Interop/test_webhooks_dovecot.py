"""Dovecot 2.3 tells Postern of new mail, and Postern the user's webhook."""

import smtplib

import pytest

from mailboxes import Mailboxes
from mailstores import SECRET, Dovecot, configured, directory, free_port, owned
from program import Postern

MESSAGE = """\
From: Ada Lovelace <ada@example.com>
To: {address}
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Message-ID: <1@example.com>

The text.
"""
OX = """
mail_attribute_dict = file:%h/attributes
protocol lmtp {{
  mail_plugins = $mail_plugins notify push_notification
}}
plugin {{
  push_notification_driver = ox:url=http://x:{secret}@127.0.0.1:{port}/delivered/dovecot user_from_metadata
}}
"""


@pytest.fixture
def place():
    with directory() as place:
        yield place


@pytest.fixture
def services():
    return free_port()


@pytest.fixture
def postern(place, services, authority):
    (place / "secret").write_text(SECRET + "\n")
    (place / "secret").chmod(0o600)
    server = Postern(
        place, POSTERN_USERS_REGISTRATION="open", POSTERN_MAIL_STORE="none",
        POSTERN_SERVICES_LISTEN=f"127.0.0.1:{services}",
        POSTERN_SERVICES_SECRET_FILE=str(place / "secret"),
        POSTERN_WEBHOOKS_CA_FILE=str(authority.file))
    yield server
    server.stop()


@pytest.fixture
def box(postern, receiver):
    """A mailbox of a user with a webhook."""
    boxes = Mailboxes(postern.url)
    user = boxes.user()
    made = boxes.call("POST", "/api/user/webhooks", user.token, {"url": receiver.url})
    receiver.takes(made.json())
    return boxes.mailbox(user.token)


def lua(place, services):
    script = owned(place / "dovecot") / "dovecot-push.lua"
    script.write_text(configured(
        "dovecot-push.lua", services=("127.0.0.1:8081", f"127.0.0.1:{services}"),
        secret=("the-services-secret", SECRET)))
    return configured(
        "dovecot-push.conf", file=("/etc/dovecot/dovecot-push.lua", script))


def ox(place, services):
    return OX.format(secret=SECRET, port=services)


@pytest.mark.parametrize("driver", [lua, ox])
def test_a_delivered_message_causes_an_event(place, services, authority, box, receiver, driver):
    dovecot = Dovecot(place / "dovecot", authority, services, more=driver(place, services))
    try:
        if driver is ox:
            done = dovecot.administrate(
                "mailbox", "metadata", "set", "-u", box.address, "-s", "",
                "/private/vendor/vendor.dovecot/http-notify", f"user={box.address}")
            assert done.returncode == 0, done.stderr
        with smtplib.LMTP(str(dovecot.private / "dovecot-lmtp"), timeout=60) as lmtp:
            lmtp.sendmail(
                "ada@example.com", [box.address], MESSAGE.format(address=box.address))
        [event] = receiver.await_events(1)
        assert event["data"] == {
            "account_id": box.id, "address": box.address, "message_id": None,
            "from": "ada@example.com", "subject": "Grüße", "preview_text": "The text.",
            "size": None}
    finally:
        dovecot.stop()
        print(dovecot.log.read_text(errors="replace")[-3000:])
