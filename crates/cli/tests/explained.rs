//! Each number that `docs/metrics.md` explains with lines of Python or R is what these lines give.

mod app;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use app::TestHome;
use serde_json::Value;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository").to_path_buf()
}

/// An entry of "Explain this number".
struct Entry {
    key: String,
    /// Where its inputs are looked at.
    inputs: String,
    command: String,
    language: String,
    code: String,
}

fn entries() -> Vec<Entry> {
    let text = std::fs::read_to_string(repository().join("docs/metrics.md")).expect("docs/metrics.md");
    let (_, section) = text.split_once("\n## Explain this number\n").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("a section after it");
    let between = |text: &str, from: &str, to: &str| {
        let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("no {from:?} in {text}"));
        rest.split_once(to).unwrap_or_else(|| panic!("no {to:?} in {text}")).0.to_owned()
    };
    section
        .split("#### `")
        .skip(1)
        .map(|entry| {
            let code = between(entry, "\n```", "\n```");
            let (language, code) = code.split_once('\n').expect("a language");
            Entry {
                key: entry.split('`').next().unwrap_or_default().to_owned(),
                inputs: between(entry, "\nInputs: ", ","),
                command: between(&between(entry, "\nInputs: ", "\n"), ", `", "`"),
                language: language.to_owned(),
                code: code.to_owned(),
            }
        })
        .collect()
}

/// The numbers in what a program prints.
fn numbers(text: &str) -> Vec<f64> {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e');
    text.split(|c| !is_of_number(c)).filter_map(|word| word.parse().ok()).collect()
}

/// A library of runs, and what its commands print.
struct Library {
    home: TestHome,
    run: String,
    reference: String,
    tau: Value,
}

impl Library {
    /// `run` and `reference` are the ends of ids.
    fn new(source: &Path, run: &str, reference: &str) -> Self {
        let home = TestHome::new();
        home.ingest(source);
        Self::of_home(home, run, reference)
    }

    /// The same of what a home has in its library.
    fn of_home(home: TestHome, run: &str, reference: &str) -> Self {
        let ids = home.run_ids();
        let id = |end: &str| {
            ids.iter().find(|id| id.ends_with(end)).unwrap_or_else(|| panic!("{end} in {ids:?}")).clone()
        };
        let (run, reference) = (id(run), id(reference));
        let mut library = Self { home, run, reference, tau: Value::Null };
        library.tau = library.of_run("stamina")["tau"].clone();
        library
    }

    fn of_run(&self, name: &str) -> Value {
        let runs = self.home.json(&["runs"]);
        let runs = runs.as_array().expect("runs");
        runs.iter().find(|run| run["id"] == self.run.as_str()).expect("the run")[name].clone()
    }

    fn rows(&self, table: &[&str]) -> Vec<Value> {
        let table = self.home.json(&[&["table"], table].concat());
        table["rows"].as_array().expect("rows").clone()
    }

    /// What the lines of an entry print, without the entry's placeholders.
    fn computed(&self, entry: &Entry, more: &[(&str, &str)]) -> Vec<f64> {
        let mut names = vec![("REFERENCE", self.reference.clone()), ("RUN", self.run.clone())];
        names.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let filled = |text: &str| {
            let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
            let mut words = String::new();
            for piece in text.split_inclusive(|c| !is_of_name(c)) {
                let word = piece.trim_end_matches(|c| !is_of_name(c));
                let found = names.iter().find(|(name, _)| *name == word);
                words.push_str(found.map_or(word, |(_, value)| value));
                words.push_str(&piece[word.len()..]);
            }
            words
        };
        for command in entry.command.split(" && ") {
            let command = filled(command);
            let words: Vec<&str> = command.split(' ').collect();
            assert_eq!(words[0], "stamina", "{command}");
            let mut args = words[1..].to_vec();
            let out = args.pop().expect("a file");
            let out = self.home.path(out);
            if args.last() == Some(&">") {
                args.pop();
                std::fs::write(&out, self.home.text(&args)).expect("a file");
                continue;
            }
            args.push(out.to_str().expect("UTF-8"));
            self.home.text(&args);
        }
        let code = filled(&entry.code);
        let mut program = match entry.language.as_str() {
            "r" => {
                let mut program = Command::new("Rscript");
                program.arg("-e").arg(r_script(&code));
                program
            }
            _ => {
                let mut program = Command::new("python3");
                program.arg("-c").arg(code);
                program
            }
        };
        let ran = program.current_dir(self.home.path("")).output().expect("the program runs");
        assert!(ran.status.success(), "{}: {}", entry.key, String::from_utf8_lossy(&ran.stderr));
        numbers(&String::from_utf8_lossy(&ran.stdout))
    }
}

/// The lines of an entry, and what they come to in all digits: numbers, or χ² and p of a test.
fn r_script(code: &str) -> String {
    format!(
        "set.seed(1); v <- local({{\n{code}\n}})\noptions(digits = 15)\n\
         cat(if (isS4(v)) coin::pvalue(v) else if (is.list(v)) c(v$chisq, v$pvalue, v$p.value) else as.numeric(v))"
    )
}

/// Whether R is there, with a package.
fn has_r(package: &str) -> bool {
    let asked = Command::new("Rscript")
        .arg("-e")
        .arg(format!("quit(status = if (requireNamespace('{package}', quietly = TRUE)) 0 else 1)"))
        .output();
    asked.is_ok_and(|asked| asked.status.success())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The numbers of a name in several objects, without unknown ones.
fn known(rows: &[Value], name: &str) -> Vec<f64> {
    rows.iter().map(|row| &row[name]).filter(|value| !value.is_null()).map(number).collect()
}

/// Whether numbers are the same but for the last digits.
fn are_near(computed: &[f64], expected: &[f64]) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9 * b.abs().max(1.0);
    computed.len() == expected.len() && computed.iter().zip(expected).all(near)
}

/// Runs every entry whose inputs are looked at in one place, with what its placeholders stand for, and compares it with what
/// the app says.
fn check_all_of(
    inputs: &str,
    library: &Library,
    filled: &dyn Fn(&str) -> Vec<(&'static str, &'static str)>,
    mut expected: BTreeMap<&str, Vec<f64>>,
) {
    let mut wrong = Vec::new();
    for entry in entries().into_iter().filter(|entry| entry.inputs == inputs) {
        let key = entry.key.as_str();
        let expected =
            expected.remove(key).unwrap_or_else(|| panic!("{key} is explained, and nothing here runs it"));
        let computed = library.computed(&entry, &filled(key));
        if expected.is_empty() || !are_near(&computed, &expected) {
            wrong.push(format!("{key}: {computed:?}, and the app says {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(expected.is_empty(), "no longer explained: {:?}", expected.keys());
}

/// Runs of one turn: one trial a task, and two.
const ONE_TURN: &str = "run,harness,model,scenario,repeat,turn,attempt,passed,end_reason,planned_turns
single,h,m,a,1,1,1,true,,1
single,h,m,b,1,1,1,false,,1
single,h,m,c,1,1,1,true,,1
single,h,m,d,1,1,1,true,,1
single,h,m,e,1,1,1,,endpoint,1
double,h,n,a,1,1,1,true,,1
double,h,n,a,2,1,1,false,,1
double,h,n,b,1,1,1,true,,1
double,h,n,b,2,1,1,true,,1
double,h,n,c,1,1,1,false,,1
double,h,n,c,2,1,1,false,,1
";

/// A library with a run of two episodes of three turns by the simulated model, played into the folder `results`.
fn home_with_a_played_run() -> TestHome {
    let home = TestHome::new();
    let output = home.stamina(&[
        "run",
        "--json",
        "--values",
        "agent=MOCK",
        "output_dir=results",
        "restful_server_gen_iterative.n_scenarios=2",
        "restful_server_gen_iterative.num_changes_per_turn=1",
        "restful_server_gen_iterative.n_turns=3",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", app::text(&output.stderr));
    home
}

/// Steps of an episode that fails at turn 3, and of one that passes everything.
const STEPS: &str = "run,harness,model,scenario,turn,attempt,passed,steps,planned_turns
steps,h,m,a,1,1,false,4,3
steps,h,m,a,1,2,true,5,3
steps,h,m,a,2,1,true,7,3
steps,h,m,a,3,1,false,9,3
steps,h,m,b,1,1,true,2,3
steps,h,m,b,2,1,true,3,3
steps,h,m,b,3,1,true,6,3
";

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

#[test]
fn numbers_of_runs_are_what_the_lines_of_their_explanations_give() {
    let sample = Library::new(&repository().join("data/sample-table.csv"), "m-large", "m-small");
    let (run, reference) = (sample.run.clone(), sample.reference.clone());
    let (run, reference) = (run.as_str(), reference.as_str());
    let pairs = sample.rows(&["pairs", reference, run]);
    let stamina = sample.of_run("stamina");
    let spent = sample.rows(&["spent", run]).remove(0);
    let episodes = sample.rows(&["episodes", run]);
    let sum = |name: &str| episodes.iter().map(|row| number(&row[name])).sum::<f64>();
    let sensitivity = sample.rows(&["sensitivity", run]);
    let as_failed = sensitivity
        .iter()
        .find(|row| row["censored_as"].as_str().is_some_and(|how| how.contains("as failures")))
        .unwrap_or_else(|| panic!("{sensitivity:?}"));
    let matrix = sample.rows(&["matrix"]);
    let margin = matrix
        .iter()
        .find(|row| row["harness"] == "loopy" && row["model"] == "mean over models")
        .unwrap_or_else(|| panic!("{matrix:?}"));
    let spread = sample.rows(&["spread"]);
    let spread = spread.iter().find(|row| row["model"] == "m-large").unwrap_or_else(|| panic!("{spread:?}"));
    let one = |value: &Value| vec![number(value)];
    let pair = &pairs[0];
    let classes = sample.rows(&["failures", run]);
    let class = classes.iter().find(|row| row["class"] == "endpoint").expect("ends of the endpoint");
    let failures_of = |library: &Library| {
        let asked = serde_json::json!({ "members": [{ "by": "run", "run": library.run }], "scope": "first" });
        library.home.json(&["rpc", "get_failures", &asked.to_string()])
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
        ("episodes", one(&sample.of_run("episodes"))),
        (
            "planned_turns",
            ["planned_turns_min", "planned_turns"].map(|name| number(&sample.of_run(name))).to_vec(),
        ),
        ("events", one(&stamina["events"])),
        ("censored", one(&stamina["censored"])),
        ("stamina", episodes.iter().map(|row| number(&row["stamina"])).collect()),
        ("mean_stamina", one(&stamina["mean"])),
        ("median_stamina", one(&stamina["median"])),
        ("survival", sample.rows(&["survival", run]).iter().map(|row| number(&row["survival"])).collect()),
        ("score", one(&sample.of_run("score"))),
        ("tokens", vec![number(&spent["input_tokens"]) + number(&spent["output_tokens"])]),
        ("turns_passed", vec![sum("passed_turns"), sum("planned_turns")]),
        ("rate_per_turn", one(&spent["tokens_per_turn"])),
        ("turns_played", one(&spent["turns_played"])),
        ("agent_time", one(&spent["agent_seconds"])),
        ("difference", one(&pair["difference"])),
        ("ratio", one(&pair["ratio"])),
        ("paired", one(&pair["paired_mean"])),
        ("p_sign_flip", one(&pair["paired_p_sign_flip"])),
        ("p_holm", one(&pair["logrank_p_holm"])),
        ("sensitivity", one(&as_failed["mean_stamina"])),
        ("early_censored", one(&as_failed["early_censored"])),
        ("margin", one(&margin["mean_stamina"])),
        ("best_worst_ratio", one(&spread["ratio"])),
        ("failed_attempts", one(&failures["attempts"])),
        ("failure_share", one(&class["share"])),
        ("failure_share_ci", vec![number(&class["ci_low"]), number(&class["ci_high"])]),
        ("repaired", one(&repairs["share"])),
        ("repair_attempts", one(&repairs["median_attempts"])),
        ("spread", one(&disagreement["spread"])),
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
    let crashed = one(&crashed["tests"]);
    let jobs = repository().join("tests/fixtures/harbor/jobs");
    let harbor = Library::new(&jobs, "interrupted-oracle", "interrupted-oracle");
    let twice = Library::new(&jobs, "oracle-k2-oracle", "interrupted-oracle");
    // The cost of each of its episodes is known.
    let cheap = Library::new(&repository().join("data/sample-table.csv"), "planner-m-small", "m-large");
    let paid = cheap.rows(&["spent", &cheap.run]).remove(0);
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("one-turn.csv");
    std::fs::write(&table, ONE_TURN).expect("written");
    let single = Library::new(&table, "single", "double");
    let double = Library::new(&table, "double", "single");
    let steps = folder.path().join("steps.csv");
    std::fs::write(&steps, STEPS).expect("written");
    let steps = Library::new(&steps, "steps", "steps");
    let rounds = folder.path().join("rounds");
    write_rounds(&rounds.join("alone"), "sr", &[("a", &["1", "01", "1"]), ("b", &["0000", "1", "0000"])]);
    write_rounds(&rounds.join("chains"), "mt_at_k", &[("a", &["1", "01", "1"]), ("b", &["1", "0000"])]);
    let rounds = Library::new(&rounds, "alone", "chains");
    let [sr, gap] = ["sr", "gap"].map(|name| number(&rounds.of_run(name)));
    assert!((sr - 50.0).abs() < 1e-9 && (gap + 50.0 / 3.0).abs() < 1e-9, "{sr} {gap}");
    let played = Library::of_home(home_with_a_played_run(), "run", "run");
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
    let ends = sample.of_run("end_reasons");
    let mut ends: Vec<f64> = ends.as_object().expect("end reasons").values().map(number).collect();
    ends.sort_by(f64::total_cmp);
    expected.insert("end_reasons", ends);
    let rate = |library: &Library, name: &str| number(&library.of_run("pass_rate")[name]);
    // The second row is of two trials.
    let at = |library: &Library, name: &str| number(&library.rows(&["pass-at-k", &library.run])[1][name]);
    let others: BTreeMap<&str, (&Library, Vec<f64>)> = BTreeMap::from([
        ("attempt_limit", (&harbor, one(&harbor.of_run("attempt_limit")))),
        ("steps_survived", (&steps, vec![survived])),
        ("estimate", (&played, [0, 1].map(|end| number(&estimate["tokens_out"][end])).to_vec())),
        ("dataset_score", (&harbor, one(&harbor.of_run("dataset_score")))),
        ("perfect", (&harbor, one(&harbor.of_run("perfect")))),
        ("mt_at_k", (&twice, vec![number(&twice.of_run("mt_at_k")["2"])])),
        ("comp", (&twice, one(&twice.of_run("comp")))),
        ("sr", (&rounds, vec![sr])),
        ("gap", (&rounds, vec![gap])),
        ("case_score", (&harbor, one(&harbor.of_run("case_score")))),
        ("cost", (&cheap, one(&paid["cost_usd"]))),
        ("cost_per_episode", (&cheap, one(&paid["cost_per_episode"]))),
        ("cost_per_survived_turn", (&cheap, one(&paid["cost_per_survived_turn"]))),
        ("retry_budget", (&steps, one(&steps.rows(&["retries", &steps.run])[0]["mean_stamina"]))),
        ("feedback_gain", (&steps, one(&steps.rows(&["gains", &steps.run])[0]["gain"]))),
        ("pass_rate", (&single, vec![rate(&single, "value")])),
        ("pass_rate_ci", (&single, vec![rate(&single, "ci_low"), rate(&single, "ci_high")])),
        ("unscored", (&single, vec![rate(&single, "unscored")])),
        ("pass_at_k", (&double, vec![at(&double, "pass_at_k")])),
        ("pass_hat_k", (&double, vec![at(&double, "pass_hat_k")])),
        ("failure_history", (&described, history)),
        ("flips", (&described, flips)),
        ("published", (&described, known(&published, "value"))),
        ("published_retries", (&described, known(&published, "retries"))),
        ("stretches", (&described, stretches)),
        ("failing_tests", (&described, crashed)),
        ("described_tests", (&described, one(&failures_of(&described)["tests"]))),
    ]);

    let mut wrong = Vec::new();
    for entry in entries() {
        let key = entry.key.as_str();
        if entry.language != "python"
            || matches!(entry.inputs.as_str(), "live" | "sessions" | "prices" | "report")
        {
            continue;
        }
        let (library, expected) = match (expected.remove(key), others.get(key)) {
            (Some(expected), _) => (&sample, expected),
            (None, Some((library, expected))) => (*library, expected.clone()),
            (None, None) => panic!("{key} is explained in Python, and nothing here runs it"),
        };
        let class = if key == "failing_tests" { "crashed" } else { "endpoint" };
        let more = [
            ("HARNESS", "loopy"),
            ("MODEL", if key.starts_with("published") { "GLM-5" } else { "m-large" }),
            ("METRIC", "mean turns passed"),
            ("K", "2"),
            ("R", "0"),
            ("CLASS", class),
            ("SCENARIO", "chat"),
            ("TURN", "1"),
            ("TURNS", "20"),
        ];
        let compared = matches!(key, "difference" | "ratio");
        let tau = if compared { compared_tau.to_string() } else { library.tau.to_string() };
        let mut more = more.to_vec();
        more.push(("TAU", &tau));
        let mut computed = library.computed(&entry, &more);
        match key {
            "end_reasons" => computed.sort_by(f64::total_cmp),
            "survival" => computed.truncate(expected.len()),
            _ => {}
        }
        if !are_near(&computed, &expected) {
            wrong.push(format!("{key}: {computed:?}, and the app says {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(expected.is_empty(), "no longer explained: {:?}", expected.keys());
}

#[test]
fn numbers_of_sessions_are_what_the_lines_of_their_explanations_give() {
    let recorded = repository().join("tests/fixtures/locobench/recorded");
    let library = Library::new(&recorded, "gpt-4o", "gpt-4.1");
    let all = library.home.json(&["locobench", &library.run]);
    let means = &all["means"]["all"];
    let mean = |kind: &str, name: &str| vec![number(&means[kind][name]["mean"])];
    let mut sessions = all["sessions"].as_array().expect("sessions").clone();
    sessions.retain(|session| session["counts"] == true);
    let running = all["running"].as_array().expect("steps");
    let expected = BTreeMap::from([
        ("session_count", vec![number(&means["scenarios"])]),
        ("session_imported", mean("imported", "execution_success_rate")),
        ("session_compat", mean("compat", "execution_success_rate")),
        ("session_corrected", mean("corrected", "files_written")),
        ("comprehension", mean("imported", "comprehension")),
        ("efficiency", mean("imported", "efficiency")),
        ("tool_success", mean("corrected", "tool_success")),
        ("read_before_write", mean("corrected", "read_before_write")),
        ("session_phases", known(&sessions, "phases")),
        ("session_turns", known(&sessions, "turns")),
        ("session_answered", known(&sessions, "answered")),
        ("session_calls", known(&sessions, "tool_calls")),
        ("still_running", known(running, "share")),
    ]);
    let metric =
        |key: &str| if key == "session_corrected" { "files_written" } else { "execution_success_rate" };
    check_all_of("sessions", &library, &|key| vec![("METRIC", metric(key))], expected);
}

/// Changes what a run of two episodes of three turns has left behind: as if it had a price and an endpoint, and was not over.
fn continue_as_if_paid(home: &TestHome) {
    let change = |file: &str, with: &dyn Fn(&mut Value)| {
        let file = home.path(&format!("results/.stamina/{file}"));
        let mut state: Value =
            serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("a state");
        with(&mut state);
        std::fs::write(&file, state.to_string()).expect("a file");
    };
    // As if one episode had two turns left, its last event were at 1,800,000,000 seconds since 1970, and both had a price: 0.5
    // dollars for one turn and 0.6 for three. The run has spent 0.15 on attempts that were dropped.
    change("episodes/scenario_0.json", &|episode| {
        episode["phase"] = "agent".into();
        episode["cells"] = serde_json::json!(["passed"]);
        episode["turn"] = 2.into();
        episode["spent"]["cost_usd"] = 0.5.into();
        episode["last_event_at"] = "2027-01-15T08:00:00Z".into();
    });
    change("episodes/scenario_1.json", &|episode| episode["spent"]["cost_usd"] = 0.6.into());
    change("run.json", &|run| {
        run["spent"]["cost_usd"] = 1.25.into();
        run["endpoint"] = serde_json::json!({ "retried": 3, "lost": 1 });
    });
    // As if the endpoint had written two answers, one twice as fast as the other, and failed three tries. They are of the future, so
    // that a slow machine does not make them old.
    let streamed = |second: u32, faults: &[u16], first: f64, rest: f64| {
        let request = serde_json::json!({
            "episode": "scenario_1", "turn": 1, "attempt": 1, "at": format!("2100-01-01T00:00:{second:02}Z"), "number": 900 + second,
            "route": "POST /v1/chat/completions", "model": null, "cost_usd": null, "seconds": 30.0, "status": 200, "retries": 0,
            "tokens": { "input": 3100, "cached": 100, "output": 180 }, "faults": faults, "stream": { "first": first, "rest": rest }
        });
        format!("{request}\n")
    };
    let log = home.path("results/.stamina/gateway.jsonl");
    let before = std::fs::read_to_string(&log).unwrap_or_default();
    let after = before + &streamed(1, &[429, 0], 20.0, 2.0) + &streamed(2, &[429], 10.0, 1.0);
    std::fs::write(&log, after).expect("a file");
}

#[test]
fn numbers_of_a_run_that_is_played_are_what_the_lines_of_their_explanations_give() {
    let home = home_with_a_played_run();
    continue_as_if_paid(&home);

    let library = Library::of_home(home, "run", "run");
    let folder = library.home.path("results").to_str().expect("UTF-8").to_owned();
    let live =
        library.home.json(&["rpc", "get_live_run", &serde_json::json!({ "folder": folder }).to_string()]);
    let range =
        |value: &Value| value.as_array().expect("two numbers").iter().map(number).collect::<Vec<f64>>();
    // 1.25 + 2 · (0.2 + 0.1 · 0.3), and with 0.9: a turn costs 0.2 or 0.5 dollars. Nothing is forecast here, as nobody plays the run.
    let pace = vec![1.71, 2.19];
    let mut faults: Vec<f64> = live["faults"].as_array().expect("faults").iter().flat_map(range).collect();
    faults.extend(["endpoint_retried", "endpoint_lost"].map(|name| number(&live["row"][name])));
    assert!(are_near(&faults, &[0.0, 1.0, 429.0, 2.0, 3.0, 1.0]), "{faults:?}");
    let speed = |part: &str| ["median", "p10"].map(|of| number(&live["tokens_per_second"][part][of]));
    let speeds = [speed("answer"), speed("prompt")].concat();
    // 90 and 180 tokens a second of answers, 150 and 300 of prompts.
    assert!(are_near(&speeds, &[135.0, 99.0, 225.0, 165.0]), "{speeds:?}");
    let rows = library.rows(&["progress", "results"]);
    let run = library.rows(&["played"]).remove(0);
    let of_run = |names: &[&str]| names.iter().map(|name| number(&run[name])).collect::<Vec<f64>>();
    assert!(are_near(&of_run(&["turns_decided", "episodes_over"]), &[4.0, 1.0]), "{run}");
    let expected = BTreeMap::from([
        ("turns_done", of_run(&["turns_decided", "turns"])),
        ("episodes_done", of_run(&["episodes_over", "episodes"])),
        ("current_turn", known(&rows, "turn")),
        ("current_attempt", known(&rows, "attempt")),
        ("elapsed", known(&rows, "seconds")),
        ("live_tokens", vec![of_run(&["input_tokens", "output_tokens"]).iter().sum::<f64>()]),
        ("live_cost", vec![known(&rows, "cost_usd").iter().sum::<f64>()]),
        ("pace_cost", pace),
        ("endpoint_faults", faults),
        ("tokens_per_second", speeds),
        ("last_event", vec![42.0]),
        ("time_left", known(&rows, "eta_seconds")),
    ]);
    check_all_of("live", &library, &|_| vec![("FOLDER", "results"), ("NOW", "1800000042")], expected);
}

#[test]
fn prices_are_what_the_lines_of_their_explanation_give() {
    let library = Library::new(&repository().join("data/sample-table.csv"), "m-large", "m-small");
    let asked = r#"{"put": [{"model": "acme-one", "input": 1.25, "cached": 0.125, "cache_write": null, "output": 10}], "remove": []}"#;
    library.home.json(&["rpc", "set_prices", asked]);
    let expected = BTreeMap::from([("price", vec![1.25, 0.125, 1.25, 10.0])]);
    check_all_of("prices", &library, &|_| vec![("MODEL", "acme-one")], expected);
}

#[test]
fn counts_of_an_import_report_are_what_the_lines_of_their_explanations_give() {
    let library = Library::new(&repository().join("tests/fixtures/staminabench"), "own", "nested_folders");
    let state = library.home.json(&["rpc", "app_state", "{}"]);
    let asked = serde_json::json!({
        "source": state["sources"][0]["id"], "treatment": null, "code": null, "run": null, "offset": 0, "limit": 1
    });
    let report = library.home.json(&["rpc", "import_report", &asked.to_string()]);
    let all_of =
        |value: &Value, names: &[&str]| names.iter().map(|name| number(&value[name])).collect::<Vec<_>>();
    let counts = all_of(&report, &["runs", "episodes", "turns", "not_reached", "files_read"]);
    let runs = library.home.json(&["runs"]).as_array().expect("runs").len();
    assert!(are_near(&counts[..1], &[runs as f64]) && counts[1] > 0.0 && counts[4] > 0.0, "{counts:?}");
    let expected = BTreeMap::from([
        ("source_counts", counts),
        ("source_warnings", all_of(&report["source"]["severities"], &["notes", "repairs", "warnings"])),
    ]);
    check_all_of("report", &library, &|_| vec![("FOLDER", "staminabench")], expected);
}

#[test]
fn numbers_of_runs_are_what_the_lines_of_their_explanations_give_in_r() {
    if !has_r("survival") {
        println!("left out: R with its package survival is not there");
        return;
    }
    let sample = Library::new(&repository().join("data/sample-table.csv"), "m-large", "m-small");
    let pair = sample.rows(&["pairs", &sample.reference, &sample.run]).remove(0);
    let stamina = sample.of_run("stamina");
    let compared = sample.home.json(&["compare", &sample.run, &sample.reference]);
    let bootstrap = &compared["runs"][0]["mean_stamina_bootstrap"];
    // What is expected, and how near: the draws of a bootstrap differ.
    let mut expected: BTreeMap<&str, (Vec<f64>, f64)> = BTreeMap::from([
        ("mean_stamina_ci", (vec![number(&stamina["ci_low"]), number(&stamina["ci_high"])], 1e-3)),
        ("bootstrap_ci", (vec![number(&bootstrap["ci_low"]), number(&bootstrap["ci_high"])], 0.4)),
        ("logrank", (vec![number(&pair["logrank_chi2"]), number(&pair["logrank_p"])], 1e-9)),
        ("p_stratified", (vec![number(&pair["logrank_p_stratified"])], 1e-9)),
        ("p_permutation", (vec![number(&pair["logrank_p_permutation"])], 0.03)),
        ("paired_p", (vec![number(&pair["paired_p"])], 1e-9)),
    ]);
    // A comparison ends where its shortest member does.
    let (tau, compared_tau) = (sample.tau.to_string(), compared["tau"].to_string());
    let mut wrong = Vec::new();
    for entry in entries().into_iter().filter(|entry| entry.language == "r") {
        let key = entry.key.as_str();
        let (expected, tolerance) = expected
            .remove(key)
            .unwrap_or_else(|| panic!("{key} is explained in R, and nothing here runs it"));
        if entry.code.contains("library(coin)") && !has_r("coin") {
            println!("left out: {key}: R has no package coin");
            continue;
        }
        let tau = if key == "bootstrap_ci" { &compared_tau } else { &tau };
        let computed = sample.computed(&entry, &[("TAU", tau)]);
        // Of a test both χ² and p are printed; p stands last.
        let skipped = computed.len().saturating_sub(expected.len());
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance;
        if computed.len() < expected.len() || !computed[skipped..].iter().zip(&expected).all(near) {
            wrong.push(format!("{key}: {computed:?}, and the app says {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(expected.is_empty(), "no longer explained: {:?}", expected.keys());
}
