"""Rate limits as clients meet them: the development profile, where they are on."""

import time

import pytest

from agent import Agent
from mailboxes import Mailboxes, failed, fresh

# Creations cost proof of work; the limits do not depend on its difficulty.
EASY = {"POSTERN_POW_ACCOUNTS_DIFFICULTY": "4", "POSTERN_POW_AGENT_DIFFICULTY": "1",
        "POSTERN_POW_AGENT_MAX_DIFFICULTY": "1"}


@pytest.fixture
def limited(start):
    """A client of a server with the default limits; `settings` change them."""
    def limited(**settings):
        server = start(profile="development", **EASY, **settings)
        return Mailboxes(server.url)
    return limited


def burst(call, count=40):
    """Responses to calls without a pause."""
    return [call() for _ in range(count)]


def exhaust(call):
    """Calls until one is 429, and checks that response."""
    for _ in range(1000):
        if (answer := call()).status_code == 429:
            return hold_refusal(answer)
    raise AssertionError("never refused")


def hold_refusal(answer):
    failed(answer, 429, "rate_limit_exceeded")
    assert int(answer.headers["Retry-After"]) >= 1


def test_a_burst_is_cut_off_and_told_when_to_come_back(limited):
    boxes = limited()
    answers = burst(lambda: boxes.call("GET", "/api/domains"))
    good = [answer for answer in answers if answer.status_code == 200]
    refused = [answer for answer in answers if answer.status_code != 200]
    assert answers[:8] == good[:8] and refused
    for answer in refused:
        hold_refusal(answer)
        # The class's bucket was empty, or the client's own, which comes before it.
        assert int(answer.headers["RateLimit-Limit"]) in (8, 20)
        assert int(answer.headers["RateLimit-Remaining"]) == 0
    for answer in good:
        assert int(answer.headers["RateLimit-Limit"]) == 8
        assert 0 <= int(answer.headers["RateLimit-Remaining"]) < 8
        assert int(answer.headers["RateLimit-Reset"]) in (1, 2)
    assert int(answers[0].headers["RateLimit-Remaining"]) == 7
    # A client that waits for Retry-After is served.
    time.sleep(int(refused[-1].headers["Retry-After"]))
    assert boxes.call("GET", "/api/domains").status_code == 200


def test_all_apis_share_one_bucket_and_health_has_none(limited):
    boxes = limited(POSTERN_LIMITS_GENERAL_PER_SECOND="1")
    agent = Agent(boxes.url)
    exhaust(lambda: boxes.call("GET", "/api/domains"))
    other = agent.post("/api/v1/challenge")
    assert other.status_code == 429 and int(other.headers["Retry-After"]) >= 1
    assert other.json()["error"]["hint"]
    for path in ["/healthz", "/readyz", "/.well-known/jwks.json", "/llms.txt", "/openapi.json"]:
        assert boxes.call("GET", path).status_code == 200


def test_a_dead_token_counts_as_none_and_a_pro_token_has_its_own_bucket(limited):
    boxes = limited(POSTERN_USERS_REGISTRATION="open")
    token = boxes.user().token
    exhaust(lambda: boxes.call("GET", "/api/user/me", "tm_pro_dead"))
    # Each request takes from the client's own bucket first, which is full again after a second.
    time.sleep(1.1)
    answers = burst(lambda: boxes.call("GET", "/api/user/me", token), 20)
    assert [answer.status_code for answer in answers] == [200] * 20
    assert int(answers[0].headers["RateLimit-Limit"]) == 20
    # Endpoints that ignore the token ignore it for the rate too.
    exhaust(lambda: boxes.call("GET", "/api/domains", token))


def test_one_free_account_in_eight_seconds_and_a_refusal_spends_nothing(limited):
    boxes = limited(POSTERN_LIMITS_GENERAL_PER_SECOND="1000")
    first, second = boxes.proof(), boxes.proof()
    # A creation that fails does not count.
    failed(boxes.create("postmaster@mail.test"), 409, "address_taken")
    assert boxes.create(fresh(), pow=first).status_code == 201
    made = time.monotonic()
    refused = boxes.create(fresh(), pow=second)
    hold_refusal(refused)
    wait = int(refused.headers["Retry-After"])
    assert 1 <= wait <= 8
    # Agents' signups count with them.
    agent = Agent(boxes.url)
    assert agent.session(username="hasty-agent").status_code == 429
    time.sleep(wait)
    assert boxes.create(fresh(), pow=second).status_code == 201
    assert time.monotonic() - made >= 7.5


def test_pro_creations_have_their_own_rate(limited):
    boxes = limited(POSTERN_USERS_REGISTRATION="open", POSTERN_USERS_MAX_ACCOUNTS="100",
                    POSTERN_LIMITS_PRO_CREATIONS_PER_SECOND="2")
    token = boxes.user().token
    answers = burst(lambda: boxes.create(fresh(), None, token, auth_key="ab" * 32), 20)
    assert {answer.status_code for answer in answers[:2]} == {201}
    refused = [answer for answer in answers if answer.status_code != 201]
    for answer in refused:
        hold_refusal(answer)
    assert refused


def test_guessing_is_slowed_and_the_owner_is_not_locked_out_for_long(limited):
    boxes = limited(POSTERN_LIMITS_GENERAL_PER_SECOND="1000",
                    POSTERN_LIMITS_PRO_PER_SECOND="1000",
                    POSTERN_LIMITS_CREATION_INTERVAL="1ms")
    box = boxes.mailbox()
    answers = [boxes.login(box.address, f"guess {number}") for number in range(30)]
    assert answers[0].status_code == 401 and answers[-1].status_code == 429
    wait = int(answers[-1].headers["Retry-After"])
    assert wait <= 60
    # Other accounts are not affected, and the same wrong password counts each time.
    stale = boxes.mailbox()
    answers = [boxes.login(stale.address, "the same stale one") for _ in range(12)]
    assert answers[0].status_code == 401 and answers[-1].status_code == 429


def test_without_limits_nothing_is_counted(postern):
    boxes = Mailboxes(postern.url)
    answers = burst(lambda: boxes.call("GET", "/api/domains"), 60)
    assert {answer.status_code for answer in answers} == {200}
    assert "RateLimit-Limit" not in answers[-1].headers
