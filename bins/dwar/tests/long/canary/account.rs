//! Pages about the operator: sign-in, their own account, the search, the playground.

use crate::canary::house::House;
use crate::common::{Answer, PASSWORD, Person};
use crate::doors::stage::PHONE;
use dwar_kernel::Clock;
use dwar_operator::TotpSecret;
use dwar_system::SystemClock;
use reqwest::{Client, redirect};
use serde_json::json;

const NAME: &str = "Kamala";
const NEW_PASSWORD: &str = "nine yellow kites at noon";
const WRONG_PASSWORD: &str = "eight red kites at midnight";

pub async fn walk(house: &House) {
    house.secrets().add("a password", NEW_PASSWORD);
    house.secrets().add("a password that is wrong", WRONG_PASSWORD);
    let person = Person::join(house.service(), &["--name", NAME, "--owner"]).await;
    let open = ["/reference", "/help", "/help/runbooks", "/sign-in"];
    for page in ["/", "/account", "/playground", "/find", "/team"].into_iter().chain(open) {
        person.get(page).await;
    }
    change_password(&person).await;
    play(house, &person).await;
    find(house, &person).await;
    let secret = add_app(house, &person).await;
    come_in(house, &secret).await;
    come_in_by_what_is_none(house).await;
    for form in ["/theme", "/language", "/mode"] {
        person.post(form, &[("theme", "dark"), ("language", "hi"), ("mode", "test")]).await;
    }
    person.post("/account/totp/remove", &[("current", NEW_PASSWORD)]).await;
    person.post("/sign-out-everywhere", &[]).await;
    person.post("/sign-out", &[]).await;
}

async fn change_password(person: &Person) {
    for (current, new, again) in [
        (WRONG_PASSWORD, NEW_PASSWORD, NEW_PASSWORD),
        (PASSWORD, NEW_PASSWORD, WRONG_PASSWORD),
        (PASSWORD, "short", "short"),
        (PASSWORD, NEW_PASSWORD, NEW_PASSWORD),
    ] {
        let fields = [("current", current), ("new", new), ("again", again)];
        let answer = person.post("/account/password", &fields).await;
        assert!(matches!(answer.status.as_u16(), 303 | 403 | 422), "{}", answer.text);
    }
}

async fn play(house: &House, person: &Person) {
    let (project, phone) = (&house.stage.ours, house.phone());
    let call = |target: &str, body: serde_json::Value| {
        let path = format!("/p/{}/playground/call", project.id);
        let (target, body) = (target.to_owned(), body.to_string());
        async move {
            let fields = [("method", "POST"), ("target", target.as_str()), ("body", body.as_str())];
            person.post(&path, &fields).await
        }
    };
    call("/v1/otp/send", json!({ "phone": phone })).await.ok();
    let code = house.code(&project.test, &phone).await;
    house.secrets().add_code(&code);
    call("/v1/otp/verify", json!({ "phone": phone, "code": "000000" })).await.ok();
    let verified = call("/v1/otp/verify", json!({ "phone": phone, "code": code })).await;
    assert!(verified.text.contains("eyJ"), "{}", verified.text);
    call("/v1/session/validate", json!({ "access_token": phone })).await.ok();
    call(&format!("/v1/{phone}?code={code}"), json!([phone])).await;
    for wanted in [&phone, &code, &format!("+91 {phone}")] {
        person.post(&format!("/p/{}/inbox", project.id), &[("wanted", wanted)]).await;
    }
    person.get(&format!("/p/{}/inbox?wanted={phone}", project.id)).await;
}

async fn find(house: &House, person: &Person) {
    let project = house.stage.ours.id.as_str();
    for wanted in [PHONE, "+919876543210", "98765 43210", house.stage.ours.live.as_str(), "Acme"] {
        for part in ["", "1"] {
            let fields = [("q", wanted), ("project", project), ("mode", "test"), ("part", part)];
            person.post("/find", &fields).await;
        }
    }
}

async fn add_app(house: &House, person: &Person) -> TotpSecret {
    let offered = person.post("/account/totp", &[]).await.text;
    let secret = offered.split(r#"name="secret" value=""#).nth(1).unwrap();
    let secret = secret.split('"').next().unwrap();
    house.secrets().add("the secret of an authenticator app", secret);
    let known: TotpSecret = secret.parse().unwrap();
    let code = known.code_at(SystemClock.now()).expose();
    house.secrets().add_code(&code);
    for (code, current) in
        [("12345", NEW_PASSWORD), (&*code, WRONG_PASSWORD), (&*code, NEW_PASSWORD)]
    {
        let fields = [("secret", secret), ("code", code), ("current", current)];
        person.post("/account/totp/add", &fields).await;
    }
    known
}

async fn stranger(house: &House, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Answer {
    let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
    let base = house.service().dashboard();
    let request = client.post(format!("{base}{path}")).header("Origin", &base);
    house.ask(request.header("Cookie", cookie).form(fields)).await
}

async fn come_in(house: &House, secret: &TotpSecret) {
    let fields = [("name", NAME), ("password", NEW_PASSWORD)];
    let asked = stranger(house, "/sign-in", "", &fields).await;
    assert!(asked.header("location").starts_with("/sign-in/code"), "{}", asked.text);
    let pending = asked.header("set-cookie").split(';').next().unwrap().to_owned();
    // The used one is refused, and its successor is accepted.
    let now = SystemClock.now();
    for later in [0, 30] {
        let code = secret.code_at(now + chrono::Duration::seconds(later)).expose();
        house.secrets().add_code(&code);
        let fields = [("code", code.as_str()), ("next", "/team")];
        stranger(house, "/sign-in/code", &pending, &fields).await;
    }
}

async fn come_in_by_what_is_none(house: &House) {
    let link = format!("svc_lnk_{}", "0".repeat(43));
    let (link, key) = (link.as_str(), house.stage.ours.live.as_str());
    for (path, fields) in [
        ("/sign-in", [("name", NAME), ("password", WRONG_PASSWORD), ("next", PASSWORD)]),
        ("/sign-in", [("name", NEW_PASSWORD), ("password", NAME), ("next", "")]),
        ("/sign-in", [("name", PHONE), ("password", key), ("next", PHONE)]),
        ("/sign-in/code", [("code", PHONE), ("next", NEW_PASSWORD), ("x", "")]),
        ("/invite", [("secret", link), ("password", NEW_PASSWORD), ("again", NEW_PASSWORD)]),
        ("/invite", [("secret", PHONE), ("password", NEW_PASSWORD), ("again", WRONG_PASSWORD)]),
        ("/start", [("secret", NEW_PASSWORD), ("x", ""), ("y", "")]),
        ("/sign-in/passkey/challenge", [("x", PHONE), ("y", ""), ("z", "")]),
        ("/sign-in/passkey", [("challenge", PHONE), ("credential", NEW_PASSWORD), ("z", "")]),
    ] {
        let cookie = format!("dwar_pending={link}; dwar_browser={link}");
        let answer = stranger(house, path, &cookie, &fields).await;
        assert_ne!(answer.status, 500, "{path}: {}", answer.text);
    }
}
