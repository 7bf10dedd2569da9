use crate::common::World;
use dwar_console::{ConsoleSweep, ConsoleSwept};
use dwar_operator::{MockAdminTokenStore, MockAuditStore, MockOperatorStore, MockSearchStore};
use dwar_testkit::{START, minutes, seconds};
use mockall::predicate::eq;
use std::sync::Arc;

#[tokio::test]
async fn while_the_clock_is_too_far_off_nothing_goes() {
    let world = World::live();
    let tools = world.tools();
    tools.watch.compare(tools.watch.moment(), START + seconds(30));
    let sweep = ConsoleSweep {
        tools,
        operators: Arc::new(MockOperatorStore::new()),
        admin_tokens: Arc::new(MockAdminTokenStore::new()),
        audit: Arc::new(MockAuditStore::new()),
        searches: Arc::new(MockSearchStore::new()),
        kept: minutes(9),
    };
    assert_eq!(sweep.tidy().await.unwrap(), ConsoleSwept::default());
}

#[tokio::test]
async fn what_is_over_goes_when_it_was_kept_long_enough() {
    let kept = minutes(9);
    let (mut operators, mut audit) = (MockOperatorStore::new(), MockAuditStore::new());
    operators.expect_sweep().with(eq(START)).times(1).returning(|_| Ok(6));
    let mut admin_tokens = MockAdminTokenStore::new();
    admin_tokens.expect_sweep().with(eq(START - kept)).times(1).returning(|_| Ok(7));
    audit.expect_sweep().with(eq(START - kept)).times(1).returning(|_| Ok(8));
    let mut searches = MockSearchStore::new();
    searches.expect_sweep().with(eq(START)).times(1).returning(|_| Ok(10));
    let sweep = ConsoleSweep {
        tools: World::live().tools(),
        operators: Arc::new(operators),
        admin_tokens: Arc::new(admin_tokens),
        audit: Arc::new(audit),
        searches: Arc::new(searches),
        kept,
    };
    let swept = ConsoleSwept { operators: 6, admin_tokens: 7, audit: 8, searches: 10 };
    assert_eq!(sweep.tidy().await.unwrap(), swept);
}
