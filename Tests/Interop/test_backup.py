"""A backup of a database in use, restored as docs/operators.md describes."""

import shutil
import stat
import threading

from agent import Agent, bearer
from program import run


def words(data):
    return ["--profile", "test", "--data", data]


def test_a_backup_of_a_busy_server_is_restored_to_what_it_was(start, tmp_path):
    data, copy = tmp_path / "data", tmp_path / "copy.db"
    public = {"POSTERN_SERVER_PUBLIC_URL": "https://auth.mail.test"}
    server = start("--data", str(data), **public)
    agent = Agent(server.url)
    signup = agent.session(username="before")
    enough = threading.Event()

    def keep_writing():
        writer, number = Agent(server.url), 0
        while not enough.is_set():
            writer.session(username=f"meanwhile-{number}")
            number += 1

    writing = threading.Thread(target=keep_writing)
    writing.start()
    try:
        made = run("backup", copy, *words(data), directory=tmp_path)
    finally:
        enough.set()
        writing.join()
    assert made.returncode == 0, made.stderr
    assert "the master secret is not in it" in made.stdout
    assert str(data / "master.secret") in made.stdout
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert (data / "master.secret").read_bytes() not in copy.read_bytes()
    # The copy is one file: nothing else has to be kept with it.
    assert {path.name for path in tmp_path.glob("copy*")} == {"copy.db"}
    assert agent.session(username="after").status_code == 201
    server.stop()

    restored = tmp_path / "restored"
    restored.mkdir(mode=0o700)
    shutil.copy(copy, restored / "postern.db")
    shutil.copy(data / "master.secret", restored)
    server = start("--data", str(restored), **public)
    agent = Agent(server.url)
    # The same keys: earlier tokens and the API key are accepted.
    assert agent.capability(bearer(signup)).status_code == 200
    assert agent.session(apiKey=signup.json()["apiKey"]).status_code == 200
    listed = run("account", "list", *words(restored), directory=tmp_path).stdout
    assert "before@mail.test" in listed and "after@mail.test" not in listed


def test_a_backup_overwrites_nothing(start, tmp_path):
    data, copy = tmp_path / "data", tmp_path / "copy.db"
    start("--data", str(data))
    copy.write_text("mine")
    refused = run("backup", copy, *words(data), directory=tmp_path)
    assert refused.returncode == 1 and "is not overwritten" in refused.stderr
    assert copy.read_text() == "mine"
    nowhere = run("backup", tmp_path / "none" / "copy.db", *words(data), directory=tmp_path)
    assert nowhere.returncode == 1
    assert nowhere.stderr == f"{tmp_path}/none/copy.db cannot be made: No such file or directory\n"
