"""Cyrus IMAP 3.6 tells Postern of new mail, and Postern the user's webhook."""

from cyrus import Cyrus, free_port
from mailboxes import Mailboxes
from program import Postern

SECRET = "the-secret-of-the-services"


def test_a_delivered_message_causes_an_event(tmp_path, authority, receiver):
    services = free_port()
    (tmp_path / "secret").write_text(SECRET + "\n")
    (tmp_path / "secret").chmod(0o600)
    server = Postern(
        tmp_path, POSTERN_USERS_REGISTRATION="open", POSTERN_MAIL_STORE="none",
        POSTERN_SERVICES_LISTEN=f"127.0.0.1:{services}",
        POSTERN_SERVICES_SECRET_FILE=str(tmp_path / "secret"),
        POSTERN_WEBHOOKS_CA_FILE=str(authority.file))
    cyrus = None
    try:
        boxes = Mailboxes(server.url)
        user = boxes.user()
        made = boxes.call("POST", "/api/user/webhooks", user.token, {"url": receiver.url})
        receiver.takes(made.json())
        box = boxes.mailbox(user.token)
        cyrus = Cyrus(
            free_port(), free_port(), lambda keys: keys.mkdir(), services=services, secret=SECRET)
        cyrus.deliver(box.address, '=?utf-8?q?Gr=C3=BC=C3=9Fe?= "quoted"')
        [event] = receiver.await_events(1)
        data = event["data"]
        assert data.pop("size") > 100
        assert data == {
            "account_id": box.id, "address": box.address, "message_id": None,
            "from": "ada@example.com", "subject": 'Grüße "quoted"', "preview_text": ""}
    finally:
        if cyrus:
            print(cyrus.log.read_text(errors="replace")[-3000:])
            cyrus.stop()
        server.stop()
