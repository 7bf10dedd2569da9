//! Checks which other users of this machine can access files with secrets.

use rustix::process::{getegid, geteuid, getgroups};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const OTHERS: u32 = 0o006;
const GROUP: u32 = 0o060;
const OWNER: u32 = 0o600;
const ROOT: u32 = 0;

/// One sentence for each of `files` that others may read or write; `&str` names its content. A file
/// counts as open if its owner is neither root nor us, or if others or a foreign group have access.
/// A missing file is ignored: this program will create it accessible only to its owner.
///
/// As root, this process works for the owner of `folder`, who then counts as us.
pub fn open_to_others(
    files: impl IntoIterator<Item = (PathBuf, &'static str)>,
    folder: &Path,
) -> Vec<String> {
    let us = ProcessOwner::of(folder);
    let open = |(path, holds): (PathBuf, &str)| {
        let file = std::fs::metadata(&path).ok()?;
        let (owner, group, mode) = (file.uid(), file.gid(), file.mode() & 0o777);
        let path = path.display();
        let remedy = us.remedy(owner, group, mode)?;
        Some(format!(
            "{path} belongs to user {owner} and group {group} and has mode {mode:04o}, so others on this machine \
             can get at {holds}: {}",
            remedy.replace("FILE", &path.to_string())
        ))
    };
    files.into_iter().filter_map(open).collect()
}

/// The users and groups of this process, or of the service that it works for.
struct ProcessOwner {
    users: Vec<u32>,
    groups: Vec<u32>,
}

impl ProcessOwner {
    fn of(folder: &Path) -> Self {
        let mut users = vec![geteuid().as_raw()];
        let mut groups = vec![getegid().as_raw()];
        groups.extend(getgroups().unwrap_or_default().into_iter().map(|group| group.as_raw()));
        if users == [ROOT]
            && let Ok(folder) = std::fs::metadata(folder)
        {
            users.insert(0, folder.uid());
            groups.insert(0, folder.gid());
        }
        Self { users, groups }
    }

    /// The command that closes FILE to everybody else; `None` if it is closed.
    fn remedy(&self, owner: u32, group: u32, mode: u32) -> Option<String> {
        let (own, ours) = (self.users.contains(&owner), self.groups.contains(&group));
        let known = own || owner == ROOT;
        if known && mode & OTHERS == 0 && (ours || mode & GROUP == 0) {
            return None;
        }
        Some(if own && (owner != ROOT || group == ROOT) {
            "chmod 600 FILE".to_owned()
        } else if owner != ROOT {
            format!("chown {} FILE && chmod 600 FILE", self.users.first().unwrap_or(&ROOT))
        } else {
            // We read it through a group, like a mounted secret.
            let own = self.groups.first().filter(|_| !ours);
            let own = own.map(|group| format!("chgrp {group} FILE && ")).unwrap_or_default();
            format!("{own}chmod {:o} FILE", mode & (OWNER | GROUP) | 0o440)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    const DWAR: u32 = 10_001;

    #[test]
    fn a_file_is_closed_if_it_is_ours_or_roots_and_nobody_else_is_let_in() {
        let us = ProcessOwner { users: vec![DWAR], groups: vec![DWAR, 4] };
        for (owner, group, mode, remedy) in [
            (DWAR, DWAR, 0o600, None),
            (DWAR, DWAR, 0o400, None),
            // A volume with an fsGroup, and a secret that is mounted for it.
            (DWAR, DWAR, 0o660, None),
            (ROOT, DWAR, 0o660, None),
            (ROOT, DWAR, 0o440, None),
            (ROOT, 4, 0o640, None),
            (ROOT, ROOT, 0o600, None),
            (DWAR, 33, 0o711, None),
            (DWAR, 33, 0o640, Some("chmod 600 FILE")),
            (DWAR, 33, 0o620, Some("chmod 600 FILE")),
            (DWAR, DWAR, 0o644, Some("chmod 600 FILE")),
            (DWAR, DWAR, 0o602, Some("chmod 600 FILE")),
            (ROOT, DWAR, 0o644, Some("chmod 640 FILE")),
            (ROOT, DWAR, 0o666, Some("chmod 660 FILE")),
            (ROOT, ROOT, 0o644, Some("chgrp 10001 FILE && chmod 640 FILE")),
            (ROOT, ROOT, 0o440, Some("chgrp 10001 FILE && chmod 440 FILE")),
            (33, DWAR, 0o600, Some("chown 10001 FILE && chmod 600 FILE")),
            (33, 33, 0o440, Some("chown 10001 FILE && chmod 600 FILE")),
        ] {
            assert_eq!(
                us.remedy(owner, group, mode).as_deref(),
                remedy,
                "{owner}:{group} {mode:o}"
            );
        }
    }

    #[test]
    fn what_is_told_names_file_owner_mode_and_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let found = || open_to_others([(path.clone(), "the key")], dir.path());
        assert!(found().is_empty());
        std::fs::write(&path, "x").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let told = found().remove(0);
        let owner = std::fs::metadata(&path).unwrap().uid();
        assert!(told.contains(&format!("belongs to user {owner} and group ")), "{told}");
        assert!(told.contains("has mode 0644") && told.contains("chmod 600 /"), "{told}");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(open_to_others([(link, "the key")], dir.path()).len(), 1);
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert!(found().is_empty());
    }
}
