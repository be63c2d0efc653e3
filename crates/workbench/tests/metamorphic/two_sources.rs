//! A job or a run in two sources, copies included.

use std::fs;
use std::path::{Path, PathBuf};

use model::Tokens;
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
        let one = pooled_cells(&[&plain]);
        assert_eq!(pooled_cells(&[&plain, &copied]), one, "{name}");
        assert_eq!(pooled_cells(&[&copied, &plain]), one, "{name}, the copy first");
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
