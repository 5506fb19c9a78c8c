"""Rounds of `kill -9` under mixed load, on each engine: nothing that was acknowledged is lost, and
every event that was accepted is delivered. POSTERN_KILL_ROUNDS is the number of rounds."""

import collections
import os
import random

import databases
from accountload import EVENTS, check_events
from hooks import Owner
from mixedload import MixedLoad
from program import await_true
from receiver import SECRET, Receiver

ROUNDS = int(os.environ.get("POSTERN_KILL_ROUNDS", 3))
# Of the load before each kill.
SECONDS = 0.1, 1.2


def ids_by(events, key):
    """The different ids of the events of each subject or account."""
    found = collections.defaultdict(set)
    for event in events:
        found[key(event)].add(event["id"])
    return found


def test_rounds_of_kills_lose_nothing_that_was_acknowledged(
        start, storage, authority, receiver, tmp_path, report):
    services, with_smtp = f"unix:{tmp_path}/s", "POSTERN_STORAGE_URL" not in storage
    (tmp_path / "events.secret").write_text(SECRET)
    feed = Receiver().start()
    settings = {
        **storage, "POSTERN_SERVICES_LISTEN": services,
        "POSTERN_WEBHOOKS_CA_FILE": str(authority.file), "POSTERN_WEBHOOKS_TIMEOUT": "1s",
        "POSTERN_PROVISIONING_URL": feed.url,
        "POSTERN_PROVISIONING_SECRET_FILE": str(tmp_path / "events.secret")}
    servers = [start(**settings)]
    owner = Owner(servers[0].url, receiver)
    refused = set()

    def answer(event):
        """Refuses some, but none twice: the pauses between attempts become longer."""
        if event["id"] in refused or random.random() > 0.1:
            return 204
        refused.add(event["id"])
        return 503

    receiver.answer = feed.answer = answer
    loads, late = [], {}
    for _ in range(ROUNDS):
        loads.append(MixedLoad(servers[-1], services, owner.box.address))
        loads[-1].run(random.uniform(*SECONDS), with_smtp)
        servers.append(start(port=servers[-1].port, **settings))
        late |= loads[-1].check(servers[-1].url)

    # No later kill has changed what an earlier one left.
    assert late == {address: is_late for load in loads
                    for address, is_late in load.check(servers[-1].url).items()}
    told = [box for load in loads for box in load.told]
    sent = {subject for load in loads for subject in load.sent}
    accepted = {subject for load in loads for subject in load.accepted}
    changes = sum(load.changes for load in loads)
    assert changes >= 5 * ROUNDS and len(accepted) >= ROUNDS

    def delivered():
        return {event["data"]["subject"] for event in list(receiver.accepted)}

    await_true(lambda: accepted <= delivered(), lambda: accepted - delivered())
    assert delivered() <= sent and not receiver.forged and not feed.forged
    mails = ids_by(receiver.messages, lambda event: event["data"]["subject"])
    assert all(len(ids) == 1 for ids in mails.values())

    # The feed of account events has each change of an account once, too.
    wanted = {(kind, box.address) for box in told for kind, was in [
        ("account_created", box.created), ("account_deleted", box.deleted)] if was}

    def fed():
        return ids_by(list(feed.accepted), lambda event: (event["event"], event["address"]))

    await_true(lambda: wanted <= set(fed()), lambda: wanted - set(fed()))
    assert all(len(ids) == 1 for ids in fed().values())
    feed.stop()

    servers[-1].stop()
    for server in servers:
        log = server.read_log()
        assert '"level":"critical"' not in log and '"level":"error"' not in log, log
    check_events(databases.rows(storage, EVENTS), told, late)
    if with_smtp:
        assert databases.rows(storage, "PRAGMA integrity_check") == [("ok",)]
        assert databases.rows(storage, "PRAGMA foreign_key_check") == []
    for name, events in [("mail", receiver.accepted), ("account", feed.accepted)]:
        twice = len(events) - len({event["id"] for event in events})
        report(f"{len(events) - twice} {name} events delivered, {twice} of them twice")
    report(f"{ROUNDS} kills: {changes} changes and {len(accepted)} mails acknowledged, "
           f"{len(sent) - len(accepted)} mails without an answer, "
           f"{sum(late.values())} changes made without an answer, none lost")
