//! Small results of each format.

use std::path::{Path, PathBuf};

use crate::hostile_kit::files_of;

/// Results of one format, and which files of it belong to one episode only.
pub(crate) struct Sample {
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// The folder or file that holds all of the episode that a path belongs to; `None` = it concerns the whole.
    pub(crate) unit: fn(&str) -> Option<String>,
    /// Whether an episode is read from a unit, by its key and by all that it says.
    pub(crate) touches: fn(&str, &str, &str) -> bool,
    /// Whether the format cannot be recognized without it.
    pub(crate) is_required: fn(&str) -> bool,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

pub(crate) fn harbor() -> Sample {
    let jobs = fixtures().join("harbor/jobs");
    let mut files = files_of(&jobs.join("failures-k1"));
    // Enough to have bystanders: every read of the sample is done some hundred times.
    files.retain(|(path, _)| {
        !path.contains("/artifacts/")
            && (!path.contains('/') || ["v1_", "v2_", "v7_", "v8_"].iter().any(|v| path.contains(v)))
    });
    for (path, bytes) in files_of(&jobs.join("terminus2-mock-priced")) {
        files.push((format!("priced/{path}"), bytes));
    }
    for (path, _) in &mut files {
        if !path.starts_with("priced/") {
            *path = format!("failures/{path}");
        }
    }
    Sample {
        files,
        unit: |path| {
            let parts: Vec<_> = path.split('/').collect();
            (parts.len() > 2).then(|| parts[..2].join("/"))
        },
        // The folder of the trial stands in the paths of the episode's artifacts.
        touches: |_, found_codes, unit| found_codes.contains(unit),
        is_required: |_| false,
    }
}

pub(crate) fn evocode() -> Sample {
    Sample {
        files: files_of(&fixtures().join("evocode")),
        unit: |path| path.strip_prefix("tasks/").map(str::to_owned),
        // A task may have an older file beside it.
        touches: |key, _, unit| unit.starts_with(key),
        is_required: |path| path == "index.json",
    }
}

pub(crate) fn staminabench() -> Sample {
    let shapes = fixtures().join("staminabench");
    let mut files = Vec::new();
    for shape in ["own", "nested_folders"] {
        files.extend(
            files_of(&shapes.join(shape)).into_iter().map(|(path, bytes)| (format!("{shape}/{path}"), bytes)),
        );
    }
    // What is parsed, and one of what is only pointed at.
    let pointed_at =
        ["/agent_code/", "/ground_truth/", "/test_suites/", "/schemas/", "/server_logs/", "/agent_logs/"];
    files.retain(|(path, _)| {
        !pointed_at[1..].iter().any(|folder| path.contains(folder)) || path.contains("turn_1")
    });
    files.retain(|(path, _)| !path.contains(pointed_at[0]));
    Sample {
        files,
        unit: |path| {
            let parts: Vec<_> = path.split('/').collect();
            (parts.len() > 2).then(|| parts[..2].join("/"))
        },
        touches: |_, found_codes, unit| found_codes.contains(unit),
        is_required: |_| false,
    }
}

pub(crate) fn terminal_bench() -> Sample {
    Sample {
        files: files_of(&fixtures().join("terminal_bench/run-a")),
        unit: |path| {
            let parts: Vec<_> = path.split('/').collect();
            (parts.len() > 2).then(|| parts[..2].join("/"))
        },
        touches: |_, found_codes, unit| found_codes.contains(unit),
        // One trial stands in it alone.
        is_required: |path| path == "results.json",
    }
}

pub(crate) fn locobench() -> Sample {
    Sample {
        files: files_of(&fixtures().join("locobench/recorded")),
        // Each file is of one agent, whose name the ids of its sessions hold.
        unit: |path| {
            let agents = [
                ("gpt_4_1", "openai-gpt-4.1"),
                ("gpt-4.1", "openai-gpt-4.1"),
                ("gpt_4o", "openai-gpt-4o"),
                ("gpt-4o", "openai-gpt-4o"),
                ("gemini", "google-gemini"),
                ("claude", "anthropic-claude"),
            ];
            agents.iter().find(|(part, _)| path.contains(part)).map(|(_, agent)| (*agent).to_owned())
        },
        touches: |key, _, unit| key.contains(unit),
        is_required: |_| false,
    }
}
