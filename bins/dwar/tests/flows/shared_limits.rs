//! Requests of one key, counted across processes with leased shares of the quota on PostgreSQL, and
//! by processes one after another.

use crate::common::{Database, Service, World, at_once, tally};
use reqwest::Method;
use std::time::Duration;

const LIMIT: usize = 40;
/// Most places that each process may leave unused while others are refused: a sixteenth.
const BLOCK: usize = 2;
const KEY: &str = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";
const STATUS: &str = "/v1/otp/status/unknown";
const PATIENCE: Duration = Duration::from_secs(20);

mod postgres {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    #[ignore = "needs DWAR_TEST_POSTGRES_URL"]
    async fn three_processes_share_a_limit_by_blocks() {
        let world = limited(Database::postgres().await);
        let one = Service::start_in(world);
        let (two, three) = (one.twin(), one.twin());
        let all = [&one, &two, &three];
        let [first, second] = [(); 2].map(|()| one.world.project("0"));
        let total = admitted(&all, &first.test, 60).await;
        assert!((LIMIT - all.len() * BLOCK..=LIMIT).contains(&total), "{total}");
        let rest = admitted(&all, &first.test, 20).await;
        assert!(total + rest <= LIMIT, "{total}, {rest}");
        // One after another, with refusals on each that take no place of the others.
        let mut total = 0;
        for service in all {
            total += admitted(&[service], &second.test, 2).await;
        }
        total += admitted(&[&two], &second.test, 100).await;
        assert!((LIMIT - 2 * BLOCK..=LIMIT).contains(&total), "{total}");
        assert_eq!(told(&two, &first.live).await, "999");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    #[ignore = "needs DWAR_TEST_POSTGRES_URL"]
    async fn one_process_is_exact_and_what_it_admitted_outlives_it() {
        let one = Service::start_in(limited(Database::postgres().await));
        let [first, second] = [(); 2].map(|()| one.world.project("0"));
        for left in (0..LIMIT).rev() {
            assert_eq!(told(&one, &first.test).await, left.to_string());
        }
        assert_eq!(admitted(&[&one], &first.test, 20).await, 0);
        assert_eq!(admitted(&[&one], &second.test, 20).await, 20);
        // The places recorded before it was killed: all but at most a block.
        let one = Service::start_in(one.kill());
        assert_eq!(admitted(&[&one], &first.test, 20).await, 0);
        let more = admitted(&[&one], &second.test, 40).await;
        assert!((LIMIT - 20 - BLOCK..=LIMIT - 20).contains(&more), "{more}");
        // A process that stops returns its unused places.
        let third = one.world.project("0");
        assert_eq!(admitted(&[&one], &third.test, 20).await, 20);
        let mut one = one;
        one.terminate();
        assert!(one.wait(PATIENCE).unwrap().success());
        let one = Service::start_in(one.kill());
        assert_eq!(admitted(&[&one], &third.test, 40).await, LIMIT - 20);
    }
}

fn limited(database: Database) -> World {
    World::new(database)
        .with("DWAR__SECRETS__MASTER_KEY", KEY)
        .with("DWAR__LIMITS__TEST__GENERAL_PER_MINUTE", &LIMIT.to_string())
}

/// How many of `each` concurrent requests to every one of the services are admitted.
async fn admitted(services: &[&Service], key: &str, each: usize) -> usize {
    let calls = services.iter().flat_map(|service| {
        (0..each).map(|_| service.request(Method::GET, STATUS).header("X-Api-Key", key))
    });
    let answers = at_once(calls).await;
    let tally = tally(&answers);
    let of = |code| tally.get(code).copied().unwrap_or_default();
    let (found, refused) = (of("OTP_REQUEST_NOT_FOUND"), of("RATE_LIMITED"));
    assert_eq!(found + refused, each * services.len(), "{tally:?}");
    found
}

/// The number of requests left to the key.
async fn told(service: &Service, key: &str) -> String {
    service.get(key, STATUS).await.header("ratelimit-remaining").to_owned()
}
