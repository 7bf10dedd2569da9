-- What each instance may admit of the requests of an API key (docs/adr/0037): a few rows, each
-- written some times a minute while its key is in use, and read by its key alone. No foreign key: a
-- row is of no use a minute after its last change, and is dropped then.
CREATE TABLE quota_shares (
    api_key_id uuid NOT NULL,
    scope text NOT NULL,
    -- An array of shares; instants and durations in microseconds.
    shares jsonb NOT NULL,
    -- From then on nothing in it counts.
    over_at timestamptz NOT NULL,
    PRIMARY KEY (api_key_id, scope)
) WITH (fillfactor = 50);
