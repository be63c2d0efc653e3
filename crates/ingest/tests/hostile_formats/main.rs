//! Results of every format with one file damaged in every way: what is wrong is named, everything else arrives.

#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod mutated_values;
mod one_damaged_file;
mod samples;
mod whole_sources;

use std::collections::BTreeMap;
use std::path::Path;

use files::Tree;
use ingest::discover::discover;
use ingest::format_trait::Report;
use model::{Episode, Warning};

type Key = (String, String, String);

/// Episodes as they are in a sample without damage, each with all that it says as text. That is made once, and asked after each of
/// some hundred damages.
type Whole = BTreeMap<Key, (Episode, String)>;

/// Every episode of a tree by place, run and key, and all warnings; not through the store, so that nothing is caught.
fn read_all(tree: &Tree) -> (BTreeMap<Key, Episode>, Vec<Warning>) {
    let mut report = Report::default();
    let mut episodes = BTreeMap::new();
    if let Ok(found) = discover(tree) {
        report.warnings.extend(found.warnings);
        for place in found.places {
            let survey = place.format.survey(tree, &place.folder, &mut report);
            for part in &survey.parts {
                for reading in place.format.read(tree, &place.folder, part, &mut report) {
                    let key = (place.folder.clone(), reading.run, reading.episode.key.clone());
                    assert!(survey.runs.iter().any(|run| run.key == key.1), "{key:?} has no run");
                    episodes.insert(key, reading.episode);
                }
            }
        }
    }
    report.warnings.extend(tree.warnings());
    for warning in &report.warnings {
        assert!(!warning.message.trim().is_empty() && !warning.code.is_empty(), "{warning:?}");
        assert!(!warning.path.starts_with('/') && !warning.path.contains(".."), "{warning:?}");
    }
    (episodes, report.warnings)
}

/// A sample without damage.
fn whole(root: &Path) -> Whole {
    let with_text = |(key, episode): (Key, Episode)| {
        let found_codes = format!("{episode:?}");
        (key, (episode, found_codes))
    };
    read_all(&Tree::open(root).unwrap()).0.into_iter().map(with_text).collect()
}

/// `None` = the file is gone. Large ones are cut to size by `write_sparse`.
fn damaged(bytes: &[u8], damage: &str) -> Option<Vec<u8>> {
    Some(match damage {
        "cut" => bytes[..bytes.len() / 2].to_vec(),
        "empty" | "large" => Vec::new(),
        "blank" => b" \n ".to_vec(),
        "not UTF-8" => {
            let mut bytes = bytes.to_vec();
            let middle = bytes.len() / 2;
            bytes.splice(middle..middle, [0xff, 0xfe, 0xc0]);
            bytes
        }
        "UTF-16" => [0xff, 0xfe].into_iter().chain(bytes.iter().flat_map(|b| [*b, 0])).collect(),
        "a list" => b"[1, [2], {\"a\": []}]".to_vec(),
        "a text" => b"\"text\"".to_vec(),
        "a number" => b"1e400".to_vec(),
        "null" => b"null".to_vec(),
        "deep" => b"[".repeat(200_000),
        "gone" => return None,
        _ => unreachable!(),
    })
}
