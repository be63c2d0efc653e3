//! ATIF, the agent trajectory format of Harbor, versions 1.0 to 1.8.
//!
//! Read tolerantly: unknown keys and versions are taken, a message may be a text or a list of parts, any field may be
//! missing or null. Media become a chip in the text (`[image: image/png, images/a.png]`). Results of tools go to the
//! call that they name, also where an entry of their own lists them behind it; a batch of calls with one unnamed result
//! (terminus-2) has it at its last call; results without any call follow as a step of their own. Embedded sub-agents
//! follow the main steps under a heading. An entry of a source that the format does not know is shown with that source.
//!
//! Some harnesses list what a tool gave as an entry of the agent. Such an entry is no step of the agent: the model was
//! not called for it ([`is_tool_result`]).
//!
//! Memory is bounded: texts are cut at [`TEXT_CAP`], steps after [`STEP_CAP`] are counted and not kept.

mod message;
mod parts;
mod trajectory_summary;

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;

use model::{Step, StepKind, ToolCall, Transcript, counted, strip_ansi};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::clock;
use super::json::{NODE_CAP, Node, NodeSeed, TEXT_CAP, cut};
use super::value;

use self::message::{fingerprint, fingerprint_of_results};
pub use self::parts::content;
use self::parts::{result_text, tokens};
pub use self::trajectory_summary::TrajectorySummary;
use self::trajectory_summary::{Entry, has_output_tokens, is_tool_result, source_call_id};

/// Steps of one file that are kept.
pub const STEP_CAP: usize = 5_000;
/// Characters of the line that says what a call does.
const SUMMARY_CAP: usize = 160;

/// A trajectory file as it is parsed.
#[derive(Debug, Deserialize)]
pub struct Document {
    #[serde(default)]
    schema_version: Option<Node>,
    #[serde(default)]
    agent: Option<Node>,
    #[serde(default)]
    steps: Steps,
    #[serde(default)]
    continued_trajectory_ref: Option<Node>,
    #[serde(default)]
    subagent_trajectories: Option<Node>,
}

impl Document {
    /// The name of the file in the same folder that continues this one.
    pub fn continued_in(&self) -> Option<&str> {
        let name = self.continued_trajectory_ref.as_ref()?.word()?;
        (!name.contains(['/', '\\'])).then_some(name)
    }

    /// JSON values that it holds, as [`NODE_CAP`] counts them.
    pub fn values(&self) -> u64 {
        self.steps.nodes.iter().chain(&self.subagent_trajectories).map(Node::values).sum()
    }
}

#[derive(Debug, Default)]
struct Steps {
    nodes: Vec<Node>,
    left_out: u64,
}

impl<'de> Deserialize<'de> for Steps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Capped;
        impl<'de> Visitor<'de> for Capped {
            type Value = Steps;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of steps")
            }
            fn visit_unit<E>(self) -> Result<Steps, E> {
                Ok(Steps::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Steps, A::Error> {
                let left = Cell::new(NODE_CAP);
                let mut steps = Steps::default();
                while steps.nodes.len() < STEP_CAP {
                    match seq.next_element_seed(NodeSeed::new(&left))? {
                        Some(step) => steps.nodes.push(step),
                        None => return Ok(steps),
                    }
                }
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    steps.left_out += 1;
                }
                Ok(steps)
            }
        }
        deserializer.deserialize_any(Capped)
    }
}

/// The transcript of a trajectory and the files that continue it, in their order.
pub fn transcript(documents: &[Document]) -> Transcript {
    let mut out = Transcript {
        format: documents.first().and_then(|d| d.schema_version.as_ref()?.word().map(str::to_owned)),
        agent: documents.first().and_then(|d| d.agent.as_ref()?.get("name")?.word().map(str::to_owned)),
        ..Transcript::default()
    };
    let mut calls = Calls::default();
    for (part, document) in documents.iter().enumerate() {
        push_steps(&mut out.steps, &mut calls, &document.steps.nodes, part > 0);
        out.steps_cut += document.steps.left_out;
    }
    for document in documents {
        for agent in document.subagent_trajectories.as_ref().map_or(&[][..], Node::list) {
            push_subagent(&mut out.steps, agent, 0);
        }
    }
    // One step with more cached than input tokens shows how all of them are counted.
    if out.steps.iter().filter_map(|step| step.tokens).any(|tokens| tokens.cache_exceeds_input()) {
        for tokens in out.steps.iter_mut().filter_map(|step| step.tokens.as_mut()) {
            *tokens = tokens.adding_cached();
        }
    }
    for (step, index) in out.steps.iter_mut().zip(1..) {
        step.index = index;
    }
    out
}

/// Adds the steps of a file or of a sub-agent in it, and a line in the place of context that was taken over. A continuation
/// begins with such context, which has been shown already. Any other was taken over from elsewhere.
fn push_steps(steps: &mut Vec<Step>, calls: &mut Calls, entries: &[Node], is_continuation: bool) {
    let is_copied = |entry: &Node| entry.get("is_copied_context").and_then(Node::truth) == Some(true);
    for group in entries.chunk_by(|a, b| is_copied(a) == is_copied(b)) {
        if group.first().is_some_and(is_copied) {
            if !is_continuation {
                let counted_steps = counted(group.len() as u64, "step");
                let text =
                    format!("Copied context: {counted_steps} taken over from another transcript, not shown");
                steps.push(Step { text, ..Step::new(StepKind::System) });
            }
            continue;
        }
        for entry in group {
            push_step(steps, calls, entry);
        }
    }
}

fn push_subagent(steps: &mut Vec<Step>, trajectory: &Node, depth: u8) {
    let name = trajectory.descendant(&["agent", "name"]).and_then(Node::word);
    let id = ["trajectory_id", "session_id"].iter().find_map(|k| trajectory.get(k)?.word());
    let heading = [Some("Sub-agent"), name, id].into_iter().flatten().collect::<Vec<_>>().join(" ");
    steps.push(Step { text: heading, ..Step::new(StepKind::System) });
    let entries = trajectory.get("steps").map_or(&[][..], Node::list);
    push_steps(steps, &mut Calls::default(), entries, false);
    if depth < 8 {
        for agent in trajectory.get("subagent_trajectories").map_or(&[][..], Node::list) {
            push_subagent(steps, agent, depth + 1);
        }
    }
}

/// Where each call stands, by its id: index of its step, and of the call in it. An id that comes again is the later one.
type Calls = HashMap<String, (usize, usize)>;

fn push_step(steps: &mut Vec<Step>, calls: &mut Calls, node: &Node) {
    let source = node.get("source").and_then(Node::text);
    // The author of an entry of another source is unknown. It is not counted as the agent's, either.
    let (kind, has_known_source) = match source {
        Some("system") => (StepKind::System, true),
        Some("user") => (StepKind::User, true),
        Some("agent") => (StepKind::Agent, true),
        Some("tool" | "environment") => (StepKind::Tool, true),
        _ => (StepKind::System, false),
    };
    let mut step = Step::new(kind);
    (step.text, step.text_cut) = node.get("message").map(content).unwrap_or_default();
    step.reasoning = node.get("reasoning_content").map(|n| content(n).0).filter(|t| !t.trim().is_empty());
    let time = node.get("timestamp").and_then(Node::word);
    step.at = time.filter(|time| clock::micros(time).is_some()).map(str::to_owned);
    if let Some(metrics) = node.get("metrics") {
        step.tokens = Some(tokens(metrics).0).filter(|t| !t.is_unknown());
        step.cost_usd = metrics.get("cost_usd").and_then(value::dollars);
    }
    let step_index = steps.len();
    for (index, call) in node.get("tool_calls").map_or(&[][..], Node::list).iter().enumerate() {
        if let Some(id) = call.get("tool_call_id").and_then(Node::text).filter(|id| !id.is_empty()) {
            calls.insert(id.to_owned(), (step_index, index));
        }
        step.tool_calls.push(tool_call(call));
    }
    let results = node.descendant(&["observation", "results"]).map_or(&[][..], Node::list);
    let texts: Vec<(String, u64)> = results.iter().map(result_text).collect();
    let has_own_text =
        !step.text.trim().is_empty() && fingerprint(&step.text) != fingerprint_of_results(results);
    let all_named = results.iter().all(|r| source_call_id(r).is_some());
    let may_be_result = match kind {
        StepKind::Agent | StepKind::Tool => true,
        // An entry of an unknown source is shown with that source, also where it only holds results.
        StepKind::System => has_known_source && all_named,
        StepKind::User => false,
    };
    let is_result = may_be_result
        && is_tool_result(&Entry {
            calls: step.tool_calls.len(),
            model_calls: node.get("llm_call_count").and_then(Node::count).filter(|_| kind == StepKind::Agent),
            has_model_output: step.reasoning.is_some() || node.get("metrics").is_some_and(has_output_tokens),
            results: results.len(),
            all_named,
            has_own_text,
        });
    if is_result {
        step.kind = StepKind::Tool;
        if !has_own_text {
            // The message repeats the results.
            (step.text, step.text_cut) = (String::new(), 0);
        }
    }
    let moment = step.at.clone();
    // What only held a result is not shown once the result stands at its call.
    let is_left_out = is_result && step.text.trim().is_empty();
    if !is_left_out {
        if !has_known_source {
            let name = source.map(str::trim).filter(|name| !name.is_empty()).unwrap_or("unknown");
            let chip = format!("[source: {}]", cut(name, SUMMARY_CAP).0);
            step.text = if step.text.is_empty() { chip } else { format!("{chip}\n{}", step.text) };
        }
        steps.push(step);
    }
    let mut last_unnamed = None;
    for (result, (text, text_cut)) in results.iter().zip(texts) {
        let place = match source_call_id(result) {
            Some(id) => calls.get(id).copied(),
            // More unnamed results than calls that wait for one: the last of these has the rest of them.
            None if is_left_out => {
                last_unnamed = open_call(steps).or(last_unnamed);
                last_unnamed
            }
            None => steps[step_index].tool_calls.len().checked_sub(1).map(|last| (step_index, last)),
        };
        let is_error = result.descendant(&["extra", "is_error"]).and_then(Node::truth);
        match place.and_then(|(step, call)| steps.get_mut(step)?.tool_calls.get_mut(call)) {
            Some(call) => add_result(call, &text, text_cut, is_error),
            None => {
                steps.push(Step { text, text_cut, at: moment.clone(), ..Step::new(StepKind::Tool) });
            }
        }
    }
}

/// The first call of the last step that has no result yet.
fn open_call(steps: &[Step]) -> Option<(usize, usize)> {
    let last = steps.len().checked_sub(1)?;
    Some((last, steps[last].tool_calls.iter().position(|call| call.result.is_none())?))
}

/// Adds a result to a call; several stand below each other.
fn add_result(call: &mut ToolCall, text: &str, text_cut: u64, is_error: Option<bool>) {
    call.is_error = call.is_error.or(is_error);
    match &mut call.result {
        Some(before) => {
            let room = TEXT_CAP.saturating_sub(before.len() + 1);
            let (kept, more) = cut(text, room);
            if !kept.is_empty() {
                before.push('\n');
                before.push_str(kept);
            }
            call.result_cut += more + text_cut;
        }
        none => {
            *none = Some(text.to_owned());
            call.result_cut = text_cut;
        }
    }
}

fn tool_call(node: &Node) -> ToolCall {
    let arguments = node.get("arguments");
    let written = match arguments {
        None => String::new(),
        Some(Node::Text(text, _)) => text.clone(),
        Some(other) => serde_json::to_string_pretty(&other.to_value()).unwrap_or_default(),
    };
    ToolCall {
        name: node.get("function_name").and_then(Node::word).unwrap_or("unnamed tool").to_owned(),
        summary: summary(arguments),
        arguments: cut(&written, TEXT_CAP).0.to_owned(),
        result: None,
        result_cut: 0,
        is_error: None,
        seconds: None,
    }
}

/// One line that says what a call does: the command, the file, or else the first text among the arguments.
fn summary(arguments: Option<&Node>) -> String {
    const SUMMARY_KEYS: [&str; 12] = [
        "command",
        "cmd",
        "keystrokes",
        "path",
        "file_path",
        "filename",
        "pattern",
        "query",
        "url",
        "code",
        "description",
        "prompt",
    ];
    let Some(arguments) = arguments else { return String::new() };
    let texts = || arguments.map().iter().filter_map(|(_, v)| v.word());
    let main_argument = SUMMARY_KEYS.iter().find_map(|key| match arguments.get(key)? {
        // `["bash", "-lc", "ls"]`
        Node::List(words) => Some(words.iter().filter_map(Node::text).collect::<Vec<_>>().join(" ")),
        other => other.word().map(str::to_owned),
    });
    let line = main_argument
        .or_else(|| texts().next().map(str::to_owned))
        .or_else(|| arguments.word().map(str::to_owned));
    let line = line.unwrap_or_default();
    let line = strip_ansi(line.trim()).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SUMMARY_CAP {
        return line;
    }
    line.chars().take(SUMMARY_CAP - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
