use crate::MemoryStore;
use crate::store::{Fed, State};
use async_trait::async_trait;
use dwar_event::{
    Event, EventFeed, FeedBound, FeedLife, FeedLimit, FeedPosition, FeedSlice, leaving,
};
use dwar_kernel::{KeyMode, ProjectMode, StoreError, Timestamp};

impl State {
    /// Appends an event to the feed of its project, if the feed is switched on.
    pub fn feed(&mut self, event: &Event) {
        let mut on = self.projects.iter().filter(|(known, _)| known.events_feed.on);
        if on.any(|(known, _)| known.id == event.world.project) {
            self.last_fed += 1;
            self.fed.push(Fed { number: self.last_fed, event: event.clone() });
        }
    }

    fn dropped(&self, world: ProjectMode) -> u64 {
        self.dropped_fed.get(&world).copied().unwrap_or_default()
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
        world: ProjectMode,
        after: FeedPosition,
        limit: FeedLimit,
    ) -> Result<FeedSlice, StoreError> {
        let state = &*self.step("EventFeed::read_feed").await?;
        let follows = |fed: &&Fed| fed.event.world == world && position(fed.number) > after;
        let follow: Vec<&Fed> = state.fed.iter().filter(follows).collect();
        let given = &follow[..follow.len().min(limit.get() as usize)];
        Ok(FeedSlice {
            life: FeedLife::of(&state.life),
            dropped: position(state.dropped(world)),
            end: position(state.last_fed),
            events: given.iter().map(|fed| fed.event.clone()).collect(),
            last: given.last().map(|fed| position(fed.number)),
            has_more: given.len() < follow.len(),
        })
    }

    async fn trim_feeds(&self, bound: FeedBound, before: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("EventFeed::trim_feeds").await?;
        let projects = state.projects.iter().map(|(project, _)| project.id);
        let worlds = projects.flat_map(|id| KeyMode::ALL.map(|mode| id.in_mode(mode)));
        let mut total = 0;
        for world in worlds.collect::<Vec<_>>() {
            let own = state.fed.iter().filter(|fed| fed.event.world == world);
            let (numbers, times): (Vec<_>, Vec<_>) =
                own.map(|fed| (fed.number, fed.event.at)).unzip();
            let gone = leaving(numbers.len() as u64, bound.of(world.mode), &times, before);
            let Some(last) = gone.checked_sub(1).map(|last| numbers[last]) else { continue };
            state.fed.retain(|fed| fed.event.world != world || fed.number > last);
            state.dropped_fed.insert(world, last);
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
