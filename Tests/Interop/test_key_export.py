"""Public keys in files, as mail stores read them that do not fetch the key set."""

import pathlib
import time

import jwt

from agent import Agent, bearer
from program import run

WAIT_SECONDS = 60


def kid(token):
    return jwt.get_unverified_header(token)["kid"]


def found(path):
    """The content of a file that a running server is about to write."""
    end = time.monotonic() + WAIT_SECONDS
    while not path.exists():
        assert time.monotonic() < end, f"no {path}"
        time.sleep(0.02)
    return path.read_text()


def test_a_store_verifies_capabilities_with_the_files_that_the_server_keeps(start, tmp_path):
    keys = tmp_path / "keys"
    data = ["--data", str(tmp_path / "data")]
    server = start(*data, POSTERN_KEYS_EXPORT_DIRECTORY=str(keys),
                   POSTERN_KEYS_EXPORT_LAYOUT="dovecot")
    agent = Agent(server.url)
    session = bearer(agent.session(username="exporting"))
    for flags in [[], ["--leaked"], ["--leaked"]]:
        if flags:
            rotated = run("key", "rotate", "--use", "capability", *flags, "--profile", "test",
                          *data, directory=tmp_path)
            assert rotated.returncode == 0, rotated.stderr
            new = rotated.stdout.split()[1]
            assert rotated.stdout == f"capability  {new}  signs\n"
            # The server knows it within two seconds.
            end = time.monotonic() + WAIT_SECONDS
            while kid(bearer(agent.capability(session))) != new:
                assert time.monotonic() < end
                time.sleep(0.1)
        token = bearer(agent.capability(session))
        # As Dovecot makes the name: `azp` or "default", the algorithm, the key id.
        pem = found(keys / "default" / "RS256" / kid(token))
        assert jwt.decode(token, pem, algorithms=["RS256"], audience="api-service")


def test_the_one_file_for_cyrus_follows_the_key_that_signs(start, tmp_path):
    keys = tmp_path / "keys"
    data = ["--data", str(tmp_path / "data")]
    minimal = {"POSTERN_TOKENS_CAPABILITY_CLAIMS": "minimal"}
    server = start(*data, POSTERN_KEYS_EXPORT_DIRECTORY=str(keys),
                   POSTERN_KEYS_EXPORT_LAYOUT="cyrus", **minimal)
    agent = Agent(server.url)
    token = bearer(agent.capability(bearer(agent.session(username="minimal"))))
    before = found(keys / "capability.pem")
    assert jwt.decode(token, before, algorithms=["RS256"])["sub"] == "minimal@mail.test"
    words = ["--use", "capability", "--profile", "test", *data]
    assert run("key", "rotate", "--in", "10m", *words, directory=tmp_path).returncode == 0
    # Cyrus IMAP reads every file: the new key must not be there before it signs.
    shown = run("key", "export", "--layout", "cyrus", *words, directory=tmp_path)
    assert shown.stdout == before
    assert run("key", "rotate", "--leaked", *words, directory=tmp_path).returncode == 0
    end = time.monotonic() + WAIT_SECONDS
    while found(keys / "capability.pem") == before:
        assert time.monotonic() < end
        time.sleep(0.02)
    files = [path for path in pathlib.Path(keys).rglob("*") if path.is_file()]
    assert [path.name for path in files if "PUBLIC KEY" in path.read_text()] == ["capability.pem"]
