use crate::connection::error::Failure;
use crate::event;
use crate::otp::row;
use crate::ports::wallet::{captured, end_hold};
use crate::send_limiter::forgive;
use crate::wallet::{StoredWallet, book};
use diesel::dsl::exists;
use diesel::prelude::*;
use dwar_kernel::{EntryId, Event, OtpId, ProjectId, Timestamp};
use dwar_login::{MoneyOutcome, ReportOutcome, SendReport};
use dwar_otp::{DeliveryStep, Otp};
use dwar_ratelimit::SendKey;
use dwar_sql::schema::{otp_attempts, otps, projects, wallets};
use dwar_sql::{AttemptRow, Id, OtpRow, WalletRow, WalletSettings};

pub(super) fn report(
    connection: &mut SqliteConnection,
    project: ProjectId,
    otp: OtpId,
    report: &SendReport,
    now: Timestamp,
) -> Result<Option<(Otp, DeliveryStep)>, Failure> {
    let Some(Found { otp: before, purse, is_heard }) = find(connection, project, otp)? else {
        return Ok(None);
    };
    let mut otp = before.clone();
    let ReportOutcome { step, ending, is_forgiven, event } = report.apply(&mut otp, now);
    row::save(connection, &before, &otp)?;
    let moved = match ending {
        Some(ending) => end(connection, purse, ending, &otp, report.entries, now)?,
        None => Vec::new(),
    };
    if is_forgiven {
        let key = SendKey { project_mode: otp.project_mode, phone: otp.phone };
        forgive(connection, &key, otp.id)?;
    }
    for event in event.iter().chain(&moved).filter(|_| is_heard) {
        event::record(connection, event)?;
    }
    Ok(Some((otp, step)))
}

/// Settles the hold of a send that ended, and returns the resulting events.
fn end(
    connection: &mut SqliteConnection,
    purse: StoredWallet,
    ending: MoneyOutcome,
    otp: &Otp,
    entries: [EntryId; 2],
    now: Timestamp,
) -> Result<Vec<Event>, Failure> {
    let (hold, (capture, refunded)) = match ending {
        MoneyOutcome::Settle(_) => {
            (end_hold(connection, otp.project_mode.project, otp.id)?, (None, false))
        }
        MoneyOutcome::Refund => (None, captured(connection, otp.project_mode.project, otp.id)?),
    };
    let money = (hold, capture, refunded);
    let moved = book(connection, otp.project_mode.project, purse, |_, wallet| {
        Ok(ending.book(wallet, money, entries, now))
    })?;
    Ok(moved.events)
}

struct Found {
    otp: Otp,
    purse: StoredWallet,
    /// Whether the project has any listener for events.
    is_heard: bool,
}

fn find(
    connection: &mut SqliteConnection,
    project: ProjectId,
    otp: OtpId,
) -> Result<Option<Found>, Failure> {
    let rows = otps::table
        .inner_join(projects::table.on(projects::id.eq(otps::project_id)))
        .left_join(wallets::table.on(wallets::project_id.eq(otps::project_id)))
        .left_join(otp_attempts::table)
        .filter(otps::id.eq(Id::from(otp)))
        .filter(otps::project_id.eq(Id::from(project)))
        .select((
            OtpRow::as_select(),
            Option::<AttemptRow>::as_select(),
            (
                Option::<WalletRow>::as_select(),
                WalletSettings::as_select(),
                exists(event::listeners(project)).or(projects::events_feed),
            ),
        ))
        .load::<(OtpRow, Option<AttemptRow>, (Option<WalletRow>, WalletSettings, bool))>(
            connection,
        )?;
    let found = row::whole(rows)?;
    Ok(found.map(|(otp, (wallet, settings, is_heard))| Found {
        otp,
        purse: StoredWallet::new(project, wallet, settings),
        is_heard,
    }))
}
