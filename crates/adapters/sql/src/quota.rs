//! Tables of the records of which test keys may leave only a limited number.

use dwar_otp::TestRecord;

/// The table of a kind of record and the column of its age. The index `TABLE_of_tests` is ordered
/// by that column within a project.
pub const fn kept_in(record: TestRecord) -> (&'static str, &'static str) {
    match record {
        TestRecord::Request => ("otps", "expires_at"),
        TestRecord::FirstAnswer => ("idempotency_records", "began_at"),
        TestRecord::Place => ("send_slots", "taken_at"),
        TestRecord::Session => ("sessions", "created_at"),
        TestRecord::Identity => ("identities", "last_verified_at"),
        TestRecord::Event => ("events", "happened_at"),
    }
}

/// The condition of the rows that count, as in the index: those of test keys, without rows that
/// another rule limits.
pub const fn counted_as_test(record: TestRecord) -> &'static str {
    match record {
        // A feed has its own limit and records where it was cut.
        TestRecord::Event => "mode = 'test' AND NOT in_feed",
        _ => "mode = 'test'",
    }
}
