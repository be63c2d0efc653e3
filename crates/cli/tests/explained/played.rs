//! Numbers of a run that is played.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::app::TestHome;
use crate::explained::library::Library;
use crate::explained::{are_near, check_all_of, home_with_a_played_run, known, number};

/// Changes what a run of two episodes of three turns has left behind: as if it had a price and an endpoint, and was not over.
fn continue_as_if_paid(home: &TestHome) {
    let change = |file: &str, edit: &dyn Fn(&mut Value)| {
        let file = home.path(&format!("results/.stamina/{file}"));
        let mut state: Value =
            serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("a state");
        edit(&mut state);
        std::fs::write(&file, state.to_string()).expect("a file");
    };
    // As if one episode had two turns left, its last event were at 1,800,000,000 seconds since 1970, and both had a price: 0.5
    // dollars for one turn and 0.6 for three. The run has spent 0.15 on attempts that were dropped.
    change("episodes/scenario_0.json", &|episode| {
        episode["phase"] = "agent".into();
        episode["cells"] = serde_json::json!(["passed"]);
        episode["turn"] = 2.into();
        episode["spent"]["cost_usd"] = 0.5.into();
        episode["last_event_at"] = "2027-01-15T08:00:00Z".into();
    });
    change("episodes/scenario_1.json", &|episode| episode["spent"]["cost_usd"] = 0.6.into());
    change("run.json", &|run| {
        run["spent"]["cost_usd"] = 1.25.into();
        run["endpoint"] = serde_json::json!({ "retried": 3, "lost": 1 });
    });
    // As if the endpoint had written two answers, one twice as fast as the other, and failed three tries. They are of the future, so
    // that a slow machine does not make them old.
    let streamed = |second: u32, faults: &[u16], first: f64, rest: f64| {
        let request = serde_json::json!({
            "episode": "scenario_1", "turn": 1, "attempt": 1, "at": format!("2100-01-01T00:00:{second:02}Z"), "number": 900 + second,
            "route": "POST /v1/chat/completions", "model": null, "cost_usd": null, "seconds": 30.0, "status": 200, "retries": 0,
            "tokens": { "input": 3100, "cached": 100, "output": 180 }, "faults": faults, "stream": { "first": first, "rest": rest }
        });
        format!("{request}\n")
    };
    let log = home.path("results/.stamina/gateway.jsonl");
    let before = std::fs::read_to_string(&log).unwrap_or_default();
    let after = before + &streamed(1, &[429, 0], 20.0, 2.0) + &streamed(2, &[429], 10.0, 1.0);
    std::fs::write(&log, after).expect("a file");
}

#[test]
fn numbers_of_a_run_that_is_played_are_what_the_lines_of_their_explanations_give() {
    let home = home_with_a_played_run();
    continue_as_if_paid(&home);

    let library = Library::from_home(home, "run", "run");
    let folder = library.home.path("results").to_str().expect("UTF-8").to_owned();
    let live =
        library.home.json(&["rpc", "get_live_run", &serde_json::json!({ "folder": folder }).to_string()]);
    let range =
        |value: &Value| value.as_array().expect("two numbers").iter().map(number).collect::<Vec<f64>>();
    // 1.25 + 2 · (0.2 + 0.1 · 0.3), and with 0.9: a turn costs 0.2 or 0.5 dollars. Nothing is forecast here, as nobody plays the run.
    let pace = vec![1.71, 2.19];
    let mut faults: Vec<f64> = live["faults"].as_array().expect("faults").iter().flat_map(range).collect();
    faults.extend(["endpoint_retried", "endpoint_lost"].map(|name| number(&live["row"][name])));
    assert!(are_near(&faults, &[0.0, 1.0, 429.0, 2.0, 3.0, 1.0]), "{faults:?}");
    let speed =
        |part: &str| ["median", "p10"].map(|statistic| number(&live["tokens_per_second"][part][statistic]));
    let speeds = [speed("answer"), speed("prompt")].concat();
    // 90 and 180 tokens a second of answers, 150 and 300 of prompts.
    assert!(are_near(&speeds, &[135.0, 99.0, 225.0, 165.0]), "{speeds:?}");
    let rows = library.rows(&["progress", "results"]);
    // No episode counts it, and the page of the run says it of all of them.
    let progress = library.home.json(&["table", "progress", "results"]);
    let cost = "Over the whole run: 3 attempts retried for the endpoint, 1 attempt lost to it.";
    let notes = progress["notes"].as_array().expect("notes");
    assert!(notes.iter().any(|note| note.as_str() == Some(cost)), "{progress}");
    let played = library.home.text(&["table", "played"]);
    assert!(played.contains("Attempts retried for the endpoint"), "{played}");
    let run = library.rows(&["played"]).remove(0);
    let run_numbers = |names: &[&str]| names.iter().map(|name| number(&run[name])).collect::<Vec<f64>>();
    assert!(are_near(&run_numbers(&["turns_decided", "episodes_over"]), &[4.0, 1.0]), "{run}");
    assert!(are_near(&run_numbers(&["endpoint_retried", "endpoint_lost"]), &[3.0, 1.0]), "{run}");
    let expected = BTreeMap::from([
        ("turns_done", run_numbers(&["turns_decided", "turns"])),
        ("episodes_done", run_numbers(&["episodes_over", "episodes"])),
        ("current_turn", known(&rows, "turn")),
        ("current_attempt", known(&rows, "attempt")),
        ("elapsed", known(&rows, "seconds")),
        ("live_tokens", vec![run_numbers(&["input_tokens", "output_tokens"]).iter().sum::<f64>()]),
        ("live_cost", vec![known(&rows, "cost_usd").iter().sum::<f64>()]),
        ("pace_cost", pace),
        ("endpoint_faults", faults),
        ("tokens_per_second", speeds),
        ("last_event", vec![42.0]),
        ("time_left", known(&rows, "eta_seconds")),
    ]);
    check_all_of("live", &library, &|_| vec![("FOLDER", "results"), ("NOW", "1800000042")], expected);
}
