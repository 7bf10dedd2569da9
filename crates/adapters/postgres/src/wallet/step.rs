//! Holds and settlements: any number of them on one wallet, as one guarded statement each.
//!
//! A hold is not waited for on disk: the request that comes next takes it there, or is not put on record
//! without it. A settlement is. If a crash of the server took it back, its hold would be open again, to be
//! settled by what is on record of the request; and that may be erased by then.

use crate::connection::error::Failure;
use crate::connection::project_queue::Joined;
use crate::connection::statement::{Done, Statement, each};
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::{Array, BigInt, Text};
use dwar_kernel::{EntryId, Event, EventKind, KeyMode, OtpId, ProjectId, Subject, Timestamp};
use dwar_sql::{At, Id};
use dwar_wallet::{Paise, Settlement};

/// What is done to a wallet.
pub(crate) enum WalletStep {
    Hold(Hold),
    Settle(Settle),
}

/// Sets more than nothing aside for a send.
#[derive(Clone, Copy)]
pub(crate) struct Hold {
    pub(crate) send: OtpId,
    pub(crate) amount: Paise,
    pub(crate) entry: EntryId,
    pub(crate) now: Timestamp,
}

/// Ends the hold of a send, with the ids of a capture and of a release.
#[derive(Clone, Copy)]
pub(crate) struct Settle {
    pub(crate) send: OtpId,
    pub(crate) settlement: Settlement,
    pub(crate) entries: [EntryId; 2],
    pub(crate) now: Timestamp,
}

/// [`dwar_wallet::Wallet::hold`] for all holds that are given, or for none: unless there is enough for
/// all of them, each has to be asked for alone. Run again after a lost connection, it finds its own
/// entries and answers the same.
const HOLD: &str = "\
, moved AS ( \
    UPDATE wallets w SET held = w.held + g.total, entries = w.entries + cardinality(g.entries) \
    FROM given g WHERE w.project_id = g.project AND 0 < ALL (g.amounts) \
    AND w.balance - w.held >= g.total \
    AND NOT EXISTS (SELECT FROM ledger_entries WHERE id = ANY ((SELECT entries FROM given)::uuid[])) \
    RETURNING w.balance, w.held - g.total AS held, w.entries - cardinality(g.entries) AS position \
), step AS ( \
    SELECT s.* FROM given g, \
        unnest(g.sends, g.names, g.amounts, g.so_far, g.entries, g.times) WITH ORDINALITY \
        AS s (send, reference, amount, so_far, entry, at, place) \
), written AS ( \
    INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, \
        balance_after, held_after, reference, made_at) \
    SELECT s.entry, g.project, m.position + s.place, 'hold', 0, s.amount, \
        m.balance, m.held + s.so_far, s.reference, s.at \
    FROM moved m CROSS JOIN given g CROSS JOIN step s \
), kept AS ( \
    INSERT INTO wallet_holds (send_id, project_id, amount, held_since) \
    SELECT s.send, g.project, s.amount, s.at FROM moved m CROSS JOIN given g CROSS JOIN step s \
) SELECT EXISTS (SELECT FROM moved) OR cardinality(g.entries) = \
        (SELECT count(*) FROM ledger_entries WHERE id = ANY (g.entries)) AS done, \
    set_config('synchronous_commit', 'off', true) FROM given g";

/// [`dwar_wallet::Wallet::settle`] for all that are given, by one change of the wallet. Whoever deletes
/// a hold settles it; those that have none move nothing. Holds are locked in the order of their sends, so
/// that two who want the same ones cannot deadlock. Run again after a lost connection, it finds its own
/// entries and answers the same.
const SETTLE: &str = "\
, step AS ( \
    SELECT s.* FROM given g, \
        unnest(g.sends, g.names, g.prices, g.captures, g.releases, g.events, g.times) \
        WITH ORDINALITY AS s (send, reference, price, capture, release, event, at, place) \
    ORDER BY s.send \
), ended AS ( \
    DELETE FROM wallet_holds h USING step s \
    WHERE h.send_id = s.send AND h.project_id = (SELECT project FROM given) \
    RETURNING s.*, h.amount, least(s.price, h.amount) AS spent, \
        h.amount - least(s.price, h.amount) AS rest \
), summed AS ( \
    SELECT e.*, sum(spent) OVER until_then AS spent_so_far, sum(amount) OVER until_then AS so_far, \
        sum((spent > 0)::int + (rest > 0)::int) OVER until_then AS entries_so_far \
    FROM ended e WINDOW until_then AS (ORDER BY place) \
), total AS ( \
    SELECT sum(spent)::bigint AS spent, sum(amount)::bigint AS amount, \
        sum((spent > 0)::int + (rest > 0)::int) AS entries FROM ended HAVING count(*) > 0 \
), moved AS ( \
    UPDATE wallets w SET balance = w.balance - t.spent, held = w.held - t.amount, \
        entries = w.entries + t.entries \
    FROM total t WHERE w.project_id = (SELECT project FROM given) \
    RETURNING w.balance + t.spent AS balance, w.held + t.amount AS held, \
        w.entries - t.entries AS position \
), written AS ( \
    INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, \
        balance_after, held_after, reference, made_at) \
    SELECT s.capture, g.project, m.position + s.entries_so_far - (s.rest > 0)::int, 'capture', \
        -s.spent, -s.spent, m.balance - s.spent_so_far, m.held - s.so_far + s.rest, \
        s.reference, s.at \
    FROM moved m CROSS JOIN given g CROSS JOIN summed s WHERE s.spent > 0 \
    UNION ALL \
    SELECT s.release, g.project, m.position + s.entries_so_far, 'release', \
        0, -s.rest, m.balance - s.spent_so_far, m.held - s.so_far, s.reference, s.at \
    FROM moved m CROSS JOIN given g CROSS JOIN summed s WHERE s.rest > 0 \
) SELECT EXISTS (SELECT FROM ended e WHERE e.place = s.place) \
      OR EXISTS (SELECT FROM ledger_entries WHERE id IN (s.capture, s.release)) AS done, \
    (SELECT record_event(event => e.event, project => g.project, world => g.mode, \
        happening => g.kind, moment => e.at, subject => e.capture, \
        paise => (m.balance - e.spent_so_far)::bigint, below => p.low_balance) \
     FROM summed e CROSS JOIN moved m JOIN projects p ON p.id = g.project \
     WHERE e.place = s.place AND m.balance - e.spent_so_far < p.low_balance \
     AND p.low_balance <= m.balance - e.spent_so_far + e.spent) \
FROM step s CROSS JOIN given g ORDER BY s.place";

impl Joined for WalletStep {
    /// Whether it is done.
    type Done = bool;

    /// Each is done at most once.
    fn all(
        steps: &[Self],
        conn: &mut PgConnection,
        project: ProjectId,
        _: bool,
    ) -> Result<Vec<bool>, Failure> {
        let (mut holds, mut settles) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Self::Hold(hold) => holds.push(*hold),
                Self::Settle(settle) => settles.push(*settle),
            }
        }
        // Settlements first: what they give back is there for the holds.
        let mut settled = joined(&settles, |settles| settle(conn, project, settles))?.into_iter();
        let mut held = joined(&holds, |holds| hold(conn, project, holds))?.into_iter();
        let done = steps.iter().map(|step| match step {
            Self::Hold(_) => held.next().unwrap_or(false),
            Self::Settle(_) => settled.next().unwrap_or(false),
        });
        Ok(done.collect())
    }
}

/// Asks for all steps at once, and again, alone, for each that was not done then.
///
/// A step that was sent before, over a connection that was lost, may have been under way still: whoever
/// waited for its locks finds it at the second look alone.
fn joined<S: Copy>(
    steps: &[S],
    mut ask: impl FnMut(&[S]) -> QueryResult<Vec<bool>>,
) -> QueryResult<Vec<bool>> {
    if steps.is_empty() {
        return Ok(Vec::new());
    }
    let done = match ask(steps) {
        Err(Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
            vec![false; steps.len()]
        }
        answer => answer?,
    };
    let alone = |(step, done): (&S, bool)| Ok(done || ask(&[*step])?.contains(&true));
    steps.iter().zip(done).map(alone).collect()
}

fn hold(conn: &mut PgConnection, project: ProjectId, holds: &[Hold]) -> QueryResult<Vec<bool>> {
    let so_far = holds.iter().scan(0_i64, |sum, hold| {
        *sum = sum.saturating_add(hold.amount.0);
        Some(*sum)
    });
    let so_far: Vec<i64> = so_far.collect();
    let Done { done } = Statement::new(HOLD)
        .given::<Id, _>("project", Id::from(project))
        .given::<BigInt, _>("total", so_far.last().copied().unwrap_or_default())
        .given::<Array<Id>, _>("sends", each(holds, |hold| Id::from(hold.send)))
        .given::<Array<Text>, _>("names", each(holds, |hold| hold.send.to_string()))
        .given::<Array<BigInt>, _>("amounts", each(holds, |hold| hold.amount.0))
        .given::<Array<BigInt>, _>("so_far", so_far)
        .given::<Array<Id>, _>("entries", each(holds, |hold| Id::from(hold.entry)))
        .given::<Array<At>, _>("times", each(holds, |hold| At::from(hold.now)))
        .get_result(conn)?;
    Ok(vec![done; holds.len()])
}

fn settle(
    conn: &mut PgConnection,
    project: ProjectId,
    settles: &[Settle],
) -> QueryResult<Vec<bool>> {
    let answers: Vec<Done> = Statement::new(SETTLE)
        .given::<Id, _>("project", Id::from(project))
        .given::<Array<Id>, _>("sends", each(settles, |step| Id::from(step.send)))
        .given::<Array<Text>, _>("names", each(settles, |step| step.send.to_string()))
        .given::<Array<BigInt>, _>("prices", each(settles, |step| step.settlement.price().0))
        .given::<Array<Id>, _>("captures", each(settles, |step| Id::from(step.entries[0])))
        .given::<Array<Id>, _>("releases", each(settles, |step| Id::from(step.entries[1])))
        .given::<Array<Text>, _>("events", each(settles, |step| step.low(project).id()))
        .given::<Array<At>, _>("times", each(settles, |step| At::from(step.now)))
        .given::<Text, _>("mode", KeyMode::Live.as_str())
        .given::<Text, _>("kind", EventKind::WalletLow.as_str())
        .load(conn)?;
    Ok(answers.into_iter().map(|answer| answer.done).collect())
}

impl Settle {
    /// What is told if this lets the balance fall below the project's threshold. The figures are not
    /// known yet, and not part of the event's id.
    fn low(&self, project: ProjectId) -> Event {
        let (balance, threshold) = (Paise::ZERO, Paise::ZERO);
        let subject = Subject::Wallet { entry: self.entries[0], balance, threshold };
        let (mode, kind) = (KeyMode::Live, EventKind::WalletLow);
        Event { project, mode, kind, subject, at: self.now }
    }
}
