use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{BlindIndex, ProjectId, StoreError};
use dwar_otp::sandbox::{InboxMessage, Received, SandboxInbox};

impl State {
    /// Drops messages whose request was erased or swept away.
    pub fn drop_stray_messages(&mut self) {
        self.inbox.retain(|(_, message)| self.otps.iter().any(|otp| otp.id == message.otp));
    }
}

#[async_trait]
impl SandboxInbox for MemoryStore {
    async fn deposit(&self, project: ProjectId, message: InboxMessage) -> Result<(), StoreError> {
        let state = &mut *self.step("SandboxInbox::deposit").await?;
        // The phone was erased while the message was on its way: store nothing.
        if state.otps.iter().any(|otp| otp.id == message.otp) {
            state.inbox.push((project, message));
        }
        Ok(())
    }

    async fn messages(
        &self,
        project: ProjectId,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<InboxMessage>, StoreError> {
        let state = &*self.step("SandboxInbox::messages").await?;
        let newest = state.inbox.iter().rev();
        let own = newest.filter(|(owner, m)| (*owner, m.phone) == (project, phone));
        Ok(own.take(limit as usize).map(|(_, message)| message.clone()).collect())
    }

    async fn newest(&self, project: ProjectId, limit: u32) -> Result<Vec<Received>, StoreError> {
        let state = &*self.step("SandboxInbox::newest").await?;
        let own = state.inbox.iter().rev().filter(|(owner, _)| *owner == project);
        let received = own.filter_map(|(_, message)| {
            let request = state.otps.iter().find(|otp| otp.id == message.otp)?;
            let sealed_phone = request.sealed_phone.clone();
            Some(Received { message: message.clone(), sealed_phone })
        });
        Ok(received.take(limit as usize).collect())
    }
}
