use gateway::ListedModel;

use super::*;

fn settings(values: &[&str]) -> RunSettings {
    let mut all = vec![
        "output_dir=r".to_owned(),
        "endpoint.base_url=http://127.0.0.1:8080".to_owned(),
        "agent=MINI_SWE".to_owned(),
        "mini_swe.model_id=m".to_owned(),
        "batch_size=1".to_owned(),
        "endpoint.context_window=32000".to_owned(),
    ];
    all.extend(values.iter().map(|value| (*value).to_owned()));
    runner::settings::resolve(&[], &all).unwrap()
}

fn whole(server: Option<ServerKind>) -> EndpointFindings {
    EndpointFindings {
        abilities: Abilities {
            streams: Some(true),
            tools: Some(true),
            json_schema: Some(true),
            usage_in_stream: Some(true),
            cached: Some(true),
            tools_refused: None,
            tools_uncalled: false,
        },
        server,
        context: Some(32000),
        model_context: None,
        slots: Some(1),
        listed: Vec::new(),
    }
}

fn check_of(values: &[&str], found: &EndpointFindings) -> Check {
    abilities(&settings(values), found).unwrap()
}

#[test]
fn an_endpoint_with_all_that_is_needed_gets_no_sentence() {
    let check = check_of(&[], &whole(Some(ServerKind::LlamaCpp)));
    assert_eq!((check.state, check.sentence, check.fix), (CheckState::Ok, None, None));
    assert_eq!(check.value, "streams, tools, JSON schema, usage in streams, cached tokens, context 32000");
    assert!(abilities(&settings(&[]), &EndpointFindings::default()).is_none(), "nothing known, nothing said");
}

#[test]
fn tools_that_are_missing_come_with_the_remedy_of_the_program() {
    for (server, remedy) in [
        (Some(ServerKind::LlamaCpp), "--jinja"),
        (Some(ServerKind::Vllm), "--enable-auto-tool-choice"),
        (Some(ServerKind::Sglang), "--tool-call-parser"),
        (Some(ServerKind::Ollama), "ollama show"),
        (Some(ServerKind::LmStudio), "LM Studio"),
        (None, "Choose a model"),
    ] {
        let mut found = whole(server);
        found.abilities.tools = Some(false);
        found.abilities.tools_refused = Some("the reason".to_owned());
        let check = check_of(&[], &found);
        let sentence = check.sentence.unwrap();
        assert_eq!(check.state, CheckState::Warn);
        assert!(check.value.contains("no tools"), "{}", check.value);
        assert!(sentence.contains(remedy) && sentence.contains("the reason"), "{sentence}");
        assert!(sentence.contains("mini-swe-agent"), "{sentence}");
    }
    // Nobody answered that question: nothing is said of the model.
    let mut found = whole(None);
    found.abilities.tools = None;
    let check = check_of(&[], &found);
    let sentence = check.sentence.unwrap();
    assert_eq!(check.state, CheckState::Unknown);
    assert!(sentence.contains("did not answer") && !sentence.contains("did not call"), "{sentence}");
    found.abilities.tools_uncalled = true;
    let check = check_of(&[], &found);
    assert!(check.state == CheckState::Unknown && check.sentence.unwrap().contains("did not call"));
}

#[test]
fn what_was_found_out_counts_for_a_day_from_when_it_was_however_often_it_is_looked_at() {
    let store = Store::in_memory().unwrap();
    let kept_abilities = KeptAbilities::new(&store);
    let place = ("http://127.0.0.1:8080".to_owned(), "m".to_owned(), "/v1/chat/completions");
    let begin = now();
    let after = |hours: i64| begin + hours * 3600;
    assert!(kept_abilities.recent(&place, begin).is_none());
    let mut refused = whole(Some(ServerKind::LlamaCpp));
    (refused.abilities.tools, refused.abilities.tools_refused) =
        (Some(false), Some("needs --jinja".to_owned()));
    kept_abilities.keep(&place, begin, &refused);
    let (found_at, found) = kept_abilities.recent(&place, after(20)).unwrap();
    assert_eq!((found_at, &found), (begin, &refused));
    kept_abilities.keep(&place, found_at, &found);
    assert!(kept_abilities.recent(&place, after(23)).is_some());
    assert!(kept_abilities.recent(&place, after(24)).is_none(), "a look after 20 hours made it no younger");
    assert!(kept_abilities.recent(&place, begin - 1).is_none(), "a clock that was set back");
    let other = (place.0.clone(), "other".to_owned(), place.2);
    assert!(kept_abilities.recent(&other, begin).is_none());
    // What a later version has written in another form is asked for again.
    store.keep_abilities(&place.0, &place.1, place.2, begin, "7").unwrap();
    assert!(kept_abilities.recent(&place, begin).is_none());
}

#[test]
fn a_list_that_fails_once_or_tells_less_takes_nothing_away() {
    let before = whole(Some(ServerKind::LlamaCpp));
    let list = |server, context| ModelList {
        server,
        models: vec![ListedModel { id: "m".to_owned(), aliases: Vec::new(), context, model_context: None }],
        slots: None,
    };
    let failed = found_in(None, "m", &before);
    assert_eq!((failed.context, failed.slots, failed.server), (before.context, before.slots, before.server));
    assert_eq!(failed.abilities, Abilities::default(), "what it can do is asked for apart");
    // `/props` did not answer this time.
    let less = found_in(Some(&list(None, None)), "m", &before);
    assert_eq!((less.context, less.server), (Some(32000), Some(ServerKind::LlamaCpp)));
    let other = found_in(Some(&list(Some(ServerKind::LlamaCpp), Some(8192))), "m", &before);
    assert_eq!(other.context, Some(8192), "what it tells now counts");
    let changed = found_in(Some(&list(Some(ServerKind::Ollama), None)), "m", &before);
    assert_eq!((changed.context, changed.slots), (None, None), "another program answers");
}

#[test]
fn another_model_or_context_in_the_list_is_asked_for_all_of_it() {
    let list = |id: &str, context, model_context| ModelList {
        server: Some(ServerKind::LlamaCpp),
        models: vec![ListedModel { id: id.to_owned(), aliases: Vec::new(), context, model_context }],
        slots: None,
    };
    // llama.cpp answers with its only model under any name.
    let found = |list: &ModelList| found_in(Some(list), "typed", &EndpointFindings::default());
    let before = found(&list("small.gguf", Some(8192), Some(32768)));
    assert_eq!(before.listed, ["small.gguf"]);
    for (now, is_another) in [
        (list("small.gguf", Some(8192), Some(32768)), false),
        (list("large.gguf", Some(8192), Some(32768)), true),
        (list("small.gguf", Some(4096), Some(32768)), true),
        (list("small.gguf", Some(8192), Some(16384)), true),
        // What it does not tell this time is no change.
        (list("small.gguf", None, None), false),
        (ModelList { server: None, models: Vec::new(), slots: None }, false),
    ] {
        assert_eq!(found(&now).is_of_another(&before), is_another, "{now:?}");
    }
    let vllm = ModelList { server: Some(ServerKind::Vllm), ..list("small.gguf", Some(8192), Some(32768)) };
    assert!(found(&vllm).is_of_another(&before), "another program");
    // A library of before does not know the names.
    assert!(!before.is_of_another(&EndpointFindings { listed: Vec::new(), ..before.clone() }));
}

#[test]
fn only_what_the_harness_needs_is_missing() {
    let mut found = whole(None);
    found.abilities.streams = Some(false);
    found.abilities.usage_in_stream = None;
    assert_eq!(check_of(&[], &found).state, CheckState::Ok, "mini-swe-agent reads no streams");
    let check = check_of(&["agent=OPENCODE", "opencode.model_id=m"], &found);
    assert_eq!(check.state, CheckState::Warn);
    assert!(check.sentence.unwrap().contains("OpenCode reads answers as streams"));
    let mut found = whole(None);
    found.abilities.usage_in_stream = Some(false);
    let check = check_of(&["agent=OPENCODE", "opencode.model_id=m"], &found);
    assert!(check.state == CheckState::Warn && check.sentence.unwrap().contains("cost will be unknown"));
    for (server, remedy) in
        [(ServerKind::Vllm, "--enable-prompt-tokens-details"), (ServerKind::Sglang, "--enable-cache-report")]
    {
        let mut found = whole(Some(server));
        found.abilities.cached = Some(false);
        let check = check_of(&[], &found);
        assert!(check.state == CheckState::Ok && check.sentence.unwrap().contains(remedy));
    }
}

#[test]
fn a_context_that_is_too_small_is_fixed_in_the_settings_or_at_the_server() {
    let mut found = whole(Some(ServerKind::LlamaCpp));
    found.context = Some(8192);
    let check = check_of(&[], &found);
    let sentence = check.sentence.unwrap();
    assert_eq!(check.state, CheckState::Warn);
    assert!(sentence.contains("8192") && sentence.contains("32000") && sentence.contains("-c"), "{sentence}");
    let action = FixAction::SetNumber { field: "context_window".to_owned(), value: 8192.0 };
    assert_eq!(check.fix.unwrap().action, action);

    // Qwen Code alone fills more than that.
    let short =
        check_of(&["agent=QWEN_CODE", "qwen_code.model_id=m", "endpoint.context_window=8192"], &found);
    let sentence = short.sentence.unwrap();
    assert!(short.fix.is_none() && sentence.contains("19500"), "{sentence}");
    for (server, remedy) in [
        (ServerKind::Vllm, "--max-model-len"),
        (ServerKind::Sglang, "--context-length"),
        (ServerKind::Ollama, "OLLAMA_CONTEXT_LENGTH"),
        (ServerKind::LmStudio, "LM Studio"),
    ] {
        found.server = Some(server);
        assert!(check_of(&[], &found).sentence.unwrap().contains(remedy));
    }
}

/// llama.cpp with a model that was made for 8,192 tokens and `-c 8192`: a larger `-c` would help nobody.
#[test]
fn a_context_that_is_all_that_the_model_was_made_for_is_not_to_be_made_larger() {
    let mut found = whole(Some(ServerKind::LlamaCpp));
    (found.context, found.model_context) = (Some(8192), Some(8192));
    let sentence = check_of(&["agent=QWEN_CODE", "qwen_code.model_id=m"], &found).sentence.unwrap();
    assert!(
        sentence.contains("choose a model with a longer context") && !sentence.contains("-c"),
        "{sentence}"
    );
    found.model_context = Some(32768);
    let sentence = check_of(&["agent=QWEN_CODE", "qwen_code.model_id=m"], &found).sentence.unwrap();
    assert!(sentence.contains("larger -c") && !sentence.contains("choose a model"), "{sentence}");
}

/// Ollama before the model is loaded, without `num_ctx`.
#[test]
fn a_context_that_is_not_told_is_at_most_what_the_model_was_made_for() {
    let mut found = whole(Some(ServerKind::Ollama));
    (found.context, found.model_context) = (None, Some(8192));
    let check = check_of(&[], &found);
    assert!(check.value.ends_with("context unknown, made for 8192"), "{}", check.value);
    let sentence = check.sentence.unwrap();
    assert!(check.state == CheckState::Warn && sentence.contains("at most 8192"), "{sentence}");
    let action = FixAction::SetNumber { field: "context_window".to_owned(), value: 8192.0 };
    assert_eq!(check.fix.unwrap().action, action);
    found.model_context = Some(40960);
    assert_eq!(check_of(&[], &found).state, CheckState::Ok);
}

#[test]
fn more_episodes_than_slots_wait_for_one_another() {
    let check = check_of(&["batch_size=4"], &whole(Some(ServerKind::LlamaCpp)));
    let action = FixAction::SetNumber { field: "batch_size".to_owned(), value: 1.0 };
    assert_eq!((check.state, check.fix.unwrap().action), (CheckState::Warn, action));
    assert!(check.sentence.unwrap().contains("-np 4"));
}

#[test]
fn a_model_that_is_not_listed_is_a_warning() {
    let model = |id: &str| ListedModel {
        id: id.to_owned(),
        aliases: vec![format!("{id}-alias")],
        context: Some(4096),
        model_context: None,
    };
    let list = |ids: &[&str], server| ModelList {
        server,
        models: ids.iter().map(|id| model(id)).collect(),
        slots: None,
    };
    let two = list(&["llama3.2:latest", "qwen3:8b"], Some(ServerKind::Ollama));
    assert!(listed(&two, "qwen3:8b", true).is_none() && listed(&two, "llama3.2", true).is_none());
    assert!(listed(&two, "qwen3:8b-alias", true).is_none(), "another of its names");
    assert_eq!(found_in(Some(&two), "llama3.2", &EndpointFindings::default()).context, Some(4096));
    assert_eq!(found_in(Some(&two), "gone", &EndpointFindings::default()).context, None);
    let check = listed(&two, "gone", false).unwrap();
    let sentence = check.sentence.unwrap();
    assert!(check.state == CheckState::Warn && check.fix.is_none());
    assert!(sentence.contains("gone") && sentence.contains("llama3.2:latest, qwen3:8b"), "{sentence}");
    let many: Vec<String> = (0..9).map(|n| format!("m{n}")).collect();
    let many = list(&many.iter().map(String::as_str).collect::<Vec<_>>(), None);
    assert!(
        listed(&many, "x\u{1b}[2J", true)
            .unwrap()
            .sentence
            .unwrap()
            .contains("m4, 4 more. It answers all the same")
    );
    // llama.cpp has one, and answers with it under any name.
    let one = list(&["smollm2"], Some(ServerKind::LlamaCpp));
    assert_eq!(found_in(Some(&one), "any", &EndpointFindings::default()).context, Some(4096));
    let fix = listed(&one, "any", true).unwrap().fix.unwrap();
    assert_eq!(fix.action, FixAction::SetText { field: "model".to_owned(), value: "smollm2".to_owned() });
    assert!(listed(&list(&[], None), "m", true).is_none(), "no list, no warning");
}

#[test]
fn a_schema_that_is_not_kept_to_is_a_warning_where_the_model_samples_and_a_note_elsewhere() {
    let mut found = whole(Some(ServerKind::LlamaCpp));
    found.abilities.json_schema = Some(false);
    let note = check_of(&[], &found);
    assert_eq!(note.state, CheckState::Ok);
    assert!(
        note.value.contains("no JSON schema") && note.sentence.unwrap().contains("No harness needs that")
    );
    let sampled = |address: &str, model: &str| {
        let (address, model) = (
            format!("llm_sampler.base_url={address}"),
            format!("restful_server_gen_iterative.llm_sampler_model_id={model}"),
        );
        let values = ["restful_server_gen_iterative.use_llm_sampler=true", &address, &model];
        check_of(&values, &found).state
    };
    assert_eq!(sampled("http://127.0.0.1:8080/v1/", "m"), CheckState::Warn);
    assert_eq!(sampled("http://127.0.0.1:8080/v1", "other"), CheckState::Ok);
    assert_eq!(sampled("https://api.example/v1", "m"), CheckState::Ok);
    let values = [
        "restful_server_gen_iterative.use_llm_sampler=true",
        "restful_server_gen_iterative.llm_sampler_model_id=m",
        "llm_sampler.base_url=http://127.0.0.1:8080/v1",
    ];
    for (server, remedy) in [
        (Some(ServerKind::LlamaCpp), "newer llama-server"),
        (Some(ServerKind::Vllm), "newer vLLM"),
        (Some(ServerKind::Sglang), "--grammar-backend"),
        (Some(ServerKind::Ollama), "Ollama 0.5"),
        (Some(ServerKind::LmStudio), "LM Studio"),
        (None, "response_format"),
    ] {
        found.server = server;
        let sentence = check_of(&values, &found).sentence.unwrap();
        assert!(sentence.contains(remedy) && sentence.contains("asked by a tool,"), "{sentence}");
    }
    found.abilities.tools = None;
    assert!(check_of(&values, &found).sentence.unwrap().contains("by a tool or in prose"));
    found.abilities.json_schema = None;
    assert!(
        !check_of(&values, &found).sentence.unwrap_or_default().contains("schema"),
        "unknown, and not missing"
    );
}
