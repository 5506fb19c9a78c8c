"""Accounts and SIGKILL: what was acknowledged is there, what was deleted stays away, and the
record of events has each of them once."""

import concurrent.futures
import random
import sqlite3

from accountload import EVENTS, Load, check_events, state_of
from mailboxes import Mailboxes, failed, fresh

CLIENTS = 4
KILLS = 4
# How many changes are acknowledged before each kill; it comes in the middle of others.
CHANGES = range(10, 30)


def load_and_kill(server):
    load = Load(server.url, wanted=random.choice(CHANGES))
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        for _ in range(CLIENTS):
            pool.submit(load.work)
        assert load.enough.wait(60)
        server.kill()
    assert not load.faults, load.faults
    return load.told


def test_nothing_acknowledged_is_lost_and_nothing_deleted_comes_back(start, tmp_path):
    data = str(tmp_path / "data")
    server, told = start("--data", data), []
    for _ in range(KILLS):
        told += load_and_kill(server)
        server = start("--data", data, port=server.port)

    boxes = Mailboxes(server.url)
    late = {box.address: state_of(boxes, box) for box in told}
    assert sum(box.created for box in told) >= KILLS * 3
    assert any(box.resets for box in told) and any(box.deleted for box in told)
    server.stop()

    with sqlite3.connect(tmp_path / "data" / "postern.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        check_events(database.execute(EVENTS), told, late)


def test_a_challenge_spent_before_the_kill_stays_spent(start, tmp_path):
    server = start("--data", str(tmp_path / "data"))
    boxes = Mailboxes(server.url)
    spent, unspent = boxes.proof(), boxes.proof()
    assert boxes.create(fresh(), pow=spent).status_code == 201
    server.kill()
    boxes = Mailboxes(start("--data", str(tmp_path / "data"), port=server.port).url)
    failed(boxes.create(fresh(), pow=spent), 403, "challenge not found or expired")
    assert boxes.create(fresh(), pow=unspent).status_code == 201


def test_every_credential_event_is_recorded_once_with_who_and_from_where(start, tmp_path):
    server = start("--data", str(tmp_path / "data"), POSTERN_USERS_REGISTRATION="open")
    boxes = Mailboxes(server.url)
    user = boxes.user()
    api = boxes.api_token(user)
    box = boxes.mailbox(api["token"])
    free = boxes.mailbox()
    boxes.login(free.address)
    boxes.login(free.address, "a wrong one")
    reset = boxes.reset(free.id, free.token, "another one")
    boxes.delete(box.id, api["token"])
    boxes.call("DELETE", f"/api/user/tokens/{api['id']}", user.token)
    domain = boxes.call("POST", "/api/user/domains", user.token, {"domain": "example.net"}).json()
    boxes.call("DELETE", f"/api/user/domains/{domain['id']}", user.token)
    boxes.call("POST", "/api/user/logout", user.token)
    # Refused, so nothing happened.
    boxes.reset(free.id, free.token, "too late")
    boxes.delete(free.id, free.token)
    server.stop()

    with sqlite3.connect(tmp_path / "data" / "postern.db") as database:
        found = database.execute(
            "SELECT kind, actor, subject FROM audit WHERE actor <> 'operator' ORDER BY sequence"
        ).fetchall()
        clients = database.execute(
            "SELECT DISTINCT client FROM audit WHERE client <> ''").fetchall()
        everything = str(database.execute("SELECT * FROM audit").fetchall())
    pro, own = f"user:{user.id}", f"account:{free.id}"
    assert found == [
        ("user_created", found[0][1], user.email), ("token_created", pro, api["id"]),
        ("account_created", pro, box.address), ("account_created", own, free.address),
        ("login_succeeded", own, free.address), ("login_failed", "anonymous", free.address),
        ("credential_reset", own, free.address), ("account_deleted", pro, box.address),
        ("token_revoked", pro, api["id"]), ("domain_added", pro, "example.net"),
        ("domain_removed", pro, "example.net"), ("user_logged_out", pro, user.email),
    ]
    assert clients == [("127.0.0.1",)]
    assert reset.headers["X-Request-Id"] in everything
    for secret in [api["token"], user.token, free.token, "another one", "a wrong one"]:
        assert secret not in everything
