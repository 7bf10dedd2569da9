ALTER TABLE sessions DROP COLUMN replay_answer;
UPDATE sessions SET replay_key = NULL;
ALTER TABLE sessions DROP COLUMN rotations;
ALTER TABLE sessions DROP COLUMN generation;
ALTER TABLE sessions ADD COLUMN replay_answer blob;
ALTER TABLE sessions ADD COLUMN rotated_at bigint;
ALTER TABLE sessions ADD COLUMN predecessor_digest blob;
CREATE TABLE refresh_tokens (
    digest     blob PRIMARY KEY,
    session_id text NOT NULL REFERENCES sessions (id) ON DELETE CASCADE
);
CREATE INDEX refresh_tokens_by_session ON refresh_tokens (session_id);
INSERT INTO refresh_tokens (digest, session_id) SELECT refresh_digest, id FROM sessions;
