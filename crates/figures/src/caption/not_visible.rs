//! What a reader cannot see in a drawing: lines under equal ones, and numbers without room.

use super::{MOST_NAMED, listed, names_in_sentences};
use crate::display_names::full_name;
use crate::spec::{Figure, FigureSpec, SeriesLabel};
use crate::summary_text::counted;
use crate::{failure_shares, retries, survival_comparison};

/// Points of a line: turn or number of retries, and value.
type Points = Vec<(f64, f64)>;

/// The line of the run with this index.
struct Line {
    index: usize,
    points: Points,
    /// The turn or the number of retries where it ends.
    end: f64,
}

impl Line {
    /// `None` = the run has no point.
    fn from_points(index: usize, points: Points) -> Option<Self> {
        let end = points.iter().map(|point| point.0).reduce(f64::max)?;
        Some(Self { index, points, end })
    }

    /// The line of a curve: its steps without the last point, which only says where it ends.
    fn from_steps(index: usize, steps: Points) -> Option<Self> {
        let mut line = Self::from_points(index, steps)?;
        line.points.pop();
        Some(line)
    }

    /// Whether the values of a longer line are those of this one, up to the end of this one.
    fn lies_on(&self, longer: &Self) -> bool {
        let shared: Vec<&(f64, f64)> = longer
            .points
            .iter()
            .filter(|point| point.0 <= self.end || are_equal(point.0, self.end))
            .collect();
        shared.len() == self.points.len()
            && shared.iter().zip(&self.points).all(|(a, b)| are_equal(a.0, b.0) && are_equal(a.1, b.1))
    }
}

fn are_equal(first: f64, other: f64) -> bool {
    (first - other).abs() < 1e-9
}

/// Which lines coincide, and which segments have no number, in sentences. In a panel of its own, each line is visible.
pub(super) fn sentences(spec: &FigureSpec) -> Vec<String> {
    match &spec.figure {
        Figure::Retries(data) if !retries::has_panels(data) => {
            let (labels, each): (Vec<&SeriesLabel>, Vec<Points>) = retries::lines(data).into_iter().unzip();
            let names = run_names(&labels);
            let known = each.into_iter().enumerate().filter_map(|(i, points)| Line::from_points(i, points));
            // A run with one known mean has a point and no line.
            let (single, several): (Vec<Line>, Vec<Line>) = known.partition(|line| line.points.len() == 1);
            let mut parts = coinciding("lines", "R = ", &several, &names);
            parts.extend(coinciding("points", "R = ", &single, &names));
            parts
        }
        Figure::SurvivalComparison(data) if !survival_comparison::has_panels(data) => {
            let (labels, each): (Vec<&SeriesLabel>, Vec<Points>) =
                survival_comparison::curves(data).into_iter().unzip();
            let known = each.into_iter().enumerate().filter_map(|(i, steps)| Line::from_steps(i, steps));
            coinciding("curves", "turn ", &known.collect::<Vec<_>>(), &run_names(&labels))
        }
        Figure::FailureShares(data) => failure_shares::percent_without_number(data, &spec.layout, spec.theme)
            .map(|percent| format!("Segments without a number are below {percent} %"))
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// The names of all runs of the figure, as its numbers of episodes have them.
fn run_names(labels: &[&SeriesLabel]) -> Vec<String> {
    names_in_sentences(&labels.iter().map(|label| full_name(label)).collect::<Vec<_>>())
}

/// Names the runs of which one line hides another: `The lines of A and B coincide`. Of lines that end at different places, the
/// shorter one is hidden: `The curves of A and C coincide to turn 8`.
fn coinciding(noun: &str, unit: &str, lines: &[Line], names: &[String]) -> Vec<String> {
    let mut longest_first: Vec<&Line> = lines.iter().collect();
    longest_first.sort_by(|a, b| b.end.total_cmp(&a.end));
    // Each longest line, with those that lie on it.
    let mut groups: Vec<(&Line, Vec<&Line>)> = Vec::new();
    for line in longest_first {
        match groups.iter_mut().find(|(longest, _)| line.lies_on(longest)) {
            Some((_, on_it)) => on_it.push(line),
            None => groups.push((line, Vec::new())),
        }
    }
    let mut parts = Vec::new();
    for (longest, on_it) in &groups {
        for hidden in on_it.chunk_by(|a, b| are_equal(a.end, b.end)) {
            let end = hidden[0].end;
            let mut members: Vec<usize> = hidden.iter().map(|line| line.index).collect();
            members.push(longest.index);
            members.sort_unstable();
            let until = if are_equal(end, longest.end) { String::new() } else { format!(" to {unit}{end}") };
            parts.push(format!("The {noun} of {} coincide{until}", named(&members, names)));
        }
    }
    parts
}

/// The members by name. More than three are `all 13 runs`, `all runs but A and B`, or `A, B, C and 5 others`.
fn named(members: &[usize], names: &[String]) -> String {
    let named_ones = |indices: &[usize]| indices.iter().map(|i| names[*i].clone()).collect::<Vec<String>>();
    let rest: Vec<usize> = (0..names.len()).filter(|i| !members.contains(i)).collect();
    match (members.len(), rest.len()) {
        (..=MOST_NAMED, _) => listed(&named_ones(members)),
        (_, 0) => format!("all {} runs", names.len()),
        (_, ..=MOST_NAMED) => format!("all runs but {}", listed(&named_ones(&rest))),
        (all, _) => {
            let (first, others) = (named_ones(&members[..MOST_NAMED]), all - MOST_NAMED);
            format!("{} and {}", first.join(", "), counted(others as u32, "other", "others"))
        }
    }
}
