use crate::connection::pool::{SWEEP, SqliteStore};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{AdminTokenId, Digest, StoreError, Timestamp};
use dwar_operator::{AdminToken, AdminTokenStore};
use dwar_sql::schema::admin_tokens;
use dwar_sql::{AdminTokenRow, At, Id, read_all, read_one};
use std::net::IpAddr;

#[async_trait]
impl AdminTokenStore for SqliteStore {
    async fn add(&self, token: AdminToken) -> Result<(), StoreError> {
        let row = AdminTokenRow::from(token);
        self.write(move |connection| {
            diesel::insert_into(admin_tokens::table).values(row).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn tokens(&self) -> Result<Vec<AdminToken>, StoreError> {
        self.scan(|connection| {
            let query = admin_tokens::table.order((admin_tokens::made_at, admin_tokens::id));
            Ok(read_all!(AdminTokenRow of query, connection))
        })
        .await
    }

    async fn token(&self, token: Digest) -> Result<Option<AdminToken>, StoreError> {
        self.read(move |connection| {
            let query = admin_tokens::table.filter(admin_tokens::digest.eq(token.0.as_slice()));
            Ok(read_one!(AdminTokenRow of query, connection))
        })
        .await
    }

    async fn note_token(
        &self,
        token: AdminTokenId,
        from: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        // Lost with the power, it is noted again.
        self.write_ahead_of_disk(move |connection| {
            let query = admin_tokens::table.find(Id::from(token));
            let known: Option<AdminToken> = read_one!(AdminTokenRow of query, connection);
            if let Some(mut known) = known
                && known.note(now, from)
            {
                let row = AdminTokenRow::from(known);
                diesel::update(&row).set(&row).execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn revoke(&self, token: AdminTokenId) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let row = admin_tokens::table.find(Id::from(token));
            Ok(diesel::delete(row).execute(connection)? == 1)
        })
        .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let before = At::from(before);
        self.drain(move |connection| {
            let old = admin_tokens::table.filter(admin_tokens::expires_at.le(before));
            let old = old.select(admin_tokens::id).limit(SWEEP.into()).load::<Id>(connection)?;
            diesel::delete(admin_tokens::table.filter(admin_tokens::id.eq_any(old)))
                .execute(connection)
        })
        .await
    }
}
