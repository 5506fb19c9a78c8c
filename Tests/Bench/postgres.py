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
import statistics
import subprocess
import time

from accounts import CHEAP, SETTINGS
from mailboxes import KEY, Boxes, seed, seeded_id
from processes import Postern, load, measured, process_cpu_seconds, with_children
from table import Row

HERE = pathlib.Path(__file__).parent
# As seeded_id of mailboxes.py.
ID = "(lpad(to_hex(n * 2654435761 % 4294967296), 8, '0') || '-0000-4000-8000-000000000000')::uuid"
OWNERS = 1000
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
# The event that a creation inserts.
ITS_EVENT = """
INSERT INTO audit (kind, time, actor, subject, client, request_id, network, write_id)
VALUES ('account_created', now(), 'user:00000000-0000-4000-8000-000000000000',
        'pgbench-' || :number::text || '@mail.test', '127.0.0.1',
        '00000000000000000000000000000000', '127.0.0.1',
        lpad(to_hex(:number::bigint), 32, '0')::uuid);
"""


class Cluster:
    """The PostgreSQL server that TEST_POSTGRES names."""

    def __init__(self):
        self.url = os.environ.get("TEST_POSTGRES", "")
        socket = re.search(r"[?&]host=(/[^&]*)", self.url)
        try:
            file = pathlib.Path(socket[1]) / "data" / "postmaster.pid"
            self.pid = int(file.read_text().splitlines()[0])
        except (TypeError, OSError):
            raise SystemExit("TEST_POSTGRES is not of .ci/with-postgres --durable") from None
        self.numbers = itertools.count(1)

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
    def __init__(self, binary, fresh, script, rounds, seconds, quick):
        self.binary, self.fresh, self.script = binary, fresh, script
        self.rounds, self.seconds = rounds, seconds
        self.accounts = 1_000 if quick else 100_000
        self.starts = 3 if quick else 9
        self.connections = 16
        self.cluster = Cluster()

    def postern(self, url=None, data=None, **settings):
        where = {"POSTERN_STORAGE_URL": url} if url else {}
        return Postern(
            self.binary, data or self.fresh(),
            environment={**SETTINGS, "POSTERN_USERS_MAX_ACCOUNTS": "1000000", **where, **settings})

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
        data = self.fresh()
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
        """GET account by API token, on either engine in turns."""
        url = self.cluster.database()
        engines = {"postgres": url, "sqlite": None}
        with contextlib.ExitStack() as servers:
            started = {}
            for name, where in engines.items():
                data, token = self.seeded(where, **CHEAP)
                server = servers.enter_context(self.postern(where, data))
                Boxes(server.port).call("GET", f"/api/accounts/{seeded_id(0)}", token=token)
                started[name] = server, token
            for connections in (1, self.connections):
                figures = {name: [] for name in engines}
                for _ in range(self.rounds):
                    for name, (server, token) in started.items():
                        figures[name].append(self.asking(server, token, connections))
                mine, beside = (
                    [statistics.median(column) for column in zip(*figures[name])]
                    for name in engines)
                what = "GET account on PostgreSQL"
                at = f"{connections} connection" + "s" * (connections > 1)
                for kind, unit, goal, one, other in zip(
                        ("p50", "p99", "CPU of the node"), ("ms", "ms", "µs"), (3, None, None),
                        mine, beside):
                    yield Row(f"{what}, {at}, {kind}", unit, one, goal, other, "on SQLite",
                              goal_is_ratio=True)
                yield Row("  CPU of the database", "µs", mine[3])

    def asking(self, server, token, connections):
        """Milliseconds of p50 and p99, and microseconds of CPU of the server and the cluster."""
        lua = f'MODE, COUNT, TOKEN = "get", {self.accounts}, "{token}"\n'
        before = server.cpu_seconds(), self.cluster.cpu_seconds()
        count, p50, p99 = measured(
            server.port, "/", self.seconds, connections=connections, script=self.script,
            lua=lua + (HERE / "seeded.lua").read_text())
        after = server.cpu_seconds(), self.cluster.cpu_seconds()
        return p50, p99, *((end - start) / count * 1e6 for start, end in zip(before, after))

    def creating(self):
        """Creations by many owners, because those of one owner wait for each other."""
        url = self.cluster.database()
        turns = []
        with self.postern(url, **CHEAP) as server:
            boxes = Boxes(server.port)
            boxes.call("POST", "/api/accounts", {
                "address": "first@mail.test", "auth_key": KEY, "pow": boxes.proof()})
            encoded = self.cluster.query("SELECT password_hash FROM account", url)
            insert = ONE_INSERT.replace("{hash}", encoded)
            both = insert.replace("INSERT INTO account", "BEGIN;\nINSERT INTO account")
            self.cluster.query(SEED_OWNERS, url)
            # Opens the connections and prepares the statements.
            self.create(server, "first")
            for turn in range(self.rounds):
                turns.append([
                    *self.spent(server, lambda: self.create(server, turn)),
                    *self.spent(server, lambda: self.cluster.pgbench(
                        url, insert, self.seconds, self.connections)),
                    *self.spent(server, lambda: self.cluster.pgbench(
                        url, both + ITS_EVENT + "END;\n", self.seconds, self.connections)),
                ])
        columns = [statistics.median(column) for column in zip(*turns)]
        (rate, node, mine), (one, _, bare), (two, _, with_event) = (
            columns[start:start + 3] for start in (0, 3, 6))
        yield Row("creations on PostgreSQL, many owners", "/s", rate, 0.8, one,
                  "pgbench, one insert per transaction", more_is_better=True, goal_is_ratio=True)
        yield Row("", "/s", rate, None, two, "pgbench, account and event", more_is_better=True)
        yield Row("  CPU of the database", "µs", mine, 1.5, bare,
                  "pgbench, one insert per transaction", goal_is_ratio=True)
        yield Row("", "µs", mine, 1.5, with_event, "pgbench, account and event",
                  goal_is_ratio=True)
        yield Row("  CPU of the node", "µs", node)

    def spent(self, server, work):
        """Requests a second, and microseconds of CPU of the server and of the cluster for each."""
        before = server.cpu_seconds(), self.cluster.cpu_seconds()
        count, rate = work()
        after = server.cpu_seconds(), self.cluster.cpu_seconds()
        return rate, *((end - start) / count * 1e6 for start, end in zip(before, after))

    def create(self, server, turn):
        lua = f'PREFIX, OWNERS = "made-{turn}", {OWNERS}\n'
        start = time.monotonic()
        count = load(
            server.port, "/", self.seconds, connections=self.connections, script=self.script,
            lua=lua + (HERE / "creating.lua").read_text())
        return count, count / (time.monotonic() - start)

    def two_nodes(self):
        """Logins with the default password hash. Each node has one core, which hashing fills."""
        url = self.cluster.database()
        secret = self.fresh() / "master.secret"
        secret.write_bytes(bytes(range(32)))
        secret.chmod(0o600)
        shared = {"POSTERN_MASTER_SECRET_FILE": str(secret)}
        self.seeded(url, **shared)
        with contextlib.ExitStack() as servers:
            nodes = []
            for core in sorted(os.sched_getaffinity(0))[:2]:
                with on_core(core):
                    nodes.append(servers.enter_context(self.postern(url, **shared)))
            turns = [(self.logins(nodes), self.logins(nodes[:1])) for _ in range(self.rounds)]
        two, one = (statistics.median(column) for column in zip(*turns))
        yield Row(f"logins on {len(nodes)} nodes of one core each", "/s", two, None, one,
                  "one node of one core", more_is_better=True)

    def logins(self, nodes):
        """Logins a second on all of these nodes at once."""
        lua = f'MODE, COUNT, TOKEN = "login", {self.accounts}, ""\n'
        lua += (HERE / "seeded.lua").read_text()
        with concurrent.futures.ThreadPoolExecutor(len(nodes)) as pool:
            counts = pool.map(lambda node: load(
                node.port, "/", self.seconds, connections=4,
                script=self.script.with_name(f"{node.port}.lua"), lua=lua), nodes)
            return sum(counts) / self.seconds

    def start(self):
        """The time to the first 200 with a database that has its tables, on either engine."""
        figures = []
        url, data, alone = self.cluster.database(), self.fresh(), self.fresh()
        for _ in range(self.starts + 1):
            figures.append((self.started(url, data), self.started(None, alone)))
        mine, beside = (statistics.median(column) for column in zip(*figures[1:]))
        yield Row("start to first answer, existing tables", "ms", mine, 50, beside, "on SQLite")

    def started(self, url, data):
        start = time.monotonic()
        with self.postern(url, data) as server:
            server.ask_health()
            return (time.monotonic() - start) * 1e3
