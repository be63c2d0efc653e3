//! What differs between the settings of members, and what that does to a comparison.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::facts;
use super::keys::Key;
use super::members::Pool;
use super::rules::{Effect, Rule, rule_of};
use crate::api::{Comparability, SettingDifference};

/// The value of a setting in one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// As it is shown.
    pub(crate) text: String,
    /// As a number, where it is one.
    pub(crate) number: Option<f64>,
}

impl Setting {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), number: None }
    }

    pub(crate) fn number(number: u32) -> Self {
        Self { text: number.to_string(), number: Some(f64::from(number)) }
    }
}

/// One setting of all members.
pub(crate) struct Line<'a> {
    /// In words.
    pub(crate) label: String,
    /// The source's own name, where all runs have the same.
    pub(crate) key: Option<String>,
    /// Whether it differs, even where the words are the same.
    pub(crate) differs: bool,
    /// For each member the value of each of its runs; `None` = unknown.
    pub(crate) values: Vec<Vec<Option<Setting>>>,
    /// What a difference does.
    pub(crate) effect: Effect,
    /// Of a number: whom more of it favours.
    pub(crate) more: Option<&'a str>,
    /// What a difference means.
    pub(crate) note: String,
}

/// Settings of members, sorted out.
pub(crate) struct Settings {
    /// What differs, the strongest mark first.
    pub(crate) differences: Vec<SettingDifference>,
    /// What is the same for all: setting and value.
    pub(crate) equal: Vec<(String, String)>,
}

/// Compares the settings of members.
pub(crate) fn compare(pools: &[Pool], reference: usize) -> Settings {
    let mut lines = facts::lines(pools);
    lines.extend(of_source(pools));
    let mut settings = Settings { differences: Vec::new(), equal: Vec::new() };
    for line in lines {
        judge(line, pools, reference, &mut settings);
    }
    // A stable sort: inside one mark the lines keep their order.
    settings.differences.sort_by_key(|d| std::cmp::Reverse(d.comparability));
    settings
}

/// Settings under the source's own names. The same setting is one line, whatever the sources call it.
fn of_source(pools: &[Pool]) -> Vec<Line<'static>> {
    struct Found {
        rule: &'static Rule,
        keys: Vec<String>,
        values: BTreeMap<(usize, usize), Setting>,
    }
    let mut order: Vec<String> = Vec::new();
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    for (m, pool) in pools.iter().enumerate() {
        for (r, run) in pool.runs.iter().enumerate() {
            let settings = &run.record.run.settings;
            let generated = Generated::of(settings);
            for (name, value) in settings {
                let key = Key::of(name, run.record.entry.harness.as_deref());
                let rule = rule_of(&key);
                if rule.effect == Effect::Said || generated.is_moot(&key) {
                    continue;
                }
                let Some(setting) = setting(&key, name, value) else { continue };
                let line = if rule.label.is_empty() { key.text() } else { rule.label.to_owned() };
                let entry = found.entry(line.clone()).or_insert_with(|| {
                    order.push(line);
                    Found { rule, keys: Vec::new(), values: BTreeMap::new() }
                });
                if !entry.keys.contains(name) {
                    entry.keys.push(name.clone());
                }
                match entry.values.get_mut(&(m, r)) {
                    None => drop(entry.values.insert((m, r), setting)),
                    Some(before) if before.text == setting.text => {}
                    Some(before) => {
                        before.text = format!("{}, {}", before.text, setting.text);
                        before.number = None;
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
            if foreign && found.rule.label.is_empty() {
                let texts: BTreeSet<&str> = found.values.values().map(|s| s.text.as_str()).collect();
                if texts.len() < 2 || found.rule.effect == Effect::Harmless {
                    return None;
                }
            }
            let value = |m: usize, r: usize, pool: &Pool| {
                found.values.get(&(m, r)).cloned().or_else(|| {
                    // Harbor leaves out what was not set.
                    let left_out = known_in.contains("harbor")
                        && format(m, r) == "harbor"
                        && !pool.runs[r].record.run.settings.is_empty();
                    left_out.then(|| Setting::text("not set"))
                })
            };
            let values = pools
                .iter()
                .enumerate()
                .map(|(m, pool)| (0..pool.runs.len()).map(|r| value(m, r, pool)).collect())
                .collect();
            let label = if found.rule.label.is_empty() && found.keys.len() == 1 {
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
                more: found.rule.more,
                note: found.rule.note.to_owned(),
            })
        })
        .collect()
}

/// Settings of a generator that did not run, or of a part of it that was off.
struct Generated {
    from_folder: bool,
    by_model: bool,
}

impl Generated {
    fn of(settings: &model::Extra) -> Self {
        let find = |name: &str| {
            settings.iter().find(|(key, _)| key.rsplit('.').next() == Some(name)).map(|(_, value)| value)
        };
        Self {
            from_folder: find("scenarios_dir").is_some_and(|dir| !dir.is_null()),
            by_model: find("use_llm_sampler") == Some(&Value::Bool(true)),
        }
    }

    fn is_moot(&self, key: &Key) -> bool {
        let of_generator = ["base_seed", "num_changes_per_turn", "use_llm_sampler", "llm_sampler_model_id"];
        (self.from_folder && of_generator.iter().any(|name| key.is(name)))
            || (!self.by_model && key.is("llm_sampler_model_id"))
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
            let unit = if name.ends_with("_sec") || name.ends_with("_seconds") { " s" } else { "" };
            return Some(Setting { text: format!("{}{unit}", thousands(number)), number: Some(number) });
        }
        Value::String(text) if text == "[hidden]" => return None,
        // Of a folder only its name: where it lay does not matter.
        Value::String(text) if key.is("scenarios_dir") => {
            text.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(text).to_owned()
        }
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let parts: Vec<String> =
                list.iter().filter_map(|v| setting(key, name, v)).map(|s| s.text).collect();
            if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
        }
        Value::Object(map) if map.is_empty() => "none".to_owned(),
        Value::Object(_) => value.to_string(),
    };
    Some(Setting::text(text))
}

/// `3,600`; fractions as they are.
fn thousands(number: f64) -> String {
    let text = number.to_string();
    let (sign, rest) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(w, f)| (w, Some(f)));
    let mut grouped = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) && whole.len() > 3 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
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
    let several = |of: fn(&Pool) -> Option<&str>| {
        let mut all = pools.iter().map(of);
        let first = all.next();
        all.any(|value| Some(value) != first)
    };
    let effect = match line.effect {
        Effect::Said => return,
        Effect::OfHarness if several(Pool::harness) => return,
        Effect::OfModel if several(Pool::model) => return,
        Effect::OfHarness | Effect::OfModel | Effect::CannotBeRuledOut => Comparability::CannotBeRuledOut,
        Effect::NotComparable if !differs => Comparability::CannotBeRuledOut,
        Effect::NotComparable => Comparability::NotComparable,
        Effect::Harmless => Comparability::NoEffect,
    };
    let values: Vec<Option<String>> = line.values.iter().map(|runs| joined(runs)).collect();
    let note = note(&line, pools, effect, differs, unknown);
    settings.differences.push(SettingDifference {
        odd: odd(&values, reference),
        setting: line.label,
        key: line.key,
        values,
        comparability: effect,
        note,
    });
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
fn odd(values: &[Option<String>], reference: usize) -> Vec<bool> {
    let Some(own) = values.get(reference) else { return vec![false; values.len()] };
    let others = values.len() - 1;
    let differ = values.iter().filter(|value| *value != own).count();
    values
        .iter()
        .enumerate()
        .map(|(i, value)| if i == reference { others > 0 && differ * 2 > others } else { value != own })
        .collect()
}

fn note(line: &Line<'_>, pools: &[Pool], effect: Comparability, differs: bool, unknown: usize) -> String {
    let members = |n: usize| if n == 1 { "1 member".to_owned() } else { format!("{n} members") };
    match effect {
        Comparability::NoEffect => line.note.clone(),
        _ if !differs => format!("unknown for {}, cannot be ruled out", members(unknown)),
        _ => {
            let favoured = line.more.and_then(|more| Some(format!("{more} {}", most(line, pools)?)));
            let meaning = favoured.unwrap_or_else(|| line.note.clone());
            let gap = if unknown > 0 { format!("; unknown for {}", members(unknown)) } else { String::new() };
            format!("{meaning}{gap}")
        }
    }
}

/// The members with the greatest value, by name.
fn most(line: &Line<'_>, pools: &[Pool]) -> Option<String> {
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
mod tests {
    use model::{Benchmark, Episode, Run, Turn, Verdict};
    use serde_json::json;
    use store::{PartRead, Store};

    use super::super::members::resolve;
    use super::super::rules::RULES;
    use super::*;
    use crate::api::Member;

    /// A library with one run for each of the settings, all alike otherwise.
    fn runs(format: &str, settings: &[Value], change: impl Fn(usize, &mut Run)) -> (Store, Vec<Pool>) {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/results", "results", false).unwrap();
        let benchmark = Benchmark { key: format.into(), name: format.into() };
        let runs: Vec<Run> = settings
            .iter()
            .enumerate()
            .map(|(i, settings)| {
                let mut run = Run::unknown(format!("run{i}"), benchmark.clone());
                run.harness = Some("mini_swe".into());
                run.model = Some("m".into());
                run.attempt_limit = Some(3);
                run.settings = settings.as_object().unwrap().clone();
                change(i, &mut run);
                run
            })
            .collect();
        store.put_runs(source, "", format, &runs).unwrap();
        for run in &runs {
            let mut episode = Episode::new(format!("{}-e", run.key), "s");
            episode.planned_turns = Some(1);
            let mut turn = Turn::new(1);
            turn.attempts.push(model::Attempt::new(1, Verdict::Passed));
            episode.turns.push(turn);
            let part = [(run.key.clone(), episode)];
            let read = PartRead {
                place: "",
                key: &run.key,
                stamp: 1,
                episodes: &part,
                warnings: &[],
                files_read: 1,
            };
            store.put_part(source, &read).unwrap();
        }
        let members: Vec<Member> =
            (0..runs.len()).map(|i| Member::Run { run: format!("results.run{i}") }).collect();
        let pools = resolve(&store, &members).unwrap();
        (store, pools)
    }

    fn only_difference(settings: &Settings) -> &SettingDifference {
        assert_eq!(settings.differences.len(), 1, "{:#?}", settings.differences);
        &settings.differences[0]
    }

    /// For every rule two values of a setting that it is about, as a real source writes it, and what comes of them.
    #[test]
    fn every_rule_has_an_example() {
        use Comparability::{CannotBeRuledOut as Maybe, NoEffect as Nothing, NotComparable as Not};
        let examples: &[(&str, Value, Value, &str, Option<Comparability>)] = &[
            ("agent", json!("MINI_SWE"), json!("OPENCODE"), "Harness and model", None),
            ("restful_server_gen_iterative.n_scenarios", json!(2), json!(20), "Size of the run", None),
            (
                "restful_server_gen_iterative.enable_feedback",
                json!(true),
                json!(false),
                "Feedback on retries",
                Some(Not),
            ),
            (
                "restful_server_gen_iterative.test_fail_feedback_type",
                json!("DETAILED"),
                json!("MINIMAL"),
                "Feedback level",
                Some(Not),
            ),
            ("agent.override_timeout_sec", json!(3600.0), json!(7200.0), "Agent timeout", Some(Not)),
            ("agent.max_timeout_sec", json!(3600), json!(7200), "Agent timeout, at most", Some(Not)),
            ("timeout_multiplier", json!(1.0), json!(2.0), "Agent timeout, multiplier", Some(Not)),
            ("agent.kwargs.max_turns", json!(100), json!(200), "Step limit", Some(Not)),
            ("mini_swe.cost_limit", json!(3), json!(0), "Budget", Some(Not)),
            (
                "restful_server_gen_iterative.num_changes_per_turn",
                json!(5),
                json!(1),
                "Changes per turn",
                Some(Not),
            ),
            (
                "restful_server_gen_iterative.base_seed",
                json!(42),
                json!(0),
                "Seed of the scenarios",
                Some(Not),
            ),
            ("restful_server_gen_iterative.use_llm_sampler", json!(true), json!(false), "Sampler", Some(Not)),
            (
                "restful_server_gen_iterative.llm_sampler_model_id",
                json!("zai.glm-5"),
                json!("claude-haiku"),
                "Model of the sampler",
                Some(Not),
            ),
            (
                "scenarios_dir",
                json!("/data/programmatic"),
                json!("/data/llm"),
                "Folder of the scenarios",
                Some(Maybe),
            ),
            ("quick_debug", json!(true), json!(false), "Debug run", Some(Not)),
            ("datasets.0.name", json!("terminal-bench"), json!("swe"), "Dataset", Some(Not)),
            ("datasets.0.version", json!("2.0"), json!("2.1"), "Dataset version", Some(Not)),
            ("verifier.disable", json!(false), json!(true), "Verifier switched off", Some(Not)),
            ("agent.kwargs.temperature", json!(0.7), json!(1), "Temperature", Some(Maybe)),
            ("mini_swe.top_p", json!(0.95), json!(1.0), "Sampling", Some(Maybe)),
            ("reasoning_effort", json!("xhigh"), json!("low"), "Reasoning effort", Some(Maybe)),
            ("agent.kwargs.max_thinking_tokens", json!(1000), json!(2000), "Thinking budget", Some(Maybe)),
            ("mini_swe.max_tokens", json!(4096), json!(8192), "Output limit", Some(Maybe)),
            ("agent.kwargs.max_input_tokens", json!(128_000), json!(200_000), "Context limit", Some(Maybe)),
            (
                "agent.kwargs.proactive_summarization_threshold",
                json!(8000),
                json!(0),
                "Context compaction",
                Some(Maybe),
            ),
            ("agent.kwargs.api_base", json!("http://a/v1"), json!("http://b/v1"), "Endpoint", Some(Maybe)),
            ("verifier.override_timeout_sec", json!(60), json!(600), "Verifier timeout", Some(Maybe)),
            (
                "environment_build_timeout_multiplier",
                json!(1.0),
                json!(2.0),
                "Timeout of building boxes",
                Some(Nothing),
            ),
            ("docker.image_name", json!("a:mini"), json!("b:mini"), "Image", Some(Maybe)),
            ("environment.type", json!("docker"), json!("daytona"), "Box", Some(Maybe)),
            ("environment.override_cpus", json!(2), json!(8), "environment.override_cpus", Some(Maybe)),
            ("agent.resume_trajectory", json!(false), json!(true), "agent.resume_trajectory", Some(Maybe)),
            ("output_dir", json!("/a"), json!("/b"), "output_dir", Some(Nothing)),
            ("datasets.0.task_names", json!(["a*"]), json!(["b*"]), "datasets.0.task_names", Some(Nothing)),
            ("batch_size", json!(1), json!(5), "batch_size", Some(Nothing)),
            ("environment.force_build", json!(false), json!(true), "environment.force_build", Some(Nothing)),
        ];
        for rule in RULES {
            let shown = examples
                .iter()
                .any(|(name, _, _, _, _)| std::ptr::eq(rule_of(&Key::of(name, Some("mini_swe"))), rule));
            assert!(shown, "{}, {:?} has no example", rule.label, rule.keys);
        }
        for (name, a, b, label, expected) in examples {
            let mut with = json!({ "restful_server_gen_iterative.use_llm_sampler": true });
            let mut other = with.clone();
            with[name] = a.clone();
            other[name] = b.clone();
            if *name != "restful_server_gen_iterative.use_llm_sampler"
                && *name != "restful_server_gen_iterative.llm_sampler_model_id"
            {
                with = json!({ *name: a });
                other = json!({ *name: b });
            }
            let (_store, pools) = runs("staminabench", &[with, other], |_, _| {});
            let mut settings = compare(&pools, 0);
            // Other seeds mean other scenarios, which another line says.
            settings.differences.retain(|d| d.setting != "Scenarios");
            match expected {
                None => assert!(settings.differences.is_empty(), "{name}: {:#?}", settings.differences),
                Some(expected) => {
                    let difference = only_difference(&settings);
                    assert_eq!((difference.setting.as_str(), difference.comparability), (*label, *expected));
                    assert_eq!(difference.key.as_deref(), Some(*name));
                    assert!(!difference.note.is_empty());
                }
            }
        }
    }

    #[test]
    fn more_time_favours_who_has_it() {
        let timeout = |s: u32| json!({ "agent.override_timeout_sec": s });
        let (_store, pools) = runs("harbor", &[timeout(3600), timeout(3600), timeout(7200)], |i, run| {
            run.model = Some(format!("model-{i}"));
        });
        let settings = compare(&pools, 0);
        let difference = only_difference(&settings);
        assert_eq!(difference.note, "longer time favours model-2");
        let shown: Vec<&str> = difference.values.iter().flatten().map(String::as_str).collect();
        assert_eq!(shown, ["3,600 s", "3,600 s", "7,200 s"]);
        assert_eq!(difference.odd, [false, false, true]);
    }

    #[test]
    fn what_is_unknown_cannot_be_ruled_out_and_harbor_leaves_out_what_was_not_set() {
        let none = || json!({ "reasoning_effort": "high" });
        let with = || json!({ "reasoning_effort": "high", "agent.override_timeout_sec": 60 });
        let (_store, pools) = runs("evocode", &[with(), none(), none()], |_, _| {});
        let settings = compare(&pools, 0);
        let difference = only_difference(&settings);
        assert_eq!(difference.comparability, Comparability::CannotBeRuledOut);
        assert_eq!(difference.note, "unknown for 2 members, cannot be ruled out");
        assert_eq!(difference.values, [Some("60 s".to_owned()), None, None]);

        let (_store, pools) = runs("harbor", &[with(), none()], |_, _| {});
        let settings = compare(&pools, 0);
        let difference = only_difference(&settings);
        assert_eq!(difference.comparability, Comparability::NotComparable);
        assert_eq!(difference.values, [Some("60 s".to_owned()), Some("not set".to_owned())]);
    }

    #[test]
    fn the_harness_and_the_model_are_what_is_compared() {
        let of = |section: &str| json!({ format!("{section}.model_id"): "m", format!("{section}.knob"): 1 });
        let (_store, pools) = runs("staminabench", &[of("mini_swe"), of("opencode")], |i, run| {
            run.harness = Some(["mini_swe", "opencode"][i].into());
            run.harness_version = Some(["2.1", "1.0"][i].into());
        });
        let settings = compare(&pools, 0);
        assert!(settings.differences.is_empty(), "{:#?}", settings.differences);
        // The same harness with another knob is a difference whose effect nobody knows.
        let knob = |n: u32| json!({ "mini_swe.knob": n });
        let (_store, pools) = runs("staminabench", &[knob(1), knob(2)], |i, run| {
            run.harness_version = Some(["2.1", "2.2"][i].into());
        });
        let settings = compare(&pools, 0);
        let lines: Vec<&str> = settings.differences.iter().map(|d| d.setting.as_str()).collect();
        assert_eq!(lines, ["Harness version", "mini_swe.knob"]);
        assert!(settings.differences.iter().all(|d| d.comparability == Comparability::CannotBeRuledOut));
    }

    #[test]
    fn what_a_run_says_of_itself_is_compared_too() {
        let same = || json!({});
        let marks = |change: fn(usize, &mut Run)| {
            let (_store, pools) = runs("staminabench", &[same(), same()], change);
            compare(&pools, 0)
                .differences
                .into_iter()
                .map(|d| (d.setting, d.comparability))
                .collect::<Vec<_>>()
        };
        assert!(marks(|_, _| {}).is_empty());
        let one = |setting: &str, mark| vec![(setting.to_owned(), mark)];
        assert_eq!(
            marks(|i, run| run.attempt_limit = Some([1, 10][i])),
            one("Attempt limit", Comparability::NotComparable)
        );
        assert_eq!(marks(|i, run| run.simulated = i == 1), one("Played by", Comparability::NotComparable));
        assert_eq!(
            marks(|i, run| run.runner = Some(("Harbor".into(), Some(["0.13.1", "0.24.0"][i].into())))),
            one("Run by", Comparability::CannotBeRuledOut)
        );
        assert_eq!(
            marks(|i, run| run.provider = Some(["bedrock", "openai"][i].into())),
            one("Provider", Comparability::CannotBeRuledOut)
        );
        assert_eq!(
            marks(|i, run| run.planned_episodes = Some([1, 20][i])),
            one("Episodes read", Comparability::CannotBeRuledOut)
        );
    }

    #[test]
    fn names_of_seeded_scenarios_mean_nothing_under_another_seed() {
        let seed = |seed: u32| json!({ "restful_server_gen_iterative.base_seed": seed });
        let (_store, pools) = runs("staminabench", &[seed(0), seed(42), seed(0)], |_, _| {});
        let sets: Vec<u32> = pools.iter().map(|pool| pool.runs[0].set).collect();
        assert!(sets[0] == sets[2] && sets[0] != sets[1]);
        let settings = compare(&pools, 0);
        let lines: Vec<&str> = settings.differences.iter().map(|d| d.setting.as_str()).collect();
        assert_eq!(lines, ["Scenarios", "Seed of the scenarios"]);
        // Who does not say is taken to play what the others play.
        let (_store, pools) = runs("staminabench", &[json!({}), seed(42)], |_, _| {});
        assert_eq!(pools[0].runs[0].set, pools[1].runs[0].set);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(thousands(3600.0), "3,600");
        assert_eq!(thousands(100.0), "100");
        assert_eq!(thousands(1_234_567.5), "1,234,567.5");
        assert_eq!(thousands(-12_000.0), "-12,000");
        assert_eq!(thousands(0.7), "0.7");
    }

    #[test]
    fn the_reference_is_odd_only_against_most_others() {
        let values = |texts: [&str; 4]| texts.map(|t| Some(t.to_owned())).to_vec();
        assert_eq!(odd(&values(["a", "a", "a", "b"]), 0), [false, false, false, true]);
        assert_eq!(odd(&values(["b", "a", "a", "a"]), 0), [true, true, true, true]);
        assert_eq!(odd(&values(["a", "a", "b", "c"]), 0), [true, false, true, true]);
        assert_eq!(odd(&[Some("a".to_owned()), None], 0), [true, true]);
    }
}
