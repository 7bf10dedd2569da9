use super::*;
use dwar_kernel::{Digest, KeyMode, ProjectId, Sealed, Unsealable};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A vault with this lookup key.
struct Keyed(u8);

impl Vault for Keyed {
    fn seal(&self, _: Purpose, _: &[u8], _: &[u8]) -> Sealed {
        unreachable!("a token is not sealed")
    }

    fn open(&self, _: Purpose, _: &[u8], _: &Sealed) -> Result<Vec<u8>, Unsealable> {
        unreachable!("a token is not sealed")
    }

    fn digest(&self, purpose: Purpose, parts: &[&[u8]]) -> Digest {
        let mut digest = [0; 32];
        for (lane, out) in digest.chunks_mut(8).enumerate() {
            let mut hasher = DefaultHasher::new();
            (self.0, lane, purpose, parts).hash(&mut hasher);
            out.copy_from_slice(&hasher.finish().to_le_bytes());
        }
        Digest(digest)
    }
}

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
const PHONE: BlindIndex = BlindIndex([7; 32]);

fn project(number: u8) -> ProjectId {
    format!("00000000-0000-7000-8000-0000000000{number:02}").parse().unwrap()
}

fn identity() -> IdentityId {
    "01a1fd34-405d-767d-b51f-27c5abb369b3".parse().unwrap()
}

fn live() -> ProjectMode {
    project(1).in_mode(KeyMode::Live)
}

fn token() -> DeviceToken {
    DeviceToken::issue((live(), &PHONE), identity(), &Keyed(1), NOW)
}

fn read(text: &str) -> Option<IdentityId> {
    let Ok(shown) = text.parse::<DeviceToken>();
    shown.identity((live(), &PHONE), &Keyed(1), NOW)
}

#[test]
fn it_names_its_identity_for_180_days() {
    let token = token();
    let end = NOW + Duration::from_secs(15_552_000);
    let at = |now| token.identity((live(), &PHONE), &Keyed(1), now);
    assert_eq!(at(NOW), Some(identity()));
    assert_eq!(at(end - Duration::from_millis(1)), Some(identity()));
    assert_eq!(at(end), None);
    assert_eq!(read(token.expose()), Some(identity()));
}

#[test]
fn it_is_worth_nothing_for_another_project_mode_phone_or_key() {
    let of = |project_mode, phone, key| token().identity((project_mode, phone), &Keyed(key), NOW);
    assert_eq!(of(live(), &PHONE, 1), Some(identity()));
    assert_eq!(of(project(2).in_mode(KeyMode::Live), &PHONE, 1), None);
    assert_eq!(of(project(1).in_mode(KeyMode::Test), &PHONE, 1), None);
    assert_eq!(of(live(), &BlindIndex([8; 32]), 1), None);
    assert_eq!(of(live(), &PHONE, 2), None);
}

#[test]
fn whatever_was_changed_in_it_makes_it_worthless() {
    let token = token();
    let text = token.expose();
    assert_eq!((text.len(), text.is_ascii()), (119, true));
    for place in 0..text.len() {
        let mut bytes = text.as_bytes().to_vec();
        bytes[place] = if bytes[place] == b'0' { b'1' } else { b'0' };
        let changed = String::from_utf8(bytes).unwrap();
        assert_eq!(read(&changed), None, "{changed}");
    }
    for other in [
        "",
        "svc_dt_",
        &text[..text.len() - 1],
        &format!("{text}0"),
        &format!(" {text}"),
        &text.to_uppercase(),
        &text.replacen("svc_dt_0", "svc_dt_+", 1),
        &"ü".repeat(60),
        &"0".repeat(10_000),
    ] {
        assert_eq!(read(other), None, "{other}");
    }
}

#[test]
fn it_hides_itself() {
    assert_eq!(format!("{:?}", token()), "svc_dt_…");
}
