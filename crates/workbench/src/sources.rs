//! Opening, reading and closing sources.

mod open;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use files::Tree;
use ingest::discover::{Discovery, NotRecognized as NotFound, discover, is_recognized};
use ingest::formats::table::{self, ColumnRenames};
use ingest::import::{ImportError, ImportResult, PlaceImport, import, import_found, import_place};
use model::{Warning, WarningCounts};
use store::{RunFilter, RunId, Source, Store, WarningFilter};

use self::open::{found_formats, name_of, no_rows, no_zip, not_read, not_recognized, with_left_out};
pub(crate) use self::open::{is_there, open_tree};
use crate::api::{
    ApiError, AppState, Changes, FoundItem, ImportReport, ImportReportRequest, Nothing, OpenSource,
    OpenWithImporter, RecentSource, SourceInfo, SourceRef, WaitForChanges,
};
use crate::importers::{listed, open_imported, program};
use crate::source_labels::{NamedSource, source_labels};
use crate::{Options, Workbench};

/// Longest that `wait_for_changes` waits.
const LONGEST_WAIT: Duration = Duration::from_secs(25);

/// What `stamina ingest` says of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestSummary {
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
    pub found: Vec<FoundItem>,
    /// Every warning.
    pub warnings: Vec<Warning>,
    /// How many entries there are by severity, also those that are not listed.
    pub severities: WarningCounts,
    /// Its runs with trials that other runs of the library have as well.
    pub copies: Vec<CopiedRun>,
}

/// A run with trials that other runs have as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedRun {
    /// Its id.
    pub run: String,
    /// Ids of the other runs with how many trials, the most first.
    pub other_runs: Vec<(String, u32)>,
}

impl From<store::StoreError> for ApiError {
    fn from(error: store::StoreError) -> Self {
        ApiError::new(error.code(), error.to_string())
    }
}

fn named(source: &Source) -> NamedSource<'_> {
    (source.id, &source.name, &source.path)
}

/// What a search of a tree found. What is said of one in which there is nothing depends on what it is.
fn searched<T>(
    path: &Path,
    tree: &Tree,
    search: impl FnOnce(&Tree) -> Result<T, NotFound>,
) -> Result<T, ApiError> {
    search(tree).map_err(|nothing| match (tree.is_single(), nothing.tables.is_empty()) {
        (true, true) => no_zip(path),
        (true, false) => not_recognized(NotFound { folders: 0, ..nothing }, path),
        (false, _) => with_left_out(not_recognized(nothing, path), tree),
    })
}

impl Workbench {
    /// Opens the library. With [`Options::live`] its sources are read again and watched in the background. A new library
    /// of the desktop app ([`Options::app`]) begins with the sample.
    pub fn open(options: Options) -> Result<Arc<Self>, ApiError> {
        let db = options.library_file()?;
        if let Some(folder) = db.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|e| {
                ApiError::new("store.folder", format!("The folder of the library cannot be made: {e}"))
                    .with_path(folder.display().to_string())
                    .hint("Name another file with --db")
            })?;
        }
        let is_new = !db.exists();
        let store = Arc::new(Store::open(&db)?);
        let workbench = Arc::new_cyclic(|weak_workbench| Self {
            store,
            changes: crate::changes::Changes::default(),
            opened_sources: crate::opened_sources::OpenedSources::new(&options, &db, weak_workbench.clone()),
            jobs: crate::jobs::Jobs::default(),
            samplings: crate::sampler::Samplings::default(),
            runs: crate::runs::Runs::new(&db),
            cache: crate::cache::AnswerCache::default(),
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
            workbench.start_background_work()?;
            workbench.follow_runs()?;
        }
        Ok(workbench)
    }

    /// Version, sources, counts.
    pub fn app_state(&self, _: Nothing) -> Result<AppState, ApiError> {
        let change = self.changes.last();
        // By the summaries that are there: a window waits for this answer, and asks for it at every change. Lists
        // refresh them, and each new one is a change.
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
            views: self.store.views()?,
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
        let (status, progress, watch) = self.opened_sources.state(&source);
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
        self.opened_sources.read(id);
        self.info(self.source(id)?)
    }

    /// Runs an importer of the list on a folder or zip, and opens it through the table that the importer makes. Answers when
    /// the importer has ended; reading goes on in the background.
    pub fn open_with_importer(&self, request: OpenWithImporter) -> Result<SourceInfo, ApiError> {
        let program = listed(&request.importer)?;
        let id = self.register_with(Path::new(&request.path), &program, &request.columns)?;
        self.opened_sources.read(id);
        self.info(self.source(id)?)
    }

    /// Puts a folder or zip into the library without reading it. It must be of a known format.
    pub fn register(&self, path: &Path) -> Result<i64, ApiError> {
        let tree = self.open_tables(path)?;
        // Whoever reads it looks for all places, once it is watched.
        searched(path, &tree, is_recognized)?;
        self.register_tree(path, &tree)
    }

    /// Puts a folder or zip into the library that is read through the table that an importer makes of it now.
    fn register_with(&self, path: &Path, program: &Path, columns: &ColumnRenames) -> Result<i64, ApiError> {
        let look = |tree: &Tree| searched(path, tree, is_recognized);
        let (tree, table, ()) = self.imported_tree(path, program, columns, look)?;
        self.register_imported(path, &tree, &table)
    }

    /// The table that an importer makes of a folder or zip now, its path, and what is found in it. Where nothing is, the table
    /// that an importer made of it before stays.
    fn imported_tree<T>(
        &self,
        path: &Path,
        program: &Path,
        columns: &ColumnRenames,
        look: impl FnOnce(&Tree) -> Result<T, ApiError>,
    ) -> Result<(Tree, PathBuf, T), ApiError> {
        let table = self.imported_with(path, program)?;
        let looked = self.mapped_tree(path, &table.path, columns).and_then(|tree| {
            let found = look(&tree)?;
            Ok((tree, found))
        });
        table.settle(looked.is_ok());
        let (tree, found) = looked?;
        Ok((tree, table.path, found))
    }

    /// A folder or zip through the table that an importer made of it, whose columns are named first.
    fn mapped_tree(&self, path: &Path, table: &Path, columns: &ColumnRenames) -> Result<Tree, ApiError> {
        if !columns.is_empty() {
            self.map_tables(&open_imported(path, table)?, columns, &path.display().to_string())?;
        }
        Ok(open_imported(path, table)?.with_column_names(self.store.column_names()?))
    }

    fn register_imported(&self, path: &Path, tree: &Tree, table: &Path) -> Result<i64, ApiError> {
        let id = self.register_tree(path, tree)?;
        self.store.set_imported(id, &table.to_string_lossy())?;
        Ok(id)
    }

    fn register_tree(&self, path: &Path, tree: &Tree) -> Result<i64, ApiError> {
        let path = path.canonicalize().map_err(|e| {
            ApiError::new("source.missing", format!("The path cannot be followed: {e}"))
                .with_path(path.display().to_string())
        })?;
        let Some(text) = path.to_str() else {
            return Err(ApiError::new("source.path_not_utf8", "The path is not valid UTF-8 text")
                .with_path(path.display().to_string())
                .hint("Rename the folder or zip"));
        };
        Ok(self.store.put_source(text, &name_of(&path), tree.is_zip())?)
    }

    /// Opens a folder or zip and reads it before it answers. For the command line.
    pub fn ingest(&self, path: &Path, progress: &dyn Fn(u32, u32)) -> Result<IngestSummary, ApiError> {
        let tree = self.open_tables(path)?;
        let found = self.all_places(path, &tree)?;
        self.ingest_found(self.register_tree(path, &tree)?, &tree, found, progress)
    }

    /// The same through the table that an importer of others makes of it now. The importer is named, or is a path with a `/`
    /// in it. The columns of its table may be named here as in [`Workbench::map_columns`].
    pub fn ingest_with(
        &self,
        path: &Path,
        importer: &str,
        columns: &ColumnRenames,
        progress: &dyn Fn(u32, u32),
    ) -> Result<IngestSummary, ApiError> {
        let look = |tree: &Tree| self.all_places(path, tree);
        let (tree, table, found) = self.imported_tree(path, &program(importer)?, columns, look)?;
        self.ingest_found(self.register_imported(path, &tree, &table)?, &tree, found, progress)
    }

    /// All places of a tree that is read next.
    fn all_places(&self, path: &Path, tree: &Tree) -> Result<Discovery, ApiError> {
        tree.set_hash_key(self.store.hash_key()?);
        searched(path, tree, discover)
    }

    fn ingest_found(
        &self,
        id: i64,
        tree: &Tree,
        found: Discovery,
        progress: &dyn Fn(u32, u32),
    ) -> Result<IngestSummary, ApiError> {
        let imported = import_found(tree, &self.store, id, found, progress, &AtomicBool::new(false))?;
        self.refresh_summaries()?;
        while self.store.index_text(200)? {}
        let source = self.source(id)?;
        let counts = imported.counts;
        // All of them at once: each page would sort all of them again.
        let warnings = self.store.warnings(id, &WarningFilter::default(), 0, u32::MAX)?.warnings;
        if counts.runs == 0 && imported.formats == [table::FORMAT] {
            return Err(no_rows(&source, &warnings));
        }
        Ok(IngestSummary {
            path: source.path,
            name: source.name,
            format: imported.formats.join(","),
            format_name: imported.format_names,
            runs: counts.runs,
            episodes: counts.episodes,
            turns: counts.turns,
            attempts: counts.attempts,
            unchanged: imported.parts_unchanged,
            found: found_formats(imported.found)
                .into_iter()
                .chain(imported.not_read.into_iter().map(not_read))
                .collect(),
            warnings,
            severities: source.severities,
            copies: self.copies_in(id)?,
        })
    }

    /// The runs of a source that have trials of other runs, by id.
    fn copies_in(&self, source: i64) -> Result<Vec<CopiedRun>, ApiError> {
        let source_filter = RunFilter { sources: vec![source], ..RunFilter::default() };
        let runs = self.store.list_runs(&source_filter)?.rows;
        let ids: Vec<RunId> = runs.iter().map(|(_, run)| run.id).collect();
        let mut others = self.store.runs_sharing_trials(&ids)?;
        let mut copies: Vec<CopiedRun> = runs
            .into_iter()
            .filter_map(|(_, run)| Some(CopiedRun { other_runs: others.remove(&run.id)?, run: run.slug }))
            .collect();
        copies.sort_by(|a, b| a.run.cmp(&b.run));
        Ok(copies)
    }

    /// Reads what changed in a source. Blocks until it is read or stopped.
    pub(crate) fn read_source(
        &self,
        source: i64,
        stop: &AtomicBool,
        progress: &dyn Fn(u32, u32),
    ) -> Result<ImportResult, ApiError> {
        let stored = self.source(source)?;
        let path = Path::new(&stored.path);
        let tree = self.open_tables(path)?;
        import(&tree, &self.store, source, progress, stop).map_err(|e| match e {
            ImportError::NotRecognized(nothing) => with_left_out(not_recognized(nothing, path), &tree),
            ImportError::Store(error) => error.into(),
        })
    }

    /// Reads what changed in one folder of a source, where a run begins. Blocks until it is read or stopped.
    pub(crate) fn read_place(
        &self,
        source: i64,
        folder: &str,
        stop: &AtomicBool,
    ) -> Result<PlaceImport, ApiError> {
        let stored = self.source(source)?;
        let tree = self.open_tables(Path::new(&stored.path))?;
        Ok(import_place(&tree, &self.store, source, folder, stop)?)
    }

    /// Takes a source out of the library; the folder itself is never touched.
    pub fn close_source(&self, request: SourceRef) -> Result<Nothing, ApiError> {
        self.source(request.source)?;
        self.opened_sources.forget(request.source);
        self.store.remove_source(request.source)?;
        self.changes.add([request.source], []);
        Ok(Nothing {})
    }

    /// The same for good: a table that an importer made of it goes, too. For the command line, which takes nothing back.
    pub fn close_for_good(&self, request: SourceRef) -> Result<Nothing, ApiError> {
        let imported = self.store.imported_table(&self.source(request.source)?.path)?;
        self.close_source(request)?;
        if let Some(table) = imported {
            self.remove_table(&table)?;
        }
        Ok(Nothing {})
    }

    /// Takes back `close_source`.
    pub fn restore_source(&self, request: SourceRef) -> Result<SourceInfo, ApiError> {
        self.store.restore_source(request.source)?;
        self.opened_sources.read(request.source);
        self.info(self.source(request.source)?)
    }

    /// Looks for changes in a source now.
    pub fn rescan_source(&self, request: SourceRef) -> Result<SourceInfo, ApiError> {
        let source = self.source(request.source)?;
        self.opened_sources.read(request.source);
        self.info(source)
    }

    /// Stops reading a source; what was read stays.
    pub fn stop_reading(&self, request: SourceRef) -> Result<Nothing, ApiError> {
        self.opened_sources.stop(request.source);
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
            by_code: self.store.warnings_by_code(source.id)?,
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
