//! Promises of [`dwar_session::SessionStore`].

mod end;
mod life;
mod rotation;

pub use end::*;
pub use life::*;
pub use rotation::*;

use crate::Stores;
use crate::scene::{Scene, stored_session};
use dwar_kernel::Timestamp;
use dwar_session::{PresentedRefreshToken, Rotation, RotationPolicy, Session, Successor};

/// Ten seconds of leeway, a minute of replay.
const POLICY: RotationPolicy =
    RotationPolicy { leeway: crate::seconds(10), replay: crate::seconds(60) };

async fn stored(stores: &Stores, session: &Session) -> Option<Session> {
    stored_session(stores, session.project_mode, session.id).await
}

impl Scene {
    /// Rotates in the store and in `session` itself; both must agree, in the answer and on record.
    async fn rotate_with(
        &self,
        session: &mut Session,
        presented: PresentedRefreshToken,
        next: Successor,
        now: Timestamp,
    ) -> Rotation {
        let seen = session.clone();
        let rotation = session.rotate(&presented, next.clone(), POLICY, now);
        let answer = self.stores.sessions.rotate(seen, presented, next, POLICY, now).await.unwrap();
        assert_eq!(answer.as_ref(), Some(&rotation));
        assert_eq!(stored(&self.stores, session).await.as_ref(), Some(&*session));
        rotation
    }

    async fn rotate(
        &self,
        session: &mut Session,
        presented: PresentedRefreshToken,
        now: Timestamp,
    ) -> Rotation {
        let next = self.make.successor(session, now);
        self.rotate_with(session, presented, next, now).await
    }

    /// Exchanges the current token at each of these instants; returns the used tokens.
    async fn rotate_often(
        &self,
        session: &mut Session,
        instants: impl IntoIterator<Item = Timestamp>,
    ) -> Vec<PresentedRefreshToken> {
        let mut used = Vec::new();
        for now in instants {
            used.push(self.make.presented(session));
            let rotation = self.rotate(session, self.make.presented(session), now).await;
            assert_eq!(rotation, Rotation::Rotated);
        }
        used
    }
}
