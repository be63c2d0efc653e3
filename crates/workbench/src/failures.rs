//! Failed attempts by class.

mod digest;
mod logs;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use analysis::failures::history::{Flip, Repair as Stretch, Standing, repair_times};
use analysis::failures::rules::{rule_text, rules};
use analysis::failures::{FailureClass, NO_RULE, NOT_DESCRIBED};
use analysis::proportion::wilson;
use store::{RunEntry, RunFilter};

use crate::Workbench;
use crate::api::{
    ApiError, FailureCase, FailureCasePage, FailureCasesRequest, FailureClassInfo, FailureGroup,
    FailureGrouping, FailureOrigin, FailureRule, FailureScope, FailureShare, Failures, FailuresRequest,
    FlippingTest, Member, Repair, StandingTest,
};
use crate::benchmarks;
use crate::compare::members::{self, Pool};
use crate::compare::settings;
pub(crate) use digest::Digests;
use digest::{Case, EpisodeFailures, Failing, Made, RunFailures};

/// Most rows of one page, if the request does not say.
const PAGE: u32 = 200;
/// Failing tests of a case that are named, if the request does not say.
const TESTS: u32 = 8;
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
    /// Where no member was named: the benchmark, and all that there are.
    benchmark: Option<(String, String)>,
    benchmarks: Vec<(String, String, u32)>,
}

/// Whose failures are asked for; where nobody was named, of which benchmark, and which there are.
struct Asked {
    members: Vec<Member>,
    benchmark: Option<(String, String)>,
    benchmarks: Vec<(String, String, u32)>,
}

/// An episode with where it stands.
#[derive(Clone, Copy)]
struct Played<'a> {
    /// Its member's place.
    member: usize,
    pool: &'a Pool,
    run: usize,
    episode: &'a EpisodeFailures,
}

/// A failed attempt with where it stands.
struct Place<'a> {
    of: Played<'a>,
    case: &'a Case,
}

impl Found {
    fn episodes(&self) -> impl Iterator<Item = Played<'_>> {
        self.pools.iter().zip(&self.runs).enumerate().flat_map(|(member, (pool, runs))| {
            runs.iter().enumerate().flat_map(move |(run, failures)| {
                failures.episodes.iter().map(move |episode| Played { member, pool, run, episode })
            })
        })
    }

    /// The failed attempts in scope, by member, run, scenario, turn and attempt.
    fn cases(&self, scope: FailureScope) -> impl Iterator<Item = Place<'_>> {
        self.episodes().flat_map(move |of| of.cases(scope).map(move |case| Place { of, case }))
    }
}

impl<'a> Played<'a> {
    fn cases(self, scope: FailureScope) -> impl Iterator<Item = &'a Case> {
        self.episode.cases.iter().filter(move |case| match scope {
            FailureScope::Attempts => true,
            FailureScope::Turns => case.ends_turn,
            FailureScope::First => case.ends_stamina,
        })
    }

    /// The attempts that a scope is about, failed or not.
    fn made(self, scope: FailureScope) -> impl Iterator<Item = &'a Made> {
        self.episode.made.iter().filter(move |made| match scope {
            FailureScope::Attempts => true,
            FailureScope::Turns => made.is_final,
            FailureScope::First => made.is_final && made.counts_for_stamina,
        })
    }

    fn harness(self) -> Option<&'a str> {
        self.pool.runs[self.run].record.entry.harness.as_deref()
    }

    fn simulated(self) -> bool {
        self.pool.runs[self.run].record.entry.simulated
    }
}

/// By what is grouped. A group is a number, by which groups are sorted.
struct Grouping<'a> {
    by: FailureGrouping,
    pools: &'a [Pool],
    /// By name, the unknown one last.
    harnesses: Vec<Option<&'a str>>,
}

impl<'a> Grouping<'a> {
    fn of(found: &'a Found, by: FailureGrouping) -> Self {
        let runs = || found.pools.iter().flat_map(|pool| &pool.runs);
        let mut harnesses: Vec<Option<&str>> =
            runs().map(|run| run.record.entry.harness.as_deref()).collect();
        harnesses.sort_unstable_by_key(|harness| (harness.is_none(), *harness));
        harnesses.dedup();
        Self { by, pools: &found.pools, harnesses }
    }

    fn place(&self, of: Played<'_>, turn: u32, attempt: u32) -> u32 {
        match self.by {
            FailureGrouping::Member => of.member as u32,
            FailureGrouping::Harness => {
                self.harnesses.iter().position(|harness| *harness == of.harness()).unwrap_or(0) as u32
            }
            FailureGrouping::Turn => turn,
            FailureGrouping::Attempt => attempt,
        }
    }

    /// Its key and its words.
    fn named(&self, place: u32) -> (String, String) {
        let at = place as usize;
        match self.by {
            FailureGrouping::Member => {
                self.pools.get(at).map_or_else(Default::default, |pool| (pool.id.clone(), pool.name.clone()))
            }
            FailureGrouping::Harness => match self.harnesses.get(at).copied().flatten() {
                Some(harness) => (harness.to_owned(), harness.to_owned()),
                None => (UNKNOWN.to_owned(), "unknown harness".to_owned()),
            },
            FailureGrouping::Turn => (place.to_string(), format!("turn {place}")),
            FailureGrouping::Attempt => (place.to_string(), format!("attempt {place}")),
        }
    }
}

/// Failed attempts that are counted together, and what began to fail there.
#[derive(Default)]
struct Tally<'a> {
    simulated: bool,
    made: u32,
    attempts: u32,
    primary: BTreeMap<FailureClass, u32>,
    tests: BTreeMap<FailureClass, u32>,
    turn_repairs: Vec<&'a Stretch>,
    test_repairs: Vec<&'a Stretch>,
}

impl Tally<'_> {
    fn add(&mut self, case: &Case, simulated: bool) {
        self.simulated |= simulated;
        self.attempts += 1;
        *self.primary.entry(case.class).or_default() += 1;
        for (class, tests) in &case.tests {
            *self.tests.entry(*class).or_default() += tests;
        }
    }

    fn group(&self, (key, label): (String, String)) -> FailureGroup {
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
        FailureGroup {
            key,
            label,
            simulated: self.simulated,
            made: self.made,
            attempts: self.attempts,
            rate: wilson(self.attempts, self.made).map(|rate| (rate.share, rate.ci_low, rate.ci_high)),
            shares,
            repair: self.repair(),
        }
    }

    fn repair(&self) -> Repair {
        let turns = repair_times(self.turn_repairs.iter().copied());
        let tests = repair_times(self.test_repairs.iter().copied());
        let mut at_attempt: BTreeMap<u32, u32> = BTreeMap::new();
        for repair in self.turn_repairs.iter().filter(|repair| repair.repaired) {
            *at_attempt.entry(repair.attempt + repair.attempts).or_default() += 1;
        }
        Repair {
            failed_first: turns.failed,
            tried_again: self.turn_repairs.iter().filter(|repair| repair.attempts > 0).count() as u32,
            repaired: turns.repaired,
            median_attempts: turns.median_attempts,
            at_attempt: at_attempt.into_iter().collect(),
            stretches: tests.failed,
            stretches_repaired: tests.repaired,
            repaired_in_same_turn: tests.in_same_turn,
            median_turns: tests.median_turns,
        }
    }
}

impl Workbench {
    /// Failed attempts by class.
    pub fn get_failures(&self, request: FailuresRequest) -> Result<Failures, ApiError> {
        let found = self.failures_of(&request)?;
        let grouping = Grouping::of(&found, request.group);
        let mut total = Tally::default();
        let mut groups: BTreeMap<u32, Tally<'_>> = BTreeMap::new();
        // Members stand in their order, also those without a failed attempt.
        if request.group == FailureGrouping::Member {
            for (i, pool) in (0..).zip(&found.pools) {
                groups.insert(i, Tally { simulated: pool.simulated(), ..Tally::default() });
            }
        }
        let (mut tests, mut not_described, mut origins) = (0, 0, [0_u32; 4]);
        for of in found.episodes() {
            for made in of.made(request.scope) {
                total.made += 1;
                groups.entry(grouping.place(of, made.turn, made.attempt)).or_default().made += 1;
            }
            let mut turns = BTreeSet::new();
            for case in of.cases(request.scope) {
                turns.insert(case.turn);
                total.add(case, of.simulated());
                tests += case.tests.values().sum::<u32>();
                not_described += case.not_described;
                for (sum, own) in origins.iter_mut().zip(case.origins) {
                    *sum += own;
                }
                let group = groups.entry(grouping.place(of, case.turn, case.attempt)).or_default();
                group.add(case, of.simulated());
            }
            let in_scope =
                |stretch: &&Stretch| request.scope == FailureScope::Attempts || turns.contains(&stretch.turn);
            let place = |stretch: &Stretch| grouping.place(of, stretch.turn, stretch.attempt);
            for stretch in of.episode.turn_repairs.iter().filter(|s| s.attempt == 1).filter(in_scope) {
                total.turn_repairs.push(stretch);
                groups.entry(place(stretch)).or_default().turn_repairs.push(stretch);
            }
            for stretch in of.episode.test_repairs.iter().filter(in_scope) {
                total.test_repairs.push(stretch);
                groups.entry(place(stretch)).or_default().test_repairs.push(stretch);
            }
        }
        // A turn or an attempt that nobody failed is no group of failures.
        if request.group != FailureGrouping::Member {
            groups.retain(|_, tally| tally.attempts > 0);
        }
        let total = total.group((String::new(), "all".to_owned()));
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
            benchmark: found.benchmark.clone(),
            benchmarks: found.benchmarks.clone(),
            not_comparable: settings::in_words(&settings::not_comparable(&found.pools), "member"),
            classes,
            attempts: total.attempts,
            all_attempts: found.episodes().map(|of| of.episode.made.len() as u32).sum(),
            episodes: found.episodes().count() as u32,
            tests,
            not_described,
            total,
            groups: groups.iter().map(|(place, tally)| tally.group(grouping.named(*place))).collect(),
            origins: ORIGINS.into_iter().zip(origins).filter(|(_, n)| *n > 0).collect(),
            cautions: cautions(&found),
            published: members::published(&found.pools, "failures"),
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
        let found = self.failures_of(&request.of)?;
        let grouping = Grouping::of(&found, request.of.group);
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
                    && request.episode.as_ref().is_none_or(|episode| *episode == place.of.episode.episode)
                    && request.turn.is_none_or(|turn| turn == case.turn)
                    && (request.group.is_empty()
                        || grouping.named(grouping.place(place.of, case.turn, case.attempt)).0
                            == request.group)
            })
            .collect();
        let limit = if request.limit == 0 { PAGE } else { request.limit };
        let most = if request.most_tests == 0 { TESTS } else { request.most_tests };
        let rows = wanted.iter().skip(request.offset as usize).take(limit as usize);
        let rows = rows.map(|place| row(place, most as usize)).collect();
        Ok(FailureCasePage { rows, total: wanted.len() as u32 })
    }

    /// The members whose failures are asked for: every real run of a benchmark if none is named, or every run of it if
    /// there is no real one: what passes or fails in one benchmark says nothing of another.
    fn asked(&self, request: &FailuresRequest) -> Result<Asked, ApiError> {
        if !request.members.is_empty() {
            let members = request.members.clone();
            return Ok(Asked { members, benchmark: None, benchmarks: Vec::new() });
        }
        let list = |real_only| -> Result<Vec<RunEntry>, ApiError> {
            let list = self.store.list_runs(&RunFilter { real_only, ..RunFilter::default() })?;
            Ok(list.rows.into_iter().map(|(_, run)| run).collect())
        };
        let (real, all) = (list(true)?, list(false)?);
        let benchmarks = benchmarks::of(&all);
        // One that has real runs goes before one that has none.
        let with_real = benchmarks::of(&real);
        let first = || with_real.iter().chain(&benchmarks).map(|(key, _, _)| key.clone()).next();
        let key = request.benchmark.clone().or_else(first);
        let benchmark = benchmarks
            .iter()
            .find(|(of, _, _)| Some(of) == key.as_ref())
            .map(|(key, name, _)| (key.clone(), name.clone()));
        if let (Some(wanted), None) = (&request.benchmark, &benchmark) {
            let error = ApiError::new("failures.no_runs", format!("The benchmark \"{wanted}\" has no runs"));
            return Err(error.hint(benchmarks::hint(&benchmarks)));
        }
        let own = |run: &&RunEntry| Some(&run.benchmark.key) == key.as_ref();
        let runs = if real.iter().any(|run| own(&run)) { real } else { all };
        let members = runs.iter().filter(own).map(|run| Member::Run { run: run.slug.clone() }).collect();
        Ok(Asked { members, benchmark, benchmarks })
    }

    /// The members whose failures are asked for.
    pub(crate) fn members_with_failures(&self, request: &FailuresRequest) -> Result<Vec<Member>, ApiError> {
        Ok(self.asked(request)?.members)
    }

    /// Their failures.
    fn failures_of(&self, request: &FailuresRequest) -> Result<Found, ApiError> {
        let Asked { members, benchmark, benchmarks } = self.asked(request)?;
        let pools = members::resolve(&self.store, &members)?;
        let records = || pools.iter().flat_map(|p| &p.runs).map(|run| &run.record);
        let ids: Vec<_> = records().map(|record| (record.entry.id, record.entry.source)).collect();
        let open = |source| {
            let record = records().find(|record| record.entry.source == source)?;
            self.live.tree(source, &record.source_path).ok()
        };
        let mut all = self.memory.failures.of(&self.store, &ids, open)?.into_iter();
        let runs = pools.iter().map(|pool| all.by_ref().take(pool.runs.len()).collect()).collect();
        Ok(Found { pools, runs, benchmark, benchmarks })
    }
}

/// What a reader must know of the numbers.
fn cautions(found: &Found) -> Vec<String> {
    let mut unread: BTreeMap<&str, u32> = BTreeMap::new();
    for of in found.episodes().filter(|of| of.episode.logs_unread > 0) {
        *unread.entry(&of.pool.runs[of.run].record.entry.slug).or_default() += of.episode.logs_unread;
    }
    let sentence = |(run, n): (&str, u32)| {
        let attempts = if n == 1 { "1 failed attempt".to_owned() } else { format!("{n} failed attempts") };
        format!("{run}: logs of {attempts} can not be read; the rules over logs did not see them.")
    };
    unread.into_iter().map(sentence).collect()
}

fn row(place: &Place<'_>, most_tests: usize) -> FailureCase {
    let (of, case) = (place.of, place.case);
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
        run: of.pool.runs[of.run].record.entry.slug.clone(),
        name: of.pool.name.clone(),
        simulated: of.simulated(),
        episode: of.episode.episode.clone(),
        scenario: of.episode.scenario.clone(),
        turn: case.turn,
        attempt: case.attempt,
        class: case.class.as_str().to_owned(),
        rule: Some(rule),
        tests,
        origins: (new, regression, still_failing, unknown),
        failing: standing_tests(of.episode, case, most_tests),
        test: case.test.clone(),
        passed_in_turn: case.passed_in_turn,
        message: case.message.clone(),
        passed: case.passed,
        total: case.total,
    }
}

/// The failing tests of an attempt: what broke first, then what was never there, then what goes on failing.
fn standing_tests(episode: &EpisodeFailures, case: &Case, most: usize) -> Vec<StandingTest> {
    const ORDER: [u8; 4] = [1, 0, 2, 3];
    let mut failing: Vec<&Failing> = case.failing.iter().collect();
    failing.sort_by_key(|test| ORDER[test.origin()]);
    failing
        .into_iter()
        .take(most)
        .map(|test| {
            let (passed_in_turn, since_turn) = match test.standing {
                Standing::Regression { passed_in_turn } => (Some(passed_in_turn), None),
                Standing::StillFailing { since_turn, passed_in_turn } => (passed_in_turn, Some(since_turn)),
                Standing::New | Standing::Unknown => (None, None),
            };
            StandingTest {
                test: episode.ids.get(test.id as usize).map_or_else(String::new, ToString::to_string),
                class: test.class.as_str().to_owned(),
                origin: ORIGINS[test.origin()],
                passed_in_turn,
                since_turn,
            }
        })
        .collect()
}

/// The tests that flip most, over all episodes.
fn flips(found: &Found) -> Vec<FlippingTest> {
    let mut all: Vec<(Played<'_>, &Flip)> =
        found.episodes().flat_map(|of| of.episode.flips.iter().map(move |flip| (of, flip))).collect();
    all.sort_by(|(_, a), (_, b)| b.changes.cmp(&a.changes).then_with(|| a.id.cmp(&b.id)));
    all.truncate(FLIPS);
    all.into_iter()
        .map(|(of, flip)| FlippingTest {
            run: of.pool.runs[of.run].record.entry.slug.clone(),
            simulated: of.simulated(),
            episode: of.episode.episode.clone(),
            scenario: of.episode.scenario.clone(),
            test: flip.id.clone(),
            flips: flip.changes,
            last: flip.outcomes.last().map(|outcome| (outcome.turn, outcome.attempt)).unwrap_or_default(),
            outcomes: outcomes(flip, of.episode.turns),
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
