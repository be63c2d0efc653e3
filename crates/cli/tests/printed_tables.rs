//! Tables as a reader has them, on the shipped sample and on results: every number has its name, and none is rounded to
//! nothing.

use std::path::Path;

use serde_json::Value;

use crate::app::TestHome;
use crate::folders;

fn with_the_sample() -> TestHome {
    let home = TestHome::new();
    home.ingest(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sample-simulated.zip"));
    home
}

fn with_staminabench() -> TestHome {
    let home = TestHome::new();
    home.ingest(&folders::fixtures().join("staminabench"));
    home
}

/// The cells of a column of a table that is printed as Markdown.
fn printed_column(printed: &str, heading: &str) -> Vec<String> {
    let mut rows = printed
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
    let place = rows.next().and_then(|head| head.iter().position(|cell| cell == heading));
    let place = place.unwrap_or_else(|| panic!("no {heading} in {printed}"));
    rows.skip(1).map(|row| row[place].clone()).collect()
}

/// The agent worked for 0.47 seconds, which was printed as 0.
#[test]
fn seconds_that_were_measured_are_not_printed_as_nothing() {
    let home = with_the_sample();
    let run = "sample-simulated.codex-strong";
    let attempts = ["table", "attempts", run, "--episode", "scenario_4", "--turn", "10"];
    let cases = [
        (&attempts[..], "Agent time (s)", "agent_seconds"),
        (&["table", "spent", run][..], "Time per turn (s)", "seconds_per_turn"),
        (&["table", "runs", run][..], "Time per turn (s)", "seconds_per_turn"),
    ];
    for (args, heading, name) in cases {
        let printed = printed_column(&home.text(args), heading);
        let table = home.json(args);
        let rows = table["rows"].as_array().expect("rows");
        assert!(!rows.is_empty() && printed.len() == rows.len(), "{table}");
        for (row, shown) in rows.iter().zip(&printed) {
            let is_some = row[name].as_f64().is_some_and(|seconds| seconds > 0.0);
            let has_digit = shown.chars().any(|c| ('1'..='9').contains(&c));
            assert_eq!(is_some, has_digit, "{args:?}: {shown} for {row}");
        }
    }
}

#[test]
fn tables_have_one_word_for_a_cost_that_is_not_counted() {
    let home = with_the_sample();
    for kind in ["spent", "runs"] {
        let printed = home.text(&["table", kind, "sample-simulated.codex-strong"]);
        assert_eq!(printed_column(&printed, "Cost (US\\$)"), ["unknown"], "{printed}");
        assert!(!printed.contains("no cost"), "{printed}");
    }
}

/// Two tests had one name, and nothing named the comparison that is paired.
#[test]
fn every_p_has_its_name_and_unpaired_numbers_say_so() {
    let home = with_staminabench();
    let runs = ["staminabench.own", "staminabench.nested_folders"];
    let compared = home.text(&["compare", runs[0], runs[1]]);
    assert!(compared.contains("On shared scenarios read the paired difference first."), "{compared}");
    let printed = home.text(&["table", "pairs", runs[0], runs[1]]);
    let head = printed.lines().find(|line| line.contains("| Against |")).expect("a head");
    let named: Vec<&str> = head.split('|').map(str::trim).filter(|name| name.starts_with("p ")).collect();
    assert_eq!(
        named,
        [
            "p (difference)",
            "p (log-rank)",
            "p (log-rank, Holm over 1 pair)",
            "p (permutation)",
            "p (stratified by scenario)",
            "p (paired t)",
            "p (sign flip)"
        ]
    );
    assert!(!head.contains("| p |"), "{head}");
    assert!(printed.contains("Differences and ratios are unpaired; on shared scenarios"), "{printed}");
}

/// A head stood over nothing where one run was named. Of a height, "invalid digit found in string" and "unexpected argument
/// '-5'" were said.
#[test]
fn what_cannot_be_shown_says_what_holds() {
    let home = with_staminabench();
    let alone = home.stamina(&["table", "pairs", "staminabench.own"]);
    let message = String::from_utf8_lossy(&alone.stderr);
    assert_eq!(alone.status.code(), Some(1), "{message}");
    assert!(message.contains("Pairs are of two runs or more, and there is 1"), "{message}");
    for height in ["abc", "-5", "1.5"] {
        let wrong = home.stamina(&["figure", "survival", "staminabench.own", "--height", height]);
        let message = String::from_utf8_lossy(&wrong.stderr);
        assert_eq!(wrong.status.code(), Some(2), "{height}: {message}");
        assert!(message.contains("a height is a whole number of points"), "{height}: {message}");
    }
}

/// "Unknown or none" stood beside every turn that passed.
#[test]
fn failing_tests_of_a_turn_that_passed_are_none() {
    let table = with_staminabench().json(&["table", "turns", "staminabench.own"]);
    let rows = table["rows"].as_array().expect("rows");
    let with_state = |state: &str| rows.iter().filter(|row| row["state"] == state).collect::<Vec<&Value>>();
    let passed = with_state("passed");
    assert!(!passed.is_empty() && passed.iter().all(|row| row["failing"] == 0), "{table}");
    assert!(with_state("not reached").iter().all(|row| row["failing"].is_null()), "{table}");
}

/// Two runs of which one of two turns passed. Nobody says how many turns the scenario of the second one has.
fn with_a_score_in_doubt() -> TestHome {
    let home = TestHome::new();
    let path = home.path("attempts.csv");
    let rows = "run,harness,model,scenario,turn,attempt,passed,planned_turns\n\
                r,h,m,a,1,1,true,2\nr,h,m,a,2,1,false,2\ns,h,n,a,1,1,true,\ns,h,n,a,2,1,false,\n";
    std::fs::write(&path, rows).expect("a table");
    home.ingest(&path);
    home
}

/// What stands before the scores of turns, and these with what follows.
fn around_scores(text: &str) -> (&str, &str) {
    text.split_once("\nScores of turns, 0 to 100\n").unwrap_or_else(|| panic!("{text}"))
}

/// The cells of a line of a table in a terminal.
fn cells(line: &str) -> Vec<String> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

/// They stood in `--json` and in `stamina table scores` alone.
#[test]
fn scores_of_turns_stand_below_a_matrix_that_has_them() {
    let home = with_a_score_in_doubt();
    let text = home.text(&["matrix"]);
    let (_, scores) = around_scores(&text);
    let lines: Vec<Vec<String>> = scores.lines().map(cells).take(3).collect();
    let head = ["harness", "model", "dataset", "case", "perfect tasks", "MT@1", "SR", "Gap", "Comp"];
    assert_eq!(lines[0], head, "{scores}");
    assert_eq!(lines[1][..3], ["h", "m", "50.0"], "{scores}");
    assert_eq!(lines[1][5..], ["50.0", "unknown", "unknown", "0.0"], "{scores}");
    assert_eq!((lines[2][1].as_str(), lines[2][5].as_str()), ("n", "unknown"), "{scores}");
    // The most turns seen stand in for those that nobody declares, also in perfect tasks. What is unknown is not in doubt.
    assert!(lines[2][2..5].iter().all(|cell| cell.ends_with('*') != (cell == "unknown")), "{scores}");
    assert!(!scores.contains("unknown*") && lines[2][4].ends_with('*'), "{scores}");
    assert!(scores.contains("h × n: MT@k and Comp are refused: the number of rounds"), "{scores}");
    assert!(scores.contains("\nSR and Gap are unknown: "), "of both: {scores}");
    // A benchmark whose turns are not graded by themselves has none.
    let text = with_staminabench().text(&["matrix"]);
    assert!(!text.contains("Scores of turns"), "{text}");
}

/// They stood in `--json`, in the app and in `stamina table scores` alone, and the score had no mark.
#[test]
fn scores_of_turns_stand_below_a_comparison_that_has_them() {
    let home = with_a_score_in_doubt();
    let runs = home.run_ids();
    let arguments = ["compare", runs[0].as_str(), runs[1].as_str()];
    let text = home.text(&arguments);
    let (before, scores) = around_scores(&text);
    let lines: Vec<Vec<String>> = scores.lines().map(cells).take(3).collect();
    assert_eq!(lines[0], ["run", "dataset", "case", "perfect tasks", "MT@1", "SR", "Gap", "Comp"], "{text}");
    let is_in_doubt = |line: &Vec<String>| line[1] == "50.0*";
    assert_eq!(lines[1..].iter().filter(|line| is_in_doubt(line)).count(), 1, "{text}");
    let known = lines[1..].iter().find(|line| !is_in_doubt(line)).expect("a line");
    assert_eq!((known[1].as_str(), known[4].as_str(), known[7].as_str()), ("50.0", "50.0", "0.0"), "{text}");
    assert!(before.contains("50.0*"), "the score in the table of members: {text}");
    assert!(scores.contains("MT@k and Comp are refused: the number of rounds"), "{text}");
    assert!(scores.contains("so the score may be too high"), "{text}");
    // The same numbers as in JSON.
    let compared = home.json(&arguments);
    let members = compared["runs"].as_array().expect("members");
    assert!(members.iter().all(|member| member["scores"]["dataset_score"] == 50.0), "{compared}");
    // A benchmark whose turns are not graded by themselves has none.
    let text = with_staminabench().text(&["compare", "staminabench.own", "staminabench.nested_folders"]);
    assert!(!text.contains("Scores of turns"), "{text}");
}
