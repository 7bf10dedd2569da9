-- Addresses at which other systems ask for their own codes to be delivered (`POST /hooks/{hook}`).
CREATE TABLE hooks (
    id               uuid PRIMARY KEY,
    project_id       uuid NOT NULL REFERENCES projects (id),
    mode             text NOT NULL CHECK (mode IN ('live', 'test')),
    kind             text NOT NULL,
    lifetime_seconds integer NOT NULL,
    -- the present secret and the one before, sealed
    secret           bytea NOT NULL,
    previous_secret  bytea,
    previous_until   timestamptz,
    created_at       timestamptz NOT NULL
);
CREATE INDEX hooks_by_project ON hooks (project_id);
