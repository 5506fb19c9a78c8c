"""A week of the program as it is, in a minute: tokens, challenges and sessions of every kind on
both engines, keys that are rotated every day, and the tasks that remove what has expired.

The wall clock is simulated, the monotonic clock is not: the tasks run each minute of the machine's
time. It runs where POSTERN_WEEK_SECONDS is set, which is how long the week takes: 63 or more.
"""

import collections
import dataclasses
import itertools
import os
import random
import time
from typing import Callable

import jwt
import pytest

import databases
from agent import Agent, bearer, claims
from hashhost import argon2
from hashlogin import HashLogin
from hooks import HookReceiver, Owner, report as report_mail
from mailboxes import Mailboxes, fresh
from program import await_true, run
from services import Services
from simulatedclock import SimulatedClock

# The tasks run once in 63 seconds.
SECONDS = int(os.environ.get("POSTERN_WEEK_SECONDS", 0))
pytestmark = pytest.mark.skipif(SECONDS == 0, reason="POSTERN_WEEK_SECONDS is not set")
HOUR, DAY = 3600, 86_400
# How long tokens live, of those that live less than a day.
LIFETIMES = [120, 180, 300, HOUR]
# Rows are kept so long after their expiry, for servers whose clocks differ.
CLOCK_DIFFERENCE = 600
USES = ["agent", "accounts", "capability", "login"]
PASSWORD = "a long password"
_numbers = itertools.count(1)


@dataclasses.dataclass
class Token:
    """`use` says whether it is accepted. One that is accepted `once` is spent by that."""

    kind: str
    expiry: float
    use: Callable[[], bool]
    once: bool = False
    # Whether one that is accepted once is used shortly before its expiry, or only after it.
    late: bool = False
    ended: bool = False
    # The signing key of a token that others verify.
    key: str | None = None


class Week:
    """One server, its clients, and every token that it has issued."""

    def __init__(self, engine, directory, clock, start, authority, host):
        self.engine, self.clock = engine, clock
        self.storage = {**databases.settings(engine, directory), **clock.settings}
        self.services = Services(f"unix:{directory}/s")
        self.directory, self.receiver = directory, HookReceiver(authority)
        self.receiver.is_clock_ahead = True
        self.server = start(
            **self.storage, POSTERN_SERVICES_LISTEN=self.services.address,
            POSTERN_KEYS_ROTATE_EVERY="2d", POSTERN_TOKENS_ACCOUNT_LIFETIME="3d",
            POSTERN_WEBHOOKS_CA_FILE=str(authority.file),
            POSTERN_HASH_LOGIN_CA_FILE=str(authority.file), JWT_ISSUER="https://login.example")
        self.agent, self.boxes = Agent(self.server.url), Mailboxes(self.server.url)
        self.logins = HashLogin(self.server.url)
        self.statuses = collections.Counter()
        for client in (self.agent, self.boxes, self.logins):
            client.http.hooks["response"] = [
                lambda answer, **_: self.statuses.update([answer.status_code])]
        self.tokens, self.checked = [], collections.Counter()
        self.owner, self.mails = Owner(self.server.url, self.receiver), 0
        self.email = fresh("users.example")
        registered = self.logins.register(self.email, host.serve(argon2(PASSWORD)), PASSWORD)
        assert registered.status_code == 201, registered.text
        # Of each table: the rows that could be removed at the last check, how often they were, and
        # the most rows.
        self.expired = dict.fromkeys(["spent_challenge", "user_session"], 0)
        self.sweeps, self.most = collections.Counter(), collections.Counter()
        self.seen = clock.now()

    # What is issued.

    def add(self, kind, token, use, **more):
        """A token that is a JWT; it says when it expires."""
        self.tokens.append(Token(kind, claims(token)["exp"], use, **more))
        return self.tokens[-1]

    def issue(self):
        """Tokens and challenges of every kind."""
        session = self.agents()
        self.mailboxes()
        self.users()
        capability = bearer(self.agent.capability(session))
        self.add("capability", capability,
                 lambda: self.agent.mailbox(capability).status_code == 200,
                 key=jwt.get_unverified_header(capability)["kid"])
        self.add("capability at a mail store", capability,
                 lambda: self.services.introspect(capability)["active"])
        login = self.logins.token(self.email, PASSWORD)
        self.add("login", login, lambda: self.logins.validate(login).status_code == 200)

    def agents(self):
        """An account and two challenges more; one is used late, and one too late."""
        made = self.agent.session(username=f"w{next(_numbers):07}")
        assert made.status_code == 201, made.text
        session = bearer(made)
        self.add("session", session, lambda: self.agent.capability(session).status_code == 200)
        for late in (True, False):
            solved = self.agent.solve()
            self.add("agent challenge", solved.token, lambda solved=solved: self.agent.session(
                solved, username=f"w{next(_numbers):07}").status_code == 201, once=True, late=late)
        return session

    def mailboxes(self):
        kept, ended = self.boxes.mailbox(), self.boxes.mailbox()
        for box in (kept, ended):
            token = self.add("Email JWT", box.token, lambda box=box: self.boxes.get(
                box.id, box.token).status_code == 200)
        assert self.boxes.call("DELETE", "/api/token", ended.token).status_code == 204
        token.ended = True
        for late in (True, False):
            challenge = self.boxes.challenge()
            proof = self.boxes.proof(challenge)
            self.tokens.append(Token(
                "accounts challenge", challenge["expires_at"], lambda proof=proof:
                self.boxes.create(fresh(), pow=proof).status_code == 201, once=True, late=late))

    def users(self):
        for ends in (False, True):
            user = self.boxes.user()
            token = self.add("Pro JWT", user.token, lambda user=user: self.boxes.call(
                "GET", "/api/user/me", user.token).status_code == 200)
            api = self.boxes.api_token(user, expires_in=DAY)["token"]
            self.tokens.append(Token(
                "API token", self.clock.now() + DAY, lambda api=api: self.boxes.call(
                    "GET", "/api/user/accounts", api).status_code == 200))
            if ends:
                assert self.boxes.call("POST", "/api/user/logout", user.token).status_code == 204
                token.ended = True

    def rotate(self, use, *flags):
        result = run("key", "rotate", "--use", use, *flags, "--profile", "test",
                     directory=self.directory, **self.storage)
        # The server may have rotated it a moment ago.
        assert result.returncode == 0 or "signs from" in result.stderr, result.stderr

    def mail(self):
        """An event of the webhook, whose first attempt fails."""
        self.mails += 1
        refused = []
        self.receiver.answer = lambda event: 204 if refused else refused.append(event) or 503
        report_mail(self.services.address, self.owner.box.address, f"mail {self.mails}")
        await_true(lambda: refused, "no event was sent")

    # What is checked.

    def check(self, everything=False):
        """Live tokens are accepted, and others are not: those that expire soon or have just
        expired, and some of the rest."""
        now = self.clock.now()
        near = [each for each in self.tokens if abs(each.expiry - now) < 30]
        rest = [each for each in self.tokens if abs(each.expiry - now) >= 30]
        for token in near + (rest if everything else random.sample(rest, min(12, len(rest)))):
            self.check_one(token, is_near=token in near)
        self.check_keys()
        self.check_tables()

    def check_one(self, token, is_near):
        before = self.clock.now()
        is_live = not token.ended and before < token.expiry
        if token.once and is_live and not (is_near and token.late):
            return
        is_accepted, after = token.use(), self.clock.now()
        if not is_live:
            assert not is_accepted, (self.engine, token, before)
            self.checked[token.kind, "ended" if token.ended else "expired"] += 1
        elif after < token.expiry:
            assert is_accepted, (self.engine, token, before)
            self.checked[token.kind, "live"] += 1
        token.ended |= token.once and is_accepted

    def check_keys(self):
        """The keys of live capabilities are published."""
        before = self.clock.now()
        published = self.boxes.call("GET", "/.well-known/jwks.json").json()["keys"]
        keys = {key["kid"] for key in published}
        needed = {token.key for token in self.tokens if token.key and token.expiry > before}
        assert needed <= keys, (needed, keys)
        assert len(keys) <= 3

    def check_tables(self):
        """Rows of expired challenges and sessions are removed, all of them at once."""
        now = self.clock.now()
        for table, (left, expired, count) in self.counts(self.seen, now).items():
            before = self.expired[table]
            assert left in (0, before), (self.engine, table, left, before)
            self.sweeps[table] += left < before
            self.expired[table] = expired
            self.most[table] = max(self.most[table], count)
        self.seen = now

    def counts(self, *moments):
        """Of each table: the rows that may be removed at each moment, and all rows."""
        def past(moment):
            moment -= CLOCK_DIFFERENCE
            return f"to_timestamp({moment})" if self.engine == "postgres" else int(moment * 1000)

        columns = [f"(SELECT count(*) FROM {table} {condition})" for table in self.expired
                   for condition in [*(f"WHERE expiry < {past(one)}" for one in moments), ""]]
        # One query, because each is a new process on PostgreSQL.
        [row] = databases.rows(self.storage, f"SELECT {', '.join(columns)}")
        size = len(moments) + 1
        return {table: [int(one) for one in row[index * size:(index + 1) * size]]
                for index, table in enumerate(self.expired)}

    def end(self):
        """Everything that was issued, and what the server said of it."""
        self.check(everything=True)
        self.receiver.answer = lambda event: 204
        subjects = {f"mail {number}" for number in range(1, self.mails + 1)}
        await_true(
            lambda: subjects == {each["data"]["subject"] for each in list(self.receiver.accepted)},
            self.server.read_log)
        assert len({event["id"] for event in self.receiver.messages}) == self.mails
        assert not [code for code in self.statuses if code >= 500], self.statuses
        log = self.server.read_log()
        assert '"level":"critical"' not in log and '"level":"error"' not in log, log[-4000:]
        assert all(self.sweeps[table] for table in self.expired), self.sweeps
        for kind in {token.kind for token in self.tokens}:
            assert self.checked[kind, "live"] and self.checked[kind, "expired"], self.checked


@pytest.fixture
def weeks(start, tmp_path, authority, host):
    clock, weeks = SimulatedClock(tmp_path), []
    try:
        for engine in ["sqlite", "postgres"]:
            (tmp_path / engine).mkdir()
            weeks.append(Week(engine, tmp_path / engine, clock, start, authority, host))
        yield weeks
    finally:
        for week in weeks:
            week.receiver.stop()
            week.server.stop()
        clock.close()


def test_in_a_week_nothing_ended_is_accepted_and_nothing_live_refused(weeks, report):
    clock, began = weeks[0].clock, time.monotonic()
    first = clock.now()

    def advance(moment):
        """To this moment, but not faster than the week shall pass."""
        time.sleep(max(0, began + (moment - first) / (7 * DAY) * SECONDS - time.monotonic()))
        clock.advance_to(moment)
        for week in weeks:
            week.check()

    for day in range(7):
        issued = clock.now()
        for week in weeks:
            week.issue()
            week.mail()
            for use in USES:
                week.rotate(use)
        for lifetime in LIFETIMES:
            advance(issued + lifetime - 10)
            advance(issued + lifetime + 10)
        late = [token.expiry for week in weeks for token in week.tokens
                if issued + 2 * HOUR < token.expiry <= issued + DAY + 30]
        moments = [issued + random.uniform(2 * HOUR, DAY) for _ in range(5)]
        if late:
            moments += [min(late) - 5, max(late) + 5]
        for moment in sorted(moments):
            advance(moment)
        clock.advance_to(first + (day + 1) * DAY)
    for week in weeks:
        week.end()
        checked = collections.Counter()
        for (_, state), count in week.checked.items():
            checked[state] += count
        report(f"{week.engine}: a week in {time.monotonic() - began:.0f} s, checked "
               f"{dict(checked)}, sweeps {dict(week.sweeps)}, most rows {dict(week.most)}")
