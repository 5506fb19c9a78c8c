-- Links that were sent to users, to verify an email or to set a new password.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE email_link (
    -- SHA-256 of the token in the link.
    digest  BLOB PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
    owner   TEXT NOT NULL REFERENCES user (id),
    -- "email_verification", "password_reset" or "operator_reset".
    purpose TEXT NOT NULL,
    expiry  INTEGER NOT NULL
) STRICT;

CREATE INDEX email_link_owner ON email_link (owner);
CREATE INDEX email_link_expiry ON email_link (expiry);
