//! JSON as other programs write it, in every file of every format: what is no strict JSON costs itself and nothing else.

#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use files::Tree;
use ingest::discover::discover;
use ingest::format_trait::Report;
use model::{Episode, Warning};
use proptest::prelude::*;

use crate::hostile_kit::{files_of, write_folder};

type Files = Vec<(String, Vec<u8>)>;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

fn samples() -> [Files; 4] {
    let jobs = fixtures().join("harbor/jobs");
    let mut harbor = files_of(&jobs.join("failures-k1"));
    harbor.retain(|(path, _)| !path.contains('/') || ["v1_", "v2_"].iter().any(|v| path.contains(v)));
    [
        harbor,
        files_of(&jobs.join("terminus2-mock-priced")),
        files_of(&fixtures().join("evocode")),
        files_of(&fixtures().join("staminabench/own")),
    ]
}

/// Episodes by run and key, the runs' own figures, and warnings.
type Read = (BTreeMap<(String, String), Episode>, Vec<String>, Vec<Warning>);

fn read(root: &Path) -> Read {
    let tree = Tree::open(root).unwrap();
    let (mut report, mut episodes, mut runs) = (Report::default(), BTreeMap::new(), Vec::new());
    for place in discover(&tree).unwrap().places {
        let survey = place.format.survey(&tree, &place.folder, &mut report);
        runs.extend(
            survey.runs.iter().map(|r| format!("{} {:?} {:?}", r.key, r.planned_episodes, r.reported)),
        );
        for part in &survey.parts {
            for reading in place.format.read(&tree, &place.folder, part, &mut report) {
                let mut episode = reading.episode;
                // What was added must not matter, but may be kept.
                episode.extra.remove("zz_note");
                for turn in &mut episode.turns {
                    turn.extra.remove("zz_note");
                    turn.attempts.iter_mut().for_each(|attempt| drop(attempt.extra.remove("zz_note")));
                }
                episodes.insert((reading.run, episode.key.clone()), episode);
            }
        }
    }
    report.warnings.extend(tree.warnings());
    (episodes, runs, report.warnings)
}

/// Ways to write the same, and whether strict JSON has them.
const WAYS: [(&str, bool); 8] = [
    ("byte order mark", true),
    ("CRLF", true),
    ("NaN", false),
    ("-Infinity", false),
    ("beyond 64 bits", false),
    ("beyond a float", false),
    ("half", false),
    ("twice", false),
];

fn spoiled(text: &str, way: &str) -> String {
    let with_value = |value: &str| {
        let end = text.rfind('}').unwrap();
        format!("{}, \"zz_note\": {value}{}", text[..end].trim_end(), &text[end..])
    };
    match way {
        "byte order mark" => format!("\u{feff}{text}"),
        "CRLF" => text.replace('\n', "\r\n"),
        "NaN" | "-Infinity" => with_value(way),
        "beyond 64 bits" => with_value("-123456789012345678901234567890"),
        "beyond a float" => with_value("1e999"),
        "half" => with_value("\"\\ud83d\""),
        // The first name of the file, with another value before.
        "twice" => {
            let start = text.find('{').unwrap() + 1;
            let (name, _) = text[start..].split_once(':').unwrap();
            format!("{}{}: NaN,{}", &text[..start], name, &text[start..])
        }
        _ => unreachable!(),
    }
}

fn is_json(path: &str, bytes: &[u8]) -> bool {
    path.ends_with(".json") && bytes.trim_ascii_start().starts_with(b"{") && bytes.trim_ascii_end().len() > 2
}

#[test]
fn every_file_may_be_written_so() {
    for files in samples() {
        let temp = tempfile::tempdir().unwrap();
        write_folder(&temp.path().join("r"), &files);
        let whole = read(&temp.path().join("r"));
        assert!(!whole.0.is_empty());
        for (way, strict) in WAYS {
            let mut spoiled_files = files.clone();
            for (path, bytes) in &mut spoiled_files {
                if is_json(path, bytes) {
                    *bytes = spoiled(std::str::from_utf8(bytes).unwrap(), way).into_bytes();
                }
            }
            let temp = tempfile::tempdir().unwrap();
            write_folder(&temp.path().join("r"), &spoiled_files);
            let (episodes, runs, warnings) = read(&temp.path().join("r"));
            assert_eq!(episodes, whole.0, "{way}");
            assert_eq!(runs, whole.1, "{way}");
            let warned = warnings.iter().filter(|w| w.code == "json.not_strict").count();
            assert_eq!(warned == 0, strict, "{way}: {warned}");
            let others = |w: &&Warning| w.code != "json.not_strict";
            let (before, after) = (whole.2.iter().filter(others), warnings.iter().filter(others));
            assert_eq!(after.collect::<Vec<_>>(), before.collect::<Vec<_>>(), "{way}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 5))]

    #[test]
    fn one_file_in_one_way_costs_nothing_else(
        sample in 0_usize..4,
        file in any::<prop::sample::Index>(),
        way in prop::sample::select(WAYS.to_vec()),
    ) {
        let files = samples().into_iter().nth(sample).unwrap();
        let json: Vec<usize> = files.iter().enumerate().filter(|(_, (p, b))| is_json(p, b)).map(|(i, _)| i).collect();
        let (path, bytes) = &files[json[file.index(json.len())]];
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("r");
        write_folder(&root, &files);
        let whole = read(&root);
        fs::write(root.join(path), spoiled(std::str::from_utf8(bytes).unwrap(), way.0)).unwrap();
        let reading = read(&root);
        prop_assert_eq!(reading.0, whole.0, "{} {}", path, way.0);
        prop_assert_eq!(reading.1, whole.1, "{} {}", path, way.0);
    }
}
