//! The trait [`Format`]: what a format must be able to do. Its implementations: [`crate::formats`].

use std::collections::HashMap;

use model::{Artifact, Episode, Run, Transcript, Warning, WarningCounts};

use files::{ReadError, Tree};
use store::OmittedCounts;

use crate::readers::json::Node;

/// Most warnings that are kept of one part, or of the survey of a source. A hostile file has as many as it likes.
const MOST_WARNINGS: usize = 5_000;

/// Collects what could not be taken as it stood, and counts the files parsed.
#[derive(Debug, Default)]
pub struct Report {
    /// In the order in which they were met, at most 5,000.
    pub warnings: Vec<Warning>,
    /// Files parsed.
    pub files_read: u64,
    /// Further warnings, and episodes for which there is no room in memory, by run.
    pub not_kept: OmittedCounts,
}

impl Report {
    /// Keeps a warning, or counts it where there are too many.
    pub fn warn(&mut self, warning: Warning) {
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(warning);
        } else {
            self.not_kept.warnings.entry(warning.run).or_default().add(&warning.code);
        }
    }

    /// Counts warnings that are not listed, of no run in particular.
    pub fn count(&mut self, warnings: WarningCounts) {
        if warnings.total() > 0 {
            *self.not_kept.warnings.entry(None).or_default() += warnings;
        }
    }

    /// Adds what the survey of a place reported. What is not listed of it is counted with the place.
    pub fn add_survey(&mut self, survey: Self, place: &str) {
        self.files_read += survey.files_read;
        let mut excess_counts = WarningCounts::default();
        for warning in survey.warnings {
            if self.warnings.len() < MOST_WARNINGS {
                self.warnings.push(warning);
            } else {
                excess_counts.add(&warning.code);
            }
        }
        for counts in survey.not_kept.warnings.into_values() {
            excess_counts += counts;
        }
        if excess_counts.total() > 0 {
            *self.not_kept.warnings.entry(Some(place.to_owned())).or_default() += excess_counts;
        }
    }

    /// Keeps warnings, as [`Report::warn`] does.
    pub fn warn_all(&mut self, warnings: impl IntoIterator<Item = Warning>) {
        warnings.into_iter().for_each(|warning| self.warn(warning));
    }

    /// Keeps a warning about a file that could not be read, and says what that means for the rest.
    pub fn unreadable(&mut self, path: &str, error: &ReadError, consequence: &str) {
        self.warn(Warning::skipped(path, error.code(), format!("{error}. {consequence}")));
    }

    /// Reads a file that is a JSON object. Of anything else it keeps a warning, which says what that means for the rest.
    pub(crate) fn read_object(
        &mut self,
        tree: &Tree,
        path: &str,
        cap: u64,
        consequence: &str,
    ) -> Option<Node> {
        match tree.read_json::<Node>(path, cap) {
            Ok(node @ Node::Map(_)) => {
                self.files_read += 1;
                return Some(node);
            }
            Ok(_) => {
                let message = format!("It is JSON, but no object. {consequence}");
                self.warn(Warning::skipped(path, "json.wrong_type", message));
            }
            Err(error) => self.unreadable(path, &error, consequence),
        }
        None
    }
}

/// Whether a place is of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sniff {
    /// It is.
    Recognized,
    /// It is not. `found` says in words what there was of what was looked for (`config.json only, no steps/`);
    /// `closeness` is 0 for nothing at all up to 100 for nearly; the closest is named to the user.
    Not {
        /// In words; `none` if nothing was there.
        found: String,
        /// 0 to 100.
        closeness: u8,
    },
}

/// What a place holds, known from names, sizes and small files only.
#[derive(Debug, Default)]
pub struct Survey {
    /// The runs. Their keys are unique in the place.
    pub runs: Vec<Run>,
    /// What is to be read, in reading order.
    pub parts: Vec<Part>,
}

/// A unit of reading: some files that together give one or more episodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Identity inside the place, stable over re-reading; also what the format reads it by.
    pub key: String,
    /// A hash over the names, sizes and times (folder) or sizes and CRCs (zip) of all files that reading it parses,
    /// and over whatever else of the place the result depends on. Equal stamp = nothing to do.
    pub stamp: u64,
}

/// Most episodes of a run that count as planned.
pub(crate) const MOST_PLANNED: u64 = 100_000;

/// A scenario that was to be played in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedScenario {
    /// Its name, as the source gives it.
    pub scenario: String,
    /// How often.
    pub episodes: u32,
}

impl PlannedScenario {
    /// Counts names, in the order in which they first come.
    pub(crate) fn count(names: impl IntoIterator<Item = String>) -> Vec<Self> {
        let mut planned: Vec<Self> = Vec::new();
        let mut index_by_key: HashMap<String, usize> = HashMap::new();
        for name in names {
            let index = *index_by_key.entry(name.clone()).or_insert_with(|| {
                planned.push(Self { scenario: name, episodes: 0 });
                planned.len() - 1
            });
            planned[index].episodes += 1;
        }
        planned
    }
}

/// An episode with the run that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// [`Run::key`].
    pub run: String,
    /// The episode.
    pub episode: Episode,
}

/// Reads the parts of one place.
pub trait PartReader: Send + Sync {
    /// Reads one part. The survey has reported what is wrong with files that parts share.
    fn read(&self, tree: &Tree, part: &Part, report: &mut Report) -> Vec<Reading>;
}

/// A format of results on disk.
///
/// `folder` is the folder inside the tree where the format begins (`""` = the tree's root). All paths in what is returned
/// (artifacts, warnings) are relative to the *tree*, with `/`.
pub trait Format: Send + Sync {
    /// Stable word in the store and in JSON.
    fn id(&self) -> &'static str;
    /// What a person reads: `Harbor job`.
    fn name(&self) -> &'static str;
    /// What [`Format::sniff`] looks for, as the "not recognized" page says it.
    fn looked_for(&self) -> &'static str;
    /// Whether `folder` is of this format. Reads names and, at most, a small file or two.
    fn sniff(&self, tree: &Tree, folder: &str) -> Sniff;
    /// Whether folders below a recognized place are still searched for other places (default: no).
    fn search_below(&self) -> bool {
        false
    }
    /// Whether the folders in `folder` (relative to the tree) are each written once, together with other files of the
    /// same part, so that watching for changes need not go into them. Known from the path alone. For what there is very
    /// much of: snapshots of code (default: no).
    fn written_once(&self, _folder: &str) -> bool {
        false
    }
    /// What is there. Must be quick: it runs at every re-opening.
    fn survey(&self, tree: &Tree, folder: &str, report: &mut Report) -> Survey;
    /// What reads the parts of the place. What all parts share is read here, once, so that reading a place takes a time
    /// that grows with its size and not with its square.
    fn reader(&self, tree: &Tree, folder: &str) -> Box<dyn PartReader>;
    /// Reads one part alone.
    fn read(&self, tree: &Tree, folder: &str, part: &Part, report: &mut Report) -> Vec<Reading> {
        self.reader(tree, folder).read(tree, part, report)
    }
    /// How often each scenario was to be played in a run ([`Run::key`]) of the place, where the source names them. Reads
    /// small files only. `None` = nothing names them.
    fn planned(&self, _tree: &Tree, _at: &str, _run: &str) -> Option<Vec<PlannedScenario>> {
        None
    }
    /// Reads the steps that a [`model::ArtifactKind::Transcript`] artifact of this format holds.
    fn transcript(&self, tree: &Tree, artifact: &Artifact) -> Result<Transcript, ReadError>;
}
