-- :count requests, the newest :age ms old and the oldest :span ms older, and what comes with them; see measure.mjs, which drops the
-- indexes and triggers of the large tables before and makes them anew after. What begins with a
-- colon is written out by fill.mjs.
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -1500000;
PRAGMA temp_store = FILE;
CREATE TEMP TABLE pairs (n integer PRIMARY KEY, b blob NOT NULL);
.read pairs.sql
CREATE TEMP TABLE others AS
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199)
    SELECT i, :fixed(8000, i) AS id FROM n;
-- The number that was sent a code before, and whose project. Ledgers continue after their last
-- entry, or after a thousand.
CREATE TEMP TABLE one AS SELECT project_id AS project, phone_index, phone_sealed,
    CAST(strftime('%s', 'now') AS integer) * 1000 AS now,
    (SELECT max(1000, max(entries)) FROM wallets) AS entries FROM otps LIMIT 1;
CREATE TEMP VIEW made AS
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
    SELECT i, now - :age - (:count - i) * :span / :count AS at,
        CASE WHEN i % 50 = 49 THEN (SELECT id FROM others WHERE others.i = n.i / 50 % 200)
            ELSE project END AS project,
        CASE WHEN i % (:count / 1000) = 3 THEN 'test' ELSE 'live' END AS mode,
        CASE WHEN i % (:count / 500) = 2 THEN phone_index
            ELSE sha3(i * 48271 % (:people + 3), 256) END AS phone, phone_sealed, entries,
        i * 7 % 100 < 78 AS used, i % 5 > 0 AS app, 4000 + i * 31 % 50000 AS took,
        CASE WHEN i % 1000 = 5 THEN 'failed' WHEN i * 13 % 100 < 92 THEN 'delivered'
            ELSE 'sent' END AS status FROM n, one;
CREATE TEMP VIEW named AS SELECT *, :id(at, 8000, i) AS id, :id(at, 9000, i) AS other FROM made;

INSERT INTO projects (id, name, identity_lookup, identity_delete, created_at)
SELECT id, 'Customer ' || i, 1, 0, now - i * 60000 FROM others, one;
INSERT INTO wallets (project_id, balance, held, entries) SELECT id, 0, 0, 0 FROM others;

INSERT INTO otps (id, project_id, mode, phone_index, phone_sealed, code_key, code_mac, code_sealed,
    state, wrong, max_wrong, status, created_at, expires_at, due_at, guesses)
SELECT id, project, mode, phone, phone_sealed, 0,
    zeroblob(32), NULL, CASE WHEN used THEN 'used' ELSE 'superseded' END, 0, 5,
    status, at, at + 600000, NULL, CASE WHEN used THEN CAST(x'0000' || :moment(at + took) AS blob) END
FROM named;
INSERT INTO otp_attempts (id, otp_id, position, channel, provider, provider_ref, status, reason,
    changed_at, accepted)
SELECT other, id, 0, CASE WHEN app THEN 'whatsapp' ELSE 'sms' END,
    CASE WHEN i % 5000 = 10 THEN 'gupshup' WHEN app THEN 'whatsapp_cloud' ELSE 'msg91' END,
    'bench-' || i, status, CASE status WHEN 'failed' THEN 'not_on_channel' END, at + 900, 1
FROM named;
-- What was taken for each; of every twentieth also what was held before, and given back after.
INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, balance_after, held_after,
    reference, made_at)
SELECT other, project, entries + i, 'capture', -20, -20, 0, 0, :text(id), at FROM named;
INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, balance_after, held_after,
    reference, made_at)
SELECT :id(at, a000, i), project, entries + :count + i, 'hold', 0, 20, 0, 20, :text(id), at
FROM named WHERE i % 20 = 0;
INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, balance_after, held_after,
    reference, made_at)
SELECT :id(at, b000, i), project, entries + 2 * :count + i, 'refund', 20, 0, 20, 0, :text(id), at
FROM named WHERE i % 20 = 0;
UPDATE wallets SET entries = (SELECT entries FROM one) + 3 * :count;

-- Identities with a session each; the first has a thousand. Every other session has ended. They lie
-- among those that are there, if there are any.
CREATE TEMP VIEW people AS
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :people)
    SELECT i, project, phone_index, phone_sealed, now,
        now - :age - (:people - i) * :span / :people AS at FROM n, one;
CREATE TEMP TABLE around AS SELECT coalesce(min(created_at), 0) AS low,
    coalesce(max(created_at) - min(created_at), 0) AS width FROM sessions;
INSERT INTO identities (id, project_id, mode, phone_index, phone_sealed, created_at, last_verified_at)
SELECT :id(at, 8000, i), project, 'live', CASE WHEN i = 1 THEN phone_index ELSE sha3(i, 256) END, phone_sealed, at, at
FROM people WHERE TRUE ON CONFLICT DO NOTHING;
INSERT INTO sessions (id, project_id, mode, identity_id, created_at, expires_at, refresh_digest,
    refresh_expires_at, access_token_id, access_issued_at, access_expires_at)
SELECT :id(begun, 9000, i), project, 'live', CASE
        WHEN i % max(:people / 1000, 2) = 1 THEN (SELECT id FROM identities ORDER BY id LIMIT 1)
        ELSE :id(at, 8000, i) END,
    begun, CASE WHEN i % 2 = 0 THEN at ELSE now + 2592000000 END, sha3(i, 256), now + 2592000000,
    :id(begun, a000, i), begun, begun + 900000
FROM (SELECT people.*, CASE WHEN width > 0 THEN low + i * width / :people ELSE at END AS begun
    FROM people, around);
-- A tenth as many of what is rarer.
CREATE TEMP VIEW tenth AS
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count / 10)
    SELECT i, project, phone_index, phone_sealed, now,
        now - :age - (:count / 10 - i) * :span / (:count / 10) AS at FROM n, one;
INSERT INTO audit_entries (id, happened_at, actor_kind, from_address, project_id, action, subject,
    facts_before, facts_after)
SELECT :id(at, 8000, i), at, 'command_line',
    '192.0.2.7', CASE WHEN i % 3 > 0 THEN project END, 'project.changed', :text(project),
    '{"brand":"Before ' || i || '","low_balance":1000}',
    '{"brand":"After ' || i || '","low_balance":2000}'
FROM tenth;
INSERT INTO guess_budgets (project_id, mode, phone_index, wrong, last_wrong_at, period_began_at,
    period_wrong)
SELECT project, 'live', CASE WHEN i = 10 THEN phone_index ELSE sha3(i, 256) END,
    1, at, at, 1 FROM tenth WHERE i % 10 = 0;
INSERT INTO refused_sends (project_id, mode, phone_index, minute, reason, tally, count)
SELECT project, 'live', CASE WHEN i % 100 = 1 THEN phone_index
        ELSE sha3(i, 256) END,
    (now - i * 86400000 / (:count / 100)) / 60000 * 60000, 'limit',
    :fixed(8000, i), 1 + i % 3
FROM tenth WHERE i < :count / 100;
INSERT INTO send_slots (send_id, project_id, mode, phone_index, taken_at)
SELECT id, project_id, mode, otps.phone_index, created_at FROM otps, one
WHERE created_at > now - 86400000 AND NOT EXISTS (SELECT 1 FROM send_slots WHERE send_id = otps.id);

-- The one endpoint, if there is one, has a full log.
INSERT INTO events (id, project_id, mode, kind, subject_id, channel, phone_index, phone_sealed,
    happened_at)
SELECT printf('evt_bench_%06d', i), project, 'live', 'otp.delivered',
    :fixed(9000, i), 'sms', phone_index, phone_sealed, now - i * 1000
FROM tenth WHERE i <= 1000;
INSERT INTO webhook_calls (id, endpoint_id, event_id, kind, number, called_at, took_ms, outcome,
    status, again_at, failed)
SELECT :id(now - i * 1000, 8000, i),
    webhook_endpoints.id, printf('evt_bench_%06d', i), 'otp.delivered', 1,
    now - i * 1000, 40, CASE WHEN i % 5 = 0 THEN 'status' ELSE 'taken' END,
    CASE WHEN i % 5 = 0 THEN 503 ELSE 200 END, NULL, i % 5 = 0
FROM tenth, webhook_endpoints WHERE i <= 1000;
INSERT INTO operators (id, name, name_key, access, created_at)
SELECT :fixed(a000, i), 'colleague' || i || '@example.com',
    'colleague' || i || '@example.com', :text(project) || ':member', now FROM tenth WHERE i <= 20;
INSERT INTO admin_tokens (id, digest, name, access, made_by, made_at, expires_at, may_delegate)
SELECT :fixed(b000, i), CAST(printf('%032d', i) AS blob),
    'token ' || i, :text(project) || ':viewer', 'bench', now, now + 864000000, 0 FROM tenth WHERE i <= 20;
-- What is counted already begins with the service.
DELETE FROM figures;
UPDATE figures_lease SET settled_at = NULL, fresh_at = NULL, keeper_id = NULL, leased_until = NULL;
