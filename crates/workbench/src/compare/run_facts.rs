//! What runs say of themselves beyond their settings, as lines of the comparison: benchmark, scenarios, turns, attempts,
//! versions, completeness.

use std::collections::{BTreeMap, BTreeSet};

use model::counted;
use store::RunEntry;

use super::coverage;
use super::members::{Pool, PooledRun, Scenario, all_of_one_turn};
use super::rules::Effect;
use super::setting_line::{Line, Setting};
use crate::api::SettingDifference;
use crate::episodes::episode_noun;

/// The line that says which scenarios were played.
const SCENARIOS: &str = "Scenarios";
/// The same of runs of one turn.
const TASKS: &str = "Tasks";

/// Says of two members that have trials in common, and no scenario by its name, that these are of one whatever their sources call it.
pub(super) fn share_no_name(differences: &mut [SettingDifference]) {
    for difference in differences {
        let scenario = match difference.setting.as_str() {
            SCENARIOS => "scenario",
            TASKS => "task",
            _ => continue,
        };
        difference.note =
            format!("they have trials in common, though by their names no {scenario} is shared");
    }
}

/// The lines, in the order in which they matter.
pub(crate) fn lines(pools: &[Pool]) -> Vec<Line<'static>> {
    let one_turn = all_of_one_turn(pools);
    let mut lines = vec![
        run_line(
            "Benchmark",
            pools,
            Effect::NotComparable,
            "scores of different benchmarks mean different things",
            |run| Some(Setting::text(run.record.entry.benchmark.name.clone())),
        ),
        run_line(
            "Played by",
            pools,
            Effect::NotComparable,
            "a simulated model or a baseline shows that the machinery works, and nothing of a model",
            |run| {
                let entry = &run.record.entry;
                match (entry.simulated, entry.baseline) {
                    (true, _) => Some(Setting::text("a simulated model")),
                    (_, Some(_)) => Some(Setting::text("no model (a baseline)")),
                    // A model that nobody names may be any.
                    _ => entry.model.as_ref().map(|_| Setting::text("a real model")),
                }
            },
        ),
        scenarios(pools, one_turn),
        planned_turns(pools),
        Line {
            favors: Some("more attempts favor"),
            ..run_line(
                "Attempt limit",
                pools,
                Effect::NotComparable,
                "turns may be tried a different number of times",
                |run| run.record.entry.attempt_limit.map(Setting::number),
            )
        },
        runner(pools),
    ];
    lines.extend(mix_line("Models", pools, one_turn, |run| run.record.entry.model.as_deref()));
    lines.extend(mix_line("Harnesses", pools, one_turn, |run| run.record.entry.harness.as_deref()));
    if is_same_for_all(pools, |run| run.record.entry.harness.clone()) {
        lines.push(run_line(
            "Harness version",
            pools,
            Effect::CannotBeRuledOut,
            "another version of the harness may behave otherwise",
            |run| run.record.entry.harness_version.clone().map(Setting::text),
        ));
    }
    if is_same_for_all(pools, |run| run.record.entry.model.clone()) {
        lines.push(run_line(
            "Provider",
            pools,
            Effect::CannotBeRuledOut,
            "another provider may serve another build of the model",
            |run| run.record.entry.provider.clone().map(Setting::text),
        ));
    }
    lines.extend(episode_lines(pools, one_turn));
    lines
}

/// How many episodes there are, of each scenario and in all, and how far they came.
fn episode_lines(pools: &[Pool], one_turn: bool) -> [Line<'static>; 3] {
    let read = if one_turn {
        ["Trials read", "trials that are missing may be the hard ones"]
    } else {
        ["Episodes read", "episodes that are missing may be the hard ones"]
    };
    let repeats = if one_turn {
        ["Trials of a task", "more trials of a task make rates surer, and no larger"]
    } else {
        ["Episodes of a scenario", "more episodes of a scenario make means surer, and no larger"]
    };
    let reached = if one_turn {
        ["Trials begun", "a trial that did not begin is not scored: no effect on the pass rate"]
    } else {
        ["Turns reached", "not reached after an earlier failure: no effect on stamina"]
    };
    let read = run_line(read[0], pools, Effect::CannotBeRuledOut, read[1], |run| {
        // Only what is missing matters here; how many there are, the next line says.
        coverage::read_of_planned_in_job(pools, run).map(|(read, planned)| {
            Setting::text(if read >= planned {
                "all that were planned".to_owned()
            } else {
                format!("{read} of {planned}")
            })
        })
    });
    let repeats = run_line(repeats[0], pools, Effect::Harmless, repeats[1], |run| {
        let mut times: BTreeMap<&str, u32> = BTreeMap::new();
        for episode in &run.episodes {
            *times.entry(&episode.scenario).or_default() += 1;
        }
        Some(Setting::text(range_in_words(times.values().copied())?))
    });
    let reached = run_line(reached[0], pools, Effect::Harmless, reached[1], |run| {
        let reached: u32 = run.episodes.iter().map(|e| e.reached_turns).sum();
        let planned: u32 = run.episodes.iter().map(|e| e.planned_turns).sum::<Option<u32>>()?;
        Some(Setting::text(format!("{reached} of {planned}")))
    });
    [read, repeats, reached]
}

/// A line with a value of each run.
fn run_line(
    label: &str,
    pools: &[Pool],
    effect: Effect,
    note: &str,
    value: impl Fn(&PooledRun) -> Option<Setting>,
) -> Line<'static> {
    Line {
        label: label.to_owned(),
        key: None,
        differs: false,
        values: pools.iter().map(|pool| pool.runs.iter().map(&value).collect()).collect(),
        effect,
        favors: None,
        note: note.to_owned(),
    }
}

/// What groups pool, with how much of each: a group of other models is not another harness. Members of one model (or
/// harness) each are what is compared, and no difference.
fn mix_line(
    label: &str,
    pools: &[Pool],
    one_turn: bool,
    name_of: impl for<'a> Fn(&'a PooledRun) -> Option<&'a str>,
) -> Option<Line<'static>> {
    let mixes: Vec<BTreeMap<&str, (usize, usize)>> = pools
        .iter()
        .map(|pool| {
            let mut mix: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
            for run in &pool.runs {
                let (runs, episodes) = mix.entry(name_of(run).unwrap_or("unknown")).or_default();
                *runs += 1;
                *episodes += run.episodes.len();
            }
            mix
        })
        .collect();
    if mixes.iter().all(|mix| mix.len() < 2) {
        return None;
    }
    let plural = |n: usize, singular: &str| format!("{n} {singular}{}", if n == 1 { "" } else { "s" });
    let text = |mix: &BTreeMap<&str, (usize, usize)>| {
        let parts: Vec<String> = mix
            .iter()
            .map(|(name, (runs, episodes))| {
                format!("{name} ({}, {})", plural(*runs, "run"), plural(*episodes, episode_noun(one_turn)))
            })
            .collect();
        Setting::text(parts.join(", "))
    };
    let episodes = |mix: &BTreeMap<&str, (usize, usize)>| mix.values().map(|(_, n)| *n).sum::<usize>();
    // Shares are compared without dividing: a / b = c / d where a · d = c · b.
    let same_shares = |a: &BTreeMap<&str, (usize, usize)>, b: &BTreeMap<&str, (usize, usize)>| {
        a.iter().zip(b).all(|((_, (_, x)), (_, (_, y)))| x * episodes(b) == y * episodes(a))
    };
    let first = mixes.first()?;
    let (effect, note) = if mixes.iter().any(|mix| !mix.keys().eq(first.keys())) {
        (Effect::NotComparable, "the groups are of different ones, and these may make the difference")
    } else if mixes.iter().any(|mix| !same_shares(first, mix)) {
        (
            Effect::CannotBeRuledOut,
            "the groups have different shares of each, and these may make the difference",
        )
    } else {
        (Effect::Harmless, "every group has the same share of each")
    };
    Some(Line {
        label: label.to_owned(),
        key: None,
        differs: effect != Effect::Harmless,
        values: mixes.iter().map(|mix| vec![Some(text(mix))]).collect(),
        effect,
        favors: None,
        note: note.to_owned(),
    })
}

/// Whether a value is the same for all runs.
fn is_same_for_all<T: PartialEq>(pools: &[Pool], value: impl Fn(&PooledRun) -> T) -> bool {
    let mut values = pools.iter().flat_map(|pool| &pool.runs).map(value);
    let first = values.next();
    values.all(|value| Some(value) == first)
}

/// `4`, or `3 to 15`.
fn range_in_words(values: impl Iterator<Item = u32> + Clone) -> Option<String> {
    let (smallest, greatest) = (values.clone().min()?, values.max()?);
    Some(if smallest == greatest { smallest.to_string() } else { format!("{smallest} to {greatest}") })
}

/// Which scenarios were played: the same, some of the same, or others.
fn scenarios(pools: &[Pool], one_turn: bool) -> Line<'static> {
    let played: Vec<BTreeSet<Scenario<'_>>> = pools.iter().map(Pool::all_scenarios).collect();
    let shared = shared(&played);
    let (label, scenario) = if one_turn { (TASKS, "task") } else { (SCENARIOS, "scenario") };
    let value = |own: &BTreeSet<Scenario<'_>>| {
        let count = counted(own.len() as u64, scenario);
        let others = own.len() - shared.len();
        match others {
            0 => count,
            _ if shared.is_empty() => format!("{count}, none of them played by all"),
            _ => format!("{count}, {others} of them not played by all"),
        }
    };
    Line {
        label: label.to_owned(),
        key: None,
        // Two sets of the same size that share nothing have the same words.
        differs: played.iter().any(|own| own.len() != shared.len()),
        values: played.iter().map(|own| vec![Some(Setting::text(value(own)))]).collect(),
        effect: Effect::NotComparable,
        favors: None,
        note: match shared.len() {
            0 => format!("no {scenario} is shared by all: one set may be harder than the other"),
            1 => format!("only 1 {scenario} is shared by all: compare on it alone (paired)"),
            n => format!("only {n} {scenario}s are shared by all: compare on these (paired)"),
        },
    }
}

/// The scenarios that are in all sets.
pub(crate) fn shared<'a>(played: &[BTreeSet<Scenario<'a>>]) -> BTreeSet<Scenario<'a>> {
    let Some((first, others)) = played.split_first() else { return BTreeSet::new() };
    first.iter().filter(|setting| others.iter().all(|other| other.contains(*setting))).cloned().collect()
}

/// How many turns are planned, on the scenarios that all played where there are any.
fn planned_turns(pools: &[Pool]) -> Line<'static> {
    let shared = shared(&pools.iter().map(Pool::scenarios).collect::<Vec<_>>());
    let counts = |run: &PooledRun, episode: &store::EpisodeEntry| {
        shared.is_empty() || shared.contains(&run.scenario(episode))
    };
    // Where a scenario's plan differs and the range does not, the range alone would call them equal.
    let mut plans: BTreeMap<Scenario<'_>, BTreeSet<u32>> = BTreeMap::new();
    for run in pools.iter().flat_map(|pool| &pool.runs) {
        for episode in run.episodes.iter().filter(|e| counts(run, e)) {
            if let Some(planned) = episode.planned_turns {
                plans.entry(run.scenario(episode)).or_default().insert(planned);
            }
        }
    }
    let mut line = run_line(
        "Planned turns",
        pools,
        Effect::NotComparable,
        "who may play longer can last longer; means are over the turns that all know",
        |run| {
            let plans = run.episodes.iter().filter(|e| counts(run, e)).map(|e| e.planned_turns);
            let plans = plans.collect::<Option<Vec<u32>>>()?;
            Some(Setting::text(range_in_words(plans.into_iter())?))
        },
    );
    line.differs = plans.values().any(|plan| plan.len() > 1);
    line
}

/// The tool that ran the evaluation.
fn runner(pools: &[Pool]) -> Line<'static> {
    let words = |run: &RunEntry| {
        run.runner.as_ref().map(|(name, version)| match version {
            Some(version) => format!("{name} {version}"),
            None => format!("{name}, version unknown"),
        })
    };
    run_line(
        "Run by",
        pools,
        Effect::CannotBeRuledOut,
        "another version of the tool that runs and grades may do so otherwise",
        |run| words(&run.record.entry).map(Setting::text),
    )
}
