-- The newest entries of one who did it, and of one kind, however long the log is.
CREATE INDEX audit_entries_by_actor ON audit_entries (actor_id, happened_at, id);
CREATE INDEX audit_entries_by_action ON audit_entries (action, happened_at, id);
