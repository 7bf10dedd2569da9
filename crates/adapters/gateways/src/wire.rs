//! Parses the data of providers, who use types loosely: a number counts as its text.

use serde_json::Value;

/// The text of a string, number or boolean; `None` for any other value and for the empty string.
pub(crate) fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// The word at a JSON pointer (RFC 6901).
pub(crate) fn word_at(document: &Value, pointer: &str) -> Option<String> {
    document.pointer(pointer).and_then(word)
}

/// The members of an array, or a single object; `None` for any other value.
pub(crate) fn items(document: &Value) -> Option<&[Value]> {
    match document {
        Value::Array(items) => Some(items),
        Value::Object(_) => Some(std::slice::from_ref(document)),
        _ => None,
    }
}

/// The word of the first of these fields that has one.
pub(crate) fn first_word(object: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| word(object.get(name)?))
}

/// The only field of this name in an `application/x-www-form-urlencoded` body; `None` if it is
/// repeated.
pub(crate) fn form_field(body: &[u8], name: &str) -> Option<String> {
    let mut found = form_urlencoded::parse(body).filter(|(known, _)| known == name);
    match (found.next(), found.next()) {
        (Some((_, value)), None) => Some(value.into_owned()),
        _ => None,
    }
}

/// Name-value pairs as a JSON object of strings; `None` if a name is repeated.
pub(crate) fn object(pairs: impl Iterator<Item = (String, String)>) -> Option<Value> {
    let mut object = serde_json::Map::new();
    for (name, value) in pairs {
        if object.insert(name, Value::String(value)).is_some() {
            return None;
        }
    }
    Some(Value::Object(object))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_words_of_any_type() {
        let document = json!({"a": "x", "b": 412, "c": true, "d": "", "e": null, "f": [1]});
        let words =
            ["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/f/0"].map(|p| word_at(&document, p));
        let expected = [Some("x"), Some("412"), Some("true"), None, None, None, None, Some("1")];
        assert_eq!(words, expected.map(|word| word.map(str::to_owned)));
    }

    #[test]
    fn a_field_that_comes_twice_is_none() {
        assert_eq!(form_field(b"a=1&data=%7B%7D+x&b=2", "data").as_deref(), Some("{} x"));
        assert_eq!(form_field(b"data=1&data=1", "data"), None);
        assert_eq!(form_field(b"\xff\x00", "data"), None);
        let pairs =
            |names: [&str; 2]| object(names.map(|n| (n.to_owned(), String::new())).into_iter());
        assert!(pairs(["a", "b"]).is_some());
        assert!(pairs(["a", "a"]).is_none());
    }
}
