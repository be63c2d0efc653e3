//! The results of a run as they can be compared: without times, durations and ids.
#![allow(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// All files of the results but `.stamina`, without times, durations and ids.
pub(crate) fn normalized(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(open_folder) = open.pop() {
        for entry in std::fs::read_dir(&open_folder).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            if entry.file_type().unwrap().is_dir() {
                if name != ".stamina" {
                    open.push(path);
                }
                continue;
            }
            assert!(!name.contains(".part-"), "{name} was left unfinished");
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            files.insert(name.clone(), comparable_text(&name, &text, folder));
        }
    }
    files
}

fn comparable_text(name: &str, text: &str, folder: &Path) -> String {
    let text = text.replace(&folder.to_string_lossy().into_owned(), "FOLDER");
    if name.ends_with(".json") {
        let mut value: Value = serde_json::from_str(&text).unwrap();
        without_times(&mut value);
        return serde_json::to_string_pretty(&value).unwrap();
    }
    if name.contains("test_results/") {
        // The last line ends with how long it took.
        return text
            .lines()
            .map(|line| line.split(" in ").next().unwrap_or(line).trim_end_matches('=').to_owned() + "\n")
            .collect();
    }
    if name.contains("server_logs/") || name.contains("agent_logs/") {
        let plain = |line: &str| line.replace(|c: char| c.is_ascii_digit(), "") + "\n";
        let mut lines: Vec<String> = text.lines().map(plain).collect();
        if name.contains("server_logs/") {
            // Two streams, which meet by chance.
            lines.sort();
        }
        return lines.concat();
    }
    text
}

fn without_times(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| {
                !key.ends_with("_at")
                    && !key.ends_with("seconds")
                    && key != "run_id"
                    && key != "repeats"
                    && key != "at"
            });
            map.values_mut().for_each(without_times);
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}
