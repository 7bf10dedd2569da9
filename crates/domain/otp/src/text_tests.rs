use super::*;

fn text(template: &str) -> Result<SmsText, InvalidText> {
    SmsText::new(template, "Acme", MessageEnding::None)
}

fn code() -> Code {
    "000042".parse().unwrap()
}

#[test]
fn fills_in_code_brand_and_minutes() {
    let text = text("{code} for {brand}, {minutes} min").unwrap();
    assert_eq!(text.compose(&code(), 10), "000042 for Acme, 10 min");
}

#[test]
fn a_brand_is_never_read_as_a_placeholder() {
    let text = SmsText::new("{brand}: {code}", "{code}", MessageEnding::None).unwrap();
    assert_eq!(text.compose(&code(), 10), "{code}: 000042");
}

#[test]
fn ends_as_browsers_and_android_apps_expect() {
    let ending = MessageEnding::of(Some("login.example.com"), None).unwrap();
    let text = SmsText::new("{code}", "Acme", ending).unwrap().compose(&code(), 10);
    assert_eq!(text.lines().last(), Some("@login.example.com #000042"));
    let ending = MessageEnding::of(None, Some("FA+9qCX9VSu")).unwrap();
    let text = SmsText::new("{code}", "Acme", ending).unwrap().compose(&code(), 10);
    assert!(text.ends_with("\nFA+9qCX9VSu"));
}

#[test]
fn refuses_what_could_not_arrive() {
    assert_eq!(text("no code"), Err(InvalidText::Code));
    assert_eq!(text("{code}{code}"), Err(InvalidText::Code));
    assert_eq!(text("{code} {name}"), Err(InvalidText::Placeholder("{name}".to_owned())));
    assert_eq!(text("{code} {"), Err(InvalidText::Placeholder("{".to_owned())));
    assert_eq!(text("{code}\u{7}"), Err(InvalidText::Control));
    assert_eq!(
        SmsText::new("{code}", &"x".repeat(31), MessageEnding::None),
        Err(InvalidText::Brand)
    );
    assert_eq!(MessageEnding::of(Some("example"), None), Err(InvalidText::Domain));
    assert_eq!(MessageEnding::of(Some("https://a.in"), None), Err(InvalidText::Domain));
    assert_eq!(MessageEnding::of(None, Some("short")), Err(InvalidText::AppHash));
    assert_eq!(MessageEnding::of(Some("a.in"), Some("FA+9qCX9VSu")), Err(InvalidText::TwoEndings));
}

#[test]
fn is_judged_by_the_longest_code_and_lifetime_and_filled_in_all_the_same() {
    let filled = |template: &str, size: usize, ending: &MessageEnding| {
        let template = format!("{template}{}", "x".repeat(size));
        SmsText::new(&template, "Acme", ending.clone()).unwrap()
    };
    let hash = MessageEnding::AppHash("FA+9qCX9VSu".to_owned());
    let web = MessageEnding::WebOtp("in.acme.in".to_owned());
    for (template, ending, most, refusal) in [
        ("{code}", MessageEnding::None, 449, InvalidText::TooManySegments(4)),
        ("{code} {minutes}", MessageEnding::None, 446, InvalidText::TooManySegments(4)),
        // This text contains the code twice.
        ("{code}", web, 424, InvalidText::TooManySegments(4)),
        ("{code}", hash.clone(), 117, InvalidText::TooLongForApp(141)),
        ("{code} {minutes}", hash, 114, InvalidText::TooLongForApp(141)),
    ] {
        assert_eq!(filled(template, most, &ending).check_length(), Ok(()), "{template}");
        let longer = filled(template, most + 1, &ending);
        assert_eq!(longer.check_length(), Err(refusal), "{template}");
        // A text that is already stored is still sent.
        assert!(longer.compose(&code(), 10).starts_with("000042"));
    }
    let longest =
        filled("{code} {minutes}", 114, &MessageEnding::AppHash("FA+9qCX9VSu".to_owned()));
    let relayed = Code::relayed("0123456789").unwrap();
    assert_eq!(longest.compose(&relayed, 60).len(), 140);
}

#[test]
fn counts_parts_at_the_exact_lengths() {
    let parts = |text: String| {
        let segments = Segments::of(&text);
        (segments.encoding, segments.units, segments.parts)
    };
    assert_eq!(parts("a".repeat(160)), (Encoding::Gsm7, 160, 1));
    assert_eq!(parts("a".repeat(161)), (Encoding::Gsm7, 161, 2));
    assert_eq!(parts("a".repeat(306)), (Encoding::Gsm7, 306, 2));
    assert_eq!(parts("a".repeat(307)), (Encoding::Gsm7, 307, 3));
    assert_eq!(parts("€".repeat(80)), (Encoding::Gsm7, 160, 1));
    assert_eq!(parts("क".repeat(70)), (Encoding::Ucs2, 70, 1));
    assert_eq!(parts("क".repeat(71)), (Encoding::Ucs2, 71, 2));
    assert_eq!(parts("😀".repeat(35)), (Encoding::Ucs2, 70, 1));
}

/// A registered text cannot change its words with the number.
#[test]
fn our_texts_are_right_for_one_minute_and_for_ten() {
    let code = "482915".parse().unwrap();
    for (language, unit) in [("en", " min."), ("hi", " मिनट तक")] {
        let text = text(SmsText::default_template(language)).unwrap();
        for minutes in [1, 10] {
            let message = text.compose(&code, minutes);
            assert!(message.contains(&format!("{minutes}{unit}")), "{message}");
        }
    }
}

#[test]
fn every_language_of_ours_is_a_text_that_works() {
    for language in ["en", "en-IN", "hi", "hi-IN", "ta"] {
        let text = text(SmsText::default_template(language)).unwrap();
        assert_eq!(text.check_length(), Ok(()));
        assert!(text.segments(10).parts <= 2, "{language}: {}", text.segments(10));
    }
    assert_eq!(text(SmsText::default_template("en")).unwrap().segments(10).parts, 1);
}
