-- The quota of test mode finds a project's oldest records by these; live rows are not in them.
CREATE INDEX otps_of_tests ON otps (project_id, expires_at, id) WHERE mode = 'test';
CREATE INDEX idempotency_records_of_tests ON idempotency_records (project_id, began_at, key_digest) WHERE mode = 'test';
CREATE INDEX send_slots_of_tests ON send_slots (project_id, taken_at, send_id) WHERE mode = 'test';
CREATE INDEX sessions_of_tests ON sessions (project_id, created_at, id) WHERE mode = 'test';
CREATE INDEX identities_of_tests ON identities (project_id, last_verified_at, id) WHERE mode = 'test';
CREATE INDEX events_of_tests ON events (project_id, happened_at, id) WHERE mode = 'test';
CREATE INDEX guess_budgets_of_tests ON guess_budgets (project_id) WHERE mode = 'test';

-- Without it, each request that is dropped reads every message.
CREATE INDEX sandbox_messages_by_otp ON sandbox_messages (otp_id);

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
