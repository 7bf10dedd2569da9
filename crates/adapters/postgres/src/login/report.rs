//! Records the results of requests, and settles the holds of those that ended. One guarded
//! statement handles any number of one project.

use crate::connection::error::Failure;
use crate::connection::project_queue::BatchedStep;
use crate::connection::statement::{Done, Statement, each};
use crate::otp::row::{Found, placed};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text};
use dwar_kernel::{EntryId, Event, EventKind, KeyMode, ProjectId, Subject, Timestamp};
use dwar_login::{MoneyOutcome, ReportOutcome};
use dwar_otp::{DeliveryAttempt, Otp, Reason};
use dwar_sql::{At, EventRow, Id, sealed_bytes, stored_state};
use dwar_wallet::{Paise, Settlement};

/// The state of a request after a report, with the event and the settlement of its hold that follow, and
/// whether its send slot is forgiven.
pub(crate) struct ReportStep {
    before: Id,
    otp: Otp,
    version: Id,
    event: Option<EventRow>,
    /// How the hold ends, if it does.
    settlement: Option<Settlement>,
    is_forgiven: bool,
    entries: [EntryId; 2],
    now: Timestamp,
}

impl ReportStep {
    /// Makes the step that replaces the request that was read (`found`) by `otp`, with a new version. The
    /// step leaves out a refund: another statement changes the wallet for it.
    pub(crate) fn of(
        found: &Found,
        (otp, concluded): (&Otp, &ReportOutcome),
        version: Id,
        entries: [EntryId; 2],
        now: Timestamp,
    ) -> Self {
        let settlement = match concluded.ending {
            Some(MoneyOutcome::Settle(settlement)) => Some(settlement),
            Some(MoneyOutcome::Refund) | None => None,
        };
        let event = concluded.event.as_ref().map(EventRow::from);
        let (before, otp, is_forgiven) = (found.version, otp.clone(), concluded.is_forgiven);
        Self { before, otp, version, event, settlement, is_forgiven, entries, now }
    }

    /// The event for a settlement that lets the balance fall below the project's threshold. The
    /// figures are not known yet and are not part of the event's id.
    fn low(&self) -> Event {
        let (balance, threshold) = (Paise::ZERO, Paise::ZERO);
        let subject = Subject::Wallet { entry: self.entries[0], balance, threshold };
        let project_mode = self.otp.project_mode.project.in_mode(KeyMode::Live);
        Event { project_mode, kind: EventKind::WalletLow, subject, at: self.now }
    }
}

/// Stores the changes of reports, except where a request has changed since it was read. If
/// the statement runs again with the same steps, it changes nothing, and the request has the new version
/// already. If two steps change the same version of a request, only one is written.
///
/// Requests are locked in the order of their ids, so that two steps on the same requests cannot
/// deadlock. All of them are locked before any hold, event or wallet.
const REPORT: &str = concat!(
    ", step AS ( \
         SELECT s.* FROM given g, unnest(g.otps, g.befores, g.versions, g.codes, g.states, \
             g.otp_statuses, g.dues, g.events, g.kinds, g.vias, g.moments) WITH ORDINALITY \
             AS s (otp, before, version, code, state, status, due, event, kind, via, at, place) \
         ORDER BY s.otp \
     ), changed AS ( \
         UPDATE otps o SET code_sealed = s.code, state = s.state, status = s.status, \
             due_at = s.due, version = s.version \
         FROM step s WHERE o.id = s.otp AND o.version = s.before \
         RETURNING o.id, o.project_id, o.mode, o.phone_index, o.phone_sealed, \
             s.place, s.event, s.kind, s.via, s.at \
     )",
    attempted!(),
);

/// Settles the holds of requests that ended, like [`dwar_wallet::Wallet::settle`], and changes the wallet
/// once for all of them. A hold is settled by the step that deletes the row of the hold. A
/// request without a hold moves no money. Holds are locked in the order of their sends.
///
/// Every other step of the project waits for the wallet. So attempts and events, which do not need
/// the wallet, are written before its lock: only the entries and a low-balance event are written
/// under it.
const SETTLE: &str = concat!(
    ", told AS MATERIALIZED ( SELECT s.place, ",
    told!("c.place = s.place"),
    " AS told FROM step s WHERE (SELECT count(*) FROM changed) >= 0 \
), due AS ( \
    SELECT d.*, c.id AS send FROM given g, \
        unnest(g.settled, g.prices, g.captures, g.releases, g.lows) \
        AS d (place, price, capture, release, low) \
    JOIN changed c ON c.place = d.place ORDER BY c.id \
), ended AS ( \
    DELETE FROM wallet_holds h USING due d \
    WHERE h.send_id = d.send AND h.project_id = (SELECT owner FROM given) \
    RETURNING d.*, h.amount, h.relayed, h.held_since, least(d.price, h.amount) AS spent, \
        h.amount - least(d.price, h.amount) AS rest \
), summed AS ( \
    SELECT e.*, sum(spent) OVER until_then AS spent_so_far, sum(amount) OVER until_then AS so_far, \
        sum((spent > 0)::int + (rest > 0)::int) OVER until_then AS entries_so_far \
    FROM ended e WINDOW until_then AS (ORDER BY place) \
), total AS ( \
    SELECT sum(spent)::bigint AS spent, sum(amount)::bigint AS amount, \
        sum((spent > 0)::int + (rest > 0)::int) AS entries, \
        array_agg(rest) AS rests, array_agg(held_since) AS since FROM ended HAVING count(*) > 0 \
        AND (SELECT count(*) FROM attempted) >= 0 AND (SELECT count(*) FROM told) >= 0 \
), moved AS ( \
    UPDATE wallets w SET balance = w.balance - t.spent, held = w.held - t.amount, \
        entries = w.entries + t.entries, spend = w.spend - least(w.spend, ( \
            SELECT coalesce(sum(r.rest), 0)::bigint FROM unnest(t.rests, t.since) AS r (rest, held_since) \
            WHERE date_bin('24 hours', r.held_since, '2026-01-01T00:00:00+05:30') = w.spend_since \
        )) \
    FROM total t WHERE w.project_id = (SELECT owner FROM given) \
    RETURNING w.balance + t.spent AS balance, w.held + t.amount AS held, \
        w.entries - t.entries AS position \
), written AS ( \
    INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, \
        balance_after, held_after, reference, made_at, relayed) \
    SELECT s.capture, g.owner, m.position + s.entries_so_far - (s.rest > 0)::int, 'capture', \
        -s.spent, -s.spent, m.balance - s.spent_so_far, m.held - s.so_far + s.rest, \
        s.send::text, c.at, s.relayed \
    FROM moved m CROSS JOIN given g CROSS JOIN summed s JOIN changed c ON c.place = s.place \
    WHERE s.spent > 0 \
    UNION ALL \
    SELECT s.release, g.owner, m.position + s.entries_so_far, 'release', \
        0, -s.rest, m.balance - s.spent_so_far, m.held - s.so_far, s.send::text, c.at, \
        s.relayed \
    FROM moved m CROSS JOIN given g CROSS JOIN summed s JOIN changed c ON c.place = s.place \
    WHERE s.rest > 0 \
)"
);

/// For requests that reached nobody: marks their send slots as forgiven. They still count as
/// requests that reached a provider.
const FORGIVE: &str = "\
, forgiven AS ( \
    UPDATE send_slots t SET forgiven = true FROM changed c CROSS JOIN given g \
    WHERE c.place = ANY (g.forgiven) AND t.send_id = c.id \
)";

/// The outcome of each report. Events come last, because their locks follow all others.
const REPORTED: &str = concat!(
    " SELECT EXISTS (SELECT FROM changed c WHERE c.place = s.place) AS done, ",
    told!("c.place = s.place"),
    " AS told FROM step s WHERE (SELECT count(*) FROM changed) >= 0 ORDER BY s.place"
);

/// Like [`REPORTED`], for steps that settle holds. Records a low-balance event if a settlement lets the
/// balance fall below the project's threshold.
const SETTLED: &str = "\
     SELECT EXISTS (SELECT FROM changed c WHERE c.place = s.place) AS done, t.told, \
     (SELECT record_event(event => e.low, project => g.owner, event_mode => g.mode, \
          event_kind => g.low_kind, moment => s.at, subject => e.capture, \
          paise => (m.balance - e.spent_so_far)::bigint, below => p.low_balance) \
      FROM summed e CROSS JOIN moved m CROSS JOIN given g JOIN projects p ON p.id = g.owner \
      WHERE e.place = s.place AND m.balance - e.spent_so_far < p.low_balance \
      AND p.low_balance <= m.balance - e.spent_so_far + e.spent) AS low \
     FROM step s JOIN told t ON t.place = s.place WHERE (SELECT count(*) FROM moved) >= 0 \
     ORDER BY s.place";

impl BatchedStep for ReportStep {
    const NAME: &'static str = "login.report";
    type Done = bool;

    fn all(
        steps: &[Self],
        conn: &mut PgConnection,
        project: ProjectId,
        _: bool,
    ) -> Result<Vec<bool>, Failure> {
        let written: Vec<Done> = write(steps, conn, project)?;
        Ok(written.into_iter().map(|Done { done }| done).collect())
    }
}

pub(crate) fn write(
    steps: &[ReportStep],
    conn: &mut PgConnection,
    project: ProjectId,
) -> QueryResult<Vec<Done>> {
    let settled: Vec<(i64, Settlement, &ReportStep)> = (1..)
        .zip(steps)
        .filter_map(|(place, step)| Some((place, step.settlement?, step)))
        .collect();
    let forgiven: Vec<i64> =
        (1..).zip(steps).filter(|(_, step)| step.is_forgiven).map(|(place, _)| place).collect();
    let statement = Statement::new(REPORT)
        .then((!settled.is_empty()).then_some(SETTLE))
        .then((!forgiven.is_empty()).then_some(FORGIVE))
        .then([if settled.is_empty() { REPORTED } else { SETTLED }])
        .given::<Id, _>("owner", Id::from(project))
        .given::<Array<Id>, _>("otps", each(steps, |step| Id::from(step.otp.id)))
        .given::<Array<Id>, _>("befores", each(steps, |step| step.before))
        .given::<Array<Id>, _>("versions", each(steps, |step| step.version))
        .given::<Array<Nullable<Binary>>, _>(
            "codes",
            each(steps, |step| sealed_bytes(step.otp.sealed_code.as_ref())),
        )
        .given::<Array<Text>, _>("states", each(steps, |step| stored_state(step.otp.state)))
        .given::<Array<Text>, _>(
            "otp_statuses",
            each(steps, |step| step.otp.delivery.status.as_str()),
        )
        .given::<Array<Nullable<At>>, _>(
            "dues",
            each(steps, |step| step.otp.delivery.due_at.map(At::from)),
        )
        .given::<Array<BigInt>, _>("settled", each(&settled, |it| it.0))
        .given::<Array<BigInt>, _>("prices", each(&settled, |it| it.1.price().0))
        .given::<Array<Id>, _>("captures", each(&settled, |it| Id::from(it.2.entries[0])))
        .given::<Array<Id>, _>("releases", each(&settled, |it| Id::from(it.2.entries[1])))
        .given::<Array<Text>, _>("lows", each(&settled, |it| it.2.low().id()))
        .given::<Text, _>("mode", KeyMode::Live.as_str())
        .given::<Text, _>("low_kind", EventKind::WalletLow.as_str())
        .given::<Array<BigInt>, _>("forgiven", forgiven);
    let statement = events!(statement, steps);
    attempts!(statement, steps.iter().map(|step| &step.otp)).load(conn)
}
