DROP FUNCTION record_event;
