use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{BlindIndex, ProjectId, StoreError};
use dwar_otp::sandbox::{InboxMessage, SandboxInbox};

#[async_trait]
impl SandboxInbox for MemoryStore {
    async fn deposit(&self, project: ProjectId, message: InboxMessage) -> Result<(), StoreError> {
        self.step("SandboxInbox::deposit", |state| {
            // Erased with its phone while the message was on its way: no trace may come back.
            if state.otps.iter().any(|otp| otp.id == message.otp) {
                state.inbox.push((project, message));
            }
        })
        .await
    }

    async fn messages(
        &self,
        project: ProjectId,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<InboxMessage>, StoreError> {
        self.step("SandboxInbox::messages", |state| {
            let newest = state.inbox.iter().rev();
            let own = newest.filter(|(owner, m)| (*owner, m.phone) == (project, phone));
            own.take(limit as usize).map(|(_, message)| message.clone()).collect()
        })
        .await
    }
}
