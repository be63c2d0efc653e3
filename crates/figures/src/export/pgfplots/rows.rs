//! One row a run, scenario or group.

use super::{Picture, Place, bp, color, coordinates, finite, fitted, mark, name_of, number, range};
use crate::font::text_width;
use crate::spec::{Bars, Differences, FailureShares, Paired, Scale, SeriesLabel};

/// Where rows stand: their names left of the plot.
struct Rows {
    place: Place,
    /// Names as tick labels.
    ticks: String,
}

fn rows(picture: &Picture, names: &[String], above: f64, right: f64) -> Rows {
    let size = picture.tick;
    let widest = names.iter().map(|n| text_width(n, size)).fold(0.0, f64::max);
    let left = (widest.min(picture.width * 0.42) + 7.0).ceil();
    let texts: Vec<String> = names.iter().map(|n| format!("{{{}}}", fitted(n, left - 7.0, size))).collect();
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
    Rows { place, ticks }
}

/// Makes the picture so high that every row can be read. Comes before anything is drawn.
fn make_room(picture: &mut Picture, rows: usize, above: f64) {
    let each = picture.line() + 1.0;
    picture.make_room(above, (rows as f64 * each).max(24.0), picture.under_axis() + 4.0);
}

/// Room for the last number of the x axis.
const RIGHT: f64 = 10.0;

/// The ends of an axis around some numbers.
fn around(values: &[f64], must: f64) -> (f64, f64) {
    let (low, high) = range(values);
    let (low, high) = (low.min(must), high.max(must));
    let room = ((high - low) * 0.06).max(1e-6 * high.abs()).max(1e-9);
    (if low < must { low - room } else { low }, if high > must { high + room } else { high })
}

pub(super) fn differences(picture: &mut Picture, data: &Differences) {
    let names: Vec<String> = data.rows.iter().map(|r| name_of(&r.label)).collect();
    let log = data.scale == Scale::Log;
    make_room(picture, names.len(), 0.0);
    let rows = rows(picture, &names, 0.0, RIGHT);
    let none = if log { 1.0 } else { 0.0 };
    let shown = |v: Option<f64>| v.filter(|v| v.is_finite() && (!log || *v > 0.0));
    let values = finite(data.rows.iter().flat_map(|r| [shown(r.value), shown(r.ci_low), shown(r.ci_high)]));
    let (low, high) = around(&values, none);
    let (low, high) =
        if log { (range(&values).0.min(1.0) / 1.1, high * 1.1) } else { (low - 1e-6, high + 1e-6) };
    let mode = if log { "xmode=log,log ticks with fixed point," } else { "" };
    picture.axis(
        &rows.place,
        &format!(
            "{mode}xmin={},xmax={},{},xlabel={{{}}}",
            number(low),
            number(high),
            rows.ticks,
            fitted(&data.axis, picture.width * 0.9, picture.label)
        ),
    );
    let last = data.rows.len().saturating_sub(1);
    picture.add(&format!(
        "\\draw[black!50,line width=0.5bp] (axis cs:{none},-0.6) -- (axis cs:{none},{last}.6);"
    ));
    for (at, row) in data.rows.iter().enumerate() {
        if let (Some(low), Some(high)) = (shown(row.ci_low), shown(row.ci_high)) {
            picture.add(&format!(
                "\\draw[{},line width=1bp] (axis cs:{},{at}) -- (axis cs:{},{at});",
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
    let mut pairs: Vec<_> = data.pairs.iter().collect();
    pairs.sort_by(|x, y| (x.b - x.a).total_cmp(&(y.b - y.a)).then_with(|| x.scenario.cmp(&y.scenario)));
    let names: Vec<String> = pairs.iter().map(|p| p.scenario.clone()).collect();
    let rows = rows(picture, &names, above, RIGHT);
    let values = finite(pairs.iter().flat_map(|p| [Some(p.a), Some(p.b)]));
    let (_, high) = around(&values, 0.0);
    // Many rows are told by place, not by name.
    let room = rows.place.height / names.len().max(1) as f64;
    let ticks = if room < picture.tick * 0.9 {
        format!("y dir=reverse,ymin=-0.6,ymax={}.6,ytick=\\empty", names.len().saturating_sub(1))
    } else {
        rows.ticks.clone()
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
    }
    let of = |value: fn(&crate::spec::Pair) -> f64| -> Vec<(f64, f64)> {
        pairs.iter().enumerate().map(|(i, p)| (value(p), i as f64)).collect()
    };
    for (label, points) in [(&data.a, of(|p| p.a)), (&data.b, of(|p| p.b))] {
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
}

pub(super) fn bars(picture: &mut Picture, data: &Bars) {
    let names: Vec<String> = data.rows.iter().map(|r| name_of(&r.label)).collect();
    make_room(picture, names.len(), 0.0);
    let rows = rows(picture, &names, 0.0, RIGHT);
    let values = finite(
        data.rows
            .iter()
            .flat_map(|r| [r.value, r.ci_low, r.ci_high])
            .chain(data.rows.iter().flat_map(|r| &r.published).map(|p| Some(p.value))),
    );
    let (low, high) = around(&values, 0.0);
    let unit = data.unit.as_ref().map_or_else(String::new, |unit| format!(" ({unit})"));
    picture.axis(
        &rows.place,
        &format!(
            "xmin={},xmax={},{},xlabel={{{}}}",
            number(low),
            number(if high > low { high } else { low + 1.0 }),
            rows.ticks,
            fitted(&format!("{}{unit}", data.measure), picture.width * 0.9, picture.label)
        ),
    );
    let thick = (rows.place.height / names.len().max(1) as f64 * 0.6).clamp(1.0, 14.0);
    for (at, row) in data.rows.iter().enumerate() {
        match row.value.filter(|v| v.is_finite()) {
            Some(value) => picture.add(&format!(
                "\\addplot[xbar,bar width={}bp,bar shift=0bp,draw=black,line width=0.3bp,fill={}] coordinates {{({},{at})}};",
                bp(thick),
                color(&row.label),
                number(value)
            )),
            None => picture.add(&format!(
                "\\node[anchor=west,inner sep=2bp,text=black!60] at (axis cs:{},{at}) {{unknown}};",
                number(low.max(0.0))
            )),
        }
        if let (Some(from), Some(to)) = (row.ci_low, row.ci_high) {
            picture.add(&format!(
                "\\draw[black,line width=0.6bp] (axis cs:{},{at}) -- (axis cs:{},{at});",
                number(from),
                number(to)
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

/// Fills of classes, told apart in grey, too.
const FILLS: [&str; 7] =
    ["black!80", "stamina1!90", "stamina0!65", "stamina2!45", "stamina3!35", "black!12", "white"];

pub(super) fn failure_shares(picture: &mut Picture, data: &FailureShares) {
    // The six most frequent classes in their order, the rest together.
    let sum = |class: usize| -> u64 {
        data.groups.iter().filter_map(|g| g.counts.get(class)).map(|c| u64::from(*c)).sum()
    };
    let mut order: Vec<usize> = (0..data.classes.len()).collect();
    order.sort_by_key(|class| (std::cmp::Reverse(sum(*class)), *class));
    let mut kept: Vec<usize> = order.iter().copied().take(6).collect();
    kept.sort_unstable();
    let rest: Vec<usize> = order.iter().copied().skip(6).filter(|class| sum(*class) > 0).collect();
    let mut classes: Vec<(String, Vec<usize>)> =
        kept.into_iter().map(|class| (data.classes[class].name.clone(), vec![class])).collect();
    if !rest.is_empty() {
        classes.push(("other".to_owned(), rest));
    }
    let line = picture.line();
    let columns = 2;
    let legend_rows = classes.len().div_ceil(columns);
    let wide = picture.width / columns as f64;
    make_room(picture, data.groups.len(), legend_rows as f64 * line + 4.0);
    for (at, (name, _)) in classes.iter().enumerate() {
        let (x, y) =
            (wide * (at / legend_rows) as f64, picture.height - line * ((at % legend_rows) as f64 + 0.5));
        picture.add(&format!(
            "\\filldraw[fill={},draw=black,line width=0.3bp] ({},{}) rectangle ({},{});",
            FILLS[at % FILLS.len()],
            bp(x + 1.0),
            bp(y - 2.5),
            bp(x + 9.0),
            bp(y + 2.5)
        ));
        let text = fitted(name, wide - 14.0, picture.tick);
        picture.words((x + 12.0, y), "west", "", &text);
    }
    let names: Vec<String> = data.groups.iter().map(|g| name_of(&g.label)).collect();
    let rows = rows(picture, &names, legend_rows as f64 * line + 4.0, RIGHT);
    let total = |group: &crate::spec::FailureGroup| {
        f64::from(group.total.unwrap_or(0).max(group.counts.iter().sum()))
    };
    picture.axis(
        &rows.place,
        &format!(
            "xbar stacked,xmin=0,xmax=1,{},xlabel={{{}}},bar width={}bp",
            rows.ticks,
            fitted(&format!("Share of {}", data.unit), picture.width * 0.9, picture.label),
            bp((rows.place.height / names.len().max(1) as f64 * 0.6).clamp(1.0, 14.0))
        ),
    );
    for (at, (_, members)) in classes.iter().enumerate() {
        let points: Vec<(f64, f64)> = data
            .groups
            .iter()
            .enumerate()
            .map(|(row, group)| {
                let count: u32 = members.iter().filter_map(|class| group.counts.get(*class)).sum();
                let of = total(group);
                (if of > 0.0 { f64::from(count) / of } else { 0.0 }, row as f64)
            })
            .collect();
        if !points.is_empty() {
            picture.add(&format!(
                "\\addplot[fill={},draw=black,line width=0.3bp] coordinates {{{}}};",
                FILLS[at % FILLS.len()],
                coordinates(&points)
            ));
        }
    }
    picture.end_axis();
}
