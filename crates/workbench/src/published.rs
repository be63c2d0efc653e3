//! Numbers that others published, as reference beside what is computed here, and never mixed with it.
//!
//! They stand in `data/published/`, one file a benchmark, in the form that `docs/formats.md` ("Published numbers")
//! describes; each is marked with its source, and whether that is the authors' own text.

use std::sync::OnceLock;

use model::Benchmark;
use serde::Deserialize;

use crate::api::PublishedNumber;
use crate::episodes::task_of;

/// The files.
const FILES: [&str; 3] = [
    include_str!("../../../data/published/staminabench.json"),
    include_str!("../../../data/published/evocode-bench-paper.json"),
    include_str!("../../../data/published/locobench-agent.json"),
];

/// Key of EvoCode-Bench.
const EVOCODE: &str = "evocode-bench";

/// What the files call their form.
const SCHEMA: &str = "stamina-published/1";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: String,
    /// Key of the benchmark, as runs have it.
    benchmark: String,
    /// What a person calls the publication.
    title: String,
    /// Turns over which its mean staminas are; `None` = it has none, or does not say.
    #[serde(default)]
    turns: Option<u32>,
    sources: Vec<Source>,
    metrics: Vec<Metric>,
    statements: Vec<Statement>,
    numbers: Vec<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    id: String,
    text: String,
    #[serde(rename = "url")]
    _url: Option<String>,
    second_hand: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metric {
    #[serde(rename = "metric")]
    name: String,
    /// What a person calls it.
    label: String,
    #[serde(rename = "unit")]
    _unit: String,
    /// Whether it is a mean stamina, and may stand beside one.
    stamina: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    about: String,
    source: String,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Number {
    model: String,
    harness: Option<String>,
    retries: Option<u32>,
    metric: String,
    value: f64,
    source: String,
}

impl File {
    fn source(&self, id: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.id == id)
    }

    fn number(&self, number: &Number) -> Option<PublishedNumber> {
        let source = self.source(&number.source)?;
        Some(PublishedNumber {
            benchmark: self.benchmark.clone(),
            model: number.model.clone(),
            harness: number.harness.clone(),
            retries: number.retries,
            metric: number.metric.clone(),
            turns: self.turns.filter(|_| self.is_stamina(&number.metric)),
            value: number.value,
            source: format!("{}: {}", self.title, source.text),
            second_hand: source.second_hand,
        })
    }

    fn is_stamina(&self, metric: &str) -> bool {
        self.metrics.iter().any(|m| m.name == metric && m.stamina)
    }
}

/// The files, read once. One that cannot be read is left out; a test reads them all.
fn files() -> &'static [File] {
    static READ: OnceLock<Vec<File>> = OnceLock::new();
    READ.get_or_init(|| {
        FILES
            .iter()
            .filter_map(|text| serde_json::from_str::<File>(text).ok())
            .filter(|file| file.schema == SCHEMA)
            .collect()
    })
}

/// Whether a number was published for this harness and this model, as runs name them.
///
/// Publications write `Mini-SWE` and `Kimi K2.5` where runs have `mini_swe` and `bedrock/moonshotai.kimi-k2.5`: case,
/// marks, a provider before the name and `agent` behind it make no difference; a version does.
pub(crate) fn is_of(number: &PublishedNumber, harness: Option<&str>, model: Option<&str>) -> bool {
    let model_is = model.is_some_and(|model| plain_model(model) == plain(&number.model));
    let harness_is = match (&number.harness, harness) {
        (Some(published), Some(harness)) => plain_harness(published) == plain_harness(harness),
        _ => false,
    };
    model_is && harness_is
}

/// Letters and digits, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn plain_harness(name: &str) -> String {
    let name = plain(name);
    name.strip_suffix("agent").filter(|rest| !rest.is_empty()).map_or(name.clone(), str::to_owned)
}

/// Without the provider: `z-ai/glm-5`, `zai.glm-5`.
fn plain_model(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    let provider = |before: &str| !before.is_empty() && before.chars().all(char::is_alphabetic);
    plain(name.split_once('.').filter(|(before, _)| provider(before)).map_or(name, |(_, behind)| behind))
}

/// What a person calls the metric of a published number: `MT@4, in percent`; its key where no file has another name.
pub(crate) fn label(number: &PublishedNumber) -> String {
    let mut metrics =
        files().iter().filter(|file| file.benchmark == number.benchmark).flat_map(|file| &file.metrics);
    let metric = metrics.find(|metric| metric.name == number.metric);
    metric.map_or_else(|| number.metric.replace('_', " "), |metric| metric.label.clone())
}

/// What is published for a benchmark.
pub(crate) fn numbers(benchmark: &str) -> Vec<PublishedNumber> {
    let files_of_benchmark = files().iter().filter(|file| file.benchmark == benchmark);
    files_of_benchmark.flat_map(|file| file.numbers.iter().filter_map(|number| file.number(number))).collect()
}

/// What is published for these tasks of a benchmark. Tasks of EvoCode-Bench that Harbor played are a data set of Harbor's, of
/// any name; they are known by their own names.
pub(crate) fn numbers_of_tasks<'a>(
    benchmark: &str,
    tasks: impl IntoIterator<Item = &'a str>,
) -> Vec<PublishedNumber> {
    let alone = benchmark.starts_with(Benchmark::STEPS);
    // A step that was played by itself is of a task as well.
    let mut tasks = tasks.into_iter().map(|task| if alone { task_of(task) } else { task }).peekable();
    let is_about_tasks = alone || benchmark.starts_with(Benchmark::TASKS);
    let is_evocode = is_about_tasks && tasks.peek().is_some() && tasks.all(is_task_of_evocode);
    numbers(if is_evocode { EVOCODE } else { benchmark })
}

/// Whether a task is named as EvoCode-Bench names its own: `theme_d10_w5_…`.
fn is_task_of_evocode(task: &str) -> bool {
    let name = task.rsplit('/').next().unwrap_or(task);
    let Some(mut parts) = name.strip_prefix("theme_").map(|rest| rest.split('_')) else { return false };
    // A letter and a number.
    let mut numbered = |is_letter: fn(char) -> bool| {
        let number = parts.next().and_then(|part| part.strip_prefix(is_letter));
        number.is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    numbered(|letter| letter.is_ascii_lowercase()) && numbered(|letter| letter == 'w')
}

/// What of it is a mean stamina under a stated number of retries.
pub(crate) fn by_retries(benchmark: &str) -> Vec<PublishedNumber> {
    let benchmark_files = files().iter().filter(|file| file.benchmark == benchmark);
    benchmark_files
        .flat_map(|file| {
            file.numbers
                .iter()
                .filter(|number| number.retries.is_some() && file.is_stamina(&number.metric))
                .filter_map(|number| file.number(number))
        })
        .collect()
}

/// What is published about a question (`matrix`, `retries`, `failures`, `cost`, `benchmark`) in words, each sentence with its source.
pub(crate) fn statements(benchmark: &str, about: &str) -> Vec<String> {
    let statement_files = files().iter().filter(|file| file.benchmark == benchmark);
    statement_files
        .flat_map(|file| {
            file.statements.iter().filter(|s| s.about == about).filter_map(|statement| {
                let source = file.source(&statement.source)?;
                let hand = if source.second_hand { ", second hand" } else { "" };
                Some(format!("Published: {} ({}{hand})", statement.text, source.text))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read_and_every_number_has_its_source_and_metric() {
        for text in FILES {
            let file: File = serde_json::from_str(text).unwrap();
            assert_eq!(file.schema, SCHEMA);
            for number in &file.numbers {
                assert!(file.source(&number.source).is_some(), "{}: {}", file.title, number.source);
                assert!(file.metrics.iter().any(|m| m.name == number.metric), "{}", number.metric);
                assert!(number.value.is_finite());
            }
            for statement in &file.statements {
                assert!(file.source(&statement.source).is_some());
                // Each is shown: on the Matrix page, the retries under it, the Failures page, and Compare.
                let shown = ["matrix", "retries", "failures", "cost", "benchmark"];
                assert!(shown.contains(&statement.about.as_str()), "{}", statement.about);
            }
        }
        assert_eq!(files().len(), FILES.len());
    }

    #[test]
    fn second_hand_numbers_are_marked_and_what_is_not_published_is_left_out() {
        let numbers = numbers("staminabench");
        assert_eq!(numbers.len(), 7, "Kimi K2.5 has one of three");
        assert!(numbers.iter().all(|n| n.second_hand && n.source.contains("not checked")));
        let glm = numbers.iter().find(|n| n.model == "GLM-5" && n.harness.as_deref() == Some("OpenCode"));
        assert_eq!(glm.map(|n| (n.value, n.retries)), Some((57.0, Some(2))));
        let no_retries = by_retries("staminabench").into_iter().filter(|n| n.retries == Some(0));
        assert_eq!(no_retries.map(|n| n.value).collect::<Vec<_>>(), [6.2, 2.8]);
        assert!(by_retries("evocode-bench").is_empty());
        let message = statements("staminabench", "retries");
        assert!(
            message[0].contains("12×")
                && !message[0].contains("second hand")
                && message[1].contains("second hand")
        );
    }

    #[test]
    fn a_number_is_of_the_harness_and_model_that_runs_name_otherwise() {
        let numbers = numbers("staminabench");
        let found = |harness: &str, model: &str| -> Vec<f64> {
            numbers.iter().filter(|n| is_of(n, Some(harness), Some(model))).map(|n| n.value).collect()
        };
        assert_eq!(found("opencode", "zai.glm-5"), [57.0]);
        assert_eq!(found("mini_swe", "GLM-5"), [15.1]);
        assert_eq!(found("mini-swe-agent", "openrouter/z-ai/glm-5"), [15.1]);
        assert_eq!(found("opencode", "bedrock/moonshotai.kimi-k2.5"), [31.8]);
        assert_eq!(found("opencode", "kimi-k2.5"), [31.8]);
        for (harness, model) in
            [("opencode", "glm-5.1"), ("opencode", "kimi-k2"), ("openhands", "glm-5"), ("", ""), (".", "/.")]
        {
            assert!(found(harness, model).is_empty(), "{harness} {model}");
        }
        let glm = numbers.iter().find(|n| n.model == "GLM-5").unwrap();
        assert!(!is_of(glm, None, Some("GLM-5")) && !is_of(glm, Some("OpenCode"), None));
    }

    #[test]
    fn the_published_table_of_evocode_bench_adds_up() {
        let numbers = numbers("evocode-bench");
        let value = |model: &str, metric: &str| {
            numbers.iter().find(|n| n.model == model && n.metric == metric).map(|n| n.value).unwrap()
        };
        let models: std::collections::BTreeSet<&str> = numbers.iter().map(|n| n.model.as_str()).collect();
        assert_eq!(models.len(), 13);
        for model in models {
            let gap = value(model, "sr") - value(model, "mt4");
            assert!((gap - value(model, "gap")).abs() < 0.051, "{model}");
            assert!((value(model, "comp") * 0.26 - value(model, "comp_tasks")).abs() < 0.02, "{model}");
        }
    }

    #[test]
    fn tasks_of_evocode_bench_are_known_by_their_names() {
        let value_of =
            |benchmark: &str, tasks: &[&str]| numbers_of_tasks(benchmark, tasks.iter().copied()).len();
        let all = numbers(EVOCODE).len();
        let task = "theme_d10_w5_ml_ai_mlops_integration_e2e_wiring";
        assert_eq!(value_of("harbor:tasks", &[task, "set/theme_d1_w11_code_build"]), all);
        assert_eq!(value_of(EVOCODE, &[]), all);
        for tasks in [&[][..], &[task, "hello-world"], &["theme_park_w5"], &["theme_d1_x5"], &["theme"]] {
            assert_eq!(value_of("harbor:tasks", tasks), 0, "{tasks:?}");
        }
        assert_eq!(value_of("staminabench", &[task]), numbers("staminabench").len());
    }
}
