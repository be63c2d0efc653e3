//! Opening, reading and closing sources.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use files::{ReadError, Tree};
use ingest::discover::{FoundFormat, NotRecognized as NotFound, discover};
use ingest::formats::table::{self, Renamed};
use ingest::import::{ImportError, Imported, import};
use ingest::unread;
use model::{Warning, WarningCounts};
use store::{Source, Store, WarningFilter};

use crate::api::{
    ApiError, AppState, Changes, FormatLookup, FoundThing, ImportReport, ImportReportRequest, NotRecognized,
    Nothing, OpenSource, RecentSource, SavedView, SourceInfo, SourceRef, WaitForChanges, WarningGroup,
};
use crate::importers::open_imported;
use crate::source_labels::{Named, source_labels};
use crate::{Options, Workbench};

/// Longest that `wait_for_changes` waits.
const LONGEST_WAIT: Duration = Duration::from_secs(25);

/// What `stamina ingest` says of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Ingested {
    /// Absolute path.
    pub path: String,
    /// Name of the folder or zip.
    pub name: String,
    /// Ids of the formats found, joined with `,`.
    pub format: String,
    /// Names of the formats found, joined with `, `.
    pub format_name: String,
    /// Runs in it.
    pub runs: u32,
    /// Episodes.
    pub episodes: u32,
    /// Turns with at least one attempt.
    pub turns: u64,
    /// Attempts.
    pub attempts: u64,
    /// Parts that had not changed and were not read again.
    pub unchanged: u32,
    /// What was found, by format.
    pub found: Vec<FoundThing>,
    /// Every warning.
    pub warnings: Vec<Warning>,
    /// How many entries there are by severity, also those that are not listed.
    pub severities: WarningCounts,
}

impl From<store::StoreError> for ApiError {
    fn from(error: store::StoreError) -> Self {
        ApiError::new(error.code(), error.to_string())
    }
}

/// The file of the library.
pub(crate) fn db_path(options: &Options) -> Result<PathBuf, ApiError> {
    match &options.db {
        Some(db) => Ok(db.clone()),
        None => {
            dirs::data_dir().map(|data| data.join("stamina-lab").join("library.sqlite")).ok_or_else(|| {
                ApiError::new("app.no_data_folder", "The user's data folder is unknown")
                    .hint("Name a file with --db")
            })
        }
    }
}

fn named(source: &Source) -> Named<'_> {
    (source.id, &source.name, &source.path)
}

/// Whether something is at a path, and its file system answers.
pub(crate) fn is_there(path: &Path) -> bool {
    let asked = path.to_owned();
    files::deadline::within_limit(path, move || asked.exists()).unwrap_or(false)
}

/// Opens a folder or zip for reading.
pub(crate) fn open_tree(path: &Path) -> Result<Tree, ApiError> {
    let shown = path.display().to_string();
    let asked = path.to_owned();
    // Only whether it answers: the index of a large zip may take its time.
    let is_there = files::deadline::within_limit(path, move || asked.exists()).map_err(|error| {
        ApiError::new("source.no_answer", format!("The folder or zip cannot be opened: {error}"))
            .at(shown.clone())
    })?;
    if !is_there {
        return Err(ApiError::new("source.missing", "There is no such folder or zip")
            .at(shown)
            .hint("Check the path"));
    }
    match Tree::open(path) {
        Ok(tree) => Ok(tree),
        Err(error) if error.code() == "source.not_zip" => match Tree::of_file(path) {
            // Whether it has the columns is seen when it is read.
            Ok(tree) if table::is_table_name(&tree.name()) => Ok(tree),
            _ => Err(no_zip(path)),
        },
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn unreadable(path: &Path, error: &ReadError) -> ApiError {
    ApiError::new("source.unreadable", format!("Could not open {}: {error}", name_of(path)))
        .at(path.display().to_string())
        .hint("Stamina Lab opens folders and .zip files")
}

/// What a file is that is no zip, or a damaged one.
fn no_zip(path: &Path) -> ApiError {
    let tree = match Tree::of_file(path) {
        Ok(tree) => tree,
        Err(error) => return unreadable(path, &error),
    };
    let name = tree.name();
    if unread::begins_as_zip(&tree, &name) {
        let what =
            format!("Could not open {name}: the zip is damaged or cut off, its list of contents is missing");
        return ApiError::new("source.unreadable", what)
            .at(path.display().to_string())
            .hint("Copy or download it again, or open the folder that it was made of");
    }
    match discover(&tree) {
        // A file of what is read from its folder.
        Ok(part) => {
            let mut found = found_formats(part.by_format());
            for thing in &mut found {
                (thing.read, thing.instead) = (false, Some("Open the folder that holds it".to_owned()));
            }
            let what = found.first().map_or(String::new(), |thing| format!("a file of a {}", thing.name));
            let nothing = NotFound { files: 1, depth: 1, ..NotFound::default() };
            let mut error = not_recognized(nothing, path);
            error.message = format!("\"{name}\" is {what}, which is read from its folder");
            error.hint = Some("Open the folder that holds it".to_owned());
            if let Some(nothing) = &mut error.not_recognised {
                nothing.found = found;
            }
            error
        }
        Err(nothing) => {
            let mut error = not_recognized(NotFound { folders: 0, ..nothing }, path);
            if error.not_recognised.as_ref().is_some_and(|nothing| nothing.found.is_empty()) {
                error.message = format!("\"{name}\" is neither a folder nor a zip");
                error.hint = Some("Stamina Lab opens folders and .zip files".to_owned());
            }
            error
        }
    }
}

/// The formats of a source.
fn found_formats(formats: Vec<FoundFormat>) -> Vec<FoundThing> {
    let thing = |format: FoundFormat| FoundThing {
        kind: format.id.to_owned(),
        name: format.name.to_owned(),
        at: format.at,
        count: format.places,
        read: true,
        instead: None,
    };
    formats.into_iter().map(thing).collect()
}

/// What was looked for and what is there, as an error that says so.
fn not_recognized(nothing: NotFound, path: &Path) -> ApiError {
    let name = name_of(path);
    let (message, hint) = match (nothing.found.first(), nothing.tables.first()) {
        (None, Some(table)) => {
            let missing: Vec<&str> = table.missing.iter().map(|(column, _)| *column).collect();
            let what = if path.is_file() { "is" } else { "holds" };
            let lacks = format!("a table without the columns {} of a tidy table", missing.join(", "));
            let lacks = lacks.replacen("columns", "column", usize::from(missing.len() == 1));
            let path = path.display();
            (
                format!("\"{name}\" {what} {lacks}"),
                format!("Say which column is which: stamina ingest {path} {}", table.suggestion()),
            )
        }
        (Some(found), _) => {
            let verb = if found.at.is_empty() || nothing.folders == 0 { "is" } else { "holds" };
            (format!("\"{name}\" {verb} {}, {}", found.name, found.not_read), found.instead.to_owned())
        }
        (None, None) => (
            format!("Nothing in \"{name}\" is in a format that Stamina Lab reads"),
            "docs/formats.md describes the layouts; choose the folder that holds the results".to_owned(),
        ),
    };
    let mut error = ApiError::new("source.not_recognised", message).at(path.display().to_string()).hint(hint);
    error.not_recognised = Some(Box::new(NotRecognized {
        name,
        files: nothing.files,
        folders: nothing.folders,
        depth: nothing.depth,
        formats: nothing
            .formats
            .into_iter()
            .map(|f| FormatLookup {
                format: f.format.to_owned(),
                looked_for: f.looked_for.to_owned(),
                found: f.found,
            })
            .collect(),
        found: nothing
            .found
            .into_iter()
            .map(|found| FoundThing {
                kind: found.kind.to_owned(),
                name: found.name,
                at: found.at,
                count: u32::try_from(found.count).unwrap_or(u32::MAX),
                read: false,
                instead: Some(found.instead.to_owned()),
            })
            .collect(),
        closest: nothing.closest.map(|c| (c.sentence, c.at)),
        tables: nothing.tables.into_iter().map(crate::tables::lacking).collect(),
    }));
    error
}

impl Workbench {
    /// Opens the library. With [`Options::live`] its sources are read again and watched in the background. A new library
    /// of the desktop app ([`Options::app`]) begins with the sample.
    pub fn open(options: Options) -> Result<Arc<Self>, ApiError> {
        let db = db_path(&options)?;
        if let Some(folder) = db.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|e| {
                ApiError::new("store.folder", format!("The folder of the library cannot be made: {e}"))
                    .at(folder.display().to_string())
                    .hint("Name another file with --db")
            })?;
        }
        let is_new = !db.exists();
        let store = Arc::new(Store::open(&db)?);
        let workbench = Arc::new_cyclic(|me| Self {
            store,
            changes: crate::changes::Changes::default(),
            live: crate::live::Live::new(&options, &db, me.clone()),
            jobs: crate::jobs::Jobs::default(),
            samplings: crate::sampler::Samplings::default(),
            runs: crate::runs::Runs::new(&db),
            memory: crate::memory::Memory::default(),
            texts: crate::texts::Texts::default(),
            sample: options.sample.clone().filter(|sample| sample.exists()),
        });
        if options.live {
            if options.app
                && is_new
                && let Some(sample) = &workbench.sample
            {
                workbench.register(sample)?;
            }
            workbench.come_alive()?;
            workbench.follow_runs()?;
        }
        Ok(workbench)
    }

    /// Version, sources, counts.
    pub fn app_state(&self, _: Nothing) -> Result<AppState, ApiError> {
        let change = self.changes.last();
        let counts = self.store.library_counts()?;
        let sources = self.store.sources()?;
        let labels = source_labels(sources.iter().map(named));
        Ok(AppState {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            library: self.store.path().map(|path| path.display().to_string()),
            sources: sources.into_iter().map(|s| self.info_labeled(s, &labels)).collect(),
            recent: self
                .store
                .recent()?
                .into_iter()
                .map(|s| RecentSource {
                    exists: is_there(Path::new(&s.path)),
                    name: s.name,
                    path: s.path,
                    zip: s.zip,
                    closed_at: s.closed_at,
                })
                .collect(),
            runs: counts.runs,
            warnings: counts.warnings,
            severities: counts.severities,
            runs_with_warnings: counts.runs_with_warnings,
            real_runs: counts.real_runs,
            tags: counts.tags,
            views: self
                .store
                .views()?
                .into_iter()
                .map(|(name, address)| SavedView { name, address })
                .collect(),
            policy: self.store.get_policy()?.name().to_owned(),
            change,
            sample: self.sample.as_ref().map(|p| p.display().to_string()),
        })
    }

    /// The labels of all sources.
    pub(crate) fn source_labels(&self) -> Result<HashMap<i64, String>, ApiError> {
        Ok(source_labels(self.store.sources()?.iter().map(named)))
    }

    fn info(&self, source: Source) -> Result<SourceInfo, ApiError> {
        let labels = self.source_labels()?;
        Ok(self.info_labeled(source, &labels))
    }

    fn info_labeled(&self, source: Source, labels: &HashMap<i64, String>) -> SourceInfo {
        let (status, progress, watch) = self.live.state(&source);
        SourceInfo {
            id: source.id,
            label: labels.get(&source.id).unwrap_or(&source.name).clone(),
            name: source.name,
            path: source.path,
            zip: source.zip,
            format: source.format,
            status,
            watch,
            progress,
            message: source.message,
            runs: source.runs,
            warnings: source.warnings,
            severities: source.severities,
            opened_at: source.opened_at,
        }
    }

    fn source(&self, source: i64) -> Result<Source, ApiError> {
        self.store.source(source)?.ok_or_else(|| {
            ApiError::new("source.not_found", format!("There is no source number {source} in the library"))
                .hint("It may have been closed")
        })
    }

    /// Opens a folder or zip; reading goes on in the background.
    pub fn open_source(&self, request: OpenSource) -> Result<SourceInfo, ApiError> {
        let id = self.register(Path::new(&request.path))?;
        self.live.read(id);
        self.info(self.source(id)?)
    }

    /// Puts a folder or zip into the library without reading it. It must be of a known format.
    pub fn register(&self, path: &Path) -> Result<i64, ApiError> {
        let tree = self.open_tables(path)?;
        self.register_tree(path, &tree)
    }

    /// Puts a folder or zip into the library that is read through the table that an importer makes of it now.
    pub fn register_with(&self, path: &Path, importer: &str, columns: &Renamed) -> Result<i64, ApiError> {
        let table = self.imported_with(path, importer)?;
        if !columns.is_empty() {
            self.map_tables(&open_imported(path, &table)?, columns, &path.display().to_string())?;
        }
        let tree = open_imported(path, &table)?.with_column_names(self.store.column_names()?);
        let id = self.register_tree(path, &tree)?;
        self.store.set_imported(id, &table.to_string_lossy())?;
        Ok(id)
    }

    fn register_tree(&self, path: &Path, tree: &Tree) -> Result<i64, ApiError> {
        discover(tree).map_err(|nothing| match (tree.is_single(), nothing.tables.is_empty()) {
            (true, true) => no_zip(path),
            (true, false) => not_recognized(NotFound { folders: 0, ..nothing }, path),
            (false, _) => not_recognized(nothing, path),
        })?;
        let path = path.canonicalize().map_err(|e| {
            ApiError::new("source.missing", format!("The path cannot be followed: {e}"))
                .at(path.display().to_string())
        })?;
        let Some(text) = path.to_str() else {
            return Err(ApiError::new("source.path_not_utf8", "The path is not valid UTF-8 text")
                .at(path.display().to_string())
                .hint("Rename the folder or zip"));
        };
        Ok(self.store.put_source(text, &name_of(&path), tree.is_zip())?)
    }

    /// Opens a folder or zip and reads it before it answers. For the command line.
    pub fn ingest(&self, path: &Path, progress: &dyn Fn(u32, u32)) -> Result<Ingested, ApiError> {
        self.ingest_registered(self.register(path)?, progress)
    }

    /// The same through the table that an importer of others makes of it now, whose columns may be named here as in
    /// [`Workbench::map_columns`].
    pub fn ingest_with(
        &self,
        path: &Path,
        importer: &str,
        columns: &Renamed,
        progress: &dyn Fn(u32, u32),
    ) -> Result<Ingested, ApiError> {
        self.ingest_registered(self.register_with(path, importer, columns)?, progress)
    }

    fn ingest_registered(&self, id: i64, progress: &dyn Fn(u32, u32)) -> Result<Ingested, ApiError> {
        let imported = self.read_source(id, &AtomicBool::new(false), progress)?;
        self.refresh_summaries()?;
        while self.store.index_text(200)? {}
        let source = self.source(id)?;
        let counts = imported.counts;
        // All of them at once: each page would sort all of them again.
        let warnings = self.store.warnings(id, &WarningFilter::default(), 0, u32::MAX)?.warnings;
        Ok(Ingested {
            path: source.path,
            name: source.name,
            format: imported.formats.join(","),
            format_name: imported.format_names,
            runs: counts.runs,
            episodes: counts.episodes,
            turns: counts.turns,
            attempts: counts.attempts,
            unchanged: imported.parts_unchanged,
            found: found_formats(imported.found),
            warnings,
            severities: source.severities,
        })
    }

    /// Reads what changed in a source. Blocks until it is read or stopped.
    pub(crate) fn read_source(
        &self,
        source: i64,
        stop: &AtomicBool,
        progress: &dyn Fn(u32, u32),
    ) -> Result<Imported, ApiError> {
        let stored = self.source(source)?;
        let path = Path::new(&stored.path);
        let tree = self.open_tables(path)?;
        import(&tree, &self.store, source, progress, stop).map_err(|e| match e {
            ImportError::NotRecognized(nothing) => not_recognized(nothing, path),
            ImportError::Store(error) => error.into(),
        })
    }

    /// Takes a source out of the library; the folder itself is never touched.
    pub fn close_source(&self, request: SourceRef) -> Result<Nothing, ApiError> {
        self.source(request.source)?;
        self.live.forget(request.source);
        self.store.remove_source(request.source)?;
        self.changes.add([request.source], []);
        Ok(Nothing {})
    }

    /// The same for good: a table that an importer made of it goes, too. For the command line, which takes nothing back.
    pub fn close_for_good(&self, request: SourceRef) -> Result<Nothing, ApiError> {
        let imported = self.store.imported_of(&self.source(request.source)?.path)?;
        self.close_source(request)?;
        if let Some(table) = imported {
            self.remove_table(&table)?;
        }
        Ok(Nothing {})
    }

    /// Takes back `close_source`.
    pub fn restore_source(&self, request: SourceRef) -> Result<SourceInfo, ApiError> {
        self.store.restore_source(request.source)?;
        self.live.read(request.source);
        self.info(self.source(request.source)?)
    }

    /// Looks for changes in a source now.
    pub fn rescan_source(&self, request: SourceRef) -> Result<SourceInfo, ApiError> {
        let source = self.source(request.source)?;
        self.live.read(request.source);
        self.info(source)
    }

    /// Stops reading a source; what was read stays.
    pub fn stop_reading(&self, request: SourceRef) -> Result<Nothing, ApiError> {
        self.live.stop(request.source);
        Ok(Nothing {})
    }

    /// What was recognized, skipped and repaired, and why.
    pub fn import_report(&self, request: ImportReportRequest) -> Result<ImportReport, ApiError> {
        let source = self.source(request.source)?;
        let counts = self.store.source_counts(source.id)?;
        let filter = WarningFilter { treatment: request.treatment, code: request.code, run: request.run };
        let page = self.store.warnings(source.id, &filter, request.offset, request.limit.min(5000))?;
        Ok(ImportReport {
            by_treatment: self.store.warnings_by_treatment(source.id)?,
            by_code: self
                .store
                .warnings_by_code(source.id)?
                .into_iter()
                .map(|c| WarningGroup {
                    severity: model::Severity::from_code(&c.code),
                    code: c.code,
                    treatment: c.treatment,
                    count: c.count,
                    example: c.example,
                })
                .collect(),
            source: self.info(source)?,
            runs: counts.runs,
            episodes: counts.episodes,
            turns: counts.turns,
            not_reached: counts.not_reached,
            attempts: counts.attempts,
            files_read: counts.files_read,
            warnings: page.warnings,
            matching: page.matching,
        })
    }

    /// Answers when something changes.
    pub fn wait_for_changes(&self, request: WaitForChanges) -> Result<Changes, ApiError> {
        let timeout = Duration::from_millis(u64::from(request.timeout_ms)).min(LONGEST_WAIT);
        Ok(self.changes.wait(request.since, timeout))
    }
}
