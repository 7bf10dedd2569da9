use crate::PostgresStore;
use crate::convert::Row;
use crate::event;
use crate::schema::{idempotency_records, identities, otps, sandbox_messages};
use crate::session;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::upsert::excluded;
use dwar_event::{Event, EventKind, Subject};
use dwar_identity::{Erased, Identity, IdentityStore, Sighting};
use dwar_kernel::{BlindIndex, IdentityId, KeyMode, ProjectId, Sealed, StoreError, Timestamp};
use uuid::Uuid;

diesel::define_sql_function! {
    /// The later of two instants.
    fn greatest(a: diesel::sql_types::Timestamptz, b: diesel::sql_types::Timestamptz)
        -> diesel::sql_types::Timestamptz;
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
                let id: Uuid = diesel::insert_into(identities::table)
                    .values((
                        identities::id.eq(sighting.fresh.uuid()),
                        identities::project_id.eq(project.uuid()),
                        identities::mode.eq(sighting.mode.as_str()),
                        identities::phone_index.eq(sighting.index.0.as_slice()),
                        identities::phone_sealed.eq(&sighting.phone.0),
                        identities::created_at.eq(sighting.at),
                        identities::last_verified_at.eq(sighting.at),
                    ))
                    .on_conflict((
                        identities::project_id,
                        identities::mode,
                        identities::phone_index,
                    ))
                    .do_update()
                    .set((
                        identities::last_verified_at.eq(greatest(
                            identities::last_verified_at,
                            excluded(identities::last_verified_at),
                        )),
                        identities::phone_sealed.eq(excluded(identities::phone_sealed)),
                    ))
                    .returning(identities::id)
                    .get_result(conn)?;
                Ok(id.into())
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
                    .first(conn)
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
                    .first(conn)
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
                    .first(conn)
                    .optional()?;
                let Some(phone) = phone else { return Ok(None) };
                // From here on no session can start, and none can change.
                let sessions = session::lock_all(conn, id)?;
                let alive = sessions.iter().filter(|session| session.is_alive(now)).count();
                let sessions_revoked = u64::try_from(alive).unwrap_or(u64::MAX);
                diesel::delete(identities::table.find(id.uuid())).execute(conn)?;
                let subject = Subject::Identity { identity: id, sessions_revoked };
                let kind = EventKind::IdentityDeleted;
                // Before the phone's own events are locked: endpoints come first.
                event::record(conn, &Event { project, mode, kind, subject, at: now })?;
                erase_traces(conn, project, mode, &phone)?;
                Ok(Some(Erased { sessions_revoked }))
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
