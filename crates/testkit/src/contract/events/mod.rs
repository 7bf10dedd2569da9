//! Promises of [`dwar_event::EventStore`], and of the other stores that record events.

mod calls;
mod crossing;
mod ending;
mod endpoints;
mod erasing;
mod sending;
mod sharing;
mod switching;
mod telling;

pub use calls::*;
pub use crossing::*;
pub use ending::*;
pub use endpoints::*;
pub use erasing::*;
pub use sending::*;
pub use sharing::*;
pub use switching::*;
pub use telling::*;

use crate::scene::Scene;
use crate::{Line, START, minutes, seconds};
use dwar_event::{ClaimCapacity, Dispatch, Endpoint, Event, EventKind, EventPhone, Subject};
use dwar_kernel::{ProjectId, Timestamp};
use dwar_otp::{Channel, Otp, Report, ReportedRequest};
use dwar_session::Session;
use std::time::Duration;

const LEASE: Duration = seconds(45);
/// Time after [`START`] at which everything that a test does is over and due.
const MUCH_LATER: Duration = minutes(1_440);

impl Scene {
    pub(in crate::contract) async fn endpoint(&self) -> Endpoint {
        self.endpoint_of(self.project).await
    }

    async fn endpoint_of(&self, project: ProjectId) -> Endpoint {
        let endpoint = self.make.endpoint(project);
        self.stores.events.add_endpoint(endpoint.clone()).await.unwrap();
        endpoint
    }

    async fn claims(&self, now: Timestamp, limit: u32) -> Vec<Dispatch> {
        self.stores.events.claim_due(now, LEASE, ClaimCapacity::of(limit)).await.unwrap()
    }

    /// Causes an event for the project's endpoints; returns its id.
    async fn happens(&self, at: Timestamp) -> String {
        let mut otp = self.issued(&self.line()).await;
        self.hears(&mut otp, accepted(), at).await;
        format!("otp_sent_{}", otp.id.uuid().simple())
    }

    async fn fails(&self, endpoint: &Endpoint, event: &str, again: Option<Timestamp>) {
        let call = self.make.failed_call(endpoint.id, event, again);
        assert_eq!(self.stores.events.failed(call, None).await.unwrap(), None);
    }

    async fn delivers(&self, endpoint: &Endpoint, event: &str) {
        let call = self.make.call(endpoint.id, event);
        self.stores.events.delivered(vec![call]).await.unwrap();
    }

    /// Claims and delivers everything that is waiting, ordered by time of the event, then by id.
    async fn told(&self) -> Vec<Dispatch> {
        let mut told = self.claims(START + MUCH_LATER, 1_000).await;
        for dispatch in &told {
            self.delivers(&dispatch.endpoint, &dispatch.event.id()).await;
        }
        told.sort_by_key(|dispatch| (dispatch.event.at, dispatch.event.id()));
        told
    }

    pub(in crate::contract) async fn told_events(&self) -> Vec<Event> {
        self.told().await.into_iter().map(|dispatch| dispatch.event).collect()
    }

    /// A session on record, whose login events are delivered already.
    async fn told_session(&self, line: &Line) -> Session {
        let session = self.session(line).await;
        let told = self.told_events().await;
        assert!(told.iter().all(|event| event.kind == EventKind::OtpVerified), "{told:?}");
        session
    }

    /// Reports on the newest attempt of `otp`, to the store and to `otp` itself.
    async fn hears(&self, otp: &mut Otp, report: Report, now: Timestamp) {
        let newest = otp.delivery.attempts.len() - 1;
        self.hears_of(otp, newest, report, now).await;
    }

    async fn hears_of(&self, otp: &mut Otp, attempt: usize, report: Report, now: Timestamp) {
        let report = self.make.send_report(otp.delivery.attempts[attempt].id, report);
        report.apply(otp, now);
        let request = ReportedRequest::Id(otp.project_mode.project, otp.id);
        let answer = self.stores.logins.report(request, report, now).await;
        assert_eq!(answer.unwrap().map(|(stored, _)| stored).as_ref(), Some(&*otp));
    }
}

fn of_otp(otp: &Otp, kind: EventKind, channel: Channel, at: Timestamp) -> Event {
    let subject = Subject::Otp {
        otp: otp.id,
        channel: Some(channel),
        phone: Some(EventPhone { index: otp.phone, sealed: otp.sealed_phone.clone() }),
    };
    Event { project_mode: otp.project_mode, kind, subject, at }
}

const fn accepted() -> Report {
    Report::Accepted { provider_ref: None, awaits_receipt: true }
}
