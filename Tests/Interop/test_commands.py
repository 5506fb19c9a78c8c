"""The operator's and the agent's commands beside a running server, on the same database."""

import json
import re
import stat

import jwt
import pytest
import requests

from agent import Agent, bearer, claims, leading_zero_bits, proof
from program import run


@pytest.fixture
def house(start, tmp_path):
    """A server on files, an agent of it, and a way to call commands on its data."""
    data = str(tmp_path / "data")
    server = start("--data", data)

    def operate(*words):
        result = run(*words, "--profile", "test", "--data", data, directory=tmp_path)
        assert result.returncode == 0, result.stderr
        return result.stdout

    return Agent(server.url), operate


def test_signup_leaves_credentials_that_log_in(postern, agent, tmp_path):
    result = run("signup", "--server", postern.url, "--username", "by-command", directory=tmp_path)
    assert result.returncode == 0, result.stderr
    (kept,) = tmp_path.glob("*.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    credentials = json.loads(kept.read_text())
    assert credentials["apiKey"] not in result.stdout + result.stderr
    assert agent.session(apiKey=credentials["apiKey"]).status_code == 200


def test_signup_speaks_json_to_programs(postern, agent, tmp_path):
    result = run("signup", "--server", postern.url, "--username", "by-program", "--json",
                 directory=tmp_path)
    made = json.loads(result.stdout)
    assert made["inbox"] == "by-program@mail.test"
    assert agent.session(apiKey=made["apiKey"]).status_code == 200


def test_signup_says_why_it_failed_and_leaves_nothing(postern, tmp_path):
    words = ["signup", "--server", postern.url, "--username", "postmaster"]
    result = run(*words, directory=tmp_path)
    assert result.returncode != 0
    assert "Username not allowed" in result.stderr
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize("by", ["argument", "standard input"])
def test_solve_finds_what_the_server_takes(agent, tmp_path, name, by):
    token = agent.challenge()
    words, stdin = (["solve", token], "") if by == "argument" else (["solve"], token + "\n")
    found = json.loads(run(*words, stdin=stdin, directory=tmp_path).stdout)
    digest = proof(claims(token)["jti"], found["nonce"])
    assert digest.hex() == found["powHex"] and leading_zero_bits(digest) >= 1
    answer = agent.post("/api/v1/session", token, {**found, "username": name()})
    assert answer.status_code == 201, answer.text


def test_a_disabled_account_is_out_at_once(house):
    agent, operate = house
    signup = agent.session(username="spammer")
    session = bearer(signup)
    assert "spammer@mail.test" in operate("account", "list")
    operate("account", "disable", "spammer@mail.test")
    assert agent.capability(session).status_code == 401
    assert agent.session(apiKey=signup.json()["apiKey"]).status_code == 401


def test_a_deleted_address_is_given_out_again_once_it_is_freed(house):
    agent, operate = house
    agent.session(username="passing")
    operate("account", "delete", "passing@mail.test")
    assert agent.session(username="passing").status_code == 409
    operate("account", "free", "passing@mail.test")
    assert agent.session(username="passing").status_code == 201


def test_tokens_of_before_a_rotation_verify_after_it(start, tmp_path):
    data = str(tmp_path / "data")
    server = start("--data", data)
    capability = bearer(Agent(server.url).capability(
        bearer(Agent(server.url).session(username="rotating"))))
    server.stop()
    words = ["key", "rotate", "--use", "capability", "--profile", "test", "--data", data]
    assert run(*words, directory=tmp_path).returncode == 0

    server = start("--data", data, port=server.port)
    keys = jwt.PyJWKClient(server.url + "/.well-known/jwks.json")
    key = keys.get_signing_key_from_jwt(capability).key
    assert jwt.decode(capability, key, algorithms=["RS256"], audience="api-service")
    agent = Agent(server.url)
    assert agent.mailbox(capability).status_code == 200
    # The new key is in the set before it signs, so that no store meets a key it has not seen.
    old = jwt.get_unverified_header(capability)["kid"]
    assert {old} < {key["kid"] for key in agent.http.get(keys.uri).json()["keys"]}
    newer = bearer(agent.capability(bearer(agent.session(username="rotated"))))
    assert jwt.get_unverified_header(newer)["kid"] == old


def test_a_leaked_key_and_what_it_signed_are_dead_at_once(start, tmp_path):
    data = str(tmp_path / "data")
    server = start("--data", data)
    agent = Agent(server.url)
    capability = bearer(agent.capability(bearer(agent.session(username="leaking"))))
    server.stop()
    words = ["key", "rotate", "--use", "capability", "--leaked", "--profile", "test"]
    assert run(*words, "--data", data, directory=tmp_path).returncode == 0

    agent = Agent(start("--data", data, port=server.port).url)
    assert agent.mailbox(capability).status_code == 401
    newer = bearer(agent.capability(bearer(agent.session(username="mended"))))
    assert jwt.get_unverified_header(newer)["kid"] != jwt.get_unverified_header(capability)["kid"]
    assert agent.mailbox(newer).status_code == 200


def test_every_fault_of_a_configuration_is_said_at_once(tmp_path):
    result = run("check-config", directory=tmp_path, POSTERN_SERVER_PORT="many",
                 POSTERN_POW_AGENT_DIFFICULTY="-1", POSTERN_NO_SUCH="1")
    assert result.returncode != 0
    for name in ["SERVER_PORT", "POW_AGENT_DIFFICULTY", "NO_SUCH"]:
        assert f"POSTERN_{name}" in result.stderr


def test_production_does_not_start_without_its_public_url(tmp_path):
    result = run("serve", "--profile", "production", "--port", "0", directory=tmp_path)
    assert result.returncode != 0
    assert "server.public_url" in result.stderr and "listening" not in result.stdout


def test_every_command_teaches_by_its_help(tmp_path):
    listed = run("--help", directory=tmp_path).stdout
    commands = re.findall(r"^  ([a-z-]+)(?: \(default\))? {2,}\S", listed, re.M)
    assert {"serve", "migrate", "check-config", "key", "account", "signup", "solve",
            "healthcheck"} <= set(commands)
    for command in commands:
        assert "postern " in run(command, "--help", directory=tmp_path).stdout


def test_a_second_server_on_the_same_database_spends_challenges_too(start, tmp_path):
    data = str(tmp_path / "data")
    shared = {"POSTERN_SERVER_PUBLIC_URL": "https://auth.mail.test"}
    first = Agent(start("--data", data, **shared).url)
    second = Agent(start("--data", data, **shared).url)
    solved = first.solve()
    signup = first.session(solved, username="shared")
    assert signup.status_code == 201
    assert second.session(solved, username="replayed").status_code == 401
    assert second.capability(bearer(signup)).status_code == 200
    answers = requests.get(second.url + "/.well-known/jwks.json", timeout=5).json()
    assert answers == requests.get(first.url + "/.well-known/jwks.json", timeout=5).json()
