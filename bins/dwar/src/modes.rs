//! Who else on this machine may read the files that hold secrets.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Everybody but the owner.
const OTHERS: u32 = 0o077;

/// One sentence for each of `files` that others may read or write, with what is in it as its object;
/// one that is not there yet is made by this program, for its owner alone.
pub fn open_to_others(files: impl IntoIterator<Item = (PathBuf, &'static str)>) -> Vec<String> {
    let open = |(path, holds): (PathBuf, &str)| {
        let mode = std::fs::metadata(&path).ok()?.permissions().mode() & 0o777;
        if mode & OTHERS == 0 {
            return None;
        }
        let path = path.display();
        Some(format!(
            "{path} has mode {mode:04o}, so others on this machine can get at {holds}: \
             chmod 600 {path}"
        ))
    };
    files.into_iter().filter_map(open).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_right_of_anybody_else_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let found = || open_to_others([(path.clone(), "the key")]);
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
        assert_eq!(open_to_others([(link, "the key")]).len(), 1);
    }
}
