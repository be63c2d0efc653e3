//! Harness × model: a grid of mean stamina. Many columns beside few rows become rows if their names are then readable.

use plotters::style::RGBColor;

use crate::bars::published_note;
use crate::display_names::{clean, fit, fit_all, readable_width_of, short_names};
use crate::font::text_width;
use crate::footnotes;
use crate::labels::Area;
use crate::line_breaks::{broken, widest_part};
use crate::marks::{Anchor, Canvas, Pen};
use crate::number::decimal;
use crate::series_style::hollow_diamond;
use crate::sheet::{DrawingNames, PAD, Sheet};
use crate::spec::{Layout, Matrix, MatrixCell};
use crate::summary_text::in_mid_sentence;
use crate::theme::{Theme, grey};
use crate::{Drawing, Mark};

mod color_bar;
mod colors;
mod means;
mod turned;
mod wording;

use self::colors::{ink_on, ramp};
use self::means::draw_means;
pub(crate) use self::turned::{laid_out, too_narrow};
use self::wording::{Wording, in_one_line, widest_line};

/// The text of a cell without a run. If it does not fit, the frame is empty and a note explains it.
pub(crate) const NO_RUN: &str = "no run";

pub(crate) fn no_run_fits(column: f64, size: f64) -> bool {
    text_width(NO_RUN, size) <= column - 2.0
}

/// The text of a simulated cell, and its short form.
const SIMULATED: &str = "simulated";
const SHORT: &str = "sim.";
/// Most lines of the name of a column that has no other beside it.
const MOST_NAME_LINES: usize = 4;
/// Distance of these lines, in heights of letters.
const NAME_LINE: f64 = 1.2;
/// The usual and the greatest share of the width that names of rows have.
const SHARE_OF_NAMES: [f64; 2] = [0.28, 0.42];

pub(crate) struct MatrixPlan {
    pub(crate) left: f64,
    /// Width of the names of rows.
    beside: f64,
    pub(crate) top: f64,
    column: f64,
    row: f64,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    /// Whether there is a column and a row of means.
    pub(crate) means: [bool; 2],
    /// Whether column names are vertical.
    pub(crate) upright: bool,
    /// The name of the only column, in lines over the whole width; `None` = there are several columns.
    only_name: Option<Vec<String>>,
    pub(crate) size: f64,
    /// Size of the means.
    pub(crate) big: f64,
    most: f64,
    wording: Wording,
    pub(crate) notes: Vec<String>,
    pub(crate) notes_top: f64,
    height: f64,
}

impl MatrixPlan {
    /// The color of a cell with this mean.
    pub(crate) fn fill(&self, mean: f64) -> RGBColor {
        ramp(if self.most > 0.0 { mean / self.most } else { 0.0 })
    }

    /// The texts in a cell under its mean, except published values.
    pub(crate) fn lines(&self, cell: &MatrixCell) -> Vec<String> {
        let width = self.column - 0.4 * self.size;
        let mut lines = self.wording.details(cell, width - 0.1 * self.size, self.size);
        if cell.simulated && self.wording != Wording::Line {
            lines.push(self.simulated().to_owned());
        }
        lines
    }

    /// The mean of a cell, with its other texts.
    pub(crate) fn text_of(&self, cell: &MatrixCell) -> String {
        if self.wording == Wording::Line { in_one_line(cell) } else { cell_text(cell) }
    }

    /// A number, if it fits completely, because a cut number would be another one.
    pub(crate) fn whole(&self, text: &str, size: f64) -> bool {
        text_width(text, size) <= self.column - 0.4 * self.size + 0.01
    }

    /// The text of a simulated cell.
    fn simulated(&self) -> &'static str {
        if text_width(SIMULATED, self.size) <= self.column - 0.4 * self.size { SIMULATED } else { SHORT }
    }

    pub(crate) fn cell(&self, row: usize, column: usize) -> Area {
        // There is a gap before means.
        let apart = |is_mean: bool| if is_mean { 0.5 * self.size } else { 0.0 };
        let left = self.left + column as f64 * self.column + apart(column >= self.columns);
        let top = self.top + row as f64 * self.row + apart(row >= self.rows);
        Area { left, top, right: left + self.column, bottom: top + self.row }
    }
}

pub(crate) fn draw(data: &Matrix, layout: &Layout, theme: Theme) -> Drawing {
    let sheet = Sheet::from_layout(layout, theme);
    let drawing_names =
        DrawingNames { kind: "matrix", title: "Stamina by harness and model", summary: summary(data) };
    let (laid, is_turned) = laid_out(data, &sheet);
    let plan = plan(&laid, &sheet);
    let cells: Vec<(usize, usize, Option<&MatrixCell>)> = (0..plan.rows)
        .flat_map(|r| (0..plan.columns).map(move |c| (r, c)))
        .map(|(r, c)| (r, c, cell_at(&laid, r, c)))
        .collect();
    let mut drawing = sheet.draw(plan.height, &drawing_names, |canvas| {
        draw_names(&sheet, canvas, &laid, &plan);
        canvas.part("cells");
        for (row, column, cell) in &cells {
            let area = plan.cell(*row, *column);
            match cell {
                Some(cell) => draw_cell(&sheet, canvas, &plan, area, cell),
                None => draw_missing(&sheet, canvas, area, plan.size),
            }
        }
        draw_means(&sheet, canvas, &laid, &plan);
        color_bar::draw(&sheet, canvas, &plan, &laid.measure);
        if cells.is_empty() {
            let place = (sheet.width / 2.0, plan.top + plan.size);
            sheet.centered(canvas, "No run", place, sheet.sizes.name_font, sheet.tokens.muted);
        }
        footnotes::draw(&sheet, canvas, &plan.notes, plan.notes_top);
    });
    drawing.marks = cells
        .iter()
        .map(|(row, column, cell)| {
            // Ids use the rows and columns of the data.
            let (row_place, column_place) = if is_turned { (*column, *row) } else { (*row, *column) };
            let lines = cell_lines(data, row_place, column_place, *cell);
            Mark::new(format!("cell-{row_place}-{column_place}"), None, plan.cell(*row, *column), lines)
        })
        .collect();
    drawing
}

pub(crate) fn cell_at(data: &Matrix, row: usize, column: usize) -> Option<&MatrixCell> {
    data.cells.iter().find(|c| c.row as usize == row && c.column as usize == column)
}

pub(crate) fn mean_text(mean: Option<f64>) -> String {
    mean.filter(|m| m.is_finite()).map_or_else(|| "unknown".to_owned(), |m| decimal(m, 1))
}

/// The mean of a cell, with a star if the caption explains why it is less certain.
pub(crate) fn cell_text(cell: &MatrixCell) -> String {
    let star = if cell.doubtful { "*" } else { "" };
    format!("{}{star}", mean_text(cell.mean))
}

/// The names of rows have more than their usual share of the width if they are whole then, and the cells lose nothing.
pub(crate) fn plan(data: &Matrix, sheet: &Sheet) -> MatrixPlan {
    let [usual, most] = SHARE_OF_NAMES.map(|share| share * sheet.width);
    let plan = plan_beside(data, sheet, usual);
    let names: Vec<String> = data.rows[..plan.rows].iter().map(|row| clean(row)).collect();
    let widest = |names: &[String]| names.iter().map(|name| sheet.tick_width(name)).fold(0.0, f64::max);
    let short = widest(&short_names(&names));
    if short <= plan.beside + 0.01 || short > most {
        return plan;
    }
    let (before, is_line) = (turned::readability(data, &plan, sheet), plan.wording == Wording::Line);
    [widest(&names), short]
        .into_iter()
        .filter(|width| *width <= most)
        .map(|width| plan_beside(data, sheet, width))
        .find(|wider| {
            let keeps_lines = !is_line || wider.wording == Wording::Line;
            keeps_lines && turned::readability(data, wider, sheet) >= before
        })
        .unwrap_or(plan)
}

/// The same, with at most this width for the names of rows, unless they need more to be read.
fn plan_beside(data: &Matrix, sheet: &Sheet, most_beside: f64) -> MatrixPlan {
    let sizes = &sheet.sizes;
    let (size, big) = (sizes.tick_font, sizes.name_font);
    let (rows, columns) = (data.rows.len().min(200), data.columns.len().min(200));
    // The mean of a line of one cell would be the number of the cell again.
    let means = [
        data.row_means.len() == data.rows.len() && rows > 0 && columns > 1,
        data.column_means.len() == data.columns.len() && rows > 1 && columns > 0,
    ];
    let widest =
        data.rows.iter().map(|r| sheet.tick_width(&clean(r))).fold(sheet.tick_width("Mean"), f64::max);
    let names =
        readable_width_of(&data.rows[..rows], size, widest.min(most_beside), SHARE_OF_NAMES[1] * sheet.width);
    let left = sheet.names_left() + names + 0.6 * size;
    let beside = left - 0.6 * size - sheet.names_left();
    let apart = if means[0] { 0.5 * size } else { 0.0 };
    let across = (columns + usize::from(means[0])).max(1) as f64;
    let room = (sheet.width - PAD - left - apart) / across;
    let line = widest_line(data, size).map(|width| width + size).filter(|width| *width <= room);
    let column = line.unwrap_or_else(|| room.min(11.0 * size));
    let inner = column - 0.5 * size;
    let name_width = |c: &String| sheet.tick_width(&clean(c));
    let only_name = only_name(data, sheet);
    let upright =
        only_name.is_none() && data.columns.iter().take(columns).any(|c| name_width(c) > column - 0.4 * size);
    let names = if upright {
        data.columns.iter().map(name_width).fold(sheet.tick_width("Mean"), f64::max).min(12.0 * size)
    } else {
        let lines = only_name.as_ref().map_or(1, Vec::len);
        size + lines.saturating_sub(1) as f64 * NAME_LINE * size
    };
    let wording = match line {
        Some(_) => Wording::Line,
        // The height of a page limits the rows.
        None if sheet.print && rows >= wording::MANY_ROWS => Wording::Mean,
        None => Wording::fitting(data, inner, size),
    };
    let most_lines = data
        .cells
        .iter()
        .map(|c| {
            let details = wording.details(c, inner, size).len();
            let badge = c.simulated && wording != Wording::Line;
            details + usize::from(badge) + usize::from(!c.published.is_empty())
        })
        .max()
        .unwrap_or(1);
    // The mean of a line may state its number of cells, and that some of them are simulated.
    let some_simulated = means.iter().any(|m| *m) && data.cells.iter().any(|c| c.simulated);
    let in_means = match (some_simulated, means::some_lack_cells(data, means)) {
        (true, _) => 2,
        (false, lack_cells) => usize::from(lack_cells),
    };
    let most_lines = if wording == Wording::Line { most_lines } else { most_lines.max(in_means) };
    // One size for all means: the usual one if every mean fits.
    let mut all_means = data
        .cells
        .iter()
        .filter(|c| !c.is_published_only())
        .map(cell_text)
        .chain(data.row_means.iter().chain(&data.column_means).map(|m| mean_text(m.mean)));
    let has_room = all_means.all(|text| text_width(&text, big) <= column - 0.4 * size);
    let big = if has_room && wording != Wording::Line { big } else { size };
    let natural = 0.7 * size + big + most_lines as f64 * 1.2 * size;
    let top = names + 0.8 * size;
    let notes = footnotes::wrap(&notes_of(data, wording, column, size), sheet.width - 2.0 * PAD, size);
    let down = (rows + usize::from(means[1])).max(1) as f64;
    let most = data.cells.iter().filter_map(|c| c.mean).filter(|m| m.is_finite()).fold(0.0, f64::max);
    let under = if means[1] { 0.5 * size } else { 0.0 } + color_bar::height(most, size);
    let rest = top + under + footnotes::height(notes.len(), size) + PAD;
    let row = sheet.height.map_or(natural, |h| ((h - rest) / down).clamp(natural, 2.0 * natural));
    let notes_top = top + down * row + under;
    let height = notes_top + footnotes::height(notes.len(), size) + PAD;
    // On paper, a grid that does not need the width stands in the middle. On the screen it begins where the text around it does.
    let free = (sheet.width - PAD - left - apart - across * column).max(0.0);
    let left = if sheet.print { left + free / 2.0 } else { left };
    MatrixPlan {
        left,
        beside,
        top,
        column,
        row,
        columns,
        rows,
        means,
        upright,
        only_name,
        size,
        big,
        most,
        wording,
        notes,
        notes_top,
        height,
    }
}

/// The name of a column that has no other beside it, in lines over the whole width. `None` = there are several columns, or none.
fn only_name(data: &Matrix, sheet: &Sheet) -> Option<Vec<String>> {
    let [name] = data.columns.as_slice() else { return None };
    let (name, size, width) = (clean(name), sheet.sizes.tick_font, sheet.width - 2.0 * PAD);
    let lines = broken(&name, width, size);
    let fits = widest_part(&name, size) <= width && lines.len() <= MOST_NAME_LINES;
    Some(if fits { lines } else { vec![fit(&name, width, size)] })
}

fn notes_of(data: &Matrix, wording: Wording, column: f64, size: f64) -> String {
    let published = data.cells.iter().flat_map(|cell| &cell.published);
    let sources = footnotes::each_once(published.map(|published| clean(&published.source)));
    let mut sentences: Vec<String> = wording.note().map(str::to_owned).into_iter().collect();
    let shown = data.cells.iter().filter(|c| no_run_fits(column, size) || !c.is_published_only()).count();
    let missing = shown < data.rows.len() * data.columns.len();
    if missing && !no_run_fits(column, size) {
        sentences.push(format!("Empty frame: {NO_RUN}"));
    }
    if text_width(SIMULATED, size) > column - 0.4 * size && data.cells.iter().any(|c| c.simulated) {
        sentences.push(format!("{SHORT}: {SIMULATED}"));
    }
    sentences.extend(Some(published_note(&sources)).filter(|note| !note.is_empty()));
    sentences.join(". ")
}

/// The names of rows and columns for their room. Different names stay different.
pub(crate) fn shown_names(data: &Matrix, plan: &MatrixPlan, size: f64) -> [Vec<String>; 2] {
    let beside = plan.beside;
    // Horizontal names are known to fit.
    let above = if plan.upright { plan.top - 0.7 * plan.size } else { f64::INFINITY };
    [
        fit_all(&data.rows[..plan.rows.min(data.rows.len())], beside, size),
        fit_all(&data.columns[..plan.columns.min(data.columns.len())], above, size),
    ]
}

fn draw_names(sheet: &Sheet, canvas: &Canvas<'_>, data: &Matrix, plan: &MatrixPlan) {
    let size = plan.size;
    canvas.part("names");
    let right = plan.left - 0.6 * size;
    let [rows, columns] = shown_names(data, plan, size);
    let beside = |name: &str, row: usize| {
        let area = plan.cell(row, 0);
        let base = f64::midpoint(area.top, area.bottom) + 0.35 * size;
        canvas.text(name, (right, base), Anchor::End, size, sheet.tokens.label);
    };
    for (r, name) in rows.iter().enumerate() {
        beside(name, r);
    }
    let above = |name: &str, column: usize| {
        let area = plan.cell(0, column);
        let middle = f64::midpoint(area.left, area.right);
        let bottom = plan.top - 0.5 * size;
        if plan.upright {
            let y = bottom - text_width(name, size) / 2.0;
            canvas.upright(name, (middle + 0.35 * size, y), size, sheet.tokens.label);
        } else {
            canvas.text(name, (middle, bottom), Anchor::Middle, size, sheet.tokens.label);
        }
    };
    match &plan.only_name {
        Some(lines) => draw_only_name(sheet, canvas, plan, lines),
        None => {
            for (c, name) in columns.iter().enumerate() {
                above(name, c);
            }
        }
    }
    if plan.means[0] {
        above("Mean", plan.columns);
    }
    if plan.means[1] {
        beside("Mean", plan.rows);
    }
}

/// Draws the lines of the name of the only column over it, inside the drawing.
fn draw_only_name(sheet: &Sheet, canvas: &Canvas<'_>, plan: &MatrixPlan, lines: &[String]) {
    let size = plan.size;
    let area = plan.cell(0, 0);
    let middle = f64::midpoint(area.left, area.right);
    let half = lines.iter().map(|line| text_width(line, size)).fold(0.0, f64::max) / 2.0;
    let middle = middle.min(sheet.width - PAD - half).max(PAD + half);
    let bottom = plan.top - 0.5 * size;
    for (line, below) in lines.iter().zip((0..lines.len()).rev()) {
        let base = bottom - below as f64 * NAME_LINE * size;
        canvas.text(line, (middle, base), Anchor::Middle, size, sheet.tokens.label);
    }
}

fn draw_cell(sheet: &Sheet, canvas: &Canvas<'_>, plan: &MatrixPlan, area: Area, cell: &MatrixCell) {
    let MatrixPlan { size, big, .. } = *plan;
    let fill = plan.fill(cell.mean.unwrap_or(0.0));
    let fill = if sheet.theme == Theme::Grey { grey(fill) } else { fill };
    // A cell without a mean is a frame on the paper, not a cell of the value 0.
    let (ink, behind) =
        if cell.mean.is_some() { (ink_on(fill), fill) } else { (sheet.tokens.muted, sheet.tokens.paper) };
    if cell.mean.is_some() {
        canvas.bar((area.left + 0.5, area.top + 0.5), (area.right - 0.5, area.bottom - 0.5), fill);
    } else {
        canvas.frame(
            (area.left + 1.0, area.top + 1.0),
            (area.right - 1.0, area.bottom - 1.0),
            Pen::new(sheet.tokens.rule, sheet.sizes.rule),
        );
    }
    let middle = f64::midpoint(area.left, area.right);
    let width = area.right - area.left - 0.4 * size;
    let lines = plan.lines(cell);
    let published = cell.published.first();
    let count = lines.len() + usize::from(published.is_some());
    let block = big + count as f64 * 1.2 * size;
    let mut base = f64::midpoint(area.top, area.bottom) - block / 2.0 + 0.85 * big;
    // If "no run" does not fit, the note explains a frame without a mean.
    if !cell.is_published_only() {
        let text = plan.text_of(cell);
        if plan.whole(&text, big) {
            canvas.text(&text, (middle, base), Anchor::Middle, big, ink);
        }
    } else if no_run_fits(area.right - area.left, size) {
        canvas.text(NO_RUN, (middle, base), Anchor::Middle, size, ink);
    }
    for line in lines {
        base += 1.2 * size;
        canvas.text(&fit(&line, width, size), (middle, base), Anchor::Middle, size, ink);
    }
    if let Some(published) = published {
        base += 1.2 * size;
        let text = decimal(published.value, 1);
        let half = 0.8 * sheet.sizes.mark;
        let whole = text_width(&text, size) + 3.0 * half;
        let left = middle - whole / 2.0;
        hollow_diamond(canvas, (left + half, base - 0.35 * size), half, ink, behind, sheet.sizes.censor);
        canvas.text(&text, (left + 3.0 * half, base), Anchor::Start, size, ink);
    }
}

fn draw_missing(sheet: &Sheet, canvas: &Canvas<'_>, area: Area, size: f64) {
    let pen = Pen::new(sheet.tokens.rule, sheet.sizes.rule);
    canvas.frame((area.left + 1.0, area.top + 1.0), (area.right - 1.0, area.bottom - 1.0), pen);
    let place = (f64::midpoint(area.left, area.right), f64::midpoint(area.top, area.bottom) + 0.35 * size);
    if no_run_fits(area.right - area.left, size) {
        canvas.text(NO_RUN, place, Anchor::Middle, size, sheet.tokens.muted);
    }
}

fn cell_lines(data: &Matrix, row: usize, column: usize, cell: Option<&MatrixCell>) -> Vec<String> {
    let mut lines = vec![format!("{} × {}", clean(&data.rows[row]), clean(&data.columns[column]))];
    let Some(cell) = cell else {
        lines.push(NO_RUN.to_owned());
        return lines;
    };
    if cell.is_published_only() {
        lines.push(NO_RUN.to_owned());
    } else {
        let ci = crate::number::interval(cell.ci_low, cell.ci_high, 1);
        let simulated = if cell.simulated { ", simulated" } else { "" };
        lines.push(format!("{} {ci}, n = {}{simulated}", cell_text(cell), cell.n));
    }
    lines.extend(
        cell.published.iter().map(|p| format!("published: {} ({})", decimal(p.value, 1), clean(&p.source))),
    );
    lines
}

fn summary(data: &Matrix) -> String {
    let tau = data.tau.map(|t| format!(", τ = {t}")).unwrap_or_default();
    let mut sentences = vec![format!(
        "{} by {} and {}{tau}.",
        clean(&data.measure),
        in_mid_sentence(&clean(&data.rows_name)),
        in_mid_sentence(&clean(&data.columns_name))
    )];
    for row in 0..data.rows.len().min(200) {
        for column in 0..data.columns.len().min(200) {
            let lines = cell_lines(data, row, column, cell_at(data, row, column));
            sentences.push(format!("{}: {}.", lines[0], lines[1..].join(", ")));
        }
    }
    sentences.join(" ")
}
