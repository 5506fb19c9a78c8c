"""Logins at an identity provider that misbehaves in every way."""

import concurrent.futures
import hashlib
import hmac
import json
import time
from datetime import datetime

import jwt
import pytest
import requests
from cryptography.hazmat.primitives import serialization

import totp
from mailboxes import Mailboxes, fresh
from postgres import TestDatabase
from program import await_true, run
from provider import CLIENT_ID, Key, Provider, SignIn, text


@pytest.fixture(scope="module")
def provider():
    made = Provider()
    yield made
    made.close()


@pytest.fixture(scope="module", params=["SQLite", "PostgreSQL"])
def server(serve, provider, tmp_path_factory, request):
    provider.ahead = 0
    directory = tmp_path_factory.mktemp("providers")
    config = directory / "postern.toml"
    github = {"github_url": provider.issuer, "github_api_url": provider.issuer}
    config.write_text(
        '[users]\nregistration = "open"\nprovider_timeout = "1s"\n'
        + provider.table(directory)
        # The same server by another name.
        + provider.table(directory, "github", **{
            **github, "issuer": "github"}).replace("127.0.0.1", "localhost"))
    database = {"POSTERN_STORAGE_URL": TestDatabase().url} if request.param == "PostgreSQL" else {}
    return serve("--config", str(config), **database)


@pytest.fixture
def person(provider):
    """Somebody new; the provider does what is right again afterwards."""
    email = fresh("people.example")
    provider.person = {"sub": str(time.monotonic_ns()), "email": email, "email_verified": True}
    yield provider.person
    provider.claims, provider.header, provider.metadata, provider.answers = {}, {}, {}, {}
    provider.sign, provider.callback = None, {}


@pytest.fixture
def present(provider):
    """The clock of a server that has just been started."""
    ahead, provider.ahead = provider.ahead, 0
    yield
    provider.ahead = ahead


@pytest.fixture
def browser(server):
    """Makes browsers."""
    client = requests.Session()
    client.trust_env = False
    yield lambda: SignIn(client, server.url)
    client.close()


def error(answer):
    return answer.status_code, answer.json()["error"]


def advance(server, provider, seconds):
    """Lets time pass for both. Returns the server's."""
    answer = requests.post(server.url + "/test/clock", json={"advance": seconds}, timeout=20)
    provider.ahead += seconds
    return datetime.fromisoformat(answer.json()["now"]).timestamp()


def me(server, token):
    answer = Mailboxes(server.url).call("GET", "/api/user/me", token)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_login_makes_a_user_and_finds_it_again(server, browser, person):
    first, second = browser(), browser()
    assert first.run().headers["Location"] == "/dashboard"
    user = me(server, first.session)
    assert user["email"] == person["email"]
    assert (user["has_password"], user["email_verified"]) == (False, True)
    person["email"] = fresh("people.example")
    assert second.run().status_code == 303
    assert me(server, second.session)["id"] == user["id"]
    login = {"email": user["email"], "password": "anything else"}
    answer = Mailboxes(server.url).call("POST", "/api/user/login", None, login)
    assert error(answer) == (401, "invalid_credentials")


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
def test_keys_of_each_algorithm_and_new_keys(server, provider, browser, person, algorithm):
    assert browser().run().status_code == 303
    # A key that is not known is looked for once a minute.
    advance(server, provider, 61)
    provider.key = Key(algorithm, id=f"{algorithm}-{time.monotonic_ns()}")
    provider.keys = [provider.key]
    asked = provider.requests.count("/keys")
    assert browser().run().status_code == 303
    provider.header = {"kid": "unknown"}
    for _ in range(3):
        assert error(browser().run()) == (401, "provider_rejected")
    assert provider.requests.count("/keys") == asked + 1


def test_github(server, browser, person):
    one = browser()
    assert one.run("github").status_code == 303
    assert me(server, one.session)["email"] == person["email"]
    person["email_verified"] = False
    person["sub"], person["email"] = str(time.monotonic_ns()), fresh("people.example")
    assert error(browser().run("github")) == (403, "email_not_verified")


def unsigned(claims, header):
    return jwt.encode(claims, None, "none", header)


def by_public_key(provider):
    """HS256 with the public key as the secret (RFC 8725 section 2.1)."""
    def sign(claims, header):
        pem = provider.key.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        parts = [{**header, "alg": "HS256", "typ": "JWT"}, claims]
        message = ".".join(text(json.dumps(part).encode()) for part in parts)
        return f"{message}.{text(hmac.digest(pem, message.encode(), hashlib.sha256))}"
    return sign


def by_another_key(claims, header):
    return jwt.encode(claims, Key().private, "ES256", header)


# In seconds; the times of the tests' server differ from these by a few minutes at most.
NOW = int(time.time())
WRONG = {
    "issuer": {"claims": {"iss": "https://evil.example"}},
    "no issuer": {"claims": {"iss": None}},
    "audience": {"claims": {"aud": "another"}},
    "several audiences": {"claims": {"aud": [CLIENT_ID, "another"]}},
    "authorized party": {"claims": {"aud": [CLIENT_ID, "another"], "azp": "another"}},
    "nonce": {"claims": {"nonce": "another"}},
    "no nonce": {"claims": {"nonce": None}},
    "expired": {"claims": {"exp": NOW - 3600}},
    "no expiry": {"claims": {"exp": None}},
    "old": {"claims": {"iat": NOW - 7200}},
    "from the future": {"claims": {"iat": NOW + 7200}},
    "no subject": {"claims": {"sub": None}},
    "unsigned": {"sign": unsigned},
    "another key": {"sign": by_another_key},
    "unknown key": {"header": {"kid": "unknown"}},
    "no token": {"answers": {"/token": (200, {"access_token": "a", "token_type": "bearer"})}},
    "no JSON": {"answers": {"/token": (200, b"<html>")}},
    "endless": {"answers": {"/token": (200, b"[" * 200_000)}},
    "another client": {"answers": {"/token": (401, {"error": "invalid_client"})}},
    "mix-up": {"callback": {"iss": "https://evil.example"}},
    "no code": {"callback": {"code": None}},
}


@pytest.mark.parametrize("name", WRONG)
def test_what_the_provider_must_not_send_logs_nobody_in(server, provider, browser, person, name):
    for attribute, value in WRONG[name].items():
        setattr(provider, attribute, value)
    one = browser()
    asked = provider.requests.count("/token")
    assert error(one.run()) == (401, "provider_rejected")
    assert one.session is None
    if name == "mix-up":
        assert provider.requests.count("/token") == asked


def test_the_public_key_is_no_shared_secret(server, provider, browser, person):
    provider.sign = by_public_key(provider)
    assert error(browser().run()) == (401, "provider_rejected")


def test_a_state_of_another_sign_in_is_refused(server, browser, person):
    one, other = browser(), browser()
    mine, others = one.ask(one.begin()), other.ask(other.begin())
    assert error(one.end(others)) == (401, "sign_in_expired")
    assert error(one.end(mine.partition("state=")[0] + "state=x")) == (401, "sign_in_expired")
    stranger = browser()
    assert error(stranger.end(mine)) == (401, "sign_in_expired")
    assert one.end(mine).status_code == 303
    assert error(one.end(mine)) == (401, "sign_in_expired")


def test_a_code_of_another_sign_in_is_refused(server, browser, person):
    """PKCE: the attacker has the victim's code, and a sign-in of their own."""
    victim, attacker = browser(), browser()
    stolen = victim.ask(victim.begin()).partition("code=")[2].partition("&")[0]
    own = attacker.ask(attacker.begin())
    code = own.partition("code=")[2].partition("&")[0]
    assert error(attacker.end(own.replace(code, stolen))) == (401, "provider_rejected")


def test_of_many_callbacks_at_once_one_ends_the_sign_in(server, browser, person):
    one = browser()
    location = one.ask(one.begin())
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = sorted(answer.status_code for answer in pool.map(one.end, [location] * 8))
    assert answers == [303] + [401] * 7


def test_of_many_first_logins_at_once_all_are_of_one_user(server, browser, person):
    browsers = [browser() for _ in range(6)]
    locations = [one.ask(one.begin()) for one in browsers]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(SignIn.end, browsers, locations))
    assert [answer.status_code for answer in answers] == [303] * 6
    assert len({me(server, one.session)["id"] for one in browsers}) == 1


def test_an_email_that_is_not_verified_makes_no_user(server, browser, person):
    for value in [False, "false", None, 1]:
        person["email_verified"] = value
        assert error(browser().run()) == (403, "email_not_verified")


def test_an_email_of_somebody_else_takes_nothing_over(server, browser, person):
    user = Mailboxes(server.url).user()
    person["email"] = user.email.upper()
    assert error(browser().run()) == (409, "link_required")
    assert error(browser().run("github")) == (409, "link_required")
    assert me(server, user.token)["has_password"]


def test_two_subjects_with_one_email_are_not_one_user(server, browser, person):
    first = browser()
    assert first.run().status_code == 303
    person["sub"] = str(time.monotonic_ns())
    assert error(browser().run()) == (409, "link_required")


def link(server, one, token, name="id"):
    answer = Mailboxes(server.url).call("POST", f"/api/user/oauth/{name}/link", token)
    assert answer.status_code == 200, answer.text
    one.keep(answer)
    return one.end(one.ask(answer.json()["url"]))


def test_a_user_links_logs_in_and_unlinks(server, browser, person):
    boxes = Mailboxes(server.url)
    user = boxes.user()
    assert link(server, browser(), user.token).headers["Location"] == "/dashboard#linked=id"
    one = browser()
    assert one.run().status_code == 303
    assert me(server, one.session)["email"] == user.email
    other = boxes.user()
    assert error(link(server, browser(), other.token)) == (409, "identity_taken")
    [identity] = boxes.call("GET", "/api/user/identities", user.token).json()["identities"]
    assert identity["email"] == person["email"]
    path = f"/api/user/identities/{identity['id']}"
    assert boxes.call("DELETE", path, other.token).status_code == 404
    assert boxes.call("DELETE", path, user.token).status_code == 204
    assert one.run().status_code == 303
    assert me(server, one.session)["email"] == person["email"]


def test_of_two_users_that_link_one_identity_at_once_one_wins(server, browser, person):
    boxes = Mailboxes(server.url)
    found = []
    for _ in range(4):
        one, user = browser(), boxes.user()
        answer = boxes.call("POST", "/api/user/oauth/id/link", user.token)
        one.keep(answer)
        found.append((one, one.ask(answer.json()["url"])))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = sorted(answer.status_code for answer in pool.map(lambda pair: pair[0].end(pair[1]), found))
    assert answers == [303, 409, 409, 409]


def test_the_second_factor_is_asked_for(server, provider, browser, person):
    boxes, one = Mailboxes(server.url), browser()
    one.run()
    uri, _ = totp.enable(boxes, one.session, advance(server, provider, 0))
    other = browser()
    location = other.run().headers["Location"]
    assert other.session is None
    challenge = location.partition("#second_factor=")[2].partition("&")[0]
    code = totp.code(uri, advance(server, provider, 30))
    answer = boxes.call(
        "POST", "/api/user/login/second", None, {"challenge": challenge, "code": code})
    assert answer.status_code == 200
    boxes.call("DELETE", "/api/user/totp", answer.json()["token"])


def slow(handler):
    """One byte of the answer, and nothing more until the test has ended."""
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"{")
    handler.wfile.flush()
    handler.server.waiting.wait(60)


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" " * 65_536)
    except OSError:
        pass


@pytest.mark.parametrize("kind, status", [(slow, 503), (endless, 401)])
def test_a_slow_or_endless_key_set_holds_up_nothing(
        start, provider, person, present, tmp_path, kind, status):
    """A server of its own, which has no keys yet."""
    config = tmp_path / "postern.toml"
    config.write_text('[users]\nregistration = "open"\nprovider_timeout = "1s"\n'
                      + provider.table(tmp_path))
    server = start("--config", str(config))
    client = requests.Session()
    one = SignIn(client, server.url)
    location = one.ask(one.begin())
    waiting = provider.server.waiting = provider.released
    provider.answers = {"/keys": kind}
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        ended = pool.submit(one.end, location)
        await_true(lambda: "/keys" in provider.requests, "the keys were not asked for")
        assert Mailboxes(server.url).call("GET", "/api/challenge").status_code == 200
        assert ended.result().status_code == status
    provider.answers = {}
    assert one.run().status_code == 303
    assert not waiting.is_set()
    client.close()


def test_a_provider_that_is_gone(start, tmp_path):
    gone = Provider()
    gone.close()
    config = tmp_path / "postern.toml"
    config.write_text(gone.table(tmp_path))
    server = start("--config", str(config))
    answer = requests.get(server.url + "/api/user/oauth/id", timeout=20,
                          headers={"Accept": "application/json"})
    assert error(answer) == (503, "provider_unavailable")
    assert answer.headers["Retry-After"] == "10"
    page = requests.get(server.url + "/api/user/oauth/id", timeout=20)
    assert page.status_code == 503 and "The provider does not answer" in page.text


def test_the_operators_commands(provider, person, present, tmp_path, start):
    config = tmp_path / "postern.toml"
    config.write_text('[users]\nregistration = "open"\n' + provider.table(tmp_path, label="Our ID"))
    data = ["--config", str(config), "--data", str(tmp_path / "data")]
    server = start(*data, profile="development", POSTERN_MAIL_LOCAL_SMTP="127.0.0.1:0")
    client = requests.Session()
    one = SignIn(client, server.url)
    assert one.run().status_code == 303
    email = person["email"]
    shown = run("check-config", "--config", str(config), directory=tmp_path)
    assert shown.returncode == 0 and 'label = "Our ID"' in shown.stdout
    assert "secret" in shown.stdout and "a:secret" not in shown.stdout + server.read_log()
    doctor = run("doctor", *data, directory=tmp_path)
    assert "identity provider: id can be used" in doctor.stdout.replace("  ", " "), doctor.stdout
    [line] = [line for line in run("user", "list", *data, directory=tmp_path).stdout.splitlines() if email in line]
    assert line.endswith("no-password  id")
    assert run("user", "unlink", email, "other", *data, directory=tmp_path).returncode == 1
    assert run("user", "unlink", email, "id", *data, directory=tmp_path).stdout == f"unlinked id from {email}\n"
    answer = Mailboxes(server.url).call("GET", "/api/user/me", one.session)
    assert error(answer) == (401, "invalid_or_expired_token")
    # The user is there, so that nobody gets it by the email.
    assert error(one.run()) == (409, "link_required")
    client.close()


def test_production_takes_no_http(provider, tmp_path):
    config = tmp_path / "postern.toml"
    config.write_text('profile = "production"\n[server]\npublic_url = "https://a.example"\n'
                      '[hash_login]\nissuer = "a"\n' + provider.table(tmp_path))
    checked = run("check-config", "--config", str(config), directory=tmp_path)
    assert checked.returncode == 78 and "cannot be used" in checked.stderr
