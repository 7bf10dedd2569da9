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
use dwar_ratelimit::guard::{GuardMark, GuardedPhone, StandingTake};
use dwar_sql::schema::{guess_budgets, identities, otps, projects, send_slots, wallets};
use dwar_sql::{At, BudgetRow, GuardMarkRow, Id, WalletRow, WalletSettings, of_phone};

pub(super) fn prepare(
    connection: &mut SqliteConnection,
    send: &NewSend,
    now: Timestamp,
) -> Result<Prepared, Failure> {
    let Found { mut log, purse, is_known, has_code, phone } = find(connection, send, now)?;
    let (key, otp) = (send.key(), &send.otp);
    if is_known {
        let known = row::by_id(connection, key.project_mode.project, otp.id)?;
        return match known.is_some_and(|known| send.is_unchanged(&known)) {
            true => {
                let mark = mark(connection, otp)?;
                Ok(Prepared::Ready(send.admit(&mut log, now)).marked(mark))
            }
            false => Err(unavailable("a send that was repeated has been changed since").into()),
        };
    }
    let set_aside = |own| hold(connection, purse, own, send.entry);
    let prepared = send.judge(&mut log, set_aside, now)?;
    let mut mark = None;
    if let Prepared::Ready(admission) = &prepared {
        if let Some(phone) = phone {
            let standing = if has_code { standing(connection, otp)? } else { None };
            mark = send.mark(admission, &GuardedPhone { standing, ..phone }, now);
        }
        if has_code && send.supersedes() {
            row::supersede(connection, otp)?;
        }
        row::insert(connection, &send.recorded(admission), mark.as_ref())?;
        if send.takes_place() {
            take_place(connection, &key, otp.id, now)?;
        }
    }
    Ok(prepared.marked(mark))
}

/// The take of the open code of a phone.
fn standing(connection: &mut SqliteConnection, otp: &Otp) -> Result<Option<StandingTake>, Failure> {
    let (id, mark): (Id, GuardMarkRow) =
        of_phone!(otps of otp.project_mode, otp.phone.0.as_slice())
            .filter(row::is_open())
            .select((otps::id, GuardMarkRow::as_select()))
            .get_result(connection)?;
    Ok(mark.standing(id)?)
}

/// The mark with which a send is on record.
fn mark(connection: &mut SqliteConnection, otp: &Otp) -> Result<Option<GuardMark>, Failure> {
    let id = Id::from(otp.id);
    let row = otps::table.find(id).select(GuardMarkRow::as_select());
    Ok(row.get_result(connection)?.into_mark(id)?)
}

struct Found {
    /// The log without the send's own place, which exists if the call is repeated.
    log: SendLog,
    purse: StoredWallet,
    is_known: bool,
    has_code: bool,
    /// For the guard, without the take of the open code; `None` if the send is not guarded.
    phone: Option<GuardedPhone>,
}

fn find(
    connection: &mut SqliteConnection,
    send: &NewSend,
    now: Timestamp,
) -> Result<Found, Failure> {
    let Otp { id, project_mode, .. } = send.otp;
    let (places, beside): (Vec<_>, Vec<_>) = joined(connection, send, now)?.into_iter().unzip();
    let gone = || unavailable("the project of a send is gone");
    let ((budget, wallet, settings, is_known, has_code), phone) =
        beside.into_iter().next().ok_or_else(gone)?;
    let others = places.into_iter().flatten().filter(|place| place.send_id != Id::from(id));
    let log = log_of(others, budget)?;
    Ok(Found {
        log,
        purse: StoredWallet::new(project_mode.project, wallet, settings),
        is_known,
        has_code,
        phone: phone.map(|(is_known, earned)| GuardedPhone { is_known, earned, standing: None }),
    })
}

/// Columns repeated on every joined row.
type JoinedRow = (Option<BudgetRow>, Option<WalletRow>, WalletSettings, bool, bool);

/// Whether the phone has an identity, and whether it has earned today.
type PhoneColumns = (bool, bool);

/// A place of the phone, if it has one, with the rest.
type PlaceWithRest = (Option<PlaceRow>, (JoinedRow, Option<PhoneColumns>));

/// The places of the phone, each with the rest; of a phone without places one row without a place. One statement, since
/// the thread that writes is what sends wait for.
fn joined(
    connection: &mut SqliteConnection,
    send: &NewSend,
    now: Timestamp,
) -> QueryResult<Vec<PlaceWithRest>> {
    let Otp { id, project_mode, .. } = send.otp;
    let (own, word) = (Id::from(id), project_mode.mode.as_str());
    let index = || send.otp.phone.0.to_vec();
    let budget = guess_budgets::project_id
        .eq(projects::id)
        .and(guess_budgets::mode.eq(word))
        .and(guess_budgets::phone_index.eq(index()));
    let place = send_slots::project_id
        .eq(projects::id)
        .and(send_slots::mode.eq(word))
        .and(send_slots::phone_index.eq(index()));
    let query = projects::table
        .left_join(wallets::table)
        .left_join(guess_budgets::table.on(budget))
        .left_join(send_slots::table.on(place))
        .filter(projects::id.eq(Id::from(project_mode.project)))
        .order(send_slots::taken_at);
    let is_known = exists(otps::table.find(own).select(otps::id));
    let has_code =
        exists(of_phone!(otps of project_mode, index()).filter(row::is_open()).select(otps::id));
    let (place, budget) = (Option::<PlaceRow>::as_select(), Option::<BudgetRow>::as_select());
    let (wallet, settings) = (Option::<WalletRow>::as_select(), WalletSettings::as_select());
    if send.guard.is_none() {
        let columns = (budget, wallet, settings, is_known, has_code);
        let rows: Vec<(_, JoinedRow)> = query.select((place, columns)).load(connection)?;
        return Ok(rows.into_iter().map(|(place, row)| (place, (row, None))).collect());
    }
    let since = now - GuardMark::EARNS_EVERY;
    let identity = of_phone!(identities of project_mode, index()).select(identities::id);
    let earned = of_phone!(otps of project_mode, index())
        .filter(otps::id.ge(Id::first_at(since)))
        .filter(otps::created_at.gt(At::from(since)))
        .filter(otps::state.eq(OtpState::Used.as_str()))
        .select(otps::id);
    let columns = (budget, wallet, settings, is_known, has_code, exists(identity), exists(earned));
    let rows: Vec<(_, (_, _, _, bool, bool, bool, bool))> =
        query.select((place, columns)).load(connection)?;
    let apart = |(place, (budget, wallet, settings, is_known, has_code, identity, earned))| {
        (place, ((budget, wallet, settings, is_known, has_code), Some((identity, earned))))
    };
    Ok(rows.into_iter().map(apart).collect())
}
