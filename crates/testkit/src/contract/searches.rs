//! Promises of [`dwar_operator::SearchStore`].

use crate::contract::{CROWD, ROUNDS, count};
use crate::{Fixtures, MS, START, Stores, minutes, race};
use dwar_kernel::{BlindIndex, KeyMode, ProjectId, SearcherId, Timestamp};
use dwar_operator::{
    AuditFilter, PhoneSearch, SearchAdmission, SearchAllowance, SearchQuota, Searches,
};
use std::sync::Arc;

const HOUR: usize = SearchQuota::ALL[0].numbers as usize;

/// A searcher in a project of their own, with the expected state by the domain.
struct Searcher<'stores> {
    stores: &'stores Stores,
    make: Fixtures,
    id: SearcherId,
    project: ProjectId,
    known: Searches,
}

impl<'stores> Searcher<'stores> {
    fn new(stores: &'stores Stores) -> Self {
        let make = Fixtures::random();
        let (id, project) = (make.id(), make.id());
        Self { stores, make, id, project, known: Searches::default() }
    }

    fn number(&self) -> BlindIndex {
        self.make.line(self.project.in_mode(KeyMode::Live)).index
    }

    fn search(&self, number: BlindIndex, now: Timestamp) -> PhoneSearch {
        let entry = self.make.audit_entry(self.project, now);
        PhoneSearch { searcher: self.id, number, entry }
    }

    async fn admit(&mut self, number: BlindIndex, now: Timestamp) -> SearchAdmission {
        let search = self.search(number, now);
        let said = self.stores.console.searches.admit_search(search, now).await.unwrap();
        assert_eq!(said, self.known.admit(number, now));
        said
    }

    async fn entries(&self) -> usize {
        let filter = AuditFilter { project: Some(self.project), ..AuditFilter::default() };
        self.stores.console.audit.page(filter, None, 1_000).await.unwrap().len()
    }
}

const fn is_counted(admission: &SearchAdmission) -> bool {
    matches!(admission, SearchAdmission::Counted(_))
}

/// As many numbers are admitted in an hour as the domain says, to the exact instant; only counted searches
/// are in the audit log.
pub async fn numbers_are_admitted_as_the_domain_says(stores: &Stores) {
    let mut one = Searcher::new(stores);
    let first = one.number();
    assert!(is_counted(&one.admit(first, START).await));
    assert!(matches!(one.admit(first, START + MS).await, SearchAdmission::Repeated(_)));
    for _ in 1..HOUR {
        let number = one.number();
        assert!(is_counted(&one.admit(number, START + MS).await));
    }
    assert_eq!(one.entries().await, HOUR);
    let (number, over) = (one.number(), START + minutes(60));
    for now in [START + MS, over - MS] {
        let [quota, _] = SearchQuota::ALL;
        let refused = SearchAdmission::Refused { quota, until: over };
        assert_eq!(one.admit(number, now).await, refused);
        assert!(matches!(one.admit(first, now).await, SearchAdmission::Repeated(_)));
    }
    assert_eq!(one.entries().await, HOUR);
    assert!(is_counted(&one.admit(number, over).await));
    assert!(!is_counted(&one.admit(first, over).await), "its hour is over, and no other is free");
    assert_eq!(one.entries().await, HOUR + 1);
}

/// As many numbers are admitted in a day as the domain says, to the exact instant.
pub async fn numbers_of_a_day_are_admitted_as_the_domain_says(stores: &Stores) {
    let mut one = Searcher::new(stores);
    let [_, quota] = SearchQuota::ALL;
    for searched in 0..quota.numbers {
        let number = one.number();
        assert!(is_counted(&one.admit(number, START + minutes(2) * searched).await));
    }
    let (number, over) = (one.number(), START + minutes(24 * 60));
    let refused = SearchAdmission::Refused { quota, until: over };
    assert_eq!(one.admit(number, over - MS).await, refused);
    let left = SearchAllowance { quota, remaining: 0, resets_at: over + minutes(2) };
    assert_eq!(one.admit(number, over).await, SearchAdmission::Counted(left));
}

/// Searches of one searcher do not count for another.
pub async fn searchers_are_counted_by_themselves(stores: &Stores) {
    let (mut one, mut other) = (Searcher::new(stores), Searcher::new(stores));
    let number = one.number();
    for _ in 0..HOUR {
        let number = one.number();
        one.admit(number, START).await;
    }
    assert!(!is_counted(&one.admit(number, START).await));
    assert!(is_counted(&other.admit(number, START).await));
    assert_eq!((one.entries().await, other.entries().await), (HOUR, 1));
}

/// Two hundred concurrent searches are admitted up to the same limit as searches one after another. Only
/// admitted ones are in the audit log.
pub async fn searches_at_once_are_admitted_up_to_the_limit(stores: &Stores) {
    for _ in 0..ROUNDS {
        let one = Searcher::new(stores);
        let answers = race(CROWD, |_| {
            let (store, search) =
                (Arc::clone(&stores.console.searches), one.search(one.number(), START));
            async move { store.admit_search(search, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, is_counted), HOUR);
        assert_eq!(one.entries().await, HOUR);
    }
}

/// Many concurrent searches for one number count once.
pub async fn one_number_at_once_counts_once(stores: &Stores) {
    for _ in 0..ROUNDS {
        let one = Searcher::new(stores);
        let number = one.number();
        let answers = race(50, |_| {
            let (store, search) = (Arc::clone(&stores.console.searches), one.search(number, START));
            async move { store.admit_search(search, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, is_counted), 1);
        assert_eq!(one.entries().await, 1);
    }
}

/// Fresh: a sweep deletes searches that no longer count at the instant.
pub async fn sweep_drops_what_counts_no_more(stores: &Stores) {
    let mut one = Searcher::new(stores);
    for now in [START, START + MS] {
        let number = one.number();
        one.admit(number, now).await;
    }
    let over = START + minutes(24 * 60);
    assert_eq!(stores.console.searches.sweep(over - MS).await.unwrap(), 0);
    assert_eq!(stores.console.searches.sweep(over).await.unwrap(), 1);
    assert_eq!(stores.console.searches.sweep(over).await.unwrap(), 0);
    let number = one.number();
    assert!(is_counted(&one.admit(number, over).await));
}
