use crate::connection::error::{Failure, unavailable};
use crate::otp::row;
use crate::send_limiter::{PlaceRow, log_of, take_place};
use crate::wallet::{StoredWallet, hold};
use diesel::dsl::exists;
use diesel::prelude::*;
use dwar_kernel::Timestamp;
use dwar_login::{NewSend, Prepared};
use dwar_otp::{Otp, OtpState};
use dwar_ratelimit::SendLog;
use dwar_ratelimit::guard::{GuardMark, GuardedPhone, TakenToken};
use dwar_sql::schema::{guess_budgets, identities, otps, projects, send_slots, wallets};
use dwar_sql::{At, BudgetRow, GuardMarkRow, Id, WalletRow, WalletSettings, of_phone};

pub(super) fn prepare(
    connection: &mut SqliteConnection,
    send: &NewSend,
    now: Timestamp,
) -> Result<Prepared, Failure> {
    let Found { mut log, stored_wallet, is_recorded, has_open_code, phone } =
        find(connection, send, now)?;
    let (key, otp) = (send.key(), &send.otp);
    if is_recorded {
        let recorded = row::by_id(connection, key.project_mode.project, otp.id)?;
        return match recorded.is_some_and(|recorded| send.is_unchanged(&recorded)) {
            true => {
                let mark = recorded_mark(connection, otp)?;
                Ok(Prepared::Ready(send.admit(&mut log, now)).marked(mark))
            }
            false => {
                Err(unavailable("the repeated send was changed after it had been recorded").into())
            }
        };
    }
    let set_aside = |own| hold(connection, stored_wallet, own, send.entry);
    let prepared = send.judge(&mut log, set_aside, now)?;
    let mut mark = None;
    if let Prepared::Ready(admission) = &prepared {
        if let Some(phone) = phone {
            let taken = if has_open_code { taken_token(connection, otp)? } else { None };
            mark = send.mark(admission, &GuardedPhone { taken, ..phone }, now);
        }
        if has_open_code && send.supersedes() {
            row::supersede(connection, otp)?;
        }
        row::insert(connection, &send.recorded(admission), mark.as_ref())?;
        if send.takes_place() {
            take_place(connection, &key, otp.id, now)?;
        }
    }
    Ok(prepared.marked(mark))
}

/// Reads the guard token that the phone's open code stands for; `None` if it stands for none.
fn taken_token(
    connection: &mut SqliteConnection,
    otp: &Otp,
) -> Result<Option<TakenToken>, Failure> {
    let (id, mark): (Id, GuardMarkRow) =
        of_phone!(otps of otp.project_mode, otp.phone.0.as_slice())
            .filter(row::is_open())
            .select((otps::id, GuardMarkRow::as_select()))
            .get_result(connection)?;
    Ok(mark.taken(id)?)
}

/// Reads the guard mark that was recorded with a send.
fn recorded_mark(
    connection: &mut SqliteConnection,
    otp: &Otp,
) -> Result<Option<GuardMark>, Failure> {
    let id = Id::from(otp.id);
    let row = otps::table.find(id).select(GuardMarkRow::as_select());
    Ok(row.get_result(connection)?.into_mark(id)?)
}

struct Found {
    /// The log without the send's own place, which exists if the call is repeated.
    log: SendLog,
    stored_wallet: StoredWallet,
    /// Whether an earlier attempt of this call recorded the send.
    is_recorded: bool,
    has_open_code: bool,
    /// The phone as the guard sees it, `taken` left empty; `None` if the send is not guarded.
    phone: Option<GuardedPhone>,
}

fn find(
    connection: &mut SqliteConnection,
    send: &NewSend,
    now: Timestamp,
) -> Result<Found, Failure> {
    let Otp { id, project_mode, .. } = send.otp;
    let (places, shared): (Vec<_>, Vec<_>) = joined(connection, send, now)?.into_iter().unzip();
    let gone = || unavailable("the project of a send is gone");
    let ((budget, wallet, settings, is_recorded, has_open_code), phone) =
        shared.into_iter().next().ok_or_else(gone)?;
    let others = places.into_iter().flatten().filter(|place| place.send_id != Id::from(id));
    let log = log_of(others, budget)?;
    Ok(Found {
        log,
        stored_wallet: StoredWallet::new(project_mode.project, wallet, settings),
        is_recorded,
        has_open_code,
        phone: phone.map(|(has_identity, earned)| GuardedPhone {
            has_identity,
            earned,
            taken: None,
        }),
    })
}

/// Columns that every joined row repeats. The flags tell whether the send is recorded, and whether the phone has an
/// open code.
type SharedColumns = (Option<BudgetRow>, Option<WalletRow>, WalletSettings, bool, bool);

/// Whether the phone has an identity, and whether it verified a code within [`GuardMark::EARNS_EVERY`].
type GuardColumns = (bool, bool);

/// A place of the phone (row of `send_slots`), if it has any, and the columns that do not depend on the place.
type JoinedRow = (Option<PlaceRow>, (SharedColumns, Option<GuardColumns>));

/// Reads one row for each place of the phone, or one row without a place if the phone has none.
///
/// This is one statement, because it runs on the only thread that writes, and other sends wait for that thread.
fn joined(
    connection: &mut SqliteConnection,
    send: &NewSend,
    now: Timestamp,
) -> QueryResult<Vec<JoinedRow>> {
    let Otp { id, project_mode, .. } = send.otp;
    let (id, mode) = (Id::from(id), project_mode.mode.as_str());
    let index = || send.otp.phone.0.to_vec();
    let budget = guess_budgets::project_id
        .eq(projects::id)
        .and(guess_budgets::mode.eq(mode))
        .and(guess_budgets::phone_index.eq(index()));
    let place = send_slots::project_id
        .eq(projects::id)
        .and(send_slots::mode.eq(mode))
        .and(send_slots::phone_index.eq(index()));
    let query = projects::table
        .left_join(wallets::table)
        .left_join(guess_budgets::table.on(budget))
        .left_join(send_slots::table.on(place))
        .filter(projects::id.eq(Id::from(project_mode.project)))
        .order(send_slots::taken_at);
    let is_recorded = exists(otps::table.find(id).select(otps::id));
    let has_open_code =
        exists(of_phone!(otps of project_mode, index()).filter(row::is_open()).select(otps::id));
    let (place, budget) = (Option::<PlaceRow>::as_select(), Option::<BudgetRow>::as_select());
    let (wallet, settings) = (Option::<WalletRow>::as_select(), WalletSettings::as_select());
    if send.guard.is_none() {
        let columns = (budget, wallet, settings, is_recorded, has_open_code);
        let rows: Vec<(_, SharedColumns)> = query.select((place, columns)).load(connection)?;
        return Ok(rows.into_iter().map(|(place, row)| (place, (row, None))).collect());
    }
    let since = now - GuardMark::EARNS_EVERY;
    let identity = of_phone!(identities of project_mode, index()).select(identities::id);
    let earned = of_phone!(otps of project_mode, index())
        .filter(otps::id.ge(Id::first_at(since)))
        .filter(otps::created_at.gt(At::from(since)))
        .filter(otps::state.eq(OtpState::Used.as_str()))
        .select(otps::id);
    let columns =
        (budget, wallet, settings, is_recorded, has_open_code, exists(identity), exists(earned));
    let rows: Vec<(_, (_, _, _, bool, bool, bool, bool))> =
        query.select((place, columns)).load(connection)?;
    let regrouped =
        |(place, (budget, wallet, settings, is_recorded, has_open_code, identity, earned))| {
            (
                place,
                ((budget, wallet, settings, is_recorded, has_open_code), Some((identity, earned))),
            )
        };
    Ok(rows.into_iter().map(regrouped).collect())
}
