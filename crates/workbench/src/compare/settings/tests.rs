use model::{Benchmark, Episode, Run, Turn, Verdict};
use serde_json::json;
use store::{ParsedPart, Store};

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
        episode.planned_turns = Some(2);
        let mut turn = Turn::new(1);
        turn.attempts.push(model::Attempt::new(1, Verdict::Passed));
        episode.turns.push(turn);
        let part = [(run.key.clone(), episode)];
        let read =
            ParsedPart { place: "", key: &run.key, stamp: 1, episodes: &part, warnings: &[], files_read: 1 };
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
        ("harbor.timeout", json!("graded"), json!("stop"), "Step out of time", Some(Not)),
        ("harbor.background", json!("keep"), json!("end"), "Background processes", Some(Maybe)),
        ("harbor.session", json!("continue"), json!("fresh"), "Session over steps", Some(Not)),
        ("harbor.protocol", json!("evocode"), json!("mt_at_k"), "Protocol", Some(Not)),
        ("restore_before_try", json!(true), json!(false), "Restored before each attempt", Some(Not)),
        ("limits.attempt_minutes", json!(20), json!(60), "Time per attempt (min)", Some(Not)),
        ("limits.attempt.tokens", json!(10), json!(20), "Tokens per attempt", Some(Not)),
        ("limits.episode.tokens", json!(10), json!(20), "Tokens per episode", Some(Not)),
        ("limits.run.tokens", json!(10), json!(20), "Tokens of the run", Some(Not)),
        ("limits.attempt.usd", json!(10), json!(20), "Budget of an attempt ($)", Some(Not)),
        ("limits.episode.usd", json!(10), json!(20), "Budget of an episode ($)", Some(Not)),
        ("limits.run.usd", json!(10), json!(20), "Budget of the run ($)", Some(Not)),
        ("limits.attempt.minutes", json!(10), json!(20), "Wall time of an attempt (min)", Some(Not)),
        ("limits.episode.minutes", json!(10), json!(20), "Wall time of an episode (min)", Some(Not)),
        ("limits.run.minutes", json!(10), json!(20), "Wall time of the run (min)", Some(Not)),
        ("pack_sha256", json!("aaaa"), json!("bbbb"), "Pack of scenarios", Some(Not)),
        ("oracle.seed", json!(1), json!(2), "oracle.seed", Some(Not)),
        ("oracle.mischief.kill", json!(0), json!(1), "oracle.mischief.kill", Some(Not)),
        ("endpoint.mode", json!("direct"), json!("gateway"), "Way to the endpoint", Some(Maybe)),
        ("limits.network", json!("open"), json!("gateway"), "Network", Some(Maybe)),
        ("harness_file", json!("/a.toml"), json!("/b.toml"), "Harness file", Some(Maybe)),
        ("harbor.snapshots", json!("each_step"), json!("none"), "Snapshots for a resume", Some(Nothing)),
        ("fail_stop", json!(true), json!(false), "Stop after a failed turn", Some(Nothing)),
        ("endpoint.price.input", json!(1), json!(2), "endpoint.price.input", Some(Nothing)),
        ("endpoint.key_env", json!("A"), json!("B"), "endpoint.key_env", Some(Nothing)),
        ("agent.kwargs.max_turns", json!(100), json!(200), "Step limit", Some(Not)),
        ("mini_swe.cost_limit", json!(3), json!(0), "Budget", Some(Not)),
        (
            "restful_server_gen_iterative.num_changes_per_turn",
            json!(5),
            json!(1),
            "Changes per turn",
            Some(Not),
        ),
        ("restful_server_gen_iterative.base_seed", json!(42), json!(0), "Seed", Some(Not)),
        (
            "restful_server_gen_iterative.use_llm_sampler",
            json!(true),
            json!(false),
            "Names and details from a model",
            Some(Not),
        ),
        (
            "restful_server_gen_iterative.llm_sampler_model_id",
            json!("zai.glm-5"),
            json!("claude-haiku"),
            "Sampling model",
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
            "Timeout of building containers",
            Some(Nothing),
        ),
        ("docker.image_name", json!("a:mini"), json!("b:mini"), "Image", Some(Maybe)),
        ("environment.type", json!("docker"), json!("daytona"), "Container", Some(Maybe)),
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
            .any(|(name, _, _, _, _)| std::ptr::eq(rule_of(&Key::new(name, Some("mini_swe"))), rule));
        assert!(shown, "{:?}, {:?} has no example", rule.label(), rule.keys);
    }
    for (name, a, b, label, expected) in examples {
        let mut first = json!({ "restful_server_gen_iterative.use_llm_sampler": true });
        let mut second = first.clone();
        first[name] = a.clone();
        second[name] = b.clone();
        if *name != "restful_server_gen_iterative.use_llm_sampler"
            && *name != "restful_server_gen_iterative.llm_sampler_model_id"
        {
            first = json!({ *name: a });
            second = json!({ *name: b });
        }
        let scripted = name.starts_with("oracle.");
        let (_store, pools) = runs("staminabench", &[first, second], |_, run| run.simulated = scripted);
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

/// "Before each attempt: yes" and "Names and details: yes" said nothing.
#[test]
fn a_setting_that_is_yes_or_no_reads_as_its_label_and_its_value() {
    for (name, expected) in [
        ("restore_before_try", "Restored before each attempt: no (1 run), yes (1 run)"),
        ("fail_stop", "Stop after a failed turn: no (1 run), yes (1 run)"),
        (
            "restful_server_gen_iterative.use_llm_sampler",
            "Names and details from a model: no (1 run), yes (1 run)",
        ),
    ] {
        let (_store, pools) =
            runs("staminabench", &[json!({ name: true }), json!({ name: false })], |_, _| ());
        let settings = compare(&pools, 0);
        let words = in_words(&settings.differences, "run");
        assert!(words.iter().any(|word| word == expected), "{words:?}");
    }
}

/// Every key that our runner writes, as the library has it: names with dots.
fn written_by_our_runner() -> Vec<String> {
    let values = [
        "agent=CUSTOM",
        "harness_file=/h.toml",
        "output_dir=/out",
        "scenarios_dir=/pack",
        "tags=a,b",
        "keep_snapshots=3",
        "endpoint.base_url=http://localhost:1",
        "endpoint.key_env=KEY",
        "endpoint.price.input=1",
        "endpoint.price.cached=1",
        "endpoint.price.cache_write=1",
        "endpoint.price.output=1",
        "restful_server_gen_iterative.execute_episodes=0",
        "docker.image_name=i",
        "docker.env_vars=[A]",
        "custom.model_id=m",
    ];
    let budgets = ["attempt", "episode", "run"]
        .iter()
        .flat_map(|scope| ["tokens", "usd", "minutes"].map(|unit| format!("limits.{scope}.{unit}=7")));
    let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).chain(budgets).collect();
    let settings = runner::settings::resolve(&[], &values).unwrap();
    let mut keys = Vec::new();
    let mut sections: Vec<(usize, String)> = Vec::new();
    for line in settings.to_yaml().lines() {
        let indent = line.len() - line.trim_start().len();
        let Some((name, value)) = line.trim().split_once(':').filter(|_| !line.trim().starts_with('-'))
        else {
            continue;
        };
        sections.retain(|(outer, _)| *outer < indent);
        let prefix = sections.last().map_or(String::new(), |(_, section)| format!("{section}."));
        let key = format!("{prefix}{name}");
        let value = value.trim();
        if value.is_empty() {
            sections.push((indent, key.clone()));
        }
        // A section that fits on a line stands on one.
        if let Some(inner) = value.strip_prefix('{').and_then(|value| value.strip_suffix('}')) {
            let names = inner.split(", ").filter_map(|entry| entry.split_once(':'));
            keys.extend(names.map(|(name, _)| format!("{key}.{name}")));
        }
        keys.push(key);
    }
    // What is a section is no setting.
    let sections: Vec<String> = keys.iter().map(|key| format!("{key}.")).collect();
    keys.iter()
        .zip(&sections)
        .filter(|(_, section)| !keys.iter().any(|other| other.starts_with(*section)))
        .map(|(key, _)| key.clone())
        .collect()
}

#[test]
fn every_setting_that_our_runner_writes_has_a_rule() {
    let keys = written_by_our_runner();
    assert!(keys.len() > 50, "{keys:?}");
    for wanted in ["limits.attempt_minutes", "limits.run.usd", "endpoint.price.output", "endpoint.key_env"] {
        assert!(keys.iter().any(|key| key == wanted), "{wanted}: {keys:?}");
    }
    let known = ::settings::keys().iter().map(::settings::Key::dotted);
    for key in keys.into_iter().chain(known) {
        let rule = rule_of(&Key::new(&key, Some("custom")));
        assert!(RULES.iter().any(|named| std::ptr::eq(named, rule)), "{key} has no rule");
    }
}

#[test]
fn a_budget_that_our_runner_does_not_write_is_no_limit() {
    let budget = json!({ "limits.run.usd": 5, "limits.attempt_minutes": 20 });
    let none = json!({ "limits.attempt_minutes": 20 });
    let own_runner = |i: usize, run: &mut Run| {
        run.runner = Some(("Stamina Lab".into(), None));
        run.model = Some(format!("model-{i}"));
    };
    let (_store, pools) = runs("staminabench", &[budget.clone(), none.clone()], own_runner);
    let settings = compare(&pools, 0);
    let difference = only_difference(&settings);
    assert_eq!(difference.comparability, Comparability::NotComparable);
    assert_eq!(difference.values, [Some("5".to_owned()), Some("no limit".to_owned())]);
    assert_eq!(difference.note, "a larger budget favors model-1");
    // Another program may have had one and not have said so.
    let (_store, pools) = runs("staminabench", &[budget, none], |i, run| run.model = Some(format!("m{i}")));
    assert_eq!(only_difference(&compare(&pools, 0)).comparability, Comparability::CannotBeRuledOut);
}

#[test]
fn what_a_simulated_model_can_do_is_the_model() {
    let ability = |rate: f64| json!({ "oracle.defect_rate": rate, "oracle.seed": 1 });
    let named = |names: &'static [&'static str]| {
        move |i: usize, run: &mut Run| {
            run.simulated = true;
            run.model = Some(names[i].into());
        }
    };
    let settings = [ability(0.6), ability(0.25), ability(0.6)];
    let (_store, pools) = runs("staminabench", &settings, named(&["weak", "strong", "weak"]));
    assert!(compare(&pools, 0).differences.is_empty());
    // The same name for two abilities is not comparable, and neither are other seeds.
    let (_store, pools) = runs("staminabench", &settings, named(&["weak", "strong", "strong"]));
    assert_eq!(only_difference(&compare(&pools, 0)).comparability, Comparability::NotComparable);
    let seeds = [json!({ "oracle.seed": 1 }), json!({ "oracle.seed": 2 })];
    let (_store, pools) = runs("staminabench", &seeds, named(&["weak", "strong"]));
    assert_eq!(only_difference(&compare(&pools, 0)).comparability, Comparability::NotComparable);
}

#[test]
fn what_the_scripted_model_can_do_says_nothing_of_a_real_one() {
    let settings = [json!({ "oracle.seed": 0 }), json!({ "oracle.seed": 1 })];
    let (_store, pools) = runs("staminabench", &settings, |_, _| {});
    assert!(compare(&pools, 0).differences.is_empty());
}

#[test]
fn more_time_favors_who_has_it() {
    let timeout = |s: u32| json!({ "agent.override_timeout_sec": s });
    let (_store, pools) = runs("harbor", &[timeout(3600), timeout(3600), timeout(7200)], |i, run| {
        run.model = Some(format!("model-{i}"));
    });
    let settings = compare(&pools, 0);
    let difference = only_difference(&settings);
    assert_eq!(difference.note, "longer time favors model-2");
    let shown: Vec<&str> = difference.values.iter().flatten().map(String::as_str).collect();
    assert_eq!(shown, ["3,600 s", "3,600 s", "7,200 s"]);
    assert_eq!(difference.odd, [false, false, true]);
}

#[test]
fn what_is_unknown_cannot_be_ruled_out_and_harbor_leaves_out_what_was_not_set() {
    let none = || json!({ "reasoning_effort": "high" });
    let timed = || json!({ "reasoning_effort": "high", "agent.override_timeout_sec": 60 });
    let (_store, pools) = runs("evocode", &[timed(), none(), none()], |_, _| {});
    let settings = compare(&pools, 0);
    let difference = only_difference(&settings);
    assert_eq!(difference.comparability, Comparability::CannotBeRuledOut);
    assert_eq!(difference.note, "unknown for 2 members; if it differs: agents had different time");
    assert_eq!(difference.values, [Some("60 s".to_owned()), None, None]);

    let (_store, pools) = runs("harbor", &[timed(), none()], |_, _| {});
    let settings = compare(&pools, 0);
    let difference = only_difference(&settings);
    assert_eq!(difference.comparability, Comparability::NotComparable);
    assert_eq!(difference.values, [Some("60 s".to_owned()), Some("not set".to_owned())]);
}

#[test]
fn the_harness_and_the_model_are_what_is_compared() {
    let value_of =
        |section: &str| json!({ format!("{section}.model_id"): "m", format!("{section}.knob"): 1 });
    let (_store, pools) = runs("staminabench", &[value_of("mini_swe"), value_of("opencode")], |i, run| {
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
        compare(&pools, 0).differences.into_iter().map(|d| (d.setting, d.comparability)).collect::<Vec<_>>()
    };
    assert!(marks(|_, _| {}).is_empty());
    let marked = |setting: &str, mark| vec![(setting.to_owned(), mark)];
    assert_eq!(
        marks(|i, run| run.attempt_limit = Some([1, 10][i])),
        marked("Attempt limit", Comparability::NotComparable)
    );
    assert_eq!(marks(|i, run| run.simulated = i == 1), marked("Played by", Comparability::NotComparable));
    assert_eq!(
        marks(|i, run| run.runner = Some(("Harbor".into(), Some(["0.13.1", "0.24.0"][i].into())))),
        marked("Run by", Comparability::CannotBeRuledOut)
    );
    assert_eq!(
        marks(|i, run| run.provider = Some(["bedrock", "openai"][i].into())),
        marked("Provider", Comparability::CannotBeRuledOut)
    );
    assert_eq!(
        marks(|i, run| run.planned_episodes = Some([1, 20][i])),
        marked("Episodes read", Comparability::CannotBeRuledOut)
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
    assert_eq!(lines, ["Scenarios", "Seed"]);
    // Who does not say is taken to play what the others play.
    let (_store, pools) = runs("staminabench", &[json!({}), seed(42)], |_, _| {});
    assert_eq!(pools[0].runs[0].set, pools[1].runs[0].set);
}

#[test]
fn other_packs_are_other_scenarios_wherever_they_lay() {
    let sets = |settings: &[Value]| {
        let (_store, pools) = runs("staminabench", settings, |_, _| {});
        let sets: Vec<u32> = pools.iter().map(|pool| pool.runs[0].set).collect();
        let marks: Vec<(String, Comparability)> =
            compare(&pools, 0).differences.into_iter().map(|d| (d.setting, d.comparability)).collect();
        (sets, marks)
    };
    let pack = |hash: &str, folder: &str| json!({ "pack_sha256": hash, "scenarios_dir": folder, "restful_server_gen_iterative.base_seed": 42 });
    let (found, marks) = sets(&[pack("aa", "/x/pack"), pack("bb", "/y/pack")]);
    assert_ne!(found[0], found[1], "the folders have one name, and hold other scenarios");
    assert_eq!(
        marks,
        ["Scenarios", "Pack of scenarios"].map(|line| (line.to_owned(), Comparability::NotComparable))
    );
    let (found, marks) = sets(&[pack("aa", "/x/pack"), pack("aa", "/y/other")]);
    assert!(found[0] == found[1] && marks.is_empty(), "{marks:?}");
    // Without a hash the seed says what was drawn, also where a folder is named.
    let folder = |seed: u32| json!({ "scenarios_dir": "/x/pack", "base_seed": seed });
    let (found, marks) = sets(&[folder(1), folder(2)]);
    assert_ne!(found[0], found[1]);
    assert!(marks.contains(&("Seed".to_owned(), Comparability::NotComparable)), "{marks:?}");
    // A run that was drawn anew may have played the one pack of its seed, and none of two.
    let drawn = json!({ "base_seed": 42 });
    let (found, marks) = sets(&[pack("aa", "/x"), drawn.clone()]);
    assert!(found[0] == found[1] && marks.iter().all(|(_, mark)| *mark == Comparability::CannotBeRuledOut));
    let (found, _) = sets(&[pack("aa", "/x"), pack("bb", "/x"), drawn]);
    assert!(found[2] != found[0] && found[2] != found[1]);
}

#[test]
fn another_model_that_samples_draws_other_scenarios_and_one_that_does_not_sample_draws_none() {
    let settings = |by_model: bool, model: &str| {
        json!({
            "restful_server_gen_iterative.base_seed": 0,
            "restful_server_gen_iterative.use_llm_sampler": by_model,
            "restful_server_gen_iterative.llm_sampler_model_id": model,
        })
    };
    let same = |by_model| {
        let (_store, pools) =
            runs("staminabench", &[settings(by_model, "a"), settings(by_model, "b")], |_, _| {});
        pools[0].runs[0].set == pools[1].runs[0].set
    };
    assert!(!same(true) && same(false));
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
    assert_eq!(unlike_reference(&values(["a", "a", "a", "b"]), 0), [false, false, false, true]);
    assert_eq!(unlike_reference(&values(["b", "a", "a", "a"]), 0), [true, true, true, true]);
    assert_eq!(unlike_reference(&values(["a", "a", "b", "c"]), 0), [true, false, true, true]);
    assert_eq!(unlike_reference(&[Some("a".to_owned()), None], 0), [true, true]);
}
