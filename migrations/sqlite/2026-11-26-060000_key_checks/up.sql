-- By what the master keys and the lookup key of this database are recognised: digests that are derived
-- from them and tell nothing about them. A row for each master key that has encrypted something here, the
-- one in use with the highest turn, and one for the lookup key.
CREATE TABLE key_checks (
    check_value blob NOT NULL PRIMARY KEY CHECK (length(check_value) = 32),
    kind        text NOT NULL CHECK (kind IN ('master', 'lookup')),
    turn        bigint NOT NULL CHECK (kind = 'master' OR turn = 0),
    UNIQUE (kind, turn)
) WITHOUT ROWID;
