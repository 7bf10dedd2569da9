use super::*;
use crate::tests::captured_logs::CapturedLogs;
use crate::tests::fixtures::{CODE, message};
use dwar_kernel::{Digest, KeyMode, Sealed, Unsealable};
use dwar_otp::{Channel, Report};

struct SumVault;

impl Vault for SumVault {
    fn seal(&self, _: Purpose, _: &[u8], plain: &[u8]) -> Sealed {
        Sealed(plain.to_vec())
    }

    fn open(&self, _: Purpose, _: &[u8], sealed: &Sealed) -> Result<Vec<u8>, Unsealable> {
        Ok(sealed.0.clone())
    }

    fn digest(&self, purpose: Purpose, parts: &[&[u8]]) -> Digest {
        assert_eq!(purpose, Purpose::ProviderReference);
        let mut sum = [0_u8; 32];
        for (at, byte) in parts.join(&b'|').into_iter().enumerate() {
            sum[at % 32] = sum[at % 32].wrapping_mul(31).wrapping_add(byte);
        }
        Digest(sum)
    }
}

/// A provider that uses this reference for every message, and reports on these references.
struct Provider {
    reference: Option<String>,
    reports: Vec<String>,
}

#[async_trait]
impl Gateway for Provider {
    fn provider(&self) -> String {
        "vendor".to_owned()
    }

    async fn deliver(&self, _: Message) -> Outcome {
        Outcome::Accepted { provider_ref: self.reference.clone(), awaits_receipt: true }
    }
}

impl ReceiptSource for Provider {
    fn provider(&self) -> String {
        "vendor".to_owned()
    }

    fn admit(&self, _: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        Ok(WebhookAdmission { longest_body: 7, proven: true })
    }

    fn receipts(&self, _: &WebhookCall) -> Result<Vec<Receipt>, WebhookError> {
        let receipt = |provider_ref: &String| Receipt {
            provider: "vendor".to_owned(),
            provider_ref: provider_ref.clone(),
            report: Report::Delivered,
        };
        Ok(self.reports.iter().map(receipt).collect())
    }
}

async fn answer(reference: Option<&str>) -> Outcome {
    let reference = reference.map(str::to_owned);
    let provider = Arc::new(Provider { reference, reports: Vec::new() });
    let gateway: HashedReferences<dyn Gateway> =
        HashedReferences { inner: provider, vault: Arc::new(SumVault) };
    gateway.deliver(message(KeyMode::Live, Channel::Sms, "9876543210")).await
}

fn reported(references: &[&str]) -> Vec<String> {
    let reports = references.iter().map(|reference| (*reference).to_owned()).collect();
    let provider = Arc::new(Provider { reference: None, reports });
    let head =
        WebhookHead { path_and_query: String::new(), query: Vec::new(), headers: Vec::new() };
    let source: HashedReferences<dyn ReceiptSource> =
        HashedReferences { inner: provider, vault: Arc::new(SumVault) };
    assert_eq!(source.admit(&head).unwrap().longest_body, 7);
    let receipts = source.receipts(&WebhookCall { head, body: Vec::new() }).unwrap();
    receipts.into_iter().map(|receipt| receipt.provider_ref).collect()
}

#[tokio::test]
async fn answers_and_receipts_meet_under_a_name_that_shows_nothing() {
    let wamid = "wamid.HBgMOTE5ODc2NTQzMjEwFQIAERgSMUY0";
    let Outcome::Accepted { provider_ref: Some(kept), awaits_receipt: true } =
        answer(Some(wamid)).await
    else {
        panic!("it was accepted under a good name");
    };
    assert_eq!(reported(&[wamid]), [kept.as_str()]);
    assert_ne!(reported(&["wamid.other"]), [kept.as_str()]);
    assert!(is_reference(&kept) && !kept.contains("OTE5ODc2NTQz"), "{kept}");
}

#[tokio::test]
async fn a_reference_that_cannot_be_taken_costs_the_receipt_and_nothing_else() {
    let (logs, _guard) = CapturedLogs::start();
    let long = "x".repeat(129);
    let echoes = [
        "9876543210",
        "+919876543210",
        "id-98765-43210",
        CODE,
        "otp:012345:1",
        "a b\nINFO forged",
        &long,
    ];
    for echo in echoes {
        let dropped = Outcome::Accepted { provider_ref: None, awaits_receipt: false };
        assert_eq!(answer(Some(echo)).await, dropped, "{echo:?}");
        assert!(!logs.text().contains(echo), "{}", logs.text());
    }
    assert_eq!(logs.text().matches("the reference cannot be taken").count(), echoes.len());
    let none = Outcome::Accepted { provider_ref: None, awaits_receipt: true };
    assert_eq!(answer(None).await, none);
}

#[test]
fn receipts_with_such_references_are_dropped_and_the_others_of_the_call_are_not() {
    let (logs, _guard) = CapturedLogs::start();
    let long = "x".repeat(129);
    let kept = reported(&["m-1", "a b", &long, "", "<script>", "m-2"]);
    assert_eq!(kept, reported(&["m-1", "m-2"]));
    assert!(logs.text().contains("dropped=4"), "{}", logs.text());
    assert!(!logs.text().contains("script"));
}
