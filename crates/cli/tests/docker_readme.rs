//! The README's lines that need a container engine, each in a shell exactly as it is printed there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::app::text;
use crate::printed_lines::{Shell, lines_of};

const README: &str = "README.md";

/// A shell for the README's lines, and those of them that begin so, in their order.
fn shell_and_lines(beginnings: &[&str]) -> (Shell, Vec<String>) {
    let all = lines_of(README);
    let wanted = |begin: &&str| all.iter().find(|line| line.starts_with(*begin)).unwrap().clone();
    let lines: Vec<String> = beginnings.iter().map(wanted).collect();
    (Shell::new(&lines), lines)
}

/// What a command prints as JSON.
fn json(shell: &Shell, command: &str) -> Value {
    let output = shell.command(command).output().unwrap();
    assert!(output.status.success(), "{command}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Copies a task of the fixtures. Its image gets along without the network.
fn copy_task(source: &Path, target_folder: &Path) {
    test_folders::copy(source, target_folder);
    let file = target_folder.join("environment/Dockerfile");
    let recipe = fs::read_to_string(&file).unwrap();
    let kept: Vec<&str> = recipe.lines().filter(|line| !line.contains("apt-get")).collect();
    fs::write(file, kept.join("\n")).unwrap();
}

#[test]
#[ignore = "needs a container engine and the image of mini-swe-agent"]
fn an_image_and_the_first_run_of_the_readme_work_and_the_run_is_in_the_library_at_once() {
    let (shell, lines) = shell_and_lines(&["stamina images build ", "stamina run --values agent=MINI_SWE "]);
    for line in &lines {
        shell.run(README, line);
    }
    let list = json(&shell, "stamina images list --json");
    let images = list["images"].as_array().unwrap();
    let image = images.iter().find(|image| image["name"] == "mini-swe-agent").unwrap();
    assert_eq!((&image["built"], &image["current"]), (&true.into(), &true.into()), "{image}");
    let runs = json(&shell, "stamina runs --json");
    let run = &runs.as_array().unwrap()[0];
    assert_eq!(
        (&run["harness"], &run["simulated"], &run["episodes"]),
        (&"mini_swe".into(), &true.into(), &2.into())
    );
    let survival = json(&shell, &format!("stamina survival '{}' --json", run["id"].as_str().unwrap()));
    assert!(!survival.as_array().unwrap().is_empty());
}

#[test]
#[ignore = "needs a container engine"]
fn the_readmes_run_of_tasks_of_harbor_passes_by_their_own_solutions() {
    let (shell, lines) = shell_and_lines(&["stamina run --values benchmark=HARBOR "]);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor/tasks");
    fs::create_dir(shell.path("tasks")).unwrap();
    for task in ["theme_t1_w1_notes_cli", "theme_t2_w2_ledger_report"] {
        copy_task(&fixtures.join(task), &shell.path("tasks").join(task));
    }
    shell.run(README, &lines[0]);
    let runs = json(&shell, "stamina runs --json");
    let run = &runs.as_array().unwrap()[0];
    assert_eq!((&run["episodes"], &run["perfect"]), (&2.into(), &2.into()), "{run}");
    assert_eq!(run["end_reasons"], serde_json::json!({ "passed_all": 2 }), "{run}");
    assert!(shell.path("results/oracle").is_dir());
}
