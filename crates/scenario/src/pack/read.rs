//! Reading a pack, in place and only what is asked for.

use std::collections::BTreeMap;
use std::path::Path;

use files::{EntryKind, ReadError, Tree, join};
use serde::de::DeserializeOwned;

use super::layout::{LEFT_BY_PYTHON, MANIFEST, Part};
use super::manifest::{Manifest, ScenarioEntry, TurnHash};
use super::turn_maker::{CHANGES_VERSION, TurnChanges};
use super::{Mismatch, PackError, yaml};
use crate::check::check;
use crate::ir::{SCHEMA_VERSION, Schema};
use crate::sample::{Answer, Origin};
use crate::suite::{Suite, SuiteFile};

/// The largest manifest: that of 1000 × 1000 turns has 76 MB of hashes. What one of fewer turns may have is checked
/// before it is taken in.
const MANIFEST_CAP: u64 = 96 << 20;

/// Most bytes of the files of earlier turns that a suite is read from, which are in memory at once: five times what the largest
/// suite of a scenario of 1000 turns refers to (6 MB).
const SUITE_FILES_CAP: u64 = 32 << 20;

/// An opened pack. Everything in it may be hostile: sizes are bounded, YAML has a budget, schemas are checked before
/// anything interprets them.
#[derive(Debug)]
pub struct Pack {
    tree: Tree,
    /// Folder of the manifest.
    root: String,
    manifest: Manifest,
}

impl Pack {
    /// Opens the pack at a path of the system. What is neither a folder nor a zip is no pack.
    pub fn open_path(path: &Path) -> Result<Self, PackError> {
        match Tree::open(path) {
            Ok(tree) => Self::open(tree),
            Err(ReadError::Malformed { message, .. }) => Err(PackError::NotAPack(message)),
            Err(error) => Err(PackError::Read { path: path.display().to_string(), error }),
        }
    }

    /// Opens the pack of a folder or zip: its manifest is at the root, or in the only folder there.
    pub fn open(tree: Tree) -> Result<Self, PackError> {
        let root = if tree.entry(MANIFEST).is_some() {
            String::new()
        } else {
            match tree.list("").as_slice() {
                [only] if only.kind == EntryKind::Folder => only.name.clone(),
                _ => String::new(),
            }
        };
        Self::open_at(tree, &root)
    }

    /// Opens the pack whose manifest is in a folder of a tree.
    pub fn open_at(tree: Tree, root: &str) -> Result<Self, PackError> {
        let path = join(root, MANIFEST);
        if tree.entry(&path).is_none() {
            return Err(match left_out(&tree, &path) {
                Some(problem) => PackError::Content { path, problem },
                None => PackError::NotAPack(format!("there is no {MANIFEST}")),
            });
        }
        let bytes =
            tree.read(&path, MANIFEST_CAP).map_err(|error| PackError::Read { path: path.clone(), error })?;
        let manifest = Manifest::from_json(&bytes, &path)?;
        Ok(Self { tree, root: root.to_owned(), manifest })
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The scenarios, in order.
    pub fn scenarios(&self) -> &[ScenarioEntry] {
        &self.manifest.scenarios
    }

    /// The folder or zip.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The path of a part of a turn, relative to the folder or zip. Scenarios count from 0, turns from 1.
    ///
    /// Errors: the pack has no such scenario or turn.
    pub fn path(&self, scenario: u32, turn: u32, part: Part) -> Result<String, PackError> {
        let Some(entry) = self.manifest.scenarios.get(scenario as usize) else {
            return Err(PackError::NoSuch(format!(
                "There is no scenario {scenario}: the pack has {}, counted from 0",
                self.manifest.scenarios.len()
            )));
        };
        if turn == 0 || turn > entry.turns {
            return Err(PackError::NoSuch(format!(
                "There is no turn {turn}: scenario {scenario} has {}, counted from 1",
                entry.turns
            )));
        }
        Ok(join(&join(&self.root, &entry.folder), &part.path(turn)))
    }

    fn bytes(&self, scenario: u32, turn: u32, part: Part) -> Result<(String, Vec<u8>), PackError> {
        let path = self.path(scenario, turn, part)?;
        match self.tree.read(&path, part.cap()) {
            Ok(bytes) => Ok((path, bytes)),
            Err(error) => match left_out(&self.tree, &path) {
                Some(problem) if matches!(error, ReadError::Missing) => {
                    Err(PackError::Content { path, problem })
                }
                _ => Err(PackError::Read { path, error }),
            },
        }
    }

    /// The text of a part.
    pub fn text(&self, scenario: u32, turn: u32, part: Part) -> Result<String, PackError> {
        let (path, bytes) = self.bytes(scenario, turn, part)?;
        String::from_utf8(bytes)
            .map_err(|_| PackError::Content { path, problem: "The file is not UTF-8".to_owned() })
    }

    fn yaml<T: DeserializeOwned>(
        &self,
        scenario: u32,
        turn: u32,
        part: Part,
    ) -> Result<(String, T), PackError> {
        let path = self.path(scenario, turn, part)?;
        let text = self.text(scenario, turn, part)?;
        match yaml::from_str(&text) {
            Ok(value) => Ok((path, value)),
            Err(problem) => Err(PackError::Content { path, problem }),
        }
    }

    fn json<T: DeserializeOwned>(
        &self,
        scenario: u32,
        turn: u32,
        part: Part,
    ) -> Result<(String, T), PackError> {
        let (path, bytes) = self.bytes(scenario, turn, part)?;
        match serde_json::from_slice(&bytes) {
            Ok(value) => Ok((path, value)),
            Err(error) => Err(PackError::Read { path, error: files::json_error(error, Some(&bytes)) }),
        }
    }

    /// The schema of a turn, valid by every rule.
    pub fn schema(&self, scenario: u32, turn: u32) -> Result<Schema, PackError> {
        let (path, schema): (_, Schema) = self.yaml(scenario, turn, Part::Schema)?;
        let content = |problem: String| PackError::Content { path: path.clone(), problem };
        if schema.version != SCHEMA_VERSION {
            return Err(content(format!("Its version is not {SCHEMA_VERSION}")));
        }
        if schema.turn != turn {
            return Err(content(format!("It says that it is of turn {}", schema.turn)));
        }
        match check(&schema).first() {
            None => Ok(schema),
            Some(fault) => Err(content(format!("{}: {}", fault.location, fault.message))),
        }
    }

    /// The changes that led to a turn; nothing at turn 1.
    pub fn changes(&self, scenario: u32, turn: u32) -> Result<Option<TurnChanges>, PackError> {
        if turn == 1 {
            return self.path(scenario, turn, Part::Changes).map(|_| None);
        }
        let (path, changes): (_, TurnChanges) = self.yaml(scenario, turn, Part::Changes)?;
        if changes.version != CHANGES_VERSION || changes.turn != turn {
            let problem = format!("It is not of the version {CHANGES_VERSION} or not of turn {turn}");
            return Err(PackError::Content { path, problem });
        }
        Ok(Some(changes))
    }

    /// The request of a turn.
    pub fn request(&self, scenario: u32, turn: u32) -> Result<String, PackError> {
        self.text(scenario, turn, Part::Request)
    }

    /// The full specification at a turn.
    pub fn specification(&self, scenario: u32, turn: u32) -> Result<String, PackError> {
        self.text(scenario, turn, Part::Specification)
    }

    /// The suite of a turn, with the cases that files of earlier turns write.
    pub fn suite(&self, scenario: u32, turn: u32) -> Result<Suite, PackError> {
        let (path, text) = self.bytes(scenario, turn, Part::Suite)?;
        let content = |problem: String| PackError::Content { path: path.clone(), problem };
        let file = SuiteFile::read(&text).map_err(content)?;
        if file.turn() != turn {
            return Err(content(format!("It says that it is of turn {}", file.turn())));
        }
        let mut earlier = BTreeMap::new();
        let mut room = SUITE_FILES_CAP;
        for other in file.refers_to().iter().copied().take_while(|other| *other < turn) {
            let (_, text) = self.bytes(scenario, other, Part::Suite)?;
            let left = room.checked_sub(text.len() as u64);
            room = left
                .ok_or_else(|| content(format!("It refers to files of more than {SUITE_FILES_CAP} bytes")))?;
            earlier.insert(other, text);
        }
        file.suite(&earlier).map_err(|problem| {
            // Where a file of an earlier turn is what is damaged, that one is named.
            earlier
                .iter()
                .find_map(|(&other, text)| {
                    let problem = SuiteFile::read(text).err()?;
                    let path = self.path(scenario, other, Part::Suite).ok()?;
                    Some(PackError::Content { path, problem })
                })
                .unwrap_or_else(|| content(problem))
        })
    }

    /// What a model answered at a turn; empty where none was asked.
    pub fn answers(&self, scenario: u32, turn: u32) -> Result<Vec<Answer>, PackError> {
        let path = self.path(scenario, turn, Part::Answers)?;
        if self.tree.entry(&path).is_none() {
            return Ok(Vec::new());
        }
        self.json(scenario, turn, Part::Answers).map(|(_, answers)| answers)
    }

    /// Reads all of a scenario and holds it against the manifest's hashes. What could not be read is a mismatch too, and
    /// so is a file that the pack should not have. Nothing for a scenario that the pack has not; what was found so far
    /// where `stop` says that it is to end.
    pub fn verify_scenario(&self, scenario: u32, stop: &dyn Fn() -> bool) -> Vec<Mismatch> {
        let mut found = Vec::new();
        let Some(entry) = self.manifest.scenarios.get(scenario as usize) else { return found };
        let folder = join(&self.root, &entry.folder);
        for turn in 1..=entry.turns {
            if stop() {
                return found;
            }
            found.extend(self.verify_turn(scenario, turn));
        }
        let mut folders: Vec<&str> = Part::ALL.iter().map(|part| part.folder()).collect();
        folders.dedup();
        for entry_here in self.tree.list(&folder) {
            if !folders.contains(&entry_here.name.as_str()) {
                found.push(stray_file(&join(&folder, &entry_here.name)));
            }
        }
        for name in folders {
            let inner = join(&folder, name);
            for file in self.tree.list(&inner) {
                if name == Part::Suite.folder() && file.is_folder() && LEFT_BY_PYTHON.contains(&&*file.name) {
                    continue;
                }
                let path = format!("{name}/{}", file.name);
                let known = Part::from_path(&path).is_some_and(|(_, turn)| turn <= entry.turns);
                if !known {
                    found.push(stray_file(&join(&folder, &path)));
                }
            }
        }
        found
    }

    /// Reads all files of a turn and holds them against the manifest's hash: what is wrong with it, if anything is.
    pub fn verify_turn(&self, scenario: u32, turn: u32) -> Option<Mismatch> {
        let location = || format!("{}, turn {turn}", super::folder(scenario));
        let stated = self.manifest.scenarios.get(scenario as usize);
        let stated = stated.and_then(|entry| entry.turn_sha256.get((turn as usize).wrapping_sub(1)));
        match self.turn_hash(scenario, turn) {
            Ok(hash) if Some(&hash) == stated => self
                .origins_misstated(scenario, turn)
                .map(|problem| Mismatch { at: location(), what: problem }),
            Ok(_) => Some(Mismatch {
                at: location(),
                what: "The content has another hash than the manifest states".to_owned(),
            }),
            Err(error) => Some(
                error.damage().unwrap_or_else(|error| Mismatch { at: location(), what: error.to_string() }),
            ),
        }
    }

    /// In which way the manifest's numbers of parts by a model are not those of the turn; no hash is over them.
    fn origins_misstated(&self, scenario: u32, turn: u32) -> Option<String> {
        let entry = self.manifest.scenarios.get(scenario as usize)?;
        let index = (turn as usize).wrapping_sub(1);
        let (sampled, fallback) = (entry.sampled.get(index)?, entry.fallback.get(index)?);
        let changes = self.changes(scenario, turn).ok()?;
        let parts = |origin: Origin| match &changes {
            None => u32::from(entry.origin == origin),
            Some(changes) => changes.changes.iter().filter(|change| change.origin == origin).count() as u32,
        };
        let (model, seed) = (parts(Origin::Model), parts(Origin::Replaced));
        ((*sampled, *fallback) != (model, seed)).then(|| {
            format!(
                "The manifest states {sampled} parts by a model and {fallback} by the seed instead; the turn has {model} \
                 and {seed}"
            )
        })
    }

    /// Changes when [`Pack::verify_turn`] may come to something else: from sizes and times of its files (in a zip their
    /// checksums), which are checked and not read. `None` where a file is missing.
    pub fn turn_stamp(&self, scenario: u32, turn: u32) -> Option<u64> {
        let stated = self
            .manifest
            .scenarios
            .get(scenario as usize)?
            .turn_sha256
            .get((turn as usize).wrapping_sub(1))?;
        let mut stamp = files::Stamp::new().text(stated);
        for &part in Part::ALL {
            let path = self.path(scenario, turn, part).ok()?;
            match self.tree.entry(&path) {
                Some(entry) => stamp = stamp.text(&path).number(entry.stamp),
                None if part.is_required(turn) => return None,
                None => {}
            }
        }
        Some(stamp.finish())
    }

    fn turn_hash(&self, scenario: u32, turn: u32) -> Result<String, PackError> {
        let mut hash = TurnHash::new();
        for &part in Part::ALL {
            let path = self.path(scenario, turn, part)?;
            if !part.is_required(turn) && self.tree.entry(&path).is_none() {
                continue;
            }
            let (_, bytes) = self.bytes(scenario, turn, part)?;
            hash.add(&part.path(turn), &bytes);
        }
        Ok(hash.finish())
    }
}

/// Why a file was left out of a hostile or damaged tree, if it was: it is not simply missing then.
fn left_out(tree: &Tree, path: &str) -> Option<String> {
    tree.warnings().into_iter().find(|warning| warning.path == path).map(|warning| warning.message)
}

fn stray_file(path: &str) -> Mismatch {
    Mismatch { at: path.to_owned(), what: "The pack has no such file".to_owned() }
}
