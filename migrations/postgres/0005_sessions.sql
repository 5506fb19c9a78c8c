-- The sessions of users, users without a password, and when an email was verified.
-- Never edited once released: a change is a new file with the next number.

-- NULL for a user without a password.
ALTER TABLE pro_user ALTER COLUMN password_hash DROP NOT NULL;
-- When the user proved to receive mail at the email; NULL until then.
ALTER TABLE pro_user ADD COLUMN email_verified timestamptz;

-- A Pro JWT is valid while the row with its `jti` is here. Those from before this table are not.
-- No index has the column `last_used`, and pages have space for new versions of their rows.
CREATE TABLE user_session (
    id            uuid PRIMARY KEY,
    owner         uuid NOT NULL REFERENCES pro_user (id),
    created       timestamptz NOT NULL,
    -- Written at most once a minute.
    last_used     timestamptz NOT NULL,
    -- That of the Pro JWT.
    expiry        timestamptz NOT NULL,
    -- When the user last logged in with a credential.
    authenticated timestamptz NOT NULL,
    -- The credential: "password", "passkey", "registration" or "provider:<name>".
    method        text COLLATE "C" NOT NULL,
    -- The client at the login as limits count it: an IPv4 address or an IPv6 /64.
    client        text COLLATE "C" NOT NULL,
    -- Printable ASCII of the User-Agent field.
    agent         text COLLATE "C" NOT NULL
) WITH (fillfactor = 80);

CREATE INDEX user_session_owner ON user_session (owner);
CREATE INDEX user_session_expiry ON user_session (expiry);
