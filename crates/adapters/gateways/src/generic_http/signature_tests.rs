use super::tests::{GOOD, REST, TOKEN, call, parse, receipt, webhook};
use super::*;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dwar_otp::ReceiptSource;
use hmac::Hmac;
use sha1::Sha1;
use sha2::{Sha256, Sha512};

/// A signature over `signed`, as a vendor makes it.
fn hmac_of<M: hmac::Mac + hmac::KeyInit>(signed: &str) -> Vec<u8> {
    let mac = <M as hmac::KeyInit>::new_from_slice(TOKEN.as_bytes()).unwrap();
    mac.chain_update(signed).finalize().into_bytes().to_vec()
}

#[test]
fn takes_receipts_signed_in_the_ways_that_the_file_says() {
    let body = r#"{"id":"m-1","status":1}"#;
    let target = "/webhooks/vendor?id=m-1&status=1";
    let stamped = format!("1700000000.{body}");
    let (sha256, sha512) = (hmac_of::<Hmac<Sha256>>, hmac_of::<Hmac<Sha512>>);
    let hex = base16ct::lower::encode_string;
    for (settings, given) in [
        (r#"algorithm = "sha256", encoding = "hex""#, hex(&sha256(body))),
        (r#"algorithm = "sha256", encoding = "hex""#, hex(&sha256(body)).to_uppercase()),
        (
            r#"prefix = "v1=", algorithm = "sha512", encoding = "hex""#,
            format!("v1={}", hex(&sha512(body))),
        ),
        (
            r#"algorithm = "sha1", encoding = "base64""#,
            BASE64_STANDARD.encode(hmac_of::<Hmac<Sha1>>(body)),
        ),
        (
            r#"algorithm = "sha256", encoding = "base64", signed = [{ header = "X-Time" }, { text = "." }, "body"]"#,
            BASE64_STANDARD.encode(sha256(&stamped)),
        ),
        (
            r#"algorithm = "sha256", encoding = "hex", signed = ["path_and_query"]"#,
            hex(&sha256(target)),
        ),
    ] {
        let of_query = settings.contains("path_and_query");
        let payload = if of_query { "query" } else { "json" };
        let settings = format!(
            "signature = {{ header = \"X-Signature\", {settings} }}\npayload = \"{payload}\"{REST}"
        );
        let webhook = webhook(&settings);
        let with = |signature: &str, body: &str, time: &str, target: &str| {
            let query = [("id", "m-1"), ("status", "1")];
            let headers = [("x-signature", signature), ("x-time", time)];
            let mut call = call(&query, &headers, body);
            target.clone_into(&mut call.head.path_and_query);
            webhook.receipts(&call)
        };
        let time = "1700000000";
        let delivered = Ok(vec![receipt(Report::Delivered)]);
        assert_eq!(with(&given, body, time, target), delivered, "{settings}");
        let admitted = webhook.admit(&call(&[], &[("x-signature", &given)], "").head);
        assert_eq!(admitted, Ok(WebhookAdmission { longest_body: 64 * 1_024, proven: false }));

        let refused = Err(WebhookError::Unauthenticated);
        let forged = body.replace("m-1", "m-2");
        let elsewhere = target.replace("m-1", "m-2");
        assert_eq!(with(&given, &forged, time, &elsewhere), refused, "{settings}");
        if settings.contains("X-Time") {
            assert_eq!(with(&given, body, "1700000001", target), refused);
        }
        let cut = &given[..given.len() - 4];
        for wrong in ["", "zz", cut, &given[1..], &format!("{given}{given}")] {
            assert_eq!(with(wrong, body, time, target), refused, "{wrong}: {settings}");
        }
        let twice = call(&[], &[("x-signature", &given), ("x-signature", &given)], body);
        assert_eq!(webhook.receipts(&twice), refused);
        assert_eq!(webhook.receipts(&call(&[("token", TOKEN)], &[], body)), refused);
    }
}

#[test]
fn a_signature_that_proves_nothing_is_refused_with_the_settings() {
    let signature = "signature = { header = \"x\", algorithm = \"sha256\", encoding = \"hex\"";
    let in_query = "secret_in = { query = \"token\" }";
    for (settings, says) in [
        (String::new(), "receipts.secret: set either secret_in or signature"),
        (format!("{in_query}\n{signature} }}"), "not both"),
        (format!("{signature}, signed = [] }}"), "receipts.signature.signed: the report itself"),
        (format!("{signature}, signed = [{{ header = \"x-time\" }}] }}"), "the report itself"),
        (format!("{signature}, signed = [\"path_and_query\"] }}"), "the report itself"),
        (signature.replace("\"x\"", "\"\"") + " }", "receipts.signature.header"),
    ] {
        let from = GOOD.find("secret_in").unwrap();
        let text = format!("{}{settings}\npayload = \"json\"{REST}", &GOOD[..from]);
        let error = GenericHttp::new(parse(&text)).err().unwrap().to_string();
        assert!(error.contains(says), "{settings}: {error}");
    }
}
