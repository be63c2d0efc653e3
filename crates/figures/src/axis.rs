//! The common turn axis of charts, at-risk row and episode grid.

use crate::font::text_width;

/// The places of turns. Turn t has the column from `plot_left + (t − 1) · px_per_turn` to `plot_left + t · px_per_turn`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TurnAxis {
    /// Left edge of turn 1's column.
    pub plot_left: f64,
    /// Width of a column.
    pub px_per_turn: f64,
    /// Number of columns.
    pub turns: u32,
}

impl TurnAxis {
    /// **x(t) = `plot_left` + (t − 0.5) · `px_per_turn`**: the center of the column of the turn.
    ///
    /// Turn 0, at which all episodes are alive, is half a column left of the first column. The y axis is there.
    pub fn x(&self, turn: f64) -> f64 {
        self.plot_left + (turn - 0.5) * self.px_per_turn
    }

    /// Left and right edge of a turn's column.
    pub fn column(&self, turn: u32) -> (f64, f64) {
        (self.x(f64::from(turn) - 0.5), self.x(f64::from(turn) + 0.5))
    }

    /// Right edge of the last column.
    pub fn right(&self) -> f64 {
        self.column(self.turns).1
    }

    /// Turns with a tick and a label, including 0: every turn if legible, else every 2nd, 5th, 10th, … so that labels of
    /// `font_size` do not touch. There are at most fifteen.
    pub fn ticks(&self, font_size: f64) -> Vec<u32> {
        let room = text_width(&self.turns.to_string(), font_size) + font_size;
        let fits = |step: u32| f64::from(step) * self.px_per_turn >= room;
        let step = if fits(1) && self.turns <= 30 {
            1
        } else {
            [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
                .into_iter()
                .find(|s| fits(*s) && self.turns / s <= 15)
                .unwrap_or(10_000)
        };
        (0..=self.turns).step_by(step as usize).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_column_centers() {
        let axis = TurnAxis { plot_left: 224.0, px_per_turn: 36.0, turns: 15 };
        assert_eq!((axis.x(0.0), axis.x(1.0), axis.x(15.0)), (206.0, 242.0, 746.0));
        assert_eq!(axis.column(5), (368.0, 404.0));
        assert!((axis.right() - 764.0).abs() < 1e-9);
    }

    #[test]
    fn labels_thin_out_as_columns_narrow() {
        let ticks = |px, turns| TurnAxis { plot_left: 0.0, px_per_turn: px, turns }.ticks(11.0);
        assert_eq!(ticks(36.0, 15), (0..=15).collect::<Vec<_>>());
        assert_eq!(ticks(6.0, 100), (0..=10).map(|t| t * 10).collect::<Vec<_>>());
        assert_eq!(ticks(10.0, 100), ticks(6.0, 100));
        assert_eq!(ticks(15.0, 40), [0, 5, 10, 15, 20, 25, 30, 35, 40]);
        assert_eq!(ticks(60.0, 1), [0, 1]);
        assert!(ticks(0.1, 10_000).len() <= 16);
    }
}
