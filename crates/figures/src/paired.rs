//! Two runs on the same scenarios: one row per scenario, sorted by the difference.

use std::cmp::Ordering;

use crate::display_names::{clean, fit_all_at_words, full_name};
use crate::labels::Area;
use crate::legend;
use crate::marks::{Anchor, Canvas, Pen};
use crate::number::{decimal, interval, p_value};
use crate::scale::ValueAxis;
use crate::series_style::Style;
use crate::sheet::{DrawingNames, PAD, Sheet};
use crate::spec::{Layout, Pair, PairedScenarios};
use crate::summary_text::{count, counted};
use crate::theme::Theme;
use crate::{Drawing, Mark};

/// With more scenarios, rows have no names.
const MOST_NAMED: usize = 40;
/// The share of the width that long names have in any case, and the greatest one.
const SHARE_OF_NAMES: [f64; 2] = [0.48, 0.58];
/// The least width of the axis beside names of a greater share, as a share of that of the figure.
const LEAST_AXIS: f64 = 0.22;

struct PairedPlan {
    legend_top: f64,
    names_head: &'static str,
    names_right: f64,
    named: bool,
    differences: bool,
    axis: ValueAxis,
    top: f64,
    row: f64,
    bottom: f64,
    height: f64,
}

pub(crate) fn draw(data: &PairedScenarios, layout: &Layout, theme: Theme) -> Drawing {
    let sheet = Sheet::from_layout(layout, theme);
    let pairs = sorted(data);
    let plan = plan(data, &sheet, &pairs);
    let title = if data.of_rates { "Runs by task" } else { "Runs by scenario" };
    let drawing_names = DrawingNames { kind: "paired", title, summary: summary(data) };
    let styles = [&data.a, &data.b].map(|l| Style::from_label(l, sheet.tokens));
    let mut drawing = sheet.draw(plan.height, &drawing_names, |canvas| {
        legend::draw(&sheet, canvas, plan.legend_top, &[(&data.a, styles[0]), (&data.b, styles[1])]);
        sheet.draw_across(canvas, "x-axis", &plan.axis, plan.bottom, &data.axis_name());
        canvas.part("y-axis");
        let left = plan.axis.ends().0;
        canvas.line(&[(left, plan.top), (left, plan.bottom)], Pen::new(sheet.tokens.axis, sheet.sizes.axis));
        if !plan.named {
            let [one, many] = data.nouns();
            let short = counted(pairs.len() as u32, one, many);
            let names = [format!("{short}, sorted by difference"), short];
            let x = left - 0.6 * sheet.sizes.tick_font;
            sheet.name_upright(canvas, x, (plan.top, plan.bottom), &names.each_ref().map(String::as_str));
        }
        if pairs.is_empty() {
            let place = (f64::midpoint(left, plan.axis.ends().1), f64::midpoint(plan.top, plan.bottom));
            let text = format!("No {} in both", data.nouns()[0]);
            sheet.centered(canvas, &text, place, sheet.sizes.name_font, sheet.tokens.muted);
        }
        canvas.part("pairs");
        let scenarios: Vec<&str> = pairs.iter().map(|(_, pair)| pair.scenario.as_str()).collect();
        let names =
            fit_all_at_words(&scenarios, plan.names_right - sheet.names_left(), sheet.sizes.tick_font);
        for (i, ((_, pair), name)) in pairs.iter().zip(&names).enumerate() {
            draw_pair(&sheet, canvas, &plan, i, (pair, name), styles);
        }
    });
    drawing.marks = pairs
        .iter()
        .enumerate()
        .map(|(i, (index, pair))| {
            let top = plan.top + i as f64 * plan.row;
            let area = Area { left: PAD, top, right: sheet.width - PAD, bottom: top + plan.row };
            let lines = vec![
                clean(&pair.scenario),
                format!("{}: {}", full_name(&data.a), stamina(pair.a, pair.a_censored)),
                format!("{}: {}", full_name(&data.b), stamina(pair.b, pair.b_censored)),
                format!("{} − {}: {}", full_name(&data.b), full_name(&data.a), difference(pair)),
            ];
            Mark::new(format!("pair-{index}"), None, area, lines)
        })
        .collect();
    drawing
}

/// The pairs with numbers, by decreasing difference, then by name, each with its index in the spec.
pub(crate) fn sorted(data: &PairedScenarios) -> Vec<(usize, &Pair)> {
    let mut pairs: Vec<(usize, &Pair)> =
        data.pairs.iter().enumerate().filter(|(_, p)| p.a.is_finite() && p.b.is_finite()).collect();
    pairs.sort_by(|(_, p), (_, q)| {
        (q.b - q.a)
            .total_cmp(&(p.b - p.a))
            .then_with(|| q.b.total_cmp(&p.b))
            .then_with(|| p.scenario.cmp(&q.scenario))
    });
    pairs
}

/// Whether a value that is drawn is a lower bound, which has an arrow.
pub(crate) fn has_arrows(data: &PairedScenarios) -> bool {
    sorted(data).iter().any(|(_, pair)| pair.a_censored || pair.b_censored)
}

/// `9`, `≥ 9` for a censored one, `8.5` for a mean.
fn stamina(value: f64, censored: bool) -> String {
    let text = turns(value);
    if censored { format!("≥ {text}") } else { text }
}

fn turns(value: f64) -> String {
    decimal(value, usize::from(value.fract() != 0.0))
}

/// `+4`, and `≥ +4` or `≤ +4` if one of the values is a lower bound. Of two lower bounds, it is the difference of what was
/// observed.
pub(crate) fn difference(pair: &Pair) -> String {
    let value = pair.b - pair.a;
    let text = turns(value);
    let bound = match (pair.a_censored, pair.b_censored) {
        (false, true) => "≥ ",
        (true, false) => "≤ ",
        _ => "",
    };
    if value > 0.0 { format!("{bound}+{text}") } else { format!("{bound}{text}") }
}

/// How long b lasted against a. `None` = a lower bound leaves it open.
fn order(pair: &Pair) -> Option<Ordering> {
    let order = pair.b.partial_cmp(&pair.a)?;
    let is_open = match order {
        Ordering::Greater => pair.a_censored,
        Ordering::Less => pair.b_censored,
        Ordering::Equal => pair.a_censored || pair.b_censored,
    };
    (!is_open).then_some(order)
}

fn plan(data: &PairedScenarios, sheet: &Sheet, pairs: &[(usize, &Pair)]) -> PairedPlan {
    let sizes = &sheet.sizes;
    let size = sizes.tick_font;
    let legend_height = legend::height(sheet, [&data.a, &data.b].into_iter());
    let top = legend_height + 1.6 * size;
    let count = pairs.len().max(1) as f64;
    let rest = top + sheet.below(true) + PAD;
    let line = if sheet.print { 1.3 * size } else { 18.0 };
    let thin = 0.5 * size;
    let natural = if pairs.len() <= MOST_NAMED { line } else { thin };
    let row = sheet.height.map_or(natural, |h| ((h - rest) / count).clamp(thin, 2.5 * size));
    let named = row >= 1.15 * size;
    let widest = pairs
        .iter()
        .map(|(_, p)| sheet.tick_width(&clean(&p.scenario)))
        .fold(sheet.tick_width(data.names_head()), f64::max);
    let widest_difference =
        pairs.iter().map(|(_, p)| sheet.tick_width(&difference(p))).fold(sheet.tick_width("Δ"), f64::max);
    let right = sheet.width - PAD - if named { widest_difference + 1.6 * size } else { size };
    let gap = 0.8 * size;
    // Readable names of scenarios are long; the rows need less width than they do.
    let [usual, most] = SHARE_OF_NAMES.map(|share| share * sheet.width);
    let beside_axis = right - LEAST_AXIS * sheet.width - gap - sheet.names_left();
    let names_right = if named {
        sheet.names_left() + widest.min(beside_axis.clamp(usual, most))
    } else {
        PAD + sizes.name_font
    };
    let left = names_right + gap;
    let values = pairs.iter().flat_map(|(_, p)| [p.a, p.b]).chain([0.0]).chain(sheet.turns.map(f64::from));
    let axis = sheet.turns_across(&values, left, right);
    let bottom = top + count * row;
    PairedPlan {
        legend_top: 0.0,
        names_head: data.names_head(),
        names_right,
        named,
        differences: named,
        axis,
        top,
        row,
        bottom,
        height: bottom + rest - top,
    }
}

fn draw_pair(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    plan: &PairedPlan,
    i: usize,
    (pair, name): (&Pair, &str),
    styles: [Style; 2],
) {
    let sizes = &sheet.sizes;
    let size = sizes.tick_font;
    if i == 0 && plan.named {
        let base = plan.top - 0.5 * size;
        canvas.text(plan.names_head, (plan.names_right, base), Anchor::End, size, sheet.tokens.muted);
        draw_delta(sheet, canvas, (sheet.width - PAD, base), styles);
    }
    let middle = plan.top + (i as f64 + 0.5) * plan.row;
    let base = middle + 0.35 * size;
    if plan.named {
        canvas.text(name, (plan.names_right, base), Anchor::End, size, sheet.tokens.label);
    }
    let half = (0.95 * sizes.mark).min(0.45 * plan.row);
    let (a, b) = (plan.axis.position(pair.a), plan.axis.position(pair.b));
    // Two marks at one place are side by side.
    let aside = if (a - b).abs() < 1.2 * half { 0.55 * half.min(0.4 * plan.row) } else { 0.0 };
    if aside == 0.0 {
        canvas.line(&[(a, middle), (b, middle)], Pen::new(sheet.tokens.rule, sizes.curve));
    }
    for (x, censored, style, shift) in
        [(a, pair.a_censored, styles[0], -aside), (b, pair.b_censored, styles[1], aside)]
    {
        let y = middle + shift;
        if censored {
            draw_bound(canvas, (x, y), half, style, sizes.censor);
        }
        style.marker(canvas, (x, y), half);
    }
    if plan.differences {
        canvas.text(&difference(pair), (sheet.width - PAD, base), Anchor::End, size, sheet.tokens.label);
    }
}

/// The head of the differences, with the markers of both runs: `Δ = ■ − ●`.
fn draw_delta(sheet: &Sheet, canvas: &Canvas<'_>, (right, base): (f64, f64), [a, b]: [Style; 2]) {
    let size = sheet.sizes.tick_font;
    let (half, minus) = (0.9 * sheet.sizes.mark, " − ");
    let middle = base - 0.35 * size;
    let taken = right - half;
    let minus_right = taken - half;
    let minus_left = minus_right - sheet.tick_width(minus) - half;
    a.marker(canvas, (taken, middle), half);
    canvas.text(
        minus.trim(),
        (minus_right - sheet.tick_width(" "), base),
        Anchor::End,
        size,
        sheet.tokens.muted,
    );
    b.marker(canvas, (minus_left, middle), half);
    canvas.text(
        "Δ =",
        (minus_left - half - sheet.tick_width(" "), base),
        Anchor::End,
        size,
        sheet.tokens.muted,
    );
}

/// An arrow to the right for a lower bound.
fn draw_bound(canvas: &Canvas<'_>, (x, y): (f64, f64), half: f64, style: Style, width: f64) {
    let (arrow_start, arrow_end, head) = (x + half, x + 2.8 * half, 0.75 * half);
    let pen = Pen::new(style.color, width.min(half));
    canvas.line(&[(arrow_start, y), (arrow_end, y)], pen);
    canvas.line(&[(arrow_end - head, y - head), (arrow_end, y), (arrow_end - head, y + head)], pen);
}

fn summary(data: &PairedScenarios) -> String {
    let pairs = sorted(data);
    let counted_as = |wanted: Option<Ordering>| {
        count(pairs.iter().filter(|(_, pair)| order(pair) == wanted).count() as u32)
    };
    let [longer, shorter, equal] =
        [Ordering::Greater, Ordering::Less, Ordering::Equal].map(|order| counted_as(Some(order)));
    let open = counted_as(None);
    let open = if open == "0" { String::new() } else { format!(", unknown in {open}") };
    let bounds = pairs.iter().filter(|(_, p)| p.a_censored || p.b_censored).count() as u32;
    let [one, many] = data.nouns();
    let mut sentences = vec![
        format!(
            "{} of {} and {} on {} that both have.",
            data.measure_with_turns(),
            full_name(&data.a),
            full_name(&data.b),
            counted(pairs.len() as u32, one, many)
        ),
        if data.of_rates {
            format!(
                "{} passes more often in {longer}, less often in {shorter}, as often in {equal}{open}.",
                full_name(&data.b)
            )
        } else {
            format!(
                "{} lasts longer in {longer}, shorter in {shorter}, as long in {equal}{open}.",
                full_name(&data.b)
            )
        },
    ];
    if bounds > 0 {
        sentences.push(format!("In {} a value is a lower bound (censored).", count(bounds)));
    }
    if let Some(mean) = &data.mean {
        let p = mean.p.map(|_| format!(", {}", p_value(mean.p))).unwrap_or_default();
        sentences.push(format!(
            "Mean difference, {} − {}: {} {} {}{p}.",
            full_name(&data.b),
            full_name(&data.a),
            decimal(mean.value, 2),
            interval(mean.ci_low, mean.ci_high, 2),
            data.unit()
        ));
    }
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::SeriesLabel;

    fn pair(a: f64, a_censored: bool, b: f64, b_censored: bool) -> Pair {
        Pair { scenario: format!("{a} and {b}"), a, a_censored, b, b_censored }
    }

    /// Claude-Opus-4.8 and GPT-5.5 of EvoCode-Bench: `+8` stood beside an arrow, and a bound counted as `as long`.
    #[test]
    fn a_difference_of_a_lower_bound_is_a_bound() {
        let cases = [
            (pair(0.0, false, 8.0, true), "≥ +8", Some(Ordering::Greater)),
            (pair(8.0, true, 0.0, false), "≤ −8", Some(Ordering::Less)),
            (pair(2.0, true, 3.0, false), "≤ +1", None),
            (pair(3.0, false, 2.0, true), "≥ −1", None),
            (pair(3.0, false, 3.0, true), "≥ 0", None),
            (pair(3.0, true, 3.0, true), "0", None),
            (pair(3.0, false, 3.0, false), "0", Some(Ordering::Equal)),
            (pair(5.0, false, 9.0, false), "+4", Some(Ordering::Greater)),
        ];
        for (pair, text, longer) in &cases {
            assert_eq!((difference(pair).as_str(), order(pair)), (*text, *longer), "{}", pair.scenario);
        }
        let data = PairedScenarios {
            of_rates: false,
            first_turns: None,
            a: SeriesLabel::new("a", 0),
            b: SeriesLabel::new("b", 1),
            pairs: Vec::from(cases.map(|(pair, ..)| pair)),
            mean: None,
        };
        let summary = summary(&data);
        assert!(
            summary.contains("b lasts longer in 2, shorter in 1, as long in 1, unknown in 4."),
            "{summary}"
        );
    }
}
