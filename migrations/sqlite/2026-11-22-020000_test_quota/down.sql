DROP INDEX sandbox_messages_by_otp;
DROP INDEX guess_budgets_of_tests;
DROP INDEX events_of_tests;
DROP INDEX identities_of_tests;
DROP INDEX sessions_of_tests;
DROP INDEX send_slots_of_tests;
DROP INDEX idempotency_records_of_tests;
DROP INDEX otps_of_tests;
