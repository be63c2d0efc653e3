//! Whether there is room for a run: its folder, the disk, cores and memory.

use std::path::Path;

use runner::settings::RunSettings;

use crate::api::{Check, CheckState, FixAction, RunEstimate};
use crate::runs::machine::{self, LEAST_DISK, bytes};

/// Copies of the volumes of an episode: live, before, served.
const COPIES: u64 = 3;
/// What is proposed where all snapshots of the code do not fit.
const FEW_SNAPSHOTS: u32 = 3;

/// Whether the folder for the results can be taken.
pub(super) fn folder(path: &Path) -> Check {
    const TITLE: &str = "Folder";
    let check = |state, value: &str| Check::new("folder", TITLE, state, value);
    let resume = FixAction::Resume { folder: path.display().to_string() };
    if path.join(".stamina/run.json").exists() {
        return check(CheckState::Fail, "already contains a run")
            .with_sentence("The folder already contains a run. Resume it, or choose another folder.")
            .fixed_by("Resume", resume);
    }
    if path.is_file() {
        return check(CheckState::Fail, "is a file")
            .with_sentence("A file is where the folder should be. Choose another one.");
    }
    // What a begin left that was killed before there was a run is none.
    let is_killed_begin = path.join(".stamina").is_dir() && !runner::is_taken(path);
    let is_left = |name: &std::ffi::OsStr| is_killed_begin && (name == ".stamina" || name == "config.yaml");
    if path.read_dir().is_ok_and(|entries| entries.flatten().any(|entry| !is_left(&entry.file_name()))) {
        return check(CheckState::Fail, "not empty")
            .with_sentence("The folder holds other files. Choose a new one, so that results do not mix.");
    }
    let writable = path
        .ancestors()
        .find(|folder| folder.exists())
        .is_some_and(|folder| rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok());
    if writable {
        check(CheckState::Ok, "new")
    } else {
        check(CheckState::Fail, "not writable")
            .with_sentence("This user may not write there. Choose another folder.")
    }
}

/// Whether the results fit the disk, and the folders of containers beside them.
pub(super) fn disk(settings: &RunSettings, estimate: Option<&RunEstimate>) -> Check {
    const TITLE: &str = "Disk";
    let Some(free) = machine::free_disk(&settings.output_dir) else {
        return Check::new("disk", TITLE, CheckState::Unknown, "unknown");
    };
    let value = format!("{} free", bytes(free));
    let results = estimate.and_then(|estimate| estimate.bytes).unwrap_or(0);
    let turns = estimate.map_or(0, |estimate| estimate.turns);
    let episodes = estimate.map_or(u32::MAX, |estimate| estimate.episodes.max(1));
    let at_once = u64::from(settings.batch_size.min(episodes));
    // Containers of tasks have no folders of this machine.
    let has_volumes = settings.use_docker && settings.tasks.is_none();
    let containers = if has_volumes { settings.limits.disk.saturating_mul(COPIES * at_once) } else { 0 };
    if free < LEAST_DISK {
        return Check::new("disk", TITLE, CheckState::Fail, value)
            .with_sentence(format!("At least {} are needed to begin. Free some space.", bytes(LEAST_DISK)));
    }
    if results > free {
        let check = Check::new("disk", TITLE, CheckState::Warn, value).with_sentence(format!(
            "The results of {} need about {}. Keep only the last {FEW_SNAPSHOTS} snapshots of each episode, or free \
             space.",
            model::counted(turns, "turn"),
            bytes(results)
        ));
        return if settings.keep_snapshots.is_none_or(|kept| kept > FEW_SNAPSHOTS) {
            let field = "keep_snapshots".to_owned();
            check.fixed_by(
                format!("Change to {FEW_SNAPSHOTS}"),
                FixAction::SetNumber { field, value: f64::from(FEW_SNAPSHOTS) },
            )
        } else {
            check
        };
    }
    if results + containers > free {
        let (disk, most) = (bytes(settings.limits.disk), bytes(containers));
        let sentence = if at_once == 1 {
            format!(
                "An agent may fill {disk}, and its container is kept {COPIES} times: {most} at most. Lower limits.disk_gib."
            )
        } else {
            format!(
                "{at_once} agents at once may fill {disk} each, and their containers are kept {COPIES} times: {most} at most. \
                 Play fewer at once, or lower limits.disk_gib."
            )
        };
        return Check::new("disk", TITLE, CheckState::Warn, value).with_sentence(sentence);
    }
    Check::new("disk", TITLE, CheckState::Ok, value)
}

/// Whether images, containers and snapshots of tasks fit where the engine keeps them; nothing where they do, or nobody can say.
pub(super) fn engine_disk(
    settings: &RunSettings,
    estimate: Option<&RunEstimate>,
    root: Option<&Path>,
) -> Option<Check> {
    let needs = estimate?.engine?;
    // The folder of an engine in a virtual machine is not a folder of this machine.
    let root = root.filter(|root| root.is_dir())?;
    let free = machine::free_disk(root)?;
    let most_containers = needs.images.unwrap_or(0).saturating_add(needs.containers_at_most);
    if most_containers <= free {
        return None;
    }
    let images = needs.images.map_or_else(
        || "images of unknown size".to_owned(),
        |images| format!("images of about {}", bytes(images)),
    );
    let containers = match needs.snapshots {
        0 => "containers".to_owned(),
        snapshots => format!("containers with {}", model::counted(snapshots, "snapshot")),
    };
    let value = format!("{} free", bytes(free));
    Some(Check::new("engine_disk", "Disk of the engine", CheckState::Warn, value).with_sentence(format!(
        "In {} tasks may take {images}, and {containers} {} each: {} at most. Play fewer at once, or lower limits.disk_gib.",
        root.display(),
        bytes(settings.limits.disk),
        bytes(most_containers)
    )))
}

/// Whether as many containers at once fit this machine.
pub(super) fn machine_holds(settings: &RunSettings) -> Option<Check> {
    if !settings.use_docker {
        return None;
    }
    let cores = std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64);
    let memory = machine::memory();
    let at_once = f64::from(settings.batch_size);
    let (wants, needs) = (at_once * settings.limits.cpus, (at_once * settings.limits.memory as f64) as u64);
    let memory_text = memory.map_or_else(|| "memory unknown".to_owned(), bytes);
    let value = format!("{}, {memory_text}", counted_cores(cores));
    let containers = model::counted(settings.batch_size.into(), "container");
    let mut messages = Vec::new();
    if wants > cores {
        let verb = if settings.batch_size == 1 { "is" } else { "are" };
        messages.push(format!(
            "{containers} of {} {verb} more than this machine has; agents get slower and may run into their time limit.",
            counted_cores(settings.limits.cpus)
        ));
    }
    if memory.is_some_and(|memory| needs > memory) {
        messages.push(format!(
            "{containers} may take {} of memory in all; the system may end one of them.",
            bytes(needs)
        ));
    }
    let check = |state| Check::new("machine", "Machine", state, value.clone());
    Some(if messages.is_empty() {
        check(CheckState::Ok)
    } else {
        check(CheckState::Warn).with_sentence(messages.join(" "))
    })
}

/// `1 core`, `1.5 cores`.
fn counted_cores(cores: f64) -> String {
    let noun = if (cores - 1.0).abs() < f64::EPSILON { "core" } else { "cores" };
    format!("{cores} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::EngineDisk;

    #[test]
    fn one_core_has_no_plural() {
        assert_eq!([1.0, 1.5, 8.0].map(counted_cores), ["1 core", "1.5 cores", "8 cores"]);
    }

    #[test]
    fn what_does_not_fit_where_the_engine_keeps_it_is_told_before_the_run() {
        let values = ["agent=ORACLE", "benchmark=HARBOR", "tasks=/t", "output_dir=/r", "limits.disk_gib=2"];
        let settings = runner::settings::resolve(&[], &values.map(str::to_owned)).unwrap();
        let room = tempfile::tempdir().unwrap();
        let estimate = |images, containers_at_most, snapshots| RunEstimate {
            episodes: 1,
            turns: 3,
            attempts_at_most: 3,
            seconds: None,
            tokens_in: None,
            cached: None,
            tokens_out: None,
            cost_usd: None,
            bytes: None,
            engine: Some(EngineDisk { images, containers_at_most, snapshots }),
            budgets: Vec::new(),
            basis: String::new(),
        };
        let check = |estimate: &RunEstimate| engine_disk(&settings, Some(estimate), Some(room.path()));
        assert_eq!(check(&estimate(Some(1000), 1000, 0)), None, "it fits");
        let full = check(&estimate(None, u64::MAX, 3)).unwrap();
        assert_eq!(full.state, CheckState::Warn);
        let sentence = full.sentence.unwrap();
        assert!(sentence.contains("images of unknown size"), "{sentence}");
        assert!(sentence.contains("containers with 3 snapshots 2.1 GB each"), "{sentence}");
        let images = check(&estimate(Some(u64::MAX), 1000, 0)).unwrap().sentence.unwrap();
        assert!(images.contains("images of about") && !images.contains("snapshot"), "{images}");
        // Nobody can say.
        let large = estimate(None, u64::MAX, 3);
        assert_eq!(engine_disk(&settings, Some(&large), Some(&room.path().join("elsewhere"))), None);
        assert_eq!(engine_disk(&settings, Some(&large), None), None);
        assert_eq!(
            engine_disk(&settings, Some(&RunEstimate { engine: None, ..large }), Some(room.path())),
            None
        );
    }

    #[test]
    fn a_folder_with_something_in_it_is_not_taken() {
        let temp = tempfile::tempdir().unwrap();
        let state = |path: &Path| (folder(path).state, folder(path).value);
        assert_eq!(state(&temp.path().join("a/b/c")), (CheckState::Ok, "new".to_owned()));
        assert_eq!(state(temp.path()), (CheckState::Ok, "new".to_owned()));
        std::fs::write(temp.path().join("x"), "x").unwrap();
        assert_eq!(state(temp.path()).1, "not empty");
        assert_eq!(state(&temp.path().join("x")).1, "is a file");
        std::fs::create_dir(temp.path().join(".stamina")).unwrap();
        std::fs::write(temp.path().join(".stamina/run.json"), "{}").unwrap();
        assert_eq!(state(temp.path()).1, "already contains a run");

        let killed = temp.path().join("killed");
        std::fs::create_dir_all(killed.join(".stamina/episodes")).unwrap();
        std::fs::write(killed.join("config.yaml"), "agent: MOCK").unwrap();
        assert_eq!(state(&killed), (CheckState::Ok, "new".to_owned()), "it ended before there was a run");
        std::fs::write(killed.join("notes.txt"), "x").unwrap();
        assert_eq!(state(&killed).1, "not empty");
    }
}
