"""Mail in the memory of the server: JMAP, event sources, the messages API, and delivery by SMTP."""

from concurrent.futures import ThreadPoolExecutor
import contextlib
import email.message
import email.policy
import random
import secrets
import smtplib

from agent import Agent, bearer
from jmapclient import JMAP, Events
from load import expect, worker
from mailboxes import PASSWORD, Mailboxes

SENDER = "ada@example.com"
ATTACHED = bytes(range(256)) * 16


class Mail:
    def __init__(self, load):
        self.load, self.known = load, load.acknowledged
        load.behaves |= {"jmap", "events", "messages", "smtp"}

    @property
    def work(self):
        # A restart takes the mail, and ends sessions of SMTP and event sources.
        return [worker(self.jmap, 0.5, "restart", "leak"),
                worker(self.messages, 0.5, "restart", "leak"),
                worker(self.events, 0.5, "restart"), worker(self.events, 0.5, "restart")]

    @contextlib.contextmanager
    def smtp(self, login=None):
        """A session, perhaps of an account (address, password)."""
        with smtplib.SMTP(*self.load.server.smtp, timeout=60) as session:
            if login:
                session.login(*login)
            yield session

    def deliver(self, session, recipient, message, sender=SENDER):
        """Returns when the server has taken the message."""
        try:
            refused = session.sendmail(sender, [recipient], bytes(message))
            assert not refused, refused
        except smtplib.SMTPResponseException as error:
            self.load.count("smtp", error.smtp_code)
            raise
        self.load.count("smtp", 250)

    def post(self, recipient, subject, **options):
        with self.smtp() as session:
            self.deliver(session, recipient, message(recipient, subject, **options))

    def reader(self, kind, capability):
        """A client of JMAP with an address of its own."""
        made = self.load.at(kind, Mailboxes, patient=True)
        return JMAP(made.url, capability, verify=made.http.verify, http=made.http)

    def jmap(self):
        """A mailbox that gets a message, reads it, answers it, searches, and deletes everything."""
        api = self.load.at("jmap", Mailboxes, tls=random.random() < 0.5, patient=True)
        box = api.mailbox()
        mail = self.reader("jmap", bearer(expect(
            api.call("POST", "/api/v1/capability", box.token), 200)))
        events, subject = Events(mail, types="Email", ping="5"), secrets.token_hex(8)
        self.post(box.address, subject)
        await_state(events, mail)
        [got] = mail.inbox("preview", "keywords")
        assert (got["subject"], got["keywords"]) == (subject, {}), got
        assert mail.download(got["blobId"]).content.endswith(b"The text.\r\n")
        state = mail.call("Email/get", ids=[])["state"]
        seen = mail.call("Email/set", update={got["id"]: {"keywords/$seen": True}})
        assert seen["updated"] == {got["id"]: None}, seen
        assert mail.call("Email/changes", sinceState=state)["updated"] == [got["id"]]
        self.answer(mail, subject)
        await_state(events, mail)
        found = mail.call("Email/query", filter={"subject": subject})["ids"]
        assert len(found) == 3 and got["id"] in found, found
        picture = mail.blob(ATTACHED, "image/png")
        assert mail.download(picture).content == ATTACHED
        clear(mail)
        assert mail.call("Email/query")["ids"] == []
        events.close()
        if random.random() < 0.5:
            expect(api.delete(box.id, box.token), 204)
            self.known.deleted.append(box.address)
        else:
            self.known.mailboxes[box.address] = box.password

    def answer(self, mail, subject):
        """Writes a draft to the own address and submits it, so that there are two more."""
        drafts, sent = mail.folder("drafts"), mail.folder("sent")
        responses = mail.calls(
            ("Email/set", {"create": {"k": {
                "mailboxIds": {drafts: True}, "keywords": {"$draft": True},
                "from": [{"email": mail.address}], "to": [{"email": mail.address}],
                "subject": f"Re: {subject}", "bodyValues": {"b": {"value": "Hello."}},
                "textBody": [{"partId": "b", "type": "text/plain"}]}}}),
            ("EmailSubmission/set", {
                "create": {"s": {"emailId": "#k", "envelope": None}},
                "onSuccessUpdateEmail": {"#s": {
                    f"mailboxIds/{drafts}": None, f"mailboxIds/{sent}": True,
                    "keywords/$draft": None}}}))
        assert "s" in (responses[1]["created"] or {}), responses

    def messages(self):
        """A mailbox that waits for mail, and reads it by the messages API."""
        api, other = (self.load.at("messages", Mailboxes, patient=True) for _ in range(2))
        box = api.mailbox()
        path, first, later = f"/api/accounts/{box.id}/messages", *(
            secrets.token_hex(8) for _ in range(2))
        self.post(box.address, first)
        [one] = expect(api.call("GET", path, box.token), 200).json()["messages"]
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(
                other.call, "GET", f"{path}/wait?since={one['id']}&timeout=50", box.token)
            with self.smtp((box.address, PASSWORD)) as session:
                self.deliver(session, box.address, message(
                    box.address, later, sender=box.address, attached=True), sender=box.address)
            [two] = expect(waiting.result(), 200).json()["messages"]
        assert (one["subject"], two["subject"]) == (first, later)
        whole = expect(api.call("GET", f"{path}/{two['id']}", box.token), 200).json()
        assert whole["text_body"].strip() == "The text." and len(whole["attachments"]) == 1, whole
        data = expect(api.call("GET", f"{path}/{two['id']}/attachments/0", box.token), 200)
        assert data.content == ATTACHED
        source = expect(api.call("GET", f"{path}/{one['id']}/source", box.token), 200)
        assert first.encode() in source.content
        for body, updated in [({"ids": [one["id"]]}, 1), ({"all": True}, 1), ({"all": True}, 0)]:
            answer = expect(api.call("PUT", f"{path}/read", box.token, body), 200)
            assert answer.json() == {"updated": updated}
        for each in [one, two]:
            expect(api.call("DELETE", f"{path}/{each['id']}", box.token), 204)
        assert expect(api.call("GET", path, box.token), 200).json()["messages"] == []
        self.known.mailboxes[box.address] = box.password

    def events(self):
        """An agent that holds an event source open for more than a minute."""
        agent = self.load.at("events", Agent, patient=True)
        made = expect(agent.session(username=f"soak{random.getrandbits(40):x}"), 201)
        session, inbox = bearer(made), made.json()["inbox"]
        mail = self.reader("events", bearer(expect(agent.capability(session), 200)))
        events = Events(mail, ping="5")
        for number in range(12):
            self.post(inbox, f"number {number}")
            await_state(events, mail)
            while events.next()[0] != "ping":
                pass
            if self.load.ending.is_set():
                break
        events.close()
        # The capability may have expired.
        mail = self.reader("events", bearer(expect(agent.capability(session), 200)))
        assert len(mail.inbox()) == number + 1
        clear(mail)
        self.known.agents[inbox] = made.json()["apiKey"]


def message(recipient, subject, sender=SENDER, attached=False, size=0):
    made = email.message.EmailMessage(policy=email.policy.SMTP)
    made["From"], made["To"], made["Subject"] = f"Ada <{sender}>", recipient, subject
    made.set_content("The text.\n" + ("x" * 70 + "\n") * (size // 72))
    if attached:
        made.add_attachment(ATTACHED, "application", "octet-stream", filename="data.bin")
    return made


def await_state(events, mail):
    """Until the event source reports mail of the account."""
    while True:
        kind, _, data = events.next()
        if kind == "state" and "Email" in data["changed"][mail.account]:
            return


def clear(mail):
    """Deletes all mail of the account, at most 500 messages at once."""
    while ids := mail.call("Email/query", limit=500)["ids"]:
        gone = mail.call("Email/set", destroy=ids)
        assert gone["destroyed"] and not gone["notDestroyed"], gone
