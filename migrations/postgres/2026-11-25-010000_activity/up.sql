-- The last characters of a key that may be shown: six of new keys, four of older ones. Who used it
-- last, and from where, is written once a minute at most.
ALTER TABLE api_keys RENAME COLUMN last_four TO ending;
ALTER TABLE api_keys ADD COLUMN used_at timestamptz, ADD COLUMN used_from text;

-- Newest first, in a project and of a phone, without a sort of all there are.
CREATE INDEX otps_by_project ON otps (project_id, id);
DROP INDEX otps_by_phone;
CREATE INDEX otps_by_phone ON otps (project_id, mode, phone_index, id);

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
