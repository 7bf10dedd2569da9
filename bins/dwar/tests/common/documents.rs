//! The documents of both APIs, to which every answer over a socket is held.

use dwar_testkit::{Documented, SeenAnswer};
use reqwest::{Method, Response};
use std::path::Path;
use std::sync::LazyLock;

/// Read once for all tests of a program.
static DOCUMENTS: LazyLock<[Documented; 2]> = LazyLock::new(|| {
    ["openapi.json", "admin-openapi.json"].map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        Documented::new(&std::fs::read_to_string(path).unwrap())
    })
});

/// An answer before its body is read.
pub struct Begun {
    method: Method,
    path: String,
    status: u16,
    headers: Vec<(String, String)>,
}

impl Begun {
    pub fn of(method: Method, response: &Response) -> Self {
        let text = |value: &reqwest::header::HeaderValue| value.to_str().unwrap().to_owned();
        let headers = response.headers().iter();
        Self {
            method,
            path: response.url().path().to_owned(),
            status: response.status().as_u16(),
            headers: headers.map(|(name, value)| (name.to_string(), text(value))).collect(),
        }
    }

    /// Fails the test if the answer is another one than its document says.
    pub fn hold(&self, body: &str) {
        let Self { method, path, status, headers } = self;
        let (method, body) = (method.as_str(), body.as_bytes());
        for document in DOCUMENTS.iter() {
            document.hold(SeenAnswer { method, path, status: *status, headers, body });
        }
    }
}
