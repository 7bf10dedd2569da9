use crate::MemoryStore;
use crate::store::{FeedEvent, State};
use async_trait::async_trait;
use dwar_event::{
    Event, EventFeed, FeedBound, FeedLife, FeedLimit, FeedPosition, FeedSlice, leaving,
};
use dwar_kernel::{KeyMode, ProjectMode, StoreError, Timestamp};

impl State {
    /// Appends an event to the feed of its project, if the feed is switched on.
    pub fn feed(&mut self, event: &Event) {
        let mut on = self.projects.iter().filter(|(known, _)| known.events_feed.on);
        if on.any(|(known, _)| known.id == event.project_mode.project) {
            self.last_fed += 1;
            self.fed.push(FeedEvent { number: self.last_fed, event: event.clone() });
        }
    }

    fn dropped(&self, project_mode: ProjectMode) -> u64 {
        self.dropped_fed.get(&project_mode).copied().unwrap_or_default()
    }
}

/// Steps run one at a time, so numbers follow the order of the steps.
const fn position(number: u64) -> FeedPosition {
    FeedPosition { transaction: 0, number }
}

#[async_trait]
impl EventFeed for MemoryStore {
    async fn read_feed(
        &self,
        project_mode: ProjectMode,
        after: FeedPosition,
        limit: FeedLimit,
    ) -> Result<FeedSlice, StoreError> {
        let state = &*self.step("EventFeed::read_feed").await?;
        let follows = |fed: &&FeedEvent| {
            fed.event.project_mode == project_mode && position(fed.number) > after
        };
        let follow: Vec<&FeedEvent> = state.fed.iter().filter(follows).collect();
        let given = &follow[..follow.len().min(limit.get() as usize)];
        Ok(FeedSlice {
            life: FeedLife::of(&state.life),
            dropped: position(state.dropped(project_mode)),
            end: position(state.last_fed),
            events: given.iter().map(|fed| fed.event.clone()).collect(),
            last: given.last().map(|fed| position(fed.number)),
            has_more: given.len() < follow.len(),
        })
    }

    async fn trim_feeds(&self, bound: FeedBound, before: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("EventFeed::trim_feeds").await?;
        let projects = state.projects.iter().map(|(project, _)| project.id);
        let project_modes = projects.flat_map(|id| KeyMode::ALL.map(|mode| id.in_mode(mode)));
        let mut total = 0;
        for project_mode in project_modes.collect::<Vec<_>>() {
            let own = state.fed.iter().filter(|fed| fed.event.project_mode == project_mode);
            let (numbers, times): (Vec<_>, Vec<_>) =
                own.map(|fed| (fed.number, fed.event.at)).unzip();
            let gone = leaving(numbers.len() as u64, bound.of(project_mode.mode), &times, before);
            let Some(last) = gone.checked_sub(1).map(|last| numbers[last]) else { continue };
            state.fed.retain(|fed| fed.event.project_mode != project_mode || fed.number > last);
            state.dropped_fed.insert(project_mode, last);
            total += gone as u64;
        }
        Ok(total)
    }

    async fn begin_life(&self, name: String) -> Result<(), StoreError> {
        let state = &mut *self.step("EventFeed::begin_life").await?;
        state.life = name;
        state.dropped_fed.clear();
        Ok(())
    }
}
