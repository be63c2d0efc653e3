//! Figures, tables and reports, on the screen and as files.
//!
//! What is asked for is named by what it is about ([`FigureSubject`], [`TableSubject`]); the numbers come from the same commands as
//! those of the pages, so that what is exported is what was seen. From there a figure is a `figures::FigureSpec` and
//! nothing else: the file carries it, and `stamina figure` makes the same bytes from it.

mod bundle;
mod caption;
mod class_patterns;
mod figure;
mod file;
mod inputs;
mod matrix;
mod measure_names;
mod method;
mod paired_turns;
mod percent;
mod plane;
mod reexport;
mod report;
mod scenario_names;
mod tables;

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use figures::export::Format;
use figures::table::Table;
use figures::venue::Preset;
use figures::{Figure, FigureSpec, Layout, Theme};

pub use bundle::ReportFolder;
pub(crate) use file::write_whole;
pub use inputs::Watch;
pub use reexport::{Reexport, SpecFile};

use crate::Workbench;
use crate::api::{
    ApiError, DrawFigure, DrawnFigure, ExportFormat, ExportRequest, ExportSubject, Exported, FigureSubject,
    FigureTheme, Nothing, PresetInfo, PresetList, TableSubject,
};

/// The code of what does not fit a page.
const TOO_LONG: &str = "export.too_long";

/// A file that was made, before it goes anywhere.
pub(crate) struct MadeFile {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) caption: String,
    pub(crate) short_caption: String,
    pub(crate) inches: Option<(f64, f64)>,
    pub(crate) warnings: Vec<String>,
    /// Files that belong beside it.
    pub(crate) beside: Vec<(CompanionName, Vec<u8>)>,
}

/// What a file beside another one is called.
pub(crate) enum CompanionName {
    /// As the file, with this behind it.
    Ending(&'static str),
    /// So, from the folder of the file.
    Named(String),
}

impl MadeFile {
    /// The description of the export, with its content if it was not written.
    fn exported(self, format: ExportFormat, written: Option<file::WrittenExport>) -> Exported {
        let handed = |(name, bytes): &(CompanionName, Vec<u8>)| match name {
            CompanionName::Ending(ending) => Some(((*ending).to_owned(), STANDARD.encode(bytes))),
            // Whoever is handed a file has no folder for it.
            CompanionName::Named(_) => None,
        };
        let beside_base64 = match &written {
            None => self.beside.iter().filter_map(handed).collect(),
            Some(_) => Vec::new(),
        };
        let (path, beside) = written.map_or((None, Vec::new()), |w| (Some(w.path), w.beside));
        Exported {
            media_type: file::media_type(format).to_owned(),
            base64: path.is_none().then(|| STANDARD.encode(&self.bytes)),
            path,
            beside,
            beside_base64,
            bytes: self.bytes.len() as u64,
            file_name: self.name,
            caption: self.caption,
            short_caption: self.short_caption,
            inches: self.inches,
            warnings: self.warnings,
        }
    }
}

impl Workbench {
    /// A figure on the screen.
    pub fn draw_figure(&self, request: DrawFigure) -> Result<DrawnFigure, ApiError> {
        let spec = self.screen_spec(&request)?;
        let drawing = figures::draw(&spec);
        let marks = figure::marks(&request.figure, &spec.figure, &drawing);
        Ok(DrawnFigure {
            caption: figures::caption(&spec),
            svg: drawing.svg,
            width: drawing.width,
            height: drawing.height,
            marks,
            summary: drawing.summary,
        })
    }

    /// The venues that figures are made for.
    pub fn list_presets(&self, _: Nothing) -> Result<PresetList, ApiError> {
        let presets = Preset::all()
            .iter()
            .map(|preset| PresetInfo {
                preset: preset.name(),
                label: preset.title(),
                width_in: preset.width() / 72.0,
                label_pt: preset.fonts().label,
                tick_pt: preset.fonts().tick,
            })
            .collect();
        Ok(PresetList { presets, height_pt: (*HEIGHT_PT.start(), *HEIGHT_PT.end()) })
    }

    /// Makes a file.
    pub fn export(&self, request: ExportRequest) -> Result<Exported, ApiError> {
        self.export_watched(&request, &Watch::nobody())
    }

    /// The same for whoever wants to see how it goes on, or to stop it.
    pub fn export_watched(&self, request: &ExportRequest, watch: &Watch<'_>) -> Result<Exported, ApiError> {
        let file = self.make(request, watch)?;
        watch.check_continues()?;
        let written = match &request.path {
            Some(target) => Some(self.write_export(target, &file)?),
            None => None,
        };
        Ok(file.exported(request.format, written))
    }

    /// The same where a height that was asked for is kept, or refused before anything is written. Elsewhere it is a wish: the
    /// figure is as high as it must be, and a warning says so.
    pub fn export_at_height(&self, request: ExportRequest) -> Result<Exported, ApiError> {
        let ExportSubject::Figure { figure, preset, height_pt: height_pt @ Some(_), grey } = &request.subject
        else {
            return self.export(request);
        };
        let format = figure_format(request.format)?;
        let spec = self.print_spec(figure, preset, *height_pt, *grey)?;
        let file = file_at_height(&spec, format, &file::figure_name(figure))?;
        let written = request.path.as_ref().map(|target| self.write_export(target, &file)).transpose()?;
        Ok(file.exported(request.format, written))
    }

    fn make(&self, request: &ExportRequest, watch: &Watch<'_>) -> Result<MadeFile, ApiError> {
        match &request.subject {
            ExportSubject::Figure { figure, preset, height_pt, grey } => {
                let format = figure_format(request.format)?;
                let spec = self.print_spec(figure, preset, *height_pt, *grey)?;
                figure_file(&spec, format, &file::figure_name(figure))
            }
            ExportSubject::Table { table, preset, grey } => {
                let spec = self.table_spec(table, preset_layout(preset, None)?, paper(*grey))?;
                let as_data =
                    matches!(request.format, ExportFormat::Csv | ExportFormat::Parquet | ExportFormat::Jsonl);
                if as_data && matches!(table, TableSubject::Tidy { .. }) {
                    return tidy_file(&spec, request.format, &file::table_name(table));
                }
                table_file(&spec, request.format, &file::table_name(table))
            }
            ExportSubject::Report { request: compare_request, preset } => {
                self.report_file(compare_request, preset, request.format, request.path.as_deref())
            }
            ExportSubject::Bundle { request: compare_request, preset } => {
                if request.format != ExportFormat::Zip {
                    return Err(does_not_fit(request.format, "A bundle", "zip"));
                }
                self.bundle_file(compare_request, preset, watch)
            }
        }
    }

    /// A figure with its data, for the screen.
    pub fn screen_spec(&self, request: &DrawFigure) -> Result<FigureSpec, ApiError> {
        let spec = self.figure_spec(&request.figure)?;
        let theme = match request.theme {
            FigureTheme::Light => Theme::Light,
            FigureTheme::Dark => Theme::Dark,
        };
        let layout = Layout::Panel { width: request.width, height: request.height, turns: None };
        Ok(FigureSpec { theme, layout, ..spec })
    }

    /// The SVG of a figure, which carries its spec, and what is to be said of it. A height that it cannot have is refused.
    pub fn svg_of(&self, spec: &FigureSpec) -> Result<(String, Vec<String>), ApiError> {
        let file = file_at_height(spec, Format::Svg, "figure")?;
        Ok((String::from_utf8_lossy(&file.bytes).into_owned(), file.warnings))
    }

    /// A figure with its data, for paper.
    pub fn print_spec(
        &self,
        figure: &FigureSubject,
        preset: &str,
        height_pt: Option<u32>,
        grey: bool,
    ) -> Result<FigureSpec, ApiError> {
        let layout = preset_layout(preset, height_pt)?;
        let spec = self.figure_spec(figure)?;
        Ok(FigureSpec { layout, theme: paper(grey), ..spec })
    }

    /// A table with its data, for its place.
    fn table_spec(
        &self,
        subject: &TableSubject,
        layout: Layout,
        theme: Theme,
    ) -> Result<FigureSpec, ApiError> {
        let table = tables::table(self, subject)?;
        Ok(FigureSpec::new(Figure::Table(table), layout, theme).with_method(self.table_method(subject)?))
    }

    /// A table with its data; its last note says how its numbers were made.
    pub fn table(&self, subject: &TableSubject) -> Result<Table, ApiError> {
        let spec = self.table_spec(subject, Layout::print(234.0), Theme::Print)?;
        Ok(printed(&spec)?.into_owned())
    }

    /// The same for scripts: `{ name, title, columns, rows, notes }`, each row an object by the names of the columns.
    pub fn table_json(&self, subject: &TableSubject) -> Result<serde_json::Value, ApiError> {
        Ok(tables::json::to_json(&self.table(subject)?))
    }
}

/// The colors of what is made for paper.
const fn paper(grey: bool) -> Theme {
    if grey { Theme::Grey } else { Theme::Print }
}

/// The place of a figure for a venue.
fn preset_layout(preset: &str, height_pt: Option<u32>) -> Result<Layout, ApiError> {
    let known = Preset::parse(preset).map_err(|error| {
        ApiError::new("export.unknown_preset", error.to_string())
            .hint("`icml` is one column, `icml:full` both; `stamina rpc list_presets` tells their widths")
    })?;
    let layout = known.layout();
    match height_pt {
        None => Ok(layout),
        Some(pt) => Ok(layout.with_height(height(pt)?)),
    }
}

/// Heights that fit a page, in pt.
const HEIGHT_PT: std::ops::RangeInclusive<u32> = 40..=1_000;

fn height(pt: u32) -> Result<f64, ApiError> {
    if HEIGHT_PT.contains(&pt) {
        return Ok(f64::from(pt));
    }
    let (least, greatest) = (HEIGHT_PT.start(), HEIGHT_PT.end());
    Err(ApiError::new("export.height", format!("A figure of {pt} pt does not fit a page"))
        .hint(format!("Heights go from {least} to {greatest} pt; 72 pt are an inch")))
}

/// A figure as a file.
pub(crate) fn figure_file(spec: &FigureSpec, format: Format, name: &str) -> Result<MadeFile, ApiError> {
    let failed = |error: figures::export::ExportError| match error.advice() {
        Some(advice) => ApiError::new(TOO_LONG, error.to_string()).hint(advice),
        None => ApiError::new("export.failed", error.to_string()),
    };
    let file = figures::export::export(spec, format).map_err(failed)?;
    let mut warnings = file.warnings;
    warnings.extend(caption::cautions(spec));
    let per_inch = if spec.layout.is_print() { 72.0 } else { 96.0 };
    Ok(MadeFile {
        name: format!("{name}.{}", format.extension()),
        beside: match format {
            // It has no place for a spec.
            Format::Csv => {
                let spec = figures::export::export(spec, Format::Toml).map_err(failed)?.bytes;
                vec![(CompanionName::Ending(".toml"), spec)]
            }
            _ => Vec::new(),
        },
        bytes: file.bytes,
        caption: figures::caption(spec),
        short_caption: figures::short_caption(spec),
        // The values of a table have no size, its picture has.
        inches: (format.is_picture() || !matches!(spec.figure, Figure::Table(_)))
            .then_some((file.width / per_inch, file.height / per_inch)),
        warnings,
    })
}

/// The same of exactly the height that the spec asks for, if it asks for one.
pub(crate) fn file_at_height(spec: &FigureSpec, format: Format, name: &str) -> Result<MadeFile, ApiError> {
    let file = figure_file(spec, format, name)?;
    match figures::export::height_refusal(spec, format) {
        None => Ok(file),
        Some(reason) => Err(ApiError::new("export.height", reason)
            .hint("Without a height, the figure is as high as it must be; a wider venue may need less")),
    }
}

/// The table that a spec is.
fn printed(spec: &FigureSpec) -> Result<Cow<'_, Table>, ApiError> {
    spec.table().ok_or_else(|| ApiError::new("export.failed", "This is no table"))
}

/// A table as a file. As text for readers it has no spec; all else is made as figures are.
fn table_file(spec: &FigureSpec, format: ExportFormat, name: &str) -> Result<MadeFile, ApiError> {
    let table = printed(spec)?;
    let text = match format {
        ExportFormat::Md => table.to_markdown(),
        ExportFormat::Html => table.to_html(),
        ExportFormat::Jsonl => table.to_json_lines(),
        _ => {
            let picture_format = figure_format(format).map_err(|_| {
                does_not_fit(format, "A table", "svg, pdf, png, csv, parquet, jsonl, tex, toml, md, html")
            })?;
            let file = figure_file(spec, picture_format, name)?;
            // A picture has its notes in it.
            let caption = if picture_format.is_picture() { file.caption } else { sentences(&table) };
            return Ok(MadeFile { caption, ..file });
        }
    };
    Ok(MadeFile {
        name: format!("{name}.{}", file::extension(format)),
        bytes: text.into_bytes(),
        caption: sentences(&table),
        short_caption: title(&table),
        inches: None,
        warnings: Vec::new(),
        beside: Vec::new(),
    })
}

/// Every attempt as a file for programs: its spec would be the same rows once more.
fn tidy_file(spec: &FigureSpec, format: ExportFormat, name: &str) -> Result<MadeFile, ApiError> {
    let table = printed(spec)?;
    let bytes = match format {
        ExportFormat::Csv => table.to_csv().into_bytes(),
        ExportFormat::Jsonl => table.to_json_lines().into_bytes(),
        _ => table.to_parquet(None).map_err(|error| ApiError::new("export.failed", error.to_string()))?,
    };
    Ok(MadeFile {
        name: format!("{name}.{}", file::extension(format)),
        bytes,
        caption: sentences(&table),
        short_caption: title(&table),
        inches: None,
        warnings: Vec::new(),
        beside: Vec::new(),
    })
}

/// The title of a table, as a sentence.
fn title(table: &Table) -> String {
    format!("{}.", table.title.trim_end_matches('.'))
}

/// The title of a table and its notes, how it was made the last of them.
fn sentences(table: &Table) -> String {
    let mut sentences = vec![title(table)];
    sentences.extend(table.notes.iter().cloned());
    sentences.join(" ")
}

fn figure_format(format: ExportFormat) -> Result<Format, ApiError> {
    Ok(match format {
        ExportFormat::Svg => Format::Svg,
        ExportFormat::Pdf => Format::Pdf,
        ExportFormat::Png => Format::Png,
        ExportFormat::Csv => Format::Csv,
        ExportFormat::Parquet => Format::Parquet,
        ExportFormat::Tex => Format::Tex,
        ExportFormat::Toml => Format::Toml,
        other => return Err(does_not_fit(other, "A figure", "svg, pdf, png, csv, parquet, tex, toml")),
    })
}

fn does_not_fit(format: ExportFormat, subject: &str, fits: &str) -> ApiError {
    ApiError::new("export.format", format!("{subject} cannot be written as {}", file::extension(format)))
        .hint(format!("What it can be: {fits}"))
}
