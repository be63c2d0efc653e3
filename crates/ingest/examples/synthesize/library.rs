//! A folder of runs in the layout that docs/formats.md defines.
//!
//! One run for each pair of a model and a harness. The models do not exist; the harnesses' names are those of real
//! ones, and no number says anything about them. `report.json` says that the runs are simulated.
//!
//! A varied library is as uneven as published results are: names from two to sixty characters, thirteen models of one
//! harness before the next harness, chains of 5 turns and more, and models of which most fail in the first turn.
//!
//! The same request gives the same bytes, however many threads write. What runs of one scenario share (requests,
//! suites, references, schemas) is written once and linked into the others.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::chance::Chance;
use crate::course::{ATTEMPT_LIMIT, Course, Outcome, Strength};
use crate::logs;
use crate::scenario::Scenario;
use crate::transcript::{Place, Trajectory, agent_log, time};

/// Names of models that do not exist, and how strong they are, from 0 to 1.
const MODELS: [(&str, f64); 7] = [
    ("basalt-9b", 0.05),
    ("cirrus-mini", 0.2),
    ("delta-30b", 0.35),
    ("cirrus-large", 0.5),
    ("elm-2", 0.65),
    ("fathom-120b", 0.8),
    ("garnet-pro", 0.97),
];
/// The models of a varied library.
const VARIED_MODELS: [(&str, f64); 13] = [
    ("halcyon-opus-4.8-xhigh", 0.75),
    ("o5", 0.62),
    ("meridian-5.2", 0.52),
    ("deepwell-v4-pro", 0.47),
    ("minnow-m3", 0.45),
    ("kestrel-k2.6", 0.4),
    ("quillon3.7-max-2026-05-20-thinking-high-context-of-1m-tokens", 0.37),
    ("quillon3.6-plus", 0.36),
    ("kestrel-k2.7-code", 0.34),
    ("dovetail-seed-2.1-pro", 0.33),
    ("deepwell-v4-flash", 0.32),
    ("meridian-5.1", 0.31),
    ("minnow-m2.7", 0.3),
];
/// By which factor the scenarios of a varied library are harder.
const VARIED_RISK: f64 = 8.0;
/// The fewest turns of a scenario of a varied library.
const FEWEST_TURNS: usize = 5;
/// Harnesses with their versions, and the factor by which they change the risk.
const HARNESSES: [(&str, &str, f64); 6] = [
    ("mini_swe", "2.1.0", 1.0),
    ("openhands", "1.4.2", 0.8),
    ("opencode", "0.15.3", 1.1),
    ("qwen_code", "0.4.0", 1.3),
    ("kimi_cli", "0.52", 1.2),
    ("vibe", "1.1.1", 1.6),
];
/// The first second of the first run: 1 June 2026.
const BEGIN: u64 = 1_780_272_000;

/// What to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// Runs.
    pub(crate) runs: usize,
    /// Scenarios of each.
    pub(crate) scenarios: usize,
    /// Turns of each; of a varied library the most.
    pub(crate) turns: usize,
    /// Whether it is as uneven as published results are.
    pub(crate) varied: bool,
    /// Another number gives another library.
    pub(crate) seed: u64,
    /// Threads that write.
    pub(crate) threads: usize,
}

/// What was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Runs.
    pub(crate) runs: usize,
    /// Episodes.
    pub(crate) episodes: usize,
    /// Turns with at least one attempt.
    pub(crate) turns: usize,
    /// Attempts.
    pub(crate) attempts: usize,
    /// Files, linked ones included.
    pub(crate) files: usize,
    /// Their bytes, linked ones included.
    pub(crate) bytes: u64,
    /// Folders, without the library's own.
    pub(crate) folders: usize,
}

impl Size {
    fn models(self) -> &'static [(&'static str, f64)] {
        if self.varied { &VARIED_MODELS } else { &MODELS }
    }

    /// The model of a run, with its strength.
    fn model(self, run: usize) -> (&'static str, f64) {
        self.models()[run % self.models().len()]
    }

    /// The harness of a run, with its version and its factor.
    fn harness(self, run: usize) -> (&'static str, &'static str, f64) {
        HARNESSES[run / self.models().len() % HARNESSES.len()]
    }

    /// The turns of a scenario.
    fn turns_of(self, scenario: usize) -> usize {
        if self.varied && self.turns > FEWEST_TURNS {
            FEWEST_TURNS + 7 * scenario % (self.turns - FEWEST_TURNS + 1)
        } else {
            self.turns
        }
    }

    /// The folder's name of a run.
    pub(crate) fn name(self, run: usize) -> String {
        let (model, harness) = (self.model(run).0, self.harness(run).0);
        match run / (self.models().len() * HARNESSES.len()) {
            0 => format!("{harness}.{model}"),
            again => format!("{harness}.{model}.{}", again + 1),
        }
    }

    fn strength(self, run: usize) -> Strength {
        let (skill, factor) = (self.model(run).1, self.harness(run).2);
        let risk = if self.varied { VARIED_RISK } else { 1.0 };
        // From one in five turns down to one in two hundred.
        Strength {
            hazard: (0.2 * (-3.7 * skill).exp() * factor * risk).min(0.5),
            retry: (0.38 * (1.0 - 0.8 * skill) * factor).min(0.6),
        }
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.episodes += other.episodes;
        self.turns += other.turns;
        self.attempts += other.attempts;
        self.files += other.files;
        self.bytes += other.bytes;
        self.folders += other.folders;
    }
}

/// An episode as the run's report counts it.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    share: f64,
    passed: usize,
    attempts: usize,
}

/// Writes a library into an empty or new folder.
pub(crate) fn write(folder: &Path, size: Size) -> io::Result<Counts> {
    let scenarios: Vec<Scenario> =
        (0..size.scenarios).map(|number| Scenario::new(size.seed, number, size.turns_of(number))).collect();
    let scores = Mutex::new(vec![Score::default(); size.runs * size.scenarios]);
    let total = Mutex::new(Counts::default());
    let mut written = Counts { runs: size.runs, ..Counts::default() };
    for run in 0..size.runs {
        written.folders += 1;
        fs::create_dir_all(folder.join(size.name(run)))?;
    }
    // The first run's episodes first: the others link to their files.
    let first = AtomicUsize::new(0);
    in_threads(size.threads, |done| {
        take(&first, size.scenarios, done, &total, |s| episode(folder, size, &scenarios, 0, s, &scores))
    })?;
    let rest = AtomicUsize::new(size.scenarios);
    let all = size.runs * size.scenarios;
    in_threads(size.threads, |done| {
        take(&rest, all, done, &total, |i| {
            episode(folder, size, &scenarios, i / size.scenarios, i % size.scenarios, &scores)
        })
    })?;
    let scores = scores.into_inner().map_err(|_| io::Error::other("a thread panicked"))?;
    for (run, scores) in scores.chunks(size.scenarios).enumerate() {
        written.add(run_files(&folder.join(size.name(run)), run, size, scores)?);
    }
    written.add(*total.lock().map_err(|_| io::Error::other("a thread panicked"))?);
    Ok(written)
}

/// Runs the same work in some threads; the first error is given.
fn in_threads(threads: usize, work: impl Fn(&AtomicUsize) -> io::Result<()> + Sync) -> io::Result<()> {
    let failed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(|| work(&failed))).collect();
        running
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| io::Error::other("a thread panicked"))?)
    })
}

/// Takes numbers from `next` up to `end` until there are none or a thread failed.
fn take(
    next: &AtomicUsize,
    end: usize,
    failed: &AtomicUsize,
    total: &Mutex<Counts>,
    work: impl Fn(usize) -> io::Result<Counts>,
) -> io::Result<()> {
    while failed.load(Ordering::Relaxed) == 0 {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= end {
            break;
        }
        let written = work(index).inspect_err(|_| failed.store(1, Ordering::Relaxed))?;
        if let Ok(mut total) = total.lock() {
            total.add(written);
        }
    }
    Ok(())
}

/// Writes one episode.
fn episode(
    folder: &Path,
    size: Size,
    scenarios: &[Scenario],
    run: usize,
    number: usize,
    scores: &Mutex<Vec<Score>>,
) -> io::Result<Counts> {
    let scenario = &scenarios[number];
    let mut chance = Chance::new(size.seed, &[2, run as u64, number as u64]);
    let course = Course::play(&mut chance, size.strength(run), scenario);
    let name_of = format!("scenario_{number}");
    let mut writer = Writer::new(folder.join(size.name(run)).join(&name_of))?;
    for kind in [
        "agent_code",
        "agent_logs",
        "changes",
        "ground_truth",
        "schemas",
        "server_logs",
        "test_results",
        "test_suites",
    ] {
        writer.folder(kind)?;
    }
    let original = (run > 0).then(|| folder.join(size.name(0)).join(&name_of));
    for (index, turn) in scenario.turns.iter().enumerate() {
        let n = index + 1;
        writer.shared(original.as_deref(), &format!("changes/turn_{n}.md"), &turn.request)?;
        writer.shared(original.as_deref(), &format!("ground_truth/turn_{n}.py"), &turn.reference)?;
        writer.shared(original.as_deref(), &format!("test_suites/turn_{n}.py"), &turn.suite)?;
        writer.shared(original.as_deref(), &format!("schemas/turn_{n}.yaml"), &turn.schema)?;
    }

    let began = BEGIN + run as u64 * 43_200 + number as u64 * 600;
    let mut trajectory = Trajectory::new(scenario, &name_of, scenario.turns.len(), began);
    let mut score = Score { passed: course.stamina(), attempts: course.attempts(), ..Score::default() };
    let (mut step, mut code, mut log) = (0, String::new(), String::new());
    for (index, attempts) in course.turns.iter().enumerate() {
        let turn = &scenario.turns[index];
        trajectory.turn(index + 1, turn);
        for (attempt_index, outcome) in attempts.iter().enumerate() {
            step += 1;
            let place = Place { turn: index + 1, attempt: attempt_index + 1, step };
            let name = format!("turn_{}_attempt_{}", place.turn, place.attempt);
            agent_code(&mut code, &mut chance, &turn.reference, outcome);
            let at_time = time(trajectory.now);
            trajectory.attempt(
                &mut chance,
                place,
                turn,
                outcome,
                attempt_index.checked_sub(1).map(|before| &attempts[before]),
                &code,
            );
            let snapshot = format!("agent_code/{name}");
            writer.folder(&snapshot)?;
            writer.file(&format!("{snapshot}/server.py"), &code)?;
            writer.file(
                &format!("{snapshot}/run.sh"),
                "#!/bin/sh\nexec python3 server.py --port \"$PORT\"\n",
            )?;
            if place.turn > 40 {
                writer.file(&format!("{snapshot}/requirements.txt"), "flask==3.1.0\n")?;
            }
            log.clear();
            agent_log(&mut log, &mut chance, turn, place);
            writer.file(&format!("agent_logs/step_{step}.txt"), &log)?;
            if !matches!(outcome, Outcome::Error(..)) {
                log.clear();
                logs::pytest(&mut log, &mut chance, outcome, turn);
                writer.file(&format!("test_results/{name}.txt"), &log)?;
                log.clear();
                logs::server(&mut log, &mut chance, outcome, turn, &at_time);
                writer.file(&format!("server_logs/{name}.txt"), &log)?;
            }
            if attempt_index + 1 == attempts.len() {
                score.share +=
                    logs::counts(outcome, turn).map_or(0.0, |(passed, total)| passed as f64 / total as f64);
            }
        }
        trajectory.turn_ends();
    }
    score.share /= scenario.turns.len() as f64;
    writer.file("trajectory.json", &trajectory.end(&course))?;
    if let Ok(mut scores) = scores.lock() {
        scores[run * size.scenarios + number] = score;
    }
    Ok(Counts { episodes: 1, turns: course.turns.len(), attempts: course.attempts(), ..writer.counts })
}

/// The agent's server: the reference, with the defects that its attempt shows.
fn agent_code(code: &mut String, chance: &mut Chance, reference: &str, outcome: &Outcome) {
    code.clear();
    code.push_str("#!/usr/bin/env python3\n");
    let missing = match outcome {
        Outcome::Passed => 0,
        Outcome::Failed(failing) | Outcome::TimedOut(failing) => failing.len(),
        Outcome::Down | Outcome::Error(..) => 1,
    };
    let lines = reference.lines().count();
    let gaps: Vec<usize> = (0..missing).map(|_| chance.between(3, lines.max(4))).collect();
    for (number, line) in reference.lines().enumerate().skip(1) {
        if gaps.contains(&number) && line.starts_with("rule(") {
            code.push_str("# TODO: ");
        }
        code.push_str(line);
        code.push('\n');
    }
    code.push_str("\nif __name__ == \"__main__\":\n    app.run()\n");
}

/// Writes `config.yaml` and `report.json`.
fn run_files(folder: &Path, run: usize, size: Size, scores: &[Score]) -> io::Result<Counts> {
    let (model, _) = size.model(run);
    let (harness, version, _) = size.harness(run);
    let (scenarios, turns) = (size.scenarios, size.turns);
    let config = format!(
        "agent: {}\nbenchmark: RESTFUL_SERVER_GEN_ITERATIVE\noutput_dir: /home/bench/results/{}\nuse_docker: true\nbatch_size: 5\nquick_debug: false\nscenarios_dir: null\nrestful_server_gen_iterative:\n  n_scenarios: {scenarios}\n  n_turns: {turns}\n  num_changes_per_turn: 2\n  attempt_limit: {ATTEMPT_LIMIT}\n  base_seed: {}\n  enable_feedback: true\n  test_fail_feedback_type: DETAILED\n  use_llm_sampler: false\n  execute_episodes: null\n{harness}:\n  model_id: synthetic/{model}\ndocker:\n  image_name: agent-benchmarking:{harness}\n  env_vars: {{}}\n",
        harness.to_uppercase(),
        size.name(run),
        size.seed,
    );
    let perfect =
        scores.iter().enumerate().filter(|(number, score)| score.passed == size.turns_of(*number)).count();
    // Chains of different lengths have no number of turns of their own.
    let planned = if size.varied { "null".to_owned() } else { turns.to_string() };
    let mut report = format!(
        "{{\n \"schema_version\": \"stamina-lab/1\",\n \"agent\": \"{harness}\",\n \"benchmark\": \"restful_server_gen_iterative\",\n \"success_rate\": {},\n \"average_score\": {},\n \"num_tasks\": {scenarios},\n \"run\": {{\"harness\": \"{harness}\", \"harness_version\": \"{version}\", \"model\": \"{model}\", \"provider\": \"synthetic\", \"runner\": \"synthesize\", \"runner_version\": \"1\", \"simulated\": true, \"planned_turns\": {planned}, \"attempt_limit\": {ATTEMPT_LIMIT}, \"started_at\": \"{}\", \"finished_at\": \"{}\"}},\n \"results\": [",
        perfect as f64 / scenarios as f64,
        scores.iter().map(|score| score.share).sum::<f64>() / scenarios as f64,
        time(BEGIN + run as u64 * 43_200),
        time(BEGIN + run as u64 * 43_200 + 40_000),
    );
    for (number, Score { share, passed, .. }) in scores.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let turns = size.turns_of(number);
        let _ = write!(
            report,
            "{comma}\n  {{\"scenario\": \"scenario_{number}\", \"score\": {share}, \"success\": {}, \"turns_passed\": {passed}, \"planned_turns\": {turns}}}",
            *passed == turns
        );
    }
    report.push_str("\n ],\n \"trajectory_summaries\": [");
    for (number, Score { attempts, .. }) in scores.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let _ =
            write!(report, "{comma}\n  {{\"scenario\": \"scenario_{number}\", \"attempts\": {attempts}}}");
    }
    report.push_str("\n ]\n}\n");
    let mut writer = Writer { root: folder.to_owned(), counts: Counts::default() };
    writer.file("config.yaml", &config)?;
    writer.file("report.json", &report)?;
    Ok(writer.counts)
}

/// Writes files below a folder and counts them.
struct Writer {
    root: PathBuf,
    counts: Counts,
}

impl Writer {
    fn new(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir(&folder)?;
        Ok(Self { root: folder, counts: Counts { folders: 1, ..Counts::default() } })
    }

    fn folder(&mut self, name: &str) -> io::Result<()> {
        self.counts.folders += 1;
        fs::create_dir(self.root.join(name))
    }

    fn file(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.count(text);
        fs::write(self.root.join(name), text)
    }

    /// A link to the same file in another folder; a file of its own where there is none, or none can be made.
    fn shared(&mut self, original: Option<&Path>, name: &str, text: &str) -> io::Result<()> {
        let linked =
            original.is_some_and(|original| fs::hard_link(original.join(name), self.root.join(name)).is_ok());
        if !linked {
            return self.file(name, text);
        }
        self.count(text);
        Ok(())
    }

    fn count(&mut self, text: &str) {
        self.counts.files += 1;
        self.counts.bytes += text.len() as u64;
    }
}
