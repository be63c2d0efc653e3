//! Tables that are exported have what their page shows, and say why something is missing.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use figures::table::{Table, Value};
use workbench::api::{
    AttemptChoice, CompareRequest, DisagreementMode, DisagreementRequest, DisagreementSort,
    FailureCasesRequest, FailuresRequest, GridSort, ImportReportRequest, ListRuns, MatrixRequest, Nothing,
    Pairs, RetriesRequest, RunGridRequest, TableSubject, TurnRef, WarningSelection,
};

use crate::library::{self, Library, members};

const TWO: [&str; 2] = ["staminabench.own", "staminabench.nested_folders"];

fn compared_runs(runs: &[&str]) -> CompareRequest {
    CompareRequest { members: members(runs), pairs: Pairs::All, ..CompareRequest::default() }
}

impl Library {
    fn table(&self, request: &TableSubject) -> Table {
        self.workbench.table(request).expect("a table")
    }
}

/// What stands in a column, row by row.
fn column<'a>(table: &'a Table, name: &str) -> Vec<Option<&'a Value>> {
    let index =
        table.columns.iter().position(|c| c.name == name).unwrap_or_else(|| panic!("no column {name}"));
    table.rows.iter().map(|row| row[index].as_ref()).collect()
}

fn text(value: Option<&Value>) -> &str {
    match value {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

#[test]
fn only_cells_without_a_run_say_so_and_the_matrix_has_its_means_and_intervals() {
    let library = Library::fixtures(&["staminabench"]);
    let table = library.table(&TableSubject::Matrix { request: MatrixRequest::default() });
    let printed = table.to_markdown();
    let lines: Vec<&str> = printed.lines().filter(|l| l.starts_with("| ") && !l.contains("---")).collect();
    let with_run = lines.iter().filter(|l| !l.contains("no run")).count();
    // A head, four cells with a run, and the means of four harnesses and two models; four cells have none.
    assert_eq!((lines.len(), with_run), (1 + 8 + 6, 1 + 4 + 6), "{printed}");
    let alone =
        lines.iter().find(|l| l.starts_with("| unknown | unknown |")).expect("a run that says nothing");
    assert!(alone.contains("| n/a |") && !alone.contains("no run"), "no variation, and a run: {alone}");
    let columns = ["harness", "model", "mean_stamina", "mean_of"].map(|name| column(&table, name));
    let means: Vec<_> = (0..table.rows.len())
        .filter(|row| text(columns[0][*row]) == "mean over harnesses")
        .map(|row| (text(columns[1][row]), columns[2][row].cloned(), columns[3][row].cloned()))
        .collect();
    assert_eq!(means[0], ("zai.glm-5", Some(Value::Number(3.0)), Some(Value::Integer(3))), "{means:?}");
    assert!(table.notes.contains(&"zai.glm-5: no harness lasts longer than another.".to_owned()));
    // A file of values has nothing where nothing is known.
    assert!(
        table
            .to_csv()
            .lines()
            .any(|l| l.ends_with(&format!("unknown,zai.glm-5{}", ",".repeat(table.columns.len() - 2)))),
        "{}",
        table.to_csv()
    );

    let spread = library.table(&TableSubject::Spread { request: MatrixRequest::default() });
    assert_eq!(spread.rows.len(), 2);
    assert!(spread.to_markdown().contains("one harness only"));
    let published = library.table(&TableSubject::Published { request: MatrixRequest::default() });
    let numbers = library.workbench.get_matrix(MatrixRequest::default()).unwrap().published;
    assert_eq!(published.rows.len(), numbers.len());
}

#[test]
fn what_runs_used_and_how_they_depend_on_censoring_are_tables() {
    let library = Library::fixtures(&["staminabench"]);
    let comparison = library.workbench.compare_runs(compared_runs(&TWO)).unwrap();
    let spent = library.table(&TableSubject::Spent { request: compared_runs(&TWO) });
    let played: Vec<Option<Value>> =
        comparison.members.iter().map(|m| Some(m.spent.turns_played.into())).collect();
    assert_eq!(column(&spent, "turns_played"), played.iter().map(Option::as_ref).collect::<Vec<_>>());
    let known: Vec<Option<Value>> =
        comparison.members.iter().map(|m| m.spent.input_tokens.map(Into::into)).collect();
    assert_eq!(column(&spent, "input_tokens"), known.iter().map(Option::as_ref).collect::<Vec<_>>());

    let sensitivity = library.table(&TableSubject::Sensitivity { request: compared_runs(&TWO) });
    assert_eq!(sensitivity.rows.len(), 6, "three ways to count of each of two");
    let means = column(&sensitivity, "mean_stamina");
    let member = &comparison.members[0];
    for (mean, stamina) in
        means.iter().zip([&member.stamina, &member.censored_failed, &member.censored_dropped])
    {
        assert_eq!(mean.cloned(), stamina.mean.map(Value::Number));
    }
    assert!(column(&sensitivity, "change")[0] == Some(&Value::Number(0.0)));
}

#[test]
fn the_tests_between_two_have_all_that_their_page_shows() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let request = compared_runs(&["jobs.oracle-k2-oracle", "jobs.nop-k1-nop"]);
    let comparison = library.workbench.compare_runs(request.clone()).unwrap();
    let pair = &comparison.pairs[0];
    let table = library.table(&TableSubject::Pairs { request: request.clone() });
    let cell = |name: &str| column(&table, name)[0].cloned();
    assert_eq!(cell("logrank_p_stratified"), pair.logrank_stratified.map(|t| Value::Number(t.p)));
    assert_eq!(
        cell("difference_bootstrap_ci_low"),
        pair.difference_bootstrap.map(|(low, _)| Value::Number(low))
    );
    assert_eq!(
        cell("difference_bootstrap_ci_high"),
        pair.difference_bootstrap.map(|(_, high)| Value::Number(high))
    );
    assert_eq!(cell("paired_tau"), pair.paired.as_ref().map(|p| Value::Integer(p.tau.into())));
    let runs = library.table(&TableSubject::Runs { request });
    let drawn = comparison.members[0].stamina_bootstrap.map(|(low, _)| Value::Number(low));
    assert_eq!(column(&runs, "bootstrap_ci_low")[0].cloned(), drawn);
    let printed = table.to_markdown();
    assert!(printed.contains("95 % CI, bootstrap"), "{printed}");
}

#[test]
fn every_turn_on_which_runs_disagree_is_a_row_for_each_run() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let request = DisagreementRequest {
        members: members(&["jobs.oracle-k2-oracle", "jobs.nop-k1-nop"]),
        reference: 0,
        mode: DisagreementMode::Different,
        sort: DisagreementSort::Scenario,
        text: String::new(),
        // What a page shows does not cut the table.
        offset: 1,
        limit: 1,
    };
    let all = library
        .workbench
        .list_disagreements(DisagreementRequest { offset: 0, limit: 0, ..request.clone() })
        .unwrap();
    let table = library.table(&TableSubject::Disagreements { request });
    let cells: usize = all.rows.iter().map(|row| row.cells.iter().flatten().count()).sum();
    assert!(all.total > 1 && table.rows.len() == cells, "{} rows of {cells}", table.rows.len());
    let states: Vec<&str> = column(&table, "state").into_iter().map(text).collect();
    assert!(states.contains(&"passed") && states.contains(&"failed"), "{states:?}");
    assert!(table.notes.iter().any(|n| n.contains("The reference is oracle")), "{:?}", table.notes);
}

#[test]
fn the_failures_page_can_be_taken_away_whole() {
    let library = Library::fixtures(&["harbor/jobs/failures-k1"]);
    let failed = FailuresRequest { members: members(&["failures-k1-oracle"]), ..FailuresRequest::default() };
    let data = library.workbench.get_failures(failed.clone()).unwrap();
    let cases = |request| library.table(&TableSubject::Cases { request });
    let failed_cases = || FailureCasesRequest { failures: failed.clone(), ..FailureCasesRequest::default() };
    let all = cases(FailureCasesRequest { offset: 3, limit: 2, ..failed_cases() });
    assert_eq!(all.rows.len() as u32, data.attempts);
    let share = data.total.shares.iter().find(|s| s.attempts == 0 && s.tests > 0);
    let share = share.or_else(|| data.total.shares.iter().find(|s| s.tests > 0)).unwrap();
    let class = Some(share.class.clone());
    let class_cases = cases(FailureCasesRequest { class: class.clone(), ..failed_cases() });
    assert_eq!(class_cases.rows.len() as u32, share.attempts);
    let by_tests = cases(FailureCasesRequest { class, by_tests: true, ..failed_cases() });
    assert!(!by_tests.rows.is_empty());
    assert!(by_tests.notes.iter().any(|n| n.contains("a failing test of")), "{:?}", by_tests.notes);

    let origins = library.table(&TableSubject::Origins { request: failed.clone() });
    let sum: i64 = column(&origins, "tests")
        .into_iter()
        .map(|v| if let Some(Value::Integer(n)) = v { *n } else { 0 })
        .sum();
    assert_eq!(sum, i64::from(data.tests));
    let repairs = library.table(&TableSubject::Repairs { request: failed.clone() });
    assert_eq!(repairs.rows.len(), data.repair.at_attempt.len());
    assert!(repairs.notes[0].starts_with(&format!("{} turns failed", data.repair.failed_first)));
    let flips = library.table(&TableSubject::Flips { request: failed.clone() });
    assert_eq!(flips.rows.len(), data.flips.len());
    let within = data.flips.iter().map(|flip| !flip.changed_within.is_empty());
    assert!(column(&flips, "changed_within").iter().map(Option::is_some).eq(within));
    for flip in &data.flips {
        // Changes from turn to turn; those between attempts of one turn are not in the letters.
        let letters: Vec<char> = flip.outcomes.chars().filter(|letter| *letter != '.').collect();
        let by_turn = letters.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(by_turn <= flip.flips as usize, "{flip:?}");
        assert!(by_turn == flip.flips as usize || !flip.changed_within.is_empty(), "{flip:?}");
    }
    let rules = library.table(&TableSubject::Rules { request: failed });
    assert_eq!(rules.rows.len(), data.rules.len());
}

#[test]
fn gains_are_those_of_the_page() {
    let library = Library::fixtures(&["staminabench"]);
    let request = RetriesRequest { members: members(&["staminabench.own"]), ..RetriesRequest::default() };
    let table = library.table(&TableSubject::Gains { request });
    assert_eq!(column(&table, "gain"), [Some(&Value::Number(6.0))]);
    assert_eq!(column(&table, "mean_without"), [Some(&Value::Number(0.5))]);
}

#[test]
fn the_grid_of_a_run_and_its_episodes_are_tables() {
    let library = Library::fixtures(&["staminabench"]);
    for sort in [GridSort::Stamina, GridSort::Scenario, GridSort::Score] {
        let request = RunGridRequest { run: TWO[0].to_owned(), sort, offset: 0, limit: 0 };
        let rows = library.workbench.run_grid(request).unwrap().rows;
        let episodes = library.table(&TableSubject::Episodes { members: members(&TWO[..1]), sort });
        let stamina: Vec<Option<Value>> = rows.iter().map(|row| Some(row.stamina.into())).collect();
        assert_eq!(column(&episodes, "stamina"), stamina.iter().map(Option::as_ref).collect::<Vec<_>>());
        let ids: Vec<&str> = column(&episodes, "episode").into_iter().map(text).collect();
        assert_eq!(ids, rows.iter().map(|row| row.episode.as_str()).collect::<Vec<_>>(), "{sort:?}");

        let turns = library.table(&TableSubject::Turns { members: members(&TWO[..1]), sort });
        let cells: String = rows.iter().map(|row| row.cells.as_str()).collect();
        let api_error: String = column(&turns, "state")
            .into_iter()
            .map(|state| match text(state) {
                "passed" => 'p',
                "passed after retries" => 'r',
                "failed" => 'f',
                "error" => 'e',
                "censored" => 'c',
                _ => 'n',
            })
            .collect();
        assert_eq!(api_error, cells, "{sort:?}");
    }
    let both_tables =
        library.table(&TableSubject::Episodes { members: members(&TWO), sort: GridSort::Scenario });
    let runs: Vec<&str> = column(&both_tables, "run_id").into_iter().map(text).collect();
    assert_eq!(runs, [TWO[0], TWO[1], TWO[0], TWO[1]], "those of one scenario stand together");
}

/// The tables said `theme_t1_w1_notes_cli` beside a figure that said `notes-cli`: only one of both runs has titles.
#[test]
fn scenarios_have_the_same_names_in_tables_as_in_figures() {
    let repository = library::repository();
    let library = Library::new(&[
        repository.join("data/sample-harbor.zip"),
        repository.join("tests/fixtures/harbor/jobs"),
    ]);
    let runs = ["sample-harbor.nop-k1-nop", "jobs.oracle-k2-oracle"];
    let disagreements = DisagreementRequest {
        members: members(&runs),
        reference: 0,
        mode: DisagreementMode::All,
        sort: DisagreementSort::Scenario,
        text: String::new(),
        offset: 0,
        limit: 0,
    };
    for request in [
        TableSubject::Paired { request: compared_runs(&runs), other: None },
        TableSubject::Disagreements { request: disagreements },
        TableSubject::Episodes { members: members(&runs), sort: GridSort::Scenario },
        TableSubject::Turns { members: members(&runs), sort: GridSort::Scenario },
    ] {
        let table = library.table(&request);
        let names = column(&table, "title").into_iter().map(text);
        let named_ids: Vec<(&str, &str)> =
            column(&table, "scenario").into_iter().map(text).zip(names).collect();
        let is_named = |(id, name): &(&str, &str)| !id.contains("notes_cli") || *name == "notes-cli";
        assert!(named_ids.iter().all(is_named), "{request:?}: {named_ids:?}");
        let printed = table.to_markdown();
        assert!(
            printed.contains("| notes-cli |") && !printed.contains("notes_cli"),
            "{request:?}: {printed}"
        );
        assert!(table.to_csv().contains("notes_cli"), "files of values have the id: {request:?}");
    }
}

#[test]
fn the_library_is_a_table_of_what_its_filters_leave() {
    let library = Library::fixtures(&["staminabench", "harbor/jobs"]);
    let table = |filter| library.table(&TableSubject::Library { request: filter });
    let listed = |filter: ListRuns| {
        let page = library.workbench.list_runs(ListRuns { limit: 500, ..filter }).unwrap();
        page.rows.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    // What a page shows does not cut the table.
    let all = ListRuns { offset: 2, limit: 1, ..ListRuns::default() };
    let ids =
        |table: &Table| column(table, "run_id").into_iter().map(|v| text(v).to_owned()).collect::<Vec<_>>();
    assert_eq!(ids(&table(all)), listed(ListRuns::default()));
    let real = ListRuns { real_only: true, ..ListRuns::default() };
    let some = table(real.clone());
    assert!(!some.rows.is_empty() && some.rows.len() < listed(ListRuns::default()).len());
    assert_eq!(ids(&some), listed(real));
}

#[test]
fn a_turn_has_its_attempts_its_tests_and_those_of_another_run_beside_them() {
    let library = Library::fixtures(&["staminabench"]);
    let run = TWO[0].to_owned();
    let request = RunGridRequest { run: run.clone(), sort: GridSort::Scenario, offset: 0, limit: 0 };
    let grid = library.workbench.run_grid(request).unwrap().rows;
    // The first turn that was tried again or failed, with tests that are described.
    let (episode, turn) = grid
        .iter()
        .flat_map(|row| (1_u32..).zip(row.cells.chars()).map(move |(turn, state)| (row, turn, state)))
        .find(|(_, _, state)| "rf".contains(*state))
        .map(|(row, turn, _)| (row.episode.clone(), turn))
        .expect("a turn with a failed attempt");
    let requested = TurnRef { run: run.clone(), episode: episode.clone(), turn };
    let detail = library.workbench.get_turn(requested.clone()).unwrap();
    let attempts = library.table(&TableSubject::Attempts { turn: requested });
    assert_eq!(attempts.rows.len(), detail.attempts.len());
    let passed: Vec<Option<Value>> = detail.attempts.iter().map(|a| a.passed.map(Value::from)).collect();
    assert_eq!(column(&attempts, "passed"), passed.iter().map(Option::as_ref).collect::<Vec<_>>());

    let attempt =
        |number| AttemptChoice { run: run.clone(), episode: episode.clone(), turn, attempt: number };
    let first = library.table(&TableSubject::Tests { attempt: attempt(Some(1)) });
    let reported = &detail.attempts[0];
    let named = reported.failing.len() + reported.passed_tests.len() + reported.skipped_tests.len();
    assert_eq!(first.rows.len(), named);
    let ids: Vec<&str> = column(&first, "test").into_iter().map(text).collect();
    assert!(reported.failing.iter().zip(&ids).all(|(test, id)| test.id == *id), "what failed stands first");
    let last = library.table(&TableSubject::Tests { attempt: attempt(None) });
    let number = detail.attempts.last().unwrap().number;
    assert!(last.title.ends_with(&format!("turn {turn}, attempt {number}")), "{}", last.title);
    let none = library.workbench.table(&TableSubject::Tests { attempt: attempt(Some(99)) });
    assert_eq!(none.unwrap_err().code, "attempt.not_found");

    // Beside itself nothing is different; what fails on one side only stands first.
    let same = library.table(&TableSubject::Joined { left: attempt(Some(1)), right: attempt(Some(1)) });
    assert!(column(&same, "different").iter().all(|value| *value == Some(&Value::Flag(false))));
    let other = library.table(&TableSubject::Joined { left: attempt(Some(1)), right: attempt(None) });
    assert_eq!(other.notes.iter().filter(|note| note.contains(&format!("turn {turn}"))).count(), 2);
}

#[test]
fn the_warnings_of_a_source_are_a_table() {
    let library = Library::fixtures(&["staminabench"]);
    let source = library.workbench.app_state(Nothing {}).unwrap().sources[0].id;
    let request =
        ImportReportRequest { source, treatment: None, code: None, run: None, offset: 0, limit: 5_000 };
    let report = library.workbench.import_report(request).unwrap();
    let table = library.table(&TableSubject::Warnings {
        selection: WarningSelection { source, treatment: None, run: None },
    });
    assert!(report.matching > 0 && table.rows.len() as u64 == report.matching);
    let codes: Vec<&str> = column(&table, "code").into_iter().map(text).collect();
    assert_eq!(codes, report.warnings.iter().map(|w| w.code.as_str()).collect::<Vec<_>>());
    let treatment = Some(report.warnings[0].treatment);
    let some = library
        .table(&TableSubject::Warnings { selection: WarningSelection { source, treatment, run: None } });
    assert_eq!(some.rows.len(), report.warnings.iter().filter(|w| Some(w.treatment) == treatment).count());
}

/// A rate over a part of what was played says so beside it, in every table that has it.
#[test]
fn rates_that_are_known_for_a_part_say_for_how_much() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.csv");
    std::fs::write(
        &path,
        "run,harness,model,scenario,turn,attempt,passed,steps,tokens_in,tokens_out,planned_turns\n\
         r,h,m,a,1,1,true,10,7,1,2\nr,h,m,a,2,1,true,,,,2\nr,h,m,b,1,1,true,2,7,1,2\nr,h,m,b,2,1,false,0,7,1,2\n",
    )
    .unwrap();
    let library = Library::new(&[path]);
    let run = library.workbench.list_runs(ListRuns::default()).unwrap().rows[0].id.clone();
    let compared = compared_runs(&[&run]);
    let known =
        "m: known are steps for 3 of 4 turns, steps survived for 1 of 2 episodes, tokens for 3 of 4 turns.";
    for table in [TableSubject::Runs { request: compared.clone() }, TableSubject::Spent { request: compared }]
    {
        let notes = library.table(&table).notes;
        assert!(notes.iter().any(|note| note == known), "{notes:?}");
    }
}

/// "Cost per survived turn" stood over runs of one turn.
#[test]
fn what_runs_of_one_turn_used_is_counted_by_trial() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("used.csv");
    let rows = "run,harness,model,scenario,turn,attempt,passed,tokens_in,tokens_out,cost_usd,planned_turns\n\
        one,h,m,a,1,1,true,7,1,0.5,1\none,h,m,b,1,1,false,7,1,1.0,1\n\
        none,h,n,a,1,1,false,7,1,0.5,1\nnone,h,n,b,1,1,false,,,0.5,1\n";
    std::fs::write(&path, rows).unwrap();
    let library = Library::new(&[path]);
    let mut runs = library.workbench.list_runs(ListRuns::default()).unwrap().rows;
    runs.sort_by(|a, b| a.model.cmp(&b.model));
    let compared = compared_runs(&[&runs[0].id, &runs[1].id]);
    let [run_table, spent] =
        [TableSubject::Runs { request: compared.clone() }, TableSubject::Spent { request: compared }]
            .map(|table| library.table(&table));
    for table in [&run_table, &spent] {
        let heads: Vec<&str> =
            table.columns.iter().filter(|c| !c.for_machines).map(|c| c.heading.as_str()).collect();
        for head in ["Cost per trial", "Cost per passed trial", "Tokens per trial", "Steps per trial"] {
            assert!(heads.contains(&head), "{heads:?}");
        }
        let is_turn_column =
            |head: &&str| ["turn", "pisode", "urvived"].iter().any(|word| head.contains(word));
        assert!(!heads.iter().any(is_turn_column), "{heads:?}");
    }
    assert_eq!(column(&spent, "cost_per_episode"), [Some(&Value::Number(0.75)), Some(&Value::Number(0.5))]);
    assert_eq!(column(&spent, "cost_per_survived_turn"), [Some(&Value::Number(1.5)), None]);
    for note in [
        "no trial passed, so there is no cost per passed trial.",
        "tokens for 1 of 2 trials",
        "over those that passed",
    ] {
        assert!(spent.notes.iter().any(|line| line.contains(note)), "{note}: {:?}", spent.notes);
    }
    assert!(
        !spent.notes.iter().any(|note| note.contains("turn") || note.contains("pisode")),
        "{:?}",
        spent.notes
    );
}
