use super::model::Field;
use crate::texts::reference as texts;
use serde_json::Value;

/// Most references that are followed in a row, and deepest nesting of objects: a document may
/// contain cycles.
const DEEPEST: usize = 6;

#[derive(Clone, Copy)]
pub(super) struct Document<'a>(pub(super) &'a Value);

impl<'a> Document<'a> {
    /// The value at a JSON pointer of the document.
    pub(super) fn at(self, place: &str) -> &'a Value {
        self.0.pointer(place).unwrap_or(&Value::Null)
    }

    pub(super) fn resolve(self, value: &'a Value) -> &'a Value {
        let mut resolved = value;
        for _ in 0..DEEPEST {
            let Some(target) = resolved["$ref"].as_str() else { break };
            resolved = target.strip_prefix('#').map_or(&Value::Null, |place| self.at(place));
        }
        resolved
    }

    /// The members of an object, required ones first.
    pub(super) fn members(self, schema: &'a Value) -> Vec<Field> {
        self.members_at(schema, 0)
    }

    fn members_at(self, schema: &'a Value, depth: usize) -> Vec<Field> {
        let schema = self.resolve(schema);
        let Some(all) = schema["properties"].as_object().filter(|_| depth < DEEPEST) else {
            return Vec::new();
        };
        let required = words(&schema["required"]);
        let rest = all.keys().filter(|name| !required.contains(name));
        let names = required.iter().filter(|name| all.contains_key(*name)).chain(rest);
        let member = |name: &String| {
            let optional = !required.contains(name);
            Field { optional, ..self.field_at(name, &all[name], depth) }
        };
        names.map(member).collect()
    }

    /// Describes a schema as a field with this name.
    pub(super) fn field(self, name: &str, said: &'a Value) -> Field {
        self.field_at(name, said, 0)
    }

    fn field_at(self, name: &str, said: &'a Value, depth: usize) -> Field {
        let schema = self.without_null(said);
        let is_array = kind(schema) == "array";
        let object = if is_array { self.without_null(&schema["items"]) } else { schema };
        let about = [said, schema].into_iter().find_map(|it| it["description"].as_str());
        Field {
            name: name.to_owned(),
            kind: self.kind(said),
            about: about.unwrap_or_default().to_owned(),
            limits: limits(schema),
            pattern: schema["pattern"].as_str().map(str::to_owned),
            words: closed_set(schema),
            example: example(schema),
            members: self.members_at(object, depth + 1),
            is_array,
            ..Field::default()
        }
    }

    fn kind(self, said: &'a Value) -> String {
        let schema = self.without_null(said);
        let plain = match kind(schema) {
            "array" => texts::array_of(&self.kind(&schema["items"])),
            plain => plain.to_owned(),
        };
        let plain = match schema["format"].as_str() {
            Some(format) => format!("{plain} ({format})"),
            None => plain,
        };
        if self.may_be_null(said) { texts::or_null(&plain) } else { plain }
    }

    /// The schema of a value that is not null.
    fn without_null(self, said: &'a Value) -> &'a Value {
        let schema = self.resolve(said);
        let real = choices(schema).iter().find(|choice| choice["type"] != "null");
        real.map_or(schema, |choice| self.resolve(choice))
    }

    fn may_be_null(self, said: &'a Value) -> bool {
        let schema = self.resolve(said);
        let is_null = |choice: &Value| choice["type"] == "null";
        words(&schema["type"]).iter().any(|word| word == "null")
            || choices(schema).iter().any(is_null)
    }
}

/// The alternatives of a value, if they are listed as schemas.
fn choices(schema: &Value) -> &[Value] {
    let all = ["oneOf", "anyOf"].iter().find_map(|word| schema[*word].as_array());
    all.map_or(&[], Vec::as_slice)
}

/// The JSON type of a value that is not null.
fn kind(schema: &Value) -> &str {
    let all = match &schema["type"] {
        Value::Array(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    let named = all.iter().filter_map(Value::as_str).find(|kind| *kind != "null");
    named.unwrap_or_else(|| match constants(schema).first() {
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::String(_)) => "string",
        _ => "any",
    })
}

/// All values except null, if that is a closed set.
fn constants(schema: &Value) -> Vec<&Value> {
    let all = schema["enum"].as_array().into_iter().flatten();
    all.chain(schema.get("const")).filter(|value| !value.is_null()).collect()
}

fn closed_set(schema: &Value) -> Vec<String> {
    constants(schema).into_iter().map(plain).collect()
}

fn limits(schema: &Value) -> Vec<String> {
    let range = |low: &str, high: &str, units| {
        texts::range(schema[low].as_u64(), schema[high].as_u64(), units)
    };
    let all = [
        range("minimum", "maximum", ""),
        range("minLength", "maxLength", "characters"),
        range("minItems", "maxItems", "elements"),
    ];
    all.into_iter().flatten().collect()
}

fn example(schema: &Value) -> Option<Value> {
    let listed = schema["examples"].get(0).or_else(|| schema.get("example"));
    listed.or_else(|| constants(schema).first().copied()).cloned()
}

pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub(super) fn words(list: &Value) -> Vec<String> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(schemas: Value) -> Vec<Field> {
        let document = json!({ "schemas": schemas });
        Document(&document).members(&document["schemas"]["Whole"])
    }

    #[test]
    fn what_must_be_there_comes_first_and_references_are_followed() {
        let read = fields(json!({
            "Part": { "type": "object", "properties": { "size": { "type": "integer", "minimum": 1 } } },
            "Whole": {
                "required": ["z", "a"],
                "properties": {
                    "b": { "oneOf": [{ "type": "null" }, { "$ref": "#/schemas/Part" }] },
                    "a": { "type": "array", "maxItems": 3, "items": { "$ref": "#/schemas/Part" } },
                    "z": { "type": ["string", "null"], "enum": ["x", "y", null], "format": "word" },
                },
            },
        }));
        let told = |it: &Field| (it.name.clone(), it.kind.clone(), it.optional, it.members.len());
        let expected = [
            ("z", "string (word) or null", false, 0),
            ("a", "array of objects", false, 1),
            ("b", "object or null", true, 1),
        ];
        let expected = expected
            .map(|(name, kind, optional, members)| (name.into(), kind.into(), optional, members));
        assert_eq!(read.iter().map(told).collect::<Vec<_>>(), expected);
        assert_eq!(read[0].words, ["x", "y"]);
        assert_eq!(
            (read[1].limits.join(" "), read[1].is_array),
            ("at most 3 elements".into(), true)
        );
        assert_eq!(read[2].members[0].limits, ["at least 1"]);
    }

    #[test]
    fn a_document_that_goes_round_in_circles_is_read_to_an_end() {
        let read = fields(json!({
            "Whole": { "properties": { "whole": { "$ref": "#/schemas/Whole" } } },
        }));
        let (mut depth, mut inner) = (0, &read);
        while let [field] = inner.as_slice() {
            (depth, inner) = (depth + 1, &field.members);
        }
        assert_eq!(depth, DEEPEST);
        let circle = json!({ "a": { "$ref": "#/b" }, "b": { "$ref": "#/a" } });
        assert!(Document(&circle).members(&circle["a"]).is_empty());
    }
}
