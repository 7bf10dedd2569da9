use serde::Serialize;

/// The body of every refusal (docs/errors.md).
#[derive(Serialize)]
pub struct Refused<'a> {
    /// A sentence for people.
    pub error: &'a str,
    /// The stable word that clients switch on.
    pub code: &'a str,
    /// Also in the header `X-Request-Id`, and in the log.
    pub request_id: &'a str,
}

impl Refused<'_> {
    /// As JSON.
    #[expect(clippy::expect_used, reason = "three texts under text keys become JSON")]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("it always becomes JSON")
    }
}
