//! Changes of real folders and zips, waited for with a deadline.
//!
//! A notification is an event that a test waits for. Its absence is no event, and no time is long enough to prove it on a busy
//! machine: there the order proves it. The system reports changes in their order, so a notification of only a later change
//! proves that there was none of an earlier one.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};

use super::*;

/// What a user is promised.
const PROMISE: Duration = Duration::from_secs(2);
/// Only keeps a test from hanging.
const DEADLINE: Duration = Duration::from_mins(1);
/// Ten times as quick, for tests that wait for silence.
const QUICK: Pace = Pace {
    silence: Duration::from_millis(25),
    longest_delay: Duration::from_millis(100),
    interval: Duration::from_millis(100),
    zip_interval: Duration::from_millis(50),
};
/// No notification follows, so that a test can check all that was noticed.
const NEVER: Pace = Pace {
    silence: Duration::from_hours(1),
    longest_delay: Duration::from_hours(1),
    interval: Duration::from_hours(1),
    zip_interval: Duration::from_hours(1),
};

struct Notifications(Receiver<()>);

impl Notifications {
    fn wait_for_notification(&self, label: &str) {
        self.0.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("no notification for {label}"));
    }

    /// Waits until nothing more comes of what happened before, so that the next notification is that of the next change. Where the
    /// machine is too busy for that a test sees less, and does not fail.
    fn wait_for_silence(&self) {
        while self.0.recv_timeout(4 * QUICK.longest_delay).is_ok() {}
    }
}

fn start_watch(path: &Path, hint: Hint, pace: Pace) -> (Watch, Notifications) {
    let (sender, receiver) = sync_channel(1);
    let watch = watch_at(path, hint, pace, move || {
        let _ = sender.try_send(());
    });
    (watch.unwrap(), Notifications(receiver))
}

/// Asks until it is so.
fn wait_until(label: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "never: {label}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Watch {
    fn wait_for_mode(&self, mode: Mode) {
        wait_until(&format!("{mode:?}"), || self.mode() == mode);
    }

    /// Waits until everything is watched, and forgets what was noticed up to then.
    fn wait_until_ready(&self) {
        wait_until("ready", || self.shared.state().ready);
        self.shared.state().pending = None;
    }

    /// Makes a change that the system reports in one event, checks that only it was noticed, and forgets it.
    fn notices_only_a_mark(&self, mark: &Path) {
        symlink("nowhere", mark).unwrap();
        wait_until("a mark", || self.shared.state().pending.is_some());
        // Was something else noticed, then right before it: this does not look between the two.
        std::thread::sleep(QUICK.silence);
        let (first, last) = self.shared.state().pending.take().unwrap();
        assert_eq!(first, last, "something was noticed before {}", mark.display());
    }
}

fn every_change_notifies(hint: Hint, mode: Mode) {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("runs");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/result.json"), "{}").unwrap();
    let (watch, notifications) = start_watch(&root, hint, QUICK);
    watch.wait_for_mode(mode);
    let change = |label: &str, change: &dyn Fn()| {
        change();
        notifications.wait_for_notification(label);
        notifications.wait_for_silence();
    };
    change("a file that changes", &|| fs::write(root.join("a/b/result.json"), "{\"x\": 1}").unwrap());
    change("a new folder", &|| fs::create_dir_all(root.join("c/d")).unwrap());
    change("a file in a new folder", &|| fs::write(root.join("c/d/new.json"), "{}").unwrap());
    change("another name", &|| fs::rename(root.join("c/d/new.json"), root.join("c/d/old.json")).unwrap());
    change("a folder that goes", &|| fs::remove_dir_all(root.join("a")).unwrap());
    change("the folder itself goes", &|| fs::rename(&root, temp.path().join("elsewhere")).unwrap());
    change("and another comes", &|| fs::create_dir(&root).unwrap());
    change("a file in that", &|| fs::write(root.join("f"), "x").unwrap());
    watch.wait_for_mode(mode);
}

#[test]
fn the_system_tells_of_every_change() {
    every_change_notifies(Hint::Auto, Mode::Notified);
}

#[test]
fn rescans_find_every_change() {
    every_change_notifies(Hint::Rescan, Mode::Rescanned);
}

#[test]
fn at_its_real_pace_a_change_is_known_within_two_seconds() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("runs.zip"), "PK").unwrap();
    let watched = [
        start_watch(temp.path(), Hint::Auto, PACE),
        start_watch(temp.path(), Hint::Rescan, PACE),
        start_watch(&temp.path().join("runs.zip"), Hint::Auto, PACE),
    ];
    fs::write(temp.path().join("runs.zip"), "PK and more").unwrap();
    for ((_, notifications), label) in watched.iter().zip(["notified", "rescanned", "a zip"]) {
        notifications.wait_for_notification(label);
    }
    // The longest wait, but for what the machine adds to it. A zip is scanned twice.
    let noticed = PACE.interval.max(2 * PACE.zip_interval);
    assert!(noticed + PACE.longest_delay <= PROMISE, "{PACE:?}");
    let now = Instant::now();
    let notified_after = |last: Duration| {
        let state = State { pending: Some((now, now + last)), ..State::default() };
        state.next_notification(PACE).map(|time| time - now)
    };
    assert_eq!(notified_after(Duration::ZERO), Some(PACE.silence));
    assert_eq!(notified_after(Duration::from_mins(1)), Some(PACE.longest_delay), "it never falls silent");
}

#[test]
fn changes_without_a_pause_notify_too() {
    let temp = tempfile::tempdir().unwrap();
    let (_watch, notifications) = start_watch(temp.path(), Hint::Auto, QUICK);
    let start = Instant::now();
    let mut n = 0_u32;
    while notifications.0.try_recv().is_err() {
        n += 1;
        fs::write(temp.path().join("log"), n.to_string()).unwrap();
        assert!(start.elapsed() < DEADLINE);
        // Shorter than any silence, and no core that others wait for.
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn lost_events_notify_at_once_and_then_less_often() {
    let shared = SharedState::default();
    let (mut pauses, mut last_notification) = (Vec::new(), None::<Instant>);
    for _ in 0..6 {
        shared.overflowed();
        shared.overflowed();
        let mut state = shared.state();
        let time = state.next_notification(PACE).unwrap();
        // Since the notification before, and not from now: this thread may have stood still in between.
        match last_notification {
            None => assert!(time <= Instant::now(), "at once"),
            Some(last_notification) => pauses.push((time - last_notification).as_secs()),
        }
        // As if the time had come.
        let now = Instant::now();
        state.overflow = Some(now);
        state.note_notification(now);
        last_notification = Some(now);
        assert_eq!(state.next_notification(PACE), None);
    }
    assert_eq!(pauses, [4, 8, 16, 32, 64]);
}

#[test]
fn reading_is_no_change_and_dropping_ends_it() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("f"), "x").unwrap();
    let (watch, notifications) = start_watch(temp.path(), Hint::Auto, NEVER);
    watch.wait_for_mode(Mode::Notified);
    watch.wait_until_ready();
    let tree = Tree::open(temp.path()).unwrap();
    assert_eq!(tree.read("f", 9).unwrap(), b"x");
    assert_eq!(tree.list("").len(), 1);
    watch.notices_only_a_mark(&temp.path().join("mark"));
    drop(watch);
    // The sender goes with the watching thread.
    assert_eq!(notifications.0.recv_timeout(DEADLINE), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn a_zip_notifies_when_it_is_complete() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("runs.zip");
    fs::write(&path, "PK").unwrap();
    let (watch, notifications) = start_watch(&path, Hint::Auto, QUICK);
    assert_eq!(watch.mode(), Mode::Rescanned);
    fs::write(&path, "PK and more").unwrap();
    notifications.wait_for_notification("a zip that changes");
}

#[test]
fn a_missing_folder_notifies_when_it_appears() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("later");
    let (watch, notifications) = start_watch(&path, Hint::Auto, QUICK);
    assert_eq!(watch.mode(), Mode::Rescanned);
    fs::create_dir(&path).unwrap();
    notifications.wait_for_notification("a folder that comes");
    notifications.wait_for_silence();
    watch.wait_for_mode(Mode::Notified);
    fs::write(path.join("f"), "x").unwrap();
    notifications.wait_for_notification("a file in it");
}

/// A folder with a run in it, and what its runner keeps for itself beside its results.
struct Runs(tempfile::TempDir);

impl Runs {
    fn new() -> Self {
        let runs = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(runs.private().join("state/live/node_modules")).unwrap();
        runs
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn private(&self) -> PathBuf {
        self.path().join("run/.stamina")
    }

    /// The runner works.
    fn change_what_is_private(&self) {
        fs::write(self.private().join("events.jsonl"), "{}").unwrap();
        fs::create_dir_all(self.private().join("state/served/workspace")).unwrap();
        fs::write(self.private().join("state/live/node_modules/x.js"), "x").unwrap();
    }

    fn add_another(&self) {
        fs::create_dir_all(self.path().join("other")).unwrap();
    }

    /// It works on another run as well, which has nothing private yet.
    fn change_what_is_private_in_the_other(&self) {
        fs::create_dir_all(self.path().join("other/.stamina/episodes")).unwrap();
        fs::write(self.path().join("other/.stamina/episodes/scenario_0.json"), "{}").unwrap();
        fs::write(self.private().join("state/served/workspace/f"), "x").unwrap();
    }

    fn write_a_result(&self) {
        fs::write(self.path().join("run/report.json"), "{}").unwrap();
    }
}

fn results_notify_beside_private_folders(hint: Hint) {
    let runs = Runs::new();
    let (_watch, notifications) = start_watch(runs.path(), hint, QUICK);
    notifications.wait_for_silence();
    runs.change_what_is_private();
    runs.add_another();
    notifications.wait_for_notification("another folder");
    notifications.wait_for_silence();
    runs.change_what_is_private_in_the_other();
    runs.write_a_result();
    notifications.wait_for_notification("a result beside it");
}

#[test]
fn notifications_leave_out_what_the_runner_keeps_for_itself() {
    results_notify_beside_private_folders(Hint::Auto);

    let runs = Runs::new();
    let (watch, _notifications) = start_watch(runs.path(), Hint::Auto, NEVER);
    watch.wait_for_mode(Mode::Notified);
    watch.wait_until_ready();
    runs.change_what_is_private();
    watch.notices_only_a_mark(&runs.path().join("run/mark"));
    runs.add_another();
    // It is noticed when it comes, and once more when it is watched as well.
    wait_until("another folder", || watch.shared.state().pending.is_some_and(|(first, last)| first != last));
    watch.shared.state().pending = None;
    runs.change_what_is_private_in_the_other();
    watch.notices_only_a_mark(&runs.path().join("other/mark"));
    runs.write_a_result();
    wait_until("a result beside it", || watch.shared.state().pending.is_some());
}

#[test]
fn rescans_leave_out_what_the_runner_keeps_for_itself() {
    results_notify_beside_private_folders(Hint::Rescan);

    // Without the thread that scans every now and then: what it would find.
    let runs = Runs::new();
    let shared = Arc::default();
    let mut watcher = WatchThread::new(runs.path(), Hint::Rescan, &shared);
    let mut differs = || rescan(runs.path(), &mut watcher, &shared);
    assert!(!differs());
    runs.change_what_is_private();
    assert!(!differs(), "the runner works");
    runs.add_another();
    assert!(differs(), "another folder");
    runs.change_what_is_private_in_the_other();
    assert!(!differs(), "the runner works on two");
    runs.write_a_result();
    assert!(differs(), "a result beside it");
    assert!(!differs());
}
