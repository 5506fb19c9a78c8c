"""What the documents tell a reader to type, run as a reader would who copies it."""

import json
import re
import socket
import subprocess

import pytest

from program import BINARY, ROOT, environment

README = (ROOT / "README.md").read_text()
INTEGRATORS = (ROOT / "docs/integrators.md").read_text()
HERE = "http://127.0.0.1:8080"


@pytest.fixture
def checkout(tmp_path):
    """A directory that looks like a built checkout to the commands of the README."""
    built = tmp_path / ".build" / "debug"
    built.mkdir(parents=True)
    (built / "postern").symlink_to(BINARY)
    return tmp_path


def follow(block, postern, checkout):
    assert HERE in block
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.replace(HERE, postern.url)], cwd=checkout,
        env=environment(), text=True, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)


def test_the_curl_sequence_leads_to_the_mailbox(postern, checkout):
    block = re.search(r"<!-- The test suite runs this .*-->\n```sh\n(.*?)```", README, re.S)[1]
    result = follow(block, postern, checkout)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["username"] == "curlagent@mail.test"
    assert json.loads((checkout / "account.json").read_text())["apiKey"]


def test_the_signup_command_writes_credentials(postern, checkout):
    block = re.search(r"```sh\n(\.build/debug/postern signup .*?)```", README, re.S)[1]
    result = follow(block, postern, checkout)
    assert result.returncode == 0, result.stderr
    assert "myagent@mail.test" in result.stdout + result.stderr


def test_the_hash_login_by_curl_registers_logs_in_and_out(postern, checkout):
    block = re.search(r"<!-- The test suite runs this .*-->\n```sh\n(.*?)```", INTEGRATORS, re.S)[1]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert "8000" in block
    result = follow(block.replace("8000", str(port)), postern, checkout)
    assert result.returncode == 0, result.stderr
    registered, validated, ended = map(json.loads, re.findall(r"\{.*?\}(?=\{|$)", result.stdout))
    assert registered["email"] == "ada@example.org"
    assert validated["valid"] and validated["payload"]["sub"] == "ada@example.org"
    assert ended == {"success": True, "email": "ada@example.org"}
