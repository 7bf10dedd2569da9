-- Whether the request that money is held, spent or given back for delivers a code of somebody else.
ALTER TABLE wallet_holds ADD COLUMN relayed boolean NOT NULL DEFAULT false;
ALTER TABLE ledger_entries ADD COLUMN relayed boolean NOT NULL DEFAULT false;
