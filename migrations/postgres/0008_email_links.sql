-- Links that were sent to users, to verify an email or to set a new password.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE email_link (
    -- SHA-256 of the token in the link.
    digest  bytea PRIMARY KEY,
    owner   uuid NOT NULL REFERENCES pro_user (id),
    -- "email_verification", "password_reset" or "operator_reset".
    purpose text COLLATE "C" NOT NULL,
    expiry  timestamptz NOT NULL
);

CREATE INDEX email_link_owner ON email_link (owner);
CREATE INDEX email_link_expiry ON email_link (expiry);
