//! Harness × model, with the cells at the places of the drawing.

use plotters::style::RGBColor;

use super::{Picture, bp};
use crate::labels::Area;
use crate::matrix::{
    MeanOfLine, NO_RUN, Plan, cell_at, ink_on, laid_out, means, no_run_fits, plan, shown_names,
};
use crate::number::decimal;
use crate::sheet::Sheet;
use crate::spec::{FigureSpec, Matrix, MatrixCell};
use crate::tex::escape;
use crate::theme::{Theme, grey};

pub(super) fn matrix(picture: &mut Picture, spec: &FigureSpec, data: &Matrix) {
    let sheet = Sheet::from_layout(&spec.layout, spec.theme);
    let (data, _) = laid_out(data, &sheet);
    let data: &Matrix = &data;
    let plan = plan(data, &sheet);
    names(picture, data, &plan);
    for row in 0..plan.rows {
        for column in 0..plan.columns {
            let area = plan.cell(row, column);
            match cell_at(data, row, column) {
                Some(found) => cell(picture, &plan, &area, found, spec.theme),
                None => missing(picture, &plan, &area),
            }
        }
    }
    for line in means(data, &plan) {
        mean(picture, &plan, &line);
    }
    for (row, text) in plan.notes.iter().enumerate() {
        let base = plan.notes_top + (0.6 + 1.3 * (row as f64 + 0.8)) * plan.size;
        picture.text((1.0, base), "base west", ",text=black!60", &escape(text));
    }
    if data.rows.is_empty() || data.columns.is_empty() {
        picture.text((picture.width / 2.0, plan.top + plan.size), "base", ",text=black!60", "No run");
    }
}

fn names(picture: &mut Picture, data: &Matrix, plan: &Plan) {
    let size = picture.tick;
    let right = plan.left - 0.6 * plan.size;
    let [rows, columns] = shown_names(data, plan, size);
    for (row, name) in rows.iter().map(String::as_str).chain(plan.means[1].then_some("Mean")).enumerate() {
        let area = plan.cell(row, 0);
        let base = f64::midpoint(area.top, area.bottom) + 0.35 * size;
        picture.text((right, base), "base east", "", &escape(name));
    }
    for (column, name) in
        columns.iter().map(String::as_str).chain(plan.means[0].then_some("Mean")).enumerate()
    {
        let area = plan.cell(0, column);
        let middle = f64::midpoint(area.left, area.right);
        let bottom = plan.top - 0.5 * plan.size;
        if plan.upright {
            picture.text((middle, bottom), "west", ",rotate=90", &escape(name));
        } else {
            picture.text((middle, bottom), "base", "", &escape(name));
        }
    }
}

fn cell(picture: &mut Picture, plan: &Plan, area: &Area, cell: &MatrixCell, theme: Theme) {
    let fill = plan.fill(cell.mean.unwrap_or(0.0));
    let fill = if theme == Theme::Grey { grey(fill) } else { fill };
    let ink = match cell.mean {
        Some(_) => {
            picture.boxed(area, 0.5, &format!("\\fill[fill={}]", rgb(fill)));
            rgb(ink_on(fill))
        }
        None => {
            picture.boxed(area, 1.0, "\\draw[black!30,line width=0.5bp]");
            "black!60".to_owned()
        }
    };
    let lines = plan.lines(cell);
    let published = cell.published.first().map(|p| decimal(p.value, 1));
    let count = lines.len() + usize::from(published.is_some());
    let block = plan.big + count as f64 * 1.2 * plan.size;
    let middle = f64::midpoint(area.left, area.right);
    let mut base = f64::midpoint(area.top, area.bottom) - block / 2.0 + 0.85 * plan.big;
    let big = if plan.big > plan.size { picture.label } else { picture.tick };
    let of_mean = format!(",text={ink},font={}", super::font(big));
    if !cell.is_published_only() {
        picture.text((middle, base), "base", &of_mean, &escape(&plan.text_of(cell)));
    } else if no_run_fits(area.right - area.left, plan.size) {
        picture.text((middle, base), "base", &format!(",text={ink}"), NO_RUN);
    }
    for line in lines {
        base += 1.2 * plan.size;
        picture.text((middle, base), "base", &format!(",text={ink}"), &escape(&line));
    }
    if let Some(published) = published {
        base += 1.2 * plan.size;
        // The hollow mark of published numbers.
        let text = format!("\\ensuremath{{\\diamond}}{}", escape(&published));
        picture.text((middle, base), "base", &format!(",text={ink}"), &text);
    }
}

fn missing(picture: &mut Picture, plan: &Plan, area: &Area) {
    picture.boxed(area, 1.0, "\\draw[black!30,line width=0.5bp]");
    if no_run_fits(area.right - area.left, plan.size) {
        let at =
            (f64::midpoint(area.left, area.right), f64::midpoint(area.top, area.bottom) + 0.35 * plan.size);
        picture.text(at, "base", ",text=black!60", "no run");
    }
}

fn mean(picture: &mut Picture, plan: &Plan, mean: &MeanOfLine) {
    let middle = f64::midpoint(mean.area.left, mean.area.right);
    let mut base = mean.base(plan);
    let big = if plan.big > plan.size { picture.label } else { picture.tick };
    let of_mean = format!(",font={}", super::font(big));
    picture.text((middle, base), "base", &of_mean, &escape(&mean.text));
    for line in &mean.lines {
        base += 1.2 * plan.size;
        picture.text((middle, base), "base", ",text=black!60", &escape(line));
    }
}

/// A color by its parts.
fn rgb(RGBColor(r, g, b): RGBColor) -> String {
    format!("{{rgb,255:red,{r};green,{g};blue,{b}}}")
}

impl Picture {
    /// A text at a place of the drawing, whose y axis points downwards.
    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: &str, more: &str, text: &str) {
        let y = self.height - y;
        self.words((x, y), anchor, more, text);
    }

    /// A path around an area of the drawing, with this inset.
    pub(super) fn boxed(&mut self, area: &Area, inset: f64, path: &str) {
        let height = self.height;
        self.add(&format!(
            "{path} ({},{}) rectangle ({},{});",
            bp(area.left + inset),
            bp(height - area.top - inset),
            bp(area.right - inset),
            bp(height - area.bottom + inset)
        ));
    }
}
