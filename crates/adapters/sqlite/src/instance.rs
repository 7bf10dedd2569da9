use crate::connection::look_up_cache::OutdatedLookUps;
use crate::connection::pool::SqliteStore;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_activity::installation::{Instance, InstanceStore};
use dwar_kernel::{InstanceId, StoreError, Timestamp};
use dwar_sql::schema::instances;
use dwar_sql::{At, Id, InstanceRow, read_each};

#[async_trait]
impl InstanceStore for SqliteStore {
    async fn beat(
        &self,
        instance: Instance,
        forget: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let row = InstanceRow::from(instance);
        self.write_that("installation.beat", OutdatedLookUps::NoLookUp, move |connection| {
            diesel::insert_into(instances::table)
                .values(&row)
                .on_conflict(instances::id)
                .do_update()
                .set(&row)
                .execute(connection)?;
            diesel::delete(instances::table.filter(instances::seen_at.lt(At::from(forget))))
                .execute(connection)?;
            Ok(None)
        })
        .await
    }

    async fn leave(&self, instance: InstanceId) -> Result<(), StoreError> {
        self.write_that("installation.leave", OutdatedLookUps::NoLookUp, move |connection| {
            diesel::delete(instances::table.find(Id::from(instance))).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn instances(&self, limit: u32) -> Result<Vec<Instance>, StoreError> {
        self.scan("installation.instances", move |connection| {
            let query = instances::table
                .order((instances::seen_at.desc(), instances::id))
                .limit(limit.into());
            Ok(read_each!(InstanceRow of query, connection))
        })
        .await
    }
}
