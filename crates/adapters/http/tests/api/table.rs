use dwar_http::ErrorCode;

/// Every row of docs/errors.md in its order, and the one of the webhooks, which belong to the
/// providers' API and not to the customers'.
const ROWS: [(&str, u16); 36] = [
    ("MISSING_API_KEY", 401),
    ("INVALID_API_KEY", 401),
    ("INVALID_PHONE", 422),
    ("INVALID_OTP_CODE", 422),
    ("MISSING_ACCESS_TOKEN", 422),
    ("MISSING_REFRESH_TOKEN", 422),
    ("OTP_RATE_LIMITED", 429),
    ("OTP_NOT_FOUND", 400),
    ("INVALID_OTP", 400),
    ("VERIFY_RATE_LIMITED", 429),
    ("SMS_FAILED", 500),
    ("OTP_REQUEST_NOT_FOUND", 404),
    ("INSUFFICIENT_BALANCE", 402),
    ("PROOF_REQUIRED", 403),
    ("SESSION_EXPIRED", 401),
    ("INVALID_ACCESS_TOKEN", 401),
    ("RATE_LIMITED", 429),
    ("IDENTITY_DELETE_DISABLED", 403),
    ("IDENTITY_NOT_FOUND", 404),
    ("INVALID_REQUEST", 400),
    ("NOT_FOUND", 404),
    ("METHOD_NOT_ALLOWED", 405),
    ("PAYLOAD_TOO_LARGE", 413),
    ("UNSUPPORTED_MEDIA_TYPE", 415),
    ("IDENTITY_LOOKUP_DISABLED", 403),
    ("INVALID_FIELD", 422),
    ("RELAY_DISABLED", 403),
    ("EVENTS_FEED_DISABLED", 403),
    ("CURSOR_INVALIDATED", 409),
    ("CURSOR_EXPIRED", 410),
    ("SPEND_LIMIT_REACHED", 402),
    ("IDEMPOTENCY_CONFLICT", 409),
    ("IDEMPOTENCY_KEY_REUSED", 422),
    ("WEBHOOK_UNAUTHENTICATED", 401),
    ("INTERNAL_ERROR", 500),
    ("SERVICE_UNAVAILABLE", 503),
];

#[test]
fn the_table_is_what_was_promised() {
    let table: Vec<_> = ErrorCode::ALL.iter().map(|code| (code.as_str(), code.status())).collect();
    assert_eq!(table, ROWS);
}

#[test]
fn every_row_has_a_sentence_of_its_own() {
    let mut sentences: Vec<_> = ErrorCode::ALL.iter().map(|code| code.message()).collect();
    assert!(sentences.iter().all(|sentence| sentence.ends_with('.')));
    sentences.sort_unstable();
    sentences.dedup();
    assert_eq!(sentences.len(), ROWS.len());
}
