//! One file at a time is damaged, in every way.

use std::collections::BTreeMap;
use std::fs;

use files::Tree;
use model::{Episode, Warning};

use crate::hostile_formats::samples::{Sample, evocode, harbor, locobench, staminabench, terminal_bench};
use crate::hostile_formats::{Key, Whole, damaged, read_all, whole};
use crate::hostile_kit::{ZipEntry, write_folder, zip};

const DAMAGES: &[&str] = &[
    "cut",
    "empty",
    "blank",
    "not UTF-8",
    "UTF-16",
    "a list",
    "a text",
    "a number",
    "null",
    "deep",
    "large",
    "gone",
];

/// What is JSON of another kind. In the place of a file that is no JSON each of these is a text as any other: `a list` stands for them.
const OTHER_JSON: &[&str] = &["a text", "a number", "null"];

/// Whether a damage shows with a file what no other damage does.
fn is_shown(path: &str, damage: &str) -> bool {
    let is_json = [".json", ".jsonl", ".yaml", ".yml", ".toml"].iter().any(|ending| path.ends_with(ending));
    is_json || !OTHER_JSON.contains(&damage) || std::env::var_os("STAMINA_EVERY_WAY").is_some()
}

/// Damages one file after another in a folder that is otherwise whole, and in a zip.
fn one_file_at_a_time(sample: &Sample, victims: impl Fn(&str) -> bool) {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("results");
    write_folder(&root, &sample.files);
    let whole = whole(&root);
    assert!(!whole.is_empty());
    let packed: Vec<_> = sample.files.iter().map(|(path, bytes)| ZipEntry::stored(path, bytes)).collect();
    for (index, (path, bytes)) in sample.files.iter().enumerate() {
        if !victims(path) {
            continue;
        }
        let file = root.join(path);
        for (n, damage) in DAMAGES.iter().enumerate().filter(|(_, damage)| is_shown(path, damage)) {
            match damaged(bytes, damage) {
                Some(damaged) => fs::write(&file, damaged).unwrap(),
                None => fs::remove_file(&file).unwrap(),
            }
            if *damage == "large" {
                fs::File::options().write(true).open(&file).unwrap().set_len(2 << 30).unwrap();
            }
            let readings = read_all(&Tree::open(&root).unwrap());
            check(sample, &whole, readings, path, damage);
            // The zip takes turns: every file once, and every damage.
            if n == index % DAMAGES.len() && *damage != "large" {
                let mut entries = packed.clone();
                match damaged(bytes, damage) {
                    Some(damaged) => entries[index] = ZipEntry::stored(path, damaged),
                    None => drop(entries.remove(index)),
                }
                let zipped = temp.path().join("results.zip");
                fs::write(&zipped, zip(&entries)).unwrap();
                check(sample, &whole, read_all(&Tree::open(&zipped).unwrap()), path, damage);
            }
        }
        let mut wrong = packed.clone();
        wrong[index].crc ^= 1;
        let zipped = temp.path().join("results.zip");
        fs::write(&zipped, zip(&wrong)).unwrap();
        check(sample, &whole, read_all(&Tree::open(&zipped).unwrap()), path, "a wrong CRC");
        fs::write(&file, bytes).unwrap();
    }
}

fn check(
    sample: &Sample,
    whole: &Whole,
    (episodes, warnings): (BTreeMap<Key, Episode>, Vec<Warning>),
    path: &str,
    damage: &str,
) {
    if (sample.is_required)(path) {
        return;
    }
    let unit = (sample.unit)(path);
    for (key, (before, found_codes)) in whole {
        let concerned = unit.as_ref().is_none_or(|unit| (sample.touches)(&before.key, found_codes, unit));
        let current = episodes.get(key);
        if concerned && unit.is_none() {
            // Files of the whole may change what is known around an episode, even its run, not whether it arrives.
            let is_elsewhere = episodes.keys().any(|current| (&current.0, &current.2) == (&key.0, &key.2));
            assert!(is_elsewhere, "{path}, {damage}: {key:?} is lost. {warnings:#?}");
        } else if !concerned {
            assert_eq!(current, Some(before), "{path}, {damage}: {key:?}");
        }
    }
}

#[test]
fn harbor_jobs_with_one_damaged_file() {
    let sample = harbor();
    one_file_at_a_time(&sample, |path| {
        // One step of a trial of each job, and all files around it.
        let is_later = ["round-1", "round-3", "round-4"].iter().any(|step| path.contains(step));
        (sample.unit)(path)
            .is_none_or(|unit| !is_later && (unit.contains("_v1_") || unit.starts_with("priced")))
    });
}

#[test]
fn published_results_with_one_damaged_file() {
    one_file_at_a_time(&evocode(), |_| true);
}

#[test]
fn staminabench_folders_with_one_damaged_file() {
    let sample = staminabench();
    one_file_at_a_time(&sample, |path| {
        let is_later = ["turn_1", "turn_4"].iter().any(|turn| path.contains(turn));
        (sample.unit)(path).is_none_or(|unit| unit.ends_with('0') && !is_later)
    });
}

#[test]
fn runs_of_tb_with_one_damaged_file() {
    one_file_at_a_time(&terminal_bench(), |path| !path.contains("/episode-") && !path.contains("task-b"));
}

#[test]
fn sessions_of_locobench_with_one_damaged_file() {
    one_file_at_a_time(&locobench(), |_| true);
}

/// What must be reported when a file of the sample is damaged so.
fn codes_of_damage(sample: &Sample, path: &str, damage: &str) -> Vec<String> {
    let temp = tempfile::tempdir().unwrap();
    write_folder(temp.path(), &sample.files);
    let file = temp.path().join(path);
    match damaged(&fs::read(&file).unwrap(), damage) {
        Some(damaged) => fs::write(&file, damaged).unwrap(),
        None => fs::remove_file(&file).unwrap(),
    }
    if damage == "large" {
        fs::File::options().write(true).open(&file).unwrap().set_len(2 << 30).unwrap();
    }
    let (_, warnings) = read_all(&Tree::open(temp.path()).unwrap());
    warnings.into_iter().filter(|w| w.path == path).map(|w| w.code).collect()
}

#[test]
fn each_damage_is_named_where_it_is() {
    let harbor = harbor();
    let trial = harbor
        .files
        .iter()
        .find(|(p, _)| p.contains("_v1_") && p.ends_with("/result.json"))
        .unwrap()
        .0
        .clone();
    let trajectory = harbor.files.iter().find(|(p, _)| p.ends_with("trajectory.json")).unwrap().0.clone();
    let config = trial.replace("/result.json", "/config.json");
    let (evocode, staminabench) = (evocode(), staminabench());
    let cases = [
        (&harbor, trial.as_str()),
        (&harbor, "failures/result.json"),
        (&harbor, trajectory.as_str()),
        (&harbor, config.as_str()),
        (&evocode, "tasks/task_one.json"),
        (&staminabench, "own/report.json"),
        (&staminabench, "own/scenario_0/trajectory.json"),
        (&staminabench, "nested_folders/scenario-0/trajectory.json"),
    ];
    for (sample, path) in cases {
        for (damage, code) in [
            ("cut", "json.truncated"),
            ("empty", "file.empty"),
            ("not UTF-8", "file.not_utf8"),
            ("a text", "json.wrong_type"),
            ("large", "file.too_large"),
        ] {
            let found_codes = codes_of_damage(sample, path, damage);
            // What is read as it streams is found to be no JSON before its size matters.
            let streams = damage == "large" && found_codes == ["json.malformed"];
            assert!(streams || found_codes.iter().any(|c| c == code), "{path}, {damage}: {found_codes:?}");
        }
    }
    let output =
        harbor.files.iter().find(|(p, _)| p.contains("_v1_") && p.ends_with("test-stdout.txt")).unwrap();
    assert_eq!(codes_of_damage(&harbor, &output.0, "not UTF-8"), ["file.not_utf8"]);
    let log = staminabench.files.iter().find(|(p, _)| p.starts_with("own/scenario_0/test_results/")).unwrap();
    assert!(codes_of_damage(&staminabench, &log.0, "not UTF-8").iter().any(|code| code == "file.not_utf8"));
}
