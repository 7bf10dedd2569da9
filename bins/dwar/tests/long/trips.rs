//! The database cost of each endpoint, compared with the table in docs/architecture.md: round trips
//! to PostgreSQL, counted on the wire, and statements of SQLite, counted in its log.
//!
//! A difference prints the whole correct table. With `TRIPS` set it prints every statement.

#![allow(clippy::print_stdout, reason = "prints every statement on request, and a figure")]

use crate::common::{Answer, Counted, Database, Play, Project, Service, Tap, Vendor, World, wrong};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The endpoints, as the table's first column names them.
const ENDPOINTS: [&str; 15] = [
    "`POST /v1/otp/send`",
    "the same with an `Idempotency-Key`",
    "`GET /v1/otp/status/{otp_id}`",
    "`POST /v1/otp/verify`, wrong code",
    "the same, right code of a new phone",
    "the same, right code of a known phone",
    "`POST /v1/session/validate`",
    "`/v1/session/forward-auth`",
    "`POST /oauth2/introspect`",
    "`POST /v1/session/refresh`",
    "the same with an `Idempotency-Key`",
    "`POST /v1/session/logout`",
    "`GET /v1/identity/{id}`",
    "`DELETE /v1/identity/{id}`",
    "`GET /v1/events`",
];

/// Statements are prepared and connections are opened in the first rounds, which do not count.
const WARM: usize = 3;
const ROUNDS: usize = 15;
/// Longer than the gap between two statements of one step.
const QUIET: Duration = Duration::from_millis(25);

const HEAD: &str = "| Endpoint | PostgreSQL: round trips | statements | SQLite: statements |";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn every_endpoint_takes_as_many_round_trips_as_documented() {
    let database = Database::postgres().await;
    let (tap, tapped) = Tap::before(&database).await;
    let world = World::new(database)
        .with("DWAR__DATABASE__URL", &tapped)
        .with("DWAR__DATABASE__CONNECTIONS", "1");
    let mut journey = Journey::start(world, Meter::Wire(tap)).await;
    // Without the reads of migrations and the first start.
    tokio::time::sleep(TOLD).await;
    journey.service.world.database.run("SELECT pg_stat_reset()").await;
    let costs = journey.costs().await;
    assert_documented(&[0, 1], &costs);
    // diesel prepares its own updates and inserts anew each time; only rare requests may use them.
    let anew = ENDPOINTS.iter().zip(&costs).filter(|(_, cost)| cost[2] > 0);
    let anew: Vec<(&str, usize)> = anew.map(|(endpoint, cost)| (*endpoint, cost[2])).collect();
    assert_eq!(anew, PREPARED_ANEW);
    // PostgreSQL reports its counts when a connection ends.
    let (world, _) = journey.service.last_words();
    tokio::time::sleep(TOLD).await;
    let whole = world.database.number(READ_WHOLE).await;
    assert_eq!(whole, 0, "so many tables were read from end to end");
}

/// The limit of a key holds across instances, and no request pays for it: an exchange takes two
/// round trips, whenever half a block was used (live keys: 93 validates) and once per lease.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_validate_pays_nothing_for_its_limit() {
    let database = Database::postgres().await;
    let (tap, tapped) = Tap::before(&database).await;
    let service = Service::start_in(World::new(database).with("DWAR__DATABASE__URL", &tapped));
    let key = service.world.project("100").live;
    let pair = service.log_in(&key, &service.world.phone()).await;
    service.validate(&key, &pair["access_token"]).await.ok();
    tap.take(QUIET).await;
    for _ in 0..500 {
        service.validate(&key, &pair["access_token"]).await.ok();
    }
    let ran = tap.take(QUIET).await.ran;
    let of = |name: &str| ran.iter().filter(|statement| statement.contains(name)).count();
    println!("500 validates: {} looks, {} about shares", of("api_keys"), of("quota_shares"));
    assert!((500..520).contains(&of("api_keys")), "{}", of("api_keys"));
    assert!((2..=30).contains(&of("quota_shares")), "{}", of("quota_shares"));
}

/// Statements of an endpoint that are prepared at each call.
const PREPARED_ANEW: [(&str, usize); 1] = [("`DELETE /v1/identity/{id}`", 1)];

/// The number of tables growing with use that were ever scanned completely.
const READ_WHOLE: &str = "SELECT count(*) FROM pg_stat_user_tables WHERE seq_scan > 0 AND relname IN \
    ('otps', 'otp_attempts', 'guess_budgets', 'send_slots', 'sessions', 'identities', 'wallet_holds', \
    'ledger_entries', 'idempotency_records', 'sandbox_messages', 'receipts', 'events')";
/// Longer than PostgreSQL takes to notice that a client is gone.
const TOLD: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_endpoint_takes_as_many_statements_as_documented() {
    let level = "warn,dwar::cli=info,dwar_sqlite::connection::statement=trace";
    let world = World::new(Database::sqlite()).with("DWAR__LOG__LEVEL", level);
    let costs = Journey::start(world, Meter::Log).await.costs().await;
    assert_documented(&[2], &costs);
}

/// Where the statements of one request are observed.
enum Meter {
    /// On the wire, where those of the background loops are seen too.
    Wire(Tap),
    /// In the service's log, by the request's id.
    Log,
}

/// Calls every endpoint once for each of several users.
struct Journey {
    service: Service,
    vendor: Vendor,
    project: Project,
    /// The only project whose feed is on.
    feeding: Project,
    meter: Meter,
    figures: Vec<Vec<Vec<usize>>>,
}

impl Journey {
    async fn start(world: World, meter: Meter) -> Self {
        let vendor = Vendor::start(0, |_, _| Play::Accept).await;
        let world = vendor.carry(world).with("DWAR__GATEWAYS__WHATSAPP", "");
        let service = Service::start_in(world);
        let project = service.world.project("1000");
        let switches = ["--identity-lookup", "on", "--identity-delete", "on"];
        let set = ["project", "set", "--project", &project.id];
        service.world.cli(&[&set[..], &switches[..]].concat());
        let feeding = service.world.project("0");
        let on = ["project", "set", "--project", &feeding.id, "--events-feed", "on"];
        service.world.cli(&on);
        let figures = vec![Vec::new(); ENDPOINTS.len()];
        Self { service, vendor, project, feeding, meter, figures }
    }

    /// The cost of each endpoint. Background loops run only now and then and can only increase a
    /// figure, so the median of many rounds excludes them.
    async fn costs(&mut self) -> Vec<Vec<usize>> {
        for _ in 0..WARM + ROUNDS {
            self.round().await;
        }
        let median = |column: usize, rounds: &[Vec<usize>]| {
            let mut figures: Vec<usize> = rounds.iter().skip(WARM).map(|f| f[column]).collect();
            figures.sort_unstable();
            figures[figures.len() / 2]
        };
        let columns = self.figures[0][0].len();
        let cost = |rounds: &Vec<Vec<usize>>| (0..columns).map(|c| median(c, rounds)).collect();
        self.figures.iter().map(cost).collect()
    }

    async fn round(&mut self) {
        let live = self.project.live.clone();
        let (phone, other) = (self.service.world.phone(), self.service.world.phone());
        let (send, verify) = ("/v1/otp/send", "/v1/otp/verify");
        let sent = self.post(0, send, None, json!({ "phone": phone })).await;
        self.post(1, send, Some(&other), json!({ "phone": other })).await;
        self.get(2, &format!("/v1/otp/status/{}", sent["otp_id"].as_str().unwrap())).await;
        let code = self.code(&phone);
        let body = json!({ "phone": phone, "code": wrong(&code, 1) });
        let refused = self.measured(3, self.call(verify, None, &body)).await;
        refused.refused(400, "INVALID_OTP");
        let first = self.post(4, verify, None, json!({ "phone": phone, "code": code })).await;
        self.service.send(&live, &phone).await.ok();
        let code = self.code(&phone);
        let pair = self.post(5, verify, None, json!({ "phone": phone, "code": code })).await;
        let access = json!({ "access_token": pair["access_token"] });
        self.post(6, "/v1/session/validate", None, access).await;
        self.ask(&pair).await;
        let (refresh, token) = (
            "/v1/session/refresh",
            |pair: &Value| json!({ "refresh_token": pair["refresh_token"] }),
        );
        let pair = self.post(9, refresh, None, token(&pair)).await;
        let pair = self.post(10, refresh, Some(&phone), token(&pair)).await;
        let access = json!({ "access_token": pair["access_token"] });
        self.post(11, "/v1/session/logout", None, access).await;
        let identity = format!("/v1/identity/{}", first["identity_id"].as_str().unwrap());
        self.get(12, &identity).await;
        let request = self.service.request(reqwest::Method::DELETE, &identity);
        self.measured(13, request.header("X-Api-Key", &live)).await.ok();
        let feed = self.service.request(reqwest::Method::GET, "/v1/events");
        self.measured(14, feed.header("X-Api-Key", &self.feeding.test)).await.ok();
    }

    /// Checks the token as proxies and frameworks do.
    async fn ask(&mut self, pair: &Value) {
        let (key, token) = (self.project.live.clone(), pair["access_token"].as_str().unwrap());
        let proxy = self.service.request(reqwest::Method::GET, "/v1/session/forward-auth/a");
        let passed = self.measured(7, proxy.header("X-Api-Key", &key).bearer_auth(token)).await;
        assert_eq!(passed.status, 200);
        let framework = self.service.request(reqwest::Method::POST, "/oauth2/introspect");
        let framework = framework.basic_auth("any", Some(key)).form(&[("token", token)]);
        assert_eq!(self.measured(8, framework).await.ok()["active"], true);
    }

    fn code(&self, phone: &str) -> String {
        let taken = self.vendor.taken();
        let message = taken.iter().rev().find(|message| message.to.ends_with(phone));
        message.unwrap().text[..6].to_owned()
    }

    fn call(&self, path: &str, key: Option<&str>, body: &Value) -> reqwest::RequestBuilder {
        let call = self.service.call(&self.project.live, path, body);
        match key {
            Some(key) => call.header("Idempotency-Key", key),
            None => call,
        }
    }

    async fn post(&mut self, endpoint: usize, path: &str, key: Option<&str>, body: Value) -> Value {
        let call = self.call(path, key, &body);
        self.measured(endpoint, call).await.ok()
    }

    async fn get(&mut self, endpoint: usize, path: &str) -> Value {
        let request = self.service.request(reqwest::Method::GET, path);
        self.measured(endpoint, request.header("X-Api-Key", &self.project.live)).await.ok()
    }

    /// Makes the call and records its cost, including work after the answer.
    async fn measured(&mut self, endpoint: usize, call: reqwest::RequestBuilder) -> Answer {
        if let Meter::Wire(tap) = &self.meter {
            tap.take(QUIET).await;
        }
        let answer = crate::common::answer(call).await;
        let (figures, ran) = match &self.meter {
            Meter::Wire(tap) => {
                let Counted { trips, mut ran, parsed } = tap.take(QUIET).await;
                let all = ran.len();
                ran.retain(|statement| is_of_request(statement));
                (vec![trips - (all - ran.len()), ran.len(), parsed], ran)
            }
            Meter::Log => {
                tokio::time::sleep(QUIET).await;
                let mut ran = logged(&self.service, answer.header("x-request-id"));
                ran.retain(|statement| is_of_request(statement));
                (vec![ran.len()], ran)
            }
        };
        if std::env::var_os("TRIPS").is_some() {
            println!("{}: {figures:?}\n  {}", ENDPOINTS[endpoint], ran.join("\n  "));
        }
        self.figures[endpoint].push(figures);
        answer
    }
}

/// The signing keys are read once a second, however many requests there are. On a slow machine any
/// request may be the one that reads them, or that leases the next block of quota.
fn is_of_request(statement: &str) -> bool {
    !statement.contains("signing_keys") && !statement.contains("quota_shares")
}

/// The statements in the store's log for one request.
fn logged(service: &Service, request: &str) -> Vec<String> {
    let lines = service.stderr();
    let of_request = lines.iter().rev().take(500).filter(|line| line.contains(request));
    let statement = |line: &String| {
        let line: Value = serde_json::from_str(line).ok()?;
        (line["target"] == "dwar_sqlite::connection::statement")
            .then(|| line["sql"].as_str().map(str::to_owned))?
    };
    let mut found: Vec<String> = of_request.filter_map(statement).collect();
    found.reverse();
    found
}

/// Compares these columns of the documented table; the others are taken from it.
fn assert_documented(columns: &[usize], costs: &[Vec<usize>]) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/architecture.md");
    let page = std::fs::read_to_string(page).unwrap();
    let documented: Vec<&str> =
        page.lines().skip_while(|line| *line != HEAD).take_while(|line| !line.is_empty()).collect();
    let mut table = vec![HEAD.to_owned(), "|---|---|---|---|".to_owned()];
    for (row, endpoint) in ENDPOINTS.iter().enumerate() {
        let line = documented.get(row + 2).copied().unwrap_or_default();
        let mut cells: Vec<String> =
            line.split('|').skip(2).map(|cell| cell.trim().to_owned()).collect();
        cells.resize(3, "?".to_owned());
        for (column, figure) in columns.iter().zip(&costs[row]) {
            cells[*column] = figure.to_string();
        }
        table.push(format!("| {endpoint} | {} |", cells.join(" | ")));
    }
    assert!(documented == table, "docs/architecture.md should say:\n\n{}\n", table.join("\n"));
}
