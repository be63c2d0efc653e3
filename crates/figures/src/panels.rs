//! The places of panels: a plot each for many runs, in even lines, with names above them. What is drawn in a plot is not here.

use crate::display_names::{least_width, natural_width, shown_each};
use crate::marks::{Anchor, Canvas};
use crate::series_style::Style;
use crate::sheet::{PAD, Sheet};
use crate::spec::SeriesLabel;

/// Columns of panels between the edges of a sheet.
pub(crate) struct Columns {
    /// Where the plots of the first column begin.
    pub(crate) left: f64,
    /// Between two plots beside each other.
    pub(crate) gap: f64,
    /// From there to the right edge of the last column.
    room: f64,
}

impl Columns {
    /// Columns with this much room for what stands over the right edge of the last one.
    pub(crate) fn new(sheet: &Sheet, left: f64, gap: f64, beyond: f64) -> Self {
        Self { left, gap, room: (sheet.width - PAD - beyond - left).max(sheet.sizes.tick_font) }
    }

    /// The width of a plot with this many beside each other.
    pub(crate) fn width(&self, across: usize) -> f64 {
        (self.room - self.gap * (across - 1) as f64) / across as f64
    }
}

/// The heights of a panel.
#[derive(Clone, Copy)]
pub(crate) struct PanelHeights {
    /// Above the plot.
    pub(crate) title: f64,
    /// Below the plot.
    pub(crate) below: f64,
    /// All of it.
    pub(crate) whole: f64,
}

/// The places of all panels.
pub(crate) struct PanelGrid {
    /// Panels beside each other.
    pub(crate) across: usize,
    /// Heights of each.
    pub(crate) heights: PanelHeights,
    /// Height of the figure.
    pub(crate) height: f64,
    /// Width of each plot.
    pub(crate) width: f64,
    count: usize,
    left: f64,
    gap: f64,
    names: Vec<String>,
    name_size: f64,
}

/// The place of the plot of a panel.
pub(crate) struct PanelPlace {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    /// At the left edge of the figure.
    pub(crate) is_first: bool,
    /// Without another below it.
    pub(crate) is_lowest: bool,
}

/// Panels beside each other, at most so many, and their lines, as even as possible: nine panels are three by three.
pub(crate) fn even_lines(count: usize, most_across: usize) -> (usize, usize) {
    let rows = count.div_ceil(most_across);
    (count.div_ceil(rows), rows)
}

/// How many panels stand beside each other, of at most so many: as many as leave room for whole names above them, else for names
/// that keep what differs, if these are at least half as many and `fits` such a number. Otherwise the names are cut.
pub(crate) fn across_with_names(
    sheet: &Sheet,
    labels: &[&SeriesLabel],
    columns: &Columns,
    most_across: usize,
    fits: impl Fn(usize) -> bool,
) -> usize {
    let size = sheet.sizes.tick_font;
    let whole = labels.iter().map(|label| natural_width(label, size)).fold(0.0, f64::max);
    let room = |across: usize| columns.width(across) - marker_room(sheet);
    let widest = |name: f64| (1..=most_across).rev().find(|across| name <= room(*across));
    let is_enough = |across: &usize| 2 * across >= most_across && fits(*across);
    let distinct = || widest(least_width(labels, size)).filter(is_enough);
    widest(whole).filter(is_enough).or_else(distinct).unwrap_or(most_across)
}

/// Where the first line of panels begins: below the name of the vertical axis.
fn top(sheet: &Sheet) -> f64 {
    1.5 * sheet.sizes.name_font
}

/// The height of a figure without its panels.
pub(crate) fn height_without_panels(sheet: &Sheet) -> f64 {
    top(sheet) + sheet.sizes.name_font + 5.0 + PAD
}

/// The width of a marker before a name.
pub(crate) fn marker_room(sheet: &Sheet) -> f64 {
    1.8 * sheet.sizes.mark + 0.5 * sheet.sizes.tick_font
}

impl PanelGrid {
    /// A panel for each label, in so many columns.
    pub(crate) fn new(
        sheet: &Sheet,
        labels: &[&SeriesLabel],
        columns: &Columns,
        across: usize,
        heights: PanelHeights,
    ) -> Self {
        let (size, name_font) = (sheet.sizes.tick_font, sheet.sizes.name_font);
        let width = columns.width(across);
        let room = width - marker_room(sheet);
        let fits = |letters: &f64| labels.iter().all(|label| natural_width(label, *letters) <= room);
        let name_size = [name_font, size].into_iter().find(fits).unwrap_or(size);
        let rows = labels.len().max(1).div_ceil(across);
        Self {
            across,
            heights,
            height: height_without_panels(sheet) + heights.whole * rows as f64,
            width,
            count: labels.len(),
            left: columns.left,
            gap: columns.gap,
            names: shown_each(labels, &vec![room; labels.len()], name_size),
            name_size,
        }
    }

    /// The place of the plot of panel `i`.
    pub(crate) fn place(&self, sheet: &Sheet, i: usize) -> PanelPlace {
        let left = self.left + (i % self.across) as f64 * (self.width + self.gap);
        let begin = top(sheet) + (i / self.across) as f64 * self.heights.whole;
        PanelPlace {
            left,
            right: left + self.width,
            top: begin + self.heights.title,
            bottom: begin + self.heights.whole - self.heights.below,
            is_first: i.is_multiple_of(self.across),
            is_lowest: i + self.across >= self.count,
        }
    }

    /// Marker and name of panel `i`, on a line at this height.
    pub(crate) fn draw_name(
        &self,
        sheet: &Sheet,
        canvas: &Canvas<'_>,
        i: usize,
        (left, base): (f64, f64),
        style: Style,
    ) {
        let half = 0.9 * sheet.sizes.mark;
        style.marker(canvas, (left + half, base - 0.35 * self.name_size), half);
        let place = (left + marker_room(sheet), base);
        canvas.text(&self.names[i], place, Anchor::Start, self.name_size, style.text);
    }

    /// The name of the horizontal axis of all panels.
    pub(crate) fn draw_x_name(&self, sheet: &Sheet, canvas: &Canvas<'_>, name: &str) {
        canvas.part("x-name");
        let size = sheet.sizes.name_font;
        let place = (sheet.width / 2.0, self.height - PAD - 0.25 * size);
        sheet.centered(canvas, name, place, size, sheet.tokens.label);
    }
}
