use crate::connection::error::Failure;
use crate::connection::pool::{SWEEP, SqliteStore};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Digest, OperatorId, StoreError, Timestamp};
use dwar_operator::{
    Admission, Attempt, Count, EndSessions, Link, Operator, OperatorChange, OperatorName,
    OperatorSession, OperatorStore, PasswordHash, Proof, Standing,
};
use dwar_sql::schema::{
    operator_links, operator_passkeys, operator_sessions, operator_standings, operators,
    used_challenges,
};
use dwar_sql::{At, Id, LinkRow, OperatorRow, OperatorSessionRow, StandingRow, read_all, read_one};

#[async_trait]
impl OperatorStore for SqliteStore {
    async fn invite(&self, operator: Operator, link: Link) -> Result<bool, StoreError> {
        self.write(move |connection| add(connection, &operator, &link)).await
    }

    async fn invite_first(&self, operator: Operator, link: Link) -> Result<bool, StoreError> {
        self.write(move |connection| {
            if operators::table.count().get_result::<i64>(connection)? > 0 {
                return Ok(false);
            }
            add(connection, &operator, &link)
        })
        .await
    }

    async fn find(&self, operator: OperatorId) -> Result<Option<Operator>, StoreError> {
        self.read(move |connection| load(connection, operator)).await
    }

    async fn find_by_name(&self, name: OperatorName) -> Result<Option<Operator>, StoreError> {
        self.read(move |connection| {
            let query = operators::table.filter(operators::name_key.eq(name.key()));
            Ok(read_one!(OperatorRow of query, connection))
        })
        .await
    }

    async fn list(&self) -> Result<Vec<Operator>, StoreError> {
        self.scan(|connection| {
            let query = operators::table.order((operators::created_at, operators::id));
            Ok(read_all!(OperatorRow of query, connection))
        })
        .await
    }

    async fn change(
        &self,
        operator: OperatorId,
        change: OperatorChange,
        keep: Option<Digest>,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let Some(mut known) = load(connection, operator)? else { return Ok(false) };
            let ends = change.ends_sessions();
            known.apply(change);
            save(connection, &known)?;
            if ends {
                let which = keep.map_or(EndSessions::All, EndSessions::AllBut);
                end_sessions(connection, operator, which)?;
            }
            Ok(true)
        })
        .await
    }

    async fn reset(&self, operator: OperatorId, link: Link) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let Some(mut known) = load(connection, operator)? else { return Ok(false) };
            known.reset();
            save(connection, &known)?;
            begin_anew(connection, operator)?;
            let passkeys = operator_passkeys::operator_id.eq(Id::from(operator));
            diesel::delete(operator_passkeys::table.filter(passkeys)).execute(connection)?;
            let row = LinkRow::from(&link);
            diesel::insert_into(operator_links::table).values(row).execute(connection)?;
            Ok(true)
        })
        .await
    }

    async fn remove(&self, operator: OperatorId) -> Result<bool, StoreError> {
        self.write(move |connection| {
            begin_anew(connection, operator)?;
            let row = operators::table.find(Id::from(operator));
            Ok(diesel::delete(row).execute(connection)? == 1)
        })
        .await
    }

    async fn link(&self, link: Digest) -> Result<Option<(Link, Operator)>, StoreError> {
        self.read(move |connection| by_link(connection, link)).await
    }

    async fn spend(
        &self,
        link: Digest,
        password: Option<PasswordHash>,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<Option<Operator>, StoreError> {
        self.write(move |connection| {
            let Some((link, mut operator)) = by_link(connection, link)? else { return Ok(None) };
            if !link.spend(&mut operator, password, now) {
                return Ok(None);
            }
            save(connection, &operator)?;
            begin_anew(connection, operator.id)?;
            begin(connection, &session)?;
            Ok(Some(operator))
        })
        .await
    }

    async fn admit(&self, attempt: Attempt, now: Timestamp) -> Result<Admission, StoreError> {
        self.write(move |connection| {
            let (admission, counted) = attempt.admit(now, |count| {
                let known = standing(connection, count)?;
                Ok::<_, Failure>(known.unwrap_or(Standing::fresh(now)))
            })?;
            for (count, standing) in counted {
                diesel::replace_into(operator_standings::table)
                    .values(StandingRow::new(count, standing))
                    .execute(connection)?;
            }
            Ok(admission)
        })
        .await
    }

    async fn withdraw(&self, attempt: Attempt) -> Result<(), StoreError> {
        self.write(move |connection| {
            for count in attempt.counts() {
                if let Some(mut standing) = standing(connection, *count)? {
                    standing.withdraw();
                    let row = StandingRow::new(*count, standing);
                    diesel::update(&row).set(&row).execute(connection)?;
                }
            }
            Ok(())
        })
        .await
    }

    async fn sign_in(
        &self,
        proof: Proof,
        attempt: Attempt,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let Some(mut operator) = load(connection, session.operator)? else { return Ok(false) };
            if !operator.sign_in(&proof, now) {
                return Ok(false);
            }
            save(connection, &operator)?;
            begin(connection, &session)?;
            for count in attempt.counts() {
                succeed(connection, *count)?;
            }
            Ok(true)
        })
        .await
    }

    async fn session(
        &self,
        session: Digest,
    ) -> Result<Option<(OperatorSession, Operator)>, StoreError> {
        self.read(move |connection| {
            let found = operator_sessions::table
                .inner_join(operators::table)
                .filter(operator_sessions::digest.eq(session.0.as_slice()))
                .select((OperatorSessionRow::as_select(), OperatorRow::as_select()))
                .get_result::<(OperatorSessionRow, OperatorRow)>(connection)
                .optional()?;
            let Some((session, operator)) = found else { return Ok(None) };
            Ok(Some((session.try_into()?, operator.try_into()?)))
        })
        .await
    }

    async fn note_session(&self, session: Digest, now: Timestamp) -> Result<(), StoreError> {
        // Lost with the power, it is noted again.
        self.write_ahead_of_disk(move |connection| {
            let row = operator_sessions::table.find(session.0.as_slice());
            let known: Option<OperatorSession> = read_one!(OperatorSessionRow of row, connection);
            if let Some(mut known) = known
                && known.note(now)
            {
                let seen = operator_sessions::seen_at.eq(At::from(known.seen_at));
                diesel::update(row).set(seen).execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn sessions(&self, operator: OperatorId) -> Result<Vec<OperatorSession>, StoreError> {
        self.read(move |connection| {
            let query = operator_sessions::table
                .filter(operator_sessions::operator_id.eq(Id::from(operator)))
                .order((operator_sessions::created_at.desc(), operator_sessions::digest));
            Ok(read_all!(OperatorSessionRow of query, connection))
        })
        .await
    }

    async fn end_sessions(
        &self,
        operator: OperatorId,
        which: EndSessions,
    ) -> Result<u64, StoreError> {
        let ended = self.write(move |connection| Ok(end_sessions(connection, operator, which)?));
        Ok(u64::try_from(ended.await?).unwrap_or(u64::MAX))
    }

    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError> {
        let (idle, forgotten) = (now - OperatorSession::IDLE, Standing::forgotten_before(now));
        let (now, idle, forgotten) = (At::from(now), At::from(idle), At::from(forgotten));
        let links = move |connection: &mut SqliteConnection| {
            let old = operator_links::table.filter(operator_links::expires_at.le(now));
            let old = old.select(operator_links::digest).limit(SWEEP.into());
            diesel::delete(operator_links::table)
                .filter(operator_links::digest.eq_any(old.load::<Vec<u8>>(connection)?))
                .execute(connection)
        };
        let sessions = move |connection: &mut SqliteConnection| {
            let over =
                operator_sessions::expires_at.le(now).or(operator_sessions::seen_at.le(idle));
            let old = operator_sessions::table.filter(over);
            let old = old.select(operator_sessions::digest).limit(SWEEP.into());
            diesel::delete(operator_sessions::table)
                .filter(operator_sessions::digest.eq_any(old.load::<Vec<u8>>(connection)?))
                .execute(connection)
        };
        let standings = move |connection: &mut SqliteConnection| {
            let old = operator_standings::table.filter(operator_standings::last_at.le(forgotten));
            let key = (operator_standings::operator_id, operator_standings::subject);
            let old = old.select(key).limit(SWEEP.into()).load::<(Id, Vec<u8>)>(connection)?;
            let mut gone = 0;
            for key in old {
                let row = operator_standings::table.find(key);
                gone += diesel::delete(row).execute(connection)?;
            }
            Ok(gone)
        };
        let challenges = move |connection: &mut SqliteConnection| {
            let old = used_challenges::table.filter(used_challenges::expires_at.le(now));
            let old = old.select(used_challenges::digest).limit(SWEEP.into());
            diesel::delete(used_challenges::table)
                .filter(used_challenges::digest.eq_any(old.load::<Vec<u8>>(connection)?))
                .execute(connection)
        };
        let (links, sessions) = (self.drain(links).await?, self.drain(sessions).await?);
        let (standings, used) = (self.drain(standings).await?, self.drain(challenges).await?);
        Ok(links + sessions + standings + used)
    }
}

/// `false` if the name is taken.
fn add(
    connection: &mut SqliteConnection,
    operator: &Operator,
    link: &Link,
) -> Result<bool, Failure> {
    let added = diesel::insert_into(operators::table)
        .values(OperatorRow::from(operator))
        .on_conflict(operators::name_key)
        .do_nothing()
        .execute(connection)?;
    if added == 0 {
        return Ok(false);
    }
    let row = LinkRow::from(link);
    diesel::insert_into(operator_links::table).values(row).execute(connection)?;
    Ok(true)
}

pub(crate) fn load(
    connection: &mut SqliteConnection,
    operator: OperatorId,
) -> Result<Option<Operator>, Failure> {
    let query = operators::table.find(Id::from(operator));
    Ok(read_one!(OperatorRow of query, connection))
}

pub(crate) fn save(connection: &mut SqliteConnection, operator: &Operator) -> QueryResult<()> {
    let row = OperatorRow::from(operator);
    diesel::update(&row).set(&row).execute(connection).map(|_| ())
}

fn by_link(
    connection: &mut SqliteConnection,
    link: Digest,
) -> Result<Option<(Link, Operator)>, Failure> {
    let found = operator_links::table
        .inner_join(operators::table)
        .filter(operator_links::digest.eq(link.0.as_slice()))
        .select((LinkRow::as_select(), OperatorRow::as_select()))
        .get_result::<(LinkRow, OperatorRow)>(connection)
        .optional()?;
    let Some((link, operator)) = found else { return Ok(None) };
    Ok(Some((link.try_into()?, operator.try_into()?)))
}

fn standing(connection: &mut SqliteConnection, count: Count) -> Result<Option<Standing>, Failure> {
    let query =
        operator_standings::table.find((Id::from(count.operator), count.subject.0.as_slice()));
    Ok(read_one!(StandingRow of query, connection))
}

/// Notes that an attempt has succeeded.
fn succeed(connection: &mut SqliteConnection, count: Count) -> Result<(), Failure> {
    let Some(standing) = standing(connection, count)? else { return Ok(()) };
    let after = count.after_success(standing);
    let row = StandingRow::new(count, after.unwrap_or(standing));
    match after {
        Some(_) => diesel::update(&row).set(&row).execute(connection)?,
        None => diesel::delete(&row).execute(connection)?,
    };
    Ok(())
}

pub(crate) fn begin(
    connection: &mut SqliteConnection,
    session: &OperatorSession,
) -> QueryResult<()> {
    let row = OperatorSessionRow::from(session);
    diesel::insert_into(operator_sessions::table).values(row).execute(connection).map(|_| ())
}

pub(crate) fn end_sessions(
    connection: &mut SqliteConnection,
    operator: OperatorId,
    which: EndSessions,
) -> QueryResult<usize> {
    let theirs = operator_sessions::operator_id.eq(Id::from(operator));
    let theirs = diesel::delete(operator_sessions::table).filter(theirs);
    let digest = operator_sessions::digest;
    match which {
        EndSessions::All => theirs.execute(connection),
        EndSessions::One(one) => theirs.filter(digest.eq(one.0.as_slice())).execute(connection),
        EndSessions::AllBut(kept) => {
            theirs.filter(digest.ne(kept.0.as_slice())).execute(connection)
        }
    }
}

/// What goes when somebody is let in anew or not at all any more.
fn begin_anew(connection: &mut SqliteConnection, operator: OperatorId) -> QueryResult<()> {
    let links = operator_links::table.filter(operator_links::operator_id.eq(Id::from(operator)));
    diesel::delete(links).execute(connection)?;
    let standings = operator_standings::operator_id.eq(Id::from(operator));
    diesel::delete(operator_standings::table.filter(standings)).execute(connection)?;
    end_sessions(connection, operator, EndSessions::All).map(|_| ())
}
