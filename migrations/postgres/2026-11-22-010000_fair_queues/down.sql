DROP TRIGGER otp_attempts_wake ON otp_attempts;
DROP TRIGGER otp_attempts_wake_new ON otp_attempts;
DROP FUNCTION wake_receipts();
DROP INDEX receipts_by_message;
DROP INDEX receipts_due;
ALTER TABLE receipts DROP COLUMN known;
CREATE INDEX receipts_due ON receipts (due_at);
DROP INDEX event_deliveries_due;
CREATE INDEX event_deliveries_due ON event_deliveries (due_at);
CREATE INDEX event_deliveries_by_endpoint ON event_deliveries (endpoint_id);
ALTER TABLE events DROP COLUMN provider;
ALTER TABLE webhook_endpoints
    DROP COLUMN failures,
    DROP COLUMN failing_since,
    DROP COLUMN disabled_at;
