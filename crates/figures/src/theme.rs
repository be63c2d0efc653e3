//! Colors by their semantic names. The values are those of `tokens.css` of the UI, and a test compares them.

use std::sync::OnceLock;

use plotters::style::RGBColor;
use serde::{Deserialize, Serialize};

/// Which set of tokens colors a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// On the light surface, with a transparent background.
    #[default]
    Light,
    /// On the dark surface, with a transparent background.
    Dark,
    /// The light colors on a drawn white paper.
    Print,
    /// `Print` in grayscale, as from a black-and-white printer: each color is the gray of its luminance.
    Grey,
}

/// Number of colors for series. Larger indexes repeat them.
pub const SERIES: usize = 8;

/// The tokens that figures use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tokens {
    /// `--series-1` to `--series-8`: lines and marks.
    pub series: [RGBColor; SERIES],
    /// `--series-1-text` to `--series-8-text`: labels in the color of a series.
    pub series_text: [RGBColor; SERIES],
    /// `--status-censored`
    pub censored: RGBColor,
    /// `--band-opacity`
    pub band_opacity: f64,
    /// `--figure-paper`
    pub paper: RGBColor,
    /// `--figure-axis`
    pub axis: RGBColor,
    /// `--figure-label`
    pub label: RGBColor,
    /// `--figure-muted`
    pub muted: RGBColor,
    /// `--figure-rule`
    pub rule: RGBColor,
}

const LIGHT: Tokens = Tokens {
    series: [
        RGBColor(0x00, 0x72, 0xB2),
        RGBColor(0xD5, 0x5E, 0x00),
        RGBColor(0x00, 0x9E, 0x73),
        RGBColor(0xCC, 0x79, 0xA7),
        RGBColor(0x00, 0x00, 0x00),
        RGBColor(0x2E, 0x97, 0xD6),
        RGBColor(0xC2, 0x85, 0x00),
        RGBColor(0x85, 0x7F, 0x00),
    ],
    series_text: [
        RGBColor(0x00, 0x68, 0xA3),
        RGBColor(0xB0, 0x4D, 0x00),
        RGBColor(0x00, 0x75, 0x5A),
        RGBColor(0x9C, 0x4A, 0x78),
        RGBColor(0x00, 0x00, 0x00),
        RGBColor(0x1B, 0x6F, 0xA3),
        RGBColor(0x8A, 0x5D, 0x00),
        RGBColor(0x6B, 0x66, 0x00),
    ],
    censored: RGBColor(0x5D, 0x63, 0x6B),
    band_opacity: 0.16,
    paper: RGBColor(0xFF, 0xFF, 0xFF),
    axis: RGBColor(0x1B, 0x1D, 0x20),
    label: RGBColor(0x1B, 0x1D, 0x20),
    muted: RGBColor(0x64, 0x6A, 0x71),
    rule: RGBColor(0xC9, 0xCA, 0xC6),
};

const DARK: Tokens = Tokens {
    series: [
        RGBColor(0x4A, 0xA3, 0xE0),
        RGBColor(0xF0, 0x80, 0x3C),
        RGBColor(0x2F, 0xBF, 0x94),
        RGBColor(0xDB, 0x93, 0xBB),
        RGBColor(0xD9, 0xDA, 0xDC),
        RGBColor(0x9A, 0xD8, 0xFA),
        RGBColor(0xF0, 0xB4, 0x29),
        RGBColor(0xF0, 0xE4, 0x42),
    ],
    series_text: [
        RGBColor(0x6B, 0xB5, 0xE8),
        RGBColor(0xF5, 0x93, 0x5A),
        RGBColor(0x4C, 0xCB, 0xA4),
        RGBColor(0xE2, 0xA4, 0xC7),
        RGBColor(0xD9, 0xDA, 0xDC),
        RGBColor(0x9A, 0xD8, 0xFA),
        RGBColor(0xF0, 0xB4, 0x29),
        RGBColor(0xF0, 0xE4, 0x42),
    ],
    censored: RGBColor(0x9E, 0xA3, 0xAA),
    band_opacity: 0.2,
    paper: RGBColor(0x1E, 0x1F, 0x21),
    axis: RGBColor(0xD0, 0xD2, 0xD5),
    label: RGBColor(0xE7, 0xE8, 0xE9),
    muted: RGBColor(0x98, 0x9D, 0xA4),
    rule: RGBColor(0x4A, 0x4D, 0x52),
};

impl Theme {
    /// The values of its tokens.
    pub fn tokens(self) -> &'static Tokens {
        static GREY: OnceLock<Tokens> = OnceLock::new();
        match self {
            Self::Light | Self::Print => &LIGHT,
            Self::Dark => &DARK,
            Self::Grey => GREY.get_or_init(|| LIGHT.grayscale()),
        }
    }

    /// Whether the figure draws white paper.
    pub const fn has_paper(self) -> bool {
        matches!(self, Self::Print | Self::Grey)
    }
}

impl Tokens {
    /// The color of a series, for any index.
    pub fn series(&self, index: u8) -> RGBColor {
        self.series[usize::from(index) % SERIES]
    }

    /// The color of the label of a series.
    pub fn series_text(&self, index: u8) -> RGBColor {
        self.series_text[usize::from(index) % SERIES]
    }

    fn grayscale(&self) -> Self {
        Self {
            series: self.series.map(grey),
            series_text: self.series_text.map(grey),
            censored: grey(self.censored),
            band_opacity: self.band_opacity,
            paper: grey(self.paper),
            axis: grey(self.axis),
            label: grey(self.label),
            muted: grey(self.muted),
            rule: grey(self.rule),
        }
    }
}

/// Relative luminance of a color, from 0 (black) to 1 (white) (WCAG 2, sRGB).
pub(crate) fn luminance(RGBColor(r, g, b): RGBColor) -> f64 {
    let linear = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// Lightness L* (CIE 1976), from 0 to 100.
pub(crate) fn lightness(color: RGBColor) -> f64 {
    let y = luminance(color);
    if y <= 216.0 / 24_389.0 { y * 24_389.0 / 27.0 } else { 116.0 * y.cbrt() - 16.0 }
}

/// The gray of the same luminance.
pub(crate) fn grey(color: RGBColor) -> RGBColor {
    let y = luminance(color);
    let c = if y <= 0.003_130_8 { 12.92 * y } else { 1.055 * y.powf(1.0 / 2.4) - 0.055 };
    let level = (c * 255.0).round().clamp(0.0, 255.0) as u8;
    RGBColor(level, level, level)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of one rule of a style sheet, such as `:root { … }`.
    fn declared(css: &str, selector: &str) -> std::collections::HashMap<String, String> {
        let start = css.find(&format!("{selector} {{"));
        let start = start.unwrap_or_else(|| panic!("no {selector} in tokens.css"));
        let body = &css[start + selector.len() + 2..];
        let body = &body[..body.find('}').unwrap()];
        let without_comments = body
            .split("/*")
            .enumerate()
            .map(|(i, part)| if i == 0 { part } else { part.split_once("*/").map_or("", |(_, rest)| rest) });
        without_comments
            .collect::<String>()
            .split(';')
            .filter_map(|d| d.split_once(':'))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect()
    }

    #[test]
    fn colors_are_those_of_the_user_interface() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/src/shell/tokens.css");
        let Ok(css) = std::fs::read_to_string(path) else {
            eprintln!("skipped: the UI's tokens.css is not there");
            return;
        };
        for (selector, tokens) in [(":root", &LIGHT), ("[data-theme=\"dark\"]", &DARK)] {
            let css = declared(&css, selector);
            let series_colors = (1..=SERIES).flat_map(|i| {
                [
                    (format!("--series-{i}"), tokens.series[i - 1]),
                    (format!("--series-{i}-text"), tokens.series_text[i - 1]),
                ]
            });
            let others = [
                ("--status-censored", tokens.censored),
                ("--figure-paper", tokens.paper),
                ("--figure-axis", tokens.axis),
                ("--figure-label", tokens.label),
                ("--figure-muted", tokens.muted),
                ("--figure-rule", tokens.rule),
            ];
            let others = others.into_iter().map(|(name, color)| (name.to_owned(), color));
            for (name, RGBColor(r, g, b)) in series_colors.chain(others) {
                let given = css.get(&name).unwrap_or_else(|| panic!("{selector} has no {name}"));
                assert_eq!(given.to_uppercase(), format!("#{r:02X}{g:02X}{b:02X}"), "{selector} {name}");
            }
            assert_eq!(css["--band-opacity"].parse::<f64>(), Ok(tokens.band_opacity));
        }
    }

    #[test]
    fn series_stand_out_from_their_surface() {
        let contrast = |a, b| {
            let (a, b) = (luminance(a), luminance(b));
            (f64::max(a, b) + 0.05) / (f64::min(a, b) + 0.05)
        };
        for tokens in [&LIGHT, &DARK] {
            for i in 0..SERIES {
                assert!(contrast(tokens.series[i], tokens.paper) >= 3.0, "line {i}");
                assert!(contrast(tokens.series_text[i], tokens.paper) >= 4.5, "label {i}");
            }
        }
    }

    #[test]
    fn grey_keeps_lightness() {
        for color in LIGHT.series {
            let RGBColor(r, g, b) = grey(color);
            assert!(r == g && g == b);
            assert!((lightness(color) - lightness(grey(color))).abs() < 0.5);
        }
        assert!((lightness(RGBColor(255, 255, 255)) - 100.0).abs() < 1e-6);
    }
}
