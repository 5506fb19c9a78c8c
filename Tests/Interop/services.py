"""A mail store or a proxy that asks the services listener, over TCP or a unix socket."""

import base64
import http.client
import json
import socket
import urllib.parse


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)


class Services:
    """`address` is what `services.listen` says."""

    def __init__(self, address, secret=None):
        self.address = address
        self.secret = secret

    def connection(self):
        kind, _, rest = self.address.partition(":")
        if kind == "unix":
            return UnixConnection(rest)
        host, _, port = self.address.rpartition(":")
        return http.client.HTTPConnection(host, int(port), timeout=60)

    def call(self, method, path, headers=None, form=None, body=None):
        headers = dict(headers or {})
        if self.secret:
            headers.setdefault("X-Services-Secret", self.secret)
        content = None
        if form is not None:
            content = urllib.parse.urlencode(form).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        elif body is not None:
            content = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        connection = self.connection()
        try:
            connection.request(method, path, content, headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def introspect(self, token):
        answer = self.call("POST", "/introspect", form={"token": token})
        assert answer.status == 200, answer.body
        return answer.json()

    def check(self, user, password, client="192.0.2.7", **fields):
        return self.call("POST", "/check-password", form={
            "user": user, "password": password, "client": client, **fields})

    def forward(self, authorization=None, method="GET", **headers):
        if authorization:
            headers["Authorization"] = authorization
        return self.call(method, "/forward-auth", headers)


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Socketmap:
    """A mail server that looks addresses up (socketmap_table(5)) on one connection. `address` is what
    `services.socketmap` says."""

    def __init__(self, address):
        kind, _, rest = address.partition(":")
        if kind == "unix":
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.settimeout(60)
            self.socket.connect(rest)
        else:
            host, _, port = address.rpartition(":")
            self.socket = socket.create_connection((host, int(port)), 60)
        self.input = self.socket.makefile("rb")

    def ask(self, *requests):
        """The replies to requests that are sent at once."""
        coded = [request.encode() for request in requests]
        self.socket.sendall(b"".join(b"%d:%s," % (len(one), one) for one in coded))
        return [self.reply() for _ in requests]

    def reply(self):
        length = b""
        while not length.endswith(b":"):
            byte = self.input.read(1)
            assert byte, "the connection was closed"
            length += byte
        content = self.input.read(int(length[:-1]) + 1)
        assert content.endswith(b",")
        return content[:-1].decode()

    def is_closed(self):
        try:
            return self.input.read(1) == b""
        except ConnectionResetError:
            return True

    def close(self):
        self.input.close()
        self.socket.close()
