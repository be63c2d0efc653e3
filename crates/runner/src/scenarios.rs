//! Where the turns of a scenario come from: a pack, or the sampler, turn by turn.

use std::collections::BTreeMap;
use std::sync::Arc;

use scenario::change::Change;
use scenario::config::Generation;
use scenario::ir::Schema;
use scenario::pack::{Pack, PackError, Part, TurnMaker};
use scenario::sample::ProgrammaticSampler;
use scenario::suite::Suite;
use scenario::{Seed, code, pack};

use crate::RunError;
use crate::harbor::Tasks;
use crate::record::pytest;
use crate::settings::{RunSettings, SettingsError};
use crate::state::{MadeBy, PlannedEpisode};

static PROGRAMMATIC: ProgrammaticSampler = ProgrammaticSampler;

/// All that an attempt at a turn needs.
#[derive(Debug, Clone)]
pub(crate) struct TurnData {
    /// From 1.
    pub(crate) turn: u32,
    /// What the scenario is about.
    pub(crate) about: String,
    /// What the turn is about, one line.
    pub(crate) title: String,
    pub(crate) request: String,
    pub(crate) suite: Arc<Suite>,
    /// Ids of its cases as pytest names them, in order.
    pub(crate) tests: Vec<String>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) changes: Vec<Change>,
    /// What goes into the results folder.
    pub(crate) schema_text: String,
    pub(crate) pytest: String,
    pub(crate) reference: String,
}

/// The scenarios of a run.
#[derive(Debug, Clone)]
pub(crate) enum Scenarios {
    Pack(Arc<Pack>),
    Generated(Arc<Generation>),
    /// Tasks of Harbor: episodes of their own, without the turns of a scenario.
    Tasks(Arc<Tasks>),
}

impl Scenarios {
    /// Opens the pack, or takes the sampler; gives the settings the numbers that hold, and says what is to be played.
    /// Blocks.
    pub(crate) fn plan(settings: &mut RunSettings) -> Result<(Self, Vec<PlannedEpisode>), RunError> {
        check_named(settings)?;
        Self::from_settings(settings)
    }

    /// The same of a run that was begun: earlier versions played generated scenarios beyond `n_scenarios`, and such a run is
    /// resumed.
    pub(crate) fn from_settings(settings: &mut RunSettings) -> Result<(Self, Vec<PlannedEpisode>), RunError> {
        if let Some(named) = &settings.tasks {
            let tasks = Tasks::open(&named.folder)?;
            let planned = tasks.plan(settings)?;
            return Ok((Self::Tasks(Arc::new(tasks)), planned));
        }
        let Some(path) = settings.scenarios_dir.clone() else {
            return Self::plan_generated(settings);
        };
        let pack = Pack::open_path(&path)?;
        let manifest = pack.manifest();
        if manifest.config.benchmark != settings.generation.benchmark {
            let reason = format!(
                "it is a pack of {}, and benchmark is {}",
                manifest.config.benchmark.as_str(),
                settings.generation.benchmark.as_str()
            );
            return Err(SettingsError::new("scenarios_dir", reason).into());
        }
        let pack_size = pack.scenarios().len() as u32;
        let numbers = numbers(settings, settings.generation.n_scenarios.min(pack_size));
        if let Some(beyond) = numbers.iter().find(|number| **number >= pack_size) {
            let reason = format!("there is no scenario {beyond}: the pack has {pack_size}, counted from 0");
            return Err(SettingsError::new("execute_episodes", reason).into());
        }
        let most = settings.generation.n_turns;
        let planned: Vec<PlannedEpisode> = numbers
            .into_iter()
            .map(|number| planned(number, pack.scenarios()[number as usize].turns.min(most)))
            .collect();
        settings.generation.n_scenarios = settings.generation.n_scenarios.min(pack_size);
        settings.generation.n_turns = planned.iter().map(|episode| episode.turns).max().unwrap_or(1);
        settings.generation.base_seed = manifest.config.base_seed;
        settings.generation.num_changes_per_turn = manifest.config.num_changes_per_turn;
        Ok((Self::Pack(Arc::new(pack)), planned))
    }

    fn plan_generated(settings: &RunSettings) -> Result<(Self, Vec<PlannedEpisode>), RunError> {
        if settings.generation.use_llm_sampler {
            let reason = "scenarios of a model are generated before a run: `stamina generate` writes a pack, and scenarios_dir \
                       names it";
            return Err(SettingsError::new("use_llm_sampler", reason).into());
        }
        settings.generation.check().map_err(|error| RunError::Settings(error.into()))?;
        let turns = settings.generation.n_turns;
        let numbers = numbers(settings, settings.generation.n_scenarios);
        let planned = numbers.into_iter().map(|number| planned(number, turns)).collect();
        Ok((Self::Generated(Arc::new(settings.generation.clone())), planned))
    }

    /// Hash of the pack.
    pub(crate) fn sha256(&self) -> Option<String> {
        match self {
            Self::Pack(pack) => Some(pack.manifest().sha256.clone()),
            Self::Generated(_) => None,
            Self::Tasks(tasks) => Some(tasks.sha256().to_owned()),
        }
    }

    /// What makes them, where they lie in no pack.
    pub(crate) fn made_by(&self) -> Option<MadeBy> {
        match self {
            Self::Pack(_) | Self::Tasks(_) => None,
            Self::Generated(_) => Some(MadeBy::current()),
        }
    }

    /// The turns of one scenario.
    pub(crate) fn turns(&self, scenario: u32) -> Turns {
        match self {
            Self::Pack(pack) => Turns::Pack(pack.clone(), scenario),
            Self::Generated(generation) => {
                let seed = Seed { base: generation.base_seed, scenario };
                let (benchmark, changes) = (generation.benchmark, generation.num_changes_per_turn);
                let maker = TurnMaker::with_benchmark(benchmark, &PROGRAMMATIC, seed, changes);
                Turns::Generated(Box::new(maker))
            }
            Self::Tasks(_) => Turns::None,
        }
    }

    /// Tasks that are there and cannot be played, each with why.
    pub(crate) fn refused(&self, settings: &RunSettings) -> BTreeMap<String, Vec<String>> {
        let Self::Tasks(tasks) = self else { return BTreeMap::new() };
        let previews = tasks.previews(settings).into_iter().filter(|task| !task.refused.is_empty());
        previews.map(|task| (task.name, task.refused)).collect()
    }
}

/// Refuses numbers of scenarios beyond those that are generated. Packs and tasks say themselves how many they have. A debug run
/// plays the first two that are named: it has no other number of scenarios.
pub(crate) fn check_named(settings: &RunSettings) -> Result<(), RunError> {
    if settings.tasks.is_some() || settings.scenarios_dir.is_some() || settings.quick_debug {
        return Ok(());
    }
    let scenario_count = settings.generation.n_scenarios;
    match settings.execute_episodes.iter().find(|number| **number >= scenario_count) {
        Some(beyond) => {
            let reason = format!(
                "there is no scenario {beyond}: n_scenarios is {scenario_count}, and they are counted from 0"
            );
            Err(SettingsError::new("execute_episodes", reason).into())
        }
        None => Ok(()),
    }
}

fn numbers(settings: &RunSettings, scenarios: u32) -> Vec<u32> {
    if settings.execute_episodes.is_empty() {
        return (0..scenarios).collect();
    }
    // A debug run of those that are named plays two of them.
    let most = if settings.quick_debug { scenarios as usize } else { usize::MAX };
    settings.execute_episodes.iter().copied().take(most).collect()
}

fn planned(scenario: u32, turns: u32) -> PlannedEpisode {
    PlannedEpisode { name: pack::folder(scenario), scenario, turns }
}

/// The turns of a scenario, one after the other.
pub(crate) enum Turns {
    Pack(Arc<Pack>, u32),
    Generated(Box<TurnMaker<'static>>),
    /// Of tasks, whose steps are no turns of a scenario.
    None,
}

impl Turns {
    /// A turn (from 1). Blocks. The sampler goes forward only.
    pub(crate) fn read(&mut self, turn: u32) -> Result<TurnData, PackError> {
        match self {
            Self::None => Err(no_turns_error()),
            Self::Pack(pack, scenario) => pack_turn(pack, *scenario, turn),
            Self::Generated(maker) => {
                while maker.last().map_or(0, |made_turn| made_turn.turn) < turn {
                    maker.make_next()?;
                }
                maker_turn(maker, turn)
            }
        }
    }

    /// The schema of a turn with the changes that led to it: what the simulated model goes by. Blocks.
    pub(crate) fn schema(&mut self, turn: u32) -> Result<(Arc<Schema>, Vec<Change>), PackError> {
        match self {
            Self::None => Err(no_turns_error()),
            Self::Pack(pack, scenario) => {
                let changes = pack.changes(*scenario, turn)?;
                let changes = changes
                    .into_iter()
                    .flat_map(|turn_changes| turn_changes.changes)
                    .map(|change| change.what);
                Ok((Arc::new(pack.schema(*scenario, turn)?), changes.collect()))
            }
            Self::Generated(maker) => {
                while maker.last().map_or(0, |made_turn| made_turn.turn) < turn {
                    maker.make_next()?;
                }
                let made_turn = maker.last().ok_or_else(|| made_before_error(turn))?;
                let changes = made_turn
                    .changes
                    .iter()
                    .flat_map(|turn_changes| &turn_changes.changes)
                    .map(|change| change.what.clone());
                Ok((Arc::new(made_turn.schema.clone()), changes.collect()))
            }
        }
    }
}

fn no_turns_error() -> PackError {
    PackError::NoSuch("A task has steps and no turns of a scenario".to_owned())
}

fn made_before_error(turn: u32) -> PackError {
    PackError::NoSuch(format!("Turn {turn} was made before, and is not made twice"))
}

fn pack_turn(pack: &Pack, scenario: u32, turn: u32) -> Result<TurnData, PackError> {
    let suite = pack.suite(scenario, turn)?;
    let changes = pack.changes(scenario, turn)?;
    let schema = pack.schema(scenario, turn)?;
    let summaries: Vec<String> =
        changes.iter().flat_map(|turn_changes| &turn_changes.changes).map(|c| c.summary.clone()).collect();
    Ok(TurnData {
        turn,
        about: schema.title.clone(),
        title: title(&schema.title, &summaries),
        request: pack.request(scenario, turn)?,
        tests: tests(&suite),
        // Whole: a run's folder shows each suite by itself.
        pytest: code::pytest(&suite),
        suite: Arc::new(suite),
        changes: changes
            .into_iter()
            .flat_map(|turn_changes| turn_changes.changes)
            .map(|change| change.what)
            .collect(),
        schema: Arc::new(schema),
        schema_text: pack.text(scenario, turn, Part::Schema)?,
        reference: pack.text(scenario, turn, Part::Flask)?,
    })
}

fn maker_turn(maker: &TurnMaker<'_>, turn: u32) -> Result<TurnData, PackError> {
    let made_turn =
        maker.last().filter(|made_turn| made_turn.turn == turn).ok_or_else(|| made_before_error(turn))?;
    let changes = made_turn.changes.iter().flat_map(|turn_changes| &turn_changes.changes);
    let summaries: Vec<String> = changes.clone().map(|change| change.summary.clone()).collect();
    let schema_text = pack::to_yaml(&made_turn.schema).map_err(|error| PackError::Faulty {
        scenario: made_turn.suite.scenario,
        turn,
        problem: format!("It cannot be written down: {error}"),
    })?;
    Ok(TurnData {
        turn,
        about: made_turn.schema.title.clone(),
        title: title(&made_turn.schema.title, &summaries),
        request: made_turn.request.clone(),
        tests: tests(&made_turn.suite),
        suite: Arc::new(made_turn.suite.clone()),
        changes: changes.map(|change| change.what.clone()).collect(),
        schema: Arc::new(made_turn.schema.clone()),
        schema_text,
        pytest: code::pytest(&made_turn.suite),
        reference: code::flask(&made_turn.schema),
    })
}

fn tests(suite: &Suite) -> Vec<String> {
    suite.cases.iter().map(|case| pytest::test_id(suite.turn, &case.id)).collect()
}

/// One line: what is built, or the first change and how many more there are.
fn title(about: &str, summaries: &[String]) -> String {
    match summaries {
        [] => about.to_owned(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} And {} more.", rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(values: &[&str]) -> RunSettings {
        let mut list = vec!["agent=MOCK".to_owned(), "output_dir=/r".to_owned()];
        list.extend(values.iter().map(|&value| value.to_owned()));
        crate::settings::resolve(&[], &list).unwrap()
    }

    #[test]
    fn a_pack_and_the_sampler_give_the_same_turns() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("pack");
        let mut task_settings = settings(&[
            "restful_server_gen_iterative.n_scenarios=2",
            "restful_server_gen_iterative.n_turns=2",
        ]);
        let stop = std::sync::atomic::AtomicBool::new(false);
        let target = pack::Target::Folder(path.clone());
        pack::generate(
            &task_settings.generation,
            &PROGRAMMATIC,
            &target,
            &pack::Options::default(),
            &|_| {},
            &stop,
        )
        .unwrap();
        let mut packed = settings(&[&format!("scenarios_dir={}", path.display())]);
        let (from_pack, planned_of_pack) = Scenarios::plan(&mut packed).unwrap();
        let (sampled, planned) = Scenarios::plan(&mut task_settings).unwrap();
        assert_eq!(planned, planned_of_pack);
        let named = |number: usize| {
            let key = format!("restful_server_gen_iterative.execute_episodes={number}");
            Scenarios::plan(&mut settings(&[&format!("scenarios_dir={}", path.display()), &key]))
        };
        assert_eq!(named(planned.len() - 1).unwrap().1.len(), 1);
        let refused = named(planned.len()).map(|(_, planned)| planned).unwrap_err().to_string();
        let sentence = format!("there is no scenario {0}: the pack has {0}, counted from 0", planned.len());
        assert!(refused.contains("execute_episodes") && refused.contains(&sentence), "{refused}");
        assert_eq!(packed.generation, task_settings.generation, "the numbers that hold are the pack's");
        let (mut first, mut second) = (from_pack.turns(1), sampled.turns(1));
        for turn in 1..=2 {
            let (first, second) = (first.read(turn).unwrap(), second.read(turn).unwrap());
            assert_eq!(first.suite, second.suite);
            assert_eq!(
                (first.request, first.title, first.tests),
                (second.request, second.title, second.tests)
            );
            assert_eq!((first.schema_text, first.pytest), (second.schema_text, second.pytest));
            assert_eq!((first.reference, first.changes), (second.reference, second.changes));
        }
    }

    #[test]
    fn episodes_are_those_that_are_named() {
        let mut some = settings(&["restful_server_gen_iterative.execute_episodes=1,5,9"]);
        let (_, planned) = Scenarios::plan(&mut some).unwrap();
        let names: Vec<&str> = planned.iter().map(|episode| episode.name.as_str()).collect();
        assert_eq!(names, ["scenario_1", "scenario_5", "scenario_9"]);
        // The seed has a scenario for every number, but the run was asked for so many: one beyond them is a mistake, as with a
        // pack. What an earlier version began is resumed.
        let mut beyond = settings(&["restful_server_gen_iterative.execute_episodes=1,5,10"]);
        let refused = Scenarios::plan(&mut beyond).map(|(_, planned)| planned).unwrap_err().to_string();
        assert!(refused.contains("execute_episodes"), "{refused}");
        assert!(refused.contains("there is no scenario 10: n_scenarios is 10"), "{refused}");
        assert_eq!(Scenarios::from_settings(&mut beyond).unwrap().1.len(), 3);
        let mut quick =
            settings(&["restful_server_gen_iterative.execute_episodes=1,5,10", "quick_debug=true"]);
        let (_, planned) = Scenarios::plan(&mut quick).unwrap();
        let names: Vec<_> = planned.iter().map(|episode| (episode.name.as_str(), episode.turns)).collect();
        assert_eq!(names, [("scenario_1", 2), ("scenario_5", 2)]);
        let mut llm_settings = settings(&["restful_server_gen_iterative.use_llm_sampler=true"]);
        assert!(Scenarios::plan(&mut llm_settings).unwrap_err().to_string().contains("scenarios_dir"));
    }
}
