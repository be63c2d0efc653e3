//! Each harness plays a task of Harbor in the task's own image: it starts there, reaches its gateway, goes on in its session, and its
//! verifier decides.
//!
//! `STAMINA_HARNESSES` (names with commas) chooses; without it mini-swe-agent is tried, in `npm test` Qwen Code as well, and in
//! `npm run test:deep` all nine. The rest of what is tested of tasks with a harness stands in `docker_harbor_tasks/`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use model::{EndReason, Episode, Verdict};
use runner::Finish;

use crate::common::{episodes, keep};
use crate::tasks_of_harbor::{REWARD, inputs, is_every_way, settings, task};

/// A test for each harness, since they share nothing and each takes a minute; and the names of all of them.
macro_rules! harness_tests {
    ($($test:ident: $agent:literal,)*) => {
        /// Those that are tried here. The mock agent cannot run commands.
        const TRIED: &[&str] = &[$($agent),*];
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs a container engine"]
            async fn $test() {
                plays_a_task_in_its_image($agent).await;
            }
        )*
    };
}

harness_tests! {
    a_task_is_played_in_its_own_image_by_mini_swe: "mini_swe",
    a_task_is_played_in_its_own_image_by_openhands: "openhands",
    a_task_is_played_in_its_own_image_by_opencode: "opencode",
    a_task_is_played_in_its_own_image_by_qwen_code: "qwen_code",
    a_task_is_played_in_its_own_image_by_kimi_cli: "kimi_cli",
    a_task_is_played_in_its_own_image_by_kimi_code: "kimi_code",
    a_task_is_played_in_its_own_image_by_vibe: "vibe",
    a_task_is_played_in_its_own_image_by_claude_code: "claude_code",
    a_task_is_played_in_its_own_image_by_codex: "codex",
}

/// As on musl: the image's programs have a loader of another name, that of glibc is not there, and that of musl is. (An image on musl
/// would have to be fetched.)
const WITHOUT_GLIBC: &str = "RUN L=$(ls /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.* 2>/dev/null | head -n 1) \
     && S=$(echo \"$L\" | sed s/ld-linux/ld-stand/) && cp -L \"$L\" \"$S\" \
     && find /usr/bin /usr/sbin -type f -print0 | xargs -0 sed -i \"s#$L#$S#g\" \
     && touch /lib/ld-musl-x86_64.so.1 && rm \"$L\"\n";

/// How many steps the task without glibc has: the first one says whether a harness works there.
fn steps_without_glibc() -> usize {
    if is_every_way() { 2 } else { 1 }
}

/// A task of two steps, and one whose image is without glibc.
fn write_tasks(tasks: &Path) {
    let step = |number: u32| {
        let before = number - 1;
        let test = format!("if [ -e /app/{number} ]; then echo 1 {REWARD}; else echo 0 {REWARD}; fi");
        (format!("{{ [ {before} = 0 ] || test -e /app/{before}; }} && touch /app/{number}"), test)
    };
    let steps: Vec<(String, String)> = (1..=2).map(step).collect();
    let steps: Vec<(&str, &str)> =
        steps.iter().map(|(solve, test)| (solve.as_str(), test.as_str())).collect();
    // Neither Python nor Node is in the image. That of the first is the one of other tests: with a harness in it, it is built once.
    task(tasks, "a_plain", "", &steps);
    task(tasks, "b_musl", "", &steps[..steps_without_glibc()]);
    let recipe = format!("FROM debian:trixie-slim\n{WITHOUT_GLIBC}WORKDIR /app\n");
    fs::write(tasks.join("b_musl/environment/Dockerfile"), recipe).unwrap();
}

/// Harnesses on Node, or programs of their own, which need the loader of glibc. Python is laid into the image with its own.
const ON_NODE: [&str; 5] = ["opencode", "qwen_code", "kimi_code", "claude_code", "codex"];

/// Tries a harness, where it is chosen.
async fn plays_a_task_in_its_image(agent: &str) {
    let chosen = std::env::var("STAMINA_HARNESSES").unwrap_or_else(|_| "mini_swe".to_owned());
    let has_a_test = |name: &str| name == "mock" || TRIED.contains(&name);
    assert!(harness::all().iter().all(|known| has_a_test(known.name())), "a harness is not tried here");
    assert!(chosen.split(',').all(has_a_test), "there is no such harness: {chosen}");
    if !chosen.split(',').any(|name| name == agent) {
        println!("left out: {agent} is not chosen");
        return;
    }
    let room = tempfile::tempdir().unwrap();
    let (tasks, folder) = (room.path().join("tasks"), room.path().join(agent));
    write_tasks(&tasks);
    let name = format!("agent={}", agent.to_uppercase());
    let more = [name.as_str(), "endpoint.mode=oracle", "limits.memory_gib=2", "batch_size=1"];
    let (on_event, _) = keep();
    assert_eq!(runner::run(settings(&folder, &tasks, &more), on_event).await.unwrap(), Finish::Finished);
    let found = episodes(&folder);
    let episode_of = |name: &str| found.iter().find(|episode| episode.scenario == name).unwrap();
    let plain: &Episode = episode_of("a_plain");
    assert_eq!((plain.stamina(), plain.planned_turns), (2, Some(2)), "{agent}: {plain:?}");
    for turn in &plain.turns {
        let attempt = &turn.attempts[0];
        assert_eq!(attempt.verdict, Verdict::Passed, "{agent}: {attempt:?}");
        assert!(
            attempt.tokens.input.is_some_and(|tokens| tokens > 0),
            "{agent}: the gateway counted: {attempt:?}"
        );
        assert!(
            attempt.tool_calls.is_some_and(|calls| calls > 0),
            "{agent}: its transcript is read: {attempt:?}"
        );
        assert!(!attempt.extra.contains_key("session_restarted"), "{agent}: {attempt:?}");
    }
    // Both steps ask for the same: what the second one sends more is what its session says of the first.
    let most = [1, 2].map(|turn| inputs(&folder, "scenario_0", turn).into_iter().max().unwrap());
    assert!(most[1] > most[0], "{agent}: {most:?}");
    // Where it does not start, it is refused by name before anything is asked of a model; a half of a start is none.
    let musl: &Episode = episode_of("b_musl");
    println!("{agent} without glibc: {} steps passed, {:?}", musl.stamina(), musl.exception);
    if musl.stamina() as usize == steps_without_glibc() {
        assert!(
            !ON_NODE.contains(&agent),
            "{agent} starts without glibc: docs/cli.md says that Node does not"
        );
        return;
    }
    assert_eq!((musl.turns.len(), musl.end_reason), (0, Some(EndReason::Environment)), "{agent}: {musl:?}");
    let (kind, message) = musl.exception.as_ref().unwrap();
    let title = harness::find(agent).unwrap().title();
    assert_eq!(kind, "HarnessNotStarted", "{agent}: {message}");
    assert!(message.contains("has musl") && message.contains(title), "{agent}: {message}");
    let requests = fs::read_to_string(folder.join(".stamina/gateway.jsonl")).unwrap_or_default();
    assert!(!requests.contains("scenario_1"), "{agent}: nothing is asked for it");
}
