//! The settings of `benchmark=HARBOR`.

use scenario::config::Benchmark;

use super::resolve::Keys;
use super::{EndpointSettings, RunSettings, SettingsError, TaskSettings, TaskTimeout};

/// The tasks of Harbor that are named.
pub(super) fn named(keys: &Keys<'_>) -> Result<Option<TaskSettings>, SettingsError> {
    let is_harbor = keys.section == Benchmark::Harbor.section();
    match keys.path("tasks") {
        Some(folder) if is_harbor => {
            let timeout = match keys.word("harbor.timeout") {
                Some("stop") => TaskTimeout::Stop,
                _ => TaskTimeout::Graded,
            };
            Ok(Some(TaskSettings { folder, timeout }))
        }
        Some(_) => Err(SettingsError::of("tasks", "it belongs to benchmark=HARBOR")),
        None if is_harbor => Err(SettingsError::of(
            "tasks",
            "it is not given; it is the folder or zip of the tasks of benchmark=HARBOR",
        )),
        None => Ok(None),
    }
}

/// What goes with tasks, and what goes only with them.
pub(super) fn check(s: &RunSettings) -> Result<(), SettingsError> {
    let is_player = crate::harbor::is_player(&s.agent);
    if s.tasks.is_some() != (s.generation.benchmark == Benchmark::Harbor) {
        return Err(SettingsError::of("tasks", "it goes with benchmark=HARBOR, and with no other"));
    }
    match &s.tasks {
        None if is_player => Err(SettingsError::of(
            "agent",
            format!("{} plays tasks only: benchmark=HARBOR tasks=FOLDER", s.agent.to_uppercase()),
        )),
        Some(_) if !is_player => Err(SettingsError::of(
            "agent",
            "tasks are played by ORACLE (their reference solutions) and NOP (nobody) so far; harnesses cannot play them yet",
        )),
        Some(_) if s.scenarios_dir.is_some() => {
            Err(SettingsError::of("scenarios_dir", "benchmark=HARBOR plays tasks, and no scenarios"))
        }
        Some(_) if s.endpoint != EndpointSettings::Oracle => {
            Err(SettingsError::of("endpoint.mode", "ORACLE and NOP ask no model: leave the endpoint out"))
        }
        Some(_) if !s.use_docker => {
            Err(SettingsError::of("use_docker", "tasks are played in containers only"))
        }
        Some(_) if s.image.is_some() => {
            Err(SettingsError::of("docker.image_name", "each task brings its own image"))
        }
        Some(_) if s.extra != sandbox::ExtraArgs::default() => Err(SettingsError::of(
            "docker.extra_docker_args",
            "containers of tasks take no further arguments",
        )),
        None | Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use scenario::config::ConfigFile;

    use crate::settings::resolve;

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
        let graded = resolved(&["agent=NOP", "tasks=/t"]).unwrap();
        assert_eq!(graded.tasks.unwrap().timeout, TaskTimeout::Graded);
        for (more, named) in [
            (&["agent=ORACLE"][..], "tasks: "),
            (&["agent=MINI_SWE", "tasks=/t"], "agent: "),
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
    fn what_was_written_is_read_back() {
        let values = ["agent=ORACLE", "tasks=/t", "harbor.execute_episodes=0,3", "limits.network=open"];
        let settings = resolved(&values).unwrap();
        let file = ConfigFile { name: "config.yaml".to_owned(), text: settings.to_yaml() };
        assert_eq!(resolve(&[file], &[]).unwrap(), settings);
        crate::settings::check_record(&settings).unwrap();
    }
}
