"""The services listener, as mail stores and proxies use it."""

import base64
import contextlib
import http.client
import json
import os
import signal
import stat
import time

import jwt
import pytest
import requests

from agent import Agent, bearer, claims
from mailboxes import PASSWORD, Mailboxes
from postgres import TestDatabase
from program import await_true, run
from services import Services, basic, free_port
from test_openapi import named_response, resolve, validator

SECRET = "a-secret-of-24-characters"


@pytest.fixture(params=["tcp", "unix"])
def listen(request, tmp_path):
    if request.param == "unix":
        return f"unix:{tmp_path}/services.sock"
    return f"127.0.0.1:{free_port()}"


@pytest.fixture
def both(start, listen):
    """A server with a database in memory, and its services listener."""
    server = start(
        POSTERN_SERVICES_LISTEN=listen, POSTERN_SERVICES_STORE_TOKEN="minimal",
        # Local mail knows its own usage.
        POSTERN_MAIL_STORE="none")
    return server, Services(listen)


@pytest.fixture(scope="module")
def shared(serve, tmp_path_factory):
    """One for the tests that change nothing for others."""
    address = f"unix:{tmp_path_factory.mktemp('services')}/s"
    server = serve(
        POSTERN_SERVICES_LISTEN=address, POSTERN_USERS_REGISTRATION="open",
        POSTERN_SERVICES_MAIL_BACKENDS="imap=127.0.0.1:143,smtp=[::1]:587")
    return server, Services(address)


def capability(server, token):
    answer = Agent(server.url).post("/api/v1/capability", token)
    assert answer.status_code == 200, answer.text
    return bearer(answer)


def header_and_claims(token):
    part = token.split(".")[0]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))), claims(token)


def test_everything_works_over_both_kinds_of_listener(both, name):
    server, services = both
    boxes = Mailboxes(server.url)
    box = boxes.mailbox()
    token = capability(server, box.token)
    for each in (token, box.token):
        found = services.introspect(each)
        assert found["active"] is True and found["username"] == box.address
    checked = services.check(box.address, PASSWORD)
    assert (checked.status, checked.json()["account_id"]) == (200, box.id)
    signup = Agent(server.url).session(username=name())
    agent = signup.json()
    assert services.check(agent["inbox"], agent["apiKey"]).status == 200
    passed = services.forward(f"Bearer {token}")
    assert passed.status == 200 and passed.body == b""
    assert passed.headers["X-Auth-User"] == box.address
    assert passed.headers["X-Account-Id"] == box.id
    noted = services.call("POST", "/usage", body=[
        {"address": box.address, "used": 77}, {"address": "x@mail.test", "used": 1}])
    assert (noted.status, noted.json()) == (200, {"unknown": ["x@mail.test"]})
    assert boxes.get(box.id, box.token).json()["used"] == 77
    info = services.call("GET", "/userinfo", {"Authorization": f"Bearer {token}"})
    public = requests.get(
        server.url + "/userinfo", headers={"Authorization": f"Bearer {token}"}, timeout=30)
    assert info.json() == public.json() == {
        "sub": box.address, "email": box.address, "email_verified": True,
        "preferred_username": box.address}


def test_the_store_token_is_minimal_and_verifies_with_the_published_key(both):
    server, services = both
    box = Mailboxes(server.url).mailbox()
    for credential in (f"Bearer {box.token}", basic(box.address, PASSWORD)):
        passed = services.forward(credential)
        scheme, _, token = passed.headers["X-Store-Authorization"].partition(" ")
        assert scheme == "Bearer"
        header, said = header_and_claims(token)
        assert header == {"alg": "RS256", "typ": "JWT"}
        assert set(said) == {"sub", "iat"} and said["sub"] == box.address
        assert verifies(server, token)
        assert services.introspect(token)["active"] is True


def verifies(server, token):
    """Whether one of the published keys has signed the token: what a mail store does."""
    answer = requests.get(server.url + "/.well-known/jwks.json", timeout=30).json()
    for key in jwt.PyJWKSet.from_dict(answer).keys:
        try:
            jwt.decode(token, key.key, algorithms=["RS256"], options={"verify_aud": False})
            return True
        except jwt.InvalidSignatureError:
            continue
    return False


def test_minimal_capabilities_are_what_cyrus_accepts(start, tmp_path, name):
    address = f"unix:{tmp_path}/s"
    server = start(
        POSTERN_SERVICES_LISTEN=address, POSTERN_TOKENS_CAPABILITY_CLAIMS="minimal",
        POSTERN_TOKENS_CAPABILITY_LIFETIME="10s")
    agent = Agent(server.url)
    opened = agent.session(username=name())
    token = bearer(agent.capability(bearer(opened)))
    header, said = header_and_claims(token)
    assert header == {"alg": "RS256", "typ": "JWT"} and set(said) == {"sub", "iat"}
    assert verifies(server, token)
    assert agent.mailbox(token).json()["username"] == opened.json()["inbox"]
    found = Services(address).introspect(token)
    assert found["active"] and found["exp"] == said["iat"] + 10 and found["aud"] == "api-service"


@pytest.mark.parametrize("end", ["disable", "delete", "reset", "logout", "leak"])
def test_what_has_ended_is_not_active_at_once(start, tmp_path, end):
    data = ["--data", str(tmp_path / "data")]
    address = f"unix:{tmp_path}/s"
    server = start(*data, POSTERN_SERVICES_LISTEN=address)
    services, boxes = Services(address), Mailboxes(server.url)
    box = boxes.mailbox()
    token = capability(server, box.token)
    assert services.introspect(token)["active"] and services.introspect(box.token)["active"]
    # A capability names no version: it ends with its account and its key.
    ended = [box.token]
    if end in ("disable", "delete"):
        ended.append(token)
        done = run("account", end, box.address, *data, directory=tmp_path)
        assert done.returncode == 0, done.stderr
    elif end == "reset":
        assert boxes.reset(box.id, box.token, "another one").status_code == 200
    elif end == "logout":
        assert boxes.call("DELETE", "/api/token", box.token).status_code == 204
    else:
        ended = [token]
        done = run(
            "key", "rotate", "--use", "capability", "--leaked", *data, directory=tmp_path)
        assert done.returncode == 0, done.stderr
        wait_until(lambda: not services.introspect(token)["active"])
    for each in ended:
        assert services.introspect(each) == {"active": False}
        assert services.forward(f"Bearer {each}").status == 401
    status = services.check(box.address, PASSWORD).status
    assert status == {"disable": 403, "delete": 401, "reset": 401}.get(end, 200)


def wait_until(holds, seconds=10):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_nothing_is_issued_and_a_success_is_recorded_once(start, tmp_path):
    data = ["--data", str(tmp_path / "data")]
    address = f"unix:{tmp_path}/s"
    server = start(*data, POSTERN_SERVICES_LISTEN=address)
    box = Mailboxes(server.url).mailbox()

    def events():
        shown = run("audit", "export", *data, directory=tmp_path)
        assert shown.returncode == 0, shown.stderr
        return [json.loads(line) for line in shown.stdout.splitlines()]

    before = len(events())
    for _ in range(5):
        answer = Services(address).check(box.address, PASSWORD, client="192.0.2.9")
        assert set(answer.json()) == {"user", "account_id", "quota"}
        assert "Authorization" not in answer.headers and "Set-Cookie" not in answer.headers
    new = events()[before:]
    assert [(event["kind"], event["client"]) for event in new] == [
        ("login_succeeded", "192.0.2.9")]


def test_guessing_is_slowed_by_the_reported_client(start, tmp_path):
    address = f"unix:{tmp_path}/s"
    server = start(profile="development", POSTERN_SERVICES_LISTEN=address,
                   POSTERN_POW_ACCOUNTS_DIFFICULTY="4")
    services = Services(address)
    box = Mailboxes(server.url).mailbox()

    def first(status, attempt):
        """The first of some attempts that is not 401. The waits grow, so a slow machine has one."""
        answers = (attempt() for _ in range(30))
        found = next(answer for answer in answers if answer.status != 401)
        assert found.status == status and int(found.headers["Retry-After"]) >= 1
        assert found.json()["error"] == "rate_limit_exceeded"

    first(429, lambda: services.check(box.address, "wrong", client="198.51.100.1"))
    assert services.check(box.address, PASSWORD, client="203.0.113.1").status == 200
    # A proxy names the client in the header that is read from its end.
    first(503, lambda: services.forward(
        basic(box.address, "wrong"), **{"X-Forwarded-For": "203.0.113.9, 198.51.100.1"}))
    assert services.forward(
        basic(box.address, PASSWORD), **{"X-Forwarded-For": "203.0.113.9"}).status == 200
    # Requests themselves are not limited.
    for _ in range(60):
        assert services.introspect(box.token)["active"]


def test_the_secret_is_required_where_there_is_one(start, tmp_path):
    file = tmp_path / "services.secret"
    file.write_text(SECRET + "\n")
    file.chmod(0o600)
    address = f"127.0.0.1:{free_port()}"
    server = start(POSTERN_SERVICES_LISTEN=address, POSTERN_SERVICES_SECRET_FILE=str(file))
    box = Mailboxes(server.url).mailbox()
    form = {"token": box.token}
    without = Services(address)
    for headers in [{}, {"X-Services-Secret": "x"}, {"Authorization": basic("x", "x")}]:
        answer = without.call("POST", "/introspect", headers, form=form)
        assert answer.status == 401 and answer.json()["error"] == "unauthorized"
        assert answer.headers["WWW-Authenticate"].startswith("Basic")
    for headers in [{"X-Services-Secret": SECRET}, {"Authorization": basic("x", SECRET)},
                    {"Authorization": f"Bearer {SECRET}"}]:
        assert without.call("POST", "/introspect", headers, form=form).json()["active"]
    assert without.call(
        "POST", "/introspect", form={**form, "client_secret": SECRET}).json()["active"]
    assert without.forward(f"Bearer {box.token}").status == 401
    assert Services(address, SECRET).forward(f"Bearer {box.token}").status == 200
    assert SECRET not in server.read_log()


def test_the_public_listener_has_none_of_it(both):
    server, services = both
    for path in ["/introspect", "/check-password", "/forward-auth", "/nginx-mail-auth", "/usage",
                 "/metrics"]:
        for method in ["GET", "POST"]:
            assert requests.request(method, server.url + path, timeout=30).status_code == 404
    for path in ["/healthz", "/api/challenge", "/login", "/.well-known/jwks.json", "/"]:
        assert services.call("GET", path).status == 404


def test_nginx_mail_auth_is_always_200(shared):
    server, services = shared
    box = Mailboxes(server.url).mailbox(password="pass %é")

    def ask(**headers):
        answer = services.call("GET", "/nginx-mail-auth", {
            name.replace("_", "-"): value for name, value in headers.items()})
        assert answer.status == 200 and answer.body == b""
        return answer.headers

    good = {"Auth_Method": "plain", "Auth_User": box.address, "Auth_Pass": "pass%20%25%C3%A9",
            "Auth_Protocol": "imap", "Auth_Login_Attempt": "1", "Client_IP": "192.0.2.42"}
    found = ask(**good)
    assert (found["Auth-Status"], found["Auth-Server"], found["Auth-Port"]) == (
        "OK", "127.0.0.1", "143")
    found = ask(**{**good, "Auth_Protocol": "smtp"})
    assert (found["Auth-Server"], found["Auth-Port"]) == ("::1", "587")
    for change in [{"Auth_Pass": "wrong"}, {"Auth_User": ""}, {"Auth_Method": "apop"},
                   {"Auth_User": "x@mail.test"}]:
        found = ask(**{**good, **change})
        assert found["Auth-Status"] == "Invalid login or password" and found["Auth-Wait"]
    assert ask(**{**good, "Auth_Protocol": "pop3"})["Auth-Status"] != "OK"


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "PROPFIND"])
def test_forward_auth_takes_every_method(shared, method):
    server, services = shared
    box = Mailboxes(server.url).mailbox()
    assert services.forward(f"Bearer {box.token}", method).status == 200
    refused = services.forward(method=method)
    assert refused.status == 401 and "Basic" in refused.headers["WWW-Authenticate"]


def test_without_its_database_everything_is_503(start, tmp_path):
    """So that a store says "try again later" and not "wrong password"."""
    database = TestDatabase()
    address = f"unix:{tmp_path}/s"
    server = start(
        POSTERN_SERVICES_LISTEN=address, POSTERN_STORAGE_URL=database.url,
        POSTERN_SERVICES_MAIL_BACKENDS="imap=127.0.0.1:143")
    services = Services(address)
    box = Mailboxes(server.url).mailbox()
    token = capability(server, box.token)
    database.stop()
    for answer in [
            services.call("POST", "/introspect", form={"token": token}),
            services.call("POST", "/introspect", form={"token": box.token}),
            services.check(box.address, PASSWORD), services.forward(f"Bearer {token}"),
            services.forward(basic(box.address, PASSWORD)),
            services.call("POST", "/usage", body=[{"address": box.address, "used": 1}]),
            services.call("GET", "/userinfo", {"Authorization": f"Bearer {token}"})]:
        assert answer.status == 503 and answer.headers["Retry-After"]
        assert answer.json()["error"] == "server_busy"
    mail = services.call("GET", "/nginx-mail-auth", {
        "Auth-Protocol": "imap", "Auth-User": box.address, "Auth-Pass": PASSWORD})
    assert mail.status == 200 and mail.headers["Auth-Status"].startswith("Temporary")
    database.start()
    wait_until(lambda: services.check(box.address, PASSWORD).status == 200)
    assert services.introspect(token)["active"]


# What stands in the OpenAPI document.

def test_clients_of_services_cannot_use_up_all_descriptors(start, listen):
    limit = 40
    server = start(POSTERN_SERVICES_LISTEN=listen, POSTERN_SERVER_MAX_CONNECTIONS=str(limit))
    services = Services(listen)

    def ask(connection):
        connection.request("GET", "/userinfo")
        answer = connection.getresponse()
        answer.read()
        return answer.status

    kept = [services.connection() for _ in range(limit)]
    assert {ask(connection) for connection in kept} == {401}
    for _ in range(3):
        with contextlib.closing(services.connection()) as another:
            assert ask(another) == 503
    # Those of the public listener are counted apart.
    assert requests.get(f"{server.url}/healthz", timeout=30).status_code == 200
    kept.pop().close()
    await_true(lambda: services.call("GET", "/userinfo").status == 401, "no place became free")
    for connection in kept:
        connection.close()


def test_every_answer_is_documented(shared):
    server, services = shared
    document = requests.get(server.url + "/openapi.json", timeout=30).json()
    box = Mailboxes(server.url).mailbox()
    met = set()

    def hold(method, path, **request):
        answer = services.call(method, path, **request)
        template = path.partition("?")[0]
        operation = document["paths"][template][method.lower()]
        named = named_response(operation, answer.status)
        assert named, f"{method} {path}: {answer.status} is not documented"
        named = resolve(document, named)
        for name, header in named.get("headers", {}).items():
            assert name in answer.headers or not resolve(document, header).get("required")
        if "text/plain" in named.get("content", {}):
            assert answer.headers["Content-Type"].startswith("text/plain") and answer.body
        elif named.get("content"):
            validator(document, named["content"]["application/json"]["schema"]).validate(
                answer.json())
        else:
            assert answer.body == b""
        met.add(f"{method} {template}")
        return answer.status

    for token in [box.token, "x"]:
        assert hold("POST", "/introspect", form={"token": token}) == 200
        assert hold("GET", f"/introspect?token={token}") == 200
    assert hold("POST", "/introspect", form={}) == 400
    assert hold("GET", "/introspect") == 400
    good = {"user": box.address, "password": PASSWORD}
    for fields, status in [(good, 200), ({**good, "password": "x"}, 401),
                           ({**good, "client": "x"}, 400), ({}, 400)]:
        assert hold("POST", "/check-password", form=fields) == status
        assert hold("POST", "/check-password", body=fields) == status
    for token, status in [(box.token, 200), ("x", 401)]:
        headers = {"Authorization": f"Bearer {token}"}
        assert hold("GET", "/forward-auth", headers=headers) == status
        assert hold("GET", "/userinfo", headers=headers) == status
    assert hold("GET", "/nginx-mail-auth") == 200
    assert hold("POST", "/usage", body=[{"address": box.address, "used": 1}]) == 200
    assert hold("POST", "/usage", body={}) == 400
    assert hold("POST", "/delivered", body=[{"address": box.address, "subject": "News"}]) == 200
    assert hold("POST", "/delivered", body={}) == 400
    message = {"user": box.address, "event": "messageNew", "from": "a@b.test", "subject": "News"}
    assert hold("PUT", "/delivered/dovecot", body=message) == 200
    assert hold("PUT", "/delivered/dovecot", body={}) == 400
    assert hold("GET", "/metrics") == 200
    page = {"Origin": "https://elsewhere.example"}
    for method, path in [
            ("POST", "/introspect"), ("GET", "/introspect"), ("POST", "/check-password"),
            ("POST", "/usage"), ("POST", "/delivered"), ("PUT", "/delivered/dovecot"),
            ("GET", "/metrics")]:
        assert hold(method, path, headers=page) == 403
    for path in ["/introspect", "/check-password", "/usage", "/delivered"]:
        assert hold("POST", path, headers={"Content-Type": "image/png"}) == 415
        assert hold("POST", path, body="x" * 70_000) == 413
    assert met == {
        f"{method.upper()} {path}" for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if {"services", "userinfo"} & set(operation["tags"])}


# The listener

def test_the_socket_has_its_mode_and_goes_with_the_server(start, tmp_path):
    path = tmp_path / "s"
    server = start(
        POSTERN_SERVICES_LISTEN=f"unix:{path}", POSTERN_SERVICES_SOCKET_MODE="0640",
        POSTERN_SERVICES_SOCKET_OWNER=f"{os.getuid()}:{os.getgid()}")
    status = path.stat()
    assert stat.S_ISSOCK(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o640
    wait_until(lambda: f"unix:{path}" in server.read_log())
    server.stop()
    assert not path.exists()


def test_a_killed_server_leaves_a_socket_that_the_next_one_replaces(start, tmp_path):
    path = tmp_path / "s"
    start(POSTERN_SERVICES_LISTEN=f"unix:{path}").kill()
    assert path.exists()
    start(POSTERN_SERVICES_LISTEN=f"unix:{path}")
    assert Services(f"unix:{path}").introspect("x") == {"active": False}


def test_a_socket_in_use_stops_the_start(start, tmp_path):
    path = tmp_path / "s"
    start(POSTERN_SERVICES_LISTEN=f"unix:{path}")
    second = run("serve", "--profile", "test", "--port", "0", directory=tmp_path,
                 POSTERN_SERVICES_LISTEN=f"unix:{path}")
    assert second.returncode == 69 and "Address already in use" in second.stderr
    assert Services(f"unix:{path}").introspect("x") == {"active": False}


@pytest.mark.parametrize("settings, named", [
    ({"POSTERN_SERVICES_LISTEN": "0.0.0.0:8081"}, "services.secret_file"),
    ({"POSTERN_SERVICES_LISTEN": "8081"}, "services.listen"),
    ({"POSTERN_SERVICES_LISTEN": "unix:s", "POSTERN_SERVICES_SECRET_FILE": "nowhere"},
     "services.secret_file"),
    ({"POSTERN_SERVICES_LISTEN": "unix:s", "POSTERN_SERVICES_SOCKET_OWNER": "no-such-user"},
     "services.socket_owner"),
])
def test_a_listener_that_cannot_be_stops_the_start(tmp_path, settings, named):
    stopped = run(
        "serve", "--profile", "test", "--port", "0", directory=tmp_path, **settings)
    assert stopped.returncode == 78 and named in stopped.stderr


def test_requests_in_flight_are_answered_while_the_server_stops(both):
    server, services = both
    box = Mailboxes(server.url).mailbox()
    connection = services.connection()
    connection.request("GET", f"/introspect?token={box.token}")
    assert json.loads(connection.getresponse().read())["active"]
    server.process.send_signal(signal.SIGTERM)
    server.await_end()
    connection.close()
    with pytest.raises((ConnectionError, FileNotFoundError, http.client.HTTPException)):
        services.introspect(box.token)
