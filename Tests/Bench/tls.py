"""TLS beside nginx with the same certificate: requests on kept-alive connections, handshakes, and
the memory of idle connections.
"""

import concurrent.futures
import contextlib
import os
import socket
import ssl
import subprocess
import time

from processes import Nginx, Postern, free_port
from table import Row

CONFIGURATION = """
[server]
max_connections_per_client = 10000
[limits]
enabled = false
[[server.listeners]]
address = "127.0.0.1:0"
tls = true
[tls]
certificates = [{{ certificate = "{directory}/certificate.pem", key = "{directory}/key.pem" }}]
"""
SERVER = """
    default_type application/json;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {directory}/certificate.pem;
        ssl_certificate_key {directory}/key.pem;
        ssl_protocols TLSv1.2 TLSv1.3;
        keepalive_timeout 600s;
        location = /healthz {{ return 200 '{{"status":"ok"}}'; }}
    }}
"""
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n"
KEPT = b"GET /healthz HTTP/1.1\r\nHost: bench\r\n\r\n"


class TLS:
    def __init__(self, run):
        self.run = run
        self.clients = 8 * os.cpu_count()
        self.idle_connections = 1000 if run.quick else 5000
        self.context = ssl.create_default_context()
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE

    def rows(self):
        directory = self.run.fresh()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-subj", "/CN=bench", "-keyout", directory / "key.pem", "-out",
             directory / "certificate.pem"], check=True, capture_output=True)
        configuration = directory / "postern.toml"
        configuration.write_text(CONFIGURATION.format(directory=directory))
        port = free_port()
        servers = SERVER.format(port=port, directory=directory)
        with Postern(self.run.binary, self.run.fresh(), config=configuration) as server, \
                Nginx(self.run.fresh(), servers, port=port) as nginx:
            sides = self.run.turns(
                lambda: self.run.cpu_micros(server, "/healthz", scheme="https"),
                lambda: self.run.cpu_micros(nginx, "/healthz", scheme="https"),
                lambda: self.handshakes(server), lambda: self.handshakes(nginx),
                lambda: self.handshakes(server, resumed=True),
                lambda: self.handshakes(nginx, resumed=True))
            yield Row("GET /healthz over TLS, CPU", "µs", *sides[:2], "nginx", 2)
            for what, mine, peers in [("full", *sides[2:4]), ("resumed", *sides[4:])]:
                yield Row(f"TLS handshakes, {what}, in a second of CPU", "1/s", mine, peers,
                          "nginx", 0.9, more_is_better=True)
            mine, peer = self.kib_for_connection(server), self.kib_for_connection(nginx)
        yield Row("memory of an idle connection with TLS", "KiB", [mine], [peer], "nginx")

    def handshakes(self, server, resumed=False):
        """Connections with one small request each, several at a time, by the CPU time of the server:
        the client takes longer for one than the server."""
        before, end = server.cpu_seconds(), time.monotonic() + self.run.seconds

        def connect(_):
            count, session = 0, None
            while time.monotonic() < end:
                with self.connection(server.port, REQUEST, session) as connection:
                    # The ticket of TLS 1.3 comes after the handshake.
                    while connection.recv(4096):
                        pass
                    if session is not None and not connection.session_reused:
                        raise SystemExit("a session was not resumed")
                    if resumed:
                        session = connection.session
                count += 1
            return count

        with concurrent.futures.ThreadPoolExecutor(self.clients) as pool:
            count = sum(pool.map(connect, range(self.clients)))
        return count / (server.cpu_seconds() - before)

    def connection(self, port, request, session=None):
        connection = self.context.wrap_socket(
            socket.create_connection(("127.0.0.1", port), 10), session=session)
        connection.sendall(request)
        return connection

    def kib_for_connection(self, server):
        before = server.memory_mib()
        with contextlib.ExitStack() as idle:
            for _ in range(self.idle_connections):
                connection = idle.enter_context(self.connection(server.port, KEPT))
                assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
            return (server.memory_mib() - before) * 1024 / self.idle_connections
