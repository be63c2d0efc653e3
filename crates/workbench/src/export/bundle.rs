//! A report with everything that it is made of, as a folder or a zip.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use figures::SOFTWARE;
use figures::export::Format;
use files::{Packer, ZipWriter};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::file::{refuse_link, report_name, write_whole};
use super::inputs::Watch;
use super::report::Figures;
use super::{MadeFile, TOO_LONG, figure_file, inputs, printed};
use crate::Workbench;
use crate::api::{ApiError, CompareRequest, Comparison, Nothing};
use crate::episodes::run_record;

/// A report that was written.
#[derive(Debug, Clone)]
pub struct ReportFolder {
    /// The folder.
    pub path: String,
    /// Its files, relative to it, sorted.
    pub files: Vec<String>,
    /// What does not read well, and what is missing.
    pub warnings: Vec<String>,
}

/// What a bundle has of each figure and, where it fits a page, of each table.
const FORMATS: [Format; 6] =
    [Format::Svg, Format::Pdf, Format::Png, Format::Tex, Format::Csv, Format::Parquet];

/// The files of a bundle by their path.
type Files = BTreeMap<String, Vec<u8>>;

impl Workbench {
    /// The files of a bundle, and what is to be said of them.
    fn bundle(
        &self,
        request: &CompareRequest,
        preset: &str,
        watch: &Watch<'_>,
    ) -> Result<(Files, String, Vec<String>), ApiError> {
        let report = self.report(request, preset)?;
        let data = self.compare_runs(request.clone())?;
        let mut warnings = report.warnings.clone();
        let mut files = Files::new();
        for figure in report.figures() {
            for format in FORMATS {
                let file = figure_file(&figure.spec, format, &figure.name)?;
                warnings.extend(file.warnings);
                files.insert(format!("figures/{}", file.name), file.bytes);
            }
            let spec = figure_file(&figure.spec, Format::Toml, &figure.name)?;
            files.insert(format!("specs/{}", spec.name), spec.bytes);
        }
        for spec in report.tables() {
            let table = printed(spec)?;
            let name = &table.name;
            if let Some(reason) = figures::export::drawing_refusal(spec) {
                warnings.push(format!(
                    "tables/{name} is not drawn: {reason}; its CSV, Parquet and LaTeX files have every row"
                ));
            }
            for format in FORMATS {
                match figure_file(spec, format, name) {
                    Ok(file) => {
                        warnings.extend(file.warnings);
                        files.insert(format!("tables/{}", file.name), file.bytes);
                    }
                    // Named above, once for all formats that draw it.
                    Err(error) if error.code == TOO_LONG => {}
                    Err(error) => return Err(error),
                }
            }
            files.insert(format!("tables/{name}.md"), table.to_markdown().into_bytes());
            // A figure may have the same name.
            let spec = figure_file(spec, Format::Toml, &format!("table-{name}"))?;
            files.insert(format!("specs/{}", spec.name), spec.bytes);
        }
        files.insert(
            "report.md".to_owned(),
            report.to_markdown(&Figures::In("figures".to_owned())).into_bytes(),
        );
        files.insert("report.html".to_owned(), report.to_html().into_bytes());
        files.insert("settings.json".to_owned(), self.snapshot(&data)?);
        let inputs = inputs::hash(self, &data, inputs::MOST_BYTES, watch)?;
        let complete = inputs.warnings.is_empty();
        warnings.extend(inputs.warnings);
        files.insert("inputs.sha256".to_owned(), inputs.sums.into_bytes());
        let mut seen_warnings = BTreeSet::new();
        warnings.retain(|warning| seen_warnings.insert(warning.clone()));
        files.insert(
            "README.md".to_owned(),
            readme(&report.title, &data, &files, &warnings, complete).into_bytes(),
        );
        Ok((files, report.title, warnings))
    }

    /// Settings of every run, as the source states them, and how episodes are counted.
    fn snapshot(&self, data: &Comparison) -> Result<Vec<u8>, ApiError> {
        let labels = self.source_labels()?;
        let mut runs = Vec::new();
        for (member, run) in data.members.iter().flat_map(|m| m.runs.iter().map(move |run| (m, run))) {
            let record = run_record(&self.store, run)?;
            let (entry, stored_run) = (&record.entry, &record.run);
            runs.push(json!({
                "id": run,
                "member": member.id,
                "format": entry.format,
                "source": labels.get(&entry.source).unwrap_or(&entry.source_name),
                "place": entry.place,
                "benchmark": { "key": member.benchmark.0, "name": member.benchmark.1 },
                "harness": stored_run.harness,
                "model": stored_run.model,
                "simulated": entry.simulated,
                "settings": stored_run.settings,
                "extra": stored_run.extra,
            }));
        }
        let policy = self.get_policy(Nothing {})?;
        let counted: Vec<Value> =
            policy.rows.iter().map(|row| json!({ "reason": row.reason, "counted_as": row.ending })).collect();
        let whole = json!({
            "software": SOFTWARE,
            "policy": { "name": policy.name, "reasons": counted, "rows": policy.policy.rows },
            "tau": data.tau,
            "seed": data.seed,
            "runs": runs,
        });
        let text = serde_json::to_string_pretty(&whole)
            .map_err(|e| ApiError::new("export.failed", format!("The settings cannot be written: {e}")))?;
        Ok(format!("{text}\n").into_bytes())
    }

    /// A bundle as a zip. The same library gives the same bytes.
    pub(super) fn bundle_file(
        &self,
        request: &CompareRequest,
        preset: &str,
        watch: &Watch<'_>,
    ) -> Result<MadeFile, ApiError> {
        let (files, title, warnings) = self.bundle(request, preset, watch)?;
        let failed = |e: &dyn std::fmt::Display| {
            ApiError::new("export.failed", format!("The zip cannot be made: {e}"))
        };
        Ok(MadeFile {
            name: format!("{}.zip", report_name("bundle", request)),
            bytes: zip(&files).map_err(|e| failed(&e))?,
            caption: title,
            short_caption: String::new(),
            inches: None,
            warnings,
            beside: Vec::new(),
        })
    }

    /// Writes a bundle into a folder, which is made if it is not there. Files of the same names are replaced, others stay.
    /// `watch` observes and stops it.
    pub fn export_report(
        &self,
        request: &CompareRequest,
        preset: &str,
        target: &Path,
        watch: &Watch<'_>,
    ) -> Result<ReportFolder, ApiError> {
        // A name in the folder that is to be made: its own folder must be there, and outside of the sources.
        let folder = match fs::metadata(target) {
            Ok(found) if found.is_dir() => {
                let inside = self.allowed(&target.join("report.md"))?;
                inside.parent().map_or_else(|| target.to_owned(), Path::to_owned)
            }
            _ => self.allowed(target)?,
        };
        let (files, _, warnings) = self.bundle(request, preset, watch)?;
        watch.check_continues()?;
        let failed = |path: &Path, error: std::io::Error| {
            ApiError::new("export.write", format!("The folder cannot be made: {error}"))
                .with_path(path.to_string_lossy().into_owned())
                .hint("Name a folder that can be made")
        };
        // Folders of these names may be there already, and be links to somewhere else. Nothing is written before all are looked at.
        let inside: BTreeSet<PathBuf> =
            files.keys().filter_map(|name| folder.join(name).parent().map(Path::to_owned)).collect();
        for parent in inside.iter().filter(|parent| parent.is_dir()) {
            self.allowed(&parent.join("report.md"))?;
            if *parent != folder {
                refuse_link(parent)?;
            }
        }
        for (name, bytes) in &files {
            let path = folder.join(name);
            let parent = path.parent().unwrap_or(&folder);
            files::confined_path::create_folders(parent).map_err(|e| failed(parent, e))?;
            write_whole(&self.allowed(&path)?, bytes)?;
        }
        Ok(ReportFolder {
            path: folder.to_string_lossy().into_owned(),
            files: files.into_keys().collect(),
            warnings,
        })
    }
}

/// What is in the bundle, with the hashes of its files. `complete` = every input is hashed.
fn readme(title: &str, data: &Comparison, files: &Files, warnings: &[String], complete: bool) -> String {
    let escape = figures::table::escape_markdown;
    let mut out = format!(
        "# {}\n\nMade by {SOFTWARE}.\n\n\
         - `report.html` and `report.md`: the report; the page has its figures in it.\n\
         - `figures/`: each figure as SVG, PDF, PNG (300 dots an inch), LaTeX (pgf), and the underlying data as CSV and Parquet.\n\
         - `tables/`: each table as CSV, Parquet, LaTeX (booktabs) and Markdown, and as SVG, PDF and PNG where it fits a page.\n\
         - `specs/`: each figure and each table with its data as a spec; `stamina figure specs/survival.toml --out survival.pdf` reproduces this file exactly.\n\
         - `settings.json`: the settings of every run as its source states them, and how ends of episodes are counted.\n\
         - `inputs.sha256`: SHA-256 of {} below the places of the runs in their sources, `SOURCE/PATH`.\n",
        escape(title),
        if complete { "every file" } else { "the files, but those that its comments say were left out," }
    );
    let simulated: Vec<&str> = data.members.iter().filter(|m| m.simulated).map(|m| m.name.as_str()).collect();
    if !simulated.is_empty() {
        out.push_str(&format!(
            "\nThese are simulated, no real model answered: {}\n",
            escape(&simulated.join(", "))
        ));
    }
    if !warnings.is_empty() {
        out.push_str("\nTo be known:\n\n");
        for warning in warnings {
            out.push_str(&format!("- {}\n", escape(warning)));
        }
    }
    out.push_str("\nSHA-256 of the files here:\n\n```\n");
    for (name, bytes) in files {
        let hash: String = inputs::hex(&Sha256::digest(bytes));
        out.push_str(&format!("{hash}  {name}\n"));
    }
    out.push_str("```\n");
    out
}

/// The files in order of their names, without times.
fn zip(files: &Files) -> std::io::Result<Vec<u8>> {
    let (mut packer, mut zip) = (Packer::new(6), ZipWriter::new(Vec::new()));
    for (name, bytes) in files {
        zip.pack(name, bytes, &mut packer)?;
    }
    zip.finish()
}
