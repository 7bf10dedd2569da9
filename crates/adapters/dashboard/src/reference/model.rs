//! What there is to tell, without the shape that OpenAPI gives it.

use serde_json::Value;

pub(super) struct Api {
    pub(super) about: Vec<String>,
    pub(super) key: Option<Field>,
    pub(super) shared: Vec<Field>,
    pub(super) refusal: Vec<Field>,
    /// Errors that many operations have, by status; those of an operation are without them.
    pub(super) errors: Vec<Answer>,
    pub(super) headers: Vec<Field>,
    /// The names of those that every answer has.
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
    /// Whether an access token goes along as bearer token.
    pub(super) needs_token: bool,
    /// Of path, query and headers, without those that all operations have.
    pub(super) parameters: Vec<Field>,
    /// Nothing if it takes none.
    pub(super) body: Vec<Field>,
    /// Whether the body is a form, and not JSON.
    pub(super) takes_form: bool,
    /// By status, so that success comes first.
    pub(super) answers: Vec<Answer>,
    /// The codes of its errors that many operations have.
    pub(super) common_errors: Vec<String>,
    /// The names of headers that all of its answers have, without those that every answer has.
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
    /// The names of headers that others do not have.
    pub(super) headers: Vec<String>,
}

pub(super) struct Link {
    pub(super) id: String,
    /// What it is given, and what that is called here.
    pub(super) with: Vec<(String, String)>,
}

/// A parameter, a member of a body, a header.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    /// `path`, `query` or `header` of a parameter, or nothing.
    pub(super) place: String,
    pub(super) kind: String,
    pub(super) optional: bool,
    pub(super) about: String,
    /// How long it may be, how large, how many.
    pub(super) limits: Vec<String>,
    pub(super) pattern: Option<String>,
    /// All that it can be, where that is a closed set.
    pub(super) words: Vec<String>,
    pub(super) example: Option<Value>,
    /// Its own members, or those of its elements.
    pub(super) members: Vec<Field>,
    pub(super) is_array: bool,
}
