//! Figures as files: SVG, PDF, PNG, LaTeX (booktabs for a table), and their data as CSV and Parquet. Each file contains its
//! spec.
//!
//! Every file depends only on a [`FigureSpec`], so the same spec gives the same bytes. The spec is in the file: as `<metadata>`
//! of an SVG, as an attached file of a PDF, as an iTXt chunk of a PNG, as comments of a `.tex`, as key-value metadata of a
//! Parquet file. A CSV has no place for it and gets a file beside it. [`spec_in`] finds it.
//!
//! Letters are those of the shipped font. A painted picture uses fonts of this machine for other letters (CJK, right-to-left
//! scripts). [`File::warnings`] reports this, or missing fonts.

mod fonts;
mod latex;
mod pdf;
mod png;
mod refusals;
mod spec_text;
mod svg;

use std::fmt;
use strum::{IntoStaticStr, VariantArray};

pub use refusals::{drawing_refusal, height_refusal};
pub use spec_text::{SpecError, spec_from_toml, spec_in, spec_to_toml};

use refusals::{LONG_TABLES, content_refusal, other_height, too_high, too_long_for_a_page, unreadable_name};

use crate::Drawing;
use crate::caption::with_method;
use crate::latex_text;
use crate::spec::{Figure, FigureSpec, Layout};
use crate::table::data_table;

/// Dots per inch of a PNG.
pub const PNG_DPI: f64 = 300.0;

/// The formats of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Format {
    /// As drawn.
    Svg,
    /// One page, as large as the figure, with its fonts.
    Pdf,
    /// At 300 dots an inch.
    Png,
    /// A picture of LaTeX's pgf, or a LaTeX table for a table.
    Tex,
    /// The data of the figure.
    Csv,
    /// The data of the figure in columns.
    Parquet,
    /// The spec.
    Toml,
}

impl Format {
    /// Every format.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The extension of its files: `svg`.
    pub fn extension(self) -> &'static str {
        self.into()
    }

    /// Whether it is a picture of the figure.
    pub const fn is_picture(self) -> bool {
        matches!(self, Self::Svg | Self::Pdf | Self::Png)
    }
}

/// A figure as a file.
#[derive(Debug, Clone, PartialEq)]
pub struct File {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Width of the drawing in pt. For a drawing for the screen, px count as pt.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// Warnings about letters and marks that do not look as intended, a height that the figure does not have, and a spec that is too
    /// large to be read again, in sentences.
    pub warnings: Vec<String>,
}

/// A figure could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the figure could not be written as {}: {reason}", .format.extension())]
pub struct ExportError {
    format: Format,
    reason: String,
    advice: Option<&'static str>,
}

impl ExportError {
    fn new(format: Format, reason: impl fmt::Display) -> Self {
        Self { format, reason: reason.to_string(), advice: None }
    }

    /// What to do instead, if there is an alternative.
    pub const fn advice(&self) -> Option<&'static str> {
        self.advice
    }
}

/// A drawing for its own file, with its font.
pub fn standalone(svg: &str) -> String {
    svg::with_font(svg)
}

/// The figure as LaTeX, without its spec. A table is not drawn: it is a LaTeX table.
fn latex(spec: &FigureSpec, drawing: &Drawing) -> String {
    let Figure::Table(table) = &spec.figure else {
        return latex::write(drawing, spec.theme);
    };
    let table = with_method(table, spec);
    match spec.layout {
        Layout::Print { width, .. } => table.to_latex_for(width),
        _ => table.to_latex(),
    }
}

/// The caption of a picture for LaTeX, as a comment to copy: the paper writes it where it sets the picture. The caption of a
/// table is in its file.
fn caption_comment(spec: &FigureSpec) -> String {
    if matches!(spec.figure, Figure::Table(_)) {
        return String::new();
    }
    let short = crate::short_caption(spec);
    let [short, full] = [short.trim_end_matches('.'), &crate::caption(spec)].map(latex_text::escape);
    latex_text::comment(&latex_text::caption_command(&short, &full))
}

/// Writes a figure. The same spec and format give the same bytes, if every letter is in the shipped font (see
/// [`File::warnings`]).
///
/// # Errors
/// A spec that TOML cannot represent (a seed beyond 2⁶³), a drawing that is too large for a PNG, a table that does not fit a
/// page, a figure that is higher than a page, with numbers or readable names that do not fit its width, with curves that nothing
/// tells apart, or without data.
pub fn export(spec: &FigureSpec, format: Format) -> Result<File, ExportError> {
    if format.is_picture()
        && let Some(reason) = too_long_for_a_page(spec)
    {
        return Err(ExportError { advice: Some(LONG_TABLES), ..ExportError::new(format, reason) });
    }
    if (format.is_picture() || format == Format::Tex)
        && let Some((reason, advice)) = content_refusal(spec)
    {
        return Err(ExportError { advice: Some(advice), ..ExportError::new(format, reason) });
    }
    let toml = spec_to_toml(spec).map_err(|e| ExportError::new(format, e))?;
    let drawing = crate::draw(spec);
    if (format.is_picture() || format == Format::Tex)
        && let Some((reason, advice)) =
            too_high(spec, drawing.height).or_else(|| unreadable_name(spec, &drawing))
    {
        return Err(ExportError { advice: Some(advice), ..ExportError::new(format, reason) });
    }
    let too_large = spec_text::size_refusal(&toml);
    let mut warnings: Vec<String> =
        too_large.map(|reason| format!("this file cannot be drawn again: {reason}")).into_iter().collect();
    // A table for LaTeX is no drawing.
    let is_table = matches!(spec.figure, Figure::Table(_));
    let is_drawn = format.is_picture() || (format == Format::Tex && !is_table);
    warnings.extend(is_drawn.then(|| other_height(spec, drawing.height)).flatten());
    let bytes = match format {
        Format::Svg => {
            warnings.extend(fonts::missing_in_svg(&drawing.svg));
            svg::with_spec(&svg::with_font(&drawing.svg), &toml).into_bytes()
        }
        Format::Pdf | Format::Png => {
            let (tree, font_warnings) =
                fonts::parse_svg(&drawing.svg).map_err(|e| ExportError::new(format, e))?;
            warnings.extend(font_warnings);
            match format {
                Format::Pdf => pdf::write(&tree, spec, &drawing, &toml),
                _ => png::write(&tree, spec.layout.is_print(), &drawing, &toml),
            }
            .map_err(|e| ExportError::new(format, e))?
        }
        Format::Tex => {
            let text = latex(spec, &drawing);
            let foreign = latex_text::foreign(&text);
            if !foreign.is_empty() {
                let letters: String = foreign.into_iter().take(20).collect();
                warnings.push(format!(
                    "pdflatex has no letters for \"{letters}\" and sets their numbers; xelatex and lualatex set them in a font that has them"
                ));
            }
            format!("{}{}{text}", spec_text::as_comments(&toml), caption_comment(spec)).into_bytes()
        }
        Format::Csv => data_table(&spec.figure).to_csv().into_bytes(),
        Format::Parquet => {
            data_table(&spec.figure).to_parquet(Some(&toml)).map_err(|e| ExportError::new(format, e))?
        }
        Format::Toml => toml.into_bytes(),
    };
    Ok(File { bytes, width: drawing.width, height: drawing.height, warnings })
}
