use proptest::prelude::*;
use settings::ConfigFile;

use super::*;

mod declared;

fn resolved_values(values: &[&str]) -> Result<RunSettings, SettingsError> {
    resolve(&[], &values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>())
}

fn written_and_read(settings: &RunSettings) -> RunSettings {
    let text = settings.to_yaml();
    resolve(&[ConfigFile { name: "config.yaml".to_owned(), text: text.clone() }], &[])
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn the_smoke_test_of_the_readme_needs_no_docker() {
    let settings = resolved_values(&[
        "agent=MOCK",
        "benchmark=RESTFUL_SERVER_GEN_ITERATIVE",
        "output_dir=/tmp/smoke",
        "quick_debug=true",
    ])
    .unwrap();
    assert_eq!((settings.generation.n_scenarios, settings.generation.n_turns), (2, 2));
    assert_eq!((settings.use_docker, settings.attempt_limit, settings.batch_size), (false, 10, 1));
    assert_eq!(settings.feedback, Feedback::Detailed);
    assert!(settings.is_simulated());
    assert_eq!(settings.oracle.stack, gateway::simulated_model::Stack::Native);
    assert_eq!(written_and_read(&settings), settings);
}

#[test]
fn the_real_run_of_the_originals_readme_is_direct_only_where_that_is_chosen() {
    let values = [
        "agent=MINI_SWE",
        "benchmark=RESTFUL_SERVER_GEN_ITERATIVE",
        "output_dir=/path/to/results",
        "restful_server_gen_iterative.n_scenarios=20",
        "restful_server_gen_iterative.n_turns=100",
        "restful_server_gen_iterative.attempt_limit=10",
        "restful_server_gen_iterative.base_seed=42",
        "mini_swe.model_id=\"bedrock/zai.glm-5\"",
        "docker.image_name=agent-benchmarking:mini",
        "docker.extra_docker_args=-u 0:0 -e HOME=/root -e XDG_CONFIG_HOME=/root/.config",
        "batch_size=5",
        "use_docker=true",
    ];
    // Nothing says where the model is: no credential of this machine is handed over for that.
    let refused = resolved_values(&values).unwrap_err().to_string();
    assert!(
        refused.starts_with("endpoint.base_url: ") && refused.contains("endpoint.mode=direct"),
        "{refused}"
    );
    let settings = resolved_values(&[&values[..], &["endpoint.mode=direct"]].concat()).unwrap();
    assert_eq!(settings.model.as_deref(), Some("bedrock/zai.glm-5"));
    assert_eq!(settings.endpoint, EndpointSettings::Direct);
    assert_eq!(settings.reach, sandbox::NetworkAccess::Open);
    assert_eq!(settings.extra.user.as_deref(), Some("0:0"));
    assert_eq!(settings.extra.env.len(), 2);
    assert_eq!(settings.batch_size, 5);
    assert_eq!(written_and_read(&settings), settings);
}

#[test]
fn an_original_configuration_loads_and_what_is_not_ours_is_kept() {
    let text = "agent: MINI_SWE\nbenchmark: RESTFUL_SERVER_GEN_ITERATIVE\noutput_dir: /home/bench/results\nuse_docker: true\n\
                batch_size: 1\nquick_debug: false\nscenarios_dir: null\nrestful_server_gen_iterative:\n  n_scenarios: 2\n  \
                n_turns: 4\n  num_changes_per_turn: 5\n  attempt_limit: 3\n  base_seed: 42\n  enable_feedback: true\n  \
                test_fail_feedback_type: MEDIUM\n  use_llm_sampler: false\n  llm_sampler_model_id: zai.glm-5\n  \
                execute_episodes: null\nmini_swe:\n  model_id: bedrock/zai.glm-5\n  temperature: 0.5\n  api_key: \
                sk-123\n  api_keys:\n    openai: sk-123\nopenhands:\n  model_id: other\ndocker:\n  image_name: agent-benchmarking:mini\n  env_vars: {}\n  \
                network: host\n";
    let (settings, left_out) =
        read(&ConfigFile { name: "config.yaml".to_owned(), text: text.to_owned() }).unwrap();
    assert!(
        left_out.iter().any(|left| left.key == "endpoint" && left.reason.contains("no endpoint")),
        "{left_out:?}"
    );
    assert_eq!(
        (&settings.endpoint, settings.model.as_deref()),
        (&EndpointSettings::Oracle, Some("bedrock/zai.glm-5"))
    );
    assert_eq!((settings.attempt_limit, settings.feedback), (3, Feedback::Medium));
    let other_keys: Vec<&str> = settings.other_values.keys().map(String::as_str).collect();
    assert_eq!(other_keys, ["docker.network", "mini_swe.temperature", "openhands.model_id"]);
    assert!(!settings.to_yaml().contains("sk-123"));
    assert_eq!(written_and_read(&settings), settings);
}

#[test]
fn a_pack_bounds_itself_unless_something_was_said() {
    let pack_bounds = |more: &[&str]| {
        let mut list = vec!["agent=MOCK", "output_dir=/r", "scenarios_dir=/pack"];
        list.extend(more);
        let generation = resolved_values(&list).unwrap().generation;
        (generation.n_scenarios, generation.n_turns)
    };
    assert_eq!(pack_bounds(&[]), (1000, 1000));
    assert_eq!(pack_bounds(&["restful_server_gen_iterative.n_turns=7"]), (1000, 7));
    assert_eq!(pack_bounds(&["quick_debug=true"]), (2, 2));
}

#[test]
fn refusals_say_which_key_why_and_what_instead() {
    let refusal = |values: &[&str]| {
        let mut list = vec!["output_dir=/r"];
        list.extend(values);
        resolved_values(&list).expect_err("it is refused").to_string()
    };
    assert!(refusal(&[]).starts_with("agent: it is not given"));
    assert!(
        resolved_values(&["agent=MOCK"]).unwrap_err().to_string().starts_with("output_dir: it is not given")
    );
    assert!(
        refusal(&["agent=MINI_SWE", "use_docker=false"])
            .starts_with("use_docker: without containers only agent=MOCK")
    );
    assert!(refusal(&["agent=MOCK", "limits.memry_gib=3"]).contains("nearest is \"limits.memory_gib\""));
    assert!(refusal(&["agent=MOCK", "endpoint.modus=oracle"]).contains("nearest is \"endpoint.mode\""));
    assert!(refusal(&["agent=MOCK", "limits.run.token=3"]).contains("nearest is \"limits.run.tokens\""));
    assert!(refusal(&["agent=MOCK", "oracle.defect_rate=2"]).contains("a number from 0 to 1"));
    assert!(refusal(&["agent=CODEX", "endpoint.mode=gateway"]).starts_with("endpoint.base_url: "));
    assert!(refusal(&["agent=CODEX", "endpoint.base_url=ftp://x"]).contains("http://"));
    assert!(refusal(&["agent=CODEX", "endpoint.base_url=http://me:sk@x"]).contains("endpoint.key_env"));
    assert!(
        refusal(&["agent=CODEX", "endpoint.base_url=http://x", "endpoint.key_env=sk-12.3"])
            .contains("never the key")
    );
    assert!(refusal(&["agent=CODEX", "endpoint.base_url=http://x"]).starts_with("codex.model_id: "));
    let clashing =
        ["agent=CODEX", "endpoint.base_url=http://x", "endpoint.key_env=MY_KEY", "docker.env_vars=TZ,MY_KEY"];
    assert!(refusal(&clashing).starts_with("docker.env_vars: MY_KEY holds the endpoint's key"));
    assert!(refusal(&["agent=CODEX", "docker.env_vars=OPENAI_API_KEY=sk-1"]).contains("looks like a secret"));
    assert!(
        refusal(&["agent=CODEX", "docker.extra_docker_args=--privileged"])
            .contains("--privileged is not understood")
    );
    assert!(
        refusal(&["agent=CODEX", "docker.extra_docker_args=-e HF_TOKEN=x"]).contains("looks like a secret")
    );
    assert!(
        refusal(&["agent=CODEX", "endpoint.mode=direct", "limits.attempt.usd=3"])
            .contains("only minutes can be limited")
    );
    assert!(refusal(&["agent=CUSTOM"]).starts_with("harness_file: "));
    assert!(refusal(&["agent=MOCK", "endpoint.price.input=3"]).starts_with("endpoint.price: "));
    let endpoint = ["agent=CODEX", "endpoint.base_url=http://x", "endpoint.price.per_hour=2"];
    let message = refusal(&[&endpoint[..], &["endpoint.price.output=0"]].concat());
    assert!(
        message.starts_with("endpoint.price.per_hour: ") && message.contains("endpoint.price.output is"),
        "{message}"
    );
    let direct = refusal(&["agent=CODEX", "endpoint.mode=direct", "endpoint.price.per_hour=2"]);
    assert!(direct.starts_with("endpoint.price.per_hour: "), "{direct}");
    assert!(refusal(&[&endpoint[..2], &["endpoint.price.per_hour=-1"]].concat()).contains("per_hour"));
}

#[test]
fn a_machine_has_a_price_per_hour_and_its_tokens_cost_nothing_apart() {
    let arguments = [
        "agent=CODEX",
        "output_dir=r",
        "codex.model_id=m",
        "endpoint.base_url=http://x",
        "endpoint.price.per_hour=1.8",
        "limits.run.usd=5",
    ];
    let settings = resolved_values(&arguments).unwrap();
    assert_eq!(settings.price, Some(gateway::Price::per_machine_hour(1.8)));
    let yaml = settings.to_yaml();
    assert!(yaml.contains("per_hour: 1.8") && !yaml.contains("output: 0"), "{yaml}");
    assert_eq!(written_and_read(&settings), settings);
}

#[test]
// docs/security.md: A resume
fn a_record_holds_only_what_a_configuration_gives() {
    let good = resolved_values(&[
        "agent=CODEX",
        "output_dir=/r",
        "codex.model_id=m",
        "endpoint.base_url=http://x",
        "docker.network=host",
        "docker.env_vars=[TZ, \"A=b,c\"]",
    ])
    .unwrap();
    check_record(&good).unwrap();
    // Keys that do nothing come last in the file that a resume reads: none of them may be one that does something.
    for (key, value) in [
        ("docker.env_vars", serde_json::json!(["AWS_SECRET_ACCESS_KEY"])),
        ("docker.extra_docker_args", "-v /home/me/.ssh:/x".into()),
        ("docker.image_name", "other".into()),
        ("agent", "MOCK".into()),
        ("use_docker", false.into()),
        ("endpoint.base_url", "http://elsewhere".into()),
    ] {
        let mut bad = good.clone();
        bad.other_values.insert(key.to_owned(), value);
        assert!(check_record(&bad).is_err(), "{key}");
    }
    let mut bad = good;
    bad.env_vars.push("1 X".to_owned());
    assert!(check_record(&bad).is_err());
}

#[test]
// docs/security.md: A resume
fn without_containers_the_configuration_gives_processes_nothing() {
    for value in
        ["docker.env_vars=PATH=/results/bin", "docker.env_vars=HOME", "docker.extra_docker_args=-e A=b"]
    {
        let refused = resolved_values(&["agent=MOCK", "output_dir=/r", value]).unwrap_err().to_string();
        assert!(refused.contains("without containers"), "{value}: {refused}");
    }
}

#[test]
fn an_address_is_taken_with_and_without_its_version() {
    for spelling in ["https://x.example/v1/", "https://x.example", "https://x.example/v1"] {
        let url = format!("endpoint.base_url={spelling}");
        let settings = resolved_values(&["agent=CODEX", "output_dir=/r", "codex.model_id=m", &url]).unwrap();
        let EndpointSettings::Gateway { base_url, .. } = settings.endpoint else { panic!("{spelling}") };
        assert_eq!(base_url, "https://x.example");
        assert_eq!(settings.reach, sandbox::NetworkAccess::Gateway);
    }
}

/// A list of settings that go together.
fn lists() -> impl Strategy<Value = Vec<String>> {
    let agents =
        prop::sample::select(vec!["MINI_SWE", "OPENHANDS", "KIMI_CODE", "CLAUDE_CODE", "CODEX", "VIBE"]);
    let texts = "[ -~é]{1,20}";
    let numbers = (1u32..50, 1u32..200, 1u32..20, 0u64..1 << 62, 1u64..1 << 39);
    let limits = (1u32..640, 1u32..9999, 1u32..6000, 0.0..1.0f64, any::<[bool; 6]>());
    (agents, texts, numbers, limits, prop::collection::vec("[a-z][a-z0-9_ -]{0,8}[a-z]", 0..4)).prop_map(
        |(
            agent,
            text,
            (scenarios, turns, attempts, seed, tokens),
            (tenths, mib, pids, share, flags),
            words,
        )| {
            let section = agent.to_lowercase();
            let mut list = vec![
                format!("agent={agent}"),
                "use_docker=true".to_owned(),
                format!("output_dir=/r/{}", text.replace('/', "").trim().trim_matches(['"', '\'']).trim()),
                format!("restful_server_gen_iterative.n_scenarios={scenarios}"),
                format!("restful_server_gen_iterative.n_turns={turns}"),
                format!("restful_server_gen_iterative.attempt_limit={attempts}"),
                format!("restful_server_gen_iterative.base_seed={seed}"),
                format!("restful_server_gen_iterative.enable_feedback={}", flags[0]),
                format!("{section}.model_id=\"m {}\"", text.replace('"', "")),
                format!("limits.cpus={}", f64::from(tenths) / 10.0),
                format!("limits.memory_gib={}", f64::from(mib + 64) / 1024.0),
                format!("limits.pids={}", pids + 16),
                format!("limits.attempt_minutes={}", f64::from(pids) / 7.0 + 1.0),
                format!("limits.episode.minutes={}", share * 1000.0 + 1.0),
                format!("limits.run.tokens={tokens}"),
                format!("oracle.defect_rate={share}"),
                // words: ok: the key keeps its name.
                format!("oracle.mischief.stall={share}"),
                format!("fail_stop={}", flags[1]),
                format!("docker.env_vars=PLAIN,A={tenths}"),
                format!("docker.extra_docker_args=-u 1:2 -v '/a b':/c -e 'X=it'\\''s {tenths}'"),
                format!("{section}.other={text}x"),
                format!("keep_snapshots={pids}"),
            ];
            if flags[2] {
                list.push("endpoint.mode=oracle".to_owned());
            } else {
                list.push("endpoint.base_url=http://127.0.0.1:9/v1".to_owned());
                list.push(
                    if flags[3] { "endpoint.key_env=A_KEY" } else { "endpoint.key_name=my key" }.to_owned(),
                );
                if flags[5] {
                    list.push(format!("endpoint.price.per_hour={share}"));
                } else {
                    list.push(format!("endpoint.price.input={share}"));
                    list.push("endpoint.price.output=3".to_owned());
                }
            }
            if flags[4] {
                list.push("restful_server_gen_iterative.execute_episodes=3,1,3".to_owned());
            }
            if flags[5] {
                list.push("scenarios_dir=/pack".to_owned());
            }
            if !words.is_empty() {
                list.push(format!("tags={}", words.join(",")));
            }
            list
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(list in lists()) {
        // What these mean is no text: a reference, a list, a mapping.
        prop_assume!(!list.iter().any(|pair| ["${", "=[", "={"].iter().any(|begin| pair.contains(begin))));
        let settings = resolve(&[], &list).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(written_and_read(&settings), settings);
    }

    #[test]
    fn words_are_split_as_they_were_quoted(words in prop::collection::vec("[ -~é]{1,12}", 1..5)) {
        let extra = sandbox::ExtraArgs { binds: words, ..Default::default() };
        let line = arguments::line(&extra);
        let back = arguments::parse(&split_arguments(&line).map_err(TestCaseError::fail)?);
        prop_assert_eq!(back.map_err(|error| TestCaseError::fail(error.to_string()))?, extra);
    }
}
