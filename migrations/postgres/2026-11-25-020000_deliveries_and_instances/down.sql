-- What was kept on record for its calls alone has nobody who would drop it.
DELETE FROM events WHERE NOT EXISTS (
    SELECT 1 FROM event_deliveries WHERE event_deliveries.event_id = events.id
);
DROP TABLE instances;
DROP TABLE webhook_calls;
