//! A figure with its own axes: its width, sizes and colors, and its drawing.

use crate::Drawing;
use crate::display_names::fit;
use crate::font::text_width;
use crate::frame::{Sizes, usual_height, within};
use crate::marks::{Anchor, Canvas, Pen};
use crate::scale::ValueAxis;
use crate::scene::Scene;
use crate::spec::{Layout, Scale};
use crate::svg::{self, SvgHead};
use crate::theme::{Theme, Tokens};

/// Margin at the outer edges.
pub(crate) const PAD: f64 = 1.0;
/// The highest table or figure on paper, in pt: the text of a page of most venues is 9 in high.
pub(crate) const PAGE: f64 = 648.0;
/// The greatest height of a figure.
const HIGHEST: f64 = 20_000.0;

/// A figure with a free height.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sheet {
    pub(crate) width: f64,
    /// The requested height.
    pub(crate) height: Option<f64>,
    /// The requested number of turns on the axis.
    pub(crate) turns: Option<u32>,
    pub(crate) print: bool,
    pub(crate) sizes: Sizes,
    pub(crate) theme: Theme,
    pub(crate) tokens: &'static Tokens,
}

impl Sheet {
    pub(crate) fn from_layout(layout: &Layout, theme: Theme) -> Self {
        let (width, height, turns, print, sizes) = match *layout {
            Layout::Screen { width, height, turns, .. } => {
                (width, Some(height), Some(turns), false, Sizes::SCREEN)
            }
            Layout::Panel { width, height, turns } => (width, height, turns, false, Sizes::SCREEN),
            Layout::Print { width, height, turns, fonts } => {
                (width, height, turns, true, Sizes::print(fonts))
            }
        };
        let least = 14.0 * sizes.tick_font;
        let height = height.map(|h| within(h, 0.0, HIGHEST));
        Self {
            width: within(width, least, 4_000.0),
            height,
            turns,
            print,
            sizes,
            theme,
            tokens: theme.tokens(),
        }
    }

    /// The default height of a plot with its axis, by the golden section.
    pub(crate) fn usual_height(&self) -> f64 {
        usual_height(self.width, self.print)
    }

    /// The number of turns on an axis for data with this number of turns.
    pub(crate) fn turns_for(&self, data_turns: u32) -> u32 {
        self.turns.unwrap_or(data_turns).clamp(1, analysis::survival::MAX_TURNS)
    }

    /// Height of a plot if everything above and below it takes `rest`: the requested or the default height, but at least `least`.
    /// Tables and notes of height `tables` below the axis are added to the default height.
    pub(crate) fn plot_height(&self, rest: f64, tables: f64, least: f64) -> f64 {
        let whole = self.height.unwrap_or_else(|| self.usual_height() + tables);
        (whole - rest - tables).max(least)
    }

    /// The least height of a plot from `top` beside whose axis this name fits. It is 0 where no plot grows for a name: on a
    /// screen, at a requested height, and for a name that is longer than a figure is usually high.
    pub(crate) fn height_for_name(&self, name: &str, top: f64) -> f64 {
        let width = text_width(name, self.sizes.name_font);
        let may_grow = self.print && self.height.is_none() && width <= self.usual_height();
        // The room for the name is a difference of this sum, which may have a rounding error.
        if may_grow { width + PAD - top + 0.01 } else { 0.0 }
    }

    /// Left edge of a column of names. On paper, letters at the margin would touch the edge of the picture; a panel of a page has
    /// space around it.
    pub(crate) const fn names_left(&self) -> f64 {
        if self.print { 3.0 } else { PAD }
    }

    /// A text of ticks.
    pub(crate) fn tick_width(&self, text: &str) -> f64 {
        text_width(text, self.sizes.tick_font)
    }

    /// Height of a horizontal axis below its line: ticks, labels, and its name if it has one.
    pub(crate) fn below(&self, named: bool) -> f64 {
        let Sizes { tick, gap, tick_font, name_font, .. } = self.sizes;
        tick + gap + tick_font + if named { name_font + 5.0 } else { 2.0 }
    }

    /// Width of a vertical axis left of its line, with labels of this width.
    pub(crate) fn beside(&self, widest_label: f64, named: bool) -> f64 {
        let Sizes { tick, gap, name_font, .. } = self.sizes;
        widest_label + tick + gap + if named { name_font + 4.0 } else { 0.0 }
    }

    /// Width of a vertical axis with its labels and its name.
    pub(crate) fn beside_ticks(&self, axis: &ValueAxis) -> f64 {
        self.beside(axis.ticks.iter().map(|t| self.tick_width(&t.1)).fold(0.0, f64::max), true)
    }

    /// An axis from `left` to `right` for these values, with labels that do not touch.
    pub(crate) fn across(
        &self,
        values: &(impl Iterator<Item = f64> + Clone),
        scale: Scale,
        left: f64,
        right: f64,
    ) -> ValueAxis {
        self.roomy(|most| ValueAxis::holding(values.clone(), scale, [left, right], most))
    }

    /// The same for turns, from 0.
    pub(crate) fn turns_across(
        &self,
        values: &(impl Iterator<Item = f64> + Clone),
        left: f64,
        right: f64,
    ) -> ValueAxis {
        self.roomy(|most| ValueAxis::from_counts(values.clone(), [left, right], most))
    }

    /// The axis with the most ticks whose labels do not touch.
    fn roomy(&self, axis_with: impl Fn(usize) -> ValueAxis) -> ValueAxis {
        let size = self.sizes.tick_font;
        let stay_apart = |axis: &ValueAxis| {
            axis.ticks.windows(2).all(|pair| {
                let halves = f64::midpoint(text_width(&pair[0].1, size), text_width(&pair[1].1, size));
                axis.position(pair[1].0) - axis.position(pair[0].0) >= halves + 0.8 * size
            })
        };
        (3..=8).rev().map(&axis_with).find(stay_apart).unwrap_or_else(|| axis_with(2))
    }

    /// An axis from `bottom` up to `top`.
    pub(crate) fn upwards(
        &self,
        values: impl Iterator<Item = f64>,
        scale: Scale,
        bottom: f64,
        top: f64,
    ) -> ValueAxis {
        ValueAxis::holding(values, scale, [bottom, top], self.most_ticks(bottom, top))
    }

    /// The most ticks of an axis from `bottom` up to `top`.
    fn most_ticks(&self, bottom: f64, top: f64) -> usize {
        ((bottom - top) / (2.0 * self.sizes.tick_font)).clamp(2.0, 8.0) as usize
    }

    /// An axis from `bottom` up to `top` for values from 0. If none is greater than `limit`, for example a horizon, the axis does
    /// not go beyond it.
    pub(crate) fn upwards_within(
        &self,
        values: &(impl Iterator<Item = f64> + Clone),
        limit: Option<u32>,
        bottom: f64,
        top: f64,
    ) -> ValueAxis {
        let axis = self.upwards(values.clone(), Scale::Linear, bottom, top);
        let highest = values.clone().filter(|value| value.is_finite()).fold(0.0, f64::max);
        // The end of an interval may have a rounding error.
        let limit = limit.map(f64::from).filter(|limit| highest <= limit * (1.0 + 1e-9));
        match limit {
            Some(limit) => axis.ending_at(limit, self.most_ticks(bottom, top)),
            None => axis,
        }
    }

    /// Draws a horizontal axis at `y`, its labels and its name below.
    pub(crate) fn draw_across(&self, canvas: &Canvas<'_>, part: &str, axis: &ValueAxis, y: f64, name: &str) {
        let Sizes { tick, axis: width, .. } = self.sizes;
        let pen = Pen::new(self.tokens.axis, width);
        let (left, right) = axis.ends();
        canvas.part(part);
        canvas.line(&[(left, y), (right, y)], pen);
        for (value, label) in &axis.ticks {
            let x = axis.position(*value);
            canvas.line(&[(x, y), (x, y + tick)], pen);
            self.centered(canvas, label, (x, self.tick_base(y)), self.sizes.tick_font, self.tokens.label);
        }
        self.name_below(canvas, f64::midpoint(left, right), y, name);
    }

    /// Writes the name of a horizontal axis at `y`.
    pub(crate) fn name_below(&self, canvas: &Canvas<'_>, x: f64, y: f64, name: &str) {
        if !name.is_empty() {
            let base = self.tick_base(y) + self.sizes.name_font + 3.0;
            self.centered(canvas, name, (x, base), self.sizes.name_font, self.tokens.label);
        }
    }

    /// Draws a vertical axis at `x`, its labels, and at the left the first of its names that fits.
    pub(crate) fn draw_upwards(
        &self,
        canvas: &Canvas<'_>,
        part: &str,
        axis: &ValueAxis,
        x: f64,
        names: &[&str],
    ) {
        let Sizes { tick, gap, tick_font, axis: width, .. } = self.sizes;
        let pen = Pen::new(self.tokens.axis, width);
        let (bottom, top) = axis.ends();
        canvas.part(part);
        canvas.line(&[(x, top), (x, bottom)], pen);
        let mut widest = 0.0_f64;
        for (value, label) in &axis.ticks {
            let y = axis.position(*value);
            canvas.line(&[(x - tick, y), (x, y)], pen);
            let base = y + 0.35 * tick_font;
            canvas.text(label, (x - tick - gap, base), Anchor::End, tick_font, self.tokens.label);
            widest = widest.max(self.tick_width(label));
        }
        self.name_upright(canvas, x - tick - gap - widest - 4.0, (top, bottom), names);
    }

    /// Writes the name of a vertical axis with its base line at `x`, at the middle of the axis if possible: the first of these
    /// names that fits, else a part of the last one.
    pub(crate) fn name_upright(
        &self,
        canvas: &Canvas<'_>,
        x: f64,
        (top, bottom): (f64, f64),
        names: &[&str],
    ) {
        let size = self.sizes.name_font;
        let room = bottom - PAD;
        let whole = names.iter().find(|name| text_width(name, size) <= room);
        let Some(name) = whole.or(names.last()) else { return };
        let text = fit(name, room, size);
        let half = text_width(&text, size) / 2.0;
        let middle = f64::midpoint(top, bottom).max(half + PAD);
        canvas.upright(&text, (x, middle), size, self.tokens.label);
    }

    /// Base line of the tick labels of a horizontal axis at `y`.
    pub(crate) fn tick_base(&self, y: f64) -> f64 {
        y + self.sizes.tick + self.sizes.gap + (0.7 * self.sizes.tick_font).round()
    }

    /// Writes a text around `x`, moved to stay inside the figure, and cut if it is wider.
    pub(crate) fn centered(
        &self,
        canvas: &Canvas<'_>,
        text: &str,
        (x, base): (f64, f64),
        size: f64,
        color: plotters::style::RGBColor,
    ) {
        let text = fit(text, self.width - 2.0 * PAD, size);
        let half = text_width(&text, size) / 2.0;
        let x = x.clamp(PAD + half, (self.width - PAD - half).max(PAD + half));
        canvas.text(&text, (x, base), Anchor::Middle, size, color);
    }

    /// Draws a figure of this height.
    pub(crate) fn draw(
        &self,
        height: f64,
        drawing_names: &DrawingNames<'_>,
        paint: impl FnOnce(&Canvas<'_>),
    ) -> Drawing {
        let height = within(height, 1.0, HIGHEST);
        let mut scene = Scene::default();
        {
            let canvas = Canvas::new(&mut scene, self.width, height);
            if self.theme.has_paper() {
                canvas.part("paper");
                canvas.bar((0.0, 0.0), (self.width, height), self.tokens.paper);
            }
            paint(&canvas);
        }
        let head = SvgHead {
            width: self.width,
            height,
            print: self.print,
            kind: drawing_names.kind,
            title: drawing_names.title,
            summary: &drawing_names.summary,
        };
        let svg = svg::write(&scene, &head);
        Drawing {
            svg,
            scene,
            width: self.width,
            height,
            hits: Vec::new(),
            marks: Vec::new(),
            ticks: Vec::new(),
            summary: drawing_names.summary.clone(),
        }
    }
}

/// The names of a drawing.
pub(crate) struct DrawingNames<'a> {
    /// A word for ids.
    pub(crate) kind: &'a str,
    /// A short name.
    pub(crate) title: &'a str,
    /// The figure in words.
    pub(crate) summary: String,
}
