use super::*;
use uuid::Uuid;

const QUOTA: Quota = Quota { limit: 100, window: Duration::from_secs(60) };
const LASTS: Duration = Duration::from_secs(10);

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

fn holder(number: u128) -> InstanceId {
    Uuid::from_u128(number).into()
}

fn lease_request(who: u128, uses: &[u32], spare: u32) -> LeaseRequest {
    let hold = uses.iter().sum();
    let (holder, uses) = (holder(who), uses.to_vec());
    let lasts = if spare > 0 { LASTS } else { Duration::ZERO };
    LeaseRequest { holder, number: 1, quota: QUOTA, uses, hold, spare, lasts }
}

fn told(shares: &mut QuotaShares, lease_request: &LeaseRequest, seconds: i64) -> (u32, u32) {
    let grant = shares.exchange(lease_request, at(seconds)).unwrap();
    (grant.places, grant.others)
}

#[test]
fn what_others_leave_is_granted_and_no_more() {
    let mut shares = QuotaShares::default();
    assert_eq!(told(&mut shares, &lease_request(1, &[], 60), 0), (60, 0));
    assert_eq!(told(&mut shares, &lease_request(2, &[], 60), 0), (40, 60));
    assert_eq!(told(&mut shares, &lease_request(3, &[], 60), 0), (0, 100));
    assert_eq!(shares.as_slice().len(), 2);
    // The first returns half of its places.
    let smaller = LeaseRequest { number: 2, ..lease_request(1, &[], 30) };
    assert_eq!(told(&mut shares, &smaller, 1), (30, 40));
    assert_eq!(told(&mut shares, &lease_request(3, &[], 60), 1), (30, 70));
}

#[test]
fn whoever_is_alone_gets_everything_again_and_again() {
    let mut shares = QuotaShares::default();
    for (number, uses) in (2..).zip([&[][..], &[94], &[3, 96], &[0, 50, 50], &[0; 3]]) {
        let lease_request = LeaseRequest { number, ..lease_request(1, uses, 6) };
        let used: u32 = uses.iter().sum();
        assert_eq!(told(&mut shares, &lease_request, 0), ((used + 6).min(100), 0));
    }
}

#[test]
fn a_share_counts_in_full_until_it_ends_and_then_until_what_is_known_of_it_has_gone() {
    let mut shares = QuotaShares::default();
    // Ten in the last two seconds, twenty about ten seconds ago, five so early that they may or may not have
    // been in the last window of the share.
    let mut uses = [0; 30];
    (uses[0], uses[5], uses[29]) = (10, 20, 5);
    let first = LeaseRequest { hold: 45, ..lease_request(1, &uses, 10) };
    assert_eq!(told(&mut shares, &first, 0), (45, 0));
    let others = |seconds| told(&mut shares.clone(), &lease_request(2, &[], 1), seconds).1;
    assert_eq!([9, 10, 49, 50, 59, 60, 69, 70].map(others), [45, 45, 45, 25, 25, 15, 15, 0]);
}

#[test]
fn what_is_given_up_counts_exactly_by_its_slots() {
    let mut shares = QuotaShares::default();
    let mut uses = [0; 30];
    (uses[0], uses[29]) = (10, 5);
    assert_eq!(told(&mut shares, &lease_request(1, &uses, 0), 0), (15, 0));
    let others = |seconds| told(&mut shares.clone(), &lease_request(2, &[], 1), seconds).1;
    assert_eq!([0, 1, 2, 59, 60].map(others), [15, 15, 10, 10, 0]);
    let relief =
        |seconds| shares.clone().exchange(&lease_request(2, &[], 1), at(seconds)).unwrap().relief;
    let after = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!([0, 1, 2, 59, 60].map(relief), [after(2), after(1), after(58), after(1), None]);
}

#[test]
fn what_somebody_goes_by_is_put_on_record_whatever_the_quota_says() {
    let mut shares = QuotaShares::default();
    assert_eq!(told(&mut shares, &lease_request(1, &[], 100), 0), (100, 0));
    // It was suspended past its lease and had used some places: these count, and are no longer its own.
    assert_eq!(told(&mut shares, &lease_request(2, &[30], 60), 0), (0, 100));
    let tight = Quota { limit: 10, ..QUOTA };
    let tightened =
        LeaseRequest { number: 2, hold: 50, quota: tight, ..lease_request(1, &[40], 1) };
    assert_eq!(told(&mut shares, &tightened, 1), (50, 30));
}

/// Until the last share ends no other holder can have its places.
#[test]
fn a_wish_that_comes_after_the_end_of_the_last_share_finds_what_is_left() {
    for (seconds, granted) in [(9, 60), (10, 40)] {
        let mut shares = QuotaShares::default();
        assert_eq!(told(&mut shares, &lease_request(1, &[], 60), 0), (60, 0));
        let late = LeaseRequest { number: 2, hold: 60, ..lease_request(1, &[], 60) };
        shares.exchange(&LeaseRequest { hold: 60, ..lease_request(2, &[], 60) }, at(seconds));
        assert_eq!(told(&mut shares, &late, seconds), (granted, 60));
    }
}

#[test]
fn an_older_wish_that_comes_late_changes_nothing() {
    let mut shares = QuotaShares::default();
    let (first, second) =
        (lease_request(1, &[], 10), LeaseRequest { number: 2, ..lease_request(1, &[], 50) });
    assert_eq!(told(&mut shares, &second, 0), (50, 0));
    let before = shares.clone();
    assert_eq!(shares.exchange(&first, at(1)), None);
    assert_eq!(shares, before);
    // Repeating the request changes nothing.
    assert_eq!(told(&mut shares, &second, 1), (50, 0));
    assert_eq!(told(&mut shares, &lease_request(2, &[], 100), 1), (50, 50));
}

#[test]
fn a_longer_window_of_whoever_asks_counts_what_others_did_for_as_long() {
    let mut shares = QuotaShares::default();
    assert_eq!(told(&mut shares, &lease_request(1, &[40], 0), 0), (40, 0));
    let long = Quota { window: Duration::from_secs(600), ..QUOTA };
    let other = |seconds| {
        told(
            &mut shares.clone(),
            &LeaseRequest { quota: long, ..lease_request(2, &[], 100) },
            seconds,
        )
    };
    assert_eq!(other(599), (60, 40));
    assert_eq!(other(600), (100, 0));
}

#[test]
fn shares_are_over_when_none_counts() {
    let mut shares = QuotaShares::default();
    assert_eq!(shares.over_at(), None);
    told(&mut shares, &lease_request(1, &[3], 1), 0);
    told(&mut shares, &lease_request(2, &[3], 0), 5);
    assert_eq!(shares.over_at(), Some(at(70)));
    told(&mut shares, &LeaseRequest { number: 2, ..lease_request(1, &[], 0) }, 65);
    assert_eq!(shares.as_slice(), []);
}

#[test]
fn a_share_told_before_the_clock_was_set_back_counts_as_one_that_is_told_now() {
    let mut shares = QuotaShares::default();
    let mut uses = [0; 30];
    uses[0] = 10;
    assert_eq!(told(&mut shares, &lease_request(1, &uses, 20), 3_600), (30, 0));
    let mut others = |seconds| {
        let lease_request = LeaseRequest {
            number: 1 + u64::try_from(seconds).unwrap(),
            ..lease_request(2, &[], 1)
        };
        told(&mut shares, &lease_request, seconds).1
    };
    assert_eq!([0, 9, 10, 59, 60, 69, 70].map(&mut others), [30, 30, 30, 30, 20, 20, 0]);
}
