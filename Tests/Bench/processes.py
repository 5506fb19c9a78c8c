"""Starts the measured processes, reads their CPU time and memory from /proc, and ends them by id."""

import contextlib
import dataclasses
import http.client
import os
import pathlib
import re
import resource
import select
import signal
import socket
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")
NGINX = """
worker_processes auto;
daemon off;
pid {directory}/pid;
error_log stderr crit;
events {{ worker_connections 8192; }}
http {{
    client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi; uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    access_log off;
    keepalive_requests 1000000000;
    {servers}
}}
"""
CONSTANT = """
    default_type application/json;
    server {{
        listen 127.0.0.1:{port};
        location = /healthz {{ return 200 '{{"status":"ok"}}'; }}
        location = /logged {{ access_log /dev/null; return 200 '{{"status":"ok"}}'; }}
    }}
"""

# wrk counts microseconds.
PERCENTILES = """
function done(_, latency)
    io.write(string.format("percentiles %d %d\\n", latency:percentile(50), latency:percentile(99)))
end
"""


def with_children(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def process_cpu_seconds(pid, ended_children=False):
    """User and system time of a process until now, with that of its children that have ended or
    without."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15 if ended_children else 13])) / TICKS


def ended_children_seconds():
    """User and system time of the processes that this one has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Served:
    """A process of Postern or of a peer, with the processes that it forked."""

    def __init__(self, command, environment=None, **options):
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})}, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def processes(self):
        return with_children(self.process.pid)

    def cpu_seconds(self):
        """User and system time of all its processes until now."""
        return sum(map(process_cpu_seconds, self.processes()))

    def memory_mib(self):
        """Of all its processes. What they share is counted once."""
        return sum(
            int(re.search(r"^Pss:\s+(\d+) kB", path.read_text(), re.M)[1]) / 1024
            for path in (pathlib.Path(f"/proc/{pid}/smaps_rollup") for pid in self.processes()))

    def resident_mib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024


class Postern(Served):
    def __init__(self, binary, data, profile="test", environment=None, config=None):
        """With `config`, a file of settings, its first listener is used, which may have TLS."""
        listening = ["--config", str(config)] if config else ["--port", "0"]
        super().__init__(
            [str(binary), "serve", "--profile", profile, *listening, "--data", str(data)],
            environment, stdout=subprocess.PIPE, cwd=data)
        readable, _, _ = select.select([self.process.stdout], [], [], 30)
        line = self.process.stdout.readline().decode() if readable else ""
        match = re.search(r"listening on https?://127\.0\.0\.1:(\d+)", line)
        if not match:
            self.__exit__()
            raise SystemExit(f"{binary} did not print its address, but {line!r}")
        self.port = int(match[1])

    def ask_health(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        connection.close()


class Nginx(Served):
    """nginx with one worker per core."""

    def __init__(self, directory, servers=None, address="127.0.0.1", port=None):
        """Without `servers` it answers a constant at /healthz, and with an access log at /logged.
        """
        self.port = port or free_port(address)
        config = directory / "nginx.conf"
        config.write_text(NGINX.format(
            directory=directory, servers=servers or CONSTANT.format(port=self.port)))
        # Workers that root starts run as another user, who cannot read the directory.
        user = ["-g", "user root;"] if os.getuid() == 0 else []
        super().__init__(["/usr/sbin/nginx", "-p", directory, "-e", "stderr", "-c", config, *user])
        self.await_ready(address)

    def await_ready(self, address):
        for _ in range(200):
            with contextlib.suppress(OSError):
                return socket.create_connection((address, self.port), 1).close()
            time.sleep(0.05)
        self.__exit__()
        raise SystemExit("nginx did not start")


def free_port(address="127.0.0.1"):
    with socket.create_server((address, 0)) as free:
        return free.getsockname()[1]


@dataclasses.dataclass
class Load:
    """The responses to one run of wrk, and p50 and p99 of their times in milliseconds."""

    count: int
    p50: float
    p99: float


def load(port, path, seconds, script, method="GET", headers=None, connections=64, lua="",
         scheme="http"):
    """Runs wrk once. Any status but 2xx ends the run.

    `lua` may define how each request is made.
    """
    lines = [f'wrk.method = "{method}"']
    lines += [f'wrk.headers["{name}"] = "{value}"' for name, value in (headers or {}).items()]
    lines += [lua, PERCENTILES]
    script.write_text("\n".join(lines))
    threads = min(2, os.cpu_count(), connections)
    result = subprocess.run(
        ["wrk", "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s",
         "--timeout", "20s", "-s", str(script), f"{scheme}://127.0.0.1:{port}{path}"],
        text=True, capture_output=True, timeout=seconds + 30, stdin=subprocess.DEVNULL, check=True)
    if "Non-2xx" in result.stdout or "Socket errors" in result.stdout:
        raise SystemExit(f"{method} {path}: {result.stdout}")
    p50, p99 = re.search(r"percentiles (\d+) (\d+)", result.stdout).groups()
    count = int(re.search(r"(\d+) requests in", result.stdout)[1])
    return Load(count, int(p50) / 1e3, int(p99) / 1e3)
