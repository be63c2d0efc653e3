//! Values that are no values, as other people's files have them, through the program: the rest is read, and what is not
//! known is not taken for a pass, a failure or a running trial.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::app::TestHome;
use crate::folders::{self, copy};

fn world(name: &str) -> PathBuf {
    folders::fixtures().join("world").join(name)
}

/// A library that has read one folder.
struct Library {
    home: TestHome,
    ingested: Value,
}

impl Library {
    fn from_source(source: &Path) -> Self {
        let home = TestHome::new();
        let ingested = home.ingest(source);
        Self { home, ingested }
    }

    /// How often reading gave a warning of this code.
    fn warned(&self, code: &str) -> usize {
        let warnings = self.ingested["sources"][0]["warnings"].as_array().expect("warnings");
        warnings.iter().filter(|warning| warning["code"] == code).count()
    }

    fn run(&self) -> Value {
        self.home.json(&["runs"])[0].clone()
    }

    /// Scenario, stamina and end reason of each episode.
    fn ends(&self) -> Vec<(String, u64, String)> {
        let run = self.run();
        let shown = self.home.json(&["show", run["id"].as_str().expect("an id")]);
        let mut ends: Vec<_> = shown["episodes"]
            .as_array()
            .expect("episodes")
            .iter()
            .map(|e| {
                let text = |key: &str| e[key].as_str().unwrap_or("none").to_owned();
                (text("scenario"), e["stamina"].as_u64().expect("a stamina"), text("end_reason"))
            })
            .collect();
        ends.sort();
        ends
    }
}

/// A copy of a fixture in which one file is written anew.
fn changed_fixture(name: &str, file: &str, change: impl FnOnce(&str) -> Vec<u8>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&world(name), folder.path());
    let path = folder.path().join(file);
    let text = fs::read_to_string(&path).expect("the file");
    fs::write(&path, change(&text)).expect("the file");
    folder
}

fn end(scenario: &str, stamina: u64, reason: &str) -> (String, u64, String) {
    (scenario.to_owned(), stamina, reason.to_owned())
}

#[test]
fn a_reward_that_is_no_number_is_no_verdict() {
    let library = Library::from_source(&world("null-reward"));
    assert_eq!(
        library.ends(),
        [
            end("a", 0, "verifier_error"),
            end("b", 0, "verifier_error"),
            end("c", 0, "verifier_error"),
            end("d", 1, "passed_all"),
            end("e", 1, "passed_all")
        ]
    );
    let run = library.run();
    assert_eq!((run["stamina"]["n"].as_u64(), run["stamina"]["events"].as_u64()), (Some(5), Some(3)));
    let survival = library.home.json(&["survival", run["id"].as_str().expect("an id")]);
    assert!((survival[0]["survival"].as_f64().expect("S(1)") - 0.4).abs() < 1e-12, "{survival}");
    assert_eq!((library.warned("harbor.reward_unreadable"), library.warned("reward.range")), (3, 1));
}

/// Python writes NaN, and an editor a byte order mark: the trial has ended, and its numbers are there.
#[test]
fn a_result_that_is_no_strict_json_is_read() {
    let file = "job-a/e__GGGGGG5/result.json";
    let folder = changed_fixture("null-reward", file, |text| {
        let text = text.replace("\"n_input_tokens\": null", "\"n_input_tokens\": 1200");
        let text =
            text.replace("\"cost_usd\": null", "\"cost_usd\": NaN, \"note\": \"\\ud83d\", \"note\": 1e999");
        format!("\u{feff}{text}").replace('\n', "\r\n").into_bytes()
    });
    let library = Library::from_source(folder.path());
    assert_eq!(library.ends()[4], end("e", 1, "passed_all"));
    let run = library.run();
    assert_eq!(run["tokens"]["input"].as_u64(), Some(1200));
    assert!(run["cost_usd"].is_null());
    assert_eq!(library.warned("json.not_strict"), 1);
}

/// What is left out of a sum is counted: $0.35, known for 2 of 5.
#[test]
fn a_cost_that_cannot_be_is_unknown_and_a_sum_says_of_how_many_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&world("null-reward"), folder.path());
    for (trial, cost) in
        [("a__GGGGGG1", "-3"), ("b__GGGGGG2", "\"0.4\""), ("d__GGGGGG4", "0.15"), ("e__GGGGGG5", "0.2")]
    {
        let path = folder.path().join("job-a").join(trial).join("result.json");
        let text = fs::read_to_string(&path).expect("the result");
        fs::write(&path, text.replace("\"cost_usd\": null", &format!("\"cost_usd\": {cost}")))
            .expect("the result");
    }
    let library = Library::from_source(folder.path());
    let run = library.run();
    assert!((run["cost_usd"].as_f64().expect("a cost") - 0.35).abs() < 1e-9, "{run}");
    assert_eq!(run["cost_known"], serde_json::json!({"known": 2, "of": 5}));
    assert_eq!(library.warned("value.not_usable"), 2);
}

/// Exported tables say beside the numbers what makes them less sure: a cost that is known in part, a job that is there in part.
#[test]
fn an_exported_table_says_what_is_known_in_part() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&world("null-reward"), folder.path());
    let job = folder.path().join("job-a");
    let replace = |path: &Path, old_text: &str, new_text: &str| {
        let text = fs::read_to_string(path).expect("a file");
        assert!(text.contains(old_text), "{text}");
        fs::write(path, text.replace(old_text, new_text)).expect("written");
    };
    replace(&job.join("result.json"), "\"n_total_trials\": 5", "\"n_total_trials\": 6");
    for (trial, cost) in [("d__GGGGGG4", "0.15"), ("e__GGGGGG5", "0.2")] {
        let path = job.join(trial).join("result.json");
        replace(&path, "\"cost_usd\": null", &format!("\"cost_usd\": {cost}"));
    }
    let library = Library::from_source(folder.path());
    let run = library.run()["id"].as_str().expect("an id").to_owned();
    let json = |args: &[&str]| library.home.json(args);
    let table = json(&["table", "runs", &run]);
    let row = &table["rows"][0];
    assert_eq!((row["cost_known"].as_u64(), row["n"].as_u64()), (Some(2), Some(5)), "{table}");
    let doubts = row["doubts"].as_str().expect("doubts");
    assert!(doubts.contains("5 of 6") && doubts.contains("known for 2 of 5"), "{doubts}");
    for args in [vec!["table", "runs", &run], vec!["table", "spent", &run], vec!["table", "library"]] {
        assert!(library.home.text(&args).contains("≥ 0.35"), "{args:?}: {}", library.home.text(&args));
    }
    let csv = library.home.path("runs.csv");
    library.home.text(&["table", "runs", &run, "--out", csv.to_str().expect("UTF-8")]);
    let csv = fs::read_to_string(csv).expect("the table");
    assert!(csv.contains("cost_known,doubts") && csv.contains(",0.35,"), "{csv}");
    let cells = json(&["table", "matrix"]);
    let doubts = cells["rows"][0]["doubts"].as_str().expect("doubts of the cell");
    assert!(doubts.contains("5 of 6"), "{cells}");
}

/// A job of which a trial says no tokens, one that it used none at all (which nobody can who ran), and the others 1000 and 100.
#[test]
fn tokens_that_nobody_counted_are_unknown_and_a_sum_says_of_how_many_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&world("null-reward"), folder.path());
    for (trial, input, output) in [
        ("a__GGGGGG1", "0", "0"),
        ("b__GGGGGG2", "1000", "100"),
        ("d__GGGGGG4", "null", "null"),
        ("e__GGGGGG5", "1000", "100"),
    ] {
        let path = folder.path().join("job-a").join(trial).join("result.json");
        let text = fs::read_to_string(&path).expect("the result");
        let mut result: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let tokens = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("a number");
        result["agent_result"]["n_input_tokens"] = tokens(input);
        result["agent_result"]["n_cache_tokens"] =
            tokens(input).as_u64().map_or(serde_json::Value::Null, |_| 0.into());
        result["agent_result"]["n_output_tokens"] = tokens(output);
        fs::write(&path, result.to_string()).expect("the result");
    }
    let library = Library::from_source(folder.path());
    let run = library.run();
    assert!(run["cost_usd"].is_null(), "no price is known: {run}");
    assert_eq!(run["cost_known"]["known"], 0);
    assert_eq!(run["tokens_known"]["of"], 5);
    let known = run["tokens_known"]["known"].as_u64().expect("a number");
    assert_eq!(run["tokens"]["input"].as_u64(), Some(known * 1000), "{run}");
    assert_eq!(known, 2, "{run}");
}

/// An episode that says its tokens and cost for a part of its turns says them of a part: the sums lack the rest.
#[test]
fn an_episode_with_an_attempt_without_tokens_is_none_whose_tokens_are_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = "run,harness,model,scenario,turn,attempt,passed,tokens_in,tokens_out,cost_usd\n\
                 r,h,m,s1,1,1,true,100,5,0.25\nr,h,m,s1,2,1,true,,,\nr,h,m,s2,1,1,true,50,2,0.5\n";
    fs::write(folder.path().join("t.csv"), table).expect("a table");
    let run = Library::from_source(folder.path()).run();
    let known = serde_json::json!({ "known": 1, "of": 2 });
    assert_eq!((&run["tokens_known"], &run["cost_known"]), (&known, &known), "{run}");
    assert_eq!((&run["tokens"]["input"], &run["cost_usd"]), (&150.into(), &0.5.into()), "{run}");
}

/// A trial whose result cannot be read has ended: an event of the verifier, and not a trial that is still running.
#[test]
fn a_result_that_cannot_be_read_is_no_running_trial() {
    let folder =
        changed_fixture("null-reward", "job-a/e__GGGGGG5/result.json", |text| text[..text.len() / 2].into());
    fs::remove_file(folder.path().join("job-a/e__GGGGGG5/verifier/reward.txt")).expect("the reward");
    let library = Library::from_source(folder.path());
    assert_eq!(library.ends()[4], end("e", 0, "verifier_error"));
    let run = library.run();
    assert_eq!((run["stamina"]["n"].as_u64(), run["stamina"]["events"].as_u64()), (Some(5), Some(4)));
    // Where the verifier's own file is left, it is the verdict.
    let folder =
        changed_fixture("null-reward", "job-a/e__GGGGGG5/result.json", |text| text[..text.len() / 2].into());
    let reward = folder.path().join("job-a/e__GGGGGG5/verifier/reward.txt");
    fs::write(reward, "\u{feff}1.0\r\n").expect("the reward");
    assert_eq!(Library::from_source(folder.path()).ends()[4], end("e", 1, "passed_all"));
}

#[test]
fn coverage_says_how_much_of_a_run_exists() {
    let coverage =
        |name: &str| Library::from_source(&world(name)).home.json(&["runs"])[0]["coverage"].clone();
    let coverage_of = |planned: Option<u32>, present: u32, scored: u32| serde_json::json!({ "planned": planned, "present": present, "scored": scored });
    // One of three trials was canceled before its tests ran. (words: ok: below, the name of a fixture)
    assert_eq!(coverage("cancelled"), coverage_of(Some(3), 3, 2));
    // Nobody was at risk.
    assert_eq!(coverage("never-at-risk"), coverage_of(Some(3), 3, 0));
    // Two of five planned trials are missing; and a job that does not say how many it planned.
    for (total, planned) in [("5", Some(5)), ("null", None)] {
        let folder = changed_fixture("never-at-risk", "job-a/result.json", |text| {
            assert!(text.contains("\"n_total_trials\": 3"), "{text}");
            text.replace("\"n_total_trials\": 3", &format!("\"n_total_trials\": {total}")).into_bytes()
        });
        let library = Library::from_source(folder.path());
        assert_eq!(library.run()["coverage"], coverage_of(planned, 3, 0), "n_total_trials {total}");
    }
}

#[test]
fn the_zone_and_the_language_of_a_machine_change_no_number() {
    for name in ["docker-words", "cache-beside", "odd-counts"] {
        let library = Library::from_source(&world(name));
        let printed = |zone: &str, language: &str| {
            let mut command = library.home.command(&["--json", "runs"]);
            let output = command
                .env("TZ", zone)
                .env("LC_ALL", language)
                .env("LANG", language)
                .output()
                .expect("an end");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).expect("UTF-8")
        };
        let plain = printed("UTC", "C");
        for (zone, language) in [("Asia/Kathmandu", "de_DE.UTF-8"), ("America/St_Johns", "tr_TR.UTF-8")] {
            assert_eq!(printed(zone, language), plain, "{name} in {zone}, {language}");
        }
        // Reading in another zone is the same, too: times without a zone are nobody's local time.
        let home = TestHome::new();
        let mut read = home.command(&["--json", "ingest", world(name).to_str().expect("UTF-8")]);
        assert!(read.env("TZ", "Pacific/Auckland").output().expect("an end").status.success());
        assert_eq!(home.json(&["runs"]), library.home.json(&["runs"]), "{name}");
    }
}

#[test]
fn a_run_that_was_refused_alike_is_said_to_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("job-a");
    copy(&world("docker-words/job-a"), &job);
    let doubts = || {
        let library = Library::from_source(&job);
        let run = library.run();
        let compared = library.home.json(&["compare", run["id"].as_str().expect("an id")]);
        compared["runs"][0]["doubts"].to_string()
    };
    assert!(!doubts().contains("look at the configuration"), "one of them passed");
    for trial in ["good__AAAAAA5", "tests__AAAAAA3", "real__AAAAAA4"] {
        fs::remove_dir_all(job.join(trial)).expect("a trial");
    }
    assert!(doubts().contains("every trial ended before the agent answered: look at the configuration"));
}
