use crate::dialect::{Store, take};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_activity::installation::{
    AlertChanges, AlertStore, InstanceTrouble, OpenAlert, ReportedTrouble,
};
use dwar_kernel::{InstanceId, StoreError, Timestamp};
use dwar_sql::schema::{alerts, instance_troubles, instances};
use dwar_sql::{AlertRow, At, Id, Lock, TroubleRow, legible, read_each};

#[async_trait]
impl AlertStore for Store {
    async fn report(
        &self,
        instance: InstanceId,
        troubles: Vec<InstanceTrouble>,
    ) -> Result<(), StoreError> {
        let id = Id::from(instance);
        let work = self.changing_no_look_up();
        work.write("installation.report", move |conn| {
            let known = instances::table.find(id);
            let is_known: bool = diesel::select(diesel::dsl::exists(known)).get_result(conn)?;
            diesel::delete(instance_troubles::table.filter(instance_troubles::instance_id.eq(id)))
                .execute(conn)?;
            for trouble in troubles.iter().filter(|_| is_known) {
                diesel::insert_into(instance_troubles::table)
                    .values(TroubleRow::new(instance, trouble.clone()))
                    .on_conflict_do_nothing()
                    .execute(conn)?;
            }
            Ok(())
        })
        .await
    }

    async fn reported(&self, since: Timestamp) -> Result<Vec<ReportedTrouble>, StoreError> {
        self.scan("installation.reported", move |conn| {
            let rows: Vec<(TroubleRow, String)> = instance_troubles::table
                .inner_join(instances::table)
                .filter(instances::seen_at.ge(At::from(since)))
                .order((instances::host, instance_troubles::kind, instance_troubles::about))
                .select((TroubleRow::as_select(), instances::host))
                .load(conn)?;
            Ok(rows.into_iter().filter_map(|(row, host)| legible!(row.of(host))).collect())
        })
        .await
    }

    async fn open_alerts(&self) -> Result<Vec<OpenAlert>, StoreError> {
        self.scan("installation.open_alerts", move |conn| {
            Ok(read_each!(AlertRow of alerts::table.order((alerts::kind, alerts::about)), conn))
        })
        .await
    }

    async fn settle_alerts(&self, open: Vec<OpenAlert>) -> Result<AlertChanges, StoreError> {
        let work = self.changing_no_look_up();
        work.write("installation.settle_alerts", move |conn| {
            take(conn, Lock::Alerts)?;
            let known: Vec<OpenAlert> = read_each!(AlertRow of alerts::table, conn);
            let changes = AlertChanges::between(&known, open.clone());
            for over in &changes.over {
                let row = alerts::table.find((over.kind.as_str(), over.about.as_str()));
                diesel::delete(row).execute(conn)?;
            }
            for opened in &changes.opened {
                diesel::insert_into(alerts::table)
                    .values(AlertRow::from(opened))
                    .on_conflict_do_nothing()
                    .execute(conn)?;
            }
            Ok(changes)
        })
        .await
    }
}
