-- Nothing here: SQLite compiles checks with the statement, once, and one connection writes at a time.
SELECT 1;
