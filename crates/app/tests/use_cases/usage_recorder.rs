use dwar_app::{Parts, Stores, UsageRecorder};
use dwar_kernel::{BlindIndex, KeyMode, ProjectId, ProjectMode, StoreError};
use dwar_memory::{Fault, MemoryStore};
use dwar_otp::Refusal;
use dwar_project::KeyUsage;
use dwar_testkit::{FixedClock, Fixtures, Line, START, minutes, parts, seconds};
use std::sync::Arc;

struct Scene {
    parts: Parts,
    clock: Arc<FixedClock>,
    store: Arc<MemoryStore>,
    make: Fixtures,
    project: ProjectId,
}

impl Scene {
    async fn open() -> Self {
        let (clock, store) = (Arc::new(FixedClock::at(START)), Arc::<MemoryStore>::default());
        let (parts, make) = (parts(Stores::from(&store), &clock), Fixtures::seeded(1));
        let project = make.project();
        let id = project.id;
        parts.stores.projects.create(project, make.keys()).await.unwrap();
        Self { parts, clock, store, make, project: id }
    }

    fn usage_recorder(&self) -> UsageRecorder {
        let Stores { refusals, key_uses, .. } = self.parts.stores.clone();
        UsageRecorder::new(self.parts.tools.clone(), refusals, key_uses)
    }

    fn line(&self) -> Line {
        self.make.line(self.project.in_mode(KeyMode::Live))
    }

    async fn of_phone(&self, phone: BlindIndex) -> u32 {
        let refusals = &self.parts.stores.refusals;
        let counts =
            refusals.of_phone(self.project.in_mode(KeyMode::Live), phone, 1_000).await.unwrap();
        counts.iter().map(|it| it.count).sum()
    }

    async fn of_project(&self) -> u32 {
        let (refusals, since) = (&self.parts.stores.refusals, START - minutes(60));
        let counts = refusals.of_project(self.project, since, None, 100_000).await.unwrap();
        counts.iter().map(|it| it.count).sum()
    }
}

fn live(project: ProjectId) -> ProjectMode {
    project.in_mode(KeyMode::Live)
}

#[tokio::test]
async fn counting_asks_no_store_and_a_write_takes_it_there_once() {
    let scene = Scene::open().await;
    let (usage_recorder, line) = (scene.usage_recorder(), scene.line());
    for _ in 0..3 {
        usage_recorder.refused(live(scene.project), Some(line.index), Refusal::Limit);
    }
    assert_eq!(scene.store.faults().calls("RefusalStore::count"), 0);
    usage_recorder.write().await.unwrap();
    usage_recorder.write().await.unwrap();
    assert_eq!(scene.store.faults().calls("RefusalStore::count"), 1);
    assert_eq!(scene.of_phone(line.index).await, 3);
}

#[tokio::test]
async fn what_could_not_be_written_is_written_next_time_once() {
    let scene = Scene::open().await;
    let (usage_recorder, line) = (scene.usage_recorder(), scene.line());
    usage_recorder.refused(live(scene.project), Some(line.index), Refusal::Limit);
    scene.store.faults().next("RefusalStore::count", Fault::Fails);
    assert!(matches!(usage_recorder.write().await, Err(StoreError::Unavailable(_))));
    usage_recorder.refused(live(scene.project), Some(line.index), Refusal::Limit);
    scene.clock.advance(minutes(3));
    usage_recorder.write().await.unwrap();
    usage_recorder.refused(live(scene.project), Some(line.index), Refusal::Limit);
    usage_recorder.write().await.unwrap();
    assert_eq!(scene.of_phone(line.index).await, 3);
}

#[tokio::test]
async fn two_processes_add_up_also_across_a_minute() {
    let scene = Scene::open().await;
    let (one, other, line) = (scene.usage_recorder(), scene.usage_recorder(), scene.line());
    for usage_recorder in [&one, &other, &other] {
        usage_recorder.refused(live(scene.project), Some(line.index), Refusal::Stop);
        usage_recorder.write().await.unwrap();
    }
    scene.clock.advance(minutes(1));
    one.refused(live(scene.project), Some(line.index), Refusal::Stop);
    one.write().await.unwrap();
    assert_eq!(scene.of_phone(line.index).await, 4);
}

/// An attacker with a key and no money who tries all numbers: the table stays small, and every refusal is
/// counted.
#[tokio::test]
async fn a_walk_through_many_phones_costs_few_rows_and_loses_no_count() {
    let scene = Scene::open().await;
    let usage_recorder = scene.usage_recorder();
    let index = |number: u32| {
        let mut bytes = [0; 32];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        BlindIndex(bytes)
    };
    for number in 0..30_000 {
        usage_recorder.refused(live(scene.project), Some(index(number)), Refusal::Balance);
    }
    usage_recorder.write().await.unwrap();
    assert_eq!(scene.of_project().await, 30_000);
    let mut named = 0;
    for number in 0..1_000 {
        named += scene.of_phone(index(number)).await;
    }
    assert_eq!(named, 100, "as many phones as a minute has room for");
    // The next minute has room again.
    scene.clock.advance(minutes(1));
    usage_recorder.refused(live(scene.project), Some(index(29_999)), Refusal::Balance);
    usage_recorder.write().await.unwrap();
    assert_eq!(scene.of_phone(index(29_999)).await, 1);
}

/// Memory is bounded, however many projects are attacked at once while the store is away.
#[tokio::test]
async fn many_projects_share_one_bound() {
    let scene = Scene::open().await;
    let usage_recorder = scene.usage_recorder();
    for _ in 0..150 {
        let project_mode = live(scene.make.id());
        for _ in 0..100 {
            let phone = Some(scene.make.line(project_mode).index);
            usage_recorder.refused(project_mode, phone, Refusal::Limit);
        }
    }
    let late = scene.line();
    usage_recorder.refused(live(scene.project), Some(late.index), Refusal::Limit);
    usage_recorder.write().await.unwrap();
    assert_eq!((scene.of_phone(late.index).await, scene.of_project().await), (0, 1));
}

#[tokio::test]
async fn a_use_is_written_once_a_minute_and_from_where() {
    let scene = Scene::open().await;
    let usage_recorder = scene.usage_recorder();
    let projects = &scene.parts.stores.projects;
    let key = projects.keys(scene.project).await.unwrap()[0].id;
    let used = || async { projects.keys(scene.project).await.unwrap()[0].used };
    let [here, there] = [[192, 0, 2, 1], [192, 0, 2, 2]].map(|it| Some(it.into()));
    usage_recorder.used(key, here);
    usage_recorder.write().await.unwrap();
    scene.clock.advance(seconds(59));
    for _ in 0..1_000 {
        usage_recorder.used(key, there);
    }
    usage_recorder.write().await.unwrap();
    assert_eq!(scene.store.faults().calls("KeyUseStore::note"), 1);
    assert_eq!(used().await, Some(KeyUsage { at: START, from: here }));
    scene.clock.advance(seconds(1));
    usage_recorder.used(key, there);
    usage_recorder.write().await.unwrap();
    assert_eq!(used().await, Some(KeyUsage { at: START + minutes(1), from: there }));
}
