"""The commands of the Makefile, as somebody meets them who has just cloned the repository."""

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
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M).group(1).split()
    listed = make("help").stdout
    for command in set(phony) - {"swift", "packages"}:
        assert f"make {command} " in listed


def test_a_missing_toolchain_is_told_how_to_be_had(tmp_path):
    for tool in ["make", "sh", "bash", "env", "sed", "head", "sort", "cat"]:
        (tmp_path / tool).symlink_to(shutil.which(tool))
    result = make("build", PATH=str(tmp_path))
    assert result.returncode != 0
    assert "https://www.swift.org/install/linux/" in result.stderr
    assert "command not found" not in result.stderr


def test_a_toolchain_that_is_too_old_is_named(tmp_path):
    old = tmp_path / "swift"
    old.write_text("#!/bin/sh\necho 'Swift version 6.1.2 (swift-6.1.2-RELEASE)'\n")
    old.chmod(0o755)
    result = make("build", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert result.returncode != 0
    assert "found: 6.1.2" in result.stderr
