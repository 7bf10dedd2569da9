-- What each send and each login pays for, without saying more than the statements do.

-- A check is read from the catalogue, parsed and compiled by every statement that writes to its table.
-- Those dropped here repeat the domain's types: what is written is one of their words, and a row that
-- says anything else is refused when it is read. Those about money stay.
ALTER TABLE otps
    DROP CONSTRAINT otps_state_check,
    DROP CONSTRAINT otps_status_check,
    DROP CONSTRAINT otps_mode_check,
    DROP CONSTRAINT otps_check;
ALTER TABLE otp_attempts
    DROP CONSTRAINT otp_attempts_status_check,
    DROP CONSTRAINT otp_attempts_channel_check;
ALTER TABLE identities DROP CONSTRAINT identities_mode_check;
ALTER TABLE sessions DROP CONSTRAINT sessions_whole_replay;
ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_kind_check;

-- A foreign key looks its parent up, and locks it, for every row that comes. An attempt comes with the
-- write of its request, a session with that of its identity, in one statement that has the parent
-- locked. What is left of the keys is what happens when a parent goes; a statement of a function sees
-- what was committed while the parent was waited for.
ALTER TABLE otp_attempts DROP CONSTRAINT otp_attempts_otp_id_fkey;
ALTER TABLE sessions DROP CONSTRAINT sessions_identity_id_fkey;

CREATE FUNCTION take_attempts_along() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM otp_attempts WHERE otp_id IN (SELECT id FROM gone);
    RETURN NULL;
END
$$;
CREATE TRIGGER otps_take_attempts_along AFTER DELETE ON otps
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION take_attempts_along();

CREATE FUNCTION take_sessions_along() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sessions WHERE identity_id IN (SELECT id FROM gone);
    RETURN NULL;
END
$$;
CREATE TRIGGER identities_take_sessions_along AFTER DELETE ON identities
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION take_sessions_along();
