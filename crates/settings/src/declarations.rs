//! The table: one row for each setting, in the order of the form.

mod advanced;
mod agent;
mod evaluation_loop;
mod limits;
mod results;
mod scenarios;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::{Benchmark, Choice, Key, KeyName, Setting};

/// The benchmarks that play scenarios.
const SCENARIOS: &[Benchmark] = &[Benchmark::Iterative, Benchmark::SingleTurn];
/// The benchmark that plays tasks.
const TASKS: &[Benchmark] = &[Benchmark::Harbor];
/// All benchmarks.
const ALL_BENCHMARKS: &[Benchmark] = &Benchmark::ALL;

/// Every key by name. A test holds that each is declared once.
static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| all().flat_map(Setting::keys).collect());

/// The values that hold for keys that are not given, each in its one form.
static DEFAULTS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| all().flat_map(defaults_of).collect());

/// Every setting, in the order of the form.
pub fn all() -> impl Iterator<Item = &'static Setting> {
    [agent::ROWS, scenarios::ROWS, evaluation_loop::ROWS, limits::ROWS, results::ROWS, advanced::ROWS]
        .into_iter()
        .flatten()
}

/// The settings that the form asks for, each field once.
pub fn fields() -> impl Iterator<Item = &'static Setting> {
    all().filter(|setting| !setting.is_part)
}

/// Every key that a configuration may have outside the sections of others.
pub fn keys() -> &'static [Key] {
    &KEYS
}

/// The setting that declares a key. Without its section the first key of that name is meant.
pub fn declaration(key: &str) -> Option<&'static Setting> {
    let named = || keys().iter().find(|known| known.name == key);
    keys().iter().find(|known| known.dotted() == key).or_else(named).map(|known| known.setting)
}

/// Every key whose declaration names a value for where it is not given, with that value.
pub(crate) fn defaults() -> &'static BTreeMap<String, Value> {
    &DEFAULTS
}

/// The keys of a setting, each with its default.
fn defaults_of(setting: &'static Setting) -> Vec<(String, Value)> {
    let Some(value) = setting.default_value() else { return Vec::new() };
    let keys = match setting.key {
        KeyName::Free(section, name) => vec![format!("{section}.{name}")],
        _ => setting.keys().iter().map(Key::dotted).collect(),
    };
    keys.into_iter().map(|key| (key, value.clone())).collect()
}

/// A choice whose label says what it means.
const fn plain(value: &'static str, label: &'static str) -> Choice {
    Choice { value, label, help: "" }
}

/// A choice with what it means.
const fn choice(value: &'static str, label: &'static str, help: &'static str) -> Choice {
    Choice { value, label, help }
}
