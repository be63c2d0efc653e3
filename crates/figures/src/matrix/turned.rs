//! Which way round a matrix stands, and whether it can be read at a width at all.

use std::borrow::Cow;

use super::{Plan, means, plan};
use crate::font::text_width;
use crate::number::decimal;
use crate::sheet::Sheet;
use crate::spec::{Matrix, MatrixCell};

/// Rows and columns as they are drawn, and whether they changed places: more columns than rows stand as rows where that makes
/// them easier to read.
pub(crate) fn laid_out<'a>(data: &'a Matrix, sheet: &Sheet) -> (Cow<'a, Matrix>, bool) {
    if data.columns.len() > data.rows.len() && !data.rows.is_empty() {
        let turned = turned(data);
        if readable(&turned, sheet) > readable(data, sheet) {
            return (Cow::Owned(turned), true);
        }
    }
    (Cow::Borrowed(data), false)
}

/// How well a matrix can be read as it stands: first whole numbers, then what cells say, then names that lie.
fn readable(data: &Matrix, sheet: &Sheet) -> (bool, u8, bool) {
    let plan = plan(data, sheet);
    (is_whole(data, &plan, sheet), plan.wording.rank(), !plan.upright)
}

/// The same with columns as rows.
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

/// Why a matrix is not written at a width: a number in it would be cut, or names would stand on each other. `None` = it can be.
pub(crate) fn too_narrow(data: &Matrix, sheet: &Sheet) -> Option<String> {
    let (laid, _) = laid_out(data, sheet);
    let plan = plan(&laid, sheet);
    (!is_whole(&laid, &plan, sheet)).then(|| {
        format!("{} columns beside each other leave no room for whole numbers at this width", plan.columns)
    })
}

/// Whether every number fits its cell, and names over columns stand apart.
fn is_whole(data: &Matrix, plan: &Plan, sheet: &Sheet) -> bool {
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
