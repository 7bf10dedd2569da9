use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A small disk (a tmpfs) that a test can fill; only root can create one.
pub struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// A disk of this many MiB that belongs to the owner of `like`; `None` without the right to
    /// mount.
    pub fn mount(mib: u32, like: &Path) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("dwar-disk-{}-{count}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let size = format!("size={mib}m");
        let done =
            run(Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&folder));
        let disk = Self { folder };
        let mut owned = Command::new("chown");
        owned.arg("--reference").arg(like).arg(&disk.folder);
        (done && run(&mut owned)).then_some(disk)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn fill(&self) {
        let mut file = std::fs::OpenOptions::new();
        let mut ballast = file.create(true).append(true).open(self.folder.join("ballast")).unwrap();
        let block = [0; 4_096];
        while std::io::Write::write_all(&mut ballast, &block).is_ok() {}
    }

    /// Uses this many MiB of the free space.
    pub fn take(&self, mib: usize) {
        std::fs::write(self.folder.join("ballast"), vec![0; mib << 20]).unwrap();
    }

    /// Frees the space that [`Disk::fill`] or [`Disk::take`] used.
    pub fn free(&self) {
        std::fs::remove_file(self.folder.join("ballast")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        run(Command::new("umount").arg("--lazy").arg(&self.folder));
        let _litter = std::fs::remove_dir(&self.folder);
    }
}

fn run(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
