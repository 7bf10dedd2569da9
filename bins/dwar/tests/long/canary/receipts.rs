//! Reports of providers, and forged ones.

use crate::canary::house::{
    APP_SECRET, GUPSHUP_TOKEN, House, MSG91_TOKEN, NUMBER, TWILIO_TOKEN, VERIFY_TOKEN,
};
use crate::common::{TOKEN, Wire};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use openssl::hash::MessageDigest;
use openssl::pkey::PKey;
use openssl::sign::Signer;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sha2::Sha256;

/// A word that only the bodies of receipts contain.
const WORD: &str = "receipt-of-Lw6NvB3x";

pub async fn walk(house: &House) {
    house.secrets().add("the body of a receipt", WORD);
    let (phone, code) = (house.phone(), "731904");
    house.secrets().add_code(code);
    let said = Said { house, phone, code };
    for status in ["delivered", "failed", "sent", "what nobody knows"] {
        for (reference, known) in said.references() {
            for request in said.genuine(&reference, status) {
                let answer = house.ask(request).await;
                assert_eq!(answer.status, 200, "{known}: {}", answer.text);
            }
        }
    }
    for request in said.refused() {
        let answer = house.ask(request).await;
        assert!(answer.status.is_client_error(), "{} {}", answer.status, answer.text);
    }
    said.half_a_body();
}

/// The content of a receipt: a number, a code, a word.
struct Said<'a> {
    house: &'a House,
    phone: String,
    code: &'a str,
}

impl Said<'_> {
    fn text(&self) -> String {
        format!("{WORD} to +91{} about {}", self.phone, self.code)
    }

    /// References of a sent message, and invalid ones: a number, a code, words.
    fn references(&self) -> Vec<(String, &'static str)> {
        let taken = self.house.vendor.taken();
        let sent = taken.last().map(|taken| format!("ref-{}", taken.attempt));
        vec![
            (sent.unwrap(), "a reference"),
            (self.phone.clone(), "a phone"),
            (self.code.to_owned(), "a code"),
            (self.text(), "words"),
        ]
    }

    fn post(&self, path: &str) -> RequestBuilder {
        self.house.service().request(Method::POST, &format!("/webhooks/{path}"))
    }

    /// A report in each format of a provider.
    fn genuine(&self, reference: &str, status: &str) -> Vec<RequestBuilder> {
        let note = self.text();
        let generic = json!({ "reference": reference, "status": status, "note": note });
        let meta = self.meta(reference, status);
        let sms =
            json!({ "requestId": reference, "status": status, "note": note, "number": self.phone });
        let gupshup = json!([{ "externalId": reference, "eventType": status, "destAddr": note }]);
        let query = [("externalId", reference), ("status", status), ("cause", note.as_str())];
        let twilio = [("MessageSid", reference), ("MessageStatus", status), ("To", note.as_str())];
        vec![
            self.post(&format!("wa?token={TOKEN}")).json(&generic),
            self.post("whatsapp_cloud")
                .header("X-Hub-Signature-256", signed_by_meta(&meta))
                .body(meta),
            self.post(&format!("msg91?token={MSG91_TOKEN}")).json(&sms),
            self.post("msg91").header("X-Webhook-Token", MSG91_TOKEN).json(&sms),
            self.post(&format!("gupshup?token={GUPSHUP_TOKEN}")).json(&gupshup),
            self.house
                .service()
                .request(Method::GET, &format!("/webhooks/gupshup?token={GUPSHUP_TOKEN}"))
                .query(&query),
            self.signed_by_twilio(&twilio),
        ]
    }

    fn meta(&self, reference: &str, status: &str) -> Vec<u8> {
        let error = json!({ "code": 131_049, "title": self.text() });
        let status = json!({
            "id": reference, "status": status, "recipient_id": self.phone, "errors": [error],
        });
        let value = json!({ "metadata": { "phone_number_id": NUMBER }, "statuses": [status] });
        let change = json!({ "field": "messages", "value": value });
        json!({ "entry": [{ "changes": [change] }] }).to_string().into_bytes()
    }

    /// Twilio signs the called address and the fields, sorted by name.
    fn signed_by_twilio(&self, fields: &[(&str, &str)]) -> RequestBuilder {
        let mut sorted = fields.to_vec();
        sorted.sort_unstable();
        let fields_joined = sorted.iter().flat_map(|(name, value)| [*name, *value]);
        let signed: String = [self.house.service().base.as_str(), "/webhooks/twilio"]
            .into_iter()
            .chain(fields_joined)
            .collect();
        let key = PKey::hmac(TWILIO_TOKEN.as_bytes()).unwrap();
        let mut signer = Signer::new(MessageDigest::sha1(), &key).unwrap();
        let mac = signer.sign_oneshot_to_vec(signed.as_bytes()).unwrap();
        self.post("twilio").header("X-Twilio-Signature", STANDARD.encode(mac)).form(fields)
    }

    /// Reports of an unknown sender, with unknown words, or to an unknown address.
    fn refused(&self) -> Vec<RequestBuilder> {
        let text = self.text();
        let forged = format!("sha256={}", "a".repeat(64));
        let get = |path: &str| {
            self.house.service().request(Method::GET, &format!("/webhooks/whatsapp_cloud?{path}"))
        };
        vec![
            self.post("wa?token=0123456789abcdef").body(text.clone()),
            self.post("wa").body(text.clone()),
            self.post(&format!("wa?token={TOKEN}")).body(text.clone()),
            self.post(&format!("wa?token={TOKEN}&token={text}")).json(&Value::String(text.clone())),
            self.post(&format!("nobody?token={TOKEN}")).body(text.clone()),
            self.post(&format!("{}/{}", self.phone, self.code)).body(text.clone()),
            self.post("whatsapp_cloud").header("X-Hub-Signature-256", forged).body(text.clone()),
            self.post("whatsapp_cloud").header("X-Hub-Signature-256", &text).body(text.clone()),
            self.post("whatsapp_cloud")
                .header("X-Hub-Signature-256", signed_by_meta(text.as_bytes()))
                .body(text.clone()),
            self.post("twilio").header("X-Twilio-Signature", &text).body(text.clone()),
            self.post(&format!("msg91?token={text}")).body(text.clone()),
            self.post(&format!("msg91?token={MSG91_TOKEN}")).body(text.clone()),
            self.post(&format!("gupshup?token={GUPSHUP_TOKEN}")).body(text.clone()),
            get(&format!("hub.mode=subscribe&hub.verify_token={text}&hub.challenge={text}")),
            get(&format!("hub.mode={text}&hub.verify_token={VERIFY_TOKEN}&hub.challenge=1")),
        ]
    }

    fn half_a_body(&self) {
        let mut wire = Wire::to(&self.house.service().base);
        let text = self.text();
        wire.write(&format!(
            "POST /webhooks/wa?token={TOKEN} HTTP/1.1\r\nHost: dwar\r\nContent-Length: 9999\r\n\r\n{text}"
        ));
        wire.close();
    }
}

fn signed_by_meta(body: &[u8]) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(APP_SECRET.as_bytes()).unwrap();
    let mac = mac.chain_update(body).finalize().into_bytes();
    mac.iter().fold("sha256=".to_owned(), |hex, byte| format!("{hex}{byte:02x}"))
}
