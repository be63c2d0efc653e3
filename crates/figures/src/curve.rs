//! A survival curve as lines: steps, band, and the end of the known part.

use analysis::survival::SurvivalPoint;

/// Labels of the axis of a share.
pub(crate) const Y_TICKS: [(f64, &str); 5] =
    [(0.0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "1")];

/// The last turn of a table, at least 1.
pub(crate) fn last_turn(points: &[SurvivalPoint]) -> u32 {
    points.iter().map(|p| p.turn).max().unwrap_or(1).max(1)
}

/// The last turn of a table with someone at risk, at least 1.
fn last_turn_at_risk(points: &[SurvivalPoint]) -> u32 {
    points.iter().filter(|p| p.at_risk > 0).map(|p| p.turn).max().unwrap_or(1).max(1)
}

/// The last turn of the axis of several runs: their turn limit, where their tables end. If more than a quarter of it has no
/// episode at risk, it is one turn after the last turn with one. The caption states what was cut.
pub(crate) fn last_turn_shown<'a>(tables: impl Iterator<Item = &'a [SurvivalPoint]>) -> u32 {
    let (limit, at_risk) = limits(tables);
    if (limit - at_risk).saturating_mul(4) > limit { at_risk + 1 } else { limit }
}

/// The turn limit of several runs, and the last turn at which someone is at risk.
pub(crate) fn limits<'a>(tables: impl Iterator<Item = &'a [SurvivalPoint]>) -> (u32, u32) {
    let (mut limit, mut at_risk) = (1, 1);
    for points in tables {
        limit = limit.max(points.last().map_or(1, |p| p.turn));
        at_risk = at_risk.max(last_turn_at_risk(points));
    }
    (limit.max(at_risk), at_risk)
}

/// The known part of a curve as steps in (turn, share).
pub(crate) struct Curve<'a> {
    pub(crate) points: &'a [SurvivalPoint],
    /// The last turn with an episode at risk, where the drawn curve ends.
    pub(crate) known: u32,
}

impl<'a> Curve<'a> {
    pub(crate) fn from_points(points: &'a [SurvivalPoint], turns: u32) -> Self {
        let shown = points.iter().position(|p| p.turn > turns).map_or(points, |end| &points[..end]);
        let end = shown.iter().rposition(|p| p.at_risk > 0).map_or(0, |i| i + 1);
        let points = &shown[..end];
        Self { points, known: points.last().map_or(0, |p| p.turn) }
    }

    /// Step-post line through `value` of each turn, from (0, 1) to the last known turn.
    pub(crate) fn steps(&self, value: impl Fn(&SurvivalPoint) -> f64) -> Vec<(f64, f64)> {
        let mut steps = vec![(0.0, 1.0)];
        let mut now = 1.0;
        for point in self.points {
            let next = value(point).clamp(0.0, 1.0);
            if (next - now).abs() > 0.0 {
                let turn = f64::from(point.turn);
                steps.extend([(turn, now), (turn, next)]);
                now = next;
            }
        }
        steps.push((f64::from(self.known), now));
        steps
    }

    /// Upper and lower step line of the band, from the first event to the last turn where both limits are known.
    /// `None` without a turn to fill.
    pub(crate) fn band(&self) -> Option<[Vec<(f64, f64)>; 2]> {
        let begin = self.points.iter().position(|p| p.ci_low.is_some() && p.ci_high.is_some())?;
        let banded = &self.points[begin..];
        let banded = &banded[..banded.iter().position(|p| p.ci_low.is_none()).unwrap_or(banded.len())];
        // The limits of a turn are valid until the next turn, so those of the last turn have no width.
        let end = banded.last().map(|p| self.points.iter().find(|q| q.turn > p.turn).unwrap_or(p).turn)?;
        let line = |limit: fn(&SurvivalPoint) -> Option<f64>| {
            let mut steps: Vec<(f64, f64)> = Vec::new();
            for point in banded.iter().filter(|p| p.turn < end) {
                let (turn, value) = (f64::from(point.turn), limit(point).unwrap_or(1.0).clamp(0.0, 1.0));
                match steps.last() {
                    Some(before) if (before.1 - value).abs() < 1e-12 => {}
                    Some(before) => steps.extend([(turn, before.1), (turn, value)]),
                    None => steps.push((turn, value)),
                }
            }
            steps.extend(steps.last().map(|before| (f64::from(end), before.1)));
            steps
        };
        let limits = [line(|p| p.ci_high), line(|p| p.ci_low)];
        (limits[0].len() > 1).then_some(limits)
    }

    /// The limits of the last turn, upper and lower, where the band has no turn to fill: of a curve of one turn they are all that
    /// is known of it.
    pub(crate) fn whisker(&self) -> Option<[(f64, f64); 2]> {
        if self.band().is_some() {
            return None;
        }
        let point = self.points.iter().find(|p| p.ci_low.is_some() && p.ci_high.is_some())?;
        let point_at = |limit: f64| (f64::from(point.turn), limit.clamp(0.0, 1.0));
        Some([point_at(point.ci_high?), point_at(point.ci_low?)])
    }

    /// Whether an interval is drawn, as a band or as a whisker.
    pub(crate) fn has_interval(&self) -> bool {
        self.band().is_some() || self.whisker().is_some()
    }

    /// S at a turn of the known part; 1 before the first.
    pub(crate) fn value_at(&self, turn: u32) -> f64 {
        self.points.iter().take_while(|p| p.turn <= turn).last().map_or(1.0, |p| p.survival.clamp(0.0, 1.0))
    }
}
