//! Which run a folder holds, so that somebody can tell whether it was begun here.
//!
//! What a resume does is decided by the record in the folder: settings, harness, image, episodes. A folder may come from
//! somebody else, so the record alone is no reason to do it. [`Identity`] is a digest over everything of it that decides;
//! whoever began the run keeps the digest where the folder's author cannot write, and compares before a resume.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use sha2::Digest as _;

use crate::agent::harness_choice;
use crate::settings::{self, RunSettings};
use crate::state::{MadeBy, PlannedEpisode, RunFile, RunHarness, RunPaths};
use crate::{RunError, disk};

/// The run in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Id of the run: 8 hex digits.
    pub run: String,
    /// SHA-256 of all that decides what a resume does, and of the folder.
    pub digest: [u8; 32],
}

impl Identity {
    /// The digest as 64 hexadecimal digits.
    pub fn digest_in_hex(&self) -> String {
        hex(&self.digest)
    }
}

/// What decides, in a fixed order.
#[derive(Serialize)]
struct IdentityContent<'a> {
    id: &'a str,
    /// Links resolved: a copy elsewhere is another run.
    folder: String,
    settings: &'a RunSettings,
    harness: &'a RunHarness,
    /// SHA-256 of the file that describes the harness.
    harness_file: Option<String>,
    pack_sha256: &'a Option<String>,
    made_by: &'a Option<MadeBy>,
    episodes: &'a [PlannedEpisode],
}

/// What a folder says of its run, all of one reading: what is shown of it, decided and resumed is the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Which run it is.
    pub identity: Identity,
    /// As it was begun or last resumed.
    pub settings: RunSettings,
    /// The title of its harness.
    pub harness: String,
    /// The image that its agents run in.
    pub image: String,
    /// Scenarios or tasks that it plays, by number, each once.
    pub scenarios: Vec<u32>,
    /// Turns that it plans, of all of them.
    pub turns: u64,
}

/// Reads the record of the run that lies in a folder. Blocks, for at most [`files::deadline::LIMIT`].
pub fn record(folder: &Path) -> Result<Record, RunError> {
    disk::read_within_limit(folder, |folder| {
        let paths = RunPaths::new(folder);
        let run = RunFile::read(&paths)?;
        settings::check_record(&run.settings)?;
        let kept = run.settings.harness_file.as_ref().map(|_| paths.harness_file());
        let harness = harness_choice::load(&run.settings, kept.as_deref())?;
        // What the record calls its harness is not what plays: that goes by the settings.
        let title = harness.title().to_owned();
        let record = begun_record(&paths, &run, harness.text())?;
        // Nor is its image, where a harness is copied into the images of tasks: that is the one of the harness itself.
        let image = if run.settings.tasks.is_some() { harness.image().to_owned() } else { record.image };
        Ok(Record { harness: title, image, ..record })
    })?
}

/// The record of a run as this process holds it; `harness` is the text of the file that describes its harness.
pub(crate) fn begun_record(
    paths: &RunPaths,
    run: &RunFile,
    harness: Option<&str>,
) -> Result<Record, RunError> {
    let scenarios: BTreeSet<u32> = run.episodes.iter().map(|planned| planned.scenario).collect();
    Ok(Record {
        scenarios: scenarios.into_iter().collect(),
        identity: run_identity(paths, run, harness)?,
        settings: run.settings.clone(),
        harness: run.harness.title.clone(),
        image: run.harness.image.clone(),
        turns: run.episodes.iter().map(|planned| u64::from(planned.turns)).sum(),
    })
}

/// The identity of the run that lies in a folder. Blocks.
pub fn identity(folder: &Path) -> Result<Identity, RunError> {
    record(folder).map(|record| record.identity)
}

pub(crate) fn run_identity(
    paths: &RunPaths,
    run: &RunFile,
    harness: Option<&str>,
) -> Result<Identity, RunError> {
    let mut settings = run.settings.clone();
    // The folder stands for it, by whatever way it was named.
    settings.output_dir = std::path::PathBuf::new();
    let decides = IdentityContent {
        id: &run.id,
        folder: paths.results.to_string_lossy().into_owned(),
        settings: &settings,
        harness: &run.harness,
        harness_file: harness.map(|text| hex(&sha2::Sha256::digest(text))),
        pack_sha256: &run.pack_sha256,
        made_by: &run.made_by,
        episodes: &run.episodes,
    };
    let text = serde_json::to_vec(&decides).map_err(|error| disk::error_at(&paths.run_file(), error))?;
    Ok(Identity { run: run.id.clone(), digest: sha2::Sha256::digest(&text).into() })
}

/// Two hexadecimal digits a byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: A resume
    fn a_record_cannot_name_an_image_that_is_not_the_one_that_tasks_get() {
        let room = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(room.path());
        disk::folder(&paths.stamina_folder()).unwrap();
        let values = ["agent=CODEX", "benchmark=HARBOR", "tasks=/t", "output_dir=x"].map(str::to_owned);
        let settings = settings::resolve(&[], &values).unwrap();
        let word = |word: &str| word.to_owned();
        let named = RunHarness {
            name: word("codex"),
            title: word("x"),
            version: word("1"),
            image: word("harmless:1"),
        };
        let planned =
            |scenario: u32| PlannedEpisode { name: format!("scenario_{scenario}"), scenario, turns: 3 };
        RunFile::new(settings, named, vec![planned(0), planned(2)], None).write(&paths).unwrap();
        let shown = record(room.path()).unwrap();
        assert_eq!(shown.image, harness::find("codex").unwrap().image());
        assert_eq!((shown.scenarios, shown.turns), (vec![0, 2], 6));
    }

    #[test]
    fn whatever_decides_and_the_folder_are_in_the_digest() {
        let room = tempfile::tempdir().unwrap();
        let folder = room.path().join("run");
        let paths = RunPaths::new(&folder);
        disk::folder(&paths.stamina_folder()).unwrap();
        let values =
            ["agent=MOCK", "endpoint.mode=oracle", "use_docker=true", "output_dir=x"].map(str::to_owned);
        let settings = settings::resolve(&[], &values).unwrap();
        let named = RunHarness {
            name: "mock".into(),
            title: "mock agent".into(),
            version: "1".into(),
            image: "base".into(),
        };
        let planned = PlannedEpisode { name: "scenario_0".into(), scenario: 0, turns: 2 };
        let run = RunFile::new(settings, named, vec![planned], None);
        let digest = |run: &RunFile| {
            run.write(&paths).unwrap();
            identity(&folder).unwrap().digest
        };
        let first = digest(&run);
        let mut later = run.clone();
        (later.seconds, later.part_started_at) = (7.0, "2026-11-24T00:00:00Z".into());
        assert_eq!(digest(&later), first, "what a run does while it is played is not in it");
        let mut changes: Vec<RunFile> = vec![run.clone(); 5];
        changes[0].settings.attempt_limit = 7;
        changes[1].settings.env_vars = vec!["HOME".into()];
        changes[2].harness.image = "other".into();
        changes[3].episodes[0].turns = 3;
        changes[4].pack_sha256 = Some("0".into());
        for changed in &changes {
            assert_ne!(digest(changed), first);
        }
        let copy = room.path().join("copy");
        std::fs::create_dir_all(copy.join(".stamina")).unwrap();
        run.write(&paths).unwrap();
        std::fs::copy(paths.run_file(), RunPaths::new(&copy).run_file()).unwrap();
        assert_ne!(identity(&copy).unwrap().digest, first);
    }
}
