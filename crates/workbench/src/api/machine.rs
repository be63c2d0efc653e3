//! What a machine has for runs: images, keys, leftovers.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::KeyPlace;

/// The images that Stamina Lab knows, and the engine that holds them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ImageList {
    /// `Docker 26.1.5 on unix:///var/run/docker.sock`; `None` = none answers.
    pub engine: Option<String>,
    /// Why none answers and what to do.
    pub problem: Option<String>,
    /// In the order in which they are built.
    pub images: Vec<ImageInfo>,
}

/// An image.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ImageInfo {
    /// As `build_images` takes it: `mini-swe-agent`.
    pub name: String,
    /// `stamina/mini-swe-agent:2.4.6`.
    pub image: String,
    /// Harnesses (words) that run in it by default.
    pub harnesses: Vec<String>,
    /// Whether it is there; `None` = no engine answers.
    pub built: Option<bool>,
    /// Whether it was built from the recipe as it is now; `None` = it is not there.
    pub current: Option<bool>,
    /// `sha256:91c2…`, in full.
    pub id: Option<String>,
    /// Bytes, with all that it shares with others.
    pub size: Option<u64>,
    /// RFC 3339.
    pub created_at: Option<String>,
}

/// Builds images in the background.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct BuildImages {
    /// Names; empty = all. What they stand on is built first.
    pub names: Vec<String>,
    /// A file of certificates that the build trusts, for machines behind a proxy that inspects TLS.
    pub ca: Option<String>,
}

/// Tries images in the background: each harness says its version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct TestImages {
    /// Names; empty = all that are built.
    pub names: Vec<String>,
    /// A harness, or the path of a harness file, that is to be played in these images, which are one's own.
    pub harness: Option<String>,
}

/// How a build or test of an image came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImageOutcome {
    /// Name.
    pub name: String,
    /// Whether it is good.
    pub ok: bool,
    /// What it said: its version, its size, or what went wrong.
    pub message: String,
}

/// Names a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct KeyName {
    /// Where.
    pub place: KeyPlace,
    /// Name of the variable or keychain entry.
    pub name: String,
}

/// Puts a key into the OS keychain. It never comes back.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct StoreKey {
    /// Name of the entry.
    pub name: String,
    /// The key; empty = the entry is deleted.
    pub key: String,
}

impl std::fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreKey").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Whether a key is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct KeyStatus {
    /// `None` = the keychain cannot be asked.
    pub known: Option<bool>,
    /// Why it cannot be asked, and what to do.
    pub problem: Option<String>,
}

/// Containers, networks and volumes that carry our labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LeftoverList {
    /// `None` = no engine answers.
    pub engine: Option<String>,
    /// Why none answers and what to do.
    pub problem: Option<String>,
    /// All of them.
    pub leftovers: Vec<LeftoverInfo>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LeftoverInfo {
    /// `container`, `network` or `volume`.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Which run made it.
    pub run: String,
    /// Whether the process that made it still lives.
    pub in_use: bool,
}

/// Removes leftovers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct CleanLeftovers {
    /// Those of living runs, too.
    pub all: bool,
}
