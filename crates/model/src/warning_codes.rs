//! Every warning code and its severity. The tables of `docs/formats.md` show the same.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};
use ts_rs::TS;

/// How an entry of the import report affects the numbers.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    TS,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Severity {
    /// Information only. Every number is as the source gives it.
    Note,
    /// A value was corrected or completed with certainty. The numbers hold.
    Repair,
    /// A number may be wrong or incomplete.
    Warning,
}

/// Codes of notes.
const NOTES: &[&str] = &[
    "cases.not_described",
    "episode.resumed",
    "evocode.not_in_index",
    "evocode.task_name",
    "evocode.unknown_model",
    "file.special",
    "harbor.job_unfinished",
    "harbor.no_job_files",
    "harbor.task_not_run",
    "harbor.trial_unfinished",
    "link.skipped",
    "locobench.checkpoint_alone",
    "model.alias",
    "notes.too_many",
    "other.not_read",
    "pytest.sessions",
    "report.scenario_missing",
    "search.cut_short",
    "session.restarted",
    "table.goes_on",
    "tb.trial_unfinished",
    "tests.too_many",
    "trajectory.circle",
    "transcript.missing",
    "transcript.none",
];

/// Codes of repairs.
const REPAIRS: &[&str] = &[
    "attempts.implied",
    "end_reason.unknown",
    "name.not_utf8",
    "repairs.too_many",
    "turns.from_zero",
    "verdict.unknown",
];

/// Codes of warnings.
const WARNINGS: &[&str] = &[
    "cases.no_summary",
    "cases.sum_mismatch",
    "csv.malformed",
    "episode.duplicate",
    "episode.run_unknown",
    "evocode.no_model",
    "evocode.rounds_differ",
    "evocode.score_mismatch",
    "evocode.too_many",
    "evocode.unknown_round",
    "file.cut",
    "file.empty",
    "file.missing",
    "file.not_utf8",
    "file.too_large",
    "file.unreadable",
    "folder.loop",
    "folder.too_deep",
    "folder.too_many",
    "folder.unreadable",
    "format.unknown",
    "harbor.declared_steps_unknown",
    "harbor.not_a_trial",
    "harbor.reward_unclear",
    "harbor.reward_unreadable",
    "harbor.settings_differ",
    "harbor.steps_differ",
    "harbor.trials_missing",
    "harbor.verifier_off",
    "json.malformed",
    "json.not_strict",
    "json.truncated",
    "json.wrong_type",
    "locobench.duplicate",
    "locobench.line_cut",
    "locobench.line_too_long",
    "locobench.line_unreadable",
    "locobench.too_many",
    "pack.scenario_missing",
    "pack.version",
    "part.duplicate",
    "path.outside",
    "protocol.mismatch",
    "pytest.not_recognised",
    "pytest.truncated",
    "reader.failed",
    "reward.range",
    "run.duplicate",
    "scenarios.too_many",
    "schema.mismatch",
    "source.not_zip",
    "steps.too_many",
    "table.cells",
    "table.column_twice",
    "table.column_type",
    "table.columns",
    "table.contradiction",
    "table.duplicate",
    "table.end_reason",
    "table.gap",
    "table.no_name",
    "table.no_number",
    "table.not_json",
    "table.parquet",
    "table.repeat",
    "table.row_too_long",
    "table.too_many_attempts",
    "table.too_many_runs",
    "task.no_file",
    "tb.verdict_differs",
    "tests.mismatch",
    "tokens.cache_added",
    "tokens.cache_unclear",
    "tokens.session_totals",
    "tokens.session_unclear",
    "toml.malformed",
    "trajectory.too_large",
    "turns.out_of_order",
    "turns.out_of_range",
    "value.not_usable",
    "verdict.contradiction",
    "verdict.missing",
    "warnings.too_many",
    "yaml.malformed",
    "yaml.wrong_type",
    "zip.bomb",
    "zip.damaged",
    "zip.duplicate",
    "zip.encrypted",
    "zip.method",
    "zip.name",
    "zip.too_large",
    "zip.too_many",
];

impl Severity {
    /// Every severity, from the least.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The severity of a code. An unknown code is a warning.
    pub fn from_code(code: &str) -> Self {
        Self::ALL.iter().copied().find(|severity| severity.codes().contains(&code)).unwrap_or(Self::Warning)
    }

    /// The codes of this severity, in alphabetical order.
    pub const fn codes(self) -> &'static [&'static str] {
        match self {
            Self::Note => NOTES,
            Self::Repair => REPAIRS,
            Self::Warning => WARNINGS,
        }
    }

    /// The stable word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Entries of an import report by severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct WarningCounts {
    /// Notes.
    pub notes: u64,
    /// Repairs.
    pub repairs: u64,
    /// Warnings.
    pub warnings: u64,
}

impl WarningCounts {
    /// Counts codes.
    pub fn from_codes<'a>(codes: impl IntoIterator<Item = &'a str>) -> Self {
        let mut counts = Self::default();
        for code in codes {
            counts.add(code);
        }
        counts
    }

    /// Counts one more code.
    pub fn add(&mut self, code: &str) {
        self.add_severity(Severity::from_code(code));
    }

    /// Counts one more entry of a severity.
    pub const fn add_severity(&mut self, severity: Severity) {
        match severity {
            Severity::Note => self.notes += 1,
            Severity::Repair => self.repairs += 1,
            Severity::Warning => self.warnings += 1,
        }
    }

    /// How many entries there are.
    pub const fn total(self) -> u64 {
        self.notes + self.repairs + self.warnings
    }

    /// The severity of the worst of them; `None` = there are none.
    pub fn worst(self) -> Option<Severity> {
        let has = [
            (Severity::Warning, self.warnings),
            (Severity::Repair, self.repairs),
            (Severity::Note, self.notes),
        ];
        has.into_iter().find(|(_, count)| *count > 0).map(|(severity, _)| severity)
    }
}

impl std::ops::AddAssign for WarningCounts {
    fn add_assign(&mut self, other: Self) {
        self.notes += other.notes;
        self.repairs += other.repairs;
        self.warnings += other.warnings;
    }
}

impl fmt::Display for WarningCounts {
    /// `4 warnings, 1 repair, 704 notes`; `no warnings` without any entry.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted =
            |n: u64, noun: &str| (n > 0).then(|| format!("{n} {noun}{}", if n == 1 { "" } else { "s" }));
        let words = [(self.warnings, "warning"), (self.repairs, "repair"), (self.notes, "note")];
        let words: Vec<String> = words.into_iter().filter_map(|(n, noun)| counted(n, noun)).collect();
        f.write_str(if words.is_empty() { "no warnings".to_owned() } else { words.join(", ") }.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_severity_and_the_lists_are_sorted() {
        let all: Vec<&str> = Severity::ALL.iter().flat_map(|severity| severity.codes()).copied().collect();
        for severity in Severity::ALL {
            assert!(severity.codes().is_sorted(), "{severity:?}");
            for code in severity.codes() {
                assert_eq!(
                    (Severity::from_code(code), all.iter().filter(|c| *c == code).count()),
                    (*severity, 1),
                    "{code}"
                );
                assert!(
                    code.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._".contains(&b)),
                    "{code}"
                );
            }
        }
    }

    #[test]
    fn an_unknown_code_is_a_warning() {
        assert_eq!(Severity::from_code("new.code"), Severity::Warning);
        let counts = WarningCounts::from_codes(["link.skipped", "new.code", "turns.from_zero", "zip.bomb"]);
        assert_eq!(counts, WarningCounts { notes: 1, repairs: 1, warnings: 2 });
        assert_eq!(counts.to_string(), "2 warnings, 1 repair, 1 note");
        assert_eq!(WarningCounts::default().to_string(), "no warnings");
        let mut sum = counts;
        sum += counts;
        assert_eq!((sum, sum.total()), (WarningCounts { notes: 2, repairs: 2, warnings: 4 }, 8));
    }

    #[test]
    fn what_stands_for_others_is_as_severe_as_the_worst_of_them() {
        assert_eq!(WarningCounts::default().worst(), None);
        for (counts, severity) in [
            (WarningCounts { notes: 5, repairs: 0, warnings: 0 }, Severity::Note),
            (WarningCounts { notes: 5, repairs: 1, warnings: 0 }, Severity::Repair),
            (WarningCounts { notes: 5, repairs: 1, warnings: 1 }, Severity::Warning),
        ] {
            let entry = crate::Warning::not_listed(counts).expect("an entry");
            assert_eq!(Severity::from_code(&entry.code), severity);
            assert!(entry.message.contains(&counts.to_string()), "{}", entry.message);
        }
        assert_eq!(crate::Warning::not_listed(WarningCounts::default()), None);
    }
}
