"""The test profile's own endpoints, and that no other profile has them."""

import base64
import calendar
import concurrent.futures
import http.client
import itertools
import re
import smtplib
import time

import pytest
import requests

from agent import Agent, bearer, claims
from mailboxes import Mailboxes, fresh
from program import ROOT, await_true, run

ENDPOINTS = {
    "POST /test/reset", "GET /test/clock", "POST /test/clock", "POST /test/accounts",
    "POST /test/users", "POST /test/tokens", "GET /test/events", "POST /test/messages",
    "GET /test/messages", "DELETE /test/messages", "GET /test/messages/{number}/source",
    "POST /test/mail"}
# Takes messages of 10 MiB in Base64.
LARGE = "POST /test/messages"
PRODUCTION = {"POSTERN_SERVER_PUBLIC_URL": "http://127.0.0.1", "JWT_ISSUER": "a"}
DAY = 86_400


class Suite(Mailboxes):
    """A client of /test/."""

    def make(self, what, *items, status=201):
        answer = self.call("POST", f"/test/{what}", body=list(items))
        assert answer.status_code == status, answer.text
        return answer.json()[what]

    def advance(self, seconds):
        answer = self.call("POST", "/test/clock", body={"advance": seconds})
        assert answer.status_code == 200, answer.text

    def reset(self):
        assert self.call("POST", "/test/reset").status_code == 204

    def events(self, after=0):
        return self.call("GET", f"/test/events?after={after}").json()["events"]

    def status(self, path, token, method="GET"):
        return self.call(method, path, token).status_code


@pytest.fixture(scope="module")
def server(serve):
    return serve(POSTERN_USERS_REGISTRATION="open", POSTERN_AUDIT_RETENTION="10d",
                 POSTERN_KEYS_ROTATE_EVERY="30d")


def test_after_a_reload_the_endpoints_use_the_new_settings_and_the_clock_stays(start, tmp_path):
    file = tmp_path / "postern.toml"
    file.write_text('[mail]\ndomains = ["first.example"]\n')
    server = start("--config", str(file))
    suite = Suite(server.url)
    suite.advance(DAY)
    file.write_text('[mail]\ndomains = ["second.example"]\n')
    server.reload()
    [made] = suite.make("accounts", {})
    assert made["address"].endswith("@second.example"), made
    now = suite.call("GET", "/test/clock").json()["now"]
    assert calendar.timegm(time.strptime(now[:19], "%Y-%m-%dT%H:%M:%S")) >= time.time() + DAY - 60


@pytest.fixture
def suite(server):
    suite = Suite(server.url)
    suite.reset()
    return suite


def test_the_page_describes_every_endpoint():
    page = (ROOT / "docs/test-suites.md").read_text()
    assert set(re.findall(r"^### ((?:GET|POST|DELETE) /test/\S+)$", page, re.M)) == ENDPOINTS


@pytest.mark.parametrize("profile", ["development", "production"])
def test_in_other_profiles_they_are_unknown_paths(start, profile, tmp_path):
    settings = PRODUCTION if profile == "production" else {}
    url = start("--data", str(tmp_path / "data"), profile=profile, **settings).url

    def answer(method, path):
        found = requests.request(method, url + path, json=[{}], timeout=30)
        return found.status_code, found.json(), set(found.headers)

    for endpoint in ENDPOINTS:
        method, path = endpoint.replace("{number}", "1").split()
        assert answer(method, path) == answer(method, "/nowhere") and answer(method, path)[0] == 404


def test_other_machines_do_not_reach_the_test_profile_by_accident(start, tmp_path):
    refused = run("serve", "--profile", "test", "--port", "0", "--host", "*", directory=tmp_path)
    assert refused.returncode == 78 and "testing.exposed" in refused.stderr
    exposed = start("--host", "0.0.0.0", POSTERN_TESTING_EXPOSED="true")
    assert Suite(exposed.url).call("GET", "/test/clock").status_code == 200
    await_true(lambda: "can be reached by other machines" in exposed.read_log(), exposed.read_log)


def test_a_reset_leaves_nothing_but_the_keys(suite, server):
    agent = Agent(server.url)
    solved = agent.solve()
    signup = agent.session(solved, username="agent-of-the-test")
    user = suite.make("users", {"email": "ada@example.com"})[0]
    box = suite.make("accounts", {"address": fresh(), "owner": user["email"]})[0]
    token = suite.make("tokens", {"kind": "api_token", "email": user["email"]})[0]
    login = {"email": "ada@example.com", "password": "test123"}
    hosted = {**login, "password_hash_url": f"{server.url}/example.txt"}
    assert suite.call("POST", "/register", body=hosted).status_code == 201
    assert suite.status("/api/user/me", token["token"]) == 200
    keys = suite.call("GET", "/.well-known/jwks.json").json()
    last = suite.events()[-1]["sequence"]
    suite.advance(DAY)

    suite.reset()
    assert suite.events() == []
    assert suite.status("/api/v1/capability", bearer(signup), "POST") == 401
    assert suite.status(f"/api/accounts/{box['id']}", box["token"]) == 401
    for old in (user["token"], token["token"]):
        assert suite.status("/api/user/me", old) == 401
    assert suite.call("POST", "/login", body=login).status_code == 422
    now = suite.call("GET", "/test/clock").json()["now"]
    assert abs(calendar.timegm(time.strptime(now, "%Y-%m-%dT%H:%M:%SZ")) - time.time()) < 3600
    assert suite.call("GET", "/.well-known/jwks.json").json() == keys

    assert agent.session(solved, username="agent-of-the-test").status_code == 201
    suite.make("users", {"email": "ada@example.com"})
    suite.make("accounts", {"address": box["address"]})
    assert suite.call("POST", "/register", body=hosted).status_code == 201
    assert min(event["sequence"] for event in suite.events()) > last


def test_tokens_expire_by_the_clock(suite):
    agent, = suite.make("accounts", {"agent": True})
    box, = suite.make("accounts", {})
    user, = suite.make("users", {})
    capability, api = suite.make(
        "tokens", {"kind": "capability", "address": agent["address"]},
        {"kind": "api_token", "email": user["email"], "expires_in": 30 * DAY})
    checks = [
        (120, [("GET", "/userinfo", capability)]),
        (3600, [("POST", "/api/v1/capability", agent)]),
        (7 * DAY, [("GET", f"/api/accounts/{box['id']}", box), ("GET", "/api/user/me", user)]),
        (30 * DAY, [("GET", "/api/user/accounts", api)]),
    ]
    passed = 0
    for lifetime, uses in checks:
        # The server's time also goes on by itself.
        suite.advance(lifetime - 60 - passed)
        for method, path, made in uses:
            assert suite.status(path, made["token"], method) == 200, path
        suite.advance(61)
        for method, path, made in uses:
            assert suite.status(path, made["token"], method) == 401, path
        passed = lifetime + 1
    assert claims(agent["token"])["exp"] - claims(agent["token"])["iat"] == 3600


def test_what_is_due_by_the_clock_is_done_before_the_answer(suite):
    suite.make("accounts", {}, {"agent": True})
    keys = suite.call("GET", "/.well-known/jwks.json").json()["keys"]
    suite.advance(11 * DAY)
    assert suite.events() == []
    suite.advance(20 * DAY)
    new = suite.call("GET", "/.well-known/jwks.json").json()["keys"]
    assert len(new) > len(keys) or {key["kid"] for key in new} != {key["kid"] for key in keys}
    suite.advance(DAY)
    suite.make("tokens", {"kind": "capability", "address": suite.make("accounts", {})[0]["address"]})


def test_limits_follow_the_clock_and_are_cleared(serve):
    suite = Suite(serve(
        POSTERN_LIMITS_ENABLED="true", POSTERN_LIMITS_CREATION_INTERVAL="1h",
        POSTERN_LIMITS_GENERAL_PER_SECOND="1000", POSTERN_LIMITS_PRO_PER_SECOND="1000").url)

    def signup(name):
        agent = Agent(suite.url)
        return agent.session(agent.solve(), username=name).status_code

    assert [signup("agent-1"), signup("agent-2")] == [201, 429]
    suite.advance(3600)
    assert [signup("agent-2"), signup("agent-3")] == [201, 429]
    suite.reset()
    assert signup("agent-1") == 201

    def log_in(box, password):
        return suite.call("POST", "/api/token", body={
            "address": box["address"], "password": password}).status_code

    def tries(box):
        """Wrong passwords until one has to wait. The wait grows up to a minute."""
        return next(count for count in itertools.count() if log_in(box, "wrong") == 429)

    box, = suite.make("accounts", {})
    assert tries(box) >= 5 and log_in(box, "wrong") == 429
    suite.advance(DAY)
    assert tries(box) >= 5
    suite.reset()
    suite.make("accounts", {"address": box["address"], "password": box["password"]})
    assert tries(box) >= 5
    suite.advance(DAY)
    assert log_in(box, box["password"]) == 200


def test_the_clock_does_not_end_connections_or_waits(suite, server):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
    connection.request("GET", "/healthz")
    connection.getresponse().read()
    socket = connection.sock
    suite.advance(10 * 365 * DAY)
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200 and connection.sock is socket
    connection.close()
    # The floor of failed logins is measured from the arrival.
    failed = suite.call("POST", "/login", body={"email": "a@example.com", "password": "test123"})
    assert failed.status_code == 422
    assert suite.call("GET", "/readyz").status_code == 200


def test_bodies_are_limited_as_everywhere(suite):
    for endpoint in ENDPOINTS:
        method, path = endpoint.split()
        size = (16 << 20) + 1 if endpoint == LARGE else 70_000
        answer = suite.http.request(method, suite.url + path, data=b"[" + b" " * size, timeout=30)
        assert answer.status_code == 413 and answer.json()["error"] == "payload_too_large"
    answer = suite.call("DELETE", "/test/reset")
    assert answer.status_code == 405 and answer.json()["error"] == "method_not_allowed"
    assert suite.call("GET", "/test/nothing").json()["error"] == "not_found"


def test_it_works_on_a_database_that_survives(start, tmp_path):
    data = ["--data", str(tmp_path / "data")]
    server = start(*data)
    suite = Suite(server.url)
    box, = suite.make("accounts", {})
    suite.reset()
    kept, = suite.make("accounts", {})
    server.stop()
    suite = Suite(start(*data).url)
    for made, status in [(kept, 200), (box, 401)]:
        login = {"address": made["address"], "password": made["password"]}
        assert suite.call("POST", "/api/token", body=login).status_code == status


def test_an_address_elsewhere_gets_nothing_and_the_test_sees_it(suite, server):
    with smtplib.SMTP(*server.smtp) as connection:
        connection.sendmail("app@shop.test", ["out@other.test"], b"Subject: out\r\n\r\nx\r\n")
    [message] = suite.call("GET", "/test/messages?to=out@other.test").json()["messages"]
    assert (message["subject"], message["ids"]) == ("out", [None])
    source = suite.call("GET", f"/test/messages/{message['number']}/source").content
    assert source.startswith(b"Return-Path: <app@shop.test>\r\nReceived: ")
    assert source.endswith(b"Subject: out\r\n\r\nx\r\n")


def test_each_of_many_waits_ends_with_its_message(suite, server):
    box, = suite.make("accounts", {})
    # As many as a client may have.
    names = ["one", "two", "three", "four"] * 4

    def wait(name):
        return requests.get(
            f"{server.url}/test/messages?subject={name}&timeout=60", timeout=90).json()["messages"]

    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        waits = [pool.submit(wait, name) for name in names]
        with smtplib.SMTP(*server.smtp) as connection:
            for name in sorted(set(names)):
                connection.sendmail(
                    "app@shop.test", [box["address"]], f"Subject: {name}\r\n\r\n".encode())
        for name, wait in zip(names, waits):
            assert [message["subject"] for message in wait.result(90)] == [name]


def test_a_wait_in_vain_ends_whatever_the_clock_says(suite):
    suite.advance(DAY)
    begun = time.monotonic()
    answer = suite.call("GET", "/test/messages?to=nobody@mail.test&timeout=1")
    assert answer.json() == {"messages": [], "last": 0} and time.monotonic() - begun >= 1


@pytest.mark.parametrize("fault, code", [("rcpt", 550), ("data", 554), ("temp", 451)])
def test_a_fault_is_what_the_application_sees(suite, server, fault, code):
    box, = suite.make("accounts", {})

    def send():
        with smtplib.SMTP(*server.smtp) as connection:
            connection.sendmail("app@shop.test", [box["address"]], b"Subject: s\r\n\r\n")

    assert suite.call("POST", "/test/mail", body={"fail": fault}).json() == {"fail": fault}
    with pytest.raises(smtplib.SMTPException) as error:
        send()
    codes = ([answer[0] for answer in error.value.recipients.values()]
             if isinstance(error.value, smtplib.SMTPRecipientsRefused) else [error.value.smtp_code])
    assert codes == [code]
    suite.reset()
    box, = suite.make("accounts", {"address": box["address"]})
    send()
    assert len(suite.call("GET", "/test/messages").json()["messages"]) == 1


def test_a_message_of_the_largest_size_is_delivered(suite):
    box, = suite.make("accounts", {})
    content = base64.b64encode(b"x" * 7_000_000).decode()
    answer = suite.call("POST", "/test/messages", body=[{
        "to": box["address"], "attachments": [{"filename": "x", "content": content}]}])
    assert answer.status_code == 201, answer.text
    [message] = suite.call("GET", "/test/messages").json()["messages"]
    assert message["attachments"][0]["size"] == 7_000_000
