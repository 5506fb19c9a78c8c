"""A database from before sessions, passkeys, one-time codes, providers and mail: upgraded with its
rows, and brought back by a backup, as docs/operators.md describes."""

import hashlib
import re
import shutil
import sqlite3
import subprocess
import time

import pytest

import totp
from agent import Agent, bearer
from mailboxes import Mailboxes, failed
from postgres import TestDatabase, psql
from program import ROOT, done, run

SETTINGS = {"POSTERN_USERS_REGISTRATION": "open", "POSTERN_SERVER_PUBLIC_URL": "https://auth.mail.test"}
# What the earlier schema had, each table after those that it names.
TABLES = ["user", "account", "api_token", "signing_key", "audit"]


def migrations(engine, last):
    """The scripts up to a number, each with its number, name and checksum."""
    for path in sorted((ROOT / "migrations" / engine).glob("*.sql"))[:last]:
        number, _, name = path.stem.partition("_")
        yield path.read_text(), int(number), name, hashlib.sha256(path.read_bytes()).hexdigest()


class SQLite:
    """A database in a file."""

    last, newest = 7, 11

    def __init__(self, directory):
        self.directory = directory / "data"
        self.path = self.directory / "postern.db"
        self.copy = directory / "before.db"
        self.settings = SETTINGS

    def turn_back(self):
        """Moves the rows to the earlier schema, with the columns that this one has."""
        present = self.path.rename(self.directory / "present.db")
        with sqlite3.connect(self.path) as old:
            old.executescript("""
                PRAGMA application_id = 0x5073746e;
                CREATE TABLE schema_migration (
                    number INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, checksum TEXT NOT NULL,
                    applied_at INTEGER NOT NULL
                ) STRICT""")
            for script, *row in migrations("sqlite", self.last):
                old.executescript(script)
                old.execute("INSERT INTO schema_migration VALUES (?, ?, ?, 0)", row)
            old.execute("ATTACH ? AS present", [str(present)])
            for table in TABLES:
                # 0 is a column that is not generated.
                names = ", ".join(
                    row[1] for row in old.execute(f"PRAGMA main.table_xinfo({table})") if row[6] == 0)
                old.execute(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM present.{table}")
        old.close()
        present.unlink()

    def version(self):
        with sqlite3.connect(self.path) as database:
            [version] = database.execute("SELECT max(number) FROM schema_migration").fetchone()
        database.close()
        return version

    def content(self):
        with sqlite3.connect(self.path) as database:
            content = list(database.iterdump())
        database.close()
        return content

    def backup(self):
        made = run("backup", self.copy, "--profile", "test", "--data", self.directory, directory=self.directory)
        assert made.returncode == 0, made.stderr

    def restore(self):
        self.path.unlink()
        shutil.copy(self.copy, self.path)


class Postgres:
    """A database on the server of the tests."""

    last, newest = 4, 8

    def __init__(self, directory):
        self.directory = directory / "data"
        self.file = directory / "postern.dump"
        self.use(TestDatabase())

    def use(self, database):
        self.database = database
        self.settings = {**SETTINGS, "POSTERN_STORAGE_URL": database.url}

    def turn_back(self):
        present = self.database
        self.use(TestDatabase())
        self.database.query("""
            CREATE TABLE postern_migration (
                number bigint PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
                applied_at timestamptz NOT NULL
            )""")
        for script, number, name, checksum in migrations("postgres", self.last):
            self.database.query(f"""
                BEGIN; {script};
                INSERT INTO postern_migration VALUES ({number}, '{name}', '{checksum}', 'epoch'); COMMIT""")
        for table in ["pro_user" if table == "user" else table for table in TABLES]:
            # Triggers count the accounts of a user.
            names = self.database.query(f"""
                SELECT string_agg(column_name, ', ' ORDER BY ordinal_position) FROM information_schema.columns
                WHERE table_name = '{table}' AND is_generated = 'NEVER' AND column_name <> 'accounts'""")
            rows = done("psql", present.url, "--no-psqlrc", "--command", f"COPY {table} ({names}) TO STDOUT")
            self.database.query(f"COPY {table} ({names}) FROM STDIN;\n{rows}\\.\n")
        self.database.query("SELECT setval(pg_get_serial_sequence('audit', 'sequence'), max(sequence)) FROM audit")

    def version(self):
        return int(self.database.query("SELECT max(number) FROM postern_migration"))

    def content(self):
        lines = done("pg_dump", "--inserts", "--no-owner", self.database.url).splitlines()
        # Newer clients write a random word into these two.
        return [line for line in lines if not re.match(r"\\(un)?restrict ", line)]

    def backup(self):
        done("pg_dump", "--format=custom", f"--file={self.file}", self.database.url)

    def restore(self):
        psql(self.database.server, f"DROP DATABASE {self.database.name}; CREATE DATABASE {self.database.name}")
        done("pg_restore", f"--dbname={self.database.url}", "--no-owner", str(self.file))


def log_in(boxes, user):
    return boxes.call("POST", "/api/user/login", None, {"email": user.email, "password": user.password})


@pytest.mark.parametrize("engine", [SQLite, Postgres])
def test_users_of_the_earlier_schema_log_in_and_a_backup_brings_it_back(engine, start, tmp_path):
    database = engine(tmp_path)
    flags = ["--data", str(database.directory)]
    server = start(*flags, **database.settings)
    boxes = Mailboxes(server.url)
    user = boxes.user()
    api_token = boxes.api_token(user)["token"]
    box = boxes.mailbox(user.token)
    signup = Agent(server.url).session(username="before")
    server.stop()
    database.turn_back()
    assert database.version() == database.last
    before = database.content()
    database.backup()

    server = start(*flags, **database.settings)
    assert database.version() == database.newest
    boxes = Mailboxes(server.url)
    # The earlier schema had no sessions.
    failed(boxes.call("GET", "/api/user/me", user.token), 401, "invalid_or_expired_token")
    assert boxes.get(box.id, api_token).status_code == 200
    assert boxes.login(box.address).status_code == 200
    agent = Agent(server.url)
    assert agent.capability(bearer(signup)).status_code == 200
    assert agent.session(apiKey=signup.json()["apiKey"]).status_code == 200
    answer = log_in(boxes, user)
    assert answer.status_code == 200, answer.text
    shown = boxes.call("GET", "/api/user/me", answer.json()["token"]).json()
    assert shown["email"] == user.email and not shown["email_verified"]
    totp.enable(boxes, answer.json()["token"], time.time())
    failed(log_in(boxes, user), 401, "second_factor_required")
    later = boxes.user()
    linked = run(
        "user", "reset-link", later.email, *flags, "--profile", "test", directory=tmp_path, **database.settings)
    assert linked.returncode == 0, linked.stderr
    server.stop()

    database.restore()
    assert database.version() == database.last
    assert database.content() == before
    boxes = Mailboxes(start(*flags, **database.settings).url)
    assert log_in(boxes, user).status_code == 200
    failed(log_in(boxes, later), 401, "invalid_credentials")
