"""What the server logs as security events: with client, request and number."""

import json
import time

import pytest
import requests


def events(server, count):
    """At least that many lines, once they are written."""
    deadline = time.monotonic() + 20
    while True:
        lines = [json.loads(line) for line in server.read_log().splitlines()]
        found = [line for line in lines if line["message"] == "security event"]
        if len(found) >= count or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


@pytest.fixture(scope="module")
def strict(serve):
    return serve(
        POSTERN_HASH_LOGIN_ALLOW_PRIVATE_NETWORKS="false", POSTERN_HASH_LOGIN_ALLOW_HTTP="false")


def test_a_refused_address_is_an_event_of_its_request(strict):
    answer = requests.post(strict.url + "/register", timeout=30, json={
        "email": "a@users.example", "password": "x",
        "password_hash_url": "https://127.0.0.1/secret?key=1"})
    assert answer.status_code == 422
    assert answer.json()["error"] == "Could not fetch password hash URL."
    [event] = [one for one in events(strict, 1) if one["kind"] == "address_refused"]
    assert event["subject"] == "https://127.0.0.1" and event["client.address"] == "127.0.0.1"
    assert event["id"] == answer.headers["X-Request-Id"] and event["count"] == 1


def test_events_that_were_folded_are_logged_at_the_end(start):
    server = start()
    for number in range(5):
        answer = requests.delete(server.url + "/api/token", timeout=30, headers={
            "Authorization": f"Bearer {number}"})
        assert answer.status_code == 401
    server.stop()
    assert [event["count"] for event in events(server, 2)] == [1, 4]


def test_rejected_tokens_are_folded(strict):
    answers = [
        requests.get(strict.url + "/api/user/me", timeout=30, headers={
            "Authorization": f"Bearer tm_pro_{number}"}) for number in range(20)]
    assert {answer.status_code for answer in answers} == {401}
    rejected = [one for one in events(strict, 2) if one["kind"] == "token_rejected"]
    assert len(rejected) == 1
    assert rejected[0]["subject"] == "/api/user/me"
    assert rejected[0]["id"] == answers[0].headers["X-Request-Id"]
    assert "tm_pro" not in strict.read_log()
