//! The settings of `benchmark=HARBOR`.

use serde_json::Value;
use settings::{Benchmark, protocols};

use super::keys::{Keys, choice_from_word, whole_number};
use super::{EndpointSettings, Feedback, RunSettings, SettingsError, TaskSettings};

/// The tasks of Harbor that are named, by values with the declared defaults.
pub(super) fn task_settings(values: &Keys<'_>) -> Result<Option<TaskSettings>, SettingsError> {
    let is_harbor = values.section == Benchmark::Harbor.section();
    match values.path("tasks") {
        Some(folder) if is_harbor => {
            let settings = TaskSettings {
                folder,
                timeout: values.choice("harbor.timeout").unwrap_or_default(),
                background: values.choice("harbor.background").unwrap_or_default(),
                session: values.choice("harbor.session").unwrap_or_default(),
                snapshots: values.choice("harbor.snapshots").unwrap_or_default(),
                protocol: values.choice("harbor.protocol"),
            };
            Ok(Some(settings))
        }
        Some(_) => Err(SettingsError::new("tasks", "it belongs to benchmark=HARBOR")),
        None if is_harbor => Err(SettingsError::new(
            "tasks",
            "it is not given; it is the folder or zip of the tasks of benchmark=HARBOR",
        )),
        None => Ok(None),
    }
}

/// Most attempts at a step: `harbor.attempt_limit`, or in short `attempt_limit`.
pub(super) fn attempt_limit(keys: &Keys<'_>) -> u32 {
    keys.benchmark_value("attempt_limit")
        .and_then(whole_number)
        .or_else(|| keys.count("attempt_limit"))
        .unwrap_or(protocols::EVOCODE.attempts)
}

/// Sets what belongs to the protocol that is named. What contradicts it is an error: the run would have its name and not be it.
pub(super) fn apply_protocol(s: &mut RunSettings, keys: &Keys<'_>) -> Result<(), SettingsError> {
    let Some(tasks) = &mut s.tasks else { return Ok(()) };
    let Some(protocol) = tasks.protocol else { return Ok(()) };
    let sets = protocol.sets();
    let contradicts = |key: &str, wanted: &str| {
        let word = protocol.as_str();
        Err(SettingsError::new(
            key,
            format!("harbor.protocol={word} sets it to {wanted}: leave one of them out"),
        ))
    };
    for (key, set) in [("fail_stop", sets.fail_stop), ("restore_before_try", sets.restore_before_try)] {
        if keys.boolean(key).is_some_and(|value| value != set) {
            return contradicts(key, if set { "true" } else { "false" });
        }
    }
    if keys.word("harbor.timeout").is_some_and(|word| word != sets.timeout) {
        return contradicts("harbor.timeout", sets.timeout);
    }
    let attempt_limit =
        keys.benchmark_value("attempt_limit").and_then(whole_number).or_else(|| keys.count("attempt_limit"));
    if !sets.takes_attempts && attempt_limit.is_some_and(|limit| limit != sets.attempts) {
        return contradicts("attempt_limit", &sets.attempts.to_string());
    }
    tasks.timeout = choice_from_word(&Value::from(sets.timeout)).unwrap_or_default();
    s.attempt_limit = attempt_limit.unwrap_or(sets.attempts);
    (s.fail_stop, s.restore_before_try) = (sets.fail_stop, sets.restore_before_try);
    Ok(())
}

/// What is short for a key of tasks is none of another benchmark.
pub(super) fn check_keys(keys: &Keys<'_>) -> Result<(), SettingsError> {
    if keys.count("attempt_limit").is_some() && keys.section != Benchmark::Harbor.section() {
        let reason = format!("it belongs to benchmark=HARBOR; here it is {}.attempt_limit", keys.section);
        return Err(SettingsError::new("attempt_limit", reason));
    }
    Ok(())
}

/// Whether a harness can play tasks: it comes with this program, and can run commands.
fn plays_tasks(agent: &str) -> bool {
    !matches!(agent, "mock" | "custom")
}

/// What goes with tasks, and what goes only with them.
pub(super) fn check(s: &RunSettings) -> Result<(), SettingsError> {
    let is_player = crate::harbor::player::is_player(&s.agent);
    if s.tasks.is_some() != (s.generation.benchmark == Benchmark::Harbor) {
        return Err(SettingsError::new("tasks", "it goes with benchmark=HARBOR, and with no other"));
    }
    match &s.tasks {
        None if is_player => Err(SettingsError::new(
            "agent",
            format!("{} plays tasks only: benchmark=HARBOR tasks=FOLDER", s.agent.to_uppercase()),
        )),
        Some(_) if !is_player && !plays_tasks(&s.agent) => Err(SettingsError::new(
            "agent",
            "tasks are played by the harnesses that come with Stamina Lab, by ORACLE (their reference solutions) and by NOP (nobody). \
             MOCK cannot run commands. Nothing says what of a harness of one's own starts in the image of a task",
        )),
        None if s.restore_before_try && s.feedback != Feedback::None => Err(SettingsError::new(
            "restore_before_try",
            "an attempt that begins from the same snapshot as the one before gets no feedback: enable_feedback=false",
        )),
        Some(tasks) if s.attempt_limit > 1 && !s.restore_before_try && !tasks.gives_feedback() => {
            Err(SettingsError::new(
                "attempt_limit",
                "several attempts at a step are independent tries (restore_before_try=true), or get feedback (harbor.protocol=ours)",
            ))
        }
        Some(_) if s.scenarios_dir.is_some() => {
            Err(SettingsError::new("scenarios_dir", "benchmark=HARBOR plays tasks, and no scenarios"))
        }
        Some(_) if is_player && s.endpoint != EndpointSettings::Oracle => {
            Err(SettingsError::new("endpoint.mode", "ORACLE and NOP ask no model: leave the endpoint out"))
        }
        Some(_) if s.endpoint == EndpointSettings::Direct => Err(SettingsError::new(
            "endpoint.mode",
            "harnesses play tasks through the gateway only: give endpoint.base_url, or leave it out for the simulated model",
        )),
        Some(_) if !s.use_docker => {
            Err(SettingsError::new("use_docker", "tasks are played in containers only"))
        }
        Some(_) if s.image.is_some() => {
            Err(SettingsError::new("docker.image_name", "each task brings its own image"))
        }
        Some(_) if s.extra != sandbox::ExtraArgs::default() => Err(SettingsError::new(
            "docker.extra_docker_args",
            "containers of tasks take no further arguments",
        )),
        None | Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use settings::ConfigFile;

    use crate::settings::{TaskBackground, TaskSession, TaskTimeout, resolve};

    use super::*;

    fn resolved(more: &[&str]) -> Result<RunSettings, String> {
        let list = ["output_dir=/r", "benchmark=HARBOR"].iter().chain(more).map(|&value| value.to_owned());
        resolve(&[], &list.collect::<Vec<_>>()).map_err(|error| error.to_string())
    }

    #[test]
    fn tasks_are_played_by_players_in_containers() {
        let settings =
            resolved(&["agent=ORACLE", "tasks=/t", "harbor.timeout=stop", "fail_stop=true"]).unwrap();
        let tasks = settings.tasks.clone().unwrap();
        assert_eq!((tasks.folder.to_str(), tasks.timeout), (Some("/t"), TaskTimeout::Stop));
        assert!(settings.use_docker && settings.attempt_limit == 1 && settings.fail_stop);
        assert_eq!(settings.feedback, crate::settings::Feedback::None);
        let graded = resolved(&["agent=NOP", "tasks=/t"]).unwrap().tasks.unwrap();
        assert_eq!((graded.timeout, graded.background), (TaskTimeout::Graded, TaskBackground::Check));
        for (word, background) in
            [("check", TaskBackground::Check), ("keep", TaskBackground::Keep), ("end", TaskBackground::End)]
        {
            let named = format!("harbor.background={word}");
            let named = resolved(&["agent=NOP", "tasks=/t", &named]).unwrap();
            assert_eq!(named.tasks.unwrap().background, background, "{word}");
        }
        // A run that an earlier version began goes on as it began.
        let mut record = serde_json::to_value(resolved(&["agent=NOP", "tasks=/t"]).unwrap()).unwrap();
        record["tasks"].as_object_mut().unwrap().remove("background").unwrap();
        let earlier = serde_json::from_value::<RunSettings>(record).unwrap();
        assert_eq!(earlier.tasks.unwrap().background, TaskBackground::Keep);
        assert!(resolved(&["agent=NOP", "tasks=/t", "harbor.background=stop"]).is_err());
        let session = |more: &[&str]| {
            resolved(&[&["agent=CODEX", "tasks=/t"], more].concat()).unwrap().tasks.unwrap().session
        };
        assert_eq!(session(&[]), TaskSession::Continue);
        assert_eq!(session(&["harbor.session=fresh"]), TaskSession::Fresh);
        for (more, named) in [
            (&["agent=ORACLE"][..], "tasks: "),
            (&["agent=MOCK", "tasks=/t", "use_docker=true"], "agent: "),
            (&["agent=MINI_SWE", "tasks=/t", "endpoint.mode=direct"], "endpoint.mode: "),
            (&["agent=MINI_SWE", "tasks=/t", "use_docker=false"], "use_docker: "),
            (&["agent=NOP", "tasks=/t", "attempt_limit=2"], "attempt_limit: "),
            (&["agent=MINI_SWE", "benchmark=RESTFUL_SERVER_GEN", "attempt_limit=2"], "attempt_limit: "),
            (
                &["agent=MINI_SWE", "benchmark=RESTFUL_SERVER_GEN", "restore_before_try=true"],
                "restore_before_try: ",
            ),
            (&["agent=ORACLE", "tasks=/t", "scenarios_dir=/p"], "scenarios_dir: "),
            (&["agent=ORACLE", "tasks=/t", "use_docker=false"], "use_docker: "),
            (&["agent=ORACLE", "tasks=/t", "docker.image_name=x"], "docker.image_name: "),
            (&["agent=NOP", "tasks=/t", "benchmark=RESTFUL_SERVER_GEN"], "tasks: "),
            (&["agent=NOP", "benchmark=RESTFUL_SERVER_GEN_ITERATIVE"], "agent: "),
            (&["agent=NOP", "tasks=/t", "endpoint.mode=direct"], "endpoint.mode: "),
        ] {
            let refused = resolved(more).unwrap_err();
            assert!(refused.starts_with(named), "{more:?}: {refused}");
        }
    }

    #[test]
    fn attempts_at_a_turn_of_a_scenario_begin_from_one_snapshot_without_feedback() {
        let scenarios = |more: &[&str]| {
            let list = ["output_dir=/r", "agent=MOCK", "restore_before_try=true"].iter().chain(more);
            resolve(&[], &list.map(|&value| value.to_owned()).collect::<Vec<_>>())
        };
        let refused = scenarios(&[]).unwrap_err().to_string();
        assert!(refused.starts_with("restore_before_try: ") && refused.contains("enable_feedback=false"));
        let settings = scenarios(&["restful_server_gen_iterative.enable_feedback=false"]).unwrap();
        assert!(settings.restore_before_try && settings.attempt_limit == 10);
        let file = ConfigFile { name: "config.yaml".to_owned(), text: settings.to_yaml() };
        assert_eq!(resolve(&[file], &[]).unwrap(), settings);
    }

    #[test]
    fn harnesses_play_tasks_and_only_players_ask_no_model() {
        let simulated = resolved(&["agent=MINI_SWE", "tasks=/t"]).unwrap();
        assert!(simulated.has_simulated_model() && simulated.asks_model() && simulated.use_docker);
        let arguments =
            ["agent=CODEX", "tasks=/t", "codex.model_id=m", "endpoint.base_url=http://127.0.0.1:9"];
        let settings = resolved(&arguments).unwrap();
        assert!(settings.asks_model() && !settings.is_simulated());
        let nobody = resolved(&["agent=NOP", "tasks=/t"]).unwrap();
        assert!(!nobody.asks_model() && !nobody.has_simulated_model());
    }

    #[test]
    fn attempts_at_a_step_have_a_short_key() {
        let tries = ["agent=MINI_SWE", "tasks=/t", "restore_before_try=true", "attempt_limit=4"];
        let settings = resolved(&tries).unwrap();
        assert_eq!((settings.attempt_limit, settings.restore_before_try), (4, true));
        let both_keys = resolved(&[&tries[..], &["harbor.attempt_limit=2"]].concat()).unwrap();
        assert_eq!(both_keys.attempt_limit, 2, "the key of the benchmark says it");
        let task_settings = resolved(&["agent=NOP", "tasks=/t"]).unwrap();
        assert_eq!((task_settings.attempt_limit, task_settings.restore_before_try), (1, false));
    }

    #[test]
    fn a_protocol_sets_what_belongs_to_it_and_nothing_contradicts_it() {
        let with_values = |more: &[&str]| resolved(&[&["agent=MINI_SWE", "tasks=/t"][..], more].concat());
        let rules_of = |s: RunSettings| {
            (s.attempt_limit, s.restore_before_try, s.fail_stop, s.tasks.map(|tasks| tasks.timeout))
        };
        let tries = |k| (k, true, true, Some(TaskTimeout::Stop));
        assert_eq!(rules_of(with_values(&["harbor.protocol=mt_at_k"]).unwrap()), tries(4));
        assert_eq!(rules_of(with_values(&["harbor.protocol=mt_at_k", "attempt_limit=2"]).unwrap()), tries(2));
        let alone = |k| (k, true, false, Some(TaskTimeout::Stop));
        assert_eq!(rules_of(with_values(&["harbor.protocol=sr"]).unwrap()), alone(1));
        assert_eq!(rules_of(with_values(&["harbor.protocol=sr", "attempt_limit=4"]).unwrap()), alone(4));
        assert!(with_values(&["harbor.protocol=sr"]).unwrap().tasks.unwrap().plays_alone());
        let expected = |k| (k, false, false, Some(TaskTimeout::Graded));
        assert_eq!(rules_of(with_values(&["harbor.protocol=ours"]).unwrap()), expected(10));
        assert_eq!(rules_of(with_values(&["harbor.protocol=ours", "attempt_limit=3"]).unwrap()), expected(3));
        let chain = (1, false, false, Some(TaskTimeout::Graded));
        assert_eq!(rules_of(with_values(&["harbor.protocol=evocode"]).unwrap()), chain);
        assert_eq!(rules_of(with_values(&[]).unwrap()), chain, "what is played unless something is said");
        for (more, named) in [
            (["harbor.protocol=mt_at_k", "fail_stop=false"], "fail_stop: "),
            (["harbor.protocol=mt_at_k", "harbor.timeout=graded"], "harbor.timeout: "),
            (["harbor.protocol=evocode", "attempt_limit=4"], "attempt_limit: "),
            (["harbor.protocol=evocode", "restore_before_try=true"], "restore_before_try: "),
            (["harbor.protocol=sr", "fail_stop=true"], "fail_stop: "),
            (["harbor.protocol=ours", "restore_before_try=true"], "restore_before_try: "),
            (["harbor.protocol=sr", "restore_before_try=false"], "restore_before_try: "),
        ] {
            let refused = with_values(&more).unwrap_err();
            assert!(
                refused.starts_with(named) && refused.contains("harbor.protocol="),
                "{more:?}: {refused}"
            );
        }
    }

    #[test]
    fn a_run_keeps_snapshots_where_it_is_asked_to_and_its_record_says_nothing_where_it_is_not() {
        let settings = |more: &[&str]| resolved(&[&["agent=NOP", "tasks=/t"][..], more].concat()).unwrap();
        let plain = settings(&[]);
        assert!(!plain.keeps_snapshots());
        // The record of a run is what this installation knows it by: that of an earlier version is written the same.
        let record = serde_json::to_value(&plain).unwrap();
        assert_eq!(record["tasks"].get("snapshots"), None, "{record}");
        assert_eq!(serde_json::from_value::<RunSettings>(record).unwrap(), plain);
        let kept = settings(&["harbor.snapshots=each_step"]);
        assert!(kept.keeps_snapshots() && !kept.restore_before_try);
        let own_protocol = settings(&["harbor.protocol=ours", "harbor.snapshots=each_step"]);
        assert!(own_protocol.keeps_snapshots() && own_protocol.attempt_limit == 10, "no protocol forbids it");
        assert!(settings(&["harbor.protocol=mt_at_k"]).keeps_snapshots(), "its attempts begin from them");
        assert!(resolved(&["agent=NOP", "tasks=/t", "harbor.snapshots=last"]).is_err());
    }

    #[test]
    fn what_was_written_is_read_back() {
        for values in [
            &["agent=ORACLE", "tasks=/t", "harbor.execute_episodes=0,3", "limits.network=open"][..],
            &["agent=MINI_SWE", "tasks=/t", "harbor.protocol=mt_at_k", "attempt_limit=3"],
            &["agent=MINI_SWE", "tasks=/t", "harbor.background=end", "harbor.session=fresh"],
            &["agent=MINI_SWE", "tasks=/t", "harbor.background=keep"],
            &["agent=MINI_SWE", "tasks=/t", "harbor.snapshots=each_step"],
            &["agent=MINI_SWE", "tasks=/t", "harbor.protocol=sr", "attempt_limit=2"],
            &["agent=MINI_SWE", "tasks=/t", "harbor.protocol=ours"],
            &[
                "agent=MINI_SWE",
                "tasks=/t",
                "attempt_limit=4",
                "restore_before_try=true",
                "oracle.defect_rate=0.5",
            ],
        ] {
            let settings = resolved(values).unwrap();
            let file = ConfigFile { name: "config.yaml".to_owned(), text: settings.to_yaml() };
            assert_eq!(resolve(&[file], &[]).unwrap(), settings);
            crate::settings::check_record(&settings).unwrap();
        }
    }
}
