//! What a source is called beside others: its name, and where several have that name, the part of the path that differs
//! before it.

use std::collections::{HashMap, HashSet};

/// A source by number, name and path.
pub(crate) type NamedSource<'a> = (i64, &'a str, &'a str);

/// The label of each source, by its number.
///
/// `input` alone is `input`; `/a/x/input` and `/a/y/input` are `x/input` and `y/input`; `/x/runs/input` and `/y/runs/input`
/// are `x/…/input` and `y/…/input`.
pub(crate) fn source_labels<'a>(sources: impl IntoIterator<Item = NamedSource<'a>>) -> HashMap<i64, String> {
    let mut by_name: HashMap<&str, Vec<NamedSource>> = HashMap::new();
    for source in sources {
        by_name.entry(source.1).or_default().push(source);
    }
    by_name.into_iter().flat_map(|(name, sources)| labels(name, &sources)).collect()
}

/// The labels of sources of one name.
fn labels(name: &str, sources: &[NamedSource]) -> Vec<(i64, String)> {
    let folders: Vec<Vec<&str>> = sources
        .iter()
        .map(|(_, _, path)| {
            let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
            parts.pop();
            parts
        })
        .collect();
    let label = |index: usize, whole: bool| {
        let mine = &folders[index];
        // How many folders above it, counted from it, no other has.
        let is_shared = |levels: usize| {
            let end =
                |parts: &[&str]| parts.iter().rev().take(levels).map(|p| (*p).to_owned()).collect::<Vec<_>>();
            folders.iter().enumerate().any(|(i, other)| i != index && end(other) == end(mine))
        };
        let levels = (0..=mine.len()).find(|levels| !is_shared(*levels)).unwrap_or(mine.len());
        let shown = &mine[mine.len() - levels..];
        match shown {
            [] if levels == 0 && sources.len() > 1 => format!("/{name}"),
            [] => name.to_owned(),
            [first, _, ..] if !whole => format!("{first}/…/{name}"),
            all => format!("{}/{name}", all.join("/")),
        }
    };
    let short: Vec<String> = (0..sources.len()).map(|index| label(index, false)).collect();
    let whole = short.iter().collect::<HashSet<_>>().len() < short.len();
    let chosen = if whole { (0..sources.len()).map(|index| label(index, true)).collect() } else { short };
    sources.iter().map(|source| source.0).zip(chosen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels_of(paths: &[&str]) -> Vec<String> {
        let sources =
            paths.iter().zip(1..).map(|(path, id)| (id, path.rsplit('/').next().unwrap_or(path), *path));
        let labels = source_labels(sources);
        (1..).take(paths.len()).map(|id: i64| labels[&id].clone()).collect()
    }

    #[test]
    fn only_the_part_of_the_path_that_differs_is_shown() {
        assert_eq!(labels_of(&["/data/input", "/data/other"]), ["input", "other"]);
        assert_eq!(labels_of(&["/a/x/input", "/a/y/input", "/a/z/jobs"]), ["x/input", "y/input", "jobs"]);
        assert_eq!(labels_of(&["/a/x/runs/input", "/a/y/runs/input"]), ["x/…/input", "y/…/input"]);
        // One lies above the others.
        assert_eq!(labels_of(&["/input", "/a/input", "/a/a/input"]), ["/input", "a/input", "a/…/input"]);
    }

    #[test]
    fn labels_are_never_the_same() {
        let paths: Vec<String> = (0..13).map(|n| format!("/world/case-{n}/input")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert_eq!(labels_of(&paths)[12], "case-12/input");
        let similar_paths = ["/x/r/input", "/q/x/m/n/input", "/p/y/m/n/input", "/r/input"];
        let labels: HashSet<String> = labels_of(&similar_paths).into_iter().collect();
        assert_eq!(labels.len(), similar_paths.len(), "{labels:?}");
    }
}
