-- Nothing to change: the writer takes each step alone. PostgreSQL has a function for it.
SELECT 1;
