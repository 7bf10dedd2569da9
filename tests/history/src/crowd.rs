//! A client with a test key that sends more requests than its limits allow, on all instances at
//! once.

use crate::calls::{At, Calls};
use crate::draw::Draw;
use std::time::{Duration, Instant};
use tokio::join;
use tokio::time::sleep;

/// A request that does not exist.
const NOBODYS: &str = "00000000-0000-7000-8000-000000000000";

/// A client with its own random numbers.
pub struct Crowd {
    pub calls: Calls,
    pub draw: Draw,
    pub key: String,
}

impl Crowd {
    /// Sends requests until `until`; mostly to all instances, for a while to only one.
    pub async fn press(mut self, until: Instant) {
        let mut favourite = 0;
        while Instant::now() < until {
            if self.draw.percent(2) {
                favourite = self.draw.place(self.calls.cluster.instances.len() + 1);
            }
            let validate = self.draw.percent(70);
            let places = self.places(favourite);
            let one = async |place: usize| match validate {
                true => self.calls.validate(&places[place], "nobody's").await,
                false => self.calls.status(&places[place], NOBODYS).await,
            };
            join!(one(0), one(1), one(2));
            sleep(Duration::from_millis(50 + self.draw.below(300))).await;
        }
    }

    /// The places of the next three requests: at `favourite`, or in turn if there is no such
    /// instance.
    fn places(&self, favourite: usize) -> [At; 3] {
        let count = self.calls.cluster.instances.len();
        let project = self.calls.cluster.setup.settings.counted;
        [0, 1, 2].map(|step| {
            let instance = if favourite < count { favourite } else { step % count };
            At { instance, project, key: (0, self.key.clone()) }
        })
    }
}
