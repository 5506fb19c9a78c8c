"""The client that the service publishes on PyPI, unmodified, pointed here by its variables."""

import json
import os
import stat

import atomicmail
import pytest


@pytest.fixture
def directory(postern, tmp_path, monkeypatch):
    """A credentials directory of the client, and the environment that points it at this server."""
    for variable in [name for name in os.environ if name.startswith("ATOMIC_MAIL_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("ATOMIC_MAIL_AUTH_URL", postern.url)
    monkeypatch.setenv("ATOMIC_MAIL_API_URL", postern.url)
    monkeypatch.setenv("ATOMIC_MAIL_CREDENTIALS_DIR", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path


def test_it_registers_and_keeps_its_credentials(directory, name):
    username = name()
    result = atomicmail.register(username)
    assert result.inbox == f"{username}@mail.test"
    kept = directory / "credentials.json"
    assert json.loads(kept.read_text())["apiKey"] == result.apiKey
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert (directory / "session.jwt").exists() and (directory / "capability.jwt").exists()


def test_it_logs_in_elsewhere_by_api_key(directory, name, monkeypatch):
    made = atomicmail.register(name())
    monkeypatch.setenv("ATOMIC_MAIL_CREDENTIALS_DIR", str(directory / "elsewhere"))
    again = atomicmail.register(api_key=made.apiKey)
    assert (again.inbox, again.accountId) == (made.inbox, made.accountId)


def test_it_finds_its_registration_again(directory, name):
    username = name()
    made = atomicmail.register(username)
    again = atomicmail.register(username)
    assert again.idempotent and again.accountId == made.accountId


def test_it_shows_the_servers_hint_when_the_name_is_taken(directory, name, monkeypatch):
    username = name()
    atomicmail.register(username)
    monkeypatch.setenv("ATOMIC_MAIL_CREDENTIALS_DIR", str(directory / "second"))
    with pytest.raises(ValueError, match=r"returned 409: .*hint"):
        atomicmail.register(username)


MAILBOXES = '{"methodCalls": [["Mailbox/get", {"accountId": "$ACCOUNT_ID"}, "0"]]}'


def test_its_mail_calls_read_the_mailbox(directory, name):
    atomicmail.register(name())
    result = atomicmail.jmap_request(ops=MAILBOXES)
    assert result.status == 200
    (method, answer, _), = json.loads(result.bodyText)["methodResponses"]
    assert method == "Mailbox/get"
    assert [mailbox["role"] for mailbox in answer["list"]] == [
        "inbox", "drafts", "sent", "archive", "junk", "trash"]


def test_its_mail_calls_get_the_servers_hint(directory, name, start, monkeypatch):
    url = start(POSTERN_MAIL_STORE="none").url
    monkeypatch.setenv("ATOMIC_MAIL_AUTH_URL", url)
    monkeypatch.setenv("ATOMIC_MAIL_API_URL", url)
    atomicmail.register(name())
    result = atomicmail.jmap_request(ops=MAILBOXES)
    assert result.status == 503 and "mail.jmap_url" in result.bodyText
