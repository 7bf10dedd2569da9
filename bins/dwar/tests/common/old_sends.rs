//! Ledger entries and places of old sends.

use super::{Database, Project, World};

#[derive(Clone, Copy)]
pub struct OldSends<'name> {
    pub name: &'name str,
    pub sends: u32,
    /// When the first was booked, in milliseconds since 1970, and the distance between two sends.
    pub since: i64,
    pub apart: i64,
}

impl World {
    /// Books sends with a hold of 25, a capture of 20 and a release of 5 paise each, without using
    /// the service.
    pub async fn book_old_sends(&self, project: &Project, old: OldSends<'_>) {
        let OldSends { name, sends, since, apart } = old;
        let (id, at) = match self.database {
            Database::Postgres { .. } => (
                "gen_random_uuid()",
                format!("to_timestamp(({since} + i * {apart}::bigint) / 1000.0)"),
            ),
            _ => ("randomblob(16)", format!("{since} + i * {apart}")),
        };
        let project = self.database.id(&project.id);
        let booked = format!(
            "WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < {sends} - 1), \
             moves (j, kind, amount, held, left_held) AS (VALUES (1, 'hold', 0, 25, 25), \
                 (2, 'capture', -20, -20, 5), (3, 'release', 0, -5, 0)) \
             INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, balance_after, held_after, \
                 reference, made_at, relayed) \
             SELECT {id}, w.project_id, w.entries + 3 * i + j, kind, amount, m.held, \
                 w.balance - 20 * i - CASE j WHEN 1 THEN 0 ELSE 20 END, left_held, '{name}-' || i, {at}, false \
             FROM wallets w, numbers, moves m WHERE w.project_id = {project}"
        );
        self.database.run(&booked).await;
        let moved = format!(
            "UPDATE wallets SET entries = entries + 3 * {sends}, balance = balance - 20 * {sends} \
             WHERE project_id = {project}"
        );
        self.database.run(&moved).await;
    }

    /// Makes the one place that each phone of the project has into so many, from half an hour to at most sixteen hours
    /// old.
    pub async fn age_places(&self, project: &Project, places: usize) {
        // Places are deleted by their ids, so a new id has to be above those of today.
        let (id, older) = match self.database {
            Database::Postgres { .. } => (
                "('ff' || substr(gen_random_uuid()::text, 3))::uuid",
                "taken_at - i * interval '30 minutes'",
            ),
            _ => ("CAST(x'ff' || randomblob(15) AS blob)", "taken_at - i * 1800000"),
        };
        let project = self.database.id(&project.id);
        let copied = format!(
            "WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < {places}) \
             INSERT INTO send_slots (send_id, project_id, mode, phone_index, taken_at, forgiven) \
             SELECT {id}, project_id, mode, phone_index, {older}, forgiven FROM send_slots, numbers \
             WHERE project_id = {project}"
        );
        let newest = format!(
            "DELETE FROM send_slots WHERE project_id = {project} AND taken_at = \
             (SELECT max(taken_at) FROM send_slots AS own WHERE own.project_id = send_slots.project_id \
              AND own.phone_index = send_slots.phone_index)"
        );
        self.database.run(&copied).await;
        self.database.run(&newest).await;
    }
}
