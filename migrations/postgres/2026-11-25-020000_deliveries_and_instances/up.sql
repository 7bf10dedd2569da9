-- What endpoints were told, a row per call. It names an event, and keeps it on record, but does not
-- point at it: what test keys leave beyond their quota goes before.
CREATE TABLE webhook_calls (
    id          uuid PRIMARY KEY,
    endpoint_id uuid NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    event_id    text NOT NULL,
    kind        text NOT NULL,
    number      integer NOT NULL,
    called_at   timestamptz NOT NULL,
    took_ms     bigint NOT NULL,
    -- taken, or why it was not
    outcome     text NOT NULL,
    status      integer,
    again_at    timestamptz,
    failed      boolean NOT NULL
);
CREATE INDEX webhook_calls_by_endpoint ON webhook_calls (endpoint_id, id);
CREATE INDEX webhook_calls_failed ON webhook_calls (endpoint_id, id) WHERE failed;
CREATE INDEX webhook_calls_by_event ON webhook_calls (event_id, endpoint_id, called_at);
CREATE INDEX webhook_calls_by_age ON webhook_calls (called_at);

-- The processes that run the service, as they say themselves.
CREATE TABLE instances (
    id         uuid PRIMARY KEY,
    started_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL,
    version    text NOT NULL,
    host       text NOT NULL,
    pid        bigint NOT NULL,
    api        text NOT NULL,
    dashboard  text
);
CREATE INDEX instances_by_age ON instances (seen_at);
