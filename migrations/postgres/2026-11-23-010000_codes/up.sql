-- The step that wrote a code last. Each step writes a value of its own, so a step that finds the one
-- it has read knows that nothing has changed since, and one that finds its own that it has written.
ALTER TABLE otps ADD COLUMN version uuid;
UPDATE otps SET version = id;
ALTER TABLE otps ALTER COLUMN version SET NOT NULL;

-- Takes a place for a send if the phone has no other sends on record than those that were seen when
-- it was judged; a send that has its place keeps it. Under a lock, since what must not be there has
-- no row to lock. Each statement of a function sees what was committed before it, so this one sees
-- whatever was recorded under the lock before.
CREATE FUNCTION take_place(
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
