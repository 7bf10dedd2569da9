use crate::PostgresStore;
use crate::error::{Failure, unavailable};
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Bool, Text};
use dwar_kernel::{GuessBudget, GuessPolicy, OtpId, StoreError, Timestamp};
use dwar_ratelimit::{SendAdmission, SendKey, SendLimiter, SendLog, SendQuota, SendSlot};
use dwar_sql::schema::{guess_budgets, projects, send_slots};
use dwar_sql::{At, BudgetRow, Id, Row, of_phone};

diesel::define_sql_function! {
    /// Whether the send has a place: nobody but those seen may have one already.
    fn take_place(
        send: Id, project: Id, world: Text, phone: Binary, at: At, seen: Array<Id>,
    ) -> Bool;
}

diesel::define_sql_function! {
    /// Changes a setting, for this transaction alone if `local`.
    fn set_config(name: Text, value: Text, local: Bool) -> Text;
}

/// How often a send is judged anew. Each time means that another one was admitted meanwhile, so
/// there are about as many as the quota has places.
const LOOKS: u32 = 100;

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
        // What was answered by a place whose taking nobody has confirmed.
        let mut asked: Option<SendAdmission> = None;
        self.pool
            .run(move |conn| {
                for _ in 0..LOOKS {
                    let (seen, log) = look(conn, &key)?;
                    if let Some(admission) = asked.filter(|_| seen.contains(&send.into())) {
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
        self.pool.run(move |conn| Ok(look(conn, &key)?.1)).await
    }

    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.pool
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
        self.sweep_in_batches(move |conn| {
            let old = diesel::alias!(send_slots as old);
            let old = old
                .filter(old.field(send_slots::taken_at).lt(At::from(before)))
                .select(old.field(send_slots::send_id))
                .limit(crate::SWEEP_BATCH)
                .for_update()
                .skip_locked();
            diesel::delete(send_slots::table.filter(send_slots::send_id.eq_any(old))).execute(conn)
        })
        .await
    }
}

type Look = (Option<BudgetRow>, Option<(Id, At, bool)>);

/// What a send is judged by, in one statement, and the sends that are in it.
fn look(conn: &mut PgConnection, key: &SendKey) -> Result<(Vec<Id>, SendLog), Failure> {
    let (mode, phone) = (key.mode.as_str(), key.phone.0.to_vec());
    let counted = guess_budgets::project_id
        .eq(projects::id)
        .and(guess_budgets::mode.eq(mode))
        .and(guess_budgets::phone_index.eq(phone.clone()));
    let taken = send_slots::project_id
        .eq(projects::id)
        .and(send_slots::mode.eq(mode))
        .and(send_slots::phone_index.eq(phone));
    let rows: Vec<Look> = projects::table
        .find(Id::from(key.project))
        .left_join(guess_budgets::table.on(counted))
        .left_join(send_slots::table.on(taken))
        .order(send_slots::taken_at)
        .select((
            Option::<BudgetRow>::as_select(),
            (send_slots::send_id, send_slots::taken_at, send_slots::forgiven).nullable(),
        ))
        .load(conn)?;
    let mut guesses = GuessBudget::default();
    let (mut sends, mut slots) = (Vec::new(), Vec::new());
    for (counted, slot) in rows {
        if let Some(counted) = counted {
            guesses = counted.try_into()?;
        }
        if let Some((send, at, forgiven)) = slot {
            sends.push(send);
            let at = Row::new("send_slots", send).at("taken_at", at)?;
            slots.push(SendSlot { at, forgiven });
        }
    }
    Ok((sends, SendLog::new(slots, guesses)))
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
    let place = take_place(Id::from(send), Id::from(key.project), mode, phone, At::from(now), seen);
    let soon = set_config("synchronous_commit", "off", true);
    let (taken, _): (bool, String) = diesel::select((place, soon)).get_result(conn)?;
    Ok(taken)
}
