"""Each way to compute Argon2, beside argon2-cffi: the own hashes, and those that others made."""

import hashlib
import json
import re

import pytest
from argon2.low_level import Type, hash_secret_raw

from hashhost import argon2
from hashlogin import HashLogin
from mailboxes import PASSWORD, Mailboxes, fresh
from program import run

WAYS = ["avx512", "avx2", "sse2", "libargon2"]
# Costs that a host may serve: both types, several passes and lanes, segments of several lengths.
SERVED = [
    {"type": Type.ID}, {"type": Type.I}, {"type": Type.ID, "time_cost": 3, "parallelism": 4},
    {"type": Type.I, "time_cost": 2, "parallelism": 3, "memory_cost": 3001},
    {"type": Type.ID, "memory_cost": 19_456, "time_cost": 2, "hash_len": 64},
]


def auth_key(address, password):
    """docs/api.md, "Passwords and auth_key"."""
    return hash_secret_raw(
        password.encode(), hashlib.sha256(address.encode()).digest(), time_cost=3,
        memory_cost=16_384, parallelism=1, hash_len=32, type=Type.ID).hex()


def used(server):
    """What computes Argon2, by the log of the server, and the warnings in it. Stops the server."""
    server.stop()
    lines = [json.loads(line) for line in server.read_log().splitlines()]
    (started,) = [line for line in lines if line["message"] == "started"]
    return started["argon2"], [
        line["message"] for line in lines if line["level"] in ("warning", "critical")]


def fastest():
    return re.search(r"^argon2: (.*)$", run("--version", directory="/").stdout, re.M)[1]


@pytest.mark.parametrize("way", ["auto", *WAYS])
def test_passwords_are_verified_as_others_compute_them(start, authority, host, way):
    server = start(
        POSTERN_PASSWORDS_ARGON2=way, POSTERN_HASH_LOGIN_CA_FILE=str(authority.file),
        JWT_ISSUER="https://login.example")
    boxes, logins = Mailboxes(server.url), HashLogin(server.url)
    address = fresh()
    assert boxes.create(address).status_code == 201
    # The server derives the key of a password; a client may have derived it.
    for secret in ({"password": PASSWORD}, {"auth_key": auth_key(address, PASSWORD)}):
        assert boxes.call("POST", "/api/token", body={"address": address, **secret}).ok
    wrong = {"address": address, "password": PASSWORD + "!"}
    assert boxes.call("POST", "/api/token", body=wrong).status_code == 401
    for number, costs in enumerate(SERVED):
        url = host.serve(argon2("right", **costs), path=f"/{way}-{number}")
        email = f"{way}-{number}@users.example"
        assert logins.register(email, url, "right").status_code == 201
        assert logins.login(email, "right").status_code == 200
        assert logins.login(email, "wrong").status_code != 200
    kernel, warnings = used(server)
    if kernel == way or way == "auto":
        assert kernel == way or kernel == fastest()
        assert not warnings
    else:
        # This processor does not have the instructions.
        assert kernel == fastest() and any("passwords.argon2" in line for line in warnings)


def test_hashes_of_one_way_are_verified_by_another(start):
    address = fresh()
    settings = {"profile": "development", "POSTERN_POW_ACCOUNTS_DIFFICULTY": "1"}
    for number, way in enumerate(["libargon2", "auto", "sse2", "libargon2"]):
        server = start(POSTERN_PASSWORDS_ARGON2=way, **settings)
        boxes = Mailboxes(server.url)
        if number == 0:
            assert boxes.create(address).status_code == 201
        body = {"address": address, "password": PASSWORD}
        assert boxes.call("POST", "/api/token", body=body).ok
        server.stop()


def test_an_unknown_way_is_refused_with_the_known_ones():
    said = run("check-config", directory="/", POSTERN_PASSWORDS_ARGON2="neon")
    assert said.returncode != 0 and "passwords.argon2" in said.stderr
    assert all(way in said.stderr for way in ["auto", *WAYS])
