//! Other login systems that have their codes delivered by this service.

mod courier;
mod second_factor;
mod seen;

use crate::common::{Answer, Database, Play, Project, Service, Vendor, Wire, World, answer};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

on_both_databases! {
    a_code_of_supabase_arrives_once_however_often_it_is_asked_for;
    what_is_no_call_of_the_hook_answers_alike;
    limits_of_a_phone_hold_and_are_said_as_supabase_reads_them;
    a_slow_provider_is_not_waited_for_and_sends_once;
    a_killed_service_leaves_one_charge_or_none;
    a_secret_is_replaced_without_a_gap;
    a_code_of_logto_arrives;
    strangers_take_no_place_of_a_hook;
    what_is_no_object_is_refused_in_the_words_of_the_format;
}

#[derive(Clone)]
struct Hook {
    id: String,
    secret: String,
}

fn hook(service: &Service, project: &Project, kind: &str, mode: &str) -> Hook {
    let made = service.world.cli(&[
        "hook",
        "add",
        "--project",
        &project.id,
        "--kind",
        kind,
        "--mode",
        mode,
        "--expires-in",
        "300",
    ]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Hook { id: text(&made["hook"]["hook_id"]), secret: text(&made["secret"]) }
}

/// Signs as Supabase does, now and with a new id.
#[expect(
    clippy::disallowed_methods,
    reason = "the test is the other system, which has a clock of its own"
)]
fn signed(service: &Service, hook: &Hook, body: &str) -> reqwest::RequestBuilder {
    let key = STANDARD.decode(hook.secret.strip_prefix("v1,whsec_").unwrap()).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let (id, timestamp) = (format!("msg_{}", now.as_nanos()), now.as_secs());
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    let signature = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    called(service, hook, body)
        .header("webhook-id", id)
        .header("webhook-timestamp", timestamp)
        .header("webhook-signature", signature)
}

fn called(service: &Service, hook: &Hook, body: &str) -> reqwest::RequestBuilder {
    let request = service.request(Method::POST, &format!("/hooks/{}", hook.id));
    request.header("content-type", "application/json").body(body.to_owned())
}

/// The body that Supabase posts: the number without a plus, and many further members.
fn supabase(phone: &str, code: &str) -> String {
    let user = json!({
        "id": "6481a5c1-3d37-4a56-9f6a-bee08c554965",
        "phone": format!("91{phone}"),
        "user_metadata": { "name": "Asha" },
    });
    json!({ "user": user, "sms": { "otp": code } }).to_string()
}

fn done(answer: &Answer) {
    assert_eq!((answer.status.as_u16(), &answer.body), (200, &json!({})), "{}", answer.text);
    assert_eq!(answer.header("content-type"), "application/json");
}

fn refused(answer: &Answer, http_code: u16) {
    assert_eq!(answer.status.as_u16(), 200, "{}", answer.text);
    assert_eq!(answer.body["error"]["http_code"], http_code, "{}", answer.text);
    assert!(answer.body["error"]["message"].as_str().is_some_and(|text| !text.is_empty()));
    assert!(!answer.headers.contains_key("retry-after"), "Supabase would call again at once");
}

async fn messages(service: &Service, project: &Project, phone: &str) -> Vec<Value> {
    let path = format!("/v1/sandbox/messages?phone={phone}");
    service.get(&project.test, &path).await.ok()["messages"].as_array().unwrap().clone()
}

async fn a_code_of_supabase_arrives_once_however_often_it_is_asked_for(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let hook = hook(&service, &project, "supabase", "test");
    let phone = service.world.phone();
    let body = supabase(&phone, "561166");
    for _ in 0..3 {
        done(&answer(signed(&service, &hook, &body)).await);
    }
    let crowd = (0..20).map(|_| answer(signed(&service, &hook, &body)));
    futures_util::future::join_all(crowd).await.iter().for_each(done);
    let arrived = messages(&service, &project, &phone).await;
    assert_eq!(arrived.len(), 1);
    assert_eq!(arrived[0]["code"], "561166");
    // It is not a code of ours.
    service.verify(&project.test, &phone, "561166").await.refused(400, "OTP_NOT_FOUND");
    // Another code is another message. The body contains much about Supabase's user.
    let long = supabase(&phone, "0420").replace("Asha", &"x".repeat(255 * 1_024));
    done(&answer(signed(&service, &hook, &long)).await);
    assert_eq!(messages(&service, &project, &phone).await.len(), 2);
}

async fn what_is_no_call_of_the_hook_answers_alike(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let here = hook(&service, &project, "supabase", "test");
    let gone = hook(&service, &service.world.project("0"), "supabase", "test");
    let archived = service.world.project("0");
    let away = hook(&service, &archived, "supabase", "test");
    service.world.cli(&["project", "archive", "--project", &archived.id]);
    let nobody =
        Hook { id: "0199a000-0000-7000-8000-000000000000".to_owned(), secret: here.secret.clone() };
    let nonsense = Hook { id: "nonsense".to_owned(), secret: here.secret.clone() };
    let foreign = Hook { id: here.id.clone(), secret: gone.secret.clone() };
    let phone = service.world.phone();
    let body = supabase(&phone, "561166");
    let mut answers = vec![answer(called(&service, &here, &body)).await];
    for hook in [&away, &nobody, &nonsense, &foreign] {
        answers.push(answer(signed(&service, hook, &body)).await);
    }
    for answer in &answers {
        answer.refused(401, "WEBHOOK_UNAUTHENTICATED");
        assert_eq!(answer.body["error"], answers[0].body["error"]);
    }
    assert_eq!(messages(&service, &project, &phone).await, [] as [Value; 0]);
    // After too many, wrong ones are told so; right ones are not delayed.
    let many = (0..40).map(|_| answer(called(&service, &nobody, "{}")));
    let many = futures_util::future::join_all(many).await;
    let limited = many.iter().filter(|it| it.status.as_u16() == 429).count();
    assert!((10..=15).contains(&limited), "{limited}");
    assert!(many.iter().all(|it| !it.headers.contains_key("retry-after")));
    done(&answer(signed(&service, &here, &body)).await);
    // Only POST is known.
    let get = answer(service.request(Method::GET, &format!("/hooks/{}", here.id))).await;
    get.refused(405, "METHOD_NOT_ALLOWED");
}

async fn limits_of_a_phone_hold_and_are_said_as_supabase_reads_them(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("100");
    let live = hook(&service, &project, "supabase", "live");
    let phone = service.world.phone();
    for code in ["1111", "2222", "3333"] {
        done(&answer(signed(&service, &live, &supabase(&phone, code))).await);
    }
    let fourth = supabase(&phone, "4444");
    for _ in 0..2 {
        refused(&answer(signed(&service, &live, &fourth)).await, 429);
    }
    // The limit is shared with sends.
    service.send(&project.live, &phone).await.refused(429, "OTP_RATE_LIMITED");
    refused(&answer(signed(&service, &live, &supabase("12345", "1111"))).await, 422);
    refused(&answer(signed(&service, &live, &supabase(&phone, "12"))).await, 422);
    refused(&answer(signed(&service, &live, "{}")).await, 400);
    // Problems that only the service's operator can solve are not shown to the waiting person.
    let poor = hook(&service, &service.world.project("0"), "supabase", "live");
    let poor = answer(signed(&service, &poor, &supabase(&service.world.phone(), "5555"))).await;
    refused(&poor, 503);
    assert!(!poor.text.contains("balance"), "{}", poor.text);
}

async fn slow_service(database: Database) -> (Service, Vendor) {
    let vendor = Vendor::start(0, |_, _| Play::Hang).await;
    let world = World::new(database)
        .with("DWAR__GATEWAYS__CALL_TIMEOUT_MS", "8000")
        .with("DWAR__GATEWAYS__BREAKER_FAULTS", "1000000");
    (Service::start_in(vendor.carry(world)), vendor)
}

async fn a_slow_provider_is_not_waited_for_and_sends_once(database: Database) {
    let (service, vendor) = slow_service(database).await;
    let project = service.world.project("100");
    let hook = hook(&service, &project, "supabase", "live");
    let bodies: Vec<String> = (0..20).map(|_| supabase(&service.world.phone(), "561166")).collect();
    let timed = |body: String| {
        let request = signed(&service, &hook, &body);
        async move {
            let began = Instant::now();
            (answer(request).await, began.elapsed())
        }
    };
    // Each is repeated while its first call is running.
    let twice = bodies.iter().chain(&bodies).cloned().map(timed);
    for (answer, took) in futures_util::future::join_all(twice).await {
        done(&answer);
        assert!(took < Duration::from_secs(4), "{took:?}");
    }
    let first = vendor.taken().iter().filter(|taken| taken.provider == "wa").count();
    assert_eq!(first, bodies.len(), "one message for each");
}

async fn a_killed_service_leaves_one_charge_or_none(database: Database) {
    let (service, vendor) = slow_service(database).await;
    let project = service.world.project("100");
    let hook = hook(&service, &project, "supabase", "live");
    let body = supabase(&service.world.phone(), "561166");
    let call = tokio::spawn(signed(&service, &hook, &body).send());
    let until = Instant::now() + Duration::from_secs(20);
    while vendor.taken().is_empty() {
        assert!(Instant::now() < until, "the provider was never called");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let world = service.kill();
    call.await.unwrap().unwrap_err();
    let service = Service::start_in(world);
    // The repetition is answered as the first call would have been, and sends nothing.
    done(&answer(signed(&service, &hook, &body)).await);
    assert_eq!(vendor.taken().len(), 1);
    let until = Instant::now() + Duration::from_secs(60);
    while service.world.balance(&project)["held_paise"] != 0 {
        assert!(Instant::now() < until, "the hold was never settled");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    service.world.audit();
}

async fn a_secret_is_replaced_without_a_gap(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let old = hook(&service, &project, "supabase", "test");
    let of = ["--project", project.id.as_str(), "--hook", old.id.as_str()];
    let rotate = || {
        let made = service.world.cli(&[&["hook", "rotate-secret"], of.as_slice()].concat());
        Hook { id: old.id.clone(), secret: made["secret"].as_str().unwrap().to_owned() }
    };
    let new = rotate();
    for hook in [&old, &new] {
        let body = supabase(&service.world.phone(), "561166");
        done(&answer(signed(&service, hook, &body)).await);
    }
    let newest = rotate();
    let body = supabase(&service.world.phone(), "561166");
    let before = answer(signed(&service, &old, &body)).await;
    before.refused(401, "WEBHOOK_UNAUTHENTICATED");
    done(&answer(signed(&service, &newest, &body)).await);
    service.world.cli(&[&["hook", "remove"], of.as_slice()].concat());
    let removed = answer(signed(&service, &newest, &body)).await;
    removed.refused(401, "WEBHOOK_UNAUTHENTICATED");
    assert_eq!(service.world.cli(&["hook", "list", "--project", &project.id])["items"], json!([]));
}

async fn a_code_of_logto_arrives(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let hook = hook(&service, &project, "logto", "test");
    let phone = service.world.phone();
    let call = |to: &str, code: &str| {
        let body = json!({ "to": to, "type": "SignIn", "payload": { "code": code } });
        called(&service, &hook, &body.to_string())
    };
    let to = format!("91{phone}");
    answer(call(&to, "123456")).await.refused(401, "WEBHOOK_UNAUTHENTICATED");
    let shown = |to: &str, code: &str| answer(call(to, code).header("authorization", &hook.secret));
    for _ in 0..2 {
        done(&shown(&to, "123456").await);
    }
    assert_eq!(messages(&service, &project, &phone).await.len(), 1);
    shown("14155550123", "123456").await.refused(422, "INVALID_PHONE");
    shown(&to, "12").await.refused(422, "INVALID_FIELD");
    // In the sandbox, a number can get 20 codes in ten minutes.
    for code in 1..20 {
        done(&shown(&to, &format!("{code:06}")).await);
    }
    let limited = shown(&to, "456789").await;
    limited.refused(429, "OTP_RATE_LIMITED");
    assert!(!limited.headers.contains_key("retry-after"));
}

/// Longer than a body that needs no reserved place.
const LONG: usize = 17 * 1_024;
const AT_ONCE: Duration = Duration::from_secs(5);

/// The headers of a stranger's call to a hook: well-formed but forged, without the one that is left
/// out.
#[expect(clippy::disallowed_methods, reason = "as the other system")]
fn forged(left_out: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().to_string();
    let nobodys = format!("v1,{}", STANDARD.encode([7; 32]));
    let headers = [
        ("Webhook-Id", "msg_1"),
        ("Webhook-Timestamp", &now),
        ("Webhook-Signature", &nobodys),
        ("Content-Type", "application/json"),
    ];
    let headers = headers.iter().filter(|(name, _)| *name != left_out);
    headers.map(|(name, value)| format!("{name}: {value}\r\n")).collect()
}

/// A call whose body never ends; `sent` bytes of it arrive.
fn stalled(service: &Service, id: &str, headers: &str, sent: usize) -> Wire {
    let mut wire = Wire::to(&service.base);
    wire.write(&format!(
        "POST /hooks/{id} HTTP/1.1\r\nHost: dwar\r\n{headers}Content-Length: {}\r\n\r\n{}",
        LONG + 1,
        "x".repeat(sent)
    ));
    wire
}

async fn strangers_take_no_place_of_a_hook(database: Database) {
    let world = World::new(database).with("DWAR__HTTP__CLIENT_TIMEOUT_SECONDS", "8");
    let service = Service::start_in(world);
    let project = service.world.project("0");
    let [ours, theirs] =
        ["supabase", "supabase"].map(|kind| hook(&service, &project, kind, "test"));
    let logto = hook(&service, &project, "logto", "test");
    let genuine = async |hook: &Hook, code: &str| {
        let body = supabase(&service.world.phone(), code).replace("Asha", &"x".repeat(LONG));
        answer(signed(&service, hook, &body)).await
    };
    // No such hook, an invalid id, and calls that no body could make genuine: the head decides.
    let nobody = "0199a000-0000-7000-8000-000000000000";
    let (wrong, late) = ("Authorization: Bearer x\r\n", forged("Webhook-Timestamp"));
    let late = format!("{late}Webhook-Timestamp: 1000\r\n");
    let another = format!("Authorization: {}\r\n", logto.secret.replace("whsec_", "whsec_A"));
    let text = format!("{}Content-Type: text/plain\r\n", forged("Content-Type"));
    let packed = format!("{}Content-Encoding: gzip\r\n", forged(""));
    let long = format!("{}X: 1\r\n", forged(""));
    for (why, id, headers, status) in [
        ("no such hook", nobody, forged(""), "401"),
        ("no id", "nobody", forged(""), "401"),
        ("nothing shown", &ours.id, String::new(), "401"),
        ("no signature", &ours.id, forged("Webhook-Signature"), "401"),
        ("no id of the call", &ours.id, forged("Webhook-Id"), "401"),
        ("too long ago", &ours.id, late, "401"),
        ("the proof of another format", &ours.id, another.clone(), "401"),
        ("the proof of another format", &logto.id, forged(""), "401"),
        ("no secret", &logto.id, wrong.to_owned(), "401"),
        ("another secret", &logto.id, another, "401"),
        ("no JSON", &ours.id, text, "415"),
        ("compressed", nobody, packed, "415"),
    ] {
        let began = Instant::now();
        let told = stalled(&service, id, &headers, LONG).read_to_end();
        assert!(told.starts_with(&format!("HTTP/1.1 {status} ")), "{why}: {told}");
        assert!(began.elapsed() < AT_ONCE, "{why}: {:?}", began.elapsed());
    }
    // A body that is too long for any hook is refused without waiting for it.
    for (id, status) in [(nobody, "401"), (&ours.id, "200"), (&logto.id, "401")] {
        let mut too_long = Wire::to(&service.base);
        let length = format!("Content-Length: {}", 256 * 1_024 + 1);
        too_long
            .write(&format!("POST /hooks/{id} HTTP/1.1\r\nHost: dwar\r\n{long}{length}\r\n\r\n"));
        let told = too_long.read_to_end();
        assert!(told.starts_with(&format!("HTTP/1.1 {status} ")), "{told}");
    }

    // A stranger who knows the id of one hook can occupy only the places of that hook, and for two
    // seconds.
    let crowd: Vec<_> = [nobody, "nobody", &theirs.id]
        .into_iter()
        .flat_map(|id| (0..8).map(move |_| id))
        .map(|id| stalled(&service, id, &forged(""), LONG))
        .collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    for code in ["1111", "2222"] {
        done(&genuine(&ours, code).await);
    }
    assert_eq!(genuine(&theirs, "3333").await.status.as_u16(), 503);
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    done(&genuine(&theirs, "4444").await);
    drop(crowd);

    // Many well-formed calls to unknown hooks are looked up a few at a time, without a long wait
    // for others.
    let flood = (0..200).map(|number| {
        let unknown =
            Hook { id: format!("0199a000-0000-7000-8000-{number:012}"), ..theirs.clone() };
        answer(signed(&service, &unknown, "{}"))
    });
    let flood = futures_util::future::join_all(flood);
    let (flood, answered) = tokio::join!(flood, genuine(&ours, "5555"));
    done(&answered);
    assert!(flood.iter().all(|it| matches!(it.status.as_u16(), 401 | 429 | 503)));
}

/// Serde also reads the members of a struct from an array.
async fn what_is_no_object_is_refused_in_the_words_of_the_format(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let phone = service.world.phone();
    let [theirs, logto] = ["supabase", "logto"].map(|kind| hook(&service, &project, kind, "test"));
    let (number, code) = (json!(format!("91{phone}")), json!("561166"));
    for body in [
        json!([{ "phone": number }, { "otp": code }]),
        json!([[number], [code, null]]),
        json!({ "user": [number], "sms": { "otp": code } }),
        json!({ "user": { "phone": number }, "sms": [code, null] }),
        json!([]),
        Value::Null,
        json!(1),
        json!("x"),
    ] {
        refused(&answer(signed(&service, &theirs, &body.to_string())).await, 400);
    }
    for body in [
        json!([number, { "code": code }]),
        json!([number, [code]]),
        json!({ "to": number, "payload": [code] }),
        Value::Null,
        json!(true),
    ] {
        let call = called(&service, &logto, &body.to_string());
        let refused = answer(call.header("authorization", &logto.secret)).await;
        refused.refused(400, "INVALID_REQUEST");
    }
    assert_eq!(messages(&service, &project, &phone).await, [] as [Value; 0]);
}
