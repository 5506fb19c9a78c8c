"""What the documents tell a reader to type, run as a reader would who copies it."""

import json
import re
import socket
import subprocess
import sys

import pytest
import requests

from program import BINARY, ROOT, environment, run

README = (ROOT / "README.md").read_text()
AGENTS = (ROOT / "docs/agents.md").read_text()
HERE = "http://127.0.0.1:8080"


@pytest.fixture
def checkout(tmp_path):
    """A directory that looks like a built checkout to the commands of the README."""
    built = tmp_path / ".build" / "debug"
    built.mkdir(parents=True)
    (built / "postern").symlink_to(BINARY)
    return tmp_path


def block(page, mark, language="sh"):
    """The code block after a comment that begins with `mark`."""
    return re.search(rf"<!-- {mark}[^>]*-->\n```{language}\n(.*?)```", page, re.S)[1]


def follow(block, postern, checkout, *command):
    assert HERE in block
    command = command or ("bash", "-euo", "pipefail", "-c")
    return subprocess.run(
        [*command, block.replace(HERE, postern.url)], cwd=checkout, env=environment(), text=True,
        capture_output=True, timeout=120, stdin=subprocess.DEVNULL)


def test_the_curl_sequence_leads_to_the_mailbox(postern, checkout):
    result = follow(block(README, "The test suite runs this"), postern, checkout)
    assert result.returncode == 0, result.stderr
    session, mail = map(json.loads, result.stdout.splitlines())
    assert session["username"] == "curlagent@mail.test"
    [[method, folders, _]] = mail["methodResponses"]
    assert method == "Mailbox/get"
    assert {"name": "Inbox", "totalEmails": 0} in [
        {name: folder[name] for name in ["name", "totalEmails"]} for folder in folders["list"]]
    assert json.loads((checkout / "account.json").read_text())["apiKey"]


def test_the_signup_command_writes_credentials(postern, checkout):
    line = re.search(r"```sh\n(\.build/debug/postern signup .*?)```", README, re.S)[1]
    result = follow(line, postern, checkout)
    assert result.returncode == 0, result.stderr
    assert "myagent@mail.test" in result.stdout + result.stderr


def test_the_signup_in_python_gets_a_mailbox(postern, checkout):
    result = follow(
        block(AGENTS, "python: signup", "python"), postern, checkout, sys.executable, "-c")
    assert result.returncode == 0, result.stderr
    inbox, key = result.stdout.split()
    assert inbox == "pyagent@mail.test" and key.startswith("pst_")


def test_the_program_in_llms_txt_runs_as_it_is_served(serve, checkout):
    server = serve()
    text = requests.get(server.url + "/llms.txt", timeout=5).text
    program = re.search(r"```python\n(.*?)```", text, re.S)[1]
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=checkout, env=environment(), text=True,
        capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    assert result.returncode == 0, result.stderr
    inbox, key = result.stdout.split()
    assert inbox == "myagent@mail.test" and key.startswith("pst_")


def test_the_account_with_a_password_is_made_and_opened(postern, checkout):
    result = follow(block(AGENTS, "shell: account"), postern, checkout)
    assert result.returncode == 0, result.stderr
    made, login = objects(result.stdout)
    assert made["id"] == login["id"] and made["address"] == "demo@mail.test"


def test_the_hash_login_registers_logs_in_and_out(serve, checkout):
    # Time for a busy machine.
    postern = serve(
        POSTERN_HASH_LOGIN_LOGIN_TIMEOUT="10s", POSTERN_HASH_LOGIN_FAILURE_FLOOR="11s")
    commands = block(AGENTS, "shell: hash login")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert "8000" in commands
    result = follow(commands.replace("8000", str(port)), postern, checkout)
    assert result.returncode == 0, result.stderr
    registered, validated, ended = objects(result.stdout)
    assert registered["email"] == "ada@example.org"
    assert validated["valid"] and validated["payload"]["sub"] == "ada@example.org"
    assert ended == {"success": True, "email": "ada@example.org"}


def objects(text):
    """The JSON objects that stand in a text one after another."""
    found, decoder = [], json.JSONDecoder()
    while text := text.strip():
        one, end = decoder.raw_decode(text)
        found.append(one)
        text = text[end:]
    return found


def documented_commands():
    """Every command line of the program in the documents, without the paths before it."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    text = "\n".join(page.read_text() for page in pages)
    text = re.sub(r"```(?!sh)\w+\n.*?```", "", text, flags=re.S)
    code = "\n".join(re.findall(r"```sh\n.*?```|^    .*$|`postern [^`\n]+`", text, re.S | re.M))
    found = re.findall(r"(?:^|[\s`|/(])postern ((?:[a-z-]+ ?){1,2}(?: *[^\n`|]*)?)", code, re.M)
    return sorted({line.strip() for line in found})


def test_the_commands_and_flags_of_the_documents_exist(tmp_path):
    helps = {}
    commands = 0
    for line in documented_commands():
        words = line.split()
        if words[0].startswith("-"):
            continue
        names = [words[0]]
        if words[0] in ("account", "audit", "domain", "hash-login", "key", "user") and len(words) > 1:
            names.append(words[1])
        if not re.fullmatch(r"[a-z-]+", names[-1]):
            continue
        key = tuple(names)
        if key not in helps:
            shown = run("help", *names, directory=tmp_path)
            assert shown.returncode == 0, f"postern {line}: {shown.stderr}"
            assert f"USAGE: postern {' '.join(names)}" in shown.stdout, f"postern {line}"
            helps[key] = shown.stdout
        commands += 1
        for flag in re.findall(r"(?<=\s)--[a-z-]+", line):
            assert flag in helps[key] or flag == "--help", f"postern {line}: no {flag}"
    assert commands > 30
