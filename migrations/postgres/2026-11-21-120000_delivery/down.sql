DROP INDEX sessions_by_revocation;
DROP TABLE event_deliveries;
DROP TABLE events;
DROP TABLE webhook_endpoints;
DROP TABLE receipts;
DROP TRIGGER ledger_entries_append_only ON ledger_entries;
DROP TRIGGER ledger_entries_no_truncate ON ledger_entries;
DROP FUNCTION refuse_ledger_change();
-- Refunds and adjustments stay: money that moved cannot be unbooked.
ALTER TABLE projects
    DROP COLUMN brand,
    DROP COLUMN language,
    DROP COLUMN sms_text,
    DROP COLUMN sms_template_id,
    DROP COLUMN sms_domain,
    DROP COLUMN sms_app_hash,
    DROP COLUMN whatsapp_providers,
    DROP COLUMN sms_providers,
    DROP COLUMN fallback_seconds,
    DROP COLUMN low_balance;
