//! The library as a file: new, old, newer, foreign, shared by several processes.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, in its helpers too, and prints what it kept"
)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use kept::KeptIfFailed;
use model::{Attempt, Benchmark, Episode, Request, Run, TestOutcome, TestResult, Turn, Verdict, Warning};
use rusqlite::Connection;
use store::{ParsedPart, RunFilter, Store, StoreError, schema};

#[path = "../../runner/tests/kept/mod.rs"]
mod kept;

fn episode(key: &str, verdicts: &[Verdict]) -> Episode {
    let mut episode = Episode::new(key, format!("scenario {key}"));
    for (number, verdict) in (1..).zip(verdicts) {
        let mut attempt = Attempt::new(1, *verdict);
        attempt.tests = vec![TestResult::new("t::one", TestOutcome::Passed)];
        if *verdict != Verdict::Passed {
            let mut failing = TestResult::new("t::two", TestOutcome::Failed);
            failing.message = Some("expected a teapot".into());
            attempt.tests.push(failing);
        }
        let request = Some(Request::Text(format!("Request number {number}.")));
        episode.turns.push(Turn { attempts: vec![attempt], request, ..Turn::new(number) });
    }
    episode
}

/// Writes the library whose dump is `tests/layouts/v1.sql`.
fn fill(store: &Store) {
    let source = store.put_source("/data/results", "results", false).unwrap();
    store.set_source_format(source, "StaminaBench output").unwrap();
    let benchmark = Benchmark { key: "staminabench".into(), name: "StaminaBench".into() };
    let run = Run { model: Some("opus".into()), ..Run::unknown("a", benchmark) };
    store.put_runs(source, "", "staminabench", &[run]).unwrap();
    let episodes = [("a".to_owned(), episode("e", &[Verdict::Passed, Verdict::Failed]))];
    let warnings = [Warning::skipped("x.json", "json.truncated", "The file ends in the middle.")];
    let part =
        ParsedPart { place: "", key: "p", stamp: 5, episodes: &episodes, warnings: &warnings, files_read: 2 };
    store.put_part(source, &part).unwrap();
    store.annotate(&["results.a".into()], &["kept".into()], &[], Some("a note")).unwrap();
    store.set_source_read(source, None).unwrap();
}

/// Asserts that `store` holds what [`fill`] writes.
fn check(store: &Store) {
    let run = store.run("results.a").unwrap().unwrap().entry;
    assert_eq!(
        (run.model.as_deref(), run.tags, run.note.as_str()),
        (Some("opus"), vec!["kept".into()], "a note")
    );
    let entry = store.episodes(run.id).unwrap().remove(0);
    assert_eq!((entry.slug.as_str(), entry.cells.as_str()), ("scenario-e", "pf"));
    assert_eq!(
        store.whole_episode(entry.id).unwrap().unwrap(),
        episode("e", &[Verdict::Passed, Verdict::Failed])
    );
    assert_eq!(store.library_counts().unwrap().warnings, 1);
    while store.index_text(10).unwrap() {}
    assert_eq!(store.search("teapot", 5).unwrap().hits.len(), 1);
}

fn raw(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

fn number(conn: &Connection, pragma: &str) -> i64 {
    conn.pragma_query_value(None, pragma, |row| row.get(0)).unwrap()
}

#[test]
fn a_new_file_is_made_with_its_folder_and_opens_again() {
    let folder = KeptIfFailed::new();
    let path = folder.path().join("new/deeper/library.db");
    fill(&Store::open(&path).unwrap());
    check(&Store::open(&path).unwrap());
    let conn = raw(&path);
    assert_eq!(number(&conn, "user_version"), schema::VERSION);
    let mode: String = conn.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    let sound: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let loose: i64 = conn
        .query_row(
            "SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND schema = 'main'
                      AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%_index_%' AND NOT strict",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(loose, 0, "every table is STRICT");
}

#[test]
fn a_library_of_layout_1_opens() {
    let folder = KeptIfFailed::new();
    let path = folder.path().join("v1.db");
    raw(&path).execute_batch(include_str!("layouts/v1.sql")).unwrap();
    let store = Store::open(&path).unwrap();
    check(&store);
    assert_eq!(number(&raw(&path), "user_version"), schema::VERSION);
    // The migration makes the rows of attempts from the turns, and they equal those of a new library.
    let new = Store::open(&folder.path().join("new.db")).unwrap();
    fill(&new);
    let turns_of_runs = |store: &Store| {
        let runs = store.list_runs(&RunFilter::default()).unwrap().rows;
        runs.into_iter()
            .map(|(_, run)| (run.slug, store.episode_turns(run.id).unwrap()))
            .map(|(slug, episodes)| {
                (slug, episodes.into_iter().map(|p| (p.agent_seconds, p.turns)).collect::<Vec<_>>())
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(turns_of_runs(&store), turns_of_runs(&new));
    assert!(
        turns_of_runs(&new).iter().any(|(_, episodes)| episodes.iter().any(|(_, turns)| !turns.is_empty()))
    );
}

/// The migration computes what an episode used from its attempts, like a new library, and removes a cost with an unknown
/// part.
#[test]
fn a_migration_computes_what_episodes_used() {
    let folder = KeptIfFailed::new();
    let path = folder.path().join("used.db");
    let attempt = |cost: Option<f64>, tokens: Option<u64>, calls: Option<u32>| {
        let mut attempt = Attempt::new(1, Verdict::Passed);
        attempt.cost_usd = cost;
        attempt.tokens = model::Tokens { input: tokens, cached: None, output: tokens };
        attempt.tool_calls = calls;
        attempt.timing.agent_seconds = cost;
        attempt
    };
    let episode_with = |key: &str, turns: Vec<Vec<Attempt>>| {
        let mut episode = Episode::new(key, key);
        let turns = (1..).zip(turns).map(|(number, attempts)| Turn { attempts, ..Turn::new(number) });
        episode.turns = turns.collect();
        ("a".to_owned(), episode)
    };
    let known = || attempt(Some(0.5), Some(10), Some(3));
    let unknown = || attempt(None, None, None);
    let idle = || attempt(None, Some(0), None);
    let mut given = episode_with("given", vec![vec![unknown()], vec![known()]]);
    given.1.cost_usd = Some(7.0);
    given.1.tokens = Some(model::Tokens { input: Some(1), cached: None, output: Some(2) });
    given.1.timing.agent_seconds = Some(9.0);
    let episodes = [
        episode_with("all", vec![vec![known(), known()], vec![known(), idle()]]),
        episode_with("idle", vec![vec![idle(), idle()], vec![idle()]]),
        episode_with("part", vec![vec![known(), unknown()], vec![known()], vec![]]),
        episode_with("none", vec![vec![unknown()]]),
        given,
    ];
    let read = |store: &Store| {
        let run = store.run("results.a").unwrap().unwrap().entry;
        let costs: Vec<Option<f64>> =
            store.episodes(run.id).unwrap().into_iter().map(|entry| entry.cost_usd).collect();
        // The number of steps is unknown until the source is read again.
        let used: Vec<store::UsedTotals> = (store.episode_turns(run.id).unwrap().into_iter())
            .map(|play| store::UsedTotals { steps_survived: None, ..play.used })
            .collect();
        (costs, used, run.totals.cost_usd, run.totals.cost_known)
    };
    let store = Store::open(&path).unwrap();
    let source = store.put_source("/data/results", "results", false).unwrap();
    let benchmark = Benchmark { key: "b".into(), name: "b".into() };
    store.put_runs(source, "", "staminabench", &[Run::unknown("a", benchmark)]).unwrap();
    let part =
        ParsedPart { place: "", key: "p", stamp: 5, episodes: &episodes, warnings: &[], files_read: 1 };
    store.put_part(source, &part).unwrap();
    let written = read(&store);
    // By slug: all, given, idle, none, part.
    assert_eq!(written.0, [Some(1.5), Some(7.0), Some(0.0), None, None]);
    assert_eq!((written.2, written.3), (Some(8.5), 3));
    assert_eq!(written.1[4].cost, store::KnownSum { sum: 0.5, turns: 1 });
    drop(store);

    let conn = raw(&path);
    conn.execute_batch(
        "ALTER TABLE attempt DROP COLUMN steps; ALTER TABLE attempt DROP COLUMN grader_places; DROP INDEX attempt_cache_added; DROP INDEX attempt_cache_added_by_run; ALTER TABLE attempt DROP COLUMN cached_input; ALTER TABLE play DROP COLUMN steps_survived;
         ALTER TABLE episode DROP COLUMN attempts_left; DROP INDEX episode_unrecognised; DROP INDEX episode_identity; DROP INDEX episode_given;
         DROP INDEX episode_settled; DROP INDEX episode_own_identity; ALTER TABLE episode DROP COLUMN own_identity;
         ALTER TABLE episode DROP COLUMN identity; ALTER TABLE run_slug DROP COLUMN preferred;
         ALTER TABLE episode DROP COLUMN unrecognised; ALTER TABLE run_totals DROP COLUMN unrecognised;
         ALTER TABLE run_totals DROP COLUMN tokens_known;
         ALTER TABLE run_summary DROP COLUMN pass_rate; ALTER TABLE run_summary DROP COLUMN scored; ALTER TABLE run_summary DROP COLUMN clustered; ALTER TABLE run_summary DROP COLUMN rounds; ALTER TABLE run_summary DROP COLUMN doubts; DROP TABLE installation; DROP TABLE run_origin; DROP TABLE endpoint_abilities;
         ALTER TABLE source DROP COLUMN reader; ALTER TABLE source DROP COLUMN set_aside; ALTER TABLE source DROP COLUMN imported; DROP TABLE column_names;
         ALTER TABLE run DROP COLUMN unsummed; DROP TABLE withdrawn; DROP TABLE withdrawn_episode; DROP TABLE withdrawn_trial; DROP TABLE session;
         ALTER TABLE part DROP COLUMN left_out; DROP TABLE left_out_run; DROP TABLE not_kept;
         DROP TRIGGER text_of_attempt_deleted; DROP TRIGGER text_of_turn_deleted; DROP TRIGGER text_of_episode_deleted;
         DROP TABLE text_file; DROP TABLE text_claim; ALTER TABLE episode DROP COLUMN text_cost;
         DROP TABLE text_index; DROP INDEX episode_texts; ALTER TABLE episode DROP COLUMN texts;",
    )
    .unwrap();
    for column in ["cost", "tokens", "tool_calls", "steps", "seconds"] {
        conn.execute_batch(&format!(
            "ALTER TABLE play DROP COLUMN {column}; ALTER TABLE play DROP COLUMN {column}_turns;"
        ))
        .unwrap();
    }
    conn.execute_batch(
        "UPDATE episode SET cost_usd = 0.5 WHERE key = 'part'; UPDATE episode SET cost_usd = NULL WHERE key = 'idle';
         UPDATE run_totals SET cost_known = 3; PRAGMA user_version = 4;",
    )
    .unwrap();
    drop(conn);
    let store = Store::open(&path).unwrap();
    assert_eq!(read(&store), written);
    assert!(
        store.part_stamps(source).unwrap().is_empty(),
        "a source is read again for what older layouts did not keep"
    );
}

#[test]
fn the_statements_of_every_layout_make_a_library() {
    let folder = KeptIfFailed::new();
    for version in 1..=schema::VERSION {
        let path = folder.path().join(format!("v{version}.db"));
        raw(&path).execute_batch(&schema::statements(version)).unwrap();
        let store = Store::open(&path).unwrap();
        fill(&store);
        check(&store);
    }
}

#[test]
fn a_released_layout_is_never_edited() {
    let frozen = include_str!("layouts/v1.sql");
    assert!(
        frozen.starts_with(&schema::statements(1)),
        "the statements of layout 1 differ from those that tests/layouts/v1.sql keeps: add a migration instead"
    );
}

#[test]
fn a_newer_file_and_a_foreign_one_are_named_and_not_changed() {
    let folder = KeptIfFailed::new();
    let newer = folder.path().join("newer.db");
    drop(Store::open(&newer).unwrap());
    raw(&newer).pragma_update(None, "user_version", schema::VERSION + 1).unwrap();
    let error = Store::open(&newer).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found, .. } if found == schema::VERSION + 1));
    assert!(error.to_string().contains("newer.db") && error.code() == "store.newer");

    let foreign = folder.path().join("foreign.db");
    raw(&foreign).execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
    let before = std::fs::read(&foreign).unwrap();
    assert!(matches!(Store::open(&foreign).unwrap_err(), StoreError::Foreign { .. }));
    assert_eq!(std::fs::read(&foreign).unwrap(), before);

    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "this is no database, and long enough to be looked at as if it were one".repeat(20),
    )
    .unwrap();
    assert!(matches!(Store::open(&text).unwrap_err(), StoreError::Foreign { .. }));
    std::fs::write(folder.path().join("file"), "").unwrap();
    assert!(matches!(
        Store::open(&folder.path().join("file/library.db")).unwrap_err(),
        StoreError::Folder { .. }
    ));
}

const CHILD_LIBRARY: &str = "STORE_TEST_LIBRARY";
const CHILD_NUMBER: &str = "STORE_TEST_NUMBER";

/// Starts this test binary again as a process of its own that runs only `test`.
fn start(test: &str, library: &Path, number: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture", "-q"])
        .env(CHILD_LIBRARY, library)
        .env(CHILD_NUMBER, number.to_string())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "a process of the next test"]
fn a_process_opens_and_writes() {
    let Some(library) = std::env::var_os(CHILD_LIBRARY).map(PathBuf::from) else { return };
    let number = std::env::var(CHILD_NUMBER).unwrap();
    let begin = Instant::now();
    // All start at the same time, so that they conflict.
    while !library.with_extension("go").exists() {
        assert!(begin.elapsed() < Duration::from_mins(2), "the signal to begin never came");
        // A busy loop would delay the start of the other processes.
        std::thread::sleep(Duration::from_millis(1));
    }
    let store = Store::open(&library).unwrap();
    store.put_source(&format!("/data/{number}"), "name", false).unwrap();
}

#[test]
fn several_processes_may_open_one_new_file_at_once() {
    let folder = KeptIfFailed::new();
    let path = folder.path().join("library.db");
    let children: Vec<Child> = (0..6).map(|n| start("a_process_opens_and_writes", &path, n)).collect();
    std::fs::write(path.with_extension("go"), "").unwrap();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let store = Store::open(&path).unwrap();
    assert_eq!(store.sources().unwrap().len(), 6);
    assert_eq!(store.changes_since(0).unwrap().sources.len(), 6);
    assert_eq!(store.last_change().unwrap(), 6);
}

#[test]
fn rows_that_another_connection_deletes_are_not_used() {
    let folder = KeptIfFailed::new();
    let path = folder.path().join("library.db");
    let (first, second) = (Store::open(&path).unwrap(), Store::open(&path).unwrap());
    fill(&first);
    let last_change = first.last_change().unwrap();
    // The other program closes the source and purges the texts that this one has in its cache.
    let source = second.sources().unwrap()[0].id;
    second.remove_source(source).unwrap();
    assert_eq!(second.purge_removed(Duration::ZERO).unwrap(), 1);
    assert_eq!(first.changes_since(last_change).unwrap().runs, ["results.a"]);
    fill(&first);
    check(&second);
}

#[test]
fn readers_see_the_old_episodes_or_the_new_ones() {
    let folder = KeptIfFailed::new();
    let path = folder.path().join("library.db");
    let store = Store::open(&path).unwrap();
    fill(&store);
    let source = store.sources().unwrap()[0].id;
    let put = |stamp: u64, turns: usize| {
        let episodes = [("a".to_owned(), episode("e", &vec![Verdict::Passed; turns]))];
        let part =
            ParsedPart { place: "", key: "p", stamp, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
    };
    put(0, 40);
    let stop = AtomicBool::new(false);
    let read_counts = [AtomicU32::new(0), AtomicU32::new(0)];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let run = store.run("results.a").unwrap().unwrap().entry;
                assert_eq!(run.totals.episodes, 1);
                let id = store.episodes(run.id).unwrap()[0].id;
                let turns = store.whole_episode(id).unwrap().unwrap().turns.len();
                assert!(turns == 2 || turns == 40, "{turns} turns belong to no reading");
                read_counts[usize::from(turns == 40)].fetch_add(1, Ordering::Relaxed);
            }
        });
        // Writes until the reader has seen both often.
        let begin = Instant::now();
        for n in 1.. {
            put(n, if n % 2 == 0 { 40 } else { 2 });
            let met = read_counts.iter().map(|read_counts| read_counts.load(Ordering::Relaxed)).min();
            if met >= Some(20) || begin.elapsed() > Duration::from_mins(2) {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(read_counts.iter().all(|read_counts| read_counts.load(Ordering::Relaxed) > 0));
}

/// Every row of every table as statements; for `tests/layouts/`.
fn rows_as_sql(conn: &Connection) -> String {
    let mut sql = String::new();
    let mut tables = conn
        .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict ORDER BY name")
        .unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for table in tables {
        let mut columns = conn.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
        let columns: Vec<String> =
            columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let quoted: Vec<String> = columns.iter().map(|column| format!("quote({column})")).collect();
        let mut rows = conn.prepare(&format!("SELECT {} FROM {table}", quoted.join(" || ', ' || "))).unwrap();
        for row in rows.query_map([], |row| row.get::<_, String>(0)).unwrap() {
            let names = columns.join(", ");
            sql.push_str(&format!("INSERT OR REPLACE INTO {table} ({names}) VALUES ({});\n", row.unwrap()));
        }
    }
    sql
}

#[test]
#[ignore = "writes tests/layouts for an unreleased layout; run it by name"]
fn write_the_dump_of_the_current_layout() {
    let folder = KeptIfFailed::new();
    let path = folder.path().join("library.db");
    fill(&Store::open(&path).unwrap());
    let version = schema::VERSION;
    let rows = rows_as_sql(&raw(&path));
    let rows = format!(
        "{}\n-- What tests/files.rs writes with this layout.\nPRAGMA foreign_keys = OFF;\n{rows}",
        schema::statements(version)
    );
    let layout_path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/layouts/v{version}.sql"));
    std::fs::create_dir_all(layout_path.parent().unwrap()).unwrap();
    std::fs::write(layout_path, rows).unwrap();
}
