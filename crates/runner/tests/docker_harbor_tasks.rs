//! Tasks of Harbor in real containers: the reference solution and nobody come to what Harbor's own jobs came to, and what an
//! agent plants is not graded. The images stand on `debian:trixie-slim`, without the packages that only Harbor's own agents
//! need, so that nothing is fetched.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ingest::format::{Format, Report};
use model::{EndReason, Episode, Turn, Verdict};
use runner::{Event, Finish, OnEvent};

mod common;
mod tasks_of_harbor;

use common::{episodes, keep};
use tasks_of_harbor::{HARNESS, REWARD, settings, task};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor")
}

/// A copy of the ten tasks, whose images need no network.
fn tasks(room: &Path) -> PathBuf {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.path().is_dir() {
                copy(&entry.path(), &target);
            } else if entry.file_name() == "Dockerfile" {
                let text = fs::read_to_string(entry.path()).unwrap();
                let kept: Vec<&str> = text.lines().filter(|line| !line.contains("apt-get")).collect();
                fs::write(target, kept.join("\n")).unwrap();
            } else {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    let to = room.join("tasks");
    copy(&fixtures().join("tasks"), &to);
    to
}

/// What an importer makes of a job of Harbor's.
fn job(name: &str) -> Vec<Episode> {
    let tree = files::Tree::open(&fixtures()).unwrap();
    let mut report = Report::default();
    let format = ingest::formats::harbor::Harbor;
    let place = format!("jobs/{name}");
    let survey = format.survey(&tree, &place, &mut report);
    let reader = format.reader(&tree, &place);
    survey
        .parts
        .iter()
        .flat_map(|part| reader.read(&tree, part, &mut report))
        .map(|read| read.episode)
        .collect()
}

/// What is compared of a step: name, verdict, reason, reward, all rewards, cases passed and in all, and how each case went.
fn facts(turn: &Turn) -> String {
    let attempt = turn.attempts.last().unwrap();
    // In the order of their names, however they were written.
    let rewards = attempt.extra.get("rewards").and_then(serde_json::Value::as_object);
    let rewards: Option<BTreeMap<_, _>> = rewards.map(|rewards| rewards.iter().collect());
    let tests: Vec<String> =
        attempt.tests.iter().map(|test| format!("{} {:?}", test.id, test.outcome)).collect();
    format!(
        "{} {:?} {:?} reward {:?} {:?} cases {:?}/{:?} {:?} {tests:?}",
        turn.extra["step"],
        attempt.verdict,
        attempt.end_reason,
        attempt.reward,
        rewards,
        attempt.passed,
        attempt.total,
        attempt.counting,
    )
}

fn by_task(episodes: &[Episode]) -> BTreeMap<String, Vec<String>> {
    // A job's reader tells the requests of steps that were not reached, too.
    let reached = |episode: &Episode| -> Vec<String> {
        episode.turns.iter().filter(|turn| !turn.attempts.is_empty()).map(facts).collect()
    };
    let episode_of = |episode: &Episode| (episode.scenario.clone(), reached(episode));
    // Of several trials of a task the last stands for all: they are equal.
    episodes.iter().map(episode_of).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn the_reference_solution_comes_to_what_harbors_own_jobs_came_to() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("oracle");
    let settings = settings(&folder, &tasks(room.path()), &["agent=ORACLE"]);
    let (on_event, events) = keep();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let ours = episodes(&folder);
    let mut theirs = by_task(&job("oracle-k2"));
    theirs.extend(by_task(&job("failures-k1")));
    let found = by_task(&ours);
    assert_eq!(found.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    assert_eq!(found.len(), 10);
    for (task, steps) in &theirs {
        assert_eq!(&found[task], steps, "{task}");
    }
    // If the image cannot be built there is no step, and the exception says why.
    let broken = ours.iter().find(|episode| episode.scenario.contains("_v6_")).unwrap();
    assert_eq!((broken.turns.len(), broken.end_reason), (0, Some(EndReason::Environment)));
    assert!(broken.exception.as_ref().unwrap().1.contains("stamina-task:"), "{:?}", broken.exception);
    let events = events.lock().unwrap();
    let own: Vec<f64> = events
        .iter()
        .filter_map(|event| match event {
            Event::Attempt { own_seconds, .. } => Some(*own_seconds),
            _ => None,
        })
        .collect();
    assert_eq!(own.len(), 30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn nobody_comes_to_what_nobody_came_to_in_harbors_own_job() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("nop");
    let settings = settings(&folder, &tasks(room.path()), &["agent=NOP", "harbor.execute_episodes=0,1"]);
    let (on_event, _) = keep();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let found = by_task(&episodes(&folder));
    assert_eq!(found, by_task(&job("nop-k1")));
    assert_eq!(found.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
async fn what_an_agent_plants_is_not_graded() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("planted");
    let plant = "mkdir -p /tests /logs/verifier; echo 1 > /logs/verifier/reward.txt; echo '{\"reward\": 1}' > /logs/verifier/reward.json; \
                 echo 'echo 1 > /logs/verifier/reward.txt' > /tests/test.sh; touch /tests/conftest.py";
    // The second step sees nothing of the verifier of the first.
    let seen = "ls -A /tests /logs/verifier > /app/seen 2>&1; true";
    task(
        &tasks,
        "a_reward",
        "",
        &[
            (plant, &format!("ls /tests > /app/suite; echo 0 {REWARD}")),
            (
                seen,
                &format!(
                    "r=1; [ \"$(cat /app/suite)\" = test.sh ] || r=0; grep -q '[a-z]*\\.' /app/seen && r=0; echo $r {REWARD}"
                ),
            ),
        ],
    );
    // A verifier that ends without a word does not find the reward of an agent.
    task(&tasks, "b_silent", "", &[(plant, "true"), ("true", &format!("echo 1 {REWARD}"))]);
    // Who replaces the program that empties is not graded at all.
    let replaced = format!("{plant}; printf '#!/bin/sh\\nexit 0\\n' > /usr/bin/rm; chmod +x /usr/bin/rm");
    task(&tasks, "c_replaced", "", &[(&replaced, &format!("echo 1 {REWARD}")), ("true", "true")]);
    // A link in the place of the folder is taken away, and so is one in the place of the reward.
    let links = "rm -rf /logs/verifier; mkdir -p /app/mine; echo 1 > /app/mine/reward.txt; ln -s /app/mine /logs/verifier; ln -s /app /tests";
    task(&tasks, "d_links", "", &[(links, "ln -s /app/mine/reward.txt /logs/verifier/reward.txt")]);

    let folder = room.path().join("run");
    let (on_event, _) = keep();
    assert_eq!(
        runner::run(settings(&folder, &tasks, &["agent=ORACLE"]), on_event).await.unwrap(),
        Finish::Finished
    );
    let verdicts: BTreeMap<String, Vec<(Verdict, Option<EndReason>)>> = episodes(&folder)
        .into_iter()
        .map(|episode| {
            let last = |turn: &Turn| {
                turn.attempts.last().map(|attempt| (attempt.verdict, attempt.end_reason)).unwrap()
            };
            (episode.scenario.clone(), episode.turns.iter().map(last).collect())
        })
        .collect();
    let failed = (Verdict::Failed, Some(EndReason::TestsFailed));
    let none = (Verdict::Error, Some(EndReason::VerifierError));
    assert_eq!(verdicts["a_reward"], [failed, (Verdict::Passed, None)]);
    assert_eq!(verdicts["b_silent"], [none]);
    assert_eq!(verdicts["c_replaced"], [(Verdict::Error, Some(EndReason::AgentError))]);
    assert_eq!(verdicts["d_links"], [none]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
async fn a_process_that_rewrites_the_verdict_is_ended_where_the_settings_ask_for_it() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("rewritten");
    // It waits for a verifier to begin and then writes until it is ended.
    let rewriter =
        "while :; do [ ! -e /logs/verifier/began ] || echo 1 > /logs/verifier/reward.txt; sleep 0.02; done";
    let leave =
        format!("echo '{rewriter}' > /app/rewriter.sh; nohup bash /app/rewriter.sh >/dev/null 2>&1 & true");
    // Where the process runs, the verifier waits until it has written: what is read then is not by chance.
    let alive = "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -q '^bash /app/rewriter.sh' && echo alive; done";
    let judge = format!(
        "echo 0 {REWARD}; touch /logs/verifier/began; if [ -n \"$({alive})\" ]; then while ! grep -q 1 /logs/verifier/reward.txt; do sleep 0.02; done; fi"
    );
    let files_stay = format!("[ -e /app/rewriter.sh ] && echo 1 {REWARD} || echo 0 {REWARD}");
    task(&tasks, "whole", "", &[(&leave, &judge), ("true", &files_stay)]);
    for (background, first) in [("end", Verdict::Failed), ("keep", Verdict::Passed)] {
        let folder = room.path().join(background);
        let settings =
            settings(&folder, &tasks, &["agent=ORACLE", &format!("harbor.background={background}")]);
        let (on_event, _) = keep();
        assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
        let episode = episodes(&folder).remove(0);
        let verdicts: Vec<Verdict> = episode.turns.iter().map(|turn| turn.attempts[0].verdict).collect();
        assert_eq!(verdicts, [first, Verdict::Passed], "{background}");
        let config = fs::read_to_string(folder.join("config.yaml")).unwrap();
        assert!(config.contains(&format!("background: {background}")), "{config}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_container_stays_for_its_trial_and_every_part_of_a_step_has_its_place() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("kept");
    let toml = "artifacts = [\"/app/kept\", { source = \"/app/one.txt\", destination = \"named.txt\" }]\n\
                [environment]\nmemory_mb = 256\n[environment.env]\nGREETING = \"hello\"\nOTHER = \"${NOT_SET_ANYWHERE:-fallback}\"\n\
                [environment.healthcheck]\ncommand = \"test -d /app\"\n[solution.env]\nSOLVES = \"yes\"\n[verifier.env]\nJUDGES = \"yes\"\n\
                [[steps]]\nname = \"s0\"\n[[steps]]\nname = \"s1\"\nmin_reward = { style = 0.5 }\n[[steps]]\nname = \"s2\"\n";
    let first = "[ \"$SOLVES$GREETING$OTHER\" = yeshellofallback ] && [ -e laid.txt ] && [ -e set-up ] && pwd > /app/where; \
                 mkdir -p kept/deep; echo x > kept/deep/file; echo 1 > one.txt; echo public > /logs/artifacts/note; \
                 nohup sleep 300 >/dev/null 2>&1 & true";
    let judged = format!(
        "id -u; cat /app/where; r=0; [ \"$JUDGES$(cat /app/where)$(id -u)\" = yes/app0 ] && [ -x /tests/shared.sh ] && r=1; echo $r {REWARD}"
    );
    let second = "r=0; for p in /proc/[0-9]*; do [ \"$(tr -d '\\0' < $p/cmdline 2>/dev/null)\" = sleep300 ] && r=1; done; \
                  echo \"{\\\"reward\\\": $r, \\\"style\\\": 0.25}\" > /logs/verifier/reward.json";
    task(&tasks, "whole", toml, &[(first, &judged), ("true", second), ("true", "true")]);
    let put = |path: &str, text: &str| {
        let path = tasks.join("whole").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("tests/shared.sh", "#!/bin/sh\n");
    put("steps/s0/workdir/laid.txt", "x");
    put("steps/s0/workdir/setup.sh", "touch set-up\n");
    // Its set-up fails: no agent, no verifier, no further step.
    task(&tasks, "unready", "", &[("touch /app/x", &format!("echo 1 {REWARD}")), ("true", "true")]);
    let at = tasks.join("unready/steps/s0/workdir");
    fs::create_dir_all(&at).unwrap();
    fs::write(at.join("setup.sh"), "echo no >&2; exit 3\n").unwrap();
    // It needs a GPU, and is not played; the others are.
    task(&tasks, "gpu", "[environment]\ngpus = 1\n", &[("true", "true")]);

    let folder = room.path().join("run");
    let (on_event, _) = keep();
    assert_eq!(
        runner::run(settings(&folder, &tasks, &["agent=ORACLE"]), on_event).await.unwrap(),
        Finish::Finished
    );
    let episodes = episodes(&folder);
    let episode_of = |name: &str| episodes.iter().find(|episode| episode.scenario == name).unwrap();
    let whole = episode_of("whole");
    let verdicts: Vec<Verdict> = whole.turns.iter().map(|turn| turn.attempts[0].verdict).collect();
    assert_eq!(verdicts, [Verdict::Passed, Verdict::Passed], "{:?}", whole.turns);
    assert_eq!(whole.planned_turns, Some(3), "a reward under its least ends the chain");
    let kept = |path: &str| fs::read_to_string(folder.join(format!("scenario_2/artifacts/turn_1/{path}")));
    assert_eq!(kept("artifacts/app/kept/deep/file").unwrap(), "x\n");
    assert_eq!(kept("artifacts/named.txt").unwrap(), "1\n");
    assert_eq!(kept("artifacts/note").unwrap(), "public\n");
    let unready = episode_of("unready");
    assert_eq!(unready.turns.len(), 1);
    let attempt = &unready.turns[0].attempts[0];
    assert_eq!(attempt.end_reason, Some(EndReason::Environment));
    let message = &attempt.exception.as_ref().unwrap().1;
    assert!(message.contains("code 3") && message.contains("no"), "{message}");
    assert_eq!(episodes.len(), 2);
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join("report.json")).unwrap()).unwrap();
    assert!(report["run"]["tasks_refused"]["gpu"][0].as_str().unwrap().contains("GPU"), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn an_agent_out_of_time_can_end_its_trial_ungraded() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("late");
    let toml = "[[steps]]\nname = \"s0\"\n[steps.agent]\ntimeout_sec = 1\n[[steps]]\nname = \"s1\"\n";
    task(
        &tasks,
        "late",
        toml,
        &[("sleep 60", &format!("echo 1 {REWARD}")), ("true", &format!("echo 1 {REWARD}"))],
    );
    for (timeout, steps, passed) in [("stop", 1, 0), ("graded", 2, 2)] {
        let folder = room.path().join(timeout);
        let (on_event, _) = keep();
        let settings = settings(&folder, &tasks, &["agent=ORACLE", &format!("harbor.timeout={timeout}")]);
        assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
        let episode = episodes(&folder).remove(0);
        assert_eq!((episode.turns.len(), episode.stamina()), (steps, passed), "{timeout}");
        if timeout == "stop" {
            assert_eq!(episode.turns[0].attempts[0].end_reason, Some(EndReason::AgentTimeout));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_trial_that_was_stopped_is_played_again_from_its_first_step() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("stopped");
    // A second pass over the first step would find what the first pass left.
    let first = format!("r=1; [ -e /app/first ] && r=0; touch /app/first; echo $r {REWARD}");
    let second = format!("r=0; [ -e /app/first ] && r=1; echo $r {REWARD}");
    task(&tasks, "stopped", "", &[("true", &first), ("sleep 2", &second)]);
    let folder = room.path().join("run");
    let at = folder.clone();
    let stop_at_first: OnEvent = Arc::new(move |event| {
        if matches!(event, Event::Attempt { .. }) {
            let control_request = runner::control::ControlRequest { stop: true, ..Default::default() };
            runner::control::write(&at, &control_request).unwrap();
        }
    });
    let settings = settings(&folder, &tasks, &["agent=ORACLE"]);
    assert_eq!(runner::run(settings, stop_at_first).await.unwrap(), Finish::Stopped);
    assert_eq!(episodes(&folder)[0].turns.len(), 1);
    let (on_event, events) = keep();
    let looked_at = runner::origin::identity(&folder).unwrap();
    let finished = runner::resume(folder.clone(), Vec::new(), looked_at, on_event).await.unwrap();
    assert_eq!(finished, Finish::Finished);
    let episode = episodes(&folder).remove(0);
    assert_eq!((episode.turns.len(), episode.stamina()), (2, 2), "{:?}", episode.turns);
    let turns = events.lock().unwrap().iter().filter(|event| matches!(event, Event::Turn { .. })).count();
    assert_eq!(turns, 2, "both steps were played by the resume");
    // One whose tasks have changed since is another run.
    fs::write(tasks.join("stopped/steps/s0/instruction.md"), "Something else.").unwrap();
    let looked_at = runner::origin::identity(&folder).unwrap();
    let (on_event, _) = keep();
    assert!(runner::resume(folder, Vec::new(), looked_at, on_event).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn what_a_player_breaks_counts_and_what_was_broken_before_does_not() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("broken");
    let passes = format!("echo 1 {REWARD}");
    let put = |path: &str, text: &str| {
        let path = tasks.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    // It ends all there is in its container.
    task(&tasks, "a_killed", "", &[("kill -9 -1", &passes), ("true", &passes)]);
    // The set-up of the second step finds what it left.
    task(&tasks, "b_set_up", "", &[("touch /app/broken", &passes), ("true", &passes)]);
    put("b_set_up/steps/s1/workdir/setup.sh", "[ ! -e /app/broken ]\n");
    let health = "[[steps]]\nname = \"s0\"\n[[steps]]\nname = \"s1\"\n[steps.healthcheck]\ncommand = \"[ ! -e /app/broken ]\"\n\
                  retries = 1\n";
    task(&tasks, "c_health", health, &[("touch /app/broken", &passes), ("true", &passes)]);
    // Its set-up fails before anybody has worked.
    task(&tasks, "d_unready", "", &[("true", &passes)]);
    put("d_unready/steps/s0/workdir/setup.sh", "exit 1\n");
    let folder = room.path().join("run");
    let (on_event, _) = keep();
    assert_eq!(
        runner::run(settings(&folder, &tasks, &["agent=ORACLE"]), on_event).await.unwrap(),
        Finish::Finished
    );
    let ends: BTreeMap<String, Option<EndReason>> = episodes(&folder)
        .into_iter()
        .map(|episode| {
            let attempt = episode.turns.last().and_then(|turn| turn.attempts.last());
            let reason = attempt.and_then(|attempt| attempt.end_reason).or(episode.end_reason);
            (episode.scenario.clone(), reason)
        })
        .collect();
    assert_eq!(ends["a_killed"], Some(EndReason::KilledItself));
    assert_eq!(ends["b_set_up"], Some(EndReason::AgentError));
    assert_eq!(ends["c_health"], Some(EndReason::AgentError));
    assert_eq!(ends["d_unready"], Some(EndReason::Environment));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_step_that_leaves_a_lot_or_prints_all_the_time_is_graded_as_any_other() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("much");
    let much = |at: &str| format!("head -c 70000000 /dev/zero > {at}");
    // What is first in the folder is more than is taken out.
    task(&tasks, "a_verifier", "", &[("true", &format!("{}; echo 1 {REWARD}", much("/logs/verifier/a")))]);
    let artifacts = format!("echo first > /logs/artifacts/a; {}", much("/logs/artifacts/b"));
    let second = "echo second > /logs/artifacts/c";
    let passes = format!("echo 1 {REWARD}");
    task(&tasks, "b_artifacts", "", &[(&artifacts, &passes), (second, &passes)]);
    // It has the output of a command that has ended, and writes to it oftener than the command is looked at.
    let chatty = "(while true; do echo x; sleep 0.002; done) & true";
    let in_time = "[[steps]]\nname = \"s0\"\n[steps.agent]\ntimeout_sec = 20\n";
    task(&tasks, "c_chatty", in_time, &[(chatty, &passes)]);
    // A link in the place of the working folder stays one, and so do owner and mode of what it leads to.
    let linked = "[environment]\nworkdir = \"/work\"\n[[steps]]\nname = \"s0\"\n";
    let stays = format!(
        "[ -L /work ] && [ \"$(stat -c %a /app)\" = 700 ] && [ -e /app/laid.txt ] && echo 1 {REWARD}"
    );
    task(&tasks, "d_linked", linked, &[("true", &stays)]);
    let put = |path: &str, text: &str| {
        let path = tasks.join("d_linked").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put(
        "environment/Dockerfile",
        "FROM debian:trixie-slim\nWORKDIR /app\nRUN chmod 700 /app && ln -s /app /work\n",
    );
    put("steps/s0/workdir/laid.txt", "x");
    let folder = room.path().join("run");
    let (on_event, _) = keep();
    assert_eq!(
        runner::run(settings(&folder, &tasks, &["agent=ORACLE"]), on_event).await.unwrap(),
        Finish::Finished
    );
    let found = episodes(&folder);
    let episode_of = |name: &str| found.iter().find(|episode| episode.scenario == name).unwrap();
    for (name, steps) in [("a_verifier", 1), ("b_artifacts", 2), ("c_chatty", 1), ("d_linked", 1)] {
        let turns = &episode_of(name).turns;
        assert_eq!(turns.len(), steps, "{name}: {turns:?}");
        assert!(turns.iter().all(|turn| turn.attempts[0].verdict == Verdict::Passed), "{name}: {turns:?}");
    }
    let agent_end = episode_of("c_chatty").turns[0].attempts[0].extra.get("agent_end");
    assert_eq!(agent_end, None, "it ended in time");
    let left_out = |name: &str| episode_of(name).turns[0].attempts[0].extra.get("left_out").cloned();
    assert_eq!(left_out("a_verifier"), Some(serde_json::json!(["/logs/verifier"])));
    assert_eq!(left_out("b_artifacts"), Some(serde_json::json!(["/logs/artifacts"])));
    // The second step keeps its own artifacts only.
    let kept = folder.join("scenario_1/artifacts/turn_2/artifacts");
    let names: Vec<_> = fs::read_dir(kept).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["c"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_harness_with_the_simulated_model_comes_to_what_the_reference_solution_comes_to() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("harness");
    // The first and the last of the fixtures with failing steps, and one that passes: no time limit is reached in them.
    let more = [&HARNESS[..], &["harbor.execute_episodes=0,2,9"]].concat();
    let settings = settings(&folder, &tasks(room.path()), &more);
    let (on_event, events) = keep();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let ours = episodes(&folder);
    let mut theirs = by_task(&job("oracle-k2"));
    theirs.extend(by_task(&job("failures-k1")));
    let found = by_task(&ours);
    assert_eq!(found.len(), 3);
    for (task, steps) in &found {
        assert_eq!(steps, &theirs[task], "{task}");
    }
    for turn in ours.iter().flat_map(|episode| &episode.turns) {
        let attempt = &turn.attempts[0];
        assert!(attempt.tokens.input.is_some_and(|tokens| tokens > 0), "the gateway counted: {attempt:?}");
        assert!(attempt.tool_calls.is_some_and(|calls| calls > 1), "{attempt:?}");
        assert!(!attempt.extra.contains_key("session_restarted"), "{attempt:?}");
    }
    // The request is the instruction and nothing else.
    let transcript = fs::read_to_string(folder.join("scenario_0/transcripts/turn_2_attempt_1.json")).unwrap();
    assert!(!transcript.contains("## Your environment"), "{transcript}");
    let events = events.lock().unwrap();
    let simulated = events.iter().any(|event| matches!(event, Event::Started { simulated: true, .. }));
    assert!(simulated, "the run is shown as simulated");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_trial_that_the_endpoint_ends_is_counted_as_lost_to_it() {
    let room = tempfile::tempdir().unwrap();
    let (tasks, folder) = (room.path().join("tasks"), room.path().join("run"));
    task(&tasks, "refused", "", &[("true", &format!("echo 1 {REWARD}"))]);
    let mut settings = settings(&folder, &tasks, &HARNESS);
    let base_url = common::refuses("400 Bad Request", r#"{"error":{"message":"unknown field"}}"#);
    settings.endpoint =
        runner::settings::EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    let (on_event, _) = keep();
    let finish = runner::run(settings, on_event).await.unwrap();
    assert!(matches!(finish, Finish::Failed { .. }), "{finish:?}");
    assert_eq!(episodes(&folder)[0].end_reason, Some(EndReason::Endpoint));
    let counts = runner::live::read(&folder).unwrap().endpoint;
    assert_eq!(counts, Some(runner::EndpointAttempts { retried: 0, lost: 1 }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
async fn a_harness_reaches_its_gateway_and_replaces_nothing_of_a_tasks_image() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("tasks");
    // Its agent has no network but the loopback, and no Python or Node of Stamina Lab among its programs.
    let looks = "ls /sys/class/net > net; command -v python3 node > programs; echo \"$HOME\" > home; id -u >> home; true";
    let judged = format!(
        "cd /app; r=1; [ \"$(cat net)\" = lo ] || r=0; [ -s programs ] && r=0; [ \"$(cat home)\" = \"$(printf '/agent\\n1234')\" ] || r=0; echo $r {REWARD}"
    );
    let toml = "[agent]\nuser = \"someone\"\n[[steps]]\nname = \"s0\"\n[[steps]]\nname = \"s1\"\n";
    task(&tasks, "a_whole", toml, &[(looks, &judged), ("test -e /app/net", &judged)]);
    let recipe =
        "FROM debian:trixie-slim\nRUN useradd --uid 1234 someone && mkdir -m 777 /app\nWORKDIR /app\n";
    fs::write(tasks.join("a_whole/environment/Dockerfile"), recipe).unwrap();
    // Where it does not start the loader of musl says why, and nothing is asked for it; where it starts it says nothing.
    let passes = format!("echo 1 {REWARD}");
    let broken =
        "[environment.env]\nPYTHONHOME = \"/nowhere\"\n[[steps]]\nname = \"s0\"\n[[steps]]\nname = \"s1\"\n";
    task(&tasks, "b_musl", broken, &[("true", "true"), ("true", "true")]);
    task(&tasks, "c_both", "", &[("true", &passes), ("true", &passes)]);
    let musl = "FROM debian:trixie-slim\nRUN touch /lib/ld-musl-x86_64.so.1\nWORKDIR /app\n";
    for name in ["b_musl", "c_both"] {
        fs::write(tasks.join(name).join("environment/Dockerfile"), musl).unwrap();
    }
    let folder = room.path().join("run");
    let (on_event, _) = keep();
    assert_eq!(runner::run(settings(&folder, &tasks, &HARNESS), on_event).await.unwrap(), Finish::Finished);
    let found = episodes(&folder);
    let verdicts: Vec<Verdict> = found[0].turns.iter().map(|turn| turn.attempts[0].verdict).collect();
    assert_eq!(verdicts, [Verdict::Passed, Verdict::Passed], "{:?}", found[0].turns);
    let musl = &found[1];
    assert_eq!((musl.turns.len(), musl.end_reason), (0, Some(EndReason::Environment)));
    let message = &musl.exception.as_ref().unwrap().1;
    assert!(message.contains("has musl") && message.contains("mini-swe-agent"), "{message}");
    assert_eq!(found[2].stamina(), 2, "glibc is what counts: {:?}", found[2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
async fn images_that_reach_beyond_their_container_are_refused() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("tasks");
    let passes = format!("echo 1 {REWARD}");
    let steps = [("true", passes.as_str()), ("true", passes.as_str())];
    let recipe = |name: &str, line: &str| {
        let text = format!("FROM debian:trixie-slim\n{line}\nWORKDIR /app\n");
        fs::write(tasks.join(name).join("environment/Dockerfile"), text).unwrap();
    };
    // What it writes there would be on no limit's count.
    task(&tasks, "a_volume", "", &[("head -c 100000000 /dev/zero > /big/file", &passes), ("true", &passes)]);
    recipe("a_volume", "VOLUME /big");
    task(&tasks, "b_onbuild", "", &steps);
    recipe("b_onbuild", "ONBUILD RUN touch /was-run");
    // The name of a stage of our recipe is that of an image as well.
    let named =
        "[environment]\ndocker_image = \"harness\"\n[[steps]]\nname = \"s0\"\n[[steps]]\nname = \"s1\"\n";
    task(&tasks, "c_named", named, &steps);
    let exceptions = async |name: &str, more: &[&str]| {
        let folder = room.path().join(name);
        let (on_event, _) = keep();
        runner::run(settings(&folder, &tasks, more), on_event).await.unwrap();
        let exception = |episode: &Episode| {
            assert!(episode.turns.is_empty() || episode.end_reason != Some(EndReason::Environment));
            episode.exception.as_ref().map(|(kind, message)| format!("{kind}: {message}"))
        };
        episodes(&folder).iter().map(exception).collect::<Vec<_>>()
    };
    let player = exceptions("player", &["agent=ORACLE"]).await;
    assert!(player[0].as_ref().unwrap().contains("VOLUME /big"), "{player:?}");
    assert_eq!(player[1], None, "nothing is built on top of it: {player:?}");
    assert!(player[2].as_ref().unwrap().contains("docker pull harness"), "{player:?}");
    let harness = exceptions("harness", &HARNESS).await;
    assert!(harness[0].as_ref().unwrap().contains("VOLUME /big"), "{harness:?}");
    assert!(harness[1].as_ref().unwrap().contains("ONBUILD"), "{harness:?}");
    assert!(harness[2].as_ref().unwrap().contains("docker pull harness"), "{harness:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn what_an_image_starts_is_waited_for_in_each_container() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("tasks");
    let toml = "[environment.healthcheck]\ncommand = \"test -e /tmp/up-$(cat /etc/hostname)\"\ninterval_sec = 0.5\nretries = 60\n\
                [[steps]]\nname = \"s0\"\n[[steps]]\nname = \"s1\"\n";
    // No attempt at the second step passes, so there are two.
    let solve = "test -e /tmp/up-$(cat /etc/hostname) && touch /app/saw";
    let test = format!("[ -e /app/saw ] && echo 1 {REWARD} || echo 0 {REWARD}");
    let never = format!("[ -e /app/saw ] && echo seen; echo 0 {REWARD}");
    task(&tasks, "service", toml, &[(solve, &test), (&format!("rm -f /app/saw; {solve}"), &never)]);
    // What was there before is not what this container has started.
    let recipe = "FROM debian:trixie-slim\nRUN printf '#!/bin/sh\\n(sleep 3; touch /tmp/up-$(cat /etc/hostname)) &\\nexec \"$@\"\\n' > /start && chmod +x /start\n\
                  ENTRYPOINT [\"/start\"]\nWORKDIR /app\n";
    fs::write(tasks.join("service/environment/Dockerfile"), recipe).unwrap();
    let folder = room.path().join("run");
    let (on_event, _) = keep();
    let more = ["agent=ORACLE", "attempt_limit=2", "restore_before_try=true", "fail_stop=true"];
    assert_eq!(runner::run(settings(&folder, &tasks, &more), on_event).await.unwrap(), Finish::Finished);
    let episode = episodes(&folder).remove(0);
    assert_eq!((episode.stamina(), episode.turns[1].attempts.len()), (1, 2), "{episode:?}");
    for attempt in 1..=2 {
        let name = format!("scenario_0/test_results/turn_2_attempt_{attempt}.txt");
        let printed = fs::read_to_string(folder.join(&name)).unwrap();
        assert!(printed.contains("seen"), "{name}: {printed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_suite_that_lies_in_an_image_is_not_seen_by_the_agent() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("tasks");
    let test = format!("[ -s /app/seen ] && echo 0 {REWARD} || echo 1 {REWARD}");
    let looks = "cat /tests/* /logs/verifier/* > /app/seen 2>/dev/null; true";
    task(&tasks, "baked", "", &[(looks, &test), (looks, &test)]);
    let recipe = "FROM debian:trixie-slim\nRUN mkdir -p /tests /logs/verifier && echo the-answer | tee /tests/test.sh /logs/verifier/note\n\
                  WORKDIR /app\n";
    fs::write(tasks.join("baked/environment/Dockerfile"), recipe).unwrap();
    let folder = room.path().join("run");
    let (on_event, _) = keep();
    assert_eq!(
        runner::run(settings(&folder, &tasks, &["agent=ORACLE"]), on_event).await.unwrap(),
        Finish::Finished
    );
    let episode = episodes(&folder).remove(0);
    assert_eq!(episode.stamina(), 2, "{episode:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_harness_of_npm_plays_a_task_in_one_session() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("tasks");
    let passes =
        |number: u32| format!("if [ -e /app/{number} ]; then echo 1 {REWARD}; else echo 0 {REWARD}; fi");
    let (first, second) = (passes(1), passes(2));
    task(&tasks, "npm", "", &[("touch /app/1", &first), ("test -e /app/1 && touch /app/2", &second)]);
    let folder = room.path().join("run");
    let (on_event, _) = keep();
    let more = ["agent=QWEN_CODE", "endpoint.mode=oracle", "limits.memory_gib=1.5"];
    assert_eq!(runner::run(settings(&folder, &tasks, &more), on_event).await.unwrap(), Finish::Finished);
    let episode = episodes(&folder).remove(0);
    assert_eq!((episode.stamina(), episode.planned_turns), (2, Some(2)), "{episode:?}");
    for turn in &episode.turns {
        let attempt = &turn.attempts[0];
        assert!(attempt.tokens.input.is_some_and(|tokens| tokens > 0), "the gateway counted: {attempt:?}");
        assert!(!attempt.extra.contains_key("session_restarted"), "{attempt:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_step_begins_a_new_session_where_the_settings_ask_for_it() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("tasks");
    let passes = format!("echo 1 {REWARD}");
    task(&tasks, "sessions", "", &[("echo one", &passes), ("echo two", &passes)]);
    let mut inputs: Vec<[u64; 2]> = Vec::new();
    for session in ["continue", "fresh"] {
        let folder = room.path().join(session);
        let session = format!("harbor.session={session}");
        let more = [&HARNESS[..], &[session.as_str()]].concat();
        let (on_event, _) = keep();
        let finish = runner::run(settings(&folder, &tasks, &more), on_event).await.unwrap();
        assert_eq!(finish, Finish::Finished);
        let episode = episodes(&folder).remove(0);
        assert_eq!(episode.stamina(), 2, "{episode:?}");
        let attempts = episode.turns.iter().map(|turn| &turn.attempts[0]);
        assert!(attempts.clone().all(|attempt| !attempt.extra.contains_key("session_restarted")));
        let input: Vec<u64> = attempts.map(|attempt| attempt.tokens.input.unwrap()).collect();
        inputs.push([input[0], input[1]]);
    }
    // Both steps ask for the same: what the second one sends more is what the session says of the first.
    let [continued, fresh] = [inputs[0], inputs[1]];
    assert_eq!(continued[0], fresh[0], "{inputs:?}");
    assert!(fresh[1] < continued[1], "{inputs:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn each_attempt_at_a_step_begins_from_the_same_snapshot() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("tasks");
    // What an attempt leaves is not there in the next one; what the step before has left is.
    let adds = "echo x >> /app/tries; echo kept > /app/kept; nohup sleep 300 >/dev/null 2>&1 & true";
    let counts = format!("cat /app/kept; wc -l < /app/tries; echo 0 {REWARD}");
    let first = format!("[ $(wc -l < /app/tries) = 1 ] && echo 1 {REWARD}");
    task(&tasks, "tries", "", &[(adds, &first), ("echo x >> /app/tries", &counts), ("true", "true")]);
    let folder = room.path().join("run");
    let (on_event, _) = keep();
    let more = ["agent=ORACLE", "attempt_limit=3", "restore_before_try=true", "fail_stop=true"];
    assert_eq!(runner::run(settings(&folder, &tasks, &more), on_event).await.unwrap(), Finish::Finished);
    let episode = episodes(&folder).remove(0);
    let numbers: Vec<usize> = episode.turns.iter().map(|turn| turn.attempts.len()).collect();
    assert_eq!(numbers, [1, 3], "the first failure ends the chain: {:?}", episode.turns);
    assert_eq!((episode.stamina(), episode.planned_turns), (1, Some(3)));
    for attempt in 1..=3 {
        let name = format!("scenario_0/test_results/turn_2_attempt_{attempt}.txt");
        let printed = fs::read_to_string(folder.join(&name)).unwrap();
        assert!(printed.contains("kept\n2\n"), "{name}: {printed}");
    }
}

/// Attempts at the steps that the defects of seed 0 leave to be made.
const ATTEMPTS: [usize; 3] = [2, 2, 1];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_harness_with_seeded_defects_tries_again_until_it_passes() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("tasks");
    let step = |number: u32| {
        let before = number - 1;
        // The second half of the solution is what counts.
        let solve = format!("test -e /app/{before} || exit 1\ntrue\ntrue\ntouch /app/{number}");
        let test = format!("if [ -e /app/{number} ]; then echo 1 {REWARD}; else echo 0 {REWARD}; fi");
        (solve, test)
    };
    let steps: Vec<(String, String)> = (1..=3).map(step).collect();
    let steps: Vec<(&str, &str)> =
        steps.iter().map(|(solve, test)| (solve.as_str(), test.as_str())).collect();
    task(&tasks, "defects", "", &steps);
    let recipe = "FROM debian:trixie-slim\nWORKDIR /app\nRUN touch /app/0\n";
    fs::write(tasks.join("defects/environment/Dockerfile"), recipe).unwrap();
    let folder = room.path().join("run");
    let (on_event, _) = keep();
    let tries = ["attempt_limit=6", "restore_before_try=true", "fail_stop=true", "oracle.defect_rate=0.5"];
    let settings = settings(&folder, &tasks, &[&HARNESS[..], &tries].concat());
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let episode = episodes(&folder).remove(0);
    for turn in &episode.turns {
        let passed: Vec<bool> =
            turn.attempts.iter().map(|attempt| attempt.verdict == Verdict::Passed).collect();
        let (last, earlier) = passed.split_last().unwrap();
        assert!(earlier.iter().all(|passed| !passed) && (*last || passed.len() == 6), "{passed:?}");
    }
    let attempts: Vec<usize> = episode.turns.iter().map(|turn| turn.attempts.len()).collect();
    assert_eq!(attempts, ATTEMPTS, "the seed decides the defects");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_step_by_itself_begins_from_the_reference_solutions_of_the_steps_before() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("alone");
    let solves: Vec<String> = (0..3).map(|step| format!("echo {step} >> /app/log")).collect();
    // 1 where only the solutions of earlier steps were executed, and are not there any more; 0.5 where this step's was, once.
    let judges: Vec<String> = ["", "0", "01"]
        .iter()
        .enumerate()
        .map(|(step, before)| {
            format!(
                "log=\"$(cat /app/log 2>/dev/null | tr -d '\\n')\"; r=0; [ \"$log\" = '{before}' ] && [ ! -e /solution ] && r=1; \
                 [ \"$log\" = '{before}{step}' ] && r=0.5; echo $r {REWARD}"
            )
        })
        .collect();
    let steps: Vec<(&str, &str)> =
        solves.iter().zip(&judges).map(|(solve, judge)| (solve.as_str(), judge.as_str())).collect();
    task(&tasks, "parser", "", &steps);
    for (agent, wanted, attempts) in [("NOP", 1.0, 1), ("ORACLE", 0.5, 2)] {
        let folder = room.path().join(agent);
        let more = ["harbor.protocol=sr", "attempt_limit=2", &format!("agent={agent}")];
        let (on_event, _) = keep();
        let finish = runner::run(settings(&folder, &tasks, &more), on_event).await.unwrap();
        assert_eq!(finish, Finish::Finished);
        let played = episodes(&folder);
        let scenarios: Vec<&str> = played.iter().map(|episode| episode.scenario.as_str()).collect();
        assert_eq!(scenarios, ["parser/s0", "parser/s1", "parser/s2"], "{agent}");
        for episode in &played {
            assert_eq!((episode.planned_turns, episode.turns.len()), (Some(1), 1));
            // A further try begins from the same snapshot, and a step that failed does not keep the next one from being played.
            let rewards: Vec<Option<f64>> =
                episode.turns[0].attempts.iter().map(|attempt| attempt.reward).collect();
            assert_eq!(rewards, vec![Some(wanted); attempts], "{agent} {}", episode.scenario);
        }
        let tree = files::Tree::open(&folder).unwrap();
        let format = ingest::formats::staminabench::StaminaBench;
        let run = format.survey(&tree, "", &mut Report::default()).runs.remove(0);
        assert!(run.benchmark.plays_steps_alone(), "{:?}", run.benchmark);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn an_attempt_with_feedback_continues_in_the_container_and_gets_the_output_of_the_verifier() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("tasks");
    // It passes at the second attempt, which finds what the first has left.
    let judge = format!(
        "echo \"tries $(wc -l < /app/tries)\"; [ $(wc -l < /app/tries) = 2 ] && echo 1 {REWARD} || echo 0 {REWARD}"
    );
    task(&tasks, "told", "", &[("echo x >> /app/tries", &judge), ("true", &format!("echo 1 {REWARD}"))]);
    let folder = room.path().join("run");
    let (on_event, _) = keep();
    let more = [&HARNESS[..], &["harbor.protocol=ours", "attempt_limit=3"]].concat();
    assert_eq!(runner::run(settings(&folder, &tasks, &more), on_event).await.unwrap(), Finish::Finished);
    let episode = episodes(&folder).remove(0);
    let verdicts: Vec<Vec<Verdict>> = (episode.turns.iter())
        .map(|turn| turn.attempts.iter().map(|attempt| attempt.verdict).collect())
        .collect();
    assert_eq!(verdicts, [vec![Verdict::Failed, Verdict::Passed], vec![Verdict::Passed]], "{episode:?}");
    assert!(episode.turns[0].attempts.iter().all(|attempt| !attempt.extra.contains_key("session_restarted")));
    let transcript = |attempt: u32| {
        fs::read_to_string(folder.join(format!("scenario_0/transcripts/turn_1_attempt_{attempt}.json")))
            .unwrap()
    };
    let feedback = "Your work on this step was verified, and it does not pass yet.";
    assert!(transcript(2).contains(feedback) && transcript(2).contains("tries 1"), "{}", transcript(2));
    assert!(!transcript(1).contains(feedback));
}
