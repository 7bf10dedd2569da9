use super::*;

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

#[test]
fn a_database_that_holds_something_has_noted_its_keys() {
    let (keys, both) = (given(OLD, &[]), NewKeys { master: Some(OLD), lookup: Some(OLD) });
    assert_eq!(keys.claim(&StoredKeys { is_empty: true, ..StoredKeys::default() }), Ok(both));
    assert_eq!(keys.claim(&StoredKeys::default()), Err(ForeignKey::Master));
    let noted = StoredKeys { is_empty: false, known: known(&[OLD]) };
    assert_eq!(keys.claim(&noted), Ok(NewKeys::default()));
}
