use super::*;
use dwar_otp::{Receipt, ReceiptSource};
use hmac::{KeyInit, Mac};

/// Twilio's signature as its documentation describes it: the URL, then each parameter, sorted, name
/// and value without a separator.
fn signature(url: &str, fields: &[(String, String)]) -> String {
    let mut sorted = fields.to_vec();
    sorted.sort();
    let text = sorted.iter().fold(url.to_owned(), |text, (name, value)| text + name + value);
    signed(AUTH_TOKEN, &text)
}

fn signed(token: &str, text: &str) -> String {
    let mac = <Hmac<Sha1> as KeyInit>::new_from_slice(token.as_bytes()).unwrap();
    STANDARD.encode(mac.chain_update(text.as_bytes()).finalize().into_bytes())
}

fn call(body: String, signatures: &[&str]) -> WebhookCall {
    let header = |value: &&str| ("x-twilio-signature".to_owned(), (*value).to_owned());
    WebhookCall {
        head: WebhookHead {
            path_and_query: "/webhooks/twilio".to_owned(),
            query: Vec::new(),
            headers: signatures.iter().map(header).collect(),
        },
        body: body.into_bytes(),
    }
}

fn encode(fields: &[(String, String)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// The fields of every callback, and `more`.
fn status_fields(more: &[(&str, &str)]) -> Vec<(String, String)> {
    let fixed = [
        ("SmsSid", SID),
        ("MessageSid", SID),
        ("AccountSid", ACCOUNT),
        ("From", "whatsapp:+15005550006"),
        ("To", "+919876543210"),
        ("ApiVersion", "2010-04-01"),
    ];
    fields(&[&fixed, more].concat())
}

fn callback(more: &[(&str, &str)]) -> WebhookCall {
    let fields = status_fields(more);
    let signature = signature("https://otp.example.com/webhooks/twilio", &fields);
    call(encode(&fields), &[&signature])
}

fn receipt_of(report: Report) -> Receipt {
    Receipt { provider: "twilio".to_owned(), provider_ref: SID.to_owned(), report }
}

#[test]
fn every_status_word_has_its_report_and_a_replay_the_same() {
    let gateway = offline();
    let failed = Some(Report::Failed(Reason::Unknown));
    for (word, expected) in [
        ("accepted", None),
        ("scheduled", None),
        ("queued", None),
        ("sending", None),
        ("sent", None),
        ("partially_delivered", None),
        ("receiving", None),
        ("received", None),
        ("a word of tomorrow", None),
        ("delivered", Some(Report::Delivered)),
        ("read", Some(Report::Delivered)),
        ("undelivered", failed.clone()),
        ("failed", failed.clone()),
        ("canceled", failed),
    ] {
        let call = callback(&[("MessageStatus", word)]);
        let expected: Vec<_> = expected.map(receipt_of).into_iter().collect();
        assert_eq!(gateway.receipts(&call).unwrap(), expected, "{word}");
        assert_eq!(gateway.receipts(&call).unwrap(), expected, "{word} again");
    }
}

#[test]
fn only_the_exact_signature_of_url_and_fields_counts() {
    let gateway = offline();
    let url = "https://otp.example.com/webhooks/twilio";
    let fields = status_fields(&[("MessageStatus", "delivered")]);
    let body = encode(&fields);
    let valid = signature(url, &fields);
    let elsewhere = signature("https://evil.example.com/webhooks/twilio", &fields);
    let with_query = signature(&format!("{url}?a=1"), &fields);
    let url_alone = signature(url, &[]);
    let tampered = body.replace("delivered", "undelivered");
    let longer = format!("{body}&ErrorCode=30005");
    for (row, body, signatures, accepted) in [
        ("valid", &body, vec![valid.as_str()], true),
        ("absent", &body, vec![], false),
        ("empty", &body, vec![""], false),
        ("another URL", &body, vec![elsewhere.as_str()], false),
        ("another query", &body, vec![with_query.as_str()], false),
        ("the URL alone", &body, vec![url_alone.as_str()], false),
        ("duplicated", &body, vec![valid.as_str(), valid.as_str()], false),
        ("tampered", &tampered, vec![valid.as_str()], false),
        ("a field more", &longer, vec![valid.as_str()], false),
    ] {
        let result = gateway.receipts(&call(body.clone(), &signatures));
        let expected = if accepted { Ok(1) } else { Err(WebhookError::Unauthenticated) };
        assert_eq!(result.map(|receipts| receipts.len()), expected, "{row}");
    }
}

#[test]
fn matches_the_example_that_twilio_publishes() {
    let settings = TwilioSettings { auth_token: Secret::new("12345"), ..settings() };
    let public_url = Some("https://mycompany.com".parse().unwrap());
    let body = "Digits=1234&To=%2B18005551212&From=%2B14158675309&Caller=%2B14158675309\
                &CallSid=CA1234567890ABCDE";
    let mut call = call(body.to_owned(), &["RSOYDt4T1cUTdK1PDd93/VVr8B8="]);
    "/myapp.php?foo=1&bar=2".clone_into(&mut call.head.path_and_query);
    // Authentic, but not about a message.
    let result = gateway_of(settings, public_url, &client()).receipts(&call);
    assert_eq!(result, Err(WebhookError::Unreadable));
}

#[test]
fn the_public_address_counts_with_and_without_its_port() {
    let client = client();
    let fields = status_fields(&[("MessageStatus", "delivered")]);
    for (public, signed, accepted) in [
        ("https://otp.example.com", "https://otp.example.com:443", true),
        ("https://otp.example.com:8443", "https://otp.example.com", true),
        ("https://otp.example.com:8443", "https://otp.example.com:8443", true),
        ("https://otp.example.com:8443", "https://otp.example.com:443", false),
        ("https://example.com/otp", "https://example.com/otp", true),
        ("https://example.com/otp", "https://example.com:443/otp", true),
        ("https://example.com/otp", "https://example.com", false),
        ("https://otp.example.com", "http://otp.example.com", false),
    ] {
        let public_url = Some(public.parse().unwrap());
        let signature = signature(&format!("{signed}/webhooks/twilio"), &fields);
        let gateway = gateway_of(settings(), public_url, &client);
        let result = gateway.receipts(&call(encode(&fields), &[&signature]));
        assert_eq!(result.is_ok(), accepted, "{public} signed as {signed}");
    }
}

#[test]
fn without_a_token_or_an_address_nobody_is_believed() {
    let client = client();
    let fields = status_fields(&[("MessageStatus", "delivered")]);
    let url = "https://otp.example.com/webhooks/twilio";
    let mut sorted = fields.clone();
    sorted.sort();
    let text = sorted.iter().fold(url.to_owned(), |text, (name, value)| text + name + value);
    // HMAC-SHA-1 under the empty key, which anyone can make.
    let forged = signed("", &text);
    let valid = signature(url, &fields);
    for (row, auth_token, public_url, signature) in
        [("token", "", public(), forged), ("address", AUTH_TOKEN, None, valid)]
    {
        let settings = TwilioSettings { auth_token: Secret::new(auth_token), ..settings() };
        let gateway = gateway_of(settings, public_url, &client);
        let result = gateway.receipts(&call(encode(&fields), &[&signature]));
        assert_eq!(result, Err(WebhookError::Unauthenticated), "{row}");
    }
}

#[test]
fn what_is_authentic_but_no_status_gives_none_and_garbage_is_unreadable() {
    let gateway = offline();
    let url = "https://otp.example.com/webhooks/twilio";
    for (row, fields, expected) in [
        ("a user's message", status_fields(&[("SmsStatus", "received"), ("Body", "hi")]), Ok(0)),
        ("a call", fields(&[("CallSid", "CA1")]), Err(WebhookError::Unreadable)),
        ("JSON", fields(&[("{\"MessageSid\":1}", "")]), Err(WebhookError::Unreadable)),
        ("nothing", Vec::new(), Err(WebhookError::Unreadable)),
    ] {
        let call = call(encode(&fields), &[&signature(url, &fields)]);
        let result = gateway.receipts(&call);
        assert_eq!(result.map(|receipts| receipts.len()), expected, "{row}");
    }
}

#[test]
fn an_error_code_that_is_no_number_is_an_unknown_failure() {
    let fields = [("MessageStatus", "failed"), ("ErrorCode", "30005x")];
    let receipts = offline().receipts(&callback(&fields)).unwrap();
    assert_eq!(receipts, [receipt_of(Report::Failed(Reason::Unknown))]);
}

#[test]
fn every_error_code_has_its_reason_in_a_receipt() {
    let gateway = offline();
    for (reason, codes) in CODES {
        for code in codes {
            let fields = [("MessageStatus", "undelivered"), ("ErrorCode", &code.to_string())];
            let receipts = gateway.receipts(&callback(&fields)).unwrap();
            assert_eq!(receipts, [receipt_of(Report::Failed(reason))], "{code}");
        }
    }
}

#[test]
fn only_a_signature_of_the_exact_shape_earns_a_body() {
    let gateway = offline();
    let whole = STANDARD.encode([7; 20]);
    let admitted = Ok(WebhookAdmission { longest_body: LONGEST_BODY, proven: false });
    assert_eq!(gateway.admit(&call(String::new(), &[&whole]).head), admitted);
    let (shorter, longer) = (STANDARD.encode([7; 19]), STANDARD.encode([7; 22]));
    let url_safe = whole.replace('c', "-");
    for signatures in [
        vec![],
        vec![""],
        vec!["x"],
        vec![shorter.as_str()],
        vec![longer.as_str()],
        vec![url_safe.as_str()],
        vec![&whole[..27]],
        vec![&whole, &whole],
    ] {
        let refused = gateway.admit(&call(String::new(), &signatures).head);
        assert_eq!(refused, Err(WebhookError::Unauthenticated), "{signatures:?}");
    }
}

#[test]
fn a_form_of_more_fields_than_twilio_sends_is_refused_although_it_is_signed() {
    let gateway = offline();
    let url = "https://otp.example.com/webhooks/twilio";
    let many = |count: usize| {
        let mut fields = status_fields(&[("MessageStatus", "delivered")]);
        fields.extend((fields.len()..count).map(|n| (format!("X{n}"), String::new())));
        call(encode(&fields), &[&signature(url, &fields)])
    };
    assert_eq!(gateway.receipts(&many(MOST_FIELDS)).map(|receipts| receipts.len()), Ok(1));
    let refused = gateway.receipts(&many(MOST_FIELDS + 1));
    assert_eq!(refused, Err(WebhookError::Unauthenticated));
}

#[test]
fn the_longest_message_of_a_user_is_admitted() {
    let gateway = offline();
    let text = "\u{1f511}".repeat(1_600);
    let media: Vec<_> = (0..10)
        .flat_map(|n| {
            [(format!("MediaUrl{n}"), "u".repeat(200)), (format!("Type{n}"), text[..40].to_owned())]
        })
        .collect();
    let mut fields = status_fields(&[("SmsStatus", "received"), ("Body", &text)]);
    fields.extend(media);
    let call =
        call(encode(&fields), &[&signature("https://otp.example.com/webhooks/twilio", &fields)]);
    assert!(call.body.len() <= gateway.admit(&call.head).unwrap().longest_body);
    assert_eq!(gateway.receipts(&call), Ok(Vec::new()));
}

#[test]
fn a_slash_at_the_end_of_the_public_address_changes_nothing() {
    let fields = status_fields(&[("MessageStatus", "delivered")]);
    let public_url = Some(format!("{PUBLIC}/").parse().unwrap());
    let gateway = gateway_of(settings(), public_url, &client());
    let form = gateway.vendor.form(&login(Channel::Sms)).unwrap();
    let (_, named) = form.iter().find(|(name, _)| *name == "StatusCallback").unwrap();
    assert_eq!(*named, format!("{PUBLIC}/webhooks/twilio"));
    let call = call(encode(&fields), &[&signature(named, &fields)]);
    assert_eq!(gateway.receipts(&call).map(|receipts| receipts.len()), Ok(1));
}
