use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{ProjectId, StoreError, Timestamp};
use dwar_wallet::{Closable, Closing, ClosingStore, Month, StatementLine};

impl State {
    /// The end of the newest closed month.
    pub(crate) fn closed_until(&self, project: ProjectId) -> Option<Timestamp> {
        let closings = self.closings.iter().filter(|closing| closing.project == project);
        closings.map(|closing| closing.month.until()).max()
    }

    /// The lines that may be closed, ordered by position.
    fn closable(&self, project: ProjectId) -> impl Iterator<Item = &StatementLine> {
        let own = self.ledger.iter().filter(move |(owner, _)| *owner == project);
        own.map(|(_, line)| line).filter(|line| line.entry.kind.is_closable())
    }
}

#[async_trait]
impl ClosingStore for MemoryStore {
    async fn oldest_closable(
        &self,
        project: ProjectId,
        since: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let state = &*self.step("ClosingStore::oldest_closable").await?;
        let times = state.closable(project).map(|line| line.entry.at);
        Ok(times.filter(|at| since <= *at).min())
    }

    async fn closable(
        &self,
        project: ProjectId,
        month: Month,
    ) -> Result<Option<Closable>, StoreError> {
        let state = &*self.step("ClosingStore::closable").await?;
        let own = state.closable(project).filter(|line| month.contains(line.entry.at));
        let positions: Vec<u64> = own.map(|line| line.position).collect();
        let ends = positions.first().zip(positions.last());
        let entries = u64::try_from(positions.len()).unwrap_or(u64::MAX);
        Ok(ends.map(|(first, last)| Closable { entries, first: *first, last: *last }))
    }

    async fn closable_lines(
        &self,
        project: ProjectId,
        month: Month,
        after: u64,
        through: u64,
    ) -> Result<Vec<StatementLine>, StoreError> {
        let state = &*self.step("ClosingStore::closable_lines").await?;
        let own = state.closable(project).filter(|line| month.contains(line.entry.at));
        let wanted = own.filter(|line| after < line.position && line.position <= through);
        Ok(wanted.cloned().collect())
    }

    async fn closings(&self, project: ProjectId) -> Result<Vec<Closing>, StoreError> {
        let state = &*self.step("ClosingStore::closings").await?;
        let own = state.closings.iter().filter(|closing| closing.project == project);
        let mut own: Vec<Closing> = own.copied().collect();
        own.sort_by_key(|closing| closing.month);
        Ok(own)
    }

    async fn has_holds_since(
        &self,
        project: ProjectId,
        before: Timestamp,
    ) -> Result<bool, StoreError> {
        let state = &*self.step("ClosingStore::has_holds_since").await?;
        Ok(state.holds.iter().any(|hold| hold.project == project && hold.since < before))
    }

    async fn begin_closing(&self, closing: Closing) -> Result<bool, StoreError> {
        let state = &mut *self.step("ClosingStore::begin_closing").await?;
        let mut own = state.closings.iter().filter(|other| other.project == closing.project);
        if own.any(|other| other.month == closing.month || !other.is_complete()) {
            return Ok(false);
        }
        state.closings.push(closing);
        Ok(true)
    }

    async fn close(&self, project: ProjectId, month: Month) -> Result<Option<Closing>, StoreError> {
        let state = &mut *self.step("ClosingStore::close").await?;
        let State { closings, ledger, .. } = state;
        let found = closings.iter_mut().find(|it| (it.project, it.month) == (project, month));
        let Some(closing) = found else { return Ok(None) };
        ledger
            .retain(|(owner, line)| *owner != project || !closing.take(line.position, &line.entry));
        Ok(Some(*closing))
    }
}
