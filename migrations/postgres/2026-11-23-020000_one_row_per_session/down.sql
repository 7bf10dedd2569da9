ALTER TABLE sessions
    DROP CONSTRAINT sessions_whole_replay,
    DROP COLUMN rotations,
    DROP COLUMN generation,
    ADD COLUMN rotated_at timestamptz,
    ADD COLUMN predecessor_digest bytea;
UPDATE sessions SET replay_key = NULL, replay_answer = NULL;
CREATE TABLE refresh_tokens (
    digest     bytea PRIMARY KEY,
    session_id uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE
);
CREATE INDEX refresh_tokens_by_session ON refresh_tokens (session_id);
INSERT INTO refresh_tokens (digest, session_id) SELECT refresh_digest, id FROM sessions;
