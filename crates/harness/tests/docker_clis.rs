//! The real programs in their images, with the simulated model behind the gateway: turns of one session each, and each kind of
//! failure.
//!
//! `STAMINA_HARNESSES` (names with commas) selects harnesses. Without it, all harnesses with an image are tested. A session has
//! three turns: one that begins it, one that continues it, and one that continues what was continued (with Qwen Code, which takes
//! long to start, two); where `STAMINA_EVERY_WAY` is set (`npm run test:deep`) five. Failures that `docker_ends.rs` of the runner meets
//! with the same harness in `npm test` are met here, too, where that variable is set.
//! `STAMINA_OUTPUT` names a folder for their complete output and their HOME.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "an engine that refuses is a failure; the test prints notes"
)]

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway::simulated_model::{Ability, FaultInjection, Feedback, SimulatedModel, Task};
use gateway::{AttemptKey, AttemptSummary, Budgets, Gateway, Retry, Settings, Spent, Upstream};
use harness::{Call, CommandEnd, Endpoint, Exit, Harness, Outcome, Session};
use model::EndReason as R;
use scenario::Seed;
use scenario::change::{Change, apply, next_turn};
use scenario::ir::Schema;
use scenario::sample::{ProgrammaticSampler, Sampler as _};

const ID: &str = "0f0e0d0c-0b0a-4908-8706-050403020100";
const OWNER: u32 = 1000;
/// Seconds for a call that ends without a limit. A busy machine must not make it fail.
const PATIENCE: u64 = 900;

type Turns = Arc<Vec<(Arc<Schema>, Vec<Change>)>>;

fn turns(count: usize) -> Turns {
    let seed = Seed { base: 3, scenario: 0 };
    let mut turns = vec![(Arc::new(ProgrammaticSampler.first_schema(seed).unwrap().value), Vec::new())];
    while turns.len() < count {
        let before = Arc::clone(&turns[turns.len() - 1].0);
        let changes = ProgrammaticSampler.next_turn(seed, &before, 3).unwrap().value.changes;
        let schema =
            changes.iter().fold(next_turn(&before), |schema, change| apply(&schema, change).unwrap());
        turns.push((Arc::new(schema), changes));
    }
    Arc::new(turns)
}

fn docker(args: &[&str]) -> String {
    let out = Command::new("docker").args(args).stdin(Stdio::null()).output().unwrap();
    assert!(out.status.success(), "docker {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

/// The harnesses to test.
fn chosen_harnesses() -> Vec<&'static dyn Harness> {
    let wanted = std::env::var("STAMINA_HARNESSES").unwrap_or_default();
    let images = docker(&["images", "--format", "{{.Repository}}:{{.Tag}}"]);
    let chosen: Vec<_> = harness::all()
        .iter()
        .copied()
        .filter(|h| match wanted.as_str() {
            "" => images.lines().any(|image| image == h.image()),
            names => names.split(',').any(|name| name == h.name()),
        })
        .collect();
    assert!(!chosen.is_empty(), "there is no image of a harness; build some: stamina images build");
    chosen
}

/// An internal network for this test, like that of a run.
struct Network(String);

impl Network {
    fn new() -> (Self, SocketAddr) {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("stamina-clis-{}-{number}", std::process::id());
        docker(&["network", "create", "--internal", &name]);
        let host = docker(&["network", "inspect", "-f", "{{(index .IPAM.Config 0).Gateway}}", &name]);
        (Self(name), SocketAddr::new(host.parse().unwrap(), 0))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = Command::new("docker").args(["network", "rm", &self.0]).output();
    }
}

/// An episode of one harness.
struct Episode {
    harness: &'static dyn Harness,
    network: String,
    folder: tempfile::TempDir,
    session: Option<Session>,
    turns: Turns,
}

struct Played {
    outcome: Outcome,
    summary: AttemptSummary,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Episode {
    fn new(harness: &'static dyn Harness, network: &Network, turns: &Turns) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "workspace"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        give_to_owner(folder.path());
        Self { harness, network: network.0.clone(), folder, session: None, turns: Arc::clone(turns) }
    }

    async fn call(
        &mut self,
        gateway: &Gateway,
        turn: u32,
        attempt: u32,
        prompt: &str,
        seconds: u64,
    ) -> Played {
        let key = AttemptKey { episode: "scenario_0".into(), turn, attempt };
        let task = Task {
            scenario: 0,
            turn,
            attempt,
            turns: Arc::clone(&self.turns),
            attempts_before: Vec::new(),
            feedback: Feedback::default(),
            solution: None,
        };
        let opened = gateway.open(key, Some(task));
        let endpoint = Endpoint {
            base_url: opened.base_url(0),
            key: opened.key().to_owned(),
            model: "oracle/model-1".into(),
            context_window: 131_072,
        };
        let before = self.workspace();
        let call = Call {
            turn,
            attempt,
            prompt,
            session: self.session.as_ref(),
            earlier: None,
            session_id: ID,
            endpoint: &endpoint,
            seconds,
            home: harness::HOME,
            workspace: harness::WORKSPACE,
        };
        let invocation = self.harness.invocation(&call).unwrap();
        let home = self.folder.path().join("home");
        for file in &invocation.files {
            let path = home.join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &file.text).unwrap();
        }
        give_to_owner(self.folder.path());
        let mount = |name: &str, mount_point: &str| {
            format!("{}:{mount_point}", self.folder.path().join(name).display())
        };
        let mut run = Command::new("docker");
        run.args(["run", "--rm", "--init", "--cap-drop=ALL", "--security-opt=no-new-privileges"])
            .args(["--network", &self.network, "-u", &format!("{OWNER}:{OWNER}"), "-w", harness::WORKSPACE])
            .args(["-v", &mount("home", harness::HOME), "-v", &mount("workspace", harness::WORKSPACE)])
            .args(["-e", &format!("HOME={}", harness::HOME)]);
        for (name, value) in &invocation.env {
            run.args(["-e", &format!("{name}={value}")]);
        }
        run.arg(self.harness.image())
            .args(["timeout", "--preserve-status", "-k", "15", &seconds.to_string()])
            .args(&invocation.argv)
            .stdin(Stdio::null());
        let began = Instant::now();
        let out = tokio::task::spawn_blocking(move || run.output().unwrap()).await.unwrap();
        give_to_owner(self.folder.path());
        let recorded = opened.close();
        let tree = files::Tree::open(&home).unwrap();
        let ended = CommandEnd {
            exit: Exit {
                code: out.status.code().map(i64::from),
                timed_out: began.elapsed() >= Duration::from_secs(seconds)
                    && matches!(out.status.code(), Some(137 | 143)),
                ..Exit::default()
            },
            stdout: &out.stdout,
            stderr: &out.stderr,
            home: &tree,
            model_requests: Some(recorded.records.len() as u32),
            changed: self.workspace() != before,
            worked: false,
        };
        let outcome = self.harness.outcome(&call, &ended);
        if let Some(folder) = std::env::var_os("STAMINA_OUTPUT") {
            let base = Path::new(&folder).join(self.harness.name());
            std::fs::create_dir_all(&base).unwrap();
            std::fs::write(base.join(format!("{turn}-{attempt}.stdout")), &out.stdout).unwrap();
            std::fs::write(base.join(format!("{turn}-{attempt}.stderr")), &out.stderr).unwrap();
            let report = format!(
                "{:?}\n{ended}\n{outcome:#?}\n{recorded:#?}\n",
                out.status,
                ended = began.elapsed().as_secs_f32()
            );
            std::fs::write(base.join(format!("{turn}-{attempt}.outcome")), report).unwrap();
            let kept = base.join(format!("{turn}-{attempt}.home"));
            assert!(Command::new("cp").arg("-a").args([&home, &kept]).status().unwrap().success());
        }
        self.session.clone_from(&outcome.session);
        Played { outcome, summary: recorded, stdout: out.stdout, stderr: out.stderr }
    }

    fn workspace(&self) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = std::fs::read_dir(self.folder.path().join("workspace"))
            .unwrap()
            .map(Result::unwrap)
            .filter(|e| e.file_type().unwrap().is_file())
            .map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).unwrap()))
            .collect();
        files.sort();
        files
    }
}

fn give_to_owner(folder: &Path) {
    let owner = format!("{OWNER}:{OWNER}");
    assert!(Command::new("chown").args(["-R", &owner]).arg(folder).status().unwrap().success());
}

async fn oracle(listen: SocketAddr, faults: FaultInjection) -> Gateway {
    let ability = Ability { fault_injection: faults, ..Ability::default() };
    let settings = Settings {
        upstream: Upstream::Simulated(Arc::new(SimulatedModel::new(ability))),
        routes: Vec::new(),
        hosted_tools: false,
        is_run_answered: false,
        price: None,
        budgets: Budgets::default(),
        retry: Retry::default(),
        spent: Spent::default(),
        episodes: std::collections::BTreeMap::new(),
        hidden: Vec::new(),
        log: None,
    };
    Gateway::start(&[listen], settings).await.unwrap()
}

fn report(played: &Played) -> String {
    format!(
        "{:?} {:?}\n{}\n{}",
        played.outcome.end,
        played.outcome.message,
        String::from_utf8_lossy(&played.stdout),
        String::from_utf8_lossy(&played.stderr)
    )
}

/// Two tests for each harness, because they share nothing and each takes minutes; and the names of all of them.
macro_rules! harness_tests {
    ($($name:literal: $turns:ident, $wrong:ident;)*) => {
        const TRIED: &[&str] = &[$($name),*];
        $(
            #[tokio::test(flavor = "multi_thread")]
            #[ignore = "needs a container engine"]
            async fn $turns() {
                if let Some(harness) = selected_harness($name) {
                    completes_turns(harness).await;
                }
            }

            #[tokio::test(flavor = "multi_thread")]
            #[ignore = "needs a container engine"]
            async fn $wrong() {
                if let Some(harness) = selected_harness($name) {
                    fails_in_each_way(harness).await;
                }
            }
        )*
    };
}

harness_tests! {
    "mini_swe": turns_of_one_session_mini_swe, each_way_to_go_wrong_mini_swe;
    "openhands": turns_of_one_session_openhands, each_way_to_go_wrong_openhands;
    "opencode": turns_of_one_session_opencode, each_way_to_go_wrong_opencode;
    "qwen_code": turns_of_one_session_qwen_code, each_way_to_go_wrong_qwen_code;
    "kimi_cli": turns_of_one_session_kimi_cli, each_way_to_go_wrong_kimi_cli;
    "kimi_code": turns_of_one_session_kimi_code, each_way_to_go_wrong_kimi_code;
    "vibe": turns_of_one_session_vibe, each_way_to_go_wrong_vibe;
    "claude_code": turns_of_one_session_claude_code, each_way_to_go_wrong_claude_code;
    "codex": turns_of_one_session_codex, each_way_to_go_wrong_codex;
    "mock": turns_of_one_session_mock, each_way_to_go_wrong_mock;
}

/// Whether everything is tested, and not only what `npm test` has time for.
fn is_every_way() -> bool {
    std::env::var_os("STAMINA_EVERY_WAY").is_some()
}

/// Whether `npm test` meets a failure with the same harness in a whole run (`docker_ends.rs` of the runner). That of mini-swe-agent
/// which ends it in the middle stays here: its session continues after it.
fn is_met_in_a_run(name: &str, faults: &FaultInjection) -> bool {
    match name {
        "mini_swe" => faults.kill == 0.0,
        "qwen_code" => faults.malformed > 0.0 || faults.kill > 0.0,
        _ => false,
    }
}

/// The harness of a name, if it is selected.
fn selected_harness(name: &str) -> Option<&'static dyn Harness> {
    assert!(harness::all().iter().all(|known| TRIED.contains(&known.name())), "a harness is not tested here");
    let found = chosen_harnesses().into_iter().find(|harness| harness.name() == name);
    if found.is_none() {
        eprintln!("skipped: {name} is not selected");
    }
    found
}

async fn completes_turns(harness: &'static dyn Harness) {
    let (network, listen) = Network::new();
    let name = harness.name();
    let count: u32 = match name {
        _ if is_every_way() => 5,
        // mini-swe-agent plays four steps in one session in a test of the runner (`docker_harbor_tasks/same_results.rs`).
        "mini_swe" | "qwen_code" => 2,
        _ => 3,
    };
    let turns = turns(count as usize);
    let gateway = oracle(listen, FaultInjection::default()).await;
    let mut episode = Episode::new(harness, &network, &turns);
    let mut longest = 0;
    for turn in 1..=count {
        let prompt = format!("--turn {turn}: \"$(touch /workspace/evil)\" `id` 'quoted'\n\\ and so on. é");
        let began = Instant::now();
        let played = episode.call(&gateway, turn, 1, &prompt, PATIENCE).await;
        eprintln!("{name} turn {turn}: {:.1} s, {:?}", began.elapsed().as_secs_f32(), played.summary.spent);
        let outcome = &played.outcome;
        assert_eq!(outcome.end, None, "{name} turn {turn}: {}", report(&played));
        assert!(outcome.steps.iter().any(|s| !s.tool_calls.is_empty()), "{name}: {}", report(&played));
        let called = outcome.steps.iter().flat_map(|s| &s.tool_calls);
        assert!(called.clone().all(|c| c.result.is_some()), "{name}: {:?}", called.collect::<Vec<_>>());
        let files = episode.workspace();
        assert!(files.iter().any(|(file, _)| file == "server.py"), "{name} turn {turn}");
        assert!(files.iter().all(|(file, _)| file != "evil"), "{name} turn {turn}");
        // Its count of this call equals that of the gateway.
        let (reported, recorded) = (outcome.usage, played.summary.spent.tokens);
        assert_eq!(
            (reported.input, reported.output),
            (recorded.input, recorded.output),
            "{name} turn {turn}"
        );
        // The conversation continues: the first request of each turn is longer than the last one of the turn before.
        let first = played.summary.records.iter().filter_map(|r| r.tokens.input).max().unwrap();
        assert!(first > longest, "{name} turn {turn}: {first} after {longest}");
        longest = first;
        assert_eq!(outcome.session.as_ref().unwrap().calls, turn, "{name}");
    }
}

async fn fails_in_each_way(harness: &'static dyn Harness) {
    let name = harness.name();
    let (network, listen) = Network::new();
    let turns = turns(8);
    let none = FaultInjection::default();
    let table: [(FaultInjection, u64, &[R]); 5] = [
        (FaultInjection { overflow: 1.0, ..none }, PATIENCE, &[R::ContextOverflow]),
        (FaultInjection { malformed: 1.0, ..none }, PATIENCE, &[R::ToolCallFormat, R::LoopDetected]),
        (FaultInjection { give_up: 1.0, ..none }, PATIENCE, &[R::GaveUp]),
        (FaultInjection { stall: 1.0, ..none }, 30, &[R::AgentTimeout]),
        (FaultInjection { kill: 1.0, ..none }, PATIENCE, &[R::KilledItself]),
    ];
    let mut wrong = Vec::new();
    let mut episode = Episode::new(harness, &network, &turns);
    let gateway = oracle(listen, none).await;
    let played = episode.call(&gateway, 1, 1, "Build it.", PATIENCE).await;
    assert_eq!(played.outcome.end, None, "{name}: {}", report(&played));
    // The same request again: it works, and writes the same files. That is the same of any harness, and Qwen Code takes long to start.
    if is_every_way() || name != "qwen_code" {
        let played = episode.call(&gateway, 1, 2, "Look at it once more.", PATIENCE).await;
        eprintln!("{name} again: {:?} {:?}", played.outcome.end, played.outcome.message);
        if played.outcome.end != Some(R::NoChange) {
            wrong.push(format!("{name} again: {:?} {:?}", played.outcome.end, played.outcome.message));
        }
    }
    let mut turn = 1;
    for (faults, seconds, expected) in &table {
        turn += 1;
        // The mock agent has no shell to end anything with.
        let is_impossible = faults.kill > 0.0 && name == "mock";
        if is_impossible || !is_every_way() && is_met_in_a_run(name, faults) {
            continue;
        }
        let gateway = oracle(listen, *faults).await;
        let played = episode.call(&gateway, turn, 1, &format!("Change {turn}."), *seconds).await;
        eprintln!("{name} {faults:?}: {:?} {:?}", played.outcome.end, played.outcome.message);
        // These two prevent it: they refuse a pkill that would end them, and Qwen Code repairs malformed calls.
        let refused = played.outcome.end == Some(R::NoChange)
            && ((faults.kill > 0.0 && matches!(name, "claude_code" | "qwen_code"))
                || (faults.malformed > 0.0 && name == "qwen_code"));
        if !refused && !played.outcome.end.is_some_and(|end| expected.contains(&end)) {
            wrong.push(format!("{name} {faults:?}: {:?} {:?}", played.outcome.end, played.outcome.message));
        }
    }
    // After all this, the session still continues.
    let gateway = oracle(listen, none).await;
    let played = episode.call(&gateway, turn + 1, 1, "Go on.", PATIENCE).await;
    eprintln!("{name} continues: {:?} {:?}", played.outcome.end, played.outcome.message);
    if played.outcome.end.is_some() {
        wrong.push(format!("{name} does not continue: {}", report(&played)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
