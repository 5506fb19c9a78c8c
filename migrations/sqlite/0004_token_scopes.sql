-- What an API token may be used for: names with spaces between them.
-- Never edited once released: a change is a new file with the next number.

-- Tokens from before scopes may be used for everything.
ALTER TABLE api_token ADD COLUMN scopes TEXT NOT NULL DEFAULT 'accounts domains tokens';
