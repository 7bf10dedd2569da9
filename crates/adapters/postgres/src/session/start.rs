//! Logins: any number of one project, in one statement.

use crate::connection::error::Failure;
use crate::connection::project_queue::Joined;
use crate::connection::statement::{Statement, each};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Text};
use dwar_kernel::{IdentityId, ProjectId};
use dwar_session::Login;
use dwar_sql::{At, Id, Row};

/// The identity that each phone has or gets, and a session of it. The identities are locked in the order
/// of their phones, so that a deletion waits and takes the session with it, or comes first. Run again
/// after a lost connection, it finds what it made.
const START: &str = "\
, step AS ( \
    SELECT s.* FROM given g, unnest(g.modes, g.phones, g.sealed, g.identities, g.sessions, \
        g.made, g.ends, g.digests, g.generations, g.rotations, g.refresh_ends, g.tokens, \
        g.issued, g.token_ends) WITH ORDINALITY \
        AS s (mode, phone, sealed, identity, id, created_at, expires_at, refresh_digest, \
            generation, rotations, refresh_expires_at, access_token_id, access_issued_at, \
            access_expires_at, place) \
), home AS ( \
    INSERT INTO identities AS i \
        (id, project_id, mode, phone_index, phone_sealed, created_at, last_verified_at) \
    SELECT DISTINCT ON (s.mode, s.phone) s.identity, g.project, s.mode, s.phone, s.sealed, \
        s.created_at, s.created_at \
    FROM step s CROSS JOIN given g ORDER BY s.mode, s.phone, s.created_at DESC \
    ON CONFLICT (project_id, mode, phone_index) DO UPDATE SET \
        last_verified_at = greatest(i.last_verified_at, excluded.last_verified_at), \
        phone_sealed = excluded.phone_sealed \
    RETURNING i.id, i.mode, i.phone_index \
), started AS ( \
    INSERT INTO sessions (id, project_id, mode, identity_id, created_at, expires_at, \
        refresh_digest, generation, rotations, refresh_expires_at, access_token_id, \
        access_issued_at, access_expires_at) \
    SELECT s.id, g.project, s.mode, home.id, s.created_at, s.expires_at, s.refresh_digest, \
        s.generation, s.rotations, s.refresh_expires_at, s.access_token_id, \
        s.access_issued_at, s.access_expires_at \
    FROM step s JOIN home ON home.mode = s.mode AND home.phone_index = s.phone \
    CROSS JOIN given g ON CONFLICT (id) DO NOTHING \
) SELECT home.id FROM step s \
    JOIN home ON home.mode = s.mode AND home.phone_index = s.phone ORDER BY s.place";

#[derive(QueryableByName)]
struct Home {
    #[diesel(sql_type = Id)]
    id: Id,
}

impl Joined for Login {
    /// Whose the session is.
    type Done = IdentityId;

    fn all(
        logins: &[Self],
        conn: &mut PgConnection,
        project: ProjectId,
        _: bool,
    ) -> Result<Vec<IdentityId>, Failure> {
        let homes: Vec<Home> = Statement::new(START)
            .given::<Id, _>("project", Id::from(project))
            .given::<Array<Text>, _>("modes", each(logins, |it| it.session.mode.as_str()))
            .given::<Array<Binary>, _>("phones", each(logins, |it| it.phone.0.as_slice()))
            .given::<Array<Binary>, _>("sealed", each(logins, |it| it.sealed_phone.0.as_slice()))
            .given::<Array<Id>, _>("identities", each(logins, |it| Id::from(it.session.identity)))
            .given::<Array<Id>, _>("sessions", each(logins, |it| Id::from(it.session.id)))
            .given::<Array<At>, _>("made", each(logins, |it| At::from(it.session.created_at)))
            .given::<Array<At>, _>("ends", each(logins, |it| At::from(it.session.expires_at)))
            .given::<Array<Binary>, _>(
                "digests",
                each(logins, |it| it.session.refresh.0.as_slice()),
            )
            .given::<Array<BigInt>, _>(
                "generations",
                each(logins, |it| i64::from(it.session.generation)),
            )
            .given::<Array<Binary>, _>(
                "rotations",
                each(logins, |it| it.session.rotations.to_bytes()),
            )
            .given::<Array<At>, _>(
                "refresh_ends",
                each(logins, |it| At::from(it.session.refresh_expires_at)),
            )
            .given::<Array<Id>, _>("tokens", each(logins, |it| Id::from(it.session.access.token)))
            .given::<Array<At>, _>(
                "issued",
                each(logins, |it| At::from(it.session.access.issued_at)),
            )
            .given::<Array<At>, _>(
                "token_ends",
                each(logins, |it| At::from(it.session.access.expires_at)),
            )
            .load(conn)?;
        homes.iter().map(|home| Ok(Row::new("identities", home.id).id("id", home.id)?)).collect()
    }
}
