"""What must hold after the load: everything acknowledged is there, and the log has no surprise."""

import collections
import concurrent.futures
import json
import sqlite3
import time

from accounts import HashLogin
from agent import Agent
from load import address
from mailboxes import Mailboxes
from signins import login, second
import totp

# What the operator's faulty reloads cause.
EXPECTED = {"a fault in the configuration",
            "the configuration is not used: the server goes on with the one it has"}


class Logins:
    """Every acknowledged account logs in to the server that was started last."""

    def __init__(self, load, sign_ins):
        self.load, self.known, self.sign_ins = load, load.acknowledged, sign_ins

    def run(self):
        """By kind: how many there are, and what was answered to those that failed."""
        known = self.known
        kinds = {
            "mailboxes": (self.mailbox, known.mailboxes.items()),
            "agents": (self.agent, known.agents.items()),
            "users": (self.user, known.users.items()),
            "hash logins": (self.hash_login, known.hash_logins.items()),
            "passkeys": (self.passkey, ((key,) for key in known.passkeys)),
            "deleted": (self.deleted, ((box,) for box in known.deleted))}
        results = {}
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for name, (work, arguments) in kinds.items():
                answers = list(pool.map(
                    lambda each, work=work: self.attempt(work, each), arguments))
                results[name] = len(answers), [fault for fault in answers if fault]
        # The provider knows one person at a time.
        people = [self.attempt(self.person, each) for each in known.people]
        results["people"] = len(people), [fault for fault in people if fault]
        return results

    @staticmethod
    def attempt(work, arguments):
        try:
            return work(*arguments)
        except Exception as error:  # noqa: BLE001 - it is reported
            return f"{error!r}"[:300]

    def at(self, api):
        return self.load.at("logins", api, patient=True)

    def mailbox(self, box, password):
        """May have to wait for its turn, after guesses."""
        return fault(self.at(Mailboxes).login(box, password), 200)

    def agent(self, inbox, key):
        answer = self.at(Agent).session(apiKey=key)
        return fault(answer, 200) or (None if answer.json()["inbox"] == inbox else answer.text)

    def user(self, email, secrets):
        password, uri = secrets
        api = self.at(Mailboxes)
        if uri:
            second(api, email, password, code=totp.code(uri, time.time()))
            return None
        return fault(login(api, email, password), 200)

    def hash_login(self, email, password):
        return fault(self.at(HashLogin).login(email, password), 200)

    def passkey(self, key):
        key.boxes.http.headers["X-Forwarded-For"] = address()
        return fault(key.log_in(key.use()[0]), 200)

    def person(self, person, user):
        return None if self.sign_ins.sign_in(person) == user else f"another user than {user}"

    def deleted(self, box):
        """Its address is not free, whatever became of the account."""
        return fault(self.at(Mailboxes).create(box), 409)


def fault(answer, status):
    return None if answer.status_code == status else f"{answer.status_code} {answer.text[:200]}"


def integrity(database):
    """What SQLite finds in the file: `ok`, or faults."""
    with sqlite3.connect(database) as connection:
        found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        keys = connection.execute("PRAGMA foreign_key_check").fetchall()
    return "; ".join(found + [f"foreign key {key}" for key in keys])


def log_lines(file):
    """Counts of warnings and worse, by level and message; the errors that nothing here explains."""
    counts, surprises = collections.Counter(), collections.Counter()
    with file.open(errors="replace") as lines:
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                surprises["not JSON: " + line[:200]] += 1
                continue
            level, message = entry.get("level"), entry.get("message")
            if level in ("warning", "error", "critical"):
                counts[level, message] += 1
            if level == "critical" or level == "error" and message not in EXPECTED:
                surprises[f"{level}: {line.strip()[:400]}"] += 1
    return counts, surprises
