//! Input tokens mean the same in every source: cached ones are in them, and never more of them than input.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use files::Tree;
use ingest::import::import;
use model::{CachedInput, Tokens};
use serde_json::{Value, json};
use store::{RunFilter, RunId, SourceId, Store, WarningFilter};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

struct Library {
    store: Store,
    source: SourceId,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Library {
    fn new(path: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("library.db")).unwrap();
        let source = store.put_source(&path.to_string_lossy(), "results", false).unwrap();
        let library = Self { store, source, path: path.to_owned(), _folder: folder };
        library.read();
        library
    }

    /// Gives how many parts were read.
    fn read(&self) -> u32 {
        let tree = Tree::open(&self.path).unwrap();
        let stop = AtomicBool::new(false);
        import(&tree, &self.store, self.source, &|_, _| {}, &stop).unwrap().parts_read
    }

    fn runs(&self) -> Vec<RunId> {
        self.store.list_runs(&RunFilter::default()).unwrap().rows.into_iter().map(|(_, run)| run.id).collect()
    }

    /// By scenario: tokens of the episode, and how the cached ones came into the input of its first attempt.
    fn episodes(&self) -> Vec<(String, Tokens, CachedInput)> {
        let mut all: Vec<_> = self
            .runs()
            .into_iter()
            .flat_map(|run| self.store.episodes(run).unwrap())
            .map(|episode| {
                let whole = self.store.whole_episode(episode.id).unwrap().unwrap();
                let attempt = whole.turns.iter().flat_map(|turn| &turn.attempts).next();
                (episode.scenario, episode.tokens, attempt.map(|a| a.cached_input).unwrap_or_default())
            })
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    fn codes(&self) -> Vec<String> {
        let page = self.store.warnings(self.source, &WarningFilter::default(), 0, 100).unwrap();
        page.warnings.into_iter().map(|warning| warning.code).collect()
    }
}

fn tokens(input: u64, cached: u64, output: u64) -> Tokens {
    Tokens { input: Some(input), cached: Some(cached), output: Some(output) }
}

/// A job of single-step trials of an agent; `usage` is the agent's result, `steps` the metrics of its trajectory's steps.
fn job(job_folder: &Path, agent: &str, trials: &[(&str, Value, &[Value])]) {
    for (name, usage, steps) in trials {
        let trial = job_folder.join(format!("{name}__AAAAAA1"));
        fs::create_dir_all(trial.join("agent")).unwrap();
        let config = json!({ "task": { "path": format!("tasks/{name}") }, "agent": { "name": agent, "model_name": "v/m" } });
        let result = json!({
            "id": name, "task_name": name, "trial_name": format!("{name}__AAAAAA1"), "config": config,
            "agent_result": usage, "verifier_result": { "rewards": { "reward": 1.0 } },
            "agent_execution": { "started_at": "2026-01-01T10:02:00Z", "finished_at": "2026-01-01T10:08:00Z" },
        });
        fs::write(trial.join("config.json"), config.to_string()).unwrap();
        fs::write(trial.join("result.json"), result.to_string()).unwrap();
        if !steps.is_empty() {
            let steps: Vec<Value> = steps
                .iter()
                .map(|metrics| json!({ "source": "agent", "message": "x", "metrics": metrics }))
                .collect();
            let trajectory = json!({ "schema_version": "ATIF-v1.6", "steps": steps });
            fs::write(trial.join("agent/trajectory.json"), trajectory.to_string()).unwrap();
        }
    }
    if job_folder.join("config.json").exists() {
        // What the trials share stays as it was.
        return;
    }
    let config = json!({ "job_name": "job-a", "agents": [{ "name": agent, "model_name": "v/m" }] });
    fs::write(job_folder.join("config.json"), config.to_string()).unwrap();
    fs::write(
        job_folder.join("result.json"),
        json!({ "id": "j", "n_total_trials": trials.len() }).to_string(),
    )
    .unwrap();
}

fn usage(input: u64, cached: u64, output: u64) -> Value {
    json!({ "n_input_tokens": input, "n_cache_tokens": cached, "n_output_tokens": output })
}

#[test]
fn more_cached_than_input_is_added_to_it() {
    let library = Library::new(&fixtures().join("world/cache-beside/job-a"));
    let all = library.episodes();
    assert_eq!(all[0].1, tokens(10_000, 9_000, 100));
    assert_eq!(all[1].1, tokens(2_000, 0, 100));
    let turns = library.store.episode_turns(library.runs()[0]).unwrap();
    let sum: f64 = turns.iter().map(|play| play.used.tokens.sum).sum();
    assert!((sum / 2.0 - 6_100.0).abs() < 1e-9, "{sum} tokens in two turns");
    assert_eq!(library.codes().iter().filter(|code| *code == "tokens.cache_added").count(), 1);
}

#[test]
fn one_attempt_decides_for_its_run_and_only_as_long_as_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let proof = ("a", usage(100, 900, 1), &[][..]);
    let others = [
        ("b", usage(500, 400, 1), &[][..]),
        ("c", json!({ "n_input_tokens": 5, "n_output_tokens": 1 }), &[][..]),
    ];
    job(folder.path(), "agent-a", &others);
    let library = Library::new(folder.path());
    let unknown = Tokens { input: Some(5), cached: None, output: Some(1) };
    let separate = [
        ("b".to_owned(), tokens(500, 400, 1), CachedInput::Assumed),
        ("c".to_owned(), unknown, CachedInput::Included),
    ];
    assert_eq!(library.episodes(), separate);
    assert_eq!(library.codes().iter().filter(|code| *code == "tokens.cache_unclear").count(), 1);

    job(folder.path(), "agent-a", &[proof]);
    assert_eq!(library.read(), 1, "the others are not read again");
    let all = library.episodes();
    assert_eq!(all[0], ("a".to_owned(), tokens(1_000, 900, 1), CachedInput::Added));
    assert_eq!(all[1], ("b".to_owned(), tokens(900, 400, 1), CachedInput::AddedByRun));
    assert_eq!(all[2], separate[1]);
    let used = |library: &Library| -> f64 {
        let turns = library.store.episode_turns(library.runs()[0]).unwrap();
        turns.iter().map(|play| play.used.tokens.sum).sum()
    };
    assert!((used(&library) - (1_001.0 + 901.0 + 6.0)).abs() < 1e-9, "{}", used(&library));
    library.read();
    assert_eq!(library.episodes(), all, "reading again adds nothing twice");

    fs::remove_dir_all(folder.path().join("a__AAAAAA1")).unwrap();
    library.read();
    assert_eq!(library.episodes(), separate);
    assert!((used(&library) - 507.0).abs() < 1e-9, "{}", used(&library));
}

/// `cline` left cached tokens out before Harbor 0.13. That is known of the version, and no proof for runs of a later one.
#[test]
fn what_is_known_of_one_version_of_harbor_says_nothing_of_another() {
    let folder = tempfile::tempdir().unwrap();
    for (trial, harbor, input) in [("a", "0.5.0", 1_000), ("b", "0.14.0", 1_000), ("c", "0.5.1", 100)] {
        let job_folder = folder.path().join(format!("job-{trial}"));
        job(&job_folder, "cline-cli", &[(trial, usage(input, 200, 10), &[])]);
        fs::write(job_folder.join("lock.json"), json!({ "harbor": { "version": harbor } }).to_string())
            .unwrap();
    }
    let library = Library::new(folder.path());
    let inputs: Vec<(String, Tokens)> =
        library.episodes().into_iter().map(|(name, tokens, _)| (name, tokens)).collect();
    let right = [("a", 1_200), ("b", 1_000), ("c", 300)];
    assert_eq!(inputs, right.map(|(name, input)| (name.to_owned(), tokens(input, 200, 10))));
}

#[test]
fn a_single_step_of_a_trajectory_proves_it() {
    let metrics = |prompt: u64, cached: u64| json!({ "prompt_tokens": prompt, "cached_tokens": cached, "completion_tokens": 2 });
    let steps = [metrics(1_000, 0), metrics(50, 980)];
    let folder = tempfile::tempdir().unwrap();
    let no_tokens = json!({ "n_input_tokens": 0, "n_cache_tokens": 0, "n_output_tokens": 0 });
    let trials = [
        ("a", usage(1_050, 980, 4), &steps[..]),
        ("b", no_tokens.clone(), &steps[..]),
        ("c", no_tokens, &[json!({})][..]),
        ("d", usage(0, 0, 7), &[][..]),
    ];
    job(folder.path(), "codex", &trials);
    let all = Library::new(folder.path()).episodes();
    assert_eq!(all[0].1, tokens(2_030, 980, 4));
    assert_eq!(all[1].1, tokens(2_030, 980, 4), "where the result counts nothing, the steps do");
    assert_eq!(all[2].1, Tokens::default(), "a log that counts nothing is not 0 tokens");
    assert_eq!(all[3].1, Tokens { input: None, cached: None, output: Some(7) }, "a part of nothing");
}

/// Every source that lies here, whatever made it.
#[test]
fn nowhere_are_more_cached_than_input_tokens() {
    let mut checked = 0;
    for format in ["harbor", "staminabench", "evocode", "world"] {
        for entry in fs::read_dir(fixtures().join(format)).unwrap() {
            let path = entry.unwrap().path();
            if !path.is_dir() {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(&folder.path().join("library.db")).unwrap();
            let source = store.put_source(&path.to_string_lossy(), "results", false).unwrap();
            let stop = AtomicBool::new(false);
            if import(&Tree::open(&path).unwrap(), &store, source, &|_, _| {}, &stop).is_err() {
                continue;
            }
            for (_, run) in store.list_runs(&RunFilter::default()).unwrap().rows {
                for episode in store.episodes(run.id).unwrap() {
                    assert!(!episode.tokens.cache_exceeds_input(), "{}: {episode:?}", path.display());
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 20, "{checked}");
}

/// A folder of StaminaBench whose scenarios give tokens for the whole of them alone.
fn scenarios(run_folder: &Path, usages: &[(u32, [u64; 3])]) {
    for (number, [input, cached, output]) in usages {
        let folder = run_folder.join(format!("scenario_{number}"));
        fs::create_dir_all(&folder).unwrap();
        let trajectory = json!({
            "turns": [{ "turn": 1, "attempts": [{ "attempt": 1, "success": true, "passed": 3, "total": 3 }] }],
            "usage": { "prompt_tokens": input, "cached_tokens": cached, "completion_tokens": output },
        });
        fs::write(folder.join("trajectory.json"), trajectory.to_string()).unwrap();
    }
}

#[test]
fn totals_of_whole_episodes_follow_the_decision_of_their_run() {
    let folder = tempfile::tempdir().unwrap();
    scenarios(folder.path(), &[(1, [500, 400, 1]), (2, [30, 0, 1])]);
    let library = Library::new(folder.path());
    let tokens_of =
        |library: &Library| -> Vec<Tokens> { library.episodes().into_iter().map(|(_, t, _)| t).collect() };
    let used = |library: &Library| -> f64 {
        library.store.episode_turns(library.runs()[0]).unwrap().iter().map(|play| play.used.tokens.sum).sum()
    };
    assert_eq!(tokens_of(&library), [tokens(500, 400, 1), tokens(30, 0, 1)]);
    assert!((used(&library) - 532.0).abs() < 1e-9, "{}", used(&library));

    scenarios(folder.path(), &[(0, [100, 900, 1])]);
    assert_eq!(library.read(), 1, "the others are not read again");
    let proven = [tokens(1_000, 900, 1), tokens(900, 400, 1), tokens(30, 0, 1)];
    assert_eq!(tokens_of(&library), proven);
    assert!((used(&library) - 1_933.0).abs() < 1e-9, "{}", used(&library));
    assert_eq!(library.codes().iter().filter(|code| *code == "tokens.cache_added").count(), 1);
    library.read();
    assert_eq!(tokens_of(&library), proven, "reading again adds nothing twice");

    fs::remove_dir_all(folder.path().join("scenario_0")).unwrap();
    library.read();
    assert_eq!(tokens_of(&library), [tokens(500, 400, 1), tokens(30, 0, 1)]);
    assert!((used(&library) - 532.0).abs() < 1e-9, "{}", used(&library));
}

#[test]
fn a_table_with_more_cached_than_input_tokens_is_made_whole() {
    let folder = tempfile::tempdir().unwrap();
    let table = "run,harness,model,scenario,turn,attempt,passed,tokens_in,tokens_cached,tokens_out\n\
                 r,h,m,a,1,1,1,100,900,1\n\
                 r,h,m,b,1,1,1,500,400,1\n\
                 again,h,m,c,1,1,1,500,400,1\n\
                 other,h2,m,a,1,1,1,500,400,1\n";
    fs::write(folder.path().join("t.csv"), table).unwrap();
    let library = Library::new(folder.path());
    let mut all: Vec<(String, Tokens)> = library.episodes().into_iter().map(|(s, t, _)| (s, t)).collect();
    all.sort_by_key(|(scenario, tokens)| (scenario.clone(), tokens.input));
    // What a run proves of its harness and model holds for all runs of these, and for no other.
    let right = [
        ("a", tokens(500, 400, 1)),
        ("a", tokens(1_000, 900, 1)),
        ("b", tokens(900, 400, 1)),
        ("c", tokens(900, 400, 1)),
    ];
    assert_eq!(all, right.map(|(scenario, tokens)| (scenario.to_owned(), tokens)));
    assert_eq!(library.codes(), ["tokens.cache_added"]);
}
