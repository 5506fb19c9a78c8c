-- Mailboxes, the addresses of deleted ones, spent challenges and signing keys.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE account (
    id                 TEXT PRIMARY KEY NOT NULL,
    address            TEXT NOT NULL UNIQUE,
    state              TEXT NOT NULL,
    -- SHA-256 of the API key; NULL where the account is opened by something else.
    api_key_digest     BLOB UNIQUE CHECK (length(api_key_digest) = 32),
    credential_version INTEGER NOT NULL,
    -- Instants are milliseconds since 1970 everywhere.
    created            INTEGER NOT NULL
) STRICT;

-- An address in here is not given out again until the operator frees it.
CREATE TABLE retired_address (
    address TEXT PRIMARY KEY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE spent_challenge (
    id     TEXT PRIMARY KEY NOT NULL,
    expiry INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX spent_challenge_expiry ON spent_challenge (expiry);

CREATE TABLE signing_key (
    id      TEXT PRIMARY KEY NOT NULL,
    use     TEXT NOT NULL,
    -- Sealed under the master secret.
    sealed  BLOB NOT NULL,
    created INTEGER NOT NULL,
    -- NULL while the key signs.
    retired INTEGER
) STRICT;

-- One key signs for each use.
CREATE UNIQUE INDEX signing_key_current ON signing_key (use) WHERE retired IS NULL;
