//! `trajectory.json` of unknown schema, read for what it plainly says.
//!
//! Turns and attempts are found by the names of lists and maps (`turns`, `attempts`), by numbers that elements say
//! (`turn`, `attempt_idx`) and by numbered keys (`turn_3`). Everything else is recognized by the field names in [`field_names`].

use model::{Artifact, ArtifactKind};

use super::facts::{Number, RecordFacts, TrajectoryFacts, TurnFacts};
use super::field_names;
use super::fields::{field, raised_by_name, raised_by_state, record, tests};
use super::file_names;
use super::step_sums::{Steps, SummaryDocument, sum_step};
use super::usage::Usage;
use crate::attribution::label_table;
use crate::formats::staminabench::json_fields::normal;
use crate::readers::json::Node;
use crate::readers::text::plain_title;

/// Turns, attempts and lone steps that are kept of one file.
const RECORDS: usize = 100_000;

/// Reads a trajectory; `path` is where it lies in the tree.
pub(super) fn trajectory(mut document: SummaryDocument, path: &str) -> TrajectoryFacts {
    let root = std::mem::replace(&mut document.root, Node::Null);
    let facts = TrajectoryFacts { is_cut: document.cut, ..TrajectoryFacts::default() };
    let mut walk = Walk { document: &mut document, path, facts, free_records: RECORDS };
    walk.episode(&root, "", 0);
    let rest = walk.transcripts("");
    // The numbers of a whole include those of its steps, which are added up only where the whole has none.
    walk.facts.whole.complete(rest);
    walk.facts
}

/// Reads a file that is about one attempt, such as a JSON of test results.
pub(super) fn attempt(mut document: SummaryDocument, path: &str) -> RecordFacts {
    let root = std::mem::replace(&mut document.root, Node::Null);
    let mut facts = RecordFacts::default();
    match &root {
        Node::List(list) => facts.tests = tests(list),
        _ => record(&mut facts, &root, "", 0),
    }
    let mut walk =
        Walk { document: &mut document, path, facts: TrajectoryFacts::default(), free_records: RECORDS };
    facts.complete(walk.transcripts(""));
    facts
}

struct Walk<'a> {
    document: &'a mut SummaryDocument,
    path: &'a str,
    facts: TrajectoryFacts,
    /// Records that may still be made.
    free_records: usize,
}

fn child(pointer: &str, key: impl std::fmt::Display) -> String {
    format!("{pointer}/{}", key.to_string().replace('~', "~0").replace('/', "~1"))
}

/// The number that an element says under one of the names.
fn number_in(node: &Node, names: &[&str]) -> Option<u32> {
    node.map().iter().find(|(k, _)| names.contains(&normal(k).as_str())).and_then(|(_, v)| match v {
        Node::Text(text, _) => file_names::file_place(text).turn.filter(|_| text.len() < 40),
        v => v.count().and_then(|n| u32::try_from(n).ok()),
    })
}

/// Whether an element says how tests went, itself or in an object such as `evaluation`.
fn has_result(node: &Node) -> bool {
    field_names::has_any_key(
        node,
        &[
            field_names::PASSED,
            field_names::TOTAL,
            field_names::SUCCESS,
            field_names::SCORE,
            field_names::TESTS,
        ],
    )
}

/// Whether a flat record of an attempt says how that ended, without a result of tests: it raised something, or has a reason. A
/// message, an action or what a tool gave is a step of the agent, whose own error ends nothing.
fn has_end(node: &Node) -> bool {
    const OF_STEPS: [&str; 11] = [
        "role",
        "content",
        "thought",
        "action",
        "observation",
        "tool_calls",
        "tool",
        "tool_call_id",
        "source",
        "response",
        "step",
    ];
    let has_key = |names: &[&str], is_match: &dyn Fn(&Node) -> bool| {
        node.map().iter().any(|(key, value)| names.contains(&normal(key).as_str()) && is_match(value))
    };
    let is_word = |text: &str| field_names::status(text).is_some() || label_table::is_reason(text);
    let is_label =
        |value: &Node| value.word().is_some_and(|text| is_word(text) || raised_by_name(text).is_some());
    let is_state =
        |value: &Node| value.word().is_some_and(|text| is_word(text) || raised_by_state(text).is_some());
    number_in(node, field_names::ATTEMPT).is_some()
        && !has_key(&OF_STEPS, &|value| *value != Node::Null)
        && (has_key(field_names::EXCEPTION, &|value| value.word().is_some() || !value.map().is_empty())
            || has_key(field_names::END, &is_label)
            || has_key(field_names::STATUS, &is_state))
}

impl Walk<'_> {
    /// Makes room for a record, unless there are too many.
    fn has_room(&mut self) -> bool {
        let free_records = self.free_records.checked_sub(1);
        self.facts.is_cut |= free_records.is_none();
        self.free_records = free_records.unwrap_or(0);
        free_records.is_some()
    }

    fn episode(&mut self, node: &Node, pointer: &str, depth: u8) {
        if let Node::List(list) = node {
            return self.elements(list, pointer);
        }
        for (key, value) in node.map() {
            let child = child(pointer, key);
            let name = normal(key);
            let name = name.as_str();
            let list = value.list();
            if field_names::TURNS.contains(&name) && (!list.is_empty() || !value.map().is_empty()) {
                self.turns(value, &child);
            } else if list.iter().any(|e| number_in(e, field_names::TURN).is_some() || has_result(e))
                && !field_names::TESTS.contains(&name)
            {
                self.elements(list, &child);
            } else if !value.map().is_empty()
                && file_names::file_place(name).turn.is_some()
                && name.starts_with(['t', 'r', 'i'])
            {
                self.numbered(key, value, &child);
            } else if depth < 3
                && !value.map().is_empty()
                && (field_names::WRAPPERS.contains(&name)
                    || field_names::MAYBE_TRANSCRIPTS.contains(&name)
                    || name == "episode")
            {
                self.episode(value, &child, depth + 1);
            } else if field_names::PLANNED.contains(&name) {
                let count = value.count().and_then(|n| u32::try_from(n).ok());
                self.facts.planned = self.facts.planned.or(count.filter(|n| *n <= 100_000));
            } else if matches!(name, "title" | "topic" | "domain" | "scenario_name") && value.word().is_some()
            {
                self.facts.title = value.word().map(str::to_owned);
            } else if list.is_empty()
                && matches!(value, Node::List(_))
                && self.document.steps.contains_key(&child)
            {
                // A transcript, which the attempt that it belongs to takes up.
            } else {
                field(&mut self.facts.whole, key, value, "", 0);
            }
        }
    }

    /// A map's entry whose key carries the turn, and perhaps the attempt.
    fn numbered(&mut self, key: &str, value: &Node, pointer: &str) {
        let key_place = file_names::file_place(key);
        let Some(turn) = key_place.turn else { return };
        match key_place.attempt {
            Some(attempt) => {
                if !self.has_room() {
                    return;
                }
                let facts = self.attempt(value, pointer);
                let turn_facts =
                    TurnFacts { attempts: vec![(Number::Stated(attempt), facts)], ..TurnFacts::default() };
                self.facts.turns.push((Number::Stated(turn), turn_facts));
            }
            None => self.turn(Number::Stated(turn), value, pointer),
        }
    }

    /// Elements of a list that is not named after turns: each says its turn, or is one.
    fn elements(&mut self, list: &[Node], pointer: &str) {
        for (index, element) in list.iter().enumerate() {
            let child = child(pointer, index);
            if let Some(turn) = number_in(element, field_names::TURN) {
                let is_step = !has_result(element)
                    && number_in(element, field_names::ATTEMPT).is_none()
                    && !has_attempts(element);
                if is_step {
                    self.add_lone_step(turn, None, element, &child);
                } else if !has_result(element) && !has_attempts(element) && !has_end(element) {
                    self.add_lone_step(turn, number_in(element, field_names::ATTEMPT), element, &child);
                } else {
                    self.turn(Number::Stated(turn), element, &child);
                }
            } else if has_result(element) || has_attempts(element) {
                self.turn(Number::new(None, index), element, &child);
            }
        }
    }

    /// A step of an agent that says which turn it is of.
    fn add_lone_step(&mut self, turn: u32, attempt: Option<u32>, element: &Node, pointer: &str) {
        let mut steps = Steps::default();
        sum_step(element, &mut steps);
        let mut facts = facts_of_steps(&steps);
        facts.artifacts.push(self.artifact(pointer));
        let held = self.transcripts(pointer);
        facts.usage.complete(held.usage);
        facts.join(RecordFacts { usage: Usage::default(), ..held });
        let last = self.facts.turns.last_mut();
        if let Some((Number::Stated(n), open)) = last.filter(|(n, _)| *n == Number::Stated(turn)) {
            let _ = n;
            match (attempt, open.attempts.last_mut()) {
                (Some(a), Some((Number::Stated(b), known))) if a == *b => return extend_steps(known, facts),
                (None, None) if open.records.len() == 1 && !open.records[0].has_verdict() => {
                    return extend_steps(&mut open.records[0], facts);
                }
                _ => {}
            }
        }
        if !self.has_room() {
            return;
        }
        let mut turn_facts = TurnFacts::default();
        match attempt {
            Some(attempt) => turn_facts.attempts.push((Number::Stated(attempt), facts)),
            None => turn_facts.records.push(facts),
        }
        self.facts.turns.push((Number::Stated(turn), turn_facts));
    }

    fn turns(&mut self, node: &Node, pointer: &str) {
        for (index, element) in node.list().iter().enumerate() {
            let number = Number::new(number_in(element, field_names::TURN), index);
            self.turn(number, element, &child(pointer, index));
        }
        for (index, (key, value)) in node.map().iter().enumerate() {
            let child = child(pointer, key);
            if file_names::file_place(key).turn.is_some() {
                self.numbered(key, value, &child);
            } else {
                self.turn(Number::new(None, index), value, &child);
            }
        }
    }

    fn turn(&mut self, number: Number, node: &Node, pointer: &str) {
        if !self.has_room() {
            return;
        }
        let mut turn = TurnFacts::default();
        if let Some(attempt) = number_in(node, field_names::ATTEMPT).filter(|_| !has_attempts(node)) {
            turn.title = title(node).map(|title| plain_title(&title));
            turn.request = request(node);
            let facts = self.attempt(node, pointer);
            turn.attempts.push((Number::Stated(attempt), facts));
            self.facts.turns.push((number, turn));
            return;
        }
        let mut whole = RecordFacts::default();
        match node {
            Node::List(list) => self.attempts(&mut turn, &Node::List(list.clone()), pointer),
            Node::Bool(passed) => whole.success = Some(*passed),
            Node::Number(_) => whole.score = node.number().filter(|n| (0.0..=1.0).contains(n)),
            _ => {}
        }
        for (key, value) in node.map() {
            let name = normal(key);
            let name = name.as_str();
            let child = child(pointer, key);
            if field_names::ATTEMPTS.contains(&name) {
                if let Some(count) = value.count() {
                    turn.attempt_count = u32::try_from(count).ok().filter(|n| *n <= 1_000);
                } else {
                    self.attempts(&mut turn, value, &child);
                }
            } else if matches!(name, "n_attempts" | "num_attempts" | "attempts_used" | "attempt_count") {
                turn.attempt_count =
                    value.count().and_then(|n| u32::try_from(n).ok()).filter(|n| *n <= 1_000);
            } else if field_names::MAYBE_TRANSCRIPTS.contains(&name) && value.list().iter().any(has_result) {
                self.attempts(&mut turn, value, &child);
            } else if field_names::TURN.contains(&name) {
            } else {
                self.take_turn_field(&mut turn, &mut whole, key, value, &child);
            }
        }
        whole.complete(self.transcripts(pointer));
        turn.records.push(whole);
        self.facts.turns.push((number, turn));
    }

    /// A field of a turn that is its name, its request, or else a fact.
    fn take_turn_field(
        &self,
        turn: &mut TurnFacts,
        whole: &mut RecordFacts,
        key: &str,
        value: &Node,
        pointer: &str,
    ) {
        let name = normal(key);
        if matches!(name.as_str(), "title" | "name" | "turn_name") && value.word().is_some() {
            turn.title = value.word().map(plain_title);
        } else if field_names::REQUEST.contains(&name.as_str())
            && value.word().is_some()
            && turn.request.is_none()
        {
            turn.request = value.text().map(str::to_owned);
        } else if !(value.list().is_empty() && self.document.steps.contains_key(pointer)) {
            field(whole, key, value, "", 0);
        }
    }

    fn attempts(&mut self, turn: &mut TurnFacts, node: &Node, pointer: &str) {
        for (index, element) in node.list().iter().enumerate() {
            if !self.has_room() {
                return;
            }
            let number = Number::new(number_in(element, field_names::ATTEMPT), index);
            let facts = self.attempt(element, &child(pointer, index));
            turn.attempts.push((number, facts));
        }
        for (index, (key, value)) in node.map().iter().enumerate() {
            if !self.has_room() {
                return;
            }
            let key_place = file_names::file_place(key);
            // `attempt_2`, or a bare `2`.
            let number = Number::new(key_place.attempt.or(key_place.turn), index);
            let facts = self.attempt(value, &child(pointer, key));
            turn.attempts.push((number, facts));
        }
    }

    fn attempt(&mut self, node: &Node, pointer: &str) -> RecordFacts {
        let mut facts = RecordFacts::default();
        match node {
            Node::Bool(passed) => facts.success = Some(*passed),
            Node::Number(_) => facts.score = node.number().filter(|n| (0.0..=1.0).contains(n)),
            _ => record(&mut facts, node, "", 0),
        }
        // Sums over steps only where the attempt itself says none.
        facts.complete(self.transcripts(pointer));
        facts
    }

    fn artifact(&self, pointer: &str) -> Artifact {
        Artifact {
            kind: ArtifactKind::Transcript,
            path: self.path.to_owned(),
            pointer: Some(pointer.to_owned()),
        }
    }

    /// Takes the transcripts at or below a place: their sums, and the longest of them as what is shown.
    fn transcripts(&mut self, pointer: &str) -> RecordFacts {
        let prefix = format!("{pointer}/");
        let found: Vec<String> = self
            .document
            .steps
            .range(pointer.to_owned()..)
            .map(|(k, _)| k)
            .take_while(|k| k.starts_with(pointer))
            .filter(|k| *k == pointer || k.starts_with(&prefix))
            .cloned()
            .collect();
        let mut facts = RecordFacts::default();
        let mut longest = (0, None);
        for key in found {
            let Some(steps) = self.document.steps.remove(&key) else { continue };
            if steps.count > longest.0 {
                longest = (steps.count, Some(self.artifact(&key)));
                let artifacts = std::mem::take(&mut facts.artifacts);
                let usage = facts.usage;
                facts = facts_of_steps(&steps);
                facts.artifacts = artifacts;
                // The same conversation is often kept twice (raw and trimmed); its sums are not added.
                if facts.usage == Usage::default() {
                    facts.usage = usage;
                }
            }
        }
        facts.artifacts.extend(longest.1);
        facts
    }
}

/// Appends steps to an attempt whose transcript is a run of elements of one list.
fn extend_steps(known: &mut RecordFacts, more: RecordFacts) {
    let steps = known.steps.unwrap_or(0).saturating_add(more.steps.unwrap_or(0));
    let grown = match (
        known.artifacts.last_mut().and_then(|a| a.pointer.as_mut()),
        more.artifacts.first().and_then(|a| a.pointer.as_deref()),
    ) {
        (Some(pointer), Some(next)) => grow(pointer, next),
        _ => false,
    };
    let artifacts = if grown { Vec::new() } else { more.artifacts.clone() };
    known.join(RecordFacts { artifacts, ..more });
    known.steps = Some(steps);
}

/// Makes `/steps/3` and `/steps/4` into `/steps/3..5`. The end is not in the range.
fn grow(pointer: &mut String, next: &str) -> bool {
    let (Some((list, range)), Some((next_list, next))) = (pointer.rsplit_once('/'), next.rsplit_once('/'))
    else {
        return false;
    };
    let Ok(next) = next.parse::<u32>() else { return false };
    let (first, end) = match range.split_once("..") {
        Some((first, end)) => (first.parse(), end.parse()),
        None => (range.parse(), range.parse::<u32>().map(|n| n + 1)),
    };
    let (Ok(first), Ok(end)) = (first, end) else { return false };
    let _: u32 = first;
    if list != next_list || end != next {
        return false;
    }
    *pointer = format!("{list}/{first}..{}", next + 1);
    true
}

fn facts_of_steps(steps: &Steps) -> RecordFacts {
    RecordFacts {
        usage: steps.usage,
        tool_calls: steps.tool_calls,
        steps: Some(steps.count),
        agent_steps: Some(steps.agent_count),
        timing: model::Timing {
            started_at: steps.first_at.clone(),
            finished_at: steps.last_at.clone(),
            ..Default::default()
        },
        ..RecordFacts::default()
    }
}

fn has_attempts(node: &Node) -> bool {
    node.map().iter().any(|(k, v)| {
        field_names::ATTEMPTS.contains(&normal(k).as_str()) && (!v.list().is_empty() || !v.map().is_empty())
    })
}

fn title(node: &Node) -> Option<String> {
    node.map()
        .iter()
        .find(|(k, _)| matches!(normal(k).as_str(), "title" | "name"))
        .and_then(|(_, v)| v.word())
        .map(str::to_owned)
}

fn request(node: &Node) -> Option<String> {
    node.map()
        .iter()
        .find(|(k, _)| field_names::REQUEST.contains(&normal(k).as_str()))
        .and_then(|(_, v)| v.word())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use files::JsonSink as _;

    use super::*;

    #[test]
    // docs/security.md: An opened folder or zip
    fn small_records_of_a_trajectory_are_kept_up_to_a_bound() {
        let many_records = |record: &str| vec![record; RECORDS + 10].join(",");
        let records = |facts: &TrajectoryFacts| -> usize {
            facts.turns.iter().map(|(_, turn)| turn.attempts.len() + turn.records.len()).sum()
        };
        for json in [
            format!("{{\"turns\": [{{\"turn\": 1, \"attempts\": [{}]}}]}}", many_records("{}")),
            format!("{{\"turns\": [{}]}}", many_records("1")),
            format!("[{}]", many_records("{\"turn\": 1, \"attempt\": 1, \"passed\": 1}")),
        ] {
            let mut document = SummaryDocument::default();
            document.take(&mut serde_json::Deserializer::from_str(&json)).unwrap();
            let facts = trajectory(document, "trajectory.json");
            let kept = records(&facts);
            assert!(facts.is_cut && kept <= RECORDS && kept > RECORDS - 10, "{kept} of {}", &json[..40]);
        }
        let mut document = SummaryDocument::default();
        let short_record = "{\"turns\": [{\"turn\": 1, \"attempts\": [{\"passed\": 1}]}]}";
        document.take(&mut serde_json::Deserializer::from_str(short_record)).unwrap();
        assert!(!trajectory(document, "trajectory.json").is_cut);
    }
}
