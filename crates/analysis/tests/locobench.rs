//! The nine metrics against what the original program computed: on recorded sessions, and on the vectors of
//! `bench/locobench/vectors.py`, which tell the rules from every single-rule change of them (`mutants.py`).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::HashMap;
use std::path::PathBuf;

use analysis::locobench::{Call, Message, Session, compat, corrected};
use model::{LOCOBENCH_METRICS, LcbaPair};
use serde_json::Value;

/// The calls of a session as its log has them, with what their responses say.
fn calls(session: &Value) -> Vec<Call<'_>> {
    let mut outcomes: HashMap<&str, bool> = HashMap::new();
    for message in session["conversation_history"].as_array().into_iter().flatten() {
        for response in message["tool_responses"].as_array().into_iter().flatten() {
            outcomes.insert(response["call_id"].as_str().unwrap(), response["success"].as_bool().unwrap());
        }
    }
    let log = session["tool_usage_log"].as_array().into_iter().flatten();
    log.map(|entry| {
        let call = &entry["tool_call"];
        let path = ["path", "target_file", "file_path"]
            .iter()
            .find_map(|key| call["parameters"][key].as_str().filter(|path| !path.is_empty()));
        Call {
            tool: call["tool_name"].as_str().unwrap_or_default(),
            function: call["function_name"].as_str().unwrap(),
            path,
            // In no vector and no recorded session a path is something else than a text.
            other_path: None,
            succeeded: call["call_id"].as_str().and_then(|id| outcomes.get(id).copied()),
        }
    })
    .collect()
}

fn nine(session: &Value) -> [f64; 9] {
    let history = session["conversation_history"].as_array().into_iter().flatten();
    let messages: Vec<Message<'_>> = history
        .map(|message| Message {
            role: message["role"].as_str().unwrap(),
            content: message["content"].as_str().unwrap_or_default(),
        })
        .collect();
    let files: Vec<(&str, Option<&str>)> = session["modified_files"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    compat(&Session {
        calls: &calls(session),
        messages: &messages,
        files: &files,
        error_rate: session["error_rate"].as_f64().unwrap_or(0.0),
    })
}

#[test]
fn every_vector_of_the_original_is_met() {
    let golden: Value = serde_json::from_str(include_str!("golden/locobench.json")).unwrap();
    let vectors = golden["vectors"].as_array().unwrap();
    assert!(vectors.len() > 300);
    for vector in vectors {
        let found = nine(&vector["session"]);
        for (index, name) in LOCOBENCH_METRICS.iter().enumerate() {
            let expected = vector["metrics"][index].as_f64().unwrap();
            assert!(
                (found[index] - expected).abs() < 1e-9,
                "{}: {name} is {}, the original has {expected}",
                vector["name"],
                found[index]
            );
        }
    }
}

fn recorded() -> Vec<(String, Value)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/locobench/golden"));
    let mut found: Vec<(String, Value)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy()[..2].to_owned();
            (name, serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(found.len(), 8);
    found
}

#[test]
fn recorded_sessions_have_the_originals_figures() {
    for (name, session) in recorded() {
        let found = nine(&session["session_result"]);
        let expected = &session["expected"];
        for (value, metric) in found.iter().zip(LOCOBENCH_METRICS) {
            let expected = expected["metrics"][metric].as_f64().unwrap();
            assert!((value - expected).abs() < 1e-9, "{name}: {metric} is {value}, not {expected}");
        }
        let pair = LcbaPair::from_metrics(&found);
        let near = |value: f64, key: &str| (value - expected[key].as_f64().unwrap()).abs() < 1e-9;
        assert!(near(pair.comprehension, "lcba_comprehension"), "{name}");
        assert!(near(pair.efficiency, "lcba_efficiency"), "{name}");
        assert!(near(pair.overall(), "overall_score"), "{name}");
    }
}

#[test]
fn what_the_calls_show_is_told_apart_from_what_is_unknown() {
    // Worked by hand from the sessions; `-` is unknown.
    let expected = [
        ("01", Some((7, 7)), 4, Some((2, 3))),
        ("02", Some((6, 6)), 3, Some((2, 3))),
        ("03", Some((3, 3)), 2, Some((0, 2))),
        ("04", Some((5, 5)), 4, Some((1, 2))),
        ("06", Some((4, 4)), 3, None),
        ("07", None, 0, None),
        ("08", Some((0, 5)), 3, None),
        ("13", Some((10, 10)), 1, None),
    ];
    for ((name, session), (expected_name, success, functions, read_first)) in recorded().iter().zip(expected)
    {
        let found = corrected(&calls(&session["session_result"]));
        assert_eq!(
            (name.as_str(), found.tool_success, found.distinct_functions, found.read_before_write),
            (expected_name, success, Some(functions), read_first)
        );
    }
}
