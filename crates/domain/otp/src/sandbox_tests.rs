use super::*;
use dwar_kernel::{Digest, KeyMode, ProjectMode};

const PROJECT: &str = "01900000-0000-7000-8000-000000000001";
const OTHER: &str = "01900000-0000-7000-8000-000000000002";
const OTP: &str = "01900000-0000-7000-8000-00000000000a";

/// Keeps the purpose and context next to the plain text, so that a test can check all three.
struct GlassVault;

impl Vault for GlassVault {
    fn seal(&self, purpose: Purpose, context: &[u8], plain: &[u8]) -> Sealed {
        Sealed([format!("{purpose:?}").as_bytes(), context, plain].concat())
    }

    fn open(
        &self,
        purpose: Purpose,
        context: &[u8],
        sealed: &Sealed,
    ) -> Result<Vec<u8>, Unsealable> {
        let lock = [format!("{purpose:?}").as_bytes(), context].concat();
        sealed.0.strip_prefix(lock.as_slice()).map(<[u8]>::to_vec).ok_or(Unsealable)
    }

    fn digest(&self, _: Purpose, _: &[&[u8]]) -> Digest {
        Digest([0; 32])
    }
}

fn message(text: &str) -> Message {
    Message {
        otp: OTP.parse().unwrap(),
        attempt: "01900000-0000-7000-8000-00000000000b".parse().unwrap(),
        project_mode: ProjectMode { project: PROJECT.parse().unwrap(), mode: KeyMode::Test },
        channel: Channel::Sms,
        phone: "9876543210".parse().unwrap(),
        phone_index: BlindIndex([7; 32]),
        code: "012345".parse().unwrap(),
        text: text.to_owned(),
        brand: "Acme".to_owned(),
        language: "en".to_owned(),
        minutes: 10,
        template_id: None,
    }
}

#[test]
fn a_number_chooses_its_scenario() {
    for (number, scenario) in [
        ("9000000001", Scenario::SmsDelivers),
        ("9000000002", Scenario::BothFail),
        ("9000000003", Scenario::LateFailure),
        ("9000000004", Scenario::InsufficientBalance),
        ("9000000005", Scenario::SlowDelivery),
        ("9000000000", Scenario::Delivered),
        ("9000000006", Scenario::ProofRequired),
        ("9000000007", Scenario::Delivered),
        ("9000010001", Scenario::Delivered),
        ("9876540001", Scenario::Delivered),
    ] {
        assert_eq!(Scenario::of(&number.parse().unwrap()), scenario, "{number}");
    }
}

#[test]
fn what_was_sealed_opens_for_its_project_and_request_only() {
    for text in ["012345 is your code", "", "कोड 012345\n@example.com #012345"] {
        let sealed = InboxMessage::seal(&GlassVault, &message(text), Timestamp::UNIX_EPOCH);
        assert_eq!(sealed.otp.to_string(), OTP);
        assert_eq!((sealed.phone, sealed.channel), (BlindIndex([7; 32]), Channel::Sms));
        assert_eq!(sealed.at, Timestamp::UNIX_EPOCH);

        let content = sealed.open(&GlassVault, PROJECT.parse().unwrap()).unwrap();
        assert_eq!((content.code.expose(), content.text.as_str()), ("012345", text));

        assert_eq!(sealed.open(&GlassVault, OTHER.parse().unwrap()), Err(Unsealable));
        let moved = InboxMessage { otp: OTHER.parse().unwrap(), ..sealed };
        assert_eq!(moved.open(&GlassVault, PROJECT.parse().unwrap()), Err(Unsealable));
    }
}

#[test]
fn the_sealed_form_is_stable() {
    let sealed = InboxMessage::seal(&GlassVault, &message("hello"), Timestamp::UNIX_EPOCH);
    let mut expected = b"SandboxMessage".to_vec();
    expected.extend(PROJECT.parse::<ProjectId>().unwrap().uuid().as_bytes());
    expected.extend(OTP.parse::<OtpId>().unwrap().uuid().as_bytes());
    expected.extend(b"012345hello");
    assert_eq!(sealed.content.0, expected);
}

#[test]
fn refuses_content_that_does_not_start_with_a_code() {
    let sealed = InboxMessage::seal(&GlassVault, &message(""), Timestamp::UNIX_EPOCH);
    let project: ProjectId = PROJECT.parse().unwrap();
    for plain in [b"".as_slice(), b"01234", b"abcdef text", "01234é".as_bytes(), b"012345\xff"] {
        let context = context(project, sealed.otp);
        let content = GlassVault.seal(Purpose::SandboxMessage, &context, plain);
        let broken = InboxMessage { content, ..sealed.clone() };
        assert_eq!(broken.open(&GlassVault, project), Err(Unsealable), "{plain:?}");
    }
}

#[test]
fn debug_shows_neither_code_nor_text() {
    let sealed = InboxMessage::seal(&GlassVault, &message("hello"), Timestamp::UNIX_EPOCH);
    let content = sealed.open(&GlassVault, PROJECT.parse().unwrap()).unwrap();
    let shown = format!("{sealed:?} {content:?} {:?}", message("hello"));
    for secret in ["012345", "hello", "9876543210"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
