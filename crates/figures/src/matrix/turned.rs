//! The orientation of a matrix, and whether it is readable at a width.

use std::borrow::Cow;

use super::means::means;
use super::{MatrixPlan, plan};
use crate::font::text_width;
use crate::number::decimal;
use crate::sheet::Sheet;
use crate::spec::{Matrix, MatrixCell};

/// Rows and columns as they are drawn, and whether they are swapped. If there are more columns than rows, they are swapped if
/// that is easier to read.
pub(crate) fn laid_out<'a>(data: &'a Matrix, sheet: &Sheet) -> (Cow<'a, Matrix>, bool) {
    if data.columns.len() > data.rows.len() && !data.rows.is_empty() {
        let turned = turned(data);
        if readable(&turned, sheet) > readable(data, sheet) {
            return (Cow::Owned(turned), true);
        }
    }
    (Cow::Borrowed(data), false)
}

/// How readable a matrix is in this orientation: first complete numbers, then the content of cells, then horizontal names.
fn readable(data: &Matrix, sheet: &Sheet) -> (bool, u8, bool) {
    readability(data, &plan(data, sheet), sheet)
}

/// The same for a plan.
pub(super) fn readability(data: &Matrix, plan: &MatrixPlan, sheet: &Sheet) -> (bool, u8, bool) {
    (is_whole(data, plan, sheet), plan.wording.rank(), !plan.upright)
}

/// The same matrix with columns as rows.
fn turned(data: &Matrix) -> Matrix {
    Matrix {
        rows_name: data.columns_name.clone(),
        columns_name: data.rows_name.clone(),
        rows: data.columns.clone(),
        columns: data.rows.clone(),
        cells: data.cells.iter().map(|c| MatrixCell { row: c.column, column: c.row, ..c.clone() }).collect(),
        row_means: data.column_means.clone(),
        column_means: data.row_means.clone(),
        measure: data.measure.clone(),
        tau: data.tau,
    }
}

/// Why a matrix is not written at a width: a number would be cut, or names would overlap. `None` = it can be written.
pub(crate) fn too_narrow(data: &Matrix, sheet: &Sheet) -> Option<String> {
    let (laid, _) = laid_out(data, sheet);
    let plan = plan(&laid, sheet);
    (!is_whole(&laid, &plan, sheet)).then(|| {
        format!("{} columns beside each other leave no room for whole numbers at this width", plan.columns)
    })
}

/// Whether every number fits its cell, and names over columns do not overlap.
fn is_whole(data: &Matrix, plan: &MatrixPlan, sheet: &Sheet) -> bool {
    let mut played = data.cells.iter().filter(|cell| !cell.is_published_only());
    let mark = 2.4 * sheet.sizes.mark;
    let mut published = data.cells.iter().flat_map(|cell| &cell.published);
    played.all(|cell| plan.whole(&plan.text_of(cell), plan.big))
        && published.all(|p| text_width(&decimal(p.value, 1), plan.size) + mark <= plan.column)
        && means(data, plan).iter().all(|mean| {
            plan.whole(&mean.text, plan.big) && mean.lines.iter().all(|line| plan.whole(line, plan.size))
        })
        && (!plan.upright || plan.column >= 1.1 * plan.size)
}
