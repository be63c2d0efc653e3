//! A run that is killed again and again ends as one that was left in peace.
//!
//! This program is three: the test; with `play FOLDER PACK` the process that plays a run (and is killed); with
//! `serve-reference` what the simulated model's servers start. Nothing but a Python interpreter is needed: the mock agent
//! runs without containers.
//!
//! Kills come from inside, at named points of the code (`src/kill_points.rs`, counted over the whole process), and from outside
//! at any time. After each one the run is resumed; when it is over, its folder is compared with the undisturbed one.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed, and says how far it came"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use scenario::ir::Schema;
use scenario::pack::{Options, Pack, Part, Target, generate};
use serde_json::Value;

use kept::KeptIfFailed;
use results::normalized;

/// Kills that are asked for, unless `STAMINA_KILLS` names another number.
const KILLS: u64 = 100;
/// What chooses the moments of the kills, unless `STAMINA_SEED` names another number.
const SEED: u64 = 20_261_121;
/// Points that are passed seldom, and so are named: each is hit in turn.
const RARE_POINTS: [&str; 19] = [
    "run begun",
    "about to record",
    "journal written",
    "recorded",
    "restored aside",
    "live taken away",
    "restored",
    "snapshot begun",
    "snapshot about to count",
    "snapshot counts",
    "agent about to start",
    "agent ended",
    "tests ended",
    "run taken up",
    "about to end an episode",
    "episode ended",
    "folder taken away",
    "about to finish",
    "last report",
];
/// Cases that are left of each suite: enough to tell a defect, few enough to be quick.
const CASES: usize = 60;

mod kept;
mod results;

/// The tests of this program by name. It is its own test harness, since it is also the process that is killed.
const TESTS: [(&str, fn()); 2] = [
    ("time_counts_once", time_counts_once),
    ("killed_runs_end_as_undisturbed_ones", killed_runs_end_as_undisturbed_ones),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("play") => return play(Path::new(&arguments[1]), Path::new(&arguments[2])),
        Some("serve-reference") => return serve(&arguments[1..]),
        _ => {}
    }
    let given = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if given("--list") {
        // Test runners ask twice, the second time for what is ignored; a name in that answer is never run.
        if !given("--ignored") {
            for (name, _) in TESTS {
                println!("{name}: test");
            }
        }
        return ExitCode::SUCCESS;
    }
    if !cfg!(debug_assertions) {
        println!(
            "A release build has no points of failure (src/kill_points.rs): run this test without --release."
        );
        return ExitCode::FAILURE;
    }
    // As the standard harness has it: names are parts of a name, whole ones with `--exact`; without any, all run.
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let meant = |test: &str| {
        names.iter().any(|name| if given("--exact") { test == *name } else { test.contains(name.as_str()) })
    };
    for (name, test) in TESTS {
        if names.is_empty() || meant(name) {
            test();
        }
    }
    ExitCode::SUCCESS
}

/// Begins a run, or continues it.
fn play(folder: &Path, pack: &Path) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let quiet: runner::OnEvent = Arc::new(|_| {});
    let resumed = folder.join(".stamina/run.json").exists();
    let played = runtime.block_on(async {
        if resumed {
            let known = runner::origin::identity(folder)?;
            return runner::resume(folder.to_owned(), Vec::new(), known, quiet).await;
        }
        let settings = runner::settings::resolve(&[], &values(folder, pack)).unwrap();
        runner::run(settings, quiet).await
    });
    match played {
        Ok(finish) => ExitCode::from(finish.code()),
        Err(error) => {
            println!("{error}");
            ExitCode::from(9)
        }
    }
}

fn values(folder: &Path, pack: &Path) -> Vec<String> {
    let mut list = vec![
        format!("output_dir={}", folder.display()),
        format!("scenarios_dir={}", pack.display()),
        "tags=a,b".to_owned(),
    ];
    let rest = [
        "agent=MOCK",
        "batch_size=2",
        "restful_server_gen_iterative.attempt_limit=3",
        "oracle.seed=5",
        "oracle.defect_rate=0.7",
        "oracle.repair=0.6",
    ];
    list.extend(rest.map(str::to_owned));
    list
}

/// What serves the schema that the simulated model leaves: its reference, on the socket that is standard input.
fn serve(arguments: &[String]) -> ExitCode {
    let value = |name: &str| {
        let position = arguments.iter().position(|argument| argument == name).unwrap();
        arguments[position + 1].clone()
    };
    let schema = Schema::from_yaml(&std::fs::read_to_string(value("--schema")).unwrap()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let world = scenario::reference::World::new(Arc::new(schema));
        let _serving = scenario::reference::serve_on_stdin(world).unwrap();
        std::future::pending::<()>().await;
    });
    ExitCode::SUCCESS
}

/// A pack of 2 scenarios × 3 turns with short suites.
fn pack(offset: &Path) -> PathBuf {
    let path = offset.join("pack");
    let generation = scenario::config::Generation {
        n_scenarios: 2,
        n_turns: 3,
        num_changes_per_turn: 2,
        ..scenario::config::Generation::default()
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let target = Target::Folder(path.clone());
    generate(
        &generation,
        &scenario::sample::ProgrammaticSampler,
        &target,
        &Options::default(),
        &|_| {},
        &stop,
    )
    .unwrap();
    let opened = Pack::open_path(&path).unwrap();
    for scenario in 0..2 {
        // Files refer to those of earlier turns: all are read before one is replaced.
        let suites: Vec<_> = (1..=3).map(|turn| opened.suite(scenario, turn).unwrap()).collect();
        for mut suite in suites {
            let step = suite.cases.len().div_ceil(CASES);
            let mut offset = 0;
            suite.cases.retain(|_| {
                offset += 1;
                (offset - 1) % step == 0
            });
            let file = path.join(opened.path(scenario, suite.turn, Part::Suite).unwrap());
            std::fs::write(file, suite.to_json().unwrap()).unwrap();
        }
    }
    path
}

/// `SplitMix64` (Steele, Lea, Flood 2014): what is killed when comes from a seed.
struct Draw(u64);

impl Draw {
    fn number_below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % most
    }
}

struct Player<'a> {
    folder: &'a Path,
    pack: &'a Path,
    notes: &'a Path,
}

impl Player<'_> {
    fn command(&self) -> Command {
        let executable = std::env::current_exe().unwrap();
        let mut command = Command::new(&executable);
        command.arg("play").arg(self.folder).arg(self.pack);
        command.env("STAMINA_BIN", &executable).stdin(Stdio::null()).stderr(Stdio::inherit());
        command
    }

    /// Plays to the end.
    fn play_all(&self) -> u64 {
        let count = self.notes.join("count");
        let status = self.command().env("STAMINA_COUNT_TO", &count).status().unwrap();
        assert_eq!(status.code(), Some(0), "the undisturbed run finishes");
        std::fs::read_to_string(count).unwrap().parse().unwrap()
    }

    /// Plays until a point. The point's name if it was killed there, nothing if the run came to its end.
    fn play_until(&self, point: &str) -> Option<String> {
        let name = self.notes.join("name");
        let status =
            self.command().env("STAMINA_KILL_AT", point).env("STAMINA_KILLED_TO", &name).status().unwrap();
        match status.code() {
            None => Some(std::fs::read_to_string(name).unwrap()),
            Some(0) => None,
            Some(code) => panic!("it ended with {code} in {}", self.folder.display()),
        }
    }

    /// Plays for a time. Whether it was killed.
    fn play_for(&self, time: Duration) -> bool {
        let mut child = self.command().spawn().unwrap();
        let deadline = Instant::now() + time;
        while Instant::now() < deadline {
            if let Some(status) = child.try_wait().unwrap() {
                assert_eq!(status.code(), Some(0));
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap().code().is_none()
    }

    /// Attempts that are recorded, by episode.
    fn recorded(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for episode in ["scenario_0", "scenario_1"] {
            let path = self.folder.join(episode).join("trajectory.json");
            let Ok(text) = std::fs::read(&path) else { continue };
            let trajectory: Value = serde_json::from_slice(&text).expect("a trajectory is whole at any time");
            let attempts = trajectory["turns"].as_array().unwrap().iter();
            counts.insert(
                episode.to_owned(),
                attempts.map(|turn| turn["attempts"].as_array().unwrap().len()).sum(),
            );
        }
        counts
    }
}

fn killed_runs_end_as_undisturbed_ones() {
    let room = KeptIfFailed::new();
    let pack = pack(room.path());
    // Names of one length: what the model counts must not depend on them.
    let place = |name: &str| room.path().join(name);
    let calm = place("calm-run-00");
    let started = Instant::now();
    let points = Player { folder: &calm, pack: &pack, notes: room.path() }.play_all();
    println!("an undisturbed run passes {points} points in {:.1?}", started.elapsed());
    let expected = normalized(&calm);
    assert!(expected.len() > 40, "{} files", expected.len());
    assert_eq!(warnings(&calm), [] as [String; 0]);

    let setting = |name, otherwise| std::env::var(name).map_or(otherwise, |text| text.parse().expect(name));
    let wanted = setting("STAMINA_KILLS", KILLS);
    let mut draw = Draw(setting("STAMINA_SEED", SEED));
    let (mut kills, mut names, mut runs, mut seldom) = (0u64, BTreeSet::new(), 0, 0);
    while kills < wanted {
        let folder = place(&format!("killed-{runs:04}"));
        let player = Player { folder: &folder, pack: &pack, notes: room.path() };
        runs += 1;
        let mut before = BTreeMap::new();
        let mut starts = 0;
        loop {
            starts += 1;
            assert!(starts < 400, "it does not end");
            let killed = match draw.number_below(5) {
                0 => {
                    let killed = player.play_for(Duration::from_millis(30 + draw.number_below(2000)));
                    killed.then(|| "any time".to_owned())
                }
                1 | 2 => player.play_until(&(1 + draw.number_below(points / 3)).to_string()),
                _ => {
                    let name = RARE_POINTS[seldom % RARE_POINTS.len()];
                    seldom += 1;
                    player.play_until(&format!("{name}:{}", 1 + draw.number_below(2)))
                }
            };
            let after = player.recorded();
            for (episode, attempts) in &before {
                assert!(after[episode] >= *attempts, "{episode} lost a recorded attempt");
            }
            before = after;
            match killed {
                None => break,
                Some(name) => {
                    kills += 1;
                    names.insert(name);
                }
            }
        }
        for episode in ["scenario_0", "scenario_1"] {
            let state = folder.join(".stamina/state").join(episode);
            let left: Vec<_> =
                std::fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(left, ["journal.json"], "{episode} after {starts} starts");
        }
        let found = normalized(&folder);
        let paths = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(paths(&found), paths(&expected), "after {starts} starts");
        for (path, text) in &expected {
            assert_eq!(&found[path], text, "{path} in {}", folder.display());
        }
        assert_eq!(warnings(&folder), [] as [String; 0]);
    }
    println!("{kills} kills at {} points in {runs} runs, {:.0?}: {names:?}", names.len(), started.elapsed());
    assert!(names.len() >= 15, "{names:?}");
}

/// Seconds of all attempts that a run has told, by episode.
fn spending(folder: &Path) -> [f64; 2] {
    let mut sums = [0.0; 2];
    let text = std::fs::read_to_string(folder.join(".stamina/events.jsonl")).unwrap_or_default();
    // A kill may have cut the last line.
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for event in events.filter(|event| event["event"] == "attempt") {
        let parts = ["own_seconds", "agent_seconds", "test_seconds"];
        let seconds: f64 = parts.iter().filter_map(|part| event[part].as_f64()).sum();
        sums[usize::from(event["episode"] == "scenario_1")] += seconds;
    }
    sums
}

/// Wall time of a run and of its episodes is that in which they were played, however many parts it was played in.
fn time_counts_once() {
    let room = KeptIfFailed::new();
    let pack = pack(room.path());
    let folder = room.path().join("timed");
    let player = Player { folder: &folder, pack: &pack, notes: room.path() };
    let counted = || {
        let run = runner::live::read(&folder).unwrap();
        let episodes: Vec<f64> = run.episodes.iter().map(|episode| episode.seconds).collect();
        (run.spent.seconds, run.seconds, episodes)
    };
    let (mut wall, mut before, mut spent_before) = (0.0, (0.0, 0.0, vec![0.0; 2]), [0.0; 2]);
    for part in 0..3 {
        let started = Instant::now();
        if part < 2 {
            // One attempt of a part is recorded, and the next cut off.
            assert_eq!(player.play_until("agent ended:2").as_deref(), Some("agent ended"));
        } else {
            player.play_all();
        }
        wall += started.elapsed().as_secs_f64();
        let (budget_seconds, run_seconds, episode_seconds) = counted();
        println!(
            "part {part}: {budget_seconds:.2} and {run_seconds:.2} of {wall:.2} s, episodes {episode_seconds:.2?}"
        );
        for seconds in episode_seconds.iter().chain([&budget_seconds, &run_seconds]) {
            assert!(*seconds <= wall, "{seconds} s of {wall} s that went by");
        }
        assert!(budget_seconds >= before.0 && run_seconds >= before.1, "time that was played is not lost");
        assert!(
            episode_seconds.iter().zip(&before.2).all(|(now, earlier)| now >= earlier),
            "{episode_seconds:?}"
        );
        // All that its attempts took counts, whatever else this machine did meanwhile. Looked at in the part that comes to its
        // end: of one that is killed the last moments are not written down.
        let spending = spending(&folder);
        if part == 2 {
            let played = [0, 1].map(|episode| spending[episode] - spent_before[episode]);
            let longest = played[0].max(played[1]);
            assert!(longest > 0.0, "the last part plays attempts");
            let counts = |now: f64, earlier: f64, played: f64| now - earlier > played - 0.1;
            assert!(
                counts(budget_seconds, before.0, longest),
                "{budget_seconds} after {}: {played:?}",
                before.0
            );
            assert!(counts(run_seconds, before.1, longest), "{run_seconds} after {}: {played:?}", before.1);
            for (episode, seconds) in played.into_iter().enumerate() {
                let (now, earlier) = (episode_seconds[episode], before.2[episode]);
                assert!(counts(now, earlier, seconds), "{now} after {earlier}: {played:?}");
            }
        }
        spent_before = spending;
        before = (budget_seconds, run_seconds, episode_seconds);
    }
}

/// What the importer has to say against a folder.
fn warnings(folder: &Path) -> Vec<String> {
    use ingest::format_trait::Format as _;
    let tree = files::Tree::open(folder).unwrap();
    let mut report = ingest::format_trait::Report::default();
    let format = ingest::formats::staminabench::StaminaBench;
    let survey = format.survey(&tree, "", &mut report);
    assert_eq!(survey.parts.len(), 2);
    for part in &survey.parts {
        for reading in format.read(&tree, "", part, &mut report) {
            assert!(!reading.episode.turns.is_empty());
        }
    }
    report.warnings.iter().map(|warning| format!("{}: {}", warning.path, warning.code)).collect()
}
