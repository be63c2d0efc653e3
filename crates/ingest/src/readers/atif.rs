//! ATIF, the agent trajectory format of Harbor, versions 1.0 to 1.8.
//!
//! Read tolerantly: unknown keys and versions are taken, a message may be a text or a list of parts, any field may be
//! missing or null. Media become a chip in the text (`[image: image/png, images/a.png]`). Results of tools go to the
//! call that they name, also where an entry of their own lists them behind it; a batch of calls with one unnamed result
//! (terminus-2) has it at its last call; results without any call follow as a step of their own. Embedded sub-agents
//! follow the main steps under a heading.
//!
//! Some harnesses list what a tool gave as an entry of the agent. Such an entry is no step of the agent: the model was
//! not called for it ([`is_tool_result`]).
//!
//! Memory is bounded: texts are cut at [`TEXT_CAP`], steps after [`STEP_CAP`] are counted and not kept.

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

pub use self::parts::content;
use self::parts::{result_text, tokens};
pub use self::trajectory_summary::TrajectorySummary;
use self::trajectory_summary::{Entry, has_spoken, is_tool_result, print, source_call_id};

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
    /// The name of the file in the same folder that goes on where this one ends.
    pub fn continued_in(&self) -> Option<&str> {
        let name = self.continued_trajectory_ref.as_ref()?.word()?;
        (!name.contains(['/', '\\'])).then_some(name)
    }

    /// JSON values that it holds, as [`NODE_CAP`] counts them.
    pub fn values(&self) -> u64 {
        self.steps.kept.iter().chain(&self.subagent_trajectories).map(Node::values).sum()
    }
}

#[derive(Debug, Default)]
struct Steps {
    kept: Vec<Node>,
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
                while steps.kept.len() < STEP_CAP {
                    match seq.next_element_seed(NodeSeed::new(&left))? {
                        Some(step) => steps.kept.push(step),
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
        let is_copied = |step: &&Node| step.get("is_copied_context").and_then(Node::truth) == Some(true);
        for steps in document.steps.kept.chunk_by(|a, b| is_copied(&a) == is_copied(&b)) {
            if steps.first().is_some_and(|first| is_copied(&first)) {
                // A continuation begins with the context that it took over; it has been shown already. Any other was taken
                // over from elsewhere.
                if part == 0 {
                    let counted_steps = counted(steps.len() as u64, "step");
                    let text = format!(
                        "Copied context: {counted_steps} taken over from another transcript, not shown"
                    );
                    out.steps.push(Step { text, ..Step::new(StepKind::System) });
                }
                continue;
            }
            for step in steps {
                push_step(&mut out.steps, &mut calls, step);
            }
        }
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

fn push_subagent(steps: &mut Vec<Step>, trajectory: &Node, depth: u8) {
    let name = trajectory.at(&["agent", "name"]).and_then(Node::word);
    let id = ["trajectory_id", "session_id"].iter().find_map(|k| trajectory.get(k)?.word());
    let heading = [Some("Sub-agent"), name, id].into_iter().flatten().collect::<Vec<_>>().join(" ");
    steps.push(Step { text: heading, ..Step::new(StepKind::System) });
    let mut calls = Calls::default();
    for step in trajectory.get("steps").map_or(&[][..], Node::list) {
        push_step(steps, &mut calls, step);
    }
    if depth < 8 {
        for agent in trajectory.get("subagent_trajectories").map_or(&[][..], Node::list) {
            push_subagent(steps, agent, depth + 1);
        }
    }
}

/// Where each call stands, by its id: index of its step, and of the call in it. An id that comes again is the later one.
type Calls = HashMap<String, (usize, usize)>;

fn push_step(steps: &mut Vec<Step>, calls: &mut Calls, node: &Node) {
    let kind = match node.get("source").and_then(Node::text) {
        Some("system") => StepKind::System,
        Some("user") => StepKind::User,
        Some("tool" | "environment") => StepKind::Tool,
        _ => StepKind::Agent,
    };
    let mut step = Step::new(kind);
    (step.text, step.text_cut) = node.get("message").map(content).unwrap_or_default();
    step.reasoning = node.get("reasoning_content").map(|n| content(n).0).filter(|t| !t.is_empty());
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
    let results = node.at(&["observation", "results"]).map_or(&[][..], Node::list);
    let texts: Vec<(String, u64)> = results.iter().map(result_text).collect();
    let says_more = !step.text.trim().is_empty()
        && !matches!(&texts[..], [(only, _)] if print(only) == print(&step.text));
    let all_named = results.iter().all(|r| source_call_id(r).is_some());
    let may_be_result = match kind {
        StepKind::Agent | StepKind::Tool => true,
        StepKind::System => all_named,
        StepKind::User => false,
    };
    let is_result = may_be_result
        && is_tool_result(&Entry {
            calls: step.tool_calls.len(),
            model_calls: node.get("llm_call_count").and_then(Node::count).filter(|_| kind == StepKind::Agent),
            spoke: step.reasoning.is_some() || node.get("metrics").is_some_and(has_spoken),
            results: results.len(),
            all_named,
            says_more,
        });
    if is_result {
        step.kind = StepKind::Tool;
        if !says_more {
            // The message repeats the result.
            (step.text, step.text_cut) = (String::new(), 0);
        }
    }
    let at = step.at.clone();
    // What only held a result is not shown once the result stands at its call.
    let is_left_out = is_result && step.text.trim().is_empty();
    if !is_left_out {
        steps.push(step);
    }
    for (result, (text, text_cut)) in results.iter().zip(texts) {
        let place = match source_call_id(result) {
            Some(id) => calls.get(id).copied(),
            None if is_left_out => open_call(steps),
            None => steps[step_index].tool_calls.len().checked_sub(1).map(|last| (step_index, last)),
        };
        let is_error = result.at(&["extra", "is_error"]).and_then(Node::truth);
        match place.and_then(|(step, call)| steps.get_mut(step)?.tool_calls.get_mut(call)) {
            Some(call) => give(call, &text, text_cut, is_error),
            None => {
                steps.push(Step { text, text_cut, at: at.clone(), ..Step::new(StepKind::Tool) });
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
fn give(call: &mut ToolCall, text: &str, text_cut: u64, is_error: Option<bool>) {
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
    const TELLING: [&str; 12] = [
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
    let telling = TELLING.iter().find_map(|key| match arguments.get(key)? {
        // `["bash", "-lc", "ls"]`
        Node::List(words) => Some(words.iter().filter_map(Node::text).collect::<Vec<_>>().join(" ")),
        other => other.word().map(str::to_owned),
    });
    let line =
        telling.or_else(|| texts().next().map(str::to_owned)).or_else(|| arguments.word().map(str::to_owned));
    let line = line.unwrap_or_default();
    let line = strip_ansi(line.trim()).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SUMMARY_CAP {
        return line;
    }
    line.chars().take(SUMMARY_CAP - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use StepKind::{Agent, System, Tool, User};
    use proptest::prelude::*;

    use super::*;

    fn read(json: &str) -> Transcript {
        transcript(&[serde_json::from_str(json).unwrap()])
    }

    #[test]
    fn results_find_their_calls() {
        let t = read(
            r#"{"schema_version": "ATIF-v1.8", "future": [1], "steps": [
              {"step_id": 1, "source": "user", "message": [{"type": "text", "text": "look"}, {"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}}]},
              {"step_id": 2, "source": "agent", "message": "", "timestamp": "2026-01-01T00:00:00Z", "reasoning_content": "hm",
               "tool_calls": [{"tool_call_id": "a", "function_name": "bash_command", "arguments": {"keystrokes": "ls\n  -la\n", "duration": 0.1}},
                              {"tool_call_id": "b", "function_name": "edit", "arguments": "raw"}],
               "observation": {"results": [{"source_call_id": "a", "content": "one", "extra": {"is_error": true}}, {"content": "all"}, {"source_call_id": "zz", "content": "lost"}]},
               "metrics": {"prompt_tokens": 8, "completion_tokens": 3, "cost_usd": 0.5}},
              {"step_id": 3, "source": "system", "message": null, "observation": {"results": [{"content": "boot", "subagent_trajectory_ref": [{"trajectory_id": "sub-1"}]}]}}],
             "subagent_trajectories": [{"trajectory_id": "sub-1", "agent": {"name": "summarizer"}, "steps": [{"source": "agent", "message": "short"}]}]}"#,
        );
        assert_eq!(t.format.as_deref(), Some("ATIF-v1.8"));
        let kinds: Vec<StepKind> = t.steps.iter().map(|s| s.kind).collect();
        assert_eq!(kinds, [User, Agent, Tool, System, Tool, System, Agent]);
        assert_eq!(t.steps[0].text, "look\n[image: image/png, images/a.png]");
        let calls = &t.steps[1].tool_calls;
        assert_eq!(
            (calls[0].summary.as_str(), calls[0].result.as_deref(), calls[0].is_error),
            ("ls -la", Some("one"), Some(true))
        );
        assert_eq!((calls[1].summary.as_str(), calls[1].result.as_deref()), ("raw", Some("all")));
        assert_eq!(t.steps[1].tokens.unwrap().input, Some(8));
        assert_eq!(t.steps[2].text, "lost");
        assert_eq!(t.steps[4].text, "boot\n[sub-agent: sub-1]");
        assert_eq!(t.steps[5].text, "Sub-agent summarizer sub-1");
        assert_eq!(t.steps.last().unwrap().index, 7);
    }

    /// Three steps of a model, whose results are entries of the agent, as several harnesses write them.
    const LISTED: &str = r#"{"steps": [
        {"source": "user", "message": "go"},
        {"source": "agent", "message": "I look.", "tool_calls": [{"tool_call_id": "a", "function_name": "ls", "arguments": {}},
            {"tool_call_id": "b", "function_name": "cat", "arguments": {}}], "metrics": {"prompt_tokens": 9, "completion_tokens": 2}},
        {"source": "agent", "message": "x.py\n", "observation": {"results": [{"source_call_id": "a", "content": "x.py"}]}},
        {"source": "agent", "message": "", "observation": {"results": [{"source_call_id": "b", "content": "pass", "extra": {"is_error": true}}]}},
        {"source": "agent", "message": "again", "reasoning_content": "hm", "tool_calls": [{"tool_call_id": "a", "function_name": "ls", "arguments": {}}]},
        {"source": "agent", "message": "y.py", "observation": {"results": [{"content": "y.py"}]}},
        {"source": "environment", "message": "", "observation": {"results": [{"source_call_id": "a", "content": "z.py"}]}},
        {"source": "agent", "message": "Ran a hook.", "llm_call_count": 0},
        {"source": "agent", "message": "Done.", "llm_call_count": 1, "observation": {"results": [{"content": "ok"}]}}]}"#;

    #[test]
    fn results_that_are_listed_as_the_agents_are_no_steps_of_it() {
        let facts: TrajectorySummary = serde_json::from_str(LISTED).unwrap();
        assert_eq!((facts.agent_steps(), facts.tool_calls()), (3, 3));

        let t = read(LISTED);
        let shown: Vec<(StepKind, &str)> = t.steps.iter().map(|s| (s.kind, s.text.as_str())).collect();
        assert_eq!(
            shown,
            [
                (User, "go"),
                (Agent, "I look."),
                (Agent, "again"),
                (Tool, "Ran a hook."),
                (Agent, "Done."),
                (Tool, "ok")
            ]
        );
        let results: Vec<Option<&str>> =
            t.steps.iter().flat_map(|s| &s.tool_calls).map(|c| c.result.as_deref()).collect();
        assert_eq!(results, [Some("x.py"), Some("pass"), Some("y.py\nz.py")], "each once, at its call");
        assert_eq!(t.steps[1].tool_calls[1].is_error, Some(true));
    }

    #[test]
    fn a_continuation_does_not_repeat_what_it_took_over() {
        let first = serde_json::from_str(r#"{"steps": [{"source": "user", "message": "a"}], "continued_trajectory_ref": "trajectory.cont-1.json"}"#).unwrap();
        let second = serde_json::from_str(r#"{"steps": [{"source": "user", "message": "a", "is_copied_context": true}, {"source": "agent", "message": "b"}]}"#).unwrap();
        assert_eq!(Document::continued_in(&first), Some("trajectory.cont-1.json"));
        let t = transcript(&[first, second]);
        assert_eq!(t.steps.iter().map(|s| s.text.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn context_from_elsewhere_is_marked_where_it_stood() {
        let t = read(
            r#"{"agent": {"name": "a"}, "steps": [{"source": "user", "message": "go"}, {"source": "agent", "message": "x", "is_copied_context": true},
                {"source": "agent", "message": "y", "is_copied_context": true}, {"source": "agent", "message": "new"}]}"#,
        );
        let texts: Vec<_> = t.steps.iter().map(|s| s.text.as_str()).collect();
        assert_eq!(
            texts,
            ["go", "Copied context: 2 steps taken over from another transcript, not shown", "new"]
        );
        assert_eq!(t.agent.as_deref(), Some("a"));
    }

    #[test]
    fn large_files_are_cut_and_say_so() {
        let steps = r#"{"source": "agent", "message": "x"},"#.repeat(STEP_CAP + 2);
        let t =
            read(&format!("{{\"steps\": [{steps} {{\"source\": \"agent\", \"message\": \"{}\"}}]}}", "y"));
        assert_eq!((t.steps.len(), t.steps_cut), (STEP_CAP, 3));
        let t = read(&format!(
            "{{\"steps\": [{{\"source\": \"agent\", \"message\": \"{}\"}}]}}",
            "y".repeat(TEXT_CAP + 10)
        ));
        assert_eq!((t.steps[0].text.len(), t.steps[0].text_cut), (TEXT_CAP, 10));
    }

    #[test]
    fn odd_shapes_are_taken() {
        for json in [
            "{}",
            r#"{"steps": null}"#,
            r#"{"steps": [3, null, "x", {}, {"source": 4, "message": {"a": 1}, "tool_calls": {}, "observation": []}]}"#,
        ] {
            read(json);
        }
        assert!(serde_json::from_str::<Document>(r#"{"steps": 3}"#).is_err());
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            "[a-z ä\n]{0,12}".prop_map(Into::into),
            prop::sample::select(vec!["agent", "user", "image", "a", "text"]).prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 48, 4, |inner| {
            let key = prop::sample::select(vec![
                "source",
                "message",
                "tool_calls",
                "tool_call_id",
                "observation",
                "results",
                "source_call_id",
                "content",
                "arguments",
                "function_name",
                "metrics",
                "type",
                "text",
                "path",
                "subagent_trajectory_ref",
                "steps",
                "x",
            ]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::vec((key, inner), 0..6).prop_map(|map| {
                    serde_json::Value::Object(map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_shape_breaks_it(steps in prop::collection::vec(json(), 0..6), agents in json()) {
            let text = serde_json::json!({"steps": steps, "subagent_trajectories": agents}).to_string();
            let t = read(&text);
            prop_assert!(t.steps.iter().zip(1..).all(|(s, i)| s.index == i));
        }
    }
}
