//! Each kind by small inputs of its own, and nothing by what only mentions it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::*;

fn tree_with(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Tree) {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let tree = Tree::open(folder.path()).unwrap();
    (folder, tree)
}

/// Kind, place and count of all that is found.
fn found(files: &[(&str, &[u8])]) -> Vec<(&'static str, String, usize)> {
    let (_folder, tree) = tree_with(files);
    find(&tree).into_iter().map(|found| (found.kind, found.path, found.count)).collect()
}

fn file(name: &str, value: &Value) -> Vec<(&'static str, String, usize)> {
    found(&[(name, serde_json::to_string_pretty(value).unwrap().as_bytes())])
}

fn line(name: &str, value: &Value) -> Vec<(&'static str, String, usize)> {
    found(&[(name, format!("{value}\n{value}\n").as_bytes())])
}

#[test]
fn what_to_open_instead_names_every_format_with_results() {
    let log = json!({"version": 2, "status": "success", "eval": {"task": "a", "model": "m"}, "plan": {}})
        .to_string();
    let (_folder, tree) = tree_with(&[("logs/a.json", log.as_bytes())]);
    let open = find(&tree).into_iter().next().unwrap().instead;
    for format in crate::formats::all().iter().filter(|format| format.id() != "pack") {
        let word = match format.id() {
            "terminal-bench" => "tb",
            "table" => "tidy table",
            _ => format.name().split([' ', ',']).next().unwrap(),
        };
        assert!(open.contains(word), "{word}: {open}");
    }
}

#[test]
fn each_kind_is_recognized_by_its_form() {
    let event = json!({"id": 0, "timestamp": "2026-01-01T10:00:00", "source": "user", "action": "message", "args": {}});
    let prediction = json!({"instance_id": "a-1", "model_name_or_path": "m", "model_patch": ""});
    let files = [
        (
            "results.json",
            json!({"trial_name": "a.1-of-1.r", "task_id": "a", "is_resolved": null}),
            "terminal_bench_trial",
        ),
        (
            "t.json",
            json!({"schema_version": "ATIF-v1.6", "agent": {"name": "a"}, "steps": [{"step_id": 1}]}),
            "atif",
        ),
        (
            "t.json",
            json!({"info": {}, "messages": [], "trajectory_format": "mini-swe-agent-1.1"}),
            "mini_swe_agent",
        ),
        (
            "t.json",
            json!({"info": {"model_stats": {}, "exit_status": "Submitted"}, "messages": []}),
            "mini_swe_agent",
        ),
        (
            "a.traj",
            json!({"trajectory": [{"action": "ls", "observation": "", "thought": "t"}], "history": []}),
            "swe_agent",
        ),
        (
            "a.traj",
            json!({"environment": "e", "trajectory": [], "history": [], "info": {"exit_status": null}}),
            "swe_agent",
        ),
        ("preds.json", json!([prediction]), "swe_bench"),
        ("preds.json", json!({"a-1": prediction}), "swe_bench"),
        (
            "report.json",
            json!({"submitted_instances": 2, "resolved_instances": 1, "resolved_ids": ["a"]}),
            "swe_bench",
        ),
        ("metadata.json", json!({"agent_class": "A", "llm_config": {}, "eval_output_dir": "o"}), "openhands"),
        ("t.json", json!([event]), "openhands"),
        ("0.json", event.clone(), "openhands"),
        (
            "e.json",
            json!({"id": "0a", "source": "agent", "timestamp": "t", "kind": "ActionEvent", "action": {}}),
            "openhands",
        ),
        (
            "l.json",
            json!({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": []}),
            "inspect",
        ),
        (
            "p.json",
            json!({"evalId": null, "results": {"version": 3, "timestamp": "t", "results": []}}),
            "promptfoo",
        ),
        ("k.json", json!({"checkpoint_version": "2.0", "completed_evaluations": {}}), "locobench_agent"),
        ("s.json", json!({"scenario_id": "s", "conversation_phases": []}), "locobench_agent"),
    ];
    for (name, value, kind) in &files {
        assert_eq!(file(name, value), [(*kind, (*name).to_owned(), 1)], "{value}");
    }
    let lines = [
        (prediction, "swe_bench"),
        (json!({"instance_id": "a", "test_result": {}, "history": []}), "openhands"),
        (json!({"promptIdx": 0, "testIdx": 0, "success": true}), "promptfoo"),
    ];
    for (value, kind) in &lines {
        assert_eq!(line("l.jsonl", value), [(*kind, "l.jsonl".to_owned(), 1)], "{value}");
    }
}

#[test]
fn folders_and_bytes_tell_kinds_too() {
    assert_eq!(
        found(&[
            ("a/task.toml", b""),
            ("a/steps/one/instruction.md", b""),
            ("b/task.toml", b""),
            ("b/tests/x.json", b"{}")
        ]),
        [("harbor_task", "a".to_owned(), 2)]
    );
    assert_eq!(found(&[("task.toml", b"")]), []);
    assert_eq!(
        found(&[("a/task.yaml", b""), ("a/run-tests.sh", b"")]),
        [("terminal_bench_task", "a".to_owned(), 1)]
    );
    // What an Inspect log unpacks to is one log.
    let header = br#"{"version": 2, "status": "success", "eval": {"task": "t"}}"#;
    let start = br#"{"version": 2, "eval": {"task": "t"}, "plan": {}}"#;
    assert_eq!(
        found(&[("header.json", header), ("_journal/start.json", start)]),
        [("inspect", String::new(), 1)]
    );
    assert_eq!(found(&[("_journal/start.json", start)]), [("inspect", "_journal/start.json".to_owned(), 1)]);
    assert_eq!(found(&[("logs/a.eval", b"PK\x03\x04..")]), [("inspect", "logs/a.eval".to_owned(), 1)]);
    assert_eq!(found(&[("a.zip", b"PK\x03\x04..")]), [("zip", "a.zip".to_owned(), 1)]);
    assert_eq!(found(&[("RESULTS.ZIP", b"PK\x03\x04..")]), [("zip", "RESULTS.ZIP".to_owned(), 1)]);
    assert_eq!(found(&[("logs/A.Eval", b"PK\x03\x04..")]), [("inspect", "logs/A.Eval".to_owned(), 1)]);
    assert_eq!(found(&[("a.whl", b"PK\x03\x04..")]), []);
    let mut tar = vec![0; 257];
    tar.extend(b"ustar\0");
    assert_eq!(found(&[("a.tgz", b"\x1f\x8b\x08\0"), ("b.tar", &tar)]), [("archive", "a.tgz".to_owned(), 2)]);
}

#[test]
fn the_form_decides_and_no_word_in_a_text() {
    for value in [
        json!({"note": "trajectory_format mini-swe-agent ATIF-v1.6 LoCoBench-Agent"}),
        json!({"schema_version": "1", "title": "ATIF-v1.6", "steps": []}),
        json!({"trajectory_format": "other", "messages": []}),
        json!({"version": 2, "status": "success", "eval": "task"}),
        json!({"trajectory": [{"action": 1, "observation": "", "thought": ""}]}),
        json!([1, 2]),
        json!([]),
    ] {
        assert_eq!(file("x.json", &value), [], "{value}");
    }
    let quoted = br#"{"trajectory_format": "mini-swe-agent-1", "messages": []}"#;
    assert_eq!(found(&[("x.txt", quoted), (".hidden.json", quoted), ("node_modules/a.json", quoted)]), []);
}

#[test]
fn what_is_large_broken_or_not_strict_is_recognized_by_its_beginning() {
    let bulk = "x".repeat(3 << 20);
    let cut = format!(r#"{{"info": {{"model_stats": {{}}, "exit_status": NaN}}, "messages": ["{bulk}"#);
    assert_eq!(found(&[("t.json", cut.as_bytes())])[0].0, "mini_swe_agent");
    let marked = "\u{feff}{\"schema_version\": \"ATIF-v1.2\", \"agent\": {}";
    assert_eq!(found(&[("t.json", marked.as_bytes())])[0].0, "atif");
    assert_eq!(found(&[("t.json", b""), ("u.json", b"{"), ("v.json", b"\xff\xfe{"), ("w.json", b"   ")]), []);
}

#[test]
fn how_much_is_read_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let trajectory = br#"{"trajectory_format": "mini-swe-agent-1", "messages": []}"#;
    for number in 0..60 {
        let inner = folder.path().join(format!("f{number:02}"));
        fs::create_dir(&inner).unwrap();
        for file in 0..30 {
            fs::write(inner.join(format!("{file:02}.json")), trajectory).unwrap();
        }
    }
    let tree = Tree::open(folder.path()).unwrap();
    let all = find(&tree);
    assert_eq!((all.len(), all[0].count, all[0].path.as_str()), (1, FILES, "f00/00.json"));
    assert_eq!(all[0].name, "400 trajectories of mini-swe-agent");
    assert_eq!(all[0].not_read, "which have no verdict of tests and are not read");
}

#[test]
fn what_there_is_most_of_comes_first() {
    let log = br#"{"version": 2, "status": "error", "eval": {"task": "t"}}"#;
    let trajectory = br#"{"trajectory_format": "mini-swe-agent-1", "messages": []}"#;
    assert_eq!(
        found(&[("a.json", trajectory), ("b.json", log), ("c.json", log)]),
        [("inspect", "b.json".to_owned(), 2), ("mini_swe_agent", "a.json".to_owned(), 1)]
    );
}

#[test]
fn what_no_kind_takes_is_named_by_its_form() {
    let form = |bytes: &[u8]| {
        let (_folder, tree) = tree_with(&[("x.json", bytes)]);
        let found = by_form(&tree, "x.json", Path::new("x.json")).unwrap();
        assert_eq!(
            (found.path.as_str(), found.count, found.not_read.as_str()),
            ("x.json", 1, "of no format that is read")
        );
        (found.kind, found.name)
    };
    let many: Vec<String> = (0..20).map(|n| format!("\"k{n}\": {n}")).collect();
    let many = format!("{{{}}}", many.join(","));
    let large = format!("{{\"a\": \"{}\", \"b\": 1}}", "x".repeat(2 << 20));
    for (text, kind, name) in [
        ("{}", "json", "a JSON file with an empty object"),
        ("[]", "json", "a JSON file with an empty list"),
        ("[[1]]", "json", "a JSON file with a list of lists"),
        ("[null, 1]", "json", "a JSON file with a list whose first entry is null"),
        ("\u{feff}[1.5]", "json", "a JSON file with a list whose first entry is a number"),
        ("{\"a\\u001b\\n\": 1}", "json", "a JSON file with an object whose key is a\\u{1b}"),
        ("{bad", "json", "a broken JSON file"),
        ("[1] and more", "json", "a broken JSON file with a list whose first entry is a number"),
        (
            many.as_str(),
            "json",
            "a JSON file with an object whose keys are k0, k1, k2, k3, k4, k5, k6, k7 and others",
        ),
        (large.as_str(), "json", "a JSON file with an object whose first key is a"),
        ("true", "text", "a text file"),
        ("", "empty", "an empty file"),
    ] {
        assert_eq!(form(text.as_bytes()), (kind, name.to_owned()), "{text:.40}");
    }
    let named: [(&str, &[u8], &str, &str); 6] = [
        ("run.log", b"[INFO] started\n", "text", "a text file"),
        ("run.log", b"[2026] started\n", "text", "a text file"),
        ("notes.md", b"{braces", "text", "a text file"),
        ("notes", b"[1, NaN]", "json", "a JSON file with a list whose first entry is a number"),
        ("e.csv", b"", "table", "a table that cannot be read: the file is empty"),
        ("e.parquet", b"", "table", "a table that cannot be read: the file is empty"),
    ];
    for (name, bytes, kind, label) in named {
        let (_folder, tree) = tree_with(&[(name, bytes)]);
        let found = by_form(&tree, name, Path::new(name)).unwrap();
        assert_eq!((found.kind, found.name.as_str()), (kind, label), "{name}");
    }
    assert_eq!(form(b"\xff\xfe{\0").0, "unknown");
    assert_eq!(form("ä".repeat(1 << 20).as_bytes()).0, "text");
}

/// The hint was to open a folder or zip.
#[test]
fn a_list_of_rows_is_named_with_how_it_becomes_a_table() {
    let row = r#"{"run":"a","harness":"h","model":"m","task":"s","round":1,"try":1,"ok":true}"#;
    let instead = |path: &str, text: String| {
        let path = Path::new(path);
        let name = path.file_name().unwrap().to_str().unwrap();
        let (_folder, tree) = tree_with(&[(name, text.as_bytes())]);
        by_form(&tree, name, path).unwrap().instead.into_owned()
    };
    for (name, command) in [
        ("a.json", "jq -c '.[]' a.json > a.jsonl"),
        ("my rows.json", "jq -c '.[]' 'my rows.json' > 'my rows.jsonl'"),
        ("a.jsonl", "jq -c '.[]' a.jsonl > a-rows.jsonl"),
        ("rows", "jq -c '.[]' rows > rows.jsonl"),
        ("/x.y/rows", "jq -c '.[]' /x.y/rows > /x.y/rows.jsonl"),
        ("/my runs/A.JSONL", "jq -c '.[]' '/my runs/A.JSONL' > '/my runs/A-rows.jsonl'"),
    ] {
        for text in [format!("[{row}]"), format!("[\n{row},\n{row}\n]\n")] {
            let open = instead(name, text);
            assert_eq!(open, format!("Write one object a line and open that file: {command}"), "{name}");
        }
    }
    for other in ["[1]", "[[1]]", r#"[{"model":"m","x":1}]"#, row] {
        assert!(instead("a.json", other.to_owned()).starts_with("Open a folder or zip"), "{other}");
    }
}

#[test]
fn every_kind_is_documented_in_its_order() {
    let doc = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
    let doc = fs::read_to_string(doc).unwrap();
    let (_, doc) = doc.split_once("\n## Recognized and not read\n").unwrap();
    let (doc, _) = doc.split_once("\n## ").unwrap();
    let documented: Vec<&str> =
        doc.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(id, _)| id)).collect();
    assert_eq!(documented, kinds().map(|(id, _)| id).collect::<Vec<_>>());
}
