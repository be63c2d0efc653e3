//! What differs between the settings of members, and what that does to a comparison.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use store::RunRecord;

use super::keys::Key;
use super::members::Pool;
use super::rules::{Effect, Rule, SETS, rule_of};
use super::run_facts;
use super::sets::PACK;
use super::setting_line::{Line, Setting};
use crate::api::{Comparability, SettingDifference};

/// Settings of members, sorted out.
pub(crate) struct Settings {
    /// What differs, the strongest mark first.
    pub(crate) differences: Vec<SettingDifference>,
    /// What is the same for all: setting and value.
    pub(crate) equal: Vec<(String, String)>,
}

/// Compares the settings of members.
pub(crate) fn compare(pools: &[Pool], reference: usize) -> Settings {
    let mut lines = run_facts::lines(pools);
    lines.extend(source_lines(pools));
    let mut settings = Settings { differences: Vec::new(), equal: Vec::new() };
    for line in lines {
        judge(line, pools, reference, &mut settings);
    }
    // A stable sort: inside one mark the lines keep their order.
    settings.differences.sort_by_key(|d| std::cmp::Reverse(d.comparability));
    settings
}

/// What differs so that members are not comparable.
pub(crate) fn not_comparable(pools: &[Pool]) -> Vec<SettingDifference> {
    let mut differences = compare(pools, 0).differences;
    differences.retain(|difference| difference.comparability == Comparability::NotComparable);
    differences
}

/// Settings with their values, and how many members (or runs) have them: `Attempt limit: 3 (4 runs), 10 (1 run)`.
pub(crate) fn in_words(differences: &[SettingDifference], noun: &str) -> Vec<String> {
    let sentence = |difference: &SettingDifference| {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for value in &difference.values {
            *counts.entry(value.as_deref().unwrap_or("unknown")).or_default() += 1;
        }
        let mut values: Vec<(&str, u32)> = counts.into_iter().collect();
        values.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let words: Vec<String> = values
            .iter()
            .map(|(value, n)| format!("{value} ({n} {noun}{})", if *n == 1 { "" } else { "s" }))
            .collect();
        format!("{}: {}", difference.setting, words.join(", "))
    };
    differences.iter().map(sentence).collect()
}

/// Settings under the source's own names. The same setting is one line, whatever the sources call it.
fn source_lines(pools: &[Pool]) -> Vec<Line<'static>> {
    struct FoundSetting {
        rule: &'static Rule,
        keys: Vec<String>,
        values: BTreeMap<(usize, usize), Setting>,
    }
    let mut order: Vec<String> = Vec::new();
    let mut found: BTreeMap<String, FoundSetting> = BTreeMap::new();
    for (m, pool) in pools.iter().enumerate() {
        for (r, run) in pool.runs.iter().enumerate() {
            let settings = &run.record.run.settings;
            let unused = UnusedSettings::from_run(&run.record);
            for (name, value) in settings {
                let key = Key::new(name, run.record.entry.harness.as_deref());
                let rule = rule_of(&key);
                if rule.effect == Effect::Ignored || unused.has(&key) {
                    continue;
                }
                let Some(setting) = setting(&key, name, value) else { continue };
                let line = rule.label().map_or_else(|| key.text(), str::to_owned);
                let entry = found.entry(line.clone()).or_insert_with(|| {
                    order.push(line);
                    FoundSetting { rule, keys: Vec::new(), values: BTreeMap::new() }
                });
                if !entry.keys.contains(name) {
                    entry.keys.push(name.clone());
                }
                match entry.values.get_mut(&(m, r)) {
                    None => drop(entry.values.insert((m, r), setting)),
                    Some(before) if before.text == setting.text => {}
                    Some(before) => {
                        let both = [before.text.as_str(), setting.text.as_str()].map(str::to_owned);
                        *before = Setting::text(listed(&key, both.into()));
                    }
                }
            }
        }
    }
    order
        .into_iter()
        .filter_map(|name| {
            let found = found.remove(&name)?;
            let format = |m: usize, r: usize| pools[m].runs[r].record.entry.format.as_str();
            let known_in: BTreeSet<&str> = found.values.keys().map(|(m, r)| format(*m, *r)).collect();
            // What another format does not have says nothing about its runs.
            let foreign = pools
                .iter()
                .enumerate()
                .any(|(m, pool)| (0..pool.runs.len()).any(|r| !known_in.contains(format(m, r))));
            if foreign && found.rule.label().is_none() {
                let texts: BTreeSet<&str> = found.values.values().map(|s| s.text.as_str()).collect();
                if texts.len() < 2 || found.rule.effect == Effect::Harmless {
                    return None;
                }
            }
            let value = |m: usize, r: usize, pool: &Pool| {
                found.values.get(&(m, r)).cloned().or_else(|| {
                    // Who writes its settings down leaves out what was not set: Harbor anything, our runner a budget.
                    let record = &pool.runs[r].record;
                    let is_of_kind = known_in.contains(format(m, r)) && !record.run.settings.is_empty();
                    if is_of_kind && found.rule.unlimited && is_own(record) {
                        return Some(Setting { text: "no limit".to_owned(), number: Some(f64::INFINITY) });
                    }
                    (is_of_kind && format(m, r) == "harbor").then(|| Setting::text("not set"))
                })
            };
            let values = pools
                .iter()
                .enumerate()
                .map(|(m, pool)| (0..pool.runs.len()).map(|r| value(m, r, pool)).collect())
                .collect();
            let label = if found.rule.label().is_none() && found.keys.len() == 1 {
                found.keys[0].clone()
            } else {
                name
            };
            Some(Line {
                label,
                key: if let [key] = found.keys.as_slice() { Some(key.clone()) } else { None },
                differs: false,
                values,
                effect: found.rule.effect,
                favors: found.rule.favors,
                note: found.rule.note.to_owned(),
            })
        })
        .collect()
}

/// Whether our own runner made it.
fn is_own(run: &RunRecord) -> bool {
    run.entry.runner.as_ref().is_some_and(|(name, _)| name == "Stamina Lab")
}

/// Settings of a part that did not run, or that another setting answers for.
struct UnusedSettings {
    no_model_sampled: bool,
    no_simulated_model: bool,
    hash_is_known: bool,
}

impl UnusedSettings {
    fn from_run(run: &RunRecord) -> Self {
        let settings = &run.run.settings;
        let find = |name: &str| {
            settings.iter().find(|(key, _)| key.rsplit('.').next() == Some(name)).map(|(_, value)| value)
        };
        Self {
            no_model_sampled: find("use_llm_sampler") != Some(&Value::Bool(true)),
            no_simulated_model: !run.entry.simulated,
            hash_is_known: find(PACK).is_some_and(Value::is_string),
        }
    }

    fn has(&self, key: &Key) -> bool {
        (self.no_model_sampled && key.matches_pattern("llm_sampler_model_id"))
            // words: ok: the keys keep their name.
            || (self.no_simulated_model && (key.matches_pattern("oracle.*") || key.matches_pattern("oracle.mischief.*")))
            // Wherever the pack lay: its hash says what was in it.
            || (self.hash_is_known && key.matches_pattern("scenarios_dir"))
    }
}

/// A value as it is shown; `None` = it is hidden, so nobody can say whether it is the same.
fn setting(key: &Key, name: &str, value: &Value) -> Option<Setting> {
    let text = match value {
        Value::Null => "not set".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => {
            let number = number.as_f64()?;
            let unit = match name.rsplit(['.', '_']).next() {
                Some("sec" | "seconds") => " s",
                Some("minutes") => " min",
                _ => "",
            };
            return Some(Setting { text: format!("{}{unit}", thousands(number)), number: Some(number) });
        }
        Value::String(text) if text == "[hidden]" => return None,
        // Of a folder only its name: where it lay does not matter.
        Value::String(text) if key.matches_pattern("scenarios_dir") => {
            text.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(text).to_owned()
        }
        // So much tells packs apart, and fits into a line.
        Value::String(text) if key.matches_pattern(PACK) => text.chars().take(12).collect(),
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let parts: Vec<String> =
                list.iter().filter_map(|v| setting(key, name, v)).map(|s| s.text).collect();
            if parts.is_empty() { "none".to_owned() } else { listed(key, parts) }
        }
        Value::Object(map) if map.is_empty() => "none".to_owned(),
        Value::Object(_) => value.to_string(),
    };
    Some(Setting::text(text))
}

/// Several values of a setting on one line, in the order of the alphabet where theirs means nothing ([`SETS`]).
fn listed(key: &Key, mut parts: Vec<String>) -> String {
    if SETS.iter().any(|pattern| key.matches_pattern(pattern)) {
        parts.sort();
        parts.dedup();
    }
    parts.join(", ")
}

/// `3,600`; fractions as they are.
fn thousands(number: f64) -> String {
    let text = number.to_string();
    let (sign, rest) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(w, f)| (w, Some(f)));
    let grouped = figures::thousands(whole);
    fraction.map_or(format!("{sign}{grouped}"), |fraction| format!("{sign}{grouped}.{fraction}"))
}

/// Puts a line among the equal ones or the differences.
fn judge(line: Line<'_>, pools: &[Pool], reference: usize, settings: &mut Settings) {
    let all: Vec<Option<&Setting>> = line.values.iter().flatten().map(Option::as_ref).collect();
    let mut known: Vec<&str> = Vec::new();
    for setting in all.iter().flatten() {
        if !known.contains(&setting.text.as_str()) {
            known.push(&setting.text);
        }
    }
    let unknown = line.values.iter().filter(|runs| runs.iter().any(Option::is_none)).count();
    let differs = line.differs || known.len() > 1;
    match (known.as_slice(), unknown) {
        ([], _) => return,
        ([same], 0) if !differs => {
            settings.equal.push((line.label, (*same).to_owned()));
            return;
        }
        _ => {}
    }
    let several = |value_of: fn(&Pool) -> Option<&str>| {
        let mut all = pools.iter().map(value_of);
        let first = all.next();
        all.any(|value| Some(value) != first)
    };
    let effect = match line.effect {
        Effect::Ignored => return,
        Effect::OfHarness if several(Pool::harness) => return,
        Effect::OfModel if several(Pool::model) => return,
        Effect::OfSimulatedModel if follows_from_model(&line, pools) => return,
        Effect::OfHarness | Effect::OfModel | Effect::CannotBeRuledOut => Comparability::CannotBeRuledOut,
        Effect::NotComparable | Effect::OfSimulatedModel if !differs => Comparability::CannotBeRuledOut,
        Effect::NotComparable | Effect::OfSimulatedModel => Comparability::NotComparable,
        Effect::Harmless => Comparability::NoEffect,
    };
    let values: Vec<Option<String>> = line.values.iter().map(|runs| joined(runs)).collect();
    let note = note(&line, pools, effect, differs, unknown);
    settings.differences.push(SettingDifference {
        odd: unlike_reference(&values, reference),
        setting: line.label,
        key: line.key,
        values,
        comparability: effect,
        note,
    });
}

/// Whether all runs of one model have one known value: it is a part of the model then, which is what one compares.
fn follows_from_model(line: &Line<'_>, pools: &[Pool]) -> bool {
    let mut value_by_model: BTreeMap<&str, &str> = BTreeMap::new();
    pools.iter().zip(&line.values).flat_map(|(pool, values)| pool.runs.iter().zip(values)).all(
        |(run, value)| {
            let Some((model, value)) = run.record.entry.model.as_deref().zip(value.as_ref()) else {
                return false;
            };
            *value_by_model.entry(model).or_insert(&value.text) == value.text
        },
    )
}

/// The values of a member's runs; `None` = unknown for all.
fn joined(runs: &[Option<Setting>]) -> Option<String> {
    let mut texts: Vec<&str> = Vec::new();
    for text in runs.iter().flatten().map(|s| s.text.as_str()) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.is_empty() {
        return None;
    }
    if runs.iter().any(Option::is_none) {
        texts.push("unknown");
    }
    Some(texts.join(", "))
}

/// Who has another value than the reference; the reference, if most others have another one.
fn unlike_reference(values: &[Option<String>], reference: usize) -> Vec<bool> {
    let Some(expected) = values.get(reference) else { return vec![false; values.len()] };
    let others = values.len() - 1;
    let differ = values.iter().filter(|value| *value != expected).count();
    values
        .iter()
        .enumerate()
        .map(|(i, value)| if i == reference { others > 0 && differ * 2 > others } else { value != expected })
        .collect()
}

fn note(line: &Line<'_>, pools: &[Pool], effect: Comparability, differs: bool, unknown: usize) -> String {
    let members = |n: usize| if n == 1 { "1 member".to_owned() } else { format!("{n} members") };
    match effect {
        Comparability::NoEffect => line.note.clone(),
        // That it may differ, the mark says already.
        _ if !differs && line.note.is_empty() => format!("unknown for {}", members(unknown)),
        _ if !differs => format!("unknown for {}; if it differs: {}", members(unknown), line.note),
        _ => {
            let favored = line
                .favors
                .and_then(|condition| Some(format!("{condition} {}", greatest_members(line, pools)?)));
            let meaning = favored.unwrap_or_else(|| line.note.clone());
            let gap = if unknown > 0 { format!("; unknown for {}", members(unknown)) } else { String::new() };
            format!("{meaning}{gap}")
        }
    }
}

/// The members with the greatest value, by name. `None` where one is no number, for `not set` may be more or less, and
/// where the runs of a member have several.
fn greatest_members(line: &Line<'_>, pools: &[Pool]) -> Option<String> {
    let vague = |runs: &Vec<Option<Setting>>| {
        let numbers: Vec<Option<f64>> = runs.iter().flatten().map(|setting| setting.number).collect();
        numbers.iter().any(|n| n.is_none() || *n != numbers[0])
    };
    if line.values.iter().any(vague) {
        return None;
    }
    let greatest = |runs: &[Option<Setting>]| {
        runs.iter().flatten().map(|s| s.number).collect::<Option<Vec<f64>>>().and_then(|numbers| {
            let first = *numbers.first()?;
            numbers.iter().all(|n| n.total_cmp(&first).is_eq()).then_some(first)
        })
    };
    let numbers: Vec<Option<f64>> = line.values.iter().map(|runs| greatest(runs)).collect();
    let top = numbers.iter().flatten().copied().max_by(f64::total_cmp)?;
    let names: Vec<&str> = pools
        .iter()
        .zip(&numbers)
        .filter(|(_, n)| n.is_some_and(|n| n.total_cmp(&top).is_eq()))
        .map(|(pool, _)| pool.name.as_str())
        .collect();
    match names.as_slice() {
        [] => None,
        [one] => Some((*one).to_owned()),
        [one, two] => Some(format!("{one} and {two}")),
        more => Some(format!("{} members", more.len())),
    }
}

#[cfg(test)]
mod tests;
