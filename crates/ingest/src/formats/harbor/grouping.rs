//! Which trials are of one task.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::Kind;
use super::trial::Trial;

/// The trials of a part by their task: its name and, in a job, what it was taken from. Two data sets may have a task of one
/// name: then each is a scenario of its own, called `set/name`. A trial that does not say where its task is from is of the
/// only one that there is.
pub(super) fn by_task(kind: Kind, trials: Vec<Trial>) -> Vec<(Scenario, Vec<Trial>)> {
    let names = Names::new(&trials);
    let name = |trial: &Trial| names.task_name(trial).to_owned();
    let origins: BTreeSet<(String, &str)> = trials
        .iter()
        .filter_map(|t| Some((name(t), t.head.task_origin().filter(|_| kind == Kind::Job)?)))
        .collect();
    let has_several_origins = |task: &str| origins.iter().filter(|(name, _)| *name == task).count() > 1;
    let mut tasks: BTreeMap<Scenario, Vec<Trial>> = BTreeMap::new();
    let scenarios: Vec<Scenario> = trials
        .iter()
        .map(|t| Scenario {
            origin: t.head.task_origin().filter(|_| has_several_origins(&name(t))).map(str::to_owned),
            task: name(t),
        })
        .collect();
    for (scenario, trial) in scenarios.into_iter().zip(trials) {
        tasks.entry(scenario).or_default().push(trial);
    }
    tasks.into_iter().collect()
}

/// What results call the tasks of trials: two tasks may lie in folders of one name.
struct Names {
    /// By the last part of the task's path and, where there is one, the whole path.
    known: BTreeMap<(String, Option<String>), String>,
}

impl Names {
    fn new(trials: &[Trial]) -> Self {
        let named = trials.iter().filter_map(|trial| {
            let head = &trial.head;
            Some(((head.task.clone(), head.task_path.clone()), trial.task_name()?.to_owned()))
        });
        Self { known: named.collect() }
    }

    /// The name of a trial's task. One without a result has the name of those at its path, else the only one there is.
    fn task_name<'a>(&'a self, trial: &'a Trial) -> &'a str {
        let head = &trial.head;
        let at_its_path = || self.known.get(&(head.task.clone(), head.task_path.clone())).map(String::as_str);
        let only_name = || {
            let in_folder = self.known.iter().filter(|((folder, _), _)| *folder == head.task);
            let names: BTreeSet<&str> = in_folder.map(|(_, name)| name.as_str()).collect();
            names.first().copied().filter(|_| names.len() == 1)
        };
        trial.task_name().or_else(at_its_path).or_else(only_name).unwrap_or(&head.task)
    }
}

/// Which task trials are of.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scenario {
    /// Its name.
    pub(super) task: String,
    /// What it was taken from, where another task of that name was taken from elsewhere.
    pub(super) origin: Option<String>,
}
