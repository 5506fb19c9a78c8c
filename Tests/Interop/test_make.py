"""The commands of the Makefile in a fresh clone."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def make(target, **environment):
    return subprocess.run(
        ["make", "--no-print-directory", target],
        cwd=ROOT, env={**os.environ, **environment}, text=True, capture_output=True, timeout=60,
        stdin=subprocess.DEVNULL)


def test_help_names_every_command():
    phony = " ".join(re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M)).split()
    listed = make("help").stdout
    internal = {
        "swift", "packages", "test-tools", "postgres", "browser", "proxies", "mailservers", "operations",
        "packaging", "headers", "libraries"}
    for command in set(phony) - internal:
        assert f"make {command} " in listed


def tools(directory, *names, **scripts):
    """A PATH with the named tools of this machine, and scripts in place of others."""
    for tool in names:
        (directory / tool).symlink_to(shutil.which(tool))
    for tool, script in scripts.items():
        (directory / tool).write_text(f"#!/bin/sh\n{script}\n")
        (directory / tool).chmod(0o755)
    return str(directory)


def test_a_missing_toolchain_is_reported_with_how_to_get_one(tmp_path):
    path = tools(tmp_path, "make", "sh", "bash", "env", "sed", "head", "sort", "cat")
    result = make("build", PATH=path)
    assert result.returncode != 0
    assert "https://www.swift.org/install/linux/" in result.stderr
    assert "command not found" not in result.stderr


def test_a_toolchain_that_is_too_old_is_named(tmp_path):
    old = tools(tmp_path, swift="echo 'Swift version 6.1.2 (swift-6.1.2-RELEASE)'")
    result = make("build", PATH=f"{old}:{os.environ['PATH']}")
    assert result.returncode != 0
    assert "found: 6.1.2" in result.stderr


def test_packages_that_cannot_be_installed_are_listed(tmp_path):
    missing = "case $* in *libscrypt-dev) exit 1;; *) echo installed;; esac"
    path = tools(
        tmp_path, "make", "sh", "bash", "env", **{"dpkg-query": missing, "id": "echo 1000"})
    result = make("packages", PATH=path)
    assert result.returncode != 0
    assert "apt-get update && apt-get install libscrypt-dev\n" in result.stderr


# What installs a package with a unit, its alias, an instance and an init script, and asks whether services may start.
APT_GET = """
[ "$1" = install ] || exit 0
cd "$DPKG_ROOT"
for unit in new.service new@.service; do echo >lib/systemd/system/$unit; done
mkdir -p etc/systemd/system/timers.target.wants
ln -sf /lib/systemd/system/new.service etc/systemd/system/multi-user.target.wants/new.service
ln -sf /lib/systemd/system/new.service etc/systemd/system/alias.service
ln -sf /lib/systemd/system/new@.service etc/systemd/system/timers.target.wants/new@1.service
ln -sf /lib/systemd/system/old.service etc/systemd/system/timers.target.wants/old.service
ln -sf /dev/null etc/systemd/system/masked.service
echo >etc/init.d/new
ln -sf ../init.d/new etc/rc2.d/S01new
for service in old.service old old@1.service new.service new new@1.service; do
    code=0
    usr/sbin/policy-rc.d $service start || code=$?
    echo $service $code >>asked
done
"""
ENABLED = [
    "etc/rc2.d/S01old", "etc/systemd/system/masked.service",
    "etc/systemd/system/multi-user.target.wants/old.service", "etc/systemd/system/timers.target.wants/old.service"]


@pytest.fixture
def system(tmp_path):
    """The root of a system with one service, which is enabled, and a policy that lets it start."""
    root = tmp_path / "root"
    for folder in ["var/lib/dpkg", "lib/systemd/system", "etc/systemd/system/multi-user.target.wants", "etc/init.d",
                   "etc/rc2.d", "usr/sbin"]:
        (root / folder).mkdir(parents=True)
    for file in ["lib/systemd/system/old.service", "lib/systemd/system/old@.service", "etc/init.d/old"]:
        (root / file).touch()
    (root / "etc/rc2.d/S01old").symlink_to("../init.d/old")
    (root / "etc/systemd/system/multi-user.target.wants/old.service").symlink_to("/lib/systemd/system/old.service")
    (root / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 104\n")
    (root / "usr/sbin/policy-rc.d").chmod(0o755)
    return root


def links(root):
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_symlink())


def install(system, end):
    """Runs the install step with a stub of apt-get, which ends as `end` says."""
    stubs = system.parent / "stubs"
    stubs.mkdir(exist_ok=True)
    disable = 'for link in "$DPKG_ROOT"/etc/rc?.d/S??$1; do mv "$link" "${link%/*}/K01$1"; done; echo "$@" >>"$DPKG_ROOT/asked"'
    path = tools(stubs, **{
        "id": "echo 0", "dpkg-query": "exit 1", "apt-get": APT_GET + end, "update-rc.d": disable})
    return subprocess.run(
        [ROOT / ".ci/install-packages", "new"], text=True, capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "DPKG_ROOT": str(system)})


@pytest.mark.parametrize("end, code", [("", 0), ("exit 100", 100), ("kill -TERM $PPID", 143), ("kill -INT $PPID", 130)])
def test_new_services_are_not_enabled_and_others_stay_as_they_are(system, end, code):
    policy = system / "usr/sbin/policy-rc.d"
    before = policy.read_text()
    result = install(system, end)
    assert result.returncode == code, result.stderr
    assert links(system) == ["etc/rc2.d/K01new", *ENABLED]
    assert (system / "asked").read_text().splitlines() == [
        "old.service 104", "old 104", "old@1.service 104", "new.service 101", "new 101", "new@1.service 101",
        "new disable"]
    assert policy.read_text() == before
    assert sorted(os.listdir(policy.parent)) == ["policy-rc.d"]
    assert not (system / "etc/systemd/system/new.service").exists()


def test_the_policy_of_a_run_that_was_killed_is_not_kept(system):
    policy = system / "usr/sbin/policy-rc.d"
    before = policy.read_text()
    assert install(system, "kill -KILL $PPID").returncode == -9
    assert policy.read_text() != before
    assert install(system, "").returncode == 0
    assert policy.read_text() == before


def test_no_policy_is_left_where_there_was_none(system):
    policy = system / "usr/sbin/policy-rc.d"
    policy.unlink()
    assert install(system, "").returncode == 0
    assert "new.service 101" in (system / "asked").read_text()
    assert os.listdir(policy.parent) == []
