//! Episodes that a figure counts in n, and no turn has at risk: they ended before the verdict of turn 1.

use analysis::survival::SurvivalPoint;

use super::{MOST_NAMED, listed};
use crate::display_names::{clean, full_name};
use crate::spec::{Figure, SeriesData};
use crate::summary_text::{count, counted};

/// The episodes of a run that were never at risk, and all of its episodes.
struct NeverAtRisk {
    name: String,
    never: u32,
    n: u32,
}

impl NeverAtRisk {
    fn from_points(name: String, points: &[SurvivalPoint], n: u32) -> Option<Self> {
        let first = points.first().filter(|point| point.turn == 1)?;
        let never = n.saturating_sub(first.at_risk);
        (never > 0).then_some(Self { name, never, n })
    }

    fn from_series(series: &[SeriesData]) -> Vec<Self> {
        series
            .iter()
            .filter_map(|run| Self::from_points(full_name(&run.label), &run.points, run.summary.n))
            .collect()
    }
}

/// Why the numbers at risk begin below n; `None` = they begin with n, or the figure has none.
pub(super) fn sentence(figure: &Figure) -> Option<String> {
    let found: Vec<NeverAtRisk> = match figure {
        Figure::Survival(data) | Figure::FirstFailures(data) => {
            NeverAtRisk::from_points(clean(&data.name), &data.points, data.summary.n).into_iter().collect()
        }
        Figure::SurvivalComparison(data) => NeverAtRisk::from_series(&data.series),
        Figure::FirstFailuresComparison(data) => NeverAtRisk::from_series(&data.series),
        _ => Vec::new(),
    };
    let counted_share =
        |never: u32, n: u32| format!("{} of {}", count(never), counted(n, "episode", "episodes"));
    let subject = if found.len() > MOST_NAMED {
        let sum = |measure: fn(&NeverAtRisk) -> u32| {
            found.iter().fold(0_u32, |all, run| all.saturating_add(measure(run)))
        };
        format!("{} of {} runs", counted_share(sum(|run| run.never), sum(|run| run.n)), found.len())
    } else {
        let each: Vec<String> =
            found.iter().map(|run| format!("{} of {}", counted_share(run.never, run.n), run.name)).collect();
        listed(&each)
    };
    let predicate = match found.as_slice() {
        [] => return None,
        [NeverAtRisk { never: 1, .. }] => "it counts in n, and is never at risk",
        _ => "they count in n, and are never at risk",
    };
    Some(format!("{subject} ended before the verdict of turn 1: {predicate}"))
}
