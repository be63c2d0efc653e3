//! Changes of real folders and zips, waited for with a deadline.

use std::fs;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};

use super::*;

/// What a user is promised.
const DEADLINE: Duration = Duration::from_secs(2);
/// Ten times as quick, for tests that must wait for silence.
const QUICK: Pace = Pace {
    silence: Duration::from_millis(25),
    at_latest: Duration::from_millis(100),
    look: Duration::from_millis(100),
    look_at_zip: Duration::from_millis(50),
};

struct Bell(Receiver<()>);

impl Bell {
    fn rings(&self, at: &str) {
        self.0.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("no bell for {at}"));
    }

    /// Waits until nothing more comes of what happened before.
    fn falls_silent(&self) {
        while self.0.recv_timeout(4 * QUICK.at_latest).is_ok() {}
    }
}

fn hang_up(path: &Path, hint: Hint, pace: Pace) -> (Watch, Bell) {
    let (sender, receiver) = sync_channel(1);
    let watch = watch_at(path, hint, pace, move || {
        let _ = sender.try_send(());
    });
    (watch.unwrap(), Bell(receiver))
}

fn every_change_rings(hint: Hint, mode: Mode) {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("runs");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/result.json"), "{}").unwrap();
    let (watch, bell) = hang_up(&root, hint, QUICK);
    assert_eq!(watch.mode(), mode);
    let change = |what: &str, change: &dyn Fn()| {
        change();
        bell.rings(what);
        bell.falls_silent();
    };
    change("a file that changes", &|| fs::write(root.join("a/b/result.json"), "{\"x\": 1}").unwrap());
    change("a new folder", &|| fs::create_dir_all(root.join("c/d")).unwrap());
    change("a file in a new folder", &|| fs::write(root.join("c/d/new.json"), "{}").unwrap());
    change("another name", &|| fs::rename(root.join("c/d/new.json"), root.join("c/d/old.json")).unwrap());
    change("a folder that goes", &|| fs::remove_dir_all(root.join("a")).unwrap());
    change("the folder itself goes", &|| fs::rename(&root, temp.path().join("elsewhere")).unwrap());
    change("and another comes", &|| fs::create_dir(&root).unwrap());
    change("a file in that", &|| fs::write(root.join("f"), "x").unwrap());
    assert_eq!(watch.mode(), mode);
}

#[test]
fn the_system_tells_of_every_change() {
    every_change_rings(Hint::Auto, Mode::Notified);
}

#[test]
fn looking_again_finds_every_change() {
    every_change_rings(Hint::Rescan, Mode::Rescanned);
}

#[test]
fn at_its_real_pace_a_change_is_known_within_two_seconds() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("runs.zip"), "PK").unwrap();
    let watched = [
        hang_up(temp.path(), Hint::Auto, PACE),
        hang_up(temp.path(), Hint::Rescan, PACE),
        hang_up(&temp.path().join("runs.zip"), Hint::Auto, PACE),
    ];
    fs::write(temp.path().join("runs.zip"), "PK and more").unwrap();
    let begin = Instant::now();
    for ((watch, bell), what) in watched.iter().zip(["told", "looked at", "a zip"]) {
        bell.rings(what);
        assert!(begin.elapsed() < DEADLINE, "{what}, {:?}", watch.mode());
    }
}

#[test]
fn what_never_falls_silent_rings_too() {
    let temp = tempfile::tempdir().unwrap();
    let (_watch, bell) = hang_up(temp.path(), Hint::Auto, QUICK);
    let begin = Instant::now();
    let mut n = 0_u32;
    while bell.0.try_recv().is_err() {
        n += 1;
        fs::write(temp.path().join("log"), n.to_string()).unwrap();
        assert!(begin.elapsed() < DEADLINE);
    }
}

#[test]
fn lost_events_ring_at_once_and_then_ever_more_seldom() {
    let shared = Shared::default();
    let mut pauses = Vec::new();
    for _ in 0..6 {
        shared.overflowed();
        shared.overflowed();
        let mut state = shared.state();
        let at = state.ring_at(PACE).unwrap();
        pauses.push(at.saturating_duration_since(Instant::now()).as_secs_f64().round());
        // As if the time had come.
        state.overflow = Some(Instant::now());
        state.rung(Instant::now());
        assert_eq!(state.ring_at(PACE), None);
    }
    assert_eq!(pauses, [0.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
}

#[test]
fn reading_is_no_change_and_dropping_ends_it() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("f"), "x").unwrap();
    let (watch, bell) = hang_up(temp.path(), Hint::Auto, QUICK);
    let tree = Tree::open(temp.path()).unwrap();
    assert_eq!(tree.read("f", 9).unwrap(), b"x");
    assert_eq!(tree.list("").len(), 1);
    assert_eq!(bell.0.recv_timeout(4 * QUICK.at_latest), Err(RecvTimeoutError::Timeout));
    drop(watch);
    // The sender goes with the watching thread.
    assert_eq!(bell.0.recv_timeout(DEADLINE), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn a_zip_rings_when_it_is_written_to_its_end() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("runs.zip");
    fs::write(&path, "PK").unwrap();
    let (watch, bell) = hang_up(&path, Hint::Auto, QUICK);
    assert_eq!(watch.mode(), Mode::Rescanned);
    fs::write(&path, "PK and more").unwrap();
    bell.rings("a zip that changes");
}

#[test]
fn what_is_not_there_yet_rings_when_it_comes() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("later");
    let (watch, bell) = hang_up(&path, Hint::Auto, QUICK);
    assert_eq!(watch.mode(), Mode::Rescanned);
    fs::create_dir(&path).unwrap();
    bell.rings("a folder that comes");
    bell.falls_silent();
    assert_eq!(watch.mode(), Mode::Notified);
    fs::write(path.join("f"), "x").unwrap();
    bell.rings("a file in it");
}

fn what_the_runner_keeps_for_itself_is_no_change(hint: Hint) {
    let temp = tempfile::tempdir().unwrap();
    let private = temp.path().join("run/.stamina");
    fs::create_dir_all(private.join("state/live/node_modules")).unwrap();
    let (watch, bell) = hang_up(temp.path(), hint, QUICK);
    bell.falls_silent();
    fs::write(private.join("events.jsonl"), "{}").unwrap();
    fs::create_dir_all(private.join("state/served/workspace")).unwrap();
    fs::write(private.join("state/live/node_modules/x.js"), "x").unwrap();
    fs::create_dir_all(temp.path().join("other")).unwrap();
    bell.rings("another folder");
    bell.falls_silent();
    fs::create_dir_all(temp.path().join("other/.stamina/episodes")).unwrap();
    fs::write(temp.path().join("other/.stamina/episodes/scenario_0.json"), "{}").unwrap();
    fs::write(private.join("state/served/workspace/f"), "x").unwrap();
    assert_eq!(
        bell.0.recv_timeout(6 * QUICK.at_latest),
        Err(RecvTimeoutError::Timeout),
        "{:?}",
        watch.mode()
    );
    fs::write(temp.path().join("run/report.json"), "{}").unwrap();
    bell.rings("a result beside it");
}

#[test]
fn told_of_what_the_runner_keeps_for_itself() {
    what_the_runner_keeps_for_itself_is_no_change(Hint::Auto);
}

#[test]
fn looking_at_what_the_runner_keeps_for_itself() {
    what_the_runner_keeps_for_itself_is_no_change(Hint::Rescan);
}
