//! Turns on which members disagree.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use analysis::retries::AttemptEnd;
use model::{CensoringPolicy, Ending, TurnState};
use store::{EpisodeEntry, EpisodeTurns};

use super::members::{self, Pool, Scenario as Key};
use crate::Workbench;
use crate::api::{
    ApiError, DisagreementCell, DisagreementMode, DisagreementPage, DisagreementRequest, DisagreementRow,
    DisagreementSort,
};

/// Most rows of one page, if the request does not say.
const PAGE: u32 = 200;

/// Every turn of some members, side by side.
#[derive(Debug)]
pub(crate) struct Table {
    /// For each member, its episodes: (id of the run, id of the episode).
    episodes: Vec<Vec<(String, String)>>,
    scenarios: Vec<Scenario>,
    turns: Vec<TurnLine>,
}

#[derive(Debug)]
struct Scenario {
    name: String,
    title: Option<String>,
    /// Name and title in lower case.
    folded: String,
}

/// One turn of one scenario.
#[derive(Debug)]
struct TurnLine {
    /// Index in `scenarios`.
    scenario: usize,
    turn: u32,
    /// One a member.
    cells: Vec<Option<Cell>>,
    spread: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    /// Index in `episodes` of the member.
    episode: usize,
    state: TurnState,
    /// Whether the agent failed it: by its tests, or without a verdict for a reason that counts as a failure. A turn that is not
    /// decided, because something outside ended the episode there, did not fail.
    failed: bool,
    passed: Option<u32>,
    total: Option<u32>,
    after_failure: bool,
    played: u32,
    passed_by: u32,
}

impl Cell {
    /// The share of its tests that passed.
    fn share(&self) -> Option<f64> {
        let (passed, total) = self.passed.zip(self.total)?;
        (total > 0).then(|| f64::from(passed.min(total)) / f64::from(total))
    }

    /// From worst to best.
    fn order(&self, other: &Self) -> Ordering {
        // An end without a verdict that counts as a failure is one; any other says nothing of the agent.
        const fn rank(cell: &Cell) -> u8 {
            match cell.state {
                TurnState::Failed if cell.failed => 0,
                TurnState::Error | TurnState::Censored | TurnState::NotTested if cell.failed => 1,
                TurnState::Failed | TurnState::Error => 2,
                TurnState::Censored => 3,
                TurnState::NotReached | TurnState::NotTested => 4,
                TurnState::PassedAfterRetries => 5,
                TurnState::Passed => 6,
            }
        }
        rank(self).cmp(&rank(other)).then_with(|| {
            // What is not counted comes after what is.
            self.share().unwrap_or(2.0).total_cmp(&other.share().unwrap_or(2.0))
        })
    }
}

impl TurnLine {
    fn states(&self) -> impl Iterator<Item = TurnState> {
        self.cells.iter().flatten().map(|cell| cell.state)
    }

    fn is_of(&self, mode: DisagreementMode) -> bool {
        let any = |wanted: fn(TurnState) -> bool| self.states().any(wanted);
        match mode {
            DisagreementMode::All => any(|state| state != TurnState::NotReached),
            DisagreementMode::Different => {
                any(TurnState::is_passed) && self.cells.iter().flatten().any(|cell| cell.failed)
            }
            DisagreementMode::Failures => {
                self.cells.iter().flatten().any(|cell| cell.failed && cell.state == TurnState::Failed)
            }
            DisagreementMode::Errors => any(|state| state == TurnState::Error),
        }
    }

    /// Whether the reference fails it and another member passes it.
    fn reference_fails(&self, reference: usize) -> bool {
        let reference_cell = self.cells.get(reference).copied().flatten();
        reference_cell.is_some_and(|cell| cell.failed) && self.states().any(TurnState::is_passed)
    }
}

impl Table {
    fn new(pools: &[Pool], plays: &[Vec<Vec<EpisodeTurns>>], policy: &CensoringPolicy) -> Self {
        let mut scenarios: BTreeMap<Key<'_>, Scenario> = BTreeMap::new();
        let mut turns: BTreeMap<Key<'_>, u32> = BTreeMap::new();
        let mut member_grids: Vec<BTreeMap<Key<'_>, Vec<(usize, Grid)>>> = Vec::new();
        let mut episodes = Vec::new();
        for (pool, plays) in pools.iter().zip(plays) {
            let mut ids = Vec::new();
            let mut played: BTreeMap<Key<'_>, Vec<(usize, Grid)>> = BTreeMap::new();
            for (run, plays) in pool.runs.iter().zip(plays) {
                for (episode, play) in run.episodes.iter().zip(plays) {
                    let key = run.scenario(episode);
                    let longest = turns.entry(key.clone()).or_default();
                    *longest = (*longest).max(episode.cells.len() as u32);
                    scenarios.entry(key.clone()).or_insert_with(|| Scenario::from_episode(episode));
                    played
                        .entry(key)
                        .or_default()
                        .push((ids.len(), Grid::from_episode(episode, play, policy)));
                    ids.push((run.record.entry.slug.clone(), episode.slug.clone()));
                }
            }
            member_grids.push(played);
            episodes.push(ids);
        }
        let mut lines = Vec::new();
        for (scenario, (key, turns)) in turns.iter().enumerate() {
            let grids: Vec<Option<&Vec<(usize, Grid)>>> = member_grids.iter().map(|m| m.get(key)).collect();
            for turn in 1..=*turns {
                let cells: Vec<Option<Cell>> =
                    grids.iter().map(|grids| grids.and_then(|grids| worst(grids, turn))).collect();
                if cells.iter().flatten().any(|cell| cell.state != TurnState::NotReached) {
                    let spread = spread(&cells);
                    lines.push(TurnLine { scenario, turn, cells, spread });
                }
            }
        }
        Self { episodes, scenarios: scenarios.into_values().collect(), turns: lines }
    }

    fn page(&self, request: &DisagreementRequest) -> DisagreementPage {
        let words: Vec<String> = request.text.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let named: BTreeSet<usize> = (0..self.scenarios.len())
            .filter(|i| words.iter().all(|word| self.scenarios[*i].folded.contains(word)))
            .collect();
        let lines: Vec<&TurnLine> = self.turns.iter().filter(|l| named.contains(&l.scenario)).collect();
        let count = |mode| lines.iter().filter(|line| line.is_of(mode)).count() as u32;
        let counts = (
            count(DisagreementMode::All),
            count(DisagreementMode::Different),
            count(DisagreementMode::Failures),
            count(DisagreementMode::Errors),
        );
        let mut wanted: Vec<&TurnLine> = lines.into_iter().filter(|line| line.is_of(request.mode)).collect();
        // Stable sorts: what is equal stays in the order of scenario and turn.
        let by_spread =
            |a: &&TurnLine, b: &&TurnLine| b.spread.unwrap_or(-1.0).total_cmp(&a.spread.unwrap_or(-1.0));
        match request.sort {
            DisagreementSort::Scenario => {}
            DisagreementSort::Spread => wanted.sort_by(by_spread),
            DisagreementSort::ReferenceFails => {
                let first = |line: &&TurnLine| !line.reference_fails(request.reference as usize);
                wanted.sort_by(|a, b| first(a).cmp(&first(b)).then_with(|| by_spread(a, b)));
            }
        }
        let total = wanted.len() as u32;
        let limit = if request.limit == 0 { PAGE } else { request.limit };
        let rows = wanted
            .into_iter()
            .skip(request.offset as usize)
            .take(limit as usize)
            .map(|line| self.row(line))
            .collect();
        DisagreementPage { rows, total, counts }
    }

    fn row(&self, line: &TurnLine) -> DisagreementRow {
        let scenario = &self.scenarios[line.scenario];
        let cell = |(member, cell): (usize, &Option<Cell>)| {
            cell.map(|cell| {
                let (run, episode) = self.episodes[member][cell.episode].clone();
                DisagreementCell {
                    run,
                    episode,
                    state: cell.state,
                    failed: cell.failed,
                    passed: cell.passed,
                    total: cell.total,
                    after_failure: cell.after_failure,
                    episodes: (cell.played, cell.passed_by),
                }
            })
        };
        DisagreementRow {
            scenario: scenario.name.clone(),
            title: scenario.title.clone(),
            turn: line.turn,
            cells: line.cells.iter().enumerate().map(cell).collect(),
            spread: line.spread,
        }
    }
}

impl Scenario {
    fn from_episode(episode: &EpisodeEntry) -> Self {
        let folded = format!("{}\n{}", episode.scenario, episode.title.as_deref().unwrap_or_default());
        Self { name: episode.scenario.clone(), title: episode.title.clone(), folded: folded.to_lowercase() }
    }
}

/// The turns of one episode, from turn 1, and its stamina.
struct Grid {
    turns: Vec<TurnOutcome>,
    stamina: u32,
    /// Whether a failure ended its stamina, and nothing from outside.
    failed: bool,
}

/// One turn of an episode.
#[derive(Clone, Copy)]
struct TurnOutcome {
    state: TurnState,
    failed: bool,
    passed: Option<u32>,
    total: Option<u32>,
}

impl TurnOutcome {
    const fn not_reached() -> Self {
        Self { state: TurnState::NotReached, failed: false, passed: None, total: None }
    }
}

impl Grid {
    fn from_episode(episode: &EpisodeEntry, play: &EpisodeTurns, policy: &CensoringPolicy) -> Self {
        let mut turns: Vec<TurnOutcome> = episode
            .cells
            .chars()
            .map(|letter| {
                let state = TurnState::from_letter(letter).unwrap_or(TurnState::NotReached);
                TurnOutcome { state, failed: state == TurnState::Failed, ..TurnOutcome::not_reached() }
            })
            .collect();
        for turn in &play.turns {
            if let Some(outcome) = (turn.number as usize).checked_sub(1).and_then(|i| turns.get_mut(i)) {
                (outcome.passed, outcome.total) = (turn.passed, turn.total);
                outcome.failed |= matches!(outcome.state, TurnState::Error | TurnState::Censored)
                    && turn.attempts.last().is_some_and(|(verdict, reason)| {
                        AttemptEnd::from_verdict(*verdict, *reason, policy) == AttemptEnd::Event
                    });
            }
        }
        let failed = policy.ending(episode.end_reason) == Ending::Event;
        // The end of the episode decides its first turn that was not passed: its attempts may not say why they ended, or more
        // of them were allowed.
        if let Some(due) = turns.get_mut(episode.stamina as usize)
            && !due.state.is_passed()
            && due.state != TurnState::NotReached
        {
            due.failed = failed;
        }
        Self { turns, stamina: episode.stamina, failed }
    }

    fn cell(&self, episode: usize, turn: u32) -> Cell {
        let outcome = self.turns.get(turn as usize - 1).copied().unwrap_or(TurnOutcome::not_reached());
        Cell {
            episode,
            state: outcome.state,
            failed: outcome.failed,
            passed: outcome.passed,
            total: outcome.total,
            after_failure: self.failed && turn > self.stamina.saturating_add(1),
            played: 1,
            passed_by: u32::from(outcome.state.is_passed()),
        }
    }
}

/// The turn in the episode that did worst, with how many played and passed it.
fn worst(grids: &[(usize, Grid)], turn: u32) -> Option<Cell> {
    let cells: Vec<Cell> = grids.iter().map(|(episode, grid)| grid.cell(*episode, turn)).collect();
    let passed_by = cells.iter().map(|cell| cell.passed_by).sum();
    let worst = cells.iter().copied().min_by(Cell::order)?;
    Some(Cell { played: cells.len() as u32, passed_by, ..worst })
}

/// Difference between the highest and lowest share of tests passed; `None` = not counted for two members.
fn spread(cells: &[Option<Cell>]) -> Option<f64> {
    let shares: Vec<f64> = cells.iter().flatten().filter_map(Cell::share).collect();
    let least = shares.iter().copied().min_by(f64::total_cmp)?;
    let greatest = shares.iter().copied().max_by(f64::total_cmp)?;
    (shares.len() > 1).then_some(greatest - least)
}

impl Workbench {
    /// Turns on which members disagree.
    pub fn list_disagreements(&self, request: DisagreementRequest) -> Result<DisagreementPage, ApiError> {
        Ok(self.turns_of(&request)?.page(&request))
    }

    fn turns_of(&self, request: &DisagreementRequest) -> Result<Arc<Table>, ApiError> {
        let change = self.store.last_change()?;
        self.cache.turns.get(change, &request.members, || {
            let pools = members::resolve(&self.store, &request.members)?;
            let plays = pools
                .iter()
                .map(|pool| pool.runs.iter().map(|run| run.episode_turns(&self.store)).collect())
                .collect::<Result<Vec<Vec<_>>, _>>()?;
            Ok(Table::new(&pools, &plays, &self.store.get_policy()?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn that ended without a verdict for the agent's own reason, in one of two episodes.
    #[test]
    fn an_episode_that_failed_stands_before_one_that_was_stopped() {
        let play = |failed, passed| {
            let turns = vec![TurnOutcome { state: TurnState::Error, failed, passed, total: Some(10) }];
            Grid { turns, stamina: 0, failed }
        };
        // What was stopped from outside has the smaller share of passed tests.
        let cell = worst(&[(0, play(false, Some(1))), (1, play(true, Some(9)))], 1).unwrap();
        assert!(cell.failed && cell.episode == 1, "{cell:?}");
        let line = TurnLine { scenario: 0, turn: 1, cells: vec![Some(cell)], spread: None };
        assert!(line.is_of(DisagreementMode::Errors) && !line.is_of(DisagreementMode::Different));
    }

    #[test]
    fn turns_after_an_end_from_outside_come_after_no_failure() {
        let played = |state| TurnOutcome { state, ..TurnOutcome::not_reached() };
        let after = |failed| {
            let turns = vec![played(TurnState::Error), played(TurnState::Passed)];
            let grid = Grid { turns, stamina: 0, failed };
            [grid.cell(0, 1).after_failure, grid.cell(0, 2).after_failure]
        };
        assert_eq!((after(true), after(false)), ([false, true], [false, false]));
    }
}
