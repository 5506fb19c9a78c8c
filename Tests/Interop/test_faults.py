"""Disks that fail under a server: what cannot be written is refused, what was acknowledged stays,
and the server goes on by itself when the disk works again."""

import os
import subprocess

import pytest
import requests

import databases
from accountload import EVENTS, Load, RunningLoad, check_events, state_of
from agent import Agent, bearer
from disks import FaultyDisk, SmallDisk
from mailboxes import Mailboxes, failed, fresh
from program import ROOT, await_true, run
from services import Services

REFUSED = 20


@pytest.fixture
def disk():
    disk = SmallDisk(16)
    yield disk
    disk.unmount()


@pytest.fixture
def faulty(tmp_path):
    return FaultyDisk(tmp_path)


class Fault:
    """The settings of a server, and how its disk fails and works again."""

    def __init__(self, storage, begin, end, cause):
        self.storage, self.begin, self.end, self.cause = storage, begin, end, cause


@pytest.fixture
def sync(faulty, tmp_path):
    """fsync(2) fails, as where a disk has lost writes."""
    return Fault({**databases.settings("sqlite", tmp_path), **faulty.settings},
                 lambda: faulty.fail("sync"), faulty.mend, "the disk failed to read or write")


@pytest.fixture
def read_only(faulty, tmp_path):
    """Writes fail, as where the kernel has made the file system read-only after an error."""
    return Fault({**databases.settings("sqlite", tmp_path), **faulty.settings},
                 lambda: faulty.fail("write"), faulty.mend, "the disk failed to read or write")


@pytest.fixture
def full(disk):
    return Fault(databases.settings("sqlite", disk.directory), disk.fill, disk.empty,
                 "the disk is full")


@pytest.fixture
def full_postgres(tmp_path, monkeypatch):
    """PostgreSQL on a disk that is full."""
    disk = SmallDisk(160)
    # The server of the tests, once more. It ends with its standard input.
    variables = {name: value for name, value in os.environ.items() if name != "TEST_POSTGRES"}
    server = subprocess.Popen(
        [ROOT / ".ci/with-postgres", "sh", "-c", "echo $TEST_POSTGRES; cat"], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**variables, "TMPDIR": str(disk.directory)})
    try:
        monkeypatch.setenv("TEST_POSTGRES", server.stdout.readline().strip())
        storage = databases.settings("postgres", tmp_path)

        def fill():
            # Its log has room in the segment that it begins: without any PostgreSQL ends itself.
            databases.rows(storage, "SELECT pg_switch_wal()")
            disk.fill()

        yield Fault(storage, fill, disk.empty, "the disk is full")
    finally:
        server.stdin.close()
        server.stdout.close()
        server.wait(60)
        disk.unmount()


@pytest.fixture(params=["sync", "read_only", "full", "full_postgres"])
def fault(request):
    return request.getfixturevalue(request.param)


def test_while_nothing_can_be_written_writes_are_503_and_reads_go_on(
        fault, start, tmp_path, report, request):
    services = Services(f"unix:{tmp_path}/s")
    settings = {**fault.storage, "POSTERN_SERVICES_LISTEN": services.address}
    server = start(**settings)
    boxes, agent = Mailboxes(server.url), Agent(server.url)
    box, session = boxes.mailbox(), bearer(agent.session(username="reads"))
    # The first one makes a key.
    assert agent.capability(session).status_code == 200
    proof, solved = boxes.proof(), agent.solve()
    load = Load(server.url, survives=True)
    with RunningLoad(load) as clients:
        clients.await_changes(20)
        fault.begin()
        await_true(lambda: load.refused >= REFUSED, lambda: load.statuses)

        answer = boxes.create(fresh(), pow=proof)
        failed(answer, 503, "server_busy")
        assert int(answer.headers["Retry-After"]) >= 1
        answer = agent.session(solved, username="writes")
        assert answer.status_code == 503 and int(answer.headers["Retry-After"]) >= 1
        assert set(answer.json()["error"]) == {"message", "hint", "docs_url"}
        assert boxes.get(box.id, box.token).status_code == 200
        assert services.introspect(bearer(agent.capability(session)))["active"]
        for path in ["/healthz", "/readyz", "/.well-known/jwks.json"]:
            assert requests.get(server.url + path, timeout=30).status_code == 200
        assert log_of(server, "critical") == 1 and fault.cause in server.read_log()
        assert log_of(server, "error") == 0, server.read_log()

        fault.end()
        clients.await_changes(20)
    report(f"{request.node.name}: {load.changes} changes acknowledged, {load.refused} refused")
    assert not load.faults and load.dropped == 0, load.faults
    assert load.statuses <= {200, 201, 204, 503}
    # A 503 spends nothing.
    assert boxes.create(fresh(), pow=proof).status_code == 201
    assert agent.session(solved, username="writes").status_code == 201
    # And changes nothing, also later.
    late = check(fault, load, server)
    assert not any(late.values())
    assert log_of(server, "critical") == 1
    server.kill()
    assert check(fault, load, start(**settings)) == late


def test_a_server_that_is_killed_while_its_disk_fails_loses_nothing(fault, start):
    server = start(**fault.storage)
    load = Load(server.url, survives=True)
    with RunningLoad(load) as clients:
        clients.await_changes(20)
        fault.begin()
        await_true(lambda: load.refused >= REFUSED, lambda: load.statuses)
        server.kill()
    assert not load.faults, load.faults
    fault.end()
    # What was refused last may have been made.
    check(fault, load, start(**fault.storage))


def test_a_start_where_nothing_can_be_written_says_why_or_serves_what_can_be_read(
        disk, start, tmp_path):
    storage = databases.settings("sqlite", disk.directory)

    def refused(message):
        ended = run("serve", "--profile", "test", "--port", "0", directory=tmp_path, **storage)
        assert ended.returncode == 69 and message in ended.stderr, ended
        assert ended.stderr.count("\n") == 1 and not ended.stdout

    disk.make_read_only()
    refused(f"{disk.directory}/data cannot be made or opened: Read-only file system")
    disk.make_writable()
    disk.fill()
    refused("the disk that the database is on is full")
    disk.empty()
    server = start(**storage)
    box = Mailboxes(server.url).mailbox()
    server.kill()

    disk.make_read_only()
    refused(f"{disk.directory}/data/postern.db cannot be made or opened: Read-only file system")
    disk.make_writable()
    disk.fill()
    boxes = Mailboxes(start(**storage).url)
    assert boxes.get(box.id, box.token).status_code == 200
    failed(boxes.create(fresh()), 503, "server_busy")
    disk.empty()
    assert boxes.create(fresh()).status_code == 201


def log_of(server, level):
    return server.read_log().count(f'"level":"{level}"')


def check(fault, load, server):
    """What clients were told is what the server knows, and its record."""
    boxes = Mailboxes(server.url)
    late = {box.address: state_of(boxes, box) for box in load.told}
    check_events(databases.rows(fault.storage, EVENTS), load.told, late)
    return late
