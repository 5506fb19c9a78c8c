"""Logins at identity providers of others: Debian's Glewlwyd, and oidc-provider-mock of PyPI."""

import pytest
import requests

from glewlwyd import Glewlwyd, free_port
from mailboxes import Mailboxes, fresh
from mock import Mock
from program import Postern, run
from provider import SignIn

CLIENT_ID, CLIENT_SECRET = "postern", "secret-of-the-tests"


@pytest.fixture(scope="module", params=["glewlwyd", "mock"])
def world(request, tmp_path_factory):
    """A provider, and a server that knows it by the name `id`."""
    directory = tmp_path_factory.mktemp(request.param)
    port = free_port()
    redirect_uri = f"http://127.0.0.1:{port}/api/user/oauth/id/callback"
    if request.param == "mock":
        provider = Mock(directory)
    else:
        provider = Glewlwyd(directory, CLIENT_ID, CLIENT_SECRET, redirect_uri)
    secret = directory / "secret"
    secret.write_text(CLIENT_SECRET)
    secret.chmod(0o600)
    config = directory / "postern.toml"
    config.write_text(f"""
[users]
registration = "open"
[[users.providers]]
name = "id"
issuer = "{provider.issuer}"
client_id = "{CLIENT_ID}"
secret_file = "{secret}"
""")
    server = Postern(directory, "--config", str(config), port=port)
    yield server, provider, config
    server.stop()
    provider.close()


@pytest.fixture
def browser(world):
    client = requests.Session()
    client.trust_env = False
    yield lambda: SignIn(client, world[0].url)
    client.close()


def me(server, token):
    return Mailboxes(server.url).call("GET", "/api/user/me", token).json()


def test_a_person_logs_in_and_comes_back(world, browser):
    server, provider, _ = world
    email = fresh("people.example")
    provider.add_user("ada", email)
    users = []
    for _ in range(2):
        one = browser()
        answer = one.end(provider.sign_in("ada", one.begin()))
        assert answer.status_code == 303, (answer.text, server.read_log())
        assert answer.headers["Location"] == "/dashboard"
        users.append(me(server, one.session))
    assert users[0] == users[1]
    assert users[0]["email"] == email and users[0]["email_verified"]


def test_a_user_links_an_identity(world, browser):
    server, provider, _ = world
    provider.add_user("eve", fresh("people.example"))
    boxes = Mailboxes(server.url)
    user = boxes.user()
    answer = boxes.call("POST", "/api/user/oauth/id/link", user.token)
    one = browser()
    one.keep(answer)
    assert one.end(provider.sign_in("eve", answer.json()["url"])).headers["Location"] == (
        "/dashboard#linked=id")
    other = browser()
    other.end(provider.sign_in("eve", other.begin()))
    assert me(server, other.session)["email"] == user.email


def test_a_code_counts_once_and_for_its_sign_in_only(world, browser):
    _, provider, _ = world
    provider.add_user("joe", fresh("people.example"))
    one, other = browser(), browser()
    mine, others = (provider.sign_in("joe", each.begin()) for each in (one, other))
    code = mine.partition("code=")[2].partition("&")[0]
    stolen = others.partition("code=")[2].partition("&")[0]
    answer = one.end(mine.replace(code, stolen))
    assert (answer.status_code, answer.json()["error"]) == (401, "provider_rejected")


def test_the_doctor_finds_nothing_wrong(world, tmp_path):
    _, _, config = world
    result = run("doctor", "--config", str(config), "--data", str(tmp_path), directory=tmp_path)
    lines = [line for line in result.stdout.splitlines() if "identity provider" in line]
    assert lines == ["ok       identity provider: id can be used"], result.stdout
