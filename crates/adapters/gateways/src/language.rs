use std::collections::BTreeMap;

const DEFAULT: &str = "en";

/// The configured value for a BCP 47 tag: for the tag itself, or else for its primary language, or
/// else for `en`.
pub(crate) fn for_language<'map, T>(
    configured: &'map BTreeMap<String, T>,
    tag: &str,
) -> Option<&'map T> {
    let primary = tag.split('-').next().unwrap_or(tag);
    [tag, primary, DEFAULT].into_iter().find_map(|tag| configured.get(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_the_tag_then_its_language_then_english() {
        let words = [("en", 1), ("hi", 2), ("hi-Latn", 3)];
        let configured = words.map(|(tag, word)| (tag.to_owned(), word)).into();
        for (tag, expected) in [("hi-Latn", 3), ("hi", 2), ("hi-IN", 2), ("ta", 1), ("en-IN", 1)] {
            assert_eq!(for_language(&configured, tag), Some(&expected), "{tag}");
        }
        assert_eq!(for_language(&BTreeMap::<String, u8>::new(), "hi"), None);
    }
}
