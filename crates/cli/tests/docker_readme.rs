//! The README's first run, exactly as it is printed there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::app::{TestHome, text};

#[test]
#[ignore = "needs a container engine and the image of mini-swe-agent"]
fn the_first_run_of_the_readme_works_and_is_in_the_library_at_once() {
    let readme = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let line = readme.lines().find(|line| line.starts_with("stamina run --values")).unwrap();
    let (line, _) = line.split_once('#').unwrap();
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let home = TestHome::new();
    let output = home.stamina(&words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let runs = home.json(&["runs"]);
    let run = &runs.as_array().unwrap()[0];
    assert_eq!(
        (&run["harness"], &run["simulated"], &run["episodes"]),
        (&"mini_swe".into(), &true.into(), &2.into())
    );
    let survival = home.json(&["survival", run["id"].as_str().unwrap()]);
    assert!(!survival.as_array().unwrap().is_empty());
}
