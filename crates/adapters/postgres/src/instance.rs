use crate::PostgresStore;
use crate::connection::clock::server_clock;
use async_trait::async_trait;
use diesel::dsl::count_star;
use diesel::prelude::*;
use dwar_activity::installation::{Instance, InstanceStore};
use dwar_kernel::{InstanceId, StoreError, Timestamp};
use dwar_sql::schema::instances;
use dwar_sql::{At, Id, InstanceRow, read_each};
use std::sync::atomic::Ordering;

#[async_trait]
impl InstanceStore for PostgresStore {
    async fn beat(
        &self,
        instance: Instance,
        forget: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let alive_since = At::from(Instance::alive_since(instance.seen_at));
        let row = InstanceRow::from(instance);
        let (alive, shown) = self
            .write_one("installation.beat", move |conn| {
                diesel::insert_into(instances::table)
                    .values(row.clone())
                    .on_conflict(instances::id)
                    .do_update()
                    .set(row.clone())
                    .execute(conn)?;
                diesel::delete(instances::table.filter(instances::seen_at.lt(At::from(forget))))
                    .execute(conn)?;
                let alive = instances::table.filter(instances::seen_at.ge(alive_since));
                Ok(alive.select((count_star(), server_clock())).get_result::<(i64, _)>(conn)?)
            })
            .await?;
        self.shared.instances.store(u32::try_from(alive).unwrap_or(u32::MAX), Ordering::Relaxed);
        Ok(Some(shown))
    }

    async fn leave(&self, instance: InstanceId) -> Result<(), StoreError> {
        self.write_one("installation.leave", move |conn| {
            diesel::delete(instances::table.find(Id::from(instance))).execute(conn)?;
            Ok(())
        })
        .await
    }

    async fn instances(&self, limit: u32) -> Result<Vec<Instance>, StoreError> {
        self.read("installation.instances", move |conn| {
            let query = instances::table
                .order((instances::seen_at.desc(), instances::id))
                .limit(limit.into());
            Ok(read_each!(InstanceRow of query, conn))
        })
        .await
    }
}
