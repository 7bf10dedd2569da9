use serde::{Serialize, Serializer};

/// The body of every refusal (docs/errors.md), as JSON.
#[derive(Serialize)]
pub struct Refused<'a> {
    /// A sentence for people, cut to [`Refused::LONGEST`] characters, because it may repeat a word
    /// of the request.
    #[serde(serialize_with = "bounded")]
    pub error: &'a str,
    pub code: &'a str,
    /// The same value as in the header `X-Request-Id` and in the log.
    pub request_id: &'a str,
}

impl Refused<'_> {
    /// Most characters of the sentence, as the documents promise.
    pub const LONGEST: usize = 1_000;

    /// Serializes the body as JSON, with the sentence cut to its longest length.
    #[expect(clippy::expect_used, reason = "three texts under text keys become JSON")]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("it always becomes JSON")
    }
}

fn bounded<S: Serializer>(sentence: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if sentence.chars().nth(Refused::LONGEST).is_none() {
        return serializer.serialize_str(sentence);
    }
    let beginning = sentence.chars().take(Refused::LONGEST - 1);
    serializer.serialize_str(&beginning.chain(['…']).collect::<String>())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "everything here runs inside tests")]

    use super::Refused;
    use serde_json::Value;

    fn told(error: &str) -> String {
        let body = Refused { error, code: "INVALID_FIELD", request_id: "1" }.to_json();
        let body: Value = serde_json::from_slice(&body).unwrap();
        body["error"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_sentence_is_whole_up_to_its_bound_and_ends_there() {
        let longest = "द".repeat(Refused::LONGEST);
        assert_eq!(told(&longest), longest);
        let cut = told(&format!("{longest}!"));
        assert_eq!(cut.chars().count(), Refused::LONGEST);
        assert_eq!(cut, format!("{}…", "द".repeat(Refused::LONGEST - 1)));
    }
}
