//! Leased shares of quotas on PostgreSQL, and the limiters that use them.

use crate::support::Database;
use dwar_memory::LeasedRequestLimiter;
use dwar_postgres::PostgresStore;
use dwar_ratelimit::RequestLimiter;
use dwar_testkit::Fixtures;
use dwar_testkit::contract::quota_leases::Leases;
use std::sync::Arc;

/// Makes every record older by this many microseconds.
const OLDER: &str = "UPDATE quota_shares SET over_at = over_at - $1 * interval '1 microsecond', \
    shares = coalesce((SELECT jsonb_agg(s || jsonb_build_object('told_at', (s ->> 'told_at')::bigint - $1, \
    'until', (s ->> 'until')::bigint - $1)) FROM jsonb_array_elements(shares) s), '[]')";

async fn open() -> (Leases, Arc<Database>) {
    let database = Arc::new(Database::create());
    let store = database.store().await;
    let (shares, older) = (store.clone(), Arc::clone(&database));
    let leases = Leases {
        store: Arc::new(store),
        pass: Arc::new(move |time| {
            older.run_with(OLDER, i64::try_from(time.as_micros()).unwrap());
            Box::pin(async {})
        }),
        instance: Arc::new(move || limiter(&shares)),
    };
    (leases, database)
}

fn limiter(store: &PostgresStore) -> Arc<dyn RequestLimiter> {
    Arc::new(LeasedRequestLimiter::new(Arc::new(store.clone()), Fixtures::random().id()))
}

async fn open_alone() -> (Arc<dyn RequestLimiter>, Database) {
    let database = Database::create();
    (limiter(&database.store().await), database)
}

dwar_testkit::quota_leases_contract_tests! {
    #[ignore = "needs DWAR_TEST_POSTGRES_URL"]
    each: open().await
}

mod alone {
    use super::*;
    dwar_testkit::request_limiter_contract_tests! {
        #[ignore = "needs DWAR_TEST_POSTGRES_URL"]
        each: open_alone().await
    }
}
