//! Whether what is read is the whole of an opened source: then the source has its name ([`Tree::folder_name`]).

use files::Tree;

/// Whether a place is the whole source: its top, or in a zip the only folder there, which is the one that was zipped.
pub(crate) fn is_whole(tree: &Tree, path: &str) -> bool {
    // Some programs put the marks that files had on their system beside them.
    let is_content = |name: &str| name != "__MACOSX" && !name.starts_with('.');
    path.is_empty()
        || tree.is_zip()
            && !path.contains('/')
            && tree.list("").iter().filter(|entry| is_content(&entry.name)).all(|entry| entry.name == path)
}
