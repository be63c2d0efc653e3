//! Names of files, and writing them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::Workbench;
use crate::api::{ApiError, CompareRequest, ExportFormat, FigureOf, MatrixRequest, Member, TableOf};
use crate::export::{CompanionName, MadeFile};

/// The ending of files of a format.
pub(super) const fn extension(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Svg => "svg",
        ExportFormat::Pdf => "pdf",
        ExportFormat::Png => "png",
        ExportFormat::Csv => "csv",
        ExportFormat::Parquet => "parquet",
        ExportFormat::Jsonl => "jsonl",
        ExportFormat::Tex => "tex",
        ExportFormat::Toml => "toml",
        ExportFormat::Md => "md",
        ExportFormat::Html => "html",
        ExportFormat::Zip => "zip",
    }
}

/// The media type of files of a format.
pub(super) const fn media_type(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Svg => "image/svg+xml",
        ExportFormat::Pdf => "application/pdf",
        ExportFormat::Png => "image/png",
        ExportFormat::Csv => "text/csv; charset=utf-8",
        ExportFormat::Parquet => "application/vnd.apache.parquet",
        ExportFormat::Jsonl => "application/x-ndjson",
        ExportFormat::Tex => "application/x-tex; charset=utf-8",
        ExportFormat::Toml => "application/toml; charset=utf-8",
        ExportFormat::Md => "text/markdown; charset=utf-8",
        ExportFormat::Html => "text/html; charset=utf-8",
        ExportFormat::Zip => "application/zip",
    }
}

/// Where an export is.
pub(super) struct WrittenExport {
    /// The file itself.
    pub(super) path: String,
    /// What was written beside it.
    pub(super) beside: Vec<String>,
}

/// Letters, digits and single hyphens, at most 60.
fn safe(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() >= 60 {
            break;
        }
    }
    out.trim_matches(['-', '.']).to_owned()
}

fn name_of_members(members: &[Member]) -> String {
    match members {
        [] => "all-runs".to_owned(),
        [one] => match one {
            Member::Run { run } => safe(run),
            Member::Harness { harness, .. } => safe(&format!("harness {harness}")),
            Member::Model { model, .. } => safe(&format!("model {model}")),
            Member::Cell { harness, model, .. } => safe(&format!("{model} {harness}")),
            Member::Tag { tag, .. } => safe(&format!("tag {tag}")),
        },
        several => format!("{}-runs", several.len()),
    }
}

fn named(kind: &str, members: &[Member]) -> String {
    format!("{kind}-{}", name_of_members(members)).trim_end_matches('-').to_owned()
}

fn of_benchmark(kind: &str, request: &MatrixRequest) -> String {
    format!("{kind}-{}", safe(request.benchmark.as_deref().unwrap_or("benchmark")))
}

/// A good name for a report.
pub(super) fn report_name(kind: &str, request: &CompareRequest) -> String {
    named(kind, &request.members)
}

/// A good name for a figure, without its ending.
pub(super) fn figure_name(figure: &FigureOf) -> String {
    match figure {
        FigureOf::Survival { of: request, .. } => named("survival", &request.members),
        FigureOf::Differences { of: request, ratio: false } => named("differences", &request.members),
        FigureOf::Differences { of: request, ratio: true } => named("ratios", &request.members),
        FigureOf::Paired { of: request, other } => format!("{}-{other}", named("paired", &request.members)),
        FigureOf::FirstFailures { of: request } => named("first-failures", &request.members),
        FigureOf::Bars { of: request, measure, .. } => {
            let measure = serde_json::to_value(measure).ok();
            let measure = measure.as_ref().and_then(|m| m.as_str()).unwrap_or("measure").replace('_', "-");
            named(&measure, &request.members)
        }
        FigureOf::Pareto { of: request } => named("pareto", &request.members),
        FigureOf::Plane { runs } => {
            let members: Vec<Member> = runs.iter().map(|run| Member::Run { run: run.clone() }).collect();
            named("plane", &members)
        }
        FigureOf::Matrix { of: request, .. } => of_benchmark("matrix", request),
        FigureOf::Retries { of: request, .. } => named("retries", &request.members),
        FigureOf::Failures { of: request } => named("failures", &request.members),
    }
}

/// A good name for a table, without its ending.
pub(super) fn table_name(table: &TableOf) -> String {
    match table {
        TableOf::Runs { of: request } => named("runs", &request.members),
        TableOf::Scores { of: request } => named("scores", &request.members),
        TableOf::Spent { of: request } => named("spent", &request.members),
        TableOf::Pairs { of: request } => named("pairs", &request.members),
        TableOf::Sensitivity { of: request } => named("sensitivity", &request.members),
        TableOf::Settings { of: request } => named("settings", &request.members),
        TableOf::Survival { of: request } => named("survival-table", &request.members),
        TableOf::Disagreements { of: request } => named("disagreements", &request.members),
        TableOf::Matrix { of: request } => of_benchmark("matrix-table", request),
        TableOf::Spread { of: request } => of_benchmark("spread", request),
        TableOf::Published { of: request } => of_benchmark("published", request),
        TableOf::Retries { of: request } => named("retries-table", &request.members),
        TableOf::Gains { of: request } => named("gains", &request.members),
        TableOf::Failures { of: request } => named("failures-table", &request.members),
        TableOf::Cases { of: request } => named("failure-cases", &request.of.members),
        TableOf::Origins { of: request } => named("failure-origins", &request.members),
        TableOf::Repairs { of: request } => named("repairs", &request.members),
        TableOf::RepairTimes { of: request } => named("repair-times", &request.members),
        TableOf::Flips { of: request } => named("flipping-tests", &request.members),
        TableOf::Rules { .. } => "failure-rules".to_owned(),
        TableOf::Paired { of: request, .. } => named("paired-table", &request.members),
        TableOf::Episodes { members, .. } => named("episodes", members),
        TableOf::Turns { members, .. } => named("turns", members),
        TableOf::Tidy { members } => named("tidy-attempts", members),
        TableOf::ByTurn { members } => named("by-turn", members),
        TableOf::Tasks { of: request } => named("tasks", &request.members),
        TableOf::TaskGrid { of: request } => named("task-grid", &request.members),
        TableOf::PerTask { of: request } => named("per-task", &request.members),
        TableOf::PassAtK { of: request } => named("pass-at-k", &request.members),
        TableOf::Library { .. } => "library".to_owned(),
        TableOf::Played { .. } => "played-runs".to_owned(),
        TableOf::Progress { of: request } => {
            let name =
                Path::new(&request.folder).file_name().and_then(|name| name.to_str()).unwrap_or_default();
            format!("progress-{}", safe(name)).trim_end_matches('-').to_owned()
        }
        TableOf::Suite { of: request } => {
            format!("suite-scenario-{}-turn-{}", request.of.scenario, request.of.turn)
        }
        TableOf::Attempts { of: request } => {
            format!("attempts-{}-turn-{}", safe(&request.episode), request.turn)
        }
        TableOf::Tests { of: request } => format!("tests-{}-turn-{}", safe(&request.episode), request.turn),
        TableOf::Joined { left, .. } => format!("joined-tests-{}-turn-{}", safe(&left.episode), left.turn),
        TableOf::Warnings { of: request } => format!("import-warnings-{}", request.source),
        TableOf::Findings { .. } => "validation-findings".to_owned(),
        TableOf::Mutants { .. } => "validation-mutants".to_owned(),
    }
}

impl Workbench {
    /// Writes what was made to an absolute path, whole or not at all, and never into what is opened here. Whoever names a
    /// file that is there has it replaced, with what was written beside it; what lies beside a new file is not ours to
    /// replace.
    pub(super) fn write_export(&self, target: &str, made: &MadeFile) -> Result<WrittenExport, ApiError> {
        let path = self.allowed(Path::new(target))?;
        let is_new = path.symlink_metadata().is_err();
        let folder = path.parent().unwrap_or(Path::new("/"));
        let mut parts = Parts::default();
        let mut beside = Vec::new();
        for (name, bytes) in &made.beside {
            let place = match name {
                CompanionName::Ending(ending) => {
                    let mut name = path.clone().into_os_string();
                    name.push(ending);
                    PathBuf::from(name)
                }
                CompanionName::Named(name) => folder.join(name),
            };
            let inside = place.parent().unwrap_or(folder).to_owned();
            parts.make_folder(&inside)?;
            // A folder of this name may be there already, and be a link to somewhere else.
            let place = self.allowed(&place)?;
            refuse_link(&inside)?;
            // A pipe or a device of this name is not read.
            let is_there = || files::beneath::read_named_file(&place, bytes.len() as u64).ok();
            if is_new && place.symlink_metadata().is_ok() && is_there().as_ref() != Some(bytes) {
                return Err(ApiError::new("export.beside", "A file is there that belongs beside this one")
                    .at(place.to_string_lossy().into_owned())
                    .hint("Name another file, or take that one away"));
            }
            parts.write(&place, bytes)?;
            beside.push(place.to_string_lossy().into_owned());
        }
        // Last of all what refers to the others.
        parts.write(&path, &made.bytes)?;
        parts.put_in_place()?;
        Ok(WrittenExport { path: path.to_string_lossy().into_owned(), beside })
    }

    /// The path with its folder resolved, if it may be written to.
    pub(crate) fn allowed(&self, target: &Path) -> Result<PathBuf, ApiError> {
        let shown_path = target.to_string_lossy();
        let refuse = |code: &str, message: &str, hint: &str| {
            Err(ApiError::new(code, message).at(shown_path.to_string()).hint(hint))
        };
        let Some(name) = target.file_name() else {
            return refuse(
                "export.path",
                "This is not the path of a file",
                "Name a file in a folder that is there",
            );
        };
        if !target.is_absolute() {
            return refuse(
                "export.path",
                "The path must be absolute",
                "Begin it with the root of the file system",
            );
        }
        let parent = target.parent().unwrap_or(Path::new("/"));
        let folder = match parent.canonicalize() {
            Ok(folder) if folder.is_dir() => folder,
            Ok(_) => return refuse("export.path", "What should be the folder is a file", "Name a folder"),
            Err(error) => {
                let message = format!("The folder of this file cannot be reached: {error}");
                return refuse("export.path", &message, "Make the folder first, or name one that is there");
            }
        };
        let path = folder.join(name);
        if path.is_dir() {
            return refuse("export.path", "There is a folder of this name", "Name a file");
        }
        for source in self.store.sources()? {
            let Ok(source) = Path::new(&source.path).canonicalize() else { continue };
            if path == source || (source.is_dir() && folder.starts_with(&source)) {
                return refuse(
                    "export.into_source",
                    "This lies in an opened source, and sources are never changed",
                    "Name a folder outside of it",
                );
            }
        }
        Ok(path)
    }
}

/// Refuses a folder that is a link: it belongs to an export, and what is written into it has to lie beside the rest.
pub(super) fn refuse_link(folder: &Path) -> Result<(), ApiError> {
    if !fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_symlink()) {
        return Ok(());
    }
    Err(ApiError::new(
        "export.link",
        "This folder is a link, and what is written into it would lie elsewhere",
    )
    .at(folder.to_string_lossy().into_owned())
    .hint("Take the link away, or name another place"))
}

/// Writes a file under another name beside it and renames it: whoever reads the path sees the old file or the new one.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ApiError> {
    let mut parts = Parts::default();
    parts.write(path, bytes)?;
    parts.put_in_place()
}

/// Files that belong together, written whole under other names beside their own before any is put in its place. What is
/// given up on the way is taken away again.
#[derive(Default)]
struct Parts {
    /// As it is called until then, and its own name.
    written: Vec<(PathBuf, PathBuf)>,
    /// Folders that were made for them, outer ones first.
    folders: Vec<PathBuf>,
}

impl Parts {
    fn make_folder(&mut self, folder: &Path) -> Result<(), ApiError> {
        let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
        for folder in missing.into_iter().rev() {
            fs::create_dir(folder).map_err(|error| {
                ApiError::new("export.write", format!("The folder cannot be made: {error}"))
                    .at(folder.to_string_lossy().into_owned())
                    .hint("Look at the rights of the folder that it lies in")
            })?;
            self.folders.push(folder.to_owned());
        }
        Ok(())
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), ApiError> {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(name);
        self.written.push((part.clone(), path.to_owned()));
        let written = create(&part).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        written.map_err(|error| not_written(path, &error))
    }

    fn put_in_place(mut self) -> Result<(), ApiError> {
        let written = std::mem::take(&mut self.written);
        for (index, (part, path)) in written.iter().enumerate() {
            if let Err(error) = fs::rename(part, path) {
                self.written = written[index..].to_vec();
                return Err(not_written(path, &error));
            }
        }
        self.folders.clear();
        Ok(())
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        // What is left is of no use; if it cannot be removed either, the error that led here says enough.
        for (part, _) in &self.written {
            drop(fs::remove_file(part));
        }
        for folder in self.folders.iter().rev() {
            drop(fs::remove_dir(folder));
        }
    }
}

fn not_written(path: &Path, error: &io::Error) -> ApiError {
    ApiError::new("export.write", format!("The file cannot be written: {error}"))
        .at(path.to_string_lossy().into_owned())
        .hint("Look at the rights of its folder and at the space on the disk")
}

fn create(path: &Path) -> io::Result<File> {
    let new = || OpenOptions::new().write(true).create_new(true).open(path);
    match new() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Left by a process of the same number that was stopped.
            fs::remove_file(path)?;
            new()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_whatever_a_run_is_called() {
        let name_of = |run: &str| named("survival", &[Member::Run { run: run.to_owned() }]);
        assert_eq!(name_of("../../etc/passwd"), "survival-etc-passwd");
        assert_eq!(name_of("生"), "survival");
        assert!(name_of(&"x".repeat(500)).len() < 80);
    }
}
