//! The table of settings in `docs/cli.md`.

use std::fmt::Write as _;

use crate::{Benchmark, DefaultValue, KeyName, Need, Setting, ValueKind};

/// The line of `docs/cli.md` before the table.
pub const BEGIN: &str = "<!-- settings: from crates/settings -->";
/// The line of `docs/cli.md` after the table.
pub const END: &str = "<!-- settings: end -->";

/// The table of all settings, as Markdown.
pub fn table() -> String {
    let mut text = "| key | what it is | takes | default |\n|---|---|---|---|\n".to_owned();
    for setting in crate::all() {
        if let Some(key) = key(setting) {
            let (description, takes, default) = (meaning(setting), takes(setting), default(setting));
            // Writing into a text cannot fail.
            let _ = writeln!(text, "| {key} | {description} | {takes} | {default} |");
        }
    }
    text
}

/// The key as the documentation writes it; nothing for what only the form asks.
fn key(setting: &Setting) -> Option<String> {
    match setting.key {
        KeyName::InSection("", name) => Some(format!("`{name}`")),
        KeyName::InSection(section, name) | KeyName::Free(section, name) => {
            Some(format!("`{section}.{name}`"))
        }
        KeyName::OfBenchmark([benchmark], name) => Some(format!("`{}.{name}`", benchmark.section())),
        KeyName::OfBenchmark(_, name) => Some(format!("`….{name}`")),
        KeyName::OfAgent(name) => Some(format!("`AGENT.{name}`")),
        KeyName::OfForm(..) => None,
    }
}

fn meaning(setting: &Setting) -> String {
    let mut sentences = vec![setting.help.to_owned()];
    let words = match setting.takes {
        ValueKind::Word(words) => words,
        _ => &[],
    };
    let choices = setting.choices.iter().filter(|choice| !choice.help.is_empty());
    for choice in choices {
        let word = words.iter().find(|word| word.eq_ignore_ascii_case(choice.value));
        sentences.extend(word.map(|word| format!("`{word}`: {}", choice.help)));
    }
    // The keys of a benchmark's own section say it themselves.
    let is_in_section =
        matches!(setting.key, KeyName::InSection("harbor", _) | KeyName::OfBenchmark([Benchmark::Harbor], _));
    if setting.needs.contains(&Need::Tasks) && !is_in_section {
        sentences.push("With `benchmark=HARBOR`.".to_owned());
    }
    if !setting.more.is_empty() {
        sentences.push(setting.more.to_owned());
    }
    sentences.join(" ")
}

fn takes(setting: &Setting) -> String {
    let takes = match setting.takes {
        ValueKind::Truth => "`true`, `false`".to_owned(),
        ValueKind::Integer(low, high) => format!("{low} to {high}"),
        ValueKind::Amount(low, high) => format!("a number from {low} to {high}"),
        ValueKind::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        ValueKind::Text => "a text".to_owned(),
        ValueKind::Numbers => "numbers, such as `1,5,10`".to_owned(),
        ValueKind::Words => "words with commas between".to_owned(),
    };
    if setting.unit.is_empty() { takes } else { format!("{takes} ({})", setting.unit) }
}

fn default(setting: &Setting) -> String {
    match setting.default {
        DefaultValue::Value(value) => format!("`{value}`"),
        DefaultValue::Empty(words) | DefaultValue::Depends(words) => words.to_owned(),
        DefaultValue::Needed("") => "needed".to_owned(),
        DefaultValue::Needed(condition) => format!("needed {condition}"),
    }
}
