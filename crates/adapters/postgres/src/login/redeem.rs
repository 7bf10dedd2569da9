//! Applies guesses. One guarded statement handles any number of one project, each with the session
//! that a right guess begins.

use crate::connection::error::Failure;
use crate::connection::project_queue::BatchedStep;
use crate::connection::statement::{Statement, each};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text};
use dwar_kernel::{IdentityId, ProjectId, StoreError, Timestamp};
use dwar_otp::{GuessBudget, Otp};
use dwar_session::Login;
use dwar_sql::{At, BudgetRow, EventRow, Id, Row, stored_count, stored_guesses};

/// A code and the guess budget of its phone, as a guess leaves them.
pub(crate) struct GuessStep {
    /// The version of the code when it was read: the id of the last step that wrote it.
    pub(crate) before: Id,
    pub(crate) version: Id,
    pub(crate) otp: Otp,
    /// The phone's guess budget, if the guess changed it.
    pub(crate) budget: Option<GuessBudget>,
    /// The session to begin, if the guess was right.
    pub(crate) login: Option<Login>,
    pub(crate) event: Option<EventRow>,
    pub(crate) now: Timestamp,
}

pub(crate) enum GuessOutcome {
    /// Recorded. Contains the identity of the session that began, if one did.
    Written(Option<IdentityId>),
    /// The code has changed since it was read.
    Unseen,
    /// Either the code has changed since it was read, or this step wrote it before the connection
    /// was lost.
    InDoubt,
}

/// Stores the guesses, except where a code has changed since it was read. Each guess writes the
/// code, so an unchanged code means an unchanged guess budget.
const GUESS: &str = "\
, step AS ( \
    SELECT s.* FROM given g, unnest(g.otps, g.befores, g.versions, g.states, g.wrongs, g.guesses, \
        g.events, g.kinds, g.vias, g.moments) WITH ORDINALITY \
        AS s (otp, before, version, state, wrong, guesses, event, kind, via, at, place) \
    ORDER BY s.otp \
), changed AS ( \
    UPDATE otps o SET state = s.state, wrong = s.wrong, guesses = s.guesses, version = s.version \
    FROM step s WHERE o.id = s.otp AND o.version = s.before \
    RETURNING o.id, o.project_id, o.mode, o.phone_index, o.phone_sealed, \
        s.place, s.event, s.kind, s.via, s.at \
)";

/// For guesses that changed the budgets of their phones: stores the new counts, and deletes a
/// budget that counts nothing any more.
const COUNT: &str = "\
, counting AS ( \
    SELECT c.project_id, c.mode, c.phone_index, b.* FROM given g, \
        unnest(g.counted_by, g.nothing, g.counts, g.last_wrong, g.began, g.period_wrongs, g.stops, \
            g.device_began, g.device_wrongs) \
        AS b (place, nothing, wrong, last_wrong_at, period_began_at, period_wrong, stopped_at, \
            device_began_at, device_wrong) \
    JOIN changed c ON c.place = b.place \
), counted AS ( \
    INSERT INTO guess_budgets (project_id, mode, phone_index, wrong, last_wrong_at, \
        period_began_at, period_wrong, stopped_at, device_began_at, device_wrong) \
    SELECT project_id, mode, phone_index, wrong, last_wrong_at, period_began_at, period_wrong, \
        stopped_at, device_began_at, device_wrong FROM counting WHERE NOT nothing \
    ON CONFLICT (project_id, mode, phone_index) DO UPDATE SET wrong = excluded.wrong, \
        last_wrong_at = excluded.last_wrong_at, period_began_at = excluded.period_began_at, \
        period_wrong = excluded.period_wrong, stopped_at = excluded.stopped_at, \
        device_began_at = excluded.device_began_at, device_wrong = excluded.device_wrong \
    RETURNING 1 \
), cleared AS ( \
    DELETE FROM guess_budgets b USING counting c WHERE c.nothing \
    AND b.project_id = c.project_id AND b.mode = c.mode AND b.phone_index = c.phone_index \
    RETURNING 1 \
)";

/// For right guesses: finds or creates the identity of each phone and begins its session. Locks
/// identities in the order of their phones, after all codes, so that a deletion either waits for
/// the codes or came first.
const LOG_IN: &str = "\
, login AS ( \
    SELECT l.*, c.project_id, c.mode, c.phone_index FROM given g, unnest(g.logins_of, g.sealed, \
        g.identities, g.sessions, g.begun, g.ends, g.digests, g.generations, g.rotations, \
        g.refresh_ends, g.tokens, g.issued, g.token_ends) AS l (place, sealed, identity, id, \
        created_at, expires_at, refresh_digest, generation, rotations, refresh_expires_at, \
        access_token_id, access_issued_at, access_expires_at) \
    JOIN changed c ON c.place = l.place \
), home AS ( \
    INSERT INTO identities AS i \
        (id, project_id, mode, phone_index, phone_sealed, created_at, last_verified_at) \
    SELECT l.identity, l.project_id, l.mode, l.phone_index, l.sealed, l.created_at, l.created_at \
    FROM login l ORDER BY l.mode, l.phone_index \
    ON CONFLICT (project_id, mode, phone_index) DO UPDATE SET \
        last_verified_at = greatest(i.last_verified_at, excluded.last_verified_at), \
        phone_sealed = excluded.phone_sealed \
    RETURNING i.id, i.mode, i.phone_index \
), started AS ( \
    INSERT INTO sessions (id, project_id, mode, identity_id, created_at, expires_at, \
        refresh_digest, generation, rotations, refresh_expires_at, access_token_id, \
        access_issued_at, access_expires_at) \
    SELECT l.id, l.project_id, l.mode, home.id, l.created_at, l.expires_at, l.refresh_digest, \
        l.generation, l.rotations, l.refresh_expires_at, l.access_token_id, \
        l.access_issued_at, l.access_expires_at \
    FROM login l JOIN home ON home.mode = l.mode AND home.phone_index = l.phone_index \
    RETURNING id, identity_id \
)";

/// The outcome of each guess. Events come last, because their locks follow all others.
const WRITTEN: &str = concat!(
    " SELECT EXISTS (SELECT FROM changed c WHERE c.place = s.place) AS done, NULL::uuid AS home, ",
    told!("c.place = s.place"),
    " AS told FROM step s WHERE (SELECT count(*) FROM changed) >= 0 ORDER BY s.place"
);

const LOGGED_IN: &str = concat!(
    " SELECT EXISTS (SELECT FROM changed c WHERE c.place = s.place) AS done, \
         (SELECT st.identity_id FROM login l JOIN started st ON st.id = l.id \
          WHERE l.place = s.place) AS home, ",
    told!("c.place = s.place"),
    " AS told FROM step s WHERE (SELECT count(*) FROM started) >= 0 ORDER BY s.place"
);

#[derive(QueryableByName)]
struct Written {
    #[diesel(sql_type = Bool)]
    done: bool,
    #[diesel(sql_type = Nullable<Id>)]
    home: Option<Id>,
}

impl BatchedStep for GuessStep {
    const NAME: &'static str = "login.redeem";
    type Done = GuessOutcome;

    fn all(
        steps: &[Self],
        conn: &mut PgConnection,
        _: ProjectId,
        again: bool,
    ) -> Result<Vec<GuessOutcome>, Failure> {
        let read = |written: Written| match written {
            Written { done: true, home } => {
                let whose = |home: Id| Row::new("identities", home).id("id", home);
                Ok(GuessOutcome::Written(home.map(whose).transpose()?))
            }
            _ if again => Ok(GuessOutcome::InDoubt),
            _ => Ok(GuessOutcome::Unseen),
        };
        let written = write(steps, conn)?.into_iter().map(read);
        Ok(written.collect::<Result<_, StoreError>>()?)
    }
}

fn write(steps: &[GuessStep], conn: &mut PgConnection) -> QueryResult<Vec<Written>> {
    let counted: Vec<(i64, &GuessBudget, BudgetRow)> = (1..)
        .zip(steps)
        .filter_map(|(place, step)| {
            let budget = step.budget.as_ref()?;
            Some((place, budget, BudgetRow::new(step.otp.project_mode.project, budget)))
        })
        .collect();
    let logins: Vec<(i64, &Login)> =
        (1..).zip(steps).filter_map(|(place, step)| Some((place, step.login.as_ref()?))).collect();
    let statement = Statement::new(GUESS)
        .then((!counted.is_empty()).then_some(COUNT))
        .then((!logins.is_empty()).then_some(LOG_IN))
        .then([if logins.is_empty() { WRITTEN } else { LOGGED_IN }])
        .given::<Array<Id>, _>("otps", each(steps, |step| Id::from(step.otp.id)))
        .given::<Array<Id>, _>("befores", each(steps, |step| step.before))
        .given::<Array<Id>, _>("versions", each(steps, |step| step.version))
        .given::<Array<Text>, _>("states", each(steps, |step| step.otp.state.as_str()))
        .given::<Array<Integer>, _>("wrongs", each(steps, |step| stored_count(step.otp.wrong)))
        .given::<Array<Nullable<Binary>>, _>(
            "guesses",
            each(steps, |step| stored_guesses(&step.otp.guesses)),
        )
        .given::<Array<BigInt>, _>("counted_by", each(&counted, |it| it.0))
        .given::<Array<Bool>, _>("nothing", each(&counted, |it| *it.1 == GuessBudget::default()))
        .given::<Array<Integer>, _>("counts", each(&counted, |it| it.2.wrong))
        .given::<Array<Nullable<At>>, _>("last_wrong", each(&counted, |it| it.2.last_wrong_at))
        .given::<Array<Nullable<At>>, _>("began", each(&counted, |it| it.2.period_began_at))
        .given::<Array<Integer>, _>("period_wrongs", each(&counted, |it| it.2.period_wrong))
        .given::<Array<Nullable<At>>, _>("stops", each(&counted, |it| it.2.stopped_at))
        .given::<Array<Nullable<At>>, _>("device_began", each(&counted, |it| it.2.device_began_at))
        .given::<Array<Integer>, _>("device_wrongs", each(&counted, |it| it.2.device_wrong))
        .given::<Array<BigInt>, _>("logins_of", each(&logins, |it| it.0))
        .given::<Array<Binary>, _>("sealed", each(&logins, |it| it.1.sealed_phone.0.as_slice()));
    let sessions = each(&logins, |it| &it.1.session);
    let statement = statement
        .given::<Array<Id>, _>("identities", each(&sessions, |it| Id::from(it.identity)))
        .given::<Array<Id>, _>("sessions", each(&sessions, |it| Id::from(it.id)))
        .given::<Array<At>, _>("begun", each(&sessions, |it| At::from(it.created_at)))
        .given::<Array<At>, _>("ends", each(&sessions, |it| At::from(it.expires_at)))
        .given::<Array<Binary>, _>("digests", each(&sessions, |it| it.refresh.0.as_slice()))
        .given::<Array<BigInt>, _>("generations", each(&sessions, |it| i64::from(it.generation)))
        .given::<Array<Binary>, _>("rotations", each(&sessions, |it| it.rotations.to_bytes()))
        .given::<Array<At>, _>(
            "refresh_ends",
            each(&sessions, |it| At::from(it.refresh_expires_at)),
        )
        .given::<Array<Id>, _>("tokens", each(&sessions, |it| Id::from(it.access.token)))
        .given::<Array<At>, _>("issued", each(&sessions, |it| At::from(it.access.issued_at)))
        .given::<Array<At>, _>("token_ends", each(&sessions, |it| At::from(it.access.expires_at)));
    events!(statement, steps).load(conn)
}
