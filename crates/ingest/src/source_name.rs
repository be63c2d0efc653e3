//! What results are called that are the whole of an opened source.
//!
//! A folder and the zip of it are the same results: what is named after the source has the same name in both.

use files::Tree;

/// The ending of zips, the only archives that are opened.
const ENDING: &str = ".zip";

/// The name of the folder that was opened, and of a zip that of the folder that was zipped: `scenario_3.zip` is scenario 3.
pub(crate) fn of_folder(tree: &Tree) -> String {
    let name = tree.name();
    let folder = without_ending(&name).filter(|_| tree.is_zip());
    folder.map_or_else(|| name.clone(), str::to_owned)
}

/// Whether a place is the whole source: its top, or in a zip the only folder there, which is the one that was zipped.
pub(crate) fn is_whole(tree: &Tree, at: &str) -> bool {
    // Some programs put the marks that files had on their system beside them.
    let is_content = |name: &str| name != "__MACOSX" && !name.starts_with('.');
    at.is_empty()
        || tree.is_zip()
            && !at.contains('/')
            && tree.list("").iter().filter(|entry| is_content(&entry.name)).all(|entry| entry.name == at)
}

fn without_ending(name: &str) -> Option<&str> {
    let (folder, ending) = name.split_at_checked(name.len().checked_sub(ENDING.len())?)?;
    (ending.eq_ignore_ascii_case(ENDING) && !folder.is_empty()).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_ending_of_a_zip_is_left_out() {
        for (name, folder) in [
            ("evo.zip", Some("evo")),
            ("evo.ZIP", Some("evo")),
            ("evo.v2.zip", Some("evo.v2")),
            (".zip", None),
            ("evo", None),
            ("zip", None),
            ("evo.tar", None),
            ("größe", None),
        ] {
            assert_eq!(without_ending(name), folder, "{name}");
        }
    }
}
