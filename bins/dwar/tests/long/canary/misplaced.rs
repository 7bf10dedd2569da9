//! Secrets in unexpected places: in paths, queries, headers, other fields, and in bytes that are
//! not a request.

use crate::canary::house::House;
use crate::common::{Program, Wire};
use crate::doors::stage::NOBODY;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// An example of <https://www.w3.org/TR/trace-context/>.
const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

pub async fn walk(house: &House) {
    let held = Held::new(house).await;
    for secret in held.secrets() {
        for request in held.to_the_api(&secret).into_iter().chain(held.to_the_admin_api(&secret)) {
            let answer = house.ask(request).await;
            assert_ne!(answer.status, 500, "{}", answer.text);
        }
        for base in [&house.service().base, &house.service().dashboard()] {
            unreadable(base, &secret);
        }
    }
}

/// A client with one of everything that mixes them up.
struct Held<'a> {
    house: &'a House,
    key: &'a str,
    token: &'a Program,
    phone: String,
    code: String,
    access: String,
    refresh: String,
    device: String,
}

impl<'a> Held<'a> {
    async fn new(house: &'a House) -> Self {
        let (key, phone) = (house.carried.test.as_str(), house.phone());
        let pair = house.service().log_in(key, &phone).await;
        let code = house.code(key, &phone).await;
        house.secrets().add_code(&code);
        let text = |field: &str| pair[field].as_str().unwrap().to_owned();
        let (access, refresh) = (text("access_token"), text("refresh_token"));
        let (token, device) = (&house.stage.owner, text("device"));
        Self { house, key, token, phone, code, access, refresh, device }
    }

    fn secrets(&self) -> Vec<String> {
        let Self { phone, code, access, refresh, device, .. } = self;
        let all = [self.key, phone, code, access, refresh, device, &self.token.token];
        let with_plus = format!("+91{phone}");
        all.into_iter().map(str::to_owned).chain([with_plus]).collect()
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.house.service().request(method, path).header("X-Api-Key", self.key)
    }

    fn to_the_api(&self, secret: &str) -> Vec<RequestBuilder> {
        let mut requests = Vec::new();
        for path in [
            "/v1/otp/send",
            "/v1/otp/verify",
            "/v1/session/validate",
            "/v1/session/refresh",
            "/v1/session/logout",
            "/v1/session/forward-auth",
            "/oauth2/introspect",
        ] {
            for body in bodies(secret) {
                requests.push(self.request(Method::POST, path).json(&body));
            }
            let post = || self.request(Method::POST, path);
            requests.push(post().body(format!("phone={secret}&code={secret}")));
            requests.push(post().header("Content-Type", "text/plain").body(secret.to_owned()));
            requests.push(post().header("Content-Type", secret).json(&json!({ "phone": secret })));
            requests.push(post().header("Idempotency-Key", secret).json(&json!([secret])));
            requests.push(post().query(&[("phone", secret), ("code", secret)]).body("{"));
            requests.push(self.request(Method::PUT, path).json(&json!({ "phone": secret })));
        }
        for path in [
            "/v1/otp/status",
            "/v1/identity",
            "/v1/sandbox/messages",
            "/v1/events",
            "/v1/session/forward-auth",
            "/v1",
            "",
        ] {
            for method in [Method::GET, Method::DELETE, Method::HEAD] {
                requests.push(self.request(method.clone(), &format!("{path}/{secret}")));
                let query = [("phone", secret), (secret, "x"), ("phone", secret)];
                requests.push(self.request(method, path).query(&query));
            }
        }
        let get = |path: &str| self.house.service().request(Method::GET, path);
        requests.push(get("/v1/otp/status/x").header("X-Api-Key", secret));
        requests
            .push(get("/v1/otp/status/x").header("X-Api-Key", format!("{} {secret}", self.key)));
        for name in [
            "Authorization",
            "Cookie",
            "Referer",
            "User-Agent",
            "X-Forwarded-For",
            "Host",
            "Origin",
            "traceparent",
            "tracestate",
            "baggage",
            "If-None-Match",
        ] {
            for path in [
                "/v1/otp/status/x",
                "/v1/session/forward-auth",
                "/oauth2/introspect",
                "/.well-known/jwks.json",
                "/healthz",
            ] {
                requests.push(self.request(Method::GET, path).header(name, secret));
            }
        }
        let traced = self.request(Method::GET, "/v1/otp/status/x").header("traceparent", TRACE);
        requests.push(traced.header("tracestate", format!("x={secret}")).header("baggage", secret));
        requests
    }

    fn to_the_admin_api(&self, secret: &str) -> Vec<RequestBuilder> {
        let project = format!("/projects/{}", self.house.stage.ours.id);
        let get = |path: String| self.token.request(Method::GET, &path);
        let mut requests = vec![
            get(format!("/{secret}")),
            get(format!("/projects/{secret}")),
            get(format!("/projects?cursor={secret}&limit={secret}")),
            get(format!("{project}/requests?phone={secret}&mode={secret}")),
            get(format!("{project}/requests/{secret}")),
            get(format!("{project}/webhooks/{secret}/calls")),
            get(format!("/audit?actor={secret}&since={secret}&action={secret}")),
            get("/projects".to_owned()).header("Cookie", secret).header("X-Api-Key", secret),
        ];
        for path in [
            "/projects".to_owned(),
            "/operators".to_owned(),
            "/tokens".to_owned(),
            format!("{project}/requests/search"),
            format!("{project}/identities/find"),
            format!("{project}/webhooks"),
            format!("{project}/wallet/credit"),
            format!("{project}/keys/{secret}/regenerate"),
            format!("{project}/requests/{NOBODY}/unmask"),
        ] {
            for body in bodies(secret) {
                requests.push(self.token.request(Method::POST, &path).json(&body));
            }
            requests.push(self.token.request(Method::POST, &path).body(secret.to_owned()));
        }
        // Without any token, and pages.
        let base = self.house.service().dashboard();
        let client = &self.house.service().client;
        for path in ["/admin/v1/projects", "/sign-in", "/p", "/invite"] {
            let url = format!("{base}{path}/{secret}?next={secret}");
            requests.push(client.get(&url).bearer_auth(secret).header("Cookie", secret));
            requests.push(client.post(url).header("Origin", secret).form(&[(secret, secret)]));
        }
        requests
    }
}

/// With the secret as every value, as a value of the wrong type, and as the name of a field.
fn bodies(secret: &str) -> Vec<Value> {
    vec![
        json!({ "phone": secret, "code": secret, "otp_id": secret, "name": secret, "mode": secret }),
        json!({ "access_token": secret, "refresh_token": secret, "url": secret, "reference": secret }),
        json!({ "phone": "9123456780", "device": secret, "visitor": { "address": secret, "trusted": secret } }),
        json!({ "phone": [secret], "code": { "x": secret }, "access_token": [secret], "mode": [secret] }),
        json!({ secret: secret, "refresh_token": { secret: 1 }, "name": { secret: secret } }),
        json!([secret]),
        json!(secret),
    ]
}

fn unreadable(base: &str, secret: &str) {
    for text in [
        format!("{secret}\r\n\r\n"),
        format!("{secret} / HTTP/1.1\r\nHost: x\r\n\r\n"),
        format!("GET /{secret} HTTP/9.9\r\nHost: x\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: x\r\n{secret}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: x\r\n{secret} : x\r\n\r\n"),
        format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {secret}x\r\n\r\n"),
        format!("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: {secret}\r\n\r\n"),
        format!(
            "POST /v1/otp/send HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{secret}\r\n"
        ),
        format!("GET / HTTP/1.1\r\nHost: x\r\nX-Long: {}\r\n\r\n", secret.repeat(4_000)),
        format!("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{secret}"),
    ] {
        let mut wire = Wire::to(base);
        let _refused_before_its_end = wire.takes(&text);
    }
}
