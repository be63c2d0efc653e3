//! Tasks of Harbor that a test writes, and settings that play them.

#![allow(dead_code, reason = "each test takes what it needs of it")]

use std::fs;
use std::path::Path;

/// The image of a task with a harness in it: mini-swe-agent, which needs a Python that no task has to have.
pub(crate) const HARNESS: [&str; 4] =
    ["agent=MINI_SWE", "endpoint.mode=oracle", "limits.memory_gib=1.5", "batch_size=2"];
pub(crate) const REWARD: &str = "> /logs/verifier/reward.txt";
/// In the `task.toml` of a task that has to know whether its run was resumed with [`RESUMED`].
pub(crate) const KNOWS_RESUME: &str = "[environment.env]\nRESUMED = \"${RESUMED:-}\"\n";
/// The change of a resume that such a task sees.
pub(crate) const RESUMED: &str = "docker.env_vars=RESUMED=yes";
/// Waits until the stop of the run ends it. After a resume it goes on at once. Where no stop comes, its step cannot pass.
pub(crate) const UNTIL_STOPPED: &str = "[ -n \"$RESUMED\" ] || { sleep 600; rm -rf /app/*; }";

/// Settings of a run of tasks.
pub(crate) fn settings(folder: &Path, tasks: &Path, more: &[&str]) -> runner::settings::RunSettings {
    let mut list = vec![
        format!("output_dir={}", folder.display()),
        format!("tasks={}", tasks.display()),
        "benchmark=HARBOR".to_owned(),
        "limits.cpus=1".to_owned(),
        "limits.memory_gib=0.5".to_owned(),
        "batch_size=3".to_owned(),
    ];
    list.extend(more.iter().map(|&value| value.to_owned()));
    runner::settings::resolve(&[], &list).unwrap()
}

/// Whether what is wide and not different in kind is tested as a whole: `npm run test:deep`.
pub(crate) fn is_every_way() -> bool {
    std::env::var_os("STAMINA_EVERY_WAY").is_some()
}

/// What each request of a step put into the model, in the order in which they ended.
pub(crate) fn inputs(folder: &Path, episode: &str, turn: u64) -> Vec<u64> {
    let log = fs::read_to_string(folder.join(".stamina/gateway.jsonl")).unwrap();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let step_lines = lines.filter(|line| line["episode"] == episode && line["turn"] == turn);
    step_lines.filter_map(|line| line["tokens"]["input"].as_u64()).collect()
}

/// Writes a task whose steps are pairs of a solution and a test.
pub(crate) fn task(tasks_folder: &Path, name: &str, toml: &str, steps: &[(&str, &str)]) {
    let folder = tasks_folder.join(name);
    let put = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("environment/Dockerfile", "FROM debian:trixie-slim\nWORKDIR /app\n");
    let mut file = toml.to_owned();
    for (number, (solve, test)) in steps.iter().enumerate() {
        if !toml.contains("[[steps]]") {
            file.push_str(&format!("[[steps]]\nname = \"s{number}\"\n"));
        }
        put(&format!("steps/s{number}/instruction.md"), "# Do it\n");
        put(&format!("steps/s{number}/solution/solve.sh"), &format!("#!/bin/bash\n{solve}\n"));
        put(&format!("steps/s{number}/tests/test.sh"), &format!("#!/bin/bash\n{test}\n"));
    }
    put("task.toml", &file);
}
