//! The attribution of exceptions, read through the library's door: a job of Harbor in, end reasons out.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};

use files::{Tree, join};
use ingest::format_trait::{Format, Report, Sniff};
use ingest::formats::harbor::Harbor;
use model::{EndReason, Episode, Verdict};
use serde_json::{Value, json};

/// Reads every job below a folder.
fn read(path: &Path) -> Vec<Episode> {
    let tree = Tree::open(path).unwrap();
    let (mut report, mut out) = (Report::default(), Vec::new());
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        if Harbor.sniff(&tree, &folder) != Sniff::Recognized {
            folders
                .extend(tree.list(&folder).iter().filter(|e| e.is_folder()).map(|e| join(&folder, &e.name)));
            continue;
        }
        for part in Harbor.survey(&tree, &folder, &mut report).parts {
            out.extend(Harbor.read(&tree, &folder, &part, &mut report).into_iter().map(|r| r.episode));
        }
    }
    out
}

fn ends(path: &Path) -> Vec<(String, EndReason)> {
    let mut end_reasons: Vec<_> = read(path).iter().map(|e| (e.scenario.clone(), e.end().1)).collect();
    end_reasons.sort_unstable();
    end_reasons
}

fn time(clock: &str) -> String {
    format!("2026-01-01T{clock}Z")
}

fn span(start: &str, end: &str) -> Value {
    json!({ "started_at": time(start), "finished_at": time(end) })
}

/// An exception at a time of day; the agent works from 10:02 to 10:08, the tests run from 10:08:05 to 10:09.
fn exception(kind: &str, message: &str, moment: &str) -> Value {
    json!({ "exception_type": kind, "exception_message": message, "exception_traceback": "", "occurred_at": time(moment) })
}

/// What a single-step trial has of its tests.
enum Tests {
    NotRun,
    NoVerdict,
    Reward(f64),
}

fn trial(job: &Path, name: &str, exception: &Value, agent: bool, tests: &Tests) {
    let rewards = match tests {
        Tests::Reward(reward) => json!({ "rewards": { "reward": reward } }),
        Tests::NotRun | Tests::NoVerdict => Value::Null,
    };
    let result = json!({
        "id": name, "task_name": name, "trial_name": format!("{name}__AAAAAA1"),
        "agent_info": { "name": "agent-a", "version": "1", "model_info": { "name": "model-a", "provider": "vendor" } },
        "verifier_result": rewards,
        "exception_info": exception,
        "environment_setup": span("10:00:00", "10:01:00"),
        "agent_setup": span("10:01:00", "10:02:00"),
        "agent_execution": if agent { span("10:02:00", "10:08:00") } else { Value::Null },
        "verifier": if matches!(tests, Tests::NotRun) { Value::Null } else { span("10:08:05", "10:09:00") },
    });
    write_trial(job, &format!("{name}__AAAAAA1"), &result);
}

fn write_trial(job: &Path, folder: &str, result: &Value) {
    let folder = job.join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("result.json"), result.to_string()).unwrap();
    std::fs::write(
        folder.join("config.json"),
        r#"{"agent": {"name": "agent-a", "model_name": "vendor/model-a"}}"#,
    )
    .unwrap();
}

fn job() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("job");
    std::fs::create_dir_all(&job).unwrap();
    std::fs::write(job.join("config.json"), r#"{"job_name": "job", "agents": [{"name": "agent-a"}]}"#)
        .unwrap();
    std::fs::write(job.join("result.json"), r#"{"id": "job", "n_total_trials": 1, "stats": {}}"#).unwrap();
    (dir, job)
}

#[test]
fn words_of_a_message_are_no_evidence() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/world/docker-words");
    let want = [
        ("good", EndReason::PassedAll),
        ("path", EndReason::AgentError),
        ("quote", EndReason::AgentError),
        ("real", EndReason::Environment),
        ("tests", EndReason::VerifierError),
    ];
    assert_eq!(ends(&fixture), want.map(|(task, end)| (task.to_owned(), end)));
}

#[test]
fn the_stage_is_recognized_by_the_time_of_the_exception() {
    use EndReason as R;
    let (_dir, job) = job();
    let slow = "An error occurred (ThrottlingException) when calling the Converse operation: slow";
    let cases = [
        // Before the agent began.
        ("start", exception("ValueError", "x", "10:00:30"), false, Tests::NotRun, R::Environment),
        (
            "install",
            exception("NonZeroAgentExitCodeError", "Command failed (exit 1)", "10:01:30"),
            false,
            Tests::NotRun,
            R::Environment,
        ),
        (
            "network",
            exception("NetworkConnectionError", "x", "10:01:30"),
            false,
            Tests::NotRun,
            R::Environment,
        ),
        // Of the agent, in a trial that was tested afterwards.
        ("judged", exception("ValueError", "x", "10:08:00"), true, Tests::Reward(0.0), R::AgentError),
        (
            "judged-endpoint",
            exception("APIStatusError", "Error code: 402 - {}", "10:08:00"),
            true,
            Tests::Reward(0.0),
            R::Endpoint,
        ),
        ("judged-passed", exception("ValueError", "x", "10:08:00"), true, Tests::Reward(1.0), R::PassedAll),
        ("late-record", exception("ClientError", slow, "10:08:00.7"), true, Tests::Reward(0.0), R::Endpoint),
        (
            "not-judged",
            exception("APITimeoutError", "Request timed out.", "10:08:00"),
            true,
            Tests::NotRun,
            R::Endpoint,
        ),
        // The agent's error did not keep the tests from running: that they left nothing is theirs.
        ("no-verdict", exception("ValueError", "x", "10:08:00"), true, Tests::NoVerdict, R::VerifierError),
        (
            "no-verdict-endpoint",
            exception("ReadTimeout", "", "10:08:00"),
            true,
            Tests::NoVerdict,
            R::Endpoint,
        ),
        // Between the two, and of the tests.
        ("logs", exception("KeyError", "x", "10:08:03"), true, Tests::NotRun, R::Environment),
        ("logs-judged", exception("KeyError", "x", "10:08:03"), true, Tests::Reward(0.0), R::TestsFailed),
        ("tests", exception("KeyError", "x", "10:08:30"), true, Tests::NoVerdict, R::VerifierError),
        (
            "copies",
            exception("AddTestsDirError", "Failed to add tests directory to environment.", "10:08:30"),
            true,
            Tests::NoVerdict,
            R::Environment,
        ),
        (
            "logs-of-tests",
            exception(
                "DownloadVerifierDirError",
                "Failed to download verifier directory from environment",
                "10:08:30",
            ),
            true,
            Tests::NoVerdict,
            R::Environment,
        ),
        (
            "engine-of-tests",
            exception("RuntimeError", "Docker compose command failed for environment x.", "10:08:30"),
            true,
            Tests::NoVerdict,
            R::Environment,
        ),
        // A tear-down says nothing of what was played.
        (
            "torn-down",
            exception("RuntimeError", "Docker compose command failed for environment x.", "10:09:30"),
            true,
            Tests::Reward(0.0),
            R::TestsFailed,
        ),
        (
            "torn-down-passed",
            exception("RuntimeError", "Docker compose command failed for environment x.", "10:09:30"),
            true,
            Tests::Reward(1.0),
            R::PassedAll,
        ),
        (
            "torn-down-cancelled",
            exception("CancelledError", "", "10:09:30"),
            true,
            Tests::Reward(0.0),
            R::TestsFailed,
        ),
        // A person, a limit, a refusal: each has an end of its own.
        ("stopped", exception("CancelledError", "", "10:05:00"), true, Tests::NotRun, R::Cancelled),
        ("by-user", exception("UserCancelledError", "", "10:05:00"), true, Tests::NotRun, R::Cancelled),
        ("budget", exception("BudgetExceededError", "x", "10:05:00"), true, Tests::NotRun, R::Budget),
        (
            "refused",
            exception("ContentPolicyViolationError", "x", "10:05:00"),
            true,
            Tests::NotRun,
            R::GaveUp,
        ),
    ];
    for (name, exception, agent, tests, _) in &cases {
        trial(&job, name, exception, *agent, tests);
    }
    let mut want: Vec<_> = cases.iter().map(|(name, .., end)| ((*name).to_owned(), *end)).collect();
    want.sort_unstable();
    assert_eq!(ends(&job), want);
}

/// The same order in times without a zone, which Harbor 0.1 wrote.
#[test]
fn local_times_are_compared_with_each_other() {
    let (_dir, job) = job();
    let local = |file: &str| {
        let path = job.join(file).join("result.json");
        let text = std::fs::read_to_string(&path).unwrap().replace("Z\"", "\"");
        std::fs::write(path, text).unwrap();
    };
    trial(&job, "judged", &exception("ValueError", "x", "10:08:00"), true, &Tests::Reward(0.0));
    trial(&job, "torn-down", &exception("ValueError", "x", "10:09:30"), true, &Tests::Reward(0.0));
    local("judged__AAAAAA1");
    local("torn-down__AAAAAA1");
    let want = [("judged", EndReason::AgentError), ("torn-down", EndReason::TestsFailed)];
    assert_eq!(ends(&job), want.map(|(task, end)| (task.to_owned(), end)));
}

#[test]
fn an_exception_between_steps_is_of_the_next_one_and_after_the_last_of_none() {
    let (_dir, job) = job();
    let step = |name: &str, agent: Value, reward: Option<f64>, exception: Value| {
        json!({
            "step_name": name, "exception_info": exception, "agent_execution": agent,
            "verifier_result": reward.map(|r| json!({ "rewards": { "reward": r } })),
            "verifier": reward.map(|_| span("10:08:05", "10:09:00")),
        })
    };
    let played = |name, reward, exception| step(name, span("10:02:00", "10:08:00"), reward, exception);
    let multi = |name: &str, steps: Vec<Value>, exception: Value| {
        let result = json!({
            "id": name, "task_name": name, "step_results": steps, "exception_info": exception,
            "environment_setup": span("10:00:00", "10:01:00"), "agent_setup": span("10:01:00", "10:02:00"),
        });
        write_trial(&job, &format!("{name}__AAAAAA1"), &result);
        std::fs::write(
            job.join(format!("{name}__AAAAAA1/trial.log")),
            "Starting step 1/2: a\nStarting step 2/2: b\n",
        )
        .unwrap();
    };
    let passed = || played("a", Some(1.0), Value::Null);
    let lost = || exception("RuntimeError", "Docker compose command failed for environment x.", "10:30:00");
    multi("lost-between", vec![passed()], lost());
    multi("torn-down", vec![passed(), played("b", Some(0.0), Value::Null)], lost());
    multi(
        "judged-step",
        vec![passed(), played("b", Some(0.0), exception("KeyError", "x", "10:08:00"))],
        Value::Null,
    );
    let broken = exception("HealthcheckError", "Healthcheck failed after 3 tries", "10:20:00");
    multi("first-check", vec![step("a", Value::Null, None, broken.clone())], Value::Null);
    multi("later-check", vec![passed(), step("b", Value::Null, None, broken)], Value::Null);

    let want = [
        ("first-check", EndReason::Environment),
        ("judged-step", EndReason::AgentError),
        ("later-check", EndReason::AgentError),
        ("lost-between", EndReason::Environment),
        ("torn-down", EndReason::TestsFailed),
    ];
    assert_eq!(ends(&job), want.map(|(task, end)| (task.to_owned(), end)));
    let episodes = read(&job);
    let torn = episodes.iter().find(|e| e.scenario == "torn-down").unwrap();
    assert_eq!(torn.turns[1].attempts[0].verdict, Verdict::Failed);
    assert_eq!(torn.exception.as_ref().unwrap().0, "RuntimeError", "it stays visible");
}
