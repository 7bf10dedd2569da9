DROP INDEX sessions_by_revocation;
DROP TABLE event_deliveries;
DROP TABLE events;
DROP TABLE webhook_endpoints;
DROP TABLE receipts;
DROP TRIGGER ledger_entries_no_update;
DROP TRIGGER ledger_entries_no_delete;
-- Refunds and adjustments stay: money that moved cannot be unbooked.
ALTER TABLE projects DROP COLUMN brand;
ALTER TABLE projects DROP COLUMN language;
ALTER TABLE projects DROP COLUMN sms_text;
ALTER TABLE projects DROP COLUMN sms_template_id;
ALTER TABLE projects DROP COLUMN sms_domain;
ALTER TABLE projects DROP COLUMN sms_app_hash;
ALTER TABLE projects DROP COLUMN whatsapp_providers;
ALTER TABLE projects DROP COLUMN sms_providers;
ALTER TABLE projects DROP COLUMN fallback_seconds;
ALTER TABLE projects DROP COLUMN low_balance;
