-- An id says when it was made, so these are read and dropped by age in the order of their ids. An index
-- by age beside it was one more write for each send, each report and each guess.
DROP INDEX otps_by_age;
DROP INDEX send_slots_by_age;
DROP INDEX wallet_holds_by_age;
