use super::*;
use dwar_kernel::{KeyMode, Unsealable};

const OLD: Digest = Digest([1; 32]);
const NEW: Digest = Digest([2; 32]);
const OTHER: Digest = Digest([3; 32]);

fn given(master: Digest, older: &[Digest]) -> GivenKeys {
    GivenKeys { master, older: older.to_vec(), lookup: OLD }
}

fn known(masters: &[Digest]) -> KnownKeys {
    KnownKeys { masters: masters.to_vec(), lookup: Some(OLD) }
}

#[test]
fn the_key_in_use_has_to_be_among_those_given() {
    for (keys, masters, met) in [
        (given(OLD, &[]), vec![OLD], Ok(None)),
        (given(OLD, &[NEW]), vec![OLD], Ok(None)),
        (given(NEW, &[OLD]), vec![OLD], Ok(Some(NEW))),
        (given(NEW, &[OLD]), vec![OLD, NEW], Ok(None)),
        // An instance that was not restarted since the first step.
        (given(OLD, &[NEW]), vec![OLD, NEW], Ok(Some(OLD))),
        (given(OLD, &[]), vec![OLD, NEW], Err(ForeignKey::Master)),
        (given(NEW, &[]), vec![OLD], Err(ForeignKey::Master)),
        (given(OTHER, &[NEW]), vec![OLD], Err(ForeignKey::Master)),
        (given(NEW, &[]), vec![], Ok(Some(NEW))),
    ] {
        assert_eq!(keys.meet(&known(&masters)).map(|new| new.master), met, "{keys:?} {masters:?}");
    }
}

#[test]
fn the_lookup_key_never_changes() {
    let keys = GivenKeys { lookup: OTHER, ..given(OLD, &[]) };
    assert_eq!(keys.meet(&known(&[OLD])), Err(ForeignKey::Lookup));
    let unknown = KnownKeys { lookup: None, ..known(&[OLD]) };
    assert_eq!(keys.meet(&unknown), Ok(NewKeys { master: None, lookup: Some(OTHER) }));
}

#[test]
fn keys_are_counted_that_are_new_or_gone() {
    assert_eq!(given(OLD, &[NEW]).unused(&known(&[OLD])), 1);
    assert_eq!(given(NEW, &[OLD]).unused(&known(&[OLD, NEW])), 0);
    assert_eq!(given(NEW, &[]).missing(&known(&[OLD, NEW])), 1);
    assert_eq!(given(NEW, &[OLD]).missing(&known(&[OLD, NEW])), 0);
}

/// Opens what it says, and computes the index that it says.
struct Says(Option<&'static str>, Digest);

impl Vault for Says {
    fn seal(&self, _: Purpose, _: &[u8], plain: &[u8]) -> Sealed {
        Sealed(plain.to_vec())
    }

    fn open(&self, _: Purpose, _: &[u8], _: &Sealed) -> Result<Vec<u8>, Unsealable> {
        self.0.map(|text| text.as_bytes().to_vec()).ok_or(Unsealable)
    }

    fn digest(&self, _: Purpose, _: &[&[u8]]) -> Digest {
        self.1
    }
}

#[test]
fn a_key_is_noted_once_something_proves_it() {
    let phone = StoredPhone {
        world: ProjectMode {
            project: "00000000-0000-7000-8000-000000000007".parse().unwrap(),
            mode: KeyMode::Live,
        },
        index: BlindIndex([7; 32]),
        sealed: Sealed(vec![]),
    };
    let full = Found {
        signing_key: Some(("kid".to_owned(), Sealed(vec![]))),
        phones: vec![phone],
        ..Found::default()
    };
    let bare = Found { signing_key: None, phones: vec![], ..full.clone() };
    let keys = given(OLD, &[]);
    let both = NewKeys { master: Some(OLD), lookup: Some(OLD) };
    let (fits, shut) = (Says(Some("9876543210"), Digest([7; 32])), Says(None, OTHER));
    assert_eq!(keys.claim(&full, &fits), Ok(both));
    assert_eq!(keys.claim(&full, &shut), Err(ForeignKey::Master));
    assert_eq!(keys.claim(&full, &Says(Some("9876543210"), OTHER)), Err(ForeignKey::Lookup));
    // Nothing tells, so nothing is noted, unless there is nothing at all.
    assert_eq!(keys.claim(&bare, &shut), Ok(NewKeys::default()));
    assert_eq!(keys.claim(&Found { is_empty: true, ..bare }, &shut), Ok(both));
}
