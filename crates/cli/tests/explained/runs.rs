//! Numbers of runs, by lines of Python.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::explained::library::Library;
use crate::explained::{are_near, entries, home_with_a_played_run, known, number, repository};

/// Runs of one turn: one trial a task, and two.
const ONE_TURN: &str = "run,harness,model,scenario,repeat,turn,attempt,passed,end_reason,planned_turns
single,h,m,a,1,1,1,true,,1
single,h,m,b,1,1,1,false,,1
single,h,m,c,1,1,1,true,,1
single,h,m,d,1,1,1,true,,1
single,h,m,e,1,1,1,,endpoint,1
double,h,n,a,1,1,1,true,,1
double,h,n,a,2,1,1,false,agent_timeout,1
double,h,n,b,1,1,1,true,,1
double,h,n,b,2,1,1,true,,1
double,h,n,c,1,1,1,false,agent_timeout,1
double,h,n,c,2,1,1,false,,1
";

/// A library with a run whose report tells how fast its endpoint was.
fn with_a_measured_speed(folder: &Path) -> Library {
    let own_folder = folder.join("own");
    test_folders::copy(&repository().join("tests/fixtures/staminabench/own"), &own_folder);
    let file = own_folder.join("report.json");
    let mut report: Value = serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("a report");
    report["run"]["tokens_per_second"] = serde_json::json!({
        "prompt": { "median": 1480.5, "p10": 962.25 }, "answer": { "median": 21.5, "p10": 5.25 }
    });
    std::fs::write(&file, report.to_string()).expect("written");
    Library::new(folder, "own", "own")
}

/// Steps of an episode that fails at turn 3, and of one that passes everything. Of some attempts more is known: of the first, one
/// test neither passed nor failed.
const STEPS: &str = "run,harness,model,scenario,turn,attempt,passed,steps,planned_turns,tests_passed,tests_total,tests_failed,agent_seconds,test_seconds,tokens_in,tokens_cached,tokens_out
steps,h,m,a,1,1,false,4,3,5,8,2,30,1.5,900,600,40
steps,h,m,a,1,2,true,5,3,8,8,,20,,1100,,12
steps,h,m,a,2,1,true,7,3,,,,,,,,
steps,h,m,a,3,1,false,9,3,,,,,,,,
steps,h,m,b,1,1,true,2,3,,,,,,,,
steps,h,m,b,2,1,true,3,3,,,,,,,,
steps,h,m,b,3,1,true,6,3,,,,,,,,
";

/// Two trials each of two tasks with two rounds. Rewards that are not in 0 to 1 make no round more than passed, and none less than
/// failed.
const REWARDS: &str = "run,harness,model,scenario,repeat,turn,attempt,passed,reward,planned_turns,scoring
rewards,h,m,a,1,1,1,true,1.5,2,turns
rewards,h,m,a,1,2,1,false,-0.5,2,turns
rewards,h,m,a,2,1,1,false,0.25,2,turns
rewards,h,m,b,1,1,1,true,1,2,turns
rewards,h,m,b,1,2,1,true,2,2,turns
rewards,h,m,b,2,1,1,true,1,2,turns
rewards,h,m,b,2,2,1,false,0.5,2,turns
";

#[test]
fn rewards_beyond_0_to_1_are_bounded_in_the_lines_as_in_the_app() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("rewards.csv");
    std::fs::write(&table, REWARDS).expect("written");
    let library = Library::new(&table, "rewards", "rewards");
    for (key, shown, expected) in [
        ("mt_at_k", library.run_value("mt_at_k")["2"].clone(), 75.0),
        ("comp", library.run_value("comp"), 50.0),
    ] {
        let entry = entries().into_iter().find(|entry| entry.key == key).expect("an entry");
        let computed = library.computed(&entry, &[("K", "2")]);
        assert!(are_near(&[number(&shown)], &[expected]), "{key}: the app says {shown}");
        assert!(are_near(&computed, &[expected]), "{key}: {computed:?}");
    }
}

/// A run of tasks of Harbor in our own layout: of each task its rounds, of each round its tries, `1` = passed.
fn write_rounds(folder: &Path, protocol: &str, tasks: &[(&str, &[&str])]) {
    let config = format!(
        "agent: MINI_SWE\nbenchmark: HARBOR\nrestore_before_try: true\nmini_swe:\n  model: m\nharbor:\n  protocol: {protocol}\n  attempt_limit: 4\n"
    );
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(folder.join("config.yaml"), config).expect("a file");
    for (number, (task, rounds)) in tasks.iter().enumerate() {
        let attempt = |(number, passed): (u32, u8)| {
            let (verdict, reward) = if passed == b'1' { ("passed", 1) } else { ("failed", 0) };
            format!("{{\"attempt\": {number}, \"verdict\": \"{verdict}\", \"reward\": {reward}}}")
        };
        let turn = |(turn, tries): (u32, &&str)| {
            let attempts: Vec<String> = (1..).zip(tries.bytes()).map(attempt).collect();
            let attempts = attempts.join(", ");
            format!("{{\"turn\": {turn}, \"step\": \"round-{turn}\", \"attempts\": [{attempts}]}}")
        };
        let turns: Vec<String> = (1..).zip(rounds.iter()).map(turn).collect();
        let text = format!(
            "{{\"schema_version\": \"stamina-lab/1\", \"planned_turns\": 3, \"attempt_limit\": 4, \"task\": \"{task}\", {} \
             \"turns\": [{}], \"finished_at\": \"2026-01-02T10:00:00Z\"}}",
            if protocol == "sr" { "\"protocol\": \"sr\"," } else { "" },
            turns.join(", ")
        );
        let scenario = folder.join(format!("scenario_{number}"));
        std::fs::create_dir_all(&scenario).expect("a folder");
        std::fs::write(scenario.join("trajectory.json"), text).expect("a file");
    }
}

/// The attempts of a run.
fn attempts_of(library: &Library) -> Vec<Value> {
    let shown = library.home.json(&["show", &library.run]);
    let list = |value: &Value, name: &str| value[name].as_array().expect("a list").clone();
    let episodes = list(&shown, "episodes");
    let turns: Vec<Value> = episodes.iter().flat_map(|episode| list(episode, "turns")).collect();
    turns.iter().flat_map(|turn| list(turn, "attempts")).collect()
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// What the attempts of a run have under these names, as far as it is known, the least first.
fn attempt_values(library: &Library, names: &[&str]) -> Vec<f64> {
    let attempts = attempts_of(library);
    sorted(names.iter().flat_map(|name| known(&attempts, name)).collect())
}

/// The tests of each attempt that passed, ran and failed, where they are counted, the least first.
fn tests_of_attempts(library: &Library) -> Vec<f64> {
    let mut attempts = attempts_of(library);
    attempts.retain(|attempt| !attempt["passed"].is_null() && !attempt["total"].is_null());
    let attempt_tests = |attempt: &Value| {
        let described = attempt["failing"].as_array().expect("a list").len() as f64;
        let failed = described + number(&attempt["failing_not_described"]);
        [number(&attempt["passed"]), number(&attempt["total"]), failed]
    };
    sorted(attempts.iter().flat_map(attempt_tests).collect())
}

/// The tokens of each attempt, as far as they are known, the least first.
fn tokens_of_attempts(library: &Library) -> Vec<f64> {
    let tokens: Vec<Value> = attempts_of(library).iter().map(|attempt| attempt["tokens"].clone()).collect();
    sorted(["input", "cached", "output"].iter().flat_map(|name| known(&tokens, name)).collect())
}

#[test]
fn numbers_of_runs_are_what_the_lines_of_their_explanations_give() {
    let sample = Library::new(&repository().join("data/sample-table.csv"), "m-large", "m-small");
    let (run, reference) = (sample.run.clone(), sample.reference.clone());
    let (run, reference) = (run.as_str(), reference.as_str());
    let pairs = sample.rows(&["pairs", reference, run]);
    let stamina = sample.run_value("stamina");
    let spent = sample.rows(&["spent", run]).remove(0);
    let episodes = sample.rows(&["episodes", run]);
    let sum = |name: &str| episodes.iter().map(|row| number(&row[name])).sum::<f64>();
    let sensitivity = sample.rows(&["sensitivity", run]);
    let as_failed = sensitivity
        .iter()
        .find(|row| row["censored_as"].as_str().is_some_and(|treatment| treatment.contains("as failures")))
        .unwrap_or_else(|| panic!("{sensitivity:?}"));
    let matrix = sample.rows(&["matrix"]);
    let margin = matrix
        .iter()
        .find(|row| row["harness"] == "loopy" && row["model"] == "mean over models")
        .unwrap_or_else(|| panic!("{matrix:?}"));
    let spread = sample.rows(&["spread"]);
    let spread = spread.iter().find(|row| row["model"] == "m-large").unwrap_or_else(|| panic!("{spread:?}"));
    let single_number = |value: &Value| vec![number(value)];
    // The curve of the sample, turn by turn, and what each attempt of a run was.
    let curve = sample.rows(&["survival", run]);
    let observed = curve.iter().filter(|row| number(&row["at_risk"]) > 0.0);
    let band = observed.flat_map(|row| ["ci_low", "ci_high"].map(|end| row[end].clone()));
    let band: Vec<f64> = band.filter(|end| !end.is_null()).map(|end| number(&end)).collect();
    let costs_of_attempts = attempt_values(&sample, &["cost_usd"]);
    assert!(!band.is_empty() && !costs_of_attempts.is_empty());
    let pair = &pairs[0];
    let failures_of = |library: &Library| {
        let request =
            serde_json::json!({ "members": [{ "by": "run", "run": library.run }], "scope": "first" });
        library.home.json(&["rpc", "get_failures", &request.to_string()])
    };
    let failures = failures_of(&sample);
    let repairs = sample.rows(&["repair-times", run]).remove(0);
    let disagreements = sample.rows(&["disagreements", reference, run]);
    let disagreement = disagreements
        .iter()
        .find(|row| row["scenario"] == "chat" && row["turn"] == 1)
        .unwrap_or_else(|| panic!("{disagreements:?}"));
    let compared_tau = sample.home.json(&["compare", reference, run])["tau"].clone();
    let mut expected: BTreeMap<&str, Vec<f64>> = BTreeMap::from([
        ("episodes", single_number(&sample.run_value("episodes"))),
        (
            "planned_turns",
            ["planned_turns_min", "planned_turns"].map(|name| number(&sample.run_value(name))).to_vec(),
        ),
        ("events", single_number(&stamina["events"])),
        ("censored", single_number(&stamina["censored"])),
        ("stamina", episodes.iter().map(|row| number(&row["stamina"])).collect()),
        ("mean_stamina", single_number(&stamina["mean"])),
        ("median_stamina", single_number(&stamina["median"])),
        ("tau", single_number(&sample.tau)),
        ("at_risk", curve.iter().map(|row| number(&row["at_risk"])).collect()),
        ("band", band),
        ("attempt_cost", costs_of_attempts),
        ("survival", curve.iter().map(|row| number(&row["survival"])).collect()),
        ("score", single_number(&sample.run_value("score"))),
        ("tokens", vec![number(&spent["input_tokens"]) + number(&spent["output_tokens"])]),
        ("turns_passed", vec![sum("passed_turns"), sum("planned_turns")]),
        ("rate_per_turn", single_number(&spent["tokens_per_turn"])),
        ("turns_played", single_number(&spent["turns_played"])),
        ("agent_time", single_number(&spent["agent_seconds"])),
        ("difference", single_number(&pair["difference"])),
        ("ratio", single_number(&pair["ratio"])),
        ("paired", single_number(&pair["paired_mean"])),
        ("p_sign_flip", single_number(&pair["paired_p_sign_flip"])),
        ("p_holm", single_number(&pair["logrank_p_holm"])),
        ("sensitivity", single_number(&as_failed["mean_stamina"])),
        ("early_censored", single_number(&as_failed["early_censored"])),
        ("margin", single_number(&margin["mean_stamina"])),
        ("best_worst_ratio", single_number(&spread["ratio"])),
        ("failed_attempts", single_number(&failures["attempts"])),
        ("repaired", single_number(&repairs["share"])),
        ("repair_attempts", single_number(&repairs["median_attempts"])),
        ("spread", single_number(&disagreement["spread"])),
    ]);

    // Its tests are described.
    let described = Library::new(&repository().join("tests/fixtures/staminabench"), "own", "nested_folders");
    let origins = described.rows(&["origins", &described.run]);
    let origin = |name: &str| {
        let row = origins.iter().find(|row| row["origin"] == name);
        row.map_or(0.0, |row| number(&row["tests"]))
    };
    let history = ["new", "regressed", "still failing", "unknown"].map(origin).to_vec();
    assert!(history.iter().sum::<f64>() > 0.0, "{origins:?}");
    let stretches = described.rows(&["repair-times", &described.run]).remove(0);
    let stretches = ["stretches", "stretches_repaired"].map(|name| number(&stretches[name])).to_vec();
    let flips = known(&described.rows(&["flips", &described.run]), "flips");
    let mut published = described.rows(&["published", &described.run]);
    published.retain(|row| row["model"] == "GLM-5" && row["metric"] == "mean turns passed");
    assert!(!flips.is_empty() && published.len() > 1, "{flips:?} {published:?}");
    let crashed = described.rows(&["failures", &described.run]);
    let crashed = crashed.iter().find(|row| row["class"] == "crashed").expect("one crashed");
    let crashed = single_number(&crashed["tests"]);
    let jobs = repository().join("tests/fixtures/harbor/jobs");
    let harbor = Library::new(&jobs, "interrupted-oracle", "interrupted-oracle");
    let twice = Library::new(&jobs, "oracle-k2-oracle", "interrupted-oracle");
    // The cost of each of its episodes is known.
    let cheap = Library::new(&repository().join("data/sample-table.csv"), "planner-m-small", "m-large");
    let paid = cheap.rows(&["spent", &cheap.run]).remove(0);
    let classes = cheap.rows(&["failures", &cheap.run]);
    let class = classes.iter().find(|row| row["class"] == "agent timeout").expect("one that ran out of time");
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("one-turn.csv");
    std::fs::write(&table, ONE_TURN).expect("written");
    let single = Library::new(&table, "single", "double");
    let double = Library::new(&table, "double", "single");
    let steps = folder.path().join("steps.csv");
    std::fs::write(&steps, STEPS).expect("written");
    let steps = Library::new(&steps, "steps", "steps");
    let rewards = folder.path().join("rewards.csv");
    std::fs::write(&rewards, REWARDS).expect("written");
    let rewards = Library::new(&rewards, "rewards", "rewards");
    // The tests of an attempt of which a part neither passed nor failed, and times and tokens that are known in part.
    let (tests, tokens) = (tests_of_attempts(&steps), tokens_of_attempts(&steps));
    let times = attempt_values(&steps, &["agent_seconds", "test_seconds"]);
    assert!(are_near(&tests, &[0.0, 2.0, 5.0, 8.0, 8.0, 8.0]), "{tests:?}");
    assert!(are_near(&times, &[1.5, 20.0, 30.0]), "{times:?}");
    assert!(are_near(&tokens, &[12.0, 40.0, 600.0, 900.0, 1100.0]), "{tokens:?}");
    // Two runs that differ. On the left one of five tests fails at turn 3, and all six are errors at turn 4; on the right all
    // pass.
    let episode = |run: &str, end: &str| {
        let episodes = described.home.json(&["show", run])["episodes"].clone();
        let episodes = episodes.as_array().expect("episodes");
        let keys: Vec<&str> = episodes.iter().filter_map(|episode| episode["episode"].as_str()).collect();
        let found = keys.iter().find(|key| key.ends_with(end));
        (*found.unwrap_or_else(|| panic!("{end} in {keys:?}"))).to_owned()
    };
    let differing = [episode(&described.reference, "0"), episode(&described.run, "1")].join(" --episode ");
    let joined = entries().into_iter().find(|entry| entry.key == "joined_tests").expect("an entry");
    let at_turn_4 = described.computed(&joined, &[("EPISODE", differing.as_str()), ("TURN", "4")]);
    assert!(are_near(&at_turn_4, &[6.0, 6.0, 0.0, 6.0]), "{at_turn_4:?}");
    let rounds = folder.path().join("rounds");
    write_rounds(&rounds.join("alone"), "sr", &[("a", &["1", "01", "1"]), ("b", &["0000", "1", "0000"])]);
    write_rounds(&rounds.join("chains"), "mt_at_k", &[("a", &["1", "01", "1"]), ("b", &["1", "0000"])]);
    let rounds = Library::new(&rounds, "alone", "chains");
    let [sr, gap] = ["sr", "gap"].map(|name| number(&rounds.run_value(name)));
    assert!((sr - 50.0).abs() < 1e-9 && (gap + 50.0 / 3.0).abs() < 1e-9, "{sr} {gap}");
    let played = Library::from_home(home_with_a_played_run(), "run", "run");
    let estimate = played.home.json(&[
        "preflight",
        "--no-call",
        "--values",
        "agent=MOCK",
        "output_dir=next",
        "restful_server_gen_iterative.n_scenarios=4",
        "restful_server_gen_iterative.num_changes_per_turn=1",
        "restful_server_gen_iterative.n_turns=5",
    ]);
    let estimate = &estimate["estimate"];
    assert_eq!(estimate["turns"], 20, "{estimate}");
    let survived = number(&steps.rows(&["spent", &steps.run]).remove(0)["steps_survived"]);
    assert!((survived - 13.5).abs() < 1e-9, "{survived}");
    let fast = with_a_measured_speed(&folder.path().join("fast"));
    let speed = |part: &str| {
        ["median", "p10"].map(|statistic| number(&fast.run_value("tokens_per_second")[part][statistic]))
    };
    let speeds = [speed("answer"), speed("prompt")].concat();
    assert!(are_near(&speeds, &[21.5, 5.25, 1480.5, 962.25]), "{speeds:?}");
    let ends = sample.run_value("end_reasons");
    let mut ends: Vec<f64> = ends.as_object().expect("end reasons").values().map(number).collect();
    ends.sort_by(f64::total_cmp);
    expected.insert("end_reasons", ends);
    let rate = |library: &Library, name: &str| number(&library.run_value("pass_rate")[name]);
    // The second row is of two trials.
    let rate_at =
        |library: &Library, name: &str| number(&library.rows(&["pass-at-k", &library.run])[1][name]);
    let others: BTreeMap<&str, (&Library, Vec<f64>)> = BTreeMap::from([
        ("attempt_steps", (&steps, attempt_values(&steps, &["steps", "tool_calls"]))),
        ("reward", (&rewards, attempt_values(&rewards, &["reward"]))),
        ("attempt_tests", (&steps, tests)),
        ("attempt_time", (&steps, times)),
        ("attempt_tokens", (&steps, tokens)),
        ("joined_tests", (&described, vec![5.0, 1.0, 1.0, 0.0])),
        ("attempt_limit", (&harbor, single_number(&harbor.run_value("attempt_limit")))),
        ("steps_survived", (&steps, vec![survived])),
        ("run_tokens_per_second", (&fast, speeds)),
        ("estimate", (&played, [0, 1].map(|end| number(&estimate["tokens_out"][end])).to_vec())),
        ("dataset_score", (&harbor, single_number(&harbor.run_value("dataset_score")))),
        ("perfect", (&harbor, single_number(&harbor.run_value("perfect")))),
        ("mt_at_k", (&twice, vec![number(&twice.run_value("mt_at_k")["2"])])),
        ("comp", (&twice, single_number(&twice.run_value("comp")))),
        ("sr", (&rounds, vec![sr])),
        ("gap", (&rounds, vec![gap])),
        ("case_score", (&harbor, single_number(&harbor.run_value("case_score")))),
        ("failure_share", (&cheap, single_number(&class["share"]))),
        ("failure_share_ci", (&cheap, vec![number(&class["ci_low"]), number(&class["ci_high"])])),
        ("cost", (&cheap, single_number(&paid["cost_usd"]))),
        ("cost_per_episode", (&cheap, single_number(&paid["cost_per_episode"]))),
        ("cost_per_survived_turn", (&cheap, single_number(&paid["cost_per_survived_turn"]))),
        ("retry_budget", (&steps, single_number(&steps.rows(&["retries", &steps.run])[0]["mean_stamina"]))),
        ("feedback_gain", (&steps, single_number(&steps.rows(&["gains", &steps.run])[0]["gain"]))),
        ("pass_rate", (&single, vec![rate(&single, "value")])),
        ("pass_rate_ci", (&single, vec![rate(&single, "ci_low"), rate(&single, "ci_high")])),
        ("unscored", (&single, vec![rate(&single, "unscored")])),
        ("pass_at_k", (&double, vec![rate_at(&double, "pass_at_k")])),
        ("pass_hat_k", (&double, vec![rate_at(&double, "pass_hat_k")])),
        ("failure_history", (&described, history)),
        ("flips", (&described, flips)),
        ("published", (&described, known(&published, "value"))),
        ("published_retries", (&described, known(&published, "retries"))),
        ("stretches", (&described, stretches)),
        ("failing_tests", (&described, crashed)),
        ("described_tests", (&described, single_number(&failures_of(&described)["tests"]))),
    ]);

    // Where tasks have several trials, the app's intervals are clustered, and wider than those of the lines, as these say.
    let timeouts = double.rows(&["failures", &double.run]);
    let timeouts =
        timeouts.iter().find(|row| row["class"] == "agent timeout").expect("one that ran out of time");
    let share = [&timeouts["ci_low"], &timeouts["ci_high"]].map(number);
    for (key, [low, high]) in
        [("pass_rate_ci", ["ci_low", "ci_high"].map(|end| rate(&double, end))), ("failure_share_ci", share)]
    {
        let entry = entries().into_iter().find(|entry| entry.key == key).expect("an entry");
        let lines = double.computed(&entry, &[("CLASS", "agent timeout")]);
        assert!(low < lines[0] && lines[1] < high, "{key}: {lines:?}, and the app says {low} to {high}");
    }
    let json = double.home.json(&["failures", &double.run]);
    assert_eq!(json["total"]["rate_interval"], "clustered", "{json}");

    let mut wrong = Vec::new();
    for entry in entries() {
        let key = entry.key.as_str();
        if entry.language != "python"
            || matches!(entry.inputs.as_str(), "live" | "sessions" | "prices" | "report" | "validation")
        {
            continue;
        }
        let (library, expected) = match (expected.remove(key), others.get(key)) {
            (Some(expected), _) => (&sample, expected),
            (None, Some((library, expected))) => (*library, expected.clone()),
            (None, None) => panic!("{key} is explained in Python, and nothing here runs it"),
        };
        let class = if key == "failing_tests" { "crashed" } else { "agent timeout" };
        let more = [
            ("HARNESS", "loopy"),
            ("MODEL", if key.starts_with("published") { "GLM-5" } else { "m-large" }),
            ("METRIC", "mean turns passed"),
            ("K", "2"),
            ("R", "0"),
            ("CLASS", class),
            ("SCENARIO", "chat"),
            ("TURN", if key == "joined_tests" { "3" } else { "1" }),
            ("EPISODE", differing.as_str()),
            ("TURNS", "20"),
        ];
        let compared = matches!(key, "difference" | "ratio");
        let tau = if compared { compared_tau.to_string() } else { library.tau.to_string() };
        let mut more = more.to_vec();
        more.push(("TAU", &tau));
        let mut computed = library.computed(&entry, &more);
        match key {
            _ if key.starts_with("attempt_") || matches!(key, "end_reasons" | "reward") => {
                computed.sort_by(f64::total_cmp);
            }
            "survival" | "at_risk" => computed.truncate(expected.len()),
            _ => {}
        }
        if !are_near(&computed, &expected) {
            wrong.push(format!("{key}: {computed:?}, and the app says {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(expected.is_empty(), "no longer explained: {:?}", expected.keys());
}
