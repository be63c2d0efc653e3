//! Two measures in a plane.

use super::{Picture, Place, color, coordinates, finite, fitted, mark, number, range};
use crate::font::text_width;
use crate::pareto::unknown;
use crate::plane::under;
use crate::spec::{Pareto, ParetoPoint, Plane, Scale, SeriesLabel};

/// The points of the Pareto front, by ascending cost.
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
    picture.note(&unknown(data));
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
    let mode = if log {
        super::rows::log_ticks(&costs, low * 1.3, place.width, picture.tick)
    } else {
        String::new()
    };
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
    if shown.is_empty() {
        picture.add("\\node[text=black!60] at (rel axis cs:0.5,0.5) {No run has a known cost};");
    }
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

pub(super) fn plane(picture: &mut Picture, data: &Plane) {
    let labels: Vec<&SeriesLabel> = data.points.iter().map(|p| &p.label).collect();
    picture.note(&under(data));
    let plot = (picture.width * 0.5).min(160.0);
    picture.make_room(picture.legend_height(labels.len()), plot, picture.under_axis() + 4.0);
    let above = picture.legend(&labels, true);
    let ends = |value: Option<f64>, ends: Option<(f64, f64)>| {
        [value, ends.map(|ends| ends.0), ends.map(|ends| ends.1)]
    };
    let shown = || data.points.iter().filter(|p| p.place().is_some());
    let (left_end, right_end) = roomy(range(&finite(shown().flat_map(|p| ends(p.x, p.x_ends)))));
    let (low_end, high_end) = roomy(range(&finite(shown().flat_map(|p| ends(p.y, p.y_ends)))));
    let bottom = picture.under_axis();
    let left = picture.label + text_width("0.000", picture.tick) + 12.0;
    let place = Place {
        left,
        bottom,
        width: picture.width - left - 10.0,
        height: picture.height - bottom - above - picture.tick / 2.0,
    };
    picture.axis(
        &place,
        &format!(
            "xmin={},xmax={},ymin={},ymax={},xlabel={{{}}},ylabel={{{}}}",
            number(left_end),
            number(right_end),
            number(low_end),
            number(high_end),
            fitted(&data.x, place.width, picture.label),
            fitted(&data.y, place.height, picture.label)
        ),
    );
    if shown().next().is_none() {
        picture.add("\\node[text=black!60] at (rel axis cs:0.5,0.5) {No run has both values};");
    }
    for (point, (x, y)) in shown().filter_map(|point| Some((point, point.place()?))) {
        let color = color(&point.label);
        let whiskers = [
            point.y_ends.map(|(low, high)| ((x, low), (x, high))),
            point.x_ends.map(|(low, high)| ((low, y), (high, y))),
        ];
        for (from, to) in whiskers.into_iter().flatten() {
            picture.add(&format!(
                "\\draw[{color},line width=0.5bp] (axis cs:{},{}) -- (axis cs:{},{});",
                number(from.0),
                number(from.1),
                number(to.0),
                number(to.1)
            ));
        }
        picture.add(&format!(
            "\\addplot[only marks,mark={},mark size=2bp,{color}] coordinates {{{}}};",
            mark(&point.label),
            coordinates(&[(x, y)])
        ));
    }
    picture.end_axis();
}

/// Ends of an axis around these numbers, with a margin.
fn roomy((low, high): (f64, f64)) -> (f64, f64) {
    let room = ((high - low) * 0.08).max(0.01);
    (low - room, high + room)
}
