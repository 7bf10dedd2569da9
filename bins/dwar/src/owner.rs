//! As whom a command works that root started.

use crate::config::Config;
use crate::wiring::{WiringError, data_folder};

/// As root, becomes the owner of the folder in which the database or the master key lies, with the groups
/// of that user: what root made there the service could not open. Does nothing where the folder is root's or
/// is not there, and for anybody but root.
///
/// What only root can read has to be read before, and no thread may have been started yet.
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
    // The system takes this back from whoever becomes somebody else.
    crate::hardening::seal_process().map_err(WiringError::Unsealed)
}

#[cfg(not(target_os = "linux"))]
pub fn become_owner_of_data(_: &Config) -> Result<(), WiringError> {
    Ok(())
}
