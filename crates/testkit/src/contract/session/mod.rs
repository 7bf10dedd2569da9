//! What [`dwar_session::SessionStore`] promises.

mod end;
mod life;
mod rotation;

pub use end::*;
pub use life::*;
pub use rotation::*;

use crate::Stores;
use crate::scene::Scene;
use dwar_kernel::{Digest, Timestamp};
use dwar_session::{Presented, Rotation, RotationPolicy, Session, Successor};

/// Ten seconds of leeway, a minute of replay.
const POLICY: RotationPolicy =
    RotationPolicy { leeway: crate::seconds(10), replay: crate::seconds(60) };

/// What is on record of a session.
async fn stored(stores: &Stores, session: &Session) -> Option<Session> {
    stores.sessions.find(session.project, session.mode, session.id).await.unwrap()
}

const fn bare(refresh: Digest) -> Presented {
    Presented { refresh, key: None }
}

impl Scene {
    async fn by_refresh(&self, session: &Session, refresh: Digest) -> Option<Session> {
        let (project, mode) = (session.project, session.mode);
        self.stores.sessions.find_by_refresh(project, mode, refresh).await.unwrap()
    }

    /// Rotates in the store and in `session` itself: the two must agree, in the answer and on
    /// record.
    async fn rotate_with(
        &self,
        session: &mut Session,
        presented: Presented,
        next: Successor,
        now: Timestamp,
    ) -> Rotation {
        let rotation = session.rotate(&presented, next.clone(), POLICY, now);
        let (project, mode) = (session.project, session.mode);
        let answer =
            self.stores.sessions.rotate(project, mode, presented, next, POLICY, now).await.unwrap();
        assert_eq!(answer.as_ref(), Some(&rotation));
        assert_eq!(stored(&self.stores, session).await.as_ref(), Some(&*session));
        rotation
    }

    async fn rotate(&self, session: &mut Session, refresh: Digest, now: Timestamp) -> Rotation {
        let next = self.make.successor(session, now);
        self.rotate_with(session, bare(refresh), next, now).await
    }
}
