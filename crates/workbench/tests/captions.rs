//! Every table that is exported says in its file how its numbers were made, whatever its kind.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{CensoringPolicy, EndReason, Ending};
use workbench::Watch;
use workbench::api::{
    AnnotateRuns, AttemptChoice, Bands, CompareRequest, DisagreementMode, DisagreementRequest,
    DisagreementSort, ExportFormat, ExportRequest, ExportSubject, FailureCasesRequest, FailuresRequest,
    FigureSubject, GridSort, JobRef, JobState, ListRuns, MatrixRequest, Member, Nothing, Pairs,
    RetriesRequest, RunGridRequest, RunRef, RunRow, ScenarioSuiteRequest, ScenarioTurnRef, SetPolicy,
    TableSubject, TasksRequest, TurnRef, ValidatePack, WarningSelection, WithdrawRuns,
};

use crate::library::{Library, members, repository};

const TWO: [&str; 2] = ["staminabench.own", "staminabench.nested_folders"];
/// What a caption says of a policy that takes a budget for a failure.
const POLICY: &str = "censoring policy custom (budget: failure)";

/// The number of a kind, and what is said of it. A new kind does not compile until it has both.
fn expected_notes(table: &TableSubject) -> (usize, &'static [&'static str]) {
    const COUNTED: &str = "mini_swe and openhands: each n = 2, ";
    const SUMMED: &str = "2 runs: n = 4, ";
    const ONE_TURN: &str = ": each n = 2 scored trials of 2 tasks, 1 passed, 1 failed";
    match table {
        TableSubject::Runs { .. } => (0, &[POLICY, SUMMED, "Greenwood 95 % CI", "τ = "]),
        TableSubject::Spent { .. } => (1, &[POLICY, COUNTED, "Cost of all episodes ÷ episodes"]),
        TableSubject::Pairs { .. } => (2, &[POLICY, COUNTED, "unpaired", "log-rank", "τ = "]),
        TableSubject::Sensitivity { .. } => (3, &[POLICY, SUMMED, "Greenwood 95 % CI", "τ = "]),
        TableSubject::Settings { .. } => (4, &["Settings as the sources of the runs state them"]),
        TableSubject::Survival { .. } => (5, &[POLICY, COUNTED, "log-log 95 % CI"]),
        TableSubject::Disagreements { .. } => (6, &[POLICY, COUNTED]),
        TableSubject::Matrix { .. } => (7, &[POLICY, "4 cells: n = 7, ", "Greenwood 95 % CI", "τ = "]),
        TableSubject::Spread { .. } => (8, &[POLICY, "4 cells: n = 7, ", "bootstrap", "τ = "]),
        TableSubject::Published { .. } => (9, &["What others published of", "as their sources state it"]),
        TableSubject::Retries { .. } => {
            (10, &[POLICY, "with the most retries: each n = 2", "Greenwood 95 % CI"])
        }
        TableSubject::Gains { .. } => (11, &[POLICY, "with the most retries: each n = 2", "bootstrap"]),
        TableSubject::Failures { .. } => (12, &[POLICY, COUNTED, "Wilson's 95 % CI", "rules"]),
        TableSubject::Cases { .. } => (13, &[POLICY, COUNTED, "rules"]),
        TableSubject::Origins { .. } => (14, &[POLICY, COUNTED, "rules"]),
        TableSubject::Repairs { .. } => (15, &[POLICY, COUNTED, "Over every attempt"]),
        TableSubject::Flips { .. } => (16, &[POLICY, COUNTED, "Over every attempt"]),
        TableSubject::Rules { .. } => (17, &["Rules over what the source records"]),
        TableSubject::Paired { .. } => (18, &[POLICY, COUNTED, "Student's t"]),
        TableSubject::Episodes { .. } => (19, &[POLICY, COUNTED]),
        TableSubject::Turns { .. } => (20, &[POLICY, COUNTED]),
        TableSubject::ByTurn { .. } => (21, &[POLICY, COUNTED]),
        TableSubject::Library { .. } => (22, &[POLICY, "Greenwood 95 % CI"]),
        TableSubject::Played { .. } => (23, &["played on this machine"]),
        TableSubject::Suite { .. } => (24, &["Pack sample-pack", "SHA-256"]),
        TableSubject::Findings { .. } => (25, &["Validate sample-pack"]),
        TableSubject::Mutants { .. } => (26, &["Validate sample-pack"]),
        TableSubject::RepairTimes { .. } => (27, &[POLICY, COUNTED, "Over every attempt"]),
        TableSubject::Attempts { .. } => (28, &["One turn of an episode"]),
        TableSubject::Tests { .. } => (29, &["One turn of an episode"]),
        TableSubject::Joined { .. } => (30, &["Two attempts"]),
        TableSubject::Warnings { .. } => (31, &["What was read otherwise than it is written"]),
        // Needs a run that was played: the tests of the command line look at it.
        TableSubject::Progress { .. } => (38, &["played on this machine"]),
        TableSubject::Tasks { .. } => (32, &[POLICY, ONE_TURN]),
        TableSubject::TaskGrid { .. } => (33, &[POLICY, ONE_TURN]),
        TableSubject::PerTask { .. } => (34, &[POLICY, ONE_TURN, "Wilson's 95 % CI"]),
        TableSubject::PassAtK { .. } => (35, &[POLICY, ONE_TURN]),
        TableSubject::Tidy { .. } => (36, &["Attempts as the sources of the runs state them"]),
        TableSubject::Scores { .. } => (37, &[POLICY, SUMMED, "Greenwood 95 % CI", "τ = "]),
    }
}
/// Kinds but the last.
const KINDS: usize = 38;

fn every(library: &Library) -> Vec<TableSubject> {
    let comparison =
        || CompareRequest { members: members(&TWO), pairs: Pairs::All, ..CompareRequest::default() };
    let failed = || FailuresRequest { members: members(&TWO), ..FailuresRequest::default() };
    let by_budget = || RetriesRequest { members: members(&TWO), ..RetriesRequest::default() };
    let (two, sort) = (|| members(&TWO), GridSort::Scenario);
    let pack = library.workbench.list_packs(Nothing {}).unwrap().packs.remove(0);
    let place = ScenarioTurnRef { source: pack.source, folder: pack.folder.clone(), scenario: 0, turn: 1 };
    let validation = library
        .workbench
        .validate_pack(ValidatePack {
            source: pack.source,
            folder: pack.folder,
            mutants: 0,
            scenarios: vec![0],
        })
        .unwrap();
    ended(library, &validation);
    let run = TWO[0].to_owned();
    let grid = RunGridRequest { run: run.clone(), sort, offset: 0, limit: 0 };
    let episode = library.workbench.run_grid(grid).unwrap().rows.remove(0).episode;
    let attempt = || AttemptChoice { run: run.clone(), episode: episode.clone(), turn: 1, attempt: None };
    let source = library.workbench.app_state(Nothing {}).unwrap().sources[0].id;
    vec![
        TableSubject::Runs { request: comparison() },
        TableSubject::Scores { request: comparison() },
        TableSubject::Spent { request: comparison() },
        TableSubject::Pairs { request: comparison() },
        TableSubject::Sensitivity { request: comparison() },
        TableSubject::Settings { request: comparison() },
        TableSubject::Survival { request: comparison() },
        TableSubject::Disagreements { request: disagreements() },
        TableSubject::Matrix { request: MatrixRequest::default() },
        TableSubject::Spread { request: MatrixRequest::default() },
        TableSubject::Published { request: MatrixRequest::default() },
        TableSubject::Retries { request: by_budget() },
        TableSubject::Gains { request: by_budget() },
        TableSubject::Failures { request: failed() },
        TableSubject::Cases {
            request: FailureCasesRequest { failures: failed(), ..FailureCasesRequest::default() },
        },
        TableSubject::Origins { request: failed() },
        TableSubject::Repairs { request: failed() },
        TableSubject::Flips { request: failed() },
        TableSubject::Rules { request: failed() },
        TableSubject::Paired { request: comparison(), other: None },
        TableSubject::Paired { request: comparison(), other: Some(1) },
        TableSubject::Episodes { members: two(), sort },
        TableSubject::Turns { members: two(), sort },
        TableSubject::ByTurn { members: two() },
        TableSubject::Tidy { members: two() },
        TableSubject::Tasks { request: single_turn_tasks(library) },
        TableSubject::TaskGrid { request: single_turn_tasks(library) },
        TableSubject::PerTask { request: single_turn_tasks(library) },
        TableSubject::PassAtK { request: single_turn_tasks(library) },
        TableSubject::Library { request: ListRuns::default() },
        TableSubject::Played { only_ended: false },
        TableSubject::Suite {
            request: ScenarioSuiteRequest {
                turn: place,
                text: String::new(),
                marks: Vec::new(),
                aspects: Vec::new(),
                offset: 0,
                limit: 0,
            },
        },
        TableSubject::Findings { job: validation.clone() },
        TableSubject::Mutants { job: validation },
        TableSubject::RepairTimes { request: failed() },
        TableSubject::Attempts { turn: TurnRef { run: run.clone(), episode: episode.clone(), turn: 1 } },
        TableSubject::Tests { attempt: attempt() },
        TableSubject::Joined { left: attempt(), right: attempt() },
        TableSubject::Warnings { selection: WarningSelection { source, treatment: None, run: None } },
    ]
}

/// The runs of the library that play one turn.
fn single_turn_tasks(library: &Library) -> TasksRequest {
    let runs = library.workbench.list_runs(ListRuns::default()).unwrap().rows;
    let ids: Vec<&str> =
        runs.iter().filter(|run| run.pass_rate.is_some()).map(|run| run.id.as_str()).collect();
    assert_eq!(ids.len(), 2);
    TasksRequest { members: members(&ids), ..TasksRequest::default() }
}

fn disagreements() -> DisagreementRequest {
    DisagreementRequest {
        members: members(&TWO),
        reference: 0,
        mode: DisagreementMode::Different,
        sort: DisagreementSort::default(),
        text: String::new(),
        offset: 0,
        limit: 0,
    }
}

fn ended(library: &Library, job: &JobRef) {
    while library.workbench.get_job(job.clone()).unwrap().state == JobState::Running {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// A library of two runs and a pack, under a policy of its own.
fn under_a_policy() -> Library {
    let fixtures = repository().join("tests/fixtures/staminabench");
    let single_turn_folder = repository().join("tests/fixtures/world/set-order");
    let library = Library::new(&[fixtures, repository().join("data/sample-pack.zip"), single_turn_folder]);
    let mut policy = CensoringPolicy::default();
    policy.overrides.insert(EndReason::Budget, Ending::Event);
    library.workbench.set_policy(SetPolicy { policy }).unwrap();
    library
}

fn written(library: &Library, table: &TableSubject, format: ExportFormat) -> (String, String) {
    let export_of =
        ExportSubject::Table { table: table.clone(), preset: "icml:full".to_owned(), grey: false };
    let exported =
        library.workbench.export(ExportRequest { subject: export_of, format, path: None }).unwrap();
    let bytes = STANDARD.decode(exported.base64.unwrap()).unwrap();
    (String::from_utf8(bytes).unwrap(), exported.caption)
}

/// Letters and digits only: LaTeX, HTML and lines of a picture write the rest each in its own way.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[test]
fn every_table_says_method_n_events_policy_and_software() {
    let library = under_a_policy();
    let mut kinds = BTreeSet::new();
    for table in every(&library) {
        let (kind, wanted) = expected_notes(&table);
        kinds.insert(kind);
        for format in [ExportFormat::Tex, ExportFormat::Md, ExportFormat::Html, ExportFormat::Csv] {
            let (text, caption) = written(&library, &table, format);
            assert!(caption.ends_with(&format!("{}.", figures::SOFTWARE)), "{table:?}: {caption}");
            for part in wanted {
                assert!(caption.contains(part), "{table:?}: {part} is not in: {caption}");
            }
            // What has room for it has the same in the file; a CSV has its spec beside it.
            let last = library.workbench.table(&table).unwrap().notes.pop().unwrap();
            let plain_text =
                plain(&text.replace("\\allowbreak{}", "").replace("&#58;", ":").replace("&#x27;", "'"));
            let is_complete = format == ExportFormat::Csv || wanted.iter().all(|part| last.contains(part));
            assert!(is_complete, "{table:?}: {last}");
            if format == ExportFormat::Md {
                let end = plain(last.rsplit(". ").next().unwrap());
                assert!(plain_text.contains(&end), "{table:?} as {format:?}: {text}");
            }
            if format == ExportFormat::Tex && wanted.contains(&POLICY) {
                assert!(text.split("\\label").next().unwrap().contains("censoring policy custom"), "{text}");
            }
        }
    }
    assert_eq!(kinds, (0..KINDS).collect(), "every kind is looked at");
}

#[test]
fn a_table_that_is_drawn_says_it_too_and_its_spec_makes_the_same_again() {
    let library = under_a_policy();
    let compare_request = CompareRequest { members: members(&TWO), ..CompareRequest::default() };
    for table in [
        TableSubject::Runs { request: compare_request },
        TableSubject::Matrix { request: MatrixRequest::default() },
    ] {
        let (svg, _) = written(&library, &table, ExportFormat::Svg);
        let drawn: String =
            svg.split("<text").skip(1).filter_map(|t| t.split_once('>')?.1.split('<').next()).collect();
        assert!(plain(&drawn).contains(&plain(POLICY)), "{drawn}");
        let (toml, _) = written(&library, &table, ExportFormat::Toml);
        assert!(toml.contains("[method]") && toml.contains("budget: failure"), "{toml}");
        let spec = figures::export::spec_from_toml(&toml).unwrap();
        assert_eq!(spec.method.policy.as_deref(), Some("custom"));
        let redrawn = figures::export::export(&spec, figures::export::Format::Svg).unwrap().bytes;
        assert_eq!(String::from_utf8(redrawn).unwrap(), svg);
    }
}

#[test]
fn tables_of_a_report_and_its_bundle_say_it() {
    let library = under_a_policy();
    let request = CompareRequest { members: members(&TWO), ..CompareRequest::default() };
    let folder = tempfile::tempdir().unwrap();
    let report_path = folder.path().join("report");
    library.workbench.export_report(&request, "icml:full", &report_path, &Watch::nobody()).unwrap();
    let mut looked_at = 0;
    for file in std::fs::read_dir(report_path.join("tables")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".tex") && !name.ends_with(".md") {
            continue;
        }
        looked_at += 1;
        let text = std::fs::read_to_string(&path).unwrap();
        let settings = name.starts_with("settings");
        assert!(settings || text.contains("censoring policy custom"), "{name}: {text}");
    }
    assert!(looked_at > 20, "{looked_at}");
    // The turns of every episode, and over all of them.
    let markdown = std::fs::read_to_string(report_path.join("report.md")).unwrap();
    for title in ["**Turns of every episode**", "**Turns over all episodes**"] {
        assert!(markdown.contains(title), "{title}");
    }
    let page = std::fs::read_to_string(report_path.join("report.html")).unwrap();
    assert!(page.contains("<caption>Turns over all episodes"), "a page has it, too");
}

#[test]
fn the_table_of_rules_is_that_of_the_page_and_a_run_that_is_not_there_is_refused() {
    let library = under_a_policy();
    let failures_request =
        |run: &str| FailuresRequest { members: members(&[run]), ..FailuresRequest::default() };
    let page_rules = library.workbench.get_failures(failures_request(TWO[0])).unwrap().rules;
    let table = library.workbench.table(&TableSubject::Rules { request: failures_request(TWO[0]) }).unwrap();
    assert!(!page_rules.is_empty());
    assert_eq!(table.rows.len(), page_rules.len());
    let error =
        library.workbench.table(&TableSubject::Rules { request: failures_request("nobody") }).unwrap_err();
    assert_eq!(error.code, library.workbench.get_failures(failures_request("nobody")).unwrap_err().code);
}

/// A run and its copy are of the same trials: what is summed over both counts each trial once, what stands beside each other
/// counts all of each, and both are said.
#[test]
fn a_run_and_its_copy_are_summed_once_and_what_each_counts_is_said() {
    let room = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| room.path().join(name));
    for place in [&one, &two] {
        test_folders::copy(&repository().join("tests/fixtures/harbor/jobs/failures-k1"), place);
    }
    let library = Library::new(&[one, two]);
    let rows = library.workbench.list_runs(ListRuns::default()).unwrap().rows;
    let ids: Vec<&str> = rows.iter().map(|run| run.id.as_str()).collect();
    let [a, b] = ids[..] else { panic!("two runs") };
    let n = rows[0].episodes;
    for (row, other) in [(&rows[0], b), (&rows[1], a)] {
        let mark = format!("{n} trials are also in {other}");
        assert!(row.doubts.contains(&mark), "{:?}", row.doubts);
        let run = library.workbench.get_run(RunRef { run: row.id.clone() }).unwrap().row;
        assert!(run.doubts.contains(&mark), "the same on its page");
    }

    let request = |runs: &[&str]| CompareRequest { members: members(runs), ..CompareRequest::default() };
    let last_note = |table: TableSubject| library.workbench.table(&table).unwrap().notes.pop().unwrap();
    let fewer = format!("count once in their sum ({n} fewer than in the rows)");
    for table in [
        TableSubject::Runs { request: request(&[a, b]) },
        TableSubject::Scores { request: request(&[a, b]) },
        TableSubject::Sensitivity { request: request(&[a, b]) },
    ] {
        let note = last_note(table);
        assert!(note.contains(&format!("2 runs: n = {n}, ")) && note.contains(&fewer), "{note}");
    }
    let sentence = "1 run, or trials of it, is in both, and counted in each";
    for table in [
        TableSubject::Survival { request: request(&[a, b]) },
        TableSubject::Episodes { members: members(&[a, b]), sort: GridSort::Scenario },
    ] {
        let note = last_note(table);
        assert!(note.contains(&format!("each n = {n}, ")) && note.contains(sentence), "{note}");
    }
    let figure = FigureSubject::Survival { request: request(&[a, b]), bands: Bands::Auto };
    let figure_of = ExportSubject::Figure { figure, preset: "icml".to_owned(), height_pt: None, grey: false };
    let exported = library
        .workbench
        .export(ExportRequest { subject: figure_of, format: ExportFormat::Svg, path: None })
        .unwrap();
    assert!(exported.caption.contains(sentence), "{}", exported.caption);

    let failed = |runs: &[&str]| {
        let target_folder = tempfile::tempdir().unwrap();
        let report = target_folder.path().join("report");
        library.workbench.export_report(&request(runs), "icml", &report, &Watch::nobody()).unwrap();
        let text = std::fs::read_to_string(report.join("report.md")).unwrap();
        text.lines().find(|line| line.contains(" attempts did not pass")).unwrap().to_owned()
    };
    let (alone, together) = (failed(&[a]), failed(&[a, b]));
    let until_sum = |text: &str| text.split(" did not pass").next().unwrap().to_owned();
    assert_eq!(until_sum(&together), until_sum(&alone));
    assert!(together.contains("Trials that several of these have count once here."), "{together}");
    assert!(!alone.contains("count once"), "{alone}");
}

/// Nothing tells whether a run of one trial, without ids, times and tokens, is a copy of another one: both count, and it is said
/// where they do.
#[test]
fn runs_that_may_be_copies_are_mentioned_where_they_count() {
    let room = tempfile::tempdir().unwrap();
    let [one, two, solved] = ["one", "two", "solved"].map(|name| room.path().join(name));
    for place in [&one, &two, &solved] {
        test_folders::copy(&repository().join("tests/fixtures/world/foreign/tb-run"), place);
    }
    for results in ["results.json", "task-a/task-a.1-of-1.r/results.json"] {
        let file = solved.join(results);
        let text = std::fs::read_to_string(&file)
            .unwrap()
            .replace("\"is_resolved\": false", "\"is_resolved\": true");
        std::fs::write(&file, text.replace("failed", "passed")).unwrap();
    }
    let library = Library::new(&[one, two, solved]);
    let rows = library.workbench.list_runs(ListRuns::default()).unwrap().rows;
    let (possible_copies, others): (Vec<&RunRow>, Vec<&RunRow>) =
        rows.iter().partition(|row| row.doubts.iter().any(|doubt| doubt.contains("may be a copy")));
    let ([first, second], [solved]) = (&possible_copies[..], &others[..]) else {
        panic!("two runs and another")
    };
    let (a, b) = (first.id.as_str(), second.id.as_str());
    for (row, other) in [(first, b), (second, a)] {
        let mark = format!("may be a copy of {other}: they are equal, and too little was measured to tell");
        assert!(row.doubts.contains(&mark), "{:?}", row.doubts);
        let run = library.workbench.get_run(RunRef { run: row.id.clone() }).unwrap().row;
        assert!(run.doubts.contains(&mark), "the same on its page");
    }
    let is_stated = |sentences: &[String]| {
        sentences.iter().any(|sentence| {
            sentence.contains("may be copies of each other") && sentence.contains(a) && sentence.contains(b)
        })
    };
    let matrix = library.workbench.get_matrix(MatrixRequest::default()).unwrap();
    assert!(is_stated(&matrix.cautions), "{:?}", matrix.cautions);
    let request = CompareRequest { members: members(&[a, b]), ..CompareRequest::default() };
    let compared = library.workbench.compare_runs(request).unwrap();
    assert!(is_stated(&compared.cautions), "{:?}", compared.cautions);
    // Beside a member of several runs, too; of its own runs that says it itself.
    let annotate = AnnotateRuns {
        runs: vec![b.to_owned(), solved.id.clone()],
        add_tags: vec!["group".to_owned()],
        remove_tags: Vec::new(),
        note: None,
    };
    library.workbench.annotate(annotate).unwrap();
    let group = Member::Tag { tag: "group".to_owned(), benchmark: String::new() };
    let request =
        CompareRequest { members: [members(&[a]), vec![group]].concat(), ..CompareRequest::default() };
    let compared = library.workbench.compare_runs(request).unwrap();
    assert!(is_stated(&compared.cautions), "{:?}", compared.cautions);
    let withdraw =
        WithdrawRuns { runs: vec![b.to_owned()], episodes: Vec::new(), reason: Some("a copy".to_owned()) };
    library.workbench.withdraw(withdraw).unwrap();
    let row = library.workbench.get_run(RunRef { run: a.to_owned() }).unwrap().row;
    let rows = library.workbench.list_runs(ListRuns::default()).unwrap().rows;
    for row in rows.iter().chain([&row]) {
        assert!(row.doubts.iter().all(|doubt| !doubt.contains("may be a copy")), "{:?}", row.doubts);
    }
}
