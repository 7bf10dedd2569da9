-- Nothing here: a check of a foreign key locks no row in SQLite, where one connection writes at a time.
SELECT 1;
