DROP FUNCTION record_event;

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
    RETURN EXISTS (SELECT FROM send_slots s WHERE s.send_id = send);
END
$$;
