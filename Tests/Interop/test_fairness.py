"""No client makes another wait or fail: clients of different networks beside one that floods.

The server trusts the tests as a proxy, so each request names the client that it is from.
"""

import concurrent.futures
import contextlib
import os
import select
import socket
import threading
import time

import pytest

from agent import Agent, claims
from hashhost import argon2
from hashlogin import HashLogin
from mailboxes import Mailboxes, fresh
from program import await_true
from wire import Wire

PROXIED = {"POSTERN_LIMITS_ENABLED": "true", "POSTERN_SERVER_TRUSTED_PROXIES": "127.0.0.1"}
# Rates at which no request is 429: shares do not depend on them.
FAST = {"POSTERN_LIMITS_GENERAL_PER_SECOND": "10000", "POSTERN_LIMITS_PRO_PER_SECOND": "10000",
        "POSTERN_LIMITS_CREATION_INTERVAL": "1ms"}
FLOODING, QUIET = "2001:db8:1::1", "2001:db8:2::1"


def network(number, site=1):
    """An address in one of the /64s of one /48."""
    return f"2001:db8:{site:x}:{number:x}::1"


def named(client, address):
    """`client` with its requests sent for `address`."""
    client.http.headers["X-Forwarded-For"] = address
    return client


class Flood:
    """Logins of one client without a pause, over more connections than it may have places."""

    def __init__(self, url, box, address=FLOODING, connections=80):
        self.url, self.box, self.address = url, box, address
        self.stopped, self.first_busy = threading.Event(), threading.Event()
        self.statuses, self.waits = [], set()
        self.threads = [threading.Thread(target=self._run) for _ in range(connections)]

    def _run(self):
        boxes = named(Mailboxes(self.url), self.address)
        while not self.stopped.is_set():
            answer = boxes.login(self.box.address)
            self.statuses.append(answer.status_code)
            if answer.status_code == 503:
                self.waits.add(int(answer.headers["Retry-After"]))
                self.first_busy.set()
                self.stopped.wait(0.2)

    def __enter__(self):
        # Of a client that has never logged in, five attempts at one account are checked at once.
        assert named(Mailboxes(self.url), self.address).login(self.box.address).status_code == 200
        for thread in self.threads:
            thread.start()
        if not self.first_busy.wait(30):
            self.__exit__()
            raise AssertionError("the flood never filled its share")
        return self

    def __exit__(self, *_):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def done(self):
        return self.statuses.count(200)


def test_a_flooding_client_is_503_alone_and_another_waits_for_a_few_hashes(serve):
    url = serve(**PROXIED, **FAST).url
    quiet = named(Mailboxes(url), QUIET)
    box = quiet.mailbox()
    waited = []
    with Flood(url, box) as flood:
        for _ in range(5):
            before = flood.done()
            assert quiet.login(box.address).status_code == 200
            waited.append(flood.done() - before)
    assert set(flood.statuses) == {200, 503} and min(flood.waits) >= 1
    # A quarter of the queue is 16 a core.
    assert sorted(waited)[len(waited) // 2] <= 4 * os.cpu_count(), waited


def test_a_503_of_a_clients_share_spends_no_challenge(serve):
    url = serve(**PROXIED, **FAST).url
    box = named(Mailboxes(url), QUIET).mailbox()
    flooding = named(Agent(url), FLOODING)
    with Flood(url, box):
        for number in range(200):
            solved = flooding.solve()
            answer = flooding.session(solved, username=f"patient-{number}")
            if answer.status_code == 503:
                break
    assert answer.status_code == 503 and int(answer.headers["Retry-After"]) >= 1
    assert flooding.session(solved, username="patient-agent").status_code == 201


def test_without_limits_one_client_may_fill_the_queue(serve):
    settings = {**PROXIED, "POSTERN_LIMITS_ENABLED": "false"}
    url = serve(**settings).url
    box = named(Mailboxes(url), QUIET).mailbox()
    # More than a quarter, fewer than all.
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(
            lambda _: named(Mailboxes(url), FLOODING).login(box.address), range(80)))
    assert {answer.status_code for answer in answers} == {200}


def test_a_site_leaves_the_difficulty_of_others_as_it_is(serve):
    server = serve(
        **PROXIED, POSTERN_POW_AGENT_DIFFICULTY="6", POSTERN_POW_AGENT_MAX_DIFFICULTY="10")
    other = named(Agent(server.url), QUIET)
    # A client is limited to 8 a second, and a site of 65,536 clients is not. 2,048 recent requests
    # that count for all would raise the difficulty of others.
    asked = []
    with Wire(server) as wire:
        for number in range(3000):
            wire.send(
                b"POST /api/v1/challenge HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: %s\r\n\r\n"
                % network(number).encode())
            token = wire.answer().one("authorization").removeprefix("Bearer ")
            asked.append(claims(token)["difficulty"])
    assert asked[0] == 6 and asked[-1] == 10
    assert claims(other.challenge())["difficulty"] == 6


def connections(server, count, source="127.0.0.1"):
    """How many of so many connections from `source` were accepted; they stay open in the list."""
    opened = []
    for _ in range(count):
        client = socket.create_connection(
            (server.host, server.port), 30, source_address=(source, 0))
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        opened.append((client, client.recv(4096)))
    good = [client for client, answer in opened if answer.startswith(b"HTTP/1.1 200 ")]
    for client, answer in opened:
        assert client in good or answer.startswith(b"HTTP/1.1 503 "), answer
    return good, [client for client, _ in opened]


@pytest.mark.parametrize("settings, accepted", [
    ({"POSTERN_LIMITS_ENABLED": "true"}, 5), ({"POSTERN_LIMITS_ENABLED": "false"}, 12),
    ({"POSTERN_LIMITS_ENABLED": "true", "POSTERN_SERVER_TRUSTED_PROXIES": "127.0.0.0/24"}, 12),
], ids=["a site", "without limits", "a trusted proxy"])
def test_a_site_has_a_quarter_of_the_connections(serve, settings, accepted):
    server = serve(POSTERN_SERVER_MAX_CONNECTIONS="20", **settings)
    first, open_ones = connections(server, 3, "127.0.0.2")
    more, others = connections(server, 9, "127.0.0.3")
    assert len(first) + len(more) == accepted
    # Another /24.
    elsewhere, rest = connections(server, 2, "127.0.1.1")
    assert len(elsewhere) == 2
    for client in open_ones + others + rest:
        client.close()


def test_a_site_has_half_of_the_memory_for_requests(serve):
    server = serve(
        POSTERN_LIMITS_ENABLED="true", POSTERN_SERVER_BUFFER_LIMIT=str(4 << 20))
    ask = b"POST /api/token HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n"

    def send(source, content):
        client = socket.create_connection(
            (server.host, server.port), 60, source_address=(source, 0))
        with contextlib.suppress(ConnectionError):
            client.sendall(ask + content)
        return client

    # More than the limit has room for, from two clients of one site.
    held = [send(f"127.0.0.{2 + number % 2}", b" " * 59_000) for number in range(150)]
    answered = []
    await_true(lambda: answered.extend(
        select.select([one for one in held if one not in answered], [], [], 0)[0])
        or len(answered) >= 75, "no request was refused")
    # The others still wait for the rest of theirs.
    with send("127.0.1.1", b" " * 60_000) as other:
        assert other.recv(12) == b"HTTP/1.1 400"
    for client in held:
        client.close()


@pytest.fixture
def hosting(serve, authority):
    """A server with limits that fetches from the tests' hosts, with the default times."""
    return serve(
        **PROXIED, POSTERN_HASH_LOGIN_CA_FILE=str(authority.file),
        POSTERN_HASH_LOGIN_FAILURE_FLOOR="3s", POSTERN_HASH_LOGIN_LOGIN_TIMEOUT="2s",
        POSTERN_HASH_LOGIN_REGISTER_TIMEOUT="5s").url


def test_registrations_with_a_slow_url_delay_no_login_on_the_host(hosting, host):
    user = named(HashLogin(hosting), QUIET)
    assert user.register(
        "fair@users.example", host.serve(argon2("right")), "right").status_code == 201
    slow, stopped = host.drip(argon2("right"), 0.5), threading.Event()
    statuses = []

    def register(number):
        answer = named(HashLogin(hosting), FLOODING).register(
            f"slow-{number}@users.example", slow, "right")
        statuses.append(answer.status_code)

    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        for number in range(5):
            pool.submit(register, number)
        time.sleep(1)
        for number in range(8):
            pool.submit(register, 100 + number)
            # A login that waited for one of the registrations would fail.
            answer = user.login("fair@users.example", "right")
            assert answer.status_code == 200, (number, answer.text)
            time.sleep(1)
        stopped.set()
    assert 201 not in statuses


def test_a_client_has_one_registrations_fetch_at_once_and_a_site_two(hosting, host):
    body, lock, running, most = argon2("right"), threading.Lock(), {}, {}

    def answer(handler):
        who = handler.path.split("-")[1]
        with lock:
            running[who] = running.get(who, 0) + 1
            most[who] = max(most.get(who, 0), running[who])
        time.sleep(0.3)
        with lock:
            running[who] -= 1
        handler.send_response(200)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def register(task):
        who, number, address = task
        url = host.answer(answer, path=f"/at-{who}-{number}")
        return named(HashLogin(hosting), address).register(
            f"{who}-{number}@users.example", url, "right").status_code

    tasks = [("client", number, FLOODING) for number in range(4)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(register, tasks)) == [201] * 4
    assert most == {"client": 1}
    tasks = [("site", number, network(number, 5)) for number in range(6)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(register, tasks)) == [201] * 6
    # Two at once in all, and one of them from one target.
    assert most["site"] == 1
    both = [("two", number, network(number, 6 + number)) for number in range(4)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(register, both)) == [201] * 4
    assert most["two"] == 2


def test_slow_logins_of_a_site_delay_no_other_sites_on_the_host(hosting, host):
    url, slowly = host.serve(argon2("right")), threading.Event()

    def answer(handler):
        if slowly.is_set():
            host.closing.wait(4)
        host.pages["/right"](handler)

    host.serve(argon2("right"), path="/right")
    user = named(HashLogin(hosting), QUIET)
    assert user.register("site@users.example", url, "right").status_code == 201
    other = named(HashLogin(hosting), network(1, 8))
    assert other.register("slow@users.example", host.answer(answer), "right").status_code == 201
    slowly.set()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        slow = [pool.submit(
            named(HashLogin(hosting), network(number, 9)).login, "slow@users.example", "right")
            for number in range(4)]
        # Their fetches have begun.
        time.sleep(0.5)
        assert user.login("site@users.example", "right").status_code == 200
        assert not any(one.done() for one in slow)
        assert {one.result().status_code for one in slow} == {422}


def test_a_client_has_a_share_of_the_look_ups_of_domains(serve):
    silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    silent.bind(("127.0.0.1", 0))
    server = serve(
        **PROXIED, **FAST, POSTERN_USERS_REGISTRATION="open", POSTERN_DNS_TIMEOUT="30s",
        POSTERN_DNS_SERVERS="127.0.0.1:%d" % silent.getsockname()[1])
    boxes = named(Mailboxes(server.url), QUIET)
    user = boxes.user()
    domain = boxes.call(
        "POST", "/api/user/domains", user.token, {"domain": "slow.example"}).json()["id"]

    def verify(_):
        return named(Mailboxes(server.url), FLOODING).call(
            "POST", f"/api/user/domains/{domain}/verify", user.token).status_code

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(verify, number) for number in range(12)]
        refused = concurrent.futures.as_completed(asked, timeout=60)
        # The first to come wait for the name server, the others have no place.
        assert {next(refused).result() for _ in range(8)} == {503}
        assert silent.recv(512)
        server.kill()
    silent.close()


def test_a_login_of_a_loaded_client_is_checked(hosting, host):
    """Five logins at once are within the rate, and each finds a place."""
    user = named(HashLogin(hosting), QUIET)
    assert user.register(
        "burst@users.example", host.serve(argon2("right")), "right").status_code == 201
    time.sleep(1.1)
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(
            lambda _: named(HashLogin(hosting), QUIET).login("burst@users.example", "right"),
            range(5)))
    assert {answer.status_code for answer in answers} == {200}


def test_a_hash_that_costs_too_much_is_not_computed(hosting, host):
    bomb = argon2("right").replace(b"m=64,t=1,p=1", b"m=65536,t=10,p=4")
    answer = named(HashLogin(hosting), QUIET).register(
        fresh("users.example"), host.serve(bomb), "right")
    assert answer.status_code == 422 and "Argon2" in answer.json()["error"]
