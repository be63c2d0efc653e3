//! The means of rows and of columns beside the cells.

use super::wording::{Wording, margin_lines, mean_in_one_line};
use super::{MatrixPlan, NO_RUN};
use crate::labels::Area;
use crate::marks::{Anchor, Canvas};
use crate::number::decimal;
use crate::sheet::Sheet;
use crate::spec::{Margin, Matrix, MatrixCell};

/// Draws them.
pub(super) fn draw_means(sheet: &Sheet, canvas: &Canvas<'_>, data: &Matrix, plan: &MatrixPlan) {
    let MatrixPlan { size, big, .. } = *plan;
    canvas.part("means");
    for mean in means(data, plan) {
        let middle = f64::midpoint(mean.area.left, mean.area.right);
        let mut base = mean.base(plan);
        if plan.whole(&mean.text, big) {
            canvas.text(&mean.text, (middle, base), Anchor::Middle, big, sheet.tokens.label);
        }
        for line in mean.lines.iter().filter(|line| plan.whole(line, size)) {
            base += 1.2 * size;
            canvas.text(line, (middle, base), Anchor::Middle, size, sheet.tokens.muted);
        }
    }
}

/// The mean of a row or a column beside the cells.
pub(crate) struct MeanOfLine {
    pub(crate) area: Area,
    pub(crate) text: String,
    /// The text under it: its number of cells, if some are missing, and whether some are simulated.
    pub(crate) lines: Vec<String>,
}

impl MeanOfLine {
    /// Base line of the mean.
    pub(crate) fn base(&self, plan: &MatrixPlan) -> f64 {
        let middle = f64::midpoint(self.area.top, self.area.bottom);
        match self.lines.len() {
            0 => middle + 0.35 * plan.big,
            lines => middle - (lines as f64 - 1.0) * 0.6 * plan.size,
        }
    }
}

/// The means of rows and of columns, if there are any.
pub(crate) fn means(data: &Matrix, plan: &MatrixPlan) -> Vec<MeanOfLine> {
    let [of_rows, of_columns] = played_lines(data);
    let width = plan.column - 0.4 * plan.size;
    let mean = |margin: &Margin, area: Area, total: usize, in_line: &dyn Fn(&MatrixCell) -> bool| {
        let some_simulated = data.cells.iter().any(|c| c.simulated && c.mean.is_some() && in_line(c));
        let lines =
            margin_lines(margin, total as u32, some_simulated.then(|| plan.simulated()), width, plan.size);
        let text = margin.mean.map_or_else(|| NO_RUN.to_owned(), |m| decimal(m, 1));
        if plan.wording == Wording::Line {
            return MeanOfLine { area, text: mean_in_one_line(&text, &lines), lines: Vec::new() };
        }
        MeanOfLine { area, text, lines }
    };
    let mut means = Vec::new();
    if plan.means[0] {
        for (r, margin) in (0..plan.rows).zip(&data.row_means) {
            let area = plan.cell(r, plan.columns);
            means.push(mean(margin, area, of_columns, &|cell| cell.row as usize == r));
        }
    }
    if plan.means[1] {
        for (c, margin) in (0..plan.columns).zip(&data.column_means) {
            let area = plan.cell(plan.rows, c);
            means.push(mean(margin, area, of_rows, &|cell| cell.column as usize == c));
        }
    }
    means
}

/// Whether a mean that is shown, of rows or of columns, states that it lacks cells.
pub(super) fn some_lack_cells(data: &Matrix, shown: [bool; 2]) -> bool {
    let [of_rows, of_columns] = played_lines(data);
    let lacks_cells = |margins: &[Margin], total: usize| {
        margins.iter().any(|margin| margin.mean.is_some() && (margin.cells as usize) < total)
    };
    (shown[0] && lacks_cells(&data.row_means, of_columns))
        || (shown[1] && lacks_cells(&data.column_means, of_rows))
}

/// How many rows and columns have a run: the denominators of means. Lines with only published numbers enter no mean.
fn played_lines(data: &Matrix) -> [usize; 2] {
    let played = |line: fn(&MatrixCell) -> u32, lines: usize| {
        (0..lines as u32)
            .filter(|l| {
                let mut cells = data.cells.iter().filter(|c| line(c) == *l).peekable();
                cells.peek().is_none() || cells.any(|c| !c.is_published_only())
            })
            .count()
    };
    [played(|c| c.row, data.rows.len()), played(|c| c.column, data.columns.len())]
}
