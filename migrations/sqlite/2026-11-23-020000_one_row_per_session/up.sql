-- A refresh token carries its session and generation under a MAC, so one that was used is recognised
-- with nothing on record. Tokens from before carry neither: their sessions end with the access token.
DROP TABLE refresh_tokens;
ALTER TABLE sessions DROP COLUMN predecessor_digest;
ALTER TABLE sessions DROP COLUMN rotated_at;
ALTER TABLE sessions DROP COLUMN replay_answer;
ALTER TABLE sessions ADD COLUMN generation bigint NOT NULL DEFAULT 0;
-- When the last 16 refresh tokens were exchanged: milliseconds in eight bytes each, oldest first.
ALTER TABLE sessions ADD COLUMN rotations blob NOT NULL DEFAULT x'';
UPDATE sessions SET replay_key = NULL;
ALTER TABLE sessions ADD COLUMN replay_answer blob CHECK ((replay_answer IS NULL) = (replay_key IS NULL));
