//! What is recognized and not read, in zips as other programs write them.

#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

use std::fs;

use files::Tree;
use ingest::discover::discover;

use crate::hostile_kit::{ZipEntry, zip};

/// Kind, place, count.
fn found(name: &str, entries: &[ZipEntry]) -> Vec<(&'static str, String, usize)> {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join(name);
    fs::write(&path, zip(entries)).unwrap();
    let error = discover(&Tree::open(&path).unwrap()).unwrap_err();
    assert_eq!(error.closest, None);
    error.found.into_iter().map(|found| (found.kind, found.path, found.count)).collect()
}

#[test]
fn a_log_of_inspect_is_recognized_however_it_is_packed() {
    let header = br#"{"version": 2, "status": "success", "eval": {"task": "t"}}"#;
    let entries = [ZipEntry::stored("_journal/start.json", b"{}"), ZipEntry::deflated("header.json", header)];
    let expected_kinds = [("inspect", String::new(), 1)];
    assert_eq!(found("a.eval", &entries), expected_kinds);
    // Under another name by what is in it.
    assert_eq!(found("a.zip", &entries), expected_kinds);
    // Newer ones are packed by Zstandard, which is not read.
    let packed = entries.map(|entry| entry.changed(|entry| entry.method = 93));
    assert_eq!(found("a.eval", &packed), expected_kinds);
}

#[test]
fn trajectories_in_a_zip_are_recognized() {
    let trajectory = br#"{"info": {}, "messages": [], "trajectory_format": "mini-swe-agent-1.1"}"#;
    let entries = [
        ZipEntry::deflated("runs/a/a.traj.json", trajectory),
        ZipEntry::deflated("runs/b/b.traj.json", trajectory),
    ];
    assert_eq!(found("runs.zip", &entries), [("mini_swe_agent", "runs/a/a.traj.json".to_owned(), 2)]);
}
