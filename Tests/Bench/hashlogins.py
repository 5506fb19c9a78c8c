"""Hash logins beside the least work of each: one bare Argon2 and one fetch over TLS by curl.

nginx serves the hash. Then no host answers any more, and requests to another API must not become
slower while a hundred logins wait.
"""

import concurrent.futures
import contextlib
import http.client
import itertools
import os
import socket
import statistics
import subprocess
import time

from argon2 import argon2_limit
from mailboxes import Boxes, at_once
from processes import Nginx, ended_children_seconds, free_port
from table import Row

HOSTS = 100
# The time after which a failed login is answered, in seconds. The hundred logins wait this long.
FLOOR = 3
# The parameters and the password of the hash in /example.txt, which nginx serves.
HASH, PASSWORD = "19456,2", "test123"
SERVER = """
    default_type text/plain;
    ssl_certificate {directory}/host.pem;
    ssl_certificate_key {directory}/host.key;
    server {{ {listen} {answer} }}
"""


def host(number):
    """A loopback address for each host, so that the limit per host does not affect the result."""
    return f"127.0.1.{number + 1}"


class Hosts(Nginx):
    """nginx as a hundred hosts and as this machine, with one certificate for all."""

    def __init__(self, directory, answer):
        """`answer` is nginx's directives for every request."""
        self.certificate, port = directory / "host.pem", free_port(host(0))
        names = ",".join(["DNS:localhost"] + [f"IP:{host(number)}" for number in range(HOSTS)])
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-keyout", directory / "host.key", "-out", self.certificate, "-days", "2",
             "-subj", "/CN=bench", "-addext", f"subjectAltName={names}"],
            check=True, capture_output=True)
        addresses = ["127.0.0.1"] + [host(number) for number in range(HOSTS)]
        listen = " ".join(f"listen {address}:{port} ssl;" for address in addresses)
        super().__init__(
            directory, SERVER.format(directory=directory, listen=listen, answer=answer), host(0),
            port)


@contextlib.contextmanager
def silence(port):
    """Hosts that accept connections and never answer."""
    with contextlib.ExitStack() as open_ones:
        for number in range(HOSTS):
            open_ones.enter_context(socket.create_server((host(number), port), backlog=1024))
        yield


class HashLogins:
    def __init__(self, run):
        self.run = run
        self.logins = 40 if run.quick else 100

    def rows(self):
        with self.run.postern() as plain:
            hash = example(plain.port)
        with contextlib.ExitStack() as hosts_up:
            directory = self.run.fresh()
            (directory / "hash.txt").write_text(hash)
            hosts = hosts_up.enter_context(Hosts(directory, f"root {directory};"))
            # The default values of the times: those of the test profile are shorter.
            with self.run.postern(
                    HASH_LOGIN_CA_FILE=str(hosts.certificate), HASH_LOGIN_LOGIN_TIMEOUT="2s",
                    HASH_LOGIN_FAILURE_FLOOR=f"{FLOOR}s") as server:
                bodies = [
                    {"email": f"user-{number}@users.example", "password": PASSWORD}
                    for number in range(HOSTS)
                ]
                at_once(server.port, [
                    {**body, "password_hash_url": url(hosts, number)}
                    for number, body in enumerate(bodies)], "/register", self.run.connections)
                yield from self.rate(server, hosts, bodies)
                hosts_up.close()
                with silence(hosts.port):
                    yield from self.waiting(server, bodies)

    def rate(self, server, hosts, bodies):
        limit = argon2_limit(self.run)
        wanted = itertools.cycle(bodies)

        def log_in():
            before = server.cpu_seconds()
            turn = list(itertools.islice(wanted, self.logins))
            _, elapsed = at_once(server.port, turn, "/login", self.run.connections)
            return self.logins / elapsed, (server.cpu_seconds() - before) / self.logins * 1e3

        def bare():
            (hashes, hash_cpu), (fetches, fetch_cpu) = limit(1, "libargon2", 0, HASH), fetch_all(hosts)
            return 1 / (1 / hashes + 1 / fetches), hash_cpu + fetch_cpu

        mine, least = self.run.turns(log_in, bare)
        (rate, cpu), (bare_rate, bare_cpu) = zip(*mine), zip(*least)
        yield Row("POST /login", "/s", rate, bare_rate,
                  f"libargon2 {HASH} and curl's fetch, all cores", more_is_better=True)
        yield Row("  its CPU", "ms", cpu, bare_cpu, "the same hash's and fetch's CPU")

    def waiting(self, server, bodies):
        """Requests to another API while a hundred logins wait for hosts, and while none does."""
        def beside():
            with concurrent.futures.ThreadPoolExecutor(HOSTS) as pool:
                logins = [pool.submit(fail, server.port, body) for body in bodies]
                figures = latencies(
                    server.port, until=lambda: all(login.done() for login in logins))
                for login in logins:
                    login.result()
            return figures

        def alone():
            end = time.monotonic() + FLOOR
            return latencies(server.port, until=lambda: time.monotonic() > end)

        mine, bare = self.run.turns(beside, alone)
        for name, one, other in zip(("p50", "p99"), zip(*mine), zip(*bare)):
            yield Row(f"GET /healthz, {name}, {HOSTS} logins waiting", "ms", one, other,
                      "without them", 1.25)


def url(hosts, number):
    return f"https://{host(number)}:{hosts.port}/hash.txt"


def example(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/example.txt")
    return connection.getresponse().read().decode()


def fetch_all(hosts, count=100):
    """Fetches per second, and the CPU milliseconds of one. Each has a new connection and a full
    handshake."""
    start, before = time.monotonic(), ended_children_seconds()
    runs = [
        subprocess.Popen(
            ["curl", "--silent", "--fail", "--cacert", hosts.certificate, "--no-sessionid",
             "--header", "Connection: close", "--output", "/dev/null",
             f"{url(hosts, number)}?[1-{count}]"], stdin=subprocess.DEVNULL)
        for number in range(os.cpu_count())
    ]
    assert [run.wait() for run in runs] == [0] * len(runs), "curl failed"
    count *= len(runs)
    elapsed, cpu = time.monotonic() - start, ended_children_seconds() - before
    return count / elapsed, cpu / count * 1e3


def fail(port, body):
    """One login whose host never answers. It must fail for that reason."""
    try:
        Boxes(port).call("POST", "/login", body)
    except SystemExit as failed:
        if " 422 " in str(failed):
            return
        raise
    raise SystemExit("a login succeeded whose host does not answer")


def latencies(port, until):
    """The median and the 99th percentile of sequential requests on one connection, in
    milliseconds."""
    connection, taken = http.client.HTTPConnection("127.0.0.1", port, timeout=60), []
    while not until():
        start = time.monotonic()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        taken.append((time.monotonic() - start) * 1e3)
        time.sleep(0.001)  # without a pause, this client's own load would be measured
    connection.close()
    cuts = statistics.quantiles(taken, n=100)
    return cuts[49], cuts[98]
