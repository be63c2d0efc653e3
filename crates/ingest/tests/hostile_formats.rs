//! Results of every format with one file damaged in every way: what is wrong is named, everything else arrives.

#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod hostile_kit;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use files::Tree;
use hostile_kit::{ZipEntry, files_of, write_folder, zip};
use ingest::discover::discover;
use ingest::format::Report;
use ingest::import::{ImportError, import};
use model::{Episode, Warning};
use proptest::prelude::*;
use serde_json::Value;
use store::{Store, WarningFilter};

/// Results of one format, and which files of it belong to one episode only.
struct Sample {
    files: Vec<(String, Vec<u8>)>,
    /// The folder or file that holds all of the episode that a path belongs to; `None` = it concerns the whole.
    unit: fn(&str) -> Option<String>,
    /// Whether an episode is read from a unit, by its key and by all that it says.
    touches: fn(&str, &str, &str) -> bool,
    /// Whether the format cannot be told without it.
    telling: fn(&str) -> bool,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

fn harbor() -> Sample {
    let jobs = fixtures().join("harbor/jobs");
    let mut files = files_of(&jobs.join("failures-k1"));
    // Enough to have bystanders: every read of the sample is done some hundred times.
    files.retain(|(path, _)| {
        !path.contains("/artifacts/")
            && (!path.contains('/') || ["v1_", "v2_", "v7_", "v8_"].iter().any(|v| path.contains(v)))
    });
    for (path, bytes) in files_of(&jobs.join("terminus2-mock-priced")) {
        files.push((format!("priced/{path}"), bytes));
    }
    for (path, _) in &mut files {
        if !path.starts_with("priced/") {
            *path = format!("failures/{path}");
        }
    }
    Sample {
        files,
        unit: |path| {
            let parts: Vec<_> = path.split('/').collect();
            (parts.len() > 2).then(|| parts[..2].join("/"))
        },
        // The folder of the trial stands in the paths of the episode's artifacts.
        touches: |_, found_codes, unit| found_codes.contains(unit),
        telling: |_| false,
    }
}

fn evocode() -> Sample {
    Sample {
        files: files_of(&fixtures().join("evocode")),
        unit: |path| path.strip_prefix("tasks/").map(str::to_owned),
        // A task may have an older file beside it.
        touches: |key, _, unit| unit.starts_with(key),
        telling: |path| path == "index.json",
    }
}

fn staminabench() -> Sample {
    let shapes = fixtures().join("staminabench");
    let mut files = Vec::new();
    for shape in ["own", "nested_folders"] {
        files.extend(
            files_of(&shapes.join(shape)).into_iter().map(|(path, bytes)| (format!("{shape}/{path}"), bytes)),
        );
    }
    // What is parsed, and one of what is only pointed at.
    let pointed_at =
        ["/agent_code/", "/ground_truth/", "/test_suites/", "/schemas/", "/server_logs/", "/agent_logs/"];
    files.retain(|(path, _)| {
        !pointed_at[1..].iter().any(|folder| path.contains(folder)) || path.contains("turn_1")
    });
    files.retain(|(path, _)| !path.contains(pointed_at[0]));
    Sample {
        files,
        unit: |path| {
            let parts: Vec<_> = path.split('/').collect();
            (parts.len() > 2).then(|| parts[..2].join("/"))
        },
        touches: |_, found_codes, unit| found_codes.contains(unit),
        telling: |_| false,
    }
}

fn terminal_bench() -> Sample {
    Sample {
        files: files_of(&fixtures().join("terminal_bench/run-a")),
        unit: |path| {
            let parts: Vec<_> = path.split('/').collect();
            (parts.len() > 2).then(|| parts[..2].join("/"))
        },
        touches: |_, found_codes, unit| found_codes.contains(unit),
        // One trial stands in it alone.
        telling: |path| path == "results.json",
    }
}

fn locobench() -> Sample {
    Sample {
        files: files_of(&fixtures().join("locobench/recorded")),
        // Each file is of one agent, whose name the ids of its sessions hold.
        unit: |path| {
            let agents = [
                ("gpt_4_1", "openai-gpt-4.1"),
                ("gpt-4.1", "openai-gpt-4.1"),
                ("gpt_4o", "openai-gpt-4o"),
                ("gpt-4o", "openai-gpt-4o"),
                ("gemini", "google-gemini"),
                ("claude", "anthropic-claude"),
            ];
            agents.iter().find(|(part, _)| path.contains(part)).map(|(_, agent)| (*agent).to_owned())
        },
        touches: |key, _, unit| key.contains(unit),
        telling: |_| false,
    }
}

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
            let survey = place.format.survey(tree, &place.at, &mut report);
            for part in &survey.parts {
                for reading in place.format.read(tree, &place.at, part, &mut report) {
                    let key = (place.at.clone(), reading.run, reading.episode.key.clone());
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

/// `None` = the file is gone. Large ones are cut to size by `write_sparse`.
fn damaged(bytes: &[u8], how: &str) -> Option<Vec<u8>> {
    Some(match how {
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
        for (n, how) in DAMAGES.iter().enumerate() {
            match damaged(bytes, how) {
                Some(damaged) => fs::write(&file, damaged).unwrap(),
                None => fs::remove_file(&file).unwrap(),
            }
            if *how == "large" {
                fs::File::options().write(true).open(&file).unwrap().set_len(2 << 30).unwrap();
            }
            let seen = read_all(&Tree::open(&root).unwrap());
            check(sample, &whole, seen, path, how);
            // The zip takes turns: every file once, and every damage.
            if n == index % DAMAGES.len() && *how != "large" {
                let mut entries = packed.clone();
                match damaged(bytes, how) {
                    Some(damaged) => entries[index] = ZipEntry::stored(path, damaged),
                    None => drop(entries.remove(index)),
                }
                let zipped = temp.path().join("results.zip");
                fs::write(&zipped, zip(&entries)).unwrap();
                check(sample, &whole, read_all(&Tree::open(&zipped).unwrap()), path, how);
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
    how: &str,
) {
    if (sample.telling)(path) {
        return;
    }
    let unit = (sample.unit)(path);
    for (key, (before, found_codes)) in whole {
        let concerned = unit.as_ref().is_none_or(|unit| (sample.touches)(&before.key, found_codes, unit));
        let now = episodes.get(key);
        if concerned && unit.is_none() {
            // Files of the whole may change what is known around an episode, even its run, not whether it arrives.
            let arrives = episodes.keys().any(|now| (&now.0, &now.2) == (&key.0, &key.2));
            assert!(arrives, "{path}, {how}: {key:?} is lost. {warnings:#?}");
        } else if !concerned {
            assert_eq!(now, Some(before), "{path}, {how}: {key:?}");
        }
    }
}

#[test]
fn harbor_jobs_with_one_damaged_file() {
    let sample = harbor();
    one_file_at_a_time(&sample, |path| {
        // One step of a trial of each job, and all files around it.
        let later = ["round-1", "round-3", "round-4"].iter().any(|step| path.contains(step));
        (sample.unit)(path).is_none_or(|unit| !later && (unit.contains("_v1_") || unit.starts_with("priced")))
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
        let later = ["turn_1", "turn_4"].iter().any(|turn| path.contains(turn));
        (sample.unit)(path).is_none_or(|unit| unit.ends_with('0') && !later)
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

/// What must be said when a file of the sample is damaged so.
fn says(sample: &Sample, path: &str, how: &str) -> Vec<String> {
    let temp = tempfile::tempdir().unwrap();
    write_folder(temp.path(), &sample.files);
    let file = temp.path().join(path);
    match damaged(&fs::read(&file).unwrap(), how) {
        Some(damaged) => fs::write(&file, damaged).unwrap(),
        None => fs::remove_file(&file).unwrap(),
    }
    if how == "large" {
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
        for (how, code) in [
            ("cut", "json.truncated"),
            ("empty", "file.empty"),
            ("not UTF-8", "file.not_utf8"),
            ("a text", "json.wrong_type"),
            ("large", "file.too_large"),
        ] {
            let found_codes = says(sample, path, how);
            // What is read as it streams is found to be no JSON before its size matters.
            let streams = how == "large" && found_codes == ["json.malformed"];
            assert!(streams || found_codes.iter().any(|c| c == code), "{path}, {how}: {found_codes:?}");
        }
    }
    let output =
        harbor.files.iter().find(|(p, _)| p.contains("_v1_") && p.ends_with("test-stdout.txt")).unwrap();
    assert_eq!(says(&harbor, &output.0, "not UTF-8"), ["file.not_utf8"]);
    let log = staminabench.files.iter().find(|(p, _)| p.starts_with("own/scenario_0/test_results/")).unwrap();
    assert!(says(&staminabench, &log.0, "not UTF-8").iter().any(|code| code == "file.not_utf8"));
}

/// Everything at once, through the store: the import ends, says what it left out, and does the same again.
#[test]
// docs/security.md: An opened folder or zip
fn a_folder_and_a_zip_full_of_harm_are_imported_all_the_same() {
    let sample = harbor();
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("results");
    write_folder(&root, &sample.files);
    let mut entries: Vec<_> = sample.files.iter().map(|(p, b)| ZipEntry::deflated(p, b)).collect();
    let trials: Vec<_> =
        sample.files.iter().filter_map(|(p, _)| p.strip_suffix("/trial.log")).map(str::to_owned).collect();
    for (trial, how) in trials.iter().zip(["cut", "empty", "not UTF-8", "a list", "large"]) {
        let path = root.join(trial).join("result.json");
        let bytes = damaged(&fs::read(&path).unwrap(), how).unwrap();
        fs::write(&path, &bytes).unwrap();
        let name = format!("{trial}/result.json");
        let entry = entries.iter_mut().find(|e| e.name == name.as_bytes()).unwrap();
        *entry = ZipEntry::stored(name, bytes);
        if how == "large" {
            fs::File::options().write(true).open(&path).unwrap().set_len(2 << 30).unwrap();
            entry.size = u32::MAX - 1;
        }
    }
    std::os::unix::fs::symlink("/etc", root.join("failures/etc")).unwrap();
    std::os::unix::fs::symlink("..", root.join("failures/loop")).unwrap();
    entries.push(ZipEntry::stored("../evil", "x"));
    entries.push(ZipEntry::stored("failures/etc", "/etc").changed(|e| e.mode = 0o120_777));
    entries.push(ZipEntry::stored("failures/result.json", "{}"));
    let zipped = temp.path().join("results.zip");
    fs::write(&zipped, zip(&entries)).unwrap();

    for path in [&root, &zipped] {
        let store = Store::in_memory().unwrap();
        let source = store.put_source(path.to_str().unwrap(), "results", path == &zipped).unwrap();
        let go = || {
            let tree = Tree::open(path).unwrap();
            import(&tree, &store, source, &|_, _| {}, &AtomicBool::new(false)).unwrap()
        };
        let first = go();
        assert_eq!(first.counts.episodes as usize, trials.len());
        let page = store.warnings(source, &WarningFilter::default(), 0, 1000).unwrap();
        let codes: Vec<_> = page.warnings.iter().map(|w| w.code.as_str()).collect();
        for code in ["json.truncated", "file.empty", "file.not_utf8", "json.wrong_type", "link.skipped"] {
            assert!(codes.contains(&code), "{code}: {codes:?}");
        }
        assert!(!codes.contains(&"reader.failed"), "{codes:?}");
        if path == &zipped {
            assert!(codes.contains(&"zip.name") && codes.contains(&"zip.duplicate"), "{codes:?}");
        } else {
            assert!(codes.contains(&"file.too_large"), "{codes:?}");
        }
        let again = go();
        assert_eq!((again.parts_read, again.counts), (0, first.counts));
    }
}

#[test]
fn a_folder_of_nothing_names_every_format() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("notes.md"), "n").unwrap();
    let store = Store::in_memory().unwrap();
    let source = store.put_source("x", "x", false).unwrap();
    let tree = Tree::open(temp.path()).unwrap();
    let error = import(&tree, &store, source, &|_, _| {}, &AtomicBool::new(false)).unwrap_err();
    let ImportError::NotRecognized(seen) = error else { panic!("{error}") };
    assert_eq!((seen.files, seen.folders, seen.depth), (1, 1, 1));
    assert_eq!(seen.formats.len(), ingest::formats::all().len());
    assert!(seen.formats.iter().all(|f| !f.looked_for.is_empty() && f.found == "none"), "{seen:?}");
    assert_eq!(seen.closest, None);
}

/// A value of another type, or an unlikely one of the same.
fn any_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        Just(Value::from(-1)),
        Just(Value::from(u64::MAX)),
        Just(Value::from(i64::MIN)),
        Just(Value::from(1e308)),
        Just(Value::from(0.5)),
        (0_u32..200).prop_map(Value::from),
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        "\\PC{0,8}".prop_map(Value::from),
        Just(Value::from("2026-99-99T99:99:99Z")),
        Just(serde_json::json!([])),
        Just(serde_json::json!({})),
        Just(serde_json::json!([null, [[]], {"a": {}}])),
        Just(serde_json::json!({"": 1, "a": [1, "x"]})),
    ]
}

#[derive(Debug, Clone)]
enum Mutation {
    Truncate(prop::sample::Index),
    Flip(Vec<(prop::sample::Index, u8)>),
    /// Other values at some places of the JSON.
    Values(Vec<(prop::sample::Index, Value)>),
    Gone,
}

fn any_mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        1 => index().prop_map(Mutation::Truncate),
        2 => prop::collection::vec((index(), any::<u8>()), 1..8).prop_map(Mutation::Flip),
        5 => prop::collection::vec((index(), any_value()), 1..4).prop_map(Mutation::Values),
        1 => Just(Mutation::Gone),
    ]
}

fn count_values(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count_values).sum(),
        Value::Object(map) => map.values().map(count_values).sum(),
        _ => 0,
    }
}

fn replace_value(value: &mut Value, index: &mut usize, new: &Value) {
    if *index == 0 {
        *value = new.clone();
    }
    let Some(left) = index.checked_sub(1) else {
        *index = usize::MAX;
        return;
    };
    *index = left;
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| replace_value(value, index, new)),
        Value::Object(map) => map.values_mut().for_each(|value| replace_value(value, index, new)),
        _ => {}
    }
}

fn mutate(bytes: &[u8], mutation: &Mutation) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    match mutation {
        Mutation::Gone => return None,
        Mutation::Truncate(at) => bytes.truncate(at.index(bytes.len() + 1)),
        Mutation::Flip(flips) if !bytes.is_empty() => {
            for (at, value) in flips {
                let at = at.index(bytes.len());
                bytes[at] = *value;
            }
        }
        Mutation::Flip(_) => {}
        Mutation::Values(changes) => {
            if let Ok(mut json) = serde_json::from_slice::<Value>(&bytes) {
                for (at, new) in changes {
                    let mut index = at.index(count_values(&json));
                    replace_value(&mut json, &mut index, new);
                }
                bytes = serde_json::to_vec(&json).unwrap();
            } else {
                let line = bytes.split(|b| *b == b'\n').count();
                for (at, new) in changes {
                    let n = at.index(line);
                    let mut lines: Vec<_> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
                    if let Some(line) = lines.get_mut(n) {
                        *line = new.to_string().into_bytes();
                    }
                    bytes = lines.join(&b'\n');
                }
            }
        }
    }
    Some(bytes)
}

fn mutated(sample: &Sample, choices: &[(prop::sample::Index, Mutation)]) {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("results");
    write_folder(&root, &sample.files);
    let whole = whole(&root);
    let mut units = Vec::new();
    for (index, mutation) in choices {
        let (path, bytes) = &sample.files[index.index(sample.files.len())];
        match mutate(bytes, mutation) {
            Some(bytes) => fs::write(root.join(path), bytes).unwrap(),
            None => {
                let _ = fs::remove_file(root.join(path));
            }
        }
        units.push((sample.unit)(path));
    }
    let (episodes, _) = read_all(&Tree::open(&root).unwrap());
    if units.iter().any(Option::is_none) {
        return;
    }
    for (key, (before, found_codes)) in &whole {
        if !units.iter().flatten().any(|unit| (sample.touches)(&before.key, found_codes, unit)) {
            assert_eq!(episodes.get(key), Some(before), "{key:?}");
        }
    }
}

fn choices() -> impl Strategy<Value = Vec<(prop::sample::Index, Mutation)>> {
    prop::collection::vec((any::<prop::sample::Index>(), any_mutation()), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 8,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn mutated_harbor_jobs_cost_only_what_was_mutated(choices in choices()) {
        mutated(&harbor(), &choices);
    }

    #[test]
    fn mutated_staminabench_folders_cost_only_what_was_mutated(choices in choices()) {
        mutated(&staminabench(), &choices);
    }

    #[test]
    fn mutated_runs_of_tb_cost_only_what_was_mutated(choices in choices()) {
        mutated(&terminal_bench(), &choices);
    }

    #[test]
    fn mutated_sessions_of_locobench_cost_only_what_was_mutated(choices in choices()) {
        mutated(&locobench(), &choices);
    }

    #[test]
    fn mutated_published_results_cost_only_what_was_mutated(choices in choices()) {
        mutated(&evocode(), &choices);
    }
}
