use super::*;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// The secret of RFC 6238, appendix B.
fn secret() -> TotpSecret {
    TotpSecret(*b"12345678901234567890")
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(seconds, 0).unwrap()
}

fn code(text: &str) -> TotpCode {
    text.parse().unwrap()
}

#[test]
fn the_codes_are_those_of_the_standard() {
    // The last six of the RFC's eight digits.
    for (seconds, digits) in [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ] {
        let step = u64::try_from(seconds / 30).unwrap();
        assert_eq!(secret().step_of(code(digits), at(seconds)), Some(step), "{seconds}");
        assert_eq!(secret().code_at(at(seconds)).expose(), digits);
    }
}

#[test]
fn a_code_is_good_from_one_step_before_to_one_step_after() {
    let digits = code("081804");
    let step = 1_111_111_109 / 30;
    let (from, until) = (at((step - 1) * 30), at((step + 2) * 30));
    let wanted = Some(u64::try_from(step).unwrap());
    assert_eq!(secret().step_of(digits, from - MS), None);
    assert_eq!(secret().step_of(digits, from), wanted);
    assert_eq!(secret().step_of(digits, until - MS), wanted);
    assert_eq!(secret().step_of(digits, until), None);
}

#[test]
fn a_step_works_once_and_none_before_it() {
    let mut totp = Totp { secret: Sealed(vec![]), last_step: 5 };
    let taken = [5, 4, 7, 6, 7, 8].map(|step| totp.take(step));
    assert_eq!(taken, [false, false, true, false, false, true]);
}

#[test]
fn codes_are_six_digits_with_blanks_between() {
    assert_eq!(code("081 804"), code("081804"));
    for text in ["", "12345", "1234567", "12345a", "१२३४५६"] {
        assert!(text.parse::<TotpCode>().is_err(), "{text}");
    }
}

#[test]
fn secrets_are_read_as_they_are_shown() {
    assert_eq!(secret().expose().as_str(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    assert_eq!("gezd gnbv gy3t qojq gezd gnbv gy3t qojq".parse(), Ok(secret()));
    for text in ["", "GEZDGNBV", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJ1", &"A".repeat(33)] {
        assert_eq!(text.parse::<TotpSecret>(), Err(MalformedTotpSecret), "{text}");
    }
}

#[test]
fn apps_are_given_the_address_they_read() {
    assert_eq!(
        secret().uri("Dwar", "Asha Rao@x:y").as_str(),
        "otpauth://totp/Dwar:Asha%20Rao%40x%3Ay?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\
         &issuer=Dwar&algorithm=SHA1&digits=6&period=30"
    );
    assert_eq!(format!("{:?} {:?}", secret(), code("081804")), "TotpSecret(…) TotpCode(…)");
}
