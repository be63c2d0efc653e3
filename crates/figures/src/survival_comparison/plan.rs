//! The places of the parts of survival curves over their at-risk table.

use super::{EVENTS, Line, NAMED_DIRECTLY};
use crate::at_risk;
use crate::axis::TurnAxis;
use crate::display_names::{are_readable, natural_width};
use crate::frame::Sizes;
use crate::legend;
use crate::number::{decimal, interval};
use crate::sheet::{PAD, Sheet};
use crate::spec::{SeriesLabel, SurvivalComparison};
use crate::summary_text;

/// The least part of a width on paper for the plot beside names in the table. With less, they are above its numbers.
const LEAST_PLOT: f64 = 0.62;
/// The same for the plot between its axis and names beside its curves, where the names of the table are above its numbers.
const LEAST_BETWEEN: f64 = 0.66;

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
pub(super) struct SurvivalPlan {
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
    /// Right edge of the names and samples of the table; `None` = they are above its numbers.
    pub(super) names_right: Option<f64>,
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
pub(super) fn extra_gap(size: f64) -> f64 {
    1.6 * size
}

/// The places of the parts from left to right.
struct HorizontalPlaces {
    left: f64,
    right: f64,
    beside: Option<f64>,
    extras: Vec<Extra>,
    names_right: Option<f64>,
}

impl HorizontalPlaces {
    /// Whether the names in the table leave little room for the plot, or none for a column.
    fn is_narrow(&self, wanted: usize, width: f64) -> bool {
        self.right - self.left < LEAST_PLOT * width || self.extras.len() < wanted
    }
}

/// Whether these are so few that their names can be beside their curves.
fn is_few(lines: &[Line<'_>]) -> bool {
    (1..=NAMED_DIRECTLY).contains(&lines.len()) && lines.iter().all(|line| !line.style.muted)
}

/// The places with the names of the table left of its numbers, or above them, and with names beside the curves if they may be
/// there and fit.
fn horizontal_places(
    data: &SurvivalComparison,
    sheet: &Sheet,
    turns: u32,
    lines: &[Line<'_>],
    has_names_above: bool,
    may_be_beside: bool,
) -> HorizontalPlaces {
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
    let left = if data.at_risk && !lines.is_empty() && !has_names_above {
        y_part.max(names.min((0.27 * sheet.width + before).min(0.42 * sheet.width)))
    } else {
        y_part
    };
    let room_of = |extras: &[Extra]| {
        extras.iter().map(|extra| extra.width + extra_gap(size)).sum::<f64>() + half_number
    };
    let mut extras = extras(data, sheet, lines);
    // What does not fit is left out, means first: the curve needs its room, or the names beside the columns theirs.
    let (taken, end) = if has_names_above {
        let least = widest(size).min(0.4 * sheet.width);
        (sheet.names_left() + at_risk::sample_room(sizes) + least, sheet.width - PAD)
    } else {
        (left, 0.55 * sheet.width)
    };
    while !extras.is_empty() && taken + room_of(&extras) >= end {
        extras.pop();
    }
    let extras_room = (!extras.is_empty() && !has_names_above).then(|| room_of(&extras));
    let beside = {
        let room = widest(sizes.name_font).min(0.26 * sheet.width) + leader(sizes) + 2.0;
        let room = room.max(extras_room.unwrap_or(0.0));
        let least = if has_names_above { LEAST_BETWEEN } else { 0.5 };
        let fits = sheet.width - left - room >= least * sheet.width;
        (may_be_beside && is_few(lines) && fits).then_some(room)
    };
    let right_part = beside.or(extras_room).unwrap_or(half_last);
    let right = sheet.width - PAD - right_part.max(half_last);
    let names_right = (!has_names_above).then_some(left - half_number);
    HorizontalPlaces { left, right, beside, extras, names_right }
}

pub(super) fn plan(data: &SurvivalComparison, sheet: &Sheet, turns: u32, lines: &[Line<'_>]) -> SurvivalPlan {
    let sizes = &sheet.sizes;
    let size = sizes.tick_font;
    let wanted = extras(data, sheet, lines).len();
    let mut places = horizontal_places(data, sheet, turns, lines, false, true);
    // On paper a wide plot is worth a line for each of a few names, or is better than the same names twice.
    if sheet.print && data.at_risk && is_few(lines) && places.is_narrow(wanted, sheet.width) {
        let above = horizontal_places(data, sheet, turns, lines, true, true);
        let once = horizontal_places(data, sheet, turns, lines, false, false);
        let is_above = above.beside.is_some() || once.is_narrow(wanted, sheet.width);
        places = if is_above { above } else { once };
    }
    // Names that would be cut to nonsense beside their curves are in the table or the legend alone, and those that would be so
    // in the table are above its numbers.
    let labels: Vec<&SeriesLabel> = lines.iter().map(|line| &line.data.label).collect();
    let is_cut_beside = |places: &HorizontalPlaces| {
        places.beside.is_some_and(|room| !are_readable(&labels, room_beside(room, sizes), sizes.name_font))
    };
    let is_cut_in_table = |places: &HorizontalPlaces| {
        let room = places.names_right.map(|right| right - at_risk::sample_room(sizes) - PAD);
        data.at_risk && room.is_some_and(|room| !are_readable(&labels, room, size))
    };
    if is_cut_beside(&places) {
        places = horizontal_places(data, sheet, turns, lines, places.names_right.is_none(), false);
    }
    if is_cut_in_table(&places) {
        places = horizontal_places(data, sheet, turns, lines, true, places.beside.is_some());
        if is_cut_beside(&places) {
            places = horizontal_places(data, sheet, turns, lines, true, false);
        }
    }
    let HorizontalPlaces { left, right, beside, extras, names_right } = places;
    let px_per_turn = (right - left) / f64::from(turns);
    let axis = TurnAxis { plot_left: left + px_per_turn / 2.0, px_per_turn, turns };
    let top = if data.tau.is_some_and(|t| (1..=turns).contains(&t)) { 1.5 * size } else { 0.7 * size };
    let under_height = if lines.is_empty() {
        0.0
    } else if data.at_risk {
        at_risk::height(lines.len(), names_right.is_none(), sizes)
    } else if beside.is_none() {
        legend::height(sheet, lines.iter().map(|l| &l.data.label))
    } else {
        0.0
    };
    let below = sheet.below(true);
    let plot = sheet.plot_height(top + below, under_height, 7.0 * size);
    let bottom = top + plot;
    let under = bottom + below;
    SurvivalPlan {
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

/// The width of a name in this room beside the curves.
pub(super) fn room_beside(room: f64, sizes: &Sizes) -> f64 {
    room - leader(sizes) - 2.0
}

/// Length of the line between a curve's end and its name.
pub(super) fn leader(sizes: &Sizes) -> f64 {
    1.2 * sizes.tick_font
}
