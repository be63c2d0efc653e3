//! Sessions of a harness, and attempts at one step.

use std::fs;

use ingest::format_trait::{Format, Report};
use model::Verdict;
use runner::Finish;

use crate::common::{episodes, keep};
use crate::tasks_of_harbor::{HARNESS, REWARD, inputs, is_every_way, settings, task};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_step_begins_a_new_session_where_the_settings_ask_for_it() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("tasks");
    let passes = format!("echo 1 {REWARD}");
    task(&tasks, "sessions", "", &[("echo one", &passes), ("echo two", &passes)]);
    let mut sums: Vec<[u64; 2]> = Vec::new();
    // The one that continues has a test for each harness in docker_task_harnesses.rs; in the deep test both are compared.
    let sessions: &[&str] = if is_every_way() { &["continue", "fresh"] } else { &["fresh"] };
    for &session in sessions {
        let folder = room.path().join(session);
        let setting = format!("harbor.session={session}");
        let more = [&HARNESS[..], &[setting.as_str()]].concat();
        let (on_event, _) = keep();
        let finish = runner::run(settings(&folder, &tasks, &more), on_event).await.unwrap();
        assert_eq!(finish, Finish::Finished);
        let episode = episodes(&folder).remove(0);
        assert_eq!(episode.stamina(), 2, "{episode:?}");
        let attempts = episode.turns.iter().map(|turn| &turn.attempts[0]);
        assert!(attempts.clone().all(|attempt| !attempt.extra.contains_key("session_restarted")));
        let input: Vec<u64> = attempts.map(|attempt| attempt.tokens.input.unwrap()).collect();
        sums.push([input[0], input[1]]);
        // A session that continues begins with all that was sent before, and a new one with less.
        let [one, two] = [1, 2].map(|turn| inputs(&folder, "scenario_0", turn));
        let most = one.iter().max().unwrap();
        assert_eq!(two.first().unwrap() < most, session == "fresh", "{session}: {one:?}, then {two:?}");
    }
    // Both steps ask for the same: what the second one sends more is what the session says of the first.
    if let [continued, fresh] = sums[..] {
        assert_eq!(continued[0], fresh[0], "{sums:?}");
        assert!(fresh[1] < continued[1], "{sums:?}");
    }
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

/// Attempts at the steps that the defects of seed 0 leave to be made: in `npm test` the first of them.
const ATTEMPTS: [usize; 3] = [2, 2, 1];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_harness_with_seeded_defects_tries_again_until_it_passes() {
    let room = tempfile::tempdir().unwrap();
    let tasks = room.path().join("tasks");
    let step = |number: u32| {
        let before = number - 1;
        // The second half of the solution is what counts.
        let solve =
            format!("[ {before} = 0 ] || test -e /app/{before} || exit 1\ntrue\ntrue\ntouch /app/{number}");
        let test = format!("if [ -e /app/{number} ]; then echo 1 {REWARD}; else echo 0 {REWARD}; fi");
        (solve, test)
    };
    let count = if is_every_way() { ATTEMPTS.len() } else { 1 };
    let steps: Vec<(String, String)> = (1..).map(step).take(count).collect();
    let steps: Vec<(&str, &str)> =
        steps.iter().map(|(solve, test)| (solve.as_str(), test.as_str())).collect();
    task(&tasks, "defects", "", &steps);
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
    assert_eq!(attempts, ATTEMPTS[..count], "the seed decides the defects");
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
    let passes = format!("echo 1 {REWARD}");
    let steps = [("echo x >> /app/tries", judge.as_str()), ("true", passes.as_str())];
    let count = if is_every_way() { 2 } else { 1 };
    task(&tasks, "told", "", &steps[..count]);
    let folder = room.path().join("run");
    let (on_event, _) = keep();
    let more = [&HARNESS[..], &["harbor.protocol=ours", "attempt_limit=3"]].concat();
    assert_eq!(runner::run(settings(&folder, &tasks, &more), on_event).await.unwrap(), Finish::Finished);
    let episode = episodes(&folder).remove(0);
    let verdicts: Vec<Vec<Verdict>> = (episode.turns.iter())
        .map(|turn| turn.attempts.iter().map(|attempt| attempt.verdict).collect())
        .collect();
    let wanted = [vec![Verdict::Failed, Verdict::Passed], vec![Verdict::Passed]];
    assert_eq!(verdicts, wanted[..count], "{episode:?}");
    assert!(episode.turns[0].attempts.iter().all(|attempt| !attempt.extra.contains_key("session_restarted")));
    let transcript = |attempt: u32| {
        fs::read_to_string(folder.join(format!("scenario_0/transcripts/turn_1_attempt_{attempt}.json")))
            .unwrap()
    };
    let feedback = "Your work on this step was verified, and it does not pass yet.";
    assert!(transcript(2).contains(feedback) && transcript(2).contains("tries 1"), "{}", transcript(2));
    assert!(!transcript(1).contains(feedback));
}
