//! A service, the callers, and the subjects of their commands.

use crate::common::{Database, Person, Program, Project, Service, World, answer, taken_apart};
use crate::doors::asking::{Call, Case};
use crate::doors::verdict::{self, Verdict};
use dwar_kernel::ProjectId;
use dwar_operator::{Access, Actor, Requester, Role};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

pub const NOBODY: &str = "0199a000-0000-7000-8000-000000000000";
pub const PHONE: &str = "9876543210";

/// More of them than events are sent again.
const TOLD: usize = 10;

pub enum Through {
    Api(Program),
    Pages(Person),
    Cli,
}

/// A caller, and their rights in the domain.
pub struct Asker {
    pub by: Requester,
    pub through: Through,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    Nothing,
    Archived,
    InUse,
    LiveKey,
    Prices,
    /// A project with the settings of a new one.
    Settings,
    Charge,
    /// A send in test mode, to [`PHONE`].
    Request,
    /// [`PHONE`], as the forms of a page contain it.
    Number,
    IdleLedger,
    Webhook,
    ToldWebhook,
    /// An address for the codes of another system.
    Hook,
    Identity,
    /// An operator with a role in the named project.
    Operator,
    Token,
}

/// An object that was created as the subject of a command.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    pub id: String,
    pub name: String,
    pub event: String,
    pub session: String,
    pub phone: String,
    pub request: String,
    pub other: String,
}

pub struct Stage {
    pub service: Service,
    /// The project in which everybody has their role, and one in which nobody has any.
    pub ours: Project,
    pub theirs: Project,
    /// Creates the subjects of commands, and reads the log.
    pub owner: Program,
    pub reader: Person,
    pub hook: String,
    /// Endpoints that got an event more than a few seconds ago, which can be sent again.
    pub told: Mutex<Vec<Subject>>,
    /// One subject of each kind, for callers who do not change it.
    kept: BTreeMap<(About, bool), Subject>,
    count: AtomicU32,
}

impl Stage {
    pub async fn new(database: Database) -> Self {
        let world = World::new(database)
            .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0")
            .with("DWAR__EVENTS__ALLOW_PRIVATE", "true");
        Self::of(Service::start_in(world)).await
    }

    /// In a service with a dashboard, which may call addresses of this machine.
    pub async fn of(service: Service) -> Self {
        let (ours, theirs) = (service.world.project("1000"), service.world.project("1000"));
        let owner = Program::owner(&service);
        let reader = Person::join(&service, &["--name", "reader", "--owner"]).await;
        let (hook, told) = (taker().await, Mutex::default());
        let (kept, count) = (BTreeMap::new(), AtomicU32::new(0));
        let mut stage = Self { service, ours, theirs, owner, reader, hook, told, kept, count };
        for _ in 0..TOLD {
            let webhook = stage.told_webhook().await;
            stage.told.lock().unwrap().push(webhook);
        }
        for about in About::ALL {
            for (elsewhere, project) in [(false, &stage.ours.id), (true, &stage.theirs.id)] {
                let subject = stage.make(about, project).await;
                stage.kept.insert((about, elsewhere), subject);
            }
        }
        stage
    }

    /// Every role, and an owner of the installation, at each door that knows roles; the command
    /// line; and a token with every right except to delegate.
    pub async fn askers(&self) -> Vec<Asker> {
        let id: ProjectId = self.ours.id.parse().unwrap();
        let roles = Role::ALL.map(|role| (role.as_str(), Access::one(id, role)));
        let mut askers = vec![Asker { by: Requester::command_line(), through: Through::Cli }];
        let plain = Program::new(&self.service, &["--name", "plain", "--everything"]);
        let actor = Actor::Token { id: NOBODY.parse().unwrap(), name: "plain".to_owned() };
        let by = Requester { actor, may_delegate: false, ..Requester::command_line() };
        askers.push(Asker { by, through: Through::Api(plain) });
        for (name, access) in [("everything", Access::everything())].into_iter().chain(roles) {
            let by =
                |actor| Requester { actor, access: access.clone(), ..Requester::command_line() };
            let of = ["--project", self.ours.id.as_str(), "--role", name];
            let (token, operator) = match access.everything {
                true => (vec!["--everything"], vec!["--owner"]),
                false => (of.to_vec(), of.to_vec()),
            };
            let token = [&["--name", name, "--may-delegate"], token.as_slice()].concat();
            let program = Program::new(&self.service, &token);
            let actor = Actor::Token { id: NOBODY.parse().unwrap(), name: name.to_owned() };
            askers.push(Asker { by: by(actor), through: Through::Api(program) });
            let operator = [&["--name", name], operator.as_slice()].concat();
            let person = Person::join(&self.service, &operator).await;
            let actor = Actor::Operator { id: NOBODY.parse().unwrap(), name: name.to_owned() };
            askers.push(Asker { by: by(actor), through: Through::Pages(person) });
        }
        askers
    }

    pub fn kept(&self, about: About, case: Case) -> &Subject {
        &self.kept[&(about, case == Case::Elsewhere)]
    }

    pub fn all_kept(&self) -> impl Iterator<Item = &Subject> {
        self.kept.values()
    }

    pub fn word(&self) -> String {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let letter = |place: u32| char::from(b'a' + (count / 20_u32.pow(place) % 20) as u8);
        (0..4).map(letter).chain("word".chars()).collect()
    }
}

/// Starts a server on loopback that accepts every event.
async fn taker() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/events", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut bytes = [0; 8_192];
                let _gone = stream.read(&mut bytes).await;
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                let _gone = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    url
}

impl Asker {
    pub async fn ask(&self, stage: &Stage, call: &Call) -> Result<Verdict, String> {
        match (&self.through, call) {
            (Through::Api(program), Call::Api(method, path, body)) => {
                let mut request = program.request(method.clone(), path);
                if !body.is_null() {
                    request = request.json(body);
                }
                verdict::of_api(&answer(request).await)
            }
            (Through::Pages(person), Call::Page(path)) => {
                let response = person.page(path).send().await.unwrap();
                let kind = response.headers().get("content-type");
                // A stream without end means that the caller was admitted.
                let stream = kind.is_some_and(|kind| kind == "text/event-stream");
                if stream {
                    Ok(Verdict::Done)
                } else {
                    verdict::of_page(&taken_apart(response).await)
                }
            }
            (Through::Pages(person), Call::Form(path, fields)) => {
                let fields: Vec<(&str, &str)> =
                    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                verdict::of_page(&person.post(path, &fields).await)
            }
            (Through::Pages(person), Call::Json(path, body)) => {
                verdict::of_page(&answer(person.json(path, body)).await)
            }
            (Through::Cli, Call::Cli(arguments)) => {
                let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                arguments.push("--json");
                verdict::of_cli(&stage.service.world.run(&arguments))
            }
            _ => panic!("a way to ask that belongs to another door"),
        }
    }
}
