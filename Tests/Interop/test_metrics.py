"""GET /metrics of the services listener, as Prometheus reads it."""

import re
import subprocess

import pytest
import requests

from mailboxes import PASSWORD, Mailboxes
from services import Services, basic

SAMPLE = re.compile(r'([a-z0-9_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)+)\})? (\S+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
ROUTE, DURATIONS = "postern_http_requests_total", "postern_http_request_duration_seconds"


def promtool(*arguments, text=None):
    """Runs promtool of Debian's package prometheus. What it complains about fails the test."""
    done = subprocess.run(
        ["promtool", *map(str, arguments)], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


class Scrape:
    """What one GET /metrics says: `samples` by name, and the type of each metric."""

    def __init__(self, services):
        answer = services.call("GET", "/metrics")
        assert answer.status == 200, answer.body
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        self.text = answer.body.decode()
        self.types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", self.text, re.M))
        self.samples = {}
        for line in self.text.splitlines():
            if line.startswith("#"):
                continue
            name, labels, value = SAMPLE.fullmatch(line).groups()
            key = frozenset(LABEL.findall(labels or ""))
            assert key not in self.samples.setdefault(name, {}), f"{line} is there twice"
            self.samples[name][key] = float(value)

    def value(self, name, **labels):
        """The sum of the samples that have these labels."""
        wanted = set(labels.items())
        return sum(value for key, value in self.samples.get(name, {}).items() if wanted <= key)

    def labels(self, name, label):
        return {dict(key).get(label) for key in self.samples.get(name, {})}


@pytest.fixture(scope="module")
def listening(serve, tmp_path_factory):
    """A server with a services listener, for tests that look at differences only."""
    address = f"unix:{tmp_path_factory.mktemp('metrics')}/s"
    server = serve(POSTERN_SERVICES_LISTEN=address, POSTERN_USERS_REGISTRATION="open")
    return server, Services(address)


@pytest.fixture
def change(listening):
    """How much a metric has grown since the test began."""
    _, services = listening
    before = Scrape(services)

    def change(name, **labels):
        return Scrape(services).value(name, **labels) - before.value(name, **labels)
    return change


def test_promtool_finds_nothing_to_complain_about(listening):
    server, services = listening
    boxes = Mailboxes(server.url)
    box = boxes.mailbox()
    services.check(box.address, PASSWORD)
    requests.get(server.url + "/missing", timeout=30)
    promtool("check", "metrics", text=Scrape(services).text)


def test_every_metric_has_a_help_a_type_and_a_prefix(listening):
    scrape = Scrape(listening[1])
    helped = re.findall(r"^# HELP (\S+) (.+)$", scrape.text, re.M)
    assert [name for name, _ in helped] == list(scrape.types)
    for name, text in helped:
        assert name.startswith(("postern_", "process_")) and text.endswith("."), name
    for name in scrape.samples:
        base = re.sub("_(bucket|sum|count)$", "", name)
        assert scrape.types.get(name) or scrape.types[base] in ("histogram", "summary"), name


def test_requests_are_counted_by_route_method_and_status(listening, change):
    server, _ = listening
    for method, path in [("GET", "/healthz"), ("HEAD", "/healthz"), ("BREW", "/healthz"),
                         ("GET", "/no/such/path"), ("BREW", "/another"),
                         ("GET", "/api/accounts/nobody@mail.test")]:
        requests.request(method, server.url + path, timeout=30)
    assert change(ROUTE, route="/healthz", method="GET", status="200") == 1
    assert change(ROUTE, route="/healthz", method="HEAD", status="200") == 1
    assert change(ROUTE, route="-", method="other", status="405") == 1
    assert change(ROUTE, route="-", method="GET", status="404") == 1
    assert change(ROUTE, route="-", method="other", status="404") == 1
    assert change(ROUTE, route="/api/accounts/{account_id}", method="GET", status="401") == 1
    assert change(f"{DURATIONS}_count", route="/healthz") == 2
    assert change(f"{DURATIONS}_bucket", route="/healthz", le="+Inf") == 2
    assert change(f"{DURATIONS}_sum", route="/healthz") > 0


def test_what_clients_send_makes_no_labels(listening):
    server, services = listening
    for number in range(20):
        requests.request(f"M{number}", f"{server.url}/p{number}?q={number}", timeout=30)
    scrape = Scrape(services)
    assert scrape.labels(ROUTE, "method") <= {
        "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "other"}
    document = requests.get(server.url + "/openapi.json", timeout=30).json()
    assert scrape.labels(ROUTE, "route") <= {*document["paths"], "-"}


def test_the_secret_is_needed_and_may_be_that_of_a_scrape_configuration(start, tmp_path):
    secret = "a-secret-of-24-characters"
    file = tmp_path / "services.secret"
    file.write_text(secret)
    file.chmod(0o600)
    address = f"unix:{tmp_path}/s"
    start(POSTERN_SERVICES_LISTEN=address, POSTERN_SERVICES_SECRET_FILE=str(file))
    services = Services(address)
    assert services.call("GET", "/metrics").status == 401
    for credential in [f"Bearer {secret}", basic("prometheus", secret)]:
        answer = services.call("GET", "/metrics", {"Authorization": credential})
        assert answer.status == 200 and ROUTE in answer.body.decode()
