"""Users with webhooks: every message that the server takes must be reported to its receiver."""

import random
import secrets
import threading
import time
import types

from accounts import CountedServices
from agent import bearer
from hooks import HookReceiver
from load import PASSWORD, expect, worker
from mailboxes import Mailboxes
from mailing import clear, message
from receiver import SECRET, Receiver
from services import free_port


class Flaky:
    """Answers 503 to the first attempt for a part of the events."""

    def __init__(self, part):
        self.part, self.refused, self.lock = part, set(), threading.Lock()

    def __call__(self, event):
        with self.lock:
            if event["id"] in self.refused or random.random() >= self.part:
                return 204
            self.refused.add(event["id"])
            return 503


class Owner:
    """A user with a mailbox and a webhook, whose receiver verifies each event."""

    def __init__(self, load, context):
        self.load, self.subjects = load, set()
        self.receiver = HookReceiver(types.SimpleNamespace(context=lambda _: context))
        self.receiver.answer = Flaky(0.05)
        api = self.api()
        user = api.user(PASSWORD)
        self.email, self.box = user.email, api.mailbox(user.token)
        self.receiver.takes(expect(api.call(
            "POST", "/api/user/webhooks", user.token, {"url": self.receiver.url}), 201).json())
        load.acknowledged.users[self.email] = PASSWORD, None
        load.acknowledged.mailboxes[self.box.address] = self.box.password

    def api(self):
        return self.load.at("owner", Mailboxes, patient=True)

    def missing(self):
        """Subjects of messages that were taken, and not reported."""
        return self.subjects - {event["data"].get("subject") for event in list(
            self.receiver.accepted)}


class Hanging:
    """An owner whose receiver answers when the server has long given up."""

    def __init__(self, load, context):
        self.released = threading.Event()
        self.owner = Owner(load, context)
        self.owner.receiver.answer = self.answer

    def answer(self, event):
        self.released.wait(30)
        return 500


class Webhooks:
    def __init__(self, load, mail, directory, context, count=4):
        self.load, self.mail, self.context = load, mail, context
        self.count, self.owners, self.hanging = count, [], None
        load.behaves |= {"owner", "report", "webhook", "deliver"}
        # Of account events.
        self.provisioner = Receiver(free_port())
        self.provisioner.answer = Flaky(0.01)
        self.secret_file = directory / "provisioning.secret"
        self.secret_file.write_text(SECRET + "\n")
        self.secret_file.chmod(0o600)

    @property
    def work(self):
        return [worker(self.deliver, 1, "restart"), worker(self.deliver, 1, "restart"),
                worker(self.report, 1), worker(self.owner, 0.5, "restart", "leak"),
                worker(self.webhook, 1, "leak"), worker(self.hang, 5, "restart")]

    def settings(self):
        return {"POSTERN_PROVISIONING_URL": self.provisioner.url,
                "POSTERN_PROVISIONING_SECRET_FILE": str(self.secret_file)}

    def begin(self):
        """Makes the owners, when there is a server."""
        self.owners = [Owner(self.load, self.context) for _ in range(self.count)]
        self.hanging = Hanging(self.load, self.context)

    def deliver(self):
        owner = random.choice(self.owners)
        with self.mail.smtp() as session:
            for _ in range(random.randrange(1, 6)):
                subject, size = secrets.token_hex(8), 300_000 if random.random() < 0.02 else 0
                self.mail.deliver(session, owner.box.address, message(
                    owner.box.address, subject, size=size))
                owner.subjects.add(subject)

    def report(self):
        """A mail store that has delivered a message."""
        owner, subject = random.choice(self.owners), secrets.token_hex(8)
        answer = CountedServices(self.load).call("POST", "/delivered", body=[
            {"address": owner.box.address, "from": "ada@example.com", "subject": subject}])
        assert (answer.status, answer.json()) == (200, {"unknown": []}), answer.body
        owner.subjects.add(subject)

    def hang(self):
        self.mail.post(self.hanging.owner.box.address, "never reported")

    def owner(self):
        """An owner who looks at the webhook and the mail, deletes all of it, and logs out."""
        owner = random.choice([*self.owners, self.hanging.owner])
        api = owner.api()
        token = expect(api.call("POST", "/api/user/login", None, {
            "email": owner.email, "password": PASSWORD}), 200).json()["token"]
        [webhook] = expect(api.call("GET", "/api/user/webhooks", token), 200).json()["webhooks"]
        if owner is not self.hanging.owner:
            assert webhook["status"] == "active", webhook
        expect(api.call("GET", f"/api/user/webhooks/{webhook['id']}/deliveries", token), 200)
        path = f"/api/user/accounts/{owner.box.id}/messages"
        for listed in expect(api.call("GET", path, token), 200).json()["messages"][:3]:
            expect(api.call("GET", f"{path}/{listed['id']}", token), 200)
        expect(api.call("PUT", f"{path}/read", token, {"all": True}), 200)
        login = expect(api.login(owner.box.address, owner.box.password), 200).json()["token"]
        clear(self.mail.reader("owner", bearer(expect(
            api.call("POST", "/api/v1/capability", login), 200))))
        sessions = expect(api.call("GET", "/api/user/sessions", token), 200).json()["sessions"]
        [own] = [each["id"] for each in sessions if each["current"]]
        expect(api.call("DELETE", f"/api/user/sessions/{own}", token), 204)
        expect(api.call("GET", "/api/user/me", token), 401)

    def webhook(self):
        """A webhook from its creation, over a new secret, to its removal."""
        api = self.load.at("webhook", Mailboxes, patient=True)
        user = api.user(PASSWORD)
        receiver = HookReceiver(types.SimpleNamespace(context=lambda _: self.context))
        try:
            made = receiver.takes(expect(api.call(
                "POST", "/api/user/webhooks", user.token, {"url": receiver.url}), 201).json())
            path = f"/api/user/webhooks/{made['id']}"
            for number in [1, 2]:
                expected = expect(api.call("POST", f"{path}/test", user.token), 202).json()
                events = receiver.await_events(number)
                assert events[-1]["id"] == expected["event_id"], events
                receiver.takes(expect(api.call("POST", f"{path}/rotate", user.token), 200).json())
            expect(api.call("DELETE", path, user.token), 204)
            assert not receiver.forged, receiver.forged
        finally:
            receiver.stop()
        self.load.acknowledged.users[user.email] = PASSWORD, None

    def await_all(self, seconds):
        """Waits until everything was reported; has what was not, as texts."""
        deadline = time.monotonic() + seconds
        while (faults := self.faults()) and time.monotonic() < deadline:
            time.sleep(1)
        return faults

    def faults(self):
        faults = []
        for owner in self.owners:
            if missing := owner.missing():
                faults.append(f"{len(missing)} of {len(owner.subjects)} messages not reported")
            if owner.receiver.forged:
                faults.append(f"{len(owner.receiver.forged)} events with a wrong signature")
            if any((event["data"].get("subject") or "").startswith("smuggled")
                   for event in list(owner.receiver.accepted)):
                faults.append("a message inside another one was delivered")
        return faults + self.provisioning_faults()

    def provisioning_faults(self):
        events, known = list(self.provisioner.accepted), self.load.acknowledged
        faults = [f"{len(self.provisioner.forged)} account events with a wrong signature"
                  ] if self.provisioner.forged else []
        numbers = {event["number"] for event in events}
        if gaps := len(set(range(1, max(numbers, default=0) + 1)) - numbers):
            faults.append(f"{gaps} account events are missing")
        created, deleted = ({event["address"] for event in events if event["event"] == name}
                            for name in ["account_created", "account_deleted"])
        made = {*known.mailboxes, *known.agents, *known.deleted}
        if unreported := len(made - created) + len(set(known.deleted) - deleted):
            faults.append(f"{unreported} changes of accounts not reported")
        return faults

    def close(self):
        self.hanging and self.hanging.released.set()
        for owner in [*self.owners, *([self.hanging.owner] if self.hanging else [])]:
            owner.receiver.stop()
        self.provisioner.stop()
