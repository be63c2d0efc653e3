//! Failed attempts by class.

mod digest;
mod logs;

use std::collections::BTreeMap;
use std::sync::Arc;

use analysis::failures::history::{Flip, Repair as Stretch, repair_times};
use analysis::failures::rules::{rule_text, rules};
use analysis::failures::{FailureClass, NO_RULE, NOT_DESCRIBED};
use analysis::proportion::wilson;
use store::RunFilter;

use crate::Workbench;
use crate::api::{
    ApiError, FailureCase, FailureCasePage, FailureCasesRequest, FailureClassInfo, FailureGroup,
    FailureGrouping, FailureOrigin, FailureRule, FailureScope, FailureShare, Failures, FailuresRequest,
    FlippingTest, Member, Repair,
};
use crate::compare::members::{self, Pool};
pub(crate) use digest::Digests;
use digest::{Case, EpisodeFailures, RunFailures};

/// Most rows of one page, if the request does not say.
const PAGE: u32 = 200;
/// Flipping tests that are listed.
const FLIPS: usize = 100;
/// Stands for an unknown harness among the keys of groups.
const UNKNOWN: &str = "?";

/// In the order of [`Case::origins`].
const ORIGINS: [FailureOrigin; 4] =
    [FailureOrigin::New, FailureOrigin::Regression, FailureOrigin::StillFailing, FailureOrigin::Unknown];

/// The failures of some members.
struct Found {
    pools: Vec<Pool>,
    /// For each member, its runs.
    runs: Vec<Vec<Arc<RunFailures>>>,
}

/// A failed attempt with where it stands.
struct Place<'a> {
    pool: &'a Pool,
    run: usize,
    episode: &'a EpisodeFailures,
    case: &'a Case,
}

impl Found {
    fn episodes(&self) -> impl Iterator<Item = (&Pool, usize, &EpisodeFailures)> {
        self.pools.iter().zip(&self.runs).flat_map(|(pool, runs)| {
            runs.iter().enumerate().flat_map(move |(run, failures)| {
                failures.episodes.iter().map(move |episode| (pool, run, episode))
            })
        })
    }

    /// The failed attempts in scope, by member, run, scenario, turn and attempt.
    fn cases(&self, scope: FailureScope) -> impl Iterator<Item = Place<'_>> {
        self.episodes().flat_map(move |(pool, run, episode)| {
            let of_scope = move |case: &&Case| match scope {
                FailureScope::Attempts => true,
                FailureScope::Turns => case.ends_turn,
                FailureScope::First => case.ends_stamina,
            };
            episode.cases.iter().filter(of_scope).map(move |case| Place { pool, run, episode, case })
        })
    }
}

impl Place<'_> {
    /// The key and the words of its group.
    fn group(&self, by: FailureGrouping) -> (String, String) {
        match by {
            FailureGrouping::Member => (self.pool.id.clone(), self.pool.name.clone()),
            FailureGrouping::Harness => match &self.pool.runs[self.run].record.entry.harness {
                Some(harness) => (harness.clone(), harness.clone()),
                None => (UNKNOWN.to_owned(), "unknown harness".to_owned()),
            },
            FailureGrouping::Turn => (self.case.turn.to_string(), format!("turn {}", self.case.turn)),
            FailureGrouping::Attempt => {
                (self.case.attempt.to_string(), format!("attempt {}", self.case.attempt))
            }
        }
    }

    /// Where its group stands among the others.
    fn order(&self, by: FailureGrouping, key: &str) -> (u32, String) {
        match by {
            FailureGrouping::Member => (0, String::new()),
            FailureGrouping::Harness => (u32::from(key == UNKNOWN), key.to_owned()),
            FailureGrouping::Turn => (self.case.turn, String::new()),
            FailureGrouping::Attempt => (self.case.attempt, String::new()),
        }
    }
}

/// Failed attempts that are counted together.
#[derive(Default)]
struct Tally {
    simulated: bool,
    attempts: u32,
    primary: BTreeMap<FailureClass, u32>,
    tests: BTreeMap<FailureClass, u32>,
}

impl Tally {
    fn add(&mut self, place: &Place<'_>) {
        let case = place.case;
        self.simulated |= place.pool.runs[place.run].record.entry.simulated;
        self.attempts += 1;
        *self.primary.entry(case.class).or_default() += 1;
        for (class, tests) in &case.tests {
            *self.tests.entry(*class).or_default() += tests;
        }
    }

    fn group(&self, key: String, label: String) -> FailureGroup {
        let of = |counts: &BTreeMap<FailureClass, u32>, class| counts.get(&class).copied().unwrap_or(0);
        let occurs = |class: &&FailureClass| of(&self.primary, **class) > 0 || of(&self.tests, **class) > 0;
        let shares = FailureClass::ALL
            .iter()
            .filter(occurs)
            .filter_map(|class| {
                let attempts = of(&self.primary, *class);
                let share = wilson(attempts, self.attempts)?;
                Some(FailureShare {
                    class: class.as_str().to_owned(),
                    attempts,
                    share: share.share,
                    ci_low: share.ci_low,
                    ci_high: share.ci_high,
                    tests: of(&self.tests, *class),
                })
            })
            .collect();
        FailureGroup { key, label, simulated: self.simulated, attempts: self.attempts, shares }
    }
}

impl Workbench {
    /// Failed attempts by class.
    pub fn get_failures(&self, request: FailuresRequest) -> Result<Failures, ApiError> {
        let found = self.failures_of(&request.members)?;
        let mut total = Tally::default();
        let mut groups: BTreeMap<(u32, String), (String, String, Tally)> = BTreeMap::new();
        // Members stand in their order, also those without a failed attempt.
        if request.group == FailureGrouping::Member {
            for (i, pool) in (0..).zip(&found.pools) {
                let tally = Tally { simulated: pool.simulated(), ..Tally::default() };
                let empty = (pool.id.clone(), pool.name.clone(), tally);
                groups.insert((i, String::new()), empty);
            }
        }
        let places: BTreeMap<&str, u32> = found.pools.iter().map(|p| p.id.as_str()).zip(0..).collect();
        let (mut tests, mut not_described, mut origins) = (0, 0, [0_u32; 4]);
        for place in found.cases(request.scope) {
            let case = place.case;
            total.add(&place);
            tests += case.tests.values().sum::<u32>();
            not_described += case.not_described;
            for (sum, own) in origins.iter_mut().zip(case.origins) {
                *sum += own;
            }
            let (key, label) = place.group(request.group);
            let order = match request.group {
                FailureGrouping::Member => (places.get(key.as_str()).copied().unwrap_or(0), String::new()),
                by => place.order(by, &key),
            };
            groups.entry(order).or_insert_with(|| (key, label, Tally::default())).2.add(&place);
        }
        let total = total.group(String::new(), "all".to_owned());
        let classes = FailureClass::ALL
            .iter()
            .filter(|class| total.shares.iter().any(|share| share.class == class.as_str()))
            .map(|class| FailureClassInfo {
                class: class.as_str().to_owned(),
                label: class.label().to_owned(),
                side: class.side().as_str().to_owned(),
                description: class.about().to_owned(),
            })
            .collect();
        Ok(Failures {
            classes,
            attempts: total.attempts,
            all_attempts: found.episodes().map(|(_, _, episode)| episode.made.len() as u32).sum(),
            episodes: found.episodes().count() as u32,
            tests,
            not_described,
            total,
            groups: groups.into_values().map(|(key, label, tally)| tally.group(key, label)).collect(),
            origins: ORIGINS.into_iter().zip(origins).filter(|(_, n)| *n > 0).collect(),
            cautions: cautions(&found),
            repair: repair(&found),
            flips: flips(&found),
            rules: rules()
                .map(|rule| FailureRule {
                    id: rule.id.to_owned(),
                    class: rule.class.as_str().to_owned(),
                    description: rule.about.to_owned(),
                })
                .collect(),
        })
    }

    /// The failed attempts behind a share.
    pub fn list_failure_cases(&self, request: FailureCasesRequest) -> Result<FailureCasePage, ApiError> {
        let found = self.failures_of(&request.of.members)?;
        let class = match &request.class {
            None => None,
            Some(word) => Some(FailureClass::parse(word).ok_or_else(|| {
                ApiError::new("failures.no_class", format!("There is no class \"{word}\"")).hint(format!(
                    "The classes are {}",
                    FailureClass::ALL.iter().map(|class| class.as_str()).collect::<Vec<_>>().join(", ")
                ))
            })?),
        };
        let origin = request.origin.and_then(|wanted| ORIGINS.iter().position(|origin| *origin == wanted));
        let wanted: Vec<Place<'_>> = found
            .cases(request.of.scope)
            .filter(|place| {
                let case = place.case;
                let is_of = |class: &FailureClass| {
                    if request.by_tests {
                        case.tests.get(class).is_some_and(|tests| *tests > 0)
                    } else {
                        case.class == *class
                    }
                };
                class.as_ref().is_none_or(is_of)
                    && origin.is_none_or(|origin| case.origins[origin] > 0)
                    && (request.group.is_empty() || place.group(request.of.group).0 == request.group)
            })
            .collect();
        let limit = if request.limit == 0 { PAGE } else { request.limit };
        let rows = wanted.iter().skip(request.offset as usize).take(limit as usize).map(row).collect();
        Ok(FailureCasePage { rows, total: wanted.len() as u32 })
    }

    /// The members whose failures are asked for: every real run if none is named, or every run if there is no real one.
    pub(crate) fn members_with_failures(&self, members: &[Member]) -> Result<Vec<Member>, ApiError> {
        if !members.is_empty() {
            return Ok(members.to_vec());
        }
        let list = |real_only| {
            self.store.list_runs(&RunFilter { real_only, ..RunFilter::default() }).map(|list| list.rows)
        };
        let mut runs = list(true)?;
        if runs.is_empty() {
            runs = list(false)?;
        }
        Ok(runs.into_iter().map(|(_, run)| Member::Run { run: run.slug }).collect())
    }

    /// Their failures.
    fn failures_of(&self, members: &[Member]) -> Result<Found, ApiError> {
        let pools = members::resolve(&self.store, &self.members_with_failures(members)?)?;
        let records = || pools.iter().flat_map(|p| &p.runs).map(|run| &run.record);
        let ids: Vec<_> = records().map(|record| (record.entry.id, record.entry.source)).collect();
        let open = |source| {
            let record = records().find(|record| record.entry.source == source)?;
            self.live.tree(source, &record.source_path).ok()
        };
        let mut all = self.memory.failures.of(&self.store, &ids, open)?.into_iter();
        let runs = pools.iter().map(|pool| all.by_ref().take(pool.runs.len()).collect()).collect();
        Ok(Found { pools, runs })
    }
}

/// What a reader must know of the numbers.
fn cautions(found: &Found) -> Vec<String> {
    let mut unread: BTreeMap<&str, u32> = BTreeMap::new();
    for (pool, run, episode) in found.episodes().filter(|(_, _, episode)| episode.logs_unread > 0) {
        *unread.entry(&pool.runs[run].record.entry.slug).or_default() += episode.logs_unread;
    }
    let sentence = |(run, n): (&str, u32)| {
        let attempts = if n == 1 { "1 failed attempt".to_owned() } else { format!("{n} failed attempts") };
        format!("{run}: logs of {attempts} can not be read; the rules over logs did not see them.")
    };
    unread.into_iter().map(sentence).collect()
}

fn row(place: &Place<'_>) -> FailureCase {
    let case = place.case;
    let mut tests: Vec<(String, u32)> =
        case.tests.iter().map(|(class, n)| (class.as_str().to_owned(), *n)).collect();
    tests.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let rule = match case.rule {
        NO_RULE => "no rule applies".to_owned(),
        NOT_DESCRIBED => "nothing that failed is described".to_owned(),
        id => rule_text(id).map_or_else(|| id.to_owned(), |rule| format!("{id}: {}", rule.about)),
    };
    let [new, regression, still_failing, unknown] = case.origins;
    FailureCase {
        run: place.pool.runs[place.run].record.entry.slug.clone(),
        name: place.pool.name.clone(),
        simulated: place.pool.runs[place.run].record.entry.simulated,
        episode: place.episode.episode.clone(),
        scenario: place.episode.scenario.clone(),
        turn: case.turn,
        attempt: case.attempt,
        class: case.class.as_str().to_owned(),
        rule: Some(rule),
        tests,
        origins: (new, regression, still_failing, unknown),
        test: case.test.clone(),
        passed_in_turn: case.passed_in_turn,
        message: case.message.clone(),
        passed: case.passed,
        total: case.total,
    }
}

fn repair(found: &Found) -> Repair {
    let of_turns: Vec<&Stretch> = found
        .episodes()
        .flat_map(|(_, _, episode)| &episode.turn_repairs)
        .filter(|repair| repair.attempt == 1)
        .collect();
    let of_tests = || found.episodes().flat_map(|(_, _, episode)| &episode.test_repairs);
    let turns = repair_times(of_turns.iter().copied());
    let tests = repair_times(of_tests());
    let mut at_attempt: BTreeMap<u32, u32> = BTreeMap::new();
    for repair in of_turns.iter().filter(|repair| repair.repaired) {
        *at_attempt.entry(repair.attempt + repair.attempts).or_default() += 1;
    }
    Repair {
        failed_first: turns.failed,
        repaired: turns.repaired,
        median_attempts: turns.median_attempts,
        at_attempt: at_attempt.into_iter().collect(),
        tests_repaired_later: tests.repaired - tests.in_same_turn,
        tests_followed: tests.failed,
        median_turns: tests.median_turns,
    }
}

/// The tests that flip most, over all episodes.
fn flips(found: &Found) -> Vec<FlippingTest> {
    let mut all: Vec<(&Pool, usize, &EpisodeFailures, &Flip)> = found
        .episodes()
        .flat_map(|(pool, run, episode)| episode.flips.iter().map(move |flip| (pool, run, episode, flip)))
        .collect();
    all.sort_by_key(|(_, _, _, flip)| std::cmp::Reverse(flip.changes));
    all.truncate(FLIPS);
    all.into_iter()
        .map(|(pool, run, episode, flip)| FlippingTest {
            run: pool.runs[run].record.entry.slug.clone(),
            simulated: pool.runs[run].record.entry.simulated,
            episode: episode.episode.clone(),
            scenario: episode.scenario.clone(),
            test: flip.id.clone(),
            flips: flip.changes,
            outcomes: outcomes(flip, episode.turns),
        })
        .collect()
}

/// What is known of the test at the end of each turn in which its outcome is known.
fn outcomes(flip: &Flip, turns: u32) -> String {
    let mut changes = flip.outcomes.iter().peekable();
    let mut known = flip.turns.iter().peekable();
    let mut letter = '.';
    (1..=turns.min(store::limits::GRID_TURNS))
        .map(|turn| {
            while let Some(outcome) = changes.next_if(|outcome| outcome.turn <= turn) {
                letter = if outcome.passed { 'p' } else { 'f' };
            }
            if known.next_if_eq(&&turn).is_some() { letter } else { '.' }
        })
        .collect()
}
