"""The Debian package in a machine that systemd boots (systemd-nspawn): `make test-package`, as root."""

import json
import re

import pytest

from debian import ROOT, SETTINGS, Debian, done
from machine import SETTINGS_FILE, Machine
from program import NOT_RELOADED, RELOADED, await_true

ACCOUNT = "ada@example.org"


@pytest.fixture(scope="session")
def installed(base, packages, tmp_path_factory):
    """A Debian with systemd and the package, configured, and the files that were there before the package."""
    folder = tmp_path_factory.mktemp("installed")
    debian = Debian(folder / "root", base)
    # Services may start.
    (debian.root / "usr/sbin/policy-rc.d").unlink()
    debian.run("apt-get", "install", "--quiet=2", "--yes", "--no-install-recommends", "systemd-sysv")
    before = debian.files()
    debian.install(packages[0])
    (debian.root / SETTINGS_FILE).write_text(SETTINGS)
    done("tar", "--create", "--file", folder / "root.tar", "--directory", debian.root, ".")
    return folder / "root.tar", before


@pytest.fixture
def boot(installed, tmp_path):
    """Boots the machine, and boots it again if it is stopped."""
    debian, machines = Debian(tmp_path / "machine", installed[0]), []

    def boot():
        machines.append(Machine(debian))
        return machines[-1]

    yield boot
    for machine in machines:
        machine.stop()


def test_it_is_started_at_boot_and_by_a_connection_to_its_socket(boot):
    machine = boot()
    assert machine.run("systemctl", "is-active", "postern.socket", "postern.service") == "active\nactive\n"
    assert machine.answers()
    machine.run("systemctl", "stop", "postern.service")
    assert machine.show("MainPID") == "0"
    assert machine.answers()
    assert machine.show("MainPID") != "0"


def test_a_reload_a_restart_and_an_upgrade_under_load_lose_no_request(boot, packages):
    machine = boot()
    (machine.debian.root / "newer.deb").write_bytes(packages[1].read_bytes())
    with machine.load() as await_answers:
        await_answers()
        for count in (1, 2):
            before = machine.show("MainPID")
            machine.run("systemctl", "reload", "postern.service")
            machine.await_message(RELOADED, count)
            await_answers()
            assert machine.show("MainPID") == before
            machine.run("systemctl", "restart", "postern.service")
            await_answers()
            assert machine.show("MainPID") not in ("0", before)
        before = machine.show("MainPID")
        machine.run("dpkg", "--install", "--force-confold", "/newer.deb")
        await_answers()
        assert machine.show("MainPID") not in ("0", before)
    assert machine.show("NRestarts") == "0"


@pytest.mark.parametrize("signal", ["KILL", "STOP"])
def test_a_server_that_was_killed_or_hangs_is_started_again(boot, signal):
    machine = boot()
    before = machine.show("MainPID")
    machine.run("systemctl", "kill", "--kill-whom=main", f"--signal={signal}", "postern.service")
    # One that hangs is found by the watchdog, WatchdogSec= after its last sign of life.
    await_true(lambda: machine.show("MainPID") not in ("0", before), machine.journal)
    assert machine.answers()
    assert machine.show("NRestarts") == "1"


def test_the_journal_has_json_lines_only(boot):
    machine = boot()
    machine.run("systemctl", "reload", "postern.service")
    machine.await_message(RELOADED)
    (machine.debian.root / SETTINGS_FILE).write_text("limits.pro_per_second = 0")
    machine.run("systemctl", "reload", "postern.service")
    machine.await_message(NOT_RELOADED)
    (machine.debian.root / SETTINGS_FILE).write_text(SETTINGS)
    machine.run("systemctl", "restart", "postern.service")
    # The work of every pool.
    machine.answers()
    machine.run("systemctl", "stop", "postern.socket", "postern.service")
    machine.await_message("stopped", 2)
    for line in machine.journal():
        assert line.startswith("{") and json.loads(line), line


def test_the_exposure_is_the_documented_one(boot):
    said = boot().run("systemd-analyze", "security", "--no-pager", "postern.service")
    found = re.search(r"Overall exposure level for postern.service: (\S+)", said)
    shown = re.search(r"`systemd-analyze security` \D*(\d+\.\d+)", (ROOT / "docs/operators.md").read_text())
    assert float(found[1]) <= float(shown[1]), said


def test_accounts_survive_a_boot_and_nothing_survives_a_purge(boot, installed):
    machine = boot()
    machine.postern("account", "add", ACCOUNT, "--password-stdin", stdin=None, input="correct horse battery staple\n")
    machine.stop()
    machine = boot()
    assert machine.answers()
    assert ACCOUNT in machine.postern("account", "list")
    machine.run("apt-get", "purge", "--quiet=2", "--yes", "postern")
    assert machine.debian.files() == installed[1]
    assert machine.run("systemctl", "list-units", "--all", "--plain", "--no-legend", "postern*") == ""
    machine.stop()
    # Nor is anything left for the next boot.
    assert "postern" not in boot().run("systemctl", "--failed", "--plain", "--no-legend")
