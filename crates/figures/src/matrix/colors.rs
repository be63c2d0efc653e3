//! The colors of cells, and of the texts in them.

use plotters::style::RGBColor;

use crate::theme::luminance;

/// Cividis (Nuñez, Anderton and Renslow 2018) at equal steps: rising lightness, the same for the color-blind.
const CIVIDIS: [RGBColor; 9] = [
    RGBColor(0x00, 0x22, 0x4E),
    RGBColor(0x12, 0x35, 0x70),
    RGBColor(0x3B, 0x49, 0x6C),
    RGBColor(0x57, 0x5D, 0x6D),
    RGBColor(0x70, 0x71, 0x73),
    RGBColor(0x8A, 0x86, 0x78),
    RGBColor(0xA5, 0x9C, 0x74),
    RGBColor(0xC3, 0xB3, 0x69),
    RGBColor(0xFE, 0xE8, 0x38),
];

/// The color of a share from 0 to 1.
pub(super) fn ramp(share: f64) -> RGBColor {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let place = share * (CIVIDIS.len() - 1) as f64;
    let i = (place as usize).min(CIVIDIS.len() - 2);
    let part = place - i as f64;
    let (low_color, high_color) = (CIVIDIS[i], CIVIDIS[i + 1]);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    RGBColor(mix(low_color.0, high_color.0), mix(low_color.1, high_color.1), mix(low_color.2, high_color.2))
}

/// White or black, the one with more contrast.
pub(super) fn ink_on(color: RGBColor) -> RGBColor {
    if luminance(color) > 0.179 { RGBColor(0, 0, 0) } else { RGBColor(255, 255, 255) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::lightness;

    #[test]
    fn the_ramp_rises_in_lightness_and_its_ink_stands_out() {
        let contrast = |a, b| {
            let (a, b) = (luminance(a), luminance(b));
            (f64::max(a, b) + 0.05) / (f64::min(a, b) + 0.05)
        };
        let colors: Vec<RGBColor> = (0..=100).map(|i| ramp(f64::from(i) / 100.0)).collect();
        for pair in colors.windows(2) {
            assert!(lightness(pair[1]) >= lightness(pair[0]) - 0.3, "{pair:?}");
        }
        assert!(colors.iter().all(|c| contrast(ink_on(*c), *c) >= 4.5));
        assert_eq!(ramp(f64::NAN), ramp(0.0));
    }
}
