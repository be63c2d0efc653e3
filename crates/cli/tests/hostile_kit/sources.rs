//! Folders of results with one thing that is wrong.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use test_folders::copy;

use crate::app::TestHome;
use crate::hostile_kit::bounded_run::run;
use crate::hostile_kit::outside::Outside;
use crate::hostile_kit::{SourceHarm, fifo, fixture, is_harmless, link, reports_a_problem, sparse};

/// One thing that is wrong with a source, by name. Each is done to a copy of a small real run.
fn harms(outside: &Path) -> Vec<SourceHarm> {
    let outside = outside.to_owned();
    let outside_path = move |name: &str| outside.join(name);
    let (keys, profile, secret, trajectory) = (
        outside_path("home/.ssh/authorized_keys"),
        outside_path("home/.profile"),
        outside_path("secret.yaml"),
        outside_path("trajectory.json"),
    );
    let home = outside_path("home");
    let whole = outside_path("");
    vec![
        (
            "long texts that aliases repeat",
            Box::new(|run| {
                let long = "x".repeat(1 << 20);
                let config =
                    format!("agent: MINI_SWE\na: &a {long}\nb: [{}]\n", vec!["*a"; 40_000].join(","));
                fs::write(run.join("config.yaml"), config).expect("a file");
            }),
        ),
        (
            "aliases of aliases",
            Box::new(|run| {
                let mut config = "agent: MINI_SWE\na0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
                for n in 1..40 {
                    let many = vec![format!("*a{}", n - 1); 9].join(",");
                    writeln!(config, "a{n}: &a{n} [{many}]").expect("a text");
                }
                fs::write(run.join("config.yaml"), config).expect("a file");
            }),
        ),
        (
            "names of names",
            Box::new(|run| {
                fs::write(run.join("config.yaml"), format!("{}a: b\n", "? ".repeat(60_000))).expect("a file");
            }),
        ),
        (
            "a long name above many",
            Box::new(|run| {
                let many: Vec<String> = (0..100_000).map(|n| format!("k{n}: 1")).collect();
                let config = format!("{}: {{{}}}\n", "x".repeat(1000), many.join(", "));
                fs::write(run.join("config.yaml"), config).expect("a file");
            }),
        ),
        (
            "deep brackets",
            Box::new(|run| {
                fs::write(run.join("config.yaml"), "[".repeat(1 << 20)).expect("a file");
                fs::write(run.join("report.json"), "[".repeat(1 << 20)).expect("a file");
                fs::write(run.join("scenario_0/trajectory.json"), "{\"a\":".repeat(1 << 20)).expect("a file");
            }),
        ),
        (
            "a long name above many transcripts",
            Box::new(|run| {
                let many: Vec<String> = (0..200_000)
                    .map(|n| format!("\"a{n}\":{{\"messages\":[{{\"role\":\"assistant\"}}]}}"))
                    .collect();
                let text = format!("{{\"{}\":{{{}}}}}", "k".repeat(1 << 20), many.join(","));
                fs::write(run.join("scenario_1/trajectory.json"), text).expect("a file");
            }),
        ),
        (
            "very many small attempts",
            Box::new(|run| {
                let many = vec!["{}"; 500_000].join(",");
                let text = format!("{{\"turns\":[{{\"turn\":1,\"attempts\":[{many}]}}]}}");
                fs::write(run.join("scenario_1/trajectory.json"), text).expect("a file");
            }),
        ),
        (
            "a task of very many steps that says much",
            Box::new(|run| {
                let config = "agent: MINI_SWE\nbenchmark: HARBOR\nharbor:\n  protocol: sr\n";
                fs::write(run.join("config.yaml"), config).expect("a file");
                let list = vec!["1234567"; 250].join(",");
                let fields: Vec<String> = (0..60).map(|n| format!("\"field{n}\":[{list}],")).collect();
                let fields = fields.concat();
                for task in 0..4 {
                    let text = format!(
                        "{{\"schema_version\":\"stamina-lab/1\",\"planned_turns\":4000000000,\"task\":\"t{task}\",\
                         \"protocol\":\"sr\",{fields}\"turns\":[]}}"
                    );
                    let folder = run.join(format!("scenario_{task}"));
                    fs::create_dir_all(&folder).expect("a folder");
                    fs::write(folder.join("trajectory.json"), text).expect("a file");
                }
            }),
        ),
        (
            "pipes in the place of files",
            Box::new(|run| {
                for name in ["config.yaml", "report.json", "scenario_0/trajectory.json"] {
                    fifo(&run.join(name));
                }
            }),
        ),
        (
            "links to devices",
            Box::new(|run| {
                for name in ["config.yaml", "report.json", "scenario_0/trajectory.json"] {
                    link("/dev/zero", &run.join(name));
                }
            }),
        ),
        (
            "links to files outside",
            Box::new(move |run| {
                link(&secret, &run.join("config.yaml"));
                link(&keys, &run.join("report.json"));
                link(&trajectory, &run.join("scenario_0/trajectory.json"));
                link(&profile, &run.join("scenario_1/test_results/turn_1_attempt_1.txt"));
            }),
        ),
        (
            "links to folders outside",
            Box::new(move |run| {
                link(&whole, &run.join("scenario_0"));
                link(&home, &run.join("scenario_1/test_results"));
                link("/", &run.join("scenario_2"));
                link("..", &run.join("scenario_1/agent_logs"));
            }),
        ),
        (
            "sparse giants",
            Box::new(|run| {
                for name in ["config.yaml", "report.json", "scenario_0/trajectory.json", "scenario_1/x.json"]
                {
                    sparse(&run.join(name), 64 << 30);
                }
            }),
        ),
        (
            "names that a terminal obeys",
            Box::new(|run| {
                fs::write(
                    run.join("config.yaml"),
                    "agent: \"\\e]0;owned\\a\\e[2J\"\nbenchmark: \"a\\u202eb\\u2066c\\u200fd\\u061ce\"\n",
                )
                .expect("a file");
                copy(&run.join("scenario_1"), &run.join("scenario_3\u{1b}[2J\u{9b}31m"));
                fs::write(run.join("scenario_1/\u{1b}]0;x\u{7}.json"), "{").expect("a file");
                link("/etc/passwd", &run.join("scenario_1/\u{202e}gnp.exe"));
            }),
        ),
        (
            "a file of line breaks",
            Box::new(|run| {
                fs::write(run.join("scenario_1/test_results/turn_1_attempt_1.txt"), "\n".repeat(32 << 20))
                    .expect("a file");
            }),
        ),
        (
            "a million tests",
            Box::new(|run| {
                let mut log = "= test session starts =\ncollected 1000000 items\n\n".to_owned();
                for n in 0..1_000_000 {
                    writeln!(log, "test_turn.py::test_{n} FAILED").expect("a text");
                }
                fs::write(run.join("scenario_1/test_results/turn_1_attempt_1.txt"), log).expect("a file");
            }),
        ),
        (
            "numbers at the ends of their ranges",
            Box::new(|run| {
                let path = run.join("scenario_1/trajectory.json");
                let text = fs::read_to_string(&path).expect("a trajectory");
                for (source, target) in [
                    ("\"total\":", "1e308"),
                    ("\"attempt\":", "-9223372036854775808"),
                    ("\"turn\":", "4294967296"),
                ] {
                    let parts: Vec<&str> = text.splitn(2, source).collect();
                    let rest =
                        parts[1].trim_start_matches([' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
                    fs::write(&path, format!("{}{source} {target}{rest}", parts[0])).expect("a file");
                }
            }),
        ),
    ]
}

#[test]
// docs/security.md: The hostile kit
fn hostile_folders_do_no_harm() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    let whole = test_home.path("whole");
    copy(&fixture("staminabench/own"), &whole);
    let ran = run(&test_home, &["ingest", "whole"]);
    assert!(ran.status.success() && !reports_a_problem(&ran), "nothing is wrong with it: {}", ran.output);
    for (number, (label, harm)) in harms(&outside.folder).into_iter().enumerate() {
        let folder = test_home.path(&format!("run-{number}"));
        copy(&fixture("staminabench/own"), &folder);
        harm(&folder);
        let ran = run(&test_home, &["ingest", &folder.display().to_string()]);
        is_harmless(label, &ran, &outside);
        // Odd names are no fault of the results.
        let is_fault = label != "names that a terminal obeys";
        let is_reported = reports_a_problem(&ran) || !ran.status.success();
        assert!(is_reported || !is_fault, "{label} is not told: {}", ran.output);
        // Reads the texts of what was just opened.
        let ran = run(&test_home, &["search", "hunter2"]);
        is_harmless(&format!("{label}, searched"), &ran, &outside);
        let ran = run(&test_home, &["import-report", &format!("run-{number}")]);
        is_harmless(label, &ran, &outside);
    }
    let ran = run(&test_home, &["runs"]);
    is_harmless("the library of all of them", &ran, &outside);
    assert!(ran.status.success());
}

#[test]
// docs/security.md: The hostile kit
fn large_sources_take_time_that_grows_with_their_size() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    // Thousands of scenarios, and a run behind thousands of folders.
    let folder = test_home.path("results");
    let damaged_text =
        fs::read_to_string(fixture("staminabench/own/scenario_1/trajectory.json")).expect("a trajectory");
    // The fixture has scenarios 0 and 1.
    for name in (2..3002).map(|number| format!("scenario_{number}")) {
        let scenario = folder.join("many").join(&name);
        fs::create_dir_all(&scenario).expect("a folder");
        fs::write(scenario.join("trajectory.json"), damaged_text.replace("scenario_1", &name))
            .expect("a file");
    }
    for name in ["config.yaml", "report.json"] {
        fs::copy(fixture("staminabench/own").join(name), folder.join("many").join(name)).expect("a copy");
    }
    for number in 0..6000 {
        fs::create_dir_all(folder.join(format!("junk-{number}"))).expect("a folder");
    }
    copy(&fixture("staminabench/own"), &folder.join("zzz"));
    let ran = run(&test_home, &["ingest", "results"]);
    is_harmless("thousands of folders", &ran, &outside);
    assert!(ran.output.contains("2 runs, 3002 episodes"), "{}", ran.output);
    // Thousands of copies of one trial.
    let (job_fixture, job) = (fixture("harbor/jobs/failures-k1"), test_home.path("copies"));
    let trial = job_fixture.join("theme_v5_w1_notes_min_reward__PAxApKs");
    for number in 0..3000 {
        let copy = job.join(format!("copy-{number}__PAxApKs"));
        fs::create_dir_all(&copy).expect("a folder");
        for name in ["result.json", "config.json"] {
            // One file under many names would be as good, but for the number of names that a file system gives one.
            fs::copy(trial.join(name), copy.join(name)).expect("a copy");
        }
    }
    for name in ["config.json", "result.json"] {
        fs::copy(job_fixture.join(name), job.join(name)).expect("a copy");
    }
    let ran = run(&test_home, &["ingest", "copies"]);
    is_harmless("copies of one trial", &ran, &outside);
    assert!(ran.output.contains("1 run, 1 episode"), "{}", ran.output);
}
