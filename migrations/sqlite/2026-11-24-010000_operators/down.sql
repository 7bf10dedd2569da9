DROP TABLE audit_entries;
DROP TABLE admin_tokens;
DROP TABLE operator_standings;
DROP TABLE operator_sessions;
DROP TABLE operator_links;
DROP TABLE operators;
