-- A statement is read kind by kind, newest first. Times do not grow with positions where movements
-- come at once, so dates need an index of their own.
CREATE INDEX ledger_entries_by_time ON ledger_entries (project_id, kind, made_at, position);

-- What proofs of a ledger found, the newest few of each project.
CREATE TABLE ledger_proofs (
    project_id     text NOT NULL,
    begun_at       bigint NOT NULL,
    ended_at       bigint NOT NULL,
    made_by        text NOT NULL,
    -- what was added up
    entries        bigint NOT NULL,
    position       bigint NOT NULL,
    balance_sum    bigint NOT NULL,
    held_sum       bigint NOT NULL,
    -- what the wallet said
    last_position  bigint NOT NULL,
    balance        bigint NOT NULL,
    held           bigint NOT NULL,
    open_holds     bigint NOT NULL,
    sound          boolean NOT NULL,
    PRIMARY KEY (project_id, begun_at)
);

-- The proof of a project that is being made.
CREATE TABLE ledger_proof_runs (
    project_id text PRIMARY KEY,
    begun_at   bigint NOT NULL,
    made_by    text NOT NULL,
    seen_at    bigint NOT NULL
);

-- The sessions of an identity, newest first.
DROP INDEX sessions_by_identity;
CREATE INDEX sessions_by_identity ON sessions (identity_id, created_at, id);

-- What lets an operator in without a password: the public part.
CREATE TABLE operator_passkeys (
    digest      blob PRIMARY KEY,
    operator_id text NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    name        text NOT NULL,
    credential  blob NOT NULL,
    algorithm   text NOT NULL,
    spki        blob NOT NULL,
    counter     bigint NOT NULL,
    made_at     bigint NOT NULL,
    used_at     bigint
);
CREATE INDEX operator_passkeys_by_operator ON operator_passkeys (operator_id);
