//! The command line as a script uses it: the real program on real results.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository").join("tests/fixtures")
}

struct Library {
    folder: tempfile::TempDir,
}

impl Library {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder for the library") }
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
}

/// An id ends after 100 letters: two names that differ in their last one have ids that tell nothing of it.
#[test]
fn a_run_is_found_by_the_whole_of_a_long_name() {
    let library = Library::new();
    let long = "a".repeat(119);
    let (first, two) = (format!("{long}1"), format!("{long}2"));
    let table = library.folder.path().join("attempts.csv");
    let rows = format!(
        "run,harness,model,scenario,turn,attempt,passed\n{first},h,first,s,1,1,true\n{two},h,second,t,1,1,false\n"
    );
    std::fs::write(&table, rows).expect("a table");
    library.json(&["ingest", table.to_str().expect("UTF-8")]);
    let runs = library.json(&["runs"]);
    for (name, model) in [(&first, "first"), (&two, "second")] {
        let model_run = runs.as_array().expect("runs").iter().find(|run| run["model"] == model);
        let id = model_run.expect("a run")["id"].as_str().expect("an id");
        assert!(id.len() < name.len(), "{id}");
        assert_eq!(library.json(&["show", name]), library.json(&["show", id]));
    }
    assert_ne!(library.json(&["show", &first]), library.json(&["show", &two]));
    let nobody = library.run(&["show", &long]);
    assert_eq!(nobody.status.code(), Some(1), "a part of a name is no name");
}

#[test]
fn ingesting_is_idempotent_and_the_numbers_are_those_of_the_source() {
    let library = Library::new();
    let jobs = fixtures().join("harbor/jobs/failures-k1");
    let jobs = jobs.to_str().expect("UTF-8");
    let first = library.json(&["ingest", jobs]);
    let source = &first["sources"][0];
    assert_eq!(
        (source["format"].as_str(), source["runs"].as_u64(), source["episodes"].as_u64()),
        (Some("harbor"), Some(1), Some(8))
    );
    assert_eq!(source["unchanged"], 0);
    let runs = library.json(&["runs"]);
    let again = library.json(&["ingest", jobs]);
    assert_eq!(again["sources"][0]["unchanged"].as_u64(), Some(8));
    assert_eq!(again["sources"][0]["turns"], source["turns"]);
    assert_eq!(library.json(&["runs"]), runs, "reading again changes nothing");

    let run = &runs[0];
    assert_eq!(run["baseline"], "oracle");
    assert_eq!(run["runner"]["version"], "0.24.0");
    assert_eq!(run["stamina"]["n"], 8);
    assert!(run["cost_usd"].is_null() && run["tokens"]["input"].is_null(), "unknown is null");
    // facts of the job: Harbor reports a mean of 0.719, recomputed over declared steps it is 0.500
    let reported = run["reported"]["harbor.mean.reward"].as_f64().expect("Harbor's own mean");
    assert!((reported - 0.71875).abs() < 1e-9);

    let id = run["id"].as_str().expect("an id");
    let shown = library.json(&["show", id]);
    assert_eq!(shown["episodes"].as_array().map(Vec::len), Some(8));
    let regression = shown["episodes"]
        .as_array()
        .expect("episodes")
        .iter()
        .find(|e| e["scenario"].as_str().is_some_and(|s| s.contains("v1_")))
        .expect("the regression task");
    let verdicts: Vec<&str> =
        regression["turns"].as_array().expect("turns").iter().filter_map(|t| t["verdict"].as_str()).collect();
    assert_eq!(verdicts.join(" "), "passed passed failed passed");
    assert_eq!((regression["stamina"].as_u64(), regression["failed_turn"].as_u64()), (Some(2), Some(3)));
    assert_eq!(regression["end_reason"], "tests_failed");
    assert!(!regression["turns"][2]["attempts"][0]["failing"].as_array().expect("failing").is_empty());

    let survival = library.json(&["survival", id]);
    let rows = survival.as_array().expect("rows");
    let mut alive = 1.0;
    for row in rows {
        let now = row["survival"].as_f64().expect("survival");
        assert!(now <= alive);
        alive = now;
    }
}

#[test]
fn a_folder_without_results_is_exit_code_2() {
    let library = Library::new();
    let empty = tempfile::tempdir().expect("a folder");
    std::fs::write(empty.path().join("notes.txt"), "nothing here").expect("a file");
    let output = library.run(&["ingest", empty.path().to_str().expect("UTF-8"), "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains("Nothing in") && message.contains("Harbor") && message.contains("StaminaBench"),
        "{message}"
    );
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["errors"][0]["code"], "source.not_recognised");
    assert_eq!(json["sources"].as_array().map(Vec::len), Some(0));
}

#[test]
fn errors_say_what_to_do_and_never_touch_standard_output() {
    let library = Library::new();
    for (args, code) in [
        (vec!["show", "no-such-run"], 1),
        (vec!["ingest", "/no/such/folder"], 2),
        (vec!["close", "nothing"], 1),
    ] {
        let output = library.run(&args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("hint:"), "{args:?}");
    }
}

#[test]
fn a_full_disk_is_a_failure_and_a_reader_that_exits_is_none() {
    let library = Library::new();
    let run = |stdout: std::process::Stdio| {
        Command::new(env!("CARGO_BIN_EXE_stamina"))
            .arg("--db")
            .arg(library.folder.path().join("library.sqlite"))
            .args(["runs", "--json"])
            .stdout(stdout)
            .output()
            .expect("stamina runs")
    };
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let output = run(full.into());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be written"));
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    assert_eq!(run(writer.into()).status.code(), Some(0));
}

#[test]
fn a_censored_episode_has_no_failed_turn() {
    let library = Library::new();
    library.json(&["ingest", fixtures().join("harbor/jobs/failures-k1").to_str().expect("UTF-8")]);
    let shown = library.json(&["show", "failures-k1-oracle"]);
    let episodes = shown["episodes"].as_array().expect("episodes");
    let failed = episodes.iter().filter(|e| !e["failed_turn"].is_null()).count() as u64;
    assert_eq!(Some(failed), shown["stamina"]["events"].as_u64());
    let broken = episodes.iter().find(|e| e["censored"] == true).expect("the environment that was not built");
    assert_eq!(broken["exception"]["type"], "RuntimeError");
}

#[test]
fn closing_a_source_removes_its_runs_and_keeps_its_files() {
    let library = Library::new();
    let jobs = fixtures().join("harbor/jobs/nop-k1");
    library.json(&["ingest", jobs.to_str().expect("UTF-8")]);
    assert_eq!(library.json(&["runs"]).as_array().map(Vec::len), Some(1));
    library.json(&["close", "nop-k1"]);
    assert_eq!(library.json(&["runs"]).as_array().map(Vec::len), Some(0));
    assert!(jobs.join("result.json").is_file());
}

/// Two errors of a program quote words of container engines; one failure is an engine's.
#[test]
fn what_nothing_proves_counts_against_the_agent_and_says_how_much_that_matters() {
    let library = Library::new();
    library.json(&["ingest", fixtures().join("world/docker-words").to_str().expect("UTF-8")]);
    let runs = library.json(&["runs"]);
    let run = &runs[0];
    assert_eq!((run["stamina"]["n"].as_u64(), run["stamina"]["events"].as_u64()), (Some(5), Some(3)));
    assert_eq!(run["unrecognised"], 2);
    assert_eq!(
        run["end_reasons"],
        serde_json::json!({ "agent_error": 2, "environment": 1, "passed_all": 1, "verifier_error": 1 })
    );
    let id = run["id"].as_str().expect("an id");
    let survival = library.json(&["survival", id]);
    assert_eq!((survival[0]["at_risk"].as_u64(), survival[0]["survival"].as_f64()), (Some(4), Some(0.25)));
    let shown = library.json(&["show", id]);
    let marked: Vec<&str> = shown["episodes"]
        .as_array()
        .expect("episodes")
        .iter()
        .filter(|e| e["unrecognised"] == true)
        .filter_map(|e| e["scenario"].as_str())
        .collect();
    assert_eq!(marked, ["path", "quote"]);
    let text = String::from_utf8_lossy(&library.run(&["show", id]).stdout).into_owned();
    let marked: Vec<&str> = (text.lines().filter(|line| line.ends_with("agent error, cause not recognized")))
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(marked, ["path", "quote"], "{text}");
    let request = serde_json::json!({ "run": id }).to_string();
    let detail = library.json(&["rpc", "get_run", &request]);
    let remarks = detail["caveats"].to_string();
    // Wherever the count stands, how much it matters stands beside it.
    let note = "The cause of 2 of 5 ends is not recognized; they count against the agent. If none of these were the agent's, \
                the pass rate would be 50.0 %";
    assert!(text.contains(note), "{text}");
    assert!(shown["unrecognised_note"].as_str().is_some_and(|line| line.starts_with(note)), "{shown}");
    let listed = String::from_utf8_lossy(&library.run(&["runs"]).stdout).into_owned();
    assert!(listed.contains(&format!("* {id}: {note}")), "{listed}");
    assert_eq!(library.json(&["runs"])[0]["unrecognised_note"], shown["unrecognised_note"]);
    // One of the two that are then at risk failed.
    assert!(remarks.contains("The cause of 2 of 5 ends is not recognized"), "{remarks}");
    assert!(remarks.contains("the pass rate would be 50.0 % (95 % CI 9.5 to 90.5 %)"), "{remarks}");
}

#[test]
fn a_line_break_of_an_argument_makes_no_line_of_an_error() {
    let library = Library::new();
    for arguments in [vec!["forged\nerror: all is well"], vec!["runs", "--forged\nerror: all is well"]] {
        let output = library.run(&arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains("forged\u{fffd}error: all is well"), "{error}");
        assert!(!error.lines().any(|line| line.trim_start().starts_with("error: all")), "{error}");
    }
}
