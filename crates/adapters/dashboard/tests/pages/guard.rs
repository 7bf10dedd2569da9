use crate::support::{HOST, House, ORIGIN, Reply};
use actix_web::http::Method;
use actix_web::test::TestRequest;
use dwar_memory::Fault;

const OPEN: [&str; 3] = ["/account", "/audit", "/reference"];
const PAGES: [&str; 7] = ["/sign-in", "/start", "/invite", "/", "/projects", "/nowhere", "/team"];

#[actix_web::test]
async fn a_name_that_is_not_ours_gets_nothing_whatever_it_asks() {
    let house = House::new().await;
    for host in ["evil.example", "127.0.0.1.evil.example", "10.1.2.3:8081", "", "[::ffff:1.2.3.4]"]
    {
        for path in PAGES {
            let asked = TestRequest::with_uri(path).insert_header(("Host", host));
            let reply = house.send(asked).await;
            assert_eq!(reply.status, 421, "{host} {path}");
        }
    }
    for host in [HOST, "localhost:8081", "[::1]:8081", "ops.example.com", "OPS.example.com:8443"] {
        let asked = TestRequest::with_uri("/sign-in").insert_header(("Host", host));
        assert_eq!(house.send(asked).await.status, 200, "{host}");
    }
    assert_eq!(house.send(TestRequest::with_uri("/sign-in")).await.status, 421, "no Host");
    let twice = TestRequest::with_uri("/sign-in").insert_header(("Host", HOST));
    let twice = twice.append_header(("Host", "evil.example"));
    assert_eq!(house.send(twice).await.status, 421, "two Hosts");
}

#[actix_web::test]
async fn every_answer_keeps_scripts_frames_and_caches_out() {
    let house = House::new().await;
    let owner = house.owner().await;
    let pages = ["playground", "keys", "settings/events", "wallet", "identities", "audit"];
    let own = pages.map(|page| house.page(page));
    let misdirected = TestRequest::with_uri("/").insert_header(("Host", "evil.example"));
    let mut replies = vec![house.send(misdirected).await];
    for path in own.iter().map(String::as_str).chain(PAGES).chain(OPEN) {
        replies.push(owner.get(path).await);
        replies.push(house.stranger().get(path).await);
        replies.push(owner.post(path, &[]).await);
    }
    for reply in replies {
        let policy = reply.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"));
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"));
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        assert_eq!(reply.header("x-frame-options"), "DENY");
        assert_eq!(reply.header("referrer-policy"), "same-origin");
        assert_eq!(reply.header("cache-control"), "no-store");
        assert!(!reply.body.contains("style=") && !reply.body.contains("onclick"));
        assert!(!reply.body.contains("<style") && !reply.body.contains("<script>"));
    }
}

#[actix_web::test]
async fn assets_are_kept_for_ever_and_change_their_path_with_their_content() {
    let house = House::new().await;
    let page = house.owner().await.get(&house.page("playground")).await.body;
    let assets: Vec<&str> = page.split('"').filter(|text| text.starts_with("/assets/")).collect();
    assert_eq!(assets.len(), 6, "{assets:?}");
    for path in assets {
        let reply = house.stranger().get(path).await;
        let cached = reply.header("cache-control");
        assert_eq!((reply.status, cached), (200, "public, max-age=31536000, immutable"), "{path}");
        assert_eq!(house.stranger().get(&path.replacen('/', "/x", 2)).await.status, 404);
    }
    assert!(page.len() < 100_000, "{} bytes", page.len());
}

#[actix_web::test]
async fn another_sites_form_changes_nothing_even_with_the_right_token() {
    let house = House::new().await;
    let owner = house.owner().await;
    let csrf = owner.csrf().await;
    let fields = [
        ("csrf", csrf.as_str()),
        ("name", "mallory"),
        ("project", "everything"),
        ("role", "owner"),
    ];
    for (origin, site) in [
        (Some("https://evil.example"), Some("cross-site")),
        (Some("http://127.0.0.1:9999"), Some("same-site")),
        (Some("null"), Some("cross-site")),
        (Some("null"), None),
        (None, Some("same-origin")),
        (None, None),
        (Some(ORIGIN), Some("cross-site")),
        (Some(ORIGIN), Some("none")),
        (Some("https://127.0.0.1:8081"), None),
    ] {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields);
        let mut request = owner.request(Method::POST, "/team").set_payload(body.finish());
        request =
            origin.into_iter().fold(request, |it, origin| it.insert_header(("Origin", origin)));
        request =
            site.into_iter().fold(request, |it, site| it.insert_header(("Sec-Fetch-Site", site)));
        assert_eq!(house.send(request).await.status, 403, "{origin:?} {site:?}");
    }
    assert!(house.manage.operators.named("mallory").await.is_err());
    assert_eq!(house.send(owner.form("/team", &fields)).await.status, 200);
    assert!(house.manage.operators.named("mallory").await.is_ok());
}

#[actix_web::test]
async fn a_form_without_this_sessions_token_changes_nothing() {
    let house = House::new().await;
    let owner = house.owner().await;
    let other = house.joined("ben", dwar_operator::Access::everything()).await;
    let mut others = owner.clone();
    others.cookie = Some(other.token.expose().to_owned());
    let foreign = others.csrf().await;
    let own = owner.csrf().await;
    assert_ne!(foreign, own);
    let key = house.page("keys/regenerate");
    let preview = house.page("settings/preview");
    let call = house.page("playground/call");
    let paths = [
        "/team",
        "/sign-out",
        "/sign-out-everywhere",
        "/theme",
        "/mode",
        "/account/totp",
        &key,
        &preview,
        &call,
    ];
    for path in paths {
        for token in ["", "0", &foreign, &own[1..]] {
            let reply = house.send(owner.form(path, &[("csrf", token)])).await;
            assert_eq!(reply.status, 403, "{path} {token}");
        }
        assert_eq!(house.send(owner.form(path, &[])).await.status, 403, "{path} without");
    }
    assert_eq!(owner.get("/account").await.status, 200, "still signed in");
}

#[actix_web::test]
async fn head_of_every_page_answers_as_get_does_without_the_body() {
    let house = House::new().await;
    let owner = house.owner().await;
    let script = owner.get("/account").await.body;
    let script = script.split('"').find(|text| text.starts_with("/assets/")).unwrap().to_owned();
    let of_project = [
        "overview",
        "playground",
        "keys",
        "settings",
        "settings/messages",
        "wallet",
        "wallet/statement.csv",
        "identities",
        "activity",
        "audit",
    ];
    let elsewhere =
        ["/account", "/audit", "/tokens", "/operations", "/reference", "/admin/v1/openapi.json"];
    let mut paths: Vec<String> = of_project.map(|page| house.page(page)).to_vec();
    paths.extend(PAGES.into_iter().chain(elsewhere).map(str::to_owned));
    paths.push(script);
    for path in paths {
        for browser in [&owner, &house.stranger()] {
            let asked = |method| house.send(browser.request(method, &path));
            let (get, head) = (asked(Method::GET).await, asked(Method::HEAD).await);
            assert_eq!((head.status, head.body.as_str()), (get.status, ""), "{path}");
            let named = |reply: &Reply, name| reply.header(name).to_owned();
            for name in ["content-type", "cache-control", "location", "content-disposition"] {
                assert_eq!(named(&head, name), named(&get, name), "{path}");
            }
        }
    }
    // A streamed list also answers HEAD, which takes no place.
    let live = house.page("activity/live");
    for _ in 0..100 {
        let mut asked = house.stream(owner.request(Method::HEAD, &live)).await;
        assert!(asked.status == 200 && asked.is_over().await);
    }
}

#[actix_web::test]
async fn a_page_that_panics_is_answered_and_costs_no_other() {
    let house = House::new().await;
    let owner = house.owner().await;
    house.store.faults().every(Some(Fault::Panics));
    let failed = owner.get("/projects").await;
    assert_eq!(failed.status, 500, "{}", failed.body);
    house.store.faults().every(None);
    assert_eq!(owner.get("/projects").await.status, 200);
}
