//! Who else on this machine may read the files that hold secrets.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Everybody but the owner.
const OTHERS: u32 = 0o077;

/// A file that only its owner should be able to open.
#[derive(Clone, Debug)]
pub struct Guarded {
    pub path: PathBuf,
    /// What is in it, as the object of a sentence.
    pub holds: &'static str,
}

impl Guarded {
    pub fn new(path: impl Into<PathBuf>, holds: &'static str) -> Self {
        Self { path: path.into(), holds }
    }
}

/// One sentence for each of `files` that others may read or write; one that is not there yet is
/// made by this program, for its owner alone.
pub fn open_to_others(files: impl IntoIterator<Item = Guarded>) -> Vec<String> {
    let open = |file: Guarded| {
        let mode = mode(&file.path).filter(|mode| mode & OTHERS != 0)?;
        let path = file.path.display();
        Some(format!(
            "{path} has mode {mode:04o}, so others on this machine can get at {}: chmod 600 {path}",
            file.holds
        ))
    };
    files.into_iter().filter_map(open).collect()
}

/// The permissions of what `path` leads to.
fn mode(path: &Path) -> Option<u32> {
    Some(std::fs::metadata(path).ok()?.permissions().mode() & 0o777)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_right_of_anybody_else_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let found = || open_to_others([Guarded::new(&path, "the key")]);
        assert!(found().is_empty());
        std::fs::write(&path, "x").unwrap();
        for (mode, open) in [
            (0o600, false),
            (0o400, false),
            (0o700, false),
            (0o640, true),
            (0o604, true),
            (0o620, true),
            (0o602, true),
            (0o644, true),
        ] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(!found().is_empty(), open, "{mode:o}");
        }
        let told = found().remove(0);
        assert!(told.contains("has mode 0644") && told.contains("chmod 600 /"), "{told}");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(open_to_others([Guarded::new(&link, "the key")]).len(), 1);
    }
}
