use crate::{CreatedProject, ManageProjects};
use dwar_kernel::StoreError;
use dwar_wallet::Paise;
use std::sync::Arc;

/// Makes something to play with on an empty store, once.
pub struct FirstStart {
    pub projects: Arc<ManageProjects>,
    /// What to make; `None` makes nothing.
    pub demo: Option<Demo>,
}

/// The project of a first start.
#[derive(Clone, Debug)]
pub struct Demo {
    pub name: String,
    pub balance: Paise,
}

impl FirstStart {
    /// The demo project, if it was wanted and the store held no project; never a second time.
    pub async fn run(&self) -> Result<Option<CreatedProject>, StoreError> {
        match &self.demo {
            Some(demo) => self.projects.create_first(&demo.name, demo.balance).await,
            None => Ok(None),
        }
    }
}
