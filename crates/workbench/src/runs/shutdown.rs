//! Shutdown: what the runs of this process have in flight when it is to end, and stopping them before it does.
//!
//! A run is played by the process that began it. Ended at once, it is lost as by a kill: its attempts are retried from
//! their snapshots, and what they have spent is spent twice.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use runner::live::{self, Phase, RunState};
use serde::Serialize;

use super::status::send_control_request;
use crate::Workbench;
use crate::api::RunAction;

/// How often it is looked whether the runs have ended.
const LOOK: Duration = Duration::from_millis(100);
/// How long a run is waited for that cannot be told to stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// What ends with this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct InFlight {
    /// Runs that it plays.
    pub runs: u32,
    /// Attempts of them that are running.
    pub attempts: u32,
}

impl Workbench {
    fn played_here(&self) -> Vec<PathBuf> {
        self.runs.all().into_iter().filter(|(_, run)| run.playing).map(|(folder, _)| folder).collect()
    }

    /// Whether this process plays a run.
    pub fn is_playing(&self) -> bool {
        self.runs.all().values().any(|run| run.playing)
    }

    /// What ends with this process; nothing where it plays no run.
    pub fn in_flight(&self) -> Option<InFlight> {
        let folders = self.played_here();
        let attempts = folders
            .iter()
            .filter_map(|folder| live::read(folder).ok())
            .map(|run| running_attempts(&run))
            .sum();
        (!folders.is_empty()).then_some(InFlight { runs: folders.len() as u32, attempts })
    }

    /// Stops the runs of this process and waits until all of them are over, those too that are about to begin. Blocks.
    ///
    /// One that cannot be told so (its folder is gone, the disk is full) is waited for half a minute: it ends as by a kill
    /// then, which it survives.
    pub fn stop_own_runs(&self) {
        let mut last_report = Instant::now();
        while last_report.elapsed() < PATIENCE {
            let folders = self.played_here();
            if folders.is_empty() {
                return;
            }
            for folder in folders {
                // One whose folder tells nothing yet is looked at again.
                let Ok(run) = live::read(&folder) else { continue };
                if !matches!(run.state, RunState::Running | RunState::Paused) {
                    last_report = Instant::now();
                    continue;
                }
                match send_control_request(&folder, &run, &RunAction::Stop) {
                    Ok(()) => last_report = Instant::now(),
                    Err(error) => tracing::debug!(message = error.message, "a run could not be told to stop"),
                }
            }
            self.changes.add([], []);
            std::thread::sleep(LOOK);
        }
    }
}

fn running_attempts(run: &live::LiveRun) -> u32 {
    let is_idle = |phase| matches!(phase, Phase::Queued | Phase::Paused | Phase::Over | Phase::Unknown);
    run.episodes.iter().filter(|episode| !is_idle(episode.phase)).count() as u32
}
