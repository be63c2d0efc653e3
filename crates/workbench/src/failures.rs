//! Failed attempts by class.

mod cases;
mod digest;
mod found_failures;
mod logs;
mod repair_words;
mod repairs;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use analysis::failures::FailureClass;
use analysis::failures::history::{Standing, history};
use analysis::failures::rules::rules;
use analysis::pass_rate::{TaskTrials, interval};
use model::{Episode, RateInterval, counted};

use self::cases::flips;
use self::digest::Case;
pub(crate) use self::digest::Digests;
use self::found_failures::{FoundFailures, Grouping};
pub use self::repair_words::{stretch_ends, turn_repairs};
use crate::Workbench;
use crate::api::{
    ApiError, FailureClassInfo, FailureGroup, FailureGrouping, FailureOrigin, FailureRule, FailureScope,
    FailureShare, Failures, FailuresRequest, TestHistory,
};
use crate::compare::coverage::by_job;
use crate::compare::doubts;
use crate::compare::members::{self, Pool};
use crate::compare::settings;

/// In the order of [`Case::origins`].
const ORIGINS: [FailureOrigin; 4] =
    [FailureOrigin::New, FailureOrigin::Regressed, FailureOrigin::StillFailing, FailureOrigin::Unknown];

/// How a failing test stood before, in the words of the API.
pub(crate) const fn history_of(standing: Standing) -> TestHistory {
    let (history, passed_in_turn, since_turn) = match standing {
        Standing::New => (FailureOrigin::New, None, None),
        Standing::Regression { passed_in_turn } => (FailureOrigin::Regressed, Some(passed_in_turn), None),
        Standing::StillFailing { since_turn, passed_in_turn } => {
            (FailureOrigin::StillFailing, passed_in_turn, Some(since_turn))
        }
        Standing::Unknown => (FailureOrigin::Unknown, None, None),
    };
    TestHistory { history, passed_in_turn, since_turn }
}

/// How the failing tests of an episode stood before, by turn, attempt and place among [`model::Attempt::tests`]. One that
/// is not in it is unknown.
pub fn histories(episode: &Episode) -> HashMap<(u32, u32, usize), TestHistory> {
    let standings = history(episode).attempts.into_iter().flat_map(|attempt| {
        let place = (attempt.turn, attempt.attempt);
        attempt.tests.into_iter().map(move |test| ((place.0, place.1, test.test), history_of(test.standing)))
    });
    standings.collect()
}

/// Failed attempts that are counted together.
#[derive(Default)]
struct Tally {
    simulated: bool,
    attempts: ByScenario,
    failed: ByScenario,
    primary: BTreeMap<FailureClass, ByScenario>,
    tests: BTreeMap<FailureClass, u32>,
}

/// Attempts by the number of their scenario: those of one scenario depend on each other.
#[derive(Default)]
struct ByScenario(BTreeMap<u32, u32>);

impl ByScenario {
    fn add(&mut self, scenario: u32) {
        *self.0.entry(scenario).or_default() += 1;
    }

    fn all(&self) -> u32 {
        self.0.values().sum()
    }

    /// The interval of their share of `whole`, and how it is made; `None` = unknown, all are of one scenario.
    fn interval(&self, whole: &Self) -> Option<((f64, f64), RateInterval)> {
        let scenario_rate = |(scenario, trials): (&u32, &u32)| {
            let passed = self.0.get(scenario).copied().unwrap_or(0);
            TaskTrials { trials: *trials, passed, unscored: 0 }
        };
        interval(&whole.0.iter().map(scenario_rate).collect::<Vec<_>>())
    }
}

impl Tally {
    fn add(&mut self, case: &Case, scenario: u32, simulated: bool) {
        self.simulated |= simulated;
        self.failed.add(scenario);
        self.primary.entry(case.class).or_default().add(scenario);
        for (class, tests) in &case.tests {
            *self.tests.entry(*class).or_default() += tests;
        }
    }

    fn group(&self, (key, label): (String, String)) -> FailureGroup {
        let (attempt_count, failed, none) = (self.attempts.all(), self.failed.all(), ByScenario::default());
        let occurs = |class: &&FailureClass| {
            failed > 0
                && (self.primary.contains_key(*class)
                    || self.tests.get(*class).is_some_and(|tests| *tests > 0))
        };
        let share = |class: &FailureClass| {
            let own = self.primary.get(class).unwrap_or(&none);
            let attempts = own.all();
            let ends = own.interval(&self.failed).map(|(ends, _)| ends);
            FailureShare {
                class: class.as_str().to_owned(),
                attempts,
                share: f64::from(attempts) / f64::from(failed),
                ci_low: ends.map(|(low, _)| low),
                ci_high: ends.map(|(_, high)| high),
                tests: self.tests.get(class).copied().unwrap_or(0),
            }
        };
        let rate_interval = self.failed.interval(&self.attempts);
        let rate_ends = rate_interval.map(|(ends, _)| ends);
        FailureGroup {
            key,
            label,
            simulated: self.simulated,
            attempts_in_scope: attempt_count,
            attempts: failed,
            rate: (attempt_count > 0).then(|| {
                let rate = f64::from(failed) / f64::from(attempt_count);
                (rate, rate_ends.map(|(low, _)| low), rate_ends.map(|(_, high)| high))
            }),
            rate_interval: rate_interval.map(|(_, kind)| kind),
            // It goes by the failed attempts of each scenario, whatever their classes are.
            interval: none.interval(&self.failed).map(|(_, kind)| kind),
            shares: FailureClass::ALL.iter().filter(occurs).map(share).collect(),
        }
    }
}

impl Workbench {
    /// Failed attempts by class.
    pub fn get_failures(&self, request: FailuresRequest) -> Result<Failures, ApiError> {
        Ok(self.failures_with_pools(&request)?.0)
    }

    /// The same with the members, each with the episodes of it that count.
    pub(crate) fn failures_with_pools(
        &self,
        request: &FailuresRequest,
    ) -> Result<(Failures, Vec<Pool>), ApiError> {
        // What is missing of a run stands in its summary.
        self.refresh_summaries()?;
        let found = self.failures_of(request)?;
        let grouping = Grouping::new(&found, request.group);
        let mut total = Tally::default();
        let mut groups: BTreeMap<u32, Tally> = BTreeMap::new();
        // Members stand in their order, also those without a failed attempt.
        if request.group == FailureGrouping::Member {
            for (i, pool) in (0..).zip(&found.pools) {
                groups.insert(i, Tally { simulated: pool.simulated(), ..Tally::default() });
            }
        }
        let (repair, repairs) = repairs::by_group(&found, &grouping);
        let (mut tests, mut not_described, mut origins) = (0, 0, [0_u32; 4]);
        let mut scenarios: HashMap<String, u32> = HashMap::new();
        for placed_episode in found.episodes() {
            let next = scenarios.len() as u32;
            let scenario = *scenarios.entry(placed_episode.scenario()).or_insert(next);
            for attempt in placed_episode.attempts_in_scope(request.scope) {
                total.attempts.add(scenario);
                let group = grouping.place(placed_episode, attempt.turn, attempt.attempt);
                groups.entry(group).or_default().attempts.add(scenario);
            }
            for case in placed_episode.cases(request.scope) {
                total.add(case, scenario, placed_episode.simulated());
                tests += case.tests.values().sum::<u32>();
                not_described += case.not_described;
                for (sum, own) in origins.iter_mut().zip(case.origins) {
                    *sum += own;
                }
                let group =
                    groups.entry(grouping.place(placed_episode, case.turn, case.attempt)).or_default();
                group.add(case, scenario, placed_episode.simulated());
            }
        }
        // A turn or an attempt that nobody failed is no group of failures.
        if request.group != FailureGrouping::Member {
            groups.retain(|_, tally| tally.failed.all() > 0);
        }
        let total = total.group((String::new(), "all".to_owned()));
        // The most frequent first, side by side; those that no attempt has as its own come last.
        let attempts_of = |class: FailureClass| {
            total.shares.iter().find(|share| share.class == class.as_str()).map(|share| share.attempts)
        };
        let mut found_classes: Vec<(FailureClass, u32)> =
            FailureClass::ALL.iter().filter_map(|class| Some((*class, attempts_of(*class)?))).collect();
        found_classes
            .sort_by_key(|(class, attempts)| (*attempts == 0, class.side(), std::cmp::Reverse(*attempts)));
        let classes = found_classes
            .iter()
            .map(|(class, _)| FailureClassInfo {
                class: class.as_str().to_owned(),
                label: class.label().to_owned(),
                side: class.side().as_str().to_owned(),
                description: if class.is_checked() {
                    class.about().to_owned()
                } else {
                    format!("{} Not yet checked against labels.", class.about())
                },
            })
            .collect();
        let unchecked = unchecked(found_classes.iter().map(|(class, _)| *class));
        let failures = Failures {
            benchmark: found.benchmark.clone(),
            benchmarks: found.benchmarks.clone(),
            of_one_turn: members::all_of_one_turn(&found.pools),
            not_comparable: settings::in_words(&settings::not_comparable(&by_job(&found.pools)), "member"),
            classes,
            attempts: total.attempts,
            all_attempts: found
                .episodes()
                .map(|placed_episode| placed_episode.episode.attempts.len() as u32)
                .sum(),
            episodes: found.episodes().count() as u32,
            tests,
            not_described,
            total,
            groups: groups.iter().map(|(place, tally)| tally.group(grouping.named(*place))).collect(),
            repair,
            repairs,
            origins: ORIGINS.into_iter().zip(origins).filter(|(_, n)| *n > 0).collect(),
            cautions: cautions(&found)
                .into_iter()
                .chain(without_attempt(&found, request.scope))
                .chain(unchecked)
                .collect(),
            published: members::published(&found.pools, "failures"),
            flips: flips(&found),
            rules: all_rules(),
        };
        Ok((failures, found.pools))
    }

    /// The rules that classify what is asked for. They are the same for every run, so no attempt is read; members must
    /// exist all the same.
    pub(crate) fn failure_rules(&self, request: &FailuresRequest) -> Result<Vec<FailureRule>, ApiError> {
        members::resolve(&self.store, &self.members_with_failures(request)?)?;
        Ok(all_rules())
    }
}

fn all_rules() -> Vec<FailureRule> {
    rules()
        .map(|rule| FailureRule {
            id: rule.id.to_owned(),
            class: rule.class.as_str().to_owned(),
            description: rule.about.to_owned(),
        })
        .collect()
}

/// A sentence about the classes of which too few labels, or none, say how often they are right.
fn unchecked(classes: impl Iterator<Item = FailureClass>) -> Option<String> {
    let labels: Vec<&str> = classes.filter(|class| !class.is_checked()).map(FailureClass::label).collect();
    (!labels.is_empty()).then(|| format!("Not yet checked against labels: {}.", labels.join(", ")))
}

/// A sentence about first failures at which no attempt was made: they are among the scored trials or the turns at risk, and a
/// failure without an attempt has no class.
fn without_attempt(found: &FoundFailures, scope: FailureScope) -> Option<String> {
    if scope != FailureScope::First {
        return None;
    }
    let count = found.episodes().filter(|placed_episode| placed_episode.lacks_attempt()).count() as u64;
    let one_turn = members::all_of_one_turn(&found.pools);
    let failed = if one_turn { "failed without an attempt" } else { "failed at a turn without an attempt" };
    (count > 0).then(|| {
        let failures = counted(count, if one_turn { "scored trial" } else { "episode" });
        format!("{failures} {failed}, and {} not counted here.", if count == 1 { "is" } else { "are" })
    })
}

/// What a reader must know of the numbers.
fn cautions(found: &FoundFailures) -> Vec<String> {
    let mut unread: BTreeMap<&str, u32> = BTreeMap::new();
    for placed_episode in found.episodes().filter(|placed_episode| placed_episode.episode.logs_unread > 0) {
        *unread.entry(&placed_episode.pool.runs[placed_episode.run].record.entry.slug).or_default() +=
            placed_episode.episode.logs_unread;
    }
    let sentence = |(run, n): (&str, u32)| {
        let attempts = if n == 1 { "1 failed attempt".to_owned() } else { format!("{n} failed attempts") };
        format!("{run}: logs of {attempts} cannot be read; the rules over logs did not see them.")
    };
    let missing = doubts::missing_of_members(&found.pools).into_iter().map(|missing| format!("{missing}."));
    let unread = unread.into_iter().map(sentence);
    unread.chain(missing).chain(found.copied.iter().chain(&found.withdrawn).cloned()).collect()
}
