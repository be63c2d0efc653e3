//! `trajectory.json`: replaced as a whole after every attempt, at the cost of the turn that changed.
//!
//! The file has a line for each turn: a head, turns, an end. Turns that are decided do not change, so that the new file is
//! the start of the old one (copied by the kernel), the current turn, and the end. Nothing of earlier turns is kept in
//! memory. The file is ordinary JSON; that it has these lines matters only to this module, which reads it again at a
//! resume.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use files::confined_path;
use model::{EndReason, Tokens, TurnState, Verdict};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::SCHEMA;
use crate::RunError;
use crate::disk::{self, Durability};
use crate::state::{MOST_ATTEMPTS, MOST_TURNS};

/// Requests up to this size stand in the trajectory, in bytes.
const REQUEST: usize = 8 << 10;
/// Longest line that is read back.
const LINE: u64 = 16 << 20;
/// Most values of a line that is read back. A suite has at most 200,000 tests, and an attempt takes some 100 values.
const MOST_VALUES: usize = 400_000;

/// What stands before the turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    schema_version: String,
    pub(crate) scenario: String,
    pub(crate) title: Option<String>,
    pub(crate) planned_turns: u32,
    pub(crate) attempt_limit: u32,
    pub(crate) started_at: String,
    /// The name of the task that the scenario is, where it is one of Harbor's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
    /// The protocol of a task whose turns are no chain: each was played by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) protocol: Option<crate::settings::TaskProtocol>,
}

/// What stands behind them.
#[expect(clippy::struct_field_names, reason = "names of the layout")]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) finished_at: Option<String>,
    pub(crate) end_reason: Option<EndReason>,
    pub(crate) exception: Option<Exception>,
    /// Resumes of a trial, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) resumes: Vec<ResumePoint>,
}

/// Where a resume continued a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ResumePoint {
    /// RFC 3339.
    pub(crate) at: String,
    /// The last step of which an attempt was recorded; `None` = none was.
    pub(crate) after_turn: Option<u32>,
    /// The attempt.
    pub(crate) after_attempt: Option<u32>,
    /// The end reason with which it was left, or `killed`.
    pub(crate) why: String,
    /// What it continued from.
    pub(crate) from: ResumedFrom,
    /// The step that was played next.
    pub(crate) turn: u32,
    /// Why it did not continue from a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) no_snapshot: Option<String>,
    /// Whether the session of its harness continued. `None` = it had none.
    pub(crate) session_kept: Option<bool>,
}

/// What a resume continued a trial from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResumedFrom {
    /// The last snapshot of its container.
    Snapshot,
    /// Its first step: what was recorded of it was played a second time.
    FirstStep,
}

/// Most characters of a failure's message that are kept.
pub(crate) const MESSAGE: usize = 2000;

/// What the runner met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Exception {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) message: String,
}

/// A failure for the record.
pub(crate) fn exception(kind: &str, message: &str) -> Exception {
    Exception { kind: kind.to_owned(), message: model::one_line(message, MESSAGE) }
}

/// Files of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnFiles {
    pub(crate) request: String,
    /// Empty where there is none, as with the next two.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) reference: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) suite: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) schema: String,
}

/// Files of an attempt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct AttemptFiles {
    pub(crate) code: Option<String>,
    pub(crate) test_output: Option<String>,
    pub(crate) server_log: Option<String>,
    pub(crate) agent_logs: Vec<String>,
    pub(crate) transcript: Option<String>,
}

/// A turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnRecord {
    pub(crate) turn: u32,
    pub(crate) title: Option<String>,
    /// Left out where it is long: it stands in its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<String>,
    pub(crate) tests: Vec<String>,
    pub(crate) files: TurnFiles,
    pub(crate) attempts: Vec<AttemptRecord>,
    /// The name of the step that the turn is, of a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<String>,
}

/// An attempt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct AttemptRecord {
    pub(crate) attempt: u32,
    pub(crate) verdict: Verdict,
    pub(crate) success: bool,
    pub(crate) passed: Option<u32>,
    pub(crate) total: Option<u32>,
    pub(crate) outcomes: Option<String>,
    pub(crate) end_reason: Option<EndReason>,
    pub(crate) tokens: Tokens,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) tool_calls: Option<u32>,
    pub(crate) started_at: String,
    pub(crate) finished_at: String,
    pub(crate) agent_seconds: Option<f64>,
    pub(crate) test_seconds: Option<f64>,
    pub(crate) exception: Option<Exception>,
    pub(crate) files: AttemptFiles,
    // What follows is not of the layout and is kept by readers as extra fields.
    /// Wall seconds of everything but the agent, its server's start and the tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) own_seconds: Option<f64>,
    /// Model requests that the gateway saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model_requests: Option<u32>,
    /// How the agent's call ended by the harness, where the tests decided otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent_end: Option<EndReason>,
    /// Tokens and cost by the harness's own count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) harness_tokens: Option<Tokens>,
    /// How often it was retried because of something outside the agent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) repeats: u32,
    /// The agent's session could not be resumed, and began anew at this attempt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) session_restarted: bool,
    /// It began in a container that a resume opened from the snapshot before its step, or a retry where attempts do not begin from
    /// snapshots otherwise: processes in the background that an earlier step had left were not in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) resumed: bool,
    /// The reward that decides, of a step of a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reward: Option<f64>,
    /// All rewards of the step under their names, where its verifier left a map of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rewards: Option<std::collections::BTreeMap<String, f64>>,
    /// What of the workspace is not in the code snapshot; of a task, paths of its container of which something was not kept, for
    /// want of room or because it could not be read. `None` = nothing was kept, or a version wrote it that did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left_out: Option<Vec<String>>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_none_more")]
    pub(crate) left_out_more: u64,
    /// It is the last of its chain, by the rules of its task: no step follows, whatever is left to play.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) ends_chain: bool,
    /// Earlier steps whose reference solution, which this step builds on, did not exit with 0, each with its code.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub(crate) references_failed: std::collections::BTreeMap<String, i64>,
    /// What a second verification came to where the agent's processes could not write its verdict. `None` = there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) processes_left: Option<ProcessesLeft>,
    /// The rewards with these processes, which do not count, where others do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rewards_with_processes: Option<std::collections::BTreeMap<String, f64>>,
}

/// What a second verification of a step came to whose agent has left processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProcessesLeft {
    /// The same rewards and counts.
    SameVerdict,
    /// Others, which count.
    OtherVerdict,
    /// None could be carried out, which is not the agent's doing: the verdict may be that of such a process.
    Unconfirmed,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_none_more(number: &u64) -> bool {
    *number == 0
}

/// The sum of what is known; unknown where nothing is.
pub(super) fn sum(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().reduce(|sum, value| sum + value)
}

/// How a turn went, in short.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TurnSummary {
    pub(crate) state: TurnState,
    pub(crate) attempts: u32,
    /// Of the final attempt.
    pub(crate) passed: Option<u32>,
    pub(crate) total: Option<u32>,
    pub(crate) tokens: Tokens,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) agent_seconds: Option<f64>,
}

impl TurnRecord {
    /// A turn without attempts.
    pub(crate) fn new(
        turn: u32,
        title: Option<String>,
        request: &str,
        tests: Vec<String>,
        files: TurnFiles,
    ) -> Self {
        let request = (request.len() <= REQUEST).then(|| request.to_owned());
        Self { turn, title, request, tests, files, attempts: Vec::new(), step: None }
    }

    pub(crate) fn summary(&self) -> TurnSummary {
        let last = self.attempts.last();
        let state = TurnState::from_last(last.map(|attempt| attempt.verdict), self.attempts.len());
        let tokens = self.attempts.iter().fold(Tokens::default(), |sum, attempt| sum.plus(attempt.tokens));
        let costs: Option<Vec<f64>> = self.attempts.iter().map(|attempt| attempt.cost_usd).collect();
        TurnSummary {
            state,
            attempts: self.attempts.len() as u32,
            passed: last.and_then(|attempt| attempt.passed),
            total: last.and_then(|attempt| attempt.total),
            tokens,
            cost_usd: costs.and_then(|costs| sum(costs.into_iter().map(Some))),
            agent_seconds: sum(self.attempts.iter().map(|attempt| attempt.agent_seconds)),
        }
    }
}

/// A trajectory that is being written.
#[derive(Debug)]
pub(crate) struct Trajectory {
    path: PathBuf,
    pub(crate) head: Head,
    pub(crate) end: End,
    /// Decided turns.
    done: Vec<TurnSummary>,
    /// Bytes of the file up to the end of the last of them; 0 = there is none.
    prefix: u64,
    /// The same of the running turn, as it was written last.
    current_ends: u64,
    /// The current turn.
    pub(crate) current: Option<TurnRecord>,
}

impl Trajectory {
    /// A new one; nothing is written before its first attempt.
    pub(crate) fn new(folder: &Path, scenario: &str, planned_turns: u32, attempt_limit: u32) -> Self {
        let head = Head {
            schema_version: SCHEMA.to_owned(),
            scenario: scenario.to_owned(),
            title: None,
            planned_turns,
            attempt_limit,
            started_at: crate::clock::now(),
            task: None,
            protocol: None,
        };
        let path = folder.join("trajectory.json");
        Self { path, head, end: End::default(), done: Vec::new(), prefix: 0, current_ends: 0, current: None }
    }

    /// Reads the one that lies in a folder, if there is one. Its last turn is the current one.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, RunError> {
        let path = folder.join("trajectory.json");
        let file = match confined_path::open_file(&path, OFlags::RDONLY) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(disk::error_at(&path, error)),
        };
        let read = read_lines(BufReader::with_capacity(64 << 10, file));
        let (head, mut turns, end, ends) = read.map_err(|error| {
            disk::error_at(
                &path,
                format!("it is not as Stamina Lab wrote it ({error}), so that it cannot be resumed"),
            )
        })?;
        let current = turns.last.take();
        let prefix = ends.len().checked_sub(2).and_then(|index| ends.get(index)).copied().unwrap_or(0);
        let current_ends = ends.last().copied().unwrap_or(0);
        Ok(Some(Self { path, head, end, done: turns.done, prefix, current_ends, current }))
    }

    /// The last attempt that is recorded: turn and number.
    pub(crate) fn last(&self) -> Option<(u32, u32)> {
        let turn = self.current.as_ref()?;
        Some((turn.turn, turn.attempts.last()?.attempt))
    }

    /// Turns in order, the current one included.
    pub(crate) fn summaries(&self) -> Vec<TurnSummary> {
        let current = self.current.iter().filter(|turn| !turn.attempts.is_empty()).map(TurnRecord::summary);
        self.done.iter().copied().chain(current).collect()
    }

    /// Turns passed in a row, from the first.
    pub(crate) fn stamina(&self) -> u32 {
        self.summaries().iter().take_while(|turn| turn.state.is_passed()).count() as u32
    }

    /// Begins the next turn. The one before is decided and is in the file.
    pub(crate) fn begin(&mut self, turn: TurnRecord) {
        if let Some(before) = self.current.replace(turn) {
            self.done.push(before.summary());
            self.prefix = self.current_ends;
        }
    }

    /// Replaces the file. With the attempt that was added last this is what makes it count.
    pub(crate) fn write(&mut self) -> Result<(), RunError> {
        let tail = self.tail()?;
        let wrong = |error: serde_json::Error| disk::error_at(&self.path, error);
        let turn = match &self.current {
            Some(turn) if !turn.attempts.is_empty() => Some(serde_json::to_vec(turn).map_err(wrong)?),
            _ => None,
        };
        let mut head = serde_json::to_vec(&self.head).map_err(wrong)?;
        head.pop();
        head.extend_from_slice(b",\"turns\":[");
        let prefix = self.prefix;
        let separator: &[u8] = if self.done.is_empty() { b"\n" } else { b",\n" };
        let begin = if prefix == 0 { head.len() as u64 } else { prefix };
        self.current_ends = begin + turn.as_ref().map_or(0, |turn| (separator.len() + turn.len()) as u64);
        disk::write_with(&self.path, Durability::Synced, |file| {
            if prefix == 0 {
                file.write_all(&head)?;
            } else {
                // Straight into the file, so that the kernel copies.
                file.flush()?;
                let old = confined_path::open_file(&self.path, OFlags::RDONLY)?;
                io::copy(&mut old.take(prefix), file.get_mut())?;
            }
            if let Some(turn) = &turn {
                file.write_all(separator)?;
                file.write_all(turn)?;
            }
            file.write_all(&tail)
        })
    }

    /// From the end of the last turn to the end of the file.
    fn tail(&self) -> Result<Vec<u8>, RunError> {
        let end = serde_json::to_vec(&self.end).map_err(|error| disk::error_at(&self.path, error))?;
        let mut tail = b"\n],\n".to_vec();
        tail.extend_from_slice(end.strip_prefix(b"{").unwrap_or(&end));
        tail.push(b'\n');
        Ok(tail)
    }
}

#[derive(Default)]
struct Turns {
    done: Vec<TurnSummary>,
    last: Option<TurnRecord>,
}

/// Head, turns, end, and where each turn's text ends.
fn read_lines(mut file: BufReader<File>) -> Result<(Head, Turns, End, Vec<u64>), String> {
    let mut line = Vec::new();
    let mut offset = 0u64;
    let mut next = |line: &mut Vec<u8>| -> Result<u64, String> {
        line.clear();
        let count = file.by_ref().take(LINE).read_until(b'\n', line).map_err(|error| error.to_string())?;
        if line.pop() != Some(b'\n') {
            return Err("it breaks off".to_owned());
        }
        let values = files::most_values(line);
        if values > MOST_VALUES {
            return Err(format!("a line of it has {values} values; at most {MOST_VALUES} are read"));
        }
        offset += count as u64;
        Ok(offset)
    };
    next(&mut line)?;
    line.extend_from_slice(b"]}");
    let head: Head = serde_json::from_slice(&line).map_err(|error| format!("its head: {error}"))?;
    if head.schema_version != SCHEMA {
        return Err(format!("it is of the version {}", head.schema_version));
    }
    let (mut turns, mut ends) = (Turns::default(), Vec::new());
    loop {
        let after = next(&mut line)?;
        if line == b"]," {
            break;
        }
        let comma = line.ends_with(b",");
        if comma {
            line.pop();
        }
        let turn: TurnRecord =
            serde_json::from_slice(&line).map_err(|error| format!("turn {}: {error}", ends.len() + 1))?;
        // Whoever made the folder may have written as many as they like, and each is kept in short.
        if ends.len() >= MOST_TURNS as usize {
            return Err(format!("it has more than {MOST_TURNS} turns"));
        }
        // Where to continue follows from the number of the last one.
        if turn.turn as usize != ends.len() + 1 {
            return Err(format!("turn {} stands where turn {} should", turn.turn, ends.len() + 1));
        }
        if turn.attempts.len() > MOST_ATTEMPTS {
            return Err(format!("turn {} has more than {MOST_ATTEMPTS} attempts", turn.turn));
        }
        if let Some(before) = turns.last.replace(turn) {
            turns.done.push(before.summary());
        }
        ends.push(after - 1 - u64::from(comma));
    }
    next(&mut line)?;
    line.insert(0, b'{');
    let end = serde_json::from_slice(&line).map_err(|error| format!("its end: {error}"))?;
    Ok((head, turns, end, ends))
}
