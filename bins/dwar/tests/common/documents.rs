//! The documents of both APIs, with which every answer over a socket is compared.

use super::Answer;
use dwar_testkit::{Documented, SeenAnswer};
use reqwest::Method;
use std::path::Path;
use std::sync::LazyLock;

/// Read once for all tests of a program.
static DOCUMENTS: LazyLock<[Documented; 2]> = LazyLock::new(|| {
    ["openapi.json", "admin-openapi.json"].map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        Documented::new(&std::fs::read_to_string(path).unwrap())
    })
});

/// Fails the test if the document does not list this answer.
pub fn hold(method: &Method, path: &str, answer: &Answer) {
    let (method, status, body) = (method.as_str(), answer.status.as_u16(), answer.text.as_bytes());
    let headers = answer.headers.iter();
    let headers: Vec<(String, String)> = headers
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    for document in DOCUMENTS.iter() {
        document.hold(SeenAnswer { method, path, status, headers: &headers, body });
    }
}
