//! A trajectory and the files that continue it, in bounded memory.

use std::collections::{HashMap, HashSet};

use files::{ReadError, Tree, join, parent};

use crate::readers::atif::{Document, TrajectorySummary};
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

/// A file that may continue another one, and be continued.
struct Part {
    bytes: u64,
    next: Option<String>,
}

impl Part {
    /// `None` where it cannot be read.
    fn read(tree: &Tree, path: &str) -> Option<Self> {
        let Object(facts) = tree.read_json::<Object<TrajectorySummary>>(path, TRAJECTORY_CAP).ok()?;
        let next = facts.continued_in().map(|name| join(parent(path), name));
        Some(Self { bytes: tree.entry(path).map_or(0, |entry| entry.size), next })
    }
}

/// Which of these transcripts [`documents`] reads with another one of them. What no other one names, or cannot be read, is
/// none of them, whatever its name is. Only files of one [`family`] are looked into: most steps have none, and transcripts
/// are large.
pub(super) fn continuations(tree: &Tree, transcripts: &[String]) -> HashSet<String> {
    let mut sizes: HashMap<&str, usize> = HashMap::new();
    for path in transcripts {
        *sizes.entry(family(path)).or_default() += 1;
    }
    let has_relatives = |path: &str| sizes.get(family(path)).is_some_and(|size| *size > 1);
    let parts: HashMap<&str, Part> = transcripts
        .iter()
        .filter(|path| has_relatives(path))
        .filter_map(|path| Some((path.as_str(), Part::read(tree, path)?)))
        .collect();
    let named: HashSet<&str> = parts.values().filter_map(|part| part.next.as_deref()).collect();
    // Of files that name each other in a circle, the first one begins.
    let (first, later): (Vec<&str>, Vec<&str>) =
        transcripts.iter().map(String::as_str).partition(|path| !named.contains(path));
    let mut continuations: HashSet<String> = HashSet::new();
    for begin in first.into_iter().chain(later) {
        if continuations.contains(begin) {
            continue;
        }
        let mut read = HashSet::from([begin]);
        let mut bytes = parts.get(begin).map_or(0, |part| part.bytes);
        let mut path = begin;
        let following = |path: &str| parts.get_key_value(parts.get(path)?.next.as_deref()?);
        while let Some((&next, part)) = following(path) {
            bytes = bytes.saturating_add(part.bytes);
            // The bounds of what is shown.
            if bytes > TRAJECTORY_CAP || read.len() >= CONTINUATIONS || !read.insert(next) {
                break;
            }
            continuations.insert(next.to_owned());
            path = next;
        }
    }
    continuations
}

/// What the names of a transcript and of its continuations have in common: `trajectory.x` of `trajectory.x.json`,
/// `trajectory.x.cont-2.json` and `trajectory.x.part2.json`.
fn family(path: &str) -> &str {
    let stem = path.strip_suffix(".json").unwrap_or(path);
    let stem = match stem.rsplit_once(".cont-") {
        Some((stem, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => stem,
        _ => stem,
    };
    let name = stem.rsplit('/').next().unwrap_or(stem);
    let rest = name.splitn(3, '.').nth(2).map_or(0, |rest| rest.len() + 1);
    &stem[..stem.len() - rest]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_continuation_only_if_another_one_names_it_and_both_can_be_read() {
        let shown = |files: &[(&str, &str)]| -> Vec<String> {
            let temp = tempfile::tempdir().unwrap();
            for (name, next) in files {
                let text = match *next {
                    "broken" => "{".to_owned(),
                    "" => r#"{"steps": []}"#.to_owned(),
                    next => format!(r#"{{"steps": [], "continued_trajectory_ref": "{next}"}}"#),
                };
                std::fs::write(temp.path().join(name), text).unwrap();
            }
            let tree = Tree::open(temp.path()).unwrap();
            let mut names: Vec<String> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
            let shown_with_another = continuations(&tree, &names);
            names.retain(|name| !shown_with_another.contains(name));
            names
        };
        let (file, cont, part) =
            ("trajectory.helper.json", "trajectory.helper.cont-1.json", "trajectory.helper.part2.json");
        assert_eq!(shown(&[(file, cont), (cont, "")]), [file]);
        assert_eq!(shown(&[(cont, part), (file, cont), (part, "")]), [file]);
        assert_eq!(shown(&[(file, ""), (cont, "")]), [file, cont], "no reference");
        assert_eq!(shown(&[(file, "broken"), (cont, "")]), [file, cont]);
        assert_eq!(shown(&[(file, cont), (cont, "broken")]), [file, cont]);
        // The file that these continue is lost.
        assert_eq!(shown(&[(cont, part), (part, "")]), [cont]);
        assert_eq!(shown(&[(file, cont), (cont, file)]), [file], "a circle");
        assert_eq!(shown(&[(file, file), (cont, "")]), [file, cont]);
        let (main, first, second) = ("trajectory.json", "trajectory.cont-1.json", "trajectory.cont-2.json");
        assert_eq!(shown(&[(main, "broken"), (first, second), (second, "")]), [main, first]);
    }

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
