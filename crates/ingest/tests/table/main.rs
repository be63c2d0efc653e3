//! Tidy tables: CSV, JSON Lines and Parquet, as others write them.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "helpers of tests; figures are copied, not computed"
)]

mod parquet_files;
mod rows;
mod values;
mod written;

use std::fs;

use files::Tree;
use ingest::discover::discover;
use ingest::format_trait::{Format, Report};
use ingest::formats::table::TidyTable;
use model::{Episode, Run, Verdict};

const HEADER: &str = "run,harness,model,scenario,turn,attempt,passed";

struct Read {
    runs: Vec<Run>,
    episodes: Vec<(String, Episode)>,
    parts: usize,
    report: Report,
}

fn read(tree: &Tree, folder: &str) -> Read {
    let mut report = Report::default();
    let survey = TidyTable.survey(tree, folder, &mut report);
    let mut episodes = Vec::new();
    let reader = TidyTable.reader(tree, folder);
    for part in &survey.parts {
        let readings = reader.read(tree, part, &mut report);
        episodes.extend(readings.into_iter().map(|reading| (reading.run, reading.episode)));
    }
    Read { runs: survey.runs, episodes, parts: survey.parts.len(), report }
}

/// A folder with one table of this text.
fn folder(name: &str, text: impl AsRef<[u8]>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

fn table(name: &str, text: impl AsRef<[u8]>) -> Read {
    let folder = folder(name, text);
    let tree = Tree::open(folder.path()).unwrap();
    let found = discover(&tree).unwrap();
    assert_eq!(found.by_format().iter().map(|format| format.id).collect::<Vec<_>>(), ["table"]);
    read(&tree, "")
}

impl Read {
    /// Code and message of every warning.
    fn warnings(&self) -> Vec<(&str, &str)> {
        self.report.warnings.iter().map(|w| (w.code.as_str(), w.message.as_str())).collect()
    }
    fn codes(&self) -> Vec<&str> {
        self.report.warnings.iter().map(|w| w.code.as_str()).collect()
    }
    fn episode(&self, run: &str, scenario: &str) -> &Episode {
        &self
            .episodes
            .iter()
            .find(|(attempt_of, episode)| attempt_of == run && episode.scenario == scenario)
            .unwrap()
            .1
    }
    /// Turn, attempt, verdict.
    fn verdicts(&self, run: &str, scenario: &str) -> Vec<(u32, u32, Verdict)> {
        let turns = self.episode(run, scenario).turns.iter();
        turns.flat_map(|turn| turn.attempts.iter().map(|a| (turn.number, a.number, a.verdict))).collect()
    }
}
