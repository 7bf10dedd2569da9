use crate::PostgresStore;
use crate::connection::error::{Failure, unavailable};
use async_trait::async_trait;
use diesel::dsl::case_when;
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Bool, Nullable, Text};
use dwar_kernel::{GuessBudget, GuessPolicy, OtpId, StoreError, Timestamp};
use dwar_ratelimit::{SendAdmission, SendKey, SendLimiter, SendLog, SendQuota, SendSlot};
use dwar_sql::schema::{guess_budgets, projects, send_slots};
use dwar_sql::{At, BudgetRow, Id, Row, maybe, of_phone};

diesel::define_sql_function! {
    /// Whether the send has a place: nobody but those seen may have one already.
    fn take_place(
        send: Nullable<Id>, project: Id, world: Text, phone: Binary, at: Nullable<At>,
        seen: Array<Id>,
    ) -> Bool;
}

diesel::define_sql_function! {
    /// Changes a setting, for this transaction alone if `local`.
    fn set_config(name: Text, value: Text, local: Bool) -> Text;
}

/// How often a send is judged anew. Each time means that another one was admitted meanwhile, so
/// there are about as many as the quota has places.
const TRIES: u32 = 100;

#[async_trait]
impl SendLimiter for PostgresStore {
    async fn admit(
        &self,
        key: SendKey,
        send: OtpId,
        quota: SendQuota,
        guesses: GuessPolicy,
        now: Timestamp,
    ) -> Result<SendAdmission, StoreError> {
        // Most phones have nothing on record, so that is what is tried first, in the statement that reads.
        let first = SendLog::default().admit(&quota, &guesses, now);
        // What was answered by a place whose taking nobody has confirmed.
        let mut asked = first.counted.admitted.then_some(first);
        let first = asked.map(|_| (send, now));
        self.pool
            .of(key.project)
            .run(move |conn| {
                for _ in 0..TRIES {
                    let LogSnapshot { seen, log, taken } = read_log(conn, &key, first)?;
                    let found = taken || seen.contains(&send.into());
                    if let Some(admission) = asked.filter(|_| found) {
                        return Ok(admission);
                    }
                    let admission = log.clone().admit(&quota, &guesses, now);
                    if !admission.counted.admitted {
                        return Ok(admission);
                    }
                    asked = Some(admission);
                    if take(conn, &key, send, now, &seen)? {
                        return Ok(admission);
                    }
                }
                Err(unavailable("the places of a phone are taken too fast").into())
            })
            .await
    }

    async fn log(&self, key: SendKey) -> Result<SendLog, StoreError> {
        self.pool.of(key.project).run(move |conn| Ok(read_log(conn, &key, None)?.log)).await
    }

    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.pool
            .of(key.project)
            .run(move |conn| {
                let phone = key.phone.0.as_slice();
                let slot = of_phone!(send_slots of key.project, key.mode, phone)
                    .filter(send_slots::send_id.eq(Id::from(send)));
                let forgiven = send_slots::forgiven.eq(true);
                diesel::update(slot).set(forgiven).execute(conn)?;
                Ok(())
            })
            .await
    }

    async fn withdraw(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.pool
            .of(key.project)
            .run(move |conn| {
                let phone = key.phone.0.as_slice();
                let slot = of_phone!(send_slots of key.project, key.mode, phone)
                    .filter(send_slots::send_id.eq(Id::from(send)));
                diesel::delete(slot).execute(conn)?;
                Ok(())
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.drop_made_before("send_slots", "send_id", before).await
    }
}

/// What a send is judged by.
#[derive(Default)]
pub(crate) struct LogSnapshot {
    /// The sends that are in the log.
    pub(crate) seen: Vec<Id>,
    pub(crate) log: SendLog,
    /// Whether the first send has got its place.
    taken: bool,
}

impl LogSnapshot {
    /// The log of these sends, oldest first, and of these wrong guesses.
    pub(crate) fn of(
        guesses: Option<BudgetRow>,
        sends: impl Iterator<Item = (Id, At, bool)>,
    ) -> Result<Self, StoreError> {
        let (mut seen, mut slots) = (Vec::new(), Vec::new());
        for (send, at, forgiven) in sends {
            seen.push(send);
            slots.push(SendSlot { at: Row::new("send_slots", send).at("taken_at", at)?, forgiven });
        }
        let guesses = maybe(guesses)?.unwrap_or_default();
        Ok(Self { seen, log: SendLog::new(slots, guesses), taken: false })
    }
}

type LogRow = (Option<BudgetRow>, Option<(Id, At, bool)>, Option<bool>, String);

/// What a send is judged by, in one statement; if nothing at all is known of the phone, `first` takes
/// its place in it as in [`take`].
pub(crate) fn read_log(
    conn: &mut PgConnection,
    key: &SendKey,
    first: Option<(OtpId, Timestamp)>,
) -> Result<LogSnapshot, Failure> {
    let (mode, phone) = (key.mode.as_str(), key.phone.0.to_vec());
    let counted = guess_budgets::project_id
        .eq(projects::id)
        .and(guess_budgets::mode.eq(mode))
        .and(guess_budgets::phone_index.eq(phone.clone()));
    let taken = send_slots::project_id
        .eq(projects::id)
        .and(send_slots::mode.eq(mode))
        .and(send_slots::phone_index.eq(phone.clone()));
    let (send, at) = first.map(|(send, at)| (Id::from(send), At::from(at))).unzip();
    let is_first = (send.into_sql::<Nullable<Id>>().is_not_null())
        .and(guess_budgets::wrong.nullable().is_null())
        .and(send_slots::send_id.nullable().is_null());
    let place = take_place(send, projects::id, mode, phone, at, Vec::<Id>::new());
    let rows: Vec<LogRow> = projects::table
        .find(Id::from(key.project))
        .left_join(guess_budgets::table.on(counted))
        .left_join(send_slots::table.on(taken))
        .order(send_slots::taken_at)
        .select((
            Option::<BudgetRow>::as_select(),
            (send_slots::send_id, send_slots::taken_at, send_slots::forgiven).nullable(),
            case_when(is_first, place.nullable()),
            set_config("synchronous_commit", "off", true),
        ))
        .load(conn)?;
    let mut snapshot = LogSnapshot { seen: Vec::new(), log: SendLog::default(), taken: false };
    let (mut guesses, mut slots) = (GuessBudget::default(), Vec::new());
    for (counted, slot, taken, _) in rows {
        if let Some(counted) = counted {
            guesses = counted.try_into()?;
        }
        if let Some((send, at, forgiven)) = slot {
            snapshot.seen.push(send);
            let at = Row::new("send_slots", send).at("taken_at", at)?;
            slots.push(SendSlot { at, forgiven });
        }
        snapshot.taken |= taken.unwrap_or_default();
    }
    Ok(LogSnapshot { log: SendLog::new(slots, guesses), ..snapshot })
}

/// Puts a send on record unless another one came in since `seen`. Repetition is harmless.
///
/// Its commit is not waited for on disk: the request is issued after this, on disk, before any
/// provider is called.
fn take(
    conn: &mut PgConnection,
    key: &SendKey,
    send: OtpId,
    now: Timestamp,
    seen: &[Id],
) -> QueryResult<bool> {
    let (mode, phone) = (key.mode.as_str(), key.phone.0.as_slice());
    let (send, now) = (Some(Id::from(send)), Some(At::from(now)));
    let place = take_place(send, Id::from(key.project), mode, phone, now, seen);
    let soon = set_config("synchronous_commit", "off", true);
    let (taken, _): (bool, String) = diesel::select((place, soon)).get_result(conn)?;
    Ok(taken)
}
