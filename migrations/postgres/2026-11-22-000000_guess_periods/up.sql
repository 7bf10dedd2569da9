-- Wrong codes of a period that no success resets, and when they stopped the sends.
ALTER TABLE guess_budgets ADD COLUMN period_began_at timestamptz;
ALTER TABLE guess_budgets ADD COLUMN period_wrong integer NOT NULL DEFAULT 0;
ALTER TABLE guess_budgets ADD COLUMN stopped_at timestamptz;
CREATE INDEX guess_budgets_by_age ON guess_budgets (last_wrong_at);

-- A forgiven send has given its place back and still counts as one that reached a provider.
ALTER TABLE send_slots ADD COLUMN forgiven boolean NOT NULL DEFAULT false;

-- Whether the provider ever took the message, whatever it reported later.
ALTER TABLE otp_attempts ADD COLUMN accepted boolean NOT NULL DEFAULT false;
UPDATE otp_attempts SET accepted = true WHERE status IN ('sent', 'delivered');
