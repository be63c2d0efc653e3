//! `.stamina/`: what only the runner needs, beside the results.
//!
//! ```text
//! .stamina/
//! ├── lock                    held by the process of the run; the kernel releases it when the process exits
//! ├── run.json                process, settings, times and end of the run
//! ├── control.json            control requests
//! ├── events.jsonl            what happened
//! ├── gateway.jsonl           every request to the model, without bodies
//! ├── gateway/                the gateway's socket, while the run is in progress
//! ├── episodes/scenario_0.json   what an episode is doing now
//! └── state/scenario_0/
//!     ├── live/{workspace,home}     the two volumes of its containers, until it is over for good
//!     ├── before/{workspace,home,label.json}   as they were before an attempt
//!     ├── served/{workspace,home}   scratch for the server container
//!     └── journal.json              what the next attempt needs beside the volumes
//! ```
//!
//! **Which file decides.** An attempt is over when `trajectory.json` names it. `journal.json` is written just before and has
//! the state for both cases. The label of `before/` names its attempt. So after a kill at any time, these three files say
//! where to continue.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use files::beneath;
use rustix::fs::OFlags;
use sandbox::Process;
use scenario::pack::{Generator, PACK_VERSION};
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::disk::{self, Durability};
use crate::settings::RunSettings;
use crate::{EndpointAttempts, Event, Finish, OnEvent, RunError, live};

/// Its name.
pub(crate) const FOLDER: &str = ".stamina";
/// Most bytes of a lock that are read: it names a process.
const LONGEST_LOCK: u64 = 4 << 10;
/// How long a resume or a removal waits for the lock of a run whose record says that it has ended.
pub(crate) const LETTING_GO: Duration = Duration::from_secs(20);
/// How often a wait checks the lock.
const LOOK: Duration = Duration::from_millis(20);
/// The version of its files.
const VERSION: &str = "stamina-run/1";

/// The paths of a run.
#[derive(Debug, Clone)]
pub(crate) struct RunPaths {
    /// The results folder.
    pub(crate) results: PathBuf,
}

impl RunPaths {
    /// The folder itself may be reached through links; nothing below it is ([`files::beneath`]).
    pub(crate) fn new(results: &Path) -> Self {
        Self { results: files::beneath::resolved(results) }
    }

    pub(crate) fn own(&self) -> PathBuf {
        self.results.join(FOLDER)
    }

    pub(crate) fn run_file(&self) -> PathBuf {
        self.own().join("run.json")
    }

    pub(crate) fn events(&self) -> PathBuf {
        self.own().join("events.jsonl")
    }

    pub(crate) fn gateway_log(&self) -> PathBuf {
        self.own().join("gateway.jsonl")
    }

    /// The file that describes the harness, kept so that a resume has the one that the run began with.
    pub(crate) fn harness_file(&self) -> PathBuf {
        self.own().join("harness.toml")
    }

    /// Where the gateway has its socket while the run is played.
    pub(crate) fn gateway_folder(&self) -> PathBuf {
        self.own().join("gateway")
    }

    pub(crate) fn episode_file(&self, episode: &str) -> PathBuf {
        self.own().join("episodes").join(format!("{episode}.json"))
    }

    /// The results of an episode.
    pub(crate) fn episode(&self, episode: &str) -> PathBuf {
        self.results.join(episode)
    }

    /// The volumes and the journal of an episode.
    pub(crate) fn state(&self, episode: &str) -> PathBuf {
        self.own().join("state").join(episode)
    }
}

/// A harness as a run names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct HarnessNamed {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) version: String,
    pub(crate) image: String,
}

/// What makes scenarios that lie in no pack: another one may make others of the same seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MadeBy {
    #[serde(flatten)]
    pub(crate) generator: Generator,
    /// Of what it writes.
    pub(crate) format: String,
}

impl MadeBy {
    /// This program.
    pub(crate) fn this() -> Self {
        Self { generator: Generator::this(), format: PACK_VERSION.to_owned() }
    }
}

impl std::fmt::Display for MadeBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({})", self.generator.name, self.generator.version, self.format)
    }
}

/// An episode that is to be played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Planned {
    /// `scenario_3`.
    pub(crate) name: String,
    /// From 0.
    pub(crate) scenario: u32,
    /// Turns of it.
    pub(crate) turns: u32,
}

/// The name of an episode and of its folder.
pub(crate) fn episode_name(scenario: u32) -> String {
    format!("scenario_{scenario}")
}

/// `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunFile {
    pub(crate) version: String,
    /// 8 hex digits.
    pub(crate) id: String,
    pub(crate) settings: RunSettings,
    pub(crate) harness: HarnessNamed,
    /// `None` = not told apart.
    #[serde(default)]
    pub(crate) pack_sha256: Option<String>,
    /// `None` = they lie in a pack, or an older version did not say it.
    #[serde(default)]
    pub(crate) made_by: Option<MadeBy>,
    /// Who plays it, or played it last.
    pub(crate) owner: Process,
    pub(crate) started_at: String,
    /// When this part of it began.
    pub(crate) part_started_at: String,
    /// Wall seconds of earlier parts.
    pub(crate) seconds: f64,
    pub(crate) episodes: Vec<Planned>,
    /// Tasks that are there and were not played, each with why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) refused: BTreeMap<String, Vec<String>>,
    pub(crate) spent: gateway::Spent,
    /// Attempts that the endpoint cost. `None` = unknown: an older version began it, which did not count them.
    #[serde(default)]
    pub(crate) endpoint: Option<EndpointAttempts>,
    /// `None` while it is played.
    pub(crate) finish: Option<Finish>,
}

impl RunFile {
    pub(crate) fn new(
        settings: RunSettings,
        harness: HarnessNamed,
        episodes: Vec<Planned>,
        pack_sha256: Option<String>,
    ) -> Self {
        let now = clock::now();
        Self {
            version: VERSION.to_owned(),
            id: fresh_id(&settings.output_dir),
            settings,
            harness,
            pack_sha256,
            made_by: None,
            owner: Process::this(),
            started_at: now.clone(),
            part_started_at: now,
            seconds: 0.0,
            episodes,
            refused: BTreeMap::new(),
            spent: gateway::Spent::default(),
            endpoint: Some(EndpointAttempts::default()),
            finish: None,
        }
    }

    pub(crate) fn read(paths: &RunPaths) -> Result<Self, RunError> {
        let path = paths.run_file();
        let why = |why: String| RunError::NotResumable { path: paths.results.clone(), why };
        let read =
            disk::read_json::<Self>(&path, disk::LARGEST_RECORD).map_err(|error| why(error.to_string()))?;
        let run = read.ok_or_else(|| why(format!("there is no {FOLDER}/run.json")))?;
        if run.version != VERSION {
            return Err(why(format!("it is of the version {}, this program knows {VERSION}", run.version)));
        }
        run.check_names().map_err(why)?;
        Ok(run)
    }

    /// Names in the record become paths: each is the one that this program gives, and no two episodes share one.
    pub(crate) fn check_names(&self) -> Result<(), String> {
        let is_id = self.id.len() == 8 && self.id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id {
            return Err("its id is not eight hexadecimal digits".to_owned());
        }
        if self.episodes.len() > live::MOST_EPISODES {
            return Err(format!(
                "it names {} episodes; a run has at most {}",
                self.episodes.len(),
                live::MOST_EPISODES
            ));
        }
        if let Some(planned) = self.episodes.iter().find(|planned| planned.turns > live::MOST_TURNS) {
            return Err(format!(
                "it plans {} turns of an episode; at most {} are played",
                planned.turns,
                live::MOST_TURNS
            ));
        }
        let mut numbers = BTreeSet::new();
        for planned in &self.episodes {
            if planned.name != episode_name(planned.scenario) || !numbers.insert(planned.scenario) {
                return Err(format!(
                    "it names an episode \"{}\"; the names of episodes are scenario_0, scenario_1, …, each once",
                    planned.name.chars().take(80).collect::<String>().escape_debug()
                ));
            }
        }
        Ok(())
    }

    pub(crate) fn write(&self, paths: &RunPaths) -> Result<(), RunError> {
        disk::write_json(&paths.run_file(), self, Durability::Synced)
    }

    /// Most turns of any episode.
    pub(crate) fn turns(&self) -> u32 {
        self.episodes.iter().map(|episode| episode.turns).max().unwrap_or(0)
    }

    /// Wall seconds in which it ran, this part included if it is going on.
    pub(crate) fn seconds_now(&self) -> f64 {
        let part = if self.finish.is_none() { clock::seconds_since(&self.part_started_at) } else { None };
        self.seconds + part.unwrap_or(0.0)
    }
}

/// Differs between runs of one machine, whenever and wherever they begin.
fn fresh_id(output_dir: &Path) -> String {
    use sha2::Digest as _;
    let mut hash = sha2::Sha256::new();
    hash.update(output_dir.to_string_lossy().as_bytes());
    hash.update(clock::now().as_bytes());
    hash.update(format!("{:?} {:?}", Process::this(), std::time::Instant::now()).as_bytes());
    let digest = hash.finalize();
    let number = digest.iter().take(4).fold(0u32, |number, byte| number << 8 | u32::from(*byte));
    format!("{number:08x}")
}

/// The lock of a run; whoever has it plays it. Let go of when it is dropped, or its process dies.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
    own: PathBuf,
}

/// Folders of runs that this process has let go of: it lives, and plays them no more.
static LEFT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Whether the process that has played a run last plays it no more, however that came: it is dead, or has let go of it
/// without writing down how it ended.
pub(crate) fn is_left(paths: &RunPaths, run: &RunFile) -> bool {
    let let_go = || {
        let own = paths.own().canonicalize().unwrap_or_else(|_| paths.own());
        LEFT.lock().unwrap_or_else(PoisonError::into_inner).contains(&own)
    };
    !run.owner.lives() || run.owner == Process::this() && let_go()
}

impl Drop for Lock {
    fn drop(&mut self) {
        LEFT.lock().unwrap_or_else(PoisonError::into_inner).insert(std::mem::take(&mut self.own));
    }
}

impl Lock {
    /// Takes the lock, or says who holds it.
    pub(crate) fn take(paths: &RunPaths) -> Result<Self, RunError> {
        Self::take_until(paths, || false)
    }

    /// Takes the lock of a run that is to be resumed or removed. Where its record says how it ended, whoever played it lets go in a moment: the
    /// record comes first, and is what a person sees. So that moment is waited for, at most [`LETTING_GO`]. Blocks.
    pub(crate) fn take_over(paths: &RunPaths) -> Result<Self, RunError> {
        let until = Instant::now() + LETTING_GO;
        Self::take_until(paths, || {
            let has_ended = RunFile::read(paths).is_ok_and(|run| run.finish.is_some());
            has_ended && Instant::now() < until
        })
    }

    /// Tries again as long as it is worth `waiting`.
    fn take_until(paths: &RunPaths, waiting: impl Fn() -> bool) -> Result<Self, RunError> {
        let path = paths.own().join("lock");
        let wrong = |error: std::io::Error| disk::at(&path, error);
        let mut file = beneath::open_file(&path, OFlags::RDWR | OFlags::CREATE).map_err(wrong)?;
        while file.try_lock().is_err() {
            if waiting() {
                std::thread::sleep(LOOK);
                continue;
            }
            let mut text = String::new();
            let _ = (&mut file).take(LONGEST_LOCK).read_to_string(&mut text);
            let owner: Option<Process> = serde_json::from_str(&text).ok();
            return Err(RunError::Running {
                path: paths.results.clone(),
                pid: owner.and_then(|owner| owner.pid()).unwrap_or(0),
            });
        }
        let this = serde_json::to_string(&Process::this()).unwrap_or_default();
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(this.as_bytes()))
            .map_err(wrong)?;
        let own = paths.own().canonicalize().map_err(wrong)?;
        LEFT.lock().unwrap_or_else(PoisonError::into_inner).remove(&own);
        Ok(Self { _file: file, own })
    }
}

/// What happens, written down and told.
pub(crate) struct Events {
    file: Mutex<File>,
    on_event: OnEvent,
}

impl Events {
    pub(crate) fn open(paths: &RunPaths, on_event: OnEvent) -> Result<Self, RunError> {
        let path = paths.events();
        let file = beneath::open_file(&path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE);
        let mut file = file.map_err(|error| disk::at(&path, error))?;
        // A line that a killed process did not end would swallow the next one.
        if let Ok(length) = file.seek(std::io::SeekFrom::End(0))
            && length > 0
        {
            let mut last = [0];
            let _ = file.seek(std::io::SeekFrom::Start(length - 1)).and_then(|_| file.read_exact(&mut last));
            if last != [b'\n'] {
                let _ = file.write_all(b"\n");
            }
        }
        Ok(Self { file: Mutex::new(file), on_event })
    }

    /// Writes an event and calls the listener, even if the write fails: the results do not depend on it.
    pub(crate) fn tell(&self, event: &Event) {
        if let Ok(mut line) = serde_json::to_vec(event) {
            line.push(b'\n');
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = disk::briefly(|| file.write_all(&line)) {
                tracing::warn!("an event could not be written down: {error}");
            }
        }
        (self.on_event)(event);
    }
}

/// Which attempt a snapshot was made for: `before/label.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Label {
    pub(crate) turn: u32,
    pub(crate) attempt: u32,
}

/// `journal.json`: what an attempt needs that lies in no volume.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Journal {
    /// The state before the attempt that was being recorded.
    pub(crate) before: SessionState,
    /// The state once the trajectory names it.
    pub(crate) after: Option<After>,
}

/// The state after an attempt is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct After {
    pub(crate) turn: u32,
    pub(crate) attempt: u32,
    pub(crate) known: SessionState,
}

/// The state of an episode between attempts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SessionState {
    /// Of the agent.
    pub(crate) session: Option<harness::Session>,
    /// The session when the turn began: attempts that begin from the same snapshot continue it.
    pub(crate) session_before: Option<harness::Session>,
    /// Calls of the agent so far, for the names of its logs.
    pub(crate) calls: u32,
    /// Whether the harness's program could be started in a call before.
    pub(crate) worked: bool,
    /// Feedback on the last attempt, if the next one is a retry.
    pub(crate) feedback: Option<String>,
    /// Wall seconds in which the episode was played.
    pub(crate) seconds: f64,
    /// Spent so far.
    pub(crate) spent: gateway::Spent,
}

impl Journal {
    /// The valid state, given the last attempt that the trajectory names.
    pub(crate) fn known(self, last: Option<(u32, u32)>) -> SessionState {
        match self.after {
            Some(after) if last == Some((after.turn, after.attempt)) => after.known,
            _ => self.before,
        }
    }

    pub(crate) fn read(state: &Path) -> Result<Self, RunError> {
        Ok(disk::read_json(&state.join("journal.json"), disk::LARGEST_JSON)?.unwrap_or_default())
    }

    pub(crate) fn write(&self, state: &Path) -> Result<(), RunError> {
        disk::write_json(&state.join("journal.json"), self, Durability::Synced)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A run that an older version began did not count what the endpoint cost it.
    #[test]
    fn what_was_not_counted_stays_unknown() {
        let room = tempfile::tempdir().unwrap();
        let list = [format!("output_dir={}", room.path().display()), "agent=MOCK".to_owned()];
        let settings = crate::settings::resolve(&[], &list).unwrap();
        let word = |word: &str| word.to_owned();
        let harness =
            HarnessNamed { name: word("mock"), title: word("mock"), version: word("1"), image: word("i") };
        let run = RunFile::new(settings, harness, Vec::new(), None);
        assert_eq!(run.endpoint, Some(EndpointAttempts::default()), "it counts from its beginning");
        let mut old = serde_json::to_value(&run).unwrap();
        old.as_object_mut().unwrap().remove("endpoint");
        let old: RunFile = serde_json::from_value(old).unwrap();
        assert_eq!(old.endpoint, None);
        let part = |run: &RunFile| {
            crate::record::report::write(room.path(), run, &[]).unwrap();
            let text = std::fs::read_to_string(room.path().join("report.json")).unwrap();
            serde_json::from_str::<serde_json::Value>(&text).unwrap()["run"].clone()
        };
        for key in ["attempts_retried_for_endpoint", "attempts_lost_to_endpoint"] {
            assert_eq!(part(&run)[key], 0, "{key}");
            assert!(part(&old).get(key).is_none(), "{key} is absent");
        }
    }

    #[test]
    fn a_lock_is_for_one() {
        let room = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(room.path());
        disk::folder(&paths.own()).unwrap();
        let lock = Lock::take(&paths).unwrap();
        let refused = Lock::take(&paths).unwrap_err();
        assert!(matches!(refused, RunError::Running { pid, .. } if pid == std::process::id()), "{refused}");
        drop(lock);
        Lock::take(&paths).unwrap();
    }

    #[test]
    fn an_event_after_a_broken_line_stands_on_its_own() {
        let room = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(room.path());
        disk::folder(&paths.own()).unwrap();
        std::fs::write(paths.events(), "{\"event\":\"tu").unwrap();
        let events = Events::open(&paths, Arc::new(|_| {})).unwrap();
        let turn = Event::Turn { at: clock::now(), episode: "scenario_0".into(), turn: 1, of: 2 };
        events.tell(&turn);
        let text = std::fs::read_to_string(paths.events()).unwrap();
        let last: Event = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!((last, text.lines().count()), (turn, 2));
    }

    #[test]
    fn the_journal_follows_the_trajectory() {
        let known = |calls| SessionState { calls, ..SessionState::default() };
        let journal =
            Journal { before: known(4), after: Some(After { turn: 2, attempt: 3, known: known(5) }) };
        assert_eq!(journal.clone().known(Some((2, 3))).calls, 5);
        assert_eq!(journal.clone().known(Some((2, 2))).calls, 4);
        assert_eq!(journal.known(None).calls, 4);
    }
}
