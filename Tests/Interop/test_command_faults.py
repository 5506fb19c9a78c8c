"""Messages and exit codes of commands that fail."""

import os
import pty
import sqlite3
import subprocess

import pytest
import requests

from program import BINARY, environment, run


def words(data):
    return ["--profile", "test", "--data", data]


def test_a_missing_directory_is_reported_and_not_created(tmp_path):
    for command in [["backup", "copy.db"], ["account", "list"], ["key", "rotate", "--use", "login"],
                    ["user", "disable", "a@b.test"], ["audit", "export"]]:
        result = run(*command, *words("typo"), directory=tmp_path)
        assert result.returncode == 78, command
        assert "there is no database typo/postern.db" in result.stderr
    assert list(tmp_path.iterdir()) == []
    # Commands that add something create the database, and report that once.
    for told in [True, False]:
        added = run("domain", "add", f"{told}.test", *words("typo"), directory=tmp_path)
        assert added.returncode == 0
        assert ("created the database typo/postern.db" in added.stderr) == told


def test_output_that_cannot_be_written_is_an_error(start, tmp_path):
    data = tmp_path / "data"
    server = start("--data", str(data))
    # The first key is made.
    assert requests.get(f"{server.url}/.well-known/jwks.json", timeout=60).status_code == 200
    run("user", "add", "a@b.test", "--password-stdin", *words(data), directory=tmp_path,
        stdin="propassword\n")
    for command in [["check-config"], ["user", "list"], ["key", "list"], ["domain", "list"],
                    ["audit", "export"]]:
        with open("/dev/full", "w") as full:
            result = subprocess.run(
                [str(BINARY), *command, *words(data)], cwd=tmp_path, env=environment(),
                stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert result.returncode == 69, command
        assert "cannot write to standard output: No space left on device" in result.stderr


@pytest.mark.parametrize("password, problem", [
    ("7-seven", "at least 8 characters"), ("Football", "one of the most common"),
    ("a@b.test", "the user's email")])
def test_a_bad_password_of_a_user_is_refused(tmp_path, password, problem):
    result = run("user", "add", "a@b.test", "--password-stdin", *words(tmp_path / "data"),
                 directory=tmp_path, stdin=password + "\n")
    assert result.returncode == 1 and problem in result.stderr


def test_a_locked_database_is_reported_as_busy(start, tmp_path):
    data = tmp_path / "data"
    start("--data", str(data))
    other = sqlite3.connect(data / "postern.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    result = run("domain", "add", "a.test", *words(data), directory=tmp_path)
    other.close()
    assert result.returncode == 69
    assert result.stderr.startswith("the database is busy") and "try again" in result.stderr


@pytest.mark.parametrize("command, wanted", [
    (["solve"], "the challenge JWT"), (["account", "usage", "--stdin"], "lines of ADDRESS BYTES"),
])
def test_a_command_that_reads_a_terminal_says_what_it_waits_for(start, tmp_path, command, wanted):
    data = tmp_path / "data"
    start("--data", str(data))
    outside, inside = pty.openpty()
    flags = [] if command == ["solve"] else words(data)
    with subprocess.Popen([str(BINARY), *command, *flags], stdin=inside, stdout=inside,
                          stderr=inside, cwd=tmp_path, env=environment()) as waiting:
        said = b""
        while b"Ctrl-D" not in said:
            said += os.read(outside, 100)
        os.write(outside, b"\x04")
        waiting.wait(30)
    assert f"reading {wanted} from standard input".encode() in said


def test_a_missing_master_secret_file_is_named(tmp_path):
    result = run("serve", "--port", "0", *words(tmp_path / "data"), directory=tmp_path,
                 POSTERN_MASTER_SECRET_FILE="")
    assert result.returncode == 78
    assert 'the master secret \\"\\", which POSTERN_MASTER_SECRET_FILE names' in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["[", "[!server]", "a = [}", "server.port = 1 ["])
def test_a_file_that_is_not_toml_is_a_fault(tmp_path, text):
    (tmp_path / "a.toml").write_text(text + "\n")
    result = run("check-config", "--config", "a.toml", directory=tmp_path)
    assert result.returncode == 78
    assert "not TOML" in result.stderr and "https://toml.io" in result.stderr


def test_check_config_warns_about_secrets_that_others_can_read(start, tmp_path):
    data = tmp_path / "data"
    start("--data", str(data)).stop()
    services = tmp_path / "services"
    services.write_text("0123456789abcdef\n")
    settings = {"POSTERN_SERVICES_LISTEN": "127.0.0.1:81",
                "POSTERN_SERVICES_SECRET_FILE": str(services)}
    for mode, count in [(0o600, 0), (0o640, 2), (0o604, 2)]:
        services.chmod(mode)
        (data / "master.secret").chmod(mode)
        result = run("check-config", *words(data), directory=tmp_path, **settings)
        warnings = [line for line in result.stderr.splitlines() if line.startswith("warning: ")]
        assert result.returncode == 0 and len(warnings) == count, result.stderr
        if count:
            assert "master.secret" in warnings[0] and str(services) in warnings[1]
            assert all(f"mode 0{mode:o}" in line and "chmod" in line for line in warnings)
