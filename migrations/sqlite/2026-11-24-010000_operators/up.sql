-- Whoever runs the service. A name is unique in whatever case.
CREATE TABLE operators (
    id             text PRIMARY KEY,
    name           text NOT NULL,
    name_key       text NOT NULL UNIQUE,
    access         text NOT NULL,
    -- PHC string
    password       text,
    totp_sealed    blob,
    totp_last_step bigint,
    created_at     bigint NOT NULL,
    signed_in_at   bigint,
    CHECK ((totp_sealed IS NULL) = (totp_last_step IS NULL))
);

-- What lets an operator in, once.
CREATE TABLE operator_links (
    digest      blob PRIMARY KEY,
    operator_id text NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    kind        text NOT NULL,
    made_at     bigint NOT NULL,
    expires_at  bigint NOT NULL
);
CREATE INDEX operator_links_by_operator ON operator_links (operator_id);
CREATE INDEX operator_links_by_end ON operator_links (expires_at);

CREATE TABLE operator_sessions (
    digest       blob PRIMARY KEY,
    operator_id  text NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    from_address text,
    created_at   bigint NOT NULL,
    seen_at      bigint NOT NULL,
    expires_at   bigint NOT NULL
);
CREATE INDEX operator_sessions_by_operator ON operator_sessions (operator_id);
CREATE INDEX operator_sessions_by_end ON operator_sessions (expires_at);
CREATE INDEX operator_sessions_by_use ON operator_sessions (seen_at);

-- Failures to sign in. Names that nobody has share 65,536 ids that are nobody's.
CREATE TABLE operator_standings (
    operator_id  text PRIMARY KEY,
    failures     integer NOT NULL,
    last_at      bigint,
    locked_until bigint
);
CREATE INDEX operator_standings_by_age ON operator_standings (last_at);

CREATE TABLE admin_tokens (
    id         text PRIMARY KEY,
    digest     blob NOT NULL UNIQUE,
    name       text NOT NULL,
    access     text NOT NULL,
    made_by    text NOT NULL,
    made_at    bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at    bigint,
    used_from  text
);
CREATE INDEX admin_tokens_by_end ON admin_tokens (expires_at);

-- Who changed what. Refers to nothing: it outlives what it is about.
CREATE TABLE audit_entries (
    id           text PRIMARY KEY,
    happened_at  bigint NOT NULL,
    actor_kind   text NOT NULL,
    actor_id     text,
    actor_name   text,
    from_address text,
    project_id   text,
    action       text NOT NULL,
    subject      text NOT NULL,
    facts_before text,
    facts_after  text
);
CREATE INDEX audit_entries_by_age ON audit_entries (happened_at, id);
CREATE INDEX audit_entries_by_project ON audit_entries (project_id, happened_at, id)
    WHERE project_id IS NOT NULL;

CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
BEGIN
    SELECT raise(ABORT, 'the audit log is never changed');
END;
