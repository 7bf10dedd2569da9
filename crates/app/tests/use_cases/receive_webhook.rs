use crate::common::{World, broken, down};
use dwar_app::{ReceiveWebhook, ReceiveWebhookError};
use dwar_kernel::{ReceiptId, Timestamp};
use dwar_otp::{
    KeptReceipt, MockReceiptStore, Reason, Receipt, ReceiptSource, ReceiptTarget, Report,
    WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
use dwar_testkit::{MS, START, seconds};
use dwar_wallet::{Paise, Settlement};
use mockall::predicate::eq;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A provider called "meta" that reads every call like this.
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
    world: &mut World,
    reads: Result<Vec<Receipt>, WebhookError>,
    receipts: MockReceiptStore,
) -> ReceiveWebhook {
    let source: Arc<dyn ReceiptSource> = Arc::new(Source(reads));
    ReceiveWebhook {
        tools: world.tools(),
        sources: HashMap::from([("meta".to_owned(), source)]),
        receipts: Arc::new(receipts),
        record: world.record_receipt(),
    }
}

/// A webhook that only applies what is on record.
fn applying(world: &mut World, receipts: MockReceiptStore) -> ReceiveWebhook {
    webhook(world, Ok(Vec::new()), receipts)
}

#[tokio::test]
async fn a_provider_that_is_not_configured_is_unknown() {
    let mut world = World::live();
    let webhook = webhook(&mut world, Ok(Vec::new()), MockReceiptStore::new());
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
    let mut world = World::live();
    let webhook = webhook(&mut world, Ok(Vec::new()), MockReceiptStore::new());
    let admitted = webhook.admit("meta", &head(&[("admit", "7")])).unwrap();
    assert_eq!(admitted, WebhookAdmission { longest_body: 7, proven: true });
    let refused = webhook.admit("meta", &head(&[]));
    assert!(matches!(refused, Err(ReceiveWebhookError::Unauthenticated)));
}

#[tokio::test]
async fn a_call_that_is_not_the_providers_or_cannot_be_read_keeps_nothing() {
    for cause in [WebhookError::Unauthenticated, WebhookError::Unreadable] {
        let mut world = World::live();
        let webhook = webhook(&mut world, Err(cause), MockReceiptStore::new());
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
    let mut world = World::live();
    let webhook = webhook(&mut world, Ok(Vec::new()), MockReceiptStore::new());
    let answer = webhook.handshake("meta", &head(&[("hub.challenge", "42")]));
    assert_eq!(answer.unwrap(), "42");
    let refused = webhook.handshake("meta", &head(&[]));
    assert!(matches!(refused, Err(ReceiveWebhookError::Unauthenticated)));
}

#[tokio::test]
async fn all_receipts_of_a_call_are_kept_in_one_step_under_ids_of_their_own() {
    let mut world = World::live();
    let reports = [Report::Delivered, Report::Delivered, Report::Failed(Reason::Blocked)];
    let told = reports.map(|report| world.make.receipt(report).receipt);
    let kept = Arc::new(Mutex::new(Vec::new()));
    let (seen, mut receipts) = (Arc::clone(&kept), MockReceiptStore::new());
    receipts.expect_keep().times(1).returning(move |receipts| {
        seen.lock().unwrap().extend(receipts);
        Ok(())
    });
    let webhook = webhook(&mut world, Ok(told.to_vec()), receipts);
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
    let mut world = World::live();
    let webhook = webhook(&mut world, Ok(Vec::new()), MockReceiptStore::new());
    assert_eq!(webhook.receive("meta", &call(&[])).await.unwrap(), 0);
}

#[tokio::test]
async fn receipts_that_could_not_be_kept_are_told_so_that_the_provider_calls_again() {
    let mut world = World::live();
    let receipt = world.make.receipt(Report::Delivered).receipt;
    let mut receipts = MockReceiptStore::new();
    receipts.expect_keep().times(1).returning(|_| Err(down()));
    let answer = webhook(&mut world, Ok(vec![receipt]), receipts).receive("meta", &call(&[])).await;
    assert!(matches!(answer, Err(ReceiveWebhookError::Store(_))));
}

/// The store gives these out once, and takes these off the record.
fn on_record(kept: Vec<KeptReceipt>, now: Timestamp, done: &[ReceiptId]) -> MockReceiptStore {
    let mut receipts = MockReceiptStore::new();
    let claim = receipts.expect_claim().with(eq(now), eq(seconds(10)), eq(200)).times(1);
    claim.returning(move |_, _, _| Ok(kept.clone()));
    for id in done {
        receipts.expect_done().with(eq(*id)).times(1).returning(|_| Ok(()));
    }
    receipts
}

#[tokio::test]
async fn a_receipt_is_applied_and_then_taken_off_the_record() {
    let mut world = World::live();
    let otp = world.sent_by_whatsapp();
    let kept = world.make.receipt(Report::Delivered);
    let target = ReceiptTarget {
        project: otp.project,
        mode: otp.mode,
        otp: otp.id,
        attempt: otp.delivery.attempts[0].id,
    };
    let Receipt { provider, provider_ref, .. } = kept.receipt.clone();
    let find = world.otps.expect_find_attempt().with(eq(provider), eq(provider_ref));
    find.times(1).returning(move |_, _| Ok(Some(target)));
    world.knows_project().applies_reports().settles(Settlement::Capture(Paise(30)));
    let receipts = on_record(vec![kept.clone()], START, &[kept.id]);
    assert_eq!(applying(&mut world, receipts).apply().await.unwrap(), 1);
}

#[tokio::test]
async fn a_receipt_of_an_unknown_message_stays_for_ten_minutes() {
    let limit = START + seconds(600);
    for (now, gone) in [(START, false), (limit - MS, false), (limit, true)] {
        let mut world = World::live();
        world.clock.set(now);
        world.otps.expect_find_attempt().times(1).returning(|_, _| Ok(None));
        let kept = world.make.receipt(Report::Delivered);
        let done = [kept.id];
        let receipts = on_record(vec![kept], now, if gone { &done } else { &[] });
        assert_eq!(applying(&mut world, receipts).apply().await.unwrap(), u64::from(gone));
    }
}

#[tokio::test]
async fn a_receipt_that_cannot_be_applied_holds_up_nobody_and_stays_for_ten_minutes() {
    for (now, gone) in [(START, 1), (START + seconds(600), 2)] {
        let mut world = World::live();
        world.clock.set(now);
        let (poison, unknown) =
            (world.make.receipt(Report::Delivered), world.make.receipt(Report::Delivered));
        let unknown = KeptReceipt { received_at: START - seconds(600), ..unknown };
        let mut answers = vec![Ok(None), Err(broken())];
        let find = world.otps.expect_find_attempt().times(2);
        find.returning(move |_, _| answers.pop().unwrap());
        let done = [unknown.id, poison.id];
        let receipts = on_record(vec![poison, unknown], now, &done[..gone]);
        let applied = applying(&mut world, receipts).apply().await.unwrap();
        assert_eq!(applied, u64::try_from(gone).unwrap());
    }
}

#[tokio::test]
async fn a_store_out_of_reach_ends_the_round_and_loses_nothing() {
    let mut world = World::live();
    let kept = (0..40).map(|_| world.make.receipt(Report::Delivered)).collect();
    // Those that are under way at once, and no more.
    world.otps.expect_find_attempt().times(16).returning(|_, _| Err(down()));
    let receipts = on_record(kept, START, &[]);
    assert!(applying(&mut world, receipts).apply().await.is_err());
}

#[tokio::test]
async fn nothing_on_record_is_nothing_done() {
    let mut world = World::live();
    let receipts = on_record(Vec::new(), START, &[]);
    assert_eq!(applying(&mut world, receipts).apply().await.unwrap(), 0);
    let mut receipts = MockReceiptStore::new();
    receipts.expect_claim().returning(|_, _, _| Err(down()));
    assert!(applying(&mut world, receipts).apply().await.is_err());
}
