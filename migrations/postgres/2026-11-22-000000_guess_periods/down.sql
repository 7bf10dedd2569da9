ALTER TABLE otp_attempts DROP COLUMN accepted;
ALTER TABLE send_slots DROP COLUMN forgiven;
DROP INDEX guess_budgets_by_age;
ALTER TABLE guess_budgets DROP COLUMN stopped_at;
ALTER TABLE guess_budgets DROP COLUMN period_wrong;
ALTER TABLE guess_budgets DROP COLUMN period_began_at;
