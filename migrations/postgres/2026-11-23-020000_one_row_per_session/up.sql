-- A refresh token carries its session and generation under a MAC, so one that was used is recognised
-- with nothing on record. Tokens from before carry neither: their sessions end with the access token.
DROP TABLE refresh_tokens;
UPDATE sessions SET replay_key = NULL, replay_answer = NULL;
ALTER TABLE sessions
    DROP COLUMN predecessor_digest,
    DROP COLUMN rotated_at,
    ADD COLUMN generation bigint NOT NULL DEFAULT 0,
    -- When the last 16 refresh tokens were exchanged: milliseconds in eight bytes each, oldest first.
    ADD COLUMN rotations bytea NOT NULL DEFAULT '',
    ADD CONSTRAINT sessions_whole_replay CHECK ((replay_answer IS NULL) = (replay_key IS NULL));
