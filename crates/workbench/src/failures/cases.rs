//! What is behind a share: failed attempts, one by one, and tests that flip.

use analysis::failures::history::Flip;
use analysis::failures::rules::rule_text;
use analysis::failures::{FailureClass, NO_RULE, NOT_DESCRIBED};

use super::digest::{Case, EpisodeFailures, FailingTest};
use super::found_failures::{FoundFailures, Grouping, Place, PlacedEpisode};
use super::{ORIGINS, history_of};
use crate::Workbench;
use crate::api::{ApiError, FailureCase, FailureCasePage, FailureCasesRequest, FlippingTest, StandingTest};
use crate::compare::members::all_of_one_turn;

/// Most rows of one page, if the request does not say.
const PAGE: u32 = 200;
/// Failing tests of a case that are named, if the request does not say.
const TESTS: u32 = 8;
/// Flipping tests that are listed.
const FLIPS: usize = 100;

impl Workbench {
    /// The failed attempts behind a share.
    pub fn list_failure_cases(&self, request: FailureCasesRequest) -> Result<FailureCasePage, ApiError> {
        let found = self.failures_of(&request.failures)?;
        let grouping = Grouping::new(&found, request.failures.group);
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
            .cases(request.failures.scope)
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
                    && request
                        .episode
                        .as_ref()
                        .is_none_or(|episode| *episode == place.placed_episode.episode.episode)
                    && request.turn.is_none_or(|turn| turn == case.turn)
                    && (request.group.is_empty()
                        || grouping.named(grouping.place(place.placed_episode, case.turn, case.attempt)).0
                            == request.group)
            })
            .collect();
        let limit = if request.limit == 0 { PAGE } else { request.limit };
        let most_tests = if request.most_tests == 0 { TESTS } else { request.most_tests };
        let rows = wanted.iter().skip(request.offset as usize).take(limit as usize);
        let rows = rows.map(|place| row(place, most_tests as usize)).collect();
        let is_single_turn = all_of_one_turn(&found.pools);
        Ok(FailureCasePage { rows, total: wanted.len() as u32, of_one_turn: is_single_turn })
    }
}

fn row(place: &Place<'_>, most_tests: usize) -> FailureCase {
    let (placed_episode, case) = (place.placed_episode, place.case);
    let mut tests: Vec<(String, u32)> =
        case.tests.iter().map(|(class, n)| (class.as_str().to_owned(), *n)).collect();
    tests.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let rule = match case.rule {
        NO_RULE => "no rule applies".to_owned(),
        NOT_DESCRIBED => "nothing that failed is described".to_owned(),
        id => rule_text(id).map_or_else(|| id.to_owned(), |rule| format!("{id}: {}", rule.about)),
    };
    let [new, regressed, still_failing, unknown] = case.origins;
    FailureCase {
        run: placed_episode.pool.runs[placed_episode.run].record.entry.slug.clone(),
        name: placed_episode.pool.name.clone(),
        simulated: placed_episode.simulated(),
        episode: placed_episode.episode.episode.clone(),
        scenario: placed_episode.episode.scenario.clone(),
        title: placed_episode.episode.title.clone(),
        repeat: placed_episode.episode.repeat,
        turn: case.turn,
        attempt: case.attempt,
        class: case.class.as_str().to_owned(),
        rule: Some(rule),
        tests,
        not_described: case.not_described,
        origins: (new, regressed, still_failing, unknown),
        failing: standing_tests(placed_episode.episode, case, most_tests),
        test: case.test.clone(),
        passed_in_turn: case.passed_in_turn,
        message: case.message.clone(),
        passed: case.passed,
        total: case.total,
    }
}

/// The failing tests of an attempt: what broke first, then what was never there, then what goes on failing.
fn standing_tests(episode: &EpisodeFailures, case: &Case, most_tests: usize) -> Vec<StandingTest> {
    const ORDER: [u8; 4] = [1, 0, 2, 3];
    let mut failing: Vec<&FailingTest> = case.failing.iter().collect();
    failing.sort_by_key(|test| ORDER[test.origin()]);
    failing
        .into_iter()
        .take(most_tests)
        .map(|test| StandingTest {
            test: episode.ids.get(test.id as usize).map_or_else(String::new, ToString::to_string),
            class: test.class.as_str().to_owned(),
            stood: history_of(test.standing),
        })
        .collect()
}

/// The tests that flip most, over all episodes.
pub(super) fn flips(found: &FoundFailures) -> Vec<FlippingTest> {
    let mut all: Vec<(PlacedEpisode<'_>, &Flip)> = found
        .episodes()
        .flat_map(|placed_episode| {
            placed_episode.episode.flips.iter().map(move |flip| (placed_episode, flip))
        })
        .collect();
    all.sort_by(|(_, a), (_, b)| b.changes.cmp(&a.changes).then_with(|| a.id.cmp(&b.id)));
    all.truncate(FLIPS);
    all.into_iter()
        .map(|(placed_episode, flip)| FlippingTest {
            run: placed_episode.pool.runs[placed_episode.run].record.entry.slug.clone(),
            simulated: placed_episode.simulated(),
            episode: placed_episode.episode.episode.clone(),
            scenario: placed_episode.episode.scenario.clone(),
            repeat: placed_episode.episode.repeat,
            test: flip.id.clone(),
            flips: flip.changes,
            last: flip.outcomes.last().map(|outcome| (outcome.turn, outcome.attempt)).unwrap_or_default(),
            outcomes: outcomes(flip, placed_episode.episode.turns),
            changed_within: shown_turns(&flip.changed_within),
        })
        .collect()
}

/// Those of the turns that a grid shows.
fn shown_turns(turns: &[u32]) -> Vec<u32> {
    turns.iter().copied().filter(|turn| *turn <= store::limits::GRID_TURNS).collect()
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
