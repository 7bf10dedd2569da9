-- Nothing here: on SQLite one process serves, and counts requests in its memory.
SELECT 1;
