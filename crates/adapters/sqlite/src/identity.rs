use diesel::prelude::*;
use dwar_identity::Identity;
use dwar_kernel::BlindIndex;
use dwar_sql::schema::identities;
use dwar_sql::{IdentityRow, statement};

/// Stores the identity of a phone, new or just verified.
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
