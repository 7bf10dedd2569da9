use crate::PostgresStore;
use crate::convert::Row;
use crate::event;
use crate::schema::{idempotency_records, identities, otps, sandbox_messages};
use crate::session;
use crate::statement::Statement;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Text, Timestamptz, Uuid as SqlUuid};
use dwar_identity::{Erased, Identity, IdentityStore, Sighting};
use dwar_kernel::{BlindIndex, IdentityId, KeyMode, ProjectId, Sealed, StoreError, Timestamp};
use uuid::Uuid;

/// Again, after a lost answer, it finds what it made.
const RECOGNISE: &str = " INSERT INTO identities AS i \
     (id, project_id, mode, phone_index, phone_sealed, created_at, last_verified_at) \
     SELECT g.fresh, g.project, g.mode, g.index, g.phone, g.at, g.at FROM given g \
     ON CONFLICT (project_id, mode, phone_index) DO UPDATE SET \
     last_verified_at = greatest(i.last_verified_at, excluded.last_verified_at), \
     phone_sealed = excluded.phone_sealed \
     RETURNING i.id, set_config('synchronous_commit', 'off', true)";

#[derive(QueryableByName)]
struct Known {
    #[diesel(sql_type = SqlUuid)]
    id: Uuid,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = identities)]
struct IdentityRow {
    id: Uuid,
    project_id: Uuid,
    mode: String,
    phone_sealed: Vec<u8>,
    created_at: Timestamp,
    last_verified_at: Timestamp,
}

impl TryFrom<IdentityRow> for Identity {
    type Error = StoreError;

    fn try_from(row: IdentityRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            project: row.project_id.into(),
            mode: Row::new("identities", row.id).parse("mode", &row.mode)?,
            phone: Sealed(row.phone_sealed),
            created_at: row.created_at,
            last_verified_at: row.last_verified_at,
        })
    }
}

#[async_trait]
impl IdentityStore for PostgresStore {
    async fn recognise(
        &self,
        project: ProjectId,
        sighting: Sighting,
    ) -> Result<IdentityId, StoreError> {
        self.pool
            .run(move |conn| {
                let known: Known = Statement::new(RECOGNISE)
                    .given::<SqlUuid, _>("fresh", sighting.fresh.uuid())
                    .given::<SqlUuid, _>("project", project.uuid())
                    .given::<Text, _>("mode", sighting.mode.as_str())
                    .given::<Binary, _>("index", sighting.index.0.as_slice())
                    .given::<Binary, _>("phone", sighting.phone.0.as_slice())
                    .given::<Timestamptz, _>("at", sighting.at)
                    .get_result(conn)?;
                Ok(known.id.into())
            })
            .await
    }

    async fn find(
        &self,
        project: ProjectId,
        mode: KeyMode,
        id: IdentityId,
    ) -> Result<Option<Identity>, StoreError> {
        self.pool
            .run(move |conn| {
                let row: Option<IdentityRow> = identities::table
                    .find(id.uuid())
                    .filter(identities::project_id.eq(project.uuid()))
                    .filter(identities::mode.eq(mode.as_str()))
                    .select(IdentityRow::as_select())
                    .get_result(conn)
                    .optional()?;
                Ok(row.map(Identity::try_from).transpose()?)
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
            .run(move |conn| {
                let row: Option<IdentityRow> = identities::table
                    .filter(identities::project_id.eq(project.uuid()))
                    .filter(identities::mode.eq(mode.as_str()))
                    .filter(identities::phone_index.eq(phone.0.as_slice()))
                    .select(IdentityRow::as_select())
                    .get_result(conn)
                    .optional()?;
                Ok(row.map(Identity::try_from).transpose()?)
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
            .transaction(move |conn| {
                let phone: Option<Vec<u8>> = identities::table
                    .find(id.uuid())
                    .filter(identities::project_id.eq(project.uuid()))
                    .filter(identities::mode.eq(mode.as_str()))
                    .select(identities::phone_index)
                    .for_update()
                    .get_result(conn)
                    .optional()?;
                let Some(phone) = phone else { return Ok(None) };
                // From here on no session can start, and none can change.
                let sessions = session::lock_all(conn, id)?;
                let alive = sessions.iter().filter(|session| session.is_alive(now)).count();
                let sessions_revoked = u64::try_from(alive).unwrap_or(u64::MAX);
                diesel::delete(identities::table.find(id.uuid())).execute(conn)?;
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
    let requests = otps::table
        .filter(otps::project_id.eq(project.uuid()))
        .filter(otps::mode.eq(mode.as_str()))
        .filter(otps::phone_index.eq(phone));
    diesel::delete(requests).execute(conn)?;
    // From here on no request is left to record one more event.
    event::forget_phone(conn, project, mode, phone)?;
    // The inbox has no mode: the index of the other mode's number is another one.
    let messages = sandbox_messages::table
        .filter(sandbox_messages::project_id.eq(project.uuid()))
        .filter(sandbox_messages::phone_index.eq(phone));
    diesel::delete(messages).execute(conn)?;
    let answers = idempotency_records::table
        .filter(idempotency_records::project_id.eq(project.uuid()))
        .filter(idempotency_records::mode.eq(mode.as_str()))
        .filter(idempotency_records::phone_index.eq(phone));
    diesel::delete(answers).execute(conn)?;
    Ok(())
}
