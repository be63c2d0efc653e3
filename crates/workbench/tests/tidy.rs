//! The way there and back: the tidy table of any runs, opened in another library, gives the same numbers.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use figures::table::{Table, Value};
use model::{
    Attempt, Benchmark, Counting, EndReason, Episode, Reported, Run, STATED_FAILING, TaskTotals, Tokens,
    Turn, Verdict,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use store::{ParsedPart, Store};
use workbench::Workbench;
use workbench::api::{
    CompareRequest, ExportFormat, ExportRequest, ExportSubject, FailuresRequest, GridSort, ListRuns, Pairs,
    RetriesRequest, TableSubject,
};

use crate::library::{Library, members, repository};

/// The table of runs as a file in a folder.
fn exported(workbench: &Workbench, runs: &[&str], format: ExportFormat, folder: &Path) -> PathBuf {
    let request = ExportSubject::Table {
        table: TableSubject::Tidy { members: members(runs) },
        preset: "icml".to_owned(),
        grey: false,
    };
    let written_export = workbench.export(ExportRequest { subject: request, format, path: None }).unwrap();
    let name = if format == ExportFormat::Parquet { "attempts.parquet" } else { "attempts.csv" };
    let path = folder.join(name);
    fs::write(&path, STANDARD.decode(written_export.base64.unwrap()).unwrap()).unwrap();
    path
}

/// The tables whose numbers come from attempts alone.
fn tables(runs: &[&str]) -> Vec<TableSubject> {
    let comparison =
        || CompareRequest { members: members(runs), pairs: Pairs::All, ..CompareRequest::default() };
    let retries = || RetriesRequest { members: members(runs), ..RetriesRequest::default() };
    let failures = || FailuresRequest { members: members(runs), ..FailuresRequest::default() };
    vec![
        TableSubject::Runs { request: comparison() },
        TableSubject::Spent { request: comparison() },
        TableSubject::Pairs { request: comparison() },
        TableSubject::Sensitivity { request: comparison() },
        TableSubject::Survival { request: comparison() },
        TableSubject::Retries { request: retries() },
        TableSubject::Gains { request: retries() },
        TableSubject::Repairs { request: failures() },
        TableSubject::Episodes { members: members(runs), sort: GridSort::Scenario },
        TableSubject::Turns { members: members(runs), sort: GridSort::Scenario },
        TableSubject::ByTurn { members: members(runs) },
        TableSubject::Scores { request: comparison() },
    ]
}

/// What the library says of a run: how much of it is there, its scores, what makes its numbers less sure.
fn row_of(workbench: &Workbench, run: &str) -> String {
    let rows = workbench.list_runs(ListRuns::default()).unwrap().rows;
    let row = rows.into_iter().find(|row| row.id == run).unwrap();
    let coverage = (row.episodes, row.planned_episodes, row.scored_episodes, row.withdrawn_episodes);
    let mut rounds = row.rounds;
    // Only of a table a reason says which column is missing.
    for reason in rounds.iter_mut().flat_map(|rounds| &mut rounds.missing) {
        let end = reason.find("; ").unwrap_or_else(|| reason.trim_end_matches('.').len());
        reason.truncate(end);
    }
    let scores = (row.score, row.dataset_score, row.case_score, row.perfect, rounds);
    let doubts: Vec<String> = row.doubts.iter().map(|doubt| without_way_out(doubt)).collect();
    format!("{coverage:?} {scores:?} {:?} {doubts:?} {:?}", row.partial, row.pass_rate)
}

/// A doubt about undeclared turns without what to do, which is of the format.
fn without_way_out(doubt: &str) -> String {
    [
        " (give the column planned_turns)",
        " (give n_turns in config.yaml)",
        " (open the folder of the task together with the job)",
    ]
    .iter()
    .fold(doubt.to_owned(), |text, way_out| text.replace(way_out, ""))
}

/// The values of a table; of what differs between libraries only the ids are left out.
fn values<'a>(table: &'a Table, ignored: &[&str]) -> Vec<BTreeMap<&'a str, Option<&'a Value>>> {
    const IDS: [&str; 4] = ["run_id", "id", "source", "episode"];
    table
        .rows
        .iter()
        .map(|row| {
            let cells =
                table.columns.iter().zip(row).map(|(column, cell)| (column.name.as_str(), cell.as_ref()));
            cells
                .filter(|(name, _)| !IDS.contains(name) && ignored.iter().all(|part| !name.contains(part)))
                .collect()
        })
        .collect()
}

/// A table, or the code of why there is none.
type TableOrCode = Result<Table, String>;

/// What a library has of each table of these runs.
fn read_tables(workbench: &Workbench, runs: &[&str]) -> Vec<TableOrCode> {
    let table = |request: &TableSubject| workbench.table(request).map_err(|error| error.code);
    tables(runs).iter().map(table).collect()
}

/// Every table of both libraries is the same; `first` is what the first one has.
fn assert_equal(first: &[TableOrCode], runs: &[&str], other: &Workbench, back: &[&str], label: &str) {
    for (left, right) in first.iter().zip(read_tables(other, back)) {
        match (left, right) {
            (Ok(a), Ok(mut b)) => {
                let mut a = a.clone();
                for cell in a.rows.iter_mut().chain(&mut b.rows).flatten().flatten() {
                    if let Value::Text(text) = cell {
                        *text = without_way_out(text);
                    }
                }
                // A run that has no name of its own is called by its id.
                for (slug, back) in runs.iter().zip(back) {
                    for cell in a.rows.iter_mut().flatten().flatten() {
                        if let Value::Text(text) = cell {
                            *text = text.replace(slug, back);
                        }
                    }
                }
                let ignored: &[&str] = match label {
                    // Sets of scenarios are numbered anew, and the bootstrap draws in their order.
                    "several" => &["bootstrap"],
                    _ => &[],
                };
                let (mut a_values, mut b_values) = (values(&a, ignored), values(&b, ignored));
                if label == "several" {
                    a_values.sort_by_key(|row| format!("{row:?}"));
                    b_values.sort_by_key(|row| format!("{row:?}"));
                }
                assert_eq!(a_values, b_values, "{label}: {}", a.name);
            }
            (Err(a), Err(b)) => assert_eq!(*a, b, "{label}"),
            (a, b) => panic!("{label}: {:?} and {:?}", a.as_ref().map(|t| &t.name), b.map(|t| t.name)),
        }
    }
}

/// Ids of the runs of a library, in order.
fn ids(workbench: &Workbench) -> Vec<String> {
    let mut ids: Vec<String> =
        workbench.list_runs(ListRuns::default()).unwrap().rows.into_iter().map(|run| run.id).collect();
    ids.sort();
    ids
}

/// Takes the runs of a library there and back, by a file of each of these formats.
fn round_trips(library: &Workbench, runs: &[&str], formats: &[ExportFormat], label: &str) {
    // What every way back is compared with.
    let first_tables = read_tables(library, runs);
    let first = library.table(&TableSubject::Tidy { members: members(runs) }).unwrap();
    for format in formats {
        round_trip(library, (&first_tables, &first), runs, *format, label);
    }
}

fn round_trip(
    library: &Workbench,
    (first_tables, first): (&[TableOrCode], &Table),
    runs: &[&str],
    format: ExportFormat,
    label: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let path = exported(library, runs, format, folder.path());
    let other = Library::new(&[path]);
    let back: Vec<String> = ids(&other.workbench);
    let slug = |run: &&str| {
        let wanted = format!("attempts.{}.{run}", extension(format));
        back.iter()
            .find(|back| **back == wanted || back.ends_with(*run))
            .unwrap_or_else(|| panic!("{wanted} of {back:?}"))
    };
    let back: Vec<&str> = runs.iter().map(|run| slug(run).as_str()).collect();
    assert_equal(first_tables, runs, &other.workbench, &back, label);
    for (run, back) in runs.iter().zip(&back) {
        assert_eq!(row_of(library, run), row_of(&other.workbench, back), "{label}");
    }
    // And once more: the table of the table is the table.
    let rewritten = other.workbench.table(&TableSubject::Tidy { members: members(&back) }).unwrap();
    let without_run = |table: &Table| -> Vec<Vec<Option<Value>>> {
        // Ids are new, and sets of scenarios numbered anew.
        let renamed = ["run", "scenario_set"];
        let places: Vec<usize> = (0..table.columns.len())
            .filter(|index| renamed.contains(&table.columns[*index].name.as_str()))
            .collect();
        let mut rows = table.rows.clone();
        for row in &mut rows {
            for index in &places {
                row[*index] = None;
            }
        }
        rows.sort_by_key(|row| format!("{row:?}"));
        rows
    };
    assert_eq!(without_run(first), without_run(&rewritten), "{label}");
}

fn extension(format: ExportFormat) -> &'static str {
    if format == ExportFormat::Parquet { "parquet" } else { "csv" }
}

#[test]
fn the_numbers_of_every_format_come_back() {
    let inputs = [
        "staminabench/own",
        "staminabench/flat_records",
        "staminabench/nested_folders",
        "harbor/jobs/failures-k1",
        "harbor/jobs/oracle-k2",
        "harbor/jobs/interrupted",
        "terminal_bench/run-a",
        "evocode",
        "table/attempts.csv",
        "world/cancelled",
        "world/never-at-risk",
        "world/steps-unknown",
    ];
    for input in inputs {
        let library = Library::fixtures(&[input]);
        let ids = ids(&library.workbench);
        for run in &ids {
            round_trips(&library.workbench, &[run], &[ExportFormat::Csv, ExportFormat::Parquet], input);
        }
    }
    let several =
        Library::fixtures(&["staminabench/own", "staminabench/nested_folders", "harbor/jobs/failures-k1"]);
    let ids = ids(&several.workbench);
    let runs: Vec<&str> = ids.iter().map(String::as_str).collect();
    round_trips(&several.workbench, &runs, &[ExportFormat::Csv], "several");
}

#[test]
fn the_numbers_of_the_samples_come_back() {
    let library = Library::new(&[repository().join("data/sample-simulated.zip")]);
    let ids = ids(&library.workbench);
    let runs: Vec<&str> = ids.iter().map(String::as_str).collect();
    round_trips(&library.workbench, &runs, &[ExportFormat::Csv], "sample");
    round_trips(&library.workbench, &runs[..2], &[ExportFormat::Parquet], "sample");
}

/// The note stood without the runs that it is about.
#[test]
fn the_note_on_counted_tasks_names_their_runs() {
    let library = Library::fixtures(&["evocode", "staminabench/own"]);
    let ids = ids(&library.workbench);
    let evocode = ids.iter().find(|run| run.starts_with("evocode")).unwrap();
    let subject = TableSubject::Tidy { members: members(&[evocode.as_str(), "own.run"]) };
    let notes = library.workbench.table(&subject).unwrap().notes;
    let expected = format!("{evocode}: a row with a counted task");
    assert_eq!(notes.iter().filter(|note| note.starts_with(&expected)).count(), 1, "{notes:?}");
}

fn attempt() -> impl Strategy<Value = Attempt> {
    let verdict = select(vec![Verdict::Passed, Verdict::Failed, Verdict::Error, Verdict::Unfinished]);
    let counts = of((0..9_u32, 0..9_u32).prop_map(|(passed, failed)| (passed, passed + failed)));
    let counting = select(vec![Counting::Share, Counting::Zero, Counting::Outside]);
    let tokens = (of(9..2_000_u64), of(0..9_u64), of(0..900_u64));
    let numbers = (of(0.0..9.0), of(0.0..900.0), of(0.0..9.0), of(-1.0..2.0));
    (
        verdict,
        of(select(EndReason::ALL.to_vec())),
        counts,
        counting,
        tokens,
        numbers,
        of(0..9_u32),
        of(0..9_u32),
        of(0..9_u32),
    )
        .prop_map(
            |(verdict, reason, counts, counting, (input, cached, output), numbers, calls, steps, stated)| {
                let mut attempt = Attempt::new(1, verdict);
                // No attempt that failed ends an episode of which all is passed.
                attempt.end_reason =
                    reason.filter(|reason| verdict != Verdict::Passed && *reason != EndReason::PassedAll);
                (attempt.passed, attempt.total) = counts.unzip();
                attempt.counting = counting;
                attempt.tokens = Tokens { input, cached, output }.without_part_of_unknown();
                (attempt.cost_usd, attempt.timing.agent_seconds) = (numbers.0, numbers.1);
                (attempt.timing.test_seconds, attempt.reward) = (numbers.2, numbers.3);
                (attempt.tool_calls, attempt.steps) = (calls, steps);
                if let Some(failing) = stated {
                    attempt.extra.insert(STATED_FAILING.to_owned(), failing.into());
                }
                attempt
            },
        )
}

fn episode() -> impl Strategy<Value = Episode> {
    let turns = vec(vec(attempt(), 0..4), 0..6);
    let given = (of(0.0..9.0), of(0.0..900.0), of((0..9_000_u64, 0..900_u64)));
    (turns, of(0..8_u32), of(select(EndReason::ALL.to_vec())), any::<(bool, bool)>(), given).prop_map(
        |(turns, planned, reason, (left, unrecognised), (cost, seconds, tokens))| {
            let mut episode = Episode::new("", "");
            episode.turns = turns
                .into_iter()
                .zip(1..)
                .map(|(mut attempts, number)| {
                    attempts.iter_mut().zip(1..).for_each(|(attempt, number)| attempt.number = number);
                    Turn { attempts, ..Turn::new(number) }
                })
                .collect();
            (episode.planned_turns, episode.end_reason) = (planned, reason);
            (episode.attempts_left, episode.unrecognised) = (left, unrecognised);
            (episode.cost_usd, episode.timing.agent_seconds) = (cost, seconds);
            episode.tokens = tokens.map(|(input, output)| Tokens {
                input: Some(input),
                cached: None,
                output: Some(output),
            });
            episode
        },
    )
}

/// A run, its episodes, each of a scenario, and the tasks that it only counts.
#[derive(Debug)]
struct Made {
    harness: String,
    model: Option<String>,
    planned: Option<u32>,
    episodes: Vec<Episode>,
    counted: Vec<TaskTotals>,
}

fn counted() -> impl Strategy<Value = Vec<TaskTotals>> {
    // Eighths are whole in any file.
    let share = || of((0..=8_u32).prop_map(|part| f64::from(part) / 8.0));
    vec((of(0..9_u32), share(), share(), any::<bool>()), 0..4).prop_map(|all| {
        let mut tasks = Vec::new();
        for (number, (turns, passed, case_ratio, has_episode)) in all.into_iter().enumerate() {
            // A task may have an episode all the same.
            let scenario = if has_episode { format!("s {number}") } else { format!("=t {number}") };
            let passed_turns = passed.map(|share| share * f64::from(turns.unwrap_or(8)));
            tasks.push(TaskTotals { scenario, turns, passed_turns, case_ratio });
        }
        tasks
    })
}

fn runs() -> impl Strategy<Value = Vec<Made>> {
    let name = select(vec!["codex", "mini_swe", "=1+1", "a, \"b\"", "'quoted'", "模型", "-0"]);
    let model = of(select(vec!["gpt", "glm 5", "+x", "n/a"]));
    let treatment = (name, model, of(0..9_u32), vec(episode(), 0..5), counted());
    vec(treatment, 1..4).prop_map(|all| {
        let run = |(harness, model, planned, episodes, counted): (&str, Option<&str>, _, _, _)| Made {
            harness: harness.to_owned(),
            model: model.map(str::to_owned),
            planned,
            episodes,
            counted,
        };
        all.into_iter().map(run).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 10, ..ProptestConfig::default() })]

    #[test]
    fn the_numbers_of_any_library_come_back(runs in runs(), graded in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("library.sqlite");
        let format = if graded { "harbor" } else { "staminabench" };
        {
            let store = Store::open(&db).unwrap();
            let source = store.put_source("/no/such/place", "results", false).unwrap();
            let benchmark = || Benchmark { key: "any".to_owned(), name: "Any".to_owned() };
            let all: Vec<Run> = runs.iter().zip(0..).map(|(treatment, number)| Run {
                harness: Some(treatment.harness.clone()),
                model: treatment.model.clone(),
                planned_episodes: treatment.planned,
                reported: Reported { totals_only: treatment.counted.clone(), ..Reported::default() },
                ..Run::unknown(format!("run{number}"), benchmark())
            }).collect();
            store.put_runs(source, "", format, &all).unwrap();
            let episodes: Vec<(String, Episode)> = runs.iter().zip(0..).flat_map(|(treatment, run)| {
                let run_rows = treatment.episodes.iter().zip(0..).map(move |(episode, number)| {
                    let scenario = format!("s {number}");
                    let identity = Some(format!("id-{:016x}", 100 * run + number));
                    let episode = Episode { key: format!("{scenario}#1"), scenario, identity, ..episode.clone() };
                    (format!("run{run}"), episode)
                });
                run_rows.collect::<Vec<_>>()
            }).collect();
            let part = ParsedPart { place: "", key: "all", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
            store.put_part(source, &part).unwrap();
            store.sum_runs(source).unwrap();
            store.set_source_read(source, None).unwrap();
        }
        let workbench = Workbench::open(workbench::Options { db: Some(db), ..Default::default() }).unwrap();
        let ids = ids(&workbench);
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        round_trips(&workbench, &ids, &[ExportFormat::Csv], format);
    }
}
