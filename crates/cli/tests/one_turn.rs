//! Jobs of one turn through the program: a pass rate with its interval, pass@k and pass^k, as counted by hand.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::app::{TestHome, text};
use crate::kinds;

/// What a trial came to.
#[derive(Clone, Copy)]
enum Came {
    Passed,
    Failed,
    /// The endpoint refused: nothing says what the agent would have done.
    Stopped,
}
use Came::{Failed, Passed, Stopped};

/// Writes a Harbor job of one-step trials: each task with what its trials came to.
fn write_job(job_folder: &Path, model: &str, tasks: &[(&str, &[Came])]) {
    fs::create_dir_all(job_folder).expect("a folder");
    let write = |path: std::path::PathBuf, value: &Value| {
        fs::write(path, serde_json::to_vec_pretty(value).expect("JSON")).expect("a file");
    };
    let trials: usize = tasks.iter().map(|(_, trials)| trials.len()).sum();
    let agent = json!({ "name": "agent-a", "model_name": format!("vendor/{model}"), "kwargs": {} });
    write(
        job_folder.join("config.json"),
        &json!({ "job_name": "job", "agents": [agent], "datasets": [{ "path": "tasks" }] }),
    );
    write(
        job_folder.join("result.json"),
        &json!({ "id": format!("job-{model}"), "started_at": "2026-01-01T10:00:00", "finished_at": "2026-01-01T11:00:00",
          "n_total_trials": trials, "stats": { "n_trials": trials, "n_errors": 0, "evals": {} } }),
    );
    for (task, came) in tasks {
        for (repeat, came) in came.iter().enumerate() {
            let name = format!("{task}__{model}{repeat}");
            let folder = job_folder.join(&name);
            fs::create_dir_all(folder.join("verifier")).expect("a folder");
            let config = json!({ "task": { "path": format!("tasks/{task}"), "source": "set-a" }, "trial_name": name,
              "agent": agent, "environment": { "type": "docker" }, "verifier": { "disable": false } });
            write(folder.join("config.json"), &config);
            let phase = |start: &str, end: &str| json!({ "started_at": format!("2026-01-01T10:{start}Z"), "finished_at": format!("2026-01-01T10:{end}Z") });
            let mut result = json!({
                "id": format!("id-{name}"), "task_name": task, "trial_name": name, "source": "set-a", "config": config,
                "agent_info": { "name": "agent-a", "version": "1.0", "model_info": { "name": model, "provider": "vendor" } },
                "agent_result": { "n_input_tokens": 1000 * (repeat + 1), "n_cache_tokens": 0, "n_output_tokens": 100, "cost_usd": 0.25 },
                "verifier_result": null, "exception_info": null,
                "started_at": "2026-01-01T10:00:00Z", "finished_at": "2026-01-01T10:10:00Z",
                "environment_setup": phase("00:00", "01:00"), "agent_setup": phase("01:00", "02:00"),
                "agent_execution": phase("02:00", "03:30"), "verifier": phase("08:00", "09:00"),
            });
            match came {
                Passed => result["verifier_result"] = json!({ "rewards": { "reward": 1.0 } }),
                Failed => result["verifier_result"] = json!({ "rewards": { "reward": 0.0 } }),
                Stopped => {
                    result["exception_info"] = json!({ "exception_type": "APIConnectionError",
                      "exception_message": "Connection error.", "exception_traceback": "openai.APIConnectionError: Connection error.",
                      "occurred_at": "2026-01-01T10:03:00Z" });
                    result["verifier"] = Value::Null;
                }
            }
            write(folder.join("result.json"), &result);
        }
    }
}

fn near(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn a_job_of_one_turn_has_a_pass_rate() {
    let home = TestHome::new();
    let tasks: &[(&str, &[Came])] = &[
        ("a", &[Passed, Passed, Failed]),
        ("b", &[Failed, Failed, Failed, Stopped]),
        ("c", &[Passed, Passed, Passed]),
    ];
    write_job(&home.path("job"), "model-a", tasks);
    home.json(&["ingest", home.path("job").to_str().expect("UTF-8")]);
    let run = &home.json(&["runs"])[0];
    let rate = &run["pass_rate"];
    near(&rate["value"], 5.0 / 9.0);
    // Of statsmodels, as in crates/analysis/tests/golden/make_pass_rate.py.
    near(&rate["ci_low"], CI.0);
    near(&rate["ci_high"], CI.1);
    assert_eq!(
        [&rate["tasks"], &rate["trials"], &rate["passed"], &rate["unscored"], &rate["interval"]],
        [&json!(3), &json!(9), &json!(5), &json!(1), &json!("clustered")]
    );
    // Every choice of k of three trials, by hand.
    for (k, at, hat) in
        [("1", 5.0 / 9.0, 5.0 / 9.0), ("2", 2.0 / 3.0, 4.0 / 9.0), ("3", 2.0 / 3.0, 1.0 / 3.0)]
    {
        near(&run["pass_at_k"][k], at);
        near(&run["pass_hat_k"][k], hat);
    }
    assert_eq!(run["pass_at_k"].as_object().expect("an object").len(), 3);
    // As many trials of every task: pass@1 is the pass rate, with its interval.
    near(&run["pass_at_k_ci"]["1"]["ci_low"], CI.0);
    near(&run["pass_hat_k_ci"]["1"]["ci_high"], CI.1);
    // Of scipy and statsmodels: the tasks have 1, 0 and 1 at k = 3.
    near(&run["pass_at_k_ci"]["3"]["ci_low"], CI_AT_3.0);
    near(&run["pass_at_k_ci"]["3"]["ci_high"], CI_AT_3.1);
    // The same number, as mean stamina over one turn.
    near(&run["stamina"]["mean"], 5.0 / 9.0);
    assert_eq!(run["stamina"]["tau"], 1);

    let listed = text(&home.stamina(&["runs"]).stdout);
    assert!(listed.contains("pass rate") && listed.contains("55.6 %") && !listed.contains("tau"), "{listed}");
    let words: Vec<&str> = listed.split_whitespace().collect();
    let heads = ["tasks", "trials", "passed", "failed", "not", "scored", "pass", "rate"];
    assert!(words.windows(heads.len()).any(|found| found == heads), "{listed}");
    assert!(words.windows(5).any(|found| found == ["3", "9", "5", "4", "1"]), "{listed}");
    assert!(listed.contains("not in the pass rate, and count as not passed in the score."), "{listed}");
    let shown = text(&home.stamina(&["show", run["id"].as_str().expect("an id")]).stdout);
    assert!(shown.contains("\nPass rate 55.6 % (95 % CI "), "{shown}");
    assert!(shown.contains("several trials of a task, interval clustered by task\n"), "{shown}");
    assert!(shown.contains("clustered by task; 1 trial not scored.") && shown.contains("pass^k"), "{shown}");
    let compared = text(&home.stamina(&["compare", run["id"].as_str().expect("an id")]).stdout);
    assert_eq!(compared.matches("and counts as not passed in the score").count(), 1, "{compared}");
    assert!(!shown.contains("stamina"), "{shown}");
}

/// The interval of 5 of 9 over tasks with 2, 0 and 3 of 3.
const CI: (f64, f64) = (0.042_435_498_575_863_595, 0.972_419_946_516_126);

/// The interval of 2 of 3 tasks, 1, 0 and 1.
const CI_AT_3: (f64, f64) = (0.043_829_922_985_203_11, 0.988_670_077_014_796_9);

#[test]
fn a_run_of_more_turns_has_no_pass_rate() {
    let home = TestHome::new();
    let jobs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor/jobs");
    for job in ["failures-k1", "oracle-k2", "nop-k1"] {
        home.json(&["ingest", jobs.join(job).to_str().expect("UTF-8")]);
    }
    let runs = home.json(&["runs"]);
    let runs = runs.as_array().expect("runs");
    assert_eq!(runs.len(), 3);
    for run in runs {
        assert!(
            run["pass_rate"].is_null() && run["pass_at_k"].is_null() && run["pass_hat_k"].is_null(),
            "{run}"
        );
    }
}

/// Two models over four tasks. Each solves one that the other is known to fail; of the last, one was stopped.
fn two_models() -> (TestHome, Vec<String>) {
    let home = TestHome::new();
    write_job(
        &home.path("jobs/a"),
        "model-a",
        &[("a", &[Passed]), ("b", &[Failed]), ("c", &[Passed]), ("d", &[Stopped])],
    );
    write_job(
        &home.path("jobs/b"),
        "model-b",
        &[("a", &[Passed]), ("b", &[Passed]), ("c", &[Failed]), ("d", &[Passed])],
    );
    home.json(&["ingest", home.path("jobs").to_str().expect("UTF-8")]);
    let runs = home.json(&["runs", "--sort", "model", "--ascending"]);
    let ids = runs.as_array().expect("runs").iter().map(|run| run["id"].as_str().expect("an id").to_owned());
    let ids: Vec<String> = ids.collect();
    assert_eq!(ids.len(), 2, "{runs}");
    (home, ids)
}

#[test]
fn compare_and_matrix_have_pass_rates_and_who_alone_solves_a_task() {
    let (home, ids) = two_models();
    let (a, b) = (ids[0].as_str(), ids[1].as_str());
    let compared = home.json(&["compare", a, b]);
    assert_eq!(compared["of_one_turn"], true);
    near(&compared["runs"][0]["pass_rate"]["value"], 2.0 / 3.0);
    near(&compared["runs"][1]["pass_rate"]["value"], 0.75);
    let difference = &compared["pairs"][0]["pass_rate_difference"];
    near(&difference["value"], 0.75 - 2.0 / 3.0);
    // statsmodels: confint_proportions_2indep(3, 4, 2, 3, method="newcomb", compare="diff").
    near(&difference["ci_low"], DIFFERENCE.0);
    near(&difference["ci_high"], DIFFERENCE.1);
    let shown = text(&home.stamina(&["compare", a, b]).stdout);
    assert!(
        shown.contains("pass rate") && shown.contains("66.7 %") && !shown.contains("survived"),
        "{shown}"
    );

    let matrix = home.json(&["matrix"]);
    assert_eq!(matrix["of_one_turn"], true);
    near(&matrix["cells"][1]["pass_rate"]["value"], 0.75);
    let shown = text(&home.stamina(&["matrix"]).stdout);
    assert!(shown.contains("pass rate") && shown.contains("75.0 % (") && !shown.contains("τ"), "{shown}");
    assert!(shown.contains("fewer than 10 trials") && !shown.contains("fewer than 10 episodes"), "{shown}");

    let grid = home.json(&["table", "task-grid", a, b]);
    let rows: Vec<Vec<Value>> = grid["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| ["task", "run_1", "run_2", "only"].iter().map(|key| row[*key].clone()).collect())
        .collect();
    assert_eq!(
        rows,
        [
            [json!("a"), json!("passed"), json!("passed"), Value::Null],
            [json!("b"), json!("failed"), json!("passed"), json!("model-b")],
            [json!("c"), json!("passed"), json!("failed"), json!("model-a")],
            [json!("d"), json!("not scored"), json!("passed"), Value::Null],
        ]
    );
    let per_task = &home.json(&["table", "per-task", a, b])["rows"];
    assert_eq!([&per_task[0]["solved"], &per_task[0]["only"]], [&json!(2), &json!(1)]);
    assert_eq!([&per_task[1]["solved"], &per_task[1]["only"]], [&json!(3), &json!(1)]);
    near(&per_task[0]["seconds"], 90.0);
    near(&per_task[0]["tokens"], 1100.0);
    near(&per_task[0]["cost_usd"], 0.25);
}

/// The interval of 3 of 4 less 2 of 3.
const DIFFERENCE: (f64, f64) = (-0.441_852_818_617_333_4, 0.585_799_306_765_294_2);

#[test]
fn tables_of_tasks_are_made_in_every_format() {
    let (home, ids) = two_models();
    for kind in kinds::OF_ONE_TURN {
        for format in ["csv", "parquet", "tex", "toml", "md", "html", "svg"] {
            let out = home.path(&format!("{kind}.{format}"));
            let out = out.to_str().expect("UTF-8");
            let output = home.stamina(&["table", kind, &ids[0], &ids[1], "--out", out]);
            assert!(output.status.success(), "{kind} as {format}: {}", text(&output.stderr));
        }
    }
    // Runs of more turns have episodes and turns, and no tasks that are solved.
    let jobs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor/jobs/oracle-k2");
    home.json(&["ingest", jobs.to_str().expect("UTF-8")]);
    let refused = home.stamina(&["table", "tasks", "oracle-k2"]);
    assert!(text(&refused.stderr).contains("plays more than one turn"), "{}", text(&refused.stderr));
    assert_eq!(refused.status.code(), Some(1));
}

/// Figures and tables that are not asked for mean stamina show what the pages do, with the same intervals.
#[test]
fn what_is_exported_of_one_turn_is_about_pass_rates() {
    let (home, ids) = two_models();
    let csv = |arguments: &[&str], name: &str| {
        let out = home.path(name);
        let mut all: Vec<&str> = arguments.to_vec();
        all.extend(["--out", out.to_str().expect("UTF-8")]);
        home.text(&all);
        std::fs::read_to_string(&out).expect("the file")
    };
    let (a, b) = (ids[0].as_str(), ids[1].as_str());
    let svg = csv(&["figure", "bars", a, b], "bars.svg");
    assert!(svg.contains("Pass rate") && !svg.contains("stamina (turns)"), "{svg}");
    let svg = csv(&["figure", "differences", a, b], "differences.svg");
    assert!(svg.contains("percentage points") && !svg.contains("lasts longer"), "{svg}");
    let rows = csv(&["figure", "differences", a, b], "differences.csv");
    assert!(rows.contains("8.33") && rows.contains("-44.18") && rows.contains("58.57"), "{rows}");
    let scores = csv(&["table", "scores", a, b], "scores.md");
    assert!(scores.contains("Pass rate") && !scores.contains("Mean stamina"), "{scores}");
    let spread = csv(&["table", "spread"], "spread.md");
    assert!(spread.contains("Pass rate of the best") && !spread.contains("1 turn"), "{spread}");
    // Of task d only one has a pass rate; in a and of the two others together they are even.
    let paired = csv(&["table", "paired", a, b], "paired.md");
    assert!(paired.contains("Pass rate by task") && paired.contains("on average +0.0 pp"), "{paired}");
    assert!(paired.contains("over 3 shared tasks.") && !paired.contains("turn"), "{paired}");
    for kind in ["disagreements", "cases", "flips"] {
        let table = csv(&["table", kind, a, b], &format!("{kind}.md"));
        assert!(table.contains("| Task |") && !table.contains("Scenario"), "{kind}: {table}");
    }
    let disagreements = csv(&["table", "disagreements", a, b], "disagreements.md");
    assert!(
        !disagreements.contains("| Turn |") && !disagreements.contains("After a failure"),
        "{disagreements}"
    );
    for kind in ["repairs", "repair-times"] {
        let repairs = csv(&["table", kind, a, b], &format!("{kind}.md"));
        assert!(repairs.contains("Trials") && !repairs.contains("Turns"), "{kind}: {repairs}");
        assert!(!repairs.contains("Median turns") && !repairs.contains("same turn"), "{kind}: {repairs}");
    }
    let svg = csv(&["figure", "paired", a, b], "paired.svg");
    assert!(
        svg.contains("Pass rate (%)")
            && svg.contains(">Task<")
            && svg.contains("passes more often in 1, less often in 1"),
        "{svg}"
    );
    assert!(!svg.contains("Stamina (turns") && !svg.contains("0.00 turns"), "{svg}");
    let rows = csv(&["figure", "paired", a, b], "paired.csv");
    assert!(rows.contains("b,0,") && rows.contains(",100,"), "{rows}");
}

#[test]
fn a_report_of_one_turn_has_no_curve() {
    let (home, ids) = two_models();
    let report_folder = home.path("report");
    let output = home.stamina(&["report", &ids[0], &ids[1], "--out", report_folder.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = fs::read_to_string(report_folder.join("report.md")).expect("the report");
    for phrase in [
        "## Pass rates",
        "## Tasks",
        "**Tasks that only one run solves**",
        "pass rate 66.7 % (95 % CI",
        "3 scored trials of 3 tasks, 2 passed, 1 failed, 1 trial not scored; pass rate 66.7 %",
        "Which trials are scored follows censoring policy",
        "Trials that were stopped from outside are not scored",
    ] {
        assert!(report.contains(phrase), "{phrase}: {report}");
    }
    // A trial that passed is censored, and scored.
    let not_there = [
        "## Survival",
        "τ",
        "ean stamina",
        "**Turns of every episode**",
        "Censored ones are not scored",
        "events, ",
        "event, ",
        "Censored episodes",
        "Early censored",
        "per turn",
        "per survived turn",
        "per episode",
        "fewer than 10 episodes",
        "## Attempts and turns",
        "failed at the first attempt",
        "**Turns that failed at their first attempt",
        "**Tests that flip most**",
    ];
    for not_there in not_there {
        assert!(!report.contains(not_there), "{not_there}: {report}");
    }
    assert!(!report_folder.join("figures/survival.svg").exists());
    // Whoever asks for the curve gets it.
    let curve = text(&home.stamina(&["figure", "survival", &ids[0]]).stdout);
    assert!(curve.contains("<svg"), "{curve}");
}

/// "No scenario is shared" was said of jobs of tasks.
#[test]
fn jobs_of_other_tasks_share_no_task() {
    let home = TestHome::new();
    write_job(&home.path("one"), "model-a", &[("a", &[Passed]), ("b", &[Failed])]);
    write_job(&home.path("other"), "model-b", &[("c", &[Passed]), ("d", &[Failed])]);
    for job in ["one", "other"] {
        home.json(&["ingest", home.path(job).to_str().expect("UTF-8")]);
    }
    let runs = home.json(&["runs", "--sort", "model", "--ascending"]);
    let ids: Vec<&str> =
        runs.as_array().expect("runs").iter().map(|run| run["id"].as_str().expect("an id")).collect();
    let compared = text(&home.stamina(&["compare", ids[0], ids[1]]).stdout);
    for phrase in [
        "2 tasks, none of them played by all",
        "no task is shared by all: one set may be harder",
        "0 tasks are shared",
        "No task is shared by all members",
        "fewer than 10 trials",
    ] {
        assert!(compared.contains(phrase), "{phrase}: {compared}");
    }
    assert!(!compared.to_lowercase().contains("scenario"), "{compared}");
    let settings = home.json(&["compare", ids[0], ids[1]]);
    assert_eq!(settings["differences"][0]["setting"], "Tasks", "{settings}");
    assert!(settings["equal"].to_string().contains(r#""Trials of a task""#), "{settings}");
    let reason = &home.json(&["compare", ids[0], ids[1]])["no_overall_stratified"];
    assert_eq!(reason, "no task was played by all members");
    let refused = home.stamina(&["figure", "paired", ids[0], ids[1]]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("share no task of which both"), "{}", text(&refused.stderr));
    let trials = home.text(&["table", "episodes", ids[0]]);
    assert!(trials.contains("| Task |") && !trials.contains("Scenario"), "{trials}");
}

/// A trial that failed its first of an unknown number of steps says nothing of how many there are.
#[test]
fn steps_of_an_unknown_number_are_no_single_turn() {
    let home = TestHome::new();
    write_job(&home.path("job"), "model-a", &[("a", &[Failed])]);
    let result = home.path("job/a__model-a0/result.json");
    let mut read: Value = serde_json::from_slice(&fs::read(&result).expect("the result")).expect("JSON");
    let step = json!({ "step_name": "one", "verifier_result": { "rewards": { "reward": 0.0 } }, "exception_info": null,
      "agent_execution": read["agent_execution"], "verifier": read["verifier"] });
    read["step_results"] = json!([step]);
    fs::write(&result, serde_json::to_vec(&read).expect("JSON")).expect("the result");
    home.json(&["ingest", home.path("job").to_str().expect("UTF-8")]);
    let run = &home.json(&["runs"])[0];
    assert_eq!(run["end_reasons"], json!({ "tests_failed": 1 }));
    assert!(run["planned_turns"].is_null() && run["pass_rate"].is_null(), "{run}");
}

/// Of a job that is still running, trials that did not begin are not scored, and it stays a job of one turn.
#[test]
fn trials_that_did_not_begin_are_not_scored() {
    let home = TestHome::new();
    write_job(&home.path("job"), "model-a", &[("a", &[Passed]), ("b", &[Failed]), ("c", &[Passed])]);
    fs::remove_file(home.path("job/c__model-a0/result.json")).expect("the result");
    home.json(&["ingest", home.path("job").to_str().expect("UTF-8")]);
    let rate = &home.json(&["runs"])[0]["pass_rate"];
    near(&rate["value"], 0.5);
    assert_eq!([&rate["tasks"], &rate["trials"], &rate["unscored"]], [&json!(2), &json!(2), &json!(1)]);
}

/// A run of which nobody was at risk, and that does not say how many turns it plays, leaves the pass rate of the others.
#[test]
fn a_run_that_never_began_follows_the_others() {
    let home = TestHome::new();
    write_job(&home.path("job-a"), "model-a", &[("a", &[Passed]), ("b", &[Failed])]);
    write_job(&home.path("job-b"), "model-b", &[("z", &[Passed])]);
    fs::remove_file(home.path("job-b/z__model-b0/result.json")).expect("the result");
    for job in ["job-a", "job-b"] {
        home.json(&["ingest", home.path(job).to_str().expect("UTF-8")]);
    }
    let runs = home.json(&["runs"]);
    let runs = runs.as_array().expect("runs");
    let unknown = runs.iter().find(|run| run["coverage"]["scored"] == 0).expect("the run that did not begin");
    assert!(unknown["planned_turns"].is_null() && unknown["pass_rate"].is_null(), "{unknown}");
    let text = home.text(&["runs"]);
    assert!(text.contains("pass rate") && !text.contains("stamina"), "{text}");
    let ids: Vec<&str> = runs.iter().map(|run| run["id"].as_str().expect("an id")).collect();
    assert_eq!(home.json(&["compare", ids[0], ids[1]])["of_one_turn"], true);
    let matrix = home.json(&["matrix"]);
    assert_eq!(matrix["of_one_turn"], true, "{matrix}");
    let rates: Vec<&Value> =
        matrix["cells"].as_array().expect("cells").iter().map(|cell| &cell["pass_rate"]["value"]).collect();
    assert!(rates.contains(&&json!(0.5)), "{matrix}");
}

/// A run of which every trial is withdrawn has none that says how many turns it plays, and leaves the pass rate of the others.
#[test]
fn a_run_without_a_trial_that_counts_follows_the_others() {
    let home = TestHome::new();
    write_job(&home.path("job-a"), "model-a", &[("a", &[Passed]), ("b", &[Failed])]);
    write_job(&home.path("job-b"), "model-b", &[("a", &[Passed])]);
    for job in ["job-a", "job-b"] {
        home.json(&["ingest", home.path(job).to_str().expect("UTF-8")]);
    }
    let runs = home.json(&["runs"]);
    let model_run_id = |model: &str| {
        let found = runs.as_array().expect("runs").iter().find(|run| run["model"] == model);
        found.and_then(|run| run["id"].as_str()).expect("an id").to_owned()
    };
    let (a, b) = (model_run_id("model-a"), model_run_id("model-b"));
    home.text(&["withdraw", &b, "--trial", "a__model-b0", "--reason", "wrong image"]);
    let compared = home.json(&["compare", &a, &b]);
    assert_eq!(compared["of_one_turn"], true, "{compared}");
    near(&compared["runs"][0]["pass_rate"]["value"], 0.5);
    assert!(compared["runs"][1]["pass_rate"]["value"].is_null(), "{compared}");
    assert_eq!(home.json(&["matrix"])["of_one_turn"], true);
}

/// Trials that are not scored are there: what is missing of a job is counted without them.
#[test]
fn a_job_in_part_says_what_is_there_beside_what_is_scored() {
    let home = TestHome::new();
    write_job(&home.path("job"), "model-a", &[("a", &[Passed, Failed]), ("b", &[Stopped, Failed])]);
    fs::remove_dir_all(home.path("job/b__model-a1")).expect("to remove a trial");
    home.json(&["ingest", home.path("job").to_str().expect("UTF-8")]);
    let listed = home.text(&["runs"]);
    assert!(listed.contains(" 2 (3 of 4 read) ") && !listed.contains("2 of 4"), "{listed}");
    let run = &home.json(&["runs"])[0];
    assert!(run["doubts"].to_string().contains("3 of 4 trials"), "{run}");
    let id = run["id"].as_str().expect("an id");
    assert!(home.json(&["matrix"])["cells"][0]["doubts"].to_string().contains("3 of 4 trials"));
    home.text(&["withdraw", id, "--trial", "a__model-a0", "--reason", "wrong image"]);
    let shown = home.text(&["show", id]);
    assert!(shown.contains("1 withdrawn trial left out"), "{shown}");
    let compared = home.json(&["compare", id]);
    assert!(compared["runs"][0]["caveats"].to_string().contains("1 trial is withdrawn"), "{compared}");
}

/// A cost that is known for some trials is no whole one, in the text of a comparison either; nor is what a task takes.
#[test]
fn a_cost_that_is_known_in_part_says_so_in_text() {
    let home = TestHome::new();
    for (job, model) in [("job-a", "model-a"), ("job-b", "model-b")] {
        write_job(&home.path(job), model, &[("a", &[Passed, Failed]), ("b", &[Failed, Failed])]);
    }
    let result = home.path("job-a/a__model-a0/result.json");
    let mut read: Value = serde_json::from_slice(&fs::read(&result).expect("the result")).expect("JSON");
    read["agent_result"]["cost_usd"] = Value::Null;
    fs::write(&result, read.to_string()).expect("the result");
    for job in ["job-a", "job-b"] {
        home.json(&["ingest", home.path(job).to_str().expect("UTF-8")]);
    }
    let ids = home.run_ids();
    let compared = home.text(&["compare", &ids[0], &ids[1]]);
    assert!(compared.contains("≥ 0.75 (known for 3 of 4)"), "{compared}");
    let library = home.text(&["table", "library"]);
    assert!(library.contains("0.75, known for 3 of 4 trials"), "{library}");
    let per_task = home.text(&["table", "per-task", &ids[0], &ids[1]]);
    assert!(per_task.contains("over fewer trials of a task than there are"), "{per_task}");
}
