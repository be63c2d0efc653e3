//! Scenarios with several episodes, and ends that are not recognized.

use std::fmt::Write as _;
use std::path::PathBuf;

use workbench::api::{CompareRequest, MatrixRequest, Member, Pairs, RetriesRequest};

use crate::comparisons::ORACLE;
use crate::library::{Library, members};

/// Rows of a tidy table: two trials of each task, of which those of `b` end by a cause that is not recognized.
fn trials(run: &str, tasks: &[&str]) -> String {
    let mut rows =
        // words: ok (`unrecognised` is the name of a column)
        "run,harness,model,scenario,repeat,turn,attempt,passed,end_reason,unrecognised,planned_turns\n"
            .to_owned();
    for task in tasks {
        for repeat in 1..=2 {
            for turn in 1..=3 {
                let (passed, end) = match *task {
                    "b" if turn == 2 => ("", "agent_error,true"),
                    "c" if turn == 3 => ("false", ","),
                    _ => ("true", ","),
                };
                writeln!(rows, "{run},h,m,{task},{repeat},{turn},1,{passed},{end},3").unwrap();
                if *task == "b" && turn == 2 {
                    break;
                }
            }
        }
    }
    rows
}

/// A member of two runs has one line about ends that are not recognized, over both, and its interval is by scenario.
#[test]
fn what_rests_on_ends_that_are_not_recognized_is_said_of_the_member() {
    let line = |sources: &[(&str, &[&str])]| {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = sources
            .iter()
            .map(|(name, tasks)| {
                let path = folder.path().join(format!("{name}.csv"));
                std::fs::write(&path, trials(name, tasks)).unwrap();
                path
            })
            .collect();
        let library = Library::new(&paths);
        let runs = library.workbench.list_runs(workbench::api::ListRuns::default()).unwrap().rows;
        let model_members =
            vec![Member::Model { model: "m".to_owned(), benchmark: runs[0].benchmark.key.clone() }];
        let request = CompareRequest { members: model_members, ..CompareRequest::default() };
        let comparison = library.workbench.compare_runs(request).unwrap();
        let lines: Vec<String> =
            comparison.members[0].caveats.iter().filter(|c| c.contains("not recognized")).cloned().collect();
        let [one] = &lines[..] else { panic!("one line: {lines:?}") };
        one.clone()
    };
    let whole = line(&[("one", &["a", "b", "c"])]);
    assert!(whole.starts_with("The cause of 2 of 6 ends"), "{whole}");
    assert!(whole.contains("95 % CI by scenario"), "{whole}");
    assert_eq!(line(&[("one", &["a", "b"]), ("two", &["c"])]), whole);
}

/// Where trials of a task repeat, the curve of retry budgets has the interval that the mean beside it has.
#[test]
fn retry_budgets_have_the_interval_of_repeats() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let request = RetriesRequest { members: members(&[ORACLE]), ..RetriesRequest::default() };
    let retries = library.workbench.get_retries(request).unwrap();
    let point = &retries.series[0].points[0].stamina;
    let whole = &library.compare(&[ORACLE], Pairs::All).members[0].stamina;
    assert_eq!(retries.tau, whole.tau);
    assert!(point.clustered && whole.clustered);
    assert_eq!((point.mean, point.ci_low, point.ci_high), (whole.mean, whole.ci_low, whole.ci_high));
}

/// An episode: its scenario, its repeat, how many turns passed, and how the next one ended.
type PlayedEpisode<'a> = (&'a str, u32, u32, &'a str);

/// Rows of a tidy table of one run with 9 planned turns.
fn played(run: &str, episodes: &[PlayedEpisode<'_>]) -> String {
    let mut rows =
        "run,harness,model,scenario,repeat,turn,attempt,passed,end_reason,planned_turns\n".to_owned();
    for (scenario, repeat, passed, end) in episodes {
        for turn in 1..=*passed {
            writeln!(rows, "{run},h,{run},{scenario},{repeat},{turn},1,true,,9").unwrap();
        }
        let verdict = if *end == "tests_failed" { "false" } else { "" };
        writeln!(rows, "{run},h,{run},{scenario},{repeat},{},1,{verdict},{end},9", passed + 1).unwrap();
    }
    rows
}

/// A library of such runs, and their ids in the order of their names.
fn library_of(runs: &[(&str, &[PlayedEpisode<'_>])]) -> (tempfile::TempDir, Library, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = runs
        .iter()
        .map(|(name, episodes)| {
            let path = folder.path().join(format!("{name}.csv"));
            std::fs::write(&path, played(name, episodes)).unwrap();
            path
        })
        .collect();
    let library = Library::new(&paths);
    let listed = library.workbench.list_runs(workbench::api::ListRuns::default()).unwrap().rows;
    let mut ids: Vec<String> = listed.into_iter().map(|row| row.id).collect();
    ids.sort();
    (folder, library, ids)
}

/// A member that holds τ down changes the means of the others, and not what half of their episodes pass.
#[test]
fn a_median_is_the_same_in_a_comparison_and_alone() {
    let long = [("a", 1, 4, "tests_failed"), ("b", 1, 4, "tests_failed"), ("c", 1, 6, "tests_failed")];
    let short = [("a", 1, 2, "endpoint"), ("b", 1, 1, "tests_failed"), ("c", 1, 2, "endpoint")];
    let (_folder, library, ids) = library_of(&[("long", &long), ("short", &short)]);
    let (long, short) = (ids[0].as_str(), ids[1].as_str());
    let alone = library.compare(&[long], Pairs::Reference);
    assert_eq!((alone.tau, alone.members[0].stamina.median.time()), (Some(9), Some(4)));
    let compared = library.compare(&[long, short], Pairs::Reference);
    assert_eq!((compared.tau, compared.members[0].stamina.mean), (Some(2), Some(2.0)));
    assert_eq!(compared.members[0].stamina.median.time(), Some(4), "half fail at turn 5, as in the library");
    let matrix = library.workbench.get_matrix(MatrixRequest::default()).unwrap();
    let medians: Vec<Option<u32>> =
        matrix.cells.iter().flatten().map(|cell| cell.stamina.median.time()).collect();
    assert_eq!((matrix.tau, medians), (Some(2), vec![Some(4), None]));
}

/// A repeat that was never at risk says nothing, so that intervals stay as they are and nobody says they are clustered.
#[test]
fn repeats_that_were_never_at_risk_are_not_said_to_cluster_intervals() {
    let begun = [("a", 1, 4, "tests_failed"), ("b", 1, 3, "tests_failed"), ("b", 2, 0, "environment")];
    let repeated = [("a", 1, 4, "tests_failed"), ("b", 1, 3, "tests_failed"), ("b", 2, 1, "tests_failed")];
    let (_folder, library, ids) = library_of(&[("begun", &begun), ("repeated", &repeated)]);
    let clustering = |run: &str| {
        let comparison = library.compare(&[run], Pairs::Reference);
        let is_cautioned =
            comparison.cautions.iter().any(|caution| caution.contains("several episodes of a scenario"));
        (comparison.members[0].stamina.clustered, is_cautioned)
    };
    assert_eq!((clustering(&ids[0]), clustering(&ids[1])), ((false, false), (true, true)));
}
