-- How a project's messages read, who carries them, and when its balance counts as low.
-- Lists of providers are separated by commas; NULL means as configured.
ALTER TABLE projects
    ADD COLUMN brand text,
    ADD COLUMN language text,
    ADD COLUMN sms_text text,
    ADD COLUMN sms_template_id text,
    ADD COLUMN sms_domain text,
    ADD COLUMN sms_app_hash text,
    ADD COLUMN whatsapp_providers text,
    ADD COLUMN sms_providers text,
    ADD COLUMN fallback_seconds integer CHECK (fallback_seconds >= 0),
    ADD COLUMN low_balance bigint;

ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_kind_check;
ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_kind_check
    CHECK (kind IN ('credit', 'hold', 'capture', 'release', 'refund', 'adjustment'));

CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'ledger entries are only ever added';
END
$$;
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE ON ledger_entries
    FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_entries_no_truncate BEFORE TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

-- What providers reported, until it is applied.
CREATE TABLE receipts (
    id           uuid PRIMARY KEY,
    provider     text NOT NULL,
    provider_ref text NOT NULL,
    report       text NOT NULL CHECK (report IN ('sent', 'delivered', 'failed')),
    reason       text,
    received_at  timestamptz NOT NULL,
    due_at       timestamptz NOT NULL
);
CREATE INDEX receipts_due ON receipts (due_at);

CREATE TABLE webhook_endpoints (
    id              uuid PRIMARY KEY,
    project_id      uuid NOT NULL REFERENCES projects (id),
    url             text NOT NULL,
    full_phone      boolean NOT NULL,
    secret          bytea NOT NULL,
    previous_secret bytea,
    previous_until  timestamptz,
    created_at      timestamptz NOT NULL
);
CREATE INDEX webhook_endpoints_by_project ON webhook_endpoints (project_id);

-- What happened, until every endpoint has been told or given up on.
CREATE TABLE events (
    id           text PRIMARY KEY,
    project_id   uuid NOT NULL REFERENCES projects (id),
    mode         text NOT NULL CHECK (mode IN ('live', 'test')),
    kind         text NOT NULL,
    subject_id   uuid NOT NULL,
    -- of a session: its identity
    related_id   uuid,
    -- of an OTP request
    channel      text,
    phone_index  bytea,
    phone_sealed bytea,
    -- of an identity: sessions revoked; of a wallet: balance and threshold
    amount       bigint,
    threshold    bigint,
    happened_at  timestamptz NOT NULL
);
CREATE INDEX events_by_phone ON events (project_id, mode, phone_index) WHERE phone_index IS NOT NULL;

CREATE TABLE event_deliveries (
    event_id    text NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    endpoint_id uuid NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    failures    integer NOT NULL,
    due_at      timestamptz NOT NULL,
    PRIMARY KEY (event_id, endpoint_id)
);
CREATE INDEX event_deliveries_due ON event_deliveries (due_at);
CREATE INDEX event_deliveries_by_endpoint ON event_deliveries (endpoint_id);

-- What the sweep looks for.
CREATE INDEX sessions_by_revocation ON sessions (revoked_at) WHERE revoked_at IS NOT NULL;
