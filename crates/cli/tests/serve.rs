//! `stamina serve` as whoever opens its link for the first time meets it.

use serde_json::{Value, json};

use crate::app::{Served, TestHome};

#[test]
fn a_browser_is_offered_the_sample_of_the_desktop_app_and_opens_it() {
    let home = TestHome::new();
    let app = Served::new(&home);
    let state = app.get("app_state", &json!({}));
    let sample = state["sample"].as_str().expect("the place of the sample").to_owned();
    assert!(sample.ends_with("data/sample-simulated.zip"), "{sample}");
    assert_eq!(state["sources"], json!([]), "a library of one's own begins empty");

    let opened = app.get("open_source", &json!({ "path": sample }));
    assert_eq!(opened["path"], json!(sample));
    let ready = |state: &Value| state["sources"][0]["status"] == "ready";
    let state = app.until("app_state", &json!({}), ready);
    assert_eq!(state["runs"], 9);
    assert_eq!(state["real_runs"], 0, "nobody takes it for results of a model");
}
