DROP TRIGGER identities_forget_refused_sends ON identities;
DROP FUNCTION forget_refused_sends;
DROP TABLE refused_sends;
DROP INDEX otps_by_phone;
CREATE INDEX otps_by_phone ON otps (project_id, mode, phone_index);
DROP INDEX otps_by_project;
ALTER TABLE api_keys DROP COLUMN used_at, DROP COLUMN used_from;
ALTER TABLE api_keys RENAME COLUMN ending TO last_four;
