pub(crate) const TITLE: &str = "API reference";
pub(crate) const LEAD: &str =
    "All operations of the API, with examples, every field, every error code and every event.";
pub(crate) const OPERATIONS: &str = "Operations";
pub(crate) const BASICS: &str = "Basics";
pub(crate) const EXAMPLES: &str = "In the examples, `$BASE` is the address of the service and `$KEY` an API key. \
    For generators and tools, `GET $BASE/openapi.json` gives the same as OpenAPI 3.1.";
pub(crate) const HEADERS_OF_REQUESTS: &str = "Headers of requests";
pub(crate) const BODY_OF_REFUSALS: &str = "Body of errors";
pub(crate) const HEADERS_OF_ANSWERS: &str = "Headers of responses";
pub(crate) const COMMON_ERRORS: &str = "Common errors";
pub(crate) const EVENTS: &str = "Types of events";
pub(crate) const SAME_FIELDS: &str = "The same fields as in";
pub(crate) const EXAMPLE_REQUEST: &str = "Example request";
pub(crate) const EXAMPLE_ANSWER: &str = "Example response";
pub(crate) const PARAMETERS: &str = "Parameters";
pub(crate) const BODY: &str = "Request body";
pub(crate) const ANSWERS: &str = "Responses";
pub(crate) const NEXT: &str = "Next";
pub(crate) const NO_KEY: &str = "Needs no key";
pub(crate) const TRY: &str = "Try it in the playground";
pub(crate) const OPTIONAL: &str = "optional";
pub(crate) const EVERYWHERE: &str = "on every response";
pub(crate) const ALL_HAVE: &str = "All have the headers";
pub(crate) const HEADERS: &str = "Headers:";
pub(crate) const ONE_OF: &str = "One of:";
pub(crate) const ALWAYS: &str = "Always";
pub(crate) const PATTERN: &str = "Pattern:";
pub(crate) const EXAMPLE: &str = "Example:";
pub(crate) const WITH: &str = "with";
pub(crate) const AS: &str = "as";

pub(crate) fn array_of(kind: &str) -> String {
    format!("array of {kind}s")
}

pub(crate) fn or_null(kind: &str) -> String {
    format!("{kind} or null")
}

/// The bounds of a number, a length or a count, in these units.
pub(crate) fn range(low: Option<u64>, high: Option<u64>, units: &str) -> Option<String> {
    let bounds = match (low, high) {
        (Some(low), Some(high)) if low == high => low.to_string(),
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("at least {low}"),
        (None, Some(high)) => format!("at most {high}"),
        (None, None) => return None,
    };
    Some(format!("{bounds} {units}").trim_end().to_owned())
}
