//! Import warnings: stored with the part that gave them, counted and paged for the import report.

use model::{Treatment, Warning};

use crate::{Result, SourceId, Store};

/// Which warnings of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WarningFilter {
    /// Only those treated so.
    pub treatment: Option<Treatment>,
    /// Only those of this code.
    pub code: Option<String>,
    /// Only those that concern the run of this slug.
    pub run: Option<String>,
}

/// A page of warnings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WarningPage {
    /// By code, then by path.
    pub warnings: Vec<Warning>,
    /// How many match.
    pub matching: u64,
}

/// Warnings of one code and treatment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeCount {
    /// The code.
    pub code: String,
    /// What was done.
    pub treatment: Treatment,
    /// How many.
    pub count: u64,
    /// The first of them by path.
    pub example: Warning,
}

impl Store {
    /// Replaces the warnings of the survey of a source, and the number of files that it parsed. Call it after
    /// [`Store::put_runs`]: a warning inside a place with one run is counted for that run.
    pub fn put_survey_warnings(&self, source: SourceId, warnings: &[Warning], files_read: u64) -> Result<()> {
        todo!()
    }

    /// A page of the warnings of a source.
    pub fn warnings(
        &self,
        source: SourceId,
        filter: &WarningFilter,
        offset: u32,
        limit: u32,
    ) -> Result<WarningPage> {
        todo!()
    }

    /// Warnings of a source by treatment; treatments without warnings are left out.
    pub fn warnings_by_treatment(&self, source: SourceId) -> Result<Vec<(Treatment, u64)>> {
        todo!()
    }

    /// Warnings of a source by code, most frequent first.
    pub fn warnings_by_code(&self, source: SourceId) -> Result<Vec<CodeCount>> {
        todo!()
    }
}
