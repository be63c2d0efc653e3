//! Colours by their semantic names. The values are those of the UI's `tokens.css`; a test compares them.

use plotters::style::RGBColor;
use serde::{Deserialize, Serialize};

/// Which set of tokens colours a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// On the light surface, which shows through.
    #[default]
    Light,
    /// On the dark surface, which shows through.
    Dark,
    /// The light colours on white paper, which is drawn.
    Print,
}

/// The tokens that figures use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tokens {
    /// `--series-1`
    pub series: RGBColor,
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
    series: RGBColor(0x00, 0x72, 0xB2),
    censored: RGBColor(0x5D, 0x63, 0x6B),
    band_opacity: 0.16,
    paper: RGBColor(0xFF, 0xFF, 0xFF),
    axis: RGBColor(0x1B, 0x1D, 0x20),
    label: RGBColor(0x1B, 0x1D, 0x20),
    muted: RGBColor(0x64, 0x6A, 0x71),
    rule: RGBColor(0xC9, 0xCA, 0xC6),
};

const DARK: Tokens = Tokens {
    series: RGBColor(0x4A, 0xA3, 0xE0),
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
    pub const fn tokens(self) -> &'static Tokens {
        match self {
            Self::Light | Self::Print => &LIGHT,
            Self::Dark => &DARK,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of one rule of a style sheet, such as `:root{…}`.
    fn declared(css: &str, selector: &str) -> std::collections::HashMap<String, String> {
        let start =
            css.find(&format!("{selector}{{")).unwrap_or_else(|| panic!("no {selector} in tokens.css"));
        let body = &css[start + selector.len() + 1..];
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
    fn colours_are_those_of_the_user_interface() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/src/shell/tokens.css");
        let Ok(css) = std::fs::read_to_string(path) else {
            eprintln!("skipped: the UI's tokens.css is not there");
            return;
        };
        for (selector, tokens) in [(":root", &LIGHT), ("[data-theme=dark]", &DARK)] {
            let css = declared(&css, selector);
            for (name, RGBColor(r, g, b)) in [
                ("--series-1", tokens.series),
                ("--status-censored", tokens.censored),
                ("--figure-paper", tokens.paper),
                ("--figure-axis", tokens.axis),
                ("--figure-label", tokens.label),
                ("--figure-muted", tokens.muted),
                ("--figure-rule", tokens.rule),
            ] {
                let given = css.get(name).unwrap_or_else(|| panic!("{selector} has no {name}"));
                assert_eq!(given.to_uppercase(), format!("#{r:02X}{g:02X}{b:02X}"), "{selector} {name}");
            }
            assert_eq!(css["--band-opacity"].parse::<f64>(), Ok(tokens.band_opacity));
        }
    }
}
