//! A canary: uses every feature of the service with known secrets, at the most verbose log level.
//! All output of the service is searched for each secret.
//!
//! `scripts/check-canary.sh` plants leaks and checks that they are found.

mod account;
mod broken;
mod coverage;
mod echo;
mod house;
mod learned;
mod management;
mod misplaced;
mod public;
mod reading;
mod receipts;
mod secrets;
mod sources;

use crate::common::{Database, EAR, Ear};
use house::House;
use std::time::Duration;

on_both_databases! {
    nothing_secret_is_ever_told;
}

/// Longer than a receipt, an event or a further provider takes.
const SETTLED: Duration = Duration::from_secs(5);
const STOPPED: Duration = Duration::from_secs(30);
const SHOWN: usize = 40;

async fn nothing_secret_is_ever_told(database: Database) {
    let ear = Ear::default();
    EAR.scope(ear.clone(), run(database, &ear)).await;
}

async fn run(database: Database, ear: &Ear) {
    let mut house = House::open(database).await;
    public::walk(&house).await;
    public::walk_by_echo(&house).await;
    receipts::walk(&house).await;
    account::walk(&house).await;
    management::walk(&house).await;
    misplaced::walk(&house).await;
    let checks = house.service().world.run(&["doctor", "--online"]);
    assert!(!checks.stdout.is_empty());
    house.try_it();
    tokio::time::sleep(SETTLED).await;
    learned::add(&house, ear).await;
    coverage::assert_whole(&house);
    broken::walk(&house).await;
    let metrics = sources::metrics(&house);
    house.service().terminate();
    assert!(house.stage.service.wait(STOPPED).is_some(), "it does not stop");

    let secrets = house.secrets().clone();
    let search = secrets.search();
    let mut sources = sources::all(&house, ear);
    sources.push(metrics);
    let leaks: Vec<String> =
        sources.iter().flat_map(|(place, text)| search.leaks(place, text)).collect();
    let shown = leaks.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(leaks.is_empty(), "{} leaks:\n{shown}", leaks.len());
}
