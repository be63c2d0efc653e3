//! A job or a run in two sources, copies included.

use std::fs;
use std::path::{Path, PathBuf};

use model::Tokens;
use proptest::prelude::*;
use test_folders::copy;
use workbench::api::{CompareRequest, ListRuns, MatrixCell, MatrixRequest, Member, SourceRef};

use crate::library::{Library, repository};
use crate::metamorphic::changes::{make_in_other_order, trials};

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
            let cell_values = |cell: MatrixCell| (cell.stamina, cell.pass_rate, cell.scores);
            let cells: Vec<_> = matrix.cells.into_iter().flatten().map(cell_values).collect();
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
    let cell_values = |cell: MatrixCell| (cell.stamina, cell.pass_rate);
    let cells: Vec<_> = matrix.cells.into_iter().flatten().map(cell_values).collect();
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

/// The rows of a table whose scenarios are in that source, by their places in the order of names.
fn part_of_table(folder: &Path, is_there: impl Fn(usize, usize) -> bool) {
    let text = fs::read_to_string(repository().join("tests/fixtures/table/attempts.csv")).unwrap();
    let mut names: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').nth(3)).collect();
    names.sort_unstable();
    names.dedup();
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let rows = text.lines().enumerate().filter(|(number, line)| {
        *number == 0 || line.split(',').nth(3).is_some_and(|name| is_there(place(name), names.len()))
    });
    let rows: Vec<&str> = rows.map(|(_, line)| line).collect();
    fs::create_dir(folder).unwrap();
    fs::write(folder.join("attempts.csv"), rows.join("\n") + "\n").unwrap();
}

/// What is divided, below tests/fixtures.
const DIVIDED: [&str; 10] = [
    "harbor/jobs/failures-k1",
    "world/docker-words",
    "world/null-reward",
    "world/cache-beside/job-a",
    "staminabench/own",
    "staminabench/nested_folders",
    "staminabench/turns_from_zero",
    "terminal_bench/run-a",
    "evocode",
    "table",
];

/// Reads a folder as it is, and with its trials or scenarios in two sources: `is_second` says of each place, of so many, where it is.
fn divided(name: &str, is_second: impl Fn(usize, usize) -> bool) {
    let given = repository().join("tests/fixtures").join(name);
    let room = tempfile::tempdir().unwrap();
    let [whole, one, other] = ["whole", "one", "other"].map(|part| room.path().join(part));
    if name == "table" {
        part_of_table(&whole, |_, _| true);
        part_of_table(&one, |place, count| !is_second(place, count));
        part_of_table(&other, &is_second);
    } else {
        for place in [&whole, &one, &other] {
            copy(&given, place);
        }
        let is_harbors = name.starts_with("harbor/") || name.starts_with("world/");
        let pieces = if is_harbors { trials(&one) } else { scenarios(name, &one) };
        let count = pieces.len();
        for (place, piece) in pieces.into_iter().enumerate() {
            let its_other = other.join(piece.strip_prefix(&one).unwrap());
            let removed = if is_second(place, count) { piece } else { its_other };
            if removed.is_dir() {
                fs::remove_dir_all(removed).unwrap();
            } else {
                fs::remove_file(removed).unwrap();
            }
        }
    }
    assert_eq!(pooled_cells(&[&one, &other]), pooled_cells(&[&whole]), "{name}");
}

/// Half of the trials or scenarios of a run of every format in another source.
#[test]
fn a_run_in_two_sources_pools_to_the_same_in_every_format() {
    for name in DIVIDED {
        divided(name, |place, _| place % 2 == 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 20,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// As before, divided in any way that leaves both sources something.
    #[test]
    fn a_run_that_is_divided_over_two_sources_in_any_way_pools_to_the_same(
        name in proptest::sample::select(&DIVIDED[..]),
        way in any::<u64>(),
    ) {
        divided(name, |place, count| {
            let first = usize::try_from(way % count as u64).unwrap();
            match (place + count - first) % count {
                0 => false,
                1 => true,
                number => way.rotate_right(u32::try_from(number).unwrap()) & 1 == 1,
            }
        });
    }
}

/// A run that somebody opens twice, once where it lies and once where it was copied to, is one. It is known by ids, by how
/// closely it was measured, or by being equal as a whole.
#[test]
fn a_copy_of_a_run_in_another_source_counts_once() {
    let names = [
        "harbor/jobs/failures-k1",
        "world/null-reward",
        "terminal_bench/run-a",
        "staminabench/own",
        "evocode",
        // Nothing of these was measured.
        "staminabench/nested_folders",
        "table",
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
        let cells = pooled_cells(&[&plain]);
        assert_eq!(pooled_cells(&[&plain, &copied]), cells, "{name}");
        assert_eq!(pooled_cells(&[&copied, &plain]), cells, "{name}, the copy first");
    }
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
    let (proof_trials, other_trials) = (trials(&proof), trials(&other));
    fs::remove_dir_all(&proof_trials[1]).unwrap();
    fs::remove_dir_all(&other_trials[0]).unwrap();
    with_cached(&proof_trials[0], 9_000);
    with_cached(&other_trials[1], 3_000);
    let library = Library::new(&[other, proof]);
    let run = |name: &str| {
        let runs = library.workbench.list_runs(ListRuns::default()).unwrap().rows;
        runs.into_iter().find(|run| run.source_name == name).unwrap()
    };
    assert_eq!(run("other").tokens.input, Some(8_000));
    library.workbench.close_source(SourceRef { source: run("proof").source }).unwrap();
    assert_eq!(run("other").tokens.input, Some(5_000));
}
