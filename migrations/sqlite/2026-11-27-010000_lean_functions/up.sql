-- Nothing here: on SQLite a step asks whether anybody is to be told, and then writes.
SELECT 1;
