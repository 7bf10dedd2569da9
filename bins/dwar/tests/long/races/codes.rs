//! Guesses at one code.

use super::{CROWD, Herd, ROUNDS, alive, expect, keys, verification, winners};
use crate::common::{Database, Service, tally, wrong};

on_both_databases! {
    the_right_code_opens_once;
    the_right_code_opens_once_for_two_processes;
    wrong_codes_are_counted_one_by_one;
    wrong_codes_are_counted_one_by_one_by_two_processes;
    right_and_wrong_codes_race;
}

async fn the_right_code_opens_once(database: Database) {
    open_once(Herd::one(database)).await;
}

async fn the_right_code_opens_once_for_two_processes(database: Database) {
    open_once(Herd::two(database)).await;
}

async fn open_once(herd: Herd) {
    let project = herd.world().project("100");
    for round in 0..ROUNDS {
        let (key, ..) = keys(&project)[round % 2];
        let phone = herd.world().phone();
        herd.first().send(key, &phone).await.ok();
        let code = herd.first().code(key, &phone).await;
        let answers =
            herd.race(CROWD, |service, _| verification(service, key, &phone, &code)).await;
        expect(&answers, &[("200", 1), ("OTP_NOT_FOUND", CROWD - 1)]);
        alive(herd.first(), key, winners(&answers)[0]).await;
    }
}

async fn wrong_codes_are_counted_one_by_one(database: Database) {
    count_one_by_one(Herd::one(database)).await;
}

async fn wrong_codes_are_counted_one_by_one_by_two_processes(database: Database) {
    count_one_by_one(Herd::two(database)).await;
}

async fn count_one_by_one(herd: Herd) {
    let project = herd.world().project("100");
    for round in 0..ROUNDS {
        let (key, guesses, _) = keys(&project)[round % 2];
        let phone = herd.world().phone();
        herd.first().send(key, &phone).await.ok();
        let code = herd.first().code(key, &phone).await;
        let guess = |service: &Service, n: usize| {
            let guess = wrong(&code, u32::try_from(n).unwrap());
            verification(service, key, &phone, &guess)
        };
        let answers = herd.race(CROWD, guess).await;
        expect(&answers, &[("INVALID_OTP", guesses), ("VERIFY_RATE_LIMITED", CROWD - guesses)]);
        for service in &herd.0 {
            service.verify(key, &phone, &code).await.refused(429, "VERIFY_RATE_LIMITED");
        }
    }
}

/// The codes are judged in any order. There is at most one login, there are no more wrong guesses than
/// allowed, and there is no lock if there is a login.
async fn right_and_wrong_codes_race(database: Database) {
    let herd = Herd::one(database);
    let project = herd.world().project("100");
    for round in 0..2 * ROUNDS {
        let (key, guesses, _) = keys(&project)[round % 2];
        let phone = herd.world().phone();
        herd.first().send(key, &phone).await.ok();
        let code = herd.first().code(key, &phone).await;
        let guess = |service: &Service, n: usize| {
            let guess = if n.is_multiple_of(4) { code.clone() } else { wrong(&code, 0) };
            verification(service, key, &phone, &guess)
        };
        let answers = herd.race(CROWD, guess).await;
        let count = |outcome| tally(&answers).get(outcome).copied().unwrap_or_default();
        let (opened, wrong_codes) = (count("200"), count("INVALID_OTP"));
        let (locked, late) = (count("VERIFY_RATE_LIMITED"), count("OTP_NOT_FOUND"));
        assert_eq!(opened + wrong_codes + locked + late, CROWD, "{:?}", tally(&answers));
        if opened == 1 {
            assert!(wrong_codes < guesses && locked == 0, "{:?}", tally(&answers));
        } else {
            assert_eq!((opened, wrong_codes, late), (0, guesses, 0));
        }
    }
}
