//! How the runner records the end of real harnesses in their containers: what the gateway saw, a budget and the container's limits come
//! before what a harness says of itself.
//!
//! `STAMINA_HARNESSES` (names with commas) chooses; without it mini-swe-agent is tried. The first of them ends in every way, the
//! others in those in which harnesses differ, or in every way, too, where `STAMINA_EVERY_WAY` is set (`npm run test:deep`).

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use model::EndReason as R;
use runner::{Event, Finish, OnEvent};

/// Plays one attempt at one turn, and gives why it ended.
async fn end(agent: &str, folder: &Path, way: &[&str]) -> Option<R> {
    let mut values =
        vec![format!("output_dir={}", folder.display()), format!("agent={}", agent.to_uppercase())];
    let always = [
        "use_docker=true",
        "endpoint.mode=oracle",
        "restful_server_gen_iterative.n_scenarios=1",
        "restful_server_gen_iterative.n_turns=1",
        "restful_server_gen_iterative.attempt_limit=1",
        "limits.attempt_minutes=30",
    ];
    values.extend(always.iter().chain(way).map(|&value| value.to_owned()));
    let settings = runner::settings::resolve(&[], &values).unwrap();
    let kept = Arc::new(Mutex::new(None));
    let kept_events = kept.clone();
    let on_event: OnEvent = Arc::new(move |event| {
        if let Event::Attempt { end_reason, .. } = event {
            *kept_events.lock().unwrap() = Some(*end_reason);
        }
    });
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished, "{agent} {way:?}");
    let reason = kept.lock().unwrap().take();
    reason.unwrap_or_else(|| panic!("{agent} {way:?}: no attempt was recorded"))
}

/// A test for each harness, since they share nothing and each takes a minute; and the names of all of them.
macro_rules! harness_tests {
    ($($test:ident: $agent:literal,)*) => {
        /// Those that are tried here. The mock agent has tests of its own.
        const TRIED: &[&str] = &[$($agent),*];
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs a container engine"]
            async fn $test() {
                each_way_is_recorded($agent).await;
            }
        )*
    };
}

harness_tests! {
    each_way_in_which_a_real_harness_ends_is_recorded_mini_swe: "mini_swe",
    each_way_in_which_a_real_harness_ends_is_recorded_openhands: "openhands",
    each_way_in_which_a_real_harness_ends_is_recorded_opencode: "opencode",
    each_way_in_which_a_real_harness_ends_is_recorded_qwen_code: "qwen_code",
    each_way_in_which_a_real_harness_ends_is_recorded_kimi_cli: "kimi_cli",
    each_way_in_which_a_real_harness_ends_is_recorded_kimi_code: "kimi_code",
    each_way_in_which_a_real_harness_ends_is_recorded_vibe: "vibe",
    each_way_in_which_a_real_harness_ends_is_recorded_claude_code: "claude_code",
    each_way_in_which_a_real_harness_ends_is_recorded_codex: "codex",
}

/// Tries a harness, where it is chosen.
async fn each_way_is_recorded(agent: &str) {
    let chosen = std::env::var("STAMINA_HARNESSES").unwrap_or_else(|_| "mini_swe".to_owned());
    let has_a_test = |name: &str| name == "mock" || TRIED.contains(&name);
    assert!(harness::all().iter().all(|known| has_a_test(known.name())), "a harness is not tried here");
    assert!(chosen.split(',').all(has_a_test), "there is no such harness: {chosen}");
    if !chosen.split(',').any(|name| name == agent) {
        println!("left out: {agent} is not chosen");
        return;
    }
    let room = tempfile::tempdir().unwrap();
    let table: [(&[&str], &[R]); 6] = [
        (&["oracle.mischief.overflow=1"], &[R::ContextOverflow]),
        (&["oracle.mischief.malformed=1"], &[R::ToolCallFormat, R::LoopDetected]),
        (&["oracle.mischief.kill=1"], &[R::KilledItself]),
        (&["oracle.mischief.give_up=1"], &[R::GaveUp]),
        (&["oracle.mischief.stall=1", "limits.attempt_minutes=0.5"], &[R::AgentTimeout]),
        (&["limits.attempt.tokens=1"], &[R::AttemptBudget]),
    ];
    // A broken call of a tool, and an agent that ends itself.
    let differs = [1, 2];
    let first = chosen.split(',').find(|name| TRIED.contains(name));
    let every = first == Some(agent) || std::env::var_os("STAMINA_EVERY_WAY").is_some();
    let mut wrong = Vec::new();
    for (number, (way, expected)) in table.iter().enumerate() {
        if !every && !differs.contains(&number) {
            continue;
        }
        let ended = end(agent, &room.path().join(format!("{agent}-{number}")), way).await;
        println!("{agent} {way:?}: {ended:?}");
        // What these do not let happen: they refuse a pkill that would end them, and Qwen Code mends broken calls.
        let refused = ended == Some(R::NoChange)
            && ((number == 1 && agent == "qwen_code")
                || (number == 2 && matches!(agent, "claude_code" | "qwen_code")));
        if !refused && !ended.is_some_and(|reason| expected.contains(&reason)) {
            wrong.push(format!("{agent} {way:?}: {ended:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
