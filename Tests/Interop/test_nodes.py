"""Three nodes on three PostgreSQL servers that replicate synchronously, behind the real HAProxy,
configured by the files in deploy/: what one node does holds on all of them, and neither killed
nodes nor a killed primary lose what was acknowledged.
"""

import concurrent.futures
import json
import socket
import ssl
import time

import pytest
import requests

from accountload import EVENTS, Load, RunningLoad, check_events, state_of
from agent import Agent, bearer
from cluster import Cluster
from mailboxes import Mailboxes, failed, fresh
from program import PATIENCE_SECONDS, Postern, await_true, run
from proxies import NodesHAProxy, NodesHAProxyWithAddresses, NodesNginx

ROUNDS = 100
AT_ONCE = 12


class Nodes:
    """Three servers, and everything in front of and behind them."""

    def __init__(self, cluster, directory):
        self.cluster, self.directory = cluster, directory
        secret = directory / "master.secret"
        secret.write_bytes(bytes(range(32)))
        secret.chmod(0o600)
        self.settings = {
            "POSTERN_STORAGE_URL": cluster.url, "POSTERN_MASTER_SECRET_FILE": str(secret),
            "POSTERN_SERVER_PUBLIC_URL": "https://auth.mail.test",
            "POSTERN_SERVER_TRUSTED_PROXIES": "127.0.0.1", "POSTERN_USERS_REGISTRATION": "open"}
        self.started = []
        try:
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                starting = [pool.submit(self.start) for _ in range(3)]
            self.started = [one.result() for one in starting]
        except BaseException:
            self.stop()
            raise

    def start(self, port=0, **settings):
        return Postern(self.directory, port=port, **self.settings, **settings)

    def restart(self, index):
        """As a supervisor does after the process has ended."""
        self.started[index] = self.start(port=self.started[index].port)

    def operate(self, *words):
        return run(*words, "--profile", "test", directory=self.directory, **self.settings)

    @property
    def urls(self):
        return [node.url for node in self.started]

    @property
    def ports(self):
        return [node.port for node in self.started]

    def stop(self):
        for node in self.started:
            if node.running:
                node.kill()


@pytest.fixture(scope="module")
def cluster(authority):
    cluster = Cluster(authority)
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def nodes(cluster, tmp_path_factory):
    nodes = Nodes(cluster, tmp_path_factory.mktemp("nodes"))
    yield nodes
    nodes.stop()


@pytest.fixture(scope="module")
def proxy(nodes, authority, tmp_path_factory):
    """The URL of HAProxy in front of the nodes."""
    proxy = NodesHAProxy(
        tmp_path_factory.mktemp("haproxy"), authority.directory / "localhost.pem", nodes.ports)
    proxy.url = f"https://localhost:{proxy.port}"
    try:
        await_ready(f"{proxy.url}/healthz", authority.file)
        yield proxy
    finally:
        proxy.stop()


@pytest.fixture(scope="module")
def primary(cluster):
    return cluster.servers[0]


def status(url, verify=True):
    try:
        return requests.get(url, timeout=5, verify=verify).status_code
    except requests.RequestException:
        return None


def await_ready(url, verify=True):
    await_true(
        lambda: status(url, verify) == 200, lambda: f"{url} is {status(url, verify)}")


def await_unready(nodes):
    """They know that the database cannot be used, and live."""
    for url in nodes.urls:
        await_true(lambda: status(f"{url}/readyz") == 503, f"{url} is ready")
        assert status(f"{url}/healthz") == 200


def clients_of(nodes, proxy, authority):
    """One client for each place in a race: on each node in turn, and through HAProxy."""
    clients = []
    for number in range(AT_ONCE):
        url = [*nodes.urls, proxy.url][number % 4]
        clients.append((Mailboxes(url), Agent(url)))
        for client in clients[-1]:
            client.http.verify = str(authority.file)
    return clients


def test_a_challenge_is_spent_once_on_all_nodes(nodes, proxy, authority):
    clients = clients_of(nodes, proxy, authority)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for number in range(ROUNDS):
            if number % 10:
                proof = clients[number % AT_ONCE][0].proof()
                codes = pool.map(
                    lambda one: one[0].create(fresh(), pow=proof).status_code, clients)
                assert sorted(codes) == [201] + [403] * (AT_ONCE - 1)
            else:
                solved = clients[number % AT_ONCE][1].solve()
                codes = pool.map(
                    lambda place: clients[place][1].session(
                        solved, username=f"round-{number}-{place}").status_code, range(AT_ONCE))
                assert sorted(codes) == [201] + [401] * (AT_ONCE - 1)


def test_what_one_node_revokes_is_revoked_on_all_of_them(nodes):
    boxes = [Mailboxes(url) for url in nodes.urls]
    agents = [Agent(url) for url in nodes.urls]
    for number, (here, agent) in enumerate(zip(boxes, agents)):
        reset, deleted = here.mailbox(), here.mailbox()
        user = here.user()
        revoked = here.api_token(user)
        ended = agent.session(username=f"ends-{number}")
        renewed = agent.session(username=f"renews-{number}")
        for there in boxes:
            assert there.get(deleted.id, deleted.token).status_code == 200
        assert here.reset(reset.id, reset.token, "another-secret").status_code == 200
        assert here.delete(deleted.id, deleted.token).status_code == 204
        path = f"/api/user/tokens/{revoked['id']}"
        assert here.call("DELETE", path, user.token).status_code == 204
        assert here.call("DELETE", "/api/v1/session", bearer(ended)).status_code == 204
        assert agent.post("/api/v1/api-key", bearer(renewed)).status_code == 200
        for there, other in zip(boxes, agents):
            for box in (reset, deleted):
                failed(there.get(box.id, box.token), 401, "invalid_or_expired_token")
                failed(there.login(box.address), 401, "invalid_credentials")
            assert there.login(reset.address, "another-secret").status_code == 200
            assert there.call("GET", "/api/user/me", revoked["token"]).status_code == 401
            for session in (ended, renewed):
                assert other.capability(bearer(session)).status_code == 401
        # The old key is dead, too, on another node.
        other = agents[(number + 1) % 3]
        assert other.session(apiKey=renewed.json()["apiKey"]).status_code == 401


def test_a_leaked_key_is_dead_on_all_nodes_within_two_seconds(nodes):
    boxes = [Mailboxes(url) for url in nodes.urls]
    box = boxes[0].mailbox()
    rotated = nodes.operate("key", "rotate", "--use", "accounts", "--leaked")
    assert rotated.returncode == 0, rotated.stderr
    time.sleep(2)
    for there in boxes:
        failed(there.get(box.id, box.token), 401, "invalid_or_expired_token")
    token = boxes[1].login(box.address).json()["token"]
    for there in boxes:
        assert there.get(box.id, token).status_code == 200


def test_the_limits_that_must_hold_for_all_nodes_together_do(nodes):
    """Each node counts requests for itself; not so creations and accounts."""
    limited = []
    try:
        for _ in range(2):
            limited.append(nodes.start(
                POSTERN_LIMITS_ENABLED="true", POSTERN_LIMITS_CREATION_INTERVAL="10m",
                POSTERN_LIMITS_PRO_CREATIONS_PER_SECOND="100", POSTERN_USERS_MAX_ACCOUNTS="3"))
        one, other = (Mailboxes(node.url) for node in limited)
        one.http.headers["X-Forwarded-For"] = other.http.headers["X-Forwarded-For"] = "192.0.2.7"
        user, api = one.user(), None
        api = one.api_token(user)["token"]
        # Registering has begun the interval of this client.
        proof = other.proof()
        answer = other.create(fresh(), pow=proof)
        failed(answer, 429, "rate_limit_exceeded")
        assert int(answer.headers["Retry-After"]) >= 1
        # A 429 spends nothing: another client uses the challenge. After that it has to wait, too.
        one.http.headers["X-Forwarded-For"] = other.http.headers["X-Forwarded-For"] = "192.0.2.8"
        assert one.create(fresh(), pow=proof).status_code == 201
        failed(other.create(fresh()), 429, "rate_limit_exceeded")
        # A creation that fails does not begin it.
        one.http.headers["X-Forwarded-For"] = other.http.headers["X-Forwarded-For"] = "192.0.2.9"
        taken = fresh()
        assert other.create(taken).status_code == 201
        one.http.headers["X-Forwarded-For"] = other.http.headers["X-Forwarded-For"] = "192.0.2.10"
        failed(one.create(taken), 409, "address_taken")
        assert other.create(fresh()).status_code == 201
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            answers = list(pool.map(
                lambda number: [one, other][number % 2].create(fresh(), token=api), range(10)))
        assert sorted(answer.status_code for answer in answers) == [201] * 3 + [403] * 7
        assert one.call("GET", "/api/user/me", api).json()["account_count"] == 3
    finally:
        for node in limited:
            node.stop()


class Client:
    """Connections to a proxy whose clients state their address by PROXY protocol."""

    def __init__(self, proxy, authority):
        self.proxy = proxy
        self.context = ssl.create_default_context(cafile=str(authority.file))

    def get(self, path, address):
        family, here = ("TCP6", "::1") if ":" in address else ("TCP4", "127.0.0.1")
        with socket.create_connection(("127.0.0.1", self.proxy.port), 10) as plain:
            plain.sendall(f"PROXY {family} {address} {here} 40000 443\r\n".encode())
            with self.context.wrap_socket(plain, server_hostname="localhost") as wire:
                wire.sendall(
                    f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
                return int(wire.recv(64).split()[1])


@pytest.mark.parametrize("kind", [NodesHAProxyWithAddresses, NodesNginx], ids=lambda kind: kind.program)
def test_the_clients_of_one_site_meet_one_node(nodes, authority, tmp_path, kind):
    proxy = kind(tmp_path, authority.directory / "localhost.pem", nodes.ports)
    sites = [
        *([f"198.51.{site}.{host}" for host in (1, 77, 254)] for site in range(8)),
        *([f"2001:db8:{site:x}:{rest}" for rest in (":1", "1::1", "1:2:3:4:5", "ffff::")]
          for site in range(1, 6)),
        ["2001:db8::1", "2001:db8:0:1::1", "2001:db8:0:1:2:3:4:5", "2001:db8::9:0:0:1"],
        ["2a02::1", "2a02:0:0:1:2:3:4:5", "2a02::7:0:0:0:1"]]
    logged = [len(node.read_log()) for node in nodes.started]
    try:
        client = Client(proxy, authority)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                if client.get("/healthz", "203.0.113.1") == 200:
                    break
            except OSError:
                pass
            assert time.monotonic() < deadline, proxy.log.read_text()
            time.sleep(0.05)
        for address in (address for site in sites for address in site):
            assert client.get("/api/user/domains", address) == 401
    finally:
        proxy.stop()
    met = {}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not all(socket_form(address) in met for site in sites for address in site):
        assert time.monotonic() < deadline, met
        for index, node in enumerate(nodes.started):
            for line in node.read_log()[logged[index]:].splitlines():
                line = json.loads(line) if line.endswith("}") else {}
                if line.get("http.route") == "/api/user/domains":
                    met.setdefault(line["client.address"], set()).add(index)
    seen = []
    for site in sites:
        of_site = set().union(*(met[socket_form(address)] for address in site))
        assert len(of_site) == 1, site
        seen.append(of_site.pop())
    assert set(seen) == {0, 1, 2}


def socket_form(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.inet_ntop(family, socket.inet_pton(family, address))


def running(proxy, authority):
    """Clients that change accounts through HAProxy until the block ends."""
    return RunningLoad(Load(proxy.url, survives=True, verify=str(authority.file), pause=0.1))


def check(load, nodes, server):
    """What the clients were told is what every node and the database know."""
    assert not load.faults, load.faults
    assert {code for code in load.statuses if code >= 500} <= {503}
    boxes = [Mailboxes(url) for url in nodes.urls]
    late = {box.address: state_of(boxes[number % 3], box) for number, box in enumerate(load.told)}
    rows = server.query(EVENTS, "postern").splitlines()
    check_events([row.split("|") for row in rows], load.told, late)


def test_killed_nodes_lose_nothing(nodes, proxy, authority, primary):
    with running(proxy, authority) as clients:
        for index in range(3):
            clients.await_changes(20)
            nodes.started[index].kill()
            clients.await_changes(10)
            nodes.restart(index)
    check(clients.load, nodes, primary)


def test_a_write_is_acknowledged_when_a_standby_has_it(nodes, cluster, primary):
    boxes = Mailboxes(nodes.urls[0])
    box, standbys = boxes.mailbox(), cluster.servers[1:]
    try:
        for standby in standbys:
            standby.pause()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(boxes.reset, box.id, box.token, "another-secret")
            with pytest.raises(concurrent.futures.TimeoutError):
                answer.result(1.5)
            # Nobody sees it yet either.
            assert opens_with(nodes.urls[1], box)
            standbys[0].resume()
            assert answer.result(PATIENCE_SECONDS).status_code == 200
    finally:
        for standby in standbys:
            standby.resume()
    assert not opens_with(nodes.urls[1], box)
    cluster.await_standbys(primary, 2)


def opens_with(url, box):
    return Mailboxes(url).get(box.id, box.token).status_code == 200


def test_nothing_is_read_from_a_primary_that_became_read_only(nodes, primary):
    """As at a planned switch-over, and where a provider protects a full disk."""
    boxes = [Mailboxes(url) for url in nodes.urls]
    box = boxes[0].mailbox()
    for there in boxes:
        assert there.get(box.id, box.token).status_code == 200
    primary.query("ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf()")
    try:
        # A server that is busy hears of its new configuration a moment later.
        primary.query("SELECT pg_sleep(0.2)")
        for there in boxes:
            answer = there.get(box.id, box.token)
            failed(answer, 503, "server_busy")
            assert int(answer.headers["Retry-After"]) >= 1
        await_unready(nodes)
    finally:
        primary.query("""
            SET default_transaction_read_only = off;
            ALTER SYSTEM RESET default_transaction_read_only;
            SELECT pg_reload_conf()""")
    for url in nodes.urls:
        await_ready(f"{url}/readyz")
    for there in boxes:
        assert there.get(box.id, box.token).status_code == 200


def test_a_failover_loses_nothing_and_needs_no_restart(nodes, proxy, authority, cluster, report):
    primary, *standbys = cluster.servers
    before = [node.process.pid for node in nodes.started]
    revoked = Mailboxes(nodes.urls[0])
    box = revoked.mailbox()
    with running(proxy, authority) as clients:
        clients.await_changes(40)
        assert revoked.delete(box.id, box.token).status_code == 204
        primary.kill()
        for url in nodes.urls:
            answer = Mailboxes(url).get(box.id, box.token)
            failed(answer, 503, "server_busy")
            assert int(answer.headers["Retry-After"]) >= 1
        await_unready(nodes)
        answer = requests.get(f"{proxy.url}/api/domains", timeout=30, verify=authority.file)
        assert answer.status_code == 503 and int(answer.headers["Retry-After"]) >= 1

        promoted = cluster.most_advanced(standbys)
        assert promoted.query("SELECT pg_promote()") == "t"
        since = time.monotonic()
        for url in nodes.urls:
            await_ready(f"{url}/readyz")
            failed(Mailboxes(url).get(box.id, box.token), 401, "invalid_or_expired_token")
            made = Mailboxes(url).create(fresh())
            assert made.status_code == 201, made.text
        report(f"{time.monotonic() - since:.1f} s from the promotion to writes on every node")
        clients.await_changes(40)
    check(clients.load, nodes, promoted)
    assert clients.load.dropped == 0
    assert [node.process.pid for node in nodes.started] == before
    for node in nodes.started:
        assert node.running and "the database cannot be reached" in node.read_log()


def test_a_primary_that_is_silent_is_left_for_the_promoted_standby(nodes, cluster, report):
    """As when its machine is gone: connections stay open and nothing answers. Runs after the
    failover, so that one standby is left, and nothing can be written."""
    servers = [server for server in cluster.servers if server.running]
    primary = next(one for one in servers if one.query("SELECT pg_is_in_recovery()") == "f")
    standby = next(one for one in servers if one is not primary)
    boxes = [Mailboxes(url) for url in nodes.urls]
    box = boxes[0].mailbox()
    cluster.await_standbys(primary, 1)
    for there in boxes:
        assert there.get(box.id, box.token).status_code == 200
    primary.pause()
    assert standby.query("SELECT pg_promote()") == "t"
    since = time.monotonic()
    for url in nodes.urls:
        await_ready(f"{url}/readyz")
    report(f"{time.monotonic() - since:.1f} s from the promotion to every node, silent primary")
    for there in boxes:
        assert there.get(box.id, box.token).status_code == 200
