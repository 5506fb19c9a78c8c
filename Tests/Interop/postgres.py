"""A database on the PostgreSQL server of the tests (.ci/with-postgres), through its own client."""

import itertools
import os
import subprocess

MISSING = (
    "TEST_POSTGRES is not set: run the tests with `make test`, or under .ci/with-postgres, which starts a server for them")
_numbers = itertools.count(1)


def psql(url, script):
    """The rows that a script returns, with | between columns."""
    result = subprocess.run(
        ["psql", url, "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1"],
        input=script, text=True, capture_output=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


class TestDatabase:
    """A new, empty database."""

    __test__ = False

    def __init__(self):
        self.server = os.environ.get("TEST_POSTGRES")
        assert self.server, MISSING
        self.name = f"interop_{os.getpid()}_{next(_numbers)}"
        psql(self.server, f"CREATE DATABASE {self.name}")
        self.url = self.server.replace("/postgres?", f"/{self.name}?", 1)

    def query(self, script):
        return psql(self.url, script)

    def stop(self):
        """Ends every connection, and lets nobody connect."""
        psql(self.server, f"""
            ALTER DATABASE {self.name} ALLOW_CONNECTIONS false;
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{self.name}'""")

    def start(self):
        psql(self.server, f"ALTER DATABASE {self.name} ALLOW_CONNECTIONS true")
