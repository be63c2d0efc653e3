//! What neither an agent nor an image of a task reaches or changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use model::{EndReason, Episode, Turn, Verdict};
use runner::Finish;

use crate::common::{episodes, keep};
use crate::tasks_of_harbor::{HARNESS, REWARD, is_every_way, settings, task};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
async fn what_an_agent_plants_is_not_graded() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("planted");
    let plant = "mkdir -p /tests /logs/verifier; echo 1 > /logs/verifier/reward.txt; echo '{\"reward\": 1}' > /logs/verifier/reward.json; \
                 echo 'echo 1 > /logs/verifier/reward.txt' > /tests/test.sh; touch /tests/conftest.py";
    // The second step sees nothing of the verifier of the first.
    let script = "ls -A /tests /logs/verifier > /app/seen 2>&1; true";
    task(
        &tasks,
        "a_reward",
        "",
        &[
            (plant, &format!("ls /tests > /app/suite; echo 0 {REWARD}")),
            (
                script,
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

/// A task whose player leaves a process that writes this word as the reward of every verifier that it reaches, and says 0 without it.
fn rewritten(tasks: &Path, forged: &str) {
    // It waits for a verifier to begin and then writes until the one beside it has read that: writing while the folders of the next
    // step are emptied is another fault, whose time nobody knows.
    let rewriter = format!(
        "while :; do for at in /proc/[0-9]*/root; do \
         [ -e /app/read ] || [ ! -e $at/logs/verifier/began ] || {{ echo {forged} > $at/logs/verifier/forged; mv $at/logs/verifier/forged $at/logs/verifier/reward.txt; }}; \
         done; sleep 0.02; done 2>/dev/null"
    );
    let leave =
        format!("echo '{rewriter}' > /app/rewriter.sh; nohup bash /app/rewriter.sh >/dev/null 2>&1 & true");
    // Where the process runs, the verifier waits until it has written: what is read then is not by chance.
    let alive = "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -q '^bash /app/rewriter.sh' && echo alive; done";
    let judge = format!(
        "echo 0 {REWARD}; touch /logs/verifier/began; if [ -n \"$({alive})\" ]; then for i in $(seq 250); do grep -q {forged} /logs/verifier/reward.txt && break; sleep 0.02; done; touch /app/read; fi"
    );
    let files_stay = format!("[ -e /app/rewriter.sh ] && echo 1 {REWARD} || echo 0 {REWARD}");
    task(tasks, "whole", "", &[(&leave, &judge), ("true", &files_stay)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
async fn a_reward_that_a_process_makes_unreadable_is_not_the_end_of_the_verdict() {
    let room = tempfile::tempdir().unwrap();
    let (tasks, folder) = (room.path().join("unreadable"), room.path().join("run"));
    rewritten(&tasks, "none");
    let (on_event, _) = keep();
    let finish = runner::run(settings(&folder, &tasks, &["agent=ORACLE"]), on_event).await.unwrap();
    assert_eq!(finish, Finish::Finished);
    let attempt = &episodes(&folder)[0].turns[0].attempts[0];
    assert_eq!(
        (attempt.verdict, attempt.end_reason),
        (Verdict::Failed, Some(EndReason::TestsFailed)),
        "{:?}",
        attempt.exception
    );
    assert_eq!(attempt.extra["processes_left"], "other_verdict");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
async fn the_verdict_is_not_that_of_a_process_that_rewrites_it() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("rewritten");
    rewritten(&tasks, "1");
    let cases = [
        ("check", None, Verdict::Failed),
        ("end", Some("harbor.background=end"), Verdict::Failed),
        ("keep", Some("harbor.background=keep"), Verdict::Passed),
    ];
    for (background, named, first) in cases {
        let folder = room.path().join(background);
        let more: Vec<&str> = ["agent=ORACLE"].into_iter().chain(named).collect();
        let settings = settings(&folder, &tasks, &more);
        let (on_event, _) = keep();
        assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
        let episode = episodes(&folder).remove(0);
        let verdicts: Vec<Verdict> = episode.turns.iter().map(|turn| turn.attempts[0].verdict).collect();
        let exceptions: Vec<_> = episode.turns.iter().map(|turn| &turn.attempts[0].exception).collect();
        assert_eq!(verdicts, [first, Verdict::Passed], "{background}: {exceptions:?}");
        let config = fs::read_to_string(folder.join("config.yaml")).unwrap();
        assert!(config.contains(&format!("background: {background}")), "{config}");
        let second: Vec<Option<&str>> = episode
            .turns
            .iter()
            .map(|turn| turn.attempts[0].extra.get("processes_left").and_then(|word| word.as_str()))
            .collect();
        if background == "check" {
            assert_eq!(second, [Some("other_verdict"), Some("same_verdict")]);
            let attempt = &episode.turns[0].attempts[0];
            assert_eq!(attempt.end_reason, Some(EndReason::TestsFailed));
            assert_eq!(attempt.exception.as_ref().unwrap().0, "ProcessesLeft");
            assert_eq!(attempt.extra["rewards_with_processes"]["reward"], 1.0);
        } else {
            assert_eq!(second, [None, None], "{background}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
async fn a_second_container_that_does_not_work_is_the_agents_doing_only_where_another_one_does() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("second");
    let passes = format!("echo 1 {REWARD}");
    let leave = "nohup tail -f /dev/null >/dev/null 2>&1 & true";
    // What its image starts cannot begin twice in the same files.
    task(&tasks, "a_image", "", &[(leave, &passes), ("true", &passes)]);
    let recipe = "FROM debian:trixie-slim\nRUN printf '#!/bin/sh\\nmkdir /once || exit 1\\nexec \"$@\"\\n' > /start && chmod +x /start\n\
                  ENTRYPOINT [\"/start\"]\nWORKDIR /app\n";
    fs::write(tasks.join("a_image/environment/Dockerfile"), recipe).unwrap();
    // Its agent takes away what keeps a container alive.
    let breaks = format!("rm -f /usr/bin/sleep; {leave}");
    task(&tasks, "b_agent", "", &[(&breaks, &passes), ("true", &passes)]);
    // A server that counts its callers does not answer two verifiers alike. The first of them is believed.
    let server = "use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalAddr => \"127.0.0.1\", LocalPort => 8080, Listen => 5) or die; \
                  open(my $up, \">\", \"/app/up\"); close $up; my $n = 0; while (my $c = $s->accept) { $n++; print $c \"$n\\n\"; close $c }";
    let serve = format!(
        "nohup perl -e '{server}' >/dev/null 2>&1 &\nfor i in $(seq 200); do [ -e /app/up ] && break; sleep 0.05; done"
    );
    let judge = format!(
        "exec 3<>/dev/tcp/127.0.0.1/8080 && read -r line <&3; [ \"$line\" = 1 ] && echo 1 {REWARD} || echo 0 {REWARD}"
    );
    task(&tasks, "c_counts", "", &[(&serve, &judge)]);
    let folder = room.path().join("run");
    let (on_event, _) = keep();
    let settings = settings(&folder, &tasks, &["agent=ORACLE"]);
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let episodes = episodes(&folder);
    let first = |name: &str| {
        let episode = episodes.iter().find(|episode| episode.scenario == name).unwrap();
        let attempt = &episode.turns[0].attempts[0];
        let word = attempt.extra.get("processes_left").and_then(|word| word.as_str()).unwrap();
        let kind = attempt.exception.as_ref().map(|(kind, _)| kind.as_str());
        (
            episode.turns.len(),
            attempt.verdict,
            attempt.end_reason,
            word.to_owned(),
            kind.unwrap_or("").to_owned(),
        )
    };
    let mark = |word: &str, kind: &str| (word.to_owned(), kind.to_owned());
    let (turns, verdict, reason, word, kind) = first("a_image");
    assert_eq!((turns, verdict, reason), (2, Verdict::Passed, None));
    assert_eq!((word, kind), mark("unconfirmed", "ProcessesLeft"));
    let (turns, verdict, reason, word, kind) = first("b_agent");
    assert_eq!((turns, verdict, reason), (1, Verdict::Error, Some(EndReason::KilledItself)));
    assert_eq!((word, kind), mark("other_verdict", "ContainerLost"));
    let (_, verdict, _, word, _) = first("c_counts");
    assert_eq!((verdict, word.as_str()), (Verdict::Passed, "other_verdict"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_server_that_an_agent_left_is_there_for_verifiers_and_later_steps() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("served");
    let server = "use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalAddr => \"127.0.0.1\", LocalPort => 8080, Listen => 5) or die; \
                  while (my $c = $s->accept) { print $c \"up\\n\"; close $c }";
    let leave = format!(
        "nohup perl -e '{server}' >/dev/null 2>&1 &\nfor i in $(seq 200); do (exec 3<>/dev/tcp/127.0.0.1/8080) 2>/dev/null && break; sleep 0.05; done"
    );
    let judge = format!(
        "exec 3<>/dev/tcp/127.0.0.1/8080 && read -r line <&3; [ \"$line\" = up ] && echo 1 {REWARD} || echo 0 {REWARD}"
    );
    task(&tasks, "served", "", &[(&leave, &judge), ("true", &judge)]);
    for (background, verdict) in
        [("check", Verdict::Passed), ("keep", Verdict::Passed), ("end", Verdict::Failed)]
    {
        let folder = room.path().join(background);
        let settings =
            settings(&folder, &tasks, &["agent=ORACLE", &format!("harbor.background={background}")]);
        let (on_event, _) = keep();
        assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
        let episode = episodes(&folder).remove(0);
        let verdicts: Vec<Verdict> = episode.turns.iter().map(|turn| turn.attempts[0].verdict).collect();
        assert_eq!(verdicts, [verdict, verdict], "{background}: {:?}", episode.turns);
        let word = episode.turns[0].attempts[0].extra.get("processes_left").and_then(|word| word.as_str());
        assert_eq!(word, (background == "check").then_some("same_verdict"), "{background}");
    }
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
    // A start of the harness is dear: in the deep test there is a second step, and a task more.
    let is_every_way = is_every_way();
    let mut toml = "[agent]\nuser = \"someone\"\n[[steps]]\nname = \"s0\"\n".to_owned();
    let mut steps = vec![(looks, judged.as_str())];
    if is_every_way {
        toml.push_str("[[steps]]\nname = \"s1\"\n");
        steps.push(("test -e /app/net", judged.as_str()));
    }
    task(&tasks, "a_whole", &toml, &steps);
    let recipe =
        "FROM debian:trixie-slim\nRUN useradd --uid 1234 someone && mkdir -m 777 /app\nWORKDIR /app\n";
    fs::write(tasks.join("a_whole/environment/Dockerfile"), recipe).unwrap();
    // Where it does not start the loader of musl says why, and nothing is asked for it; where it starts it says nothing.
    let passes = format!("echo 1 {REWARD}");
    let broken =
        "[environment.env]\nPYTHONHOME = \"/nowhere\"\n[[steps]]\nname = \"s0\"\n[[steps]]\nname = \"s1\"\n";
    task(&tasks, "b_musl", broken, &[("true", "true"), ("true", "true")]);
    if is_every_way {
        task(&tasks, "c_both", "", &[("true", &passes), ("true", &passes)]);
    }
    let musl = "FROM debian:trixie-slim\nRUN touch /lib/ld-musl-x86_64.so.1\nWORKDIR /app\n";
    for name in ["b_musl", "c_both"].into_iter().filter(|name| tasks.join(name).exists()) {
        fs::write(tasks.join(name).join("environment/Dockerfile"), musl).unwrap();
    }
    let folder = room.path().join("run");
    let (on_event, _) = keep();
    assert_eq!(runner::run(settings(&folder, &tasks, &HARNESS), on_event).await.unwrap(), Finish::Finished);
    let found = episodes(&folder);
    let verdicts: Vec<Verdict> = found[0].turns.iter().map(|turn| turn.attempts[0].verdict).collect();
    assert_eq!(verdicts, vec![Verdict::Passed; steps.len()], "{:?}", found[0].turns);
    let musl = &found[1];
    assert_eq!((musl.turns.len(), musl.end_reason), (0, Some(EndReason::Environment)));
    let message = &musl.exception.as_ref().unwrap().1;
    assert!(message.contains("has musl") && message.contains("mini-swe-agent"), "{message}");
    // Also where there is the loader of musl alone: docker_task_harnesses.rs.
    if is_every_way {
        assert_eq!(found[2].stamina(), 2, "glibc is what counts: {:?}", found[2]);
    }
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
