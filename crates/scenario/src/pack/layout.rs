//! The layout of a pack: its version, and where things lie in it.

use strum::VariantArray;

/// The version of what is generated; first key of the manifest.
pub const PACK_VERSION: &str = "stamina-pack/7";

/// Earlier versions that are read as well: their files have the same form, and their texts and schemas other words.
pub const EARLIER_VERSIONS: [&str; 4] =
    ["stamina-pack/3", "stamina-pack/4", "stamina-pack/5", "stamina-pack/6"];

/// The manifest, at the root.
pub const MANIFEST: &str = "manifest.json";

/// Folders that Python leaves where tests are run: no part of a pack, and no fault of one.
pub(super) const LEFT_BY_PYTHON: [&str; 2] = ["__pycache__", ".pytest_cache"];

/// The folder of a scenario (from 0).
pub fn folder(scenario: u32) -> String {
    format!("scenario_{scenario}")
}

/// The number of a folder `scenario_N`, written without leading zeros.
pub fn number(folder: &str) -> Option<u32> {
    let number = folder.strip_prefix("scenario_")?;
    let plain = number == "0" || (!number.starts_with('0') && number.bytes().all(|b| b.is_ascii_digit()));
    plain.then(|| number.parse().ok()).flatten()
}

/// A file of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray)]
pub enum Part {
    /// The schema.
    Schema,
    /// The typed changes that led to it; not at turn 1.
    Changes,
    /// The request.
    Request,
    /// The full current specification.
    Specification,
    /// The suite as data.
    Suite,
    /// The suite as pytest.
    Pytest,
    /// The reference as a Flask server.
    Flask,
    /// What a model answered; only where one was asked.
    Answers,
}

impl Part {
    /// In the order in which they are written and hashed.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Folder and ending.
    fn place(self) -> (&'static str, &'static str) {
        match self {
            Self::Schema => ("schemas", "yaml"),
            Self::Changes => ("changes", "yaml"),
            Self::Request => ("changes", "md"),
            Self::Specification => ("specs", "md"),
            Self::Suite => ("test_suites", "json"),
            Self::Pytest => ("test_suites", "py"),
            Self::Flask => ("ground_truth", "py"),
            Self::Answers => ("answers", "json"),
        }
    }

    /// The folder, relative to the scenario's.
    pub fn folder(self) -> &'static str {
        self.place().0
    }

    /// The file of a turn (from 1), relative to the scenario's folder: `schemas/turn_3.yaml`.
    pub fn path(self, turn: u32) -> String {
        let (folder, ending) = self.place();
        format!("{folder}/turn_{turn}.{ending}")
    }

    /// Which file of which turn (from 1) is at a path relative to the scenario's folder; none for any other.
    pub(super) fn from_path(path: &str) -> Option<(Self, u32)> {
        let turn = path.split_once("/turn_")?.1.split('.').next()?.parse().ok()?;
        let part = Self::ALL.iter().copied().find(|part| part.path(turn) == path)?;
        (turn >= 1).then_some((part, turn))
    }

    /// Whether every turn has it.
    pub fn is_required(self, turn: u32) -> bool {
        match self {
            Self::Changes => turn > 1,
            Self::Answers => false,
            _ => true,
        }
    }

    /// Most bytes that are read of it.
    pub(super) fn cap(self) -> u64 {
        match self {
            Self::Schema | Self::Changes => 8 << 20,
            // The largest suite of a scenario of 1000 turns has 1.2 MB.
            Self::Request | Self::Specification | Self::Suite => 16 << 20,
            Self::Pytest | Self::Flask | Self::Answers => 32 << 20,
        }
    }
}
