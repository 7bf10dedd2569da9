use super::*;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dwar_otp::WebhookHead;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The key of Standard Webhooks' own examples, in the length of ours.
const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER: &str = "whsec_HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const BODY: &str = r#"{"user":{"id":"6481a5c1","phone":"919876543210","user_metadata":{"name":"Asha"}},"sms":{"otp":"561166"}}"#;
const NOW: i64 = 1_800_000_000;

const SHAPELESS: [&str; 9] = [
    "",
    "v1",
    "v1,",
    "v1,AAAA",
    "v1,?????",
    "v1a,AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "v2,AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "v1,AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=AAAA",
];

fn secret(text: &str) -> WebhookSecret {
    text.parse().unwrap()
}

fn signature(secret_text: &str, id: &str, timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret(secret_text).bytes()).unwrap();
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

fn call(headers: &[(&str, &str)], body: &str) -> WebhookCall {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let head = WebhookHead {
        path_and_query: "/hooks/1".to_owned(),
        query: Vec::new(),
        headers: headers.collect(),
    };
    WebhookCall { head, body: body.as_bytes().to_vec() }
}

fn proven(call: &WebhookCall) -> bool {
    let now = Timestamp::from_timestamp(NOW, 0).unwrap();
    Supabase.proves(&[secret(SECRET), secret(OTHER)], call, now)
}

fn signed(id: &str, timestamp: &str, signatures: &str) -> WebhookCall {
    let headers =
        [("webhook-id", id), ("webhook-timestamp", timestamp), ("webhook-signature", signatures)];
    call(&headers, BODY)
}

#[test]
fn a_call_signed_by_one_of_the_secrets_is_taken() {
    let now = NOW.to_string();
    let [one, two] = [SECRET, OTHER].map(|secret| signature(secret, "msg_1", &now, BODY));
    let foreign = "v1,AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    for signatures in [
        one.clone(),
        two.clone(),
        format!("{foreign} {one}"),
        format!("{foreign}, {one}"),
        format!("{one}, {foreign}"),
        format!("v1a,xyz {two}"),
    ] {
        assert!(proven(&signed("msg_1", &now, &signatures)), "{signatures}");
    }
    for timestamp in [NOW - 300, NOW + 300].map(|at| at.to_string()) {
        let one = signature(SECRET, "msg_1", &timestamp, BODY);
        let call = signed("msg_1", &timestamp, &one);
        assert!(proven(&call), "{timestamp}");
        assert_eq!(Supabase.fits(&call.head, Timestamp::from_timestamp(NOW, 0).unwrap()), Ok(()));
    }
}

#[test]
fn everything_else_is_refused() {
    let now = NOW.to_string();
    let good = signature(SECRET, "msg_1", &now, BODY);
    let stranger = "whsec_/wECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let bare = good.trim_start_matches("v1,").to_owned();
    let mut cases: Vec<(&str, WebhookCall)> = vec![
        ("signed by a stranger", signed("msg_1", &now, &signature(stranger, "msg_1", &now, BODY))),
        ("of another id", signed("msg_2", &now, &good)),
        ("of another time", signed("msg_1", &(NOW + 1).to_string(), &good)),
        ("of another body", signed("msg_1", &now, &signature(SECRET, "msg_1", &now, "{}"))),
        ("no signature", signed("msg_1", &now, "")),
        ("a version without a signature", signed("msg_1", &now, "v1,")),
        ("another version", signed("msg_1", &now, &good.replace("v1,", "v2,"))),
        ("an asymmetric version", signed("msg_1", &now, &good.replace("v1,", "v1a,"))),
        ("no version", signed("msg_1", &now, &bare)),
        ("cut off", signed("msg_1", &now, &good[..good.len() - 5])),
        ("cut off in its bytes", signed("msg_1", &now, &good[..good.len() - 4])),
        ("longer", signed("msg_1", &now, &format!("{good}AAAA"))),
        ("url-safe base64", signed("msg_1", &now, &format!("v1,{}", "_".repeat(43)))),
        ("no base64", signed("msg_1", &now, "v1,?????")),
        ("hexadecimal", signed("msg_1", &now, &format!("v1,{}", "ab".repeat(32)))),
        ("joined without a blank", signed("msg_1", &now, &format!("v1,AAAA,{good}"))),
        ("an empty id", signed("", &now, &signature(SECRET, "", &now, BODY))),
        (
            "a time that is not a number",
            signed("msg_1", "now", &signature(SECRET, "msg_1", "now", BODY)),
        ),
        ("an empty time", signed("msg_1", "", &signature(SECRET, "msg_1", "", BODY))),
    ];
    for (why, at) in [
        ("too old", NOW - 301),
        ("of tomorrow", NOW + 301),
        ("of the year 1970", 0),
        ("of the end of time", i64::MAX),
        ("of its beginning", i64::MIN),
    ] {
        let at = at.to_string();
        cases.push((why, signed("msg_1", &at, &signature(SECRET, "msg_1", &at, BODY))));
    }
    let fraction = format!("{NOW}.5");
    cases.push((
        "a fraction",
        signed("msg_1", &fraction, &signature(SECRET, "msg_1", &fraction, BODY)),
    ));
    let headers = [
        ("webhook-id", "msg_1"),
        ("webhook-timestamp", now.as_str()),
        ("webhook-signature", &good),
    ];
    for left_out in 0..3 {
        let mut rest = headers.to_vec();
        let (name, _) = rest.remove(left_out);
        cases.push((name, call(&rest, BODY)));
        let twice = [&headers[..], &headers[left_out..=left_out]].concat();
        cases.push(("a header that came twice", call(&twice, BODY)));
    }
    cases.push(("cut off in its body", call(&headers, &BODY[..BODY.len() - 1])));
    cases.push(("a body with more after it", call(&headers, &format!("{BODY}\n"))));
    cases.push(("no header at all", call(&[], BODY)));
    let many = format!("{} {good}", "v1,AAAA ".repeat(16).trim_end());
    cases.push(("behind sixteen others", signed("msg_1", &now, &many)));
    assert!(cases.len() >= 30, "{}", cases.len());
    for (why, call) in cases {
        assert!(!proven(&call), "{why}");
    }
    assert_eq!(SHAPELESS.len(), 9);
    for signature in SHAPELESS {
        let head = signed("msg_1", &now, signature).head;
        let judged = Supabase.fits(&head, Timestamp::from_timestamp(NOW, 0).unwrap());
        assert_eq!(judged, Err(HookFault::Shape), "{signature}");
    }
    let late = Timestamp::from_timestamp(NOW + 301, 0).unwrap();
    let good_head = signed("msg_1", &now, &good).head;
    assert_eq!(Supabase.fits(&good_head, late), Err(HookFault::Time));
    assert!(Supabase.shows(&[], &good_head).is_none());
    let fresh = Timestamp::from_timestamp(NOW, 0).unwrap();
    assert!(!Supabase.proves(&[], &signed("msg_1", &now, &good), fresh), "no secret");
    assert!(
        !Supabase.proves(&[secret(OTHER)], &signed("msg_1", &now, &good), fresh),
        "an old secret"
    );
}

fn read(body: &str) -> Result<(String, String), HookRefusal> {
    let read = Supabase.read(body.as_bytes());
    read.map(|read| (read.phone.e164(), read.code.expose().to_owned()))
}

#[test]
fn the_number_of_the_message_goes_before_that_of_the_user() {
    let asha = Ok(("+919876543210".to_owned(), "561166".to_owned()));
    assert_eq!(read(BODY), asha);
    for (user, sms) in [
        (r#"{"phone":"+919876543210"}"#, r#"{"otp":"561166"}"#),
        (r#"{"phone":"+919999999999"}"#, r#"{"otp":"561166","phone":"919876543210"}"#),
        (r#"{"phone":""}"#, r#"{"otp":"561166","phone":"+919876543210"}"#),
        (r#"{"phone":null}"#, r#"{"otp":"561166","phone":"+919876543210"}"#),
        (r"{}", r#"{"otp":"561166","phone":"+919876543210"}"#),
        (r#"{"phone":"919876543210"}"#, r#"{"otp":"561166","phone":""}"#),
        (r#"{"phone":"919876543210"}"#, r#"{"otp":"561166","phone":null,"sms_type":"signup"}"#),
    ] {
        assert_eq!(read(&format!(r#"{{"user":{user},"sms":{sms}}}"#)), asha, "{user} {sms}");
    }
}

#[test]
fn a_code_of_the_second_factor_is_told_from_the_others() {
    let is_mfa = |sms: &str| {
        let body = format!(r#"{{"user":{{"phone":""}},"sms":{sms}}}"#);
        Supabase.read(body.as_bytes()).unwrap().is_mfa
    };
    let with = |rest: &str| is_mfa(&format!(r#"{{"otp":"561166","phone":"919876543210"{rest}}}"#));
    assert!(with(r#","sms_type":"mfa""#));
    for rest in ["", r#","sms_type":null"#, r#","sms_type":"""#, r#","sms_type":"MFA""#] {
        assert!(!with(rest), "{rest}");
    }
}

#[test]
fn what_cannot_be_delivered_says_why() {
    let with = |phone: &str, otp: &str| {
        read(&format!(r#"{{"user":{{"phone":"{phone}"}},"sms":{{"otp":"{otp}"}}}}"#))
    };
    for phone in [
        "",
        "9876543210",
        "14155550123",
        "+14155550123",
        "+91987654321",
        "++919876543210",
        "0919876543210",
    ] {
        assert_eq!(with(phone, "561166"), Err(HookRefusal::InvalidPhone), "{phone}");
    }
    for otp in ["", "123", "12345678901", "12a456"] {
        assert_eq!(with("919876543210", otp), Err(HookRefusal::InvalidCode), "{otp}");
    }
    for body in
        ["", "{}", "[]", "null", r#"{"user":{},"sms":{}}"#, r#"{"user":{},"sms":{"otp":1}}"#]
    {
        assert_eq!(read(body), Err(HookRefusal::Unreadable), "{body}");
    }
    // An array with the members in order, or with one of them, names no member.
    for body in [
        r#"[{"phone":"919876543210"},{"otp":"561166"}]"#,
        r#"[["919876543210"],["561166",null]]"#,
        r#"{"user":["919876543210"],"sms":{"otp":"561166"}}"#,
        r#"{"user":{"phone":"919876543210"},"sms":["561166",null]}"#,
        r#""561166""#,
        "561166",
        "true",
    ] {
        assert_eq!(read(body), Err(HookRefusal::Unreadable), "{body}");
    }
}

#[test]
fn every_answer_is_one_that_supabase_reads() {
    assert_eq!(Supabase.answer(Ok(())).as_deref(), Some("{}"));
    let limited = Supabase.answer(Err(HookRefusal::PhoneLimited)).unwrap();
    let limited: serde_json::Value = serde_json::from_str(&limited).unwrap();
    assert_eq!(limited["error"]["http_code"], 429);
    assert!(limited["error"]["message"].as_str().is_some_and(|text| text.ends_with("later.")));
}
