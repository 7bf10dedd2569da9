-- Every tenant's row carries project_id and, where live and test differ, mode.
-- Ids are UUIDs of 16 bytes, instants milliseconds since 1970 UTC. The id of an event and what a ledger
-- entry refers to are text, for they are not all ids.
-- Phone numbers are here only as blind index (keyed digest) and sealed (AES-256-GCM).
--
-- Rows that are short lie in their primary key, WITHOUT ROWID, which is one b-tree less to write; attempts
-- and entries of the ledger where they are looked for, by their request and by their place (docs/adr/0046).

-- Projects and their keys

CREATE TABLE projects (
    id                 blob NOT NULL PRIMARY KEY,
    name               text NOT NULL,
    identity_lookup    boolean NOT NULL,
    identity_delete    boolean NOT NULL,
    whatsapp_price     bigint CHECK (whatsapp_price >= 0),
    sms_price          bigint CHECK (sms_price >= 0),
    created_at         bigint NOT NULL,
    -- how its messages read, who carries them, and when its balance counts as low; NULL means as
    -- configured, and lists of providers are separated by commas
    brand              text,
    language           text,
    sms_text           text,
    sms_template_id    text,
    sms_domain         text,
    sms_app_hash       text,
    whatsapp_providers text,
    sms_providers      text,
    fallback_seconds   integer CHECK (fallback_seconds >= 0),
    low_balance        bigint,
    -- the most that its sends may spend on one day in Indian time; NULL for no limit
    daily_spend        bigint CHECK (daily_spend >= 0),
    -- since when its API keys are refused; NULL while it is in use
    archived_at        bigint,
    -- whether codes of other systems are delivered for it (`POST /v1/otp/relay`), by mode
    relay_live         boolean NOT NULL DEFAULT false,
    relay_test         boolean NOT NULL DEFAULT false,
    -- whether live tokens name an issuer of its own, what they say beside the claims of every token, a line
    -- `name=value` for each, and their `typ`
    own_issuer         boolean NOT NULL DEFAULT false,
    token_claims       text,
    token_type         text NOT NULL DEFAULT 'at+jwt' CHECK (token_type IN ('at+jwt', 'JWT')),
    -- domains and app hashes that a send may name for the last line of its SMS, separated by commas
    sms_last_lines     text,
    -- whether its events are kept to be read (`GET /v1/events`), and how often that was switched on
    events_feed        boolean NOT NULL DEFAULT false,
    events_feed_run    integer NOT NULL DEFAULT 0,
    -- what happens to live sends during a flood (docs/guard.md)
    guard              text NOT NULL DEFAULT 'off' CHECK (guard IN ('off', 'watch', 'enforce'))
);

CREATE TABLE api_keys (
    id         blob NOT NULL PRIMARY KEY,
    project_id blob NOT NULL REFERENCES projects (id),
    mode       text NOT NULL CHECK (mode IN ('live', 'test')),
    digest     blob NOT NULL UNIQUE,
    -- its last characters, which may be shown
    ending     text NOT NULL,
    created_at bigint NOT NULL,
    -- who used it last, written once a minute at most
    used_at    bigint,
    used_from  text,
    UNIQUE (project_id, mode)
);

CREATE TABLE signing_keys (
    kid             text PRIMARY KEY,
    algorithm       text NOT NULL,
    private_sealed  blob NOT NULL,
    created_at      bigint NOT NULL,
    signs_from      bigint NOT NULL,
    signs_until     bigint,
    published_until bigint
);

-- Check values of the master keys and the lookup key of this database: digests that are derived
-- from the keys and reveal nothing about them. A row for each master key that has encrypted something here, the
-- one in use with the highest turn, and one for the lookup key.
CREATE TABLE key_checks (
    check_value blob NOT NULL PRIMARY KEY CHECK (length(check_value) = 32),
    kind        text NOT NULL CHECK (kind IN ('master', 'lookup')),
    turn        bigint NOT NULL CHECK (kind = 'master' OR turn = 0),
    UNIQUE (kind, turn)
) WITHOUT ROWID;

-- Addresses at which other systems ask for their own codes to be delivered (`POST /hooks/{hook}`).
CREATE TABLE hooks (
    id               blob NOT NULL PRIMARY KEY,
    project_id       blob NOT NULL REFERENCES projects (id),
    mode             text NOT NULL CHECK (mode IN ('live', 'test')),
    kind             text NOT NULL,
    lifetime_seconds integer NOT NULL,
    -- of the codes of a second factor, where the other system has one
    mfa_lifetime_seconds integer,
    -- the present secret and the one before, sealed
    secret           blob NOT NULL,
    previous_secret  blob,
    previous_until   bigint,
    created_at       bigint NOT NULL
);
CREATE INDEX hooks_by_project ON hooks (project_id);

-- Identities and their sessions

CREATE TABLE identities (
    id               blob PRIMARY KEY,
    project_id       blob NOT NULL REFERENCES projects (id),
    mode             text NOT NULL CHECK (mode IN ('live', 'test')),
    phone_index      blob NOT NULL,
    phone_sealed     blob NOT NULL,
    created_at       bigint NOT NULL,
    last_verified_at bigint NOT NULL,
    UNIQUE (project_id, mode, phone_index)
) WITHOUT ROWID;

CREATE TABLE sessions (
    id                 blob NOT NULL PRIMARY KEY,
    project_id         blob NOT NULL,
    mode               text NOT NULL,
    identity_id        blob NOT NULL REFERENCES identities (id) ON DELETE CASCADE,
    created_at         bigint NOT NULL,
    expires_at         bigint NOT NULL,
    refresh_digest     blob NOT NULL,
    refresh_expires_at bigint NOT NULL,
    access_token_id    blob NOT NULL,
    access_issued_at   bigint NOT NULL,
    access_expires_at  bigint NOT NULL,
    replay_key         blob,
    revoked_at         bigint,
    generation         bigint NOT NULL DEFAULT 0,
    -- when the last 16 refresh tokens were exchanged: milliseconds in eight bytes each, oldest first
    rotations          blob NOT NULL DEFAULT x'',
    -- the sealed answer to a repeated refresh
    replay_answer      blob CHECK ((replay_answer IS NULL) = (replay_key IS NULL))
);
-- Those of an identity, newest first.
CREATE INDEX sessions_by_identity ON sessions (identity_id, created_at, id);
-- What the sweep looks for.
CREATE INDEX sessions_by_end ON sessions (expires_at);
CREATE INDEX sessions_by_revocation ON sessions (revoked_at) WHERE revoked_at IS NOT NULL;

-- Codes, and the attempts to deliver them. An id says when it was made, so these are read and dropped by
-- age in the order of their ids.

CREATE TABLE otps (
    id           blob NOT NULL PRIMARY KEY,
    project_id   blob NOT NULL REFERENCES projects (id),
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
    -- When guesses were judged, the last 16 of them: milliseconds in eight bytes each, oldest first.
    -- Of a used code the last one is the right one.
    guesses      blob,
    -- whether somebody else made the code and checks it; here it is `void`, and only delivered
    relayed      boolean NOT NULL DEFAULT false,
    -- whether only a known device may guess at it
    device_only  boolean NOT NULL DEFAULT false,
    -- how the guard judged the send
    guard        text,
    -- what the send means for the levels of the guard: digest of the visitor's address, when its number took a
    -- token, whether the number had no identity, and whether its verification earns
    visitor      blob,
    taken_at     bigint,
    is_new       boolean NOT NULL DEFAULT false,
    earns        boolean NOT NULL DEFAULT false
);
-- One code in force per phone (docs/contract.md, Codes).
CREATE UNIQUE INDEX otps_in_force ON otps (project_id, mode, phone_index)
    WHERE state IN ('active', 'locked');
CREATE INDEX otps_due ON otps (due_at) WHERE due_at IS NOT NULL;
-- Newest first, in one mode of a project, those that failed, and those of a phone, without a sort of all there are.
CREATE INDEX otps_by_mode ON otps (project_id, mode, id);
CREATE INDEX otps_failed ON otps (project_id, mode, id) WHERE status = 'failed';
CREATE INDEX otps_by_phone ON otps (project_id, mode, phone_index, id);

CREATE TABLE otp_attempts (
    id           blob NOT NULL UNIQUE,
    otp_id       blob NOT NULL REFERENCES otps (id) ON DELETE CASCADE,
    position     integer NOT NULL,
    channel      text NOT NULL CHECK (channel IN ('whatsapp', 'sms')),
    provider     text NOT NULL,
    provider_ref text,
    status       text NOT NULL CHECK (status IN ('queued', 'sent', 'failed', 'delivered')),
    reason       text,
    changed_at   bigint NOT NULL,
    -- whether the provider ever took the message, whatever it reported later
    accepted     boolean NOT NULL DEFAULT 0,
    PRIMARY KEY (otp_id, position)
) WITHOUT ROWID;
CREATE INDEX otp_attempts_by_reference ON otp_attempts (provider, provider_ref)
    WHERE provider_ref IS NOT NULL;

-- What providers reported, until it is applied. A receipt is known once the attempt it is about is on
-- record. A repetition is not kept twice.
CREATE TABLE receipts (
    id           blob PRIMARY KEY,
    provider     text NOT NULL,
    provider_ref text NOT NULL,
    report       text NOT NULL CHECK (report IN ('sent', 'delivered', 'failed')),
    reason       text,
    received_at  bigint NOT NULL,
    due_at       bigint NOT NULL,
    known        boolean NOT NULL DEFAULT true
) WITHOUT ROWID;
CREATE UNIQUE INDEX receipts_by_message
    ON receipts (provider, provider_ref, report, coalesce(reason, ''));
CREATE INDEX receipts_due ON receipts (due_at, id) WHERE known AND report <> 'failed';
CREATE INDEX receipts_failed_due ON receipts (due_at, id) WHERE known AND report = 'failed';
CREATE INDEX receipts_unknown_due ON receipts (due_at) WHERE NOT known;
CREATE INDEX receipts_unknown_by_age ON receipts (received_at, id) WHERE NOT known;

-- A receipt may overtake the answer of its own send: it becomes due in the write that puts the
-- provider's reference on record.
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

-- Test mode only: what would have been sent.
CREATE TABLE sandbox_messages (
    id          integer PRIMARY KEY AUTOINCREMENT,
    project_id  blob NOT NULL REFERENCES projects (id),
    otp_id      blob NOT NULL REFERENCES otps (id) ON DELETE CASCADE,
    phone_index blob NOT NULL,
    channel     text NOT NULL,
    content     blob NOT NULL,
    landed_at   bigint NOT NULL
);
CREATE INDEX sandbox_messages_by_phone ON sandbox_messages (project_id, phone_index, id);
-- Without it, each request that is dropped reads every message.
CREATE INDEX sandbox_messages_by_otp ON sandbox_messages (otp_id);
-- The newest of a project, to all phones.
CREATE INDEX sandbox_messages_by_project ON sandbox_messages (project_id, id);

-- Limits. They know the blind index alone, so that deleting an identity resets none of them.

CREATE TABLE guess_budgets (
    project_id      blob NOT NULL,
    mode            text NOT NULL,
    phone_index     blob NOT NULL,
    wrong           integer NOT NULL,
    last_wrong_at   bigint,
    -- wrong codes of a period that no success resets, and when they stopped the sends
    period_began_at bigint,
    period_wrong    integer NOT NULL DEFAULT 0,
    stopped_at      bigint,
    -- wrong codes of known devices in a period of their own
    device_began_at bigint,
    device_wrong    integer NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, mode, phone_index)
) WITHOUT ROWID;
CREATE INDEX guess_budgets_by_age ON guess_budgets (last_wrong_at);

CREATE TABLE send_slots (
    send_id     blob PRIMARY KEY,
    project_id  blob NOT NULL,
    mode        text NOT NULL,
    phone_index blob NOT NULL,
    taken_at    bigint NOT NULL,
    -- has given its place back and still counts as one that reached a provider
    forgiven    boolean NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX send_slots_by_phone ON send_slots (project_id, mode, phone_index, taken_at);

-- The levels of the guard that are not full, in millionths of a token (docs/guard.md).
CREATE TABLE guard_levels (
    project_id blob NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('address', 'series', 'project')),
    digest     blob NOT NULL,
    level      bigint NOT NULL,
    changed_at bigint NOT NULL,
    capacity   bigint NOT NULL CHECK (capacity > 0),
    PRIMARY KEY (project_id, kind, digest)
) WITHOUT ROWID;
CREATE INDEX guard_levels_by_change ON guard_levels (changed_at);

-- The first answers to requests with an Idempotency-Key
CREATE TABLE idempotency_records (
    project_id  blob NOT NULL,
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

-- Money, in paise

CREATE TABLE wallets (
    project_id    blob PRIMARY KEY REFERENCES projects (id),
    balance       bigint NOT NULL,
    held          bigint NOT NULL,
    entries       bigint NOT NULL,
    -- the day in Indian time of the newest send, what the sends of that day hold and were charged, and which part
    -- of which limit was told on it, in per cent and paise
    spend_since   bigint      NOT NULL DEFAULT 0,
    spend         bigint NOT NULL DEFAULT 0,
    spend_told    integer NOT NULL DEFAULT 0,
    spend_told_of bigint NOT NULL DEFAULT 0,
    CHECK (held >= 0 AND balance >= held AND spend >= 0)
) WITHOUT ROWID;

CREATE TABLE wallet_holds (
    send_id    blob PRIMARY KEY,
    project_id blob NOT NULL REFERENCES wallets (project_id),
    amount     bigint NOT NULL CHECK (amount >= 0),
    held_since bigint NOT NULL,
    -- whether its request delivers a code of another system
    relayed    boolean NOT NULL DEFAULT false
) WITHOUT ROWID;

-- Append-only: position counts a wallet's entries, so a missing one shows.
CREATE TABLE ledger_entries (
    id            blob NOT NULL UNIQUE,
    project_id    blob NOT NULL REFERENCES wallets (project_id),
    position      bigint NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('credit', 'hold', 'capture', 'release', 'refund', 'adjustment')),
    amount        bigint NOT NULL,
    held          bigint NOT NULL,
    balance_after bigint NOT NULL,
    held_after    bigint NOT NULL,
    reference     text NOT NULL,
    made_at       bigint NOT NULL,
    relayed       boolean NOT NULL DEFAULT false,
    PRIMARY KEY (project_id, position)
) WITHOUT ROWID;
-- A statement is read kind by kind, newest first. Times do not grow with positions where movements
-- come at once, so dates need an index of their own.
CREATE INDEX ledger_entries_by_time ON ledger_entries (project_id, kind, made_at, position);
-- Named, for SQLite would rather read all of a project's ledger than look up some of its references.
CREATE UNIQUE INDEX ledger_entries_by_reference ON ledger_entries (project_id, kind, reference);

CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries
BEGIN
    SELECT RAISE(ABORT, 'ledger entries are only ever added');
END;

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
-- sums of the ledger are the same before and after each deletion.
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

-- What proofs of a ledger found, the newest few of each project.
CREATE TABLE ledger_proofs (
    project_id    blob NOT NULL,
    begun_at      bigint NOT NULL,
    ended_at      bigint NOT NULL,
    made_by       text NOT NULL,
    -- what was added up
    entries       bigint NOT NULL,
    position      bigint NOT NULL,
    balance_sum   bigint NOT NULL,
    held_sum      bigint NOT NULL,
    -- what the wallet said
    last_position bigint NOT NULL,
    balance       bigint NOT NULL,
    held          bigint NOT NULL,
    open_holds    bigint NOT NULL,
    sound         boolean NOT NULL,
    -- how many entries were closed: a proof continues another only where that is the same
    closed        bigint NOT NULL,
    PRIMARY KEY (project_id, begun_at)
);

-- The proof of a project that is being made.
CREATE TABLE ledger_proof_runs (
    project_id blob NOT NULL PRIMARY KEY,
    begun_at   bigint NOT NULL,
    made_by    text NOT NULL,
    seen_at    bigint NOT NULL
);

-- Events, and who is told of them

CREATE TABLE webhook_endpoints (
    id              blob NOT NULL PRIMARY KEY,
    project_id      blob NOT NULL REFERENCES projects (id),
    url             text NOT NULL,
    full_phone      boolean NOT NULL,
    secret          blob NOT NULL,
    previous_secret blob,
    previous_until  bigint,
    created_at      bigint NOT NULL,
    -- how it fails, and since when it is switched off
    failures        integer NOT NULL DEFAULT 0,
    failing_since   bigint,
    disabled_at     bigint
);
CREATE INDEX webhook_endpoints_by_project ON webhook_endpoints (project_id);
CREATE INDEX webhook_endpoints_disabled ON webhook_endpoints (disabled_at)
    WHERE disabled_at IS NOT NULL;

-- What happened, until every endpoint has been told or given up on, and while it is in the feed of its project. No
-- number is given twice, also after the newest rows are gone: cursors of the feed hold numbers.
CREATE TABLE events (
    number       integer PRIMARY KEY AUTOINCREMENT,
    id           text NOT NULL UNIQUE,
    project_id   blob NOT NULL REFERENCES projects (id),
    mode         text NOT NULL CHECK (mode IN ('live', 'test')),
    kind         text NOT NULL,
    subject_id   blob NOT NULL,
    -- of a session: its identity
    related_id   blob,
    -- of an OTP request; of a level of the guard: the mode of the guard
    channel      text,
    phone_index  blob,
    phone_sealed blob,
    -- of an identity: sessions revoked; of a wallet: balance and threshold; of a day's
    -- spend: its sum and limit; of a provider: how many
    -- of its receipts failed, out of how many; of an endpoint: how many calls failed, the first when,
    -- in milliseconds
    amount       bigint,
    threshold    bigint,
    happened_at  bigint NOT NULL,
    -- of a provider: its name; of a day's spend: the part of the limit, in per cent; of a level of the guard:
    -- the kind of its subject
    provider     text,
    -- whether `GET /v1/events` gives it
    in_feed      boolean NOT NULL DEFAULT false
);
CREATE INDEX events_in_feed ON events (project_id, mode, number) WHERE in_feed;
CREATE INDEX events_by_phone ON events (project_id, mode, phone_index) WHERE phone_index IS NOT NULL;

CREATE TABLE event_deliveries (
    event_id    text NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    endpoint_id blob NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    failures    integer NOT NULL,
    due_at      bigint NOT NULL,
    PRIMARY KEY (event_id, endpoint_id)
) WITHOUT ROWID;
-- What is due is looked for endpoint by endpoint.
CREATE INDEX event_deliveries_due ON event_deliveries (endpoint_id, due_at, event_id);

-- What endpoints were told, a row per call. It names an event, and keeps it on record, but does not
-- point at it: what test keys leave beyond their quota goes before.
CREATE TABLE webhook_calls (
    id          blob PRIMARY KEY,
    endpoint_id blob NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
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
) WITHOUT ROWID;
CREATE INDEX webhook_calls_by_endpoint ON webhook_calls (endpoint_id, id);
CREATE INDEX webhook_calls_failed ON webhook_calls (endpoint_id, id) WHERE failed;
CREATE INDEX webhook_calls_by_event ON webhook_calls (event_id, endpoint_id, called_at);
CREATE INDEX webhook_calls_by_age ON webhook_calls (called_at);

-- The feed of a project and mode, as of the last sweep: how many events it holds up to one of them, and the last one that left it.
CREATE TABLE event_feeds (
    project_id          blob NOT NULL REFERENCES projects (id),
    mode                text NOT NULL CHECK (mode IN ('live', 'test')),
    kept                bigint NOT NULL,
    -- one writes at a time here, so that transactions need no numbers, and these stay 0
    counted_transaction bigint NOT NULL,
    counted_number      bigint NOT NULL,
    dropped_transaction bigint NOT NULL,
    dropped_number      bigint NOT NULL,
    PRIMARY KEY (project_id, mode)
) WITHOUT ROWID;

-- The name of this life of the database, another one after each restore. Cursors of the feed hold it.
CREATE TABLE feed_life (
    name text NOT NULL
);
INSERT INTO feed_life (name) VALUES (lower(hex(randomblob(16))));

-- What test keys leave. Their quota finds a project's oldest records by these; live rows are not in them.
CREATE INDEX otps_of_tests ON otps (project_id, expires_at) WHERE mode = 'test';
CREATE INDEX idempotency_records_of_tests ON idempotency_records (project_id, began_at)
    WHERE mode = 'test';
CREATE INDEX send_slots_of_tests ON send_slots (project_id, taken_at) WHERE mode = 'test';
CREATE INDEX sessions_of_tests ON sessions (project_id, created_at) WHERE mode = 'test';
CREATE INDEX identities_of_tests ON identities (project_id, last_verified_at) WHERE mode = 'test';
CREATE INDEX events_of_tests ON events (project_id, happened_at) WHERE mode = 'test' AND NOT in_feed;
CREATE INDEX guess_budgets_of_tests ON guess_budgets (project_id) WHERE mode = 'test';

-- Figures

-- What was sent and what became of it, per project, mode, stretch of time and provider; counted
-- from the tables above. What was charged is in paise, times are histograms: to the verification and
-- to the phone. Sends for which no provider was asked have neither channel nor provider: ''.
CREATE TABLE figures (
    project_id     blob NOT NULL,
    mode           text NOT NULL,
    grain          text NOT NULL,
    began_at       bigint NOT NULL,
    channel        text NOT NULL,
    provider       text NOT NULL,
    attempts       bigint NOT NULL,
    accepted       bigint NOT NULL,
    arrived        bigint NOT NULL,
    failed         bigint NOT NULL,
    requests       bigint NOT NULL,
    delivered      bigint NOT NULL,
    verified       bigint NOT NULL,
    spent          bigint NOT NULL,
    times          blob NOT NULL,
    delivery_times blob NOT NULL,
    -- why messages failed and sends were refused, such as 'timeout 12,balance 3'
    causes         text NOT NULL,
    -- those of codes of other systems: they are verified elsewhere, so rates leave them out
    relay_attempts bigint NOT NULL DEFAULT 0,
    relays         bigint NOT NULL DEFAULT 0,
    -- sends that the guard judged: those of trusted visitors, and those that it refuses where it is enforced, by the
    -- subject that has no token left
    guarded            bigint NOT NULL DEFAULT 0,
    trusted            bigint NOT NULL DEFAULT 0,
    trusted_verified   bigint NOT NULL DEFAULT 0,
    over_address       bigint NOT NULL DEFAULT 0,
    over_series        bigint NOT NULL DEFAULT 0,
    over_project       bigint NOT NULL DEFAULT 0,
    over_day           bigint NOT NULL DEFAULT 0,
    refusable_verified bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, mode, grain, began_at, channel, provider)
) WITHOUT ROWID;
CREATE INDEX figures_by_age ON figures (grain, began_at);

-- One row: who keeps the figures, and how far they have come.
CREATE TABLE figures_lease (
    id           integer PRIMARY KEY CHECK (id = 1),
    settled_at   bigint,
    fresh_at     bigint,
    keeper_id    blob,
    leased_until bigint,
    CHECK ((keeper_id IS NULL) = (leased_until IS NULL))
);
INSERT INTO figures_lease (id) VALUES (1);

-- What each process refused, by minute; no bytes stand for a phone that is not known.
CREATE TABLE refused_sends (
    project_id  blob NOT NULL,
    mode        text NOT NULL CHECK (mode IN ('live', 'test')),
    phone_index blob NOT NULL,
    minute      bigint NOT NULL,
    reason      text NOT NULL,
    tally       blob NOT NULL,
    count       integer NOT NULL CHECK (count > 0),
    PRIMARY KEY (project_id, mode, phone_index, minute, reason, tally)
);
CREATE INDEX refused_sends_by_project ON refused_sends (project_id, minute);
CREATE INDEX refused_sends_by_age ON refused_sends (minute);

-- An erased phone leaves no count behind.
CREATE TRIGGER identities_forget_refused_sends AFTER DELETE ON identities
BEGIN
    DELETE FROM refused_sends
    WHERE project_id = OLD.project_id AND mode = OLD.mode AND phone_index = OLD.phone_index;
END;

-- Who runs the service

-- A name is unique in whatever case.
CREATE TABLE operators (
    id             blob NOT NULL PRIMARY KEY,
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

-- What lets an operator in, once.
CREATE TABLE operator_links (
    digest      blob PRIMARY KEY,
    operator_id blob NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    kind        text NOT NULL,
    made_at     bigint NOT NULL,
    expires_at  bigint NOT NULL
);
CREATE INDEX operator_links_by_operator ON operator_links (operator_id);
CREATE INDEX operator_links_by_end ON operator_links (expires_at);

-- What lets an operator in without a password: the public part.
CREATE TABLE operator_passkeys (
    digest      blob PRIMARY KEY,
    operator_id blob NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    name        text NOT NULL,
    credential  blob NOT NULL,
    algorithm   text NOT NULL,
    spki        blob NOT NULL,
    counter     bigint NOT NULL,
    made_at     bigint NOT NULL,
    used_at     bigint
);
CREATE INDEX operator_passkeys_by_operator ON operator_passkeys (operator_id);

CREATE TABLE operator_sessions (
    digest       blob PRIMARY KEY,
    operator_id  blob NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    from_address text,
    created_at   bigint NOT NULL,
    seen_at      bigint NOT NULL,
    expires_at   bigint NOT NULL,
    -- in which browser, as in "Chrome on Windows"
    device       text
);
CREATE INDEX operator_sessions_by_operator ON operator_sessions (operator_id);
CREATE INDEX operator_sessions_by_end ON operator_sessions (expires_at);
CREATE INDEX operator_sessions_by_use ON operator_sessions (seen_at);

-- Counts of failures to sign in: of a browser, of a name with a network, of a name. Names that nobody
-- has share 65,536 ids that are nobody's.
CREATE TABLE operator_standings (
    operator_id  blob NOT NULL,
    subject      blob NOT NULL,
    failures     integer NOT NULL,
    last_at      bigint NOT NULL,
    locked_until bigint,
    PRIMARY KEY (operator_id, subject)
);
CREATE INDEX operator_standings_by_age ON operator_standings (last_at);

-- Challenges that passkeys have answered, until they are over.
CREATE TABLE used_challenges (
    digest     blob NOT NULL PRIMARY KEY,
    expires_at bigint NOT NULL
);
CREATE INDEX used_challenges_by_end ON used_challenges (expires_at);

CREATE TABLE admin_tokens (
    id           blob NOT NULL PRIMARY KEY,
    digest       blob NOT NULL UNIQUE,
    name         text NOT NULL,
    access       text NOT NULL,
    may_delegate boolean NOT NULL,
    made_by      text NOT NULL,
    made_at      bigint NOT NULL,
    expires_at   bigint NOT NULL,
    used_at      bigint,
    used_from    text
);
CREATE INDEX admin_tokens_by_end ON admin_tokens (expires_at);

-- Who changed what. Refers to no row: entries outlive their subjects.
CREATE TABLE audit_entries (
    id           blob NOT NULL PRIMARY KEY,
    happened_at  bigint NOT NULL,
    actor_kind   text NOT NULL,
    actor_id     blob,
    actor_name   text,
    from_address text,
    project_id   blob,
    action       text NOT NULL,
    subject      text NOT NULL,
    facts_before text,
    facts_after  text
);
CREATE INDEX audit_entries_by_age ON audit_entries (happened_at, id);
CREATE INDEX audit_entries_by_project ON audit_entries (project_id, happened_at, id)
    WHERE project_id IS NOT NULL;
-- The newest of one who did it, and of one kind, however long the log is.
CREATE INDEX audit_entries_by_actor ON audit_entries (actor_id, happened_at, id);
CREATE INDEX audit_entries_by_action ON audit_entries (action, happened_at, id);

CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
BEGIN
    SELECT raise(ABORT, 'the audit log is never changed');
END;

-- The phone numbers that those who see them masked searched for in the last day.
CREATE TABLE phone_searches (
    searcher_id blob NOT NULL,
    searched_at bigint NOT NULL,
    phone_index blob NOT NULL,
    PRIMARY KEY (searcher_id, searched_at, phone_index)
) WITHOUT ROWID;
CREATE INDEX phone_searches_by_age ON phone_searches (searched_at);

-- The processes that run the service, as they say themselves.
CREATE TABLE instances (
    id         blob NOT NULL PRIMARY KEY,
    started_at bigint NOT NULL,
    seen_at    bigint NOT NULL,
    version    text NOT NULL,
    host       text NOT NULL,
    pid        bigint NOT NULL,
    api        text NOT NULL,
    dashboard  text
);
CREATE INDEX instances_by_age ON instances (seen_at);

-- What single instances see of themselves and of providers, as they last reported it.
CREATE TABLE instance_troubles (
    instance_id blob NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    kind        text NOT NULL,
    about       text NOT NULL,
    detail      text NOT NULL,
    since       bigint,
    PRIMARY KEY (instance_id, kind, about)
) WITHOUT ROWID;

-- What needs a person and is not over: since when.
CREATE TABLE alerts (
    kind       text NOT NULL,
    about      text NOT NULL,
    project_id blob,
    since      bigint NOT NULL,
    PRIMARY KEY (kind, about)
) WITHOUT ROWID;

-- One row, which is written to prove that a write works. The number says nothing else.
CREATE TABLE write_proofs (
    id     integer NOT NULL PRIMARY KEY,
    writes bigint NOT NULL
);
