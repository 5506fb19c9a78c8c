"""Agents, mailboxes, users and hash logins that keep to the documents, and services that ask."""

import random

from agent import Agent, bearer
from hashhost import argon2
from hashlogin import HashLogin
from load import PASSWORD, address, expect, worker
from mailboxes import Mailboxes, fresh
from services import Services, Socketmap, basic

OTHER = "another secret"


class Accounts:
    def __init__(self, load, host):
        self.load, self.host, self.known = load, host, load.acknowledged
        load.behaves |= {"agent", "mailbox", "user", "hash login", "services", "socketmap"}

    @property
    def work(self):
        return [worker(self.agent, 0.5), worker(self.agent, 0.5), worker(self.mailbox, 0.3),
                worker(self.user, 0.5), worker(self.hash_login, 0.5),
                worker(self.services, 0.5, "leak"), worker(self.socketmap, 1, "restart")]

    def agent(self):
        agent = self.load.at("agent", Agent, tls=random.random() < 0.5)
        made = agent.session(username=f"soak{random.getrandbits(40):x}")
        if made.status_code != 201:
            return
        key, session, inbox = made.json()["apiKey"], bearer(made), made.json()["inbox"]
        token = bearer(agent.capability(session))
        expect(agent.mailbox(token), 200)
        if random.random() < 0.5:
            key = expect(agent.post("/api/v1/api-key", session), 200).json()["apiKey"]
            made = agent.session(apiKey=key)
        if made.status_code in (200, 201) and random.random() < 0.5:
            deleted = agent.http.delete(
                agent.url + "/api/v1/account", timeout=30,
                headers={"Authorization": f"Bearer {bearer(made)}"})
            if deleted.status_code == 204:
                self.known.deleted.append(inbox)
                return
        self.known.agents[inbox] = key

    def mailbox(self):
        api, box = self.load.at("mailbox", Mailboxes, tls=random.random() < 0.5), fresh()
        made = api.create(box)
        if made.status_code != 201:
            return
        account, token, password = made.json()["id"], made.json()["token"], "supersecret"
        for _ in range(3):
            login = api.login(box)
            if login.status_code == 200:
                token = login.json()["token"]
            api.get(account, token)
        if api.reset(account, token, OTHER).status_code == 200:
            password = OTHER
        if random.random() < 0.3:
            token = api.login(box, password).json().get("token", token)
            if api.delete(account, token).status_code == 204:
                self.known.deleted.append(box)
                return
        self.known.mailboxes[box] = password

    def user(self):
        api, email = self.load.at("user", Mailboxes), fresh("example.com")
        made = api.call("POST", "/api/user/register", None, {"email": email, "password": PASSWORD})
        if made.status_code != 201:
            return
        token = made.json()["token"]
        api.call("POST", "/api/user/tokens", token, {"expires_in": 60})
        api.call("GET", "/api/user/tokens", token)
        domain = fresh().partition("@")[0] + ".test"
        api.call("POST", "/api/user/domains", token, {"domain": domain})
        box = fresh()
        if api.create(box, token=token).status_code == 201:
            api.login(box)
            self.known.mailboxes[box] = "supersecret"
        self.known.users[email] = PASSWORD, None

    def hash_login(self):
        api = self.load.at("hash login", HashLogin)
        email, url = fresh("soak.test"), self.host.serve(argon2(PASSWORD))
        if api.register(email, url, PASSWORD).status_code != 201:
            return
        login = api.login(email, PASSWORD)
        if login.status_code == 200:
            api.validate(login.json()["token"])
        if random.random() < 0.1:
            self.known.hash_logins[email] = PASSWORD
        else:
            self.host.pages.pop(url.partition(str(self.host.port))[2], None)

    def services(self):
        """What a mail store and a proxy ask about a mailbox."""
        api = self.load.at("services", Mailboxes, patient=True)
        services = CountedServices(self.load)
        box, client = api.mailbox(), address()
        for token, active in [(box.token, True), (box.token[:-9], False)]:
            assert services.introspect(token)["active"] == active
        granted = expect(api.call("POST", "/api/v1/capability", box.token), 200)
        assert services.introspect(bearer(granted))["sub"] == box.address
        for password, status in [(box.password, 200), ("not the password", 401)]:
            assert services.check(box.address, password, client).status == status
        forwarded = {"X-Forwarded-For": client}
        for authorization, status in [
                (f"Bearer {box.token}", 200), (basic(box.address, box.password), 200),
                ("Bearer x", 401)]:
            assert services.forward(authorization, **forwarded).status == status
        used = services.call("POST", "/usage", body=[{"address": box.address, "used": 5}])
        assert (used.status, used.json()) == (200, {"unknown": []})
        expect(api.call("GET", "/userinfo", box.token), 200)
        expect(api.delete(box.id, box.token), 204)
        self.known.deleted.append(box.address)
        assert services.introspect(box.token) == {"active": False}

    def socketmap(self):
        """A mail server that looks up an address before and after its deletion."""
        api = self.load.at("socketmap", Mailboxes, patient=True)
        maps, box = Socketmap(self.load.server.socketmap), fresh()
        asked = [f"mailbox {box}", f"sender {box}", "domain mail.test"]
        try:
            assert maps.ask(*asked) == ["NOTFOUND ", "NOTFOUND ", "OK OK"]
            expect(api.create(box), 201)
            self.known.mailboxes[box] = "supersecret"
            assert maps.ask(*asked) == [f"OK {box}", f"OK {box}", "OK OK"]
        finally:
            maps.close()


class CountedServices(Services):
    """The services listener, whose responses are counted."""

    def __init__(self, load):
        super().__init__(load.server.services)
        self.load = load

    def call(self, *arguments, **options):
        answer = super().call(*arguments, **options)
        self.load.count("services", answer.status)
        return answer
