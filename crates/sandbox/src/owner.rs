//! Whose is what: names and labels of containers, networks and volumes.
//!
//! An owner is a process: its id, its start time (ids are given anew) and its process namespace (an id says nothing in
//! another one), joined by `:`. What a living process made is in use; what a dead one made is a leftover.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use crate::LABEL;

/// Stands between the id of a run and what tells its folder. Ids are hexadecimal, so it is in none; engines take it in every name.
const FOLDER: char = 'x';

/// A run as containers, networks and volumes carry it: its id, and which folder it is played in. A copy of a results folder has the
/// id of the original, which may be played beside it, also by the same process. Blocks.
///
/// The folder is known by its device and inode, so that it may be renamed; one that cannot be looked at, by its path.
pub fn run_of_folder(id: &str, folder: &Path) -> String {
    let identity = match std::fs::metadata(folder) {
        Ok(found) => format!("{} {}", found.dev(), found.ino()),
        Err(_) => folder.display().to_string(),
    };
    let hash = sha2::Sha256::digest(identity.as_bytes());
    let begin = hash.iter().take(4).fold(0u32, |number, byte| number << 8 | u32::from(*byte));
    format!("{id}{FOLDER}{begin:08x}")
}

/// The id of a run in what [`run_of_folder`] gave.
pub(crate) fn run_id(run: &str) -> &str {
    parts(run).0
}

/// Id and folder of a run. Earlier versions gave the id alone.
fn parts(run: &str) -> (&str, Option<&str>) {
    match run.rsplit_once(FOLDER) {
        Some((id, folder)) if folder.len() == 8 && folder.bytes().all(|b| b.is_ascii_hexdigit()) => {
            (id, Some(folder))
        }
        _ => (run, None),
    }
}

/// The run that these labels are of, as [`run_of_folder`] names it: what earlier versions made has no folder.
pub(crate) fn run_of_labels<'a>(label: impl Fn(&str) -> Option<&'a String>) -> String {
    let id = label(&key("run")).map_or("", String::as_str);
    label(&key("folder")).map_or_else(|| id.to_owned(), |folder| format!("{id}{FOLDER}{folder}"))
}

/// `org.stamina-lab.run` and its like.
pub(crate) fn key(name: &str) -> String {
    format!("{LABEL}.{name}")
}

/// The labels of something that belongs to an episode of a run, or (without one) to the run.
pub(crate) fn labels(run: &str, episode: Option<&str>, kind: &str) -> HashMap<String, String> {
    let (id, folder) = parts(run);
    let mut labels = HashMap::from([
        (key("run"), id.to_owned()),
        (key("owner"), Process::current().0),
        (key("kind"), kind.to_owned()),
    ]);
    if let Some(folder) = folder {
        labels.insert(key("folder"), folder.to_owned());
    }
    if let Some(episode) = episode {
        labels.insert(key("episode"), episode.to_owned());
    }
    labels
}

/// A name that no other container has: `stamina-0f3a5c77-scenario_3-agent-4711-12`.
pub(crate) fn unique_name(run: &str, episode: &str, kind: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("stamina-{}-{}-{kind}-{}-{count}", plain_name(run), plain_name(episode), std::process::id())
}

/// Only what engines take in a name.
pub(crate) fn plain_name(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '.' { c } else { '_' })
        .take(40)
        .collect()
}

/// A process, told from a later one with the same id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Process(String);

impl Process {
    /// This one.
    pub fn current() -> Self {
        let pid = std::process::id();
        Self(format!("{pid}:{}:{}", start_time(pid).unwrap_or_else(|| "0".to_owned()), namespace()))
    }

    /// As a label has it.
    pub fn from_label(label: &str) -> Self {
        Self(label.to_owned())
    }

    /// As a label has it.
    pub fn label(&self) -> &str {
        &self.0
    }

    /// Its id, where it has one.
    pub fn pid(&self) -> Option<u32> {
        self.0.split(':').next()?.parse().ok()
    }

    /// Whether it still lives. What cannot be told (another namespace, an unreadable label) counts as living: nothing
    /// of it is taken away unasked.
    pub fn lives(&self) -> bool {
        let mut parts = self.0.splitn(3, ':').skip(1);
        let (Some(pid), Some(start), Some(space)) = (self.pid(), parts.next(), parts.next()) else {
            return true;
        };
        if space != namespace() {
            return true;
        }
        match start_time(pid) {
            Some(now) => now == start,
            None => exists(pid) && start == "0",
        }
    }
}

/// Clock ticks since boot at which a process started: field 22 of `/proc/PID/stat`; its second field, the program's name
/// in parentheses, may itself hold spaces and parentheses. A dead process that nobody has waited for does not count.
#[cfg(target_os = "linux")]
fn start_time(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then(|| fields.nth(18)).flatten().map(ToOwned::to_owned)
}

/// Elsewhere `ps` knows.
#[cfg(not(target_os = "linux"))]
fn start_time(pid: u32) -> Option<String> {
    let out =
        std::process::Command::new("ps").args(["-o", "lstart=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout).trim().replace([' ', ':'], "_");
    (!text.is_empty()).then_some(text)
}

fn exists(pid: u32) -> bool {
    i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// The process namespace, as the kernel writes it.
fn namespace() -> String {
    std::fs::read_link("/proc/self/ns/pid").map_or_else(
        |_| "-".to_owned(),
        |link| link.to_string_lossy().chars().filter(char::is_ascii_digit).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_lives_until_it_is_dead() {
        assert!(Process::current().lives());
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let text = format!("{}:{}:{}", child.id(), start_time(child.id()).unwrap(), namespace());
        let owner = Process(text);
        assert!(owner.lives());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!owner.lives());
    }

    #[test]
    fn the_same_id_at_another_time_is_another_process() {
        let Process(owner) = Process::current();
        let (pid, rest) = owner.split_once(':').unwrap();
        let space = rest.split_once(':').unwrap().1;
        assert!(!Process(format!("{pid}:1:{space}")).lives());
    }

    #[test]
    fn what_cannot_be_told_is_left_alone() {
        assert!(Process::from_label("").lives());
        assert!(Process::from_label("4194304").lives());
        assert!(Process::from_label("x:1:1").lives());
        assert!(Process::from_label("4194305:1:another").lives());
    }

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn a_copy_of_a_folder_is_another_run_in_the_engine_and_a_renamed_one_the_same() {
        let room = tempfile::tempdir().unwrap();
        let [original, copy, renamed] = ["original", "copy", "renamed"].map(|name| room.path().join(name));
        std::fs::create_dir(&original).unwrap();
        std::fs::create_dir(&copy).unwrap();
        let run = run_of_folder("0f3a5c77", &original);
        assert_eq!(run_id(&run), "0f3a5c77");
        assert_ne!(run, run_of_folder("0f3a5c77", &copy));
        assert_ne!(run, run_of_folder("0f3a5c78", &original));
        std::fs::rename(&original, &renamed).unwrap();
        assert_eq!(run, run_of_folder("0f3a5c77", &renamed));
        // Names of engines and comments of the firewall take it as it is.
        assert!(run.len() == 17 && plain_name(&run) == run, "{run}");
        let labels = labels(&run, Some("scenario_3"), "agent");
        assert_eq!(labels[&key("run")], "0f3a5c77", "who looks for a run by its id finds it");
        assert_eq!(run_of_labels(|name| labels.get(name)), run);
        let old_labels = HashMap::from([(key("run"), "0f3a5c77".to_owned())]);
        assert_eq!(run_of_labels(|name| old_labels.get(name)), "0f3a5c77");
        // What earlier versions left has the id only.
        assert_eq!(run_id("0f3a5c77"), "0f3a5c77");
        assert_eq!(run_id("0f3a5c77xyz"), "0f3a5c77xyz");
    }

    #[test]
    fn names_hold_only_what_engines_take() {
        let name = unique_name("0f3a5c77", "../scenario 3", "agent");
        assert!(name.starts_with("stamina-0f3a5c77-.._scenario_3-agent-"), "{name}");
        assert_ne!(name, unique_name("0f3a5c77", "../scenario 3", "agent"));
    }
}
