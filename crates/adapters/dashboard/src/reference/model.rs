//! The content of the reference, independent of the structure of OpenAPI.

use serde_json::Value;

pub(super) struct Api {
    pub(super) about: Vec<String>,
    pub(super) key: Option<Field>,
    pub(super) shared: Vec<Field>,
    pub(super) refusal: Vec<Field>,
    /// Errors of many operations, by status; the operations omit them.
    pub(super) errors: Vec<Answer>,
    pub(super) headers: Vec<Field>,
    pub(super) everywhere: Vec<String>,
    pub(super) groups: Vec<Group>,
}

pub(super) struct Group {
    pub(super) name: String,
    pub(super) operations: Vec<Operation>,
}

pub(super) struct Operation {
    /// Its name in generated clients, and its anchor on the page.
    pub(super) id: String,
    pub(super) tag: String,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) summary: String,
    pub(super) about: String,
    pub(super) needs_key: bool,
    /// Whether an access token is sent as bearer token.
    pub(super) needs_token: bool,
    /// Of path, query and headers, without those of all operations.
    pub(super) parameters: Vec<Field>,
    /// Empty if it takes no body.
    pub(super) body: Vec<Field>,
    /// Whether the body is a form instead of JSON.
    pub(super) takes_form: bool,
    /// By status, so that success comes first.
    pub(super) answers: Vec<Answer>,
    /// Codes of its errors that many operations have.
    pub(super) common_errors: Vec<String>,
    /// Names of headers of all its answers, without those of every answer.
    pub(super) headers: Vec<String>,
    pub(super) next: Vec<Link>,
}

#[derive(Clone)]
pub(super) struct Answer {
    pub(super) status: String,
    pub(super) about: String,
    pub(super) fields: Vec<Field>,
    /// Why it can refuse: codes with their sentences.
    pub(super) codes: Vec<(String, String)>,
    /// Names of headers that its other answers do not have.
    pub(super) headers: Vec<String>,
}

pub(super) struct Link {
    pub(super) id: String,
    /// Its inputs, and their names in this answer.
    pub(super) with: Vec<(String, String)>,
}

/// A parameter, a member of a body, or a header.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    /// `path`, `query` or `header` of a parameter; otherwise empty.
    pub(super) place: String,
    pub(super) kind: String,
    pub(super) optional: bool,
    pub(super) about: String,
    /// Bounds of its length, its value and its number.
    pub(super) limits: Vec<String>,
    pub(super) pattern: Option<String>,
    /// All its values, if that is a closed set.
    pub(super) words: Vec<String>,
    pub(super) example: Option<Value>,
    /// Its own members, or those of its elements.
    pub(super) members: Vec<Field>,
    pub(super) is_array: bool,
}
