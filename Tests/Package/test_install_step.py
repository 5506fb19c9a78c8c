"""`.ci/install-packages` with packages of Debian that bring services, in a Debian of its own."""

import pytest

from debian import ROOT, Debian

ENABLED = "find /etc/systemd /etc/rc?.d -type l ! -name 'K*' | sort"


@pytest.fixture
def system(tmp_path, base):
    system = Debian(tmp_path / "root", base)
    # Where services may start, and one is there that does at the next boot.
    (system.root / "usr/sbin/policy-rc.d").unlink()
    system.run("apt-get", "install", "--quiet=2", "--yes", "--no-install-recommends", "cron")
    (system.root / "install-packages").write_bytes((ROOT / ".ci/install-packages").read_bytes())
    (system.root / "install-packages").chmod(0o755)
    return system


def test_services_of_packages_are_neither_enabled_nor_started(system):
    before = system.run("sh", "-c", ENABLED)
    assert "cron.service" in before and "rc2.d/S01cron" in before
    # An init system is there: invoke-rc.d starts services then.
    (system.root / "sbin/init").touch()
    system.run("/install-packages", "haproxy", "cron")
    assert system.run("sh", "-c", ENABLED) == before
    assert system.run("sh", "-c", "ls /etc/rc2.d").split() == ["K01haproxy", "S01cron"]
    assert not (system.root / "run/haproxy.pid").exists()
    assert not (system.root / "usr/sbin/policy-rc.d").exists()
    # Another version of the package is configured as the first one was, and enables nothing.
    system.run("apt-get", "install", "--quiet=2", "--yes", "--reinstall", "haproxy")
    assert system.run("sh", "-c", ENABLED) == before
