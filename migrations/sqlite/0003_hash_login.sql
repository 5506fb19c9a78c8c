-- Emails whose owners log in against an Argon2 hash that they serve themselves.
-- Never edited once released: a change is a new file with the next number.

CREATE TABLE hash_login (
    email              TEXT PRIMARY KEY NOT NULL,
    -- Where the hash is served; the hash itself is never kept.
    url                TEXT NOT NULL,
    credential_version INTEGER NOT NULL,
    created            INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
