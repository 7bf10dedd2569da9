-- The quota of test mode finds a project's oldest records by these; live rows are not in them.
CREATE INDEX otps_of_tests ON otps (project_id, expires_at) WHERE mode = 'test';
CREATE INDEX idempotency_records_of_tests ON idempotency_records (project_id, began_at) WHERE mode = 'test';
CREATE INDEX send_slots_of_tests ON send_slots (project_id, taken_at) WHERE mode = 'test';
CREATE INDEX sessions_of_tests ON sessions (project_id, created_at) WHERE mode = 'test';
CREATE INDEX identities_of_tests ON identities (project_id, last_verified_at) WHERE mode = 'test';
CREATE INDEX events_of_tests ON events (project_id, happened_at) WHERE mode = 'test';
CREATE INDEX guess_budgets_of_tests ON guess_budgets (project_id) WHERE mode = 'test';

-- Without it, each request that is dropped reads every message.
CREATE INDEX sandbox_messages_by_otp ON sandbox_messages (otp_id);
