//! Searches of callers who see phone numbers masked.

use crate::common::Office;
use dwar_console::ManageError;
use dwar_kernel::{KeyMode, ProjectId};
use dwar_memory::Fault;
use dwar_operator::{Access, Action, AuditEntry, Requester, Role, SearchQuota};
use dwar_testkit::{MS, START, minutes, new_token, phone};

const HOUR: u32 = SearchQuota::ALL[0].numbers;

impl Office {
    /// Remaining searches after this one; `None` if searches do not count.
    async fn search(
        &self,
        by: &Requester,
        project: ProjectId,
        number: u32,
    ) -> Result<Option<u32>, ManageError> {
        let project_mode = project.in_mode(KeyMode::Live);
        let (_, left) = self.manage.activity.search(by, project_mode, &phone(number)).await?;
        Ok(left.map(|left| left.remaining))
    }

    async fn searches(&self) -> Vec<AuditEntry> {
        let mut log = self.log().await;
        log.retain(|entry| entry.action == Action::PhoneSearched);
        log
    }
}

#[tokio::test]
async fn whoever_may_unmask_searches_without_a_limit_or_an_entry() {
    let office = Office::open();
    let project = office.project().await;
    let member = office.join("Asha", Access::one(project, Role::Member)).await.operator;
    for number in 0..HOUR + 5 {
        for by in [Requester::operator(&member, None), Requester::command_line()] {
            assert_eq!(office.search(&by, project, number).await.unwrap(), None);
        }
    }
    assert!(office.searches().await.is_empty());
}

#[tokio::test]
async fn whoever_may_not_is_limited_and_written_down_number_by_number() {
    let office = Office::open();
    let (ours, theirs) = (office.project().await, office.project().await);
    let access = Access {
        projects: [(ours, Role::Support), (theirs, Role::Viewer)].into(),
        ..Access::default()
    };
    let meena = office.join("Meena", access).await.operator;
    let by = Requester::operator(&meena, Some([192, 0, 2, 7].into()));
    for number in 0..HOUR {
        let project = if number % 2 == 0 { ours } else { theirs };
        let left = office.search(&by, project, number).await.unwrap();
        assert_eq!(left, Some(HOUR - 1 - number), "one count over all projects");
        office.clock.advance(MS);
    }
    // The same number again, and by the other kind of search.
    assert_eq!(office.search(&by, ours, 0).await.unwrap(), Some(0));
    let project_mode = theirs.in_mode(KeyMode::Live);
    let refused = office.manage.activity.search(&by, project_mode, &phone(77)).await;
    let Err(ManageError::SearchedTooMuch { until, seconds }) = refused else {
        panic!("{refused:?}")
    };
    // The first of them was an hour before that.
    assert_eq!((until, seconds), (START + minutes(60), 3_600));
    let log = office.searches().await;
    assert_eq!(log.len(), HOUR as usize);
    let last = &log[0];
    assert_eq!((&last.actor, last.from, last.project), (&by.actor, by.from, Some(theirs)));
    assert_eq!(last.subject, phone(HOUR - 1).to_string());
    assert_eq!(last.after.as_deref(), Some(r#"{"mode":"live"}"#));
}

#[tokio::test]
async fn each_operator_and_each_token_has_a_count_of_its_own() {
    let office = Office::open();
    let project = office.project().await;
    let access = Access::one(project, Role::Support);
    let meena = office.join("Meena", access.clone()).await.operator;
    let tokens = &office.manage.tokens;
    let new = |name| new_token(name, access.clone(), minutes(90));
    let (one, _) = tokens.make(&Requester::command_line(), new("one")).await.unwrap();
    let (other, _) = tokens.make(&Requester::command_line(), new("other")).await.unwrap();
    for by in [
        Requester::operator(&meena, None),
        Requester::token(&one, None),
        Requester::token(&other, None),
    ] {
        assert_eq!(office.search(&by, project, 1).await.unwrap(), Some(HOUR - 1));
    }
    // A caller whose searches count cannot make tokens.
    let by = Requester::operator(&meena, None);
    assert!(tokens.make(&by, new("mine")).await.is_err());
}

/// A role without the right, or a store that fails, gets no answer and leaves no entry.
#[tokio::test]
async fn a_search_that_is_not_admitted_is_not_made() {
    let office = Office::open();
    let (project, elsewhere) = (office.project().await, office.project().await);
    let meena = office.join("Meena", Access::one(project, Role::Support)).await.operator;
    let by = Requester::operator(&meena, None);
    let refused = office.search(&by, elsewhere, 1).await;
    assert!(matches!(refused, Err(ManageError::NoSuchProject)));
    office.store.faults().next("SearchStore::admit_search", Fault::Fails);
    assert!(matches!(office.search(&by, project, 1).await, Err(ManageError::Store(_))));
    assert!(office.searches().await.is_empty());
    assert_eq!(office.search(&by, project, 1).await.unwrap(), Some(HOUR - 1));
}
