ALTER TABLE identities ADD CONSTRAINT identities_project_id_fkey
    FOREIGN KEY (project_id) REFERENCES projects (id);
ALTER TABLE otps ADD CONSTRAINT otps_project_id_fkey
    FOREIGN KEY (project_id) REFERENCES projects (id);
ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_project_id_fkey
    FOREIGN KEY (project_id) REFERENCES wallets (project_id);
ALTER TABLE wallet_holds ADD CONSTRAINT wallet_holds_project_id_fkey
    FOREIGN KEY (project_id) REFERENCES wallets (project_id);
