//! Two measures in a plane, without a front, because neither is a price of the other.

use crate::Drawing;
use crate::display_names::{clean, full_name};
use crate::footnotes::each_once;
use crate::number::{decimal, interval};
use crate::scatter::{self, Dot, OmittedNames, Scatter};
use crate::spec::{Layout, Plane, PlanePoint, Scale};
use crate::summary_text::counted;
use crate::theme::Theme;

/// Decimals of both measures.
pub(crate) const DECIMALS: usize = 3;

pub(crate) fn draw(data: &Plane, layout: &Layout, theme: Theme) -> Drawing {
    let dots = data.points.iter().enumerate().filter_map(|(index, point)| {
        let (x, y) = point.place()?;
        let lines = point_texts(point, data);
        let ends = |ends: Option<(f64, f64)>| ends.filter(|(low, high)| low.is_finite() && high.is_finite());
        let (x_ends, y_ends) = (ends(point.x_ends), ends(point.y_ends));
        Some(Dot { index, label: &point.label, x, y, x_ends, y_ends, lines })
    });
    let plot = Scatter {
        kind: "plane",
        title: "Two measures against each other",
        summary: summary(data),
        dots: dots.collect(),
        x_name: clean(&data.x),
        y_names: vec![clean(&data.y)],
        x_scale: Scale::Linear,
        begins_at_zero: false,
        has_front: false,
        empty: "No run has both values",
        left_out: left_out(data),
        notes: notes(data),
    };
    scatter::draw(&plot, layout, theme)
}

/// The runs that are not in the plot.
fn left_out(data: &Plane) -> Vec<OmittedNames> {
    let unknown = data.points.iter().filter(|p| p.place().is_none()).map(|p| full_name(&p.label));
    OmittedNames::from_names("Unknown", unknown.collect()).into_iter().collect()
}

/// Sources and remarks of published numbers, for a note under the plot.
fn notes(data: &Plane) -> String {
    let sources = each_once(data.points.iter().filter_map(|p| p.source.as_deref()).map(clean));
    let mut parts = Vec::new();
    if !sources.is_empty() {
        parts.push(format!("Published: {}.", sources.join("; ")));
    }
    if !data.note.is_empty() {
        parts.push(clean(&data.note));
    }
    parts.join(" ")
}

fn point_texts(point: &PlanePoint, data: &Plane) -> Vec<String> {
    let value = |name: &str, value: Option<f64>, ends: Option<(f64, f64)>| {
        let shown = value.map_or_else(|| "unknown".to_owned(), |value| decimal(value, DECIMALS));
        let ends = ends.map(|(low, high)| format!(" {}", interval(Some(low), Some(high), DECIMALS)));
        format!("{} {shown}{}", clean(name), ends.unwrap_or_default())
    };
    let count_text = |n: Option<u32>| n.map(|n| format!(", n = {n}")).unwrap_or_default();
    let mut lines = vec![
        full_name(&point.label),
        format!("{}{}", value(&data.x, point.x, point.x_ends), count_text(point.x_n)),
        format!("{}{}", value(&data.y, point.y, point.y_ends), count_text(point.n)),
    ];
    lines.extend(point.source.as_deref().map(|source| format!("published: {}", clean(source))));
    lines
}

fn summary(data: &Plane) -> String {
    let points = counted(data.points.len() as u32, "point", "points");
    let mut sentences = vec![format!("{} against {}, {points}.", clean(&data.y), clean(&data.x))];
    for point in &data.points {
        sentences.push(format!("{}.", point_texts(point, data).join(", ")));
    }
    if !data.note.is_empty() {
        sentences.push(clean(&data.note));
    }
    sentences.join(" ")
}
