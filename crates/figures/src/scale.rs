//! A value axis: from values to places, with ticks at round numbers.

use crate::number::decimal;
use crate::spec::Scale;

/// Larger values are clamped to this, so that places stay finite.
const LIMIT: f64 = 1e15;
/// The end of an axis of bars is close to the highest bar up to this times it.
const CLOSE: f64 = 1.25;
/// Steps of an axis of bars, times a power of ten, if it does not end close to the highest bar with the usual ones.
const OTHER_STEPS: [f64; 7] = [1.2, 1.5, 2.5, 3.0, 4.0, 6.0, 8.0];

/// Places values between two ends.
#[derive(Debug, Clone)]
pub(crate) struct ValueAxis {
    scale: Scale,
    /// The value and the place of both ends.
    start: (f64, f64),
    end: (f64, f64),
    /// Values with a tick, and their labels.
    pub(crate) ticks: Vec<(f64, String)>,
}

impl ValueAxis {
    /// An axis for all valid `values`, with ends at round numbers and at most `most` ticks (at least two). Without a value, it is
    /// from 0 to 1, or from 1 to 10.
    pub(crate) fn holding(
        values: impl Iterator<Item = f64>,
        scale: Scale,
        places: [f64; 2],
        most: usize,
    ) -> Self {
        let can_stand = |v: &f64| v.is_finite() && (scale == Scale::Linear || *v > 0.0);
        let mut ends: Option<(f64, f64)> = None;
        for value in values.filter(can_stand) {
            let value = match scale {
                Scale::Linear => value.clamp(-LIMIT, LIMIT),
                Scale::Log => value.clamp(1.0 / LIMIT, LIMIT),
            };
            let (low, high) = ends.unwrap_or((value, value));
            ends = Some((low.min(value), high.max(value)));
        }
        match scale {
            Scale::Linear => Self::linear(ends.unwrap_or((0.0, 1.0)), places, most.max(2), false),
            Scale::Log => Self::log(ends.unwrap_or((1.0, 10.0)), places, most.max(2)),
        }
    }

    /// An axis from 0 for counts in bars, with ticks only at whole numbers, that ends close above the highest. If it does not
    /// with the usual steps, its steps are others, for example 15.
    pub(crate) fn from_highest_bar(highest: u32, places: [f64; 2], most: usize) -> Self {
        let (highest, most) = (f64::from(highest.max(1)), most.max(2));
        let usual = Self::from_counts(std::iter::once(highest), places, most);
        if usual.end.0 <= CLOSE * highest {
            return usual;
        }
        // An axis with only one step is for a place without room for more.
        let fewest = if most == 2 { 1.0 } else { 2.0 };
        let steps = (0..10).flat_map(|power| OTHER_STEPS.map(|times| times * 10f64.powi(power)));
        let other = steps
            .filter(|step| step.fract() == 0.0)
            .map(|step| (step, (highest / step).ceil()))
            .filter(|(_, count)| (fewest..=(most - 1) as f64).contains(count))
            .min_by(|(a, count_a), (b, count_b)| {
                (a * count_a).total_cmp(&(b * count_b)).then(a.total_cmp(b))
            });
        match other {
            Some((step, count)) if step * count < usual.end.0 => {
                Self::stepped(0.0, step, count as usize, places)
            }
            _ => usual,
        }
    }

    /// A linear axis from 0 with ticks only at whole numbers, for turns.
    pub(crate) fn from_counts(values: impl Iterator<Item = f64>, places: [f64; 2], most: usize) -> Self {
        let high = values.filter(|v| v.is_finite()).fold(1.0, f64::max).min(LIMIT);
        Self::linear((0.0, high), places, most.max(2), true)
    }

    fn linear((low, high): (f64, f64), places: [f64; 2], most: usize, whole: bool) -> Self {
        let (low, high) = if high - low > 1e-12 * high.abs().max(1e-12) {
            (low, high)
        } else if low == 0.0 {
            (0.0, 1.0)
        } else {
            // For one value, the axis extends by its size to both sides.
            (low - 0.5 * low.abs(), high + 0.5 * low.abs())
        };
        let mut step = round_step((high - low) / (most - 1) as f64, whole);
        let (mut first, mut last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        while last - first + 1.0 > most as f64 {
            step = round_step(step * 1.01, whole);
            (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
            if last - first <= 1.0 {
                break;
            }
        }
        Self::stepped(first, step, (last - first).clamp(1.0, 200.0) as usize, places)
    }

    /// A linear axis with so many steps, the first of which begins at `first` times the step.
    fn stepped(first: f64, step: f64, count: usize, places: [f64; 2]) -> Self {
        let (first_value, last_value) = (first * step, (first + count as f64) * step);
        let values: Vec<f64> = (0..=count).map(|i| (first + i as f64) * step).collect();
        let labels = tick_labels(&values, step);
        let ticks = values.into_iter().zip(labels).collect();
        Self { scale: Scale::Linear, start: (first_value, places[0]), end: (last_value, places[1]), ticks }
    }

    fn log((low, high): (f64, f64), places: [f64; 2], most: usize) -> Self {
        // The narrowest grid of ticks for all values: 1-2-5, else powers of ten, else of a hundred, …
        let marks = |mantissas: &[f64], every: i32| {
            let first_power = ((low.log10() + 1e-9).floor() as i32).div_euclid(every) * every;
            let mut values: Vec<f64> = Vec::new();
            let mut exponent = first_power;
            while values.last().is_none_or(|v| *v < high * (1.0 - 1e-9)) && values.len() < 400 {
                values.extend(mantissas.iter().map(|m| m * 10f64.powi(exponent)));
                exponent += every;
            }
            let begin = values.iter().rposition(|v| *v <= low * (1.0 + 1e-9)).unwrap_or(0);
            let end = values.iter().position(|v| *v >= high * (1.0 - 1e-9)).unwrap_or(values.len() - 1);
            let (begin, end) = if begin < end {
                (begin, end)
            } else {
                (begin.saturating_sub(1), (begin + 1).min(values.len() - 1))
            };
            values[begin..=end].to_vec()
        };
        let grids = [
            (&[1.0, 2.0, 5.0][..], 1),
            (&[1.0, 3.0], 1),
            (&[1.0], 1),
            (&[1.0], 2),
            (&[1.0], 5),
            (&[1.0], 10),
        ];
        let values = grids
            .into_iter()
            .map(|(mantissas, every)| marks(mantissas, every))
            .find(|v| (2..=most.max(2)).contains(&v.len()))
            .unwrap_or_else(|| vec![low, high.max(low * 10.0)]);
        let label = |v: f64| if v.abs() >= 1e6 || v < 1e-4 { power(v) } else { plain(v) };
        let ticks: Vec<(f64, String)> = values.iter().map(|v| (*v, label(*v))).collect();
        let (first, last) = (values[0], values[values.len() - 1]);
        Self { scale: Scale::Log, start: (first, places[0]), end: (last, places[1]), ticks }
    }

    /// The position of a value, clamped to the ends.
    pub(crate) fn position(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.start.0) / (self.end.0 - self.start.0),
            Scale::Log => (value / self.start.0).ln() / (self.end.0 / self.start.0).ln(),
        };
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        self.start.1 + share * (self.end.1 - self.start.1)
    }

    /// The same axis from 0 for values that cannot be greater than `limit`: it ends there if it would end later. It has at most
    /// `most` ticks, with one at its end if that is a round number of steps.
    pub(crate) fn ending_at(self, limit: f64, most: usize) -> Self {
        let is_longer = self.start.0 == 0.0 && limit > 0.0 && limit < self.end.0;
        if self.scale != Scale::Linear || !is_longer {
            return self;
        }
        let most = most.max(2);
        let even =
            (1..most).rev().map(|count| (limit / count as f64, count)).find(|(step, _)| is_round(*step));
        let (step, count) = even.unwrap_or_else(|| {
            let step = round_step(limit / (most - 1) as f64, true).min(limit);
            (step, (limit / step + 1e-9) as usize)
        });
        let values: Vec<f64> = (0..=count).map(|i| i as f64 * step).collect();
        let labels = tick_labels(&values, step);
        let ticks = values.into_iter().zip(labels).collect();
        Self { ticks, end: (limit, self.end.1), ..self }
    }

    /// The same axis in another place.
    pub(crate) fn moved(mut self, [start, end]: [f64; 2]) -> Self {
        (self.start.1, self.end.1) = (start, end);
        self
    }

    /// The two ends as places.
    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.start.1, self.end.1)
    }

    /// Whether a value is valid on this axis.
    pub(crate) fn holds(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }
}

/// The least of 1, 2, 2.5, 5 times a power of ten that is at least this; with `whole`, a whole number.
fn round_step(least: f64, whole: bool) -> f64 {
    let least = if whole { least.max(1.0) } else { least };
    let power = 10f64.powf(least.log10().floor());
    let steps: &[f64] = if whole && power < 10.0 { &[1.0, 2.0, 5.0] } else { &[1.0, 2.0, 2.5, 5.0] };
    let times = steps.iter().find(|t| **t * power >= least * (1.0 - 1e-9)).unwrap_or(&10.0);
    times * power
}

/// Whether this is a whole number that is easy to count by: 4, 20, 25, 150.
fn is_round(step: f64) -> bool {
    let power = 10f64.powf(step.log10().floor());
    let is_easy = |times: &f64| (times * power - step).abs() < 1e-9 * step;
    step.fract() == 0.0 && [1.0, 2.0, 5.0].iter().chain(&OTHER_STEPS).any(is_easy)
}

/// Labels with the decimals of the step. Large ones are in thousands or millions.
fn tick_labels(values: &[f64], step: f64) -> Vec<String> {
    let largest = values.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
    let (unit, name) = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k")]
        .into_iter()
        .find(|(unit, _)| largest >= *unit)
        .map_or((1.0, ""), |(unit, name)| if name == " k" { (1e3, name) } else { (unit, name) });
    let step = step / unit;
    let decimals = (0..=9).find(|d| {
        let scaled = step * 10f64.powi(*d);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1.0)
    });
    values
        .iter()
        .map(|v| {
            let text = decimal(v / unit, decimals.unwrap_or(9) as usize);
            if *v == 0.0 { "0".to_owned() } else { format!("{text}{name}") }
        })
        .collect()
}

fn plain(value: f64) -> String {
    let decimals = (-value.log10().floor()).clamp(0.0, 6.0) as usize;
    decimal(value, decimals)
}

fn power(value: f64) -> String {
    for (least, name) in [(1e12, "T"), (1e9, "G"), (1e6, "M")] {
        if value >= least && value < least * 1e3 {
            return format!("{} {name}", decimal(value / least, 0));
        }
    }
    format!("{value:.0e}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], scale: Scale, most: usize) -> Vec<String> {
        let axis = ValueAxis::holding(values.iter().copied(), scale, [0.0, 100.0], most);
        axis.ticks.into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round_and_hold_the_values() {
        assert_eq!(labels(&[0.0, 9.3], Scale::Linear, 6), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(&[-5.2, 0.0], Scale::Linear, 5), ["−6", "−4", "−2", "0"]);
        assert_eq!(labels(&[0.0, 0.07], Scale::Linear, 5), ["0", "0.02", "0.04", "0.06", "0.08"]);
        assert_eq!(
            labels(&[0.0, 84_000.0], Scale::Linear, 6),
            ["0", "20 k", "40 k", "60 k", "80 k", "100 k"]
        );
        assert_eq!(labels(&[0.0, 4.2e9], Scale::Linear, 6), ["0", "1 G", "2 G", "3 G", "4 G", "5 G"]);
        assert_eq!(labels(&[0.2, 3.0], Scale::Log, 6), ["0.2", "0.5", "1", "2", "5"]);
        assert_eq!(labels(&[0.02, 900.0], Scale::Log, 6), ["0.01", "0.1", "1", "10", "100", "1,000"]);
        assert_eq!(labels(&[], Scale::Linear, 3), ["0", "0.5", "1.0"]);
        assert_eq!(labels(&[0.0], Scale::Linear, 3), ["0", "0.5", "1.0"]);
    }

    #[test]
    fn turns_are_whole() {
        let labels = |high, most| {
            let axis = ValueAxis::from_counts([high].into_iter(), [0.0, 100.0], most);
            axis.ticks.into_iter().map(|t| t.1).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(15.0, 7), "0 5 10 15");
        assert_eq!([labels(1.0, 6), labels(0.0, 6), labels(f64::NAN, 6)], ["0 1"; 3]);
        assert_eq!(labels(100.0, 6), "0 20 40 60 80 100");
        assert_eq!(labels(100.0, 5), "0 25 50 75 100");
    }

    /// The axis of counts up to 25 ended at 40.
    #[test]
    fn an_axis_of_bars_ends_close_above_the_highest() {
        let labels = |highest, most| {
            let axis = ValueAxis::from_highest_bar(highest, [0.0, 100.0], most);
            axis.ticks.into_iter().map(|t| t.1).collect::<Vec<_>>().join(" ")
        };
        assert_eq!([labels(25, 3), labels(25, 4), labels(25, 2)], ["0 15 30", "0 10 20 30", "0 25"]);
        assert_eq!([labels(11, 3), labels(7, 3), labels(17, 4)], ["0 6 12", "0 4 8", "0 10 20"]);
        assert_eq!(
            [labels(0, 3), labels(1, 3), labels(3, 3), labels(26, 2)],
            ["0 1", "0 1", "0 2 4", "0 30"]
        );
        for most in [2, 3, 4] {
            for highest in 1..3_000 {
                let axis = ValueAxis::from_highest_bar(highest, [0.0, 100.0], most);
                let end = axis.ticks.last().unwrap().0;
                assert!(axis.ticks.len() <= most && end >= f64::from(highest), "{highest} {most} {axis:?}");
                assert!(end <= (1.34 * f64::from(highest)).max(2.0), "{highest} {most} {axis:?}");
            }
        }
    }

    /// The axis of means of at most 12 turns ended at 20.
    #[test]
    fn an_axis_of_values_with_a_limit_ends_there() {
        let labels = |highest: f64, limit: f64, most: usize| {
            let axis = ValueAxis::holding([0.0, highest].into_iter(), Scale::Linear, [0.0, 100.0], most);
            let axis = axis.ending_at(limit, most);
            assert!(axis.ticks.len() <= most.max(2), "{axis:?}");
            let end = axis.position(limit);
            (axis.ticks.into_iter().map(|t| t.1).collect::<Vec<_>>().join(" "), end)
        };
        assert_eq!(labels(12.0, 12.0, 3), ("0 6 12".to_owned(), 100.0));
        assert_eq!(labels(11.0, 12.0, 4), ("0 4 8 12".to_owned(), 100.0));
        assert_eq!(labels(100.0, 100.0, 7), ("0 20 40 60 80 100".to_owned(), 100.0));
        // No round step divides it.
        assert_eq!(labels(13.0, 13.0, 4), ("0 5 10".to_owned(), 100.0));
        assert_eq!(labels(7.0, 7.0, 2), ("0 7".to_owned(), 100.0));
        // An axis that ends before its limit stays as it is.
        assert_eq!(labels(3.1, 12.0, 3).0, "0 2 4");
        assert_eq!(labels(0.0, 1.0, 3).0, "0 0.5 1.0");
        for most in [2, 3, 4, 8] {
            for limit in (1..1_000).map(f64::from) {
                labels(limit, limit, most);
            }
        }
    }

    #[test]
    fn any_values_give_an_axis() {
        let odd = [f64::NAN, f64::INFINITY, 0.0, 1e-300, 1e300, -1e300, 3.0, 3.0 + 1e-13, -2.0];
        for scale in [Scale::Linear, Scale::Log] {
            for a in odd {
                for b in odd {
                    for most in [0, 2, 3, 9] {
                        let axis = ValueAxis::holding([a, b].into_iter(), scale, [10.0, 20.0], most);
                        assert!((2..=most.max(4)).contains(&axis.ticks.len()), "{a} {b} {most} {axis:?}");
                        for v in odd {
                            assert!((10.0..=20.0).contains(&axis.position(v)), "{a} {b} {v} {axis:?}");
                        }
                    }
                }
            }
        }
    }
}
