"""PostgreSQL servers that replicate synchronously, configured by deploy/postgresql.conf: one
primary and its standbys, of which one can be promoted.

They belong to an unprivileged user, listen on loopback, and end with the process of the tests,
also when that is killed.
"""

import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from postgres import psql
from program import ROOT

PASSWORD = "a-password-of-the-tests"
START_SECONDS = 30


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def programs():
    """The directory of the newest PostgreSQL."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    path = found[-1] if found else shutil.which("initdb")
    assert path, "no PostgreSQL server is installed: make test installs it"
    return pathlib.Path(path).parent


def owner():
    """The user that the servers run as: PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def unprivileged(*command):
    """The command as that user. A server ends with the thread that has started it."""
    user = owner()
    switch = [] if os.geteuid() != 0 else [
        "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups"]
    return ["setpriv", *switch, "--pdeathsig", "INT", *map(str, command)]


class Server:
    """One server of a cluster, by its number from 1."""

    def __init__(self, cluster, number):
        self.cluster, self.number = cluster, number
        self.name, self.port = f"postgres{number}", cluster.ports[number - 1]
        self.data = cluster.directory / self.name
        self.log = cluster.directory / f"{self.name}.log"
        self.process = None

    def query(self, script, database="postgres"):
        return psql(
            f"postgresql:///{database}?host={self.cluster.directory}&port={self.port}&user=postgres",
            script)

    def start(self, **settings):
        """Starts it; for settings of the example that only fit this machine there are others."""
        directory = self.cluster.directory
        settings = {
            "config_file": directory / "postgresql.conf",
            "hba_file": directory / "pg_hba.conf", "cluster_name": self.name, "port": self.port,
            "listen_addresses": "127.0.0.1", "unix_socket_directories": directory,
            "ssl_cert_file": directory / "server.pem", "ssl_key_file": directory / "server.pem",
            # Where it is not the primary: it follows whichever server is.
            "primary_conninfo": self.cluster.upstream,
            # Tests check what is durable when a process ends, not when the machine does.
            "fsync": "off", "shared_buffers": "16MB",
            # Files of the data directory, so that nothing is left of a server that was killed.
            "dynamic_shared_memory_type": "mmap", **settings}
        command = [programs() / "postgres", "-D", self.data]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                unprivileged(*command), cwd=directory, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)
        self.await_ready()

    def await_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while subprocess.run(
                [programs() / "pg_isready", "--quiet", "--host", self.cluster.directory,
                 "--port", str(self.port)], check=False).returncode != 0:
            assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)

    def kill(self):
        """As when its machine fails: no session ends in order."""
        # The last word is the number of its System V shared memory.
        memory = (self.data / "postmaster.pid").read_text().splitlines()[6].split()[-1]
        children = self._children()
        self.process.kill()
        self.process.wait(30)
        deadline = time.monotonic() + START_SECONDS
        while remaining := [pid for pid in children if is_running(pid)]:
            for pid in remaining:
                send(pid, signal.SIGKILL)
            assert time.monotonic() < deadline, remaining
            time.sleep(0.01)
        subprocess.run(unprivileged("ipcrm", "--shmem-id", memory), check=False)

    def pause(self):
        """The whole server stands still; its connections stay open."""
        for pid in [self.process.pid, *self._children()]:
            send(pid, signal.SIGSTOP)

    def resume(self):
        for pid in [*self._children(), self.process.pid]:
            send(pid, signal.SIGCONT)

    def _children(self):
        path = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in path.read_text().split()]

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def restart(self):
        """In order, with the settings of the example."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        self.start()


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def is_running(pid):
    """Whether there is such a process that has not ended; a parent may not have asked for its end."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


class Cluster:
    """Three servers on free ports; the first is the primary."""

    def __init__(self, authority):
        authority.context("localhost")
        self.authority = authority
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="postern-cluster-", dir="/tmp"))
        self.ports = free_ports(3)
        hosts = ",".join([str(self.directory)] * 3)
        self.upstream = (
            f"host={hosts} port={','.join(map(str, self.ports))} user=postgres"
            " target_session_attrs=read-write tcp_user_timeout=5000")
        self.servers = [Server(self, number) for number in (1, 2, 3)]
        try:
            self._prepare()
        except BaseException:
            self.stop()
            raise

    @property
    def url(self):
        """As a node in production names the servers: with TLS, a password, and all of them."""
        hosts = ",".join(f"localhost:{port}" for port in self.ports)
        return (
            f"postgresql://postern:{PASSWORD}@{hosts}/postern?target_session_attrs=read-write"
            f"&sslmode=verify-full&sslrootcert={self.authority.file}"
            f"&hostaddr={','.join(['127.0.0.1'] * 3)}")

    def _prepare(self):
        user = owner()
        chain = (self.authority.directory / "localhost.pem").read_bytes()
        for name, text in [
                ("server.pem", chain),
                ("postgresql.conf", (ROOT / "deploy" / "postgresql.conf").read_bytes()),
                ("pg_hba.conf", (
                    b"local all all trust\nlocal replication all trust\n"
                    b"hostssl all postern 127.0.0.1/32 scram-sha-256\n"))]:
            (self.directory / name).write_bytes(text)
            (self.directory / name).chmod(0o600)
            os.chown(self.directory / name, user.pw_uid, user.pw_gid)
        os.chown(self.directory, user.pw_uid, user.pw_gid)
        self.directory.chmod(0o755)
        primary, *standbys = self.servers
        self._run("initdb", "--pgdata", primary.data, "--username", "postgres", "--auth", "trust",
                  "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync")
        # There is nobody to wait for yet.
        primary.start(synchronous_standby_names="")
        primary.query(f"CREATE ROLE postern LOGIN PASSWORD '{PASSWORD}'")
        primary.query("CREATE DATABASE postern OWNER postern")
        for standby in standbys:
            self._run("pg_basebackup", "--pgdata", standby.data, "--host", self.directory,
                      "--port", primary.port, "--username", "postgres", "--checkpoint", "fast",
                      "--no-sync")
            (standby.data / "standby.signal").touch()
            os.chown(standby.data / "standby.signal", user.pw_uid, user.pw_gid)
            standby.start()
        primary.restart()
        self.await_standbys(primary, 2)

    def _run(self, program, *arguments):
        result = subprocess.run(
            unprivileged(programs() / program, *arguments), cwd=self.directory, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        assert result.returncode == 0, result.stderr

    def await_standbys(self, primary, count):
        deadline = time.monotonic() + START_SECONDS
        while primary.query(
                "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'") != str(count):
            assert time.monotonic() < deadline, primary.log.read_text()
            time.sleep(0.05)

    def most_advanced(self, standbys):
        """The standby that has every commit that was acknowledged."""
        return max(standbys, key=lambda one: int(one.query(
            "SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')")))

    def stop(self):
        for server in self.servers:
            if server.running:
                server.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
