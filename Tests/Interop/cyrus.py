"""Cyrus IMAP as the mail store, configured by the examples in deploy/mail, and the server that it
hands mail to. Everything of a store is in one temporary directory, under an unprivileged user."""

import contextlib
import getpass
import grp
import os
import pathlib
import pwd
import re
import shutil
import signal
import smtplib
import socket
import subprocess
import tempfile
import threading
import time

from program import ROOT, await_true
from proxies import DEPLOY, Nginx, free_port, substituted

# Where the packages of another version are unpacked (CONTRIBUTING.md); those of the system otherwise.
UNPACKED = os.environ.get("CYRUS_ROOT", "")
PROGRAMS = pathlib.Path(f"{UNPACKED}/usr/lib/cyrus/bin")
# Debian's package with imapd cannot be installed beside Dovecot's.
IMAPD = (PROGRAMS if UNPACKED else ROOT / ".build/cyrus-imapd/usr/lib/cyrus/bin") / "imapd"
POLICY = DEPLOY / "mail/cyrus/sender-policy"


def require_packages():
    for program in ["master", "httpd", "lmtpd", "ipurge"]:
        assert (PROGRAMS / program).exists(), (
            f"{PROGRAMS / program} is not installed: make test installs cyrus-common and cyrus-caldav")


def listens(address):
    try:
        if isinstance(address, int):
            socket.create_connection(("127.0.0.1", address), 5).close()
        else:
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(str(address))
        return True
    except OSError:
        return False


class Cyrus:
    """A running store. Stop it: nothing else does, and nothing else removes its directory."""

    def __init__(self, port, submission_port, export_keys, imap_port=None, password=None,
                 services=None, secret=""):
        """`export_keys` writes the public key into a directory. On `imap_port` the administrator logs
        in with `password`. `services` is the port of a Postern that is told of new messages."""
        require_packages()
        # As root it runs under the user of Debian's package.
        self.user = pwd.getpwnam("cyrus" if os.geteuid() == 0 else getpass.getuser())
        self.port, self.url = port, f"http://127.0.0.1:{port}"
        # Not in pytest's directories, which only the user of the tests can read.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="cyrus-"))
        self.configuration = self.directory / "imapd.conf"
        self.socket = self.directory / "run/socket/lmtp"
        self.keys = self.directory / "keys"
        self.log = self.directory / "log"
        # The directories that Debian's packages make.
        for name in ["lib/db", "lib/socket", "lib/user", "mail", "sieve", "run/proc", "run/lock",
                     "run/socket"]:
            (self.directory / name).mkdir(parents=True)
        export_keys(self.keys)
        self.configuration.write_text(substituted(
            "mail/cyrus/imapd.conf",
            state=("/var/lib/cyrus", f"{self.directory}/lib"),
            mail=("/var/spool/cyrus/mail", f"{self.directory}/mail"),
            sieve=("/var/spool/sieve", f"{self.directory}/sieve"),
            run=("/run/cyrus", f"{self.directory}/run"),
            keys=("/etc/cyrus/postern-keys", f"{self.directory}/keys"),
            user=("(?m)^cyrus_user: .*$", f"cyrus_user: {self.user.pw_name}"),
            group=("(?m)^cyrus_group: .*$",
                   f"cyrus_group: {grp.getgrgid(self.user.pw_gid).gr_name}"),
            submission=(r"127\.0\.0\.1:10587", f"127.0.0.1:{submission_port}")))
        imap = {}
        if imap_port:
            self._set_password(password)
            # The store's user may not read the checkout.
            program = shutil.copy(IMAPD, self.directory)
            imap = {"imap": ("#imap ", "imap "), "program": ('(?<=")/usr/lib/cyrus/bin/imapd', program),
                    "admin": (r"127\.0\.0\.1:1143", f"127.0.0.1:{imap_port}")}
        (self.directory / "cyrus.conf").write_text(substituted(
            "mail/cyrus/cyrus.conf", **imap,
            configuration=("/etc/imapd.conf", str(self.configuration)),
            http=(r"127\.0\.0\.1:8008", f"127.0.0.1:{port}"),
            lmtp=("/run/cyrus/socket/lmtp", str(self.socket)),
            programs=('(?<=")/usr/lib/cyrus/bin', str(PROGRAMS))))
        if services:
            self._tell(services, secret)
        if os.geteuid() == 0:
            for path in [self.directory, *self.directory.rglob("*")]:
                os.chown(path, self.user.pw_uid, self.user.pw_gid)
        with self.log.open("wb") as log:
            # In a session of its own: at its end the master sends SIGTERM to its process group.
            self.process = subprocess.Popen(
                [PROGRAMS / "master", "-C", self.configuration,
                 "-M", self.directory / "cyrus.conf", "-p", self.directory / "run/pid"],
                cwd=self.directory, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True, **self.identity())
        try:
            await_true(lambda: self.is_running() and listens(port) and listens(self.socket),
                       lambda: f"Cyrus does not listen: {self.log.read_text()}")
            if imap_port:
                await_true(lambda: listens(imap_port), "imapd does not listen")
        except BaseException:
            self.stop()
            raise

    def _set_password(self, password):
        """As docs/mail-stores.md says."""
        assert IMAPD.exists(), "imapd is not there: make test unpacks the package cyrus-imapd"
        subprocess.run(
            ["saslpasswd2", "-p", "-c", "-f", self.directory / "lib/sasldb2", "-u", "mail.example.org",
             "cyrus"], input=password, text=True, check=True, timeout=60,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})

    def _tell(self, services, secret):
        script, file = self.directory / "delivered", self.directory / "secret"
        file.write_text(secret + "\n")
        file.chmod(0o600)
        script.write_text(substituted(
            "mail/cyrus/delivered", postern=(r"127\.0\.0\.1:8081", f"127.0.0.1:{services}"),
            secret=("/etc/postern/services.secret", str(file))))
        script.chmod(0o755)
        more = substituted(
            "mail/cyrus/imapd-delivered.conf",
            script=("/usr/local/lib/postern/delivered", str(script)))
        service = re.search(r"(?m)^#   (notify .*)$", more)[1]
        service = service.replace("/etc/imapd.conf", str(self.configuration))
        service = service.replace("/run/cyrus", f"{self.directory}/run")
        service = service.replace("/usr/lib/cyrus/bin", str(PROGRAMS))
        self.configuration.write_text(self.configuration.read_text() + more)
        processes = self.directory / "cyrus.conf"
        processes.write_text(processes.read_text().replace(
            "SERVICES {\n", f"SERVICES {{\n  {service}\n"))

    def identity(self):
        """Whose rights programs of the store get."""
        libraries = {"env": {**os.environ, "LD_LIBRARY_PATH": f"{UNPACKED}/usr/lib/x86_64-linux-gnu"}}
        found = libraries if UNPACKED else {}
        if os.geteuid() != 0:
            return found
        return {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": [], **found}

    def is_running(self):
        return self.process.poll() is None

    def reload(self):
        """New processes read the key."""
        self.process.send_signal(signal.SIGHUP)

    def deliver(self, recipient, subject, text="Hello.", sender="ada@example.com"):
        """By LMTP, as a mail server does."""
        message = (
            f"From: Ada <{sender}>\r\nTo: <{recipient}>\r\nSubject: {subject}\r\n"
            f"Message-ID: <{time.monotonic_ns()}@example.com>\r\n"
            f"Date: Mon, 23 Nov 2026 00:00:00 +0000\r\n\r\n{text}\r\n")
        self.put(recipient, message, sender)

    def put(self, recipient, message, sender="ada@example.com"):
        """Delivers a message as it is."""
        with smtplib.LMTP(str(self.socket), timeout=60) as lmtp:
            assert lmtp.sendmail(sender, [recipient], message) == {}

    def purge(self, address):
        """Removes all mail from a mailbox, as docs/mail-stores.md says."""
        local, _, domain = address.partition("@")
        for pattern in [f"user/{local}@{domain}", f"user/{local}/*@{domain}"]:
            done = subprocess.run(
                [PROGRAMS / "ipurge", "-C", self.configuration, "-f", "-d", "0", pattern],
                cwd=self.directory, capture_output=True, text=True, timeout=120, **self.identity())
            assert done.returncode == 0, done.stderr

    def stop(self):
        """SIGTERM to the master, which ends its processes."""
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            # A child waits for a client. It must not stay after the tests.
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(60)
        shutil.rmtree(self.directory)


class SubmissionServer:
    """In the place of Postfix, which needs root, with what deploy/mail/cyrus/postfix-master.cf sets:
    it asks sender-policy about each MAIL FROM, and refuses a message that was sent before its turn.

    `taken` are the messages that it would send on: sender, recipients, text."""

    def __init__(self):
        example = (DEPLOY / "mail/cyrus/postfix-master.cf").read_text()
        for option in ["smtpd_sender_restrictions=check_policy_service,",
                       "smtpd_data_restrictions=reject_unauth_pipelining",
                       "smtpd_discard_ehlo_keywords=chunking"]:
            assert f"-o {option}" in example, f"Postfix would not do what this does: {option}"
        self.taken, self.senders = [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.settimeout(60)
            threading.Thread(target=Conversation(self, connection).run, daemon=True).start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Conversation:
    """One connection of Cyrus to the submission server."""

    def __init__(self, server, connection):
        self.server, self.connection, self.buffer = server, connection, b""
        self.sender, self.recipients = None, []

    def line(self):
        """The next line without its end; nothing when the connection has ended."""
        while b"\n" not in self.buffer:
            piece = self.connection.recv(65_536)
            if not piece:
                return None
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode().removesuffix("\r")

    def say(self, *lines):
        self.connection.sendall("".join(f"{line}\r\n" for line in lines).encode())

    def run(self):
        # Cyrus closes the connection at an answer that it does not expect.
        with self.connection, contextlib.suppress(ConnectionError):
            self.say("220 mail.example.org ESMTP")
            while (command := self.line()) is not None and not command.upper().startswith("QUIT"):
                self.answer(command)

    def answer(self, command):
        verb = command.upper()
        if verb.startswith("EHLO"):
            self.say("250-mail.example.org", "250-PIPELINING", "250-SIZE 50000000",
                     "250-AUTH PLAIN", "250 ENHANCEDSTATUSCODES")
        elif verb.startswith("MAIL FROM:"):
            self.server.senders.append(command)
            self.take_sender(command)
        elif verb.startswith("RCPT TO:") and self.sender:
            self.recipients.append(re.match(r"RCPT TO:<([^>]*)>", command, re.I)[1])
            self.say("250 2.1.5 Ok")
        elif verb == "DATA" and self.recipients:
            self.take_message()
        elif verb.startswith(("NOOP", "RSET")):
            self.say("250 2.0.0 Ok")
        else:
            self.say("503 5.5.1 Error: bad sequence of commands")

    def take_sender(self, command):
        address, rest = re.match(r"MAIL FROM:<([^>]*)>(.*)", command, re.I).groups()
        users = [word[5:] for word in rest.split() if word.upper().startswith("AUTH=")]
        if len(users) > 1:
            self.say("503 5.5.4 Error: multiple AUTH= options")
            return
        action = policy(sender=address, sasl_sender="".join(users))
        self.sender, self.recipients = (address if action == "DUNNO" else None), []
        self.say("250 2.1.0 Ok" if self.sender else action)

    def take_message(self):
        if self.buffer:
            self.say("503 5.5.0 <DATA>: Data command rejected: Improper use of SMTP command pipelining")
            return
        self.say("354 End data with <CR><LF>.<CR><LF>")
        text = []
        while (line := self.line()) not in (".", None):
            text.append(line.removeprefix("."))
        if line == ".":
            self.server.taken.append((self.sender, self.recipients, "\n".join(text)))
            self.say("250 2.0.0 Ok: queued")


def policy(**attributes):
    """What sender-policy answers Postfix."""
    request = "".join(f"{name}={value}\n" for name, value in {
        "request": "smtpd_access_policy", "protocol_state": "MAIL", "recipient": "",
        "client_address": "127.0.0.1", "sasl_method": "", "sasl_username": "", **attributes}.items())
    answer = subprocess.run(
        [POLICY], input=request + "\n", capture_output=True, text=True, timeout=60, check=True)
    found = re.fullmatch(r"action=(.*)\n\n", answer.stdout)
    assert found and not answer.stderr, answer
    return found[1]


class JMAPNginx(Nginx):
    """In front of Postern, its services listener and the store, on the ports that `upstream` lists."""

    example = "mail/nginx-jmap.conf"
    # As root it runs under a user that cannot write to the directory of a test.
    more = "client_body_buffer_size 1m;\n"

    def upstream_changes(self, upstream):
        ports = dict(zip(["8080", "8081", "8008"], upstream))
        return {ours: (rf"127\.0\.0\.1:{ours}\b", f"127.0.0.1:{port}")
                for ours, port in ports.items()}
