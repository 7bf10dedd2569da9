-- Addresses at which other systems ask for their own codes to be delivered (`POST /hooks/{hook}`).
CREATE TABLE hooks (
    id               blob NOT NULL PRIMARY KEY,
    project_id       blob NOT NULL REFERENCES projects (id),
    mode             text NOT NULL CHECK (mode IN ('live', 'test')),
    kind             text NOT NULL,
    lifetime_seconds integer NOT NULL,
    -- the present secret and the one before, sealed
    secret           blob NOT NULL,
    previous_secret  blob,
    previous_until   bigint,
    created_at       bigint NOT NULL
);
CREATE INDEX hooks_by_project ON hooks (project_id);
