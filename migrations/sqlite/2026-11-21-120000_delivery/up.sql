-- How a project's messages read, who carries them, and when its balance counts as low.
-- Lists of providers are separated by commas; NULL means as configured.
ALTER TABLE projects ADD COLUMN brand text;
ALTER TABLE projects ADD COLUMN language text;
ALTER TABLE projects ADD COLUMN sms_text text;
ALTER TABLE projects ADD COLUMN sms_template_id text;
ALTER TABLE projects ADD COLUMN sms_domain text;
ALTER TABLE projects ADD COLUMN sms_app_hash text;
ALTER TABLE projects ADD COLUMN whatsapp_providers text;
ALTER TABLE projects ADD COLUMN sms_providers text;
ALTER TABLE projects ADD COLUMN fallback_seconds integer CHECK (fallback_seconds >= 0);
ALTER TABLE projects ADD COLUMN low_balance bigint;

-- SQLite cannot change a CHECK; the table is made anew.
CREATE TABLE new_ledger_entries (
    id            text PRIMARY KEY,
    project_id    text NOT NULL REFERENCES wallets (project_id),
    position      bigint NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('credit', 'hold', 'capture', 'release', 'refund', 'adjustment')),
    amount        bigint NOT NULL,
    held          bigint NOT NULL,
    balance_after bigint NOT NULL,
    held_after    bigint NOT NULL,
    reference     text NOT NULL,
    made_at       bigint NOT NULL,
    UNIQUE (project_id, position),
    UNIQUE (project_id, kind, reference)
);
INSERT INTO new_ledger_entries
SELECT id, project_id, position, kind, amount, held, balance_after, held_after, reference, made_at
FROM ledger_entries;
DROP TABLE ledger_entries;
ALTER TABLE new_ledger_entries RENAME TO ledger_entries;

CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries
BEGIN
    SELECT RAISE(ABORT, 'ledger entries are only ever added');
END;
CREATE TRIGGER ledger_entries_no_delete BEFORE DELETE ON ledger_entries
BEGIN
    SELECT RAISE(ABORT, 'ledger entries are only ever added');
END;

-- What providers reported, until it is applied.
CREATE TABLE receipts (
    id           text PRIMARY KEY,
    provider     text NOT NULL,
    provider_ref text NOT NULL,
    report       text NOT NULL CHECK (report IN ('sent', 'delivered', 'failed')),
    reason       text,
    received_at  bigint NOT NULL,
    due_at       bigint NOT NULL
);
CREATE INDEX receipts_due ON receipts (due_at);

CREATE TABLE webhook_endpoints (
    id              text PRIMARY KEY,
    project_id      text NOT NULL REFERENCES projects (id),
    url             text NOT NULL,
    full_phone      boolean NOT NULL,
    secret          blob NOT NULL,
    previous_secret blob,
    previous_until  bigint,
    created_at      bigint NOT NULL
);
CREATE INDEX webhook_endpoints_by_project ON webhook_endpoints (project_id);

-- What happened, until every endpoint has been told or given up on.
CREATE TABLE events (
    id           text PRIMARY KEY,
    project_id   text NOT NULL REFERENCES projects (id),
    mode         text NOT NULL CHECK (mode IN ('live', 'test')),
    kind         text NOT NULL,
    subject_id   text NOT NULL,
    -- of a session: its identity
    related_id   text,
    -- of an OTP request
    channel      text,
    phone_index  blob,
    phone_sealed blob,
    -- of an identity: sessions revoked; of a wallet: balance and threshold
    amount       bigint,
    threshold    bigint,
    happened_at  bigint NOT NULL
);
CREATE INDEX events_by_phone ON events (project_id, mode, phone_index) WHERE phone_index IS NOT NULL;

CREATE TABLE event_deliveries (
    event_id    text NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    endpoint_id text NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    failures    integer NOT NULL,
    due_at      bigint NOT NULL,
    PRIMARY KEY (event_id, endpoint_id)
);
CREATE INDEX event_deliveries_due ON event_deliveries (due_at);
CREATE INDEX event_deliveries_by_endpoint ON event_deliveries (endpoint_id);

-- What the sweep looks for.
CREATE INDEX sessions_by_revocation ON sessions (revoked_at) WHERE revoked_at IS NOT NULL;
