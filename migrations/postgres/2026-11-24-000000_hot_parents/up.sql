-- Nothing removes a project or a wallet, so these keys guard against nothing. Each check of one
-- locks its parent, and all requests of a project have the same.
ALTER TABLE identities DROP CONSTRAINT identities_project_id_fkey;
ALTER TABLE otps DROP CONSTRAINT otps_project_id_fkey;
ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_project_id_fkey;
ALTER TABLE wallet_holds DROP CONSTRAINT wallet_holds_project_id_fkey;
