-- Whether a project may have codes of somebody else delivered (`POST /v1/otp/relay`), by mode.
ALTER TABLE projects ADD COLUMN relay_live boolean NOT NULL DEFAULT false;
ALTER TABLE projects ADD COLUMN relay_test boolean NOT NULL DEFAULT false;

-- Whether somebody else made the code and checks it; here it is `void`, and only delivered.
ALTER TABLE otps ADD COLUMN relayed boolean NOT NULL DEFAULT false;
