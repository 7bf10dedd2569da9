DROP TABLE operator_passkeys;
DROP INDEX sessions_by_identity;
CREATE INDEX sessions_by_identity ON sessions (identity_id);
DROP TABLE ledger_proof_runs;
DROP TABLE ledger_proofs;
DROP INDEX ledger_entries_by_time;
