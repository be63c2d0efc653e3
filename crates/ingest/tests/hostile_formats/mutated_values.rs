//! Values of JSON files are replaced, doubled or left out at random.

use std::fs;

use files::Tree;
use proptest::prelude::*;
use serde_json::Value;

use crate::hostile_formats::samples::{Sample, evocode, harbor, locobench, staminabench, terminal_bench};
use crate::hostile_formats::{read_all, whole};
use crate::hostile_kit::write_folder;

/// A value of another type, or an unlikely one of the same.
fn any_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        Just(Value::from(-1)),
        Just(Value::from(u64::MAX)),
        Just(Value::from(i64::MIN)),
        Just(Value::from(1e308)),
        Just(Value::from(0.5)),
        (0_u32..200).prop_map(Value::from),
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        "\\PC{0,8}".prop_map(Value::from),
        Just(Value::from("2026-99-99T99:99:99Z")),
        Just(serde_json::json!([])),
        Just(serde_json::json!({})),
        Just(serde_json::json!([null, [[]], {"a": {}}])),
        Just(serde_json::json!({"": 1, "a": [1, "x"]})),
    ]
}

#[derive(Debug, Clone)]
enum Mutation {
    Truncate(prop::sample::Index),
    Flip(Vec<(prop::sample::Index, u8)>),
    /// Other values at some places of the JSON.
    Values(Vec<(prop::sample::Index, Value)>),
    Gone,
}

fn any_mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        1 => index().prop_map(Mutation::Truncate),
        2 => prop::collection::vec((index(), any::<u8>()), 1..8).prop_map(Mutation::Flip),
        5 => prop::collection::vec((index(), any_value()), 1..4).prop_map(Mutation::Values),
        1 => Just(Mutation::Gone),
    ]
}

fn count_values(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count_values).sum(),
        Value::Object(map) => map.values().map(count_values).sum(),
        _ => 0,
    }
}

fn replace_value(value: &mut Value, index: &mut usize, new: &Value) {
    if *index == 0 {
        *value = new.clone();
    }
    let Some(left) = index.checked_sub(1) else {
        *index = usize::MAX;
        return;
    };
    *index = left;
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| replace_value(value, index, new)),
        Value::Object(map) => map.values_mut().for_each(|value| replace_value(value, index, new)),
        _ => {}
    }
}

fn mutate(bytes: &[u8], mutation: &Mutation) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    match mutation {
        Mutation::Gone => return None,
        Mutation::Truncate(position) => bytes.truncate(position.index(bytes.len() + 1)),
        Mutation::Flip(flips) if !bytes.is_empty() => {
            for (position, value) in flips {
                let position = position.index(bytes.len());
                bytes[position] = *value;
            }
        }
        Mutation::Flip(_) => {}
        Mutation::Values(changes) => {
            if let Ok(mut json) = serde_json::from_slice::<Value>(&bytes) {
                for (position, new) in changes {
                    let mut index = position.index(count_values(&json));
                    replace_value(&mut json, &mut index, new);
                }
                bytes = serde_json::to_vec(&json).unwrap();
            } else {
                let line = bytes.split(|b| *b == b'\n').count();
                for (position, new) in changes {
                    let n = position.index(line);
                    let mut lines: Vec<_> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
                    if let Some(line) = lines.get_mut(n) {
                        *line = new.to_string().into_bytes();
                    }
                    bytes = lines.join(&b'\n');
                }
            }
        }
    }
    Some(bytes)
}

fn mutated(sample: &Sample, choices: &[(prop::sample::Index, Mutation)]) {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("results");
    write_folder(&root, &sample.files);
    let whole = whole(&root);
    let mut units = Vec::new();
    for (index, mutation) in choices {
        let (path, bytes) = &sample.files[index.index(sample.files.len())];
        match mutate(bytes, mutation) {
            Some(bytes) => fs::write(root.join(path), bytes).unwrap(),
            None => {
                let _ = fs::remove_file(root.join(path));
            }
        }
        units.push((sample.unit)(path));
    }
    let (episodes, _) = read_all(&Tree::open(&root).unwrap());
    if units.iter().any(Option::is_none) {
        return;
    }
    for (key, (before, found_codes)) in &whole {
        if !units.iter().flatten().any(|unit| (sample.touches)(&before.key, found_codes, unit)) {
            assert_eq!(episodes.get(key), Some(before), "{key:?}");
        }
    }
}

fn choices() -> impl Strategy<Value = Vec<(prop::sample::Index, Mutation)>> {
    prop::collection::vec((any::<prop::sample::Index>(), any_mutation()), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 8,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn mutated_harbor_jobs_cost_only_what_was_mutated(choices in choices()) {
        mutated(&harbor(), &choices);
    }

    #[test]
    fn mutated_staminabench_folders_cost_only_what_was_mutated(choices in choices()) {
        mutated(&staminabench(), &choices);
    }

    #[test]
    fn mutated_runs_of_tb_cost_only_what_was_mutated(choices in choices()) {
        mutated(&terminal_bench(), &choices);
    }

    #[test]
    fn mutated_sessions_of_locobench_cost_only_what_was_mutated(choices in choices()) {
        mutated(&locobench(), &choices);
    }

    #[test]
    fn mutated_published_results_cost_only_what_was_mutated(choices in choices()) {
        mutated(&evocode(), &choices);
    }
}
