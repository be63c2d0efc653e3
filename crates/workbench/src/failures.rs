//! Failed attempts by class.

mod cases;
mod digest;
mod found;
mod logs;
mod repairs;

use std::collections::{BTreeMap, HashMap};

use analysis::failures::FailureClass;
use analysis::failures::history::{Standing, history};
use analysis::failures::rules::rules;
use analysis::proportion::wilson;
use model::Episode;

use self::cases::flips;
use self::digest::Case;
pub(crate) use self::digest::Digests;
use self::found::{FoundFailures, Grouping};
use crate::Workbench;
use crate::api::{
    ApiError, FailureClassInfo, FailureGroup, FailureGrouping, FailureOrigin, FailureRule, FailureShare,
    Failures, FailuresRequest, TestHistory,
};
use crate::compare::coverage::by_job;
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
    made: u32,
    attempts: u32,
    primary: BTreeMap<FailureClass, u32>,
    tests: BTreeMap<FailureClass, u32>,
}

impl Tally {
    fn add(&mut self, case: &Case, simulated: bool) {
        self.simulated |= simulated;
        self.attempts += 1;
        *self.primary.entry(case.class).or_default() += 1;
        for (class, tests) in &case.tests {
            *self.tests.entry(*class).or_default() += tests;
        }
    }

    fn group(&self, (key, label): (String, String)) -> FailureGroup {
        let count_of = |counts: &BTreeMap<FailureClass, u32>, class| counts.get(&class).copied().unwrap_or(0);
        let occurs = |class: &&FailureClass| {
            count_of(&self.primary, **class) > 0 || count_of(&self.tests, **class) > 0
        };
        let shares = FailureClass::ALL
            .iter()
            .filter(occurs)
            .filter_map(|class| {
                let attempts = count_of(&self.primary, *class);
                let share = wilson(attempts, self.attempts)?;
                Some(FailureShare {
                    class: class.as_str().to_owned(),
                    attempts,
                    share: share.share,
                    ci_low: share.ci_low,
                    ci_high: share.ci_high,
                    tests: count_of(&self.tests, *class),
                })
            })
            .collect();
        FailureGroup {
            key,
            label,
            simulated: self.simulated,
            made: self.made,
            attempts: self.attempts,
            rate: wilson(self.attempts, self.made).map(|rate| (rate.share, rate.ci_low, rate.ci_high)),
            shares,
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
        for placed_episode in found.episodes() {
            for made in placed_episode.made(request.scope) {
                total.made += 1;
                groups.entry(grouping.place(placed_episode, made.turn, made.attempt)).or_default().made += 1;
            }
            for case in placed_episode.cases(request.scope) {
                total.add(case, placed_episode.simulated());
                tests += case.tests.values().sum::<u32>();
                not_described += case.not_described;
                for (sum, own) in origins.iter_mut().zip(case.origins) {
                    *sum += own;
                }
                let group =
                    groups.entry(grouping.place(placed_episode, case.turn, case.attempt)).or_default();
                group.add(case, placed_episode.simulated());
            }
        }
        // A turn or an attempt that nobody failed is no group of failures.
        if request.group != FailureGrouping::Member {
            groups.retain(|_, tally| tally.attempts > 0);
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
                .map(|placed_episode| placed_episode.episode.made.len() as u32)
                .sum(),
            episodes: found.episodes().count() as u32,
            tests,
            not_described,
            total,
            groups: groups.iter().map(|(place, tally)| tally.group(grouping.named(*place))).collect(),
            repair,
            repairs,
            origins: ORIGINS.into_iter().zip(origins).filter(|(_, n)| *n > 0).collect(),
            cautions: cautions(&found).into_iter().chain(unchecked).collect(),
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
    unread.into_iter().map(sentence).chain(found.copied.iter().chain(&found.withdrawn).cloned()).collect()
}
