//! Mean stamina by the number of allowed retries.

use crate::bars::published_note;
use crate::display_names::{are_whole, clean, full_name, natural_width, shown_all};
use crate::footnotes;
use crate::labels::{Area, spread};
use crate::legend;
use crate::marks::{Anchor, Canvas, Pen};
use crate::number::{decimal, interval};
use crate::scale::ValueAxis;
use crate::scene::hundredths;
use crate::series_style::{Style, hollow_diamond};
use crate::sheet::{DrawingNames, PAD, Sheet};
use crate::spec::{Bands, Layout, Retries, RetryPoint, RetrySeries, SeriesLabel};
use crate::summary_text::counted;
use crate::theme::Theme;
use crate::{Drawing, Mark};

mod panels;

pub(crate) use self::panels::are_wanted as has_panels;

/// Up to this number of series, names are beside their lines.
const NAMED_DIRECTLY: usize = 4;
/// More retries than this are not drawn.
const MOST_RETRIES: u32 = 1_000;

struct RetriesPlan {
    y: ValueAxis,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    retries: Vec<u32>,
    most: u32,
    beside: Option<f64>,
    legend_top: f64,
    notes: Vec<String>,
    notes_top: f64,
    height: f64,
}

impl RetriesPlan {
    fn x(&self, retries: u32) -> f64 {
        // Half a step at both sides is for whiskers and hollow marks.
        let step = (self.right - self.left) / (f64::from(self.most) + 0.6);
        self.left + (f64::from(retries) + 0.3) * step
    }
}

pub(crate) fn draw(data: &Retries, layout: &Layout, theme: Theme) -> Drawing {
    let sheet = Sheet::from_layout(layout, theme);
    let drawing_names =
        DrawingNames { kind: "retries", title: "Stamina by retry budget", summary: summary(data) };
    let name = data.tau.map_or_else(|| "Mean stamina".to_owned(), |tau| format!("Mean stamina (τ = {tau})"));
    if has_panels(data) {
        return panels::draw(data, &sheet, &drawing_names, &budgets(data), &name);
    }
    let plan = plan(data, &sheet, &name);
    let y = plan.y.clone();
    let mut marks = Vec::new();
    let mut drawing = sheet.draw(plan.height, &drawing_names, |canvas| {
        sheet.draw_upwards(canvas, "y-axis", &y, plan.left, &[&name, "Mean stamina"]);
        draw_x_axis(&sheet, canvas, &plan);
        for i in (0..data.series.len()).rev() {
            canvas.part(&format!("series-{i}"));
            let style = Style::from_label(&data.series[i].label, sheet.tokens);
            draw_series(&sheet, canvas, data, &plan, (i, style));
        }
        draw_published(&sheet, canvas, data, &plan, &y);
        match plan.beside {
            Some(room) => draw_names(&sheet, canvas, data, &plan, &y, room),
            None => {
                let entries: Vec<(&SeriesLabel, Style)> = data
                    .series
                    .iter()
                    .map(|s| (&s.label, Style::from_label(&s.label, sheet.tokens)))
                    .collect();
                legend::draw(&sheet, canvas, plan.legend_top, &entries);
            }
        }
        footnotes::draw(&sheet, canvas, &plan.notes, plan.notes_top);
        marks = all_marks(data, &sheet, &plan, &y);
    });
    drawing.marks = marks;
    drawing
}

/// The known means of each run, by number of retries.
pub(crate) fn lines(data: &Retries) -> Vec<(&SeriesLabel, Vec<(f64, f64)>)> {
    let line = |series: &RetrySeries| {
        known(series).map(|(p, mean)| (f64::from(p.retries), mean)).collect::<Vec<_>>()
    };
    data.series.iter().map(|series| (&series.label, line(series))).collect()
}

/// Whether a run has a known mean for two numbers of retries.
pub(crate) fn has_a_retry(data: &Retries) -> bool {
    data.series.iter().any(|series| known(series).count() > 1)
}

pub(crate) fn published_notes(data: &Retries) -> String {
    let sources = footnotes::each_once(data.published.iter().map(|published| clean(&published.source)));
    let names: Vec<String> =
        published_names(data).iter().enumerate().map(|(i, name)| format!("{}: {name}", letter(i))).collect();
    let note = published_note(&sources);
    if note.is_empty() { note } else { format!("{note} ({})", names.join(", ")) }
}

/// The names of published marks, each once.
fn published_names(data: &Retries) -> Vec<String> {
    footnotes::each_once(data.published.iter().map(|published| full_name(&published.label)))
}

/// a, b, …, z, a1, b1, …
fn letter(place: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(place % 26).unwrap_or(0));
    if place < 26 { letter.to_string() } else { format!("{letter}{}", place / 26) }
}

/// The letter beside each published mark, which a note explains. Runs have colors, published numbers do not.
pub(crate) fn letters(data: &Retries) -> Vec<String> {
    let names = published_names(data);
    let place = |label: &SeriesLabel| names.iter().position(|name| *name == full_name(label)).unwrap_or(0);
    data.published.iter().map(|published| letter(place(&published.label))).collect()
}

/// Hollow marks with their letters. Letters of near marks are spread.
fn draw_published(sheet: &Sheet, canvas: &Canvas<'_>, data: &Retries, plan: &RetriesPlan, y: &ValueAxis) {
    let (size, half) = (sheet.sizes.tick_font, 1.3 * sheet.sizes.mark);
    canvas.part("published");
    for retries in &plan.retries {
        let marks: Vec<(f64, String)> = data
            .published
            .iter()
            .zip(letters(data))
            .filter(|(p, _)| p.retries == *retries)
            .map(|(p, letter)| (y.position(p.mean), letter))
            .collect();
        let heights: Vec<f64> = marks.iter().map(|(height, _)| *height).collect();
        let (top, bottom) = (plan.top - size, plan.bottom + size);
        let places = spread(&heights, 1.1 * size, top, bottom).unwrap_or_else(|| heights.clone());
        let x = plan.x(*retries);
        for ((height, letter), place) in marks.into_iter().zip(places) {
            let left = x + 2.0 * half;
            if (place - height).abs() > 0.5 * size {
                let pen = Pen::new(sheet.tokens.axis, sheet.sizes.edge.max(0.5));
                canvas.line(&[(x, height), (left, place)], pen);
            }
            hollow_diamond(
                canvas,
                (x, height),
                half,
                sheet.tokens.axis,
                sheet.tokens.paper,
                sheet.sizes.censor,
            );
            // On bands and lines, a letter needs a light background.
            let width = crate::text_width(&letter, size);
            canvas.bar(
                (left - 0.5, place - 0.5 * size),
                (left + width + 0.5, place + 0.5 * size),
                sheet.tokens.paper,
            );
            canvas.text(&letter, (left, place + 0.35 * size), Anchor::Start, size, sheet.tokens.label);
        }
    }
}

/// Numbers of retries with a known value, in ascending order.
fn budgets(data: &Retries) -> Vec<u32> {
    let points = data.series.iter().flat_map(|s| s.points.iter().map(|p| p.retries));
    let mut retries: Vec<u32> =
        points.chain(data.published.iter().map(|p| p.retries)).filter(|r| *r <= MOST_RETRIES).collect();
    retries.sort_unstable();
    retries.dedup();
    retries
}

fn plan(data: &Retries, sheet: &Sheet, axis_name: &str) -> RetriesPlan {
    let sizes = &sheet.sizes;
    let size = sizes.tick_font;
    let retries = budgets(data);
    let most = retries.last().copied().unwrap_or(1).max(1);

    let widest = data.series.iter().map(|s| natural_width(&s.label, sizes.name_font)).fold(0.0, f64::max);
    let room = widest.min(0.3 * sheet.width) + size;
    // Names that would be cut are in the legend instead, which has more room.
    let labels: Vec<&SeriesLabel> = data.series.iter().map(|series| &series.label).collect();
    let few = (1..=NAMED_DIRECTLY).contains(&data.series.len())
        && are_whole(&labels, room - 0.5 * size, sizes.name_font);
    let beside = (few && 0.85 * sheet.width - room >= 0.5 * sheet.width).then_some(room);
    let right = sheet.width - PAD - beside.unwrap_or(0.6 * size);
    // A letter at a mark leads to a name nowhere else.
    let notes = footnotes::wrap(&published_notes(data), sheet.width - 2.0 * PAD, size);
    let legend_height =
        if beside.is_some() { 0.0 } else { legend::height(sheet, data.series.iter().map(|s| &s.label)) };
    let tables = legend_height + footnotes::height(notes.len(), size);
    let top = 0.8 * size;
    let below = sheet.below(true);
    let least = sheet.height_for_name(axis_name, top).max(7.0 * size);
    let bottom = top + sheet.plot_height(top + below, tables, least);
    let values =
        data.series.iter().flat_map(|s| &s.points).flat_map(|p| [p.mean, p.ci_low, p.ci_high]).flatten();
    let values = values.chain(data.published.iter().map(|p| p.mean)).chain([0.0]);
    let y = sheet.upwards_within(&values, data.tau, bottom, top);
    let left = PAD + sheet.beside_ticks(&y);
    let legend_top = bottom + below;
    let notes_top = legend_top + legend_height;
    let height = notes_top + footnotes::height(notes.len(), size) + PAD;
    RetriesPlan { y, left, right, top, bottom, retries, most, beside, legend_top, notes, notes_top, height }
}

fn draw_x_axis(sheet: &Sheet, canvas: &Canvas<'_>, plan: &RetriesPlan) {
    let sizes = &sheet.sizes;
    let pen = Pen::new(sheet.tokens.axis, sizes.axis);
    canvas.part("x-axis");
    canvas.line(&[(plan.left, plan.bottom), (plan.right, plan.bottom)], pen);
    let mut free_from = f64::MIN;
    for retries in &plan.retries {
        let (x, text) = (plan.x(*retries), retries.to_string());
        canvas.line(&[(x, plan.bottom), (x, plan.bottom + sizes.tick)], pen);
        let half = sheet.tick_width(&text) / 2.0;
        if x - half >= free_from {
            canvas.text(
                &text,
                (x, sheet.tick_base(plan.bottom)),
                Anchor::Middle,
                sizes.tick_font,
                sheet.tokens.label,
            );
            free_from = x + half + 0.5 * sizes.tick_font;
        }
    }
    sheet.name_below(canvas, f64::midpoint(plan.left, plan.right), plan.bottom, "Retries allowed, R");
}

fn known(series: &RetrySeries) -> impl Iterator<Item = (&RetryPoint, f64)> + Clone {
    let shown = |p: &&RetryPoint| p.retries <= MOST_RETRIES;
    series.points.iter().filter(shown).filter_map(|p| p.mean.filter(|m| m.is_finite()).map(|m| (p, m)))
}

/// Draws the series with this index in this style: its intervals, its line and its marks.
fn draw_series(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    data: &Retries,
    plan: &RetriesPlan,
    (i, style): (usize, Style),
) {
    let (sizes, y, series) = (&sheet.sizes, &plan.y, &data.series[i]);
    let is_reference = data.reference.is_some_and(|r| r as usize == i);
    let banded = match data.bands {
        Bands::None => false,
        Bands::All => data.series.len() == 1,
        Bands::Reference => is_reference,
        Bands::Auto => data.series.len() == 1 || is_reference,
    };
    let whiskers = !banded && matches!(data.bands, Bands::All | Bands::Auto);
    let limits = known(series).filter_map(|(p, _)| Some((plan.x(p.retries), p.ci_low?, p.ci_high?)));
    if banded {
        let low: Vec<(f64, f64)> = limits.clone().map(|(x, low, _)| (x, y.position(low))).collect();
        let high: Vec<(f64, f64)> = limits.map(|(x, _, high)| (x, y.position(high))).collect();
        if low.len() > 1 {
            let outline: Vec<(f64, f64)> = high.iter().chain(low.iter().rev()).copied().collect();
            canvas.shape(&outline, style.color, sheet.tokens.band_opacity);
            let thin = Pen::new(style.color, sizes.edge).opacity(0.7);
            canvas.line(&high, thin);
            canvas.line(&low, thin);
        }
    } else if whiskers {
        let pen = Pen::new(style.color, sizes.axis.max(0.5)).opacity(0.8);
        let shift = (i as f64 - (data.series.len() - 1) as f64 / 2.0) * 0.7;
        for (x, low, high) in limits {
            let (x, cap) = (x + shift, 0.7 * sizes.mark);
            canvas.line(&[(x, y.position(low)), (x, y.position(high))], pen);
            canvas.line(&[(x - cap, y.position(low)), (x + cap, y.position(low))], pen);
            canvas.line(&[(x - cap, y.position(high)), (x + cap, y.position(high))], pen);
        }
    }
    let line: Vec<(f64, f64)> =
        known(series).map(|(p, mean)| (plan.x(p.retries), y.position(mean))).collect();
    if line.len() > 1 {
        style.line(canvas, &line, sizes);
    }
    for point in line {
        style.marker(canvas, point, sizes.mark);
    }
}

fn draw_names(
    sheet: &Sheet,
    canvas: &Canvas<'_>,
    data: &Retries,
    plan: &RetriesPlan,
    y: &ValueAxis,
    room: f64,
) {
    let size = sheet.sizes.name_font;
    let ends: Vec<f64> = data
        .series
        .iter()
        .map(|s| known(s).last().map_or(plan.bottom, |(_, mean)| y.position(mean)))
        .collect();
    let Some(places) = spread(&ends, 1.2 * size, plan.top - 0.5 * size, plan.bottom + 0.5 * size) else {
        return;
    };
    canvas.part("names");
    let left = plan.right + 0.5 * sheet.sizes.tick_font;
    let labels: Vec<&SeriesLabel> = data.series.iter().map(|series| &series.label).collect();
    let texts = shown_all(&labels, room - 0.5 * sheet.sizes.tick_font, size);
    for (((series, end), middle), text) in data.series.iter().zip(ends).zip(places).zip(texts) {
        let style = Style::from_label(&series.label, sheet.tokens);
        let x = known(series).last().map_or(plan.left, |(p, _)| plan.x(p.retries));
        let pen = Pen::new(style.color, sheet.sizes.edge.max(0.5)).opacity(0.6);
        canvas.line(&[(x + 1.6 * sheet.sizes.mark, end), (plan.right - 2.0, end), (left - 1.5, middle)], pen);
        canvas.text(&text, (left, middle + 0.35 * size), Anchor::Start, size, style.text);
    }
}

fn all_marks(data: &Retries, sheet: &Sheet, plan: &RetriesPlan, y: &ValueAxis) -> Vec<Mark> {
    let half = 2.5 * sheet.sizes.mark;
    let own = data.series.iter().enumerate().flat_map(|(i, series)| {
        known(series).map(move |(p, mean)| {
            let lines = vec![
                full_name(&series.label),
                format!(
                    "R = {}: mean stamina {} {}",
                    p.retries,
                    decimal(mean, 2),
                    interval(p.ci_low, p.ci_high, 2)
                ),
            ];
            let area = Area::around((plan.x(p.retries), hundredths(y.position(mean))), half);
            Mark::new(format!("point-{i}-{}", p.retries), Some(i), area, lines)
        })
    });
    let others = data.published.iter().filter(|p| p.retries <= plan.most).enumerate().map(|(i, p)| {
        let lines = vec![
            format!("{}, published", full_name(&p.label)),
            format!("R = {}: mean stamina {}", p.retries, decimal(p.mean, 1)),
            clean(&p.source),
        ];
        Mark::new(
            format!("published-{i}"),
            None,
            Area::around((plan.x(p.retries), y.position(p.mean)), half),
            lines,
        )
    });
    own.chain(others).collect()
}

fn summary(data: &Retries) -> String {
    let mut sentences = vec![format!(
        "Mean stamina by number of retries allowed, of {}.",
        counted(data.series.len() as u32, "run", "runs")
    )];
    for series in &data.series {
        let points: Vec<String> = known(series)
            .map(|(p, mean)| {
                format!("{} {} at R = {}", decimal(mean, 2), interval(p.ci_low, p.ci_high, 2), p.retries)
            })
            .collect();
        let points = if points.is_empty() { "unknown".to_owned() } else { points.join(", ") };
        sentences.push(format!("{}: {points}.", full_name(&series.label)));
    }
    for p in &data.published {
        sentences.push(format!(
            "Published for {}: {} at R = {} ({}).",
            full_name(&p.label),
            decimal(p.mean, 1),
            p.retries,
            clean(&p.source)
        ));
    }
    sentences.join(" ")
}
