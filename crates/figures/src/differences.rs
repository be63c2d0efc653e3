//! Forest plot: the difference of each run to the reference, with its interval.

use crate::display_names::{
    full_name, is_nonsense, least_width, natural_width, number_before, shortest_names, shown_all,
};
use crate::font::text_width;
use crate::labels::Area;
use crate::line_breaks::{broken, widest_part};
use crate::marks::{Anchor, Canvas, Pen};
use crate::number::{decimal, interval, p_value};
use crate::scale::ValueAxis;
use crate::series_style::Style;
use crate::sheet::{DrawingNames, PAD, Sheet};
use crate::spec::{DifferenceRow, Differences, Layout, Scale, SeriesLabel};
use crate::summary_text::counted;
use crate::theme::Theme;
use crate::{Drawing, Mark};

/// The known numbers of a row, as text.
pub(crate) struct Texts {
    pub(crate) value: String,
    pub(crate) p: String,
}

/// The least width of the axis, as a share of that of the figure.
const LEAST_AXIS: f64 = 0.22;
/// Most lines of the name of a run.
const MOST_NAME_LINES: usize = 2;
/// Distance of these lines, in heights of letters.
const NAME_LINE: f64 = 1.2;

struct DifferencesPlan {
    styles: Vec<Style>,
    names_right: f64,
    /// The lines of the name of each row.
    names: Vec<Vec<String>>,
    /// Whether a name is in a line above its row, because it would be cut to nonsense beside it.
    is_above: bool,
    value_right: f64,
    p_right: Option<f64>,
    axis: ValueAxis,
    /// The place of no difference on it.
    no_difference: f64,
    /// Upper edge of the first row.
    top: f64,
    row: f64,
    bottom: f64,
    height: f64,
}

pub(crate) fn draw(data: &Differences, layout: &Layout, theme: Theme) -> Drawing {
    let sheet = Sheet::from_layout(layout, theme);
    let texts: Vec<Texts> = data.rows.iter().map(texts).collect();
    let plan = plan(data, &sheet, &texts);
    let drawing_names = DrawingNames {
        kind: "differences",
        title: "Differences to the reference",
        summary: summary(data, &texts),
    };
    let mut drawing = sheet.draw(plan.height, &drawing_names, |canvas| {
        draw_heads(&sheet, canvas, data, &plan);
        draw_axis(&sheet, canvas, data, &plan);
        for (i, ((row, texts), name)) in data.rows.iter().zip(&texts).zip(&plan.names).enumerate() {
            draw_row(&sheet, canvas, &plan, (i, name.as_slice()), row, texts);
        }
    });
    drawing.marks = data
        .rows
        .iter()
        .zip(&texts)
        .enumerate()
        .map(|(i, (row, texts))| {
            let top = plan.top + i as f64 * plan.row;
            let area = Area { left: PAD, top, right: sheet.width - PAD, bottom: top + plan.row };
            let mut lines = vec![full_name(&row.label), texts.value.clone()];
            if data.p_name.is_some() {
                lines.push(texts.p.clone());
            }
            Mark::new(format!("row-{i}"), Some(i), area, lines)
        })
        .collect();
    drawing
}

pub(crate) fn texts(row: &DifferenceRow) -> Texts {
    let value = row.value.filter(|v| v.is_finite());
    let value = value.map_or_else(
        || "unknown".to_owned(),
        |v| format!("{} {}", decimal(v, 2), interval(row.ci_low, row.ci_high, 2)),
    );
    Texts { value, p: p_value(row.p) }
}

const VALUE_HEAD: [&str; 2] = ["Δ [95 % CI]", "Ratio [95 % CI]"];

pub(crate) fn value_head(data: &Differences) -> &'static str {
    VALUE_HEAD[usize::from(data.scale == Scale::Log)]
}

/// Whether there is a value to draw. A ratio of 0 is left of every axis of factors.
pub(crate) fn has_value(data: &Differences) -> bool {
    let can_stand = |value: f64| value.is_finite() && (data.scale == Scale::Linear || value > 0.0);
    data.rows.iter().any(|row| row.value.is_some_and(can_stand))
}

fn no_difference_value(data: &Differences) -> f64 {
    if data.scale == Scale::Log { 1.0 } else { 0.0 }
}

fn plan(data: &Differences, sheet: &Sheet, texts: &[Texts]) -> DifferencesPlan {
    let size = sheet.sizes.tick_font;
    let gap = 1.2 * size;
    let widest = |column: &dyn Fn(&Texts) -> &str| {
        texts.iter().map(|t| sheet.tick_width(column(t))).fold(0.0, f64::max)
    };
    let p_width = data.p_name.as_ref().map(|_| widest(&|t| &t.p));
    // On the screen there is room for the whole head. In a column, the caption names the test.
    let wide = sheet.width >= 50.0 * size;
    let p_width = p_width.map(|w| {
        if wide {
            w.max(sheet.tick_width(data.p_name.as_deref().unwrap_or_default()).min(16.0 * size))
        } else {
            w
        }
    });
    let value_width = widest(&|t| &t.value).max(sheet.tick_width(value_head(data)));
    let p_right = p_width.map(|_| sheet.width - PAD);
    let value_right = sheet.width - PAD - p_width.map_or(0.0, |w| w + gap);
    let natural =
        data.rows.iter().map(|r| natural_width(&r.label, size)).fold(sheet.tick_width("Run"), f64::max);
    let right = value_right - value_width - gap;
    // Names have what they need, as long as the axis keeps its least width: in one line, without what they share, or in two
    // lines. Otherwise they are cut to a third of the figure, or stand above their rows if too little would be left of one.
    let room = right - gap - LEAST_AXIS * sheet.width - sheet.names_left();
    let room = room.max(0.12 * sheet.width);
    let least = least_width(&labels(data), size);
    let in_lines = if natural.min(least) <= room { None } else { names_in_lines(data, room, size) };
    let names = match &in_lines {
        _ if natural <= room => natural,
        Some(names) => {
            let widths = names.iter().flatten().map(|line| sheet.tick_width(line));
            widths.fold(sheet.tick_width("Run"), f64::max)
        }
        None => room.min((sheet.width / 3.0).max(if least <= room { least } else { 0.0 })),
    };
    let mut in_one = self::names(data, names, size);
    let is_vague = |text: &str| is_nonsense(text) || number_before(text).is_some();
    let is_above = in_lines.is_none()
        && data.rows.iter().zip(&in_one).any(|(row, text)| is_vague(text) && !row.label.name.contains('…'));
    if is_above {
        in_one = self::names(data, sheet.width - PAD - sheet.names_left(), size);
    }
    let lines = in_lines.iter().flatten().map(Vec::len).max().unwrap_or(1) + usize::from(is_above);
    let in_lines = in_lines.unwrap_or_else(|| in_one.into_iter().map(|name| vec![name]).collect());
    let names_right = sheet.names_left() + if is_above { 0.0 } else { names };
    // Half of the label of the first tick is left of the axis.
    let left = names_right + if is_above { 1.5 * size } else { gap };
    let right = right.max(left + 2.0 * size);
    let ends = data.rows.iter().flat_map(|r| [r.value, r.ci_low, r.ci_high]).flatten();
    let axis = sheet.across(&ends.chain([no_difference_value(data)]), data.scale, left, right);
    let head = 1.7 * size;
    let count = data.rows.len().max(1) as f64;
    let more_lines = (axis_name(data, sheet).len() - 1) as f64 * name_line(sheet);
    let rest = head + sheet.below(true) + direction_height(data, sheet) + more_lines + PAD;
    let least = if sheet.print { 1.5 * size } else { 20.0 };
    let least = if lines > 1 { least.max((0.4 + NAME_LINE * lines as f64) * size) } else { least };
    let row = sheet.height.map_or(least, |h| ((h - rest) / count).clamp(least, 3.0 * size));
    let bottom = head + count * row;
    let height = bottom + rest - head;
    let no_difference = axis.position(no_difference_value(data));
    let rows: Vec<&SeriesLabel> = data.rows.iter().map(|row| &row.label).collect();
    DifferencesPlan {
        styles: Style::from_labels(&rows, sheet.tokens),
        names_right,
        names: in_lines,
        is_above,
        value_right,
        p_right,
        axis,
        no_difference,
        top: head,
        row,
        bottom,
        height,
    }
}

fn direction_height(data: &Differences, sheet: &Sheet) -> f64 {
    if data.low.is_empty() && data.high.is_empty() { 0.0 } else { 1.4 * sheet.sizes.tick_font }
}

fn draw_heads(sheet: &Sheet, canvas: &Canvas<'_>, data: &Differences, plan: &DifferencesPlan) {
    let size = sheet.sizes.tick_font;
    let base = 1.1 * size;
    let color = sheet.tokens.muted;
    canvas.part("heads");
    let anchor = if plan.is_above { Anchor::Start } else { Anchor::End };
    canvas.text("Run", (plan.names_right, base), anchor, size, color);
    canvas.text(value_head(data), (plan.value_right, base), Anchor::End, size, color);
    if let (Some(right), Some(name)) = (plan.p_right, &data.p_name) {
        let room = right - plan.value_right - 0.6 * size;
        let name = if sheet.tick_width(name) <= room { name.as_str() } else { "p" };
        canvas.text(name, (right, base), Anchor::End, size, color);
    }
}

fn draw_axis(sheet: &Sheet, canvas: &Canvas<'_>, data: &Differences, plan: &DifferencesPlan) {
    let size = sheet.sizes.tick_font;
    let x = plan.no_difference;
    // Without a value, the axis would be invented.
    let has_axis = has_value(data);
    if has_axis {
        canvas.part("no-difference");
        let pen = Pen::new(sheet.tokens.axis, sheet.sizes.rule);
        canvas.dashed(&[(x, plan.top), (x, plan.bottom)], pen, "3 2");
        sheet.draw_across(canvas, "x-axis", &plan.axis, plan.bottom, "");
    }
    let mut base = sheet.tick_base(plan.bottom);
    let (left, right) = plan.axis.ends();
    if has_axis && direction_height(data, sheet) > 0.0 {
        base += 1.4 * size;
        canvas.part("directions");
        let (low, high) = (format!("← {}", data.low), format!("{} →", data.high));
        let (low_width, high_width) = (sheet.tick_width(&low), sheet.tick_width(&high));
        // The words are at the ends of the axis. On a short axis they push each other outwards.
        let lacking = (low_width + high_width + size - (right - left)).max(0.0);
        let (mut low_left, mut high_right) = (left - lacking / 2.0, right + lacking / 2.0);
        let shift = (PAD - low_left).max(0.0) - (high_right - (sheet.width - PAD)).max(0.0);
        (low_left, high_right) = (low_left + shift, high_right + shift);
        if !data.low.is_empty() {
            canvas.text(&low, (low_left, base), Anchor::Start, size, sheet.tokens.muted);
        }
        if !data.high.is_empty() {
            canvas.text(&high, (high_right, base), Anchor::End, size, sheet.tokens.muted);
        }
    }
    for (line, name) in (1..).zip(axis_name(data, sheet)) {
        let place = (f64::midpoint(left, right), base + f64::from(line) * name_line(sheet));
        sheet.centered(canvas, &name, place, sheet.sizes.name_font, sheet.tokens.label);
    }
}

/// Height of a line of the name of the axis.
fn name_line(sheet: &Sheet) -> f64 {
    sheet.sizes.name_font + 3.0
}

/// The reference and the rows: a name that is cut differs from all of them, also where there is one row.
fn labels(data: &Differences) -> Vec<&SeriesLabel> {
    std::iter::once(&data.reference).chain(data.rows.iter().map(|row| &row.label)).collect()
}

/// The names of the rows for this width.
fn names(data: &Differences, width: f64, size: f64) -> Vec<String> {
    let rows: Vec<&SeriesLabel> = data.rows.iter().map(|row| &row.label).collect();
    // Beside whole names, that of the reference does not matter.
    if rows.iter().all(|label| natural_width(label, size) <= width + 0.01) {
        return shown_all(&rows, width, size);
    }
    shown_all(&labels(data), width, size).split_off(1)
}

/// The names of the rows in lines of at most this width: complete, otherwise without what all of them share with the reference.
/// `None` = one of them does not fit.
fn names_in_lines(data: &Differences, width: f64, size: f64) -> Option<Vec<Vec<String>>> {
    let complete: Vec<String> = data.rows.iter().map(|row| full_name(&row.label)).collect();
    let shortest = shortest_names(&labels(data)).split_off(1);
    [complete, shortest].iter().find_map(|names| {
        names.iter().map(|name| lines_of_name(name, width, size)).collect::<Option<Vec<Vec<String>>>>()
    })
}

/// A name in one line, or in two: model and harness have one each, if both fit.
fn lines_of_name(name: &str, width: f64, size: f64) -> Option<Vec<String>> {
    let fits = |text: &str| text_width(text, size) <= width + 0.01;
    if fits(name) {
        return Some(vec![name.to_owned()]);
    }
    if let Some((model, harness)) = name.split_once(" · ") {
        let model = format!("{model} ·");
        if fits(&model) && fits(harness) {
            return Some(vec![model, harness.to_owned()]);
        }
    }
    let lines = broken(name, width, size);
    (lines.len() <= MOST_NAME_LINES && widest_part(name, size) <= width).then_some(lines)
}

/// The measure of the axis and the reference, in one line, or in two if one is wider than the figure.
fn axis_name(data: &Differences, sheet: &Sheet) -> Vec<String> {
    let size = sheet.sizes.name_font;
    let room = sheet.width - 2.0 * PAD;
    let vs = format!("vs. {}", full_name(&data.reference));
    let name = format!("{} {vs}", data.axis);
    if text_width(&name, size) <= room {
        return vec![name];
    }
    if text_width(&vs, size) <= room {
        return vec![data.axis.clone(), vs];
    }
    // A name without room keeps what tells it from the rows.
    let short = shown_all(&labels(data), room - text_width("vs. ", size), size);
    let vs = short.first().map_or(vs, |name| format!("vs. {name}"));
    vec![data.axis.clone(), vs]
}

fn draw_row(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    plan: &DifferencesPlan,
    (i, name): (usize, &[String]),
    row: &DifferenceRow,
    texts: &Texts,
) {
    let sizes = &sheet.sizes;
    let size = sizes.tick_font;
    // A name above takes the upper half of its row.
    let shift = if plan.is_above { 0.5 * NAME_LINE * size } else { 0.0 };
    let middle = plan.top + (i as f64 + 0.5) * plan.row + shift;
    let base = middle + 0.35 * size;
    let style = plan.styles[i];
    canvas.part(&format!("row-{i}"));
    let first = base - (name.len().max(1) - 1) as f64 / 2.0 * NAME_LINE * size - 2.0 * shift;
    let anchor = if plan.is_above { Anchor::Start } else { Anchor::End };
    for (line, text) in name.iter().enumerate() {
        let place = (plan.names_right, first + line as f64 * NAME_LINE * size);
        if plan.is_above {
            clear_line(sheet, canvas, plan, (place.0, place.1 - 0.35 * size), text);
        }
        canvas.text(text, place, anchor, size, style.text);
    }
    if let Some(value) = row.value.filter(|v| plan.axis.holds(*v)) {
        if let (Some(low), Some(high)) = (row.ci_low, row.ci_high) {
            let (low, high) = (plan.axis.position(low), plan.axis.position(high));
            let pen = Pen::new(style.color, sizes.curve);
            let cap = 1.1 * sizes.mark;
            canvas.line(&[(low, middle), (high, middle)], pen);
            for end in [low, high] {
                canvas.line(&[(end, middle - cap), (end, middle + cap)], pen);
            }
        }
        style.marker(canvas, (plan.axis.position(value), middle), 1.1 * sizes.mark);
    } else {
        // A ratio of 0 is known, but left of every axis of factors.
        let off = row.value.filter(|v| v.is_finite());
        let text = off.map_or_else(|| "unknown".to_owned(), |v| format!("← {}", decimal(v, 2)));
        let color = if off.is_some() { style.text } else { sheet.tokens.muted };
        let left = plan.axis.ends().0;
        clear_line(sheet, canvas, plan, (left, middle), &text);
        canvas.text(&text, (left, base), Anchor::Start, size, color);
    }
    let known = if row.value.is_some() { sheet.tokens.label } else { sheet.tokens.muted };
    canvas.text(&texts.value, (plan.value_right, base), Anchor::End, size, known);
    if let Some(right) = plan.p_right {
        let color = if row.p.is_some() { sheet.tokens.label } else { sheet.tokens.muted };
        let text = &texts.p;

        canvas.text(text, (right, base), Anchor::End, size, color);
    }
}

/// Removes the line of no difference where it would run through a text that begins at `left` around `middle`.
fn clear_line(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    plan: &DifferencesPlan,
    (left, middle): (f64, f64),
    text: &str,
) {
    let (right, half) = (left + sheet.tick_width(text), 0.5 * sheet.sizes.tick_font);
    if (left - 1.0..=right + 1.0).contains(&plan.no_difference) {
        canvas.bar((left - 1.0, middle - half), (right + 1.0, middle + half), sheet.tokens.paper);
    }
}

fn summary(data: &Differences, texts: &[Texts]) -> String {
    let mut sentences = vec![format!(
        "{} of {} vs. {}.",
        data.axis,
        counted(data.rows.len() as u32, "run", "runs"),
        full_name(&data.reference)
    )];
    for (row, texts) in data.rows.iter().zip(texts) {
        let p = if data.p_name.is_some() { format!(", {}", texts.p) } else { String::new() };
        sentences.push(format!("{}: {}{p}.", full_name(&row.label), texts.value));
    }
    sentences.join(" ")
}
