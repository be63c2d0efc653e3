//! A trajectory and the files that continue it, in bounded memory.

use std::collections::HashSet;

use files::{ReadError, Tree, join, parent};

use crate::readers::atif::Document;
use crate::readers::json::Object;

use super::layout;
use super::limits::CONTINUATIONS;

/// Most bytes of a trajectory that is shown.
const TRAJECTORY_CAP: u64 = 128 << 20;

/// A trajectory and the files that continue it, up to the one with which they have `most_values` values. Gives whether there is
/// one more.
pub(super) fn documents(
    tree: &Tree,
    path: &str,
    most_values: u64,
) -> Result<(Vec<Document>, bool), ReadError> {
    let mut documents: Vec<Document> = Vec::new();
    let mut path = path.to_owned();
    let (mut left, mut values) = (TRAJECTORY_CAP, 0);
    let mut read: HashSet<String> = HashSet::new();
    // Each once, and together no more than one may have: they may name each other in a circle.
    while documents.len() < CONTINUATIONS && read.insert(path.clone()) {
        if values >= most_values {
            return Ok((documents, true));
        }
        let size = tree.entry(&path).map_or(0, |entry| entry.size);
        let document: Document = match tree.read_json(&path, left) {
            Ok(Object(document)) => document,
            Err(error) if documents.is_empty() => return Err(error),
            // What is there is shown; the import has warned of the rest.
            Err(_) => break,
        };
        let next = document.continued_in().map(|name| join(parent(&path), name));
        values += document.values();
        documents.push(document);
        left = left.saturating_sub(size);
        match next {
            Some(next) if layout::is_file(tree, &next) => path = next,
            _ => break,
        }
    }
    Ok((documents, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: An opened folder or zip
    fn continuations_are_read_up_to_a_number_of_values() {
        let temp = tempfile::tempdir().unwrap();
        let name = |number: u32| match number {
            0 => "trajectory.json".to_owned(),
            number => format!("trajectory.cont-{number}.json"),
        };
        for number in 0..20 {
            let next = name(number + 1);
            let steps = [r#"{"message": ["x", "y"]}"#; 10].join(",");
            let text = format!(r#"{{"steps": [{steps}], "continued_trajectory_ref": "{next}"}}"#);
            std::fs::write(temp.path().join(name(number)), text).unwrap();
        }
        let tree = Tree::open(temp.path()).unwrap();
        let read = |most: u64| documents(&tree, "trajectory.json", most).unwrap();
        // Each has ten steps of four values.
        for (most, count, is_cut) in [(1, 1, true), (40, 1, true), (41, 2, true), (800, 20, false)] {
            let (documents, cut) = read(most);
            assert_eq!((documents.len(), cut), (count, is_cut), "{most}");
            assert_eq!(documents[0].values(), 40);
        }
    }
}
