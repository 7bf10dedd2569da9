use crate::common::World;
use dwar_app::PublicKeys;
use dwar_session::JwkSet;
use dwar_testkit::START;
use mockall::predicate::eq;
use std::mem::take;
use std::sync::Arc;

#[tokio::test]
async fn the_keys_published_now_are_given() {
    let mut world = World::live();
    let set =
        JwkSet { json: r#"{"keys":[]}"#.to_owned(), etag: "e1".to_owned(), algorithms: Vec::new() };
    let told = set.clone();
    let port = world.signer.expect_public_keys().with(eq(START));
    port.times(1).returning(move |_| Ok(told.clone()));
    let keys = PublicKeys { tools: world.tools(), signer: Arc::new(take(&mut world.signer)) };
    assert_eq!(keys.publish().await.unwrap(), set);
}
