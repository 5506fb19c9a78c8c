"""The Debian package in a Debian of its own: `make test-package`, as root.

A small Debian is made by debootstrap from the mirror that apt uses on this machine, and kept in .build. In copies of it
the package is installed by apt, with what it depends on; nothing is stubbed but systemctl, where a test says so.
"""

import os
import pathlib
import re
import select
import subprocess
import sys
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "Tests/Interop"))

from program import READY, START_SECONDS, done  # noqa: E402

BINARY = pathlib.Path(os.environ["BINARY"]).resolve()
CODENAME = re.search(r"^VERSION_CODENAME=(\w+)$", pathlib.Path("/etc/os-release").read_text(), re.M)[1]
BASE = ROOT / f".build/debian-{CODENAME}.tar"
SETTINGS = """
[server]
public_url = "https://auth.example.org"
drain_delay = "0s"
[mail]
domains = ["example.org"]
[hash_login]
issuer = "https://auth.example.org"
"""
# It notes what it is asked, and says of the service what the file `active` says.
SYSTEMCTL = """#!/bin/sh
echo "$*" >>/asked
case "$*" in
*is-active*) [ -e /active ] ;;
*is-enabled*) echo enabled ;;
esac
"""


def mirrors():
    """(URL, suite, component) of every source of Debian's packages that apt has here."""
    format = "$(REPO_URI)\t$(CODENAME)\t$(COMPONENT)"
    listed = done("apt-get", "indextargets", "--format", format, "Created-By: Packages", "Origin: Debian")
    found = list(dict.fromkeys(tuple(line.split("\t")) for line in listed.splitlines()))
    assert CODENAME in {suite for _, suite, _ in found}, "apt has no lists of Debian's packages: apt-get update"
    return found


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    if not BASE.exists():
        BASE.parent.mkdir(exist_ok=True)
        url = next(url for url, suite, _ in mirrors() if suite == CODENAME)
        folder = tmp_path_factory.mktemp("base") / "root"
        done("debootstrap", "--variant=minbase", CODENAME, folder, url)
        (folder / "etc/apt/sources.list").write_text("".join(f"deb {' '.join(one)}\n" for one in mirrors()))
        # How this machine reaches the mirror.
        (folder / "etc/apt/apt.conf.d/80machine").write_text(done("apt-config", "dump", "Acquire::http", "Acquire::https"))
        (folder / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
        (folder / "usr/sbin/policy-rc.d").chmod(0o755)
        done("chroot", folder, "apt-get", "update", "--quiet=2")
        part = BASE.with_suffix(".part")
        done("tar", "--create", "--file", part, "--directory", folder, ".")
        part.rename(BASE)
    return BASE


class Debian:
    """A copy of the base. Each command sees /dev and /proc of this machine, in a mount namespace of its own."""

    def __init__(self, root, base):
        root.mkdir()
        done("tar", "--extract", "--file", base, "--directory", root)
        self.root = root

    def command(self, *words, user="root"):
        mounts = 'mount --bind /dev "$1/dev" && mount -t proc proc "$1/proc" && shift && exec chroot "$@"'
        return ["unshare", "--mount", "sh", "-c", mounts, "sh", str(self.root), f"--userspec={user}", str(self.root), *words]

    def run(self, *words, user="root"):
        return done(*self.command(*words, user=user), env={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8",
            **{name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}})

    def install(self, package):
        (self.root / "postern.deb").write_bytes(package.read_bytes())
        return self.run("apt-get", "install", "--quiet=2", "--yes", "--no-install-recommends", "/postern.deb")

    def answers(self):
        """Whether the installed program serves as the unit starts it, as its user, until it is stopped."""
        unit = self.run("cat", "/usr/lib/systemd/system/postern.service")
        start = re.search("^ExecStart=(.*)$", unit, re.M)[1].split()
        process = subprocess.Popen(
            self.command(*start, "--port", "0", user="postern"), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            readable, _, _ = select.select([process.stdout], [], [], START_SECONDS)
            line = process.stdout.readline() if readable else ""
            ready = READY.fullmatch(line)
            assert ready, process.kill() or process.communicate()
            with urllib.request.urlopen(f"http://127.0.0.1:{ready[3]}/readyz", timeout=60) as answer:
                return answer.status == 200
        finally:
            process.terminate()
            process.communicate(timeout=60)

    def files(self):
        """Every file of which the name or the folder says that it is ours."""
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*postern*")
                if path.name != "postern.deb" and not str(path.relative_to(self.root)).startswith("proc/")}


@pytest.fixture
def debian(base, tmp_path):
    return Debian(tmp_path / "debian", base)


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """The package, and the same as a later version whose defaults are others."""
    folder = tmp_path_factory.mktemp("packages")
    # How the packages are compressed is not tested.
    quick = {**os.environ, "DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
    done("make", "--no-print-directory", "deb", f"BINARY={BINARY}", f"OUTPUT={folder}", cwd=ROOT, env=quick)
    package = next(folder.glob("*.deb"))
    done("dpkg-deb", "--raw-extract", package, folder / "parts")
    control = folder / "parts/DEBIAN/control"
    control.write_text(re.sub("(?m)^Version: .*$", "Version: 99.0-1", control.read_text()))
    with (folder / "parts/etc/postern/postern.toml").open("a") as settings:
        settings.write("\n# Something new.\n")
    done("dpkg-deb", "--root-owner-group", "--build", folder / "parts", folder / "newer.deb", env=quick)
    return package, folder / "newer.deb"


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
