//! The places of the parts of survival curves over their at-risk table.

use super::{EVENTS, Line, NAMED_DIRECTLY};
use crate::at_risk;
use crate::axis::TurnAxis;
use crate::display_names::natural_width;
use crate::frame::Sizes;
use crate::legend;
use crate::number::{decimal, interval};
use crate::sheet::{PAD, Sheet};
use crate::spec::SurvivalComparison;
use crate::summary_text;

/// A column at the right of the table.
pub(super) struct Extra {
    pub(super) head: &'static str,
    /// The head for less room.
    pub(super) short: &'static str,
    pub(super) texts: Vec<String>,
    /// Width of the widest text.
    pub(super) width: f64,
}

/// Places of the parts.
pub(super) struct Plan {
    pub(super) axis: TurnAxis,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// Room for names beside the curves, or none.
    pub(super) beside: Option<f64>,
    /// Columns at the right of the table.
    pub(super) extras: Vec<Extra>,
    /// y of the table or of the legend.
    pub(super) under: f64,
    /// Right edge of the names and samples of the table.
    pub(super) names_right: f64,
    pub(super) height: f64,
}

pub(super) fn mean_text(line: &Line<'_>) -> String {
    let mean = line.data.summary.restricted_mean;
    mean.mean.map_or_else(
        || "unknown".to_owned(),
        |value| format!("{} {}", decimal(value, 1), interval(mean.ci_low, mean.ci_high, 1)),
    )
}

/// How many failed, of how many.
fn events_text(line: &Line<'_>) -> String {
    let summary = &line.data.summary;
    format!("{}/{}", summary_text::count(summary.events), summary_text::count(summary.n))
}

/// The columns that are asked for, from left to right.
fn extras(data: &SurvivalComparison, sheet: &Sheet, lines: &[Line<'_>]) -> Vec<Extra> {
    let column = |head, short, text: fn(&Line<'_>) -> String| {
        let texts: Vec<String> = lines.iter().map(text).collect();
        let width = texts.iter().map(|text| sheet.tick_width(text)).fold(0.0, f64::max);
        Extra { head, short, texts, width }
    };
    let mut extras = Vec::new();
    if data.at_risk && data.events && !lines.is_empty() {
        let events = column(EVENTS, EVENTS, events_text);
        extras.push(Extra { width: events.width.max(sheet.tick_width(EVENTS)), ..events });
    }
    if data.at_risk && data.means && !lines.is_empty() {
        extras.push(column("Mean [95 % CI]", "Mean", mean_text));
    }
    extras
}

/// The room before a column at the right.
pub(super) fn before_extra(size: f64) -> f64 {
    1.6 * size
}

pub(super) fn plan(data: &SurvivalComparison, sheet: &Sheet, turns: u32, lines: &[Line<'_>]) -> Plan {
    let sizes = &sheet.sizes;
    let size = sizes.tick_font;
    let y_part = PAD + sheet.beside(sheet.tick_width("0.75"), true);
    let widest = |size: f64| lines.iter().map(|l| natural_width(&l.data.label, size)).fold(0.0, f64::max);

    let most = lines.iter().flat_map(|l| l.curve.points).map(|p| p.at_risk).max().unwrap_or(0);
    let half_number = sheet.tick_width(&summary_text::count(most)) / 2.0;
    let half_last = half_number.max(sheet.tick_width(&turns.to_string()) / 2.0) + 0.2;
    // Turn 1 may stand close to the axis: half of its number stands left of it.
    let before = at_risk::sample_room(sizes) + half_number;
    let names = PAD + widest(size).max(sheet.tick_width(at_risk::HEAD)) + before;
    let left = if data.at_risk && !lines.is_empty() {
        y_part.max(names.min((0.27 * sheet.width + before).min(0.42 * sheet.width)))
    } else {
        y_part
    };
    let room_of = |extras: &[Extra]| {
        extras.iter().map(|extra| extra.width + before_extra(size)).sum::<f64>() + half_number
    };
    let mut extras = extras(data, sheet, lines);
    // What does not fit is left out, means first: the curve needs its room.
    while !extras.is_empty() && left + room_of(&extras) >= 0.55 * sheet.width {
        extras.pop();
    }
    let extras_room = (!extras.is_empty()).then(|| room_of(&extras));
    let beside = {
        let room = widest(sizes.name_font).min(0.26 * sheet.width) + leader(sizes) + 2.0;
        let few = lines.len() <= NAMED_DIRECTLY && !lines.is_empty() && lines.iter().all(|l| !l.style.muted);
        let room = room.max(extras_room.unwrap_or(0.0));
        (few && sheet.width - left - room >= 0.5 * sheet.width).then_some(room)
    };
    let right_part = beside.or(extras_room).unwrap_or(half_last);
    let right = sheet.width - PAD - right_part.max(half_last);
    let px_per_turn = (right - left) / f64::from(turns);
    let axis = TurnAxis { plot_left: left + px_per_turn / 2.0, px_per_turn, turns };
    let top = if data.tau.is_some_and(|t| (1..=turns).contains(&t)) { 1.5 * size } else { 0.7 * size };
    let under_height = if lines.is_empty() {
        0.0
    } else if data.at_risk {
        at_risk::height(lines.len(), sizes)
    } else if beside.is_none() {
        legend::height(sheet, lines.iter().map(|l| &l.data.label))
    } else {
        0.0
    };
    let below = sheet.below(true);
    let plot = sheet.plot_height(top + below, under_height, 7.0 * size);
    let bottom = top + plot;
    let under = bottom + below;
    let names_right = left - half_number;
    Plan {
        axis,
        left,
        right,
        top,
        bottom,
        beside,
        extras,
        under,
        names_right,
        height: under + under_height + PAD,
    }
}

/// Length of the line between a curve's end and its name.
pub(super) fn leader(sizes: &Sizes) -> f64 {
    1.2 * sizes.tick_font
}
