"""From the challenge to the JMAP session object, as the service's documents describe it."""

import re
import uuid

import pytest

from agent import SALT, Agent, bearer, claims, leading_zero_bits, proof

MAIL = "urn:ietf:params:jmap:mail"


def test_signup_login_capability_and_mailbox(agent, name):
    username = name()
    signup = agent.session(username=username)
    assert signup.status_code == 201, signup.text
    made = signup.json()
    assert made["inbox"] == f"{username}@mail.test"
    assert str(uuid.UUID(made["accountId"])) == made["accountId"]
    assert bearer(signup).count(".") == 2

    login = agent.session(apiKey=made["apiKey"])
    assert login.status_code == 200, login.text
    assert login.json()["inbox"] == made["inbox"]
    assert login.json()["accountId"] == made["accountId"]
    assert "apiKey" not in login.json()

    capability = agent.capability(bearer(login))
    assert capability.status_code == 200, capability.text
    assert capability.json()["expiresIn"] == 120

    mailbox = agent.mailbox(bearer(capability))
    assert mailbox.status_code == 200, mailbox.text
    session = mailbox.json()
    assert session["primaryAccounts"][MAIL] in session["accounts"]
    assert session["primaryAccounts"][MAIL] == made["inbox"]
    for url in ["apiUrl", "downloadUrl", "uploadUrl", "eventSourceUrl"]:
        assert session[url].startswith(agent.url)


def test_mail_store_that_is_not_configured_is_named(start, name):
    agent = Agent(start(POSTERN_MAIL_STORE="none").url)
    capability = bearer(agent.capability(bearer(agent.session(username=name()))))
    api_url = agent.mailbox(capability).json()["apiUrl"]
    call = {"using": [], "methodCalls": []}
    answer = agent.post(api_url.removeprefix(agent.url), capability, call)
    assert answer.status_code == 503
    assert "mail.jmap_url" in answer.json()["error"]["hint"]


def test_challenge_is_the_same_in_header_and_body(agent):
    answer = agent.post("/api/v1/challenge")
    token, body = claims(bearer(answer)), answer.json()
    assert body["difficulty"] == token["difficulty"]
    assert body["expiresIn"] == token["exp"] - token["iat"] == 180
    assert body["pow"] == {
        "algorithm": "scrypt", "N": 16384, "r": 8, "p": 1, "dkLen": 64,
        "salt": SALT, "input": f"{token['jti']}:<nonce>",
    }
    assert len(token["jti"]) >= 22 and ":" not in token["jti"]


def test_proof_of_the_published_vector():
    assert proof("jti-abc", 123).hex().startswith("825e")


@pytest.mark.parametrize("step", ["challenge", "signup", "capability"])
def test_answers_that_carry_a_secret_are_not_stored_and_say_what_is_next(agent, name, step):
    answer = agent.post("/api/v1/challenge")
    if step != "challenge":
        answer = agent.session(agent.solve(bearer(answer)), username=name())
    if step == "capability":
        answer = agent.capability(bearer(answer))
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.json()["_next"] and all(isinstance(line, str) for line in answer.json()["_next"])


def test_rotation_ends_the_old_key_and_its_sessions(agent, name):
    signup = agent.session(username=name())
    session, old = bearer(signup), signup.json()["apiKey"]
    rotated = agent.post("/api/v1/api-key", session)
    assert rotated.status_code == 200, rotated.text
    assert agent.capability(session).status_code == 401
    assert agent.session(apiKey=old).status_code == 401
    assert agent.session(apiKey=rotated.json()["apiKey"]).status_code == 200


def test_a_deleted_account_is_gone_and_its_address_stays_taken(agent, name):
    username = name()
    signup = agent.session(username=username)
    session = bearer(signup)
    capability = bearer(agent.capability(session))
    headers = {"Authorization": f"Bearer {session}"}
    assert agent.http.delete(agent.url + "/api/v1/account", headers=headers).status_code == 204
    assert agent.capability(session).status_code == 401
    assert agent.mailbox(capability).status_code == 401
    assert agent.session(apiKey=signup.json()["apiKey"]).status_code == 401
    assert agent.session(username=username).status_code == 409


REJECTED = [
    "no challenge", "forged challenge", "wrong digest", "too easy", "unknown key", "reserved",
    "no credential", "two credentials", "not json",
]


@pytest.mark.parametrize("refused", REJECTED)
def test_every_error_tells_an_agent_how_to_correct_the_request(agent, refused):
    answer, status = refuse(agent, refused)
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error["message"] and error["hint"]
    if status == 401:
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    page, _, anchor = error["docs_url"].partition("#")
    assert page == agent.url + "/llms.txt"
    assert anchor in anchors(agent.http.get(page).text)


def refuse(agent, kind):
    if kind == "no challenge":
        return agent.post("/api/v1/session", None, {"powHex": "0" * 128, "nonce": "1"}), 401
    solved = agent.solve()
    if kind == "forged challenge":
        solved.token = solved.token[:-8] + "AAAAAAAA"
        return agent.session(solved, username="forger"), 401
    if kind == "wrong digest":
        solved.digest = "0" * 128
        return agent.session(solved, username="guesser"), 403
    if kind == "too easy":
        solved = agent.solve(wanted=lambda digest: leading_zero_bits(digest) == 0)
        return agent.session(solved, username="hasty"), 403
    if kind == "unknown key":
        return agent.session(solved, apiKey="nobody-has-this-key"), 401
    if kind == "reserved":
        return agent.session(solved, username="postmaster"), 400
    if kind == "no credential":
        return agent.session(solved), 400
    if kind == "two credentials":
        return agent.session(solved, username="twofold", apiKey="key"), 400
    headers = {"Authorization": f"Bearer {solved.token}", "Content-Type": "application/json"}
    answer = agent.http.post(agent.url + "/api/v1/session", data="{", headers=headers)
    return answer, 400


def anchors(markdown):
    """The anchors of the headings, made as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*?) *$", markdown, re.M)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def test_the_log_knows_the_request_and_none_of_its_secrets(start, name):
    server = start()
    agent = Agent(server.url)
    signup = agent.session(username=name())
    capability = agent.capability(bearer(signup))
    server.stop()
    log = server.read_log()
    assert signup.headers["X-Request-Id"] in log
    assert "/api/v1/session" in log
    secrets = [signup.json()["apiKey"], bearer(signup), bearer(capability)]
    assert not [secret for secret in secrets if secret in log]
