//! Paths inside a tree: parts joined by `/`, no `.`, no `..`, none empty; `""` is the tree's root.

use super::ReadError;

/// The deepest folder that is looked into, counted in parts of its path. Results nest about ten deep; a folder mounted
/// into itself nests for ever.
pub const MAX_DEPTH: usize = 32;

/// `folder/name`, or just `name` in the root.
pub fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The folder that a path lies in (`""` for what lies in the root).
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The path in its one spelling, or [`ReadError::Outside`] if it leads out of the tree or is none.
pub(super) fn clean(path: &str) -> Result<String, ReadError> {
    if path.starts_with('/') || path.contains('\0') {
        return Err(ReadError::Outside);
    }
    let mut out = String::with_capacity(path.len());
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err(ReadError::Outside),
            _ => {
                if !out.is_empty() {
                    out.push('/');
                }
                out.push_str(part);
            }
        }
    }
    Ok(out)
}

/// How many parts a clean path has.
pub(super) fn depth(path: &str) -> usize {
    if path.is_empty() { 0 } else { path.bytes().filter(|b| *b == b'/').count() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_spelling_and_never_climb() {
        assert_eq!(clean("a//b/./c/").unwrap(), "a/b/c");
        assert_eq!(clean("").unwrap(), "");
        for bad in ["..", "a/../b", "/etc/passwd", "a\0b", "a/.."] {
            assert!(matches!(clean(bad), Err(ReadError::Outside)), "{bad}");
        }
        assert_eq!((depth(""), depth("a"), depth("a/b")), (0, 1, 2));
        assert_eq!((parent("a/b/c"), parent("c"), file_name("a/b")), ("a/b", "", "b"));
        assert_eq!((join("", "x"), join("a", "x")), ("x".to_owned(), "a/x".to_owned()));
    }
}
