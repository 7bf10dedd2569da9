-- Months of the ledger that are closed (docs/adr/0062): the holds, captures and releases of one month and project
-- leave `ledger_entries`, and one row here carries their sums. What was exported is said once and for all when a
-- row begins; what it stands for by now changes only together with the entries that leave.
CREATE TABLE ledger_closings (
    id             blob NOT NULL UNIQUE,
    project_id     blob NOT NULL REFERENCES wallets (project_id),
    -- as 2026-10, in Indian time
    month          text NOT NULL,
    since          bigint NOT NULL,
    until          bigint NOT NULL,
    exported       bigint NOT NULL CHECK (exported > 0),
    first_position bigint NOT NULL CHECK (first_position > 0),
    last_position  bigint NOT NULL,
    -- SHA-256 of the file that they were exported to
    digest         blob NOT NULL CHECK (length(digest) = 32),
    -- what the row stands for by now; `position` is that of the last of these
    entries        bigint NOT NULL,
    position       bigint NOT NULL,
    amount         bigint NOT NULL,
    held           bigint NOT NULL,
    balance_after  bigint NOT NULL,
    held_after     bigint NOT NULL,
    made_at        bigint NOT NULL,
    PRIMARY KEY (project_id, month),
    CHECK (since < until AND first_position <= last_position),
    CHECK (entries BETWEEN 0 AND exported AND position <= last_position)
) WITHOUT ROWID;
-- One at a time, so that no entry belongs to two.
CREATE UNIQUE INDEX ledger_closings_open ON ledger_closings (project_id) WHERE entries < exported;

CREATE TRIGGER ledger_closings_begin BEFORE INSERT ON ledger_closings
WHEN NEW.entries <> 0 OR NEW.amount <> 0 OR NEW.held <> 0 OR NEW.position <> NEW.first_position - 1
BEGIN
    SELECT RAISE(ABORT, 'a closed month is never changed');
END;
-- What is there stays, also where somebody writes OR REPLACE, for which no trigger of a deletion runs.
CREATE TRIGGER ledger_closings_once BEFORE INSERT ON ledger_closings
WHEN EXISTS (SELECT 1 FROM ledger_closings c WHERE c.id = NEW.id
             OR c.project_id = NEW.project_id AND (c.month = NEW.month OR c.entries < c.exported))
BEGIN
    SELECT RAISE(IGNORE);
END;
-- It takes one more entry, at a position after the last, that has just left and was not missing: so by hand there is
-- none to take.
CREATE TRIGGER ledger_closings_no_update BEFORE UPDATE ON ledger_closings
WHEN NEW.id <> OLD.id OR NEW.project_id <> OLD.project_id OR NEW.month <> OLD.month
    OR NEW.since <> OLD.since OR NEW.until <> OLD.until OR NEW.exported <> OLD.exported
    OR NEW.first_position <> OLD.first_position OR NEW.last_position <> OLD.last_position
    OR NEW.digest <> OLD.digest OR NEW.entries <> OLD.entries + 1
    OR NEW.position <= OLD.position OR NEW.position > OLD.last_position
    OR EXISTS (SELECT 1 FROM ledger_entries e
               WHERE e.project_id = OLD.project_id AND e.position = NEW.position)
BEGIN
    SELECT RAISE(ABORT, 'a closed month is never changed');
END;
CREATE TRIGGER ledger_closings_no_delete BEFORE DELETE ON ledger_closings
BEGIN
    SELECT RAISE(ABORT, 'a closed month is never changed');
END;

-- Entries leave only into the closing that they were exported for, which takes them in the same statement: so the
-- sums of the ledger are the same before and after, whoever deletes.
DROP TRIGGER ledger_entries_no_delete;
CREATE TRIGGER ledger_entries_no_delete BEFORE DELETE ON ledger_entries
WHEN OLD.kind NOT IN ('hold', 'capture', 'release')
    OR NOT EXISTS (SELECT 1 FROM ledger_closings c
                   WHERE c.project_id = OLD.project_id AND c.entries < c.exported
                       AND OLD.position > c.position AND OLD.position <= c.last_position
                       AND OLD.made_at >= c.since AND OLD.made_at < c.until)
BEGIN
    SELECT RAISE(ABORT, 'ledger entries are only ever added');
END;
CREATE TRIGGER ledger_entries_closed AFTER DELETE ON ledger_entries
BEGIN
    UPDATE ledger_closings SET entries = entries + 1, position = OLD.position,
        amount = amount + OLD.amount, held = held + OLD.held,
        balance_after = OLD.balance_after, held_after = OLD.held_after, made_at = OLD.made_at
    WHERE project_id = OLD.project_id AND entries < exported;
END;

-- How many entries were closed when a proof added up: a proof continues another only where that is the same.
ALTER TABLE ledger_proofs ADD COLUMN closed bigint NOT NULL DEFAULT 0;
