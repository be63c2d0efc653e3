//! Survival curves of several runs in words: what stands behind a mark, at a turn, and the whole.

use analysis::survival::{RestrictedMean, SurvivalPoint};

use super::Line;
use super::plan::SurvivalPlan;
use crate::display_names::full_name;
use crate::labels::Area;
use crate::number::{decimal, interval, share_with_band};
use crate::scale::ValueAxis;
use crate::scene::hundredths;
use crate::spec::SurvivalComparison;
use crate::summary_text;
use crate::{Hit, Mark};

pub(super) fn series_mark(kind: &str, line: &Line<'_>, area: Area) -> Mark {
    let s = &line.data.summary;
    let mut lines = vec![
        full_name(&line.data.label),
        format!(
            "{}, {} failed, {} censored",
            summary_text::counted(s.n, "episode", "episodes"),
            summary_text::count(s.events),
            summary_text::count(s.censored)
        ),
    ];
    lines.extend(mean_in_words(&s.restricted_mean));
    Mark::new(format!("{kind}-{}", line.index), Some(line.index), area, lines)
}

/// `mean stamina 4.32 (2.85–5.79) (τ = 9)`; `None` = it is unknown.
fn mean_in_words(mean: &RestrictedMean) -> Option<String> {
    let (value, tau) = mean.mean.zip(mean.tau)?;
    let ends = interval(mean.ci_low, mean.ci_high, 2);
    Some(format!("mean stamina {} {ends} (τ = {tau})", decimal(value, 2)))
}

/// What a curve says at a turn, also after its end: `0.36 (0.18–0.54), at risk 13`, `0, nobody at risk`.
pub(super) fn at_turn(line: &Line<'_>, turn: u32) -> String {
    let points = line.curve.points;
    // Its points are in the order of turns.
    let point = points.binary_search_by_key(&turn, |p| p.turn).ok().map(|i| &points[i]);
    match point.filter(|p| p.at_risk > 0) {
        Some(point) => at_point(point),
        None => without_episodes(line, turn),
    }
}

fn at_point(point: &SurvivalPoint) -> String {
    let share = share_with_band(point.survival, point.ci_low, point.ci_high);
    format!("{share}, at risk {}", summary_text::count(point.at_risk))
}

fn without_episodes(line: &Line<'_>, turn: u32) -> String {
    let is_zero = line.curve.known > 0 && line.curve.value_at(turn) <= 0.0;
    if is_zero { "0, nobody at risk".to_owned() } else { "unknown, nobody at risk".to_owned() }
}

pub(super) fn hit(
    turn: u32,
    data: &SurvivalComparison,
    plan: &SurvivalPlan,
    y: &ValueAxis,
    lines: &[Line<'_>],
) -> Hit {
    let (x0, x1) = plan.axis.column(turn);
    let first = data.reference.and_then(|r| lines.get(r as usize)).or(lines.first());
    let row_text = |line: &Line<'_>| format!("{}: {}", full_name(&line.data.label), at_turn(line, turn));
    Hit {
        turn,
        x0: hundredths(x0),
        x1: hundredths(x1.min(plan.right)),
        y: hundredths(first.map_or(plan.bottom, |l| y.position(l.curve.value_at(turn)))),
        lines: lines.iter().map(row_text).collect(),
    }
}

pub(super) fn summary(data: &SurvivalComparison, turns: u32) -> String {
    let mut sentences = vec![format!(
        "Survival curves of {} over {}.",
        summary_text::counted(data.series.len() as u32, "run", "runs"),
        summary_text::counted(turns, "turn", "turns")
    )];
    for series in &data.series {
        let s = &series.summary;
        let mean = mean_in_words(&s.restricted_mean).unwrap_or_else(|| "mean stamina unknown".to_owned());
        sentences.push(format!(
            "{}: {}, {} failed, {} censored, {mean}.",
            full_name(&series.label),
            summary_text::counted(s.n, "episode", "episodes"),
            summary_text::count(s.events),
            summary_text::count(s.censored)
        ));
    }
    if let Some(reference) = data.reference.and_then(|r| data.series.get(r as usize)) {
        sentences.push(format!("The reference is {}.", full_name(&reference.label)));
    }
    sentences.join(" ")
}
