use crate::dialect::{Store, primary_alone};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{AdminTokenId, Digest, StoreError, Timestamp};
use dwar_operator::{AdminToken, AdminTokenStore};
use dwar_sql::schema::admin_tokens;
use dwar_sql::{AdminTokenRow, At, Id, read_each, read_one};
use std::net::IpAddr;
use std::time::Duration;

#[async_trait]
impl AdminTokenStore for Store {
    async fn add(&self, token: AdminToken) -> Result<(), StoreError> {
        self.write_one("operator.add", move |conn| {
            // The token exists already if the call is repeated after a lost answer.
            diesel::insert_into(admin_tokens::table)
                .values(AdminTokenRow::from(token.clone()))
                .on_conflict(admin_tokens::id)
                .do_nothing()
                .execute(conn)?;
            Ok(())
        })
        .await
    }

    async fn tokens(&self) -> Result<Vec<AdminToken>, StoreError> {
        self.scan("operator.tokens", move |conn| {
            let query = admin_tokens::table.order((admin_tokens::made_at, admin_tokens::id));
            Ok(read_each!(AdminTokenRow of query, conn))
        })
        .await
    }

    async fn token(&self, token: Digest) -> Result<Option<AdminToken>, StoreError> {
        self.read("operator.token", move |conn| {
            let query = admin_tokens::table
                .filter(admin_tokens::digest.eq(token.0.as_slice()))
                .filter(primary_alone());
            Ok(read_one!(AdminTokenRow of query, conn))
        })
        .await
    }

    async fn record_token_use(
        &self,
        token: AdminTokenId,
        from: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        // The rule as a guard: never used, or last recorded a minute ago. A use that a loss of
        // power undoes is recorded again.
        let noted_before = At::from(now - AdminToken::NOTED_EVERY);
        self.write_ahead_of_disk("operator.note_token", move |conn| {
            let due = admin_tokens::used_at.is_null().or(admin_tokens::used_at.le(noted_before));
            diesel::update(admin_tokens::table.find(Id::from(token)).filter(due))
                .set((
                    admin_tokens::used_at.eq(At::from(now)),
                    admin_tokens::used_from.eq(from.map(|address| address.to_string())),
                ))
                .execute(conn)?;
            Ok(())
        })
        .await
    }

    async fn revoke(&self, token: AdminTokenId) -> Result<bool, StoreError> {
        self.write("operator.revoke", move |conn| {
            let row = admin_tokens::table.find(Id::from(token));
            Ok(diesel::delete(row).execute(conn)? == 1)
        })
        .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        // A token is invalid from the instant it ends; instants are whole milliseconds.
        let before = before + Duration::from_millis(1);
        self.drop_before("admin_tokens", "expires_at", before).await
    }
}
