DROP TABLE audit_entries;
DROP FUNCTION audit_entries_stay;
DROP TABLE admin_tokens;
DROP TABLE operator_standings;
DROP TABLE operator_sessions;
DROP TABLE operator_links;
DROP TABLE operators;
