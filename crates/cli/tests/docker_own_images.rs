//! A user's own images, tested with their harness: by command and before a run.

use serde_json::Value;

use crate::app::{TestHome, text};

/// It has no agent's program, and no Flask.
fn bare() -> String {
    std::env::var("STAMINA_TEST_IMAGE").unwrap_or_else(|_| "debian:trixie-slim".to_owned())
}

#[test]
#[ignore = "needs a container engine"]
fn an_image_of_ones_own_is_tried_with_its_harness() {
    let home = TestHome::new();
    // An image of Stamina Lab in the place of a user's own: its version does not matter.
    let tried = home.json(&["images", "test", "stamina/base:1", "--harness", "MOCK"]);
    assert_eq!((&tried[0]["name"], &tried[0]["ok"]), (&"stamina/base:1".into(), &true.into()), "{tried}");
    let bare = bare();
    let out = home.stamina(&["images", "test", &bare, "--harness", "OPENCODE", "--json"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    let tried: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert!(tried[0]["message"].as_str().is_some_and(|answer| answer.contains("the program")), "{tried}");
    // Without a harness it is unknown what to test.
    let message = text(&home.stamina(&["images", "test", &bare]).stderr);
    assert!(message.contains("--harness"), "{message}");
}

#[test]
#[ignore = "needs a container engine"]
fn preflight_asks_an_image_of_ones_own_for_the_harness() {
    let home = TestHome::new();
    let image = format!("docker.image_name={}", bare());
    let look = |agent: &str, image: &str| {
        let values = ["--values", agent, "output_dir=new", "endpoint.mode=oracle", "use_docker=true", image];
        let out = home.stamina(&[&["preflight", "--json", "--no-call"], &values[..]].concat());
        let found: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        found["checks"].as_array().expect("checks").iter().find(|c| c["id"] == "image").cloned().expect("it")
    };
    let missing = look("agent=OPENCODE", &image);
    assert_eq!(missing["state"], "fail", "{missing}");
    assert!(
        missing["sentence"].as_str().is_some_and(|answer| answer.contains("command is not there")),
        "{missing}"
    );
    assert_eq!(look("agent=MOCK", "docker.image_name=stamina/base:1")["state"], "ok");
}
