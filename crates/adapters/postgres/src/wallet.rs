use crate::PostgresStore;
use crate::audit;
use crate::convert::Row;
use crate::error::Failure;
use crate::event;
use crate::schema::{ledger_entries, projects, wallet_holds, wallets};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_event::{Event, EventKind, Subject};
use dwar_kernel::{EntryId, KeyMode, OtpId, ProjectId, StoreError, Timestamp};
use dwar_wallet::{
    Adjusted, Adjustment, Audit, Balance, Credit, EntryKind, HoldOutcome, LedgerEntry, OpenHold,
    Paise, Refunded, Settlement, WalletStore,
};
use uuid::Uuid;

/// What a ledger entry is made of before the wallet has taken it in.
struct Movement<'reference> {
    id: EntryId,
    kind: EntryKind,
    amount: i64,
    held: i64,
    reference: &'reference str,
    at: Timestamp,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = ledger_entries)]
struct EntryRow {
    id: Uuid,
    kind: String,
    amount: i64,
    held: i64,
    balance_after: i64,
    held_after: i64,
    reference: String,
    made_at: Timestamp,
}

impl TryFrom<EntryRow> for LedgerEntry {
    type Error = StoreError;

    fn try_from(row: EntryRow) -> Result<Self, StoreError> {
        let read = Row::new("ledger_entries", row.id);
        Ok(Self {
            id: row.id.into(),
            kind: read.known("kind", EntryKind::from_word(&row.kind))?,
            amount: Paise(row.amount),
            held: Paise(row.held),
            after: balance_of((row.balance_after, row.held_after)),
            reference: row.reference,
            at: row.made_at,
        })
    }
}

#[async_trait]
impl WalletStore for PostgresStore {
    async fn credit(
        &self,
        project: ProjectId,
        credit: Credit,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.pool
            .transaction(move |conn| {
                open(conn, project)?;
                lock(conn, project)?;
                let movement = Movement {
                    id: credit.id,
                    kind: EntryKind::Credit,
                    amount: credit.amount.0,
                    held: 0,
                    reference: &credit.reference,
                    at: now,
                };
                if amount_of(conn, project, movement.kind, movement.reference)?.is_some() {
                    return Ok(false);
                }
                Ok(post(conn, project, &movement)?.is_some())
            })
            .await
    }

    async fn hold(
        &self,
        project: ProjectId,
        send: OtpId,
        amount: Paise,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<HoldOutcome, StoreError> {
        let reference = send.to_string();
        // The request is issued after this, on disk, before any provider is called.
        self.pool
            .transaction_ahead_of_disk(move |conn| {
                if amount == Paise::ZERO {
                    // Nothing covers nothing, even where no wallet was opened by a credit.
                    open(conn, project)?;
                }
                let movement = Movement {
                    id: entry,
                    kind: EntryKind::Hold,
                    amount: 0,
                    held: amount.0,
                    reference: &reference,
                    at: now,
                };
                if post(conn, project, &movement)?.is_none() {
                    return Ok(HoldOutcome::Insufficient);
                }
                diesel::insert_into(wallet_holds::table)
                    .values((
                        wallet_holds::send_id.eq(send.uuid()),
                        wallet_holds::project_id.eq(project.uuid()),
                        wallet_holds::amount.eq(amount.0),
                        wallet_holds::held_since.eq(now),
                    ))
                    .execute(conn)?;
                Ok(HoldOutcome::Held)
            })
            .await
    }

    async fn settle(
        &self,
        project: ProjectId,
        send: OtpId,
        settlement: Settlement,
        entries: [EntryId; 2],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let reference = send.to_string();
        // Lost in a crash, the hold is still open, and the sweep settles it by what is on record.
        self.pool
            .transaction_ahead_of_disk(move |conn| {
                let hold = wallet_holds::table
                    .find(send.uuid())
                    .filter(wallet_holds::project_id.eq(project.uuid()));
                // Whoever deletes the hold settles it.
                let held: Option<i64> = diesel::delete(hold)
                    .returning(wallet_holds::amount)
                    .get_result(conn)
                    .optional()?;
                let Some(held) = held else { return Ok(false) };
                let movement = |id, kind, amount, held| Movement {
                    id,
                    kind,
                    amount,
                    held,
                    reference: &reference,
                    at: now,
                };
                let spent = match settlement {
                    Settlement::Capture(Paise(price)) => price.clamp(0, held),
                    Settlement::Release => 0,
                };
                let [capture, release] = entries;
                if spent > 0 {
                    let capture = movement(capture, EntryKind::Capture, -spent, -spent);
                    let after = post(conn, project, &capture)?;
                    tell_if_low(conn, project, &capture, after)?;
                }
                if held > spent {
                    post(conn, project, &movement(release, EntryKind::Release, 0, spent - held))?;
                }
                Ok(true)
            })
            .await
    }

    async fn refund(
        &self,
        project: ProjectId,
        send: OtpId,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<Refunded, StoreError> {
        let reference = send.to_string();
        self.pool
            .transaction(move |conn| {
                lock(conn, project)?;
                let captured = amount_of(conn, project, EntryKind::Capture, &reference)?;
                let Some(captured) = captured else { return Ok(Refunded::NothingCaptured) };
                let movement = Movement {
                    id: entry,
                    kind: EntryKind::Refund,
                    amount: -captured,
                    held: 0,
                    reference: &reference,
                    at: now,
                };
                if amount_of(conn, project, movement.kind, movement.reference)?.is_some() {
                    return Ok(Refunded::Already);
                }
                post(conn, project, &movement)?;
                Ok(Refunded::Refunded(Paise(movement.amount)))
            })
            .await
    }

    async fn adjust(
        &self,
        project: ProjectId,
        adjustment: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError> {
        self.pool
            .transaction(move |conn| {
                if adjustment.amount > Paise::ZERO {
                    open(conn, project)?;
                }
                lock(conn, project)?;
                let movement = Movement {
                    id: adjustment.id,
                    kind: EntryKind::Adjustment,
                    amount: adjustment.amount.0,
                    held: 0,
                    reference: &adjustment.reference,
                    at: now,
                };
                if amount_of(conn, project, movement.kind, movement.reference)?.is_some() {
                    return Ok(Adjusted::Known);
                }
                let after = post(conn, project, &movement)?;
                tell_if_low(conn, project, &movement, after)?;
                Ok(if after.is_some() { Adjusted::Booked } else { Adjusted::Insufficient })
            })
            .await
    }

    async fn balance(&self, project: ProjectId) -> Result<Balance, StoreError> {
        self.pool
            .run(move |conn| {
                let found: Option<(i64, i64)> = wallets::table
                    .find(project.uuid())
                    .select((wallets::balance, wallets::held))
                    .first(conn)
                    .optional()?;
                Ok(found.map(balance_of).unwrap_or_default())
            })
            .await
    }

    async fn statement(
        &self,
        project: ProjectId,
        limit: u32,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        self.pool
            .run(move |conn| {
                let rows: Vec<EntryRow> = ledger_entries::table
                    .filter(ledger_entries::project_id.eq(project.uuid()))
                    .order(ledger_entries::position.desc())
                    .limit(i64::from(limit))
                    .select(EntryRow::as_select())
                    .load(conn)?;
                Ok(rows.into_iter().map(LedgerEntry::try_from).collect::<Result<_, _>>()?)
            })
            .await
    }

    async fn stale_holds(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<OpenHold>, StoreError> {
        self.pool
            .run(move |conn| {
                let rows: Vec<(Uuid, Uuid, i64, Timestamp)> = wallet_holds::table
                    .filter(wallet_holds::held_since.lt(before))
                    .order((wallet_holds::held_since, wallet_holds::send_id))
                    .limit(i64::from(limit))
                    .select((
                        wallet_holds::project_id,
                        wallet_holds::send_id,
                        wallet_holds::amount,
                        wallet_holds::held_since,
                    ))
                    .load(conn)?;
                let hold =
                    |(project, send, amount, since): (Uuid, Uuid, i64, Timestamp)| OpenHold {
                        project: project.into(),
                        send: send.into(),
                        amount: Paise(amount),
                        since,
                    };
                Ok(rows.into_iter().map(hold).collect())
            })
            .await
    }

    async fn audit(&self) -> Result<Audit, StoreError> {
        self.pool.long_snapshot(audit::audit).await
    }
}

/// Makes sure that the project has a wallet.
fn open(conn: &mut PgConnection, project: ProjectId) -> QueryResult<usize> {
    diesel::insert_into(wallets::table)
        .values((
            wallets::project_id.eq(project.uuid()),
            wallets::balance.eq(0),
            wallets::held.eq(0),
            wallets::entries.eq(0),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
}

/// Locks the wallet, if there is one, so that nobody else can use a reference meanwhile.
fn lock(conn: &mut PgConnection, project: ProjectId) -> QueryResult<Option<Uuid>> {
    wallets::table
        .find(project.uuid())
        .select(wallets::project_id)
        .for_update()
        .first(conn)
        .optional()
}

/// What the one entry of this kind and reference added to the balance.
fn amount_of(
    conn: &mut PgConnection,
    project: ProjectId,
    kind: EntryKind,
    reference: &str,
) -> QueryResult<Option<i64>> {
    ledger_entries::table
        .filter(ledger_entries::project_id.eq(project.uuid()))
        .filter(ledger_entries::kind.eq(kind.as_str()))
        .filter(ledger_entries::reference.eq(reference))
        .select(ledger_entries::amount)
        .first(conn)
        .optional()
}

/// Moves money, writes the entry and gives the wallet right after it; `None` if the balance does
/// not cover what would be held or taken.
///
/// One guarded statement judges and moves, so that no other can come between.
fn post(
    conn: &mut PgConnection,
    project: ProjectId,
    movement: &Movement<'_>,
) -> Result<Option<Balance>, Failure> {
    let free = wallets::balance - wallets::held;
    let after: Option<(i64, i64, i64)> = diesel::update(wallets::table.find(project.uuid()))
        .filter(free.ge(movement.held - movement.amount))
        .set((
            wallets::balance.eq(wallets::balance + movement.amount),
            wallets::held.eq(wallets::held + movement.held),
            wallets::entries.eq(wallets::entries + 1),
        ))
        .returning((wallets::balance, wallets::held, wallets::entries))
        .get_result(conn)
        .optional()?;
    let Some((balance, held, position)) = after else { return Ok(None) };
    diesel::insert_into(ledger_entries::table)
        .values((
            ledger_entries::id.eq(movement.id.uuid()),
            ledger_entries::project_id.eq(project.uuid()),
            ledger_entries::position.eq(position),
            ledger_entries::kind.eq(movement.kind.as_str()),
            ledger_entries::amount.eq(movement.amount),
            ledger_entries::held.eq(movement.held),
            ledger_entries::balance_after.eq(balance),
            ledger_entries::held_after.eq(held),
            ledger_entries::reference.eq(movement.reference),
            ledger_entries::made_at.eq(movement.at),
        ))
        .execute(conn)?;
    Ok(Some(balance_of((balance, held))))
}

/// Puts on record that a movement took the balance below the project's threshold.
fn tell_if_low(
    conn: &mut PgConnection,
    project: ProjectId,
    movement: &Movement<'_>,
    after: Option<Balance>,
) -> Result<(), Failure> {
    let Some(Paise(balance)) = after.map(|after| after.balance) else { return Ok(()) };
    let crossed: Option<Option<i64>> = projects::table
        .find(project.uuid())
        .filter(projects::low_balance.gt(balance))
        .filter(projects::low_balance.le(balance - movement.amount))
        .select(projects::low_balance)
        .first(conn)
        .optional()?;
    let Some(threshold) = crossed.flatten() else { return Ok(()) };
    let subject = Subject::Wallet {
        entry: movement.id,
        balance: Paise(balance),
        threshold: Paise(threshold),
    };
    let (mode, kind, at) = (KeyMode::Live, EventKind::WalletLow, movement.at);
    event::record(conn, &Event { project, mode, kind, subject, at })
}

const fn balance_of((balance, held): (i64, i64)) -> Balance {
    Balance { balance: Paise(balance), held: Paise(held) }
}
