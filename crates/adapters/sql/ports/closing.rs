use crate::closing::in_turns;
use crate::dialect::{Conn, Store};
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_kernel::{ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{ledger_closings, ledger_entries, wallet_holds};
use dwar_sql::{
    At, CLOSABLE, CLOSE, ClosableRow, ClosingRow, EntryRow, Id, NEXT_TO_CLOSE, NextRow, all,
    read_all, read_one, stored_position,
};
use dwar_wallet::{Closable, Closing, ClosingStore, EntryKind, LedgerEntry, Month, StatementLine};

#[async_trait]
impl ClosingStore for Store {
    async fn oldest_closable(
        &self,
        project: ProjectId,
        since: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        self.of(project)
            .read("closing.oldest_closable", move |conn| {
                let mut oldest = None;
                for kind in EntryKind::CLOSABLE {
                    // One query per kind, because the index of the times begins with the kind.
                    let query = ledger_entries::table
                        .filter(ledger_entries::project_id.eq(Id::from(project)))
                        .filter(ledger_entries::kind.eq(kind.as_str()))
                        .filter(ledger_entries::made_at.ge(At::from(since)))
                        .order(ledger_entries::made_at)
                        .limit(1);
                    let found: Option<LedgerEntry> = read_one!(EntryRow of query, conn);
                    let at = found.map(|entry| entry.at);
                    oldest = oldest.into_iter().chain(at).min();
                }
                Ok(oldest)
            })
            .await
    }

    async fn closable(
        &self,
        project: ProjectId,
        month: Month,
    ) -> Result<Option<Closable>, StoreError> {
        self.of(project)
            .scan_all("closing.closable", move |conn| {
                let query = diesel::sql_query(CLOSABLE)
                    .bind::<Id, _>(Id::from(project))
                    .bind::<At, _>(At::from(month.since()))
                    .bind::<At, _>(At::from(month.until()));
                let row: ClosableRow = query.get_result(conn)?;
                Ok(row.into())
            })
            .await
    }

    async fn closable_lines(
        &self,
        project: ProjectId,
        month: Month,
        after: u64,
        through: u64,
    ) -> Result<Vec<StatementLine>, StoreError> {
        self.of(project)
            .scan("closing.closable_lines", move |conn| {
                let rows: Vec<EntryRow> = ledger_entries::table
                    .filter(ledger_entries::project_id.eq(Id::from(project)))
                    .filter(ledger_entries::position.gt(stored_position(after)))
                    .filter(ledger_entries::position.le(stored_position(through)))
                    .order(ledger_entries::position)
                    .select(EntryRow::as_select())
                    .load(conn)?;
                let mut lines: Vec<StatementLine> = all(rows)?;
                lines.retain(|line| line.entry.kind.is_closable() && month.contains(line.entry.at));
                Ok(lines)
            })
            .await
    }

    async fn closings(&self, project: ProjectId) -> Result<Vec<Closing>, StoreError> {
        self.of(project)
            .read("closing.closings", move |conn| {
                let query = ledger_closings::table
                    .filter(ledger_closings::project_id.eq(Id::from(project)))
                    .order(ledger_closings::month);
                Ok(read_all!(ClosingRow of query, conn))
            })
            .await
    }

    async fn has_holds_since(
        &self,
        project: ProjectId,
        before: Timestamp,
    ) -> Result<bool, StoreError> {
        self.of(project)
            .read("closing.has_holds_since", move |conn| {
                let open = wallet_holds::table
                    .filter(wallet_holds::project_id.eq(Id::from(project)))
                    .filter(wallet_holds::held_since.lt(At::from(before)));
                Ok(diesel::select(diesel::dsl::exists(open)).get_result(conn)?)
            })
            .await
    }

    async fn begin_closing(&self, closing: Closing) -> Result<bool, StoreError> {
        self.of(closing.project)
            .changing_no_look_up()
            .write("closing.begin_closing", move |conn| {
                let begun = diesel::insert_into(ledger_closings::table)
                    .values(ClosingRow::from(&closing))
                    .on_conflict_do_nothing()
                    .execute(conn)?;
                Ok(begun == 1)
            })
            .await
    }

    async fn close(&self, project: ProjectId, month: Month) -> Result<Option<Closing>, StoreError> {
        let store = self.of(project);
        in_turns(&store, move |conn, most| close_some(conn, project, month, most)).await?;
        let closing = self.closings(project).await?.into_iter().find(|it| it.month == month);
        match closing {
            // Some exported entries are neither stored nor counted: they were deleted.
            Some(closing) if !closing.is_complete() => Err(StoreError::Inconsistent {
                table: "ledger_closings",
                column: "entries",
                row: closing.id.to_string(),
            }),
            closing => Ok(closing),
        }
    }
}

/// One step of a closing: removes the remaining entries at `most` positions, beginning with the
/// next entry, and returns how many it removed. A trigger adds them to the closing and rejects
/// entries of another month.
fn close_some(conn: &mut Conn, project: ProjectId, month: Month, most: i64) -> QueryResult<usize> {
    let place = ledger_closings::table.find((Id::from(project), month.to_string()));
    let query = for_update!(place.select(ClosingRow::as_select()));
    let Some(closing) = query.first(conn).optional()? else { return Ok(0) };
    if closing.entries >= closing.exported {
        return Ok(0);
    }
    let bound = |sql, from, before| {
        diesel::sql_query(sql)
            .bind::<Id, _>(Id::from(project))
            .bind::<BigInt, _>(from)
            .bind::<BigInt, _>(before)
            .bind::<At, _>(closing.since)
            .bind::<At, _>(closing.until)
    };
    let end = closing.last_position.saturating_add(1);
    let next = bound(NEXT_TO_CLOSE, closing.position.saturating_add(1), end);
    let Some(NextRow { position }) = next.get_result(conn).optional()? else { return Ok(0) };
    bound(CLOSE, position, position.saturating_add(most).min(end)).execute(conn)
}
