//! How the numbers of a table were made: every kind says it, in the words of the figures that show the same.

use figures::{EpisodeCounts, Method};
use model::{PassRate, RateInterval};

use super::super::tables;
use super::{
    POOLED, cost_of_one, counted, differences, failure_intervals, failures, matrix, mean_intervals, paired,
    pseudo_observed, retries, summed, with_notes,
};
use crate::Workbench;
use crate::api::{
    ApiError, CompareRequest, Comparison, FailuresRequest, JobRef, MatrixRequest, Member, Nothing, Pairs,
    RetriesRequest, ScenarioTurnRef, TableSubject,
};
use crate::compare::{doubts, members};

const BY_BOOTSTRAP: &str = "95 % CI by a bootstrap that draws scenarios";
const BY_TASKS: &str = "95 % CI from the variance between tasks";
const LOG_LOG: &str = "log-log 95 % CI";

/// What is said of a table that has no statistics: what it is of.
fn method_about(subject: impl Into<String>) -> Method {
    Method { notes: vec![subject.into()], ..Method::default() }
}

/// Mean staminas with n, failed and censored in the rows.
fn staminas(method: Method, data: &Comparison) -> Method {
    let rates: Vec<&PassRate> = data.members.iter().filter_map(|member| member.pass_rate.as_ref()).collect();
    let one_turn = data.of_one_turn;
    Method {
        tau: data.tau.filter(|_| !one_turn),
        intervals: if one_turn {
            rate_intervals(&rates)
        } else {
            Some(mean_intervals(data.members.iter().map(|member| &member.stamina)))
        },
        counts: counted(data),
        ..method
    }
}

/// How the intervals of pass rates are made; `None` = there are none.
pub(super) fn rate_intervals(rates: &[&PassRate]) -> Option<String> {
    let any = |kind| rates.iter().any(|rate| rate.interval == Some(kind));
    match (any(RateInterval::Wilson), any(RateInterval::Clustered)) {
        (false, false) => None,
        (true, false) => Some("Wilson's 95 % CI".to_owned()),
        (false, true) => Some("Wilson's 95 % CI, clustered by task".to_owned()),
        (true, true) => {
            Some("Wilson's 95 % CI, clustered by task where tasks have several trials".to_owned())
        }
    }
}

/// The same pairs in several tests.
fn pairs(method: Method, data: &Comparison) -> Method {
    if data.of_one_turn {
        return Method {
            intervals: Some(
                if data.pairs.iter().any(|pair| pair.clustered) {
                    "Newcombe's 95 % CI of differences of pass rates, clustered by task, unpaired, of ratios by a jackknife over tasks where these repeat, of paired differences by Student's t"
                } else {
                    "Newcombe's 95 % CI of differences of pass rates, unpaired, of ratios on the log scale, of paired differences by Student's t"
                }
                .to_owned(),
            ),
            tau: None,
            ..differences(method, data, false)
        };
    }
    Method {
        intervals: Some(
            if data.pairs.iter().any(|pair| pair.clustered) {
                "95 % CI by a jackknife over scenarios where these repeat, else from Greenwood's variances, unpaired, of paired differences by Student's t"
            } else {
                "95 % CI from Greenwood's variances, unpaired, of ratios on the log scale, of paired differences by Student's t"
            }
            .to_owned(),
        ),
        ..differences(method, data, false)
    }
}

/// Every other member against the reference, each pair over its own τ.
fn all_paired(method: Method, data: &Comparison) -> Method {
    let found: Vec<_> = data.pairs.iter().filter_map(|pair| pair.paired.as_ref()).collect();
    let mut method = Method {
        intervals: Some("95 % CI of Student's t over the differences".to_owned()),
        test: found.iter().any(|p| p.p.is_some()).then(|| "p is of a paired t test".to_owned()),
        counts: counted(data),
        // How many two of them share, the notes say of each pair.
        scenarios: None,
        ..method
    };
    method.notes.extend(found.iter().find_map(|found| pseudo_observed(found, data.of_one_turn)));
    method
}

impl Workbench {
    /// How the numbers of a table were made.
    pub(in crate::export) fn table_method(&self, table: &TableSubject) -> Result<Method, ApiError> {
        match table {
            TableSubject::Runs { request }
            | TableSubject::Scores { request }
            | TableSubject::Sensitivity { request } => {
                let method = self.comparison_method(request, staminas)?;
                if method.counts.len() < 2 {
                    return Ok(method);
                }
                // The rows count each member: the caption has their sum.
                let (sum, note) = self.counted_once(members::resolve(&self.store, &request.members)?)?;
                Ok(with_notes(Method { counts: vec![sum], ..method }, note.into_iter().collect()))
            }
            TableSubject::Spent { request } => self.comparison_method(request, |method, data| {
                let notes =
                    std::iter::once(cost_of_one(data.of_one_turn).to_owned()).chain(method.notes).collect();
                with_notes(
                    Method { counts: counted(data), notes, ..method },
                    doubts::grouped_doubts_without_intervals(&data.members),
                )
            }),
            TableSubject::Pairs { request } => self.comparison_method(request, pairs),
            TableSubject::Survival { request } => self.comparison_method(request, |method, data| Method {
                tau: data.tau,
                intervals: Some(LOG_LOG.to_owned()),
                counts: counted(data),
                ..with_notes(method, doubts::grouped_doubts(&data.members))
            }),
            TableSubject::Paired { request, other } => {
                let paired_request = CompareRequest { pairs: Pairs::Reference, ..request.clone() };
                self.comparison_method(&paired_request, |method, data| match other {
                    Some(other) => paired(method, data, *other),
                    None => all_paired(method, data),
                })
            }
            TableSubject::Settings { .. } => {
                Ok(method_about("Settings as the sources of the runs state them"))
            }
            TableSubject::Episodes { members, .. }
            | TableSubject::Turns { members, .. }
            | TableSubject::ByTurn { members } => self.episodes_method(members),
            TableSubject::Tidy { .. } => Ok(method_about("Attempts as the sources of the runs state them")),
            TableSubject::Tasks { request } | TableSubject::TaskGrid { request } => {
                self.episodes_method(&request.members)
            }
            TableSubject::PerTask { request } | TableSubject::PassAtK { request } => {
                let grid = self.list_tasks(request.clone())?;
                let rates: Vec<&PassRate> = grid.columns.iter().map(|column| &column.pass_rate).collect();
                let intervals = match table {
                    TableSubject::PerTask { .. } => rate_intervals(&rates),
                    _ => Some(BY_TASKS.to_owned()),
                };
                Ok(Method { intervals, ..self.episodes_method(&request.members)? })
            }
            TableSubject::Disagreements { request } => self.episodes_method(&request.members),
            TableSubject::Library { request } => {
                let runs = tables::library_runs(self, request)?;
                let rates: Vec<&PassRate> = runs.iter().filter_map(|run| run.pass_rate.as_ref()).collect();
                let rate_methods = rate_intervals(&rates);
                let means =
                    mean_intervals(runs.iter().filter(|run| run.pass_rate.is_none()).map(|run| &run.stamina));
                let intervals = match rate_methods {
                    Some(rates) if runs.iter().all(|run| run.pass_rate.is_some()) => rates,
                    Some(rates) => format!("{means}, of pass rates {rates}"),
                    None => means,
                };
                Ok(Method { intervals: Some(intervals), ..self.current_policy()? })
            }
            TableSubject::Played { .. } => {
                Ok(method_about("Runs that were played on this machine, by their own files"))
            }
            TableSubject::Progress { .. } => {
                Ok(method_about("A run that was played on this machine, by its own files"))
            }
            TableSubject::Suite { request } => self.pack_method(&request.turn),
            TableSubject::Findings { job } | TableSubject::Mutants { job } => self.validation_method(job),
            TableSubject::Matrix { request } => self.matrix_method(request, None),
            TableSubject::Spread { request } => self.matrix_method(request, Some(BY_BOOTSTRAP)),
            TableSubject::Published { request } => {
                let data = self.matrix(request)?;
                Ok(method_about(format!(
                    "What others published of {}, as their sources state it",
                    data.benchmark.1
                )))
            }
            TableSubject::Retries { request } => self.retries_method(request, None),
            TableSubject::Gains { request } => self.retries_method(request, Some(BY_BOOTSTRAP)),
            TableSubject::Failures { request } => {
                let intervals = failure_intervals(&self.get_failures(request.clone())?);
                Ok(Method { intervals, ..self.failures_method(request)? })
            }
            TableSubject::Cases { request } => self.marked_failures_method(&request.failures),
            TableSubject::Origins { request } => self.failures_method(request),
            TableSubject::Repairs { request }
            | TableSubject::RepairTimes { request }
            | TableSubject::Flips { request } => {
                let counts = self.failures_method(request)?.counts;
                let notes = vec!["Over every attempt, whatever the scope".to_owned()];
                Ok(Method { counts, notes, ..self.current_policy()? })
            }
            TableSubject::Attempts { .. } | TableSubject::Tests { .. } => {
                Ok(method_about("One turn of an episode, as its source records it"))
            }
            TableSubject::Joined { .. } => {
                Ok(method_about("Two attempts, as their sources record them. Tests are joined by their ids"))
            }
            TableSubject::Warnings { .. } => {
                Ok(method_about("What was read otherwise than it is written, by the readers of formats"))
            }
            TableSubject::Rules { .. } => {
                Ok(method_about("Rules over what the source records. The first that holds decides"))
            }
        }
    }

    fn comparison_method(
        &self,
        request: &CompareRequest,
        make: impl FnOnce(Method, &Comparison) -> Method,
    ) -> Result<Method, ApiError> {
        let data = self.comparison(request)?;
        Ok(make(self.method(&data)?, &data))
    }

    /// What is read episode by episode.
    pub(in crate::export) fn episodes_method(&self, members: &[Member]) -> Result<Method, ApiError> {
        let (counts, notes) = self.episodes_of(members)?;
        Ok(with_notes(Method { counts, ..self.current_policy()? }, notes))
    }

    fn current_policy(&self) -> Result<Method, ApiError> {
        self.policy_method(&self.get_policy(Nothing {})?.name)
    }

    /// Its cells have intervals of their own; what is made of them may have others.
    fn matrix_method(&self, request: &MatrixRequest, intervals: Option<&str>) -> Result<Method, ApiError> {
        let data = self.matrix(request)?;
        let method = matrix(self.policy_method(&data.policy)?, &data);
        let counts = summed(method.counts, "cells");
        let intervals = intervals.map(str::to_owned).or(method.intervals.clone());
        // The table itself says which of its means are unweighted.
        let notes = vec![POOLED.to_owned()];
        Ok(Method { intervals, counts, notes, ..method })
    }

    /// `intervals` = how those of the table are made, where it has others than the means.
    fn retries_method(&self, request: &RetriesRequest, intervals: Option<&str>) -> Result<Method, ApiError> {
        let data = self.retries(request)?;
        let method = retries(self.current_policy()?, &data);
        let counts = method
            .counts
            .into_iter()
            .map(|counts| EpisodeCounts { name: format!("{} with the most retries", counts.name), ..counts });
        let intervals = intervals.map(str::to_owned).or(method.intervals);
        Ok(Method { intervals, counts: counts.collect(), ..method })
    }

    fn failures_method(&self, request: &FailuresRequest) -> Result<Method, ApiError> {
        let (data, pools) = self.failures_with_pools(request)?;
        let episodes = self.episodes_of_pools(&pools)?;
        Ok(failures(self.current_policy()?, &data, request.scope, episodes))
    }

    /// The same of a table that does not say itself which of its runs a user has withdrawn, and what is missing of them.
    fn marked_failures_method(&self, request: &FailuresRequest) -> Result<Method, ApiError> {
        let (data, pools) = self.failures_with_pools(request)?;
        let mut marks = doubts::withdrawn_runs(&pools);
        marks.extend(doubts::missing_of_members(&pools));
        let episodes = self.episodes_of_pools(&pools)?;
        let method = failures(self.current_policy()?, &data, request.scope, episodes);
        Ok(with_notes(method, marks))
    }

    fn pack_method(&self, turn_ref: &ScenarioTurnRef) -> Result<Method, ApiError> {
        let packs = self.list_packs(Nothing {})?.packs;
        let pack =
            packs.into_iter().find(|pack| (pack.source, &pack.folder) == (turn_ref.source, &turn_ref.folder));
        Ok(method_about(match pack {
            Some(pack) if pack.problem.is_none() => {
                format!("Pack {}, generator {}, SHA-256 {}", pack.name, pack.generator, pack.sha256)
            }
            _ => "An opened pack".to_owned(),
        }))
    }

    fn validation_method(&self, job: &JobRef) -> Result<Method, ApiError> {
        Ok(method_about(self.get_job(job.clone())?.title))
    }
}
