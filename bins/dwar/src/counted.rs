//! Formats numbers with the noun that they count.

/// A number with its noun, for people: `1 entry`, `2 entries`.
pub fn counted(count: impl Into<u64>, one: &str, many: &str) -> String {
    let count = count.into();
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one_and_none_is_many() {
        let entries = [0_u32, 1, 2].map(|count| counted(count, "entry", "entries"));
        assert_eq!(entries, ["0 entries", "1 entry", "2 entries"]);
    }
}
