use super::operator::{begin, end_sessions, lock, save};
use crate::dialect::{Conn, Store};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Digest, OperatorId, StoreError, Timestamp};
use dwar_operator::{
    Challenge, EndSessions, Operator, OperatorSession, Passkey, PasskeyAdded, PasskeyStore,
    PasskeyUsed,
};
use dwar_sql::schema::{operator_passkeys, operators, used_challenges};
use dwar_sql::{At, Id, OperatorRow, PasskeyRow, read_all, read_each, read_one};

#[async_trait]
impl PasskeyStore for Store {
    async fn add_passkey(
        &self,
        passkey: Passkey,
        challenge: Challenge,
    ) -> Result<PasskeyAdded, StoreError> {
        self.write("operator.add_passkey", move |conn| {
            if lock(conn, passkey.operator)?.is_none() {
                return Ok(PasskeyAdded::NoOperator);
            }
            let known = operator_passkeys::table.find(passkey.digest.0.as_slice());
            if diesel::select(diesel::dsl::exists(known)).get_result(conn)? {
                return Ok(PasskeyAdded::Known);
            }
            let own = operator_passkeys::table
                .filter(operator_passkeys::operator_id.eq(Id::from(passkey.operator)));
            let own: i64 = own.count().get_result(conn)?;
            if usize::try_from(own).is_ok_and(|own| own >= Passkey::MOST) {
                return Ok(PasskeyAdded::TooMany);
            }
            if !use_up(conn, challenge)? {
                return Ok(PasskeyAdded::Replayed);
            }
            let row = PasskeyRow::from(&passkey);
            let added = diesel::insert_into(operator_passkeys::table)
                .values(row)
                .on_conflict_do_nothing()
                .execute(conn)?;
            Ok(if added == 1 { PasskeyAdded::Added } else { PasskeyAdded::Known })
        })
        .await
    }

    async fn all_passkeys(&self) -> Result<Vec<Passkey>, StoreError> {
        self.scan("operator.all_passkeys", move |conn| {
            let query = operator_passkeys::table
                .order((operator_passkeys::made_at, operator_passkeys::digest));
            Ok(read_each!(PasskeyRow of query, conn))
        })
        .await
    }

    async fn passkeys(&self, operator: OperatorId) -> Result<Vec<Passkey>, StoreError> {
        self.read("operator.passkeys", move |conn| {
            let query = operator_passkeys::table
                .filter(operator_passkeys::operator_id.eq(Id::from(operator)))
                .order((operator_passkeys::made_at, operator_passkeys::digest));
            Ok(read_all!(PasskeyRow of query, conn))
        })
        .await
    }

    async fn passkey(&self, passkey: Digest) -> Result<Option<(Passkey, Operator)>, StoreError> {
        self.read("operator.passkey", move |conn| {
            let found = operator_passkeys::table
                .inner_join(operators::table)
                .filter(operator_passkeys::digest.eq(passkey.0.as_slice()))
                .select((PasskeyRow::as_select(), OperatorRow::as_select()))
                .first::<(PasskeyRow, OperatorRow)>(conn)
                .optional()?;
            let Some((passkey, operator)) = found else { return Ok(None) };
            Ok(Some((passkey.try_into()?, operator.try_into()?)))
        })
        .await
    }

    async fn use_passkey(
        &self,
        passkey: Digest,
        counter: u32,
        challenge: Challenge,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<PasskeyUsed, StoreError> {
        self.write("operator.use_passkey", move |conn| {
            let Some(mut operator) = lock(conn, session.operator)? else {
                return Ok(PasskeyUsed::Gone);
            };
            let query = operator_passkeys::table
                .find(passkey.0.as_slice())
                .filter(operator_passkeys::operator_id.eq(Id::from(operator.id)));
            let known: Option<Passkey> = read_one!(PasskeyRow of query, conn);
            let Some(mut known) = known else { return Ok(PasskeyUsed::Gone) };
            if !known.take(counter, now) {
                return Ok(PasskeyUsed::Regressed);
            }
            if !use_up(conn, challenge)? {
                return Ok(PasskeyUsed::Replayed);
            }
            let noted = (
                operator_passkeys::counter.eq(i64::from(known.counter)),
                operator_passkeys::used_at.eq(known.used_at.map(At::from)),
            );
            diesel::update(query).set(noted).execute(conn)?;
            operator.signed_in_at = Some(now);
            save(conn, &operator)?;
            begin(conn, &session)?;
            Ok(PasskeyUsed::LetIn)
        })
        .await
    }

    async fn remove_passkey(
        &self,
        operator: OperatorId,
        passkey: Digest,
        keep: Digest,
    ) -> Result<bool, StoreError> {
        self.write("operator.remove_passkey", move |conn| {
            lock(conn, operator)?;
            let own = operator_passkeys::table
                .find(passkey.0.as_slice())
                .filter(operator_passkeys::operator_id.eq(Id::from(operator)));
            let removed = diesel::delete(own).execute(conn)? == 1;
            if removed {
                end_sessions(conn, operator, EndSessions::AllBut(keep))?;
            }
            Ok(removed)
        })
        .await
    }
}

/// `false` if the challenge was used before.
fn use_up(conn: &mut Conn, challenge: Challenge) -> QueryResult<bool> {
    let row = (
        used_challenges::digest.eq(challenge.digest().0.to_vec()),
        used_challenges::expires_at.eq(At::from(challenge.expires_at())),
    );
    let used = diesel::insert_into(used_challenges::table).values(row);
    Ok(used.on_conflict_do_nothing().execute(conn)? == 1)
}
