//! `stamina compare`, `matrix` and `failures` as scripts use them: the real program on real results.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use test_folders::copy;

fn fixtures(name: &str) -> String {
    let repository: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository").into();
    repository.join("tests/fixtures").join(name).to_str().expect("UTF-8").to_owned()
}

struct Library {
    folder: tempfile::TempDir,
}

impl Library {
    fn with_fixtures(names: &[&str]) -> Self {
        let library = Self { folder: tempfile::tempdir().expect("a folder for the library") };
        for name in names {
            library.json(&["ingest", &fixtures(name)]);
        }
        library
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_stamina"))
            .arg("--db")
            .arg(self.folder.path().join("library.sqlite"))
            .args(args)
            .output()
            .expect("stamina runs")
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json"]].concat());
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON on standard output")
    }

    fn text(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn error(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    }
}

/// Every key of `wanted` is in `value`.
fn has(value: &Value, wanted: &[&str]) {
    for key in wanted {
        assert!(value.get(key).is_some(), "no {key} in {value}");
    }
}

fn near(value: &Value, wanted: f64) {
    assert!(value.as_f64().is_some_and(|value| (value - wanted).abs() < 1e-9), "{value} is not {wanted}");
}

#[test]
fn a_comparison_has_the_keys_that_scripts_rely_on() {
    let library = Library::with_fixtures(&["harbor/jobs"]);
    let value = library.json(&["compare", "oracle-k2", "nop", "failures", "--all-pairs"]);
    has(&value, &["differences", "runs", "pairs", "overall"]);
    let runs = value["runs"].as_array().expect("runs");
    let ids: Vec<&str> = runs.iter().filter_map(|run| run["id"].as_str()).collect();
    assert_eq!(ids, ["jobs.oracle-k2-oracle", "jobs.nop-k1-nop", "jobs.failures-k1-oracle"]);
    for run in runs {
        has(run, &["n", "events", "censored", "mean_stamina", "median"]);
        has(&run["mean_stamina"], &["value", "ci_low", "ci_high", "tau"]);
    }
    assert!(runs[0]["median"].is_null(), "not reached");
    near(&runs[1]["mean_stamina"]["value"], 0.0);

    let pairs = value["pairs"].as_array().expect("pairs");
    let names: Vec<(&str, &str)> =
        pairs.iter().filter_map(|p| Some((p["a"].as_str()?, p["b"].as_str()?))).collect();
    assert_eq!(names, [(ids[0], ids[1]), (ids[0], ids[2]), (ids[1], ids[2])], "every two");
    for pair in pairs {
        has(pair, &["logrank", "difference", "paired"]);
        has(&pair["logrank"], &["chi2", "df", "p", "p_holm"]);
        has(&pair["difference"], &["value", "ci_low", "ci_high", "p"]);
    }
    // The agent ORACLE runs each scenario twice: scores of −11/16, −11/16 and −2/16 by scenario.
    near(&pairs[0]["logrank"]["chi2"], 2.25 * 256.0 / 246.0);
    assert_eq!((&pairs[0]["clustered"], &pairs[0]["logrank_permutation"]), (&true.into(), &Value::Null));
    // 45 ways to give 10 episodes to runs of 2 and 8, but for one that was never at risk: few enough to look at all.
    assert_eq!(pairs[2]["clustered"], false);
    let permutation = &pairs[2]["logrank_permutation"];
    assert_eq!(
        (&permutation["arrangements"], &permutation["exact"]),
        (&36.into(), &true.into()),
        "{permutation}"
    );
    has(&pairs[0]["paired"], &["n", "mean", "ci_low", "ci_high", "p"]);
    assert_eq!(pairs[0]["paired"]["n"], 2);
    assert!(pairs[2]["paired"].is_null(), "nop and failures share no scenario");
    assert_eq!(value["overall"]["df"], 2);
    // Holm over three pairs: the least p times three.
    let p = |pair: &Value, key: &str| pair["logrank"][key].as_f64().expect("a p-value");
    let least = pairs.iter().min_by(|x, y| p(x, "p").total_cmp(&p(y, "p"))).expect("pairs");
    near(&least["logrank"]["p_holm"], 3.0 * p(least, "p"));

    let first = &value["differences"][0];
    assert_eq!(
        (first["setting"].as_str(), first["comparability"].as_str()),
        (Some("Scenarios"), Some("not_comparable"))
    );
    assert_eq!(first["values"].as_array().map(Vec::len), Some(3));

    let against = library.json(&["compare", "oracle-k2", "nop", "failures", "--reference", "nop"]);
    let pairs = against["pairs"].as_array().expect("pairs");
    assert!(pairs.len() == 2 && pairs.iter().all(|pair| pair["b"] == ids[1]));
    assert_eq!(against["reference"], ids[1]);
}

#[test]
fn groups_are_named_by_harness_model_and_tag() {
    let library = Library::with_fixtures(&["staminabench", "harbor/jobs"]);
    let value =
        library.json(&["compare", "harness:opencode", "harness:mini_swe@staminabench", "model:zai.glm-5"]);
    let ids: Vec<&str> =
        value["runs"].as_array().expect("runs").iter().filter_map(|run| run["id"].as_str()).collect();
    assert_eq!(
        ids,
        ["harness:opencode@staminabench", "harness:mini_swe@staminabench", "model:zai.glm-5@staminabench"]
    );
    assert_eq!(value["runs"][2]["n"], 6);
    let nobody = library.error(&["compare", "tag:nothing"]);
    assert!(nobody.contains("has no runs") && nobody.contains("hint"), "{nobody}");
    let far = library.error(&["compare", "staminabench.own", "--tau", "50"]);
    assert!(far.contains("τ of 50") && far.contains("from 1 to 4"), "{far}");
}

#[test]
fn without_json_a_comparison_is_tables() {
    let library = Library::with_fixtures(&["harbor/jobs", "staminabench"]);
    let text = library.text(&["compare", "oracle-k2", "nop"]);
    assert!(
        text.lines().next().is_some_and(|line| line.starts_with("setting")),
        "differences come first: {text}"
    );
    for wanted in [
        "not comparable",
        "3.33",
        "not reached",
        "log-rank p",
        "p (Holm over 1 pair)",
        "stratified p",
        "sign-flip p",
        "τ = 4 turns",
        "fewer than 10 episodes",
    ] {
        assert!(text.contains(wanted), "no \"{wanted}\" in {text}");
    }
    assert!(!text.contains("permutation p"), "trials of a task are not exchangeable: {text}");
    let text = library.text(&["compare", "failures-k1", "nop-k1"]);
    assert!(text.contains("permutation p"), "{text}");
    let text = library.text(&["matrix"]);
    for wanted in ["StaminaBench: mean stamina, τ = 4 turns", "no run", "3.00 (3 of 4)", "second hand"] {
        assert!(text.contains(wanted), "no \"{wanted}\" in {text}");
    }
    let text = library.text(&["failures", "staminabench.own", "--cases", "--scope", "attempts"]);
    for wanted in ["6 of 12 attempts failed", "passed at a later one", "scenario_0"] {
        assert!(text.contains(wanted), "no \"{wanted}\" in {text}");
    }
    let text = library.text(&["failures", "staminabench.own", "--by", "turn", "--scope", "attempts"]);
    assert!(text.contains("turn 1, n = 1  "), "a share without its number: {text}");
}

#[test]
fn cases_of_a_class_are_those_of_attempts_or_with_by_tests_those_of_tests() {
    const RUN: &str = "failures-k1";
    let library = Library::with_fixtures(&["harbor/jobs"]);
    let failures = library.json(&["failures", RUN]);
    let shares = failures["total"]["classes"].as_array().expect("classes");
    let share = shares.iter().find(|share| share["tests"].as_u64() > Some(0)).expect("failing tests");
    let class = share["class"].as_str().expect("a class");
    let cases = |more: &[&str]| {
        let args = [&["failures", RUN, "--cases", "--class", class][..], more].concat();
        library.json(&args)["cases"].as_array().expect("cases").clone()
    };
    assert_eq!(cases(&[]).len() as u64, share["attempts"].as_u64().expect("attempts"));
    let tests: u64 = cases(&["--by-tests"])
        .iter()
        .flat_map(|case| case["tests"].as_array().cloned().unwrap_or_default())
        .filter(|with_fixtures| with_fixtures["class"] == class)
        .filter_map(|with_fixtures| with_fixtures["tests"].as_u64())
        .sum();
    assert_eq!(Some(tests), share["tests"].as_u64());
    // A class is asked for by the name under which it is printed, too: "not classified" is `other` in JSON.
    let by_word = library.text(&["failures", RUN, "--cases", "--class", "agent_timeout"]);
    assert_eq!(library.text(&["failures", RUN, "--cases", "--class", "agent timeout"]), by_word);
    let row = by_word.lines().find(|line| line.contains("AgentTimeoutError")).expect("its case");
    assert!(row.contains("  agent timeout  "), "{row}");
}

#[test]
fn matrix_and_failures_have_stable_keys() {
    let library = Library::with_fixtures(&["staminabench"]);
    let matrix = library.json(&["matrix"]);
    has(
        &matrix,
        &[
            "benchmark",
            "tau",
            "harnesses",
            "models",
            "cells",
            "missing",
            "spread",
            "not_comparable",
            "published",
            "benchmarks",
            "left_out",
            "retries",
        ],
    );
    has(&matrix["retries"]["series"][0], &["id", "attempt_limit", "points", "gain"]);
    assert_eq!(
        (matrix["cells"].as_array().map(Vec::len), matrix["missing"].as_array().map(Vec::len)),
        (Some(4), Some(4))
    );
    has(
        &matrix["cells"][0],
        &["harness", "model", "n", "events", "censored", "mean_stamina", "median", "runs"],
    );
    near(&matrix["cells"][0]["mean_stamina"]["value"], 3.0);

    let failures =
        library.json(&["failures", "staminabench.own", "--by", "turn", "--cases", "--scope", "attempts"]);
    has(
        &failures,
        &[
            "attempts",
            "all_attempts",
            "classes",
            "total",
            "groups",
            "origins",
            "repair",
            "repairs",
            "flips",
            "cases",
        ],
    );
    assert_eq!((failures["attempts"].as_u64(), failures["all_attempts"].as_u64()), (Some(6), Some(12)));
    assert_eq!(failures["cases"].as_array().map(Vec::len), Some(6));
    has(
        &failures["cases"][0],
        &["run", "episode", "turn", "attempt", "class", "rule", "tests", "origins", "failing", "message"],
    );
    let groups: Vec<&str> =
        failures["groups"].as_array().expect("groups").iter().filter_map(|g| g["group"].as_str()).collect();
    assert_eq!(groups, ["1", "2", "3", "4"]);
    has(&failures["groups"][0], &["made", "attempts", "rate"]);
    has(&failures["repairs"][0], &["group", "label", "simulated", "failed_first", "stretches"]);
    has(
        &failures["repair"],
        &["failed_first", "tried_again", "stretches", "stretches_repaired", "median_turns"],
    );
    has(&failures["cases"][0]["failing"][0], &["test", "class", "history", "passed_in_turn", "since_turn"]);
    let summary = library.json(&["failures", "staminabench.own"]);
    assert!(summary.get("cases").is_none(), "only when asked for");
}

#[test]
fn the_ends_of_logs_classify_failures_of_a_run_folder() {
    let library = Library::with_fixtures(&[]);
    let run = library.folder.path().join("own");
    copy(Path::new(&fixtures("staminabench/own")), &run);
    let write = |name: &str, text: &[u8]| {
        std::fs::write(run.join("scenario_0").join(name), text).expect("a log");
    };
    // Turn 4, attempt 1: no test passed, the source does not say why, and the server does. Much stands before it, and not
    // all of it is text.
    let trajectory = run.join("scenario_0/trajectory.json");
    let exact = std::fs::read_to_string(&trajectory).expect("a trajectory");
    std::fs::write(&trajectory, exact.replace("\"server_failed\"", "\"tests_failed\""))
        .expect("a trajectory");
    let mut log = vec![0xff; 300_000];
    log.extend_from_slice(b"\nOSError: [Errno 98] Address already in use\n");
    write("server_logs/turn_4_attempt_1.txt", &log);
    // Turn 2, attempt 1: the harness stopped at its limit.
    write("agent_logs/step_2.txt", b"edited server.py\nMax number of steps reached: 3\n");
    // Turn 3, attempt 1: it got over an error, and went on.
    let went_on = format!("Loop detected\n{}", "edited server.py\n".repeat(500));
    write("agent_logs/step_4.txt", went_on.as_bytes());
    // Turn 3, attempt 2: a test passed, so the server ran, whatever its log has in it.
    write("server_logs/turn_3_attempt_2.txt", b"SyntaxError: in a request\n");
    library.json(&["ingest", run.to_str().expect("UTF-8")]);

    let rules = |failures: &Value| -> Vec<(u64, u64, String)> {
        let cases = failures["cases"].as_array().expect("cases");
        let first_cases = cases.iter().filter(|case| case["scenario"] == "scenario_0");
        first_cases
            .map(|case| {
                let rule = case["rule"].as_str().expect("a rule").split(':').next().unwrap_or_default();
                let number = |key: &str| case[key].as_u64().expect("a number");
                (number("turn"), number("attempt"), rule.to_owned())
            })
            .collect()
    };
    let failures = library.json(&["failures", "own.run", "--cases", "--scope", "attempts"]);
    assert_eq!(
        rules(&failures),
        [
            (2, 1, "log.budget".to_owned()),
            (3, 1, "server.status_5xx".to_owned()),
            (3, 2, "server.status_5xx".to_owned()),
            (3, 3, "server.status_5xx".to_owned()),
            (4, 1, "log.server_port".to_owned()),
        ]
    );
    // Few labels are of this class.
    assert_eq!(failures["cautions"], serde_json::json!(["Not yet checked against labels: attempt budget."]));

    // Without the folder what the library holds is still classified, and it is said what could not be read.
    std::fs::remove_dir_all(&run).expect("the folder goes");
    let failures = library.json(&["failures", "own.run", "--cases", "--scope", "attempts"]);
    let rules = rules(&failures);
    assert!(rules.len() == 5 && rules.iter().all(|(.., rule)| !rule.starts_with("log.")), "{rules:?}");
    let is_by_scenario = library.text(&["failures", "own.run"]);
    assert!(is_by_scenario.contains("own.run: logs of 6 failed attempts cannot be read"), "{is_by_scenario}");
}

#[test]
fn caveats_are_printed_beside_numbers() {
    let library = Library::with_fixtures(&[]);
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("failures-k1");
    copy(Path::new(&fixtures("harbor/jobs/failures-k1")), &job);
    // Planned, and not there any more.
    let removed = std::fs::read_dir(&job)
        .expect("the job")
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with("theme_v1_"))
        .expect("the trial");
    std::fs::remove_dir_all(removed.path()).expect("removed");
    library.json(&["ingest", job.to_str().expect("UTF-8")]);
    library.json(&["ingest", &fixtures("harbor/jobs/nop-k1")]);

    let runs = library.json(&["runs"]);
    let partial = (runs.as_array().expect("runs").iter())
        .find(|run| run["id"].as_str().is_some_and(|id| id.starts_with("failures")))
        .expect("the run");
    let id = partial["id"].as_str().expect("an id");
    assert_eq!(partial["coverage"]["present"], 7);
    let matrix = library.json(&["matrix", "--with-baselines"]);
    let cells = matrix["cells"].as_array().expect("cells");
    let cell = cells.iter().find(|cell| cell["n"] == 7).expect("its cell");
    let doubts = cell["doubts"].to_string();
    assert!(doubts.contains("7 of 8 episodes"), "{doubts}");
    // One of the seven was stopped by its environment at the first turn.
    assert!(doubts.contains("1 of 7 episodes stopped from outside before turn "), "{doubts}");
    near(&cell["early_censored"], 1.0 / 7.0);
    let text = library.text(&["matrix", "--with-baselines"]);
    assert!(text.contains("* ") && text.contains("7 of 8 episodes"), "{text}");
    assert!(text.contains("1 of 7 episodes stopped"), "{text}");
    let cell_text = text.lines().find(|line| line.contains("n = 7")).expect("its row");
    assert!(cell_text.contains("* ("), "{cell_text}");

    let report_path = folder.path().join("report");
    library.json(&["report", id, "--out", report_path.to_str().expect("UTF-8")]);
    let report = std::fs::read_to_string(report_path.join("report.md")).expect("the text");
    let first: String = report.lines().take(12).collect::<Vec<_>>().join("\n");
    assert!(first.contains("But: 7 of 8 episodes; 1 of 7 episodes stopped from outside"), "{first}");
}

/// Two runs of one model and harness: the first lines of a report tell them apart, as its tables do.
#[test]
fn the_first_lines_of_a_report_tell_its_runs_apart() {
    let library = Library::with_fixtures(&["harbor/jobs"]);
    let report_path = library.folder.path().join("report");
    let runs = ["jobs.oracle-k2-oracle", "jobs.failures-k1-oracle"];
    library.json(&["report", runs[0], runs[1], "--out", report_path.to_str().expect("UTF-8")]);
    let report = std::fs::read_to_string(report_path.join("report.md")).expect("the text");
    let first: Vec<&str> = report.lines().filter(|line| line.starts_with("- oracle (")).take(2).collect();
    for (line, name) in first.iter().zip(["(oracle-k2)", "(failures-k1)"]) {
        assert!(line.contains(name), "{line}");
    }
    assert_eq!(first.len(), 2, "{report}");
}

#[test]
fn where_scenarios_repeat_the_interval_is_by_scenario_everywhere() {
    let library = Library::with_fixtures(&["harbor/jobs"]);
    let k2 = "jobs.oracle-k2-oracle";
    // Two different runs of the same tasks, taken together, repeat them.
    library.json(&["rpc", "annotate", r#"{"runs":["jobs.oracle-k2-oracle","jobs.failures-k1-oracle"],"add_tags":["both"],"remove_tags":[],"note":null}"#]);
    let group = library.json(&["compare", "tag:both"])["runs"][0].clone();
    let by_scenario = &group["mean_stamina_bootstrap"];
    assert_eq!(group["mean_stamina"]["clustered"], true, "{group}");
    assert_eq!(
        (&group["mean_stamina"]["ci_low"], &group["mean_stamina"]["ci_high"]),
        (&by_scenario["ci_low"], &by_scenario["ci_high"])
    );
    assert!(group["doubts"].to_string().contains("several episodes of a scenario"), "{group}");
    let runs = library.json(&["runs"]);
    let run = |id: &str| {
        let all = runs.as_array().expect("runs");
        all.iter().find(|run| run["id"] == id).expect("the run")["stamina"]["clustered"].clone()
    };
    assert_eq!((run(k2), run("jobs.failures-k1-oracle")), (true.into(), false.into()));
    // So is the band of a curve, and says so wherever it stands.
    let is_by_scenario = |args: &[&str]| {
        let text = library.text(args);
        text.contains("interval is by scenario") || text.contains("band is by scenario")
    };
    let figure = library.folder.path().join("survival.svg");
    let figure = figure.to_str().expect("UTF-8");
    assert!(is_by_scenario(&["survival", k2]) && is_by_scenario(&["table", "survival", k2]));
    assert!(is_by_scenario(&["figure", "survival", k2, "--out", figure]));
    assert!(!is_by_scenario(&["survival", "jobs.failures-k1-oracle"]));
    let matrix = library.json(&["matrix", "--with-baselines"]);
    let repeated = (matrix["cells"].as_array().expect("cells").iter())
        .find(|cell| cell["runs"].to_string().contains(k2))
        .expect("its cell");
    assert_eq!(repeated["mean_stamina"]["clustered"], true, "{repeated}");
    let compared = library.json(&["compare", k2, "jobs.nop-k1-nop"]);
    let cautions = compared["cautions"].to_string();
    assert!(cautions.contains("log-rank tests are clustered by scenario"), "{cautions}");
    let pair = &compared["pairs"][0];
    assert_eq!((&pair["clustered"], &compared["overall_clustered"]), (&true.into(), &true.into()));
    assert_eq!(pair["logrank_permutation"], Value::Null, "episodes of a scenario are not exchangeable");
}

/// What is to be known of several members is said once, in the text of a comparison and in the notes of its table.
#[test]
fn a_caveat_of_several_members_is_said_once() {
    let library = Library::with_fixtures(&["evocode"]);
    let runs = library.json(&["runs"]);
    let ids: Vec<&str> =
        runs.as_array().expect("runs").iter().take(2).filter_map(|run| run["id"].as_str()).collect();
    let compared = library.json(&["compare", ids[0], ids[1]]);
    let caveats = |run: usize| -> Vec<String> {
        let list = compared["runs"][run]["caveats"].as_array().expect("caveats");
        list.iter().filter_map(|caveat| caveat.as_str()).map(str::to_owned).collect()
    };
    let other = caveats(1);
    let shared: Vec<String> = caveats(0).into_iter().filter(|caveat| other.contains(caveat)).collect();
    assert!(!shared.is_empty(), "{compared}");
    let text = library.text(&["compare", ids[0], ids[1]]);
    let table = library.text(&["table", "runs", ids[0], ids[1]]);
    for caveat in shared {
        let sentence = caveat.trim_end_matches('.');
        assert!(text.contains(&format!("Both members: {sentence}")), "{sentence} is not in: {text}");
        assert_eq!(text.matches(sentence).count(), 1, "{text}");
        assert!(table.contains(&format!("Each of them: {sentence}.")), "{sentence} is not in: {table}");
        assert_eq!(table.matches(sentence).count(), 1, "{table}");
    }
    let folder = library.folder.path().join("report");
    library.text(&["report", ids[0], ids[1], "--out", folder.to_str().expect("UTF-8")]);
    let report = std::fs::read_to_string(folder.join("report.md")).expect("the report");
    assert!(report.contains("- Each of them: 2 of 3 tasks."), "{report}");
    let times = library.text(&["table", "repair-times", ids[0], ids[1]]);
    assert_eq!(times.matches("Over every attempt").count(), 1, "{times}");
}

/// Thirteen models made a caption that LaTeX could not set ("Dimension too large").
#[test]
fn why_a_number_of_several_members_is_missing_is_said_once() {
    let library = Library::with_fixtures(&["evocode"]);
    let runs = library.json(&["runs"]);
    let ids: Vec<&str> =
        runs.as_array().expect("runs").iter().take(2).filter_map(|run| run["id"].as_str()).collect();
    for (table, sentence) in [
        ("scores", "SR and Gap are unknown"),
        ("retries", "one attempt a turn, so there is nothing to truncate"),
        ("gains", "one attempt a turn, so there is nothing to truncate"),
    ] {
        let text = library.text(&["table", table, ids[0], ids[1]]);
        assert_eq!(text.matches(sentence).count(), 1, "{table}: {text}");
        assert!(text.contains(&format!("Each of them: {sentence}")), "{table}: {text}");
    }
}

/// The option drew nothing, and nothing said so.
#[test]
fn a_published_number_that_no_figure_draws_is_said_on_stderr() {
    let library = Library::with_fixtures(&["staminabench"]);
    let stderr_of = |kind: &str| {
        let output = library.run(&["figure", kind, "staminabench.own", "--published"]);
        assert!(output.status.success() && output.stdout.starts_with(b"<"), "{kind}");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let survival = stderr_of("survival");
    assert!(survival.contains("--published has no effect on survival: "), "{survival}");
    let bars = stderr_of("bars");
    assert!(bars.contains("over 100 turns and not drawn beside means over"), "{bars}");
}
