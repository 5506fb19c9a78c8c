"""The feed of account events and the receiver that they are sent to, on both engines."""

import json
import re
import subprocess
import threading
import time

import pytest

from agent import Agent
from mailboxes import Mailboxes
from postgres import TestDatabase
from program import BINARY, ROOT, await_true, environment, run
from receiver import SECRET, Receiver, events_of
from services import Services, free_port


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request, tmp_path):
    """The settings of a server and its commands on a database of their own."""
    shared = {"POSTERN_STORAGE_DIRECTORY": str(tmp_path / "data"),
              "POSTERN_SERVER_PUBLIC_URL": "https://auth.mail.test"}
    if request.param == "postgres":
        shared["POSTERN_STORAGE_URL"] = TestDatabase().url
    return shared


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "provisioning.secret"
    path.write_text(SECRET + "\n")
    return path


@pytest.fixture
def receiver():
    receiver = Receiver(free_port())
    yield receiver
    receiver.stop()


@pytest.fixture
def operate(settings, tmp_path):
    def operate(*words, code=0):
        result = run(*words, "--profile", "test", directory=tmp_path, **settings)
        assert result.returncode == code, result.stderr
        return result.stdout if code == 0 else result.stderr
    return operate


@pytest.fixture
def deliver(start, settings, secret, receiver):
    """Starts a server that sends its events to the receiver."""
    def deliver(**more):
        return start(**settings, **{
            "POSTERN_PROVISIONING_URL": receiver.url,
            "POSTERN_PROVISIONING_SECRET_FILE": str(secret),
            # On a busy machine an attempt may take long, and would be repeated.
            "POSTERN_PROVISIONING_TIMEOUT": "60s", **more})
    return deliver


def follow(operate, *words):
    return events_of(operate("audit", "follow", "--json", "--once", *words))


def test_every_change_of_an_account_is_in_the_feed(start, settings, operate, tmp_path):
    server = start(**settings)
    agent, boxes = Agent(server.url), Mailboxes(server.url)
    signup = agent.session(username="first-agent")
    inbox, agent_id = signup.json()["inbox"], signup.json()["accountId"]
    box = boxes.mailbox()
    run("account", "add", "postmaster@mail.test", "--password-stdin", "--profile", "test",
        directory=tmp_path, stdin="supersecret\n", **settings)
    operate("account", "disable", inbox)
    operate("account", "disable", inbox)
    operate("account", "enable", inbox)
    operate("account", "quota", inbox, "1000")
    operate("account", "delete", inbox)
    operate("account", "free", inbox)
    assert boxes.delete(box.id, box.token).status_code == 204

    events = follow(operate)
    assert [event["number"] for event in events] == list(range(1, 10))
    postmaster = events[2]["account_id"]
    free = 41_943_040
    assert [(event["event"], event["account_id"], event["address"], event.get("quota"))
            for event in events] == [
        ("account_created", agent_id, inbox, free),
        ("account_created", box.id, box.address, free),
        ("account_created", postmaster, "postmaster@mail.test", free),
        ("account_disabled", agent_id, inbox, None),
        ("account_enabled", agent_id, inbox, None),
        ("quota_changed", agent_id, inbox, 1000),
        ("account_deleted", agent_id, inbox, None),
        ("address_freed", agent_id, inbox, None),
        ("account_deleted", box.id, box.address, None)]
    assert all(event["name"] == event["address"] for event in events)
    assert len({event["id"] for event in events}) == 9
    assert set(events[0]) == {
        "number", "id", "event", "time", "account_id", "address", "name", "quota"}
    assert follow(operate, "--after", "6") == events[6:]
    assert follow(operate, "--after", "9") == []
    assert "there is no event 10" in operate(
        "audit", "follow", "--once", "--after", "10", code=1)
    # The same in the record of all events, and for people.
    kinds = [event["kind"] for event in events_of(operate("audit", "export"))]
    assert kinds.count("quota_changed") == 1
    assert len(operate("audit", "follow", "--once").splitlines()) == 9


def test_a_follower_gets_events_as_they_are_made_and_goes_on_after_a_number(
        start, settings, operate, tmp_path):
    server = start(**settings)
    agent = Agent(server.url)
    command = [str(BINARY), "audit", "follow", "--json", "--after", "0", "--profile", "test"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path,
                          env=environment(**settings)) as following:
        try:
            for name in ["follower-1", "follower-2"]:
                made = agent.session(username=name).json()
                event = json.loads(following.stdout.readline())
                assert event["account_id"] == made["accountId"]
        finally:
            following.kill()
    agent.session(username="follower-3")
    assert [event["address"] for event in follow(operate, "--after", str(event["number"]))] == [
        "follower-3@mail.test"]


def test_a_follower_outlives_a_database_that_is_away(start, tmp_path):
    database = TestDatabase()
    settings = {"POSTERN_STORAGE_URL": database.url,
                "POSTERN_STORAGE_DIRECTORY": str(tmp_path / "data")}
    server = start(**settings)
    command = [str(BINARY), "audit", "follow", "--json", "--profile", "test"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=tmp_path, env=environment(**settings)) as following:
        try:
            Agent(server.url).session(username="before")
            assert json.loads(following.stdout.readline())["address"] == "before@mail.test"
            database.stop()
            assert following.stderr.readline()
            database.start()
            deadline = time.monotonic() + 60
            while Agent(server.url).session(username="after").status_code == 503:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            assert json.loads(following.stdout.readline())["number"] == 2
        finally:
            following.kill()


@pytest.mark.parametrize("settings", ["postgres"], indirect=True)
def test_a_reader_misses_nothing_of_concurrent_signups(start, settings, operate):
    server = start(**settings)
    count, workers = 12, 3

    def work(worker):
        agent = Agent(server.url)
        for number in range(count // workers):
            assert agent.session(username=f"worker-{worker}-{number}").status_code == 201

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(workers)]
    for thread in threads:
        thread.start()
    seen = []
    deadline = time.monotonic() + 120
    while len(seen) < count:
        assert time.monotonic() < deadline
        seen += follow(operate, "--after", str(seen[-1]["number"] if seen else 0))
    for thread in threads:
        thread.join()
    assert [event["number"] for event in seen] == list(range(1, count + 1))
    assert len({event["address"] for event in seen}) == count


def test_quota_and_usage_come_back(start, settings, operate, tmp_path):
    address = f"unix:{tmp_path}/s"
    server = start(
        POSTERN_SERVICES_LISTEN=address, POSTERN_MAIL_STORE="none", **settings)
    boxes, services = Mailboxes(server.url), Services(address)
    box = boxes.mailbox()
    assert operate("account", "usage", box.address) == "0 of 41943040 bytes\n"
    assert operate("account", "quota", box.address, "2048") == (
        f"the quota of {box.address} is 2048 bytes\n")
    noted = services.call("POST", "/usage", body=[{"address": box.address, "used": 77}])
    assert noted.json() == {"unknown": []}
    assert operate("account", "usage", box.address) == "77 of 2048 bytes\n"
    shown = json.loads(operate("account", "show", box.address, "--json"))
    assert {name: shown[name] for name in ["account_id", "name", "state", "quota", "used"]} == {
        "account_id": box.id, "name": box.address, "state": "active", "quota": 2048, "used": 77}
    assert events_of(operate("account", "list", "--json")) == [shown]
    assert "quota    2048 bytes" in operate("account", "show", box.address)
    # The mail store and the owner see the same.
    assert services.check(box.address, box.password).json()["quota"] == 2048
    seen = boxes.get(box.id, box.token).json()
    assert (seen["quota"], seen["used"]) == (2048, 77)
    assert "no account" in operate("account", "quota", "nobody@mail.test", "1", code=1)


def test_a_mail_store_reports_usage_by_its_own_names(start, tmp_path):
    address = f"unix:{tmp_path}/s"
    data = str(tmp_path / "data")
    settings = {"POSTERN_STORAGE_DIRECTORY": data, "POSTERN_MAIL_SUBJECT": "local_part"}
    server = start(POSTERN_SERVICES_LISTEN=address, **settings)
    box = Mailboxes(server.url).mailbox()
    name = box.address.partition("@")[0]
    noted = Services(address).call("POST", "/usage", body=[
        {"address": name, "used": 5}, {"address": "nobody-here", "used": 6}])
    assert noted.json() == {"unknown": ["nobody-here"]}
    result = run("account", "usage", "--stdin", "--profile", "test", directory=tmp_path,
                 stdin=f"{name} 7\nnobody-here 8\n", **settings)
    assert (result.returncode, result.stdout) == (1, "noted 1 report\n")
    shown = run("account", "usage", box.address, "--profile", "test", directory=tmp_path, **settings)
    assert shown.stdout == "7 of 41943040 bytes\n"


def await_log(server, text):
    await_true(lambda: text in server.read_log(), lambda: server.read_log()[-2000:])


def test_nothing_is_lost_while_the_receiver_is_down_and_the_server_is_killed(
        deliver, operate, receiver):
    server = deliver()
    agent = Agent(server.url)
    for number in range(3):
        assert agent.session(username=f"early-{number}").status_code == 201
    operate("account", "disable", "early-0@mail.test")
    await_log(server, "the receiver of account events is not available")
    server.kill()
    operate("account", "enable", "early-0@mail.test")
    events = follow(operate)
    receiver.start()
    server = deliver()
    receiver.awaits(range(1, 6))
    # What was sent is what the feed has, in the order of each account.
    assert sorted(receiver.accepted, key=lambda event: event["number"]) == events
    assert receiver.numbers(events[0]["account_id"]) == [1, 4, 5]
    assert not receiver.forged
    server.stop()
    assert "0 not accepted" in operate("provisioning", "status")


@pytest.mark.parametrize("settings", ["postgres"], indirect=True)
def test_what_a_killed_server_was_sending_is_sent_again(deliver, operate, receiver):
    arrived = threading.Event()
    receiver.answer = lambda event: (arrived.set(), receiver.closing.wait(30), 204)[2]
    receiver.start()
    server = deliver(POSTERN_PROVISIONING_TIMEOUT="1s")
    Agent(server.url).session(username="interrupted")
    operate("account", "disable", "interrupted@mail.test")
    assert arrived.wait(60)
    server.kill()
    receiver.stop()
    receiver.accepted.clear()
    receiver.answer, receiver.closing = lambda event: 204, threading.Event()
    receiver.start()
    deliver()
    receiver.awaits([1, 2])
    assert receiver.numbers() == [1, 2]
    assert len({event["id"] for event in receiver.messages if event["number"] == 1}) == 1


def test_an_account_whose_events_are_not_accepted_delays_no_other(deliver, operate, receiver):
    refused = set()
    receiver.answer = lambda event: 500 if event["address"] in refused else 200
    refused.add("stuck@mail.test")
    receiver.start()
    server = deliver(POSTERN_PROVISIONING_MAX_RETRY_INTERVAL="1d")
    agent = Agent(server.url)
    for name in ["stuck", "other-1", "other-2"]:
        agent.session(username=name)
    operate("account", "disable", "stuck@mail.test")
    operate("account", "disable", "other-1@mail.test")
    receiver.awaits([2, 3, 5])
    # The next event of the account waits for the one before.
    assert {event["number"] for event in receiver.messages} == {1, 2, 3, 5}
    await_log(server, "an account event was not accepted")
    await_log(server, "status 500")
    # The server notes that it was accepted after the receiver has.
    def status():
        return operate("provisioning", "status").splitlines()
    await_true(lambda: status()[0] == "5 events, 2 not accepted", status)
    assert status()[1].startswith("1  account_created  stuck@mail.test  ")
    refused.clear()
    operate("provisioning", "retry")
    receiver.awaits([1, 4])
    stuck = next(event["account_id"] for event in receiver.messages if event["number"] == 1)
    assert receiver.numbers(stuck) == [1, 4]
    # Every attempt had the same id.
    assert len({event["id"] for event in receiver.messages if event["number"] == 1}) == 1


def test_an_event_can_be_skipped(deliver, operate, receiver):
    receiver.answer = lambda event: 400 if event["event"] == "account_created" else 200
    receiver.start()
    server = deliver()
    Agent(server.url).session(username="skipped")
    operate("account", "disable", "skipped@mail.test")
    await_true(lambda: receiver.messages, "no event came")
    assert operate("provisioning", "skip", "1") == "skipped event 1\n"
    receiver.awaits([2])
    assert receiver.numbers() == [2]
    assert "not waiting" in operate("provisioning", "skip", "1", code=1)


def test_of_several_nodes_one_delivers_and_another_takes_over(start, secret, receiver, tmp_path):
    key = tmp_path / "master.secret"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    receiver.start()
    settings = {
        "POSTERN_STORAGE_URL": TestDatabase().url, "POSTERN_MASTER_SECRET_FILE": str(key),
        "POSTERN_SERVER_PUBLIC_URL": "https://auth.mail.test",
        "POSTERN_PROVISIONING_URL": receiver.url, "POSTERN_PROVISIONING_TIMEOUT": "60s",
        "POSTERN_PROVISIONING_SECRET_FILE": str(secret)}
    nodes = [start(**settings) for _ in range(2)]
    for number in range(10):
        Agent(nodes[number % 2].url).session(username=f"of-nodes-{number}")
    receiver.awaits(range(1, 11))
    assert sorted(receiver.numbers()) == list(range(1, 11))
    nodes[0].kill()
    Agent(nodes[1].url).session(username="of-the-other")
    receiver.awaits([11])


def test_a_receiver_with_https_is_verified(start, secret, authority, tmp_path):
    receiver = Receiver(free_port(), authority.context("localhost")).start()
    shared = {"POSTERN_STORAGE_DIRECTORY": str(tmp_path / "data"),
              "POSTERN_PROVISIONING_URL": receiver.url,
              "POSTERN_PROVISIONING_SECRET_FILE": str(secret)}
    try:
        server = start(**shared)
        Agent(server.url).session(username="encrypted")
        await_log(server, "certificate is not trusted")
        server.stop()
        assert not receiver.messages
        start(**shared, POSTERN_PROVISIONING_CA_FILE=str(authority.file))
        receiver.awaits([1])
    finally:
        receiver.stop()


def test_a_secret_is_replaced_without_a_rejected_event(deliver, secret, receiver):
    """The server signs with both while the receiver knows one of them."""
    newer = "whsec_" + "A" * 44
    secret.write_text(f"{newer}\n{SECRET}\n")
    receiver.start()
    server = deliver()
    Agent(server.url).session(username="both-secrets")
    receiver.awaits([1])
    receiver.webhook = Receiver(secret=newer).webhook
    Agent(server.url).session(username="newer-secret")
    receiver.awaits([2])
    assert not receiver.forged


def test_the_documented_verification_accepts_a_message_and_no_other(deliver, receiver):
    block = re.search(
        r"```python\n(.*?)```", (ROOT / "docs/provisioning.md").read_text(), re.S)[1]
    names = {}
    exec(block, names)
    receiver.start()
    server = deliver()
    Agent(server.url).session(username="documented")
    receiver.awaits([1])
    headers, body = receiver.last
    assert names["verified"](headers, body, SECRET)["address"] == "documented@mail.test"
    old = {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 301)}
    for fields, content, secret in [
            (headers, body + b" ", SECRET), (headers, body, "whsec_" + "A" * 44),
            ({**headers, "webhook-id": "another"}, body, SECRET), (old, body, SECRET)]:
        with pytest.raises(ValueError):
            names["verified"](fields, content, secret)


@pytest.mark.parametrize("content", [None, "", "tooshort"])
def test_a_secret_that_cannot_be_used_stops_the_start(secret, tmp_path, content):
    secret.unlink()
    if content is not None:
        secret.write_text(content)
    result = run(
        "serve", "--profile", "test", "--port", "0", directory=tmp_path,
        POSTERN_PROVISIONING_URL="http://127.0.0.1:1/",
        POSTERN_PROVISIONING_SECRET_FILE=str(secret))
    assert result.returncode == 78
    assert "provisioning.secret_file" in result.stderr and str(secret) in result.stderr
