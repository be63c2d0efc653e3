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

mod events;
mod journal;
mod lock;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sandbox::Process;
use scenario::pack::{Generator, PACK_VERSION};
use serde::{Deserialize, Serialize};

pub(crate) use self::events::Events;
pub(crate) use self::journal::{Journal, Label, SessionState, StateAfterAttempt};
pub(crate) use self::lock::{Lock, is_left};
use crate::clock;
use crate::disk::{self, Durability};
use crate::settings::RunSettings;
use crate::{EndpointAttempts, Finish, RunError};

/// Its name.
pub(crate) const FOLDER: &str = ".stamina";
/// The version of its files.
const VERSION: &str = "stamina-run/1";
/// Most turns of an episode, and most episodes of a run; no setting takes more.
pub(crate) const MOST_TURNS: u32 = 1000;
const MOST_EPISODES: usize = 1000;
/// The same of attempts of a turn.
pub(crate) const MOST_ATTEMPTS: usize = 1000;

/// The paths of a run.
#[derive(Debug, Clone)]
pub(crate) struct RunPaths {
    /// The results folder.
    pub(crate) results: PathBuf,
}

impl RunPaths {
    /// The folder itself may be reached through links; nothing below it is ([`files::confined_path`]).
    pub(crate) fn new(results: &Path) -> Self {
        Self { results: files::confined_path::resolved(results) }
    }

    pub(crate) fn stamina_folder(&self) -> PathBuf {
        self.results.join(FOLDER)
    }

    pub(crate) fn run_file(&self) -> PathBuf {
        self.stamina_folder().join("run.json")
    }

    pub(crate) fn events(&self) -> PathBuf {
        self.stamina_folder().join("events.jsonl")
    }

    pub(crate) fn gateway_log(&self) -> PathBuf {
        self.stamina_folder().join("gateway.jsonl")
    }

    /// The file that describes the harness, kept so that a resume has the one that the run began with.
    pub(crate) fn harness_file(&self) -> PathBuf {
        self.stamina_folder().join("harness.toml")
    }

    /// Where the gateway has its socket while the run is played.
    pub(crate) fn gateway_folder(&self) -> PathBuf {
        self.stamina_folder().join("gateway")
    }

    pub(crate) fn episode_file(&self, episode: &str) -> PathBuf {
        self.stamina_folder().join("episodes").join(format!("{episode}.json"))
    }

    /// The results of an episode.
    pub(crate) fn episode(&self, episode: &str) -> PathBuf {
        self.results.join(episode)
    }

    /// The volumes and the journal of an episode.
    pub(crate) fn state(&self, episode: &str) -> PathBuf {
        self.stamina_folder().join("state").join(episode)
    }
}

/// A harness as a run names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunHarness {
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
    pub(crate) fn current() -> Self {
        Self { generator: Generator::current(), format: PACK_VERSION.to_owned() }
    }
}

impl std::fmt::Display for MadeBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({})", self.generator.name, self.generator.version, self.format)
    }
}

/// An episode that is to be played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlannedEpisode {
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
    pub(crate) harness: RunHarness,
    /// `None` = not told apart.
    #[serde(default)]
    pub(crate) pack_sha256: Option<String>,
    /// `None` = they lie in a pack, or an older version did not say it, whose texts were others.
    #[serde(default)]
    pub(crate) made_by: Option<MadeBy>,
    /// Who plays it, or played it last.
    pub(crate) owner: Process,
    pub(crate) started_at: String,
    /// When this part of it began.
    pub(crate) part_started_at: String,
    /// Wall seconds of earlier parts.
    pub(crate) seconds: f64,
    pub(crate) episodes: Vec<PlannedEpisode>,
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
        harness: RunHarness,
        episodes: Vec<PlannedEpisode>,
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
            owner: Process::current(),
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
        let not_resumable = |reason: String| RunError::NotResumable { path: paths.results.clone(), reason };
        let read = disk::read_json::<Self>(&path, disk::LARGEST_RECORD)
            .map_err(|error| not_resumable(format!("{FOLDER}/run.json: {}", error.reason())))?;
        let run = read.ok_or_else(|| not_resumable(format!("there is no {FOLDER}/run.json")))?;
        if run.version != VERSION {
            return Err(not_resumable(format!(
                "it is of the version {}, this program knows {VERSION}",
                run.version
            )));
        }
        run.check_names().map_err(not_resumable)?;
        Ok(run)
    }

    /// Names in the record become paths: each is the one that this program gives, and no two episodes share one.
    pub(crate) fn check_names(&self) -> Result<(), String> {
        let is_id = self.id.len() == 8 && self.id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id {
            return Err("its id is not eight hexadecimal digits".to_owned());
        }
        if self.episodes.len() > MOST_EPISODES {
            let named = self.episodes.len();
            return Err(format!("it names {named} episodes; a run has at most {MOST_EPISODES}"));
        }
        if let Some(planned) = self.episodes.iter().find(|planned| planned.turns > MOST_TURNS) {
            return Err(format!(
                "it plans {} turns of an episode; at most {MOST_TURNS} are played",
                planned.turns
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
    hash.update(format!("{:?} {:?}", Process::current(), std::time::Instant::now()).as_bytes());
    let digest = hash.finalize();
    let number = digest.iter().take(4).fold(0u32, |number, byte| number << 8 | u32::from(*byte));
    format!("{number:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that an older version began did not count what the endpoint cost it.
    #[test]
    fn what_was_not_counted_stays_unknown() {
        let room = tempfile::tempdir().unwrap();
        let list = [format!("output_dir={}", room.path().display()), "agent=MOCK".to_owned()];
        let settings = crate::settings::resolve(&[], &list).unwrap();
        let word = |word: &str| word.to_owned();
        let harness =
            RunHarness { name: word("mock"), title: word("mock"), version: word("1"), image: word("i") };
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
}
