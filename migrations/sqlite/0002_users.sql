-- Pro users, what belongs to them, passwords of mailboxes, and the record of credential events.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE user (
    id                 TEXT PRIMARY KEY NOT NULL,
    email              TEXT NOT NULL UNIQUE,
    state              TEXT NOT NULL,
    -- An encoded Argon2id string: parameters, salt and tag.
    password_hash      TEXT NOT NULL,
    credential_version INTEGER NOT NULL,
    created            INTEGER NOT NULL
) STRICT;

-- An account is opened by an API key or by a password.
ALTER TABLE account ADD COLUMN password_hash TEXT
    CHECK ((password_hash IS NULL) <> (api_key_digest IS NULL));
-- NULL for agents and free accounts.
ALTER TABLE account ADD COLUMN owner TEXT REFERENCES user (id);
-- In bytes. Accounts from before quotas get what a free account has.
ALTER TABLE account ADD COLUMN quota INTEGER NOT NULL DEFAULT 41943040;
ALTER TABLE account ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN domain TEXT
    GENERATED ALWAYS AS (substr(address, instr(address, '@') + 1)) VIRTUAL;

-- Whether a domain is in use.
CREATE INDEX account_domain ON account (domain);
-- The order in which an owner's accounts are listed.
CREATE INDEX account_owner ON account (owner, created, id) WHERE owner IS NOT NULL;

CREATE TABLE api_token (
    id        TEXT PRIMARY KEY NOT NULL,
    owner     TEXT NOT NULL REFERENCES user (id),
    name      TEXT NOT NULL,
    -- SHA-256 of the token.
    digest    BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    created   INTEGER NOT NULL,
    expiry    INTEGER,
    last_used INTEGER,
    revoked   INTEGER
) STRICT;

CREATE INDEX api_token_live ON api_token (owner, created, id) WHERE revoked IS NULL;
CREATE INDEX api_token_revoked ON api_token (owner, revoked, id) WHERE revoked IS NOT NULL;

CREATE TABLE domain (
    id           TEXT PRIMARY KEY NOT NULL,
    name         TEXT NOT NULL UNIQUE,
    -- NULL for the operator's.
    owner        TEXT REFERENCES user (id),
    pro_only     INTEGER NOT NULL CHECK (pro_only IN (0, 1)),
    verification TEXT NOT NULL,
    verify_token TEXT NOT NULL,
    verified     INTEGER,
    has_mx       INTEGER NOT NULL CHECK (has_mx IN (0, 1)),
    created      INTEGER NOT NULL
) STRICT;

CREATE INDEX domain_owner ON domain (owner, created, id);

CREATE TABLE audit (
    -- AUTOINCREMENT: a number is not given out again when the record is trimmed to nothing.
    sequence   INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT NOT NULL,
    time       INTEGER NOT NULL,
    actor      TEXT NOT NULL,
    subject    TEXT NOT NULL,
    client     TEXT NOT NULL,
    request_id TEXT NOT NULL
) STRICT;

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit record is not changed');
END;

-- So a gap in the numbers can only be at the old end.
CREATE TRIGGER audit_is_trimmed_from_its_old_end BEFORE DELETE ON audit
WHEN OLD.sequence <> (SELECT min(sequence) FROM audit)
BEGIN
    SELECT RAISE(ABORT, 'the audit record is trimmed from its old end only');
END;
