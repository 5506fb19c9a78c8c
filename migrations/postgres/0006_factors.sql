-- Passkeys, one-time codes and recovery codes of users.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE passkey (
    id              uuid PRIMARY KEY,
    owner           uuid NOT NULL REFERENCES pro_user (id),
    name            text COLLATE "C" NOT NULL,
    -- The credential's id, chosen by the authenticator.
    credential      bytea NOT NULL UNIQUE,
    -- SubjectPublicKeyInfo as PEM.
    public_key      text COLLATE "C" NOT NULL,
    -- That of the last use; 0 while the authenticator does not count.
    signature_count bigint NOT NULL,
    -- Whether it can be on several devices.
    is_synced       boolean NOT NULL,
    created         timestamptz NOT NULL,
    last_used       timestamptz
);

CREATE INDEX passkey_owner ON passkey (owner, created);

CREATE TABLE totp (
    owner         uuid PRIMARY KEY REFERENCES pro_user (id),
    -- Sealed under the master secret.
    secret        bytea NOT NULL,
    -- The step of the last code that was accepted.
    last_step     bigint NOT NULL,
    -- When all wrong codes are forgotten.
    guesses_until timestamptz NOT NULL,
    created       timestamptz NOT NULL
);

CREATE TABLE recovery_code (
    -- SHA-256 of the code.
    digest bytea PRIMARY KEY,
    owner  uuid NOT NULL REFERENCES pro_user (id)
);

CREATE INDEX recovery_code_owner ON recovery_code (owner);
