//! The sentences of a report.

use figures::{SOFTWARE, p_value};
use model::counted;

use super::super::method::moved_rows;
use super::super::tables::{cautions_without_published, interval_of_means};
use super::Block;
use crate::api::{Comparability, ComparedMember, Comparison, Failures, PolicyTable, Retries, Stamina};
use crate::compare::doubts::grouped;
use crate::failures::turn_repairs;

/// The title of a report.
pub(super) fn title(data: &Comparison) -> String {
    match data.members.as_slice() {
        [one] => format!("Report of {}", one.full_name),
        members => format!("Comparison of {} runs", members.len()),
    }
}

/// Mean stamina over so many scenarios with its interval, or why there is none.
fn mean(stamina: &Stamina, scenarios: u32) -> String {
    let Some(mean) = stamina.mean else { return "unknown".to_owned() };
    let interval = match (stamina.ci_low, stamina.ci_high) {
        (Some(low), Some(high)) if stamina.clustered => {
            format!(" (95 % CI {low:.2} to {high:.2}, by scenario)")
        }
        (Some(low), Some(high)) => format!(" (95 % CI {low:.2} to {high:.2})"),
        _ if stamina.n == 1 => " (no interval: one episode)".to_owned(),
        _ if scenarios == 1 => " (no interval: one scenario)".to_owned(),
        _ => " (no interval: no variation)".to_owned(),
    };
    format!("{mean:.2} turns{interval}")
}

/// What all members have in common and their names leave out: one harness, or one model. A member alone is named in the title.
fn in_common(data: &Comparison) -> String {
    let [first, _, ..] = data.members.as_slice() else { return String::new() };
    let common_value = |value_of: fn(&ComparedMember) -> Option<&str>| {
        let value = value_of(first)?;
        let is_unsaid =
            |member: &ComparedMember| value_of(member) == Some(value) && !member.name.contains(value);
        data.members.iter().all(is_unsaid).then_some(value)
    };
    let model = common_value(|member| member.model.as_deref()).map(|model| format!(" Model: {model}."));
    let harness =
        common_value(|member| member.harness.as_deref()).map(|harness| format!(" Harness: {harness}."));
    model.into_iter().chain(harness).collect()
}

/// A member that plays one turn, and its pass rate.
fn rate(member: &ComparedMember, called: &str) -> Option<String> {
    let rate = member.pass_rate.as_ref()?;
    let unscored = match rate.unscored {
        0 => String::new(),
        n => format!(", {} not scored", counted(n.into(), "trial")),
    };
    Some(format!(
        "{called}: {} of {}, {} passed, {} failed{unscored}; pass rate {}{}.",
        counted(rate.trials.into(), "scored trial"),
        counted(rate.tasks.into(), "task"),
        rate.passed,
        rate.trials.saturating_sub(rate.passed),
        rate.in_words(),
        rate.interval.map_or_else(String::new, |interval| format!(", {}", interval.in_words())),
    ))
}

/// What is reported, and the first numbers.
pub(super) fn opening(data: &Comparison) -> Vec<Block> {
    let benchmarks: std::collections::BTreeSet<&str> =
        data.members.iter().map(|m| m.benchmark.1.as_str()).collect();
    let benchmarks: Vec<&str> = benchmarks.into_iter().collect();
    let text = if data.of_one_turn {
        format!(
            "Runs of one turn: the pass rate is the share of scored trials that passed. A trial that was stopped from outside is not scored. Benchmark: {}. Made by {SOFTWARE}.",
            benchmarks.join(", ")
        )
    } else if let Some(tau) = data.tau {
        format!("{} Benchmark: {}. Made by {SOFTWARE}.", first_sentence(tau), benchmarks.join(", "))
    } else {
        format!(
            "How long coding agents last: nobody was at risk, so nothing is known of it. Benchmark: {}. Made by {SOFTWARE}.",
            benchmarks.join(", ")
        )
    };
    let text = format!("{text}{}", in_common(data));
    let items = data
        .members
        .iter()
        .enumerate()
        .map(|(index, member)| {
            let stamina = &member.stamina;
            let mut marks = Vec::new();
            if data.members.len() > 1 && index == data.reference as usize {
                marks.push("reference".to_owned());
            }
            if member.simulated {
                marks.push("simulated: no real model answered".to_owned());
            }
            marks.extend(member.baseline.iter().map(|b| format!("baseline {b}")));
            let marks = if marks.is_empty() { String::new() } else { format!(" [{}]", marks.join("; ")) };
            // What makes these less sure than they look stands beside them, and not only under the cautions.
            let doubts = match member.doubts.as_slice() {
                [] => String::new(),
                doubts => format!(" But: {}.", doubts.join("; ")),
            };
            let called = format!("{}{marks}", member.name);
            if let Some(sentence) = rate(member, &called).filter(|_| data.of_one_turn) {
                return format!("{sentence}{doubts}");
            }
            let median = stamina.median.in_words(|median| counted(median.into(), "turn"));
            format!(
                "{called}: {}, {} failed, {} censored; mean stamina {}, median {median}.{doubts}",
                counted(stamina.n.into(), "episode"),
                stamina.events,
                stamina.censored,
                mean(stamina, member.scenarios)
            )
        })
        .collect();
    vec![Block::Text(text), Block::List(items)]
}

/// What the mean of stamina is a mean of, and up to which turn.
fn first_sentence(tau: u32) -> String {
    let horizon =
        if tau == 1 { "the first turn counts".to_owned() } else { format!("the first {tau} turns count") };
    format!(
        "How long coding agents last: mean stamina is the mean number of turns per episode before the first that is not passed. Of each episode {horizon}."
    )
}

/// Whether the settings leave the runs comparable.
pub(super) fn comparability(data: &Comparison) -> String {
    match data.comparability {
        Comparability::NoEffect => "No setting that is known to differ has an effect on stamina.".to_owned(),
        Comparability::CannotBeRuledOut => {
            "Some settings differ, or may differ (unknown), in ways that may affect stamina.".to_owned()
        }
        Comparability::NotComparable => {
            "Settings differ so that the numbers of these runs must not be compared.".to_owned()
        }
    }
}

/// The log-rank tests over all.
pub(super) fn overall(data: &Comparison) -> String {
    let test_text = |test: &crate::api::ChiSquare| {
        format!("χ² = {:.2}, df = {}, {}", test.chi2, test.df, p_value(Some(test.p)))
    };
    let mut text = match &data.overall {
        Some(test) => format!("Log-rank test over all runs: {}.", test_text(test)),
        None => format!(
            "There is no log-rank test over all runs: {}.",
            data.no_overall.as_deref().unwrap_or("it is not defined")
        ),
    };
    let unit = if data.of_one_turn { "task" } else { "scenario" };
    match &data.overall_stratified {
        Some(test) => text.push_str(&format!(" Stratified by {unit}: {}.", test_text(test))),
        // Where the plain one is missing for the same reason, that is said already.
        None if data.no_overall_stratified != data.no_overall => text.push_str(&format!(
            " There is none stratified by {unit}: {}.",
            data.no_overall_stratified.as_deref().unwrap_or("it is not defined")
        )),
        None => {}
    }
    if data.overall_clustered {
        let repeats = if data.of_one_turn { "trials of a task" } else { "episodes of a scenario" };
        text.push_str(&format!(
            " Some runs have several {repeats}, which are alike: the log-rank tests are clustered by it."
        ));
    }
    text
}

/// Said where no source counts the attempts that the endpoint cost.
pub(super) const ENDPOINT_NOT_COUNTED: &str = "How many attempts were retried for the model's endpoint, or lost to it, is unknown: no source of these runs counts them.";

/// What failed attempts there are, and how long repair takes. `not_passed` says how many did not pass.
pub(super) fn failures(data: &Failures, not_passed: String, is_single_turn: bool) -> String {
    let repair = &data.repair;
    let scope = if is_single_turn { "every attempt" } else { "every attempt at every turn" };
    let mut text = format!("Of {scope}: {not_passed}");
    // Over every attempt, also where no end counts as a failure.
    if repair.failed_first > 0 && (!is_single_turn || repair.tried_again > 0) {
        text.push_str(&format!(" {}", turn_repairs(repair, is_single_turn)));
    }
    if data.attempts > 0 {
        text.push_str(&format!(
            " The source describes {} and only counts {} more.",
            counted(data.tests.into(), "failing test"),
            data.not_described
        ));
        if !is_single_turn {
            text.push_str(" Classes are of the attempts that ended an episode's stamina alone.");
        }
    }
    text
}

/// Everything that a reader must know.
pub(super) fn cautions(data: &Comparison, retries: &Retries) -> Vec<String> {
    let mut out: Vec<String> = cautions_without_published(&data.cautions).collect();
    let caveats = grouped(&data.members, |member| member.caveats.iter());
    out.extend(caveats.into_iter().map(|sentence| format!("{sentence}.")));
    if retries.series.iter().any(|s| s.points.len() > 1) {
        out.extend(retries.cautions.iter().cloned());
    }
    let mut seen_notes = std::collections::BTreeSet::new();
    out.retain(|sentence| seen_notes.insert(sentence.clone()));
    out
}

/// How the numbers were made.
pub(super) fn method(data: &Comparison, policy: &PolicyTable) -> Vec<Block> {
    let mut items = if data.of_one_turn {
        vec![
            "Pass rates: trials that passed / scored trials, with Wilson's 95 % interval. Where tasks have several trials, it is over the number of independent trials that these are worth. That number is by the cluster-robust variance over tasks and Student's t.".to_owned(),
            "pass@k and pass^k: the unbiased estimators 1 − C(n − c, k) / C(n, k) and C(c, k) / C(n, k). They are means over tasks, with 95 % intervals from the variance between tasks.".to_owned(),
            "Differences between two runs: of pass rates, unpaired, with Newcombe's interval. Log-rank tests, over one turn tests of two proportions, are corrected by Holm over the pairs of the table. Paired tests compare tasks that both played.".to_owned(),
        ]
    } else {
        let mut items = vec![
            "Survival: Kaplan–Meier over turns; an episode fails at its first turn not passed. Bands: Greenwood's variance on the log(−log S) scale, 95 %.".to_owned(),
        ];
        // Where nobody was at risk there is no mean.
        if let Some(tau) = data.tau {
            items.push(format!(
                "Mean stamina: the restricted mean, the sum of S(t) over turns 1 to {tau}, with {}.",
                interval_of_means(data.members.iter().map(|member| &member.stamina))
            ));
        }
        items.push(
            "Differences between two runs: of restricted means, unpaired. Log-rank tests are corrected by Holm over the pairs of the table. Paired tests compare scenarios that both played.".to_owned(),
        );
        items
    };
    items.extend([
        format!(
            "Failed attempts are classified by rules, each by its primary class. Shares have Wilson's 95 % interval, clustered by {} where several failures are of one.",
            if data.of_one_turn { "task" } else { "scenario" }
        ),
        format!("Resampling uses the seed {}.", data.seed),
    ]);
    let changed: Vec<String> = policy
        .rows
        .iter()
        .filter(|row| row.ending != row.default_ending)
        .map(|row| {
            let manner = match row.ending {
                model::Ending::Event => "counts as a failure",
                model::Ending::Censored if data.of_one_turn => "is not scored",
                model::Ending::Censored => "counts as censored",
            };
            format!("{} {manner}", row.label)
        })
        .chain(moved_rows(policy).map(|moved| format!("exceptions by the row {moved}")))
        .collect();
    items.push(if changed.is_empty() {
        let outside = if data.of_one_turn { "not scored" } else { "censored" };
        format!("Censoring policy: {}. Whatever the agent could have caused is a failure; what came from outside is {outside}.", policy.name)
    } else {
        format!("Censoring policy: {}; unlike the default, {}.", policy.name, changed.join("; "))
    });
    items.push("Every number is defined in docs/metrics.md of the software.".to_owned());
    vec![Block::List(items)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It was called a number of requests, which is the stamina of one episode and not the mean of several.
    #[test]
    fn the_first_sentence_says_of_what_the_mean_is() {
        let sentence = first_sentence(12);
        assert!(sentence.contains("mean stamina is the mean number of turns per episode"), "{sentence}");
        assert!(sentence.ends_with("Of each episode the first 12 turns count."), "{sentence}");
    }

    #[test]
    fn a_mean_over_one_episode_says_that_there_is_one() {
        let words = |n, scenarios| mean(&Stamina { mean: Some(3.0), n, ..Stamina::default() }, scenarios);
        assert_eq!(words(1, 1), "3.00 turns (no interval: one episode)");
        assert_eq!(words(2, 1), "3.00 turns (no interval: one scenario)");
        assert_eq!(words(2, 2), "3.00 turns (no interval: no variation)");
    }
}
