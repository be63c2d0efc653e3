//! EvoCode-Bench's published results: a small made-up folder of the same shape, and the real one where it is there.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "helpers of tests; figures are copied, not computed"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use files::Tree;
use ingest::format_trait::{Format, Part, Report, Sniff};
use ingest::formats::evocode::EvoCode;
use model::{EndReason, Episode, Request, Run, TestOutcome, TurnState, Verdict};
use proptest::prelude::*;
use test_folders::{copy, data_beside_the_repository};

struct Read {
    runs: Vec<Run>,
    episodes: Vec<(String, Episode)>,
    report: Report,
    parts: Vec<Part>,
}

fn read(path: &Path) -> Read {
    let tree = Tree::open(path).unwrap();
    assert_eq!(EvoCode.sniff(&tree, ""), Sniff::Recognized);
    let mut report = Report::default();
    let survey = EvoCode.survey(&tree, "", &mut report);
    let mut episodes = Vec::new();
    for part in &survey.parts {
        for reading in EvoCode.read(&tree, "", part, &mut report) {
            assert!(survey.runs.iter().any(|r| r.key == reading.run), "no run {}", reading.run);
            episodes.push((reading.run, reading.episode));
        }
    }
    Read { runs: survey.runs, episodes, report, parts: survey.parts }
}

impl Read {
    fn warnings(&self, code: &str) -> Vec<&str> {
        self.report.warnings.iter().filter(|w| w.code == code).map(|w| w.message.as_str()).collect()
    }
    fn episode(&self, run: &str, task: &str) -> &Episode {
        &self.episodes.iter().find(|(r, e)| r == run && e.scenario == task).unwrap().1
    }
}

fn letters(episode: &Episode) -> String {
    episode.turns.iter().map(|t| t.state().letter()).collect()
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/evocode")
}

#[test]
fn a_small_folder_is_read_cell_by_cell() {
    let read = read(&fixture());
    let names: Vec<&str> = read.runs.iter().map(|r| r.key.as_str()).collect();
    assert_eq!(names, ["Big-2-high", "Tiny-1"]);
    let big = &read.runs[0];
    assert_eq!(big.model.as_deref(), Some("Acme-Big-2"));
    assert_eq!(big.harness.as_deref(), Some("terminus-2"));
    assert_eq!(big.settings.get("reasoning_effort").and_then(|v| v.as_str()), Some("high"));
    assert_eq!(big.planned_episodes, Some(3));
    assert_eq!(read.warnings("model.alias").len(), 1);

    // Passed; failed; build failed; and a chain that stopped.
    let first_task = read.episode("Big-2-high", "task_one");
    assert_eq!(
        (letters(first_task).as_str(), first_task.planned_turns, first_task.stamina()),
        ("pfep", Some(4), 1)
    );
    assert_eq!(first_task.title.as_deref(), Some("first-tool"));
    let failed = &first_task.turns[1].attempts[0];
    assert_eq!((failed.passed, failed.total, failed.verdict), (Some(7), Some(10), Verdict::Failed));
    let ids: Vec<&str> = failed.tests.iter().map(|t| t.id.as_str()).collect();
    assert_eq!(ids, ["c003", "c007"]);
    assert_eq!(failed.tests[0].group.as_deref(), Some("list-format"));
    assert_eq!(failed.tests[0].outcome, TestOutcome::Failed);
    assert_eq!(failed.tests[0].message.as_deref(), Some("got 1\nscenario: two notes"));
    let built = &first_task.turns[2].attempts[0];
    assert_eq!((built.end_reason, built.total), (Some(EndReason::BuildFailed), Some(0)));
    assert_eq!(built.exception.as_ref().map(|(_, m)| m.as_str()), Some("FAIL: Build failed"));
    assert_eq!(first_task.turns[0].title.as_deref(), Some("Write the tool"));
    assert!(
        matches!(&first_task.turns[0].request, Some(Request::Text(t)) if t.starts_with("Write the tool"))
    );

    // The first null was due, the second was not reached.
    let stopped = read.episode("Tiny-1", "task_one");
    assert_eq!(letters(stopped), "ppen");
    assert_eq!(stopped.turns[2].attempts[0].end_reason, Some(EndReason::NoVerdict));
    assert_eq!(stopped.turns[3].state(), TurnState::NotReached);
    assert_eq!(stopped.end(), (Some(3), EndReason::NoVerdict));
    // Nothing was ever recorded.
    assert_eq!(letters(read.episode("Tiny-1", "task_two")), "en");

    // 3 failed, `fails` counts 2; 1 + 1 is not 3.
    assert_eq!(read.warnings("cases.not_described").len(), 1);
    assert!(
        read.warnings("cases.not_described")[0].contains("turn 2: 3 tests failed, the source describes 2")
    );
    assert_eq!(read.warnings("cases.sum_mismatch").len(), 1);
    assert_eq!(read.warnings("evocode.not_in_index").len(), 1);

    // Named by the index only: totals, no episode.
    assert_eq!(read.warnings("task.no_file").len(), 1);
    let totals = &big.reported.totals_only[0];
    assert_eq!(
        (totals.scenario.as_str(), totals.turns, totals.passed_turns, totals.case_ratio),
        ("task_three", Some(5), Some(2.0), Some(0.6))
    );
    assert!(read.episodes.iter().all(|(_, e)| e.scenario != "task_three"));
    let figures: BTreeMap<_, _> = big.reported.figures.iter().cloned().collect();
    assert!((figures["evocode.avg_rounds"] - 11.0).abs() < 1e-9);
}

#[test]
fn more_rounds_passed_than_there_are_are_unknown() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture(), dir.path());
    let edit = |file: &str, old: &str, new: &str| {
        let path = dir.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{file} has no {old}");
        std::fs::write(path, text.replace(old, new)).unwrap();
    };
    edit("sweep_x.csv", "2/5 c60% r10.5", "7/5 c160% r10.5");
    edit("index.json", "\"Big-2-high\": 0.4", "\"Big-2-high\": 1.4");
    let read = read(dir.path());
    let run = |key: &str| read.runs.iter().find(|r| r.key == key).unwrap();
    let figures = |key: &str| -> Vec<&str> {
        run(key).reported.figures.iter().map(|(name, _)| name.as_str()).collect()
    };
    // The share of the index and the cell of the table say it alike, and neither can be.
    let totals = &run("Big-2-high").reported.totals_only[0];
    assert_eq!((totals.turns, totals.passed_turns, totals.case_ratio), (Some(5), None, None));
    assert_eq!(figures("Big-2-high"), ["evocode.avg_rounds"]);
    assert!(figures("Tiny-1").contains(&"evocode.dataset_score"));
    let unusable = read.warnings("value.not_usable");
    assert_eq!(unusable.len(), 2, "{unusable:?}");
    assert!(unusable[0].contains("Big-2-high at task_three 1.4"), "{unusable:?}");
    assert!(
        unusable[1].contains("Acme-Big-2 at task_three \"7/5\", Acme-Big-2 at task_three \"c160%\""),
        "{unusable:?}"
    );
}

#[test]
fn damaged_files_are_reported_and_the_rest_is_read() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture(), dir.path());
    std::fs::write(dir.path().join("index.json"), "{\"models\": [").unwrap();
    std::fs::write(dir.path().join("tasks/task_two.json"), "{\"task\": \"task_two\", \"models\": {\"Tiny")
        .unwrap();
    std::fs::write(dir.path().join("sweep_x.csv"), [0xff, 0xfe, 0]).unwrap();
    let read = read(dir.path());
    // Without an index every file counts, and the models are those of the files. The keys of runs stay.
    assert_eq!(read.runs.iter().map(|r| r.key.as_str()).collect::<Vec<_>>(), ["Big-2-high", "Tiny-1"]);
    assert_eq!(letters(read.episode("Tiny-1", "task_one")), "ppen");
    let codes: Vec<&str> = read.report.warnings.iter().map(|w| w.code.as_str()).collect();
    assert!(codes.contains(&"json.truncated"), "{codes:?}");
    assert!(codes.contains(&"csv.malformed"), "{codes:?}");
    assert_eq!(read.report.warnings.iter().filter(|w| w.path == "tasks/task_two.json").count(), 1);
}

#[test]
fn a_part_changes_when_its_file_or_the_index_does() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture(), dir.path());
    let original = read(dir.path()).parts;
    let repeated = read(dir.path()).parts;
    assert_eq!(original, repeated);
    let path = dir.path().join("tasks/task_one.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text + " ").unwrap();
    let after_change = read(dir.path()).parts;
    let changed: Vec<&str> = original
        .iter()
        .zip(&after_change)
        .filter(|(a, b)| a.stamp != b.stamp)
        .map(|(a, _)| a.key.as_str())
        .collect();
    assert_eq!(changed, ["task_one.json"]);
}

#[test]
fn other_folders_are_not_taken_for_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("index.json"), "{\"models\": []}").unwrap();
    let tree = Tree::open(dir.path()).unwrap();
    assert!(matches!(EvoCode.sniff(&tree, ""), Sniff::Not { .. }));
    assert!(matches!(EvoCode.sniff(&tree, "nowhere"), Sniff::Not { closeness: 0, .. }));
}

/// The definitions of the benchmark's leaderboard: shares of declared rounds, over all tasks that the index names.
fn scores(run: &Run, episodes: &[&Episode]) -> (f64, f64, usize) {
    let (mut dataset, mut cases, mut perfect) = (0.0, 0.0, 0);
    for episode in episodes {
        let planned = f64::from(episode.planned_turns.unwrap());
        let passed = episode.turns.iter().filter(|t| t.state().is_passed()).count() as f64;
        dataset += passed / planned;
        perfect += usize::from(passed >= planned);
        for attempt in episode.turns.iter().filter_map(|t| t.attempts.last()) {
            if let (Some(passed), Some(total @ 1..)) = (attempt.passed, attempt.total) {
                cases += f64::from(passed) / f64::from(total) / planned;
            }
        }
    }
    for task in &run.reported.totals_only {
        dataset += task.passed_turns.unwrap() / f64::from(task.turns.unwrap());
        cases += task.case_ratio.unwrap();
    }
    let tasks = (episodes.len() + run.reported.totals_only.len()) as f64;
    (100.0 * dataset / tasks, 100.0 * cases / tasks, perfect)
}

#[test]
fn the_published_table_is_reproduced() {
    let Some(path) = data_beside_the_repository("data/evocode-published") else { return };
    let read = read(&path);
    assert_eq!((read.runs.len(), read.parts.len(), read.episodes.len()), (13, 25, 325));
    // Dataset score, case score (of the site's JSON), perfect tasks.
    let table = [
        ("Claude-Opus-4.8", 59.1, 96.6, 9),
        ("GPT-5.5", 29.5, 81.8, 0),
        ("MiniMax-M3", 23.4, 61.5, 2),
        ("GLM-5.2", 16.2, 47.6, 1),
        ("DeepSeek-V4-Pro", 14.1, 61.7, 1),
        ("Kimi-K2.6", 13.2, 65.7, 0),
        ("DeepSeek-V4-Flash", 12.2, 58.9, 0),
        ("Qwen3.7-Max", 11.9, 67.4, 0),
        ("Qwen3.6-Plus", 9.7, 67.6, 0),
        ("Kimi-K2.7-Code", 7.8, 45.4, 0),
        ("Doubao-Seed-2.1-Pro", 6.7, 42.0, 0),
        ("GLM-5.1", 5.9, 53.2, 0),
        ("MiniMax-M2.7", 5.1, 44.9, 0),
    ];
    let one_decimal = |n: f64| format!("{n:.1}");
    for (model, dataset, cases, perfect) in table {
        let run = read.runs.iter().find(|r| r.model.as_deref() == Some(model)).unwrap();
        let episodes: Vec<&Episode> =
            read.episodes.iter().filter(|(r, _)| *r == run.key).map(|(_, e)| e).collect();
        let own_scores = scores(run, &episodes);
        assert_eq!(one_decimal(own_scores.0), one_decimal(dataset), "{model}");
        assert_eq!(one_decimal(own_scores.1), one_decimal(cases), "{model}");
        assert_eq!(own_scores.2, perfect, "{model}");
        let reported: BTreeMap<_, _> = run.reported.figures.iter().cloned().collect();
        assert_eq!(one_decimal(reported["evocode.dataset_score"]), one_decimal(dataset), "{model}");
    }

    // Cells: a null has an attempt without numbers if it was due, and none if it was not reached.
    let attempts = || read.episodes.iter().flat_map(|(_, e)| &e.turns).flat_map(|t| &t.attempts);
    let graded = attempts().filter(|a| a.reward.is_some()).count();
    assert_eq!(graded, 2_711);
    assert_eq!(attempts().filter(|a| a.verdict == Verdict::Passed).count(), 509);
    assert_eq!(attempts().filter(|a| a.verdict == Verdict::Failed).count(), 2_079);
    assert_eq!(attempts().filter(|a| a.end_reason == Some(EndReason::BuildFailed)).count(), 123);
    let chains = attempts().filter(|a| a.end_reason == Some(EndReason::NoVerdict)).count();
    let cells: usize = read.episodes.iter().map(|(_, e)| e.turns.len()).sum();
    assert_eq!((chains, cells - graded), (17, 97));
    assert_eq!(attempts().filter_map(|a| a.total).map(u64::from).sum::<u64>(), 362_298);
    // `fail` less the cases that are described. Two cells have a case more that neither passed nor failed.
    assert_eq!(attempts().map(|a| u64::from(a.failing_not_described())).sum::<u64>(), 51_050);

    let count = |code| read.warnings(code).len();
    assert_eq!(count("cases.not_described"), 704);
    assert_eq!(count("cases.sum_mismatch"), 2);
    assert_eq!((count("task.no_file"), count("model.alias")), (1, 1));
    assert_eq!(read.report.warnings.len(), 708);
    let opus = read.runs.iter().find(|r| r.key == "Claude-Opus-4.8").unwrap();
    assert_eq!(opus.settings.get("reasoning_effort").and_then(|v| v.as_str()), Some("xhigh"));
}

/// Whatever becomes of one file, the task of the other is read as it was.
#[test]
fn damage_stays_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture(), dir.path());
    let index = || any::<prop::sample::Index>();
    let changes = prop::collection::vec((index(), any::<u8>()), 0..6);
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases / 2), |(file in 0..3usize, cut in prop::option::of(index()), changes in changes)| {
        let path = dir.path().join(["tasks/task_one.json", "sweep_x.csv", "tasks/task_two__old.json"][file]);
        let original = std::fs::read(&path).unwrap();
        let mut bytes = original.clone();
        for (position, mask) in &changes {
            let position = position.index(bytes.len());
            bytes[position] ^= mask;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        std::fs::write(&path, bytes).unwrap();
        let read = read(dir.path());
        std::fs::write(&path, original).unwrap();
        let second_task = read.episodes.iter().filter(|(_, e)| e.scenario == "task_two");
        prop_assert_eq!(second_task.map(|(_, e)| letters(e)).collect::<Vec<_>>(), ["pf", "en"]);
        prop_assert_eq!(read.runs.len(), 2);
    });
}

#[test]
fn values_that_cannot_be_are_unknown_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("tasks")).unwrap();
    let index = r#"{"models": ["M"], "tasks": [{"task": "t", "n_rounds": 3, "score": {"M": 0.5}}]}"#;
    let task = r#"{"task": "t", "meta": {}, "n_rounds": 3, "rounds": [], "models": {"M": {
        "1": {"pass": 1, "total": 1, "fail": 0, "reward": 37.5},
        "2": {"pass": 3, "total": 2, "fail": 0, "reward": 1},
        "3": {"pass": "2", "total": 2, "fail": 0, "reward": "n/a"}}}}"#;
    std::fs::write(dir.path().join("index.json"), index).unwrap();
    std::fs::write(dir.path().join("tasks/t.json"), task).unwrap();
    let read = read(dir.path());
    let episode = read.episode("M", "t");
    assert_eq!(letters(episode), "ppe");
    assert_eq!(
        episode.turns[2].attempts[0].end_reason,
        Some(EndReason::VerifierError),
        "unreadable, not missing"
    );
    let numbers: Vec<_> = episode.turns.iter().map(|t| (t.attempts[0].passed, t.attempts[0].total)).collect();
    assert_eq!(numbers, [(Some(1), Some(1)), (None, None), (None, Some(2))]);
    assert_eq!(read.warnings("reward.range").len(), 1);
    let unusable = read.warnings("value.not_usable");
    assert_eq!(unusable.len(), 2);
    assert!(unusable[0].contains("turn 2") && unusable[0].contains("3 of 2"), "{unusable:?}");
    assert!(unusable[1].contains("pass \"2\"") && unusable[1].contains("reward \"n/a\""), "{unusable:?}");
}

#[test]
fn counts_beyond_any_measure_are_unknown() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("tasks")).unwrap();
    let huge = || {
        prop_oneof![
            Just(4_294_967_290_u64),
            Just(u64::from(u32::MAX) + 1),
            Just(u64::MAX),
            Just(0),
            any::<u64>(),
            0..20_u64
        ]
    };
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases / 8), |(n in prop::array::uniform9(huge()))| {
        let index = format!(
            r#"{{"models": ["M"], "tasks": [{{"task": "t", "n_rounds": {}, "score": {{"M": 0.5}}}}, {{"task": "gone", "n_rounds": {}}}]}}"#,
            n[0], n[1]
        );
        let task = format!(
            r#"{{"task": "t", "meta": {{}}, "n_rounds": {}, "rounds": [{{"n": {}}}], "models": {{"M": {{"1":
                {{"pass": {}, "total": {}, "fail": {}, "reward": 0, "fails": [{{"req": "a", "n": {}}}, {{"req": "b", "n": {}}}]}}}}}}}}"#,
            n[2], n[3], n[4], n[5], n[6], n[7], n[8]
        );
        std::fs::write(dir.path().join("index.json"), index).unwrap();
        std::fs::write(dir.path().join("tasks/t.json"), task).unwrap();
        let read = read(dir.path());
        let count = |n: u64| u32::try_from(n).ok();
        let or_none = |n: u64| count(n).unwrap_or(0);
        let episode = read.episode("M", "t");
        prop_assert_eq!(episode.planned_turns, Some(or_none(n[0]).max(or_none(n[2])).clamp(1, 1_000)));
        let attempt = &episode.turns[0].attempts[0];
        // More passed than there are: neither number is known.
        let (passed, total) = (count(n[4]), count(n[5]));
        let is_possible = passed.zip(total).is_none_or(|(passed, total)| passed <= total);
        let numbers = (passed.filter(|_| is_possible), total.filter(|_| is_possible));
        prop_assert_eq!((attempt.passed, attempt.total), numbers);
        let is_large = |numbers: &[u64]| numbers.iter().any(|n| count(*n).is_none());
        let files = [is_large(&n[..2]), is_large(&n[2..3]), !is_possible || is_large(&n[4..])];
        let warned = files.into_iter().filter(|is_reported| *is_reported).count();
        prop_assert_eq!(read.warnings("value.not_usable").len(), warned);
        let described = or_none(n[7]).saturating_add(or_none(n[8]));
        prop_assert_eq!(read.warnings("cases.not_described").len(), usize::from(described < or_none(n[6])));
    });
}
