//! A session out of its record or transcript: its phases, its figures, its end.

use std::collections::{HashMap, VecDeque};

use analysis::locobench::{Call, Message, OtherPath, Session, compat, corrected};
use model::{
    Artifact, ArtifactKind, Attempt, CorrectedFigures, Episode, Extra, ImportedFigures, LOCOBENCH_METRICS,
    Request, SessionFigures, Turn, Verdict,
};
use serde_json::Value;

use crate::attribution::locobench_table;
use crate::readers::clock;
use crate::readers::json::Node;
use crate::readers::text::first_title;
use crate::readers::value::{self, UnusableValues};

use super::transcript::{self, Phase};

/// Longest title of a phase.
const TITLE_CAP: usize = 120;
/// Longest request that is kept.
const REQUEST_CAP: usize = 8 * 1024;
/// Modified files, errors and interventions that are shown, and the most bytes of each.
const LISTED: usize = 100;
const SHOWN_BYTES: usize = 16 << 10;

/// Task categories, as they stand in the names of scenarios. The category in the results is another word: the program maps
/// four of them to one.
const CATEGORIES: [&str; 8] = [
    "architectural_understanding",
    "bug_investigation",
    "code_comprehension",
    "cross_file_refactoring",
    "feature_implementation",
    "integration_testing",
    "multi_session_development",
    "security_analysis",
];
const DIFFICULTIES: [&str; 4] = ["easy", "medium", "hard", "expert"];

/// Where a session's conversation can be read again: a file, and a pointer to its record (`""` = the whole file).
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) pointer: String,
}

/// Language, category and difficulty out of `<language>_<domain>_<difficulty>_<nnn>_<category>_<difficulty>_<nn>`.
pub(super) fn scenario_parts(scenario: &str) -> (Option<&str>, Option<&'static str>, Option<&'static str>) {
    let found = CATEGORIES.iter().find_map(|category| {
        let index = scenario.rfind(&format!("_{category}"))?;
        let rest = scenario[index + 1 + category.len()..].strip_prefix('_');
        Some((*category, rest.unwrap_or_default()))
    });
    let Some((category, rest)) = found else { return (None, None, None) };
    let word = rest.split('_').next().unwrap_or_default();
    let difficulty = DIFFICULTIES.into_iter().find(|known| *known == word);
    (scenario.split('_').next().filter(|language| !language.is_empty()), Some(category), difficulty)
}

/// Most turns that a scenario allows. The program stops there, whatever the difficulty in the name of the scenario.
fn turn_limit(context: Option<&Node>, unusable: &mut UnusableValues) -> Option<u32> {
    let limit = context.and_then(|context| context.get("max_turns"));
    unusable.take("max_turns", limit, value::count).filter(|most| *most > 0)
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// What the program wrote of its own figures. A score that is no number (`NaN`) is unknown.
fn imported(record: &Node, unusable: &mut UnusableValues) -> ImportedFigures {
    let mut found = ImportedFigures::default();
    for result in record.get("metric_results").map_or(&[][..], Node::list) {
        let index = result
            .get("metric_name")
            .and_then(Node::text)
            .and_then(|name| LOCOBENCH_METRICS.iter().position(|m| *m == name));
        if let Some(index) = index {
            found.metrics[index] =
                unusable.take(LOCOBENCH_METRICS[index], result.get("score"), value::figure);
        }
    }
    let mut score = |key| unusable.take(key, record.get(key), value::figure);
    found.comprehension = score("lcba_comprehension");
    found.efficiency = score("lcba_efficiency");
    found.overall = score("overall_score");
    found
}

/// The first parameter that says something, as Python's `or` finds it.
fn first<'a>(parameters: Option<&'a Node>, keys: &[&str]) -> Option<&'a Node> {
    let says_something = |node: &&Node| match node {
        Node::Null | Node::Bool(false) => false,
        Node::Number(n) => n.as_f64() != Some(0.0),
        Node::Text(text, _) => !text.is_empty(),
        Node::List(list) => !list.is_empty(),
        Node::Map(map) => !map.is_empty(),
        Node::Bool(true) => true,
    };
    keys.iter().find_map(|key| parameters?.get(key).filter(says_something))
}

/// The same; `None` also where that is no text.
fn first_text<'a>(parameters: Option<&'a Node>, keys: &[&str]) -> Option<&'a str> {
    first(parameters, keys)?.text()
}

/// What the responses say, by the id of the call. Ids may repeat (Google's are milliseconds), so they are taken in order.
fn outcomes(messages: &[Node]) -> HashMap<&str, VecDeque<bool>> {
    let mut outcomes: HashMap<&str, VecDeque<bool>> = HashMap::new();
    for response in messages.iter().flat_map(|m| m.get("tool_responses").map_or(&[][..], Node::list)) {
        let id = response.get("call_id").and_then(Node::text);
        if let Some((id, success)) = id.zip(response.get("success").and_then(Node::truth)) {
            outcomes.entry(id).or_default().push_back(success);
        }
    }
    outcomes
}

fn calls<'a>(log: &'a [Node], messages: &'a [Node]) -> Vec<Call<'a>> {
    let mut outcomes = outcomes(messages);
    log.iter()
        .map(|entry| {
            let call = entry.get("tool_call");
            let text = |key| call.and_then(|call| call.get(key)).and_then(Node::text).unwrap_or_default();
            let id = call.and_then(|call| call.get("call_id")).and_then(Node::text);
            let parameters = call.and_then(|call| call.get("parameters"));
            let path = first(parameters, &["path", "target_file", "file_path"]);
            Call {
                tool: text("tool_name"),
                function: text("function_name"),
                path: path.and_then(Node::text),
                other_path: match path {
                    Some(Node::List(_) | Node::Map(_)) => Some(OtherPath::Compound),
                    Some(Node::Number(_) | Node::Bool(_)) => Some(OtherPath::Single),
                    Some(Node::Null | Node::Text(..)) | None => None,
                },
                succeeded: id.and_then(|id| outcomes.get_mut(id)?.pop_front()),
            }
        })
        .collect()
}

/// Modified files with what was written last.
type Files<'a> = Vec<(&'a str, Option<&'a Node>)>;

/// The files that calls of writing functions named, as the program collects them: whether the call succeeded is not asked.
fn written_files(log: &[Node]) -> Files<'_> {
    let mut files: Files<'_> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for call in log.iter().filter_map(|entry| entry.get("tool_call")) {
        let function = call.get("function_name").and_then(Node::text).unwrap_or_default();
        if !function.to_lowercase().contains("write") {
            continue;
        }
        let parameters = call.get("parameters");
        let Some(path) = first_text(parameters, &["path", "file_path", "filepath"]) else { continue };
        let content = first(parameters, &["content", "contents"]);
        match places.get(path) {
            Some(index) => files[*index].1 = content,
            None => {
                places.insert(path, files.len());
                files.push((path, content));
            }
        }
    }
    files
}

/// A session as it is assembled.
#[derive(Debug)]
pub(super) struct SessionEpisode {
    pub(super) episode: Episode,
    /// Id of the program; empty = it wrote none.
    pub(super) id: String,
    /// Whether its record has the conversation.
    pub(super) has_conversation: bool,
    /// Phases, for what a transcript adds.
    phases: Vec<String>,
    /// Values of it that cannot be.
    pub(super) unusable: UnusableValues,
}

/// Reads a record, or a transcript of which no record is there.
pub(super) fn read_session(record: &Node, place: &Place) -> Option<SessionEpisode> {
    let info = record.get("evaluation_info").unwrap_or(record);
    let word = |key: &str| info.get(key).and_then(Node::word);
    let scenario = word("scenario_id")?;
    let data = record.get("session_data");
    let conversation = record.get("conversation_history");
    let messages = conversation.map_or(&[][..], Node::list);
    let logged = record.get("tool_usage_log").or_else(|| data?.get("tool_usage_log"));
    let log = logged.map_or(&[][..], Node::list);
    let context = record.get("scenario_context");
    let phases = transcript::phases(context);
    let calls = calls(log, messages);

    let mut unusable = UnusableValues::default();
    let imported = imported(record, &mut unusable);
    let mut figures = SessionFigures { imported, ..SessionFigures::default() };
    let (language, category, difficulty) = scenario_parts(scenario);
    figures.language = language.map(str::to_owned);
    figures.category = category.map(str::to_owned);
    let context_difficulty = context.and_then(|c| c.get("difficulty")).and_then(Node::word);
    figures.difficulty = difficulty.or(context_difficulty).map(str::to_owned);
    figures.status = record.get("session_status").and_then(Node::word).map(str::to_owned);
    figures.max_turns = turn_limit(context, &mut unusable);
    let mut count = |key, node| unusable.take(key, node, value::count);
    figures.turns = count("total_turns", info.get("total_turns"));
    figures.completed_phases = count("completed_phases", record.get("completed_phases"));
    figures.planned_phases = count("total_phases", record.get("total_phases"))
        .or_else(|| Some(number(transcript::planned(context))).filter(|n| *n > 0));
    figures.answered =
        conversation.map(|_| number(messages.iter().filter(|m| transcript::is_answer(m)).count()));
    figures.tool_calls = logged.map(|_| number(log.len()));
    let errors = record.get("error_log").or_else(|| data?.get("error_log"));
    figures.errors = errors.map(|errors| number(errors.list().len()));
    let files = files(record, log);
    figures.compat = compat_metrics(conversation, logged, files.as_ref(), messages, &calls);
    figures.corrected = if logged.is_some() { corrected(&calls) } else { CorrectedFigures::default() };

    let mut episode = Episode::new("", scenario);
    episode.title =
        context.and_then(|c| c.get("title")).and_then(Node::word).and_then(|t| first_title(t, TITLE_CAP));
    episode.planned_turns = figures.planned_phases;
    let message_time = |message: Option<&Node>| time(message.and_then(|m| m.get("timestamp")));
    episode.timing.started_at = message_time(messages.first());
    let ended = unusable.time("evaluation_timestamp", info.get("evaluation_timestamp"));
    episode.timing.finished_at = ended.or_else(|| message_time(messages.last()));
    episode.extra = extra(record, files.as_ref(), errors);
    episode.turns = turns(&phases, messages, log, place);
    let mut session = SessionEpisode {
        id: word("session_id").unwrap_or_default().to_owned(),
        has_conversation: conversation.is_some() && logged.is_some(),
        phases: phases.into_iter().map(|phase| phase.id).collect(),
        episode,
        unusable,
    };
    session.episode.session = Some(figures);
    if let Some(data) = data {
        session.add(data);
    }
    session.end();
    Some(session)
}

fn time(node: Option<&Node>) -> Option<String> {
    node.and_then(Node::word).filter(|text| clock::micros(text).is_some()).map(str::to_owned)
}

/// Modified files with what was written last; `None` = they are not recorded.
fn files<'a>(record: &'a Node, log: &'a [Node]) -> Option<Files<'a>> {
    if let Some(files) = record.get("modified_files") {
        return Some(files.map().iter().map(|(path, text)| (path.as_str(), Some(text))).collect());
    }
    // A transcript has no list of them: it is made of the log, as the program makes it.
    record.get("session_data").and_then(|data| data.get("tool_usage_log")).map(|_| written_files(log))
}

fn compat_metrics(
    conversation: Option<&Node>,
    logged: Option<&Node>,
    files: Option<&Files<'_>>,
    messages: &[Node],
    calls: &[Call<'_>],
) -> Option<[f64; 9]> {
    conversation?;
    logged?;
    let mut texts: Vec<(&str, Option<&str>)> = Vec::new();
    for (path, text) in files? {
        match text {
            Some(Node::Text(text, 0)) => texts.push((path, Some(text))),
            // What is cut cannot be counted.
            Some(Node::Text(..)) => return None,
            Some(Node::Null) | None => texts.push((path, Some("").filter(|_| text.is_none()))),
            Some(_) => texts.push((path, None)),
        }
    }
    let messages: Vec<Message<'_>> = messages
        .iter()
        .map(|message| Message {
            role: message.get("role").and_then(Node::text).unwrap_or_default(),
            content: message.get("content").and_then(Node::text).unwrap_or_default(),
        })
        .collect();
    Some(compat(&Session { calls, messages: &messages, files: &texts, error_rate: 0.0 }))
}

/// Bytes that a value takes in memory, about.
fn value_bytes(value: &Value) -> usize {
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(value_bytes).sum(),
        Value::Object(map) => map.iter().map(|(name, value)| name.len() + 64 + value_bytes(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + inner
}

/// A value to be shown; a large one as the beginning of its text.
fn shown(node: &Node) -> Value {
    let value = node.to_value();
    if value_bytes(&value) <= SHOWN_BYTES {
        return value;
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Value::from(&text[..text.floor_char_boundary(SHOWN_BYTES)])
}

fn extra(record: &Node, files: Option<&Files<'_>>, errors: Option<&Node>) -> Extra {
    let mut extra = Extra::new();
    for key in ["session_id", "evaluator_version", "error_rate"] {
        if let Some(value) = record.get(key).filter(|v| !matches!(v, Node::List(_) | Node::Map(_))) {
            extra.insert(key.to_owned(), shown(value));
        }
    }
    if let Some(files) = files.filter(|files| !files.is_empty()) {
        let path = |path: &str| Value::from(&path[..path.floor_char_boundary(SHOWN_BYTES)]);
        let paths = files.iter().take(LISTED).map(|(name, _)| path(name)).collect();
        extra.insert("modified_files".to_owned(), paths);
    }
    let errors = errors.map_or(&[][..], Node::list);
    if !errors.is_empty() {
        extra.insert("error_log".to_owned(), errors.iter().take(LISTED).map(shown).collect());
    }
    extra
}

/// The phases as turns. A phase that no message belongs to was not reached.
fn turns(phases: &[Phase], messages: &[Node], log: &[Node], place: &Place) -> Vec<Turn> {
    let ranges = transcript::phase_ranges(phases, messages);
    let mut calls_of: HashMap<Option<&str>, usize> = HashMap::new();
    for entry in log {
        *calls_of.entry(entry.get("phase").and_then(Node::text)).or_default() += 1;
    }
    let mut turns = Vec::with_capacity(ranges.len());
    for (index, range) in ranges.iter().enumerate() {
        let mut turn = Turn::new(number(index + 1));
        if let Some(phase) = phases.get(index) {
            turn.title = first_title(&phase.name, TITLE_CAP);
            let cut = phase.prompt.floor_char_boundary(REQUEST_CAP);
            turn.request = Some(Request::Text(phase.prompt[..cut].to_owned())).filter(|_| cut > 0);
        }
        let phase_messages = range.clone().map_or(&[][..], |range| &messages[range]);
        if !phase_messages.is_empty() {
            let mut attempt = Attempt::new(1, Verdict::NotTested);
            attempt.steps = Some(number(phase_messages.iter().filter(|m| transcript::is_answer(m)).count()));
            let phase_id = phases.get(index).map(|phase| phase.id.as_str());
            let calls = phase_id
                .map_or(log.len(), |phase_id| calls_of.get(&Some(phase_id)).copied().unwrap_or_default());
            attempt.tool_calls = Some(number(calls));
            let message_time = |message: Option<&Node>| time(message.and_then(|m| m.get("timestamp")));
            (attempt.timing.started_at, attempt.timing.finished_at) =
                (message_time(phase_messages.first()), message_time(phase_messages.last()));
            attempt.artifacts = vec![Artifact {
                kind: ArtifactKind::Transcript,
                path: place.path.clone(),
                pointer: Some(format!("{}/scenario_context/conversation_phases/{index}", place.pointer)),
            }];
            turn.attempts = vec![attempt];
        }
        turns.push(turn);
    }
    turns
}

impl SessionEpisode {
    /// Bytes that it takes in memory, about.
    pub(super) fn bytes(&self) -> usize {
        let extra = |extra: &Extra| {
            extra.iter().map(|(name, value)| name.len() + 64 + value_bytes(value)).sum::<usize>()
        };
        let episode = &self.episode;
        let names = [episode.scenario.len(), self.id.len(), episode.title.as_ref().map_or(0, String::len)];
        let phases = self.phases.iter().map(|phase| size_of::<String>() + phase.len());
        let turns = episode.turns.iter().map(|turn| {
            let title = turn.title.as_ref().map_or(0, String::len);
            let request = match &turn.request {
                Some(Request::Text(text)) => text.len(),
                Some(Request::File(_)) | None => 0,
            };
            let attempts = turn.attempts.iter().map(|attempt| {
                let file = |file: &Artifact| {
                    size_of::<Artifact>() + file.path.len() + file.pointer.as_ref().map_or(0, String::len)
                };
                size_of::<Attempt>()
                    + attempt.artifacts.iter().map(file).sum::<usize>()
                    + extra(&attempt.extra)
            });
            size_of::<Turn>() + title + request + attempts.sum::<usize>()
        });
        // Its name is its key as well, and its identity.
        let fixed = size_of::<Self>() + 3 * names.iter().sum::<usize>();
        fixed + phases.sum::<usize>() + turns.sum::<usize>() + extra(&episode.extra)
    }

    /// Takes what only a transcript has: how each phase went, interventions, times of the session.
    pub(super) fn add(&mut self, data: &Node) {
        let Some(figures) = &mut self.episode.session else { return };
        if let Some(interventions) = data.get("human_interventions") {
            figures.interventions = Some(number(interventions.list().len()));
            if !interventions.list().is_empty() {
                let listed = interventions.list().iter().take(LISTED).map(shown).collect();
                self.episode.extra.insert("interventions".to_owned(), listed);
            }
        }
        if let Some(status) = data.descendant(&["session_metadata", "status"]).and_then(Node::word) {
            figures.status.get_or_insert_with(|| status.to_owned());
        }
        if let Some(began) =
            self.unusable.time("start_time", data.descendant(&["session_metadata", "start_time"]))
        {
            self.episode.timing.started_at = Some(began);
        }
        if let Some(ended) =
            self.unusable.time("end_time", data.descendant(&["session_metadata", "end_time"]))
        {
            self.episode.timing.finished_at = Some(ended);
        }
        let history = data.get("phase_history").map_or(&[][..], Node::list);
        if !history.is_empty() {
            let completed =
                history.iter().filter(|p| p.get("success").and_then(Node::truth) == Some(true)).count();
            figures.completed_phases.get_or_insert(number(completed));
        }
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (index, id) in self.phases.iter().enumerate() {
            places.entry(id).or_insert(index);
        }
        for phase in history {
            let id = phase.get("phase_id").and_then(Node::text);
            let index = id.and_then(|id| places.get(id).copied());
            let Some(attempt) =
                index.and_then(|index| self.episode.turns.get_mut(index)?.attempts.first_mut())
            else {
                continue;
            };
            // Turns without an answer are in here and in no message.
            let steps = self.unusable.take("turns_executed", phase.get("turns_executed"), value::count);
            attempt.steps = steps.or(attempt.steps);
            let seconds = |node: &Node| value::figure(node).filter(|seconds| *seconds >= 0.0);
            attempt.timing.agent_seconds =
                self.unusable.take("duration_seconds", phase.get("duration_seconds"), seconds);
            for key in [
                "success",
                "critical_failure",
                "throttling_affected",
                "infrastructure_issues",
                "model_errors",
            ] {
                if let Some(value) = phase.get(key) {
                    attempt.extra.insert(key.to_owned(), shown(value));
                }
            }
        }
    }

    /// Whether its record says how many turns the scenario allows.
    pub(super) fn has_turn_limit(&self) -> bool {
        self.episode.session.as_ref().is_some_and(|figures| figures.max_turns.is_some())
    }

    /// Takes the limit of turns of a transcript's scenario where the record broke off before its own.
    pub(super) fn add_turn_limit(&mut self, context: Option<&Node>) {
        if let Some(figures) = self.episode.session.as_mut().filter(|figures| figures.max_turns.is_none()) {
            figures.max_turns = turn_limit(context, &mut self.unusable);
        }
    }

    /// Why the session ended, as far as the program's word shows it. Nothing was judged, so it is never a pass.
    pub(super) fn end(&mut self) {
        let status = self.episode.session.as_ref().and_then(|figures| figures.status.as_deref());
        self.episode.end_reason = Some(locobench_table::end_reason(status));
        let timing = &mut self.episode.timing;
        if let Some((start, finished_at)) = timing.started_at.as_deref().zip(timing.finished_at.as_deref()) {
            timing.agent_seconds = clock::seconds_between(start, finished_at);
        }
        if let Some(status) = status.map(str::to_owned) {
            self.episode.extra.insert("session_status".to_owned(), status.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_scenario_says_language_category_and_difficulty() {
        let name = "c_api_gateway_easy_009_architectural_understanding_expert_01";
        assert_eq!(scenario_parts(name), (Some("c"), Some("architectural_understanding"), Some("expert")));
        assert_eq!(
            scenario_parts("rust_x_hard_001_bug_investigation_odd_01"),
            (Some("rust"), Some("bug_investigation"), None)
        );
        assert_eq!(scenario_parts("anything"), (None, None, None));
    }
}
