//! Where a figure stands and how large it is.

use serde::{Deserialize, Serialize};

/// Where a figure stands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Layout {
    /// One track of the run page, in px, on a given turn axis; for the figures of one run. Others take `width` and
    /// `height` from it.
    Screen {
        /// Width of the drawing.
        width: f64,
        /// Height of the drawing.
        height: f64,
        /// Left edge of turn 1's column. The y axis stands half a column left of it; its labels take 32 px more. What
        /// does not fit is drawn outside of the drawing (`overflow="visible"`), not cut.
        plot_left: f64,
        /// Width of a turn's column.
        px_per_turn: f64,
        /// Number of turn columns.
        turns: u32,
    },
    /// A pane of the screen, in px, with axes of its own.
    Panel {
        /// Width of the drawing.
        width: f64,
        /// Height of the drawing; without it as high as the figure needs. What lists rows is never squeezed below
        /// what can be read: the drawing is then higher than this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        height: Option<f64>,
        /// Number of turns on a turn axis; without it as many as the data has: as are planned
        /// for one run, as were reached by any of several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turns: Option<u32>,
    },
    /// A figure on paper, in pt (1/72 in), with axis names, drawn at its final size.
    Print {
        /// Width of the figure, kept exactly.
        width: f64,
        /// Height of the figure; as in `Panel`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        height: Option<f64>,
        /// Number of turns on a turn axis; without it as many as the data has: as are planned
        /// for one run, as were reached by any of several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turns: Option<u32>,
        /// Sizes of letters.
        #[serde(default)]
        fonts: Fonts,
    },
}

impl Layout {
    /// A pane of the screen of this width, as high as its figure needs.
    pub const fn panel(width: f64) -> Self {
        Self::Panel { width, height: None, turns: None }
    }

    /// A figure on paper of this width, as high as it needs, in the usual sizes of letters.
    pub const fn print(width: f64) -> Self {
        Self::Print { width, height: None, turns: None, fonts: Fonts::USUAL }
    }

    /// The same place with this height.
    #[must_use]
    pub const fn with_height(mut self, to: f64) -> Self {
        match &mut self {
            Self::Screen { height, .. } => *height = to,
            Self::Panel { height, .. } | Self::Print { height, .. } => *height = Some(to),
        }
        self
    }

    /// The same place with this number of turns on the axis.
    #[must_use]
    pub const fn with_turns(mut self, to: u32) -> Self {
        match &mut self {
            Self::Screen { turns, .. } => *turns = to,
            Self::Panel { turns, .. } | Self::Print { turns, .. } => *turns = Some(to),
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
