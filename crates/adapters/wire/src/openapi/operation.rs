use super::header::{RATE_LIMIT, header_references, headers_of};
use super::refusal::{Refusal, refusals};
use crate::StatusCode;
use actix_web::Route;
use actix_web::http::Method;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// An endpoint with everything about it: how it is reached, how it is described, and what it does.
///
/// Routes and the document are both made of a list of these (docs/adr/0031). Its methods have the names of
/// OpenAPI's objects.
pub struct Operation {
    pub method: Method,
    /// Below the base of its API.
    pub path: &'static str,
    /// For generated clients.
    pub id: &'static str,
    /// Whether it answers every method, and every path below its own; the document can only say one.
    pub is_catch_all: bool,
    /// What it refuses with, in the order of the document.
    pub refusals: Vec<Refusal>,
    /// The schemas that it refers to, by name.
    pub schemas: Vec<(String, Value)>,
    /// Members of the object in the document that nothing else depends on.
    members: Map<String, Value>,
    parameters: Vec<Value>,
    request_body: Option<Value>,
    /// Those that do what is asked for.
    responses: BTreeMap<StatusCode, Value>,
    /// Beside those that every answer has.
    headers: Vec<(&'static str, Vec<StatusCode>)>,
    route: Box<dyn Fn(Method) -> Route>,
}

impl Operation {
    /// An operation that `route` runs, for the method that it is given.
    pub fn new(
        method: Method,
        path: &'static str,
        id: &'static str,
        route: impl Fn(Method) -> Route + 'static,
    ) -> Self {
        Self {
            method,
            path,
            id,
            is_catch_all: false,
            refusals: Vec::new(),
            members: Map::new(),
            parameters: Vec::new(),
            request_body: None,
            responses: BTreeMap::new(),
            headers: Vec::new(),
            schemas: Vec::new(),
            route: Box::new(route),
        }
    }

    /// The same for every method, and for every path below.
    pub fn catch_all(self) -> Self {
        Self { is_catch_all: true, ..self }
    }

    /// A few words for lists of operations.
    pub fn summary(self, text: &str) -> Self {
        self.member("summary", text)
    }

    /// What the operation does and promises; Markdown.
    pub fn description(self, text: impl Into<Value>) -> Self {
        self.member("description", text)
    }

    /// The one group that the operation is listed in.
    pub fn tag(self, name: &str) -> Self {
        self.member("tags", json!([name]))
    }

    /// It asks for no key and no token.
    pub fn without_security(self) -> Self {
        self.secured_by(&[])
    }

    /// How clients show who they are here: by all schemes of one of these lists.
    pub fn secured_by(self, alternatives: &[&[&str]]) -> Self {
        let all = |schemes: &&[&str]| -> Value {
            schemes
                .iter()
                .map(|scheme| ((*scheme).to_owned(), json!([])))
                .collect::<Map<_, _>>()
                .into()
        };
        self.member("security", alternatives.iter().map(all).collect::<Vec<_>>())
    }

    /// Whether it says itself how clients show who they are.
    pub fn names_its_security(&self) -> bool {
        self.members.contains_key("security")
    }

    /// A member that OpenAPI does not know; its name begins with `x-`.
    pub fn extension(self, name: &'static str, value: impl Into<Value>) -> Self {
        self.member(name, value)
    }

    fn member(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// A parameter in `path`, `query` or `header`; only headers may be left out.
    pub fn parameter(
        self,
        place: &str,
        name: &str,
        description: &str,
        schema: utoipa::openapi::Object,
    ) -> Self {
        self.parameters([json!({
            "name": name,
            "in": place,
            "required": place != "header",
            "description": description,
            "schema": schema,
        })])
    }

    /// A parameter in `query` that may be left out.
    pub fn optional_parameter(
        self,
        name: &str,
        description: &str,
        schema: utoipa::openapi::Object,
    ) -> Self {
        self.parameters([json!({
            "name": name,
            "in": "query",
            "required": false,
            "description": description,
            "schema": schema,
        })])
    }

    /// Parameter objects, or references to them.
    pub fn parameters(mut self, all: impl IntoIterator<Item = Value>) -> Self {
        self.parameters.extend(all);
        self
    }

    /// Whether it has a parameter in `path`, `query` or `header`.
    pub fn reads(&self, place: &str) -> bool {
        self.parameters.iter().any(|one| one["in"] == place)
    }

    /// A JSON object, which has to be there.
    pub fn request_body<T: ToSchema>(self) -> Self {
        self.request_body_of::<T>("application/json")
    }

    /// A body of this media type, which has to be there.
    pub fn request_body_of<T: ToSchema>(mut self, media_type: &str) -> Self {
        let content = json!({ media_type: { "schema": self.schema::<T>() } });
        self.request_body = Some(json!({ "required": true, "content": content }));
        self
    }

    /// Whether the operation reads a body.
    pub fn has_request_body(&self) -> bool {
        self.request_body.is_some()
    }

    /// A 200 with this JSON object.
    pub fn response<T: ToSchema>(mut self, description: &str) -> Self {
        let schema = self.schema::<T>();
        self.response_of(StatusCode::OK, description, "application/json", schema)
    }

    /// A success with a body of this schema.
    pub fn response_of(
        mut self,
        status: StatusCode,
        description: &str,
        media_type: &str,
        schema: Value,
    ) -> Self {
        let content = json!({ media_type: { "schema": schema } });
        let response = json!({ "description": description, "content": content });
        self.responses.insert(status, response);
        self
    }

    /// A success without a body.
    pub fn empty_response(mut self, status: StatusCode, description: &str) -> Self {
        self.responses.insert(status, json!({ "description": description }));
        self
    }

    /// A reference to the schema of `T`, which goes into the document with all that it refers to.
    pub fn schema<T: ToSchema>(&mut self) -> Value {
        let mut found = vec![(T::name().into_owned(), T::schema())];
        T::schemas(&mut found);
        let json = |schema| serde_json::to_value(schema).unwrap_or_default();
        self.schemas.extend(found.into_iter().map(|(name, schema)| (name, json(schema))));
        json!({ "$ref": format!("#/components/schemas/{}", T::name()) })
    }

    /// What it can refuse with.
    pub fn refuses<R: Into<Refusal>>(mut self, refusals: impl IntoIterator<Item = R>) -> Self {
        self.refusals.extend(refusals.into_iter().map(Into::into));
        self
    }

    /// A header of its answers with one of these statuses.
    pub fn header(
        mut self,
        name: &'static str,
        statuses: impl IntoIterator<Item = StatusCode>,
    ) -> Self {
        self.headers.push((name, statuses.into_iter().collect()));
        self
    }

    /// Its answers with these statuses tell what is left of a limit.
    pub fn rate_limited(self, statuses: &[StatusCode]) -> Self {
        let told = |operation: Self, name| operation.header(name, statuses.iter().copied());
        RATE_LIMIT.into_iter().fold(self, told)
    }

    /// Where its first success leads to: the operation, and its parameters or its body as expressions of this
    /// answer (OpenAPI 3.1, Link Object).
    pub fn link(mut self, name: &str, operation: &str, mut link: Value) -> Self {
        link["operationId"] = operation.into();
        if let Some(mut response) = self.responses.first_entry() {
            response.get_mut()["links"][name] = link;
        }
        self
    }

    /// The statuses with which it does what is asked for.
    pub fn successes(&self) -> impl Iterator<Item = StatusCode> {
        self.responses.keys().copied()
    }

    /// Every status that it can answer with.
    pub fn statuses(&self) -> Vec<StatusCode> {
        self.successes().chain(self.refusals.iter().map(|(_, status, _)| *status)).collect()
    }

    /// The route that runs it.
    pub fn route(&self, method: Method) -> Route {
        (self.route)(method)
    }

    /// Its object in the document, and the schemas that this refers to.
    pub(super) fn described(self) -> (Value, Vec<(String, Value)>) {
        let headers = |status| {
            let mut names = headers_of(status);
            let own = self.headers.iter().filter(|(_, statuses)| statuses.contains(&status));
            names.extend(own.map(|(name, _)| *name));
            header_references(&names)
        };
        let mut responses = refusals(&self.refusals, headers);
        for (status, mut response) in self.responses {
            response["headers"] = headers(status);
            responses.insert(status.as_str().to_owned(), response);
        }
        let mut described = self.members;
        described.insert("operationId".to_owned(), self.id.into());
        described.insert("parameters".to_owned(), self.parameters.into());
        described.insert("responses".to_owned(), responses.into());
        described.extend(self.request_body.map(|body| ("requestBody".to_owned(), body)));
        (described.into(), self.schemas)
    }
}

/// The operations of each path, in the order in which the paths come up first.
pub fn by_path(
    operations: impl IntoIterator<Item = Operation>,
) -> Vec<(&'static str, Vec<Operation>)> {
    let mut paths: Vec<(&'static str, Vec<Operation>)> = Vec::new();
    for operation in operations {
        match paths.iter_mut().find(|(path, _)| *path == operation.path) {
            Some((_, there)) => there.push(operation),
            None => paths.push((operation.path, vec![operation])),
        }
    }
    paths
}
