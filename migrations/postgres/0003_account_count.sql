-- How many accounts each user owns, so that a limit is checked without counting them.
-- Never edited once released: a change is a new file with the next number.

-- Accounts that are not deleted. Kept by the triggers below, whoever changes accounts.
-- No index has the column, and pages have space for new versions of their rows: so a change of it
-- changes no index.
ALTER TABLE pro_user ADD COLUMN accounts bigint NOT NULL DEFAULT 0;
ALTER TABLE pro_user SET (fillfactor = 80);

-- One update for each owner, however many accounts a statement inserts.
CREATE FUNCTION count_new_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE pro_user SET accounts = pro_user.accounts + added.count
    FROM (
        SELECT owner, count(*) FROM new_account
        WHERE owner IS NOT NULL AND state <> 'deleted' GROUP BY owner
    ) AS added
    WHERE pro_user.id = added.owner;
    RETURN NULL;
END
$$;

CREATE TRIGGER new_accounts_are_counted AFTER INSERT ON account
    REFERENCING NEW TABLE AS new_account
    FOR EACH STATEMENT EXECUTE FUNCTION count_new_accounts();

CREATE FUNCTION count_changed_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.owner IS NOT NULL AND OLD.state <> 'deleted' THEN
        UPDATE pro_user SET accounts = accounts - 1 WHERE id = OLD.owner;
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.owner IS NOT NULL AND NEW.state <> 'deleted' THEN
        UPDATE pro_user SET accounts = accounts + 1 WHERE id = NEW.owner;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER account_change_is_counted AFTER UPDATE OF owner, state ON account FOR EACH ROW
    WHEN (
        (OLD.state = 'deleted') <> (NEW.state = 'deleted')
        OR OLD.owner IS DISTINCT FROM NEW.owner
    )
    EXECUTE FUNCTION count_changed_account();

CREATE TRIGGER account_removal_is_counted AFTER DELETE ON account FOR EACH ROW
    WHEN (OLD.owner IS NOT NULL AND OLD.state <> 'deleted')
    EXECUTE FUNCTION count_changed_account();

-- The triggers have waited for every transaction that changes accounts, and others wait for this
-- one: nothing is counted twice or missed.
UPDATE pro_user SET accounts = owned.count
FROM (
    SELECT owner, count(*) FROM account
    WHERE owner IS NOT NULL AND state <> 'deleted' GROUP BY owner
) AS owned
WHERE pro_user.id = owned.owner;
