"""docs/one-machine.md: `make test-mail`, as root. Its commands are run in a Debian that systemd has booted."""

import json
import pathlib
import re

import pytest

from debian import ROOT, Debian
from machine import Machine
from mailboxes import PASSWORD
from program import await_true

CLIENT = pathlib.Path(__file__).with_name("mailclient.py")
PAGE = (ROOT / "docs/one-machine.md").read_text()
UNITS = ["postern*", "mailbox-receiver*", "postfix*", "dovecot*", "cyrus*", "nginx*"]
DOVECOT, _, CYRUS = PAGE.partition("\n## With Cyrus IMAP instead\n")


def section(heading):
    return re.search(rf"^## {heading}\n(.*?)^## ", DOVECOT, re.M | re.S)[1]


def blocks(text):
    return re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)


class Site:
    """The machine of the page."""

    def __init__(self, debian, package, commands):
        (debian.root / "usr/sbin/policy-rc.d").unlink()
        debian.run("apt-get", "install", "--quiet=2", "--yes", "--no-install-recommends", "systemd-sysv", "dbus")
        (debian.root / "root/postern.deb").write_bytes(package.read_bytes())
        # The machine has no network: what it installs is in apt's cache.
        for block in commands:
            if "apt-get install" in block:
                debian.run("bash", "-euo", "pipefail", "-c", block.replace("apt-get install", "apt-get install --download-only"))
        self.machine = Machine(debian)
        self.certificate = debian.root / "root/ca/ca.pem"

    def follow(self, commands):
        for block in commands:
            self.machine.run("bash", "-euo", "pipefail", "-c", block, timeout=120)

    def ask(self, *words):
        return json.loads(self.machine.client(CLIENT, self.certificate, *words))

    def failed(self):
        """The units of the page that do not run."""
        return self.machine.run("systemctl", "list-units", "--failed", "--plain", "--no-legend", *UNITS)

    def await_event(self, address, kind):
        def receiver():
            return self.machine.journal("mailbox-receiver.service")
        await_true(lambda: any(f"{address} {kind}: done" in line for line in receiver()), receiver)


@pytest.fixture
def follow(base, packages, tmp_path):
    """Runs the commands in a new Debian."""
    sites = []

    def follow(commands):
        sites.append(Site(Debian(tmp_path / "machine", base), packages[0], commands))
        sites[0].follow(commands)
        return sites[0]

    yield follow
    for site in sites:
        site.machine.stop()


def test_mail_arrives_and_is_read_with_dovecot(follow):
    site = follow(blocks(DOVECOT))
    address, other = "ada@example.org", "grace@example.org"
    made = site.ask("signup", address)
    site.machine.postern("account", "add", other, "--password-stdin", stdin=None, input=PASSWORD)
    # Before the first login.
    site.await_event(address, "account_created")
    home = site.machine.debian.root / "var/mail/postern/example.org/ada"
    assert (home / "Maildir").is_dir()
    assert site.ask("deliver", address, "hello") == 250
    assert site.ask("read", address, "hello") == 1
    assert site.ask("read", address, "hello", made["token"]) == 1
    assert site.ask("deliver", "nobody@example.org", "hello") == 550
    site.ask("submit", address, other, "answer")
    assert site.ask("read", other, "answer") == 1

    site.machine.postern("account", "quota", address, "104857600")
    site.await_event(address, "quota_changed")
    assert site.ask("quota", address) == 102_400
    site.machine.postern("account", "disable", address)
    site.await_event(address, "account_disabled")
    assert site.ask("refused", address) and site.ask("deliver", address, "late") == 550
    site.machine.postern("account", "enable", address)
    site.await_event(address, "account_enabled")
    assert site.ask("read", address, "hello") == 1
    site.machine.postern("account", "delete", address)
    site.await_event(address, "account_deleted")
    assert not home.exists()
    assert site.failed() == ""


def test_mail_arrives_and_is_read_with_cyrus(follow):
    packages, *changed, check = blocks(CYRUS)
    secrets, *_ = blocks(section("Postern"))
    site = follow([packages, *blocks(section("A certificate")), secrets, *changed, check])
    address = "ada@example.org"
    made = site.ask("signup", address)
    site.await_event(address, "account_created")
    assert site.ask("mailboxes", made["token"]) == ["drafts", "inbox", "junk", "sent", "trash"]
    assert site.ask("deliver", address, "hello") == 250
    assert site.ask("subjects", made["token"], "1") == ["hello"]
    assert site.ask("deliver", "nobody@example.org", "hello") == 550
    site.ask("send", made["token"], address, "postmaster@example.org", "answer")
    postmaster = site.ask("login", "postmaster@example.org", "a good password")
    assert site.ask("subjects", postmaster, "2") == ["The first", "answer"]

    site.machine.postern("key", "rotate", "--use", "capability", "--leaked")
    await_true(lambda: site.ask("reads", made["token"]), "Cyrus IMAP does not accept the new key", pause=1)
    site.machine.postern("account", "disable", address)
    site.await_event(address, "account_disabled")
    assert site.ask("deliver", address, "late") == 550
    site.machine.postern("account", "delete", address)
    site.await_event(address, "account_deleted")
    assert site.failed() == ""
