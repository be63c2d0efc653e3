//! Two measures against each other, and harness × model.

use super::{Picture, Place, color, coordinates, finite, fitted, mark, number, range};
use crate::font::text_width;
use crate::spec::{Matrix, Pareto, ParetoPoint, Scale, SeriesLabel};

/// The points that no other beats in both, from cheap to dear.
fn front(points: &[&ParetoPoint]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> = points.iter().filter_map(|p| Some((p.cost?, p.mean?))).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut best = f64::NEG_INFINITY;
    sorted.retain(|(_, mean)| {
        let better = *mean > best;
        best = best.max(*mean);
        better
    });
    sorted
}

pub(super) fn pareto(picture: &mut Picture, data: &Pareto) {
    let labels: Vec<&SeriesLabel> = data.points.iter().map(|p| &p.label).collect();
    let plot = (picture.width * 0.4).min(140.0);
    picture.make_room(picture.legend_height(labels.len()), plot, picture.under_axis() + 4.0);
    let above = picture.legend(&labels, true);
    let log = data.scale == Scale::Log;
    let shown: Vec<&ParetoPoint> = data
        .points
        .iter()
        .filter(|p| {
            p.mean.is_some_and(f64::is_finite) && p.cost.is_some_and(|c| c.is_finite() && (!log || c > 0.0))
        })
        .collect();
    let costs = finite(shown.iter().map(|p| p.cost));
    let (low, high) = range(&costs);
    let (low, high) =
        if log { (low.max(1e-9) / 1.3, high.max(1e-9) * 1.3) } else { (0.0, high * 1.08 + 1e-9) };
    let top = range(&finite(shown.iter().flat_map(|p| [p.mean, p.ci_high]))).1.max(1.0) * 1.05;
    let bottom = picture.under_axis();
    let left = picture.label + text_width(&format!("{top:.0}.0"), picture.tick) + 12.0;
    let place = Place {
        left,
        bottom,
        width: picture.width - left - 10.0,
        height: picture.height - bottom - above - picture.tick / 2.0,
    };
    let mode = if log { "xmode=log,log ticks with fixed point," } else { "" };
    let unit = data.unit.as_ref().map_or_else(String::new, |unit| format!(" ({unit})"));
    let tau = data.tau.map_or_else(String::new, |tau| format!(", $\\tau={tau}$"));
    picture.axis(
        &place,
        &format!(
            "{mode}xmin={},xmax={},ymin=0,ymax={},xlabel={{{}}},ylabel={{Mean stamina (turns{tau})}}",
            number(low),
            number(high),
            number(top),
            fitted(&format!("{}{unit}", data.cost), place.width, picture.label)
        ),
    );
    let front = front(&shown);
    if front.len() > 1 {
        picture
            .add(&format!("\\addplot[black!35,line width=0.6bp] coordinates {{{}}};", coordinates(&front)));
    }
    for point in shown {
        let (Some(cost), Some(mean)) = (point.cost, point.mean) else { continue };
        let color = color(&point.label);
        if let (Some(low), Some(high)) = (point.ci_low, point.ci_high) {
            picture.add(&format!(
                "\\draw[{color},line width=0.5bp] (axis cs:{x},{}) -- (axis cs:{x},{});",
                number(low),
                number(high),
                x = number(cost)
            ));
        }
        picture.add(&format!(
            "\\addplot[only marks,mark={},mark size=2bp,{color}] coordinates {{{}}};",
            mark(&point.label),
            coordinates(&[(cost, mean)])
        ));
    }
    picture.end_axis();
}

pub(super) fn matrix(picture: &mut Picture, data: &Matrix) {
    let size = picture.tick;
    let (rows, columns) = (data.rows.len().max(1), data.columns.len().max(1));
    let widest = data.rows.iter().map(|n| text_width(n, size)).fold(0.0, f64::max);
    let left = (widest.min(picture.width * 0.35) + 6.0).ceil();
    let deepest = data.columns.iter().map(|n| text_width(n, size)).fold(0.0, f64::max);
    let wide = (picture.width - left - 2.0) / columns as f64;
    // Names of columns stand upright where they are wider than their column.
    let upright = deepest > wide - 3.0;
    let below = if upright { (deepest + 6.0).min(picture.height * 0.4) } else { picture.line() + 4.0 };
    picture.make_room(0.0, rows as f64 * 2.4 * picture.line(), below + 2.0);
    let place = Place {
        left,
        bottom: below,
        width: picture.width - left - 2.0,
        height: picture.height - below - 2.0,
    };
    let names = |names: &[String], room: f64| -> String {
        names.iter().map(|n| format!("{{{}}}", fitted(n, room, size))).collect::<Vec<_>>().join(",")
    };
    let at = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    let turned = if upright { ",x tick label style={rotate=90,anchor=east,inner sep=1bp}" } else { "" };
    picture.axis(
        &place,
        &format!(
            "axis line style={{draw=none}},tick style={{draw=none}},y dir=reverse,xmin=-0.5,xmax={}.5,ymin=-0.5,ymax={}.5,\n  \
             xtick={{{}}},ytick={{{}}},xticklabels={{{}}},yticklabels={{{}}}{turned}",
            columns - 1,
            rows - 1,
            at(data.columns.len()),
            at(data.rows.len()),
            names(&data.columns, if upright { below - 6.0 } else { wide }),
            names(&data.rows, left - 6.0)
        ),
    );
    let top = range(&finite(data.cells.iter().map(|c| c.mean))).1.max(1e-9);
    let fits = |text: &str| text_width(text, size) <= wide - 3.0;
    for row in 0..data.rows.len() {
        for column in 0..data.columns.len() {
            let cell = data.cells.iter().find(|c| (c.row as usize, c.column as usize) == (row, column));
            let mean = cell.and_then(|c| c.mean).filter(|m| m.is_finite());
            let strength = mean.map_or(0.0, |m| (m / top).clamp(0.0, 1.0) * 85.0).round();
            let fill = if cell.is_some() { format!("stamina0!{strength}") } else { "white".to_owned() };
            let ink = if strength > 50.0 { "white" } else { "black" };
            picture.add(&format!(
                "\\filldraw[fill={fill},draw=black!30,line width=0.3bp] (axis cs:{column}-0.5,{row}-0.5) rectangle (axis cs:{column}+0.5,{row}+0.5);"
            ));
            let interval = cell.and_then(|c| Some(format!("{:.1}–{:.1}", c.ci_low?, c.ci_high?)));
            let mut lines = vec![match (cell, mean) {
                (None, _) => "no run".to_owned(),
                (Some(_), None) => "unknown".to_owned(),
                (Some(cell), Some(mean)) => format!("{mean:.1}{}", if cell.simulated { "*" } else { "" }),
            }];
            let deep = place.height / rows as f64;
            lines.extend(interval.filter(|text| fits(text) && deep > 2.2 * picture.line()));
            let number = cell.map(|c| format!("n = {}", c.n));
            lines.extend(number.filter(|text| fits(text) && deep > 3.2 * picture.line()));
            let lines: Vec<String> = lines.iter().map(|l| crate::tex::escape(l)).collect();
            picture.add(&format!(
                "\\node[align=center,inner sep=0bp,text={ink}] at (axis cs:{column},{row}) {{{}}};",
                lines.join("\\\\")
            ));
        }
    }
    picture.end_axis();
    if data.cells.iter().any(|c| c.simulated) {
        picture.words((picture.width, 0.0), "south east", "", "* simulated");
    }
}
