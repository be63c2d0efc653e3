//! A socket in the file system, also where its path is longer than the kernel accepts in an address.

use std::fs::Permissions;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tokio::net::UnixListener;

/// The longest path that every system accepts (`sun_path` has 104 bytes on macOS and 108 on Linux, with a zero at the end).
const LONGEST: usize = 100;

/// Listens on it and replaces a file of this name. Everybody who can reach the file may connect: containers run as another user
/// where this program is root.
pub(crate) fn bind(socket: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listener = match (socket.parent(), socket.file_name()) {
        (Some(folder), Some(name)) if socket.as_os_str().len() > LONGEST && cfg!(target_os = "linux") => {
            // Through its open folder, whose path is short.
            let folder = std::fs::File::open(folder)?;
            UnixListener::bind(Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name))?
        }
        _ => UnixListener::bind(socket)?,
    };
    std::fs::set_permissions(socket, Permissions::from_mode(0o666))?;
    Ok(listener)
}
