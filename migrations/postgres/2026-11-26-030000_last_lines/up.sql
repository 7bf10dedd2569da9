-- Domains and app hashes that a send may name for the last line of its SMS, separated by commas.
ALTER TABLE projects ADD COLUMN sms_last_lines text;
