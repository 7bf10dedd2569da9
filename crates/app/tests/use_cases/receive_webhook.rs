use crate::common::{World, down};
use dwar_app::{ReceiveWebhook, ReceiveWebhookError};
use dwar_otp::{
    MockReceiptStore, Reason, Receipt, ReceiptSource, Report, WebhookAdmission, WebhookCall,
    WebhookError, WebhookHead,
};
use dwar_testkit::START;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A provider called "meta" whose calls are all read as this.
struct Source(Result<Vec<Receipt>, WebhookError>);

impl ReceiptSource for Source {
    fn provider(&self) -> String {
        "meta".to_owned()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        let longest_body = head.parameter("admit").and_then(|length| length.parse().ok());
        let longest_body = longest_body.ok_or(WebhookError::Unauthenticated)?;
        Ok(WebhookAdmission { longest_body, proven: true })
    }

    fn receipts(&self, _: &WebhookCall) -> Result<Vec<Receipt>, WebhookError> {
        self.0.clone()
    }

    fn handshake(&self, head: &WebhookHead) -> Result<String, WebhookError> {
        let challenge = head.parameter("hub.challenge").map(str::to_owned);
        challenge.ok_or(WebhookError::Unauthenticated)
    }
}

fn head(query: &[(&str, &str)]) -> WebhookHead {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let query = query.iter().map(owned).collect();
    let path_and_query = "/webhooks/meta".to_owned();
    WebhookHead { path_and_query, query, headers: Vec::new() }
}

fn call(query: &[(&str, &str)]) -> WebhookCall {
    WebhookCall { head: head(query), body: b"{}".to_vec() }
}

fn webhook(
    world: &World,
    reads: Result<Vec<Receipt>, WebhookError>,
    receipts: MockReceiptStore,
) -> ReceiveWebhook {
    let source: Arc<dyn ReceiptSource> = Arc::new(Source(reads));
    ReceiveWebhook {
        tools: world.tools(),
        sources: HashMap::from([("meta".to_owned(), source)]),
        receipts: Arc::new(receipts),
    }
}

#[tokio::test]
async fn a_provider_that_is_not_configured_is_unknown() {
    let world = World::live();
    let webhook = webhook(&world, Ok(Vec::new()), MockReceiptStore::new());
    for name in ["twilio", "", "META"] {
        let answer = webhook.receive(name, &call(&[])).await;
        assert!(matches!(answer, Err(ReceiveWebhookError::UnknownProvider)));
        let answer = webhook.handshake(name, &head(&[]));
        assert!(matches!(answer, Err(ReceiveWebhookError::UnknownProvider)));
        let answer = webhook.admit(name, &head(&[("admit", "7")]));
        assert!(matches!(answer, Err(ReceiveWebhookError::UnknownProvider)));
    }
}

#[tokio::test]
async fn the_head_of_a_call_is_judged_by_its_provider() {
    let world = World::live();
    let webhook = webhook(&world, Ok(Vec::new()), MockReceiptStore::new());
    let admitted = webhook.admit("meta", &head(&[("admit", "7")])).unwrap();
    assert_eq!(admitted, WebhookAdmission { longest_body: 7, proven: true });
    let refused = webhook.admit("meta", &head(&[]));
    assert!(matches!(refused, Err(ReceiveWebhookError::Unauthenticated)));
}

#[tokio::test]
async fn a_call_that_is_not_the_providers_or_cannot_be_read_keeps_nothing() {
    for cause in [WebhookError::Unauthenticated, WebhookError::Unreadable] {
        let world = World::live();
        let webhook = webhook(&world, Err(cause), MockReceiptStore::new());
        let told = webhook.receive("meta", &call(&[])).await.unwrap_err();
        match cause {
            WebhookError::Unauthenticated => {
                assert!(matches!(told, ReceiveWebhookError::Unauthenticated));
            }
            WebhookError::Unreadable => assert!(matches!(told, ReceiveWebhookError::Unreadable)),
        }
    }
}

#[tokio::test]
async fn a_handshake_is_answered_by_its_provider() {
    let world = World::live();
    let webhook = webhook(&world, Ok(Vec::new()), MockReceiptStore::new());
    let answer = webhook.handshake("meta", &head(&[("hub.challenge", "42")]));
    assert_eq!(answer.unwrap(), "42");
    let refused = webhook.handshake("meta", &head(&[]));
    assert!(matches!(refused, Err(ReceiveWebhookError::Unauthenticated)));
}

#[tokio::test]
async fn all_receipts_of_a_call_are_kept_in_one_step_under_ids_of_their_own() {
    let world = World::live();
    let reports = [Report::Delivered, Report::Delivered, Report::Failed(Reason::Blocked)];
    let told = reports.map(|report| world.make.receipt(report).receipt);
    let kept = Arc::new(Mutex::new(Vec::new()));
    let (seen, mut receipts) = (Arc::clone(&kept), MockReceiptStore::new());
    receipts.expect_keep().times(1).returning(move |receipts| {
        seen.lock().unwrap().extend(receipts);
        Ok(())
    });
    let webhook = webhook(&world, Ok(told.to_vec()), receipts);
    assert_eq!(webhook.receive("meta", &call(&[])).await.unwrap(), 3);
    let mut kept = std::mem::take(&mut *kept.lock().unwrap());
    assert!(kept.iter().all(|kept| kept.received_at == START));
    assert_eq!(kept.iter().map(|kept| kept.receipt.clone()).collect::<Vec<_>>(), told);
    kept.sort_by_key(|kept| kept.id);
    kept.dedup_by_key(|kept| kept.id);
    assert_eq!(kept.len(), 3);
}

#[tokio::test]
async fn a_call_without_receipts_touches_no_store() {
    let world = World::live();
    let webhook = webhook(&world, Ok(Vec::new()), MockReceiptStore::new());
    assert_eq!(webhook.receive("meta", &call(&[])).await.unwrap(), 0);
}

#[tokio::test]
async fn receipts_that_could_not_be_kept_are_told_so_that_the_provider_calls_again() {
    let world = World::live();
    let receipt = world.make.receipt(Report::Delivered).receipt;
    let mut receipts = MockReceiptStore::new();
    receipts.expect_keep().times(1).returning(|_| Err(down()));
    let answer = webhook(&world, Ok(vec![receipt]), receipts).receive("meta", &call(&[])).await;
    assert!(matches!(answer, Err(ReceiveWebhookError::Store(_))));
}
