//! Which scenario a folder holds. Its trajectory says it; the folder's name stands in where nothing else does, since a folder
//! that was copied or renamed has another one.
//!
//! Only the beginning of a trajectory is read, so that a survey need not read whole files.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hasher};

use files::{Tree, join};

use super::exact::SCHEMA;
use super::file_head::head;
use super::folder_names::scenario_number;
use super::json_fields::normal;

/// Beginning of a trajectory in which the name is looked for, in bytes.
const BEGINNING: u64 = 4 << 10;
/// So many bytes of trajectories are compared with each other in one run.
const COMPARED: u64 = 256 << 20;
/// The longest name that is taken, in bytes.
const LONGEST: usize = 200;
/// Fields that may name the scenario in trajectories of others.
const NAMES: [&str; 7] = ["scenario", "scenario_id", "scenario_name", "task_id", "task", "name", "id"];
/// Fields that may give its number alone.
const NUMBERS: [&str; 4] = ["scenario", "scenario_id", "scenario_idx", "scenario_number"];

/// What a trajectory says of its scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ScenarioLabel {
    Name(String),
    Number(u32),
}

/// Names of the scenarios of these folders, in their order; of a scenario that its trajectory does not name that of its folder.
pub(super) fn all(tree: &Tree, place_folder: &str, folders: &[String]) -> Vec<String> {
    let labels: Vec<Option<ScenarioLabel>> = folders
        .iter()
        .map(|folder| in_beginning(&head(tree, &trajectory_path(place_folder, folder), BEGINNING)?))
        .collect();
    // Trajectories may count from 0 and folders from 1.
    let counts_alike = folders.iter().zip(&labels).any(
        |(folder, label)| matches!(label, Some(ScenarioLabel::Number(number)) if scenario_number(folder) == Some(*number)),
    );
    let name = |(folder, label): (&String, Option<ScenarioLabel>)| match label {
        Some(ScenarioLabel::Name(name)) => name,
        Some(ScenarioLabel::Number(number)) if counts_alike && scenario_number(folder) != Some(number) => {
            format!("scenario_{number}")
        }
        _ => folder.clone(),
    };
    folders.iter().zip(labels).map(name).collect()
}

/// What copies of a scenario's folder have in common, by its name: its number, where it has one (`scenario_3 copy`).
pub(super) fn name_without_copy_mark(scenario: &str) -> String {
    let (name, step) = scenario.find('/').map_or((scenario, ""), |index| scenario.split_at(index));
    scenario_number(name).map_or_else(|| scenario.to_owned(), |number| format!("scenario_{number}{step}"))
}

/// Indexes of the folders that hold the same trajectory, byte by byte, as another one of the same scenario, each with that of the
/// one that counts: preferably the one that is called as its scenario. A scenario is played once in a run.
pub(super) fn copied(tree: &Tree, folder: &str, folders: &[String], names: &[String]) -> Vec<(usize, usize)> {
    let keys: Vec<String> = names.iter().map(|name| name_without_copy_mark(name)).collect();
    let mut folders_by_scenario: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, key) in keys.iter().enumerate() {
        folders_by_scenario.entry(key).or_default().push(index);
    }
    let mut left = COMPARED;
    let mut copies = Vec::new();
    for mut same in folders_by_scenario.into_values().filter(|same| same.len() > 1) {
        same.sort_by_key(|index| (folders[*index] != names[*index], *index));
        let sizes: Vec<(usize, u64)> = same
            .into_iter()
            .filter_map(|index| {
                let entry = tree.entry(&trajectory_path(folder, &folders[index]))?;
                (!entry.is_folder()).then_some((index, entry.size))
            })
            .collect();
        let mut count_by_size: HashMap<u64, usize> = HashMap::new();
        for (_, size) in &sizes {
            *count_by_size.entry(*size).or_default() += 1;
        }
        let mut counted: HashMap<(u64, u64), usize> = HashMap::new();
        for (index, size) in &sizes {
            let Some(rest) = left.checked_sub(*size).filter(|_| count_by_size[size] > 1) else { continue };
            left = rest;
            let Ok(bytes) = tree.read(&trajectory_path(folder, &folders[*index]), *size) else { continue };
            let mut hasher = DefaultHasher::new();
            hasher.write(&bytes);
            match counted.entry((*size, hasher.finish())) {
                Entry::Occupied(first) => copies.push((*index, *first.get())),
                Entry::Vacant(entry) => {
                    entry.insert(*index);
                }
            }
        }
    }
    copies
}

fn trajectory_path(place_folder: &str, folder: &str) -> String {
    let folder = if folder.is_empty() { place_folder.to_owned() } else { join(place_folder, folder) };
    join(&folder, "trajectory.json")
}

/// The name in the beginning of a trajectory, if it stands there.
fn in_beginning(text: &str) -> Option<ScenarioLabel> {
    let fields = outer_fields(text);
    let value = |name: &str| fields.iter().find(|(key, _)| normal(key) == name).map(|(_, value)| *value);
    let text = |name: &str| unquoted(value(name)?).filter(|text| !text.is_empty() && text.len() <= LONGEST);
    if text("schema_version").as_deref() == Some(SCHEMA) {
        return text("scenario").map(ScenarioLabel::Name);
    }
    // Any other text may be one that all scenarios have.
    let name = NAMES.iter().find_map(|name| text(name).filter(|text| scenario_number(text).is_some()));
    let number = || NUMBERS.iter().find_map(|name| value(name)?.trim().parse().ok());
    name.map(ScenarioLabel::Name).or_else(|| number().map(ScenarioLabel::Number))
}

/// The fields of the object that a JSON text begins with, each with its value as it stands, as far as the text goes. What is
/// not JSON in a value (`NaN`) is passed over.
fn outer_fields(text: &str) -> Vec<(&str, &str)> {
    let mut fields = Vec::new();
    let Some(mut rest) = text.trim_start_matches('\u{feff}').trim_start().strip_prefix('{') else {
        return fields;
    };
    while let Some((key, after)) = quoted(rest.trim_start()) {
        let Some(after) = after.trim_start().strip_prefix(':') else { break };
        let Some((value, after)) = value(after.trim_start()) else { break };
        fields.push((key, value));
        let Some(next) = after.trim_start().strip_prefix(',') else { break };
        rest = next;
    }
    fields
}

/// What stands between the quotes that a text begins with, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inner.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some((inner.get(..end)?, inner.get(end + 1..)?))
}

/// The text that a value is, if it is one.
fn unquoted(value: &str) -> Option<String> {
    value.starts_with('"').then(|| serde_json::from_str(value).ok()).flatten()
}

/// The value that a text begins with, and what follows; `None` = it does not end here.
fn value(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let (mut index, mut depth) = (0, 0_usize);
    loop {
        match bytes.get(index)? {
            b'"' => {
                let (inner, _) = quoted(text.get(index..)?)?;
                index += inner.len() + 2;
            }
            b'{' | b'[' => {
                depth += 1;
                index += 1;
            }
            b'}' | b']' | b',' if depth == 0 => break,
            b'}' | b']' => {
                depth -= 1;
                index += 1;
            }
            _ => index += 1,
        }
    }
    Some((text.get(..index)?, text.get(index..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Option<String> {
        match in_beginning(text)? {
            ScenarioLabel::Name(name) => Some(name),
            ScenarioLabel::Number(number) => Some(format!("number {number}")),
        }
    }

    #[test]
    fn a_trajectory_names_its_scenario_by_a_field_of_its_own() {
        for (text, expected) in [
            (r#"{"schema_version": "stamina-lab/1", "scenario": "shop"}"#, Some("shop")),
            (
                "\u{feff}\r\n{\"odd\": [NaN, {\"a\": \"}\\\"\"}],\r\n\"task_id\": \"scenario_3\", \"turns\": [",
                Some("scenario_3"),
            ),
            (r#"{"scenario": 4, "turns": [{"scenario": 5}]}"#, Some("number 4")),
            (r#"{"Scenario ID": "Scenario-04_shop", "x": 1}"#, Some("Scenario-04_shop")),
            // A word that all of them may have, a value that is cut off, a field of a turn.
            (r#"{"task": "restful_server_gen"}"#, None),
            (r#"{"scenario": "scenario_1"#, None),
            (r#"{"scenario": 12"#, None),
            (r#"{"turns": [{"scenario": "scenario_5"}]}"#, None),
            (r#"[{"scenario": "scenario_5"}]"#, None),
            (r#"{"scenario": null, "id": 7}"#, None),
            ("", None),
        ] {
            assert_eq!(name(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn copies_of_a_folder_have_its_number_in_common() {
        for (a, b) in [
            ("scenario_0 copy", "scenario_0"),
            ("scenario_3 (1)", "scenario-3"),
            ("scenario_2 copy/step 1", "scenario_2/step 1"),
        ] {
            assert_eq!(name_without_copy_mark(a), name_without_copy_mark(b));
        }
        assert_eq!(name_without_copy_mark("shop"), "shop");
        assert_ne!(name_without_copy_mark("scenario_2/step 1"), name_without_copy_mark("scenario_2/step 2"));
    }
}
