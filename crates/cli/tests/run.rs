//! Runs from the command line: the real program plays the mock agent with the simulated model, without an engine.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use app::{Gate, Served, TestHome, text};

mod app;

/// Arguments of a run of so many scenarios and turns into `results`.
fn small(scenarios: u32, turns: u32) -> Vec<String> {
    [
        "run".to_owned(),
        "--json".to_owned(),
        "--values".to_owned(),
        "agent=MOCK".to_owned(),
        "output_dir=results".to_owned(),
        format!("restful_server_gen_iterative.n_scenarios={scenarios}"),
        format!("restful_server_gen_iterative.n_turns={turns}"),
        "restful_server_gen_iterative.num_changes_per_turn=1".to_owned(),
        "restful_server_gen_iterative.base_seed=7".to_owned(),
    ]
    .to_vec()
}

fn with_args(mut args: Vec<String>, more: &[&str]) -> Vec<String> {
    args.extend(more.iter().map(|&arg| arg.to_owned()));
    args
}

fn refs(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

fn events(stdout: &[u8]) -> Vec<Value> {
    text(stdout).lines().map(|line| serde_json::from_str(line).expect("an event a line")).collect()
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

#[test]
fn a_run_prints_its_events_and_is_in_the_library() {
    let home = TestHome::new();
    let output = home.stamina(&refs(&with_args(small(2, 2), &["batch_size=2", "tags=smoke,for the paper"])));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let answer = events(&output.stdout);
    assert_eq!(answer[0]["event"], "started");
    assert_eq!((&answer[0]["episodes"], &answer[0]["turns"]), (&Value::from(2), &Value::from(2)));
    assert_eq!(answer[0]["simulated"], true);
    assert_eq!(named(&answer, "turn").len(), 4);
    let attempts = named(&answer, "attempt");
    assert_eq!(attempts.len(), 4);
    assert!(attempts.iter().all(|a| a["verdict"] == "passed" && a["passed"] == a["total"]), "{attempts:?}");
    let episodes = named(&answer, "episode");
    assert!(episodes.len() == 2 && episodes.iter().all(|e| e["stamina"] == 2));
    let last = answer.last().expect("events");
    assert_eq!((&last["event"], &last["how"]["how"]), (&Value::from("finished"), &Value::from("finished")));
    assert_eq!(last["average_score"], 1.0);

    let results = home.path("results");
    home.json(&["ingest", results.to_str().expect("UTF-8")]);
    let runs = home.json(&["runs"]);
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
    assert_eq!((&runs[0]["harness"], &runs[0]["simulated"]), (&Value::from("mock"), &Value::from(true)));
    assert_eq!((&runs[0]["episodes"], &runs[0]["stamina"]["mean"]), (&Value::from(2), &Value::from(2.0)));
    assert_eq!(runs[0]["tags"], json!(["for the paper", "smoke"]));
    assert_eq!(runs[0]["warnings"], 0, "what the runner writes is read without a warning");
    let live = home.json(&["rpc", "list_live_runs"]);
    assert_eq!((&live["live"], &live["runs"][0]["state"]), (&Value::from(0), &Value::from("finished")));
    assert_eq!(live["runs"][0]["run"], runs[0]["id"]);
    // What the pages of runs list is a table, too.
    let played = home.json(&["table", "played"]);
    assert_eq!(
        (&played["rows"][0]["state"], &played["rows"][0]["episodes_over"]),
        (&json!("finished"), &json!(2))
    );
    let progress = home.json(&["table", "progress", results.to_str().expect("UTF-8")]);
    assert_eq!(progress["rows"].as_array().map(Vec::len), Some(2), "{progress}");
    for table in [&played, &progress] {
        let notes = table["notes"].as_array().expect("notes");
        let made_by = notes.last().and_then(Value::as_str).expect("how it was made");
        assert!(made_by.contains("played on this machine") && made_by.contains("Stamina Lab"), "{made_by}");
    }
    assert_eq!(
        (&progress["rows"][0]["stamina"], &progress["rows"][0]["outcomes"]),
        (&json!(2), &json!("pp"))
    );

    // The folder is taken now.
    let again = home.stamina(&refs(&small(2, 2)));
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("Resume it, or choose another folder"), "{}", text(&again.stderr));
    // Its settings fill the form again.
    let run = format!("{{\"run\": {}}}", runs[0]["id"]);
    let loaded = home.json(&["rpc", "load_settings", &run]);
    assert_eq!(
        (&loaded["settings"]["agent"], &loaded["settings"]["n_turns"]),
        (&Value::from("mock"), &Value::from(2.0))
    );
}

#[test]
fn without_json_every_event_is_a_line() {
    let home = TestHome::new();
    let args: Vec<String> = small(1, 1).into_iter().filter(|arg| arg != "--json").collect();
    let output = home.stamina(&refs(&args));
    let answer = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{answer}");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    for message in [
        "started: mock",
        "scenario_0: turn 1 of 1",
        "attempt 1: passed",
        "stamina 1",
        "finished: 1 episode over",
    ] {
        assert!(answer.contains(message), "{message}: {answer}");
    }
    assert!(!answer.contains('\u{1b}'));
}

/// A run in a process of its own, whose events are read as they come.
struct Playing {
    child: Child,
    lines: std::io::Lines<Box<dyn std::io::BufRead>>,
}

impl Playing {
    /// One whose agents wait at a gate.
    fn held(home: &TestHome, gate: &Gate, args: &[String]) -> Self {
        Self::spawn(home.command(&refs(args)).env("PATH", gate.path()))
    }

    fn spawn(command: &mut Command) -> Self {
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("stamina runs");
        let reader: Box<dyn std::io::BufRead> =
            Box::new(BufReader::new(child.stdout.take().expect("its output")));
        Self { child, lines: reader.lines() }
    }

    /// Closes the reading end.
    fn leave(&mut self) {
        let nothing: Box<dyn std::io::BufRead> = Box::new(std::io::empty());
        self.lines = nothing.lines();
    }

    fn until(&mut self, name: &str) -> Value {
        for line in self.lines.by_ref() {
            let event: Value = serde_json::from_str(&line.expect("a line")).expect("an event");
            if event["event"] == name {
                return event;
            }
        }
        let mut message = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().expect("stderr"), &mut message)
            .expect("text");
        panic!("it ended without {name}: {message}");
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
    }

    fn code(mut self) -> Option<i32> {
        for line in self.lines.by_ref() {
            line.expect("a line");
        }
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Looks until it is so; panics where that takes minutes.
fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed().as_secs() < 240, "not in four minutes: {what}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn attempts_of(folder: &Path) -> Vec<(u64, u64)> {
    let text = std::fs::read_to_string(folder.join("scenario_0/trajectory.json")).expect("a trajectory");
    let trajectory: Value = serde_json::from_str(&text).expect("JSON");
    trajectory["turns"]
        .as_array()
        .expect("turns")
        .iter()
        .flat_map(|turn| {
            let number = turn["turn"].as_u64().expect("its number");
            turn["attempts"]
                .as_array()
                .expect("attempts")
                .iter()
                .map(move |a| (number, a["attempt"].as_u64().expect("its number")))
        })
        .collect()
}

#[test]
fn ctrl_c_stops_a_run_and_a_resume_continues_it() {
    let home = TestHome::new();
    let gate = Gate::new(&home, 1);
    let mut playing = Playing::held(&home, &gate, &small(1, 6));
    playing.until("attempt");
    playing.signal("INT");
    assert_eq!(playing.until("finished")["how"]["how"], "stopped");
    assert_eq!(playing.code(), Some(130));
    let state = home.json(&["status", "results"]);
    assert_eq!(
        (&state["state"]["state"], &state["state"]["finish"]["how"]),
        (&Value::from("ended"), &Value::from("stopped"))
    );
    // Nobody plays it, so there is nothing to stop.
    let stop = home.stamina(&["stop", "results"]);
    assert_eq!(stop.status.code(), Some(1));
    assert!(text(&stop.stderr).contains("Resume it"), "{}", text(&stop.stderr));

    let output = home.stamina(&["resume", "results", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let answer = events(&output.stdout);
    assert_eq!((&answer[0]["event"], &answer[0]["resumed"]), (&Value::from("started"), &Value::from(true)));
    let expected: Vec<(u64, u64)> = (1..=6).map(|turn| (turn, 1)).collect();
    assert_eq!(attempts_of(&home.path("results")), expected);
}

#[test]
fn a_reader_that_exits_stops_the_run_and_a_resume_continues_it() {
    let home = TestHome::new();
    let gate = Gate::new(&home, 1);
    let mut playing = Playing::held(&home, &gate, &small(1, 12));
    playing.until("attempt");
    playing.leave();
    // The end of the next attempt finds nobody who reads.
    gate.allow(2);
    assert_eq!(playing.code(), Some(130), "and not 0: it has not finished");
    let state = home.json(&["status", "results"]);
    assert_eq!(state["state"]["finish"]["how"], "stopped");
    let output = home.stamina(&["resume", "results", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(attempts_of(&home.path("results")).len(), 12);
}

#[test]
fn a_reader_that_reads_nothing_does_not_hold_up_the_stop() {
    let home = TestHome::new();
    let gate = Gate::new(&home, 20);
    let mut command = home.command(&refs(&small(1, 30)));
    command.env("PATH", gate.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("stamina runs");
    let stdout = child.stdout.take().expect("its output");
    // It holds the events of about eight turns, and nobody takes one.
    rustix::pipe::fcntl_setpipe_size(&stdout, 4096).expect("a small pipe");
    let unread: Box<dyn std::io::BufRead> = Box::new(BufReader::new(stdout));
    let playing = Playing { child, lines: unread.lines() };
    let status = || home.json(&["status", "results"]);
    eventually("it has begun", || home.path("results/.stamina/run.json").exists());
    let decided = |run: &Value| -> usize {
        let episodes = run["episodes"].as_array().expect("episodes");
        episodes.iter().filter_map(|episode| episode["cells"].as_array()).map(Vec::len).sum()
    };
    eventually("fifteen turns", || decided(&status()) >= 15);
    playing.signal("INT");
    eventually("it is stopped", || status()["state"]["state"] == "ended");
    assert_eq!(playing.code(), Some(130), "what was told is still there to be read");
}

/// A run that another program starts, and whose agents wait at a gate.
fn begun_by(home: &TestHome, gate: &Gate, by: &[&str], args: &[String]) -> Playing {
    let mut stamina = home.command(&refs(args));
    stamina.env("PATH", gate.path());
    let mut command = Command::new(by[0]);
    command.args(&by[1..]).arg(stamina.get_program()).args(stamina.get_args()).stdin(Stdio::null());
    command.envs(stamina.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(stamina.get_current_dir().expect("a folder of its own"));
    Playing::spawn(&mut command)
}

#[test]
fn a_terminal_that_is_closed_stops_the_run_unless_it_was_told_to_live_on() {
    let home = TestHome::new();
    // These tests may themselves have been told to live on.
    let gate = Gate::new(&home, 1);
    let mut playing = begun_by(&home, &gate, &["env", "--default-signal=HUP"], &small(1, 40));
    playing.until("attempt");
    playing.signal("HUP");
    assert_eq!(playing.code(), Some(130));

    let home = TestHome::new();
    let gate = Gate::new(&home, 1);
    let mut playing = begun_by(&home, &gate, &["nohup"], &small(1, 3));
    playing.until("attempt");
    playing.signal("HUP");
    gate.open();
    assert_eq!(playing.until("finished")["how"]["how"], "finished");
    assert_eq!(playing.code(), Some(0));
}

#[test]
fn another_terminal_pauses_continues_and_stops() {
    let home = TestHome::new();
    let gate = Gate::new(&home, 1);
    let mut playing = Playing::held(&home, &gate, &small(1, 40));
    playing.until("attempt");
    let message = home.json(&["pause", "results"]);
    assert!(message["wish"].as_str().is_some_and(|wish| wish.starts_with("pausing")));
    home.json(&["pause", "results", "--continue"]);
    gate.allow(2);
    playing.until("attempt");
    let running = home.json(&["status", "results"]);
    assert_eq!(running["state"]["state"], "running");
    let answer = home.stamina(&["status", "results"]);
    let answer = text(&answer.stdout);
    assert!(answer.contains("simulated: running") && answer.contains("no cost (simulated)"), "{answer}");
    assert!(
        answer.contains(" of 40 turns decided, 0 of 1 episode over") && answer.contains("last event 20"),
        "{answer}"
    );
    assert!(!answer.contains("cost unknown"), "{answer}");
    home.json(&["stop", "results"]);
    assert_eq!(playing.code(), Some(130));
}

#[test]
fn an_episode_that_its_agent_did_not_end_is_continued() {
    let home = TestHome::new();
    let retry = |episode: &str| home.stamina(&["retry", "results", episode]);
    // Each episode ends by its budget after its first attempt.
    let gate = Gate::new(&home, 1);
    let mut playing = Playing::held(&home, &gate, &with_args(small(12, 2), &["limits.episode.tokens=1"]));
    let first = playing.until("episode");
    assert_eq!(first["end_reason"], "budget");
    let answer = retry(first["episode"].as_str().expect("a name"));
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    assert!(text(&answer.stderr).contains("retried"), "{}", text(&answer.stderr));
    let unknown = retry("scenario_99");
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("no episode scenario_99"), "{}", text(&unknown.stderr));
    gate.open();
    let again = (0..14).any(|_| playing.until("episode")["episode"] == first["episode"]);
    assert!(again, "it is taken up again while the run goes on");
    assert_eq!(playing.code(), Some(0));

    // What an agent ended is a result.
    let home = TestHome::new();
    let bad = [
        "oracle.defect_rate=1",
        "oracle.repair=0",
        "fail_stop=true",
        "restful_server_gen_iterative.attempt_limit=1",
    ];
    let gate = Gate::new(&home, 1);
    let mut playing = Playing::held(&home, &gate, &with_args(small(12, 2), &bad));
    let first = playing.until("episode");
    assert_eq!(first["end_reason"], "tests_failed");
    let folder = home.path("results").display().to_string();
    let asked = json!({ "folder": folder, "action": { "do": "retry", "episode": first["episode"] } });
    let answer = home.stamina(&["rpc", "control_run", &asked.to_string()]);
    assert!(
        !answer.status.success() && text(&answer.stderr).contains("is a result, and stays"),
        "{}",
        text(&answer.stderr)
    );
    home.json(&["stop", "results"]);
    playing.code();
}

#[test]
fn a_budget_ends_a_run_and_a_larger_one_continues_it() {
    let home = TestHome::new();
    let output = home.stamina(&refs(&with_args(small(1, 3), &["limits.run.tokens=1"])));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let answer = events(&output.stdout);
    assert!(named(&answer, "budget").iter().any(|b| !b["over"].is_null()), "{answer:?}");
    assert_eq!(answer.last().expect("events")["how"]["how"], "budget");
    // The folder says so as well: why the run ended, and what the attempt that it cut off has cost and left.
    let read = |name: &str| -> Value {
        let text = std::fs::read_to_string(home.path("results").join(name)).expect("a file");
        serde_json::from_str(&text).expect("JSON")
    };
    assert_eq!(read("report.json")["run"]["end_reason"], "budget");
    let trajectory = read("scenario_0/trajectory.json");
    assert_eq!((&trajectory["end_reason"], &trajectory["finished_at"]), (&json!("budget"), &Value::Null));
    let attempt = &trajectory["turns"][0]["attempts"][0];
    assert_eq!((&attempt["verdict"], &attempt["end_reason"]), (&json!("unfinished"), &json!("budget")));
    assert_eq!(attempt["exception"]["message"], "the run's budget of tokens is spent");
    assert!(attempt["tokens"]["input"].as_u64() > Some(0), "{attempt}");
    let transcript = attempt["files"]["transcript"].as_str().expect("a transcript");
    assert!(home.path("results/scenario_0").join(transcript).is_file());
    let results = home.path("results");
    home.json(&["ingest", results.to_str().expect("UTF-8")]);
    let run = &home.json(&["runs"])[0];
    assert_eq!((&run["end_reasons"], &run["warnings"]), (&json!({ "budget": 1 }), &json!(0)), "{run}");
    assert_eq!((&run["stamina"]["events"], &run["stamina"]["censored"]), (&json!(0), &json!(1)));
    let output = home.stamina(&["resume", "results", "--values", "limits.run.tokens=100000000", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(attempts_of(&home.path("results")), [(1, 1), (2, 1), (3, 1)]);
    assert_eq!(read("report.json")["run"]["end_reason"], Value::Null);
}

/// The price that a resume goes by is in the user's table; without one a budget in dollars would hold nothing back.
#[test]
fn a_resume_prices_a_run_that_began_without_a_price() {
    let home = TestHome::new();
    let output = home.stamina(&refs(&with_args(small(1, 3), &["limits.run.tokens=1"])));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    // The same as if a model at an endpoint had been asked, in an image that is not there: nothing is played.
    let file = home.path("results/.stamina/run.json");
    let read = || -> Value { serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON") };
    let mut run = read();
    run["settings"]["endpoint"] =
        json!({ "mode": "gateway", "base_url": "http://127.0.0.1:9", "key": "none" });
    (run["settings"]["model"], run["settings"]["use_docker"]) = (json!("acme/new"), json!(true));
    run["harness"]["image"] = json!("stamina/not-there:0");
    std::fs::write(&file, run.to_string()).expect("a file");
    let resume = || {
        let mut command = home.command(&[
            "resume",
            "results",
            "--trust",
            "--keep",
            "endpoint",
            "key",
            "--values",
            "limits.run.usd=5",
        ]);
        command.env("XDG_CONFIG_HOME", home.path("config")).output().expect("stamina runs")
    };
    let answer = resume();
    assert_eq!(answer.status.code(), Some(2), "{}", text(&answer.stderr));
    assert!(text(&answer.stderr).contains("the price of acme/new is not known"), "{}", text(&answer.stderr));
    // The app shows the same in its dialog.
    let app = Served::new(&home);
    let digest = app.get("run_trust", &json!({ "folder": home.path("results") }))["digest"].clone();
    let trust = json!({ "digest": digest, "keep_endpoint": true, "keep_key": true });
    let asked = json!({ "folder": home.path("results"), "changes": ["limits.run.usd=5"], "trust": trust });
    let refused = app.ask("resume_run", &asked).expect_err("refused");
    assert!(
        refused["message"].as_str().is_some_and(|message| message.contains("price of acme/new")),
        "{refused}"
    );
    drop(app);

    std::fs::create_dir_all(home.path("config/stamina-lab")).expect("a folder");
    let table = "[models.\"acme/new\"]\ninput = 3.0\noutput = 15.0\n";
    std::fs::write(home.path("config/stamina-lab/prices.toml"), table).expect("a file");
    let answer = resume();
    assert!(!text(&answer.stderr).contains("price"), "{}", text(&answer.stderr));
    assert_eq!(read()["settings"]["price"], json!({ "input": 3.0, "output": 15.0 }));
}

/// Its folder may come from somebody else, and nobody looks at what it binds before it is resumed.
#[test]
fn a_run_that_binds_the_whole_machine_is_not_resumed() {
    let home = TestHome::new();
    let output = home.stamina(&refs(&with_args(small(1, 3), &["limits.run.tokens=1"])));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let file = home.path("results/.stamina/run.json");
    let mut run: Value = serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
    run["settings"]["use_docker"] = json!(true);
    run["settings"]["extra"]["binds"] = json!(["/:/host"]);
    run["harness"]["image"] = json!("stamina/not-there:0");
    std::fs::write(&file, run.to_string()).expect("a file");
    let answer = home.stamina(&["resume", "results"]);
    assert!(!answer.status.success());
    assert!(text(&answer.stderr).contains("/ is this whole machine"), "{}", text(&answer.stderr));
    let app = Served::new(&home);
    let asked = json!({ "folder": home.path("results"), "changes": [] });
    let refused = app.ask("resume_run", &asked).expect_err("refused");
    assert_eq!(refused["code"], "run.binds", "{refused}");
}

#[test]
fn wrong_arguments_are_reported_before_anything_is_created() {
    let home = TestHome::new();
    let message = |code: i32, args: &[&str]| {
        let output = home.stamina(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        text(&output.stderr)
    };
    let answer = message(2, &["run"]);
    assert!(
        answer.contains("The arguments name nothing to run") && answer.contains("--values agent=MOCK"),
        "{answer}"
    );
    let answer = message(2, &["run", "--values", "agent=MOCK", "output_dir=r", "limits.memry_gib=3"]);
    assert!(
        answer.contains("The nearest is \"limits.memory_gib\"") && answer.contains("docs/cli.md"),
        "{answer}"
    );
    let answer = message(2, &["run", "--values", "agent=MOCK"]);
    assert!(answer.contains("output_dir: it is not given"), "{answer}");
    let answer = message(
        2,
        &["run", "--values", "agent=CODEX", "output_dir=r", "endpoint.base_url=http://127.0.0.1:9"],
    );
    assert!(answer.contains("codex.model_id: it is not given"), "{answer}");
    let answer = message(1, &["run", "--values", "agent=MOCK", "output_dir=r", "scenarios_dir=nowhere"]);
    assert!(answer.contains("Pack: cannot be read"), "{answer}");
    let answer = message(2, &["run", "--configs", "absent.yaml"]);
    assert!(answer.contains("absent.yaml"), "{answer}");
    let answer = message(1, &["resume", "nowhere"]);
    assert!(answer.contains("no run") && answer.contains("hint"), "{answer}");
    assert!(!home.path("r").exists());
}

#[test]
fn a_preflight_says_what_a_run_will_take() {
    let home = TestHome::new();
    std::fs::write(home.path("c.yaml"), "agent: MOCK\noutput_dir: results\nquick_debug: true\n")
        .expect("a file");
    let found = home.json(&["preflight", "--configs", "c.yaml"]);
    assert_eq!(found["can_start"], true);
    let ids: Vec<&str> =
        found["checks"].as_array().expect("checks").iter().filter_map(|c| c["id"].as_str()).collect();
    assert_eq!(ids, ["engine", "pack", "endpoint", "folder", "disk"]);
    assert_eq!(
        (&found["estimate"]["turns"], &found["estimate"]["attempts_at_most"]),
        (&Value::from(4), &Value::from(40))
    );
    assert_eq!(found["estimate"]["seconds"], Value::Null, "there is no earlier run to go by");

    std::fs::create_dir(home.path("results")).expect("a folder");
    std::fs::write(home.path("results/x"), "x").expect("a file");
    let output = home.stamina(&["preflight", "--configs", "c.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("not empty"), "{}", text(&output.stdout));

    let ask = "endpoint.base_url=http://127.0.0.1:9";
    let output = home.stamina(&[
        "preflight",
        "--json",
        "--values",
        "agent=MINI_SWE",
        "output_dir=new",
        "mini_swe.model_id=m",
        ask,
        "endpoint.key_env=STAMINA_NO_SUCH_KEY",
    ]);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let endpoint = found["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .find(|c| c["id"] == "endpoint")
        .cloned()
        .expect("it");
    assert_eq!(
        (&endpoint["state"], &endpoint["value"]),
        (&Value::from("fail"), &Value::from("STAMINA_NO_SUCH_KEY not set"))
    );
}

#[test]
fn nothing_is_estimated_of_a_pack_that_cannot_be_read() {
    let home = TestHome::new();
    std::fs::create_dir(home.path("empty")).expect("a folder");
    std::fs::write(home.path("no.zip"), "not a zip").expect("a file");
    std::fs::create_dir(home.path("hostile")).expect("a folder");
    let manifest =
        r#"{"format":"staminabench-pack","scenarios":[{"folder":"../../etc","turns":4294967295}]}"#;
    std::fs::write(home.path("hostile/manifest.json"), manifest).expect("a file");
    for pack in ["nowhere", "empty", "no.zip", "hostile"] {
        let pack = format!("scenarios_dir={pack}");
        let values = ["preflight", "--no-call", "--values", "agent=MOCK", "output_dir=r", &pack];
        let output = home.stamina(&[&values[..1], &["--json"], &values[1..]].concat());
        assert_eq!(output.status.code(), Some(1), "{pack}");
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((&found["estimate"], &found["can_start"]), (&Value::Null, &Value::from(false)), "{pack}");
        let checks = found["checks"].as_array().expect("checks");
        let check_of = |id: &str| checks.iter().find(|check| check["id"] == id).expect("a check").clone();
        assert_eq!(check_of("pack")["state"], "fail", "{pack}");
        assert!(!check_of("disk").to_string().contains("turns need about"), "{}", check_of("disk"));
        let message = text(&home.stamina(&values).stdout);
        assert!(message.contains("There is no estimate") && !message.contains("1000000"), "{message}");
    }
}

#[test]
fn the_app_begins_a_run_shows_it_live_and_steers_it() {
    let home = TestHome::new();
    // Some of its sixty turns are played, and the others after it is resumed.
    let gate = Gate::new(&home, 20);
    let app = Served::with_command(&home, |command| {
        command.env("PATH", gate.path());
    });
    let form = app.get("launch_form", &json!({}));
    let mut settings = form["defaults"].clone();
    settings["agent"] = json!("mock");
    settings["endpoint_mode"] = json!("oracle");
    settings["oracle_stack"] = json!("native");
    settings["use_docker"] = json!(false);
    settings["n_scenarios"] = json!(2);
    settings["n_turns"] = json!(30);
    settings["num_changes_per_turn"] = json!(1);
    let folder = home.path("results");
    settings["output_dir"] = json!(folder);
    let check = app.get("check_settings", &settings);
    assert_eq!(check["errors"], json!([]));
    assert!(check["command_values"].as_str().is_some_and(|line| line.contains("agent=MOCK")), "{check}");
    let found = app.get("preflight_run", &json!({ "settings": settings, "call": false }));
    assert_eq!((&found["can_start"], &found["estimate"]["turns"]), (&json!(true), &json!(60)), "{found}");

    let mut wrong = settings.clone();
    wrong["output_dir"] = json!("relative");
    let error = app.ask("start_run", &json!({ "settings": wrong, "shakedown": false })).expect_err("refused");
    assert_eq!(error["code"], "settings.value");

    let begun = app.get("start_run", &json!({ "settings": settings, "shakedown": false }));
    assert_eq!(begun["folder"], json!(folder));
    let run_ref = json!({ "folder": folder });
    let live = app.until("get_live_run", &run_ref, |run| {
        run["row"]["turns"][0].as_u64() > Some(1) && !run["row"]["run"].is_null()
    });
    assert_eq!((&live["row"]["state"], &live["row"]["simulated"]), (&json!("running"), &json!(true)));
    assert_eq!(live["episodes"].as_array().map(Vec::len), Some(2));
    assert_eq!(app.get("list_live_runs", &json!({}))["live"], 1);
    let survival = app.get("run_survival", &json!({ "run": live["row"]["run"] }));
    assert!(survival["rows"].is_array());
    let again =
        app.ask("start_run", &json!({ "settings": settings, "shakedown": false })).expect_err("refused");
    assert_eq!(again["code"], "run.preflight");

    // One episode is played at a time, and either may be the first.
    let is_begun = |episode: &&Value| episode["cells"].as_array().is_some_and(|cells| !cells.is_empty());
    let episodes = live["episodes"].as_array().expect("episodes");
    let first = &episodes.iter().find(is_begun).expect("turns were played")["name"];
    let log = json!({ "folder": folder, "episode": first, "which": "gateway", "from": null });
    app.until("live_log", &log, |answer| {
        answer["lines"].as_array().is_some_and(|lines| lines.iter().any(|l| l["kind"] == "model"))
    });

    app.get("control_run", &json!({ "folder": folder, "action": { "do": "stop" } }));
    let ended = app.until("get_live_run", &run_ref, |run| run["row"]["state"] == "stopped");
    let error =
        app.ask("control_run", &json!({ "folder": folder, "action": { "do": "pause" } })).expect_err("over");
    assert_eq!(error["code"], "run.not_live");
    let decided = ended["row"]["turns"][0].as_u64().expect("a number");

    gate.allow(40);
    app.get("resume_run", &json!({ "folder": folder, "changes": [] }));
    app.until("get_live_run", &run_ref, |run| run["row"]["turns"][0].as_u64() > Some(decided));
    app.get("control_run", &json!({ "folder": folder, "action": { "do": "stop" } }));
    app.until("get_live_run", &run_ref, |run| run["row"]["state"] == "stopped");
    let changed =
        app.get("load_settings", &json!({ "yaml": null, "file": null, "run": null, "folder": folder }));
    assert_eq!(changed["settings"]["n_turns"], json!(30.0));
    assert_ne!(changed["settings"]["output_dir"], json!(folder), "that folder is taken");
}

#[test]
fn a_shakedown_is_short_and_stays_out_of_the_library() {
    let home = TestHome::new();
    let app = Served::new(&home);
    let mut settings = app.get("launch_form", &json!({}))["defaults"].clone();
    settings["agent"] = json!("mock");
    settings["use_docker"] = json!(false);
    settings["oracle_stack"] = json!("native");
    // Nothing is said of an endpoint yet: none is needed.
    assert_eq!(settings["endpoint_mode"], "oracle");
    let begun = app.get("start_run", &json!({ "settings": settings, "shakedown": true }));
    let run_ref = json!({ "folder": begun["folder"] });
    let over = app.until("get_live_run", &run_ref, |run| run["row"]["state"] == "finished");
    assert_eq!((&over["row"]["shakedown"], &over["row"]["turns"]), (&json!(true), &json!([3, 3])));
    let verdict = &over["row"]["verdict"];
    assert_eq!(
        (&verdict["works"], &verdict["passed"], &verdict["turns"]),
        (&json!(true), &json!(3), &json!(3))
    );
    assert_eq!(app.get("list_runs", &json!({}))["total"], 0);

    // It is one after a restart of the app as well; when it is old it goes, and nothing else that lies there.
    drop(app);
    let folder = PathBuf::from(begun["folder"].as_str().expect("a path"));
    let beside = folder.with_file_name("mock-1-99");
    std::fs::create_dir(&beside).expect("a folder");
    let app = Served::new(&home);
    let listed = app.get("list_live_runs", &json!({}));
    assert_eq!(listed["runs"][0]["shakedown"], true, "{listed}");
    assert_eq!(listed["runs"][0]["verdict"]["works"], true, "{listed}");
    assert_eq!(listed["runs"].as_array().expect("a list").len(), 1, "{listed}");
    drop(app);
    let record =
        std::fs::File::options().write(true).open(folder.join(".stamina/run.json")).expect("a record");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(72);
    record.set_modified(long_ago).expect("a time");
    let app = Served::new(&home);
    app.until("list_live_runs", &json!({}), |list| {
        list["runs"].as_array().is_some_and(Vec::is_empty) && !folder.exists()
    });
    assert!(beside.exists());
}

/// A smoke test that fails names the turn and the reason.
#[test]
fn a_shakedown_says_what_does_not_work() {
    let home = TestHome::new();
    // The mock agent is a Python script; here Python is out of order.
    std::fs::create_dir(home.path("bin")).expect("a folder");
    let python = home.path("bin/python3");
    std::fs::write(&python, "#!/bin/sh\necho 'no module named site' >&2\nexit 3\n").expect("a script");
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
    let path = format!("{}:{}", home.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    let app = Served::with_command(&home, |command| {
        command.env("PATH", path);
    });
    let mut settings = app.get("launch_form", &json!({}))["defaults"].clone();
    settings["agent"] = json!("mock");
    settings["use_docker"] = json!(false);
    settings["oracle_stack"] = json!("native");
    settings["attempt_limit"] = json!(5);
    let begun = app.get("start_run", &json!({ "settings": settings, "shakedown": true }));
    let run_ref = json!({ "folder": begun["folder"] });
    let over = app.until("get_live_run", &run_ref, |run| run["row"]["state"] == "finished");
    let verdict = &over["row"]["verdict"];
    assert_eq!(
        (&verdict["works"], &verdict["passed"], &verdict["turn"]),
        (&json!(false), &json!(0), &json!(1))
    );
    assert_eq!(verdict["reason"], "agent_error");
    assert!(
        verdict["message"].as_str().is_some_and(|message| message.contains("no module named site")),
        "{verdict}"
    );
    // One attempt is enough to know.
    assert_eq!(over["episodes"][0]["attempt"], 1);
}

#[test]
fn the_help_says_what_exit_codes_mean_and_gives_examples() {
    let home = TestHome::new();
    let help = |args: &[&str]| {
        let output = home.stamina(args);
        assert!(output.status.success());
        // Lines are wrapped to the terminal's width.
        text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let run = help(&["run", "--help"]);
    for message in [
        "0 when finished, 130 when stopped, 3 when a budget ended it",
        "--configs <FILE>...",
        "stamina resume",
        "Examples:",
    ] {
        assert!(run.contains(message), "{message}: {run}");
    }
    assert!(help(&["images", "build", "--help"]).contains("proxy that inspects TLS"));
    assert!(help(&["clean", "--help"]).contains("Results are never changed"));
    assert!(help(&["harnesses"]).contains("CLAUDE_CODE"));
}
