//! `stamina generate` with a model behind a scripted endpoint, and its packs without one.

#[path = "../../llm-sampler/tests/endpoint/mod.rs"]
mod endpoint;

use std::path::Path;
use std::process::{Command, Output};

use endpoint::{Endpoint, Reply, UNUSED_ADDRESS};
use serde_json::{Value, json};

use crate::app;

const KEY: &str = "sk-a-key-that-must-not-be-seen";

fn stamina(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stamina"))
        .current_dir(folder)
        .args(args)
        .arg("--json")
        .env("SCRIPTED_KEY", KEY)
        .env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        .env("AWS_SECRET_ACCESS_KEY", KEY)
        .env_remove("AWS_SESSION_TOKEN")
        .env_remove("AWS_BEARER_TOKEN_BEDROCK")
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .output()
        .expect("stamina runs")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on standard output")
}

const SMALL: [&str; 4] = [
    "restful_server_gen_iterative.use_llm_sampler=true",
    "restful_server_gen_iterative.n_scenarios=2",
    "restful_server_gen_iterative.n_turns=3",
    "restful_server_gen_iterative.num_changes_per_turn=2",
];

fn generate(folder: &Path, values: &[&str]) -> Output {
    stamina(folder, &[&["generate", "--out", "pack", "--values"], &SMALL[..], values].concat())
}

/// Every file of a folder, one after the other.
fn all_text(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            text.push_str(&all_text(&path));
        } else {
            text.push_str(&String::from_utf8_lossy(&std::fs::read(&path).expect("a file")));
        }
    }
    text
}

fn replays(folder: &Path, pack_json: &Value) {
    let again = json(&stamina(folder, &["generate", "--replay", "pack", "--out", "again"]));
    assert_eq!(again["sha256"], pack_json["sha256"]);
    let checked = json(&stamina(folder, &["generate", "--check", "pack/manifest.json"]));
    assert_eq!(checked["same"], true);
}

#[test]
fn a_pack_that_a_model_helped_to_make_replays_without_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let endpoint = Endpoint::start(|request| {
        Reply::Says(if request.number % 5 == 4 { "No.".to_owned() } else { request.good_change() })
    });
    let url = format!("llm_sampler.base_url={}", endpoint.base_url());
    let pack_json = json(&generate(folder.path(), &[&url, "llm_sampler.key_variable=SCRIPTED_KEY"]));
    assert_eq!((pack_json["scenarios"].as_u64(), pack_json["turns"].as_u64()), (Some(2), Some(3)));
    assert!(endpoint.requests().iter().all(|request| request.authorization == format!("Bearer {KEY}")));
    drop(endpoint);

    // Two first schemas and eight changes were asked for.
    let answers = &pack_json["answers"];
    let number = |counts: &Value, key: &str| counts[key].as_u64().expect("a number");
    assert_eq!(number(answers, "taken") + number(answers, "filled"), 2 + 8);
    assert!(number(answers, "refused") > 0);
    let changes = &answers["by_purpose"]["change"];
    assert_eq!(number(changes, "taken") + number(changes, "filled"), 8);

    let text = all_text(&folder.path().join("pack"));
    assert!(text.contains("origin: model") && text.contains("_of_model") && !text.contains(KEY));
    replays(folder.path(), &pack_json);
}

/// The manifest without the hashes, as text.
fn manifest(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("pack/manifest.json")).expect("a manifest"))
        .expect("JSON")
}

#[test]
fn a_generation_that_breaks_off_keeps_its_answers_and_is_gone_on_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("pack.answers.jsonl");
    let breaks = Endpoint::start(|request| match request.number {
        0..5 => Reply::Says(request.good_change()),
        _ => Reply::Http(401, Vec::new(), "{\"error\": \"over\"}".to_owned()),
    });
    let url = format!("llm_sampler.base_url={}", breaks.base_url());
    let output = generate(folder.path(), &[&url, "llm_sampler.calls_at_once=1"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("pack.answers.jsonl"), "{message}");
    assert_eq!(std::fs::read_to_string(&kept).expect("it is there").lines().count(), 1 + 5);
    assert!(!folder.path().join("pack").exists());
    drop(breaks);

    // Not by other settings: what was asked for is another thing then.
    let whole = Endpoint::start(|request| Reply::Says(request.good_change()));
    let url = format!("llm_sampler.base_url={}", whole.base_url());
    let other = generate(folder.path(), &[&url, "restful_server_gen_iterative.base_seed=7"]);
    assert!(!other.status.success() && String::from_utf8_lossy(&other.stderr).contains("other settings"));
    assert!(kept.exists() && whole.requests().is_empty());

    let pack_json = json(&generate(folder.path(), &[&url]));
    assert!(!kept.exists(), "the answers are in the pack");
    // Per scenario: up to three attempts for the first schema and for each of four changes.
    let answers = all_text(&folder.path().join("pack/scenario_0/answers")).matches("\"purpose\"").count()
        + all_text(&folder.path().join("pack/scenario_1/answers")).matches("\"purpose\"").count();
    assert_eq!(whole.requests().len() + 5, answers);
    drop(whole);
    replays(folder.path(), &pack_json);
}

#[test]
fn a_first_schema_that_took_the_place_of_an_answer_is_marked() {
    let folder = tempfile::tempdir().expect("a folder");
    // What is said for changes is no design of a first schema.
    let endpoint = Endpoint::start(|request| Reply::Says(request.good_change()));
    let url = format!("llm_sampler.base_url={}", endpoint.base_url());
    json(&generate(folder.path(), &[&url]));
    assert_eq!(manifest(folder.path())["scenarios"][0]["origin"], "replaced");
}

#[test]
fn a_replay_that_comes_out_otherwise_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    json(&stamina(folder.path(), &[&["generate", "--out", "pack", "--values"], &SMALL[1..]].concat()));
    let same = json(&stamina(folder.path(), &["generate", "--replay", "pack", "--out", "again"]));
    assert_eq!(same["same"], true);
    // The manifest of other settings than the pack was made by.
    let manifest_path = folder.path().join("pack/manifest.json");
    let text = std::fs::read_to_string(&manifest_path).expect("a manifest");
    std::fs::write(&manifest_path, text.replace("seed\": 42", "seed\": 43")).expect("it is written");
    let output = stamina(folder.path(), &["generate", "--replay", "pack", "--out", "other"]);
    assert_eq!(output.status.code(), Some(1));
    let message: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&message["same"], &message["expected"]), (&Value::Bool(false), &same["sha256"]));
    assert_ne!(message["sha256"], message["expected"]);
}

#[test]
fn a_generation_that_waits_for_a_model_ends_at_once_and_leaves_the_answers_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let (sender, numbers) = std::sync::mpsc::channel();
    let endpoint = Endpoint::start(move |request| {
        let _ = sender.send(request.number);
        if request.number < 3 { Reply::Says(request.good_change()) } else { Reply::Hangs }
    });
    let url = format!("llm_sampler.base_url={}", endpoint.base_url());
    let child = Command::new(env!("CARGO_BIN_EXE_stamina"))
        .current_dir(folder.path())
        .args([&["generate", "--out", "pack", "--values"], &SMALL[..], &[url.as_str()]].concat())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("stamina runs");
    while numbers.recv_timeout(std::time::Duration::from_mins(1)).expect("it is asked") < 3 {}
    let started = std::time::Instant::now();
    let ended = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(ended.expect("kill runs").success());
    let output = child.wait_with_output().expect("it ends");
    assert!(started.elapsed().as_secs() < 100, "a call may take two minutes");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("one").file_name())
        .collect();
    assert_eq!(left, ["pack.answers.jsonl"]);
}

#[cfg(feature = "bedrock")]
#[test]
fn bedrock_is_taken_without_a_base_url() {
    let folder = tempfile::tempdir().expect("a folder");
    let endpoint = Endpoint::start(|request| Reply::Says(request.good_change()));
    let url = format!("llm_sampler.endpoint_url={}", endpoint.endpoint_url());
    let pack_json = json(&generate(folder.path(), &[&url, "llm_sampler.region=eu-west-1"]));
    let requests = endpoint.requests();
    assert!(requests.iter().all(|request| request.path == "/model/zai.glm-5/converse"));
    assert!(
        requests[0].authorization.contains("AKIDEXAMPLE") && requests[0].authorization.contains("eu-west-1")
    );
    drop(endpoint);
    assert!(!all_text(&folder.path().join("pack")).contains(KEY));
    replays(folder.path(), &pack_json);
}

#[test]
fn what_is_wrong_with_an_endpoint_is_said_and_no_pack_is_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let denied = Endpoint::start(|_| Reply::Http(401, Vec::new(), format!("{{\"error\": \"no {KEY}\"}}")));
    let denied_url = format!("llm_sampler.base_url={}", denied.base_url());
    let nobody = format!("llm_sampler.base_url={UNUSED_ADDRESS}/v1");
    for (values, message) in [
        (vec![denied_url.as_str(), "llm_sampler.key_variable=SCRIPTED_KEY"], "401"),
        (vec![nobody.as_str(), "llm_sampler.timeout_seconds=0"], "timeout_seconds"),
        (vec!["llm_sampler.base_url=nowhere"], "nowhere"),
        (vec!["llm_sampler.base_utl=x"], "base_utl"),
    ] {
        let output = generate(folder.path(), &values);
        let text =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && text.contains(message), "{values:?}: {text}");
        assert!(!text.contains(KEY), "{text}");
        assert!(!folder.path().join("pack/manifest.json").exists());
    }
}

#[test]
fn a_run_has_its_scenarios_sampled_first_and_only_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let endpoint = Endpoint::start(|request| Reply::Says(request.good_change()));
    let url = format!("llm_sampler.base_url={}", endpoint.base_url());
    let db = folder.path().join("library.sqlite").display().to_string();
    let run = |out: &str| {
        let out = format!("output_dir={out}");
        let values = [&["--db", &db, "run", "--values", "agent=MOCK", &out, &url], &SMALL[..]].concat();
        stamina(folder.path(), &values)
    };
    let ran = run("results");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let request_count = endpoint.requests().len();
    assert!(request_count > 0);
    // What a preflight warns of is printed before a model is paid for the scenarios, and once.
    let printed = String::from_utf8_lossy(&ran.stderr).into_owned();
    let (before, after) =
        printed.split_once("a model samples the scenarios first, into").expect("it is printed");
    let warned = "What that takes is not in the estimate";
    assert!(before.contains("warning: ") && before.contains(warned), "{printed}");
    assert!(!after.contains(warned), "{printed}");
    let text = all_text(&folder.path().join("results-pack"));
    assert!(text.contains("origin: model") && !text.contains(KEY));
    let played = std::fs::read_to_string(folder.path().join("results/scenario_0/changes/turn_1.md"))
        .expect("a request");
    assert!(text.contains(played.trim()), "what the model sampled is what was played");
    // A folder that is taken is not paid for, and a pack that is there is not made again.
    let again = run("results");
    assert!(
        !again.status.success() && String::from_utf8_lossy(&again.stderr).contains("already contains a run")
    );
    std::fs::remove_dir_all(folder.path().join("results")).expect("it goes");
    assert!(run("results").status.success());
    assert_eq!(endpoint.requests().len(), request_count);
}

/// Two windows that ask for the scenarios of the same run at once have them from one job, whose calls are paid for once.
#[test]
fn two_that_ask_for_a_sampling_at_once_get_one_job() {
    let home = app::TestHome::new();
    // Answers only once both have asked.
    let (go, gate) = std::sync::mpsc::channel::<()>();
    let gate = std::sync::Mutex::new(Some(gate));
    let endpoint = Endpoint::start(move |request| {
        if let Some(gate) = gate.lock().expect("no panic").take() {
            // An error is a test that failed already.
            let _ = gate.recv();
        }
        Reply::Says(request.good_change())
    });
    let app = app::Served::with_command(&home, |command| {
        command.env("SCRIPTED_KEY", KEY);
    });
    let settings = sampled(&app, &home, &endpoint);
    let ask = |settings: &Value| app.ask("sample_scenarios", &json!({ "settings": settings }));
    let job_ids: Vec<Value> = std::thread::scope(|threads| {
        let handles: Vec<_> = (0..2).map(|_| threads.spawn(|| ask(&settings))).collect();
        handles.into_iter().map(|handle| handle.join().expect("no panic").expect("a job")).collect()
    });
    assert_eq!(job_ids[0], job_ids[1]);
    // Others do not get into its place meanwhile.
    let mut other = settings.clone();
    other["base_seed"] = json!("8");
    assert_eq!(ask(&other).expect_err("refused")["code"], "run.sampling");
    go.send(()).expect("the endpoint waits");
    let ended = app.until("get_job", &job_ids[0], |job| job["state"] != "running");
    assert_eq!(ended["state"], "done", "{ended}");
    let jobs = app.get("list_jobs", &json!({}));
    let samplings = jobs["jobs"].as_array().expect("jobs").iter().filter(|job| job["kind"] == "sampling");
    assert_eq!(samplings.count(), 1, "{jobs}");
}

/// The form of a run whose scenarios a model at this endpoint fills in.
fn sampled(app: &app::Served, home: &app::TestHome, endpoint: &Endpoint) -> Value {
    let out = home.path("results").display().to_string();
    let yaml = format!(
        "agent: MOCK\noutput_dir: {out}\nllm_sampler:\n  base_url: {}\n  key_variable: SCRIPTED_KEY\n\
         restful_server_gen_iterative:\n  use_llm_sampler: true\n  n_scenarios: 1\n  n_turns: 2\n  \
         num_changes_per_turn: 1\n",
        endpoint.base_url()
    );
    let request = json!({ "yaml": yaml, "file": null, "run": null, "folder": null });
    let mut settings = app.get("load_settings", &request)["settings"].clone();
    settings["output_dir"] = json!(out);
    settings
}

/// The form's way: the model samples in the background, and the pack that it wrote is what the run is begun with.
#[test]
fn the_app_has_scenarios_sampled_before_a_run() {
    let home = app::TestHome::new();
    let endpoint = Endpoint::start(|request| Reply::Says(request.good_change()));
    let app = app::Served::with_command(&home, |command| {
        command.env("SCRIPTED_KEY", KEY);
    });
    let out = home.path("results").display().to_string();
    let mut settings = sampled(&app, &home, &endpoint);
    let found = app.get("preflight_run", &json!({ "settings": settings, "call": false }));
    assert_eq!(found["can_start"], true, "{found}");
    let job = app.get("sample_scenarios", &json!({ "settings": settings }));
    let ended = app.until("get_job", &job, |job| job["state"] != "running");
    assert_eq!((&ended["state"], &ended["progress"]), (&json!("done"), &json!([2, 2])), "{ended}");
    let pack = format!("{out}-pack");
    assert_eq!(ended["generated"]["path"], json!(pack));
    assert!(all_text(Path::new(&pack)).contains("origin: model"));
    let request_count = endpoint.requests().len();
    assert!(request_count > 0);
    settings["scenarios_dir"] = json!(pack);
    let begun = app.get("start_run", &json!({ "settings": settings, "shakedown": false }));
    let over = app.until("get_live_run", &json!({ "folder": begun["folder"] }), |run| {
        run["row"]["state"] == "finished"
    });
    assert_eq!(over["row"]["turns"], json!([2, 2]));
    assert_eq!(endpoint.requests().len(), request_count, "what was sampled is played");
    // Nothing is to be sampled any more.
    let error = app.ask("sample_scenarios", &json!({ "settings": settings })).expect_err("refused");
    assert_eq!(error["code"], "run.not_sampled");
}
