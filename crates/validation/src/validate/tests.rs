use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use scenario::config::Generation;
use scenario::pack::{self, Pack, PackError, Target};
use scenario::sample::ProgrammaticSampler;

use super::*;

fn pack(turns: u32) -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("pack");
    let generation = Generation { n_scenarios: 2, n_turns: turns, base_seed: 3, ..Generation::default() };
    pack::generate(
        &generation,
        &ProgrammaticSampler,
        &Target::from_path(&path),
        &pack::Options::default(),
        &|_| {},
        &AtomicBool::new(false),
    )
    .expect("it is generated");
    (temp, path)
}

fn validate_pack(path: &Path, change: impl FnOnce(&mut Options)) -> Result<Report, PackError> {
    let pack = Pack::open_path(path).expect("it is a pack");
    let mut options = Options::all(&pack.manifest().config);
    change(&mut options);
    validate(&pack, &options, &|_| {}, &AtomicBool::new(false))
}

#[test]
fn a_generated_pack_is_sound_and_not_vacuous_and_notices_mutants() {
    let (_temp, path) = pack(3);
    let report = validate_pack(&path, |_| {}).expect("it is read");
    assert_eq!((report.scenarios, report.turns), (2, 3));
    assert_eq!((&report.failures, &report.unstated, &report.vacuous), (&vec![], &vec![], &vec![]));
    assert!(report.hashes_ok && report.mismatches.is_empty());
    assert!(report.mutants > 100 && report.operators.len() >= 25, "{:?}", report.operators);
    assert_eq!(report.survivors.len() as u64, report.mutants - report.killed);
    assert!(report.operators.contains_key("change_left_out"));
    let sum = |count: fn(&Operator) -> u64| report.operators.values().map(count).sum::<u64>();
    assert_eq!((sum(|o| o.mutants), sum(|o| o.killed)), (report.mutants, report.killed));
}

/// Packs that earlier versions wrote.
#[test]
fn packs_of_earlier_versions_are_validated_with_their_own_words() {
    for file in ["stamina-pack-3.zip", "stamina-pack-4.zip", "stamina-pack-5.zip", "stamina-pack-6.zip"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenario/tests/packs").join(file);
        let report = validate_pack(&path, |options| options.mutants = 0).expect("it is read");
        let faults = (report.reference_failures, report.unstated_demands, report.vacuous_turns);
        assert_eq!(faults, (0, 0, 0), "{file}");
    }
}

#[test]
fn a_report_does_not_depend_on_threads_or_on_other_scenarios() {
    let (_temp, path) = pack(2);
    let all = validate_pack(&path, |options| options.threads = NonZero::new(1)).expect("it is read");
    assert_eq!(validate_pack(&path, |options| options.threads = NonZero::new(2)).expect("it is read"), all);
    let part =
        |scenario| validate_pack(&path, |options| options.scenarios = vec![scenario]).expect("it is read");
    assert_eq!(part(0).mutants + part(1).mutants, all.mutants);
}

#[test]
fn a_demand_that_no_text_states_is_found() {
    let (_temp, path) = pack(2);
    let suite = path.join("scenario_0/test_suites/turn_2.json");
    let text = std::fs::read_to_string(&suite).expect("a text");
    std::fs::write(&suite, text.replacen("[\"equal\",\"/", "[\"equal\",\"/made_up_", 1))
        .expect("it is written");
    let specification = path.join("scenario_1/specs/turn_1.md");
    let text = std::fs::read_to_string(&specification).expect("a text");
    std::fs::write(&specification, text.replacen("/reset", "/restart", 1)).expect("it is written");
    let report = validate_pack(&path, |options| options.mutants = 0).expect("it is read");
    let found: Vec<(u32, u32, &str)> =
        report.unstated.iter().map(|found| (found.scenario, found.turn, found.what.as_str())).collect();
    assert_eq!(found.len() as u64, report.unstated_demands);
    assert!(found[0].0 == 0 && found[0].1 == 2 && found[0].2.contains("made_up_"), "{found:?}");
    assert!(
        found[1..].iter().all(|mismatch| *mismatch == (1, 1, "the specification does not have this clause")),
        "{found:?}"
    );
    assert!(found.len() > 1 && !report.is_good());
}

#[test]
fn a_suite_that_demands_too_much_or_too_little_is_found() {
    let (_temp, path) = pack(2);
    let file = path.join("scenario_1/test_suites/turn_2.json");
    let text = std::fs::read_to_string(&file).expect("a text");
    let broken = text.replacen("\"status\":20", "\"status\":29", 1);
    std::fs::write(&file, broken).expect("it is written");
    let report = validate_pack(&path, |options| options.mutants = 0).expect("it is read");
    assert!(report.reference_failures > 0 && !report.is_good());
    assert_eq!((report.failures[0].scenario, report.failures[0].turn), (1, 2));
    assert!(!report.failures[0].message.is_empty());
    assert_eq!(report.mismatches.iter().map(|m| m.at.as_str()).collect::<Vec<_>>(), ["scenario_1, turn 2"]);

    // Every server passes a suite of only the first case.
    let lines: Vec<&str> = text.lines().collect();
    let cases = lines.iter().position(|line| line.starts_with("\"cases\"")).expect("the cases");
    let only = lines[cases + 1].trim_end_matches(',');
    let thin = format!("{}\n{only}\n]}}\n", lines[..=cases].join("\n"));
    std::fs::write(&file, thin).expect("it is written");
    let report = validate_pack(&path, |options| options.scenarios = vec![1]).expect("it is read");
    assert_eq!(report.vacuous, [VacuousTurn { scenario: 1, turn: 2 }]);
    assert!(report.killed * 100 < report.mutants * LEAST_DETECTED_PERCENT && !report.survivors.is_empty());
    assert!(report.survivors.iter().any(|survivor| survivor.turn == 2));
    assert!(report.survivors.iter().all(|survivor| !survivor.reason.is_empty()));
    assert!(!report.is_good());
}

#[test]
fn a_validation_is_stopped_and_names_what_the_pack_does_not_have() {
    let (_temp, path) = pack(1);
    let opened = Pack::open_path(&path).expect("it is a pack");
    let options = Options::all(&opened.manifest().config);
    let stopped = validate(&opened, &options, &|_| {}, &AtomicBool::new(true));
    assert!(matches!(stopped, Err(PackError::Cancelled)));
    let nowhere = validate_pack(&path, |options| options.turns = vec![2]);
    assert!(matches!(nowhere, Err(PackError::NoSuch(_))));
}

#[test]
fn a_report_about_nothing_is_not_good() {
    let (_temp, path) = pack(1);
    let good = |report: Result<Report, PackError>| report.expect("it is read").is_good();
    assert!(good(validate_pack(&path, |options| options.mutants = 0)));
    assert!(!good(validate_pack(&path, |options| options.scenarios.clear())));
    assert!(!good(validate_pack(&path, |options| options.turns.clear())));
    assert!(!Report { hashes_ok: true, ..Report::default() }.is_good());
}

#[test]
fn an_error_in_one_scenario_is_reported_though_another_is_stopped_by_it() {
    let (_temp, path) = pack(3);
    let change = |options: &mut Options| {
        options.threads = NonZero::new(2);
        options.scenarios = vec![0, 2];
    };
    assert!(matches!(validate_pack(&path, change), Err(PackError::NoSuch(_))));
}

#[test]
fn it_is_stopped_within_a_scenario() {
    let (_temp, path) = pack(1);
    let opened = Pack::open_path(&path).expect("it is a pack");
    let calls = std::cell::Cell::new(0);
    let stop = || {
        calls.set(calls.get() + 1);
        calls.get() > 3
    };
    let schema = std::sync::Arc::new(opened.schema(0, 1).expect("a schema"));
    let mut suite = opened.suite(0, 1).expect("a suite");
    let mut report = Report::default();
    let seed = scenario::Seed { base: 3, scenario: 0 };
    super::sensitive::check_sensitive(seed, None, &schema, &mut suite, 1, &stop, &mut report);
    assert_eq!(report.mutants, 3);
    std::fs::remove_dir_all(path.join("scenario_0")).expect("it is removed");
    let opened = Pack::open_path(&path).expect("it is a pack");
    assert!(!opened.verify_scenario(0, &|| false).is_empty());
    assert!(opened.verify_scenario(0, &|| true).is_empty());
}

/// The mismatches at a place.
fn mismatches_at<'r>(report: &'r Report, place: &str) -> Vec<&'r str> {
    report.mismatches.iter().filter(|m| m.at == place).map(|m| m.what.as_str()).collect()
}

#[test]
fn a_damaged_file_is_reported_and_validation_continues() {
    let (_temp, path) = pack(5);
    let suite = path.join("scenario_0/test_suites/turn_3.json");
    let text = std::fs::read_to_string(&suite).expect("a text");
    let whole = validate_pack(&path, |options| options.mutants = 0).expect("it is read");
    assert!(whole.is_good());

    std::fs::remove_file(&suite).expect("it is removed");
    let report =
        validate_pack(&path, |options| options.threads = NonZero::new(2)).expect("there is a report");
    assert!(!report.is_good() && !report.hashes_ok);
    assert_eq!(report.mismatches.len(), 1, "{:?}", report.mismatches);
    let messages = mismatches_at(&report, "scenario_0/test_suites/turn_3.json");
    // Suites of later turns have cases from this file.
    assert_eq!(messages, ["There is no such file. Turns 3-5 could not be checked in full"]);
    assert_eq!((report.reference_failures, report.unstated_demands, report.vacuous_turns), (0, 0, 0));
    assert!(report.mutants > 100, "the other turns are looked at");

    // A cut file is named itself, and not the files that refer to it.
    std::fs::write(&suite, &text[..text.len() / 2]).expect("it is written");
    let report = validate_pack(&path, |options| options.mutants = 0).expect("there is a report");
    let places: Vec<&str> = report.mismatches.iter().map(|m| m.at.as_str()).collect();
    assert_eq!(places, ["scenario_0, turn 3", "scenario_0/test_suites/turn_3.json"]);
    assert!(report.mismatches[1].what.contains("cut short"), "{:?}", report.mismatches);
    std::fs::write(&suite, &text).expect("it is written");

    let schema = path.join("scenario_1/schemas/turn_2.yaml");
    let text = std::fs::read_to_string(&schema).expect("a text");
    std::fs::write(&schema, &text[..text.len() / 2]).expect("it is written");
    for part in ["specs/turn_5.md", "changes/turn_4.md", "changes/turn_5.yaml"] {
        std::fs::remove_file(path.join("scenario_1").join(part)).expect("it is removed");
    }
    let report = validate_pack(&path, |options| options.mutants = 1).expect("there is a report");
    assert!(!report.is_good());
    let messages = mismatches_at(&report, "scenario_1/schemas/turn_2.yaml");
    // The turn after it needs it.
    assert!(
        messages.len() == 1 && messages[0].ends_with(". Turns 2-3 could not be checked in full"),
        "{messages:?}"
    );
    for (part, turn) in [("specs/turn_5.md", 5), ("changes/turn_4.md", 4), ("changes/turn_5.yaml", 5)] {
        let expected = format!("There is no such file. Turn {turn} could not be checked in full");
        assert_eq!(mismatches_at(&report, &format!("scenario_1/{part}")), [expected]);
    }
    // Checks without the missing file run, and have no false findings.
    assert_eq!((report.reference_failures, report.unstated_demands, report.vacuous_turns), (0, 0, 0));
}

#[test]
fn files_of_pytest_are_no_content_and_other_files_are() {
    let (_temp, path) = pack(1);
    for left in ["__pycache__", ".pytest_cache"] {
        let folder = path.join("scenario_0/test_suites").join(left);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("CACHEDIR.TAG"), "x").expect("it is written");
    }
    let report_of = || validate_pack(&path, |options| options.mutants = 0).expect("there is a report");
    assert!(report_of().is_good(), "{:?}", report_of().mismatches);
    std::fs::create_dir(path.join("scenario_0/schemas/__pycache__")).expect("a folder");
    std::fs::write(path.join("scenario_1/test_suites/__pycache__"), "no folder").expect("it is written");
    let places: Vec<String> = report_of().mismatches.into_iter().map(|m| m.at).collect();
    assert_eq!(places, ["scenario_0/schemas/__pycache__", "scenario_1/test_suites/__pycache__"]);
}

/// A zip of the files of a folder, and of at most two entries with invalid names (which replace other names, because a writer
/// of zips would refuse them).
fn zip_with(folder: &Path, names: &[&str]) -> PathBuf {
    let zip_path = folder.with_extension("zip");
    let (mut packer, mut zip) = (files::Packer::new(1), files::ZipWriter::new(Vec::new()));
    let mut files: Vec<(String, Vec<u8>)> = names
        .iter()
        .zip(["#", "%"])
        .map(|(name, mark)| (mark.repeat(name.len()), b"mine".to_vec()))
        .collect();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(inner).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below").to_str().expect("UTF-8").to_owned();
                files.push((name, std::fs::read(&path).expect("a file")));
            }
        }
    }
    for (name, bytes) in files {
        zip.pack(&name, &bytes, &mut packer).expect("it is packed");
    }
    let mut bytes = zip.finish().expect("a zip");
    for (name, mark) in names.iter().zip(["#", "%"]) {
        let placeholder = mark.repeat(name.len()).into_bytes();
        let places: Vec<usize> = bytes
            .windows(name.len())
            .enumerate()
            .filter_map(|(index, window)| (window == placeholder).then_some(index))
            .collect();
        for index in places {
            bytes[index..index + name.len()].copy_from_slice(name.as_bytes());
        }
    }
    std::fs::write(&zip_path, bytes).expect("it is written");
    zip_path
}

#[test]
fn unsafe_entries_of_a_zip_are_reported() {
    let (_temp, path) = pack(1);
    let report_of =
        |path: &Path| validate_pack(path, |options| options.mutants = 0).expect("there is a report");
    assert!(report_of(&zip_with(&path, &[])).is_good());
    let report = report_of(&zip_with(&path, &["../evil_of_a_zip.txt", "/etc/an_absolute_name"]));
    assert!(!report.is_good() && !report.hashes_ok);
    let places: Vec<&str> = report.mismatches.iter().map(|m| m.at.as_str()).collect();
    assert_eq!(places, ["../evil_of_a_zip.txt", "/etc/an_absolute_name"]);
    assert!(report.mismatches.iter().all(|m| m.what.contains("left out")), "{:?}", report.mismatches);
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_a_file_is_reported_once() {
    let (_temp, path) = pack(1);
    let schema = path.join("scenario_0/schemas/turn_1.yaml");
    std::fs::rename(&schema, path.join("elsewhere")).expect("it is moved");
    std::os::unix::fs::symlink("../../elsewhere", &schema).expect("a link");
    let report = validate_pack(&path, |options| options.mutants = 0).expect("there is a report");
    let messages = mismatches_at(&report, "scenario_0/schemas/turn_1.yaml");
    assert!(messages.len() == 1 && messages[0].contains("link"), "{:?}", report.mismatches);
}
