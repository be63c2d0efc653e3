//! One row per run, scenario or group.

use super::{Picture, Place, bp, color, coordinates, finite, fitted, fitted_names, mark, number, range};
use crate::bars::{axis_name, published, published_note, published_texts, value_text};
use crate::differences::{Texts, texts, value_head};
use crate::display_names::{full_name, natural_width};
use crate::font::text_width;
use crate::paired::{difference, sorted};
use crate::scale::ValueAxis;
use crate::spec::{Bars, Differences, Pair, Paired, Scale, SeriesLabel};
use crate::tex::escape;

/// The places of rows, with names left of the plot.
pub(super) struct Rows {
    pub(super) place: Place,
    /// Names as tick labels.
    pub(super) ticks: String,
    count: usize,
}

impl Rows {
    /// The y of the middle of a row, or of the head over the first row (−1).
    pub(super) fn middle(&self, row: f64) -> f64 {
        self.place.bottom + self.place.height * (1.0 - (row + 0.6) / (self.count.max(1) as f64 + 0.2))
    }
}

/// Rows with names of at most this share of the width, and free space `right` of the plot. Different names stay different.
pub(super) fn rows(picture: &Picture, labels: &[&SeriesLabel], above: f64, right: f64, share: f64) -> Rows {
    let size = picture.tick;
    let widest = labels.iter().map(|label| natural_width(label, size)).fold(0.0, f64::max);
    let left = (widest.min(picture.width * share) + 7.0).ceil();
    let names = fitted_names(labels, left - 7.0, size);
    let texts: Vec<String> = names.iter().map(|name| format!("{{{name}}}")).collect();
    let bottom = picture.under_axis();
    let place = Place {
        left,
        bottom,
        width: picture.width - left - right,
        height: picture.height - bottom - above - 3.0,
    };
    let at: Vec<String> = (0..names.len()).map(|i| i.to_string()).collect();
    let ticks = format!(
        "y dir=reverse,ymin=-0.6,ymax={}.6,ytick={{{}}},yticklabels={{{}}},major y tick style={{draw=none}},xtick pos=bottom",
        names.len().saturating_sub(1),
        at.join(","),
        texts.join(",")
    );
    Rows { place, ticks, count: names.len() }
}

/// Sets the height of the picture so that every row is readable. Call it before anything is drawn.
pub(super) fn make_room(picture: &mut Picture, rows: usize, above: f64) {
    let each = picture.line() + 1.0;
    picture.make_room(above, (rows as f64 * each).max(24.0), picture.under_axis() + 4.0);
}

/// The greatest share of the width for names, if nothing is right of the plot.
pub(super) const NAMES: f64 = 0.42;
/// Room for the last number of the x axis.
pub(super) const RIGHT: f64 = 10.0;

/// The ends of an axis around some numbers.
fn around(values: &[f64], must: f64) -> (f64, f64) {
    let (low, high) = range(values);
    let (low, high) = (low.min(must), high.max(must));
    let room = ((high - low) * 0.06).max(1e-6 * high.abs()).max(1e-9);
    (if low < must { low - room } else { low }, if high > must { high + room } else { high })
}

/// Room for texts right of the plot. Small letters of papers are up to a fifth wider than those of the drawing.
fn beside<'a>(texts: impl Iterator<Item = &'a str>, size: f64) -> f64 {
    texts.map(|text| text_width(text, size)).fold(0.0, f64::max) * 1.22
}

pub(super) fn differences(picture: &mut Picture, data: &Differences) {
    let names: Vec<&SeriesLabel> = data.rows.iter().map(|r| &r.label).collect();
    let texts: Vec<Texts> = data.rows.iter().map(texts).collect();
    let (size, line) = (picture.tick, picture.line());
    let head = value_head(data);
    let value_width = beside(texts.iter().map(|t| t.value.as_str()).chain([head]), size);
    let p_width = data.p_name.as_ref().map(|_| beside(texts.iter().map(|t| t.p.as_str()), size));
    let value_right = picture.width - 1.0 - p_width.map_or(0.0, |w| w + size);
    // If the numbers left no room for the plot, only the table has them.
    let numbers = value_width + size + p_width.map_or(0.0, |w| w + size) <= 0.5 * picture.width;
    let (above, right, share) = if numbers {
        (line, picture.width - value_right + value_width + 0.6 * size, 0.24)
    } else {
        (0.0, RIGHT, NAMES)
    };
    let log = data.scale == Scale::Log;
    make_room(picture, names.len(), above);
    let rows = rows(picture, &names, above, right, share);
    let none = if log { 1.0 } else { 0.0 };
    let shown = |v: Option<f64>| v.filter(|v| v.is_finite() && (!log || *v > 0.0));
    let values = finite(data.rows.iter().flat_map(|r| [shown(r.value), shown(r.ci_low), shown(r.ci_high)]));
    let (low, high) = around(&values, none);
    let (low, high) =
        if log { (range(&values).0.min(1.0) / 1.1, high * 1.1) } else { (low - 1e-6, high + 1e-6) };
    let mode = if log { log_ticks(&values, none, rows.place.width, size) } else { String::new() };
    picture.axis(
        &rows.place,
        &format!(
            "{mode}xmin={},xmax={},{},xlabel={{{}}}",
            number(low),
            number(high),
            rows.ticks,
            fitted(
                &format!("{} vs. {}", data.axis, full_name(&data.reference)),
                picture.width * 0.9,
                picture.label
            )
        ),
    );
    let last = data.rows.len().saturating_sub(1);
    picture.add(&format!(
        "\\draw[black!50,line width=0.5bp,dashed] (axis cs:{none},-0.6) -- (axis cs:{none},{last}.6);"
    ));
    for (at, row) in data.rows.iter().enumerate() {
        if let (Some(low), Some(high)) = (shown(row.ci_low), shown(row.ci_high)) {
            picture.add(&format!(
                "\\draw[{},line width=1bp,|-|] (axis cs:{},{at}) -- (axis cs:{},{at});",
                color(&row.label),
                number(low),
                number(high)
            ));
        }
        if let Some(value) = shown(row.value) {
            dot(picture, &row.label, (value, at as f64), mark(&row.label));
        }
    }
    picture.end_axis();
    if !numbers {
        return;
    }
    let top = rows.place.bottom + rows.place.height + 2.0;
    picture.words((value_right, top), "base east", ",text=black!60", &escape(head));
    if p_width.is_some() {
        picture.words((picture.width - 1.0, top), "base east", ",text=black!60", "p");
    }
    for (at, texts) in texts.iter().enumerate() {
        let y = rows.middle(at as f64);
        picture.words((value_right, y), "east", "", &escape(&texts.value));
        if p_width.is_some() {
            picture.words((picture.width - 1.0, y), "east", "", &escape(&texts.p));
        }
    }
}

/// A logarithmic axis with the ticks that the drawing has.
pub(super) fn log_ticks(values: &[f64], must: f64, width: f64, size: f64) -> String {
    let apart = |axis: &ValueAxis| {
        axis.ticks.windows(2).all(|pair| {
            let half = f64::midpoint(text_width(&pair[0].1, size), text_width(&pair[1].1, size));
            axis.at(pair[1].0) - axis.at(pair[0].0) > half * 1.1 + 0.5 * size
        })
    };
    let with =
        |most| ValueAxis::holding(values.iter().copied().chain([must]), Scale::Log, [0.0, width], most);
    let axis = (2..=7).rev().map(with).find(apart).unwrap_or_else(|| with(2));
    let list =
        |text: &dyn Fn(&(f64, String)) -> String| axis.ticks.iter().map(text).collect::<Vec<_>>().join(",");
    format!(
        "xmode=log,xtick={{{}}},xticklabels={{{}}},xminorticks=false,",
        list(&|tick| number(tick.0)),
        list(&|tick| format!("{{{}}}", escape(&tick.1)))
    )
}

fn dot(picture: &mut Picture, label: &SeriesLabel, at: (f64, f64), mark: &str) {
    picture.add(&format!(
        "\\addplot[only marks,mark={mark},mark size=1.8bp,{}] coordinates {{{}}};",
        color(label),
        coordinates(&[at])
    ));
}

pub(super) fn paired(picture: &mut Picture, data: &Paired) {
    make_room(picture, data.pairs.len(), picture.legend_height(2));
    let above = picture.legend(&[&data.a, &data.b], true);
    let pairs: Vec<&Pair> = sorted(data).into_iter().map(|(_, pair)| pair).collect();
    let scenarios: Vec<SeriesLabel> =
        pairs.iter().map(|p| SeriesLabel::new(p.scenario.as_str(), 0)).collect();
    let names: Vec<&SeriesLabel> = scenarios.iter().collect();
    let differences: Vec<String> = pairs.iter().map(|p| difference(p)).collect();
    let widest = beside(differences.iter().map(String::as_str).chain(["Δ"]), picture.tick);
    let rows = rows(picture, &names, above, widest + 12.0, NAMES);
    let values = finite(pairs.iter().flat_map(|p| [Some(p.a), Some(p.b)]));
    let (_, high) = around(&values, 0.0);
    // Many rows have no names.
    let named = rows.place.height / names.len().max(1) as f64 >= picture.tick * 0.9;
    let ticks = if named {
        rows.ticks.clone()
    } else {
        format!("y dir=reverse,ymin=-0.6,ymax={}.6,ytick=\\empty", names.len().saturating_sub(1))
    };
    picture.axis(
        &rows.place,
        &format!("xmin=0,xmax={},{ticks},xlabel={{Stamina (turns passed)}}", number(high.max(1.0))),
    );
    for (at, pair) in pairs.iter().enumerate() {
        picture.add(&format!(
            "\\draw[black!30,line width=0.5bp] (axis cs:{},{at}) -- (axis cs:{},{at});",
            number(pair.a),
            number(pair.b)
        ));
        // An arrow for a lower bound.
        for (value, _, label) in
            [(pair.a, pair.a_censored, &data.a), (pair.b, pair.b_censored, &data.b)].iter().filter(|p| p.1)
        {
            picture.add(&format!(
                "\\draw[{},line width=0.6bp,->] (axis cs:{},{at}) -- ++(6bp,0bp);",
                color(label),
                number(*value)
            ));
        }
    }
    // Two marks at one place are one over the other.
    let near = (high.max(1.0) / rows.place.width.max(1.0)) * 4.0;
    let positions = |value: fn(&Pair) -> f64, aside: f64| -> Vec<(f64, f64)> {
        let shift = |p: &Pair| if (p.a - p.b).abs() < near { aside } else { 0.0 };
        pairs.iter().enumerate().map(|(i, p)| (value(p), i as f64 + shift(p))).collect()
    };
    for (label, points) in [(&data.a, positions(|p| p.a, -0.2)), (&data.b, positions(|p| p.b, 0.2))] {
        if !points.is_empty() {
            picture.add(&format!(
                "\\addplot[only marks,mark={},mark size=1.8bp,{}] coordinates {{{}}};",
                mark(label),
                color(label),
                coordinates(&points)
            ));
        }
    }
    picture.end_axis();
    if named && !pairs.is_empty() {
        let right = picture.width - 1.0;
        let top = rows.place.bottom + rows.place.height;
        // The markers of both runs of the difference.
        let sample = |label: &SeriesLabel| {
            format!(
                "\\tikz[baseline=-0.6ex]\\draw[{}] plot[only marks,mark={},mark size=1.8bp] coordinates {{(0,0)}};",
                color(label),
                mark(label)
            )
        };
        let head = format!("{} = {} $-$ {}", escape("Δ"), sample(&data.b), sample(&data.a));
        picture.words((right, top), "base east", ",text=black!60", &head);
        for (at, text) in differences.iter().enumerate() {
            picture.words((right, rows.middle(at as f64)), "east", "", &escape(text));
        }
    }
}

pub(super) fn bars(picture: &mut Picture, data: &Bars) {
    let names: Vec<&SeriesLabel> = data.rows.iter().map(|r| &r.label).collect();
    let unit = data.unit.as_deref();
    let texts: Vec<String> = data.rows.iter().map(|r| value_text(r, unit)).collect();
    let others: Vec<Vec<String>> = data.rows.iter().map(|r| published_texts(r, unit)).collect();
    let whole = |(own, others): (&String, &Vec<String>)| {
        format!("{own}{}", " ◇ ".repeat(others.len())) + &others.concat()
    };
    let wholes: Vec<String> = texts.iter().zip(&others).map(whole).collect();
    let widest = beside(wholes.iter().map(String::as_str), picture.tick) + 8.0;
    picture.note(&published_note(&published(data)));
    make_room(picture, names.len(), 0.0);
    let rows = rows(picture, &names, 0.0, widest.min(0.45 * picture.width).max(RIGHT), 0.32);
    let values = finite(
        data.rows
            .iter()
            .flat_map(|r| [r.value, r.ci_low, r.ci_high])
            .chain(data.rows.iter().flat_map(|r| &r.published).map(|p| Some(p.value))),
    );
    let (low, high) = around(&values, 0.0);
    picture.axis(
        &rows.place,
        &format!(
            "xmin={},xmax={},{},xlabel={{{}}}",
            number(low),
            number(if high > low { high } else { low + 1.0 }),
            rows.ticks,
            fitted(&axis_name(data), picture.width * 0.9, picture.label)
        ),
    );
    let thick = (rows.place.height / names.len().max(1) as f64 * 0.6).clamp(1.0, 14.0);
    for (at, row) in data.rows.iter().enumerate() {
        if let Some(value) = row.value.filter(|v| v.is_finite()) {
            picture.add(&format!(
                "\\addplot[xbar,bar width={}bp,bar shift=0bp,draw=none,fill={}] coordinates {{({},{at})}};",
                bp(thick),
                color(&row.label),
                number(value)
            ));
        }
        let ends = [row.value, row.ci_high].into_iter().chain(row.published.iter().map(|p| Some(p.value)));
        picture.add(&format!(
            "\\node[anchor=west,inner sep=3bp{}] at (axis cs:{},{at}) {{{}}};",
            if row.value.is_some() { "" } else { ",text=black!60" },
            number(finite(ends).into_iter().fold(low.max(0.0), f64::max)),
            others[at].iter().fold(escape(&texts[at]), |text, other| {
                format!("{text}~~\\ensuremath{{\\diamond}}{}", escape(other))
            })
        ));
        if let (Some(from), Some(to)) = (row.ci_low, row.ci_high) {
            picture.add(&format!(
                "\\draw[white,line width=1.4bp] (axis cs:{from},{at}) -- (axis cs:{to},{at});\n\\draw[black,line width=0.6bp,|-|] (axis cs:{from},{at}) -- (axis cs:{to},{at});",
                from = number(from),
                to = number(to)
            ));
        }
        for published in &row.published {
            picture.add(&format!(
                "\\addplot[only marks,mark=diamond,mark size=2.4bp,black] coordinates {{({},{at})}};",
                number(published.value)
            ));
        }
    }
    picture.end_axis();
}
