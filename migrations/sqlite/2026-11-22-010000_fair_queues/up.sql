-- How an endpoint fails, and since when it is switched off.
ALTER TABLE webhook_endpoints ADD COLUMN failures integer NOT NULL DEFAULT 0;
ALTER TABLE webhook_endpoints ADD COLUMN failing_since bigint;
ALTER TABLE webhook_endpoints ADD COLUMN disabled_at bigint;
CREATE INDEX webhook_endpoints_disabled ON webhook_endpoints (disabled_at)
    WHERE disabled_at IS NOT NULL;

-- Of a provider: its name, how many of its receipts failed (amount) out of how many (threshold).
-- Of an endpoint: how many calls failed (amount), the first when, in milliseconds (threshold).
ALTER TABLE events ADD COLUMN provider text;

-- What is due is looked for endpoint by endpoint.
DROP INDEX event_deliveries_due;
DROP INDEX event_deliveries_by_endpoint;
CREATE INDEX event_deliveries_due ON event_deliveries (endpoint_id, due_at, event_id);

-- A receipt is known once the attempt it is about is on record. A repetition is not kept twice.
DELETE FROM receipts WHERE rowid NOT IN (
    SELECT min(rowid) FROM receipts GROUP BY provider, provider_ref, report, reason
);
ALTER TABLE receipts ADD COLUMN known boolean NOT NULL DEFAULT true;
CREATE UNIQUE INDEX receipts_by_message
    ON receipts (provider, provider_ref, report, coalesce(reason, ''));
DROP INDEX receipts_due;
CREATE INDEX receipts_due ON receipts (due_at, id) WHERE known AND report <> 'failed';
CREATE INDEX receipts_failed_due ON receipts (due_at, id) WHERE known AND report = 'failed';
CREATE INDEX receipts_unknown_due ON receipts (due_at) WHERE NOT known;
CREATE INDEX receipts_unknown_by_age ON receipts (received_at, id) WHERE NOT known;

-- A receipt may overtake the answer of its own send: it becomes due in the write that puts the
-- provider's reference on record.
CREATE TRIGGER otp_attempts_wake_new AFTER INSERT ON otp_attempts
WHEN NEW.provider_ref IS NOT NULL
BEGIN
    UPDATE receipts SET known = true, due_at = received_at
    WHERE provider = NEW.provider AND provider_ref = NEW.provider_ref AND NOT known;
END;
CREATE TRIGGER otp_attempts_wake AFTER UPDATE ON otp_attempts
WHEN NEW.provider_ref IS NOT NULL AND NEW.provider_ref IS NOT OLD.provider_ref
BEGIN
    UPDATE receipts SET known = true, due_at = received_at
    WHERE provider = NEW.provider AND provider_ref = NEW.provider_ref AND NOT known;
END;
