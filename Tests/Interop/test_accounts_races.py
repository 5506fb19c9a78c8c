"""Concurrent requests on one account: exactly one succeeds, and no earlier state returns."""

import concurrent.futures
import threading

import pytest

from mailboxes import PASSWORD, Mailboxes, failed, fresh

RACERS = 50


@pytest.fixture(scope="module")
def postern(serve, names):
    """With the default cost of a password hash: requests that race are on their way for longer."""
    return serve(
        POSTERN_USERS_REGISTRATION="open", POSTERN_DNS_SERVERS=names.address,
        POSTERN_PASSWORDS_MEMORY_KIB="19456", POSTERN_PASSWORDS_ITERATIONS="2")


def race(url, runners):
    """The responses to calls that start together, each on a connection of its own."""
    gate = threading.Barrier(len(runners))

    def run(act):
        client = Mailboxes(url)
        gate.wait()
        return act(client)

    with concurrent.futures.ThreadPoolExecutor(len(runners)) as pool:
        return list(pool.map(run, runners))


def statuses(answers):
    return sorted(answer.status_code for answer in answers)


def test_one_of_fifty_creations_of_an_address_makes_it(postern, boxes):
    address = fresh()
    proofs = [boxes.proof() for _ in range(RACERS)]
    answers = race(postern.url, [
        lambda client, proof=proof, number=number: client.create(
            address, f"password {number}", pow=proof)
        for number, proof in enumerate(proofs)])
    assert statuses(answers) == [201] + [409] * (RACERS - 1)
    (winner,) = [n for n, answer in enumerate(answers) if answer.status_code == 201]
    logins = [boxes.login(address, f"password {n}").status_code for n in (winner, winner - 1)]
    assert logins == [200, 401]


def test_one_of_fifty_uses_of_a_challenge_makes_an_account(postern, boxes):
    proof = boxes.proof()
    answers = race(postern.url, [
        lambda client: client.create(fresh(), pow=proof) for _ in range(RACERS)])
    assert statuses(answers) == [201] + [403] * (RACERS - 1)


def test_a_users_limit_holds_against_creations_at_once(postern, boxes):
    user = boxes.user()
    answers = race(postern.url, [
        lambda client: client.create(fresh(), token=user.token) for _ in range(30)])
    assert statuses(answers) == [201] * 10 + [403] * 20
    me = boxes.call("GET", "/api/user/me", user.token).json()
    assert me["account_count"] == me["max_accounts"] == 10


def test_one_of_many_resets_with_one_email_jwt_counts(postern, boxes):
    box = boxes.mailbox()
    answers = race(postern.url, [
        lambda client, number=number: client.reset(box.id, box.token, f"password {number}")
        for number in range(20)])
    assert statuses(answers) == [200] + [401] * 19
    (winner,) = [n for n, answer in enumerate(answers) if answer.status_code == 200]
    assert boxes.login(box.address, f"password {winner}").status_code == 200
    failed(boxes.login(box.address), 401, "invalid_credentials")


def test_of_resets_and_deletions_with_one_email_jwt_one_counts(postern, boxes):
    box = boxes.mailbox()
    answers = race(postern.url, [
        lambda client, number=number: (
            client.delete(box.id, box.token) if number % 2 else
            client.reset(box.id, box.token, "another one"))
        for number in range(20)])
    found = statuses(answers)
    assert found in ([200] + [401] * 19, [204] + [401] * 19)
    opened = boxes.login(box.address, "another one").status_code
    assert opened == (200 if found[0] == 200 else 401)


@pytest.mark.parametrize("owned", [False, True])
def test_no_login_with_the_old_password_after_the_reset_was_answered(postern, boxes, owned):
    user = boxes.user() if owned else None
    for turn in range(4):
        box = boxes.mailbox(user.token if user else None)
        answered, tokens, late = threading.Event(), [], []

        def log_in_until_the_reset(client):
            for _ in range(200):
                after = answered.is_set()
                answer = client.login(box.address, PASSWORD)
                if answer.status_code == 200:
                    tokens.append(answer.json()["token"])
                    if after:
                        late.append(answer)
                if after:
                    return answer
            return answer

        def reset(client):
            token = user.token if user else box.token
            answer = client.reset(box.id, token, f"new password {turn}")
            answered.set()
            return answer

        *logins, resetting = race(postern.url, [log_in_until_the_reset] * 4 + [reset])
        assert resetting.status_code == 200
        assert not late and statuses(logins) == [401] * 4
        # Tokens of logins before or during the reset are refused.
        for token in [box.token, *tokens]:
            failed(boxes.get(box.id, token), 401, "invalid_or_expired_token")
        assert boxes.login(box.address, f"new password {turn}").status_code == 200


def test_a_token_made_while_the_account_is_deleted_is_refused(postern, boxes):
    box = boxes.mailbox()
    *logins, deletion = race(
        postern.url, [lambda client: client.login(box.address)] * 8
        + [lambda client: client.delete(box.id, box.token)])
    assert deletion.status_code == 204
    for answer in logins:
        if answer.status_code == 200:
            failed(boxes.get(box.id, answer.json()["token"]), 401, "invalid_or_expired_token")
    failed(boxes.login(box.address), 401, "invalid_credentials")


def test_one_of_many_registrations_of_an_email_makes_the_user(postern):
    email = fresh("example.com")
    answers = race(postern.url, [
        lambda client: client.call("POST", "/api/user/register", None, {
            "email": email, "password": "propassword"}) for _ in range(20)])
    assert statuses(answers) == [201] + [409] * 19


def test_a_token_revoked_once_is_revoked_for_all(postern, boxes):
    user = boxes.user()
    made = boxes.api_token(user)
    answers = race(postern.url, [
        lambda client: client.call("DELETE", f"/api/user/tokens/{made['id']}", user.token)
        for _ in range(20)])
    assert statuses(answers) == [204] + [404] * 19
    failed(boxes.call("GET", "/api/user/me", made["token"]), 401, "invalid_or_expired_token")


def test_no_token_outlives_the_password_change_that_ends_all(postern, boxes):
    """The attacker adds tokens without a pause while the owner changes the password."""
    for number in range(5):
        user, stopped, made = boxes.user(), threading.Event(), []
        parents = [boxes.api_token(user)["token"] for _ in range(4)] + [user.token] * 4

        def add(token):
            other = Mailboxes(postern.url)
            while not stopped.is_set():
                answer = other.call("POST", "/api/user/tokens", token)
                if answer.status_code != 201:
                    return
                made.append(answer.json()["token"])
                # A user has a hundred at most.
                other.call("DELETE", f"/api/user/tokens/{answer.json()['id']}", token)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            running = [pool.submit(add, token) for token in parents]
            answer = boxes.call("PUT", "/api/user/password", user.token, {
                "current_password": user.password, "password": f"another one {number}",
                "revoke_api_tokens": True})
            stopped.set()
            for one in running:
                one.result()
        assert answer.status_code == 200, answer.text
        assert {boxes.call("GET", "/api/user/me", token).status_code for token in made} <= {401}


def test_no_account_is_left_on_a_domain_that_was_removed_meanwhile(postern, boxes, names):
    user = boxes.user()
    for turn in range(5):
        name = fresh("").replace("@", ".example")
        made = boxes.call("POST", "/api/user/domains", user.token, {"domain": name}).json()
        names.publish(made["dns_records"])
        path = f"/api/user/domains/{made['id']}"
        verified = boxes.call("POST", path + "/verify", user.token)
        assert verified.json()["verify_status"] == "verified"
        removal, *creations = race(
            postern.url, [lambda client: client.call("DELETE", path, user.token)]
            + [lambda client: client.create(fresh(name), token=user.token)] * 3)
        assert removal.status_code in (204, 409)
        for creation in creations:
            if creation.status_code == 201:
                assert removal.status_code == 409
                boxes.delete(creation.json()["id"], user.token)
            else:
                failed(creation, 400, "invalid_domain")
        if removal.status_code == 409:
            assert boxes.call("DELETE", path, user.token).status_code == 204
