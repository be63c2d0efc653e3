//! Sessions that continue from step to step (`--resume-trajectory`), and jobs that continued after an interruption.
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test fails by panicking, in its helpers too; seconds are whole"
)]

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use files::Tree;
use ingest::import::import;
use model::{Attempt, Tokens};
use serde_json::{Value, json};
use store::{RunEntry, RunFilter, SourceId, Store, WarningFilter};

struct Library {
    store: Store,
    source: SourceId,
    folder: tempfile::TempDir,
}

impl Library {
    /// An empty one; `job` is where its source will lie.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("library.db")).unwrap();
        let source = store.put_source(&folder.path().to_string_lossy(), "results", false).unwrap();
        Self { store, source, folder }
    }

    fn job(&self) -> std::path::PathBuf {
        self.folder.path().join("job")
    }

    fn read(&self) -> RunEntry {
        let tree = Tree::open(&self.job()).unwrap();
        import(&tree, &self.store, self.source, &|_, _| {}, &AtomicBool::new(false)).unwrap();
        self.store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1
    }

    /// The attempts of its only episode.
    fn attempts(&self) -> Vec<Attempt> {
        let run = self.read();
        let episode = self.store.episodes(run.id).unwrap().remove(0);
        let whole = self.store.whole_episode(episode.id).unwrap().unwrap();
        whole.turns.into_iter().flat_map(|turn| turn.attempts).collect()
    }

    fn codes(&self, group: &str) -> Vec<String> {
        let page = self.store.warnings(self.source, &WarningFilter::default(), 0, 100).unwrap();
        page.warnings.into_iter().map(|w| w.code).filter(|code| code.starts_with(group)).collect()
    }
}

fn write(path: &Path, value: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, value.to_string()).unwrap();
}

/// A step as its files state it: input, cached, output, cost; whether its trajectory begins with the messages of earlier steps.
type StepCounts = ([u64; 3], f64, bool);

/// A job of one trial of several steps. In each the agent is asked once and answers once, with a call of a tool.
fn play(job: &Path, agent: &str, resumes: bool, estimated: bool, steps: &[StepCounts]) {
    let name = "task__AAAAAA1";
    let config = json!({
        "trial_name": name, "task": { "path": "tasks/task" },
        "agent": { "name": agent, "model_name": "v/m", "resume_trajectory": resumes },
    });
    let mut session: Vec<Value> = Vec::new();
    let mut results = Vec::new();
    for (index, ([input, cached, output], cost, goes_on)) in steps.iter().enumerate() {
        if !goes_on {
            session.clear();
        }
        session.push(json!({ "source": "user", "message": format!("Request {index}") }));
        session.push(json!({ "source": "agent", "message": "Done.", "tool_calls": [{ "tool_call_id": format!("c{index}") }] }));
        let mut metrics = json!({ "total_prompt_tokens": input });
        if estimated {
            metrics["extra"] = json!({ "cost_source": "litellm_estimate" });
        }
        write(
            &job.join(format!("{name}/steps/s{index}/agent/trajectory.json")),
            &json!({ "schema_version": "ATIF-v1.7", "steps": session, "final_metrics": metrics }),
        );
        results.push(json!({
            "step_name": format!("s{index}"), "verifier_result": { "rewards": { "reward": 1.0 } },
            "agent_result": { "n_input_tokens": input, "n_cache_tokens": cached, "n_output_tokens": output, "cost_usd": cost },
        }));
    }
    write(&job.join(name).join("config.json"), &config);
    write(
        &job.join(name).join("result.json"),
        &json!({ "id": "t", "task_name": "task", "trial_name": name, "config": config, "step_results": results }),
    );
    write(&job.join("config.json"), &json!({ "job_name": "job", "agents": [config["agent"]] }));
}

#[test]
fn a_step_has_what_it_spent_itself() {
    let total: &[StepCounts] =
        &[([100, 40, 10], 0.25, true), ([300, 140, 30], 0.75, true), ([300, 140, 30], 0.75, true)];
    let spent = [([100, 40, 10], 0.25), ([200, 100, 20], 0.5), ([0, 0, 0], 0.0)];
    let as_recorded = [([100, 40, 10], 0.25), ([300, 140, 30], 0.75), ([300, 140, 30], 0.75)];
    let cost_as_recorded = [([100, 40, 10], 0.25), ([200, 100, 20], 0.75), ([0, 0, 0], 0.75)];
    let separate: &[StepCounts] = &[total[0], (total[1].0, 0.75, false), (total[2].0, 0.75, false)];
    let falls: &[StepCounts] = &[total[0], ([300, 140, 5], 0.75, true), total[2]];
    let falls_as_recorded = [as_recorded[0], ([300, 140, 5], 0.75), as_recorded[2]];
    let (totals, unclear) = (&["tokens.session_totals"][..], &["tokens.session_unclear"][..]);
    for (label, agent, resumes, estimated, steps, right, calls, codes) in [
        ("a session's totals", "codex", true, false, total, spent, [1, 1, 1], totals),
        ("a new session each time", "codex", false, false, total, as_recorded, [1, 2, 3], &[]),
        ("nothing shows it", "codex", true, false, separate, as_recorded, [1, 1, 1], unclear),
        ("counts of each call", "opencode", true, false, separate, as_recorded, [1, 1, 1], &[]),
        ("a count falls", "codex", true, false, falls, falls_as_recorded, [1, 1, 1], &[]),
        ("takes earlier steps out itself", "hermes", true, false, total, as_recorded, [1, 1, 1], &[]),
        ("its own cost is of a call", "claude-code", true, false, total, cost_as_recorded, [1, 1, 1], totals),
        ("an estimate is of the session", "claude-code", true, true, total, spent, [1, 1, 1], totals),
    ] {
        let library = Library::new();
        play(&library.job(), agent, resumes, estimated, steps);
        let attempts = library.attempts();
        let found: Vec<_> = attempts.iter().map(|a| (a.tokens, a.cost_usd)).collect();
        let right = right.map(|([input, cached, output], cost)| {
            (Tokens { input: Some(input), cached: Some(cached), output: Some(output) }, Some(cost))
        });
        assert_eq!(found, right, "{label}");
        let counted: Vec<_> = attempts.iter().map(|a| (a.steps, a.tool_calls)).collect();
        assert_eq!(counted, calls.map(|n| (Some(n), Some(n))), "{label}");
        assert_eq!(library.codes("tokens.session"), codes, "{label}");
    }
}

/// Takes what the results of these steps say that they used.
fn forget(job: &Path, steps: &[usize]) {
    let file = job.join("task__AAAAAA1/result.json");
    let mut result: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for step in steps {
        result["step_results"][step]["agent_result"] = json!({ "n_input_tokens": null, "cost_usd": null });
    }
    write(&file, &result);
}

/// The agent of a step was ended before it recorded what it had used: what the next step counts is of both, and counts once.
#[test]
fn a_step_that_says_nothing_hides_none_of_the_others() {
    let library = Library::new();
    let steps = [([100, 40, 10], 0.25, true), ([300, 140, 30], 0.75, true), ([600, 240, 60], 1.5, true)];
    play(&library.job(), "codex", true, false, &steps);
    forget(&library.job(), &[1]);
    let found: Vec<_> = library.attempts().iter().map(|a| (a.tokens, a.cost_usd)).collect();
    let counts = |input, cached, output| Tokens { input: Some(input), cached, output };
    assert_eq!(
        found,
        [
            (counts(100, Some(40), Some(10)), Some(0.25)),
            // Its trajectory says the input of the whole session.
            (counts(200, None, None), None),
            (counts(300, None, None), None),
        ]
    );
    let run = library.read();
    let episode = library.store.episodes(run.id).unwrap().remove(0);
    assert_eq!((episode.tokens, episode.cost_usd), (counts(600, Some(240), Some(60)), Some(1.5)));
    assert_eq!(library.codes("tokens.session"), ["tokens.session_totals"]);
}

/// Cost and tokens per turn are over the turns that their sum is of.
#[test]
fn the_cost_of_a_session_is_that_of_all_its_turns() {
    let steps: Vec<StepCounts> = (1..=6_u32)
        .map(|n| ([u64::from(n) * 100, 0, u64::from(n) * 10], 0.25 * f64::from(n), true))
        .collect();
    let rates = |silent: &[usize], without_trajectory: Option<usize>| {
        let library = Library::new();
        play(&library.job(), "codex", true, false, &steps);
        forget(&library.job(), silent);
        if let Some(step) = without_trajectory {
            let folder = library.job().join(format!("task__AAAAAA1/steps/s{step}/agent"));
            fs::remove_dir_all(folder).unwrap();
        }
        let run = library.read();
        let used = library.store.episode_turns(run.id).unwrap().remove(0).used;
        let whole = library.store.episodes(run.id).unwrap().remove(0).cost_usd;
        (
            (used.cost.sum, used.cost.turns),
            used.tokens.turns,
            (used.tool_calls.sum, used.tool_calls.turns),
            whole,
        )
    };
    let all = ((1.5, 6), 6, (6.0, 6), Some(1.5));
    assert_eq!(rates(&[], None), all);
    assert_eq!(rates(&[2], None), all, "1.50 of five turns is 0.30 per turn");
    assert_eq!(rates(&[0, 2, 3], None), all);
    // Nor are the calls of the next step known by themselves.
    assert_eq!(rates(&[2], Some(2)), ((1.5, 6), 6, (4.0, 4), Some(1.5)));
    // Nothing says what the last one used: the others are known by themselves, but for the one after the gap.
    assert_eq!(rates(&[2, 5], None), ((0.75, 3), 3, (6.0, 6), None));
}

/// A rate is over the turns of which the number is known.
#[test]
fn the_time_of_two_steps_is_not_that_of_three() {
    let library = Library::new();
    let steps = [([100, 40, 10], 0.25, false), ([100, 40, 10], 0.25, false), ([100, 40, 10], 0.25, false)];
    play(&library.job(), "codex", false, false, &steps);
    let file = library.job().join("task__AAAAAA1/result.json");
    let mut result: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for (step, second) in [(0, 40), (2, 50)] {
        result["step_results"][step]["agent_execution"] = json!({
            "started_at": "2026-01-01T10:00:00Z", "finished_at": format!("2026-01-01T10:00:{second}Z"),
        });
    }
    // An end before its begin.
    result["step_results"][1]["agent_execution"] =
        json!({ "started_at": "2026-01-01T10:00:09Z", "finished_at": "2026-01-01T10:00:00Z" });
    write(&file, &result);
    let run = library.read();
    let play = library.store.episode_turns(run.id).unwrap().remove(0);
    assert_eq!((play.used.seconds.sum, play.used.seconds.turns), (90.0, 2));
    assert_eq!(play.agent_seconds, Some(90.0), "what is known of the whole");
}

#[test]
fn more_cached_than_input_of_a_session_is_added_to_each_step() {
    let library = Library::new();
    // Of the second step alone the counts would prove nothing.
    play(
        &library.job(),
        "my-agent",
        true,
        false,
        &[([100, 300, 10], 0.1, true), ([300, 350, 30], 0.2, true)],
    );
    let inputs: Vec<_> = library.attempts().iter().map(|a| a.tokens.input).collect();
    assert_eq!(inputs, [Some(400), Some(250)]);
}

/// A job with its own times and trials that began and ended at these hours (UTC).
fn job(path: &Path, start: &str, end: Option<&str>, trials: &[(&str, &str)]) {
    write(
        &path.join("result.json"),
        &json!({ "id": "j", "n_total_trials": trials.len(), "started_at": start, "finished_at": end }),
    );
    for (index, (start, end)) in trials.iter().enumerate() {
        let name = format!("t{index}__AAAAAA{index}");
        write(
            &path.join(&name).join("result.json"),
            &json!({
                "id": name, "task_name": format!("t{index}"), "trial_name": name, "agent_info": { "name": "a" },
                "started_at": format!("2026-01-02T{start}Z"), "finished_at": format!("2026-01-02T{end}Z"),
                "verifier_result": { "rewards": { "reward": 1.0 } },
            }),
        );
    }
}

#[test]
fn a_job_that_was_resumed_began_with_its_first_trial() {
    let library = Library::new();
    let (first, second) = (("08:00:01", "08:30:00"), ("10:00:01", "10:30:00"));
    // Harbor before 0.6 writes when it was resumed, by a clock that is an hour ahead and does not say so.
    job(&library.job(), "2026-01-02T11:00:00", Some("2026-01-02T11:30:00.2"), &[first, second]);
    let run = library.read();
    assert_eq!(run.started_at.as_deref(), Some("2026-01-02T08:00:01Z"));
    assert_eq!(run.finished_at.as_deref(), Some("2026-01-02T11:30:00.2"));
    assert_eq!(library.read(), run, "reading it again changes nothing");

    // The first trial is gone: the job's own time is the earliest again.
    fs::remove_dir_all(library.job().join("t0__AAAAAA0")).unwrap();
    assert_eq!(library.read().started_at.as_deref(), Some("2026-01-02T11:00:00"));
}

#[test]
fn times_of_a_job_that_cannot_be_are_reported() {
    let library = Library::new();
    job(&library.job(), "2026-01-02T11:00:00", Some("2026-01-02T10:00:00"), &[("08:00:00", "08:30:00")]);
    library.read();
    assert_eq!(library.codes("value."), ["value.not_usable"]);
    job(&library.job(), "2026-02-30T11:00:00", None, &[("08:00:00", "08:30:00")]);
    let run = library.read();
    assert_eq!((run.started_at.as_deref(), run.finished_at.as_deref()), (Some("2026-01-02T08:00:00Z"), None));
    assert_eq!(library.codes("value."), ["value.not_usable"]);
}
