//! Whether wallets, ledger and open holds agree.

use crate::error::Failure;
use crate::schema::{ledger_entries, wallet_holds, wallets};
use crate::wallet_row::balance;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types;
use dwar_wallet::{Audit, Paise};
use std::collections::HashMap;
use uuid::Uuid;

/// Recomputes every wallet; MUST run in a snapshot.
pub(crate) fn audit(conn: &mut PgConnection) -> Result<Audit, Failure> {
    // sum() of bigint is numeric, which neither the domain nor diesel's casts know.
    let total = |column| sql::<sql_types::BigInt>(column);
    let wallets: Vec<(Uuid, i64, i64)> =
        wallets::table.select((wallets::project_id, wallets::balance, wallets::held)).load(conn)?;
    let entries: Vec<(Uuid, i64, i64)> = ledger_entries::table
        .group_by(ledger_entries::project_id)
        .select((
            ledger_entries::project_id,
            total("sum(amount)::bigint"),
            total("sum(held)::bigint"),
        ))
        .load(conn)?;
    let holds: Vec<(Uuid, i64)> = wallet_holds::table
        .group_by(wallet_holds::project_id)
        .select((wallet_holds::project_id, total("sum(amount)::bigint")))
        .load(conn)?;
    let entries: HashMap<_, _> =
        entries.into_iter().map(|(project, amount, held)| (project, (amount, held))).collect();
    let holds: HashMap<_, _> = holds.into_iter().collect();
    Ok(wallets.into_iter().fold(Audit::default(), |audit, (project, owned, held)| {
        let (amount, entered) = entries.get(&project).copied().unwrap_or_default();
        let open = holds.get(&project).copied().unwrap_or_default();
        audit.and(balance(owned, held), balance(amount, entered), Paise(open))
    }))
}
