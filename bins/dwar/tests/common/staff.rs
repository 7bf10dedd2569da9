//! Operators of the service: programs with a token of the admin API, and people with a browser.

use super::{Answer, Service, answer};
use reqwest::{Client, Method, RequestBuilder, redirect};
use serde_json::Value;

pub const PASSWORD: &str = "correct horse battery staple";

/// A program with a token of the admin API.
pub struct Program {
    pub token: String,
    base: String,
    client: Client,
}

/// A person who is signed in to the dashboard.
pub struct Person {
    base: String,
    client: Client,
    cookie: String,
    csrf: String,
}

impl Program {
    /// A program with a token that `dwar admin-token add` makes with these arguments.
    pub fn new(service: &Service, arguments: &[&str]) -> Self {
        let made = service.world.cli(&[&["admin-token", "add"], arguments].concat());
        Self::with(service, made["secret"].as_str().unwrap())
    }

    pub fn with(service: &Service, token: &str) -> Self {
        let (base, client) = (service.dashboard(), Client::new());
        Self { token: token.to_owned(), base, client }
    }

    /// A program with every right, and the right to delegate.
    pub fn owner(service: &Service) -> Self {
        Self::new(service, &["--name", "owner", "--everything", "--may-delegate"])
    }

    pub fn in_project(service: &Service, project: &str, role: &str) -> Self {
        Self::new(service, &["--name", role, "--project", project, "--role", role])
    }

    /// A call below `/admin/v1` that is not sent yet.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/admin/v1{path}", self.base);
        self.client.request(method, url).bearer_auth(&self.token)
    }

    pub async fn get(&self, path: &str) -> Answer {
        answer(self.request(Method::GET, path)).await
    }

    pub async fn call(&self, method: Method, path: &str, body: &Value) -> Answer {
        answer(self.request(method, path).json(body)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.call(Method::POST, path, body).await
    }
}

impl Person {
    /// Invites an operator by `dwar operator add` with these arguments, and accepts.
    pub async fn join(service: &Service, arguments: &[&str]) -> Self {
        let made = service.world.cli(&[&["operator", "add"], arguments].concat());
        let (_, secret) = made["link"].as_str().unwrap().split_once('#').unwrap();
        Self::accept(service, secret).await
    }

    /// Accepts an invitation, whose link ends in this.
    pub async fn accept(service: &Service, secret: &str) -> Self {
        let base = service.dashboard();
        let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
        let form = [("secret", secret), ("password", PASSWORD), ("again", PASSWORD)];
        let request = client.post(format!("{base}/invite")).header("Origin", &base).form(&form);
        let entered = answer(request).await;
        let cookie = entered.header("set-cookie").split(';').next().unwrap().to_owned();
        assert!(cookie.contains("dwar"), "{}: {}", entered.status, entered.text);
        let mut person = Self { base, client, cookie, csrf: String::new() };
        let page = person.get("/account").await.text;
        let after = page.split(r#"name="csrf-token" content=""#).nth(1).unwrap();
        after.split('"').next().unwrap().clone_into(&mut person.csrf);
        person
    }

    /// A request for a page that is not sent yet.
    pub fn page(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.base)).header("Cookie", &self.cookie)
    }

    pub async fn get(&self, path: &str) -> Answer {
        answer(self.page(path)).await
    }

    /// A form that is not sent yet, as a page of this session sends it.
    pub fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let fields = [fields, &[("csrf", self.csrf.as_str())]].concat();
        let request = self.client.post(format!("{}{path}", self.base)).form(&fields);
        request.header("Cookie", &self.cookie).header("Origin", &self.base)
    }

    /// A request of a script on a page of this session.
    pub fn json(&self, path: &str, body: &Value) -> RequestBuilder {
        let request = self.client.post(format!("{}{path}", self.base)).json(body);
        request.header("Cookie", &self.cookie).header("Origin", &self.base)
    }

    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        answer(self.form(path, fields)).await
    }
}

impl Service {
    /// The number of entries of an action in the audit log.
    pub fn audited(&self, action: &str) -> usize {
        let output = self.world.run(&["audit", "--json"]);
        assert!(output.status.success());
        let log = String::from_utf8(output.stdout).unwrap();
        let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        entries.filter(|entry| action.is_empty() || entry["action"] == action).count()
    }
}
