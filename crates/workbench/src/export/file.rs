//! Names of files, and writing them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::Workbench;
use crate::api::{
    ApiError, CompareRequest, ExportFormat, FigureSubject, MatrixRequest, Member, TableSubject,
};
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
fn safe_name(name: &str) -> String {
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
            Member::Run { run } => safe_name(run),
            Member::Harness { harness, .. } => safe_name(&format!("harness {harness}")),
            Member::Model { model, .. } => safe_name(&format!("model {model}")),
            Member::Cell { harness, model, .. } => safe_name(&format!("{model} {harness}")),
            Member::Tag { tag, .. } => safe_name(&format!("tag {tag}")),
        },
        several => format!("{}-runs", several.len()),
    }
}

fn file_name_of(kind: &str, members: &[Member]) -> String {
    format!("{kind}-{}", name_of_members(members)).trim_end_matches('-').to_owned()
}

fn benchmark_file_name(kind: &str, request: &MatrixRequest) -> String {
    format!("{kind}-{}", safe_name(request.benchmark.as_deref().unwrap_or("benchmark")))
}

/// A good name for a report.
pub(super) fn report_name(kind: &str, request: &CompareRequest) -> String {
    file_name_of(kind, &request.members)
}

/// A good name for a figure, without its ending.
pub(super) fn figure_name(figure: &FigureSubject) -> String {
    match figure {
        FigureSubject::Survival { request, .. } => file_name_of("survival", &request.members),
        FigureSubject::Differences { request, ratio: false } => file_name_of("differences", &request.members),
        FigureSubject::Differences { request, ratio: true } => file_name_of("ratios", &request.members),
        FigureSubject::Paired { request, other } => {
            format!("{}-{other}", file_name_of("paired", &request.members))
        }
        FigureSubject::FirstFailures { request } => file_name_of("first-failures", &request.members),
        FigureSubject::Bars { request, measure, .. } => {
            let measure = serde_json::to_value(measure).ok();
            let measure = measure.as_ref().and_then(|m| m.as_str()).unwrap_or("measure").replace('_', "-");
            file_name_of(&measure, &request.members)
        }
        FigureSubject::Pareto { request } => file_name_of("pareto", &request.members),
        FigureSubject::Plane { runs } => {
            let members: Vec<Member> = runs.iter().map(|run| Member::Run { run: run.clone() }).collect();
            file_name_of("plane", &members)
        }
        FigureSubject::Matrix { request, .. } => benchmark_file_name("matrix", request),
        FigureSubject::Retries { request, .. } => file_name_of("retries", &request.members),
        FigureSubject::Failures { request } => file_name_of("failures", &request.members),
    }
}

/// A good name for a table, without its ending.
pub(super) fn table_name(table: &TableSubject) -> String {
    match table {
        TableSubject::Runs { request } => file_name_of("runs", &request.members),
        TableSubject::Scores { request } => file_name_of("scores", &request.members),
        TableSubject::Spent { request } => file_name_of("spent", &request.members),
        TableSubject::Pairs { request } => file_name_of("pairs", &request.members),
        TableSubject::Sensitivity { request } => file_name_of("sensitivity", &request.members),
        TableSubject::Settings { request } => file_name_of("settings", &request.members),
        TableSubject::Survival { request } => file_name_of("survival-table", &request.members),
        TableSubject::Disagreements { request } => file_name_of("disagreements", &request.members),
        TableSubject::Matrix { request } => benchmark_file_name("matrix-table", request),
        TableSubject::Spread { request } => benchmark_file_name("spread", request),
        TableSubject::Published { request } => benchmark_file_name("published", request),
        TableSubject::Retries { request } => file_name_of("retries-table", &request.members),
        TableSubject::Gains { request } => file_name_of("gains", &request.members),
        TableSubject::Failures { request } => file_name_of("failures-table", &request.members),
        TableSubject::Cases { request } => file_name_of("failure-cases", &request.failures.members),
        TableSubject::Origins { request } => file_name_of("failure-origins", &request.members),
        TableSubject::Repairs { request } => file_name_of("repairs", &request.members),
        TableSubject::RepairTimes { request } => file_name_of("repair-times", &request.members),
        TableSubject::Flips { request } => file_name_of("flipping-tests", &request.members),
        TableSubject::Rules { .. } => "failure-rules".to_owned(),
        TableSubject::Paired { request, .. } => file_name_of("paired-table", &request.members),
        TableSubject::Episodes { members, .. } => file_name_of("episodes", members),
        TableSubject::Turns { members, .. } => file_name_of("turns", members),
        TableSubject::Tidy { members } => file_name_of("tidy-attempts", members),
        TableSubject::ByTurn { members } => file_name_of("by-turn", members),
        TableSubject::Tasks { request } => file_name_of("tasks", &request.members),
        TableSubject::TaskGrid { request } => file_name_of("task-grid", &request.members),
        TableSubject::PerTask { request } => file_name_of("per-task", &request.members),
        TableSubject::PassAtK { request } => file_name_of("pass-at-k", &request.members),
        TableSubject::Library { .. } => "library".to_owned(),
        TableSubject::Played { .. } => "played-runs".to_owned(),
        TableSubject::Progress { run } => {
            let name = Path::new(&run.folder).file_name().and_then(|name| name.to_str()).unwrap_or_default();
            format!("progress-{}", safe_name(name)).trim_end_matches('-').to_owned()
        }
        TableSubject::Suite { request } => {
            format!("suite-scenario-{}-turn-{}", request.turn.scenario, request.turn.turn)
        }
        TableSubject::Attempts { turn } => {
            format!("attempts-{}-turn-{}", safe_name(&turn.episode), turn.turn)
        }
        TableSubject::Tests { attempt } => {
            format!("tests-{}-turn-{}", safe_name(&attempt.episode), attempt.turn)
        }
        TableSubject::Joined { left, .. } => {
            format!("joined-tests-{}-turn-{}", safe_name(&left.episode), left.turn)
        }
        TableSubject::Warnings { selection } => format!("import-warnings-{}", selection.source),
        TableSubject::Findings { .. } => "validation-findings".to_owned(),
        TableSubject::Mutants { .. } => "validation-mutants".to_owned(),
    }
}

impl Workbench {
    /// Writes what was made to an absolute path, whole or not at all, and never into what is opened here. Whoever names a
    /// file that is there has it replaced, with what was written beside it; what lies beside a new file is not ours to
    /// replace.
    pub(super) fn write_export(&self, target: &str, file: &MadeFile) -> Result<WrittenExport, ApiError> {
        let path = self.allowed(Path::new(target))?;
        let is_new = path.symlink_metadata().is_err();
        let folder = path.parent().unwrap_or(Path::new("/"));
        let mut parts = Parts::default();
        let mut beside = Vec::new();
        for (name, bytes) in &file.beside {
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
            let is_there = || files::confined_path::read_named_file(&place, bytes.len() as u64).ok();
            if is_new && place.symlink_metadata().is_ok() && is_there().as_ref() != Some(bytes) {
                return Err(ApiError::new("export.beside", "A file is there that belongs beside this one")
                    .with_path(place.to_string_lossy().into_owned())
                    .hint("Name another file, or take that one away"));
            }
            parts.write(&place, bytes)?;
            beside.push(place.to_string_lossy().into_owned());
        }
        // Last of all what refers to the others.
        parts.write(&path, &file.bytes)?;
        parts.put_in_place()?;
        Ok(WrittenExport { path: path.to_string_lossy().into_owned(), beside })
    }

    /// The path with its folder resolved, if it may be written to.
    pub(crate) fn allowed(&self, target: &Path) -> Result<PathBuf, ApiError> {
        let shown_path = target.to_string_lossy();
        let refuse = |code: &str, message: &str, hint: &str| {
            Err(ApiError::new(code, message).with_path(shown_path.to_string()).hint(hint))
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
    .with_path(folder.to_string_lossy().into_owned())
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
                    .with_path(folder.to_string_lossy().into_owned())
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
        written.map_err(|error| write_error(path, &error))
    }

    fn put_in_place(mut self) -> Result<(), ApiError> {
        let written = std::mem::take(&mut self.written);
        for (index, (part, path)) in written.iter().enumerate() {
            if let Err(error) = fs::rename(part, path) {
                self.written = written[index..].to_vec();
                return Err(write_error(path, &error));
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

fn write_error(path: &Path, error: &io::Error) -> ApiError {
    ApiError::new("export.write", format!("The file cannot be written: {error}"))
        .with_path(path.to_string_lossy().into_owned())
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
        let name_of = |run: &str| file_name_of("survival", &[Member::Run { run: run.to_owned() }]);
        assert_eq!(name_of("../../etc/passwd"), "survival-etc-passwd");
        assert_eq!(name_of("生"), "survival");
        assert!(name_of(&"x".repeat(500)).len() < 80);
    }
}
