use super::*;
use dwar_otp::{Receipt, ReceiptSource};
use hmac::{KeyInit, Mac};

fn notification(statuses: Value) -> Value {
    json!({
        "object": "whatsapp_business_account",
        "entry": [{ "id": "102290129340398", "changes": [{
            "field": "messages",
            "value": {
                "messaging_product": "whatsapp",
                "metadata": {
                    "display_phone_number": "15550783881",
                    "phone_number_id": "106540352242922",
                },
                "statuses": statuses,
            },
        }] }],
    })
}

fn status(word: &str) -> Value {
    json!({
        "id": WAMID,
        "status": word,
        "timestamp": "1749416383",
        "recipient_id": "919876543210",
        "conversation": { "id": "6ceb9d9299", "origin": { "type": "authentication" } },
        "pricing": { "billable": true, "category": "authentication" },
    })
}

fn signature(body: &[u8]) -> String {
    signature_under(APP_SECRET, body)
}

fn signature_under(secret: &str, body: &[u8]) -> String {
    let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret.as_bytes()).unwrap();
    let mac = mac.chain_update(body).finalize().into_bytes();
    format!("sha256={}", base16ct::lower::encode_string(&mac))
}

fn call(body: impl Into<Vec<u8>>, signatures: &[&str]) -> WebhookCall {
    let header = |value: &&str| ("x-hub-signature-256".to_owned(), (*value).to_owned());
    WebhookCall {
        head: WebhookHead {
            path_and_query: "/webhooks/whatsapp_cloud".to_owned(),
            query: Vec::new(),
            headers: signatures.iter().map(header).collect(),
        },
        body: body.into(),
    }
}

fn signed(body: impl ToString) -> WebhookCall {
    let body = body.to_string();
    call(body.as_bytes(), &[&signature(body.as_bytes())])
}

fn receipt_of(report: Report) -> Receipt {
    Receipt { provider: "whatsapp_cloud".to_owned(), provider_ref: WAMID.to_owned(), report }
}

#[test]
fn every_status_word_has_its_report() {
    let gateway = offline();
    for (word, expected) in [
        ("sent", None),
        ("delivered", Some(Report::Delivered)),
        ("read", Some(Report::Delivered)),
        ("played", Some(Report::Delivered)),
        ("failed", Some(Report::Failed(Reason::Unknown))),
        ("deleted", None),
        ("warning", None),
        ("a word of tomorrow", None),
    ] {
        let receipts = gateway.receipts(&signed(notification(json!([status(word)])))).unwrap();
        assert_eq!(receipts, expected.map(receipt_of).into_iter().collect::<Vec<_>>(), "{word}");
    }
}

#[test]
fn a_replay_gives_the_same_receipts_and_a_batch_all_that_can_be_read() {
    let gateway = offline();
    let mut other = status("failed");
    other["id"] = json!("wamid.other");
    other["errors"] = json!("no list");
    let broken = json!({ "status": "delivered" });
    let call = signed(notification(json!([status("read"), broken, other])));
    let receipts = gateway.receipts(&call).unwrap();
    assert_eq!(receipts.len(), 2);
    assert_eq!(receipts[0], receipt_of(Report::Delivered));
    assert_eq!(receipts[1].provider_ref, "wamid.other");
    assert_eq!(receipts[1].report, Report::Failed(Reason::Unknown));
    assert_eq!(gateway.receipts(&call).unwrap(), receipts);
}

#[test]
fn an_odd_entry_takes_no_other_with_it() {
    let gateway = offline();
    let good = notification(json!([status("delivered")]))["entry"][0].clone();
    let changes = |changes: Value| json!({ "id": "1", "changes": changes });
    let ours = |statuses: Value| notification(statuses)["entry"][0].clone();
    for odd in [
        Value::Null,
        json!("entry"),
        json!({ "id": "1" }),
        changes(json!({})),
        changes(json!([null])),
        changes(json!([{ "field": "messages" }])),
        changes(json!([{ "field": 7, "value": {} }])),
        ours(json!({ "status": "delivered" })),
        ours(json!([7])),
        ours(json!([{ "id": WAMID }])),
        ours(json!([{ "id": 7, "status": "delivered" }])),
    ] {
        let both = json!({ "entry": [odd, good, odd] });
        let delivered = vec![receipt_of(Report::Delivered)];
        assert_eq!(gateway.receipts(&signed(both)), Ok(delivered), "{odd}");
        let alone = gateway.receipts(&signed(json!({ "entry": [odd] })));
        assert_eq!(alone, Err(WebhookError::Unreadable), "{odd}");
        // An irrelevant entry can still be parsed.
        let nothing = changes(json!([{ "field": "account_update", "value": {} }]));
        let ignored = gateway.receipts(&signed(json!({ "entry": [odd, nothing] })));
        assert_eq!(ignored, Ok(Vec::new()), "{odd}");
    }
}

#[test]
fn only_the_exact_signature_of_the_raw_body_counts() {
    let gateway = offline();
    let body = notification(json!([status("delivered")])).to_string();
    let valid = signature(body.as_bytes());
    let sha1_prefix = valid.replace("sha256=", "sha1=");
    let bare = valid.replace("sha256=", "");
    let upper = valid.to_uppercase();
    let spaced = format!("{body} ");
    let other = signature(b"another body");
    for (row, body, signatures, accepted) in [
        ("valid", &body, vec![valid.as_str()], true),
        ("absent", &body, vec![], false),
        ("empty", &body, vec![""], false),
        ("wrong", &body, vec![other.as_str()], false),
        ("cut", &body, vec![&valid[..70]], false),
        ("no prefix", &body, vec![bare.as_str()], false),
        ("other prefix", &body, vec![sha1_prefix.as_str()], false),
        ("upper case", &body, vec![upper.as_str()], false),
        ("duplicated", &body, vec![valid.as_str(), valid.as_str()], false),
        ("tampered", &spaced, vec![valid.as_str()], false),
    ] {
        let result = gateway.receipts(&call(body.as_bytes(), &signatures));
        let expected = if accepted { Ok(1) } else { Err(WebhookError::Unauthenticated) };
        assert_eq!(result.map(|receipts| receipts.len()), expected, "{row}");
    }
}

#[test]
fn matches_an_example_that_others_publish() {
    let mut gateway = offline();
    gateway.vendor.app_secret = Secret::new("secret");
    // From the documentation of `WhatsApp.Webhook` on hexdocs.pm.
    let signature = "sha256=0329a06b62cd16b33eb6792be8c60b158d89a2ee3a876fce9a881ebb488c0914";
    // Authentic, but not a notification.
    assert_eq!(gateway.receipts(&call("test", &[signature])), Err(WebhookError::Unreadable));
}

#[test]
fn without_an_app_secret_nobody_is_believed() {
    let mut gateway = offline();
    gateway.vendor.app_secret = Secret::new("");
    let body = notification(json!([status("delivered")])).to_string();
    // HMAC-SHA-256 under the empty key, which anyone can make.
    let forged = signature_under("", body.as_bytes());
    let result = gateway.receipts(&call(body.as_bytes(), &[&forged]));
    assert_eq!(result, Err(WebhookError::Unauthenticated));
}

#[test]
fn what_is_authentic_but_no_status_gives_none_and_garbage_is_unreadable() {
    let gateway = offline();
    let change = |field: &str, value: Value| {
        json!({ "entry": [{ "id": "1", "changes": [{ "field": field, "value": value }] }] })
            .to_string()
    };
    let incoming = json!({ "messages": [{ "from": "919876543210", "type": "text" }] });
    for (row, body, expected) in [
        ("a user's message", change("messages", incoming), Ok(0)),
        ("an account's error", change("messages", json!({ "errors": [{ "code": 1 }] })), Ok(0)),
        ("another field", change("account_update", json!({ "event": "VERIFIED" })), Ok(0)),
        (
            "statuses of another field",
            change("calls", json!({ "statuses": [status("read")] })),
            Ok(0),
        ),
        ("a value that is not an object", change("messages", json!(7)), Ok(0)),
        ("no entries", json!({ "entry": [] }).to_string(), Ok(0)),
        ("not the shape", json!({ "hello": "world" }).to_string(), Err(WebhookError::Unreadable)),
        ("not JSON", "statuses=1".to_owned(), Err(WebhookError::Unreadable)),
        ("nothing", String::new(), Err(WebhookError::Unreadable)),
    ] {
        let result = gateway.receipts(&signed(body));
        assert_eq!(result.map(|receipts| receipts.len()), expected, "{row}");
    }
}

#[test]
fn the_handshake_echoes_the_challenge_for_the_agreed_word_alone() {
    let gateway = offline();
    let mode = ("hub.mode", "subscribe");
    let token = ("hub.verify_token", "agreed word");
    let challenge = ("hub.challenge", "1158201444");
    let refused = Err(WebhookError::Unauthenticated);
    for (row, query, expected) in [
        ("agreed", vec![mode, challenge, token], Ok("1158201444".to_owned())),
        ("wrong word", vec![mode, challenge, ("hub.verify_token", "guess")], refused.clone()),
        ("no word", vec![mode, challenge], refused.clone()),
        ("word twice", vec![mode, challenge, token, token], refused),
        ("no challenge", vec![mode, token], Err(WebhookError::Unreadable)),
        ("no mode", vec![token, challenge], Err(WebhookError::Unreadable)),
        ("mode", vec![("hub.mode", "un"), token, challenge], Err(WebhookError::Unreadable)),
    ] {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let head = WebhookHead { query: query.collect(), ..call("", &[]).head };
        assert_eq!(gateway.handshake(&head), expected, "{row}");
    }
}

#[test]
fn every_error_code_has_its_reason_in_a_receipt() {
    let gateway = offline();
    for (code, reason) in CODES {
        let errors = json!([{ "code": code, "title": "Whatever", "error_data": {} }]);
        let status = json!({ "id": WAMID, "status": "failed", "errors": errors });
        let receipts = gateway.receipts(&signed(notification(json!([status])))).unwrap();
        assert_eq!(receipts, [receipt_of(Report::Failed(reason))], "{code}");
    }
}

#[test]
fn only_a_signature_of_the_exact_shape_earns_a_body() {
    let gateway = offline();
    let whole = signature(b"any");
    let admitted = Ok(WebhookAdmission { longest_body: 3 * 1_024 * 1_024, proven: false });
    assert_eq!(gateway.admit(&call("", &[&whole]).head), admitted);
    let (longer, other) = (format!("{whole}0"), whole.replace("sha256=", "sha1="));
    let upper = format!("sha256={}", "A".repeat(64));
    let wide = format!("sha256={}", "é".repeat(32));
    for signatures in [
        vec![],
        vec![""],
        vec!["sha256="],
        vec![&whole[..70]],
        vec![longer.as_str()],
        vec![other.as_str()],
        vec![upper.as_str()],
        vec![wide.as_str()],
        vec![&whole[7..]],
        vec![&whole, &whole],
    ] {
        let refused = gateway.admit(&call("", &signatures).head);
        assert_eq!(refused, Err(WebhookError::Unauthenticated), "{signatures:?}");
    }
}

#[test]
fn what_is_about_another_number_of_the_account_gives_no_receipt() {
    let gateway = offline();
    let mut ours = notification(json!([status("delivered")]));
    for other in [json!("106540352242923"), json!(""), json!(106_540_352_242_922_i64), Value::Null]
    {
        let mut foreign = notification(json!([status("failed"), status("delivered")]));
        foreign["entry"][0]["changes"][0]["value"]["metadata"]["phone_number_id"] = other.clone();
        assert_eq!(gateway.receipts(&signed(&foreign)), Ok(Vec::new()), "{other}");
        // If a call contains ours too, only ours counts.
        let change = foreign["entry"][0]["changes"][0].clone();
        ours["entry"][0]["changes"].as_array_mut().unwrap().insert(0, change);
    }
    assert_eq!(gateway.receipts(&signed(ours)), Ok(vec![receipt_of(Report::Delivered)]));
    let mut bare = notification(json!([status("delivered")]));
    bare["entry"][0]["changes"][0]["value"].as_object_mut().unwrap().remove("metadata");
    assert_eq!(gateway.receipts(&signed(bare)), Ok(Vec::new()), "without metadata");
}
