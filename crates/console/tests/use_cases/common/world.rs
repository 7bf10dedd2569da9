use dwar_app::{CommonPorts, Limits, Policies};
use dwar_console::{AuditRecorder, Control};
use dwar_kernel::{KeyMode, ProjectMode, StoreError};
use dwar_memory::MemoryStore;
use dwar_operator::Requester;
use dwar_otp::MockOtpStore;
use dwar_project::{MockProjectStore, Project};
use dwar_session::MockTokenSigner;
use dwar_testkit::{ClearVault, FixedClock, Fixtures, Line, START, SeededEntropy, watch};
use dwar_wallet::MockWalletStore;
use std::mem::take;
use std::sync::Arc;

pub fn limits() -> Limits {
    Policies::default().limits
}

/// A project, a phone, a clock, and a mock of each port that several use cases share.
pub struct World {
    pub make: Fixtures,
    pub clock: Arc<FixedClock>,
    pub project: Project,
    pub line: Line,
    pub otps: MockOtpStore,
    pub wallets: MockWalletStore,
    pub projects: MockProjectStore,
    pub signer: MockTokenSigner,
}

impl World {
    pub fn live() -> Self {
        let make = Fixtures::seeded(1);
        let project = make.project().into_project();
        let line = make.line(ProjectMode { project: project.id, mode: KeyMode::Live });
        Self {
            make,
            clock: Arc::new(FixedClock::at(START)),
            project,
            line,
            otps: MockOtpStore::new(),
            wallets: MockWalletStore::new(),
            projects: MockProjectStore::new(),
            signer: MockTokenSigner::new(),
        }
    }

    pub fn tools(&self) -> CommonPorts {
        CommonPorts {
            clock: Arc::clone(&self.clock) as _,
            watch: watch(&self.clock),
            entropy: Arc::new(SeededEntropy::new(2)),
            vault: Arc::new(ClearVault),
            observer: Arc::new(()),
        }
    }

    /// The control of the mocked projects, with a log that accepts every entry.
    pub fn control(&mut self) -> Control {
        let projects = Arc::new(take(&mut self.projects));
        let audit =
            AuditRecorder { tools: self.tools(), entries: Arc::new(MemoryStore::default()) };
        Control { tools: self.tools(), projects, audit }
    }

    /// The project is found, any number of times.
    pub fn knows_project(&mut self) -> &mut Self {
        let project = self.project.clone();
        self.projects
            .expect_find()
            .returning(move |id| Ok(Some(project.clone()).filter(|known| known.id == id)));
        self
    }
}

pub const BY: Requester = Requester::command_line();

pub fn down() -> StoreError {
    StoreError::Unavailable("down".to_owned())
}
