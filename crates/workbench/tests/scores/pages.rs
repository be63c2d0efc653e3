//! Scores on pages, in tables and in reports.

use figures::table::Value;
use workbench::Watch;
use workbench::api::{MatrixRequest, TableSubject};

use crate::library::Library;
use crate::scores::{compared, compared_runs, runs, table};

#[test]
fn pages_tables_and_reports_have_the_same_scores() {
    let library = Library::fixtures(&["harbor"]);
    let run = runs(&library).into_iter().find(|run| run.id.contains("oracle-k2")).unwrap();
    let scores = compared(&library, &run.id).unwrap();
    let percent = 100.0 * 11.0 / 12.0;
    assert_eq!((scores.rounds.mt_at_k.clone(), scores.rounds.comp), (vec![percent, percent], Some(100.0)));
    assert_eq!((scores.rounds.sr, scores.rounds.gap), (None, None));
    assert!(scores.rounds.missing[0].starts_with("SR and Gap are unknown"), "{:?}", scores.rounds.missing);
    assert_eq!((run.dataset_score, run.case_score), (scores.dataset_score, scores.case_score));
    assert_eq!((run.perfect.map(f64::from), run.rounds), (scores.perfect, Some(scores.rounds.clone())));

    let request = MatrixRequest { runs: vec![run.id.clone()], ..MatrixRequest::default() };
    let matrix = library.workbench.get_matrix(request.clone()).unwrap();
    assert_eq!(matrix.cells[0].as_ref().unwrap().scores.as_ref(), Some(&scores));
    assert!(
        matrix.published.iter().any(|number| number.metric == "mt4"),
        "tasks are named as EvoCode-Bench's"
    );
    for table in
        [TableSubject::Scores { request: compared_runs(&[&run.id]) }, TableSubject::Matrix { request }]
    {
        let table = library.workbench.table(&table).unwrap();
        let value = |name: &str| {
            let index = table.columns.iter().position(|column| column.name == name);
            match &table.rows[0][index.unwrap_or_else(|| panic!("no column {name}"))] {
                Some(Value::Number(number)) => Some(*number),
                _ => None,
            }
        };
        assert_eq!(value("mt_at_2"), Some(percent), "{}", table.to_csv());
        assert_eq!(value("dataset_score"), scores.dataset_score, "{}", table.to_csv());
        assert_eq!([value("comp"), value("sr"), value("gap")], [Some(100.0), None, None]);
    }
    let folder = tempfile::tempdir().unwrap();
    let report_path = folder.path().join("report");
    let exported = library
        .workbench
        .export_report(&compared_runs(&[&run.id]), "icml", &report_path, &Watch::nobody())
        .unwrap();
    for file in ["tables/scores.csv", "tables/published.csv"] {
        assert!(exported.files.iter().any(|name| name == file), "{file}: {:?}", exported.files);
    }
    let html = std::fs::read_to_string(report_path.join("report.html")).unwrap();
    for text in
        ["<h2>Scores of turns</h2>", "MT@2", "91.7", "Claude-Opus-4.7", "None of these was computed here"]
    {
        assert!(html.contains(text), "{text}");
    }
}

#[test]
fn mt_at_k_is_refused_with_the_reason_where_attempts_are_not_independent() {
    let head = "run,harness,model,scenario,turn,attempt,passed,planned_turns\n";
    let rows = "r,h,m,a,1,1,false,2\nr,h,m,a,1,2,true,2\nr,h,m,a,2,1,true,2\n";
    let (library, _folder) = table(&format!("{head}{rows}"));
    let scores = compared(&library, &runs(&library)[0].id).unwrap();
    assert_eq!((scores.rounds.mt_at_k.len(), scores.rounds.comp), (0, None));
    assert_eq!(scores.dataset_score, Some(100.0), "the other scores stay");
    let reason = "MT@k and Comp are refused: turns were tried again in 1 of 1 episode";
    assert!(scores.rounds.missing[0].starts_with(reason), "{:?}", scores.rounds.missing);
    let table = library
        .workbench
        .table(&TableSubject::Scores { request: compared_runs(&[&runs(&library)[0].id]) })
        .unwrap();
    assert!(table.notes.iter().any(|note| note.contains(reason)), "{:?}", table.notes);
    assert!(
        library
            .workbench
            .compare_runs(compared_runs(&[&runs(&library)[0].id]))
            .unwrap()
            .published_scores
            .is_empty()
    );
}

#[test]
fn several_runs_have_the_means_over_them() {
    let rows = "run,harness,model,scenario,turn,attempt,passed,planned_turns\n\
        r,h,m,a,1,1,true,2\nr,h,m,a,2,1,true,2\ns,h,m,a,1,1,true,2\ns,h,m,a,2,1,false,2\n";
    let (library, _folder) = table(rows);
    let matrix = library.workbench.get_matrix(MatrixRequest::default()).unwrap();
    let scores = matrix.cells[0].as_ref().unwrap().scores.clone().unwrap();
    assert_eq!((scores.runs, scores.dataset_score, scores.perfect), (2, Some(75.0), Some(0.5)));
    assert_eq!((scores.rounds.mt_at_k, scores.rounds.comp), (vec![75.0], Some(50.0)));
}

#[test]
fn scores_of_turns_do_not_apply_to_a_benchmark_that_does_not_grade_turns() {
    let library = Library::fixtures(&["staminabench/own"]);
    let run = &runs(&library)[0];
    assert_eq!((compared(&library, &run.id), run.rounds.clone()), (None, None));
    let table =
        library.workbench.table(&TableSubject::Scores { request: compared_runs(&[&run.id]) }).unwrap();
    assert!(table.notes.iter().any(|note| note.contains("these scores do not apply")), "{:?}", table.notes);
}

/// Worked by hand: MT@k takes the best reward of each round over the first k attempts, as it is.
#[test]
fn independent_attempts_of_a_table_have_the_scores_of_the_worked_example() {
    use std::fmt::Write as _;
    // `-` = not reached, `5` = half a reward.
    let tasks: [(&str, u32, &[&str]); 3] = [
        ("a", 4, &["110-", "10--", "1110", "0---"]),
        ("b", 3, &["111", "0--", "10-", "110"]),
        ("c", 5, &["0", "5", "0"]),
    ];
    let mut text = "run,harness,model,scenario,repeat,turn,attempt,passed,reward,planned_turns\n".to_owned();
    for (task, rounds, attempts) in tasks {
        for (repeat, attempt) in (1..).zip(attempts) {
            for (round, letter) in (1..).zip(attempt.chars()).filter(|(_, letter)| *letter != '-') {
                let reward = if letter == '5' { "0.5".to_owned() } else { letter.to_string() };
                let _ = writeln!(text, "r,h,m,{task},{repeat},{round},1,{},{reward},{rounds}", letter == '1');
            }
        }
    }
    let (library, _folder) = table(&text);
    let scores = compared(&library, &runs(&library)[0].id).unwrap();
    let wanted = [50.0, 53.333, 61.667];
    assert_eq!(scores.rounds.mt_at_k.len(), wanted.len(), "c has three attempts: {scores:?}");
    for (found, wanted) in scores.rounds.mt_at_k.iter().zip(wanted) {
        assert!((found - wanted).abs() < 5e-4, "{found} and {wanted}");
    }
    assert!((scores.rounds.comp.unwrap() - 33.333).abs() < 5e-4, "{scores:?}");
}

/// As `world/null-reward`, over several turns: what was reported is shown, and no score leaves 0 to 100.
#[test]
fn a_reward_that_is_not_in_0_to_1_counts_as_the_nearer_of_the_two() {
    let head = "run,harness,model,scenario,turn,attempt,passed,reward,planned_turns\n";
    let rows =
        "r,h,m,a,1,1,true,37.5,2\nr,h,m,a,2,1,false,-1,2\nr,h,m,b,1,1,true,,2\nr,h,m,b,2,1,false,0.5,2\n";
    let (library, _folder) = table(&format!("{head}{rows}"));
    let scores = compared(&library, &runs(&library)[0].id).unwrap();
    // Means of 1 and 0, and of 1 and 0.5.
    assert_eq!((scores.rounds.mt_at_k, scores.rounds.comp), (vec![62.5], Some(0.0)));
}

/// As `world/never-at-risk`, in a run whose tasks say how many turns they have.
#[test]
fn where_nobody_was_at_risk_scores_over_rounds_are_unknown() {
    let head = "run,harness,model,scenario,turn,attempt,passed,end_reason,planned_turns\n";
    let rows = "r,h,m,a,1,1,,environment,3\nr,h,m,b,1,1,,endpoint,3\n";
    let (library, _folder) = table(&format!("{head}{rows}"));
    let run = runs(&library).remove(0);
    let scores = compared(&library, &run.id).unwrap();
    assert_eq!((scores.dataset_score, scores.perfect), (None, None));
    assert_eq!((scores.rounds.mt_at_k.len(), scores.rounds.comp), (0, None));
    let first = scores.rounds.missing.first().unwrap();
    assert!(first.starts_with("MT@k and Comp are unknown: every episode was stopped"), "{first}");
    // One that passed a turn is enough.
    let (library, _folder) =
        table(&format!("{head}{rows}r,h,m,a,1,1,true,,3\n").replace("r,h,m,a,1,1,,environment,3\n", ""));
    let scores = compared(&library, &runs(&library)[0].id).unwrap();
    assert_eq!(scores.rounds.mt_at_k.len(), 1);
}
