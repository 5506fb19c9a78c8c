-- The webhooks of users, the events that wait to be sent to them, and the last attempts.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE webhook (
    id             TEXT PRIMARY KEY NOT NULL,
    -- A user has one.
    owner          TEXT NOT NULL UNIQUE REFERENCES user (id),
    url            TEXT NOT NULL,
    -- Names of kinds of events with spaces between them.
    events         TEXT NOT NULL,
    -- Sealed under the master secret.
    secret         BLOB NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
    -- Events in a row that have failed.
    failures       INTEGER NOT NULL,
    last_triggered INTEGER,
    created        INTEGER NOT NULL,
    -- When the next event is due; NULL where none waits. While a server is sending an event: the
    -- time at which it has failed to say what became of it.
    due            INTEGER,
    -- Whether a server is sending an event.
    is_sending     INTEGER NOT NULL DEFAULT 0,
    -- Whether the last attempt failed or took long.
    is_slow     INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX webhook_due ON webhook (is_slow, due) WHERE due IS NOT NULL;

CREATE TABLE webhook_event (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    id       TEXT NOT NULL,
    webhook  TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    kind     TEXT NOT NULL,
    -- The JSON text that is sent.
    body     BLOB NOT NULL,
    created  INTEGER NOT NULL,
    -- How often it was taken to be sent.
    attempts INTEGER NOT NULL DEFAULT 0,
    -- Not sent before this time.
    due      INTEGER NOT NULL
) STRICT;

CREATE INDEX webhook_event_due ON webhook_event (webhook, due, number);

CREATE TABLE webhook_attempt (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    id       TEXT NOT NULL,
    webhook  TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    event    TEXT NOT NULL,
    kind     TEXT NOT NULL,
    -- Of the response; NULL without one.
    status   INTEGER,
    -- NULL where the event was accepted.
    error    TEXT,
    attempt  INTEGER NOT NULL,
    -- In milliseconds.
    duration INTEGER NOT NULL,
    time     INTEGER NOT NULL
) STRICT;

CREATE INDEX webhook_attempt_of ON webhook_attempt (webhook, number);
