//! What a resume continues, prices and refuses.

use serde_json::{Value, json};

use crate::app::{Gate, Served, TestHome, text};
use crate::run::playing::Playing;
use crate::run::{attempts_of, events, named, refs, small, with_args};

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
    let request = json!({ "folder": folder, "action": { "do": "retry", "episode": first["episode"] } });
    let answer = home.stamina(&["rpc", "control_run", &request.to_string()]);
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
    let request = json!({ "folder": home.path("results"), "changes": ["limits.run.usd=5"], "trust": trust });
    let refused = app.ask("resume_run", &request).expect_err("refused");
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
    let request = json!({ "folder": home.path("results"), "changes": [] });
    let refused = app.ask("resume_run", &request).expect_err("refused");
    assert_eq!(refused["code"], "run.binds", "{refused}");
}
