-- The identities of users at identity providers.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE identity (
    id        uuid PRIMARY KEY,
    owner     uuid NOT NULL REFERENCES pro_user (id),
    -- The name that the operator gave the provider.
    provider  text COLLATE "C" NOT NULL,
    -- The provider's own name: a provider may get another name, and a name another provider.
    issuer    text COLLATE "C" NOT NULL,
    -- Who it is at the provider: never given to another person there.
    subject   text COLLATE "C" NOT NULL,
    -- As the provider gave it at the last login.
    email     text COLLATE "C",
    created   timestamptz NOT NULL,
    last_used timestamptz,
    UNIQUE (issuer, subject),
    UNIQUE (owner, issuer)
);
