use crate::convert::Row;
use crate::event;
use crate::pool::SqliteStore;
use crate::schema::{events, idempotency_records, identities, otps, sessions};
use crate::session::SessionRow;
use crate::statement;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_identity::{Erased, Identity, IdentityStore, Sighting};
use dwar_kernel::{BlindIndex, IdentityId, KeyMode, ProjectId, Sealed, StoreError, Timestamp};
use dwar_session::Session;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = identities)]
struct IdentityRow {
    id: String,
    project_id: String,
    mode: String,
    phone_index: Vec<u8>,
    phone_sealed: Vec<u8>,
    created_at: i64,
    last_verified_at: i64,
}

impl TryFrom<IdentityRow> for Identity {
    type Error = StoreError;

    fn try_from(stored: IdentityRow) -> Result<Self, StoreError> {
        let row = Row::new("identities", &stored.id);
        Ok(Self {
            id: row.parse("id", &stored.id)?,
            project: row.parse("project_id", &stored.project_id)?,
            mode: row.parse("mode", &stored.mode)?,
            created_at: row.instant("created_at", stored.created_at)?,
            last_verified_at: row.instant("last_verified_at", stored.last_verified_at)?,
            phone: Sealed(stored.phone_sealed),
        })
    }
}

#[async_trait]
impl IdentityStore for SqliteStore {
    async fn recognise(
        &self,
        project: ProjectId,
        sighting: Sighting,
    ) -> Result<IdentityId, StoreError> {
        // The session that is started next takes it to the disk.
        self.write_ahead_of_disk(move |connection| {
            let at = sighting.at.timestamp_millis();
            let (mode, phone) = (sighting.mode, sighting.index);
            if let Some(known) = by_phone(connection, project, mode, phone)? {
                let seen = (
                    identities::last_verified_at.eq(at.max(known.last_verified_at)),
                    identities::phone_sealed.eq(&sighting.phone.0),
                );
                let known_row = identities::table.find(&known.id);
                statement::update(known_row, seen).execute(connection)?;
                return Ok(Identity::try_from(known)?.id);
            }
            let row = IdentityRow {
                id: sighting.fresh.to_string(),
                project_id: project.to_string(),
                mode: mode.to_string(),
                phone_index: phone.0.to_vec(),
                phone_sealed: sighting.phone.0,
                created_at: at,
                last_verified_at: at,
            };
            diesel::insert_into(identities::table).values(row).execute(connection)?;
            Ok(sighting.fresh)
        })
        .await
    }

    async fn find(
        &self,
        project: ProjectId,
        mode: KeyMode,
        id: IdentityId,
    ) -> Result<Option<Identity>, StoreError> {
        self.read(move |connection| {
            let row = by_id(connection, project, mode, id)?;
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
        self.read(move |connection| {
            let row = by_phone(connection, project, mode, phone)?;
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
        self.write(move |connection| {
            let Some(identity) = by_id(connection, project, mode, id)? else { return Ok(None) };
            let rows = sessions::table
                .filter(sessions::identity_id.eq(&identity.id))
                .select(SessionRow::as_select())
                .load(connection)?;
            let mut sessions_revoked = 0;
            for row in rows {
                sessions_revoked += u64::from(Session::try_from(row)?.is_alive(now));
            }
            // The sessions go with it, by the schema.
            diesel::delete(identities::table.find(&identity.id)).execute(connection)?;
            erase_traces(connection, &identity)?;
            let erased = Erased { sessions_revoked };
            event::record(connection, &erased.event(project, mode, id, now))?;
            Ok(Some(erased))
        })
        .await
    }
}

/// Deletes what else knows the phone; attempts and messages go with their code, by the schema.
/// Events that have not been told yet stay, without it.
fn erase_traces(connection: &mut SqliteConnection, identity: &IdentityRow) -> QueryResult<()> {
    let codes = otps::table
        .filter(otps::project_id.eq(&identity.project_id))
        .filter(otps::mode.eq(&identity.mode))
        .filter(otps::phone_index.eq(&identity.phone_index));
    diesel::delete(codes).execute(connection)?;
    let answers = idempotency_records::table
        .filter(idempotency_records::project_id.eq(&identity.project_id))
        .filter(idempotency_records::mode.eq(&identity.mode))
        .filter(idempotency_records::phone_index.eq(&identity.phone_index));
    diesel::delete(answers).execute(connection)?;
    let untold = events::table
        .filter(events::project_id.eq(&identity.project_id))
        .filter(events::mode.eq(&identity.mode))
        .filter(events::phone_index.eq(&identity.phone_index));
    let nothing = None::<Vec<u8>>;
    diesel::update(untold)
        .set((events::phone_index.eq(&nothing), events::phone_sealed.eq(&nothing)))
        .execute(connection)
        .map(|_| ())
}

fn by_id(
    connection: &mut SqliteConnection,
    project: ProjectId,
    mode: KeyMode,
    id: IdentityId,
) -> QueryResult<Option<IdentityRow>> {
    identities::table
        .filter(identities::id.eq(id.to_string()))
        .filter(identities::project_id.eq(project.to_string()))
        .filter(identities::mode.eq(mode.as_str()))
        .select(IdentityRow::as_select())
        .get_result(connection)
        .optional()
}

fn by_phone(
    connection: &mut SqliteConnection,
    project: ProjectId,
    mode: KeyMode,
    phone: BlindIndex,
) -> QueryResult<Option<IdentityRow>> {
    identities::table
        .filter(identities::project_id.eq(project.to_string()))
        .filter(identities::mode.eq(mode.as_str()))
        .filter(identities::phone_index.eq(phone.0.as_slice()))
        .select(IdentityRow::as_select())
        .get_result(connection)
        .optional()
}
