"""Mixed and hostile load on one server for a long time: what grows, what fails, what is lost.

Each worker is a thread that repeats one kind of client. Clients have addresses of their own, by the
header of a trusted proxy. Meanwhile keys are rotated and backups are made. At the end the server
is stopped and started again, and every account that was acknowledged must be able to log in.
"""

import argparse
import collections
import os
import pathlib
import random
import socket
import sqlite3
import sys
import tempfile
import threading
import time

import requests

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Interop"))

from agent import Agent, bearer  # noqa: E402
from hashhost import Authority, HashHost, argon2  # noqa: E402
from hashlogin import HashLogin  # noqa: E402
from mailboxes import Mailboxes, fresh  # noqa: E402
import program  # noqa: E402

SETTINGS = {
    "POSTERN_POW_AGENT_DIFFICULTY": "1", "POSTERN_POW_ACCOUNTS_DIFFICULTY": "8",
    "POSTERN_SERVER_TRUSTED_PROXIES": "127.0.0.1", "POSTERN_MAIL_DOMAINS": "mail.test", "POSTERN_USERS_REGISTRATION": "open",
    "POSTERN_HASH_LOGIN_ALLOW_PRIVATE_NETWORKS": "true",
    "POSTERN_SERVER_HEAD_TIMEOUT": "5s", "POSTERN_SERVER_BODY_TIMEOUT": "5s"}


def client():
    """The address of a client that was not there before, most likely."""
    return ".".join(str(random.randrange(1, 224 if n == 0 else 255)) for n in range(4))


class Soak:
    def __init__(self, server, host):
        self.server, self.host = server, host
        self.statuses = collections.defaultdict(collections.Counter)
        self.ending, self.lock = threading.Event(), threading.Lock()
        self.alive, self.unexpected = {}, []

    def count(self, kind, answer):
        with self.lock:
            self.statuses[kind][answer.status_code] += 1
        return answer

    def at(self, kind, api):
        """A client of one API with an address of its own, whose responses are counted."""
        made = api(self.server.url)
        made.http.headers["X-Forwarded-For"] = client()
        made.http.hooks["response"] = [lambda answer, **_: self.count(kind, answer)]
        return made

    # Clients that behave.

    def agent(self):
        agent = self.at("agent", Agent)
        made = agent.session(username=f"soak{random.getrandbits(40):x}")
        if made.status_code != 201:
            return
        key, session = made.json()["apiKey"], bearer(made)
        token = bearer(agent.capability(session))
        assert agent.http.get(
            self.server.url + "/.well-known/jmap", headers={"Authorization": f"Bearer {token}"},
            timeout=30).status_code == 200
        if random.random() < 0.5:
            renewed = agent.post("/api/v1/api-key", session)
            assert renewed.status_code == 200, renewed.text
            key = renewed.json()["apiKey"]
            made = agent.session(apiKey=key)
            if made.status_code != 200:
                return
        if random.random() < 0.5:
            agent.http.delete(
                self.server.url + "/api/v1/account", timeout=30,
                headers={"Authorization": f"Bearer {bearer(made)}"})

    def mailbox(self):
        api, address = self.at("mailbox", Mailboxes), fresh()
        made = api.create(address)
        if made.status_code != 201:
            return
        account, token = made.json()["id"], made.json()["token"]
        for _ in range(3):
            login = api.login(address)
            if login.status_code == 200:
                token = login.json()["token"]
            api.get(account, token)
        api.reset(account, token, "another secret")
        if random.random() < 0.3:
            token = api.login(address, "another secret").json().get("token", token)
            if api.delete(account, token).status_code == 204:
                return
        with self.lock:
            self.alive[address] = "another secret"

    def user(self):
        api = self.at("user", Mailboxes)
        made = api.call("POST", "/api/user/register", None, {
            "email": fresh("example.com"), "password": "a long password"})
        if made.status_code != 201:
            return
        token = made.json()["token"]
        api.call("POST", "/api/user/tokens", token, {"expires_in": 60})
        api.call("GET", "/api/user/tokens", token)
        api.call("POST", "/api/user/domains", token, {"domain": fresh("x.test").partition("@")[0] + ".test"})
        address = fresh()
        if api.create(address, token=token).status_code == 201:
            api.login(address)

    def hash_login(self):
        api = self.at("hash login", HashLogin)
        email, url = fresh("soak.test"), self.host.serve(argon2("a long password"))
        if api.register(email, url, "a long password").status_code != 201:
            return
        login = api.login(email, "a long password")
        if login.status_code == 200:
            api.validate(login.json()["token"])
        self.host.pages.pop(url.partition(str(self.host.port))[2], None)

    # Clients that do not.

    def guesser(self):
        api = self.at("guesser", Mailboxes)
        with self.lock:
            address = random.choice(list(self.alive or ["a@mail.test"]))
        for _ in range(8):
            api.login(address, "not the password")

    def flooder(self):
        session = self.at("flooder", Agent).http
        for _ in range(200):
            session.post(self.server.url + "/api/v1/challenge", timeout=30)

    def slow_host(self):
        def never(handler):
            time.sleep(8)
        api = self.at("slow host", HashLogin)
        api.register(fresh("soak.test"), self.host.answer(never), "a long password")

    def nonsense(self):
        session = self.at("nonsense", Agent).http
        for path in ["/api/token", "/api/accounts", "/register", "/login", "/api/v1/session",
                     "/api/user/register", "/validate", f"/{random.getrandbits(64):x}"]:
            session.post(
                self.server.url + path, data=random.randbytes(random.randrange(200)), timeout=30,
                headers={"Content-Type": "application/json",
                         "Authorization": "Bearer " + random.randbytes(30).hex()})

    def raw(self):
        """Broken requests, half requests, clients that never read, clients that send nothing."""
        kind = random.randrange(5)
        with socket.create_connection(("127.0.0.1", self.server.port), 10) as wire:
            wire.settimeout(10)
            try:
                if kind == 0:
                    wire.sendall(random.randbytes(random.randrange(1, 4000)))
                elif kind == 1:
                    wire.sendall(b"POST /api/token HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n{")
                elif kind == 2:
                    wire.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n" * 300)
                    time.sleep(random.random() * 3)
                    return
                elif kind == 3:
                    wire.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
                wire.recv(65536)
            except OSError:
                pass

    def holder(self):
        """Fifty connections that stay half a minute."""
        held = [socket.create_connection(("127.0.0.1", self.server.port), 10) for _ in range(50)]
        self.ending.wait(30)
        for wire in held:
            wire.close()

    # The operator.

    def operator(self):
        self.ending.wait(240)
        if self.ending.is_set():
            return
        where = {"directory": self.server.directory}
        words = ["--profile", "development", "--data", "data"]
        use = random.choice(["capability", "login", "accounts", "agent"])
        leaked = ["--leaked"] if random.random() < 0.2 else []
        for command in [["key", "rotate", "--use", use, *leaked],
                        ["backup", f"backup-{time.monotonic_ns()}.db"]]:
            result = program.run(*command, *words, **where)
            assert result.returncode == 0, result.stderr
        for backup in self.server.directory.glob("backup-*.db"):
            backup.unlink()

    def repeat(self, work, pause):
        while not self.ending.is_set():
            try:
                work()
            except Exception as error:  # noqa: BLE001 - each is reported at the end
                with self.lock:
                    self.unexpected.append(f"{work.__name__}: {error!r}"[:300])
            self.ending.wait(pause)


def figures(process):
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    resident = int(status.partition("VmRSS:")[2].split()[0]) / 1024
    return resident, len(os.listdir(f"/proc/{process}/fd"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    options = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp())
    host = HashHost(Authority(directory).context("localhost"))
    settings = {**SETTINGS, "POSTERN_HASH_LOGIN_CA_FILE": str(directory / "ca.pem"),
                "POSTERN_HASH_LOGIN_PORTS": str(host.port)}

    def start():
        server = program.Postern(directory, "--data", "data", profile="development", **settings)
        server.directory = directory
        return server

    server = start()
    soak = Soak(server, host)
    work = [(soak.agent, 0.5), (soak.agent, 0.5), (soak.mailbox, 0.3), (soak.user, 0.5),
            (soak.hash_login, 0.5), (soak.guesser, 0.5), (soak.flooder, 1), (soak.slow_host, 2),
            (soak.nonsense, 0.2), (soak.raw, 0.05), (soak.raw, 0.05), (soak.holder, 5),
            (soak.operator, 1)]
    threads = [threading.Thread(target=soak.repeat, args=pair, daemon=True) for pair in work]
    for thread in threads:
        thread.start()
    print("minute   MiB  descriptors  responses      5xx  503", flush=True)
    began = time.monotonic()
    try:
        for minute in range(1, int(options.minutes) + 1):
            time.sleep(max(0, began + 60 * minute - time.monotonic()))
            resident, descriptors = figures(server.process.pid)
            with soak.lock:
                total = sum(soak.statuses.values(), collections.Counter())
            errors = sum(count for status, count in total.items() if status >= 500)
            print(f"{minute:6} {resident:5.1f} {descriptors:12} {sum(total.values()):10} "
                  f"{errors:8} {total[503]:4}", flush=True)
    finally:
        soak.ending.set()
        for thread in threads:
            thread.join(60)
    time.sleep(70)
    resident, descriptors = figures(server.process.pid)
    print(f"after the load: {resident:.1f} MiB, {descriptors} descriptors")
    server.stop()
    check = sqlite3.connect(directory / "data/postern.db").execute("PRAGMA integrity_check")
    print("integrity:", check.fetchone()[0])
    server = start()
    lost = []
    for address, password in soak.alive.items():
        api = Mailboxes(server.url)
        api.http.headers["X-Forwarded-For"] = client()
        answer = api.login(address, password)
        while answer.status_code == 429:
            time.sleep(int(answer.headers["Retry-After"]))
            answer = api.login(address, password)
        if answer.status_code != 200:
            lost.append(f"{address}: {answer.status_code}")
    server.stop()
    for kind, statuses in sorted(soak.statuses.items()):
        print(f"{kind:12}", dict(sorted(statuses.items())))
    print(f"accounts: {len(soak.alive)} acknowledged, {len(lost)} lost {lost[:5]}")
    print(f"unexpected: {len(soak.unexpected)}")
    for text, count in collections.Counter(soak.unexpected).most_common(10):
        print(f"  {count} × {text}")


if __name__ == "__main__":
    main()
