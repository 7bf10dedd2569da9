use super::schema::EXAMPLE_ID;
use crate::{Refused, StatusCode};
use serde_json::{Map, Value, json};

/// A row of a table of refusals: stable code, status, sentence.
pub type Refusal = (&'static str, StatusCode, &'static str);

pub(super) fn refused(refusals: &[Refusal]) -> Value {
    let codes: Vec<&str> = refusals.iter().map(|(code, ..)| *code).collect();
    json!({
        "type": "object",
        "required": ["error", "code", "request_id"],
        "properties": {
            "error": {
                "type": "string",
                "description": "A sentence for people.",
                "maxLength": Refused::LONGEST,
            },
            "code": { "type": "string", "enum": codes, "description": "Stable identifier of the error, for programs." },
            "request_id": {
                "type": "string",
                "description": "Id of the request, as in `X-Request-Id` and in the log.",
                "minLength": 1,
                "maxLength": 64,
            },
        },
    })
}

/// The responses that refuse, grouped by status. Each lists its possible codes with an example.
/// `headers` returns the headers of a status.
pub(super) fn refusals(
    refusals: &[Refusal],
    headers: impl Fn(StatusCode) -> Value,
) -> Map<String, Value> {
    let mut answers = Map::new();
    for (code, status, _) in refusals {
        let answer = answers.entry(status.as_str()).or_insert_with(|| {
            let schema = json!({
                "allOf": [{ "$ref": "#/components/schemas/Refused" }],
                "properties": { "code": { "enum": [] } },
            });
            json!({
                "description": status.canonical_reason().unwrap_or("Refused"),
                "headers": headers(*status),
                "content": { "application/json": { "schema": schema, "examples": {} } },
            })
        });
        let content = &mut answer["content"]["application/json"];
        let known = &mut content["schema"]["properties"]["code"]["enum"];
        if let Some(known) = known.as_array_mut().filter(|known| !known.contains(&json!(code))) {
            known.push(json!(code));
        }
        content["examples"][*code] = json!({ "$ref": format!("#/components/examples/{code}") });
    }
    answers
}

pub(super) fn examples(refusals: &[Refusal]) -> Value {
    let example = |(code, _, sentence): &Refusal| {
        let value = json!({ "error": sentence, "code": code, "request_id": EXAMPLE_ID });
        ((*code).to_owned(), json!({ "value": value }))
    };
    refusals.iter().map(example).collect::<Map<_, _>>().into()
}
