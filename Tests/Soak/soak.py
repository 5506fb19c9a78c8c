"""Mixed and hostile load on one server for a long time: what grows, what fails, what is lost.

Each worker is a thread that repeats one kind of client, over HTTP or TLS. Clients have addresses of
their own, by the header of a trusted proxy. Meanwhile an operator reloads settings and certificates
every minute (every fourth time with a fault), rotates keys and makes a backup every fourth minute,
and in the first half of the time restarts the server every tenth minute, on sockets that stay open.
No client that behaves may meet an error. At the end the server is stopped and started again, and
every account that was acknowledged must be able to log in.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import random
import signal
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
from supervisor import Supervisor, listening  # noqa: E402
import tlsfiles  # noqa: E402

SETTINGS = {
    "POSTERN_POW_AGENT_DIFFICULTY": "1", "POSTERN_POW_ACCOUNTS_DIFFICULTY": "8",
    "POSTERN_SERVER_TRUSTED_PROXIES": "127.0.0.1", "POSTERN_MAIL_DOMAINS": "mail.test", "POSTERN_USERS_REGISTRATION": "open",
    "POSTERN_HASH_LOGIN_ALLOW_PRIVATE_NETWORKS": "true",
    "POSTERN_SERVER_HEAD_TIMEOUT": "5s", "POSTERN_SERVER_BODY_TIMEOUT": "5s",
    "POSTERN_SERVER_DRAIN_GRACE": "10s", "POSTERN_LOG_ACCESS": "0.01"}
# The operator's commands are among those that must not fail.
BEHAVE = ["agent", "mailbox", "user", "hash_login", "operator"]
WORDS = ["--profile", "development", "--data", "data"]


def client():
    """The address of a client that was not there before, most likely."""
    return ".".join(str(random.randrange(1, 224 if n == 0 else 255)) for n in range(4))


class Service:
    """The server under a service manager: a plain public listener and one with TLS."""

    def __init__(self, directory, **settings):
        self.directory = directory
        self.authority = tlsfiles.Authority(directory / "tls")
        self.supervisor = Supervisor(
            directory, [("public", listening()), ("public", listening())], **settings)
        self.port, tls = (one.getsockname()[1] for _, one in self.supervisor.sockets)
        self.url, self.tls_url = f"http://127.0.0.1:{self.port}", f"https://127.0.0.1:{tls}"
        self.starts = 0
        (directory / "config").mkdir()
        self.configure("")
        self.start()

    def configure(self, more):
        """Writes a new certificate and the file of settings."""
        certificate = self.authority.issue("soak.test", ["IP:127.0.0.1"])
        address = "127.0.0.1:0"
        (self.directory / "config/postern.toml").write_text(more + "\n" + tlsfiles.settings(
            [{"address": address}, {"address": address, "tls": True}], [certificate]))

    def start(self):
        self.supervisor.start("--data", "data", profile="development")
        self.supervisor.await_message("READY")
        self.starts += 1

    def reload(self, faulty):
        limit = 0 if faulty else random.randrange(10, 30)
        self.configure(f"limits.pro_per_second = {limit}")
        self.supervisor.process.send_signal(signal.SIGHUP)
        self.supervisor.await_message("RELOADING")
        ended = self.supervisor.await_message("READY")
        assert ("faults" in ended["STATUS"]) == faulty, ended
        if faulty:
            self.configure("")

    def command(self, *words):
        result = program.run(*words, *WORDS, directory=self.directory)
        assert result.returncode == 0, result.stderr

    def figures(self):
        """Resident MiB and open descriptors."""
        process = pathlib.Path(f"/proc/{self.supervisor.process.pid}")
        resident = (process / "status").read_text().partition("VmRSS:")[2].split()[0]
        return int(resident) / 1024, len(os.listdir(process / "fd"))


class Soak:
    def __init__(self, server, host):
        self.server, self.host = server, host
        self.statuses = collections.defaultdict(collections.Counter)
        self.ending, self.lock = threading.Event(), threading.Lock()
        self.alive, self.unexpected, self.done = {}, [], collections.Counter()

    def count(self, kind, answer):
        with self.lock:
            self.statuses[kind][answer.status_code] += 1
        return answer

    def at(self, kind, api, tls=False):
        """A client of one API with an address of its own, whose responses are counted."""
        made = api(self.server.tls_url if tls else self.server.url)
        made.http.verify = str(self.server.authority.file)
        made.http.headers["X-Forwarded-For"] = client()
        made.http.hooks["response"] = [lambda answer, **_: self.count(kind, answer)]
        return made

    def failed(self):
        """Requests of clients that behave that had no answer, or one that is the server's fault."""
        with self.lock:
            return sum(kind in BEHAVE for kind, _ in self.unexpected) + sum(
                count for kind in BEHAVE for status, count in self.statuses.get(kind, {}).items()
                if status >= 500)

    # Clients that behave.

    def agent(self):
        agent = self.at("agent", Agent, tls=random.random() < 0.5)
        made = agent.session(username=f"soak{random.getrandbits(40):x}")
        if made.status_code != 201:
            return
        key, session = made.json()["apiKey"], bearer(made)
        token = bearer(agent.capability(session))
        assert agent.http.get(
            agent.url + "/.well-known/jmap", headers={"Authorization": f"Bearer {token}"},
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
                agent.url + "/api/v1/account", timeout=30,
                headers={"Authorization": f"Bearer {bearer(made)}"})

    def mailbox(self):
        api, address = self.at("mailbox", Mailboxes, tls=random.random() < 0.5), fresh()
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
        api = self.at("hash_login", HashLogin)
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

    def operator(self, minute, restarts):
        """What happens in this minute."""
        if restarts and minute % 10 == 0:
            self.server.supervisor.stop()
            self.server.start()
            return "restart"
        if minute % 4 == 0:
            # A key can be replaced when it signs, six minutes after it was made.
            use = ["capability", "login", "accounts", "agent"][minute // 4 % 4]
            # A leaked key ends the tokens that it signed, which clients of the other two would meet.
            leaked = ["--leaked"] if use in ("login", "accounts") and random.random() < 0.4 else []
            self.server.command("key", "rotate", "--use", use, *leaked)
            self.server.command("backup", "backup.db")
            (self.server.directory / "backup.db").unlink()
            return "rotation, backup"
        self.server.reload(faulty := minute % 4 == 3)
        return "faulty reload" if faulty else "reload"

    def attempt(self, work, *arguments):
        try:
            return work(*arguments)
        except Exception as error:  # noqa: BLE001 - each is reported at the end
            with self.lock:
                self.unexpected.append((work.__name__, f"{error!r}"[:300]))
            return "failed"

    def repeat(self, work, pause):
        while not self.ending.is_set():
            self.attempt(work)
            self.ending.wait(pause)


def load(soak, minutes):
    """Runs all workers; prints a line each minute."""
    work = [(soak.agent, 0.5), (soak.agent, 0.5), (soak.mailbox, 0.3), (soak.user, 0.5),
            (soak.hash_login, 0.5), (soak.guesser, 0.5), (soak.flooder, 1), (soak.slow_host, 2),
            (soak.nonsense, 0.2), (soak.raw, 0.05), (soak.raw, 0.05), (soak.holder, 5)]
    threads = [threading.Thread(target=soak.repeat, args=pair, daemon=True) for pair in work]
    for thread in threads:
        thread.start()
    print("minute  start   MiB  descriptors  responses     503  other 5xx  failed", flush=True)
    began = time.monotonic()
    try:
        for minute in range(1, minutes + 1):
            time.sleep(max(0, began + 60 * minute - time.monotonic()))
            resident, descriptors = soak.server.figures()
            with soak.lock:
                total = sum(soak.statuses.values(), collections.Counter())
            errors = sum(count for status, count in total.items() if status >= 500) - total[503]
            print(f"{minute:6} {soak.server.starts:6} {resident:5.1f} {descriptors:12} "
                  f"{sum(total.values()):10} {total[503]:7} {errors:10} {soak.failed():7}  ",
                  end="", flush=True)
            done = soak.attempt(soak.operator, minute, minute <= minutes / 2)
            soak.done[done] += 1
            print(done, flush=True)
    finally:
        soak.ending.set()
        for thread in threads:
            thread.join(60)


def login(url, address, password):
    """The status of the login, which may have to wait for its turn."""
    api = Mailboxes(url)
    api.http.headers["X-Forwarded-For"] = client()
    while (answer := api.login(address, password)).status_code == 429:
        time.sleep(int(answer.headers["Retry-After"]))
    api.http.close()
    return answer.status_code


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=60)
    options = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp())
    host = HashHost(Authority(directory).context("localhost"))
    server = Service(directory, **SETTINGS, POSTERN_HASH_LOGIN_CA_FILE=str(directory / "ca.pem"),
                     POSTERN_HASH_LOGIN_PORTS=str(host.port))
    try:
        soak = Soak(server, host)
        load(soak, options.minutes)
        time.sleep(70)
        print("after the load: {:.1f} MiB, {} descriptors".format(*server.figures()))
        server.supervisor.stop()
        check = sqlite3.connect(directory / "data/postern.db").execute("PRAGMA integrity_check")
        print("integrity:", check.fetchone()[0])
        server.start()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            logins = list(pool.map(login, itertools.repeat(server.url), *zip(*soak.alive.items())))
        server.supervisor.stop()
    finally:
        server.supervisor.close()
    lost = [status for status in logins if status != 200]
    for kind, statuses in sorted(soak.statuses.items()):
        print(f"{kind:12}", dict(sorted(statuses.items())))
    print("operator:", dict(soak.done))
    print(f"accounts: {len(soak.alive)} acknowledged, {len(lost)} lost {lost[:5]}")
    print(f"failed: {soak.failed()}")
    for (kind, text), count in collections.Counter(soak.unexpected).most_common(20):
        print(f"  {count} × {kind}: {text}")
    sys.exit(1 if lost or soak.failed() else 0)


if __name__ == "__main__":
    main()
