//! The manifest: what a pack is, and the hashes of what it holds.

use std::fmt;

use model::counted;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};

use super::PackError;
use super::layout::{EARLIER_VERSIONS, PACK_VERSION, folder};
use crate::config::Generation;
use crate::sample::Origin;

/// `manifest.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`PACK_VERSION`] or one of [`EARLIER_VERSIONS`].
    pub format: String,
    /// What wrote it.
    pub generator: Generator,
    /// `base_seed`.
    pub seed: u64,
    /// What chose schemas and changes.
    pub sampler: SampledBy,
    /// What decided about the bytes.
    pub config: Generation,
    /// Over everything but the manifest.
    pub sha256: String,
    /// Bytes of all files but the manifest.
    pub bytes: u64,
    /// In order.
    pub scenarios: Vec<ScenarioEntry>,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generator {
    /// `stamina`.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Generator {
    /// This program.
    pub fn current() -> Self {
        Self { name: "stamina".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// A sampler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledBy {
    /// `programmatic` or `llm`.
    pub name: String,
    /// The model that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A scenario of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioEntry {
    /// `scenario_0`.
    pub folder: String,
    /// Title of its first schema.
    pub title: String,
    /// Domain topic of its vocabulary.
    pub topic: String,
    /// Where its first schema comes from; not written for the programmatic sampler.
    #[serde(default, skip_serializing_if = "Origin::is_programmatic")]
    pub origin: Origin,
    /// Turns.
    pub turns: u32,
    /// How many parts of each turn a model made: of turn 1 its first schema, of later ones their changes. Empty, and not
    /// written, where no model was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sampled: Vec<u32>,
    /// How many parts of each turn were generated from the seed instead, because all answers of the model were refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<u32>,
    /// Over the hashes of its turns.
    pub sha256: String,
    /// Of each turn, from turn 1: over path, length and content of its files.
    #[serde(deserialize_with = "hashes")]
    pub turn_sha256: Vec<String>,
}

impl ScenarioEntry {
    /// The hash over its turns, in a pack of a version.
    pub(super) fn hash(format: &str, folder: &str, turns: &[String]) -> String {
        let mut hash = Sha256::new();
        hash.update(format);
        for line in std::iter::once(folder).chain(turns.iter().map(String::as_str)) {
            hash.update("\n");
            hash.update(line);
        }
        hex(&hash.finalize())
    }
}

/// Hashes; the first that is none ends it, so that a list of millions of short ones takes no memory.
fn hashes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Hashes;
    impl<'de> Visitor<'de> for Hashes {
        type Value = Vec<String>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of hashes")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<String>, A::Error> {
            let mut hashes = Vec::new();
            while let Some(hash) = items.next_element::<String>()? {
                if hash.len() != 64 {
                    return Err(A::Error::custom("a hash has 64 digits"));
                }
                hashes.push(hash);
            }
            Ok(hashes)
        }
    }
    deserializer.deserialize_seq(Hashes)
}

/// The field by which a manifest is recognized.
#[derive(Deserialize)]
struct Head {
    format: String,
}

/// What says how large a manifest may be.
#[derive(Deserialize)]
struct Extent {
    config: Generation,
}

impl Extent {
    /// Most bytes of its manifest: three lines for each turn, an entry for each scenario, and the rest.
    fn cap(&self) -> u64 {
        let scenarios = u64::from(self.config.n_scenarios);
        scenarios * (u64::from(self.config.n_turns) * 130 + 1000) + (1 << 20)
    }
}

impl Manifest {
    /// The hash over all scenarios, in a pack of a version.
    pub(super) fn hash(format: &str, scenarios: &[ScenarioEntry]) -> String {
        let mut hash = Sha256::new();
        hash.update(format);
        for scenario in scenarios {
            hash.update("\n");
            hash.update(&scenario.sha256);
        }
        hex(&hash.finalize())
    }

    /// Reads a manifest and holds it against itself: ranges, names, hashes over hashes.
    ///
    /// Errors: it is no JSON, another version, or contradicts itself.
    pub fn from_json(bytes: &[u8], path: &str) -> Result<Self, PackError> {
        let content = |problem: String| PackError::Content { path: path.to_owned(), problem };
        let head: Head = serde_json::from_slice(bytes).map_err(|error| {
            // It may be any file, and an error of its data repeats some of it.
            let reason = if error.is_data() { "it states no format".to_owned() } else { error.to_string() };
            PackError::NotAPack(format!("{path} is no manifest of one: {reason}"))
        })?;
        if head.format != PACK_VERSION && !EARLIER_VERSIONS.contains(&head.format.as_str()) {
            return Err(if head.format.starts_with("stamina-pack/") {
                PackError::Version(head.format.chars().take(40).collect())
            } else {
                PackError::NotAPack(format!("the format that {path} states is another"))
            });
        }
        let extent: Extent = serde_json::from_slice(bytes).map_err(|error| content(error.to_string()))?;
        extent.config.check()?;
        if bytes.len() as u64 > extent.cap() {
            return Err(content(format!("{} bytes are more than its config needs", bytes.len())));
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| content(error.to_string()))?;
        if manifest.config.n_scenarios as usize != manifest.scenarios.len() {
            return Err(content(format!(
                "It lists {}, and its config says {}",
                counted(manifest.scenarios.len() as u64, "scenario"),
                manifest.config.n_scenarios
            )));
        }
        for (index, scenario) in manifest.scenarios.iter().enumerate() {
            let name = folder(index as u32);
            let turns = manifest.config.n_turns;
            if scenario.folder != name
                || scenario.turns != turns
                || scenario.turn_sha256.len() != turns as usize
            {
                let turns = counted(turns.into(), "turn");
                return Err(content(format!("Its entry {index} is not that of {name} with {turns}")));
            }
            for (key, counts) in [("sampled", &scenario.sampled), ("fallback", &scenario.fallback)] {
                if !counts.is_empty() && counts.len() != turns as usize {
                    return Err(content(format!(
                        "`{key}` of {name} has {} for {}",
                        counted(counts.len() as u64, "number"),
                        counted(turns.into(), "turn")
                    )));
                }
            }
            if scenario.sha256 != ScenarioEntry::hash(&manifest.format, &name, &scenario.turn_sha256) {
                return Err(content(format!("The hash of {name} is not that of its turns")));
            }
        }
        if manifest.sha256 != Self::hash(&manifest.format, &manifest.scenarios) {
            return Err(content("Its hash is not that of its scenarios".to_owned()));
        }
        Ok(manifest)
    }

    /// As it is written: JSON with a line for each value.
    pub fn to_json(&self) -> String {
        // A manifest has no map with keys other than text and no number that JSON lacks.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// In which ways another pack differs, in sentences; nothing if it has the same content.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.format != other.format {
            found.push(format!("They are of the formats {} and {}", self.format, other.format));
        }
        if self.config != other.config {
            found.push("The settings differ".to_owned());
        }
        if self.sampler != other.sampler {
            found.push("The samplers differ".to_owned());
        }
        if self.generator != other.generator {
            found.push(format!(
                "They were made by {} {} and {} {}",
                self.generator.name, self.generator.version, other.generator.name, other.generator.version
            ));
        }
        if self.sha256 == other.sha256 {
            found.clear();
            return found;
        }
        if self.scenarios.len() != other.scenarios.len() {
            let own = counted(self.scenarios.len() as u64, "scenario");
            found.push(format!("{own} against {}", other.scenarios.len()));
        }
        for (left, right) in self.scenarios.iter().zip(&other.scenarios) {
            let differing: Vec<usize> = (0..left.turn_sha256.len().max(right.turn_sha256.len()))
                .filter(|&turn| left.turn_sha256.get(turn) != right.turn_sha256.get(turn))
                .collect();
            if let Some(first) = differing.first() {
                let turns = counted(left.turns.into(), "turn");
                let turns_differing = match differing.len() {
                    1 => format!("1 of {turns} differs, turn {}", first + 1),
                    more => format!("{more} of {turns} differ, the first is turn {}", first + 1),
                };
                found.push(format!("{}: {turns_differing}", left.folder));
            }
        }
        found
    }
}

/// The hash of a turn while its files are put in.
pub(super) struct TurnHash(Sha256);

impl TurnHash {
    pub(super) fn new() -> Self {
        Self(Sha256::new())
    }

    /// `path` relative to the scenario's folder.
    pub(super) fn add(&mut self, path: &str, content: &[u8]) {
        self.0.update(format!("{path}\n{}\n", content.len()));
        self.0.update(content);
    }

    pub(super) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
        .map(char::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Generator, Manifest, SampledBy, ScenarioEntry};
    use crate::config::Generation;
    use crate::sample::Origin;

    #[test]
    fn one_turn_that_differs_has_no_plural() {
        let with_hashes = |hashes: &[&str]| Manifest {
            format: super::PACK_VERSION.to_owned(),
            generator: Generator { name: "g".to_owned(), version: "1".to_owned() },
            seed: 0,
            sampler: SampledBy { name: "programmatic".to_owned(), model: None },
            config: Generation::default(),
            sha256: hashes.join(" "),
            bytes: 0,
            scenarios: vec![ScenarioEntry {
                folder: "scenario_0".to_owned(),
                title: String::new(),
                topic: String::new(),
                origin: Origin::Programmatic,
                turns: hashes.len() as u32,
                sampled: Vec::new(),
                fallback: Vec::new(),
                sha256: String::new(),
                turn_sha256: hashes.iter().map(|hash| (*hash).to_owned()).collect(),
            }],
        };
        let differences = |left: &[&str], right: &[&str]| with_hashes(left).differences(&with_hashes(right));
        assert_eq!(differences(&["a"], &["b"]), ["scenario_0: 1 of 1 turn differs, turn 1"]);
        assert_eq!(differences(&["a", "b"], &["a", "c"]), ["scenario_0: 1 of 2 turns differs, turn 2"]);
        let two = differences(&["a", "b", "c"], &["a", "x", "y"]);
        assert_eq!(two, ["scenario_0: 2 of 3 turns differ, the first is turn 2"]);
    }

    #[test]
    // docs/security.md: A file that is loaded as settings
    fn nothing_of_a_file_that_is_no_manifest_is_quoted() {
        for text in [
            "\"hunter2\"",
            "{\"hunter2\": 1}",
            "{\"format\": \"hunter2\"}",
            "{\"format\": 1, \"a\": \"hunter2\"}",
            "hunter2",
        ] {
            let error = Manifest::from_json(text.as_bytes(), "m.json").expect_err("it is none").to_string();
            assert!(error.contains("m.json") && !error.contains("hunter2"), "{error}");
        }
    }
}
