//! Scenario packs: what `stamina generate` writes. No results are in them, so they give no runs; the app shows their
//! scenarios on a page of its own.
//!
//! ```text
//! <place>/
//!   manifest.json      {format: "stamina-pack/4", …, scenarios: [{folder, title, turns, …}]}
//!   scenario_N/        schemas, changes, specifications, suites, reference servers
//! ```

use model::{Artifact, Transcript, Warning};

use files::{ReadError, Tree, join};
use serde::Deserialize;

use crate::format::{Format, Part, PartReader, Reading, Report, Sniff, Survey};

const MANIFEST: &str = "manifest.json";
const MANIFEST_CAP: u64 = 128 << 20;
/// The format of a manifest is its first key.
const HEAD: u64 = 256;
/// The formats that are read.
const VERSIONS: [&str; 2] = ["stamina-pack/4", "stamina-pack/3"];

/// A scenario pack.
#[derive(Debug, Clone, Copy)]
pub struct Pack;

/// The parts of a manifest that are imported.
#[derive(Deserialize)]
struct Manifest {
    format: String,
    scenarios: Vec<Scenario>,
}

#[derive(Deserialize)]
struct Scenario {
    folder: String,
}

impl PartReader for Pack {
    /// Its scenarios are no episodes.
    fn read(&self, _: &Tree, _: &Part, _: &mut Report) -> Vec<Reading> {
        Vec::new()
    }
}

impl Format for Pack {
    fn id(&self) -> &'static str {
        "pack"
    }

    fn name(&self) -> &'static str {
        "Scenario pack"
    }

    fn looked_for(&self) -> &'static str {
        "manifest.json with format stamina-pack/4"
    }

    fn sniff(&self, tree: &Tree, at: &str) -> Sniff {
        let path = join(at, MANIFEST);
        if tree.entry(&path).is_none_or(|entry| entry.is_folder()) {
            return Sniff::Not { found: "none".to_owned(), closeness: 0 };
        }
        let Ok((head, _)) = tree.read_range(&path, 0, HEAD) else {
            return Sniff::Not { found: "a manifest.json that cannot be read".to_owned(), closeness: 10 };
        };
        if String::from_utf8_lossy(&head).contains("\"stamina-pack/") {
            Sniff::Recognized
        } else {
            Sniff::Not { found: "manifest.json of another format".to_owned(), closeness: 5 }
        }
    }

    fn survey(&self, tree: &Tree, at: &str, report: &mut Report) -> Survey {
        let path = join(at, MANIFEST);
        match tree.read_json::<Manifest>(&path, MANIFEST_CAP) {
            Ok(manifest) => {
                report.files_read += 1;
                if !VERSIONS.contains(&manifest.format.as_str()) {
                    report.warn(Warning::skipped(
                        path,
                        "pack.version",
                        format!(
                            "The pack is of another format than {}; its scenarios are not shown.",
                            VERSIONS.join(" and ")
                        ),
                    ));
                    return Survey::default();
                }
                let missing: Vec<&str> = manifest
                    .scenarios
                    .iter()
                    .map(|scenario| scenario.folder.as_str())
                    .filter(|folder| !tree.entry(&join(at, folder)).is_some_and(|entry| entry.is_folder()))
                    .collect();
                if let Some(first) = missing.first() {
                    report.warn(Warning::skipped(
                        join(at, first),
                        "pack.scenario_missing",
                        format!(
                            "{} of {} scenarios that the manifest names have no folder.",
                            missing.len(),
                            manifest.scenarios.len()
                        ),
                    ));
                }
            }
            Err(error) => report.unreadable(&path, &error, "The scenarios of the pack are not shown."),
        }
        Survey::default()
    }

    fn reader(&self, _: &Tree, _: &str) -> Box<dyn PartReader> {
        Box::new(Self)
    }

    fn transcript(&self, _: &Tree, _: &Artifact) -> Result<Transcript, ReadError> {
        Err(ReadError::Malformed {
            code: "transcript.none",
            what: "A scenario pack holds no transcripts".to_owned(),
        })
    }
}
