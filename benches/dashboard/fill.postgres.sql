-- :count requests, the newest :age ms old and the oldest :span ms older, and what comes with them; see measure.mjs, which drops the
-- indexes of the large tables before and makes them again after. Lines of dashes divide this file: the
-- first part runs in every session, and each later part is written by a session of its own.
SET synchronous_commit = off;
-- No triggers and no checks of foreign keys.
SET session_replication_role = replica;
-- The number that was sent a code before, and whose project. Ledgers continue after their last
-- entry, or after a thousand. The times of sessions are among those of the existing sessions, if there are any.
CREATE TEMP TABLE one AS SELECT project_id AS project, phone_index AS popular, phone_sealed,
    (extract(epoch FROM created_at)::bigint * 1000) AS now,
    (SELECT greatest(1000, max(entries)) FROM wallets) AS entries, low, width
FROM otps, (SELECT coalesce(extract(epoch FROM min(created_at)) * 1000, 0)::bigint AS low,
    coalesce(extract(epoch FROM max(created_at) - min(created_at)) * 1000, 0)::bigint AS width
    FROM sessions) around ORDER BY created_at DESC LIMIT 1;
-- A UUID of version 7: of a moment, of a table, with a number.
CREATE FUNCTION pg_temp.v7(ms bigint, what bigint, i bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT encode(int8send((ms << 16) | 28672 | (i & 4095))
        || int8send(-9223372036854775808 + (what << 60) + i), 'hex')::uuid $$;
CREATE FUNCTION pg_temp.other(i bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT ('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid $$;
CREATE FUNCTION pg_temp.phone(i bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(int8send(i)) $$;
CREATE TEMP VIEW named AS SELECT i, to_timestamp(ms / 1000.0) AS at, ms, phone_sealed,
        pg_temp.v7(ms, 0, i) AS id, pg_temp.v7(ms, 1, i) AS other,
        CASE WHEN i % 50 = 49 THEN pg_temp.other(i / 50 % 200) ELSE project END AS project,
        CASE WHEN i % (:count / 1000) = 3 THEN 'test' ELSE 'live' END AS mode,
        CASE WHEN i % (:count / 500) = 2 THEN popular
            ELSE pg_temp.phone(i * 48271 % (:people + 3)) END AS phone, entries,
        i * 7 % 100 < 78 AS used, i % 5 > 0 AS app, 4000 + i * 31 % 50000 AS took,
        CASE WHEN i % 1000 = 5 THEN 'failed' WHEN i * 13 % 100 < 92 THEN 'delivered'
            ELSE 'sent' END AS status
    FROM (SELECT i, now - :age - (:count - i) * :span / :count AS ms, one.*
        FROM generate_series(1, :count::bigint) i, one) made;

-- Identities with a session each; the first has a thousand. Every other session has ended.
CREATE TEMP VIEW people AS SELECT *, to_timestamp(ms / 1000.0) AS at,
        to_timestamp(begun / 1000.0) AS begun_at
    FROM (SELECT *, CASE WHEN width > 0 THEN low + i * width / :people ELSE ms END AS begun
        FROM (SELECT i, now - :age - (:people - i) * :span / :people AS ms, one.*
            FROM generate_series(1, :people::bigint) i, one) made) placed;
-- A tenth as many of what is rarer.
CREATE TEMP VIEW tenth AS SELECT i, ms, to_timestamp(ms / 1000.0) AS at, project, popular,
        phone_sealed, now
    FROM (SELECT i, now - :age - (:count / 10 - i) * :span / (:count / 10) AS ms, one.*
        FROM generate_series(1, :count::bigint / 10) i, one) made;

----------------------------------------
INSERT INTO projects (id, name, identity_lookup, identity_delete, created_at)
SELECT pg_temp.other(i), 'Customer ' || i, true, false, now() - i * interval '1 minute'
FROM generate_series(0, 199) i;
INSERT INTO wallets (project_id, balance, held, entries)
SELECT pg_temp.other(i), 0, 0, 0 FROM generate_series(0, 199) i;

----------------------------------------
INSERT INTO otps (id, project_id, mode, phone_index, phone_sealed, code_key, code_mac, code_sealed,
    state, wrong, max_wrong, status, created_at, expires_at, due_at, guesses, version)
SELECT id, project, mode, phone, phone_sealed, 0, '\x0000000000000000000000000000000000000000000000000000000000000000'::bytea, NULL,
    CASE WHEN used THEN 'used' ELSE 'superseded' END, 0, 5, status, at, at + interval '10 minutes',
    NULL, CASE WHEN used THEN int8send(ms + took) END, id
FROM named;
INSERT INTO send_slots (send_id, project_id, mode, phone_index, taken_at)
SELECT id, project_id, mode, phone_index, created_at FROM otps
WHERE created_at > now() - interval '1 day'
    AND NOT EXISTS (SELECT FROM send_slots WHERE send_id = otps.id);
----------------------------------------
INSERT INTO otp_attempts (id, otp_id, position, channel, provider, provider_ref, status, reason,
    changed_at, accepted)
SELECT other, id, 0, CASE WHEN app THEN 'whatsapp' ELSE 'sms' END,
    CASE WHEN i % 5000 = 10 THEN 'gupshup' WHEN app THEN 'whatsapp_cloud' ELSE 'msg91' END,
    'bench-' || i, status, CASE status WHEN 'failed' THEN 'not_on_channel' END,
    at + interval '900 ms', true
FROM named;
----------------------------------------
-- What was taken for each; of every twentieth also what was held before, and given back after.
INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, balance_after, held_after,
    reference, made_at)
SELECT other, project, entries + i, 'capture', -20, -20, 0, 0, id::text, at FROM named;
INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, balance_after, held_after,
    reference, made_at)
SELECT pg_temp.v7(ms, 2, i), project, entries + :count + i, 'hold', 0, 20, 0, 20, id::text, at
FROM named WHERE i % 20 = 0;
INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, balance_after, held_after,
    reference, made_at)
SELECT pg_temp.v7(ms, 3, i), project, entries + 2 * :count + i, 'refund', 20, 0, 20, 0, id::text, at
FROM named WHERE i % 20 = 0;
UPDATE wallets SET entries = (SELECT one.entries FROM one) + 3 * :count;

----------------------------------------
INSERT INTO identities (id, project_id, mode, phone_index, phone_sealed, created_at, last_verified_at)
SELECT pg_temp.v7(ms, 0, i), project, 'live',
    CASE WHEN i = 1 THEN popular ELSE pg_temp.phone(i) END, phone_sealed, at, at
FROM people ON CONFLICT DO NOTHING;
INSERT INTO sessions (id, project_id, mode, identity_id, created_at, expires_at, refresh_digest,
    refresh_expires_at, access_token_id, access_issued_at, access_expires_at)
SELECT pg_temp.v7(begun, 1, i), project, 'live', CASE
        WHEN i % greatest(:people / 1000, 2) = 1 THEN (SELECT id FROM identities ORDER BY id LIMIT 1)
        ELSE pg_temp.v7(ms, 0, i) END,
    begun_at, CASE WHEN i % 2 = 0 THEN at ELSE now() + interval '30 days' END, pg_temp.phone(i),
    now() + interval '30 days', pg_temp.v7(begun, 2, i), begun_at, begun_at + interval '15 minutes'
FROM people;
INSERT INTO audit_entries (id, happened_at, actor_kind, from_address, project_id, action, subject,
    facts_before, facts_after)
SELECT pg_temp.v7(ms, 0, i), at, 'command_line', '192.0.2.7',
    CASE WHEN i % 3 > 0 THEN project END, 'project.changed', project::text,
    '{"brand":"Before ' || i || '","low_balance":1000}',
    '{"brand":"After ' || i || '","low_balance":2000}'
FROM tenth;
INSERT INTO guess_budgets (project_id, mode, phone_index, wrong, last_wrong_at, period_began_at,
    period_wrong)
SELECT project, 'live', CASE WHEN i = 10 THEN popular ELSE pg_temp.phone(i) END, 1, at, at, 1
FROM tenth WHERE i % 10 = 0;
INSERT INTO refused_sends (project_id, mode, phone_index, minute, reason, tally, count)
SELECT project, 'live', CASE WHEN i % 100 = 1 THEN popular ELSE pg_temp.phone(i) END,
    date_trunc('minute', now() - i * interval '1 day' / (:count / 100)), 'limit',
    pg_temp.other(i), 1 + i % 3
FROM tenth WHERE i < :count / 100;

-- The one endpoint, if there is one, has a full log.
INSERT INTO events (id, project_id, mode, kind, subject_id, channel, phone_index, phone_sealed,
    happened_at)
SELECT 'evt_bench_' || lpad(i::text, 6, '0'), project, 'live', 'otp.delivered', pg_temp.other(i),
    'sms', popular, phone_sealed, now() - i * interval '1 second'
FROM tenth WHERE i <= 1000;
INSERT INTO webhook_calls (id, endpoint_id, event_id, kind, number, called_at, took_ms, outcome,
    status, again_at, failed)
SELECT pg_temp.v7(now - i * 1000, 0, i), webhook_endpoints.id,
    'evt_bench_' || lpad(i::text, 6, '0'), 'otp.delivered', 1, now() - i * interval '1 second', 40,
    CASE WHEN i % 5 = 0 THEN 'status' ELSE 'taken' END, CASE WHEN i % 5 = 0 THEN 503 ELSE 200 END,
    NULL, i % 5 = 0
FROM tenth, webhook_endpoints WHERE i <= 1000;
INSERT INTO operators (id, name, name_key, access, created_at)
SELECT pg_temp.other(i), 'colleague' || i || '@example.com', 'colleague' || i || '@example.com',
    project || ':member', now() FROM tenth WHERE i <= 20;
INSERT INTO admin_tokens (id, digest, name, access, made_by, made_at, expires_at, may_delegate)
SELECT pg_temp.other(i), pg_temp.phone(i), 'token ' || i, project || ':viewer', 'bench', now(),
    now() + interval '10 days', false FROM tenth WHERE i <= 20;
-- What is counted already begins with the service.
DELETE FROM figures;
UPDATE figures_lease SET settled_at = NULL, fresh_at = NULL, keeper_id = NULL, leased_until = NULL;
