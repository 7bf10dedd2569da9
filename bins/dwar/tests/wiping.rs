//! The content of memory after a secret is dropped. Reads this process's own memory as a file,
//! because no safe code can read freed memory. So it is the only test of its process.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

use dwar_event::WebhookSecret;
use dwar_kernel::{Entropy, KeyMode, ProjectId, SessionId, Timestamp};
use dwar_otp::Code;
use dwar_project::ApiKey;
use dwar_session::{RefreshToken, RefreshTokenId};
use dwar_system::SystemEntropy;
use dwar_system::{MasterKey, RustCryptoVault};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The allocator writes its own data over the start of freed memory, so ignore that part.
const NOTES: usize = 32;

/// Keeps a value away from the start of its allocation.
#[repr(C)]
struct Held<T>(#[allow(dead_code, reason = "takes place")] [u8; NOTES], T);

/// The bytes at `place` before and after `value` is dropped.
fn before_and_after<T>(value: T, place: impl Fn(&T) -> (usize, usize)) -> [Vec<u8>; 2] {
    let memory = File::open("/proc/self/mem").unwrap();
    let (address, length) = place(&value);
    let [mut before, mut after] = [vec![0; length], vec![0; length]];
    memory.read_exact_at(&mut before, address as u64).unwrap();
    drop(value);
    memory.read_exact_at(&mut after, address as u64).unwrap();
    [before, after]
}

/// For a secret that is bytes inside of its value.
fn of_bytes<T>(value: T) -> [Vec<u8>; 2] {
    #[expect(clippy::borrowed_box, reason = "the box is the value that is dropped")]
    let place = |held: &Box<Held<T>>| (std::ptr::from_ref(&held.1) as usize, size_of::<T>());
    before_and_after(Box::new(Held([0; NOTES], value)), place)
}

/// For a secret that is a text with its own allocation.
fn of_text<T>(value: T, text: impl Fn(&T) -> &str) -> [Vec<u8>; 2] {
    before_and_after(value, |value| {
        let text = text(value);
        (text.as_ptr() as usize + NOTES, text.len() - NOTES)
    })
}

fn refresh_token(key: &MasterKey, now: Timestamp) -> RefreshToken {
    let entropy = Arc::new(SystemEntropy::default());
    let vault = RustCryptoVault::new(key.clone(), [], None, entropy.clone());
    let (project, session) =
        (ProjectId::new(now, entropy.as_ref()), SessionId::new(now, entropy.as_ref()));
    let id =
        RefreshTokenId { project_mode: project.in_mode(KeyMode::Live), session, generation: 0 };
    RefreshToken::generate(id, &vault, entropy.as_ref())
}

#[test]
fn a_dropped_secret_leaves_nothing_in_memory() {
    let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy::default());
    let entropy = entropy.as_ref();
    let key = MasterKey::generate(entropy);
    for (name, [before, after]) in [
        ("master key", of_bytes(key.clone())),
        ("its text", of_text(key.to_text(), |text| text)),
        ("a sub-key", of_bytes(key.code_secret())),
        ("a code", of_bytes(Code::generate(entropy))),
        ("an event secret", of_bytes(WebhookSecret::generate(entropy))),
        ("an API key", of_text(ApiKey::generate(KeyMode::Live, entropy), ApiKey::expose)),
        (
            "a refresh token",
            of_text(refresh_token(&key, Timestamp::UNIX_EPOCH), RefreshToken::expose),
        ),
    ] {
        assert!(before.iter().any(|byte| *byte != 0), "{name}: this test looks elsewhere");
        assert!(after.iter().all(|byte| *byte == 0), "{name}: {before:?}, then {after:?}");
    }
}

/// The test above detects a value that is not wiped.
#[test]
fn a_plain_text_is_still_there_after_it_is_dropped() {
    let text = "0123456789abcdef".repeat(5);
    let [before, after] = of_text(text, |text| text);
    assert_eq!(before, after);
}
