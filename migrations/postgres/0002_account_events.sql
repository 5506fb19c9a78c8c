-- The feed of changes of accounts, and what of it a receiver has accepted.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE account_event (
    -- Taken while the row of the account is locked, so the changes of one account are in this
    -- order. Those of several may be committed in another order.
    sequence  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The number in the feed. NULL until a transaction that follows the commit gives it, so that
    -- no event appears after one with a higher number.
    number    bigint,
    -- The write_id of the change.
    id        uuid NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    time      timestamptz NOT NULL,
    account   uuid NOT NULL,
    address   text COLLATE "C" NOT NULL,
    -- In bytes; NULL where it was not set.
    quota     bigint,
    -- When the receiver has accepted it.
    delivered timestamptz,
    -- How often it was taken to be sent.
    attempts  bigint NOT NULL DEFAULT 0,
    -- Not sent before this time.
    due       timestamptz NOT NULL DEFAULT 'epoch'
);

CREATE UNIQUE INDEX account_event_number ON account_event (number) WHERE number IS NOT NULL;
CREATE INDEX account_event_new ON account_event (sequence) WHERE number IS NULL;
CREATE INDEX account_event_due ON account_event (due, number)
    WHERE delivered IS NULL AND number IS NOT NULL;
-- Whether an earlier event of the address waits.
CREATE INDEX account_event_waiting ON account_event (address, number)
    WHERE delivered IS NULL AND number IS NOT NULL;

-- One row. Whoever gives numbers locks it.
CREATE TABLE account_feed (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    last_number bigint NOT NULL
);

INSERT INTO account_feed (last_number) VALUES (0);
