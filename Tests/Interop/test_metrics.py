"""GET /metrics of the services listener, as Prometheus reads it."""

import json
import os
import pathlib
import re
import subprocess
import time

import pytest
import requests

from agent import Agent
from hashhost import argon2
from hashlogin import HashLogin
from mailboxes import PASSWORD, Mailboxes
from postgres import TestDatabase
from program import ROOT, await_true, run
from services import Services, basic

SAMPLE = re.compile(r'([a-z0-9_]+)(?:\{((?:[a-z0-9_]+="(?:[^"\\]|\\.)*",?)+)\})? (\S+)')
LABEL = re.compile(r'([a-z0-9_]+)="((?:[^"\\]|\\.)*)"')
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


def test_logins_are_counted_by_kind_and_result(listening, change, name):
    server, services = listening
    boxes, agent = Mailboxes(server.url), Agent(server.url)
    box, user = boxes.mailbox(), boxes.user()
    assert boxes.login(box.address).status_code == 200
    assert services.check(box.address, "wrong").status == 401
    body = {"email": user.email, "password": user.password}
    assert boxes.call("POST", "/api/user/login", None, body).status_code == 200
    key = agent.session(username=name()).json()["apiKey"]
    assert agent.session(apiKey=key).status_code == 200
    assert agent.session(apiKey="pst_nobody").status_code == 401
    logins = "postern_logins_total"
    assert change(logins, kind="mailbox", result="succeeded") == 1
    assert change(logins, kind="mailbox", result="failed") == 1
    assert change(logins, kind="user", result="succeeded") == 1
    assert change(logins, kind="agent", result="succeeded") == 1
    assert change(logins, kind="agent", result="failed") == 1
    assert change(logins, kind="hash_login") == 0
    events = "postern_credential_events_total"
    assert change(events, kind="user_created") == 1
    assert change(events, kind="account_created") == 2
    assert change(events, kind="login_failed") == 2


def test_proofs_of_work_are_counted(listening, change, name):
    server, services = listening
    agent = Agent(server.url)
    assert agent.session(username=name()).status_code == 201
    challenge = agent.challenge()
    refuse = {"powHex": "0" * 128, "nonce": "1", "username": name()}
    assert agent.post("/api/v1/session", challenge, refuse).status_code == 403
    assert agent.post("/api/v1/session", challenge, refuse).status_code == 401
    assert agent.post("/api/v1/session", agent.challenge(), {
        **refuse, "powHex": "f" * 128}).status_code == 403
    proofs = "postern_proof_of_work_total"
    counted = {event: change(proofs, kind="agent", event=event) for event in [
        "issued", "spent", "solved", "wrong", "too_easy", "invalid", "refunded"]}
    assert counted == {"issued": 3, "spent": 2, "solved": 1, "wrong": 1, "too_easy": 1,
                       "invalid": 1, "refunded": 0}
    assert Scrape(services).value("postern_proof_of_work_difficulty") >= 1


def test_rejections_by_a_rate_and_throttled_logins_are_counted(start, tmp_path):
    address = f"unix:{tmp_path}/s"
    server = start(
        profile="development", POSTERN_SERVICES_LISTEN=address,
        POSTERN_LIMITS_GENERAL_PER_SECOND="1")
    services = Services(address)

    def until_429(status):
        await_true(lambda: status() == 429, "a request is rejected")

    for _ in range(3):
        until_429(lambda: requests.get(server.url + "/api/domains", timeout=30).status_code)
        until_429(lambda: services.check("nobody@mail.test", "wrong").status)
    scrape = Scrape(services)
    assert scrape.value("postern_rate_limited_total", **{"class": "general"}) == 3
    assert scrape.value("postern_rate_limited_total") == 3
    assert scrape.value("postern_logins_total", kind="mailbox", result="throttled") == 3
    assert scrape.value("postern_logins_total", kind="mailbox", result="failed") >= 5
    assert scrape.value("postern_security_events_total", kind="attempt_throttled") >= 1


def test_counters_go_on_after_a_reload(start, tmp_path):
    address, file = f"unix:{tmp_path}/s", tmp_path / "postern.toml"
    file.write_text("[limits]\nenabled = true\ngeneral_per_second = 1\n[pow]\nagent_difficulty = 1\n")
    server = start("--config", str(file), POSTERN_SERVICES_LISTEN=address)
    services = Services(address)

    def ask():
        """Changes each of the counters below."""
        requests.get(server.url + "/healthz", timeout=30)
        requests.post(server.url + "/api/v1/challenge", timeout=30).raise_for_status()
        services.check("nobody@mail.test", "wrong")
        await_true(lambda: requests.get(server.url + "/api/domains", timeout=30).status_code == 429,
                   "a request is rejected")

    def counted():
        scrape = Scrape(services)
        return [scrape.value(ROUTE, route="/healthz"),
                scrape.value("postern_proof_of_work_total", kind="agent", event="issued"),
                scrape.value("postern_logins_total", kind="mailbox", result="failed"),
                scrape.value("postern_rate_limited_total", **{"class": "general"})]

    ask()
    assert counted() == [1, 1, 1, 1]
    # Another rate: no client has a bucket any more, and the number of rejections stays.
    file.write_text("[limits]\nenabled = true\ngeneral_per_second = 2\n[pow]\nagent_difficulty = 3\n")
    server.reload()
    assert counted() == [1, 1, 1, 1]
    assert Scrape(services).value("postern_proof_of_work_difficulty") == 3
    ask()
    assert counted() == [2, 2, 2, 2]


def test_pools_and_the_database_are_counted(listening, change):
    server, services = listening
    box = Mailboxes(server.url).mailbox()
    services.check(box.address, PASSWORD)
    # Keys that nothing has needed yet.
    Agent(server.url).challenge()
    for name in ["jwks", "login-jwks"]:
        assert requests.get(f"{server.url}/.well-known/{name}.json", timeout=60).status_code == 200
    scrape = Scrape(services)
    assert scrape.labels("postern_pool_lanes", "pool") == {
        "hashing", "signing", "mail", "smtp", "dns", "login_look_up", "login_fetch",
        "registration_look_up", "registration_fetch", "webhook_look_up"}
    for gauge in ["running", "waiting", "places_taken"]:
        assert scrape.value(f"postern_pool_{gauge}", pool="dns") == 0
    assert scrape.value("postern_pool_places", pool="hashing") > scrape.value(
        "postern_pool_lanes", pool="hashing") >= 1
    # One hash to make the account, one to check its password.
    assert change("postern_pool_wait_seconds_count", pool="hashing") >= 2
    assert change("postern_store_statement_seconds_count", statement="commit") >= 2
    commits = change("postern_store_transaction_seconds_count")
    assert commits == change("postern_store_batch_size_count", batch="writes") >= 2
    assert change("postern_store_statement_seconds_sum", statement="commit") > 0
    assert change("postern_store_batch_size_sum", batch="writes") >= commits
    for use in ["agent", "accounts", "capability", "login"]:
        made = scrape.value("postern_signing_key_created_timestamp_seconds", use=use)
        assert abs(time.time() - made) < 3600


def test_postgresql_is_counted(start, tmp_path):
    address = f"unix:{tmp_path}/s"
    database = TestDatabase()
    server = start(POSTERN_SERVICES_LISTEN=address, POSTERN_STORAGE_URL=database.url)
    services = Services(address)
    box = Mailboxes(server.url).mailbox()
    services.check(box.address, PASSWORD)
    scrape = Scrape(services)
    promtool("check", "metrics", text=scrape.text)
    assert scrape.value("postern_build_info", storage="postgresql") == 1
    assert scrape.value("postern_store_connections_open") >= 1
    assert scrape.value("postern_pool_lanes", pool="database") >= 1
    assert scrape.value("postern_pool_wait_seconds_count", pool="database") >= 2
    assert scrape.value("postern_store_transaction_seconds_count") >= 2
    assert scrape.value("postern_store_batch_size_sum", batch="accounts") == 1
    assert scrape.value("postern_store_batch_size_sum", batch="look_ups") >= 1
    assert scrape.value("postern_store_statement_seconds_count", statement="insertAccounts") == 1

    def is_reachable():
        # What asks the database finds out.
        requests.get(server.url + "/readyz", timeout=30)
        return Scrape(services).value("postern_store_reachable")

    def reaches(expected):
        await_true(lambda: is_reachable() == expected, f"postern_store_reachable is {expected}")
    reaches(1)
    database.stop()
    reaches(0)
    database.start()
    reaches(1)


def test_fetches_are_counted_by_result(start, tmp_path, host, authority):
    address = f"unix:{tmp_path}/s"
    server = start(
        POSTERN_SERVICES_LISTEN=address, POSTERN_HASH_LOGIN_CA_FILE=str(authority.file))
    services, logins = Services(address), HashLogin(server.url)
    url = host.serve(argon2("right"))
    assert logins.register("a@users.example", url, "right").status_code == 201
    assert logins.login("a@users.example", "right").status_code == 200
    assert logins.register(
        "b@users.example", host.serve(b"gone", status=404), "right").status_code == 422
    scrape, fetches = Scrape(services), "postern_fetches_total"
    assert scrape.value(fetches, purpose="registration", result="fetched") == 1
    assert scrape.value(fetches, purpose="registration", result="failed") == 1
    assert scrape.value(fetches, purpose="login", result="fetched") == 1
    assert scrape.value(fetches) == 3
    assert scrape.value("postern_logins_total", kind="hash_login", result="succeeded") == 1
    # One for each address of localhost that was tried. The host listens on 127.0.0.1 alone.
    assert scrape.value("postern_pool_wait_seconds_count", pool="login_fetch") in (1, 2)


def test_the_process_is_the_one_that_serves(listening):
    server, services = listening
    scrape = Scrape(services)
    status = pathlib.Path(f"/proc/{server.process.pid}")
    assert abs(time.time() - scrape.value("process_start_time_seconds")) < 3600
    resident = int((status / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    assert 0.5 < scrape.value("process_resident_memory_bytes") / resident < 2
    assert scrape.value("process_virtual_memory_bytes") > resident
    assert 3 < scrape.value("process_open_fds") < scrape.value("process_max_fds")
    assert scrape.value("process_cpu_seconds_total") > 0
    assert Scrape(services).value("process_cpu_seconds_total") > scrape.value(
        "process_cpu_seconds_total")
    (labels,) = scrape.samples["postern_build_info"]
    version, *kernels = run("--version", directory="/").stdout.splitlines()
    assert dict(labels)["version"] == version
    for kernel, name in zip(kernels, ["scrypt", "argon2"], strict=True):
        assert kernel.startswith(f"{name}: {dict(labels)[name]}")


def test_the_table_for_operators_has_every_metric(listening):
    server, services = listening
    page = (ROOT / "docs/operators.md").read_text()
    section = page.partition("\n## Metrics\n")[2].partition("\n## ")[0]
    documented = set(re.findall(r"`((?:postern|process)_\w+)`", section.partition("\n### ")[0]))
    # Only PostgreSQL has connections.
    assert documented - {"postern_store_connections_open"} == set(Scrape(services).types)


# Prometheus and Grafana

DEPLOY = ROOT / "deploy"


def alert_rules():
    text = (DEPLOY / "prometheus-alerts.yml").read_text()
    return re.findall(r"- alert: (\w+)$", text, re.M)


def metrics_named_in(text):
    """The metrics that expressions name, histograms and summaries without their suffix."""
    return {re.sub("_(bucket|sum|count)$", "", name)
            for name in re.findall(r"\b(?:postern|process)_\w+", text)}


def test_the_alerts_are_valid_and_fire_when_they_should():
    promtool("check", "rules", DEPLOY / "prometheus-alerts.yml")
    promtool("test", "rules", ROOT / "Tests/Interop/alerts.yml")


def test_the_scrape_configuration_is_valid(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x")
    text = (DEPLOY / "prometheus.yml").read_text()
    (path,) = re.findall(r"credentials_file: (.+)$", text, re.M)
    configuration = tmp_path / "prometheus.yml"
    configuration.write_text(text.replace(path, str(secret)))
    (tmp_path / "prometheus-alerts.yml").symlink_to(DEPLOY / "prometheus-alerts.yml")
    said = promtool("check", "config", configuration)
    assert f"{len(alert_rules())} rules found" in said


@pytest.mark.parametrize("file", ["grafana-postern.json", "prometheus-alerts.yml"])
def test_every_metric_that_is_looked_at_exists(listening, file):
    named = metrics_named_in((DEPLOY / file).read_text())
    # Only PostgreSQL has connections.
    known = {*Scrape(listening[1]).types, "postern_store_connections_open"}
    assert len(named) > 10 and not named - known


def test_the_dashboard_is_complete():
    board = json.loads((DEPLOY / "grafana-postern.json").read_text())
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    cells = set()
    for panel in panels:
        place = panel["gridPos"]
        own = {(x, y) for x in range(place["x"], place["x"] + place["w"])
               for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & own and max(x for x, _ in own) < 24, panel["title"]
        cells |= own
        assert panel["fieldConfig"]["defaults"]["unit"] and panel["targets"], panel["title"]
        for target in panel["targets"]:
            assert "$instance" in target["expr"], panel["title"]
            assert target["expr"].count("(") == target["expr"].count(")"), panel["title"]


def test_every_alert_is_in_the_table_for_operators():
    page = (ROOT / "docs/operators.md").read_text()
    section = page.partition("\n### Alerts\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.M) == alert_rules()


def test_a_trace_is_in_the_line_of_its_request(postern):
    trace, span = os.urandom(16).hex(), os.urandom(8).hex()
    for version in ["00", "ff"]:
        requests.get(
            postern.url + "/healthz", headers={"traceparent": f"{version}-{trace}-{span}-01"},
            timeout=30)
    await_true(lambda: trace in postern.read_log(), "the line of the request")
    lines = [json.loads(line) for line in postern.read_log().splitlines() if trace in line]
    assert [(line["trace_id"], line["span_id"]) for line in lines] == [(trace, span)]
