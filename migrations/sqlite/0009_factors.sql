-- Passkeys, one-time codes and recovery codes of users.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE passkey (
    id              TEXT PRIMARY KEY NOT NULL,
    owner           TEXT NOT NULL REFERENCES user (id),
    name            TEXT NOT NULL,
    -- The credential's id, chosen by the authenticator.
    credential      BLOB NOT NULL UNIQUE,
    -- SubjectPublicKeyInfo as PEM.
    public_key      TEXT NOT NULL,
    -- That of the last use; 0 while the authenticator does not count.
    signature_count INTEGER NOT NULL,
    -- Whether it can be on several devices.
    is_synced       INTEGER NOT NULL,
    created         INTEGER NOT NULL,
    last_used       INTEGER
) STRICT;

CREATE INDEX passkey_owner ON passkey (owner, created);

CREATE TABLE totp (
    owner         TEXT PRIMARY KEY NOT NULL REFERENCES user (id),
    -- Sealed under the master secret.
    secret        BLOB NOT NULL,
    -- The step of the last code that was accepted.
    last_step     INTEGER NOT NULL,
    -- When all wrong codes are forgotten.
    guesses_until INTEGER NOT NULL,
    created       INTEGER NOT NULL
) STRICT;

CREATE TABLE recovery_code (
    -- SHA-256 of the code.
    digest BLOB PRIMARY KEY NOT NULL,
    owner  TEXT NOT NULL REFERENCES user (id)
) STRICT;

CREATE INDEX recovery_code_owner ON recovery_code (owner);
