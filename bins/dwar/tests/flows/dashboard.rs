//! The dashboard of the whole binary: when it is on, and who can sign in first.

use crate::common::{Database, Service, Wire, World};
use reqwest::{Client, Method, Response, StatusCode, redirect};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;

const PATIENCE: Duration = Duration::from_secs(20);

fn world(address: &str) -> World {
    World::new(Database::sqlite()).with("DWAR__DASHBOARD__ADDRESS", address)
}

/// The link of a first start: the address, and the secret after the `#`.
async fn first_link(service: &Service) -> (String, String) {
    let until = Instant::now() + PATIENCE;
    loop {
        let lines = service.stdout();
        if let Some(line) = lines.iter().find(|line| line.contains("/start#")) {
            assert_eq!(lines.last().unwrap(), line, "it is the last line");
            let (base, secret) = line.trim().split_once("/start#").unwrap();
            return (base.to_owned(), secret.to_owned());
        }
        assert!(Instant::now() < until, "no link: {lines:?} {:?}", service.stderr());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn enter(base: &str, secret: &str) -> Response {
    let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
    let form = [("secret", secret)];
    client.post(format!("{base}/start")).header("Origin", base).form(&form).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_start_ends_with_a_link_that_opens_the_dashboard_once() {
    let service = Service::start_in(world("127.0.0.1:0").with("DWAR__DEMO", "true"));
    let (base, secret) = first_link(&service).await;
    let entered = enter(&base, &secret).await;
    assert_eq!(entered.status(), StatusCode::SEE_OTHER);
    let cookie = entered.headers()["set-cookie"].to_str().unwrap().to_owned();
    let client = Client::new();
    let led = format!("{base}{}", entered.headers()["location"].to_str().unwrap());
    let home = client.get(led).header("Cookie", cookie.split(';').next().unwrap());
    let page = home.send().await.unwrap();
    assert!(page.url().path().ends_with("/playground"), "{}", page.url());
    assert_eq!(enter(&base, &secret).await.status(), StatusCode::FORBIDDEN);
    // A second start prints no greeting.
    let (world, _) = service.last_words();
    let again = Service::start_in(world);
    assert!(!again.stdout().iter().any(|line| line.contains("/start#")));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_it_is_on_the_apis_listener_and_no_key_opens_it() {
    let service = Service::start_in(world("127.0.0.1:0"));
    let project = service.world.project("10");
    for path in ["/", "/start", "/sign-in", "/projects", "/team", "/account"] {
        let answer = service.get(&project.live, path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
    let base = service.dashboard();
    for key in [&project.live, &project.test] {
        let asked = Client::new().get(format!("{base}/p/{}/keys", project.id));
        let page = asked.header("X-Api-Key", key).bearer_auth(key).send().await.unwrap();
        assert!(page.url().path().ends_with("/sign-in"), "{}", page.url());
    }
    for path in ["/v1/otp/send", "/healthz", "/.well-known/jwks.json"] {
        let page = Client::new().get(format!("{base}{path}")).send().await.unwrap();
        assert_eq!(page.status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_admin_api_is_on_the_dashboards_listener_alone_and_for_its_tokens_alone() {
    let service = Service::start_in(world("127.0.0.1:0"));
    let project = service.world.project("10");
    let make = ["admin-token", "add", "--name", "deploy", "--everything", "--days", "1"];
    let made = service.world.cli(&make);
    let token = made["secret"].as_str().unwrap();
    let base = service.dashboard();
    for path in ["/admin/v1/projects", "/admin/v1/openapi.json", "/admin/v1"] {
        let asked = service.request(Method::GET, path).header("X-Api-Key", &project.live);
        let answer = asked.bearer_auth(token).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
    }
    let ask = |token: &str| {
        Client::new().get(format!("{base}/admin/v1/projects")).bearer_auth(token).send()
    };
    for key in [&project.live, &project.test] {
        assert_eq!(ask(key).await.unwrap().status(), StatusCode::UNAUTHORIZED);
    }
    let answer = ask(token).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let listed: serde_json::Value = answer.json().await.unwrap();
    assert_eq!(listed["items"][0]["project_id"], project.id.as_str());
    let used = &service.world.cli(&["admin-token", "list"])["items"][0];
    assert_eq!((&used["name"], &used["used_from"]), (&"deploy".into(), &"127.0.0.1".into()));
    a_download_over_http_1_0_ends_with_the_connection(&base, token);
    let revoke = ["admin-token", "revoke", "--token", made["token"]["token_id"].as_str().unwrap()];
    assert_eq!(service.world.cli(&revoke)["revoked"], true);
    assert_eq!(ask(token).await.unwrap().status(), StatusCode::UNAUTHORIZED);
    assert!(!service.stderr().iter().any(|line| line.contains("svc_adm_")), "no token is logged");
}

/// HTTP/1.0 has no chunks.
fn a_download_over_http_1_0_ends_with_the_connection(base: &str, token: &str) {
    let host = base.strip_prefix("http://").unwrap();
    let head = "GET /admin/v1/audit/export HTTP/1.0\r\nConnection: keep-alive";
    let mut wire = Wire::to(base);
    wire.write(&format!("{head}\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"));
    let answer = wire.read_to_end();
    let (head, lines) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.0 200 ") && !head.contains("chunked"), "{answer}");
    assert!(lines.lines().count() > 1, "{answer}");
    assert!(lines.lines().all(|line| line.starts_with('{') && line.ends_with('}')), "{answer}");
}

/// A code that both APIs have means the same in both.
#[test]
fn codes_of_both_apis_mean_the_same() {
    let mut shared = 0;
    for admin in dwar_admin::AdminCode::ALL {
        let same = dwar_http::ErrorCode::ALL.iter().find(|code| code.as_str() == admin.as_str());
        if let Some(code) = same {
            shared += 1;
            assert_eq!((code.status(), code.message()), (admin.status(), admin.message()));
        }
    }
    assert!(shared >= 7, "{shared}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_is_taken_is_a_warning_in_development() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let service = Service::start_in(world(&taken.local_addr().unwrap().to_string()));
    let project = service.world.project("10");
    service.send(&project.test, "9876543210").await.ok();
    let logged = service.stderr().join("\n");
    assert!(logged.contains("the dashboard did not start"), "{logged}");
}

/// A method is any word that a client sends, for example a key.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_names_no_method_that_only_a_client_knows() {
    let service = Service::start_in(world("127.0.0.1:0"));
    let base = service.dashboard();
    for method in ["svc_live_of_somebody", "GET"] {
        let mut wire = Wire::to(&base);
        wire.write(&format!("{method} /sign-in HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
        assert!(wire.read_to_end().starts_with("HTTP/1.1 421 "));
    }
    let logged = service.stderr().join("\n");
    let of = |method: &str| logged.contains(&format!(r#""answered","method":"{method}","#));
    assert!(of("other") && of("GET") && !logged.contains("svc_live_"), "{logged}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_stops_with_the_service() {
    let mut service = Service::start_in(world("127.0.0.1:0").with("DWAR__DEMO", "true"));
    let (base, _) = first_link(&service).await;
    assert!(Client::new().get(format!("{base}/sign-in")).send().await.is_ok());
    service.terminate();
    assert!(service.wait(PATIENCE).unwrap().success());
    assert!(Client::new().get(format!("{base}/sign-in")).send().await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_house_full_of_dawdlers_has_room_for_whoever_asks() {
    let service = Service::start_in(world("127.0.0.1:0").with("DWAR__DEMO", "true"));
    let (base, _) = first_link(&service).await;
    let address = base.strip_prefix("http://").unwrap().to_owned();
    // More than there are places: silent connections, incomplete heads, and bodies that never
    // arrive.
    let mut dawdlers = Vec::new();
    for number in 0..400 {
        let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
        let begun: &[u8] = match number % 3 {
            0 => b"",
            1 => b"GET /sign-in HTTP/1.1\r\nHost: x",
            _ => b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\na",
        };
        stream.write_all(begun).await.unwrap();
        dawdlers.push(stream);
    }
    let began = Instant::now();
    let client = Client::builder().pool_max_idle_per_host(0).build().unwrap();
    for _ in 0..10 {
        let page = client.get(format!("{base}/sign-in")).timeout(PATIENCE).send().await.unwrap();
        assert_eq!(page.status(), StatusCode::OK);
    }
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    drop(dawdlers);
}
