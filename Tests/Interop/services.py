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
