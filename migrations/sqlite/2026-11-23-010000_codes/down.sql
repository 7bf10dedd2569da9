-- Nothing: one thread writes, so a code needs no version and a place no lock.
SELECT 1;
