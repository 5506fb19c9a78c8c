"""The README's first signup, run as a reader would who copies it."""

import json
import re
import subprocess

import pytest

from program import BINARY, ROOT, environment

README = (ROOT / "README.md").read_text()
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
