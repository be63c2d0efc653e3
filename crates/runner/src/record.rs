//! The results of an episode, in the layout that `docs/formats.md` defines (`stamina-lab/1`).
//!
//! Everything that an attempt leaves is written before the trajectory names it; the trajectory is replaced as a whole,
//! and that is when an attempt is over.

mod omitted_files;
pub(crate) mod pytest;
pub(crate) mod report;
#[cfg(test)]
mod tests;
mod text;
pub(crate) mod trajectory;
mod transcript;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use files::confined_path;
use rustix::fs::{FileType, Mode, OFlags};

use crate::RunError;
use crate::copy::{self, Bounds, CopyReport};
use crate::disk::{self, Durability};
use crate::scenarios::TurnData;
use crate::secrets::SecretFilter;

pub(crate) use self::omitted_files::OmittedFiles;
pub(crate) use self::text::head_and_tail;
pub(crate) use self::trajectory::{
    AttemptFiles, AttemptRecord, End, Exception, MESSAGE, ProcessesLeft, ResumePoint, ResumedFrom,
    Trajectory, TurnFiles, TurnRecord, exception,
};

/// The version of the layout.
pub(crate) const SCHEMA: &str = "stamina-lab/1";
/// Longest log of an agent or a server that is kept, in bytes; head and end.
const LOG_BYTES: usize = 2 << 20;
/// What of a workspace is kept as its code.
const CODE: Bounds<'static> = Bounds {
    bytes: 64 << 20,
    entries: 5000,
    file: 8 << 20,
    without: &["node_modules", ".venv", "venv", "__pycache__", ".git"],
    links: false,
};

/// The folder of an episode's results.
#[derive(Debug, Clone)]
pub(crate) struct EpisodeFolder {
    path: PathBuf,
    /// What agents leave goes through it.
    scrub: Arc<SecretFilter>,
}

/// The texts of a step of a task.
pub(crate) struct TaskFiles<'a> {
    pub(crate) turn: u32,
    pub(crate) request: &'a str,
    /// `solve.sh`.
    pub(crate) reference: Option<&'a str>,
    /// `test.sh`.
    pub(crate) suite: Option<&'a str>,
}

/// What an attempt left, as files.
pub(crate) struct AttemptOutput<'a> {
    pub(crate) turn: u32,
    pub(crate) attempt: u32,
    /// How many calls of the agent there were, this one included.
    pub(crate) call: u32,
    /// Standard output and error of the agent.
    pub(crate) stdout: &'a [u8],
    pub(crate) stderr: &'a [u8],
    /// What it was told.
    pub(crate) prompt: &'a str,
    pub(crate) steps: &'a [model::Step],
    /// Output of its server; `None` = it was not started.
    pub(crate) server_log: Option<&'a [u8]>,
    /// Output of the tests; `None` = they were not run.
    pub(crate) test_output: Option<&'a str>,
}

/// The code of an attempt that was kept.
#[derive(Debug, PartialEq)]
pub(crate) struct KeptCode {
    /// Its folder, relative to that of the episode.
    pub(crate) folder: String,
    /// What of the workspace is not in it, but for what tools put there.
    pub(crate) left_out: OmittedFiles,
}

impl EpisodeFolder {
    /// Makes the folder and those in it.
    pub(crate) fn new(path: PathBuf, scrub: Arc<SecretFilter>) -> Result<Self, RunError> {
        const FOLDERS: [&str; 9] = [
            "agent_code",
            "agent_logs",
            "changes",
            "ground_truth",
            "schemas",
            "server_logs",
            "test_results",
            "test_suites",
            "transcripts",
        ];
        for folder in FOLDERS {
            disk::folder(&path.join(folder))?;
        }
        Ok(Self { path, scrub })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The files of a turn, as far as they are not there yet.
    pub(crate) fn turn(&self, turn: &TurnData) -> Result<TurnFiles, RunError> {
        let number = turn.turn;
        let files = TurnFiles {
            request: format!("changes/turn_{number}.md"),
            reference: format!("ground_truth/turn_{number}.py"),
            suite: format!("test_suites/turn_{number}.py"),
            schema: format!("schemas/turn_{number}.yaml"),
        };
        let texts = [
            (&files.request, &turn.request),
            (&files.reference, &turn.reference),
            (&files.suite, &turn.pytest),
            (&files.schema, &turn.schema_text),
        ];
        for (name, text) in texts {
            let path = self.path.join(name);
            if !path.exists() {
                disk::write(&path, text.as_bytes(), Durability::Buffered)?;
            }
        }
        Ok(files)
    }

    /// The files of a step of a task.
    pub(crate) fn task_turn(&self, turn: &TaskFiles<'_>) -> Result<TurnFiles, RunError> {
        let number = turn.turn;
        let put = |name: String, text: Option<&str>| match text {
            Some(text) => {
                disk::write(&self.path.join(&name), text.as_bytes(), Durability::Buffered).map(|()| name)
            }
            None => Ok(String::new()),
        };
        Ok(TurnFiles {
            request: put(format!("changes/turn_{number}.md"), Some(turn.request))?,
            reference: put(format!("ground_truth/turn_{number}.sh"), turn.reference)?,
            suite: put(format!("test_suites/turn_{number}.sh"), turn.suite)?,
            schema: String::new(),
        })
    }

    /// Keeps a file that a step of a task left; its path is relative, without `..`.
    pub(crate) fn keep_step_file(
        &self,
        turn: u32,
        attempt: u32,
        path: &str,
        content: &[u8],
    ) -> Result<(), RunError> {
        let folder = match attempt {
            1 => format!("artifacts/turn_{turn}"),
            later => format!("artifacts/turn_{turn}_attempt_{later}"),
        };
        let path = self.path.join(folder).join(path);
        // A name that this system does not take, or that is a folder by now, is no reason to end a trial.
        let folder_result = path.parent().map_or(Ok(()), disk::folder);
        let kept =
            folder_result.and_then(|()| disk::write(&path, &self.scrub.bytes(content), Durability::Buffered));
        match kept {
            Err(error) if !is_full(&error) => {
                tracing::warn!("an artifact could not be kept: {error}");
                Ok(())
            }
            kept => kept,
        }
    }

    /// The files of an attempt.
    pub(crate) fn attempt(&self, left: &AttemptOutput<'_>) -> Result<AttemptFiles, RunError> {
        let name = format!("turn_{}_attempt_{}", left.turn, left.attempt);
        let put = |path: String, content: &[u8]| {
            disk::write(&self.path.join(&path), &self.scrub.bytes(content), Durability::Synced).map(|()| path)
        };
        let log = agent_log(left.stdout, left.stderr);
        let agent_log = put(format!("agent_logs/step_{}.txt", left.call), &log)?;
        let transcript = transcript::encode(left.prompt, left.steps);
        let transcript = put(format!("transcripts/{name}.json"), &transcript)?;
        let server_log = match left.server_log {
            Some(log) => Some(put(format!("server_logs/{name}.txt"), &head_and_tail(log, LOG_BYTES))?),
            None => None,
        };
        let test_output = match left.test_output {
            Some(text) => Some(put(format!("test_results/{name}.txt"), text.as_bytes())?),
            None => None,
        };
        Ok(AttemptFiles {
            code: None,
            test_output,
            server_log,
            agent_logs: vec![agent_log],
            transcript: Some(transcript),
        })
    }

    /// Keeps the code of an attempt: the workspace without what tools put there, within bounds, without links.
    pub(crate) fn code(
        &self,
        turn: u32,
        attempt: u32,
        workspace: &Path,
        keep: Option<u32>,
    ) -> Result<Option<KeptCode>, RunError> {
        if keep == Some(0) {
            return Ok(None);
        }
        let name = format!("agent_code/turn_{turn}_attempt_{attempt}");
        let (path, part) = (self.path.join(&name), self.path.join("agent_code").join(disk::TEMPORARY));
        let wrong = |error: std::io::Error| disk::error_at(&path, error);
        copy::remove(&part).map_err(wrong)?;
        let mut copied = copy::copy(workspace, &part, CODE).map_err(wrong)?;
        scrubbed(&part, &self.scrub, &mut copied).map_err(wrong)?;
        copy::remove(&path).map_err(wrong)?;
        confined_path::rename(&part, &path).map_err(wrong)?;
        if let Some(keep) = keep {
            self.forget_code(keep as usize)?;
        }
        Ok(Some(KeptCode { folder: name, left_out: OmittedFiles::from_copy(&copied, &self.scrub) }))
    }

    /// Removes all but the latest snapshots.
    fn forget_code(&self, keep: usize) -> Result<(), RunError> {
        let folder = self.path.join("agent_code");
        let names = confined_path::list_folder(&folder).map_err(|error| disk::error_at(&folder, error))?;
        let mut known: Vec<((u32, u32), PathBuf)> = names
            .into_iter()
            .filter_map(|(name, _)| Some((turn_and_attempt(&name.to_string_lossy())?, folder.join(name))))
            .collect();
        known.sort();
        known.truncate(known.len().saturating_sub(keep));
        for (_, path) in known {
            copy::remove(&path).map_err(|error| disk::error_at(&path, error))?;
        }
        Ok(())
    }
}

/// Whether an error is that of a full disk, which no file could be written on.
fn is_full(error: &RunError) -> bool {
    matches!(error, RunError::Files { reason, .. } if reason.contains("No space left") || reason.contains("quota"))
}

/// Folders with longer paths are taken out of a copy whose files have to be looked into: the system opens no path of more than
/// 4,096 bytes, and nobody would.
const LONGEST: usize = 3_000;

/// Removes values from the files of a copy that has no links. What is taken out for its long path is counted as left out.
fn scrubbed(top: &Path, scrub: &SecretFilter, copied: &mut CopyReport) -> std::io::Result<()> {
    if scrub.is_idle() {
        return Ok(());
    }
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        confined_path::change_mode(&folder, |_| Mode::from_raw_mode(0o755))?;
        // All names first: some are changed here.
        for (name, kind) in confined_path::list_folder(&folder)? {
            let path = renamed(&folder, &name, scrub)?;
            if kind == FileType::Directory && path.as_os_str().len() > LONGEST {
                copy::remove(&path)?;
                let inside = path.strip_prefix(top).unwrap_or(&path);
                copied.leave_out(|| [inside.as_os_str().as_bytes(), b"/"].concat());
            } else if kind == FileType::Directory {
                folders.push(path);
            } else if kind == FileType::RegularFile {
                confined_path::change_mode(&path, |mode| mode | Mode::RUSR | Mode::WUSR)?;
                let content = confined_path::read_file(&path, CODE.file)?;
                if let Cow::Owned(changed) = scrub.bytes(&content) {
                    confined_path::open_file(&path, OFlags::WRONLY | OFlags::TRUNC)?.write_all(&changed)?;
                }
            }
        }
    }
    Ok(())
}

/// Gives an entry a name without values, where its own has one. Its path.
fn renamed(folder: &Path, name: &OsStr, scrub: &SecretFilter) -> std::io::Result<PathBuf> {
    let path = folder.join(name);
    let Cow::Owned(mut clean) = scrub.bytes(name.as_bytes()) else { return Ok(path) };
    // A name has at most 255 bytes, and a number may follow.
    clean.truncate(230);
    let mut free = folder.join(OsStr::from_bytes(&clean));
    let mut number = 1;
    while confined_path::exists(&free) {
        number += 1;
        let numbered = [&clean, format!("-{number}").as_bytes()].concat();
        free = folder.join(OsStr::from_bytes(&numbered));
    }
    confined_path::rename(&path, &free)?;
    Ok(free)
}

/// Turn and attempt of `turn_3_attempt_2`.
fn turn_and_attempt(name: &str) -> Option<(u32, u32)> {
    let (turn, attempt) = name.strip_prefix("turn_")?.split_once("_attempt_")?;
    Some((turn.parse().ok()?, attempt.parse().ok()?))
}

fn agent_log(stdout: &[u8], stderr: &[u8]) -> Vec<u8> {
    let mut log = head_and_tail(stdout, LOG_BYTES);
    if !stderr.is_empty() {
        if !log.is_empty() && !log.ends_with(b"\n") {
            log.push(b'\n');
        }
        log.extend_from_slice(b"--- standard error ---\n");
        log.extend(head_and_tail(stderr, LOG_BYTES));
    }
    log
}
