-- Every tenant's row carries project_id and, where live and test differ, mode.
-- Phone numbers are here only as blind index (keyed digest) and sealed (AES-256-GCM).
--
-- Tables that sends and logins write to have few checks and no foreign keys. Every statement that writes
-- to a table reads, parses and compiles its checks, and the words in these columns are the domain's: a row
-- that says anything else is refused when it is read. A foreign key locks its parent for every row that
-- comes, and all requests of a project have the same; nothing removes a project or a wallet. Checks about
-- money stay.

-- Projects and their keys

CREATE TABLE projects (
    id                 uuid PRIMARY KEY,
    name               text NOT NULL,
    identity_lookup    boolean NOT NULL,
    identity_delete    boolean NOT NULL,
    whatsapp_price     bigint CHECK (whatsapp_price >= 0),
    sms_price          bigint CHECK (sms_price >= 0),
    created_at         timestamptz NOT NULL,
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
    archived_at        timestamptz,
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
    id         uuid PRIMARY KEY,
    project_id uuid NOT NULL REFERENCES projects (id),
    mode       text NOT NULL CHECK (mode IN ('live', 'test')),
    digest     bytea NOT NULL UNIQUE,
    -- its last characters, which may be shown
    ending     text NOT NULL,
    created_at timestamptz NOT NULL,
    -- who used it last, written once a minute at most
    used_at    timestamptz,
    used_from  text,
    UNIQUE (project_id, mode)
);

-- What each instance may admit of the requests of an API key (docs/adr/0037): a few rows, each
-- written some times a minute while its key is in use, and read by its key alone. No foreign key: a
-- row is of no use a minute after its last change, and is dropped then.
CREATE TABLE quota_shares (
    api_key_id uuid NOT NULL,
    scope      text NOT NULL,
    -- an array of shares; instants and durations in microseconds
    shares     jsonb NOT NULL,
    -- from then on nothing in it counts
    over_at    timestamptz NOT NULL,
    PRIMARY KEY (api_key_id, scope)
) WITH (fillfactor = 50);

CREATE TABLE signing_keys (
    kid             text PRIMARY KEY,
    algorithm       text NOT NULL,
    private_sealed  bytea NOT NULL,
    created_at      timestamptz NOT NULL,
    signs_from      timestamptz NOT NULL,
    signs_until     timestamptz,
    published_until timestamptz
);

-- Check values of the master keys and the lookup key of this database: digests that are derived
-- from the keys and reveal nothing about them. A row for each master key that has encrypted something here, the
-- one in use with the highest turn, and one for the lookup key.
CREATE TABLE key_checks (
    check_value bytea PRIMARY KEY CHECK (length(check_value) = 32),
    kind        text NOT NULL CHECK (kind IN ('master', 'lookup')),
    turn        bigint NOT NULL CHECK (kind = 'master' OR turn = 0),
    UNIQUE (kind, turn)
);

-- Addresses at which other systems ask for their own codes to be delivered (`POST /hooks/{hook}`).
CREATE TABLE hooks (
    id               uuid PRIMARY KEY,
    project_id       uuid NOT NULL REFERENCES projects (id),
    mode             text NOT NULL CHECK (mode IN ('live', 'test')),
    kind             text NOT NULL,
    lifetime_seconds integer NOT NULL,
    -- of the codes of a second factor, where the other system has one
    mfa_lifetime_seconds integer,
    -- the present secret and the one before, sealed
    secret           bytea NOT NULL,
    previous_secret  bytea,
    previous_until   timestamptz,
    created_at       timestamptz NOT NULL
);
CREATE INDEX hooks_by_project ON hooks (project_id);

-- Identities and their sessions

CREATE TABLE identities (
    id               uuid PRIMARY KEY,
    project_id       uuid NOT NULL,
    mode             text NOT NULL,
    phone_index      bytea NOT NULL,
    phone_sealed     bytea NOT NULL,
    created_at       timestamptz NOT NULL,
    last_verified_at timestamptz NOT NULL,
    UNIQUE (project_id, mode, phone_index)
);

CREATE TABLE sessions (
    id                 uuid PRIMARY KEY,
    project_id         uuid NOT NULL,
    mode               text NOT NULL,
    identity_id        uuid NOT NULL,
    created_at         timestamptz NOT NULL,
    expires_at         timestamptz NOT NULL,
    refresh_digest     bytea NOT NULL,
    refresh_expires_at timestamptz NOT NULL,
    access_token_id    uuid NOT NULL,
    access_issued_at   timestamptz NOT NULL,
    access_expires_at  timestamptz NOT NULL,
    -- the sealed answer to a repeated refresh: both or neither
    replay_key         bytea,
    replay_answer      bytea,
    revoked_at         timestamptz,
    generation         bigint NOT NULL DEFAULT 0,
    -- when the last 16 refresh tokens were exchanged: milliseconds in eight bytes each, oldest first
    rotations          bytea NOT NULL DEFAULT ''
);
-- Those of an identity, newest first.
CREATE INDEX sessions_by_identity ON sessions (identity_id, created_at, id);
-- What the sweep looks for.
CREATE INDEX sessions_by_end ON sessions (expires_at);
CREATE INDEX sessions_by_revocation ON sessions (revoked_at) WHERE revoked_at IS NOT NULL;

-- In place of a foreign key; a statement of a function sees what was committed while the parent was
-- waited for.
CREATE FUNCTION take_sessions_along() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sessions WHERE identity_id IN (SELECT id FROM gone);
    RETURN NULL;
END
$$;
CREATE TRIGGER identities_take_sessions_along AFTER DELETE ON identities
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION take_sessions_along();

-- Codes, and the attempts to deliver them. An id says when it was made, so these are read and dropped by
-- age in the order of their ids.

CREATE TABLE otps (
    id           uuid PRIMARY KEY,
    project_id   uuid NOT NULL,
    mode         text NOT NULL,
    phone_index  bytea NOT NULL,
    phone_sealed bytea NOT NULL,
    code_key     integer NOT NULL,
    code_mac     bytea NOT NULL,
    code_sealed  bytea,
    state        text NOT NULL,
    wrong        integer NOT NULL,
    max_wrong    integer NOT NULL,
    status       text NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    due_at       timestamptz,
    -- The step that wrote it last. Each step writes a value of its own, so a step that finds the one
    -- it has read knows that nothing has changed since, and one that finds its own that it has written.
    version      uuid NOT NULL,
    -- When guesses were judged, the last 16 of them: milliseconds in eight bytes each, oldest first.
    -- Of a used code the last one is the right one.
    guesses      bytea,
    -- whether somebody else made the code and checks it; here it is `void`, and only delivered
    relayed      boolean NOT NULL DEFAULT false,
    -- whether only a known device may guess at it
    device_only  boolean NOT NULL DEFAULT false,
    -- how the guard judged the send
    guard        text,
    -- what the send means for the levels of the guard: digest of the visitor's address, when its number took a
    -- token, whether the number had no identity, and whether its verification earns
    visitor      bytea,
    taken_at     timestamptz,
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
    id           uuid PRIMARY KEY,
    otp_id       uuid NOT NULL,
    position     integer NOT NULL,
    channel      text NOT NULL,
    provider     text NOT NULL,
    provider_ref text,
    status       text NOT NULL,
    reason       text,
    changed_at   timestamptz NOT NULL,
    -- whether the provider ever took the message, whatever it reported later
    accepted     boolean NOT NULL DEFAULT false,
    UNIQUE (otp_id, position)
);
CREATE INDEX otp_attempts_by_reference ON otp_attempts (provider, provider_ref)
    WHERE provider_ref IS NOT NULL;

-- In place of a foreign key, as for sessions.
CREATE FUNCTION take_attempts_along() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM otp_attempts WHERE otp_id IN (SELECT id FROM gone);
    RETURN NULL;
END
$$;
CREATE TRIGGER otps_take_attempts_along AFTER DELETE ON otps
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION take_attempts_along();

-- What providers reported, until it is applied. A receipt is known once the attempt it is about is on
-- record. A repetition is not kept twice.
CREATE TABLE receipts (
    id           uuid PRIMARY KEY,
    provider     text NOT NULL,
    provider_ref text NOT NULL,
    report       text NOT NULL CHECK (report IN ('sent', 'delivered', 'failed')),
    reason       text,
    received_at  timestamptz NOT NULL,
    due_at       timestamptz NOT NULL,
    known        boolean NOT NULL
);
CREATE UNIQUE INDEX receipts_by_message
    ON receipts (provider, provider_ref, report, coalesce(reason, ''));
CREATE INDEX receipts_due ON receipts (due_at, id) WHERE known AND report <> 'failed';
CREATE INDEX receipts_failed_due ON receipts (due_at, id) WHERE known AND report = 'failed';
CREATE INDEX receipts_unknown_due ON receipts (due_at) WHERE NOT known;
CREATE INDEX receipts_unknown_by_age ON receipts (received_at, id) WHERE NOT known;

-- A receipt may overtake the answer of its own send: it becomes due with the statement that puts
-- the provider's reference on record, and costs the send no round trip.
CREATE FUNCTION wake_receipts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE receipts SET known = true, due_at = received_at
    WHERE provider = NEW.provider AND provider_ref = NEW.provider_ref AND NOT known;
    RETURN NULL;
END
$$;
CREATE TRIGGER otp_attempts_wake_new AFTER INSERT ON otp_attempts
    FOR EACH ROW WHEN (NEW.provider_ref IS NOT NULL) EXECUTE FUNCTION wake_receipts();
CREATE TRIGGER otp_attempts_wake AFTER UPDATE ON otp_attempts
    FOR EACH ROW
    WHEN (NEW.provider_ref IS NOT NULL AND NEW.provider_ref IS DISTINCT FROM OLD.provider_ref)
    EXECUTE FUNCTION wake_receipts();

-- Test mode only: what would have been sent.
CREATE TABLE sandbox_messages (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id  uuid NOT NULL REFERENCES projects (id),
    otp_id      uuid NOT NULL REFERENCES otps (id) ON DELETE CASCADE,
    phone_index bytea NOT NULL,
    channel     text NOT NULL,
    content     bytea NOT NULL,
    landed_at   timestamptz NOT NULL
);
CREATE INDEX sandbox_messages_by_phone ON sandbox_messages (project_id, phone_index, id);
-- Without it, each request that is dropped reads every message.
CREATE INDEX sandbox_messages_by_otp ON sandbox_messages (otp_id);
-- The newest of a project, to all phones.
CREATE INDEX sandbox_messages_by_project ON sandbox_messages (project_id, id);

-- Limits. They know the blind index alone, so that deleting an identity resets none of them.

CREATE TABLE guess_budgets (
    project_id      uuid NOT NULL,
    mode            text NOT NULL,
    phone_index     bytea NOT NULL,
    wrong           integer NOT NULL,
    last_wrong_at   timestamptz,
    -- wrong codes of a period that no success resets, and when they stopped the sends
    period_began_at timestamptz,
    period_wrong    integer NOT NULL DEFAULT 0,
    stopped_at      timestamptz,
    -- wrong codes of known devices in a period of their own
    device_began_at timestamptz,
    device_wrong    integer NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, mode, phone_index)
);
CREATE INDEX guess_budgets_by_age ON guess_budgets (last_wrong_at);

CREATE TABLE send_slots (
    send_id     uuid PRIMARY KEY,
    project_id  uuid NOT NULL,
    mode        text NOT NULL,
    phone_index bytea NOT NULL,
    taken_at    timestamptz NOT NULL,
    -- has given its place back and still counts as one that reached a provider
    forgiven    boolean NOT NULL DEFAULT false
);
CREATE INDEX send_slots_by_phone ON send_slots (project_id, mode, phone_index, taken_at);

-- The levels of the guard that are not full, in millionths of a token (docs/guard.md).
CREATE TABLE guard_levels (
    project_id uuid NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('address', 'series', 'project')),
    digest     bytea NOT NULL,
    level      bigint NOT NULL,
    changed_at timestamptz NOT NULL,
    capacity   bigint NOT NULL CHECK (capacity > 0),
    PRIMARY KEY (project_id, kind, digest)
);
CREATE INDEX guard_levels_by_change ON guard_levels (changed_at);

-- The first answers to requests with an Idempotency-Key
CREATE TABLE idempotency_records (
    project_id  uuid NOT NULL,
    mode        text NOT NULL,
    route       text NOT NULL,
    key_digest  bytea NOT NULL,
    fingerprint bytea NOT NULL,
    phone_index bytea NOT NULL,
    began_at    timestamptz NOT NULL,
    answer      bytea,
    PRIMARY KEY (project_id, mode, route, key_digest)
);
CREATE INDEX idempotency_records_by_phone ON idempotency_records (project_id, mode, phone_index);
CREATE INDEX idempotency_records_by_age ON idempotency_records (began_at);

-- Money, in paise

CREATE TABLE wallets (
    project_id    uuid PRIMARY KEY REFERENCES projects (id),
    balance       bigint NOT NULL,
    held          bigint NOT NULL,
    entries       bigint NOT NULL,
    -- the day in Indian time of the newest send, what the sends of that day hold and were charged, and which part
    -- of which limit was told on it, in per cent and paise
    spend_since   timestamptz NOT NULL DEFAULT 'epoch',
    spend         bigint NOT NULL DEFAULT 0,
    spend_told    integer NOT NULL DEFAULT 0,
    spend_told_of bigint NOT NULL DEFAULT 0,
    CHECK (held >= 0 AND balance >= held AND spend >= 0)
);

CREATE TABLE wallet_holds (
    send_id    uuid PRIMARY KEY,
    project_id uuid NOT NULL,
    amount     bigint NOT NULL CHECK (amount >= 0),
    held_since timestamptz NOT NULL,
    -- whether its request delivers a code of another system
    relayed    boolean NOT NULL DEFAULT false
);

-- Append-only: position counts a wallet's entries, so a missing one shows.
CREATE TABLE ledger_entries (
    id            uuid PRIMARY KEY,
    project_id    uuid NOT NULL,
    position      bigint NOT NULL,
    kind          text NOT NULL,
    amount        bigint NOT NULL,
    held          bigint NOT NULL,
    balance_after bigint NOT NULL,
    held_after    bigint NOT NULL,
    reference     text NOT NULL,
    made_at       timestamptz NOT NULL,
    relayed       boolean NOT NULL DEFAULT false,
    UNIQUE (project_id, position),
    UNIQUE (project_id, kind, reference)
);
-- A statement is read kind by kind, newest first. Times do not grow with positions where movements
-- come at once, so dates need an index of their own.
CREATE INDEX ledger_entries_by_time ON ledger_entries (project_id, kind, made_at, position);

CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'ledger entries are only ever added';
END
$$;
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE ON ledger_entries
    FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_entries_no_truncate BEFORE TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

-- Months of the ledger that are closed (docs/adr/0062): the holds, captures and releases of one month and project
-- leave `ledger_entries`, and one row here carries their sums. What was exported is said once and for all when a
-- row begins; what it stands for by now changes only together with the entries that leave.
CREATE TABLE ledger_closings (
    id             uuid NOT NULL UNIQUE,
    project_id     uuid NOT NULL,
    -- as 2026-10, in Indian time
    month          text NOT NULL,
    since          timestamptz NOT NULL,
    until          timestamptz NOT NULL,
    exported       bigint NOT NULL CHECK (exported > 0),
    first_position bigint NOT NULL CHECK (first_position > 0),
    last_position  bigint NOT NULL,
    -- SHA-256 of the file that they were exported to
    digest         bytea NOT NULL CHECK (length(digest) = 32),
    -- what the row stands for by now; `position` is that of the last of these
    entries        bigint NOT NULL,
    position       bigint NOT NULL,
    amount         bigint NOT NULL,
    held           bigint NOT NULL,
    balance_after  bigint NOT NULL,
    held_after     bigint NOT NULL,
    made_at        timestamptz NOT NULL,
    PRIMARY KEY (project_id, month),
    CHECK (since < until AND first_position <= last_position),
    CHECK (entries BETWEEN 0 AND exported AND position <= last_position)
);
-- One at a time, so that no entry belongs to two.
CREATE UNIQUE INDEX ledger_closings_open ON ledger_closings (project_id) WHERE entries < exported;

CREATE FUNCTION guard_ledger_closing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' AND NEW.entries = 0 AND NEW.amount = 0 AND NEW.held = 0
        AND NEW.position = NEW.first_position - 1 THEN
        RETURN NEW;
    END IF;
    -- From within the trigger of the entries that leave, and from nowhere else.
    IF TG_OP = 'UPDATE' AND pg_trigger_depth() > 1 THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a closed month is never changed';
END
$$;
CREATE TRIGGER ledger_closings_guarded BEFORE INSERT OR UPDATE OR DELETE ON ledger_closings
    FOR EACH ROW EXECUTE FUNCTION guard_ledger_closing();
CREATE TRIGGER ledger_closings_no_truncate BEFORE TRUNCATE ON ledger_closings
    FOR EACH STATEMENT EXECUTE FUNCTION guard_ledger_closing();

-- Entries leave only into the closing that they were exported for, which takes them in the same statement: so the
-- sums of the ledger are the same before and after each deletion.
CREATE FUNCTION close_ledger_entries() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    leaving bigint;
    taken bigint;
BEGIN
    SELECT count(*) INTO leaving FROM gone;
    WITH fitting AS (
        SELECT c.id, count(*) AS entries, max(g.position) AS position, sum(g.amount)::bigint AS amount,
            sum(g.held)::bigint AS held
        FROM gone g JOIN ledger_closings c ON c.project_id = g.project_id AND c.entries < c.exported
            AND g.position > c.position AND g.position <= c.last_position
            AND g.made_at >= c.since AND g.made_at < c.until
        WHERE g.kind IN ('hold', 'capture', 'release')
        GROUP BY c.id
    ), changed AS (
        UPDATE ledger_closings c SET entries = c.entries + f.entries, position = f.position,
            amount = c.amount + f.amount, held = c.held + f.held,
            balance_after = l.balance_after, held_after = l.held_after, made_at = l.made_at
        FROM fitting f JOIN gone l ON l.position = f.position
        WHERE c.id = f.id AND l.project_id = c.project_id
        RETURNING f.entries
    )
    SELECT coalesce(sum(entries), 0) INTO taken FROM changed;
    IF taken <> leaving THEN
        RAISE EXCEPTION 'ledger entries are only ever added';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER ledger_entries_closed AFTER DELETE ON ledger_entries
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION close_ledger_entries();

-- What proofs of a ledger found, the newest few of each project.
CREATE TABLE ledger_proofs (
    project_id    uuid NOT NULL,
    begun_at      timestamptz NOT NULL,
    ended_at      timestamptz NOT NULL,
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
    project_id uuid PRIMARY KEY,
    begun_at   timestamptz NOT NULL,
    made_by    text NOT NULL,
    seen_at    timestamptz NOT NULL
);

-- The first step of a login

-- Begins sends of one project, all or nothing each: says what becomes of each, takes the places, sets the
-- money aside and supersedes the present codes of those that are ready, unless their code is only delivered
-- here; their requests are put on record by the statement that calls this. A send is one element of each
-- array; no two are of one phone.
--
--   ready          its place and its money are taken
--   known          it is on record as it was put there: the step is asked for again
--   changed        it is on record, and somebody else has changed it since
--   unseen         something is on record of the phone that it was not judged by: the log is given back
--   unaffordable   the wallet does not cover it
--   spend_limited  the project's limit of the day does not allow its price
--
-- Each statement of a function sees what was committed before it, so what follows the lock of the phones
-- sees all that was recorded under it. Locks: phones, by key; codes, by id; the wallet; what an event locks.
--
-- Plans are kept while the tables grow. So each look-up is a subquery with OFFSET 0, which no plan joins
-- otherwise than by one look at an index for each send, and codes in force, which few phones have, are
-- locked and written one by one; a join might read the whole table.
CREATE FUNCTION prepare_sends(
    owner uuid, sends uuid[], modes text[], phones bytea[], versions uuid[], moments timestamptz[],
    placed boolean[], superseding boolean[], unguessed boolean[], costs bigint[], entry_ids uuid[],
    seen_by integer[], seen uuid[],
    verdicts text[], visitors bytea[]
) RETURNS TABLE (
    place bigint, outcome text, slots uuid[], slot_times timestamptz[], slots_forgiven boolean[],
    wrong integer, last_wrong_at timestamptz, period_began_at timestamptz, period_wrong integer,
    stopped_at timestamptz, device_began_at timestamptz, device_wrong integer,
    visitor bytea, taken_at timestamptz, is_new boolean, earns boolean
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    outcomes text[];
    present uuid[];
    followed_by bigint[];
    owned bigint;
    reserved bigint;
    counted bigint;
    free bigint;
    spend_limit bigint;
    day timestamptz;
    spent bigint;
    told integer;
    told_of bigint;
    today timestamptz;
    fits boolean;
    part integer;
    -- the parts of the limit that are reached: by which send, how much was spent by then
    parts integer[] := '{}';
    parts_by integer[] := '{}';
    parts_spent bigint[] := '{}';
BEGIN
    PERFORM pg_advisory_xact_lock(4, phone.key) FROM (
        SELECT DISTINCT hashtext(p::text) AS key FROM unnest(phones) AS p ORDER BY 1
    ) AS phone;

    outcomes := ARRAY(
        SELECT CASE
            WHEN o.version = s.version THEN 'known'
            WHEN o.id IS NOT NULL THEN 'changed'
            WHEN EXISTS (
                SELECT FROM send_slots t
                WHERE t.project_id = owner AND t.mode = s.mode AND t.phone_index = s.phone
                    AND NOT EXISTS (
                        SELECT FROM unnest(seen_by, seen) AS v (step, send)
                        WHERE v.step = s.place AND v.send = t.send_id
                    )
                OFFSET 0
            ) OR s.unguessed AND EXISTS (
                SELECT FROM guess_budgets b
                WHERE b.project_id = owner AND b.mode = s.mode AND b.phone_index = s.phone
                OFFSET 0
            ) THEN 'unseen'
            ELSE 'ready'
        END
        FROM unnest(sends, modes, phones, versions, unguessed)
            WITH ORDINALITY AS s (send, mode, phone, version, unguessed, place)
        LEFT JOIN LATERAL (
            SELECT o.id, o.version FROM otps o WHERE o.id = s.send OFFSET 0
        ) AS o ON true
        ORDER BY s.place
    );

    SELECT array_agg(o.id ORDER BY o.id), array_agg(s.place ORDER BY o.id) INTO present, followed_by
    FROM unnest(modes, phones, superseding, outcomes)
        WITH ORDINALITY AS s (mode, phone, supersedes, outcome, place)
    CROSS JOIN LATERAL (
        SELECT o.id FROM otps o
        WHERE o.project_id = owner AND o.mode = s.mode AND o.phone_index = s.phone
            AND o.state IN ('active', 'locked')
        OFFSET 0
    ) AS o
    WHERE s.outcome = 'ready' AND s.supersedes;
    FOR code IN 1 .. coalesce(cardinality(present), 0) LOOP
        PERFORM FROM otps o WHERE o.id = present[code] FOR UPDATE;
    END LOOP;

    IF EXISTS (
        SELECT FROM unnest(outcomes, costs) AS s (outcome, cost)
        WHERE s.outcome = 'ready' AND s.cost > 0
    ) THEN
        SELECT w.balance, w.held, w.entries, w.spend_since, w.spend, w.spend_told, w.spend_told_of,
            (SELECT p.daily_spend FROM projects p WHERE p.id = owner)
        INTO owned, reserved, counted, day, spent, told, told_of, spend_limit
        FROM wallets w WHERE w.project_id = owner FOR NO KEY UPDATE;
        -- A project that was never credited has no wallet.
        free := coalesce(owned - reserved, 0);
        FOR step IN 1 .. cardinality(sends) LOOP
            CONTINUE WHEN outcomes[step] <> 'ready' OR costs[step] <= 0;
            IF costs[step] > free THEN
                outcomes[step] := 'unaffordable';
                CONTINUE;
            END IF;
            -- A day that another instance, whose clock is slightly ahead, has begun is kept.
            today := date_bin('24 hours', moments[step], '2026-01-01T00:00:00+05:30');
            IF day <> today AND day <> today + interval '24 hours' THEN
                day := today;
                spent := 0;
                told := 0;
                told_of := 0;
            END IF;
            fits := (spent + costs[step] <= spend_limit) IS NOT FALSE;
            IF fits THEN
                free := free - costs[step];
                spent := spent + costs[step];
            ELSE
                outcomes[step] := 'spend_limited';
            END IF;
            CONTINUE WHEN spend_limit IS NULL;
            FOREACH part IN ARRAY ARRAY[50, 80, 100] LOOP
                CONTINUE WHEN told_of = spend_limit AND part <= told;
                IF spent * 100 >= spend_limit * part OR part = 100 AND NOT fits THEN
                    told := part;
                    told_of := spend_limit;
                    parts := parts || part;
                    parts_by := parts_by || step;
                    parts_spent := parts_spent || spent;
                END IF;
            END LOOP;
        END LOOP;
        WITH held AS (
            SELECT s.*, sum(s.cost) OVER so_far AS total, count(*) OVER so_far AS number
            FROM unnest(sends, costs, entry_ids, moments, superseding, outcomes)
                WITH ORDINALITY AS s (send, cost, entry, moment, supersedes, outcome, place)
            WHERE s.outcome = 'ready' AND s.cost > 0
            WINDOW so_far AS (ORDER BY s.place)
        ), kept AS (
            INSERT INTO wallet_holds (send_id, project_id, amount, held_since, relayed)
            SELECT h.send, owner, h.cost, h.moment, NOT h.supersedes FROM held h
        ), written AS (
            INSERT INTO ledger_entries (id, project_id, position, kind, amount, held,
                balance_after, held_after, reference, made_at, relayed)
            SELECT h.entry, owner, counted + h.number, 'hold', 0, h.cost,
                owned, reserved + h.total, h.send::text, h.moment, NOT h.supersedes
            FROM held h
        )
        UPDATE wallets w SET held = w.held + h.total, entries = w.entries + h.number,
            spend_since = day, spend = spent, spend_told = told, spend_told_of = told_of
        FROM (
            SELECT coalesce(max(total), 0)::bigint AS total, coalesce(max(number), 0) AS number FROM held
        ) AS h
        WHERE w.project_id = owner AND (h.number > 0 OR cardinality(parts) > 0);
    END IF;

    FOR code IN 1 .. coalesce(cardinality(present), 0) LOOP
        CONTINUE WHEN outcomes[followed_by[code]] <> 'ready';
        UPDATE otps o SET state = 'superseded', version = gen_random_uuid()
        WHERE o.id = present[code] AND o.state IN ('active', 'locked');
    END LOOP;

    INSERT INTO send_slots (send_id, project_id, mode, phone_index, taken_at, forgiven)
    SELECT s.send, owner, s.mode, s.phone, s.moment, false
    FROM unnest(sends, modes, phones, moments, placed, outcomes)
        AS s (send, mode, phone, moment, placed, outcome)
    WHERE s.outcome = 'ready' AND s.placed;

    FOR reached IN 1 .. cardinality(parts) LOOP
        PERFORM record_event(
            event => 'spend_reached_' || replace(entry_ids[parts_by[reached]]::text, '-', '')
                || '_' || parts[reached],
            project => owner, event_mode => modes[parts_by[reached]], event_kind => 'spend.reached',
            moment => moments[parts_by[reached]], subject => entry_ids[parts_by[reached]],
            paise => parts_spent[reached], below => spend_limit, reporter => parts[reached]::text
        );
    END LOOP;

    RETURN QUERY
    SELECT s.place, s.outcome, t.sends, t.times, t.forgiven,
        b.wrong, b.last_wrong_at, b.period_began_at, b.period_wrong, b.stopped_at,
        b.device_began_at, b.device_wrong,
        m.visitor, m.taken_at, coalesce(m.is_new, false), coalesce(m.earns, false)
    FROM unnest(sends, modes, phones, outcomes, moments, verdicts, visitors) WITH ORDINALITY
        AS s (send, mode, phone, outcome, moment, verdict, visitor, place)
    LEFT JOIN LATERAL (
        SELECT array_agg(l.send_id) AS sends, array_agg(l.taken_at) AS times,
            array_agg(l.forgiven) AS forgiven
        FROM (
            SELECT t.send_id, t.taken_at, t.forgiven FROM send_slots t
            WHERE s.outcome IN ('unseen', 'known') AND t.send_id <> s.send
                AND t.project_id = owner AND t.mode = s.mode AND t.phone_index = s.phone
            ORDER BY t.taken_at
        ) AS l
    ) AS t ON true
    LEFT JOIN LATERAL (
        SELECT b.* FROM guess_budgets b
        WHERE s.outcome IN ('unseen', 'known')
            AND b.project_id = owner AND b.mode = s.mode AND b.phone_index = s.phone
        OFFSET 0
    ) AS b ON true
    -- What a guarded send means for levels, by the rule of `GuardMark::new`.
    LEFT JOIN LATERAL (
        SELECT CASE WHEN t.taken_at IS NULL THEN s.visitor ELSE t.visitor END AS visitor,
            coalesce(t.taken_at, CASE WHEN s.verdict = 'admitted' THEN s.moment END) AS taken_at,
            NOT EXISTS (
                SELECT FROM identities i
                WHERE i.project_id = owner AND i.mode = s.mode AND i.phone_index = s.phone
                OFFSET 0
            ) AS is_new,
            NOT EXISTS (
                SELECT FROM otps o
                WHERE o.project_id = owner AND o.mode = s.mode AND o.phone_index = s.phone
                    AND o.created_at > s.moment - interval '24 hours' AND o.state = 'used'
                OFFSET 0
            ) AS earns
        FROM (SELECT) AS one LEFT JOIN LATERAL (
            SELECT o.taken_at, o.visitor FROM otps o
            WHERE o.id = present[array_position(followed_by, s.place)]
                AND o.taken_at > s.moment - interval '10 minutes'
            OFFSET 0
        ) AS t ON true
        WHERE s.outcome = 'ready' AND s.verdict IS NOT NULL
        UNION ALL
        SELECT o.visitor, o.taken_at, o.is_new, o.earns FROM otps o
        WHERE s.outcome = 'known' AND o.id = s.send
    ) AS m ON true
    ORDER BY s.place;
END
$$;

-- Events, and who is told of them

CREATE TABLE webhook_endpoints (
    id              uuid PRIMARY KEY,
    project_id      uuid NOT NULL REFERENCES projects (id),
    url             text NOT NULL,
    full_phone      boolean NOT NULL,
    secret          bytea NOT NULL,
    previous_secret bytea,
    previous_until  timestamptz,
    created_at      timestamptz NOT NULL,
    -- how it fails, and since when it is switched off
    failures        integer NOT NULL DEFAULT 0,
    failing_since   timestamptz,
    disabled_at     timestamptz,
    CONSTRAINT webhook_endpoints_failing CHECK ((failures > 0) = (failing_since IS NOT NULL))
);
CREATE INDEX webhook_endpoints_by_project ON webhook_endpoints (project_id);
CREATE INDEX webhook_endpoints_disabled ON webhook_endpoints (disabled_at)
    WHERE disabled_at IS NOT NULL;

-- What happened, until every endpoint has been told or given up on, and while it is in the feed of its project.
CREATE TABLE events (
    id           text PRIMARY KEY,
    project_id   uuid NOT NULL REFERENCES projects (id),
    mode         text NOT NULL CHECK (mode IN ('live', 'test')),
    kind         text NOT NULL,
    subject_id   uuid NOT NULL,
    -- of a session: its identity
    related_id   uuid,
    -- of an OTP request; of a level of the guard: the mode of the guard
    channel      text,
    phone_index  bytea,
    phone_sealed bytea,
    -- of an identity: sessions revoked; of a wallet: balance and threshold; of a day's
    -- spend: its sum and limit; of a provider: how many
    -- of its receipts failed, out of how many; of an endpoint: how many calls failed, the first when,
    -- in milliseconds
    amount       bigint,
    threshold    bigint,
    happened_at  timestamptz NOT NULL,
    -- of a provider: its name; of a day's spend: the part of the limit, in per cent; of a level of the guard:
    -- the kind of its subject
    provider     text,
    -- whether `GET /v1/events` gives it
    in_feed      boolean NOT NULL DEFAULT false,
    -- its place in the feed. Numbers are not given in the order of commits; transactions that are older than
    -- every one that is open are over, so none of theirs comes after it was looked for.
    number       bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    transaction  xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX events_in_feed ON events (project_id, mode, transaction, number) WHERE in_feed;
CREATE INDEX events_by_phone ON events (project_id, mode, phone_index) WHERE phone_index IS NOT NULL;

CREATE TABLE event_deliveries (
    event_id    text NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    endpoint_id uuid NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    failures    integer NOT NULL,
    due_at      timestamptz NOT NULL,
    PRIMARY KEY (event_id, endpoint_id)
);
-- What is due is looked for endpoint by endpoint.
CREATE INDEX event_deliveries_due ON event_deliveries (endpoint_id, due_at, event_id);

-- What endpoints were told, a row per call. It names an event, and keeps it on record, but does not
-- point at it: what test keys leave beyond their quota goes before.
CREATE TABLE webhook_calls (
    id          uuid PRIMARY KEY,
    endpoint_id uuid NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    event_id    text NOT NULL,
    kind        text NOT NULL,
    number      integer NOT NULL,
    called_at   timestamptz NOT NULL,
    took_ms     bigint NOT NULL,
    -- taken, or why it was not
    outcome     text NOT NULL,
    status      integer,
    again_at    timestamptz,
    failed      boolean NOT NULL
);
CREATE INDEX webhook_calls_by_endpoint ON webhook_calls (endpoint_id, id);
CREATE INDEX webhook_calls_failed ON webhook_calls (endpoint_id, id) WHERE failed;
CREATE INDEX webhook_calls_by_event ON webhook_calls (event_id, endpoint_id, called_at);
CREATE INDEX webhook_calls_by_age ON webhook_calls (called_at);

-- Puts an event on record for every endpoint of its project that is switched on, and for its feed; false if nothing
-- was written. In a function, so that the statement of a send or a guess does not carry the
-- plan of all this along where nobody is to be told.
--
-- An endpoint that is being removed is waited for and then not there. Its key is shared, so neither a
-- change of its secret nor another event waits.
CREATE FUNCTION record_event(
    event text, project uuid, event_mode text, event_kind text, moment timestamptz, subject uuid,
    related uuid DEFAULT NULL, via text DEFAULT NULL,
    phone bytea DEFAULT NULL, sealed bytea DEFAULT NULL,
    paise bigint DEFAULT NULL, below bigint DEFAULT NULL, reporter text DEFAULT NULL
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    hearing uuid[];
    feeds boolean;
BEGIN
    SELECT ARRAY(
        SELECT e.id FROM webhook_endpoints e
        WHERE e.project_id = project AND e.disabled_at IS NULL FOR KEY SHARE
    ), EXISTS (SELECT FROM projects p WHERE p.id = project AND p.events_feed)
    INTO hearing, feeds;
    IF cardinality(hearing) = 0 AND NOT feeds THEN
        RETURN false;
    END IF;
    INSERT INTO events (id, project_id, mode, kind, happened_at, subject_id, related_id, channel,
        phone_index, phone_sealed, amount, threshold, provider, in_feed)
    VALUES (event, project, event_mode, event_kind, moment, subject, related, via,
        phone, sealed, paise, below, reporter, feeds)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO event_deliveries (event_id, endpoint_id, failures, due_at)
    SELECT event, heard, 0, moment FROM unnest(hearing) AS heard;
    RETURN true;
END
$$;

-- The feed of a project and mode, as of the last sweep: how many events it holds up to one of them, and the last one that left it.
CREATE TABLE event_feeds (
    project_id          uuid NOT NULL REFERENCES projects (id),
    mode                text NOT NULL CHECK (mode IN ('live', 'test')),
    kept                bigint NOT NULL,
    counted_transaction bigint NOT NULL,
    counted_number      bigint NOT NULL,
    dropped_transaction bigint NOT NULL,
    dropped_number      bigint NOT NULL,
    PRIMARY KEY (project_id, mode)
);

-- The name of this life of the database, another one after each restore. Cursors of the feed hold it.
CREATE TABLE feed_life (
    name text NOT NULL
);
INSERT INTO feed_life (name) VALUES (replace(gen_random_uuid()::text, '-', ''));

-- What else tells lives apart: the server, its timeline, which a failover ends and may lose commits with, and the
-- database. Where a hosted server does not say one of the first two, the rest has to do.
CREATE FUNCTION feed_place() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    place text := (SELECT oid::text FROM pg_database WHERE datname = current_database());
BEGIN
    BEGIN
        place := place || '/' || (SELECT system_identifier FROM pg_control_system());
    EXCEPTION WHEN insufficient_privilege OR undefined_function OR feature_not_supported THEN
        NULL;
    END;
    BEGIN
        place := place || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
    EXCEPTION WHEN insufficient_privilege OR undefined_function OR feature_not_supported THEN
        NULL;
    END;
    RETURN place;
END
$$;

-- What test keys leave. Their quota finds a project's oldest records by these; live rows are not in them.
CREATE INDEX otps_of_tests ON otps (project_id, expires_at, id) WHERE mode = 'test';
CREATE INDEX idempotency_records_of_tests ON idempotency_records (project_id, began_at, key_digest)
    WHERE mode = 'test';
CREATE INDEX send_slots_of_tests ON send_slots (project_id, taken_at, send_id) WHERE mode = 'test';
CREATE INDEX sessions_of_tests ON sessions (project_id, created_at, id) WHERE mode = 'test';
CREATE INDEX identities_of_tests ON identities (project_id, last_verified_at, id)
    WHERE mode = 'test';
CREATE INDEX events_of_tests ON events (project_id, happened_at, id) WHERE mode = 'test' AND NOT in_feed;
CREATE INDEX guess_budgets_of_tests ON guess_budgets (project_id) WHERE mode = 'test';

-- Figures

-- What was sent and what became of it, per project, mode, stretch of time and provider; counted
-- from the tables above. What was charged is in paise, times are histograms: to the verification and
-- to the phone. Sends for which no provider was asked have neither channel nor provider: ''.
CREATE TABLE figures (
    project_id     uuid NOT NULL,
    mode           text NOT NULL,
    grain          text NOT NULL,
    began_at       timestamptz NOT NULL,
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
    times          bytea NOT NULL,
    delivery_times bytea NOT NULL,
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
);
CREATE INDEX figures_by_age ON figures (grain, began_at);

-- One row: who keeps the figures, and how far they have come.
CREATE TABLE figures_lease (
    id           integer PRIMARY KEY CHECK (id = 1),
    settled_at   timestamptz,
    fresh_at     timestamptz,
    keeper_id    uuid,
    leased_until timestamptz,
    CHECK ((keeper_id IS NULL) = (leased_until IS NULL))
);
INSERT INTO figures_lease (id) VALUES (1);

-- What each process refused, by minute; no bytes stand for a phone that is not known.
CREATE TABLE refused_sends (
    project_id  uuid NOT NULL,
    mode        text NOT NULL CHECK (mode IN ('live', 'test')),
    phone_index bytea NOT NULL,
    minute      timestamptz NOT NULL,
    reason      text NOT NULL,
    tally       uuid NOT NULL,
    count       integer NOT NULL CHECK (count > 0),
    PRIMARY KEY (project_id, mode, phone_index, minute, reason, tally)
);
CREATE INDEX refused_sends_by_project ON refused_sends (project_id, minute);
CREATE INDEX refused_sends_by_age ON refused_sends (minute);

-- An erased phone leaves no count behind. The rows are locked in the order in which they are
-- written.
CREATE FUNCTION forget_refused_sends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM refused_sends r
    WHERE r.project_id = OLD.project_id AND r.mode = OLD.mode AND r.phone_index = OLD.phone_index
    ORDER BY r.minute, r.reason, r.tally FOR UPDATE;
    DELETE FROM refused_sends r
    WHERE r.project_id = OLD.project_id AND r.mode = OLD.mode AND r.phone_index = OLD.phone_index;
    RETURN NULL;
END
$$;
CREATE TRIGGER identities_forget_refused_sends AFTER DELETE ON identities
    FOR EACH ROW EXECUTE FUNCTION forget_refused_sends();

-- Who runs the service

-- A name is unique in whatever case.
CREATE TABLE operators (
    id             uuid PRIMARY KEY,
    name           text NOT NULL,
    name_key       text NOT NULL UNIQUE,
    access         text NOT NULL,
    -- PHC string
    password       text,
    totp_sealed    bytea,
    totp_last_step bigint,
    created_at     timestamptz NOT NULL,
    signed_in_at   timestamptz,
    CHECK ((totp_sealed IS NULL) = (totp_last_step IS NULL))
);

-- What lets an operator in, once.
CREATE TABLE operator_links (
    digest      bytea PRIMARY KEY,
    operator_id uuid NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    kind        text NOT NULL,
    made_at     timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL
);
CREATE INDEX operator_links_by_operator ON operator_links (operator_id);
CREATE INDEX operator_links_by_end ON operator_links (expires_at);

-- What lets an operator in without a password: the public part.
CREATE TABLE operator_passkeys (
    digest      bytea PRIMARY KEY,
    operator_id uuid NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    name        text NOT NULL,
    credential  bytea NOT NULL,
    algorithm   text NOT NULL,
    spki        bytea NOT NULL,
    counter     bigint NOT NULL,
    made_at     timestamptz NOT NULL,
    used_at     timestamptz
);
CREATE INDEX operator_passkeys_by_operator ON operator_passkeys (operator_id);

CREATE TABLE operator_sessions (
    digest       bytea PRIMARY KEY,
    operator_id  uuid NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    from_address text,
    created_at   timestamptz NOT NULL,
    seen_at      timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    -- in which browser, as in "Chrome on Windows"
    device       text
);
CREATE INDEX operator_sessions_by_operator ON operator_sessions (operator_id);
CREATE INDEX operator_sessions_by_end ON operator_sessions (expires_at);
CREATE INDEX operator_sessions_by_use ON operator_sessions (seen_at);

-- Counts of failures to sign in: of a browser, of a name with a network, of a name. Names that nobody
-- has share 65,536 ids that are nobody's.
CREATE TABLE operator_standings (
    operator_id  uuid NOT NULL,
    subject      bytea NOT NULL,
    failures     integer NOT NULL,
    last_at      timestamptz NOT NULL,
    locked_until timestamptz,
    PRIMARY KEY (operator_id, subject)
);
CREATE INDEX operator_standings_by_age ON operator_standings (last_at);

-- Challenges that passkeys have answered, until they are over.
CREATE TABLE used_challenges (
    digest     bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL
);
CREATE INDEX used_challenges_by_end ON used_challenges (expires_at);

CREATE TABLE admin_tokens (
    id           uuid PRIMARY KEY,
    digest       bytea NOT NULL UNIQUE,
    name         text NOT NULL,
    access       text NOT NULL,
    may_delegate boolean NOT NULL,
    made_by      text NOT NULL,
    made_at      timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    used_at      timestamptz,
    used_from    text
);
CREATE INDEX admin_tokens_by_end ON admin_tokens (expires_at);

-- Who changed what. Refers to no row: entries outlive their subjects.
CREATE TABLE audit_entries (
    id           uuid PRIMARY KEY,
    happened_at  timestamptz NOT NULL,
    actor_kind   text NOT NULL,
    actor_id     uuid,
    actor_name   text,
    from_address text,
    project_id   uuid,
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

CREATE FUNCTION audit_entries_stay() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the audit log is never changed'; END $$;
CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
    FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_stay();

-- The phone numbers that those who see them masked searched for in the last day.
CREATE TABLE phone_searches (
    searcher_id uuid NOT NULL,
    searched_at timestamptz NOT NULL,
    phone_index bytea NOT NULL,
    PRIMARY KEY (searcher_id, searched_at, phone_index)
);
CREATE INDEX phone_searches_by_age ON phone_searches (searched_at);

-- The processes that run the service, as they say themselves.
CREATE TABLE instances (
    id         uuid PRIMARY KEY,
    started_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL,
    version    text NOT NULL,
    host       text NOT NULL,
    pid        bigint NOT NULL,
    api        text NOT NULL,
    dashboard  text
);
CREATE INDEX instances_by_age ON instances (seen_at);

-- What single instances see of themselves and of providers, as they last reported it.
CREATE TABLE instance_troubles (
    instance_id uuid NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    kind        text NOT NULL,
    about       text NOT NULL,
    detail      text NOT NULL,
    since       timestamptz,
    PRIMARY KEY (instance_id, kind, about)
);

-- What needs a person and is not over: since when.
CREATE TABLE alerts (
    kind       text NOT NULL,
    about      text NOT NULL,
    project_id uuid,
    since      timestamptz NOT NULL,
    PRIMARY KEY (kind, about)
);

-- Whether the server can write more: by filling a table that was just emptied, so that its file has
-- to grow. The server's own code for it (class 53) tells, in whatever language it speaks.
CREATE TABLE room_probe (filler bytea);
ALTER TABLE room_probe ALTER COLUMN filler SET STORAGE EXTERNAL;
CREATE FUNCTION has_room() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE room_probe;
    INSERT INTO room_probe VALUES (decode(repeat('00', 65536), 'hex'));
    TRUNCATE room_probe;
    RETURN true;
EXCEPTION
    WHEN insufficient_resources THEN RETURN false;
END
$$;

-- One row, which is written to prove that a write works. The number says nothing else.
CREATE TABLE write_proofs (
    id     integer PRIMARY KEY,
    writes bigint NOT NULL
);
