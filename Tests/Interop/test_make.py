"""The commands of the Makefile in a fresh clone."""

import os
import pathlib
import re
import shutil
import subprocess

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
        "packaging"}
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
