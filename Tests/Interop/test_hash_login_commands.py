"""`postern hash-login`: what an operator does about registrations."""

import json

from hashhost import argon2
from hashlogin import HashLogin, refused
from program import run

EMAIL = "ada@users.example"


def test_deleting_a_registration_frees_its_email_and_ends_its_tokens(
        start, tmp_path, authority, host):
    data = ["--data", str(tmp_path / "data")]
    logins = HashLogin(
        start(*data, POSTERN_HASH_LOGIN_CA_FILE=str(authority.file)).url)

    def operate(*words):
        return run("hash-login", *words, *data, "--profile", "test", directory=tmp_path)

    squatted = host.serve(argon2("squatter"), path="/squatter")
    assert logins.register(EMAIL, squatted, "squatter").status_code == 201
    token = logins.token(EMAIL, "squatter")
    assert operate("list").stdout.split()[:2] == [EMAIL, squatted]
    assert operate("show", "Ada@Users.example").stdout == operate("list").stdout
    assert operate("delete", EMAIL).stdout == f"deleted {EMAIL}\n"
    refused(logins.login(EMAIL, "squatter"), "Invalid email or password.")
    for words in [["show", EMAIL], ["delete", EMAIL]]:
        again = operate(*words)
        assert again.returncode == 1
        assert again.stderr == f"{EMAIL} is not registered for hash logins\n"
    assert operate("list").stdout == ""

    own = host.serve(argon2("owner"), path="/owner")
    assert logins.register(EMAIL, own, "owner").status_code == 201
    assert logins.validate(token).status_code == 401
    assert logins.validate(logins.token(EMAIL, "owner")).status_code == 200
    exported = run("audit", "export", *data, "--profile", "test", directory=tmp_path).stdout
    events = [json.loads(line) for line in exported.splitlines()]
    assert [event["actor"] for event in events if event["kind"] == "hash_login_deleted"] == [
        "operator"]
