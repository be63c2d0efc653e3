//! The caption of a figure: how its numbers were computed, from how many episodes, and with which software.

mod content;
mod drawn_names;
mod never_at_risk;
mod not_visible;

use std::borrow::Cow;

use analysis::survival::StaminaSummary;

use self::content::content;
use crate::display_names::{clean, full_name, short_names};
use crate::number::{decimal, interval, p_value};
use crate::spec::{EpisodeCounts, Figure, FigureSpec, MatrixCell, Method, SeriesLabel};
use crate::summary_text::{count, counted, in_mid_sentence};
use crate::table::Table;

/// Sentences for a caption: content, what the drawing hides, method, n and events, censoring policy, software. Plain text that is complete except for
/// a title, which the author writes. Runs with equal counts are named together.
pub fn caption(spec: &FigureSpec) -> String {
    let shown = content(&spec.figure, &spec.method).into_iter().chain(not_visible::sentences(spec));
    let shown = shown.chain(drawn_names::sentence(spec));
    sentences(shown.chain(method_sentences(&spec.figure, &spec.method)))
}

/// A caption of one or two sentences: content, numbers of runs and episodes, and simulated runs. For slides, and for a paper
/// that describes its methods in the text.
pub fn short_caption(spec: &FigureSpec) -> String {
    let mut parts = content(&spec.figure, &spec.method);
    let mut facts: Vec<String> = total(&spec.figure, &spec.method).into_iter().collect();
    facts.extend(tau(&spec.figure, &spec.method).map(|tau| format!("τ = {tau}")));
    parts.push(facts.join(", "));
    let are_simulated: Vec<bool> = match &spec.figure {
        Figure::Matrix(data) => {
            data.cells.iter().filter(|c| !c.is_published_only()).map(|c| c.simulated).collect()
        }
        figure => labels(figure).into_iter().map(|label| label.simulated).collect(),
    };
    match are_simulated.iter().filter(|simulated| **simulated).count() {
        0 => {}
        all if all == are_simulated.len() => parts.push("All simulated".to_owned()),
        some => parts.push(format!("{some} of {} simulated", are_simulated.len())),
    }
    sentences(parts.into_iter())
}

/// `13 runs, n = 325`, from the data of the figure, else from its method. A matrix counts cells, which pool runs; of classes of
/// failures the method may have the sum of all runs, so only episodes are counted.
fn total(figure: &Figure, method: &Method) -> Option<String> {
    let (runs, each): (usize, Vec<u32>) = match figure {
        Figure::Survival(data) | Figure::FirstFailures(data) => (1, vec![data.summary.n]),
        Figure::SurvivalComparison(data) => {
            (data.series.len(), data.series.iter().map(|s| s.summary.n).collect())
        }
        Figure::FirstFailuresComparison(data) => {
            (data.series.len(), data.series.iter().map(|s| s.summary.n).collect())
        }
        Figure::Table(_) => return None,
        _ => (method.counts.len(), method.counts.iter().map(|counts| counts.n).collect()),
    };
    let n = each.iter().fold(0_u32, |all, n| all.saturating_add(*n));
    let n = match figure {
        _ if counts_trials(method) => counted(n, "scored trial", "scored trials"),
        Figure::FailureShares(_) => counted(n, "episode", "episodes"),
        _ => count(n),
    };
    (runs > 0).then(|| match figure {
        Figure::Matrix(_) => format!("{}, n = {n}", counted(runs as u32, "cell", "cells")),
        Figure::FailureShares(_) => format!("n = {n}"),
        _ => format!("{}, n = {n}", counted(runs as u32, "run", "runs")),
    })
}

impl FigureSpec {
    /// The table, as it is printed and drawn, with a last note about how its numbers were computed. `None` = it is not a table.
    pub fn table(&self) -> Option<Cow<'_, Table>> {
        match &self.figure {
            Figure::Table(table) => Some(with_method(table, self)),
            _ => None,
        }
    }
}

/// The table of a figure as it is printed and drawn. A note below the other notes describes how its numbers were computed. A
/// table with an unknown method, for example from a handwritten spec, does not change.
pub(crate) fn with_method<'a>(table: &'a Table, spec: &FigureSpec) -> Cow<'a, Table> {
    let method = &spec.method;
    if *method == (Method { software: method.software.clone(), ..Method::default() }) {
        return Cow::Borrowed(table);
    }
    let intervals = method.intervals.iter().map(|intervals| clean(intervals));
    let mut table = table.clone();
    table.notes.push(sentences(intervals.chain(method_sentences(&spec.figure, method))));
    Cow::Owned(table)
}

/// Whether the method counts trials of runs of one turn, and no episodes.
fn counts_trials(method: &Method) -> bool {
    !method.counts.is_empty() && method.counts.iter().all(|counts| counts.passed.is_some())
}

/// The parts as sentences, each with one full stop, without empty ones.
fn sentences(parts: impl Iterator<Item = String>) -> String {
    let ended = parts
        .map(|part| part.trim_end_matches(['.', ' ']).to_owned())
        .filter(|part| !part.is_empty())
        .map(|part| if part.ends_with(['!', '?']) { part } else { format!("{part}.") });
    ended.collect::<Vec<_>>().join(" ")
}

/// `A`, `A and B`, `A, B and C`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// How the figure was computed, sentence by sentence, and with which software.
fn method_sentences(figure: &Figure, method: &Method) -> Vec<String> {
    let mut parts = numbers(figure, method);
    parts.extend(never_at_risk::sentence(figure));
    parts.extend(
        tau(figure, method).map(|tau| format!("The horizon is τ = {}", counted(tau, "turn", "turns"))),
    );
    if let Some(test) = &method.test {
        let test = clean(test);
        parts.push(if test.starts_with("p ") { test } else { format!("Test: {test}") });
    }
    if let Some(bootstrap) = &method.bootstrap {
        parts.push(format!(
            "{} bootstrap resamples by {}, seed {}",
            count(bootstrap.resamples),
            clean(&bootstrap.unit),
            bootstrap.seed
        ));
    }
    if let Some(scenarios) = method.scenarios {
        let [one, many] = if counts_trials(method) { ["task", "tasks"] } else { ["scenario", "scenarios"] };
        let shared = if scenarios == 0 { format!("no {one}") } else { counted(scenarios, one, many) };
        parts.push(format!("The runs share {shared}"));
    }
    parts.extend(policy(figure, method));
    parts.extend(simulated(figure));
    parts.extend(method.notes.iter().map(|note| clean(note)));
    if !method.software.is_empty() {
        parts.push(format!("Made with {}", clean(&method.software)));
    }
    if let Some(data) = &method.data {
        parts.push(format!("Data: {}", clean(data)));
    }
    parts
}

/// `n = 25, 23 events, 2 censored`; of a run of one turn `n = 25 scored trials of 5 tasks, 15 passed, 10 failed, 2 not scored`.
fn ended(counts: &EpisodeCounts) -> String {
    let Some(passed) = counts.passed else {
        let mut parts = vec![format!("n = {}", count(counts.n))];
        parts.extend(counts.events.map(|events| counted(events, "event", "events")));
        parts.extend(counts.censored.map(|censored| format!("{} censored", count(censored))));
        return parts.join(", ");
    };
    let task_count = counts.tasks.map(|tasks| format!(" of {}", counted(tasks, "task", "tasks")));
    let mut parts = vec![
        format!(
            "n = {}{}",
            counted(counts.n, "scored trial", "scored trials"),
            task_count.unwrap_or_default()
        ),
        format!("{} passed", count(passed)),
        format!("{} failed", count(counts.n.saturating_sub(passed))),
    ];
    parts.extend(counts.unscored.filter(|n| *n > 0).map(|n| format!("{} not scored", count(n))));
    parts.join(", ")
}

/// The most names of one group if another group is named.
const MOST_NAMED: usize = 3;

/// More letters in the names of all runs make a caption of a page.
const MOST_LETTERS: usize = 800;

/// The names of all runs of a figure for its sentences: very long ones are as short as in the figure.
fn names_in_sentences(complete: &[String]) -> Vec<String> {
    let is_long = complete.iter().map(String::len).sum::<usize>() > MOST_LETTERS;
    if is_long { short_names(complete) } else { complete.to_vec() }
}

/// The counts of runs, with those of equal counts together: `A: n = 25, 16 events, 9 censored`,
/// `B and C: each n = 25, 24 events, 1 censored`, `The other 9: each …`. `around` adds words to the names. Very long ones are
/// as short as in the figure, with one of them as an example.
fn grouped(each: &[EpisodeCounts], around: impl Fn(&str) -> String) -> Vec<String> {
    let complete: Vec<String> = each.iter().map(|label| clean(&label.name)).collect();
    let names = names_in_sentences(&complete);
    let example = names.iter().zip(&complete).find(|(short, complete)| short != complete);
    let example = example.map(|(short, complete)| format!("{short} is {complete}"));
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (label, name) in each.iter().zip(names) {
        let text = ended(label);
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(name),
            None => groups.push((text, vec![name])),
        }
    }
    // The largest group is last, without its names, because the figure has them.
    let most = groups.iter().map(|(_, names)| names.len()).max().unwrap_or(0);
    let rest = groups.iter().position(|(_, names)| names.len() == most && most > MOST_NAMED);
    let rest = rest.map(|index| groups.remove(index));
    let mut parts: Vec<String> = groups
        .iter()
        .map(|(text, names)| {
            let manner = if names.len() > 1 { "each " } else { "" };
            format!("{}: {manner}{text}", around(&listed(names)))
        })
        .collect();
    parts.extend(rest.map(|(text, names)| {
        let others = if groups.is_empty() { "all" } else { "the other" };
        capital(&format!("{}: each {text}", around(&format!("{others} {}", names.len()))))
    }));
    parts.extend(example);
    parts
}

/// A text with a capital at its start.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// n and events of each run, or other counts, from the data of the figure, else from its method.
fn numbers(figure: &Figure, method: &Method) -> Vec<String> {
    let counts_of = |name: String, s: &StaminaSummary| EpisodeCounts {
        name,
        n: s.n,
        events: Some(s.events),
        censored: Some(s.censored),
        ..EpisodeCounts::default()
    };
    let several = |series: &[crate::spec::SeriesData]| {
        let each: Vec<EpisodeCounts> =
            series.iter().map(|s| counts_of(full_name(&s.label), &s.summary)).collect();
        grouped(&each, str::to_owned)
    };
    let own =
        |label: &SeriesLabel, n: u32| EpisodeCounts { name: full_name(label), n, ..EpisodeCounts::default() };
    let counts = |around: &dyn Fn(&str) -> String| grouped(&method.counts, around);
    let plain = |name: &str| name.to_owned();
    let all = if counts_trials(method) { "All trials" } else { "All episodes" };
    let counted_of_all = |name: &str| format!("{all} of {name}");
    match figure {
        Figure::Survival(data) | Figure::FirstFailures(data) => {
            grouped(&[counts_of(clean(&data.name), &data.summary)], plain)
        }
        Figure::SurvivalComparison(data) => several(&data.series),
        Figure::FirstFailuresComparison(data) => several(&data.series),
        Figure::Paired(data) => {
            let [one, many] = data.nouns();
            let pairs = counted(data.pairs.len() as u32, one, many);
            let mean = data.mean.map(|mean| {
                let p = mean.p.map(|_| format!(", {}", p_value(mean.p))).unwrap_or_default();
                let value = decimal(mean.value, 2);
                if mean.ci_low.is_some() {
                    let ci = interval(mean.ci_low, mean.ci_high, 2);
                    return format!(", mean Δ {value} {ci} {}{p}", data.unit());
                }
                let reason =
                    if data.pairs.len() > 1 { "no variation".to_owned() } else { format!("one {one}") };
                format!(", mean Δ {value} {} (no interval: {reason}){p}", data.unit())
            });
            let mut parts = vec![format!("{pairs}{}", mean.unwrap_or_default())];
            parts.extend(counts(&counted_of_all));
            parts
        }
        Figure::Matrix(data) => {
            let played: Vec<&MatrixCell> = data.cells.iter().filter(|c| !c.is_published_only()).collect();
            let total: u32 = played.iter().fold(0, |all, c| all.saturating_add(c.n));
            let sum = |measure: fn(&EpisodeCounts) -> Option<u32>| {
                let all: Option<Vec<u32>> = method.counts.iter().map(measure).collect();
                all.filter(|all| !all.is_empty()).map(|all| all.into_iter().fold(0, u32::saturating_add))
            };
            let summed = EpisodeCounts {
                n: sum(|c| Some(c.n)).unwrap_or(total),
                events: sum(|c| c.events),
                censored: sum(|c| c.censored),
                passed: sum(|c| c.passed),
                unscored: sum(|c| c.unscored),
                ..EpisodeCounts::default()
            };
            vec![format!("{} in {}", ended(&summed), counted(played.len() as u32, "cell", "cells"))]
        }
        Figure::FailureShares(data) => {
            let groups: Vec<EpisodeCounts> = data
                .groups
                .iter()
                .map(|g| {
                    let sum = g.counts.iter().fold(0_u32, |all, c| all.saturating_add(*c));
                    own(&g.label, g.total.unwrap_or(sum))
                })
                .collect();
            let mut parts = grouped(&groups, plain);
            parts.extend(counts(&counted_of_all));
            parts
        }
        Figure::Pareto(data) if method.counts.is_empty() => {
            let known: Vec<EpisodeCounts> =
                data.points.iter().filter_map(|p| p.n.map(|n| own(&p.label, n))).collect();
            grouped(&known, plain)
        }
        Figure::Plane(data) => {
            let by_measure = |label: &SeriesLabel, measure: &str, n: Option<u32>| {
                let name = format!("{}, {}", full_name(label), in_mid_sentence(&clean(measure)));
                n.map(|n| EpisodeCounts { name, ..own(label, n) })
            };
            let each = data.points.iter().flat_map(|p| match p.x_n {
                Some(_) => [by_measure(&p.label, &data.y, p.n), by_measure(&p.label, &data.x, p.x_n)],
                None => [p.n.map(|n| own(&p.label, n)), None],
            });
            let known: Vec<EpisodeCounts> = each.flatten().collect();
            grouped(&known, plain)
        }
        Figure::Retries(_) => counts(&|name| format!("{name} with the most retries")),
        Figure::Pareto(_) | Figure::Bars(_) | Figure::Differences(_) | Figure::Table(_) => counts(&plain),
    }
}

/// The horizon in turns.
fn tau(figure: &Figure, method: &Method) -> Option<u32> {
    let own = match figure {
        Figure::Survival(data) => data.summary.restricted_mean.tau,
        Figure::SurvivalComparison(data) => data.tau,
        Figure::Pareto(data) => data.tau,
        Figure::Matrix(data) => data.tau,
        Figure::Retries(data) => data.tau,
        _ => None,
    };
    method.tau.or(own)
}

fn policy(figure: &Figure, method: &Method) -> Option<String> {
    let own = match figure {
        Figure::Survival(data) | Figure::FirstFailures(data) => Some(&data.policy),
        _ => None,
    };
    let name = method.policy.as_ref().or(own)?;
    let details: Vec<String> = method.policy_details.iter().map(|d| clean(d)).collect();
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    let subject = if counts_trials(method) {
        "Which trials are scored follows"
    } else {
        "Failures and censored episodes follow"
    };
    Some(format!("{subject} censoring policy {}{details}", clean(name)))
}

/// The runs that a figure names.
pub(crate) fn labels(figure: &Figure) -> Vec<&SeriesLabel> {
    match figure {
        Figure::Survival(_) | Figure::FirstFailures(_) | Figure::Matrix(_) | Figure::Table(_) => Vec::new(),
        Figure::SurvivalComparison(data) => data.series.iter().map(|s| &s.label).collect(),
        Figure::FirstFailuresComparison(data) => data.series.iter().map(|s| &s.label).collect(),
        Figure::Differences(data) => {
            [&data.reference].into_iter().chain(data.rows.iter().map(|r| &r.label)).collect()
        }
        Figure::Paired(data) => vec![&data.a, &data.b],
        Figure::Bars(data) => data.rows.iter().map(|r| &r.label).collect(),
        Figure::Pareto(data) => data.points.iter().map(|p| &p.label).collect(),
        Figure::Plane(data) => data.points.iter().map(|p| &p.label).collect(),
        Figure::Retries(data) => data.series.iter().map(|s| &s.label).collect(),
        Figure::FailureShares(data) => data.groups.iter().map(|g| &g.label).collect(),
    }
}

fn simulated(figure: &Figure) -> Option<String> {
    let (noun, names, all): (&str, Vec<String>, usize) = match figure {
        Figure::Matrix(data) => {
            let cells = data.cells.iter().filter(|c| c.simulated).filter_map(|c| {
                let (row, column) = (data.rows.get(c.row as usize)?, data.columns.get(c.column as usize)?);
                Some(format!("{} × {}", clean(row), clean(column)))
            });
            let played = data.cells.iter().filter(|c| !c.is_published_only()).count();
            ("cells", cells.collect(), played)
        }
        _ => {
            let labels = labels(figure);
            let names = labels.iter().filter(|l| l.simulated).map(|l| clean(&l.name)).collect();
            ("runs", names, labels.len())
        }
    };
    match names.len() {
        0 => None,
        1 => Some(format!("{} is simulated", names[0])),
        2 if all == 2 => Some(format!("Both {noun} are simulated")),
        many if many == all => Some(format!("All {many} {noun} are simulated")),
        _ => Some(format!("{} are simulated", listed(&names))),
    }
}
