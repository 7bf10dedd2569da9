use crate::dialect::{Conn, Failure, SWEEP_BATCH, Store, take};
use crate::guard_statements::{SWEEP, save};
use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_activity::Grain;
use dwar_kernel::{KeyMode, ProjectId, StoreError, Timestamp};
use dwar_ratelimit::GuardStore;
use dwar_ratelimit::guard::{GuardLevel, GuardSubjectKind, LevelChange, StoredLevel};
use dwar_sql::schema::{figures, guard_levels};
use dwar_sql::{At, GuardLevelRow, Id, Lock, read_each};
use std::collections::HashMap;

#[async_trait]
impl GuardStore for Store {
    async fn change_levels(
        &self,
        changes: Vec<LevelChange>,
        now: Timestamp,
    ) -> Result<Vec<StoredLevel>, StoreError> {
        let work = self.changing_no_look_up();
        work.steps_ahead_of_disk("guard.change", move |conn| {
            take(conn, Lock::GuardLevels)?;
            let levels = applied(conn, &changes, now)?;
            save(conn, levels.iter().map(GuardLevelRow::from).collect())?;
            Ok(levels)
        })
        .await
    }

    async fn changed_levels(
        &self,
        projects: Vec<ProjectId>,
        since: Timestamp,
    ) -> Result<Vec<StoredLevel>, StoreError> {
        self.scan("guard.changed", move |conn| {
            // Given both, SQLite would read all levels of a project to find the few that changed.
            let all = guard_levels::table;
            let mut levels: Vec<StoredLevel> = if since == Timestamp::UNIX_EPOCH {
                let ids: Vec<Id> = projects.iter().copied().map(Id::from).collect();
                read_each!(GuardLevelRow of all.filter(guard_levels::project_id.eq_any(ids)), conn)
            } else {
                read_each!(GuardLevelRow of all.filter(guard_levels::changed_at.ge(At::from(since))), conn)
            };
            levels.retain(|it| projects.contains(&it.project));
            Ok(levels)
        })
        .await
    }

    async fn verified(
        &self,
        project: ProjectId,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<u64, StoreError> {
        self.of(project)
            .scan("guard.verified", move |conn| {
                let verified: i64 = figures::table
                    .filter(figures::project_id.eq(Id::from(project)))
                    .filter(figures::mode.eq(KeyMode::Live.as_str()))
                    .filter(figures::grain.eq(Grain::Day.as_str()))
                    .filter(figures::began_at.ge(At::from(from)))
                    .filter(figures::began_at.lt(At::from(until)))
                    .select(sql::<BigInt>("CAST(coalesce(sum(verified), 0) AS bigint)"))
                    .get_result(conn)?;
                Ok(u64::try_from(verified).unwrap_or_default())
            })
            .await
    }

    async fn sweep_levels(&self, now: Timestamp) -> Result<u64, StoreError> {
        let known = now - GuardLevel::KNOWN_AFTER;
        self.in_batches(move |conn| {
            diesel::sql_query(SWEEP)
                .bind::<At, _>(At::from(known))
                .bind::<BigInt, _>(SWEEP_BATCH)
                .execute(conn)
        })
        .await
    }
}

/// The levels that the changes leave.
fn applied(
    conn: &mut Conn,
    changes: &[LevelChange],
    now: Timestamp,
) -> Result<Vec<StoredLevel>, Failure> {
    let projects: Vec<Id> = changes.iter().map(|change| change.project.into()).collect();
    let digests: Vec<Vec<u8>> =
        changes.iter().map(|change| change.subject.digest.0.to_vec()).collect();
    let query = guard_levels::table
        .filter(guard_levels::project_id.eq_any(projects))
        .filter(guard_levels::kind.eq_any(GuardSubjectKind::ALL.map(GuardSubjectKind::as_str)))
        .filter(guard_levels::digest.eq_any(digests));
    let known: Vec<StoredLevel> = read_each!(GuardLevelRow of query, conn);
    let known: HashMap<_, _> =
        known.into_iter().map(|it| ((it.project, it.subject), it.level)).collect();
    let before = |change: &LevelChange| known.get(&(change.project, change.subject)).copied();
    Ok(changes.iter().map(|change| change.apply(before(change), now)).collect())
}
