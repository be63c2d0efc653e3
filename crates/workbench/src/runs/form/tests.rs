use super::*;

fn form() -> FormSettings {
    FormSettings {
        endpoint_mode: crate::api::EndpointMode::Gateway,
        base_url: "https://api.example/v1".to_owned(),
        model: "zai.glm-5".to_owned(),
        output_dir: "/r/x y".to_owned(),
        ..defaults("opencode", true).unwrap()
    }
}

#[test]
fn what_a_form_says_comes_back_from_its_yaml_and_its_line() {
    let mut filled_form = form();
    filled_form.n_turns = Some(40.0);
    filled_form.feedback = crate::api::FormFeedback::None;
    filled_form.tags = vec!["glm-5".to_owned(), "r10".to_owned()];
    filled_form.run_usd = Some(60.0);
    filled_form.cpus = Some(1.5);
    let settings = fields::settings(&filled_form).unwrap();
    let back = fields::form(&settings);
    assert_eq!(back, FormSettings { base_url: "https://api.example".to_owned(), ..filled_form.clone() });
    let standard = defaults("opencode", true).unwrap();
    let differ = fields::differ(&filled_form, &standard);
    assert_eq!(
        differ,
        ["endpoint_mode", "base_url", "model", "n_turns", "feedback", "cpus", "run_usd", "tags"]
    );
    let yaml = remarked(&settings.to_yaml(), &filled_form, &standard, &differ);
    assert!(yaml.contains("n_turns: 40") && yaml.contains("# default 3\n"), "{yaml}");
    let read = resolve(&[ConfigFile { name: "x".into(), text: yaml }], &[]).unwrap();
    assert_eq!(read, settings);
    let line = in_one_line(&filled_form, &standard, &differ);
    assert!(line.contains("output_dir='/r/x y'"), "{line}");
    let words = runner::settings::split_arguments(&line).unwrap();
    assert_eq!(resolve(&[], &words[3..]).unwrap(), settings);
}

/// The mock agent plays without containers, and its YAML named limits of them.
#[test]
fn the_yaml_of_a_run_without_containers_has_no_limits_of_containers() {
    const OF_CONTAINERS: [&str; 5] = ["cpus:", "memory_gib:", "disk_gib:", "pids:", "network:"];
    let settings = fields::settings(&defaults("mock", true).unwrap()).unwrap();
    let yaml = applied_yaml(&settings);
    assert!(OF_CONTAINERS.iter().all(|key| !yaml.contains(key)), "{yaml}");
    assert!(yaml.contains("attempt_minutes:"), "{yaml}");
    assert_eq!(resolve(&[ConfigFile { name: "x".into(), text: yaml }], &[]).unwrap(), settings);

    let yaml = applied_yaml(&fields::settings(&form()).unwrap());
    assert!(OF_CONTAINERS.iter().all(|key| yaml.contains(key)), "{yaml}");
}

fn tasks(form: FormSettings) -> FormSettings {
    FormSettings {
        source: FormSource::Tasks,
        tasks: "/t/evo code".to_owned(),
        attempt_limit: Some(1.0),
        output_dir: "/r/x".to_owned(),
        ..form
    }
}

/// What comes back of a form from its YAML and from its line, and which fields are marked.
fn back(filled_form: &FormSettings) -> (FormSettings, Vec<String>) {
    let settings = fields::settings(filled_form).unwrap();
    let standard = defaults_of(filled_form).unwrap();
    let differ = fields::differ(filled_form, &standard);
    let text = remarked(&settings.to_yaml(), filled_form, &standard, &differ);
    let read = resolve(&[ConfigFile { name: "x".into(), text }], &[]).unwrap();
    assert_eq!(read, settings);
    let line = in_one_line(filled_form, &standard, &differ);
    let words = runner::settings::split_arguments(&line).unwrap();
    assert_eq!(resolve(&[], &words[3..]).unwrap(), settings, "{line}");
    (fields::form(&settings), differ)
}

#[test]
fn tasks_come_back_from_their_yaml_and_their_line() {
    for agent in ["mini_swe", "oracle", "nop"] {
        for (protocol, attempts) in [
            (FormProtocol::Own, 1.0),
            (FormProtocol::Evocode, 1.0),
            (FormProtocol::MtAtK, 3.0),
            (FormProtocol::Sr, 2.0),
            (FormProtocol::Ours, 3.0),
        ] {
            let is_of_tries = matches!(protocol, FormProtocol::MtAtK | FormProtocol::Sr);
            let filled_form = tasks(FormSettings {
                agent: agent.to_owned(),
                protocol,
                fail_stop: protocol == FormProtocol::MtAtK,
                restore_before_try: is_of_tries,
                task_timeout: if is_of_tries { FormTaskTimeout::Stop } else { FormTaskTimeout::Graded },
                ..defaults(agent, true).unwrap()
            });
            let filled_form = FormSettings { attempt_limit: Some(attempts), ..filled_form };
            let (read, differ) = back(&filled_form);
            assert_eq!(read, filled_form);
            let mut marked = vec!["source", "tasks"];
            marked.extend((protocol != FormProtocol::Own).then_some("protocol"));
            let takes_attempts = is_of_tries || protocol == FormProtocol::Ours;
            marked.extend(takes_attempts.then_some("attempt_limit"));
            assert_eq!(differ, marked, "{agent} {protocol:?}");
        }
    }
    let own_protocol = tasks(FormSettings {
        attempt_limit: Some(4.0),
        restore_before_try: true,
        ..defaults("codex", true).unwrap()
    });
    let own_protocol = FormSettings { attempt_limit: Some(4.0), ..own_protocol };
    assert_eq!(back(&own_protocol).0, own_protocol);
    let ended = FormSettings {
        task_background: crate::api::FormTaskBackground::End,
        task_session: crate::api::FormTaskSession::Fresh,
        task_snapshots: crate::api::FormTaskSnapshots::EachStep,
        ..own_protocol
    };
    let (read, differ) = back(&ended);
    assert!(read == ended && differ.contains(&"task_background".to_owned()), "{differ:?}");
    assert!(differ.contains(&"task_snapshots".to_owned()), "{differ:?}");
}

#[test]
fn what_is_wrong_with_tasks_is_named_at_its_field() {
    let first_error = |change: FormSettings| {
        let errors = settings_of(&tasks(change)).unwrap_err();
        (errors[0].field.clone(), errors[0].message.clone())
    };
    let new = || defaults("mini_swe", true).unwrap();
    assert_eq!(first_error(FormSettings { agent: "mock".to_owned(), ..new() }).0, "agent");
    let empty = FormSettings { tasks: String::new(), ..tasks(new()) };
    assert_eq!(settings_of(&empty).unwrap_err()[0].field, "tasks");
    let relative = FormSettings { tasks: "t".to_owned(), ..tasks(new()) };
    assert_eq!(settings_of(&relative).unwrap_err()[0].field, "tasks");
    let tries = FormSettings { attempt_limit: Some(2.0), ..tasks(new()) };
    let errors = settings_of(&tries).unwrap_err();
    assert!(errors[0].field == "attempt_limit" && errors[0].message.contains("restore_before_try"));
    let player = FormSettings { source: FormSource::Scenarios, ..tasks(defaults("oracle", true).unwrap()) };
    assert_eq!(settings_of(&player).unwrap_err()[0].field, "agent");
    // What only a model needs is not said where none is asked.
    let unasked = FormSettings { run_tokens: Some(5.0), ..tasks(defaults("nop", true).unwrap()) };
    assert_eq!(settings_of(&unasked).unwrap().budgets.run.tokens, None);
    // What scenarios have stays in the form, and says nothing while tasks are played.
    let kept = FormSettings { scenarios_dir: "/p".to_owned(), n_turns: Some(0.0), ..tasks(new()) };
    assert!(settings_of(&kept).is_ok());
}

#[test]
fn a_run_of_one_turn_comes_back_from_its_line() {
    back(&FormSettings { iterative: false, ..form() });
}

#[test]
fn a_model_that_samples_has_its_default_before_it_is_asked_for() {
    let mut filled_form = defaults("mock", true).unwrap();
    assert_eq!(
        (filled_form.use_llm_sampler, filled_form.llm_sampler_model_id.as_str()),
        (false, "zai.glm-5")
    );
    filled_form.output_dir = "/r/x".to_owned();
    filled_form.use_llm_sampler = true;
    let settings = fields::settings(&filled_form).unwrap();
    assert_eq!(settings.generation.llm_sampler_model_id.as_deref(), Some("zai.glm-5"));
}

#[test]
fn what_is_wrong_is_left_out_of_an_estimate_but_for_the_size_of_the_run() {
    let right = |form: &FormSettings| {
        let errors = settings_of(form).unwrap_err();
        without_errors(form, &errors).map(|form| settings_of(&form).is_ok())
    };
    let wrong = FormSettings { base_url: String::new(), cpus: Some(-1.0), ..form() };
    assert_eq!(right(&wrong), Some(true));
    assert_eq!(right(&FormSettings { output_dir: "relative".to_owned(), ..form() }), Some(true));
    assert_eq!(right(&FormSettings { n_turns: Some(0.0), ..form() }), None);
}

#[test]
fn every_wrong_field_is_named_with_a_sentence() {
    let mut filled_form = form();
    filled_form.n_turns = Some(0.0);
    filled_form.batch_size = Some(1.5);
    filled_form.base_seed = "x".to_owned();
    filled_form.oracle_repair = Some(2.0);
    let errors = fields::settings(&filled_form).unwrap_err();
    let wrong: Vec<&str> = errors.iter().map(|e| e.field.as_str()).collect();
    assert_eq!(wrong, ["n_turns", "base_seed", "batch_size", "oracle_repair"]);
    assert_eq!(errors[0].message, "0 is not possible: enter a whole number from 1 to 1000");
    let first_error = |form: &FormSettings| {
        let errors = fields::settings(form).unwrap_err();
        (errors[0].field.clone(), errors[0].message.clone())
    };
    assert_eq!(first_error(&FormSettings { base_url: String::new(), ..form() }).0, "base_url");
    assert_eq!(first_error(&FormSettings { model: String::new(), ..form() }).0, "model");
    let direct = FormSettings {
        endpoint_mode: crate::api::EndpointMode::Direct,
        network: crate::api::FormNetwork::Open,
        attempt_usd: Some(1.0),
        ..form()
    };
    assert_eq!(first_error(&direct).0, "attempt_tokens");
}

#[test]
fn a_new_form_is_valid_for_every_harness_and_has_a_folder_of_its_own() {
    for harness in harnesses() {
        let form = defaults(&harness.name, true).unwrap();
        assert!(settings_of(&form).is_ok(), "{}", harness.name);
        assert!(!Path::new(&form.output_dir).exists());
    }
}

#[test]
fn the_scripts_know_the_harnesses_that_run_in_containers() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/lib/harness-words.mjs");
    let text = std::fs::read_to_string(list).unwrap();
    let mut named: Vec<(String, String)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix("\",")?.split_once(": \""))
        .map(|(word, image)| (word.to_lowercase(), image.to_owned()))
        .collect();
    let image = |image: &str| image.trim_start_matches("stamina/").split(':').next().map(str::to_owned);
    let mut expected: Vec<(String, String)> = harnesses()
        .into_iter()
        .filter(|harness| harness.name != "mock")
        .filter_map(|harness| Some((harness.name, image(&harness.image)?)))
        .collect();
    named.sort_unstable();
    expected.sort_unstable();
    assert_eq!(named, expected, "scripts/lib/harness-words.mjs");
}

#[test]
fn every_field_of_the_form_is_in_the_table_once() {
    let Ok(Value::Object(all)) = serde_json::to_value(FormSettings::default()) else { panic!() };
    let described = fields::described();
    for field in all.keys().filter(|field| *field != "other") {
        let times = described.iter().filter(|d| d.field == *field).count();
        assert_eq!(times, 1, "{field}");
    }
    assert!(described.iter().all(|d| all.contains_key(&d.field)));
    let turns = described.iter().find(|d| d.field == "n_turns").unwrap();
    assert_eq!(turns.takes, "a whole number from 1 to 1000");
    let unsaid: Vec<&str> =
        described.iter().filter(|d| !d.about.ends_with('.')).map(|d| d.field.as_str()).collect();
    assert_eq!(unsaid, [] as [&str; 0], "every field says what it means");
}

#[test]
fn a_field_takes_the_choices_that_the_form_offers() {
    let Ok(Value::Object(all)) = serde_json::to_value(FormSettings::default()) else { panic!() };
    for field in fields::described() {
        let is_truth = all[&field.field].is_boolean();
        for choice in &field.choices {
            let value =
                if is_truth { Value::from(choice.value == "true") } else { choice.value.as_str().into() };
            let mut changed = all.clone();
            changed.insert(field.field.clone(), value);
            let read = serde_json::from_value::<FormSettings>(Value::Object(changed));
            assert!(read.is_ok(), "{}: {}", field.field, choice.value);
        }
        let values: Vec<&str> = field.choices.iter().map(|choice| choice.value.as_str()).collect();
        if is_truth && !values.is_empty() {
            assert_eq!(values, ["false", "true"], "{}", field.field);
        }
        // A word that is not among the choices is refused where there are choices: the type has no other.
        if !is_truth && !values.is_empty() {
            let mut changed = all.clone();
            changed.insert(field.field.clone(), "something else".into());
            assert!(
                serde_json::from_value::<FormSettings>(Value::Object(changed)).is_err(),
                "{}",
                field.field
            );
        }
    }
}

#[test]
fn an_original_configuration_fills_the_form() {
    let text = "agent: MINI_SWE\noutput_dir: results/a\nrestful_server_gen_iterative:\n  n_turns: 100\n\
                mini_swe:\n  model_id: bedrock/zai.glm-5\n  temperature: 0.5\n";
    let loaded = loaded("x.yaml".to_owned(), text.to_owned()).unwrap();
    assert_eq!(loaded.settings.model, "bedrock/zai.glm-5");
    assert_eq!(loaded.settings.n_turns, Some(100.0));
    assert_eq!(loaded.settings.other, ["mini_swe.temperature=0.5"]);
    let budget = super::loaded("x.yaml".to_owned(), format!("{text}limits.attempt.minutes: 7\n")).unwrap();
    assert_eq!(budget.settings.attempt_wall_minutes, Some(7.0));
    assert_eq!(budget.settings.other, loaded.settings.other, "a budget that holds is a field");
    assert!(loaded.notes.iter().any(|note| note.contains("mini_swe.temperature")), "{:?}", loaded.notes);
    // The original would hand over this machine's credentials; here a person chooses.
    assert_eq!(
        (loaded.settings.endpoint_mode, loaded.settings.base_url.as_str()),
        (EndpointMode::Gateway, "")
    );
    assert!(loaded.notes[0].contains("no endpoint"), "{:?}", loaded.notes);
    assert!(Path::new(&loaded.settings.output_dir).is_absolute());
}

#[test]
fn the_originals_whole_snapshot_fills_the_form_and_what_is_not_ours_is_told() {
    let text = "agent: OPENCODE\noutput_dir: results/a\nlog_level: INFO\nopenhands: null\ndocker:\n  \
                image_name: mine\n  extra_docker_args: --gpus all\n  env_vars:\n    TZ: UTC\n    TOKEN: abc\n\
                restful_server_gen_iterative:\n  n_turns: 100\n  max_entities: 9\nuse_docker: true\n";
    let loaded = loaded("x.yaml".to_owned(), text.to_owned()).unwrap();
    assert_eq!(loaded.settings.n_turns, Some(100.0));
    assert_eq!(loaded.settings.image, "mine");
    let notes = loaded.notes.join("\n");
    assert!(notes.contains("log_level, restful_server_gen_iterative.max_entities"), "{notes}");
    assert!(notes.contains("docker.extra_docker_args: --gpus is not understood"), "{notes}");
    assert!(notes.contains("TOKEN=… looks like a secret"), "{notes}");
    assert!(!notes.contains("abc"), "{notes}");
    assert_eq!(loaded.settings.env_vars, ["TZ=UTC"]);
}

#[test]
fn one_variable_that_cannot_be_taken_does_not_take_the_others_with_it() {
    let text =
        "agent: OPENCODE\noutput_dir: results/a\ndocker:\n  env_vars: [TZ=UTC, TOKEN=abc, 1X, HF_TOKEN]\n";
    let loaded = loaded("x.yaml".to_owned(), text.to_owned()).unwrap();
    assert_eq!(loaded.settings.env_vars, ["TZ=UTC", "HF_TOKEN"]);
    let notes = loaded.notes.join("\n");
    assert!(notes.contains("TOKEN=… looks like a secret") && notes.contains("\"1X\" is no name"), "{notes}");
    assert!(!notes.contains("abc"), "{notes}");
}

#[test]
fn an_endpoint_that_is_not_whole_is_left_out_and_told() {
    let text = "agent: OPENCODE\noutput_dir: results/a\nopencode:\n  model_id: m\nendpoint:\n  mode: gateway\n  \
                base_url: ${oc.env:URL}\n";
    let notes = loaded("x.yaml".to_owned(), text.to_owned()).unwrap().notes.join("\n");
    assert!(notes.contains("${…} is not resolved"), "{notes}");
    assert!(notes.contains("endpoint, as endpoint.base_url is missing"), "{notes}");
}

#[test]
fn the_endpoint_of_the_model_that_samples_is_entered_in_the_form_and_comes_back() {
    let filled_form = FormSettings {
        use_llm_sampler: true,
        llm_sampler_model_id: "qwen3".to_owned(),
        sampler_base_url: "http://localhost:11434/v1".to_owned(),
        sampler_key_variable: "MY_KEY".to_owned(),
        sampler_seconds: Some(900.0),
        sampler_calls: Some(1.0),
        base_url: "https://api.example".to_owned(),
        ..form()
    };
    let (read, differ) = back(&filled_form);
    assert_eq!(read, filled_form);
    let entered = ["sampler_base_url", "sampler_key_variable", "sampler_seconds", "sampler_calls"];
    assert!(entered.iter().all(|field| differ.iter().any(|one| one == field)), "{differ:?}");
    let settings = fields::settings(&filled_form).unwrap();
    assert_eq!(settings.other_values["llm_sampler.base_url"], "http://localhost:11434/v1");
    assert_eq!(settings.other_values["llm_sampler.timeout_seconds"], 900);
    assert_eq!(
        crate::sampler::model_in_words(&settings).as_deref(),
        Ok("qwen3 at http://localhost:11434/v1")
    );
    let bedrock = FormSettings {
        sampler_base_url: String::new(),
        sampler_key_variable: String::new(),
        sampler_region: "eu-west-1".to_owned(),
        sampler_endpoint_url: "http://localhost:1".to_owned(),
        ..filled_form.clone()
    };
    assert_eq!(back(&bedrock).0, bedrock);
    // Without that model its endpoint says nothing, and stays for a run with it.
    let off = FormSettings {
        use_llm_sampler: false,
        llm_sampler_model_id: form().llm_sampler_model_id,
        ..filled_form
    };
    assert_eq!(back(&off).0, off);
    // What it would not take does not stand in the way of a run without it.
    let zero_seconds = FormSettings { sampler_seconds: Some(0.0), ..off };
    assert!(
        !fields::settings(&zero_seconds).unwrap().other_values.contains_key("llm_sampler.timeout_seconds")
    );
}

#[test]
fn a_file_without_a_sampling_model_keeps_where_one_is_when_it_is_loaded_and_saved() {
    let lines = ["  base_url: http://localhost:11434/v1", "  timeout_seconds: 7", "  calls_at_once: 2"];
    let text = format!("agent: MOCK\noutput_dir: /r/a\nllm_sampler:\n{}\n", lines.join("\n"));
    let LoadedSettings { settings, .. } = loaded("x.yaml".to_owned(), text).unwrap();
    assert!(!settings.use_llm_sampler);
    let saved = fields::settings(&settings).unwrap();
    assert_eq!(saved.other_values["llm_sampler.base_url"], "http://localhost:11434/v1");
    assert_eq!(saved.other_values["llm_sampler.timeout_seconds"], 7);
    assert_eq!(saved.other_values["llm_sampler.calls_at_once"], 2);
}

#[test]
fn a_configuration_with_a_sampling_model_fills_the_fields_and_what_none_takes_is_told() {
    let text = "agent: MOCK\noutput_dir: results/a\nllm_sampler:\n  base_url: http://localhost:11434/v1\n  timeout_seconds: '7'\n  \
                calls_at_once: soon\nrestful_server_gen_iterative:\n  use_llm_sampler: true\n";
    let LoadedSettings { settings, notes, .. } = loaded("x.yaml".to_owned(), text.to_owned()).unwrap();
    assert_eq!(settings.sampler_base_url, "http://localhost:11434/v1");
    assert_eq!((settings.sampler_seconds, settings.sampler_calls), (Some(7.0), None));
    assert_eq!(settings.other, [""; 0]);
    let notes = notes.join("\n");
    assert!(
        notes.contains("Left out: \"llm_sampler.calls_at_once\" is \"soon\"")
            && !notes.contains("llm_sampler.base_url"),
        "{notes}"
    );
}

#[test]
fn a_number_of_the_sampling_model_that_is_out_of_range_is_told_at_its_field() {
    let with_sampler = |seconds: f64, calls: f64| {
        let sampled = FormSettings { use_llm_sampler: true, ..form() };
        fields::settings(&FormSettings {
            sampler_seconds: Some(seconds),
            sampler_calls: Some(calls),
            ..sampled
        })
    };
    for (seconds, calls) in [(1.0, 1.0), (3600.0, 64.0)] {
        assert!(with_sampler(seconds, calls).is_ok(), "{seconds} s, {calls} calls");
    }
    for (seconds, calls) in [(0.0, 65.0), (3601.0, 0.0), (1.5, -1.0)] {
        let errors = with_sampler(seconds, calls).unwrap_err();
        let named_fields: Vec<&str> = errors.iter().map(|error| error.field.as_str()).collect();
        assert_eq!(named_fields, ["sampler_seconds", "sampler_calls"], "{errors:?}");
    }
    let message = with_sampler(5000.0, 1.0).unwrap_err().remove(0).message;
    assert_eq!(message, "5000 is not possible: enter a whole number from 1 to 3600");
}
