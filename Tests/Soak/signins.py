"""Users that log in by one-time codes, recovery codes, passkeys, a provider and links by mail."""

import random
import re
import time

from load import PASSWORD, address, expect, worker
from mailboxes import Mailboxes, fresh
from passkeys import Key
from provider import SignIn
from relay import LINK
import totp

NEW = "another long password"


class SignIns:
    def __init__(self, load, provider):
        self.load, self.provider, self.known = load, provider, load.acknowledged
        load.behaves |= {"second factor", "passkey", "provider login", "link"}

    @property
    def work(self):
        return [worker(self.second_factor, 1, "leak"), worker(self.passkey, 1, "leak"),
                worker(self.provider_login, 2, "leak"),
                # The mail is gone, and what waits to be sent.
                worker(self.link, 0.5, "leak", "restart")]

    def second_factor(self):
        api = self.load.at("second factor", Mailboxes, patient=True)
        user = api.user(PASSWORD)
        now = time.time()
        uri, recovery = totp.enable(api, user.token, now)
        tokens = [
            second(api, user.email, PASSWORD, **proof) for proof in [
                {"code": totp.code(uri, now + 30)}, {"recovery_code": recovery[0]},
                {"recovery_code": recovery[1].upper().replace("-", "")}]]
        asked = expect(login(api, user.email, PASSWORD), 401).json()["challenge"]
        for used in [{"recovery_code": recovery[0]}, {"code": totp.code(uri, now + 30)}]:
            body = {"challenge": asked, **used}
            expect(api.call("POST", "/api/user/login/second", None, body), 401)
        self.end_sessions(api, tokens)
        if random.random() < 0.5:
            expect(api.call("DELETE", "/api/user/totp", tokens[-1]), 204)
            uri = None
        self.known.users[user.email] = PASSWORD, uri

    def end_sessions(self, api, tokens):
        """Ends one session by its id and the others together; the last of the tokens stays."""
        first, *_, last = tokens
        sessions = expect(api.call("GET", "/api/user/sessions", last), 200).json()["sessions"]
        assert len(sessions) == len(tokens) + 1 and sum(each["current"] for each in sessions) == 1
        [own] = [each for each in expect(
            api.call("GET", "/api/user/sessions", first), 200).json()["sessions"]
                 if each["current"]]
        expect(api.call("DELETE", f"/api/user/sessions/{own['id']}", last), 204)
        expect(api.call("GET", "/api/user/me", first), 401)
        expect(api.call("DELETE", "/api/user/sessions", last), 204)
        [own] = expect(api.call("GET", "/api/user/sessions", last), 200).json()["sessions"]
        assert own["current"]

    def passkey(self):
        api = self.load.at("passkey", Mailboxes, patient=True)
        key = Key(api, api.user(PASSWORD))
        made = expect(key.register(), 201).json()
        body, _ = key.use()
        token = expect(key.log_in(body), 200).json()["token"]
        expect(key.log_in(body), 401)
        path = f"/api/user/passkeys/{made['id']}"
        expect(api.call("PUT", path, token, {"name": "renamed"}), 204)
        [listed] = expect(api.call("GET", "/api/user/passkeys", token), 200).json()["passkeys"]
        assert listed["name"] == "renamed"
        if random.random() < 0.5:
            expect(api.call("DELETE", path, token), 204)
            expect(key.log_in(key.use()[0]), 401)
        else:
            self.known.passkeys.append(key)
        self.known.users[key.user.email] = PASSWORD, None

    def provider_login(self):
        person = {"sub": str(time.monotonic_ns()), "email": fresh("people.example"),
                  "email_verified": True}
        first, second_time = self.sign_in(person), self.sign_in(person)
        assert first == second_time
        self.known.people.append((person, first))

    def sign_in(self, person):
        """The id of the user. One sign-in at a time: the provider knows one person."""
        api = self.load.at("provider login", Mailboxes, patient=True)
        self.provider.person = person
        browser = SignIn(api.http, api.url)
        assert expect(browser.run(), 303).headers["Location"] == "/dashboard"
        return expect(api.call("GET", "/api/user/me", browser.session), 200).json()["id"]

    def link(self):
        """A user with a mailbox here verifies the email, forgets the password, and resets it."""
        api = self.load.at("link", Mailboxes, patient=True)
        box = api.mailbox()

        def call(path, body):
            # From elsewhere: one client must wait between two such requests.
            api.http.headers["X-Forwarded-For"] = address()
            return api.call("POST", path, None, body)
        made = expect(call("/api/user/register", {
            "email": box.address, "password": PASSWORD}), 201)
        api.http.cookies.clear()
        verify = {"token": await_link(api, box, "verify-email")}
        expect(call("/api/user/email/verify", verify), 200)
        expect(call("/api/user/email/verify", verify), 400)
        self.known.users[box.address] = PASSWORD, None
        expect(call("/api/user/password/forgot", {"email": box.address}), 202)
        reset = {"token": await_link(api, box, "reset-password"), "password": NEW}
        # Whether it was reset is not known if there is no answer.
        del self.known.users[box.address]
        expect(call("/api/user/password/reset", reset), 200)
        self.known.users[box.address] = NEW, None
        expect(api.call("GET", "/api/user/me", made.json()["token"]), 401)
        expect(login(api, box.address, NEW), 200)
        expect(api.delete(box.id, box.token), 204)
        self.known.deleted.append(box.address)


def login(api, email, password):
    return api.call("POST", "/api/user/login", None, {"email": email, "password": password})


def second(api, email, password, **proof):
    """The token of a login with two factors."""
    asked = expect(login(api, email, password), 401).json()
    assert asked["error"] == "second_factor_required", asked
    body = {"challenge": asked["challenge"], **proof}
    return expect(api.call("POST", "/api/user/login/second", None, body), 200).json()["token"]


def await_link(api, box, page):
    """The token of a link in the mail of a mailbox."""
    path, deadline = f"/api/accounts/{box.id}/messages", time.monotonic() + 60
    while time.monotonic() < deadline:
        for message in expect(api.call("GET", path, box.token), 200).json()["messages"]:
            whole = expect(api.call("GET", f"{path}/{message['id']}", box.token), 200).json()
            for found, token in re.findall(LINK, whole["text_body"] or ""):
                if found == page:
                    return token
        expect(api.call("GET", f"{path}/wait?timeout=5", box.token), 200)
    raise AssertionError(f"no link for {page}")
