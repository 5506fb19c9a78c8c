"""The examples in deploy/, run by the real proxies: the client's address reaches Postern, the
tokens come back.

Each example is used as it stands, but for ports, paths of certificates and, where a client
connects from, loopback addresses. Clients have addresses of their own: all of 127.0.0.0/8 is this
machine.
"""

from concurrent.futures import ThreadPoolExecutor
import http.client
import json
import re
import shutil
import socket
import ssl
import time

import pytest
import yaml

from agent import Agent, bearer
from program import run
from proxies import DEPLOY, SEARCH_PATH, HAProxy, Nginx, Proxy, substituted

HOST = "auth.example.org"
CLIENT, OTHER = "127.0.0.2", "127.0.0.3"
SETTINGS = {
    "POSTERN_SERVER_PUBLIC_URL": f"https://{HOST}", "POSTERN_SERVER_TRUSTED_PROXIES": "127.0.0.1",
    "POSTERN_LIMITS_ENABLED": "true", "POSTERN_USERS_REGISTRATION": "open",
}


class HAProxyTCP(HAProxy):
    example = "haproxy-tcp.cfg"
    settings = {"POSTERN_SERVER_PROXY_PROTOCOL": "required"}


class Caddy(Proxy):
    program = "caddy"

    def command(self, directory, certificate, upstream):
        # A certificate of the tests' own in place of the one that Caddy would obtain.
        site = substituted("Caddyfile", site=(
            r"auth\.example\.org \{",
            f"https://{HOST}:{self.port} {{\n\tbind 127.0.0.1\n\ttls {certificate} {certificate}"))
        (directory / "Caddyfile").write_text(
            "{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + site)
        return ["caddy", "run", "--adapter", "caddyfile", "--config", str(directory / "Caddyfile")]

    def environment(self, directory, upstream):
        return {**super().environment(directory, upstream),
                "POSTERN_UPSTREAM": f"127.0.0.1:{upstream}"}


class Wire(http.client.HTTPSConnection):
    """A connection to the proxy from an address of our choice."""

    def __init__(self, port, source, context):
        super().__init__(HOST, port, timeout=30)
        self.source, self.tls = source, context

    def connect(self):
        plain = socket.create_connection(
            ("127.0.0.1", self.port), self.timeout, source_address=(self.source, 0))
        self.sock = self.tls.wrap_socket(plain, server_hostname=HOST)


class Response:
    def __init__(self, answer):
        self.status_code, self.headers = answer.status, answer.headers
        self.text = answer.read().decode()

    def json(self):
        return json.loads(self.text)


class Client(Agent):
    """An agent that comes through the proxy, from its own address."""

    def __init__(self, port, source, context):
        self.where = port, source, context

    def call(self, method, path, headers=None, body=None):
        wire = Wire(*self.where)
        try:
            wire.request(method, path, body, {"Host": HOST, **(headers or {})})
            return Response(wire.getresponse())
        finally:
            wire.close()

    def post(self, path, token=None, body=None):
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.call("POST", path, headers, None if body is None else json.dumps(body))


@pytest.fixture(params=[Nginx, HAProxy, HAProxyTCP, Caddy], ids=lambda kind: kind.__name__)
def kind(request):
    assert shutil.which(request.param.program, path=SEARCH_PATH), (
        f"{request.param.program} is not installed: make test installs it")
    return request.param


@pytest.fixture
def through(kind, start, authority, tmp_path):
    """Clients of a Postern behind the proxy, by address."""
    server = start(**SETTINGS, **kind.settings)
    authority.context(HOST)
    context = ssl.create_default_context(cafile=str(authority.file))
    proxy = kind(tmp_path, authority.directory / f"{HOST}.pem", server.port)
    try:
        await_ready(proxy, context)
        yield lambda address: Client(proxy.port, address, context), server
    finally:
        proxy.stop()


def await_ready(proxy, context):
    """The proxy listens, and has found Postern ready where it checks that."""
    deadline = time.monotonic() + 20
    while True:
        try:
            if Client(proxy.port, OTHER, context).call("GET", "/healthz").status_code == 200:
                return
        except OSError:
            pass
        assert proxy.process.poll() is None and time.monotonic() < deadline, proxy.log.read_text()
        time.sleep(0.1)


def logged(server, path):
    """The clients of the requests for a path, from the log."""
    deadline = time.monotonic() + 5
    while True:
        lines = [json.loads(line) for line in server.read_log().splitlines()]
        found = {line["client.address"] for line in lines if line.get("http.route") == path}
        if found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def test_a_signup_is_logged_with_the_clients_address(through):
    clients, server = through
    client = clients(CLIENT)
    signup = client.session(username="through-a-proxy")
    assert signup.status_code == 201, signup.text
    capability = client.capability(bearer(signup))
    assert capability.status_code == 200 and bearer(capability)
    assert logged(server, "/api/v1/session") == {CLIENT}


def test_a_forged_address_is_ignored(through):
    clients, server = through
    forged = {name: "203.0.113.9" for name in ["X-Forwarded-For", "X-Real-IP", "Forwarded"]}
    assert clients(CLIENT).call("GET", "/api/domains", forged).status_code == 200
    assert logged(server, "/api/domains") == {CLIENT}


def test_one_client_at_its_limit_does_not_limit_another(through):
    clients, _ = through
    hasty, other = clients(CLIENT), clients(OTHER)
    # At the same time: one after another, they can be slower than the limit on a busy machine.
    with ThreadPoolExecutor(16) as pool:
        for _ in range(20):
            responses = pool.map(lambda _: hasty.call("GET", "/api/domains"), range(16))
            rejected = [response for response in responses if response.status_code == 429]
            if rejected:
                break
    assert rejected and int(rejected[0].headers["Retry-After"]) >= 1
    assert other.call("GET", "/api/domains").status_code == 200


def test_the_session_cookie_works_from_the_sites_own_pages(through):
    clients, _ = through
    client = clients(CLIENT)
    user = client.post("/api/user/register", None, {
        "email": "ada@example.com", "password": "propassword"})
    assert user.status_code == 201, user.text
    cookie = {"Cookie": user.headers["Set-Cookie"].partition(";")[0]}
    foreign = client.call("POST", "/api/user/logout", {**cookie, "Origin": "https://a.example"})
    assert foreign.status_code == 403
    own = client.call("POST", "/api/user/logout", {**cookie, "Origin": f"https://{HOST}"})
    assert own.status_code == 204


def test_the_settings_that_an_example_names_are_accepted(tmp_path):
    for example in [
            "nginx.conf", "haproxy.cfg", "haproxy-tcp.cfg", "Caddyfile", "nginx-nodes.conf",
            "haproxy-nodes.cfg", "mail/nginx-jmap.conf"]:
        comment = re.findall(r"^#   (.*)", (DEPLOY / example).read_text(), re.M)
        assert comment[0] == "[server]"
        settings = tmp_path / "settings.toml"
        settings.write_text("\n".join(comment) + '\n[hash_login]\nissuer = "a"\n')
        checked = run("check-config", "--config", settings, "--profile", "production",
                      directory=tmp_path)
        assert checked.returncode == 0, checked.stderr


def test_the_compose_file_sets_what_production_wants(tmp_path):
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    settings = services["postern"]["environment"]
    checked = run("check-config", "--profile", "production", directory=tmp_path, **settings)
    assert checked.returncode == 0, checked.stderr
    subnets = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["networks"]["front"]
    assert settings["POSTERN_SERVER_TRUSTED_PROXIES"] == subnets["ipam"]["config"][0]["subnet"]
    upstream = services["caddy"]["environment"]["POSTERN_UPSTREAM"]
    assert upstream == "postern:8080"
    for mount in services["caddy"]["volumes"]:
        if mount.startswith("./"):
            assert (DEPLOY / mount.partition(":")[0]).is_file()
