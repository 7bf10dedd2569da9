//! Every operation of the public API, with valid and with invalid input.

use crate::canary::house::{House, VISITOR, text};
use crate::common::{Answer, answer, wrong};
use crate::doors::stage::{NOBODY, PHONE};
use reqwest::Method;
use serde_json::{Value, json};

/// Six guesses, one more than a live code allows.
const GUESSES: u32 = 6;

pub async fn walk(house: &House) {
    for key in [&house.carried.live, &house.carried.test] {
        let caller = Caller { house, key };
        // As many phones as the vendor has reactions to a message.
        for _ in 0..10 {
            caller.log_in().await;
        }
        for _ in 0..5 {
            caller.relay_and_check().await;
            caller.return_with_a_device().await;
        }
        caller.call_a_hook().await;
        caller.be_refused().await;
    }
    let key = &house.carried.test;
    for number in 1..=5 {
        // These are known to everybody.
        house.service().send(key, &format!("900000000{number}")).await;
    }
    find_issuers(house).await;
    for path in ["/.well-known/jwks.json", "/healthz", "/readyz", "/openapi.json"] {
        house.service().get(key, path).await.ok();
    }
}

/// Public requests about an issuer, an existing one and an unknown one.
async fn find_issuers(house: &House) {
    for (project, is_there) in [(house.carried.id.as_str(), true), (NOBODY, false)] {
        for path in [
            format!("/p/{project}/.well-known/openid-configuration"),
            format!("/p/{project}/.well-known/oauth-authorization-server"),
            format!("/.well-known/oauth-authorization-server/p/{project}"),
            format!("/p/{project}/.well-known/jwks.json"),
        ] {
            let found = house.service().get(&house.carried.test, &path).await;
            assert_eq!(found.status.is_success(), is_there, "{path}: {}", found.text);
        }
    }
}

/// Sends to providers that echo what they get.
pub async fn walk_by_echo(house: &House) {
    // Each of them goes to several providers, and each answers in several ways.
    for _ in 0..12 {
        house.service().send(&house.echoed.live, &house.phone()).await;
    }
}

struct Caller<'a> {
    house: &'a House,
    key: &'a str,
}

impl Caller<'_> {
    async fn post(&self, path: &str, body: Value) -> Answer {
        self.house.service().post(self.key, path, body).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.house.service().get(self.key, path).await
    }

    async fn repeat(&self, path: &str, repeats: &str, body: &Value) -> Answer {
        let request = self.house.service().call(self.key, path, body);
        answer(request.header("Idempotency-Key", repeats)).await
    }

    /// A whole login, with a mistake before each step.
    async fn log_in(&self) {
        let phone = self.house.phone();
        let repeats = format!("send-of-{phone}");
        self.house.secrets().add("an Idempotency-Key", &repeats);
        let body = json!({ "phone": format!("+91{phone}") });
        let sent = self.repeat("/v1/otp/send", &repeats, &body).await.ok();
        self.repeat("/v1/otp/send", &repeats, &body).await.ok();
        let other = json!({ "phone": PHONE });
        self.repeat("/v1/otp/send", &repeats, &other).await.refused(422, "IDEMPOTENCY_KEY_REUSED");
        let code = self.house.code(self.key, &phone).await;
        self.house.secrets().add_code(&code);

        let guess = |code: &str| json!({ "phone": phone, "code": code });
        self.post("/v1/otp/verify", guess(&wrong(&code, 0))).await.refused(400, "INVALID_OTP");
        self.post("/v1/otp/verify", guess(&code[1..])).await.refused(422, "INVALID_OTP_CODE");
        let pair = self.post("/v1/otp/verify", guess(&code)).await.ok();
        self.post("/v1/otp/verify", guess(&code)).await.refused(400, "OTP_NOT_FOUND");
        self.get(&format!("/v1/otp/status/{}", text(&sent["otp_id"]))).await.ok();
        self.use_up(&phone, &pair).await;
    }

    /// Logs in twice, the second time with the device of the first, which is also shown where it is unknown.
    async fn return_with_a_device(&self) {
        // The vendor delivers at once to these, so that no late message carries an old code.
        let mut phones = std::iter::repeat_with(|| self.house.phone());
        let phone = phones.find(|phone| phone.ends_with(['5', '6', '7', '8', '9'])).unwrap();
        let visitor = json!({ "address": VISITOR, "trusted": false });
        let mut shown = Value::Null;
        for _ in 0..2 {
            let send = json!({ "phone": phone, "visitor": visitor, "device": shown });
            self.post("/v1/otp/send", send).await.ok();
            let code = self.house.code(self.key, &phone).await;
            self.house.secrets().add_code(&code);
            let guess = |code: &str| json!({ "phone": phone, "code": code, "device": shown });
            self.post("/v1/otp/verify", guess(&wrong(&code, 0))).await.refused(400, "INVALID_OTP");
            self.post("/v1/otp/check", guess(&wrong(&code, 1))).await.refused(400, "INVALID_OTP");
            let pair = self.post("/v1/otp/verify", guess(&code)).await.ok();
            shown = json!(text(&pair["device"]));
        }
        let stranger = self.house.phone();
        let elsewhere = json!({ "phone": stranger, "visitor": visitor, "device": shown });
        self.post("/v1/otp/send", elsewhere).await.ok();
        let altered = json!(text(&shown).replacen("svc_dt_0", "svc_dt_1", 1));
        for (device, status, code) in [
            (altered, 400, "OTP_NOT_FOUND"),
            (json!([shown]), 422, "INVALID_FIELD"),
            (json!({ "device": shown }), 422, "INVALID_FIELD"),
        ] {
            let guess = json!({ "phone": stranger, "code": "12345", "device": device });
            self.post("/v1/otp/verify", guess).await.refused(422, "INVALID_OTP_CODE");
            let guess = json!({ "phone": phone, "code": "123456", "device": device });
            self.post("/v1/otp/verify", guess).await.refused(status, code);
        }
    }

    /// A relayed code, and a code that is checked without a login.
    async fn relay_and_check(&self) {
        let phone = self.house.phone();
        let repeats = format!("relay-of-{phone}");
        self.house.secrets().add("an Idempotency-Key", &repeats);
        let relayed = wrong(&phone[4..], 0);
        self.house.secrets().add_code(&relayed);
        let body = |code: &str| json!({ "phone": phone, "code": code, "expires_in": 300 });
        self.repeat("/v1/otp/relay", &repeats, &body(&relayed)).await.ok();
        self.repeat("/v1/otp/relay", &repeats, &body(&relayed)).await.ok();
        let other = self.repeat("/v1/otp/relay", &repeats, &body(&relayed[1..])).await;
        other.refused(422, "IDEMPOTENCY_KEY_REUSED");
        self.post("/v1/otp/relay", body(&relayed[3..])).await.refused(422, "INVALID_FIELD");

        // A relayed code may fall back at any time, and would then be the newest message of its
        // phone.
        let phone = self.house.phone();
        self.post("/v1/otp/send", json!({ "phone": phone })).await.ok();
        let code = self.house.code(self.key, &phone).await;
        self.house.secrets().add_code(&code);
        let guess = |code: &str| json!({ "phone": phone, "code": code });
        self.post("/v1/otp/check", guess(&wrong(&code, 0))).await.refused(400, "INVALID_OTP");
        self.post("/v1/otp/check", guess(&code)).await.ok();
        self.post("/v1/otp/check", guess(&code)).await.refused(400, "OTP_NOT_FOUND");
    }

    /// Delivers a code for another login system, in the format that sends its secret itself.
    async fn call_a_hook(&self) {
        let (service, project) = (self.house.service(), &self.house.carried);
        let mode = if *self.key == project.live { "live" } else { "test" };
        let new = ["--kind", "logto", "--mode", mode, "--expires-in", "300"];
        let made =
            service.world.cli(&[&["hook", "add", "--project", &project.id], &new[..]].concat());
        let secret = text(&made["secret"]);
        self.house.secrets().add("a hook's secret", &secret);
        let (phone, hook) = (self.house.phone(), text(&made["hook"]["hook_id"]));
        let code = wrong(&phone[4..], 0);
        self.house.secrets().add_code(&code);
        let body = json!({ "to": format!("91{phone}"), "payload": { "code": code } });
        for shown in [secret.as_str(), "Bearer of nothing"] {
            let call = service.request(Method::POST, &format!("/hooks/{hook}")).json(&body);
            answer(call.header("Authorization", shown)).await;
        }
    }

    /// Ends a session in each way, and erases its identity.
    async fn use_up(&self, phone: &str, pair: &Value) {
        let access = |pair: &Value| json!({ "access_token": pair["access_token"] });
        let refresh = json!({ "refresh_token": pair["refresh_token"] });
        let repeats = format!("refresh-of-{phone}");
        self.house.secrets().add("an Idempotency-Key", &repeats);
        self.post("/v1/session/validate", access(pair)).await.ok();
        self.ask_as_others_do(&text(&pair["access_token"])).await;
        let new = self.repeat("/v1/session/refresh", &repeats, &refresh).await.ok();
        self.repeat("/v1/session/refresh", &repeats, &refresh).await.ok();
        self.post("/v1/session/refresh", refresh).await.refused(401, "SESSION_EXPIRED");
        let old = self.post("/v1/session/validate", access(pair)).await;
        old.refused(401, "INVALID_ACCESS_TOKEN");

        let identity = format!("/v1/identity/{}", text(&new["identity_id"]));
        self.get(&identity).await.ok();
        self.get(&format!("/v1/identity?phone={phone}")).await.ok();
        self.get(&format!("/v1/identity?phone=%2B91{phone}")).await.ok();
        self.get("/v1/events").await.ok();
        self.get(&format!("/v1/events?after={phone}")).await.refused(422, "INVALID_FIELD");
        self.post("/v1/session/logout", access(&new)).await.ok();
        self.post("/v1/session/logout", access(&new)).await.refused(401, "INVALID_ACCESS_TOKEN");
        // Other identities stay, for operators.
        if phone.ends_with(['1', '3', '5']) {
            self.house.service().delete(self.key, &identity).await.ok();
            self.get(&identity).await.refused(404, "IDENTITY_NOT_FOUND");
        }
    }

    /// Makes requests like proxies and frameworks, with a valid and an invalid token.
    async fn ask_as_others_do(&self, token: &str) {
        let service = self.house.service();
        for shown in [token, &token[1..]] {
            let path = "/v1/session/forward-auth";
            let proxy = service.request(Method::GET, path).header("X-Api-Key", self.key);
            assert_eq!(answer(proxy.bearer_auth(shown)).await.status == 200, shown == token);
            let framework = service.request(Method::POST, "/oauth2/introspect");
            let framework = framework.basic_auth("dwar", Some(self.key)).form(&[("token", shown)]);
            assert_eq!(answer(framework).await.ok()["active"], shown == token);
        }
        let nobody = service.request(Method::POST, "/oauth2/introspect");
        let nobody = nobody.basic_auth(self.key, Some(token)).form(&[("token", self.key)]);
        answer(nobody).await.refused(401, "INVALID_API_KEY");
    }

    async fn be_refused(&self) {
        let live = self.key.starts_with("svc_live_");
        let phone = self.house.phone();
        let send = || json!({ "phone": phone });
        self.post("/v1/otp/send", send()).await.ok();
        let code = self.house.code(self.key, &phone).await;
        self.house.secrets().add_code(&code);
        for number in 0..GUESSES {
            let guess = json!({ "phone": phone, "code": wrong(&code, number) });
            self.post("/v1/otp/verify", guess).await;
        }
        let right = self.post("/v1/otp/verify", json!({ "phone": phone, "code": code })).await;
        assert_eq!(right.status == 429, live, "{}", right.text);
        for _ in 0..3 {
            self.post("/v1/otp/send", send()).await;
        }
        let sent = self.post("/v1/otp/send", send()).await;
        assert_eq!(sent.status == 429, live, "{}", sent.text);
        for path in ["/v1/otp/status", "/v1/identity"] {
            let nobody = self.get(&format!("{path}/{NOBODY}")).await;
            assert_eq!(nobody.status, 404, "{}", nobody.text);
        }
        let deleted = format!("/v1/identity/{NOBODY}");
        let deleted = self.house.service().delete(self.key, &deleted).await;
        deleted.refused(404, "IDENTITY_NOT_FOUND");
        let stranger = self.house.phone();
        let found = self.get(&format!("/v1/identity?phone={stranger}")).await;
        found.refused(404, "IDENTITY_NOT_FOUND");
        let inbox = self.get(&format!("/v1/sandbox/messages?phone={phone}")).await;
        assert_eq!(inbox.status == 404, live, "{}", inbox.text);
        let request = self.house.service().request(Method::GET, "/v1/sandbox/messages");
        answer(request).await.refused(401, "MISSING_API_KEY");
    }
}
