//! The beginning of a file, which shows what it is before it is parsed.

use files::Tree;

/// Beginning of a trajectory in which its head is looked for, in bytes.
pub(super) const HEAD: u64 = 64 << 10;

/// So many bytes from the beginning of a file as text; `None` = it cannot be read.
pub(super) fn head(tree: &Tree, path: &str, bytes: u64) -> Option<String> {
    let (bytes, _) = tree.read_range(path, 0, bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
