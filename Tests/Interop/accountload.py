"""Clients that make, reset and delete accounts at once, and what they were told: to compare with
what a server knows after it, or its database, was killed."""

import collections
import dataclasses
import random
import threading
import time

import requests

from mailboxes import Mailboxes, failed, fresh
from program import PATIENCE_SECONDS

# How many events of each kind each account has, in the record.
EVENTS = """
    SELECT subject, kind, count(*) FROM audit
    WHERE kind IN ('account_created', 'credential_reset', 'account_deleted')
    GROUP BY subject, kind"""


class Unavailable(Exception):
    """A 503: the change was made or not."""


@dataclasses.dataclass
class Told:
    """What a client knows of an account. `asked` was sent and has no response yet."""

    address: str
    key: str
    proof: dict
    created: bool = False
    resets: int = 0
    deleted: bool = False
    asked: str = ""
    asked_key: str = ""
    # Tokens that a reset or the client itself has ended.
    ended: list = dataclasses.field(default_factory=list)


def key():
    return random.randbytes(32).hex()


class Load:
    """Clients that make, reset and delete accounts until the server is gone, or until they are
    stopped. Where it is unavailable for a while, they go on with other accounts."""

    def __init__(self, url, wanted=0, survives=False, verify=True, pause=0):
        self.url, self.survives, self.verify, self.pause = url, survives, verify, pause
        self.told, self.faults, self.statuses = [], [], set()
        self.changes, self.wanted = 0, wanted
        # Requests whose connection was closed without a response, and those that were answered 503.
        self.dropped = self.refused = 0
        self.enough, self.stopped = threading.Event(), threading.Event()

    def work(self):
        boxes = Mailboxes(self.url)
        boxes.http.verify = self.verify
        boxes.http.hooks["response"].append(self.look)
        while not self.stopped.is_set():
            try:
                self.use_one_account(boxes)
                time.sleep(self.pause)
            except Unavailable:
                time.sleep(0.05)
            except requests.RequestException:
                self.dropped += 1
                if not self.survives:
                    return
            except Exception as fault:
                self.faults.append(fault)
                return

    def look(self, answer, **_):
        self.statuses.add(answer.status_code)
        if answer.status_code == 503 and self.survives:
            assert int(answer.headers["Retry-After"]) >= 1
            self.refused += 1
            raise Unavailable()

    def use_one_account(self, boxes):
        box = Told(fresh(), key(), boxes.proof())
        self.told.append(box)
        made = self.change(box, "create", box.key, 201, lambda: boxes.create(
            box.address, None, pow=box.proof, auth_key=box.key))
        token = made.json()["token"]
        for _ in range(random.randrange(3)):
            new = key()
            self.change(box, "reset", new, 200, lambda: boxes.call(
                "PUT", f"/api/accounts/{box.address}/reset-password", token, {"auth_key": new}))
            box.ended.append(token)
            token = boxes.login(box.address, None, auth_key=new).json()["token"]
        if random.random() < 0.5:
            self.change(box, "delete", "", 204, lambda: boxes.delete(box.address, token))
            box.ended.append(token)
        elif random.random() < 0.5:
            answer = boxes.call("DELETE", "/api/token", token)
            assert answer.status_code == 204, answer.text
            box.ended.append(token)

    def change(self, box, what, new, status, act):
        box.asked, box.asked_key = what, new
        answer = act()
        assert answer.status_code == status, answer.text
        box.asked = ""
        if what == "create":
            box.created = True
        elif what == "reset":
            box.resets, box.key = box.resets + 1, new
        else:
            box.deleted = True
        self.changes += 1
        if self.changes >= self.wanted:
            self.enough.set()
        return answer


class RunningLoad:
    """Some clients of a load until the block ends."""

    def __init__(self, load, clients=4):
        self.load = load
        self.threads = [threading.Thread(target=load.work) for _ in range(clients)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.load.stopped.set()
        for thread in self.threads:
            thread.join(PATIENCE_SECONDS)

    def await_changes(self, count):
        """Waits for so many more changes to be acknowledged."""
        self.load.enough.clear()
        self.load.wanted = self.load.changes + count
        is_enough = self.load.enough.wait(PATIENCE_SECONDS)
        assert not self.load.faults, self.load.faults
        assert is_enough, self.load.statuses


def opens(boxes, box, key):
    answer = boxes.login(box.address, None, auth_key=key)
    if answer.status_code != 200:
        failed(answer, 401, "invalid_credentials")
    return answer.status_code == 200


def state_of(boxes, box):
    """The account's state on the server now; fails where it differs from what was acknowledged."""
    old, new = opens(boxes, box, box.key), box.asked == "reset" and opens(boxes, box, box.asked_key)
    if box.deleted:
        assert not old
        failed(boxes.create(box.address, None, auth_key=box.key), 409, "address_taken")
    elif box.asked == "reset":
        assert old != new
    elif not box.asked:
        assert old
    for token in box.ended:
        failed(boxes.get(box.address, token), 401, "invalid_or_expired_token")
    if box.created:
        failed(boxes.create(fresh(), pow=box.proof), 403, "challenge not found or expired")
    return {"reset": new, "create": old, "delete": not old}.get(box.asked, False)


def expected_events(box, is_late_done):
    """How many events of each kind the account has; `is_late_done` is of what had no response."""
    done = {"create": 0, "reset": 0, "delete": 0}
    done[box.asked or "create"] += is_late_done
    expected = {
        "account_created": box.created + done["create"],
        "credential_reset": box.resets + done["reset"],
        "account_deleted": box.deleted + done["delete"],
    }
    return {kind: count for kind, count in expected.items() if count}


def check_events(rows, told, late):
    """A change is in the record if and only if it is in the accounts, and once. `rows` are those of
    EVENTS, and `late` says of each address what `state_of` found."""
    found = collections.defaultdict(dict)
    for address, kind, count in rows:
        found[address][kind] = int(count)
    for box in told:
        assert found[box.address] == expected_events(box, late[box.address]), box
