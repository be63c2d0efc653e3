//! Copies of trials without an id within a job: those of its own folder have one name, whatever their folders are called now.

use std::collections::HashMap;

use files::{Tree, file_name};

use super::job_files;
use super::layout::Job;
use super::trial::Trial;
use crate::identity;

/// Gives trials without an id the identity of the trial of their job that has their name, else one made of the id in the
/// job's result and the name. Where there is none either, copies are recognized within their job only ([`identity_in_job`]).
pub(super) fn identify(tree: &Tree, jobs: &[Job], trials: &mut [Trial]) {
    let mut known: HashMap<(usize, String), String> = HashMap::new();
    for trial in trials.iter() {
        if let Some(identity) = &trial.identity {
            for name in [name(trial).to_owned(), name_and_start(trial)] {
                known.entry((trial.job, name)).or_insert_with(|| identity.clone());
            }
        }
    }
    let mut ids: HashMap<usize, Option<String>> = HashMap::new();
    for trial in trials.iter_mut().filter(|trial| trial.identity.is_none()) {
        trial.known_by_name = true;
        let name = name_and_start(trial);
        let job_id = || job_files::id(tree, jobs.get(trial.job).filter(|job| job.whole)?);
        trial.identity = known.get(&(trial.job, name.clone())).cloned().or_else(|| {
            let id = ids.entry(trial.job).or_insert_with(job_id).as_ref()?;
            Some(identity::from_id(&["harbor", id, &name]))
        });
    }
}

/// What copies of a trial have in common within their run. Gradings of one trial differ in when they began.
pub(super) fn identity_in_job(trial: &Trial) -> (String, String) {
    let identity =
        trial.identity.clone().unwrap_or_else(|| format!("{} {}", trial.job, name_and_start(trial)));
    match &trial.graded_source {
        Some(_) => {
            let began = trial.text("started_at").unwrap_or_default();
            (trial.run.clone(), format!("{identity} {}", identity::utc_text(began)))
        }
        None => (trial.run.clone(), identity),
    }
}

/// The name of a trial in its job, with when it began where its result says so: results that differ in that are no copies, whatever
/// their names are.
fn name_and_start(trial: &Trial) -> String {
    let started_at = trial.result.as_ref().and_then(|result| result.get("started_at")?.text());
    started_at.map_or_else(
        || name(trial).to_owned(),
        |started_at| format!("{} {}", name(trial), identity::utc_text(started_at)),
    )
}

/// The name of a trial in its job, of which no two begin alike: `task__AbCdEf1`, also of `task__AbCdEf1 copy`.
fn name(trial: &Trial) -> &str {
    without_suffix(trial.head.trial.as_deref().unwrap_or_else(|| file_name(&trial.path)))
}

fn without_suffix(name: &str) -> &str {
    let Some((task, id)) = name.rsplit_once("__") else { return name };
    match id.find(|letter: char| !letter.is_ascii_alphanumeric()) {
        Some(end) if end > 0 => &name[..task.len() + 2 + end],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_copy_adds_to_a_name_is_left_out() {
        for (name, expected) in [
            ("task__AbCdEf1", "task__AbCdEf1"),
            ("task__AbCdEf1 copy", "task__AbCdEf1"),
            ("a__b__AbCdEf1 (1)", "a__b__AbCdEf1"),
            ("a task copy", "a task copy"),
            ("task__", "task__"),
            ("task__ copy", "task__ copy"),
        ] {
            assert_eq!(without_suffix(name), expected);
        }
    }
}
