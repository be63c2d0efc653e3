//! How the numbers of a figure were made, for its caption: intervals, test, n, events, policy, and what a kind needs said.
//! Every caption counts its episodes and says by which policy they were counted, also where the policy changes no number: a
//! reader of the figure sees how many episodes failed. Only a τ is left out where it means nothing, as for costs.

mod counts;
mod table_methods;

use figures::{EpisodeCounts, Method};
use model::{Ending, PassRate, RateInterval};

pub(super) use self::counts::passed_are_censored;
use self::counts::{counted, counted_of, counts, summed};
use crate::Workbench;
use crate::api::{
    self, ApiError, Comparability, ComparedMember, Comparison, FailureScope, Measure, Nothing,
    PairedComparison, PolicyTable, Stamina,
};
use crate::compare::{continuation_differs, doubts, pair_tests};

const GREENWOOD: &str = "Greenwood 95 % CI";

/// How the intervals of these means are made: where scenarios repeat they are drawn.
fn mean_intervals<'a>(means: impl IntoIterator<Item = &'a Stamina>) -> String {
    let (mut plain, mut clustered) = (false, false);
    for mean in means {
        clustered |= mean.clustered;
        plain |= !mean.clustered;
    }
    match (plain, clustered) {
        (_, false) => GREENWOOD.to_owned(),
        (true, true) => format!("{GREENWOOD}, by bootstrap of scenarios where these repeat"),
        (false, true) => "95 % CI by bootstrap of scenarios, since these repeat".to_owned(),
    }
}

/// More pairs of members with trials in common are only counted.
const MOST_PAIRS: usize = 3;

/// Said where each of several members counts the trials that another one has, too. `name` gives the name of a member.
fn counted_in_each(overlaps: &[(u32, u32, u32)], name: impl Fn(u32) -> String) -> Vec<String> {
    if overlaps.len() > MOST_PAIRS {
        return vec![format!(
            "{} pairs of them have runs or trials in common, which each counts",
            overlaps.len()
        )];
    }
    let shared_count = |(a, b, runs): &(u32, u32, u32)| {
        format!("{}, and counted in each", pair_tests::in_both(&name(*a), &name(*b), *runs))
    };
    overlaps.iter().map(shared_count).collect()
}

impl Workbench {
    /// What holds for every figure of a comparison that shows stamina.
    pub(super) fn method(&self, data: &Comparison) -> Result<Method, ApiError> {
        let mut method = self.policy_method(&data.policy)?;
        if data.members.len() > 1 {
            method.scenarios = data.known_shared_scenarios();
        }
        method.notes.extend(not_comparable(
            data.differences
                .iter()
                .filter(|d| d.comparability == Comparability::NotComparable)
                .map(|d| d.setting.as_str()),
        ));
        let name =
            |index: u32| data.members.get(index as usize).map(ComparedMember::marked).unwrap_or_default();
        method.notes.extend(counted_in_each(&data.overlaps, name));
        Ok(method)
    }

    /// The same for a figure, with what makes its numbers less sure than they look.
    pub(super) fn method_with_doubts(&self, data: &Comparison) -> Result<Method, ApiError> {
        Ok(with_notes(self.method(data)?, doubts::grouped_doubts(&data.members)))
    }

    /// The same for a figure whose numbers have no intervals, or others than the mean or pass rate has.
    pub(super) fn method_with_doubts_of_sums(&self, data: &Comparison) -> Result<Method, ApiError> {
        Ok(with_notes(self.method(data)?, doubts::grouped_doubts_without_intervals(&data.members)))
    }

    /// The censoring policy in words.
    pub(super) fn policy_method(&self, policy: &str) -> Result<Method, ApiError> {
        let table = self.get_policy(Nothing {})?;
        let changed = table.rows.iter().filter(|row| row.ending != row.default_ending);
        let details = changed.map(|row| {
            let counted = match row.ending {
                Ending::Event => "failure",
                Ending::Censored => "censored",
            };
            format!("{}: {counted}", row.label)
        });
        let moved = moved_rows(&table);
        let policy_details = details.chain(moved).collect();
        Ok(Method { policy: Some(policy.to_owned()), policy_details, ..Method::default() })
    }
}

/// Rows of decision tables that the policy moves: `NonZeroAgentExitCodeError, agent: environment`.
pub(super) fn moved_rows(table: &PolicyTable) -> impl Iterator<Item = String> {
    table.policy.rows.iter().map(|(row, reason)| format!("{row}: {}", reason.label()))
}

/// `Settings differ so that these runs are not comparable: Attempt limit, Agent timeout per turn`.
fn not_comparable<'a>(settings: impl Iterator<Item = &'a str>) -> Option<String> {
    let settings: Vec<&str> = settings.collect();
    (!settings.is_empty())
        .then(|| format!("Settings differ so that these runs are not comparable: {}", settings.join(", ")))
}

/// The same from sentences that begin with a setting: `Attempt limit: 3 and 5`.
fn differing(sentences: &[String]) -> Option<String> {
    not_comparable(sentences.iter().map(|s| s.split(": ").next().unwrap_or(s)))
}

/// A method with more notes.
pub(super) fn with_notes(mut method: Method, notes: Vec<String>) -> Method {
    method.notes.extend(notes);
    method
}

/// Where runs share scenarios, the figure that compares them one by one is named: it is the one to look at first.
fn paired_instead(data: &Comparison) -> Option<String> {
    let shares = |pair: &api::ComparedPair| pair.paired.as_ref().is_some_and(|p| p.scenarios.len() > 1);
    let noun = if data.of_one_turn { "tasks" } else { "scenarios" };
    data.pairs
        .iter()
        .any(shares)
        .then(|| format!("The figure and table “paired” compare two runs on the {noun} that both played"))
}

/// Unpaired differences or ratios, with the log-rank p beside them.
pub(super) fn differences(method: Method, data: &Comparison, ratio: bool) -> Method {
    let method = with_notes(method, paired_instead(data).into_iter().collect());
    let tested = data.pairs.iter().filter(|p| p.p_holm.is_some()).count();
    let holm = match tested {
        1 => "for one comparison".to_owned(),
        n => format!("Holm-adjusted over {n} comparisons"),
    };
    Method {
        tau: data.tau.filter(|_| !data.of_one_turn),
        intervals: Some(if data.of_one_turn && !ratio {
            let clustered = data.pairs.iter().any(|pair| pair.clustered);
            format!("Newcombe's 95 % CI{}, unpaired", if clustered { ", clustered by task" } else { "" })
        } else if data.of_one_turn && data.pairs.iter().any(|pair| pair.clustered) {
            "95 % CI by a jackknife over tasks where these repeat, else on the log scale, unpaired".to_owned()
        } else if data.of_one_turn {
            "95 % CI on the log scale, unpaired".to_owned()
        } else if data.pairs.iter().any(|pair| pair.clustered) {
            "95 % CI by a jackknife over scenarios where these repeat, else from Greenwood's variances, unpaired".to_owned()
        } else if ratio {
            "95 % CI on the log scale from Greenwood's variances, unpaired".to_owned()
        } else {
            "95 % CI from Greenwood's variances, unpaired".to_owned()
        }),
        test: (tested > 0).then(|| {
            let clustered = data.pairs.iter().any(|pair| pair.clustered);
            let one_turn = data.of_one_turn;
            let test =
                if one_turn { "test of two proportions (log-rank)" } else { "log-rank test over all turns" };
            let manner = match (clustered, one_turn) {
                (false, _) => "",
                (true, false) => ", clustered by scenario where these repeat",
                (true, true) => ", clustered by task where these repeat",
            };
            format!("p values are of a {test}{manner}, {holm}")
        }),
        counts: counted(data),
        ..method
    }
}

/// Two members on the scenarios that both played.
pub(super) fn paired(method: Method, data: &Comparison, other: u32) -> Method {
    let found = data.pairs.iter().find(|p| (p.a, p.b) == (other, data.reference));
    let found = found.and_then(|p| p.paired.as_ref());
    let mut method = Method {
        tau: found.map(|p| p.tau).filter(|_| !data.of_one_turn),
        intervals: Some("95 % CI of Student's t over the differences".to_owned()),
        test: found.and_then(|p| p.p).map(|_| "p is of a paired t test".to_owned()),
        counts: counted_of(
            data,
            [data.reference, other].iter().filter_map(|i| data.members.get(*i as usize)),
        ),
        // How many the two share, the figure counts; what all members share is about others.
        scenarios: None,
        ..method
    };
    method.notes.extend(found.and_then(|found| pseudo_observed(found, data.of_one_turn)));
    method
}

fn pseudo_observed(paired: &PairedComparison, is_rate: bool) -> Option<String> {
    let censored = paired.scenarios.iter().any(|s| s.a_at_least || s.b_at_least);
    censored.then(|| {
        let observed =
            paired.observed_in_words(is_rate).map(|observed| format!(" ({observed})")).unwrap_or_default();
        format!("Censored episodes enter mean and test by pseudo-observations{observed}")
    })
}

/// One measure of each member.
pub(super) fn bars(method: Method, data: &Comparison, measure: Measure) -> Method {
    let one_turn = data.of_one_turn;
    let means = match measure {
        Measure::Stamina => {
            return Method {
                tau: data.tau,
                intervals: Some(mean_intervals(data.members.iter().map(|member| &member.stamina))),
                counts: counted(data),
                ..method
            };
        }
        Measure::PassRate => {
            let rates: Vec<&PassRate> = data.members.iter().filter_map(|m| m.pass_rate.as_ref()).collect();
            return Method {
                intervals: table_methods::rate_intervals(&rates),
                counts: counted(data),
                ..with_notes(
                    method,
                    vec!["Trials that passed ÷ scored trials. Trials that were stopped from outside are not scored".to_owned()],
                )
            };
        }
        Measure::Score if one_turn => "Mean over tasks, 0 to 100",
        Measure::Score => "Mean over scenarios, 0 to 100. Turns after the first failure count",
        Measure::Tokens if one_turn => {
            "Input and output tokens ÷ trials, over the trials where every attempt tells them"
        }
        Measure::Tokens => "Input and output tokens ÷ turns, over the turns where every attempt tells them",
        Measure::Cost => cost_of_one(one_turn),
        Measure::Time if one_turn => {
            "Seconds of agent time ÷ trials, over the trials where every attempt tells it"
        }
        Measure::Time => "Seconds of agent time ÷ turns, over the turns where every attempt tells it",
        Measure::Steps if one_turn => {
            "Steps (calls of the model) ÷ trials, over the trials where every attempt tells them"
        }
        Measure::Steps => "Steps (calls of the model) ÷ turns, over the turns where every attempt tells them",
        Measure::StepsSurvived => {
            "Mean over episodes of the steps (calls of the model) before the first turn not passed. Of censored episodes those until they were stopped count"
        }
        Measure::ToolCalls if one_turn => {
            "Tool calls ÷ trials, over the trials where every attempt tells them"
        }
        Measure::ToolCalls => "Tool calls ÷ turns, over the turns where every attempt tells them",
        Measure::CostPerSurvivedTurn if one_turn => {
            "Cost of all trials ÷ those that passed. Unknown unless that of every trial is known"
        }
        Measure::CostPerSurvivedTurn => {
            "Cost of whole episodes, turns after the first failure included, ÷ their stamina. Unknown unless the cost of every episode is known"
        }
    };
    let mut notes = vec![means.to_owned()];
    if continuation_differs(data) && !matches!(measure, Measure::CostPerSurvivedTurn | Measure::StepsSurvived)
    {
        notes.push("Some runs stop at a failed turn and others go on: not on equal terms".to_owned());
    }
    if measure == Measure::Score {
        notes.extend(doubts::unscored_in_scores(&data.members));
        notes.extend(doubts::grouped_doubts_about_scores(&data.members));
    }
    notes.extend(method.notes);
    let partial =
        |m: &ComparedMember| Some(format!("{} for {}", m.marked(), known_in_part(m, measure, one_turn)?));
    let partial: Vec<String> = data.members.iter().filter_map(partial).collect();
    if !partial.is_empty() {
        notes.push(format!("Known: {}", partial.join(", ")));
    }
    Method { notes, counts: counted(data), ..method }
}

/// What the number of a measure is over, where that is a part of a member: `12 of 20 turns` of a rate, `3 of 4 episodes` of
/// a cost, as tables and pages count them.
pub(super) fn known_in_part(
    member: &ComparedMember,
    measure: Measure,
    is_single_turn: bool,
) -> Option<String> {
    let spent = &member.spent;
    let [turns, episodes] = if is_single_turn { ["trials"; 2] } else { ["turns", "episodes"] };
    let (known, all, noun) = match measure {
        Measure::Stamina | Measure::PassRate | Measure::Score => return None,
        Measure::Tokens => (spent.tokens_known.turns, spent.turns_played, turns),
        Measure::Time => (spent.seconds_known.turns, spent.turns_played, turns),
        Measure::Steps => (spent.steps_known.turns, spent.turns_played, turns),
        Measure::ToolCalls => (spent.tool_calls_known.turns, spent.turns_played, turns),
        Measure::StepsSurvived => (spent.steps_survived_known, member.stamina.n, episodes),
        Measure::Cost | Measure::CostPerSurvivedTurn => (spent.cost_known, member.stamina.n, episodes),
    };
    (known > 0 && known < all).then(|| format!("{known} of {all} {noun}"))
}

/// How the mean cost of an episode is made; of runs of one turn it is a trial.
const fn cost_of_one(is_single_turn: bool) -> &'static str {
    if is_single_turn {
        "Cost of all trials ÷ trials. Unknown unless that of every trial is known"
    } else {
        "Cost of all episodes ÷ episodes. Unknown unless that of every episode is known"
    }
}

/// Mean stamina against cost.
pub(super) fn pareto(method: Method, data: &Comparison) -> Method {
    let mut notes = vec![cost_of_one(data.of_one_turn).to_owned()];
    notes.extend(method.notes);
    let rates: Vec<&PassRate> = data.members.iter().filter_map(|m| m.pass_rate.as_ref()).collect();
    let intervals = if data.of_one_turn {
        table_methods::rate_intervals(&rates)
    } else {
        Some(mean_intervals(data.members.iter().map(|member| &member.stamina)))
    };
    Method { tau: data.tau.filter(|_| !data.of_one_turn), intervals, counts: counted(data), notes, ..method }
}

/// The episodes of each cell, and whether it pools what is not comparable.
fn cells(data: &api::Matrix) -> impl Iterator<Item = (EpisodeCounts, bool)> {
    let name = |lines: &[api::MatrixLine], index: u32| {
        lines.get(index as usize).and_then(|l| l.name.clone()).unwrap_or_else(|| "unknown".to_owned())
    };
    data.cells.iter().flatten().map(move |cell| {
        let name = format!("{} × {}", name(&data.harnesses, cell.harness), name(&data.models, cell.model));
        let rate = cell.pass_rate.as_ref().filter(|_| data.of_one_turn);
        (counts(name, &cell.stamina, rate), !cell.mixed.is_empty())
    })
}

const POOLED: &str = "Runs of a cell are pooled";

/// Harness × model; each cell counts its episodes, the caption sums them up.
pub(super) fn matrix(method: Method, data: &api::Matrix) -> Method {
    let notes = vec![POOLED.to_owned(), "Means of rows and columns are unweighted".to_owned()];
    let rates: Vec<&PassRate> =
        data.cells.iter().flatten().filter_map(|cell| cell.pass_rate.as_ref()).collect();
    let staminas = data.cells.iter().flatten().map(|cell| &cell.stamina);
    let intervals =
        if data.of_one_turn { table_methods::rate_intervals(&rates) } else { Some(mean_intervals(staminas)) };
    Method {
        tau: data.tau.filter(|_| !data.of_one_turn),
        intervals,
        counts: cells(data).map(|(counts, _)| counts).collect(),
        notes,
        ..method
    }
}

/// Which of its runs are not comparable: a table says it in its own notes.
pub(super) fn matrix_comparability_notes(data: &api::Matrix) -> Vec<String> {
    let mut notes: Vec<String> = differing(&data.not_comparable).into_iter().collect();
    let mixed: Vec<String> = cells(data).filter(|(_, mixed)| *mixed).map(|(c, _)| c.name).collect();
    if !mixed.is_empty() {
        notes.push(format!("Pooled although not comparable: {}", mixed.join(", ")));
    }
    notes
}

/// Mean stamina by retry budget; events depend on it, and are counted with the most retries.
pub(super) fn retries(method: Method, data: &api::Retries) -> Method {
    let most_retries = |series: &api::RetrySeries| {
        series.points.last().map(|point| counts(series.marked(), &point.stamina, None))
    };
    let mut notes =
        vec!["Budgets below the one of the run are computed by leaving out later attempts".to_owned()];
    notes.extend(differing(&data.not_comparable));
    Method {
        tau: data.tau,
        intervals: Some(mean_intervals(
            data.series.iter().flat_map(|s| &s.points).map(|point| &point.stamina),
        )),
        counts: data.series.iter().filter_map(most_retries).collect(),
        notes,
        ..method
    }
}

/// Classes of failures: no horizon. The attempts are the groups' own n; `episodes` are those that they were made in.
pub(super) fn failures(
    method: Method,
    data: &api::Failures,
    scope: FailureScope,
    episodes: Vec<EpisodeCounts>,
) -> Method {
    let one_turn = !episodes.is_empty() && episodes.iter().all(|counts| counts.passed.is_some());
    let (about, (failed, noun, begun)) = match scope {
        FailureScope::First if one_turn => (
            "Attempts that ended a trial as failed, by their primary class",
            ("failures", "scored trial", ""),
        ),
        FailureScope::Turns if one_turn => (
            "Final attempts of trials not passed, by their primary class",
            ("trials not passed", "trial", " begun"),
        ),
        FailureScope::Attempts => {
            ("Every failed attempt counts, by its primary class", ("failed attempts", "attempt", ""))
        }
        FailureScope::Turns => (
            "Final attempts of turns not passed, by their primary class",
            ("turns not passed", "turn", " reached"),
        ),
        FailureScope::First => (
            "Attempts that ended an episode's stamina, by their primary class",
            ("first failures", "turn", " at risk"),
        ),
    };
    let attempts = model::counted(data.total.attempts_in_scope.into(), noun);
    let within = model::counted(data.episodes.into(), if one_turn { "trial" } else { "episode" });
    let notes = vec![
        about.to_owned(),
        "Classes are given by rules over what the source records".to_owned(),
        format!("Shares are of {failed}: {} of {attempts}{begun} in {within}", data.total.attempts),
    ];
    Method { notes, counts: episodes, ..method }
}

/// How the intervals of shares of failures are made; `None` = there are none, or all failures of each group are of one scenario.
pub(super) fn failure_intervals(data: &api::Failures) -> Option<String> {
    let groups: &[api::FailureGroup] =
        if data.groups.is_empty() { std::slice::from_ref(&data.total) } else { &data.groups };
    let any = |kind| groups.iter().any(|group| group.interval == Some(kind));
    let noun = if data.of_one_turn { "task" } else { "scenario" };
    match (any(RateInterval::Wilson), any(RateInterval::Clustered)) {
        (false, false) => None,
        (true, false) => Some("Wilson's 95 % CI".to_owned()),
        (false, true) => Some(format!("Wilson's 95 % CI, clustered by {noun}")),
        (true, true) => {
            Some(format!("Wilson's 95 % CI, clustered by {noun} where several failures are of one"))
        }
    }
}

/// What must be known of them: a table says it in its own notes.
pub(super) fn failure_cautions(data: &api::Failures) -> Vec<String> {
    let mut notes: Vec<String> = differing(&data.not_comparable).into_iter().collect();
    notes.extend(data.cautions.iter().map(|caution| caution.trim_end_matches('.').to_owned()));
    notes
}
