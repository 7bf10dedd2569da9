use crate::connection::error::Failure;
use crate::otp::row;
use crate::{event, identity, session};
use diesel::dsl::exists;
use diesel::prelude::*;
use dwar_identity::Identity;
use dwar_kernel::Timestamp;
use dwar_login::{Redeemed, Redemption};
use dwar_otp::{GuessBudget, GuessVerdict, Otp};
use dwar_ratelimit::guard::GuardMark;
use dwar_sql::schema::{guess_budgets, identities, otp_attempts, otps};
use dwar_sql::{AttemptRow, BudgetRow, GuardMarkRow, IdentityRow, OtpRow, maybe, of_phone};

pub(super) fn redeem(
    connection: &mut SqliteConnection,
    redemption: &Redemption,
    now: Timestamp,
) -> Result<Redeemed, Failure> {
    let Some(Found { otp: before, counted, known, is_heard, mark }) = find(connection, redemption)?
    else {
        return Ok(Redeemed::NotFound);
    };
    let (mut otp, mut budget) = (before.clone(), counted);
    let (verdict, event) = redemption.judge(&mut otp, &mut budget, now);
    row::save(connection, &before, &otp)?;
    if budget != counted {
        row::save_budget(connection, &otp, budget)?;
    }
    for event in event.iter().filter(|_| is_heard) {
        event::record(connection, event)?;
    }
    let login = match verdict {
        GuessVerdict::Accepted(_) => redemption.log_in(known),
        _ => None,
    };
    if let Some((identity, session)) = &login {
        identity::save(connection, identity, redemption.phone)?;
        session::begin(connection, session)?;
    }
    Ok(Redeemed::of(verdict, login.map(|(identity, _)| identity.id), mark))
}

struct Found {
    otp: Otp,
    counted: GuessBudget,
    known: Option<Identity>,
    /// Whether the project has any listener for events.
    is_heard: bool,
    mark: Option<GuardMark>,
}

/// The phone's open code, expired or not, with everything that a guess at it depends on.
fn find(
    connection: &mut SqliteConnection,
    redemption: &Redemption,
) -> Result<Option<Found>, Failure> {
    let Redemption { project_mode, phone, .. } = *redemption;
    let budget = guess_budgets::project_id
        .eq(otps::project_id)
        .and(guess_budgets::mode.eq(otps::mode))
        .and(guess_budgets::phone_index.eq(otps::phone_index));
    let identity = identities::project_id
        .eq(otps::project_id)
        .and(identities::mode.eq(otps::mode))
        .and(identities::phone_index.eq(otps::phone_index));
    let rows = of_phone!(otps of project_mode, phone.0.as_slice())
        .filter(row::is_open())
        .left_join(guess_budgets::table.on(budget))
        .left_join(identities::table.on(identity))
        .left_join(otp_attempts::table)
        .select((
            OtpRow::as_select(),
            Option::<AttemptRow>::as_select(),
            (
                Option::<BudgetRow>::as_select(),
                Option::<IdentityRow>::as_select(),
                exists(event::listeners(project_mode.project))
                    .or(exists(event::feeding(project_mode.project))),
                GuardMarkRow::as_select(),
            ),
        ))
        .load::<(OtpRow, Option<AttemptRow>, JoinedColumns)>(connection)?;
    let Some((otp, (counted, known, is_heard, mark))) = row::whole(rows)? else { return Ok(None) };
    let counted: Option<GuessBudget> = maybe(counted)?;
    let mark = mark.into_mark(otp.id.into())?;
    let (counted, known) = (counted.unwrap_or_default(), maybe(known)?);
    Ok(Some(Found { otp, counted, known, is_heard, mark }))
}

/// Columns repeated on every joined row.
type JoinedColumns = (Option<BudgetRow>, Option<IdentityRow>, bool, GuardMarkRow);
