//! What attempts took, and why they ended without passing.

use std::collections::{BTreeMap, BTreeSet};

use figures::table::{Column, Table, Value, known, maybe};
use model::{EndReason, Run, counted};
use store::{AttemptTotals, EpisodeId, RunId};

use crate::Workbench;
use crate::api::{ApiError, Comparison};
use crate::episodes::run_record;

/// The attempts of a member.
pub(super) struct MemberAttempts {
    name: String,
    by_number: Vec<AttemptTotals>,
    reasons: Vec<(String, u32)>,
    of_endpoint: Option<EndpointAttempts>,
    /// Whether that is unknown because its runs have trials in common.
    shares_trials: bool,
}

/// Attempts that the model's endpoint cost, summed over runs.
#[derive(Clone, Copy, Default)]
struct EndpointAttempts {
    /// How often an attempt was dropped because of the endpoint and retried.
    retried: u64,
    /// Attempts that were given up because of it.
    lost: u64,
}

impl EndpointAttempts {
    /// What the source of a run counted; `None` = it did not count.
    fn from_run(run: &Run) -> Option<Self> {
        let figure = |name: &str| {
            let name = format!("stamina_lab.attempts_{name}");
            run.reported.figures.iter().find(|(known, _)| *known == name).map(|(_, count)| *count as u64)
        };
        Some(Self { retried: figure("retried_for_endpoint")?, lost: figure("lost_to_endpoint")? })
    }

    /// Of both; unknown as soon as one of them is.
    fn sum_of(first: Option<Self>, second: Option<Self>) -> Option<Self> {
        let (first, second) = (first?, second?);
        Some(Self {
            retried: first.retried.saturating_add(second.retried),
            lost: first.lost.saturating_add(second.lost),
        })
    }
}

/// Reads them.
pub(super) fn read(workbench: &Workbench, data: &Comparison) -> Result<Vec<MemberAttempts>, ApiError> {
    data.members
        .iter()
        .map(|member| {
            let mut by_number: BTreeMap<u32, AttemptTotals> = BTreeMap::new();
            let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
            let mut endpoint_attempts = (!member.runs.is_empty()).then(EndpointAttempts::default);
            let mut runs: Vec<RunId> = Vec::new();
            for run in &member.runs {
                let record = run_record(&workbench.store, run)?;
                endpoint_attempts =
                    EndpointAttempts::sum_of(endpoint_attempts, EndpointAttempts::from_run(&record.run));
                runs.push(record.entry.id);
            }
            // The same trial in several runs of a member is one.
            let copies: Vec<EpisodeId> =
                workbench.store.copies_among(&runs)?.into_iter().map(|copy| copy.episode).collect();
            // Its runner counted for the whole of each run, and nothing says how much of that is of the shared trials.
            let shares_trials = endpoint_attempts.is_some() && !copies.is_empty();
            let endpoint_attempts = endpoint_attempts.filter(|_| !shares_trials);
            for run in runs {
                for totals in workbench.store.attempt_totals(run, &copies)? {
                    match by_number.entry(totals.number) {
                        std::collections::btree_map::Entry::Vacant(place) => {
                            place.insert(totals);
                        }
                        std::collections::btree_map::Entry::Occupied(mut place) => {
                            add(place.get_mut(), &totals);
                        }
                    }
                }
                for (reason, count) in workbench.store.attempt_end_reasons(run, &copies)? {
                    *reasons.entry(reason).or_default() += count;
                }
            }
            let mut reasons: Vec<(String, u32)> = reasons.into_iter().collect();
            reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            let by_number = by_number.into_values().collect();
            Ok(MemberAttempts {
                name: member.marked(),
                by_number,
                reasons,
                of_endpoint: endpoint_attempts,
                shares_trials,
            })
        })
        .collect()
}

/// The mean over both, weighted by how many each is of.
fn mean(a: (Option<f64>, u32), b: (Option<f64>, u32)) -> (Option<f64>, u32) {
    let n = a.1 + b.1;
    let sum = a.0.unwrap_or(0.0) * f64::from(a.1) + b.0.unwrap_or(0.0) * f64::from(b.1);
    ((n > 0).then(|| sum / f64::from(n)), n)
}

fn add(sum: &mut AttemptTotals, added: &AttemptTotals) {
    sum.attempts += added.attempts;
    sum.passed += added.passed;
    sum.failed += added.failed;
    sum.errors += added.errors;
    sum.unfinished += added.unfinished;
    sum.agent_seconds = mean(sum.agent_seconds, added.agent_seconds);
    sum.test_seconds = mean(sum.test_seconds, added.test_seconds);
    sum.tokens = mean(sum.tokens, added.tokens);
    sum.cost_usd = mean(sum.cost_usd, added.cost_usd);
}

/// How many attempts of all members did not pass, and which of them never had the chance to. A trial that several of them have
/// counts once.
pub(super) fn not_passed(workbench: &Workbench, data: &Comparison) -> Result<String, ApiError> {
    let slugs: BTreeSet<&String> = data.members.iter().flat_map(|member| &member.runs).collect();
    let mut runs: Vec<RunId> = Vec::with_capacity(slugs.len());
    for slug in slugs {
        runs.push(run_record(&workbench.store, slug)?.entry.id);
    }
    let copies: Vec<EpisodeId> =
        workbench.store.copies_among(&runs)?.into_iter().map(|copy| copy.episode).collect();
    let mut totals = Vec::new();
    for run in runs {
        totals.extend(workbench.store.attempt_totals(run, &copies)?);
    }
    let text = in_words(&totals);
    Ok(if data.overlaps.is_empty() {
        text
    } else {
        format!("{text} Trials that several of these have count once here.")
    })
}

fn in_words(totals: &[AttemptTotals]) -> String {
    let sum = |count_of: fn(&AttemptTotals) -> u32| -> u32 {
        totals.iter().map(count_of).fold(0, u32::saturating_add)
    };
    let (attempt_count, unfinished) = (sum(|total| total.attempts), sum(|total| total.unfinished));
    let not_passed = attempt_count.saturating_sub(sum(|total| total.passed));
    let share_of_all = format!("{not_passed} of {} did not pass", counted(attempt_count.into(), "attempt"));
    match unfinished {
        0 => format!("{share_of_all}."),
        1 => format!(
            "{share_of_all}; 1 of them is unfinished: it was stopped from outside, or was still running."
        ),
        n => format!(
            "{share_of_all}; {n} of them are unfinished: they were stopped from outside, or were still running."
        ),
    }
}

/// A mean over so many of the attempts that were made. One of 0 says nothing of those of which it is not known.
fn partial_mean((mean, n): (Option<f64>, u32), attempt_count: u32) -> Option<Value> {
    maybe(mean.filter(|mean| *mean > 0.0 || n >= attempt_count))
}

/// Attempts by their number.
pub(super) fn table(played: &[MemberAttempts]) -> Table {
    let columns = vec![
        Column::text("run", "Run"),
        Column::integer("attempt", "Attempt"),
        Column::integer("made", "Made"),
        Column::integer("passed", "Passed"),
        Column::share("share_passed", "Share passed"),
        Column::integer("failed", "Failed"),
        Column::integer("errors", "No verdict"),
        Column::integer("unfinished", "Unfinished"),
        Column::number("agent_seconds", "Agent time, mean", 1).unit("s"),
        Column::number("test_seconds", "Test time, mean", 1).unit("s"),
        Column::number("tokens", "Tokens, mean", 0),
        Column::number("cost_usd", "Cost, mean", 4).unit("US$"),
    ];
    let mut table = Table::new("attempts", "Attempts by their number", columns);
    let mut partial = false;
    for member in played {
        for row in &member.by_number {
            partial |= [row.agent_seconds, row.test_seconds, row.tokens, row.cost_usd]
                .iter()
                .any(|(_, n)| *n > 0 && *n < row.attempts);
            table.push(vec![
                known(member.name.as_str()),
                known(row.number),
                known(row.attempts),
                known(row.passed),
                maybe((row.attempts > 0).then(|| f64::from(row.passed) / f64::from(row.attempts))),
                known(row.failed),
                known(row.errors),
                known(row.unfinished),
                partial_mean(row.agent_seconds, row.attempts),
                partial_mean(row.test_seconds, row.attempts),
                partial_mean(row.tokens, row.attempts),
                partial_mean(row.cost_usd, row.attempts),
            ]);
        }
    }
    table.keep_small_numbers();
    if partial {
        table.notes.push(
            "Some means are over fewer attempts than were made: those where they are known.".to_owned(),
        );
    }
    table
}

/// What the model's endpoint cost each member: attempts that were retried for it, and lost to it. `None` = nobody counted
/// any.
pub(super) fn endpoint_table(played: &[MemberAttempts]) -> Option<Table> {
    if played.iter().all(|member| member.of_endpoint.is_none() && !member.shares_trials) {
        return None;
    }
    let columns = vec![
        Column::text("run", "Run"),
        Column::integer("retried", "Retried for the endpoint"),
        Column::integer("lost", "Lost to the endpoint"),
    ];
    let mut table = Table::new("endpoint-attempts", "Attempts that the endpoint cost", columns);
    for member in played {
        table.push(vec![
            known(member.name.as_str()),
            maybe(member.of_endpoint.map(|attempts| attempts.retried)),
            maybe(member.of_endpoint.map(|attempts| attempts.lost)),
        ]);
    }
    table.notes.push(NOT_AGAINST_THE_AGENT.to_owned());
    if played.iter().any(|member| member.of_endpoint.is_none() && !member.shares_trials) {
        table.notes.push("Unknown where a source did not count them, or not for every run.".to_owned());
    }
    if played.iter().any(|member| member.shares_trials) {
        table.notes.push(
            "Unknown where runs of one member have trials in common: the counts are of whole runs."
                .to_owned(),
        );
    }
    Some(table)
}

/// What the counts of [`endpoint_table`] mean.
const NOT_AGAINST_THE_AGENT: &str = "As the runner counted them. An attempt that is retried leaves no other trace. One that is lost is recorded as ended by the endpoint, and a resume may have played it since. Neither counts against the agent.";

/// Attempts that did not pass, by why they ended.
pub(super) fn errors(played: &[MemberAttempts]) -> Table {
    let columns = vec![
        Column::text("run", "Run"),
        Column::text("end_reason", "End of the attempt"),
        Column::integer("attempts", "Attempts"),
    ];
    let mut table = Table::new("end-reasons", "Attempts that did not pass, by why they ended", columns);
    for member in played {
        for (word, count) in &member.reasons {
            let label =
                EndReason::ALL.iter().find(|r| r.as_str() == word).map_or(word.as_str(), |r| r.label());
            table.push(vec![known(member.name.as_str()), known(label), known(*count)]);
        }
    }
    table
}
