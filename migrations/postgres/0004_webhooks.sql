-- The webhooks of users, the events that wait to be sent to them, and the last attempts.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE webhook (
    id             uuid PRIMARY KEY,
    -- A user has one.
    owner          uuid NOT NULL UNIQUE REFERENCES pro_user (id),
    url            text COLLATE "C" NOT NULL,
    -- Names of kinds of events with spaces between them.
    events         text COLLATE "C" NOT NULL,
    -- Sealed under the master secret.
    secret         bytea NOT NULL,
    status         text COLLATE "C" NOT NULL CHECK (status IN ('active', 'disabled')),
    -- Events in a row that have failed.
    failures       bigint NOT NULL,
    last_triggered timestamptz,
    created        timestamptz NOT NULL,
    -- When the next event is due; NULL where none waits. While a server is sending an event: the
    -- time at which it has failed to say what became of it.
    due            timestamptz,
    -- Whether a server is sending an event.
    is_sending     boolean NOT NULL DEFAULT false,
    -- Whether the last attempt failed or took long.
    is_slow     boolean NOT NULL DEFAULT false
);

CREATE INDEX webhook_due ON webhook (is_slow, due) WHERE due IS NOT NULL;

CREATE TABLE webhook_event (
    number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Also finds the write that has added it.
    id       text COLLATE "C" NOT NULL UNIQUE,
    webhook  uuid NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    kind     text COLLATE "C" NOT NULL,
    -- The JSON text that is sent.
    body     bytea NOT NULL,
    created  timestamptz NOT NULL,
    -- How often it was taken to be sent.
    attempts bigint NOT NULL DEFAULT 0,
    -- Not sent before this time.
    due      timestamptz NOT NULL
);

CREATE INDEX webhook_event_due ON webhook_event (webhook, due, number);

CREATE TABLE webhook_attempt (
    number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id       uuid NOT NULL UNIQUE,
    webhook  uuid NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    event    text COLLATE "C" NOT NULL,
    kind     text COLLATE "C" NOT NULL,
    -- Of the response; NULL without one.
    status   bigint,
    -- NULL where the event was accepted.
    error    text COLLATE "C",
    attempt  bigint NOT NULL,
    -- In milliseconds.
    duration bigint NOT NULL,
    time     timestamptz NOT NULL
);

CREATE INDEX webhook_attempt_of ON webhook_attempt (webhook, number);
