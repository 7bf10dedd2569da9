use crate::connection::error::Failure;
use crate::connection::pool::SqliteStore;
use crate::event;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_identity::{Erased, Identity, IdentityStore};
use dwar_kernel::{BlindIndex, IdentityId, ProjectMode, StoreError, Timestamp};
use dwar_session::Session;
use dwar_sql::schema::{events, idempotency_records, identities, otps, sessions};
use dwar_sql::statement;
use dwar_sql::{Id, IdentityRow, SessionRow, in_world, of_phone, read_all, read_one};

#[async_trait]
impl IdentityStore for SqliteStore {
    async fn find(
        &self,
        world: ProjectMode,
        id: IdentityId,
    ) -> Result<Option<Identity>, StoreError> {
        self.of(world.project)
            .read(move |connection| {
                let query = in_world!(identities of world, id);
                Ok(read_one!(IdentityRow of query, connection))
            })
            .await
    }

    async fn find_by_phone(
        &self,
        world: ProjectMode,
        phone: BlindIndex,
    ) -> Result<Option<Identity>, StoreError> {
        self.of(world.project).read(move |connection| by_phone(connection, world, phone)).await
    }

    async fn erase(
        &self,
        world: ProjectMode,
        id: IdentityId,
        now: Timestamp,
    ) -> Result<Option<Erased>, StoreError> {
        self.of(world.project)
            .write(move |connection| {
                let query = in_world!(identities of world, id).select(identities::phone_index);
                let phone: Option<Vec<u8>> = query.get_result(connection).optional()?;
                let Some(phone) = phone else { return Ok(None) };
                let query = sessions::table.filter(sessions::identity_id.eq(Id::from(id)));
                let sessions: Vec<Session> = read_all!(SessionRow of query, connection);
                let alive = sessions.iter().filter(|session| session.is_alive(now)).count();
                let sessions_revoked = u64::try_from(alive).unwrap_or(u64::MAX);
                // The sessions go with it, by the schema.
                diesel::delete(identities::table.find(Id::from(id))).execute(connection)?;
                erase_traces(connection, world, &phone)?;
                let erased = Erased { sessions_revoked };
                event::record(connection, &erased.event(world, id, now))?;
                Ok(Some(erased))
            })
            .await
    }
}

/// Deletes what else knows the phone; attempts and messages go with their code, by the schema.
/// Events that have not been told yet stay, without it.
fn erase_traces(
    connection: &mut SqliteConnection,
    world: ProjectMode,
    phone: &[u8],
) -> QueryResult<()> {
    let codes = of_phone!(otps of world, phone);
    diesel::delete(codes).execute(connection)?;
    let answers = of_phone!(idempotency_records of world, phone);
    diesel::delete(answers).execute(connection)?;
    let untold = of_phone!(events of world, phone);
    let nothing = None::<Vec<u8>>;
    diesel::update(untold)
        .set((events::phone_index.eq(&nothing), events::phone_sealed.eq(&nothing)))
        .execute(connection)
        .map(|_| ())
}

/// Puts the identity of a phone on record, new or as just verified.
pub(crate) fn save(
    connection: &mut SqliteConnection,
    identity: &Identity,
    phone: BlindIndex,
) -> QueryResult<()> {
    let row = IdentityRow::new(identity, phone);
    let insert = diesel::insert_into(identities::table).values(&row);
    let seen = (
        identities::last_verified_at.eq(row.last_verified_at),
        identities::phone_sealed.eq(&row.phone_sealed),
    );
    statement::upsert(insert, "id", seen).execute(connection)?;
    Ok(())
}

fn by_phone(
    connection: &mut SqliteConnection,
    world: ProjectMode,
    phone: BlindIndex,
) -> Result<Option<Identity>, Failure> {
    let query = of_phone!(identities of world, phone.0.as_slice());
    Ok(read_one!(IdentityRow of query, connection))
}
