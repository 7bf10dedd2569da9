DROP FUNCTION take_place;
ALTER TABLE otps DROP COLUMN version;
