//! The number of series is bounded, whatever happens.

use dwar_app::{AnsweredRequest, Observer};
use dwar_http::{METHODS, endpoints, refusals};
use dwar_metrics::{Api, Counts, Exposition, ProgramInfo, Providers, Snapshot, SnapshotSource};
use std::sync::Arc;
use std::time::Duration;

const BOUND: usize = 10_000;

struct Nothing;

impl SnapshotSource for Nothing {
    fn read(&self) -> Snapshot {
        Snapshot::default()
    }
}

fn series(exposition: &Exposition) -> usize {
    exposition.text().lines().filter(|line| !line.starts_with('#')).count()
}

#[test]
fn every_answer_to_every_method_of_every_route_stays_below_the_bound() {
    let endpoints = endpoints();
    let routes: Vec<_> = endpoints.iter().map(|it| it.route).collect();
    let api = Api { endpoints, methods: METHODS.to_vec(), refusals: refusals() };
    let counts = Arc::new(Counts::new(api, Providers::default()));
    let about = ProgramInfo { version: "1".to_owned(), database: "memory", started_at: 0.0 };
    let exposition = Exposition::new(counts.clone(), Arc::new(Nothing), about);
    let at_first = series(&exposition);
    let codes: Vec<_> = refusals().into_iter().map(|(_, code)| code).chain(["", "ODD"]).collect();
    let mut told = 0;
    for route in routes.iter().copied().map(Some).chain([None, Some("/odd")]) {
        for method in METHODS.into_iter().chain(["other", "ODD"]) {
            for status in (200..600).map(Some).chain([None]) {
                let code = Some(codes[told % codes.len()]);
                let took = Duration::from_micros(told as u64);
                counts.answered(&AnsweredRequest { route, method, status, code, took });
                told += 1;
            }
        }
    }
    assert!(told > 50_000);
    for (status, code) in refusals().into_iter().chain([(200, ""), (204, ""), (304, "")]) {
        for route in routes.iter().copied().map(Some).chain([None]) {
            for method in METHODS.into_iter().chain(["other"]) {
                let (status, code, took) = (Some(status), Some(code), Duration::ZERO);
                counts.answered(&AnsweredRequest { route, method, status, code, took });
            }
        }
    }
    let now = series(&exposition);
    assert!(at_first < now && now < BOUND, "{at_first} series at first, {now} after everything");
}
