//! Episodes by scenario, prepared for quick resampling: counts at the turns with failures.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::random::Stream;
use crate::survival::{MAX_TURNS, Observation};

/// An episode and its scenario. Episodes of one scenario depend on each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InScenario {
    /// The scenario. The same name means the same scenario, also in different runs.
    pub scenario: String,
    /// The part of the scenario, if its episodes take different parts (single rounds of a task). Trials of one part are
    /// repeats; parts of one scenario depend on each other.
    #[serde(default)]
    pub part: Option<String>,
    /// The episode.
    pub observation: Observation,
}

impl InScenario {
    /// An episode of `scenario`.
    pub fn new(scenario: impl Into<String>, observation: Observation) -> Self {
        Self { scenario: scenario.into(), part: None, observation }
    }

    /// An episode of a part of `scenario`.
    pub fn in_part(scenario: impl Into<String>, part: impl Into<String>, observation: Observation) -> Self {
        Self { part: Some(part.into()), ..Self::new(scenario, observation) }
    }

    /// The scenario and the part of it.
    pub fn scenario_and_part(&self) -> (&str, Option<&str>) {
        (&self.scenario, self.part.as_deref())
    }
}

/// The episodes alone.
pub fn observations(episodes: &[InScenario]) -> Vec<Observation> {
    episodes.iter().map(|e| e.observation).collect()
}

/// Whether some scenario has several episodes that were at risk. These depend on each other.
pub fn has_repeats(episodes: &[InScenario]) -> bool {
    let mut scenarios = BTreeSet::new();
    episodes
        .iter()
        .filter(|episode| episode.observation.last_at_risk() > 0)
        .any(|episode| !scenarios.insert(episode.scenario.as_str()))
}

/// One or more groups of episodes over scenarios, and the resampling of scenarios.
///
/// The sample is with replacement from the scenarios of all groups, each with its episodes in every group. Groups thus keep
/// their shared scenarios, and the number of scenarios of a group varies. Separate samples of shared and other scenarios would
/// fix these numbers, but lose the differences between both parts: with few scenarios in a part, intervals are too narrow
/// (`tests/calibration.rs`).
pub(crate) struct Clusters {
    groups: Vec<Group>,
    scenarios: usize,
    /// Whether every group has every scenario.
    same_scenarios: bool,
}

/// A sample in which some group has no scenario is repeated at most so often. After that, it is undefined.
const DRAWS: u32 = 1_000;

struct Group {
    /// Turns with failures, up to the horizon.
    turns: Vec<u32>,
    episodes: Vec<ClusterEpisode>,
    tau: u32,
}

struct ClusterEpisode {
    scenario: u32,
    /// At how many of these turns it was at risk.
    upto: u32,
    failed: bool,
}

/// The buffers of a resample, which all resamples reuse.
pub(crate) struct Workspace {
    times: Vec<f64>,
    at_risk: Vec<f64>,
    events: Vec<f64>,
}

impl Clusters {
    /// Episodes that were never at risk are left out, and so are scenarios without other episodes.
    pub(crate) fn new(groups: &[&[InScenario]], tau: u32) -> Self {
        let tau = tau.min(MAX_TURNS);
        let mut played: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
        for (g, episodes) in groups.iter().enumerate() {
            for episode in episodes.iter().filter(|e| e.observation.last_at_risk() > 0) {
                played.entry(&episode.scenario).or_insert_with(|| vec![false; groups.len()])[g] = true;
            }
        }
        let numbers: BTreeMap<&str, u32> = played.keys().copied().zip(0..).collect();
        let same_scenarios = played.values().all(|flags| flags.iter().all(|played| *played));
        let groups = groups.iter().map(|episodes| Group::new(episodes, &numbers, tau)).collect();
        Self { groups, scenarios: numbers.len(), same_scenarios }
    }

    /// Whether all groups have the same scenarios.
    pub(crate) fn same_scenarios(&self) -> bool {
        self.same_scenarios
    }

    /// The number of scenarios with an episode at risk.
    pub(crate) fn scenarios(&self) -> u32 {
        self.scenarios as u32
    }

    pub(crate) fn workspace(&self) -> Workspace {
        let longest = self.groups.iter().map(|g| g.turns.len()).max().unwrap_or(0);
        Workspace {
            times: vec![1.0; self.scenarios],
            at_risk: vec![0.0; longest + 1],
            events: vec![0.0; longest],
        }
    }

    /// Draws resample `index`: the number of times of each scenario.
    pub(crate) fn draw(&self, seed: u64, index: u32, workspace: &mut Workspace) {
        let mut stream = Stream::new(seed, u64::from(index));
        let n = self.scenarios as u32;
        for _ in 0..DRAWS {
            workspace.times.fill(0.0);
            for _ in 0..n {
                workspace.times[stream.below(n) as usize] += 1.0;
            }
            if self.same_scenarios || self.groups.iter().all(|group| group.is_drawn(&workspace.times)) {
                break;
            }
        }
    }

    /// Mean stamina of each group over the drawn scenarios (each once in a new workspace).
    /// NaN for a group without episodes.
    pub(crate) fn means(&self, workspace: &mut Workspace, means: &mut [f64]) {
        for (mean, group) in means.iter_mut().zip(&self.groups) {
            *mean = group.mean(workspace);
        }
    }
}

impl Group {
    fn new(episodes: &[InScenario], numbers: &BTreeMap<&str, u32>, tau: u32) -> Self {
        let turns: Vec<u32> = episodes
            .iter()
            .filter_map(|e| e.observation.failed_turn())
            .filter(|turn| *turn <= tau)
            .collect::<BTreeSet<u32>>()
            .into_iter()
            .collect();
        let episodes = episodes
            .iter()
            .filter_map(|e| {
                let scenario = *numbers.get(e.scenario.as_str())?;
                let last = e.observation.last_at_risk();
                let upto = turns.partition_point(|t| *t <= last) as u32;
                let failed = e.observation.failed_turn().is_some_and(|t| t <= tau);
                (last > 0).then_some(ClusterEpisode { scenario, upto, failed })
            })
            .collect();
        Self { turns, episodes, tau }
    }

    /// Whether one of its scenarios was drawn, or it has none.
    fn is_drawn(&self, times: &[f64]) -> bool {
        self.episodes.is_empty() || self.episodes.iter().any(|e| times[e.scenario as usize] > 0.0)
    }

    /// Σ_{t=1..τ} S(t), as steps between the turns with failures.
    fn mean(&self, workspace: &mut Workspace) -> f64 {
        if self.episodes.is_empty() || self.tau == 0 {
            return f64::NAN;
        }
        let k = self.turns.len();
        let at_risk = &mut workspace.at_risk[..=k];
        let events = &mut workspace.events[..k];
        at_risk.fill(0.0);
        events.fill(0.0);
        let mut drawn = 0.0;
        for episode in &self.episodes {
            let times = workspace.times[episode.scenario as usize];
            drawn += times;
            at_risk[episode.upto as usize] += times;
            if episode.failed {
                events[episode.upto as usize - 1] += times;
            }
        }
        if drawn <= 0.0 {
            return f64::NAN;
        }
        // Now the counts are by the last turn at risk. Summed up from the end, they are the episodes at risk at each turn.
        for i in (0..k).rev() {
            at_risk[i] += at_risk[i + 1];
        }
        let (mut survival, mut area, mut last_turn) = (1.0, 0.0, 1);
        for (i, turn) in self.turns.iter().enumerate() {
            area += survival * f64::from(turn - last_turn);
            last_turn = *turn;
            let n = at_risk[i + 1];
            if n > 0.0 {
                survival *= (n - events[i]) / n;
            }
        }
        area + survival * f64::from(self.tau.saturating_add(1) - last_turn)
    }
}
