//! Whether what a run would play can be played: its harness in its mode, and the turns of its scenarios.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use runner::settings::RunSettings;
use scenario::pack::{Mismatch, Pack, PackError};

use crate::api::{Check, CheckState};

/// After so many damaged turns of a pack no further one is looked for.
const DAMAGED: usize = 9;
/// Tasks of which it is said why they are not played, or what of them is not obeyed.
const TASKS_SAID: usize = 50;
/// So many tasks are named together of which the same is said.
const NAMED_TOGETHER: usize = 3;

/// Turns of the pack that was looked at last which were whole, each with a stamp of what was read. The form is looked at with
/// every change of it, and its pack may have gigabytes.
#[derive(Debug, Default)]
pub(crate) struct VerifiedPack {
    known: Mutex<WholeTurns>,
}

/// Where a pack lies, and stamps of the turns of it that were whole.
type WholeTurns = (PathBuf, HashMap<(u32, u32), u64>);

impl VerifiedPack {
    /// What is wrong with a turn, if anything is. One that was whole is read again only when a file of it has changed, or with
    /// `anew`.
    fn verify(&self, path: &Path, pack: &Pack, (scenario, turn): (u32, u32), anew: bool) -> Option<Mismatch> {
        // A zip may be written over in place: what stands in its index is not all of it.
        let file = path.metadata().ok().filter(std::fs::Metadata::is_file);
        let of_file =
            file.map_or(0, |meta| meta.mtime_nsec().cast_unsigned() ^ meta.mtime().cast_unsigned() << 32);
        let stamp = pack
            .turn_stamp(scenario, turn)
            .map(|stamp| files::Stamp::new().number(stamp).number(of_file).finish());
        let mut known = model::lock(&self.known);
        if known.0 != path {
            *known = (path.to_path_buf(), HashMap::new());
        }
        if !anew && stamp.is_some() && known.1.get(&(scenario, turn)).copied() == stamp {
            return None;
        }
        drop(known);
        let wrong = pack.verify_turn(scenario, turn);
        let mut known = model::lock(&self.known);
        if known.0 == path {
            match stamp.filter(|_| wrong.is_none()) {
                Some(stamp) => known.1.insert((scenario, turn), stamp),
                None => known.1.remove(&(scenario, turn)),
            };
        }
        wrong
    }
}

/// Whether the agent's program can be called in this way at all.
pub(super) fn harness(settings: &RunSettings) -> Option<Check> {
    let error = runner::callable(settings).err()?;
    Some(
        Check::new("harness", "Harness", CheckState::Fail, "cannot be called")
            .with_sentence(error.to_string()),
    )
}

/// Whether the scenarios are there: of a pack, each turn that is to be played is read, where it has changed since it was read
/// last, or with `anew`.
pub(super) fn pack(settings: &RunSettings, verified: &VerifiedPack, anew: bool) -> (Check, Option<Pack>) {
    const TITLE: &str = "Pack";
    if let Some(named) = &settings.tasks {
        return (tasks(settings, &named.folder), None);
    }
    let Some(path) = &settings.scenarios_dir else {
        let g = &settings.generation;
        let value = format!("{} × {}, generated from seed {}", g.n_scenarios, g.n_turns, g.base_seed);
        if let Err(error) = runner::check_named(settings) {
            return (
                Check::new("pack", TITLE, CheckState::Fail, value).with_sentence(error.to_string()),
                None,
            );
        }
        if g.use_llm_sampler {
            let check = |state| Check::new("pack", TITLE, state, format!("{value}, by a model"));
            let check = match crate::sampler::model_in_words(settings) {
                Err(reason) => check(CheckState::Fail).with_sentence(reason),
                Ok(model) => check(CheckState::Warn).with_sentence(format!(
                    "A model samples the scenarios first ({model}), into {}. What that takes is not in the estimate.",
                    crate::sampler::pack_beside(&settings.output_dir).display()
                )),
            };
            return (check, None);
        }
        return (Check::new("pack", TITLE, CheckState::Ok, value), None);
    };
    let pack = match Pack::open_path(path) {
        Ok(pack) => pack,
        Err(error) => {
            let place = path.display().to_string();
            let sentence = match error {
                // It names the place itself.
                PackError::Read { path, error } if path == place => format!("{path}: {error}"),
                error => format!("{place}: {error}"),
            };
            let check = Check::new("pack", TITLE, CheckState::Fail, "cannot be read").with_sentence(sentence);
            return (check, None);
        }
    };
    let check = played(settings, &pack, &|turn| verified.verify(path, &pack, turn, anew));
    (check, Some(pack))
}

/// The images that tasks name which are to be played, by the names of the tasks; those of the others are built.
pub(super) fn named_images(settings: &RunSettings) -> Vec<(String, Option<String>)> {
    let Some(named) = &settings.tasks else { return Vec::new() };
    let (Ok(seen), Ok(planned)) = (runner::tasks(&named.folder, settings), runner::planned(settings)) else {
        return Vec::new();
    };
    let task_of =
        |number: &u32| seen.get(*number as usize).map(|task| (task.name.clone(), task.image.clone()));
    planned.iter().filter_map(|(number, _)| task_of(number)).collect()
}

/// What is said of tasks that are not played because of the images that they name; nothing where there are none.
/// `unfit` = tasks and why, of so many that are to be played.
pub(super) fn images(unfit: &[String], total: usize) -> Option<Check> {
    let state = match unfit.len() {
        0 => return None,
        all if all >= total => CheckState::Fail,
        _ => CheckState::Warn,
    };
    let check =
        Check::new("task_images", "Images of tasks", state, format!("{} of {total} missing", unfit.len()));
    Some(check.with_sentence(format!("Not played: {}.", few(unfit))))
}

/// The first of a list, and how many more there are.
fn few(list: &[String]) -> String {
    let unnamed = list.len().saturating_sub(TASKS_SAID);
    let first = list.iter().take(TASKS_SAID).cloned().collect::<Vec<_>>().join(". ");
    if unnamed > 0 { format!("{first}. And {unnamed} more") } else { first }
}

/// Tasks and why, a line a reason, in the order of their first tasks: of many tasks the same is often said.
fn by_reason(list: &[(&str, String)]) -> Vec<String> {
    let mut lines: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (task, reason) in list {
        let place = *places.entry(reason).or_insert_with(|| {
            lines.push((reason, Vec::new()));
            lines.len() - 1
        });
        lines[place].1.push(task);
    }
    let line = |(reason, tasks): &(&str, Vec<&str>)| {
        let unnamed = tasks.len().saturating_sub(NAMED_TOGETHER);
        let names = tasks[..tasks.len() - unnamed].join(", ");
        if unnamed > 0 {
            format!("{names} and {unnamed} more: {reason}")
        } else {
            format!("{names}: {reason}")
        }
    };
    lines.iter().map(line).collect()
}

/// Which tasks can be played, and what is said of each.
fn tasks(settings: &RunSettings, folder: &Path) -> Check {
    let check = |state, value: String| Check::new("pack", "Tasks", state, value);
    let seen = match runner::tasks(folder, settings) {
        Ok(seen) => seen,
        Err(error) => {
            return check(CheckState::Fail, "cannot be read".to_owned()).with_sentence(error.to_string());
        }
    };
    let planned = match runner::planned(settings) {
        Ok(planned) => planned,
        Err(error) => {
            return check(CheckState::Fail, "none can be played".to_owned()).with_sentence(error.to_string());
        }
    };
    let steps: u32 = planned.iter().map(|(_, steps)| steps).sum();
    let value = format!("{} of {}, {}", planned.len(), seen.len(), model::counted(steps.into(), "step"));
    let refused = seen.iter().filter(|task| !task.refused.is_empty());
    let refused: Vec<(&str, String)> =
        refused.map(|task| (task.name.as_str(), task.refused.join("; "))).collect();
    let notes = seen.iter().filter(|task| task.refused.is_empty() && !task.notes.is_empty());
    let notes: Vec<(&str, String)> = notes.map(|task| (task.name.as_str(), task.notes.join("; "))).collect();
    let mut message = Vec::new();
    if !refused.is_empty() {
        message.push(format!("Not played: {}.", few(&by_reason(&refused))));
    }
    if !notes.is_empty() {
        message.push(format!("Played otherwise than they say: {}.", few(&by_reason(&notes))));
    }
    if message.is_empty() {
        return check(CheckState::Ok, value);
    }
    check(CheckState::Warn, value).with_sentence(message.join(" "))
}

/// Whether what is asked of a pack is in it, and whole.
fn played(settings: &RunSettings, pack: &Pack, verify: &dyn Fn((u32, u32)) -> Option<Mismatch>) -> Check {
    let (scenarios, turns) =
        (pack.scenarios().len() as u32, pack.scenarios().iter().map(|s| s.turns).max().unwrap_or(0));
    let check = |state| Check::new("pack", "Pack", state, format!("{scenarios} × {turns}"));
    let missing: Vec<String> =
        settings.execute_episodes.iter().filter(|n| **n >= scenarios).map(u32::to_string).collect();
    if !missing.is_empty() {
        return check(CheckState::Fail).with_sentence(format!(
            "It has no scenario {}: they are counted from 0 to {}.",
            missing.join(", "),
            scenarios.saturating_sub(1)
        ));
    }
    let planned = match runner::planned(settings) {
        Ok(planned) => planned,
        Err(error) => return check(CheckState::Fail).with_sentence(error.to_string()),
    };
    let mut damage = planned
        .into_iter()
        .flat_map(|(scenario, turns)| (1..=turns).map(move |turn| (scenario, turn)))
        .filter_map(verify);
    if let Some(first) = damage.next() {
        // Of a pack that is damaged throughout it is of no use to read all.
        let more = match damage.by_ref().take(DAMAGED).count() {
            0 => String::new(),
            DAMAGED => format!(" At least {DAMAGED} more turns are damaged."),
            1 => " 1 more turn is damaged.".to_owned(),
            more => format!(" {more} more turns are damaged."),
        };
        return check(CheckState::Fail).with_sentence(format!(
            "It is damaged. {}: {}.{more} Generate it again, or take a copy that is whole.",
            first.at, first.what
        ));
    }
    let g = &settings.generation;
    let exceeds_pack = |requested: u32, present: u32| requested > present && requested < settings::WHOLE_PACK;
    if exceeds_pack(g.n_scenarios, scenarios) || exceeds_pack(g.n_turns, turns) {
        return check(CheckState::Warn).with_sentence(format!(
            "{} × {} were asked for; what the pack has is played.",
            g.n_scenarios, g.n_turns
        ));
    }
    check(CheckState::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_which_the_same_is_said_stand_together() {
        let message_of = |tasks: &[(&'static str, &str)]| {
            let list: Vec<(&str, String)> =
                tasks.iter().map(|(task, reason)| (*task, (*reason).to_owned())).collect();
            few(&by_reason(&list))
        };
        assert_eq!(message_of(&[("a", "no image")]), "a: no image");
        assert_eq!(message_of(&[("a", "x"), ("b", "y"), ("c", "x")]), "a, c: x. b: y");
        let five = [("a", "x"), ("b", "x"), ("c", "x"), ("d", "x"), ("e", "x")];
        assert_eq!(message_of(&five), "a, b, c and 2 more: x");
    }

    #[test]
    fn images_that_tasks_name_and_that_are_not_there_are_told_before_anything_is_played() {
        let room = tempfile::tempdir().unwrap();
        let write_file = |path: &str, text: &str| {
            let path = room.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let steps = "[[steps]]\nname = \"a\"\n[[steps]]\nname = \"b\"\n";
        for (task, head) in [("one", "[environment]\ndocker_image = \"example/one:1\"\n"), ("two", "")] {
            write_file(&format!("{task}/task.toml"), &format!("{head}{steps}"));
            write_file(&format!("{task}/environment/Dockerfile"), "FROM scratch\n");
            write_file(&format!("{task}/tests/test.sh"), "true");
            for step in ["a", "b"] {
                write_file(&format!("{task}/steps/{step}/instruction.md"), "Do it.");
            }
        }
        let tasks = format!("tasks={}", room.path().display());
        let values = ["agent=NOP", "benchmark=HARBOR", "output_dir=x", &tasks].map(str::to_owned);
        let settings = runner::settings::resolve(&[], &values).unwrap();
        let named = named_images(&settings);
        assert_eq!(named, [("one".to_owned(), Some("example/one:1".to_owned())), ("two".to_owned(), None)]);
        assert_eq!(images(&[], named.len()), None);
        let check = images(&["one: there is no image example/one:1".to_owned()], named.len()).unwrap();
        assert_eq!((check.state, check.value.as_str()), (CheckState::Warn, "1 of 2 missing"));
        assert!(check.sentence.unwrap().contains("example/one:1"));
        assert_eq!(images(&vec!["x".to_owned(); 2], 2).unwrap().state, CheckState::Fail);
    }

    fn resolve_settings(added: &[&str]) -> RunSettings {
        let values = ["agent=MOCK", "output_dir=x"].iter().chain(added).map(|&value| value.to_owned());
        runner::settings::resolve(&[], &values.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn scenarios_that_a_model_samples_are_told_before_the_run() {
        let sampled = resolve_settings(&["restful_server_gen_iterative.use_llm_sampler=true"]);
        let verified = VerifiedPack::default();
        let pack = |settings: &RunSettings| super::pack(settings, &verified, false);
        let (check, opened_pack) = pack(&sampled);
        assert_eq!((check.state, opened_pack.is_none()), (CheckState::Warn, true));
        let sentence = check.sentence.unwrap();
        assert!(sentence.contains("x-pack") && sentence.contains("not in the estimate"), "{sentence}");
        assert!(sentence.contains("(zai.glm-5 at Amazon Bedrock)"), "{sentence}");
        let local = resolve_settings(&[
            "restful_server_gen_iterative.use_llm_sampler=true",
            "restful_server_gen_iterative.llm_sampler_model_id=qwen3",
            "llm_sampler.base_url=http://localhost:11434/v1",
        ]);
        let sentence = pack(&local).0.sentence.unwrap();
        assert!(sentence.contains("(qwen3 at http://localhost:11434/v1)"), "{sentence}");
        let invalid = resolve_settings(&[
            "restful_server_gen_iterative.use_llm_sampler=true",
            "llm_sampler.base_url=https://api.example/v1",
            "llm_sampler.region=eu-west-1",
        ]);
        let (check, _) = pack(&invalid);
        assert!(check.state == CheckState::Fail && check.sentence.is_some_and(|text| !text.is_empty()));
        assert_eq!(pack(&resolve_settings(&[])).0.state, CheckState::Ok);
    }

    #[test]
    fn a_pack_that_is_not_there_is_named_once() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("none").display().to_string();
        let (check, opened_pack) =
            pack(&resolve_settings(&[&format!("scenarios_dir={path}")]), &VerifiedPack::default(), false);
        assert_eq!((check.state, opened_pack.is_none()), (CheckState::Fail, true));
        let sentence = check.sentence.unwrap();
        assert_eq!(sentence.matches(&path).count(), 1, "{sentence}");
        assert!(sentence.starts_with(&format!("{path}: ")), "{sentence}");
    }

    #[test]
    fn every_turn_of_a_pack_that_is_to_be_played_is_read() {
        use scenario::pack::{Options, Part, Target, generate};
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("pack");
        let made = resolve_settings(&[
            "restful_server_gen_iterative.n_scenarios=2",
            "restful_server_gen_iterative.n_turns=3",
            "restful_server_gen_iterative.num_changes_per_turn=1",
        ]);
        let stop = std::sync::atomic::AtomicBool::new(false);
        let target = Target::Folder(path.clone());
        let sampler = scenario::sample::ProgrammaticSampler;
        generate(&made.generation, &sampler, &target, &Options::default(), &|_| {}, &stop).unwrap();
        let dir = format!("scenarios_dir={}", path.display());
        let verified = VerifiedPack::default();
        let check_pack = |added: &[&str]| {
            let check = pack(&resolve_settings(&[&[dir.as_str()], added].concat()), &verified, false).0;
            (check.state, check.sentence.unwrap_or_default())
        };
        assert_eq!(check_pack(&[]), (CheckState::Ok, String::new()));
        let (state, sentence) = check_pack(&["benchmark=RESTFUL_SERVER_GEN"]);
        assert!(state == CheckState::Fail && sentence.contains("benchmark is"), "{sentence}");

        let opened = Pack::open_path(&path).unwrap();
        let file = |scenario, turn, part| path.join(opened.path(scenario, turn, part).unwrap());
        std::fs::remove_file(file(1, 3, Part::Suite)).unwrap();
        let (state, sentence) = check_pack(&[]);
        assert_eq!(state, CheckState::Fail);
        assert!(sentence.contains("It is damaged. scenario_1/") && !sentence.contains("more"), "{sentence}");
        let bounded = check_pack(&["restful_server_gen_iterative.n_turns=2"]);
        assert_eq!(bounded.0, CheckState::Ok, "turns that are not played need not be whole: {}", bounded.1);
        std::fs::write(file(0, 1, Part::Request), "Something else.").unwrap();
        let (state, sentence) = check_pack(&[]);
        assert!(state == CheckState::Fail && sentence.contains("scenario_0, turn 1"), "{sentence}");
        assert!(sentence.contains("1 more turn is damaged"), "{sentence}");
    }

    #[test]
    fn a_turn_is_read_again_once_a_file_of_it_has_changed() {
        use scenario::pack::{Options, Part, Target, generate};
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("pack");
        let made = resolve_settings(&[
            "restful_server_gen_iterative.n_scenarios=1",
            "restful_server_gen_iterative.n_turns=2",
        ]);
        let stop = std::sync::atomic::AtomicBool::new(false);
        let sampler = scenario::sample::ProgrammaticSampler;
        generate(
            &made.generation,
            &sampler,
            &Target::Folder(path.clone()),
            &Options::default(),
            &|_| {},
            &stop,
        )
        .unwrap();
        let verified = VerifiedPack::default();
        let settings = resolve_settings(&[&format!("scenarios_dir={}", path.display())]);
        let check_pack = |anew| pack(&settings, &verified, anew).0.state;
        assert_eq!(check_pack(false), CheckState::Ok);
        // Other content that looks the same from outside: nobody reads it, until somebody asks for it.
        let file = path.join(Pack::open_path(&path).unwrap().path(0, 2, Part::Request).unwrap());
        let (text, before) = (std::fs::read(&file).unwrap(), file.metadata().unwrap().modified().unwrap());
        let set = |content: &[u8], modified| {
            std::fs::write(&file, content).unwrap();
            std::fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        };
        let other: Vec<u8> = text.iter().map(u8::to_ascii_uppercase).collect();
        set(&other, before);
        assert_eq!(check_pack(false), CheckState::Ok);
        assert_eq!(check_pack(true), CheckState::Fail);
        assert_eq!(check_pack(false), CheckState::Fail, "what is damaged is always read");
        set(&text, before);
        assert_eq!(check_pack(false), CheckState::Ok);
        set(&other, before + std::time::Duration::from_secs(1));
        assert_eq!(check_pack(false), CheckState::Fail);
    }

    #[test]
    fn a_harness_that_cannot_do_what_is_asked_of_it_does_not_begin() {
        assert!(harness(&resolve_settings(&[])).is_none());
        let codex = |added: &str| resolve_settings(&["agent=CODEX", added]);
        assert!(harness(&codex("endpoint.mode=direct")).is_none());
        let value_of = |values: &[&str]| {
            let mut all = vec!["output_dir=x".to_owned(), "endpoint.mode=direct".to_owned()];
            all.extend(values.iter().map(|&value| value.to_owned()));
            harness(&runner::settings::resolve(&[], &all).unwrap())
        };
        for agent in ["VIBE", "KIMI_CLI", "KIMI_CODE"] {
            assert!(value_of(&[&format!("agent={agent}")]).is_none(), "{agent}");
        }
        // The example of a file names its endpoint.
        let (_, described) = include_str!("../../../../docs/harnesses.md").split_once("```toml\n").unwrap();
        let room = tempfile::tempdir().unwrap();
        let file = room.path().join("my.toml");
        std::fs::write(&file, described.split_once("```").unwrap().0).unwrap();
        let check = value_of(&["agent=CUSTOM", &format!("harness_file={}", file.display())]).unwrap();
        assert_eq!(check.state, CheckState::Fail);
        assert!(check.sentence.unwrap().contains("direct mode"));
    }
}
