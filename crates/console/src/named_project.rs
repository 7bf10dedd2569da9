//! Finds the project that a person means by a text.

use crate::ManageError;
use dwar_project::Project;

/// Shortest prefix of an id that counts: a shorter text could be anything.
const SHORTEST: usize = 4;
/// Most candidates that a refusal lists.
const MOST_LISTED: usize = 10;

/// The project that `text` means: the one whose id begins with it (from four characters on), else the one
/// with exactly this name, else the one with this name ignoring case.
///
/// # Errors
/// [`ManageError::NoSuchProject`], or [`ManageError::Invalid`] with the candidates if there are several.
pub(crate) fn named<'a>(all: &'a [Project], text: &str) -> Result<&'a Project, ManageError> {
    let text = text.trim();
    let prefix = text.to_ascii_lowercase();
    let by_id = all.iter().filter(|it| it.id.to_string().starts_with(&prefix));
    let by_id: Vec<_> = by_id.filter(|_| prefix.len() >= SHORTEST).collect();
    if let [found] = by_id[..] {
        return Ok(found);
    }
    let folded = text.to_lowercase();
    let exact = all.iter().any(|it| it.name == text);
    let is_named = |it: &Project| match exact {
        true => it.name == text,
        false => it.name.to_lowercase() == folded,
    };
    let candidates = all.iter().filter(|it| by_id.contains(it) || is_named(it));
    match candidates.collect::<Vec<_>>()[..] {
        [] => Err(ManageError::NoSuchProject),
        [found] => Ok(found),
        ref several => Err(ambiguous(text, several)),
    }
}

fn ambiguous(text: &str, several: &[&Project]) -> ManageError {
    let shown = several.iter().take(MOST_LISTED).map(|it| format!("{} ({})", it.id, it.name));
    let shown: Vec<_> = shown.collect();
    let more = match several.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let reason = format!("{text} could be {}{more}; use more of the id", shown.join(", "));
    ManageError::invalid("project", reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_kernel::Timestamp;
    use dwar_project::NewProject;

    const SHOP: &str = "0199a000-0000-7000-8000-000000000001";
    const TEA: &str = "0199a000-0000-7000-8000-000000000002";
    const OLD: &str = "0188bbbb-0000-7000-8000-000000000003";

    fn project(id: &str, name: &str) -> Project {
        let (id, name) = (id.parse().unwrap(), name.to_owned());
        NewProject { id, name, created_at: Timestamp::default() }.into_project()
    }

    /// The id of the project, or the text of the refusal.
    fn meant(all: &[Project], text: &str) -> String {
        named(all, text).map_or_else(|refused| refused.to_string(), |it| it.id.to_string())
    }

    #[test]
    fn a_project_is_found_by_its_name_and_by_how_its_id_begins() {
        let all = [project(SHOP, "Shop"), project(TEA, "चाय & Co"), project(OLD, "shop india")];
        for (text, id) in [
            (" Shop ", SHOP),
            ("SHOP", SHOP),
            ("चाय & CO", TEA),
            ("0188", OLD),
            ("0188BBBB-0000", OLD),
            (TEA, TEA),
        ] {
            assert_eq!(meant(&all, text), id, "{text}");
        }
        for text in ["", " ", "0", "018", "Sho", "0188c", "0188bbbb0000", "Shop india ltd"] {
            let refused = named(&all, text).unwrap_err();
            assert!(matches!(refused, ManageError::NoSuchProject), "{text:?}: {refused}");
        }
    }

    #[test]
    fn a_text_that_fits_several_projects_is_refused_with_a_list_of_them() {
        let all = [project(SHOP, "Shop"), project(TEA, "Shop"), project(OLD, "shop")];
        let said = meant(&all, "Shop");
        assert_eq!(said, format!("Shop could be {SHOP} (Shop), {TEA} (Shop); use more of the id"));
        assert_eq!(meant(&all, "shop"), OLD, "capitals tell them apart");
        assert!(meant(&all, "SHOP").contains(OLD));
        assert!(meant(&all, "0199a000").starts_with("0199a000 could be "));
        let many: Vec<_> =
            (0..12).map(|at| project(&format!("{}{at:02}", &SHOP[..34]), "x")).collect();
        assert!(meant(&many, "x").contains(" and 2 more; "), "{}", meant(&many, "x"));
    }

    #[test]
    fn an_id_wins_over_a_name_that_looks_like_one() {
        let all = [project(SHOP, "Shop"), project(OLD, "0199"), project(TEA, SHOP)];
        assert_eq!(meant(&all[..2], "0199"), SHOP);
        assert_eq!(meant(&all, SHOP), SHOP);
        let said = meant(&all, "0199");
        assert!([SHOP, TEA, OLD].iter().all(|id| said.contains(id)), "{said}");
    }
}
