"""Capabilities that are signed by ES256 or EdDSA (`tokens.capability_algorithm`)."""

import base64
import sqlite3
import time

import jwt
import pytest
import requests

from agent import Agent, bearer, claims
from postgres import TestDatabase
from program import run
from services import Services
from test_capability_token import signed

WAIT_SECONDS = 60
PARAMETERS = {
    "RS256": {"kty": "RSA"}, "ES256": {"kty": "EC", "crv": "P-256"},
    "EdDSA": {"kty": "OKP", "crv": "Ed25519"}}
SIGNATURE_BYTES = {"RS256": 256, "ES256": 64, "EdDSA": 64}


def wait_until(holds):
    end = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def key_set(url, name="jwks"):
    return requests.get(f"{url}/.well-known/{name}.json", timeout=60).json()["keys"]


def verified(url, token, algorithm):
    """The claims, as a mail store reads them that fetches the key set."""
    key = jwt.PyJWKClient(f"{url}/.well-known/jwks.json").get_signing_key_from_jwt(token).key
    return jwt.decode(token, key, algorithms=[algorithm], audience="api-service", issuer=url)


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA"])
def test_published_clients_verify_it_and_every_endpoint_takes_it(start, tmp_path, algorithm):
    address = f"unix:{tmp_path}/s"
    server = start(POSTERN_TOKENS_CAPABILITY_ALGORITHM=algorithm, POSTERN_SERVICES_LISTEN=address,
                   POSTERN_SERVICES_STORE_TOKEN="minimal")
    agent = Agent(server.url)
    session = bearer(agent.session(username="elliptic"))
    # Ones whose numbers begin with a zero byte would show themselves in 64 of them.
    for _ in range(64):
        token = bearer(agent.capability(session))
        assert verified(server.url, token, algorithm)["sub"] == "elliptic@mail.test"
    (key,) = key_set(server.url)
    assert PARAMETERS[algorithm].items() <= key.items()
    assert key["alg"] == algorithm and key["use"] == "sig" and "d" not in key
    assert jwt.get_unverified_header(token) == {
        "alg": algorithm, "typ": "JWT", "kid": key["kid"]}
    assert len(base64.urlsafe_b64decode(token.split(".")[2] + "==")) == 64
    assert [key["alg"] for key in key_set(server.url, "login-jwks")] == ["RS256"]

    assert agent.mailbox(token).status_code == 200
    services = Services(address)
    assert services.introspect(token)["username"] == "elliptic@mail.test"
    passed = services.forward(f"Bearer {token}")
    assert passed.headers["X-Auth-User"] == "elliptic@mail.test"
    minimal = passed.headers["X-Store-Authorization"].removeprefix("Bearer ")
    assert jwt.get_unverified_header(minimal) == {"alg": algorithm, "typ": "JWT"}
    assert services.introspect(minimal)["active"] is True
    info = requests.get(f"{server.url}/userinfo", timeout=60,
                        headers={"Authorization": f"Bearer {token}"})
    assert info.json()["email"] == "elliptic@mail.test"


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA"])
def test_forgeries_are_refused(start, algorithm):
    server = start(POSTERN_TOKENS_CAPABILITY_ALGORITHM=algorithm)
    agent = Agent(server.url)
    genuine = bearer(agent.capability(bearer(agent.session(username="forged"))))
    header, said = jwt.get_unverified_header(genuine), claims(genuine)
    raw = base64.urlsafe_b64decode(genuine.split(".")[2] + "==")
    der = b"\x30\x44\x02\x20" + raw[:32] + b"\x02\x20" + raw[32:]
    assert agent.mailbox(genuine).status_code == 200
    for other, signature in [
            ("none", b""), ("RS256", bytes(256)), ("HS256", bytes(32)), (algorithm, bytes(64)),
            (algorithm, b""), (algorithm, bytes(63)), (algorithm, b"\xff" * 64), (algorithm, der),
            (algorithm, raw[32:] + raw[:32]), (algorithm, raw + b"\0"),
            *[(each, raw) for each in PARAMETERS if each != algorithm]]:
        forged = signed({**header, "alg": other}, said, lambda text: signature)
        assert agent.mailbox(forged).status_code == 401


class SQLite:
    def __init__(self, place):
        self.place, self.settings = place, {}

    def age_keys(self):
        database = sqlite3.connect(self.place / "data" / "postern.db", timeout=60)
        with database:
            database.execute("UPDATE signing_key SET created = created - 360000")
        database.close()


class PostgreSQL:
    def __init__(self, place):
        self.database = TestDatabase()
        self.settings = {"POSTERN_STORAGE_URL": self.database.url}

    def age_keys(self):
        self.database.query("UPDATE signing_key SET created = created - interval '6 minutes'")


@pytest.mark.parametrize("engine", [SQLite, PostgreSQL])
def test_a_changed_setting_is_a_rotation(start, tmp_path, engine):
    engine = engine(tmp_path)
    data = ["--data", str(tmp_path / "data")]

    def command(*words):
        done = run(*words, "--profile", "test", *data, directory=tmp_path, **engine.settings,
                   **changed)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    server = start(*data, **engine.settings, POSTERN_TOKENS_CAPABILITY_LIFETIME="1h")
    url, port = server.url, server.port
    agent = Agent(url)
    session = bearer(agent.session(username="changing"))
    tokens = {"RS256": bearer(agent.capability(session))}
    server.stop()
    for before, after in [("RS256", "ES256"), ("ES256", "EdDSA")]:
        changed = {"POSTERN_TOKENS_CAPABILITY_ALGORITHM": after}
        found = command("doctor")
        assert f"is for {before}, and tokens.capability_algorithm is {after}" in found
        server = start(*data, port=port, **engine.settings, **changed,
                       POSTERN_TOKENS_CAPABILITY_LIFETIME="1h")
        wait_until(lambda: key_set(url)[0]["alg"] == after)
        # Published, but it does not sign yet.
        tokens[before] = bearer(agent.capability(session))
        verified(url, tokens[before], before)
        listed = [line.split("  ") for line in command("key", "list").splitlines()
                  if line.startswith("capability")]
        assert [line[2] for line in listed[:2]] == [after, before]
        assert listed[0][4].startswith("published, signs from")
        assert listed[1][4].startswith("signs until")
        assert "is for" not in command("doctor")
        # As if the six minutes of the publication had passed.
        engine.age_keys()

        def is_signed_by_the_new_key():
            tokens[after] = bearer(agent.capability(session))
            return jwt.get_unverified_header(tokens[after])["alg"] == after

        wait_until(is_signed_by_the_new_key)
        for algorithm, token in tokens.items():
            verified(url, token, algorithm)
            assert agent.mailbox(token).status_code == 200
        server.stop()
    (tmp_path / "new.secret").write_bytes(bytes(range(32)))
    (tmp_path / "new.secret").chmod(0o600)
    command("key", "reseal", "--new-secret-file", str(tmp_path / "new.secret"))
    (tmp_path / "new.secret").rename(tmp_path / "data" / "master.secret")
    start(*data, port=port, **engine.settings, **changed)
    for algorithm, token in tokens.items():
        verified(url, token, algorithm)
        assert agent.mailbox(token).status_code == 200


@pytest.mark.parametrize("layout, algorithm", [
    ("cyrus", "ES256"), ("cyrus", "EdDSA"), ("dovecot", "EdDSA")])
def test_keys_are_not_exported_for_a_mail_store_that_cannot_use_them(
        start, tmp_path, layout, algorithm):
    data = ["--data", str(tmp_path / "data")]
    setting = {"POSTERN_TOKENS_CAPABILITY_ALGORITHM": algorithm}
    server = start(*data, **setting)
    (key,) = key_set(server.url)
    words = ["key", "export", "--use", "capability", "--profile", "test", *data]
    refused = run(*words, "--layout", layout, "--directory", str(tmp_path / "keys"),
                  directory=tmp_path, **setting)
    assert refused.returncode == 1 and f"does not verify {algorithm}" in refused.stderr
    assert not (tmp_path / "keys").exists()
    exported = run(*words, "--directory", str(tmp_path / "keys"), directory=tmp_path, **setting)
    assert exported.returncode == 0, exported.stderr
    agent = Agent(server.url)
    token = bearer(agent.capability(bearer(agent.session(username="exported"))))
    pem = (tmp_path / "keys" / f"{key['kid']}.pem").read_text()
    assert jwt.decode(token, pem, algorithms=[algorithm], audience="api-service")
    faulty = run("check-config", *data, directory=tmp_path, **setting,
                 POSTERN_KEYS_EXPORT_DIRECTORY="/k", POSTERN_KEYS_EXPORT_LAYOUT=layout)
    assert faulty.returncode == 78 and "tokens.capability_algorithm" in faulty.stderr
