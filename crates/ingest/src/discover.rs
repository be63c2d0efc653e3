//! Where in a tree the formats begin.
//!
//! The root is asked first, then the folders below it, level by level. A folder that a format recognizes is a *place*;
//! nothing below it is searched, unless the format says that others may lie there.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use model::{Warning, counted};

use crate::format_trait::{Format, Sniff};
use crate::formats::table::{self, IncompleteTable};
use crate::noise::is_noise;
use crate::unread::{self, UnreadResults};
use files::{Tree, join};

/// Levels below the root that are searched. A folder that holds a single folder and nothing else (what most zips have
/// at their top) does not count.
const LEVELS: u32 = 4;
/// Most folders that are asked.
const FOLDERS: u64 = 50_000;

/// A folder where a format begins.
#[derive(Clone)]
pub struct Place {
    /// The folder (`""` = the root).
    pub folder: String,
    /// The format.
    pub format: &'static dyn Format,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at “{}”", self.format.id(), self.folder)
    }
}

/// What was found in a tree.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The places, from the root down, by name.
    pub places: Vec<Place>,
    /// What went wrong while looking, and what lies beside the places and is not read.
    pub warnings: Vec<Warning>,
    /// What other programs wrote beside the places; what there is most of comes first.
    pub not_read: Vec<UnreadResults>,
}

impl Discovery {
    /// The formats of the places, each once, in the order in which they were found.
    pub fn by_format(&self) -> Vec<FoundFormat> {
        let mut found: Vec<FoundFormat> = Vec::new();
        for place in &self.places {
            let id = place.format.id();
            match found.iter_mut().find(|format| format.id == id) {
                Some(format) => format.places += 1,
                None => {
                    found.push(FoundFormat {
                        id,
                        name: place.format.name(),
                        folder: place.folder.clone(),
                        places: 1,
                    });
                }
            }
        }
        found
    }
}

/// A format that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFormat {
    /// [`Format::id`].
    pub id: &'static str,
    /// [`Format::name`].
    pub name: &'static str,
    /// Its first place.
    pub folder: String,
    /// How many places are of it.
    pub places: u32,
}

/// Why nothing was found, as the page that says so shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[error(
    "Nothing here is in a format that Stamina Lab reads: {} in {} {} looked at, {} deep",
    counted(*files, "file"), counted(*folders, "folder"), if *files == 1 { "was" } else { "were" },
    counted((*depth).into(), "level")
)]
pub struct NotRecognized {
    /// Files seen.
    pub files: u64,
    /// Folders looked into, the root included.
    pub folders: u64,
    /// How many levels deep; the root alone is 1.
    pub depth: u32,
    /// Whether there was more than is searched.
    pub cut_short: bool,
    /// One for each format.
    pub formats: Vec<Lookup>,
    /// What other programs wrote; what there is most of comes first.
    pub found: Vec<UnreadResults>,
    /// Tables that lack columns of a tidy table.
    pub tables: Vec<IncompleteTable>,
    /// What comes closest, where nothing was found that has a name.
    pub closest: Option<Box<ClosestFolder>>,
}

/// What one format looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// Name of the format: `Harbor job`.
    pub format: &'static str,
    /// `result.json with stats.evals`.
    pub looked_for: &'static str,
    /// The best of what there was: `result.json but no stats.evals, in batch_2/`; `none`.
    pub found: String,
}

/// The folder that nearly is of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosestFolder {
    /// In a sentence.
    pub sentence: String,
    /// The folder (`""` = the root).
    pub folder: String,
}

/// Looks for all formats.
pub fn discover(tree: &Tree) -> Result<Discovery, NotRecognized> {
    discover_among(tree, crate::formats::all())
}

/// Whether a format begins anywhere: the search goes no further than the first place.
///
/// Errors: nothing was found in all of it.
pub fn is_recognized(tree: &Tree) -> Result<(), NotRecognized> {
    search(tree, crate::formats::all(), Extent::FirstPlace).map(drop)
}

/// Looks for some formats.
pub fn discover_among(tree: &Tree, formats: &[&'static dyn Format]) -> Result<Discovery, NotRecognized> {
    search(tree, formats, Extent::All)
}

/// The place that begins in a folder, whatever lies around it; `None` = no format recognizes the folder.
pub(crate) fn place_in(tree: &Tree, folder: &str, formats: &[&'static dyn Format]) -> Option<Place> {
    let tree = tree.with_listing(folder);
    let recognizes = |format: &dyn Format| {
        let sniffed = catch_unwind(AssertUnwindSafe(|| format.sniff(&tree, folder)));
        sniffed.is_ok_and(|sniff| sniff == Sniff::Recognized)
    };
    let format = formats.iter().copied().find(|format| recognizes(*format))?;
    Some(Place { folder: folder.to_owned(), format })
}

/// How far a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    All,
    FirstPlace,
}

/// Looks for some formats, as far as that.
pub(crate) fn search(
    tree: &Tree,
    formats: &[&'static dyn Format],
    extent: Extent,
) -> Result<Discovery, NotRecognized> {
    let mut search = Search {
        tree,
        formats,
        best: vec![(0, String::new(), String::new()); formats.len()],
        summary: NotRecognized::default(),
        found: Discovery::default(),
    };
    let mut level = vec![String::new()];
    let mut levels_left = LEVELS;
    while !level.is_empty() {
        search.summary.depth += 1;
        let mut next = Vec::new();
        let mut only_a_wrapper = level.len() == 1;
        for folder in level {
            if search.summary.folders == FOLDERS {
                search.summary.cut_short = true;
                break;
            }
            search.summary.folders += 1;
            let (subfolders, files) = search.search_folder(&folder);
            if extent == Extent::FirstPlace && !search.found.places.is_empty() {
                return Ok(search.found);
            }
            only_a_wrapper &= files == 0 && subfolders.len() == 1;
            next.extend(subfolders);
        }
        if !only_a_wrapper {
            if levels_left == 0 {
                search.summary.cut_short |= !next.is_empty();
                break;
            }
            levels_left -= 1;
        }
        level = next;
    }
    search.result()
}

struct Search<'a> {
    tree: &'a Tree,
    formats: &'a [&'static dyn Format],
    /// For each format: closeness, folder, what was found there.
    best: Vec<(u8, String, String)>,
    summary: NotRecognized,
    found: Discovery,
}

impl Search<'_> {
    /// Asks all formats about a folder. Returns the folders to search next, and the number of its files.
    fn search_folder(&mut self, folder: &str) -> (Vec<String>, u64) {
        // Every format reads the names in the folder.
        let tree = self.tree.with_listing(folder);
        let recognized = self.find_format(&tree, folder);
        let search_below = recognized.is_none_or(Format::search_below);
        if let Some(format) = recognized {
            self.found.places.push(Place { folder: folder.to_owned(), format });
        }
        let mut subfolders = Vec::new();
        let mut files = 0;
        for entry in tree.list(folder) {
            if !entry.is_folder() {
                files += 1;
            } else if search_below && !is_noise(&entry.name) {
                subfolders.push(join(folder, &entry.name));
            }
        }
        self.summary.files += files;
        (subfolders, files)
    }

    fn find_format(&mut self, tree: &Tree, folder: &str) -> Option<&'static dyn Format> {
        for (format, best) in self.formats.iter().zip(&mut self.best) {
            match catch_unwind(AssertUnwindSafe(|| format.sniff(tree, folder))) {
                Ok(Sniff::Recognized) => return Some(*format),
                Ok(Sniff::Not { found, closeness }) => {
                    if closeness > best.0 {
                        *best = (closeness, folder.to_owned(), found);
                    }
                }
                Err(_) => self.found.warnings.push(Warning::skipped(
                    folder,
                    "reader.failed",
                    format!(
                        "Stamina Lab's own reader for “{}” failed here, which is a fault in Stamina Lab. \
                         The folder was not taken as one.",
                        format.name()
                    ),
                )),
            }
        }
        None
    }

    /// Names what other programs wrote outside of the places.
    fn look_beside(&mut self) {
        // Below a place where others may lie, results of other programs may lie, too.
        let whole = self.found.places.iter().filter(|place| !place.format.search_below());
        let folders: HashSet<&str> = whole.map(|place| place.folder.as_str()).collect();
        let formats: Vec<&str> = self.found.by_format().iter().map(|format| format.id).collect();
        let find = AssertUnwindSafe(|| unread::find_beside(self.tree, &folders, &formats));
        let not_read = catch_unwind(find).unwrap_or_default();
        self.found.warnings.extend(not_read.iter().map(|found| {
            let message =
                format!("Beside what is read: {}, {}. {}.", found.name, found.not_read, found.instead);
            Warning::skipped(&found.path, "other.not_read", message)
        }));
        self.found.not_read = not_read;
    }

    fn result(mut self) -> Result<Discovery, NotRecognized> {
        if !self.found.places.is_empty() {
            self.look_beside();
            if self.summary.cut_short {
                self.found.warnings.push(Warning::skipped(
                    "",
                    "search.cut_short",
                    format!(
                        "{}, {} deep, {} searched for results. \
                         What lies deeper or beyond is left out; open it on its own.",
                        counted(self.summary.folders, "folder"),
                        counted(self.summary.depth.into(), "level"),
                        if self.summary.folders == 1 { "was" } else { "were" }
                    ),
                ));
            }
            return Ok(self.found);
        }
        let place = |folder: &str| if folder.is_empty() { String::new() } else { format!(", in {folder}/") };
        for (format, (closeness, folder, found)) in self.formats.iter().zip(&self.best) {
            let found = if *closeness == 0 { "none".to_owned() } else { format!("{found}{}", place(folder)) };
            let lookup = Lookup { format: format.name(), looked_for: format.looked_for(), found };
            self.summary.formats.push(lookup);
        }
        self.summary.found = catch_unwind(AssertUnwindSafe(|| unread::find(self.tree))).unwrap_or_default();
        self.summary.tables =
            catch_unwind(AssertUnwindSafe(|| table::incomplete_tables(self.tree))).unwrap_or_default();
        let closest = self.formats.iter().zip(&self.best).rev().max_by_key(|(_, (closeness, ..))| *closeness);
        if let Some((format, (closeness, folder, found))) = closest
            && *closeness > 0
            && self.summary.found.is_empty()
        {
            let subject = if folder.is_empty() { "It".to_owned() } else { format!("“{folder}”") };
            self.summary.closest = Some(Box::new(ClosestFolder {
                sentence: format!("{subject} comes closest to the format “{}”: {found}.", format.name()),
                folder: folder.clone(),
            }));
        }
        Err(self.summary)
    }
}
