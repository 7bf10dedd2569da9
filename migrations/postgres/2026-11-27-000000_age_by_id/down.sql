CREATE INDEX otps_by_age ON otps (created_at);
CREATE INDEX send_slots_by_age ON send_slots (taken_at);
CREATE INDEX wallet_holds_by_age ON wallet_holds (held_since);
