//! Common behaviour of both listeners: unread bodies, HEAD, and text that they never log.

use crate::common::{Database, Service, Wire, World};
use flate2::read::GzDecoder;
use reqwest::{Client, Method, Response};
use std::io::Read;

const TOO_MANY_CHUNKS: usize = 12;

fn started(world: World) -> (Service, Admin) {
    let service = Service::start_in(world.with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0"));
    let make = ["admin-token", "add", "--name", "deploy", "--everything", "--may-delegate"];
    let token = service.world.cli(&make)["secret"].as_str().unwrap().to_owned();
    let base = service.dashboard();
    (service, Admin { base, token })
}

/// The dashboard's listener, and a caller of the admin API.
struct Admin {
    base: String,
    token: String,
}

/// A POST request that a listener refuses before it reads the body, and the status of the refusal.
struct Early<'a> {
    base: &'a str,
    path: &'a str,
    headers: String,
    status: &'a str,
}

impl Early<'_> {
    /// Sends the head of the request and then `rest`. Returns everything that the server sends until it closes
    /// the connection.
    fn exchange(&self, headers: &str, rest: &str) -> String {
        let host = self.base.trim_start_matches("http://");
        let Self { path, headers: own, .. } = self;
        let mut wire = Wire::to(self.base);
        wire.write(&format!("POST {path} HTTP/1.1\r\nHost: {host}\r\n{own}{headers}\r\n"));
        // The server may have closed the connection by now.
        let _taken = wire.takes(rest);
        wire.read_to_end()
    }

    /// Checks that a client which sends a second request (`next`) on the connection gets an answer to it, or a
    /// `Connection: close` header with the first answer.
    fn is_told_the_truth(&self, headers: &str, body: &str) {
        let host = self.base.trim_start_matches("http://");
        let next = format!("GET /nowhere HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let told = self.exchange(headers, &format!("{body}{next}")).to_ascii_lowercase();
        let about = format!("{} of {}: {told}", self.status, self.path);
        let answers: Vec<&str> =
            told.split("http/1.1 ").skip(1).filter(|answer| !answer.starts_with("100 ")).collect();
        assert!(answers[0].starts_with(self.status), "{about}");
        let closes: Vec<bool> =
            answers.iter().map(|answer| answer.contains("connection: close\r\n")).collect();
        assert!(closes == [true] || closes == [false, true], "{about}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_answered_before_the_body_was_read_is_told_that_the_connection_ends() {
    let (service, admin) = started(World::new(Database::sqlite()));
    let key = service.world.project("10").test;
    let (api, pages) = (service.base.as_str(), admin.base.as_str());
    let bearer = format!("Authorization: Bearer {}\r\n", admin.token);
    let json = "Content-Type: application/json\r\n";
    let early = |base, path, headers: &[&str], status| {
        let headers = headers.concat();
        Early { base, path, headers, status }
    };
    let own_page =
        format!("Origin: {pages}\r\nContent-Type: application/x-www-form-urlencoded\r\n");
    let cases = [
        early(pages, "/sign-in", &["Origin: http://evil.example\r\n"], "403"),
        early(pages, "/nowhere", &[&own_page], "404"),
        early(pages, "/admin/v1/nowhere", &[&bearer, json], "404"),
        early(pages, "/admin/v1/projects", &[json], "401"),
        early(pages, "/admin/v1/projects", &[&bearer, "Origin: http://x\r\n"], "403"),
        early(pages, "/admin/v1/projects", &[&bearer, "Content-Type: text/plain\r\n"], "415"),
        early(api, "/nowhere", &[], "404"),
        early(api, "/v1/otp/send", &[json], "401"),
        early(
            api,
            "/v1/otp/send",
            &[&format!("X-Api-Key: {key}\r\n"), "Content-Type: x/y\r\n"],
            "415",
        ),
    ];
    let (chunked, expect) = ("Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\n");
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(4_096));
    // The server lingers before it closes, so all of them wait at once.
    std::thread::scope(|all| {
        for case in &cases {
            for body in ["5\r\nhello\r\n0\r\n\r\n".to_owned(), chunk.repeat(3) + "0\r\n\r\n"] {
                all.spawn(move || {
                    case.is_told_the_truth(chunked, &body);
                    case.is_told_the_truth(&format!("{chunked}{expect}"), &body);
                });
            }
        }
    });
    for case in [
        early(pages, "/admin/v1/projects", &[&bearer, json], "413"),
        early(api, "/v1/otp/send", &[&format!("X-Api-Key: {key}\r\n"), json], "413"),
    ] {
        case.is_told_the_truth(chunked, &(chunk.repeat(TOO_MANY_CHUNKS) + "0\r\n\r\n"));
        // Bytes after an endless chunk are not a request.
        let told = case.exchange(chunked, &chunk.repeat(TOO_MANY_CHUNKS));
        assert!(
            told.starts_with("HTTP/1.1 413") && told.contains("connection: close\r\n"),
            "{told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn head_answers_as_get_does_on_both() {
    let (service, admin) = started(World::new(Database::sqlite()));
    let projects = format!("{}/admin/v1/projects", admin.base);
    for url in [
        format!("{}/sign-in", admin.base),
        format!("{}/nowhere", admin.base),
        format!("{}/admin/v1/openapi.json", admin.base),
        projects.clone(),
        format!("{}/healthz", service.base),
        format!("{}/openapi.json", service.base),
    ] {
        let ask = |method| Client::new().request(method, &url).bearer_auth(&admin.token).send();
        let (get, head) = (ask(Method::GET).await.unwrap(), ask(Method::HEAD).await.unwrap());
        assert_eq!(head.status(), get.status(), "{url}");
        for name in ["content-type", "content-length", "cache-control"] {
            assert_eq!(head.headers().get(name), get.headers().get(name), "{url}");
        }
        assert_eq!(head.text().await.unwrap(), "", "{url}");
    }
    let put = Client::new().put(&projects).bearer_auth(&admin.token).send().await.unwrap();
    assert_eq!(
        (put.status().as_u16(), &put.headers()["allow"]),
        (405, &"GET, HEAD, POST".parse().unwrap())
    );
}

/// Both documents are long. Clients that accept compression get them compressed, and a client that has the
/// current version gets 304 instead.
#[tokio::test(flavor = "multi_thread")]
async fn documents_come_compressed_and_only_once() {
    let (service, admin) = started(World::new(Database::sqlite()));
    for url in
        [format!("{}/openapi.json", service.base), format!("{}/admin/v1/openapi.json", admin.base)]
    {
        let ask = |method: Method, headers: &[(&'static str, &str)]| {
            let request = Client::new().request(method, &url);
            let request =
                headers.iter().fold(request, |all, (name, value)| all.header(*name, *value));
            async move { request.send().await.unwrap() }
        };
        let head = |answer: &Response, name: &str| {
            answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
        };
        let plain = ask(Method::GET, &[]).await;
        let packed = ask(Method::GET, &[("Accept-Encoding", "br, gzip")]).await;
        assert_eq!((head(&plain, "content-encoding"), plain.status().as_u16()), (None, 200));
        assert_eq!(head(&packed, "content-encoding").as_deref(), Some("gzip"));
        let tags = [&plain, &packed].map(|answer| head(answer, "etag").unwrap());
        assert!(tags[0] != tags[1] && tags.iter().all(|tag| tag.starts_with('"')), "{tags:?}");
        for answer in [&plain, &packed] {
            assert_eq!(head(answer, "vary").as_deref(), Some("accept-encoding"));
            assert_eq!(head(answer, "cache-control").as_deref(), Some("no-cache"));
            assert_eq!(head(answer, "content-type").as_deref(), Some("application/json"));
        }
        let (plain, packed) = (plain.bytes().await.unwrap(), packed.bytes().await.unwrap());
        assert!(packed.len() * 5 < plain.len(), "{} of {}", packed.len(), plain.len());
        let mut unpacked = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain);

        let uncompressed = ask(Method::GET, &[("Accept-Encoding", "gzip;q=0, *")]).await;
        assert_eq!(head(&uncompressed, "etag"), Some(tags[0].clone()));
        for (coding, tag, length) in
            [("identity", &tags[0], plain.len()), ("gzip", &tags[1], packed.len())]
        {
            let coding = ("Accept-Encoding", coding);
            let asked = ask(Method::HEAD, &[coding]).await;
            assert_eq!(head(&asked, "content-length"), Some(length.to_string()), "{url}");
            assert_eq!(head(&asked, "etag"), Some(tag.clone()));
            for method in [Method::GET, Method::HEAD] {
                for known in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
                    let told = ask(method.clone(), &[coding, ("If-None-Match", &known)]).await;
                    assert_eq!(told.status().as_u16(), 304, "{method} {url} {known}");
                    assert_eq!(head(&told, "etag"), Some(tag.clone()));
                    assert_eq!(head(&told, "vary").as_deref(), Some("accept-encoding"));
                    assert!(told.bytes().await.unwrap().is_empty());
                }
                // The tag of the other coding is another version.
                let other = tags.iter().find(|other| *other != tag).unwrap();
                let told = ask(method, &[coding, ("If-None-Match", other)]).await;
                assert_eq!(told.status().as_u16(), 200);
            }
        }
    }
}

/// Copies the only entry of a ledger 501 times: 500 readable copies, then an older one whose time cannot be
/// read. A download of the ledger breaks off there.
async fn unreadable_after_500(database: &Database) {
    let (ids, time, numbers, no_time) = match database {
        Database::Sqlite(_) => (
            "unhex(substr(hex(id), 1, 24) || printf('%08X', i))",
            "made_at - i",
            "WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < 500)",
            "-9223372036854775807",
        ),
        _ => (
            "(substr(id::text, 1, 28) || lpad(to_hex(i), 8, '0'))::uuid",
            "made_at - i * interval '1 second'",
            "WITH numbers (i) AS (SELECT generate_series(0, 500))",
            "'-infinity'::timestamptz",
        ),
    };
    let sql = format!(
        "{numbers} INSERT INTO ledger_entries SELECT {ids}, project_id, position + 1 + i, kind, amount, held, \
         balance_after, held_after, 'r' || i, CASE i WHEN 500 THEN {no_time} ELSE {time} END, relayed \
         FROM ledger_entries, numbers"
    );
    database.run(&sql).await;
}

async fn no_level_brings_the_parsers_lines_into_the_log(database: Database) {
    let mut world = World::new(database);
    let project = world.project("10").id;
    unreadable_after_500(&world.database).await;
    for level in ["info", "trace", "info,actix_http=trace"] {
        world = world.with("DWAR__LOG__LEVEL", level);
        let (service, admin) = started(world);
        for base in [&service.base, &admin.base] {
            for garbage in ["canary\r\n\r\n", "GET /canary HTTP/1.1\r\nHost\x01canary: x\r\n\r\n"] {
                let mut wire = Wire::to(base);
                wire.write(garbage);
                assert!(wire.read_to_end().starts_with("HTTP/1.1 400"));
            }
        }
        let statement = format!("{}/admin/v1/projects/{project}/wallet/statement.csv", admin.base);
        let cut = Client::new().get(statement).bearer_auth(&admin.token).send().await.unwrap();
        assert_eq!(cut.status(), 200);
        assert!(cut.text().await.is_err(), "it is not cut off");

        let told = service.stderr();
        let foreign =
            told.iter().find(|line| line.contains("actix_http") || line.contains("canary"));
        assert_eq!(foreign, None, "{level}");
        let cut_off = told.iter().filter(|line| line.contains("an answer was cut off")).count();
        assert_eq!(cut_off, 1, "{level}");
        world = service.last_words().0;
    }
}

on_both_databases! {
    no_level_brings_the_parsers_lines_into_the_log;
}
