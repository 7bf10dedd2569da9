-- When guesses at a code were judged, the last 16 of them: milliseconds in eight bytes each, oldest
-- first. Of a used code the last one is the right one.
ALTER TABLE otps ADD COLUMN guesses bytea;

-- What was sent and what became of it, per project, world, stretch of time and provider; counted
-- from the tables above. What was charged is in paise, times are a histogram.
CREATE TABLE figures (
    project_id uuid NOT NULL,
    mode       text NOT NULL,
    grain      text NOT NULL,
    began_at   timestamptz NOT NULL,
    channel    text NOT NULL,
    provider   text NOT NULL,
    attempts   bigint NOT NULL,
    accepted   bigint NOT NULL,
    arrived    bigint NOT NULL,
    failed     bigint NOT NULL,
    requests   bigint NOT NULL,
    delivered  bigint NOT NULL,
    verified   bigint NOT NULL,
    spent      bigint NOT NULL,
    times      bytea NOT NULL,
    PRIMARY KEY (project_id, mode, grain, began_at, channel, provider)
);
CREATE INDEX figures_by_age ON figures (grain, began_at);

-- One row: who keeps the figures, and how far they have come.
CREATE TABLE figures_tenure (
    id         integer PRIMARY KEY CHECK (id = 1),
    settled_at timestamptz,
    fresh_at   timestamptz,
    keeper_id  uuid,
    led_until  timestamptz,
    CHECK ((keeper_id IS NULL) = (led_until IS NULL))
);
INSERT INTO figures_tenure (id) VALUES (1);
