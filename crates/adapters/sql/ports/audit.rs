use crate::dialect::{Backend, Conn, Store};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{StoreError, Timestamp};
use dwar_operator::{ActorFilter, AuditCursor, AuditEntry, AuditFilter, AuditStore};
use dwar_sql::schema::audit_entries::{self, action, actor_id, happened_at, id, project_id};
use dwar_sql::{At, AuditEntryRow, Id, Row, readable};

#[async_trait]
impl AuditStore for Store {
    async fn append(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.write_one("operator.append", move |conn| {
            // The entry exists already if the call is repeated after a lost answer.
            diesel::insert_into(audit_entries::table)
                .values(AuditEntryRow::from(entry.clone()))
                .on_conflict(id)
                .do_nothing()
                .execute(conn)?;
            Ok(())
        })
        .await
    }

    async fn page(
        &self,
        filter: AuditFilter,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        self.scan("operator.page", move |conn| {
            let (mut after, mut left, mut found) = (after, limit, Vec::new());
            // A page with fewer rows than requested is the last one, even if some rows of other
            // pages cannot be decoded.
            while left > 0 {
                let rows = page(conn, &filter, after, left)?;
                let is_last = u32::try_from(rows.len()).unwrap_or(u32::MAX) < left;
                after = rows.last().and_then(place).filter(|_| !is_last);
                found.extend::<Vec<AuditEntry>>(readable!(rows));
                left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
                if after.is_none() {
                    break;
                }
            }
            Ok(found)
        })
        .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.drop_before("audit_entries", "happened_at", before).await
    }
}

fn place(row: &AuditEntryRow) -> Option<AuditCursor> {
    let read = Row::new("audit_entries", row.id);
    let at = read.at("happened_at", row.happened_at).ok()?;
    Some(AuditCursor { at, id: read.id("id", row.id).ok()? })
}

fn page(
    conn: &mut Conn,
    filter: &AuditFilter,
    after: Option<AuditCursor>,
    limit: u32,
) -> QueryResult<Vec<AuditEntryRow>> {
    let mut wanted = audit_entries::table.into_boxed::<Backend>();
    if let Some(project) = filter.project {
        wanted = wanted.filter(project_id.eq(Id::from(project)));
    }
    if let Some(done_by) = filter.actor {
        wanted = match done_by {
            ActorFilter::CommandLine => wanted.filter(actor_id.is_null()),
            ActorFilter::Id(actor) => wanted.filter(actor_id.eq(Id::from(actor))),
        };
    }
    if let Some(done) = filter.action {
        wanted = wanted.filter(action.eq(done.as_str()));
    }
    if let Some(since) = filter.since {
        wanted = wanted.filter(happened_at.ge(At::from(since)));
    }
    if let Some(until) = filter.until {
        wanted = wanted.filter(happened_at.lt(At::from(until)));
    }
    if let Some(AuditCursor { at, id: last }) = after {
        let at = At::from(at);
        let follows = happened_at.lt(at).or(happened_at.eq(at).and(id.lt(Id::from(last))));
        wanted = wanted.filter(happened_at.le(at)).filter(follows);
    }
    let query = wanted.order((happened_at.desc(), id.desc())).limit(limit.into());
    query.select(AuditEntryRow::as_select()).load(conn)
}
