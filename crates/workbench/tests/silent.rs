//! File systems that never answer, as a network share whose server is gone: a real one, mounted through FUSE without anybody
//! behind it.
//!
//! Mounting needs root, which the tests have in CI. For other users these tests say so and pass.

#![allow(clippy::print_stderr, reason = "a test without the right to mount prints what it left out")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use test_folders::copy;
use workbench::api::{
    ListRuns, LiveLogKind, LiveLogRequest, LoadSettings, Nothing, OpenSource, RunFolder, SourceStatus,
    WaitForChanges,
};
use workbench::{Options, Workbench};

/// A file system whose every call blocks until this is dropped.
struct Silent {
    /// Closing it ends all calls with an error.
    device: Option<File>,
    mount_point: PathBuf,
}

impl Silent {
    /// `None` where this user may not mount.
    fn mount(mount_point: &Path) -> Option<Self> {
        let device = File::options().read(true).write(true).open("/dev/fuse").ok();
        let mounted = device.and_then(|device| {
            let mounted = Command::new("mount")
                .args(["-i", "-t", "fuse", "-o", "fd=0,rootmode=40000,user_id=0,group_id=0", "silent"])
                .arg(mount_point)
                .stdin(device.try_clone().expect("a handle"))
                .output()
                .expect("mount starts");
            mounted
                .status
                .success()
                .then_some(Self { device: Some(device), mount_point: mount_point.to_owned() })
        });
        if mounted.is_none() {
            assert!(!rustix::process::geteuid().is_root(), "root cannot mount a file system through FUSE");
            eprintln!("left out: only root may mount a file system");
        }
        mounted
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        drop(self.device.take());
        let unmounted = Command::new("umount").arg("-l").arg(&self.mount_point).status();
        assert!(
            unmounted.is_ok_and(|status| status.success()),
            "{} stays mounted",
            self.mount_point.display()
        );
    }
}

fn fixture() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository");
    root.join("tests/fixtures/staminabench/own")
}

fn open(folder: &Path, live: bool) -> Arc<Workbench> {
    Workbench::open(Options { db: Some(folder.join("library.sqlite")), live, ..Options::default() })
        .expect("a library")
}

#[test]
// docs/security.md: The records of a run (`.stamina/`)
fn a_file_system_that_never_answers_holds_nobody_up() {
    let room = tempfile::tempdir().expect("a folder");
    let (share, near) = (room.path().join("share"), room.path().join("near"));
    for folder in [&share, &near] {
        copy(&fixture(), folder);
        fs::create_dir(folder.join(".stamina")).expect("a folder");
        fs::write(folder.join(".stamina/run.json"), "{}").expect("a file");
    }
    let workbench = open(room.path(), false);
    for folder in [&share, &near] {
        workbench.ingest(folder, &|_, _| {}).expect("it is read");
    }
    let Some(silent) = Silent::mount(&share) else { return };

    let folder = share.display().to_string();
    let request = RunFolder { folder: folder.clone() };
    let refused = workbench.get_live_run(request.clone()).expect_err("no record is read");
    assert!(refused.message.contains("does not answer"), "{}", refused.message);
    let refused = workbench.run_trust(request).expect_err("no record is read");
    assert!(refused.message.contains("does not answer"), "{}", refused.message);
    workbench.list_live_runs(Nothing {}).expect("the list of runs");
    let log = LiveLogRequest {
        folder: folder.clone(),
        episode: "scenario_0".to_owned(),
        which: LiveLogKind::Gateway,
        position: None,
    };
    let refused = workbench.live_log(log).expect_err("no log is read");
    assert!(refused.message.contains("does not answer"), "{}", refused.message);
    // A file of settings names what its author likes.
    let yaml = format!(
        "agent: CODEX\ncodex: {{model_id: acme/new}}\nendpoint: {{base_url: 'http://127.0.0.1:9'}}\n\
         scenarios_dir: '{folder}/pack'\n"
    );
    let named = LoadSettings { yaml: Some(yaml), file: None, run: None, folder: None };
    let loaded = workbench.load_settings(named).expect("settings");
    assert!(loaded.notes.iter().any(|note| note.contains("is not on this machine")), "{:?}", loaded.notes);
    workbench.check_settings(loaded.settings).expect("a check");
    let refused = workbench.open_source(OpenSource { path: folder }).expect_err("it is not opened");
    assert!(refused.message.contains("does not answer"), "{}", refused.message);
    let state = workbench.app_state(Nothing {}).expect("a state");
    let status = |name: &str| state.sources.iter().find(|source| source.name == name).expect(name).status;
    assert_eq!((status("share"), status("near")), (SourceStatus::Missing, SourceStatus::Ready));
    // What was read of it is there, and once it answers again, so is the source.
    assert_eq!(workbench.list_runs(ListRuns::default()).expect("runs").rows.len(), 2);
    drop(silent);
    let begun = Instant::now();
    loop {
        let state = workbench.app_state(Nothing {}).expect("a state");
        if state.sources.iter().all(|source| source.status == SourceStatus::Ready) {
            break;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "it is not asked again");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
// docs/security.md: An opened folder or zip
fn a_change_over_which_a_process_ends_is_noted_too() {
    let room = tempfile::tempdir().expect("a folder");
    let results = room.path().join("results");
    copy(&fixture(), &results);
    fs::create_dir(results.join("scenario_7")).expect("a folder");
    let workbench = open(room.path(), true);
    let source =
        workbench.open_source(OpenSource { path: results.display().to_string() }).expect("it is opened").id;
    let store = store::Store::open(&room.path().join("library.sqlite")).expect("a library");
    let wait_until = |condition: &str, holds: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < Duration::from_mins(1), "never: {condition}");
            let start = workbench.app_state(Nothing {}).expect("a state").change;
            // words: ok: a JSON key.
            workbench.wait_for_changes(WaitForChanges { since: start, timeout_ms: 100 }).expect("changes");
        }
    };
    wait_until("it is read", &|| {
        let state = workbench.app_state(Nothing {}).expect("a state");
        state.sources[0].status == SourceStatus::Ready && store.readings().expect("readings").is_empty()
    });
    // The change blocks whoever reads it.
    let Some(silent) = Silent::mount(&results.join("scenario_7")) else { return };
    fs::remove_file(results.join("scenario_1/trajectory.json")).expect("a change");
    wait_until("the change is being read", &|| {
        store.readings().expect("readings").iter().any(|(read, _)| *read == source)
    });
    drop(silent);
    wait_until("it is read again", &|| store.readings().expect("readings").is_empty());
}
