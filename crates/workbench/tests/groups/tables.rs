//! Runs of tidy tables: turns that are not decided, names of scenarios, and scores of turns.

use figures::table::{Table, Value};
use workbench::api::{
    CompareRequest, DisagreementMode, DisagreementRequest, DisagreementSort, GridSort, ListRuns, RunRow,
    TableSubject, TasksRequest,
};

use crate::library::{Library, members};

/// A library of one tidy table.
fn table(text: &str) -> (Library, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    (Library::new(&[path]), folder)
}

/// Turns of a mode over runs A and B.
fn turns(library: &Library, mode: DisagreementMode) -> Vec<(String, u32)> {
    let request = DisagreementRequest {
        members: members(&["t.csv.a", "t.csv.b"]),
        reference: 0,
        mode,
        sort: DisagreementSort::Scenario,
        text: String::new(),
        offset: 0,
        limit: 0,
    };
    let page = library.workbench.list_disagreements(request).unwrap();
    page.rows.into_iter().map(|row| (row.scenario, row.turn)).collect()
}

#[test]
fn an_end_from_outside_that_only_the_episode_tells_is_no_failure() {
    let head = "run,harness,model,scenario,turn,attempt,passed,verdict,episode_end_reason,planned_turns\n";
    let rows = "A,h1,m,a,1,1,,error,environment,3\nA,h1,m,b,1,1,,error,agent_timeout,3\n\
                B,h2,m,a,1,1,true,,,3\nB,h2,m,b,1,1,true,,,3\n";
    let (library, _folder) = table(&format!("{head}{rows}"));
    assert_eq!(turns(&library, DisagreementMode::Different), [("b".to_owned(), 1)]);
}

#[test]
fn a_turn_that_is_not_decided_is_no_failure() {
    let head = "run,harness,model,scenario,turn,attempt,passed,episode_end_reason,attempts_left,planned_turns,attempt_limit\n";
    let rows = "A,h1,m,a,1,1,true,cancelled,true,3,2\nA,h1,m,a,2,1,false,cancelled,true,3,2\n\
                A,h1,m,b,1,1,false,,,3,2\nA,h1,m,b,1,2,false,,,3,2\n\
                B,h2,m,a,1,1,true,,,3,2\nB,h2,m,a,2,1,false,,,3,2\nB,h2,m,a,2,2,true,,,3,2\n\
                B,h2,m,a,3,1,true,,,3,2\nB,h2,m,b,1,1,true,,,3,2\n";
    let (library, _folder) = table(&format!("{head}{rows}"));
    let failed = [("b".to_owned(), 1)];
    assert_eq!(turns(&library, DisagreementMode::Different), failed);
    assert_eq!(turns(&library, DisagreementMode::Failures), failed);
}

/// "Count as not passed in the score" stood beside a score of tests, in which a trial has those that it passed.
#[test]
fn trials_that_are_not_scored_count_as_the_score_of_their_run_has_them() {
    let head = "run,harness,model,scenario,turn,attempt,passed,verdict,episode_end_reason,tests_passed,tests_total,planned_turns,scoring";
    let sentence_of = |scoring: &str| {
        let rows =
            format!("A,h,m,a,1,1,true,,,4,4,1,{scoring}\nA,h,m,b,1,1,,error,environment,3,4,1,{scoring}\n");
        let (library, _folder) = table(&format!("{head}\n{rows}"));
        let row = library.workbench.list_runs(ListRuns::default()).unwrap().rows.remove(0);
        let rate = row.pass_rate.as_ref().unwrap();
        assert_eq!((rate.trials, rate.unscored, row.score.is_some()), (1, 1, true));
        let request = CompareRequest { members: members(&["t.csv.a"]), ..CompareRequest::default() };
        let member = library.workbench.compare_runs(request).unwrap().members.remove(0);
        (RunRow::unscored_in_scores(std::slice::from_ref(&row)).unwrap(), member.grades_turns)
    };
    let begin = "Trials that are not scored are not in the pass rate, and count";
    let (tests, is_by_turn) = sentence_of("");
    assert_eq!(tests, format!("{begin} in the score with the tests that they passed."));
    assert!(!is_by_turn);
    let (turns, is_by_turn) = sentence_of("turns");
    assert_eq!(turns, format!("{begin} as not passed in the score."));
    assert!(is_by_turn);
}

/// Tasks, trials, greatest k and score of a run.
type Numbers = (u32, u32, usize, Option<f64>);

/// Those of run A alone, and in a comparison; and over how many k its table is.
fn numbers_of_a(library: &Library) -> (Numbers, Numbers, usize) {
    let row = library.workbench.list_runs(ListRuns::default()).unwrap().rows.remove(0);
    let alone = row.pass_rate.unwrap();
    let request = CompareRequest { members: members(&["t.csv.a"]), ..CompareRequest::default() };
    let member = library.workbench.compare_runs(request).unwrap().members.remove(0);
    let together = member.pass_rate.unwrap();
    assert_eq!(member.scenarios, together.tasks);
    let tasks = TasksRequest { members: members(&["t.csv.a"]), ..TasksRequest::default() };
    let ks = library.workbench.table(&TableSubject::PassAtK { request: tasks }).unwrap().rows.len();
    (
        (alone.tasks, alone.trials, alone.pass_at_k.len(), row.score),
        (together.tasks, together.trials, together.pass_at_k.len(), member.score),
        ks,
    )
}

#[test]
fn names_of_scenarios_mean_the_same_within_a_run_and_in_a_comparison() {
    let benchmark_numbers = |benchmark: &str| {
        let head = "run,harness,model,scenario,turn,attempt,passed,planned_turns,benchmark\n";
        let row = |scenario: &str, passed: bool| format!("A,h,m,{scenario},1,1,{passed},1,{benchmark}\n");
        let rows = [row("scenario_1", true), row("scenario-01", false), row("scenario_2", true)].concat();
        let (library, _folder) = table(&format!("{head}{rows}"));
        numbers_of_a(&library)
    };
    let (alone, together, ks) = benchmark_numbers("mine");
    assert_eq!((alone.0, alone.1, alone.2, ks), (3, 3, 1, 1));
    assert_eq!(alone, together);
    // Folders of StaminaBench are called in several ways: two tasks, of which one has two trials.
    let (alone, together, ks) = benchmark_numbers("staminabench");
    assert_eq!((alone.0, alone.1, alone.2, ks), (2, 3, 1, 1));
    assert_eq!(alone, together);
}

/// The score of run A, and what stands in the column of scores of its turns, and of its turns over all episodes.
fn scores_of_a(rows: &str) -> (Option<f64>, Vec<Option<f64>>, Vec<Option<f64>>) {
    let head = "run,harness,model,scenario,turn,attempt,passed,tests_passed,tests_total,counting,planned_turns,scoring";
    let (library, _folder) = table(&format!("{head}\n{rows}"));
    let row = library.workbench.list_runs(ListRuns::default()).unwrap().rows.remove(0);
    let members = || members(&["t.csv.a"]);
    let scores = |table: Table| -> Vec<Option<f64>> {
        let index = table.columns.iter().position(|column| column.name == "score").unwrap();
        let score = |row: &Vec<Option<Value>>| match &row[index] {
            Some(Value::Number(score)) => Some(*score),
            _ => None,
        };
        table.rows.iter().map(score).collect()
    };
    let turns = TableSubject::Turns { members: members(), sort: GridSort::Scenario };
    let by_turn = TableSubject::ByTurn { members: members() };
    let [turns, by_turn] = [turns, by_turn].map(|request| scores(library.workbench.table(&request).unwrap()));
    (row.score, turns, by_turn)
}

#[test]
fn turns_have_the_scores_that_the_score_of_their_run_is_made_of() {
    // Counted as 0, and not at all: (100 + 0) / 2.
    let rows = |scoring: &str| {
        format!(
            "A,h,m,a,1,1,true,4,4,,3,{scoring}\nA,h,m,a,2,1,false,3,4,zero,3,{scoring}\n\
             A,h,m,a,3,1,false,3,4,outside,3,{scoring}\n"
        )
    };
    let turns = [Some(100.0), Some(0.0), None];
    assert_eq!(scores_of_a(&rows("")), (Some(50.0), turns.to_vec(), turns.to_vec()));
    // Where no tests enter the score of a run, those of a turn are shown as they are.
    let (score, turns, _) = scores_of_a(&rows("turns"));
    assert!(score.is_some_and(|score| (score - 100.0 / 3.0).abs() < 1e-9), "{score:?}");
    assert_eq!(turns, [Some(100.0), Some(75.0), Some(75.0)]);
    // No test ran: that is known. ((100 + 0) / 2 + (100 + 100) / 2) / 2.
    let rows = "A,h,m,a,1,1,true,4,4,,2,\nA,h,m,a,2,1,false,0,0,,2,\n\
                A,h,m,b,1,1,true,0,0,,2,\nA,h,m,b,2,1,true,3,3,,2,\n";
    let turns = [Some(100.0), Some(0.0), Some(100.0), Some(100.0)];
    assert_eq!(scores_of_a(rows), (Some(75.0), turns.to_vec(), vec![Some(100.0), Some(50.0)]));
}
