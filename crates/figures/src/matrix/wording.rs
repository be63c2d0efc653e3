//! The texts in the cells of a matrix, in the longest form that fits.

use super::{SIMULATED, cell_text, mean_text};
use crate::font::text_width;
use crate::number::decimal;
use crate::spec::{Margin, Matrix, MatrixCell};

/// From this number of rows, each has one line, if that fits.
pub(super) const MANY_ROWS: usize = 17;

/// The form of the numbers of cells, which all cells share. Columns may be narrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wording {
    /// `2.4–4.7` in one line or two, `n = 25`.
    Full,
    /// `2.4`, `4.7`, `25`, and a note that explains them.
    Bare,
    /// Only the mean, and a note about it.
    Mean,
    /// `3.3 (2.4–4.7), n = 25` in one line, if there are too many rows for a page otherwise.
    Line,
}

impl Wording {
    const BARE: &'static str = "In a cell: mean, lower and upper end of its 95 % CI, n";
    const MEAN: &'static str = "The cells have no room for intervals and n";
    const LINE: &'static str = "In brackets: 95 % CI";

    /// The first form that fits cells of this inner width.
    pub(super) fn fitting(data: &Matrix, width: f64, size: f64) -> Self {
        let fits = |wording: &Self| {
            data.cells
                .iter()
                .flat_map(|c| wording.details(c, width, size))
                .all(|l| text_width(&l, size) <= width)
        };
        [Self::Full, Self::Bare].into_iter().find(fits).unwrap_or(Self::Mean)
    }

    /// The rank of the form by content and clarity. More is better.
    pub(super) fn rank(self) -> u8 {
        match self {
            Self::Full | Self::Line => 2,
            Self::Bare => 1,
            Self::Mean => 0,
        }
    }

    /// Lines of a cell below its mean.
    pub(super) fn details(self, cell: &MatrixCell, width: f64, size: f64) -> Vec<String> {
        let mut lines = Vec::new();
        if matches!(self, Self::Mean | Self::Line) || cell.is_published_only() {
            return lines;
        }
        if let (Some(low), Some(high)) = (cell.ci_low, cell.ci_high) {
            let (low, high) = (decimal(low, 1), decimal(high, 1));
            let whole = format!("{low}–{high}");
            match self {
                Self::Full if text_width(&whole, size) <= width => lines.push(whole),
                Self::Full => lines.extend([format!("{low}–"), high]),
                _ => lines.extend([low, high]),
            }
        } else if cell.mean.is_some() {
            lines.push(if self == Self::Full { "CI n/a" } else { "n/a" }.to_owned());
        }
        lines.push(if self == Self::Full { format!("n = {}", cell.n) } else { cell.n.to_string() });
        lines
    }

    pub(super) fn note(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::Bare => Some(Self::BARE),
            Self::Mean => Some(Self::MEAN),
            Self::Line => Some(Self::LINE),
        }
    }
}

/// A cell in one line: `3.3 (2.4–4.7), n = 25`.
pub(super) fn in_one_line(cell: &MatrixCell) -> String {
    let mut text = cell_text(cell);
    if let (Some(low), Some(high)) = (cell.ci_low, cell.ci_high) {
        text.push_str(&format!(" ({}–{})", decimal(low, 1), decimal(high, 1)));
    } else if cell.mean.is_some() {
        text.push_str(" (CI n/a)");
    }
    text.push_str(&format!(", n = {}", cell.n));
    if cell.simulated {
        text.push_str(", ");
        text.push_str(SIMULATED);
    }
    text
}

/// The mean of a row or column in one line.
pub(super) fn mean_in_one_line(mean: &str, lines: &[String]) -> String {
    std::iter::once(mean).chain(lines.iter().map(String::as_str)).collect::<Vec<_>>().join(", ")
}

/// The widest line of a matrix with one line per cell; `None` = its cells need more lines.
pub(super) fn widest_line(data: &Matrix, size: f64) -> Option<f64> {
    if data.rows.len() < MANY_ROWS || data.cells.iter().any(|c| !c.published.is_empty()) {
        return None;
    }
    let most = data.rows.len().max(data.columns.len()) as u32;
    let some_simulated = data.cells.iter().any(|c| c.simulated);
    let margin_values = data.row_means.iter().chain(&data.column_means).map(|margin| {
        let lines = margin_lines(margin, most, some_simulated.then_some(SIMULATED), f64::INFINITY, size);
        mean_in_one_line(&mean_text(margin.mean), &lines)
    });
    Some(
        data.cells
            .iter()
            .map(in_one_line)
            .chain(margin_values)
            .map(|t| text_width(&t, size))
            .fold(0.0, f64::max),
    )
}

/// The text under the mean of a row or column: its number of cells, if some are missing, and whether some are simulated. It is
/// shorter if there is little room.
pub(super) fn margin_lines(
    margin: &Margin,
    total: u32,
    simulated: Option<&str>,
    width: f64,
    size: f64,
) -> Vec<String> {
    if margin.mean.is_none() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    if margin.cells < total {
        let whole = format!("{} of {total}", margin.cells);
        let fits = text_width(&whole, size) <= width;
        lines.push(if fits { whole } else { format!("{}/{total}", margin.cells) });
    }
    lines.extend(simulated.map(str::to_owned));
    lines
}
