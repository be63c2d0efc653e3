//! The price table: what a person puts into it is kept, checked, and what costs and estimates are counted by.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use serde_json::{Value, json};

use crate::app::{Served, TestHome, text};

/// Tokens of each answer of the endpoint, and how many of the first were cached.
const TOLD: (f64, f64, f64) = (1000.0, 400.0, 200.0);

fn price(model: &str, input: f64, cached: Option<f64>, output: f64) -> Value {
    json!({ "model": model, "input": input, "cached": cached, "cache_write": null, "output": output })
}

fn put(app: &Served, prices: &[Value]) -> Value {
    app.get("set_prices", &json!({ "put": prices, "remove": [] }))["prices"].clone()
}

fn known(app: &Served) -> Value {
    app.get("get_prices", &json!({}))["prices"].clone()
}

/// The settings of a run against an endpoint, as the form has them.
fn form(app: &Served, agent: &str, model: &str, more: &[(&str, Value)]) -> Value {
    let mut settings = app.get("launch_form", &json!({}))["defaults"].clone();
    let always = [
        ("agent", json!(agent)),
        ("model", json!(model)),
        ("endpoint_mode", json!("gateway")),
        ("base_url", json!("http://127.0.0.1:9")),
        ("use_docker", json!(true)),
        ("n_scenarios", json!(1)),
        ("n_turns", json!(1)),
        ("num_changes_per_turn", json!(1)),
        ("attempt_limit", json!(1)),
    ];
    for (field, value) in always.iter().chain(more) {
        assert!(settings.get(field).is_some(), "{field}");
        settings[field] = value.clone();
    }
    settings
}

fn nearly(found: &Value, wanted: f64) -> bool {
    found.as_f64().is_some_and(|found| (found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0))
}

#[test]
fn a_price_that_is_edited_is_kept_and_one_that_is_removed_is_unknown() {
    let home = TestHome::new();
    let app = Served::new(&home);
    assert_eq!(known(&app), json!([]), "none is shipped");
    let (first, odd) = (price("acme/new", 1.25, Some(0.125), 10.0), price("say \"a\\b\" ü", 0.0, None, 0.5));
    put(&app, &[first, odd.clone()]);
    // Changed where it is; a name is what is left without the space around it.
    let all = put(&app, &[price("  acme/new ", 3.0, None, 15.0)]);
    assert_eq!(all, json!([price("acme/new", 3.0, None, 15.0), odd]));
    assert_eq!(app.get("launch_form", &json!({}))["prices"], all, "the form of a run has it");
    // For whoever comes next, and in a file that a person can read.
    drop(app);
    let app = Served::new(&home);
    assert_eq!(known(&app), all);
    let file = app.get("get_prices", &json!({}))["path"].as_str().unwrap().to_owned();
    assert_eq!(Path::new(&file), home.path(".config/stamina-lab/prices.toml"));
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains("[models.\"acme/new\"]\ninput = 3.0\noutput = 15.0\n"), "{written}");
    assert_eq!(home.json(&["rpc", "get_prices", "{}"])["prices"], all);

    let left = app.get("set_prices", &json!({ "put": [], "remove": ["acme/new", "never there"] }));
    assert_eq!(left["prices"], json!([odd]));
}

#[test]
fn a_price_that_is_none_is_refused_and_changes_nothing() {
    let home = TestHome::new();
    let app = Served::new(&home);
    let all = put(&app, &[price("acme/new", 3.0, None, 15.0)]);
    let bad = [
        price("", 1.0, None, 1.0),
        price("  ", 1.0, None, 1.0),
        price("acme/new", -1.0, None, 1.0),
        price("acme/new", 1.0, Some(-0.1), 1.0),
        price("acme/new", 1.0, None, -2.0),
        // The file could not be read again.
        price("acme\u{7f}new", 1.0, None, 1.0),
        price("acme\nnew", 1.0, None, 1.0),
    ];
    for bad in bad {
        // One that is not taken takes the rest with it.
        let request = json!({ "put": [price("other", 1.0, None, 1.0), bad], "remove": ["acme/new"] });
        let refused = app.ask("set_prices", &request).unwrap_err();
        assert_eq!(refused["code"], "prices.value", "{refused}");
        let message = refused["message"].as_str().unwrap();
        assert!(
            message.contains("is not taken: a model has a name") && message.contains("dollars from 0 up"),
            "{message}"
        );
        assert_eq!(known(&app), all, "{request}");
    }
    // No number at all.
    let request = json!({ "put": [{ "model": "acme/new", "input": "cheap", "output": 1.0 }], "remove": [] });
    let refused = app.ask("set_prices", &request).unwrap_err();
    assert!(refused["message"].as_str().is_some_and(|message| message.contains("cheap")), "{refused}");

    // A file that somebody has spoilt by hand is not written over.
    let file = home.path(".config/stamina-lab/prices.toml");
    std::fs::write(&file, "[models.x]\ninput = \"free\"\n").unwrap();
    let request = json!({ "put": [price("other", 1.0, None, 1.0)], "remove": [] });
    for refused in
        [app.ask("set_prices", &request).unwrap_err(), app.ask("get_prices", &json!({})).unwrap_err()]
    {
        assert_eq!(refused["code"], "prices.table", "{refused}");
        assert!(refused["message"].as_str().unwrap().contains("prices.toml"), "{refused}");
        assert!(refused["hint"].as_str().unwrap().contains("delete it"), "{refused}");
    }
    assert!(std::fs::read_to_string(&file).unwrap().contains("free"));
}

#[test]
fn an_estimate_goes_by_the_table_and_without_a_price_it_has_no_cost() {
    let home = TestHome::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/staminabench/own");
    home.json(&["ingest", fixture.to_str().unwrap()]);
    // Whether a run can begin is another question: no engine answers here.
    let address = format!("unix://{}", home.path("no-engine.sock").display());
    let app = Served::with_command(&home, |command| {
        command.env("DOCKER_HOST", address);
    });
    let look = |model: &str, more: &[(&str, Value)]| {
        let mut settings = form(&app, "mini_swe", model, more);
        settings["output_dir"] = json!(home.path("new"));
        let found = app.get("preflight_run", &json!({ "settings": settings, "call": false }));
        let checks = found["checks"].as_array().unwrap();
        let check =
            checks.iter().find(|check| check["id"] == "price").cloned().unwrap_or_else(|| panic!("{found}"));
        (check, found["estimate"].clone())
    };
    let limited = [("run_usd", json!(0.000_001))];

    // No earlier run used this model, so its cost is unknown; its usage is estimated nevertheless.
    let (check, estimate) = look("acme/new", &[]);
    assert_eq!((&check["state"], &check["value"]), (&json!("warn"), &json!("unknown")), "{check}");
    assert!(check["sentence"].as_str().unwrap().contains("acme/new is not known"), "{check}");
    assert_eq!(estimate["cost_usd"], Value::Null, "{estimate}");
    let tokens = ["tokens_in", "tokens_out"].map(|part| estimate[part].clone());
    assert!(tokens[0][0].as_f64() > Some(0.0) && tokens[1][0].as_f64() > Some(0.0), "{estimate}");
    assert_eq!(look("acme/new", &limited).0["state"], "fail", "a budget that cannot be kept");

    put(&app, &[price("acme/new", 3.0, Some(0.3), 15.0)]);
    let (check, estimate) = look("acme/new", &limited);
    assert_eq!((&check["state"], &check["sentence"]), (&json!("ok"), &Value::Null), "{check}");
    assert_eq!(check["value"], "$3 in, 0.3 cached, $15 out per M tokens");
    let share = estimate["cached"].as_f64().unwrap_or(0.0);
    for end in [0, 1] {
        let tokens_of = |part: usize| tokens[part][end].as_f64().unwrap();
        let wanted = (tokens_of(0) * (3.0 * (1.0 - share) + 0.3 * share) + tokens_of(1) * 15.0) / 1e6;
        assert!(nearly(&estimate["cost_usd"][end], wanted), "{wanted}: {estimate}");
    }
    assert!(estimate["budgets"].as_array().is_some_and(|hit| hit.len() == 1), "{estimate}");

    // Another price, another cost; what the form says goes before the table.
    put(&app, &[price("acme/new", 30.0, Some(3.0), 150.0)]);
    let dearer = look("acme/new", &[]).1["cost_usd"][1].as_f64().unwrap();
    assert!((dearer / estimate["cost_usd"][1].as_f64().unwrap() - 10.0).abs() < 1e-6);
    let own_prices = [("price_input", json!(0.0)), ("price_output", json!(0.0))];
    assert_eq!(look("acme/new", &own_prices).1["cost_usd"], json!([0.0, 0.0]));
    // With a provider before its name it is the same model.
    assert!(nearly(&look("router/acme/new", &[]).1["cost_usd"][1], dearer));

    app.get("set_prices", &json!({ "put": [], "remove": ["acme/new"] }));
    assert_eq!(look("acme/new", &[]).1["cost_usd"], Value::Null);

    // Turns of servers say nothing of steps of tasks: what those take is unknown.
    let tasks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor/tasks");
    let tasks = [("source", json!("tasks")), ("tasks", json!(tasks.canonicalize().unwrap()))];
    let task_estimate = look("acme/new", &tasks).1;
    assert_eq!(
        (&task_estimate["episodes"], &task_estimate["turns"]),
        (&json!(10), &json!(39)),
        "{task_estimate}"
    );
    for part in ["seconds", "tokens_in", "tokens_out", "cost_usd"] {
        assert_eq!(task_estimate[part], Value::Null, "{part}: {task_estimate}");
    }
}

#[test]
#[ignore = "needs a container engine"]
fn a_run_costs_what_the_table_said_when_it_began_and_one_of_an_unknown_model_costs_what_is_unknown() {
    let home = TestHome::new();
    let app = Served::new(&home);
    put(&app, &[price("acme/new", 3.0, Some(0.3), 15.0)]);
    let endpoint = endpoint();
    let play = |model: &str| {
        let folder = home.path(model.rsplit('/').next().unwrap());
        let more = [("base_url", json!(endpoint)), ("output_dir", json!(folder)), ("cpus", json!(1))];
        let settings = form(&app, "mock", model, &more);
        app.get("start_run", &json!({ "settings": settings, "shakedown": false }));
        let run_ref = json!({ "folder": folder });
        // Too late for this one.
        put(&app, &[price("acme/new", 300.0, None, 1500.0)]);
        let live = app.until("get_live_run", &run_ref, |run| run["row"]["state"] == "finished");
        let model_row =
            |runs: &Value| runs["rows"].as_array().unwrap().iter().find(|row| row["model"] == model).cloned();
        let is_read = |runs: &Value| model_row(runs).is_some_and(|row| !row["tokens"]["input"].is_null());
        let runs = app.until("list_runs", &json!({ "limit": 10 }), is_read);
        (live, model_row(&runs).unwrap())
    };
    let (live, row) = play("acme/new");
    let requests = row["tokens"]["input"].as_f64().unwrap_or_else(|| panic!("{row}")) / TOLD.0;
    assert!(requests >= 1.0 && requests.fract() == 0.0, "{row}");
    let request_cost = ((TOLD.0 - TOLD.1) * 3.0 + TOLD.1 * 0.3 + TOLD.2 * 15.0) / 1e6;
    assert!(nearly(&row["cost_usd"], requests * request_cost), "{requests} × {request_cost}: {row}");
    assert_eq!(row["cost_known"], 1, "{row}");
    assert!(live.to_string().contains("cost_usd"), "{live}");
    assert!(nearly(&live["row"]["cost_usd"], requests * request_cost), "{live}");

    let (live, row) = play("acme/unknown");
    assert!(row["tokens"]["input"].as_f64() >= Some(TOLD.0), "{row}");
    assert_eq!((&row["cost_usd"], &row["cost_known"]), (&Value::Null, &json!(0)), "{row}");
    assert_eq!(live["row"]["cost_usd"], Value::Null, "{live}");
    let table = text(&home.stamina(&["runs"]).stdout);
    let unknown_row = table.lines().find(|line| line.contains("acme/unknown")).unwrap();
    assert!(unknown_row.trim_end().ends_with("unknown"), "{table}");
}

/// An endpoint whose model has nothing to do.
fn endpoint() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // Whoever left before it was taken needs no answer.
            let Ok(stream) = stream else { continue };
            std::thread::spawn(move || answer(stream));
        }
    });
    format!("http://{address}")
}

fn answer(mut stream: TcpStream) {
    let (mut request, mut part) = (Vec::new(), [0; 4096]);
    loop {
        // It may leave at any time.
        let Ok(read @ 1..) = stream.read(&mut part) else { return };
        request.extend_from_slice(&part[..read]);
        let text = text(&request).to_ascii_lowercase();
        let Some((head, _)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
        if request.len() >= head.len() + 4 + length.unwrap_or(0_usize) {
            break;
        }
    }
    let body = json!({
        "id": "1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": "Done." } }],
        "usage": {
            "prompt_tokens": TOLD.0 as u64, "completion_tokens": TOLD.2 as u64,
            "prompt_tokens_details": { "cached_tokens": TOLD.1 as u64 },
        },
    })
    .to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())));
}
