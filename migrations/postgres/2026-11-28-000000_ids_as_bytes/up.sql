-- Nothing here: ids are of the type uuid, which is 16 bytes.
SELECT 1;
