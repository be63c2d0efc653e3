//! The conversation of a session, phase by phase.
//!
//! In the layout of agents of the kind `openai` every result of a tool stands twice: with the message that called it, and in a message of its
//! own. The others have the first only. Where the first is there, the second is left out.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use files::{ReadError, Tree};
use model::{Artifact, Step, StepKind, ToolCall, Transcript, strip_ansi};

use crate::readers::json::{Node, TEXT_CAP, cut};

use super::{lines, record};

/// Steps that are kept.
const STEP_CAP: usize = 5_000;
/// Most phases of a scenario: each is read again by itself, with all of its record. Scenarios have a handful.
const PHASES: usize = 200;
/// Characters of the line that says what a call does.
const SUMMARY_CAP: usize = 160;

/// A phase, as the scenario plans it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) prompt: String,
}

/// The planned phases of a scenario. Messages after the last one that is kept belong to it.
pub(super) fn phases(context: Option<&Node>) -> Vec<Phase> {
    let listed = context.and_then(|context| context.get("conversation_phases")).map_or(&[][..], Node::list);
    let text = |phase: &Node, key: &str| phase.get(key).and_then(Node::text).unwrap_or_default().to_owned();
    listed
        .iter()
        .take(PHASES)
        .map(|phase| Phase {
            id: text(phase, "phase_id"),
            name: text(phase, "name"),
            prompt: text(phase, "initial_prompt"),
        })
        .collect()
}

/// How many phases a scenario plans.
pub(super) fn planned(context: Option<&Node>) -> usize {
    context.and_then(|context| context.get("conversation_phases")).map_or(0, |listed| listed.list().len())
}

/// Whether a message is an answer of the model.
pub(super) fn is_answer(message: &Node) -> bool {
    message.get("role").and_then(Node::text) == Some("assistant")
}

/// The messages of each phase: one begins where the user's message is its first request, and the first one also has what stands
/// before. `None` = it was not reached. Without planned phases all is one.
pub(super) fn phase_ranges(phases: &[Phase], messages: &[Node]) -> Vec<Option<Range<usize>>> {
    if phases.is_empty() {
        return if messages.is_empty() { Vec::new() } else { vec![Some(0..messages.len())] };
    }
    let mut parts: Vec<Option<Range<usize>>> = vec![None; phases.len()];
    let mut positions_by_text: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, phase) in phases.iter().enumerate().filter(|(_, phase)| !phase.prompt.is_empty()) {
        positions_by_text.entry(&phase.prompt).or_default().push(index);
    }
    let (mut current, mut start) = (None::<usize>, 0);
    for (index, message) in messages.iter().enumerate() {
        if message.get("role").and_then(Node::text) != Some("user") {
            continue;
        }
        let content = message.get("content").and_then(Node::text).unwrap_or_default();
        let first_index = current.map_or(0, |current| current + 1);
        let next = positions_by_text
            .get(content)
            .and_then(|indexes| indexes.get(indexes.partition_point(|index| *index < first_index)).copied());
        if let Some(next) = next {
            if let Some(current) = current {
                parts[current] = Some(start..index);
                start = index;
            }
            current = Some(next);
        }
    }
    if !messages.is_empty() {
        parts[current.unwrap_or(0)] = Some(start..messages.len());
    }
    parts
}

/// Reads the steps of the phase that an artifact names.
pub(super) fn read(tree: &Tree, artifact: &Artifact) -> Result<Transcript, ReadError> {
    let pointer = artifact.pointer.as_deref().unwrap_or_default();
    let (session_pointer, phase) =
        pointer.split_once("/scenario_context/conversation_phases/").ok_or(ReadError::Missing)?;
    let phase: usize = phase.parse().map_err(|_| ReadError::Missing)?;
    let node = session(tree, &artifact.path, session_pointer)?.ok_or(ReadError::Missing)?;
    let messages = node.get("conversation_history").map_or(&[][..], Node::list);
    let ranges = phase_ranges(&phases(node.get("scenario_context")), messages);
    let range = ranges.get(phase).cloned().flatten().ok_or(ReadError::Missing)?;
    Ok(steps(&messages[range]))
}

/// The record that a pointer names: in a file of records the number of its line and the byte where that begins, in final results
/// the agent, a number and the byte.
fn session(tree: &Tree, path: &str, pointer: &str) -> Result<Option<Node>, ReadError> {
    let keys: Vec<String> =
        pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")).collect();
    match keys.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let read = record::read_transcript(tree, path, &HashSet::new());
            match read.broken {
                Some(error) if read.node.get("conversation_history").is_none() => Err(error),
                _ => Ok(Some(read.node)),
            }
        }
        [line] => {
            let bytes = match line.split_once('@') {
                Some((_, offset)) => {
                    lines::line_at(tree, path, offset.parse::<u64>().map_err(|_| ReadError::Missing)?)?
                }
                // Libraries of before know the number only.
                None => line_by_number(tree, path, line)?,
            };
            // A record that is cut off has no conversation: what is meant is the whole one behind it.
            Ok(lines::pieces(&bytes).pop().map(|piece| record::parse_record(piece).node))
        }
        ["detailed_results", agent, number] => {
            if let Some((_, offset)) = number.split_once('@') {
                let offset = offset.parse::<u64>().map_err(|_| ReadError::Missing)?;
                return record::read_final_record(tree, path, offset).map(Some);
            }
            // Libraries of earlier versions have the number only, as for a file in which the place of the record was not found.
            let number = number.parse::<usize>().map_err(|_| ReadError::Missing)?;
            let mut found = None;
            record::each_final(tree, path, agent, &mut || {}, &mut |record_number, record| {
                if record_number == number {
                    found = Some(record);
                }
            })?;
            Ok(found)
        }
        _ => Err(ReadError::Missing),
    }
}

/// A line by its number; empty where there is none, or one that is longer than lines are.
fn line_by_number(tree: &Tree, path: &str, line: &str) -> Result<Vec<u8>, ReadError> {
    let (line, mut found) = (line.parse::<usize>().map_err(|_| ReadError::Missing)?, None);
    lines::for_each_line(tree, path, |read| {
        if read.number == line {
            found = read.bytes;
        }
        read.number < line
    })?;
    Ok(found.unwrap_or_default())
}

fn steps(messages: &[Node]) -> Transcript {
    let mut out = Transcript { format: Some("LoCoBench-Agent".to_owned()), ..Transcript::default() };
    let shown: HashSet<&str> = messages
        .iter()
        .flat_map(|message| message.get("tool_responses").map_or(&[][..], Node::list))
        .filter_map(|response| response.get("call_id").and_then(Node::text))
        .collect();
    for message in messages {
        let role = message.get("role").and_then(Node::text).unwrap_or_default();
        let claimed = message.get("tool_call_id").and_then(Node::text).is_some_and(|id| shown.contains(id));
        if role == "tool" && claimed {
            continue;
        }
        if out.steps.len() == STEP_CAP {
            out.steps_cut += 1;
            continue;
        }
        let kind = match role {
            "system" => StepKind::System,
            "user" => StepKind::User,
            "tool" => StepKind::Tool,
            _ => StepKind::Agent,
        };
        let (text, text_cut) = shown_text(message.get("content"));
        out.steps.push(Step {
            index: u32::try_from(out.steps.len() + 1).unwrap_or(u32::MAX),
            text,
            text_cut,
            tool_calls: tool_calls(message),
            at: message.get("timestamp").and_then(Node::word).map(str::to_owned),
            ..Step::new(kind)
        });
    }
    out
}

fn shown_text(node: Option<&Node>) -> (String, u64) {
    match node {
        None | Some(Node::Null) => (String::new(), 0),
        Some(Node::Text(text, before)) => {
            let (kept, left) = cut(text, TEXT_CAP);
            (strip_ansi(kept).into_owned(), left + before)
        }
        Some(other) => {
            let text = serde_json::to_string_pretty(&other.to_value()).unwrap_or_default();
            let (kept, left) = cut(&text, TEXT_CAP);
            (kept.to_owned(), left)
        }
    }
}

fn tool_calls(message: &Node) -> Vec<ToolCall> {
    let mut responses: HashMap<&str, Vec<&Node>> = HashMap::new();
    for response in message.get("tool_responses").map_or(&[][..], Node::list).iter().rev() {
        responses
            .entry(response.get("call_id").and_then(Node::text).unwrap_or_default())
            .or_default()
            .push(response);
    }
    let calls = message.get("tool_calls").map_or(&[][..], Node::list).iter();
    calls
        .map(|call| {
            let text = |key| call.get(key).and_then(Node::text).unwrap_or_default();
            let (tool, function) =
                analysis::locobench::plain_function(text("tool_name"), text("function_name"));
            let parameters = call.get("parameters");
            let response = responses.get_mut(text("call_id")).and_then(Vec::pop);
            let success = response.and_then(|r| r.get("success")).and_then(Node::truth);
            let failure = response.and_then(|r| r.get("error_message")).filter(|_| success != Some(true));
            let result = response.map(|r| shown_text(failure.or_else(|| r.get("result"))));
            let summary = ["path", "file_path", "file_or_command", "pattern", "command"]
                .iter()
                .find_map(|key| parameters?.get(key)?.word())
                .unwrap_or_default();
            ToolCall {
                name: format!("{tool}.{function}"),
                summary: strip_ansi(summary).chars().take(SUMMARY_CAP).collect(),
                arguments: shown_text(parameters).0,
                result_cut: result.as_ref().map_or(0, |(_, cut)| *cut),
                result: result.map(|(text, _)| text),
                is_error: success.map(|success| !success),
                seconds: response.and_then(|r| r.get("execution_time")).and_then(Node::number),
            }
        })
        .collect()
}
