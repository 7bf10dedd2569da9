use crate::dialect::{Conn, Failure, Store, primary_alone, take};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Digest, OperatorId, StoreError, Timestamp};
use dwar_operator::{
    Attempt, AttemptAdmission, EndSessions, FailureCounter, FailureKey, OneTimeLink, Operator,
    OperatorChange, OperatorName, OperatorSession, OperatorStore, PasswordHash, SignInProof,
};
use dwar_sql::schema::{
    operator_links, operator_passkeys, operator_sessions, operator_standings, operators,
};
use dwar_sql::{
    At, FailureCounterRow, Id, LinkRow, Lock, OperatorRow, OperatorSessionRow, read_all, read_each,
    read_one,
};
use std::time::Duration;

/// Every step that changes an operator, their links or their sessions locks the operator's row and
/// reads it again under that lock.
#[async_trait]
impl OperatorStore for Store {
    async fn invite(&self, operator: Operator, link: OneTimeLink) -> Result<bool, StoreError> {
        self.write("operator.invite", move |conn| add(conn, &operator, &link)).await
    }

    async fn invite_first(
        &self,
        operator: Operator,
        link: OneTimeLink,
    ) -> Result<bool, StoreError> {
        self.write("operator.invite_first", move |conn| {
            take(conn, Lock::FirstOperator)?;
            let any = operators::table.select(operators::id);
            if diesel::select(diesel::dsl::exists(any)).get_result(conn)? {
                return Ok(false);
            }
            add(conn, &operator, &link)
        })
        .await
    }

    async fn find(&self, operator: OperatorId) -> Result<Option<Operator>, StoreError> {
        self.read("operator.find", move |conn| {
            let query = operators::table.find(Id::from(operator));
            Ok(read_one!(OperatorRow of query, conn))
        })
        .await
    }

    async fn find_by_name(&self, name: OperatorName) -> Result<Option<Operator>, StoreError> {
        self.read("operator.find_by_name", move |conn| {
            let query = operators::table.filter(operators::name_key.eq(name.key()));
            Ok(read_one!(OperatorRow of query, conn))
        })
        .await
    }

    async fn list(&self) -> Result<Vec<Operator>, StoreError> {
        self.scan("operator.list", move |conn| {
            let query = operators::table.order((operators::created_at, operators::id));
            Ok(read_each!(OperatorRow of query, conn))
        })
        .await
    }

    async fn change(
        &self,
        operator: OperatorId,
        change: OperatorChange,
        keep: Option<Digest>,
    ) -> Result<bool, StoreError> {
        self.write("operator.change", move |conn| {
            let Some(mut known) = lock(conn, operator)? else { return Ok(false) };
            known.apply(change.clone());
            save(conn, &known)?;
            if change.ends_sessions() {
                let which = keep.map_or(EndSessions::All, EndSessions::AllBut);
                end_sessions(conn, operator, which)?;
            }
            Ok(true)
        })
        .await
    }

    async fn reset(&self, operator: OperatorId, link: OneTimeLink) -> Result<bool, StoreError> {
        self.write("operator.reset", move |conn| {
            let Some(mut known) = lock(conn, operator)? else { return Ok(false) };
            known.reset();
            save(conn, &known)?;
            begin_anew(conn, operator)?;
            let passkeys = operator_passkeys::operator_id.eq(Id::from(operator));
            diesel::delete(operator_passkeys::table.filter(passkeys)).execute(conn)?;
            let row = LinkRow::from(&link);
            diesel::insert_into(operator_links::table).values(row).execute(conn)?;
            Ok(true)
        })
        .await
    }

    async fn remove(&self, operator: OperatorId) -> Result<bool, StoreError> {
        self.write("operator.remove", move |conn| {
            if lock(conn, operator)?.is_none() {
                return Ok(false);
            }
            begin_anew(conn, operator)?;
            let row = operators::table.find(Id::from(operator));
            Ok(diesel::delete(row).execute(conn)? == 1)
        })
        .await
    }

    async fn link(&self, link: Digest) -> Result<Option<(OneTimeLink, Operator)>, StoreError> {
        self.read("operator.link", move |conn| {
            let found = operator_links::table
                .inner_join(operators::table)
                .filter(operator_links::digest.eq(link.0.as_slice()))
                .select((LinkRow::as_select(), OperatorRow::as_select()))
                .first::<(LinkRow, OperatorRow)>(conn)
                .optional()?;
            let Some((link, operator)) = found else { return Ok(None) };
            Ok(Some((link.try_into()?, operator.try_into()?)))
        })
        .await
    }

    async fn links(&self) -> Result<Vec<OneTimeLink>, StoreError> {
        self.scan("operator.links", move |conn| {
            Ok(read_each!(LinkRow of operator_links::table, conn))
        })
        .await
    }

    async fn renew_link(&self, link: OneTimeLink) -> Result<bool, StoreError> {
        self.write("operator.renew_link", move |conn| {
            if !lock(conn, link.operator)?.is_some_and(|operator| operator.is_invited()) {
                return Ok(false);
            }
            let theirs = operator_links::operator_id.eq(Id::from(link.operator));
            diesel::delete(operator_links::table.filter(theirs)).execute(conn)?;
            let row = LinkRow::from(&link);
            diesel::insert_into(operator_links::table).values(row).execute(conn)?;
            Ok(true)
        })
        .await
    }

    async fn spend(
        &self,
        link: Digest,
        password: Option<PasswordHash>,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<Option<Operator>, StoreError> {
        self.write("operator.spend", move |conn| {
            let Some(mut operator) = lock(conn, session.operator)? else { return Ok(None) };
            let query = operator_links::table.find(link.0.as_slice());
            let link: Option<OneTimeLink> = read_one!(LinkRow of query, conn);
            if !link.is_some_and(|link| link.spend(&mut operator, password.clone(), now)) {
                return Ok(None);
            }
            save(conn, &operator)?;
            begin_anew(conn, operator.id)?;
            begin(conn, &session)?;
            Ok(Some(operator))
        })
        .await
    }

    async fn admit(
        &self,
        attempt: Attempt,
        now: Timestamp,
    ) -> Result<AttemptAdmission, StoreError> {
        self.write("operator.admit", move |conn| {
            let (admission, counted) =
                attempt.admit(now, |count| lock_or_begin(conn, count, now))?;
            for (count, counter) in counted {
                let row = FailureCounterRow::new(count, counter);
                diesel::update(&row).set(&row).execute(conn)?;
            }
            Ok(admission)
        })
        .await
    }

    async fn withdraw(&self, attempt: Attempt) -> Result<(), StoreError> {
        self.write("operator.withdraw", move |conn| {
            for count in attempt.counts() {
                if let Some(mut counter) = lock_failure_counter(conn, *count)? {
                    counter.withdraw();
                    let row = FailureCounterRow::new(*count, counter);
                    diesel::update(&row).set(&row).execute(conn)?;
                }
            }
            Ok(())
        })
        .await
    }

    async fn sign_in(
        &self,
        proof: SignInProof,
        attempt: Attempt,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write("operator.sign_in", move |conn| {
            let Some(mut operator) = lock(conn, session.operator)? else { return Ok(false) };
            if !operator.sign_in(&proof, now) {
                return Ok(false);
            }
            save(conn, &operator)?;
            begin(conn, &session)?;
            for count in attempt.counts() {
                succeed(conn, *count)?;
            }
            Ok(true)
        })
        .await
    }

    async fn failure_counters(
        &self,
        now: Timestamp,
    ) -> Result<Vec<(FailureKey, FailureCounter)>, StoreError> {
        self.scan("operator.standings", move |conn| {
            // Failure counts of unknown names have ids that belong to no operator.
            let theirs =
                operator_standings::operator_id.eq_any(operators::table.select(operators::id));
            let of_name = operator_standings::subject.eq(FailureKey::NAME.0.as_slice());
            let locked = operator_standings::locked_until.gt(At::from(now));
            let query = operator_standings::table
                .filter(theirs)
                .filter(of_name.or(locked.assume_not_null()));
            Ok(read_each!(FailureCounterRow of query, conn))
        })
        .await
    }

    async fn forget_failures(&self, operator: OperatorId) -> Result<bool, StoreError> {
        self.write(
            "operator.forget_standings",
            move |conn| Ok(forget_failures(conn, operator)? > 0),
        )
        .await
    }

    async fn session(
        &self,
        session: Digest,
    ) -> Result<Option<(OperatorSession, Operator)>, StoreError> {
        self.read("operator.session", move |conn| {
            let found = operator_sessions::table
                .inner_join(operators::table)
                .filter(operator_sessions::digest.eq(session.0.as_slice()))
                .filter(primary_alone())
                .select((OperatorSessionRow::as_select(), OperatorRow::as_select()))
                .first::<(OperatorSessionRow, OperatorRow)>(conn)
                .optional()?;
            let Some((session, operator)) = found else { return Ok(None) };
            Ok(Some((session.try_into()?, operator.try_into()?)))
        })
        .await
    }

    async fn record_session_use(&self, session: Digest, now: Timestamp) -> Result<(), StoreError> {
        // The rule as a guard: a minute has passed since the last record. A use that a loss of
        // power undoes is recorded again.
        let noted_before = At::from(now - OperatorSession::NOTED_EVERY);
        self.write_ahead_of_disk("operator.note_session", move |conn| {
            diesel::update(operator_sessions::table.find(session.0.as_slice()))
                .filter(operator_sessions::seen_at.le(noted_before))
                .set(operator_sessions::seen_at.eq(At::from(now)))
                .execute(conn)?;
            Ok(())
        })
        .await
    }

    async fn sessions(&self, operator: OperatorId) -> Result<Vec<OperatorSession>, StoreError> {
        self.read("operator.sessions", move |conn| {
            let query = operator_sessions::table
                .filter(operator_sessions::operator_id.eq(Id::from(operator)))
                .order((operator_sessions::created_at.desc(), operator_sessions::digest));
            Ok(read_all!(OperatorSessionRow of query, conn))
        })
        .await
    }

    async fn end_sessions(
        &self,
        operator: OperatorId,
        which: EndSessions,
    ) -> Result<u64, StoreError> {
        let end = move |conn: &mut Conn| {
            // A concurrent sign-in is either complete or comes after this lock.
            lock(conn, operator)?;
            Ok(end_sessions(conn, operator, which)?)
        };
        Ok(u64::try_from(self.write("operator.end_sessions", end).await?).unwrap_or(u64::MAX))
    }

    async fn invalidate_sign_ins(&self, step: u64) -> Result<(), StoreError> {
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        self.write("operator.outdate", move |conn| {
            diesel::delete(operator_sessions::table).execute(conn)?;
            diesel::delete(operator_links::table).execute(conn)?;
            let older = operators::table.filter(operators::totp_last_step.lt(step));
            diesel::update(older).set(operators::totp_last_step.eq(step)).execute(conn)?;
            Ok(())
        })
        .await
    }

    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError> {
        // A record is invalid from the instant it ends; instants are whole milliseconds.
        let after = |at: Timestamp| at + Duration::from_millis(1);
        let (idle, forgotten) =
            (now - OperatorSession::IDLE, FailureCounter::forgotten_before(now));
        let mut gone = 0;
        for (table, age, before) in [
            ("operator_links", "expires_at", now),
            ("operator_sessions", "expires_at", now),
            ("operator_sessions", "seen_at", idle),
            ("operator_standings", "last_at", forgotten),
            ("used_challenges", "expires_at", now),
        ] {
            gone += self.drop_before(table, age, after(before)).await?;
        }
        Ok(gone)
    }
}

/// `false` if the name is taken.
fn add(conn: &mut Conn, operator: &Operator, link: &OneTimeLink) -> Result<bool, Failure> {
    let added = diesel::insert_into(operators::table)
        .values(OperatorRow::from(operator))
        .on_conflict(operators::name_key)
        .do_nothing()
        .execute(conn)?;
    if added == 0 {
        return Ok(false);
    }
    diesel::insert_into(operator_links::table).values(LinkRow::from(link)).execute(conn)?;
    Ok(true)
}

pub(crate) fn lock(conn: &mut Conn, operator: OperatorId) -> Result<Option<Operator>, Failure> {
    let query = for_update!(operators::table.find(Id::from(operator)));
    Ok(read_one!(OperatorRow of query, conn))
}

fn lock_failure_counter(
    conn: &mut Conn,
    count: FailureKey,
) -> Result<Option<FailureCounter>, Failure> {
    let key = (Id::from(count.operator), count.subject.0.as_slice());
    let query = for_update!(operator_standings::table.find(key));
    Ok(read_one!(FailureCounterRow of query, conn))
}

/// Locks the row of a failure count, and inserts a fresh one if there is none.
fn lock_or_begin(
    conn: &mut Conn,
    count: FailureKey,
    now: Timestamp,
) -> Result<FailureCounter, Failure> {
    // An update without changes locks an existing row.
    let row: FailureCounterRow = diesel::insert_into(operator_standings::table)
        .values(FailureCounterRow::new(count, FailureCounter::fresh(now)))
        .on_conflict((operator_standings::operator_id, operator_standings::subject))
        .do_update()
        .set(operator_standings::failures.eq(operator_standings::failures))
        .returning(FailureCounterRow::as_returning())
        .get_result(conn)?;
    Ok(row.try_into()?)
}

fn succeed(conn: &mut Conn, count: FailureKey) -> Result<(), Failure> {
    let Some(counter) = lock_failure_counter(conn, count)? else { return Ok(()) };
    let after = count.after_success(counter);
    let row = FailureCounterRow::new(count, after.unwrap_or(counter));
    match after {
        Some(_) => diesel::update(&row).set(&row).execute(conn)?,
        None => diesel::delete(&row).execute(conn)?,
    };
    Ok(())
}

pub(crate) fn save(conn: &mut Conn, operator: &Operator) -> QueryResult<()> {
    let row = OperatorRow::from(operator);
    diesel::update(&row).set(&row).execute(conn).map(|_| ())
}

pub(crate) fn begin(conn: &mut Conn, session: &OperatorSession) -> QueryResult<()> {
    let row = OperatorSessionRow::from(session);
    diesel::insert_into(operator_sessions::table).values(row).execute(conn).map(|_| ())
}

pub(crate) fn end_sessions(
    conn: &mut Conn,
    operator: OperatorId,
    which: EndSessions,
) -> QueryResult<usize> {
    let theirs = operator_sessions::operator_id.eq(Id::from(operator));
    let theirs = diesel::delete(operator_sessions::table).filter(theirs);
    let digest = operator_sessions::digest;
    match which {
        EndSessions::All => theirs.execute(conn),
        EndSessions::One(one) => theirs.filter(digest.eq(one.0.as_slice())).execute(conn),
        EndSessions::AllBut(kept) => theirs.filter(digest.ne(kept.0.as_slice())).execute(conn),
    }
}

/// Deletes the sessions, links and counts that become invalid when an operator is let in anew or
/// removed.
fn begin_anew(conn: &mut Conn, operator: OperatorId) -> QueryResult<()> {
    let links = operator_links::table.filter(operator_links::operator_id.eq(Id::from(operator)));
    diesel::delete(links).execute(conn)?;
    end_sessions(conn, operator, EndSessions::All)?;
    forget_failures(conn, operator).map(|_| ())
}

fn forget_failures(conn: &mut Conn, operator: OperatorId) -> QueryResult<usize> {
    // Locks in the same order as a sign-in attempt.
    let failure_counters =
        operator_standings::table.filter(operator_standings::operator_id.eq(Id::from(operator)));
    let locked =
        failure_counters.select(operator_standings::subject).order(operator_standings::subject);
    for_update!(locked).load::<Vec<u8>>(conn)?;
    diesel::delete(failure_counters).execute(conn)
}
