"""The server of the soak under a service manager, with everything on, and its operator."""

import contextlib
import os
import pathlib
import random
import signal

import requests

from load import address
import program
from services import Services, free_port
from supervisor import Supervisor, listening
import tlsfiles

SETTINGS = {
    "POSTERN_POW_AGENT_DIFFICULTY": "1", "POSTERN_POW_ACCOUNTS_DIFFICULTY": "8",
    "POSTERN_SERVER_TRUSTED_PROXIES": "127.0.0.1", "POSTERN_MAIL_DOMAINS": "mail.test",
    "POSTERN_USERS_REGISTRATION": "open", "POSTERN_USERS_MAX_ACCOUNTS": "100",
    "POSTERN_HASH_LOGIN_ALLOW_PRIVATE_NETWORKS": "true",
    "POSTERN_WEBHOOKS_ALLOW_PRIVATE_NETWORKS": "true",
    "POSTERN_SERVER_HEAD_TIMEOUT": "5s", "POSTERN_SERVER_BODY_TIMEOUT": "5s",
    "POSTERN_SERVER_DRAIN_GRACE": "10s", "POSTERN_LOG_ACCESS": "0.01",
    "POSTERN_MAILER_HOST": "127.0.0.1", "POSTERN_MAILER_TLS": "none",
    "POSTERN_MAILER_FROM": "Postern <postern@mail.test>"}
WORDS = ["--profile", "development", "--data", "data"]
PUBLIC, SERVICES, SOCKETMAP = "public", "services", "socketmap"


class Service:
    """A plain public listener, one with TLS, services, a socketmap, and SMTP for local mail.

    SMTP is also the relay for mail to users. `provider` is the table of an identity provider.
    """

    def __init__(self, directory, provider, **settings):
        self.directory, self.provider = directory, provider
        self.authority = tlsfiles.Authority(directory / "tls")
        self.smtp = ("127.0.0.1", free_port())
        sockets = [(name, listening()) for name in [PUBLIC, PUBLIC, SERVICES, SOCKETMAP]]
        self.port, tls, services, socketmap = (one.getsockname()[1] for _, one in sockets)
        self.supervisor = Supervisor(
            directory, sockets, POSTERN_MAIL_LOCAL_SMTP="{}:{}".format(*self.smtp),
            POSTERN_MAILER_PORT=str(self.smtp[1]), **settings)
        self.url, self.tls_url = f"http://127.0.0.1:{self.port}", f"https://127.0.0.1:{tls}"
        self.services, self.socketmap = f"127.0.0.1:{services}", f"127.0.0.1:{socketmap}"
        self.starts = 0
        # Numbers that change before and after a disturbance: odd while it lasts.
        self._phases = {"restart": 0, "leak": 0}
        (directory / "config").mkdir()
        self.configure()
        self.start()

    def configure(self, first=""):
        """Writes a new certificate and the file of settings."""
        certificate = self.authority.issue("soak.test", ["IP:127.0.0.1"])
        listeners = [{"address": "127.0.0.1:0", **more} for more in [
            {}, {"tls": True}, {"serves": SERVICES}]]
        (self.directory / "config/postern.toml").write_text("\n".join([
            first, "webhooks.ports = []", tlsfiles.settings(listeners, [certificate]),
            self.provider]))

    def start(self):
        self.supervisor.start("--data", "data", profile="development")
        self.supervisor.await_message("READY")
        self.starts += 1

    def restart(self):
        """Local mail, and SMTP meanwhile, is gone."""
        with self.disturbance("restart"):
            self.supervisor.stop()
            self.start()

    @contextlib.contextmanager
    def disturbance(self, kind):
        """What clients that tolerate this kind meet while it lasts is no failure."""
        self._phases[kind] += 1
        try:
            yield
        finally:
            self._phases[kind] += 1

    def phases(self, kinds):
        return [self._phases[kind] for kind in kinds]

    @staticmethod
    def were_disturbed(before, after):
        return before != after or any(phase % 2 for phase in after)

    def reload(self, faulty):
        limit = 0 if faulty else random.randrange(10, 30)
        self.configure(f"limits.pro_per_second = {limit}")
        self.supervisor.process.send_signal(signal.SIGHUP)
        self.supervisor.await_message("RELOADING")
        ended = self.supervisor.await_message("READY")
        assert ("faults" in ended["STATUS"]) == faulty, ended
        if faulty:
            self.configure()

    def command(self, *words):
        result = program.run(*words, *WORDS, directory=self.directory)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def figures(self):
        """Resident MiB and open descriptors."""
        process = pathlib.Path(f"/proc/{self.supervisor.process.pid}")
        resident = (process / "status").read_text().partition("VmRSS:")[2].split()[0]
        return int(resident) / 1024, len(os.listdir(process / "fd"))


class Operator:
    """Who reloads, restarts, rotates and makes backups, one of them each minute."""

    def __init__(self, load, minutes):
        self.load, self.server = load, load.server
        load.behaves |= {"operator", "developer"}
        # In the second half the memory of one process is observed.
        self.restarts = set(range(10, minutes // 2 + 1, 10)) or {max(1, minutes // 3)}

    def operator(self, minute):
        """What happens in this minute."""
        if minute in self.restarts:
            self.server.restart()
            return "restart"
        if minute % 4 == 0:
            return self.rotate(minute)
        self.server.reload(faulty := minute % 4 == 3)
        return "faulty reload" if faulty else "reload"

    def rotate(self, minute):
        # A key can be replaced when it signs, six minutes after it was made.
        use = ["capability", "login", "accounts", "agent"][minute // 4 % 4]
        # A leaked key ends the tokens that it signed.
        if use in ("login", "accounts") and random.random() < 0.4:
            with self.server.disturbance("leak"):
                self.server.command("key", "rotate", "--use", use, "--leaked")
                # Servers read the keys every two seconds.
                self.load.ending.wait(5)
        else:
            self.server.command("key", "rotate", "--use", use)
        self.server.command("backup", "backup.db")
        (self.server.directory / "backup.db").unlink()
        return "rotation, backup"

    def developer(self):
        """Looks at the list of all local mail, which keeps every message, and empties it."""
        for method, path in [("GET", "?page=1"), ("GET", "?after=0&timeout=0"), ("DELETE", "")]:
            answer = requests.request(
                method, f"{self.server.url}/mail/messages{path}", timeout=60,
                headers={"X-Forwarded-For": address()})
            self.load.count("developer", answer.status_code)
            assert answer.status_code in (200, 204), answer.text
        answer = Services(self.server.services).call("GET", "/metrics")
        self.load.count("developer", answer.status)
        assert answer.status == 200 and b"postern_http_requests_total" in answer.body
