use crate::common::BY;
use dwar_app::{Policies, SendOtpError, Service};
use dwar_console::{Activity, Entry, ManageError, NextSend, RequestFilter, TimelineFact};
use dwar_kernel::{KeyMode, Phone};
use dwar_memory::{MemoryRequestLimiter, MemoryStore};
use dwar_otp::{Channel, DeliveryStatus, Outcome, Reason, Refusal};
use dwar_project::Caller;
use dwar_ratelimit::SendBound;
use dwar_testkit::{
    FixedClock, Fixtures, Postbox, START, Stores, console, management, minutes, outside, phone,
    seconds,
};
use dwar_wallet::Amount;
use std::sync::Arc;

/// A service, a project with one rupee, a caller with its live key, and the lists that support reads.
struct House {
    clock: Arc<FixedClock>,
    stores: Stores,
    service: Service,
    postbox: Arc<Postbox>,
    activity: Activity,
    caller: Caller,
}

impl House {
    async fn open(rupees: u32) -> Self {
        let store = Arc::new(MemoryStore::default());
        let (stores, clock) = (Stores::from(&store), Arc::new(FixedClock::at(START)));
        let (parts, postbox) = (console(stores.clone(), &clock), Arc::<Postbox>::default());
        let requests = Arc::new(MemoryRequestLimiter::new());
        let service = parts.login.service(outside(requests, &postbox, &Arc::default()));
        let manage = management(&parts, &Arc::default());
        let name = "Acme".parse().unwrap();
        let made = manage.projects.create(&BY, &name, Amount::from(rupees * 100)).await.unwrap();
        let key = dwar_app::Claim::Key(made.live_key);
        let caller = service.use_cases.authenticate.caller(&key).await.unwrap();
        Self { clock, stores, service, postbox, activity: manage.activity, caller }
    }

    async fn send(&self, phone: &Phone) -> Result<dwar_app::SentOtp, SendOtpError> {
        self.service.use_cases.send_otp.send(&self.caller, phone, None, None).await
    }

    async fn timeline(&self, phone: &Phone) -> dwar_console::Timeline {
        self.service.usage_recorder.write().await.unwrap();
        let project_mode = self.caller.project.id.in_mode(KeyMode::Live);
        self.activity.search(&BY, project_mode, phone).await.unwrap().0
    }
}

fn first_fact(entry: &Entry) -> Option<&TimelineFact> {
    match entry {
        Entry::Request(story) => story.facts.first().map(|(_, fact)| fact),
        Entry::Refused(_) => None,
    }
}

#[tokio::test]
async fn a_limit_that_was_hit_is_told_with_its_end_and_the_send_then_goes_through() {
    let house = House::open(10).await;
    let phone = phone(1);
    for _ in 0..3 {
        house.send(&phone).await.unwrap();
    }
    house.clock.advance(seconds(200));
    for _ in 0..2 {
        assert!(matches!(house.send(&phone).await, Err(SendOtpError::RateLimited(_))));
    }
    let timeline = house.timeline(&phone).await;
    let opens = START + minutes(10);
    assert_eq!(timeline.next, NextSend::At(opens, SendBound::Limit));
    let [Entry::Refused(refused), rest @ ..] = timeline.entries.as_slice() else { panic!() };
    assert_eq!((refused.count, refused.reason), (2, Refusal::Limit));
    assert_eq!(refused.limit.map(|quota| quota.limit), Some(3));
    assert!(rest.len() == 3 && rest.iter().all(|it| first_fact(it) == Some(&TimelineFact::Asked)));
    house.clock.set(opens);
    house.send(&phone).await.unwrap();
}

#[tokio::test]
async fn an_empty_wallet_and_a_key_used_twice_are_told() {
    let house = House::open(0).await;
    let (poor, other) = (phone(1), phone(2));
    assert!(matches!(house.send(&poor).await, Err(SendOtpError::InsufficientBalance(_))));
    let key = "order-1".parse().unwrap();
    let send = &house.service.use_cases.send_otp;
    let _poor = send.send(&house.caller, &poor, None, Some(&key)).await;
    let reused = send.send(&house.caller, &other, None, Some(&key)).await;
    assert!(matches!(reused, Err(SendOtpError::Reused)), "{reused:?}");
    let reasons = |timeline: dwar_console::Timeline| -> Vec<(Refusal, u32)> {
        let refused = timeline.entries.into_iter().filter_map(|entry| match entry {
            Entry::Refused(refused) => Some((refused.reason, refused.count)),
            Entry::Request(_) => None,
        });
        refused.collect()
    };
    assert_eq!(reasons(house.timeline(&poor).await), [(Refusal::Balance, 2)]);
    assert_eq!(reasons(house.timeline(&other).await), [(Refusal::KeyReused, 1)]);
    let lately = house.activity.refused_lately(&BY, house.caller.project.id).await.unwrap();
    let lately: Vec<_> = lately.iter().map(|it| (it.reason, it.count, it.phone)).collect();
    assert_eq!(lately, [(Refusal::Balance, 2, None), (Refusal::KeyReused, 1, None)]);
}

#[tokio::test]
async fn a_filter_finds_what_is_far_back_and_says_where_to_go_on() {
    let house = House::open(10).await;
    let (project, make) = (house.caller.project.id, Fixtures::seeded(5));
    for number in 0..620_u32 {
        let line = make.line(project.in_mode(KeyMode::Live));
        let at = START + seconds(u64::from(number));
        let mut otp = make.otp_with(&line, dwar_testkit::CODE, at);
        otp.id = dwar_kernel::OtpId::new(at, &make.entropy);
        if number == 3 {
            otp.delivery.attempts[0].channel = Channel::Sms;
        }
        make.issue(&*house.stores.logins, otp).await;
    }
    let all = RequestFilter::default();
    let first = house.activity.requests(&BY, project, &all, None, 50).await.unwrap();
    assert_eq!((first.lines.len(), first.looked_through), (50, 50));
    assert_eq!(first.next, first.lines.last().map(|line| line.otp));
    let sms = RequestFilter { channel: Some(Channel::Sms), ..all.clone() };
    let page = house.activity.requests(&BY, project, &sms, None, 50).await.unwrap();
    assert_eq!((page.lines.len(), page.looked_through, page.next), (1, 620, None));
    assert_eq!(page.looked_back_to, Some(START));
    let (mut seen, mut before) = (0, None);
    loop {
        let queued = RequestFilter { status: Some(DeliveryStatus::Queued), ..all.clone() };
        let page = house.activity.requests(&BY, project, &queued, before, 50).await.unwrap();
        seen += page.lines.len();
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, 620, "none is left out and none comes twice");
}

#[tokio::test]
async fn a_request_is_found_by_its_own_project_alone_and_masked() {
    let house = House::open(10).await;
    let phone = phone(7);
    house.postbox.answer(Outcome::Refused(Reason::NotOnChannel));
    let sent = house.send(&phone).await.unwrap();
    let project = house.caller.project.id;
    let (mode, whose, _) = house.activity.story(&BY, project, sent.otp).await.unwrap();
    assert_eq!((mode, &whose), (KeyMode::Live, &phone));
    let other = Fixtures::seeded(9).project();
    let keys = Fixtures::seeded(9).keys();
    house.stores.projects.create(other.clone(), keys).await.unwrap();
    let foreign = house.activity.story(&BY, other.id, sent.otp).await;
    assert!(matches!(foreign, Err(ManageError::NotFound(_))));
    let filter = RequestFilter::default();
    let page =
        house.activity.requests(&BY, house.caller.project.id, &filter, None, 50).await.unwrap();
    let line = &page.lines[0];
    assert_eq!(line.carrier, Some((Channel::Sms, "msg91".to_owned())));
    assert_eq!((line.charged, line.status), (Policies::default().prices.sms, DeliveryStatus::Sent));
    assert!(!format!("{page:?}").contains(phone.national()));
}
