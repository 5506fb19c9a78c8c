"""The operator's and the agent's commands on the database of a running server."""

import json
import os
import pty
import re
import stat
import subprocess

import jwt
import pytest
import requests

from agent import Agent, bearer, claims, leading_zero_bits, proof
from mailboxes import Mailboxes, failed
from program import BINARY, environment, run


@pytest.fixture
def running(start, tmp_path):
    """An agent of a server with its database on disk, and a function that runs commands on it."""
    data = str(tmp_path / "data")
    server = start("--data", data, POSTERN_MAIL_STORE="none")

    def operate(*words, stdin=""):
        result = run(*words, "--profile", "test", "--data", data, directory=tmp_path, stdin=stdin)
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


def test_signup_prints_json_for_programs(postern, agent, tmp_path):
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
def test_the_server_accepts_what_solve_finds(agent, tmp_path, name, by):
    token = agent.challenge()
    words, stdin = (["solve", token], "") if by == "argument" else (["solve"], token + "\n")
    found = json.loads(run(*words, stdin=stdin, directory=tmp_path).stdout)
    digest = proof(claims(token)["jti"], found["nonce"])
    assert digest.hex() == found["powHex"] and leading_zero_bits(digest) >= 1
    answer = agent.post("/api/v1/session", token, {**found, "username": name()})
    assert answer.status_code == 201, answer.text


def test_a_disabled_account_is_refused_at_once(running):
    agent, operate = running
    signup = agent.session(username="spammer")
    session = bearer(signup)
    assert "spammer@mail.test" in operate("account", "list")
    operate("account", "disable", "spammer@mail.test")
    assert agent.capability(session).status_code == 401
    assert agent.session(apiKey=signup.json()["apiKey"]).status_code == 401


def test_a_deleted_address_is_given_out_again_once_it_is_freed(running):
    agent, operate = running
    agent.session(username="passing")
    operate("account", "delete", "passing@mail.test")
    assert agent.session(username="passing").status_code == 409
    operate("account", "free", "passing@mail.test")
    assert agent.session(username="passing").status_code == 201


def pro(agent, email="ada@example.test", password="propassword"):
    """A Pro user's login."""
    return requests.post(agent.url + "/api/user/login", timeout=20,
                         json={"email": email, "password": password})


def me(agent, token):
    return requests.get(agent.url + "/api/user/me", timeout=20,
                        headers={"Authorization": f"Bearer {token}"}).status_code


def test_a_user_whom_the_operator_adds_logs_in_until_disabled(running):
    agent, operate = running
    operate("user", "add", "ada@example.test", "--password-stdin", stdin="propassword\n")
    assert "ada@example.test" in operate("user", "list")
    token = pro(agent).json()["token"]
    made = requests.post(agent.url + "/api/user/tokens", timeout=20,
                         headers={"Authorization": f"Bearer {token}"})
    key = made.json()["token"]
    assert (me(agent, token), me(agent, key)) == (200, 200)

    operate("user", "disable", "ada@example.test")
    assert (me(agent, token), me(agent, key)) == (401, 401)
    assert pro(agent).status_code == 401

    operate("user", "enable", "ada@example.test")
    assert (me(agent, token), me(agent, key)) == (401, 200)
    operate("user", "passwd", "ada@example.test", "--password-stdin", stdin="another one\n")
    assert pro(agent).status_code == 401
    assert pro(agent, password="another one").status_code == 200


@pytest.mark.parametrize("stdin", ["", "short\n", "a" * 1025 + "\n"])
def test_an_invalid_password_adds_no_user(running, tmp_path, stdin):
    _, operate = running
    result = run("user", "add", "ada@example.test", "--password-stdin", "--profile", "test",
                 "--data", tmp_path / "data", directory=tmp_path, stdin=stdin)
    assert result.returncode == 1 and "6 to 1024 bytes" in result.stderr
    assert operate("user", "list") == ""


def test_without_a_terminal_no_password_is_asked_for(running, tmp_path):
    result = run("user", "add", "ada@example.test", "--data", tmp_path / "data",
                 directory=tmp_path, stdin="propassword\n")
    assert result.returncode == 1 and "--password-stdin" in result.stderr


def test_a_domain_that_the_operator_adds_can_be_used_at_once(running):
    agent, operate = running

    def offered():
        answer = requests.get(agent.url + "/api/domains", timeout=20).json()["domains"]
        return {domain["domain"]: domain["pro_only"] for domain in answer}

    operate("domain", "add", "pro.example.test", "--pro-only")
    assert offered() == {"mail.test": False, "pro.example.test": True}
    operate("domain", "remove", "pro.example.test")
    assert offered() == {"mail.test": False}


def test_the_records_of_a_users_domain_are_printed(running):
    _, operate = running
    operate("user", "add", "ada@example.test", "--password-stdin", stdin="propassword\n")
    said = operate("domain", "add", "example.test", "--owner", "ada@example.test")
    assert re.search(r'postern-verify\.example\.test\. TXT "postern-verify=[\w-]{32}"', said)
    assert "example.test. MX 10 mx.mail.test." in said
    assert "pending" in operate("domain", "list")


def test_all_domains_are_listed_by_name_with_their_owners(running):
    _, operate = running
    operate("user", "add", "ada@example.test", "--password-stdin", stdin="propassword\n")
    operate("domain", "add", "zeta.test", "--pro-only")
    operate("domain", "add", "alpha.test", "--owner", "ada@example.test")
    lines = [line.split("  ")[:4] for line in operate("domain", "list").splitlines()]
    assert lines == [
        ["mail.test", "configuration", "verified", "everybody"],
        ["alpha.test", "ada@example.test", "pending", "owner"],
        ["zeta.test", "operator", "verified", "pro"],
    ]


def test_the_operator_can_make_accounts_with_reserved_names(running, tmp_path):
    agent, operate = running
    boxes = Mailboxes(agent.url)
    failed(boxes.create("postmaster@mail.test"), 409, "address_taken")
    said = operate("account", "add", "postmaster@mail.test", "--password-stdin", stdin="propassword\n")
    made = boxes.login("postmaster@mail.test", "propassword").json()
    assert said == f"added postmaster@mail.test  {made['id']}\n"
    assert boxes.get(made["id"], made["token"]).json()["quota"] == 41_943_040

    operate("user", "add", "ada@example.test", "--password-stdin", stdin="propassword\n")
    operate("domain", "add", "ada.test", "--owner", "ada@example.test", "--verified")
    hers = ["sales@ada.test", "--owner", "ada@example.test"]
    operate("account", "add", *hers, "--password-stdin", stdin="propassword\n")
    token = pro(agent).json()["token"]
    assert boxes.get("sales@ada.test", token).json()["quota"] == 52_428_800

    for words, why in [
        (hers, "is taken"), (["info@ada.test"], "no account of this owner"),
        (["a@elsewhere.test"], "no account of this owner"), (["a+b@mail.test"], "not an address"),
        (["a@mail.test", "--owner", "nobody@example.test"], "there is no user"),
    ]:
        result = run("account", "add", *words, "--password-stdin", "--data", tmp_path / "data",
                     directory=tmp_path, stdin="propassword\n")
        assert result.returncode == 1 and why in result.stderr, result
    kinds = operate("audit", "export")
    assert kinds.count('"kind":"account_created","actor":"operator"') == 2


def test_clients_see_what_the_mail_store_last_reported(running, tmp_path):
    agent, operate = running
    boxes = Mailboxes(agent.url)
    mine = [boxes.mailbox() for _ in range(3)]

    def used():
        return [boxes.get(box.id, box.token).json()["used"] for box in mine]

    assert operate("account", "usage", mine[0].address, "7") == "noted 1 report\n"
    assert used() == [7, 0, 0]
    lines = [f"{mine[0].address} 8", "", f"{mine[1].address.upper()}\t9", "half a line",
             "nobody@mail.test 1", f"{mine[2].address} -1"]
    result = run("account", "usage", "--stdin", "--data", tmp_path / "data", directory=tmp_path,
                 stdin="\n".join(lines))
    assert (result.returncode, result.stdout) == (1, "noted 2 reports\n")
    assert result.stderr.splitlines() == [
        "line 4 is not an address and a number of bytes",
        "line 6 is not an address and a number of bytes",
        "there is no account nobody@mail.test"]
    assert used() == [8, 9, 0]
    many = "".join(f"{box.address} {number}\n" for number in range(1200) for box in mine)
    assert operate("account", "usage", "--stdin", stdin=many) == "noted 3600 reports\n"
    assert used() == [1199, 1199, 1199]


def test_credential_events_are_recorded_and_logged(start, tmp_path):
    data = str(tmp_path / "data")
    server = start("--data", data)
    agent = Agent(server.url)
    words = ["--profile", "test", "--data", data]
    run("user", "add", "ada@example.test", "--password-stdin", *words, directory=tmp_path,
        stdin="propassword\n")
    failed = pro(agent, password="wrong password")
    good = pro(agent)
    exported = run("audit", "export", *words, directory=tmp_path).stdout
    events = [json.loads(line) for line in exported.splitlines()]
    assert [event["kind"] for event in events] == [
        "user_created", "login_failed", "login_succeeded"]
    assert [event["sequence"] for event in events] == [1, 2, 3]
    assert [event["request_id"] for event in events[1:]] == [
        failed.headers["x-request-id"], good.headers["x-request-id"]]
    assert "login_failed" in run("audit", "tail", *words, directory=tmp_path).stdout
    assert run("audit", "export", "--since", "2999-01-01", *words, directory=tmp_path).stdout == ""

    server.stop()
    logged = [json.loads(line) for line in server.read_log().splitlines()]
    logged = [line for line in logged if line["message"] == "credential event"]
    assert [(line["kind"], line["id"], line["client.address"]) for line in logged] == [
        ("login_failed", failed.headers["x-request-id"], "127.0.0.1"),
        ("login_succeeded", good.headers["x-request-id"], "127.0.0.1")]
    assert good.json()["token"] not in server.read_log() + exported
    assert "password" not in server.read_log() + exported


def test_following_the_events_shows_new_ones(running, tmp_path):
    _, operate = running
    command = [str(BINARY), "audit", "tail", "--follow", "--profile", "test", "--data",
               str(tmp_path / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(),
                          cwd=tmp_path) as following:
        try:
            operate("domain", "add", "one.test")
            assert "domain_added" in following.stdout.readline()
            operate("domain", "add", "two.test")
            assert "two.test" in following.stdout.readline()
        finally:
            following.kill()


@pytest.mark.parametrize("flags", [[], ["--password-stdin"]])
def test_a_password_is_not_shown_on_a_terminal(running, tmp_path, flags):
    _, operate = running
    command = [str(BINARY), "user", "add", "ada@example.test", "--profile", "test", "--data",
               str(tmp_path / "data"), *flags]
    outside, inside = pty.openpty()
    shown = b""
    with subprocess.Popen(command, stdin=inside, stdout=inside, stderr=inside, cwd=tmp_path,
                          env=environment()) as asking:
        for question in [b"Password: ", b"again: "]:
            while not shown.endswith(question):
                shown += os.read(outside, 1)
            os.write(outside, b"propassword\n")
        assert asking.wait(30) == 0
    assert b"propassword" not in shown
    assert "ada@example.test" in operate("user", "list")


def test_tokens_signed_before_a_rotation_verify_after_it(start, tmp_path):
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
    # The new key is published before it signs, so that a mail store knows it by then.
    old = jwt.get_unverified_header(capability)["kid"]
    assert {old} < {key["kid"] for key in agent.http.get(keys.uri).json()["keys"]}
    newer = bearer(agent.capability(bearer(agent.session(username="rotated"))))
    assert jwt.get_unverified_header(newer)["kid"] == old


def test_a_leaked_key_and_what_it_signed_are_refused_at_once(start, tmp_path):
    data = str(tmp_path / "data")
    server = start("--data", data)
    agent = Agent(server.url)
    capability = bearer(agent.capability(bearer(agent.session(username="leaking"))))
    server.stop()
    words = ["key", "rotate", "--use", "capability", "--leaked", "--profile", "test"]
    assert run(*words, "--data", data, directory=tmp_path).returncode == 0

    agent = Agent(start("--data", data, port=server.port).url)
    assert agent.mailbox(capability).status_code == 401
    newer = bearer(agent.capability(bearer(agent.session(username="renewed"))))
    assert jwt.get_unverified_header(newer)["kid"] != jwt.get_unverified_header(capability)["kid"]
    assert agent.mailbox(newer).status_code == 200


def test_all_faults_of_a_configuration_are_reported_together(tmp_path):
    result = run("check-config", directory=tmp_path, POSTERN_SERVER_PORT="many",
                 POSTERN_POW_AGENT_DIFFICULTY="-1", POSTERN_NO_SUCH="1")
    assert result.returncode != 0
    for name in ["SERVER_PORT", "POW_AGENT_DIFFICULTY", "NO_SUCH"]:
        assert f"POSTERN_{name}" in result.stderr


def test_production_does_not_start_without_its_public_url(tmp_path):
    result = run("serve", "--profile", "production", "--port", "0", directory=tmp_path)
    assert result.returncode != 0
    assert "server.public_url" in result.stderr and "listening" not in result.stdout


def test_check_config_says_what_production_refuses_and_warns_about(tmp_path):
    production = {
        "POSTERN_PROFILE": "production", "JWT_ISSUER": "https://auth.example",
        "POSTERN_SERVER_PUBLIC_URL": "https://auth.example"}
    unsafe = run("check-config", directory=tmp_path, **{
        **production, "POSTERN_SERVER_PUBLIC_URL": "http://auth.example",
        "POSTERN_PASSWORDS_MEMORY_KIB": "8192", "POSTERN_TOKENS_ACCOUNT_LIFETIME": "31d"})
    assert unsafe.returncode == 78
    for key in ["server.public_url", "passwords.memory_kib", "tokens.account_lifetime"]:
        assert key in unsafe.stderr
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(32))
    secret.chmod(0o644)
    warned = run("check-config", directory=tmp_path, **{
        **production, "POSTERN_LIMITS_ENABLED": "false",
        "POSTERN_MASTER_SECRET_FILE": str(secret)})
    assert warned.returncode == 0 and "enabled = false" in warned.stdout
    first, second = warned.stderr.splitlines()
    assert first.startswith("warning: ") and "limits.enabled" in first
    assert second.startswith("warning: ") and str(secret) in second
    assert run("check-config", directory=tmp_path, **production).stderr == ""


def test_every_command_has_help_with_an_example(tmp_path):
    listed = run("--help", directory=tmp_path).stdout
    commands = re.findall(r"^  ([a-z-]+)(?: \(default\))? {2,}\S", listed, re.M)
    assert {"serve", "migrate", "backup", "check-config", "key", "account", "user", "domain",
            "audit", "signup", "solve", "healthcheck"} <= set(commands)
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
