"""Each way to compute scrypt, beside OpenSSL's: the proofs of others verified, and the own ones."""

import concurrent.futures
import json
import re
import subprocess

import pytest

from agent import Agent, bearer, claims, leading_zero_bits, proof
from program import BINARY, run

WAYS = ["avx512", "avx2", "sse2", "libscrypt"]


def used(server):
    """What computes scrypt, by the log of the server, and the warnings in it. Stops the server."""
    server.stop()
    lines = [json.loads(line) for line in server.read_log().splitlines()]
    (started,) = [line for line in lines if line["message"] == "started"]
    return started["scrypt"], [line["message"] for line in lines if line["level"] == "warning"]


def fastest():
    said = subprocess.run([BINARY, "--version"], text=True, capture_output=True, check=True).stdout
    return re.search(r"^scrypt: (.*)$", said, re.M)[1]


@pytest.mark.parametrize("way", WAYS)
def test_proofs_that_come_at_once_are_each_verified(start, way):
    server = start(POSTERN_POW_SCRYPT=way)
    solved = [Agent(server.url).solve() for _ in range(12)]
    # A digest that is not that of its nonce, in the middle of right ones.
    wrong = {3, 8}

    def sign_up(number):
        mine = solved[number]
        if number in wrong:
            mine.nonce += "0"
        return Agent(server.url).session(mine, username=f"{way}-{number:02}").status_code

    with concurrent.futures.ThreadPoolExecutor(len(solved)) as pool:
        statuses = list(pool.map(sign_up, range(len(solved))))
    assert statuses == [403 if number in wrong else 201 for number in range(len(solved))]
    kernel, warnings = used(server)
    if kernel.startswith(f"{way}, "):
        assert not warnings
    else:
        # This processor does not have the instructions.
        assert kernel == fastest() and any("pow.scrypt" in line for line in warnings)


@pytest.mark.parametrize("way", ["auto", *WAYS])
def test_solve_finds_a_proof_that_others_verify(agent, tmp_path, name, way):
    token = agent.challenge()
    found = json.loads(run("solve", "--scrypt", way, token, directory=tmp_path).stdout)
    digest = proof(claims(token)["jti"], found["nonce"])
    assert digest.hex() == found["powHex"] and leading_zero_bits(digest) >= 1
    answer = agent.post("/api/v1/session", token, {**found, "username": name()})
    assert answer.status_code == 201, answer.text
    assert bearer(answer)


def test_the_lanes_can_be_limited(start):
    server = start(POSTERN_POW_SCRYPT_LANES="2")
    kernel, warnings = used(server)
    assert kernel in [f"{way}, 2 at once" for way in WAYS[:3]] + ["libscrypt, 1 at once"]
    assert not warnings
