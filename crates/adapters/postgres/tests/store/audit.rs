//! Entries of the audit log never change.

use crate::support::{Database, project};
use diesel::connection::SimpleConnection;
use dwar_operator::{AuditFilter, AuditStore};
use dwar_testkit::{Fixtures, START};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn lines_cannot_be_changed() {
    let database = Database::create();
    let store = database.store().await;
    let make = Fixtures::random();
    let entry = make.audit_entry(project(&store, &make).await.id, START);
    store.append(entry.clone()).await.unwrap();
    // Repeated after a lost answer.
    store.append(entry.clone()).await.unwrap();
    let change = "UPDATE audit_entries SET subject = 'nothing'";
    let refused = database.connection().batch_execute(change).unwrap_err();
    assert_eq!(refused.to_string(), "the audit log is never changed");
    assert_eq!(store.page(AuditFilter::default(), None, 9).await.unwrap(), [entry]);
}
