"""The Debian package in a Debian of its own: `make test-package`, as root.

In copies of a small Debian the package is installed by apt, with what it depends on; nothing is stubbed but systemctl,
where a test says so. test_systemd.py tests it with systemd.
"""

import re

from debian import SETTINGS

# It notes what it is asked, and says of the service what the file `active` says.
SYSTEMCTL = """#!/bin/sh
echo "$*" >>/asked
case "$*" in
*is-active*) [ -e /active ] ;;
*is-enabled*) echo enabled ;;
esac
"""


def test_it_is_installed_configured_upgraded_removed_and_purged(debian, packages):
    package, newer = packages
    before = debian.files()
    said = debian.install(package)
    assert "Set server.public_url" in said
    assert debian.run("postern", "--version")
    settings = debian.root / "etc/postern/postern.toml"
    settings.write_text(SETTINGS)
    assert debian.answers()
    data = ("--config", "/etc/postern/postern.toml", "--data", "/var/lib/postern")
    # Two domains: that of the settings, and one of the database.
    debian.run("postern", "domain", "add", "mail.example.com", *data, user="postern")
    state = debian.root / "var/lib/postern"
    assert state.stat().st_mode & 0o777 == 0o700 and (state / "postern.db").stat().st_mode & 0o777 == 0o600
    secret = (state / "master.secret").read_bytes()

    debian.run("dpkg", "--install", "--force-confold", "/postern.deb")
    (debian.root / "newer.deb").write_bytes(newer.read_bytes())
    debian.run("dpkg", "--install", "--force-confold", "/newer.deb")
    assert settings.read_text() == SETTINGS
    assert debian.answers()
    assert "mail.example.com" in debian.run("postern", "domain", "list", *data, user="postern")
    assert (state / "master.secret").read_bytes() == secret

    debian.run("apt-get", "remove", "--quiet=2", "--yes", "postern")
    assert not (debian.root / "usr/bin/postern").exists()
    assert (state / "master.secret").read_bytes() == secret and settings.read_text() == SETTINGS
    debian.run("apt-get", "purge", "--quiet=2", "--yes", "postern")
    assert debian.files() == before
    assert "postern" in (debian.root / "etc/passwd").read_text()


def test_it_is_installed_where_proc_is_not_mounted(debian, packages):
    debian.has_proc = False
    debian.install(packages[0])
    state = (debian.root / "var/lib/postern").stat()
    found = re.search("^postern:[^:]*:([0-9]+):([0-9]+):", (debian.root / "etc/passwd").read_text(), re.M)
    assert (state.st_uid, state.st_gid, state.st_mode & 0o777) == (int(found[1]), int(found[2]), 0o700)
    debian.has_proc = True
    (debian.root / "etc/postern/postern.toml").write_text(SETTINGS)
    assert debian.answers()


def test_the_service_is_started_restarted_and_stopped(debian, packages):
    """With a systemctl that notes what it is asked, because no systemd runs here."""
    package, newer = packages
    debian.install(package)
    program = debian.root / "usr/bin/systemctl"
    program.unlink()
    program.write_text(SYSTEMCTL)
    program.chmod(0o755)
    (debian.root / "usr/sbin/policy-rc.d").unlink()
    (debian.root / "run/systemd/system").mkdir(parents=True)
    (debian.root / "newer.deb").write_bytes(newer.read_bytes())

    def asked(*command):
        (debian.root / "asked").write_text("")
        debian.run(*command)
        lines = (debian.root / "asked").read_text().splitlines()
        return [line for line in lines if re.search(r"\b(start|restart|stop|daemon-reload)\b", line)]

    # Not before it is configured: production refuses the defaults.
    install = ("dpkg", "--install", "--force-confold", "/newer.deb")
    assert not any("start" in line for line in asked(*install))
    (debian.root / "etc/postern/postern.toml").write_text(SETTINGS)
    started = asked(*install)
    assert "daemon-reload" in started[-2] and re.search(r"\bstart .*postern.socket postern.service", started[-1])
    (debian.root / "active").write_text("")
    assert re.search(r"\brestart postern.service", asked(*install)[-1])
    removed = asked("dpkg", "--remove", "postern")
    assert re.search(r"\bstop .*postern.service postern.socket", removed[0]) and "daemon-reload" in removed[-1]
    # Again, with the settings that were left.
    (debian.root / "active").unlink()
    assert re.search(r"\bstart .*postern.socket postern.service", asked(*install)[-1])
    asked("dpkg", "--purge", "postern")
    assert not (debian.root / "etc/postern").exists() and not (debian.root / "var/lib/postern").exists()
