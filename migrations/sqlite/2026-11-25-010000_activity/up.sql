-- The last characters of a key that may be shown: six of new keys, four of older ones. Who used it
-- last, and from where, is written once a minute at most.
ALTER TABLE api_keys RENAME COLUMN last_four TO ending;
ALTER TABLE api_keys ADD COLUMN used_at bigint;
ALTER TABLE api_keys ADD COLUMN used_from text;

-- Newest first, in a project and of a phone, without a sort of all there are.
CREATE INDEX otps_by_project ON otps (project_id, id);
DROP INDEX otps_by_phone;
CREATE INDEX otps_by_phone ON otps (project_id, mode, phone_index, id);

-- What each process refused, by minute; no bytes stand for a phone that is not known.
CREATE TABLE refused_sends (
    project_id  text NOT NULL,
    mode        text NOT NULL CHECK (mode IN ('live', 'test')),
    phone_index blob NOT NULL,
    minute      bigint NOT NULL,
    reason      text NOT NULL,
    tally       text NOT NULL,
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
