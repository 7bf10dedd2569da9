use super::*;
use dwar_otp::WebhookHead;

const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER: &str = "whsec_HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn proven(shown: &[&str]) -> bool {
    let headers = shown.iter().map(|value| ("authorization".to_owned(), (*value).to_owned()));
    let head = WebhookHead {
        path_and_query: "/hooks/1".to_owned(),
        query: Vec::new(),
        headers: headers.collect(),
    };
    let secrets = [SECRET, OTHER].map(|text| text.parse().unwrap());
    let call = WebhookCall { head, body: Vec::new() };
    Logto.proves(&secrets, &call, Timestamp::from_timestamp(1_800_000_000, 0).unwrap())
}

#[test]
fn only_the_whole_value_of_the_header_is_taken() {
    let good = format!("Bearer {SECRET}");
    assert!(proven(&[&good]) && proven(&[&format!("Bearer {OTHER}")]));
    let wrong = [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        SECRET.to_owned(),
        format!("bearer {SECRET}"),
        format!("Basic {SECRET}"),
        format!("{good} "),
        format!(" {good}"),
        format!("Bearer  {SECRET}"),
        good[..good.len() - 1].to_owned(),
        format!("{good}="),
        good.replace("Hh8=", "Hh9="),
        good.to_uppercase(),
        format!("{good}, {good}"),
        format!("v1,{SECRET}"),
    ];
    for shown in wrong {
        assert!(!proven(&[&shown]), "{shown:?}");
    }
    assert!(!proven(&[]) && !proven(&[&good, &good]), "absent, or given twice");
}

#[test]
fn a_call_names_a_number_and_a_code() {
    let read = |body: &str| {
        let read = Logto.read(body.as_bytes());
        read.map(|read| (read.phone.e164(), read.code.expose().to_owned()))
    };
    let call = |to: &str, code: &str| {
        read(&format!(
            r#"{{"to":"{to}","type":"SignIn","payload":{{"code":"{code}","locale":"en"}}}}"#
        ))
    };
    let asha = Ok(("+919876543210".to_owned(), "123456".to_owned()));
    assert_eq!(call("919876543210", "123456"), asha);
    assert_eq!(call("+919876543210", "123456"), asha);
    assert_eq!(call("9876543210", "123456"), Err(HookRefusal::InvalidPhone));
    assert_eq!(call("919876543210", "123"), Err(HookRefusal::InvalidCode));
    // A message with a link instead of a code.
    let shapeless = [
        r#"["919876543210",{"code":"123456"}]"#,
        r#"{"to":"919876543210","payload":["123456"]}"#,
        r#"["919876543210",["123456"]]"#,
        "null",
        "1",
    ];
    for body in shapeless {
        assert_eq!(read(body), Err(HookRefusal::Unreadable), "{body}");
    }
    let link = r#"{"to":"919876543210","type":"OrganizationInvitation","payload":{"link":"https://a.example"}}"#;
    for body in [link, "{}", "", "[]"] {
        assert_eq!(read(body), Err(HookRefusal::Unreadable), "{body}");
    }
}
