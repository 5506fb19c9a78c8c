"""What was acknowledged survives SIGKILL, and spent challenges stay spent."""

import concurrent.futures
import sqlite3
import threading

import requests

from agent import Agent, bearer

CLIENTS = 4
ACKNOWLEDGED_BEFORE_THE_KILL = 8


def sign_up_until_the_end(url, client, acknowledged):
    """Signs up accounts and notes each that was acknowledged, until the server is gone."""
    agent = Agent(url)
    try:
        for number in range(1000):
            solved = agent.solve()
            answer = agent.session(solved, username=f"c{client}-n{number:03}")
            if answer.status_code == 201:
                acknowledged(answer.json(), solved)
    except (requests.RequestException, AssertionError):
        return


def test_every_acknowledged_key_logs_in_after_kill_minus_nine(start, tmp_path):
    server = start("--data", str(tmp_path / "data"))
    unspent = Agent(server.url).solve()
    kept, enough = [], threading.Event()

    def acknowledged(*signup):
        kept.append(signup)
        if len(kept) >= ACKNOWLEDGED_BEFORE_THE_KILL:
            enough.set()

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        for client in range(CLIENTS):
            pool.submit(sign_up_until_the_end, server.url, client, acknowledged)
        assert enough.wait(60)
        server.kill()

    again = start("--data", str(tmp_path / "data"), port=server.port)
    agent = Agent(again.url)
    for made, _ in kept:
        login = agent.session(apiKey=made["apiKey"])
        assert login.status_code == 200 and login.json()["accountId"] == made["accountId"]

    # The keys are the same: an unspent challenge from before the kill is accepted.
    assert agent.session(unspent, username="patient").status_code == 201
    for _, solved in [kept[0], kept[-1]]:
        replay = agent.session(solved, username="replayer")
        assert replay.status_code == 401
        assert replay.json()["error"]["message"] == "Invalid or expired challenge"

    again.stop()
    with sqlite3.connect(tmp_path / "data" / "postern.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []


def test_sessions_and_capabilities_outlive_a_restart(start, tmp_path):
    server = start("--data", str(tmp_path / "data"))
    agent = Agent(server.url)
    session = bearer(agent.session(username="steadfast"))
    kid = agent.http.get(server.url + "/.well-known/jwks.json").json()["keys"][0]["kid"]
    server.stop()

    again = Agent(start("--data", str(tmp_path / "data"), port=server.port).url)
    assert bearer(again.capability(session)).count(".") == 2
    assert again.http.get(again.url + "/.well-known/jwks.json").json()["keys"][0]["kid"] == kid


def test_one_of_fifty_uses_of_a_challenge_gets_past_the_spend(agent):
    solved = agent.solve()
    gate = threading.Barrier(50)

    def use(number):
        client = Agent(agent.url)
        gate.wait()
        return client.session(solved, username=f"racer-{number:02}").status_code

    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        statuses = sorted(pool.map(use, range(50)))
    assert statuses.count(201) == 1
    # A busy server refuses before the spend; the others come after it.
    assert set(statuses) <= {201, 401, 503}


def test_one_of_many_signups_for_a_name_gets_it(agent):
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        solved = list(pool.map(lambda _: agent.solve(), range(10)))
        statuses = list(pool.map(
            lambda one: Agent(agent.url).session(one, username="wanted").status_code, solved))
    assert sorted(statuses) == [201] + [409] * 9


def test_a_challenge_is_spent_by_a_false_proof_too(agent, name):
    solved = agent.solve()
    right, solved.digest = solved.digest, "00" + "0" * 126
    assert agent.session(solved, username=name()).status_code == 403
    solved.digest = right
    assert agent.session(solved, username=name()).status_code == 401
