"""A user with a webhook, what causes events of it, and its receiver, which verifies both signatures
of each event."""

import datetime
import hashlib
import hmac
import json
import smtplib
import time

from mailboxes import Mailboxes
from receiver import Receiver
from services import Services
from standardwebhooks import Webhook

SENDER = "ada@example.com"


class HookReceiver(Receiver):
    """Listens with TLS for `localhost`. Its secret is known once the webhook was made."""

    def __init__(self, authority):
        super().__init__(context=authority.context("localhost"))
        self.secret = None
        # The library refuses a message that is five minutes away. Set by a test that advances the
        # clock of the server.
        self.is_clock_ahead = False
        self.start()

    def takes(self, issued):
        """From now on it verifies with the secret of this answer of the API."""
        self.secret, self.webhook = issued["secret"], Webhook(issued["secret"])
        return issued

    def _take(self, headers, body):
        moment = headers["X-Webhook-Timestamp"]
        signed = hmac.new(
            self.secret.encode(), moment.encode() + b"." + body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(f"sha256={signed}", headers["X-Webhook-Signature"]):
            self.forged.append((dict(headers), body))
            return 401
        assert headers["X-Webhook-ID"] == headers["webhook-id"]
        assert moment == headers["webhook-timestamp"]
        if self.is_clock_ahead:
            now = datetime.datetime.fromtimestamp(int(moment), datetime.timezone.utc)
            assert self.webhook.sign(headers["webhook-id"], now, body.decode()) == (
                headers["webhook-signature"])
            event = json.loads(body)
            self.messages.append(event)
            status = self.answer(event)
            if 200 <= status < 300:
                self.accepted.append(event)
            return status
        return super()._take(headers, body)

    def await_events(self, count, seconds=60):
        """The accepted events, once there are that many."""
        deadline = time.monotonic() + seconds
        while len(self.accepted) < count:
            assert time.monotonic() < deadline, (self.accepted, self.messages, self.forged[-1:])
            time.sleep(0.02)
        return list(self.accepted)


class Owner:
    """A user with a mailbox and a webhook."""

    def __init__(self, url, receiver=None):
        self.boxes = Mailboxes(url)
        self.user = self.boxes.user()
        self.box = self.boxes.mailbox(self.user.token)
        if receiver:
            self.webhook = receiver.takes(self.make(receiver.url))

    def call(self, method, path="", body=None):
        return self.boxes.call(method, f"/api/user/webhooks{path}", self.user.token, body)

    def make(self, url, **more):
        answer = self.call("POST", "", {"url": url, **more})
        assert answer.status_code == 201, answer.text
        return answer.json()

    def act(self, method, what):
        return self.call(method, f"/{self.webhook['id']}{what}")

    @property
    def state(self):
        [webhook] = self.call("GET").json()["webhooks"]
        return webhook

    @property
    def deliveries(self):
        return self.act("GET", "/deliveries").json()["deliveries"]


def send(server, recipient, subject="Hello", count=1):
    with smtplib.SMTP(*server.smtp, timeout=60) as session:
        for _ in range(count):
            session.sendmail(SENDER, [recipient], (
                f"From: Ada <{SENDER}>\r\nTo: {recipient}\r\nSubject: {subject}\r\n\r\n"
                "The text.\r\n").encode())


def report(services, address, subject, **more):
    answer = Services(services).call("POST", "/delivered", body=[
        {"address": address, "from": SENDER, "subject": subject, "size": 7, **more}])
    assert answer.json() == {"unknown": []}
