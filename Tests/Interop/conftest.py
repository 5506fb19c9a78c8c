"""Everything here runs against the built program over a real socket."""

import itertools

import pytest

from agent import Agent
from program import Postern

_names = itertools.count(1)


@pytest.fixture
def name():
    """A fresh username for each call."""
    return lambda: f"agent-{next(_names):04}"


@pytest.fixture(scope="session")
def postern(tmp_path_factory):
    """One server for all tests that do not stop it, on a database in memory."""
    server = Postern(tmp_path_factory.mktemp("postern"))
    yield server
    server.stop()


@pytest.fixture
def start(tmp_path):
    """Starts servers of a test's own; those still running at its end are stopped."""
    started = []

    def start(*flags, **settings):
        started.append(Postern(tmp_path, *flags, **settings))
        return started[-1]

    yield start
    for server in started:
        if server.running:
            server.stop()


@pytest.fixture
def agent(postern):
    return Agent(postern.url)
