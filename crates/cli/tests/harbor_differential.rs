//! Harbor's jobs as Stamina Lab reads them against `bench/harbor_reader.py`, which was written from Harbor's files and
//! `docs/metrics.md` and shares nothing with the reader here. Every number of every fixture, and whose failure every exception
//! of either table was at every stage, is the same in both, or the difference is explained below.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::app;
use crate::folders;

/// Differences that are as they should be: the fixture; the fields, where `*` stands for anything; what Stamina Lab and what
/// the other reader says; why. One that occurs nowhere is stale and fails the test, too.
const EXPLAINED: &[(&str, &str, &str, &str, &str)] = &[
    (
        "harbor",
        "failures-k1/theme_v4_w1_notes_build_failure 1/turn 2/verdict",
        NONE,
        FAILED,
        "graded 0 without a CASE line by tests that print them: nothing could be tested, which is an error and no failed test",
    ),
    ("harbor", "nop-k1/*/verdict", NONE, FAILED, "an agent that does nothing: every build failed"),
    (
        "sample-harbor",
        "failures-k1/theme_v4_w1_notes_build_failure 1/turn 2/verdict",
        NONE,
        FAILED,
        "as above",
    ),
    ("sample-harbor", "nop-k1/*/verdict", NONE, FAILED, "as above"),
];

const NOT_OF_HARBOR: &str = "a service of Harbor's own, of which the other reader only has the modules";
const REFUSED: &str = "a request that was refused while the tests ran: a service that tests call is outside what they test; the other reader knows it of the agent's work only, and takes every other exception of the tests for the verifier's";

/// Likewise, of exceptions by job (the stage) and task (the exception). All that is compared there is the cause.
const CAUSES_EXPLAINED: &[(&str, &str, &str, &str, &str)] = &[
    ("causes", "agent/HostedQuotaExceededError 1/cause", ENVIRONMENT, FAILED, NOT_OF_HARBOR),
    ("causes", "tests/HostedQuotaExceededError 1/cause", ENVIRONMENT, VERIFIER, NOT_OF_HARBOR),
    (
        "causes",
        "agent/NotFound 1/cause",
        FAILED,
        ENVIRONMENT,
        "docker and google.api_core have one; without a module nothing says whose it is",
    ),
    ("causes", "tests/NotFound 1/cause", VERIFIER, ENVIRONMENT, "as above"),
    (
        "causes",
        "agent/EventStreamError 1/cause",
        FAILED,
        PROVIDER,
        "its message always begins with the answer's code, which says it; this one has neither that nor a module",
    ),
    ("causes", "tests/EventStreamError 1/cause", VERIFIER, ENVIRONMENT, "as above"),
    (
        "causes",
        "agent/SSLCertVerificationError 1/cause",
        PROVIDER,
        FAILED,
        "a kind of SSLError, which the other reader only knows by that name",
    ),
    ("causes", "tests/SSLCertVerificationError 1/cause", ENVIRONMENT, VERIFIER, "as above"),
    ("causes", "tests/*BadRequestError 1/cause", ENVIRONMENT, VERIFIER, REFUSED),
    ("causes", "tests/*UnprocessableEntityError 1/cause", ENVIRONMENT, VERIFIER, REFUSED),
    ("causes", "tests/*HTTPValidationError 1/cause", ENVIRONMENT, VERIFIER, REFUSED),
    ("causes", "tests/*LLMMalformedConversationHistoryError 1/cause", ENVIRONMENT, VERIFIER, REFUSED),
    ("causes", "tests/*ContentTooLargeError 1/cause", ENVIRONMENT, VERIFIER, REFUSED),
];
const ENVIRONMENT: &str = r#""environment""#;
const NONE: &str = r#""none""#;
/// The agent's.
const FAILED: &str = r#""failed""#;
const VERIFIER: &str = r#""verifier""#;
const PROVIDER: &str = r#""provider""#;

/// Exceptions that are told by how their message begins.
const SENTENCES: &[(&str, &str)] = &[
    ("RuntimeError", "Docker compose command failed for environment x. Return code: 1."),
    ("RuntimeError", "Container did not become ready for exec after 60 s"),
    ("RuntimeError", "docker compose cp failed: no space"),
    ("RuntimeError", "Main container not running after 30 s"),
    ("RuntimeError", "Sandbox not found. Please build it first."),
    ("RuntimeError", "Failed to remove verifier reward files (exit code 1)"),
    ("RuntimeError", "Failed to start tmux session. Error: no server"),
    ("RuntimeError", "Agent install failed: no network"),
    ("RuntimeError", "Command timed out after 30 seconds"),
    ("RuntimeError", "it quotes: Docker compose command failed for environment x."),
    ("RuntimeError", "main: failed to send keys: stderr='Error response from daemon: gone'"),
    ("RuntimeError", "main: failed to send keys: stderr='no server running'"),
    ("OSError", "[Errno 28] No space left on device: '/x'"),
    ("OSError", "[Errno 7] Argument list too long: 'sh'"),
    ("FileNotFoundError", "[Errno 2] No such file or directory: 'docker'"),
    ("FileNotFoundError", "[Errno 2] No such file or directory: '/app/docker'"),
    ("CalledProcessError", "Command '['docker', 'ps']' returned non-zero exit status 1."),
    ("CalledProcessError", "Command '['make', 'docker']' returned non-zero exit status 1."),
    ("APIError", "500 Server Error for http+docker://localhost/v1.47/containers: x"),
    ("ApiError", "Command failed (exit 1): claude"),
    ("ClientError", "An error occurred (ThrottlingException) when calling the Converse operation: slow down"),
    ("openai.APIStatusError", "Error code: 402 - {}"),
    ("openai.APIStatusError", "Error code: 413 - {}"),
    ("anthropic.OrganizationOnHoldError", "Error code: 400 - {}"),
    ("anthropic.RampLimitExceededError", "Error code: 429 - {}"),
    ("google.genai.errors.ClientError", "429 RESOURCE_EXHAUSTED. {}"),
    ("google.genai.errors.ClientError", "400 INVALID_ARGUMENT. {}"),
    ("mistralai.models.SDKError", "API error occurred: Status 503"),
    ("httpx.HTTPStatusError", "Client error '429 Too Many Requests' for url 'x'"),
    ("httpx.HTTPStatusError", "Client error '400 Bad Request' for url 'x'"),
    ("my_agent.errors.OddError", "Error code: 429 - {}"),
    ("my_agent.errors.RateLimitError", "slow down"),
];

/// What a reader says of a fixture, by field: `job/events`, `job/task 1/turn 2/reward`.
pub(crate) type Facts = BTreeMap<String, Value>;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository").into()
}

fn output(command: &mut Command) -> Value {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on standard output")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Takes over fields of `source` under the name of what they are of.
fn take(facts: &mut Facts, key: &str, source: &Value, fields: &[&str]) {
    for field in fields {
        let value = source.pointer(&format!("/{}", field.replace(' ', "/"))).cloned().unwrap_or(Value::Null);
        facts.insert(format!("{key}/{}", field.rsplit(' ').next().unwrap_or(field)), value);
    }
}

const SUMS: [&str; 4] = ["tokens input", "tokens cached", "tokens output", "cost_usd"];
const OF_TURN: [&str; 5] = ["reward", "steps", "tool_calls", "agent_seconds", "test_seconds"];

/// What the other reader says, by fixture: the folder below `folder` that a job lies in, or `folder` itself.
pub(crate) fn facts_by_other_reader(folder: &Path, by_folder: bool) -> BTreeMap<String, Facts> {
    let script = repository().join("bench/harbor_reader.py");
    let found = output(Command::new("python3").arg("-B").args([&script, folder]));
    let mut fixtures: BTreeMap<String, Facts> = BTreeMap::new();
    for run in list(&found["runs"]) {
        let path: Vec<&str> = text(&run["run"]).split('/').collect();
        let (fixture, job) = (path[usize::from(by_folder)], path[path.len() - 1]);
        let facts = fixtures.entry(fixture.to_owned()).or_default();
        facts.insert(format!("{job}/run"), id(fixture, run).into());
        take(facts, job, run, &["n", "events", "censored", "cost_known"]);
        take(facts, job, run, &SUMS);
        for trial in list(&run["trials"]) {
            let episode = format!("{job}/{} {}", text(&trial["task"]), trial["repeat"]);
            take(facts, &episode, trial, &["planned", "stamina", "event", "cause"]);
            for (turn, number) in list(&trial["turns"]).iter().zip(1..) {
                let turn_of = format!("{episode}/turn {number}");
                take(facts, &turn_of, turn, &["verdict"]);
                take(facts, &turn_of, turn, &[&SUMS[..], &OF_TURN].concat());
            }
        }
    }
    fixtures
}

/// What `stamina show` says of a run of that job, in the other reader's words.
fn add_shown_facts(facts: &mut Facts, job: &str, shown: &Value) {
    facts.insert(format!("{job}/run"), shown["id"].clone());
    take(facts, job, &shown["stamina"], &["n", "events", "censored"]);
    take(facts, job, shown, &SUMS);
    take(facts, job, &json!({ "cost_known": shown["cost_known"]["known"] }), &["cost_known"]);
    for episode in list(&shown["episodes"]) {
        let key = format!("{job}/{} {}", text(&episode["scenario"]), episode["repeat"]);
        let cause = match text(&episode["end_reason"]) {
            "passed_all" => Value::Null,
            "endpoint" => "provider".into(),
            "verifier_error" | "verifier_timeout" | "no_verdict" => "verifier".into(),
            // words: ok: the name of an end reason.
            outside @ ("environment" | "cancelled" | "budget" | "unfinished") => outside.into(),
            _ => "failed".into(),
        };
        let (planned, event) = (&episode["planned_turns"], episode["censored"] == false);
        let end =
            json!({ "planned": planned, "stamina": episode["stamina"], "event": event, "cause": cause });
        take(facts, &key, &end, &["planned", "stamina", "event", "cause"]);
        let turns = list(&episode["turns"]).iter().zip(1..);
        let mut attempts: Vec<(u32, Value)> =
            turns.filter_map(|(turn, number)| Some((number, turn["attempts"].get(0)?.clone()))).collect();
        if attempts.is_empty() {
            // It ended before its first turn, of which the other reader says that it has no verdict.
            attempts.push((1, json!({ "verdict": "error" })));
        }
        for (number, mut attempt) in attempts {
            let verdict = attempt["verdict"].take();
            attempt["verdict"] =
                if verdict == "passed" || verdict == "failed" { verdict } else { "none".into() };
            let turn_of = format!("{key}/turn {number}");
            take(facts, &turn_of, &attempt, &["verdict"]);
            take(facts, &turn_of, &attempt, &[&SUMS[..], &OF_TURN].concat());
        }
    }
}

/// Equal but for how far two ways to add up the same numbers may lie apart.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
        _ => a == b,
    }
}

/// Whether a field is `pattern`, in which one `*` stands for anything.
fn is_like(field: &str, pattern: &str) -> bool {
    pattern.split_once('*').map_or(field == pattern, |(head, tail)| {
        field.len() >= head.len() + tail.len() && field.starts_with(head) && field.ends_with(tail)
    })
}

/// The id that a run has: its source, job, harness and model in lower case, with one hyphen for all that is no letter.
fn id(fixture: &str, run: &Value) -> String {
    let first = &run["trials"][0];
    let (harness, model) = (text(&first["harness"]), text(&first["model"]));
    let job = text(&run["run"]).rsplit('/').next().unwrap_or_default();
    let model = if model == harness { String::new() } else { format!("-{model}") };
    format!("{fixture}.{job}-{harness}{}", model.replace('/', "-"))
}

#[test]
fn another_reader_says_the_same_of_every_harbor_job() {
    let folder = tempfile::tempdir().expect("a folder for the library");
    let fixtures = repository().join("tests/fixtures");
    let sample = repository().join("data/sample-harbor.zip");
    let extracted = folder.path().join("sample-harbor");
    let unzip = Command::new("python3").args(["-m", "zipfile", "-e"]).args([&sample, &extracted]).status();
    assert!(unzip.is_ok_and(|status| status.success()), "{} cannot be extracted", sample.display());

    let mut all = facts_by_other_reader(&fixtures.join("harbor"), false);
    all.extend(facts_by_other_reader(&fixtures.join("world"), true));
    all.extend(facts_by_other_reader(&extracted, false));

    let sources = all.keys().map(|name| match name.as_str() {
        "harbor" => fixtures.join(name),
        "sample-harbor" => sample.clone(),
        _ => fixtures.join("world").join(name),
    });
    let compared = compare(&all, &sources.collect::<Vec<_>>(), folder.path(), |_| true, EXPLAINED);
    assert!(compared > 3_000, "only {compared} numbers were compared");
}

/// Compares both readers about these fields of the fixtures; gives how many there are.
pub(crate) fn compare(
    all: &BTreeMap<String, Facts>,
    sources: &[PathBuf],
    folder: &Path,
    wanted: impl Fn(&str) -> bool,
    explanations: &[(&str, &str, &str, &str, &str)],
) -> usize {
    let stamina = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stamina"));
        output(command.arg("--db").arg(folder.join("library.sqlite")).args(args).arg("--json"))
    };
    let sources: Vec<&str> = sources.iter().map(|path| path.to_str().expect("UTF-8")).collect();
    stamina(&std::iter::once("ingest").chain(sources).collect::<Vec<_>>());

    let mut explained = vec![0_usize; explanations.len()];
    let mut different = Vec::new();
    let mut compared = 0;
    let runs = stamina(&["runs"]);
    for (fixture, expected) in all {
        let mut facts = Facts::new();
        for (field, run) in expected.iter().filter(|(field, _)| field.ends_with("/run")) {
            add_shown_facts(&mut facts, field.trim_end_matches("/run"), &stamina(&["show", text(run)]));
        }
        let own_runs = list(&runs).iter().filter(|run| text(&run["id"]).starts_with(&format!("{fixture}.")));
        let runs_of = expected.keys().filter(|field| field.ends_with("/run"));
        assert_eq!(own_runs.count(), runs_of.count(), "runs of {fixture}");
        let fields: BTreeSet<&String> =
            facts.keys().chain(expected.keys()).filter(|field| wanted(field)).collect();
        compared += fields.len();
        for field in fields {
            let values = [facts.get(field), expected.get(field)];
            if let [Some(a), Some(b)] = values
                && same(a, b)
            {
                continue;
            }
            let [a, b] = values.map(|value| value.map_or_else(|| "nothing".to_owned(), Value::to_string));
            let entry = explanations.iter().position(|(key, pattern, shown_value, expected_value, _)| {
                key == fixture && is_like(field, pattern) && *shown_value == a && *expected_value == b
            });
            match entry {
                Some(entry) => explained[entry] += 1,
                None => different.push(format!("{fixture} {field}: {a}, the other reader says {b}")),
            }
        }
    }
    assert!(different.is_empty(), "{} differences:\n{}", different.len(), different.join("\n"));
    let stale: Vec<_> =
        explanations.iter().zip(&explained).filter(|(_, n)| **n == 0).map(|(entry, _)| entry).collect();
    assert!(stale.is_empty(), "differences that no longer occur: {stale:#?}");
    compared
}

/// A trial that raised an exception at a stage and has no verdict. A name with dots, and one of Python's own that begins
/// with `builtins.`, has a traceback that says its module.
fn raised(job: &Path, stage: &str, number: usize, name: &str, (kind, message): (&str, &str)) {
    let (module, short) = kind.rsplit_once('.').map_or((None, kind), |(module, short)| (Some(module), short));
    let full = if module == Some("builtins") { short } else { kind };
    let traceback = module.map_or_else(String::new, |_| {
        format!("Traceback (most recent call last):\n  File \"/x/y.py\", line 1, in z\n{full}: {message}\n")
    });
    let phase = |begin: &str, end: &str| json!({ "started_at": format!("2026-01-01T10:{begin}Z"), "finished_at": format!("2026-01-01T10:{end}Z") });
    let (work, tests, time) = match stage {
        "set-up" => (Value::Null, Value::Null, "01:30"),
        "agent" => (phase("02:00", "08:00"), Value::Null, "08:00"),
        _ => (phase("02:00", "08:00"), phase("09:00", "10:00"), "09:30"),
    };
    let trial = format!("t{number}__AAAAAA1");
    let config = json!({
        "task": { "path": format!("tasks/{name}") }, "trial_name": trial, "job_id": stage,
        "agent": { "name": "agent-a", "model_name": "vendor/model-a" },
    });
    let result = json!({
        "id": format!("{stage} {number}"), "task_name": name, "trial_name": trial, "config": config,
        "agent_info": { "name": "agent-a", "version": "1" }, "verifier_result": null,
        "started_at": "2026-01-01T10:00:00Z", "finished_at": "2026-01-01T10:11:00Z",
        "agent_setup": phase("01:00", "02:00"), "agent_execution": work, "verifier": tests,
        "exception_info": {
            "exception_type": short, "exception_message": message, "exception_traceback": traceback,
            "occurred_at": format!("2026-01-01T10:{time}Z"),
        },
    });
    let folder = job.join(trial);
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.json"), config.to_string()).expect("to write");
    std::fs::write(folder.join("result.json"), result.to_string()).expect("to write");
}

/// The types of both tables, each with and without its module.
fn exceptions(folder: &Path) -> BTreeSet<String> {
    let list_rows = "import json, sys; sys.path.insert(0, sys.argv[1]); import harbor_reader\n\
        print(json.dumps([row[1:] for row in harbor_reader.RAISED]))";
    let bench = repository().join("bench");
    let exception_rows = output(Command::new("python3").args(["-B", "-c", list_rows]).arg(bench));
    let mut all = BTreeSet::new();
    for row in list(&exception_rows) {
        let (owner, kind) = (text(&row[0]), text(&row[1]));
        if !kind.contains('*') {
            all.insert(kind.to_owned());
            all.extend((owner != "?").then(|| format!("{owner}.{kind}")));
        }
    }
    let mut decisions = Command::new(env!("CARGO_BIN_EXE_stamina"));
    let decision_table =
        output(decisions.arg("--db").arg(folder.join("other.sqlite")).args(["rpc", "get_decisions"]));
    let is_type = |word: &&str| {
        word.starts_with(|first: char| first.is_ascii_uppercase())
            && ["Error", "Exception", "Timeout", "Exceeded"].iter().any(|end| word.ends_with(end))
    };
    for row in list(&decision_table["rows"]) {
        let words = text(&row["exceptions"]).split(|c: char| !c.is_ascii_alphanumeric() && c != '*');
        all.extend(words.filter(is_type).filter(|word| !word.contains('*')).map(str::to_owned));
    }
    all
}

/// Whose failure an exception was, by two tables of which neither knows the other.
#[test]
fn another_table_says_the_same_of_every_exception() {
    let folder = tempfile::tempdir().expect("a folder for the library");
    let root = folder.path().join("causes");
    let names = exceptions(folder.path());
    for stage in ["set-up", "agent", "tests"] {
        let job = root.join(stage);
        for (number, name) in names.iter().enumerate() {
            raised(&job, stage, number, name, (name, "m"));
        }
        for (number, sentence) in (names.len()..).zip(SENTENCES) {
            raised(&job, stage, number, &format!("sentence-{number}"), *sentence);
        }
        let job_config =
            json!({ "job_name": stage, "agents": [{ "name": "agent-a", "model_name": "vendor/model-a" }] });
        std::fs::write(job.join("config.json"), job_config.to_string()).expect("to write");
        let all = names.len() + SENTENCES.len();
        std::fs::write(job.join("result.json"), json!({ "id": stage, "n_total_trials": all }).to_string())
            .expect("to write");
    }
    let wanted = |field: &str| field.ends_with("/cause");
    let sources = std::slice::from_ref(&root);
    let compared =
        compare(&facts_by_other_reader(&root, false), sources, folder.path(), wanted, CAUSES_EXPLAINED);
    assert_eq!(compared, 3 * (names.len() + SENTENCES.len()), "each exception at each stage");
    assert!(names.len() > 300, "only {} exceptions", names.len());
}

/// A step: its rewards, how much its session has used since its begin (in hundreds of tokens and quarters of a dollar, 0 = it
/// does not say), and how often its agent has answered (0 = it has no trajectory).
type StepFacts = (Value, u32, u32);

/// Writes a trial of an agent that resumes its session. `declared` is how many steps its log says there were to be.
fn write_resumed_trial(job: &Path, name: &str, declared: Option<u32>, steps: &[StepFacts]) {
    let (folder, task) = (job.join(name), name.split("__").next());
    let config = json!({
        "task": { "path": format!("tasks/{}", task.unwrap_or_default()) }, "trial_name": name, "job_id": "j",
        "agent": { "name": "codex", "model_name": "vendor/model-a", "resume_trajectory": true },
    });
    let write = |file: &str, text: String| std::fs::write(folder.join(file), text).expect("to write");
    let (mut results, mut log) = (Vec::new(), String::new());
    for (number, (rewards, used, answers)) in (1..).zip(steps) {
        let answer = |n| {
            let call = json!([{ "tool_call_id": format!("c{n}"), "function_name": "f", "arguments": {} }]);
            [
                json!({ "source": "user", "message": format!("Request {n}") }),
                json!({ "source": "agent", "message": "Done.", "tool_calls": call }),
            ]
        };
        std::fs::create_dir_all(folder.join(format!("steps/s{number}/agent"))).expect("a folder");
        if *answers > 0 {
            let messages: Vec<Value> = (0..*answers).flat_map(answer).collect();
            let trajectory = json!({ "schema_version": "ATIF-v1.7", "steps": messages });
            write(&format!("steps/s{number}/agent/trajectory.json"), trajectory.to_string());
        }
        let usage = json!({ "n_input_tokens": used * 100, "n_output_tokens": used * 10, "cost_usd": f64::from(*used) / 4.0 });
        results.push(json!({
            "step_name": format!("s{number}"), "verifier_result": { "rewards": rewards },
            "agent_result": Some(usage).filter(|_| *used > 0),
        }));
        log += &declared.map_or_else(String::new, |n| format!("Starting step {number}/{n}: s{number}\n"));
    }
    let result = json!({
        "id": name, "task_name": task, "trial_name": name, "config": config, "step_results": results,
        "agent_info": { "name": "codex", "version": "1" }, "started_at": format!("2026-01-01T10:00:{}Z", name.len() + 10),
    });
    write("config.json", config.to_string());
    write("../config.json", json!({ "job_name": "job", "agents": [config["agent"]] }).to_string());
    write("result.json", result.to_string());
    write("trial.log", log);
}

/// Trials that a second reward below its `min_reward` stopped, and sessions over steps that do not say what they used.
#[test]
fn another_reader_says_the_same_of_steps_that_stop_early_or_say_nothing() {
    let folder = tempfile::tempdir().expect("a folder for the library");
    let root = folder.path().join("early");
    let (pass, stop) = (json!({ "reward": 1 }), json!({ "reward": 1, "style": 0.5 }));
    let job = root.join("stopped");
    let passed = [1, 2, 3].map(|n| (pass.clone(), n, n));
    let stopped = [(pass.clone(), 1, 1), (stop, 2, 2)];
    write_resumed_trial(&job, "logged__1", Some(4), &stopped);
    write_resumed_trial(&job, "alone__1", None, &stopped);
    write_resumed_trial(&job, "twice__1", None, &passed);
    write_resumed_trial(&job, "twice__22", None, &stopped);
    // One that passed all of its own steps, of a task that had more in another trial.
    write_resumed_trial(&job, "changed__1", Some(2), &passed[..2]);
    write_resumed_trial(&job, "changed__22", Some(3), &passed);
    let job = root.join("sessions");
    let session = |used: &[(u32, u32)]| -> Vec<StepFacts> {
        used.iter().map(|(used, messages)| (pass.clone(), *used, *messages)).collect()
    };
    write_resumed_trial(&job, "silent__1", None, &session(&[(1, 1), (2, 2), (0, 3), (4, 4), (5, 5), (6, 6)]));
    write_resumed_trial(&job, "untold__1", None, &session(&[(1, 1), (0, 0), (3, 3), (4, 4)]));
    write_resumed_trial(&job, "begin__1", None, &session(&[(0, 1), (2, 2), (3, 3)]));
    write_resumed_trial(&job, "end__1", None, &session(&[(1, 1), (0, 2), (3, 3), (0, 4)]));
    let expected = facts_by_other_reader(&root, false);
    let facts = &expected["early"];
    assert_eq!(facts["stopped/logged 1/event"], true, "the agent stopped it, and nothing from outside");
    assert_eq!(facts["sessions/silent 1/turn 4/cost_usd"], Value::Null, "it is known with the turn before");
    assert_eq!(facts["sessions/cost_known"], 3, "of the fourth nothing says what the last step used");
    let compared = compare(&expected, &[root], folder.path(), |_| true, &[]);
    assert!(compared > 200, "only {compared} numbers were compared");
}

/// By the formula of EvoCode-Bench's paper, calculated from the rewards in `result.json` and the steps in `task.toml`.
#[test]
fn the_scores_of_the_paper_are_those_of_their_formula() {
    let library = app::TestHome::new();
    library.ingest(&folders::fixtures().join("harbor"));
    let runs = library.json(&["runs"]);
    let scores_of = |job: &str| {
        let run =
            runs.as_array().expect("runs").iter().find(|run| {
                run["source"] == "harbor" && run["id"].as_str().is_some_and(|id| id.contains(job))
            });
        let run = run.unwrap_or_else(|| panic!("{job} in {runs}"));
        (run["mt_at_k"].clone(), run["comp"].clone(), run["sr"].clone(), run["gap"].clone())
    };
    let percent = 100.0 * 11.0 / 12.0;
    assert_eq!(
        scores_of("oracle-k2"),
        (json!({ "1": percent, "2": percent }), json!(100.0), Value::Null, Value::Null)
    );
    assert_eq!(scores_of("failures-k1"), (json!({ "1": 50.0 }), json!(50.0), Value::Null, Value::Null));
    assert_eq!(scores_of("nop-k1"), (json!({ "1": 0.0 }), json!(0.0), Value::Null, Value::Null));
}
