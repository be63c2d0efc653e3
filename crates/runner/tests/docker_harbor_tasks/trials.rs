//! A trial from its start to its end, stopped and broken ones included.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use model::{EndReason, Verdict};
use runner::{Event, Finish, OnEvent};

use crate::common::{episodes, keep};
use crate::tasks_of_harbor::{KNOWS_RESUME, RESUMED, REWARD, UNTIL_STOPPED, settings, task};

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
    let judged = "id -u; cat /app/where; r=0; [ \"$JUDGES$(cat /app/where)$(id -u)\" = yes/app0 ] && [ -x /tests/shared.sh ] && r=1; \
                  echo \"{\\\"segment_pass\\\": $r}\" > /logs/verifier/reward.json";
    let second = "r=0; for p in /proc/[0-9]*; do [ \"$(tr -d '\\0' < $p/cmdline 2>/dev/null)\" = sleep300 ] && r=1; done; \
                  echo \"{\\\"reward\\\": $r, \\\"style\\\": 0.25}\" > /logs/verifier/reward.json";
    task(&tasks, "whole", toml, &[(first, judged), ("true", second), ("true", "true")]);
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
    let workdir = tasks.join("unready/steps/s0/workdir");
    fs::create_dir_all(&workdir).unwrap();
    fs::write(workdir.join("setup.sh"), "echo no >&2; exit 3\n").unwrap();
    // A map without a reward is no verdict, and ends nothing.
    let nothing = "echo '{}' > /logs/verifier/reward.json";
    task(&tasks, "without", "", &[("true", nothing), ("true", &format!("echo 1 {REWARD}"))]);
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
    // A map of one reward keeps its name.
    let first = &whole.turns[0].attempts[0];
    assert_eq!(
        (first.reward, &first.extra["rewards"]),
        (Some(1.0), &serde_json::json!({ "segment_pass": 1.0 }))
    );
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
    let no_reward: Vec<_> = episode_of("without")
        .turns
        .iter()
        .map(|turn| (turn.attempts[0].verdict, turn.attempts[0].end_reason))
        .collect();
    assert_eq!(no_reward, [(Verdict::Error, Some(EndReason::NoVerdict)), (Verdict::Passed, None)]);
    assert_eq!(episodes.len(), 3);
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
    task(&tasks, "stopped", KNOWS_RESUME, &[("true", &first), (UNTIL_STOPPED, &second)]);
    let folder = room.path().join("run");
    let run_folder = folder.clone();
    let stop_at_first: OnEvent = Arc::new(move |event| {
        if matches!(event, Event::Attempt { .. }) {
            let control_request = runner::control::ControlRequest { stop: true, ..Default::default() };
            runner::control::write(&run_folder, &control_request).unwrap();
        }
    });
    let settings = settings(&folder, &tasks, &["agent=ORACLE"]);
    assert_eq!(runner::run(settings, stop_at_first).await.unwrap(), Finish::Stopped);
    assert_eq!(episodes(&folder)[0].turns.len(), 1);
    let (on_event, events) = keep();
    let looked_at = runner::origin::identity(&folder).unwrap();
    let change = vec![RESUMED.to_owned()];
    let finished = runner::resume(folder.clone(), change, looked_at, on_event).await.unwrap();
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
    let much = |file_path: &str| format!("head -c 70000000 /dev/zero > {file_path}");
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
