//! The admin API behind the dashboard's listener.

mod audit;
mod changes;
mod entry;
mod money;
mod provoked;
mod reads;
mod walk;

use crate::activity::NATIONAL;
use crate::support::{HOST, House, Reply};
use actix_web::http::Method;
use actix_web::test::TestRequest;
use dwar_operator::{Access, Role};
use serde_json::Value;

pub struct Program<'a> {
    house: &'a House,
    token: String,
}

impl<'a> Program<'a> {
    pub async fn new(house: &'a House, access: Access) -> Self {
        let token = house.token("deploy", access).await;
        Self { house, token }
    }

    pub async fn owner(house: &'a House) -> Self {
        Self::new(house, Access::everything()).await
    }

    pub fn request(&self, method: Method, path: &str) -> TestRequest {
        TestRequest::with_uri(&format!("/admin/v1{path}"))
            .method(method)
            .insert_header(("Host", HOST))
            .insert_header(("Authorization", format!("Bearer {}", self.token)))
    }

    pub async fn ask(&self, method: Method, path: &str, body: Value) -> Reply {
        self.house.send(self.request(method, path).set_json(body)).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.house.send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.ask(Method::POST, path, body).await
    }

    pub async fn role(house: &'a House, role: Role) -> Self {
        Self::new(house, Access::one(house.project, role)).await
    }

    /// A program with access to only the other project.
    pub async fn elsewhere(house: &'a House) -> Self {
        Self::new(house, Access::one(house.other, Role::Owner)).await
    }

    pub async fn json(&self, path: &str) -> Value {
        let reply = self.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        json_of(&reply)
    }

    /// Every item of a list, over all its pages.
    pub async fn all(&self, path: &str) -> Vec<Value> {
        let (mut items, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.json(&format!("{path}{cursor}")).await;
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["next_cursor"].as_str() {
                None => return items,
                Some(next) => {
                    let sign = if path.contains('?') { '&' } else { '?' };
                    cursor = format!("{sign}cursor={next}");
                }
            }
        }
    }

    pub async fn refused(&self, method: Method, path: &str, body: Value) -> (u16, String) {
        let reply = self.ask(method, path, body).await;
        assert!(!reply.body.contains(NATIONAL), "{path}: {}", reply.body);
        (reply.status, code(&reply))
    }

    pub fn own(&self, rest: &str) -> String {
        format!("/projects/{}{rest}", self.house.project)
    }
}

pub fn json_of(reply: &Reply) -> Value {
    serde_json::from_str(&reply.body).unwrap_or_else(|_| panic!("{}", reply.body))
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

pub fn code(reply: &Reply) -> String {
    let body: Value = serde_json::from_str(&reply.body).unwrap_or_default();
    body["code"].as_str().unwrap_or_default().to_owned()
}

pub fn with_code(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}
