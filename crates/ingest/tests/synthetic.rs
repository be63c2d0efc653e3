//! The synthetic library of the benchmarks: written twice it is the same, and it is read as it was made, without a
//! single warning.

#![allow(dead_code, reason = "the generator is used whole by its own program")]
#![allow(clippy::unwrap_used)]

#[path = "../examples/synthesize/chance.rs"]
mod chance;
#[path = "../examples/synthesize/course.rs"]
mod course;
#[path = "../examples/synthesize/library.rs"]
mod library;
#[path = "../examples/synthesize/logs.rs"]
mod logs;
#[path = "../examples/synthesize/scenario.rs"]
mod scenario;
#[path = "../examples/synthesize/transcript.rs"]
mod transcript;

use std::fs;
use std::sync::atomic::AtomicBool;

use files::Tree;
use ingest::import::import;
use library::{Counts, Size};
use store::{RunFilter, Store, WarningFilter};
use test_folders::contents;

const SIZE: Size = Size { runs: 3, scenarios: 4, turns: 15, varied: false, seed: 7, threads: 2 };

#[test]
fn the_same_request_gives_the_same_bytes_on_any_number_of_threads() {
    let temp = tempfile::tempdir().unwrap();
    let (first, other) = (temp.path().join("one"), temp.path().join("other"));
    let written = library::write(&first, SIZE).unwrap();
    assert_eq!(written, library::write(&other, Size { threads: 1, ..SIZE }).unwrap());
    let (first, other) = (contents(&first), contents(&other));
    assert_eq!(
        (written.files, written.bytes),
        (first.len(), first.values().map(|bytes| bytes.len() as u64).sum())
    );
    assert!(first == other);
    let target = temp.path().join("another");
    library::write(&target, Size { seed: 8, ..SIZE }).unwrap();
    assert!(contents(&target) != first);
}

#[test]
fn it_is_read_as_it_was_made() {
    read_as_made(SIZE);
}

#[test]
fn a_varied_one_has_chains_of_different_lengths_and_names_and_is_read_as_it_was_made() {
    let planned = read_as_made(Size { runs: 14, scenarios: 10, turns: 15, varied: true, ..SIZE });
    assert_eq!((planned.iter().min(), planned.iter().max()), (Some(&5), Some(&15)));
    let names: Vec<String> = (0..13).map(|run| Size { varied: true, ..SIZE }.name(run)).collect();
    let lengths: Vec<usize> = names.iter().map(String::len).collect();
    assert!(lengths.iter().any(|length| *length < 12) && lengths.iter().any(|length| *length > 60));
    assert!(names.iter().all(|name| name.starts_with("mini_swe.")), "one harness, many models: {names:?}");
}

/// Writes and reads a library. Gives the planned turns of every episode.
fn read_as_made(size: Size) -> Vec<u32> {
    let temp = tempfile::tempdir().unwrap();
    let written = library::write(temp.path(), size).unwrap();
    let store = Store::in_memory().unwrap();
    let source = store.put_source(temp.path().to_str().unwrap(), "library", false).unwrap();
    let tree = Tree::open(temp.path()).unwrap();
    let read = import(&tree, &store, source, &|_, _| {}, &AtomicBool::new(false)).unwrap();
    assert_eq!(read.formats, ["staminabench"]);
    assert_eq!(
        read.counts.warnings,
        0,
        "{:?}",
        store.warnings(source, &WarningFilter::default(), 0, 10).unwrap().warnings
    );
    let counted = (
        read.counts.runs as usize,
        read.counts.episodes as usize,
        read.counts.turns as usize,
        read.counts.attempts as usize,
    );
    let Counts { runs, episodes, turns, attempts, .. } = written;
    assert_eq!(counted, (runs, episodes, turns, attempts));

    let mut planned = Vec::new();
    // Each run's own report, which the generator wrote from its plan, and what was read from logs and trajectories.
    for row in store.list_runs(&RunFilter::default()).unwrap().rows {
        let run = row.1;
        let report = fs::read(temp.path().join(&run.place).join("report.json")).unwrap();
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        for (episode, result) in
            store.episodes(run.id).unwrap().iter().zip(report["results"].as_array().unwrap())
        {
            assert_eq!(episode.scenario, result["scenario"]);
            assert_eq!(episode.planned_turns.map(u64::from), result["planned_turns"].as_u64());
            planned.extend(episode.planned_turns);
            assert_eq!(
                u64::from(episode.stamina),
                result["turns_passed"],
                "{} {}",
                run.slug,
                episode.scenario
            );
        }
    }
    planned
}
