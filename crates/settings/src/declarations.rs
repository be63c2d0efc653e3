//! The table: one row for each setting, in the order of the form.

mod advanced;
mod agent;
mod limits;
mod playing;
mod results;
mod scenarios;

use std::sync::LazyLock;

use crate::{Benchmark, Choice, Key, Setting};

/// The benchmarks that play scenarios.
const SCENARIOS: &[Benchmark] = &[Benchmark::Iterative, Benchmark::SingleTurn];
/// The benchmark that plays tasks.
const TASKS: &[Benchmark] = &[Benchmark::Harbor];
/// All benchmarks.
const ANY: &[Benchmark] = &[Benchmark::Iterative, Benchmark::SingleTurn, Benchmark::Harbor];

/// Every key by name. A test holds that each is declared once.
static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| all().flat_map(Setting::keys).collect());

/// Every setting, in the order of the form.
pub fn all() -> impl Iterator<Item = &'static Setting> {
    [agent::ROWS, scenarios::ROWS, playing::ROWS, limits::ROWS, results::ROWS, advanced::ROWS]
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

/// A choice whose label says what it means.
const fn plain(value: &'static str, label: &'static str) -> Choice {
    Choice { value, label, help: "" }
}

/// A choice with what it means.
const fn choice(value: &'static str, label: &'static str, help: &'static str) -> Choice {
    Choice { value, label, help }
}
