DROP TRIGGER identities_take_sessions_along ON identities;
DROP FUNCTION take_sessions_along;
DROP TRIGGER otps_take_attempts_along ON otps;
DROP FUNCTION take_attempts_along;
ALTER TABLE sessions ADD CONSTRAINT sessions_identity_id_fkey
    FOREIGN KEY (identity_id) REFERENCES identities (id) ON DELETE CASCADE;
ALTER TABLE otp_attempts ADD CONSTRAINT otp_attempts_otp_id_fkey
    FOREIGN KEY (otp_id) REFERENCES otps (id) ON DELETE CASCADE;
ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_kind_check
    CHECK (kind IN ('credit', 'hold', 'capture', 'release', 'refund', 'adjustment'));
ALTER TABLE sessions ADD CONSTRAINT sessions_whole_replay
    CHECK ((replay_answer IS NULL) = (replay_key IS NULL));
ALTER TABLE identities ADD CONSTRAINT identities_mode_check CHECK (mode IN ('live', 'test'));
ALTER TABLE otp_attempts
    ADD CONSTRAINT otp_attempts_status_check
        CHECK (status IN ('queued', 'sent', 'failed', 'delivered')),
    ADD CONSTRAINT otp_attempts_channel_check CHECK (channel IN ('whatsapp', 'sms'));
ALTER TABLE otps
    ADD CONSTRAINT otps_state_check
        CHECK (state IN ('active', 'locked', 'used', 'superseded', 'void')),
    ADD CONSTRAINT otps_check CHECK (wrong >= 0 AND wrong <= max_wrong),
    ADD CONSTRAINT otps_status_check CHECK (status IN ('queued', 'sent', 'failed', 'delivered')),
    ADD CONSTRAINT otps_mode_check CHECK (mode IN ('live', 'test'));
