//! Where the records lie that test keys may leave behind only so many of.

use dwar_otp::TestRecord;

/// The table of a kind of record and the column of its age, by which the index `TABLE_of_tests` is
/// ordered within a project.
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

/// Which rows of that table count, as the index has them: those of test keys, without what is bounded elsewhere.
pub const fn counted_as_test(record: TestRecord) -> &'static str {
    match record {
        // A feed has a bound of its own, and says where it was cut.
        TestRecord::Event => "mode = 'test' AND NOT in_feed",
        _ => "mode = 'test'",
    }
}
