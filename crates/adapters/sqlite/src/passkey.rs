use crate::connection::pool::SqliteStore;
use crate::operator::{begin, end_sessions, load, save};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Digest, OperatorId, StoreError, Timestamp};
use dwar_operator::{
    Challenge, EndSessions, Operator, OperatorSession, Passkey, PasskeyAdded, PasskeyStore,
    PasskeyUsed,
};
use dwar_sql::schema::{operator_passkeys, operators, used_challenges};
use dwar_sql::{At, Id, OperatorRow, PasskeyRow, read_all, read_one};

#[async_trait]
impl PasskeyStore for SqliteStore {
    async fn add_passkey(
        &self,
        passkey: Passkey,
        challenge: Challenge,
    ) -> Result<PasskeyAdded, StoreError> {
        self.write(move |connection| {
            if load(connection, passkey.operator)?.is_none() {
                return Ok(PasskeyAdded::NoOperator);
            }
            let known = operator_passkeys::table.find(passkey.digest.0.as_slice());
            if diesel::select(diesel::dsl::exists(known)).get_result(connection)? {
                return Ok(PasskeyAdded::Known);
            }
            let own = operator_passkeys::table
                .filter(operator_passkeys::operator_id.eq(Id::from(passkey.operator)));
            let own: i64 = own.count().get_result(connection)?;
            if usize::try_from(own).is_ok_and(|own| own >= Passkey::MOST) {
                return Ok(PasskeyAdded::TooMany);
            }
            if !use_up(connection, challenge)? {
                return Ok(PasskeyAdded::Replayed);
            }
            let row = PasskeyRow::from(&passkey);
            let added = diesel::insert_into(operator_passkeys::table)
                .values(row)
                .on_conflict_do_nothing()
                .execute(connection)?;
            Ok(if added == 1 { PasskeyAdded::Added } else { PasskeyAdded::Known })
        })
        .await
    }

    async fn passkeys(&self, operator: OperatorId) -> Result<Vec<Passkey>, StoreError> {
        self.read(move |connection| {
            let query = operator_passkeys::table
                .filter(operator_passkeys::operator_id.eq(Id::from(operator)))
                .order((operator_passkeys::made_at, operator_passkeys::digest));
            Ok(read_all!(PasskeyRow of query, connection))
        })
        .await
    }

    async fn passkey(&self, passkey: Digest) -> Result<Option<(Passkey, Operator)>, StoreError> {
        self.read(move |connection| {
            let found = operator_passkeys::table
                .inner_join(operators::table)
                .filter(operator_passkeys::digest.eq(passkey.0.as_slice()))
                .select((PasskeyRow::as_select(), OperatorRow::as_select()))
                .first::<(PasskeyRow, OperatorRow)>(connection)
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
        self.write(move |connection| {
            let Some(mut operator) = load(connection, session.operator)? else {
                return Ok(PasskeyUsed::Gone);
            };
            let query = operator_passkeys::table
                .find(passkey.0.as_slice())
                .filter(operator_passkeys::operator_id.eq(Id::from(operator.id)));
            let known: Option<Passkey> = read_one!(PasskeyRow of query, connection);
            let Some(mut known) = known else { return Ok(PasskeyUsed::Gone) };
            if !known.take(counter, now) {
                return Ok(PasskeyUsed::Regressed);
            }
            if !use_up(connection, challenge)? {
                return Ok(PasskeyUsed::Replayed);
            }
            let noted = (
                operator_passkeys::counter.eq(i64::from(known.counter)),
                operator_passkeys::used_at.eq(known.used_at.map(At::from)),
            );
            diesel::update(query).set(noted).execute(connection)?;
            operator.signed_in_at = Some(now);
            save(connection, &operator)?;
            begin(connection, &session)?;
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
        self.write(move |connection| {
            load(connection, operator)?;
            let own = operator_passkeys::table
                .find(passkey.0.as_slice())
                .filter(operator_passkeys::operator_id.eq(Id::from(operator)));
            let removed = diesel::delete(own).execute(connection)? == 1;
            if removed {
                end_sessions(connection, operator, EndSessions::AllBut(keep))?;
            }
            Ok(removed)
        })
        .await
    }
}

/// `false` if the challenge was used before.
fn use_up(connection: &mut SqliteConnection, challenge: Challenge) -> QueryResult<bool> {
    let row = (
        used_challenges::digest.eq(challenge.digest().0.to_vec()),
        used_challenges::expires_at.eq(At::from(challenge.expires_at())),
    );
    let used = diesel::insert_into(used_challenges::table).values(row);
    Ok(used.on_conflict_do_nothing().execute(connection)? == 1)
}
