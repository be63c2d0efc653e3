//! Figures and tables that are exported say how their numbers were made, and leave nothing out.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::path::Path;

use figures::{Figure, FigureSpec, caption};
use workbench::api::{
    Bands, Comparability, CompareRequest, FailureScope, FailuresRequest, FigureSubject, ListRuns,
    MatrixRequest, Measure, Pairs, RetriesRequest, TableSubject,
};

use serde_json::{Value, json};

use crate::library::{self, Library, members};

impl Library {
    fn spec(&self, figure: &FigureSubject) -> FigureSpec {
        self.workbench.print_spec(figure, "icml", None, false).expect("a figure")
    }
}

fn compared_runs(runs: &[&str]) -> CompareRequest {
    CompareRequest { members: members(runs), ..CompareRequest::default() }
}

const TWO: [&str; 2] = ["staminabench.own", "staminabench.nested_folders"];

#[test]
fn every_figure_says_method_n_events_policy_and_software() {
    let library = Library::fixtures(&["staminabench"]);
    let bars = |measure| FigureSubject::Bars { request: compared_runs(&TWO), measure, published: false };
    let ended = "mini_swe and openhands: each n = 2, 1 event, 1 censored";
    let horizon = "τ = 4";
    let policy = "censoring policy default";
    let paired_instead = "The figure and table “paired” compare two runs on the scenarios that both played.";
    // What is said, and what must not be.
    let cases: Vec<(FigureSubject, Vec<&str>, Vec<&str>)> = vec![
        (
            FigureSubject::Survival { request: compared_runs(&TWO), bands: Bands::Auto },
            vec!["Kaplan–Meier, log-log 95 % CI", ended, horizon, policy],
            vec![],
        ),
        (FigureSubject::FirstFailures { request: compared_runs(&TWO) }, vec![ended, policy], vec![horizon]),
        (
            FigureSubject::Differences { request: compared_runs(&TWO), ratio: false },
            vec![
                "Greenwood's variances, unpaired",
                "p values are of a log-rank test over all turns",
                "for one comparison",
                paired_instead,
                ended,
                horizon,
                policy,
            ],
            vec!["log scale"],
        ),
        (
            FigureSubject::Differences { request: compared_runs(&TWO), ratio: true },
            vec![
                "on the log scale",
                "p values are of a log-rank test over all turns",
                paired_instead,
                ended,
                horizon,
                policy,
            ],
            vec![],
        ),
        (
            FigureSubject::Paired { request: compared_runs(&TWO), other: 1 },
            vec!["no interval: no variation", "2 scenarios", ended, horizon, policy],
            vec!["shared scenarios", paired_instead],
        ),
        (bars(Measure::Stamina), vec!["Greenwood 95 % CI", ended, horizon, policy], vec![]),
        (bars(Measure::Score), vec!["Mean over scenarios", ended, policy], vec!["τ"]),
        (
            bars(Measure::Tokens),
            vec!["÷ turns, over the turns where every attempt tells", ended, policy],
            vec!["τ"],
        ),
        (bars(Measure::Cost), vec!["Cost per episode", "÷ episodes", ended, policy], vec!["τ"]),
        (
            bars(Measure::Time),
            vec!["÷ turns, over the turns where every attempt tells", ended, policy],
            vec!["τ"],
        ),
        (
            bars(Measure::Steps),
            vec!["÷ turns, over the turns where every attempt tells", ended, policy],
            vec!["τ"],
        ),
        (
            bars(Measure::CostPerSurvivedTurn),
            vec!["turns after the first failure included", ended, policy],
            vec!["τ"],
        ),
        (
            FigureSubject::Pareto { request: compared_runs(&TWO) },
            vec!["Greenwood 95 % CI", "Cost of all episodes ÷ episodes", ended, horizon, policy],
            vec![],
        ),
        (
            FigureSubject::Matrix { request: MatrixRequest::default(), published: false },
            vec!["Greenwood 95 % CI", "n = 7, 4 events, 3 censored in 4 cells", "τ = ", policy],
            vec![],
        ),
        (
            FigureSubject::Retries {
                request: RetriesRequest { members: members(&TWO), ..RetriesRequest::default() },
                published: false,
            },
            vec![
                "leaving out later attempts",
                "mini_swe and openhands with the most retries: each n = 2, 1 event, 1 censored",
                horizon,
                policy,
            ],
            vec![],
        ),
        (
            FigureSubject::Failures {
                request: FailuresRequest { members: members(&TWO), ..FailuresRequest::default() },
            },
            vec![
                "mini_swe and openhands: each n = 6",
                "All episodes of mini_swe and openhands: each n = 2, 1 event, 1 censored",
                "Classes are given by rules",
                "Shares are of failed attempts: 12 of ",
                " attempts in 4 episodes.",
                policy,
            ],
            vec!["τ"],
        ),
        (
            FigureSubject::Failures {
                request: FailuresRequest {
                    members: members(&TWO),
                    scope: FailureScope::First,
                    ..FailuresRequest::default()
                },
            },
            vec!["Shares are of first failures: 2 of ", " turns at risk in 4 episodes."],
            vec!["n of classes"],
        ),
    ];
    for (figure, wanted, unwanted) in cases {
        let caption_text = caption(&library.spec(&figure));
        assert!(caption_text.ends_with(&format!("{}.", figures::SOFTWARE)), "{figure:?}: {caption_text}");
        for part in wanted {
            assert!(caption_text.contains(part), "{figure:?}: {part} is not in: {caption_text}");
        }
        for part in unwanted {
            assert!(!caption_text.contains(part), "{figure:?}: {part} is in: {caption_text}");
        }
    }
}

/// 57.0 of 100 turns stood in a grid of means over 4.
#[test]
fn a_published_mean_over_other_turns_stands_in_no_figure() {
    let library = Library::fixtures(&["staminabench"]);
    let matrix = |published| {
        let spec = library.spec(&FigureSubject::Matrix { request: MatrixRequest::default(), published });
        let caption_text = caption(&spec);
        let Figure::Matrix(data) = spec.figure else { panic!("a matrix") };
        (data, caption_text)
    };
    let ((plain, _), (laid_over, caption_text)) = (matrix(false), matrix(true));
    assert_eq!((plain.rows.len(), plain.columns.len(), plain.cells.len()), (4, 2, 4));
    assert_eq!(laid_over, plain);
    // Five are of a harness, two of them of a cell with runs.
    assert!(
        caption_text.contains("5 published means are over 100 turns and not drawn beside means over"),
        "{caption_text}"
    );
    let retries_request = RetriesRequest { members: members(&TWO), ..RetriesRequest::default() };
    // They are means over 100 turns, and these runs have fewer: they stand on no axis with them, and the caption says so.
    let spec = library.spec(&FigureSubject::Retries { request: retries_request, published: true });
    let words = caption(&spec);
    assert!(
        words.contains("7 published means are over 100 turns and not drawn beside means over"),
        "{words}"
    );
    let Figure::Retries(data) = spec.figure else { panic!("retries") };
    assert!(data.published.is_empty());
    // Bars drew nothing, and said nothing.
    let bars =
        |request, measure| caption(&library.spec(&FigureSubject::Bars { request, measure, published: true }));
    let other_turns = bars(compared_runs(&["staminabench.own"]), Measure::Stamina);
    assert!(other_turns.contains("over 100 turns and not drawn beside means over"), "{other_turns}");
    let others_text = bars(compared_runs(&["staminabench.nested_folders"]), Measure::Stamina);
    assert!(
        others_text.contains("No published mean is of a harness and a model that are shown"),
        "{others_text}"
    );
    let score = bars(compared_runs(&TWO), Measure::Score);
    assert!(score.contains("Published numbers are of mean stamina and not drawn beside another"), "{score}");
}

/// A matrix of EvoCode-Bench and of Harbor jobs was as it is without `--published`, and its caption, too.
#[test]
fn a_benchmark_of_which_no_mean_is_published_says_so() {
    const NONE: &str = "Stamina Lab has no published mean stamina of this benchmark.";
    let library = Library::fixtures(&["evocode"]);
    let request = MatrixRequest { with_baselines: true, ..MatrixRequest::default() };
    let matrix =
        |published| caption(&library.spec(&FigureSubject::Matrix { request: request.clone(), published }));
    assert!(matrix(true).contains(NONE) && !matrix(false).contains(NONE), "{}", matrix(true));
    let run = library.workbench.list_runs(ListRuns::default()).unwrap().rows.remove(0).id;
    let request = compared_runs(&[run.as_str()]);
    let bars = FigureSubject::Bars { request, measure: Measure::Stamina, published: true };
    let text = caption(&library.spec(&bars));
    assert!(text.contains(NONE), "{text}");
}

#[test]
fn published_numbers_have_cells_of_their_own_and_say_where_they_stand() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("made");
    write_run(&folder.join("alike"), Some(3));
    let library = Library::new(&[folder]);
    let matrix = |published| {
        let spec = library.spec(&FigureSubject::Matrix { request: MatrixRequest::default(), published });
        let Figure::Matrix(data) = spec.figure else { panic!("a matrix") };
        data
    };
    let (plain, laid_over) = (matrix(false), matrix(true));
    assert_eq!((plain.rows.len(), plain.columns.len(), plain.cells.len()), (1, 1, 1));
    assert!(plain.cells.iter().all(|cell| cell.published.is_empty()));
    // Of the harnesses OpenCode is there, of the models GLM-5; Mini-SWE, Qwen3.5-122B and Kimi K2.5 are not.
    assert_eq!(laid_over.rows[1..], ["Mini-SWE"]);
    assert_eq!(laid_over.columns[1..], ["Qwen3.5-122B", "Kimi K2.5"]);
    let value = |row: usize, column: usize| -> Vec<f64> {
        let cell = laid_over.cells.iter().find(|c| (c.row as usize, c.column as usize) == (row, column));
        cell.map_or_else(Vec::new, |c| c.published.iter().map(|p| p.value).collect())
    };
    assert_eq!([value(0, 0), value(0, 1), value(0, 2)], [[57.0], [39.4], [31.8]]);
    assert_eq!([value(1, 0), value(1, 1)], [[15.1], [33.1]]);
    assert!(value(1, 2).is_empty());
    assert!(laid_over.cells.iter().flat_map(|c| &c.published).all(|p| p.source.contains("second-hand")));
    // They count in no mean and in no n.
    assert_eq!(
        (laid_over.row_means[0], laid_over.column_means[0]),
        (plain.row_means[0], plain.column_means[0])
    );
    let only_published = laid_over.row_means[1..].iter().chain(&laid_over.column_means[1..]);
    assert!(only_published.into_iter().all(|m| m.mean.is_none() && m.cells == 0));
}

/// Writes a run of OpenCode with GLM-5 that passes every one of 100 turns.
fn write_run(folder: &Path, attempt_limit: Option<u32>) {
    let scenario = folder.join("scenario_0");
    std::fs::create_dir_all(&scenario).unwrap();
    let report = json!({
        "schema_version": "stamina-lab/1", "agent": "opencode", "benchmark": "restful_server_gen_iterative",
        "success_rate": 1.0, "average_score": 1.0, "num_tasks": 1,
        "run": { "harness": "opencode", "model": "zai.glm-5", "planned_turns": 100, "attempt_limit": attempt_limit },
    });
    std::fs::write(folder.join("report.json"), report.to_string()).unwrap();
    let turns: Vec<Value> = (1..=100)
        .map(|turn| json!({ "turn": turn, "attempts": [{ "attempt": 1, "verdict": "passed" }] }))
        .collect();
    // The version is the first key of the file.
    let rest = json!({
        "scenario": "scenario_0", "planned_turns": 100, "finished_at": "2026-06-01T11:00:00Z", "turns": turns,
    });
    let text = rest.to_string().replacen('{', "{\"schema_version\":\"stamina-lab/1\",", 1);
    std::fs::write(scenario.join("trajectory.json"), text).unwrap();
}

#[test]
fn a_published_mean_stands_beside_runs_of_as_many_attempts_only() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("made");
    for (name, limit) in [("alike", Some(3)), ("more", Some(10)), ("unknown", None)] {
        write_run(&folder.join(name), limit);
    }
    let library = Library::new(&[folder]);
    // What is published of both with two retries, that is three attempts, over 100 turns.
    let drawn = |runs: &[&str]| {
        let spec = library.spec(&FigureSubject::Bars {
            request: compared_runs(runs),
            measure: Measure::Stamina,
            published: true,
        });
        let caption_text = caption(&spec);
        let Figure::Bars(data) = spec.figure else { panic!("bars") };
        let values = data.rows.iter().map(|row| row.published.iter().map(|p| p.value).collect());
        (values.collect::<Vec<Vec<f64>>>(), caption_text)
    };
    let (values, caption_text) = drawn(&["made.alike"]);
    assert_eq!(values, [vec![57.0]]);
    assert!(!caption_text.contains("not drawn"), "{caption_text}");
    let (values, caption_text) = drawn(&["made.alike", "made.more", "made.unknown"]);
    assert_eq!(values, [vec![57.0], vec![], vec![]]);
    let left_out = "1 published mean is of 3 attempts per turn and not drawn beside runs of 10 or an unknown number of attempts per turn";
    assert!(caption_text.contains(left_out), "{caption_text}");

    let cell = |runs: &[&str]| {
        let runs = runs.iter().map(|run| (*run).to_owned()).collect();
        let matrix_request = MatrixRequest { runs, ..MatrixRequest::default() };
        let spec = library.spec(&FigureSubject::Matrix { request: matrix_request, published: true });
        let messages = caption(&spec);
        let Figure::Matrix(data) = spec.figure else { panic!("a matrix") };
        let cell = data.cells.into_iter().find(|cell| cell.n > 0).unwrap();
        (cell.published.iter().map(|p| p.value).collect::<Vec<_>>(), messages)
    };
    assert_eq!(cell(&["made.alike"]).0, [57.0]);
    let (values, caption_text) = cell(&["made.alike", "made.more"]);
    assert!(
        values.is_empty() && caption_text.contains("not drawn beside runs of 3 or 10 attempts per turn"),
        "{caption_text}"
    );
}

#[test]
fn scenarios_are_called_by_their_titles_where_two_runs_are_paired() {
    let library = Library::fixtures(&["evocode"]);
    let pair_request = CompareRequest {
        pairs: Pairs::Reference,
        ..compared_runs(&["evocode.big-2-high", "evocode.tiny-1"])
    };
    let spec = library.spec(&FigureSubject::Paired { request: pair_request, other: 1 });
    let Figure::Paired(data) = spec.figure else { panic!("pairs") };
    let mut names: Vec<&str> = data.pairs.iter().map(|pair| pair.scenario.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["task_one · first-tool", "task_two · second-tool"]);
}

/// The figure said `theme_t1_w1_notes_cli` where the list on the page says `notes-cli`: only one of both has titles.
#[test]
fn scenarios_are_called_by_their_titles_whichever_of_both_has_them() {
    let repository = library::repository();
    let library = Library::new(&[
        repository.join("data/sample-harbor.zip"),
        repository.join("tests/fixtures/harbor/jobs"),
    ]);
    let runs = ["sample-harbor.nop-k1-nop", "jobs.oracle-k2-oracle"];
    for two in [[runs[0], runs[1]], [runs[1], runs[0]]] {
        let pair_request = CompareRequest { pairs: Pairs::Reference, ..compared_runs(&two) };
        let spec = library.spec(&FigureSubject::Paired { request: pair_request, other: 1 });
        let Figure::Paired(data) = spec.figure else { panic!("pairs") };
        let mut names: Vec<&str> = data.pairs.iter().map(|pair| pair.scenario.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["ledger-report", "notes-cli"], "{two:?}");
    }
}

#[test]
fn a_pair_has_one_corrected_p_in_the_forest_and_in_the_table() {
    let library = Library::fixtures(&["evocode"]);
    let list = library.workbench.list_runs(ListRuns { limit: 100, ..ListRuns::default() }).unwrap();
    let runs: Vec<&str> = list.rows.iter().take(4).map(|run| run.id.as_str()).collect();
    let forest = |pairs| {
        let compare_request = CompareRequest { pairs, ..compared_runs(&runs) };
        let comparison = library.workbench.compare_runs(compare_request.clone()).unwrap();
        let spec = library.spec(&FigureSubject::Differences { request: compare_request, ratio: false });
        let sentence = caption(&spec);
        let Figure::Differences(data) = spec.figure else { panic!("a forest") };
        (comparison, data, sentence)
    };
    {
        let (comparison, data, caption_text) = forest(Pairs::Reference);
        for (other, row) in (1..).zip(&data.rows) {
            let is_pair = |p: &&workbench::api::ComparedPair| [(0, other), (other, 0)].contains(&(p.a, p.b));
            assert_eq!(row.p, comparison.pairs.iter().find(is_pair).unwrap().p_holm);
        }
        let tested = comparison.pairs.iter().filter(|p| p.p_holm.is_some()).count();
        assert!(
            tested < 2 || caption_text.contains(&format!("Holm-adjusted over {tested} comparisons")),
            "{caption_text}"
        );
    }
    let p = |pairs| forest(pairs).1.rows.iter().map(|row| row.p).collect::<Vec<_>>();
    assert_eq!(p(Pairs::Reference), p(Pairs::All), "corrected over the pairs that are shown");
    let (comparison, data, _) = forest(Pairs::Reference);
    let family_size = comparison.holm_pairs().expect("a pair is tested");
    assert_eq!(data.p_name, Some(format!("p (log-rank, Holm over {family_size})")));
}

#[test]
fn classes_that_are_no_attempts_own_are_not_drawn() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let figure_request =
        FailuresRequest { members: members(&["jobs.failures-k1-oracle"]), ..FailuresRequest::default() };
    let failures = library.workbench.get_failures(figure_request.clone()).unwrap();
    let spec = library.spec(&FigureSubject::Failures { request: figure_request });
    let Figure::FailureShares(drawn) = spec.figure else { panic!("a figure of failures") };
    let is_drawn = |place: usize| drawn.groups.iter().any(|group| group.counts[place] > 0);
    assert!(!drawn.classes.is_empty() && (0..drawn.classes.len()).all(is_drawn), "{drawn:?}");
    assert!(drawn.classes.iter().all(|class| class.pattern.is_some()), "drawn alike everywhere: {drawn:?}");
    // A mark of the figure says the place of its class on the page.
    for (class, info) in drawn.classes.iter().zip(&failures.classes) {
        assert_eq!(class.name, info.label);
    }
}

#[test]
fn a_baseline_is_not_called_a_real_model() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let runs = ["jobs.oracle-k2-oracle", "jobs.nop-k1-nop"];
    let comparison = library.workbench.compare_runs(compared_runs(&runs)).unwrap();
    let played = ("Played by".to_owned(), "no model (a baseline)".to_owned());
    assert!(comparison.equal.contains(&played), "{:?}", comparison.equal);
    // Beside a run of a model, the two are not comparable.
    let library = Library::fixtures(&["harbor/jobs", "staminabench"]);
    let comparison = library.workbench.compare_runs(compared_runs(&[runs[0], TWO[0]])).unwrap();
    let played = comparison.differences.iter().find(|d| d.setting == "Played by").unwrap();
    assert_eq!(played.comparability, Comparability::NotComparable);
    let values: Vec<&str> = played.values.iter().flatten().map(String::as_str).collect();
    assert_eq!(values, ["no model (a baseline)", "a real model"]);
}

#[test]
fn cells_that_pool_what_is_not_comparable_say_so_wherever_the_matrix_goes() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let source_request = MatrixRequest {
        benchmark: Some("harbor:tasks".into()),
        with_baselines: true,
        ..MatrixRequest::default()
    };
    let matrix = library.workbench.get_matrix(source_request.clone()).unwrap();
    let mixed: Vec<_> = matrix.cells.iter().flatten().filter(|cell| !cell.mixed.is_empty()).collect();
    assert!(!mixed.is_empty() && mixed.iter().all(|cell| cell.runs.len() > 1), "{:?}", matrix.cells);
    assert!(matrix.cautions.iter().any(|c| c.contains("pools runs that are not comparable")));
    let message =
        caption(&library.spec(&FigureSubject::Matrix { request: source_request.clone(), published: false }));
    assert!(message.contains("Pooled although not comparable: oracle × "), "{message}");
    let table = library.workbench.table(&TableSubject::Matrix { request: source_request }).unwrap();
    assert!(table.notes.iter().any(|n| n.starts_with("Runs here are not comparable.")), "{:?}", table.notes);
    assert!(table.notes.iter().any(|n| n.contains("pools runs that are not comparable")));
}

#[test]
fn what_others_found_in_words_stands_on_the_pages_that_it_is_about() {
    let library = Library::fixtures(&["staminabench", "evocode"]);
    let failures = |runs: &[&str]| {
        let request = FailuresRequest { members: members(runs), ..FailuresRequest::default() };
        library.workbench.get_failures(request).unwrap().published
    };
    let found = failures(&TWO);
    assert!(found.len() == 1 && found[0].starts_with("Published: With few retries"), "{found:?}");
    assert!(found[0].contains("second hand"), "with its source: {found:?}");
    assert!(failures(&["evocode.tiny-1"]).is_empty(), "it is about another benchmark");
    let comparison = library.workbench.compare_runs(compared_runs(&TWO)).unwrap();
    assert!(comparison.published_benchmark[0].contains("20 scenarios of 100 turns"), "{comparison:?}");
    assert!(comparison.published_cost[0].contains("4.5 billion input"), "{comparison:?}");
    // It is no caution about these runs, and no part of a caption.
    assert!(comparison.cautions.iter().all(|c| !c.starts_with("Published")), "{:?}", comparison.cautions);
    let requested = FailuresRequest { members: members(&TWO), ..FailuresRequest::default() };
    assert!(!caption(&library.spec(&FigureSubject::Failures { request: requested })).contains("Published"));
}

/// A trial that passed is no censored one: "1 event, 2 censored" was said of these three.
#[test]
fn captions_and_tables_of_one_turn_count_trials_that_passed_failed_or_are_not_scored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.csv");
    let rows = "run,harness,model,scenario,turn,attempt,passed,end_reason,planned_turns\n\
        one,h,m,a,1,1,true,,1\none,h,m,b,1,1,false,,1\none,h,m,c,1,1,,environment,1\n";
    std::fs::write(&path, rows).unwrap();
    let library = Library::new(&[path]);
    let request = FigureSubject::Matrix { request: MatrixRequest::default(), published: false };
    let text = caption(&library.spec(&request));
    assert!(text.contains("n = 2 scored trials, 1 passed, 1 failed, 1 not scored in 1 cell"), "{text}");
    let run = library.workbench.list_runs(ListRuns::default()).unwrap().rows.remove(0).id;
    let one_run = || compared_runs(&[&run]);
    let ended = "n = 2 scored trials of 2 tasks, 1 passed, 1 failed, 1 not scored";
    let bars = FigureSubject::Bars { request: one_run(), measure: Measure::PassRate, published: false };
    let failures = FailuresRequest { members: members(&[&run]), ..FailuresRequest::default() };
    for figure in [bars, FigureSubject::Failures { request: failures }] {
        let text = caption(&library.spec(&figure));
        assert!(text.contains(ended) && !text.contains("ensored"), "{text}");
        assert!(text.contains("Which trials are scored follows censoring policy default"), "{text}");
    }
    for (measure, name) in [
        (Measure::Cost, "Cost per trial"),
        (Measure::CostPerSurvivedTurn, "Cost per passed trial"),
        (Measure::Time, "Agent time per trial"),
        (Measure::ToolCalls, "Tool calls per trial"),
    ] {
        let text =
            caption(&library.spec(&FigureSubject::Bars { request: one_run(), measure, published: false }));
        assert!(text.contains(name) && !text.contains("episode") && !text.contains("÷ turns"), "{text}");
    }
    // Whoever asks for the curve reads where those that passed are counted.
    let text = caption(&library.spec(&FigureSubject::Survival { request: one_run(), bands: Bands::Auto }));
    assert!(text.contains("Trials that passed are among the censored."), "{text}");
    let table = library.workbench.table(&TableSubject::Sensitivity { request: one_run() }).unwrap();
    let heads: Vec<&str> =
        table.columns.iter().filter(|c| !c.for_machines).map(|c| c.heading.as_str()).collect();
    assert!(
        heads.contains(&"Trials not scored") && heads.iter().all(|h| !h.contains("ensored")),
        "{heads:?}"
    );
    let table = library.workbench.table(&TableSubject::Runs { request: one_run() }).unwrap();
    let failed = table.columns.iter().find(|column| column.name == "failed").unwrap();
    assert!(!failed.for_machines && failed.heading == "Failed", "{failed:?}");
}
