//! Comparing runs, or groups of runs: what differs in their settings, survival, tests.

pub(crate) mod disagreements;
mod facts;
pub(crate) mod horizon;
mod keys;
pub(crate) mod members;
mod rules;
pub(crate) mod sets;
pub(crate) mod settings;
mod spent;
pub(crate) mod tests_of;

use std::sync::Arc;

use analysis::clusters::{InScenario, observations};
use analysis::compare::{CompareOptions, ComparedRun, RunStamina};
use analysis::logrank::stratified_log_rank;
use analysis::sensitivity::{Sensitivity, sensitivity};
use analysis::survival::{StaminaSummary, SurvivalPoint, kaplan_meier};
use model::{CensoringPolicy, EndReason, Ending};
use store::Play;

use crate::Workbench;
use crate::api::{
    self, ApiError, Comparability, CompareRequest, ComparedMember, Comparison, Pairs, Stamina, SurvivalRow,
};
use horizon::Horizon;
use members::Pool;

/// Fewer episodes than this get a caution.
const FEW: u32 = 10;

impl Workbench {
    /// Compares runs, or groups of runs.
    pub fn compare_runs(&self, request: CompareRequest) -> Result<Comparison, ApiError> {
        Ok((*self.comparison(&request)?).clone())
    }

    /// The same, remembered until something changes in the library: a page asks for it, and each of its figures does.
    pub(crate) fn comparison(&self, request: &CompareRequest) -> Result<Arc<Comparison>, ApiError> {
        let change = self.store.last_change()?;
        self.memory.comparisons.get(change, request, || self.compare(request))
    }

    fn compare(&self, request: &CompareRequest) -> Result<Comparison, ApiError> {
        if request.members.is_empty() {
            return Err(ApiError::new("compare.nothing", "There is nothing to compare")
                .hint("Name one run or more, or a group of runs"));
        }
        let reference = request.reference as usize;
        if reference >= request.members.len() {
            return Err(ApiError::new("compare.no_reference", "The reference is none of the members")
                .hint(format!("Its index goes from 0 to {}", request.members.len() - 1)));
        }
        self.refresh_summaries()?;
        let policy = self.store.get_policy()?;
        let pools = members::resolve(&self.store, &request.members)?;
        let episodes: Vec<Vec<InScenario>> = pools.iter().map(|pool| pool.in_scenarios(&policy)).collect();
        let planned: Vec<Option<u32>> = pools.iter().map(Pool::planned).collect();
        let horizon = Horizon::of(&episodes, &planned);
        let known = horizon.tau;
        if let Some(tau) = request.tau.filter(|tau| *tau == 0 || *tau > known) {
            return Err(ApiError::new(
                "compare.tau",
                format!("The curves of all members are known to turn {known}, and not for a τ of {tau}"),
            )
            .hint(format!("Ask for a τ from 1 to {known}, or for none to have {known}")));
        }
        let options = CompareOptions {
            pairs: match request.pairs {
                Pairs::Reference => analysis::compare::Pairs::Baseline(reference),
                Pairs::All => analysis::compare::Pairs::All,
            },
            tau: request.tau,
            ..CompareOptions::default()
        };
        let runs: Vec<ComparedRun<'_>> = episodes
            .iter()
            .zip(&planned)
            .map(|(episodes, planned)| ComparedRun { episodes, planned: *planned })
            .collect();
        let mut compared = analysis::compare::compare(&runs, options);
        let in_both: Vec<u32> =
            compared.pairs.iter().map(|p| members::in_both(&pools[p.a], &pools[p.b])).collect();
        leave_out(&mut compared, &in_both);
        let overlaps = members::overlaps(&pools);
        let apart = overlaps.is_empty();
        let turns = pools.iter().map(Pool::turns).max().unwrap_or(0);

        let settings = settings::compare(&pools, reference);
        let comparability =
            settings.differences.iter().map(|d| d.comparability).max().unwrap_or(Comparability::NoEffect);
        let shared = facts::shared(&pools.iter().map(Pool::scenarios).collect::<Vec<_>>()).len() as u32;
        let mut compared_members = Vec::new();
        for ((pool, of_run), episodes) in pools.iter().zip(&compared.runs).zip(&episodes) {
            let plays = pool
                .runs
                .iter()
                .map(|run| self.store.plays(run.record.entry.id))
                .collect::<Result<Vec<_>, _>>()?;
            let sensitivity = sensitivity(&pool.ended(), &policy, compared.tau);
            let survival = kaplan_meier(&observations(episodes), turns);
            let mut member = member(pool, of_run, survival, &sensitivity, &plays, &policy);
            for run in &pool.runs {
                member.caveats.extend(self.caveats(&run.record)?);
            }
            member.caveats.dedup();
            compared_members.push(member);
        }
        spent::mark_pareto(&mut compared_members);
        let groups: Vec<&[InScenario]> = episodes.iter().map(Vec::as_slice).collect();
        let overall_stratified = (shared > 1 && apart).then(|| stratified_log_rank(&groups)).flatten();
        let mut comparison = Comparison {
            members: compared_members,
            reference: request.reference,
            tau: compared.tau,
            turns,
            shared_scenarios: shared,
            differences: settings.differences,
            equal: settings.equal,
            comparability,
            pairs: compared.pairs.iter().zip(&in_both).map(|(pair, n)| tests_of::pair(pair, *n)).collect(),
            overlaps,
            overall: compared.overall.as_ref().filter(|_| apart).and_then(tests_of::chi_square),
            no_overall: None,
            overall_stratified: overall_stratified.as_ref().and_then(tests_of::chi_square),
            no_overall_stratified: None,
            cautions: Vec::new(),
            published_benchmark: members::published(&pools, "benchmark"),
            published_cost: members::published(&pools, "cost"),
            policy: policy.name().to_owned(),
            seed: options.resampling.seed,
        };
        (comparison.no_overall, comparison.no_overall_stratified) = tests_of::untested(&comparison);
        comparison.cautions = cautions(&comparison, &pools, &policy);
        if request.tau.is_none() {
            let names: Vec<String> = comparison.members.iter().map(ComparedMember::marked).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            comparison.cautions.extend(horizon.in_words(&names));
        }
        Ok(comparison)
    }
}

/// Takes away what is said of pairs that have runs in common: tests and intervals take the two for independent. Holm's
/// correction is over the others.
fn leave_out(compared: &mut analysis::compare::Comparison, in_both: &[u32]) {
    for (pair, _) in compared.pairs.iter_mut().zip(in_both).filter(|(_, n)| **n > 0) {
        *pair = analysis::compare::Pair {
            a: pair.a,
            b: pair.b,
            logrank: None,
            p_holm: None,
            stratified: None,
            permutation: None,
            difference: None,
            difference_bootstrap: None,
            ratio: None,
            paired: None,
        };
    }
    if in_both.iter().any(|n| *n > 0) {
        let p_values: Vec<Option<f64>> =
            compared.pairs.iter().map(|pair| pair.logrank.as_ref().map(|test| test.p)).collect();
        for (pair, p) in compared.pairs.iter_mut().zip(analysis::holm::holm(&p_values)) {
            pair.p_holm = p;
        }
    }
}

/// Stamina as the edge has it.
pub(crate) fn stamina(summary: &StaminaSummary) -> Stamina {
    Stamina {
        mean: summary.restricted_mean.mean,
        ci_low: summary.restricted_mean.ci_low,
        ci_high: summary.restricted_mean.ci_high,
        tau: summary.restricted_mean.tau,
        n: summary.n,
        events: summary.events,
        censored: summary.censored,
        median: summary.median,
    }
}

/// A row of a survival table as the edge has it.
pub(crate) fn survival_row(point: SurvivalPoint) -> SurvivalRow {
    SurvivalRow {
        turn: point.turn,
        at_risk: point.at_risk,
        events: point.events,
        censored: point.censored,
        survival: point.survival,
        ci_low: point.ci_low,
        ci_high: point.ci_high,
    }
}

fn member(
    pool: &Pool,
    of_run: &RunStamina,
    survival: Vec<SurvivalPoint>,
    sensitivity: &Sensitivity,
    plays: &[Vec<Play>],
    policy: &CensoringPolicy,
) -> ComparedMember {
    let n = pool.episodes().count();
    let tau = of_run.summary.restricted_mean.tau;
    let early = pool
        .episodes()
        .filter(|e| e.end_reason != EndReason::PassedAll && e.stamina < tau)
        .filter(|e| policy.ending(e.end_reason) == Ending::Censored)
        .count();
    let benchmark = pool.benchmark();
    let entries = || pool.runs.iter().map(|run| &run.record.entry);
    let scores: Option<Vec<f64>> =
        entries().map(|run| run.summary.as_ref().and_then(|summary| summary.score)).collect();
    ComparedMember {
        member: pool.member.clone(),
        id: pool.id.clone(),
        name: pool.name.clone(),
        full_name: pool.full_name(),
        runs: entries().map(|run| run.slug.clone()).collect(),
        harness: pool.harness().map(str::to_owned),
        model: pool.model().map(str::to_owned),
        benchmark: (benchmark.key, benchmark.name),
        simulated: pool.simulated(),
        baseline: entries().find_map(|run| run.baseline).map(|b| b.as_str().to_owned()),
        swatch: pool.swatch,
        scenarios: pool.scenarios().len() as u32,
        stamina: stamina(&of_run.summary),
        stamina_bootstrap: of_run.bootstrap.and_then(|b| b.ci_low.zip(b.ci_high)),
        censored_failed: stamina(&sensitivity.censored_failed),
        censored_dropped: stamina(&sensitivity.censored_dropped),
        early_censored: if n == 0 { 0.0 } else { early as f64 / n as f64 },
        survival: survival.into_iter().map(survival_row).collect(),
        score: scores
            .filter(|scores| !scores.is_empty())
            .map(|scores| scores.iter().sum::<f64>() / scores.len() as f64),
        spent: spent::spent(pool, plays, policy),
        caveats: caveats(pool),
    }
}

/// What a reader must know of one member.
fn caveats(pool: &Pool) -> Vec<String> {
    let mut caveats = Vec::new();
    for run in &pool.runs {
        let entry = &run.record.entry;
        if let Some(partial) = entry.summary.as_ref().and_then(|s| s.partial.as_ref()) {
            caveats.push(if pool.runs.len() == 1 {
                partial.clone()
            } else {
                format!("{}: {partial}", entry.slug)
            });
        }
        match entry.warnings {
            0 => {}
            1 => caveats.push(format!("1 import warning in {}", entry.slug)),
            n => caveats.push(format!("{n} import warnings in {}", entry.slug)),
        }
    }
    match pool.left_out {
        0 => {}
        1 => caveats.push("1 baseline or simulated run is left out of this group".to_owned()),
        n => caveats.push(format!("{n} baseline or simulated runs are left out of this group")),
    }
    caveats
}

/// What a reader must know of the whole page.
fn cautions(comparison: &Comparison, pools: &[Pool], policy: &CensoringPolicy) -> Vec<String> {
    let mut cautions = Vec::new();
    let list = |names: Vec<&str>| match names.as_slice() {
        [one] => (*one).to_owned(),
        [first @ .., last] if names.len() <= 3 => format!("{} and {last}", first.join(", ")),
        _ => format!("{} members", names.len()),
    };
    let who = |wanted: &dyn Fn(&ComparedMember) -> bool| -> Vec<&str> {
        comparison.members.iter().filter(|m| wanted(m)).map(|m| m.name.as_str()).collect()
    };
    let mut say = |names: Vec<&str>, sentence: &dyn Fn(String) -> String| {
        if !names.is_empty() {
            cautions.push(sentence(list(names)));
        }
    };
    say(who(&|m| m.stamina.n == 0), &|names| format!("{names}: no episodes."));
    say(who(&|m| m.early_censored > 0.1), &|names| {
        format!(
            "{names}: more than a tenth of the episodes were stopped from outside before turn {}. Their mean rests on the others; look at it with censored episodes counted as failed.",
            comparison.tau
        )
    });
    say(who(&|m| m.stamina.n > 0 && m.stamina.n < FEW), &|names| {
        format!(
            "{names}: fewer than {FEW} episodes. Intervals are wide, and p-values of the log-rank test rough."
        )
    });
    say(who(&|m| m.stamina.n > m.scenarios), &|names| {
        format!(
            "{names}: several episodes of a scenario. They are alike, so plain intervals are too narrow; those by bootstrap draw whole scenarios."
        )
    });
    // What went on after a failure costs and buys no stamina: beside runs that stop there it looks dear.
    let goes_on =
        |m: &ComparedMember| m.spent.turns_after_failure > 0 && m.spent.cost_per_survived_turn.is_some();
    let sum = |of: fn(&api::Spent) -> u32| -> u32 {
        comparison.members.iter().filter(|m| goes_on(m)).map(|m| of(&m.spent)).sum()
    };
    let (after, all) = (sum(|s| s.turns_after_failure), sum(|s| s.turns_played));
    say(who(&goes_on), &|names| {
        format!(
            "{names}: {after} of {all} turns played came after an episode's first failure. Cost per survived turn includes them."
        )
    });
    if goes_on_differs(comparison) {
        cautions.push(
            "Some members stop at a failed turn and others go on: score, tokens, cost and time count the turns after it, so only stamina is compared on equal terms."
                .to_owned(),
        );
    }
    let mut say = |names: Vec<&str>, sentence: &dyn Fn(String) -> String| {
        if !names.is_empty() {
            cautions.push(sentence(list(names)));
        }
    };
    say(who(&|m| m.simulated), &|names| format!("{names}: a scripted model stood in for a real one."));
    for overlap in &comparison.overlaps {
        cautions.push(format!(
            "{}: nothing is tested between these two, nor over all members.",
            tests_of::in_common(comparison, *overlap)
        ));
    }
    let twice = twice(pools);
    if let Some((a, b)) = twice {
        cautions.push(format!("{a} and {b} look like the same results opened twice."));
    }
    if policy.name() != "default" {
        cautions.push("End reasons are counted by a custom policy.".to_owned());
    }
    cautions.extend(shorter(comparison));
    if comparison.members.len() > 1 && comparison.shared_scenarios == 0 {
        cautions.push("No scenario is shared by all members: nothing is paired over all of them.".to_owned());
    }
    cautions
}

/// Whether members differ in what they do after a failed turn.
pub(crate) fn goes_on_differs(comparison: &Comparison) -> bool {
    comparison.differences.iter().any(|d| {
        let known: Vec<&String> = d.values.iter().flatten().collect();
        d.setting == rules::AFTER_FAILURE && known.iter().any(|value| *value != known[0])
    })
}

/// The pairs whose shared scenarios do not say as much as the comparison: their paired numbers have a τ of their own.
pub(crate) fn shorter(comparison: &Comparison) -> Option<String> {
    let name = |index: u32| comparison.members.get(index as usize).map_or("", |member| member.name.as_str());
    let of = |pair: &api::ComparedPair| {
        let paired = pair.paired.as_ref().filter(|paired| paired.tau < comparison.tau)?;
        Some(format!("{} and {} (τ = {})", name(pair.a), name(pair.b), paired.tau))
    };
    let pairs: Vec<String> = comparison.pairs.iter().filter_map(of).collect();
    (!pairs.is_empty()).then(|| {
        format!(
            "On the scenarios that both played stamina is known to fewer than {} turns for {}: paired numbers are over these.",
            comparison.tau,
            pairs.join(", ")
        )
    })
}

/// Two runs with the same key, start and episodes.
fn twice(pools: &[Pool]) -> Option<(&str, &str)> {
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
