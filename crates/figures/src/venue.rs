//! Sizes and letters of venues, so that a figure fits a paper unchanged.
//!
//! A preset is named by its venue: `icml` is one column of the page, `icml:full` both columns. Venues that set text in one
//! column have `neurips` for its width and `neurips:half` for two figures side by side. Widths and letters are those of
//! the venues' style files (tueplots 0.2.5 for ICML, `NeurIPS`, AAAI, CVPR, TMLR, JMLR; `acl.sty`; IEEE Author Center;
//! `acmart`).

use std::fmt;
use std::str::FromStr;

use crate::spec::{Fonts, Layout};

/// Points of `PostScript` and PDF in an inch.
pub(crate) const PT_PER_INCH: f64 = 72.0;

/// A venue's page, widths in inches, letters in pt.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Page {
    names: &'static [&'static str],
    /// The name that people use.
    title: &'static str,
    /// The width without a suffix.
    column: f64,
    /// The suffix of the other width, and that width.
    other: Option<(Span, f64)>,
    fonts: Fonts,
}

const fn fonts(label: f64, tick: f64) -> Fonts {
    Fonts { label, tick }
}

const PAGES: &[Page] = &[
    two_columns(&["icml", "aistats", "uai"], "ICML", [3.25, 6.75], fonts(8.0, 6.0)),
    one_column(&["neurips", "iclr", "colm"], "NeurIPS", [5.5, 2.65], fonts(9.0, 7.0)),
    two_columns(&["acl", "emnlp", "naacl", "eacl"], "ACL", [3.03, 6.3], fonts(9.0, 8.0)),
    two_columns(&["ieee"], "IEEE", [3.5, 7.16], fonts(8.0, 8.0)),
    two_columns(&["acm"], "ACM", [3.33, 7.0], fonts(8.0, 8.0)),
    two_columns(&["aaai"], "AAAI", [3.3, 6.975], fonts(9.0, 7.0)),
    two_columns(&["cvpr", "iccv"], "CVPR", [3.25, 6.875], fonts(8.0, 6.0)),
    one_column(&["tmlr"], "TMLR", [6.5, 3.2], fonts(9.0, 7.0)),
    one_column(&["jmlr"], "JMLR", [6.0, 2.95], fonts(9.95, 7.95)),
];

const fn two_columns(
    names: &'static [&'static str],
    title: &'static str,
    [column, full]: [f64; 2],
    fonts: Fonts,
) -> Page {
    Page { names, title, column, other: Some((Span::Full, full)), fonts }
}

const fn one_column(
    names: &'static [&'static str],
    title: &'static str,
    [text, half]: [f64; 2],
    fonts: Fonts,
) -> Page {
    Page { names, title, column: text, other: Some((Span::Half, half)), fonts }
}

/// The part of a page that a figure takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Span {
    /// One column: of two, or the only one.
    Column,
    /// Both columns of a page that has two.
    Full,
    /// Half of the only column, for two figures side by side.
    Half,
}

/// A venue and a width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preset {
    name: &'static str,
    title: &'static str,
    span: Span,
    width: f64,
    fonts: Fonts,
}

impl Preset {
    /// Every preset by its name, one column first.
    pub fn all() -> Vec<Self> {
        PAGES
            .iter()
            .flat_map(|page| page.names.iter().map(move |name| (page, *name)))
            .flat_map(|(page, name)| {
                [Span::Column]
                    .into_iter()
                    .chain(page.other.map(|o| o.0))
                    .filter_map(move |s| page.span(name, s))
            })
            .collect()
    }

    /// A preset by its name: `icml`, `icml:full`, `neurips:half`. Case does not count, and `:full` of a venue with one
    /// column is that column.
    ///
    /// # Errors
    /// Lists the known names.
    pub fn parse(name: &str) -> Result<Self, UnknownPreset> {
        let lower = name.trim().to_ascii_lowercase();
        let (venue, suffix) = lower.split_once(':').unwrap_or((&lower, ""));
        let unknown = || UnknownPreset { name: name.to_owned() };
        let (page, venue) = PAGES
            .iter()
            .find_map(|page| page.names.iter().find(|n| **n == venue).map(|n| (page, *n)))
            .ok_or_else(unknown)?;
        let only_column = matches!(page.other, Some((Span::Half, _)));
        let span = match suffix {
            "" | "column" => Span::Column,
            "full" if only_column => Span::Column,
            "full" => Span::Full,
            "half" => Span::Half,
            _ => return Err(unknown()),
        };
        page.span(venue, span).ok_or_else(unknown)
    }

    /// The name that [`Self::parse`] reads.
    pub fn name(&self) -> String {
        match self.span {
            Span::Column => self.name.to_owned(),
            Span::Full => format!("{}:full", self.name),
            Span::Half => format!("{}:half", self.name),
        }
    }

    /// The label that people read: `ICML, one column (3.25 in)`.
    pub fn title(&self) -> String {
        let name = if self.name.eq_ignore_ascii_case(self.title) { self.title } else { self.name };
        let name = if name == self.name { name.to_ascii_uppercase() } else { name.to_owned() };
        let width = (self.width / PT_PER_INCH * 1_000.0).round() / 1_000.0;
        let span = match self.span {
            Span::Column if self.is_only_column() => "text width",
            Span::Column => "one column",
            Span::Full => "two columns",
            Span::Half => "half width",
        };
        format!("{name}, {span} ({width} in)")
    }

    fn is_only_column(&self) -> bool {
        PAGES.iter().any(|p| p.names.contains(&self.name) && matches!(p.other, Some((Span::Half, _))))
    }

    /// The part of the page that it takes.
    pub const fn span(&self) -> Span {
        self.span
    }

    /// Width in pt.
    pub const fn width(&self) -> f64 {
        self.width
    }

    /// Sizes of letters in pt.
    pub const fn fonts(&self) -> Fonts {
        self.fonts
    }

    /// The layout of a figure with a free height.
    pub const fn layout(&self) -> Layout {
        Layout::Print { width: self.width, height: None, turns: None, fonts: self.fonts }
    }
}

impl Page {
    fn span(&self, name: &'static str, span: Span) -> Option<Preset> {
        let inches = match span {
            Span::Column => self.column,
            other => self.other.filter(|o| o.0 == other)?.1,
        };
        let width = (inches * PT_PER_INCH * 100.0).round() / 100.0;
        Some(Preset { name, title: self.title, span, width, fonts: self.fonts })
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        Self::parse(name)
    }
}

/// No preset has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no preset \"{name}\"; there are {}", Preset::all().iter().map(Preset::name).collect::<Vec<_>>().join(", "))]
pub struct UnknownPreset {
    name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for preset in Preset::all() {
            assert_eq!(Preset::parse(&preset.name()), Ok(preset));
        }
        assert_eq!(Preset::parse(" ICML ").map(|p| p.width()), Ok(234.0));
        assert_eq!(Preset::parse("icml:full").map(|p| p.width()), Ok(486.0));
        assert_eq!(Preset::parse("neurips:full"), Preset::parse("neurips"));
        assert_eq!(Preset::parse("acl").map(|p| p.title()), Ok("ACL, one column (3.03 in)".to_owned()));
        assert_eq!(
            Preset::parse("neurips").map(|p| p.title()),
            Ok("NeurIPS, text width (5.5 in)".to_owned())
        );
        assert_eq!(
            Preset::parse("iclr:half").map(|p| p.title()),
            Ok("ICLR, half width (2.65 in)".to_owned())
        );
        for wrong in ["", "nature", "icml:", "icml:half", "icml:2", "neurips:quarter"] {
            assert_eq!(Preset::parse(wrong).is_ok(), wrong == "icml:", "{wrong}");
        }
    }
}
