"""Guessing passwords and finding out names, from many clients: a trusted proxy names them."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
import itertools
import json
import math
import time

import pytest

from mailboxes import Mailboxes, failed
from program import run
from test_limits import EASY


def client(site, number):
    """The address of a client; those of one site share an IPv6 /48."""
    return f"2001:db8:{site:x}:{number:x}::1"


class Site:
    """A server behind a proxy, with the limits on."""

    def __init__(self, start, directory, **settings):
        self.directory = directory
        server = start("--data", str(directory / "data"), profile="development", **{
            **EASY, "POSTERN_SERVER_TRUSTED_PROXIES": "127.0.0.1",
            "POSTERN_LIMITS_CREATION_INTERVAL": "1ms", **settings})
        self.server = server
        self.boxes = Mailboxes(server.url)

    def post(self, path, sender, **body):
        return self.boxes.call("POST", path, None, body, headers={"X-Forwarded-For": sender})

    def login(self, sender, mailbox, password):
        return self.post("/api/token", sender, address=mailbox, password=password)

    def operate(self, *words):
        done = run(*words, "--data", str(self.directory / "data"), "--profile", "development",
                   directory=self.directory)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def events(self):
        return [json.loads(line) for line in self.operate("audit", "export").splitlines()]


@pytest.fixture
def site(start, tmp_path):
    return lambda **settings: Site(start, tmp_path, **settings)


def codes(answers):
    return [answer.status_code for answer in answers]


@contextlib.contextmanager
def guesses(free):
    """Checks the responses that are added to the list: `free` wrong guesses are 401, and then only
    those after a wait of one second, two more, four more, and so on."""
    answers, start = [], time.monotonic()
    yield answers
    waited = int(math.log2(time.monotonic() - start + 1))
    assert free <= codes(answers).count(401) <= free + waited
    assert set(codes(answers)) == {401, 429}


def test_clients_of_one_site_share_twenty_tries_and_the_owner_is_not_kept_out(site):
    site = site()
    box = site.boxes.mailbox()
    home = client(9, 1)
    assert site.login(home, box.address, box.password).status_code == 200
    with guesses(20) as answers, ThreadPoolExecutor(8) as pool:
        answers += pool.map(
            lambda number: site.login(client(1, number), box.address, f"guess {number}"),
            range(60))
    # Guesses from the owner's own site do not slow the owner either.
    with guesses(20) as answers:
        for number in itertools.count(2):
            answers.append(site.login(client(9, number), box.address, "guess"))
            # A wait of more than a second has not ended when the next responses come.
            if int(answers[-1].headers.get("Retry-After", 0)) >= 2:
                break
            if answers[-1].status_code == 429:
                time.sleep(0.2)
        assert site.login(home, box.address, box.password).status_code == 200
        assert site.login(client(9, 999), box.address, box.password).status_code == 429


def test_unknown_addresses_are_counted_like_known_ones(site):
    site = site()
    box = site.boxes.mailbox()
    for number, address in enumerate([box.address, "nobody-at-all@mail.test"]):
        with guesses(5) as answers:
            answers += [site.login(client(number, 1), address, "the same") for _ in range(12)]


def test_repeated_failures_are_one_event_with_a_count(site):
    site = site()
    box = site.boxes.mailbox()
    # The minute must not end meanwhile.
    if time.time() % 60 > 50:
        time.sleep(61 - time.time() % 60)
    first = site.login(client(1, 1), box.address, "wrong")
    for _ in range(4):
        assert site.login(client(1, 1), box.address, "wrong").status_code == 401
    site.login(client(1, 2), box.address, "wrong")
    found = [(event["client"], event["count"], event["request_id"])
             for event in site.events() if event["kind"] == "login_failed"]
    assert [one[:2] for one in found] == [(client(1, 1), 5), (client(1, 2), 1)]
    assert found[0][2] == first.headers["X-Request-Id"]
    assert "  5 times\n" in site.operate("audit", "tail")


def test_every_try_at_a_registration_costs_a_creation(site):
    site = site(POSTERN_USERS_REGISTRATION="open", POSTERN_LIMITS_CREATION_INTERVAL="1h")
    def register(number, email):
        return site.post(
            "/api/user/register", client(number, 1), email=email, password="propassword")
    assert register(1, "ada@example.com").status_code == 201
    for number, email, status, code in [
            (2, "ada@example.com", 409, "email_taken"), (3, "nonsense", 400, "invalid_email"),
            (4, "postmaster@mail.test", 400, "invalid_email")]:
        failed(register(number, email), status, code)
        failed(register(number, "eve@example.com"), 429, "rate_limit_exceeded")
