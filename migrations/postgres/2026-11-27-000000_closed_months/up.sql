-- Months of the ledger that are closed (docs/adr/0062): the holds, captures and releases of one month and project
-- leave `ledger_entries`, and one row here carries their sums. What was exported is said once and for all when a
-- row begins; what it stands for by now changes only together with the entries that leave.
CREATE TABLE ledger_closings (
    id             uuid NOT NULL UNIQUE,
    project_id     uuid NOT NULL,
    -- as 2026-10, in Indian time
    month          text NOT NULL,
    since          timestamptz NOT NULL,
    until          timestamptz NOT NULL,
    exported       bigint NOT NULL CHECK (exported > 0),
    first_position bigint NOT NULL CHECK (first_position > 0),
    last_position  bigint NOT NULL,
    -- SHA-256 of the file that they were exported to
    digest         bytea NOT NULL CHECK (length(digest) = 32),
    -- what the row stands for by now; `position` is that of the last of these
    entries        bigint NOT NULL,
    position       bigint NOT NULL,
    amount         bigint NOT NULL,
    held           bigint NOT NULL,
    balance_after  bigint NOT NULL,
    held_after     bigint NOT NULL,
    made_at        timestamptz NOT NULL,
    PRIMARY KEY (project_id, month),
    CHECK (since < until AND first_position <= last_position),
    CHECK (entries BETWEEN 0 AND exported AND position <= last_position)
);
-- One at a time, so that no entry belongs to two.
CREATE UNIQUE INDEX ledger_closings_open ON ledger_closings (project_id) WHERE entries < exported;

CREATE FUNCTION guard_ledger_closing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' AND NEW.entries = 0 AND NEW.amount = 0 AND NEW.held = 0
        AND NEW.position = NEW.first_position - 1 THEN
        RETURN NEW;
    END IF;
    -- From within the trigger of the entries that leave, and from nowhere else.
    IF TG_OP = 'UPDATE' AND pg_trigger_depth() > 1 THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a closed month is never changed';
END
$$;
CREATE TRIGGER ledger_closings_guarded BEFORE INSERT OR UPDATE OR DELETE ON ledger_closings
    FOR EACH ROW EXECUTE FUNCTION guard_ledger_closing();
CREATE TRIGGER ledger_closings_no_truncate BEFORE TRUNCATE ON ledger_closings
    FOR EACH STATEMENT EXECUTE FUNCTION guard_ledger_closing();

-- Entries leave only into the closing that they were exported for, which takes them in the same statement: so the
-- sums of the ledger are the same before and after, whoever deletes.
CREATE FUNCTION close_ledger_entries() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    leaving bigint;
    taken bigint;
BEGIN
    SELECT count(*) INTO leaving FROM gone;
    WITH fitting AS (
        SELECT c.id, count(*) AS entries, max(g.position) AS position, sum(g.amount)::bigint AS amount,
            sum(g.held)::bigint AS held
        FROM gone g JOIN ledger_closings c ON c.project_id = g.project_id AND c.entries < c.exported
            AND g.position > c.position AND g.position <= c.last_position
            AND g.made_at >= c.since AND g.made_at < c.until
        WHERE g.kind IN ('hold', 'capture', 'release')
        GROUP BY c.id
    ), changed AS (
        UPDATE ledger_closings c SET entries = c.entries + f.entries, position = f.position,
            amount = c.amount + f.amount, held = c.held + f.held,
            balance_after = l.balance_after, held_after = l.held_after, made_at = l.made_at
        FROM fitting f JOIN gone l ON l.position = f.position
        WHERE c.id = f.id AND l.project_id = c.project_id
        RETURNING f.entries
    )
    SELECT coalesce(sum(entries), 0) INTO taken FROM changed;
    IF taken <> leaving THEN
        RAISE EXCEPTION 'ledger entries are only ever added';
    END IF;
    RETURN NULL;
END
$$;
DROP TRIGGER ledger_entries_append_only ON ledger_entries;
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE ON ledger_entries
    FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_entries_closed AFTER DELETE ON ledger_entries
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION close_ledger_entries();

-- How many entries were closed when a proof added up: a proof continues another only where that is the same.
ALTER TABLE ledger_proofs ADD COLUMN closed bigint NOT NULL DEFAULT 0;
