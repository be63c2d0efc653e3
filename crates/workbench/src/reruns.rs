//! Which trials of a run to run again, as text and as the flags or YAML of the runner that made them.

use std::collections::{BTreeMap, HashMap};

use ingest::format_trait::PlannedScenario;
use model::{EndReason, Ending, Extra, counted, plain_line, shell_word};
use serde_json::Value;
use store::{EpisodeEntry, EpisodeId, RunId, RunRecord};

use crate::Workbench;
use crate::api::{ApiError, RerunCommand, RerunList, RerunReason, RerunRequest, RerunTrial};
use crate::episodes::ending;
use crate::sessions::tested_run;

mod job;
mod missing;

impl Workbench {
    /// Which trials of a run to run again, and the commands for its runner.
    ///
    /// Errors: `run.not_found`.
    pub fn list_reruns(&self, request: RerunRequest) -> Result<RerunList, ApiError> {
        let all = !(request.censored || request.unreadable || request.missing);
        let record = tested_run(&self.store, &request.run)?;
        let policy = self.store.get_policy()?;
        // One that is withdrawn is there, and not missing.
        let episodes = self.store.all_episodes(record.entry.id)?;
        let runner = Runner::from_record(&record);
        let mut trials = Vec::new();
        let counted_elsewhere = self.counted_elsewhere(record.entry.id)?;
        for own in &episodes {
            // A copy that was made while the trial ran does not know how it ended.
            let episode = counted_elsewhere.get(&own.id).unwrap_or(own);
            let unreadable = matches!(episode.end_reason, EndReason::VerifierError | EndReason::NoVerdict);
            let censored =
                ending(episode, &policy) == Ending::Censored && episode.end_reason != EndReason::PassedAll;
            let reason =
                match (censored && (all || request.censored), unreadable && (all || request.unreadable)) {
                    (true, _) => RerunReason::Censored,
                    (_, true) => RerunReason::Unreadable,
                    _ => continue,
                };
            trials.push(RerunTrial {
                task: runner.task(own, &record.run.settings),
                trial: Some(last_part(&own.key).to_owned()),
                episode: Some(own.slug.clone()),
                why: reason,
                end_reason: Some(episode.end_reason),
            });
        }
        let others = self.others_of_job(&record)?;
        let present = self.present_of_job(record.entry.id, &episodes, &others)?;
        let (mut unnamed, mut doubt) = (0, None);
        let planned = self.planned(&record, &others, &present)?;
        let from_one =
            planned.as_deref().is_some_and(|planned| counts_from_one(planned, &record.run.settings));
        if all || request.missing {
            // Which ones are there and not kept, nothing says.
            let names = planned.as_deref().filter(|_| record.entry.episodes_not_kept == 0);
            let present_names: Vec<(&str, &str)> =
                present.iter().map(|episode| (episode.scenario.as_str(), episode.key.as_str())).collect();
            let missing = missing::missing(names.unwrap_or_default(), &present_names);
            let named: u32 = missing.iter().map(|(_, count)| count).sum();
            let present_trials =
                job::PresentTrials::count(&record.entry, &others, episodes.len(), present.len());
            let fewer = record.run.planned_episodes.unwrap_or(0).saturating_sub(present_trials.least);
            unnamed = if names.is_some() { 0 } else { fewer.saturating_sub(named) };
            doubt = present_trials.doubt_about(named.saturating_add(unnamed));
            for (task, count) in missing {
                let task = runner.task_of(&task, &record.run.settings);
                let trial = RerunTrial {
                    task,
                    trial: None,
                    episode: None,
                    why: RerunReason::Missing,
                    end_reason: None,
                };
                trials.extend((0..count).map(|_| trial.clone()));
            }
        }
        trials.sort_by(|a, b| (&a.task, a.why, &a.trial).cmp(&(&b.task, b.why, &b.trial)));
        let commands = commands(runner, &trials, &record.run.settings, from_one);
        let mut list = RerunList {
            run: record.entry.slug.clone(),
            runner: runner.command().map(str::to_owned),
            trials,
            unnamed,
            commands,
            text: String::new(),
        };
        list.text = text(&list, episodes.len(), doubt.as_deref());
        Ok(list)
    }

    /// The copies in other runs that count in place of episodes of this one, by these.
    fn counted_elsewhere(&self, run: RunId) -> Result<HashMap<EpisodeId, EpisodeEntry>, ApiError> {
        let mut runs = vec![run];
        for other in self.store.shared_episodes(run)?.iter().filter(|other| other.withdrawn.is_none()) {
            runs.extend(self.store.run(&other.run)?.map(|record| record.entry.id));
        }
        let copies = self.store.copies_among(&runs)?.into_iter();
        let own: HashMap<EpisodeId, EpisodeId> = copies
            .filter(|copy| copy.run == run && copy.withdrawn.is_none())
            .map(|copy| (copy.counted, copy.episode))
            .collect();
        let mut counted = HashMap::new();
        for other in &runs[1..] {
            let episodes = self.store.all_episodes(*other)?.into_iter();
            counted.extend(episodes.filter_map(|episode| Some((*own.get(&episode.id)?, episode))));
        }
        Ok(counted)
    }
}

/// Who made a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Harbor,
    TerminalBench,
    StaminaBench,
    /// Nothing that could be told to retry it.
    Unknown,
}

impl Runner {
    fn from_record(record: &RunRecord) -> Self {
        match record.entry.format.as_str() {
            "harbor" => Self::Harbor,
            "terminal-bench" => Self::TerminalBench,
            "staminabench" => Self::StaminaBench,
            _ => Self::Unknown,
        }
    }

    const fn command(self) -> Option<&'static str> {
        match self {
            Self::Harbor => Some("harbor run"),
            Self::TerminalBench => Some("tb run"),
            Self::StaminaBench => Some("stamina run"),
            Self::Unknown => None,
        }
    }

    /// The name of an episode's task in a command for the runner.
    fn task(self, episode: &EpisodeEntry, settings: &Extra) -> String {
        match self {
            Self::StaminaBench => episode.key.clone(),
            _ => self.task_of(&episode.scenario, settings),
        }
    }

    /// Harbor's filter knows tasks of a folder by the names of theirs, and those of its registry by `organization/name`.
    fn task_of(self, scenario: &str, settings: &Extra) -> String {
        let sets = data_sets(settings);
        let local = !sets.is_empty() && sets.iter().all(|set| set.contains_key("path"));
        if self == Self::Harbor && local { last_part(scenario).to_owned() } else { scenario.to_owned() }
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// One command for each number of repeats, the tasks by name. `from_one` = folders of scenarios are counted from 1.
fn commands(runner: Runner, trials: &[RerunTrial], settings: &Extra, from_one: bool) -> Vec<RerunCommand> {
    let mut repeats: BTreeMap<&str, u32> = BTreeMap::new();
    for trial in trials {
        *repeats.entry(&trial.task).or_insert(0) += 1;
    }
    let mut by_repeats: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (task, repeats) in repeats {
        by_repeats.entry(repeats).or_default().push(task.to_owned());
    }
    let command = |(repeats, tasks): (u32, Vec<String>)| {
        let (flags, yaml) = match runner {
            Runner::Harbor => harbor(repeats, &tasks, settings),
            Runner::TerminalBench => (Some(terminal_bench(repeats, &tasks, settings)), None),
            Runner::StaminaBench => stamina_bench(&tasks, settings, from_one),
            Runner::Unknown => (None, None),
        };
        // A name with a line break would look like a second command.
        let flags = flags.filter(|flags| !flags.contains(char::is_control));
        RerunCommand { repeats, tasks, flags, yaml }
    };
    by_repeats.into_iter().map(command).collect()
}

/// The data sets of a Harbor job, by their keys; its settings have them flattened.
fn data_sets(settings: &Extra) -> Vec<BTreeMap<&str, &Value>> {
    let mut sets: BTreeMap<usize, BTreeMap<&str, &Value>> = BTreeMap::new();
    for (key, value) in settings {
        let Some((number, name)) = key.strip_prefix("datasets.").and_then(|rest| rest.split_once('.')) else {
            continue;
        };
        if let Ok(number) = number.parse() {
            sets.entry(number).or_default().insert(name, value);
        }
    }
    sets.into_values().collect()
}

/// `--path`, `--dataset` and `--include-task-name`, and the keys `n_attempts` and `datasets` of a job's configuration. Without a
/// single data set the names alone, since nothing says which set a task is of.
fn harbor(repeats: u32, tasks: &[String], settings: &Extra) -> (Option<String>, Option<String>) {
    // Names are patterns for Harbor.
    let names: Vec<String> = tasks.iter().map(|task| as_pattern(task)).collect();
    let sets = data_sets(settings);
    let set = if let [only] = &sets[..] { Some(only) } else { None };
    let text = |key: &str| set.and_then(|set| set.get(key)).and_then(|value| value.as_str());
    let mut flags = Vec::new();
    match (text("path"), text("name")) {
        (Some(path), _) => flags.push(format!("--path {}", shell_word(path))),
        (None, Some(name)) => {
            let version = text("version").or_else(|| text("ref"));
            let name = version.map_or_else(|| name.to_owned(), |version| format!("{name}@{version}"));
            flags.push(format!("--dataset {}", shell_word(&name)));
        }
        (None, None) => {}
    }
    for (key, flag) in
        [("registry_path", "--registry-path"), ("registry_url", "--registry-url"), ("repo", "--repo")]
    {
        if let Some(value) = text(key) {
            flags.push(format!("{flag} {}", shell_word(value)));
        }
    }
    flags.extend(names.iter().map(|name| format!("--include-task-name {}", shell_word(name))));
    flags.push(format!("--n-attempts {repeats}"));
    let yaml = set.map(|set| {
        let mut yaml = format!("n_attempts: {repeats}\ndatasets:\n");
        let kept =
            set.iter().filter(|(key, _)| !matches!(**key, "task_names" | "exclude_task_names" | "n_tasks"));
        for (index, (key, value)) in kept.enumerate() {
            let mark = if index == 0 { "- " } else { "  " };
            yaml.push_str(&format!("{mark}{}: {value}\n", yaml_key(key)));
        }
        yaml.push_str("  task_names:\n");
        for name in &names {
            yaml.push_str(&format!("  - {}\n", Value::String(name.clone())));
        }
        yaml
    });
    (Some(flags.join(" ")), yaml)
}

/// A key in YAML, in quotes where it is no plain word: whoever made the folder wrote it.
fn yaml_key(key: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if key.bytes().all(is_plain) { key.to_owned() } else { Value::from(key).to_string() }
}

/// The name as a pattern that stands for nothing else.
fn as_pattern(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '*' | '?' | '[' => pattern.push_str(&format!("[{c}]")),
            c => pattern.push(c),
        }
    }
    pattern
}

/// `--dataset`, `--task-id` and `--n-attempts`.
fn terminal_bench(repeats: u32, tasks: &[String], settings: &Extra) -> String {
    let text = |key: &str| settings.get(key).and_then(Value::as_str);
    let mut flags = Vec::new();
    if let Some(name) = text("dataset_name") {
        let name =
            text("dataset_version").map_or_else(|| name.to_owned(), |version| format!("{name}=={version}"));
        flags.push(format!("--dataset {}", shell_word(&name)));
    }
    flags.extend(tasks.iter().map(|task| format!("--task-id {}", shell_word(task))));
    flags.push(format!("--n-attempts {repeats}"));
    flags.join(" ")
}

/// The setting `execute_episodes`: the numbers of the scenarios, which count from 0 there. `None` where one has no number.
fn stamina_bench(tasks: &[String], settings: &Extra, from_one: bool) -> (Option<String>, Option<String>) {
    let number = |task: &String| scenario_number(task)?.checked_sub(u32::from(from_one));
    let mut numbers: Vec<u32> = match tasks.iter().map(number).collect() {
        Some(numbers) => numbers,
        None => return (None, None),
    };
    numbers.sort_unstable();
    // Steps of one task that were played by themselves.
    numbers.dedup();
    let benchmark = settings.get("benchmark").and_then(Value::as_str).map(str::to_uppercase);
    let section = match benchmark.as_deref() {
        Some("RESTFUL_SERVER_GEN") => "restful_server_gen",
        Some("HARBOR") => "harbor",
        _ => "restful_server_gen_iterative",
    };
    let list = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    (
        Some(format!("--values {section}.execute_episodes={list}")),
        Some(format!("{section}:\n  execute_episodes: \"{list}\"\n")),
    )
}

/// `3` of `scenario_3`; results of others may have `scenario-3`, and `scenario_3/2` is a step of it.
fn scenario_number(task: &str) -> Option<u32> {
    let scenario = task.split('/').next()?;
    scenario.strip_prefix("scenario")?.trim_start_matches(['_', '-', ' ']).parse().ok()
}

/// Whether scenarios are planned by all their numbers and their folders count from 1: settings name them from 0.
fn counts_from_one(planned: &[PlannedScenario], settings: &Extra) -> bool {
    let names_some = |key: &String| key.ends_with("execute_episodes") && !settings[key].is_null();
    !planned.is_empty()
        && !settings.keys().any(names_some)
        && planned.iter().all(|planned| scenario_number(&planned.scenario).is_some_and(|number| number > 0))
}

/// The list as text. `doubt`: where missing trials may be after all.
fn text(list: &RerunList, episodes: usize, doubt: Option<&str>) -> String {
    let mut text = if list.trials.is_empty() && list.unnamed == 0 {
        format!("{}: nothing to run again\n", list.run)
    } else {
        format!(
            "{}: {} to run again, {} there\n",
            list.run,
            counted(list.trials.len() as u64, "trial"),
            episodes
        )
    };
    if list.unnamed > 0 {
        text.push_str(&format!(
            "{} more planned and not there; nothing names them\n",
            counted(list.unnamed.into(), "trial")
        ));
    }
    if let Some(doubt) = doubt {
        text.push_str(&format!("{doubt}\n"));
    }
    let row = |trial: &RerunTrial| {
        let end = trial.end_reason.map_or(String::new(), |reason| format!(", {}", reason.label()));
        let name = trial.trial.clone().unwrap_or_else(|| "-".to_owned());
        [plain_line(&trial.task), plain_line(&name), format!("{}{end}", trial.why.as_str())]
    };
    let rows: Vec<[String; 3]> = list.trials.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = (width(0), width(1));
    if !rows.is_empty() {
        text.push('\n');
    }
    for [task, name, reason] in &rows {
        text.push_str(&format!("{task:<0$}  {name:<1$}  {reason}\n", widths.0, widths.1));
    }
    let runner = list.runner.as_deref().unwrap_or_default();
    for command in &list.commands {
        let times =
            if command.repeats == 1 { "once".to_owned() } else { format!("{} times", command.repeats) };
        let tasks = counted(command.tasks.len() as u64, "task");
        if let Some(flags) = &command.flags {
            text.push_str(&format!("\n{tasks}, {times} each, flags of `{runner}`:\n{flags}\n"));
        }
        if let Some(yaml) = &command.yaml {
            text.push_str(&format!("\n{tasks}, {times} each, in its configuration:\n{yaml}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(value: Value) -> Extra {
        match value {
            Value::Object(map) => map,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn harbor_is_told_by_path_or_data_set_and_names_are_no_patterns() {
        let local = settings(
            json!({"datasets.0.path": "my tasks", "datasets.0.task_names": ["a*"], "n_attempts": 3}),
        );
        let (flags, yaml) = harbor(2, &["a-1".to_owned(), "b[x]".to_owned()], &local);
        assert_eq!(
            flags.unwrap(),
            "--path 'my tasks' --include-task-name a-1 --include-task-name 'b[[]x]' --n-attempts 2"
        );
        assert_eq!(
            yaml.unwrap(),
            "n_attempts: 2\ndatasets:\n- path: \"my tasks\"\n  task_names:\n  - \"a-1\"\n  - \"b[[]x]\"\n"
        );
        let registry = settings(json!({"datasets.0.name": "terminal-bench", "datasets.0.version": "2.0"}));
        let (flags, yaml) = harbor(1, &["a".to_owned()], &registry);
        assert_eq!(flags.unwrap(), "--dataset terminal-bench@2.0 --include-task-name a --n-attempts 1");
        assert!(yaml.unwrap().contains("- name: \"terminal-bench\"\n  version: \"2.0\"\n"));
        let two = settings(json!({"datasets.0.path": "a", "datasets.1.path": "b"}));
        assert_eq!(
            harbor(1, &["x".to_owned()], &two),
            (Some("--include-task-name x --n-attempts 1".to_owned()), None)
        );
    }

    #[test]
    // docs/security.md: Pages, terminals and files that others open
    fn names_of_a_folder_forge_no_command_and_no_line_to_be_copied() {
        let hostile = json!({"datasets.0.path": "a", "datasets.0.x: 1\nagents": ["y"]});
        let (_, yaml) = harbor(1, &["t".to_owned()], &settings(hostile));
        assert!(yaml.unwrap().contains("\n  \"x: 1\\nagents\": [\"y\"]\n"));
        let (task, trial) = ("t\n--path evil".to_owned(), Some("t__1\n\n--path evil".to_owned()));
        let trials =
            vec![RerunTrial { task, trial, episode: None, why: RerunReason::Missing, end_reason: None }];
        for runner in [Runner::Harbor, Runner::TerminalBench] {
            let commands = commands(runner, &trials, &Extra::new(), false);
            assert!(commands.len() == 1 && commands[0].flags.is_none(), "{commands:?}");
            let (trials, [run, text_of]) = (trials.clone(), ["r", ""].map(str::to_owned));
            let list = RerunList { run, runner: None, trials, unnamed: 0, commands, text: text_of };
            let text = text(&list, 1, None);
            assert!(!text.contains("\n--path evil"), "{text}");
        }
    }

    #[test]
    fn folders_count_from_one_where_all_scenarios_are_planned_and_none_is_the_zeroth() {
        let planned = |numbers: &[u32]| -> Vec<PlannedScenario> {
            numbers
                .iter()
                .map(|n| PlannedScenario { scenario: format!("scenario-{n}"), episodes: 1 })
                .collect()
        };
        assert!(counts_from_one(&planned(&[1, 2, 3]), &Extra::new()));
        assert!(!counts_from_one(&planned(&[0, 1, 2]), &Extra::new()));
        assert!(!counts_from_one(&planned(&[]), &Extra::new()));
        let named = settings(json!({"restful_server_gen_iterative.execute_episodes": "1,5"}));
        assert!(!counts_from_one(&planned(&[1, 5]), &named));
    }

    #[test]
    fn scenarios_have_numbers() {
        let tasks = ["scenario_10".to_owned(), "scenario-2".to_owned()];
        let (flags, yaml) =
            stamina_bench(&tasks, &settings(json!({"benchmark": "RESTFUL_SERVER_GEN_ITERATIVE"})), false);
        assert_eq!(flags.unwrap(), "--values restful_server_gen_iterative.execute_episodes=2,10");
        assert_eq!(yaml.unwrap(), "restful_server_gen_iterative:\n  execute_episodes: \"2,10\"\n");
        assert_eq!(stamina_bench(&["other".to_owned()], &Extra::new(), false), (None, None));
        // Folders that count from 1 are named from 0, as the setting has it.
        let (flags, _) = stamina_bench(&tasks, &Extra::new(), true);
        assert_eq!(flags.unwrap(), "--values restful_server_gen_iterative.execute_episodes=1,9");
        assert_eq!(stamina_bench(&["scenario_0".to_owned()], &Extra::new(), true), (None, None));
        // Steps of a task are played with their task.
        let steps = ["scenario_4/2".to_owned(), "scenario_4/3".to_owned()];
        let (flags, _) = stamina_bench(&steps, &settings(json!({"benchmark": "HARBOR"})), false);
        assert_eq!(flags.unwrap(), "--values harbor.execute_episodes=4");
    }
}
