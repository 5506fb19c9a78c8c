-- The feed of changes of accounts, and what of it a receiver has accepted.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE account_event (
    -- AUTOINCREMENT: a number is not given out again when all events are removed.
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    id        TEXT NOT NULL,
    kind      TEXT NOT NULL,
    time      INTEGER NOT NULL,
    account   TEXT NOT NULL,
    address   TEXT NOT NULL,
    -- In bytes; NULL where it was not set.
    quota     INTEGER,
    -- When the receiver has accepted it.
    delivered INTEGER,
    -- How often it was taken to be sent.
    attempts  INTEGER NOT NULL DEFAULT 0,
    -- Not sent before this time.
    due       INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX account_event_due ON account_event (due, number) WHERE delivered IS NULL;
-- Whether an earlier event of the address waits.
CREATE INDEX account_event_waiting ON account_event (address, number) WHERE delivered IS NULL;

-- The account that had the address. For one that was deleted before this migration it is not
-- known, so its address gets an id of its own.
ALTER TABLE retired_address ADD COLUMN account TEXT NOT NULL DEFAULT '';
UPDATE retired_address SET account = lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-8'
    || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)));
