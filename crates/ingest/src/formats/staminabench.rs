//! Output folders of `StaminaBench`, and Stamina Lab's own, which have the same layout.
//!
//! ```text
//! output_dir/config.yaml, report.json
//! output_dir/scenario_N/trajectory.json
//! output_dir/scenario_N/{agent_code, ground_truth, test_suites, schemas, server_logs, test_results, agent_logs, changes}/
//! ```
//!
//! The original's README names these and nothing inside them; its code and data were not available and were not read.
//! So there are two ways to read a scenario. A `trajectory.json` whose `schema_version` is [`SCHEMA`] is read exactly
//! ([`exact`]), as `docs/formats.md` defines it and the runner writes it. Anything else is read for what it plainly says,
//! together with what the names of files say ([`heuristic`], the one door to all guessing). Either way the raw pytest logs
//! are read and have the last word ([`test_logs`]).
//!
//! A part is a scenario folder. Turns and attempts count from 1 in the model, whatever the source does.

mod bounded_json;
mod config;
mod exact;
mod file_head;
mod folder_names;
mod heuristic;
mod json_fields;
mod part_warnings;
mod place;
mod report;
mod scenario_name;
mod separate_steps;
mod test_logs;

use std::collections::HashMap;

use files::Stamp;
use model::{Artifact, ArtifactKind, Episode, Transcript, Warning};

pub use self::exact::SCHEMA;

use self::config::Config;
use self::folder_names::{folder_kind, scenario_number};
use self::heuristic::ScenarioFolder;
use self::part_warnings::PartWarnings;
use self::place::{Place, SCENARIOS, SCENARIOS_READ, check_record, run_key};
use self::report::ReportFile;
use crate::format_trait::{Format, Part, PartReader, PlannedScenario, Reading, Report, Sniff, Survey};
use files::{ReadError, Tree, file_name, join, parent};

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct StaminaBench;

impl Format for StaminaBench {
    fn id(&self) -> &'static str {
        "staminabench"
    }

    fn name(&self) -> &'static str {
        "StaminaBench output"
    }

    fn looked_for(&self) -> &'static str {
        "scenario_N/ with trajectory.json or test_results/"
    }

    fn sniff(&self, tree: &Tree, folder: &str) -> Sniff {
        let entries = tree.list(folder);
        let has_file =
            |names: &[&str]| entries.iter().any(|e| !e.is_folder() && names.contains(&e.name.as_str()));
        let scenarios: Vec<&str> = entries
            .iter()
            .filter(|e| e.is_folder() && scenario_number(&e.name).is_some())
            .map(|e| e.name.as_str())
            .collect();
        if scenarios.is_empty() {
            let (mut found, mut closeness) = match ScenarioFolder::new(tree, folder).recognize() {
                Ok(()) => return Sniff::Recognized,
                Err(not) => not,
            };
            // Our own runner has just begun here.
            if has_file(&["config.yaml"]) && tree.entry(&join(folder, ".stamina/run.json")).is_some() {
                return Sniff::Recognized;
            }
            if has_file(&["report.json"]) {
                let report = ReportFile::read(tree, &join(folder, "report.json"));
                if matches!(report, Ok(Some(report)) if report.is_report()) {
                    return Sniff::Recognized;
                }
                if closeness < 20 {
                    (found, closeness) = ("report.json but no scenario_N/".to_owned(), 20);
                }
            }
            return Sniff::Not { found, closeness };
        }
        let found = match scenarios.len() {
            1 => "1 scenario folder with nothing in it".to_owned(),
            more => format!("{more} scenario folders with nothing in them"),
        };
        let mut best = (found, 40);
        for name in scenarios.iter().take(SCENARIOS_READ) {
            match ScenarioFolder::new(tree, &join(folder, name)).recognize() {
                // The name of the folder makes up for a trajectory that says little.
                Ok(()) | Err((_, 20)) => return Sniff::Recognized,
                Err((found, closeness)) if closeness > best.1 => best = (found, closeness),
                Err(_) => {}
            }
        }
        // A run that has just begun has its configuration and empty folders.
        if has_file(&["config.yaml", "report.json"]) && best.1 <= 50 {
            return Sniff::Recognized;
        }
        Sniff::Not { found: best.0, closeness: best.1.max(60) }
    }

    fn written_once(&self, folder: &str) -> bool {
        folder_kind(file_name(folder)) == Some(ArtifactKind::Code)
            && scenario_number(file_name(parent(folder))).is_some()
    }

    fn survey(&self, tree: &Tree, place_folder: &str, report: &mut Report) -> Survey {
        let place = Place::open(tree, place_folder, report);
        let own_run = place.is_own();
        let parts = place
            .scenarios
            .iter()
            .map(|name| {
                let folder = if name.is_empty() { place_folder.to_owned() } else { join(place_folder, name) };
                let named = place.scenario_name(name).filter(|named| *named != name);
                let stamp = if own_run || exact::is_own(tree, &join(&folder, "trajectory.json")) {
                    // All else stands in the trajectory itself.
                    let planned = place.planned_turns().map_or(0, |turns| u64::from(turns) + 1);
                    let stamp = exact::stamp(tree, &folder).number(planned);
                    // Settings that come later may say that its steps are no chain.
                    if place.has_separate_steps { stamp.text("sr").finish() } else { stamp.finish() }
                } else {
                    ScenarioFolder::new(tree, &folder).stamp().number(place.stamp.finish()).finish()
                };
                // Where it is not in the trajectory alone, other folders decide about it.
                let stamp = named.map_or(stamp, |named| Stamp::new().number(stamp).text(named).finish());
                Part { key: name.clone(), stamp }
            })
            .collect();
        let mut run = place.run(place_folder, report);
        place.keep_missing(place_folder, &mut run, report);
        check_record(tree, place_folder, report);
        Survey { runs: vec![run], parts }
    }

    fn reader(&self, tree: &Tree, folder: &str) -> Box<dyn PartReader> {
        // The survey has reported what is wrong with these files.
        let place = Place::open(tree, folder, &mut Report::default());
        let positions = place.positions();
        Box::new(ScenarioReader { folder: folder.to_owned(), place, positions })
    }

    fn planned(&self, tree: &Tree, folder: &str, _: &str) -> Option<Vec<PlannedScenario>> {
        let config = Config::read(tree, &join(folder, "config.yaml")).ok()??;
        if separate_steps::is_run_of_steps(&config.settings) {
            // Its episodes are steps, and its numbers tasks.
            return None;
        }
        let numbers = config.scenario_numbers(SCENARIOS)?;
        // A scenario may be called `scenario-3`.
        let place = Place::open(tree, folder, &mut Report::default());
        let names_by_number = place.by_number();
        // Results of others may count from 1.
        let last = u32::try_from(numbers.len()).ok()?;
        let from_one = !names_by_number.contains_key(&0)
            && names_by_number.contains_key(&last)
            && numbers.iter().copied().eq(0..last);
        let named = numbers.into_iter().map(|number| {
            let number = number.saturating_add(u32::from(from_one));
            names_by_number
                .get(&number)
                .map_or_else(|| format!("scenario_{number}"), |name| (*name).to_owned())
        });
        Some(PlannedScenario::count(named))
    }

    fn transcript(&self, tree: &Tree, artifact: &Artifact) -> Result<Transcript, ReadError> {
        heuristic::transcript(tree, &artifact.path, artifact.pointer.as_deref().unwrap_or(""))
    }
}

/// Reads the scenarios of a run.
struct ScenarioReader {
    folder: String,
    place: Place,
    /// [`Place::positions`].
    positions: HashMap<String, usize>,
}

impl PartReader for ScenarioReader {
    fn read(&self, tree: &Tree, part: &Part, report: &mut Report) -> Vec<Reading> {
        let (place_folder, place) = (self.folder.as_str(), &self.place);
        let key = if part.key.is_empty() {
            if place_folder.is_empty() { tree.folder_name() } else { file_name(place_folder).to_owned() }
        } else {
            part.key.clone()
        };
        let scenario = place.scenario_name(&part.key).map_or_else(|| key.clone(), str::to_owned);
        let mut episode = Episode::new(key.clone(), scenario.clone());
        let folder =
            if part.key.is_empty() { place_folder.to_owned() } else { join(place_folder, &part.key) };
        episode.planned_turns = place.planned_turns();
        let mut report_warning = None;
        if let Some(report) =
            place.report.as_ref().filter(|_| !exact::is_own(tree, &join(&folder, "trajectory.json")))
        {
            let position = self.positions.get(&part.key).copied();
            let scenarios = self.positions.values().max().map_or(0, |last| last + 1);
            let reported = report.entries().scenario_entries(&scenario, position, scenarios);
            episode.reported = reported.figures;
            episode.extra = reported.extra;
            report_warning = reported.unusable.warning(&join(place_folder, "report.json"));
        }
        if let Some(mut warning) = report_warning {
            warning.message = format!("{scenario}: {}", warning.message);
            report.warn(warning);
        }
        let mut warnings = PartWarnings::new(report);
        let path = join(&folder, "trajectory.json");
        let (episode, limit) = match exact::trajectory(tree, &path, &mut warnings) {
            Some(recorded) => exact::episode(tree, &folder, episode, recorded, &mut warnings),
            None => (ScenarioFolder::new(tree, &folder).read(episode, &mut warnings), None),
        };
        warnings.finish(&folder);
        let reading = |episode: Episode| {
            let step = episode.key.strip_prefix(&key).unwrap_or_default().to_owned();
            Reading { run: run_key(place_folder), episode: place.identified(episode, &part.key, &step) }
        };
        if !separate_steps::is_of_steps(&episode) {
            return vec![reading(episode)];
        }
        if !place.has_separate_steps {
            report.warn(Warning::skipped(
                path,
                "protocol.mismatch",
                "Its steps were played by themselves (protocol sr), and the run is not one of such steps. They are no chain, so the task is left out.",
            ));
            return Vec::new();
        }
        let unplayed = separate_steps::most_unplayed(place.scenarios.len());
        let left_out = separate_steps::left_out(&episode, unplayed);
        if left_out > 0 {
            report.warn(Warning::skipped(
                path,
                "steps.too_many",
                format!(
                    "The task has more steps than are kept of one task. The last {left_out} are left out."
                ),
            ));
            report.not_kept.episodes.insert(run_key(place_folder), left_out);
        }
        separate_steps::split(episode, limit, unplayed).into_iter().map(reading).collect()
    }
}
