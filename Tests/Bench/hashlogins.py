"""Hash logins beside the least work of each: one bare Argon2 and one fetch over TLS by curl.

nginx serves the hash. Then no host answers any more, and requests to another API must not become
slower while a hundred logins wait.
"""

import concurrent.futures
import contextlib
import http.client
import os
import pathlib
import resource
import socket
import statistics
import subprocess
import time

from mailboxes import Boxes, at_once
from processes import Postern, Served
from table import Row

HERE = pathlib.Path(__file__).parent
HOSTS = 100
# The time after which a failed login is answered, in seconds. The hundred logins wait this long.
FLOOR = 3
# The parameters and the password of the hash in /example.txt, which nginx serves.
HASH, PASSWORD = "19456,2", "test123"
CONFIGURATION = """
worker_processes auto;
daemon off;
pid {directory}/pid;
error_log stderr crit;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi; uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    default_type text/plain;
    ssl_certificate {directory}/host.pem;
    ssl_certificate_key {directory}/host.key;
    server {{ {listen} root {directory}; }}
}}
"""


def host(number):
    """A loopback address for each host, so that the limit per host does not affect the result."""
    return f"127.0.1.{number + 1}"


class Hosts(Served):
    """nginx as a hundred hosts that serve one hash, with one certificate for all."""

    def __init__(self, directory, hash):
        self.directory, self.certificate = directory, directory / "host.pem"
        with socket.create_server((host(0), 0)) as probe:
            self.port = probe.getsockname()[1]
        names = ",".join(f"IP:{host(number)}" for number in range(HOSTS))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-keyout", directory / "host.key", "-out", self.certificate, "-days", "2",
             "-subj", "/CN=bench", "-addext", f"subjectAltName={names}"],
            check=True, capture_output=True)
        (directory / "hash.txt").write_text(hash)
        # When root starts nginx, its workers run as the user `nobody` and must read this directory.
        directory.chmod(0o755)
        listen = " ".join(f"listen {host(number)}:{self.port} ssl;" for number in range(HOSTS))
        file = directory / "nginx.conf"
        file.write_text(CONFIGURATION.format(directory=directory, listen=listen))
        user = ["-g", "user root;"] if os.getuid() == 0 else []
        super().__init__(["nginx", "-c", str(file), "-p", str(directory), *user])
        self.await_first()

    def await_first(self):
        deadline = time.monotonic() + 10
        while True:
            try:
                return socket.create_connection((host(0), self.port), 1).close()
            except OSError:
                assert time.monotonic() < deadline, "nginx does not listen"
                time.sleep(0.05)

    def url(self, number):
        return f"https://{host(number)}:{self.port}/hash.txt"


@contextlib.contextmanager
def silence(port):
    """Hosts that accept connections and never answer."""
    with contextlib.ExitStack() as open_ones:
        for number in range(HOSTS):
            open_ones.enter_context(socket.create_server((host(number), port), backlog=128))
        yield


class HashLogins:
    def __init__(self, binary, fresh, seconds, quick):
        self.binary, self.fresh, self.seconds = binary, fresh, seconds
        self.logins = 200 if quick else 600
        self.connections = 4 * os.cpu_count()

    def rows(self):
        limit = self.fresh() / "argon2_limit"
        subprocess.run(
            ["cc", "-O2", "-o", limit, HERE / "argon2_limit.c", "-largon2", "-lpthread"],
            check=True)
        with Postern(self.binary, self.fresh()) as plain:
            hash = self.example(plain.port)
        with contextlib.ExitStack() as hosts_up:
            hosts = hosts_up.enter_context(Hosts(self.fresh(), hash))
            server = Postern(self.binary, self.fresh(), environment={
                "POSTERN_HASH_LOGIN_CA_FILE": str(hosts.certificate),
                # The default values: those of the test profile are shorter.
                "POSTERN_HASH_LOGIN_LOGIN_TIMEOUT": "2s",
                "POSTERN_HASH_LOGIN_FAILURE_FLOOR": f"{FLOOR}s"})
            with server:
                bodies = [self.body(number) for number in range(HOSTS)]
                at_once(server.port, [
                    {**body, "password_hash_url": hosts.url(number)}
                    for number, body in enumerate(bodies)], "/register", self.connections)
                yield from self.rate(server, limit, hosts, bodies)
                end = time.monotonic() + FLOOR
                alone = self.latencies(server.port, until=lambda: time.monotonic() > end)
                hosts_up.close()
                with silence(hosts.port), concurrent.futures.ThreadPoolExecutor(HOSTS) as waiting:
                    failing = [waiting.submit(self.fail, server.port, body) for body in bodies]
                    beside = self.latencies(
                        server.port, until=lambda: all(login.done() for login in failing))
                    refused = sum(login.result() for login in failing)
        for name, one, other in zip(("p50", "p99"), beside, alone):
            yield Row(f"GET /healthz, {name}, {refused} logins waiting", "ms", one * 1e3, 1.25,
                      other * 1e3, "without them", goal_is_ratio=True)

    def body(self, number):
        return {"email": f"user-{number}@users.example", "password": PASSWORD}

    def example(self, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/example.txt")
        return connection.getresponse().read().decode()

    def rate(self, server, limit, hosts, bodies):
        """Measures both sides in turns, so that other load on the machine affects both."""
        bare, elapsed, turns = [], 0, max(2, round(self.seconds))
        spent = server.cpu_seconds()
        wanted = [bodies[number % HOSTS] for number in range(self.logins)]
        for turn in range(turns):
            said = subprocess.run([limit, "1", HASH], text=True, capture_output=True, check=True)
            hashes, hash_cpu = map(float, said.stdout.split())
            fetches, fetch_cpu = self.fetches(hosts)
            bare.append((1 / (1 / hashes + 1 / fetches), hash_cpu + fetch_cpu))
            elapsed += at_once(server.port, wanted[turn::turns], "/login", self.connections)[1]
        spent = (server.cpu_seconds() - spent) / self.logins
        rate, cpu = map(statistics.mean, zip(*bare))
        yield Row("POST /login", "/s", self.logins / elapsed, None, rate,
                  f"libargon2 {HASH} and curl's fetch, all cores", more_is_better=True)
        yield Row("  its CPU", "ms", spent * 1e3, None, cpu * 1e3,
                  "the same hash's and fetch's CPU")

    def fetches(self, hosts, count=150):
        """Fetches per second, and the CPU time of one. Each has a new connection and a full
        handshake."""
        start, before = time.monotonic(), self.ended_children()
        runs = [
            subprocess.Popen(
                ["curl", "--silent", "--fail", "--cacert", hosts.certificate, "--no-sessionid",
                 "--header", "Connection: close", "--output", "/dev/null",
                 f"{hosts.url(number)}?[1-{count}]"], stdin=subprocess.DEVNULL)
            for number in range(os.cpu_count())
        ]
        assert [run.wait() for run in runs] == [0] * len(runs), "curl failed"
        count *= len(runs)
        return count / (time.monotonic() - start), (self.ended_children() - before) / count

    def ended_children(self):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def fail(self, port, body):
        """One login whose host never answers."""
        try:
            Boxes(port).call("POST", "/login", body)
        except SystemExit as refused:
            return "422 " in str(refused)
        return False

    def latencies(self, port, until):
        """The median and the 99th percentile of sequential requests on one connection."""
        connection, taken = http.client.HTTPConnection("127.0.0.1", port, timeout=60), []
        while not until():
            start = time.monotonic()
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            taken.append(time.monotonic() - start)
            time.sleep(0.001)  # without a pause, this client's own load would be measured
        cuts = statistics.quantiles(taken, n=100)
        return cuts[49], cuts[98]
