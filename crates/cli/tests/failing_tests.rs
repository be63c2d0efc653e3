//! How failing tests stood before, in random episodes: the counts of new, regressed and still failing ones are the same in
//! Turn, Failures, Compare, `stamina failures` and `stamina show`.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use workbench::api::{FailureCasesRequest, FailureGrouping, FailureOrigin, FailuresRequest, Member, TurnRef};
use workbench::{Options, Workbench};

use crate::app::TestHome;

/// The tests of every suite.
const TESTS: [&str; 4] = ["one", "two", "three", "four"];
const ORIGINS: [FailureOrigin; 4] =
    [FailureOrigin::New, FailureOrigin::Regressed, FailureOrigin::StillFailing, FailureOrigin::Unknown];
/// The same in JSON.
const WORDS: [&str; 4] = ["new", "regressed", "still_failing", "unknown"];

#[derive(Debug, Clone)]
struct Tried {
    /// The outcome of each test, in the letters of pytest.
    outcomes: Vec<char>,
    /// Whether the source names the tests that passed, too.
    names_all: bool,
}

#[derive(Debug, Clone)]
struct Played {
    turns: Vec<Vec<Tried>>,
    /// Whether the suite of each turn is a file of its own.
    own_files: bool,
}

impl Tried {
    fn failing(&self) -> impl Iterator<Item = usize> {
        (0..TESTS.len()).filter(|test| matches!(self.outcomes[*test], 'F' | 'E'))
    }

    fn passed(&self) -> bool {
        self.failing().next().is_none()
    }
}

fn episode() -> impl Strategy<Value = Played> {
    let outcomes = vec(select(vec!['.', '.', 'F', 'F', 'E', 's']), TESTS.len());
    let tried = (outcomes, prop::bool::weighted(0.85)).prop_map(|(mut outcomes, names_all)| {
        // An attempt at which nothing ran has no verdict.
        if outcomes[0] == 's' {
            outcomes[0] = '.';
        }
        Tried { outcomes, names_all }
    });
    (vec(vec(tried, 1..4), 1..6), any::<bool>()).prop_map(|(mut turns, own_files)| {
        for attempts in &mut turns {
            // Nobody tries again what passed.
            let attempt_count =
                attempts.iter().position(Tried::passed).map_or(attempts.len(), |index| index + 1);
            attempts.truncate(attempt_count);
        }
        Played { turns, own_files }
    })
}

/// An episode as its source writes it.
fn trajectory(played: &Played) -> Value {
    let turns = (1_u32..).zip(&played.turns).map(|(turn, attempts)| {
        let file = if played.own_files { format!("turn_{turn}.py") } else { "suite.py".to_owned() };
        let ids: Vec<String> = TESTS.iter().map(|test| format!("tests/{file}::test_{test}")).collect();
        let attempts = (1_u32..).zip(attempts).map(|(number, tried)| {
            let count = |letter: char| tried.outcomes.iter().filter(|outcome| **outcome == letter).count();
            let failures = tried.failing().map(|test| json!({ "test": ids[test], "message": "no" }));
            json!({
                "attempt": number,
                "verdict": if tried.passed() { "passed" } else { "failed" },
                "passed": count('.'),
                "total": TESTS.len() - count('s'),
                "outcomes": tried.names_all.then(|| tried.outcomes.iter().collect::<String>()),
                "failures": failures.collect::<Vec<_>>(),
            })
        });
        json!({ "turn": turn, "tests": ids, "attempts": attempts.collect::<Vec<_>>() })
    });
    json!({
        "schema_version": "stamina-lab/1",
        "planned_turns": played.turns.len(),
        "finished_at": "2026-06-01T10:00:00Z",
        "turns": turns.collect::<Vec<_>>(),
    })
}

/// Writes runs with their episodes, each of another scenario.
fn write(home: &TestHome, runs: &[Vec<Played>]) {
    for (run, episodes) in runs.iter().enumerate() {
        let folder = home.path(&format!("lab/run{run}"));
        for (number, played) in episodes.iter().enumerate() {
            let scenario = folder.join(format!("scenario_{}", 10 * run + number));
            std::fs::create_dir_all(&scenario).expect("a folder");
            std::fs::write(scenario.join("trajectory.json"), trajectory(played).to_string()).expect("a file");
        }
        let report = json!({
            "schema_version": "stamina-lab/1",
            "agent": "x",
            "benchmark": "restful_server_gen_iterative",
            "num_tasks": episodes.len(),
            "run": { "harness": "h", "model": "m", "runner": "Stamina Lab", "attempt_limit": 3, "started_at": "2026-06-01T09:00:00Z" },
        });
        std::fs::write(folder.join("report.json"), report.to_string()).expect("a file");
    }
}

/// How many failing tests are new, regressed, still failing, unknown.
type Counts = [u32; 4];
/// Those of each attempt with a failing test, by run, episode, turn and attempt.
type ByAttempt = BTreeMap<(String, String, u32, u32), Counts>;

fn counted(histories: impl Iterator<Item = FailureOrigin>) -> Counts {
    let mut counts = [0; 4];
    for history in histories {
        counts[ORIGINS.iter().position(|origin| *origin == history).expect("an origin")] += 1;
    }
    counts
}

fn counted_words(failing: &Value) -> Counts {
    let failing = failing.as_array().expect("failing tests");
    counted(failing.iter().map(|test| {
        let index = WORDS.iter().position(|word| test["history"] == *word).expect("a word for it");
        ORIGINS[index]
    }))
}

fn insert(all: &mut ByAttempt, (run, episode, turn, attempt): (&str, &str, u32, u32), counts: Counts) {
    if counts.iter().sum::<u32>() > 0 {
        let before = all.insert((run.to_owned(), episode.to_owned(), turn, attempt), counts);
        assert!(before.is_none(), "{episode} turn {turn} attempt {attempt} stands there twice");
    }
}

fn sum<'a>(all: impl IntoIterator<Item = &'a Counts>) -> Counts {
    all.into_iter().fold([0; 4], |sum, counts| std::array::from_fn(|index| sum[index] + counts[index]))
}

fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or_else(|| panic!("no number: {value}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// As `stamina show` tells it, with the name of the scenario of each episode.
fn by_show(home: &TestHome, runs: &[String]) -> (ByAttempt, BTreeMap<(String, String), String>) {
    let (mut all, mut scenarios) = (ByAttempt::new(), BTreeMap::new());
    for run in runs {
        let shown = home.json(&["show", run]);
        for episode in shown["episodes"].as_array().expect("episodes") {
            let name = text(&episode["episode"]);
            scenarios.insert((run.clone(), name.to_owned()), text(&episode["scenario"]).to_owned());
            for turn in episode["turns"].as_array().expect("turns") {
                for attempt in turn["attempts"].as_array().expect("attempts") {
                    let turn_key = (run.as_str(), name, number(&turn["turn"]), number(&attempt["attempt"]));
                    insert(&mut all, turn_key, counted_words(&attempt["failing"]));
                }
            }
        }
    }
    (all, scenarios)
}

/// As `stamina failures` tells it: by attempt, and in all.
fn by_failures(home: &TestHome, runs: &[String]) -> (ByAttempt, Counts) {
    let mut args = vec!["failures"];
    args.extend(runs.iter().map(String::as_str));
    args.extend(["--scope", "attempts", "--cases"]);
    let shown = home.json(&args);
    let mut all = ByAttempt::new();
    for case in shown["cases"].as_array().expect("cases") {
        let counts = WORDS.map(|word| number(&case["origins"][word]));
        assert_eq!(counted_words(&case["failing"]), counts, "{case}");
        let turn_key =
            (text(&case["run"]), text(&case["episode"]), number(&case["turn"]), number(&case["attempt"]));
        insert(&mut all, turn_key, counts);
    }
    let origins = shown["origins"].as_array().expect("origins");
    let in_all = WORDS.map(|word| {
        origins.iter().filter(|row| row["origin"] == word).map(|row| number(&row["tests"])).sum::<u32>()
    });
    (all, in_all)
}

/// As the page of each turn tells it.
fn by_turn(workbench: &Workbench, played: &ByAttempt) -> ByAttempt {
    let mut all = ByAttempt::new();
    let turns: BTreeSet<(&str, &str, u32)> =
        played.keys().map(|(run, episode, turn, _)| (run.as_str(), episode.as_str(), *turn)).collect();
    for (run, episode, turn) in turns {
        let turn_ref = TurnRef { run: run.to_owned(), episode: episode.to_owned(), turn };
        for attempt in workbench.get_turn(turn_ref).expect("the turn").attempts {
            assert_eq!(attempt.histories.len(), attempt.failing.len(), "{episode} turn {turn}");
            let counts = counted(attempt.histories.iter().map(|entry| entry.history));
            insert(&mut all, (run, episode, turn, attempt.number), counts);
        }
    }
    all
}

/// As the page of failures tells it of its cases.
fn by_case(workbench: &Workbench, failures: FailuresRequest) -> ByAttempt {
    let request =
        FailureCasesRequest { failures, most_tests: 1000, limit: 10_000, ..FailureCasesRequest::default() };
    let mut all = ByAttempt::new();
    for case in workbench.list_failure_cases(request).expect("cases").rows {
        let (new, regressed, still_failing, unknown) = case.origins;
        let counts = [new, regressed, still_failing, unknown];
        assert_eq!(counted(case.failing.iter().map(|test| test.stood.history)), counts, "{case:?}");
        insert(&mut all, (&case.run, &case.episode, case.turn, case.attempt), counts);
    }
    all
}

/// What the members of a comparison have in all.
fn origins(workbench: &Workbench, runs: &[String]) -> Counts {
    let failures = workbench.get_failures(failures_request(runs)).expect("failures");
    ORIGINS.map(|origin| failures.origins.iter().filter(|(kind, _)| *kind == origin).map(|(_, n)| n).sum())
}

fn failures_request(runs: &[String]) -> FailuresRequest {
    let members = runs.iter().map(|run| Member::Run { run: run.clone() }).collect();
    FailuresRequest { members, group: FailureGrouping::Member, ..FailuresRequest::default() }
}

/// What the outcomes say by themselves, of an episode whose source names every test.
fn expected(played: &Played) -> Counts {
    // Whether each test passed when its outcome was known last.
    let mut last = [None; TESTS.len()];
    let mut histories = Vec::new();
    for tried in played.turns.iter().flatten() {
        for (outcome, last) in tried.outcomes.iter().zip(&mut last) {
            let passed = match outcome {
                's' => continue,
                outcome => *outcome == '.',
            };
            if !passed {
                histories.push(match *last {
                    None => FailureOrigin::New,
                    Some(true) => FailureOrigin::Regressed,
                    Some(false) => FailureOrigin::StillFailing,
                });
            }
            *last = Some(passed);
        }
    }
    counted(histories.into_iter())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 20, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn new_regressed_and_still_failing_tests_are_counted_alike_everywhere(
        runs in vec(vec(episode(), 1..4), 2..4)
    ) {
        let home = TestHome::new();
        write(&home, &runs);
        home.ingest(&home.path("lab"));
        let ids = home.run_ids();
        prop_assert_eq!(ids.len(), runs.len());
        let workbench = Workbench::open(Options { db: Some(home.path("library.sqlite")), ..Options::default() })
            .expect("the library");

        let (shown, scenarios) = by_show(&home, &ids);
        let (listed, in_all) = by_failures(&home, &ids);
        prop_assert_eq!(&listed, &shown, "`stamina failures` and `stamina show`");
        prop_assert_eq!(&by_turn(&workbench, &shown), &shown, "Turn and `stamina show`");
        prop_assert_eq!(&by_case(&workbench, failures_request(&ids)), &shown, "Failures and `stamina show`");
        prop_assert_eq!(in_all, sum(shown.values()), "the sums of `stamina failures`");
        // Members of a comparison have together what each of them has alone.
        prop_assert_eq!(origins(&workbench, &ids), in_all, "the members of a comparison");
        for run in &ids {
            let own_counts = sum(shown.iter().filter(|((run_id, ..), _)| run_id == run).map(|(_, counts)| counts));
            prop_assert_eq!(origins(&workbench, std::slice::from_ref(run)), own_counts, "{} alone", run);
        }

        for (run, episodes) in runs.iter().enumerate() {
            for (number, played) in episodes.iter().enumerate() {
                if !played.turns.iter().flatten().all(|tried| tried.names_all) {
                    continue;
                }
                let scenario = format!("scenario_{}", 10 * run + number);
                let is_it = |run: &String, episode: &String| scenarios[&(run.clone(), episode.clone())] == scenario;
                let counts = shown.iter().filter(|((run, episode, ..), _)| is_it(run, episode));
                prop_assert_eq!(sum(counts.map(|(_, counts)| counts)), expected(played), "{}", scenario);
            }
        }
    }
}
