-- What limits abuse needs to know.
-- Never edited once released: a change is a new file with the next number.

-- Repeated failures are one row for each kind, subject, client network and minute.
ALTER TABLE audit ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
-- The client as limits count it: an IPv4 address or an IPv6 /64. Empty for the operator's own
-- commands, and for rows from before this column.
ALTER TABLE audit ADD COLUMN network TEXT NOT NULL DEFAULT '';
-- Minutes since 1970; NULL for a row that counts one event.
ALTER TABLE audit ADD COLUMN minute INTEGER;

CREATE UNIQUE INDEX audit_folded ON audit (subject, network, minute, kind)
    WHERE minute IS NOT NULL;
-- Which clients have logged in to what.
CREATE INDEX audit_login ON audit (subject, network, time) WHERE kind = 'login_succeeded';

DROP TRIGGER audit_is_not_changed;

CREATE TRIGGER audit_is_not_changed
BEFORE UPDATE OF sequence, kind, time, actor, subject, client, request_id, network, minute ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit record is not changed');
END;

CREATE TRIGGER audit_is_counted_upwards BEFORE UPDATE OF count ON audit
WHEN OLD.minute IS NULL OR NEW.count <> OLD.count + 1
BEGIN
    SELECT RAISE(ABORT, 'the audit record is not changed');
END;

-- A name is verified for one owner at most; until then any number of users may claim it.
CREATE TABLE new_domain (
    id            TEXT PRIMARY KEY NOT NULL,
    name          TEXT NOT NULL,
    -- NULL for the operator's, which are always verified.
    owner         TEXT REFERENCES user (id),
    pro_only      INTEGER NOT NULL CHECK (pro_only IN (0, 1)),
    verification  TEXT NOT NULL,
    verify_token  TEXT NOT NULL,
    verified      INTEGER,
    has_mx        INTEGER NOT NULL CHECK (has_mx IN (0, 1)),
    created       INTEGER NOT NULL,
    -- When its TXT record is looked up again; NULL while it is not verified, and for domains that
    -- the operator vouches for.
    next_check    INTEGER,
    -- Since when looking it up has not found the record.
    missing_since INTEGER
) STRICT;

-- A domain that a user proved has an event that says so; the others were added by the operator.
INSERT INTO new_domain
SELECT id, name, owner, pro_only, verification, verify_token, verified, has_mx, created,
    CASE
        WHEN owner IS NOT NULL AND verification = 'verified'
            AND name IN (SELECT subject FROM audit WHERE kind = 'domain_verified') THEN 0
    END,
    NULL
FROM domain;

DROP TABLE domain;
ALTER TABLE new_domain RENAME TO domain;

CREATE UNIQUE INDEX domain_verified ON domain (name) WHERE verification = 'verified';
CREATE UNIQUE INDEX domain_claim ON domain (name, owner);
CREATE INDEX domain_owner ON domain (owner, created, id);
CREATE INDEX domain_check ON domain (next_check) WHERE next_check IS NOT NULL;

-- Who owned a deleted account, and when it was deleted; NULL for accounts without an owner.
ALTER TABLE retired_address ADD COLUMN owner TEXT;
ALTER TABLE retired_address ADD COLUMN retired INTEGER;

CREATE INDEX retired_address_owner ON retired_address (owner, retired) WHERE owner IS NOT NULL;

-- On which domains agents have accounts.
CREATE INDEX account_agent_domain ON account (domain) WHERE api_key_digest IS NOT NULL;

-- A deleted registration keeps its version, so that tokens of it are not valid for the next one.
ALTER TABLE hash_login ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1));
