//! One task file: thirteen models' rounds in one JSON, taken cell by cell.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use model::{
    Artifact, ArtifactKind, Attempt, EndReason, Episode, Extra, PASS_REWARD, Request, STATED_FAILING,
    TestOutcome, TestResult, Turn, Verdict, Warning,
};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::json;

use crate::format_trait::{Reading, Report};
use crate::identity;
use crate::readers::case_lines::message;
use crate::readers::json::{Node, Object};
use crate::readers::text::{first_title, plain_title};
use crate::readers::value::{self, UnusableValues};
use files::{Entry, Tree, join};

use super::place::{MODEL_CAP, Place};

/// The largest file that was published has 4 MB.
const TASK_CAP: u64 = 16 << 20;
/// Rounds of a task; a larger number is a mistake.
const ROUND_CAP: u32 = 1_000;
/// Cells of a model, and models, that are kept of a file: those of the index and some more, which are named in warnings.
const CELLS_KEPT: usize = ROUND_CAP as usize;
const MODELS_KEPT: usize = MODEL_CAP + 100;
/// Bytes of requests that the episodes of a task keep: each model has them all. Further ones are read where they lie.
const REQUESTS_CAP: usize = 64 << 20;

/// `intent1` and `common_fail` are made from the rest by the site, and not kept.
#[derive(Debug, Deserialize)]
struct TaskFile {
    #[serde(default)]
    task: Option<Node>,
    #[serde(default)]
    meta: Option<Node>,
    #[serde(default)]
    n_rounds: Option<Node>,
    #[serde(default, deserialize_with = "list")]
    rounds: Vec<Node>,
    #[serde(default)]
    models: Capped<Capped<Cell, CELLS_KEPT>, MODELS_KEPT>,
    #[serde(default)]
    score: Option<Node>,
}

/// The elements of a list, out of one budget of values.
fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Node>, D::Error> {
    match Node::deserialize(deserializer)? {
        Node::List(list) => Ok(list),
        _ => Err(D::Error::custom("rounds are no list")),
    }
}

/// The first members of an object.
#[derive(Debug)]
struct Capped<T, const MOST: usize>(BTreeMap<String, T>);

impl<T, const MOST: usize> Default for Capped<T, MOST> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Capped<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T, const MOST: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Members<T, MOST> {
            type Value = Capped<T, MOST>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut kept = BTreeMap::new();
                while let Some(key) = access.next_key::<String>()? {
                    if kept.len() < MOST {
                        kept.insert(key, access.next_value()?);
                    } else {
                        access.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Capped(kept))
            }
        }
        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// A round of a model. The JSON of a cell is freed as soon as this is made of it.
#[derive(Debug, Default)]
struct Cell {
    attempt: Option<Attempt>,
    counted_failing: u32,
    described_failing: u32,
    sum_differs: bool,
    unusable: UnusableValues,
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from_node(&Node::deserialize(deserializer)?))
    }
}

impl Cell {
    fn from_node(node: &Node) -> Self {
        const KNOWN: [&str; 7] = ["pass", "total", "fail", "reward", "fails", "early", "note"];
        if !matches!(node, Node::Map(_)) {
            return Self::default();
        }
        let mut unusable = UnusableValues::default();
        let mut count = |key| unusable.take(key, node.get(key), value::count);
        let mut attempt = Attempt::new(1, Verdict::Error);
        (attempt.passed, attempt.total) = (count("pass"), count("total"));
        let stated = count("fail");
        let failed = stated.unwrap_or(0);
        let reward = unusable.take("reward", node.get("reward"), value::reward);
        attempt.reward = reward;
        let counts = attempt.passed.zip(attempt.total);
        let sum_differs = counts.is_some_and(|(passed, total)| passed.saturating_add(failed) != total);
        let early = node.get("early").and_then(Node::word);
        match reward {
            Some(reward) if reward >= PASS_REWARD => attempt.verdict = Verdict::Passed,
            Some(_) if attempt.total == Some(0) => attempt.end_reason = Some(EndReason::BuildFailed),
            Some(_) => {
                attempt.verdict = Verdict::Failed;
                attempt.end_reason = Some(EndReason::TestsFailed);
            }
            None if node.get("reward").is_some() => {
                attempt.end_reason = Some(EndReason::VerifierError);
                attempt.extra.insert("verdict".to_owned(), "unreadable".into());
            }
            None => attempt.end_reason = Some(EndReason::NoVerdict),
        }
        attempt.exception = early.map(|line| ("no test ran".to_owned(), line.to_owned()));
        let mut requirements = Vec::new();
        let mut described: u32 = 0;
        for fail in node.get("fails").map_or(&[][..], Node::list) {
            let text = |key| fail.get(key).and_then(Node::word);
            let cases = fail.get("cases").map_or(&[][..], Node::list);
            let n = unusable.take("n of fails", fail.get("n"), value::count).unwrap_or(cases.len() as u32);
            described = described.saturating_add(n);
            requirements.push(json!({
                "requirement": text("req"), "kind": text("type"), "failed": n, "reason": text("reason"),
            }));
            attempt.tests.extend(cases.iter().filter_map(|case| test(case, text("req"), text("type"))));
        }
        if !requirements.is_empty() {
            attempt.extra.insert("requirements".to_owned(), requirements.into());
        }
        if let Some(note) = node.get("note") {
            attempt.extra.insert("note".to_owned(), note.to_value());
        }
        for (key, value) in node.map() {
            if !KNOWN.contains(&key.as_str()) && *value != Node::Null {
                attempt.extra.insert(key.clone(), value.to_value());
            }
        }
        if let Some(failing) = stated.filter(|_| sum_differs) {
            attempt.extra.insert(STATED_FAILING.to_owned(), failing.into());
        }
        unusable.take_from_attempt(&mut attempt);
        Self {
            // Numbers that cannot be get no other warning.
            sum_differs: sum_differs && attempt.total.is_some(),
            unusable,
            counted_failing: failed,
            described_failing: described,
            attempt: Some(attempt),
        }
    }
}

fn test(case: &Node, requirement: Option<&str>, kind: Option<&str>) -> Option<TestResult> {
    let text = |key| case.get(key).and_then(Node::word);
    let mut test = TestResult::new(text("id")?, TestOutcome::Failed);
    test.group = requirement.map(str::to_owned);
    test.kind = kind.map(str::to_owned);
    test.intent = text("intent").map(str::to_owned);
    test.scenario = text("scenario").map(str::to_owned);
    // An empty text says that nothing was expected, or nothing came.
    let plain = |key| case.get(key).and_then(Node::text).map(str::trim);
    test.expected = plain("expected").map(str::to_owned);
    test.actual = plain("actual").map(str::to_owned);
    test.message = message(text("reason"), text("scenario"), None);
    Some(test)
}

/// The model names of the first task file that can be read.
pub(super) fn models_of_first(tree: &Tree, folder: &str, files: &[Entry]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Names {
        models: Capped<IgnoredAny, MODEL_CAP>,
    }
    files
        .iter()
        .take(8)
        .find_map(|e| tree.read_json::<Object<Names>>(&join(&join(folder, "tasks"), &e.name), TASK_CAP).ok())
        .map(|names| names.0.models.0.into_keys().collect())
        .unwrap_or_default()
}

/// Reads a task file into one episode per model.
pub(super) fn read(tree: &Tree, path: &str, place: &Place, report: &mut Report) -> Vec<Reading> {
    let mut file: TaskFile = match tree.read_json(path, TASK_CAP) {
        Ok(Object(file)) => file,
        Err(error) => {
            report.unreadable(path, &error, "Its task is missing from every run.");
            return Vec::new();
        }
    };
    report.files_read += 1;
    let by_name = path.rsplit('/').next().and_then(|n| n.strip_suffix(".json")).unwrap_or(path);
    let task = file.task.as_ref().and_then(Node::word).unwrap_or(by_name).to_owned();
    if task != by_name {
        report.warn(Warning::read_differently(
            path,
            "evocode.task_name",
            format!(
                "The file says that it is of the task {task}. It is read as {by_name}, as the index names it."
            ),
        ));
    }
    let rounds = rounds(&file, by_name, place, path, report);
    let names = place.names();
    let turns = turns_with_requests(&file, path, rounds, REQUESTS_CAP / names.len().max(1));
    let mut extra = Extra::new();
    for key in ["difficulty", "category"] {
        if let Some(text) = file.meta.as_ref().and_then(|m| m.get(key)).and_then(Node::word) {
            extra.insert(key.to_owned(), text.into());
        }
    }
    let title = file.meta.as_ref().and_then(|m| m.get("name")).and_then(Node::word).map(str::to_owned);
    let mut out = Vec::new();
    for model_name in &names {
        let Some(cells) =
            file.models.0.remove(&model_name.site).or_else(|| file.models.0.remove(&model_name.shown))
        else {
            report.warn(Warning::skipped(
                path,
                "evocode.no_model",
                format!(
                    "There is nothing of {} in this task: the run has no episode of it.",
                    model_name.shown
                ),
            ));
            continue;
        };
        let mut episode = Episode::new(by_name, by_name);
        episode.title.clone_from(&title);
        episode.extra.clone_from(&extra);
        episode.planned_turns = Some(rounds);
        episode.turns.clone_from(&turns);
        play(&mut episode, cells.0, path, &model_name.shown, report);
        if let Some(cell) = place.sweep.as_ref().and_then(|s| s.cell(by_name, &model_name.shown)) {
            let figures =
                [("evocode.case_percent", cell.cases), ("evocode.tool_calls_per_round", cell.tool_calls)];
            episode.reported.extend(figures.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?))));
        }
        check_score(&file, model_name.site.as_str(), &mut episode, path, &model_name.shown, report);
        episode.identity = Some(identity::from_published_name(model_name.key(), &episode));
        out.push(Reading { run: model_name.key().to_owned(), episode });
    }
    for model in file.models.0.keys() {
        report.warn(Warning::skipped(
            path,
            "evocode.unknown_model",
            format!("The index does not name the model {model}: its rounds are left out."),
        ));
    }
    out
}

/// How many rounds the task has: the most that anything says.
fn rounds(file: &TaskFile, task: &str, place: &Place, path: &str, report: &mut Report) -> u32 {
    let mut unusable = UnusableValues::default();
    let stated = unusable.take("n_rounds", file.n_rounds.as_ref(), value::count);
    unusable.warn(path, report);
    let listed = file.rounds.len() as u32;
    let indexed = place.tasks.iter().find(|t| t.task == task).and_then(|t| t.rounds);
    let rounds = stated.unwrap_or(0).max(listed).max(indexed.unwrap_or(0));
    let all = [stated, Some(listed).filter(|n| *n > 0), indexed];
    if all.iter().flatten().any(|n| *n != rounds) {
        report.warn(Warning::repaired(
            path,
            "evocode.rounds_differ",
            format!(
                "The number of rounds of the task is {} by `n_rounds`, {listed} by its list and {} by the index. The most is taken.",
                count_text(stated),
                count_text(indexed)
            ),
        ));
    }
    rounds.min(ROUND_CAP)
}

/// `1 test`, `2 tests`.
fn tests(number: u32) -> String {
    format!("{number} test{}", if number == 1 { "" } else { "s" })
}

/// `1 test is`, `2 tests are`.
fn tests_are(number: u32) -> String {
    format!("{} {}", tests(number), if number == 1 { "is" } else { "are" })
}

fn count_text(number: Option<u32>) -> String {
    number.map_or_else(|| "unknown".to_owned(), |n| n.to_string())
}

/// The turns with what was asked, without attempts. Requests of more than `left` bytes together stay in the file.
fn turns_with_requests(file: &TaskFile, path: &str, rounds: u32, mut left: usize) -> Vec<Turn> {
    (1..=rounds)
        .map(|number| {
            let mut turn = Turn::new(number);
            let index = file
                .rounds
                .iter()
                .position(|r| r.get("n").and_then(Node::count) == Some(u64::from(number)))
                .or_else(|| {
                    Some(number as usize - 1)
                        .filter(|i| file.rounds.get(*i).is_some_and(|r| r.get("n").is_none()))
                });
            let Some((index, round)) = index.and_then(|i| Some((i, file.rounds.get(i)?))) else {
                return turn;
            };
            turn.title = round.get("title").and_then(Node::word).map(plain_title);
            match round.get("md") {
                Some(Node::Text(text, 0)) if !text.trim().is_empty() && text.len() <= left => {
                    left -= text.len();
                    turn.title = turn.title.or_else(|| first_title(text, 120));
                    turn.request = Some(Request::Text(text.clone()));
                }
                Some(Node::Text(..)) => {
                    turn.request = Some(Request::File(Artifact {
                        kind: ArtifactKind::Request,
                        path: path.to_owned(),
                        pointer: Some(format!("/rounds/{index}/md")),
                    }));
                }
                _ => {}
            }
            turn
        })
        .collect()
}

/// Puts a model's cells on the turns.
fn play(
    episode: &mut Episode,
    mut cells: BTreeMap<String, Cell>,
    path: &str,
    model: &str,
    report: &mut Report,
) {
    let graded = |cells: &BTreeMap<String, Cell>, n: u32| {
        cells.get(&n.to_string()).is_some_and(|c| c.attempt.is_some())
    };
    let last = episode.turns.iter().rev().map(|t| t.number).find(|n| graded(&cells, *n)).unwrap_or(0);
    for turn in &mut episode.turns {
        let cell = cells.remove(&turn.number.to_string()).unwrap_or_default();
        match cell.attempt {
            Some(attempt) => {
                if let Some(mut warning) = cell.unusable.warning(path) {
                    warning.message = format!("{model}, turn {}: {}", turn.number, warning.message);
                    report.warn(warning.with_run(model));
                }
                if let Some(reward) = attempt.reward.filter(|r| !(0.0..=1.0).contains(r)) {
                    let prefix = format!("{model}, turn {}: ", turn.number);
                    report.warn(value::reward_range(path, &prefix, reward).with_run(model));
                }
                if cell.sum_differs {
                    report.warn(Warning::repaired(
                        path,
                        "cases.sum_mismatch",
                        format!(
                            "{model}, turn {}: {} passed and {} failed of {}. The total is kept; {} neither.",
                            turn.number,
                            tests(attempt.passed.unwrap_or(0)),
                            cell.counted_failing,
                            attempt.total.unwrap_or(0),
                            tests_are(attempt.total.unwrap_or(0).abs_diff(attempt.passed.unwrap_or(0).saturating_add(cell.counted_failing))),
                        ),
                    ).with_run(model));
                }
                if cell.described_failing < cell.counted_failing {
                    report.warn(Warning::repaired(
                        path,
                        "cases.not_described",
                        format!(
                            "{model}, turn {}: {} failed, the source describes {} of them. The count is kept; {} shown as “not described”.",
                            turn.number,
                            tests(cell.counted_failing),
                            cell.described_failing,
                            tests_are(cell.counted_failing - cell.described_failing)
                        ),
                    ).with_run(model));
                }
                turn.attempts.push(attempt);
            }
            // Due, and nothing recorded; whatever follows was not reached.
            None if turn.number <= last + 1 => {
                let mut attempt = Attempt::new(1, Verdict::Error);
                attempt.end_reason = Some(EndReason::NoVerdict);
                turn.attempts.push(attempt);
            }
            None => {}
        }
    }
    if !cells.is_empty() {
        let names: Vec<String> = cells.into_keys().collect();
        report.warn(
            Warning::skipped(
                path,
                "evocode.unknown_round",
                format!(
                    "{model} has rounds that the task does not: {}. They are left out.",
                    names.join(", ")
                ),
            )
            .with_run(model),
        );
    }
}

/// Keeps the file's own number of passed rounds, and warns if it is not that of its cells.
fn check_score(
    file: &TaskFile,
    site: &str,
    episode: &mut Episode,
    path: &str,
    model: &str,
    report: &mut Report,
) {
    let mut unusable = UnusableValues::default();
    let stated = file.score.as_ref().and_then(|scores| scores.get(site));
    let score = unusable.take("score", stated, value::count).map(f64::from);
    if let Some(mut warning) = unusable.warning(path) {
        warning.message = format!("{model}: {}", warning.message);
        report.warn(warning.with_run(model));
    }
    let Some(score) = score else { return };
    episode.reported.push(("evocode.passed_rounds".to_owned(), score));
    let passed = episode.turns.iter().filter(|t| t.state().is_passed()).count() as f64;
    if (score - passed).abs() > 0.5 {
        report.warn(Warning::read_differently(
            path,
            "evocode.score_mismatch",
            format!(
                "{model}: rounds that passed are {score} by the file and {passed} by its cells. The cells are used."
            ),
        ).with_run(model));
    }
}
