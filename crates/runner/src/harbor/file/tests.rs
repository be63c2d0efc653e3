use super::*;

const TWO: &str = "[[steps]]\nname = \"round-1\"\n[[steps]]\nname = \"round-2\"\n";

fn parsed(text: &str) -> ParsedTask {
    read(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Public tasks of every schema, with what each of them holds beyond the others.
#[test]
fn every_schema_is_read_and_what_nobody_knows_is_named() {
    for (text, unknown) in [
        ("schema_version = \"1.2\"\n", vec![]),
        ("version = \"1.0\"\nsource = \"x\"\n[task]\nname = \"a/b\"\n", vec![]),
        (
            "schema_version = \"1.4\"\nmulti_step_reward_strategy = \"final\"\n[metadata.requirement_chain]\nnum_steps = 2\n",
            vec![],
        ),
        (
            "color = 1\n[environment]\nshape = 2\n[solution]\nlength = 3\n",
            vec!["color", "solution.length", "environment.shape"],
        ),
    ] {
        let read = parsed(&format!("{text}{TWO}"));
        assert_eq!(read.unknown, unknown, "{text}");
        assert_eq!(read.refused, Vec::<String>::new(), "{text}");
        assert_eq!(read.file.steps.len(), 2);
    }
    // Variables of an agent go to nobody; those of a verifier to the verifier.
    let env = parsed(
        "[agent.env]\nA = \"1\"\n[verifier.env]\nB = \"1\"\n[[steps]]\nname = \"a\"\n[steps.agent.env]\nC = \"1\"\n[[steps]]\nname = \"b\"\n[steps.agent.env]\n",
    );
    assert_eq!(env.unknown, ["agent.env", "steps.a.agent.env"]);
    // Keys of a fork at the steps of schema 1.1.
    let fork = parsed(
        "schema_version = \"1.1\"\n[[steps]]\nname = \"1_first-step\"\ndependencies = []\ninherit_prior_session = true\n",
    );
    assert_eq!(fork.unknown, ["steps.1_first-step.dependencies"], "the session is a setting of the run");
    assert_eq!(fork.file.steps[0].continues_session, Some(true));
    let fresh = parsed(
        "[[steps]]\nname = \"a\"\ninherit_prior_session = false\n[[steps]]\nname = \"b\"\ninherit_prior_session = 1\n",
    );
    assert_eq!(fresh.unknown, ["steps.b.inherit_prior_session"], "neither yes nor no");
    let continuations: Vec<_> = fresh.file.steps.iter().map(|step| step.continues_session).collect();
    assert_eq!(continuations, [Some(false), None]);
    assert_eq!(fork.file.steps[0].name, "1_first-step");
}

#[test]
fn a_step_says_how_long_its_verifier_runs_and_its_task_does_not() {
    let text = "[agent]\ntimeout_sec = 1800\nuser = 1000\n[verifier]\ntimeout_sec = 1800.0\nuser = \"judge\"\n[verifier.env]\nA = \"task\"\nB = \"task\"\n\
                [[steps]]\nname = \"a\"\n[[steps]]\nname = \"b\"\n[steps.agent]\ntimeout_sec = 5\nuser = \"root\"\n\
                [steps.verifier]\ntimeout_sec = 7.5\n[steps.verifier.env]\nB = \"step\"\n[[steps]]\nname = \"c\"\n[steps.agent]\n";
    let file = parsed(text).file;
    let times: Vec<_> = file.steps.iter().map(|step| (step.agent_seconds, step.verifier_seconds)).collect();
    assert_eq!(times, [(Some(1800.0), 600.0), (Some(5.0), 7.5), (Some(1800.0), 600.0)]);
    let users: Vec<_> = file.steps.iter().map(|step| step.agent_user.as_deref()).collect();
    assert_eq!(users, [Some("1000"), Some("root"), Some("1000")]);
    assert_eq!(file.steps[1].verifier_user.as_deref(), Some("judge"));
    let env: Vec<_> = file.steps[1].verifier_env.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(env, [("A", "task"), ("B", "step")]);
    assert_eq!(parsed(TWO).file.steps[0].agent_seconds, None);
}

#[test]
fn defaults_are_those_of_the_format() {
    let file = parsed(TWO).file;
    assert!(file.is_public && !file.is_final && file.image.is_none() && file.health.is_none());
    assert_eq!((file.build_seconds, file.cpus, file.memory_mb), (600, None, None));
    assert!(file.steps[0].min_reward.is_empty() && file.steps[0].artifacts.is_empty());
}

#[test]
fn least_rewards_are_a_number_or_one_for_each_key() {
    let least = |text: &str| {
        parsed(&format!("[[steps]]\nname = \"a\"\nmin_reward = {text}\n")).file.steps[0].min_reward.clone()
    };
    assert_eq!(least("1.0"), BTreeMap::from([("reward".to_owned(), 1.0)]));
    assert_eq!(least("1"), BTreeMap::from([("reward".to_owned(), 1.0)]));
    assert_eq!(least("{ segment_pass = 0.0, b = 1 }").len(), 2);
    assert!(read("[[steps]]\nname = \"a\"\nmin_reward = nan\n").is_err());
}

#[test]
fn the_network_is_public_unless_it_is_said() {
    for (text, public, refused) in [
        ("", true, 0),
        ("[environment]\nallow_internet = false\n", false, 0),
        ("[environment]\nallow_internet = false\nnetwork_mode = \"public\"\n", true, 0),
        ("[environment]\nnetwork_mode = \"no-network\"\n", false, 0),
        ("[environment]\nnetwork_mode = \"allowlist\"\nallowed_hosts = [\"example.com\"]\n", true, 1),
        ("[environment]\nnetwork_mode = \"else\"\n", true, 1),
        ("[agent]\nnetwork_mode = \"no-network\"\n", true, 1),
    ] {
        let read = parsed(&format!("{text}{TWO}"));
        assert_eq!((read.file.is_public, read.refused.len()), (public, refused), "{text} {:?}", read.refused);
    }
}

#[test]
fn what_cannot_be_played_is_refused_by_name() {
    for (text, named) in [
        ("[environment]\nos = \"Windows\"\n", "environment.os"),
        ("[environment]\ngpus = 1\ngpu_types = [\"H100\"]\n", "environment.gpus"),
        ("[environment.tpu]\ntype = \"v5\"\ntopology = \"2x2\"\n", "environment.tpu"),
        ("[[environment.mcp_servers]]\nname = \"a\"\nurl = \"http://a\"\n", "environment.mcp_servers"),
        ("[environment]\nskills_dir = \"/skills\"\n", "environment.skills_dir"),
        ("[verifier]\nenvironment_mode = \"separate\"\n", "verifier.environment"),
        ("[verifier.environment]\ndocker_image = \"x\"\n", "verifier.environment"),
        ("[[verifier.collect]]\ncommand = \"x\"\n", "verifier.collect"),
        ("artifacts = [{ source = \"/a\", service = \"db\" }]\n", "artifacts.service"),
    ] {
        let refused = parsed(&format!("{text}{TWO}")).refused;
        assert!(refused.len() == 1 && refused[0].starts_with(named), "{text}: {refused:?}");
    }
    let refused =
        parsed("[[steps]]\nname = \"a\"\n[steps.verifier.environment]\ndocker_image = \"x\"\n").refused;
    assert!(refused[0].starts_with("steps.a.verifier.environment"), "{refused:?}");
    assert!(parsed("version = \"1.0\"\n").refused[0].contains("no [[steps]]"));
}

#[test]
fn values_out_of_range_are_errors() {
    for text in [
        "[[steps]]\nname = \"a/b\"\n",
        "[[steps]]\nname = \"..\"\n",
        "[[steps]]\nname = \" \"\n",
        "[[steps]]\nname = \"a\\u0000\"\n",
        "[[steps]]\nname = \"nul.txt\"\n",
        "[[steps]]\nname = \"lpt1\"\n",
        "[[steps]]\nname = \"a\"\n[[steps]]\nname = \"A\"\n",
        "[[steps]]\nname = \"stra\u{df}e\"\n[[steps]]\nname = \"STRASSE\"\n",
        "[[steps]]\nname = \"\u{e4}\"\n[[steps]]\nname = \"a\u{308}\"\n",
        "[[steps]]\nmin_reward = 1\n",
        "[[steps]]\nname = 1\n",
        "[agent]\ntimeout_sec = inf\n[[steps]]\nname = \"a\"\n",
        "[environment]\nbuild_timeout_sec = -1\n",
        "[environment]\ncpus = 0\n",
        // Docker takes what comes to 0 for no limit.
        "[environment]\ncpus = 1e-10\n[[steps]]\nname = \"a\"\n",
        "[environment]\ncpus = nan\n[[steps]]\nname = \"a\"\n",
        "[environment]\nmemory_mb = 0.5\n[[steps]]\nname = \"a\"\n",
        "[environment]\nmemory_mb = 5.9\n[[steps]]\nname = \"a\"\n",
        "[environment]\nmemory = \"0G\"\n[[steps]]\nname = \"a\"\n",
        "[environment]\nmemory = \"0.4K\"\n[[steps]]\nname = \"a\"\n",
        "[environment]\nmemory = \"4\"\n",
        "[environment]\nmemory = \"4G\"\nmemory_mb = 1024\n",
        "[environment]\nworkdir = \"app\"\n",
        "[environment.env]\n\"A=B\" = \"1\"\n",
        "multi_step_reward_strategy = \"best\"\n",
        "artifacts = [\"/a/../b\"]\n[[steps]]\nname = \"a\"\n",
        "artifacts = [\"a\"]\n[[steps]]\nname = \"a\"\n",
        "artifacts = [{ source = \"/a\", destination = \"../b\" }]\n[[steps]]\nname = \"a\"\n",
        "artifacts = [{ source = \"/a\", destination = \"/b\" }]\n[[steps]]\nname = \"a\"\n",
        "not toml",
    ] {
        assert!(read(text).is_err(), "{text:?} was read");
    }
    let older = parsed(&format!("[environment]\nmemory = \"4G\"\nstorage = \"512M\"\n{TWO}")).file;
    assert_eq!((older.memory_mb, older.storage_mb), (Some(4096), Some(512)));
    let least = parsed(&format!("[environment]\nmemory_mb = 6\ncpus = 0.01\n{TWO}")).file;
    assert_eq!((least.memory_mb, least.cpus), (Some(6), Some(0.01)));
}

#[test]
fn artifacts_go_where_they_say_or_where_they_were() {
    let text = "artifacts = [\"/logs/artifacts\", \"/app/out\"]\n[[steps]]\nname = \"a\"\nartifacts = [{ source = \"/x\", destination = \"y/z\" }]\n";
    let kept: Vec<_> = parsed(text).file.steps[0]
        .artifacts
        .iter()
        .map(|a| (a.source.clone(), a.destination.clone()))
        .collect();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(kept, [pair("/app/out", "app/out"), pair("/x", "y/z")]);
}

#[test]
fn a_health_check_has_the_defaults_of_docker() {
    let text = format!("[environment.healthcheck]\ncommand = \"true\"\nodd = 1\n{TWO}");
    let read = parsed(&text);
    let health = read.file.health.unwrap();
    assert_eq!((health.interval, health.timeout, health.retries), (5.0, 30.0, 3));
    assert_eq!((health.start_period, health.start_interval), (0.0, 5.0));
    assert_eq!(read.unknown, ["environment.healthcheck.odd"]);
}

#[test]
// docs/security.md: Tasks of Harbor
fn what_a_task_says_for_all_its_steps_is_bounded_over_all_of_them() {
    let step = |n: usize| format!("[[steps]]\nname = \"s{n}\"\n");
    let steps = |count: usize| (0..count).map(step).collect::<Vec<_>>().concat();
    let many = |line: &dyn Fn(usize) -> String| -> String { (0..2_000).map(line).collect() };
    let env = format!("[verifier.env]\n{}", many(&|n| format!("K{n} = \"x\"\n")));
    let artifacts = format!("artifacts = [{}]\n", many(&|n| format!("\"/a{n}\",")));
    let user = format!("[agent]\nuser = \"{}\"\n", "x".repeat(100_000));
    for task_part in [env, artifacts, user] {
        let error = read(&format!("{task_part}{}", steps(1_000))).unwrap_err();
        assert!(error.contains("for all its 1000 steps"), "{error}");
        assert_eq!(parsed(&format!("{task_part}{}", steps(2))).file.steps.len(), 2);
    }
}

#[test]
// docs/security.md: Tasks of Harbor
fn a_few_of_many_keys_that_nothing_obeys_are_named() {
    let keys = (0..5_000).map(|n| format!("k{n:04} = 1\n")).collect::<Vec<_>>().concat();
    let read = parsed(&format!("{keys}{} = 1\n{TWO}", "long".repeat(1_000)));
    assert_eq!((read.unknown.len(), read.unknown_more), (50, 4_951));
    assert_eq!((read.unknown[0].as_str(), read.unknown[49].as_str()), ("k0000", "k0049"));
    let long = parsed(&format!("{} = 1\n{TWO}", "long".repeat(1_000)));
    assert_eq!(long.unknown[0].chars().count(), 201);
    let system = format!("[environment]\nos = \"{}\"\n{TWO}", "x".repeat(100_000));
    let refused = parsed(&system).refused;
    assert!(refused.len() == 1 && refused[0].chars().count() == 401, "{}", refused.len());
}
