//! What people and their tools do to results folders on the way changes no number: other names, files that do not belong,
//! line ends, byte order marks, fields that no other parser takes, zips, copies of trials and of runs, another order of files.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod library;

use std::fs;
use std::path::{Path, PathBuf};

use library::{Library, repository};
use model::Tokens;
use proptest::prelude::*;
use test_folders::copy;
use workbench::api::{
    CompareRequest, ListRuns, MatrixCell, MatrixRequest, Member, RunRef, RunRow, SourceRef, SurvivalTable,
};

/// What is read, below tests/fixtures, and whether it is Harbor's: its names of folders mean nothing.
const INPUTS: [(&str, bool); 24] = [
    ("harbor/jobs/failures-k1", true),
    ("harbor/jobs/interrupted", true),
    ("harbor/jobs/nop-k1", true),
    ("harbor/jobs/oracle-k2", true),
    ("harbor/jobs/terminus2-mock-priced", true),
    ("world/cache-beside", true),
    ("world/cancelled", true),
    ("world/docker-words", true),
    ("world/mean-note", true),
    ("world/mean-of-fewer", true),
    ("world/mean-unexplained", true),
    ("world/never-at-risk", true),
    ("world/null-reward", true),
    ("world/set-order", true),
    ("world/steps-unknown", true),
    ("world/sweep-no-cases", false),
    ("evocode", false),
    ("staminabench/flat_records", false),
    ("staminabench/nested_folders", false),
    ("staminabench/own", false),
    ("staminabench/turns_from_zero", false),
    ("terminal_bench/run-a", false),
    ("locobench/recorded", false),
    ("table", false),
];

/// What happens to a folder before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Trials have other names, in another order.
    OtherNames,
    /// Files that belong to nothing lie beside the results.
    StrangeFiles,
    /// A program for Windows wrote the line ends.
    LineEnds,
    /// JSON begins with a byte order mark.
    ByteOrderMark,
    /// A field that nobody reads is no number.
    NotANumber,
    /// A trial was copied by hand.
    CopiedTrial,
    /// Times that have a zone are written in another one.
    OtherZone,
    /// Its files were made in another order, as a program that copies or unpacks them may.
    MadeInOtherOrder,
    /// It was zipped, the last file first.
    ZippedBackwards,
    /// It was zipped.
    Zipped,
}

const CHANGES: [Change; 10] = [
    Change::OtherNames,
    Change::StrangeFiles,
    Change::LineEnds,
    Change::ByteOrderMark,
    Change::NotANumber,
    Change::CopiedTrial,
    Change::OtherZone,
    Change::MadeInOtherOrder,
    Change::ZippedBackwards,
    Change::Zipped,
];

fn every_file(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { every_file(&path, found) } else { found.push(path) }
    }
}

/// Zips what python's module does, in this order of names.
const ZIP: &str = "import os, sys, zipfile\n\
    target, folder, backwards = sys.argv[1:]\n\
    paths = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]\n\
    with zipfile.ZipFile(target, 'w', zipfile.ZIP_DEFLATED) as file:\n\
    \x20   for path in sorted(paths, reverse=backwards == 'yes'):\n\
    \x20       file.write(path, os.path.relpath(path, os.path.dirname(folder)))\n";

fn zipped(folder: &Path, backwards: &str) -> PathBuf {
    let zip = folder.with_extension("zip");
    let made = std::process::Command::new("python3")
        .args(["-c", ZIP])
        .arg(&zip)
        .arg(folder)
        .arg(backwards)
        .status()
        .expect("python3");
    assert!(made.success());
    zip
}

/// Makes all files and folders again, the last one first.
fn make_in_other_order(folder: &Path) {
    let aside = folder.with_extension("aside");
    fs::rename(folder, &aside).unwrap();
    let mut files = Vec::new();
    every_file(&aside, &mut files);
    files.sort_by(|a, b| b.cmp(a));
    for file in files {
        let target = folder.join(file.strip_prefix(&aside).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&file, target).unwrap();
    }
    fs::remove_dir_all(aside).unwrap();
}

/// The folders of trials of a run of `tb`.
fn trials_of_tb(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    every_file(folder, &mut files);
    let mut trials: Vec<PathBuf> = (files.into_iter())
        .filter(|file| file.ends_with("results.json"))
        .filter_map(|file| file.parent().map(Path::to_path_buf))
        .filter(|trial| trial.as_path() != folder)
        .collect();
    trials.sort();
    trials
}

/// Adds a field that nobody reads, and whose values are no numbers, to the first object of a JSON text.
fn with_a_strange_field(text: &str) -> String {
    match text.find('{').map(|at| text.split_at(at + 1)) {
        Some((head, rest))
            if head
                .trim_start_matches('\u{feff}')
                .split_whitespace()
                .all(|word| matches!(word, "{" | "["))
                && rest.trim_start().starts_with('"') =>
        {
            format!("{head}\"nobody_reads_this\": [NaN, -Infinity],{rest}")
        }
        _ => text.to_owned(),
    }
}

/// The same in every file that holds JSON, whole or line by line, and as a column of CSV.
fn add_strange_fields(folder: &Path) {
    every_json(folder, |text| with_a_strange_field(&text));
    let mut files = Vec::new();
    every_file(folder, &mut files);
    for file in files {
        let is_of = |ending: &str| file.extension().is_some_and(|is| is == ending);
        if !is_of("jsonl") && !is_of("csv") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let changed: Vec<String> = if is_of("jsonl") {
            text.lines().map(with_a_strange_field).collect()
        } else if text.starts_with("run,") {
            let cells = std::iter::once("odd").chain(std::iter::repeat("NaN"));
            text.lines().zip(cells).map(|(line, cell)| format!("{line},{cell}")).collect()
        } else {
            continue;
        };
        fs::write(&file, changed.join("\n") + "\n").unwrap();
    }
}

/// The folders of trials: those with a result whose parent has a configuration.
fn trials(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    every_file(folder, &mut files);
    let mut trials: Vec<PathBuf> = (files.into_iter())
        .filter(|file| file.file_name().is_some_and(|name| name == "result.json"))
        .filter_map(|file| file.parent().map(Path::to_path_buf))
        .filter(|trial| {
            trial.parent().is_some_and(|job| job.join("config.json").is_file()) && trial.as_path() != folder
        })
        .collect();
    trials.sort();
    trials
}

fn every_json(folder: &Path, change: impl Fn(String) -> String) {
    let mut files = Vec::new();
    every_file(folder, &mut files);
    for file in files.iter().filter(|file| file.extension().is_some_and(|is| is == "json")) {
        fs::write(file, change(fs::read_to_string(file).unwrap())).unwrap();
    }
}

/// Two hours farther east, where that is the same day: `T10:00:00Z` is `T12:00:00+02:00`.
fn in_other_zone(text: &str) -> String {
    let mut out = String::new();
    for (number, piece) in text.split('"').enumerate() {
        if number > 0 {
            out.push('"');
        }
        let local = piece.strip_suffix('Z').or_else(|| piece.strip_suffix("+00:00"));
        let hour = || piece.get(11..13)?.parse::<u32>().ok().filter(|hour| *hour < 22);
        match local.filter(|_| piece.is_ascii() && piece.get(10..11) == Some("T")).zip(hour()) {
            Some((local, hour)) => {
                out.push_str(&format!("{}{:02}{}+02:00", &local[..11], hour + 2, &local[13..]));
            }
            None => out.push_str(piece),
        }
    }
    out
}

/// Changes a folder; gives what is to be read, which is another place once it is zipped.
fn changed(folder: PathBuf, harbor: bool, change: Change) -> PathBuf {
    match change {
        Change::OtherNames => {
            // Of the others names of folders mean something: they have no trials here.
            let trials = if harbor { trials(&folder) } else { trials_of_tb(&folder) };
            for (number, trial) in trials.into_iter().rev().enumerate() {
                fs::rename(&trial, trial.with_file_name(format!("renamed {number}"))).unwrap();
            }
        }
        Change::StrangeFiles => {
            fs::write(folder.join("README.md"), "# Our results\nturn 3 failed: 12 tests").unwrap();
            fs::write(folder.join(".DS_Store"), [0, 0, 0, 1, 0x42]).unwrap();
            fs::create_dir(folder.join("plots")).unwrap();
            fs::write(folder.join("plots/figure.svg"), "<svg/>").unwrap();
            for trial in trials(&folder) {
                fs::write(trial.join("notes.txt"), "looked at by hand").unwrap();
            }
        }
        Change::LineEnds => every_json(&folder, |text| text.replace("\r\n", "\n").replace('\n', "\r\n")),
        Change::ByteOrderMark => {
            every_json(&folder, |text| format!("\u{feff}{}", text.trim_start_matches('\u{feff}')));
        }
        Change::NotANumber => add_strange_fields(&folder),
        Change::CopiedTrial => {
            // Of the others a folder is named after its scenario: a copy is another scenario.
            let trials = if harbor { trials(&folder) } else { trials_of_tb(&folder) };
            if let Some(trial) = trials.first() {
                let name = trial.file_name().unwrap().to_str().unwrap();
                copy(trial, &trial.with_file_name(format!("{name} copy")));
            }
        }
        Change::MadeInOtherOrder => make_in_other_order(&folder),
        Change::OtherZone => every_json(&folder, |text| in_other_zone(&text)),
        // One zip is enough.
        Change::ZippedBackwards | Change::Zipped if folder.is_file() => {}
        Change::ZippedBackwards => return zipped(&folder, "yes"),
        Change::Zipped => return zipped(&folder, "no"),
    }
    folder
}

/// What is shown of every run, without what is of its place: names, and how many remarks the import made. Where nothing is
/// tested there is no survival.
fn numbers(paths: &[PathBuf]) -> Vec<(RunRow, Option<SurvivalTable>)> {
    let library = Library::new(paths);
    let rows = library.workbench.list_runs(ListRuns { limit: 500, ..ListRuns::default() }).unwrap().rows;
    let mut numbers: Vec<(RunRow, Option<SurvivalTable>)> = rows
        .into_iter()
        .map(|row| {
            let survival = library.workbench.run_survival(RunRef { run: row.id.clone() });
            let survival = if row.format == "locobench" { None } else { Some(survival.unwrap()) };
            let row = RunRow {
                id: String::new(),
                source: 0,
                tested: true,
                source_name: String::new(),
                source_label: String::new(),
                group: 0,
                warnings: 0,
                severities: model::WarningCounts::default(),
                // The same moment may be written in another zone.
                started_at: row.started_at.as_deref().and_then(moment),
                ..row
            };
            (row, survival)
        })
        .collect();
    numbers.sort_by_key(|numbers| format!("{numbers:?}"));
    numbers
}

/// A time in UTC, if it has a zone of whole hours east.
fn moment(time: &str) -> Option<String> {
    let Some((local, zone)) = time.rsplit_once('+') else {
        return Some(time.trim_end_matches('Z').to_owned());
    };
    let hours = zone.get(..2)?.parse::<u32>().ok()?;
    let hour = local.get(11..13)?.parse::<u32>().ok()?.checked_sub(hours)?;
    Some(format!("{}{hour:02}{}", &local[..11], &local[13..]))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 6,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_happens_to_a_folder_on_its_way_changes_no_number(
        input in prop::sample::select(&INPUTS[..]),
        chosen in prop::sample::subsequence(&CHANGES[..], 1..=CHANGES.len()),
    ) {
        let (name, harbor) = input;
        let given = repository().join("tests/fixtures").join(name);
        let room = tempfile::tempdir().unwrap();
        let plain = room.path().join("results");
        copy(&given, &plain);
        let mut on_its_way = room.path().join("sent to me");
        copy(&given, &on_its_way);
        for change in &chosen {
            on_its_way = changed(on_its_way, harbor, *change);
        }
        prop_assert_eq!(numbers(&[on_its_way]), numbers(&[plain]), "{} after {:?}", name, chosen);
    }
}

/// Each format by itself, whatever the random test draws.
#[test]
fn strange_fields_copies_and_orders_of_files_change_no_number_of_any_format() {
    let of_others = INPUTS.iter().filter(|(_, harbor)| !harbor);
    for (name, harbor) in of_others.chain([&("harbor/jobs/failures-k1", true)]) {
        let given = repository().join("tests/fixtures").join(name);
        let room = tempfile::tempdir().unwrap();
        let [plain, on_its_way] = ["results", "sent to me"].map(|part| room.path().join(part));
        copy(&given, &plain);
        copy(&given, &on_its_way);
        let right = numbers(&[plain]);
        let mut place = on_its_way;
        for change in [
            Change::NotANumber,
            Change::CopiedTrial,
            Change::OtherNames,
            Change::MadeInOtherOrder,
            Change::ZippedBackwards,
        ] {
            place = changed(place, *harbor, change);
            assert_eq!(numbers(std::slice::from_ref(&place)), right, "{name} after {change:?}");
        }
    }
}

/// Half of the trials of a job in another source are still the trials of that agent and model: what is pooled stays.
#[test]
fn a_job_in_two_sources_pools_to_the_same() {
    let names =
        ["harbor/jobs/failures-k1", "world/docker-words", "world/null-reward", "world/cache-beside/job-a"];
    for name in names {
        let given = repository().join("tests/fixtures").join(name);
        let room = tempfile::tempdir().unwrap();
        let [whole, one, other] = ["whole", "one", "other"].map(|part| room.path().join(part));
        for place in [&whole, &one, &other] {
            copy(&given, place);
        }
        for (number, trial) in trials(&one).into_iter().enumerate() {
            let its_other = other.join(trial.strip_prefix(&one).unwrap());
            fs::remove_dir_all(if number % 2 == 0 { trial } else { its_other }).unwrap();
        }
        let pooled = |paths: &[PathBuf]| {
            let library = Library::new(paths);
            let request = MatrixRequest { with_baselines: true, ..MatrixRequest::default() };
            let matrix = library.workbench.get_matrix(request).unwrap();
            let of_cell = |cell: MatrixCell| (cell.stamina, cell.pass_rate, cell.scores);
            let cells: Vec<_> = matrix.cells.into_iter().flatten().map(of_cell).collect();
            let runs = library.workbench.list_runs(ListRuns::default()).unwrap().rows;
            let tokens = runs.iter().fold(Tokens::default(), |sum, run| sum.plus(run.tokens));
            let costs: Vec<f64> = runs.iter().filter_map(|run| run.cost_usd).collect();
            let known: u32 = runs.iter().map(|run| run.cost_known).sum();
            let harness = runs[0].harness.clone().unwrap();
            let members = vec![Member::Harness { harness, benchmark: runs[0].benchmark.key.clone() }];
            let group = CompareRequest { members, ..CompareRequest::default() };
            let score = library.workbench.compare_runs(group).unwrap().members[0].score;
            (cells, tokens, costs.iter().sum::<f64>(), known, score)
        };
        assert_eq!(pooled(&[one, other]), pooled(&[whole]), "{name}");
    }
}

/// What is pooled over all sources: stamina and pass rate by harness and model.
fn pooled_cells(paths: &[&Path]) -> String {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    let library = Library::new(&paths);
    let request = MatrixRequest { with_baselines: true, ..MatrixRequest::default() };
    let matrix = library.workbench.get_matrix(request).unwrap();
    let of_cell = |cell: MatrixCell| (cell.stamina, cell.pass_rate);
    let cells: Vec<_> = matrix.cells.into_iter().flatten().map(of_cell).collect();
    format!("{cells:?}")
}

/// What of a folder is one scenario each, to be in one source or in another: folders or files.
fn scenarios(name: &str, folder: &Path) -> Vec<PathBuf> {
    let below = if name == "evocode" { folder.join("tasks") } else { folder.to_path_buf() };
    let mut found: Vec<PathBuf> = fs::read_dir(&below)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| match name {
            "evocode" => true,
            "terminal_bench/run-a" => path.is_dir(),
            _ => path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("scenario")),
        })
        .collect();
    found.sort();
    found
}

/// Half of the rows of a table, by their scenarios.
fn half_of_table(folder: &Path, second: bool) {
    let text = fs::read_to_string(repository().join("tests/fixtures/table/attempts.csv")).unwrap();
    let mut names: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').nth(3)).collect();
    names.sort_unstable();
    names.dedup();
    let is_second = |name: &str| names.iter().position(|known| *known == name).unwrap() % 2 == 1;
    let rows = text.lines().enumerate().filter(|(number, line)| {
        *number == 0 || line.split(',').nth(3).is_some_and(|name| is_second(name) == second)
    });
    let rows: Vec<&str> = rows.map(|(_, line)| line).collect();
    fs::create_dir(folder).unwrap();
    fs::write(folder.join("attempts.csv"), rows.join("\n") + "\n").unwrap();
}

/// The same of every other format: half of the scenarios of a run in another source.
#[test]
fn a_run_in_two_sources_pools_to_the_same_in_every_format() {
    let names = [
        "staminabench/own",
        "staminabench/nested_folders",
        "staminabench/turns_from_zero",
        "terminal_bench/run-a",
        "evocode",
    ];
    for name in names {
        let given = repository().join("tests/fixtures").join(name);
        let room = tempfile::tempdir().unwrap();
        let [whole, one, other] = ["whole", "one", "other"].map(|part| room.path().join(part));
        for place in [&whole, &one, &other] {
            copy(&given, place);
        }
        for (number, scenario) in scenarios(name, &one).into_iter().enumerate() {
            let its_other = other.join(scenario.strip_prefix(&one).unwrap());
            let removed = if number % 2 == 0 { scenario } else { its_other };
            if removed.is_dir() {
                fs::remove_dir_all(removed).unwrap();
            } else {
                fs::remove_file(removed).unwrap();
            }
        }
        assert_eq!(pooled_cells(&[&one, &other]), pooled_cells(&[&whole]), "{name}");
    }
    let room = tempfile::tempdir().unwrap();
    let [whole, one, other] = ["whole", "one", "other"].map(|part| room.path().join(part));
    half_of_table(&one, false);
    half_of_table(&other, true);
    fs::create_dir(&whole).unwrap();
    let csv = repository().join("tests/fixtures/table/attempts.csv");
    fs::copy(csv, whole.join("attempts.csv")).unwrap();
    assert_eq!(pooled_cells(&[&one, &other]), pooled_cells(&[&whole]), "a table");
}

/// A run that somebody opens twice, once where it lies and once where it was copied to, is one. It is known by ids, or by how
/// closely it was measured.
#[test]
fn a_copy_of_a_run_in_another_source_counts_once() {
    let names = [
        "harbor/jobs/failures-k1",
        "world/null-reward",
        "terminal_bench/run-a",
        "staminabench/own",
        "evocode",
    ];
    for name in names {
        let given = repository().join("tests/fixtures").join(name);
        let room = tempfile::tempdir().unwrap();
        let [plain, copied] = ["plain", "copied"].map(|part| room.path().join(part));
        for place in [&plain, &copied] {
            copy(&given, place);
        }
        if name == "staminabench/own" {
            // As every run of today has it.
            for place in [&plain, &copied] {
                let file = place.join("report.json");
                let mut report: serde_json::Value =
                    serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
                report["run"]["run_id"] = "9c2b1f4e-0000-4000-8000-6d1f6a0f2c11".into();
                fs::write(file, report.to_string()).unwrap();
            }
        }
        make_in_other_order(&copied);
        let one = pooled_cells(&[&plain]);
        assert_eq!(pooled_cells(&[&plain, &copied]), one, "{name}");
        assert_eq!(pooled_cells(&[&copied, &plain]), one, "{name}, the copy first");
    }
}

/// The results of `tb` in one file say nothing of their run: not which one it is, nor whose.
#[test]
fn results_of_tb_alone_are_those_of_the_whole_folder() {
    let given = repository().join("tests/fixtures/terminal_bench/run-a");
    let room = tempfile::tempdir().unwrap();
    let [whole, alone] = ["whole", "alone"].map(|part| room.path().join(part));
    copy(&given, &whole);
    fs::create_dir(&alone).unwrap();
    fs::copy(given.join("results.json"), alone.join("results.json")).unwrap();
    let shared = |library: &Library| {
        let runs = library.workbench.list_runs(ListRuns::default()).unwrap().rows;
        let run = runs.iter().find(|run| run.source_name == "alone").unwrap();
        let detail = library.workbench.get_run(RunRef { run: run.id.clone() }).unwrap();
        detail.copies.iter().map(|one| (one.episodes, one.counted_there)).collect::<Vec<_>>()
    };
    // All of the file's trials are in the folder, and count there, whichever was opened first.
    assert_eq!(shared(&Library::new(&[whole.clone(), alone.clone()])), [(7, 7)]);
    let library = Library::new(&[alone.clone(), whole]);
    assert_eq!(shared(&library), [(7, 7)], "the file first");
    // The same where it is read once more.
    let text = fs::read_to_string(alone.join("results.json")).unwrap();
    fs::write(alone.join("results.json"), format!("{text}\n\n")).unwrap();
    library.workbench.ingest(&alone, &|_, _| {}).unwrap();
    assert_eq!(shared(&library), [(7, 7)], "read once more");
}

/// What another source proves of an agent's count of tokens is proved as long as that source is open.
#[test]
fn what_a_closed_source_proved_of_tokens_is_taken_back() {
    let given = repository().join("tests/fixtures/world/cache-beside/job-a");
    let room = tempfile::tempdir().unwrap();
    let [proof, other] = ["proof", "other"].map(|part| room.path().join(part));
    for place in [&proof, &other] {
        copy(&given, place);
    }
    let with_cached = |trial: &Path, cached: u64| {
        let file = trial.join("result.json");
        let text = fs::read_to_string(&file).unwrap();
        let mut result: serde_json::Value = serde_json::from_str(&text).unwrap();
        result["agent_result"]["n_input_tokens"] = 5_000.into();
        result["agent_result"]["n_cache_tokens"] = cached.into();
        fs::write(file, result.to_string()).unwrap();
    };
    let (of_proof, of_other) = (trials(&proof), trials(&other));
    fs::remove_dir_all(&of_proof[1]).unwrap();
    fs::remove_dir_all(&of_other[0]).unwrap();
    with_cached(&of_proof[0], 9_000);
    with_cached(&of_other[1], 3_000);
    let library = Library::new(&[other, proof]);
    let run = |name: &str| {
        let runs = library.workbench.list_runs(ListRuns::default()).unwrap().rows;
        runs.into_iter().find(|run| run.source_name == name).unwrap()
    };
    assert_eq!(run("other").tokens.input, Some(8_000));
    library.workbench.close_source(SourceRef { source: run("proof").source }).unwrap();
    assert_eq!(run("other").tokens.input, Some(5_000));
}
