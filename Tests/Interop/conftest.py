"""Fixtures: the built program over a real socket."""

import itertools
import os
import pathlib
import signal

import pytest

import databases
from accessibility import violations
from agent import Agent
from hashhost import Authority, HashHost
from hooks import HookReceiver
from mailboxes import Mailboxes
from nameserver import NameServer
from program import Postern

# The slowest files begin first, so that no worker is left with one of them at the end.
SLOWEST = [
    f"test_{name}.py" for name in [
        "simulated_week", "fairness", "nodes", "provisioning", "postgres", "accounts_races",
        "package", "docs_fixtures", "testssl", "openapi", "hash_login_pages", "web_pages",
        "mail_pages", "dovecot", "key_export", "doctor", "cyrus", "smtp", "slow_clients",
        "durability", "limits"]]


# Servers of the tests reload on SIGHUP, also where nohup(1) runs the tests: a signal that is ignored
# stays ignored in child processes.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: (
        SLOWEST.index(item.path.name) if item.path.name in SLOWEST else len(SLOWEST)))


_names = itertools.count(1)


@pytest.fixture
def name():
    """A fresh username for each call."""
    return lambda: f"agent-{next(_names):04}"


@pytest.fixture(scope="session")
def names():
    """The name server of the tests, so that none asks one on the internet."""
    server = NameServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def postern(tmp_path_factory, names):
    """One server for all tests that do not stop it: database in memory, registration open."""
    server = Postern(
        tmp_path_factory.mktemp("postern"), POSTERN_USERS_REGISTRATION="open",
        POSTERN_DNS_SERVERS=names.address)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def serve(tmp_path_factory):
    """Starts servers for a module of tests, and stops them at its end."""
    started = []

    def serve(*flags, **settings):
        started.append(Postern(tmp_path_factory.mktemp("served"), *flags, **settings))
        return started[-1]

    yield serve
    for server in started:
        if server.running:
            server.stop()


@pytest.fixture
def report(capsys):
    """Prints a figure that depends on the machine, so that no test asserts it."""
    def report(text):
        with capsys.disabled():
            print(f"\n{text}")
    return report


@pytest.fixture
def start(tmp_path):
    """Starts servers for one test; those still running at its end are stopped."""
    started = []

    def start(*flags, **settings):
        started.append(Postern(tmp_path, *flags, **settings))
        return started[-1]

    yield start
    for server in started:
        if server.running:
            server.stop()


@pytest.fixture(params=["sqlite", "postgres"])
def storage(request, tmp_path):
    """The settings of a server with a database of its own, on each engine."""
    return databases.settings(request.param, tmp_path)


@pytest.fixture
def agent(postern):
    return Agent(postern.url)


@pytest.fixture
def boxes(postern):
    return Mailboxes(postern.url)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def host(authority):
    """A host that serves hashes at https://localhost."""
    host = HashHost(authority.context("localhost"))
    yield host
    host.close()


@pytest.fixture
def receiver(authority):
    """The receiver of one user's webhook."""
    receiver = HookReceiver(authority)
    yield receiver
    receiver.stop()


@pytest.fixture
def browser(chromium):
    """Fails when the console has said more than that requests were refused."""
    chromium.show(1280, 900, "light")
    yield chromium
    complaints = [entry for entry in chromium.log() if entry[0] != "network"]
    assert not complaints


@pytest.fixture
def look(browser, request):
    """Checks what every state of a page must have; PICTURES names a folder for screenshots."""
    def look(name):
        for width, scheme in [(1280, "light"), (320, "dark")]:
            browser.show(width, 900, scheme)
            if folder := os.environ.get("PICTURES"):
                browser.picture(pathlib.Path(folder) / f"{name}-{width}-{scheme}.png")
            wide, visible = browser.run(
                "return [document.documentElement.scrollWidth, innerWidth]")
            assert wide <= visible == width, f"{name} has to be scrolled sideways"
            assert not violations(browser)
        browser.show(1280, 900, "light")

    return look
