-- The sessions of users, users without a password, and when an email was verified.
-- Never edited once released: a change is a new file with the next number.

-- An encoded Argon2id string: parameters, salt and tag. NULL for a user without a password.
ALTER TABLE user ADD COLUMN optional_hash TEXT;
UPDATE user SET optional_hash = password_hash;
ALTER TABLE user DROP COLUMN password_hash;
ALTER TABLE user RENAME COLUMN optional_hash TO password_hash;
-- When the user proved to receive mail at the email; NULL until then.
ALTER TABLE user ADD COLUMN email_verified INTEGER;

-- A Pro JWT is valid while the row with its `jti` is here. Those from before this table are not.
CREATE TABLE user_session (
    id            TEXT PRIMARY KEY NOT NULL,
    owner         TEXT NOT NULL REFERENCES user (id),
    created       INTEGER NOT NULL,
    -- Written at most once a minute.
    last_used     INTEGER NOT NULL,
    -- That of the Pro JWT.
    expiry        INTEGER NOT NULL,
    -- When the user last logged in with a credential.
    authenticated INTEGER NOT NULL,
    -- The credential: "password", "passkey", "registration" or "provider:<name>".
    method        TEXT NOT NULL,
    -- The client at the login as limits count it: an IPv4 address or an IPv6 /64.
    client        TEXT NOT NULL,
    -- Printable ASCII of the User-Agent field.
    agent         TEXT NOT NULL
) STRICT;

CREATE INDEX user_session_owner ON user_session (owner);
CREATE INDEX user_session_expiry ON user_session (expiry);
