//! Comparing runs, or groups of runs: what differs in their settings, survival, tests.

mod cautions;
mod copied_episodes;
pub(crate) mod copies;
mod counted_scores;
pub(crate) mod coverage;
pub(crate) mod disagreements;
pub(crate) mod doubts;
pub(crate) mod horizon;
mod keys;
pub(crate) mod members;
mod missing_tests;
mod names;
pub(crate) mod pair_tests;
mod pool;
mod rules;
mod run_facts;
mod series_styles;
pub(crate) mod sets;
mod setting_line;
pub(crate) mod settings;
mod spent;

use std::collections::BTreeSet;
use std::sync::Arc;

use analysis::band::kaplan_meier_by_scenario;
use analysis::bootstrap::{Resampling, bootstrap_mean};
use analysis::clusters::InScenario;
use analysis::compare::{CompareOptions, ComparedRun, RunStamina};
use analysis::logrank::stratified_log_rank;
use analysis::pass_rate::pass_rate;
use analysis::sensitivity::{Sensitivity, sensitivity};
use analysis::survival::{Observation, SurvivalPoint, known_horizon};
use model::{CensoringPolicy, Ending, by_sentence, counted};
use store::{EpisodeEntry, EpisodeTurns};

use crate::Workbench;
use crate::api::{
    ApiError, Comparability, CompareRequest, ComparedMember, Comparison, Member, Pairs, Stamina, SurvivalRow,
};
use crate::episodes::{early_censored, episode_noun, grades_turns, stopped_from_outside};
use crate::rounds;
use crate::stamina_for_hosts::stamina_of;
use crate::undeclared_turns::doubts_about_turns;
use crate::unrecognized_ends::sensitivity_line;
pub(crate) use cautions::{continuation_differs, in_common, shorter};
use copies::RunsInCommon;
use doubts::Part;
use horizon::Horizon;
use members::Pool;

impl Workbench {
    /// Compares runs, or groups of runs.
    pub fn compare_runs(&self, request: CompareRequest) -> Result<Comparison, ApiError> {
        Ok((*self.comparison(&request)?).clone())
    }

    /// The same, remembered until something changes in the library: a page asks for it, and each of its figures does.
    pub(crate) fn comparison(&self, request: &CompareRequest) -> Result<Arc<Comparison>, ApiError> {
        let change = self.store.last_change()?;
        self.cache.comparisons.get(change, request, || self.compare(request))
    }

    /// What a reader must know of the runs of a member. A sentence that is not of all of them names its runs.
    fn caveats_of_runs(&self, pool: &Pool) -> Result<Vec<String>, ApiError> {
        let is_group = !matches!(pool.member, Member::Run { .. });
        let mut each = Vec::new();
        for run in &pool.runs {
            let slug = run.record.entry.slug.as_str();
            let caveats = self.caveats(&run.record, is_group)?;
            each.extend(caveats.into_iter().map(|sentence| (sentence, slug)));
        }
        let named = |(sentence, runs): (String, Vec<&str>)| match &runs[..] {
            all if all.len() == pool.runs.len() => sentence,
            [one] => format!("{one}: {sentence}"),
            [one, rest @ ..] => format!("{one} and {}: {sentence}", counted(rest.len() as u64, "more run")),
            [] => sentence,
        };
        Ok(by_sentence(each).into_iter().map(named).collect())
    }

    fn compare(&self, request: &CompareRequest) -> Result<Comparison, ApiError> {
        if request.members.is_empty() {
            return Err(ApiError::new("compare.nothing", "There is nothing to compare")
                .hint("Name one run or more, or a group of runs"));
        }
        let reference = request.reference as usize;
        if reference >= request.members.len() {
            return Err(ApiError::new("compare.no_reference", "The reference is not one of the members")
                .hint(format!("Its index goes from 0 to {}", request.members.len() - 1)));
        }
        self.refresh_summaries()?;
        let policy = self.store.get_policy()?;
        let pools = members::resolve(&self.store, &request.members)?;
        let episodes: Vec<Vec<InScenario>> = pools.iter().map(|pool| pool.in_scenarios(&policy)).collect();
        let planned: Vec<Option<u32>> = pools.iter().map(Pool::planned).collect();
        let horizon = Horizon::new(&episodes, &planned);
        let known = horizon.tau;
        if let Some(tau) = request.tau.filter(|tau| *tau == 0 || *tau > known) {
            return Err(ApiError::new(
                "compare.tau",
                format!("The curves of all members are known to turn {known}, and not for a τ of {tau}"),
            )
            .hint(horizon::hint(known)));
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
        let common = RunsInCommon::read(&self.store, &pools)?;
        let in_both: Vec<u32> =
            compared.pairs.iter().map(|p| common.in_both(&pools[p.a], &pools[p.b])).collect();
        leave_out(&mut compared, &in_both);
        let tau = known_horizon(compared.tau);
        let overlaps = common.overlaps(&pools);
        let apart = overlaps.is_empty();
        let turns = pools.iter().map(Pool::turns).max().unwrap_or(0);

        let mut settings = settings::compare(&pools, reference);
        let comparability =
            settings.differences.iter().map(|d| d.comparability).max().unwrap_or(Comparability::NoEffect);
        let shared = run_facts::shared(&pools.iter().map(Pool::scenarios).collect::<Vec<_>>()).len() as u32;
        if !apart
            && pools.len() == 2
            && run_facts::shared(&pools.iter().map(Pool::all_scenarios).collect::<Vec<_>>()).is_empty()
        {
            run_facts::share_no_name(&mut settings.differences);
        }
        let is_single_turn = members::all_of_one_turn(&pools);
        let mut compared_members = Vec::new();
        for ((pool, of_run), episodes) in pools.iter().zip(&compared.runs).zip(&episodes) {
            let plays =
                pool.runs.iter().map(|run| run.episode_turns(&self.store)).collect::<Result<Vec<_>, _>>()?;
            let sensitivity = sensitivity(&pool.episode_ends(), &policy, compared.tau);
            let survival = kaplan_meier_by_scenario(episodes, turns);
            let mut member = member(pool, episodes, of_run, survival, &sensitivity, &plays, &policy);
            if is_single_turn && member.pass_rate.is_none() {
                member.pass_rate = Some(pass_rate(episodes));
            }
            (member.doubts, member.doubt_of_cost) = doubts::member_doubts(pool, &member, &policy);
            member.doubts.extend(doubts_about_turns(pool.scored()));
            let pooled: Vec<&EpisodeEntry> = pool.episodes().collect();
            let one_turn = member.pass_rate.is_some();
            let line = sensitivity_line(&pooled, episodes, tau, one_turn, &policy);
            member.caveats.extend(line);
            member.caveats.extend(self.caveats_of_runs(pool)?);
            compared_members.push(member);
        }
        spent::mark_pareto(&mut compared_members);
        let groups: Vec<&[InScenario]> = episodes.iter().map(Vec::as_slice).collect();
        let overall_stratified = (shared > 1 && apart).then(|| stratified_log_rank(&groups)).flatten();
        let mut comparison = Comparison {
            members: compared_members,
            reference: request.reference,
            of_one_turn: is_single_turn,
            tau,
            turns,
            shared_scenarios: shared,
            differences: settings.differences,
            equal: settings.equal,
            comparability,
            pairs: compared.pairs.iter().zip(&in_both).map(|(pair, n)| pair_tests::pair(pair, *n)).collect(),
            overlaps,
            overall: compared.overall.as_ref().filter(|_| apart).and_then(pair_tests::chi_square),
            overall_clustered: compared.clustered,
            no_overall: None,
            overall_stratified: overall_stratified.as_ref().and_then(pair_tests::chi_square),
            no_overall_stratified: None,
            cautions: Vec::new(),
            published_benchmark: members::published(&pools, "benchmark"),
            published_cost: members::published(&pools, "cost"),
            published_scores: members::published_scores(&pools),
            policy: policy.name().to_owned(),
            seed: options.resampling.seed,
        };
        pair_tests::compare_pass_rates(&mut comparison);
        (comparison.no_overall, comparison.no_overall_stratified) =
            missing_tests::missing_test_reasons(&comparison, &groups);
        comparison.cautions = cautions::list(&comparison, &pools, &policy);
        comparison.cautions.extend(copies::undecided_between(&self.store, &pools)?);
        if !comparison.published_scores.is_empty() {
            comparison.cautions.push(rounds::PAPER.to_owned());
        }
        if request.tau.is_none() {
            let names: Vec<String> = comparison.members.iter().map(ComparedMember::marked).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let noun = if pools.iter().all(|pool| pool.runs.len() == 1) { "run" } else { "member" };
            comparison.cautions.extend(horizon.in_words(&names, noun));
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
            clustered: pair.clustered,
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

/// The other readings of a member, each with the interval that fits its episodes: censored → failed, censored → dropped.
fn other_readings(
    pool: &Pool,
    episodes: &[InScenario],
    sensitivity: &Sensitivity,
    tau: Option<u32>,
    policy: &CensoringPolicy,
) -> [Stamina; 2] {
    let each = || pool.episodes().zip(episodes);
    let failed: Vec<InScenario> = each()
        .map(|(episode, read)| {
            let ending =
                if stopped_from_outside(episode, policy) { Ending::Event } else { read.observation.ending };
            InScenario { observation: Observation { ending, ..read.observation }, ..read.clone() }
        })
        .collect();
    let dropped: Vec<InScenario> = each()
        .filter(|(episode, _)| !stopped_from_outside(episode, policy))
        .map(|(_, read)| read.clone())
        .collect();
    [(&sensitivity.censored_failed, failed), (&sensitivity.censored_dropped, dropped)].map(
        |(summary, read)| stamina_of(summary, &read, || bootstrap_mean(&read, tau?, Resampling::default())),
    )
}

/// A row of a survival table as the edge has it.
pub(crate) fn survival_row(point: SurvivalPoint) -> SurvivalRow {
    SurvivalRow {
        turn: point.turn,
        at_risk: point.at_risk,
        events: point.events,
        censored: point.censored,
        survival: point.known(),
        ci_low: point.ci_low,
        ci_high: point.ci_high,
    }
}

fn member(
    pool: &Pool,
    episodes: &[InScenario],
    run_stamina: &RunStamina,
    survival: Vec<SurvivalPoint>,
    sensitivity: &Sensitivity,
    plays: &[Vec<EpisodeTurns>],
    policy: &CensoringPolicy,
) -> ComparedMember {
    let tau = run_stamina.summary.restricted_mean.tau;
    let [censored_failed, censored_dropped] = other_readings(pool, episodes, sensitivity, tau, policy);
    let benchmark = pool.benchmark();
    let entries = || pool.runs.iter().map(|run| &run.record.entry);
    let scores: Option<Vec<f64>> =
        pool.scored().map(|run| run.summary.as_ref().and_then(|summary| summary.score)).collect();
    ComparedMember {
        member: pool.member.clone(),
        id: pool.id.clone(),
        name: pool.name.clone(),
        short_name: pool.short_name.clone(),
        full_name: pool.full_name(),
        runs: entries().map(|run| run.slug.clone()).collect(),
        harness: pool.harness().map(str::to_owned),
        model: pool.model().map(str::to_owned),
        benchmark: (benchmark.key, benchmark.name),
        simulated: pool.simulated(),
        baseline: entries().find_map(|run| run.baseline).map(|b| b.as_str().to_owned()),
        style: pool.style,
        scenarios: episodes.iter().map(|e| e.scenario.as_str()).collect::<BTreeSet<_>>().len() as u32,
        stamina: stamina_of(&run_stamina.summary, episodes, || run_stamina.bootstrap),
        pass_rate: pool.is_single_turn().then(|| pass_rate(episodes)),
        stamina_bootstrap: run_stamina.bootstrap.and_then(|b| b.ci_low.zip(b.ci_high)),
        censored_failed,
        censored_dropped,
        early_censored: early_censored(pool.episodes(), tau, policy),
        survival: survival.into_iter().map(survival_row).collect(),
        score: scores
            .filter(|scores| !scores.is_empty())
            .map(|scores| scores.iter().sum::<f64>() / scores.len() as f64),
        grades_turns: pool.runs.iter().all(|run| grades_turns(&run.record)),
        scores: rounds::turn_scores(pool.scored()),
        spent: spent::spent(pool, plays, policy),
        caveats: caveats(pool),
        doubts: Vec::new(),
        doubt_of_cost: None,
    }
}

/// What a reader must know of one member.
fn caveats(pool: &Pool) -> Vec<String> {
    let mut caveats = Vec::new();
    let noun = episode_noun(pool.is_single_turn());
    for (run, missing) in coverage::missing(&Part::from_pools([pool]), noun) {
        // In the words of the doubt: what is both is said once.
        caveats.push(if pool.runs.len() == 1 { missing } else { format!("{missing} of {run}") });
    }
    for run in &pool.runs {
        let entry = &run.record.entry;
        let run_name = (pool.runs.len() > 1).then_some(entry.slug.as_str());
        caveats.extend(import_warnings(entry.severities.warnings, run_name));
    }
    caveats.extend(pool.copied.iter().cloned());
    caveats.extend(pool.left_out.iter().cloned());
    caveats
}

/// What the warnings of its import mean for the numbers of a run, which is named where its member has several.
fn import_warnings(number: u64, run_name: Option<&str>) -> Option<String> {
    let place = run_name.map_or_else(String::new, |run| format!(" in {run}"));
    (number > 0)
        .then(|| format!("{}{place}, so that a number may be wrong", counted(number, "import warning")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn import_warnings_are_said_by_what_they_mean() {
        assert_eq!(import_warnings(0, None), None);
        assert_eq!(import_warnings(1, None).unwrap(), "1 import warning, so that a number may be wrong");
        let sentence = import_warnings(17, Some("jobs.a")).unwrap();
        assert_eq!(sentence, "17 import warnings in jobs.a, so that a number may be wrong");
    }
}
