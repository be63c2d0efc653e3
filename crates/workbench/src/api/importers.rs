//! Importers of others: which there are, and opening a source with one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Whether a program can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ImporterState {
    /// It is an executable file.
    Ready,
    /// No file lies at its path.
    Missing,
    /// What lies at its path is no file, or cannot be executed.
    NotExecutable,
    /// Its file system does not answer.
    NoAnswer,
}

/// A program that makes a tidy table of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImporterInfo {
    /// The name that `--with` takes: that of its file without `stamina-import-`.
    pub name: String,
    /// Absolute path of what is executed.
    pub path: String,
    /// Whether the settings name it; otherwise it is on the `PATH`.
    pub in_settings: bool,
    /// Whether it can be run.
    pub state: ImporterState,
}

/// The importers that there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImporterList {
    /// By name.
    pub importers: Vec<ImporterInfo>,
    /// The file with those of the settings.
    pub path: String,
}

/// Adds importers to the settings, or removes them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct SetImporters {
    /// Absolute paths of executable files.
    pub add: Vec<String>,
    /// Names of importers of the settings; their files stay.
    pub remove: Vec<String>,
}

/// Asks what an importer would get of a folder or zip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImporterArgumentRequest {
    /// A path, as it is entered.
    pub path: String,
}

/// What an importer would get of a folder or zip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImporterArgument {
    /// The path, as it was entered.
    pub asked: String,
    /// The path to which all links lead; `None` = nothing is there, or its file system does not answer.
    pub real: Option<String>,
}

/// Runs an importer on a folder or zip, and opens the table that it makes. Answers when the importer has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OpenWithImporter {
    /// Absolute path of the folder or zip.
    pub path: String,
    /// The path of an importer of the list, which is executed.
    pub importer: String,
    /// Names of the columns in its table by their names in a tidy table, where they differ.
    pub columns: BTreeMap<String, String>,
}
