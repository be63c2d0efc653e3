//! Gap of runs whose rounds were played by themselves: SR − MT@4. It is of two runs, so that no summary of one has it; what the
//! runs of one call are compared with is looked up once.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use analysis::rounds::gap;
use model::{Baseline, Benchmark, counted};
use store::{RunEntry, RunFilter, RunId, Store};

use super::PAPER_K;
use crate::api::ApiError;
use crate::episodes::task_of;

/// What runs have in common that may be compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct HarnessAndModel {
    harness: Option<String>,
    model: Option<String>,
    simulated: bool,
    baseline: Option<Baseline>,
}

impl HarnessAndModel {
    fn from_run(run: &RunEntry) -> Self {
        Self {
            harness: run.harness.clone(),
            model: run.model.clone(),
            simulated: run.simulated,
            baseline: run.baseline,
        }
    }
}

/// A run that played its tasks round by round, and its MT@4.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    run: RunId,
    harness_and_model: HarnessAndModel,
    mt_at_4: f64,
}

/// How often a run has an episode of each scenario.
type Scenarios = BTreeMap<String, u32>;

/// What Gap asks of a library.
pub(crate) trait Chains {
    /// The valid runs of the tasks of a data set that have MT@4 round by round.
    fn chains(&self, data_set: &str) -> Result<Vec<Chain>, ApiError>;
    /// The scenarios of a run.
    fn scenarios(&self, run: RunId) -> Result<Scenarios, ApiError>;
    /// For each episode of these runs that another of them stands for, its run.
    fn copied(&self, runs: &[RunId]) -> Result<Vec<RunId>, ApiError>;
}

impl Chains for &Store {
    fn chains(&self, data_set: &str) -> Result<Vec<Chain>, ApiError> {
        let filter = RunFilter {
            benchmarks: vec![format!("{}{data_set}", Benchmark::TASKS)],
            valid_only: true,
            ..RunFilter::default()
        };
        let chain = |(_, run): (u32, RunEntry)| {
            let rounds = run.summary.as_ref()?.rounds.as_ref().filter(|rounds| rounds.round_by_round)?;
            let mt_at_4 = *rounds.mt_at_k.get(PAPER_K - 1)?;
            Some(Chain { run: run.id, harness_and_model: HarnessAndModel::from_run(&run), mt_at_4 })
        };
        Ok(self.list_runs(&filter)?.rows.into_iter().filter_map(chain).collect())
    }

    fn scenarios(&self, run: RunId) -> Result<Scenarios, ApiError> {
        Ok(self.scenario_counts(run)?)
    }

    fn copied(&self, runs: &[RunId]) -> Result<Vec<RunId>, ApiError> {
        Ok(self.copies_among(runs)?.into_iter().map(|copy| copy.run).collect())
    }
}

/// Gives runs Gap, and keeps what it looked up for the next one.
pub(crate) struct Gaps<C> {
    library: C,
    chains: HashMap<String, Vec<Chain>>,
    scenarios: HashMap<RunId, Scenarios>,
    /// Of alike chains of a data set, how many episodes of each count in another one.
    copied: HashMap<(String, HarnessAndModel), HashMap<RunId, u32>>,
}

impl<C: Chains> Gaps<C> {
    /// For the runs of one call.
    pub(crate) fn new(library: C) -> Self {
        Self { library, chains: HashMap::new(), scenarios: HashMap::new(), copied: HashMap::new() }
    }

    /// Gives a run Gap, if its rounds were played by themselves: SR − MT@4, with the mean MT@4 of the runs that the library has
    /// of the same harness and model on the same tasks, round by round. A run that is a copy of another of them counts once.
    /// Else says why there is none.
    pub(crate) fn fill(&mut self, run: &mut RunEntry) -> Result<(), ApiError> {
        let rounds = run.summary.as_ref().and_then(|summary| summary.rounds.as_ref());
        let Some(sr) = rounds.filter(|rounds| rounds.alone).map(|rounds| rounds.sr) else { return Ok(()) };
        let data_set = run.benchmark.key.strip_prefix(Benchmark::STEPS).unwrap_or_default();
        let found = match sr {
            None => Err("Gap is unknown, because SR is.".to_owned()),
            Some(_) => self.mt_at_4(data_set, run.id, &HarnessAndModel::from_run(run))?,
        };
        if let Some(rounds) = run.summary.as_mut().and_then(|summary| summary.rounds.as_mut()) {
            match found {
                Ok(mt_at_4) => rounds.gap = gap(sr, Some(mt_at_4)),
                Err(reason) => rounds.missing.push(reason),
            }
        }
        Ok(())
    }

    /// The mean MT@4 that Gap of a run is made of; the inner error is why there is none.
    fn mt_at_4(
        &mut self,
        data_set: &str,
        run: RunId,
        settings: &HarnessAndModel,
    ) -> Result<Result<f64, String>, ApiError> {
        let chains = match self.chains.entry(data_set.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(self.library.chains(data_set)?),
        };
        let chains: Vec<Chain> =
            chains.iter().filter(|chain| chain.harness_and_model == *settings).cloned().collect();
        let (mut known, mut other_tasks) = (Vec::new(), 0_u64);
        if !chains.is_empty() {
            let own = self.scenarios(run)?.keys().map(|scenario| task_of(scenario).to_owned());
            let own: BTreeSet<String> = own.collect();
            for chain in self.once_each(data_set, settings, chains)? {
                if self.scenarios(chain.run)?.keys().eq(&own) {
                    known.push(chain.mt_at_4);
                } else {
                    other_tasks += 1;
                }
            }
        }
        if !known.is_empty() {
            return Ok(Ok(known.iter().sum::<f64>() / known.len() as f64));
        }
        let other = match other_tasks {
            0 => String::new(),
            n => format!(" ({} played other tasks)", counted(n, "run")),
        };
        Ok(Err(format!(
            "Gap is unknown: no run of the same harness and model has MT@4 on these tasks, round by round (harbor.protocol=mt_at_k){other}."
        )))
    }

    /// These runs without those that are copies of others of them.
    fn once_each(
        &mut self,
        data_set: &str,
        settings: &HarnessAndModel,
        chains: Vec<Chain>,
    ) -> Result<Vec<Chain>, ApiError> {
        if chains.len() < 2 {
            return Ok(chains);
        }
        let copied = match self.copied.entry((data_set.to_owned(), settings.clone())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let runs: Vec<RunId> = chains.iter().map(|chain| chain.run).collect();
                let mut copied: HashMap<RunId, u32> = HashMap::new();
                for run in self.library.copied(&runs)? {
                    *copied.entry(run).or_default() += 1;
                }
                place.insert(copied)
            }
        }
        .clone();
        let mut counted = Vec::new();
        for chain in chains {
            let episodes: u32 = self.scenarios(chain.run)?.values().sum();
            if copied.get(&chain.run).is_none_or(|copies| *copies < episodes) {
                counted.push(chain);
            }
        }
        Ok(counted)
    }

    fn scenarios(&mut self, run: RunId) -> Result<&Scenarios, ApiError> {
        match self.scenarios.entry(run) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(self.library.scenarios(run)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// A library of chains with their tasks and copied episodes, that notes what it is asked.
    #[derive(Default)]
    struct Noted {
        chains: Vec<Chain>,
        scenarios: BTreeMap<RunId, Vec<&'static str>>,
        copied: Vec<RunId>,
        requests: RefCell<Vec<String>>,
    }

    impl Chains for &Noted {
        fn chains(&self, data_set: &str) -> Result<Vec<Chain>, ApiError> {
            self.requests.borrow_mut().push(format!("chains of {data_set}"));
            Ok(self.chains.clone())
        }
        fn scenarios(&self, run: RunId) -> Result<Scenarios, ApiError> {
            self.requests.borrow_mut().push(format!("scenarios of {run}"));
            Ok(self.scenarios[&run].iter().map(|scenario| ((*scenario).to_owned(), 1)).collect())
        }
        fn copied(&self, runs: &[RunId]) -> Result<Vec<RunId>, ApiError> {
            self.requests.borrow_mut().push(format!("copies among {runs:?}"));
            Ok(self.copied.clone())
        }
    }

    fn chain_identity(model: &str) -> HarnessAndModel {
        HarnessAndModel { harness: None, model: Some(model.to_owned()), simulated: false, baseline: None }
    }

    fn library() -> Noted {
        let chain = |run, model, mt_at_4| Chain { run, harness_and_model: chain_identity(model), mt_at_4 };
        Noted {
            chains: vec![
                chain(1, "m", 50.0),
                chain(2, "m", 70.0),
                chain(3, "m", 10.0),
                chain(4, "other", 20.0),
            ],
            scenarios: BTreeMap::from([
                (1, vec!["a", "b"]),
                (2, vec!["a", "b"]),
                (3, vec!["a"]),
                (7, vec!["a/round-1", "a/round-2", "b/round-1"]),
                (8, vec!["a/round-1", "b/round-1"]),
                (9, vec!["c/round-1"]),
            ]),
            ..Noted::default()
        }
    }

    #[test]
    fn gap_is_of_the_runs_on_the_same_tasks_and_says_why_there_is_none() {
        let library = library();
        let mut gaps = Gaps::new(&library);
        assert_eq!(gaps.mt_at_4("d", 7, &chain_identity("m")).unwrap(), Ok(60.0));
        let reason = gaps.mt_at_4("d", 9, &chain_identity("m")).unwrap().unwrap_err();
        assert!(reason.ends_with("(harbor.protocol=mt_at_k) (3 runs played other tasks)."), "{reason}");
        let reason = gaps.mt_at_4("d", 7, &chain_identity("nobody")).unwrap().unwrap_err();
        assert!(reason.ends_with("(harbor.protocol=mt_at_k)."), "{reason}");
    }

    #[test]
    fn what_runs_are_compared_with_is_looked_up_once() {
        let library = library();
        let mut gaps = Gaps::new(&library);
        for _ in 0..3 {
            for run in [7, 8] {
                assert_eq!(gaps.mt_at_4("d", run, &chain_identity("m")).unwrap(), Ok(60.0));
            }
        }
        let mut requests = library.requests.take();
        requests.sort();
        let wanted = [
            "chains of d",
            "copies among [1, 2, 3]",
            "scenarios of 1",
            "scenarios of 2",
            "scenarios of 3",
            "scenarios of 7",
            "scenarios of 8",
        ];
        assert_eq!(requests, wanted);
    }

    #[test]
    fn a_copy_of_a_run_counts_once() {
        let mut library = library();
        library.copied = vec![2, 2];
        assert_eq!(Gaps::new(&library).mt_at_4("d", 7, &chain_identity("m")).unwrap(), Ok(50.0));
        // One that has an episode of its own is no copy.
        library.copied = vec![2];
        assert_eq!(Gaps::new(&library).mt_at_4("d", 7, &chain_identity("m")).unwrap(), Ok(60.0));
    }
}
