//! Transcripts as sums: what a list of steps has of tokens, cost, tool calls and times.

use model::StepKind;

use super::field_names;
use super::speaker::step_kind;
use super::usage::{Usage, time, usage_near};
use crate::formats::staminabench::bounded_json::{BoundedDocument, Elements, Transcripts};
use crate::formats::staminabench::json_fields::normal;
use crate::readers::json::Node;

/// Any document: what it says of turns and attempts in full, its transcripts as sums only.
pub(super) type SummaryDocument = BoundedDocument<Sums>;

/// Finds the transcripts of a document by the names of lists, and sums them up.
#[derive(Debug)]
pub(super) struct Sums;

impl Transcripts for Sums {
    type Steps = Steps;
    const TEXT: usize = 8 << 10;

    fn elements(key: &str) -> Elements {
        match normal(key).as_str() {
            key if field_names::TRANSCRIPTS.contains(&key) => Elements::Steps,
            key if field_names::MAYBE_TRANSCRIPTS.contains(&key) => Elements::PerhapsSteps,
            _ => Elements::Values,
        }
    }

    fn is_step(element: &Node) -> bool {
        field_names::is_step(element)
    }

    fn add(steps: &mut Steps, step: &Node) {
        sum_step(step, steps);
    }
}

/// What a list of steps sums up to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Steps {
    /// How many there are.
    pub(super) count: u32,
    /// How many of them are the agent's: neither system, user nor tool.
    pub(super) agent_count: u32,
    /// Tokens and cost of those that name them.
    pub(super) usage: Usage,
    /// Tool calls; `None` = no step names any.
    pub(super) tool_calls: Option<u32>,
    /// Time of the first step that has one.
    pub(super) first_at: Option<String>,
    /// Time of the last step that has one.
    pub(super) last_at: Option<String>,
}

/// Adds one step of a transcript to its sums.
pub(super) fn sum_step(node: &Node, sum: &mut Steps) {
    sum.count = sum.count.saturating_add(1);
    sum.agent_count = sum.agent_count.saturating_add(u32::from(step_kind(node) == StepKind::Agent));
    let mut step_usage = usage_near(node);
    for (key, value) in node.map() {
        let key = normal(key);
        match key.as_str() {
            "tool_calls" => {
                let calls = u32::try_from(value.list().len()).unwrap_or(u32::MAX);
                sum.tool_calls = Some(sum.tool_calls.unwrap_or(0).saturating_add(calls));
            }
            // What a harness wraps around a provider's answer.
            "response" | "extra" | "message" | "info" => {
                step_usage.complete(usage_near(value));
                for (inner, value) in value.map() {
                    if normal(inner) == "response" {
                        step_usage.complete(usage_near(value));
                    }
                }
            }
            "timestamp" | "time" | "created_at" | "at" => {
                if let Some(moment) = time(value) {
                    sum.first_at.get_or_insert_with(|| moment.clone());
                    sum.last_at = Some(moment);
                }
            }
            _ => {}
        }
    }
    sum.usage.add(step_usage);
}

#[cfg(test)]
mod tests {
    use files::JsonSink as _;

    use super::super::trajectory::{attempt, trajectory};
    use super::*;
    use crate::formats::staminabench::bounded_json::{KEY, PATHS};

    fn read(json: &str) -> SummaryDocument {
        let mut document = SummaryDocument::default();
        document.take(&mut serde_json::Deserializer::from_str(json)).unwrap();
        document
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn paths_of_transcripts_below_long_names_are_kept_up_to_a_bound() {
        const MESSAGES: &str = "{\"messages\": [{\"role\": \"assistant\"}]}";
        let many_lists: Vec<String> = (0..3_000).map(|number| format!("\"a{number}\": {MESSAGES}")).collect();
        let nested_lists = |names: usize, letters: usize| {
            let (start, end) = (format!("{{\"{}\":", "k".repeat(letters)).repeat(names), "}".repeat(names));
            read(&format!("{start}{{{}}}{end}", many_lists.join(",")))
        };
        let bytes = |document: &SummaryDocument| document.steps.keys().map(String::len).sum::<usize>();
        // One name of a megabyte, as a million of letters above each transcript.
        let long = nested_lists(1, 1 << 20);
        assert_eq!((long.steps.len(), long.cut), (3_000, false));
        assert!(bytes(&long) < 1 << 20, "{}", bytes(&long));
        // Many names, one in the other.
        let deep = (0..8).map(|_| format!("{{{}}}", many_lists.join(","))).collect::<Vec<_>>();
        let start = format!("{{\"{}\":", "k".repeat(KEY)).repeat(100);
        let deep = read(&format!("{start}[{}]{}", deep.join(","), "}".repeat(100)));
        assert!(deep.cut && bytes(&deep) <= PATHS, "{}", bytes(&deep));
        // Transcripts in the steps of one.
        let inner = vec![MESSAGES; 150_000].join(",");
        let nested = read(&format!("{{\"messages\": [{inner}]}}"));
        assert!(nested.cut && nested.steps.len() < 150_000, "{}", nested.steps.len());
        assert_eq!(nested_lists(2, 10).steps.len(), 3_000);
    }

    #[test]
    fn what_a_whole_says_is_not_added_to_what_its_steps_say() {
        let used = |input: u32, cost: f64| {
            format!("\"usage\": {{\"prompt_tokens\": {input}, \"completion_tokens\": 1}}, \"cost\": {cost}")
        };
        let steps = format!(
            "\"messages\": [{{\"role\": \"assistant\", {}}}, {{\"role\": \"user\"}}, {{\"role\": \"assistant\", {}}}]",
            used(60, 0.25),
            used(40, 0.5)
        );
        let spent =
            |facts: &super::super::facts::RecordFacts| (facts.usage.tokens().0.input, facts.usage.cost());
        let turn_sums = |turn: &str| {
            let facts = trajectory(read(&format!("{{\"turns\": [{{\"turn\": 1, {turn}}}]}}")), "t");
            spent(&facts.turns[0].1.records[0])
        };
        assert_eq!(
            turn_sums(&format!("\"success\": true, {}, {steps}", used(105, 0.8))),
            (Some(105), Some(0.8))
        );
        assert_eq!(turn_sums(&format!("\"success\": true, {steps}")), (Some(100), Some(0.75)));
        let whole = trajectory(read(&format!("{{{}, {steps}}}", used(105, 0.8))), "t").whole;
        assert_eq!(spent(&whole), (Some(105), Some(0.8)));
        let file_attempt = attempt(read(&format!("{{\"passed\": 1, {}, {steps}}}", used(105, 0.8))), "t");
        assert_eq!(spent(&file_attempt), (Some(105), Some(0.8)));
        let lone = trajectory(read(&format!("[{{\"turn\": 1, {}, {steps}}}]", used(105, 0.8))), "t");
        assert_eq!(spent(&lone.turns[0].1.records[0]), (Some(105), Some(0.8)));
    }
}
