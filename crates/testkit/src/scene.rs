use crate::{Fixtures, Line};
use dwar_app::Stores;
use dwar_kernel::{IdentityId, KeyMode, ProjectId};
use dwar_session::{Session, Started};

/// A project that no other test knows, and what it takes to fill it.
pub(crate) struct Scene {
    pub stores: Stores,
    pub make: Fixtures,
    pub project: ProjectId,
}

impl Scene {
    pub async fn open(stores: &Stores) -> Self {
        let make = Fixtures::random();
        let stores = stores.clone();
        let project = new_project(&stores, &make).await;
        Self { stores, make, project }
    }

    /// One more project.
    pub async fn another(&self) -> ProjectId {
        new_project(&self.stores, &self.make).await
    }

    /// A fresh phone of the project, live mode.
    pub fn line(&self) -> Line {
        self.make.line(self.project, KeyMode::Live)
    }

    /// The same look-up form of a phone where it must mean something else: in the other mode and
    /// in another project.
    pub async fn elsewhere(&self, line: &Line) -> [Line; 2] {
        let project = self.another().await;
        [Line { mode: KeyMode::Test, ..line.clone() }, Line { project, ..line.clone() }]
    }

    /// The identity of a phone, as just verified.
    pub async fn identity(&self, line: &Line) -> IdentityId {
        let sighting = self.make.sighting(line);
        self.stores.identities.recognise(line.project, sighting).await.unwrap()
    }

    /// A session that is on record, of an identity that is too.
    pub async fn session(&self, line: &Line) -> Session {
        let identity = self.identity(line).await;
        let session = self.make.session(line, identity);
        let started = self.stores.sessions.start(session.clone()).await.unwrap();
        assert_eq!(started, Started::Started);
        session
    }
}

async fn new_project(stores: &Stores, make: &Fixtures) -> ProjectId {
    let project = make.project();
    let id = project.id;
    stores.projects.create(project, make.keys()).await.unwrap();
    id
}
