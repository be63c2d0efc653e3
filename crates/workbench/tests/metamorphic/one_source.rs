//! A source that was changed before it was opened has the same numbers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

use proptest::prelude::*;
use test_folders::copy;
use workbench::api::{ListRuns, RunRef, RunRow, Sessions, SessionsRequest, SurvivalTable};

use crate::library::{Library, repository};
use crate::metamorphic::changes::{CHANGES, Change, add_strange_folders, changed, trials};

/// What is read, below tests/fixtures, and whether it is Harbor's: its names of folders mean nothing.
const INPUTS: [(&str, bool); 30] = [
    ("harbor/jobs/failures-k1", true),
    ("harbor/jobs/interrupted", true),
    ("harbor/jobs/nop-k1", true),
    ("harbor/jobs/oracle-k2", true),
    ("harbor/jobs/terminus2-mock-priced", true),
    ("world/cache-beside", true),
    ("world/copied", true),
    ("world/cancelled", true),
    ("world/docker-words", true),
    ("world/many-ends", true),
    ("world/mean-note", true),
    ("world/mean-of-fewer", true),
    ("world/mean-unexplained", true),
    ("world/never-at-risk", true),
    ("world/null-reward", true),
    ("world/odd-counts", true),
    ("world/session-totals/estimated", true),
    ("world/session-totals/subtracts", true),
    ("world/set-order", true),
    ("world/steps-unknown", true),
    ("world/sweep-no-cases", false),
    ("evocode", false),
    ("staminabench/flat_records", false),
    ("staminabench/nested_folders", false),
    ("staminabench/own", false),
    ("staminabench/turns_from_zero", false),
    ("terminal_bench/run-a", false),
    ("world/foreign/tb-run", false),
    ("locobench/recorded", false),
    ("table", false),
];

/// What is shown of a run: where nothing is tested, its sessions in place of survival.
type Numbers = (RunRow, Option<SurvivalTable>, Option<Sessions>);

/// What is shown of every run, without what is of its place: names, and how many remarks the import made.
fn numbers(paths: &[PathBuf]) -> Vec<Numbers> {
    let library = Library::new(paths);
    let rows = library.workbench.list_runs(ListRuns { limit: 500, ..ListRuns::default() }).unwrap().rows;
    let mut numbers: Vec<Numbers> = rows
        .into_iter()
        .map(|row| {
            let is_tested = row.format != "locobench";
            let survival =
                is_tested.then(|| library.workbench.run_survival(RunRef { run: row.id.clone() }).unwrap());
            let sessions = (!is_tested).then(|| sessions(&library, &row.id));
            let row = RunRow {
                id: String::new(),
                source: 0,
                tested: true,
                source_name: String::new(),
                source_label: String::new(),
                group: 0,
                warnings: 0,
                severities: model::WarningCounts::default(),
                // The same moment may be written in another zone.
                started_at: row.started_at.as_deref().and_then(moment),
                ..row
            };
            (row, survival, sessions)
        })
        .collect();
    numbers.sort_by_key(|numbers| format!("{numbers:?}"));
    numbers
}

/// What is shown of an input as it is. It is drawn more than once, and read the first time.
fn as_it_is(name: &'static str) -> Rc<Vec<Numbers>> {
    thread_local! {
        static READ: RefCell<BTreeMap<&'static str, Rc<Vec<Numbers>>>> = const { RefCell::new(BTreeMap::new()) };
    }
    let read = || {
        let room = tempfile::tempdir().unwrap();
        let plain = room.path().join("results");
        copy(&repository().join("tests/fixtures").join(name), &plain);
        Rc::new(numbers(&[plain]))
    };
    READ.with_borrow_mut(|known| Rc::clone(known.entry(name).or_insert_with(read)))
}

/// The figures of each session and their means.
fn sessions(library: &Library, run: &str) -> Sessions {
    let mut sessions = library.workbench.list_sessions(SessionsRequest::all(run)).unwrap();
    sessions.run = String::new();
    for session in &mut sessions.sessions {
        session.episode = String::new();
    }
    sessions.sessions.sort_by_key(|session| format!("{session:?}"));
    sessions
}

/// What is compared must differ where a score does.
#[test]
fn scores_of_sessions_are_among_the_numbers() {
    let given = repository().join("tests/fixtures/locobench/recorded");
    let room = tempfile::tempdir().unwrap();
    let [plain, other] = ["plain", "other"].map(|name| room.path().join(name));
    copy(&given, &plain);
    copy(&given, &other);
    let mut changed_scores = 0;
    for part in ["intermediate_agent_results", "evaluation_agent_results"] {
        for entry in fs::read_dir(other.join(part)).unwrap() {
            let path = entry.unwrap().path();
            let Some(text) = path.is_file().then(|| fs::read_to_string(&path).unwrap()) else { continue };
            let mut pieces = text.split("\"score\": ");
            let mut spoiled = pieces.next().unwrap_or_default().to_owned();
            for piece in pieces {
                let rest = piece.find([',', '}', '\n']).map_or("", |end| &piece[end..]);
                spoiled.push_str("\"score\": 0.1234");
                spoiled.push_str(rest);
                changed_scores += 1;
            }
            fs::write(path, spoiled).unwrap();
        }
    }
    assert!(changed_scores > 100, "{changed_scores}");
    let figures =
        |place: PathBuf| numbers(&[place]).into_iter().map(|(.., sessions)| sessions).collect::<Vec<_>>();
    assert_ne!(figures(other), figures(plain));
}

/// A time in UTC, if it has a zone of whole hours east.
fn moment(time: &str) -> Option<String> {
    let Some((local, zone)) = time.rsplit_once('+') else {
        return Some(time.trim_end_matches('Z').to_owned());
    };
    let hours = zone.get(..2)?.parse::<u32>().ok()?;
    let hour = local.get(11..13)?.parse::<u32>().ok()?.checked_sub(hours)?;
    Some(format!("{}{hour:02}{}", &local[..11], &local[13..]))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 6,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_happens_to_a_folder_on_its_way_changes_no_number(
        input in prop::sample::select(&INPUTS[..]),
        chosen in prop::sample::subsequence(&CHANGES[..], 1..=CHANGES.len()),
    ) {
        let (name, harbor) = input;
        let given = repository().join("tests/fixtures").join(name);
        let room = tempfile::tempdir().unwrap();
        let mut on_its_way = room.path().join("sent to me");
        copy(&given, &on_its_way);
        for change in &chosen {
            on_its_way = changed(on_its_way, harbor, *change);
        }
        let (read, plain) = (numbers(&[on_its_way]), as_it_is(name));
        prop_assert_eq!(&read, &*plain, "{} after {:?}", name, chosen);
    }
}

/// Each format by itself, whatever the random test draws.
#[test]
fn strange_fields_copies_and_orders_of_files_change_no_number_of_any_format() {
    let other_inputs = INPUTS.iter().filter(|(_, harbor)| !harbor);
    for (name, harbor) in other_inputs.chain([&("harbor/jobs/failures-k1", true)]) {
        let given = repository().join("tests/fixtures").join(name);
        let room = tempfile::tempdir().unwrap();
        let [plain, on_its_way] = ["results", "sent to me"].map(|part| room.path().join(part));
        copy(&given, &plain);
        copy(&given, &on_its_way);
        let right = numbers(&[plain]);
        let mut place = on_its_way;
        for change in [
            Change::NotANumber,
            Change::CopiedTrial,
            Change::OtherNames,
            Change::MadeInOtherOrder,
            Change::ZippedBackwards,
        ] {
            place = changed(place, *harbor, change);
            assert_eq!(numbers(std::slice::from_ref(&place)), right, "{name} after {change:?}");
        }
    }
}

/// Whatever the random test draws: a folder in `steps/` that is no step's is no further turn, whether the trials have a result or
/// were killed, and whether all of them have it or one.
#[test]
fn folders_among_those_of_steps_change_no_number() {
    let names = [
        "harbor/jobs/failures-k1",
        "harbor/jobs/oracle-k2",
        "harbor/jobs/interrupted",
        "world/session-totals/estimated",
        "world/steps-unknown",
        "world/docker-words",
    ];
    for (name, is_killed) in names.into_iter().flat_map(|name| [(name, false), (name, true)]) {
        let given = repository().join("tests/fixtures").join(name);
        let end = |place: &PathBuf| {
            for trial in trials(place).into_iter().filter(|_| is_killed) {
                fs::remove_file(trial.join("result.json")).unwrap();
            }
        };
        let room = tempfile::tempdir().unwrap();
        let plain = room.path().join("results");
        copy(&given, &plain);
        end(&plain);
        let right = numbers(&[plain]);
        for trial_count in [1, usize::MAX] {
            let on_its_way = room.path().join(format!("sent to me {trial_count}"));
            copy(&given, &on_its_way);
            for trial in trials(&on_its_way).into_iter().take(trial_count) {
                add_strange_folders(&trial);
            }
            end(&on_its_way);
            assert_eq!(numbers(&[on_its_way]), right, "{name}, killed {is_killed}, {trial_count}");
        }
    }
}

/// The results of `tb` in one file say nothing of their run: not which one it is, nor whose.
#[test]
fn results_of_tb_alone_are_those_of_the_whole_folder() {
    let given = repository().join("tests/fixtures/terminal_bench/run-a");
    let room = tempfile::tempdir().unwrap();
    let [whole, alone] = ["whole", "alone"].map(|part| room.path().join(part));
    copy(&given, &whole);
    fs::create_dir(&alone).unwrap();
    fs::copy(given.join("results.json"), alone.join("results.json")).unwrap();
    let shared = |library: &Library| {
        let runs = library.workbench.list_runs(ListRuns::default()).unwrap().rows;
        let run = runs.iter().find(|run| run.source_name == "alone").unwrap();
        let detail = library.workbench.get_run(RunRef { run: run.id.clone() }).unwrap();
        detail.copies.iter().map(|copied| (copied.episodes, copied.counted_there)).collect::<Vec<_>>()
    };
    // All of the file's trials are in the folder, and count there, whichever was opened first.
    assert_eq!(shared(&Library::new(&[whole.clone(), alone.clone()])), [(7, 7)]);
    let library = Library::new(&[alone.clone(), whole]);
    assert_eq!(shared(&library), [(7, 7)], "the file first");
    // The same where it is read once more.
    let text = fs::read_to_string(alone.join("results.json")).unwrap();
    fs::write(alone.join("results.json"), format!("{text}\n\n")).unwrap();
    library.workbench.ingest(&alone, &|_, _| {}).unwrap();
    assert_eq!(shared(&library), [(7, 7)], "read once more");
}
