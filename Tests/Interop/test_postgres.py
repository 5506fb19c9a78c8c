"""Servers that share a PostgreSQL database."""

import concurrent.futures
import pathlib
import time

import pytest
import requests

from agent import Agent, bearer
from postgres import TestDatabase
from program import Postern, await_true, run

PUBLIC = {"POSTERN_SERVER_PUBLIC_URL": "https://auth.mail.test"}


@pytest.fixture(scope="module")
def database():
    return TestDatabase()


@pytest.fixture
def fresh():
    return TestDatabase()


def settings(database, **more):
    return {**PUBLIC, "POSTERN_STORAGE_URL": database.url, **more}


@pytest.fixture(scope="module")
def nodes(database, tmp_path_factory):
    """Three servers, which start at the same moment on an empty database and share the master secret."""
    secret = tmp_path_factory.mktemp("secret") / "master.secret"
    secret.write_bytes(bytes(range(32)))
    secret.chmod(0o600)
    more = settings(database, POSTERN_MASTER_SECRET_FILE=str(secret))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        started = list(pool.map(lambda _: Postern(tmp_path_factory.mktemp("node"), **more), range(3)))
    yield started
    for server in started:
        server.stop()


@pytest.fixture
def operate(nodes, database, tmp_path, tmp_path_factory):
    """Runs a command on the database of the nodes."""
    secret = tmp_path / "master.secret"
    secret.write_bytes(bytes(range(32)))
    secret.chmod(0o600)
    return lambda *words: run(
        *words, "--profile", "test", directory=tmp_path,
        **settings(database, POSTERN_MASTER_SECRET_FILE=str(secret)))


def test_what_one_server_writes_all_of_them_know(nodes):
    first, second, third = (Agent(node.url) for node in nodes)
    signup = first.session(username="shared")
    assert signup.status_code == 201, signup.text
    assert second.session(username="shared").status_code == 409
    login = third.session(apiKey=signup.json()["apiKey"])
    assert login.status_code == 200
    assert second.capability(bearer(login)).status_code == 200
    # A new API key ends every session of the account, on every server.
    assert first.post("/api/v1/api-key", bearer(login)).status_code == 200
    for one in (first, second, third):
        assert one.capability(bearer(login)).status_code == 401


def test_a_challenge_is_spent_once_on_all_servers(nodes):
    agents = [Agent(node.url) for node in nodes]
    for number in range(5):
        solved = agents[number % 3].solve()
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            codes = list(pool.map(
                lambda index: Agent(nodes[index % 3].url).session(
                    solved, username=f"spent-{number}-{index}").status_code, range(12)))
        assert sorted(codes) == [201] + [401] * 11


@pytest.mark.parametrize("flags", [[], ["--leaked"]])
def test_a_rotation_reaches_every_server_within_two_seconds(nodes, operate, flags):
    agents = [Agent(node.url) for node in nodes]
    session = bearer(agents[0].session(username=f"before{len(flags)}"))
    rotated = operate("key", "rotate", "--use", "agent", *flags)
    assert rotated.returncode == 0, rotated.stderr
    time.sleep(2)
    expected = 401 if flags else 200
    for one in agents:
        assert one.capability(session).status_code == expected
    newer = bearer(agents[1].session(username=f"after{len(flags)}"))
    for one in agents:
        assert one.capability(newer).status_code == 200


def test_libpq_is_loaded_only_where_the_url_asks_for_it(nodes, postern):
    def maps(server):
        return pathlib.Path(f"/proc/{server.process.pid}/maps").read_text()

    assert "libpq" in maps(nodes[0])
    assert "libpq" not in maps(postern)


def test_commands_work_on_the_same_database(nodes, operate):
    assert "shared@mail.test" in operate("account", "list").stdout
    assert operate("account", "disable", "shared@mail.test").returncode == 0
    assert "account_disabled" in operate("audit", "tail").stdout
    assert operate("migrate", "--plan").stdout == "the database is up to date\n"


def test_a_backup_is_left_to_postgresql(operate, tmp_path):
    result = operate("backup", "copy.db")
    assert result.returncode == 1
    assert "pg_dump" in result.stderr
    assert not (tmp_path / "copy.db").exists()


def test_without_its_database_a_server_is_unavailable_and_recovers_by_itself(start, fresh):
    node = start(**settings(fresh))
    agent = Agent(node.url)
    solved = agent.solve()
    signup = agent.session(username="waits")
    assert signup.status_code == 201
    fresh.stop()
    answer = agent.session(solved, username="later")
    assert answer.status_code == 503 and int(answer.headers["Retry-After"]) >= 1
    for _ in range(20):
        answer = agent.capability(bearer(signup))
        assert answer.status_code == 503 and int(answer.headers["Retry-After"]) >= 1
    assert requests.get(f"{node.url}/healthz", timeout=5).status_code == 200
    assert requests.get(f"{node.url}/readyz", timeout=5).status_code == 503
    fresh.start()
    await_true(
        lambda: requests.get(f"{node.url}/readyz", timeout=5).status_code == 200, node.read_log)
    # A 503 spends nothing.
    assert agent.session(solved, username="later").status_code == 201
    assert agent.capability(bearer(signup)).status_code == 200
    log = node.read_log()
    assert log.count("the database cannot be reached") == 1
    assert log.count("the database can be reached again") == 1


def test_connections_that_the_server_ends_are_not_noticed(start, fresh):
    node = start(**settings(fresh))
    agent = Agent(node.url)
    session = bearer(agent.session(username="stays"))
    for number in range(5):
        fresh.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()")
        assert agent.capability(session).status_code == 200
        assert agent.session(username=f"stays-{number}").status_code == 201


def test_the_password_is_never_shown(fresh, tmp_path):
    secret = "s3cret-pa55"
    url = fresh.url.replace("postgresql://", f"postgresql://postern:{secret}@").replace("&user=postern", "")
    bad = url.replace("host=/", "host=/nonexistent/")
    for words, value in (
            (["check-config"], url), (["migrate", "--plan"], url), (["migrate", "--plan"], bad),
            (["serve", "--port", "0"], bad), (["migrate"], url.replace("://", ":/")),
            (["backup", "x"], url), (["migrate", "--plan"], url + "&nosuch=1")):
        result = run(*words, "--profile", "test", directory=tmp_path, POSTERN_STORAGE_URL=value, **PUBLIC)
        assert secret not in result.stdout + result.stderr, words
    shown = run("check-config", directory=tmp_path, POSTERN_STORAGE_URL=url).stdout
    assert "postern:***@" in shown
    # libpq's own sources of a password work.
    (tmp_path / "pass").write_text(f"*:*:*:*:{secret}\n")
    (tmp_path / "pass").chmod(0o600)
    result = run(
        "migrate", "--plan", "--profile", "test", directory=tmp_path, PGPASSFILE=str(tmp_path / "pass"),
        **settings(fresh))
    assert result.returncode == 0, result.stderr


def test_a_server_that_cannot_be_reached_is_reported_at_the_start(tmp_path):
    result = run(
        "serve", "--profile", "test", "--port", "0", directory=tmp_path,
        POSTERN_STORAGE_URL="postgresql:///d?host=/nonexistent")
    assert result.returncode == 69
    assert "no connection to postgresql:///d?host=/nonexistent" in result.stderr


def test_a_sqlite_database_is_copied_and_served(start, fresh, tmp_path):
    data = tmp_path / "data"
    server = start("--data", str(data), **PUBLIC)
    agent = Agent(server.url)
    signup = agent.session(username="moves")
    key = signup.json()["apiKey"]
    for number in range(5):
        assert agent.session(username=f"moves-{number}").status_code == 201
    server.stop()
    words = ["migrate", "--from", f"sqlite:{data}/postern.db", "--to", fresh.url]
    copied = run(*words, directory=tmp_path)
    assert copied.returncode == 0, copied.stderr
    assert "accounts: 6 copied and compared" in copied.stdout
    again = run(*words, directory=tmp_path)
    assert again.returncode == 1 and "nothing was changed" in again.stderr
    server = start("--data", str(data), **settings(fresh))
    agent = Agent(server.url)
    # The same keys, so earlier tokens are accepted too.
    assert agent.capability(bearer(signup)).status_code == 200
    assert agent.session(apiKey=key).status_code == 200
    assert agent.session(username="moves").status_code == 409
    assert "moves@mail.test" in run(
        "account", "list", "--data", data, directory=tmp_path, **settings(fresh)).stdout
