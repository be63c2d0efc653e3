//! What makes a mean, a pass rate or a sum less sure than it looks, in a few words each: said where the number stands.

use model::{CensoringPolicy, EndReason, Ending, PassRate, counted};
use store::{EpisodeEntry, RunEntry};

use super::members::{Pool, PooledRun};
use crate::api::{ComparedMember, Stamina};

/// A greater share of episodes that were stopped from outside is said.
pub(crate) const MUCH_CENSORED: f64 = 0.1;

/// A mean stamina or pass rate with what it is made of.
pub(crate) struct Number<'a> {
    /// The members that are taken together.
    pub(crate) pools: Vec<&'a Pool>,
    /// Their mean stamina.
    pub(crate) stamina: &'a Stamina,
    /// Their pass rate, where that is shown.
    pub(crate) pass_rate: Option<&'a PassRate>,
    /// Share of their episodes that were stopped from outside before τ.
    pub(crate) early_censored: Option<f64>,
}

impl Number<'_> {
    /// What makes it less sure.
    pub(crate) fn doubts(&self, policy: &CensoringPolicy) -> Vec<String> {
        let mut doubts = self.coverage();
        doubts.extend(self.stopped());
        doubts.extend(self.repeats().map(str::to_owned));
        doubts.extend(self.refused_alike());
        let unrecognised = (self.pools.iter().flat_map(|pool| pool.episodes()))
            .filter(|e| e.unrecognised && policy.ending(e.end_reason) == Ending::Event)
            .count();
        if unrecognised > 0 {
            doubts.push(format!(
                "{} with a cause that is not recognised, counted as failed",
                counted(unrecognised as u64, "end")
            ));
        }
        doubts
    }

    /// Which of the runs are there in part: `35 of 89 episodes`.
    fn coverage(&self) -> Vec<String> {
        let entries: Vec<&RunEntry> =
            self.pools.iter().flat_map(|pool| &pool.runs).map(|run| &run.record.entry).collect();
        let partial = |entry: &&RunEntry| {
            let partial = entry.summary.as_ref()?.partial.as_ref()?;
            Some(if entries.len() == 1 { partial.clone() } else { format!("{partial} of {}", entry.slug) })
        };
        let mut said: Vec<String> = entries.iter().filter_map(partial).collect();
        let withdrawn: u32 = entries.iter().map(|entry| entry.withdrawn_episodes).sum();
        if withdrawn > 0 {
            said.push(format!("{} left out", counted(withdrawn.into(), "withdrawn episode")));
        }
        said
    }

    fn stopped(&self) -> Option<String> {
        if let Some(rate) = self.pass_rate {
            let all = rate.trials + rate.unscored;
            let much = f64::from(rate.unscored) > MUCH_CENSORED * f64::from(all);
            return much.then(|| {
                format!(
                    "{} of {} stopped from outside, not scored",
                    rate.unscored,
                    counted(all.into(), "trial")
                )
            });
        }
        let share = self.early_censored.filter(|share| *share > MUCH_CENSORED)?;
        let tau = self.stamina.tau;
        Some(format!("{:.0} % of episodes stopped from outside before turn {tau}", 100.0 * share))
    }

    /// Whether each episode of some run ended before the agent answered: a wrong model, key or parameter does that to all.
    fn refused_alike(&self) -> Option<String> {
        let is_silent = |e: &EpisodeEntry| {
            let refused = e.end_reason == EndReason::Endpoint || e.unrecognised;
            e.stamina == 0 && refused && e.tokens.output.unwrap_or(0) == 0 && e.tool_calls.unwrap_or(0) == 0
        };
        let runs = self.pools.iter().flat_map(|pool| &pool.runs);
        let is_alike = |run: &PooledRun| run.episodes.len() > 1 && run.episodes.iter().all(is_silent);
        runs.into_iter().any(is_alike).then(|| {
            let each = if self.pass_rate.is_some() { "trial" } else { "episode" };
            format!("every {each} ended before the agent answered: look at the configuration")
        })
    }

    fn repeats(&self) -> Option<&'static str> {
        match self.pass_rate {
            Some(rate) => rate.repeats().then_some("several trials of a task, interval clustered by task"),
            None => self.stamina.clustered.then_some("several episodes of a scenario, interval by scenario"),
        }
    }
}

/// Those of a member of a comparison, with that of its cost.
pub(super) fn of_member(pool: &Pool, member: &ComparedMember, policy: &CensoringPolicy) -> Vec<String> {
    let number = Number {
        pools: vec![pool],
        stamina: &member.stamina,
        pass_rate: member.pass_rate.as_ref(),
        early_censored: member.early_censored,
    };
    let mut doubts = number.doubts(policy);
    let (spent, n) = (&member.spent, member.stamina.n);
    if let Some(cost) = spent.cost_usd.filter(|_| !member.simulated && spent.cost_known < n) {
        doubts.push(format!("cost ≥ ${cost:.2}, known for {} of {n}", spent.cost_known));
    }
    doubts
}
