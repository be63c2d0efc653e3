//! What the program keeps of a run in `.stamina/`.

use std::fs;
use std::path::Path;

use test_folders::copy;

use crate::app::TestHome;
use crate::hostile_kit::bounded_run::run;
use crate::hostile_kit::outside::Outside;
use crate::hostile_kit::{fifo, is_harmless, link, reports_a_problem, sparse};

/// Sets what a record of a run counts to the ends of the ranges; its settings stay as they are.
fn far_numbers(key: &str, value: &mut serde_json::Value) {
    use serde_json::{Value, json};
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut().filter(|(key, _)| key.as_str() != "settings") {
                far_numbers(key, value);
            }
        }
        Value::Array(items) => {
            for item in items {
                far_numbers(key, item);
            }
        }
        Value::Number(_) => match key {
            "input" | "output" | "cached" | "requests" | "unmetered" | "tokens" => *value = json!(u64::MAX),
            "calls" | "number" | "retries" | "retried" | "lost" => *value = json!(u32::MAX),
            "seconds" | "known_usd" | "cost_usd" | "usd" => *value = json!(-1e300),
            _ => {}
        },
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Whether a file of a run is one object.
fn is_record(path: &Path) -> bool {
    fs::read(path).is_ok_and(|read| {
        serde_json::from_slice::<serde_json::Value>(&read).is_ok_and(|record| record.is_object())
    })
}

/// Harms that are texts, and harm those who read them: what a run writes over them is the same for each.
const READ_ALONE: [&str; 4] =
    ["deep brackets", "many values", "many values in a valid record", "a line of many values"];

/// Whether a resume plays an attempt over a damaged record, or only reads it: an attempt costs more than all other commands. A run
/// reads its control request again and again while it plays.
fn is_played_over(label: &str, name: &str) -> bool {
    std::env::var_os("STAMINA_EVERY_WAY").is_some() || name == "control.json" || !READ_ALONE.contains(&label)
}

/// The same of a record of a run.
type RecordHarm<'a> = (&'a str, &'a dyn Fn(&Path));

#[test]
// docs/security.md: The hostile kit
fn hostile_records_of_runs_do_no_harm() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    test_home.run_until_budget(1, 1);
    let good = test_home.path("good");
    fs::rename(test_home.path("results"), &good).expect("renamed");
    let names = [
        "run.json",
        "lock",
        "events.jsonl",
        "gateway.jsonl",
        "control.json",
        "episodes/scenario_0.json",
        "state/scenario_0/journal.json",
    ];
    let to_outside = |path: &Path| link(outside.folder.join("home/.profile"), path);
    let harms: [RecordHarm<'_>; 11] = [
        ("a pipe", &fifo),
        ("a link to a device", &|path| link("/dev/zero", path)),
        ("a link outside", &to_outside),
        ("a giant", &|path| sparse(path, 64 << 30)),
        ("deep brackets", &|path| fs::write(path, "[".repeat(1 << 20)).expect("a file")),
        ("many values", &|path| fs::write(path, format!("[{}0]", "0,".repeat(8 << 20))).expect("a file")),
        ("many values in a valid record", &|path| {
            let read = fs::read(path).expect("a record");
            let mut record: serde_json::Value = serde_json::from_slice(&read).expect("a record");
            record["settings"]["kept"] = serde_json::json!({ "docker.x": "many values" });
            // More than are read, in fewer bytes than are read: 256 KiB of an episode's file, 2 MiB of `run.json`, 32 MiB of the
            // journal.
            let count = if path.ends_with("journal.json") { (8 << 20) - 1 } else { 110_000 };
            let many = format!("[{}0]", "0,".repeat(count));
            let text = record.to_string().replacen("\"many values\"", &many, 1);
            fs::write(path, text).expect("a file");
        }),
        ("a line of many values", &|path| {
            let line = format!("{{\"episode\":\"scenario_0\",\"x\":[{}0]}}\n", "0,".repeat(7 << 20));
            fs::write(path, [fs::read(path).unwrap_or_default(), line.into()].concat()).expect("a file");
        }),
        ("a folder", &|path| {
            drop(fs::remove_file(path));
            fs::create_dir_all(path).expect("a folder");
        }),
        ("numbers at the ends of their ranges", &|path| {
            let read = fs::read_to_string(path).unwrap_or_default();
            let whole = serde_json::from_str::<serde_json::Value>(&read).map(|record| vec![record]);
            let lines = || -> Vec<serde_json::Value> {
                read.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
            };
            let mut records = whole.unwrap_or_else(|_| lines());
            for record in &mut records {
                far_numbers("", record);
            }
            let text: Vec<String> = records.iter().map(serde_json::Value::to_string).collect();
            fs::write(path, text.join("\n") + "\n").expect("a file");
        }),
        ("no JSON", &|path| fs::write(path, b"\xff\xfe\0\x1b]0;x\x07").expect("a file")),
    ];
    for name in names {
        for (label, harm) in &harms {
            if label.starts_with("a line of") && !name.ends_with(".jsonl") {
                continue;
            }
            // What is no record of its own, or is not there, stays as it is.
            if label.starts_with("many values in a valid record")
                && !is_record(&good.join(".stamina").join(name))
            {
                continue;
            }
            let folder = test_home.path("results");
            drop(fs::remove_dir_all(&folder));
            copy(&good, &folder);
            let path = folder.join(".stamina").join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            harm(&path);
            // Whether it can be read at all: what counts too much can, and a log or a control request, of which only a few values are
            // taken.
            let is_read = label.starts_with("numbers at the ends")
                || label.starts_with("a line of")
                || label.starts_with("many values in a valid record")
                    && (name.ends_with(".jsonl") || name == "control.json")
                || name == "lock"
                || name.starts_with("state/");
            // With the budget that is spent it ends as it begins.
            let raised = ["--values", "limits.run.tokens=1000000"];
            let raised = if is_played_over(label, name) { &raised[..] } else { &[] };
            let resume = [&["resume", "results", "--trust"][..], raised].concat();
            let label = format!("{label} as {name}");
            let run_request = serde_json::json!({ "folder": folder }).to_string();
            for args in [
                &["status", "results"][..],
                &["rpc", "get_live_run", &run_request],
                &["rpc", "list_live_runs"],
                &["resume", "results"],
                &resume,
                &["stop", "results"],
                &["ingest", "results"],
            ] {
                let ran = run(&test_home, args);
                is_harmless(&format!("{label}, {args:?}"), &ran, &outside);
                // What is known of the run has a warning beside it, and what is unknown stays in the list.
                if !is_read && (args[0] == "status" || args[0] == "rpc") {
                    let expected = match args[1] {
                        "list_live_runs" if name == "run.json" => "\"unreadable\"",
                        _ if name == "run.json" => "run.json",
                        _ => "cannot be read",
                    };
                    assert!(ran.output.contains(expected), "{label} is not named, {args:?}: {}", ran.output);
                }
                // What the reader of results takes from a record is still there in one of many values.
                if args[0] == "ingest"
                    && name == "run.json"
                    && !label.starts_with("many values in")
                    && !label.starts_with("numbers at the ends")
                {
                    assert!(reports_a_problem(&ran), "{label} is not told: {}", ran.output);
                }
            }
            let log_request = serde_json::json!({
                "folder": folder, "episode": "scenario_0", "which": "gateway", "position": null
            })
            .to_string();
            let more: &[&[&str]] = match name {
                "run.json" => &[&["rpc", "run_trust", &run_request], &["retry", "results", "scenario_0"]],
                "control.json" => &[&["pause", "results"], &["retry", "results", "scenario_0"]],
                "gateway.jsonl" | "episodes/scenario_0.json" => &[&["rpc", "live_log", &log_request]],
                _ => &[],
            };
            // Not before: what they write mends the damage.
            for args in more {
                is_harmless(&format!("{label}, {args:?}"), &run(&test_home, args), &outside);
            }
        }
    }
}
