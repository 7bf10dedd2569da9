use crate::PostgresStore;
use crate::event;
use crate::session;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_identity::{Erased, Identity, IdentityStore};
use dwar_kernel::{BlindIndex, IdentityId, KeyMode, ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{idempotency_records, identities, otps, sandbox_messages};
use dwar_sql::{Id, IdentityRow, in_world, of_phone, read_one};

#[async_trait]
impl IdentityStore for PostgresStore {
    async fn find(
        &self,
        project: ProjectId,
        mode: KeyMode,
        id: IdentityId,
    ) -> Result<Option<Identity>, StoreError> {
        self.pool
            .of(project)
            .run(move |conn| {
                let query = in_world!(identities of project, mode, id);
                Ok(read_one!(IdentityRow of query, conn))
            })
            .await
    }

    async fn find_by_phone(
        &self,
        project: ProjectId,
        mode: KeyMode,
        phone: BlindIndex,
    ) -> Result<Option<Identity>, StoreError> {
        self.pool
            .of(project)
            .run(move |conn| {
                let query = of_phone!(identities of project, mode, phone.0.as_slice());
                Ok(read_one!(IdentityRow of query, conn))
            })
            .await
    }

    async fn erase(
        &self,
        project: ProjectId,
        mode: KeyMode,
        id: IdentityId,
        now: Timestamp,
    ) -> Result<Option<Erased>, StoreError> {
        self.pool
            .of(project)
            .transaction(move |conn| {
                let phone: Option<Vec<u8>> = in_world!(identities of project, mode, id)
                    .select(identities::phone_index)
                    .for_update()
                    .get_result(conn)
                    .optional()?;
                let Some(phone) = phone else { return Ok(None) };
                // From here on no session can start, and none can change.
                let sessions = session::lock_all(conn, id)?;
                let alive = sessions.iter().filter(|session| session.is_alive(now)).count();
                let sessions_revoked = u64::try_from(alive).unwrap_or(u64::MAX);
                diesel::delete(identities::table.find(Id::from(id))).execute(conn)?;
                let erased = Erased { sessions_revoked };
                // Before the phone's own events are locked: endpoints come first.
                event::record(conn, &erased.event(project, mode, id, now))?;
                erase_traces(conn, project, mode, &phone)?;
                Ok(Some(erased))
            })
            .await
    }
}

/// Sessions go with the identity, attempts with their request.
fn erase_traces(
    conn: &mut PgConnection,
    project: ProjectId,
    mode: KeyMode,
    phone: &[u8],
) -> QueryResult<()> {
    let old = diesel::alias!(otps as old);
    let requests = old
        .filter(old.field(otps::project_id).eq(Id::from(project)))
        .filter(old.field(otps::mode).eq(mode.as_str()))
        .filter(old.field(otps::phone_index).eq(phone))
        .order(old.field(otps::id))
        .select(old.field(otps::id))
        .for_update();
    diesel::delete(otps::table.filter(otps::id.eq_any(requests))).execute(conn)?;
    // From here on no request is left to record one more event.
    event::forget_phone(conn, project, mode, phone)?;
    // The inbox has no mode: the index of the other mode's number is another one.
    let messages = sandbox_messages::table
        .filter(sandbox_messages::project_id.eq(Id::from(project)))
        .filter(sandbox_messages::phone_index.eq(phone));
    diesel::delete(messages).execute(conn)?;
    let answers = of_phone!(idempotency_records of project, mode, phone);
    diesel::delete(answers).execute(conn)?;
    Ok(())
}
