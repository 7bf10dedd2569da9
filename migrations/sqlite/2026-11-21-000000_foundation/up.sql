-- Every tenant's row carries project_id and, where the two worlds differ, mode.
-- Ids are UUIDs in canonical text form, instants milliseconds since 1970 UTC.
-- Phone numbers are here only as blind index (keyed digest) and sealed (AES-256-GCM).

CREATE TABLE projects (
    id              text PRIMARY KEY,
    name            text NOT NULL,
    identity_lookup boolean NOT NULL,
    identity_delete boolean NOT NULL,
    whatsapp_price  bigint CHECK (whatsapp_price >= 0),
    sms_price       bigint CHECK (sms_price >= 0),
    created_at      bigint NOT NULL
);

CREATE TABLE api_keys (
    id         text PRIMARY KEY,
    project_id text NOT NULL REFERENCES projects (id),
    mode       text NOT NULL CHECK (mode IN ('live', 'test')),
    digest     blob NOT NULL UNIQUE,
    last_four  text NOT NULL,
    created_at bigint NOT NULL,
    UNIQUE (project_id, mode)
);

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
    predecessor_digest blob,
    rotated_at         bigint,
    replay_key         blob,
    replay_answer      blob,
    revoked_at         bigint
);
CREATE INDEX sessions_by_identity ON sessions (identity_id);
CREATE INDEX sessions_by_end ON sessions (expires_at);

-- Every refresh token a session ever had, so that a stolen old one is recognised.
CREATE TABLE refresh_tokens (
    digest     blob PRIMARY KEY,
    session_id text NOT NULL REFERENCES sessions (id) ON DELETE CASCADE
);
CREATE INDEX refresh_tokens_by_session ON refresh_tokens (session_id);

CREATE TABLE signing_keys (
    kid             text PRIMARY KEY,
    algorithm       text NOT NULL,
    private_sealed  blob NOT NULL,
    created_at      bigint NOT NULL,
    signs_from      bigint NOT NULL,
    signs_until     bigint,
    published_until bigint
);

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
    due_at       bigint
);
-- One code in force per phone (docs/contract.md, Codes).
CREATE UNIQUE INDEX otps_in_force ON otps (project_id, mode, phone_index)
    WHERE state IN ('active', 'locked');
CREATE INDEX otps_by_phone ON otps (project_id, mode, phone_index);
CREATE INDEX otps_due ON otps (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX otps_by_age ON otps (created_at);

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
    UNIQUE (otp_id, position)
);
CREATE INDEX otp_attempts_by_reference ON otp_attempts (provider, provider_ref)
    WHERE provider_ref IS NOT NULL;

-- Limits know the blind index alone, so that deleting an identity resets none of them.
CREATE TABLE guess_budgets (
    project_id    text NOT NULL,
    mode          text NOT NULL,
    phone_index   blob NOT NULL,
    wrong         integer NOT NULL,
    last_wrong_at bigint,
    PRIMARY KEY (project_id, mode, phone_index)
);

CREATE TABLE send_slots (
    send_id     text PRIMARY KEY,
    project_id  text NOT NULL,
    mode        text NOT NULL,
    phone_index blob NOT NULL,
    taken_at    bigint NOT NULL
);
CREATE INDEX send_slots_by_phone ON send_slots (project_id, mode, phone_index, taken_at);
CREATE INDEX send_slots_by_age ON send_slots (taken_at);

CREATE TABLE wallets (
    project_id text PRIMARY KEY REFERENCES projects (id),
    balance    bigint NOT NULL,
    held       bigint NOT NULL,
    entries    bigint NOT NULL,
    CHECK (held >= 0 AND balance >= held)
);

-- Append-only: position counts a wallet's entries, so a missing one shows.
CREATE TABLE ledger_entries (
    id            text PRIMARY KEY,
    project_id    text NOT NULL REFERENCES wallets (project_id),
    position      bigint NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('credit', 'hold', 'capture', 'release')),
    amount        bigint NOT NULL,
    held          bigint NOT NULL,
    balance_after bigint NOT NULL,
    held_after    bigint NOT NULL,
    reference     text NOT NULL,
    made_at       bigint NOT NULL,
    UNIQUE (project_id, position),
    UNIQUE (project_id, kind, reference)
);

CREATE TABLE wallet_holds (
    send_id    text PRIMARY KEY,
    project_id text NOT NULL REFERENCES wallets (project_id),
    amount     bigint NOT NULL CHECK (amount >= 0),
    held_since bigint NOT NULL
);
CREATE INDEX wallet_holds_by_age ON wallet_holds (held_since);

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
CREATE INDEX idempotency_records_by_phone ON idempotency_records (project_id, mode, phone_index);
CREATE INDEX idempotency_records_by_age ON idempotency_records (began_at);

-- Test mode only: what would have been sent.
CREATE TABLE sandbox_messages (
    id          integer PRIMARY KEY AUTOINCREMENT,
    project_id  text NOT NULL REFERENCES projects (id),
    otp_id      text NOT NULL REFERENCES otps (id) ON DELETE CASCADE,
    phone_index blob NOT NULL,
    channel     text NOT NULL,
    content     blob NOT NULL,
    landed_at   bigint NOT NULL
);
CREATE INDEX sandbox_messages_by_phone ON sandbox_messages (project_id, phone_index, id);
