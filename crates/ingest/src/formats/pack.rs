//! Scenario packs: what `stamina generate` writes. No results are in them, so they give no runs; the app shows their
//! scenarios on a page of its own.
//!
//! ```text
//! <place>/
//!   manifest.json      {format: "stamina-pack/7", …, scenarios: [{folder, title, turns, …}]}
//!   scenario_N/        schemas, changes, specifications, suites, reference servers
//! ```

use std::fmt;

use model::{Artifact, Transcript, Warning};

use files::{ReadError, Tree, join};
use serde::de::{Error as _, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::format_trait::{Format, Part, PartReader, Reading, Report, Sniff, Survey};

const MANIFEST: &str = "manifest.json";
/// The largest manifest: that of 1000 × 1000 turns has 76 MB of hashes.
const MANIFEST_CAP: u64 = 96 << 20;
/// Most scenarios of a pack: none is generated with more.
const SCENARIOS_CAP: usize = 1000;
/// Most bytes of the name of a folder (`scenario_999`); no folder has a longer one.
const NAME_CAP: usize = 255;
/// The format of a manifest is its first key.
const HEAD: u64 = 256;
/// The formats that are read.
const VERSIONS: [&str; 5] =
    ["stamina-pack/7", "stamina-pack/6", "stamina-pack/5", "stamina-pack/4", "stamina-pack/3"];

/// A scenario pack.
#[derive(Debug, Clone, Copy)]
pub struct Pack;

/// The parts of a manifest that are imported.
#[derive(Deserialize)]
struct Manifest {
    format: String,
    #[serde(deserialize_with = "scenarios")]
    scenarios: Vec<Scenario>,
}

/// Scenarios; one too many ends it. Millions of them would be looked for one by one.
fn scenarios<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Scenario>, D::Error> {
    struct Scenarios;
    impl<'de> Visitor<'de> for Scenarios {
        type Value = Vec<Scenario>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of scenarios")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<Scenario>, A::Error> {
            let mut scenarios = Vec::new();
            while scenarios.len() < SCENARIOS_CAP {
                let Some(scenario) = items.next_element()? else { return Ok(scenarios) };
                scenarios.push(scenario);
            }
            match items.next_element::<IgnoredAny>()? {
                Some(_) => Err(A::Error::custom(format!("a pack has at most {SCENARIOS_CAP} scenarios"))),
                None => Ok(scenarios),
            }
        }
    }
    deserializer.deserialize_seq(Scenarios)
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
        "manifest.json with format stamina-pack/7"
    }

    fn sniff(&self, tree: &Tree, folder: &str) -> Sniff {
        let path = join(folder, MANIFEST);
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

    fn survey(&self, tree: &Tree, place_folder: &str, report: &mut Report) -> Survey {
        let path = join(place_folder, MANIFEST);
        match tree.read_json::<Manifest>(&path, MANIFEST_CAP) {
            Ok(manifest) => {
                report.files_read += 1;
                if !VERSIONS.contains(&manifest.format.as_str()) {
                    report.warn(Warning::skipped(
                        path,
                        "pack.version",
                        format!(
                            "The pack is of another format than {}; its scenarios are not shown.",
                            VERSIONS.join(", ")
                        ),
                    ));
                    return Survey::default();
                }
                let missing: Vec<&str> = manifest
                    .scenarios
                    .iter()
                    .map(|scenario| scenario.folder.as_str())
                    .filter(|folder| {
                        folder.len() > NAME_CAP
                            || !tree.entry(&join(place_folder, folder)).is_some_and(|entry| entry.is_folder())
                    })
                    .collect();
                if let Some(first) = missing.first() {
                    report.warn(Warning::skipped(
                        if first.len() > NAME_CAP { path } else { join(place_folder, first) },
                        "pack.scenario_missing",
                        format!(
                            "The manifest names {}, {} of them without a folder.",
                            model::counted(manifest.scenarios.len() as u64, "scenario"),
                            missing.len()
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
            message: "A scenario pack holds no transcripts".to_owned(),
        })
    }
}
