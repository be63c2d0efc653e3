//! What is not read, through the program: named in a sentence, with what to open instead and exit code 2; and old `tb` runs,
//! which are read.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::app::{TestHome, text};
use crate::folders::{self, fixtures};

/// Exit code, what is said, and the JSON of the only path.
fn ingest(path: &Path) -> (Option<i32>, String, Value) {
    let output = TestHome::new().stamina(&["ingest", path.to_str().expect("UTF-8"), "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON on standard output");
    let path_entry = json["errors"].get(0).or(json["sources"].get(0)).expect("the path").clone();
    assert_eq!(
        json["errors"].as_array().map_or(0, Vec::len) + json["sources"].as_array().map_or(0, Vec::len),
        1
    );
    (output.status.code(), text(&output.stderr), path_entry)
}

#[test]
fn results_of_other_programs_are_named_with_what_to_open() {
    let foreign = fixtures().join("world/foreign");
    for (input, kind, opened_path, sentence) in [
        (
            "loose",
            "atif",
            "trajectory.json",
            "holds a transcript (ATIF) without its trial, which is read only with its trial",
        ),
        ("loose/trajectory.json", "atif", "trajectory.json", "is a transcript (ATIF) without its trial"),
        (
            "mini",
            "mini_swe_agent",
            "run.traj.json",
            "holds a trajectory of mini-swe-agent, which has no verdict",
        ),
        ("mini/run.traj.json", "mini_swe_agent", "run.traj.json", "is a trajectory of mini-swe-agent"),
        ("inspect", "inspect", "log.eval", "holds 2 logs of Inspect, which are not read"),
        ("inspect/log.json", "inspect", "log.json", "is a log of Inspect, which is not read"),
        ("inspect/log.eval", "inspect", "", "is a log of Inspect, which is not read"),
        ("tasks-only", "harbor_task", "task-a", "holds a task of Harbor without a job, which has no results"),
        ("tasks-only/task-a", "harbor_task", "", "is a task of Harbor without a job"),
    ] {
        let (code, stderr, json) = ingest(&foreign.join(input));
        assert_eq!(code, Some(2), "{input}: {stderr}");
        assert_eq!(json["code"], "source.not_recognised", "{input}");
        assert!(
            json["message"].as_str().expect("a sentence").contains(sentence),
            "{input}: {}",
            json["message"]
        );
        let found = &json["found"][0];
        assert_eq!(
            (&found["kind"], &found["at"], &found["read"]),
            (&kind.into(), &opened_path.into(), &false.into()),
            "{input}"
        );
        assert_eq!(found["instead"], json["hint"], "{input}");
        assert_eq!(json["closest"], Value::Null, "{input}");
        assert!(stderr.contains(sentence) && stderr.contains("hint: "), "{input}: {stderr}");
        assert!(!stderr.contains("looked for") && !stderr.contains("damaged"), "{input}: {stderr}");
    }
}

#[test]
fn what_is_not_read_is_named_beside_what_is() {
    let (code, _, source) = ingest(&fixtures().join("world/foreign"));
    assert_eq!(code, Some(0));
    let found: Vec<(&str, bool, u64)> = source["found"]
        .as_array()
        .expect("what was found")
        .iter()
        .map(|thing| {
            let kind = thing["kind"].as_str().expect("a kind");
            (kind, thing["read"] == true, thing["count"].as_u64().expect("a count"))
        })
        .collect();
    let want = [
        ("terminal-bench", true, 1),
        ("inspect", false, 2),
        ("harbor_task", false, 1),
        ("atif", false, 1),
        ("mini_swe_agent", false, 1),
    ];
    assert_eq!(found, want);
    let warnings = source["warnings"].as_array().expect("warnings");
    let named: Vec<&Value> = warnings.iter().filter(|warning| warning["code"] == "other.not_read").collect();
    assert_eq!(named.len(), 4, "{warnings:?}");
    assert_eq!(named[0]["severity"], "note");
    assert_eq!(named[0]["path"], "inspect/log.eval");
    let message = named[0]["message"].as_str().expect("a sentence");
    assert!(
        message.starts_with("Beside what is read: 2 logs of Inspect, which are not read. Open "),
        "{message}"
    );

    // The tasks of a job belong to it.
    let folder = tempfile::tempdir().expect("a folder");
    folders::copy(&fixtures().join("world/null-reward"), &folder.path().join("jobs"));
    folders::copy(&fixtures().join("world/foreign/tasks-only"), &folder.path().join("tasks"));
    let (_, _, source) = ingest(folder.path());
    assert_eq!(source["found"].as_array().map(Vec::len), Some(1), "{source}");
}

#[test]
fn where_nothing_is_recognized_what_was_left_out_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let results = fixtures().join("world/null-reward");
    // As old programs of Windows zip.
    let zip = folder.path().join("results.zip");
    let program = "import os, sys, zipfile\n\
        file = zipfile.ZipFile(sys.argv[1], 'w')\n\
        for at, _, names in os.walk(sys.argv[2]):\n\
        \x20   for name in names:\n\
        \x20       path = os.path.join(at, name)\n\
        \x20       file.write(path, os.path.relpath(path, sys.argv[2]).replace('/', chr(92)))\n\
        file.close()\n";
    let exit_status = Command::new("python3").args(["-c", program]).args([&zip, &results]).status();
    assert!(exit_status.is_ok_and(|status| status.success()));
    let links = folder.path().join("links");
    fs::create_dir(&links).expect("a folder");
    std::os::unix::fs::symlink(results.join("job-a"), links.join("job-a")).expect("a link");
    for (path, left_out) in [(&zip, "The name has a backslash"), (&links, "Links are not followed")] {
        let (code, stderr, json) = ingest(path);
        assert_eq!((code, &json["code"]), (Some(2), &"source.not_recognised".into()), "{stderr}");
        let hint = json["hint"].as_str().expect("a hint");
        assert!(hint.starts_with("Something was left out") && hint.contains(left_out), "{hint}");
    }
}

#[test]
fn a_single_file_is_no_damaged_zip_unless_it_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("a file");
        path
    };
    for (path, code, id, sentence) in [
        (
            file("runs.tar.gz", b"\x1f\x8b\x08\0\0\0"),
            2,
            "source.not_recognised",
            "is an archive that is no zip, which is not read",
        ),
        (file("cut.zip", b"PK\x03\x04\x14\0\0\0"), 1, "source.unreadable", "the zip is damaged or cut off"),
        (
            fixtures().join("terminal_bench/run-a/results.json"),
            2,
            "source.not_recognised",
            "is a file of a Terminal-Bench run (tb), which is read from its folder",
        ),
    ] {
        let (exit, stderr, json) = ingest(&path);
        assert_eq!((exit, &json["code"]), (Some(code), &id.into()), "{}: {stderr}", path.display());
        assert!(stderr.contains(sentence), "{stderr}");
        assert!(json["hint"].is_string(), "{json}");
    }
}

/// "Neither a folder nor a zip" was said of each.
#[test]
fn a_single_file_of_no_format_is_named_by_its_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let unreadable = |reason: &str| format!("is a table that cannot be read: {reason}");
    let unread_form = |form: &str| format!("is {form}, of no format that is read");
    let scores =
        unread_form("a JSON file with a list whose first entry is an object whose keys are q, score");
    for (name, content, kind, sentence) in [
        ("one.json", r#"{"a": NaN}"#, "json", unread_form("a JSON file with an object whose key is a")),
        (
            "notes.json",
            r#"{"a": 1, "b": []}"#,
            "json",
            unread_form("a JSON file with an object whose keys are a, b"),
        ),
        ("scores.json", r#"[{"q": 1, "score": 2}]"#, "json", scores),
        (
            "cut.json",
            r#"{"a": 1, "b": "#,
            "json",
            unread_form("a broken JSON file with an object whose keys are a, b"),
        ),
        (
            "lines.json",
            "{\"a\": 1}\n{\"a\": 2}\n",
            "json_lines",
            unread_form("a file of JSON lines that begins with an object whose key is a"),
        ),
        ("empty.json", "", "empty", unread_form("an empty file")),
        ("notes.md", "# Notes", "text", unread_form("a text file")),
        ("empty.csv", "", "table", unreadable("the file is empty")),
        ("lists.jsonl", "[1, 2]\n", "table", unreadable("no JSON object in its first lines")),
        ("text.parquet", "PAR", "table", unreadable("")),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("a file");
        let (exit, stderr, json) = ingest(&path);
        assert_eq!((exit, &json["code"]), (Some(2), &"source.not_recognised".into()), "{name}: {stderr}");
        assert!(stderr.contains(&sentence), "{name}: {stderr}");
        let found = &json["found"][0];
        assert_eq!(
            (&found["kind"], &found["at"], &found["read"]),
            (&kind.into(), &name.into(), &false.into())
        );
        assert!(
            found["instead"].as_str().is_some_and(|open| open.starts_with("Open a folder or zip")),
            "{json}"
        );
        assert_eq!(found["instead"], json["hint"], "{name}");
    }
    // What can be read of a table says which columns are missing.
    for (name, content) in
        [("a.csv", "scenario,turn,x\na,1,2\n"), ("a.jsonl", r#"{"scenario": "a", "turn": 1}"#)]
    {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("a file");
        let (exit, stderr, json) = ingest(&path);
        assert_eq!((exit, &json["found"]), (Some(2), &serde_json::json!([])), "{stderr}");
        assert!(
            stderr.contains("without the columns run, harness, model, attempt, passed of a tidy table"),
            "{stderr}"
        );
        assert_eq!(json["tables"][0]["there"], serde_json::json!(["scenario", "turn"]), "{json}");
    }
}

#[test]
fn what_a_table_is_written_in_that_is_not_read_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let object = r#"{"run":"a","harness":"h","model":"m","scenario":"s","turn":1,"attempt":1,"passed":true}"#;
    let wide = |text: &str| -> Vec<u8> {
        std::iter::once(0xfeff_u16).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let list = "it is a JSON list; write one object a line";
    let cases: [(&str, Vec<u8>, &str); 4] = [
        ("one-line.jsonl", format!("[{object},{object}]").into_bytes(), list),
        ("lines.jsonl", format!("[\n{object},\n{object}\n]\n").into_bytes(), list),
        ("wide.jsonl", wide(object), "it is a text in UTF-16; save it as UTF-8"),
        (
            "wide.csv",
            wide("run,harness,model,scenario,turn,attempt,passed\r\na,h,m,s,1,1,true\r\n"),
            "it is a text in UTF-16; save it as UTF-8",
        ),
    ];
    // The hint was to open a folder or zip.
    let path = folder.path().join("a.json");
    fs::write(&path, format!("[{object},\n{object}]\n")).expect("a file");
    let (exit, printed, json) = ingest(&path);
    // With the path as it was given: the name alone was only right in the folder of the file.
    let (rows, lines) = (path.display(), path.with_extension("jsonl"));
    let command = format!("jq -c '.[]' {rows} > {}", lines.display());
    let hint = format!("Write one object a line and open that file: {command}");
    assert_eq!((exit, json["hint"].as_str()), (Some(2), Some(hint.as_str())), "{printed}");
    assert_eq!(json["found"][0]["instead"], hint.as_str());
    for (name, content, sentence) in cases {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("a file");
        let (exit, printed, json) = ingest(&path);
        assert_eq!((exit, &json["code"]), (Some(2), &"source.not_recognised".into()), "{name}: {printed}");
        assert!(printed.contains(sentence), "{name}: {printed}");
    }
}

#[test]
fn a_table_of_which_no_row_can_be_read_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let header = "run,harness,model,scenario,turn,attempt,passed\n";
    for (rows, sentence) in [
        (
            "a,h,m,s,1,1,true,more\n",
            "\"t.csv\" has no row that can be read. Row 2 has 8 cells, and the header 7.",
        ),
        (",h,m,s,1,1,true\n", "\"t.csv\" has no row that can be read. Row 2 names no run."),
        ("", "\"t.csv\" is a tidy table without a row"),
    ] {
        fs::write(&path, format!("{header}{rows}")).expect("a file");
        let (exit, printed, json) = ingest(&path);
        assert_eq!((exit, &json["code"]), (Some(2), &"table.no_rows".into()), "{printed}");
        assert!(printed.contains(sentence), "{printed}");
    }
    fs::write(&path, format!("{header}a,h,m,s,1,1,true,more\na,h,m,s,1,1,true\n")).expect("a file");
    let (exit, _, json) = ingest(&path);
    assert_eq!((exit, &json["runs"]), (Some(0), &1.into()));
}

#[test]
fn what_comes_near_a_format_is_told_where_nothing_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("batch/harbor_jobs")).expect("folders");
    let (code, stderr, json) = ingest(folder.path());
    assert_eq!((code, &json["found"]), (Some(2), &serde_json::json!([])));
    assert_eq!(json["closest"]["at"], "batch");
    let sentence = json["closest"]["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("Harbor job") && stderr.contains(sentence), "{stderr}");
}

#[test]
fn a_run_of_tb_is_read_with_its_right_values() {
    let library = TestHome::new();
    let ingested = library.ingest(&fixtures().join("terminal_bench/run-a"));
    let source = &ingested["sources"][0];
    assert_eq!((&source["format"], &source["episodes"]), (&"terminal-bench".into(), &8.into()));
    assert_eq!(
        source["found"],
        serde_json::json!([{ "kind": "terminal-bench", "name": "Terminal-Bench run (tb)", "at": "", "count": 1, "read": true, "instead": null }])
    );
    assert_eq!(source["closest"], Value::Null);
    let runs = library.json(&["runs"]);
    let read = &runs[0];
    assert_eq!(
        (&read["episodes"], &read["planned_episodes"], &read["unrecognised"]),
        (&8.into(), &10.into(), &1.into())
    );
    assert_eq!((&read["stamina"]["events"], &read["stamina"]["censored"]), (&5.into(), &3.into()));
    assert_eq!(read["reported"]["tb.accuracy"], 1.0 / 7.0);
    assert_eq!(read["case_score"], Value::Null);
    // 6 at risk, 5 failed: counted by hand in make.py.
    let survival = library.json(&["survival", read["id"].as_str().expect("an id")]);
    assert_eq!((&survival[0]["at_risk"], &survival[0]["events"]), (&6.into(), &5.into()));
    assert!((survival[0]["survival"].as_f64().expect("a number") - 1.0 / 6.0).abs() < 1e-12);
    // The small run that another program wrote.
    let given = library.ingest(&fixtures().join("world/foreign/tb-run"));
    assert_eq!(
        (&given["sources"][0]["format"], &given["sources"][0]["attempts"]),
        (&"terminal-bench".into(), &1.into())
    );
}

#[test]
fn transcripts_of_several_files_have_headings_and_copied_context_is_marked() {
    let library = TestHome::new();
    library.ingest(&fixtures().join("world/copied/job-a"));
    let run = library.run_ids().remove(0);
    let shown = library.json(&["show", &run]);
    let request = serde_json::json!({ "run": run, "episode": shown["episodes"][0]["episode"], "turn": 1, "attempt": 1 });
    let transcript = library.json(&["rpc", "get_transcript", &request.to_string()]);
    let texts: Vec<&str> = transcript["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .map(|s| s["text"].as_str().expect("a text"))
        .collect();
    let copied = "Copied context: 1 step taken over from another transcript, not shown";
    assert_eq!(texts, ["go", copied, "new", "Sub-agent helper", "count", "7"]);
}

#[test]
fn a_continued_session_shows_the_own_part_of_each_step() {
    let library = TestHome::new();
    let texts = |job: &str, turn: u32| -> Vec<String> {
        let run = library.run_ids().into_iter().find(|id| id.starts_with(job)).expect("the run");
        let shown = library.json(&["show", &run]);
        let request = serde_json::json!({ "run": run, "episode": shown["episodes"][0]["episode"], "turn": turn, "attempt": 1 });
        let transcript = library.json(&["rpc", "get_transcript", &request.to_string()]);
        let steps = transcript["steps"].as_array().expect("steps");
        steps.iter().map(|s| s["text"].as_str().expect("a text").to_owned()).collect()
    };
    library.ingest(&fixtures().join("world/session-totals/whole-session"));
    library.ingest(&fixtures().join("world/session-totals/new-sessions"));
    let earlier = |range: &str| format!("Earlier in this session, not shown: {range}");
    assert_eq!(texts("whole-session", 1), ["Part 1", "1-0", "1-1"]);
    assert_eq!(texts("whole-session", 2), [&earlier("3 steps of turn 1"), "Part 2", "2-0"]);
    assert_eq!(texts("whole-session", 3), [&earlier("5 steps of turn 2 or before"), "Part 3"]);
    assert_eq!(texts("new-sessions", 2), ["Part 2", "2-0"]);
}
