use crate::dialect::{Conn, Store, hold_sends};
use crate::event;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_identity::{Erased, Identity, IdentityStore};
use dwar_kernel::{BlindIndex, IdentityId, ProjectMode, StoreError, Timestamp};
use dwar_session::Session;
use dwar_sql::schema::{idempotency_records, identities, otps, sandbox_messages, sessions};
use dwar_sql::{Id, IdentityRow, SessionRow, in_mode, of_phone, read_all, read_one};

#[async_trait]
impl IdentityStore for Store {
    async fn find(
        &self,
        project_mode: ProjectMode,
        id: IdentityId,
    ) -> Result<Option<Identity>, StoreError> {
        self.of(project_mode.project)
            .read("identity.find", move |conn| {
                let query = in_mode!(identities of project_mode, id);
                Ok(read_one!(IdentityRow of query, conn))
            })
            .await
    }

    async fn find_by_phone(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
    ) -> Result<Option<Identity>, StoreError> {
        self.of(project_mode.project)
            .read("identity.find_by_phone", move |conn| {
                let query = of_phone!(identities of project_mode, phone.0.as_slice());
                Ok(read_one!(IdentityRow of query, conn))
            })
            .await
    }

    async fn erase(
        &self,
        project_mode: ProjectMode,
        id: IdentityId,
        now: Timestamp,
    ) -> Result<Option<Erased>, StoreError> {
        self.of(project_mode.project)
            .write("identity.erase", move |conn| {
                let phone: Option<Vec<u8>> = in_mode!(identities of project_mode, id)
                    .select(identities::phone_index)
                    .get_result(conn)
                    .optional()?;
                let Some(phone) = phone else { return Ok(None) };
                // Locks codes before identities, as a login does; no new code can appear.
                hold_sends(conn, &phone)?;
                let codes = of_phone!(otps of project_mode, phone.as_slice()).order(otps::id);
                for_update!(codes.select(otps::id)).load::<Id>(conn)?;
                let identity = in_mode!(identities of project_mode, id).select(identities::id);
                let known: Option<Id> = for_update!(identity).get_result(conn).optional()?;
                if known.is_none() {
                    return Ok(None);
                }
                // From here on no session can start or change. Locks are taken in order, so that
                // two erasures cannot deadlock.
                let sessions = sessions::table
                    .filter(sessions::identity_id.eq(Id::from(id)))
                    .order(sessions::id);
                let sessions: Vec<Session> = read_all!(SessionRow of for_update!(sessions), conn);
                let alive = sessions.iter().filter(|session| session.is_alive(now)).count();
                let sessions_revoked = u64::try_from(alive).unwrap_or(u64::MAX);
                // The schema deletes the sessions.
                diesel::delete(identities::table.find(Id::from(id))).execute(conn)?;
                let erased = Erased { sessions_revoked };
                // Endpoints are locked before the phone's own events.
                event::record(conn, &erased.event(project_mode, id, now))?;
                erase_traces(conn, project_mode, &phone)?;
                Ok(Some(erased))
            })
            .await
    }
}

/// Deletes the other records of the phone. The schema deletes attempts with their code.
fn erase_traces(conn: &mut Conn, project_mode: ProjectMode, phone: &[u8]) -> QueryResult<()> {
    diesel::delete(of_phone!(otps of project_mode, phone)).execute(conn)?;
    // From here on no request exists that could record another event.
    event::forget_phone(conn, project_mode, phone)?;
    // The inbox has no mode. The same phone has another index in the other mode.
    let messages = sandbox_messages::table
        .filter(sandbox_messages::project_id.eq(Id::from(project_mode.project)))
        .filter(sandbox_messages::phone_index.eq(phone));
    diesel::delete(messages).execute(conn)?;
    diesel::delete(of_phone!(idempotency_records of project_mode, phone)).execute(conn)?;
    Ok(())
}
