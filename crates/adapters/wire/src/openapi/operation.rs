use super::header::{RATE_LIMIT, header_references, headers_of};
use super::refusal::{Refusal, refusals};
use crate::StatusCode;
use actix_web::Route;
use actix_web::http::Method;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// An endpoint with its route, its description and its handler.
///
/// Both the routes and the document are made from a list of operations (docs/adr/0031). The methods
/// are named after OpenAPI's objects.
pub struct Operation {
    pub method: Method,
    /// Relative to the base path of the API.
    pub path: &'static str,
    /// `operationId`, which names the method in generated clients.
    pub id: &'static str,
    /// Whether it answers every method and every path below its own. The document can list only
    /// one.
    pub is_catch_all: bool,
    /// The refusals it may answer, in the order of the document.
    pub refusals: Vec<Refusal>,
    pub schemas: Vec<(String, Value)>,
    /// Members of the operation object that nothing else depends on.
    members: Map<String, Value>,
    parameters: Vec<Value>,
    request_body: Option<Value>,
    responses: BTreeMap<StatusCode, Value>,
    /// Headers beside those of every answer, with the statuses that have them.
    headers: Vec<(&'static str, Vec<StatusCode>)>,
    route: Box<dyn Fn(Method) -> Route>,
}

impl Operation {
    /// Makes an operation for this method, which `route` runs.
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

    /// Makes the operation answer every method and every path below its own.
    pub fn catch_all(self) -> Self {
        Self { is_catch_all: true, ..self }
    }

    /// Sets `summary`, a few words for lists of operations.
    pub fn summary(self, text: &str) -> Self {
        self.member("summary", text)
    }

    /// Sets `description`: the effect and the guarantees of the operation, in Markdown.
    pub fn description(self, text: impl Into<Value>) -> Self {
        self.member("description", text)
    }

    /// Sets the only tag under which the operation is listed.
    pub fn tag(self, name: &str) -> Self {
        self.member("tags", json!([name]))
    }

    /// Declares that the operation needs no key and no token.
    pub fn without_security(self) -> Self {
        self.secured_by(&[])
    }

    /// Declares the security of the operation: all schemes of any one of these lists.
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

    /// Tells whether the operation declares its own security.
    pub fn names_its_security(&self) -> bool {
        self.members.contains_key("security")
    }

    /// Adds an extension member; its name begins with `x-`.
    pub fn extension(self, name: &'static str, value: impl Into<Value>) -> Self {
        self.member(name, value)
    }

    fn member(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a parameter in `path`, `query` or `header`. Only header parameters are optional.
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

    /// Adds an optional parameter in `query` with this schema and description.
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

    /// Adds parameter objects, or references to them, after those already declared.
    pub fn parameters(mut self, all: impl IntoIterator<Item = Value>) -> Self {
        self.parameters.extend(all);
        self
    }

    /// Tells whether the operation has a parameter in `path`, `query` or `header`.
    pub fn reads(&self, place: &str) -> bool {
        self.parameters.iter().any(|one| one["in"] == place)
    }

    /// Declares a required body that is a JSON object of this type.
    pub fn request_body<T: ToSchema>(self) -> Self {
        self.request_body_of::<T>("application/json")
    }

    /// Declares a required body of this type and media type.
    pub fn request_body_of<T: ToSchema>(mut self, media_type: &str) -> Self {
        let content = json!({ media_type: { "schema": self.schema::<T>() } });
        self.request_body = Some(json!({ "required": true, "content": content }));
        self
    }

    /// Tells whether the operation reads a request body.
    pub fn has_request_body(&self) -> bool {
        self.request_body.is_some()
    }

    /// Declares a 200 whose body is a JSON object of this type.
    pub fn response<T: ToSchema>(mut self, description: &str) -> Self {
        let schema = self.schema::<T>();
        self.response_of(StatusCode::OK, description, "application/json", schema)
    }

    /// Declares a successful response with a body of this schema.
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

    /// Declares a successful response with this status and without a body.
    pub fn empty_response(mut self, status: StatusCode, description: &str) -> Self {
        self.responses.insert(status, json!({ "description": description }));
        self
    }

    /// Adds the schema of `T` and its dependencies to the document, and returns a reference.
    pub fn schema<T: ToSchema>(&mut self) -> Value {
        let mut found = vec![(T::name().into_owned(), T::schema())];
        T::schemas(&mut found);
        let json = |schema| serde_json::to_value(schema).unwrap_or_default();
        self.schemas.extend(found.into_iter().map(|(name, schema)| (name, json(schema))));
        json!({ "$ref": format!("#/components/schemas/{}", T::name()) })
    }

    /// Adds refusals that the operation may answer, in the order of the document.
    pub fn refuses<R: Into<Refusal>>(mut self, refusals: impl IntoIterator<Item = R>) -> Self {
        self.refusals.extend(refusals.into_iter().map(Into::into));
        self
    }

    /// Adds a header to the answers with one of these statuses.
    pub fn header(
        mut self,
        name: &'static str,
        statuses: impl IntoIterator<Item = StatusCode>,
    ) -> Self {
        self.headers.push((name, statuses.into_iter().collect()));
        self
    }

    /// Declares that answers with these statuses carry the rate limit headers.
    pub fn rate_limited(self, statuses: &[StatusCode]) -> Self {
        let told = |operation: Self, name| operation.header(name, statuses.iter().copied());
        RATE_LIMIT.into_iter().fold(self, told)
    }

    /// Adds a link from the first success to another operation, with its parameters or body as
    /// expressions of this answer (OpenAPI 3.1, Link Object).
    pub fn link(mut self, name: &str, operation: &str, mut link: Value) -> Self {
        link["operationId"] = operation.into();
        if let Some(mut response) = self.responses.first_entry() {
            response.get_mut()["links"][name] = link;
        }
        self
    }

    /// The statuses of the successful responses, in ascending order.
    pub fn successes(&self) -> impl Iterator<Item = StatusCode> {
        self.responses.keys().copied()
    }

    /// Every status with which the operation may answer.
    pub fn statuses(&self) -> Vec<StatusCode> {
        self.successes().chain(self.refusals.iter().map(|(_, status, _)| *status)).collect()
    }

    /// Makes the route that runs the operation for this method.
    pub fn route(&self, method: Method) -> Route {
        (self.route)(method)
    }

    /// Returns the operation object for the document and the schemas it refers to.
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

/// Groups operations by path, in the order in which the paths first appear.
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
