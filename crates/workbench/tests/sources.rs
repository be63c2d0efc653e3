//! A user opens, watches, reads and closes real results through the commands.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{CensoringPolicy, EndReason, Ending, TurnState};
use test_folders::copy;
use workbench::api::{
    AppState, AttemptRef, CodeRequest, FailureOrigin, FigureKind, FigureTheme, GridSort, ListRuns, Nothing,
    OpenSource, ReadText, RunFigureRequest, RunGridRequest, RunRef, SearchRequest, SetPolicy, SourceRef,
    SourceStatus, TurnRef, WaitForChanges,
};
use workbench::{Options, Workbench};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the repository")
        .join("tests/fixtures")
        .join(name)
}

fn open(folder: &Path, live: bool) -> Arc<Workbench> {
    Workbench::open(Options { db: Some(folder.join("library.sqlite")), live, ..Options::default() })
        .expect("a library")
}

/// Waits, by the command that the UI waits with, until the state is as wanted.
fn wait_until(workbench: &Workbench, condition: &str, wanted: impl Fn(&AppState) -> bool) -> AppState {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let state = workbench.app_state(Nothing {}).expect("a state");
        if wanted(&state) {
            return state;
        }
        assert!(Instant::now() < deadline, "never: {condition}");
        // words: ok: a JSON key.
        let request = WaitForChanges { since: state.change, timeout_ms: 5_000 };
        workbench.wait_for_changes(request).expect("changes");
    }
}

fn ready(state: &AppState) -> bool {
    !state.sources.is_empty() && state.sources.iter().all(|s| s.status == SourceStatus::Ready)
}

fn runs(workbench: &Workbench) -> Vec<workbench::api::RunRow> {
    workbench.list_runs(ListRuns::default()).expect("runs").rows
}

#[test]
fn a_folder_that_changes_is_seen_in_the_open_app() {
    let folder = tempfile::tempdir().expect("a folder");
    let jobs = folder.path().join("jobs");
    copy(&fixture("harbor/jobs/nop-k1"), &jobs.join("nop-k1"));
    let workbench = open(folder.path(), true);
    workbench.open_source(OpenSource { path: jobs.display().to_string() }).expect("opened");
    wait_until(&workbench, "the jobs are read", ready);
    assert_eq!(runs(&workbench).len(), 1);

    copy(&fixture("harbor/jobs/oracle-k2"), &jobs.join("oracle-k2"));
    wait_until(&workbench, "the new job is noticed", |_| {
        runs(&workbench).iter().any(|r| r.id.contains("oracle-k2") && r.episodes == 6)
    });

    std::fs::remove_dir_all(jobs.join("nop-k1")).expect("removed");
    wait_until(&workbench, "the removed job is gone", |_| {
        runs(&workbench).iter().all(|r| r.id.contains("oracle-k2"))
    });
}

#[test]
fn what_another_process_reads_shows_up_in_the_open_app() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = open(folder.path(), true);
    let cli = open(folder.path(), false);
    cli.ingest(&fixture("harbor/jobs/nop-k1"), &|_, _| {}).expect("read");
    wait_until(&app, "the source of the other process", |s| s.sources.len() == 1 && s.runs == 1);
}

#[test]
fn from_the_run_down_to_a_failing_test() {
    let folder = tempfile::tempdir().expect("a folder");
    let workbench = open(folder.path(), false);
    workbench.ingest(&fixture("harbor"), &|_, _| {}).expect("read");
    let run = runs(&workbench).into_iter().find(|r| r.id.contains("failures-k1")).expect("the job").id;

    let grid = workbench
        .run_grid(RunGridRequest { run: run.clone(), sort: GridSort::default(), offset: 0, limit: 0 })
        .expect("a grid");
    assert_eq!((grid.turns, grid.total), (4, 8));
    let episode = grid.rows.iter().find(|e| e.cells == "ppfp").expect("a regression").episode.clone();

    let turn =
        workbench.get_turn(TurnRef { run: run.clone(), episode: episode.clone(), turn: 3 }).expect("a turn");
    assert_eq!(turn.state, TurnState::Failed);
    assert!(turn.request.expect("the task's instruction").text.contains("Round 3"));
    let attempt = &turn.attempts[0];
    assert!(!attempt.failing.is_empty() && attempt.failing[0].expected.is_some());
    assert_eq!(attempt.failing_not_described, 0);
    let stood: Vec<FailureOrigin> = attempt.histories.iter().map(|entry| entry.history).collect();
    // Ids of cases are numbers, given anew in every turn. What they check identifies them.
    let expected = [[FailureOrigin::Regressed; 4], [FailureOrigin::New; 4]].concat();
    assert_eq!(stood, expected);

    let log = attempt.logs.iter().find(|l| l.label == "Test output").expect("a test output");
    let read = |path: &str| {
        workbench.read_text(ReadText {
            run: run.clone(),
            episode: episode.clone(),
            turn: Some(3),
            attempt: Some(1),
            path: path.to_owned(),
            offset: 0,
            limit: 0,
        })
    };
    assert!(read(&log.path).expect("the log").text.contains("CASE_SUMMARY"));
    assert_eq!(
        read("jobs/failures-k1/config.json").expect_err("no log of this attempt").code,
        "text.not_found"
    );
    assert_eq!(read("../../etc/passwd").expect_err("no way out").code, "text.not_found");

    let requested = AttemptRef { run: run.clone(), episode: episode.clone(), turn: 3, attempt: 1 };
    let no_code = workbench
        .code_changes(CodeRequest { attempt: requested, against: None })
        .expect_err("Harbor keeps no code");
    assert_eq!(no_code.code, "code.not_found");
    let beyond = workbench.get_turn(TurnRef { run, episode, turn: 5 }).expect_err("four turns");
    assert_eq!(beyond.code, "turn.not_found");
}

#[test]
fn parts_of_json_files_are_read_as_the_texts_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let workbench = open(folder.path(), false);
    // Without the tasks beside it, the request is only in the transcript; an exception's traceback is in result.json.
    workbench.ingest(&fixture("harbor/jobs"), &|_, _| {}).expect("read");
    let ids: Vec<String> = runs(&workbench).into_iter().map(|r| r.id).collect();
    let run = |part: &str| ids.iter().find(|id| id.contains(part)).expect("the job").clone();
    let grid = |run: &str| {
        let request = RunGridRequest { run: run.to_owned(), sort: GridSort::default(), offset: 0, limit: 0 };
        workbench.run_grid(request).expect("a grid").rows
    };

    let mock = run("terminus2-mock-priced");
    let episode = grid(&mock)[0].episode.clone();
    let turn = workbench.get_turn(TurnRef { run: mock, episode, turn: 1 }).expect("a turn");
    assert!(turn.request.expect("the first message").text.contains("Round 1"));

    let failures = run("failures-k1");
    let episode =
        grid(&failures).into_iter().find(|e| e.scenario.contains("v3_")).expect("a timeout").episode;
    let turn = workbench
        .get_turn(TurnRef { run: failures.clone(), episode: episode.clone(), turn: 2 })
        .expect("a turn");
    let log = turn.attempts[0].logs.iter().find(|l| l.path.contains('#')).expect("a traceback");
    let text = workbench
        .read_text(ReadText {
            run: failures,
            episode,
            turn: Some(2),
            attempt: Some(1),
            path: log.path.clone(),
            offset: 0,
            limit: 0,
        })
        .expect("the traceback")
        .text;
    assert!(text.contains("Traceback") && !text.contains("step_results"), "{text}");
}

#[test]
fn the_policy_moves_a_row_of_the_decision_table_and_moves_it_back() {
    const ROW: &str = "AgentTimeoutError, agent";
    let folder = tempfile::tempdir().expect("a folder");
    let workbench = open(folder.path(), false);
    workbench.ingest(&fixture("harbor/jobs/failures-k1"), &|_, _| {}).expect("read");
    let before = runs(&workbench).remove(0);
    assert_eq!((before.stamina.events, before.stamina.censored), (7, 1));
    let decided = |workbench: &Workbench| {
        let rows = workbench.get_decisions(Nothing {}).expect("a table").rows;
        rows.into_iter().find(|row| row.row == ROW).expect("its row")
    };
    let row = decided(&workbench);
    assert_eq!((row.stage.as_str(), row.moved_to, row.episodes), ("agent", None, 1), "{row:?}");
    assert_eq!(row.rule, "agent timeout, unless another time-out was taken for it");

    let moving = |row: &str, reason: EndReason| {
        let mut policy = CensoringPolicy::default();
        policy.rows.insert(row.to_owned(), reason);
        workbench.set_policy(SetPolicy { policy })
    };
    let table = moving(ROW, EndReason::Environment).expect("a policy");
    assert_eq!(table.name, "custom");
    let after = runs(&workbench).remove(0);
    assert_eq!((after.stamina.events, after.stamina.censored), (6, 2));
    let counted = |table: &workbench::api::PolicyTable, reason: EndReason| {
        table.rows.iter().find(|row| row.reason == reason).map(|row| row.episodes)
    };
    assert_eq!(counted(&table, EndReason::AgentTimeout), Some(0), "the end itself is another");
    assert_eq!(decided(&workbench).moved_to, Some(EndReason::Environment));

    // What is read from now on is moved, too.
    workbench.ingest(&fixture("world/docker-words"), &|_, _| {}).expect("read");
    let words = |workbench: &Workbench| {
        let all = runs(workbench);
        let run = all.iter().find(|run| run.source_name == "docker-words").expect("its run");
        (run.stamina.events, run.stamina.censored, run.unrecognised)
    };
    let plain = words(&workbench);
    assert!(plain.2 > 0, "{plain:?}");
    let rows = workbench.get_decisions(Nothing {}).expect("a table").rows;
    let unclear = rows.iter().find(|row| row.episodes > 0 && row.rule == "agent error, cause not recognized");
    // Two trials ended so; of a third the tests ran afterwards and left no verdict, which another row decides.
    let unclear = unclear.expect("a row about an error that is not recognized");
    assert_eq!((unclear.row.as_str(), unclear.episodes), ("builtins.RuntimeError, agent", 2));
    let unclear = unclear.row.clone();
    let unjudged = rows.iter().find(|row| row.row == "unclear and tested, agent").expect("its row");
    assert_eq!((unjudged.rule.as_str(), unjudged.episodes), ("verifier error", 1));
    moving(&unclear, EndReason::Endpoint).expect("a policy");
    let moved = words(&workbench);
    assert_eq!(moved, (plain.0 - 2, plain.1 + 2, 0), "{plain:?} {moved:?}");
    let ends = |reason: EndReason| {
        let run =
            runs(&workbench).into_iter().find(|run| run.source_name == "docker-words").expect("its run");
        run.end_reasons.iter().find(|end| end.reason == reason).map_or(0, |end| end.count)
    };
    assert_eq!((ends(EndReason::VerifierError), ends(EndReason::Endpoint)), (1, 2));

    workbench.set_policy(SetPolicy { policy: CensoringPolicy::default() }).expect("a policy");
    let reread = runs(&workbench).into_iter().find(|run| run.id == before.id).expect("the run");
    assert_eq!((reread.stamina, reread.score), (before.stamina, before.score));
    assert_eq!(words(&workbench), plain);
    assert_eq!(moving("no such row", EndReason::Endpoint).expect_err("refused").code, "policy.row");
    assert_eq!(moving(ROW, EndReason::PassedAll).expect_err("refused").code, "policy.reason");
}

#[test]
fn the_policy_decides_what_is_an_event() {
    let folder = tempfile::tempdir().expect("a folder");
    let workbench = open(folder.path(), false);
    workbench.ingest(&fixture("harbor/jobs/failures-k1"), &|_, _| {}).expect("read");
    let before = runs(&workbench).remove(0);
    assert_eq!((before.stamina.events, before.stamina.censored), (7, 1));

    let mut policy = CensoringPolicy::default();
    policy.overrides.insert(EndReason::Environment, Ending::Event);
    let table = workbench.set_policy(SetPolicy { policy }).expect("a policy");
    assert_eq!(table.name, "custom");
    let after = runs(&workbench).remove(0);
    assert_eq!((after.stamina.events, after.stamina.censored), (8, 0));
    assert!(after.stamina.mean < before.stamina.mean);
    assert_eq!(after.score, before.score, "a score does not depend on the policy");

    let survival = workbench.run_survival(RunRef { run: after.id.clone() }).expect("a table");
    assert_eq!(survival.rows.iter().map(|r| r.events).sum::<u32>(), 8);
    let drawing = workbench
        .run_figure(RunFigureRequest {
            run: after.id,
            kind: FigureKind::FirstFailures,
            theme: FigureTheme::Light,
            width: 600.0,
            height: 100.0,
            plot_left: 60.0,
            px_per_turn: 40.0,
            turns: 4,
        })
        .expect("a chart");
    assert!(drawing.svg.starts_with("<svg") && drawing.hits.len() == 4);
    workbench.set_policy(SetPolicy { policy: CensoringPolicy::default() }).expect("the default again");
    assert_eq!(runs(&workbench).remove(0), before);
}

#[test]
fn a_closed_source_comes_back_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let workbench = open(folder.path(), true);
    let path = fixture("harbor/jobs/nop-k1").display().to_string();
    let source = workbench.open_source(OpenSource { path: path.clone() }).expect("opened").id;
    wait_until(&workbench, "the job is read", ready);
    let before = runs(&workbench);
    workbench.close_source(SourceRef { source }).expect("closed");
    let state = workbench.app_state(Nothing {}).expect("a state");
    assert!(state.sources.is_empty() && state.recent.iter().any(|r| r.path == path && r.exists));
    assert!(runs(&workbench).is_empty());
    workbench.restore_source(SourceRef { source }).expect("restored");
    assert_eq!(runs(&workbench), before);
}

#[test]
fn closing_and_restoring_again_and_again_ends_with_the_source_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let workbench = open(folder.path(), true);
    let path = fixture("harbor").display().to_string();
    let source = workbench.open_source(OpenSource { path }).expect("opened").id;
    for _ in 0..20 {
        workbench.close_source(SourceRef { source }).expect("closed");
        workbench.restore_source(SourceRef { source }).expect("restored");
    }
    let state = wait_until(&workbench, "the last reading ends well", |s| ready(s) && s.runs == 5);
    assert_eq!((state.sources[0].message.as_deref(), state.sources[0].progress), (None, None));
}

#[test]
fn a_new_library_begins_with_the_sample() {
    let folder = tempfile::tempdir().expect("a folder");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the repository")
        .join("data/sample-simulated.zip");
    let options = Options {
        db: Some(folder.path().join("library.sqlite")),
        live: true,
        app: true,
        sample: Some(sample),
    };
    let workbench = Workbench::open(options).expect("a library");
    let state = wait_until(&workbench, "the sample is read", |s| ready(s) && s.runs > 0);
    assert!(state.sources[0].zip && state.sample.is_some());
    let runs = runs(&workbench);
    assert!(
        runs.len() == 9 && runs.iter().all(|run| run.simulated),
        "nine runs that say that they are simulated"
    );
}

#[test]
fn the_app_shows_its_library_first_and_then_looks_for_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("results");
    copy(&fixture("staminabench/own"), &results);
    let app = || {
        let db = Some(folder.path().join("library.sqlite"));
        Workbench::open(Options { db, live: true, app: true, ..Options::default() }).expect("a library")
    };
    let first = app();
    first.open_source(OpenSource { path: results.display().to_string() }).expect("a source");
    let read = wait_until(&first, "it is read", |s| ready(s) && s.runs == 1);
    drop(first);
    std::fs::remove_dir_all(results.join("scenario_1")).expect("a folder less");

    let restarted = app();
    let state = restarted.app_state(Nothing {}).expect("a state");
    assert!(ready(&state) && state.runs == read.runs, "what was read is there at once");
    wait_until(&restarted, "a scenario is gone", |_| runs(&restarted).iter().any(|run| run.episodes == 1));
}

#[test]
// docs/security.md: An opened folder or zip
fn a_source_over_which_a_process_ended_is_set_aside_until_somebody_wants_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("results");
    copy(&fixture("staminabench/own"), &results);
    let source = {
        let workbench = open(folder.path(), false);
        workbench.ingest(&results, &|_, _| {}).expect("it is read");
        workbench.app_state(Nothing {}).expect("a state").sources[0].id
    };
    let store = store::Store::open(&folder.path().join("library.sqlite")).expect("a library");
    store.begin_reading(source, &ended_process()).expect("noted");

    let workbench = open(folder.path(), true);
    let state = workbench.app_state(Nothing {}).expect("a state");
    assert_eq!((state.sources[0].status, state.runs), (SourceStatus::SetAside, 1), "what was read stays");
    // Not at the next start either, and not because of a change in it.
    std::fs::remove_dir_all(results.join("scenario_1")).expect("a folder less");
    drop(workbench);
    let workbench = open(folder.path(), true);
    let state = workbench.app_state(Nothing {}).expect("a state");
    assert_eq!(state.sources[0].status, SourceStatus::SetAside);
    workbench.rescan_source(SourceRef { source }).expect("it is read");
    wait_until(&workbench, "it is read again", |s| ready(s) && runs(&workbench)[0].episodes == 1);
    assert!(store.readings().expect("readings").is_empty());
}

/// A library that has read two episodes, without their texts: its source.
fn library_without_texts(folder: &Path) -> i64 {
    let results = folder.join("results");
    copy(&fixture("staminabench/own"), &results);
    let workbench = open(folder, false);
    workbench.ingest(&results, &|_, _| {}).expect("it is read");
    workbench.app_state(Nothing {}).expect("a state").sources[0].id
}

/// What stands for a process with the id of this one that has ended.
fn ended_process() -> String {
    let mut parts: Vec<String> = sandbox::Process::current().label().split(':').map(str::to_owned).collect();
    "1".clone_into(&mut parts[1]);
    parts.join(":")
}

fn texts_of(workbench: &Workbench, words: &str) -> workbench::api::TextHits {
    workbench.search_texts(SearchRequest { text: words.to_owned(), limit: 50 }).expect("places")
}

#[test]
// docs/security.md: An opened folder or zip
fn a_source_that_is_set_aside_is_not_opened_for_the_search_either() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = library_without_texts(folder.path());
    let store = store::Store::open(&folder.path().join("library.sqlite")).expect("a library");
    store.set_aside(source).expect("set aside");
    let workbench = open(folder.path(), false);
    assert_eq!(workbench.index_texts().expect("nothing"), 0);
    let found = workbench.search_everything("passed", 10, &|_, _| {}).expect("places");
    assert!(found.complete, "nothing is waited for");
    assert!(texts_of(&workbench, "passed").hits.is_empty());
    drop(workbench);
    // Once somebody wants it, the open app indexes it.
    let workbench = open(folder.path(), true);
    workbench.rescan_source(SourceRef { source }).expect("it is read");
    wait_until(&workbench, "it is read again", ready);
    let indexed = workbench.index_texts().expect("an index") > 0 || texts_of(&workbench, "passed").complete;
    assert!(indexed && !texts_of(&workbench, "passed").hits.is_empty());
}

#[test]
// docs/security.md: An opened folder or zip
fn a_source_over_whose_texts_a_process_ended_is_set_aside_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = library_without_texts(folder.path());
    let store = store::Store::open(&folder.path().join("library.sqlite")).expect("a library");
    store.begin_texts(&ended_process(), |_| true).expect("claimed").expect("an episode");
    let workbench = open(folder.path(), true);
    let state = workbench.app_state(Nothing {}).expect("a state");
    assert_eq!((state.sources[0].status, state.runs), (SourceStatus::SetAside, 1), "what was read stays");
    assert!(store.text_claims().expect("claims").is_empty());
    assert_eq!(workbench.index_texts().expect("nothing"), 0);
    workbench.rescan_source(SourceRef { source }).expect("it is read");
    wait_until(&workbench, "it is read again", ready);
}

#[test]
fn a_command_that_ended_over_texts_says_nothing_of_them_and_a_claim_of_a_living_process_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    library_without_texts(folder.path());
    let store = store::Store::open(&folder.path().join("library.sqlite")).expect("a library");
    store.begin_texts(&ended_process(), |_| false).expect("claimed").expect("an episode");
    let living = sandbox::Process::current();
    let next = store.begin_texts(living.label(), |_| true).expect("claimed").expect("the other episode");
    let workbench = open(folder.path(), false);
    assert!(workbench.index_texts().expect("the first one") > 0);
    assert!(!texts_of(&workbench, "passed").complete, "the other process indexes the second one");
    assert!(store.put_texts(&next, &[]).expect("its claim holds"));
    let state = workbench.app_state(Nothing {}).expect("a state");
    assert_eq!(state.sources[0].status, SourceStatus::Ready);
    // A process that ends in good order leaves nothing behind, and begins nothing more.
    workbench.note_orderly_end();
    assert!(store.text_claims().expect("claims").is_empty());
    assert_eq!(workbench.index_texts().expect("nothing"), 0);
}
