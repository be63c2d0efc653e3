//! The place and the size of a figure.

use serde::{Deserialize, Serialize};

/// The place of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Layout {
    /// One track of the run page, in px, on a given turn axis, for the figures of one run. Other figures use only `width` and
    /// `height`.
    Screen {
        /// Width of the drawing.
        width: f64,
        /// Height of the drawing.
        height: f64,
        /// Left edge of the column of turn 1. The y axis is half a column left of it, and its labels take 32 px more. Parts that do
        /// not fit are drawn outside of the drawing (`overflow="visible"`), not cut.
        plot_left: f64,
        /// Width of the column of a turn.
        px_per_turn: f64,
        /// Number of turn columns.
        turns: u32,
    },
    /// A pane of the screen, in px, with its own axes.
    Panel {
        /// Width of the drawing.
        width: f64,
        /// Height of the drawing; without it, the height that the figure needs. Rows always stay readable, so the drawing may
        /// be higher.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        height: Option<f64>,
        /// Number of turns on a turn axis; without it, the planned turns of one run, or the greatest turn that any of
        /// several runs reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turns: Option<u32>,
    },
    /// A figure on paper, in pt (1/72 in), with axis names, drawn at its final size.
    Print {
        /// Exact width of the figure.
        width: f64,
        /// Height of the figure; as in `Panel`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        height: Option<f64>,
        /// Number of turns on a turn axis; without it, the planned turns of one run, or the greatest turn that any of
        /// several runs reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turns: Option<u32>,
        /// Sizes of letters.
        #[serde(default)]
        fonts: Fonts,
    },
}

impl Layout {
    /// A pane of the screen of this width, with the height that its figure needs.
    pub const fn panel(width: f64) -> Self {
        Self::Panel { width, height: None, turns: None }
    }

    /// A figure on paper of this width, with the height that it needs and the default sizes of letters.
    pub const fn print(width: f64) -> Self {
        Self::Print { width, height: None, turns: None, fonts: Fonts::USUAL }
    }

    /// The same layout with this height.
    #[must_use]
    pub const fn with_height(mut self, pixels: f64) -> Self {
        match &mut self {
            Self::Screen { height, .. } => *height = pixels,
            Self::Panel { height, .. } | Self::Print { height, .. } => *height = Some(pixels),
        }
        self
    }

    /// Whether it is a figure on paper.
    pub const fn is_print(&self) -> bool {
        matches!(self, Self::Print { .. })
    }
}

/// Sizes of letters in a printed figure, in pt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fonts {
    /// Axis names and labels of curves.
    pub label: f64,
    /// Ticks, tables and legends.
    pub tick: f64,
}

impl Fonts {
    /// 8 pt and 7 pt.
    pub const USUAL: Self = Self { label: 8.0, tick: 7.0 };
}

impl Default for Fonts {
    fn default() -> Self {
        Self::USUAL
    }
}
