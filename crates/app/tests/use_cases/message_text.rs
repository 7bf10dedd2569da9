use crate::common::World;
use dwar_app::sms_text_of;
use dwar_otp::{InvalidLanguage, InvalidText};
use dwar_project::{Messages, Project};

/// A project called "Chai & Co" with these messages.
fn project(messages: Messages) -> Project {
    Project { messages, ..World::live().caller.project }
}

fn text(messages: Messages) -> String {
    sms_text_of(&project(messages), None).unwrap().compose(&"000042".parse().unwrap(), 10)
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn a_project_that_says_nothing_gets_the_english_text_under_its_name() {
    let wanted = "000042 is your Chai & Co verification code. It is valid for 10 min. \
                  Do not share it with anyone.";
    assert_eq!(text(Messages::default()), wanted);
}

#[test]
fn a_language_brings_its_text_and_one_without_its_own_the_english_one() {
    for language in ["hi", "hi-IN"] {
        let hindi = text(Messages { language: some(language), ..Messages::default() });
        assert!(hindi.starts_with("000042 आपका Chai & Co "), "{hindi}");
    }
    let other = text(Messages { language: some("ta"), ..Messages::default() });
    assert_eq!(other, text(Messages::default()));
}

#[test]
fn a_projects_own_text_and_brand_come_first() {
    let own = Messages {
        brand: some("Dabbawala"),
        language: some("hi"),
        text: some("{brand}: {code}, {minutes} min"),
        ..Messages::default()
    };
    assert_eq!(text(own), "Dabbawala: 000042, 10 min");
}

#[test]
fn a_name_that_is_too_long_for_a_brand_is_cut_and_a_brand_is_not() {
    let own = Messages { text: some("{brand} {code}"), ..Messages::default() };
    let long = Project { name: "च".repeat(40), ..project(own.clone()) };
    let cut = sms_text_of(&long, None).unwrap().compose(&"000042".parse().unwrap(), 10);
    assert_eq!(cut, format!("{} 000042", "च".repeat(30)));
    let brand = Messages { brand: Some("x".repeat(31)), ..own };
    assert_eq!(sms_text_of(&project(brand), None), Err(InvalidText::Brand));
}

#[test]
fn a_site_or_an_app_may_read_the_code_but_not_both() {
    let domain = Messages { domain: some("login.example.com"), ..Messages::default() };
    assert!(text(domain.clone()).ends_with("\n\n@login.example.com #000042"));
    let short = some("{code}");
    let app = Messages { text: short, app_hash: some("FA+9qCX9VSu"), ..Messages::default() };
    assert_eq!(text(app.clone()), "000042\n\nFA+9qCX9VSu");
    let both = Messages { domain: domain.domain, ..app };
    assert_eq!(sms_text_of(&project(both), None), Err(InvalidText::TwoEndings));
}

#[test]
fn settings_that_cannot_work_are_told() {
    let refused = |messages| sms_text_of(&project(messages), None).unwrap_err();
    let none = Messages::default;
    assert_eq!(refused(Messages { text: some("no code"), ..none() }), InvalidText::Code);
    assert_eq!(refused(Messages { brand: some(" "), ..none() }), InvalidText::Brand);
    assert_eq!(refused(Messages { domain: some("localhost"), ..none() }), InvalidText::Domain);
    assert_eq!(refused(Messages { app_hash: some("short"), ..none() }), InvalidText::AppHash);
    let language = refused(Messages { language: some("xx-quatsch!!"), ..none() });
    assert_eq!(language, InvalidText::Language(InvalidLanguage));
}
