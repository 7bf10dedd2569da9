-- Ids become text again, and every table has a rowid again but for the figures; step by step as in up.sql.

DROP TRIGGER otp_attempts_wake_new;
DROP TRIGGER otp_attempts_wake;
DROP TRIGGER ledger_entries_no_update;
DROP TRIGGER ledger_entries_no_delete;
DROP TRIGGER identities_forget_refused_sends;
DROP TRIGGER audit_entries_stay;

ALTER TABLE projects RENAME TO old_projects;
CREATE TABLE projects (
    id                 text PRIMARY KEY,
    name               text NOT NULL,
    identity_lookup    boolean NOT NULL,
    identity_delete    boolean NOT NULL,
    whatsapp_price     bigint CHECK (whatsapp_price >= 0),
    sms_price          bigint CHECK (sms_price >= 0),
    created_at         bigint NOT NULL,
    brand              text,
    language           text,
    sms_text           text,
    sms_template_id    text,
    sms_domain         text,
    sms_app_hash       text,
    whatsapp_providers text,
    sms_providers      text,
    fallback_seconds   integer CHECK (fallback_seconds >= 0),
    low_balance        bigint
);
INSERT INTO projects
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    name, identity_lookup, identity_delete, whatsapp_price, sms_price, created_at, brand, language,
    sms_text, sms_template_id, sms_domain, sms_app_hash, whatsapp_providers, sms_providers,
    fallback_seconds, low_balance
FROM old_projects;

ALTER TABLE api_keys RENAME TO old_api_keys;
CREATE TABLE api_keys (
    id         text PRIMARY KEY,
    project_id text NOT NULL REFERENCES projects (id),
    mode       text NOT NULL CHECK (mode IN ('live', 'test')),
    digest     blob NOT NULL UNIQUE,
    ending     text NOT NULL,
    created_at bigint NOT NULL,
    used_at    bigint,
    used_from  text,
    UNIQUE (project_id, mode)
);
INSERT INTO api_keys
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    mode, digest, ending, created_at, used_at, used_from
FROM old_api_keys;
DROP TABLE old_api_keys;

ALTER TABLE identities RENAME TO old_identities;
CREATE TABLE identities (
    id               text PRIMARY KEY,
    project_id       text NOT NULL REFERENCES projects (id),
    mode             text NOT NULL CHECK (mode IN ('live', 'test')),
    phone_index      blob NOT NULL,
    phone_sealed     blob NOT NULL,
    created_at       bigint NOT NULL,
    last_verified_at bigint NOT NULL,
    UNIQUE (project_id, mode, phone_index)
);
INSERT INTO identities
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    mode, phone_index, phone_sealed, created_at, last_verified_at
FROM old_identities;

ALTER TABLE sessions RENAME TO old_sessions;
CREATE TABLE sessions (
    id                 text PRIMARY KEY,
    project_id         text NOT NULL,
    mode               text NOT NULL,
    identity_id        text NOT NULL REFERENCES identities (id) ON DELETE CASCADE,
    created_at         bigint NOT NULL,
    expires_at         bigint NOT NULL,
    refresh_digest     blob NOT NULL,
    refresh_expires_at bigint NOT NULL,
    access_token_id    text NOT NULL,
    access_issued_at   bigint NOT NULL,
    access_expires_at  bigint NOT NULL,
    replay_key         blob,
    revoked_at         bigint,
    generation         bigint NOT NULL DEFAULT 0,
    rotations          blob NOT NULL DEFAULT x'',
    replay_answer      blob CHECK ((replay_answer IS NULL) = (replay_key IS NULL))
);
INSERT INTO sessions
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    mode,
    lower(hex(substr(identity_id, 1, 4)) || '-' || hex(substr(identity_id, 5, 2)) || '-' || hex(substr(identity_id, 7, 2)) || '-' || hex(substr(identity_id, 9, 2)) || '-' || hex(substr(identity_id, 11, 6))),
    created_at, expires_at, refresh_digest, refresh_expires_at,
    lower(hex(substr(access_token_id, 1, 4)) || '-' || hex(substr(access_token_id, 5, 2)) || '-' || hex(substr(access_token_id, 7, 2)) || '-' || hex(substr(access_token_id, 9, 2)) || '-' || hex(substr(access_token_id, 11, 6))),
    access_issued_at, access_expires_at, replay_key, revoked_at, generation, rotations,
    replay_answer
FROM old_sessions;
DROP TABLE old_sessions;
DROP TABLE old_identities;
CREATE INDEX sessions_by_end ON sessions (expires_at);
CREATE INDEX sessions_by_revocation ON sessions (revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX sessions_of_tests ON sessions (project_id, created_at) WHERE mode = 'test';
CREATE INDEX sessions_by_identity ON sessions (identity_id, created_at, id);
CREATE INDEX identities_of_tests ON identities (project_id, last_verified_at) WHERE mode = 'test';

ALTER TABLE otps RENAME TO old_otps;
CREATE TABLE otps (
    id           text PRIMARY KEY,
    project_id   text NOT NULL REFERENCES projects (id),
    mode         text NOT NULL CHECK (mode IN ('live', 'test')),
    phone_index  blob NOT NULL,
    phone_sealed blob NOT NULL,
    code_key     integer NOT NULL,
    code_mac     blob NOT NULL,
    code_sealed  blob,
    state        text NOT NULL CHECK (state IN ('active', 'locked', 'used', 'superseded', 'void')),
    wrong        integer NOT NULL CHECK (wrong BETWEEN 0 AND max_wrong),
    max_wrong    integer NOT NULL,
    status       text NOT NULL CHECK (status IN ('queued', 'sent', 'failed', 'delivered')),
    created_at   bigint NOT NULL,
    expires_at   bigint NOT NULL,
    due_at       bigint,
    guesses      blob
);
INSERT INTO otps
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    mode, phone_index, phone_sealed, code_key, code_mac, code_sealed, state, wrong, max_wrong,
    status, created_at, expires_at, due_at, guesses
FROM old_otps;

ALTER TABLE otp_attempts RENAME TO old_otp_attempts;
CREATE TABLE otp_attempts (
    id           text PRIMARY KEY,
    otp_id       text NOT NULL REFERENCES otps (id) ON DELETE CASCADE,
    position     integer NOT NULL,
    channel      text NOT NULL CHECK (channel IN ('whatsapp', 'sms')),
    provider     text NOT NULL,
    provider_ref text,
    status       text NOT NULL CHECK (status IN ('queued', 'sent', 'failed', 'delivered')),
    reason       text,
    changed_at   bigint NOT NULL,
    accepted     boolean NOT NULL DEFAULT 0,
    UNIQUE (otp_id, position)
);
INSERT INTO otp_attempts
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    lower(hex(substr(otp_id, 1, 4)) || '-' || hex(substr(otp_id, 5, 2)) || '-' || hex(substr(otp_id, 7, 2)) || '-' || hex(substr(otp_id, 9, 2)) || '-' || hex(substr(otp_id, 11, 6))),
    position, channel, provider, provider_ref, status, reason, changed_at, accepted
FROM old_otp_attempts;
DROP TABLE old_otp_attempts;
CREATE INDEX otp_attempts_by_reference ON otp_attempts (provider, provider_ref)
    WHERE provider_ref IS NOT NULL;

ALTER TABLE sandbox_messages RENAME TO old_sandbox_messages;
CREATE TABLE sandbox_messages (
    id          integer PRIMARY KEY AUTOINCREMENT,
    project_id  text NOT NULL REFERENCES projects (id),
    otp_id      text NOT NULL REFERENCES otps (id) ON DELETE CASCADE,
    phone_index blob NOT NULL,
    channel     text NOT NULL,
    content     blob NOT NULL,
    landed_at   bigint NOT NULL
);
INSERT INTO sandbox_messages
SELECT id,
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    lower(hex(substr(otp_id, 1, 4)) || '-' || hex(substr(otp_id, 5, 2)) || '-' || hex(substr(otp_id, 7, 2)) || '-' || hex(substr(otp_id, 9, 2)) || '-' || hex(substr(otp_id, 11, 6))),
    phone_index, channel, content, landed_at
FROM old_sandbox_messages;
-- No id of a message is given twice, also of one that is gone.
DELETE FROM sqlite_sequence WHERE name = 'sandbox_messages';
INSERT INTO sqlite_sequence (name, seq)
SELECT 'sandbox_messages', seq FROM sqlite_sequence WHERE name = 'old_sandbox_messages';
DROP TABLE old_sandbox_messages;
DROP TABLE old_otps;
CREATE INDEX sandbox_messages_by_phone ON sandbox_messages (project_id, phone_index, id);
CREATE INDEX sandbox_messages_by_otp ON sandbox_messages (otp_id);
CREATE UNIQUE INDEX otps_in_force ON otps (project_id, mode, phone_index)
    WHERE state IN ('active', 'locked');
CREATE INDEX otps_due ON otps (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX otps_of_tests ON otps (project_id, expires_at) WHERE mode = 'test';
CREATE INDEX otps_by_project ON otps (project_id, id);
CREATE INDEX otps_by_phone ON otps (project_id, mode, phone_index, id);

ALTER TABLE guess_budgets RENAME TO old_guess_budgets;
CREATE TABLE guess_budgets (
    project_id      text NOT NULL,
    mode            text NOT NULL,
    phone_index     blob NOT NULL,
    wrong           integer NOT NULL,
    last_wrong_at   bigint,
    period_began_at bigint,
    period_wrong    integer NOT NULL DEFAULT 0,
    stopped_at      bigint,
    PRIMARY KEY (project_id, mode, phone_index)
);
INSERT INTO guess_budgets
SELECT
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    mode, phone_index, wrong, last_wrong_at, period_began_at, period_wrong, stopped_at
FROM old_guess_budgets;
DROP TABLE old_guess_budgets;
CREATE INDEX guess_budgets_by_age ON guess_budgets (last_wrong_at);
CREATE INDEX guess_budgets_of_tests ON guess_budgets (project_id) WHERE mode = 'test';

ALTER TABLE send_slots RENAME TO old_send_slots;
CREATE TABLE send_slots (
    send_id     text PRIMARY KEY,
    project_id  text NOT NULL,
    mode        text NOT NULL,
    phone_index blob NOT NULL,
    taken_at    bigint NOT NULL,
    forgiven    boolean NOT NULL DEFAULT 0
);
INSERT INTO send_slots
SELECT
    lower(hex(substr(send_id, 1, 4)) || '-' || hex(substr(send_id, 5, 2)) || '-' || hex(substr(send_id, 7, 2)) || '-' || hex(substr(send_id, 9, 2)) || '-' || hex(substr(send_id, 11, 6))),
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    mode, phone_index, taken_at, forgiven
FROM old_send_slots;
DROP TABLE old_send_slots;
CREATE INDEX send_slots_by_phone ON send_slots (project_id, mode, phone_index, taken_at);
CREATE INDEX send_slots_of_tests ON send_slots (project_id, taken_at) WHERE mode = 'test';

ALTER TABLE wallets RENAME TO old_wallets;
CREATE TABLE wallets (
    project_id text PRIMARY KEY REFERENCES projects (id),
    balance    bigint NOT NULL,
    held       bigint NOT NULL,
    entries    bigint NOT NULL,
    CHECK (held >= 0 AND balance >= held)
);
INSERT INTO wallets
SELECT
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    balance, held, entries
FROM old_wallets;

ALTER TABLE wallet_holds RENAME TO old_wallet_holds;
CREATE TABLE wallet_holds (
    send_id    text PRIMARY KEY,
    project_id text NOT NULL REFERENCES wallets (project_id),
    amount     bigint NOT NULL CHECK (amount >= 0),
    held_since bigint NOT NULL
);
INSERT INTO wallet_holds
SELECT
    lower(hex(substr(send_id, 1, 4)) || '-' || hex(substr(send_id, 5, 2)) || '-' || hex(substr(send_id, 7, 2)) || '-' || hex(substr(send_id, 9, 2)) || '-' || hex(substr(send_id, 11, 6))),
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    amount, held_since
FROM old_wallet_holds;
DROP TABLE old_wallet_holds;

ALTER TABLE ledger_entries RENAME TO old_ledger_entries;
CREATE TABLE ledger_entries (
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
INSERT INTO ledger_entries
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    position, kind, amount, held, balance_after, held_after, reference, made_at
FROM old_ledger_entries;
DROP TABLE old_ledger_entries;
DROP TABLE old_wallets;
CREATE INDEX ledger_entries_by_time ON ledger_entries (project_id, kind, made_at, position);

ALTER TABLE idempotency_records RENAME TO old_idempotency_records;
CREATE TABLE idempotency_records (
    project_id  text NOT NULL,
    mode        text NOT NULL,
    route       text NOT NULL,
    key_digest  blob NOT NULL,
    fingerprint blob NOT NULL,
    phone_index blob NOT NULL,
    began_at    bigint NOT NULL,
    answer      blob,
    PRIMARY KEY (project_id, mode, route, key_digest)
);
INSERT INTO idempotency_records
SELECT
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    mode, route, key_digest, fingerprint, phone_index, began_at, answer
FROM old_idempotency_records;
DROP TABLE old_idempotency_records;
CREATE INDEX idempotency_records_by_phone ON idempotency_records (project_id, mode, phone_index);
CREATE INDEX idempotency_records_by_age ON idempotency_records (began_at);
CREATE INDEX idempotency_records_of_tests ON idempotency_records (project_id, began_at) WHERE mode = 'test';

ALTER TABLE receipts RENAME TO old_receipts;
CREATE TABLE receipts (
    id           text PRIMARY KEY,
    provider     text NOT NULL,
    provider_ref text NOT NULL,
    report       text NOT NULL CHECK (report IN ('sent', 'delivered', 'failed')),
    reason       text,
    received_at  bigint NOT NULL,
    due_at       bigint NOT NULL,
    known        boolean NOT NULL DEFAULT true
);
INSERT INTO receipts
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    provider, provider_ref, report, reason, received_at, due_at, known
FROM old_receipts;
DROP TABLE old_receipts;
CREATE UNIQUE INDEX receipts_by_message
    ON receipts (provider, provider_ref, report, coalesce(reason, ''));
CREATE INDEX receipts_due ON receipts (due_at, id) WHERE known AND report <> 'failed';
CREATE INDEX receipts_failed_due ON receipts (due_at, id) WHERE known AND report = 'failed';
CREATE INDEX receipts_unknown_due ON receipts (due_at) WHERE NOT known;
CREATE INDEX receipts_unknown_by_age ON receipts (received_at, id) WHERE NOT known;

ALTER TABLE webhook_endpoints RENAME TO old_webhook_endpoints;
CREATE TABLE webhook_endpoints (
    id              text PRIMARY KEY,
    project_id      text NOT NULL REFERENCES projects (id),
    url             text NOT NULL,
    full_phone      boolean NOT NULL,
    secret          blob NOT NULL,
    previous_secret blob,
    previous_until  bigint,
    created_at      bigint NOT NULL,
    failures        integer NOT NULL DEFAULT 0,
    failing_since   bigint,
    disabled_at     bigint
);
INSERT INTO webhook_endpoints
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    url, full_phone, secret, previous_secret, previous_until, created_at, failures, failing_since,
    disabled_at
FROM old_webhook_endpoints;

ALTER TABLE events RENAME TO old_events;
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
    happened_at  bigint NOT NULL,
    provider     text
);
INSERT INTO events
SELECT id,
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    mode, kind,
    lower(hex(substr(subject_id, 1, 4)) || '-' || hex(substr(subject_id, 5, 2)) || '-' || hex(substr(subject_id, 7, 2)) || '-' || hex(substr(subject_id, 9, 2)) || '-' || hex(substr(subject_id, 11, 6))),
    CASE WHEN related_id IS NOT NULL THEN lower(hex(substr(related_id, 1, 4)) || '-' || hex(substr(related_id, 5, 2)) || '-' || hex(substr(related_id, 7, 2)) || '-' || hex(substr(related_id, 9, 2)) || '-' || hex(substr(related_id, 11, 6))) END,
    channel, phone_index, phone_sealed, amount, threshold, happened_at, provider
FROM old_events;

ALTER TABLE event_deliveries RENAME TO old_event_deliveries;
CREATE TABLE event_deliveries (
    event_id    text NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    endpoint_id text NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    failures    integer NOT NULL,
    due_at      bigint NOT NULL,
    PRIMARY KEY (event_id, endpoint_id)
);
INSERT INTO event_deliveries
SELECT event_id,
    lower(hex(substr(endpoint_id, 1, 4)) || '-' || hex(substr(endpoint_id, 5, 2)) || '-' || hex(substr(endpoint_id, 7, 2)) || '-' || hex(substr(endpoint_id, 9, 2)) || '-' || hex(substr(endpoint_id, 11, 6))),
    failures, due_at
FROM old_event_deliveries;
DROP TABLE old_event_deliveries;
DROP TABLE old_events;
CREATE INDEX event_deliveries_due ON event_deliveries (endpoint_id, due_at, event_id);
CREATE INDEX events_by_phone ON events (project_id, mode, phone_index) WHERE phone_index IS NOT NULL;
CREATE INDEX events_of_tests ON events (project_id, happened_at) WHERE mode = 'test';

ALTER TABLE webhook_calls RENAME TO old_webhook_calls;
CREATE TABLE webhook_calls (
    id          text PRIMARY KEY,
    endpoint_id text NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    event_id    text NOT NULL,
    kind        text NOT NULL,
    number      integer NOT NULL,
    called_at   bigint NOT NULL,
    took_ms     bigint NOT NULL,
    -- taken, or why it was not
    outcome     text NOT NULL,
    status      integer,
    again_at    bigint,
    failed      boolean NOT NULL
);
INSERT INTO webhook_calls
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    lower(hex(substr(endpoint_id, 1, 4)) || '-' || hex(substr(endpoint_id, 5, 2)) || '-' || hex(substr(endpoint_id, 7, 2)) || '-' || hex(substr(endpoint_id, 9, 2)) || '-' || hex(substr(endpoint_id, 11, 6))),
    event_id, kind, number, called_at, took_ms, outcome, status, again_at, failed
FROM old_webhook_calls;
DROP TABLE old_webhook_calls;
DROP TABLE old_webhook_endpoints;
CREATE INDEX webhook_calls_by_endpoint ON webhook_calls (endpoint_id, id);
CREATE INDEX webhook_calls_failed ON webhook_calls (endpoint_id, id) WHERE failed;
CREATE INDEX webhook_calls_by_event ON webhook_calls (event_id, endpoint_id, called_at);
CREATE INDEX webhook_calls_by_age ON webhook_calls (called_at);
CREATE INDEX webhook_endpoints_by_project ON webhook_endpoints (project_id);
CREATE INDEX webhook_endpoints_disabled ON webhook_endpoints (disabled_at)
    WHERE disabled_at IS NOT NULL;

ALTER TABLE instances RENAME TO old_instances;
CREATE TABLE instances (
    id         text PRIMARY KEY,
    started_at bigint NOT NULL,
    seen_at    bigint NOT NULL,
    version    text NOT NULL,
    host       text NOT NULL,
    pid        bigint NOT NULL,
    api        text NOT NULL,
    dashboard  text
);
INSERT INTO instances
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    started_at, seen_at, version, host, pid, api, dashboard
FROM old_instances;
DROP TABLE old_instances;
CREATE INDEX instances_by_age ON instances (seen_at);

ALTER TABLE operators RENAME TO old_operators;
CREATE TABLE operators (
    id             text PRIMARY KEY,
    name           text NOT NULL,
    name_key       text NOT NULL UNIQUE,
    access         text NOT NULL,
    -- PHC string
    password       text,
    totp_sealed    blob,
    totp_last_step bigint,
    created_at     bigint NOT NULL,
    signed_in_at   bigint,
    CHECK ((totp_sealed IS NULL) = (totp_last_step IS NULL))
);
INSERT INTO operators
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    name, name_key, access, password, totp_sealed, totp_last_step, created_at, signed_in_at
FROM old_operators;

ALTER TABLE operator_links RENAME TO old_operator_links;
CREATE TABLE operator_links (
    digest      blob PRIMARY KEY,
    operator_id text NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    kind        text NOT NULL,
    made_at     bigint NOT NULL,
    expires_at  bigint NOT NULL
);
INSERT INTO operator_links
SELECT digest,
    lower(hex(substr(operator_id, 1, 4)) || '-' || hex(substr(operator_id, 5, 2)) || '-' || hex(substr(operator_id, 7, 2)) || '-' || hex(substr(operator_id, 9, 2)) || '-' || hex(substr(operator_id, 11, 6))),
    kind, made_at, expires_at
FROM old_operator_links;
DROP TABLE old_operator_links;
CREATE INDEX operator_links_by_operator ON operator_links (operator_id);
CREATE INDEX operator_links_by_end ON operator_links (expires_at);

ALTER TABLE operator_sessions RENAME TO old_operator_sessions;
CREATE TABLE operator_sessions (
    digest       blob PRIMARY KEY,
    operator_id  text NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    from_address text,
    created_at   bigint NOT NULL,
    seen_at      bigint NOT NULL,
    expires_at   bigint NOT NULL
);
INSERT INTO operator_sessions
SELECT digest,
    lower(hex(substr(operator_id, 1, 4)) || '-' || hex(substr(operator_id, 5, 2)) || '-' || hex(substr(operator_id, 7, 2)) || '-' || hex(substr(operator_id, 9, 2)) || '-' || hex(substr(operator_id, 11, 6))),
    from_address, created_at, seen_at, expires_at
FROM old_operator_sessions;
DROP TABLE old_operator_sessions;
CREATE INDEX operator_sessions_by_operator ON operator_sessions (operator_id);
CREATE INDEX operator_sessions_by_end ON operator_sessions (expires_at);
CREATE INDEX operator_sessions_by_use ON operator_sessions (seen_at);

ALTER TABLE operator_passkeys RENAME TO old_operator_passkeys;
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
INSERT INTO operator_passkeys
SELECT digest,
    lower(hex(substr(operator_id, 1, 4)) || '-' || hex(substr(operator_id, 5, 2)) || '-' || hex(substr(operator_id, 7, 2)) || '-' || hex(substr(operator_id, 9, 2)) || '-' || hex(substr(operator_id, 11, 6))),
    name, credential, algorithm, spki, counter, made_at, used_at
FROM old_operator_passkeys;
DROP TABLE old_operator_passkeys;
DROP TABLE old_operators;
CREATE INDEX operator_passkeys_by_operator ON operator_passkeys (operator_id);

ALTER TABLE operator_standings RENAME TO old_operator_standings;
CREATE TABLE operator_standings (
    operator_id  text PRIMARY KEY,
    failures     integer NOT NULL,
    last_at      bigint,
    locked_until bigint
);
INSERT INTO operator_standings
SELECT
    lower(hex(substr(operator_id, 1, 4)) || '-' || hex(substr(operator_id, 5, 2)) || '-' || hex(substr(operator_id, 7, 2)) || '-' || hex(substr(operator_id, 9, 2)) || '-' || hex(substr(operator_id, 11, 6))),
    failures, last_at, locked_until
FROM old_operator_standings;
DROP TABLE old_operator_standings;
CREATE INDEX operator_standings_by_age ON operator_standings (last_at);

ALTER TABLE admin_tokens RENAME TO old_admin_tokens;
CREATE TABLE admin_tokens (
    id         text PRIMARY KEY,
    digest     blob NOT NULL UNIQUE,
    name       text NOT NULL,
    access     text NOT NULL,
    made_by    text NOT NULL,
    made_at    bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at    bigint,
    used_from  text
);
INSERT INTO admin_tokens
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    digest, name, access, made_by, made_at, expires_at, used_at, used_from
FROM old_admin_tokens;
DROP TABLE old_admin_tokens;
CREATE INDEX admin_tokens_by_end ON admin_tokens (expires_at);

ALTER TABLE audit_entries RENAME TO old_audit_entries;
CREATE TABLE audit_entries (
    id           text PRIMARY KEY,
    happened_at  bigint NOT NULL,
    actor_kind   text NOT NULL,
    actor_id     text,
    actor_name   text,
    from_address text,
    project_id   text,
    action       text NOT NULL,
    subject      text NOT NULL,
    facts_before text,
    facts_after  text
);
INSERT INTO audit_entries
SELECT
    lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11, 6))),
    happened_at, actor_kind,
    CASE WHEN actor_id IS NOT NULL THEN lower(hex(substr(actor_id, 1, 4)) || '-' || hex(substr(actor_id, 5, 2)) || '-' || hex(substr(actor_id, 7, 2)) || '-' || hex(substr(actor_id, 9, 2)) || '-' || hex(substr(actor_id, 11, 6))) END,
    actor_name, from_address,
    CASE WHEN project_id IS NOT NULL THEN lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))) END,
    action, subject, facts_before, facts_after
FROM old_audit_entries;
DROP TABLE old_audit_entries;
CREATE INDEX audit_entries_by_age ON audit_entries (happened_at, id);
CREATE INDEX audit_entries_by_project ON audit_entries (project_id, happened_at, id)
    WHERE project_id IS NOT NULL;

ALTER TABLE figures RENAME TO old_figures;
CREATE TABLE figures (
    project_id text NOT NULL,
    mode       text NOT NULL,
    grain      text NOT NULL,
    began_at   bigint NOT NULL,
    channel    text NOT NULL,
    provider   text NOT NULL,
    attempts   bigint NOT NULL,
    accepted   bigint NOT NULL,
    arrived    bigint NOT NULL,
    failed     bigint NOT NULL,
    requests   bigint NOT NULL,
    delivered  bigint NOT NULL,
    verified   bigint NOT NULL,
    spent      bigint NOT NULL,
    times      blob NOT NULL,
    PRIMARY KEY (project_id, mode, grain, began_at, channel, provider)
) WITHOUT ROWID;
INSERT INTO figures
SELECT
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    mode, grain, began_at, channel, provider, attempts, accepted, arrived, failed, requests,
    delivered, verified, spent, times
FROM old_figures;
DROP TABLE old_figures;
CREATE INDEX figures_by_age ON figures (grain, began_at);

ALTER TABLE figures_tenure RENAME TO old_figures_tenure;
CREATE TABLE figures_tenure (
    id         integer PRIMARY KEY CHECK (id = 1),
    settled_at bigint,
    fresh_at   bigint,
    keeper_id  text,
    led_until  bigint,
    CHECK ((keeper_id IS NULL) = (led_until IS NULL))
);
INSERT INTO figures_tenure
SELECT id, settled_at, fresh_at,
    CASE WHEN keeper_id IS NOT NULL THEN lower(hex(substr(keeper_id, 1, 4)) || '-' || hex(substr(keeper_id, 5, 2)) || '-' || hex(substr(keeper_id, 7, 2)) || '-' || hex(substr(keeper_id, 9, 2)) || '-' || hex(substr(keeper_id, 11, 6))) END,
    led_until
FROM old_figures_tenure;
DROP TABLE old_figures_tenure;

ALTER TABLE refused_sends RENAME TO old_refused_sends;
CREATE TABLE refused_sends (
    project_id  text NOT NULL,
    mode        text NOT NULL CHECK (mode IN ('live', 'test')),
    phone_index blob NOT NULL,
    minute      bigint NOT NULL,
    reason      text NOT NULL,
    tally       text NOT NULL,
    count       integer NOT NULL CHECK (count > 0),
    PRIMARY KEY (project_id, mode, phone_index, minute, reason, tally)
);
INSERT INTO refused_sends
SELECT
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    mode, phone_index, minute, reason,
    lower(hex(substr(tally, 1, 4)) || '-' || hex(substr(tally, 5, 2)) || '-' || hex(substr(tally, 7, 2)) || '-' || hex(substr(tally, 9, 2)) || '-' || hex(substr(tally, 11, 6))),
    count
FROM old_refused_sends;
DROP TABLE old_refused_sends;
CREATE INDEX refused_sends_by_project ON refused_sends (project_id, minute);
CREATE INDEX refused_sends_by_age ON refused_sends (minute);

ALTER TABLE ledger_proofs RENAME TO old_ledger_proofs;
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
INSERT INTO ledger_proofs
SELECT
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    begun_at, ended_at, made_by, entries, position, balance_sum, held_sum, last_position, balance,
    held, open_holds, sound
FROM old_ledger_proofs;
DROP TABLE old_ledger_proofs;

ALTER TABLE ledger_proof_runs RENAME TO old_ledger_proof_runs;
CREATE TABLE ledger_proof_runs (
    project_id text PRIMARY KEY,
    begun_at   bigint NOT NULL,
    made_by    text NOT NULL,
    seen_at    bigint NOT NULL
);
INSERT INTO ledger_proof_runs
SELECT
    lower(hex(substr(project_id, 1, 4)) || '-' || hex(substr(project_id, 5, 2)) || '-' || hex(substr(project_id, 7, 2)) || '-' || hex(substr(project_id, 9, 2)) || '-' || hex(substr(project_id, 11, 6))),
    begun_at, made_by, seen_at
FROM old_ledger_proof_runs;
DROP TABLE old_ledger_proof_runs;
DROP TABLE old_projects;

CREATE TRIGGER otp_attempts_wake_new AFTER INSERT ON otp_attempts
WHEN NEW.provider_ref IS NOT NULL
BEGIN
    UPDATE receipts SET known = true, due_at = received_at
    WHERE provider = NEW.provider AND provider_ref = NEW.provider_ref AND NOT known;
END;
CREATE TRIGGER otp_attempts_wake AFTER UPDATE ON otp_attempts
WHEN NEW.provider_ref IS NOT NULL AND NEW.provider_ref IS NOT OLD.provider_ref
BEGIN
    UPDATE receipts SET known = true, due_at = received_at
    WHERE provider = NEW.provider AND provider_ref = NEW.provider_ref AND NOT known;
END;
CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries
BEGIN
    SELECT RAISE(ABORT, 'ledger entries are only ever added');
END;
CREATE TRIGGER ledger_entries_no_delete BEFORE DELETE ON ledger_entries
BEGIN
    SELECT RAISE(ABORT, 'ledger entries are only ever added');
END;
CREATE TRIGGER identities_forget_refused_sends AFTER DELETE ON identities
BEGIN
    DELETE FROM refused_sends
    WHERE project_id = OLD.project_id AND mode = OLD.mode AND phone_index = OLD.phone_index;
END;
CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
BEGIN
    SELECT raise(ABORT, 'the audit log is never changed');
END;
