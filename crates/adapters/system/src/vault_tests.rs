use super::*;
use dwar_kernel::{KeyMode, Phone, ProjectId};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

const PURPOSES: [Purpose; 9] = [
    Purpose::ApiKey,
    Purpose::RefreshToken,
    Purpose::RefreshTokenMac,
    Purpose::Idempotency,
    Purpose::Phone,
    Purpose::Code,
    Purpose::Answer,
    Purpose::SandboxMessage,
    Purpose::SigningKey,
];

#[derive(Default)]
struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let next = self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes();
            chunk.copy_from_slice(&next[..chunk.len()]);
        }
    }
}

struct Constant(u8);

impl Entropy for Constant {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(self.0);
    }
}

fn key_of(bytes: [u8; 32]) -> MasterKey {
    hex(&bytes).parse().unwrap()
}

fn master(byte: u8) -> MasterKey {
    key_of([byte; 32])
}

fn vault(current: u8, older: &[u8], lookup: Option<u8>) -> RustCryptoVault {
    let older = older.iter().copied().map(master);
    RustCryptoVault::new(master(current), older, lookup.map(master), Arc::new(Counting::default()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Values computed with Python's `cryptography` and `hmac`, which fix the stored formats.
#[test]
fn matches_an_independent_implementation() {
    let key = key_of(std::array::from_fn(|index| u8::try_from(index).unwrap()));
    assert_eq!(
        hex(key.code_secret().as_slice()),
        "3b356af1d71548467b794338f4f646bf5af6e54a620eccf67d421486810735e6"
    );
    let vault = RustCryptoVault::new(key, [], None, Arc::new(Constant(0xa5)));
    assert_eq!(
        hex(&vault.digest(Purpose::ApiKey, &[b"one", b"two"]).0),
        "f7b14752c5953455f5fe39ddac474cdfbfb74201b4097b229ed66b9dd3471f91"
    );
    assert_eq!(
        hex(&vault.seal(Purpose::Phone, b"row 7", b"9876543210").0),
        "0130e568bea5a5a5a5a5a5a5a5a5a5a5a53d385ea67b32e012b0e71203d03fdad93be1a5ad55e1b328f169"
    );
}

#[test]
fn another_purpose_or_context_opens_nothing() {
    let vault = vault(1, &[], None);
    for made_for in PURPOSES {
        let sealed = vault.seal(made_for, b"row", b"secret");
        for asked_for in PURPOSES {
            let opened = vault.open(asked_for, b"row", &sealed);
            assert_eq!(opened.is_ok(), made_for == asked_for, "{made_for:?} {asked_for:?}");
        }
        for context in [&b""[..], b"ro", b"row ", b"other"] {
            assert_eq!(vault.open(made_for, context, &sealed), Err(Unsealable));
        }
    }
}

#[test]
fn any_altered_or_missing_byte_opens_nothing() {
    let vault = vault(1, &[2, 3], None);
    let sealed = vault.seal(Purpose::Answer, b"row", b"secret");
    for at in 0..sealed.0.len() {
        for bit in 0..8 {
            let mut altered = sealed.clone();
            altered.0[at] ^= 1 << bit;
            assert_eq!(vault.open(Purpose::Answer, b"row", &altered), Err(Unsealable), "{at}");
        }
        let cut = Sealed(sealed.0[..at].to_vec());
        assert_eq!(vault.open(Purpose::Answer, b"row", &cut), Err(Unsealable), "{at}");
    }
    let longer = Sealed([&sealed.0[..], b"\0"].concat());
    assert_eq!(vault.open(Purpose::Answer, b"row", &longer), Err(Unsealable));
}

#[test]
fn an_older_master_still_opens_and_a_dropped_one_does_not() {
    let sealed = vault(1, &[], None).seal(Purpose::Code, b"row", b"123456");
    for (newer, opens) in [
        (vault(2, &[1], None), true),
        (vault(3, &[2, 1], None), true),
        (vault(3, &[2], None), false),
    ] {
        assert_eq!(newer.open(Purpose::Code, b"row", &sealed).is_ok(), opens);
    }
    let resealed = vault(2, &[1], None).seal(Purpose::Code, b"row", b"123456");
    assert!(vault(1, &[], None).open(Purpose::Code, b"row", &resealed).is_err());
}

#[test]
fn sealing_twice_never_looks_the_same() {
    let vault = vault(1, &[], None);
    let sealed: HashSet<_> =
        (0..1_000).map(|_| vault.seal(Purpose::Phone, b"row", b"9876543210").0).collect();
    assert_eq!(sealed.len(), 1_000);
}

#[test]
fn digests_survive_a_rotation_of_the_master() {
    let before = vault(1, &[], None).digest(Purpose::ApiKey, &[b"key"]);
    let digest = |vault: RustCryptoVault| vault.digest(Purpose::ApiKey, &[b"key"]);
    assert_eq!(digest(vault(2, &[1], None)), before);
    assert_eq!(digest(vault(3, &[2, 1], None)), before);
    assert_eq!(digest(vault(3, &[2], Some(1))), before);
    assert_ne!(digest(vault(3, &[2], None)), before);
}

#[test]
fn digests_differ_by_purpose_and_by_the_boundaries_between_parts() {
    let vault = vault(1, &[], None);
    let mut seen: HashSet<_> =
        PURPOSES.iter().map(|purpose| vault.digest(*purpose, &[b"ab", b"c"])).collect();
    for parts in [&[&b"a"[..], b"bc"][..], &[b"abc"], &[b"ab", b"c", b""], &[b"", b"ab", b"c"], &[]]
    {
        seen.insert(vault.digest(Purpose::ApiKey, parts));
    }
    assert_eq!(seen.len(), PURPOSES.len() + 5);
}

#[test]
fn a_phone_has_unrelated_indexes_in_other_projects_and_modes() {
    let vault = vault(1, &[], None);
    let project = |last: u8| -> ProjectId {
        format!("00000000-0000-7000-8000-0000000000{last:02}").parse().unwrap()
    };
    let phone: Phone = "9876543210".parse().unwrap();
    let other: Phone = "9876543211".parse().unwrap();
    let indexes: HashSet<_> = [
        vault.phone_index(project(1).in_mode(KeyMode::Live), &phone),
        vault.phone_index(project(1).in_mode(KeyMode::Test), &phone),
        vault.phone_index(project(2).in_mode(KeyMode::Live), &phone),
        vault.phone_index(project(1).in_mode(KeyMode::Live), &other),
    ]
    .into();
    assert_eq!(indexes.len(), 4);
    let sealed = vault.seal_phone(project(1), &phone);
    assert_eq!(vault.open_phone(project(1), &sealed), Ok(phone));
    assert_eq!(vault.open_phone(project(2), &sealed), Err(Unsealable));
}

proptest! {
    #[test]
    fn opens_what_it_sealed(
        purpose in proptest::sample::select(&PURPOSES),
        context in vec(any::<u8>(), 0..64),
        plain in vec(any::<u8>(), 0..4_096),
    ) {
        let vault = vault(1, &[2], None);
        let sealed = vault.seal(purpose, &context, &plain);
        prop_assert_eq!(vault.open(purpose, &context, &sealed), Ok(plain));
    }

    #[test]
    fn noise_opens_nothing(noise in vec(any::<u8>(), 0..256)) {
        let opened = vault(1, &[2], None).open(Purpose::Phone, b"row", &Sealed(noise));
        prop_assert_eq!(opened, Err(Unsealable));
    }
}
