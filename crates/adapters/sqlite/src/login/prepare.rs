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
use dwar_ratelimit::guard::{GuardMark, GuardedPhone};
use dwar_sql::schema::{guess_budgets, identities, otps, projects, send_slots, wallets};
use dwar_sql::{At, BudgetRow, GuardMarkRow, Id, WalletRow, WalletSettings, of_phone};

pub(super) fn prepare(
    connection: &mut SqliteConnection,
    send: &NewSend,
    now: Timestamp,
) -> Result<Prepared, Failure> {
    let Found { mut log, purse, is_known, has_code } = find(connection, send)?;
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
        if send.guard.is_some() {
            mark = send.mark(admission, &guarded_phone(connection, otp, has_code, now)?, now);
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

/// What is on record of the phone of a send for the guard.
fn guarded_phone(
    connection: &mut SqliteConnection,
    otp: &Otp,
    has_code: bool,
    now: Timestamp,
) -> Result<GuardedPhone, Failure> {
    let phone = otp.phone.0.as_slice();
    let open: Option<(Id, GuardMarkRow)> = match has_code {
        true => of_phone!(otps of otp.project_mode, phone)
            .filter(row::is_open())
            .select((otps::id, GuardMarkRow::as_select()))
            .get_result(connection)
            .optional()?,
        false => None,
    };
    let since = now - GuardMark::EARNS_EVERY;
    let earned = of_phone!(otps of otp.project_mode, phone)
        .filter(otps::id.ge(Id::first_at(since)))
        .filter(otps::created_at.gt(At::from(since)))
        .filter(otps::state.eq(OtpState::Used.as_str()))
        .select(otps::id);
    let known = of_phone!(identities of otp.project_mode, phone).select(identities::id);
    let (is_known, earned) =
        diesel::select((exists(known), exists(earned))).get_result(connection)?;
    let standing = open.map(|(id, mark)| mark.standing(id)).transpose()?.flatten();
    Ok(GuardedPhone { is_known, earned, standing })
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
}

fn find(connection: &mut SqliteConnection, send: &NewSend) -> Result<Found, Failure> {
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
    let rows: Vec<(Option<PlaceRow>, JoinedColumns)> = projects::table
        .left_join(wallets::table)
        .left_join(guess_budgets::table.on(budget))
        .left_join(send_slots::table.on(place))
        .filter(projects::id.eq(Id::from(project_mode.project)))
        .order(send_slots::taken_at)
        .select((
            Option::<PlaceRow>::as_select(),
            (
                Option::<BudgetRow>::as_select(),
                Option::<WalletRow>::as_select(),
                WalletSettings::as_select(),
                exists(otps::table.find(own).select(otps::id)),
                exists(
                    of_phone!(otps of project_mode, index())
                        .filter(row::is_open())
                        .select(otps::id),
                ),
            ),
        ))
        .load(connection)?;
    let (places, beside): (Vec<_>, Vec<JoinedColumns>) = rows.into_iter().unzip();
    let gone = || unavailable("the project of a send is gone");
    let (budget, wallet, settings, is_known, has_code) =
        beside.into_iter().next().ok_or_else(gone)?;
    let others = places.into_iter().flatten().filter(|place| place.send_id != own);
    let log = log_of(others, budget)?;
    Ok(Found {
        log,
        purse: StoredWallet::new(project_mode.project, wallet, settings),
        is_known,
        has_code,
    })
}

/// Columns repeated on every joined row.
type JoinedColumns = (Option<BudgetRow>, Option<WalletRow>, WalletSettings, bool, bool);
