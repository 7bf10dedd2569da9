-- Whether the request that money is held, spent or given back for delivers a code of somebody else.
ALTER TABLE wallet_holds ADD COLUMN relayed boolean NOT NULL DEFAULT false;
ALTER TABLE ledger_entries ADD COLUMN relayed boolean NOT NULL DEFAULT false;

-- As before, but the hold and its entry say so.
CREATE OR REPLACE FUNCTION prepare_sends(
    owner uuid, sends uuid[], worlds text[], phones bytea[], versions uuid[], moments timestamptz[],
    placed boolean[], superseding boolean[], unguessed boolean[], costs bigint[], entry_ids uuid[],
    seen_by integer[], seen uuid[]
) RETURNS TABLE (
    place bigint, outcome text, slots uuid[], slot_times timestamptz[], slots_forgiven boolean[],
    wrong integer, last_wrong_at timestamptz, period_began_at timestamptz, period_wrong integer,
    stopped_at timestamptz
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
                WHERE t.project_id = owner AND t.mode = s.world AND t.phone_index = s.phone
                    AND NOT EXISTS (
                        SELECT FROM unnest(seen_by, seen) AS v (step, send)
                        WHERE v.step = s.place AND v.send = t.send_id
                    )
                OFFSET 0
            ) OR s.unguessed AND EXISTS (
                SELECT FROM guess_budgets b
                WHERE b.project_id = owner AND b.mode = s.world AND b.phone_index = s.phone
                OFFSET 0
            ) THEN 'unseen'
            ELSE 'ready'
        END
        FROM unnest(sends, worlds, phones, versions, unguessed)
            WITH ORDINALITY AS s (send, world, phone, version, unguessed, place)
        LEFT JOIN LATERAL (
            SELECT o.id, o.version FROM otps o WHERE o.id = s.send OFFSET 0
        ) AS o ON true
        ORDER BY s.place
    );

    SELECT array_agg(o.id ORDER BY o.id), array_agg(s.place ORDER BY o.id) INTO present, followed_by
    FROM unnest(worlds, phones, superseding, outcomes)
        WITH ORDINALITY AS s (world, phone, supersedes, outcome, place)
    CROSS JOIN LATERAL (
        SELECT o.id FROM otps o
        WHERE o.project_id = owner AND o.mode = s.world AND o.phone_index = s.phone
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
        SELECT w.balance, w.held, w.entries INTO owned, reserved, counted
        FROM wallets w WHERE w.project_id = owner FOR NO KEY UPDATE;
        -- A project that was never credited has no wallet.
        free := coalesce(owned - reserved, 0);
        FOR step IN 1 .. cardinality(sends) LOOP
            CONTINUE WHEN outcomes[step] <> 'ready' OR costs[step] <= 0;
            IF costs[step] <= free THEN
                free := free - costs[step];
            ELSE
                outcomes[step] := 'unaffordable';
            END IF;
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
        UPDATE wallets w SET held = w.held + h.total, entries = w.entries + h.number
        FROM (SELECT max(total)::bigint AS total, max(number) AS number FROM held) AS h
        WHERE w.project_id = owner AND h.number > 0;
    END IF;

    FOR code IN 1 .. coalesce(cardinality(present), 0) LOOP
        CONTINUE WHEN outcomes[followed_by[code]] <> 'ready';
        UPDATE otps o SET state = 'superseded', version = gen_random_uuid()
        WHERE o.id = present[code] AND o.state IN ('active', 'locked');
    END LOOP;

    INSERT INTO send_slots (send_id, project_id, mode, phone_index, taken_at, forgiven)
    SELECT s.send, owner, s.world, s.phone, s.moment, false
    FROM unnest(sends, worlds, phones, moments, placed, outcomes)
        AS s (send, world, phone, moment, placed, outcome)
    WHERE s.outcome = 'ready' AND s.placed;

    RETURN QUERY
    SELECT s.place, s.outcome, t.sends, t.times, t.forgiven,
        b.wrong, b.last_wrong_at, b.period_began_at, b.period_wrong, b.stopped_at
    FROM unnest(sends, worlds, phones, outcomes)
        WITH ORDINALITY AS s (send, world, phone, outcome, place)
    LEFT JOIN LATERAL (
        SELECT array_agg(l.send_id) AS sends, array_agg(l.taken_at) AS times,
            array_agg(l.forgiven) AS forgiven
        FROM (
            SELECT t.send_id, t.taken_at, t.forgiven FROM send_slots t
            WHERE s.outcome IN ('unseen', 'known') AND t.send_id <> s.send
                AND t.project_id = owner AND t.mode = s.world AND t.phone_index = s.phone
            ORDER BY t.taken_at
        ) AS l
    ) AS t ON true
    LEFT JOIN LATERAL (
        SELECT b.* FROM guess_budgets b
        WHERE s.outcome IN ('unseen', 'known')
            AND b.project_id = owner AND b.mode = s.world AND b.phone_index = s.phone
        OFFSET 0
    ) AS b ON true
    ORDER BY s.place;
END
$$;
