"""The databases of both engines: how a server opens one, and what is in it."""

import pathlib
import sqlite3

from postgres import TestDatabase, psql


def settings(engine, directory):
    """Of a server on a new database."""
    shared = {"POSTERN_USERS_REGISTRATION": "open",
              "POSTERN_STORAGE_DIRECTORY": str(directory / "data"),
              "POSTERN_SERVER_PUBLIC_URL": "https://auth.mail.test"}
    if engine == "postgres":
        key = directory / "master.secret"
        key.write_bytes(bytes(range(32)))
        key.chmod(0o600)
        shared |= {"POSTERN_STORAGE_URL": TestDatabase().url,
                   "POSTERN_MASTER_SECRET_FILE": str(key)}
    return shared


def rows(settings, query):
    """What a query finds in the database of these settings. PostgreSQL's values are texts."""
    if url := settings.get("POSTERN_STORAGE_URL"):
        return [line.split("|") for line in psql(url, query).splitlines()]
    path = pathlib.Path(settings["POSTERN_STORAGE_DIRECTORY"]) / "postern.db"
    with sqlite3.connect(path) as database:
        return database.execute(query).fetchall()
