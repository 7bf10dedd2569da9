-- Puts an event on record for every endpoint of its project that is switched on, if there is one; false if
-- nothing was written. In a function, so that the statement of a send or a guess does not carry the
-- plan of all this along where nobody is to be told.
--
-- An endpoint that is being removed is waited for and then not there. Its key is shared, so neither a
-- change of its secret nor another event waits.
CREATE FUNCTION record_event(
    event text, project uuid, world text, happening text, moment timestamptz, subject uuid,
    related uuid DEFAULT NULL, via text DEFAULT NULL,
    phone bytea DEFAULT NULL, sealed bytea DEFAULT NULL,
    paise bigint DEFAULT NULL, below bigint DEFAULT NULL, reporter text DEFAULT NULL
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    hearing uuid[] := ARRAY(
        SELECT e.id FROM webhook_endpoints e
        WHERE e.project_id = project AND e.disabled_at IS NULL FOR KEY SHARE
    );
BEGIN
    IF cardinality(hearing) = 0 THEN
        RETURN false;
    END IF;
    INSERT INTO events (id, project_id, mode, kind, happened_at, subject_id, related_id, channel,
        phone_index, phone_sealed, amount, threshold, provider)
    VALUES (event, project, world, happening, moment, subject, related, via,
        phone, sealed, paise, below, reporter)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO event_deliveries (event_id, endpoint_id, failures, due_at)
    SELECT event, heard, 0, moment FROM unnest(hearing) AS heard;
    RETURN true;
END
$$;

-- As before, but whoever has just taken the place is not looked for.
CREATE OR REPLACE FUNCTION take_place(
    send uuid, project uuid, world text, phone bytea, moment timestamptz, seen uuid[]
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(4, hashtext(phone::text));
    INSERT INTO send_slots (send_id, project_id, mode, phone_index, taken_at, forgiven)
    SELECT send, project, world, phone, moment, false
    WHERE NOT EXISTS (
        SELECT FROM send_slots s
        WHERE s.project_id = project AND s.mode = world AND s.phone_index = phone
            AND s.send_id <> ALL (seen)
    ) ON CONFLICT DO NOTHING;
    RETURN FOUND OR EXISTS (SELECT FROM send_slots s WHERE s.send_id = send);
END
$$;
