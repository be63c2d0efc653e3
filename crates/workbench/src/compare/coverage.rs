//! What is missing of runs that are taken together. The runs of one job that lies in several sources are one: what one of them
//! lacks, another one may have.

use std::borrow::Cow;
use std::collections::HashSet;

use model::counted;
use store::{EpisodeId, RunEntry};

use super::pool::{Part, Pool, PooledRun};

/// Whether two runs are of one job, and play the same there.
pub(crate) fn is_one_job(a: &RunEntry, b: &RunEntry) -> bool {
    a.job.is_some() && (&a.job, &a.format, &a.harness, &a.model) == (&b.job, &b.format, &b.harness, &b.model)
}

/// What is missing of the runs in words, `35 of 89 episodes`, each with the slug of its run. What is missing of a job that lies in
/// several runs stands once, with all of them: it is of none alone. `noun`: what an episode is called.
pub(super) fn missing<'a>(parts: &'a [Part<'a>], noun: &str) -> Vec<(String, String)> {
    let mut jobs: Vec<Vec<&Part<'a>>> = Vec::new();
    for part in parts {
        match jobs.iter_mut().find(|job| job.first().is_some_and(|first| is_one_job(first.entry, part.entry)))
        {
            Some(job) => job.push(part),
            None => jobs.push(vec![part]),
        }
    }
    let in_words = |job: Vec<&'a Part<'a>>| {
        let first = *job.first()?;
        let runs: Vec<&PooledRun> = job.iter().filter_map(|part| part.pooled).collect();
        // What the run says of itself, unless other runs have or withdraw a part of its job.
        let says_all = withdrawn(&job) == first.entry.withdrawn_episodes;
        let text = match read_of_planned(&runs) {
            Some((present, planned)) if job.len() > 1 || !says_all => {
                (present < planned).then(|| format!("{present} of {}", counted(planned.into(), noun)))?
            }
            _ if job.len() > 1 => return None,
            _ => first.partial?.to_owned(),
        };
        let slugs: Vec<&str> = job.iter().map(|part| part.entry.slug.as_str()).collect();
        Some((named(&slugs), text))
    };
    jobs.into_iter().filter_map(in_words).collect()
}

/// More runs of a job are counted.
const MOST_RUNS: usize = 3;

/// The runs of a job in words.
fn named(slugs: &[&str]) -> String {
    match slugs {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] if slugs.len() <= MOST_RUNS => {
            format!("{} and {last} (one job)", first.join(", "))
        }
        _ => format!("{} and {} more (one job)", slugs[..MOST_RUNS].join(", "), slugs.len() - MOST_RUNS),
    }
}

/// How many trials of these runs are withdrawn. One that several of them have is one.
pub(super) fn withdrawn(parts: &[&Part<'_>]) -> u32 {
    let alone: u32 =
        parts.iter().filter(|part| part.pooled.is_none()).map(|part| part.entry.withdrawn_episodes).sum();
    let pooled: Vec<&PooledRun> = parts.iter().filter_map(|part| part.pooled).collect();
    alone + withdrawn_trials(&pooled)
}

fn withdrawn_trials(runs: &[&PooledRun]) -> u32 {
    runs.iter().flat_map(|run| &run.withdrawn).collect::<HashSet<_>>().len() as u32
}

/// How many episodes the runs of a job have, also those that count elsewhere, and how many they planned. A trial that two of them
/// have is one, and what is withdrawn is not missing. `None` = nothing says what was planned.
fn read_of_planned(runs: &[&PooledRun]) -> Option<(u32, u32)> {
    let planned = runs.iter().filter_map(|run| run.record.entry.planned_episodes).max()?;
    let own = runs.iter().flat_map(|run| run.episodes.iter().map(|episode| episode.id));
    let elsewhere = runs.iter().flat_map(|run| run.copied.counted());
    let present: HashSet<EpisodeId> = own.chain(elsewhere).collect();
    Some((present.len() as u32, planned.saturating_sub(withdrawn_trials(runs))))
}

/// Members that are compared with each other, with the runs of one job in one run: what differs between parts of a job is no
/// difference.
pub(crate) fn by_job(pools: &[Pool]) -> Cow<'_, [Pool]> {
    let mut jobs = HashSet::new();
    let mut all = pools.iter().flat_map(|pool| &pool.runs).filter_map(|run| run.record.entry.job.as_deref());
    if all.all(|job| jobs.insert(job)) {
        return Cow::Borrowed(pools);
    }
    let mut members: Vec<Pool> = Vec::new();
    for pool in pools {
        let run = if let [run] = pool.runs.as_slice() { Some(run) } else { None };
        let is_of_job = |member: &Pool| match (member.runs.as_slice(), run) {
            ([own], Some(run)) => is_one_job(&own.record.entry, &run.record.entry),
            _ => false,
        };
        let whole = members.iter().position(is_of_job);
        let Some((whole, part)) = whole.zip(run) else {
            members.push(pool.clone());
            continue;
        };
        if let Some(whole) = members[whole].runs.first_mut() {
            whole.episodes.extend(part.episodes.iter().cloned());
            whole.copied.extend(&part.copied);
            whole.withdrawn.extend(part.withdrawn.iter().cloned());
        }
    }
    Cow::Owned(members)
}

/// How many episodes of a run there are and how many it planned, or of its job where other runs of its member have parts of that.
pub(super) fn read_of_planned_in_job(pools: &[Pool], run: &PooledRun) -> Option<(u32, u32)> {
    let is_own = |other: &&PooledRun| {
        other.record.entry.id == run.record.entry.id || is_one_job(&other.record.entry, &run.record.entry)
    };
    let has_run = |pool: &&Pool| pool.runs.iter().any(|own| own.record.entry.id == run.record.entry.id);
    let member_runs = pools.iter().find(has_run).map_or(&[][..], |pool| pool.runs.as_slice());
    read_of_planned(&member_runs.iter().filter(is_own).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::named;

    /// What was missing of a whole job stood under the name of its first run, which lacks more.
    #[test]
    fn all_runs_of_a_job_are_named() {
        assert_eq!(named(&["a.job"]), "a.job");
        assert_eq!(named(&["a.job", "b.job"]), "a.job and b.job (one job)");
        assert_eq!(named(&["a", "b", "c"]), "a, b and c (one job)");
        assert_eq!(named(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more (one job)");
    }
}
