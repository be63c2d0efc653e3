//! What a reader of a comparison must know before its numbers.

use model::{CensoringPolicy, counted};

use super::doubts::MUCH_CENSORED;
use super::members::Pool;
use super::{pair_tests, rules};
use crate::api::{self, ComparedMember, Comparison};

/// Fewer episodes than this get a caution.
const FEW: u32 = 10;

/// What a reader must know of the whole page.
pub(super) fn list(comparison: &Comparison, pools: &[Pool], policy: &CensoringPolicy) -> Vec<String> {
    let mut cautions = Vec::new();
    let list = |names: Vec<&str>| match names.as_slice() {
        [name] => (*name).to_owned(),
        [first @ .., last] if names.len() <= 3 => format!("{} and {last}", first.join(", ")),
        _ => format!("{} members", names.len()),
    };
    let names_where = |wanted: &dyn Fn(&ComparedMember) -> bool| -> Vec<&str> {
        comparison.members.iter().filter(|m| wanted(m)).map(|m| m.name.as_str()).collect()
    };
    let caution = |names: Vec<&str>, sentence: &dyn Fn(String) -> String| {
        (!names.is_empty()).then(|| sentence(list(names)))
    };
    let one_turn = comparison.of_one_turn;
    let none = if one_turn { "no trials" } else { "no episodes" };
    cautions.extend(caution(names_where(&|m| m.stamina.n == 0), &|names| format!("{names}: {none}.")));
    cautions.extend(caution(names_where(&|m| m.stamina.n > 0 && m.stamina.mean.is_none()), &|names| {
        if one_turn {
            return format!("{names}: no trial is scored, so nothing is known of its pass rate.");
        }
        format!("{names}: every episode was stopped from outside before it passed a turn. Nobody was at risk, so nothing is known of how long episodes last.")
    }));
    cautions.extend(caution(names_where(&|m| m.early_censored.is_some_and(|share| share > MUCH_CENSORED)), &|names| {
        if one_turn {
            return format!(
                "{names}: more than a tenth of the trials are not scored, since they were stopped from outside. The pass rate rests on the others; look at it with these counted as failed."
            );
        }
        format!(
            "{names}: more than a tenth of the episodes were stopped from outside before {}. Their mean rests on the others; look at it with censored episodes counted as failed.",
            comparison.early_limit()
        )
    }));
    cautions.extend(caution(names_where(&|m| m.stamina.n > 0 && m.stamina.n < FEW), &|names| {
        let episodes = if one_turn { "trials" } else { "episodes" };
        // One run alone is tested against none.
        let tests =
            if comparison.members.len() > 1 { ", and p-values of the log-rank test rough" } else { "" };
        format!("{names}: fewer than {FEW} {episodes}. Intervals are wide{tests}.")
    }));
    // Only repeats that were at risk depend on each other, and make intervals and tests clustered.
    cautions.extend(caution(names_where(&|m| m.stamina.clustered), &|names| {
        if one_turn {
            return format!(
                "{names}: several trials of a task. They are alike: intervals and log-rank tests are clustered by task."
            );
        }
        format!(
            "{names}: several episodes of a scenario. They are alike: intervals and log-rank tests are clustered by scenario."
        )
    }));
    // What went on after a failure costs and buys no stamina: beside runs that stop there it looks dear.
    let continues_after_failure =
        |m: &ComparedMember| m.spent.turns_after_failure > 0 && m.spent.cost_per_survived_turn.is_some();
    let sum = |figure: fn(&api::Spent) -> u32| -> u32 {
        comparison.members.iter().filter(|m| continues_after_failure(m)).map(|m| figure(&m.spent)).sum()
    };
    let (after, all) = (sum(|s| s.turns_after_failure), sum(|s| s.turns_played));
    cautions.extend(caution(names_where(&continues_after_failure), &|names| {
        format!(
            "{names}: {after} of {} played came after an episode's first failure. Cost per survived turn includes them.",
            counted(all.into(), "turn")
        )
    }));
    if continuation_differs(comparison) {
        cautions.push(
            "Some members stop at a failed turn and others go on. Score, tokens, cost and time count the turns after it, so only stamina is compared on equal terms."
                .to_owned(),
        );
    }
    cautions.extend(caution(names_where(&|m| m.simulated), &|names| {
        format!("{names}: simulated, no real model answered.")
    }));
    cautions.extend(in_common(comparison));
    if let Some((a, b)) = run_in_two_members(pools) {
        cautions.push(format!("{a} and {b} look like the same results opened twice."));
    }
    if policy.name() != "default" {
        cautions.push("End reasons are counted by a custom policy.".to_owned());
    }
    cautions.extend(shorter(comparison));
    if comparison.members.len() > 1 && comparison.shared_scenarios == 0 && shares_none(comparison, pools) {
        let scenario = if one_turn { "task" } else { "scenario" };
        cautions.push(format!("No {scenario} is shared by all members: nothing is paired over all of them."));
    }
    cautions
}

/// The members that have runs, or trials of them, in common: nothing is paired or tested between these.
pub(crate) fn in_common(comparison: &Comparison) -> Vec<String> {
    let sentence = |overlap: &(u32, u32, u32)| {
        let runs_in_both = pair_tests::in_common(comparison, *overlap);
        format!("{runs_in_both}: nothing is tested between these two, nor over all members.")
    };
    comparison.overlaps.iter().map(sentence).collect()
}

/// Whether members that have no trial in common share no scenario. Of the others [`in_common`] says why nothing is paired: a
/// trial that two have is of one scenario, whatever their sources call it.
fn shares_none(comparison: &Comparison, pools: &[Pool]) -> bool {
    if comparison.overlaps.is_empty() {
        return true;
    }
    let overlap = |a: usize, b: usize| {
        let is_of = |(x, y, _): &(u32, u32, u32)| (*x as usize, *y as usize) == (a, b);
        comparison.overlaps.iter().any(is_of)
    };
    let played: Vec<_> = pools.iter().map(Pool::scenarios).collect();
    let mut pairs = (0..played.len()).flat_map(|a| (a + 1..played.len()).map(move |b| (a, b)));
    pairs.any(|(a, b)| !overlap(a, b) && played[a].is_disjoint(&played[b]))
}

/// Whether members differ in what they do after a failed turn.
pub(crate) fn continuation_differs(comparison: &Comparison) -> bool {
    comparison.differences.iter().any(|d| {
        let known: Vec<&String> = d.values.iter().flatten().collect();
        rules::is_after_failure(&d.setting) && known.iter().any(|value| *value != known[0])
    })
}

/// The pairs whose shared scenarios do not say as much as the comparison: their paired numbers have a τ of their own.
pub(crate) fn shorter(comparison: &Comparison) -> Option<String> {
    let whole = comparison.tau?;
    let name = |index: u32| comparison.members.get(index as usize).map_or("", |member| member.name.as_str());
    let value_of = |pair: &api::ComparedPair| {
        let paired = pair.paired.as_ref().filter(|paired| paired.tau < whole)?;
        Some(format!("{} and {} (τ = {})", name(pair.a), name(pair.b), paired.tau))
    };
    let pairs: Vec<String> = comparison.pairs.iter().filter_map(value_of).collect();
    (!pairs.is_empty()).then(|| {
        format!(
            "On the scenarios that both played stamina is known to fewer than {} for {}: paired numbers are over these.",
            counted(whole.into(), "turn"),
            pairs.join(", ")
        )
    })
}

/// Two runs with the same key, start and episodes.
fn run_in_two_members(pools: &[Pool]) -> Option<(&str, &str)> {
    let runs: Vec<_> = pools.iter().flat_map(|pool| &pool.runs).collect();
    runs.iter().enumerate().find_map(|(i, a)| {
        runs[i + 1..].iter().find_map(|b| {
            let (x, y) = (&a.record.entry, &b.record.entry);
            let same = x.slug != y.slug
                && x.key == y.key
                && (&x.model, &x.harness) == (&y.model, &y.harness)
                && x.started_at.is_some()
                && x.started_at == y.started_at
                && a.episodes
                    .iter()
                    .map(|e| (&e.key, &e.cells))
                    .eq(b.episodes.iter().map(|e| (&e.key, &e.cells)));
            same.then_some((x.slug.as_str(), y.slug.as_str()))
        })
    })
}
