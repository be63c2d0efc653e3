//! The caption of a figure: how its numbers were computed, from how many episodes, and with which software.

use std::borrow::Cow;

use analysis::survival::StaminaSummary;

use crate::curve::{last_turn_shown, limits};
use crate::display_names::{clean, full_name};
use crate::number::{decimal, interval, p_value};
use crate::spec::{EpisodeCounts, Figure, FigureSpec, MatrixCell, Method, SeriesLabel, SurvivalComparison};
use crate::summary_text::{count, counted};
use crate::table::Table;

/// Sentences for a caption: content, method, n and events, censoring policy, software. Plain text that is complete except for
/// a title, which the author writes.
pub fn caption(spec: &FigureSpec) -> String {
    sentence(std::iter::once(drawn(&spec.figure, &spec.method)).chain(made(&spec.figure, &spec.method)))
}

/// A caption of one or two sentences: content, numbers of runs and episodes, and simulated runs. For slides, and for a paper
/// that describes its methods in the text.
pub fn short_caption(spec: &FigureSpec) -> String {
    let mut sentences = vec![drawn(&spec.figure, &spec.method).trim_end_matches('.').to_owned()];
    let mut facts: Vec<String> = total(&spec.figure, &spec.method).into_iter().collect();
    facts.extend(tau(&spec.figure, &spec.method));
    if !facts.is_empty() {
        sentences.push(facts.join(", "));
    }
    let are_simulated: Vec<bool> = match &spec.figure {
        Figure::Matrix(data) => {
            data.cells.iter().filter(|c| !c.is_published_only()).map(|c| c.simulated).collect()
        }
        figure => labels(figure).into_iter().map(|label| label.simulated).collect(),
    };
    match are_simulated.iter().filter(|is| **is).count() {
        0 => {}
        all if all == are_simulated.len() => sentences.push("All simulated".to_owned()),
        some => sentences.push(format!("{some} of {} simulated", are_simulated.len())),
    }
    format!("{}.", sentences.join(". "))
}

/// `13 runs, n = 325`, from the data of the figure, else from its method.
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
    (runs > 0).then(|| format!("{}, n = {}", counted(runs as u32, "run", "runs"), count(n)))
}

/// The table of a figure as it is printed and drawn. A note below the other notes describes how its numbers were computed. A
/// table with an unknown method, for example from a handwritten spec, does not change.
pub(crate) fn with_method<'a>(table: &'a Table, spec: &FigureSpec) -> Cow<'a, Table> {
    let method = &spec.method;
    if *method == (Method { software: method.software.clone(), ..Method::default() }) {
        return Cow::Borrowed(table);
    }
    let intervals = method.intervals.iter().map(|given| clean(given));
    let mut table = table.clone();
    table.notes.push(sentence(intervals.chain(made(&spec.figure, method))));
    Cow::Owned(table)
}

/// The parts joined, without empty ones.
fn sentence(parts: impl Iterator<Item = String>) -> String {
    format!("{}.", parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; "))
}

/// How the figure was computed, part by part, and with which software.
fn made(figure: &Figure, method: &Method) -> Vec<String> {
    let mut parts = Vec::new();
    parts.extend(numbers(figure, method));
    parts.extend(tau(figure, method));
    if let Some(test) = &method.test {
        parts.push(clean(test));
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
        parts.push(counted(scenarios, "shared scenario", "shared scenarios"));
    }
    parts.extend(policy(figure, method));
    parts.extend(simulated(figure));
    parts.extend(method.notes.iter().map(|note| clean(note)));
    parts.push(clean(&method.software));
    if let Some(data) = &method.data {
        parts.push(format!("data {}", clean(data)));
    }
    parts
}

/// The content of the figure, and how its intervals were computed.
fn drawn(figure: &Figure, method: &Method) -> String {
    let given = method.intervals.as_deref().map(clean);
    let with = |what: &str, usual: &str| match &given {
        Some(given) => format!("{what}, {given}"),
        None if usual.is_empty() => what.to_owned(),
        None => format!("{what}, {usual}"),
    };
    match figure {
        Figure::Survival(data) => {
            let turns = crate::curve::last_turn(&data.points);
            let band = crate::curve::Curve::from_points(&data.points, turns).band().is_some();
            if band {
                with("Kaplan–Meier", "log-log 95 % CI; vertical ticks: censored")
            } else {
                "Kaplan–Meier; vertical ticks: censored".to_owned()
            }
        }
        Figure::SurvivalComparison(data) => {
            let band = match (banded(data), &given) {
                (None, _) => String::new(),
                (Some(whose), given) => {
                    format!(", {}{whose}", given.as_deref().unwrap_or("log-log 95 % CI"))
                }
            };
            let (limit, at_risk) = limits(data.series.iter().map(|s| s.points.as_slice()));
            let cut = if last_turn_shown(data.series.iter().map(|s| s.points.as_slice())) < limit {
                format!("; nobody is at risk after turn {at_risk} of {limit}")
            } else {
                String::new()
            };
            format!("Kaplan–Meier{band}; vertical ticks: censored{cut}")
        }
        Figure::FirstFailures(_) | Figure::FirstFailuresComparison(_) => {
            "Turn of first failure, thick bars: failed, thin bars: censored after the turn".to_owned()
        }
        Figure::Differences(data) => {
            with(&format!("{} vs. {}", clean(&data.axis), full_name(&data.reference)), "95 % CI")
        }
        Figure::Paired(data) => {
            let what = format!(
                "Stamina by scenario, {a} and {b}, Δ: {b} − {a}, arrows: lower bounds (censored)",
                a = full_name(&data.a),
                b = full_name(&data.b)
            );
            with(&what, if data.mean.is_some() { "95 % CI" } else { "" })
        }
        Figure::Bars(data) => {
            let has_ci = data.rows.iter().any(|r| r.ci_low.is_some());
            with(
                &crate::bars::with_unit(&data.measure, data.unit.as_deref()),
                if has_ci { "95 % CI" } else { "" },
            )
        }
        Figure::Pareto(data) => {
            let cost = crate::bars::with_unit(&data.cost, data.unit.as_deref());
            with(&format!("Mean stamina against {cost}, line: runs that none beats in both"), "95 % CI")
        }
        Figure::Plane(data) => {
            let has_ci = data.points.iter().any(|p| p.x_ends.is_some() || p.y_ends.is_some());
            let what = format!("{} against {}", clean(&data.y), clean(&data.x).to_lowercase());
            with(&what, if has_ci { "95 % CI" } else { "" })
        }
        Figure::Matrix(data) => {
            let what = format!(
                "{} by {} and {}",
                clean(&data.measure),
                clean(&data.rows_name),
                clean(&data.columns_name)
            );
            with(&what, "95 % CI")
        }
        Figure::Retries(_) => with("Mean stamina by number of retries allowed", "95 % CI"),
        Figure::FailureShares(data) => format!("Classes of {}", clean(&data.unit)),
        // Its notes are in the picture and in its other files.
        Figure::Table(table) => with(clean(&table.title).trim_end_matches('.'), ""),
    }
}

/// `n = 25, 23 events, 2 censored`.
fn ended(n: u32, events: Option<u32>, censored: Option<u32>) -> String {
    let mut parts = vec![format!("n = {}", count(n))];
    parts.extend(events.map(|events| counted(events, "event", "events")));
    parts.extend(censored.map(|censored| format!("{} censored", count(censored))));
    parts.join(", ")
}

/// The runs with a drawn band, as the text after it; `None` = no run. A run in the background has no band, and neither has a
/// run without failures.
fn banded(data: &SurvivalComparison) -> Option<String> {
    let drawn = crate::survival_comparison::with_bands(data);
    match drawn.as_slice() {
        [] => None,
        all if all.len() == data.series.len() => Some(String::new()),
        some => {
            Some(format!(" of {}", some.iter().map(|label| full_name(label)).collect::<Vec<_>>().join(", ")))
        }
    }
}

/// n and events of each run, or other counts, from the data of the figure, else from its method.
fn numbers(figure: &Figure, method: &Method) -> Option<String> {
    let counts_of = |s: &StaminaSummary| ended(s.n, Some(s.events), Some(s.censored));
    let several = |series: &[crate::spec::SeriesData]| {
        let each: Vec<String> =
            series.iter().map(|s| format!("{}: {}", full_name(&s.label), counts_of(&s.summary))).collect();
        each.join("; ")
    };
    let counts =
        method.counts.iter().map(|c| format!("{}: {}", clean(&c.name), ended(c.n, c.events, c.censored)));
    let counts = Some(counts.collect::<Vec<_>>().join("; ")).filter(|counts| !counts.is_empty());
    match figure {
        Figure::Survival(data) | Figure::FirstFailures(data) => {
            Some(format!("{}: {}", clean(&data.name), counts_of(&data.summary)))
        }
        Figure::SurvivalComparison(data) => Some(several(&data.series)),
        Figure::FirstFailuresComparison(data) => Some(several(&data.series)),
        Figure::Paired(data) => {
            let pairs = counted(data.pairs.len() as u32, "scenario", "scenarios");
            let mean = data.mean.map(|mean| {
                let p = mean.p.map(|_| format!(", {}", p_value(mean.p))).unwrap_or_default();
                let ci = interval(mean.ci_low, mean.ci_high, 2);
                format!(", mean Δ {} {ci} turns{p}", decimal(mean.value, 2))
            });
            let counts = counts.map(|counts| format!("; all episodes of {counts}"));
            Some(format!("{pairs}{}{}", mean.unwrap_or_default(), counts.unwrap_or_default()))
        }
        Figure::Matrix(data) => {
            let played: Vec<&MatrixCell> = data.cells.iter().filter(|c| !c.is_published_only()).collect();
            let total: u32 = played.iter().fold(0, |all, c| all.saturating_add(c.n));
            let sum = |of: fn(&EpisodeCounts) -> Option<u32>| {
                let all: Option<Vec<u32>> = method.counts.iter().map(of).collect();
                all.filter(|all| !all.is_empty()).map(|all| all.into_iter().fold(0, u32::saturating_add))
            };
            // A cell of pass rates counts scored trials. The others are episodes too, and censored.
            let n = sum(|c| Some(c.n)).unwrap_or(total);
            Some(format!(
                "{} in {}",
                ended(n, sum(|c| c.events), sum(|c| c.censored)),
                counted(played.len() as u32, "cell", "cells")
            ))
        }
        Figure::FailureShares(data) => {
            let groups = data.groups.iter().map(|g| {
                let sum = g.counts.iter().fold(0_u32, |all, c| all.saturating_add(*c));
                format!("{}: n = {}", full_name(&g.label), count(g.total.unwrap_or(sum)))
            });
            let episodes = counts.map(|counts| format!("; all episodes of {counts}"));
            Some(format!("{}{}", groups.collect::<Vec<_>>().join(", "), episodes.unwrap_or_default()))
        }
        Figure::Pareto(data) => counts.or_else(|| {
            let known = data
                .points
                .iter()
                .filter_map(|p| p.n.map(|n| format!("{}: n = {}", full_name(&p.label), count(n))));
            Some(known.collect::<Vec<_>>().join(", "))
        }),
        Figure::Plane(data) => {
            let known = data
                .points
                .iter()
                .filter_map(|p| p.n.map(|n| format!("{}: n = {}", full_name(&p.label), count(n))));
            Some(known.collect::<Vec<_>>().join(", ")).filter(|known| !known.is_empty())
        }
        Figure::Retries(_) => counts.map(|counts| format!("with the most retries {counts}")),
        Figure::Bars(_) | Figure::Differences(_) | Figure::Table(_) => counts,
    }
}

fn tau(figure: &Figure, method: &Method) -> Option<String> {
    let own = match figure {
        Figure::Survival(data) => Some(data.summary.restricted_mean.tau).filter(|t| *t > 0),
        Figure::SurvivalComparison(data) => data.tau,
        Figure::Pareto(data) => data.tau,
        Figure::Matrix(data) => data.tau,
        Figure::Retries(data) => data.tau,
        _ => None,
    };
    method.tau.or(own).map(|tau| format!("τ = {tau}"))
}

fn policy(figure: &Figure, method: &Method) -> Option<String> {
    let own = match figure {
        Figure::Survival(data) | Figure::FirstFailures(data) => Some(&data.policy),
        _ => None,
    };
    let name = method.policy.as_ref().or(own)?;
    let details: Vec<String> = method.policy_details.iter().map(|d| clean(d)).collect();
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    Some(format!("censoring policy {}{details}", clean(name)))
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
    let names: Vec<String> = match figure {
        Figure::Matrix(data) => {
            let cells = data.cells.iter().filter(|c| c.simulated).filter_map(|c| {
                let (row, column) = (data.rows.get(c.row as usize)?, data.columns.get(c.column as usize)?);
                Some(format!("{} × {}", clean(row), clean(column)))
            });
            cells.collect()
        }
        _ => labels(figure).into_iter().filter(|l| l.simulated).map(|l| clean(&l.name)).collect(),
    };
    (!names.is_empty()).then(|| format!("simulated: {}", names.join(", ")))
}
