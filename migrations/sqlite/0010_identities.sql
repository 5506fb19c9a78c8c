-- The identities of users at identity providers.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE identity (
    id        TEXT PRIMARY KEY NOT NULL,
    owner     TEXT NOT NULL REFERENCES user (id),
    -- The name that the operator gave the provider.
    provider  TEXT NOT NULL,
    -- The provider's own name: a provider may get another name, and a name another provider.
    issuer    TEXT NOT NULL,
    -- Who it is at the provider: never given to another person there.
    subject   TEXT NOT NULL,
    -- As the provider gave it at the last login.
    email     TEXT,
    created   INTEGER NOT NULL,
    last_used INTEGER,
    UNIQUE (issuer, subject),
    UNIQUE (owner, issuer)
) STRICT;
