//! ATIF, the agent trajectory format of Harbor, versions 1.0 to 1.8.
//!
//! Read tolerantly: unknown keys and versions are taken, a message may be a text or a list of parts, any field may be
//! missing or null. Media become a chip in the text (`[image: image/png, images/a.png]`). Results of tools go to the
//! call that they name; a batch of calls with one unnamed result (terminus-2) has it at its last call; results without
//! any call follow as a step of their own. Embedded sub-agents follow the main steps under a heading.
//!
//! Memory is bounded: texts are cut at [`TEXT_CAP`], steps after [`STEP_CAP`] are counted and not kept.

use std::cell::Cell;
use std::fmt;

use model::{Step, StepKind, Tokens, ToolCall, Transcript};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json::{NODE_CAP, Node, NodeSeed, TEXT_CAP, cut};
use super::text::strip_ansi;

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
                    match seq.next_element_seed(NodeSeed { left: &left })? {
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

/// What an import needs of a trajectory, without holding its texts.
#[derive(Debug, Default, Deserialize)]
pub struct Facts {
    #[serde(default)]
    steps: Vec<StepFacts>,
    #[serde(default)]
    final_metrics: Option<Node>,
    #[serde(default)]
    continued_trajectory_ref: Option<String>,
}

#[derive(Debug, Deserialize)]
struct StepFacts {
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<IgnoredAny>>,
    #[serde(default)]
    is_copied_context: Option<bool>,
    #[serde(default)]
    message: Framed,
    #[serde(default)]
    metrics: Spent,
}

/// The counts of one step, which may be of any type.
#[derive(Debug, Default, Clone, Copy)]
struct Spent(Tokens);

impl<'de> Deserialize<'de> for Spent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(tokens(&Node::deserialize(deserializer)?)))
    }
}

/// What a step's `metrics` count.
fn tokens(metrics: &Node) -> Tokens {
    let count = |key| metrics.get(key).and_then(Node::count);
    Tokens {
        input: count("prompt_tokens"),
        cached: count("cached_tokens"),
        output: count("completion_tokens"),
    }
}

/// The instruction in a message that a harness has framed with words of its own; no other message is kept.
#[derive(Debug, Default)]
struct Framed(Option<String>);

impl<'de> Deserialize<'de> for Framed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Message;
        impl<'de> Visitor<'de> for Message {
            type Value = Framed;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a message")
            }
            fn visit_str<E>(self, text: &str) -> Result<Framed, E> {
                let instruction = unframed(text).filter(|instruction| instruction.len() <= TEXT_CAP);
                Ok(Framed(instruction.map(str::to_owned)))
            }
            fn visit_unit<E>(self) -> Result<Framed, E> {
                Ok(Framed::default())
            }
            fn visit_bool<E>(self, _: bool) -> Result<Framed, E> {
                Ok(Framed::default())
            }
            fn visit_i64<E>(self, _: i64) -> Result<Framed, E> {
                Ok(Framed::default())
            }
            fn visit_u64<E>(self, _: u64) -> Result<Framed, E> {
                Ok(Framed::default())
            }
            fn visit_f64<E>(self, _: f64) -> Result<Framed, E> {
                Ok(Framed::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Framed, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Framed::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Framed, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Framed::default())
            }
        }
        deserializer.deserialize_any(Message)
    }
}

/// The instruction in the first message of Terminus, which puts its system prompt before it and the screen behind it.
fn unframed(message: &str) -> Option<&str> {
    const BEFORE: &str = "\nTask Description:\n";
    const BEHIND: &str = "\nCurrent terminal state:\n";
    let system = message.find(BEFORE)?;
    let instruction = &message[system + BEFORE.len()..];
    Some(instruction[..instruction.rfind(BEHIND)?].trim())
}

impl Facts {
    /// The agent's steps, without those that a continuation repeats from the file before.
    fn of_agent(&self) -> impl Iterator<Item = &StepFacts> {
        self.steps
            .iter()
            .filter(|s| s.source.as_deref() == Some("agent") && s.is_copied_context != Some(true))
    }

    /// How many steps the agent took.
    pub fn agent_steps(&self) -> u32 {
        self.of_agent().count() as u32
    }

    /// Tool calls of the agent's steps.
    pub fn tool_calls(&self) -> u32 {
        self.of_agent().map(|s| s.tool_calls.as_ref().map_or(0, Vec::len) as u32).sum()
    }

    /// Whether a step of the agent has more cached than input tokens: then the cached ones are no part of the input.
    pub fn cache_exceeds_input(&self) -> bool {
        self.of_agent().any(|step| step.metrics.0.cache_exceeds_input())
    }

    /// The sum over the agent's steps.
    pub fn tokens_of_steps(&self) -> Tokens {
        self.of_agent().fold(Tokens::default(), |sum, step| sum.plus(step.metrics.0))
    }

    /// Where in `steps` the first message of the user stands.
    pub fn first_user_step(&self) -> Option<usize> {
        self.steps.iter().position(|s| s.source.as_deref() == Some("user"))
    }

    /// The instruction in the first message of the user, where the harness has framed it with its own words.
    pub fn instruction(&self) -> Option<&str> {
        self.steps.get(self.first_user_step()?)?.message.0.as_deref()
    }

    /// The sums that the file itself gives; `None` where it gives none or only zeros.
    pub fn totals(&self) -> Option<(Tokens, Option<f64>)> {
        let metrics = self.final_metrics.as_ref()?;
        let count = |key| metrics.get(key).and_then(Node::count).filter(|n| *n > 0);
        let tokens = Tokens {
            input: count("total_prompt_tokens"),
            cached: count("total_cached_tokens"),
            output: count("total_completion_tokens"),
        };
        let cost = metrics.get("total_cost_usd").and_then(Node::number).filter(|c| *c > 0.0);
        (!tokens.is_unknown() || cost.is_some()).then_some((tokens, cost))
    }

    /// The name of the file in the same folder that goes on where this one ends.
    pub fn continued_in(&self) -> Option<&str> {
        self.continued_trajectory_ref.as_deref().filter(|n| !n.is_empty() && !n.contains(['/', '\\']))
    }
}

/// The transcript of a trajectory and the files that continue it, in their order.
pub fn transcript(documents: &[Document]) -> Transcript {
    let mut out = Transcript {
        format: documents.first().and_then(|d| d.schema_version.as_ref()?.word().map(str::to_owned)),
        ..Transcript::default()
    };
    for (part, document) in documents.iter().enumerate() {
        for step in &document.steps.kept {
            // A continuation begins with the context that it took over; it has been shown already.
            if part > 0 && step.get("is_copied_context").and_then(Node::truth) == Some(true) {
                continue;
            }
            push_step(&mut out.steps, step);
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
    steps.push(Step { text: heading, ..empty_step(StepKind::System) });
    for step in trajectory.get("steps").map_or(&[][..], Node::list) {
        push_step(steps, step);
    }
    if depth < 8 {
        for agent in trajectory.get("subagent_trajectories").map_or(&[][..], Node::list) {
            push_subagent(steps, agent, depth + 1);
        }
    }
}

const fn empty_step(kind: StepKind) -> Step {
    Step {
        index: 0,
        kind,
        text: String::new(),
        text_cut: 0,
        reasoning: None,
        tool_calls: Vec::new(),
        tokens: None,
        cost_usd: None,
        at: None,
    }
}

fn push_step(steps: &mut Vec<Step>, node: &Node) {
    let kind = match node.get("source").and_then(Node::text) {
        Some("system") => StepKind::System,
        Some("user") => StepKind::User,
        Some("tool" | "environment") => StepKind::Tool,
        _ => StepKind::Agent,
    };
    let mut step = empty_step(kind);
    (step.text, step.text_cut) = node.get("message").map(content).unwrap_or_default();
    step.reasoning = node.get("reasoning_content").map(|n| content(n).0).filter(|t| !t.is_empty());
    step.at = node.get("timestamp").and_then(Node::word).map(str::to_owned);
    if let Some(metrics) = node.get("metrics") {
        step.tokens = Some(tokens(metrics)).filter(|t| !t.is_unknown());
        step.cost_usd = metrics.get("cost_usd").and_then(Node::number);
    }
    let mut ids = Vec::new();
    for call in node.get("tool_calls").map_or(&[][..], Node::list) {
        ids.push(call.get("tool_call_id").and_then(Node::text).unwrap_or_default());
        step.tool_calls.push(tool_call(call));
    }
    let mut unclaimed = Vec::new();
    for result in node.at(&["observation", "results"]).map_or(&[][..], Node::list) {
        let (text, text_cut) = result_text(result);
        let is_error = result.at(&["extra", "is_error"]).and_then(Node::truth);
        let named = result.get("source_call_id").and_then(Node::text).filter(|id| !id.is_empty());
        let target = match named {
            Some(id) => ids.iter().position(|i| *i == id),
            None => step.tool_calls.len().checked_sub(1),
        };
        let Some(call) = target.and_then(|i| step.tool_calls.get_mut(i)) else {
            unclaimed.push((text, text_cut));
            continue;
        };
        call.is_error = call.is_error.or(is_error);
        match &mut call.result {
            Some(before) => {
                before.push('\n');
                before.push_str(&text);
                let (kept, more) = cut(before, TEXT_CAP);
                call.result_cut += more + text_cut;
                *before = kept.to_owned();
            }
            none => {
                *none = Some(text);
                call.result_cut = text_cut;
            }
        }
    }
    let at = step.at.clone();
    steps.push(step);
    for (text, text_cut) in unclaimed {
        steps.push(Step { text, text_cut, at: at.clone(), ..empty_step(StepKind::Tool) });
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

fn result_text(result: &Node) -> (String, u64) {
    let (mut text, cut) = result.get("content").map(content).unwrap_or_default();
    for agent in result.get("subagent_trajectory_ref").map_or(&[][..], Node::list) {
        let name =
            ["trajectory_path", "trajectory_id", "session_id"].iter().find_map(|k| agent.get(k)?.word());
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("[sub-agent: {}]", name.unwrap_or("unnamed")));
    }
    (text, cut)
}

/// The text of a message and how many bytes of it were cut.
pub fn content(node: &Node) -> (String, u64) {
    match node {
        Node::Text(text, cut) => (text.clone(), *cut),
        Node::List(parts) => {
            let mut all = Vec::new();
            let mut lost = 0;
            for part in parts {
                if let Some(Node::Text(text, cut)) = part.get("text") {
                    lost += cut;
                    all.push(text.clone());
                } else if let Node::Text(text, cut) = part {
                    lost += cut;
                    all.push(text.clone());
                } else {
                    all.push(chip(part));
                }
            }
            let joined = all.join("\n");
            let (kept, more) = cut(&joined, TEXT_CAP);
            (kept.to_owned(), lost + more)
        }
        Node::Null => (String::new(), 0),
        other => (other.to_value().to_string(), 0),
    }
}

/// What stands for an image or a sound: its type, and where it lies or how large it is.
fn chip(part: &Node) -> String {
    let kind = part.get("type").and_then(Node::word).unwrap_or("part");
    let source = part.get("source");
    let mut facts: Vec<String> = Vec::new();
    let find = |key| source.and_then(|s| s.get(key)).or_else(|| part.get(key));
    if let Some(media) = find("media_type").and_then(Node::word) {
        facts.push(media.to_owned());
    }
    if let Some(Node::Text(path, lost)) = find("path").or_else(|| find("data")).or_else(|| find("url")) {
        let bytes = path.len() as u64 + lost;
        if path.starts_with("data:") || find("path").is_none() && bytes > 200 {
            // Base64 has four letters for three bytes.
            facts.push(format!("{} KB", (bytes * 3 / 4).div_ceil(1024)));
        } else {
            facts.push(path.clone());
        }
    }
    if let Some(seconds) = find("duration_sec").and_then(Node::number) {
        facts.push(format!("{seconds} s"));
    }
    if facts.is_empty() { format!("[{kind}]") } else { format!("[{kind}: {}]", facts.join(", ")) }
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

    #[test]
    fn a_continuation_does_not_repeat_what_it_took_over() {
        let first = serde_json::from_str(r#"{"steps": [{"source": "user", "message": "a"}], "continued_trajectory_ref": "trajectory.cont-1.json"}"#).unwrap();
        let second = serde_json::from_str(r#"{"steps": [{"source": "user", "message": "a", "is_copied_context": true}, {"source": "agent", "message": "b"}]}"#).unwrap();
        assert_eq!(Document::continued_in(&first), Some("trajectory.cont-1.json"));
        let t = transcript(&[first, second]);
        assert_eq!(t.steps.iter().map(|s| s.text.as_str()).collect::<Vec<_>>(), ["a", "b"]);
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
    fn the_frame_of_a_harness_is_no_part_of_the_instruction() {
        let facts = |message: &str| -> Facts {
            let step = serde_json::json!({ "source": "user", "message": message });
            let file = serde_json::json!({ "steps": [{ "source": "agent", "message": 3 }, { "message": [{}] }, step] });
            serde_json::from_value(file).unwrap()
        };
        let framed = "You are an AI assistant.\n\nTask Description:\n# Round 1\n\nDo it.\n\n\nCurrent terminal state:\n$";
        assert_eq!(facts(framed).instruction(), Some("# Round 1\n\nDo it."));
        assert_eq!(facts("Task Description: do it").instruction(), None);
        assert_eq!(facts("").instruction(), None);
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
            prop_assert!(t.steps.len() >= steps.len());
            prop_assert!(t.steps.iter().zip(1..).all(|(s, i)| s.index == i));
        }
    }

    #[test]
    fn the_facts_count_calls_of_the_agent_only() {
        let facts: Facts = serde_json::from_str(
            r#"{"steps": [{"source": "user", "message": "a"}, {"source": "agent", "tool_calls": [{}, {"a": [1]}]}, {"source": "agent", "tool_calls": null},
                {"source": "agent", "is_copied_context": true, "tool_calls": [{}]}, {"source": "system", "tool_calls": [{}]}],
                "final_metrics": {"total_prompt_tokens": 5, "total_completion_tokens": 0, "total_cost_usd": null}}"#,
        )
        .unwrap();
        assert_eq!((facts.tool_calls(), facts.agent_steps()), (2, 2));
        assert_eq!(facts.first_user_step(), Some(0));
        assert_eq!(facts.totals(), Some((Tokens { input: Some(5), cached: None, output: None }, None)));
    }
}
