//! The place of the plot of a figure, and the sizes of its marks.

use analysis::survival::MAX_TURNS;

use crate::axis::TurnAxis;
use crate::font::text_width;
use crate::marks::{Anchor, Canvas, Pen};
use crate::spec::{Fonts, Layout};
use crate::theme::Tokens;

/// The place and the sizes of a figure, all in px or all in pt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// y of the upper edge of the plot.
    pub(crate) top: f64,
    /// y of the lower edge of the plot, with the x axis.
    pub(crate) bottom: f64,
    pub(crate) axis: TurnAxis,
    /// Whether it has its own axes with names, instead of those of the run page.
    pub(crate) free: bool,
    /// On paper, in pt.
    pub(crate) print: bool,
    pub(crate) sizes: Sizes,
}

/// Sizes of marks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Tick labels.
    pub(crate) tick_font: f64,
    /// Axis names.
    pub(crate) name_font: f64,
    /// Axes and ticks.
    pub(crate) axis: f64,
    /// Length of ticks.
    pub(crate) tick: f64,
    /// Between a tick and its label.
    pub(crate) gap: f64,
    /// The curve.
    pub(crate) curve: f64,
    /// Edges of the band.
    pub(crate) edge: f64,
    /// Censoring ticks: width.
    pub(crate) censor: f64,
    /// Dotted rules.
    pub(crate) rule: f64,
    /// Markers: half of their size.
    pub(crate) mark: f64,
}

impl Sizes {
    /// UI.md, "Charts".
    pub(crate) const SCREEN: Self = Self {
        tick_font: 11.0,
        name_font: 12.0,
        axis: 0.75,
        tick: 4.0,
        gap: 4.0,
        curve: 1.6,
        edge: 0.6,
        censor: 1.2,
        rule: 0.75,
        mark: 3.2,
    };

    /// Venues require 0.5 to 1.5 pt lines and 6 to 9 pt letters.
    pub(crate) fn print(fonts: Fonts) -> Self {
        Self {
            tick_font: within(fonts.tick, 4.0, 30.0),
            name_font: within(fonts.label, 4.0, 30.0),
            axis: 0.5,
            tick: 3.0,
            gap: 2.0,
            curve: 1.2,
            edge: 0.4,
            censor: 0.9,
            rule: 0.5,
            mark: 2.2,
        }
    }
}

/// Margins of a kind of figure: inside its height on a track of the run page, and beyond the axis elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Margins {
    /// Above the plot on a track, px.
    pub(crate) screen_top: f64,
    /// Below the plot on a track, px.
    pub(crate) screen_bottom: f64,
    /// Above the plot elsewhere, in letters of the ticks.
    pub(crate) free_top: f64,
    /// Below the name of the x axis elsewhere, in letters of the ticks.
    pub(crate) free_bottom: f64,
    /// The widest label of the y axis; empty = no y axis.
    pub(crate) widest_y: &'static str,
}

pub(crate) fn within(value: f64, low: f64, high: f64) -> f64 {
    if value.is_finite() { value.clamp(low, high) } else { low }
}

/// Default height of a figure, by the golden section.
pub(crate) fn usual_height(width: f64, print: bool) -> f64 {
    if print { 0.618 * width } else { (0.5 * width).clamp(160.0, 380.0) }
}

impl Frame {
    /// The place of a figure whose data has this many turns.
    pub(crate) fn from_layout(layout: &Layout, room: Margins, data_turns: u32) -> Self {
        match *layout {
            Layout::Screen { width, height, plot_left, px_per_turn, turns } => {
                let height = within(height, room.screen_top + room.screen_bottom + 1.0, 4_000.0);
                Self {
                    width: within(width, 1.0, 20_000.0),
                    height,
                    top: room.screen_top,
                    bottom: height - room.screen_bottom,
                    axis: TurnAxis {
                        plot_left: within(plot_left, 0.0, 4_000.0),
                        px_per_turn: within(px_per_turn, 0.1, 400.0),
                        turns: turns.clamp(1, MAX_TURNS),
                    },
                    free: false,
                    print: false,
                    sizes: Sizes::SCREEN,
                }
            }
            Layout::Panel { width, height, turns } => {
                let height = height.unwrap_or_else(|| usual_height(width, false));
                Self::free((width, height), turns.unwrap_or(data_turns), Sizes::SCREEN, room)
            }
            Layout::Print { width, height, turns, fonts } => {
                let height = height.unwrap_or_else(|| usual_height(width, true));
                let size = (width, height);
                Self {
                    print: true,
                    ..Self::free(size, turns.unwrap_or(data_turns), Sizes::print(fonts), room)
                }
            }
        }
    }

    fn free((width, height): (f64, f64), turns: u32, sizes: Sizes, room: Margins) -> Self {
        let Sizes { tick_font, name_font, tick, gap, .. } = sizes;
        let (width, height) = (within(width, 90.0, 4_000.0), within(height, 10.0 * tick_font, 4_000.0));
        let turns = turns.clamp(1, MAX_TURNS);
        let labels = if room.widest_y.is_empty() {
            text_width("0", tick_font) / 2.0
        } else {
            text_width(room.widest_y, tick_font) + tick + gap + name_font + 4.0
        };
        let left = 1.0 + labels;
        let right = width - 1.0 - text_width(&turns.to_string(), tick_font) / 2.0;
        let px_per_turn = (right - left) / (f64::from(turns) + 0.5);
        let below = tick + gap + tick_font + name_font + 5.0 + room.free_bottom * tick_font;
        Self {
            width,
            height,
            top: room.free_top * tick_font,
            bottom: height - below,
            axis: TurnAxis { plot_left: left + px_per_turn / 2.0, px_per_turn, turns },
            free: true,
            print: false,
            sizes,
        }
    }

    /// The line of the x axis; with `labels` also its ticks, and in print its name.
    pub(crate) fn draw_turn_axis(&self, canvas: &Canvas<'_>, tokens: &Tokens, labels: bool, name: &str) {
        let Sizes { tick_font, name_font, axis, tick, .. } = self.sizes;
        let pen = Pen::new(tokens.axis, axis);
        canvas.part("x-axis");
        canvas.line(&[(self.axis.x(0.0), self.bottom), (self.axis.right(), self.bottom)], pen);
        if !labels {
            return;
        }
        let base = self.tick_base();
        for turn in self.axis.ticks(tick_font) {
            let x = self.axis.x(f64::from(turn));
            canvas.line(&[(x, self.bottom), (x, self.bottom + tick)], pen);
            canvas.text(&turn.to_string(), (x, base), Anchor::Middle, tick_font, tokens.label);
        }
        if self.free {
            let middle = f64::midpoint(self.axis.x(0.0), self.axis.right());
            canvas.text(name, (middle, base + name_font + 3.0), Anchor::Middle, name_font, tokens.label);
        }
    }

    /// Base line of the tick labels of the x axis.
    pub(crate) fn tick_base(&self) -> f64 {
        // Digits are 0.7 em high. There are 4 px between them and the end of the tick (2 pt in print).
        self.bottom + self.sizes.tick + self.sizes.gap + (0.7 * self.sizes.tick_font).round()
    }
}
