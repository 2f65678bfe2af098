//! A file that the user of the test may not read, even if that user is root.

use std::fs;
use std::io::ErrorKind::PermissionDenied;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

/// Makes the file. Panics if this user can read it, so that no test passes without it.
pub(super) fn make(path: &Path) {
    fs::write(path, "").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    if cfg!(target_os = "linux") && fs::read(path).is_ok() {
        // Root reads a file of any mode. But Linux lets nobody read this file, which takes commands.
        fs::remove_file(path).unwrap();
        symlink("/proc/sys/vm/drop_caches", path).unwrap();
    }
    let error = fs::read(path).expect_err("this user cannot read the file");
    assert_eq!(error.kind(), PermissionDenied);
}
