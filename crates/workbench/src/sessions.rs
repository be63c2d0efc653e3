//! Sessions of a benchmark without tests: what the program says, the same computed here, and what the calls show.

use std::collections::{BTreeMap, HashMap, HashSet};

use analysis::locobench::mean_over_scenarios;
use analysis::survival::{Observation, kaplan_meier};
use model::{
    COMPREHENSION_METRICS, CorrectedFigures, Ending, ImportedFigures, LOCOBENCH_METRICS, LcbaPair,
    SessionFigures, counted,
};
use store::{RunEntry, RunRecord, SessionEntry};

use crate::Workbench;
use crate::api::{
    ApiError, RunningSessions, SessionGroup, SessionMean, SessionRow, Sessions, SessionsRequest,
};
use crate::episodes::run_record;
use crate::published;

/// Imported and computed values that differ by more than this are marked.
const SAME: f64 = 1e-9;
/// What the nine metrics of a session are in which nothing happened, as the program computes them.
const NOTHING: [f64; 9] = [0.5, 1.0, 1.0, 0.7, 0.7, 0.65, 0.65, 0.65, 0.65];
/// Figures that are counts; all others are 0 to 1.
const COUNTS: [&str; 2] = ["distinct_functions", "files_written"];
/// Most turns of a session by the difficulty of its scenario, as the program plans them. They stand for a limit that is not
/// recorded.
const TURN_LIMITS: [(&str, u32); 4] = [("easy", 20), ("medium", 30), ("hard", 40), ("expert", 50)];
/// Most steps that the curve of lengths shows.
const MOST_STEPS: u32 = 1_000;

/// What a session that does nothing scores.
pub(crate) fn nothing() -> LcbaPair {
    LcbaPair::from_metrics(&NOTHING)
}

/// The same in a sentence, which stands wherever these figures do.
pub(crate) fn nothing_sentence() -> String {
    let pair = nothing();
    let short = |value: f64| format!("{value:.3}").trim_start_matches('0').to_owned();
    format!(
        "A session that does nothing scores {} / {} (comprehension / efficiency), more than every published model.",
        short(pair.comprehension),
        short(pair.efficiency)
    )
}

/// Says that a run has no stamina: its benchmark has no tests.
pub(crate) fn no_stamina(run: &RunEntry) -> ApiError {
    ApiError::new(
        "benchmark.no_tests",
        format!(
            "\"{}\" is a run of {}, which has no tests: it has no stamina, and takes no part in survival, matrix or comparisons",
            run.slug, run.benchmark.name
        ),
    )
    .hint(format!("`stamina locobench {}`, or its page, has its figures", run.slug))
}

/// Reads a run that has verdicts of tests.
///
/// Errors: `run.not_found`; `benchmark.no_tests`.
pub(crate) fn tested_run(store: &store::Store, slug: &str) -> Result<RunRecord, ApiError> {
    let record = run_record(store, slug)?;
    if record.entry.benchmark.has_verdicts() { Ok(record) } else { Err(no_stamina(&record.entry)) }
}

impl Workbench {
    /// Sessions of a run of LoCoBench-Agent with their figures, and means over all its scenarios.
    ///
    /// Errors: `run.not_found`; `sessions.none` for a run of another benchmark.
    pub fn list_sessions(&self, request: SessionsRequest) -> Result<Sessions, ApiError> {
        let record = run_record(&self.store, &request.run)?;
        if record.entry.benchmark.has_verdicts() {
            return Err(ApiError::new(
                "sessions.none",
                format!(
                    "\"{}\" is a run of {}, which has no such sessions",
                    request.run, record.entry.benchmark.name
                ),
            )
            .hint("Its page, or `stamina show`, has its episodes"));
        }
        let entries = self.store.sessions(record.entry.id)?;
        let rows = rows(entries);
        let counted: Vec<&SessionRow> = rows.iter().filter(|row| row.counts).collect();
        let all = group("all".to_owned(), &rows.iter().collect::<Vec<_>>());
        let grouped = |key_of: &dyn Fn(&SessionFigures) -> Option<&String>| groups(&rows, key_of);
        let published = published::numbers(&record.entry.benchmark.key)
            .into_iter()
            .filter(|number| ["lcba_comprehension", "lcba_efficiency"].contains(&number.metric.as_str()))
            .collect();
        Ok(Sessions {
            run: record.entry.slug.clone(),
            metrics: LOCOBENCH_METRICS.map(str::to_owned).to_vec(),
            categories: grouped(&|figures| figures.category.as_ref()),
            difficulties: grouped(&|figures| figures.difficulty.as_ref()),
            languages: grouped(&|figures| figures.language.as_ref()),
            nothing: (nothing().comprehension, nothing().efficiency),
            nothing_says: nothing_sentence(),
            running: running(&counted),
            cautions: (withdrawn_mark(&record.entry).into_iter().chain(missing(&record.entry, &all, &rows)))
                .chain(cautions(&all, &rows))
                .collect(),
            published,
            all,
            differs: marked(&counted),
            sessions: page(rows, request.offset, request.limit),
        })
    }
}

/// In how many of these sessions each figure is marked, and in how many it could be compared, by its name.
fn marked(rows: &[&SessionRow]) -> Vec<(String, u32, u32)> {
    let mut figures: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for comparison in rows.iter().flat_map(|row| comparisons(&row.figures)) {
        let (marked, compared) = figures.entry(comparison.name).or_default();
        *marked += u32::from(comparison.is_other);
        *compared += u32::from(comparison.is_compared);
    }
    let is_marked = |(name, (marked, compared)): (&str, (u32, u32))| {
        (marked > 0).then(|| (name.to_owned(), marked, compared))
    };
    figures.into_iter().filter_map(is_marked).collect()
}

/// The sessions from `offset` on; at most `limit`, where that is not 0.
fn page(rows: Vec<SessionRow>, offset: u32, limit: u32) -> Vec<SessionRow> {
    let row_limit = if limit == 0 { usize::MAX } else { limit as usize };
    rows.into_iter().skip(offset as usize).take(row_limit).collect()
}

fn rows(mut entries: Vec<SessionEntry>) -> Vec<SessionRow> {
    entries.sort_by(|a, b| (&a.scenario, a.repeat).cmp(&(&b.scenario, b.repeat)));
    // Of a scenario the last session that is not withdrawn.
    let mut last: HashMap<&str, usize> = HashMap::new();
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.invalid.is_none()) {
        last.insert(&entry.scenario, index);
    }
    let last: HashSet<usize> = last.into_values().collect();
    let row = |(index, entry): (usize, SessionEntry)| {
        let figures = entry.figures;
        let differs = differing(&figures);
        SessionRow {
            episode: entry.slug,
            scenario: entry.scenario,
            repeat: entry.repeat,
            counts: last.contains(&index),
            invalid: entry.invalid,
            never_started: figures.never_started(),
            compat: figures
                .compat
                .as_ref()
                .map(LcbaPair::from_metrics)
                .map(|p| (p.comprehension, p.efficiency, p.overall())),
            differs,
            figures,
        }
    };
    entries.into_iter().enumerate().map(row).collect()
}

/// An imported figure beside the same one computed here.
struct Comparison {
    name: &'static str,
    /// Whether it is another.
    is_other: bool,
    /// Whether that could be told: both are known, or it is another than its own nine make.
    is_compared: bool,
}

/// The imported figures beside those computed here. Comprehension, efficiency and overall are also held against what the imported
/// nine make: that they are others can be told without the conversation.
fn comparisons(figures: &SessionFigures) -> Vec<Comparison> {
    let SessionFigures { imported, compat, .. } = figures;
    let is_other = |value: Option<f64>, other: Option<f64>| {
        value.zip(other).is_some_and(|(value, other)| (value - other).abs() > SAME)
    };
    let compared = |name: &'static str, value: Option<f64>, [of_imported, of_computed]: [Option<f64>; 2]| {
        let is_other = is_other(value, of_imported) || is_other(value, of_computed);
        Comparison { name, is_other, is_compared: is_other || (value.is_some() && of_computed.is_some()) }
    };
    let built_in = |(index, name): (usize, &'static str)| {
        compared(name, imported.metrics[index], [None, compat.map(|nine| nine[index])])
    };
    let mut found: Vec<Comparison> = LOCOBENCH_METRICS.into_iter().enumerate().map(built_in).collect();
    let mean = |values: &[Option<f64>]| -> Option<f64> {
        let sum: Option<f64> = values.iter().copied().sum();
        sum.map(|sum| sum / values.len() as f64)
    };
    let (first, rest) = imported.metrics.split_at(COMPREHENSION_METRICS);
    let (comprehension, efficiency) = (mean(first), mean(rest));
    let own = comprehension
        .zip(efficiency)
        .map(|(comprehension, efficiency)| LcbaPair { comprehension, efficiency }.overall());
    let computed = compat.as_ref().map(LcbaPair::from_metrics);
    let comprehension = [comprehension, computed.map(|pair| pair.comprehension)];
    let efficiency = [efficiency, computed.map(|pair| pair.efficiency)];
    found.extend([
        compared("comprehension", imported.comprehension, comprehension),
        compared("efficiency", imported.efficiency, efficiency),
        compared("overall", imported.overall, [own, computed.map(LcbaPair::overall)]),
    ]);
    found
}

/// Whether it could be told that an imported figure of a session is another.
fn is_compared(row: &SessionRow) -> bool {
    comparisons(&row.figures).iter().any(|comparison| comparison.is_compared)
}

/// Names of the imported figures that are others than those computed here.
fn differing(figures: &SessionFigures) -> Vec<String> {
    let others = comparisons(figures).into_iter().filter(|comparison| comparison.is_other);
    others.map(|comparison| comparison.name.to_owned()).collect()
}

fn groups(rows: &[SessionRow], key_of: &dyn Fn(&SessionFigures) -> Option<&String>) -> Vec<SessionGroup> {
    let mut parted: BTreeMap<(bool, String), Vec<&SessionRow>> = BTreeMap::new();
    for row in rows {
        let key = key_of(&row.figures);
        // What is not known comes last.
        let place = (key.is_none(), key.cloned().unwrap_or_else(|| "unknown".to_owned()));
        parted.entry(place).or_default().push(row);
    }
    parted.into_iter().map(|((_, key), rows)| group(key, &rows)).collect()
}

fn group(key: String, rows: &[&SessionRow]) -> SessionGroup {
    let counted: Vec<&SessionRow> = rows.iter().copied().filter(|row| row.counts).collect();
    let turns = counted.iter().filter_map(|row| row.figures.turns);
    let recorded = counted.iter().filter_map(|row| Some((row.figures.turns?, row.figures.answered?)));
    SessionGroup {
        key,
        scenarios: counted.len() as u32,
        sessions: rows.len() as u32,
        never_started: counted.iter().filter(|row| row.never_started == Some(true)).count() as u32,
        turns: turns.fold(0, u32::saturating_add),
        answered: recorded.fold((0, 0), |sum: (u32, u32), (turns, answered)| {
            (sum.0.saturating_add(turns), sum.1.saturating_add(answered.min(turns)))
        }),
        differ: counted.iter().filter(|row| !row.differs.is_empty()).count() as u32,
        differ_of: counted.iter().filter(|row| is_compared(row)).count() as u32,
        imported: lcba(&counted, &|row| {
            let ImportedFigures { metrics, comprehension, efficiency, overall } = row.figures.imported;
            (metrics, [comprehension, efficiency, overall])
        }),
        compat: lcba(&counted, &|row| {
            let pair = row.compat;
            (
                row.figures.compat.map_or([None; 9], |nine| nine.map(Some)),
                [pair.map(|p| p.0), pair.map(|p| p.1), pair.map(|p| p.2)],
            )
        }),
        corrected: corrected(&counted),
    }
}

fn mean(name: &str, values: impl Iterator<Item = Option<f64>>) -> SessionMean {
    let found = mean_over_scenarios(values.flatten());
    // An interval of few scenarios may reach beyond what the value can be.
    let maximum = if COUNTS.contains(&name) { f64::INFINITY } else { 1.0 };
    SessionMean {
        name: name.to_owned(),
        mean: found.map(|m| m.mean),
        ci_low: found.and_then(|m| m.ci_low).map(|low| low.max(0.0)),
        ci_high: found.and_then(|m| m.ci_high).map(|high| high.min(maximum)),
        n: found.map_or(0, |m| m.n),
    }
}

/// The nine metrics of a session, then comprehension, efficiency and overall.
type Values = ([Option<f64>; 9], [Option<f64>; 3]);

fn lcba(rows: &[&SessionRow], values_of: &dyn Fn(&SessionRow) -> Values) -> Vec<SessionMean> {
    let values: Vec<Values> = rows.iter().map(|row| values_of(row)).collect();
    let nine = LOCOBENCH_METRICS.iter().enumerate();
    let mut means: Vec<SessionMean> =
        nine.map(|(index, name)| mean(name, values.iter().map(|(nine, _)| nine[index]))).collect();
    for (index, name) in ["comprehension", "efficiency", "overall"].iter().enumerate() {
        means.push(mean(name, values.iter().map(|(_, pair)| pair[index])));
    }
    // The balance of the two means, as the paper has it: it has no interval. Both are of the same scenarios.
    let pairs =
        values.iter().filter_map(|(_, [comprehension, efficiency, _])| comprehension.zip(*efficiency));
    let both: Vec<(f64, f64)> = pairs.collect();
    let means_of_both = mean_over_scenarios(both.iter().map(|pair| pair.0))
        .zip(mean_over_scenarios(both.iter().map(|pair| pair.1)));
    let balance = means_of_both.and_then(|(comprehension, efficiency)| {
        LcbaPair { comprehension: comprehension.mean, efficiency: efficiency.mean }.balance()
    });
    let n = both.len() as u32;
    means.push(SessionMean { name: "balance".to_owned(), mean: balance, ci_low: None, ci_high: None, n });
    means
}

pub(crate) fn share((part, all): (u32, u32)) -> f64 {
    f64::from(part) / f64::from(all)
}

fn corrected(rows: &[&SessionRow]) -> Vec<SessionMean> {
    let each = |name: &str, value_of: &dyn Fn(&CorrectedFigures) -> Option<f64>| {
        mean(name, rows.iter().map(|row| value_of(&row.figures.corrected)))
    };
    vec![
        each("tool_success", &|figures| figures.tool_success.map(share)),
        each("distinct_functions", &|figures| figures.distinct_functions.map(f64::from)),
        each("files_written", &|figures| figures.files_written.as_ref().map(|files| files.len() as f64)),
        each("read_before_write", &|figures| figures.read_before_write.map(share)),
    ]
}

/// Most turns of a session: what its scenario says, else what the program plans for the difficulty.
fn turn_limit(figures: &SessionFigures) -> Option<u32> {
    let planned = || {
        let limit = TURN_LIMITS.iter().find(|(name, _)| figures.difficulty.as_deref() == Some(*name));
        limit.map(|(_, turns)| *turns)
    };
    figures.max_turns.or_else(planned)
}

/// Whether a session ended by itself. The program calls a session `completed` that used up its turns. What a limit of time or the
/// endpoint ended did not end by itself; of one that still runs, or whose record is cut off, the end is unknown.
fn ended_by_itself(figures: &SessionFigures) -> bool {
    let used_up = || figures.turns.zip(turn_limit(figures)).is_some_and(|(turns, limit)| turns >= limit);
    match figures.status.as_deref() {
        Some("failed") => true,
        Some("completed") => !used_up(),
        _ => false,
    }
}

/// Lengths of sessions, as their program counts turns.
fn running(rows: &[&SessionRow]) -> Vec<RunningSessions> {
    let lengths: Vec<Observation> = rows
        .iter()
        .filter_map(|row| {
            // One that never started is in the curve neither as an event nor as censored.
            let steps = row.figures.turns.filter(|_| row.never_started == Some(false))?;
            Some(if ended_by_itself(&row.figures) {
                // It ended in its last step: the step before is the last one after which it still ran.
                Observation { turns: steps.saturating_sub(1), ending: Ending::Event }
            } else {
                Observation { turns: steps, ending: Ending::Censored }
            })
        })
        .collect();
    // After the last step at which a session was at risk the share is unknown.
    let last = lengths.iter().map(|length| length.last_at_risk()).max().unwrap_or(0).min(MOST_STEPS);
    let points = kaplan_meier(&lengths, last);
    points
        .into_iter()
        .map(|point| RunningSessions { step: point.turn, share: point.survival, at_risk: point.at_risk })
        .collect()
}

/// Says that a user has withdrawn the run.
fn withdrawn_mark(run: &RunEntry) -> Option<String> {
    let reason = run.invalid.as_deref()?.trim_end_matches('.');
    Some(format!("The run is withdrawn: {reason}."))
}

/// Says that the means are over a part of the scenarios.
fn missing(run: &RunEntry, all: &SessionGroup, rows: &[SessionRow]) -> Option<String> {
    let planned = run.planned_episodes?;
    if run.episodes_not_kept > 0 {
        let (read, planned) = (run.totals.episodes, planned.saturating_sub(run.withdrawn_episodes));
        let reason = match run.episodes_not_kept {
            1 => "1 is left out, because there is no room for it in memory: it stands last in its files"
                .to_owned(),
            n => format!(
                "{n} are left out, because there is no room for them in memory: those that stand last in their files"
            ),
        };
        let sessions = counted(planned.into(), "session");
        return Some(format!("The means are over the scenarios of {read} of {sessions}; {reason}."));
    }
    let played = rows.iter().map(|row| row.scenario.as_str()).collect::<HashSet<_>>().len();
    // A session that repeats a scenario is none of another, and a scenario whose sessions are withdrawn is not missing.
    let repeats = rows.len().saturating_sub(played) as u32;
    let withdrawn = (played as u32).saturating_sub(all.scenarios);
    let planned = planned.saturating_sub(repeats).saturating_sub(withdrawn);
    (all.scenarios < planned).then(|| {
        let scenarios = counted(planned.into(), "scenario");
        format!("The means are over {} of {scenarios}; the others are not there.", all.scenarios)
    })
}

fn cautions(all: &SessionGroup, rows: &[SessionRow]) -> Vec<String> {
    let mut cautions = vec![
        "Nothing is compiled, run or tested in this benchmark: its scores count words and calls, and are no measure of success.".to_owned(),
    ];
    if all.never_started > 0 {
        cautions.push(format!(
            "{} of {} never started. The program scores such a session all the same; the share of sessions still running leaves it out.",
            all.never_started,
            counted(all.scenarios.into(), "session")
        ));
    }
    let (turns, answered) = all.answered;
    let not_recorded = all.turns.saturating_sub(turns);
    if answered < turns {
        let mean_note = match not_recorded {
            0 => String::new(),
            n => format!(" Of {} nothing says it: no conversation is recorded.", counted(n.into(), "turn")),
        };
        cautions.push(format!(
            "{answered} of {} got an answer of the model; the others count as turns.{mean_note}",
            counted(turns.into(), "turn")
        ));
    }
    if all.differ > 0 {
        cautions.push(format!(
            "In {} of {} an imported figure is another than the one computed here.",
            all.differ,
            counted(all.differ_of.into(), "session")
        ));
    }
    let withdrawn = rows.iter().filter(|row| row.invalid.is_some()).count();
    if withdrawn > 0 {
        cautions.push(format!("{} left out of all means.", counted(withdrawn as u64, "withdrawn session")));
    }
    let superseded = rows.iter().filter(|row| !row.counts && row.invalid.is_none()).count();
    if superseded > 0 {
        let (sessions, verb) =
            (counted(superseded as u64, "session"), if superseded == 1 { "is" } else { "are" });
        cautions.push(format!(
            "{sessions} {verb} of scenarios that were retried; the one that ended last counts in means."
        ));
    }
    cautions
}

#[cfg(test)]
mod tests;
