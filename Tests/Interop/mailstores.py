"""Mail servers of Debian in front of which Postern stands, with the configurations of deploy/mail/.

A configuration is used as it stands, but for the paths, ports and names that are given to `configured`;
what a server needs to run beside others and without root is in a file of its own.
"""

import base64
import contextlib
import grp
import imaplib
import os
import pathlib
import pwd
import random
import shutil
import socket
import ssl
import subprocess
import tempfile
import time

from program import ROOT

DEPLOY = ROOT / "deploy/mail"
SEARCH_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
HOST = "mail.example.org"
SECRET = "the-services-secret"
START_SECONDS = 60


def require(program, packages):
    found = shutil.which(program, path=SEARCH_PATH)
    assert found, f"{program} is not installed: `make test` installs {packages}"
    return found


def free_port():
    """Below the ports that the kernel gives to clients, so that none has it before the server."""
    while True:
        port = random.randrange(12_000, 32_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def account():
    """The user and group that the servers run as: those of Postfix when root starts them, so that
    Dovecot may make its sockets in the directory of Postfix."""
    if os.geteuid() == 0:
        require("postfix", "postfix")
        return "postfix", "postfix"
    user = pwd.getpwuid(os.geteuid())
    return user.pw_name, grp.getgrgid(user.pw_gid).gr_name


def as_user():
    user, group = account()
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid", user, "--regid", group, "--clear-groups"]


def configured(name, **changes):
    """The file of deploy/mail/ with each text replaced; one that it does not have fails the test."""
    content = (DEPLOY / name).read_text()
    for old, new in changes.values():
        assert old in content, f"{name} has no {old!r}"
        content = content.replace(old, str(new))
    return content


@contextlib.contextmanager
def directory():
    """A directory that the servers' user may enter: pytest's are for its own user only. Its path is
    short, because the path of a unix socket has at most 107 bytes."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="mail-"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path)


def owned(path):
    """The same directory, given to the servers' user."""
    path.mkdir(exist_ok=True)
    shutil.chown(path, *account())
    return path


def await_port(port, process, logs):
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            return
        except OSError:
            said = "".join(log.read_text(errors="replace") for log in logs if log.exists())
            assert process.poll() is None and time.monotonic() < deadline, said
            time.sleep(0.05)


class Daemon:
    """A running server. Ends by its process id; it ends its own processes."""

    def start(self, command, port, *logs):
        with logs[0].open("ab") as sink:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink,
                env={"PATH": SEARCH_PATH, "HOME": "/"})
        try:
            await_port(port, self.process, logs)
        except BaseException:
            self.stop()
            raise

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        finally:
            self.process.kill()


class Dovecot(Daemon):
    """`services` is the port of the services listener, `more` what follows the configuration. With
    `mailboxes`, the state directory of a mailbox receiver, it has doveadm's HTTP API on `api_port`,
    with `SECRET` as the key."""

    def __init__(self, place, authority, services, local_keys=None, issuer="", private=None,
                 mailboxes=None, more=""):
        require("dovecot", "dovecot-imapd dovecot-lmtpd dovecot-auth-lua lua-socket lua-cjson")
        self.place = owned(place)
        self.port, self.plain_port = free_port(), free_port()
        self.log = place / "dovecot.log"
        self.private = private or owned(place / "private")
        user, group = account()
        authority.context(HOST)
        certificate = place / "certificate.pem"
        shutil.copy(authority.directory / f"{HOST}.pem", certificate)
        shutil.chown(certificate, user, group)
        (place / "postern.lua").write_text(configured(
            "postern.lua", services=("127.0.0.1:8081", f"127.0.0.1:{services}")))
        oauth2 = configured(
            "dovecot-oauth2.conf.ext", services=("127.0.0.1:8081", f"127.0.0.1:{services}"))
        if local_keys:
            oauth2 = configured(
                "dovecot-oauth2-local.conf.ext", keys=("prefix=/etc/dovecot/keys/", f"prefix={local_keys}/"),
                issuer=("https://auth.example.org", issuer))
        (place / "dovecot-oauth2.conf.ext").write_text(oauth2)
        (place / "deploy.conf").write_text(configured(
            "dovecot.conf", certificate=("/etc/ssl/certs/mail.example.org.pem", certificate),
            key=("/etc/ssl/private/mail.example.org.key", certificate),
            files=("/etc/dovecot/", f"{place}/"), mail=("/var/mail/postern", place / "mail"),
            owners=("mail_gid = vmail", f"mail_gid = {group}"), group_of_mail=("gid=vmail", f"gid={group}"),
            owner=("vmail", user), port=("port = 993", f"port = {self.port}"),
            nginx=("port = 1143", f"port = {self.plain_port}"),
            private=("/var/spool/postfix/private", self.private),
            user=("user = postfix", f"user = {user}"), group=("group = postfix", f"group = {group}")))
        if mailboxes:
            self._write_provisioning(mailboxes)
        # Beside other servers, and without root.
        (place / "dovecot.conf").write_text(f"""
base_dir = {place}/run
state_dir = {place}/state
log_path = {self.log}
listen = 127.0.0.1
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
service anvil {{
  chroot =
  # All clients of the tests come from this machine: failures of one test must not slow another.
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service imap-login {{
  chroot =
}}
auth_failure_delay = 0
!include {place}/deploy.conf
{more}
""")
        self.restart()

    def restart(self):
        self.start(
            [*as_user(), "dovecot", "-F", "-c", str(self.place / "dovecot.conf")], self.port,
            self.place / "output", self.log)

    def _write_provisioning(self, mailboxes):
        self.api_port = free_port()
        (self.place / "dovecot-provisioning.conf").write_text(configured(
            "dovecot-provisioning.conf", key=("the-doveadm-key", SECRET),
            port=("port = 8092", f"port = {self.api_port}"), files=("/etc/dovecot/", f"{self.place}/")))
        for name in ["dovecot-locked.conf.ext", "dovecot-quota.conf.ext"]:
            (self.place / name).write_text(
                configured(name, state=("/var/lib/postern-mailboxes/", f"{mailboxes}/")))

    def administrate(self, *arguments):
        """doveadm, as the operator uses it."""
        return subprocess.run(
            [*as_user(), "doveadm", "-c", str(self.place / "dovecot.conf"), *arguments],
            text=True, capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
            env={"PATH": SEARCH_PATH, "HOME": "/"})


class Postfix(Daemon):
    """Its master runs as root, everything else as Debian's user for it; the queue, the log and the
    configuration are in a directory of their own."""

    def __init__(self, place, authority, socketmap):
        require("postfix", "postfix")
        place.mkdir()
        self.port, self.submission, self.submissions = free_port(), free_port(), free_port()
        self.queue, self.log = place / "queue", place / "maillog"
        authority.context(HOST)
        certificate = place / "certificate.pem"
        shutil.copy(authority.directory / f"{HOST}.pem", certificate)
        certificate.chmod(0o600)
        self._make_queue(place)
        main = configured(
            "postfix-main.cf",
            socketmap=("unix:/run/postern/socketmap", socketmap),
            listen=("inet_interfaces = all", "inet_interfaces = 127.0.0.1"),
            certificate=("/etc/ssl/certs/mail.example.org.pem", certificate),
            key=("/etc/ssl/private/mail.example.org.key", certificate))
        (place / "main.cf").write_text(main + f"""
# Beside another Postfix.
queue_directory = {self.queue}
data_directory = {place}/data
maillog_file = {self.log}
maillog_file_prefixes = {place}
inet_protocols = ipv4
""")
        (place / "master.cf").write_text(configured(
            "postfix-master.cf", smtp=("smtp       inet", f"{self.port} inet"),
            submission=("submission inet", f"{self.submission} inet"),
            submissions=("submissions inet", f"{self.submissions} inet")))
        self.start(
            ["/usr/lib/postfix/sbin/master", "-c", str(place)], self.port, place / "output",
            self.log)

    def _make_queue(self, place):
        owned(place / "data")
        self.queue.mkdir()
        (self.queue / "pid").mkdir()
        for name in ("active bounce corrupt defer deferred flush hold incoming private saved trace "
                     "maildrop public").split():
            owned(self.queue / name).chmod(0o700)
        for name, mode in (("maildrop", 0o730), ("public", 0o710)):
            shutil.chown(self.queue / name, "postfix", "postdrop")
            (self.queue / name).chmod(mode)
        self.log.touch()

    @property
    def private(self):
        return self.queue / "private"


class From:
    """Connects from an address of our choice: all of 127.0.0.0/8 is this machine."""

    def __init__(self, authority):
        self.context = ssl.create_default_context(cafile=str(authority.file))

    def imap(self, port, source="127.0.0.1"):
        return IMAP(port, source, self.context)


class IMAP(imaplib.IMAP4):
    def __init__(self, port, source, context):
        self.where = source, context
        super().__init__("127.0.0.1", port, 60)

    def _create_socket(self, timeout):
        source, context = self.where
        plain = socket.create_connection(
            ("127.0.0.1", self.port), timeout, source_address=(source, 0))
        return context.wrap_socket(plain, server_hostname=HOST)

    def bearer(self, mechanism, user, token):
        """Logs in with a token (RFC 7628, or the older XOAUTH2)."""
        first = initial_response(mechanism, user, token)
        answers = iter([first])
        # After an error message in a challenge the client sends a dummy response.
        return self.authenticate(mechanism, lambda _: next(answers, b"\x01"))

    def quota(self):
        """The limit of the mailbox in KiB."""
        _, (_, [limit]) = self.getquotaroot("INBOX")
        return int(limit.rpartition(b" ")[2].rstrip(b")"))


def initial_response(mechanism, user, token):
    if mechanism == "XOAUTH2":
        return f"user={user}\x01auth=Bearer {token}\x01\x01".encode()
    return f"n,a={user},\x01auth=Bearer {token}\x01\x01".encode()


def coded(response):
    return base64.b64encode(response).decode()
