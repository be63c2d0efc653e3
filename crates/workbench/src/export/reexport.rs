//! A figure from the spec that a file carries.

use std::path::PathBuf;

use figures::Theme;
use figures::export::spec_in;

use super::{figure_file, figure_format, file_at_height, preset_layout};
use crate::Workbench;
use crate::api::{ApiError, ExportFormat, Exported};

/// The largest file that is looked into.
const LARGEST: u64 = 64 << 20;

/// A file with a spec, and what is to be made of it.
#[derive(Debug, Clone)]
pub struct SpecFile {
    /// The file: TOML, or what an export made. A CSV's spec stands in the file beside it.
    pub path: PathBuf,
    /// Another venue than the spec's.
    pub preset: Option<String>,
    /// Another height than the spec's.
    pub height_pt: Option<u32>,
    /// In grayscale, whatever the spec says.
    pub grey: bool,
    /// As what.
    pub format: ExportFormat,
    /// Absolute path to write to; `None` = the SVG is given back.
    pub target: Option<String>,
}

/// What was made of a [`SpecFile`].
#[derive(Debug, Clone)]
pub enum Reexport {
    /// A file.
    Written(Box<Exported>),
    /// An SVG.
    Svg {
        /// Its content.
        svg: String,
        /// Warnings, as of a file.
        warnings: Vec<String>,
    },
}

impl Workbench {
    /// Makes a figure again from the spec in a file: the same bytes, unless place or colors are changed.
    pub fn reexport(&self, request: &SpecFile) -> Result<Reexport, ApiError> {
        let is_csv = request.path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
        let path = if is_csv {
            let mut beside = request.path.clone().into_os_string();
            beside.push(".toml");
            PathBuf::from(beside)
        } else {
            request.path.clone()
        };
        let shown_path = || path.to_string_lossy().into_owned();
        let unreadable = |error: std::io::Error| {
            ApiError::new("export.spec", format!("The spec cannot be read: {error}"))
                .with_path(shown_path())
                .hint(if is_csv {
                    "The spec of a CSV stands in the file beside it, FILE.csv.toml"
                } else {
                    "Name a file that is there"
                })
        };
        let bytes = files::confined_path::read_named_file(&path, LARGEST).map_err(unreadable)?;
        let mut spec = spec_in(&bytes).map_err(|error| {
            ApiError::new("export.spec", error.to_string())
                .with_path(shown_path())
                .hint("Specs stand in TOML files and in the SVG, PDF, PNG, .tex and Parquet files of figures")
        })?;
        match (&request.preset, request.height_pt) {
            (Some(preset), height) => spec.layout = preset_layout(preset, height)?,
            (None, Some(height)) => spec.layout = spec.layout.with_height(super::height(height)?),
            (None, None) => {}
        }
        if request.grey {
            spec.theme = Theme::Grey;
        }
        let name = request.path.file_stem().and_then(|n| n.to_str()).unwrap_or("figure").to_owned();
        let format = figure_format(request.format)?;
        // A height that the spec has already was a wish where the file was made.
        let file = match request.height_pt {
            Some(_) => file_at_height(&spec, format, &name)?,
            None => figure_file(&spec, format, &name)?,
        };
        let Some(target) = &request.target else {
            let svg = String::from_utf8_lossy(&file.bytes).into_owned();
            return Ok(Reexport::Svg { svg, warnings: file.warnings });
        };
        let written = self.write_export(target, &file)?;
        Ok(Reexport::Written(Box::new(file.exported(request.format, Some(written)))))
    }
}
