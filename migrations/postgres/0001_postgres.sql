-- All tables. The constraints and indexes are what the guarantees of the stores rest on.
-- Never edited once released: a change is a new file with the next number.
--
-- Texts are compared byte by byte (COLLATE "C"), so that the order of a list does not depend on
-- the locale of the server.

CREATE TABLE pro_user (
    id                 uuid PRIMARY KEY,
    email              text COLLATE "C" NOT NULL UNIQUE,
    state              text COLLATE "C" NOT NULL CHECK (state IN ('active', 'disabled')),
    -- An encoded Argon2id string: parameters, salt and tag.
    password_hash      text COLLATE "C" NOT NULL,
    credential_version bigint NOT NULL,
    created            timestamptz NOT NULL
);

-- A deleted account keeps its row, without its credential, until the operator frees the address:
-- so one constraint decides who gets an address, also while it is being deleted.
CREATE TABLE account (
    id                 uuid PRIMARY KEY,
    address            text COLLATE "C" NOT NULL CONSTRAINT account_address UNIQUE,
    domain             text COLLATE "C" NOT NULL
                       GENERATED ALWAYS AS (split_part(address, '@', 2)) STORED,
    state              text COLLATE "C" NOT NULL
                       CHECK (state IN ('active', 'disabled', 'deleted')),
    -- SHA-256 of the API key; NULL where the account is opened by a password.
    api_key_digest     bytea UNIQUE CHECK (octet_length(api_key_digest) = 32),
    password_hash      text COLLATE "C",
    credential_version bigint NOT NULL,
    -- NULL for agents and free accounts.
    owner              uuid REFERENCES pro_user (id),
    -- In bytes.
    quota              bigint NOT NULL,
    used               bigint NOT NULL,
    created            timestamptz NOT NULL,
    -- When the account was deleted.
    deleted            timestamptz,
    CHECK (num_nonnulls(api_key_digest, password_hash)
           = CASE WHEN state = 'deleted' THEN 0 ELSE 1 END)
);

-- The order in which an owner's accounts are listed.
CREATE INDEX account_owner ON account (owner, created, id)
    WHERE owner IS NOT NULL AND state <> 'deleted';
-- How many accounts an owner has deleted lately.
CREATE INDEX account_deleted ON account (owner, deleted)
    WHERE owner IS NOT NULL AND state = 'deleted';
-- Whether a domain is in use.
CREATE INDEX account_domain ON account (domain) WHERE state <> 'deleted';
-- On which domains agents have accounts.
CREATE INDEX account_agent_domain ON account (domain) WHERE api_key_digest IS NOT NULL;

-- Challenges that were spent and tokens that were ended, until they expire.
CREATE TABLE spent_challenge (
    id       text COLLATE "C" PRIMARY KEY,
    expiry   timestamptz NOT NULL,
    -- The write that inserted the row.
    write_id uuid NOT NULL
)
-- Every row is deleted minutes after it was inserted.
WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);

CREATE INDEX spent_challenge_expiry ON spent_challenge (expiry);

CREATE TABLE signing_key (
    id      text COLLATE "C" PRIMARY KEY,
    use     text COLLATE "C" NOT NULL,
    -- Sealed under the master secret.
    sealed  bytea NOT NULL,
    created timestamptz NOT NULL,
    -- NULL while the key signs.
    retired timestamptz
);

-- One key signs for each use.
CREATE UNIQUE INDEX signing_key_current ON signing_key (use) WHERE retired IS NULL;

CREATE FUNCTION announce_signing_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('postern_signing_keys', '');
    RETURN NULL;
END
$$;

CREATE TRIGGER signing_keys_changed AFTER INSERT OR UPDATE OR DELETE ON signing_key
    FOR EACH STATEMENT EXECUTE FUNCTION announce_signing_keys();

CREATE TABLE api_token (
    id        uuid PRIMARY KEY,
    owner     uuid NOT NULL REFERENCES pro_user (id),
    name      text COLLATE "C" NOT NULL,
    -- SHA-256 of the token.
    digest    bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    -- Names of scopes with spaces between them.
    scopes    text COLLATE "C" NOT NULL,
    created   timestamptz NOT NULL,
    expiry    timestamptz,
    last_used timestamptz,
    revoked   timestamptz
);

CREATE INDEX api_token_live ON api_token (owner, created, id) WHERE revoked IS NULL;
CREATE INDEX api_token_revoked ON api_token (owner, revoked, id) WHERE revoked IS NOT NULL;

-- A name is verified for one owner at most; until then any number of users may claim it.
CREATE TABLE domain (
    id            uuid PRIMARY KEY,
    name          text COLLATE "C" NOT NULL,
    -- NULL for the operator's, which are always verified.
    owner         uuid REFERENCES pro_user (id),
    pro_only      boolean NOT NULL,
    verification  text COLLATE "C" NOT NULL
                  CHECK (verification IN ('pending', 'verified', 'failed')),
    verify_token  text COLLATE "C" NOT NULL,
    verified      timestamptz,
    has_mx        boolean NOT NULL,
    created       timestamptz NOT NULL,
    -- When its TXT record is looked up again; NULL while it is not verified, and for domains that
    -- the operator vouches for.
    next_check    timestamptz,
    -- Since when looking it up has not found the record.
    missing_since timestamptz
);

CREATE UNIQUE INDEX domain_verified ON domain (name) WHERE verification = 'verified';
CREATE UNIQUE INDEX domain_claim ON domain (name, owner);
CREATE INDEX domain_page ON domain (name, id);
CREATE INDEX domain_owner ON domain (owner, created, id);
CREATE INDEX domain_check ON domain (next_check) WHERE next_check IS NOT NULL;

-- Emails whose owners log in against an Argon2 hash that they serve themselves.
CREATE TABLE hash_login (
    email              text COLLATE "C" PRIMARY KEY,
    -- Where the hash is served; the hash itself is never kept.
    url                text COLLATE "C" NOT NULL,
    credential_version bigint NOT NULL,
    created            timestamptz NOT NULL,
    -- A deleted registration keeps its version, so that tokens of it are not valid for the next.
    deleted            boolean NOT NULL DEFAULT false
);

CREATE TABLE audit (
    -- A number is not given out again. A transaction that is undone leaves a gap.
    sequence   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind       text COLLATE "C" NOT NULL,
    time       timestamptz NOT NULL,
    actor      text COLLATE "C" NOT NULL,
    subject    text COLLATE "C" NOT NULL,
    client     text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    -- The client as limits count it: an IPv4 address or an IPv6 /64.
    network    text COLLATE "C" NOT NULL,
    -- Minutes since 1970; NULL for a row that counts one event.
    minute     bigint,
    count      bigint NOT NULL DEFAULT 1,
    -- The write that made the change which the row records. A client that lost its connection
    -- while it waited for a commit finds the write by it, and cannot make it twice.
    write_id   uuid CONSTRAINT audit_write UNIQUE
);

-- Repeated failures are one row for each kind, subject, client network and minute.
CREATE UNIQUE INDEX audit_folded ON audit (subject, network, minute, kind)
    WHERE minute IS NOT NULL;
-- Which clients have logged in to what.
CREATE INDEX audit_login ON audit (subject, network, time) WHERE kind = 'login_succeeded';

CREATE FUNCTION protect_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.minute IS NULL OR NEW.count <> OLD.count + 1
        OR (NEW.sequence, NEW.kind, NEW.time, NEW.actor, NEW.subject, NEW.client, NEW.request_id,
            NEW.network, NEW.minute)
        IS DISTINCT FROM
           (OLD.sequence, OLD.kind, OLD.time, OLD.actor, OLD.subject, OLD.client, OLD.request_id,
            OLD.network, OLD.minute)
    THEN
        RAISE EXCEPTION 'the audit record is not changed' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
    FOR EACH ROW EXECUTE FUNCTION protect_audit();

CREATE FUNCTION protect_audit_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM audit WHERE sequence < (SELECT max(sequence) FROM removed)) THEN
        RAISE EXCEPTION 'the audit record is trimmed from its old end only'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER audit_is_trimmed_from_its_old_end AFTER DELETE ON audit
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION protect_audit_order();
