//! The content of a figure in sentences. Lines, arrows, ticks, bars and intervals are named only where they are drawn.

use analysis::survival::SurvivalPoint;

use super::listed;
use crate::curve::{Curve, last_turn, last_turn_shown, limits};
use crate::display_names::{clean, full_name};
use crate::scatter::front;
use crate::spec::{Bands, Figure, Method, Pareto, PlanePoint, Retries, RetrySeries, SurvivalComparison};
use crate::summary_text::in_mid_sentence;
use crate::survival_comparison::{has_others_behind, has_panels, has_ticks, with_bands};

const TICKS: &str = "Vertical ticks mark censored episodes";
/// The intervals of curves, unless a method is given.
const LOG_LOG: &str = "log-log 95 % CI";
/// Those of other figures.
const USUAL: &str = "95 % CI";

/// The content of the figure, and how its intervals were computed, in sentences.
pub(super) fn content(figure: &Figure, method: &Method) -> Vec<String> {
    let intervals = method.intervals.as_deref().map(clean);
    let with_intervals = |text: String, has_intervals: bool, usual: &str| {
        if has_intervals { format!("{text}, {}", intervals.as_deref().unwrap_or(usual)) } else { text }
    };
    match figure {
        Figure::Survival(data) => {
            let curve = Curve::from_points(&data.points, last_turn(&data.points));
            let mut parts = vec![with_intervals("Kaplan–Meier".to_owned(), curve.has_interval(), LOG_LOG)];
            if curve.points.iter().any(|point| point.censored > 0) {
                parts.push(TICKS.to_owned());
            }
            parts
        }
        Figure::SurvivalComparison(data) => curve_parts(data, intervals.as_deref()),
        Figure::FirstFailures(data) => first_failures(data.points.iter()),
        Figure::FirstFailuresComparison(data) => {
            first_failures(data.series.iter().flat_map(|series| &series.points))
        }
        Figure::Differences(data) => {
            let has_interval =
                data.rows.iter().any(|row| row.value.is_some_and(f64::is_finite) && row.ci_low.is_some());
            let text = format!("{} vs. {}", clean(&data.axis), full_name(&data.reference));
            vec![with_intervals(text, has_interval, USUAL)]
        }
        Figure::Paired(data) => {
            let measure = if data.of_rates { "Pass rate (%)".to_owned() } else { data.measure_with_turns() };
            let text = format!(
                "{measure} by {}, {a} and {b}, Δ: {b} − {a}",
                data.nouns()[0],
                a = full_name(&data.a),
                b = full_name(&data.b)
            );
            // The interval is that of the mean, which the caption has.
            let has_interval = data.mean.is_some_and(|mean| mean.ci_low.is_some());
            let mut parts = vec![with_intervals(text, has_interval, USUAL)];
            if data.counted_turns().is_some() {
                parts.push("Later turns do not count".to_owned());
            }
            if crate::paired::has_arrows(data) {
                parts.push("Arrows are lower bounds (censored)".to_owned());
            }
            parts
        }
        Figure::Bars(data) => {
            let text = crate::bars::with_unit(&data.measure, data.unit.as_deref());
            let has_interval = data.rows.iter().any(|row| {
                row.value.is_some_and(f64::is_finite) && row.ci_low.is_some() && row.ci_high.is_some()
            });
            vec![with_intervals(text, has_interval, USUAL)]
        }
        Figure::Pareto(data) => {
            let cost = crate::bars::with_unit(&data.cost, data.unit.as_deref());
            let text = format!("{} against {}", data.measure(), in_mid_sentence(&cost));
            let (has_interval, line) = front_parts(data);
            let mut parts = vec![with_intervals(text, has_interval, USUAL)];
            parts.extend(line.map(str::to_owned));
            parts
        }
        Figure::Plane(data) => {
            let text = format!("{} against {}", clean(&data.y), in_mid_sentence(&clean(&data.x)));
            let has_interval = |point: &PlanePoint| {
                let is_finite = |ends: &(f64, f64)| ends.0.is_finite() && ends.1.is_finite();
                let mut ends = [point.x_ends, point.y_ends].into_iter().flatten();
                point.place().is_some() && ends.any(|ends| is_finite(&ends))
            };
            vec![with_intervals(text, data.points.iter().any(has_interval), USUAL)]
        }
        Figure::Matrix(data) => {
            let text = format!(
                "{} by {} and {}",
                clean(&data.measure),
                in_mid_sentence(&clean(&data.rows_name)),
                in_mid_sentence(&clean(&data.columns_name))
            );
            let has_interval = data
                .cells
                .iter()
                .any(|cell| cell.mean.is_some() && cell.ci_low.is_some() && cell.ci_high.is_some());
            vec![with_intervals(text, has_interval, USUAL)]
        }
        Figure::Retries(data) => {
            let text = "Mean stamina by number of retries allowed".to_owned();
            let has_interval = (0..data.series.len()).any(|i| has_retry_interval(data, i));
            let mut parts = vec![with_intervals(text, has_interval, USUAL)];
            if crate::retries::has_panels(data) {
                parts.push(each_panel("line", crate::retries::has_a_retry(data)));
            }
            parts
        }
        Figure::FailureShares(data) => vec![format!("Classes of {}", clean(&data.unit))],
        // Its notes are in the picture and in its other files.
        Figure::Table(table) => {
            let title = clean(&table.title).trim_end_matches('.').to_owned();
            vec![with_intervals(title, intervals.is_some(), "")]
        }
    }
}

/// What a panel has: the line or curve of one run, and those of the others behind it.
fn each_panel(noun: &str, has_others: bool) -> String {
    let others = if has_others { "; those of the others are gray" } else { "" };
    format!("Each panel has the {noun} of one run{others}")
}

/// Several curves. `intervals`: how their intervals were computed.
fn curve_parts(data: &SurvivalComparison, intervals: Option<&str>) -> Vec<String> {
    let band = banded(data).map_or_else(String::new, |members| {
        let intervals = intervals.unwrap_or(LOG_LOG);
        format!(", {intervals}{members}")
    });
    let mut parts = vec![format!("Kaplan–Meier{band}")];
    if has_ticks(data) {
        parts.push(TICKS.to_owned());
    }
    if has_panels(data) {
        parts.push(each_panel("curve", has_others_behind(data)));
    }
    let tables = || data.series.iter().map(|s| s.points.as_slice());
    let (limit, at_risk) = limits(tables());
    if !data.series.is_empty() && tables().flatten().all(|point| point.at_risk == 0) {
        parts.push("Nobody was at risk at any turn".to_owned());
    } else if last_turn_shown(tables()) < limit {
        parts.push(format!("Nobody is at risk after turn {at_risk} of {limit}"));
    }
    parts
}

/// The runs with a drawn band, as the text after it; `None` = no run. A run in the background has no band, and neither has a
/// run without failures.
fn banded(data: &SurvivalComparison) -> Option<String> {
    let drawn = with_bands(data);
    match drawn.as_slice() {
        [] => None,
        all if all.len() == data.series.len() => Some(String::new()),
        // A panel shows whether its run has a band.
        _ if has_panels(data) && data.bands != Bands::Reference => Some(String::new()),
        some => {
            Some(format!(" of {}", listed(&some.iter().map(|label| full_name(label)).collect::<Vec<_>>())))
        }
    }
}

/// Turns of first failures, and what their bars are.
fn first_failures<'a>(points: impl Iterator<Item = &'a SurvivalPoint>) -> Vec<String> {
    let points: Vec<&SurvivalPoint> = points.collect();
    let has = |count: fn(&SurvivalPoint) -> u32| points.iter().any(|point| count(point) > 0);
    let bars = match (has(|point| point.events), has(|point| point.censored)) {
        (true, true) => {
            Some("Thick bars are failures, thin bars are episodes that were censored after the turn")
        }
        (true, false) => Some("Bars are failures"),
        (false, true) => Some("Thin bars are episodes that were censored after the turn"),
        (false, false) => None,
    };
    ["Turn of first failure"].into_iter().chain(bars).map(str::to_owned).collect()
}

/// Whether a run in the plot has an interval, and what the line of the front is. Without a known cost there is neither.
fn front_parts(data: &Pareto) -> (bool, Option<&'static str>) {
    let dots = crate::pareto::dots(data);
    let line = match front(&dots).len() {
        0 => None,
        1 => Some("The line begins at the run that none beats in both"),
        _ => Some("The line joins the runs that none beats in both"),
    };
    (dots.iter().any(|dot| dot.y_ends.is_some()), line)
}

/// Whether the series with this index has a band or whiskers.
fn has_retry_interval(data: &Retries, index: usize) -> bool {
    let known = |series: &RetrySeries| {
        let has_ends = |mean: Option<f64>, low: Option<f64>, high: Option<f64>| {
            mean.is_some_and(f64::is_finite) && low.is_some() && high.is_some()
        };
        series.points.iter().filter(|p| has_ends(p.mean, p.ci_low, p.ci_high)).count()
    };
    // In a panel of its own a series has a band.
    let is_alone = data.series.len() == 1 || crate::retries::has_panels(data);
    let is_reference = data.reference.is_some_and(|reference| reference as usize == index);
    let least = match data.bands {
        // A band has a width from two budgets on.
        Bands::All | Bands::Auto if is_alone => 2,
        Bands::Auto if is_reference => 2,
        Bands::All | Bands::Auto => 1,
        Bands::Reference if is_reference || crate::retries::has_panels(data) => 2,
        Bands::None | Bands::Reference => return false,
    };
    data.series.get(index).is_some_and(|series| known(series) >= least)
}
