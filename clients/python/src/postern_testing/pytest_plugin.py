"""Fixtures for pytest: one server for the session, emptied before each test that uses it."""

from __future__ import annotations

from typing import Dict, Iterator

import pytest

from .server import Postern, Setting


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("postern").addoption(
        "--postern-binary", metavar="PATH",
        help="the Postern that tests start (default: POSTERN_BINARY, or postern in PATH)")


@pytest.fixture(scope="session")
def postern_settings() -> Dict[str, Setting]:
    """The settings of the session's server. Define a fixture of this name in your conftest.py."""
    return {}


@pytest.fixture(scope="session")
def postern_server(
    request: pytest.FixtureRequest, postern_settings: Dict[str, Setting]
) -> Iterator[Postern]:
    """A server that runs as long as the session, with what earlier tests left in it."""
    with Postern(
        binary=request.config.getoption("--postern-binary"), settings=postern_settings
    ) as server:
        yield server


@pytest.fixture
def postern(postern_server: Postern) -> Postern:
    """The session's server, empty: without accounts, users, tokens, events and mail, at the
    system's time."""
    postern_server.reset()
    return postern_server
