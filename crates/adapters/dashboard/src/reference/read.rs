use super::model::{Answer, Api, Field, Group, Link, Operation};
use super::schema::{Document, words};
use crate::texts::playground::STEPS;
use serde_json::Value;
use std::collections::BTreeMap;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// Parses the parts of OpenAPI that our documents use.
pub(super) fn read(document: &Value) -> Api {
    let document = Document(document);
    let mut operations = document.operations();
    operations.sort_by_key(|operation| (operation.step(), !operation.needs_key));
    let shared = take_shared(&mut operations);
    let everywhere = take_headers(&mut operations);
    let errors = take_errors(&mut operations);
    sort_links(&mut operations);
    let headers = document.at("/components/headers").as_object().into_iter().flatten();
    let about = text(document.at("/info"), "description");
    Api {
        about: about.split("\n\n").filter(|it| !it.is_empty()).map(str::to_owned).collect(),
        key: document.key(),
        shared,
        refusal: document.members(document.at("/components/schemas/Refused")),
        errors,
        headers: headers.map(|(name, header)| document.described(name, header)).collect(),
        everywhere,
        groups: grouped(operations),
    }
}

impl<'a> Document<'a> {
    fn operations(self) -> Vec<Operation> {
        let paths = self.at("/paths").as_object().into_iter().flatten();
        let operations = paths.flat_map(|(path, methods)| {
            let methods = METHODS.iter().filter_map(|method| Some((method, methods.get(method)?)));
            methods.map(move |(method, said)| self.operation(path, method, said))
        });
        operations.collect()
    }

    fn operation(self, path: &str, method: &str, said: &'a Value) -> Operation {
        let parameters = said["parameters"].as_array().into_iter().flatten();
        let answers = said["responses"].as_object().into_iter().flatten();
        let mut answers: Vec<_> =
            answers.map(|(status, said)| (status, self.resolve(said))).collect();
        answers.sort_unstable_by_key(|(status, _)| *status);
        let security = said.get("security").unwrap_or_else(|| self.at("/security"));
        let security = security.as_array().map_or(&[][..], Vec::as_slice);
        let content = &self.resolve(&said["requestBody"])["content"];
        let form = content.get(FORM);
        Operation {
            id: text(said, "operationId"),
            tag: words(&said["tags"]).into_iter().next().unwrap_or_default(),
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            summary: text(said, "summary"),
            about: text(said, "description"),
            needs_key: !security.is_empty(),
            needs_token: security.iter().any(|schemes| self.is_bearer(schemes)),
            parameters: parameters.map(|it| self.parameter(self.resolve(it))).collect(),
            body: self.members(&form.unwrap_or(&content[JSON])["schema"]),
            takes_form: form.is_some(),
            next: answers.iter().flat_map(|(_, said)| links(said)).collect(),
            answers: answers.iter().map(|(status, said)| self.answer(status, said)).collect(),
            common_errors: Vec::new(),
            headers: Vec::new(),
        }
    }

    /// Tells whether one of these schemes is a bearer token.
    fn is_bearer(self, schemes: &Value) -> bool {
        let all = self.at("/components/securitySchemes");
        let mut names = schemes.as_object().into_iter().flat_map(|schemes| schemes.keys());
        names.any(|name| all[name.as_str()]["scheme"] == "bearer")
    }

    fn parameter(self, said: &'a Value) -> Field {
        let field = self.described(&text(said, "name"), said);
        Field { place: text(said, "in"), optional: said["required"] != true, ..field }
    }

    /// A parameter or a header. Its own description has priority over that of its schema.
    fn described(self, name: &str, said: &'a Value) -> Field {
        let mut field = self.field(name, &said["schema"]);
        if let Some(about) = said["description"].as_str() {
            let of_schema = std::mem::take(&mut field.about);
            field.about = format!("{about} {of_schema}").trim_end().to_owned();
        }
        field
    }

    fn answer(self, status: &str, said: &'a Value) -> Answer {
        let content = &said["content"][JSON];
        let schema = self.resolve(&content["schema"]);
        let refuses = status.starts_with(['4', '5']);
        let codes = words(&schema["properties"]["code"]["enum"]).into_iter().filter(|_| refuses);
        let sentence = |code: String| {
            let example = self.resolve(&content["examples"][code.as_str()]);
            let sentence = text(&example["value"], "error");
            (code, sentence)
        };
        let headers = said["headers"].as_object().into_iter().flatten();
        Answer {
            status: status.to_owned(),
            about: text(said, "description"),
            fields: if refuses { Vec::new() } else { self.members(schema) },
            codes: codes.map(sentence).collect(),
            headers: headers.map(|(name, _)| name.clone()).collect(),
        }
    }

    /// The header with the API key, if callers are authenticated by key.
    fn key(self) -> Option<Field> {
        let schemes = self.at("/components/securitySchemes").as_object()?;
        let key = schemes.values().find(|it| it["type"] == "apiKey" && it["in"] == "header")?;
        let (name, about) = (text(key, "name"), text(key, "description"));
        let (place, kind) = ("header".to_owned(), "string".to_owned());
        Some(Field { name, about, place, kind, ..Field::default() })
    }
}

impl Operation {
    /// The number of its step in the playground; one more than the last for operations without a
    /// step.
    pub(super) fn step(&self) -> usize {
        let is_step = |(_, path): &(&str, &str)| self.method == "POST" && self.path == *path;
        STEPS.iter().position(is_step).unwrap_or(STEPS.len())
    }

    /// Tells whether it is a step of the playground.
    pub(super) fn is_step(&self) -> bool {
        self.step() < STEPS.len()
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn links(answer: &Value) -> Vec<Link> {
    let links = answer["links"].as_object().into_iter().flat_map(|links| links.values());
    let given = |link: &Value| {
        let lists = ["parameters", "requestBody"].map(|name| link[name].as_object());
        let all = lists.into_iter().flatten().flatten();
        let named = all.filter_map(|(name, from)| Some((name.clone(), source(from.as_str()?))));
        named.collect()
    };
    links.map(|link| Link { id: text(link, "operationId"), with: given(link) }).collect()
}

/// The member that an expression such as `$response.body#/otp_id` refers to.
fn source(expression: &str) -> String {
    expression.split_once("#/").map_or(expression, |(_, member)| member).to_owned()
}

fn take_shared(operations: &mut [Operation]) -> Vec<Field> {
    let is_in = |list: &[Field], one: &Field| {
        list.iter().any(|it| (&it.name, &it.place) == (&one.name, &one.place))
    };
    let mut shared = operations.first().map(|it| it.parameters.clone()).unwrap_or_default();
    shared.retain(|one| operations.iter().all(|it| is_in(&it.parameters, one)));
    for operation in operations {
        operation.parameters.retain(|one| !is_in(&shared, one));
    }
    shared
}

/// Removes the headers of all answers and returns their names. Headers shared by only the answers
/// of one operation move to that operation.
fn take_headers(operations: &mut [Operation]) -> Vec<String> {
    let everywhere = in_all(operations.iter().flat_map(|operation| &operation.answers));
    for operation in operations {
        let mut own = in_all(operation.answers.iter());
        for answer in &mut operation.answers {
            answer.headers.retain(|name| !own.contains(name));
        }
        own.retain(|name| !everywhere.contains(name));
        operation.headers = own;
    }
    everywhere
}

/// Removes the errors that more than a third of the operations have, and returns them by status.
fn take_errors(operations: &mut [Operation]) -> Vec<Answer> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for answer in operations.iter().flat_map(|operation| &operation.answers) {
        for (code, _) in &answer.codes {
            *counts.entry((answer.status.clone(), code.clone())).or_default() += 1;
        }
    }
    counts.retain(|_, count| *count * 3 > operations.len());
    let mut common: BTreeMap<String, Answer> = BTreeMap::new();
    for Operation { answers, common_errors, .. } in operations {
        answers.retain_mut(|answer| {
            let status = answer.status.clone();
            let is_common = |code: &str| counts.contains_key(&(status.clone(), code.to_owned()));
            let taken: Vec<_> = answer.codes.extract_if(.., |(code, _)| is_common(code)).collect();
            if taken.is_empty() {
                return true;
            }
            common_errors.extend(taken.iter().map(|(code, _)| code.clone()));
            let fresh = || Answer { codes: Vec::new(), ..answer.clone() };
            let known = common.entry(status.clone()).or_insert_with(fresh);
            known.headers.retain(|name| answer.headers.contains(name));
            for one in taken {
                if !known.codes.contains(&one) {
                    known.codes.push(one);
                }
            }
            !answer.codes.is_empty()
        });
    }
    common.into_values().collect()
}

/// Names of headers that each of the answers has.
fn in_all<'a>(mut answers: impl Iterator<Item = &'a Answer>) -> Vec<String> {
    let mut common = answers.next().map(|first| first.headers.clone()).unwrap_or_default();
    for answer in answers {
        common.retain(|name| answer.headers.contains(name));
    }
    common
}

/// Sorts links in the order of the page, and drops those without a target.
fn sort_links(operations: &mut [Operation]) {
    let ids: Vec<String> = operations.iter().map(|operation| operation.id.clone()).collect();
    let place = |link: &Link| ids.iter().position(|id| *id == link.id);
    for operation in operations {
        operation.next.retain(|link| place(link).is_some());
        operation.next.sort_by_key(place);
    }
}

/// Groups operations by tag, in the order in which the tags first appear.
fn grouped(operations: Vec<Operation>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for operation in operations {
        match groups.iter_mut().find(|group| group.name == operation.tag) {
            Some(group) => group.operations.push(operation),
            None => {
                let name = operation.tag.clone();
                groups.push(Group { name, operations: vec![operation] });
            }
        }
    }
    groups
}
