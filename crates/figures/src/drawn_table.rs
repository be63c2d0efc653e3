//! A table in the style of papers: rules above, below and under the heads, and no vertical rules. Names are at the left and
//! numbers at the right of their columns, with aligned decimals. Notes are below.
//!
//! A narrow width loses nothing. First, letters get smaller, from the size of labels to that of ticks, the smallest of the
//! venue. Then heads and words take several lines. Then the columns are in several blocks under each other, each with the
//! columns that identify the rows. Only a text of many lines loses its middle, with a note, and different texts stay
//! different. Rows that do not fit a page are counted, and [`too_long`] reports them to exports.

pub(crate) mod blocks;

use plotters::style::RGBColor;

use crate::Drawing;
use crate::display_names::{clean, fit, fit_all};
use crate::font::text_width;
use crate::line_breaks::broken;
use crate::marks::{Anchor, Canvas, Pen};
use crate::sheet::{DrawingNames, PAD, PAGE, Sheet};
use crate::spec::Layout;
use crate::summary_text::counted;
use crate::table::{Table, columns};
use crate::theme::Theme;

use blocks::{Block, Column, Place, drawn_text};

/// The highest on the screen, in px.
const SCREEN: f64 = 12_000.0;
/// A text of more lines than this loses its middle.
const MOST_LINES: f64 = 8.0;
/// The note about texts that lost their middle.
const SHORTENED: &str = "Long texts are shortened here; the CSV has them whole.";

struct TablePlan {
    /// Size of letters.
    size: f64,
    left: f64,
    right: f64,
    columns: Vec<Column>,
    blocks: Vec<Block>,
    /// Rows that are drawn.
    rows: usize,
    /// Rows that do not fit.
    left_out: usize,
    notes: Vec<String>,
    height: f64,
}

/// Why a table does not fit a page.
pub(crate) struct TooLong {
    /// Rows of the table.
    pub(crate) rows: usize,
    /// Rows that fit.
    pub(crate) fit: usize,
}

/// Whether a table has more rows than fit a page at this place.
pub(crate) fn too_long(table: &Table, layout: &Layout, theme: Theme) -> Option<TooLong> {
    let plan = plan(table, &Sheet::from_layout(layout, theme));
    (plan.left_out > 0).then_some(TooLong { rows: table.rows.len(), fit: plan.rows })
}

pub(crate) fn draw(table: &Table, layout: &Layout, theme: Theme) -> Drawing {
    let sheet = Sheet::from_layout(layout, theme);
    let plan = plan(table, &sheet);
    let title = clean(&table.title);
    let drawing_names = DrawingNames { kind: "table", title: &title, summary: summary(table, &plan) };
    sheet.draw(plan.height, &drawing_names, |canvas| {
        let mut top = PAD;
        for (index, block) in plan.blocks.iter().enumerate() {
            top = draw_block(&sheet, canvas, &plan, index, block, top);
        }
        if plan.left_out > 0 {
            top += line_height(plan.size);
            let rows = counted(plan.left_out as u32, "more row", "more rows");
            let text = format!("… {rows} {} not fit here", if plan.left_out == 1 { "does" } else { "do" });
            canvas.part("left-out");
            let text = fit(&text, sheet.width - 2.0 * PAD, plan.size);
            canvas.text(&text, (PAD, top - 0.4 * plan.size), Anchor::Start, plan.size, sheet.tokens.muted);
        }
        canvas.part("notes");
        let size = sheet.sizes.tick_font;
        for (i, line) in plan.notes.iter().enumerate() {
            let base = top + 0.5 * size + (i as f64 + 0.8) * line_height(size);
            canvas.text(line, (plan.left, base), Anchor::Start, size, sheet.tokens.muted);
        }
    })
}

/// The shown columns, with at most this number of rows.
fn as_set(table: &Table, most: usize) -> Vec<Column> {
    columns(table, most)
        .into_iter()
        .map(|column| Column::drawn(&column.heading, column.right, &column.texts))
        .collect()
}

fn line_height(size: f64) -> f64 {
    1.25 * size
}

/// Space between two rows, if some take several lines.
fn row_gap(block: &Block, size: f64) -> f64 {
    if block.rows.iter().any(|lines| *lines > 1) { 0.4 * size } else { 0.0 }
}

/// Height of heads, rules and the space around them in a block.
fn head_height(block: &Block, size: f64) -> f64 {
    // Above and below the heads, above and below the rows.
    f64::from(block.head) * line_height(size) + 1.9 * size
}

fn block_height(block: &Block, rows: usize, size: f64) -> f64 {
    let lines: u32 = block.rows.iter().take(rows.max(1)).sum();
    let gaps = rows.saturating_sub(1) as f64 * row_gap(block, size);
    head_height(block, size) + f64::from(lines) * line_height(size) + gaps
}

fn plan(table: &Table, sheet: &Sheet) -> TablePlan {
    let limit = if sheet.print { PAGE } else { SCREEN };
    // More rows never fit.
    let most = (limit / line_height(sheet.sizes.tick_font)) as usize + 1;
    let mut columns = as_set(table, most);
    let rows = table.rows.len().min(most);
    if rows == 0
        && let Some(first) = columns.first_mut()
    {
        first.texts.push("No rows".to_owned());
    }

    let room = sheet.width - 2.0 * PAD;
    let (size, mut blocks) =
        blocks::layout(&mut columns, room, [sheet.sizes.name_font, sheet.sizes.tick_font]);
    let mut shortened = false;
    for place in blocks.iter().flat_map(|block| &block.places) {
        let column = &mut columns[place.column];
        let most = MOST_LINES * place.width;
        if column.texts.iter().any(|text| text_width(text, size) > most) {
            // A line ends before its width does.
            column.texts = fit_all(&column.texts, 0.8 * most, size);
            shortened = true;
        }
    }
    for block in &mut blocks {
        block.count_lines(&columns, size);
    }

    let note_size = sheet.sizes.tick_font;
    let width = blocks.iter().map(|block| block.width).fold(0.0, f64::max).max(0.4 * room);
    let left = PAD + (room - width) / 2.0;
    let note_texts = table.notes.iter().map(String::as_str).chain(shortened.then_some(SHORTENED));
    let notes: Vec<String> =
        note_texts.flat_map(|note| broken(&drawn_text(note), width, note_size)).collect();
    let below =
        if notes.is_empty() { 0.0 } else { 0.5 * note_size + notes.len() as f64 * line_height(note_size) };
    let height_of = |rows: usize| blocks.iter().map(|block| block_height(block, rows, size)).sum::<f64>();
    let rest = below + 2.0 * PAD;
    let fits = |rows: usize, line: f64| rest + height_of(rows) + line <= limit;
    let (mut kept, mut line) = (rows, 0.0);
    if table.rows.len() > rows || !fits(rows, 0.0) {
        line = line_height(size);
        let (mut least, mut too_many) = (1, rows.max(1));
        while too_many - least > 1 {
            let middle = usize::midpoint(least, too_many);
            if fits(middle, line) { least = middle } else { too_many = middle }
        }
        kept = least;
    }
    let height = rest + height_of(kept) + line;
    TablePlan {
        size,
        left,
        right: left + width,
        columns,
        blocks,
        rows: kept,
        left_out: table.rows.len() - kept,
        notes,
        height,
    }
}

/// Draws a block from `top` downwards. Returns its lower end.
fn draw_block(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    plan: &TablePlan,
    index: usize,
    block: &Block,
    top: f64,
) -> f64 {
    let size = plan.size;
    let (thin, thick) = (sheet.sizes.axis, 1.6 * sheet.sizes.axis);
    let rule = |y: f64, width: f64| {
        canvas.line(&[(plan.left, y), (plan.right, y)], Pen::new(sheet.tokens.axis, width));
    };
    let (first, last) = (index == 0, index + 1 == plan.blocks.len());
    canvas.part(&format!("heads-{index}"));
    rule(top + thick / 2.0, if first { thick } else { thin });
    let heads = top + 0.55 * size;
    let under_heads = heads + f64::from(block.head) * line_height(size);
    for place in &block.places {
        let lines = broken(&plan.columns[place.column].heading, place.width, size);
        let head_top = heads + (f64::from(block.head) - lines.len() as f64) * line_height(size);
        set(canvas, plan, place, (head_top, size), &lines, sheet.tokens.label);
    }
    rule(under_heads + 0.3 * size, thin);
    canvas.part(&format!("rows-{index}"));
    let mut y = under_heads + 0.75 * size;
    let gap = row_gap(block, size);
    for row in 0..plan.rows.max(1) {
        for place in &block.places {
            let Some(text) = plan.columns[place.column].texts.get(row) else { continue };
            let lines = broken(text, place.width, size);
            let color = if plan.rows == 0 { sheet.tokens.muted } else { sheet.tokens.label };
            let hang = if lines.len() == 1 { plan.columns[place.column].hang(row, size) } else { 0.0 };
            let place = Place { width: place.width - hang, ..*place };
            set(canvas, plan, &place, (y, size), &lines, color);
        }
        y += block.rows.get(row).map_or(0.0, |lines| f64::from(*lines) * line_height(size)) + gap;
    }
    let end = top + block_height(block, plan.rows, size);
    if last {
        canvas.part("end");
        rule(end - thick / 2.0, thick);
    }
    end
}

/// Sets lines in a column from `top` downwards.
fn set(
    canvas: &Canvas<'_>,
    plan: &TablePlan,
    place: &Place,
    (top, size): (f64, f64),
    lines: &[String],
    color: RGBColor,
) {
    let (x, anchor) = if plan.columns[place.column].right {
        (plan.left + place.left + place.width, Anchor::End)
    } else {
        (plan.left + place.left, Anchor::Start)
    };
    for (i, line) in lines.iter().enumerate() {
        let base = top + i as f64 * line_height(size) + 0.95 * size;
        canvas.text(line, (x, base), anchor, size, color);
    }
}

/// The table in words, with a limited number of rows for screen readers.
fn summary(table: &Table, plan: &TablePlan) -> String {
    const MOST: usize = 12;
    let heads: Vec<&str> = plan.columns.iter().map(|column| column.heading.as_str()).collect();
    let mut sentences = vec![format!(
        "{}: a table of {} with the columns {}.",
        clean(&table.title),
        counted(u32::try_from(table.rows.len()).unwrap_or(u32::MAX), "row", "rows"),
        heads.join(", ")
    )];
    for row in 0..table.rows.len().min(MOST) {
        let cells: Vec<String> = plan
            .columns
            .iter()
            .filter_map(|column| Some(format!("{} {}", column.heading, column.texts.get(row)?)))
            .collect();
        sentences.push(format!("{}.", cells.join(", ")));
    }
    if table.rows.len() > MOST {
        sentences.push(format!("{}.", counted((table.rows.len() - MOST) as u32, "more row", "more rows")));
    }
    sentences.join(" ")
}
