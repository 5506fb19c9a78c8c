"""Servers on PostgreSQL beside one on SQLite, and creations beside pgbench.

TEST_POSTGRES names a cluster of this machine (.ci/with-postgres --durable), which waits for the
disk at each commit. Its processes, the servers and the load tools run on the same cores.
"""

import concurrent.futures
import contextlib
import itertools
import os
import pathlib
import re
import subprocess
import time

from accounts import CHEAP, SETTINGS
from mailboxes import KEY, OWNERS, Boxes, owners_requests, seed, seeded_id, seeded_requests
from processes import ended_children_seconds, process_cpu_seconds, with_children
from table import Row

# As seeded_id of mailboxes.py.
ID = "(lpad(to_hex(n * 2654435761 % 4294967296), 8, '0') || '-0000-4000-8000-000000000000')::uuid"
SEED_OWNERS = f"""
    INSERT INTO pro_user (id, email, state, password_hash, credential_version, created)
    SELECT {ID}, 'owner-' || n || '@example.com', 'active', '', 1, now()
    FROM generate_series(0, {OWNERS - 1}) AS n;
    INSERT INTO api_token (id, owner, name, digest, scopes, created, last_used)
    SELECT {ID}, {ID}, 'bench', sha256(('tm_pro_bench-' || n)::bytea), 'accounts domains tokens',
           now(), now() + interval '1 day'
    FROM generate_series(0, {OWNERS - 1}) AS n;
    INSERT INTO account (id, address, state, credential_version, created, password_hash, owner,
                         quota, used)
    SELECT gen_random_uuid(), number || '-' || replace(email, 'example.com', 'mail.test'),
           'active', 1, now(), '', id, 0, 0
    FROM pro_user, generate_series(0, 9) AS number;
    VACUUM (ANALYZE);
    CHECKPOINT;
"""
# The row that a creation inserts.
ONE_INSERT = f"""
\\set n random(0, {OWNERS - 1})
\\set number random(0, 9000000000000000000)
INSERT INTO account (id, address, state, credential_version, created, password_hash, owner, quota,
                     used)
VALUES (lpad(to_hex(:number::bigint), 32, '0')::uuid, 'pgbench-' || :number::text || '@mail.test',
        'active', 1, now(), '{{hash}}', {ID.replace("n * ", ":n::bigint * ")}, 52428800, 0);
"""
# The events that a creation inserts.
ITS_EVENTS = """
INSERT INTO audit (kind, time, actor, subject, client, request_id, network, write_id)
VALUES ('account_created', now(), 'user:00000000-0000-4000-8000-000000000000',
        'pgbench-' || :number::text || '@mail.test', '127.0.0.1',
        '00000000000000000000000000000000', '127.0.0.1',
        lpad(to_hex(:number::bigint), 32, '0')::uuid);
INSERT INTO account_event (id, kind, time, account, address, quota)
VALUES (lpad(to_hex(:number::bigint), 32, '0')::uuid, 'account_created', now(),
        lpad(to_hex(:number::bigint), 32, '0')::uuid,
        'pgbench-' || :number::text || '@mail.test', 52428800);
"""


# What GET account reads for an API token.
TWO_LOOK_UPS = f"""
\\set n random(0, {{last}})
SELECT * FROM api_token JOIN pro_user ON pro_user.id = api_token.owner
WHERE digest = sha256('{{token}}');
SELECT * FROM account WHERE id = {ID.replace("n * ", ":n::bigint * ")};
"""


class Cluster:
    """The PostgreSQL server that TEST_POSTGRES names."""
    # Of all parts of the bench, which use one server.
    numbers = itertools.count(1)

    def __init__(self):
        self.url = os.environ.get("TEST_POSTGRES", "")
        socket = re.search(r"[?&]host=(/[^&]*)", self.url)
        try:
            file = pathlib.Path(socket[1]) / "data" / "postmaster.pid"
            self.pid = int(file.read_text().splitlines()[0])
        except (TypeError, OSError):
            raise SystemExit("TEST_POSTGRES is not of .ci/with-postgres --durable") from None

    def query(self, script, url=None):
        result = subprocess.run(
            ["psql", url or self.url, "--no-psqlrc", "--quiet", "--tuples-only", "--no-align",
             "--set", "ON_ERROR_STOP=1"], input=script, text=True, capture_output=True, check=True)
        return result.stdout.strip()

    def database(self):
        """The URL of a new, empty database."""
        name = f"bench_{next(self.numbers)}"
        self.query(f"CREATE DATABASE {name}")
        return self.url.replace("/postgres?", f"/{name}?", 1)

    def cpu_seconds(self):
        while True:
            first, *children = with_children(self.pid)
            # A process that ends meanwhile is counted by the first one from then on.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                return sum(map(process_cpu_seconds, children)) + process_cpu_seconds(
                    first, ended_children=True)

    def pgbench(self, url, script, seconds, connections):
        """Transactions, and how many of them a second."""
        result = subprocess.run(
            ["pgbench", url, "--no-vacuum", "--protocol=prepared", f"--client={connections}",
             f"--jobs={min(2, os.cpu_count())}", f"--time={seconds}", "--file=/dev/stdin"],
            input=script, text=True, capture_output=True, check=True)
        count = re.search(r"actually processed: (\d+)", result.stdout)[1]
        return int(count), float(re.search(r"tps = ([\d.]+)", result.stdout)[1])


@contextlib.contextmanager
def on_core(core):
    """Processes that are started meanwhile run on one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


class Postgres:
    def __init__(self, run):
        self.run = run
        self.accounts = 1_000 if run.quick else 100_000
        self.connections = 16
        self.cluster = Cluster()
        self.numbers = itertools.count()

    def postern(self, url=None, data=None, **settings):
        where = {"STORAGE_URL": url} if url else {}
        return self.run.postern(
            data, **SETTINGS, USERS_MAX_ACCOUNTS="1000000", **where, **settings)

    def rows(self):
        yield from self.reading()
        yield from self.creating()
        yield from self.two_nodes()
        yield from self.start()

    def seed(self, url, owner):
        """As `seed` of mailboxes.py."""
        self.cluster.query(f"""
            INSERT INTO account (id, address, state, credential_version, created, password_hash,
                                 owner, quota, used)
            SELECT {ID}, 'seeded-' || n || '@mail.test', 'active', 1,
                   to_timestamp(1767225600 + n / 1000.0),
                   (SELECT password_hash FROM account LIMIT 1), '{owner}', 0, 0
            FROM generate_series(0, {self.accounts - 1}) AS n;
            VACUUM (ANALYZE);
            CHECKPOINT""", url)

    def seeded(self, url=None, **settings):
        """Fills a new database. Returns the directory, and an API token of the accounts' owner."""
        data = self.run.fresh()
        with self.postern(url, data, **settings) as server:
            boxes = Boxes(server.port)
            token, owner = boxes.register("bench@example.com")
            boxes.call("POST", "/api/accounts", {
                "address": "first@mail.test", "auth_key": KEY, "pow": boxes.proof()})
        if url:
            self.seed(url, owner)
        else:
            seed(data, self.accounts, owner)
        return data, token

    def reading(self):
        """GET account by API token, on either engine."""
        url = self.cluster.database()
        with contextlib.ExitStack() as servers:
            started = []
            for where in (url, None):
                data, token = self.seeded(where, **CHEAP)
                server = servers.enter_context(self.postern(where, data))
                Boxes(server.port).call("GET", f"/api/accounts/{seeded_id(0)}", token=token)
                started.append((server, token))
            for connections, goals in ((1, (2.2, None, 1.8)), (32, (1.3, None, 1.1))):
                *engines, bare = self.run.turns(
                    *(lambda server=server, token=token: self.asking(server, token, connections)
                      for server, token in started),
                    lambda: self.bare_look_ups(url, started[0][1], connections))
                mine, beside = (list(zip(*figures)) for figures in engines)
                what = "GET account on PostgreSQL"
                at = f"{connections} connection" + "s" * (connections > 1)
                for kind, unit, goal, one, other in zip(
                        ("p50", "p99", "CPU of the node"), ("ms", "ms", "µs"), goals, mine,
                        beside):
                    yield Row(f"{what}, {at}, {kind}", unit, one, other, "on SQLite", goal)
                yield Row("  CPU of the database", "µs", mine[3], bare,
                          "pgbench, the same two look-ups")

    def asking(self, server, token, connections):
        """Milliseconds of p50 and p99, and microseconds of CPU of the server and the cluster."""
        before = server.cpu_seconds(), self.cluster.cpu_seconds()
        load = self.run.load(
            server, "/", connections=connections,
            lua=seeded_requests("get", self.accounts, token))
        after = server.cpu_seconds(), self.cluster.cpu_seconds()
        return load.p50, load.p99, *micros_each(before, after, load.count)

    def bare_look_ups(self, url, token, connections):
        """Microseconds of CPU of the cluster."""
        script = TWO_LOOK_UPS.format(last=self.accounts - 1, token=token)
        before = self.cluster.cpu_seconds()
        count, _ = self.cluster.pgbench(url, script, self.run.seconds, connections)
        return (self.cluster.cpu_seconds() - before) / count * 1e6

    def creating(self):
        """Creations by many owners, because those of one owner wait for each other."""
        url, peer = self.cluster.database(), self.cluster.database()
        with self.postern(peer, **CHEAP):
            pass
        # pgbench inserts the same rows, and nothing else.
        self.cluster.query("DROP TRIGGER new_accounts_are_counted ON account", peer)
        with self.postern(url, **CHEAP) as server:
            boxes = Boxes(server.port)
            boxes.call("POST", "/api/accounts", {
                "address": "first@mail.test", "auth_key": KEY, "pow": boxes.proof()})
            same, insert = self.scripts(self.cluster.query("SELECT password_hash FROM account", url))
            for each in (url, peer):
                self.cluster.query(SEED_OWNERS, each)
            # Opens the connections and prepares the statements.
            self.create(server)
            mine, *bare = self.run.turns(
                lambda: self.create(server), lambda: self.insert(peer, same),
                lambda: self.insert(peer, insert))
        rate, node, database = zip(*mine)
        names = "pgbench, the same rows", "pgbench, the account only"
        (rows, rows_client, rows_database), (one, _, one_database) = (zip(*each) for each in bare)
        yield Row("creations on PostgreSQL, many owners", "/s", rate, rows, names[0], 0.8,
                  more_is_better=True)
        yield Row("", "/s", rate, one, names[1], more_is_better=True)
        yield Row("  CPU of the database", "µs", database, rows_database, names[0], 1.5)
        yield Row("", "µs", database, one_database, names[1])
        yield Row("  CPU of the node", "µs", node, rows_client, "pgbench itself, the same rows")

    @staticmethod
    def scripts(encoded):
        """For pgbench: the rows that a creation inserts, in one transaction and one round trip,
        and its account alone."""
        insert = ONE_INSERT.replace("{hash}", encoded)
        variables, account = insert.split("INSERT INTO account", 1)
        account = "INSERT INTO account" + account
        same = "".join([
            variables, "\\startpipeline\nBEGIN;\n", account, ITS_EVENTS,
            "END;\n\\endpipeline\n"])
        return same, insert

    def create(self, server):
        """Creations a second, and microseconds of CPU of the server and of the cluster for each."""
        before, start = (server.cpu_seconds(), self.cluster.cpu_seconds()), time.monotonic()
        count = self.run.load(
            server, "/", connections=self.connections,
            lua=owners_requests(f"made-{next(self.numbers)}")).count
        elapsed = time.monotonic() - start
        after = server.cpu_seconds(), self.cluster.cpu_seconds()
        return count / elapsed, *micros_each(before, after, count)

    def insert(self, url, script):
        """As `create`, by pgbench."""
        before = ended_children_seconds(), self.cluster.cpu_seconds()
        count, rate = self.cluster.pgbench(url, script, self.run.seconds, self.connections)
        after = ended_children_seconds(), self.cluster.cpu_seconds()
        return rate, *micros_each(before, after, count)

    def two_nodes(self):
        """Logins with the default password hash. Each node has one core, which hashing fills."""
        url = self.cluster.database()
        secret = self.run.fresh() / "master.secret"
        secret.write_bytes(bytes(range(32)))
        secret.chmod(0o600)
        shared = {"MASTER_SECRET_FILE": str(secret)}
        self.seeded(url, **shared)
        with contextlib.ExitStack() as servers:
            nodes = []
            for core in sorted(os.sched_getaffinity(0))[:2]:
                with on_core(core):
                    nodes.append(servers.enter_context(self.postern(url, **shared)))
            two, one = self.run.turns(
                lambda: self.logins(nodes), lambda: self.logins(nodes[:1]))
        yield Row(f"logins on {len(nodes)} nodes of one core each", "/s", two, one,
                  "one node of one core", more_is_better=True)

    def logins(self, nodes):
        """Logins a second on all of these nodes at once."""
        with concurrent.futures.ThreadPoolExecutor(len(nodes)) as pool:
            loads = pool.map(lambda node: self.run.load(
                node, "/", connections=4, lua=seeded_requests("login", self.accounts)), nodes)
            return sum(load.count for load in loads) / self.run.seconds

    def start(self):
        """The time to the first 200 with a database that has its tables, on either engine."""
        url, data, alone = self.cluster.database(), self.run.fresh(), self.run.fresh()
        self.started(url, data), self.started(None, alone)
        mine, beside = self.run.turns(
            lambda: self.started(url, data), lambda: self.started(None, alone))
        what = "start to first answer, existing tables"
        yield Row.within(what, "ms", mine, 50)
        yield Row("", "ms", mine, beside, "on SQLite")

    def started(self, url, data):
        start = time.monotonic()
        with self.postern(url, data) as server:
            server.ask_health()
            return (time.monotonic() - start) * 1e3


def micros_each(before, after, count):
    """Microseconds for each of `count` requests, of several counters of CPU seconds."""
    return [(end - start) / count * 1e6 for start, end in zip(before, after)]
