//! The user as whom a command of root works.

use crate::config::Config;
use crate::wiring::{WiringError, data_folder};

/// As root, switches to the owner of the folder with the database or the master key, and to that
/// user's groups. Otherwise the service could not open files that root creates there. Does nothing
/// if the folder belongs to root or does not exist, or if the process is not root's.
///
/// Files that only root can read have to be read before the call, and no thread may have been
/// started.
///
/// # Errors
/// A sentence, if the system does not allow it.
#[cfg(target_os = "linux")]
pub fn become_owner_of_data(config: &Config) -> Result<(), WiringError> {
    use nix::unistd::{Gid, Uid, User, geteuid, initgroups, setgroups, setresgid, setresuid};
    use std::ffi::CString;
    use std::os::unix::fs::MetadataExt;

    let Some(folder) = data_folder(config)?.filter(|_| geteuid().is_root()) else {
        return Ok(());
    };
    let Ok(found) = std::fs::metadata(&folder) else { return Ok(()) };
    let (owner, group) = (Uid::from_raw(found.uid()), Gid::from_raw(found.gid()));
    if owner.is_root() {
        return Ok(());
    }
    let become_owner = || {
        let user = User::from_uid(owner)?;
        let group = match user.and_then(|user| Some((CString::new(user.name).ok()?, user.gid))) {
            Some((name, group)) => initgroups(&name, group).map(|()| group)?,
            None => setgroups(&[group]).map(|()| group)?,
        };
        setresgid(group, group, group)?;
        setresuid(owner, owner, owner)
    };
    let cannot = |cause| WiringError::NotTheOwner { folder, owner: found.uid(), cause };
    become_owner().map_err(|cause: nix::errno::Errno| cannot(cause.into()))?;
    // The system resets this when a process changes its user.
    crate::hardening::seal_process().map_err(WiringError::Unsealed)
}

#[cfg(not(target_os = "linux"))]
pub fn become_owner_of_data(_: &Config) -> Result<(), WiringError> {
    Ok(())
}
