use super::*;
use dwar_kernel::{KeyMode, ProjectId};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU8, Ordering};

struct Counting(AtomicU8);

impl Entropy for Counting {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(self.0.fetch_add(1, Ordering::Relaxed));
    }
}

struct Keyed(u8);

impl Vault for Keyed {
    fn seal(&self, _: Purpose, _: &[u8], _: &[u8]) -> dwar_kernel::Sealed {
        unreachable!("a token is not sealed")
    }

    fn open(
        &self,
        _: Purpose,
        _: &[u8],
        _: &dwar_kernel::Sealed,
    ) -> Result<Vec<u8>, dwar_kernel::Unsealable> {
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

fn project(number: u8) -> ProjectId {
    format!("00000000-0000-7000-8000-0000000000{number:02}").parse().unwrap()
}

fn id(generation: u32) -> RefreshTokenId {
    let session = "01a1fd34-405d-767d-b51f-27c5abb369b3".parse().unwrap();
    RefreshTokenId { project_mode: project(1).in_mode(KeyMode::Live), session, generation }
}

fn token(generation: u32) -> RefreshToken {
    RefreshToken::generate(id(generation), &Keyed(1), &Counting(7.into()))
}

fn read(text: &str) -> Option<RefreshToken> {
    RefreshToken::read(project(1).in_mode(KeyMode::Live), text, &Keyed(1))
}

#[test]
fn is_read_as_it_was_written() {
    for generation in [0, 1, 16, u32::MAX] {
        let token = token(generation);
        assert_eq!(read(token.expose()), Some(token.clone()));
        assert_eq!(token.id(), id(generation));
        let head = format!("svc_rt_01a1fd34405d767db51f27c5abb369b3{generation:08x}07070707");
        assert!(token.expose().starts_with(&head), "{}", token.expose());
        assert_eq!(token.expose().len(), 7 + 136);
    }
}

#[test]
fn any_other_character_anywhere_is_refused() {
    let token = token(9);
    for at in 0..token.expose().len() {
        for other in ["0", "1", "f", "F", "g", "+", " ", "é", ""] {
            let mut text = token.expose().to_owned();
            text.replace_range(at..=at, other);
            assert_eq!(read(&text).is_some(), text == token.expose(), "{text}");
        }
    }
    for text in ["", "svc_rt_", "eyJhbGciOi.J9.x", &token.expose()[7..]] {
        assert_eq!(read(text), None, "{text}");
    }
    assert_eq!(read(&format!("{}0", token.expose())), None);
}

#[test]
fn no_project_mode_or_key_reads_the_tokens_of_another() {
    let token = token(0);
    let read = |project_mode, key| RefreshToken::read(project_mode, token.expose(), &Keyed(key));
    assert!(read(project(1).in_mode(KeyMode::Live), 1).is_some());
    assert_eq!(read(project(2).in_mode(KeyMode::Live), 1), None);
    assert_eq!(read(project(1).in_mode(KeyMode::Test), 1), None);
    assert_eq!(read(project(1).in_mode(KeyMode::Live), 2), None);
}

#[test]
fn no_two_are_alike_and_none_shows_itself() {
    let entropy = Counting(0.into());
    let tokens: HashSet<_> = (0..100)
        .map(|_| RefreshToken::generate(id(0), &Keyed(1), &entropy).digest(&Keyed(1)))
        .collect();
    assert_eq!(tokens.len(), 100);
    assert_eq!(format!("{:?}", token(0)), "svc_rt_…");
}
