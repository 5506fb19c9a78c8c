"""Starts the measured processes, reads their CPU time and memory from /proc, and ends them by id."""

import http.client
import os
import pathlib
import re
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
events {{ worker_connections 1024; }}
http {{
    client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi; uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    keepalive_requests 1000000000;
    default_type application/json;
    server {{
        listen 127.0.0.1:{port};
        location = /healthz {{ access_log off; return 200 '{{"status":"ok"}}'; }}
        location = /logged {{ access_log /dev/null; return 200 '{{"status":"ok"}}'; }}
    }}
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

    def resident_mib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024


class Postern(Served):
    def __init__(self, binary, data, profile="test", environment=None):
        super().__init__(
            [str(binary), "serve", "--profile", profile, "--port", "0", "--data", str(data)],
            environment, stdout=subprocess.PIPE, cwd=data)
        readable, _, _ = select.select([self.process.stdout], [], [], 30)
        line = self.process.stdout.readline().decode() if readable else ""
        match = re.search(r"listening on http://127\.0\.0\.1:(\d+)", line)
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
    def __init__(self, directory):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        config = pathlib.Path(directory) / "nginx.conf"
        config.write_text(NGINX.format(directory=directory, port=self.port))
        super().__init__(
            ["/usr/sbin/nginx", "-p", str(directory), "-e", "stderr", "-c", str(config)])
        self._await_ready()

    def _await_ready(self):
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.__exit__()
        raise SystemExit("nginx did not start")


def load(port, path, seconds, **options):
    """Runs wrk once. Returns the number of responses."""
    return measured(port, path, seconds, **options)[0]


def measured(port, path, seconds, method="GET", headers=None, connections=64, script=None, lua=""):
    """Runs wrk once. Returns the number of responses, and p50 and p99 of their times in
    milliseconds. Any status but 2xx ends the run.

    `lua` may define how each request is made.
    """
    lines = [f'wrk.method = "{method}"']
    lines += [f'wrk.headers["{name}"] = "{value}"' for name, value in (headers or {}).items()]
    lines += [lua, PERCENTILES]
    script.write_text("\n".join(lines))
    threads = min(2, os.cpu_count(), connections)
    result = subprocess.run(
        ["wrk", "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s",
         "--timeout", "20s", "-s", str(script), f"http://127.0.0.1:{port}{path}"],
        text=True, capture_output=True, timeout=seconds + 30, stdin=subprocess.DEVNULL, check=True)
    if "Non-2xx" in result.stdout or "Socket errors" in result.stdout:
        raise SystemExit(f"{method} {path}: {result.stdout}")
    p50, p99 = re.search(r"percentiles (\d+) (\d+)", result.stdout).groups()
    count = int(re.search(r"(\d+) requests in", result.stdout)[1])
    return count, int(p50) / 1e3, int(p99) / 1e3
