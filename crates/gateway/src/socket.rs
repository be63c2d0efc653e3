//! A socket in the file system, also where its path is longer than the kernel accepts in an address.

use std::io;
use std::path::Path;

use tokio::net::UnixListener;

/// Listens on it and replaces a file of this name. Everybody who can reach the file may connect: containers run as another user
/// where this program is root. No part of its path may be a link: it lies below a results folder.
pub(crate) fn bind(socket: &Path) -> io::Result<UnixListener> {
    let socket = std::path::absolute(socket)?;
    UnixListener::from_std(files::confined_path::listen(&socket, 0o666)?)
}
