//! Puts this client to work for the suite: clients/suite/README.md says what the lines mean.

mod calls;
mod lines;
mod plain;
mod store;

use std::collections::HashMap;
use std::io::{BufRead, Write, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use dwar_client::{BoxError, Client, Error, EventVerifier, Session, Verifier};
use futures_util::future::join_all;
use serde_json::{Value, json};

use lines::{Arguments, Line, Settings};
use plain::{Shown, outcome, shown};
use store::File;

#[derive(Debug)]
enum Object {
    Client(Client),
    Verifier(Verifier),
    Session(Session<File>),
    Events,
}

#[derive(Default)]
struct Adapter {
    objects: HashMap<String, Object>,
    ahead: Arc<AtomicI64>,
}

impl Adapter {
    async fn answer(&mut self, line: Line) -> Value {
        match line {
            Line::Reset => *self = Self::default(),
            Line::Clock { seconds } => self.ahead.store(seconds, Ordering::Relaxed),
            Line::New { kind, name, with } => {
                let made = self.make(&kind, &with);
                let answer = outcome(made.as_ref().map(Shown::of), "");
                self.objects.extend(made.ok().map(|object| (name, object)));
                return answer;
            }
            Line::Call { on, call, args, at_once } => {
                return self.call(&on, &call, &args, at_once).await;
            }
        }
        json!({})
    }

    fn make(&self, kind: &str, with: &Settings) -> Result<Object, Error> {
        match kind {
            "client" => Client::new(&with.url, &with.api_key)?
                .with_timeout(Duration::from_millis(with.timeout_ms))
                .map(Object::Client),
            "session" => {
                let store = File(with.store.clone());
                Session::new_with_clock(self.client(&with.client), store, &with.secret, self.now())
                    .map(Object::Session)
            }
            _ => self.verifier(with).map(Object::Verifier),
        }
    }

    fn verifier(&self, with: &Settings) -> Result<Verifier, Error> {
        let mut verifier = Verifier::new(&with.url, &with.audience)?
            .with_timeout(Duration::from_millis(with.timeout_ms))?
            .with_clock(self.now());
        if let Some(issuer) = &with.issuer {
            verifier = verifier.with_issuer(issuer);
        }
        if let Some(mode) = with.mode {
            verifier = verifier.with_mode(mode);
        }
        if let Some(algorithms) = &with.algorithms {
            verifier = verifier.with_algorithms(algorithms);
        }
        if let Some(token_types) = &with.token_types {
            verifier = verifier.with_token_types(token_types);
        }
        if let Some(seconds) = with.leeway_seconds {
            verifier = verifier.with_leeway(Duration::from_secs(seconds))?;
        }
        Ok(verifier)
    }

    fn now(&self) -> impl Fn() -> SystemTime + Send + Sync + 'static {
        let ahead = Arc::clone(&self.ahead);
        move || {
            let seconds = ahead.load(Ordering::Relaxed);
            let shift = Duration::from_secs(seconds.unsigned_abs());
            #[expect(clippy::disallowed_methods, reason = "the port of Dwar is not this crate's")]
            let now = SystemTime::now();
            if seconds < 0 { now - shift } else { now + shift }
        }
    }

    fn client(&self, name: &str) -> &Client {
        match self.objects.get(name) {
            Some(Object::Client(client)) => client,
            _ => panic!("no client {name}"),
        }
    }

    async fn call(&self, on: &str, call: &str, args: &Arguments, at_once: Option<usize>) -> Value {
        let object = self.objects.get(on).unwrap_or(&Object::Events);
        let calls = (0..at_once.unwrap_or(1)).map(|_| self.perform(object, call, args));
        let printed = format!("{object:?} {object:#?}");
        let mut all: Vec<_> =
            join_all(calls).await.into_iter().map(|result| outcome(result, &printed)).collect();
        match at_once {
            Some(_) => json!({ "printed": all[0]["printed"], "all": all }),
            None => all.remove(0),
        }
    }

    async fn perform(&self, object: &Object, call: &str, args: &Arguments) -> Result<Shown, Error> {
        match object {
            Object::Client(client) => calls::on_client(client, call, args).await,
            Object::Session(session) => {
                calls::on_session(session, self.client("client"), call, args).await
            }
            Object::Verifier(verifier) => shown(verifier.verify(&args.token).await),
            Object::Events => {
                let verifier = EventVerifier::new(args.secret())?.with_clock(self.now());
                shown(verifier.verify(&args.headers(), args.body.as_bytes()))
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let mut adapter = Adapter::default();
    for line in stdin().lock().lines() {
        let answer = adapter.answer(serde_json::from_str(&line?)?).await;
        writeln!(stdout(), "{answer}")?;
    }
    Ok(())
}
